"""A vLLM server with the backend ``interlock``, and what a client needs to talk to it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from patience import SECONDS  # noqa: E402

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Two servers' logs in one terminal help nobody.
    "VLLM_CONFIGURE_LOGGING": "1",
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Reply:
    """An HTTP status and the JSON that came with it."""

    def __init__(self, status, body):
        self.status, self.body = status, body

    @property
    def error(self):
        return self.body["error"]["message"]

    @property
    def choices(self):
        return self.body["choices"]

    @property
    def texts(self):
        return [c["text"] if "text" in c else c["message"]["content"] for c in self.choices]

    @property
    def text(self):
        (text,) = self.texts
        return text

    @property
    def finish(self):
        return self.choices[0]["finish_reason"]

    def __repr__(self):
        return f"{self.status} {json.dumps(self.body, ensure_ascii=False)[:600]}"


class Server:
    """One server process, started by ``with``. ``args`` are vLLM's, ``env`` adds variables."""

    def __init__(self, model, *args, env=None, log=None, start_seconds=SECONDS):
        self.model, self.args, self.env, self.start_seconds = model, args, env or {}, start_seconds
        self.log = Path(log or tempfile.mkstemp(suffix=".log")[1])
        self.port = free_port()

    def __enter__(self):
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(self.model)]
        command += ["--served-model-name", "m", "--dtype", "float32", "--enforce-eager", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--structured-outputs-config.backend", "interlock", *self.args]
        # A working directory of its own: a folder called vllm in it would hide the package.
        self.folder = tempfile.TemporaryDirectory()
        self.output = self.log.open("w")
        self.process = subprocess.Popen(
            command,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            cwd=self.folder.name,
            env={**os.environ, **ENVIRONMENT, **self.env},
            start_new_session=True,
        )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait(self):
        end = time.monotonic() + self.start_seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.log_text()[-4000:]}")
            with contextlib.suppress(OSError):
                if self.get("/health").status == 200:
                    return
            time.sleep(0.5)
        raise RuntimeError(f"the server is not up after {self.start_seconds} s:\n{self.log_text()[-4000:]}")

    def __exit__(self, *exception):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.output.close()
        self.folder.cleanup()

    def log_text(self):
        return self.log.read_text(errors="replace")

    # --- requests -------------------------------------------------------------------------------------------------

    def _connection(self, timeout=SECONDS):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def get(self, path):
        with contextlib.closing(self._connection()) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return Reply(answer.status, answer.read().decode())

    def post(self, path, **body):
        text = json.dumps({"model": "m", **body})
        with contextlib.closing(self._connection()) as connection:
            connection.request("POST", path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read().decode()
        try:
            return Reply(answer.status, json.loads(data))
        except ValueError:
            return Reply(answer.status, {"error": {"message": data}})

    def complete(self, prompt="Hello", constraint=None, **body):
        """A completion. ``constraint`` is what ``structured_outputs`` holds."""
        given = {"max_tokens": 64, "temperature": 1.0, **body}
        if constraint is not None:
            given["structured_outputs"] = constraint
        return self.post("/v1/completions", prompt=prompt, **given)

    def chat(self, content, **body):
        """A chat completion with one message."""
        given = {"max_tokens": 128, "temperature": 0.0, **body}
        return self.post("/v1/chat/completions", messages=[{"role": "user", "content": content}], **given)

    def stream(self, path, abort_after=None, **body):
        """The deltas of a streamed answer. With ``abort_after`` the connection is closed after so many."""
        text = json.dumps({"model": "m", "stream": True, **body})
        with contextlib.closing(self._connection()) as connection:
            connection.request("POST", path, text, {"Content-Type": "application/json"})
            with connection.getresponse() as answer:
                if answer.status != 200:
                    return Reply(answer.status, json.loads(answer.read()))
                deltas = []
                for line in answer:
                    line = line.decode().strip()
                    if not line.startswith("data: ") or line == "data: [DONE]":
                        continue
                    part = json.loads(line[6:])
                    if "error" in part:
                        return Reply(part["error"].get("code", 0), part)
                    for choice in part["choices"]:
                        deltas.append(choice.get("text") or (choice.get("delta") or {}).get("content") or "")
                    if abort_after is not None and len(deltas) >= abort_after:
                        break
                return deltas

    def at_once(self, calls):
        """The answers of functions that are called at the same time."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return [future.result() for future in [pool.submit(call) for call in calls]]

    def metrics(self):
        """The samples of ``/metrics`` by name and labels."""
        samples = {}
        for line in self.get("/metrics").body.splitlines():
            if line and not line.startswith("#"):
                name, _, number = line.rpartition(" ")
                samples[name] = float(number)
        return samples
