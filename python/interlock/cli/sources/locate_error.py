"""Where in its source an error is, and what to do about it: what the engine's own message does not say.

The errors of a compile name a JSON Pointer, a character of a pattern or a byte of a text. Here that becomes a line and
a column of what the user wrote, and a remedy that is offered only where it helps.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import interlock
from interlock import explain
from interlock.cli.sources import missing_documents
from interlock.cli.sources.document_folders import Documents, referred_from
from interlock.cli.sources.schema_key import definition_meant
from interlock.cli.terminal.escaped_lines import lines_remedy
from interlock.cli.terminal.exits import CUT_OFF
from interlock.cli.terminal.grammar_remedies import way_to_mend_grammar
from interlock.cli.terminal.place_in_source import PlaceInSource, json_value
from interlock.explain.contradicting_keywords import contradiction, slashed, without_slashes
from interlock.explain.document import Member, Node
from interlock.explain.reference_loops import endless_loop, loop_in_place
from interlock.util.json_pointer import unescaped, value_at
from interlock.util.near_words import nearest

if TYPE_CHECKING:
    from interlock.cli.sources.source_arguments import Source

TO_OWN_DEFINITIONS = "put what it refers to into $defs of that schema: only a JSON Schema as the source has --document"
"""What to do about a reference to a file in the schemas of tools and tags."""
ENDING = (
    "let one of them do without: a key that is not required, no minItems, or anyOf with a type that ends, such as null"
)
"""What to do about a schema whose documents have no end."""


def attach(error: interlock.InterlockError, source: Source) -> None:
    """Find the place of ``error`` in ``source`` and keep it with the error. What goes wrong here changes no error."""
    with contextlib.suppress(interlock.InterlockError, ValueError, RecursionError, TypeError):
        place = _locate(error, source)
        if source.kind in ("structural_tag", "tools") and "which was not passed, and nothing is fetched" in str(error):
            place = replace(place or PlaceInSource("", 0, 0, found=False), remedy=TO_OWN_DEFINITIONS)
        if place is not None:
            error.located = place  # type: ignore[attr-defined]


def _locate(error: interlock.InterlockError, source: Source) -> PlaceInSource | None:
    if source.kind == "choices":
        way = "choices:yes,no, or a file with one choice on each line"
        return PlaceInSource("", 0, 0, way, found=False) if not source.text else None
    if source.kind == "regex":
        return _in_pattern(error, source.text, source.options)
    if source.kind == "structural_tag":
        return _in_tag(error, source.text)
    if source.kind == "tools":
        from interlock.cli.sources.tool_sources import place_of

        return place_of(error, source.written)
    if source.kind == "grammar":
        found = _in_grammar(error, source)
        if source.notes and isinstance(error, interlock.GrammarError):
            found = replace(found, remedy="leave out --syntax", notes=source.notes)
        return found
    text = source.text.decode("utf-8", "replace") if isinstance(source.text, bytes) else source.text
    whitespace = source.options.get("whitespace", "")
    if isinstance(error, interlock.PatternError) and error.pointer is None and error.offset is not None and whitespace:
        way = "--whitespace takes flexible, compact, spaced, or a pattern of the blanks between values"
        return PlaceInSource(whitespace, error.offset, error.offset + 1, way)
    if error.offset is not None and error.pointer is None:
        return _not_json(text, error.offset, source.name, source.file)
    remedy, notes = _remedy(error, source, text)
    broken = re.match(r'in the document "(.*?)": .*\(at byte (\d+)\)', str(error))
    if broken and broken[1] in (documents := source.options.get("documents", {})):
        found = _broken_document(error, documents, broken[1], int(broken[2]))
        error.referred_from = source.file  # type: ignore[attr-defined]
        return replace(found, notes=(*_referring(source, text, broken[1], ""), *found.notes))
    uri, is_other, inside = (error.pointer or "").partition("#")
    if is_other and uri in (documents := source.options.get("documents", {})):
        notes = (*_referring(source, text, uri, inside), *notes)
        return _in_document(error, documents, uri, inside, remedy, notes)
    document = explain.parse(text)
    if error.pointer is None and isinstance(error, interlock.UnsupportedError):
        _name_unique_items(error, document)
    pointer = error.pointer or ""
    if source.outer is not None:
        text, inside = source.outer
        document = explain.parse(text)
        # What the schema refers to outside of it has the same pointer in the whole.
        pointer = inside + pointer if node_at(document, inside + pointer) is not None else pointer
    start, end = _span(document, pointer, error.keyword, is_slip="is no keyword of JSON Schema" in str(error))
    if error.keyword in ("pattern", "patternProperties") and isinstance(error, interlock.PatternError):
        start, end, remedy = _inner_pattern(document, pointer, error.keyword, text) or (start, end, "")
    return PlaceInSource(text, start, end, remedy, error.pointer is not None, notes)


def _name_unique_items(error: interlock.UnsupportedError, document: Node) -> None:
    """Name the place of what is found out once all arrays are compiled, where one array alone can be meant."""
    named = re.match("uniqueItems with (minItems|)", str(error)) or re.match("uniqueItems over required ()", str(error))
    if named is None:
        return
    keys = {"uniqueItems", named[1] or "uniqueItems"}
    meant = [where for where, node in document.walk() if keys <= {member.key for member in node.members}]
    if len(meant) == 1:
        error.pointer, error.keyword = meant[0], "uniqueItems"


def _referring(source: Source, text: str, uri: str, pointer: str) -> tuple[str, ...]:
    """Which reference of the source leads to the place in another document, and by way of which others."""
    documents = source.options["documents"]
    if not isinstance(documents, Documents):
        return ()
    steps = referred_from(json_value(text), documents, uri, pointer)
    if not steps:
        return ()
    name = source.file or "the schema"
    way = [f"{documents.paths.get(by, by)} at {at or 'its root'}" for by, at in steps[1:]]
    by = f", by way of {', '.join(way)}" if way else ""
    outer = source.outer[1] if source.outer is not None else ""
    return (f"{name} refers to it at {outer + steps[0][1] or 'its root'}{by}",)


def _in_document(
    error: interlock.InterlockError, documents: Any, uri: str, pointer: str, remedy: str, notes: tuple[str, ...]
) -> PlaceInSource:
    """The place in another document that the schema refers to, and that document's file."""
    text = documents[uri].decode("utf-8", "replace")
    if file := getattr(documents, "paths", {}).get(uri):
        error.source_file = file  # type: ignore[attr-defined]
    document = explain.parse(text)
    start, end = _span(document, pointer, error.keyword, is_slip="is no keyword of JSON Schema" in str(error))
    if error.keyword in ("pattern", "patternProperties") and isinstance(error, interlock.PatternError):
        start, end, remedy = _inner_pattern(document, pointer, error.keyword, text) or (start, end, remedy)
    return PlaceInSource(text, start, end, remedy, notes=notes)


