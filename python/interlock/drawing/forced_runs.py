"""An output with what is forced in it: text for which no model has to be asked."""

from __future__ import annotations

import random
from dataclasses import dataclass

import interlock
from interlock._recipe import Recipe
from interlock.samples.plausible import everyday, example


@dataclass(frozen=True)
class Run:
    """A stretch of an output: forced, or chosen character by character."""

    text: str
    forced: bool


def forced_runs(index: interlock.Index, data: bytes) -> list[Run]:
    """An output of an index over bytes as stretches that are forced and stretches that are chosen."""
    guide = index.guide()
    parts: list[tuple[bytes, bool]] = []
    at = 0
    while at < len(data):
        forced = guide.forced_bytes()
        if forced and data.startswith(forced[: len(data) - at], at):
            piece, kind = data[at : at + len(forced)], True
        else:
            end = at + 1
            while end < len(data) and 0x80 <= data[end] < 0xC0:
                end += 1
            piece, kind = data[at:end], False
        if guide.advance_many(list(piece)) < len(piece):
            break
        at += len(piece)
        if parts and parts[-1][1] == kind:
            parts[-1] = (parts[-1][0] + piece, kind)
        else:
            parts.append((piece, kind))
    return [Run(piece.decode("utf-8", "replace"), kind) for piece, kind in parts]


def example_runs(recipe: Recipe, seed: int = 0) -> list[Run]:
    """A plausible output of a source, with what is forced in it; empty if none was found."""
    try:
        data = example(recipe, random.Random(seed))
    except interlock.VocabularyError:  # Special tokens of a grammar, which bytes cannot spell.
        return []
    return [] if data is None else forced_runs(recipe.compile(), data)


def count_forced(runs: list[Run]) -> tuple[int, int]:
    """The characters that are forced, and all of them."""
    return sum(len(run.text) for run in runs if run.forced), sum(len(run.text) for run in runs)


def forced_otherwise(recipe: Recipe, runs: list[Run]) -> str:
    """What of the same output would be forced if JSON were written in one way; empty where that is no more."""
    if recipe.method != "from_json_schema" or not runs:
        return ""
    forced, whole = count_forced(forced_runs(everyday(recipe), "".join(run.text for run in runs).encode()))
    if forced <= count_forced(runs)[0]:
        return ""
    return f"with whitespace spaced and spelling plain, {forced} of {whole} would be"
