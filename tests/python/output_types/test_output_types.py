"""Types to what a model may write, and what it wrote back to values: with pydantic and without it."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import os
import pickle
import re
import subprocess
import sys
import types
import typing
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union

import numpy as np
import pytest

import interlock
from interlock.output_types import OutputType, output_type_of, resolve

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

END = 256


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(NamedTuple):
    x: int
    y: float = 1.0


class Book(TypedDict):
    title: str
    year: NotRequired[int]


@dataclass
class User:
    name: str
    age: int = 3
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    value: int
    children: list[Tree]


@dataclass
class Bound:
    """Stands for ``annotated_types``: bounds are attributes."""

    ge: int | None = None
    le: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


def weather(city: str, days: int = 3) -> str:
    return f"{city}: {days}"


class Model(pydantic.BaseModel):
    name: Annotated[str, pydantic.Field(min_length=1, max_length=5, pattern="^[A-Z]")]
    age: int = pydantic.Field(ge=0, le=120)
    color: Color
    point: Point
    when: datetime.datetime | None = None


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    count: int
    share: float
    day: datetime.date
    id: uuid.UUID


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: int


PLAIN: list[tuple[Any, type | tuple[type, ...]]] = [
    (int, int),
    (float, float),
    (bool, bool),
    (None, type(None)),
    (Any, object),
    (list[int], list),
    (list, list),
    (dict[str, int], dict),
    (dict[str, list[bool]], dict),
    (tuple[int, str], tuple),
    (tuple[int, ...], tuple),
    (tuple[()], tuple),
    (set[bool], set),
    (frozenset[int], frozenset),
    (Optional[int], (int, type(None))),
    (Union[int, str], (int, str)),
    (int | None, (int, type(None))),
    (Literal[1, "a", None, True], object),
    (Level, Level),
    (Color, Color),
    (Literal["yes", "no"], str),
    (Point, Point),
    (Book, dict),
    (User, User),
    (list[User], list),
    (Tree, Tree),
    (datetime.date, datetime.date),
    (datetime.datetime, datetime.datetime),
    (datetime.time, datetime.time),
    (datetime.timedelta, datetime.timedelta),
    (uuid.UUID, uuid.UUID),
    (decimal.Decimal, decimal.Decimal),
    (weather, dict),
    (str, str),
    (re.compile("[a-c]{3}"), str),
    (["yes", "no"], str),
    ({"type": "integer"}, (int, float)),
    ('{"type": "boolean"}', bool),
    (True, object),
]
RICH: list[tuple[Any, type | tuple[type, ...]]] = [
    (Model, Model),
    (Strict, Strict),
    (Open, Open),
    (list[Model], list),
    (pydantic.RootModel[list[int]], pydantic.RootModel),
    (Annotated[dict[int, bool], pydantic.Field(min_length=1)], dict),
    (Annotated[dict[Color, int], pydantic.Field(min_length=1)], dict),
    (Annotated[dict[Annotated[str, pydantic.Field(pattern="^a+$")], int], pydantic.Field(min_length=1)], dict),
    (pydantic.NaiveDatetime, datetime.datetime),
    (pydantic.AwareDatetime, datetime.datetime),
    (pydantic.UUID4, uuid.UUID),
    (pydantic.HttpUrl, object),
    (bytes, bytes),
    (Annotated[decimal.Decimal, pydantic.Field(max_digits=4, decimal_places=2)], decimal.Decimal),
    (pydantic.TypeAdapter(list[int]), list),
]


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[END])


@pytest.fixture
def no_pydantic(monkeypatch):
    monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)


def members(output: OutputType[Any], vocabulary, count=25):
    """Random texts that the masks permit, of characters that one can read."""
    index = output.index(vocabulary)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        guide = index.guide(max_tokens=120)
        while not guide.is_terminated:
            allowed = guide.allowed_token_ids()
            plain = allowed[((allowed >= 32) & (allowed < 127) & (allowed != 92)) | (allowed == END)]
            guide.advance(int(rng.choice(plain if len(plain) else allowed)))
        yield vocabulary.decode(guide.tokens).decode()


def name(parameter):
    return resolve.name_of(parameter)[:40] if not isinstance(parameter, tuple) or len(parameter) != 2 else ""


@pytest.mark.parametrize(("hint", "kind"), PLAIN, ids=[str(name(hint)) for hint, _ in PLAIN])
def test_every_text_becomes_a_value(hint, kind, vocabulary):
    for text in members(output_type_of(hint), vocabulary):
        assert isinstance(output_type_of(hint).parse(text), kind), text


@pytest.mark.parametrize(("hint", "kind"), PLAIN, ids=[str(name(hint)) for hint, _ in PLAIN])
def test_every_text_becomes_a_value_without_pydantic(hint, kind, vocabulary, no_pydantic):
    output = output_type_of(hint)
    for text in members(output, vocabulary):
        assert isinstance(output.parse(text), kind), text


@pytest.mark.parametrize(("hint", "kind"), RICH, ids=[str(name(hint)) for hint, _ in RICH])
def test_pydantic_reads_everything_that_its_schema_permits(hint, kind, vocabulary):
    output = output_type_of(hint)
    for text in members(output, vocabulary):
        assert isinstance(output.parse(text), kind), text


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (User, '{"name": "Ada", "age": 36}', User("Ada", 36)),
        (Point, '{"x": 1, "y": 2}', Point(1, 2.0)),
        (Book, '{"title": "T"}', {"title": "T"}),
        (list[Point], '[{"x": 1}]', [Point(1)]),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (set[int], "[1, 2]", {1, 2}),
        (Tree, '{"value": 1, "children": [{"value": 2, "children": []}]}', Tree(1, [Tree(2, [])])),
        (int, "5e2", 500),
        (int, "123456789012345678901234567890e2", 12345678901234567890123456789000),
        (float, "3", 3.0),
        (decimal.Decimal, "0.10", decimal.Decimal("0.10")),
        (Color, "red", Color.RED),
        (Level, "2", Level.HIGH),
        (list[Color], '["blue"]', [Color.BLUE]),
        (User | None, "null", None),
        (bool | int, "true", True),
        (datetime.date, '"2024-02-29"', datetime.date(2024, 2, 29)),
        (datetime.timedelta, '"-P1DT2H3M4.5S"', -datetime.timedelta(1, 4.5, 0, 0, 3, 2)),
        (dict[str, datetime.date], '{"a": "2024-01-01"}', {"a": datetime.date(2024, 1, 1)}),
        (Literal[1, "1"], '"1"', "1"),
        (weather, '{"city": "Rome"}', {"city": "Rome"}),
    ],
)
@pytest.mark.parametrize("by", ["pydantic", "hints"])
def test_values(hint, text, value, by, monkeypatch):
    if by == "hints":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    found = output_type_of(hint).parse(text)
    assert found == value and type(found) is type(value)


def accepts(hint, text, vocabulary, **options):
    index = interlock.index_from_type(hint, vocabulary, **options)
    guide = index.guide()
    return guide.advance_many(list(text.encode())) == len(text.encode()) and guide.is_accepting


@pytest.mark.parametrize("by", ["pydantic", "hints"])
def test_objects_of_classes_are_closed_and_in_order(by, vocabulary, monkeypatch):
    if by == "hints":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    for hint in (User, Book, Point, list[User], dict[str, User], User | None):
        assert '"additionalProperties": true' not in json.dumps(output_type_of(hint).source)
    assert accepts(User, '{"name": "A", "age": 1}', vocabulary)
    assert not accepts(User, '{"name": "A", "age": 1, "x": 1}', vocabulary)
    assert not accepts(User, '{"age": 1, "name": "A"}', vocabulary)
    assert not accepts(User, '{"name":"A"}', vocabulary)
    assert accepts(User, '{"name":"A"}', vocabulary, whitespace="compact")
    assert not accepts(User, '{"n\\u0061me": "A"}', vocabulary)


def test_open_models_stay_open(vocabulary):
    assert accepts(Open, '{"a": 1, "b": 2}', vocabulary)
    assert not accepts(Model, '{"name": "A", "age": 1, "color": "red", "point": {"x": 1, "z": 2}}', vocabulary)

    class Parent(pydantic.BaseModel):
        child: Open

    assert accepts(Parent, '{"child": {"a": 1, "more": "x"}}', vocabulary)
    assert not accepts(Parent, '{"child": {"a": 1}, "more": "x"}', vocabulary)


@pytest.mark.parametrize(
    "hint", [int, float, bool, Level, Point, Book, User, list[Color], dict[str, int], Tree, weather]
)
def test_both_ways_say_the_same(hint, vocabulary, monkeypatch):
    by_pydantic = output_type_of(hint)
    monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    by_hints = output_type_of(hint)
    for one, other in ((by_pydantic, by_hints), (by_hints, by_pydantic)):
        index = other.index(vocabulary)
        for text in members(one, vocabulary, 10):
            assert index.guide().advance_many(list(text.encode())) == len(text.encode()), text
            assert one.parse(text) == other.parse(text)


@pytest.mark.parametrize("by", ["pydantic", "hints"])
def test_bounds(by, vocabulary, monkeypatch):
    if by == "hints":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
        of = Bound
    else:
        of = lambda **bounds: pydantic.Field(**bounds)
    assert accepts(Annotated[int, of(ge=3, le=5)], "4", vocabulary)
    assert not accepts(Annotated[int, of(ge=3, le=5)], "6", vocabulary)
    assert not accepts(Annotated[list[int], of(max_length=1)], "[1, 2]", vocabulary)
    assert accepts(Annotated[str, of(pattern="^a+$", max_length=2)], '"aa"', vocabulary)
    assert not accepts(Annotated[str, of(pattern="^a+$", max_length=2)], '"aaa"', vocabulary)
    assert not accepts(list[Annotated[int, of(ge=3)]], "[2]", vocabulary)


def test_arguments_of_a_tool_are_an_object():
    """``{}`` as the parameters of a tool is any object, where as a schema it would be any value."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert output_type_of(tool).source == {"type": "object"}
    tool["function"]["parameters"] = {"properties": {"a": {"type": "integer"}}}
    assert output_type_of(tool).source["type"] == "object"


