"""What is done before a model is asked: the output type of a call is made, and its options are checked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from interlock.ascii_patterns import as_ascii
from interlock.generators.call_arguments.arguments import check_max_tokens, check_options
from interlock.generators.call_arguments.json_blanks import check_whitespace, take_whitespace, with_whitespace
from interlock.generators.call_arguments.sampling_options import plain_numbers, warn_unused_seed
from interlock.generators.recently_used import RecentlyUsed
from interlock.generators.replies.stop_texts import check_stop, with_stop
from interlock.generators.replies.typed_rows import prepared_rows
from interlock.generators.replies.validation_context import in_context
from interlock.output_types import OutputType, output_type_of
from interlock.pattern_slips import warn_unicode_classes

__all__ = ["KEPT", "PreparedCalls"]

KEPT = 256
"""Types, and indexes of them, that a generator keeps."""


class PreparedCalls:
    """The part of a generator that knows output types and options."""

    #: What the backend is called in errors.
    backend: str = ""
    # Servers' engines have rules of their own for classes of characters, and choose the blanks of JSON.
    _makes_masks = False
    #: Whether a text is what the user says in a chat, as the generator was told.
    _chat: bool | None = None

    def __init__(self, *, whitespace: str = "spaced") -> None:
        self._whitespace = check_whitespace(whitespace)
        self._types = RecentlyUsed[OutputType[Any]](KEPT)

    def output_type(self, output_type: Any, on_unsupported: Literal["error", "warn"] = "error") -> OutputType[Any]:
        """The output type behind a Python type, from the cache where it was used before."""
        key = (type(output_type), output_type, on_unsupported)
        try:
            hash(key)
        except TypeError:
            return self._made(output_type, on_unsupported)
        return self._types.get_or_make(key, lambda: self._made(output_type, on_unsupported))

    def _made(self, output_type: Any, on_unsupported: Literal["error", "warn"]) -> OutputType[Any]:
        if self._makes_masks and isinstance(output_type, re.Pattern) and isinstance(output_type.pattern, str):
            output_type = as_ascii(output_type)
        made = output_type_of(output_type, on_unsupported)
        if isinstance(output_type, re.Pattern):
            warn_unicode_classes(output_type)
        if isinstance(output_type, OutputType) or made.whitespace == self._whitespace:
            return made
        return dataclasses.replace(made, whitespace=self._whitespace)

    def _prepared(self, output_type: Any, max_tokens: Any, options: dict[str, Any]) -> OutputType[Any]:
        """Everything that can be wrong before a model is asked. What concerns the type is taken out of ``options``."""
        max_tokens = check_max_tokens(max_tokens)
        on_unsupported: Any = options.pop("on_unsupported", None)
        context = options.pop("context", None)
        stop = check_stop(options.pop("stop", None))
        whitespace = take_whitespace(options) if self._makes_masks else None
        self._check_options(options)
        options |= plain_numbers(options)
        if options.get("seed") is not None and self._is_greedy(options):
            warn_unused_seed()
        made = self.output_type(output_type, "error" if on_unsupported is None else on_unsupported)
        return in_context(with_stop(with_whitespace(made, whitespace), stop), context)

    def _prepared_rows(
        self, prompts: Sequence[Any], output_type: Any, max_tokens: int, options: dict[str, Any]
    ) -> list[OutputType[Any]]:
        """The same for each prompt of a batch."""
        return prepared_rows(self._prepared, output_type, len(prompts), max_tokens, options)

    def _reads_as_chat(self, chat: bool | None) -> bool:
        """Whether a prompt that is a text is what the user says in a chat. ``chat`` of the call says so, or else that
        of the generator; where neither says anything, it is one if the model has a chat template.
        """
        chosen = self._chat if chat is None else chat
        return self._has_chat_template() if chosen is None else bool(chosen)

    def _has_chat_template(self) -> bool:
        return True

    def _is_greedy(self, options: Mapping[str, Any]) -> bool:
        """Whether a call with these options is known to make no random choices."""
        return options.get("temperature") == 0

    def _check_options(self, options: Mapping[str, Any]) -> None:
        known = self._option_names()
        if known is not None:
            check_options(options, known, self.backend)

    def _option_names(self) -> Collection[str] | None:
        """The keywords that calls may have; ``None`` leaves checking them to the backend."""
        return None
