"""Faults in the files that a schema refers to: the message names that file, and the reference that leads there."""

import json

import pytest
from command_line import machine, run

from interlock.cli.sources.document_folders import Documents, referred_from

ORDER = {
    "properties": {
        "kind": {"$ref": "common.json#/$defs/kind"},
        "item": {"properties": {"price": {"$ref": "common.json#/$defs/price"}}},
    }
}
PRICE = '{"$defs": {\n  "kind": {"type": "string"},\n  "price": %s}}'


@pytest.fixture
def tree(folder):
    (folder / "tree").mkdir()
    (folder / "tree" / "order.json").write_text(json.dumps(ORDER))
    (folder / "tree" / "common.json").write_text(PRICE % '{"type": "numbr"}')
    return folder


CHECK = ("check", "tree/order.json", "--document", "tree", "--text", "{}")


def test_both_files_are_named(tree):
    said = run(tree, *CHECK, code=3).stderr
    assert "tree/common.json:3:21:" in said
    assert "\n  tree/order.json refers to it at /properties/item/properties/price\n" in said
    error = machine(tree, *CHECK, code=3)["error"]
    assert error["file"] == "tree/common.json" and error["line"] == 3


def test_precompute_names_the_file_of_the_fault(tree):
    said = run(tree, "precompute", "tree", "-t", "bytes", "-o", "store", code=1).stdout
    assert "refused tree/order.json: in tree/common.json:3:21: SchemaError" in said
    assert "\n  tree/order.json refers to it at /properties/item/properties/price\n" in said
    (tree / "tree" / "all.jsonl").write_text(json.dumps(ORDER) + "\n")
    made = ("precompute", "tree/all.jsonl", "--document", "tree", "-t", "bytes", "-o", "lines")
    assert "refused tree/all.jsonl:1: in tree/common.json:3:21: SchemaError" in run(tree, *made, code=1).stdout


def test_a_file_that_is_reached_through_another(tree):
    (tree / "tree" / "common.json").write_text(PRICE % '{"$ref": "money.json"}')
    (tree / "tree" / "money.json").write_text('{"type": "numbr"}')
    said = run(tree, *CHECK, code=3).stderr
    way = (
        "tree/order.json refers to it at /properties/item/properties/price, by way of tree/common.json at /$defs/price"
    )
    assert "tree/money.json:1:10:" in said and way in said


def test_a_file_that_is_no_json(tree):
    (tree / "tree" / "common.json").write_text(PRICE % '{"type": "number",}')
    said = run(tree, *CHECK, code=3).stderr
    assert "tree/common.json:3:30:" in said and "tree/order.json refers to it at /properties/kind\n" in said
    error = machine(tree, *CHECK, code=3)["error"]
    # The place is in one file, and the reference to it in the other.
    assert (error["file"], error["line"], error["column"]) == ("tree/common.json", 3, 30)
    assert error["reference"] == {"file": "tree/order.json", "pointer": "/properties/kind", "keyword": "$ref"}
    assert not {"pointer", "keyword", "place"} & error.keys()


def test_a_schema_inside_of_a_file(tree):
    (tree / "tree" / "whole.json").write_text(json.dumps({"schema": ORDER}))
    said = run(tree, *CHECK[:1], "tree/whole.json", "--schema-key", "schema", *CHECK[2:], code=3).stderr
    assert "tree/whole.json refers to it at /schema/properties/item/properties/price" in said


def test_a_file_that_is_missing_in_a_folder_that_is_given(tree):
    (tree / "tree" / "common.json").write_text(PRICE % '{"$ref": "money.json"}')
    said = run(tree, *CHECK, code=3).stderr
    assert "try: tree/money.json is not there: write it, or change the reference" in said
    assert "tree/order.json refers to it at /properties/item/properties/price" in said


def test_the_way_of_references():
    documents = Documents()
    documents["a.json"] = b'{"x": {"$ref": "b.json#/y"}, "z": {"$ref": "#/x"}}'
    documents["b.json"] = b'{"y": {"type": "null"}, "w": {"$ref": "c.json"}}'
    schema = {"items": {"$ref": "a.json#/z"}, "contains": {"$ref": "#/items"}}
    way = [("", "/items"), ("a.json", "/z"), ("a.json", "/x")]
    assert referred_from(schema, documents, "b.json", "/y") == way
    # Nothing leads to that part, but to its document.
    assert referred_from(schema, documents, "b.json", "/w") == way
    assert referred_from(schema, documents, "c.json", "") == []
