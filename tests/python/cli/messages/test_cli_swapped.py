"""An answer in the place of the schema, and a schema in YAML: what is said, and that nothing passes unnoticed."""

import json

import pytest
from command_line import machine, run

from interlock.cli.sources.schema_or_answer import is_answer

ORDER_ANSWER = {
    "id": 7,
    "customer": "Ada",
    "items": [{"sku": "A-1", "quantity": 2}],
    "status": "open",
    "created": "2026-01-01",
}


@pytest.mark.parametrize("answer", [ORDER_ANSWER, {"name": "x", "minimum": 3}, {"id": 7, "items": [{"sku": 1}]}])
def test_an_answer_with_the_name_of_a_keyword_is_no_schema(folder, answer):
    (folder / "answer.json").write_text(json.dumps(answer))
    assert "the source comes first" in run(folder, "check", "answer.json", "order.json", code=2).stderr
    said = run(folder, "inspect", "answer.json", code=3).stderr
    assert "would accept nearly everything: of its keys" in said and "--take-all" in said
    run(folder, "inspect", "answer.json", "--take-all")
    said = run(folder, "precompute", "answer.json", "-t", "bytes", "-o", "store", code=4).stderr
    assert "was left out: of its keys" in said


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": 3},
        {"maxLenght": 3, "minLength": 1},
        {"x-unit": "m", "minimum": 3},
        {"nullable": True, "minimum": 3},
        {"minimum": 3, "maximum": 9, "unit": "m"},
        {"type": "object", "a": 1, "b": 2, "c": 3},
        {"$ref": "#/components/a", "components": {"a": {}}, "openapi": "3"},
        {"items": {"type": "string"}, "a": 1, "b": 2},
        {"items": [{"type": "string"}, {}], "a": 1, "b": 2},
        {"properties": {"status": {}}, "customer": 1, "status": 2},
        {"name": "x", "enum": [1]},
        {"name": "x", "not": {}},
        {"type": "strin", "name": 1},
        {"dependentSchemas": {"a": {}}, "name": 1},
    ],
)
def test_schemas_with_other_keys_stay_schemas(schema):
    assert is_answer(schema) == ""


@pytest.mark.parametrize(
    "answer",
    [
        {"name": "x", "minLength": True},
        {"name": "x", "uniqueItems": 3},
        {"name": "x", "$ref": 3},
        {"name": "x", "pattern": ["a"]},
    ],
)
def test_what_no_keyword_of_the_name_can_hold_makes_no_schema(answer):
    assert is_answer(answer).endswith("is a keyword of JSON Schema, and what it holds is no schema")


def test_switches_are_true_or_false():
    assert is_answer({"exclusiveMinimum": True, "minimum": 3, "name": "x"}) == ""
    assert is_answer({"exclusiveMinimum": 3, "uniqueItems": True, "name": "x"}) == ""


def test_a_schema_nested_deeply_is_no_matter_of_the_guess():
    deep = {"minimum": 1}
    for _ in range(5000):
        deep = {"items": deep}
    assert is_answer(deep | {"a": 1, "b": 2}) == ""


def test_an_answer_that_has_a_type_is_warned_of(folder):
    (folder / "answer.json").write_text('{"type": "string", "name": "x", "label": "y"}')
    (folder / "names.json").write_text('"x"')
    said = run(folder, "check", "answer.json", "order.json", code=1).stderr
    assert "warning: most keys of answer.json are no keywords, and order.json is a schema: are the two swapped?" in said
    for document in ("names.json", "good.json"):
        code = int(document == "good.json")
        assert "swapped" not in run(folder, "check", "answer.json", document, code=code).stderr
    assert "swapped" not in run(folder, "check", "order.json", "answer.json", code=1).stderr


def test_a_schema_in_yaml_is_in_its_right_place(folder):
    (folder / "y.yaml").write_text("type: object\n")
    (folder / "typed.txt").write_text("# a comment\ntype: object\n")
    for name, said in (("y.yaml", "y.yaml is YAML by its name"), ("typed.txt", "typed.txt is YAML by its text")):
        error = machine(folder, "check", name, "good.json", code=2)["error"]
        assert said in error["message"] and "yaml.safe_load" in error["remedy"]
        error = machine(folder, "check", name, "order.json", code=2)["error"]
        assert said in error["message"]
    (folder / "odd.json").write_text("type: object\n")
    assert "yaml.safe_load" in machine(folder, "check", "odd.json", "order.json", code=3)["error"]["remedy"]


def test_a_schema_that_ends_too_early_says_so_at_its_last_line(folder):
    (folder / "cut.json").write_text('{"type": "object",\n "properties": {"a": true\n\n')
    said = run(folder, "inspect", "cut.json", code=3).stderr
    assert "  cut.json:2:26:\n" in said and '{"a": true\n' in said
    assert "the text ends inside the object that begins at line 2, column 16" in said


def test_ways_on_are_within_reach(folder):
    """A wheel has no pages of documentation, and what comes through a pipe needs its name."""
    assert "- in the place of FILE is the standard input" in run(folder, "check", "order.json", code=2).stderr
    for grammar in ("start: (", "root ::= ("):
        said = run(folder, "inspect", f"grammar:{grammar}", code=3).stderr
        assert "docs/" not in said and "is not closed" in said and "try: write ) where it ends" in said
