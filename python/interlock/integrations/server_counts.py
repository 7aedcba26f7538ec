"""What the plug-ins of servers count. The names and their meanings are the same in vLLM and in SGLang."""

from __future__ import annotations

import threading

from interlock.integrations.metrics import Registry, watch_core

__all__ = ["Counts", "counts"]


class Counts:
    """The metrics of one process, all of them in ``registry``. What a server has no use for stays empty."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry or Registry("interlock")
        new = self.registry
        self.requests = new.counter("requests", "Constrained requests that began, by kind of source.", ("kind",))
        self.cache_hits = new.counter(
            "cache_hits", "Requests whose source, or its refusal, the server had kept, by kind.", ("kind",)
        )
        self.refusals = new.counter(
            "refusals",
            "Constrained requests that were refused, by reason and by the process that did.",
            ("reason", "where"),
        )
        self.compile_seconds = new.histogram(
            "compile_seconds", "Time from a source's arrival in the engine to its index, by outcome.", ("outcome",)
        )
        self.compiles = new.gauge(
            "compiles", "Compiles of every RequestCompiler of this process now, waiting and running.", ("state",)
        )
        self.check_seconds = new.histogram(
            "check_seconds", "Time of a check in the front end, by outcome.", ("outcome",)
        )
        self.fill_seconds = new.histogram("fill_seconds", "Time of one call that fills masks.")
        self.rows = new.counter("rows", "Rows of masks that were filled.")
        self.budgets = new.counter(
            "budgets", "Outputs that end within the request's number of tokens, and those that may not.", ("outcome",)
        )
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
_lock = threading.Lock()


def counts() -> Counts:
    """The metrics of this process, with those of the core (`watch_core`) and of the compilers that there are."""
    global _counts
    with _lock:
        if _counts is None:
            _counts = Counts()
            watch_core(_counts.registry)
            _watch_compilers(_counts)
        return _counts


def _watch_compilers(numbers: Counts) -> None:
    """Read how many compiles wait and run whenever the metrics are."""

    def read() -> None:
        from interlock.serving.compile_pool import compiles_in_process

        found = compiles_in_process()
        for state, number in zip(("waiting", "running"), found or ()):
            numbers.compiles.set(number, state)

    numbers.registry.before_snapshot(read)
