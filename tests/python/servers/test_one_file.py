"""The server in one file of the documentation, as strangers would try it: many at once, hostile ones, faults."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import json
import logging
import re
import time
import weakref
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import interlock
import pytest
from interlock.integrations import server_counts

PAGE = Path(__file__).parents[3] / "docs" / "servers" / "one-file.md"
WAIT = 120
"""Seconds after which a test has failed; nothing takes as long."""
CLOSED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
KINDS = [
    {"guided_choice": ["yes", "no"]},
    {"guided_json": CLOSED, "max_tokens": 40},
    {"guided_regex": "[a-f]{3,9}", "n": 3, "seed": 5},
    {"guided_grammar": 'start: "(" start ")" | "x"', "max_tokens": 30},
    {"tools": [NOW], "tool_choice": "required", "max_tokens": 90},
    {"tools": [NOW], "max_tokens": 30, "stop": ["e", "a"]},
    {"max_tokens": 9, "min_tokens": 9, "temperature": 0},
    {"response_format": {"type": "json_object"}, "max_tokens": 50, "stream": True},
]
USAGE = {"stream": True, "stream_options": {"include_usage": True}}
HOSTILE = [
    *([], 5, None, "x", {"n": 0}, {"n": 10**9}, {"stop": [1]}, {"stop": ""}, {"seed": "x"}, {"seed": -1}),
    *({"temperature": "hot"}, {"temperature": float("nan")}, {"temperature": -1}, {"max_tokens": 0}, {"guided_jsn": 1}),
    *({"guided_regex": "("}, {"guided_regex": "a{1000000000}"}, {"guided_regex": "(a*)*" * 500 + "("}, {"tools": 5}),
    *({"guided_json": 5}, {"guided_json": "{"}, {"guided_json": {"$ref": "#"}}, {"guided_json": {"type": []}}),
    *({"guided_json": {"enum": []}}, {"guided_json": False}, {"guided_choice": []}, {"guided_choice": [""], "n": 200}),
    *({"guided_grammar": "start: start"}, {"guided_grammar": "root ::="}, {"guided_grammar": ""}, {"guided_choice": 5}),
    *({"tools": [{}]}, {"tools": [NOW, NOW]}, {"tool_choice": "required"}, {"tools": [NOW], "tool_choice": "x"}),
    *({"response_format": {"type": "json"}, "guided_json": True}, {"response_format": {"type": "xml"}}, {"format": {}}),
    *({"stream_options": 5}, {"stream_options": {"include_usage": 1}, "stream": True}),
    *({"stream": "yes"}, {"stop_token_ids": [-1]}, {"stop_token_ids": [10**30]}, {"min_tokens": -5}, {"best_of": 5}),
    *({"guided_regex": "\ud800"}, {"guided_json": {"pattern": "(", "type": "string"}}, {"guided_choice": ["\ud800"]}),
    {"guided_grammar": "start: " + " | ".join(f'/.*a.{{{number}}}/ "x"' for number in range(14))},
    {"guided_grammar": 'start: "[" item\nitem: ' + " | ".join(f'/.*b.{{{number}}}/ "x"' for number in range(14))},
]


def page():
    """The names of the page's first program."""
    if not PAGE.is_file():
        pytest.skip("the documentation is not here")
    names = {"__name__": "page"}
    block = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)
    return names


def with_engine(use, limits=None):
    """What ``use`` returns, called with the names of the page and a running engine."""

    async def main():
        names = page()
        bounds = limits or {"max_mask_steps": 20_000}
        compiler = names["RequestCompiler"](names["vocabulary"], format="hermes", limits=bounds, seconds=2.0)
        engine = names["Engine"](compiler)
        found = await asyncio.wait_for(use(names, engine), WAIT)
        await asyncio.wait_for(engine.close(), WAIT)
        assert not engine.rows
        return found

    return asyncio.run(main())


async def answered(names, engine, body, client=None):
    sent = []

    async def send(text):
        sent.append(text)

    status, headers, answer = await names["handle"](engine, json.dumps(body).encode(), send, client=client)
    assert (headers == {"Retry-After": "1"}) == (status in (429, 503)), (status, headers)
    return status, answer, sent


