"""The engine's verdict about a text, and the reasons for it."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import unquote

import interlock
from interlock import _core
from interlock._recipe import END, Recipe
from interlock.explain import generation_rules
from interlock.explain.applicators import APPLICATORS
from interlock.explain.assertions import ASSERTIONS
from interlock.explain.deep_documents import too_deep_document, too_deep_value
from interlock.explain.document import BLANKS, LineStarts, Node, NotJson, embedded, line_column, parse
from interlock.explain.oracle import Oracle
from interlock.explain.validator import Problem, Validator
from interlock.explain.wording import brief_literal, listed, literal
from interlock.schema_hints import quiet
from interlock.util.near_words import nearest
from interlock.util.wide_encodings import wide_encoding

NOT_JSON = "not JSON: "
"""How the message of a problem begins that is about the text, which is no document."""


@dataclass(frozen=True)
class Explanation:
    """What an index says about a text, and why.

    ``at`` is the byte where it refuses the text, the text's length where that ends too early; ``character`` is the same
    place in characters. ``allowed`` are the bytes that may stand there, ``may_end`` says whether the text may end
    there, ``forced`` is what must stand there. ``problems`` are the reasons, in the order of their places; empty for a
    text that is accepted, and never for another one. ``str(explanation)`` is all of it in a few lines.
    """

    accepted: bool
    text: str
    at: int
    character: int
    allowed: list[int] = field(default_factory=list)
    may_end: bool = False
    forced: bytes = b""
    ends_early: bool = False
    problems: list[Problem] = field(default_factory=list)

    def __str__(self) -> str:
        """The verdict and the reasons, a line each with the place; what is allowed at the place where it is refused."""
        if self.accepted:
            return "accepted"
        lines, starts = ["refused"], LineStarts(self.text)
        for problem in self.problems:
            line, column = starts.line_column(problem.start)
            hint = f" ({problem.hint})" if problem.hint else ""
            lines.append(f"  line {line}, column {column}: {problem.message}{hint}")
        return "\n".join(lines)


@quiet()
def explain(index: interlock.Index, text: str | bytes) -> Explanation:
    """What ``index`` says about ``text``, and why: see ``Explanation``.

    ``ArgumentError`` for what is no index or no text.

    The text is walked byte by byte, whatever the vocabulary of the index. Bytes that are not UTF-8 are a reason of
    their own. Costs a compile over bytes, and for a text that is refused some more of small sources: milliseconds.
    """
    if not isinstance(index, interlock.Index):
        given = f"the type {index.__name__}" if isinstance(index, type) else type(index).__name__
        is_text = isinstance(index, str | bytes)
        way = "the index comes first, then the text" if is_text else "Index.from_type(..., byte_vocabulary()) makes one"
        raise interlock.ArgumentError(f"index must be an interlock.Index, not {given}: {way}")
    if not isinstance(text, str | bytes):
        raise interlock.ArgumentError(
            f"text must be a str or bytes, not {type(text).__name__}: write a document as JSON, with json.dumps"
        )
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    recipe = Recipe.of(index)
    guide = recipe.compile().guide()
    taken = guide.advance_many(list(data))
    shown = data.decode("utf-8", "replace")
    character = len(data[:taken].decode("utf-8", "ignore"))
    if taken == len(data) and guide.is_accepting:
        return Explanation(True, shown, taken, character)
    early = taken == len(data)
    allowed = [i for i in guide.allowed_token_ids().tolist() if i != END]
    forced = guide.forced_bytes()
    problems = _problems(recipe, shown, character, early, _open_tag(guide))
    if wide := wide_encoding(data):
        message = f"the text is {wide}, and is read as UTF-8"
        problems = [Problem("", "", "", message, 0, 1, 1, "save it as UTF-8")]
    elif b"\xff" in (data_utf8 := _bad_utf8(data)):
        start = len(data_utf8[:-1].decode("utf-8", "replace"))
        problems = [Problem("", "", "", "the text is not UTF-8 here", start, start + 1, start + 1)]
    if not problems:
        problems = [_nothing_found(recipe, shown, character, early)]
    return Explanation(False, shown, taken, character, allowed, guide.is_accepting, forced, early, problems)


def _bad_utf8(data: bytes) -> bytes:
    """The part before the first byte that is not UTF-8 and a mark; empty if there is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start] + b"\xff"
    return b""


def _problems(recipe: Recipe, text: str, at: int, early: bool, tag: str) -> list[Problem]:
    if recipe.method == "from_choices":
        return [_choices(recipe.source, text)]
    if recipe.method == "from_regex":
        return [_pattern(text, at, early)]
    if recipe.method == "from_grammar":
        return [_grammar(text, at, early, tag)]
    broken: NotJson | None = None
    try:
        document: Node | None = parse(text)
    except NotJson as error:
        broken, document = error, error.partial
    except RecursionError:
        return [] if early else [too_deep_document(text, at)]
    syntax = [_not_json(broken, text)] if broken else []
    if document is None or broken and at >= broken.offset:
        return syntax
    validator = validator_of(recipe)
    try:
        found = validator.explain(text, document)
    except RecursionError:
        found, validator.was_too_deep = [], True
    # The engine read everything before ``at``: what would forbid a part of that alone cannot be a reason.
    found = [problem for problem in found if problem.until >= at]
    if broken:  # What was still open could have gone on.
        unknown = ("additionalProperties", "unevaluatedProperties")
        ended = _ends_with_a_string(text, document)
        found = [p for p in found if p.until < broken.offset + ended or p.keyword in unknown]
        # An object that is open where its last string ends could have had its other keys yet.
        found = [p for p in found if p.until < broken.offset or not (p.missing or p.keyword in _COULD_FOLLOW)]
    # Where nothing more may follow, the engine stops at the comma before it.
    if not any(not text[at : problem.start].strip(BLANKS + ",:") for problem in found):
        report = recipe.compile().report
        written = list(generation_rules.reasons(text, document, at, recipe.compile, recipe.options, report))
        found = written + found
    if not found and not syntax and not early and validator.was_too_deep:
        return [too_deep_value(text, at)]
    return found + syntax


