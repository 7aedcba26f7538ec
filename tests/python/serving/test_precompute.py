"""``RequestCompiler.precompute``: what is put into a store is what a compiler looks for there."""

from __future__ import annotations

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
NOW = {"name": "now", "parameters": {"type": "object"}}


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
