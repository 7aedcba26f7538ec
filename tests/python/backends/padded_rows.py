"""What tests of masks in transformers share: a vocabulary of bytes that is padded to a model's width, and constraints
for the rows of a batch."""

from __future__ import annotations

import interlock

PAD, EOS, EOT = 256, 257, 258
#: A row without a constraint is among them.
PATTERNS = [
    r"[0-9]{3}-[0-9]{3}",
    r"(yes|no|perhaps)",
    None,
    r"\[([0-9],){2}[0-9]\]",
    r"[a-f]{1,6}",
    r'\{"k": (true|false)\}',
]


def padded_vocabulary(width: int) -> interlock.Vocabulary:
    tokens = [bytes([i]) for i in range(256)] + [b""] * 3
    return interlock.Vocabulary(tokens, eos_token_ids=[EOS, EOT], special_token_ids=[PAD], size=width)
