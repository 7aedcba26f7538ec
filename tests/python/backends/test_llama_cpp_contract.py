"""The llama.cpp integration with a stand-in for ``llama_cpp.Llama`` that calls processors and draft models in the order
and with the arguments of llama-cpp-python 0.3.36, faults included.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import types

import numpy as np
import pytest

import interlock
from interlock.integrations.llama_cpp import (
    ForcedTokenDrafts,
    GuideLogitsProcessor,
    Triggered,
    constrained,
    vocabulary_from_llama,
)

EOS, EOT, LONG = 256, 257, 258
SPACES = b" " * 40


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b"<eos>", b"<eot>", SPACES]
    return interlock.Vocabulary(tokens, eos_token_ids=[EOS, EOT], special_token_ids=[EOS, EOT])


class Llama:
    """Logits are random numbers that depend on the ids before them."""

    def __init__(self, vocabulary, n_ctx=64, draft_model=None, logits_all=False):
        self._vocabulary, self._n_ctx = vocabulary, n_ctx
        self.draft_model = draft_model
        self.input_ids = np.zeros(n_ctx, dtype=np.intc)
        self.scores = np.zeros((n_ctx if logits_all else 8, 1), dtype=np.single)
        self.n_tokens = self.passes = 0
        self._sampler = None
        self.swallowed = []

    def n_vocab(self):
        return len(self._vocabulary)

    def n_ctx(self):
        return self._n_ctx

    def tokenize(self, text, add_bos=True, special=False):
        assert not add_bos and not special
        return list(text)

    def _sample(self, end, processors, temperature):
        """llama.cpp's candidates are records of 12 bytes; what a processor raises never leaves C."""
        rng = np.random.default_rng([len(self.input_ids[:end]), *map(int, self.input_ids[:end])])
        records = np.zeros(self.n_vocab(), dtype=[("id", np.intc), ("logit", np.single), ("p", np.single)])
        logit = records["logit"]
        logit[:] = rng.normal(size=len(logit)) * 3
        logit[LONG:] += 9
        try:
            for processor in processors or ():
                logit[:] = processor(self.input_ids[: self.n_tokens], logit)
        except BaseException as error:
            self.swallowed.append(error)
        noise = np.random.default_rng(end).gumbel(size=len(logit)) if temperature else 0
        with np.errstate(invalid="ignore"):
            return int(np.argmax(logit + noise))

    def generate(self, tokens, temperature=0.0, logits_processor=None, stopping_criteria=None):
        self._sampler = object()
        tokens = list(tokens)
        kept = 0
        while kept < min(self.n_tokens, len(tokens) - 1) and self.input_ids[kept] == tokens[kept]:
            kept += 1
        self.n_tokens = kept
        at = len(tokens) - 1
        tokens = tokens[kept:]
        while True:
            self.input_ids[self.n_tokens : self.n_tokens + len(tokens)] = tokens
            self.n_tokens += len(tokens)
            self.passes += 1
            while at < self.n_tokens:
                token = self._sample(at + 1, logits_processor, temperature)
                at += 1
                if stopping_criteria is not None and stopping_criteria(self.input_ids[:at], None):
                    return
                yield token
                tokens = [token]
                if at < self.n_tokens and token != self.input_ids[at]:
                    self.n_tokens = at
                    break
            if self.draft_model is not None:
                self.input_ids[self.n_tokens : self.n_tokens + 1] = tokens
                drafts = self.draft_model(self.input_ids[: self.n_tokens + 1])
                tokens.extend(drafts.astype(int)[: self._n_ctx - self.n_tokens - 1])

    def _pieces(self, prompt, max_tokens, logits_processor, logit_bias, **options):
        if logit_bias is not None:
            bias = [lambda ids, scores: scores]
            logits_processor = bias if logits_processor is None else logits_processor.extend(bias)
        room = self._n_ctx - len(prompt)
        max_tokens = room if not max_tokens else min(max_tokens, room)
        count = 0
        for token in self.generate(prompt, logits_processor=logits_processor, **options):
            if token in (EOS, EOT):
                return
            yield bytes([token]) if token < 256 else b""
            count += 1
            if count >= max_tokens:
                return

    def create_completion(self, prompt, max_tokens=16, logits_processor=None, logit_bias=None, stream=False, **options):
        pieces = self._pieces(prompt, max_tokens, logits_processor, logit_bias, **options)
        return pieces if stream else b"".join(pieces).decode()


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


