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


def warn_cut_output(which: str, was: str, length: int, max_tokens: int | None = None) -> None:
    """Warn at the caller's line that an output, the one of ``which``, ended behind ``length`` tokens. ``max_tokens`` is
    the budget that the masks had.
    """
    budget = max(length - 1, 1)
    known = "the masks had no max_tokens" if max_tokens is None else f"the masks had max_tokens={max_tokens}"
    warn_caller(
        f"{which} {was} cut in the middle, after {counted(length, 'token')}, and is not whole: generate stops at its "
        f"max_new_tokens, and {known}. Pass max_tokens={budget} beside the index: the output is whole within it, or a "
        f"BudgetError says how many tokens it needs. For longer outputs raise both, max_new_tokens by one more for the "
        "stop token",
        CutOutputWarning,
    )
