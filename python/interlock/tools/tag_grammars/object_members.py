"""The members of an object, in order or in any, as rules of a grammar: what all encodings of arguments share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.tools.notations import template
from interlock.tools.spec import nodes
from interlock.tools.tag_grammars.grammar_text import quoted_pattern, written_json
from interlock.tools.tag_grammars.schema_parts import ObjectPart, document, excluding, refuse
from interlock.util.closed_schemas import closed
from interlock.util.json_pointer import escaped

if TYPE_CHECKING:
    from interlock.tools.tag_grammars.tag_grammar import GrammarBuilder

__all__ = ["MOST_UNORDERED", "ObjectMembers", "but_for"]

#: Of more properties than this, any order has too many cases to be written out.
MOST_UNORDERED = 6

_BLANK = "/[ \\t\\r\\n]*/"
#: A member's rule, and whether it must come.
Member = tuple[str, bool]


class ObjectMembers:
    """The rules of objects of one ``json_schema`` of a structural tag. How a member is written is its encoding's."""

    def __init__(self, builder: GrammarBuilder, node: nodes.JsonSchema, pointer: str) -> None:
        self.builder, self.node, self.pointer = builder, node, pointer
        self.style = node.style
        self.schema = closed(node.json_schema) if builder.closed else node.json_schema
        self.place = f"{pointer}/json_schema"
        self.references: dict[str, str] = {}
        self.free: str | None = None
        #: White space may stand between parameters and around values that are no free strings.
        self.is_loose = self.style.whitespace or self.style.line_ends == "optional"
        #: Values between delimiters are told apart for whoever reads the arguments.
        self.reports = builder.inside == "arguments" and node.style.encoding == "tagged"

    def reported(self, name: str, body: str, place: str) -> str:
        """``body``, as a rule whose text is reported under ``name`` where arguments are told apart for their reader."""
        return self.builder.event(name, body, place) if self.reports else body

    def alternatives(self, bodies: Sequence[str], place: str) -> str:
        """The rule of one of ``bodies``; one that matches nothing where there are none."""
        if not bodies:
            return self.nothing(place)
        return self.builder.choice(bodies, place)

    def nothing(self, place: str) -> str:
        """A terminal that matches no text."""
        return self.builder.terminal('"a" & "b"', place)

    def json(self, schema: Any, place: str, excludes: Sequence[str] = ()) -> str:
        """A JSON document of a schema."""
        node = self.node
        asked: dict[str, Any] = {"json_allow_general_unicode_escapes": self.builder.json.any_escapes}
        if node.any_order:
            asked["property_order"] = "any"
        most = self.builder.json.most_whitespace if node.max_whitespace_cnt is None else node.max_whitespace_cnt
        # Where a value of a Python call is JSON, the call stands on one line.
        blank = "[ \\t]" if self.style.values == "json" else "[ \\n\\t\\r]"
        if most is not None or self.style.values == "json":
            asked["whitespace_pattern"] = blank + ("*" if most is None else f"{{0,{most}}}")
        whole = excluding(document(schema, self.schema), excludes)
        if not isinstance(whole, Mapping):
            whole = {} if whole else {"not": {}}
        return self.builder.rule(f"%json {written_json({**whole, 'x-guidance': asked})}", place)

    def object(self, part: ObjectPart, place: str, *, is_root: bool = False) -> str | None:
        """The members of an object; ``None`` where there can be none."""
        tagged = self.style.encoding == "tagged"
        members: list[Member] = []
        required = set(part.required)
        for key, schema in part.properties.items():
            body = None if schema is False else self.member(key, schema, f"{place}/properties/{escaped(key)}", is_root)
            if body is None and key in required:
                return None
            if body is not None:
                members.append((body, key in required))
        for key in sorted(required - set(part.properties)):
            if part.additional is False:
                return None
            body = self.member(key, part.additional, f"{place}/required", is_root)
            if body is None:
                return None
            members.append((body, True))
        others = None
        if part.additional is not False:
            declared = [*part.properties, *sorted(required - set(part.properties))]
            if not self.closes_by_name() or not (declared or part.declares):
                others = self.other_member(part.additional, declared, f"{place}/additionalProperties", is_root)
        separator = "" if tagged else self.separator()
        if self.node.any_order and len(members) + (others is not None) > 1:
            return self.unordered(members, others, separator, place)
        if tagged:
            body = " ".join(name + ("" if needed else "?") for name, needed in members)
            body = f"{body} {others}*".strip() if others else body
            if self.is_loose:
                body = f"{body} {self.blank()}".strip()
            return self.builder.rule(body, place)
        return self.chained(members, others, separator, place)

    def closes_by_name(self) -> bool:
        """Whether the closer of a parameter repeats its name. Only names that are known can be repeated."""
        return self.style.encoding == "tagged" and "key" in template.placeholders(self.style.end)

    def chained(self, members: list[Member], others: str | None, separator: str, place: str) -> str:
        """Members in order with a separator between two of them."""
        rule = self.builder.rule
        more = rule(f"({separator} {others})*" if others else "", place)
        first = rule(f"({others} {more})?" if others else "", place)
        for body, needed in reversed(members):
            more, first = (
                rule(f"{separator} {body} {more}" + ("" if needed else f" | {more}"), place),
                rule(f"{body} {more}" + ("" if needed else f" | {first}"), place),
            )
        return first

    def unordered(self, members: list[Member], others: str | None, separator: str, place: str) -> str:
        """Members in any order, each at most once: a rule for each set of members that came. ``UnsupportedError`` for
        more than ``MOST_UNORDERED``.
        """
        if len(members) > MOST_UNORDERED:
            raise refuse(
                f"more than {MOST_UNORDERED} members in any order have too many cases", f"{self.pointer}/any_order"
            )
        found: dict[tuple[frozenset[int], bool], str] = {}
        needed = {index for index, (_, must) in enumerate(members) if must}

        def behind(used: frozenset[int], any_came: bool) -> str:
            key = (used, any_came)
            if key not in found:
                name = found[key] = self.builder.reserve()
                lead = f"{separator} " if any_came and separator else ""
                bodies = [self.blank() if self.is_loose and not separator else ""] if needed <= used else []
                bodies += [
                    f"{lead}{body} {behind(used | {index}, True)}"
                    for index, (body, _) in enumerate(members)
                    if index not in used
                ]
                bodies += [f"{lead}{others} {behind(used, True)}"] if others else []
                self.builder.define(name, " | ".join(bodies) or self.nothing(place), place)
            return found[key]

        return behind(frozenset(), False)

    def items(self, item: str | None, schema: Mapping[str, Any], separator: str, place: str) -> str:
        """The body of an array's elements within its bounds, without brackets. ``item`` is ``None`` where no element is
        possible.
        """
        least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        if item is None or most == 0:
            return "" if least == 0 else self.nothing(place)
        first = max(least, 1) - 1
        more = f"{{{first},{'' if most is None else int(most) - 1}}}"
        body = f"{item} ({separator} {item}){more}"
        return body if least else f"({body})?"

    def separator(self) -> str:
        """The terminal between two members or elements."""
        return self.builder.terminal("/, ?/" if self.style.encoding == "python" else '","', self.pointer)

    def blank(self) -> str:
        """The terminal of white space that may stand between parts."""
        return self.builder.terminal(_BLANK, self.pointer)

    def quote(self) -> str:
        """The mark that raw strings of the style stand between."""
        return self.builder.literal(self.style.quote)

    def member(self, key: str, schema: Any, place: str, is_root: bool) -> str | None:
        """``key`` with a value; ``None`` where it has none."""
        raise NotImplementedError

    def other_member(self, schema: Any, declared: Sequence[str], place: str, is_root: bool) -> str | None:
        """A member that is not declared."""
        raise NotImplementedError


def but_for(names: Sequence[str]) -> str:
    """Behind a terminal of names: but for these."""
    # Without the parentheses the empty name alone would be a comment.
    return f" & ~/(?:{'|'.join(map(quoted_pattern, names))})/" if names else ""
