"""The keywords of JSON Schema that apply other schemas: to members, to elements, and to the value itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from interlock.explain.document import Member, Node
from interlock.explain.references import Place, enter
from interlock.explain.validator import Outcome, Problem, Step
from interlock.explain.wording import ARTICLES, brief_literal, either, listed, literal, shown, subject
from interlock.util.json_pointer import escaped
from interlock.util.near_words import nearest
from interlock.util.plurals import are, counted
from interlock.util.quoting import shortened

Rule = Callable[[Step, Any], None]


# Objects.


def _properties(step: Step, schemas: Any) -> None:
    if step.node.kind != "object" or not isinstance(schemas, dict):
        return
    for member in step.node.members:
        if member.key in schemas:
            step.out.keys.add(member.key)
            _inside(step, member, schemas[member.key], "properties", member.key)


def _inside(step: Step, member: Member, schema: Any, *parts: str) -> None:
    found = step.inside(member.value, member.key, schema, *parts)
    step.out.problems += found.problems
    step.out.unsure |= found.unsure


def _matching(step: Step, member: Member) -> Iterable[str]:
    patterns = step.schema.get("patternProperties") if step.has("patternProperties") else None
    for pattern in patterns if isinstance(patterns, dict) else ():
        answer = step.all.oracle({"type": "string", "pattern": pattern}, json.dumps(member.key))
        if answer is None:
            step.out.unsure = True
        elif answer:
            yield pattern


def _pattern_properties(step: Step, schemas: Any) -> None:
    if step.node.kind != "object" or not isinstance(schemas, dict):
        return
    for member in step.node.members:
        for pattern in _matching(step, member):
            step.out.keys.add(member.key)
            _inside(step, member, schemas[pattern], "patternProperties", pattern)


def _additional_properties(step: Step, schema: Any) -> None:
    if step.node.kind != "object":
        return
    named = step.schema.get("properties", {}) if step.has("properties") else {}
    for member in step.node.members:
        if member.key in named or any(True for _ in _matching(step, member)):
            continue
        step.out.keys.add(member.key)
        if schema is False:
            _no_property(step, member, "additionalProperties", list(named))
        else:
            _inside(step, member, schema, "additionalProperties")


def _no_property(step: Step, member: Member, keyword: str, names: list[str]) -> None:
    patterns = list(step.schema.get("patternProperties", {})) if step.has("patternProperties") else []
    allowed = listed(names + [f"keys that match {pattern}" for pattern in patterns])
    where = f" in {subject(step.pointer)}" if step.pointer else " here"
    message = f"`{member.key}` is no property{where}" + (f"; allowed: {allowed}" if allowed else "; none is allowed")
    given = {m.key for m in step.node.members}
    near = nearest(member.key, [name for name in names if name not in given], 0.7)
    hint = f"did you mean {near}?" if near else ""
    pointer = f"{step.pointer}/{escaped(member.key)}"
    until = step.node.end if keyword == "unevaluatedProperties" else member.value.end
    step.span(keyword, message, member.start, member.end, hint, pointer, until)


def _property_names(step: Step, schema: Any) -> None:
    if step.node.kind != "object":
        return
    for member in step.node.members:
        key = Node("string", member.start, member.end, member.key)
        found = step.inside(key, member.key, schema, "propertyNames")
        step.out.unsure |= found.unsure
        named = subject(f"{step.pointer}/{escaped(member.key)}")
        for p in found.problems:
            step.out.problems.append(replace(p, message=p.message.replace(named, f"the key `{member.key}`", 1)))


def _missing(step: Step, keyword: str, name: str, why: str) -> None:
    where = f" in {subject(step.pointer)}" if step.pointer else ""
    start = step.node.start
    step.span(keyword, f"`{name}` is missing{where}; {why}", start, start + 1, until=step.node.end, missing=(name,))


def _required(step: Step, names: Any) -> None:
    if step.node.kind != "object" or not isinstance(names, list):
        return
    given = {member.key for member in step.node.members}
    for name in names:
        if name not in given:
            _missing(step, "required", name, "it is required")


def _dependent_required(step: Step, dependents: Any, keyword: str = "dependentRequired") -> None:
    if step.node.kind != "object" or not isinstance(dependents, dict):
        return
    given = {member.key for member in step.node.members}
    for key, names in dependents.items():
        for name in names if isinstance(names, list) and key in given else ():
            if name not in given:
                _missing(step, keyword, name, f"`{key}` requires it ({keyword})")


def _dependent_schemas(step: Step, schemas: Any, keyword: str = "dependentSchemas") -> None:
    if step.node.kind != "object" or not isinstance(schemas, dict):
        return
    given = {member.key for member in step.node.members}
    for key, schema in schemas.items():
        if key in given and isinstance(schema, (dict, bool)):
            step.out.add(_late(step, step.below(schema, keyword, key)))


def _late(step: Step, out: Outcome) -> Outcome:
    """Problems that depend on something else in the value: until its end they might not have counted."""
    out.problems = [replace(p, until=max(p.until, step.node.end)) for p in out.problems]
    return out


def _dependencies(step: Step, either_kind: Any) -> None:
    _dependent_required(step, either_kind, "dependencies")
    _dependent_schemas(step, either_kind, "dependencies")


# Arrays.


def _elements(step: Step, schema: Any, begin: int, *parts: str | int) -> None:
    for i in range(begin, len(step.node.items)):
        step.out.items.add(i)
        found = step.inside(step.node.items[i], i, schema, *parts)
        step.out.problems += found.problems
        step.out.unsure |= found.unsure


def _prefix(step: Step, schemas: list[Any], keyword: str) -> None:
    for i, (node, schema) in enumerate(zip(step.node.items, schemas)):
        step.out.items.add(i)
        found = step.inside(node, i, schema, keyword, i)
        step.out.problems += found.problems
        step.out.unsure |= found.unsure


def _prefix_items(step: Step, schemas: Any) -> None:
    if step.node.kind == "array" and isinstance(schemas, list):
        _prefix(step, schemas, "prefixItems")


def _beyond(step: Step, schema: Any, begin: int, keyword: str) -> None:
    if schema is not False:
        _elements(step, schema, begin, keyword)
        return
    for i in range(begin, len(step.node.items)):
        step.out.items.add(i)
    if len(step.node.items) > begin:
        last = step.node.items[-1].end
        has = counted(len(step.node.items), "element")
        message = f"{step.subject} has {has}; at most {begin} {are(begin)} allowed ({keyword})"
        step.span(keyword, message, step.node.items[begin].start, last, until=last)


def _items(step: Step, schema: Any) -> None:
    if step.node.kind != "array":
        return
    if isinstance(schema, list):
        _prefix(step, schema, "items")
        return
    prefix = step.schema.get("prefixItems") if step.has("prefixItems") else None
    _beyond(step, schema, len(prefix) if isinstance(prefix, list) else 0, "items")


def _additional_items(step: Step, schema: Any) -> None:
    prefix = step.schema.get("items")
    if step.node.kind == "array" and isinstance(prefix, list):
        _beyond(step, schema, len(prefix), "additionalItems")


def _contains(step: Step, schema: Any) -> None:
    if step.node.kind != "array":
        return
    found = [step.inside(node, i, schema, "contains") for i, node in enumerate(step.node.items)]
    if any(out.unsure for out in found):
        step.out.unsure = True
        return
    matching = [i for i, out in enumerate(found) if not out.problems]
    if step.all.contains_evaluates:
        step.out.items.update(matching)
    least = step.schema.get("minContains") if step.has("minContains") else None
    most = step.schema.get("maxContains") if step.has("maxContains") else None
    least = least if isinstance(least, Decimal) else Decimal(1)
    fit = "that fits" if len(matching) == 1 else "that fit"
    has = f"{step.subject} has {counted(len(matching), 'element')} {fit} `contains`"
    if len(matching) < least:
        start = step.node.start
        keyword = "contains" if least == 1 else "minContains"
        step.span(keyword, f"{has}; at least {least} {are(least)} required", start, start + 1, until=step.node.end)
    if isinstance(most, Decimal) and len(matching) > most:
        step.problem("maxContains", f"{has}; at most {most} {are(most)} allowed", step.node.items[matching[int(most)]])


def _unique(step: Step, wanted: Any) -> None:
    if step.node.kind != "array" or wanted is not True:
        return
    seen: dict[Any, int] = {}
    for i, node in enumerate(step.node.items):
        if (value := _hashable(node)) is not None and (j := seen.setdefault(value, i)) < i:
            first, second = (subject(f"{step.pointer}/{n}") for n in (j, i))
            written = shown(step.all.text, node)
            step.problem("uniqueItems", f"{second} repeats {first} ({written}); elements must differ", node)


def _hashable(node: Node) -> Any:
    """What is equal for equal values alone; ``None`` where a number is too large to tell."""
    if node.kind == "array":
        items = tuple(map(_hashable, node.items))
        return None if None in items else (node.kind, items)
    if node.kind == "object":
        members = {member.key: _hashable(member.value) for member in node.members}
        return None if None in members.values() else (node.kind, frozenset(members.items()))
    return None if node.kind == "number" and node.value is None else (node.kind, node.value)


# The value itself.


def _all_of(step: Step, schemas: Any) -> None:
    for i, schema in enumerate(schemas if isinstance(schemas, list) else ()):
        step.out.add(step.below(schema, "allOf", i))


def _alternatives(step: Step, schemas: Any, keyword: str) -> list[Outcome] | None:
    """What each alternative says, unless none fits: then that is said, in the words of the nearest one."""
    found = [_late(step, step.below(schema, keyword, i)) for i, schema in enumerate(schemas)]
    fitting = [out for out in found if not out.problems]
    for out in fitting:
        step.out.take(out)
    if fitting:
        return found
    kinds = [_type_at_fault(step, schema, out) for schema, out in zip(schemas, found)]
    if found and all(kinds):
        names = list(dict.fromkeys(name for names in kinds for name in names))
        wanted = either([ARTICLES.get(name, name) for name in names])
        step.problem(keyword, f"{step.subject}: {wanted} is expected, not {step.given}")
        return None
    if len(found) > 1 and (tag := _tag(step, schemas, found)):
        step.out.problems.append(tag)
        return None
    ranked = sorted(range(len(found)), key=lambda i: _distance(step, found[i]))
    best = found[ranked[0]]
    clear = len(found) == 1 or _distance(step, found[ranked[1]])[:2] > _distance(step, best)[:2]
    if clear:
        note = f"nearest of {len(found)} alternatives ({keyword})" if len(found) > 1 else ""
        step.out.problems += [replace(p, hint=p.hint or note) for p in best.problems]
        return None
    near = [i for i in ranked if _distance(step, found[i])[:2] == _distance(step, best)[:2]]
    reasons = [f"{i + 1}: {shortened(found[i].problems[0].message, 90)}" for i in sorted(near)[:4]]
    more = f"; and {len(found) - len(reasons)} more" if len(found) > len(reasons) else ""
    message = f"{step.subject} fits none of {len(found)} alternatives ({keyword}): " + "; ".join(reasons) + more
    step.problem(keyword, message)
    return None


def _tag(step: Step, schemas: list[Any], found: list[Outcome]) -> Problem | None:
    """What to say where one member, a constant in each alternative, tells them apart, and fits none."""
    depth = step.pointer.count("/") + 1
    tags = [
        {p.pointer: p for p in out.problems if p.keyword == "const" and p.pointer.count("/") == depth} for out in found
    ]
    for pointer, problem in tags[0].items():
        if all(pointer in other for other in tags):
            key = pointer.rpartition("/")[2]
            values = [schema.get("properties", {}).get(key, {}) for schema in schemas if isinstance(schema, dict)]
            constants = [value["const"] for value in values if isinstance(value, dict) and "const" in value]
            if len(constants) == len(found):
                allowed = listed([brief_literal(value) for value in constants])
                written = step.all.text[problem.start : problem.end]
                strings = [value for value in constants if isinstance(value, str)]
                near = nearest(written.strip('"'), strings, 0.7)
                message = f"{subject(pointer)}: {shortened(written)} fits no alternative; allowed: {allowed}"
                return replace(problem, message=message, hint=f"did you mean {brief_literal(near)}?" if near else "")
    return None


def _type_at_fault(step: Step, schema: Any, out: Outcome) -> list[str]:
    """The types that an alternative asks for, if it is the type that it refuses."""
    if any(p.keyword == "type" and p.pointer == step.pointer for p in out.problems) and isinstance(schema, dict):
        names = schema.get("type")
        return [str(n) for n in names] if isinstance(names, list) else [str(names)] if names else []
    return []


def _distance(step: Step, out: Outcome) -> tuple[int, int, int]:
    """How far an alternative is from the value: another type or constant here, a constant of a member, problems."""
    here = [p for p in out.problems if p.pointer == step.pointer and p.keyword in ("type", "const", "enum", "")]
    depth = step.pointer.count("/") + 1
    tags = [p for p in out.problems if p.keyword in ("const", "enum") and p.pointer.count("/") == depth]
    return len(here), len(tags), len(out.problems)


def _any_of(step: Step, schemas: Any) -> None:
    if isinstance(schemas, list):
        _alternatives(step, schemas, "anyOf")


def _one_of(step: Step, schemas: Any) -> None:
    found = _alternatives(step, schemas, "oneOf") if isinstance(schemas, list) else None
    if found is None:
        return
    fitting = [i + 1 for i, out in enumerate(found) if not out.problems and not out.unsure]
    if any(out.unsure for out in found):
        step.out.unsure = True
    if len(fitting) > 1:
        numbers = " and ".join(map(str, fitting))
        step.problem("oneOf", f"{step.subject} fits alternatives {numbers}; exactly one may fit (oneOf)")


def _not(step: Step, schema: Any) -> None:
    out = step.below(schema, "not")
    if out.unsure:
        step.out.unsure = True
    elif not out.problems:
        step.problem("not", f"{step.subject}: {step.written} is what `not` excludes: {_brief(schema)}")


def _brief(schema: Any) -> str:
    return shortened(literal(schema), 80)


def _if(step: Step, schema: Any) -> None:
    out = step.below(schema, "if")
    if out.unsure:
        step.out.unsure = True
        return
    if not out.problems:
        step.out.take(out)
    branch = "else" if out.problems else "then"
    if step.has(branch):
        taken = _late(step, step.below(step.schema[branch], branch))
        note = f"asked for by `{branch}`, since `if` {'does not fit' if out.problems else 'fits'}"
        taken.problems = [replace(p, hint=p.hint or note) for p in taken.problems]
        step.out.add(taken)


def _reference(step: Step, name: Any, keyword: str = "$ref") -> None:
    if not isinstance(name, str):
        return
    found = None
    if keyword != "$ref":
        anchor = name.partition("#")[2]
        static = step.all.references.find(name, step.place)
        uri = f"{static[1].base}#{anchor}" if static else ""
        if uri in step.all.references.dynamic:
            found = step.all.references.find_dynamic(anchor, step.scope)
    found = found or step.all.references.find(name, step.place)
    if found is None:
        text = step.all.text[step.node.start : step.node.end]
        draft = step.all.schema.get("$schema") if isinstance(step.all.schema, dict) else None
        answer = step.all.oracle({keyword: name} | ({"$schema": draft} if draft else {}), text)
        if answer is None:
            step.out.unsure = True
        elif not answer:
            step.problem(keyword, f"{step.subject} does not fit the schema {name}")
        return
    schema, place = found
    step.out.add(step.all.check(step.node, step.pointer, schema, place, step.scope))


def _dynamic(step: Step, name: Any) -> None:
    _reference(step, name, "$dynamicRef")


def _recursive(step: Step, name: Any) -> None:
    _reference(step, name, "$recursiveRef")


# What nothing else has looked at; last of all.


def _here(step: Step) -> list[Problem]:
    return [p for p in step.out.problems if p.pointer == step.pointer]


_HOW_MANY = ("required", "dependentRequired", "minProperties", "maxProperties")
"""Keywords that look at no key's value: where they fail, the same keys are evaluated as where they hold."""


