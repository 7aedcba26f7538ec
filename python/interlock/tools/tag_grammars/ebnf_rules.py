"""Grammars in EBNF and GBNF as rules in Lark's notation, so that they can stand inside another grammar."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock._core import GrammarError, LimitError, UnsupportedError, _flat_rules
from interlock.tools.errors import StructuralTagError, message_at
from interlock.tools.tag_grammars.grammar_text import literal
from interlock.util.client_messages import with_hint

if TYPE_CHECKING:
    from interlock.tools.tag_grammars.tag_grammar import GrammarBuilder

__all__ = ["lark_of_ebnf"]


def lark_of_ebnf(
    source: str, prefix: str, syntax: str, builder: GrammarBuilder, pointer: str
) -> tuple[str, list[tuple[str, str]]]:
    """The name of the start rule, and all rules with their bodies. The reader of whole grammars reads them, so that a
    grammar means the same inside of a tag. ``StructuralTagError`` for what is no grammar, ``UnsupportedError`` for what
    only a whole grammar may have.
    """
    try:
        rules = _flat_rules(source, syntax)
    except GrammarError as error:
        refused = StructuralTagError(message_at(error, pointer), pointer)
        raise (refused if error.hint is None else with_hint(refused, error.hint)) from error
    except (UnsupportedError, LimitError) as error:
        raise type(error)(f"at {pointer}: {message_at(error, pointer)}") from error
    names = {name: f"{prefix}x{number}" for number, (name, _) in enumerate(rules)}
    if "root" not in names:
        raise StructuralTagError('the grammar has no rule "root"', pointer)
    reader = _Reader(source, names, builder, pointer)
    return names["root"], [(names[name], reader.body(symbols)) for name, symbols in rules]


@dataclass(frozen=True)
class _Reader:
    """What the symbols of a body mean: the grammar, names of its rules, and where it stands in the tag."""

    source: str
    names: dict[str, str]
    builder: GrammarBuilder
    pointer: str

    def body(self, symbols: list[tuple[str, Any]]) -> str:
        return " ".join(self.written(kind, value) for kind, value in symbols)

    def written(self, kind: str, value: Any) -> str:
        match kind:
            case "mark":
                return str(value)
            case "text":
                return literal(value)
            case "class":
                ranges = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in value)
                return f"/[{ranges}]/" if value else "/[^\\s\\S]/"
            case "pattern":
                return f"%regex {json.dumps({'ecma': value[0], 'flags': value[1]})}"
            case "substring":
                return f"%regex {json.dumps({'substring_chunks': value})}"
            case "tokens":
                return f"<[{','.join(map(str, self.ids(*value)))}]>"
            case "other_tokens":
                with self.builder.naming_any():
                    excluded = self.ids(*value)
                return self.builder.any_but(excluded)
        if value not in self.names:
            raise StructuralTagError(f"the rule {value!r} is used, but not defined", self.pointer)
        return self.names[value]

    def ids(self, tokens: list[int | str], at: int) -> list[int]:
        """The ids of special tokens that byte ``at`` of the grammar names."""
        try:
            return [self.builder.id_of(token, self.pointer) for token in tokens]
        except StructuralTagError as error:
            before = self.source.encode()[:at].decode(errors="ignore").split("\n")
            reason = f"line {len(before)}, column {len(before[-1]) + 1}: {error.reason}"
            raise StructuralTagError(reason, self.pointer, code=error.code, subject=error.subject) from error
