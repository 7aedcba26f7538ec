"""When a warning says that the budget decided how a value ended, and what it advises."""

from __future__ import annotations

import datetime
import pickle
import re
import uuid
import warnings
from decimal import Decimal
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
import pytest
from pydantic import Field
from scripted_generator import ScriptedGenerator

import interlock
from interlock.output_types.context_room import context_room
from interlock import grammars
from interlock.generators.replies.budget_warnings import is_cut_short, judge_budget
from interlock.generators.replies.partial_json import open_place
from interlock.integrations._number_end import first_bytes
from interlock.output_types import output_type_of
from interlock.output_types.unbounded_places import unbounded_place
from interlock.string_formats import FORMATS

PIECES = [b"{}", b'{"', b'": ', b'""}', b"12", b"[]", b"true"]


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + PIECES + [b""], eos_token_ids=[256 + len(PIECES)])


def ids_of(tokens):
    return [256 + PIECES.index(one) if one in PIECES else one[0] for one in tokens]


@pytest.mark.parametrize(
    ("hint", "tokens", "max_tokens", "is_cut"),
    [
        (dict[str, int], [b"{}"], 1, True),
        (dict[str, int], [b"{}"], 60, False),
        (list[str], [b"[]"], 1, True),
        (list[str], [b"[]"], 60, False),
        (int, [b"12"], 1, False),
        (list[bool], [b"[", b"true", b"]"], 60, False),
        (re.compile("12|1[a-z]{30}"), [b"12"], 60, False),
    ],
)
def test_a_budget_that_decided_inside_of_a_token(vocabulary, hint, tokens, max_tokens, is_cut):
    index = interlock.index_from_type(hint, vocabulary)
    assert is_cut_short(index, ids_of(tokens), max_tokens, lambda: first_bytes(vocabulary)) is is_cut


class Summary(pydantic.BaseModel):
    title: Annotated[str, Field(max_length=80)]
    tags: Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=5)]


class Tree(pydantic.BaseModel):
    label: Annotated[str, Field(max_length=8)]
    children: Annotated[list[Tree], Field(max_length=3)]


class Bounded(pydantic.BaseModel):
    note: Annotated[str, Field(max_length=8)] | None = None
    day: datetime.date
    at: datetime.datetime
    key: uuid.UUID
    kind: Literal["a", "b"]
    share: Annotated[float, Field(ge=0, lt=1)]
    is_new: bool
    code: Annotated[str, Field(pattern="^[*+]{1,8}$")]
    first: Summary
    more: Annotated[list[Summary], Field(max_length=3)]
    pair: tuple[bool, Annotated[int, Field(ge=0, le=9)]]
    counts: Annotated[dict[Annotated[str, Field(max_length=3)], bool], Field(max_length=3)]


@pytest.mark.parametrize(
    ("hint", "place"),
    [
        (Summary, None),
        (Bounded, None),
        (bool, None),
        (Tree, "/children/* (how deep it nests: make a class for each level)"),
        (str | None, "the value itself (maxLength, in Python max_length)"),
        (list[bool], "the value itself (maxItems, in Python max_length)"),
        (Annotated[list[str], Field(max_length=3)], "/* (maxLength, in Python max_length)"),
        (dict[str, bool], "the value itself (maxProperties, in Python max_length)"),
        (tuple[bool, int], "/1 (minimum and maximum, in Python ge and le)"),
        (Annotated[str, Field(pattern="^a+$")], "the value itself (maxLength, in Python max_length)"),
        (Any, "the value itself (a type with bounds)"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, None),
        ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "array"}]}, "the value itself (maxItems, in Python "
         "max_length)"),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}}, 'the value itself ("additionalProperties": '
         "false, or pass the class itself in the place of its schema)"),
    ],
)  # fmt: skip
def test_the_place_without_a_bound(hint, place):
    schema = True if hint is Any else output_type_of(hint).source
    assert unbounded_place(schema) == place


def test_formats_with_a_greatest_length_are_bounds():
    """A new format whose texts are short belongs into the list, or a message asks for a bound that it has."""

    def is_short(name):
        try:
            interlock.check_json_schema({"type": "string", "format": name, "minLength": 64})
        except interlock.UnsatisfiableError:
            return True
        return False

    short = {name for name in FORMATS if is_short(name)}
    said = {name for name in FORMATS if FORMATS[name].is_short}
    differ = sorted((short | {"time", "date-time"}) ^ said)
    assert not differ, f"is_short of rows in python/interlock/string_formats differs from the core's answer: {differ}"