def _broken_document(error: interlock.InterlockError, documents: Any, uri: str, at: int) -> PlaceInSource:
    """The place in another document that is no JSON, and what to do."""
    file = getattr(documents, "paths", {}).get(uri, "")
    if file:
        error.source_file = file  # type: ignore[attr-defined]
    return _not_json(documents[uri].decode("utf-8", "replace"), at, file, file, "refer to")


def _is_pattern(pattern: str, dialect: str, flags: str) -> bool:
    """Whether a dialect takes the pattern with these flags."""
    try:
        interlock.check_regex(pattern, dialect=dialect, flags=flags)  # type: ignore[arg-type]
    except interlock.InterlockError:
        return False
    return True


def _in_pattern(error: interlock.InterlockError, pattern: str, options: dict[str, Any]) -> PlaceInSource | None:
    """The place in a pattern, and what to do in words of the command line; the core says the rest (``error.hint``)."""
    remedy = ""
    dialect = options.get("dialect", "python")
    other = "ecma" if dialect == "python" else "python"
    flags = options.get("flags") or ""
    if inside := slashed(pattern, dialect):
        beside = f" and give --flags {inside[1]}" if inside[1] else ""
        remedy = f"leave out the slashes around the pattern{beside}"
    elif isinstance(error, (interlock.PatternError, interlock.UnsupportedError)):
        if "a group with a name is written" in str(error) and _is_pattern(pattern, other, flags):
            remedy = f"write it so; --dialect {other} takes the pattern as it stands"
        elif _is_pattern(pattern, other, flags):
            # A class in a range means something else there.
            either = f"; --dialect {other} takes it, with - as a character"
            is_range = "one end is a class" in str(error)
            remedy = f"{error.hint}{either}" if is_range else f"--dialect {other} takes it"
    elif isinstance(error, interlock.UnsatisfiableError):
        remedy = _NEVER.get(error.subject or "", _NO_MATCH) if error.code == "impossible_part" else _NO_MATCH
    if isinstance(error, interlock.PatternError | interlock.UnsupportedError) and not remedy:
        # What the core says of flags is in words of the library.
        remedy = (error.hint or "").replace("give flags for the whole pattern beside it", "--flags gives flags for all")
        if remedy == "leave it out":
            remedy += ": the pattern is the whole output"
    if error.offset is None:
        return PlaceInSource(pattern, 0, 1, remedy, found=False) if remedy else None
    return PlaceInSource(pattern, error.offset, error.offset + 1, remedy)


