"""The example with verifiers against a stand-in for a server: what it sends, and what comes of the answers."""

from __future__ import annotations

import contextlib
import http.server
import importlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

EXAMPLES = Path(__file__).parents[3] / "examples"


@contextlib.contextmanager
def server(answer: str) -> Iterator[tuple[str, list[dict]]]:
    """A server's address, and the requests that it got. Constrained ones are answered with ``answer``."""
    seen: list[dict] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append(body)
            text = answer if "structured_outputs" in body else "I think that it may be 42."
            message = {"role": "assistant", "content": text}
            reply = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
            }
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *given: object) -> None:
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{made.server_address[1]}/v1", seen
    finally:
        made.shutdown()
        made.server_close()


@pytest.fixture
def example(monkeypatch):
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not here")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    return importlib.import_module("rollouts_verifiers")


def test_the_constraint_goes_with_every_request(example, capsys):
    with server("so, it is 42") as (url, seen):
        example.main(url, "m")
    free, constrained = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert len(free) == len(constrained) == example.GROUP * len(example.SUMS)
    assert not any("structured_outputs" in body for body in free)
    assert all(body["structured_outputs"] == {"regex": example.PATTERN} for body in constrained)
    assert all((body["temperature"], body["max_tokens"]) == (1.0, 24) for body in seen)
    told = capsys.readouterr().out
    # Right once, and 25 away once.
    assert re.search(rf"free: {len(free)} rollouts, 0 in form, mean reward 0\.000", told)
    assert re.search(rf"constrained: {len(free)} rollouts, {len(free)} in form, mean reward 0\.519", told)


def test_another_form_ends_the_program(example):
    with server("42") as (url, _), pytest.raises(SystemExit, match="another form"):
        example.main(url, "m")