def said(hint, answer, max_tokens):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ScriptedGenerator({"N": answer})("N", hint, max_tokens=max_tokens)
    assert [one.category for one in seen] == [interlock.TightBudgetWarning]
    return str(seen[0].message)


def test_where_everything_is_bounded_a_larger_budget_is_advised():
    lines = Annotated[list[Annotated[str, Field(max_length=80)]], Field(max_length=2)]
    message = said(lines, '["' + "a" * 80 + '"]', 60)
    assert "has bounds everywhere" in message and message.endswith("pass a larger max_tokens, such as 120")
    assert "max_length" not in message and "did not stop" not in message


def test_zeros_behind_a_point_are_no_reason_for_a_larger_budget():
    """No bound of a number forbids them; what is advised does."""
    price = Annotated[Decimal, Field(ge=0, le=100, decimal_places=2)]
    message = said(list[price], "[1.11" + "0" * 60, 60)
    assert "a number in it has 32 digits behind the point" in message and "take an int" in message
    assert "bounds everywhere" not in message and "such as 120" not in message
    names = {"Annotated": Annotated, "Decimal": Decimal, "WithJsonSchema": pydantic.WithJsonSchema}
    advised = eval(message[message.index("Annotated[") :], names)
    output = output_type_of(advised)
    index = output.index(interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256]))
    assert output.parse('"1.50"') == Decimal("1.50") and index.guide().advance_many(list(b'"1.500')) == 5


