"""Strings whose text another format accepts, in the quotes of a style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, assert_never

from interlock._core import UnsupportedError
from interlock.tools.requests.definition_errors import check_parentheses
from interlock.tools.spec import nodes
from interlock.tools.tag_grammars.argument_grammar import ArgumentGrammar

if TYPE_CHECKING:
    from interlock.tools.tag_grammars.tag_grammar import GrammarBuilder

__all__ = ["quoted"]


def quoted(builder: GrammarBuilder, node: nodes.Quoted, stops: Any, pointer: str) -> str:
    """The rule of a string in quotes. ``UnsupportedError`` where what its text must be cannot be said in escapes."""
    style = node.style
    if style.encoding == "tagged":
        return builder.format(node.content, stops, f"{pointer}/content")
    if style.encoding == "gemma":
        content = builder.format(node.content, (*stops, style.quote), f"{pointer}/content")
        if not isinstance(node.content, nodes.AnyText | nodes.ConstString):
            # What has no end of its own must not hold the quote. Patterns are kept from it as terminals.
            if not isinstance(node.content, nodes.Regex):
                raise UnsupportedError(
                    f"at {pointer}/content: a grammar cannot be kept from writing the quote {style.quote!r} around it"
                )
            from interlock.tools.tag_grammars.grammar_text import pattern, without

            content = builder.terminal(f"{pattern(node.content.pattern)} & {without([style.quote])}", pointer)
        quote = builder.literal(style.quote)
        return builder.rule(f"{quote} {content} {quote}", pointer)
    if isinstance(node.content, nodes.Regex):
        # Parentheses stand around it, which must not be those that it lacks.
        check_parentheses(node.content.pattern, "ecma" if style.encoding == "json" else "python", f"{pointer}/content")
    schema = _schema(node.content, pointer)
    if style.encoding == "python":
        inner = ArgumentGrammar(builder, nodes.JsonSchema(schema, style), f"{pointer}/content")
        return str(inner.value(schema, f"{pointer}/content"))
    if style.encoding == "json":
        return ArgumentGrammar(builder, nodes.JsonSchema(schema, style), f"{pointer}/content").root()
    assert_never(style.encoding)


def _schema(content: Any, pointer: str) -> dict[str, Any]:
    """The schema of the strings whose text ``content`` accepts."""
    if isinstance(content, nodes.ConstString):
        return {"const": content.value}
    if isinstance(content, nodes.Regex):
        return {"type": "string", "pattern": f"^(?:{content.pattern})$"}
    if isinstance(content, nodes.AnyText) and not content.excludes and content.max_tokens is None:
        return {"type": "string"} if content.max_chars is None else {"type": "string", "maxLength": content.max_chars}
    if isinstance(content, nodes.Or):
        return {"anyOf": [_schema(part, pointer) for part in content.elements]}
    kind = "a grammar" if isinstance(content, nodes.GrammarText) else f"a {_word(content)}"
    raise UnsupportedError(
        f"at {pointer}/content: {kind} cannot stand inside of quotes with escapes yet; texts and patterns can"
    )


def _word(content: Any) -> str:
    """The name that structural tags have for a format."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", type(content).__name__).lower()
