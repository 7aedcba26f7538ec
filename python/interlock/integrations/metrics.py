"""Counters, gauges and histograms, as plain Python and as OpenMetrics text.

A *registry* holds the metrics of one process. Its *snapshot* is a dictionary of numbers that JSON can carry, so that
the numbers of several processes can be added up with `merge` and written with `to_openmetrics`. No library is needed.

>>> registry = Registry("interlock")
>>> refusals = registry.counter("refusals", "Sources that were refused.", ("reason",))
>>> refusals.add(1, "limit")
>>> refusals.value("limit")
1
>>> print(registry.to_openmetrics(), end="")
# HELP interlock_refusals Sources that were refused.
# TYPE interlock_refusals counter
interlock_refusals_total{reason="limit"} 1
# EOF
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import interlock
from interlock import ArgumentError
from interlock.util.client_messages import CLOSED, TOO_LITTLE_MEMORY
from interlock.util.plurals import counted

__all__ = [
    "Change",
    "Counter",
    "Gauge",
    "Histogram",
    "Registry",
    "Snapshot",
    "merge",
    "refusal_reason",
    "to_openmetrics",
    "watch_core",
]

Snapshot = dict[str, Any]
"""Of each metric by its name: ``kind``, ``help``, ``labels``, ``buckets`` (histograms only) and ``series``, a list of
pairs of label values and numbers. The numbers of a histogram are the counts of its buckets, of what is above them, and
the sum."""

TIMES = (
    1e-5,
    2.5e-5,
    5e-5,
    1e-4,
    2.5e-4,
    5e-4,
    1e-3,
    2.5e-3,
    5e-3,
    1e-2,
    2.5e-2,
    5e-2,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
"""Upper bounds for times in seconds, from 10 us to 10 s."""


class Change(NamedTuple):
    """One change of a metric: what was added to a counter, what a gauge was set to, what a histogram observed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    number: float


Listeners = list[Callable[[Change], None]]

NOTED = 256
"""So many numbers are noted before they are counted."""


class _Metric:
    """A metric with its labels; what kind it is says the subclass."""

    kind = ""

    def __init__(self, name: str, help: str, labels: Sequence[str], listeners: Listeners) -> None:
        self.name, self.help, self.labels = name, help, tuple(labels)
        self._lock, self.listeners = threading.Lock(), listeners
        self._series: dict[tuple[str, ...], Any] = {}

    def _key(self, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) != len(self.labels):
            were = f"{counted(len(values), 'value')} {'was' if len(values) == 1 else 'were'}"
            raise ArgumentError(f"{self.name} has the labels {self.labels}, but {were} given")
        return values

    def _told(self, key: tuple[str, ...], number: float) -> None:
        for listener in self.listeners:
            listener(Change(self.name, self.kind, key, number))

    def _snapshot(self) -> dict[str, Any]:
        with self._lock:
            series = [[list(key), value] for key, value in self._series.items()]
        return {"kind": self.kind, "help": self.help, "labels": list(self.labels), "series": series}


_Kind = TypeVar("_Kind", bound=_Metric)


class _Summed(_Metric):
    """A metric whose changes add up, so that they can be counted later."""

    def __init__(self, name: str, help: str, labels: Sequence[str], listeners: Listeners) -> None:
        super().__init__(name, help, labels, listeners)
        #: Numbers that `note` took and nobody has read yet. A place that every step of a server passes may append here.
        self.noted: list[float] = []
        # A listener may read what is being counted.
        self._settling = threading.RLock()

    def note(self, number: float) -> None:
        """Do what `Counter.add` and `Histogram.observe` do without labels, but not before somebody reads the metric.

        Where a model runs between two calls, the code of counting has left the processor's caches each time, and costs
        40 us instead of 1. With a listener nothing is put off.
        """
        noted = self.noted
        noted.append(number)
        if len(noted) >= NOTED or self.listeners:
            self.settle()

    def settle(self) -> None:
        """Count what was noted."""
        with self._settling:
            noted = self.noted[:]
            # What another thread notes meanwhile stands behind these.
            del self.noted[: len(noted)]
            for number in noted:
                self._add_noted(number)

    def _add_noted(self, number: float) -> None:
        raise NotImplementedError

    def _snapshot(self) -> dict[str, Any]:
        self.settle()
        return super()._snapshot()


class Counter(_Summed):
    """A number that only grows, for each combination of label values. About 0.3 us an `add`."""

    kind = "counter"

    def add(self, amount: float = 1, *values: str) -> None:
        """Add ``amount``, which must not be negative, to the series with these label values."""
        if amount < 0:
            raise ArgumentError(f"{self.name} is a counter and cannot go down by {-amount}")
        key = self._key(values)
        with self._lock:
            self._series[key] = self._series.get(key, 0) + amount
        if self.listeners:
            self._told(key, amount)

    def _add_noted(self, number: float) -> None:
        self.add(number)

    def value(self, *values: str) -> float:
        """The number of one series; 0 where nothing was added."""
        self.settle()
        number: float = self._series.get(self._key(values), 0)
        return number


