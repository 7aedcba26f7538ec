"""Generators of backends that are not installed, with stand-ins that take the arguments which the backends take."""

from __future__ import annotations

import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from generator_stand_ins import END, NO_WARNINGS_OF_ENDS, LlamaContext, User, bytes_and_end

import interlock
from interlock.generators import llama_cpp as llama_cpp_generator
from interlock.generators import mlx_lm as mlx_lm_generator
from interlock.output_types import output_type_of

pytestmark = NO_WARNINGS_OF_ENDS


@pytest.fixture(scope="module")
def vocabulary():
    return bytes_and_end()


def scores(ids):
    """Random logits that depend on the ids, with printable characters in front."""
    rng = np.random.default_rng([len(ids), *map(int, ids)])
    made = (rng.normal(size=END + 1) * 3).astype(np.float32)
    made[32:127] += 9
    return made


# llama-cpp-python


class Llama(LlamaContext):
    """``create_completion`` and ``create_chat_completion`` as far as the generator uses them."""

    metadata = {"tokenizer.chat_template": "x"}

    def __init__(self):
        self.asked = []

    def _run(self, prompt, max_tokens, logits_processor):
        ids = list(prompt.encode())
        if len(ids) >= self.n_ctx():
            raise ValueError(f"Requested tokens ({len(ids)}) exceed context window of {self.n_ctx()}")
        for _ in range(max_tokens):
            logits = scores(ids)
            for processor in logits_processor:
                logits = processor(np.array(ids, dtype=np.intc), logits)
            token = int(np.argmax(logits))
            if token == END:
                return
            ids.append(token)
            yield chr(token) if token < 128 else ""

    def create_completion(
        self, prompt, suffix=None, max_tokens=16, temperature=0.8, top_p=0.95, stream=False, seed=None,
        logits_processor=None, grammar=None,
    ):  # fmt: skip
        self.asked.append(("text", temperature, seed))
        assert stream
        return ({"choices": [{"text": piece}]} for piece in self._run(prompt, max_tokens, logits_processor))

    def create_chat_completion(
        self, messages, temperature=0.2, top_p=0.95, stream=False, seed=None, response_format=None, max_tokens=None,
        logits_processor=None,
    ):  # fmt: skip
        self.asked.append(("chat", temperature, seed))
        assert stream
        pieces = self._run(messages[-1]["content"], max_tokens, logits_processor)
        yield {"choices": [{"delta": {"role": "assistant"}}]}
        for piece in pieces:
            yield {"choices": [{"delta": {"content": piece}}]}
        yield {"choices": [{"delta": {}}]}


@pytest.fixture
def llama(vocabulary, monkeypatch):
    monkeypatch.setattr(llama_cpp_generator, "vocabulary_from_llama", lambda llama: vocabulary)
    return Llama()


def test_llama_cpp(llama):
    gen = interlock.from_llama_cpp(llama)
    user = gen("Make up a user.", User, max_tokens=80, temperature=0.5, seed=3)
    assert isinstance(user, User) and llama.asked == [("chat", 0.5, 3)]
    # Logits behind what an earlier call left in the cache are not the same to the last bit.
    assert llama.forgotten == 1
    assert isinstance(gen("x", User, max_tokens=80, chat=False), User) and llama.asked[-1][0] == "text"
    assert gen(["a", "b", "c"], Literal["yes", "no"]) == [gen(p, Literal["yes", "no"]) for p in "abc"]
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    assert gen(parts, Literal["yes", "no"]) == gen("a", Literal["yes", "no"])
    stream = gen("x", list[int], max_tokens=30, stream=True)
    assert "".join(stream) == stream.text and isinstance(stream.value, list)
    assert llama.forgotten == 1
    with pytest.raises(interlock.BudgetError):
        gen("x", User, max_tokens=3)
    for options, said in (
        ({"temprature": 1}, "did you mean 'temperature'"),
        ({"grammar": "x"}, "no option 'grammar'"),
        ({"response_format": {}}, "pass output_type"),
        ({"n_predict": 3}, "pass max_tokens"),
    ):
        with pytest.raises(interlock.ArgumentError, match=said):
            gen("x", User, **options)
    with pytest.raises(interlock.ArgumentError, match="a llama_cpp.Llama is needed"):
        interlock.from_llama_cpp("model.gguf")
    with pytest.raises(interlock.ArgumentError, match="stop belongs to free text, .* User ends where it is complete"):
        gen("x", User, stop=["a"])
    whole = gen("x", str, max_tokens=20)
    assert gen("x", str, max_tokens=20, stop=whole[3]) == whole[: whole.index(whole[3])]


