"""The arguments that name a vocabulary.

Commands that only look at a source take a built-in vocabulary of bytes where no tokenizer is given: 256 tokens of one
byte each, and token 256, which ends an output. Commands whose result is for one vocabulary want it named.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re

import interlock
from interlock.cli.arguments.number_arguments import at_least
from interlock.cli.terminal.exits import InputError, UsageError, around_source
from interlock.cli.terminal.output import text_of
from interlock.cli.terminal.place_in_source import PlaceInSource
from interlock.cli.terminal.suggest import near_file
from interlock.explain import byte_vocabulary
from interlock.explain.wording import listed
from interlock.tokenizers import FILES

__all__ = ["add_arguments", "add_details", "byte_vocabulary", "load", "read"]

BYTES = "bytes"
"""The name of the built-in vocabulary."""
MAGIC = b"\x89ilk\r\n\x1a\n"
"""How a pack begins (docs/artifacts.md)."""

ENDINGS = (".json", ".model", ".tiktoken", ".gguf", ".ilk", ".bin", ".txt")
WAYS = (
    "the tokenizer.json in the model's folder; or write what Python loads to a file: "
    "interlock.Vocabulary.from_tokenizer(tiktoken.get_encoding(...)).save('vocabulary.ilk'), "
    "and likewise for AutoTokenizer.from_pretrained(...) and mistral_common's MistralTokenizer.from_file(...)"
)


def add_arguments(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Add the options that name a vocabulary."""
    group = parser.add_argument_group("vocabulary")
    default = "" if required else " (default: bytes, one token per byte)"
    group.add_argument(
        "-t",
        "--tokenizer",
        metavar="FILE",
        required=required,
        default=None if required else BYTES,
        help="tokenizer.json, tekken.json, a tiktoken file, a sentencepiece model, GGUF, a vocabulary pack, or a "
        "model's folder with one of them" + default,
    )
    add_details(group)


def add_details(group: argparse._ArgumentGroup) -> None:
    """Add what a tokenizer file may leave open: stop tokens and the width of the logits."""
    group.add_argument(
        "--eos", metavar="IDS", help="the ids that end an output, with commas, where the file names none"
    )
    group.add_argument(
        "--size", type=at_least(1), metavar="N", help="the width of the logits, where the model pads them"
    )


def read(args: argparse.Namespace) -> interlock.Vocabulary:
    """The vocabulary that the arguments name."""
    return load(args.tokenizer, args.eos, args.size)


def load(path: str, eos: str | None, size: int | None) -> interlock.Vocabulary:
    """The vocabulary in a file or in the folder of a model, or the built-in one for ``bytes``. A file that is named
    ``bytes`` is ``./bytes``.
    """
    if path == BYTES:
        if eos is not None or size is not None:
            raise UsageError(
                f"--eos and --size say what a tokenizer file leaves open, and {BYTES} is no file: name a file, or "
                "leave them out"
            )
        return byte_vocabulary()
    ids = None
    if eos is not None:
        try:
            ids = [int(part) for part in eos.split(",")]
        except ValueError:
            raise UsageError(f"--eos {eos}: write ids with commas, for example --eos 128001,128009") from None
    if not os.path.isfile(path) and (problem := _no_tokenizer(path)) is not None:
        raise problem
    if is_pack(path):
        if ids is not None or size is not None:
            raise UsageError("a vocabulary pack says its stop tokens and its width itself: leave out --eos and --size")
        return interlock.Vocabulary.load(path)
    with around_source():
        try:
            return interlock.Vocabulary.from_file(path, eos_token_ids=ids, size=size)
        except interlock.VocabularyError as error:
            if "no stop token" in str(error) and (special := _special_tokens(path, size)):
                error.located = PlaceInSource("", 0, 0, END, found=False, notes=(special,))  # type: ignore[attr-defined]
            raise


def _special_tokens(path: str, size: int | None) -> str:
    """The special tokens of a file that names no stop token, with their ids: one of them mostly ends an output. Those
    that are named so come first.
    """
    found: dict[int, str] = {}
    for stop in (0, 1):  # A stop token is special, too: what is so in the other reading as well, or is another token.
        with contextlib.suppress(interlock.InterlockError):
            vocabulary = interlock.Vocabulary.from_file(path, eos_token_ids=[stop], size=size)
            for token in vocabulary.special_token_ids:
                name = vocabulary.decode([token], skip_special_tokens=False).decode("utf-8", "backslashreplace")
                if token != stop and name:
                    found[token] = name
    ordered = sorted(found, key=lambda token: (not _ENDS.search(found[token]), token))
    named = [f"{token} {text_of(found[token].encode())}" for token in ordered]
    return f"special tokens of the file: {listed(named)}" if named else ""


_ENDS = re.compile(r"end|eo[stm]|</s>|stop", re.IGNORECASE)
"""Names of tokens that may end an output."""
END = "--eos IDS, the ids that end an output"
"""What to do about a file that names no stop token."""


def _no_tokenizer(path: str) -> InputError | None:
    """What is wrong with a word that is no file, where more can be said than that it is none."""
    if os.path.isdir(path):
        if any(os.path.isfile(os.path.join(path, name)) for name in FILES):
            return None
        return InputError(f"{path} is a folder without a tokenizer", f"name the file: {', '.join(FILES)}")
    if os.path.exists(path):
        return None
    # An ending of letters says that a file is meant; those of gpt-3.5 and Qwen2.5-7B do not.
    if near_file(path) or os.path.splitext(path)[1].lower() in ENDINGS:
        return None
    return InputError(
        f"no file is named {path}; a tokenizer is a file, and not the name of a model or an encoding", WAYS
    )


def require_token(option: str, token: int, vocabulary: interlock.Vocabulary) -> None:
    """``UsageError`` for an id that no token of the vocabulary has."""
    if not 0 <= token < vocabulary.size:
        raise UsageError(
            f"{option}: no token has the id {token}; the ids of this vocabulary are 0 to {vocabulary.size - 1}"
        )


def is_pack(path: str) -> bool:
    """Whether a file begins as packs do. What is no regular file is none, and nobody waits at a pipe to find out."""
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC
