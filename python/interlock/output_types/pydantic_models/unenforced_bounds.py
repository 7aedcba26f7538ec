"""A bound of a type that no mask enforces: the class checks it when the text is complete."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.util.caller_warnings import warn_caller

__all__ = ["UnenforcedBoundWarning", "warn_unenforced"]


class UnenforcedBoundWarning(UserWarning):
    """A type has a bound that JSON Schema has no word for, such as ``PastDate``, and ``on_unsupported="warn"`` was
    passed: the model may write what lies beyond the bound, and the class then refuses it, with an
    ``InvalidOutputError``. The message names the places.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def warn_unenforced(name: str, places: Sequence[str]) -> None:
    """Warn (``UnenforcedBoundWarning``) of the places of a type whose bounds its class alone checks."""
    warn_caller(
        f"{name} has bounds that are not enforced while the model writes, and are checked when it is done: "
        f"{'; '.join(dict.fromkeys(places))}",
        UnenforcedBoundWarning,
    )