_COULD_FOLLOW = ("minItems", "minProperties", "contains", "minContains")
"""Keywords that ask for more of a container, beside those that ask for a key (``Problem.missing``)."""


def _ends_with_a_string(text: str, document: Node) -> bool:
    """Whether a text that is cut off ends with a whole string, which cannot go on."""
    for _, node in document.walk():
        if node.kind == "string" and node.end == len(text):
            with contextlib.suppress(ValueError):
                json.loads(text[node.start :], strict=False)
                return True
    return False


def validator_of(recipe: Recipe) -> Validator:
    """What explains documents by the schema of a recipe, as its options and the engine's report read it."""
    documents = recipe.options["documents"]
    return Validator(
        json.loads(recipe.source, parse_float=Decimal, parse_int=Decimal),
        {uri: json.loads(text, parse_float=Decimal, parse_int=Decimal) for uri, text in documents.items()},
        _rows(recipe, "ignored", "annotation"),
        _rows(recipe, "wider"),
        _left_out_parts(recipe),
        Oracle(recipe),
        ASSERTIONS | APPLICATORS,
        recipe.options["formats"] == "assert",
    )


def _rows(recipe: Recipe, *kinds: str) -> set[tuple[str, str]]:
    """Places and keywords of the report's rows of these kinds."""
    return {(row.pointer, row.keyword) for row in recipe.compile().report if row.enforcement in kinds}


def _left_out_parts(recipe: Recipe) -> dict[tuple[str, str], str]:
    """What the engine leaves out of a keyword, by place and keyword, without what the report says of its negation."""
    rows = [row for row in recipe.compile().report if row.enforcement == "narrower"]
    return {(row.pointer, row.keyword): row.reason.partition("; where it is negated")[0] for row in rows}


def _not_json(error: NotJson, text: str) -> Problem:
    at = min(error.offset, len(text))
    message, hint = error.message, error.hint
    if not text[:at].strip(BLANKS) and (begin := embedded(text, at + 1)) is not None:
        line, column = line_column(text, begin)
        message = f"text stands before the JSON, which begins at line {line}, column {column}"
        hint = hint or "leave out what stands before it"
    return Problem("", "", "", f"{NOT_JSON}{message}", at, at + 1, len(text), hint)


def _choices(choices: list[str], text: str) -> Problem:
    near = nearest(text, choices)
    hint = f"did you mean {brief_literal(near)}?" if near else ""
    words = listed([brief_literal(choice) for choice in choices])
    whole = max(len(text), 1)
    return Problem("", "choices", "", f"{brief_literal(text)} is none of the choices: {words}", 0, whole, whole, hint)


def _pattern(text: str, at: int, early: bool) -> Problem:
    if early:
        return Problem("", "pattern", "", "the text ends too early for the pattern", at, at + 1, at + 1)
    return Problem("", "pattern", "", f"{literal(text[at : at + 1])} does not fit the pattern here", at, at + 1, at + 1)


def _grammar(text: str, at: int, early: bool, tag: str) -> Problem:
    what = f"the tag {literal(tag)}" if tag else "the grammar"
    if early:
        return Problem("", "grammar", "", f"the text ends too early for {what}", at, at + 1, at + 1)
    return Problem("", "grammar", "", f"{literal(text[at : at + 1])} does not fit {what} here", at, at + 1, at + 1)


def _open_tag(guide: interlock.Guide) -> str:
    """How the tag of a structural tag begins whose content a guide is in; empty where it is in none for certain."""
    if not _core._has_captures(guide):
        return ""
    begun: list[int] = []
    for part, marker, _ in _core._new_events(guide)[1]:
        if part == _BEGINS:
            begun.append(marker)
        elif part == _ENDS and marker in begun:
            begun.remove(marker)
    for marker in reversed(begun):
        capture = _core._capture(guide, marker)
        # As the grammars of structural tags name what they capture.
        kind, _, begin = capture[0].lstrip("\x01").partition(" ") if capture else ("", "", "")
        if kind == "tag":
            return unquote(begin)
    return ""


_BEGINS, _ENDS = 0, 2
"""What a part of ``_new_events`` says of a capture, beside its text."""


def _nothing_found(recipe: Recipe, text: str, at: int, early: bool) -> Problem:
    if early:
        return Problem("", "", "", "the text ends too early", at, at + 1, at + 1)
    message = "the engine does not write this here, though the schema may allow it (the report of the index says where)"
    return Problem("", "", "", message, at, at + 1, at + 1)
