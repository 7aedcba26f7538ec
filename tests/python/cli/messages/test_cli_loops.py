"""What is said of references that lead back: the whole circle in place, and the loop that no document comes out of."""

import json

import pytest
from command_line import machine, run

from interlock.explain.reference_loops import MOST, endless_loop, loop_in_place

NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}


def notes(folder, schema, *more):
    source = schema if isinstance(schema, str) else f"schema:{json.dumps(schema)}"
    return machine(folder, "inspect", source, *more, code=3)["error"].get("notes", [])


@pytest.mark.parametrize(
    ("schema", "circle"),
    [
        ({"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "#/$defs/a → #/$defs/b → #/$defs/a"),
        ({"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "#/$defs/a → #/$defs/a"),
        ({"a": {"not": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}}, "#/$defs/a → #/$defs/a"),
    ],
)
def test_a_circle_of_references_is_shown(tmp_path, schema, circle):
    assert notes(tmp_path, {"$ref": "#/$defs/a", "$defs": schema}) == [f"the circle: {circle}"]


def test_a_circle_through_files_is_shown(tmp_path):
    for name, other in (("a", "b"), ("b", "c"), ("c", "b")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"type": "object", "allOf": [{"$ref": f"{other}.json"}]}))
    way, *found = notes(tmp_path, "a.json", "--document", ".")
    assert way.startswith("a.json refers to it at /allOf/0")
    assert found in (["the circle: b.json# → c.json# → b.json#"], ["the circle: c.json# → b.json# → c.json#"])


def test_a_long_circle_is_cut():
    names = [f"a{i}" for i in range(20)]
    definitions = {name: {"$ref": f"#/$defs/{after}"} for name, after in zip(names, [*names[1:], names[0]])}
    found = loop_in_place({"$defs": definitions}, {}, "/$defs/a0")
    assert found.startswith("#/$defs/a0 → #/$defs/a1 → ") and found.endswith(" → ... → #/$defs/a19 → #/$defs/a0")


@pytest.mark.parametrize(
    ("schema", "loop"),
    [
        (NODE | {"$defs": {"node": NODE}}, "#/$defs/node needs `next`, which is #/$defs/node again"),
        (
            {
                "$ref": "#/$defs/list",
                "$defs": {"list": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/node"}}}
                | {"node": {"type": "object", "properties": {"of": {"$ref": "#/$defs/list"}}, "required": ["of"]}},
            },
            "#/$defs/node needs `of` (#/$defs/list), which needs an element, which is #/$defs/node again",
        ),
        (
            {"type": ["array"], "minItems": 2, "items": {"anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}},
            "# needs an element, which is # again",
        ),
    ],
)
def test_the_loop_of_a_schema_without_an_end_is_named(tmp_path, schema, loop):
    said = run(tmp_path, "check", f"schema:{json.dumps(schema)}", "--text", "1", code=3).stderr
    assert notes(tmp_path, schema) == [f"no document comes to an end: {loop}"]
    assert (
        f"  no document comes to an end: {loop}\n" in said
        and "try: let one of them do without: a key that is not required" in said
    )


@pytest.mark.parametrize(
    "schema",
    [
        # Each has an end: another type, an alternative, a key that may be left out, no element.
        {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": ["array", "null"], "items": {"$ref": "#"}, "minItems": 1},
    ],
)
def test_what_has_an_end_is_in_no_loop(tmp_path, schema):
    assert endless_loop(schema, {}, "") == ""
    machine(tmp_path, "inspect", f"schema:{json.dumps(schema)}")


def test_a_contradiction_is_no_loop(tmp_path):
    found = notes(tmp_path, {"type": "object", "properties": {"a": False}, "required": ["a"]})
    assert found and "comes to an end" not in found[0]


def test_the_search_for_a_loop_is_bounded():
    """Schemas of strangers have as many references as they like."""
    count = 2 * MOST
    definitions = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}]} for i in range(count)}
    definitions[f"a{count}"] = {"$ref": "#/$defs/a0"}
    assert loop_in_place({"$defs": definitions}, {}, "/$defs/a0") in ("", "#/$defs/a0 → #/$defs/a0")
