"""``details=True``: a value with its text, its tokens, how many there are, and why it ended, of every backend."""

from __future__ import annotations

import asyncio
import re
import types
from typing import Literal

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from generator_stand_ins import NO_WARNINGS_OF_ENDS, User  # noqa: E402
from scripted_generator import ScriptedGenerator  # noqa: E402
from test_attempts import Digit  # noqa: E402
from test_generator_backends import LLM, END, MlxTokenizer, llama, mlx, vllm, vocabulary  # noqa: E402, F401
from test_generator_servers import AsyncClient, Client  # noqa: E402

import interlock  # noqa: E402
from interlock.generators import Completion  # noqa: E402

pytestmark = NO_WARNINGS_OF_ENDS
ADA = '{"name": "Ada", "age": 36}'


@pytest.fixture
def gen():
    return ScriptedGenerator({"Make up a user.": ADA, "Say it.": "Hello, you.", "Is it?": "yes"})


def test_a_value_with_what_is_known_of_it(gen):
    found = gen("Make up a user.", User, max_tokens=60, details=True)
    assert isinstance(found, Completion) and found.value == gen("Make up a user.", User, max_tokens=60)
    assert found.text == ADA == gen.vocabulary.decode(found.token_ids).decode()
    assert found.completion_tokens == len(found.token_ids) and found.finish_reason == "stop"
    assert found.prompt_tokens == len(gen.encode("Make up a user.")) and found.logprobs is None
    # Without details, and with False, a call returns the value, and a text of it is a str alone.
    assert gen("Make up a user.", User, max_tokens=60, details=False) == User("Ada", 36)
    assert type(gen("Say it.")) is str and type(gen("Say it.", details=True).value) is str


def test_budgets_stop_texts_and_prefills(gen):
    cut = gen("Say it.", max_tokens=3, details=True)
    assert (
        cut.finish_reason == "length"
        and cut.completion_tokens == 3
        and cut.value == cut.text == "Hello"[: len(cut.text)]
    )
    stopped = gen("Say it.", stop=",", max_tokens=40, details=True)
    assert stopped.value == stopped.text == "Hello" and stopped.finish_reason == "stop"
    chat = [{"role": "user", "content": "Make up a user."}, {"role": "assistant", "content": ADA[:12]}]
    begun = gen(chat, User, max_tokens=60, details=True)
    assert begun.text == ADA and gen.vocabulary.decode(begun.token_ids).decode() == ADA[12:]


def test_batches_and_awaited_calls(gen):
    both = gen.batch(["Make up a user.", "Is it?"], [User, Literal["yes", "no"]], max_tokens=60, details=True)
    assert [one.value for one in both] == [User("Ada", 36), "yes"] and both[0].text == ADA
    assert asyncio.run(gen.agenerate("Is it?", ["yes", "no"], details=True)).text == "yes"


def test_a_refused_value_stays_an_error():
    gen = ScriptedGenerator({"A digit.": '{"digit": 3}', "Try again.": '{"digit": 4}'})
    found = gen(["A digit."], Digit, max_tokens=20, errors="return", details=True)
    assert isinstance(found[0], interlock.InvalidOutputError) and type(found[0].text) is str
    again = gen("A digit.", Digit, max_tokens=20, attempts=2, details=True)
    assert again.value == Digit(digit=4) and again.text == '{"digit": 4}'


def test_mistakes(gen):
    with pytest.raises(TypeError, match="details must be True, False or None"):
        gen("x", details="all")
    for call, way in ((gen.stream, "; stream.details is the same at the end"), (gen.trace, "$")):
        said = f"has no option 'details': it belongs to a call that returns a value{way}"
        with pytest.raises(interlock.ArgumentError, match=said):
            call("x", details=True)
    with pytest.raises(interlock.ArgumentError, match="did you mean 'details'"):
        gen("x", detail=True)
    with pytest.raises(interlock.ArgumentError, match="details=True of a call its tokens and their number"):
        gen("x", logprobs=1)


