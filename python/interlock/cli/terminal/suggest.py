"""What was probably meant: commands, options, values and files that are near to a misspelt one.

Commands are also known by the names that other tools have for them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from interlock.util.near_words import nearest

SYNONYMS = {
    **dict.fromkeys(("validate", "test", "walk", "match", "accept", "eval", "run"), "check"),
    **dict.fromkeys(("explain", "why"), "check"),
    **dict.fromkeys(("lint", "info", "show", "describe", "report", "stats", "analyze", "analyse"), "inspect"),
    **dict.fromkeys(("generate", "gen", "example", "examples", "fuzz", "random"), "sample"),
    **dict.fromkeys(("graph", "render", "plot", "visualize", "visualise", "svg", "dot"), "draw"),
    **dict.fromkeys(("debug", "replay", "steps"), "trace"),
    **dict.fromkeys(("compare", "equal", "equivalent"), "diff"),
    **dict.fromkeys(("build", "make", "save"), "compile"),
    **dict.fromkeys(("batch", "precompile", "warm", "store"), "precompute"),
    **dict.fromkeys(("fsck", "audit"), "verify"),
    **dict.fromkeys(("tokenizer", "tokens", "tokenize"), "vocab"),
    **dict.fromkeys(("benchmark", "time", "profile", "speed"), "bench"),
    "version": "--version",
    **dict.fromkeys(("completions", "complete"), "completion"),
}
"""What other tools call the commands."""


OPTIONS = {
    **dict.fromkeys(("vocab", "vocabulary", "model"), "tokenizer"),
    **dict.fromkeys(("silent", "no-progress"), "quiet"),
    **dict.fromkeys(("number", "num", "samples"), "count"),
    **dict.fromkeys(("unique", "uniq", "no-repeats"), "distinct"),
    **dict.fromkeys(("output", "output-file", "file"), "out"),
    **dict.fromkeys(("workers", "processes", "threads", "parallel"), "jobs"),
    **dict.fromkeys(("input", "string"), "text"),
    **dict.fromkeys(("validate", "validity", "any-form"), "valid"),
    "budget": "max-tokens",
    "stop": "eos",
    "strict": "unknown-keywords error",
}
"""What other tools call the options."""


VALUES = {
    **dict.fromkeys(("js", "javascript", "ecmascript", "ecma262", "ecma-262", "jsonschema"), "ecma"),
    **dict.fromkeys(("py", "re", "python3", "sre"), "python"),
    **dict.fromkeys(("llama.cpp", "llamacpp", "llama"), "gbnf"),
    **dict.fromkeys(("xgrammar", "bnf"), "ebnf"),
    "sh": "bash",
}
"""What other tools call the values of options."""


def near_value(word: str, known: Collection[str]) -> str:
    """The value of an option that was probably meant; empty if none."""
    other = VALUES.get(word.lower(), "")
    return other if other in known else nearest(word, known)


def near_option(word: str, known: Collection[str]) -> str:
    """The option that was probably meant, without dashes, and its value where it says what was meant; empty if none."""
    other = OPTIONS.get(word.lower(), "")
    if other.partition(" ")[0] in known:
        return other
    begun = [name for name in known if len(word) > 2 and name.startswith(word)]
    return begun[0] if len(begun) == 1 else nearest(word, known, 0.65)


def near_command(word: str, known: Iterable[str]) -> str:
    """The command that was probably meant; empty if none."""
    return SYNONYMS.get(word.lower()) or nearest(word, known)


READABLE = (".index", ".ilk", ".jsonl", ".ndjson", ".txt", ".model", ".tiktoken", ".gguf", ".toml", "")
"""Endings of files that some command reads, beside those of sources. Drawings and pages are read by none."""


def near_file(path: str, endings: Collection[str] = ()) -> str:
    """The file beside ``path`` whose name is nearest; empty if none is near, or the folder cannot be read. ``endings``
    are those of the files that would do: by default that of ``path`` itself, and those that some command reads.
    """
    from interlock.cli.sources.source_words import SUFFIXES

    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name.lower())
    wanted = set(endings) or {*SUFFIXES, *READABLE, ending}
    try:
        names = [n for n in sorted(os.listdir(folder or ".")) if not n.startswith(".") and _ending(n) in wanted]
        names = [n for n in names if n != name]  # A link to nothing is there, and is not what was meant.
    except OSError:
        return ""
    # Of files with the same ending only the rest is compared: the ending alone makes no two names alike.
    alike = {os.path.splitext(n)[0]: n for n in names if n.lower().endswith(ending)}
    found = alike.get(nearest(stem, alike), "") if ending else nearest(name, names)
    if not found:
        found = nearest(name, names, 0.85)
    if not found:
        found = next((n for n in names if os.path.splitext(n)[0].lower() == stem and stem), "")
    return os.path.join(folder, found) if found else ""


def _ending(name: str) -> str:
    return os.path.splitext(name)[1].lower()
