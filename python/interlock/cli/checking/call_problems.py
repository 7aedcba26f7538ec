"""Why a call of a tool is refused, in the words of the tools: a name that none of them has, and arguments that the
schema of the tool refuses. Elsewhere the grammar of the format says which character does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from interlock.cli.checking.document_problems import read_document
from interlock.explain import Explanation, Problem
from interlock.explain.wording import listed
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


def _of_arguments(text: str, begin: int, place: int, tool: Any, form: Any) -> list[Problem]:
    """What the schema of a tool says of its arguments."""
    found = read_document(form.arguments, text, begin, place, tool.parameters, property_order="any")
    if found is None:
        return []
    # A format may begin what stands behind the arguments as it begins a parameter: the place is in the middle of that.
    behind = text[found.end : place].strip()
    if not any(notation.end.strip().startswith(behind) for notation in form.notations):
        return []
    return [replace(one, message=f"tool {tool.name}: {one.message}") for one in found.problems]
