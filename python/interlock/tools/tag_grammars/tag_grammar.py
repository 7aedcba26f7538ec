"""A structural tag as one grammar: rules over texts, patterns, JSON documents and special tokens.

The grammar is in Lark's notation and means what it means under ``lexer="any"``: any way of cutting a text counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from interlock._core import UnsupportedError, Vocabulary
from interlock.tools.errors import StructuralTagError
from interlock.tools.notations.json_writing import JsonWriting
from interlock.tools.requests.schema_keys import check_keys
from interlock.tools.spec import nodes
from interlock.tools.spec import read as read_tag
from interlock.tools.tag_grammars.argument_grammar import ArgumentGrammar
from interlock.tools.tag_grammars.delimiter_patterns import pattern_of
from interlock.tools.tag_grammars.ebnf_rules import lark_of_ebnf
from interlock.tools.tag_grammars.event_names import encoding_of, holds_events, marks_arguments, written_event
from interlock.tools.tag_grammars.grammar_text import pattern
from interlock.tools.tag_grammars.quoted_grammar import quoted
from interlock.tools.tag_grammars.rule_writer import Stops, special_names
from interlock.tools.tag_grammars.tag_sequences import MOST_UNIQUE, TagSequences, times
from interlock.tools.tokens.allowed_tokens import AllowedNames

__all__ = [
    "AnyVocabularyBuilder",
    "GrammarBuilder",
    "MOST_UNIQUE",
    "TagGrammar",
    "grammar_of",
    "special_names",
    "tag_grammar",
]


_NESTED = "%lark {"
"""How a grammar begins that stands inside of the tag's."""


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

    def place_inside(self, offset: int) -> str:
        """Line and column of the byte ``offset`` in the grammar that a client wrote there; ``""`` where none did.

        >>> nested = TagGrammar('r1: %lark {\\nstart: a\\n}', ("/format/grammar",) * 3)
        >>> nested.place_inside(19), nested.place_inside(5)
        ('line 1, column 8: ', '')
        """
        before = self.text.encode()[:offset].decode(errors="ignore").split("\n")
        lines = self.text.split("\n")
        pointer = self.pointer_at(offset)
        for above in range(1, len(before)):
            line = len(before) - 1 - above
            if self.pointers[line] != pointer:
                break
            if re.fullmatch(rf"\w+: {re.escape(_NESTED)}", lines[line]):
                return f"line {above}, column {len(before[-1]) + 1}: "
        return ""


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
    tag: Any,
    vocabulary: Vocabulary,
    *,
    closed: bool = False,
    json: JsonWriting | None = None,
    spellable: str = "",
    allowed: Iterable[int | str] | None = None,
    limits: Any = None,
) -> TagGrammar:
    """As ``grammar_of``, with the places that lines come from. ``spellable`` is a terminal that holds every other one
    down to characters that the vocabulary can spell (see ``interlock.tools.tokens.spellable``). ``allowed`` are the
    special tokens that may be named. ``limits`` bound the length of the grammar.
    """
    found = tag if isinstance(tag, nodes.StructuralTag) else read_tag(tag)
    return GrammarBuilder(found, vocabulary, closed, json, spellable, allowed, limits).build()


