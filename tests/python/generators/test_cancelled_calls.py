"""Awaited calls that nobody awaits any longer: the model stops behind its next token."""

from __future__ import annotations

import asyncio
import inspect
import threading
import warnings

import interlock
import pytest
from generator_stand_ins import User
from scripted_generator import ScriptedGenerator
from test_generator_servers import ADA, Client

LONG = '"' + "one two three four five six seven " * 40 + '"'


class Counter:
    """Counts the calls of a function. From the fourth one on it waits until the task is cancelled."""

    def __init__(self, call):
        self.call, self.calls = call, 0
        self.begun, self.cancelled = threading.Event(), threading.Event()

    def __call__(self, *args, **options):
        self.calls += 1
        if self.calls >= 4:
            self.begun.set()
            assert self.cancelled.wait(60)
        return self.call(*args, **options)


def cancelled(gen, counter, *args, **options):
    """Cancel an awaited call in the middle of its fourth call of the model, and wait for its thread."""

    async def run():
        task = asyncio.ensure_future(gen.agenerate(*args, **options))
        await asyncio.to_thread(counter.begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        counter.cancelled.set()

    # asyncio.run returns when the threads have ended.
    with warnings.catch_warnings():
        warnings.simplefilter("error", pytest.PytestUnhandledThreadExceptionWarning)
        asyncio.run(run())


@pytest.mark.parametrize("prompts", ["N", ["N", "N", "N"]])
def test_a_cancelled_call_stops_the_model(prompts):
    gen = ScriptedGenerator({"N": LONG})
    model = gen.cached_model()
    counter = model._feed = Counter(model._feed)
    cancelled(gen, counter, prompts, list[str] | str, max_tokens=300)
    assert counter.calls == 4
    # The model goes on with other calls.
    assert gen("N", list[str] | str, max_tokens=12, on_tight="ignore")
    assert counter.calls > 4


def test_timeouts_are_those_of_asyncio():
    gen = ScriptedGenerator({"N": LONG})
    model = gen.cached_model()
    counter = model._feed = Counter(model._feed)

    async def run():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(gen.agenerate("N", str, max_tokens=300), 0.05)
        counter.cancelled.set()

    asyncio.run(run())
    assert counter.calls <= 4


@pytest.mark.parametrize("options", [{}, {"jump_forward": False}, {"stop": ["\n\n\n\n"]}])
@pytest.mark.parametrize("prompts", ["Hello", ["Hello", "Hi"]])
def test_a_model_of_transformers_stops(options, prompts):
    pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    gen = interlock.from_transformers(model, tokenizer)
    counter = model.forward = Counter(model.forward)
    counter.__signature__ = inspect.signature(counter.call)
    cancelled(gen, counter, prompts, str, max_tokens=40, **options)
    assert counter.calls == 4


def test_texts_of_llama_cpp_stop():
    from interlock.generators.cancelled_calls import until_flagged
    from interlock.generators.llama_cpp import _texts_of

    flag, asked = threading.Event(), []

    def chunks():
        for i in range(9):
            asked.append(i)
            if i == 3:
                flag.set()
            yield {"choices": [{"text": "a"}]}

    assert until_flagged(flag, lambda: list(_texts_of(chunks(), [], []))) is None
    assert asked == [0, 1, 2, 3]


def test_a_batch_of_a_client_begins_no_more_requests():
    client = Client(ADA)
    counter = client.chat.completions.create = Counter(client.create)
    counter.__signature__ = inspect.signature(client.create)
    cancelled(interlock.from_openai(client, "m"), counter, ["Hi."] * 400, User, max_tokens=60)
    assert counter.calls < 40