def test_each_row_of_a_batch_has_the_seed_for_itself(llama, mlx, vllm):
    """As docs/generate.md says; rows of transformers draw from one sequence (test_seeds.py)."""
    options = {"temperature": 0.5, "seed": 3}
    interlock.from_llama_cpp(llama)(["a", "a", "b"], Literal["yes", "no"], **options)
    assert [seed for _, _, seed in llama.asked] == [3, 3, 3] and llama.forgotten == 3
    model = types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1))
    interlock.from_mlx_lm(model, MlxTokenizer())(["a", "a", "b"], Literal["yes", "no"], **options)
    samplers = [sampler for sampler, _ in mlx]
    assert [one.state for one in samplers] == [3, 3, 3] and len(set(map(id, samplers))) == 3
    llm = LLM(["yes"] * 3)
    interlock.from_vllm(llm)(["a", "a", "b"], Literal["yes", "no"], **options)
    assert llm.calls[0][2].seed == 3, "vLLM takes the parameters for each request"


def test_numbers_of_numpy_are_handed_on_as_pythons(llama):
    gen = interlock.from_llama_cpp(llama)
    gen("x", ["yes", "no"], temperature=np.float32(0.5), seed=np.int64(3), max_tokens=np.int64(9))
    assert llama.asked == [("chat", 0.5, 3)] and [type(one) for one in llama.asked[0][1:]] == [float, int]


def test_a_number_ends_at_the_temperature_that_llama_cpp_has_in_chats(llama, monkeypatch):
    gen = interlock.from_llama_cpp(llama)
    seen, number_end = [], gen.number_end
    monkeypatch.setattr(gen, "number_end", lambda temperature: seen.append(temperature) or number_end(temperature))
    gen("x", int, max_tokens=5)
    gen("x", int, max_tokens=5, chat=False)
    gen("x", int, max_tokens=5, temperature=0.3)
    assert seen == [0.2, 0.8, 0.3]


def test_streams_of_llama_cpp_say_why_they_ended(llama):
    gen = interlock.from_llama_cpp(llama)
    stream = gen.stream("x", ["yes", "no"], max_tokens=30)
    assert stream.finish_reason is None
    assert stream.value in ("yes", "no") and stream.finish_reason == "stop"
    stream = gen.stream("x", re.compile("[a-z]{3,}"), max_tokens=3, on_tight="ignore")
    assert len(stream.value) == 3 and stream.finish_reason == "stop"  # It is whole.
    stream = gen.stream("x", max_tokens=3)
    assert stream.value and stream.finish_reason == "length"


def test_a_number_ends_where_the_model_says_something_else(llama, mlx, vocabulary, monkeypatch):
    """The logits want "12 years": the mask forbids the blank, and the number ends there instead of going on."""

    def wanting(ids):
        text = b"12 years"
        written = bytes(token for token in ids if 48 <= token < 58)
        made = np.zeros(END + 1, dtype=np.float32)
        made[48:58] = 5
        made[text[len(written)] if len(written) < len(text) else END] = 9
        return made

    monkeypatch.setattr(sys.modules[__name__], "scores", wanting)
    gen = interlock.from_llama_cpp(llama)
    assert gen("How long?", int, chat=False, temperature=0.0) == 12
    longer = gen("How long?", list[int], chat=False, temperature=0.0, max_tokens=9)[0]
    assert longer > 12 and str(longer).startswith("12"), "only at the top"
    gen = interlock.from_mlx_lm(types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1)), MlxTokenizer())
    assert gen("How long?", int, chat=False) == 12


