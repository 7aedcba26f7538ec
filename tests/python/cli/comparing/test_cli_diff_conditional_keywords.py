"""``diff`` of schemas with ``dependentRequired``, ``dependentSchemas``, ``if``, ``not``, ``patternProperties`` and
``propertyNames``: each added, tightened, and written in another way.
"""

import json

import pytest
from command_line import machine

import interlock
from interlock.cli.comparing.short_witness import shortened
from interlock.explain import byte_vocabulary

OPEN = {"type": "object"}
ABC = OPEN | {"properties": {name: {"type": "string"} for name in "abc"}}
KIND = OPEN | {
    "properties": {"k": {"enum": ["x", "y"]}, "a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["k"],
}
IS_X = {"properties": {"k": {"const": "x"}}, "required": ["k"]}
THEN = {"if": IS_X, "then": {"required": ["a"]}, "else": {"required": ["b"]}}


def needs(**lists):
    return ABC | {"dependentRequired": lists}


def schemas(**parts):
    return ABC | {"dependentSchemas": parts}


def denied(*names):
    return ABC | {"not": {"required": [*names]}}


def keys(closed=False, **patterns):
    return OPEN | {"patternProperties": patterns} | ({"additionalProperties": False} if closed else {})


def names(**keywords):
    return OPEN | {"propertyNames": keywords}


TEXT, SHORT = {"type": "string"}, {"type": "string", "maxLength": 4}
TIGHTER = {
    "dependentRequired, added": (ABC, needs(a=["b"])),
    "dependentRequired, one name more": (needs(a=["b"]), needs(a=["b", "c"])),
    "dependentRequired, one key more": (needs(a=["b"]), needs(a=["b"], c=["b"])),
    "dependentSchemas, added": (ABC, schemas(a={"required": ["b"]})),
    "dependentSchemas, one name more": (schemas(a={"required": ["b"]}), schemas(a={"required": ["b", "c"]})),
    "dependentSchemas, a smaller bound": (
        schemas(a={"properties": {"b": {"maxLength": 3}}}),
        schemas(a={"properties": {"b": {"maxLength": 2}}}),
    ),
    "if, added": (KIND, KIND | THEN),
    "if, then asks for more": (KIND | THEN, KIND | THEN | {"then": {"required": ["a", "b"]}}),
    "if, else added": (KIND | {"if": IS_X, "then": {"required": ["a"]}}, KIND | THEN),
    "if, a wider condition": (
        KIND | {"if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["a"]}},
        KIND | {"if": {"properties": {"k": {"enum": ["x", "y"]}}}, "then": {"required": ["a"]}},
    ),
    "not, added": (ABC, denied("a", "b")),
    "not, one name less": (denied("a", "b"), denied("a")),
    "not, one alternative more": (
        denied("a"),
        ABC | {"not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
    ),
    "not, one constant more": (
        OPEN | {"properties": {"a": {"not": {"const": 1}}}},
        OPEN | {"properties": {"a": {"not": {"enum": [1, 2]}}}},
    ),
    "patternProperties, added": (OPEN, keys(**{"^x": TEXT})),
    "patternProperties, a smaller bound": (keys(**{"^x": TEXT}), keys(**{"^x": SHORT})),
    "patternProperties, a wider pattern": (keys(**{"^xy": TEXT}), keys(**{"^x": TEXT})),
    "patternProperties, a narrower pattern of a closed object": (
        keys(closed=True, **{"^x": TEXT}),
        keys(closed=True, **{"^xy": TEXT}),
    ),
    "patternProperties, a pattern less in a closed object": (
        keys(closed=True, **{"^x": TEXT, "^y": {}}),
        keys(closed=True, **{"^x": TEXT}),
    ),
    "propertyNames, added": (OPEN, names(pattern="^[a-z]+$")),
    "propertyNames, a narrower pattern": (names(pattern="^[a-z]+$"), names(pattern="^[a-c]+$")),
    "propertyNames, a smaller bound": (names(maxLength=60), names(maxLength=50)),
    "propertyNames, a name less": (names(enum=["a", "b", "c"]), names(enum=["a", "b"])),
}
REWRITTEN = {
    "dependentRequired, another order": (needs(a=["b", "c"]), needs(a=["c", "b"])),
    "dependentRequired, of nothing": (ABC, needs(a=[])),
    "dependentRequired, of a key that is required": (
        needs(a=["b"]) | {"required": ["a"]},
        ABC | {"required": ["a", "b"]},
    ),
    "dependentRequired, step by step": (needs(a=["b"], b=["c"]), needs(a=["b", "c"], b=["c"])),
    "dependentSchemas, as dependentRequired": (needs(a=["b"]), schemas(a={"required": ["b"]})),
    "dependentSchemas, of everything": (ABC, schemas(a=True)),
    "if, alone": (KIND, KIND | {"if": IS_X}),
    "if, denied": (
        KIND | THEN,
        KIND | {"if": {"not": IS_X}, "then": THEN["else"], "else": THEN["then"]},
    ),
    "not, another order": (denied("a", "b"), denied("b", "a")),
    "patternProperties, another pattern": (keys(**{"^x[0-9]": TEXT}), keys(**{r"^x\d": TEXT})),
    "patternProperties, of everything": (OPEN, keys(**{"^x": True})),
    "propertyNames, another pattern": (names(pattern="^[0-9]+$"), names(pattern=r"^\d+$")),
    "propertyNames, of everything": (OPEN, OPEN | {"propertyNames": True}),
}


def accepts(schema, text, **options):
    guide = interlock.Index.from_json_schema(json.dumps(schema), byte_vocabulary(), **options).guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


@pytest.mark.parametrize("name", TIGHTER)
def test_a_schema_that_is_tighter(folder, name):
    """Found in both directions: removed and loosened is the same pair the other way round."""
    loose, tight = TIGHTER[name]
    found = machine(folder, "diff", *(f"schema:{json.dumps(schema)}" for schema in (loose, tight)), code=1)
    assert (found["relation"], found["only_second"]) == ("the second accepts less", None)
    assert accepts(loose, found["only_first"]) and not accepts(tight, found["only_first"])
    assert len(found["only_first"]) < 70
    words = [f"schema:{json.dumps(schema)}" for schema in (tight, loose)]
    assert machine(folder, "diff", *words, "--allow", "wider")["relation"] == "the first accepts less"


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_schema_that_is_written_in_another_way(folder, name):
    words = [f"schema:{json.dumps(schema)}" for schema in REWRITTEN[name]]
    found = machine(folder, "diff", *words)
    assert found["equal"] is True and found.get("decided_by", "keywords") == "keywords"


def test_names_of_keys_and_a_closed_object(folder):
    """Where the order of keys does not count, both say which keys there are."""
    pair = names(enum=["a", "b"]), OPEN | {"properties": {"a": {}, "b": {}}, "additionalProperties": False}
    words = [f"schema:{json.dumps(schema)}" for schema in pair]
    assert machine(folder, "diff", *words, "--property-order", "any")["equal"] is True
    other = machine(folder, "diff", *words, code=1)
    assert accepts(pair[0], other["only_first"]) and not accepts(pair[1], other["only_first"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # What a schema mentions comes before other keys, and these are declared by none.
        (OPEN | {"dependentRequired": {"z": []}}, OPEN),
        # A keyword of later drafts, which asserts nothing in this one.
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"} | needs(a=["b"]) | {"required": ["a"]},
            {"$schema": "http://json-schema.org/draft-07/schema#"} | ABC | {"required": ["a", "b"]},
        ),
        (denied("a"), denied("b")),
        (KIND | {"if": IS_X, "then": {"required": ["a"]}}, KIND | {"if": {"not": IS_X}, "then": {"required": ["a"]}}),
        (keys(**{"^x": TEXT}), keys(**{"x$": TEXT})),
    ],
)
def test_what_does_not_follow(folder, first, second):
    words = [f"schema:{json.dumps(schema)}" for schema in (first, second)]
    found = machine(folder, "diff", *words, code=None)
    assert found["equal"] is not True
    for side, (one, other) in {"only_first": (first, second), "only_second": (second, first)}.items():
        if found[side] is not None:
            assert accepts(one, found[side]) and not accepts(other, found[side])


def test_a_text_is_made_shorter_while_it_tells_the_two_apart(folder):
    wide = {f"p{n}": {"type": "string"} for n in range(40)} | {"o": {"type": "array", "items": {"type": "string"}}}
    first = OPEN | {"properties": wide, "required": [f"p{n}" for n in range(3)]}
    second = first | {"properties": wide | {"o": {"type": "array", "items": {"type": "string", "maxLength": 2}}}}
    found = machine(folder, "diff", *(f"schema:{json.dumps(schema)}" for schema in (first, second)), code=1)
    made = json.loads(found["only_first"])
    assert made.keys() == {"p0", "p1", "p2", "o"} and [len(text) for text in made["o"]] == [3]
    assert [made[f"p{n}"] for n in range(3)] == ["", "", ""]


@pytest.mark.parametrize(
    ("text", "is_witness", "shortest"),
    [
        (b'{"a": 1, "b": {"c": [1, 2, 3]}}', lambda text: b"[" in text, b"[]"),
        (b"let x = 5;\nprint x;\n", lambda text: b"print" in text, b"print"),
        (b'"abc"', lambda text: b"b" in text, b'"b"'),
        (b"\xff", lambda text: True, b"\xff"),
        (b'{"abc": 1.5}', lambda text: b"b" in text and b"1" in text, b'{"b":1}'),
    ],
)
def test_shorter_texts(text, is_witness, shortest):
    assert shortened(text, is_witness) == shortest
