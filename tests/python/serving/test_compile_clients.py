"""``compile_async(body, client=...)``: clients take turns at the threads, and none has the last one."""

from __future__ import annotations

import asyncio
import threading

import pytest
from slow_compiles import MANY, WAIT, slow, slow_compiles, until

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
HONEST = {"guided_choice": ["yes", "no"]}


def compiler_of(threads):
    return RequestCompiler(VOCABULARY, seconds=None, compile_threads=threads)


def asked(compiler, number, client, fields=MANY):
    return asyncio.create_task(compiler.compile_async(slow(number, **fields), client=client))


@pytest.mark.parametrize(("hostile", "others"), [("a", "bc"), (None, "bc"), ("a", [None, "c"]), (5, [("b", 1), "c"])])
def test_clients_take_turns(monkeypatch, hostile, others):
    async def main():
        compiler = compiler_of(1)
        tasks = [asked(compiler, number, hostile) for number in range(4)]
        await until(lambda: begun)
        tasks += [asked(compiler, 10 * at + number, client) for at, client in enumerate(others, 1) for number in (0, 1)]
        await until(lambda: compiler.num_waiting == 7)
        assert [compiler.num_waiting_of(client) for client in (hostile, *others, "nobody")] == [3, 2, 2, 0]
        may_end.set()
        await asyncio.gather(*tasks)
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())
    assert begun == [f"slow{number}" for number in (0, 10, 20, 1, 11, 21, 2, 3)]


@pytest.mark.parametrize("threads", [2, 3])
def test_a_client_leaves_a_thread_to_the_others(monkeypatch, threads):
    async def main():
        compiler = compiler_of(threads)
        tasks = [asked(compiler, number, "a") for number in range(6)]
        await until(lambda: len(begun) == threads - 1)
        await asyncio.sleep(0.1)
        assert len(begun) == compiler.num_running == threads - 1 and compiler.num_waiting_of("a") == 7 - threads
        # Nothing of the first client has ended.
        quick = compiler.compile_async(HONEST | MANY, client="b")
        assert (await asyncio.wait_for(quick, WAIT)).kind == "choice"
        tasks.append(asked(compiler, 10, "b"))
        await until(lambda: begun[threads - 1 :] == ["slow10"])
        may_end.set()
        assert [(await task).kind for task in tasks] == ["regex"] * 7
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())


def test_the_next_thread_is_for_the_client_that_has_fewest(monkeypatch):
    async def main():
        compiler = compiler_of(4)
        tasks = [asked(compiler, number, client) for number, client in enumerate("aaab")]
        await until(lambda: len(begun) == 4)
        tasks += [asked(compiler, 10 + number, client) for number, client in enumerate("aab")]
        await until(lambda: compiler.num_waiting == 3)
        begun.clear()
        tasks[0].cancel()  # "a" has two threads now, and "b" one.
        await until(lambda: begun)
        assert begun == ["slow12"]
        may_end.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())


def test_work_that_hears_of_nothing_leaves_a_thread_to_the_others(monkeypatch):
    compile, begun, may_end = RequestCompiler.compile, [], threading.Event()

    def deaf(self, body, *, cancel, **options):
        if "slow" in str(body.get("guided_regex")):
            begun.append(body)
            assert may_end.wait(WAIT)
        return compile(self, body, cancel=None, **options)

    monkeypatch.setattr(RequestCompiler, "compile", deaf)

    async def main():
        compiler = compiler_of(1)
        held = [asked(compiler, number, "a", {}) for number in range(6)]
        await until(lambda: len(begun) == 3)  # The first lane has four threads for such work.
        assert (await asyncio.wait_for(compiler.compile_async(HONEST, client="b"), WAIT)).kind == "choice"
        assert not any(task.done() for task in held)
        may_end.set()
        await asyncio.gather(*held)
        compiler.close()

    asyncio.run(main())


def test_a_request_that_is_cancelled_leaves_the_queue_of_its_client(monkeypatch):
    async def main():
        compiler = compiler_of(1)
        lane = compiler._pool._lanes[-1]
        tasks = [asked(compiler, number, "a") for number in range(5)]
        await until(lambda: compiler.num_waiting_of("a") == 4)
        for task in tasks[1:4]:
            task.cancel()
        await until(lambda: compiler.num_waiting_of("a") == 1)
        assert [len(queue) for queue in lane._queues.values()] == [1]
        tasks[4].cancel()
        await until(lambda: not lane._queues)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (await asyncio.wait_for(compiler.compile_async(HONEST | MANY, client="a"), WAIT)).kind == "choice"
        await until(lambda: not lane._due)
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())
    assert begun == ["slow0"]


def test_close_ends_the_compiles_of_every_client(monkeypatch):
    async def main():
        compiler = compiler_of(2)
        tasks = [asked(compiler, number, client) for number, client in enumerate(["a", "a", "b", "b", None, None])]
        await until(lambda: len(begun) == 2)
        compiler.close()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(error, interlock.CancelledError) and compiler.refusal(error).status == 503
        assert compiler.num_waiting == compiler.num_running == 0

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())


def test_what_has_no_hash_is_no_client():
    for body in (HONEST, {}):
        with pytest.raises(TypeError, match="unhashable"):
            asyncio.run(compiler_of(1).compile_async(body, client=[]))


def test_threads_of_slow_sources_end_when_they_have_nothing_to_do(monkeypatch):
    def threads():
        return sum(thread.name.startswith("interlock-compile") for thread in threading.enumerate())

    async def main():
        compiler, before = compiler_of(2), threads()
        for _ in range(2):  # Others take their place.
            may_end.clear()
            begun.clear()
            tasks = [asked(compiler, number, "a") for number in range(3)]
            await until(lambda: begun)
            assert threads() > before
            may_end.set()
            assert [(await task).kind for task in tasks] == ["regex"] * 3
            await until(lambda: threads() == before)
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())
