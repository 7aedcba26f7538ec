"""A tool loop that is awaited: the event loop is free meanwhile, and async functions run in it."""

from __future__ import annotations

import asyncio
import datetime
import threading

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: make test-torch")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from test_tool_rounds import CALL, Generator, day_after  # noqa: E402

import interlock  # noqa: E402

OPTIONS = {"format": "hermes", "max_tokens": 160}


def generator():
    return Generator({"Which day?": CALL, "2026-02-01": "It is Sunday.", "gone": "Sorry."})


def test_the_answer_is_that_of_a_tool_loop():
    plain = generator().tool_loop("Which day?", [day_after], **OPTIONS)
    awaited = asyncio.run(generator().atool_loop("Which day?", [day_after], **OPTIONS))
    assert awaited == plain and awaited.calls[0][1] == "2026-02-01"


def test_async_functions_run_in_the_event_loop_that_awaits():
    seen = []

    async def run():
        here = asyncio.get_running_loop()

        async def day_after(day: datetime.date) -> str:
            """The next day."""
            seen.append((asyncio.get_running_loop() is here, threading.current_thread() is threading.main_thread()))
            await asyncio.sleep(0)
            return str(day + datetime.timedelta(days=1))

        described = {"name": "day_after", "parameters": {"type": "object", "properties": {"day": {"type": "string"}}}}

        async def of_text(day: str) -> str:
            return await day_after(datetime.date.fromisoformat(day))

        one = await generator().atool_loop("Which day?", [day_after], **OPTIONS)
        more = await generator().atool_loop("Which day?", [described], functions={"day_after": of_text}, **OPTIONS)
        with pytest.raises(interlock.ArgumentError, match="awaits nothing: await gen.atool_loop"):
            generator().tool_loop("Which day?", [day_after], **OPTIONS)
        return one, more

    for answer in asyncio.run(run()):
        assert answer.text == "It is Sunday." and answer.calls[0][1] == "2026-02-01"
    assert seen == [(True, True)] * 2


def test_an_async_function_that_raises():
    async def day_after(day: datetime.date) -> str:
        """The next day."""
        await asyncio.sleep(0)
        raise LookupError("gone")

    answer = asyncio.run(generator().atool_loop("Which day?", [day_after], **OPTIONS))
    assert answer.calls[0][1] == {"error": "LookupError: gone"}
    with pytest.raises(LookupError, match="gone"):
        asyncio.run(generator().atool_loop("Which day?", [day_after], on_error="raise", **OPTIONS))


def test_cancelling_the_task_cancels_the_function_and_stops_the_model():
    told = []

    async def run():
        begun = asyncio.Event()

        async def day_after(day: datetime.date) -> str:
            """The next day."""
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("cancelled")
                raise
            return ""

        gen = generator()
        on_error = lambda call, error: told.append(error)  # noqa: E731
        task = asyncio.ensure_future(gen.atool_loop("Which day?", [day_after], on_error=on_error, **OPTIONS))
        await begun.wait()
        asked = len(gen.chats.seen)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return gen, asked

    # asyncio.run returns when the threads have ended.
    gen, asked = asyncio.run(run())
    assert told == ["cancelled"] and len(gen.chats.seen) == asked


def test_a_stream_is_not_awaited():
    with pytest.raises(interlock.ArgumentError, match="has no option 'stream': gen.tool_loop"):
        asyncio.run(generator().atool_loop("Which day?", [day_after], stream=True, **OPTIONS))
