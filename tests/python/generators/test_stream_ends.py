"""How streams end: why the model stopped, what is left of a stream that was closed or broke, and items that end."""

from __future__ import annotations

import asyncio
import datetime
import json
import pickle
from typing import Annotated, Literal

import interlock
import pytest
from interlock.generators import AsyncStream, Stream
from scripted_generator import ScriptedGenerator
from test_generator_servers import ADA, AsyncClient, Client, User

NUMBERS = ["[1, ", "2", "3]"]


async def awaited(pieces):
    for piece in pieces:
        yield piece


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_streams_of_servers_say_why_they_ended(reason):
    stream = interlock.from_openai(Client("Hi!", reason), "m").stream("x")
    assert stream.finish_reason is None
    next(stream)
    assert stream.finish_reason is None
    assert (stream.value, stream.finish_reason) == ("Hi!", reason)

    async def run():
        stream = interlock.from_openai(AsyncClient("Hi!", reason), "m").stream("x")
        assert stream.finish_reason is None
        return await stream.value(), stream.finish_reason

    assert asyncio.run(run()) == ("Hi!", reason)


@pytest.mark.parametrize(
    ("kind", "max_tokens", "reason"),
    # What has a form is whole, though the budget closes it.
    [(list[str] | str, 60, "stop"), (list[str] | str, 12, "stop"), (str, 60, "stop"), (str, 12, "length")],
)
def test_streams_of_local_models_say_why_they_ended(kind, max_tokens, reason):
    gen = ScriptedGenerator({"N": '"one two three four five six seven"'})
    stream = gen.stream("N", kind, max_tokens=max_tokens, on_tight="ignore")
    assert stream.finish_reason is None
    assert isinstance(stream.value, str) and stream.finish_reason == reason


def test_choices_that_fill_the_budget_have_stopped():
    stream = ScriptedGenerator({"N": "yes"}).stream("N", ["yes"], max_tokens=3)
    assert (stream.value, stream.finish_reason) == ("yes", "stop")


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_errors_say_why_the_server_stopped(reason):
    gen = interlock.from_openai(Client(ADA[:-3], reason), "m")
    stream = gen.stream("x", User)
    for call in (lambda: gen("x", User), lambda: stream.value, lambda: stream.value):
        with pytest.raises(interlock.InvalidOutputError) as caught:
            call()
        assert caught.value.finish_reason == reason
        assert pickle.loads(pickle.dumps(caught.value)).finish_reason == reason
    with pytest.raises(interlock.TightBudgetError) as caught:
        ScriptedGenerator({"N": "a b c d e f g h i j"})("N", max_tokens=3, on_tight="error")
    assert caught.value.finish_reason == "length"


def test_a_closed_stream_has_no_value():
    stream = Stream(iter(NUMBERS), json.loads, is_json=True)
    next(stream), next(stream)
    stream.close()
    with pytest.raises(StopIteration):
        next(stream)
    assert list(stream) == [] and stream.text == "[1, 2" and stream.partial == [1] and "closed" in repr(stream)
    with pytest.raises(interlock.InvalidOutputError, match="closed before its end") as caught:
        stream.value  # noqa: B018
    assert caught.value.text == "[1, 2" and stream.finish_reason is None
    with Stream(iter(NUMBERS), json.loads) as stream:
        assert stream.value == [1, 23]
    assert stream.value == [1, 23]

    async def run():
        stream = AsyncStream(awaited(NUMBERS), json.loads, is_json=True)
        async with stream:
            await anext(stream)
        assert [piece async for piece in stream] == [] and stream.text == "[1, "
        await stream.value()

    with pytest.raises(interlock.InvalidOutputError, match="closed before its end"):
        asyncio.run(run())


def test_a_stream_that_broke_raises_its_error_again():
    def pieces():
        yield "[1, 2]"
        raise ConnectionError("gone")

    stream = Stream(pieces(), json.loads)
    for _ in range(2):
        with pytest.raises(ConnectionError, match="gone"):
            stream.value  # noqa: B018
    assert stream.text == "[1, 2]" and stream.finish_reason is None


def test_a_cancelled_stream_has_no_value():
    async def slow():
        yield "[1, 2"
        await asyncio.Event().wait()

    async def run():
        stream = AsyncStream(slow(), json.loads, is_json=True)
        await anext(stream)
        task = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stream.value()

    with pytest.raises(interlock.InvalidOutputError, match="closed before its end"):
        asyncio.run(run())


def test_elements_come_as_soon_as_they_are_whole():
    text = '[{"name": "A, ]", "age": 1}, {"name": "\\"}", "age": 20}]'
    gen = ScriptedGenerator({"N": text})
    stream = gen.stream("N", list[User], max_tokens=90)
    items = stream.items()
    assert next(items) == User("A, ]", 1)
    assert len(stream.text) < len(text) - 10
    assert list(items) == [User('"}', 20)] == stream.value[1:]
    # What was read before belongs to them.
    stream = gen.stream("N", list[User], max_tokens=90)
    next(stream)
    assert list(stream.items()) == stream.value


@pytest.mark.parametrize(
    ("output_type", "text", "items"),
    [
        (list[Literal["yes", "no"]], '["yes", "no"]', ["yes", "no"]),
        (Annotated[set[datetime.date], "days"], '["2026-01-31"]', [datetime.date(2026, 1, 31)]),
        (list[list[int]], "[[], [1, 2]]", [[], [1, 2]]),
        (list[int], "[]", []),
        (User, '{"name": "Ada", "age": 36}', [("name", "Ada"), ("age", 36)]),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 23]", [1, 23]),
    ],
)
def test_items_are_of_the_type_of_the_elements(output_type, text, items):
    stream = ScriptedGenerator({"N": text}).stream("N", output_type, max_tokens=40)
    assert list(stream.items()) == items


def test_an_element_that_its_class_refuses_has_its_place():
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    class Even(pydantic.BaseModel):
        a: int

        @pydantic.field_validator("a")
        @classmethod
        def is_even(cls, a):
            assert a % 2 == 0, f"{a} is odd"
            return a

    stream = ScriptedGenerator({"N": '[{"a": 2}, {"a": 3}]'}).stream("N", list[Even], max_tokens=40)
    items = stream.items()
    assert next(items).a == 2
    with pytest.raises(interlock.InvalidOutputError, match="^element 1 of the stream: .*3 is odd") as caught:
        next(items)
    assert caught.value.pointer == "/1/a" and caught.value.text == '{"a": 3}'


def test_what_has_no_items_says_so():
    gen = ScriptedGenerator({"N": "1"})
    with pytest.raises(interlock.ArgumentError, match="this output is a text"):
        gen.stream("N", max_tokens=5).items()
    with pytest.raises(interlock.ArgumentError, match="neither"):
        list(gen.stream("N", int, max_tokens=5).items())


def test_items_of_an_asynchronous_client():
    async def run():
        stream = interlock.from_openai(AsyncClient('["2026-01-31", "2026-02-01"]', "stop"), "m", server="vllm").stream(
            "x", list[datetime.date]
        )
        return [item.day async for item in stream.items()]

    assert asyncio.run(run()) == [31, 1]