def test_many_at_once_among_hostile_ones():
    async def use(names, engine):
        bodies = [*KINDS, *HOSTILE, *KINDS]
        return bodies, await asyncio.gather(*(answered(names, engine, body) for body in bodies))

    bodies, found = with_engine(use)
    for body, (status, answer, sent) in zip(bodies, found, strict=True):
        if body in KINDS:
            assert status == 200 and len(answer["choices"]) == body.get("n", 1), body
            assert all(choice["finish_reason"] in ("stop", "length", "tool_calls") for choice in answer["choices"])
        else:
            assert status in (200, 400, 413, 504), (body, answer)
        json.dumps(answer, allow_nan=False)
        if status == 200 and body.get("stream"):
            chunks = [json.loads(text[6:])["choices"][0] for text in sent[:-1]]
            text = "".join(chunk["delta"].get("content", "") for chunk in chunks)
            assert text == answer["choices"][0]["message"]["content"] and sent[-1] == "data: [DONE]\n\n"
    one, other = found[2], found[len(bodies) - len(KINDS) + 2]
    for answer in (one[1], other[1]):  # Outputs of one seed differ by their number.
        assert len({choice["message"]["content"] for choice in answer["choices"]}) == 3


@pytest.mark.parametrize("call", ["fill_bitmasks_within", "advance_each"])
@pytest.mark.parametrize("name", ["LimitError", "ArtifactError", "InternalError"])
def test_a_guide_that_fails_ends_its_request_alone(monkeypatch, call, name):
    real = getattr(interlock, call)
    failed = []

    def failing(guides, *given):
        at = next((at for at, guide in enumerate(guides) if guide is not None and guide.index.kind == "regex"), None)
        if at is None or (call == "advance_each" and failed):
            return real(guides, *given)
        error = getattr(interlock, name)("no")
        answer = real([None if number == at else guide for number, guide in enumerate(guides)], *given)
        if call == "advance_each":
            error.batch_outcomes = answer
        else:
            error.batch_late = tuple(answer)
        failed.append(at)
        error.batch_index = at
        raise error

    monkeypatch.setattr(interlock, call, failing)

    async def use(names, engine):
        bodies = [{"guided_choice": ["a"]}, {"guided_json": {"const": 5}}, {"guided_regex": "a{5}"}, {"max_tokens": 3}]
        return await asyncio.gather(*(answered(names, engine, body) for body in bodies))

    found = with_engine(use)
    assert failed
    assert [status for status, _, _ in found] == [200, 200, 400 if name == "LimitError" else 500, 200]


def test_outputs_that_fail_in_one_step_end_their_requests_alone(monkeypatch):
    """Both outputs of a request, and those of another one, come to a mask that is too much work in the same step."""
    many = " | ".join(f'/.*a.{{{number}}}/ "x"' for number in range(14))
    hostile = [{"guided_grammar": f'start: "{char}" item\nitem: {many}', "n": 2} for char in "[("]
    real, several = interlock.fill_bitmasks_within, []

    def watched(guides, bits, seconds):
        try:
            return real(guides, bits, WAIT)  # Whatever the threads of this machine do, all fail in this call.
        except interlock.LimitError as error:
            several.append(1 + len(error.batch_others))
            raise

    monkeypatch.setattr(interlock, "fill_bitmasks_within", watched)

    async def use(names, engine):
        step, begun = names["step"], []

        def together(batch):
            if begun or len(batch) == 6:  # All are there before the first step.
                begun.append(step(batch))

        names["step"], names["forced_by"] = together, lambda guide: []
        bodies = [*hostile, KINDS[0], {"max_tokens": 40}]
        return await asyncio.gather(*(answered(names, engine, body) for body in bodies))

    found = with_engine(use, {"max_mask_steps": 1_000})
    assert [status for status, _, _ in found] == [400, 400, 200, 200]
    assert all(answer["error"]["code"] == "limit" for _, answer, _ in found[:2])
    assert found[1][1]["error"]["param"] == "/guided_grammar"
    assert several == [4]