class GrammarBuilder(TagSequences):
    """Writes the rules of one structural tag."""

    def build(self) -> TagGrammar:
        """The whole grammar. ``StructuralTagError`` and ``UnsupportedError`` as for ``grammar_of``."""
        # Without any tag the output as a whole is text, which needs no reader.
        whole = not holds_events(self.tag.format)
        start = self.within("tag" if whole else "", self.tag.format, (), "/format")
        lines = [(f"start: {start}", "/format"), *self.lines]
        text = "\n".join([line for line, _ in lines])
        return TagGrammar(f"{text}\n", tuple([pointer for _, pointer in lines]))

    def format(self, node: Any, stops: Stops, pointer: str) -> str:
        """The rule of a format whose texts hold nothing of ``stops``."""
        key = (id(node), stops, self.inside)
        if key not in self.known:
            self.kept.append(node)
            self.known[key] = _WRITERS[type(node)](self, node, stops, pointer)
            self.check_length()
        return self.known[key]

    def sequence(self, node: nodes.Sequence, stops: Stops, pointer: str) -> str:
        """The rule of formats one after the other. Only the last one meets ``stops``."""
        last = len(node.elements) - 1
        parts = [
            self.format(element, stops if index == last else (), f"{pointer}/elements/{index}")
            for index, element in enumerate(node.elements)
        ]
        return self.rule(" ".join(parts), pointer)

    def alternatives(self, node: nodes.Or, stops: Stops, pointer: str) -> str:
        """The rule of one of several formats."""
        parts = [self.format(one, stops, f"{pointer}/elements/{at}") for at, one in enumerate(node.elements)]
        return self.choice(parts, pointer)

    def repeated(self, node: Any, stops: Stops, pointer: str, times: str) -> str:
        """The rule of a format that comes ``times``, as the notation writes it: ``?``, ``*``, ``{2,3}``."""
        inner = self.format(node.content, stops, f"{pointer}/content")
        return self.rule(f"{inner}{times}", pointer)

    def repeat(self, node: nodes.Repeat, stops: Stops, pointer: str) -> str:
        """The rule of a format that comes between ``min`` and ``max`` times."""
        if node.max == 0:
            return self.rule("", pointer)
        return self.repeated(node, stops, pointer, times(node.min, None if node.max < 0 else node.max))

    def any_text(self, node: nodes.AnyText, stops: Stops, pointer: str) -> str:
        """The rule of free text without the texts that it excludes, within its bounds of characters and tokens."""
        text = self.text((*node.excludes, *stops), pointer, node.max_chars)
        return self.plain(text if node.max_tokens is None else self.bounded(text, node.max_tokens, pointer), pointer)

    def any_tokens(self, node: nodes.AnyTokens, stops: Stops, pointer: str) -> str:
        """The rule of any tokens but the excluded ones. ``UnsupportedError`` where a bound of tokens stands beside
        texts that may not be spelled.
        """
        excluded = self.excluded_ids(node.exclude_tokens, f"{pointer}/exclude_tokens")
        if node.max_tokens is not None:
            if any(isinstance(stop, str) and stop or isinstance(stop, nodes.Regex) for stop in stops):
                text = self.between(excluded, stops, pointer, node.excludes)
                if text in self.terminals.values():  # No special token may come: all is text.
                    return self.plain(self.bounded(text, node.max_tokens, pointer), pointer)
                raise UnsupportedError(
                    f"at {pointer}/max_tokens: tokens that are bounded in number cannot be kept from spelling the text "
                    "that ends the tag; end it with a token"
                )
            if node.excludes:
                raise UnsupportedError(f"at {pointer}/max_tokens: tokens that are bounded in number take no excludes")
            excluded += [self.id_of(one.token, pointer) for one in stops if isinstance(one, nodes.Token)]
            return self.plain(self.rule(self.any_but(excluded) + times(0, node.max_tokens), pointer), pointer)
        return self.plain(self.between(excluded, stops, pointer, node.excludes), pointer)

    def grammar(self, node: nodes.GrammarText, stops: Stops, pointer: str) -> str:
        """The rule of a grammar inside of the tag, whose text is text of the output."""
        return self.plain(self.grammar_rule(node, pointer), pointer)

    def grammar_rule(self, node: nodes.GrammarText, pointer: str) -> str:
        """The start rule of a grammar inside of the tag. One in Lark's notation is nested, others are rewritten. The
        errors of the grammar, with its place in the tag.
        """
        if node.syntax == "lark":
            if self.allowed is not None:
                self.allowed.check_grammar(node.grammar, "lark", f"{pointer}/grammar")
            return self.nested(f"{_NESTED}\n" + node.grammar + "\n}", pointer)
        start, rules = lark_of_ebnf(node.grammar, f"g{next(self.count)}", node.syntax, self, f"{pointer}/grammar")
        for name, body in rules:
            self.define(name, body, f"{pointer}/grammar")
        return start

    def nested(self, body: str, pointer: str) -> str:
        """A rule of several lines, each of which comes from the same place."""
        name = self.reserve()
        for index, line in enumerate(f"{name}: {body}".split("\n")):
            del index
            self.lines.append((line, f"{pointer}/grammar"))
        return name

    def json_schema(self, node: nodes.JsonSchema, stops: Stops, pointer: str) -> str:
        """The rule of a value of a JSON Schema, in the style of the node."""
        check_keys(node.json_schema, f"{pointer}/json_schema", StructuralTagError)
        return self.plain(ArgumentGrammar(self, node, pointer).root(), pointer)

    def constant(self, node: nodes.ConstString, pointer: str) -> str:
        """The rule of a fixed text. One of blanks or with special tokens is no text for the output's reader."""
        body = self.rule(self.literal(node.value), pointer)
        # Line ends and special tokens between parts are no text.
        is_text = node.value.strip() and not any(token in node.value for token in self.tag.special_tokens)
        return self.plain(body, pointer) if is_text else body

    def begin_of(self, tag: nodes.Tag, pointer: str) -> str:
        """What a tag begins with, as the body of a rule: a text, a token or a format."""
        if isinstance(tag.begin, str):
            return self.literal(tag.begin)
        if isinstance(tag.begin, nodes.Token):
            return f"<[{self.id_of(tag.begin.token, f'{pointer}/begin/token')}]>"
        return self.within("tag", tag.begin, (), f"{pointer}/begin")

    def one_tag(self, tag: nodes.Tag, stops: Stops, pointer: str) -> str:
        """The rule of a tag: what it begins with, its content, and its end, which may not stand inside."""
        begin = self.begin_of(tag, pointer)
        inner: Stops
        if isinstance(tag.end, tuple) and len(tag.end) == 1 and tag.end[0]:
            inner, end = tag.end, self.literal(tag.end[0])
        elif isinstance(tag.end, nodes.Token):
            inner = (tag.end,)
            end = f"<[{self.id_of(tag.end.token, f'{pointer}/end/token')}]>"
        elif not isinstance(tag.end, tuple):
            inner = (nodes.Regex(pattern_of(tag.end, f"{pointer}/end")),)
            end = self.within("tag", tag.end, (), f"{pointer}/end")
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
            prefix = (tag.event.name,) if tag.event is not None and tag.event.name else ()
            return self.event(written_event("id", *prefix), self.within("call", tag.content, stops, place), place)
        if kind:
            return self.event(kind, self.within("tag", tag.content, stops, place), place)
        if self.inside or holds_events(tag.content):
            return self.format(tag.content, stops, place)
        begin = tag.begin if isinstance(tag.begin, str) else ""
        return self.event(written_event("tag", begin), self.within("tag", tag.content, stops, place), place)


