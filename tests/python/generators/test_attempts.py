"""Calls that ask again, calls that are awaited, batches of several types, and contexts of validators."""

from __future__ import annotations

import asyncio
import types
from typing import Annotated

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock.generators.replies.values import about_row


class Digit(pydantic.BaseModel):
    digit: Annotated[int, pydantic.Field(ge=0, le=9)]

    @pydantic.field_validator("digit")
    @classmethod
    def is_even(cls, digit):
        if digit % 2:
            raise ValueError("odd")
        return digit


def test_a_value_that_is_refused_is_asked_for_again():
    gen = ScriptedGenerator({"One": '{"digit": 1}', "odd. Try again.": '{"digit": 2}', "Two": '{"digit": 4}'})
    seen = []
    texts = gen._texts
    gen._texts = lambda prompts, *rest: seen.append(len(prompts)) or texts(prompts, *rest)
    chat = [{"role": "user", "content": "One"}]
    with pytest.raises(interlock.InvalidOutputError):
        gen(chat, Digit, max_tokens=20)
    assert gen(chat, Digit, max_tokens=20, attempts=2).digit == 2 and chat == [{"role": "user", "content": "One"}]
    del seen[:]
    found = gen([chat, [{"role": "user", "content": "Two"}], "One"], Digit, max_tokens=20, attempts=3, errors="return")
    assert [one.digit for one in found] == [2, 4, 2] and seen == [3, 2]
    # A text is what the user says, so the model reads the answer and the reason behind it too.
    assert gen("One", Digit, max_tokens=20, attempts=2).digit == 2
    gen.script["odd. Try again."] = '{"digit": 3}'
    with pytest.raises(interlock.InvalidOutputError, match="^prompt 1 of the batch.*was asked 2 times"):
        gen.batch([[{"role": "user", "content": "Two"}], "One"], Digit, max_tokens=20, attempts=2)
    with pytest.raises(interlock.InvalidOutputError) as caught:
        gen("One", Digit, max_tokens=20)
    assert "was asked" not in str(caught.value)
    # Where a text is no turn of a chat, it goes on with the answer and the reason, and is said once more.
    told = []
    gen._reads_as_chat = lambda options: False
    gen._texts = lambda prompts, *rest: told.append(prompts) or ['{"digit": 1}'] * len(prompts)
    gen("One: ", Digit, max_tokens=20, attempts=2, errors="return")
    assert told[1][0].startswith('One: {"digit": 1}\n\n') and told[1][0].endswith("odd. Try again.\n\nOne: ")
    with pytest.raises(interlock.ArgumentError, match="at least 1, not 0"):
        gen(chat, Digit, attempts=0)
    with pytest.raises(TypeError, match="attempts must be an int"):
        gen(chat, Digit, attempts="2")
    # The message is about the stream, whatever the backend.
    for call, what in ((gen.stream, "a stream"), (gen.trace, "a trace")):
        said = f"^{what} has no option 'attempts': it belongs to a call that returns a value"
        with pytest.raises(interlock.ArgumentError, match=said):
            call(chat, Digit, attempts=2)
        call("Two", Digit, attempts=None, max_tokens=20)
    with pytest.raises(interlock.ArgumentError, match="^a stream has no option 'attempts'"):
        gen(chat, Digit, attempts=2, stream=True)


def test_every_generator_can_be_awaited():
    gen = ScriptedGenerator({"Two": '{"digit": 4}'})

    async def ask():
        return await asyncio.gather(
            gen.agenerate("Two", Digit, max_tokens=20), gen.agenerate(["Two"], Digit, max_tokens=20)
        )

    one, several = asyncio.run(ask())
    assert one.digit == 4 and [value.digit for value in several] == [4]
    with pytest.raises(interlock.ArgumentError, match="the prompt is missing"):
        asyncio.run(gen.agenerate())