def test_a_model_that_fails_ends_the_requests_of_its_batch_and_no_other(caplog):
    async def use(names, engine):
        real = names["model_step"]

        def fail(batch):
            names["model_step"] = real
            raise RuntimeError("no memory on the device")

        names["model_step"] = fail
        first = await answered(names, engine, {"guided_choice": ["yes"]})
        return first, await answered(names, engine, {"guided_choice": ["yes"]})

    (first, second) = with_engine(use)
    assert first[:2][0] == 500 and "device" not in json.dumps(first[1]) and second[0] == 200
    assert "no memory on the device" in caplog.text  # The client is not told, so the log is.


def without_collector(use):
    """What ``use`` returns of an engine, without the collector of garbage: what lives on is held."""
    gc.collect()
    gc.disable()
    logging.disable()  # The records of a log that are kept hold tracebacks.
    try:
        return with_engine(use, {"max_mask_steps": 1_000})
    finally:
        gc.enable()
        logging.disable(logging.NOTSET)


def test_an_error_holds_nothing_of_a_request_that_is_over():
    """Nobody waits for the collector of garbage: guides hold their sources, which are large where they are hostile."""
    many = " | ".join(f'/.*a.{{{number}}}/ "x"' for number in range(14))
    hostile = {"guided_grammar": f'start: "[" item\nitem: {many}'}
    made = []

    async def use(names, engine):
        class Watched(names["Output"]):
            def __init__(self, *given):
                super().__init__(*given)
                made.append(weakref.ref(self))

        def fail(batch):
            raise RuntimeError("no memory on the device")

        names["Output"] = Watched
        statuses = []
        for body in ({"guided_choice": ["yes"]}, hostile, {"guided_choice": ["yes"]}):
            statuses.append((await answered(names, engine, body))[0])
            names["model_step"] = fail if len(statuses) == 2 else names["model_step"]
        for _ in range(1000):  # The engine forgets its rows when it looks for new ones.
            if not engine.rows:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        return statuses, [output for output in made if output() is not None]

    statuses, held = without_collector(use)
    assert statuses == [200, 400, 500]
    assert len(made) == 3 and not held


def test_outputs_that_nobody_reads_any_more_hold_nothing():
    """The others of an output that failed, and those of a client that went: nothing waits for the collector."""
    many = " | ".join(f'/.*a.{{{number}}}/ "x"' for number in range(14))
    hostile = {"guided_grammar": f'start: "[" item\nitem: {many}', "n": 2, "stream": True}
    long = {"guided_regex": "[ab]{3000}", "n": 2, "stream": True}
    made = []

    async def use(names, engine):
        class Watched(names["Output"]):
            def __init__(self, *given):
                super().__init__(*given)
                made.extend(weakref.ref(one) for one in (self, self.request, self.reply))

        async def send_and_wait(text):
            arrived.set()
            await asyncio.sleep(WAIT)  # The outputs go on, and fill the queue.

        def fail(batch):
            raise RuntimeError("no memory on the device")

        names["Output"], arrived = Watched, asyncio.Event()
        task = asyncio.create_task(names["handle"](engine, json.dumps(long).encode(), send_and_wait))
        await arrived.wait()
        while len(engine.rows[0].tokens) < 9:
            await asyncio.sleep(0.001)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        del task
        statuses = [(await answered(names, engine, hostile))[0]]
        names["model_step"] = fail
        statuses.append((await answered(names, engine, long))[0])
        while engine.rows:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        return statuses, [one() for one in made if one() is not None]

    statuses, held = without_collector(use)
    assert statuses == [400, 500] and len(made) == 18
    assert not held, Counter(type(one).__name__ for one in held)


def test_a_server_with_too_much_to_do_says_so(monkeypatch):
    async def use(names, engine):
        with monkeypatch.context() as patched:
            patched.setattr(type(engine.compiler), "num_waiting", names["MOST_WAITING"])
            busy = await answered(names, engine, {"guided_choice": ["yes"]})
        with monkeypatch.context() as patched:
            patched.setitem(names, "MOST_OUTPUTS", 0)
            full = await answered(names, engine, {"guided_choice": ["yes"]})
        return busy, full, await answered(names, engine, {"guided_choice": ["yes"]})

    *refused, later = with_engine(use)
    assert all(status == 503 and "busy" in answer["error"]["message"] for status, answer, _ in refused)
    assert later[0] == 200


