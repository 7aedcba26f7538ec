"""What tests of generators share: a class to make, a vocabulary of bytes, and what every context of llama.cpp has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import interlock

END = 256
#: Made-up logits neither end a number by themselves nor a text before its budget.
NO_WARNINGS_OF_ENDS = [
    pytest.mark.filterwarnings("ignore::interlock.UnboundedNumberWarning"),
    pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning"),
]


@dataclass
class User:
    name: str
    age: int


def bytes_and_end() -> interlock.Vocabulary:
    """A token for each byte, and one that ends the output: as many as the stand-ins have logits."""
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[END])


class LlamaContext:
    """What generators ask of a context of llama-cpp-python before they run it. Its tokens are bytes."""

    metadata: dict[str, str] = {}
    draft_model = None
    scores = np.zeros((8, 1))
    forgotten = 0

    def reset(self):
        self.forgotten += 1

    def n_vocab(self):
        return END + 1

    def n_ctx(self):
        return 400

    def tokenize(self, text, add_bos=True, special=False):
        return list(text)
