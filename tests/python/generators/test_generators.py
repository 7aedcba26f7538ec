"""Generators of transformers, with a tiny model of random numbers: whatever it writes is right because of the masks."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import gc
import json
import re
import threading
import warnings
import weakref
from typing import Literal, NamedTuple, TypedDict

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

from tiny_models import TEMPLATE, tiny_model, tiny_tokenizer

import interlock
from interlock.integrations.transformers import JumpForwardStats


# A model of random numbers does not end a number by itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore::interlock.UnboundedNumberWarning"),
    pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning"),
]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class User:
    name: str
    age: int
    color: Color


class Point(NamedTuple):
    x: int
    y: int


class Book(TypedDict):
    title: str
    year: int


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture(scope="module")
def model(tokenizer):
    return tiny_model(tokenizer)


@pytest.fixture(scope="module")
def gen(model, tokenizer):
    return interlock.from_transformers(model, tokenizer)


TYPES = [
    (User, lambda v: isinstance(v, User) and isinstance(v.color, Color)),
    (Point, lambda v: isinstance(v, Point)),
    (Book, lambda v: set(v) == {"title", "year"}),
    (Color, lambda v: v in Color),
    (Literal["yes", "no"], lambda v: v in ("yes", "no")),
    (int, lambda v: type(v) is int),
    (list[Point], lambda v: all(isinstance(p, Point) for p in v)),
    (datetime.date | None, lambda v: v is None or isinstance(v, datetime.date)),
    (re.compile("[a-z]{2}-[0-9]{2}"), lambda v: re.fullmatch("[a-z]{2}-[0-9]{2}", v)),
    (
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
        lambda v: type(v["a"]) is not str,
    ),
]


@pytest.mark.parametrize("seed", range(10))
def test_ten_types_ten_times(gen, seed):
    for hint, is_right in TYPES:
        assert is_right(gen("Write.", hint, max_tokens=90, temperature=1.5, seed=seed)), hint


def begun_with(text):
    return [{"role": "user", "content": "Write."}, {"role": "assistant", "content": text}]


@pytest.mark.parametrize("options", [{}, {"jump_forward": False}, {"num_beams": 2}])
def test_a_prefill_is_gone_on_with(gen, options):
    users = gen([begun_with('{"name": "Zo'), "Write.", begun_with('{"na')], User, max_tokens=90, **options)
    assert users[0].name.startswith("Zo") and all(isinstance(user, User) for user in users)
    assert gen(begun_with('{"name": "Zo'), User, max_tokens=90, **options) == users[0]
    assert gen(begun_with("Zo"), max_tokens=5, **options).startswith("Zo")
    with pytest.raises(interlock.ArgumentError, match="^prompt 1 of the batch: .* no value of User begins with it"):
        gen(["Write.", begun_with("x")], User, **options)


def test_a_prefill_is_the_first_piece_of_a_stream(gen):
    stream = gen.stream(begun_with('{"name": "Zo'), User, max_tokens=90)
    assert next(stream) == '{"name": "Zo' and stream.value == gen(begun_with('{"name": "Zo'), User, max_tokens=90)
    with pytest.raises(interlock.ArgumentError, match="no value of User begins with it"):
        gen.stream(begun_with("x"), User)


def test_a_seed_without_sampling_warns(gen):
    for options in ({}, {"temperature": 0}, {"do_sample": False}):
        with pytest.warns(
            interlock.UnusedSeedWarning, match="seed changes nothing here: without a temperature"
        ) as warned:
            gen("One", ["yes", "no"], max_tokens=8, seed=5, **options)
        assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for options in ({"seed": 5, "temperature": 1.0}, {"seed": 5, "top_p": 0.5}, {"seed": 5, "do_sample": True}, {}):
            gen("One", ["yes", "no"], max_tokens=8, **options)


def test_one_call(model, tokenizer):
    assert isinstance(interlock.generate(model, tokenizer, "A user.", User, max_tokens=90), User)
    kept = interlock.generators._generators[model][1]
    index = kept.index(User)
    interlock.generate(model, tokenizer, "A user.", User, max_tokens=90)
    assert interlock.generators._generators[model][1] is kept and kept.index(User) is index
    assert interlock.generate(model, tokenizer, "Is it?", ["yes", "no"]) in ("yes", "no")


def test_generate_keeps_no_model_alive(tokenizer):
    model = tiny_model(tokenizer)
    interlock.generate(model, tokenizer, "A", bool)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_batch_is_the_same_as_its_prompts(gen):
    prompts = ["One", "Another, longer prompt", [{"role": "user", "content": "A third"}]]
    together = gen(prompts, User, max_tokens=90)
    assert (
        together == [gen(prompt, User, max_tokens=90) for prompt in prompts] == gen.batch(prompts, User, max_tokens=90)
    )
    assert gen([], User) == []
    types = [User, Literal["yes", "no"], list[bool]]
    each = [gen(prompt, one, max_tokens=90) for prompt, one in zip(prompts, types)]
    assert each == gen.batch(prompts, types, max_tokens=90) == gen.batch(prompts, types, max_tokens=90, num_beams=1)
    slowly = gen.batch(prompts, types, max_tokens=90, jump_forward=False)
    assert [type(value) for value in slowly] == [type(value) for value in each]


def test_streams(gen):
    stream = gen("One", User, max_tokens=90, stream=True)
    pieces = list(stream)
    assert len(pieces) > 3 and "".join(pieces) == stream.text
    assert stream.value == gen("One", User, max_tokens=90)
    cut = gen.stream("One", re.compile("[a-z]{3,}"), max_tokens=3, on_tight="ignore")
    assert cut.finish_reason is None and len(cut.value) >= 3 and cut.finish_reason == "stop"
    chosen = gen.stream("One", ["yes", "no"], max_tokens=20)
    assert chosen.value in ("yes", "no") and chosen.finish_reason == "stop"
    assert gen.stream("One", list[int], max_tokens=20).value == gen("One", list[int], max_tokens=20)


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}])
def test_a_budget_that_ends_values_is_an_error_on_demand(gen, options):
    """A model of random numbers does not end a text by itself."""
    found = gen(["One", "Another prompt"], Book, max_tokens=60, on_tight="error", errors="return", **options)
    assert [type(one) for one in found] == [interlock.TightBudgetError] * 2
    for row, error in enumerate(found):
        assert error.row == row and error.pointer == "/title" and set(json.loads(error.text)) == {"title", "year"}
    with pytest.raises(interlock.TightBudgetError):
        gen("One", Book, max_tokens=60, on_tight="error", **options)
    values = gen(["One", "Another prompt"], Book, max_tokens=60, on_tight="ignore", **options)
    assert values == [json.loads(error.text) for error in found]
    if not options:
        with pytest.raises(interlock.TightBudgetError):
            gen.stream("One", Book, max_tokens=60, on_tight="error").value  # noqa: B018


def test_a_stream_that_is_left_ends_its_thread(gen):
    before = threading.active_count()
    with gen.stream("One", max_tokens=3000) as stream:
        assert next(stream)
    assert threading.active_count() == before
    stream = gen.stream("One", max_tokens=3000)
    stream.close()
    assert threading.active_count() == before and list(stream) == []


def test_a_stream_hands_on_errors(gen):
    with pytest.raises(interlock.BudgetError):
        list(gen.stream("One", User, max_tokens=2))
    with pytest.raises(interlock.ArgumentError, match="no beams"):
        list(gen.stream("One", User, num_beams=2))
    with pytest.raises(interlock.ArgumentError, match="a stream has one prompt"):
        gen.stream(["a", "b"])


def test_forced_tokens_cost_no_call(gen):
    stats = JumpForwardStats()
    gen("One", Point, max_tokens=40, stats=stats)
    assert stats.forced >= 4 and stats.model_calls < stats.forced + stats.sampled
    asked = gen("One", Point, max_tokens=40, jump_forward=False)
    assert asked == gen("One", Point, max_tokens=40)


def test_beams_and_other_loops(gen):
    assert isinstance(gen("One", User, max_tokens=90, num_beams=2), User)
    assert isinstance(gen("One", User, max_tokens=90, use_cache=False), User)


def test_encoder_decoder_models(tokenizer):
    """Bart's decoder begins with the stop token."""
    torch.manual_seed(0)
    sizes = {f"{side}_{name}": 2 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    config = transformers.BartConfig(
        vocab_size=320,
        d_model=32,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=256,
        bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=None,
        **sizes,
    )
    gen = interlock.from_transformers(transformers.BartForConditionalGeneration(config).eval(), tokenizer)
    assert isinstance(gen("One", User, max_tokens=90), User)
    with pytest.raises(interlock.ArgumentError, match="continues text"):
        gen.program("One")


def test_the_seed_decides_and_nothing_else_changes(gen):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    drawn = [gen("One", str, max_tokens=8, temperature=1.0, seed=5) for _ in range(3)]
    assert len(set(drawn)) == 1 and torch.equal(before, torch.random.get_rng_state())
    assert len({gen("One", str, max_tokens=8, temperature=1.0, seed=seed) for seed in range(4)}) > 1
    assert gen("One", int, temperature=0) == gen("One", int)


def test_budgets(gen):
    for budget in (22, 26, 40):
        value = gen("One", Book, max_tokens=budget)
        assert set(value) == {"title", "year"}
    with pytest.raises(interlock.BudgetError, match=r"one of \d+ exists|needs \d+"):
        gen("One", Book, max_tokens=5)
    with pytest.raises(interlock.BudgetError, match="no room behind it"):
        gen("x" * 5000, Book)


def test_indexes_and_types_are_compiled_once(gen):
    assert gen.index(User) is gen.index(User)
    assert gen.index(list[int]) is gen.index(list[int])
    assert gen.output_type(User) is gen.output_type(User)
    assert gen.index({"type": "integer"}) is gen.index({"type": "integer"})


def test_whitespace(model, tokenizer):
    compact = interlock.from_transformers(model, tokenizer, whitespace="compact")
    stream = compact.stream("One", Book, max_tokens=60)
    assert isinstance(stream.value, dict) and '":' in stream.text and '": ' not in stream.text


def test_whitespace_of_a_call(gen):
    """The index of each kind of blanks is compiled once."""
    for whitespace, colon in (("compact", '":'), ("spaced", '": ')):
        stream = gen.stream("One", Book, max_tokens=60, whitespace=whitespace)
        assert isinstance(stream.value, dict) and colon in stream.text
        assert ('": ' in stream.text) is (whitespace == "spaced")
    assert gen("One", ["a", "b"], whitespace="compact") in ("a", "b")
    with pytest.raises(interlock.ArgumentError, match="whitespace must be"):
        gen("One", Book, whitespace="pretty")


def test_text_or_chat(model, tokenizer, gen):
    template = gen.encode("Hi")
    assert template == gen.encode([{"role": "user", "content": "Hi"}]) != gen.encode("Hi", chat=False)
    plain = interlock.from_transformers(model, tokenizer, chat=False)
    assert plain.encode("Hi") == gen.encode("Hi", chat=False)
    bare = tiny_tokenizer()
    bare.chat_template = None
    without = interlock.from_transformers(model, bare)
    assert without.encode("Hi") == plain.encode("Hi")
    with pytest.raises(interlock.ArgumentError, match="no chat template"):
        without([{"role": "user", "content": "Hi"}])


def test_parts_of_a_message_are_its_text(model, gen):
    parts = [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]
    assert gen.encode([{"role": "user", "content": parts}]) == gen.encode("Hi\nyou")
    assert isinstance(gen([{"role": "user", "content": parts}], int, max_tokens=4), int)
    reading = tiny_tokenizer()
    reading.chat_template = TEMPLATE.replace("{{ m['content'] }}", "{% for p in m.content %}{{ p.text }}{% endfor %}")
    of_parts = interlock.from_transformers(model, reading)
    assert of_parts.encode([{"role": "user", "content": parts}]) == gen.encode("Hiyou")
    assert of_parts.encode("Hi") == gen.encode("Hi")
    image = [{"role": "user", "content": [{"type": "image", "url": "x"}]}]
    with pytest.raises(interlock.ArgumentError, match="part 0 of message 0 is of the type 'image'"):
        gen(image, int)


def test_free_text_has_no_special_tokens(gen):
    text = gen("One", max_tokens=30)
    assert isinstance(text, str) and "<|" not in text


def test_a_program_is_the_models_own_text(model, tokenizer, gen):
    program = gen.program("The year is ")
    assert isinstance(program.gen("year", int, max_tokens=4), int)
    program += " and yes is "
    assert program.select("s", ["yes", "no"]) in ("yes", "no")
    ids = program._transcript.ids
    fresh = model(torch.tensor([ids])).logits[0, -1, : gen.vocabulary.size]
    assert torch.allclose(fresh, torch.from_numpy(program.model.logits(ids)), atol=1e-5)
    read = program.model.tokens_read
    assert read <= len(ids) + 8
    assert tokenizer.decode(ids) == str(program)
    chat = gen.program([{"role": "user", "content": "Hi"}])
    assert chat._transcript.ids == gen.encode("Hi") and str(chat) == ""


MISTAKES = [
    (lambda g: g("x", int, temprature=0.1), "did you mean 'temperature'"),
    (lambda g: g("x", int, max_new_tokens=5), "pass max_tokens"),
    (lambda g: g("x", response_model=User), "pass output_type"),
    (lambda g: g("x", int, num_return_sequences=2), "pass it several times, gen([prompt] * 4"),
    (lambda g: g("x", int, streamer=1), "pass stream=True"),
    (
        lambda g: g("x", int, return_dict_in_generate=True),
        "details=True returns tokens and counts; call model.generate",
    ),
    (lambda g: g("x", int, temperature=0, do_sample=True), "greedy search"),
    (lambda g: g("x", int, temperature=-1), "temperature is 0 for greedy search, or a number up to 10, not -1"),
    (lambda g: g("x", int, top_p=2.0), "top_p is a number above 0 and at most 1, not 2.0"),
    (lambda g: g("x", int, top_p=0), "top_p is a number above 0"),
    (lambda g: g("x", int, top_k=-1), "top_k is a number of tokens, or 0 for all, not -1"),
    (lambda g: g("x", int, temperature=9999), "temperature is 0 for greedy search, or a number up to 10, not 9999"),
    (
        lambda g: g("x", int, logits_processor=print),
        "logits_processor is a list, not builtin_function",
    ),
    (lambda g: g("x", int, stopping_criteria=print, num_beams=2), "stopping_criteria=[...]"),
    (lambda g: g("x", int, top_k=-5), "top_k is a number of tokens, or 0 for all, not -5"),
    (lambda g: g("x", int, min_p=1.5), "min_p is a number from 0 to 1"),
    (lambda g: g("x", int, seed=2**70), "seed is a whole number of 64 bits"),
    (lambda g: g("x", int, num_beams=0), "num_beams is a number of beams, at least 1, not 0"),
    (lambda g: g("x", int, repetition_penalty=0), "repetition_penalty is a number above 0"),
    (lambda g: g("x", int, penalty_alpha="x"), "transformers refuses the options (penalty_alpha)"),
    (lambda g: g("x", int, cache_implementation="none"), "transformers refuses the options (cache_implementation)"),
    (lambda g: g("x", int, generation_config={}, num_beams=2), "transformers refuses the options (generation_config"),
    (lambda g: g("x", int, bad_words_ids="a", num_beams=2), "transformers refuses the options (bad_words_ids, num_b"),
    (lambda g: g("x", int, stop_strings=["a"]), "'stop_strings' cannot be passed with int"),
    (lambda g: g("x", int, stream=True, max_time=1.0), "'max_time' cannot be passed with int"),
    (lambda g: g("x", int, min_new_tokens=3), "which ends where it is complete"),
    (lambda g: g("x", int, stop="a"), "stop belongs to free text"),
    (lambda g: g("x", int, tools=[print]), "gen.tool_loop(prompt, tools)"),
    (lambda g: g({"role": "user", "content": "x"}, int), "in brackets"),
    (lambda g: interlock.from_transformers(g.model, g.tokenizer, whitespace="pretty"), "whitespace must be"),
    (lambda g: g(User, "x"), "the prompt comes first"),
    (lambda g: g(b"x"), "not bytes"),
    (lambda g: g([{"rol": "user", "content": "x"}]), "message 0"),
    (lambda g: g([[["x"]]]), "no further lists"),
    (lambda g: g.batch("x"), "takes a list"),
    (lambda g: g("x", "int"), "without quotes"),
    (lambda g: interlock.from_transformers("gpt2", None), "AutoModelForCausalLM"),
    (lambda g: interlock.from_transformers(g.model, "gpt2"), "AutoTokenizer"),
    (lambda g: interlock.from_transformers(g.tokenizer, g.model), "the arguments are in the other order"),
    (lambda g: interlock.generate("gpt2", None, "x"), "load the model"),
    (lambda g: interlock.generate(object(), None, "x"), "in this order"),
]


@pytest.mark.parametrize(("call", "said"), MISTAKES, ids=[str(i) for i in range(len(MISTAKES))])
def test_mistakes(gen, call, said):
    with pytest.raises(interlock.ArgumentError, match=re.escape(said)):
        call(gen)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"max_tokens": "5"}, "max_tokens must be an int, a number of tokens, not str"),
        ({"max_tokens": True}, "max_tokens must be an int, a number of tokens, not bool"),
        ({"temperature": "a"}, "temperature must be a number, not str"),
        ({"top_k": 2.5}, "top_k must be an int, not float"),
        ({"seed": "a"}, "seed must be an int, not str"),
        ({"do_sample": "yes"}, "do_sample must be True or False, not str"),
        ({"jump_forward": 1}, "jump_forward must be True or False, not int"),
        ({"stats": 5}, "stats must be a JumpForwardStats or None, not int"),
    ],
)
def test_options_of_another_python_type(gen, monkeypatch, option, said):
    monkeypatch.setattr(gen.model, "generate", lambda **options: pytest.fail("the model is asked"))
    with pytest.raises(TypeError, match=re.escape(said)):
        gen("x", int, **option)


