"""Members of an ``Enum`` and values of a ``Literal`` that cannot be read back from JSON.

pydantic writes the value of a member as JSON whatever it is, a dataclass as an object. What it reads from that JSON is
a ``dict``, which is no member's value. Such a class would only fail when the text is complete.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import SchemaValidator, to_json

__all__ = ["check_values"]


def check_values(schema: Any, values: list[Any]) -> None:
    """``PydanticInvalidForJsonSchema`` for one of ``values`` that the core schema ``schema``, of an ``Enum`` or a
    ``Literal``, does not read from its own JSON; it names the class and the member.
    """
    validator = SchemaValidator({key: part for key, part in schema.items() if key not in ("metadata", "ref")})
    for value in values:
        try:
            read = validator.validate_json(to_json(value.value if isinstance(value, Enum) else value))
        except ValueError:
            raise _refusal(schema, value) from None
        if read is not value and (type(read) is not type(value) or read != value):
            raise _refusal(schema, value)


def _refusal(schema: Any, value: Any) -> PydanticInvalidForJsonSchema:
    if isinstance(value, Enum) and schema["type"] == "literal" and isinstance(value.value, str | int):
        name, base = type(value).__name__, "str" if isinstance(value.value, str) else "int"
        what = f"{name}.{value.name} stands in a Literal, and {name} is no {base}"
        way = (
            f"write class {name}({base}, Enum), whose members pydantic reads in a Literal, or take {name} itself where "
            "all members will do"
        )
    elif isinstance(value, Enum):
        kind = type(value)
        what = f"the member {kind.__name__}.{value.name} has a value of the type {type(value.value).__name__}"
        way = (
            f"give {kind.__name__}.{value.name} a text or a number of its own as its value, and look the "
            f"{type(value.value).__name__} up by it, or define {kind.__name__}._missing_, which finds the member"
        )
    else:
        what, way = f"{value!r:.60} is of the type {type(value).__name__}", "take texts and numbers in a Literal"
    error = PydanticInvalidForJsonSchema(f"{what}, which cannot be read back from JSON")
    error.__dict__["way"] = way
    return error
