"""Grammars of programming languages beside the other engines that read Lark's notation, in one run.

    python benches/grammar_rivals.py [--limit 60] [--names c,go] [--also FOLDER] [--output FILE]

The grammars are those of `interlock.grammars`; ``--also`` names a folder with others, a file ``c.lark`` for the
language ``c`` and so on. Each engine compiles each grammar in a process where only the vocabulary of Llama 3 is ready,
and follows a program of `corpus/programs`, in the tokens that the tokenizer makes of it:

* compile: milliseconds from the text to the first mask;
* first: microseconds of a mask and its token along the program, p50, p99 and the largest;
* again: the same for a second session along the same program;
* followed: how many of the program's tokens the masks allow, and whether the program may end there.

Times are those of the one thread that works, a reading of the clock included, which is 0.7 us: so what else the machine
does matters less. An engine that has not ended within the limit of processor time is *late*; *refused* is one that
raises.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "rivals"), str(HERE)]

import numpy as np
from answers import allows
from child import wait_for
from corpus import Tokens, vocabulary

PROGRAMS = {"c": "program.c", "go": "program.go", "java": "program.java", "python": "program.py", "sql": "program.sql"}


class Session:
    """What an engine answers along one text."""

    def __init__(self, fill: Callable[[], object], take: Callable[[int], object], bits: Any, stop: int) -> None:
        self.fill, self.take, self.bits, self.stop = fill, take, bits, stop


Start = Callable[[], Session]


def interlock_engine(tokens: Tokens) -> Callable[[str, str], Start]:
    import interlock

    special = [i for i, token in enumerate(tokens.tokens) if not token]
    known = interlock.Vocabulary(tokens.tokens, eos_token_ids=[tokens.stop], special_token_ids=special)
    bits = interlock.allocate_bitmask(1, known)

    def compile(text: str, lexer: str) -> Start:
        index = interlock.Index.from_grammar(text, known, lexer=lexer)

        def start() -> Session:
            guide = index.guide()
            return Session(lambda: guide.fill_bitmask(bits, 0), guide.try_advance, bits, tokens.stop)

        return start

    return compile


def llguidance_engine(tokens: Tokens) -> Callable[[str, str], Start]:
    import llguidance
    import llguidance.tiktoken
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

    tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(tokens.encoding, eos_token=tokens.stop)
    bits = allocate_token_bitmask(1, tokenizer.vocab_size)

    def compile(text: str, lexer: str) -> Start:
        first = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(text))
        if first.is_error():
            raise ValueError(first.get_error())

        def start() -> Session:
            matcher = first.deep_copy()
            fill: Callable[[], object] = lambda: fill_next_token_bitmask(matcher, bits, 0)
            return Session(fill, matcher.consume_token, bits, tokens.stop)

        return start

    return compile


def xgrammar_engine(tokens: Tokens) -> Callable[[str, str], Start]:
    import xgrammar

    info = xgrammar.TokenizerInfo(
        tokens.tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens.tokens), stop_token_ids=[tokens.stop]
    )
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=True)
    tensor = xgrammar.allocate_token_bitmask(1, info.vocab_size)
    bits = tensor.numpy()

    def compile(text: str, lexer: str) -> Start:
        compiled = compiler.compile_grammar(xgrammar.Grammar.from_lark(text))

        def start() -> Session:
            matcher = xgrammar.GrammarMatcher(compiled)
            fill: Callable[[], object] = lambda: matcher.fill_next_token_bitmask(tensor)
            return Session(fill, matcher.accept_token, bits, tokens.stop)

        return start

    return compile


def glrmask_engine(tokens: Tokens) -> Callable[[str, str], Start]:
    import glrmask

    known = glrmask.Vocab.from_id_to_bytes({i: token for i, token in enumerate(tokens.tokens) if token})
    bits = np.zeros((1, (len(tokens.tokens) + 31) // 32), dtype=np.int32)

    def compile(text: str, lexer: str) -> Start:
        compiled = glrmask.Grammar.from_lark(text).compile(known)

        def start() -> Session:
            state = compiled.start()

            def take(token: int) -> object:
                if not allows(bits[0], token):
                    return False
                return state.commit_token(token)

            return Session(lambda: state.fill_mask(bits[0]), take, bits, -1)

        return start

    return compile


ENGINES = {
    "interlock": interlock_engine,
    "llguidance": llguidance_engine,
    "xgrammar": xgrammar_engine,
    "glrmask": glrmask_engine,
}


def follow(session: Session, ids: list[int]) -> tuple[list[float], int, bool]:
    """Microseconds of each mask and its token, how many tokens were allowed, and whether the text may end there."""
    clock, times = time.thread_time, []
    for at, token in enumerate(ids):
        begin = clock()
        session.fill()
        taken = session.take(token) if allows(session.bits[0], token) else False
        times.append((clock() - begin) * 1e6)
        if taken is False:
            return times, at, False
    session.fill()
    return times, len(ids), session.stop < 0 or allows(session.bits[0], session.stop)


def job(compile: Callable[[str, str], Start], text: str, lexer: str, ids: list[int]) -> dict[str, Any]:
    begin = time.thread_time()
    start = compile(text, lexer)
    start().fill()
    took = (time.thread_time() - begin) * 1e3
    first, followed, ends = follow(start(), ids)
    again, _, _ = follow(start(), ids)
    return {"compile": took, "first": first, "again": again, "followed": followed, "of": len(ids), "ends": ends}


def in_child(work: Callable[[], dict[str, Any]], limit: float) -> dict[str, Any]:
    """The answer of a forked child, killed after so many seconds of the processor."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        try:
            answer = work()
        except BaseException as error:
            answer = {"error": f"refused: {type(error).__name__}: {error}"}
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    data, status = wait_for(pid, reader, 8 * limit)
    try:
        return dict(json.loads(data))
    except ValueError:
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU)
        return {"error": f"late: over {limit:g} s" if late else f"died with status {status}"}