def test_generate_finds_the_backend(llama):
    Llama.__module__ = "llama_cpp.llama"
    try:
        assert isinstance(interlock.generate(llama, None, "x", User, max_tokens=80), User)
    finally:
        Llama.__module__ = __name__


# mlx-lm


def make_sampler(temp=0.0, top_p=0.0, min_p=0.0, top_k=0):
    return temp, top_p


def generate_step(
    prompt, model, stream=None, *, max_tokens=256, sampler=None, logits_processors=None, max_kv_size=None
):
    raise AssertionError("only its signature is read")


@pytest.fixture
def mlx(monkeypatch, vocabulary):
    """NumPy in the place of mlx, and mlx-lm's loop as far as it is used."""
    calls = []

    def stream_generate(model, tokenizer, prompt, max_tokens=256, sampler=None, logits_processors=(), **options):
        calls.append((sampler, options))
        ids = list(prompt)
        for _ in range(max_tokens):
            logits = scores(ids)[None]
            for processor in logits_processors:
                logits = processor(np.array(ids), logits)
            token = int(np.argmax(logits))
            ids.append(token)
            yield types.SimpleNamespace(token=token, text="", finish_reason=None)
            if token == END:
                return

    core = types.ModuleType("mlx.core")
    core.array = lambda values, dtype=None: np.asarray(values, dtype=dtype)
    core.where, core.async_eval, core.float32 = np.where, lambda *arrays: None, np.float32
    modules = {"mlx": types.ModuleType("mlx"), "mlx.core": core, "mlx_lm": types.ModuleType("mlx_lm")}
    modules["mlx"].core = core
    modules["mlx_lm"].stream_generate = stream_generate
    modules["mlx_lm.generate"] = types.ModuleType("mlx_lm.generate")
    modules["mlx_lm.generate"].generate_step = generate_step
    modules["mlx_lm.sample_utils"] = types.ModuleType("mlx_lm.sample_utils")
    modules["mlx_lm.sample_utils"].make_sampler = make_sampler
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(mlx_lm_generator, "vocabulary_from_mlx", lambda tokenizer, size: vocabulary)
    return calls


class MlxTokenizer:
    chat_template = None

    def encode(self, text):
        return list(text.encode())

    def apply_chat_template(self, messages, add_generation_prompt):
        return [1, *messages[-1]["content"].encode()]


def test_mlx_lm(mlx):
    model = types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1))
    gen = interlock.from_mlx_lm(model, MlxTokenizer())
    assert isinstance(gen("x", User, max_tokens=80, temperature=0.5, top_p=0.9, seed=4), User)
    assert (mlx[0][0].sampler, mlx[0][0].state, mlx[0][1]) == ((0.5, 0.9), 4, {})
    # An option of sampling without a temperature asks for sampling all the same.
    gen("x", User, max_tokens=80, top_p=0.9)
    assert mlx.pop() == ((1.0, 0.9), {})
    with pytest.warns(interlock.UnusedSeedWarning, match="seed changes nothing here") as warned:
        gen("x", User, max_tokens=80, seed=4)
    assert warned[0].filename == __file__
    del mlx[1:]
    assert isinstance(gen("x", User, max_tokens=80, max_kv_size=7), User) and mlx[-1][1] == {"max_kv_size": 7}
    assert all(isinstance(user, User) for user in gen(["a", "b"], User, max_tokens=80))
    stream = gen.stream("x", list[int], max_tokens=30)
    assert "".join(stream) == stream.text and isinstance(stream.value, list)
    stream = gen.stream("x", ["yes", "no"], max_tokens=30)
    assert stream.value in ("yes", "no") and stream.finish_reason == "stop"
    stream = gen.stream("x", re.compile("[a-z]{3,}"), max_tokens=3, on_tight="ignore")
    assert len(stream.value) == 3 and stream.finish_reason == "stop"  # It is whole.
    stream = gen.stream("x", max_tokens=3)
    assert stream.value and stream.finish_reason == "length"
    with pytest.raises(interlock.ArgumentError, match="no chat template"):
        gen([{"role": "user", "content": "x"}])
    for options, said in (({"temprature": 1}, "'temperature'"), ({"max_kvsize": 3}, "'max_kv_size'")):
        with pytest.raises(interlock.ArgumentError, match=f"did you mean {said}"):
            gen("x", User, **options)
    with pytest.raises(interlock.ArgumentError, match="tokenizer is needed"):
        interlock.from_mlx_lm(model, None)


