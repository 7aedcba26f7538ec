"""Reasons behind references: what they lead to is found as the engine finds it."""

import json

import pytest

import interlock
from interlock.explain import byte_vocabulary, explain
from interlock.util.uri_references import joined

LEAST = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}}
TOP = {"$defs": {"q": {"properties": {"n": {"$ref": "../a/n.json#least"}}}, "z": {"minimum": 3}}}
NESTED = {"$id": "sub/s.json", "$defs": {"z": {"$anchor": "z", "minimum": 3}}, "properties": {"n": {"$ref": "#z"}}}
BARE = {"id": "bare", "properties": {"n": {"$ref": "#/definitions/z"}}}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


@pytest.mark.parametrize(
    "schema, documents",
    [
        ({"$ref": "../m.json"}, {"m.json": LEAST}),
        ({"$ref": "../../c/top.json#/$defs/q"}, {"c/top.json": TOP, "a/n.json": {"$ref": "../c/top.json#/$defs/z",
                                                  "$anchor": "least"}}),
        ({"$id": "x://h/a/r", "$ref": "../m.json"}, {"x://h/m.json": LEAST}),
        ({"$ref": "./s/r.json"}, {"s/r.json": {"$ref": "../m.json"}, "m.json": LEAST}),
        ({"$ref": "m.json#"}, {"m.json#": LEAST}),
        ({"$ref": "urn:other"}, {"urn:m": LEAST | {"$id": "urn:other"}}),
        ({"$ref": "sub/s.json", "$defs": {"s": NESTED}}, {}),
        ({"$ref": "#/$defs/s", "$defs": {"s": NESTED}}, {}),
        ({"$ref": "m.json", "$id": "x:/a/b/r"}, {"x:/a/b/m.json": {"$ref": "sub/s.json", "$defs": {"s": NESTED}}}),
        ({"properties": {"p": {}, "n": {"allOf": [BARE["properties"]["n"]], "id": "bare"}},
          "definitions": {"z": {"minimum": 3}}}, {}),
        ({"$ref": "bare", "$defs": {"s": BARE}, "definitions": {"z": {"minimum": 3}}}, {}),
        ({"$id": "x:/r", "$ref": "y#least", "$defs": {"y": LEAST | {"$id": "y#least"}}}, {}),
        ({"$schema": DRAFT_4, "id": "x://h/a/", "allOf": [{"$ref": "b/m"}],
          "definitions": {"m": {"id": "b/", "definitions": {"m": LEAST | {"id": "m"}}}}}, {}),
    ],
)  # fmt: skip
def test_the_reason_inside_of_what_is_referred_to(schema, documents):
    index = interlock.Index.from_json_schema(schema, byte_vocabulary(), documents=documents)
    found = explain(index, '{"n":1}')
    assert [problem.message for problem in found.problems] == ["`n`: 1 is below minimum 3"]
    assert explain(index, '{"n":3}').accepted


@pytest.mark.parametrize(
    "reference, whole",
    [
        ("g:h", "g:h"), ("g", "x://a/b/c/g"), ("./g", "x://a/b/c/g"), ("g/", "x://a/b/c/g/"), ("/g", "x://a/g"),
        ("//g", "x://g"), ("?y", "x://a/b/c/d;p?y"), ("g?y", "x://a/b/c/g?y"), ("", "x://a/b/c/d;p?q"),
        (".", "x://a/b/c/"), ("./", "x://a/b/c/"), ("..", "x://a/b/"), ("../g", "x://a/b/g"), ("../..", "x://a/"),
        ("../../../g", "x://a/g"), ("/./g", "x://a/g"), ("g.", "x://a/b/c/g."), ("./g/.", "x://a/b/c/g/"),
    ],
)  # fmt: skip
def test_references_are_joined_as_the_specification_says(reference, whole):
    """The examples of RFC 3986, section 5.4, with a scheme that no library knows."""
    assert joined("x://a/b/c/d;p?q", reference) == whole


@pytest.mark.parametrize(
    "uri",
    [DRAFT_4, *(f"http://json-schema.org/draft-0{n}/schema#" for n in "67")]
    + [f"https://json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")],
)
def test_the_reasons_of_metaschemas(uri):
    """They refer to each other, from 2019-09 on dynamically, and to themselves."""
    schema = {"properties": {"parameters": {"$ref": uri}}}
    index = interlock.Index.from_json_schema(schema, byte_vocabulary(), property_order="any")
    tool = {"parameters": {"type": "objet", "properties": {"a": {"minLength": -1}, "b": {"not": {"items": 1}}}}}
    found = {problem.pointer: problem.message for problem in explain(index, json.dumps(tool)).problems}
    assert set(found) == {
        f"/parameters/{name}" for name in ("type", "properties/a/minLength", "properties/b/not/items")
    }
    assert '"objet" is none of the allowed values' in found["/parameters/type"]
    assert found["/parameters/properties/a/minLength"].endswith("-1 is below minimum 0")
