"""Streams that are read with ``async for``: one thread reads and closes them, and it ends with them."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time

import pytest

import interlock
from interlock.generators.prompts.model_turns import ModelTurns, TurnPieces
from interlock.generators.stream import Stream


def reading():
    return [one for one in threading.enumerate() if one.name == "interlock-stream"]


def is_over():
    """Whether the threads of all streams end by themselves."""
    gc.collect()
    for thread in reading():
        thread.join(5)
    return not reading()


class Pieces:
    """A generator that notes the threads in which it runs, the one that closes it too."""

    def __init__(self, count=5, seconds=0.0):
        self.threads, self.count, self.seconds, self.is_closed = [], count, seconds, False
        self.began = threading.Event()

    def __call__(self):
        try:
            for i in range(self.count):
                self.threads.append(threading.get_ident())
                self.began.set()
                time.sleep(self.seconds)
                yield str(i)
        finally:
            self.threads.append(threading.get_ident())
            self.is_closed = True
        return "stop"

    @property
    def is_one_thread(self):
        return len(set(self.threads)) == 1


def test_async_for_reads_in_one_thread():
    pieces = Pieces(20)
    stream = Stream(pieces(), str)

    async def run():
        # Threads of the loop's own pool are taken and given back, as other tasks do it.
        async def others():
            for _ in range(20):
                await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.001) for _ in range(3)))

        other = asyncio.create_task(others())
        found = [piece async for piece in stream]
        await other
        return found

    assert "".join(asyncio.run(run())) == stream.value and stream.finish_reason == "stop"
    assert pieces.is_one_thread and threading.get_ident() not in pieces.threads and is_over()


@pytest.mark.parametrize("closing", ["close", "drop", "value", "another thread"])
def test_a_stream_that_is_bound_to_a_thread_is_read_there_whoever_reads(closing):
    pieces = Pieces()
    stream = Stream(pieces(), str, in_one_thread=True)
    assert next(stream) == "0"
    found = []
    other = threading.Thread(target=lambda: found.append(next(stream)))
    other.start()
    other.join()
    assert found == ["1"]
    if closing == "close":
        stream.close()
        assert pieces.is_closed and stream.text == "01"
    elif closing == "value":
        assert stream.value == "01234"
    elif closing == "another thread":
        other = threading.Thread(target=stream.close)
        other.start()
        other.join()
    else:
        del stream
    assert is_over() and pieces.is_closed and pieces.is_one_thread
    assert threading.get_ident() not in pieces.threads


def test_break_leaves_the_stream_open_as_with_for():
    pieces = Pieces()

    async def run():
        stream = Stream(pieces(), str)
        async for _ in stream:
            break
        first = stream.text
        async for _ in stream:
            break
        return first, stream.value

    assert asyncio.run(run()) == ("0", "01234") and pieces.is_one_thread and is_over()


def test_a_stream_that_nobody_holds_stops():
    pieces = Pieces(1000, 0.001)

    async def run():
        async for _ in Stream(pieces(), str):
            break
        for _ in range(100):
            await asyncio.sleep(0.01)
            if pieces.is_closed:
                return

    asyncio.run(run())
    assert pieces.is_closed and pieces.is_one_thread and len(pieces.threads) < 100 and is_over()


@pytest.mark.parametrize("way", ["aclose", "async with", "close", "cancel", "timeout"])
def test_a_stream_that_is_stopped_ends_its_thread(way):
    pieces = Pieces(1000, 0.01)
    stream = Stream(pieces(), str)

    async def read():
        async for _ in stream:
            if way in ("aclose", "close", "async with") and len(stream.text) > 2:
                return

    async def run():
        if way == "async with":
            async with stream:
                await read()
            assert pieces.is_closed
        elif way == "aclose":
            await read()
            await stream.aclose()
            assert pieces.is_closed
        elif way == "close":
            await read()
            began = time.perf_counter()
            stream.close()
            await stream.aclose()
            assert pieces.is_closed and time.perf_counter() - began < 5
        elif way == "cancel":
            task = asyncio.create_task(read())
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(read(), 0.05)

    asyncio.run(run())
    assert is_over() and pieces.is_closed and pieces.is_one_thread and len(pieces.threads) < 500
    assert list(stream) == [] and "closed" in repr(stream)
    with pytest.raises(interlock.InvalidOutputError, match="closed before its end"):
        stream.value  # noqa: B018


def test_a_task_that_is_cancelled_gives_the_model_back():
    """As in llama.cpp, whose streams take turns."""
    turns, pieces = ModelTurns(), Pieces(1000, 0.02)
    stream = Stream(TurnPieces(turns, pieces()), str)

    async def run():
        async def read():
            async for _ in stream:
                pass

        task = asyncio.create_task(read())
        await asyncio.to_thread(pieces.began.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        def call():
            with turns.turn():
                return len(pieces.threads)

        return await asyncio.wait_for(asyncio.to_thread(call), 5)

    assert asyncio.run(run()) < 100 and is_over() and pieces.is_closed


def test_errors_reach_the_reader():
    def pieces():
        yield "a"
        raise KeyError("x")

    async def run():
        stream = Stream(pieces(), str)
        with pytest.raises(KeyError):
            async for _ in stream:
                pass
        return stream

    stream = asyncio.run(run())
    assert stream.text == "a" and list(stream) == [] and is_over()
    with pytest.raises(KeyError):
        stream.value  # noqa: B018


def test_two_tasks_share_a_stream():
    pieces = Pieces(50, 0.0005)

    async def run():
        stream = Stream(pieces(), str)

        async def read():
            return [piece async for piece in stream]

        return await asyncio.gather(read(), read(), read())

    found = [piece for part in asyncio.run(run()) for piece in part]
    assert sorted(map(int, found)) == list(range(50)) and pieces.is_one_thread and is_over()


def test_a_program_that_ends_closes_what_is_open():
    code = """
import threading
from interlock.generators.stream import Stream
def pieces():
    try:
        while True:
            yield "a"
    finally:
        print(threading.current_thread().name)
stream = Stream(pieces(), str, in_one_thread=True)
print(next(stream))
"""
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert made.stdout.split() == ["a", "interlock-stream"] and made.stderr == ""
