"""vLLM's own manager of structured outputs, with the plug-in in it and no engine around it.

It runs on the Python modules alone, so newer versions that have no build for processors are tested too:

    PYTHONPATH=<a folder with vLLM's wheel> python -m pytest tests/servers/vllm/test_manager.py
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import interlock
from interlock.integrations.vllm import backend as backend_module
from interlock.integrations.vllm import options as options_module
from interlock.integrations.vllm import plugin
from interlock.integrations.vllm.options import Options

EOS, THINK = 256, 257
SIZE = 300


@pytest.fixture(scope="module", autouse=True)
def registered():
    plugin.register()
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.structured_output import StructuredOutputManager

    for owner, name in ((Scheduler, "finish_requests"), (StructuredOutputManager, "grammar_bitmask")):
        assert hasattr(getattr(owner, name), "_interlock_original")


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b"", b"</think>"]
    return interlock.Vocabulary(tokens, [EOS], special_token_ids=[THINK], size=SIZE)


class Reasoner:
    """Reasoning ends with one token."""

    def __init__(self, tokenizer, **given):
        pass

    def is_reasoning_end(self, ids):
        return THINK in ids

    def is_reasoning_end_streaming(self, ids, delta):
        return THINK in delta


@pytest.fixture
def manager_of(vocabulary, monkeypatch):
    from vllm.v1.structured_output import StructuredOutputManager

    monkeypatch.setattr(backend_module, "vocabulary_of", lambda *given: vocabulary)
    monkeypatch.setattr(options_module, "_current", Options(metrics=False, warm_up_ms=0))
    # No engine, so no tokenizer either: the manager would load it from a model's folder.
    monkeypatch.setattr(sys.modules["vllm.v1.structured_output"], "cached_tokenizer_from_config", lambda **given: None)

    def make(drafts=0, reasoner=None):
        config = SimpleNamespace(
            parallel_config=SimpleNamespace(distributed_executor_backend="mp"),
            scheduler_config=SimpleNamespace(max_num_seqs=8),
            model_config=SimpleNamespace(
                skip_tokenizer_init=False, get_vocab_size=lambda: SIZE, is_diffusion=False, max_model_len=100
            ),
            structured_outputs_config=SimpleNamespace(
                backend="interlock", reasoning_parser="", reasoning_parser_plugin="", enable_in_reasoning=False
            ),
            num_speculative_tokens=drafts,
        )
        manager = StructuredOutputManager(config)
        manager.reasoner_cls = reasoner
        return manager

    return make


class Request:
    """As much of vLLM's request as the manager looks at."""

    use_structured_output = True

    def __init__(self, manager, name, pattern, max_tokens=40):
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams
        from vllm.v1.structured_output.request import StructuredOutputRequest

        self.request_id, self.max_tokens = name, max_tokens
        self.sampling_params = SamplingParams(
            max_tokens=max_tokens, structured_outputs=StructuredOutputsParams(regex=pattern)
        )
        self.sampling_params.structured_outputs._backend = "interlock"
        self.sampling_params._all_stop_token_ids.add(EOS)
        self.structured_output_request = StructuredOutputRequest(params=self.sampling_params.structured_outputs)
        self.prompt_token_ids = [1, 2, 3]
        self.all_token_ids = [1, 2, 3]
        self.num_prompt_tokens = 3
        manager.grammar_init(self)
        while not self.structured_output_request.is_grammar_ready:
            pass

    @property
    def num_output_tokens(self):
        return len(self.all_token_ids) - 3

    @property
    def grammar(self):
        return self.structured_output_request.grammar

    def take(self, manager, tokens):
        self.all_token_ids += tokens
        return manager.accept_tokens(self, tokens)


