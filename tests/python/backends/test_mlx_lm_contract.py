"""The mlx-lm integration with a stand-in for ``mlx.core`` and loops in the order of mlx-lm 0.32.2's."""

from __future__ import annotations

import json
import re
import sys
import types

import numpy as np
import pytest

import interlock
from interlock.integrations.mlx_lm import (
    BatchReply,
    GuideLogitsProcessor,
    Triggered,
    constrained_batch,
    vocabulary_from_mlx,
)

EOS, WIDTH = 256, 280


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[EOS])


@pytest.fixture(autouse=True)
def mlx(monkeypatch):
    """NumPy in the place of ``mlx.core``, as far as it is used."""
    package, core = types.ModuleType("mlx"), types.ModuleType("mlx.core")
    package.core = core
    core.array = lambda values, dtype=None: np.asarray(values, dtype=dtype)
    core.where = np.where
    core.async_eval = lambda *arrays: None
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    monkeypatch.delitem(sys.modules, "mlx_lm", raising=False)
    return core


def logits_after(ids, salt=0):
    rng = np.random.default_rng([salt, len(ids), *map(int, ids)])
    return (rng.normal(size=(1, WIDTH)) * 3).astype(np.float32)


def generate(prompt, processors, max_tokens=256, salt=0, logits=logits_after):
    """One sequence. mlx-lm asks about a token's successor before it looks whether the token ends the text."""
    ids, out = np.array(list(prompt), dtype=np.uint32), []
    for _ in range(max_tokens + 1):
        scores = logits(ids, salt)
        for processor in processors:
            scores = processor(ids, scores)
        out.append(int(np.argmax(scores)))
        ids = np.append(ids, np.uint32(out[-1]))
    out = out[:max_tokens]
    return bytes(out[: out.index(EOS)] if EOS in out else out)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 4},
        "number": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "number"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def index(vocabulary):
    return interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="compact")


def right(text):
    value = json.loads(text)
    return list(value) == ["name", "number"] and len(value["name"]) <= 4 and 0 <= value["number"] <= 99


def test_outputs_are_valid_and_the_processor_serves_again(index):
    processor = GuideLogitsProcessor(index, max_tokens=50)
    for salt, prompt in enumerate([b"hi", b"hi there", b"hi", b"ho"]):
        assert right(generate(prompt, [processor], 50, salt))


def test_budget(index):
    shortest = len('{"name":"","number":0}')
    assert right(generate(b"hi", [GuideLogitsProcessor(index, max_tokens=shortest)], shortest))
    with pytest.raises(interlock.BudgetError):
        GuideLogitsProcessor(index, max_tokens=shortest - 1)


def test_rows_take_turns_with_one_processor(vocabulary, index):
    """``BatchGenerator(logits_processors=[p])`` shares it, and asks row by row; nothing tells equal rows apart."""
    processor = GuideLogitsProcessor(index, max_tokens=60)
    rows = [np.array(list(p), dtype=np.uint32) for p in (b"hi", b"ho", b"hi", b"hi")]
    starts = [len(row) for row in rows]
    for step in range(61):
        for i, row in enumerate(rows):
            if i == 3 and step < 2:
                continue  # joins later
            # The twins part after a while.
            scores = processor(row, logits_after(row, i if step > 10 else 0))
            rows[i] = np.append(row, np.uint32(np.argmax(scores)))
    for row, start in zip(rows, starts, strict=True):
        out = row[start:].tolist()
        assert right(bytes(out[: out.index(EOS)]))
    for row in rows:
        assert set(row[row.tolist().index(EOS) :].tolist()) == {EOS}


def test_drafts_are_taken_back(index):
    """Speculative decoding asks along its drafts, and goes back to where the model parts from them."""
    plain = generate(b"hi", [GuideLogitsProcessor(index)], 60)
    processor = GuideLogitsProcessor(index)
    ids = np.array(list(b"hi"), dtype=np.uint32)
    while EOS not in ids:
        drafted = ids
        for _ in range(4):
            scores = processor(drafted, logits_after(drafted, 9))
            drafted = np.append(drafted, np.uint32(np.argmax(scores)))
        while EOS not in ids:
            agreed = len(ids) < len(drafted)
            ids = np.append(ids, np.uint32(np.argmax(processor(ids, logits_after(ids)))))
            if not agreed or ids[-1] != drafted[len(ids) - 1]:
                break
    assert bytes(ids[2:-1].tolist()) == plain


