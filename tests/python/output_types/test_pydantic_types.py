"""What a mask allows of a type of pydantic, pydantic takes: random outputs of many types. Others are refused."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import pathlib
import re
import typing
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, Union

import pytest

import interlock
from interlock.output_types import output_type_of

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
typing_extensions = pytest.importorskip("typing_extensions", reason="pydantic brings it")

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, RootModel, TypeAdapter  # noqa: E402

T = typing.TypeVar("T")


class ByPath(BaseModel):
    a: bool = Field(validation_alias=AliasPath("x", 0))


class ByPathOrDefault(BaseModel):
    a: bool = Field(default=False, validation_alias=AliasPath("x", "y"))


class ByPathOrName(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    a: bool = Field(validation_alias=AliasPath("x", 0))


class ByChoice(BaseModel):
    a: bool = Field(validation_alias=AliasChoices(AliasPath("x", 0), "second"))


class Computed(BaseModel):
    a: bool

    @pydantic.computed_field
    @property
    def b(self) -> int:
        return 3


class Box(BaseModel, Generic[T]):
    one: T
    more: list[T] = Field(max_length=2)


class Tree(BaseModel):
    value: bool
    kids: list[Tree] = Field(default=[], max_length=2)


class Cat(BaseModel):
    kind: Literal["cat"]
    name: Annotated[str, Field(max_length=5)]


class Dog(BaseModel):
    kind: Literal["dog"]
    age: Annotated[int, Field(ge=0, le=30)]


def _kind(value: Any) -> Any:
    return value.get("kind") if isinstance(value, dict) else value.kind


@dataclasses.dataclass(kw_only=True, frozen=True)
class Data:
    a: Optional[bool] = None
    b: list[bool] = dataclasses.field(default_factory=list)


class Typed(typing_extensions.TypedDict, total=False):
    a: typing_extensions.Required[bool]
    b: typing_extensions.NotRequired[bool]


class Pair(NamedTuple):
    a: bool
    b: bool = False


class Mixed(enum.Enum):
    A = 1
    B = "x"
    C = None
    D = 2.5


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Stripping(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_to_lower=True)
    s: Annotated[str, Field(min_length=1, max_length=3)]


class Strictly(BaseModel):
    model_config = ConfigDict(strict=True)
    a: Annotated[int, Field(ge=-9, le=9)]
    b: datetime.date
    c: uuid.UUID
    d: Annotated[Decimal, Field(max_digits=3, decimal_places=1)]
    e: set[bool]


class Secrets(BaseModel):
    s: Annotated[pydantic.SecretStr, Field(max_length=5)]
    b: Annotated[pydantic.SecretBytes, Field(max_length=5)]


# pydantic 2.14 has it.
_ASCII: dict[str, Any] = {"ascii_only": True} if hasattr(pydantic.StringConstraints, "ascii_only") else {}


def decimal(**bounds: Any) -> Any:
    return Annotated[Decimal, Field(**bounds)]


WRITTEN = {
    "a path, or the field's own name": ByPathOrName,
    "a choice of aliases": ByChoice,
    "computed field": Computed,
    "generic": Box[bool],
    "recursive": Tree,
    "union by a field": Annotated[Union[Cat, Dog], Field(discriminator="kind")],
    "union by a function": Annotated[
        Union[Annotated[Cat, pydantic.Tag("cat")], Annotated[Dog, pydantic.Tag("dog")]], pydantic.Discriminator(_kind)
    ],
    "root model": RootModel[Annotated[list[bool], Field(max_length=2)]],
    "dataclass": Data,
    "typed dict": Typed,
    "named tuple": Pair,
    "enum of several types": Mixed,
    "integers of an enum": Level,
    "enum of integers as keys": Annotated[dict[Level, bool], Field(min_length=1)],
    "byte size": pydantic.ByteSize,
    "base64 text": pydantic.Base64Str,
    "base64 text of URLs": pydantic.Base64UrlStr,
    "base64 bytes": pydantic.Base64Bytes,
    "secrets": Secrets,
    "max_digits 1": decimal(max_digits=1),
    "max_digits 3": decimal(max_digits=3),
    "max_digits 12": decimal(max_digits=12),
    "decimal_places": decimal(decimal_places=2, ge=0, le=99),
    "max_digits and decimal_places": decimal(max_digits=4, decimal_places=2),
    "as many places as digits": decimal(max_digits=2, decimal_places=2),
    "more places than digits": decimal(max_digits=1, decimal_places=2),
    "condecimal": pydantic.condecimal(max_digits=5, decimal_places=3, gt=0),
    "stripped": pydantic.constr(strip_whitespace=True, min_length=1, max_length=2),
    "stripped, with a pattern": pydantic.constr(strip_whitespace=True, pattern=r"^[\s\S]b?$"),
    "lower case": pydantic.constr(to_lower=True, pattern="^[A-Z]{1,3}$"),
    "stripped by the class": Stripping,
    "strict": Strictly,
    "conlist": pydantic.conlist(bool, min_length=1, max_length=3),
    "conset": pydantic.conset(Annotated[int, Field(ge=0, le=9)], min_length=1, max_length=3),
    "conbytes": pydantic.conbytes(min_length=2, max_length=4),
    "deque": Annotated[collections.deque[bool], Field(max_length=2)],
    "frozenset": frozenset[bool],
    "Counter": typing.Counter[int],
    "OrderedDict": typing.OrderedDict[Annotated[str, Field(max_length=2)], bool],
    "defaultdict": typing.DefaultDict[Annotated[str, Field(max_length=2)], list[bool]],
    "hashable": typing.Hashable,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "path": pathlib.Path,
    "Fraction": Fraction,
    "HttpUrl": Annotated[pydantic.HttpUrl, Field(max_length=40)],
    "HttpUrl of a least length": Annotated[pydantic.HttpUrl, Field(min_length=12)],
    "FileUrl": pydantic.FileUrl,
    "text of ASCII": Annotated[str, pydantic.StringConstraints(**_ASCII, max_length=4)],
}


@pytest.mark.parametrize("hint", WRITTEN.values(), ids=WRITTEN)
def test_random_outputs_are_read(hint, byte_vocabulary):
    index = interlock.Index.from_type(hint, byte_vocabulary)
    adapter = TypeAdapter(hint)
    for seed in range(25):
        text = byte_vocabulary.decode(index.sample(seed, max_tokens=150), skip_special_tokens=True)
        adapter.validate_json(text)


REFUSED = {
    "path": (ByPath, r"ByPath\.a: its AliasPath .*validate_by_name=True"),
    "path with a default": (ByPathOrDefault, r"ByPathOrDefault\.a: its AliasPath"),
    "import": (dict[str, pydantic.ImportString], r"\{\} in dict\[.*an ImportString imports .*\(take a Literal"),
    "class": (list[type[int]], r"\[\] in list\[.*JSON has no classes \(take a Literal"),
    "new path": (pydantic.NewPath, r"whether there is such a file \(take pathlib\.Path"),
    "file": (pydantic.FilePath, r"take pathlib\.Path"),
    "address of any version": (pydantic.IPvAnyAddress, "ipvanyaddress"),
    "JSON in a string": (pydantic.Json[list[int]], "use the type of its content"),
    "past": (pydantic.PastDate, "on_unsupported='warn'"),
    "length of a path": (Annotated[pathlib.Path, Field(max_length=5)], r"max_length=5 .* does not fit a path"),
    "complex": (complex, "a NamedTuple of two floats"),
    "range": (range, r"take tuple\[int, int\]"),
}


@pytest.mark.parametrize(("hint", "said"), REFUSED.values(), ids=REFUSED)
def test_what_no_mask_can_say_is_refused_with_a_hint(hint, said):
    with pytest.raises(interlock.UnsupportedError, match=said):
        output_type_of(hint)


def test_a_field_that_the_class_fills_itself_is_not_written():
    @dataclasses.dataclass
    class Counted:
        a: bool
        count: int = dataclasses.field(init=False, default=3)

    assert list(output_type_of(Counted).source["properties"]) == ["a"]
    assert output_type_of(Counted).parse('{"a": true}') == Counted(True)


def test_a_schema_of_ones_own_stands_in_the_place_of_a_refused_type():
    own = Annotated[pydantic.ImportString, pydantic.WithJsonSchema({"enum": ["math.pi", "math.e"]})]
    assert output_type_of(list[own]).parse('["math.e"]') == [2.718281828459045]


def accepts(index, text):
    guide = index.guide()
    return guide.advance_many(list(text.encode())) == len(text.encode()) and guide.is_accepting


ALLOWED = [
    (decimal(max_digits=3), ["1.23", "12.3", "123", "0.123", "-9.99", "0", "0.001", "99.9"]),
    (decimal(max_digits=2, decimal_places=2), ["0.5", "-0.05"]),
    (pydantic.ByteSize, ['"1.5 KiB"', '"10B"', "5", '"3 GB"']),
    (pydantic.constr(strip_whitespace=True, min_length=2), ['"ab"', '"a b"']),
    (pydantic.Base64Str, ['"aGVsbG8="', '""', '"YQ=="']),
    (pydantic.FileUrl, ['"file:///etc/hosts"']),
    (dict[Level, bool], ['{"1": true, "2": false}']),
    (typing.Counter[int], ['{"-1": 2}']),
]
FORBIDDEN = [
    (decimal(max_digits=3), ["1234", "0.1234", "12.34", "0.0001"]),
    (decimal(max_digits=2, decimal_places=2), ["0", "0.0", "5"]),
    (pydantic.ByteSize, ['"1 parsec"', "-5"]),
    (pydantic.constr(strip_whitespace=True, min_length=2), ['"  "', '" a"', '"a\\n"', '"a\u0085"']),
    (pydantic.Base64Str, ['"o3Ux"', '"oA=="']),
    (dict[Level, bool], ['{"3": true}']),
    (typing.Counter[int], ['{"a": 2}']),
]


@pytest.mark.parametrize(("hint", "texts"), ALLOWED)
def test_what_pydantic_takes_is_allowed(hint, texts, byte_vocabulary):
    index = interlock.Index.from_type(hint, byte_vocabulary)
    for text in texts:
        TypeAdapter(hint).validate_json(text)
        assert accepts(index, text), text


@pytest.mark.parametrize(("hint", "texts"), FORBIDDEN)
def test_what_pydantic_refuses_is_forbidden(hint, texts, byte_vocabulary):
    index = interlock.Index.from_type(hint, byte_vocabulary)
    for text in texts:
        with pytest.raises(pydantic.ValidationError):
            TypeAdapter(hint).validate_json(text)
        assert not accepts(index, text), text


def test_a_function_of_the_class_is_asked_at_the_end():
    def even(value: int) -> int:
        if value % 2:
            raise ValueError(f"{value} is odd")
        return value

    checked = output_type_of(list[Annotated[int, pydantic.AfterValidator(even)]])
    with pytest.raises(interlock.InvalidOutputError, match=re.escape("1: Value error, 3 is odd")) as caught:
        checked.parse("[2, 3]")
    assert caught.value.pointer == "/1"


def test_a_type_that_needs_another_package_says_which(monkeypatch):
    def missing() -> None:
        raise ImportError("email-validator is not installed, run `pip install 'pydantic[email]'`")

    monkeypatch.setattr(pydantic.networks, "import_email_validator", missing)
    with pytest.raises(interlock.UnsupportedError, match=r"email-validator is not installed.*pydantic\[email\]"):
        output_type_of(list[pydantic.EmailStr])
