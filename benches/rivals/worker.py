"""A process that holds one engine and one vocabulary, and does jobs in forked children.

    worker.py ENGINE SIZE

Reads jobs from its standard input, one JSON object a line, and writes one answer a line. Every job runs in a child, so
nothing that one job leaves behind helps or hinders the next: a child is a fresh process in which only the vocabulary is
ready. A child that takes more seconds than its `limit`, on the clock as everything here, is killed, and one that wants
more memory than there is reason for gets none. A job with `alone` runs in this process instead, without a limit, and is
to be the only one. The first line that the worker writes says how long the vocabulary took and what the
process holds.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import jobs
from child import wait_for
from corpus import vocabulary
from engines import ENGINES
from machine import resident

ADDRESS_SPACE = 14 << 30


def child(job: dict[str, Any], engine: Any, answer: int) -> None:
    """Do one job and write its answer into a pipe. Never returns."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        try:
            result = getattr(jobs, job["do"])(engine, job)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"[:200]}
        data = json.dumps(result).encode()
        while data:
            data = data[os.write(answer, data) :]
    finally:
        os._exit(0)


def run(job: dict[str, Any], engine: Any) -> dict[str, Any]:
    """One job in a child; what went wrong where the child does not answer."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        child(job, engine, writer)
    os.close(writer)
    data, status = wait_for(pid, reader, job["limit"])
    try:
        return dict(json.loads(data))
    except ValueError:
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        return {"error": f"over {job['limit']:g} s" if late else f"the process died with status {status}"}


def main() -> None:
    # Libraries may print; answers go where nothing else does.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tokens = vocabulary(int(sys.argv[2]))
    _ = tokens.encoding
    before = resident()
    start = time.perf_counter()
    engine = ENGINES[sys.argv[1]](tokens)
    ready = {"seconds": time.perf_counter() - start, "before": before, "resident": resident()}
    ready["torch"] = "torch" in sys.modules
    print(json.dumps(ready), file=answers, flush=True)
    # Children share these pages as long as no collection writes into them.
    gc.collect()
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        job = json.loads(line)
        answer = getattr(jobs, job["do"])(engine, job) if job.get("alone") else run(job, engine)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