PROMPTS = [b"hi", b"hi there", b"hi", b"ho"]


@pytest.mark.parametrize("temperature", [0, 1])
def test_outputs_are_valid(vocabulary, index, temperature):
    llama = Llama(vocabulary)
    for prompt in PROMPTS:
        for options in ({}, {"max_tokens": 30}, {"max_tokens": 50}, {"logit_bias": {3: 1.0}}):
            assert right(constrained(llama.create_completion, index, list(prompt), temperature=temperature, **options))
    assert not llama.swallowed


def test_streams(vocabulary, index):
    llama = Llama(vocabulary)
    pieces = constrained(llama.create_completion, index, list(b"hi"), stream=True)
    assert right(b"".join(pieces).decode())


class Lookup:
    """Drafts that are mostly wrong."""

    def __call__(self, input_ids, /, **kwargs):
        return np.array([ord("a"), ord("b"), ord('"')], dtype=np.intc)


@pytest.mark.parametrize("fallback", [None, Lookup()], ids=["forced", "fallback"])
@pytest.mark.parametrize("temperature", [0, 1])
def test_drafts_change_the_number_of_passes_and_nothing_else(vocabulary, index, fallback, temperature):
    plain = Llama(vocabulary, 96)
    drafting = Llama(vocabulary, 96, draft_model=ForcedTokenDrafts(fallback), logits_all=True)
    for prompt in [*PROMPTS, b"hi"]:
        plain.passes = drafting.passes = 0
        options = {"max_tokens": 60, "temperature": temperature, "canonical": True}
        wanted = constrained(plain.create_completion, index, list(prompt), **options)
        assert constrained(drafting.create_completion, index, list(prompt), **options) == wanted
        assert right(wanted)
        # {"name":" and ","number": are forced.
        assert drafting.passes <= plain.passes - 15
    assert drafting.draft_model.proposed
    assert not drafting.swallowed


def test_a_chat_that_goes_on_begins_anew(vocabulary):
    """The next turn's prompt holds the whole turn before, which is not gone on with."""
    index = interlock.Index.from_regex("[ab]{3}", vocabulary)
    for drafts in (None, ForcedTokenDrafts(Lookup())):
        llama = Llama(vocabulary, 64, draft_model=drafts, logits_all=True)
        processor = GuideLogitsProcessor(index, llama, max_tokens=8)
        prompt = list(b"one")
        for extra in (b"\ntwo", b"xy", b"!"):
            ids = []
            for token in llama.generate(prompt, logits_processor=[processor], stopping_criteria=processor.check):
                if token in (EOS, EOT):
                    break
                ids.append(token)
            assert re.fullmatch(b"[ab]{3}", bytes(ids))
            prompt = prompt + ids + [EOS, *extra]


def test_what_one_generation_forces_is_not_forced_on_the_next(vocabulary):
    index = interlock.Index.from_regex("[a-h]{1,3}-(abcdef|ghijkl)-[0-9]", vocabulary)
    for drafts in (None, ForcedTokenDrafts()):
        llama = Llama(vocabulary, 64, draft_model=drafts, logits_all=True)
        processor = GuideLogitsProcessor(index, llama, max_tokens=30, canonical=True)
        for prompt in (b"one", b"two", b"three", b"four", b"five", b"six"):
            ids = []
            options = {"logits_processor": [processor], "stopping_criteria": processor.check, "temperature": 1}
            for token in llama.generate(list(prompt), **options):
                if token in (EOS, EOT):
                    break
                ids.append(token)
            assert re.fullmatch(b"[a-h]{1,3}-(abcdef|ghijkl)-[0-9]", bytes(ids)), ids
        assert not llama.swallowed