# vLLM


@dataclass
class StructuredOutputsParams:
    json: dict | None = None
    regex: str | None = None
    choice: list[str] | None = None


class SamplingParams:
    __struct_fields__ = ("max_tokens", "temperature", "top_p", "seed", "structured_outputs")

    def __init__(self, **fields):
        assert fields.keys() <= set(self.__struct_fields__)
        self.__dict__.update(fields)


class LLM:
    def __init__(self, answers, reason="stop"):
        self.answers, self.reason, self.calls = answers, reason, []

    def get_tokenizer(self):
        return types.SimpleNamespace(chat_template="x")

    def _outputs(self, kind, prompts, parameters):
        self.calls.append((kind, prompts, parameters))
        outputs = [types.SimpleNamespace(text=text, finish_reason=self.reason) for text in self.answers[: len(prompts)]]
        return [types.SimpleNamespace(outputs=[output]) for output in outputs]

    def chat(self, messages, sampling_params=None, use_tqdm=True):
        return self._outputs("chat", messages, sampling_params)

    def generate(self, prompts, sampling_params=None, use_tqdm=True):
        return self._outputs("generate", prompts, sampling_params)


@pytest.fixture
def vllm(monkeypatch):
    package, inner = types.ModuleType("vllm"), types.ModuleType("vllm.sampling_params")
    package.SamplingParams, package.sampling_params = SamplingParams, inner
    inner.StructuredOutputsParams = StructuredOutputsParams
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", inner)
    return inner


def test_vllm(vllm, monkeypatch):
    llm = LLM(['{"name": "Ada", "age": 36}', '{"name":"Bob","age":1}'])
    gen = interlock.from_vllm(llm)
    assert gen(["a", "b"], User, max_tokens=50, temperature=0) == [User("Ada", 36), User("Bob", 1)]
    kind, prompts, parameters = llm.calls[0]
    assert kind == "chat" and prompts == [[{"role": "user", "content": p}] for p in "ab"]
    assert parameters.max_tokens == 50 and parameters.temperature == 0
    assert parameters.structured_outputs.json == output_type_of(User).source
    assert interlock.from_vllm(LLM(["yes"]), chat=False)("x", ["yes", "no"]) == "yes"
    llm = LLM(["a-1"])
    assert interlock.from_vllm(llm)("x", re.compile("[A-Z]-1", re.I)) == "a-1"
    assert llm.calls[0][2].structured_outputs.regex == "(?i)[A-Z]-1"
    assert interlock.from_vllm(LLM(["free"]))("x") == "free"
    monkeypatch.delattr(vllm, "StructuredOutputsParams")
    vllm.GuidedDecodingParams = StructuredOutputsParams
    monkeypatch.setattr(SamplingParams, "__struct_fields__", ("max_tokens", "guided_decoding"))
    llm = LLM(["yes"])
    assert interlock.from_vllm(llm)("x", ["yes"]) == "yes" and llm.calls[0][2].guided_decoding.choice == ["yes"]


