"""Masks, tokens, batches, forced runs and logits."""

import numpy as np

import interlock

from .common import NAMES, answers, compile, corpus, expected, forget, sources, vocabulary, walk


class Document:
    """Along one member."""

    params = NAMES
    param_names = ("schema",)

    def setup(self, name):
        self.index, self.tokens = compile(name), sources()[name][1]
        self.bits = interlock.allocate_bitmask(1, vocabulary())
        self.guide = self.index.guide()
        walk(self.index.guide(), self.tokens, self.bits)

    def time_masks_known(self, name):
        walk(self.index.guide(), self.tokens, self.bits)

    def time_advance(self, name):
        assert self.guide.advance_many(self.tokens) == len(self.tokens)
        self.guide.rollback(len(self.tokens))

    def time_validate(self, name):
        assert self.guide.validate(self.tokens) == len(self.tokens)


class FirstVisit:
    """Along one member, in an index that has put together no mask, over a new vocabulary; compiling is part of it."""

    number, warmup_time = 1, 0

    params = NAMES
    param_names = ("schema",)

    def setup(self, name):
        forget()
        self.tokens, self.bits = sources()[name][1], interlock.allocate_bitmask(1, vocabulary())

    def time_masks(self, name):
        walk(compile(name).guide(), self.tokens, self.bits)


class Batch:
    """One call for many guides at different positions of one index; no guide was asked for the mask of its own."""

    params = ((1, 16, 64, 256, 1024), (1, 2))
    param_names = ("guides", "threads")
    number, warmup_time = 1, 0

    def setup(self, size, threads):
        index, tokens = compile(NAMES[1]), sources()[NAMES[1]][1]
        self.bits = interlock.allocate_bitmask(size, vocabulary())
        walk(index.guide(), tokens, self.bits)
        self.guides = [index.guide() for _ in range(size)]
        for i, guide in enumerate(self.guides):
            assert guide.advance_many(tokens[: i % len(tokens)]) == i % len(tokens)
        answers.clear(self.bits)

    def teardown(self, size, threads):
        right = expected(NAMES[1])
        assert [answers.digest(row) for row in self.bits] == [right[i % len(right)] for i in range(size)]

    def time_fill(self, size, threads):
        assert interlock.fill_bitmasks(self.guides, self.bits, threads=threads)


class Jump:
    """Runs that are forced. Tokens need a vocabulary that knows how its tokenizer cuts texts: here one of tiktoken."""

    TEXT = "the quick brown fox jumps over the lazy dog"

    def setup(self):
        if not hasattr(interlock.Guide, "forced_tokens"):
            raise NotImplementedError
        tokens = corpus.vocabulary(32_000)
        vocabulary = interlock.Vocabulary.from_tokenizer(tokens.encoding, eos_token_ids=tokens.stop)
        self.index = interlock.Index.from_regex(f"{self.TEXT}( again)?", vocabulary)
        self.tokens = tokens.cut(self.TEXT)

    def time_forced_bytes(self):
        assert self.index.guide().forced_bytes() == self.TEXT.encode()

    def time_forced_tokens(self):
        assert self.index.guide().forced_tokens() == self.tokens != []


class Apply:
    """Masks applied to logits of NumPy."""

    params = ((1, 32, 256), ("float16", "float32", "float64"))
    param_names = ("rows", "dtype")

    def setup(self, rows, dtype):
        rng = np.random.default_rng(0)
        self.bits = rng.integers(-(2**31), 2**31, (rows, vocabulary().size // 32), np.int32)
        self.logits = np.zeros((rows, vocabulary().size), dtype)

    def time_apply(self, rows, dtype):
        interlock.apply_bitmask(self.logits, self.bits)
        assert (self.logits[0, 0] == 0) == bool(self.bits[0, 0] & 1)