def test_a_schema_that_leaves_objects_open_is_named():
    """The properties that the class does not have took the room."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    message = said(schema, '{"a": "x", "b": "' + "b" * 100, 60)
    assert 'the value itself ("additionalProperties": false, or pass the class itself' in message


def test_a_missing_bound_is_named():
    message = said(Tree, '{"label": "a", "children": [' + '{"label": "a", "children": [' * 40, 200)
    assert (
        "beginning with /children/* (how deep it nests: make a class for each level)" in message
        and "larger" not in message
    )


@pytest.mark.parametrize("make", [lambda: interlock.Grammar('start: "<" /[a-z]*/ ">"'), lambda: re.compile("<[a-z]*>")])
def test_the_remedy_for_texts_is_not_about_schemas(make):
    message = said(make(), "<" + "a" * 400, 60)
    assert "Bound the repetitions of the" in message and not re.search("max_length|maxItems|maxLength|lists", message)


STUDENTS = {"student": ["name", "age"]}
NESTED = "SELECT " + "abs(" * 100
LISTED = "SELECT age" + ", age" * 100


@pytest.mark.parametrize(
    ("text", "answer", "named"),
    [
        (grammars.sql(STUDENTS), NESTED, ["max_depth=2", "functions=[...]"]),
        (grammars.sql(), NESTED.replace("abs", "f"), ["max_depth=2", "tables={...}"]),
        (grammars.sql(STUDENTS, functions=["abs"]), NESTED, ["max_depth=2"]),
        (grammars.sql(STUDENTS, max_depth=2), LISTED, ["functions=[...]"]),
        (grammars.sql(STUDENTS, functions=[], max_depth=2), LISTED, []),
        (grammars.load("csv"), "a," * 200, ["columns=[...]"]),
        (grammars.load("csv", columns=2), "a,b\n" * 100, []),
        (grammars.load("arithmetic"), "(" * 100, []),
    ],
)
def test_the_remedy_for_grammars_of_the_library_names_their_options(text, answer, named):
    message = said(text, answer, 60)
    assert re.findall(r"(?:max_depth|functions|tables|columns)=[^ ,]+", message) == named, message
    assert (
        "Bound the repetitions" not in message and "sk for less in the prompt, or pass a larger max_tokens" in message
    )
    assert ("grammars." in message) == bool(named)


def test_one_token_is_no_plural(vocabulary):
    with pytest.warns(interlock.TightBudgetWarning, match="alone needs 1 token: pass") as seen:
        judge_budget(
            interlock.index_from_type(dict[str, int], vocabulary), [ids_of([b"{}"])], 1, lambda: first_bytes(vocabulary)
        )
    assert len(seen) == 1


# What becomes of a value that was cut


class Report(pydantic.BaseModel):
    summary: str
    title: Annotated[str, Field(max_length=20)]
    tags: Annotated[list[Annotated[str, Field(max_length=10)]], Field(max_length=3)]


LONG = '{"summary": "' + "word " * 60 + '", "title": "A title", "tags": ["one", "two"]}'
SHORT = '{"summary": "s", "title": "t", "tags": []}'
PLACES = ("/summary", "/title", "/tags")


@pytest.fixture
def gen():
    return ScriptedGenerator({"L": LONG, "S": SHORT})


def test_the_message_names_the_places_that_were_cut(gen):
    with pytest.warns(interlock.TightBudgetWarning, match="cut short at /summary, /title, /tags, with empty texts"):
        assert gen("L", Report, max_tokens=60).title == ""


def test_an_error_has_the_text_and_the_places(gen):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(interlock.TightBudgetError, match="max_tokens=60 is tight.* such as 120") as caught:
            gen("L", Report, max_tokens=60, on_tight="error")
        assert gen("S", Report, max_tokens=60, on_tight="error").title == "t"
    error = caught.value
    assert isinstance(error, interlock.InvalidOutputError)
    assert Report.model_validate_json(error.text).title == "" and error.text.startswith('{"summary": "word ')
    assert error.pointer == "/summary" and error.places == PLACES
    again = pickle.loads(pickle.dumps(error))
    assert again.places == PLACES and again.text == error.text and str(again) == str(error)


def test_other_values_of_a_batch_are_not_lost(gen):
    found = gen(["S", "L", "S"], Report, max_tokens=60, on_tight="error", errors="return")
    assert [type(one) for one in found] == [Report, interlock.TightBudgetError, Report] and found[1].row == 1
    with pytest.raises(interlock.TightBudgetError, match="prompt 1 of the batch: max_tokens=60 is tight") as caught:
        gen(["S", "L", "S"], Report, max_tokens=60, on_tight="error")
    assert caught.value.results[0] == found[0] and caught.value.results[1] is caught.value


def test_streams_and_traces_raise_at_their_end(gen):
    stream = gen.stream("L", Report, max_tokens=60, on_tight="error")
    with pytest.raises(interlock.TightBudgetError):
        assert stream.value
    assert stream.text.startswith('{"summary": "word ')
    with pytest.raises(interlock.TightBudgetError):
        gen.trace("L", Report, max_tokens=60, on_tight="error")


def test_nothing_is_said_on_demand(gen):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gen("L", Report, max_tokens=60, on_tight="ignore").title == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"name": "Ada Lo', "/name"),
        ('{"name": "Ada"', ""),
        ('{"name": "Ada", "a', ""),
        ('{"name": "Ada", "ages": [36, 3', "/ages/1"),
        ('{"a": {"b": [{"c": tr', "/a/b/0/c"),
        ('{"a": {"b": [{"c": 1}, ', "/a/b"),
        ('{"a": [[1], [2, 3], [', "/a/2"),
        ('{"a": [{"b": "}"}], "c": {"d": "', "/c/d"),
        ('[{"a": 1}, {"a": "\\"y', "/1/a"),
        ('{"a/b~\\u0041": "', "/a~1b~0A"),
        *((one, "") for one in ("", "{", "[", '"abc', "12", "{}", '[1, "a"')),
    ],
)
def test_the_place_at_the_end_of_a_text(text, place):
    assert open_place(text) == place


def test_the_option_is_checked(gen):
    with pytest.raises(interlock.ArgumentError, match="on_tight is 'warn', 'ignore' or 'error', .* not 'erorr'"):
        gen("L", Report, on_tight="erorr")
    with pytest.raises(interlock.ArgumentError, match="did you mean 'on_tight'"):
        gen("L", Report, on_tigt="error")
    with pytest.raises(TypeError, match="on_tight must be a str or None, not bool"):
        gen("L", Report, on_tight=True)


def test_a_server_has_no_such_option():
    class Client:
        class chat:
            class completions:
                create = staticmethod(lambda *, model, messages, max_tokens=None: None)

    with pytest.raises(interlock.ArgumentError, match="'on_tight': a server does not end a value in time"):
        interlock.from_openai(Client(), "model")("L", Report, on_tight="error")


# What might have gone on where the budget ended it

STORY = "Once upon a time, there was a"
LETTERS = "[A-Za-z ,]+"


@pytest.mark.parametrize(
    "make",
    [
        lambda gen: re.compile(LETTERS),
        lambda gen: interlock.Grammar(f"start: /{LETTERS}/"),
        lambda gen: interlock.Index.from_regex(LETTERS, gen.vocabulary),
        lambda gen: ["Once", "Once upon a time"],
        lambda gen: str,
    ],
)
@pytest.mark.parametrize("way", ["call", "stream", "trace", "batch"])
def test_a_text_that_the_budget_ended(make, way):
    gen = ScriptedGenerator({"N": STORY})
    hint = make(gen)

    def ask(**options):
        if way == "batch":
            return gen.batch(["N"], hint, **options)
        found = getattr(gen, way.replace("call", "__call__"))("N", hint, **options)
        return found if way == "call" else found.value

    with pytest.raises(interlock.TightBudgetError, match="max_tokens=4 is tight") as caught:
        ask(max_tokens=4, on_tight="error")
    assert caught.value.pointer == "" and caught.value.places == ("",) and caught.value.text.startswith("Once")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ask(max_tokens=4)
    # Free text simply ends there.
    assert [one.category for one in seen] == [interlock.TightBudgetWarning] * (hint is not str)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(max_tokens=60, on_tight="error")


def test_a_number_that_the_budget_ended():
    gen = ScriptedGenerator({"N": "1234567", "F": "12"})
    with pytest.raises(interlock.TightBudgetError):
        gen("N", int, max_tokens=3, on_tight="error")
    assert gen("F", int, max_tokens=3, on_tight="error") == 12


@pytest.mark.parametrize("hint", [bool, Literal["a", "bc"], re.compile("[a-z]{2}"), int])
def test_what_cannot_go_on_is_not_cut(hint):
    gen = ScriptedGenerator({"N": "ab", "B": "true", "Z": "0"})
    answer, index = {bool: "B", int: "Z"}.get(hint, "N"), gen.index(hint)
    needed = index.guide().min_tokens_to_finish()
    found = gen(answer, hint, max_tokens=needed + 1, on_tight="error")
    assert found is not None


def test_the_remedy_for_free_text_is_not_about_patterns():
    gen = ScriptedGenerator({"N": STORY * 4})
    with pytest.raises(interlock.TightBudgetError, match="Ask for less in the prompt, or pass a larger max_tokens"):
        gen("N", str, max_tokens=20, on_tight="error")


class Page(pydantic.BaseModel):
    name: str
    notes: Annotated[list[str], Field(max_length=3)]
    body: str | None


def test_the_remedy_is_a_bound_for_what_took_the_room():
    long = "word " * 200
    message = said(Page, f'{{"name": "a", "notes": [], "body": "{long}', 200)
    assert "Bound the texts and lists of the type, beginning with /body (maxLength, in Python max_length)" in message
    message = said(Page, f'{{"name": "a", "notes": ["b", "{long}', 200)
    assert "beginning with /notes/1 (maxLength" in message
    message = said(list[bool], "[" + "true, " * 200, 60)
    assert "beginning with the value itself (maxItems" in message
    # A budget that is tight, too: a larger one alone would be filled.
    message = said(Page, f'{{"name": "{long}', 45)
    assert "max_tokens=45 is tight" in message
    assert "bound /name (maxLength, in Python max_length), which took the room, or pass a larger max_tokens" in message


def test_the_depth_of_a_flat_class_is_not_mentioned():
    message = said(Report, LONG.replace("word ", "word " * 10), 200)
    assert "beginning with /summary" in message and "nests" not in message
    assert said(Tree, '{"label": "a", "children": [' * 40, 200).count("nests") == 1


def test_a_program_says_that_it_takes_no_such_option(gen):
    program = interlock.Program(gen, "L", chat=True)
    with pytest.raises(interlock.ArgumentError, match="a program takes no on_tight: it warns"):
        program.gen("a", Report, max_tokens=60, on_tight="error")


def test_numbers_of_numpy_are_budgets_and_retries_are_none(gen):
    assert gen("S", Report, max_tokens=np.int64(60)).title == "t"
    with pytest.raises(interlock.ArgumentError, match="'max_retries': attempts=3 asks again"):
        gen("S", Report, max_retries=2)


def test_one_token_is_said_in_the_singular():
    cause = interlock.BudgetError("too small")
    cause.value = 1
    said = str(context_room(1, 1, 5).error(cause))
    assert "the prompt has 1 token, and" in said and "needs 1 token: shorten" in said