def test_mlx_lm(mlx):  # noqa: F811
    gen = interlock.from_mlx_lm(types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1)), MlxTokenizer())
    found = gen(["ab", "abc"], User, max_tokens=80, details=True)
    assert [one.prompt_tokens for one in found] == [2, 3]
    for one in found:
        assert gen.vocabulary.decode(one.token_ids).decode() == one.text and len(one.token_ids) == one.completion_tokens
    whole = gen("ab", max_tokens=20, details=True)
    assert whole.finish_reason == "length" and whole.completion_tokens == 20
    stopped = gen("ab", max_tokens=20, stop=whole.text[3], details=True)
    assert stopped.finish_reason == "stop" and stopped.text == whole.text[: whole.text.index(whole.text[3])]
    assert 0 < stopped.completion_tokens <= 4


def test_llama_cpp(llama):  # noqa: F811
    gen = interlock.from_llama_cpp(llama)
    found = gen("x", User, max_tokens=80, details=True)
    assert isinstance(found.value, User) and found.finish_reason in ("stop", "length")
    assert gen.vocabulary.decode(found.token_ids).decode() == found.text and found.prompt_tokens == 1
    stopped = gen("x", max_tokens=20, stop=gen("x", max_tokens=20)[3], details=True)
    assert stopped.finish_reason == "stop" and stopped.token_ids is None


def test_vllm(vllm):  # noqa: F811
    class Logprobs(LLM):
        def _outputs(self, *given):
            answers = super()._outputs(*given)
            for answer in answers:
                answer.prompt_token_ids = [1, 2, 3]
                answer.outputs[0].token_ids = (7, 8)
                answer.outputs[0].logprobs = [
                    {7: types.SimpleNamespace(logprob=-0.5)},
                    {8: types.SimpleNamespace(logprob=0)},
                ]
            return answers

    found = interlock.from_vllm(Logprobs(["yes"]))("x", ["yes", "no"], details=True)
    assert found == Completion("yes", "yes", [7, 8], 3, 2, [-0.5, 0.0], "stop")
    bare = interlock.from_vllm(LLM(["yes"]))("x", ["yes", "no"], details=True)
    assert bare == Completion("yes", "yes", None, None, None, None, "stop")


def test_servers():
    class Usage(Client):
        def create(self, **fields):
            made = super().create(**fields)
            made.usage = types.SimpleNamespace(prompt_tokens=5, completion_tokens=2)
            made.choices[0].logprobs = types.SimpleNamespace(content=[types.SimpleNamespace(logprob=-1.0)])
            return made

    gen = interlock.from_openai(Usage('{"value": "yes"}'), "m")
    found = gen(["x", "y"], ["yes", "no"], details=True)
    assert found == [Completion("yes", "yes", None, 5, 2, [-1.0], "stop")] * 2
    awaited = interlock.from_openai(AsyncClient("yes"), "m", server="vllm")
    one = asyncio.run(awaited("x", re.compile("yes|no"), details=True))
    assert one == Completion("yes", "yes", None, None, None, None, "stop")
    assert asyncio.run(awaited(["x"], ["yes", "no"], details=True)) == [one]


@pytest.mark.parametrize("options", [{}, {"jump_forward": False}])
def test_transformers(options):
    pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    gen = interlock.from_transformers(tiny_model(tokenizer), tokenizer)
    found = gen(["One", "Twenty two"], User, max_tokens=90, details=True, **options)
    for prompt, one in zip(["One", "Twenty two"], found):
        assert isinstance(one.value, User) and one.text == gen.vocabulary.decode(one.token_ids).decode()
        assert one.prompt_tokens == len(gen.encode(prompt)) and one.completion_tokens == len(one.token_ids)
    cut = gen("One", max_tokens=4, details=True, **options)
    assert cut.finish_reason == "length" and cut.completion_tokens == 4


