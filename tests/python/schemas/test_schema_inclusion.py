"""``diff`` of schemas with too many states: what their keywords say of which one accepts less."""

import contextlib
import copy
import json
import random
import sys
from pathlib import Path

import pytest
from command_line import machine, run

import interlock
from interlock.cli.commands.diff import _Scalars, _spells_constants
from interlock.cli.comparing.open_objects import has_open_objects
from interlock.cli.comparing.schema_inclusion import Inclusion
from interlock.cli.comparing.schema_parts import parse
from interlock.cli.sources.source_arguments import Source
from interlock.explain import byte_vocabulary

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from random_schemas import PATTERNS, TYPES, Schemas, any_value, write  # noqa: E402

BYTES = byte_vocabulary()


def included(first, second, **options):
    """Whether the keywords say that the first accepts no more than the second."""
    texts = [write(schema) for schema in (first, second)]
    source = Source("json_schema", texts[0].encode(), options, "first")
    any_order = options.get("property_order") == "any"
    accepts_less, is_plain = _Scalars(source, BYTES).accepts_less, not _spells_constants(options)
    return Inclusion(*map(parse, texts), accepts_less, any_order, is_plain=is_plain).holds()


def thing(**properties):
    return {"type": "object", "properties": properties}


def text(**keywords):
    return {"type": "string", **keywords}


PAIR = [{"type": "object", "properties": {"k": {"const": k}, "v": text()}, "required": ["k"]} for k in ("a", "b")]
LONGER = [PAIR[0], {"type": "object", "properties": {"k": {"const": "b"}, "v": {}}, "required": ["k"]}]
TREE = {
    "$defs": {"n": thing(v={"type": "integer", "maximum": 9}, k={"type": "array", "items": {"$ref": "#/$defs/n"}})},
    "$ref": "#/$defs/n",
}
TALLER = json.loads(json.dumps(TREE).replace('"maximum": 9', '"maximum": 99'))
CLOSED = {**thing(a={}, b={}), "additionalProperties": False}

NULL = {"type": "null"}
PAYMENT = {**thing(paid={}, payment=text(), note=text()), "additionalProperties": False}
MORE_PAYMENT = {**thing(paid={}, extra={}, payment=text(), note=text()), "additionalProperties": False}
CONDITION = {
    "if": {"properties": {"paid": {"const": True}}, "required": ["paid"]},
    "then": {"required": ["payment"]},
    "else": {"properties": {"note": {"maxLength": 3}}},
}
EITHER = {"anyOf": [{"required": ["paid"]}, {"properties": {"note": {"const": "x"}}, "required": ["note"]}]}


def unevaluated(part):
    return {key: value for key, value in part.items() if key != "additionalProperties"} | {
        "unevaluatedProperties": False
    }


