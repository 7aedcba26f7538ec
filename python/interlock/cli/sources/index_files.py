"""An index file, which ``compile`` writes, as a source: what it was compiled from is in it."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from interlock import _core
from interlock._recipe import OPTIONS
from interlock.cli.sources import kind_options
from interlock.cli.sources.source_arguments import Source
from interlock.cli.sources.vocabularies import is_pack
from interlock.cli.terminal.exits import InputError

__all__ = ["is_index", "read"]


def is_index(word: str) -> bool:
    """Whether a word names a file that begins as artifacts do."""
    return os.path.isfile(word) and is_pack(word)


def read(word: str, args: argparse.Namespace) -> Source:
    """The source of an index file. ``InputError`` for a vocabulary, which is an artifact too."""
    try:
        vocabulary, _, recipe = _core._verify_pack(word)
    except _core.ArtifactError as error:
        try:
            _core._verify_vocabulary(word)
        except _core.ArtifactError:
            raise error from None
        raise InputError(f"{word} is a vocabulary and no index: give it with --tokenizer") from None
    kind_options.refuse_all(args, word)
    method, (text, _, *values) = json.loads(recipe)
    options: dict[str, Any] = {
        name: value for name, value in zip(OPTIONS[method], values, strict=True) if value not in (None, {})
    }
    return Source(method.removeprefix("from_"), text, options, word, compiled=(word, vocabulary))
