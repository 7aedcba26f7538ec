"""Grammars in EBNF and GBNF as rules in Lark's notation, so that they can stand inside another grammar."""

from __future__ import annotations

import json
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
    bodies = [(names[name], _body(symbols, names, builder, pointer)) for name, symbols in rules]
    return names["root"], bodies


def _body(symbols: list[tuple[str, Any]], names: dict[str, str], builder: GrammarBuilder, pointer: str) -> str:
    return " ".join(_written(kind, value, names, builder, pointer) for kind, value in symbols)


def _written(kind: str, value: Any, names: dict[str, str], builder: GrammarBuilder, pointer: str) -> str:
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
            return f"<[{','.join(str(builder.id_of(token, pointer)) for token in value)}]>"
        case "other_tokens":
            with builder.naming_any():
                excluded = [builder.id_of(token, pointer) for token in value]
            return builder.any_but(excluded)
    if value not in names:
        raise StructuralTagError(f"the rule {value!r} is used, but not defined", pointer)
    return names[value]
