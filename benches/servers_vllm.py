"""Constrained decoding inside one vLLM engine: interlock beside the backends that vLLM brings, in one run.

    python benches/servers_vllm.py FOLDER-OF-A-MODEL [--schemas 20] [--backends interlock,xgrammar,guidance,outlines]

Each backend has an engine in a process of its own, one after the other, with the same model, the same schemas and the
same order. A schema is met for the first time when its first token is measured. The table has, for each backend:

* refused: schemas that it does not take, or fails to compile within the deadline;
* cold first token: milliseconds from the request to its first token, less those of an unconstrained request (median),
  for schemas that were never seen: median and the largest;
* fill 1, fill 32: microseconds of processor time for the masks of a step, per request, with 1 and with 32 requests;
* share: how much of the steps with 32 requests went into masks;
* invalid, cut: outputs of single requests that jsonschema does not accept, and those that reached ``max_tokens`` before
  their end; of how many.

Times are only comparable within one run, on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus" / "schemas.jsonl"
BACKENDS = "interlock,xgrammar,guidance,outlines"
MAX_TOKENS, DEADLINE, BATCH = 160, 120.0, 32
STEPS = 24
"""So many steps of a full batch are timed, after which it is given up."""


def schemas(count: int) -> list[Any]:
    """The first schemas of the corpus that jsonschema can follow, objects only."""
    found = []
    for line in CORPUS.read_text().splitlines():
        entry = json.loads(line)
        schema = entry.get("schema", entry)
        if isinstance(schema, dict) and schema.get("type") == "object" and '"$ref": "http' not in json.dumps(schema):
            found.append(schema)
    step = max(1, len(found) // count)
    return found[::step][:count]


class Engine:
    """An engine whose scheduler and model share this process, so that its parts can be timed."""

    def __init__(self, folder: str, backend: str) -> None:
        if backend == "interlock":
            from interlock.integrations.vllm import register

            register()
        from vllm import LLM

        options = {"backend": backend}
        self.engine = LLM(
            folder,
            dtype="float32",
            enforce_eager=True,
            max_model_len=512,
            max_num_seqs=BATCH,
            enable_prefix_caching=False,
            structured_outputs_config=options,
        ).llm_engine
        self.manager = self.engine.engine_core.engine_core.structured_output_manager
        self.count, self.fills, self.steps = 0, [], []
        original = self.manager.grammar_bitmask

        def timed(*args: Any, **kwargs: Any) -> Any:
            begin, wall = time.process_time(), time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.fills.append((time.process_time() - begin, time.perf_counter() - wall))

        self.manager.grammar_bitmask = timed

    def add(self, schema: Any) -> str:
        """Ask for one output; ``None`` leaves it free. vLLM's validation error if the schema is refused."""
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        self.count += 1
        constraint = None if schema is None else StructuredOutputsParams(json=schema)
        params = SamplingParams(temperature=1.0, max_tokens=MAX_TOKENS, structured_outputs=constraint)
        self.engine.add_request(str(self.count), f"Document {self.count}: ", params)
        return str(self.count)

    def run(self, wanted: set[str], fills: int | None = None) -> tuple[dict[str, Any], dict[str, float]]:
        """Step until all have ended, or that many masks were made: the outputs, and when each had its first token."""
        done: dict[str, Any] = {}
        first: dict[str, float] = {}
        end = time.perf_counter() + DEADLINE
        last = None if fills is None else len(self.fills) + fills
        while wanted - set(done):
            begin = time.perf_counter()
            if begin > end or (last is not None and len(self.fills) >= last):
                self.engine.abort_request(list(wanted - set(done)))
                break
            for output in self.engine.step():
                if output.outputs[0].token_ids:
                    first.setdefault(output.request_id, time.perf_counter())
                if output.finished:
                    done[output.request_id] = output.outputs[0]
            self.steps.append(time.perf_counter() - begin)
        return done, first


