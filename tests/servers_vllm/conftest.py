"""The folder of the models, and the servers that tests share."""

import os
from pathlib import Path

import pytest
from models import make
from server import Server


@pytest.fixture(scope="session")
def model_folder():
    folder = Path(os.environ.get("INTERLOCK_TEST_MODELS", Path.home() / ".cache" / "interlock" / "test-models"))
    make(folder)
    return folder


@pytest.fixture(scope="session")
def smollm2(model_folder, tmp_path_factory):
    """SmolLM2, with prompts that are cut into chunks and prefixes that are found again."""
    log = tmp_path_factory.mktemp("log") / "smollm2.log"
    args = ["--max-model-len", "1024", "--max-num-seqs", "32", "--max-num-batched-tokens", "64"]
    args += ["--enable-chunked-prefill", "--enable-prefix-caching"]
    args += ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]
    with Server(model_folder / "smollm2", *args, log=log) as server:
        yield server


@pytest.fixture(scope="session")
def tiny(model_folder, tmp_path_factory):
    """A random model with 129,000 tokens, padded logits and added tokens."""
    log = tmp_path_factory.mktemp("log") / "tiny.log"
    args = ["--max-model-len", "512", "--max-num-seqs", "32"]
    with Server(model_folder / "tiny", *args, log=log, env={"INTERLOCK_VLLM_WHITESPACE": "compact"}) as server:
        yield server


@pytest.fixture(scope="session")
def reasoning(model_folder, tmp_path_factory):
    """The random model with reasoning before its output."""
    log = tmp_path_factory.mktemp("log") / "reasoning.log"
    args = ["--max-model-len", "512", "--max-num-seqs", "8", "--reasoning-parser", "deepseek_r1"]
    with Server(model_folder / "tiny", *args, log=log) as server:
        yield server


@pytest.fixture(scope="session")
def ngram(model_folder, tmp_path_factory):
    """The random model with n-gram drafts, and forced tokens behind them."""
    log = tmp_path_factory.mktemp("log") / "ngram.log"
    drafts = '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1}'
    args = ["--max-model-len", "512", "--max-num-seqs", "16", "--speculative-config", drafts]
    with Server(model_folder / "tiny", *args, log=log, env={"INTERLOCK_VLLM_WHITESPACE": "compact"}) as server:
        yield server
