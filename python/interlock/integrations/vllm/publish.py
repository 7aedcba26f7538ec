"""Numbers of all of a server's processes in vLLM's ``/metrics``.

The engine counts in one process and ``/metrics`` is served by another. Each process writes its numbers into a folder,
once a second if they changed; the one that is asked adds them up.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.integrations.metrics import Registry, Snapshot, merge
from interlock.integrations.vllm.options import STATE_VARIABLE

__all__ = ["Collector", "Publisher", "make_folder", "snapshot_of_all"]

logger = logging.getLogger("vllm.interlock")

SECONDS = 1.0


def make_folder() -> Path:
    """The folder of this server's numbers, made by its first process and inherited by the others."""
    known = os.environ.get(STATE_VARIABLE)
    if known and Path(known).is_dir():
        return Path(known)
    folder = Path(tempfile.mkdtemp(prefix="interlock-vllm-"))
    os.environ[STATE_VARIABLE] = str(folder)
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


class Publisher:
    """Writes this process's numbers into the folder, in a thread."""

    def __init__(self, registry: Registry, folder: Path) -> None:
        self._registry, self._folder = registry, folder
        self._written = ""
        self._thread = threading.Thread(target=self._run, name="interlock-metrics", daemon=True)

    def start(self) -> None:
        """Write now and from now on."""
        self.write()
        self._thread.start()

    def write(self) -> None:
        """Write the numbers, if they changed."""
        text = json.dumps(self._registry.snapshot())
        if text == self._written:
            return
        path = self._folder / f"{os.getpid()}.json"
        part = path.with_suffix(".part")
        try:
            part.write_text(text)
            part.replace(path)
            self._written = text
        except OSError as error:
            logger.debug("the numbers of interlock were not written: %s", error)

    def _run(self) -> None:
        wait = threading.Event()
        while self._folder.is_dir():
            wait.wait(SECONDS)
            self.write()


def snapshot_of_all(registry: Registry, folder: Path) -> Snapshot:
    """The numbers of this process and of all others that wrote theirs."""
    snapshots = [registry.snapshot()]
    for path in sorted(folder.glob("*.json")):
        if path.stem != str(os.getpid()):
            with contextlib.suppress(OSError, ValueError):
                snapshots.append(json.loads(path.read_text()))
    return merge(snapshots)


class Collector:
    """What ``prometheus_client`` asks for metrics."""

    def __init__(self, registry: Registry, folder: Path) -> None:
        self._registry, self._folder = registry, folder

    def describe(self) -> list[Any]:
        """No names beforehand: they are known when the numbers are."""
        return []

    def collect(self) -> Iterator[Any]:
        """All metrics, as families of ``prometheus_client``."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        for name, metric in snapshot_of_all(self._registry, self._folder).items():
            kind, labels = metric["kind"], metric["labels"]
            if kind == "histogram":
                family = HistogramMetricFamily(name, metric["help"], labels=labels)
                for key, numbers in metric["series"]:
                    count, buckets = 0, []
                    for bound, seen in zip([*map(str, metric["buckets"]), "+Inf"], numbers[:-1], strict=True):
                        count += int(seen)
                        buckets.append((bound, count))
                    family.add_metric(key, buckets=buckets, sum_value=numbers[-1])
            else:
                family = (CounterMetricFamily if kind == "counter" else GaugeMetricFamily)(
                    name, metric["help"], labels=labels
                )
                for key, number in metric["series"]:
                    family.add_metric(key, number)
            yield family