class Gauge(_Metric):
    """A number that goes up and down."""

    kind = "gauge"

    def set(self, number: float, *values: str) -> None:
        """Make ``number`` the value of the series with these label values."""
        key = self._key(values)
        with self._lock:
            self._series[key] = number
        if self.listeners:
            self._told(key, number)

    def value(self, *values: str) -> float:
        """The number of one series; 0 where it was never set."""
        number: float = self._series.get(self._key(values), 0)
        return number


class Histogram(_Summed):
    """How many observations lie in each of some ranges, and their sum. About 0.6 us an `observe`."""

    kind = "histogram"

    def __init__(
        self, name: str, help: str, labels: Sequence[str], listeners: Listeners, buckets: Sequence[float]
    ) -> None:
        super().__init__(name, help, labels, listeners)
        self.buckets = tuple(buckets)
        if not self.buckets or list(self.buckets) != sorted(set(self.buckets)):
            raise ArgumentError(f"the buckets of {name} must ascend")

    def observe(self, number: float, *values: str) -> None:
        """Count ``number`` in the series with these label values."""
        key, at = self._key(values), bisect.bisect_left(self.buckets, number)
        with self._lock:
            counts = self._series.get(key)
            if counts is None:
                counts = self._series[key] = [0.0] * (len(self.buckets) + 2)
            counts[at] += 1
            counts[-1] += number
        if self.listeners:
            self._told(key, number)

    def _add_noted(self, number: float) -> None:
        self.observe(number)

    def count(self, *values: str) -> int:
        """How many numbers were observed in one series."""
        self.settle()
        return int(sum(self._series.get(self._key(values), (0,))[:-1]))

    def _snapshot(self) -> dict[str, Any]:
        self.settle()
        with self._lock:
            series = [[list(key), list(counts)] for key, counts in self._series.items()]
        return {
            "kind": self.kind,
            "help": self.help,
            "labels": list(self.labels),
            "buckets": list(self.buckets),
            "series": series,
        }


class Registry:
    """The metrics of one process. Safe to use from several threads."""

    def __init__(self, prefix: str = "interlock") -> None:
        self.prefix = prefix
        self._lock = threading.Lock()
        self._metrics: dict[str, _Metric] = {}
        self._before: list[Callable[[], None]] = []
        self.listeners: Listeners = []

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Counter:
        """The counter of this name, made if it is not there. Its samples are called ``<prefix>_<name>_total``."""
        return self._get(Counter, name, lambda full: Counter(full, help, labels, self.listeners))

    def gauge(self, name: str, help: str, labels: Sequence[str] = ()) -> Gauge:
        """The gauge of this name, made if it is not there."""
        return self._get(Gauge, name, lambda full: Gauge(full, help, labels, self.listeners))

    def histogram(
        self, name: str, help: str, labels: Sequence[str] = (), buckets: Sequence[float] = TIMES
    ) -> Histogram:
        """The histogram of this name, made if it is not there. ``buckets`` are the upper bounds, ascending."""
        return self._get(Histogram, name, lambda full: Histogram(full, help, labels, self.listeners, buckets))

    def tell(self, listener: Callable[[Change], None]) -> None:
        """Call ``listener`` after every change from now on, in the thread that made it. It must not raise."""
        self.listeners.append(listener)

    def before_snapshot(self, function: Callable[[], None]) -> None:
        """Call ``function`` before every snapshot, for numbers that are read and not counted."""
        self._before.append(function)

    def snapshot(self) -> Snapshot:
        """All numbers, as a dictionary that JSON can carry."""
        for function in self._before:
            function()
        with self._lock:
            metrics = list(self._metrics.values())
        return {metric.name: metric._snapshot() for metric in metrics}

    def to_openmetrics(self) -> str:
        """All numbers as OpenMetrics text."""
        return to_openmetrics(self.snapshot())

    def _get(self, kind: type[_Kind], name: str, make: Callable[[str], _Kind]) -> _Kind:
        full = f"{self.prefix}_{name}"
        with self._lock:
            found = self._metrics.get(full)
            if found is None:
                found = self._metrics[full] = make(full)
        if type(found) is not kind:
            raise ArgumentError(f"{full} is a {found.kind} already")
        return found


