"""Added tokens that are markup of a conversation and no text of a document: ``</think>``, ``<｜tool▁calls▁begin｜>``.

Tokenizers have *added tokens* beside those that they learned. Some are marked special, and those never spell text.
Others are not marked and mean something to a server all the same: inside a string of an output such a token would end
the reasoning there, begin the call of a tool, or forge a turn of the next prompt. The same characters, written with
other tokens, stay possible.

``Vocabulary.from_tokenizer`` and ``Vocabulary.from_file`` keep them out of text unless ``special_token_ids`` says
otherwise. vLLM's plug-in does too, with the chat template as the text that tokens are looked for in. SGLang's gives
that of the server's arguments, and the marks of its parsers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["markup_token_ids", "readable_markup_ids", "template_texts"]

_PAIRS = {"<": ">", "[": "]", "〈": "〉", "｜": "｜", "|": "|"}
_BYTE = re.compile("<0x[0-9A-Fa-f]{2}>")
"""The name of a token that spells one byte."""
_ADDED = re.compile(rb'"added_tokens"\s*:\s*\[')

_Token = tuple[int, str, bool]
"""An added token: id, text, and whether the tokenizer marks it special."""


def markup_token_ids(tokenizer: Any, texts: Iterable[str] = ()) -> list[int]:
    """The added tokens of ``tokenizer`` that are markup, ascending.

    A token is markup if it begins and ends as markup does (``<tool>``, ``[INST]``, ``|x|``), or if it stands in one of
    ``texts`` or in one of its chat templates. Blanks, one or two characters and plain words are never markup:
    templates hold them as text. Neither are tokens that are marked special, which every vocabulary knows already.

    ``tokenizer`` is one of transformers, anything with its ``added_tokens_decoder``, a ``tokenizers.Tokenizer``, or the
    path of a ``tokenizer.json`` or of its folder; chat templates are those of the object, or of the files beside.
    Those of tiktoken and mistral_common mark all that they add as special, so they have no markup, and of the
    user-defined pieces of sentencepiece none is found. ``VocabularyError`` for what is none of these, and for a file
    that cannot be read.
    """
    found = _markup(tokenizer, texts)
    if found is not None:
        return found
    from interlock import VocabularyError
    from interlock.tokenizers import is_recognised

    if is_recognised(tokenizer):
        return []
    if isinstance(tokenizer, str | os.PathLike):
        path = os.fspath(tokenizer)
        raise VocabularyError(
            f"{path!r} is no tokenizer.json that can be read, nor a folder with one: its added tokens are not known"
        )
    kind = type(tokenizer)
    raise VocabularyError(
        f"the added tokens of {kind.__module__}.{kind.__qualname__} cannot be read: give a tokenizer of transformers "
        "or tokenizers, or the path of a tokenizer.json"
    )


def readable_markup_ids(tokenizer: Any, texts: Iterable[str] = ()) -> list[int]:
    """The same as ``markup_token_ids`` and none where added tokens cannot be read: whoever reads the tokenizer next
    says what is wrong with it."""
    return _markup(tokenizer, texts) or []


def template_texts(tokenizer: Any) -> list[str]:
    """The chat templates of a tokenizer: none, one, or several by their names."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str):
        return [template]
    if isinstance(template, dict):
        return [text for text in template.values() if isinstance(text, str)]
    return []


def _markup(tokenizer: Any, texts: Iterable[str]) -> list[int] | None:
    """``None`` for what is not read here."""
    if isinstance(tokenizer, str | os.PathLike):
        file = _tokenizer_json(Path(tokenizer))
        added = None if file is None else _added_in(file)
        templates: Callable[[], list[str]] = lambda: [] if file is None else _templates_beside(file.parent)  # noqa: E731
    else:
        added = _added_of(tokenizer)
        templates = lambda: template_texts(tokenizer)  # noqa: E731
    if added is None:
        return None
    together = "\n".join([*templates(), *texts])
    return sorted({i for i, text, special in added if not special and _is_markup(text.strip(), together)})


def _is_markup(text: str, together: str) -> bool:
    if len(text) < 3 or text.isalnum() or _BYTE.fullmatch(text):
        return False
    return _PAIRS.get(text[0]) == text[-1] or text in together


def _added_of(tokenizer: Any) -> list[_Token] | None:
    """The added tokens of an object."""
    added = None
    with contextlib.suppress(NotImplementedError):  # Classes of transformers that wrap a tokenizer of their own.
        added = getattr(tokenizer, "added_tokens_decoder", None)
    if isinstance(added, dict):
        return [
            (int(i), str(getattr(token, "content", token)), bool(getattr(token, "special", False)))
            for i, token in added.items()
        ]
    listed, number = getattr(tokenizer, "get_added_tokens_decoder", None), getattr(tokenizer, "token_to_id", None)
    if not callable(listed) or not callable(number):
        return None
    # The library may list another number than the one that its model gives the text.
    named = [(number(token.content), token) for token in listed().values()]
    return [(i, token.content, token.special) for i, token in named if i is not None]


def _tokenizer_json(path: Path) -> Path | None:
    """The file, if it is a regular one that may hold a JSON object: others can be of any size, or have no end."""
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        return None
    with contextlib.suppress(OSError), file.open("rb") as stream:
        if stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            return file
    return None


def _added_in(file: Path) -> list[_Token] | None:
    """The added tokens of a tokenizer.json. The rest of the file, which is megabytes, is not read as JSON here."""
    try:
        data = file.read_bytes()
        places = [match.end() - 1 for match in _ADDED.finditer(data)]
        if len(places) == 1:  # Quotes inside of strings are escaped, so this is a key.
            listed = json.JSONDecoder().raw_decode(data[places[0] :].decode())[0]
        elif b'"added_tokens"' in data or b'"model"' in data:
            listed = json.loads(data).get("added_tokens", [])
        else:
            return None
        return [(int(token["id"]), str(token["content"]), bool(token.get("special", False))) for token in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _templates_beside(folder: Path) -> list[str]:
    """The chat templates in the files of a model's folder."""
    found = []
    for name in ("tokenizer_config.json", "chat_template.json"):
        with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
            template = json.loads((folder / name).read_bytes()).get("chat_template")
            named = template if isinstance(template, list) else [{"template": template}]
            found += [text for each in named if isinstance(text := each.get("template"), str)]
    for file in (folder / "chat_template.jinja", *sorted(folder.glob("additional_chat_templates/*.jinja"))):
        with contextlib.suppress(OSError):
            found.append(file.read_text(encoding="utf-8", errors="replace"))
    return found