def test_budgets(vocabulary, index):
    shortest = len('{"name":"","number":0}')
    llama = Llama(vocabulary, 40)
    text = constrained(llama.create_completion, index, list(b"hi"), max_tokens=shortest)
    assert text.startswith('{"name":"","number":') and len(text) == shortest
    with pytest.raises(interlock.BudgetError):
        constrained(llama.create_completion, index, list(b"hi"), max_tokens=shortest - 1)
    # What the context has room for is known when the prompt is.
    prompt = list(b"x" * (40 - shortest))
    assert right(constrained(llama.create_completion, index, prompt))
    with pytest.raises(interlock.BudgetError):
        constrained(llama.create_completion, index, [*prompt, 120])
    with pytest.raises(interlock.BudgetError):
        list(constrained(llama.create_completion, index, [*prompt, 120], stream=True))
    cut = constrained(llama.create_completion, index, list(b"hi"), max_tokens=5, budget=False)
    assert cut == '{"nam'


def test_a_trigger_counts_within_the_budget(vocabulary):
    index = interlock.Index.from_regex("[0-9]{4,}", vocabulary)
    llama = Llama(vocabulary)

    def think(ids, scores):
        wanted = b"so: "
        at = len(ids) - 2
        if at < len(wanted):
            scores[:] = -np.inf
            scores[wanted[at]] = 0
        return scores

    options = {"logits_processor": [think], "max_tokens": 12}
    text = constrained(llama.create_completion, index, list(b"hi"), trigger=": ", **options)
    assert re.fullmatch("so: [0-9]{4,8}", text)
    text = constrained(llama.create_completion, Triggered({": ": index}, required=True), list(b"hi"), **options)
    assert re.fullmatch("so: [0-9]{4,8}", text)
    with pytest.raises(interlock.BudgetError):
        constrained(llama.create_completion, index, list(b"hi"), trigger=": ", logits_processor=[think], max_tokens=7)


def test_an_error_ends_the_generation_and_is_raised(vocabulary, index):
    llama = Llama(vocabulary)

    def nothing(ids, scores):
        return np.full_like(scores, -np.inf)

    for stream in (False, True):
        with pytest.raises(interlock.TokenRejected, match="another processor"):
            list(constrained(llama.create_completion, index, [104], logits_processor=[nothing], stream=stream))
    assert not llama.swallowed
    # In a loop of one's own the error is shown where it happens, nothing but a stop token is left, and check raises.
    processor = GuideLogitsProcessor(index, llama)
    assert not processor.check(None, None)
    tokens = llama.generate([104], logits_processor=[nothing, processor])
    assert next(tokens) in (EOS, EOT)
    assert isinstance(llama.swallowed.pop(), interlock.TokenRejected)
    with pytest.raises(interlock.TokenRejected):
        processor.check()
    processor.reset()
    tokens = llama.generate([104], logits_processor=[processor], stopping_criteria=processor.check)
    assert next(tokens) == ord("{")


