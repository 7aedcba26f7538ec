"""The option ``attempts`` of a call: the model is asked again where its answer is refused."""

from __future__ import annotations

import operator
from collections.abc import Generator, Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import as_messages
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.replies.budget_warnings import TightBudgetError
from interlock.generators.replies.completion import completion_of
from interlock.generators.replies.values import one_value
from interlock.output_types import InvalidOutputError, OutputType
from interlock.output_types.context_room import PromptTooLongError

__all__ = ["add_count", "asked", "is_refused", "take_attempts", "told"]

Asking = Generator[
    tuple[list[Any], list[OutputType[Any]], dict[str, Any]], Sequence[str | InvalidOutputError], list[Any]
]
"""Yields prompts with their output types and options, takes their texts, and returns the results."""


def take_attempts(options: dict[str, Any]) -> int:
    """The option, taken out of ``options``. ``TypeError`` for what is no ``int``, ``ArgumentError`` below 1."""
    given = options.pop("attempts", None)
    if given is None:
        return 1
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"attempts must be an int, how often the model is asked, not {type(given).__name__}")
    attempts: int = operator.index(given)
    if attempts < 1:
        raise ArgumentError(f"attempts is how often the model is asked, at least 1, not {attempts}")
    return attempts


def asked(
    prompts: list[Any],
    outputs: Sequence[OutputType[Any]],
    max_tokens: int,
    options: dict[str, Any],
    attempts: int,
    is_chat: bool = True,
    is_detailed: bool = False,
) -> Asking:
    """What comes of each prompt, which has an output type in ``outputs``: a value or an ``InvalidOutputError``. Those
    that were refused are asked again. ``is_chat`` says whether a text is what the user says in a chat,
    and ``is_detailed`` whether a value comes as a ``Completion``.
    """
    first, prompts = list(prompts), list(prompts)
    results: list[Any] = []
    answers: dict[int, list[str]] = {}
    rows = list(range(len(prompts)))
    for attempt in range(attempts):
        seed = options.get("seed")
        chosen = options if seed is None or not attempt else {**options, "seed": seed + attempt}
        texts = yield [prompts[row] for row in rows], [outputs[row] for row in rows], chosen
        found = [one_value(outputs[row], text, max_tokens, "return") for row, text in zip(rows, texts)]
        if is_detailed:
            found = list(map(completion_of, found, texts))
        if not attempt:
            results = found
        for row, value in zip(rows, found):
            # What was said of the first answers may leave the next one no room.
            if not isinstance(value, PromptTooLongError):
                results[row] = value
        rows = [row for row, value in zip(rows, found) if is_refused(value)]
        if not rows:
            break
        for row in rows:
            answers.setdefault(row, []).append(results[row].text)
        for row in rows:
            prompts[row] = told(prompts[row], results[row], is_chat, again=first[row])
    if attempts > 1:
        for row in rows:
            add_count(results[row], answers[row], options.get("temperature"))
    return results


def is_refused(value: Any) -> bool:
    """Whether another answer may be right. A budget and a context stay as they are."""
    return isinstance(value, InvalidOutputError) and not isinstance(value, TightBudgetError | PromptTooLongError)


def told(prompt: Any, error: InvalidOutputError, is_chat: bool, begun: str = "", *, again: Any) -> Any:
    """The prompt with the answer that was refused behind it, and why: turns of a chat, or a longer text that ends with
    ``again``, the prompt of the first attempt. ``begun`` is what stands between the prompt of a chat and the answer. An
    answer to a chat that ended with a prefill has it in front, and is asked for with the same prefill again.
    """
    why = f"{error}. Try again."
    if isinstance(prompt, str) and not is_chat:
        return f"{prompt}{error.text}\n\n{why}\n\n{again}"
    answer = {"role": "assistant", "content": begun + error.text}
    messages = as_messages(prompt)
    prefill = [] if prefill_of(messages) is None else messages[-1:]
    return [*messages[: len(messages) - len(prefill)], answer, {"role": "user", "content": why}, *prefill]


def add_count(error: InvalidOutputError, answers: Sequence[str], temperature: Any) -> None:
    """The error says how often the model was asked, and what helps where it said the same again: greedy search and a
    low temperature do, even though the model reads what was wrong. ``answers`` are those that were refused.
    """
    repeated = ""
    written = [answer for answer in answers if answer]
    if len(set(written)) < len(written) and not temperature:
        repeated = ", and repeated an answer: pass a temperature, such as temperature=0.8, so that it tries others"
    error.args = (f"{error} (the model was asked {len(answers)} times{repeated})",)
