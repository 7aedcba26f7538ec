"""The vLLM plug-in's checks of requests before the engine, with stand-ins for vLLM's modules."""

import asyncio
from types import SimpleNamespace

import pytest
from vllm_requests import HOSTILE, MODEL, outputs, params

import interlock
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.front_end import Checks, FrontEnd
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.sources import Source


class ClientError(Exception):
    """Stands in for vLLM's validation error."""


@pytest.fixture
def front():
    return FrontEnd(Options(limits='{"max_compile_steps": 20000}'), Counts(), ClientError)


def sampling(**constraint):
    return SimpleNamespace(structured_outputs=params(**constraint), max_tokens=20)


def test_a_good_request_is_marked(front):
    asked = sampling(regex="a+")
    front.validate(asked, MODEL, object(), "interlock")
    front.validate(asked, MODEL, object(), "interlock")
    assert asked.structured_outputs._backend == "interlock"
    assert front.counts.check_seconds.count("accepted") == 1


@pytest.mark.parametrize(
    ("asked", "model", "tokenizer", "message"),
    [
        (sampling(regex="a("), MODEL, object(), "PatternError: missing"),
        (sampling(regex="a", _backend="xgrammar"), MODEL, object(), "asks for the backend 'xgrammar'"),
        (sampling(regex="a"), MODEL, None, "skip_tokenizer_init"),
        (sampling(regex="a"), SimpleNamespace(is_diffusion=True), object(), "diffusion"),
    ],
)
def test_bad_requests_are_the_clients_error(front, asked, model, tokenizer, message):
    with pytest.raises(ClientError, match=message):
        front.validate(asked, model, tokenizer, "interlock")


def test_a_source_is_checked_in_a_thread_and_only_once(front, caplog):
    async def serve():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticker = asyncio.create_task(tick())
        for _ in range(2):
            with pytest.raises(ClientError, match="LimitError"):
                await front.prepare("r7", sampling(regex=HOSTILE))
                front.validate(sampling(regex=HOSTILE), MODEL, object(), "interlock")
        await front.prepare("r8", sampling(json={}))
        ticker.cancel()
        return ticks

    # A loop that checks by itself turns a few times.
    assert asyncio.run(serve()) > 20
    assert front.counts.check_seconds.count("refused") == 1
    assert "request r7: refused: LimitError" in caplog.text


def test_a_check_ends_at_its_deadline():
    checks = Checks(Options(deadline=0.05), Counts())
    for _ in range(2):
        with pytest.raises(interlock.LimitError, match="took longer than"):
            checks.check(Source("regex", HOSTILE))
    # It depends on the machine's load, so it is not remembered.
    assert not checks.known(Source("regex", HOSTILE))[0]


def test_what_was_checked_is_forgotten_in_the_end(monkeypatch):
    monkeypatch.setattr(Checks, "SIZE", 2)
    checks = Checks(Options(), Counts())
    for text in "abc":
        checks.check(Source("regex", text))
    assert [checks.known(Source("regex", text))[0] for text in "abc"] == [False, True, True]


def test_requests_with_one_source_share_a_check(front):
    async def serve():
        asked = [front.prepare(f"r{n}", sampling(json={"minLength": 3})) for n in range(8)]
        aborted = asyncio.create_task(front.prepare("r9", sampling(json={"minLength": 3})))
        await asyncio.sleep(0)
        aborted.cancel()
        await asyncio.gather(*asked)

    asyncio.run(serve())
    assert front.counts.check_seconds.count("accepted") == 1 and not front._running


def explained(front, asked, *reasons):
    async def collect():
        return [
            o.outputs[0].finish_reason async for o in front.explained(outputs(*reasons), "r", asked, MODEL, object())
        ]

    return asyncio.run(collect())


def test_the_engines_refusal_becomes_the_clients_error(front, byte_vocabulary, monkeypatch):
    from interlock.integrations.vllm import front_end

    monkeypatch.setattr(front_end, "vocabulary_of", lambda *given: byte_vocabulary)
    assert explained(front, sampling(regex="a+"), None, "stop") == [None, "stop"]
    # An error that interlock has not made stays what it is.
    assert explained(front, sampling(regex="a+"), "error") == ["error"]
    with pytest.raises(ClientError, match="BudgetError: max_tokens is 20"):
        explained(front, sampling(regex="a{60}"), "error")