def merge(snapshots: Iterable[Snapshot]) -> Snapshot:
    """The sum of several processes' numbers. ``ArgumentError`` where they disagree about what a metric is."""
    merged: Snapshot = {}
    for snapshot in snapshots:
        for name, metric in snapshot.items():
            into = merged.get(name)
            if into is None:
                merged[name] = {**metric, "series": [[list(k), _copied(v)] for k, v in metric["series"]]}
                continue
            if any(into.get(part) != metric.get(part) for part in ("kind", "labels", "buckets")):
                raise ArgumentError(f"two processes mean different things by {name}")
            known = {tuple(key): at for at, (key, _) in enumerate(into["series"])}
            for key, value in metric["series"]:
                at = known.get(tuple(key))
                if at is None:
                    into["series"].append([list(key), _copied(value)])
                elif isinstance(value, list):
                    into["series"][at][1] = [a + b for a, b in zip(into["series"][at][1], value, strict=True)]
                else:
                    into["series"][at][1] += value
    return merged


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def to_openmetrics(snapshot: Snapshot) -> str:
    """A snapshot as OpenMetrics text (``application/openmetrics-text; version=1.0.0``)."""
    lines = []
    for name, metric in snapshot.items():
        lines.append(f"# HELP {name} {_escaped(metric['help'], quotes=False)}")
        lines.append(f"# TYPE {name} {metric['kind']}")
        for key, value in metric["series"]:
            labels = dict(zip(metric["labels"], key, strict=True))
            if metric["kind"] == "counter":
                lines.append(f"{name}_total{_labels(labels)} {_number(value)}")
            elif metric["kind"] == "gauge":
                lines.append(f"{name}{_labels(labels)} {_number(value)}")
            else:
                count = 0
                for bound, seen in zip([*map(_number, metric["buckets"]), "+Inf"], value[:-1], strict=True):
                    count += int(seen)
                    lines.append(f"{name}_bucket{_labels({**labels, 'le': bound})} {count}")
                lines.append(f"{name}_count{_labels(labels)} {count}")
                lines.append(f"{name}_sum{_labels(labels)} {_number(value[-1])}")
    return "\n".join([*lines, "# EOF", ""])


def _labels(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(text: str, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


_LEVELS = ("indexes", "index_bytes", "lexemes", "cache_bytes", "held_bytes", "most_held_bytes")
"""What of `interlock.stats` goes up and down; everything else only grows while a vocabulary lives."""


def watch_core(registry: Registry) -> None:
    """Add what `interlock.stats` counts in this process: compiles, cache hits, guides and masks.

    What is counted so far becomes a counter ``<prefix>_core_<name>``, what there is now (indexes, bytes) a gauge. The
    core forgets the numbers of vocabularies that are gone; the counters keep them.
    """
    seen: dict[str, int] = {}
    lock = threading.Lock()

    def read() -> None:
        with lock:
            for name, number in interlock.stats().items():
                if name in _LEVELS:
                    registry.gauge(f"core_{name}", f"The number {name} of interlock.stats() now.").set(number)
                    continue
                before, seen[name] = seen.get(name, 0), number
                # A smaller number began anew.
                more = number - before if number >= before else number
                registry.counter(f"core_{name}", f"The number {name} of interlock.stats() so far.").add(more)

    registry.before_snapshot(read)


_REASONS: Sequence[tuple[type[Exception], str]] = (
    (interlock.PatternError, "pattern"),
    (interlock.SchemaError, "schema"),
    (interlock.GrammarError, "grammar"),
    (interlock.UnsupportedError, "unsupported"),
    (interlock.UnsatisfiableError, "unsatisfiable"),
    (interlock.LimitError, "limit"),
    (interlock.BudgetError, "budget"),
    (interlock.CancelledError, "cancelled"),
    (interlock.ArgumentError, "argument"),
    (interlock.VocabularyError, "vocabulary"),
    (interlock.ArtifactError, "artifact"),
    (MemoryError, "memory"),
)


def refusal_reason(error: BaseException) -> str:
    """One word for why a source was refused, for a label: ``"schema"``, ``"limit"`` (of work, ``Limits``),
    ``"deadline"`` (of time, ``CancelToken.after``), ``"cancelled"`` (by ``CancelToken.cancel`` or asyncio),
    ``"closed"`` (by ``RequestCompiler.close``), ...; ``"internal"`` for anything that is no refusal of a request:
    ``InternalError``, what a server did with a guide or set up (``TokenRejected``, ``GuideBusyError``,
    ``InvalidOutputError``, ``ToolFormatError``), and other exceptions.
    """
    from interlock.tools.errors import RequestError, StructuralTagError

    if isinstance(error, RequestError):
        if error.code == "grammar":  # One that names a token which it may not name.
            return "grammar"
        return "structural_tag" if isinstance(error, StructuralTagError) else "request"
    if isinstance(error, interlock.InterlockError) and error.code == CLOSED:
        return CLOSED
    if isinstance(error, interlock.CancelledError) and error.is_deadline:
        return "deadline"
    if not isinstance(error, Exception):
        import asyncio

        return "cancelled" if isinstance(error, asyncio.CancelledError) else "internal"
    if getattr(error, "code", None) == TOO_LITTLE_MEMORY:
        return "memory"
    return next((word for kind, word in _REASONS if isinstance(error, kind)), "internal")