_NEVER = {
    "look": "the pattern is the whole output, and nothing stands beside it: write what is asked for into the pattern",
    "edge": "leave it out: the pattern is the whole output, which has one beginning and one end",
    "other": "",
}
"""What to do about a pattern whose impossible part is known; empty where the message says all that is known."""
_NO_MATCH = "no text matches; anchors in the middle (^ and $) and empty classes are common reasons"


def _in_grammar(error: interlock.InterlockError, source: Source) -> PlaceInSource:
    """The character at fault, where it stands in the grammar's own text and not in one that it imports."""
    text = source.text
    start = len(text.encode()[: error.offset or 0].decode("utf-8", "ignore"))
    remedy = lines_remedy(text, start, source.name, source.file)
    if error.code == "unknown_import":
        # What helps without the file is behind the hint's first part, which is about the package's argument.
        way = "".join((error.hint or "").partition("; ")[1:])
        remedy = remedy or f"--import {error.subject}=FILE gives its text{way}"
    remedy = remedy or _GRAMMAR_OPTIONS.get(error.code or "") or _grammar_remedy(error, source)
    if error.offset is None:
        name = error.subject if error.code == "endless_rule" else None
        # A rule without a name of its own has one made of its parent's, and is nowhere defined.
        rule = re.search(rf"^[?!]*({re.escape(name)})\b[^\S\n]*:", text, re.MULTILINE) if name else None
        if rule is not None:
            return PlaceInSource(text, *rule.span(1), remedy)
        return PlaceInSource(text, 0, 1, remedy, found=False)
    return PlaceInSource(text, start, start + 1, remedy)


LEXERS = ("any", "dynamic", "contextual")
"""What ``--lexer`` takes."""
_GRAMMAR_OPTIONS = {
    "unknown_grammar": "--grammar NAME=FILE gives a grammar that @NAME may name",
    "no_start": "--start RULE names the rule that the output is",
}


def _other_lexers(source: Source) -> str:
    """What the values of ``--lexer`` make of a grammar that accepts nothing."""
    found, refused = [], 0
    for lexer in LEXERS:
        try:
            interlock.check_grammar(source.text, **source.options | {"lexer": lexer})
            found.append(lexer)
        except interlock.UnsatisfiableError:
            refused += 1
        except interlock.InterlockError:
            pass  # Nothing is known of this one.
    if found:
        return f"--lexer {' or '.join(found)} accepts something by the same rules"
    if refused < len(LEXERS):
        return ""
    return "no --lexer accepts anything by these rules; a terminal that no text matches is a common reason"


def _grammar_remedy(error: interlock.InterlockError, source: Source) -> str:
    """What to do about an error of a grammar; empty where the message says all that is known."""
    if isinstance(error, interlock.UnsatisfiableError):
        if error.code == "endless_rule":
            return f"give {error.subject} an alternative that does not lead back to {error.subject}"
        return _other_lexers(source)
    if isinstance(error, interlock.VocabularyError):
        return "--tokenizer FILE gives the model's vocabulary; this one lacks what the grammar names"
    if error.code == "other_notation" and error.subject == "lark":
        return "--syntax lark reads it as Lark's notation"
    if error.code == "other_notation":
        return "--syntax gbnf or --syntax ebnf reads it as one of these"
    return way_to_mend_grammar(error, source.options.get("syntax", "lark"))


def _in_tag(error: interlock.InterlockError, tag: Any) -> PlaceInSource | None:
    """What was probably meant in a structural tag: a type of a format, or a field that it lacks."""
    if error.subject is None or error.code not in ("unknown_type", "missing_field"):
        return None
    if error.code == "unknown_type":
        from interlock.tools.spec.reader import FORMAT_TYPES

        meant = nearest(error.subject, FORMAT_TYPES)
        return PlaceInSource("", 0, 0, f"did you mean {meant}?", found=False) if meant else None
    part = value_at(tag, map(unescaped, (error.pointer or "").split("/")[1:]))
    if isinstance(part, dict) and (slip := nearest(error.subject, part)):
        return PlaceInSource("", 0, 0, f"did you mean {error.subject} by {slip}?", found=False)
    return None