def test_what_pydantic_knows_nothing_of_is_said_in_plain_words():
    class Plain: ...

    for hint, where in (
        (Plain, "the type Plain"),
        (list[Plain], r"elements of list\[Plain\]|\[\] in list|list\[Plain\]"),
    ):
        with pytest.raises(interlock.UnsupportedError, match=where) as caught:
            output_type_of(hint)
        assert "pydantic-core" not in str(caught.value) and "use a dataclass" in str(caught.value)


def test_separators_of_dates_and_times_are_forced(vocabulary):
    for hint, written, forced in (
        (datetime.date, b'"2026', "-"),
        (datetime.date, b'"2026-11', "-"),
        (datetime.datetime, b'"2026-11-27', "T"),
        (datetime.time, b'"12', ":"),
    ):
        guide = interlock.Index.from_type(hint, vocabulary).guide()
        assert guide.advance_many(list(written)) == len(written) and guide.forced_text() == forced
    guide = interlock.Index.from_type(datetime.date, vocabulary).guide()
    assert guide.advance_many(list(b'"2026-13')) == len(b'"2026-1')


def test_choices_that_come_twice_and_empty_ones(vocabulary):
    """As the page of output types says."""
    twice = interlock.Index.from_type(["a", "b", "a"], vocabulary)
    assert twice.language_size() == 2 and output_type_of(["a", "b", "a"]).parse("a") == "a"
    empty = interlock.Index.from_type(["", "a"], vocabulary).guide()
    assert empty.is_accepting and output_type_of(["", "a"]).parse("") == ""
    with pytest.raises(interlock.ArgumentError, match="there are no choices: the list is empty"):
        output_type_of([])