def test_vllm_that_enforces_less(vllm):
    for text, reason, said in (
        ('{"name": "Ada", "age": "old"}', "stop", "did not enforce User"),
        ('{"name": "Ad', "length", "stopped at max_tokens=9 in the middle of User"),
        ('{"name": "Ad', "stop", "stopped in the middle of User"),
        ('{"name": "Ada", "age": 1, "x": 2}', "stop", "did not enforce User"),
    ):
        with pytest.raises(interlock.InvalidOutputError, match=said) as caught:
            interlock.from_vllm(LLM([text], reason))("x", User, max_tokens=9)
        assert caught.value.text == text
    assert interlock.from_vllm(LLM(['{"age": 1, "name": "A"}'], "length"))("x", User) == User("A", 1)
    gen = interlock.from_vllm(LLM([]))
    with pytest.raises(interlock.ArgumentError, match="does not stream"):
        gen.stream("x")
    with pytest.raises(interlock.ArgumentError, match="not both"):
        gen.batch(["a", [{"role": "user", "content": "b"}]], chat=False)
    with pytest.raises(interlock.ArgumentError, match="did you mean 'temperature'"):
        gen("x", temperatur=1)
    with pytest.raises(interlock.ArgumentError, match=r"a vllm\.LLM is needed"):
        interlock.from_vllm("model")


def test_the_room_of_llama_cpp_and_its_last_token(llama):
    gen = interlock.from_llama_cpp(llama)
    with pytest.raises(interlock.TightBudgetError, match=r"room of 40 tokens behind the prompt \(360 of .* 400\)"):
        gen("x" * 360, User, max_tokens=200, on_tight="error")
    with pytest.raises(interlock.BudgetError, match="the prompt has 398 tokens, .* of 400 has room for 2 tokens"):
        gen("x" * 398, User, max_tokens=200)
    # Of the last token no mask is made.
    with pytest.raises(interlock.TightBudgetError, match="max_tokens=5 ") as caught:
        gen("x", re.compile("[a-z]+"), max_tokens=5, on_tight="error")
    assert len(caught.value.text) == 5
    assert len(gen("x", re.compile("[a-z]{5}"), max_tokens=5, on_tight="error")) == 5


def narrow_mlx():
    arguments = types.SimpleNamespace(vocab_size=END + 1, max_position_embeddings=400)
    return interlock.from_mlx_lm(types.SimpleNamespace(args=arguments), MlxTokenizer())


@pytest.mark.parametrize("backend", ["llama.cpp", "mlx-lm"])
@pytest.mark.parametrize("length", [390, 400, 431])
def test_a_prompt_that_is_too_long_is_said_alike(backend, length, llama, mlx):
    gen = interlock.from_llama_cpp(llama) if backend == "llama.cpp" else narrow_mlx()
    room = 400 - length - (backend == "mlx-lm")
    behind = f"room for {room} tokens behind it, but .* needs" if room > 0 else "no room behind it"
    said = f"the prompt has {length} tokens, and the model's context of 400 has {behind}.*: shorten the prompt"
    for call in (gen, gen.stream, gen.trace):
        with pytest.raises(interlock.PromptTooLongError, match=said) as caught:
            call("x" * length, User, chat=False, max_tokens=60).value  # noqa: B018
        assert isinstance(caught.value, interlock.BudgetError) and caught.value.limit == max(0, room)
    prompts = ["a", "x" * length, "b"]
    with pytest.raises(interlock.BudgetError, match="^prompt 1 of the batch: " + said) as caught:
        gen(prompts, User, chat=False, max_tokens=60)
    assert caught.value.row == 1 and caught.value.text == ""
    first, error, last = gen(prompts, User, chat=False, max_tokens=60, errors="return")
    assert isinstance(first, User) and isinstance(last, User) and caught.value.results[::2] == [first, last]
    assert isinstance(error, interlock.PromptTooLongError) and error.row == 1
    alone = gen("x" * length, User, chat=False, max_tokens=60, errors="return")
    assert isinstance(alone, interlock.PromptTooLongError) and alone.row is None


def test_a_budget_without_an_output_is_an_error_of_the_whole_batch(llama, mlx):
    for gen in (interlock.from_llama_cpp(llama), narrow_mlx()):
        with pytest.raises(interlock.BudgetError, match="pass max_tokens=") as caught:
            gen(["a", "b"], User, chat=False, max_tokens=3, errors="return")
        assert not isinstance(caught.value, interlock.PromptTooLongError)