def test_bodies_that_are_here_are_bounded_together_and_large_ones_wait_for_no_forced_tokens():
    async def use(names, engine):
        first, seen, output = names["Output"], [], names["Output"].take

        def take(self, *arguments):
            seen.append(self.jumps)
            output(self, *arguments)

        first.take = take
        long = {"guided_choice": [f"a{number}" for number in range(9_000)]}
        found = [(await answered(names, engine, body))[0] for body in (KINDS[0], long)]
        wrong = {"guided_choice": [[]] * 120_000}
        refused = [await answered(names, engine, body) for body in (wrong, {"user": "x" * (1 << 20)})]
        before = engine.bytes
        engine.bytes = names["MOST_BYTES"]
        full = await answered(names, engine, KINDS[0])
        assert engine.bytes == names["MOST_BYTES"] and before == 0
        engine.bytes = 0
        return found, set(seen), [one[0] for one in refused], full[0]

    assert with_engine(use) == ([200, 200], {True, False}, [400, 413], 503)


def test_a_client_with_too_many_sources_is_429_and_no_other(monkeypatch):
    async def use(names, engine):
        most, _ = names["MOST_OF_CLIENT"]
        waiting = {"a": most, None: most}
        monkeypatch.setattr(type(engine.compiler), "num_waiting_of", lambda self, client: waiting.get(client, 0))
        return [(await answered(names, engine, KINDS[0], client))[0] for client in ("a", "b", None)]

    assert with_engine(use) == [429, 200, 200]


