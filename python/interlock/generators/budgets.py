"""Whether an output can be made to end within ``max_tokens``."""

from __future__ import annotations

from interlock._core import Index, UnsupportedError

__all__ = ["budget_of"]


def budget_of(index: Index, max_tokens: int) -> int | None:
    """``max_tokens``, or ``None`` where no budget can be kept: no short output of a grammar is known.

    Then the output may be cut after ``max_tokens``, and whoever reads its value says so (``Grammar.parse``).
    ``BudgetError`` if every output is longer.
    """
    if index.kind != "grammar":
        return max_tokens
    try:
        index.guide(max_tokens=max_tokens)
    except UnsupportedError:
        return None
    return max_tokens