def test_what_is_no_prompt_is_said_before_the_model_is_asked(llama):
    gen = interlock.from_llama_cpp(llama)
    for wrong, said in (
        ([{"role": "user"}], "message 0 has the keys"),
        ("\ud800", "the prompt is no Unicode text"),
        (None, "a prompt is a text or a list of messages"),
    ):
        with pytest.raises(interlock.ArgumentError, match=f"^prompt 1 of the batch: {said}"):
            gen(["a", wrong], User)
    assert llama.asked == []


def test_a_short_context_is_the_budget_of_mlx_lm(mlx):
    with pytest.raises(interlock.TightBudgetError, match=r"room of 39 tokens behind the prompt \(360 of .* 400\)"):
        narrow_mlx()("x" * 360, User, max_tokens=200, on_tight="error")
    # A cache that forgets its beginning has no end.
    assert isinstance(narrow_mlx()("x" * 431, User, max_tokens=60, max_kv_size=100), User)


def test_documents_of_a_schema_stand_in_the_schema(llama):
    gen = interlock.from_llama_cpp(llama)
    said = 'under "\\$defs".*, with .* URI as its "\\$id"'
    with pytest.raises(interlock.UnsupportedError, match=said) as caught:
        gen("x", {"$ref": "https://example.com/s.json"})
    assert "documents" not in str(caught.value)
    with pytest.raises(interlock.ArgumentError, match=said):
        gen("x", {"$ref": "https://example.com/s.json"}, documents={})
    inner = {"$id": "https://example.com/s.json", "enum": ["a", "b"]}
    assert gen("x", {"$ref": "https://example.com/s.json", "$defs": {"s": inner}}) in ("a", "b")


def test_what_is_no_model_is_said(llama, mlx, vllm):
    model = types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1))
    with pytest.raises(interlock.ArgumentError, match=r"other order, .* a tokenizer: from_mlx_lm\(model, tokenizer\)"):
        interlock.from_mlx_lm(MlxTokenizer(), model)
    with pytest.raises(interlock.ArgumentError, match="'smol' is a name: .*mlx_lm.load"):
        interlock.from_mlx_lm("smol", MlxTokenizer())
    for make, load in ((interlock.from_llama_cpp, "llama_cpp.Llama"), (interlock.from_vllm, "vllm.LLM")):
        for name in ("x.gguf", Path("x.gguf")):
            with pytest.raises(interlock.ArgumentError, match=f"{load} is needed, and 'x.gguf' is a name: {load}"):
                make(name)
        with pytest.raises(interlock.ArgumentError, match=f"{load} is needed, not MlxTokenizer, which is a tokenizer"):
            make(MlxTokenizer())


def test_a_llama_without_weights_is_refused_when_the_generator_is_made(llama):
    llama.model_params = types.SimpleNamespace(vocab_only=True)
    with pytest.raises(interlock.ArgumentError, match="no weights, so it writes nothing: leave out vocab_only=True"):
        interlock.from_llama_cpp(llama)
    llama.model_params.vocab_only = False
    assert interlock.from_llama_cpp(llama)("x", ["a"]) == "a"


def test_mistakes_with_llama_cpp(llama):
    gen = interlock.from_llama_cpp(llama)
    with pytest.raises(interlock.ArgumentError, match="'do_sample': temperature=0 is greedy search"):
        gen("x", User, do_sample=False)
    with pytest.raises(interlock.ArgumentError, match=r"'grammar': .* gen\(prompt, interlock.Grammar\(text\)\)"):
        gen("x", grammar='root ::= "a"')
    with pytest.raises(interlock.ArgumentError, match="this is the class Llama"):
        interlock.from_llama_cpp(Llama)
    Llama.__module__ = "llama_cpp.llama"
    try:
        with pytest.raises(interlock.ArgumentError, match=r"'x' is none. .* generate\(llama, None, prompt"):
            interlock.generate(llama, "x", User)
    finally:
        Llama.__module__ = __name__
    llama.model = None
    for call in (lambda: gen("x", User), lambda: gen.stream("x", User), lambda: gen.program("x")):
        with pytest.raises(interlock.ArgumentError, match="was closed, .*: make another one"):
            call()