def test_trigger_counts_within_the_budget(vocabulary):
    index = interlock.Index.from_regex("[0-9]{4,}", vocabulary)

    def thinking(ids, salt):
        scores = logits_after(ids, salt)
        if len(ids) - 2 < 4:
            scores[0, b"so: "[len(ids) - 2]] = 99
        return scores

    for processor in (
        GuideLogitsProcessor(index, trigger=": ", max_tokens=12),
        GuideLogitsProcessor(Triggered({": ": index}), max_tokens=12),
    ):
        assert re.fullmatch(b"so: [0-9]{4,8}", generate(b"hi", [processor], 12, logits=thinking))


def test_shapes_and_types(vocabulary):
    index = interlock.Index.from_regex("a|b", vocabulary)
    for dtype in (np.float16, np.float32):
        scores = GuideLogitsProcessor(index)(np.array([104]), np.zeros((1, WIDTH), dtype=dtype))
        assert scores.dtype == dtype and scores.shape == (1, WIDTH)
        assert np.flatnonzero(np.isfinite(scores[0])).tolist() == [ord("a"), ord("b")]
    assert np.isfinite(GuideLogitsProcessor(index)([104], np.zeros(WIDTH, np.float32))).sum() == 2
    with pytest.raises(interlock.ArgumentError, match="200 columns"):
        GuideLogitsProcessor(index)([104], np.zeros((1, 200), np.float32))
    with pytest.raises(interlock.ArgumentError, match="one sequence"):
        GuideLogitsProcessor(index)([104], np.zeros((2, WIDTH), np.float32))
    for wrong in (None, "[a]"):
        with pytest.raises(interlock.ArgumentError):
            GuideLogitsProcessor(wrong)


def test_a_forbidden_token_is_an_error(vocabulary):
    processor = GuideLogitsProcessor(interlock.Index.from_regex("ab", vocabulary))
    processor(np.array([104]), np.zeros((1, WIDTH), np.float32))
    with pytest.raises(interlock.TokenRejected, match="token 99"):
        processor(np.array([104, 99]), np.zeros((1, WIDTH), np.float32))
    processor.reset()
    processor(np.array([104, 99]), np.zeros((1, WIDTH), np.float32))


def test_canonical_leaves_the_token_that_is_forced():
    """A vocabulary whose tokenizer is known, with two ways to spell what is forced."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    vocab = {letter: i for i, letter in enumerate(sorted(letters))} | {"ab": 256, "<eos>": 257}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, [("a", "b")]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<eos>"])
    vocabulary = interlock.Vocabulary.from_tokenizer(made, eos_token_ids=257)
    index = interlock.Index.from_regex("ab[0-9]", vocabulary)
    prompt, zeros = np.array([257]), np.zeros((1, 258), np.float32)
    assert np.isfinite(GuideLogitsProcessor(index)(prompt, zeros)).sum() == 2
    assert np.flatnonzero(np.isfinite(GuideLogitsProcessor(index, canonical=True)(prompt, zeros)[0])).tolist() == [256]


# --- batches and the vocabulary ----------------------------------------------------------------------------------


class BatchGenerator:
    """mlx-lm's, as far as it is used: a step of every row in turn, processors by row, replies with a reason."""

    def __init__(self, model, *, stop_tokens, sampler=None):
        self.stop, self.model, self.closed = {t for (t,) in stop_tokens}, model, False

    def insert(self, prompts, max_tokens, logits_processors):
        self.rows = [
            [np.array(list(p)), m, l, 0] for p, m, l in zip(prompts, max_tokens, logits_processors, strict=True)
        ]
        self.live = list(range(len(prompts)))
        return list(self.live)

    def next_generated(self):
        responses = []
        for uid in list(self.live):
            ids, limit, processors, count = self.rows[uid]
            scores = logits_after(ids, uid)
            for processor in processors:
                scores = processor(ids, scores)
            token = int(np.argmax(scores))
            self.rows[uid][0], self.rows[uid][3] = np.append(ids, token), count + 1
            reason = "stop" if token in self.stop else "length" if count + 1 == limit else None
            if reason:
                self.live.remove(uid)
            responses.append(types.SimpleNamespace(uid=uid, token=token, finish_reason=reason))
        return responses

    def close(self):
        self.closed = True