def test_options_that_say_nothing(gen):
    same = gen("x", Literal["yes", "no"])
    assert gen("x", Literal["yes", "no"], temperature=None, top_p=None, seed=None) == same
    assert gen("x", Literal["yes", "no"], top_k=0, temperature=1.0, seed=3) in ("yes", "no")


def test_an_error_of_the_model_itself_is_not_an_options(gen, monkeypatch):
    def fail(*args, **kwargs):
        raise ValueError("a bug in the model")

    monkeypatch.setattr(type(gen.model), "__call__", fail)
    with pytest.raises(ValueError, match="a bug in the model") as caught:
        gen("x", int)
    assert not isinstance(caught.value, interlock.ArgumentError)


def test_streams_of_local_models_work_with_async_for(gen):
    async def read():
        stream = gen.stream("One", Book, max_tokens=60)
        pieces = [piece async for piece in stream]
        return "".join(pieces), stream.value

    text, value = asyncio.run(read())
    assert json.loads(text) == value == gen("One", Book, max_tokens=60)


def test_a_trace_is_that_of_the_call(gen):
    for options in ({}, {"temperature": 1.2, "seed": 3}, {"num_beams": 2}):
        found = gen.trace("One", Book, max_tokens=60, **options)
        assert found.value == gen("One", Book, max_tokens=60, **options)
        assert len(found.steps) == len(found.token_ids) and found.walk.complete
        assert all(step.probability is not None for step in found.steps)
    with pytest.raises(interlock.ArgumentError, match="cannot be passed with"):
        gen.trace("One", Book, max_time=1.0)


