"""``RequestCompiler.compile_async``: threads of its own, deadlines that begin with the work, known sources at once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pickle
import threading
import time

import pytest
from slow_compiles import MANY, WAIT, slow, slow_compiles, until

import interlock
from interlock.explain import byte_vocabulary
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._options import Options
from interlock.serving import RequestCompiler, compile_pool, known_sources

VOCABULARY = byte_vocabulary()
HONEST = {"guided_choice": ["yes", "no"]}


def threads_of_compilers():
    return {thread for thread in threading.enumerate() if thread.name.startswith("interlock-compile")}


def test_a_server_sees_how_many_compiles_wait_and_run(monkeypatch):
    def gauge(state):
        counts().registry.snapshot()
        return counts().compiles.value(state)

    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=1)
        monkeypatch.setattr(compile_pool, "_POOLS", [compiler._pool])  # Those of other tests may not be gone yet.
        assert (compiler.num_waiting, compiler.num_running) == (0, 0)
        # In the last lane nothing is held up for a moment alone.
        tasks = [asyncio.create_task(compiler.compile_async(slow(number, **MANY))) for number in range(5)]
        await until(lambda: compiler.num_waiting == 4)
        assert compiler.num_running == 1 and (gauge("waiting"), gauge("running")) == (4, 1)
        tasks[4].cancel()
        await until(lambda: compiler.num_waiting == 3)
        tasks[0].cancel()  # Its thread ends soon, and the next one begins.
        await until(lambda: compiler.num_waiting == 2 and compiler.num_running == 1)
        may_end.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        await until(lambda: compiler.num_running == 0)
        assert compiler.num_waiting == 0 and (gauge("waiting"), gauge("running")) == (0, 0)
        compiler.close()

    with slow_compiles(monkeypatch) as (_begun, may_end):
        asyncio.run(main())


def test_slow_sources_do_not_hold_up_quick_ones(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, format="hermes", seconds=None, compile_threads=1)
        held = [asyncio.create_task(compiler.compile_async(slow(number))) for number in range(8)]
        await until(lambda: begun)
        # They came behind all of them, and none of those ever ends.
        bodies = (HONEST, {"tools": [{"name": "now"}]}, {"guided_json": {"type": "integer"}, "stop": "a"})
        found = await asyncio.wait_for(asyncio.gather(*map(compiler.compile_async, bodies)), WAIT)
        assert [request.kind for request in found] == ["choice", "tools", "json_schema"]
        assert not any(task.done() for task in held)
        may_end.set()
        assert [(await task).kind for task in held] == ["regex"] * 8
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())


def test_work_that_does_not_hear_of_its_token_holds_up_nobody(monkeypatch):
    """``Index.guide`` has no token: of some patterns it takes seconds."""
    compile, begun, may_end, on_loop = RequestCompiler.compile, [], threading.Event(), []

    def deaf(self, body, *, cancel, **options):
        if "slow" in str(body.get("guided_regex")):
            on_loop.append(threading.current_thread() is threading.main_thread())
            begun.append(body)
            assert may_end.wait(WAIT)
        return compile(self, body, cancel=None, **options)

    monkeypatch.setattr(RequestCompiler, "compile", deaf)

    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=2)
        held = [asyncio.create_task(compiler.compile_async(slow(number))) for number in range(6)]
        await until(lambda: begun)
        assert (await asyncio.wait_for(compiler.compile_async(HONEST), WAIT)).kind == "choice"
        assert not any(task.done() for task in held)
        may_end.set()
        kept = await asyncio.gather(*held)
        # The event loop would have had to wait for it.
        assert (await compiler.compile_async(slow(0))).index == kept[0].index
        compiler.close()

    asyncio.run(main())
    assert len(on_loop) == 7 and not any(on_loop)


def test_a_slow_source_that_was_compiled_is_quick_from_then_on(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=1)
        task = asyncio.create_task(compiler.compile_async(slow(0)))
        await until(lambda: len(begun) == 3)
        may_end.set()
        await task
        may_end.clear()
        # The last lane is full, and the source is in the first.
        held = asyncio.create_task(compiler.compile_async(slow(1, **MANY)))
        await until(lambda: len(begun) == 4)
        begun.clear()
        compiler._known = known_sources.KnownSources()
        again = asyncio.create_task(compiler.compile_async(slow(0)))
        await until(lambda: begun)
        may_end.set()
        assert (await again).kind == (await held).kind == "regex"
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())


def test_a_source_that_the_second_lane_compiled_begins_in_the_first(monkeypatch):
    monkeypatch.setattr(compile_pool, "_LANES", (0.03, WAIT))

    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=1)
        for times in (2, 4):
            compiler._known = known_sources.KnownSources()
            may_end.clear()
            task = asyncio.create_task(compiler.compile_async(slow(0)))
            await until(lambda times=times: len(begun) == times)
            may_end.set()
            assert (await task).kind == "regex"
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())


def test_a_source_that_was_slow_begins_in_the_last_lane(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=0.5, compile_threads=1)
        for times in (3, 4):
            with pytest.raises(interlock.CancelledError) as caught:
                await compiler.compile_async(slow(0))
            assert len(begun) == times
            assert compiler.refusal(caught.value).status == 504
        compiler.close()
        # A deadline that is shorter than a lane's is the end.
        compiler = RequestCompiler(VOCABULARY, seconds=0.01, compile_threads=1)
        with pytest.raises(interlock.CancelledError):
            await compiler.compile_async(slow(0))
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())
    assert len(begun) == 5


def test_what_is_read_once_is_there_in_each_lane(monkeypatch):
    compile, seen = RequestCompiler.compile, []

    def late_at_first(self, body, *, cancel, **options):
        seen.append(list(options["context_ids"]))
        if len(seen) == 1:
            interlock.check_regex("a", cancel=interlock.CancelToken.after(0))
        return compile(self, body, cancel=cancel, **options)

    monkeypatch.setattr(RequestCompiler, "compile", late_at_first)
    asyncio.run(RequestCompiler(VOCABULARY).compile_async(HONEST, context_ids=iter([1, 2])))
    assert seen == [[1, 2], [1, 2]]


def test_a_deadline_begins_with_the_work_and_not_in_the_queue(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=1.0, compile_threads=1)
        held = [asyncio.create_task(compiler.compile_async(slow(number, **MANY))) for number in range(3)]
        await until(lambda: begun)
        honest = asyncio.create_task(compiler.compile_async(HONEST | MANY))
        failed = await asyncio.gather(*held, return_exceptions=True)
        assert all(isinstance(error, interlock.CancelledError) for error in failed)
        # It has waited for three deadlines.
        assert (await honest).kind == "choice"
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())
    assert len(begun) == 3


def test_what_needs_no_compile_takes_no_thread():
    async def main():
        compiler = RequestCompiler(VOCABULARY, format="hermes", seconds=None, compile_threads=1)
        tag = {"type": "tag", "begin": "<f>", "content": {"type": "json_schema", "json_schema": True}, "end": "</f>"}
        bodies = (
            *(HONEST, {"tools": [{"name": "now"}]}, {"guided_json": {"type": "integer"}, "stop": "a"}),
            *({"guided_regex": "a+"}, {"guided_grammar": 'start: "a" start | "b"'}, {"guided_json_object": True}),
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "null"}}}},
            {"response_format": {"type": "structural_tag", "format": tag}},
            {"structured_outputs": {"choice": ["a", "b"]}},
            {"tools": [{"name": "now"}], "tool_choice": "required", "guided_json": {"type": "null"}, "stop": "a"},
        )
        known = [await compiler.compile_async(body) for body in bodies]
        compiler.close()  # There is no thread any more.
        again = [compiler.compile_async({**body, "max_tokens": 99, "temperature": 1}) for body in bodies]
        found = await asyncio.wait_for(asyncio.gather(*again, compiler.compile_async({})), WAIT)
        assert [request.index for request in found] == [*[request.index for request in known], None]
        for wrong in ({"guided_jsn": {}}, {**slow(1), "n": 0}, {**slow(1), "best_of": 2}, {"tools": [{}] * 257}, 5):
            with pytest.raises(interlock.RequestError):
                await asyncio.wait_for(compiler.compile_async(wrong), WAIT)
        with pytest.raises(interlock.BudgetError):
            await asyncio.wait_for(compiler.compile_async({**HONEST, "max_tokens": 1}), WAIT)

    asyncio.run(main())


def test_a_source_that_is_asked_for_again_stays_known(monkeypatch):
    monkeypatch.setattr(known_sources, "_MOST_SOURCES", 2)

    async def main():
        compiler = RequestCompiler(VOCABULARY)
        held = [await compiler.compile_async({"guided_choice": [text]}) for text in "abac"]
        compiler.close()
        assert (await compiler.compile_async({"guided_choice": ["a"]})).index == held[0].index
        with pytest.raises(interlock.ArgumentError, match="closed"):
            await compiler.compile_async({"guided_choice": ["b"]})

    asyncio.run(main())


def test_a_source_that_has_left_the_cache_is_compiled_in_a_thread(monkeypatch):
    compiled, seen = RequestCompiler._compiled, []

    def late_on_the_loop(self, *arguments, **options):
        seen.append(threading.current_thread() is threading.main_thread())
        if seen[-1]:
            raise interlock.CancelledError("late")
        return compiled(self, *arguments, **options)

    monkeypatch.setattr(RequestCompiler, "_compiled", late_on_the_loop)

    async def main():
        compiler = RequestCompiler(VOCABULARY)
        for _ in range(2):
            assert (await compiler.compile_async(HONEST)).kind == "choice"
        compiler.close()

    asyncio.run(main())
    assert seen == [False, True, False]


@pytest.mark.parametrize(
    "many", [{f"a{number}": 1 for number in range(201)}, {"a": {"b": {f"{n}": 1 for n in range(201)}}}, {"a" * 101: 1}]
)
def test_a_body_of_many_fields_is_read_in_a_thread(monkeypatch, many):
    compiled, seen = RequestCompiler._compiled, []

    def where(self, *arguments, **options):
        seen.append(threading.current_thread() is threading.main_thread())
        return compiled(self, *arguments, **options)

    monkeypatch.setattr(RequestCompiler, "_compiled", where)

    async def main():
        compiler = RequestCompiler(VOCABULARY)
        for body in (many, {"logit_bias": dict.fromkeys("abc" * 99, 1)}):
            assert (await compiler.compile_async(body)).kind == "text"
        compiler.close()

    asyncio.run(main())
    assert seen == [False, True]


def test_a_store_behind_a_url_is_not_asked_by_the_event_loop(monkeypatch, tmp_path):
    pytest.importorskip("fsspec")
    compiled, seen = RequestCompiler._compiled, []

    def where(self, *arguments, **options):
        seen.append(threading.current_thread() is threading.main_thread())
        return compiled(self, *arguments, **options)

    monkeypatch.setattr(RequestCompiler, "_compiled", where)

    async def main(store):
        compiler = RequestCompiler(VOCABULARY, store=store)
        for _ in range(2):
            await compiler.compile_async(HONEST)
        compiler.close()

    asyncio.run(main(interlock.Store(tmp_path / "here")))
    asyncio.run(main(interlock.Store("memory://compiles", cache=tmp_path / "cache")))
    assert seen == [False, True, False, False]


def test_so_many_sources_are_compiled_at_once(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=2)
        held = [asyncio.create_task(compiler.compile_async(slow(number, **MANY))) for number in range(5)]
        await until(lambda: len(begun) == 2)
        await asyncio.sleep(0.1)
        assert len(begun) == len(set(begun)) == 2
        may_end.set()
        assert [(await task).kind for task in held] == ["regex"] * 5
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, may_end):
        asyncio.run(main())
    with pytest.raises(interlock.ArgumentError, match="compile_threads is 0"):
        RequestCompiler(VOCABULARY, compile_threads=0)


@pytest.mark.parametrize("processors", [None, 1, 6, 64])
def test_the_default_is_that_of_the_plug_ins(monkeypatch, processors):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert RequestCompiler(VOCABULARY)._pool.threads == Options().compile_threads


def test_a_request_whose_client_has_gone_leaves_the_queue(monkeypatch):
    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=1)
        held = asyncio.create_task(compiler.compile_async(slow(0, **MANY)))
        await until(lambda: begun)
        waits = asyncio.create_task(compiler.compile_async(slow(1, **MANY)))
        await asyncio.sleep(0.01)
        waits.cancel()
        held.cancel()
        for task in (held, waits):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert (await asyncio.wait_for(compiler.compile_async(HONEST | MANY), WAIT)).kind == "choice"
        compiler.close()

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())
    assert len(begun) == 1


def test_the_deadline_of_compile_begins_before_the_body_is_read(monkeypatch):
    """Without a thread, too."""
    read = RequestCompiler._read

    def slow_read(self, body):
        time.sleep(0.05)
        return read(self, body)

    monkeypatch.setattr(RequestCompiler, "_read", slow_read)
    with pytest.raises(interlock.CancelledError) as caught:
        RequestCompiler(VOCABULARY, seconds=0.02).compile(HONEST)
    assert caught.value.is_deadline and interlock.refusal(caught.value).status == 504
    assert RequestCompiler(VOCABULARY, seconds=None).compile(HONEST).kind == "choice"


def test_close_ends_compiles_and_threads(monkeypatch):
    before = threads_of_compilers()

    async def main():
        compiler = RequestCompiler(VOCABULARY, seconds=None, compile_threads=2)
        request = await compiler.compile_async(HONEST)
        held = [asyncio.create_task(compiler.compile_async(slow(number, **MANY))) for number in range(5)]
        await until(lambda: len(begun) == 2)
        compiler.close()
        compiler.close()
        assert threads_of_compilers() <= before
        for error in await asyncio.gather(*held, return_exceptions=True):
            assert isinstance(error, interlock.CancelledError)
            answer = compiler.refusal(error)  # The server goes, and not the client.
            assert (answer.status, answer.reason, answer.body["error"]["code"]) == (503, "closed", "closed")
            assert (error.code, error.is_client_error, answer.headers) == ("closed", False, {"Retry-After": "1"})
        with pytest.raises(interlock.ArgumentError, match="closed") as caught:
            await compiler.compile_async(slow(9))
        answer = compiler.refusal(caught.value)
        assert (answer.status, answer.reason, answer.is_of_server) == (503, "closed", False)
        assert answer.message == "the server is shutting down: send the request again"
        assert (await compiler.compile_async({})).kind == "text"
        assert compiler.compile(HONEST, cancel=None).index == request.index

    with slow_compiles(monkeypatch) as (begun, _):
        asyncio.run(main())


def test_a_compiler_that_is_dropped_leaves_no_thread():
    before = threads_of_compilers()

    async def main():
        await RequestCompiler(VOCABULARY).compile_async(HONEST)
        gc.collect()
        await until(lambda: threads_of_compilers() <= before)

    asyncio.run(main())


def test_a_pickled_compiler_has_threads_of_its_own():
    async def main():
        compiler = RequestCompiler(VOCABULARY, compile_threads=3)
        await compiler.compile_async(HONEST)
        other = pickle.loads(pickle.dumps(compiler))
        compiler.close()
        assert other._pool.threads == 3
        assert (await other.compile_async(HONEST)).kind == "choice"
        other.close()

    asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_has_threads_of_its_own():
    compiler = RequestCompiler(VOCABULARY, compile_threads=1)
    asyncio.run(compiler.compile_async(HONEST))
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            found = asyncio.run(asyncio.wait_for(compiler.compile_async({"guided_choice": ["a", "b"]}), WAIT))
            code = 0 if found.kind == "choice" else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    compiler.close()


def test_nothing_of_a_compile_waits_for_the_collector_of_garbage(monkeypatch):
    """A compile that ends in a lane and begins anew leaves an error, whose frames would hold what was compiled."""
    monkeypatch.setattr(compile_pool, "_LANES", (0.0, 0.0))

    def left():
        return sum(isinstance(one, interlock.InterlockError | asyncio.Future) for one in gc.get_objects())

    async def main():
        compiler = RequestCompiler(VOCABULARY, compile_threads=2)
        await compiler.compile_async({"guided_regex": "b{3}"})
        before = left()
        for text in [f"a{{{number}}}(b|c)+" for number in range(2, 12)] + ["("]:
            with contextlib.suppress(interlock.PatternError):
                await compiler.compile_async({"guided_regex": text})
        for _ in range(100):  # The loop and a thread let go of the last one when they come to it.
            await asyncio.sleep(0.001)
            if (found := left() - before) <= 0:
                break
        compiler.close()
        return found

    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(main()) <= 0
    finally:
        gc.enable()
