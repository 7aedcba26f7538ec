"""The contents of a chat's messages in the form that a chat template reads: a text, or a list of parts.

Nothing in a template says which form it wants. One that wants a text writes a list as Python prints it, and one that
wants parts writes nothing of a text. So a template is asked: it renders the chat with marks in the place of the texts,
and the form is right whose marks stand in the rendered text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import ROLES
from interlock.util.caller_warnings import warn_caller
from interlock.util.quoting import quoted

__all__ = ["messages_for", "templated"]

Messages = list[dict[str, Any]]
Render = Callable[[Messages], str]
"""A chat as its template writes it. Templates raise what they like."""

_MEDIA = ("image", "audio", "video", "file")
# What templates read is known for so many kinds of chats.
_KEPT = 256
_known: dict[tuple[str, ...], tuple[list[str], bool]] = {}


def templated(tokenizer: Any, messages: Messages, tools: Any = None) -> Messages:
    """``messages_for`` the chat template of a tokenizer that has ``apply_chat_template``."""
    more = {} if tools is None else {"tools": tools}

    def render(chat: Messages) -> str:
        return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **more))

    return messages_for(repr(getattr(tokenizer, "chat_template", None)), messages, render)


def messages_for(template: str, messages: Messages, render: Render | None) -> Messages:
    """``messages`` with each content in the form that the template reads.

    Parts stay parts where the template reads them. Where it reads texts, the texts of the parts are joined by line
    breaks, as servers do it. A text becomes one part where the template reads parts alone. ``render`` is ``None`` where
    texts alone are read. ``template`` is the template's text, under which the answers are kept.

    ``ArgumentError`` names the message whose parts are no text, or whose content the template writes in neither form.
    A role that neither is usual nor stands in the template warns, the first time.
    """
    for i, message in enumerate(messages):
        _check(i, message.get("content"))
    has_parts = any(isinstance(message.get("content"), list) for message in messages)
    if render is None:
        return [_joined(i, message) for i, message in enumerate(messages)] if has_parts else messages
    key = (template, *map(_kind, messages))
    known = _known.get(key)  # Held here: another thread may clear what is kept.
    if known is None:
        _warn_of_roles(template, messages)
        known = _forms(messages, render)
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = known
    forms, is_rendered = known
    return [_fitted(i, message, forms[i], is_rendered) for i, message in enumerate(messages)]


def _warn_of_roles(template: str, messages: Messages) -> None:
    """Warn of a role that the template does not name: it leaves such a message out, or writes a turn that the model was
    hardly trained on.
    """
    for i, message in enumerate(messages):
        role = str(message.get("role"))
        if role not in ROLES and role not in template:
            warn_caller(
                f"message {i} has the role {quoted(role)}, which the model's chat template does not name: it may leave "
                "the message out, and the model may not know such turns. Usual roles are system, user, assistant, tool",
                UserWarning,
            )
            return


def _check(i: int, content: Any) -> None:
    """``ArgumentError`` for a content that no template can read, or that holds what no tokenizer reads."""
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise ArgumentError(
            f"the content of message {i} is a text or a list of parts, not {type(content).__name__}: "
            '[{"type": "text", "text": "..."}]'
        )
    for j, part in enumerate(content):
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            shown = f"has the keys {list(part)}" if isinstance(part, Mapping) else f"is {type(part).__name__}"
            raise ArgumentError(f'part {j} of message {i} {shown:.80}: a part is {{"type": "text", "text": "..."}}')
        kind = part["type"]
        if kind == "text" and not isinstance(part.get("text"), str):
            raise ArgumentError(f"part {j} of message {i} has the type 'text' and no text: give it a str as 'text'")
        if any(word in kind for word in _MEDIA):
            raise ArgumentError(
                f"part {j} of message {i} is of the type {kind!r:.40}, and this generator reads texts alone: leave the "
                "part out, or use interlock.from_openai with a server that reads it"
            )


def _kind(message: Mapping[str, Any]) -> str:
    """What of a message decides how a template reads its content."""
    content = message.get("content")
    kinds = [str(part["type"]) for part in content] if isinstance(content, list) else type(content).__name__
    return repr((message.get("role"), sorted(message), kinds, not content))


def _forms(messages: Messages, render: Render) -> tuple[list[str], bool]:
    """The form that each message needs, ``"text"``, ``"parts"`` or none of them; and whether the template renders the
    chat at all.
    """
    written: dict[str, frozenset[int] | None] = {"text": _written(messages, "text", render), "parts": frozenset()}
    asked = {i for i, message in enumerate(messages) if message.get("content")}
    lists = {i for i in asked if isinstance(messages[i]["content"], list)}
    if lists or not asked <= (written["text"] or frozenset()):
        written["parts"] = _written(messages, "parts", render)
    forms = []
    for i in range(len(messages)):
        first = ("parts", "text") if i in lists else ("text", "parts")
        forms.append(next((form for form in first if i in (written[form] or ())), ""))
    return forms, any(found is not None for found in written.values())


def _written(messages: Messages, form: str, render: Render) -> frozenset[int] | None:
    """The messages whose content the template writes in this form; ``None`` where it always raises."""
    every = frozenset(range(len(messages)))
    whole = _rendered(messages, every if form == "parts" else frozenset(), render)
    if whole is not None:
        return frozenset(i for i in every if _is_written(whole, i, messages[i].get("content"), form))
    # One message may be why: each is tried alone among others of the other form.
    found, is_rendered = set(), False
    for i in every:
        text = _rendered(messages, {i} if form == "parts" else every - {i}, render)
        is_rendered |= text is not None
        if text is not None and _is_written(text, i, messages[i].get("content"), form):
            found.add(i)
    return frozenset(found) if is_rendered else None


def _rendered(messages: Messages, in_parts: Collection[int], render: Render) -> str | None:
    """The chat with marks in the place of its texts; ``None`` where the template raises."""
    made = []
    for i, message in enumerate(messages):
        content = message.get("content")
        if content and i in in_parts:
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            marked: Any = [
                {**part, "text": _mark(i, j)} if isinstance(part.get("text"), str) else part
                for j, part in enumerate(parts)
            ]
        else:
            marked = _mark(i, 0) if content else content
        made.append({**message, "content": marked} if "content" in message else message)
    try:
        return render(made)
    except Exception:  # noqa: BLE001 - a template raises what it likes
        return None


def _mark(i: int, j: int) -> str:
    return f"qzx{i}z{j}xzq"


def _is_written(whole: str, i: int, content: Any, form: str) -> bool:
    """Whether all marks of a message stand in the rendered text, and none of them inside of a printed part."""
    marks = [_mark(i, 0)]
    if form == "parts" and isinstance(content, list):
        marks = [_mark(i, j) for j, part in enumerate(content) if isinstance(part.get("text"), str)]
    return all(mark in whole and not re.search(rf"[\"']text[\"']\s*:\s*[\"']{mark}", whole) for mark in marks)


def _fitted(i: int, message: dict[str, Any], form: str, is_rendered: bool) -> dict[str, Any]:
    content = message.get("content")
    if not content or (isinstance(content, str) and form != "parts"):
        return message
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    if form == "parts":
        return message
    # A template that renders nothing says why itself.
    if form == "text" or not is_rendered:
        return _joined(i, message)
    raise ArgumentError(
        f"the chat template writes the content of message {i} (role {message.get('role')!r}) neither from a text nor "
        "from a list of parts: give the message another role, or leave it out"
    )


def _joined(i: int, message: dict[str, Any]) -> dict[str, Any]:
    """The message with one text in the place of its parts."""
    content: Sequence[Mapping[str, Any]] | Any = message.get("content")
    if not isinstance(content, list):
        return message
    odd = next((j for j, part in enumerate(content) if part["type"] != "text"), None)
    if odd is not None:
        raise ArgumentError(
            f"part {odd} of message {i} is of the type {content[odd]['type']!r:.40}, and the chat template reads texts "
            'alone: write the part as {"type": "text", "text": "..."}, or leave it out'
        )
    return {**message, "content": "\n".join(part["text"] for part in content)}