def test_an_asynchronous_client_asks_again_for_the_rows_that_were_refused():
    asked = []

    async def create(*, model, messages, max_completion_tokens=None, response_format=None):
        asked.append(messages)
        digit = 2 if messages[-1]["content"].endswith("Try again.") or messages[0]["content"] == "Two" else 1
        message = types.SimpleNamespace(content=f'{{"digit": {digit}}}', refusal=None)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message, finish_reason="stop")])

    completions = types.SimpleNamespace(create=create)
    client = type("AsyncClient", (), {"chat": types.SimpleNamespace(completions=completions)})()
    gen = interlock.from_openai(client, "m")
    prompts = [[{"role": "user", "content": name}] for name in ("One", "Two")]
    found = asyncio.run(gen(prompts, Digit, attempts=2))
    assert [one.digit for one in found] == [2, 2] and len(asked) == 3
    assert asyncio.run(gen(prompts[0], Digit, attempts=2)).digit == 2
    assert asyncio.run(gen.agenerate(prompts[0], Digit, attempts=2)).digit == 2
    with pytest.raises(interlock.ArgumentError, match="^a stream has no option 'attempts'"):
        gen.stream(prompts[0], Digit, attempts=2)


def test_a_validator_is_called_once_for_an_answer_that_it_refuses():
    asked = []

    class Even(pydantic.BaseModel):
        digit: int

        @pydantic.field_validator("digit")
        @classmethod
        def is_even(cls, digit):
            asked.append(digit)
            raise ValueError("odd")

    with pytest.raises(interlock.InvalidOutputError, match="odd"):
        ScriptedGenerator({"One": '{"digit": 1}'})("One", Even, max_tokens=20)
    assert asked == [1]


def test_each_prompt_of_a_batch_may_have_a_type_of_its_own():
    gen = ScriptedGenerator({"One": '{"digit": 1}', "Try again.": '{"digit": 2}', "Two": "yes", "Three": "[3]"})
    prompts = ["Two", "One", "Three", "Two"]
    types = [["yes", "no"], Digit, list[Annotated[int, pydantic.Field(ge=0, le=9)]], str]
    found = gen.batch(prompts, types, max_tokens=30, attempts=2)
    assert found == ["yes", Digit(digit=2), [3], "yes"]
    assert gen(prompts, types, max_tokens=30, attempts=2) == found
    refused = gen.batch(prompts, types, max_tokens=30, errors="return")[1]
    assert isinstance(refused, interlock.InvalidOutputError) and refused.row == 1
    # A list of texts is one type for all prompts.
    assert gen.batch(["Two", "Two"], ["yes", "no"]) == ["yes", "yes"]


def test_a_list_of_types_that_does_not_fit_is_refused_before_the_model_is_asked():
    gen = ScriptedGenerator({})
    gen._texts = lambda *given: pytest.fail("the model was asked")
    with pytest.raises(interlock.ArgumentError, match="2 output types for 3 prompts"):
        gen.batch(["a", "b", "c"], [int, str])
    with pytest.raises(interlock.ArgumentError, match=r"1 output type for 2 prompts: .* pass Digit itself"):
        gen.batch(["a", "b"], [Digit])
    with pytest.raises(interlock.ArgumentError, match="^prompt 1 of the batch: .*pass the type int without quotes"):
        gen.batch(["a", "b"], [Digit, "int"])
    with pytest.raises(interlock.BudgetError):
        gen.batch(["a", "b"], [int, Digit], max_tokens=2)


def test_a_prompt_that_is_none_has_its_number_in_the_whole_batch():
    class Refusing(ScriptedGenerator):
        def _texts(self, prompts, output, max_tokens, options):
            for i, prompt in enumerate(prompts):
                with about_row(i):
                    if prompt == "bad":
                        raise interlock.ArgumentError("no")
            return ["1"] * len(prompts)

    with pytest.raises(interlock.ArgumentError, match="^prompt 3 of the batch: no"):
        Refusing({}).batch(["a", "b", "c", "bad"], [int, float, int, float])


