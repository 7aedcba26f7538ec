"""Finds the tool format of a model from its chat template or its response template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations.format_files import format_names, tool_format
from interlock.tools.notations.model_files import is_of_path, said_of_home, tokenizer_at
from interlock.tools.notations.tool_format import ToolFormat

__all__ = ["detect_format", "response_template_in"]


_HINT = (
    "pass format='hermes', JSON between <tool_call> tags, which any model can write under the masks; if you know the "
    "model's own notation, name it (interlock.tools.format_names() lists them) or give a format of your own"
)


def detect_format(tokenizer: Any) -> ToolFormat:
    """The format whose signatures the chat template or the response template of ``tokenizer`` contains.

    ``tokenizer`` is a tokenizer or processor of transformers (``chat_template``, ``response_template``), a mapping with
    these keys as in ``tokenizer_config.json``, the text of a chat template, or the path of a model's folder, of its
    ``tokenizer_config.json`` or of its ``chat_template.jinja``. ``ToolFormatError`` where no format fits, or where
    several fit equally well: name the format then. So it is for a path that leads to no chat template.

    >>> detect_format("{{ '<tool_call>\\\\n<function=' ~ name ~ '>' }} <parameter=").name
    'qwen3_coder'
    """
    template = tokenizer_at(tokenizer)
    text = "\n".join(_texts(template))
    if not text.strip():
        if tokenizer is None:
            raise ToolFormatError(f'format="auto" finds the format of a tokenizer, and none is given: {_HINT}')
        kind = type(tokenizer).__name__
        article = "an" if kind[:1] in "AEIOaeio" else "a"
        raise ToolFormatError(f"{article} {kind} without a chat template says nothing about tool calls: {_HINT}")
    scores = {name: _score(tool_format(name), text) for name in format_names()}
    best = max(scores.values())
    found = [name for name, score in scores.items() if score == best]
    if not best and isinstance(template, str) and is_of_path(template):
        raise ToolFormatError(
            f"{template!r} is no file or folder here{said_of_home(template)}, and no chat template, because no Jinja "
            "is in it: give the folder of a model, a tokenizer, or the text of a chat template"
        )
    if not best:
        raise ToolFormatError(
            f"the chat template has the signature of no tool format, so the model has learnt none: {_HINT}"
        )
    if len(found) > 1:
        raise ToolFormatError(f"the chat template fits {' and '.join(found)} equally well: name the format")
    return tool_format(found[0])


def _score(form: ToolFormat, text: str) -> int:
    """The length of the longest group of signatures that ``text`` has; 0 for none."""
    if any(excluded in text for excluded in form.signatures_exclude):
        return 0
    return max((sum(map(len, group)) for group in form.signatures if all(part in text for part in group)), default=0)


def _texts(tokenizer: Any) -> Iterator[str]:
    if isinstance(tokenizer, str):
        yield tokenizer
        return
    for key in ("chat_template", "response_template"):
        yield from _template_texts(_entry(tokenizer, key))


def response_template_in(tokenizer: Any) -> Any:
    """The response template of a tokenizer, or of the files at a path, or ``None``."""
    return _entry(tokenizer_at(tokenizer), "response_template")


def _entry(tokenizer: Any, key: str) -> Any:
    found = tokenizer.get(key) if isinstance(tokenizer, Mapping) else getattr(tokenizer, key, None)
    if found is None and not isinstance(tokenizer, Mapping):
        options = getattr(tokenizer, "init_kwargs", None)
        found = options.get(key) if isinstance(options, Mapping) else None
    return found


def _template_texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping) and "fields" not in found:
        named = found.get("tool_use", found.get("default"))  # several chat templates by name
        yield from [named] if isinstance(named, str) else (part for part in found.values() if isinstance(part, str))
    elif isinstance(found, Mapping):
        yield json.dumps(found, ensure_ascii=False)
    elif isinstance(found, list):
        yield from _template_texts(
            {part.get("name"): part.get("template") for part in found if isinstance(part, Mapping)}
        )
