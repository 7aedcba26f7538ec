"""The folder of the models, and the servers that tests ask for: one at a time, each started once."""

import os
from pathlib import Path

import pytest
from models import make
from server import Server

NGRAMS = '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1}'

SERVERS = {
    # SmolLM2, with prompts that are cut into chunks, prefixes that are found again, and a parser of tool calls.
    "smollm2": (
        "smollm2",
        "--max-model-len 1024 --max-num-seqs 32 --max-num-batched-tokens 64 --enable-chunked-prefill "
        "--enable-prefix-caching --enable-auto-tool-choice --tool-call-parser hermes",
        {},
    ),
    # A random model with 129,000 tokens, padded logits and added tokens.
    "tiny": (
        "tiny",
        "--max-model-len 512 --max-num-seqs 32 --enable-auto-tool-choice --tool-call-parser hermes",
        {"INTERLOCK_VLLM_WHITESPACE": "compact"},
    ),
    # The random model with reasoning before its output.
    "reasoning": ("tiny", "--max-model-len 512 --max-num-seqs 8 --reasoning-parser deepseek_r1", {}),
    # The random model with n-gram drafts, and forced tokens behind them.
    "ngram": (
        "tiny",
        f"--max-model-len 512 --max-num-seqs 16 --speculative-config {NGRAMS.replace(' ', '')}",
        {"INTERLOCK_VLLM_WHITESPACE": "compact"},
    ),
}
"""Model, arguments and environment of each."""


def on(*names):
    """A test of these servers, one after the other."""
    return pytest.mark.parametrize("server", names, indirect=True)


@pytest.fixture(scope="session")
def model_folder():
    folder = Path(os.environ.get("INTERLOCK_TEST_MODELS", Path.home() / ".cache" / "interlock" / "test-models"))
    make(folder)
    return folder


@pytest.fixture(scope="session")
def server(request, model_folder, tmp_path_factory):
    """A running server. pytest orders tests so that each is started once, and stops it before the next."""
    model, args, env = SERVERS[request.param]
    log = tmp_path_factory.mktemp("log") / f"{request.param}.log"
    with Server(model_folder / model, *args.split(), env=env, log=log) as running:
        yield running