def test_a_stream_has_the_details_of_a_call_at_its_end(gen):
    chat = [{"role": "user", "content": "Make up a user."}, {"role": "assistant", "content": ADA[:12]}]
    for prompt, kind, options in (
        ("Make up a user.", User, {"max_tokens": 60}),
        ("Say it.", str, {"max_tokens": 3}),
        ("Is it?", ["yes", "no"], {}),
        (chat, User, {"max_tokens": 60}),
    ):
        stream = gen(prompt, kind, stream=True, **options)
        next(stream)  # What is left is read.
        assert stream.details == gen(prompt, kind, details=True, **options) == stream.details
    stream = gen.stream("Say it.", stop=",", max_tokens=40)
    assert (stream.details.text, stream.details.finish_reason) == ("Hello", "stop")
    stream = gen.stream("Make up a user.", User, max_tokens=60)
    next(stream)
    stream.close()
    with pytest.raises(interlock.InvalidOutputError, match="closed before its end"):
        stream.details  # noqa: B018
    refused = ScriptedGenerator({"A digit.": '{"digit": 3}'}).stream("A digit.", Digit, max_tokens=20)
    with pytest.raises(interlock.InvalidOutputError):
        refused.details  # noqa: B018


def test_details_of_streams_of_mlx_lm_and_llama_cpp(mlx, llama):  # noqa: F811
    model = types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1))
    for made in (interlock.from_mlx_lm(model, MlxTokenizer()), interlock.from_llama_cpp(llama)):
        for kind, options in (
            (User, {"max_tokens": 80, "temperature": 0}),
            (str, {"max_tokens": 20, "temperature": 0}),
        ):
            assert made.stream("x", kind, **options).details == made("x", kind, details=True, **options)


class Streamed(Client):
    """A server that sends the numbers of tokens in a chunk of their own, as with ``include_usage``."""

    def create(self, **fields):
        chunks = list(super().create(**fields))
        for number, chunk in enumerate(chunks):
            for choice in chunk.choices:
                choice.logprobs = types.SimpleNamespace(content=[types.SimpleNamespace(logprob=-number)])
                choice.token_ids = [number]
        usage = types.SimpleNamespace(prompt_tokens=5, completion_tokens=len(chunks))
        return iter([*chunks, types.SimpleNamespace(choices=[], usage=usage)])


def test_details_of_streams_of_servers():
    stream = interlock.from_openai(Streamed("Hi!"), "m").stream("x")
    found = stream.details
    assert (found.value, found.text, found.prompt_tokens, found.finish_reason) == ("Hi!", "Hi!", 5, "stop")
    # The last chunk with a choice says why the text ended, and the one behind it has no choice.
    assert len(found.token_ids) > 1 and found.token_ids == [-n for n in found.logprobs] and found.completion_tokens
    plain = interlock.from_openai(Client("Hi!"), "m").stream("x")
    assert plain.details == Completion("Hi!", "Hi!", None, None, None, None, "stop")

    async def awaited():
        stream = interlock.from_openai(AsyncClient("Hi!"), "m").stream("x")
        return await stream.details(), await stream.details()

    assert asyncio.run(awaited()) == (plain.details, plain.details)


def test_a_budget_in_which_nothing_fits_is_said_at_the_call_of_a_stream(gen, mlx, llama):  # noqa: F811
    model = types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1))
    for made in (gen, interlock.from_mlx_lm(model, MlxTokenizer()), interlock.from_llama_cpp(llama)):
        for call in (made.stream, lambda *given, made=made, **more: made(*given, stream=True, **more)):
            with pytest.raises(interlock.BudgetError):
                call("Make up a user.", User, max_tokens=3)
    model.args.max_position_embeddings = 20
    with pytest.raises(interlock.output_types.context_room.PromptTooLongError):
        interlock.from_mlx_lm(model, MlxTokenizer()).stream("x" * 15, User, max_tokens=80)


def test_streams_of_transformers():
    pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    gen = interlock.from_transformers(tiny_model(tokenizer), tokenizer)
    for kind, options in ((User, {"max_tokens": 90}), (str, {"max_tokens": 4})):
        assert gen.stream("One", kind, **options).details == gen("One", kind, details=True, **options)
    whole = gen("One", max_tokens=20)
    stopped = gen.stream("One", max_tokens=20, stop=whole[3])
    assert stopped.details.finish_reason == "stop" and 0 < stopped.details.completion_tokens <= 20
    with pytest.raises(interlock.BudgetError):
        gen.stream("One", User, max_tokens=3)
    with pytest.raises(interlock.output_types.context_room.PromptTooLongError):
        gen.stream("One " * 4000, User, max_tokens=90)