def _other_token(builder: GrammarBuilder, node: nodes.ExcludeToken, stops: Stops, pointer: str) -> str:
    return builder.rule(
        builder.any_but(builder.excluded_ids(node.exclude_tokens, f"{pointer}/exclude_tokens")), pointer
    )


def _token(builder: GrammarBuilder, node: nodes.Token, stops: Stops, pointer: str) -> str:
    return builder.rule(f"<[{builder.id_of(node.token, f'{pointer}/token')}]>", pointer)


_WRITERS: dict[type, Any] = {
    nodes.ConstString: lambda b, node, stops, pointer: b.constant(node, pointer),
    nodes.JsonSchema: GrammarBuilder.json_schema,
    nodes.GrammarText: GrammarBuilder.grammar,
    nodes.Regex: lambda b, node, stops, pointer: b.plain(
        b.terminal(pattern(node.pattern, node.flags), f"{pointer}/pattern"), pointer
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
    """Writes the rules of a structural tag where no vocabulary is known: any special token may be named that
    ``allowed`` does not refuse.
    """

    def __init__(
        self,
        tag: nodes.StructuralTag,
        closed: bool,
        json: JsonWriting | None = None,
        allowed: AllowedNames | None = None,
    ) -> None:
        super().__init__(tag, Vocabulary([b"a", b""], eos_token_ids=[1]), closed, json)
        self.allowed = allowed
        self.special_ids = self._special_ids = set(self.special_ids)
        self._named: dict[str, int] = {}

    def id_of(self, token: int | str, pointer: str) -> int:
        """The id of a token; a number of its own for one that is named by its text. An error for one that may not be
        named.
        """
        number = token if isinstance(token, int) else _FIRST_NAMED + len(self._named)
        if isinstance(token, str):
            number = self._named.setdefault(token, number)
        self._special_ids.add(number)
        if self.allowed is not None:
            self.allowed.check(number, token, pointer)
        return number

    def build_for_readers(self) -> str:
        """The text of the grammar with named tokens by their texts, where Lark's notation has a form for the text."""
        text = self.build().text
        for token, number in self._named.items():
            if re.fullmatch(r"<[^<>\s\[\]]+>", token):
                text = text.replace(f"<[{number}]>", token)
        return text


#: Ids of named tokens where there is no vocabulary: beyond those of every vocabulary.
_FIRST_NAMED = 1 << 24