def verdict(schema: Any, output: Any) -> str:
    """``valid``, ``invalid`` or ``cut``."""
    import jsonschema

    try:
        jsonschema.validators.validator_for(schema)(schema).validate(json.loads(output.text))
    except (ValueError, jsonschema.ValidationError):
        return "cut" if output.finish_reason == "length" else "invalid"
    except Exception:  # jsonschema cannot follow the schema.
        return "unchecked"
    return "valid"


def measure(folder: str, backend: str, count: int) -> dict[str, Any]:
    """All numbers of one backend."""
    engine, sources = Engine(folder, backend), schemas(count)
    free = []
    for _ in range(10):
        begin = time.perf_counter()
        name = engine.add(None)
        free.append(engine.run({name})[1][name] - begin)
    base = statistics.median(free[2:])
    cold, ends, refused, taken = [], [], 0, []
    engine.fills.clear()
    for schema in sources:
        begin = time.perf_counter()
        try:
            name = engine.add(schema)
        except Exception as error:
            refused += 1
            print(f"{backend}: refused: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        done, first = engine.run({name})
        if name not in first or done.get(name) is None or done[name].finish_reason == "error":
            refused += 1
            print(f"{backend}: no output of {json.dumps(schema)[:200]}", file=sys.stderr)
            continue
        cold.append(first[name] - begin - base)
        ends.append(verdict(schema, done[name]))
        taken.append(schema)
    alone = [seconds for seconds, _ in engine.fills]
    engine.fills.clear()
    engine.steps.clear()
    full: list[float] = []
    for turn in range(3):
        names = {engine.add(taken[(turn + i) % len(taken)]) for i in range(BATCH)}
        before = len(engine.fills)
        engine.run(names, STEPS)
        # The first masks are those of few requests, as long as others are compiled.
        full += [seconds for seconds, _ in engine.fills[before + 4 :]]
    return {
        "refused": refused,
        "cold_p50_ms": 1e3 * statistics.median(cold),
        "cold_max_ms": 1e3 * max(cold),
        "fill_1_us": 1e6 * statistics.median(alone),
        "fill_32_us": 1e6 * statistics.median(full) / BATCH,
        "share": sum(wall for _, wall in engine.fills) / sum(engine.steps),
        "outputs": len(ends),
        "invalid": ends.count("invalid"),
        "cut": ends.count("cut"),
        "free_first_token_ms": 1e3 * base,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--schemas", type=int, default=20)
    parser.add_argument("--backends", default=BACKENDS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print("RESULT", json.dumps(measure(given.folder, given.one, given.schemas)))
        return
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # Threads that wait for work in a loop would count as work.
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    print("| backend | refused | cold first token p50 | max | fill 1 | fill 32 | share | invalid | cut |")
    print("|---|---|---|---|---|---|---|---|---|")
    for backend in given.backends.split(","):
        command = [sys.executable, __file__, given.folder, "--schemas", str(given.schemas), "--one", backend]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
            told = [line for line in done.stderr.splitlines() if line.startswith(f"{backend}: ")]
            print(*(line + "\n" for line in told), sep="", end="", file=sys.stderr, flush=True)
            (line,) = (line for line in done.stdout.splitlines() if line.startswith("RESULT "))
        except (subprocess.TimeoutExpired, ValueError) as error:
            print(f"| {backend} | no result: {type(error).__name__} |", flush=True)
            if isinstance(error, ValueError):
                print(done.stdout[-2000:], done.stderr[-4000:], sep="\n", file=sys.stderr, flush=True)
            continue
        r = json.loads(line.removeprefix("RESULT "))
        print(
            f"| {backend} | {r['refused']} of {given.schemas} | {r['cold_p50_ms']:.1f} ms | {r['cold_max_ms']:.1f} ms "
            f"| {r['fill_1_us']:.0f} us | {r['fill_32_us']:.1f} us | {r['share']:.1%} "
            f"| {r['invalid']} of {r['outputs']} | {r['cut']} of {r['outputs']} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