def test_ctrl_c_inside_of_a_call_is_not_lost(vocabulary, index, monkeypatch):
    llama = Llama(vocabulary)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("interlock.integrations._mask.RowMask.fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        constrained(llama.create_completion, index, [104])


def test_what_does_not_fit_is_refused(vocabulary, index):
    wide = interlock.Vocabulary([bytes([i % 256]) for i in range(300)], eos_token_ids=[299])
    llama = Llama(vocabulary)
    with pytest.raises(interlock.ArgumentError, match="vocabulary_from_llama"):
        GuideLogitsProcessor(interlock.Index.from_regex("a", wide), llama)
    with pytest.raises(interlock.ArgumentError, match="not None"):
        GuideLogitsProcessor(None, llama)
    with pytest.raises(interlock.ArgumentError, match="not str"):
        GuideLogitsProcessor("[0-9]", llama)
    with pytest.raises(interlock.ArgumentError, match="out of range"):
        GuideLogitsProcessor(index, llama, stop_token_ids=[999])
    with pytest.raises(interlock.ArgumentError, match="max_tokens"):
        constrained(llama.create_completion, index, [104], max_tokens=0)
    with pytest.raises(interlock.ArgumentError, match="method of a llama_cpp.Llama"):
        constrained(print, index)
    with pytest.raises(interlock.ArgumentError, match="ForcedTokenDrafts"):
        GuideLogitsProcessor(index, Llama(vocabulary, draft_model=Lookup(), logits_all=True))
    with pytest.raises(interlock.ArgumentError, match="logits_all"):
        GuideLogitsProcessor(index, Llama(vocabulary, draft_model=ForcedTokenDrafts()))


def test_tokens_that_the_text_would_lack(vocabulary):
    """Llama.detokenize writes nothing for tokens of more than 32 bytes, and this one is always the likeliest."""
    index = interlock.Index.from_regex(" {40,50}x", vocabulary)
    llama = Llama(vocabulary)
    assert re.fullmatch(" {40,50}x", constrained(llama.create_completion, index, [104]))
    alone = interlock.Vocabulary([b"a"] * EOS + [b"", b"", SPACES], eos_token_ids=[EOS, EOT])
    with pytest.raises(interlock.UnsupportedError, match="32 bytes"):
        constrained(Llama(alone).create_completion, interlock.Index.from_regex(" +", alone), [0], max_tokens=1)


def test_drafts_without_a_constraint(vocabulary):
    llama = Llama(vocabulary, draft_model=ForcedTokenDrafts(), logits_all=True)
    tokens = llama.generate([104])
    assert len([next(tokens) for _ in range(5)]) == 5
    assert llama.draft_model.proposed == 0


# --- the vocabulary --------------------------------------------------------------------------------------------


class Library(types.ModuleType):
    """The functions of ``llama_cpp`` that read a model's vocabulary."""

    LLAMA_TOKEN_ATTR_UNKNOWN, LLAMA_TOKEN_ATTR_UNUSED = 1, 2
    LLAMA_TOKEN_ATTR_NORMAL, LLAMA_TOKEN_ATTR_CONTROL = 4, 8
    LLAMA_TOKEN_ATTR_USER_DEFINED = 16

    tokens = [(b"a", 4), (b"b", 4), (b"<unk>", 1), (b"<pad>", 2), (b"<s>", 8), (b"</s>", 8), (b"<|im_end|>", 8)]
    tokens += [(b"<tool>", 16), (b"-" * 500, 4)]
    ends = {5, 6}

    def llama_model_get_vocab(self, model):
        assert model == "model"
        return "vocab"

    def llama_vocab_n_tokens(self, vocab):
        return len(self.tokens)

    def llama_vocab_is_eog(self, vocab, i):
        return i in self.ends

    def llama_vocab_get_attr(self, vocab, i):
        return self.tokens[i][1]

    def llama_token_to_piece(self, vocab, i, buffer, room, lstrip, special):
        assert special and lstrip == 0
        piece = self.tokens[i][0]
        if len(piece) > room:
            return -len(piece)
        ctypes.memmove(buffer, piece, len(piece))
        return len(piece)


def test_vocabulary_of_the_loaded_model(monkeypatch):
    library = Library("llama_cpp")
    monkeypatch.setitem(sys.modules, "llama_cpp", library)
    llama = types.SimpleNamespace(model="model", n_vocab=lambda: 6)
    made = vocabulary_from_llama(llama)
    assert made.size == len(library.tokens)
    assert made.eos_token_ids == [5, 6]
    assert made.special_token_ids == [2, 3, 4, 5, 6]
    assert [made.token_bytes(i) for i in (0, 7, 8)] == [b"a", b"<tool>", b"-" * 500]
    assert made.decode([0, 4, 7, 1]) == b"a<tool>b"
    assert vocabulary_from_llama(llama, eos_token_ids=6).eos_token_ids == [6]
    assert vocabulary_from_llama(llama, eos_token_ids=[4, 6]).eos_token_ids == [4, 6]
    silent = vocabulary_from_llama(llama, special_token_ids=7)
    assert silent.special_token_ids == [2, 3, 4, 5, 6, 7] and silent.decode([0, 7, 1]) == b"ab"
    assert vocabulary_from_llama(llama, special_token_ids=[7, 2]).special_token_ids == silent.special_token_ids
    with pytest.raises(interlock.VocabularyError):
        vocabulary_from_llama(llama, special_token_ids=[99])
    library.ends = set()
    with pytest.raises(interlock.VocabularyError, match="eos_token_ids"):
        vocabulary_from_llama(llama)
    library.tokens = []
    with pytest.raises(interlock.VocabularyError, match="no tokens"):
        vocabulary_from_llama(llama)