def test_repr(gen):
    assert repr(gen) == f"<interlock generator of transformers: LlamaForCausalLM, {gen.vocabulary.size} tokens>"


def test_schemas_in_envelopes(gen):
    envelope = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "boolean"}}}
    assert gen("One", envelope) in (True, False)
    assert gen("One", json.dumps(envelope["json_schema"])) in (True, False)


@pytest.fixture(scope="module")
def narrow(tokenizer):
    """A generator whose model's context is short."""
    model = tiny_model(tokenizer)
    model.config.max_position_embeddings = 200
    return interlock.from_transformers(model, tokenizer)


def test_a_context_that_ends_values_is_judged_as_a_budget_is(narrow):
    prompt = "b " * 60
    length = len(narrow.encode(prompt))
    assert 60 < length < 170
    room = f"the room of {199 - length} tokens behind the prompt \\({length} of the context's 200\\)"
    for call in (
        narrow,
        narrow.stream,
        narrow.trace,
        lambda *args, **options: narrow.batch([args[0]], args[1], **options),
    ):
        with pytest.raises(interlock.TightBudgetError, match=f"{room}.*shorten the prompt") as caught:
            call(prompt, Book, max_tokens=400, on_tight="error").value  # noqa: B018
        assert caught.value.pointer == "/title" and "max_tokens" not in str(caught.value)
    with pytest.warns(interlock.TightBudgetWarning, match=room):
        assert set(narrow(prompt, Book, max_tokens=400)) == {"title", "year"}