def sources(names: list[str], also: Path | None) -> list[tuple[str, str, str, str]]:
    """Of each grammar: what it is called, its language, its text, and the lexer that it is written for."""
    from interlock import grammars

    found = [(name, name, grammars.load(name), grammars.lexer(name)) for name in names]
    for name in names if also else []:
        found.append((f"{name}, {also.name}", name, (also / f"{name}.lark").read_text(), "contextual"))  # type: ignore[union-attr,operator]
    return found


def numbers(times: list[float]) -> str:
    quantiles = [*np.quantile(times, (0.5, 0.99)), max(times)]
    return " / ".join(f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in quantiles)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the processor")
    parser.add_argument("--names", default=",".join(PROGRAMS))
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--also", type=Path)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    tokens = vocabulary()
    chosen = sources(given.names.split(","), given.also)
    ids = {name: tokens.cut((HERE / "corpus" / "programs" / PROGRAMS[name]).read_text()) for _, name, _, _ in chosen}
    lines = [
        "| grammar | engine | compile and first mask, ms | first: p50 / p99 / max, us | again: p50 / p99 / max, us "
        "| followed |",
        "|---|---|---:|---:|---:|---|",
    ]
    print("\n".join(lines), flush=True)
    for title, name, text, lexer in chosen:
        for engine in given.engines.split(","):
            # The engine is made in the child, and its vocabulary before anything is timed.
            work: Callable[[], dict[str, Any]] = lambda engine=engine, text=text, lexer=lexer, name=name: job(  # type: ignore[misc]
                ENGINES[engine](tokens), text, lexer, ids[name]
            )
            found = in_child(work, given.limit)
            if "error" in found:
                print(f"{title}, {engine}: {found['error'][:300]}", file=sys.stderr, flush=True)
                line = f"| {title} | {engine} | {found['error'].split(':')[0]} | | | |"
            else:
                end = "" if found["ends"] else ", and may not end" if found["followed"] == found["of"] else ""
                line = (
                    f"| {title} | {engine} | {found['compile']:,.1f} | {numbers(found['first'])} "
                    f"| {numbers(found['again'])} | {found['followed']} of {found['of']}{end} |"
                )
            lines.append(line)
            print(line, flush=True)
    if given.output:
        given.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
