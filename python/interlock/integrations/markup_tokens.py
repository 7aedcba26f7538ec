"""Added tokens that are markup of a conversation and no text of a document: ``</think>``, ``<｜tool▁calls▁begin｜>``.

Tokenizers have *added tokens* beside those that they learned. Some are marked special, and those never spell text.
Others are not marked and mean something to a server all the same: inside a string of an output such a token would end
the reasoning there, begin the call of a tool, or forge a turn of the next prompt. The same characters, written with
other tokens, stay possible.

vLLM's plug-in gives the chat template as the text that tokens are looked for in. SGLang's gives that of the server's
arguments too, and the marks of its parsers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["markup_token_ids", "template_texts"]

_PAIRS = {"<": ">", "[": "]", "〈": "〉", "｜": "｜", "|": "|"}


def markup_token_ids(tokenizer: Any, texts: Iterable[str] = ()) -> list[int]:
    """The added tokens of ``tokenizer`` that are markup, ascending.

    A token is markup if it begins and ends as markup does (``<tool>``, ``[INST]``, ``|x|``), or if it stands in one of
    ``texts`` or in one of its chat templates. Blanks, one or two characters and plain words are never markup:
    templates hold them as text. Neither are tokens that are marked special, which every vocabulary knows already.

    ``tokenizer`` is one of transformers, or anything with its ``added_tokens_decoder``; of another there are none.
    """
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(added, dict):
        return []
    together = "\n".join([*template_texts(tokenizer), *texts])
    found = []
    for i, token in added.items():
        text = str(getattr(token, "content", token)).strip()
        if len(text) < 3 or text.isalnum() or getattr(token, "special", False):
            continue
        if _PAIRS.get(text[0]) == text[-1] or text in together:
            found.append(int(i))
    return sorted(found)


def template_texts(tokenizer: Any) -> list[str]:
    """The chat templates of a tokenizer: none, one, or several by their names."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str):
        return [template]
    if isinstance(template, dict):
        return [text for text in template.values() if isinstance(text, str)]
    return []
