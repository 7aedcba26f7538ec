"""Why a call of a tool is refused, in the words of the tools: a name that none of them has, and arguments that the
schema of the tool refuses. Elsewhere the grammar of the format says which character does not fit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import interlock
from interlock.explain import Explanation, Problem, byte_vocabulary, explain
from interlock.explain.wording import listed
from interlock.schema_hints import quiet
from interlock.util.near_words import nearest


def in_words_of_tools(found: Explanation, tools: Any, options: dict[str, Any]) -> Explanation:
    """An explanation of a text that is refused, with what the tools say about the call that the place is in."""
    from interlock.tools.requests.tool_list import tools_of

    problems = _problems(found, tools_of(tools), options["format"])
    return replace(found, problems=problems) if problems else found


def _problems(found: Explanation, tools: Sequence[Any], form: Any) -> list[Problem]:
    place, names = found.character, {tool.name: tool for tool in tools}
    for begin in _begins(form, found.text, place):
        name = begin["name"]
        if begin.start("name") <= place <= begin.end("name"):
            # A word is the name of a tool where something stands in front of it or behind it that says so.
            is_call = begin["before"] or begin["rest"] is not None
            return [_no_tool(begin, list(names))] if is_call and name not in names else []
        if name in names and begin["rest"] is not None and begin.end() <= place:
            return _of_arguments(found.text, begin.end(), place, names[name], form)
    return []


def _begins(form: Any, text: str, place: int) -> Iterator[re.Match[str]]:
    """The beginnings of calls before a place, the last of them first."""
    matches: list[re.Match[str]] = []
    for notation in form.notations:
        before, _, after = notation.begin.partition("${name}")
        pattern = rf"(?P<before>{_pattern(before)})(?P<name>[\w.:/-]+)(?P<rest>{_pattern(after)})?"
        matches += (match for match in re.finditer(pattern, text) if match.start("name") <= place)
    return iter(sorted(matches, key=lambda match: (match.start("name"), match.end()), reverse=True))


def _pattern(written: str) -> str:
    return r"[^\s\"]{0,80}?".join(map(re.escape, written.split("${id}")))


def _no_tool(begin: re.Match[str], names: list[str]) -> Problem:
    meant = nearest(begin["name"], names)
    hint = f"did you mean {meant}?" if meant else ""
    known = f"there {'is' if len(names) == 1 else 'are'} {listed(names)}"
    start, end = begin.span("name")
    return Problem("", "name", "", f"no tool is named {begin['name']}; {known}", start, end, end, hint)


@quiet()
def _of_arguments(text: str, begin: int, place: int, tool: Any, form: Any) -> list[Problem]:
    """What the schema of a tool says of its arguments; their places are known where they are written as JSON."""
    from interlock.tools.notations.argument_parsing import read_arguments_at

    written = form.arguments
    try:
        if written.encoding == "json":
            end = json.JSONDecoder().raw_decode(text, begin)[1]
            arguments = text[begin:end]
        else:
            value, end = read_arguments_at(written, text, begin, tool.parameters)
            arguments = json.dumps(value)
        index = interlock.Index.from_json_schema(tool.parameters, byte_vocabulary(), property_order="any")
    except (interlock.InterlockError, ValueError, RecursionError):
        return []
    # A format may begin what stands behind the arguments as it begins a parameter: the place is in the middle of that.
    if not any(notation.end.strip().startswith(text[end:place].strip()) for notation in form.notations):
        return []
    of_tool = explain(index, arguments).problems
    if written.encoding != "json":
        return [replace(one, start=place, end=place + 1, until=place + 1) for one in of_tool]
    return [replace(one, start=begin + one.start, end=begin + one.end, until=begin + one.until) for one in of_tool]
