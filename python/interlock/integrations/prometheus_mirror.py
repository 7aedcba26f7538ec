"""A registry's numbers as metrics of ``prometheus_client``, for servers whose processes share them through files.

Where ``prometheus_client`` runs in its multiprocess mode, each process writes its metrics into files and another one
serves their sums. Only metrics of that package are written there. So each metric has a twin of that kind, which is told
of every change.
"""

from __future__ import annotations

import logging
from typing import Any

from interlock.integrations.metrics import Change, Registry

__all__ = ["mirror"]

_LOG = logging.getLogger(__name__)


def mirror(registry: Registry) -> bool:
    """Keep a twin of every metric of ``registry`` from now on; whether that is possible.

    Without the package, or where this process has other metrics of these names, there is a warning and nothing else.
    Gauges that are only read before a snapshot, those of the core, have no twin.
    """
    try:
        import prometheus_client
    except ImportError:
        _LOG.warning("interlock's numbers are not among the server's metrics: prometheus_client is not installed")
        return False
    twins: dict[str, Any] = {}
    try:
        for name, metric in registry.snapshot().items():
            if metric["kind"] == "counter":
                twins[name] = prometheus_client.Counter(name, metric["help"], metric["labels"])
            elif metric["kind"] == "histogram":
                twins[name] = prometheus_client.Histogram(
                    name, metric["help"], metric["labels"], buckets=metric["buckets"]
                )
            elif not name.startswith(f"{registry.prefix}_core_"):
                twins[name] = prometheus_client.Gauge(
                    name, metric["help"], metric["labels"], multiprocess_mode="livemax"
                )
    except ValueError as error:
        _LOG.warning("interlock's numbers are not among the server's metrics: %s", error)
        for twin in twins.values():
            prometheus_client.REGISTRY.unregister(twin)
        return False

    def tell(change: Change) -> None:
        twin = twins.get(change.name)
        if twin is None:
            return
        series = twin.labels(*change.labels) if change.labels else twin
        if change.kind == "counter":
            series.inc(change.number)
        elif change.kind == "histogram":
            series.observe(change.number)
        else:
            series.set(change.number)

    registry.tell(tell)
    return True