LESS = {
    "a longer text": (thing(a=text(maxLength=30)), thing(a=text(maxLength=40))),
    "a length beyond the engine's": (text(pattern="a", maxLength=10**6), text(pattern="a", maxLength=10**7)),
    "a larger number": (thing(a={"type": "integer", "maximum": 1}), thing(a={"type": "number", "maximum": 1.5})),
    "numbers beyond floats": ({"maximum": 10**20}, {"maximum": 10**20 + 1}),
    "a wider pattern": (thing(a=text(pattern="^[a-z]+$")), thing(a=text(pattern="^[a-z0-9]+$"))),
    "a format or any text": (thing(a=text(format="date")), thing(a=text())),
    "more values": (thing(a={"enum": ["x", 1]}), thing(a={"enum": [1, "y", "x"]})),
    "null as well": (thing(a=text()), thing(a={"anyOf": [text(), {"type": "null"}]})),
    "null as a type": (thing(a=text(maxLength=3)), thing(a=text(maxLength=3) | {"type": ["string", "null"]})),
    "less required": (thing(a={}, b={}) | {"required": ["b", "a"]}, thing(a={}, b={}) | {"required": ["a"]}),
    "an opened object": (CLOSED, thing(a={}, b={})),
    "a property more": (CLOSED, {**thing(a={}, c={}, b={}), "additionalProperties": False}),
    "a key declared in an open object": (thing(a={}, c={"type": "null"}), thing(a={})),
    "a key declared and required": (thing(a={}, c={"type": "null"}) | {"required": ["a"]}, thing(a={})),
    "values of any key": ({"additionalProperties": {"type": "integer"}}, {"additionalProperties": {"type": "number"}}),
    "more elements": ({"items": text(), "minItems": 2}, {"items": {"type": ["string", "null"]}, "minItems": 1}),
    "a tuple": ({"prefixItems": [{"const": 1}], "items": False}, {"prefixItems": [{"type": "integer"}]}),
    "no unique items": ({"items": text(), "uniqueItems": True}, {"items": text(), "uniqueItems": False}),
    "words only": (thing(a={"title": "x"}), thing(a={"description": "y"})),
    "in a recursion": (TREE, TALLER),
    "behind a reference": (TREE, {"$defs": TREE["$defs"]} | TREE["$defs"]["n"]),
    "a part": ({"allOf": [thing(a=text(maxLength=1)), thing(b={})]}, {"allOf": [thing(a=text()), thing(b={})]}),
    "exclusive alternatives": ({"oneOf": PAIR}, {"oneOf": LONGER}),
    "one exclusive alternative more": ({"oneOf": PAIR[:1]}, {"oneOf": PAIR}),
    "then": ({"if": thing(a={"const": 1}), "then": {"maxProperties": 1}}, {"if": thing(a={"const": 1})}),
    "a property more beside a condition": (CONDITION | PAYMENT, CONDITION | MORE_PAYMENT),
    "a property more inside, beside a condition": (thing(o=CONDITION | PAYMENT), thing(o=CONDITION | MORE_PAYMENT)),
    "a property more beside alternatives": (EITHER | PAYMENT, EITHER | MORE_PAYMENT),
    "a property more, others unevaluated": (CONDITION | unevaluated(PAYMENT), CONDITION | unevaluated(MORE_PAYMENT)),
    "types as a list": (thing(a={"type": ["string", "null"]}), thing(a={"anyOf": [NULL, text(), {"const": 1}]})),
    "types of parts": (
        thing(a=CLOSED | {"type": ["object", "null"]}),
        thing(a={"anyOf": [CLOSED, NULL, text()]}),
    ),
    "exclusive types": (thing(a={"type": ["string", "null"]}), thing(a={"oneOf": [NULL, text(), {"type": "boolean"}]})),
    "beside a not": (text(maxLength=3) | {"not": {"const": "a"}}, text(maxLength=4) | {"not": {"const": "a"}}),
}  # fmt: skip
UNKNOWN = {
    "below not": (text() | {"not": text(maxLength=3)}, text() | {"not": text(maxLength=4)}),
    "in a condition": (
        {"if": text(maxLength=3), "then": {"pattern": "a"}},
        {"if": text(maxLength=4), "then": {"pattern": "a"}},
    ),
    "contained elements": (
        {"type": "array", "contains": {"minimum": 1}, "maxContains": 1},
        {"type": "array", "contains": {"minimum": 0}, "maxContains": 1},
    ),
    "alternatives that overlap": ({"oneOf": [text(), text(maxLength=3)]}, {"oneOf": [text(), text(maxLength=4)]}),
    "another order of keys": (thing(a={}, b={}), thing(b={}, a={})),
    "a key that was undeclared": (thing(a={}), thing(a={}, b={})),
    "a key declared before others": (thing(c={"type": "null"}, a={}), thing(a={})),
    "a key declared beside a required one": (
        thing(a={}, c={"type": "null"}) | {"required": ["x"]},
        thing(a={}) | {"required": ["x"]},
    ),
    "a key that others may not be": (
        thing(a={}, c={"type": "null"}),
        thing(a={}) | {"additionalProperties": {"type": "string"}},
    ),
    "one more alternative that overlaps": ({"oneOf": [text(maxLength=3)]}, {"oneOf": [text(maxLength=3), text()]}),
    "a definition that changed": (TALLER, {"$defs": TREE["$defs"], "$ref": "#/$defs/n"}),
    # The engine refuses the next two before they are compared: they apply to themselves in place. `Inclusion` does not
    # rely on that: it assumes an open pair for a part of the value alone.
    "an alternative that is the whole": (text(), {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
    # Inside `k` the whole may be assumed for what is behind `$defs/p`. Behind the last alternative that is not known.
    "what was assumed inside": (
        {"anyOf": [thing(k={"$ref": "#"}), {"type": "integer"}]},
        {"anyOf": [thing(k={"$ref": "#/$defs/p"}), {"$ref": "#/$defs/p"}], "$defs": {"p": {"$ref": "#"}}},
    ),
    "a reference by a name": (
        {"$defs": {"a": text(maxLength=1) | {"$anchor": "x"}}, "$ref": "#x"},
        {"$defs": {"a": text(maxLength=2) | {"$anchor": "x"}}, "$ref": "#x"},
    ),
    # The neighbour evaluates the key that the second adds, and lets it have any value.
    "what other keywords leave": (
        unevaluated(thing(a={})) | {"allOf": [thing(b={})]},
        unevaluated(thing(a={}, b=NULL)) | {"allOf": [thing(b={})]},
    ),
    "what a pattern of other keywords leaves": (
        unevaluated(thing(a={})) | {"anyOf": [{"patternProperties": {"^b": True}}, {}]},
        unevaluated(thing(a={}, b=NULL)) | {"anyOf": [{"patternProperties": {"^b": True}}, {}]},
    ),
    "a property more beside another condition": (
        CONDITION | PAYMENT,
        CONDITION | MORE_PAYMENT | {"then": {"required": ["payment", "extra"]}},
    ),
    "a property more in an open object beside a condition": (
        CONDITION | thing(paid={}),
        CONDITION | thing(paid={}, extra=NULL),
    ),
    "types of which one is missing": (
        thing(a={"type": ["string", "null", "boolean"]}),
        thing(a={"anyOf": [NULL, text()]}),
    ),
}


@pytest.mark.parametrize("name", LESS)
def test_keywords_say_that_it_accepts_less(name):
    first, second = LESS[name]
    assert included(first, second) and included(first, first) and included(second, second)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_keywords_do_not_say(name):
    assert not included(*UNKNOWN[name])


@pytest.mark.parametrize("name", [name for name in LESS if name not in ("words only", "behind a reference")])
def test_the_other_way_it_accepts_more(name):
    first, second = LESS[name]
    assert not included(second, first)


def test_old_drafts_know_nothing_beside_a_reference():
    first = {"definitions": {"a": text()}, "allOf": [{"$ref": "#/definitions/a", "maxLength": 9}]}
    second = {"definitions": {"a": text()}, "allOf": [{"$ref": "#/definitions/a", "maxLength": 3}]}
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert included(draft | first, draft | second) and not included(first, second)


def test_a_property_more_beside_a_condition_is_decided(folder):
    """Every object is closed, so nobody is told to close one; where a text is not found, the keywords say it."""
    more = {f"p{i}": {"type": "string", "format": "date-time"} for i in range(60)}
    old, new = (json.loads(json.dumps(CONDITION | part)) for part in (PAYMENT, MORE_PAYMENT))
    for schema in (old, new):
        schema["properties"] |= more
    words = [f"schema:{json.dumps(schema)}" for schema in (old, new)]
    found = machine(folder, "diff", *words, "--allow", "wider")
    assert (found["relation"], found["only_first"], found["allowed"]) == ("the first accepts less", None, True)


@pytest.mark.parametrize(
    ("schema", "opened"),
    [
        (CONDITION | PAYMENT, False),
        (thing(o=CONDITION | PAYMENT), True),
        (CONDITION | unevaluated(PAYMENT), False),
        ({"allOf": [PAYMENT, thing(a={})]}, False),
        (CONDITION | thing(a={}), True),
        ({**PAYMENT, "dependentSchemas": {"paid": thing(note={})}}, False),
    ],
)
def test_only_objects_that_are_open_are_said_to_be(schema, opened):
    assert has_open_objects(schema) == opened


def test_keys_in_any_order():
    assert included(thing(a={}, b={}), thing(b={}, a={}), property_order="any")


def changed(rng, schema, schemas):
    """A schema with one keyword changed somewhere."""
    schema = copy.deepcopy(schema)
    parts = [schema]
    for part in parts:
        parts += [
            value for value in (part.values() if isinstance(part, dict) else part) if isinstance(value, dict | list)
        ]
    part = rng.choice([part for part in parts if isinstance(part, dict) and part] or [schema])
    key = rng.choice(list(part))
    value = part[key]
    if rng.random() < 0.3 and key != "$schema":
        del part[key]
    elif isinstance(value, bool):
        part[key] = not value
    elif isinstance(value, int):
        part[key] = value + rng.choice([1, -1, 2])
    elif key == "type":
        part[key] = rng.choice(TYPES)
    elif key == "pattern":
        part[key] = rng.choice(PATTERNS)
    elif key == "enum":
        part[key] = [*value[: rng.randrange(len(value) + 1)], any_value(rng)]
    elif key == "properties" and rng.random() < 0.5:
        part[key] = dict(rng.sample(list(value.items()), len(value))) | {"c": schemas.schema(1)}
    else:
        part.update(schemas.part(1))
    return schema


def test_what_keywords_say_is_what_the_automata_say():
    """Random schemas that differ in a keyword, with the exact comparison as the judge."""
    said = judged = 0
    for seed in range(400):
        rng = random.Random(seed)
        schemas = Schemas(rng, rng.choice(["4", "7", "2019", "2020"]))
        one = schemas.root()
        pair = [one, changed(rng, one, schemas)]
        rng.shuffle(pair)
        options = {"whitespace": "compact"} | ({"property_order": "any"} if rng.random() < 0.2 else {})
        try:
            both = [
                interlock.Index.from_json_schema(write(s), BYTES, limits={"max_flat_states": 5000}, **options)
                for s in pair
            ]
        except interlock.InterlockError:
            continue
        if not included(*pair, **options):
            continue
        said += 1
        with contextlib.suppress(interlock.LimitError, interlock.UnsupportedError):
            assert both[0].witness_not_in(both[1]) is None, (seed, pair)
            judged += 1
    assert said > 60 and judged > 30, (said, judged)


ORDER = {
    "type": "object",
    "properties": {
        "item": text(maxLength=30),
        "count": {"type": "integer", "maximum": 120},
        "note": text(),
        "tags": {"type": "array", "items": text(), "maxItems": 100},
    },
    "required": ["item"],
}


@pytest.mark.parametrize(
    ("old", "new", "accepts_less"),
    [
        ('"maxLength": 30', '"maxLength": 40', "first"),
        ('"maximum": 120', '"maximum": 90.5', "second"),
        ('"maxLength": 30', '"pattern": "^[a-z]{1,8}$"', "second"),
        ('["item"]', "[]", "first"),
        ('"maxItems": 100', '"maxItems": 200', "first"),
        ('["item"]', '["item", "note"]', "second"),
    ],
)
def test_diff_decides_everyday_changes(folder, old, new, accepts_less):
    """A schema with too many states for the exact comparison, and one change; the text is walked through both."""
    schemas = [json.dumps(ORDER), json.dumps(ORDER).replace(old, new)]
    found = machine(folder, "diff", *(f"schema:{schema}" for schema in schemas), code=1)
    assert (found["relation"], found["decided_by"]) == (f"the {accepts_less} accepts less", "keywords")
    only, other = ("only_second", "only_first") if accepts_less == "first" else ("only_first", "only_second")
    assert found[other] is None and "exact" not in found
    for schema in schemas:
        guide = interlock.Index.from_json_schema(schema, BYTES).guide()
        data = list(found[only].encode())
        accepts = guide.advance_many(data) == len(data) and guide.is_accepting
        assert accepts == ((schema == schemas[0]) == (only == "only_first"))


def test_diff_of_schemas_that_differ_in_words(folder):
    other = ORDER | {"title": "An order"}
    words = [f"schema:{json.dumps(schema)}" for schema in (ORDER, other)]
    assert run(folder, "diff", *words).stdout == "equal\n  decided by the keywords in which the two schemas differ\n"
    assert machine(folder, "diff", *words)["equal"] is True


def test_diff_says_what_is_certain_where_no_text_was_found(folder):
    """No search writes thousands of elements; that the first accepts no more is known all the same."""
    words = [f'schema:{{"type": "array", "items": {{}}, "maxItems": {most}}}' for most in (30000, 40000)]
    said = run(folder, "diff", *words, code=5).stdout
    assert said.startswith("not decided\n")
    assert "certain: the second accepts all that the first accepts; it is open whether it has more" in said


def test_dynamic_references_are_not_followed():
    first, second = ({"$dynamicRef": "#n", "$defs": {"n": {"$dynamicAnchor": "n", "maxLength": n}}} for n in (4, 3))
    assert not included(first, second)