def _not_json(text: str, at: int, name: str, file: str, then: str = "name") -> PlaceInSource:
    """The place of a byte in a text that is no JSON, and what to do. ``then`` is what a file made of it is for."""
    from interlock.cli.sources.yaml_files import from_yaml, is_yaml, is_yaml_schema
    from interlock.cli.terminal.suggest import near_file

    start = len(text.encode()[:at].decode("utf-8", "ignore"))
    remedy = ""
    notes: tuple[str, ...] = ()
    try:
        document = explain.parse(text)
    except explain.NotJson as own:
        remedy = own.hint
        if not text[start:].strip():  # What is missing is missing behind the last line that has anything.
            start = len(text.rstrip())
            if own.message.startswith("the text ends"):
                notes, remedy = (own.message,), CUT_OFF if file else remedy
        elif own.message.startswith("the document has ended") and text[start] in "{[":
            remedy = "one schema: interlock precompute takes several, each on a line of a .jsonl file"
    else:
        if twice := _repeated(document):
            return _both_keys(text, *twice)
    if re.fullmatch(r"[\w./\\~-]+\.\w+", text.strip()) and name.startswith("schema:"):
        meant = near_file(text.strip()) or text.strip()
        remedy = f"is this a file? write {meant} or schema:@{meant}"
    if is_yaml(file) and not remedy.startswith("write {"):
        remedy = from_yaml(file, then)
    elif name.endswith(":@-") and is_yaml_schema(text.encode()):
        remedy = from_yaml("-")
    remedy = remedy or lines_remedy(text, start, name, file)
    return PlaceInSource(text, start, start + 1, remedy, notes=notes)


def _repeated(document: Node) -> tuple[Member, Member] | None:
    """The first key that an object has had before, behind the member that had it first."""
    for _, node in document.walk():
        seen: dict[str, Member] = {}
        for member in node.members:
            if member.key in seen:
                return seen[member.key], member
            seen[member.key] = member
    return None


def _both_keys(text: str, first: Member, second: Member) -> PlaceInSource:
    """The place of a key that is there a second time, and where it stands first."""
    line, column = explain.line_column(text, first.start)
    notes = (f"it stands first at line {line}, column {column}",)
    return PlaceInSource(text, second.start, second.end, "leave out one of the two", notes=notes)


def _span(document: Node, pointer: str, keyword: str | None, is_slip: bool = False) -> tuple[int, int]:
    """Where the keyword at fault and its value stand; the schema that holds it where there is no keyword. Of a slip,
    the keyword itself is at fault.
    """
    node = node_at(document, pointer)
    if node is None:
        return 0, 1
    for member in node.members:
        if member.key == keyword:
            inner = member.value
            key = member.start, member.end
            return key if is_slip or inner.kind in ("object", "array") else (inner.start, inner.end)
    # A pointer may lead to what the keyword holds.
    return node.start, node.end if node.kind not in ("object", "array") else node.start + 1


def node_at(document: Node, pointer: str) -> Node | None:
    """The value at a JSON Pointer."""
    return next((node for where, node in document.walk() if where == pointer), None)


def _inner_pattern(document: Node, pointer: str, keyword: str, text: str) -> tuple[int, int, str] | None:
    """The character of a pattern inside a schema that is at fault, and what is different in this dialect. The patterns
    of ``patternProperties`` are keys.
    """
    node = node_at(document, pointer)
    value = node.get(keyword) if node is not None else None
    if value is None:
        return None
    patterns = [(value.value, value.start, value.end)] if keyword == "pattern" else []
    patterns += [(member.key, member.start, member.end) for member in value.members if keyword != "pattern"]
    for pattern, start, end in patterns:
        try:
            interlock.Index.from_regex(pattern, explain.byte_vocabulary(), dialect="ecma")  # type: ignore[arg-type]
        except interlock.PatternError as inner:
            # In a string of JSON a backslash is written twice.
            remedy = (inner.hint or "").replace("\\", "\\\\")
            if re.search(r"\\[AZz]|\(\?P<", str(pattern)):
                remedy = r"patterns of JSON Schema are ECMA-262: ^ and $ for \A and \Z, (?<name>...) for (?P<name>...)"
            place = (start, end) if inner.offset is None else _character(text, start, end, inner.offset)
            return *place, remedy
        except (interlock.InterlockError, TypeError):
            continue
    return None


