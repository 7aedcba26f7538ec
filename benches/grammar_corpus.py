"""Real files and random sentences through the grammars of `interlock.grammars` and the languages' own parsers.

    python benches/grammar_corpus.py files java 'src/**/*.java' [--count 300] [--bytes 60000] [--processes 2]
    python benches/grammar_corpus.py sentences go [--count 1000] [--size 150] [--seed 1]

*files*: how many of the files Lark accepts with the grammar, and where the others are refused. C has to be preprocessed
before, without extensions of the compiler: ``gcc -std=c11 -E -P -D'__attribute__(x)=' -D__extension__= …``.

*sentences*: how many random sentences the language's own parser refuses for their syntax, by its message: `ast.parse`,
SQLite, gofmt, javac, gcc, `csv`, `json`, `xml.etree`. gofmt, javac and gcc have to be on the path.
"""

from __future__ import annotations

import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import lark

os.environ["INTERLOCK_GRAMMAR_LIBRARY"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python" / "support"))

from glr_recognizer import Recognizer
from grammar_sampler import NOT_LALR, TYPE_NAME, Sampler, parser
from test_grammars_library import JUDGES

COMPILERS = {
    "go": ["gofmt", "-e", "-l"],
    "c": ["gcc", "-std=c11", "-w", "-fsyntax-only", "-fmax-errors=0"],
    "java": [
        "javac",
        "-proc:none",
        "-XDshould-stop.ifError=PARSE",
        "-XDshould-stop.ifNoError=PARSE",
        "-Xmaxerrs",
        "100000",
    ],
}
# gcc mixes syntax and meaning: these words are about syntax.
SYNTAX_OF_C = re.compile("expected|stray|missing term|invalid suffix|syntax")


class Reader:
    """Says where a grammar refuses a text."""

    def __init__(self, name: str) -> None:
        self.compiled = parser(name)
        self.recognizer = Recognizer(self.compiled) if name in NOT_LALR else None

    def refusal(self, text: str) -> str | None:
        error: Any
        if self.recognizer is not None:
            error = self.recognizer.refused_at(text)
        else:
            try:
                self.compiled.parse(text)
                error = None
            except (lark.exceptions.LarkError, lark.indenter.DedentError) as raised:
                error = raised
        if error is None:
            return None
        line = getattr(error, "line", None)
        lines = text.split("\n")
        where = f" | {lines[line - 1].strip()[:100]}" if isinstance(line, int) and 0 < line <= len(lines) else ""
        return str(error).split("\n")[0][:100] + where


def read(name: str, files: list[str]) -> list[tuple[str, int, float, str | None]]:
    reader = Reader(name)
    out = []
    for file in files:
        try:
            with open(file, encoding="utf-8", newline="") as opened:
                text = opened.read()
        except UnicodeDecodeError:
            continue
        # A file that Python itself refuses is no Python.
        if name == "python" and JUDGES[name](text) is not None:
            continue
        start = time.perf_counter()
        refusal = reader.refusal(text)
        out.append((file, len(text), time.perf_counter() - start, refusal))
    return out


def files(options: argparse.Namespace) -> None:
    found = sorted(file for pattern in options.patterns for file in glob.glob(pattern, recursive=True))
    found = [file for file in found if os.path.isfile(file) and 0 < os.path.getsize(file) <= options.bytes]
    random.Random(options.seed).shuffle(found)
    found = found[: options.count]
    parts = [found[at :: options.processes] for at in range(options.processes)]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = [row for part in pool.map(read, [options.name] * len(parts), parts) for row in part]
    refused = [row for row in rows if row[3] is not None]
    print(f"{options.name}: {len(rows) - len(refused)} of {len(rows)} files accepted")
    for file, _, _, refusal in refused:
        print(f"  {file}: {refusal}")


def sentences(options: argparse.Namespace) -> None:
    name = options.name
    reader = Reader(name)
    sampler = Sampler(reader.compiled, name, options.seed)
    texts = [sampler.sentence(sampler.random.randint(3, options.size)) for _ in range(options.count)]
    kept = [text for text in texts if reader.refusal(text) is None]
    expansions = sum(map(len, sampler.rules.values()))
    print(
        f"{name}: {len(kept)} of {len(texts)} sentences read back, {len(sampler.used)} of {expansions} expansions used"
    )
    if name in JUDGES:
        reasons = {text: reason for text in kept if (reason := JUDGES[name](text)) is not None}
    else:
        reasons = compiled(name, kept)
    print(f"{name}: {len(reasons)} refused")
    for message, count in Counter(re.sub(r"['‘\"`].*?['’\"`]|\d+", "…", r) for r in reasons.values()).most_common(20):
        print(f"  {count:4} {message}")
    for text, reason in list(reasons.items())[:5]:
        print(f"  {reason}\n      {text[:400]!r}")


def compiled(name: str, texts: list[str]) -> dict[str, str]:
    """The first complaint about the syntax of each text."""
    reasons: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"s{at}.{name}")) for at in range(len(texts))]
        for path, text in zip(paths, texts):
            Path(path).write_text(f"typedef int {TYPE_NAME};\n{text}" if name == "c" else text, encoding="utf-8")
        result = subprocess.run([*COMPILERS[name], *paths], capture_output=True, text=True, cwd=folder)
        for line in result.stderr.splitlines():
            found = re.match(rf"{re.escape(folder)}/s(\d+)\.\w+:\d+(?::\d+)?: (?:error: )?(.*)", line)
            if found and (name != "c" or SYNTAX_OF_C.search(found[2])):
                reasons.setdefault(texts[int(found[1])], found[2])
    return reasons


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = options.add_subparsers(required=True)
    part = parts.add_parser("files")
    part.set_defaults(run=files)
    part.add_argument("name")
    part.add_argument("patterns", nargs="+")
    part.add_argument("--count", type=int, default=300)
    part.add_argument("--bytes", type=int, default=60_000)
    part.add_argument("--processes", type=int, default=2)
    part.add_argument("--seed", type=int, default=1)
    part = parts.add_parser("sentences")
    part.set_defaults(run=sentences)
    part.add_argument("name")
    part.add_argument("--count", type=int, default=1000)
    part.add_argument("--size", type=int, default=150)
    part.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    chosen.run(chosen)


if __name__ == "__main__":
    main()
