"""A structural tag as one grammar: rules over texts, patterns, JSON documents and special tokens.

The grammar is in Lark's notation and means what it means under ``lexer="any"``: any way of cutting a text counts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from interlock._core import UnsupportedError, Vocabulary
from interlock.tools.argument_grammar import ArgumentGrammar
from interlock.tools.ebnf_rules import lark_of_ebnf
from interlock.tools.errors import StructuralTagError
from interlock.tools.event_names import encoding_of, holds_events, marks_arguments, written_event
from interlock.tools.grammar_text import ANY, literal, pattern, without
from interlock.tools.quoted_grammar import quoted
from interlock.tools.spec import nodes
from interlock.tools.spec import read as read_tag

__all__ = [
    "AnyVocabularyBuilder",
    "GrammarBuilder",
    "JsonWriting",
    "MOST_UNIQUE",
    "TagGrammar",
    "grammar_of",
    "special_names",
    "tag_grammar",
]

#: Of more tags than this, "each at most once" has too many cases to be written out.
MOST_UNIQUE = 8

Stop = str | nodes.Token
Stops = tuple[Stop, ...]


@dataclass(frozen=True)
class TagGrammar:
    """A grammar, and which part of the structural tag each of its lines comes from."""

    text: str
    pointers: tuple[str, ...]
    """A JSON Pointer for each line."""

    def pointer_at(self, offset: int | None) -> str:
        """The part of the structural tag that the byte ``offset`` of the text comes from."""
        if offset is None:
            return ""
        line = self.text.encode()[:offset].count(b"\n")
        return self.pointers[min(line, len(self.pointers) - 1)]


def grammar_of(tag: Any, vocabulary: Vocabulary, *, closed: bool = False) -> str:
    """The grammar of a structural tag, in Lark's notation, for ``lexer="any"``.

    ``tag`` is the JSON object or ``spec.StructuralTag``. ``vocabulary`` says which texts are special tokens; they stand
    in the grammar by their ids. ``closed`` reads object schemas without ``additionalProperties`` as closed.
    ``StructuralTagError`` for a tag that is not well formed, ``UnsupportedError`` for what has no exact grammar; both
    name the place by JSON Pointer.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([b"a", b"<e>", b""], eos_token_ids=[2], special_token_ids=[1])
    >>> tag = {"type": "tag", "begin": "a", "content": {"type": "any_text"}, "end": "<e>"}
    >>> print(grammar_of({"format": tag, "type": "structural_tag", "special_tokens": ["<e>"]}, vocabulary))
    start: r2
    T1: /.*/s & ~/.*(?:\\x{3c}e\\x{3e}).*/s
    r1[event="tag a"]: T1
    r2: "a" r1 <[1]>
    <BLANKLINE>
    """
    return tag_grammar(tag, vocabulary, closed=closed).text


def tag_grammar(
    tag: Any, vocabulary: Vocabulary, *, closed: bool = False, json: JsonWriting | None = None, spellable: str = ""
) -> TagGrammar:
    """As ``grammar_of``, with the places that lines come from. ``spellable`` is a terminal that holds every other one
    down to characters that the vocabulary can spell (see ``interlock.tools.spellable``).
    """
    found = tag if isinstance(tag, nodes.StructuralTag) else read_tag(tag)
    return GrammarBuilder(found, vocabulary, closed, json, spellable).build()


@dataclass(frozen=True)
class JsonWriting:
    """How the JSON of a structural tag is written, where the tag does not say."""

    most_whitespace: int | None = None
    """How much may stand between its parts; ``None`` for any."""
    any_escapes: bool = True
    """Whether strings may have escapes that JSON does not need."""


@functools.lru_cache(maxsize=2)
def special_names(vocabulary: Vocabulary) -> Mapping[str, int]:
    """The special tokens and stop tokens of a vocabulary by their texts. There may be thousands of them."""
    ids: dict[str, int] = {}
    for number in (*vocabulary.eos_token_ids, *vocabulary.special_token_ids):
        ids.setdefault(vocabulary.token_bytes(number).decode("utf-8", "replace"), number)
    return MappingProxyType(ids)


@functools.lru_cache(maxsize=4)
def _any_of(texts: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the texts that are not empty, the longest of those that begin at one place."""
    known = sorted((text for text in texts if text), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


class GrammarBuilder:
    """Writes the rules of one structural tag."""

    def __init__(
        self,
        tag: nodes.StructuralTag,
        vocabulary: Vocabulary,
        closed: bool,
        json: JsonWriting | None = None,
        spellable: str = "",
    ) -> None:
        self.tag, self.closed, self.json, self.spellable = tag, closed, json or JsonWriting(), spellable
        self.ids = special_names(vocabulary)
        self.special_ids = set(vocabulary.special_token_ids) | set(vocabulary.eos_token_ids)
        self.stop_ids = set(vocabulary.eos_token_ids)
        self.size = vocabulary.size
        self.delimiters = _any_of(tuple(text for text in tag.special_tokens if text in self.ids))
        self.lines: list[tuple[str, str]] = []
        self.known: dict[Any, str] = {}
        self.kept: list[Any] = []
        self.count = itertools.count(1)
        self.terminals: dict[str, str] = {}
        self.events: dict[tuple[str, str], str] = {}
        #: What the place is inside of: "" at the top, where text is text.
        self.inside: Literal["", "tag", "call", "arguments"] = ""

    def build(self) -> TagGrammar:
        # Without any tag the output as a whole is text, which needs no reader.
        whole = not holds_events(self.tag.format)
        start = self.within("tag" if whole else "", self.tag.format, (), "/format")
        lines = [(f"start: {start}", "/format"), *self.lines]
        return TagGrammar("".join(f"{line}\n" for line, _ in lines), tuple(pointer for _, pointer in lines))

    # --- rules and terminals ------------------------------------------------------------------------------------

    def rule(self, body: str, pointer: str) -> str:
        name = f"r{next(self.count)}"
        self.lines.append((f"{name}: {body}", pointer))
        return name

    def event(self, name: str, body: str, pointer: str) -> str:
        """A rule whose text is reported: ``name`` says as what."""
        key = (name, body)
        if key not in self.events:
            rule = self.events[key] = f"r{next(self.count)}"
            self.lines.append((f'{rule}[event="{name}"]: {body}', pointer))
        return self.events[key]

    def plain(self, body: str, pointer: str) -> str:
        """What is text, unless it is inside of something else."""
        return body if self.inside else self.event("text", body, pointer)

    def within(self, place: Literal["", "tag", "call", "arguments"], node: Any, stops: Stops, pointer: str) -> str:
        """The rule of a format inside of something."""
        before, self.inside = self.inside, place
        try:
            return self.format(node, stops, pointer)
        finally:
            self.inside = before

    def reserve(self) -> str:
        return f"r{next(self.count)}"

    def define(self, name: str, body: str, pointer: str) -> None:
        self.lines.append((f"{name}: {body}", pointer))

    def terminal(self, body: str, pointer: str) -> str:
        if body not in self.terminals:
            self.terminals[body] = f"T{len(self.terminals) + 1}"
            written = f"({body}) & {self.spellable}" if self.spellable else body
            self.lines.append((f"{self.terminals[body]}: {written}", pointer))
        return self.terminals[body]

    def choice(self, parts: Iterable[str], pointer: str) -> str:
        distinct = list(dict.fromkeys(parts))
        return distinct[0] if len(distinct) == 1 else self.rule(" | ".join(distinct), pointer)

    # --- texts and tokens ---------------------------------------------------------------------------------------

    def pieces(self, text: str) -> list[str | int]:
        """``text`` as texts and ids of special tokens."""
        if self.delimiters is None:
            return [text] if text else []
        found: list[str | int] = []
        at = 0
        for token in self.delimiters.finditer(text):
            found += [text[at : token.start()], self.ids[token[0]]]
            at = token.end()
        return [piece for piece in (*found, text[at:]) if piece != ""]

    def literal(self, text: str) -> str:
        """A delimiter. ``""`` for one without characters."""
        return " ".join(literal(piece) if isinstance(piece, str) else f"<[{piece}]>" for piece in self.pieces(text))

    def id_of(self, token: int | str, pointer: str) -> int:
        if isinstance(token, int):
            if token >= self.size:
                raise StructuralTagError(f"the vocabulary has no token {token}: it has {self.size}", pointer)
            return token
        if token not in self.ids:
            raise StructuralTagError(f"the vocabulary has no special token {token!r}", pointer)
        return self.ids[token]

    def ids_of(self, tokens: Iterable[int | str], pointer: str) -> list[int]:
        return [self.id_of(token, f"{pointer}/{index}") for index, token in enumerate(tokens)]

    def text(self, taboo: Iterable[Stop], pointer: str, most: int | None = None) -> str:
        """Any text in which nothing of ``taboo`` stands."""
        inside = ANY if most is None else f"/.{{0,{most}}}/s"
        # Where a token is to be kept out, its bytes are too: whoever reads the output may see bytes only.
        return self.terminal(without((one for one in taboo if isinstance(one, str)), inside), pointer)

    def between(self, excluded: Sequence[int], stops: Stops, pointer: str) -> str:
        """Any tokens but the excluded ones, and no text of ``stops``."""
        odd = next((number for number in excluded if number not in self.special_ids), None)
        if odd is not None:
            raise UnsupportedError(
                f"at {pointer}: token {odd} is no special token of the vocabulary, and tokens of plain text cannot be "
                "told apart from their text here"
            )
        out = set(excluded) | {self.id_of(one.token, pointer) for one in stops if isinstance(one, nodes.Token)}
        text = self.text(stops, pointer)
        single = [one for stop in stops if isinstance(stop, str) and len(one := self.pieces(stop)) == 1]
        out |= {number for (number,) in single if isinstance(number, int)}
        allowed = sorted(self.special_ids - self.stop_ids - out)
        if not allowed:
            return text
        return self.rule(f"{text} (<[{','.join(map(str, allowed))}]> {text})*", pointer)

    # --- formats ------------------------------------------------------------------------------------------------

    def format(self, node: Any, stops: Stops, pointer: str) -> str:
        """The rule of a format whose texts hold nothing of ``stops``."""
        key = (id(node), stops, self.inside)
        if key not in self.known:
            self.kept.append(node)
            self.known[key] = _WRITERS[type(node)](self, node, stops, pointer)
        return self.known[key]

    def sequence(self, node: nodes.Sequence, stops: Stops, pointer: str) -> str:
        last = len(node.elements) - 1
        parts = [
            self.format(element, stops if index == last else (), f"{pointer}/elements/{index}")
            for index, element in enumerate(node.elements)
        ]
        return self.rule(" ".join(parts), pointer)

    def alternatives(self, node: nodes.Or, stops: Stops, pointer: str) -> str:
        parts = [self.format(one, stops, f"{pointer}/elements/{at}") for at, one in enumerate(node.elements)]
        return self.choice(parts, pointer)

    def repeated(self, node: Any, stops: Stops, pointer: str, times: str) -> str:
        inner = self.format(node.content, stops, f"{pointer}/content")
        return self.rule(f"{inner}{times}", pointer)

    def repeat(self, node: nodes.Repeat, stops: Stops, pointer: str) -> str:
        if node.max == 0:
            return self.rule("", pointer)
        return self.repeated(node, stops, pointer, times(node.min, None if node.max < 0 else node.max))

    def any_text(self, node: nodes.AnyText, stops: Stops, pointer: str) -> str:
        if node.max_tokens is not None:
            raise UnsupportedError(f"at {pointer}/max_tokens: a text cannot be bounded in tokens yet; use max_chars")
        return self.plain(self.text((*node.excludes, *stops), pointer, node.max_chars), pointer)

    def any_tokens(self, node: nodes.AnyTokens, stops: Stops, pointer: str) -> str:
        excluded = self.ids_of(node.exclude_tokens, f"{pointer}/exclude_tokens")
        if node.max_tokens is not None:
            if any(isinstance(stop, str) and stop for stop in stops):
                raise UnsupportedError(
                    f"at {pointer}/max_tokens: tokens that are bounded in number cannot be kept from spelling the text "
                    "that ends the tag; end it with a token"
                )
            excluded += [self.id_of(one.token, pointer) for one in stops if isinstance(one, nodes.Token)]
            return self.plain(self.rule(_other(excluded) + times(0, node.max_tokens), pointer), pointer)
        return self.plain(self.between(excluded, stops, pointer), pointer)

    def grammar(self, node: nodes.GrammarText, stops: Stops, pointer: str) -> str:
        return self.plain(self.grammar_rule(node, pointer), pointer)

    def grammar_rule(self, node: nodes.GrammarText, pointer: str) -> str:
        if node.syntax == "lark":
            return self.nested("%lark {\n" + node.grammar + "\n}", pointer)
        start, rules = lark_of_ebnf(node.grammar, f"g{next(self.count)}", node.syntax, self, f"{pointer}/grammar")
        for name, body in rules:
            self.define(name, body, f"{pointer}/grammar")
        return start

    def nested(self, body: str, pointer: str) -> str:
        name = self.reserve()
        for index, line in enumerate(f"{name}: {body}".split("\n")):
            del index
            self.lines.append((line, f"{pointer}/grammar"))
        return name

    def json_schema(self, node: nodes.JsonSchema, stops: Stops, pointer: str) -> str:
        return self.plain(ArgumentGrammar(self, node, pointer).root(), pointer)

    def constant(self, node: nodes.ConstString, pointer: str) -> str:
        body = self.rule(self.literal(node.value), pointer)
        # Line ends and special tokens between parts are no text.
        is_text = node.value.strip() and not any(token in node.value for token in self.tag.special_tokens)
        return self.plain(body, pointer) if is_text else body

    def begin_of(self, tag: nodes.Tag, pointer: str) -> str:
        if isinstance(tag.begin, str):
            return self.literal(tag.begin)
        if isinstance(tag.begin, nodes.Token):
            return f"<[{self.id_of(tag.begin.token, f'{pointer}/begin/token')}]>"
        return self.terminal(pattern(tag.begin.pattern), f"{pointer}/begin/pattern")

    def one_tag(self, tag: nodes.Tag, stops: Stops, pointer: str) -> str:
        begin = self.begin_of(tag, pointer)
        if isinstance(tag.end, nodes.Token):
            inner: Stops = (tag.end,)
            end = f"<[{self.id_of(tag.end.token, f'{pointer}/end/token')}]>"
        else:
            # Where the end may be missing, what ends the parts around the tag ends its text too.
            inner = (*(one for one in tag.end if one), *(stops if "" in tag.end or not tag.end else ()))
            ends = [self.literal(one) for one in tag.end if one]
            end = ends[0] if len(ends) == 1 and "" not in tag.end else f"({' | '.join(ends)})" if ends else ""
            end += "?" if ends and "" in tag.end else ""
        content = self.content(tag, inner, f"{pointer}/content")
        body = " ".join(part for part in (begin, content, end) if part)
        if tag.event is not None and tag.event.kind == "call":
            return self.event("call", self.event(written_event("named", tag.event.name), body, pointer), pointer)
        if tag.event is not None and tag.event.kind == "argument":
            return self.event(written_event("member", "string", tag.event.name), body, pointer)
        return self.rule(body, pointer)

    def content(self, tag: nodes.Tag, stops: Stops, place: str) -> str:
        """What stands inside a tag, reported as its event says."""
        kind = tag.event.kind if tag.event is not None else ""
        if kind == "call":
            if marks_arguments(tag.content):
                return self.within("call", tag.content, stops, place)
            body = self.within("arguments", tag.content, stops, place)
            return self.event(written_event("arguments", *encoding_of(tag.content)), body, place)
        if kind == "arguments":
            body = self.within("arguments", tag.content, stops, place)
            return self.event(written_event("arguments", *encoding_of(tag.content)), body, place)
        if kind == "argument":
            return self.event("string", self.within("arguments", tag.content, stops, place), place)
        if kind == "id":
            return self.event("id", self.within("call", tag.content, stops, place), place)
        if kind:
            return self.event(kind, self.within("tag", tag.content, stops, place), place)
        if self.inside or holds_events(tag.content):
            return self.format(tag.content, stops, place)
        begin = tag.begin if isinstance(tag.begin, str) else ""
        return self.event(written_event("tag", begin), self.within("tag", tag.content, stops, place), place)

    # --- tags in text, tags after each other --------------------------------------------------------------------

    def separated(self, node: nodes.TagsWithSeparator, stops: Stops, pointer: str) -> str:
        return self.counted(node, stops, pointer, "", self.literal(node.separator), is_text=False)

    def triggered(self, node: nodes.TriggeredTags, stops: Stops, pointer: str) -> str:
        text = self.plain(self.text((*node.triggers, *node.excludes, *stops), pointer), pointer)
        return self.counted(node, stops, pointer, text, text, is_text=True)

    def token_triggered(self, node: nodes.TokenTriggeredTags, stops: Stops, pointer: str) -> str:
        excluded = self.ids_of(node.trigger_tokens, f"{pointer}/trigger_tokens")
        excluded += self.ids_of(node.exclude_tokens, f"{pointer}/exclude_tokens")
        text = self.plain(self.between(excluded, stops, pointer), pointer)
        return self.counted(node, stops, pointer, text, text, is_text=True)

    def counted(self, node: Any, stops: Stops, pointer: str, before: str, between: str, *, is_text: bool) -> str:
        """Tags with ``before`` in front of the first and ``between`` in front of the others."""
        tags = [self.format(tag, stops, f"{pointer}/tags/{index}") for index, tag in enumerate(node.tags)]
        least = max(node.min_calls, 1 if node.at_least_one else 0)
        most = 1 if node.stop_after_first else node.max_calls
        if node.at_least_one:
            before = ""
        after = between if is_text and not node.stop_after_first else ""
        empty = before if is_text else ""
        if most is not None and most < least:
            raise StructuralTagError(f"at least {least} tags and at most {most}: nothing is possible", pointer)
        if most == 0:
            return self.rule(empty, pointer)
        if node.unique:
            if most is None or most > len(tags):
                most = len(tags)
            if least > most:
                raise StructuralTagError(
                    f"at least {least} of {len(tags)} tags, each once: nothing is possible", pointer
                )
            if most > 1:
                return self.distinct(tags, least, most, pointer, (before, between, after, empty))
        one = self.choice(tags, pointer)
        rest = f"({between} {one})" if between else one
        if is_text and before == between == after:
            return self.rule(f"{rest}{times(least, most)} {after}", pointer)
        more = times(max(least, 1) - 1, None if most is None else most - 1)
        body = _joined(before, one, "" if most == 1 else rest + more, after)
        return self.rule(body if least else f"{body} | {empty}", pointer)

    def distinct(self, tags: list[str], least: int, most: int, pointer: str, parts: tuple[str, str, str, str]) -> str:
        """Each tag at most once: a rule for each set of tags that came."""
        before, between, after, empty = parts
        if len(tags) > MOST_UNIQUE:
            raise UnsupportedError(
                f"at {pointer}/unique: of more than {MOST_UNIQUE} tags each at most once has too many cases"
            )
        found: dict[frozenset[int], str] = {}

        def behind(used: frozenset[int]) -> str:
            if used not in found:
                name = found[used] = self.reserve()
                bodies = [after if used else empty] if len(used) >= least else []
                if len(used) < most:
                    lead = between if used else before
                    bodies += [
                        _joined(lead, tag, behind(used | {index}))
                        for index, tag in enumerate(tags)
                        if index not in used
                    ]
                self.define(name, " | ".join(bodies), pointer)
            return found[used]

        return behind(frozenset())

    def dispatch(self, node: nodes.Dispatch, stops: Stops, pointer: str) -> str:
        text = self.plain(self.text((*(one for one, _ in node.rules), *node.excludes, *stops), pointer), pointer)
        return self.dispatched(node, [self.literal(one) for one, _ in node.rules], text, stops, pointer)

    def token_dispatch(self, node: nodes.TokenDispatch, stops: Stops, pointer: str) -> str:
        numbers = [self.id_of(token, f"{pointer}/rules/{index}/0") for index, (token, _) in enumerate(node.rules)]
        excluded = numbers + self.ids_of(node.exclude_tokens, f"{pointer}/exclude_tokens")
        text = self.plain(self.between(excluded, stops, pointer), pointer)
        return self.dispatched(node, [f"<[{number}]>" for number in numbers], text, stops, pointer)

    def dispatched(self, node: Any, begins: list[str], text: str, stops: Stops, pointer: str) -> str:
        rules = [
            f"{begins[index]} {self.format(content, stops, f'{pointer}/rules/{index}/1')}"
            for index, (_, content) in enumerate(node.rules)
        ]
        one = self.choice([f"({rule})" for rule in rules], pointer)
        return self.rule(f"{text} ({one} {text})*" if node.loop else f"{text} {one}?", pointer)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _other(excluded: Sequence[int]) -> str:
    return f"<[^{','.join(map(str, sorted(set(excluded))))}]>" if excluded else "<[*]>"


def times(least: int, most: int | None) -> str:
    """How often the part before may come."""
    plain = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in plain:
        return plain[least, most]
    return f"{{{least},{'' if most is None else most}}}"


def _other_token(builder: GrammarBuilder, node: nodes.ExcludeToken, stops: Stops, pointer: str) -> str:
    return builder.rule(_other(builder.ids_of(node.exclude_tokens, f"{pointer}/exclude_tokens")), pointer)


def _token(builder: GrammarBuilder, node: nodes.Token, stops: Stops, pointer: str) -> str:
    return builder.rule(f"<[{builder.id_of(node.token, f'{pointer}/token')}]>", pointer)


_WRITERS: dict[type, Any] = {
    nodes.ConstString: lambda b, node, stops, pointer: b.constant(node, pointer),
    nodes.JsonSchema: GrammarBuilder.json_schema,
    nodes.GrammarText: GrammarBuilder.grammar,
    nodes.Regex: lambda b, node, stops, pointer: b.plain(
        b.terminal(pattern(node.pattern), f"{pointer}/pattern"), pointer
    ),
    nodes.AnyText: GrammarBuilder.any_text,
    nodes.Quoted: quoted,
    nodes.Token: _token,
    nodes.ExcludeToken: _other_token,
    nodes.AnyTokens: GrammarBuilder.any_tokens,
    nodes.Sequence: GrammarBuilder.sequence,
    nodes.Or: GrammarBuilder.alternatives,
    nodes.Optional: lambda b, node, stops, pointer: b.repeated(node, stops, pointer, "?"),
    nodes.Plus: lambda b, node, stops, pointer: b.repeated(node, stops, pointer, "+"),
    nodes.Star: lambda b, node, stops, pointer: b.repeated(node, stops, pointer, "*"),
    nodes.Repeat: GrammarBuilder.repeat,
    nodes.Tag: GrammarBuilder.one_tag,
    nodes.TriggeredTags: GrammarBuilder.triggered,
    nodes.TokenTriggeredTags: GrammarBuilder.token_triggered,
    nodes.TagsWithSeparator: GrammarBuilder.separated,
    nodes.Dispatch: GrammarBuilder.dispatch,
    nodes.TokenDispatch: GrammarBuilder.token_dispatch,
}


class AnyVocabularyBuilder(GrammarBuilder):
    """Writes the rules of a structural tag where no vocabulary is known: any special token may be named."""

    def __init__(self, tag: nodes.StructuralTag, closed: bool, json: JsonWriting | None = None) -> None:
        super().__init__(tag, Vocabulary([b"a", b""], eos_token_ids=[1]), closed, json)
        self._named: dict[str, int] = {}

    def id_of(self, token: int | str, pointer: str) -> int:
        number = token if isinstance(token, int) else _FIRST_NAMED + len(self._named)
        if isinstance(token, str):
            number = self._named.setdefault(token, number)
        self.special_ids.add(number)
        return number


#: Ids of named tokens where there is no vocabulary: beyond those of every vocabulary.
_FIRST_NAMED = 1 << 24