def test_choices_text_and_patterns_are_written_bare(vocabulary):
    assert accepts(Literal["yes", "no"], "yes", vocabulary)
    assert accepts(Color, "red", vocabulary) and not accepts(Color, '"red"', vocabulary)
    assert accepts(list[Color], '["red"]', vocabulary)
    assert accepts(str, 'any "text"\nat all', vocabulary)
    assert accepts(re.compile("A+", re.IGNORECASE), "aA", vocabulary)


def test_an_index_is_taken_as_it_is(vocabulary, byte_vocabulary):
    index = interlock.Index.from_choices(["a"], vocabulary)
    assert output_type_of(index).index(vocabulary) is index
    with pytest.raises(interlock.ArgumentError, match="another vocabulary"):
        output_type_of(index).index(byte_vocabulary)
    with pytest.raises(interlock.ArgumentError, match="compiled already"):
        output_type_of(index).index(vocabulary, whitespace="compact")


MISTAKES = [
    ("int", "pass the type int without quotes"),
    ("foo", "re.compile"),
    ("order.json", "read_text"),
    ('{"type":', "not JSON"),
    ("3", "a schema is an object or a boolean"),
    ({}, "pass True"),
    ({1: 2}, "the keys of a schema are strings"),
    ({"type": "json_object"}, '"object"'),
    ({"type": "text"}, "pass str"),
    ({"type": "json_schema"}, "no schema under"),
    ({"type": "json_schema", "json_schema": {"name": "x"}}, "no 'schema'"),
    ({"type": "function", "function": {"name": "x"}}, "no 'parameters'"),
    ([int], r"did you mean list\[int\]"),
    ([int, str], "did you mean int | str"),
    ([1, 2], "Literal"),
    ([], "the list is empty"),
    ({"a", "b"}, "pass a list"),
    (5, "did you mean int"),
    (User("a"), "pass the class User"),
    (Color.RED, "pass the class Color"),
    (object(), "an output type is needed"),
    (types, "an output type is needed"),
    (complex, "NamedTuple"),
    (lambda x: x, "no annotation"),
    (lambda: 0, "no parameters"),
    (re.compile(b"a"), "without the b"),
    (typing.Callable[[int], int], "no JSON can be made"),
    (dict[tuple[int, int], str], "keys of a JSON object"),
    (Annotated[datetime.date, pydantic.Field(ge=datetime.date(2020, 1, 2), lt=datetime.date(2020, 1, 2))], "no date"),
    (Annotated[datetime.time, pydantic.Field(ge=datetime.time(12))], "bounds of a time .ge. .pass on_unsupported="),
    (pydantic.PastDate, "a date lies in the past .pass on_unsupported='warn'.* or take date, and check"),
    (pydantic.FutureDatetime, "a datetime lies in the future .*or take datetime, and check"),
    (list[bytearray], "take bytes"),
    (datetime.timezone, "take str"),
    (range, r"take tuple\[int, int\]"),
    (set[list[int]], "take list in the place of set"),
    (frozenset[dict[str, int]], "take tuple in the place of frozenset"),
    (pydantic.DirectoryPath, "take pathlib.Path"),
    (pydantic.Json[int], "type of its content"),
    (pydantic.FilePath, "file-path"),
]


