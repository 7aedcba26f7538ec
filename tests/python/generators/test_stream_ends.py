"""How streams end: why the model stopped, and what is left of a stream that was closed or broke."""

from __future__ import annotations

import asyncio
import json
import pickle

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
    ("max_tokens", "reason"),
    [(60, "stop"), (12, "length")],
)
def test_streams_of_local_models_say_why_they_ended(max_tokens, reason):
    gen = ScriptedGenerator({"N": '"one two three four five six seven"'})
    stream = gen.stream("N", list[str] | str, max_tokens=max_tokens, on_tight="ignore")
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
