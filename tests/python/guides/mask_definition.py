"""What masks mean, bit by bit: the slow twin of reading and applying them."""

import numpy as np


def unpack(row, columns):
    """The bits of one row as booleans."""
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:columns].astype(bool)


def slow_apply(logits, bits, rows=None):
    """The definition, column by column."""
    logits = logits.copy()
    for i, row in enumerate(rows if rows is not None else range(len(bits))):
        for column in range(logits.shape[1]):
            word = int(bits[i, column // 32]) if column // 32 < bits.shape[1] else 0
            if not word >> (column % 32) & 1:
                logits[row, column] = -np.inf
    return logits
