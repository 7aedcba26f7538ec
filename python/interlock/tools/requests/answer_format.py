"""The ``response_format`` of a request that has tools too: what the text of the turn must be, where no tool is called.

OpenAI's interface allows both at once. The model calls tools, or it answers in the format; which of the two is its own
choice unless ``tool_choice`` makes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from interlock._core import LimitError
from interlock.grammar_syntax import syntax_of
from interlock.tools.errors import RequestError
from interlock.tools.requests.request_body import is_of_body
from interlock.tools.requests.response_format import Source, source_at
from interlock.tools.requests.tool_list import Tool
from interlock.tools.spec import nodes
from interlock.tools.spec.fields import is_unicode
from interlock.util.nesting import bounded_nesting

__all__ = ["PLACE", "Answer", "answer_of"]

PLACE = "/response_format"
"""How places in a format begin, beside those in the list of tools."""


@dataclass(frozen=True)
class Answer:
    """The text of a turn that follows a ``response_format``."""

    content: nodes.Format
    part: Tool
    """The schema, the pattern or the grammar with its place, so that errors in it are found as those in tools are."""

    def tag(self, begin: Any = "", end: Any = ("",)) -> nodes.Tag:
        """The text between two delimiters, which readers of the output see as text."""
        return nodes.Tag(begin, self.content, end, nodes.Event("text"))


@bounded_nesting("the response_format")
def answer_of(value: Any, regex_flags: str = "") -> Answer | None:
    """What ``response_format`` asks of a text; ``None`` where it allows any text. ``regex_flags`` are those of its
    pattern.

    ``RequestError`` and ``SchemaError`` as for ``response_format``, with places that begin with ``/response_format``;
    ``RequestError`` for what has no meaning beside tools.

    >>> answer_of({"type": "regex", "pattern": "[0-9]+"}).content
    Regex(pattern='[0-9]+')
    """
    source = source_at(value, "" if is_of_body(value) else PLACE)
    if source.kind == "text":
        return None
    if source.kind == "structural_tag":
        raise RequestError(
            "a structural tag says of the whole output what it may be, calls of tools included: send it without tools, "
            "or write the format of the answer in another way",
            source.place,
        )
    if source.kind in ("json_schema", "json_object"):
        return _json(source)
    place = source.place
    if not is_unicode("".join(source.value)):
        raise RequestError("the text holds a lone surrogate, which is not text", place)
    if source.kind == "regex":
        return Answer(nodes.Regex(source.value, regex_flags), Tool("", input=("regex", source.value), place=place))
    if source.kind == "choice":
        # A pattern and no constants: in those a special token of the tool format would become this token.
        one_of = "(?:" + "|".join(re.escape(text) for text in source.value) + ")"
        return Answer(nodes.Regex(one_of), Tool("", input=("regex", one_of), place=place))
    syntax: Any = source.syntax or syntax_of(source.value)
    return Answer(nodes.GrammarText(source.value, syntax), Tool("", input=(syntax, source.value), place=place))


def _json(source: Source) -> Answer:
    place = source.place
    if source.whitespace not in ("", "compact"):
        said = "a pattern of white space has no meaning beside tools and reasoning: leave it out"
        raise RequestError(said, source.whitespace_place or place)
    schema = {"type": "object"} if source.kind == "json_object" else source.value
    if isinstance(schema, str):  # Deeper than Python reads.
        error = LimitError(
            f"at {place}: beside tools, a schema is nested less deeply; its deep parts can stand in $defs"
        )
        error.pointer = place
        raise error
    content = nodes.JsonSchema(schema, max_whitespace_cnt=0 if source.whitespace else None)
    return Answer(content, Tool("", schema, True, place=place))
