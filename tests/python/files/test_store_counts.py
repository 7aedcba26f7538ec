"""``interlock.stats()`` counts what stores had, and what was asked of them in vain."""

from __future__ import annotations

import pytest

import interlock
from interlock import Store
from interlock.integrations import metrics
from interlock.serving import RequestCompiler


def counts():
    stats = interlock.stats()
    return stats["store_hits"], stats["store_misses"]


def since(before):
    return tuple(now - then for now, then in zip(counts(), before, strict=True))


def test_each_question_counts_once(tmp_path, byte_vocabulary):
    store, before = Store(tmp_path), counts()
    key = store.key_of("regex", "ab?", byte_vocabulary)
    assert store.get(key, byte_vocabulary) is None
    assert since(before) == (0, 1)
    store.get_or_compile("regex", "ab?", byte_vocabulary)
    assert since(before) == (0, 2)
    store.get_or_compile("regex", "ab?", byte_vocabulary)
    assert store.get(key, byte_vocabulary) is not None
    assert since(before) == (2, 2)


def test_a_damaged_pack_is_a_miss(tmp_path, byte_vocabulary):
    store = Store(tmp_path)
    store.get_or_compile("regex", "cd?", byte_vocabulary)
    key = store.key_of("regex", "cd?", byte_vocabulary)
    next(tmp_path.glob(f"*/{key}*")).write_bytes(b"torn")
    before = counts()
    with pytest.raises(interlock.ArtifactError):
        store.get(key, byte_vocabulary)
    assert since(before) == (0, 1)


def test_requests_of_a_server_and_its_metrics(tmp_path, byte_vocabulary):
    store = Store(tmp_path)
    written = {"whitespace": "compact", "spelling": "plain", "regex_flags": "a"}
    store.get_or_compile("response_format", {"guided_regex": "ef?"}, byte_vocabulary, **written)
    compiler, registry = RequestCompiler(byte_vocabulary, store=store), metrics.Registry()
    metrics.watch_core(registry)
    before = counts()
    compiler.compile({"guided_regex": "ef?"})
    compiler.compile({"guided_regex": "eg?"})
    compiler.compile({"max_tokens": 5})  # It needs no index.
    assert since(before) == (1, 1)
    text = registry.to_openmetrics()
    for name, number in zip(("store_hits", "store_misses"), counts(), strict=True):
        assert f"core_{name}_total {number}" in text