def allowed(row):
    return {t for t in range(SIZE) if (int(row[t // 32]) >> (t % 32)) & 1}


EVERYTHING = set(range(SIZE))


def rows_of(manager, requests, drafts):
    """The rows of each request, whichever way this version lays them out."""
    from vllm.v1.structured_output import StructuredOutputManager

    given = {name: list(tokens) for name, tokens in drafts.items()}
    ids = [r.request_id for r in requests]
    bits = np.array(manager.grammar_bitmask({r.request_id: r for r in requests}, ids, given))
    source = Path(sys.modules[StructuredOutputManager.__module__].__file__).read_text()
    stride = 1 + manager.vllm_config.num_speculative_tokens if "mask_stride" in source else None
    at, rows = 0, {}
    for n, request in enumerate(requests):
        begin, count = at if stride is None else n * stride, 1 + len(drafts.get(request.request_id, ()))
        rows[request.request_id] = [allowed(row) for row in bits[begin : begin + count]]
        at += count
    return rows


def test_a_batch_without_drafts(manager_of):
    manager = manager_of()
    requests = [Request(manager, n, f"{n}x") for n in "abc"]
    for _ in range(3):
        rows = rows_of(manager, requests, {})
        assert rows == {n: [{ord(n)}] for n in "abc"}
    assert requests[1].take(manager, list(b"bx")) and rows_of(manager, requests, {})["b"] == [{EOS}]
    assert requests[1].take(manager, [EOS]) and requests[1].grammar.is_terminated()
    assert rows_of(manager, requests, {})["b"][0] >= EVERYTHING - {299}


def test_drafts_are_masked_one_after_the_other(manager_of):
    manager = manager_of(drafts=4)
    a, b, c = (Request(manager, n, f"{n}(xy|xz)w") for n in "abc")
    drafts = {"a": manager.validate_tokens(a, list(b"axqq")), "b": [], "c": manager.validate_tokens(c, [*b"cxz", -1])}
    assert bytes(drafts["a"]) == b"ax" and bytes(drafts["c"]) == b"cxz"
    rows = rows_of(manager, [a, b, c], drafts)
    assert rows["a"] == [{ord("a")}, {ord("x")}, {ord("y"), ord("z")}]
    assert rows["b"] == [{ord("b")}]
    assert rows["c"] == [{ord("c")}, {ord("x")}, {ord("y"), ord("z")}, {ord("w")}]
    # What was only drafted is not taken.
    assert a.grammar.guide.num_tokens == c.grammar.guide.num_tokens == 0
    assert c.take(manager, list(b"cxzw")) and rows_of(manager, [c], {"c": [EOS]})["c"][0] == {EOS}


def test_drafts_over_the_end(manager_of):
    manager = manager_of(drafts=4)
    a = Request(manager, "a", "ab")
    rows = rows_of(manager, [a], {"a": [*b"ab", EOS]})["a"]
    assert rows[:3] == [{ord("a")}, {ord("b")}, {EOS}]
    assert not a.grammar.is_terminated() and a.take(manager, [*b"ab", EOS])


def test_padded_drafts_are_not_masked(manager_of):
    manager = manager_of(drafts=3)
    a = Request(manager, "a", "abcd")
    rows = rows_of(manager, [a], {"a": [ord("a"), -1, -1]})["a"]
    assert rows[0] == {ord("a")} and rows[1] == {ord("b")} and len(rows[2]) >= 256


def test_reasoning_is_free_until_it_ends(manager_of):
    manager = manager_of(drafts=4, reasoner=Reasoner)
    a = Request(manager, "a", "x{3,}", max_tokens=20)
    assert len(rows_of(manager, [a], {})["a"][0]) >= 256
    assert a.take(manager, [9, 9, 9])
    # The end of reasoning is among the drafts: rows behind it are masked, and it is taken back.
    drafts = manager.validate_tokens(a, [9, THINK, ord("x"), ord("q")])
    assert drafts == [9, THINK, ord("x")]
    rows = rows_of(manager, [a], {"a": drafts})["a"]
    assert len(rows[0]) >= 256 and len(rows[1]) >= 256 and rows[2] == rows[3] == {ord("x")}
    assert a.take(manager, [9, THINK])
    assert rows_of(manager, [a], {})["a"] == [{ord("x")}]
    # The budget is what reasoning has left: 20 - 5, less the stop token and what was drafted beside.
    for _ in range(10):
        assert rows_of(manager, [a], {})["a"][0] >= {ord("x")}
        assert a.take(manager, [ord("x")])
    assert rows_of(manager, [a], {})["a"] == [{EOS}]


def test_a_source_that_is_refused_is_this_requests_error(manager_of):
    manager = manager_of()
    bad, good = Request(manager, "a", "a{60}", max_tokens=5), Request(manager, "b", "b")
    assert isinstance(bad.grammar, interlock.BudgetError) and rows_of(manager, [good], {})["b"] == [{ord("b")}]


def test_vllms_types_know_our_classes(manager_of):
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    manager = manager_of()
    assert isinstance(manager.backend, StructuredOutputBackend)
    assert isinstance(Request(manager, "a", "a").grammar, StructuredOutputGrammar)
    assert manager.backend.allocate_token_bitmask(3).shape == (3, 10)
    manager.clear_backend()


def test_the_name_is_a_choice_of_the_configuration():
    from vllm.config import StructuredOutputsConfig

    assert StructuredOutputsConfig(backend="interlock").backend == "interlock"
    with pytest.raises(ValueError):
        StructuredOutputsConfig(backend="interlocked")


def test_the_interface_is_the_recorded_one():
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    import json

    from record_vllm_interface import differences, record, version

    known = json.loads((Path(__file__).parents[2] / "data" / "vllm_interface.json").read_text())
    newest = known.get(version()) or known[max(known, key=lambda v: [int(n) for n in v.split(".")])]
    assert list(differences(newest, record())) == []
