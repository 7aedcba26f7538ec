"""Workers as the measuring side sees them: start, ask, and put the answers of several rounds together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from answers import never
from corpus import Source, vocabulary


class Worker:
    """A running `worker.py`. ``ready`` is what it said when its vocabulary was made."""

    def __init__(self, engine: str, size: int = 128_256) -> None:
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), engine, str(size)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.engine = engine
        assert self.process.stdin and self.process.stdout
        self.write, self.read = self.process.stdin, self.process.stdout
        self.ready: dict[str, Any] = json.loads(self.read.readline())

    def ask(self, do: str, limit: float, **job: Any) -> dict[str, Any]:
        """The answer to one job; a dictionary with the key ``error`` where there is none."""
        print(json.dumps({"do": do, "limit": limit, **job}), file=self.write, flush=True)
        return dict(json.loads(self.read.readline()))

    def close(self) -> None:
        """End the process."""
        self.write.close()
        self.process.wait()
        self.read.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def job_of(source: Source, size: int = 128_256) -> dict[str, Any]:
    """A source as jobs name it, its texts cut into tokens."""
    tokens = vocabulary(size)
    return {
        "kind": source.kind,
        "text": source.text,
        "members": [tokens.cut(text) for text in source.members],
        "outsiders": [tokens.cut(text) for text in source.outsiders],
        "never": never(source.kind, source.text, tokens.tokens),
    }


def least(rounds: list[list[int]]) -> list[int]:
    """Position by position, the least of several rounds: what the code costs, without what the machine added."""
    return [min(at) for at in zip(*rounds, strict=True)]


def least_each(rounds: list[list[list[int]]]) -> list[list[int]]:
    """The same of each of several lists."""
    return [least(list(each)) for each in zip(*rounds, strict=True)]
