"""How the result of a tool stands behind its call: as a model's chat template writes it, or as a user says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from interlock._core import Vocabulary
from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.render import Call, render_calls
from interlock.tools.notations.tool_format import ToolFormat

__all__ = ["Parts", "Result", "result_notation", "written_result"]

Parts: TypeAlias = list[int | bytes | str]
"""Texts and token ids, as ``Guide.force`` takes them."""
Result: TypeAlias = str | Callable[[Call, Any], str | Sequence[int | bytes | str]] | None
"""A text with ``${result}``, ``${name}``, ``${id}``; a function of a call and what was returned; or nothing."""

# Texts that stand in no chat template, for what is asked of one.
_VALUE, _RESULT, _NAME, _ID = "qx7value7xq", "qx7result7xq", "qx7name7xq", "qx7idid7x"


def written_result(value: Any) -> str:
    """What a tool returned, as text: texts as they are, all else as JSON.

    >>> written_result({"sum": 3})
    '{"sum": 3}'
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def result_notation(
    result: Result, form: ToolFormat, tokenizer: Any, vocabulary: Vocabulary
) -> Callable[[Call, Any], Parts]:
    """What writes results. ``ToolFormatError`` where nothing is said and the chat template has no place for them."""
    if callable(result):

        def asked(call: Call, returned: Any) -> Parts:
            found = result(call, returned)
            return [found] if isinstance(found, str) else list(found)

        return asked
    text = result if result is not None else _of_template(form, tokenizer)
    words = template.placeholders(text)
    if "result" not in words:
        raise ToolFormatError(f"the notation of results {text!r} has no ${{result}}")
    for word in words:
        if word not in ("result", "name", "id"):
            raise ToolFormatError(
                f"the notation of results has a placeholder ${{{word}}}: result, name and id are known"
            )
    specials = {
        name.decode("utf-8", "replace"): token
        for token in (*vocabulary.special_token_ids, *vocabulary.eos_token_ids)
        if (name := vocabulary.token_bytes(token))
    }
    pieces = list(template.pieces(text))

    def written(call: Call, returned: Any) -> Parts:
        values = {"result": written_result(returned), "name": call.name, "id": call.id}
        parts: Parts = []
        for kind, piece in pieces:
            # Only the notation itself names special tokens.
            parts += _tokens(piece, specials) if kind == "text" else [values[piece]]
        return [part for part in parts if part != ""]

    return written


def _tokens(text: str, specials: dict[str, int]) -> Parts:
    """A text with its special tokens."""
    found: Parts = []
    names = sorted(specials, key=len, reverse=True)
    plain, at = "", 0
    while at < len(text):
        name = next((name for name in names if text.startswith(name, at)), None)
        if name is None:
            plain += text[at]
            at += 1
            continue
        found += [plain, specials[name]] if plain else [specials[name]]
        plain, at = "", at + len(name)
    return [*found, plain] if plain else found


def _of_template(form: ToolFormat, tokenizer: Any) -> str:
    """What a chat template writes between a call and the model's next word."""
    missing = (
        f"the chat template does not tell how results of tools are written for {form.name}: say it, such as "
        "result='\\n<tool_response>\\n${result}\\n</tool_response>\\n'"
    )
    call = Call(_NAME, {"q": _VALUE}, _ID)
    wire = {"id": _ID, "type": "function", "function": {"name": _NAME, "arguments": {"q": _VALUE}}}
    for arguments in ({"q": _VALUE}, json.dumps({"q": _VALUE})):
        wire["function"]["arguments"] = arguments  # type: ignore[index]
        messages = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": "", "tool_calls": [wire]},
            {"role": "tool", "tool_call_id": _ID, "name": _NAME, "content": _RESULT},
        ]
        try:
            whole = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception:  # noqa: BLE001 - a template raises what it likes
            continue
        at = whole.rfind(_VALUE)
        written = render_calls(form, [call])
        closer = written[written.rfind(_VALUE) + len(_VALUE) :].rstrip()
        behind = whole.find(closer, at)
        if at < 0 or behind < 0 or whole.find(_RESULT, behind) < 0:
            continue
        rest = whole[behind + len(closer) :]
        for name, text in (("result", _RESULT), ("name", _NAME), ("id", _ID)):
            rest = rest.replace(text, f"${{{name}}}")
        return str(rest)
    raise ToolFormatError(missing)