_SPELT = re.compile(r"\\ud[89ab]..\\ud[c-f]..|\\u....|\\.|.", re.IGNORECASE | re.DOTALL)
"""A character inside a string of JSON, which may be an escape."""


def _character(text: str, start: int, end: int, number: int) -> tuple[int, int]:
    """Where a string of JSON, which stands from ``start`` to ``end``, spells a character of it; else its last quote."""
    for at, spelt in enumerate(_SPELT.finditer(text, start + 1, end - 1)):
        if at == number:
            return spelt.span()
    return end - 1, end


def _remedy(error: interlock.InterlockError, source: Source, text: str) -> tuple[str, tuple[str, ...]]:
    documents = {uri: json_value(data) for uri, data in source.options.get("documents", {}).items()}
    if isinstance(error, interlock.UnsatisfiableError):
        if loop := endless_loop(json_value(text), documents, error.pointer or ""):
            return ENDING, (f"no document comes to an end: {loop}",)
        return _contradiction(error, source, text)
    if "applies to itself in place" in str(error):
        loop = loop_in_place(json_value(text), documents, error.pointer or "")
        return "", (f"the circle: {loop}",) if loop else ()
    if error.hint is not None and "`documents`" in error.hint:
        asked = re.match(r'reference "(.*?)" leads to "(.*?)"', str(error))
        if meant := definition_meant(asked[1] if asked else "", json_value(text)):
            return f'did you mean "{meant}"?', ()
        given = source.options.get("documents")
        given = given if isinstance(given, Documents) else Documents()
        file = given.paths.get((error.pointer or "").partition("#")[0], source.path or source.file)
        reference, uri = (part.replace("\\\\", "\\") for part in (asked.groups() if asked else ("", "")))
        return missing_documents.way_to(reference, os.path.dirname(file) or ".", uri, given), ()
    if isinstance(error, interlock.SchemaError) and (lost := re.match(r'reference "(.*?)" leads nowhere', str(error))):
        uri = (error.pointer or "").partition("#")[0]
        meant = definition_meant(lost[1], json_value(text)) if not uri and 'did you mean "#' not in str(error) else ""
        return (f'did you mean "{meant}"?' if meant else ""), ()
    if isinstance(error, interlock.SchemaError) and (key := re.search(r'pass what \["([^"]+)"\] holds', str(error))):
        return f"--schema-key {key[1]} takes the schema out of its envelope", ()
    if isinstance(error, interlock.UnsupportedError) and source.options.get("on_unsupported") != "warn":
        with contextlib.suppress(interlock.InterlockError):
            source.make(explain.byte_vocabulary(), on_unsupported="warn")
            return "--on-unsupported warn leaves it out and says so in the report (interlock inspect)", ()
    return "", ()


def _contradiction(error: interlock.InterlockError, source: Source, text: str) -> tuple[str, tuple[str, ...]]:
    uri, mark, pointer = (error.pointer or "").rpartition("#")
    documents: dict[str, bytes] = source.options.get("documents", {})
    is_other = bool(mark) and uri in documents

    def accepts_nothing(schema: Any) -> bool:
        written = json.dumps(schema)
        changed = {"documents": {**documents, uri: written.encode()}} if is_other else {}
        try:
            (source if is_other else source.with_text(written)).make(explain.byte_vocabulary(), **changed)
        except interlock.UnsatisfiableError:
            return True
        return False

    document = json.loads(documents[uri] if is_other else text)
    if not accepts_nothing(document):  # Over bytes it has outputs.
        return "another --tokenizer: the source has outputs; interlock vocab names the bytes without a token", ()
    found = contradiction(document, pointer, accepts_nothing)
    if not found:
        return "the place above contradicts itself; no output can satisfy it", ()
    kinds = [k for k in found if k.keyword == "type" and k.pointer == pointer]
    others = [k for k in found if k not in kinds]
    if not others:
        return "change it; no output can satisfy it", ("because of: " + ", ".join(map(str, found)),)
    words = [f"{k}" + (f" (at {k.pointer})" if k.pointer != pointer else "") for k in others]
    of = f" for {kinds[0]}" if kinds else ""
    if len(words) == 1:
        way = without_slashes(others[0].value) if others[0].keyword == "pattern" else ""
        return way or "change it; no output can satisfy it", (f"because of: {words[0]}{of}",)
    joined = " and ".join([", ".join(words[:-1]), words[-1]])
    return "change one of them", (f"these contradict each other{of}: {joined}",)
