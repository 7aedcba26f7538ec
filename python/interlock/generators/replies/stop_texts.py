"""Texts that end free text, which ends before them. Types end by themselves, and have none."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Sequence
from typing import Any, TypeVar

from interlock._core import ArgumentError
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.replies.completion import up_to
from interlock.output_types import InvalidOutputError, OutputType

__all__ = ["check_stop", "cut_texts", "first_stop", "up_to_stop", "with_stop"]

T = TypeVar("T")


def check_stop(stop: Any) -> tuple[str, ...]:
    """The texts of the option: one, several, or none."""
    if stop is None:
        return ()
    if not isinstance(stop, str | list | tuple):
        raise TypeError(f"stop must be a str, a list of str or None, not {type(stop).__name__}")
    stops = (stop,) if isinstance(stop, str) else tuple(stop)
    for one in stops:
        if not isinstance(one, str):
            raise TypeError(f"stop must hold str, not {type(one).__name__}")
        if not one:
            raise ArgumentError(
                "stop is a text, or a list of texts, that ends free text, and one of these is empty: leave it out"
            )
    return stops


def with_stop(output: OutputType[T], stop: tuple[str, ...]) -> OutputType[T]:
    """``output`` with the texts that it ends before. ``ArgumentError`` for a type that ends by itself."""
    if not stop:
        return output
    if output.kind != "text":
        raise ArgumentError(
            f"stop belongs to free text, gen(prompt, str, stop=...): {output.name} ends where it is complete, and "
            "max_tokens is its budget. Leave stop out, or bound the texts in it: "
            "Annotated[str, Field(max_length=30)], or a pattern"
        )
    return dataclasses.replace(output, stop=stop)


def first_stop(text: str, stops: Sequence[str], start: int = 0) -> int | None:
    """Where the first of ``stops`` begins in ``text``, from ``start`` on."""
    return min((at for one in stops if (at := text.find(one, start)) >= 0), default=None)


def cut_texts(
    texts: Sequence[str | InvalidOutputError], outputs: Sequence[OutputType[Any]], prompts: Sequence[Any]
) -> list[str | InvalidOutputError]:
    """Each text up to the first of its stop texts. What a prefill says is none of the model's, and stays."""
    found: list[str | InvalidOutputError] = []
    for text, output, prompt in zip(texts, outputs, prompts):
        if output.stop and isinstance(text, str):
            text = up_to(text, first_stop(text, output.stop, len(prefill_of(prompt) or "")))
        found.append(text)
    return found


def up_to_stop(pieces: Iterator[str], output: OutputType[Any], prompt: Any) -> Iterator[str]:
    """The pieces up to the first stop text, at which the model is stopped. What may be the beginning of a stop text is
    kept back until more is known.

    >>> from interlock.output_types import output_type_of
    >>> output = with_stop(output_type_of(str), ("END",))
    >>> list(up_to_stop(iter(["a E", "b E", "ND c"]), output, "a prompt"))
    ['a ', 'Eb ']
    """
    return _cut(pieces, output.stop, len(prefill_of(prompt) or "")) if output.stop else pieces


def _cut(pieces: Iterator[str], stops: Sequence[str], prefill: int) -> Generator[str, None, str | None]:
    whole, given = "", 0
    try:
        while True:
            try:
                whole += next(pieces)
            except StopIteration as ending:
                if given < len(whole):
                    yield whole[given:]
                reason: str | None = ending.value
                return reason
            # No stop text begins in front of what was given: its beginning would have been kept back.
            begin = max(given, prefill)
            end = first_stop(whole, stops, begin)
            safe = len(whole) - _held(whole[begin:], stops) if end is None else end
            if safe > given:
                yield whole[given:safe]
                given = safe
            if end is not None:
                return "stop"
    finally:
        if isinstance(pieces, Generator):
            pieces.close()


def _held(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of ``text`` may be the beginning of a stop text."""
    longest = min(len(text), max(map(len, stops)) - 1)
    return next((size for size in range(longest, 0, -1) if any(one.startswith(text[-size:]) for one in stops)), 0)