def _only_keys_are_missing(step: Step) -> bool:
    """Whether nothing is wrong with the object itself but which keys it has, by schemas that apply to it anyway. Where
    an alternative fails, another could have evaluated more keys.
    """
    found = _here(step)
    places = {str(place) for place in _applied(step, step.schema, step.place, 0)} if found else set()
    return all(p.keyword in _HOW_MANY and p.schema.rpartition("/")[0] in places for p in found)


def _applied(step: Step, schema: Any, place: Place, depth: int) -> Iterator[Place]:
    """The places of a schema and of those that it applies to the same value, whatever that is."""
    if not isinstance(schema, dict) or depth > 8:
        return
    place = enter(schema, place)
    yield place
    for i, part in enumerate(schema.get("allOf", [])):
        yield from _applied(step, part, place.at("allOf", i), depth + 1)
    if isinstance(name := schema.get("$ref"), str) and (found := step.all.references.find(name, place)):
        yield from _applied(step, *found, depth + 1)


def _unevaluated_properties(step: Step, schema: Any) -> None:
    if step.node.kind != "object" or step.out.unsure or not _only_keys_are_missing(step):
        return
    for member in step.node.members:
        if member.key in step.out.keys:
            continue
        if schema is False:
            _no_property(step, member, "unevaluatedProperties", sorted(_named(step, step.schema, 0)))
        else:
            found = _late(step, step.inside(member.value, member.key, schema, "unevaluatedProperties"))
            step.out.problems += found.problems
            step.out.unsure |= found.unsure
        step.out.keys.add(member.key)


