"""The warning about outputs that ended in the middle, because a number of tokens cut them that no guide knew of."""

from __future__ import annotations

from interlock.util.caller_warnings import warn_caller
from interlock.util.plurals import counted

__all__ = ["CutOutputWarning", "warn_cut_output"]


class CutOutputWarning(UserWarning):
    """``generate`` of transformers cut an output in the middle: ``max_new_tokens`` bounds what is generated, and only
    ``max_tokens`` has an output end in time.

    Pass ``max_tokens`` to the logits processor or to the loop, and one more as ``max_new_tokens``.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def warn_cut_output(which: str, was: str, length: int) -> None:
    """Warn at the caller's line that an output, the one of ``which``, ended behind ``length`` tokens."""
    budget = max(length - 1, 1)
    warn_caller(
        f"{which} {was} cut in the middle, after {counted(length, 'token')}: pass max_tokens={budget}, within which it "
        "is whole (or a BudgetError says what it needs), and a larger max_new_tokens for a longer one",
        CutOutputWarning,
    )
