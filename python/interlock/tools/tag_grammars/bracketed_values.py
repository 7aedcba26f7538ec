"""Values as Python and Gemma write them, ``{'city': 'Rome'}`` and ``{city:<escape>Rome<escape>}``, as rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations.argument_writing import json_type
from interlock.tools.tag_grammars.grammar_text import literal, written_json
from interlock.tools.tag_grammars.object_members import ObjectMembers, but_for
from interlock.tools.tag_grammars.schema_parts import (
    combined,
    constants_of,
    kinds_of,
    object_parts,
    refuse,
    refuse_unwritable,
    says_anything,
)  # fmt: skip
from interlock.tools.tag_grammars.string_grammar import python_string, raw_string

__all__ = ["BracketedValues"]

_NUMBER_WORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class BracketedValues(ObjectMembers):
    """The rules of values in the encodings ``python`` and ``gemma``."""

    def named_value(self, key: str, schema: Any, place: str, is_root: bool) -> str | None:
        """``key`` with a value."""
        value = self.value(schema, place)
        if value is None:
            return None
        return self.builder.rule(f"{self.key(key, is_root, place)} {value}", place)

    def other_named_value(self, schema: Any, declared: Sequence[str], place: str, is_root: bool) -> str | None:
        """A value under a name that is not declared."""
        value = self.value(schema, place)
        if value is None:
            return None
        but = but_for(declared)
        if self.style.encoding == "python":
            if is_root:
                name = self.builder.terminal(f"/[A-Za-z_][A-Za-z0-9_]*/{but}", place)
                return self.builder.rule(f'{name} "=" {value}', place)
            names = [
                self.builder.terminal(f"{_quote(mark)} (/[^{mark}\\\\\\n\\r\\x00]*/{but}) {_quote(mark)}", place)
                for mark in "'\""
            ]
            return self.builder.rule(f"({' | '.join(names)}) /: ?/ {value}", place)
        name = self.builder.terminal(f'/[^:,{{}}\\[\\]\\"<> \\n]+/{but}', place)
        return self.builder.rule(f'{name} ":" {value}', place)

    def key(self, key: str, is_root: bool, place: str) -> str:
        """What stands in front of a value: its name with the separator behind it. ``UnsupportedError`` for a name that
        is no keyword argument of Python, where the arguments are those of a call.
        """
        if self.style.encoding == "python":
            if is_root:
                if not key.isidentifier():
                    raise refuse(f"the argument {key!r} cannot be a keyword of a Python call", place)
                return literal(f"{key}=")
            return f"({literal(repr(key))} | {literal(_double(key))}) /: ?/"
        if key and not set(key) & set(':,{}[]"<> \n'):
            return literal(f"{key}:")
        return (
            f"{self.quote()} {literal(key)} {self.quote()} {literal(':')}"
            if key
            else f'{self.quote()} {self.quote()} ":"'
        )

    def value(self, schema: Any, place: str) -> str | None:
        """A value in the encodings ``python`` and ``gemma``."""
        if schema is False:
            return None
        if self.style.values == "json":
            return self.json(schema, place, self.node.excludes)
        if not says_anything(schema):
            return self.free_value(place)
        key = f"value {id(schema)}"
        if key not in self.references:
            name = self.references[key] = self.builder.reserve()
            self.builder.kept.append(schema)
            bodies: list[str] = []
            if isinstance(schema, Mapping) and set(schema) - {"description", "title"} == {"$ref"}:
                target = self._target(schema["$ref"], place)
                bodies = [body] if (body := self.value(target, place)) else []
            else:
                for part, spot in combined(schema, self.schema, place):
                    if part is not False:
                        bodies += self.values_of(part if isinstance(part, Mapping) else {}, spot)
            self.builder.define(name, " | ".join(bodies) or self.nothing(place), place)
        return self.references[key]

    def _target(self, reference: Any, place: str) -> Any:
        from interlock.tools.notations.schema_types import resolved

        return resolved(str(reference), self.schema)

    def free_value(self, place: str) -> str:
        """The rule of any value. It is made once."""
        if self.free is None:
            name = self.free = self.builder.reserve()
            self.builder.define(name, " | ".join(self.values_of({}, place)), place)
        return self.free

    def values_of(self, schema: Mapping[str, Any], place: str) -> list[str]:
        """The ways to write a value of ``schema``, as bodies of rules: its constants, or one for each type that it
        allows.
        """
        constants = constants_of(schema)
        if constants is not None:
            return [self.constant(value, place) for value in constants]
        refuse_unwritable(schema, place)
        kinds, found = kinds_of(schema, self.schema), []
        python = self.style.encoding == "python"
        if "string" in kinds:
            found.append(self.string(schema, place))
        numbers = [kind for kind in ("integer", "number") if kind in kinds]
        if numbers:
            words = {word: schema[word] for word in _NUMBER_WORDS if word in schema}
            found.append(self.builder.rule(f"%json {written_json({'type': numbers[-1], **words})}", place))
        if "boolean" in kinds:
            found += ['"True"', '"False"'] if python else ['"true"', '"false"']
        if "null" in kinds:
            found.append('"None"' if python else '"null"')
        if "object" in kinds:
            found.append(self.braces(schema, place))
        if "array" in kinds:
            inner = self.value(schema.get("items", True), f"{place}/items")
            items = self.items(inner, schema, self.separator(), place)
            found.append(f'"[" {items} "]"')
        return found

    def braces(self, schema: Mapping[str, Any], place: str) -> str:
        """The body of an object's rule, in braces."""
        if self.style.encoding == "python" and self.style.objects == "json":
            return self.json({"allOf": [schema], "type": "object"}, place, self.node.excludes)
        bodies = [self.object(part, place) for part in object_parts(schema, self.schema, place)]
        inner = self.alternatives([body for body in bodies if body is not None], place)
        return f'"{{" {inner} "}}"'

    def string(self, schema: Mapping[str, Any], place: str) -> str:
        """The body of a string's rule: a literal of Python, or raw text between the style's quotes.
        ``UnsupportedError`` for ``excludes`` of Python's strings.
        """
        if self.style.encoding == "python":
            if self.node.excludes:
                raise refuse("excludes of Python's strings cannot be enforced", f"{self.pointer}/excludes")
            return self.builder.terminal(python_string(schema), place)
        closers = [self.style.quote, *self.node.excludes]
        return f"{self.quote()} {self.builder.terminal(raw_string(schema, closers), place)} {self.quote()}"

    def constant(self, value: Any, place: str) -> str:
        """The body of a rule that matches this value alone. ``UnsupportedError`` for one that the notation cannot
        write.
        """
        if self.style.encoding == "python":
            if isinstance(value, str):
                return f"({literal(repr(value))} | {literal(_double(value))})"
            if isinstance(value, Mapping) and self.style.objects == "json":
                return self.json({"const": value}, place)
            return literal(repr(value))
        from interlock.tools.notations.argument_writing import _gemma

        try:
            written = _gemma(self.style, value)
        except ToolFormatError as error:
            raise refuse(str(error), place) from error
        if json_type(value) == "string":
            return " ".join(part for part in (self.quote(), literal(value) if value else "", self.quote()) if part)
        return self.builder.literal(written)


def _quote(mark: str) -> str:
    return '"\\""' if mark == '"' else f'"{mark}"'


def _double(text: str) -> str:
    """A string of Python between double quotes."""
    return '"' + repr("'" + text)[2:-1].replace("\\'", "'").replace('"', '\\"') + '"' if '"' not in text else repr(text)
