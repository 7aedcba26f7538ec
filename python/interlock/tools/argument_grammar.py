"""Values and arguments under a schema, in every encoding, as rules of a grammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.tools import template
from interlock.tools.argument_writing import json_type
from interlock.tools.errors import ToolFormatError
from interlock.tools.escapes import escape
from interlock.tools.event_names import written_event
from interlock.tools.grammar_text import literal, quoted_pattern, written_json
from interlock.tools.schema_parts import (
    KINDS, ObjectPart, closed, combined, document, excluding, kinds_of, object_parts, refuse,
)  # fmt: skip
from interlock.tools.spec import nodes
from interlock.tools.string_grammar import python_string, raw_string

if TYPE_CHECKING:
    from interlock.tools.tag_grammar import GrammarBuilder

__all__ = ["ArgumentGrammar"]

#: Of more properties than this, any order has too many cases to be written out.
MOST_UNORDERED = 6

_NUMBER_WORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_BLANK = "/[ \\t\\r\\n]*/"
#: A member's rule, and whether it must come.
Member = tuple[str, bool]


class ArgumentGrammar:
    """The rules of one ``json_schema`` of a structural tag."""

    def __init__(self, builder: GrammarBuilder, node: nodes.JsonSchema, pointer: str) -> None:
        self.builder, self.node, self.pointer = builder, node, pointer
        self.style = node.style
        self.schema = closed(node.json_schema) if builder.closed else node.json_schema
        self.place = f"{pointer}/json_schema"
        self.references: dict[str, str] = {}
        self.free: str | None = None
        #: Values between delimiters are told apart for whoever reads the arguments.
        self.reports = builder.inside == "arguments" and node.style.encoding == "tagged"

    def reported(self, name: str, body: str, place: str) -> str:
        return self.builder.event(name, body, place) if self.reports else body

    def root(self) -> str:
        if self.style.encoding == "json":
            return self.json(self.schema, self.place, self.node.excludes)
        parts = object_parts(self.schema, self.schema, self.place)
        bodies = [self.object(part, self.place, is_root=True) for part in parts]
        body = self.alternatives([body for body in bodies if body is not None], self.place)
        return self.builder.rule(f'"{{" {body} "}}"', self.place) if self.style.encoding == "gemma" else body

    def alternatives(self, bodies: Sequence[str], place: str) -> str:
        if not bodies:
            return self.nothing(place)
        return self.builder.choice(bodies, place)

    def nothing(self, place: str) -> str:
        """A terminal that matches no text."""
        return self.builder.terminal('"a" & "b"', place)

    # --- JSON ---------------------------------------------------------------------------------------------------

    def json(self, schema: Any, place: str, excludes: Sequence[str] = ()) -> str:
        """A JSON document of a schema."""
        node = self.node
        asked: dict[str, Any] = {"json_allow_general_unicode_escapes": self.builder.json.any_escapes}
        if node.any_order:
            asked["property_order"] = "any"
        most = self.builder.json.most_whitespace if node.max_whitespace_cnt is None else node.max_whitespace_cnt
        if most is not None:
            asked["whitespace_pattern"] = f"[ \\n\\t\\r]{{0,{most}}}"
        whole = excluding(document(schema, self.schema), excludes)
        if not isinstance(whole, Mapping):
            whole = {} if whole else {"not": {}}
        return self.builder.rule(f"%json {written_json({**whole, 'x-guidance': asked})}", place)

    # --- objects ------------------------------------------------------------------------------------------------

    def object(self, part: ObjectPart, place: str, *, is_root: bool = False) -> str | None:
        """The members of an object; ``None`` where there can be none."""
        tagged = self.style.encoding == "tagged"
        members: list[Member] = []
        required = set(part.required)
        for key, schema in part.properties.items():
            body = None if schema is False else self.member(key, schema, f"{place}/properties/{_step(key)}", is_root)
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
            if self.style.whitespace:
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
                bodies = [self.blank() if self.style.whitespace and not separator else ""] if needed <= used else []
                bodies += [
                    f"{lead}{body} {behind(used | {index}, True)}"
                    for index, (body, _) in enumerate(members)
                    if index not in used
                ]
                bodies += [f"{lead}{others} {behind(used, True)}"] if others else []
                self.builder.define(name, " | ".join(bodies) or self.nothing(place), place)
            return found[key]

        return behind(frozenset(), False)

    def separator(self) -> str:
        return self.builder.terminal("/, ?/" if self.style.encoding == "python" else '","', self.pointer)

    def blank(self) -> str:
        return self.builder.terminal(_BLANK, self.pointer)

    def member(self, key: str, schema: Any, place: str, is_root: bool) -> str | None:
        """``key`` with a value."""
        if self.style.encoding == "tagged":
            return self.parameter(key, schema, place)
        value = self.value(schema, place)
        if value is None:
            return None
        return self.builder.rule(f"{self.key(key, is_root, place)} {value}", place)

    def key(self, key: str, is_root: bool, place: str) -> str:
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

    def quote(self) -> str:
        return self.builder.literal(self.style.quote)

    def other_member(self, schema: Any, declared: Sequence[str], place: str, is_root: bool) -> str | None:
        """A member that is not declared."""
        encoding = self.style.encoding
        if encoding == "tagged":
            return self.other_parameter(schema, declared, place)
        value = self.value(schema, place)
        if value is None:
            return None
        but = _but(declared)
        if encoding == "python":
            if is_root:
                name = self.builder.terminal(f"/[A-Za-z_][A-Za-z0-9_]*/{but}", place)
                return self.builder.rule(f'{name} "=" {value}', place)
            names = [
                self.builder.terminal(f"{_quote(mark)} (/[^{mark}\\\\\\n\\r]*/{but}) {_quote(mark)}", place)
                for mark in "'\""
            ]
            return self.builder.rule(f"({' | '.join(names)}) /: ?/ {value}", place)
        name = self.builder.terminal(f'/[^:,{{}}\\[\\]\\"<> \\n]+/{but}', place)
        return self.builder.rule(f'{name} ":" {value}', place)

    # --- parameters between delimiters --------------------------------------------------------------------------

    def opener(self, begin: str, key: str | None, kind: str) -> str:
        """The delimiter in front of a value. Where ``key`` is a rule of names, it stands in braces."""
        written: list[str] = []
        for piece, text in template.pieces(begin):
            if piece == "text":
                parts = text.split("><") if self.style.whitespace else [text]
                for index, part in enumerate(parts):
                    part = ("<" if index else "") + part + (">" if index < len(parts) - 1 else "")
                    written += [self.blank()] if index else []
                    written += [self.builder.literal(part)]
            elif text == "key":
                written.append(str(key))
            else:
                written.append(literal(kind))
        return " ".join(part for part in written if part)

    def parameter(self, key: str, schema: Any, place: str) -> str | None:
        spelled = escape(key, self.style.key_escape)
        for after in template.literal_after(self.style.begin, "key"):
            if after and after in spelled:
                raise refuse(f"the name {key!r} contains {after!r}, which ends a name in this style", place)
        report = ("member", key)
        return self.delimited(self.style.begin, self.style.end, spelled, literal(spelled), schema, place, report)

    def other_parameter(self, schema: Any, declared: Sequence[str], place: str) -> str | None:
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
        name = self.builder.terminal(f"/(?:{one}{entities})(?:{later}{entities})*/{_but(spelled)}", place)
        name = self.reported(written_event("key", self.style.key_escape), name, place)
        return self.delimited(self.style.begin, self.style.end, "", name, schema, place, ("member",))

    def delimited(
        self, begin: str, end: str, spelled: str, key: str, schema: Any, place: str, report: tuple[str, ...]
    ) -> str | None:
        """A value between its delimiters. ``report`` is the event that they are, but for what an empty value is."""
        closer = template.fill(end, {"key": spelled}) if "key" in template.placeholders(end) else end
        bodies: list[str] = []
        for kind, kinds in self.type_texts(kinds_of(schema, self.schema), "type" in template.placeholders(begin)):
            value = self.tagged_value(schema, kinds, closer, place)
            if value is not None:
                bodies.append(f"{self.opener(begin, key, kind)} {value} {self.builder.literal(closer)}")
        if not bodies:
            return None
        lead = f"{self.blank()} " if self.style.whitespace else ""
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
                not _says_anything(schema)
                and kinds == set(KINDS)
                and not self.style.nested
                and not self.style.string_begin
            )
            bodies += self.raw_strings(schema, closer, place, "any" if is_any else "string")
            if is_any:
                return bodies[0]
        left = kinds - {"string"}
        blank = f"{self.blank()} " if self.style.whitespace else ""
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

    def nested_objects(self, mapping: Mapping[str, Any], part: Any, place: str) -> list[str]:
        if not _says_anything(mapping):
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
        key = f"array {id(schema) if _says_anything(schema) else 0}"
        if key not in self.references:
            name = self.references[key] = self.builder.reserve()
            self.builder.kept.append(schema)
            _only_known(schema, place)
            items = schema.get("items", True)
            style = self.style
            item = self.delimited(style.item_begin, style.item_end, "", "", items, f"{place}/items", ("item",))
            self.builder.define(name, self.items(item, schema, "", place), place)
        return self.references[key]

    def items(self, item: str | None, schema: Mapping[str, Any], separator: str, place: str) -> str:
        least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        if item is None or most == 0:
            return "" if least == 0 else self.nothing(place)
        first = max(least, 1) - 1
        more = f"{{{first},{'' if most is None else int(most) - 1}}}"
        body = f"{item} ({separator} {item}){more}"
        return body if least else f"({body})?"

    def raw_strings(self, schema: Any, closer: str, place: str, report: str) -> list[str]:
        """The ways to write a string that is not quoted."""
        style, found = self.style, []
        blank = f"{self.blank()} " if style.whitespace else ""
        closers = [closer, *self.node.excludes]
        for part, spot in combined(schema, self.schema, place):
            if part is False or "string" not in kinds_of(part, self.schema):
                continue
            mapping = part if isinstance(part, Mapping) else {}
            constants = _constants(mapping)
            if constants is not None:
                texts = [
                    text for text in constants if isinstance(text, str) and not any(one in text for one in closers)
                ]
                found += [self.constant_string(text, blank, spot) for text in texts]
                continue
            _only_known(mapping, spot)
            is_tight = bool(blank) and ("pattern" in mapping or "format" in mapping)
            if style.string_begin:
                bare = self.builder.terminal(raw_string(mapping, spot, [*closers, "<", "&", "\n"]), spot)
                inner = self.builder.terminal(raw_string(mapping, spot, [style.string_end, *self.node.excludes]), spot)
                begin, end = self.builder.literal(style.string_begin), self.builder.literal(style.string_end)
                bare, inner = self.reported(report, bare, spot), self.reported(report, inner, spot)
                found.append(f"({bare} | {begin} {inner} {end})")
                continue
            body = self.reported(report, self.builder.terminal(raw_string(mapping, spot, closers), spot), spot)
            found.append(f"{blank}{body} {blank}".strip() if is_tight else body)
        return found

    def constant_string(self, text: str, blank: str, place: str) -> str:
        """A string that is not quoted, as it is."""
        style = self.style
        inner = self.reported("string", literal(text), place) if text else "()"
        if style.string_begin and set(text) & set("<&\n"):
            return f"{self.builder.literal(style.string_begin)} {inner} {self.builder.literal(style.string_end)}"
        return f"{blank}{inner} {blank}".strip()

    # --- values between brackets: Python and Gemma --------------------------------------------------------------

    def value(self, schema: Any, place: str) -> str | None:
        """A value in the encodings ``python`` and ``gemma``."""
        if schema is False:
            return None
        if not _says_anything(schema):
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
        from interlock.tools.schema_types import resolved

        return resolved(str(reference), self.schema)

    def free_value(self, place: str) -> str:
        if self.free is None:
            name = self.free = self.builder.reserve()
            self.builder.define(name, " | ".join(self.values_of({}, place)), place)
        return self.free

    def values_of(self, schema: Mapping[str, Any], place: str) -> list[str]:
        constants = _constants(schema)
        if constants is not None:
            return [self.constant(value, place) for value in constants]
        _only_known(schema, place)
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
        if self.style.encoding == "python" and self.style.objects == "json":
            return self.json({"allOf": [schema], "type": "object"}, place, self.node.excludes)
        bodies = [self.object(part, place) for part in object_parts(schema, self.schema, place)]
        inner = self.alternatives([body for body in bodies if body is not None], place)
        return f'"{{" {inner} "}}"'

    def string(self, schema: Mapping[str, Any], place: str) -> str:
        if self.style.encoding == "python":
            if self.node.excludes:
                raise refuse("excludes of Python's strings cannot be enforced", f"{self.pointer}/excludes")
            return self.builder.terminal(python_string(schema, place), place)
        closers = [self.style.quote, *self.node.excludes]
        return f"{self.quote()} {self.builder.terminal(raw_string(schema, place, closers), place)} {self.quote()}"

    def constant(self, value: Any, place: str) -> str:
        if self.style.encoding == "python":
            if isinstance(value, str):
                return f"({literal(repr(value))} | {literal(_double(value))})"
            if isinstance(value, Mapping) and self.style.objects == "json":
                return self.json({"const": value}, place)
            return literal(repr(value))
        from interlock.tools.argument_writing import _gemma

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


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _but(names: Sequence[str]) -> str:
    """Behind a terminal of names: but for these."""
    return f" & ~/{'|'.join(map(quoted_pattern, names))}/" if names else ""


def _constants(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if isinstance(schema.get("enum"), list) else None


def _says_anything(schema: Any) -> bool:
    """Whether a schema constrains a value at all."""
    notes = {"title", "description", "default", "examples", "$comment", "deprecated", "x-guidance"}
    return isinstance(schema, Mapping) and bool(set(schema) - notes)


def _only_known(schema: Mapping[str, Any], place: str) -> None:
    for word in ("not", "if", "prefixItems", "uniqueItems", "contains", "unevaluatedItems"):
        if schema.get(word, False) is not False:
            raise refuse(f"{word} of a value that is no JSON cannot be enforced", f"{place}/{word}")
