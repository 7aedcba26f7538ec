"""The chat template in the files of a model, where a path is given in place of a tokenizer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interlock.tools.errors import ToolFormatError

__all__ = ["is_of_path", "said_of_home", "tokenizer_at"]

_JINJA = re.compile(r"\{[{%#]")
"""What every chat template has, and paths do not."""
_KEYS = ("chat_template", "response_template")
_CONFIGS = ("tokenizer_config.json", "chat_template.json")
"""Files of a model's folder that may hold these keys, the one that is read first."""
_WEIGHED = ("tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model", "qwen.tiktoken")
"""Files of vocabularies: the templates stand beside them."""
_LONGEST = 4096
"""Characters of a path."""
_WAYS = (
    "give the folder of a model, its tokenizer_config.json or chat_template.jinja, a tokenizer, or the text of a chat "
    "template"
)


def tokenizer_at(tokenizer: Any) -> Any:
    """``tokenizer`` itself, or what the files at a path say of it: a mapping with ``chat_template`` and
    ``response_template``. A text with Jinja in it is a chat template; another one is a path if there is such a file.

    ``ToolFormatError`` for a path that leads to no chat template.

    >>> tokenizer_at("{{ messages[0].content }}")
    '{{ messages[0].content }}'
    """
    if isinstance(tokenizer, os.PathLike):
        path = Path(os.fsdecode(tokenizer))
        if not path.exists():
            raise ToolFormatError(f"there is no file or folder {str(path)!r}{said_of_home(str(path))}: {_WAYS}")
        return _at(path)
    if not isinstance(tokenizer, str) or not is_of_path(tokenizer):
        return tokenizer
    try:
        is_there = os.path.exists(tokenizer)
    except ValueError:  # A null character.
        is_there = False
    return _at(Path(tokenizer)) if is_there else tokenizer


def is_of_path(text: str) -> bool:
    """Whether a text may be a path: one line without Jinja.

    >>> is_of_path("/models/qwen3"), is_of_path("{% for m in messages %}{{ m.content }}{% endfor %}")
    (True, False)
    """
    return 0 < len(text) <= _LONGEST and "\n" not in text and _JINJA.search(text) is None


def said_of_home(path: str) -> str:
    """What an error adds for a path that only a shell would read.

    >>> said_of_home("~/models/qwen3"), said_of_home("models/qwen3")
    (" (a shell reads '~', and nothing else does: pass os.path.expanduser of it)", '')
    """
    said = " (a shell reads '~', and nothing else does: pass os.path.expanduser of it)"
    return said if path.startswith("~") else ""


def _at(path: Path) -> dict[str, Any]:
    if path.is_dir() or path.name in _WEIGHED:
        folder = path if path.is_dir() else path.parent
        found = _in_folder(folder)
        if not found:
            raise ToolFormatError(
                f"the folder {str(folder)!r} has no chat template: none of {', '.join(_CONFIGS)} has the key "
                "chat_template or response_template, and there is no chat_template.jinja"
            )
        return found
    if path.suffix == ".json":
        found = _in_json(path)
        if not found:
            raise ToolFormatError(f"{str(path)!r} has no key chat_template, nor response_template: {_WAYS}")
        return found
    text = _text(path)
    if _JINJA.search(text) is None:
        raise ToolFormatError(f"{str(path)!r} is no chat template, because no Jinja is in it: {_WAYS}")
    return {"chat_template": text}


def _in_folder(folder: Path) -> dict[str, Any]:
    """What a folder says. A ``chat_template.jinja`` takes the place of the template in a configuration file."""
    found: dict[str, Any] = {}
    for name in _CONFIGS:
        if (folder / name).is_file():
            found = _in_json(folder / name) | found
    named = {file.stem: _text(file) for file in sorted(folder.glob("additional_chat_templates/*.jinja"))}
    if (folder / "chat_template.jinja").is_file():
        named["default"] = _text(folder / "chat_template.jinja")
    if named:
        found["chat_template"] = named
    return found


def _in_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise ToolFormatError(f"{str(path)!r} is no JSON: {error}") from error
    return dict(_said(document))


def _said(document: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(document, Mapping):
        yield from ((key, document[key]) for key in _KEYS if document.get(key))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolFormatError(f"{str(path)!r} cannot be read: {error}. Instead, {_WAYS}") from error
