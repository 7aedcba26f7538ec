"""What the parts of a structural tag must have in common: triggers and begins, ends and unlimited texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

from interlock.tools.errors import StructuralTagError
from interlock.tools.spec import nodes

__all__ = ["check"]


def check(tag: nodes.StructuralTag, pointer: str = "/format") -> nodes.StructuralTag:
    """``tag`` itself, or ``StructuralTagError`` for parts that do not fit each other.

    >>> from interlock.tools.spec import nodes
    >>> bare = nodes.Tag("<a>", nodes.AnyText(), ("",))
    >>> try:
    ...     check(nodes.StructuralTag(bare))
    ... except StructuralTagError as error:
    ...     print(error.pointer)
    /format/end
    """
    _visit(tag.format, pointer)
    return tag


def _visit(node: Any, pointer: str) -> None:
    kind = type(node)
    if kind in _CHECKS:
        _CHECKS[kind](node, pointer)
    name = _HOLDING.get(kind)
    if name is None:
        return
    value = getattr(node, name)
    if name == "content":
        _visit(value, f"{pointer}/content")
    elif name == "rules":
        for index, (_, child) in enumerate(value):
            _visit(child, f"{pointer}/rules/{index}/1")
    else:
        for index, child in enumerate(value):
            _visit(child, f"{pointer}/{name}/{index}")


#: The field with the formats inside of one, for each type of format that has some.
_HOLDING: dict[type, str] = {
    kind: field.name
    for kind in get_args(nodes.Format)
    for field in dataclasses.fields(kind)
    if field.name in ("content", "elements", "tags", "rules")
}


def _check_tag(tag: nodes.Tag, pointer: str) -> None:
    content = tag.content
    if (
        isinstance(content, nodes.AnyText)
        and isinstance(tag.end, tuple)
        and not any(tag.end)
        and not content.excludes
        and content.max_chars is None
        and content.max_tokens is None
    ):
        raise StructuralTagError(
            "nothing ends the text: give the tag an end, or the text excludes or a bound", f"{pointer}/end"
        )


def _check_triggers(node: nodes.TriggeredTags, pointer: str) -> None:
    triggers, lengths = set(node.triggers), sorted({len(trigger) for trigger in node.triggers})
    reaching: dict[str, bool] = {}
    for index, tag in enumerate(node.tags):
        place = f"{pointer}/tags/{index}/begin"
        begin = tag.begin
        if not isinstance(begin, str):
            if not isinstance(begin, nodes.Regex | nodes.Sequence | nodes.Or):
                raise StructuralTagError("triggered_tags have texts as begins; token_triggered_tags have tokens", place)
            if len(node.triggers) > 1:
                raise StructuralTagError("with a pattern as begin there can be only one trigger", place)
            continue
        fitting = [begin[:length] for length in lengths if length <= len(begin) and begin[:length] in triggers]
        if not fitting and begin:
            if begin not in reaching:
                reaching[begin] = any(trigger.startswith(begin) for trigger in node.triggers)
            if reaching[begin]:
                continue  # an addition: triggers that reach into the content
        if len(fitting) != 1:
            found = "no trigger is" if not fitting else f"the triggers {', '.join(map(repr, fitting))} are each"
            raise StructuralTagError(f"{found} a prefix of the begin {begin!r}: exactly one must be", place)


def _check_token_triggers(node: nodes.TokenTriggeredTags, pointer: str) -> None:
    for index, tag in enumerate(node.tags):
        place = f"{pointer}/tags/{index}/begin"
        if not isinstance(tag.begin, nodes.Token):
            raise StructuralTagError("token_triggered_tags have tokens as begins; triggered_tags have texts", place)
        if tag.begin.token not in node.trigger_tokens:
            raise StructuralTagError(f"{tag.begin.token!r} is not one of trigger_tokens", place)


def _check_excludes(node: nodes.JsonSchema, pointer: str) -> None:
    if not node.excludes or node.style.encoding == "json":
        return
    if node.style.nested:
        raise StructuralTagError("a style with nested tags takes no excludes", f"{pointer}/excludes")
    for index, text in enumerate(node.excludes):
        if text != text.strip():
            raise StructuralTagError(
                f"{text!r} begins or ends with white space, which this style does not keep",
                f"{pointer}/excludes/{index}",
            )


def _check_patterns(node: nodes.Dispatch, pointer: str) -> None:
    for index, (pattern, _) in enumerate(node.rules):
        for other, (text, _) in enumerate(node.rules):
            if other != index and text in pattern and len(text) < len(pattern):
                raise StructuralTagError(
                    f"the pattern {pattern!r} contains the pattern {text!r}, which would come first",
                    f"{pointer}/rules/{index}/0",
                )


_CHECKS: dict[type, Callable[[Any, str], None]] = {
    nodes.Tag: _check_tag,
    nodes.TriggeredTags: _check_triggers,
    nodes.TokenTriggeredTags: _check_token_triggers,
    nodes.JsonSchema: _check_excludes,
    nodes.Dispatch: _check_patterns,
}
