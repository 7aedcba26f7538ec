"""What the plug-in counts."""

from __future__ import annotations

from interlock.integrations.metrics import Registry, watch_core

__all__ = ["Counts", "counts"]


class Counts:
    """The metrics of one process."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry or Registry("interlock")
        new = self.registry
        self.requests = new.counter("requests", "Constrained requests that were compiled, by kind.", ("kind",))
        self.refusals = new.counter(
            "refusals",
            "Constrained requests that were refused, by reason and by the process that did.",
            ("reason", "where"),
        )
        self.compile_seconds = new.histogram(
            "compile_seconds", "Time from a request's arrival to its guide.", ("outcome",)
        )
        self.check_seconds = new.histogram("check_seconds", "Time of a check in the front end.", ("outcome",))
        self.fill_seconds = new.histogram("fill_seconds", "Time of one call that fills masks.")
        self.rows = new.counter("rows", "Rows of masks that were filled.")
        self.rejected = new.counter(
            "rejected_tokens", "Sampled tokens that the mask had forbidden; requests end with one."
        )
        self.forced = new.counter(
            "forced_tokens",
            "Forced tokens that were proposed as drafts, and those of them that were accepted.",
            ("what",),
        )
        self.vocabulary_seconds = new.gauge(
            "vocabulary_seconds", "Time that the vocabulary took at the start.", ("from",)
        )


_counts: Counts | None = None


def counts() -> Counts:
    """The metrics of this process."""
    global _counts
    if _counts is None:
        _counts = Counts()
        watch_core(_counts.registry)
    return _counts