def test_a_client_with_many_outputs_fills_neither_the_server_nor_the_batch():
    many = {"guided_regex": "[ab]{3000}", "n": 8, "max_tokens": 4000}

    async def use(names, engine):
        _, most = names["MOST_OF_CLIENT"]
        running = [asyncio.create_task(answered(names, engine, many, "a")) for _ in range(2 * most // 8)]
        while sum(not row.has_left for row in engine.rows) < most // 8 * 8:
            await asyncio.sleep(0.01)
        few = {"guided_choice": ["yes"], "n": 8}
        statuses = [(await answered(names, engine, few, client))[0] for client in ("a", "b", "c")]
        rows = [SimpleNamespace(client=client) for client in ("a",) * 40 + ("b",) * 2]
        shares = Counter(row.client for row in names["Engine"].next_batch(SimpleNamespace(rows=rows)))
        for task in running:
            task.cancel()
        found = await asyncio.gather(*running, return_exceptions=True)
        return (
            statuses,
            shares,
            [one[0] for one in found if not isinstance(one, BaseException)],
            len(engine.rows) <= most,
        )

    statuses, shares, refused, is_bounded = with_engine(use)
    assert statuses == [429, 200, 200] and shares == {"a": 30, "b": 2} and is_bounded
    assert refused and set(refused) <= {429}


def test_the_compiler_knows_the_client(monkeypatch):
    async def use(names, engine):
        seen, compile_async = [], type(engine.compiler).compile_async

        async def watched(self, body, *, client, **options):
            seen.append(client)
            return await compile_async(self, body, client=client, **options)

        monkeypatch.setattr(type(engine.compiler), "compile_async", watched)
        await answered(names, engine, KINDS[0], "a")
        return seen

    assert with_engine(use) == ["a"]


def test_replies_and_chunks_are_those_of_openai():
    async def use(names, engine):
        sent = []

        async def send(text):
            sent.append(text)

        body = {"guided_choice": ["yes"], "n": 2}
        whole = await names["handle"](engine, json.dumps(body).encode(), send)
        assert not sent
        await names["handle"](engine, json.dumps(body | USAGE).encode(), send)
        return whole[2], sent

    answer, sent = with_engine(use)
    chunks = [json.loads(text.removeprefix("data: ")) for text in sent[:-1]]
    for one, kind in ((answer, "chat.completion"), *((chunk, "chat.completion.chunk") for chunk in chunks)):
        assert (one["object"], one["model"]) == (kind, "my-model") and isinstance(one["created"], int)
        assert one["id"].startswith("chatcmpl-")
    assert len({chunk["id"] for chunk in chunks}) == 1 and chunks[0]["id"] != answer["id"]
    # Both outputs have the three bytes and the stop token.
    assert answer["usage"] == {"prompt_tokens": 6, "completion_tokens": 8, "total_tokens": 14}
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"] == answer["usage"]
    assert not any("usage" in chunk for chunk in chunks[:-1])


def test_the_metrics_know_what_happened(monkeypatch):
    monkeypatch.setattr(server_counts, "_counts", None)

    async def use(names, engine):
        for body in (KINDS[0], KINDS[6], {"guided_json": {"type": "strnig"}}):
            await answered(names, engine, body)
        with monkeypatch.context() as patched:
            patched.setitem(names, "MOST_OUTPUTS", 0)
            await answered(names, engine, KINDS[0])
        engine.rows = [names["Output"].__new__(names["Output"]) for _ in range(40)]
        try:
            return names["metrics"](engine).splitlines()
        finally:
            engine.rows = []

    found = with_engine(use)
    for line in (
        'interlock_requests_total{kind="choice"} 1',
        'interlock_refusals_total{reason="schema",where="engine"} 1',
        'interlock_refusals_total{reason="busy",where="engine"} 1',
        'interlock_server_outputs{state="running"} 32',
        'interlock_server_outputs{state="waiting"} 8',
    ):
        assert line in found, line
    names = {line.split("{")[0].split(" ")[0] for line in found}
    told = {"interlock_rows_total", "interlock_fill_seconds_count", "interlock_core_late_masks_total"}
    assert told | {"interlock_core_held_bytes", "interlock_compiles"} <= names


def test_a_client_that_goes_frees_its_rows():
    async def use(names, engine):
        arrived = asyncio.Event()

        async def send(text):
            arrived.set()
            await asyncio.sleep(0)

        body = {"guided_regex": "[ab]{4000}", "n": 4, "stream": True}
        long = asyncio.create_task(names["handle"](engine, json.dumps(body).encode(), send))
        await arrived.wait()
        assert len(engine.rows) == 4
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert all(row.has_left for row in engine.rows)
        return await answered(names, engine, {"guided_choice": ["yes"]})

    assert with_engine(use)[0] == 200


def test_an_output_that_takes_too_long_ends_as_it_is_and_so_does_one_that_waits_for_a_row():
    async def use(names, engine):
        real = names["model_step"]
        names["model_step"] = lambda batch: time.sleep(0.001) or real(batch)  # 4,000 tokens take longer.
        names["MOST_ROWS"], names["MOST_OUTPUT_SECONDS"] = 1, 0.2
        endless = [{"guided_regex": "[ab]{4000}"}, {"guided_json": {"type": "string", "minLength": 3000}} | USAGE]
        overdue = await asyncio.gather(*(answered(names, engine, body) for body in endless))
        names["MOST_OUTPUT_SECONDS"] = 300
        return overdue, await answered(names, engine, KINDS[0])

    (first, second), later = with_engine(use)
    assert [one[0] for one in (first, second, later)] == [200, 200, 200]
    choices = [answer["choices"][0] for _, answer, _ in (first, second, later)]
    assert [choice["finish_reason"] for choice in choices] == ["length", "length", "stop"]
    assert set(choices[0]["message"]["content"]) <= set("ab") and first[1]["usage"]["completion_tokens"] < 4000
    ends = [json.loads(text[6:])["choices"] for text in second[2][:-1]]
    assert [one["finish_reason"] for choices in ends for one in choices if one["finish_reason"]] == ["length"]


def test_what_runs_ends_at_shutdown_and_what_comes_is_503():
    async def use(names, engine):
        running = [asyncio.create_task(answered(names, engine, body)) for body in KINDS]
        while len(engine.rows) < 8:
            await asyncio.sleep(0.001)
        await engine.close()
        late = await asyncio.gather(*(answered(names, engine, body) for body in KINDS[:2]))
        codes = {answer["error"]["code"] for _, answer, _ in late}
        return [status for status, _, _ in await asyncio.gather(*running)], [status for status, _, _ in late], codes

    running, late, codes = with_engine(use)
    assert codes == {"closed"}
    assert set(running) <= {200, 503} and running.count(200) >= 6
    assert late == [503, 503]
