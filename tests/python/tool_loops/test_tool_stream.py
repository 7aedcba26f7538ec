"""A tool loop that is read while it runs."""

from __future__ import annotations

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: make test-torch")

from test_tool_rounds import (  # noqa: E402
    CALL,
    ONE_CALL,
    Generator,
    day_after,
    fails,
    generator_of_transformers,
    sides,
)

import interlock  # noqa: E402
from interlock.events import ArgumentBytes, CallBegun, CallEnded, NameKnown, Text  # noqa: E402
from interlock.generators import ToolResult, ToolStream  # noqa: E402

SCRIPT = {"Which day?": f"Let me see.{CALL}", "2026-02-01": "The first of February."}
OPTIONS = {"format": "hermes", "max_tokens": 160}


def test_a_stream_has_the_events_of_each_turn_and_the_results_of_its_calls():
    answer = Generator(SCRIPT).tool_loop("Which day?", [day_after], **OPTIONS)
    stream = Generator(SCRIPT).tool_loop("Which day?", [day_after], stream=True, **OPTIONS)
    assert isinstance(stream, ToolStream)
    found = list(stream)
    assert stream.answer == answer and list(stream) == []
    at = next(i for i, event in enumerate(found) if isinstance(event, ToolResult))
    assert found[at] == ToolResult(*answer.calls[0]) and isinstance(found[at - 1], CallEnded)
    kinds = [type(event) for event in found[:at]]
    assert {Text, CallBegun, NameKnown, ArgumentBytes, CallEnded} == set(kinds)
    text = ["".join(event.text for event in part if isinstance(event, Text)) for part in (found[:at], found[at:])]
    assert text == ["Let me see.", "The first of February."] and kinds.count(ArgumentBytes) > 1
    assert sum(isinstance(event, Text) for event in found[at:]) > 1


def test_a_function_runs_once_its_turn_is_read_and_an_answer_reads_the_rest():
    ran = []

    def counted(day: str) -> str:
        """The next day."""
        ran.append(day)
        return "2026-02-01"

    counted.__name__ = "day_after"
    stream = Generator(SCRIPT).tool_loop("Which day?", [counted], stream=True, **OPTIONS)
    assert isinstance(next(stream), Text) and not ran and "open" in repr(stream)
    assert stream.answer.text == "The first of February." and ran == ["2026-01-31"] and "ended" in repr(stream)


def test_a_stream_that_was_closed_has_no_answer():
    with Generator(SCRIPT).tool_loop("Which day?", [day_after], stream=True, **OPTIONS) as stream:
        next(stream)
    with pytest.raises(interlock.ArgumentError, match="closed, or an error ended it"):
        _ = stream.answer


def test_an_error_of_a_function_ends_the_stream():
    stream = Generator(SCRIPT).tool_loop("Which day?", [fails], stream=True, on_error="raise", **OPTIONS)
    with pytest.raises(KeyError, match="nope"):
        list(stream)
    with pytest.raises(interlock.ArgumentError, match="has no answer"):
        _ = stream.answer


def test_what_is_wrong_with_the_arguments_is_said_before_the_first_event():
    with pytest.raises(interlock.ArgumentError, match="there are no tools"):
        Generator({}).tool_loop("x", [], stream=True, **OPTIONS)
    with pytest.raises(TypeError, match="stream"):
        Generator({}).tool_loop("x", [day_after], stream="yes", **OPTIONS)


def test_the_tokens_of_a_model_of_transformers_come_one_by_one():
    gen = generator_of_transformers()
    answer = gen.tool_loop("Which side?", [sides], **ONE_CALL)
    stream = gen.tool_loop("Which side?", [sides], stream=True, **ONE_CALL)
    found = list(stream)
    assert stream.answer == answer
    assert sum(isinstance(event, Text) for event in found) > 1
