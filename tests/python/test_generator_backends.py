"""Generators of backends that are not installed, with stand-ins that take the arguments which the backends take."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import types
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

import interlock
from interlock.generators import llama_cpp as llama_cpp_generator
from interlock.generators import mlx_lm as mlx_lm_generator
from interlock.generators.server_requests import openai_request, pattern_text, structured_fields
from interlock.output_types import OutputType, output_type_of

END = 256

# Random logits neither end a number by themselves nor a text before its budget.
pytestmark = [
    pytest.mark.filterwarnings("ignore::interlock.UnboundedNumberWarning"),
    pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning"),
]


@dataclass
class User:
    name: str
    age: int


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[END])


def scores(ids):
    """Random logits that depend on the ids, with printable characters in front."""
    rng = np.random.default_rng([len(ids), *map(int, ids)])
    made = (rng.normal(size=END + 1) * 3).astype(np.float32)
    made[32:127] += 9
    return made


# llama-cpp-python


class Llama:
    """``create_completion`` and ``create_chat_completion`` as far as the generator uses them."""

    metadata = {"tokenizer.chat_template": "x"}
    draft_model = None
    scores = np.zeros((8, 1))

    def __init__(self):
        self.asked = []

    def n_vocab(self):
        return END + 1

    def n_ctx(self):
        return 400

    def tokenize(self, text, add_bos=True, special=False):
        return list(text)

    def _run(self, prompt, max_tokens, logits_processor):
        ids = list(prompt.encode())
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
    assert isinstance(gen("x", User, max_tokens=80, chat=False), User) and llama.asked[-1][0] == "text"
    assert gen(["a", "b", "c"], Literal["yes", "no"]) == [gen(p, Literal["yes", "no"]) for p in "abc"]
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    assert gen(parts, Literal["yes", "no"]) == gen("a", Literal["yes", "no"])
    stream = gen("x", list[int], max_tokens=30, stream=True)
    assert "".join(stream) == stream.text and isinstance(stream.value, list)
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


def test_streams_of_llama_cpp_say_why_they_ended(llama):
    gen = interlock.from_llama_cpp(llama)
    stream = gen.stream("x", ["yes", "no"], max_tokens=30)
    assert stream.finish_reason is None
    assert stream.value in ("yes", "no") and stream.finish_reason == "stop"
    stream = gen.stream("x", re.compile("[a-z]{3,}"), max_tokens=3, on_tight="ignore")
    assert len(stream.value) == 3 and stream.finish_reason == "length"


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
    core.random = types.SimpleNamespace(seed=lambda seed: calls.append(("seed", seed)))
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
    assert mlx == [("seed", 4), ((0.5, 0.9), {})]
    with pytest.warns(UserWarning, match="seed changes nothing here") as warned:
        gen("x", User, max_tokens=80, seed=4)
    assert warned[0].filename == __file__
    del mlx[2:]
    assert isinstance(gen("x", User, max_tokens=80, max_kv_size=7), User) and mlx[-1][1] == {"max_kv_size": 7}
    assert all(isinstance(user, User) for user in gen(["a", "b"], User, max_tokens=80))
    stream = gen.stream("x", list[int], max_tokens=30)
    assert "".join(stream) == stream.text and isinstance(stream.value, list)
    stream = gen.stream("x", ["yes", "no"], max_tokens=30)
    assert stream.value in ("yes", "no") and stream.finish_reason == "stop"
    stream = gen.stream("x", re.compile("[a-z]{3,}"), max_tokens=3, on_tight="ignore")
    assert len(stream.value) == 3 and stream.finish_reason == "length"
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


# OpenAI's interface


def chunks(text, reason="stop"):
    pieces = [text[i : i + 3] for i in range(0, len(text), 3)]
    made = [types.SimpleNamespace(delta=types.SimpleNamespace(content=p), finish_reason=None) for p in pieces]
    made.append(types.SimpleNamespace(delta=types.SimpleNamespace(content=None), finish_reason=reason))
    return [types.SimpleNamespace(choices=[choice]) for choice in made] + [types.SimpleNamespace(choices=[])]


def reply(text, reason="stop", refusal=None):
    message = types.SimpleNamespace(content=text, refusal=refusal)
    return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message, finish_reason=reason)])


class Client:
    """``client.chat.completions.create`` with OpenAI's names."""

    def __init__(self, text, reason="stop", refusal=None):
        self.text, self.reason, self.refusal, self.calls = text, reason, refusal, []
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=self.create))

    def create(
        self, *, messages, model, temperature=None, max_tokens=None, max_completion_tokens=None, response_format=None,
        stream=False, extra_body=None,
    ):  # fmt: skip
        self.calls.append({k: v for k, v in locals().items() if v is not None and k != "self"})
        return chunks(self.text, self.reason) if stream else reply(self.text, self.reason, self.refusal)


class AsyncClient(Client):
    async def create(self, **fields):
        if fields.get("stream"):

            async def pieces():
                for chunk in chunks(self.text, self.reason):
                    yield chunk

            return pieces()
        self.calls.append(fields)
        await asyncio.sleep(0)
        return reply(self.text, self.reason, self.refusal)


