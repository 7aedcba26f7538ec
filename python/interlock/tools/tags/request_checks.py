"""Checks of what a client sends, without a vocabulary: structural tags, a request's tools, a ``response_format``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from interlock import _core
from interlock._core import CancelToken, ReportRow
from interlock.grammar_syntax import syntax_for_client
from interlock.schema_hints import handling
from interlock.tools.errors import standing_at
from interlock.tools.notations.json_writing import json_writing
from interlock.tools.requests.answer_format import answer_of
from interlock.tools.requests.parameter_checks import tell_of_slips
from interlock.tools.requests.regex_flags import check_regex_flags
from interlock.tools.requests.response_format import response_format as source_of
from interlock.tools.requests.tool_list import tools_of
from interlock.tools.tags import tag_index
from interlock.tools.tags.structural_tag import tag_of_request
from interlock.tools.tags.token_checks import check_names_in_tools
from interlock.tools.tokens.allowed_tokens import allowed_names
from interlock.util.argument_types import require
from interlock.util.nesting import bounded_nesting

__all__ = ["check_response_format", "check_structural_tag", "check_tools"]


def check_structural_tag(
    tag: Any,
    closed: bool = False,
    limits: Any = None,
    cancel: CancelToken | None = None,
    whitespace: Literal["flexible", "compact"] = "flexible",
    spelling: Literal["any", "plain"] = "any",
) -> None:
    """Check a structural tag without a vocabulary: everything that ``Index.from_structural_tag`` checks, with the same
    errors, but for what only a vocabulary can lack. Any special token may be named. About as long as compiling takes.

    >>> import interlock
    >>> interlock.check_structural_tag({"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"})
    """
    require(closed=(closed, "flag"), cancel=(cancel, "cancel?"))
    json = json_writing(whitespace, spelling)
    tag_index.check_structural_tag(tag, closed=closed, json=json, limits=limits, cancel=cancel)


@bounded_nesting("the list of tools")
def check_tools(
    tools: Any,
    *,
    format: Any = "auto",
    tokenizer: Any = None,
    tool_choice: Any = "auto",
    parallel: bool | None = True,
    reasoning: Literal["none", "optional", "required"] = "none",
    reasoning_is_open: bool | None = None,
    max_reasoning_tokens: int | None = None,
    strict: bool | None = None,
    min_calls: int = 0,
    max_calls: int | None = None,
    unique: bool = False,
    closed: bool = False,
    allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
    limits: Any = None,
    cancel: CancelToken | None = None,
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
    response_format: Any = None,
    whitespace: Literal["flexible", "compact"] = "flexible",
    spelling: Literal["any", "plain"] = "any",
    regex_flags: str = "",
) -> None:
    """Check the tools of a request without a vocabulary: everything that ``Index.from_tools`` checks, with the same
    options and errors, but for what only a vocabulary can lack. About as long as compiling takes.

    Special tokens are known by their texts here. Where ``allowed_tokens`` has ids, compiling says whether it has one.

    >>> import interlock
    >>> interlock.check_tools([{"name": "now"}], format="hermes")
    >>> try:
    ...     interlock.check_tools([{"name": "now", "parameters": {"type": "objekt"}}], format="hermes")
    ... except interlock.RequestError as error:
    ...     print(error.client_message.partition(": ")[2])
    "objekt" is not a type: null, boolean, integer, number, string, array or object is expected; did you mean "object"?
    """
    require(closed=(closed, "flag"), cancel=(cancel, "cancel?"), allowed_tokens=(allowed_tokens, "special tokens?"))
    check_regex_flags(regex_flags)
    json = json_writing(whitespace, spelling)
    known, answer = tools_of(tools), answer_of(response_format, regex_flags)
    given = known if answer is None else [*known, answer.part]
    if (allowed := allowed_names(allowed_tokens)) is not None:
        check_names_in_tools(given, allowed)
    tag = tag_of_request(
        known,
        format=format,
        tokenizer=tokenizer,
        tool_choice=tool_choice,
        parallel=parallel,
        reasoning=reasoning,
        reasoning_is_open=reasoning_is_open,
        max_reasoning_tokens=max_reasoning_tokens,
        strict=strict,
        min_calls=min_calls,
        max_calls=max_calls,
        unique=unique,
        response_format=answer,
    )
    with tag_index.in_tools(tag, given):
        tag_index.check_tag(tag, closed=closed, json=json, limits=limits, cancel=cancel)
    with handling(unknown_keywords):
        tell_of_slips(known, strict, limits=limits, cancel=cancel)
        if answer is not None:
            tell_of_slips([answer.part], None, limits=limits, cancel=cancel)


@bounded_nesting("the response_format")
def check_response_format(
    value: Any,
    *,
    allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
    limits: Any = None,
    cancel: CancelToken | None = None,
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
    regex_flags: str = "",
    **options: Any,
) -> list[ReportRow]:
    """Check a ``response_format``, or a server's own fields, without a vocabulary: everything that
    ``Index.from_response_format`` checks, with the same options and errors, but for what only a vocabulary can lack.

    Returns what ``Index.report`` would be: rows for a JSON Schema, an empty list for anything else. About as long as
    compiling takes.

    Special tokens are known by their texts here. Where ``allowed_tokens`` has ids, compiling says whether it has one;
    so it does of role tokens that some models end their turns with, such as ``<|user|>``.

    >>> import interlock
    >>> interlock.check_response_format({"type": "regex", "pattern": "[0-9]+"})
    []
    >>> try:
    ...     interlock.check_response_format({"type": "json_schema", "json_schema": {"name": "a"}})
    ... except interlock.RequestError as error:
    ...     print(error.client_message.partition(": write")[0])
    at /json_schema: json_schema.schema is missing
    """
    require(cancel=(cancel, "cancel?"), allowed_tokens=(allowed_tokens, "special tokens?"))
    check_regex_flags(regex_flags)
    asked = source_of(value)
    if asked.kind == "grammar":
        with standing_at(asked.place):
            asked = replace(asked, syntax=syntax_for_client(asked.value, asked.syntax, limits, cancel))
    kind, source, given = tag_index.plain_source(asked, options, regex_flags)
    given |= {"limits": limits, "cancel": cancel}
    allowed = allowed_names(allowed_tokens)
    with handling(unknown_keywords), standing_at(asked.place, asked.whitespace_place):
        if kind == "structural_tag":
            tag_index.check_structural_tag(source, allowed=allowed, json=tag_index.json_of_tag(given), **given)
            return []
        if kind == "grammar" and allowed is not None:
            allowed.check_grammar(source, given["syntax"], "")
        rows: list[ReportRow] | None = getattr(_core, f"check_{kind}")(source, **given)
    return rows or []
