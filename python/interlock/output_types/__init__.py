"""Output types: from any Python type to what a model may write, and from what it wrote back to a Python value.

``output_type_of`` takes a class, a type such as ``list[int]``, a ``Literal``, an ``Enum``, a compiled pattern, a list
of choices, a JSON Schema, a ``Grammar`` or an ``Index``. ``index_from_type`` compiles it. pydantic is used where it is
installed, and nothing here needs it.

>>> from dataclasses import dataclass
>>> @dataclass
... class User:
...     name: str
...     age: int
>>> output_type_of(User).parse('{"name": "Ada", "age": 36}')
User(name='Ada', age=36)
"""

from interlock.output_types.errors import InvalidOutputError
from interlock.output_types.function_calls import FunctionCall
from interlock.output_types.grammar import Grammar
from interlock.output_types.output_type import OutputType
from interlock.output_types.resolve import index_from_type, output_type_of

__all__ = ["FunctionCall", "Grammar", "InvalidOutputError", "OutputType", "index_from_type", "output_type_of"]