ADA = '{"name": "Ada", "age": 36}'


def test_openai():
    client = Client(ADA)
    gen = interlock.from_openai(client, model="m")
    assert gen("Make up a user.", User, max_tokens=50, temperature=0) == User("Ada", 36)
    call = client.calls[0]
    assert call["model"] == "m" and call["max_completion_tokens"] == 50 and call["temperature"] == 0
    assert call["messages"] == [{"role": "user", "content": "Make up a user."}]
    sent = call["response_format"]["json_schema"]
    assert sent["name"] == "User" and sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False and sent["schema"]["required"] == ["name", "age"]
    assert gen(["a", "b"], User) == [User("Ada", 36)] * 2
    stream = gen("x", User, stream=True)
    assert "".join(stream) == ADA and stream.value == User("Ada", 36)
    assert interlock.from_openai(Client("Hi!"), "m")("x") == "Hi!"


class Wrapped(Client):
    """What wraps a client often takes any keyword, and passes it on."""

    def create(self, **fields):
        self.calls.append(fields)
        return reply(self.text)


@pytest.mark.parametrize("kind", [Client, Wrapped])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temprature": 0.5}, "no option 'temprature'; did you mean 'temperature'?"),
        ({"max_token": 5}, "no option 'max_token'; did you mean 'max_tokens'?"),
        ({"max_new_tokens": 5}, "'max_new_tokens' has another name here: pass max_tokens"),
        ({"response_format": {}}, "'response_format' has another name here: pass output_type"),
        ({"temperature": 20}, "temperature is 0 for greedy search, or a number up to 10, not 20"),
    ],
)
def test_misspelt_options_of_a_server(kind, options, message):
    client = kind(ADA)
    with pytest.raises(interlock.ArgumentError, match=re.escape(message)):
        interlock.from_openai(client, "m")("x", User, **options)
    assert client.calls == []


def test_options_that_only_some_servers_have():
    with pytest.raises(interlock.ArgumentError, match=re.escape("pass extra_body={'top_k': ...}")):
        interlock.from_openai(Client(ADA), "m")("x", User, top_k=5)
    wrapped = Wrapped(ADA)
    interlock.from_openai(wrapped, "m")("x", User, top_k=5, fallback_models=["n"], seed=3)
    assert wrapped.calls[0]["top_k"] == 5 and wrapped.calls[0]["fallback_models"] == ["n"]


def test_what_needs_a_model_in_this_process_says_so():
    gen = interlock.from_openai(Client(ADA), "m")
    with pytest.raises(
        AttributeError, match="'trace': a trace needs the model in this process, which from_transformers"
    ):
        gen.trace("x", User)
    for name in ("vocabulary", "index"):
        with pytest.raises(AttributeError, match=f"'{name}': the server makes the masks; for masks in this process"):
            getattr(gen, name)
    assert not hasattr(gen, "trace") and getattr(gen, "vocabulary", None) is None


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (list[int], [1, 2], [1, 2]),
        (int | None, None, None),
        (Literal["yes", "no"], "yes", "yes"),
        (re.compile(r"[0-9]+"), "12", "12"),
        (list[User], [{"name": "A", "age": 1}], [User("A", 1)]),
    ],
)
def test_openai_wraps_what_is_no_object(hint, value, expected):
    client = Client(json.dumps({"value": value}))
    gen = interlock.from_openai(client, "m")
    assert gen("x", hint) == expected
    schema = client.calls[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object" and schema["required"] == ["value"]
    with pytest.raises(interlock.ArgumentError, match="inside an object"):
        gen.stream("x", hint)
    with pytest.raises(interlock.InvalidOutputError, match="not the object"):
        interlock.from_openai(Client("[1]"), "m")("x", hint)


def test_strict_where_openai_can_say_it():
    strict = lambda hint: openai_request(output_type_of(hint), "openai").fields["response_format"]["json_schema"][
        "strict"
    ]
    assert strict(User) and strict(list[User]) and strict(Literal["a", "b"])
    assert not strict(dict[str, int]) and not strict({"type": "object", "properties": {"a": {"maxLength": 3}}})


def test_servers_have_fields_of_their_own():
    choice, pattern = output_type_of(["a.", "b"]), output_type_of(re.compile("a+"))
    assert openai_request(choice, "vllm").fields == {"extra_body": {"structured_outputs": {"choice": ["a.", "b"]}}}
    assert openai_request(pattern, "vllm").fields == {"extra_body": {"structured_outputs": {"regex": "a+"}}}
    assert openai_request(choice, "sglang").fields == {"extra_body": {"regex": r"(?:a\.|b)"}}
    assert openai_request(pattern, "sglang").fields == {"extra_body": {"regex": "a+"}}
    sent = openai_request(output_type_of(list[int]), "vllm").fields["response_format"]["json_schema"]
    assert sent["schema"] == output_type_of(list[int]).source
    client = Client("a")
    assert interlock.from_openai(client, "m", server="vllm")("x", ["a", "b"], extra_body={"top_k": 3}) == "a"
    assert client.calls[0]["extra_body"] == {"top_k": 3, "structured_outputs": {"choice": ["a", "b"]}}
    assert client.calls[0]["max_tokens"] == 512
    assert structured_fields(output_type_of(True)) == {"json": {}}
    assert pattern_text(re.compile("a", re.I | re.S)) == "(?is)a"


def test_servers_are_not_believed():
    for text, reason, said in (
        ('{"name": "Ada", "age": "x"}', "stop", "the server did not enforce User"),
        ('{"name": "A', "length", "stopped at max_tokens=7"),
    ):
        with pytest.raises(interlock.InvalidOutputError, match=said):
            interlock.from_openai(Client(text, reason), "m")("x", User, max_tokens=7)
        with pytest.raises(interlock.InvalidOutputError, match=said):
            list(interlock.from_openai(Client(text, reason), "m").stream("x", User, max_tokens=7))
    with pytest.raises(interlock.InvalidOutputError, match="refuses to answer: no"):
        interlock.from_openai(Client(None, refusal="no"), "m")("x", User)
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client("maybe"), "m", server="vllm")("x", ["yes", "no"])
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client('{"a": 11}'), "m")(
            "x", {"type": "object", "properties": {"a": {"maximum": 10}}, "required": ["a"]}
        )


