"""What the backend counts, and where the counts go.

``count`` and ``observe`` are all that the other modules call. They add to totals of this process, which ``counters``
shows, and tell a *sink*: a function of name, value and labels. A server's metrics are such a sink.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Sink", "count", "counters", "observe", "prometheus_sink", "set_sink"]

_LOG = logging.getLogger(__name__)

Sink = Callable[[str, float, Mapping[str, str]], None]

COUNTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "compiles": ("Sources that were compiled.", ("kind",)),
    "cache_hits": ("Requests whose source, or its refusal, was there already.", ("kind",)),
    "refusals": ("Sources that were refused, by the class of the error.", ("kind", "error")),
    "budgets": ("Outputs that end within max_new_tokens, and those that may not.", ("outcome",)),
    "rejected_tokens": ("Tokens that a grammar was given and does not allow.", ()),
}
SECONDS: dict[str, tuple[str, tuple[str, ...]]] = {"compile_seconds": ("Time of one compile.", ("kind",))}

_totals: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
_mutex = threading.Lock()
_sink: Sink | None = None


def set_sink(sink: Sink | None) -> None:
    """Tell ``sink`` of everything that is counted from now on. It is called by any thread, and must not raise."""
    global _sink
    _sink = sink


def count(name: str, n: float = 1, **labels: str) -> None:
    """Add ``n`` to the counter ``name`` of ``COUNTS``."""
    _add(name, n, labels)


def observe(name: str, seconds: float, **labels: str) -> None:
    """Note that something of ``SECONDS`` took ``seconds``."""
    _add(name, seconds, labels)


def _add(name: str, value: float, labels: Mapping[str, str]) -> None:
    key = (name, tuple(sorted(labels.items())))
    with _mutex:
        _totals[key] = _totals.get(key, 0) + value
    if _sink is not None:
        _sink(name, value, labels)


def counters() -> dict[str, float]:
    """The totals of this process, as ``{'refusals{error="LimitError",kind="json"}': 2, ...}``."""
    with _mutex:
        totals = dict(_totals)
    shown = {}
    for (name, labels), value in sorted(totals.items()):
        inside = ",".join(f'{label}="{text}"' for label, text in labels)
        shown[f"{name}{{{inside}}}" if inside else name] = value
    return shown


def prometheus_sink() -> Sink | None:
    """A sink for the metrics of a server that shows those of ``prometheus_client``; ``None`` without that package."""
    try:
        import prometheus_client
    except ImportError:
        return None
    metrics: dict[str, Any] = {}
    try:
        for name, (text, labels) in COUNTS.items():
            metrics[name] = prometheus_client.Counter(f"interlock_{name}", text, labels)
        for name, (text, labels) in SECONDS.items():
            metrics[name] = prometheus_client.Histogram(
                f"interlock_{name}", text, labels, buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30)
            )
    except ValueError as error:  # Another part of this process has metrics of these names.
        _LOG.warning("counters are not shown among the server's metrics: %s", error)
        return None

    def tell(name: str, value: float, labels: Mapping[str, str]) -> None:
        metric = metrics[name].labels(**labels) if labels else metrics[name]
        if name in SECONDS:
            metric.observe(value)
        else:
            metric.inc(value)

    return tell
