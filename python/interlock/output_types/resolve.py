"""From anything that says what an output should be to its output type."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import os
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, Union, get_args, get_origin, overload

from interlock._core import ArgumentError, Index, UnsupportedError, Vocabulary
from interlock.grammar_syntax import syntax_of
from interlock.grammars.grammar_text import GrammarText
from interlock.output_types.envelopes import SCHEMA_FIELDS, unwrapped
from interlock.output_types.errors import InvalidOutputError, raised_by_class
from interlock.output_types.function_calls import FunctionCall
from interlock.output_types.grammar import Grammar
from interlock.output_types.misplaced_constraints import refuse_misplaced
from interlock.output_types.output_type import OutputType
from interlock.output_types.python_types import type_hints
from interlock.output_types.python_types.scalars import Mismatch
from interlock.output_types.python_types.type_names import name_of
from interlock.output_types.python_types.unresolved_names import unresolved_parameter
from interlock.schema_hints import no_schema
from interlock.util.argument_types import require
from interlock.util.near_words import nearest
from interlock.util.nesting import bounded_nesting
from interlock.util.quoting import quoted, shortened

__all__ = ["index_from_type", "output_type_of"]

T = TypeVar("T")

_SCHEMA_WORDS: dict[Any, str] = {
    int: "integer", float: "number", bool: "boolean", str: "string", list: "array", dict: "object",
}  # fmt: skip
# The first definition or directive of a grammar, behind comments and blank lines.
_GRAMMAR_BEGINS = re.compile(
    r"(?:\s*(?:(?://|\#)[^\n]*\n|/\*.*?\*/|\(\*.*?\*\)))*\s*"
    r"(?:[?!]*[A-Za-z_][\w.-]*(?:\{[^}\n]*\})?\s*(?:\.-?\d+\s*)?(?::|::=)\s|%(?:import|ignore|declare|extend|override|llguidance)\b)",
    re.DOTALL,
)
_MODULES = {
    "date": "datetime", "datetime": "datetime", "time": "datetime", "timedelta": "datetime", "Decimal": "decimal",
    "UUID": "uuid",
}  # fmt: skip
_BARE: dict[Any, str] = {
    typing.Optional: "Optional", typing.Union: "Union", typing.Literal: "Literal", typing.Annotated: "Annotated",
}  # fmt: skip
_EXAMPLES: dict[Any, str] = {
    typing.Optional: "int", typing.Union: "int, str", typing.Literal: '"yes", "no"', typing.Annotated: "int, Ge(0)",
}  # fmt: skip
_WORDS: dict[str, Any] = {
    "int": int, "integer": int, "float": float, "number": float, "bool": bool, "boolean": bool, "str": str,
    "string": str, "list": list, "array": list, "dict": dict, "object": dict, "tuple": tuple,
}  # fmt: skip


def pydantic_schema() -> types.ModuleType | None:
    """The module that asks pydantic, or ``None`` where pydantic is not installed."""
    try:
        from interlock.output_types.pydantic_models import schema as found
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] == "pydantic":
            return None
        raise
    return found


@overload
def output_type_of(output_type: type[T], on_unsupported: Literal["error", "warn"] = ...) -> OutputType[T]: ...
@overload
def output_type_of(
    output_type: re.Pattern[str] | Grammar | Index | Sequence[str], on_unsupported: Literal["error", "warn"] = ...
) -> OutputType[str]: ...
@overload
def output_type_of(output_type: Any, on_unsupported: Literal["error", "warn"] = ...) -> OutputType[Any]: ...
@bounded_nesting("the output type")
def output_type_of(output_type: Any, on_unsupported: Literal["error", "warn"] = "error") -> OutputType[Any]:
    """What a model may write so that a value of ``output_type`` can be read from it, and how it is read.

    | ``output_type``                       | the model writes           | the value           |
    |---------------------------------------|----------------------------|---------------------|
    | ``str``                               | any text                   | ``str``             |
    | ``Literal["a", "b"]``, ``["a", "b"]`` | one of the texts           | ``str``             |
    | an ``Enum`` of strings                | one of the texts           | the member          |
    | ``re.compile(...)``                   | a text that matches it     | ``str``             |
    | a ``Grammar``, ``grammars.load(...)`` | a text of the grammar      | ``str``             |
    | an ``Index``                          | what the index accepts     | ``str``             |
    | a JSON Schema (``dict``, JSON text)   | JSON that follows it       | what ``json`` reads |
    | a function                            | JSON with its arguments    | a ``dict`` of them  |
    | a list of functions                   | JSON: name and arguments   | a ``FunctionCall``  |
    | every other type                      | JSON of the type           | a value of the type |

    Every other type: ``int``, ``float``, ``bool``, ``None``, ``Literal``, ``Enum``, ``list``, ``dict``, ``tuple``,
    ``set``, unions, ``Annotated``, dataclasses, ``TypedDict``, ``NamedTuple``, types of ``datetime``, ``decimal`` and
    ``uuid``, and with pydantic whatever pydantic knows. Objects of classes are closed.

    ``on_unsupported="warn"`` leaves out what cannot be enforced while the model writes: keywords of a JSON Schema,
    which the index reports, and bounds such as ``PastDate``, which pydantic checks when the text is complete. For these
    there is an ``UnenforcedBoundWarning``.

    ``UnsupportedError`` for a type that JSON cannot hold, ``ArgumentError`` for what is no type; both say what to pass
    instead. Milliseconds for a large class.

    >>> from typing import Literal
    >>> output_type_of(Literal["yes", "no"]).kind
    'choices'
    """
    require(on_unsupported=(on_unsupported, "text"))
    if on_unsupported not in ("error", "warn"):
        raise ArgumentError(f"on_unsupported is 'error' or 'warn', not {quoted(on_unsupported)}")
    if isinstance(output_type, OutputType):
        return output_type
    found = _resolved(output_type, on_unsupported)
    return dataclasses.replace(found, on_unsupported=on_unsupported) if found.kind == "json_schema" else found


def _resolved(output_type: Any, on_unsupported: str) -> OutputType[Any]:
    if isinstance(output_type, Index):
        return OutputType("index", output_type, str, "index")
    if isinstance(output_type, GrammarText):
        output_type = Grammar(output_type)
    if isinstance(output_type, Grammar):
        return OutputType("grammar", output_type, output_type.parse, "a text of the grammar", is_checked=True)
    if isinstance(output_type, re.Pattern):
        return _pattern(output_type)
    if isinstance(output_type, bool | Mapping):
        return _json_schema(output_type)
    if isinstance(output_type, bytes | str):
        return _json_schema(_read_schema(output_type))
    if isinstance(output_type, list | tuple):
        return _choices_of(output_type, on_unsupported)
    if output_type is str:
        return OutputType("text", None, str, "text")
    names = _choice_values(output_type)
    if names is not None:
        return OutputType("choices", tuple(names), _chosen(names), name_of(output_type))
    if inspect.isroutine(output_type):
        _refuse_schema_method(output_type)
        arguments = _typed(_arguments_of(output_type), output_type.__name__, on_unsupported)
        return _with_description(arguments, inspect.getdoc(output_type))
    _refuse_values(output_type)
    return _typed(output_type, name_of(output_type), on_unsupported)


def index_from_type(output_type: Any, vocabulary: Vocabulary, **options: Any) -> Index:
    """Compile any output type for ``vocabulary``: a class, ``list[int]``, ``Literal["a", "b"]``, a pattern, choices, a
    JSON Schema, a ``Grammar``. ``options`` are those of ``Index.from_json_schema`` and its siblings.

    Objects of classes are closed, JSON has one space after commas and colons (``whitespace="spaced"``), and names and
    constants are spelled as ``json.dumps`` spells them. Errors are those of ``output_type_of`` and of ``Index``.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> interlock.index_from_type(list[bool], vocabulary).guide().forced_text()
    '['
    """
    if not isinstance(vocabulary, Vocabulary):
        raise ArgumentError(
            f"vocabulary must be an interlock.Vocabulary, not {type(vocabulary).__name__}: the type comes first, and "
            "Vocabulary.from_tokenizer makes a vocabulary"
        )
    return output_type_of(output_type, options.get("on_unsupported", "error")).index(vocabulary, **options)


def _typed(hint: Any, name: str, on_unsupported: str = "error") -> OutputType[Any]:
    """A type whose values are written as JSON."""
    refuse_misplaced(hint)
    by_pydantic = pydantic_schema()
    is_plain = False
    if by_pydantic is not None:
        try:
            schema, adapter = by_pydantic.json_schema_of(hint, on_unsupported)
            from interlock.output_types.pydantic_models.values import parser_of

            return OutputType("json_schema", schema, parser_of(adapter, name), name, is_checked=True)
        except by_pydantic.PlainTypedDict:
            is_plain = True
    try:
        schema, convert = type_hints.json_schema_of(hint)
    except UnsupportedError as error:
        # A plain TypedDict with what only pydantic reads inside: neither of the two readers takes both.
        if not is_plain or not type_hints.is_of_pydantic(error):
            raise
        beside = UnsupportedError(
            f"{name} has a typing.TypedDict beside a pydantic model: use typing_extensions.TypedDict on Python < 3.12"
        )
        beside.pointer = error.pointer
        raise beside from error

    def parse(text: str) -> Any:
        value = _loaded(text, name, parse_float=Decimal)
        try:
            return convert(value)
        except Mismatch as error:
            raise InvalidOutputError(f"the text that was generated is no {name}: {error}", text) from error
        except ValueError as error:
            raise InvalidOutputError(f"{name} refuses the value that was generated: {error}", text) from error
        except Exception as error:
            raise raised_by_class(error, name, text) from error

    return OutputType("json_schema", schema, parse, name)


def _loaded(text: str, name: str, **options: Any) -> Any:
    try:
        return json.loads(text, **options)
    except ValueError as error:
        raise InvalidOutputError(f"the text that was generated is no JSON for {name}: {error}", text) from error


def _json_schema(schema: Mapping[str, Any] | bool) -> OutputType[Any]:
    if isinstance(schema, Mapping):
        if not schema:
            raise ArgumentError("the schema {} accepts every JSON value: pass True if that is meant")
        odd = next((key for key in schema if not isinstance(key, str)), None)
        if odd is not None:
            raise ArgumentError(f"the keys of a schema are strings, and {odd!r} is none")
        _refuse_types(schema)
        found = unwrapped(schema)
        schema = dict(found) if isinstance(found, Mapping) else found
        if reason := no_schema(schema):
            raise ArgumentError(f"this schema accepts every JSON value: {reason} (pass True if any value is meant)")
    title = schema.get("title") if isinstance(schema, dict) else None
    name = title if isinstance(title, str) and title else "schema"
    return OutputType("json_schema", schema, lambda text: _loaded(text, name), name)


def _refuse_types(schema: Mapping[str, Any], pointer: str = "") -> None:
    """``ArgumentError`` for a Python type inside a schema: most likely a class was meant, written as a dict."""
    for key, value in schema.items():
        if isinstance(value, Mapping):
            _refuse_types(value, f"{pointer}/{key}")
        elif isinstance(value, type) or get_origin(value) is not None:
            named = name_of(value)
            if pointer:
                word = _SCHEMA_WORDS.get(value)
                way = f'write {{"type": "{word}"}}' if word else f"write the schema of {named}"
                raise ArgumentError(f"a schema holds JSON, and {pointer}/{key} is the type {named}: {way}")
            if key in SCHEMA_FIELDS:
                raise ArgumentError(
                    f"{key!r} is a field of a request, and the type {named} is in it: pass {named} itself"
                )
            fields = "; ".join(f"{k}: {name_of(v)}" for k, v in list(schema.items())[:3] if isinstance(k, str))
            raise ArgumentError(
                f"a dict is read as a JSON Schema, and its {key!r} is the type {named}: pass a class, such as\n"
                f"    class Answer(TypedDict): {fields}\n"
                "or a dataclass or a pydantic model; or the schema "
                '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}'
            )


def _read_schema(text: str | bytes) -> Mapping[str, Any] | bool:
    """The schema in a text. Whatever else a text may be meant to be, its error says how to pass that."""
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        found = json.loads(shown)
    except ValueError as error:
        if shown in _WORDS:
            way = f"pass the type {_WORDS[shown].__name__} without quotes"
        elif shown in _MODULES:
            way = f"pass the type {_MODULES[shown]}.{shown} itself, without quotes"
        elif near := nearest(shown, _WORDS, 0.75):
            way = f"did you mean the type {_WORDS[near].__name__}? Pass it without quotes"
        elif re.fullmatch(r"[A-Z]\w*(\.\w+)*|[A-Za-z]\w*\[.*\]|\w+( \| \w+)+", shown):
            way = f"pass the type {shown} itself, without quotes; for choices pass a list of strings"
        elif os.path.exists(shown) or shown.endswith(".json"):
            way = f"it looks like a file's name: pass json.loads(pathlib.Path({shown!r}).read_text())"
        elif shown.lstrip().startswith("{"):
            way = "it begins like a schema, but it is not JSON"
        else:
            way = "for a pattern pass re.compile(...), for choices a list of strings, for free text the type str"
            if _GRAMMAR_BEGINS.match(shown):
                way = f"it looks like a grammar: pass interlock.Grammar(text{_syntax_argument(shown)})"
        short = shown if len(shown) <= 40 else shown[:37] + "..."
        why = f" ({error})" if shown.lstrip().startswith("{") else ""
        raise ArgumentError(f"{short!r} is no JSON Schema{why}: {way}") from error
    if not isinstance(found, Mapping | bool):
        raise ArgumentError(f"{quoted(shown)} is JSON, but a schema is an object or a boolean")
    return found


def _syntax_argument(text: str) -> str:
    syntax = syntax_of(text)
    return "" if syntax == "lark" else f", syntax={syntax!r}"


def _pattern(pattern: re.Pattern[Any]) -> OutputType[str]:
    if isinstance(pattern.pattern, bytes):
        raise ArgumentError("the pattern is one of bytes: write it without the b in front")
    return OutputType("regex", pattern, str, f"a text that matches {pattern.pattern!r}")


def _choices_of(values: Sequence[Any], on_unsupported: str) -> OutputType[Any]:
    if not values:
        raise ArgumentError(
            "there are no choices: the list is empty. Pass the texts to choose from, as in ['yes', 'no']"
        )
    if all(isinstance(value, str) for value in values):
        names = {value: value for value in values}
        return OutputType("choices", tuple(names), _chosen(names), "choices")
    if all(isinstance(value, type) or get_origin(value) is not None for value in values):
        inner = ", ".join(map(name_of, values))
        way = f"list[{inner}]" if len(values) == 1 else f"{' | '.join(map(name_of, values))} or tuple[{inner}]"
        raise ArgumentError(f"a list of types is no type: did you mean {way}?")
    if any(map(inspect.isroutine, values)):
        return _call_of(values, on_unsupported)
    odd = next(value for value in values if not isinstance(value, str))
    if isinstance(odd, Mapping) and (odd.get("type") == "function" or {"parameters", "input_schema"} & odd.keys()):
        raise ArgumentError(
            "these are tools and no output type: gen.tool_loop(prompt, tools, functions={...}) has them called, and "
            "Index.from_tools(tools, vocabulary) is the index of their calls"
        )
    if isinstance(odd, list | tuple | Mapping):
        raise ArgumentError(
            f"choices are strings in one list, and {odd!r} is none: write its texts into the list itself"
        )
    if isinstance(odd, Enum):
        kind = type(odd).__name__
        raise ArgumentError(
            f"choices are strings, and {kind}.{odd.name} is none: pass the class {kind} itself, or a Literal of "
            "members if the class is a str or an int, too"
        )
    raise ArgumentError(
        f"choices are strings, and {odd!r} is none: use Literal[{', '.join(map(repr, values[:3]))}, ...] for other "
        "values"
    )


def _call_of(functions: Sequence[Any], on_unsupported: str) -> OutputType[FunctionCall[Any]]:
    """A call of one of several functions: an object with its name and its arguments."""
    odd = next((one for one in functions if not inspect.isroutine(one)), None)
    if odd is not None:
        raise ArgumentError(f"a list of functions holds functions alone, and {name_of(odd)} is none")
    known: dict[str, Callable[..., Any]] = {}
    for function in functions:
        if function.__name__ in known:
            raise ArgumentError(f"two functions have the name {function.__name__!r}: the model chooses by the name")
        known[function.__name__] = function
    for function in functions if len(functions) > 1 else ():
        # A union leaves out a member that JSON cannot hold, and a function must not be lost in silence.
        if inspect.signature(function).parameters:
            _typed(_arguments_of(function), function.__name__, on_unsupported)
    calls = [
        _typed_dict(
            f"call_of_{name}",
            {"name": Literal[name], "arguments": _arguments_of(function, may_be_none=True)},
        )
        for name, function in known.items()
    ]
    written = _typed(Union[tuple(calls)], f"call of {' or '.join(known)}", on_unsupported)  # noqa: UP007

    def parse(text: str) -> FunctionCall[Any]:
        found = written.parse(text)
        return FunctionCall(found["name"], dict(found["arguments"]), known[found["name"]])

    return dataclasses.replace(written, parse=parse, functions=tuple(known.values()))


def _with_description(output: OutputType[T], text: str | None) -> OutputType[T]:
    """``output`` with a schema that says what a function does: ``describe`` shows it to the model."""
    if not text or not isinstance(output.source, dict):
        return output
    return dataclasses.replace(output, source={"description": text, **output.source})


def _choice_values(hint: Any) -> dict[str, Any] | None:
    """The texts of a ``Literal`` or ``Enum`` of nothing but strings, and what each stands for."""
    if get_origin(hint) is Literal and all(type(value) is str for value in get_args(hint)):
        return {value: value for value in get_args(hint)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        if not len(hint):
            raise ArgumentError(f"{hint.__name__} has no members: there is nothing to choose from")
        if all(isinstance(member.value, str) for member in hint):
            return {member.value: member for member in hint}
    return None


def _chosen(names: Mapping[str, Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return names[text]
        except KeyError:
            raise InvalidOutputError(
                f"{quoted(text)} is none of the choices {shortened(', '.join(map(repr, names)), 300)}", text
            ) from None

    return parse


def _refuse_schema_method(function: Any) -> None:
    """``ArgumentError`` for a method of pydantic that makes a schema, and was not called."""
    owner = getattr(function, "__self__", None)
    if owner is None or not function.__name__.endswith("schema"):
        return
    if getattr(function, "__module__", "").partition(".")[0] != "pydantic":
        return
    if not isinstance(owner, type):
        raise ArgumentError(f"this is the method {function.__name__}, and not the schema: call it, with () behind it")
    name = name_of(owner)
    raise ArgumentError(
        f"this is the method {function.__name__} of {name}, and not the schema: call it, {name}.{function.__name__}(), "
        f"or pass the class {name}, of which values are made"
    )


def _refuse_values(given: Any) -> None:
    """``ArgumentError`` for what is a value where a type is needed, with the type that is probably meant."""
    if isinstance(given, os.PathLike):
        raise ArgumentError(f"{given!s} is a path: pass its content, json.loads(path.read_text())")
    if isinstance(given, set | frozenset):
        raise ArgumentError("choices have an order, and a set has none: pass a list")
    if isinstance(given, int | float | complex):
        raise ArgumentError(f"{given!r} is a value and no type: did you mean {type(given).__name__}?")
    module = type(given).__module__
    bare = next((known for known in _BARE if known is given), None)
    if bare is not None:
        raise ArgumentError(f"{_BARE[bare]} needs a type in brackets, such as {_BARE[bare]}[{_EXAMPLES[bare]}]")
    if isinstance(given, type) and (given.__module__, given.__name__) == ("pydantic.main", "BaseModel"):
        raise ArgumentError("BaseModel itself has no fields: pass a class that is derived from it")
    if isinstance(given, Enum) or hasattr(type(given), "__dataclass_fields__") or hasattr(type(given), "model_fields"):
        raise ArgumentError(f"this is an instance of {type(given).__name__}: pass the class {type(given).__name__}")
    known = (
        given is None
        or isinstance(given, type | typing.TypeVar | typing.NewType)
        or get_origin(given) is not None
        or module in ("typing", "types", "typing_extensions", "pydantic.type_adapter")
    )
    if not known:
        if callable(given):
            raise ArgumentError(
                f"an object of type {type(given).__name__} is called as a function, and has no annotations of its own: "
                "write a function with annotations that calls it (def ...), and pass that"
            )
        raise ArgumentError(
            f"an output type is needed, not an object of type {type(given).__name__}: pass a class, a type such as "
            "list[int], re.compile(...), a list of strings or a JSON Schema"
        )


def _arguments_of(function: Callable[..., Any], may_be_none: bool = False) -> Any:
    """A ``TypedDict`` of a function's parameters; those with a default may be left out."""
    fields: dict[str, Any] = {}
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except NameError as error:
        raise unresolved_parameter(function, error) from error
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{function.__name__} does not say which parameters it has: wrap it in a function"
        ) from error
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ArgumentError(
                f"{function.__name__} cannot be called by names alone: its parameter {parameter} stands in the way. "
                "Wrap it in a function with named, annotated parameters"
            )
        if parameter.annotation is parameter.empty:
            raise ArgumentError(f"the parameter {name!r} of {function.__name__} has no annotation: give it a type")
        hint = parameter.annotation
        fields[name] = hint if parameter.default is parameter.empty else NotRequired[hint]
    if not fields and not may_be_none:
        raise ArgumentError(f"{function.__name__} has no parameters: there is nothing to generate")
    return _typed_dict(function.__name__, fields)


def _typed_dict(name: str, fields: dict[str, Any]) -> Any:
    new_typed_dict: Any = TypedDict
    with contextlib.suppress(ImportError):
        import typing_extensions

        new_typed_dict = typing_extensions.TypedDict  # pydantic takes no other before Python 3.12
    return new_typed_dict(name, fields)
