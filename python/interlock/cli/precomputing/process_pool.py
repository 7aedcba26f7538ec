"""Worker processes that outlive nothing and whose death ends nothing; or, for little work, none.

A thread for each process hands it an item and waits for its answer. A process that dies is replaced; its item is tried
once more, because the end may have come from outside, and is then reported as the one that ends its worker.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import interlock
from interlock.cli.precomputing.worker import Item, Task, Worker
from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.exits import InputError

STARTS = 5
"""How often a worker may end before it is ready; more than that is no accident."""
PATIENCE = 1.0
"""Seconds that an interrupted run gives its workers together to finish what they are writing."""
FEW = 8
"""So many sources, if they are small, take less time than the start of a process for them."""
SMALL = 32 * 1024
"""Bytes that few sources may have together."""


def are_little(items: list[Item]) -> bool:
    """Whether the work is done sooner in this process than in others that are started for it."""
    if len(items) > FEW:
        return False
    try:
        return sum(os.path.getsize(item.path) if item.length < 0 else item.length for item in items) <= SMALL
    except OSError:  # It is reported as what cannot be read, wherever that is tried.
        return False


class Alone:
    """This process does the work. It has what ``Pool`` has; a source that ends the process ends the run."""

    def __init__(self, task: Task, vocabulary: interlock.Vocabulary) -> None:
        self.task = task
        self.vocabulary = vocabulary

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def rows(self, items: Iterable[Item]) -> Iterator[dict[str, Any]]:
        """The rows of all items, in their order."""
        worker = Worker(self.task, self.vocabulary)
        for item in items:
            row = worker.handle(item)
            if "fatal" in row:
                raise InputError(row["error"]["message"])
            yield row


class Pool:
    """``jobs`` processes for one task. ``with Pool(...) as pool: for row in pool.rows(items): ...``"""

    def __init__(self, task: Task, jobs: int) -> None:
        self.task = task
        self.jobs = jobs
        self.answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.processes: set[subprocess.Popen[bytes]] = set()

    def __enter__(self) -> Pool:
        atomic_files.on_interrupt(self.close)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, items: Iterable[Item]) -> Iterator[dict[str, Any]]:
        """The rows of all items, in the order in which they are done."""
        source = iter(list(items))
        threads = [threading.Thread(target=self._serve, args=(source,), daemon=True) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            row = self.answers.get()
            if row is None:
                left -= 1
            elif "fatal" in row:
                raise InputError(row["error"]["message"])
            else:
                yield row
        if self.stopped.is_set():  # Interrupted: the main thread is about to end the process.
            threading.Event().wait()

    def close(self) -> None:
        """End all processes; each may first finish what it is writing."""
        self.stopped.set()
        with self.lock:
            processes, self.processes = self.processes, set()
        for process in processes:
            try:
                if process.stdin is not None:
                    process.stdin.close()
            except OSError:  # It has died.
                continue
        deadline = time.monotonic() + PATIENCE
        for process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
        for process in processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _serve(self, source: Iterator[Item]) -> None:
        process = None
        try:
            while not self.stopped.is_set():
                with self.lock:
                    item = next(source, None)
                if item is None:
                    return
                row = None
                for _ in range(2):
                    process = process or self._start()
                    row = _ask(process, item)
                    if row is not None or self.stopped.is_set():
                        break
                    code = self._forget(process)
                    process = None
                if row is None and not self.stopped.is_set():
                    message = f"two workers ended while they compiled this, the second one with exit code {code}"
                    row = {"name": item.name, "key": None, "ok": False}
                    row["error"] = {"type": "WorkerDied", "message": message}
                if row is not None:
                    self.answers.put(row)
        except Exception as error:  # Without this, the run would wait for ever.
            if not self.stopped.is_set():
                self.answers.put({"fatal": True, "error": {"message": str(error)}})
        finally:
            self.answers.put(None)

    def _start(self, tries: int = STARTS) -> subprocess.Popen[bytes]:
        """A process that is ready. In a group of its own: Ctrl-C is for the one who started it."""
        alone: dict[str, Any] = {} if os.name == "nt" else {"process_group": 0}
        command = [sys.executable, "-m", "interlock.cli.precomputing.worker"]
        with self.lock:
            if self.stopped.is_set():
                raise InputError("stopped")
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **alone)
            self.processes.add(process)
        answer = _ask(process, self.task)
        if answer is None and not self.stopped.is_set():
            code = self._forget(process)
            if tries == 1:
                raise InputError(f"a worker cannot be started: it ended with exit code {code}")
            return self._start(tries - 1)
        if answer is None:
            raise InputError("stopped")
        if "error" in answer:
            raise InputError(answer["error"]["message"])
        return process

    def _forget(self, process: subprocess.Popen[bytes]) -> int:
        with self.lock:
            self.processes.discard(process)
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # What was written and not sent is lost with the process.
                continue
        return process.wait()


def _ask(process: subprocess.Popen[bytes], what: Item | Task) -> dict[str, Any] | None:
    """The answer of a process; ``None`` if it has died."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps(what).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    except (OSError, ValueError):
        return None
    return answer
