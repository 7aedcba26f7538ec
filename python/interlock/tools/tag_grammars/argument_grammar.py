"""The arguments of a call under a schema, in every encoding, as rules of a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from interlock.tools.tag_grammars.bracketed_values import BracketedValues
from interlock.tools.tag_grammars.schema_parts import object_parts
from interlock.tools.tag_grammars.tagged_parameters import TaggedParameters

__all__ = ["ArgumentGrammar"]


class ArgumentGrammar(TaggedParameters, BracketedValues):
    """The rules of one ``json_schema`` of a structural tag."""

    def root(self) -> str:
        """The rule of the arguments as a whole, in the encoding of the style. ``UnsupportedError`` for a schema that
        the encoding cannot write.
        """
        if self.style.encoding == "json":
            return self.json(self.schema, self.place, self.node.excludes)
        parts = object_parts(self.schema, self.schema, self.place)
        bodies = [self.object(part, self.place, is_root=True) for part in parts]
        body = self.alternatives([body for body in bodies if body is not None], self.place)
        if self.style.encoding == "gemma":
            return self.builder.rule(f'"{{" {body} "}}"', self.place)
        if self.style.encoding == "python" or self.style.encoding == "tagged":
            return body
        assert_never(self.style.encoding)

    def member(self, key: str, schema: Any, place: str, is_root: bool) -> str | None:
        """``key`` with a value; ``None`` where it has none."""
        if self.style.encoding == "tagged":
            return self.parameter(key, schema, place)
        return self.named_value(key, schema, place, is_root)

    def other_member(self, schema: Any, declared: Sequence[str], place: str, is_root: bool) -> str | None:
        """A member that is not declared."""
        if self.style.encoding == "tagged":
            return self.other_parameter(schema, declared, place)
        return self.other_named_value(schema, declared, place, is_root)
