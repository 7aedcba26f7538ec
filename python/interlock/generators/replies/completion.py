"""A value with what is known of how it was written: ``details=True`` of a call.

A text comes from its backend as a ``Written``, which is a ``str`` that knows these things, or how to find them: most
calls never ask, and looking for why an output ended costs a walk over it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from interlock.output_types import InvalidOutputError
from interlock.util.argument_types import require

__all__ = ["Completion", "Known", "Written", "completed", "completion_of", "read", "take_details", "up_to", "written"]

T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """What a backend knows of an output; ``None`` stands for what it does not say."""

    token_ids: list[int] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: list[float] | None = None
    finish_reason: str | None = None


@dataclass(frozen=True)
class Completion(Generic[T]):
    """What a call with ``details=True`` returns, and what ``details`` of a stream is: the value, and how it was
    written. ``None`` stands for what the backend does not say.
    """

    value: T
    """The value, as the call itself returns it."""
    text: str
    """The text that it was read from. A prefill is its beginning."""
    token_ids: list[int] | None
    """The tokens that the model wrote: behind a prefill, and of a model in this process without the stop token.
    ``None`` with most servers."""
    prompt_tokens: int | None
    """How many tokens the prompt has, with a prefill."""
    completion_tokens: int | None
    """How many tokens the model wrote, as the backend counts them: a server counts the stop token."""
    logprobs: list[float] | None
    """The log-probability of each token, where the backend was asked for it: ``logprobs=True`` with transformers and
    OpenAI's interface, ``logprobs=0`` with vLLM. With transformers it is that among the tokens which the mask allows,
    before temperature and the like, and 0 of a token that was forced. llama.cpp and mlx-lm choose tokens in a loop of
    their own, which does not say it: there ``gen.trace`` has probabilities."""
    finish_reason: str | None
    """``"stop"``, or ``"length"`` where a text without a form used up its tokens: every other output is whole, and a
    ``TightBudgetWarning`` says where its budget may have shortened it. A server may have other words."""


class Written(str):
    """A finished text, and what is known of it."""

    known: Callable[[], Known]


def written(text: str, known: Callable[[], Known]) -> Written:
    """``text`` with what finds out about it."""
    made = Written(text)
    made.known = known
    return made


def up_to(text: str, end: int | None) -> str:
    """``text`` up to ``end``, where a stop text stood; ``None`` leaves it as it is."""
    if end is None:
        return text
    if not isinstance(text, Written):
        return text[:end]
    known = text.known
    return written(text[:end], lambda: dataclasses.replace(known(), finish_reason="stop"))


def read(pieces: Iterable[str], ends: Sequence[Known]) -> str | InvalidOutputError:
    """The text of a stream, or the error that its end raised: the other values of a batch are not lost. ``ends`` has
    what is known of it when it has ended.
    """
    try:
        text = "".join(pieces)
    except InvalidOutputError as error:
        return error
    # A stop text ended what nothing is known of.
    return written(text, lambda: ends[-1] if ends else Known(finish_reason="stop"))


def take_details(options: dict[str, Any]) -> bool:
    """The option of a call, taken out of ``options``. ``TypeError`` for what is no flag."""
    given = options.pop("details", None)
    require(details=(given, "flag?"))
    return bool(given)


def completion_of(value: Any, text: str | InvalidOutputError) -> Any:
    """The completion of a value and its text; an error stays an error."""
    if isinstance(value, InvalidOutputError) or isinstance(text, InvalidOutputError):
        return value
    return completed(value, text, text.known() if isinstance(text, Written) else Known())


def completed(value: T, text: str, known: Known) -> Completion[T]:
    """The completion of a value, its text, and what is known of it."""
    return Completion(value, str(text), **{one.name: getattr(known, one.name) for one in dataclasses.fields(Known)})
