"""Masks, tokens, batches, forced runs and logits."""

import numpy as np

import interlock

from .common import NAMES, compile, forget, sources, vocabulary, walk


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
    """Along one member, in an index that has put together no mask yet; compiling it is part of it."""

    params = NAMES
    param_names = ("schema",)

    def setup(self, name):
        forget()
        self.tokens, self.bits = sources()[name][1], interlock.allocate_bitmask(1, vocabulary())
        walk(compile(name).guide(), self.tokens, self.bits)

    def time_masks(self, name):
        walk(compile(name).guide(), self.tokens, self.bits)


class Batch:
    """One call for many guides at different positions."""

    params = ((1, 16, 64, 256, 1024), (1, 2))
    param_names = ("guides", "threads")

    def setup(self, size, threads):
        index, tokens = compile(NAMES[1]), sources()[NAMES[1]][1]
        self.guides = [index.guide() for _ in range(size)]
        self.next = [i % len(tokens) for i in range(size)]
        for guide, n in zip(self.guides, self.next, strict=True):
            assert guide.advance_many(tokens[:n]) == n
        self.bits = interlock.allocate_bitmask(size, vocabulary())
        self.tokens = tokens

    def time_fill(self, size, threads):
        assert interlock.fill_bitmasks(self.guides, self.bits, threads=threads)
        token = self.tokens[self.next[-1]]
        assert self.bits[-1, token >> 5] >> (token & 31) & 1


class Jump:
    """Runs that are forced."""

    def setup(self):
        self.index = interlock.Index.from_regex("the quick brown fox jumps over the lazy dog( again)?", vocabulary())
        self.guide = self.index.guide()
        if not hasattr(self.guide, "forced_bytes"):
            raise NotImplementedError

    def time_forced_bytes(self):
        assert len(self.index.guide().forced_bytes()) == 43

    def time_forced_tokens(self):
        if not hasattr(self.guide, "forced_tokens"):
            raise NotImplementedError
        self.index.guide().forced_tokens()


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
