"""Continuous batching of transformers with a constraint per request, and a tiny random model."""

from __future__ import annotations

import re
import types

import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
pytest.importorskip(
    "transformers.generation.continuous_batching.cb_logits_processors", reason="this transformers is too old"
)

import models  # noqa: E402
from transformers import ContinuousBatchingConfig, GenerationConfig  # noqa: E402

from interlock.integrations.transformers import ContinuousBatchingGuides, Triggered  # noqa: E402

PAD, EOS = 256, 257


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b""] * 2
    return interlock.Vocabulary(tokens, eos_token_ids=[EOS], special_token_ids=[PAD], size=models.WIDTH)


@pytest.fixture(scope="module")
def model():
    return models.tiny_model([EOS], PAD)


def manager_of(model, do_sample=True, **options):
    generation = GenerationConfig(
        max_new_tokens=24, eos_token_id=EOS, pad_token_id=PAD, do_sample=do_sample, temperature=1.5, top_k=0, top_p=1.0
    )
    options = {"use_async_batching": False, "use_cuda_graph": False, "num_blocks": 64, "block_size": 32} | options
    return model.init_continuous_batching(
        generation_config=generation, continuous_batching_config=ContinuousBatchingConfig(**options)
    )


def collect(manager, count):
    outputs = {}
    while len(outputs) < count:
        output = manager.get_result(timeout=300)
        assert output is not None, "the manager gave nothing"
        if output.is_finished():
            outputs[output.request_id] = output
    return outputs


def text(output):
    return bytes(t for t in output.generated_tokens if t < 256).decode()


PATTERNS = [r"[0-9]{3}-[0-9]{3}", r"(yes|no|perhaps)", r"\[([0-9],){2}[0-9]\]", r"[a-f]{1,6}", r"[0-9]{2,}"]


@pytest.mark.parametrize("do_sample", [False, True])
def test_a_constraint_per_request(model, vocabulary, do_sample):
    manager = manager_of(model, do_sample)
    guides = ContinuousBatchingGuides(manager)
    indexes = [interlock.Index.from_regex(pattern, vocabulary) for pattern in PATTERNS]
    manager.start()
    try:
        wanted = {}
        for i in range(20):
            which = i % len(PATTERNS)
            prompt = list(b"prompt" * (1 + i % 3) + bytes([65 + i]))
            wanted[guides.add_request(prompt, indexes[which], max_tokens=7 + i % 6)] = PATTERNS[which]
        free = manager.add_request(list(b"free"), max_new_tokens=5)
        late = guides.add_request(list(b"so"), None, max_tokens=5)
        outputs = collect(manager, 22)
    finally:
        manager.stop(block=True)
    assert not guides.errors
    for name, pattern in wanted.items():
        assert re.fullmatch(pattern, text(outputs[name])), (pattern, text(outputs[name]))
    assert len(outputs[free].generated_tokens) and len(outputs[late].generated_tokens)
    model._cached_continuous_batching_manager = None


def test_requests_are_refused_before_they_are_queued(model, vocabulary):
    index = interlock.Index.from_regex("[0-9]{8}", vocabulary)
    manager = manager_of(model)
    guides = ContinuousBatchingGuides(manager)
    with pytest.raises(interlock.BudgetError):
        guides.add_request(list(b"hi"), index, max_tokens=7)
    with pytest.raises(interlock.ArgumentError, match="'max_new_tokens' has another name here: pass max_tokens"):
        guides.add_request(list(b"hi"), index, max_new_tokens=9)
    with pytest.raises(interlock.ArgumentError, match="Index"):
        guides.add_request(list(b"hi"), "[0-9]{8}")
    with pytest.raises(interlock.ArgumentError, match="out of range"):
        guides.add_request(list(b"hi"), index, eos_token_id=models.WIDTH + 5)