@pytest.fixture
def tokenizer(monkeypatch):
    package, module = types.ModuleType("mlx_lm"), types.ModuleType("mlx_lm.generate")
    module.BatchGenerator = BatchGenerator
    monkeypatch.setitem(sys.modules, "mlx_lm", package)
    monkeypatch.setitem(sys.modules, "mlx_lm.generate", module)
    return types.SimpleNamespace(eos_token_ids={EOS}, decode=lambda ids: bytes(i % 256 for i in ids).decode("latin-1"))


def test_batch_with_a_constraint_per_prompt(vocabulary, index, tokenizer):
    answer = interlock.Index.from_choices(["yes", "no"], vocabulary)
    prompts, constraints = [b"hi", b"hi", b"ho", b"hi"], [index, answer, None, index]
    first, second, free, fourth = constrained_batch(
        None, tokenizer, prompts, constraints, max_tokens=[40, 3, 5, 30], sampler=None
    )
    assert right(first.text) and right(fourth.text)
    assert second.text in ("yes", "no")
    assert isinstance(free, BatchReply) and len(free.token_ids) <= 5
    assert first.text.encode() == bytes(first.token_ids)
    assert constrained_batch(None, tokenizer, [], []) == []
    with pytest.raises(interlock.ArgumentError, match="2 prompts"):
        constrained_batch(None, tokenizer, prompts[:2], constraints)
    with pytest.raises(interlock.BudgetError):
        constrained_batch(None, tokenizer, prompts, constraints, max_tokens=5)


def test_a_last_token_that_was_masked_is_noticed(vocabulary, tokenizer):
    index = interlock.Index.from_choices(["ab"], vocabulary)

    def nothing(ids, scores):
        return np.full_like(scores, -np.inf)

    with pytest.raises(interlock.TokenRejected):
        constrained_batch(None, tokenizer, [b"hi"], [index], max_tokens=2, logits_processors=[[nothing]])


class TokenizerWrapper:
    """mlx-lm's wrapper: its own attributes, and those of what it wraps."""

    def __init__(self, tokenizer, eos_token_ids):
        self._tokenizer, self.eos_token_ids = tokenizer, set(eos_token_ids)

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)


def test_vocabulary_of_the_wrapper():
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    vocab = {letter: i for i, letter in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, []))
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<eos>", "<eot>"])
    made.add_tokens(["</think>"])
    wrapper = TokenizerWrapper(made, [257, 256])
    assert 258 in vocabulary_from_mlx(wrapper).special_token_ids
    assert 258 not in vocabulary_from_mlx(wrapper, special_token_ids=()).special_token_ids
    for tokenizer in (wrapper, made):
        silent = vocabulary_from_mlx(tokenizer, eos_token_ids=256, special_token_ids=[258])
        assert {257, 258} <= set(silent.special_token_ids)
    assert vocabulary_from_mlx(wrapper).eos_token_ids == [256, 257]
    assert vocabulary_from_mlx(wrapper, size=300).size == 300
    assert vocabulary_from_mlx(wrapper, eos_token_ids=257).eos_token_ids == [257]
    assert vocabulary_from_mlx(made, eos_token_ids=256) == interlock.Vocabulary.from_tokenizer(made, eos_token_ids=256)
    with pytest.raises(interlock.VocabularyError):
        vocabulary_from_mlx(TokenizerWrapper(made, []))
    with pytest.raises(interlock.VocabularyError):
        vocabulary_from_mlx(object())
