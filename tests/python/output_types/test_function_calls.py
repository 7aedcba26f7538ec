"""Functions as output types, and what errors of a call say to do."""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock.output_types import FunctionCall, output_type_of

pytestmark = pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning")


class Point:
    pass


def add(a: int, b: int = 1) -> int:
    return a + b


def greet(name: str) -> str:
    return f"Hello {name}"


def now() -> str:
    return "noon"


def test_the_model_chooses_one_of_several_functions():
    gen = ScriptedGenerator(
        {
            "sum": '{"name": "add", "arguments": {"a": 2, "b": 3}}',
            "time": '{"name": "now", "arguments": {}}',
            "hi": '{"name": "greet", "arguments": {"name": "Ada"}}',
        }
    )
    call = gen("sum", [add, greet, now], max_tokens=100)
    assert call == FunctionCall("add", {"a": 2, "b": 3}, add) and call() == 5
    assert gen("time", [add, greet, now], max_tokens=100)() == "noon"
    assert gen("hi", (add, greet), max_tokens=100)() == "Hello Ada"
    assert interlock.Program(gen, "sum").call("n", [add, greet], max_tokens=100) == 5


def test_arguments_belong_to_the_function_that_was_chosen():
    index = output_type_of([add, greet, now]).index(
        interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    )

    def accepts(text):
        guide = index.guide()
        return guide.advance_many(list(text.encode())) == len(text) and guide.is_accepting

    assert accepts('{"name": "add", "arguments": {"a": 2}}') and accepts('{"name": "now", "arguments": {}}')
    assert not accepts('{"name": "greet", "arguments": {"a": 2}}')
    assert not accepts('{"name": "now", "arguments": {"a": 2}}')
    with pytest.raises(interlock.InvalidOutputError):
        output_type_of([add, greet]).parse('{"name": "greet", "arguments": {"a": 2}}')


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([len, print], "len cannot be called by names alone: .* Wrap it in a function"),
        (print, "print cannot be called by names alone"),
        ([add, int], "a list of functions holds functions alone, and int is none"),
        ([add, add], "two functions have the name 'add'"),
        ([lambda x: x], "'x' of <lambda> has no annotation"),
        (now, "has no parameters"),
    ],
)
def test_what_is_no_list_of_functions(given, message):
    with pytest.raises(interlock.ArgumentError, match=message):
        output_type_of(given)


def test_more_arguments_than_prompt_and_type():
    gen = ScriptedGenerator({})
    with pytest.raises(interlock.ArgumentError, match=r"2 output types: write Point \| int, or tuple\[Point, int\]"):
        gen("x", Point, int)
    with pytest.raises(interlock.ArgumentError, match="write max_tokens=60"):
        gen("x", int, 60)
    with pytest.raises(interlock.ArgumentError, match="'yes' comes behind them"):
        gen("x", int, "yes")


def test_a_name_is_no_model():
    with pytest.raises(
        interlock.ArgumentError, match=r"load the model first,\n    model = .*\n    tokenizer = .*'gpt2'"
    ):
        interlock.from_transformers("gpt2")


def test_errors_of_a_call_say_what_to_do():
    gen = ScriptedGenerator({})
    long = re.compile("a{84}")
    message = r"max_tokens is 10, but a complete output needs 84 tokens; pass max_tokens=84 or more$"
    for call in (gen, gen.trace, lambda *a, **o: list(gen.stream(*a, **o)), lambda p, *a, **o: gen([p], *a, **o)):
        with pytest.raises(interlock.BudgetError, match=message) as caught:
            call("x", long, max_tokens=10)
        assert caught.value.value == 84
    with pytest.raises(interlock.BudgetError, match=message):
        interlock.Program(gen, "x").gen("n", long, max_tokens=10)
    with pytest.raises(
        interlock.UnsupportedError, match=r"(?s)backreference.*\nwrite the repeated texts out"
    ) as caught:
        gen("x", re.compile(r"(a|b)\1"))
    assert caught.value.offset == 5 and str(caught.value).count("write ") == 1


class Person(pydantic.BaseModel):
    title: str


def test_the_description_of_functions_says_what_they_do():
    def area(width: float, height: float) -> float:
        """The area of a field.

        In square metres.
        """
        return width * height

    assert (
        interlock.describe([area, greet, now])
        == """\
Answer with JSON that calls one of these functions: {"name": "FUNCTION", "arguments": {"PARAMETER": "VALUE"}}

area(width: float, height: float) -> float
    The area of a field.

    In square metres.

greet(name: str) -> str

now() -> str"""
    )
    assert '"description": "The area of a field.' in interlock.describe(area)
    assert '"description"' not in interlock.describe(greet)
    # Parameters of tools are the parameters alone: chat templates show the docstring beside them.
    (tool,) = interlock.tools.tools_of([area])
    assert "description" not in tool.parameters and set(tool.parameters["properties"]) == {"width", "height"}


def test_a_function_has_its_schema_where_a_signature_does_not_say_all():
    def move(
        way: Literal["up", "down"], who: Person, steps: Annotated[int, pydantic.Field(ge=1, le=9)], fast: bool = False
    ):
        """Move somebody."""

    def look(at: list[str] | None = None):
        """Look around."""

    text = interlock.describe([move, look])
    *_, first, second = text.split("\n\n")
    head, doc, schema = first.split("\n")
    assert head == "move(way: Literal['up', 'down'], who: Person, steps: int, fast: bool = False)"
    assert doc == "    Move somebody."
    found = json.loads(schema.removeprefix("    Its arguments follow this JSON Schema: "))
    assert found["properties"]["steps"]["maximum"] == 9 and "description" not in found
    assert second == "look(at: list[str] | None = None)\n    Look around."


def test_a_type_is_described_in_front_of_the_prompt():
    seen = []

    class Listening(ScriptedGenerator):
        def encode(self, prompt, chat=None):
            seen.append(prompt)
            return super().encode(prompt, chat)

    gen = Listening({"Who?": '{"title": "Dr"}'})
    text = interlock.describe(Person)
    assert (
        text.startswith("Answer with JSON that follows this JSON Schema: {") and '"title": {"type": "string"}' in text
    )
    assert gen("Who?", Person, describe=True, max_tokens=60) == Person(title="Dr")
    assert seen[-1] == f"{text}\n\nWho?" or seen[-1][-1]["content"] == f"{text}\n\nWho?"
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    for call in (gen, gen.trace):
        call(chat, Person, describe=True, max_tokens=60)
        assert seen[-1][1]["content"] == f"{text}\n\nWho?" and chat[1]["content"] == "Who?"
    gen("Who?", Person, max_tokens=60)
    assert text not in str(seen[-1])
    assert gen(["Who?", "Who?"], Person, describe=True, max_tokens=60) == [Person(title="Dr")] * 2
    assert interlock.describe(str) == ""
    with pytest.raises(TypeError, match="describe"):
        gen("Who?", Person, describe="yes")
    with pytest.raises(interlock.ArgumentError, match="an index is compiled"):
        interlock.describe(gen.index(Person))