def test_managers_that_do_not_fit_are_refused():
    def manager(running=False, use_async_batching=False, graphs=(False, False), processors=None):
        config = types.SimpleNamespace(use_async_batching=use_async_batching, cuda_graph_booleans=graphs)
        return types.SimpleNamespace(
            is_running=lambda: running, continuous_batching_config=config, logit_processor=processors
        )

    for wrong in (manager(running=True), manager(use_async_batching=True), manager(graphs=(False, True)), manager()):
        with pytest.raises(interlock.ArgumentError):
            ContinuousBatchingGuides(wrong)


class State:
    """A request of transformers, as far as it is read."""

    def __init__(self, name, request, prompt, generated=(), true_start=0):
        self.request_id, self.initial_tokens, self.generated_tokens = name, list(prompt), list(generated)
        self._true_initial_tokens = true_start
        self.logit_processor_kwargs = {} if request is None else {"interlock_constraint": request}


def allowed(guides, states):
    guides.prepare_tensor_args([types.SimpleNamespace(state=state) for state in states])
    scores = guides(torch.zeros(len(states), models.WIDTH), None)
    return [bytes(t for t in row.isfinite().nonzero().flatten().tolist() if t < 256) for row in scores]


@pytest.fixture
def guides():
    made = {}
    processors = types.SimpleNamespace(
        logits_processor=[], tensors_required=0, do_processing=False, _retrieve_processors_kwargs=lambda: None
    )
    manager = types.SimpleNamespace(
        is_running=lambda: False,
        continuous_batching_config=types.SimpleNamespace(use_async_batching=False, cuda_graph_booleans=(False, False)),
        logit_processor=processors,
        generation_config=types.SimpleNamespace(max_new_tokens=20),
        add_request=lambda ids, request_id, **options: made.setdefault(request_id, options)["interlock_constraint"],
    )
    guides = ContinuousBatchingGuides(manager)
    assert processors.logits_processor == [guides] and processors.tensors_required == 1 and processors.do_processing
    return guides


def test_requests_that_make_room_and_come_back(guides, vocabulary):
    request = guides.add_request(b"", interlock.Index.from_regex("abcd|abef", vocabulary), request_id="a")
    other = guides.add_request(b"", interlock.Index.from_regex("[xy]+", vocabulary), request_id="b")
    first, second = State("a", request, b"hi"), State("b", other, b"ho")
    assert allowed(guides, [first, second]) == [b"a", b"xy"]
    first.generated_tokens += b"ab"
    assert allowed(guides, [second, first, State("c", None, b"")]) == [b"xy", b"ce", bytes(range(256))]
    assert allowed(guides, [second]) == [b"xy"]
    # Back again: what was generated stands at the end of the prompt.
    again = State("a", request, b"hiab", true_start=2)
    assert allowed(guides, [again]) == [b"ce"]
    again.generated_tokens += b"e"
    assert allowed(guides, [again]) == [b"f"]
    # A child that goes another way under the same name.
    again.generated_tokens[:] = b"c"
    assert allowed(guides, [again]) == [b"d"]


def test_one_request_fails_alone(guides, vocabulary):
    digits = interlock.Index.from_regex("[0-9]{4}", vocabulary)
    late = guides.add_request(b"", digits, trigger=":", max_tokens=8, request_id="late")
    wrong = guides.add_request(b"", digits, request_id="wrong")
    right = guides.add_request(b"", Triggered({":": digits}), request_id="right")
    states = [State("late", late, b"", b"abcd:"), State("wrong", wrong, b"", b"1x"), State("right", right, b"", b":1")]
    digit = bytes(range(ord("0"), ord("9") + 1))
    for _ in range(2):
        assert allowed(guides, states) == [b"", b"", digit]
        assert {name: type(error) for name, error in guides.errors.items()} == {
            "late": interlock.BudgetError,
            "wrong": interlock.TokenRejected,
        }
        for state, token in zip(states, [EOS, EOS, ord("2")], strict=True):
            state.generated_tokens.append(token)