def _named(step: Step, schema: Any, depth: int) -> set[str]:
    """The names of properties that a schema mentions for this value."""
    if not isinstance(schema, dict) or depth > 8:
        return set()
    names = set(schema.get("properties", {}))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, []):
            names |= _named(step, part, depth + 1)
    for keyword in ("if", "then", "else"):
        names |= _named(step, schema.get(keyword), depth + 1)
    if isinstance(name := schema.get("$ref"), str) and (found := step.all.references.find(name, step.place)):
        names |= _named(step, found[0], depth + 1)
    return names


def _unevaluated_items(step: Step, schema: Any) -> None:
    if step.node.kind != "array" or step.out.unsure or _here(step):
        return
    for i, node in enumerate(step.node.items):
        if i in step.out.items:
            continue
        found = _late(step, step.inside(node, i, schema, "unevaluatedItems"))
        if schema is False:
            message = f"{subject(f'{step.pointer}/{i}')}: no such element is allowed here"
            step.span("unevaluatedItems", message, node.start, node.end, until=step.node.end)
        else:
            step.out.problems += found.problems
            step.out.unsure |= found.unsure
        step.out.items.add(i)


APPLICATORS: dict[str, Rule] = {
    "$ref": _reference,
    "$dynamicRef": _dynamic,
    "$recursiveRef": _recursive,
    "required": _required,
    "dependentRequired": _dependent_required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "dependentSchemas": _dependent_schemas,
    "dependencies": _dependencies,
    "prefixItems": _prefix_items,
    "items": _items,
    "additionalItems": _additional_items,
    "contains": _contains,
    "uniqueItems": _unique,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}