def test_a_context_without_room_is_named(narrow):
    prompt = "b " * 60
    while len(narrow.encode(prompt)) < 190:
        prompt += "b "
    length = len(narrow.encode(prompt))
    said = f"the prompt has {length} tokens, and the model's context of 200 has room for {199 - length} tokens? behind"
    for call in (narrow, narrow.stream):
        with pytest.raises(interlock.BudgetError, match=f"{said} it, but the shortest .* needs") as caught:
            call(prompt, Book, max_tokens=400).value  # noqa: B018
        assert "pass max_tokens" not in str(caught.value) and caught.value.limit == 199 - length < caught.value.value
    with pytest.raises(interlock.BudgetError, match="the model's context of 200 has no room behind it: shorten"):
        narrow("b " * 300, Book)
    # In a batch it is that prompt's alone, and takes no room from the others.
    with pytest.raises(interlock.PromptTooLongError, match="^prompt 1 of the batch: the prompt has") as caught:
        narrow(["One", "b " * 300, "Two"], User, max_tokens=90)
    found = narrow(["One", "b " * 300, "Two", prompt], User, max_tokens=90, errors="return")
    assert [type(one) for one in found] == [User, interlock.PromptTooLongError, User, interlock.PromptTooLongError]
    assert found[::2] == narrow(["One", "Two"], User, max_tokens=90) and [one.row for one in found[1::2]] == [1, 3]
    assert caught.value.results[::2] == found[::2]
    assert isinstance(narrow(["b " * 300], User, errors="return")[0], interlock.PromptTooLongError)
    with pytest.raises(interlock.ArgumentError, match="^prompt 1 of the batch: the prompt is empty"):
        narrow(["a", ""], User, chat=False)


def test_a_model_and_a_tokenizer_in_each_others_place(gen):
    for make in (interlock.from_transformers, lambda *both: interlock.generate(*both, "x")):
        with pytest.raises(interlock.ArgumentError, match="other order, .* is a tokenizer: from_transformers"):
            make(gen.tokenizer, gen.model)
    with pytest.raises(
        interlock.ArgumentError, match="a model of transformers is needed, not .*, which is a tokenizer"
    ):
        interlock.from_transformers(gen.tokenizer, gen.tokenizer)