class Known(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def is_known(cls, name, info):
        if name not in info.context["names"]:
            raise ValueError("unknown")
        return name


def test_validators_find_the_context_of_the_call():
    gen = ScriptedGenerator({"N": '{"name": "Ada"}', "M": '[{"name": "Ada"}]', "T": "hello"})
    ada, alan = {"names": ["Ada"]}, {"names": ["Alan"]}
    for _ in range(2):
        assert gen("N", Known, context=ada, max_tokens=30).name == "Ada"
        with pytest.raises(interlock.InvalidOutputError, match="unknown"):
            gen("N", Known, context=alan, max_tokens=30)
    assert gen.batch(["N", "M"], [Known, list[Known]], context=ada, max_tokens=30)[1][0].name == "Ada"
    stream = gen.stream("M", list[Known], context=ada, max_tokens=30)
    assert [one.name for one in stream.items()] == ["Ada"] and stream.value[0].name == "Ada"
    with pytest.raises(
        interlock.ArgumentError, match="context is for validators of pydantic, which does not read text"
    ):
        gen("T", context=ada, max_tokens=5)


def test_a_repeated_answer_needs_a_temperature():
    gen = ScriptedGenerator({"One": '{"digit": 1}', "odd. Try again.": '{"digit": 3}'})
    with pytest.raises(interlock.InvalidOutputError, match=r"asked 2 times\)"):
        gen("One", Digit, max_tokens=20, attempts=2)
    with pytest.raises(interlock.InvalidOutputError, match=r"asked 3 times, and .* answer: pass .*temperature=0\.8"):
        gen("One", Digit, max_tokens=20, attempts=3)
    with pytest.raises(interlock.InvalidOutputError, match=r"asked 3 times\)"):
        gen("One", Digit, max_tokens=20, attempts=3, temperature=0.5)
    program = interlock.Program(gen, "One", chat=True)
    with pytest.raises(interlock.InvalidOutputError, match=r"asked 3 times, and .* answer: pass .*temperature=0\.8"):
        program.gen("d", Digit, max_tokens=20, attempts=3)
    with pytest.raises(interlock.InvalidOutputError, match=r"asked 3 times\)"):
        program.gen("d", Digit, max_tokens=20, attempts=3, temperature=0.5)


def test_a_part_of_a_program_is_asked_for_again_and_only_the_right_one_is_written():
    script = {"One: ": '{"digit": 1}', "Try again.\n\nOne: ": '{"digit": 2}', "so ": "yes"}
    gen = ScriptedGenerator(script)
    program = interlock.Program(gen, "One: ")
    refused = program.gen("d", Digit, max_tokens=20, errors="return")
    assert isinstance(refused, interlock.InvalidOutputError) and refused.text == '{"digit": 1}'
    assert str(program) == "One: " and "d" not in program
    assert program.gen("d", Digit, max_tokens=20, attempts=2).digit == 2
    program += ", so "
    assert program.select("s", ["yes", "no"]) == "yes"
    assert str(program) == 'One: {"digit": 2}, so yes' and program.captures == {"d": Digit(digit=2), "s": "yes"}
    assert [program._transcript.data[begun:end] for begun, end, _ in program._parts] == [b'{"digit": 2}', b"yes"]
    program = interlock.Program(gen, "One: ")
    gen.script["Try again.\n\nOne: "] = '{"digit": 3}'
    with pytest.raises(
        interlock.InvalidOutputError, match=r"odd.*\(the model was asked 3 times, and repeated"
    ) as caught:
        program.gen("d", Digit, max_tokens=20, attempts=3)
    assert isinstance(caught.value.__cause__, pydantic.ValidationError) and str(program) == "One: "
    with pytest.raises(interlock.ArgumentError, match="at least 1, not 0"):
        program.gen("d", Digit, attempts=0)
    with pytest.raises(interlock.ArgumentError, match="errors is 'raise' or 'return'"):
        program.gen("d", Digit, errors="ignore")


def test_in_the_chat_of_a_program_the_reason_is_a_turn():
    gen = ScriptedGenerator({"Make one.": 'Here: {"digit": 1}', "odd. Try again.": 'Here: {"digit": 2}'})
    told = []
    encode = gen.encode
    gen.encode = lambda prompt, chat=None: told.append(prompt) or encode(prompt, chat)
    for prompt, options in (("Make one.", {"chat": True}), ([{"role": "user", "content": "Make one."}], {})):
        program = gen.program(prompt, **options)
        program += "Here: "
        assert program.gen("d", Digit, max_tokens=20, attempts=2).digit == 2
        assert str(program) == 'Here: {"digit": 2}'
        assert [turn["role"] for turn in told[-1]] == ["user", "assistant", "user"]
        assert told[-1][1]["content"] == 'Here: {"digit": 1}'


def test_a_seed_of_a_part_grows_by_one_with_each_attempt(monkeypatch):
    seeds = []
    sampler = interlock.programs.program.Sampler
    monkeypatch.setattr(
        interlock.programs.program, "Sampler", lambda **given: seeds.append(given.get("seed")) or sampler(**given)
    )
    program = interlock.Program(ScriptedGenerator({"One: ": '{"digit": 1}'}), "One: ")
    program.gen("d", Digit, max_tokens=20, attempts=3, errors="return", temperature=0.01, seed=5)
    assert seeds == [None, 5, 6, 7]


def test_what_was_wrong_may_leave_the_next_answer_no_room():
    gen = ScriptedGenerator({"One: ": '{"digit": 1}'})
    program = interlock.Program(gen, "One: ")
    program.model.context = 40
    with pytest.raises(interlock.InvalidOutputError, match="odd") as caught:
        program.gen("d", Digit, max_tokens=20, attempts=3)
    assert not isinstance(caught.value, interlock.PromptTooLongError) and str(program) == "One: "
    program.model.context = 5
    refused = program.gen("d", Digit, max_tokens=20, attempts=3, errors="return")
    assert isinstance(refused, interlock.PromptTooLongError)


def test_functions_that_a_program_calls_are_asked_for_again():
    def half(digit: Annotated[int, pydantic.AfterValidator(lambda n: Digit(digit=n).digit)]) -> int:
        return digit // 2

    gen = ScriptedGenerator({"Half: ": '{"digit": 3}', "Try again.\n\nHalf: ": '{"digit": 8}'})
    program = interlock.Program(gen, "Half: ")
    assert isinstance(program.call("h", half, errors="return"), interlock.InvalidOutputError)
    assert str(program) == "Half: " and not program.captures
    assert program.call("h", half, attempts=2) == 4 and program["h"] == 4
    with pytest.raises(interlock.ArgumentError, match="a choice has no option 'attempts'"):
        program.select("s", ["yes", "no"], attempts=2)


def test_validators_find_the_context_of_a_part():
    gen = ScriptedGenerator({"N": '{"name": "Ada"}'})
    assert gen.program("N").gen("n", Known, context={"names": ["Ada"]}, max_tokens=30).name == "Ada"
    with pytest.raises(interlock.InvalidOutputError, match="unknown"):
        gen.program("N").gen("n", Known, context={"names": ["Alan"]}, max_tokens=30)
    with pytest.raises(interlock.ArgumentError, match="context is for validators of pydantic"):
        gen.program("N").gen("n", context={}, max_tokens=5)


def test_a_text_is_said_again_once_for_each_attempt():
    """Each attempt puts the prompt behind the answer, and not all that was said before."""
    told = []

    class Listening(ScriptedGenerator):
        def _texts(self, prompts, *arguments):
            told.extend(prompts)
            return super()._texts(prompts, *arguments)

    gen = Listening({"One: ": '{"digit": 1}', "Try again.\n\nOne: ": '{"digit": 3}'})
    gen._reads_as_chat = lambda options: False
    refused = gen("One: ", Digit, max_tokens=20, attempts=5, errors="return")
    assert isinstance(refused, interlock.InvalidOutputError)
    assert [text.count("One: ") for text in told] == [1, 2, 3, 4, 5]
    assert [text.count("Try again.") for text in told] == [0, 1, 2, 3, 4]
