"""SGLang itself: what these tests need is installed by ``make test-sglang``, and nothing else runs them."""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("sglang", reason="SGLang is not installed: make test-sglang")

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "stand_ins")]
os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")

import serving  # noqa: E402


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The folder of a small model."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    serving.make_model(folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer(model):
    """Its tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)
