"""``RequestCompiler.keep`` and ``precompute``: sources of a server's own are found, whatever strangers do."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
BODIES = [
    {"guided_grammar": 'start: "(" start ")" | "x"'},
    {"guided_json": {"type": "object", "properties": {"kept": {"type": "integer"}}}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"const": "kept"}}}},
    {"guided_regex": "kept+", "max_tokens": 20},
    {"tools": [NOW], "tool_choice": "required"},
    {"tools": [NOW], "guided_choice": ["kept", "held"], "stop": ["e"]},
]


@pytest.mark.parametrize("body", BODIES)
def test_what_is_kept_is_not_compiled_again(body, compiled_anew):
    compiler = RequestCompiler(VOCABULARY, format="hermes")
    first = compiler.compile(body)
    assert compiler.compile(body).index is not first.index
    kept = compiler.keep(body)
    again = compiler.compile(body | {"max_tokens": 300, "temperature": 0})
    assert again.index is kept.index and again.max_tokens == 300
    assert asyncio.run(compiler.compile_async(body)).index is kept.index
    if kept._text_index is not None:
        assert again._text_index is kept._text_index
    assert compiler.compile(BODIES[0] | {"guided_grammar": 'start: "y"'}).index != kept.index


def test_each_choice_of_tools_is_a_source_of_its_own(compiled_anew):
    compiler = RequestCompiler(VOCABULARY, format="hermes")
    body = {"tools": [NOW], "tool_choice": "required"}
    kept = compiler.keep(body)
    assert compiler.compile(body).index is kept.index
    for other in ("auto", "none", {"type": "function", "function": {"name": "now"}}):
        assert compiler.compile(body | {"tool_choice": other}).index is not kept.index
    assert compiler.compile(body | {"parallel_tool_calls": False}).index is not kept.index


def test_the_limits_of_strangers_are_not_those_of_the_server():
    compiler = RequestCompiler(VOCABULARY, limits={"max_source_bytes": 40})
    body = {"guided_choice": ["a" * 30, "b" * 30]}
    with pytest.raises(interlock.LimitError):
        compiler.compile(body)
    kept = compiler.keep(body)
    assert compiler.compile(body).index is kept.index


def test_outputs_are_those_of_the_body():
    compiler = RequestCompiler(VOCABULARY)
    request = compiler.keep(BODIES[0], [b"((x))", [*b"x", 256]])
    assert request.guide.num_tokens == 0
    with pytest.raises(interlock.ArgumentError, match=r"outputs\[1\] is no output of this body: its token 2 is"):
        compiler.keep(BODIES[0], [b"x", b"((a"])
    assert compiler.keep({}, [b"any"]).guide is None
    with pytest.raises(interlock.GrammarError):
        compiler.keep({"guided_grammar": "start: ("})


def test_a_copy_has_what_is_kept():
    compiler = RequestCompiler(VOCABULARY)
    kept = compiler.keep(BODIES[0])
    other = pickle.loads(pickle.dumps(compiler))
    interlock.clear_caches()
    assert other.compile(BODIES[0]).index == kept.index
    assert other._kept.find("response_format", {"type": "nothing"}, {}) is None and len(other._kept._kept) == 1


PROGRAM = """
import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

interlock.set_mask_cache_bytes(0)
vocabulary = byte_vocabulary()
compiler = RequestCompiler(vocabulary)
code = b"class A { int f(int x) { return x * 2 + this.y; } }"
body = {"guided_grammar": interlock.grammars.load("java"), "max_tokens": 500}
if KEPT:
    compiler.keep(body, [code])
else:
    held = compiler.compile(body).index

def hostile(number):
    pairs = " | ".join(f"T{j} T{j + 1}" for j in range(300))
    terminals = "\\n".join(f"T{j}: /[a-z{j % 10}]*b[a-z]{{{j + number}}}/" for j in range(302))
    return f"start: (T0 | T1)+ | {pairs}\\n{terminals}"

alive = []
for number in range(40):
    try:
        alive.append(interlock.Index.from_grammar(hostile(number), vocabulary).guide())
        for token in b"ab":
            alive[-1].allowed_token_ids()
            alive[-1].advance(token)
    except interlock.LimitError:
        pass
    numbers = interlock.stats()
    if numbers["held_bytes"] > 1.3 * numbers["most_held_bytes"]:
        break
else:
    raise AssertionError(numbers)
interlock.clear_caches()
try:
    guide = compiler.compile(body).guide
    for token in code:
        guide.allowed_token_ids()
        guide.advance(token)
    print("runs")
except interlock.LimitError as error:
    print(error.code)
"""


@pytest.mark.parametrize(("kept", "said"), [(True, "runs"), (False, "too_little_memory")])
def test_what_is_kept_runs_where_strangers_fill_the_memory(kept, said):
    program = PROGRAM.replace("KEPT", str(kept))
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == said


@pytest.mark.parametrize(
    "body, number",
    [
        ({"guided_json": {"type": "integer"}, "max_tokens": 9}, 1),
        ({"response_format": {"type": "json_object"}}, 1),
        ({"guided_regex": r"\d+"}, 1),
        ({"tools": [NOW], "tool_choice": "required", "parallel_tool_calls": False}, 1),
        # The text beside calls has a form of its own, in which stop texts are looked for.
        ({"tools": [NOW], "guided_choice": ["yes", "no"], "stop": "###"}, 2),
        ({"max_tokens": 5}, 0),
    ],
)
def test_a_compiler_finds_what_was_precomputed(body, number, tmp_path):
    store = interlock.Store(tmp_path)
    keys = RequestCompiler(VOCABULARY, format="hermes").precompute(body, store)
    assert len(keys) == number and sorted(keys) == sorted(store)
    hits, misses = (interlock.stats()[name] for name in ("store_hits", "store_misses"))
    RequestCompiler(VOCABULARY, format="hermes", store=store).compile(body)
    assert interlock.stats()["store_hits"] - hits == number and interlock.stats()["store_misses"] == misses


def test_neither_limits_nor_seconds_count(tmp_path):
    store = interlock.Store(tmp_path)
    strict = RequestCompiler(VOCABULARY, limits={"max_source_bytes": 10}, seconds=0.0)
    body = {"guided_regex": "a{3}b{3}c{3}d{3}"}
    assert len(strict.precompute(body, store)) == 1
    assert RequestCompiler(VOCABULARY, limits={"max_source_bytes": 10}, store=store).compile(body).kind == "regex"


def test_what_is_refused_is_not_added(tmp_path):
    store, compiler = interlock.Store(tmp_path), RequestCompiler(VOCABULARY)
    with pytest.raises(interlock.PatternError, match="at /guided_regex"):
        compiler.precompute({"guided_regex": "a("}, store)
    dropped = interlock.CancelToken()
    dropped.cancel()
    with pytest.raises(interlock.CancelledError):
        compiler.precompute({"guided_regex": "a"}, store, cancel=dropped)
    with pytest.raises(TypeError, match="store must be an interlock.Store, not str"):
        compiler.precompute({"guided_regex": "a"}, str(tmp_path))
    assert list(store) == []
