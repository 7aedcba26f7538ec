"""interlock beside llguidance, XGrammar and outlines-core: one run, one thread, a fresh process for each engine.

    python benches/rivals.py [--engines interlock,llguidance] [--output docs/benchmarks.md]

Every engine compiles the same patterns and schemas over the same 128,256 tokens and follows the same members, token by
token; an engine that refuses a member's token has a wrong answer, which the table counts. Figures: compile and first
mask for a source that the process has not seen (cold) and once more (again), and mask + advance over all positions. The
engine ``nothing`` only runs the loop: what it costs, the others cost without their fault. Engines that are not
installed are left out, and said to be. The sources and members below are ours, written for this page.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

PATTERNS: list[tuple[str, str]] = [
    (r"\d{4}-\d{2}-\d{2}", "2031-07-09"),
    (r"(yes|no|maybe)( please)?", "maybe please"),
    (r"[a-z]{1,200}", "constrained" * 9),
    (r"\w{1,64}", "snake_case_42"),
    (r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", "-12.5e+10"),
    (r"[a-z0-9._%+-]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}", "first.last+tag@mail.example.org"),
    (r"(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}", "192.168.17.254"),
    (r"https?://([a-z0-9-]+\.)+[a-z]{2,6}(/[\w./?=&%-]*)?", "https://docs.example.com/a/b?c=d"),
    (r"(GET|PUT|POST|DELETE) /[a-z/]{1,60} HTTP/1\.[01]", "POST /orders/list HTTP/1.1"),
    (r".*a.{10}", "the last a then ten.."),
]

SCHEMAS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string", "maxLength": 1024}, "A sentence of some length, with commas, and an end."),
    ({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65535}}, [1, 22, 333, 4444, 55555]),
    (
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "minimum": 0, "maximum": 150},
                "tags": {"type": "array", "items": {"enum": ["new", "old", "rare"]}, "maxItems": 5},
            },
            "required": ["name", "age"],
            "additionalProperties": False,
        },
        {"name": "Ada Lovelace", "age": 36, "tags": ["new", "rare"]},
    ),
    (
        {
            "type": "object",
            "properties": {f"field_{i}": {"type": ["string", "null"], "maxLength": 80} for i in range(30)},
            "required": [f"field_{i}" for i in range(10)],
            "additionalProperties": False,
        },
        {f"field_{i}": f"value {i}" for i in range(20)},
    ),
    (
        {
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "number"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
            "$ref": "#/$defs/node",
        },
        {"value": 1.5, "children": [{"value": 2, "children": [{"value": 3.25}]}, {"value": 4}]},
    ),
    (
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "tool": {"const": tool},
                        "input": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
                    },
                    "required": ["tool", "input"],
                }
                for tool in ("search", "calculate", "translate", "send_mail")
            ]
        },
        {"tool": "translate", "input": {"text": "guten Tag"}},
    ),
    (
        {
            "type": "object",
            "properties": {
                "when": {"type": "string", "format": "date-time"},
                "id": {"type": "string", "format": "uuid"},
            },
            "required": ["when", "id"],
            "additionalProperties": False,
        },
        {"when": "2031-07-09T12:30:00Z", "id": "123e4567-e89b-12d3-a456-426614174000"},
    ),
]

# What an engine is to the loop: compile(kind, source) -> start() -> (fill(), take(id) -> bool).
Session = tuple[Callable[[], object], Callable[[int], bool]]
Compile = Callable[[str, str], Callable[[], Session]]


def allowed(bits: "np.ndarray[Any, Any]", token: int) -> bool:
    """Whether a row of bits allows a token."""
    return bool(bits[0, token >> 5] >> (token & 31) & 1)


def nothing(tokens: list[bytes], stop: int) -> Compile:
    bits = np.full((1, (len(tokens) + 31) // 32), -1, np.int32)
    return lambda kind, source: lambda: (lambda: None, lambda t: allowed(bits, t))


def interlock_engine(tokens: list[bytes], stop: int) -> Compile:
    import interlock

    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[stop])
    bits = interlock.allocate_bitmask(1, vocabulary)

    def compile(kind: str, source: str) -> Callable[[], Session]:
        if kind == "pattern":
            index = interlock.Index.from_regex(source, vocabulary)
        else:
            index = interlock.Index.from_json_schema(source, vocabulary)

        def start() -> Session:
            guide = index.guide()
            return lambda: guide.fill_bitmask(bits, 0), guide.try_advance

        return start

    return compile


def llguidance(tokens: list[bytes], stop: int) -> Compile:
    import llguidance as llg
    import llguidance.tiktoken
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

    tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(encoding(tokens), eos_token=stop)
    bits = allocate_token_bitmask(1, tokenizer.vocab_size)

    def compile(kind: str, source: str) -> Callable[[], Session]:
        make = llg.LLMatcher.grammar_from_regex if kind == "pattern" else llg.LLMatcher.grammar_from_json_schema
        first = llg.LLMatcher(tokenizer, make(source))
        if first.is_error():
            raise ValueError(first.get_error())

        def start() -> Session:
            matcher = first.deep_copy()
            return (
                lambda: fill_next_token_bitmask(matcher, bits, 0),
                lambda t: allowed(bits, t) and matcher.consume_token(t) is not False,
            )

        return start

    return compile


def xgrammar(tokens: list[bytes], stop: int) -> Compile:
    import xgrammar as xgr

    info = xgr.TokenizerInfo(tokens, vocab_type=xgr.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[stop])
    compiler = xgr.GrammarCompiler(info, max_threads=1, cache_enabled=True)
    bits = xgr.allocate_token_bitmask(1, info.vocab_size)

    def compile(kind: str, source: str) -> Callable[[], Session]:
        if kind == "pattern":
            grammar = compiler.compile_regex(source)
        else:
            grammar = compiler.compile_json_schema(source)

        def start() -> Session:
            matcher = xgr.GrammarMatcher(grammar)
            return lambda: matcher.fill_next_token_bitmask(bits), matcher.accept_token

        return start

    return compile


def outlines_core(tokens: list[bytes], stop: int) -> Compile:
    from outlines_core import Guide, Index, Vocabulary
    from outlines_core.json_schema import build_regex_from_schema

    ids: dict[bytes, list[int]] = {}
    for i, token in enumerate(tokens):
        if token:
            ids.setdefault(token, []).append(i)
    vocabulary = Vocabulary(stop, ids)
    bits = np.zeros((1, (len(tokens) + 31) // 32), np.int32)

    def compile(kind: str, source: str) -> Callable[[], Session]:
        index = Index(source if kind == "pattern" else build_regex_from_schema(source), vocabulary)

        def start() -> Session:
            guide = Guide(index)

            def take(token: int) -> bool:
                if not allowed(bits, token):
                    return False
                guide.advance(token)
                return True

            return lambda: guide.write_mask_into(bits.ctypes.data, bits.size, 4), take

        return start

    return compile


ENGINES: dict[str, Callable[[list[bytes], int], Compile]] = {
    "nothing": nothing,
    "interlock": interlock_engine,
    "llguidance": llguidance,
    "xgrammar": xgrammar,
    "outlines-core": outlines_core,
}


def encoding(tokens: list[bytes]) -> Any:
    """The tokens as an encoding of tiktoken; members are cut into tokens by it."""
    import tiktoken

    ranks = {t: i for i, t in enumerate(tokens) if t}
    special = {f"<|special_{i - len(ranks)}|>": i for i, t in enumerate(tokens) if not t}
    words = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"
    return tiktoken.Encoding("rivals", pat_str=words, mergeable_ranks=ranks, special_tokens=special)


def measure(engine: str) -> dict[str, Any]:
    """Run one engine over everything, in this process."""
    from real_vocabulary import END_OF_TURN, SPECIAL, load

    vocabulary = load()
    text = len(vocabulary) - SPECIAL
    tokens = [vocabulary.token_bytes(i) for i in range(text)] + [b""] * SPECIAL
    cut = encoding(tokens).encode_ordinary
    compile = ENGINES[engine](tokens, text + END_OF_TURN)
    jobs = [("pattern", p, m) for p, m in PATTERNS]
    # Default settings differ in whitespace: every engine accepts what `json.dumps` writes.
    jobs += [("schema", json.dumps(s), json.dumps(m)) for s, m in SCHEMAS]
    out: dict[str, Any] = {"cold": [], "again": [], "mask": [], "wrong": 0, "failed": 0}
    for kind, source, member in jobs:
        ids = cut(member)
        try:
            for column in ("cold", "again"):
                begin = time.perf_counter_ns()
                start = compile(kind, source)
                fill, take = start()
                fill()
                out[column].append((time.perf_counter_ns() - begin) / 1e3)
            for _ in range(3):
                fill, take = start()
                for token in ids:
                    begin = time.perf_counter_ns()
                    fill()
                    ok = take(token)
                    out["mask"].append((time.perf_counter_ns() - begin) / 1e3)
                    if not ok:
                        out["wrong"] += 1
                        break
        except Exception as error:
            out["failed"] += 1
            print(f"{engine}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
    import resource

    out["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return out


def row(engine: str, result: dict[str, Any]) -> str:
    """One line of the table."""

    def at(column: str, *percents: float) -> str:
        return " / ".join(f"{np.percentile(result[column], p):,.1f}" for p in percents) if result[column] else "-"

    cells = [engine, at("cold", 50, 100), at("again", 50, 100), at("mask", 50, 99, 100)]
    cells += [str(result["wrong"]), str(result["failed"]), f"{result['peak_mib']:,.0f}"]
    return "| " + " | ".join(cells) + " |"


CAVEAT = """Made by `python benches/rivals.py --output docs/benchmarks.md`. The sources are few, small and mostly
bounded, which favours engines that compile whole automata; `xgrammar` keeps its cache of grammars, which the column
*again* shows."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default=",".join(ENGINES), help="a comma between each two")
    parser.add_argument("--output", type=Path, help="write the page here as well")
    parser.add_argument("--one", choices=ENGINES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    lines = [
        "| engine | compile + first mask, cold: p50 / max us | again: p50 / max us "
        "| mask + advance: p50 / p99 / max us | members refused | sources failed | peak MiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    missing = []
    for engine in arguments.engines.split(","):
        module = engine.replace("-", "_")
        if engine != "nothing" and importlib.util.find_spec(module) is None:
            missing.append(engine)
            continue
        run = subprocess.run([sys.executable, __file__, "--one", engine], stdout=subprocess.PIPE, check=True)
        lines.append(row(engine, json.loads(run.stdout.splitlines()[-1])))
        print(lines[-1], flush=True)
    versions = [
        f"{e} {importlib.metadata.version(e)}" for e in arguments.engines.split(",") if e not in ("nothing", *missing)
    ]
    page = ["# Side by side", "", " ".join((__doc__ or "").split("\n\n")[2].split()), ""]
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    page += [f"{machine}; {', '.join(versions)}."]
    page += [f"Not installed: {', '.join(missing)}."] if missing else []
    page += ["", *lines, "", CAVEAT]
    print("\n".join(page))
    if arguments.output:
        arguments.output.write_text("\n".join(page) + "\n")
    if missing:
        print(f"left out, not installed: {', '.join(missing)}", file=sys.stderr)


if __name__ == "__main__":
    main()
