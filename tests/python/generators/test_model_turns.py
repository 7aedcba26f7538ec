"""A model that does one thing at a time: calls, streams and programs of several threads take turns."""

from __future__ import annotations

import asyncio
import gc
import threading

import numpy as np
import pytest
from generator_stand_ins import END, LlamaContext, bytes_and_end

import interlock
from interlock.generators import llama_cpp as llama_cpp_generator
from interlock.generators.prompts.model_turns import ModelTurns, TurnPieces, turns_of
from interlock.programs.cached_model import CachedModel

PATTERN = ["water is wet", "fire is hot", "ice is cold"]

pytestmark = pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning")


@pytest.fixture(scope="module")
def vocabulary():
    return bytes_and_end()


class Llama(LlamaContext):
    """A context that notices when two generations use it at once."""

    def __init__(self):
        self.reader = None
        self.inside = 0
        self.overlaps = 0
        self.begun = []

    def create_chat_completion(self, messages, max_tokens=None, stream=False, logits_processor=None):
        raise AssertionError("prompts are texts")

    def create_completion(self, prompt, max_tokens=16, stream=False, logits_processor=None, temperature=0.8):
        me = object()
        self.reader = me
        self.begun.append(prompt)
        ids = list(prompt.encode())
        for _ in range(max_tokens):
            # Another generation has taken the context in the middle of this one, or runs right now.
            self.inside += 1
            self.overlaps += self.reader is not me or self.inside > 1
            threading.Event().wait(0.0005)
            logits = np.arange(END + 1, dtype=np.float32)
            for processor in logits_processor:
                logits = processor(np.array(ids, dtype=np.intc), logits)
            self.inside -= 1
            token = int(np.argmax(logits))
            if token == END:
                return
            ids.append(token)
            yield {"choices": [{"text": chr(token)}]}


@pytest.fixture
def llama(vocabulary, monkeypatch):
    monkeypatch.setattr(llama_cpp_generator, "vocabulary_from_llama", lambda llama: vocabulary)
    return Llama()


def test_calls_of_several_threads_wait_for_each_other(llama):
    first, second = interlock.from_llama_cpp(llama), interlock.from_llama_cpp(llama)

    async def ask():
        calls = [asyncio.to_thread(gen, f"{i}", PATTERN) for i in range(4) for gen in (first, second)]
        return await asyncio.gather(*calls, asyncio.to_thread(first.batch, ["a", "b"], PATTERN))

    *values, batch = asyncio.run(ask())
    assert set(values) == set(batch) == {"water is wet"} and llama.overlaps == 0


def test_a_call_reads_an_open_stream_to_its_end_first(llama):
    gen = interlock.from_llama_cpp(llama)
    stream = gen.stream("s", PATTERN)
    assert llama.begun == [] and next(stream) == "w"
    assert gen("c", PATTERN) == "water is wet"
    assert llama.begun == ["s", "c"] and stream.text == "w"
    assert "".join(stream) == "ater is wet" and stream.value == "water is wet" and stream.finish_reason == "stop"
    one, other = gen.stream("a", PATTERN), gen.stream("b", PATTERN)
    assert "".join(a + b for a, b in zip(one, other)) == "".join(c + c for c in "water is wet")
    assert llama.overlaps == 0


def test_streams_that_are_read_in_threads(llama):
    gen = interlock.from_llama_cpp(llama)

    async def read(prompt):
        pieces = []
        async for piece in gen.stream(prompt, PATTERN):
            pieces.append(piece)
            # A call between two pieces, from the same task, waits for no one.
            if len(pieces) == 3:
                assert await asyncio.to_thread(gen, "c", PATTERN) == gen("d", PATTERN) == "water is wet"
        return "".join(pieces)

    async def all_of_them():
        return await asyncio.gather(*map(read, "abc"))

    assert asyncio.run(all_of_them()) == ["water is wet"] * 3 and llama.overlaps == 0


def test_a_stream_that_is_closed_or_dropped_is_not_read(llama):
    gen = interlock.from_llama_cpp(llama)
    for drops in (False, True):
        stream = gen.stream("s", PATTERN)
        next(stream)
        pieces = stream._pieces
        read = []
        pieces._read, inner = lambda read=read, inner=pieces._read: (read.append(1), inner()), pieces._pieces
        if drops:
            del stream, pieces
            gc.collect()
        else:
            stream.close()
        assert gen("c", PATTERN) == "water is wet" and read == []
        assert inner.gi_frame is None or drops
        del inner


def test_an_error_of_a_stream_is_its_readers(llama):
    gen = interlock.from_llama_cpp(llama)

    def pieces():
        yield "a"
        yield "b"
        raise ValueError("of the stream")

    stream = TurnPieces(turns_of(llama), pieces())
    assert next(stream) == "a"
    assert gen("c", PATTERN) == "water is wet"
    assert next(stream) == "b"
    with pytest.raises(ValueError, match="of the stream"):
        next(stream)
    assert list(stream) == []


def test_a_call_inside_of_a_call_is_refused(llama, vocabulary):
    gen = interlock.from_llama_cpp(llama)
    seen = []

    def processor(ids, logits):
        try:
            gen("inner", PATTERN)
        except interlock.GuideBusyError as error:
            seen.append(str(error))
        return logits

    assert gen("outer", PATTERN, logits_processor=[processor]) == "water is wet"
    assert "the middle of a call of this very thread" in seen[0]
    assert gen("next", PATTERN) == "water is wet"


def test_a_stream_that_is_closed_while_another_thread_reads_it():
    turns, reading, go_on = ModelTurns(), threading.Event(), threading.Event()

    def pieces():
        for _ in range(100):
            reading.set()
            go_on.wait()
            yield "x"

    inner = pieces()
    stream = TurnPieces(turns, inner)
    thread = threading.Thread(target=next, args=(stream, None))
    thread.start()
    reading.wait()
    stream.close()
    go_on.set()
    thread.join()
    assert inner.gi_frame is None
    with turns.turn():
        pass


def test_programs_of_several_threads_take_turns(vocabulary):
    class Model(CachedModel):
        overlaps = inside = 0

        def encode(self, text):
            return list(text.encode())

        def _kept(self, length, known):
            del self.cache[length:]
            return True

        def _forget(self):
            self.cache = []

        def _feed(self, ids):
            self.inside += 1
            self.overlaps += self.inside > 1
            self.cache += ids
            threading.Event().wait(0.001)
            # The logits say what the cache holds.
            self.inside -= 1
            return np.full(END + 1, sum(self.cache), dtype=np.float32)

    model = Model(vocabulary)
    wrong = []

    def ask(base):
        for i in range(20):
            ids = [base, base + 1, i]
            wrong.extend([ids] if model.logits(ids)[0] != sum(ids) else [])

    threads = [threading.Thread(target=ask, args=(base,)) for base in (10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and model.overlaps == 0
