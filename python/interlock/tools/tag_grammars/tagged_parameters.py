"""Values between delimiters, as in ``<parameter=city>Rome</parameter>``, as rules of a grammar.

A string stands there as it is, without quotes; other values are JSON, or parameters inside of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.tools.notations import template
from interlock.tools.notations.escapes import escape
from interlock.tools.tag_grammars.event_names import written_event
from interlock.tools.tag_grammars.grammar_text import literal, quoted_pattern
from interlock.tools.tag_grammars.object_members import ObjectMembers, but_for
from interlock.tools.tag_grammars.schema_parts import (
    KINDS,
    ObjectPart,
    combined,
    constants_of,
    document,
    kinds_of,
    object_parts,
    refuse,
    refuse_unwritable,
    says_anything,
)  # fmt: skip
from interlock.tools.tag_grammars.string_grammar import may_hold, raw_string

__all__ = ["TaggedParameters"]


class TaggedParameters(ObjectMembers):
    """The rules of parameters between delimiters: the encoding ``tagged``."""

    def parameter(self, key: str, schema: Any, place: str) -> str | None:
        """The rule of one declared parameter; ``None`` where it can have no value. ``UnsupportedError`` for a name that
        holds what ends names in this style.
        """
        spelled = escape(key, self.style.key_escape)
        for after in template.literal_after(self.style.begin, "key"):
            if after and after in spelled:
                raise refuse(f"the name {key!r} contains {after!r}, which ends a name in this style", place)
        report = ("member", key)
        return self.delimited(self.style.begin, self.style.end, spelled, literal(spelled), schema, place, report)

    def other_parameter(self, schema: Any, declared: Sequence[str], place: str) -> str | None:
        """The rule of a parameter under a name that is not declared; ``None`` where it can have no value.
        ``UnsupportedError`` for a style that repeats names behind values.
        """
        if self.closes_by_name():
            raise refuse(
                "a style that repeats names behind values cannot write names that the schema does not declare",
                place,
            )
        taboo = {"<", ">", "/"} | {after[0] for after in template.literal_after(self.style.begin, "key") if after}
        taboo |= {"&", '"'} if self.style.key_escape != "none" else set()
        one = "[^" + "".join(quoted_pattern(char) for char in sorted(taboo)) + "]"
        entities = {"xml": "|&amp;|&quot;|&lt;|&gt;", "attribute": "|&amp;|&quot;"}.get(self.style.key_escape, "")
        later = one.replace(quoted_pattern("/"), "")
        spelled = [escape(name, self.style.key_escape) for name in declared]
        name = self.builder.terminal(f"/(?:{one}{entities})(?:{later}{entities})*/{but_for(spelled)}", place)
        name = self.reported(written_event("key", self.style.key_escape), name, place)
        return self.delimited(self.style.begin, self.style.end, "", name, schema, place, ("member",))

    def opener(self, begin: str, key: str | None, kind: str) -> str:
        """The delimiter in front of a value. Where ``key`` is a rule of names, it stands in braces."""
        written: list[str] = []
        for piece, text in template.pieces(begin):
            if piece == "text":
                parts = text.split("><") if self.style.whitespace else [text]
                is_cut = self.style.line_ends == "optional"
                parts = text.split("\n") if is_cut else parts
                for index, part in enumerate(parts):
                    if not is_cut:
                        part = ("<" if index else "") + part + (">" if index < len(parts) - 1 else "")
                    written += [self.blank()] if index else []
                    written += [self.builder.literal(part)]
            elif text == "key":
                written.append(str(key))
            else:
                written.append(literal(kind))
        return " ".join(part for part in written if part)

    def delimited(
        self, begin: str, end: str, spelled: str, key: str, schema: Any, place: str, report: tuple[str, ...]
    ) -> str | None:
        """A value between its delimiters. ``report`` is the event that they are, but for what an empty value is."""
        closer = template.fill(end, {"key": spelled}) if "key" in template.placeholders(end) else end
        if self.style.line_ends == "optional":
            begin, closer = begin.rstrip("\n"), closer.strip("\n")
        bodies: list[str] = []
        for kind, kinds in self.type_texts(kinds_of(schema, self.schema), "type" in template.placeholders(begin)):
            value = self.tagged_value(schema, kinds, closer, place)
            if value is not None:
                bodies.append(f"{self.opener(begin, key, kind)} {value} {self.builder.literal(closer)}")
        if not bodies:
            return None
        lead = f"{self.blank()} " if self.is_loose else ""
        body = bodies[0] if len(bodies) == 1 else "(" + " | ".join(bodies) + ")"
        if not self.reports:
            return self.builder.rule(lead + body, place)
        kinds = kinds_of(schema, self.schema)
        empty = next((kind for kind in ("string", "object", "array") if kind in kinds), "null")
        return self.builder.event(written_event(report[0], empty, *report[1:]), lead + body, place)

    def type_texts(self, kinds: set[str], has_type: bool) -> list[tuple[str, set[str]]]:
        """What stands for ``${type}``, and the types of values that it stands for."""
        if not has_type:
            return [("", kinds)]
        found: dict[str, set[str]] = {}
        for kind in KINDS:
            if kind in kinds:
                texts = self.style.types.get(kind, self.style.types.get("other", ""))
                for text in texts if isinstance(texts, list) else [texts]:
                    found.setdefault(str(text), set()).add(kind)
        # A number under its own text may be whole.
        return list(found.items())

    def tagged_value(self, schema: Any, kinds: set[str], closer: str, place: str) -> str | None:
        """A value of one of ``kinds`` in front of ``closer``: a raw string, or JSON."""
        bodies: list[str] = []
        if "string" in kinds:
            is_any = (
                not says_anything(schema)
                and kinds == set(KINDS)
                and not self.style.nested
                and not self.style.string_begin
            )
            bodies += self.raw_strings(schema, closer, place, "any" if is_any else "string")
            if is_any:
                return bodies[0]
        left = kinds - {"string"}
        blank = f"{self.blank()} " if self.is_loose else ""
        if self.style.nested:
            for part, spot in combined(schema, self.schema, place):
                if part is False:
                    continue
                mapping = part if isinstance(part, Mapping) else {}
                own = kinds_of(mapping, self.schema)
                if "object" in left & own:
                    bodies += [self.reported("object", one, spot) for one in self.nested_objects(mapping, part, spot)]
                if "array" in left & own:
                    array = self.reported("array", self.nested_array(mapping, spot), spot)
                    bodies.append(f"{array} {blank}".strip())
            left -= {"object", "array"}
        if self.style.python_words:
            words = self.python_words(schema, left, place)
            bodies += [f"{blank}{self.reported('word', f'({one})', place)} {blank}".strip() for one in words]
        if left:
            asked = schema if isinstance(schema, Mapping) else {}
            only = [kind for kind in KINDS if kind in left and not (kind == "integer" and "number" in left)]
            whole: Any = {"type": only, **asked} if "type" not in asked else {"allOf": [asked], "type": only}
            if schema is not False and (kinds_of(asked, self.schema) & left):
                holds_strings = left & {"object", "array"} and len(self.builder.pieces(closer)) == 1
                plain = document(whole, self.schema)
                excludes = [*self.node.excludes, *([closer] if holds_strings else [])]
                body = self.json(
                    plain,
                    place,
                    [text for text in excludes if isinstance(text, str)] if left & {"object", "array"} else (),
                )
                bodies.append(f"{blank}{self.reported('json', body, place)} {blank}".strip())
        if not bodies:
            return None
        return (
            self.builder.choice([f"{body}" for body in bodies], place)
            if len(bodies) == 1
            else self.builder.rule(" | ".join(bodies), place)
        )

    def python_words(self, schema: Any, kinds: set[str], place: str) -> list[str]:
        """Python's words for values of the schema that JSON writes otherwise."""
        found: dict[str, None] = {}
        for part, _ in combined(schema, self.schema, place):
            mapping = part if isinstance(part, Mapping) else {}
            own = kinds_of(part, self.schema) & kinds if part is not False else set()
            constants = constants_of(mapping)
            values = [True, False, None] if constants is None else constants
            for value in values:
                if (value is None and "null" in own) or (isinstance(value, bool) and "boolean" in own):
                    found[literal(str(value))] = None
        return [" | ".join(found)] if found else []

    def nested_objects(self, mapping: Mapping[str, Any], part: Any, place: str) -> list[str]:
        """The rules of an object inside of a parameter, one for each way in which its members may come."""
        if not says_anything(mapping):
            return [self.free_object(place)]
        found = []
        for one in object_parts(mapping, self.schema, place):
            body = self.guarded(part, place, lambda one=one: self.object(one, place))  # type: ignore[misc]
            if body is not None:
                found.append(body)
        return found

    def guarded(self, schema: Any, place: str, make: Callable[[], str | None]) -> str | None:
        """The rule of a part that may contain itself."""
        key = str(id(schema))
        if key not in self.references:
            name = self.references[key] = self.builder.reserve()
            self.builder.kept.append(schema)
            body = make()
            self.builder.define(name, body if body is not None else self.nothing(place), place)
        return self.references[key]

    def free_object(self, place: str) -> str:
        """Any object inside a parameter."""
        if self.closes_by_name():
            return self.builder.rule(self.blank() if self.style.whitespace else "", place)
        if self.free is None:
            name = self.free = self.builder.reserve()
            body = self.object(ObjectPart({}, frozenset(), True), place)
            self.builder.define(name, body or self.nothing(place), place)
        return self.free

    def nested_array(self, schema: Mapping[str, Any], place: str) -> str:
        """The rule of an array inside of a parameter, whose elements stand between the style's delimiters."""
        key = f"array {id(schema) if says_anything(schema) else 0}"
        if key not in self.references:
            name = self.references[key] = self.builder.reserve()
            self.builder.kept.append(schema)
            refuse_unwritable(schema, place)
            items = schema.get("items", True)
            style = self.style
            item = self.delimited(style.item_begin, style.item_end, "", "", items, f"{place}/items", ("item",))
            self.builder.define(name, self.items(item, schema, "", place), place)
        return self.references[key]

    def raw_strings(self, schema: Any, closer: str, place: str, report: str) -> list[str]:
        """The ways to write a string that is not quoted."""
        style, found = self.style, []
        blank = f"{self.blank()} " if self.is_loose else ""
        closers = [closer, *self.node.excludes]
        is_lined = style.line_ends == "optional" and style.begin.endswith("\n")
        for part, spot in combined(schema, self.schema, place):
            if part is False or "string" not in kinds_of(part, self.schema):
                continue
            mapping = part if isinstance(part, Mapping) else {}
            constants = constants_of(mapping)
            if constants is not None:
                texts = [
                    text for text in constants if isinstance(text, str) and not any(one in text for one in closers)
                ]
                found += [self.constant_string(text, blank, spot) for text in texts]
                continue
            refuse_unwritable(mapping, spot)
            is_tight = bool(blank) and ("pattern" in mapping or "format" in mapping)
            if style.string_begin:
                bare = self.builder.terminal(raw_string(mapping, [*closers, "<", "&", "\n"]), spot)
                inner = self.builder.terminal(raw_string(mapping, [style.string_end, *self.node.excludes]), spot)
                begin, end = self.builder.literal(style.string_begin), self.builder.literal(style.string_end)
                bare, inner = self.reported(report, bare, spot), self.reported(report, inner, spot)
                found.append(f"({bare} | {begin} {inner} {end})")
                continue
            raw = raw_string(mapping, closers)
            body = self.reported(report, self.builder.terminal(raw, spot), spot)
            if is_lined:
                # Between line ends, or without any: then the string has none at its ends.
                inner = f"{raw} & ~/(?:\\n.*|.*\\n)/s" if may_hold(mapping, "\n") else raw
                bare = self.builder.terminal(inner, spot)
                found.append(f'("\\n" {body} "\\n" | {self.reported(report, bare, spot)})')
                continue
            found.append(f"{blank}{body} {blank}".strip() if is_tight else body)
        return found

    def constant_string(self, text: str, blank: str, place: str) -> str:
        """A string that is not quoted, as it is."""
        style = self.style
        inner = self.reported("string", literal(text), place) if text else "()"
        if style.string_begin and set(text) & set("<&\n"):
            return f"{self.builder.literal(style.string_begin)} {inner} {self.builder.literal(style.string_end)}"
        return f"{blank}{inner} {blank}".strip()