def test_what_masks_cannot_take_in_any_order_is_checked_in_the_schemas_order(monkeypatch):
    compiled = OutputType.index

    def index(self, vocabulary, **options):
        if options.get("property_order") == "any":
            raise interlock.LimitError("too many orders")
        return compiled(self, vocabulary, **options)

    monkeypatch.setattr(OutputType, "index", index)
    names = [f"k{i}" for i in range(20)]
    schema = {"type": "object", "properties": dict.fromkeys(names, {"type": "integer"}), "required": names}
    ordered, turned = ({name: 1 for name in order} for order in (names, reversed(names)))
    assert interlock.from_openai(Client(json.dumps(ordered)), "m")("x", schema) == ordered
    with pytest.raises(interlock.InvalidOutputError, match="in the schema's order"):
        interlock.from_openai(Client(json.dumps(turned)), "m")("x", schema)
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client(json.dumps({**ordered, "k7": "x"})), "m")("x", schema)
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model("Many", **dict.fromkeys(names, int))
    assert interlock.from_openai(Client(json.dumps(turned)), "m")("x", model) == model(**ordered)
    with pytest.raises(interlock.InvalidOutputError, match="is no Many"):
        interlock.from_openai(Client(json.dumps({**turned, "k7": "x"})), "m")("x", model)


def test_asynchronous_clients():
    async def run():
        client = AsyncClient(ADA)
        gen = interlock.from_openai(client, "m")
        assert await gen("x", User) == User("Ada", 36)
        assert await gen(["a", "b", "c"], User) == [User("Ada", 36)] * 3 and len(client.calls) == 4
        stream = gen.stream("x", User)
        assert "".join([piece async for piece in stream]) == ADA == stream.text
        assert await stream.value() == User("Ada", 36)
        with pytest.raises(interlock.ArgumentError, match=r"call gen\.stream"):
            await gen("x", User, stream=True)
        with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
            await interlock.from_openai(AsyncClient("{}"), "m")("x", User)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: interlock.from_openai("key", "m"), "a client is needed"),
        (lambda: interlock.from_openai(Client(""), ""), "model is the name"),
        (lambda: interlock.from_openai(Client(""), "m", server="tgi"), "server is one of"),
        (lambda: interlock.from_openai(Client(""), "m")("x", temprature=1), "did you mean 'temperature'"),
        (lambda: interlock.from_openai(Client(""), "m")("x", response_format={}), "pass output_type"),
        (lambda: interlock.from_openai(Client(""), "m")("x", max_completion_tokens=3), "pass max_tokens"),
        (lambda: interlock.Program(interlock.from_openai(Client(""), "m")), "a model in this process"),
    ],
)
def test_mistakes_with_clients(call, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        call()


def test_a_server_takes_no_index(vocabulary):
    index = interlock.Index.from_choices(["a"], vocabulary)
    with pytest.raises(interlock.ArgumentError, match="takes no Index"):
        interlock.from_openai(Client("a"), "m")("x", index)


def test_the_real_client_over_http():
    openai = pytest.importorskip("openai", reason="openai is not installed")
    import http.server
    import threading

    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": ADA}
            body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
            body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        with openai.OpenAI(base_url=url, api_key="none") as client:
            gen = interlock.from_openai(client, "m")
            assert gen("x", User) == User("Ada", 36)
            assert seen[0]["response_format"]["json_schema"]["name"] == "User"
            with pytest.raises(interlock.ArgumentError, match="did you mean 'temperature'"):
                gen("x", User, temprature=1)

        async def run():
            async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
                return await interlock.from_openai(client, "m")(["a", "b"], User)

        assert asyncio.run(run()) == [User("Ada", 36)] * 2
    finally:
        server.shutdown()
        server.server_close()


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