@pytest.mark.parametrize(("given", "said"), MISTAKES, ids=[str(i) for i in range(len(MISTAKES))])
def test_mistakes_have_a_hint(given, said):
    with pytest.raises((interlock.ArgumentError, interlock.UnsupportedError), match=said) as caught:
        output_type_of(given)
    assert "_" not in re.sub(
        r"read_text|json_schema|json_object|input_schema|response_format|on_unsupported", "", str(caught.value)
    ), "a private name"


def test_mistakes_without_pydantic(no_pydantic):
    with pytest.raises(interlock.UnsupportedError, match="pip install pydantic"):
        output_type_of(Model)
    with pytest.raises(interlock.UnsupportedError, match="use str"):
        output_type_of(bytes)
    with pytest.raises(interlock.UnsupportedError, match=r"\(at items\[\]\)"):
        output_type_of(TypedDict("T", {"items": list[complex]}))
    with pytest.raises(interlock.UnsupportedError, match="neither numbers nor dates"):
        output_type_of(Annotated[datetime.time, Bound(ge=datetime.time(12))])  # type: ignore[arg-type]
    with pytest.raises(interlock.UnsupportedError, match="predicate"):
        output_type_of(Annotated[int, types.SimpleNamespace(func=lambda value: True)])


def test_what_python_refuses_is_said_and_kept():
    class Even(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def even(cls, n):
            if n % 2:
                raise ValueError("odd")
            return n

    with pytest.raises(interlock.InvalidOutputError, match="n: Value error, odd") as caught:
        output_type_of(Even).parse('{"n": 3}')
    assert caught.value.text == '{"n": 3}' and isinstance(caught.value.__cause__, pydantic.ValidationError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.text == caught.value.text and str(again) == str(caught.value)
    assert isinstance(caught.value, interlock.InterlockError)


def test_what_python_refuses_without_pydantic(no_pydantic):
    @dataclass
    class Even:
        n: int

        def __post_init__(self):
            if self.n % 2:
                raise ValueError("odd")

    with pytest.raises(interlock.InvalidOutputError, match="Even refuses the value that was generated: odd"):
        output_type_of(Even).parse('{"n": 3}')
    for text in ('{"m": 3}', "[1]", '{"n": "x"}', "{"):
        with pytest.raises(interlock.InvalidOutputError):
            output_type_of(Even).parse(text)


def test_index_from_type_says_what_is_wrong(vocabulary):
    with pytest.raises(interlock.ArgumentError, match=r"must be an interlock\.Vocabulary, not type"):
        interlock.index_from_type(vocabulary, int)
    with pytest.raises(interlock.SchemaError):
        interlock.index_from_type({"type": "strin"}, vocabulary)


def test_keys_tell_types_apart():
    assert output_type_of(User).key == output_type_of(User).key != output_type_of(Book).key
    assert output_type_of(["a"]).key != output_type_of(["b"]).key
    assert output_type_of(re.compile("a")).key != output_type_of(re.compile("a", re.I)).key
    assert output_type_of(str).key == output_type_of(str).key


def test_a_server_imports_none_of_this():
    """``import interlock`` stays light, and the late names are there all the same."""
    code = (
        "import sys, interlock; late = [m for m in sys.modules if m.startswith(('interlock.gen', 'interlock.out', "
        "'interlock.prog', 'pydantic', 'torch'))]; assert not late, late; "
        "assert interlock.generate and interlock.Program and 'from_openai' in dir(interlock); "
        "assert 'torch' not in sys.modules and 'pydantic' not in sys.modules; "
        "interlock.output_types.output_type_of(int)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(interlock.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        interlock.nothing  # noqa: B018
