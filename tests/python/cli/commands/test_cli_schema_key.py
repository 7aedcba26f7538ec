"""``--schema-key``: a schema inside a larger JSON document, and what it refers to there."""

import json
import shlex

import pytest
from command_line import machine, run

USER = {
    "type": "object",
    "properties": {
        "name": {"$ref": "#/components/schemas/Name"},
        "friends": {"type": "array", "items": {"$ref": "#/components/schemas/User"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
NAME = {"type": "string", "maxLength": 9, "x-limit": 1.50}
API = {"openapi": "3.1.0", "paths": {"/a~b": {"schema": {"const": 1}}}, "components": {"schemas": {"User": USER}}}
API["components"]["schemas"] |= {"Name": NAME, "Unused": {"type": "integer"}}
POINTER = "/components/schemas/User"
POINTER_OF_NODE = "#/components/schemas/Node"


@pytest.fixture
def api(folder):
    (folder / "api.json").write_text(json.dumps(API, indent=1))
    return folder


@pytest.mark.parametrize("key", [POINTER, f"#{POINTER}"])
def test_a_pointer_and_what_it_refers_to(api, key):
    """References are those of the whole document, and a schema may refer to itself."""
    good, bad = '{"name": "a", "friends": [{"name": "b"}]}', '{"name": "a", "friends": [{"name": 5}]}'
    assert machine(api, "check", "api.json", "--schema-key", key, "--text", good)["accepted"]
    refused = machine(api, "check", "api.json", "--schema-key", key, "--text", bad, code=1)
    assert refused["pointer"] == "/friends/0/name"
    assert len(machine(api, "sample", "api.json", "--schema-key", key, "-n", "3")["samples"]) == 3


def test_other_places(api):
    (api / "list.json").write_text('[{"type": "integer"}, {"a%b": {"type": "null"}}]')
    for file, key, text in (
        ("api.json", "/paths/~1a~0b/schema", "1"),
        ("list.json", "/0", "5"),
        ("list.json", "#/1/a%25b", "null"),
        ("list.json", "/1/a%b", "null"),
    ):
        assert machine(api, "check", file, "--schema-key", key, "--text", text)["accepted"], key


def test_a_key_of_the_top_may_begin_like_a_pointer(folder):
    (folder / "odd.json").write_text('{"/a": {"type": "integer"}, "a": {"type": "null"}}')
    assert machine(folder, "check", "odd.json", "--schema-key", "/a", "--text", "1")["accepted"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("/components/schemas/Usr", "/components/schemas has no key 'Usr', did you mean 'User'?"),
        ("/component", "the top of the file has no key 'component', did you mean 'components'?"),
        ("/openapi/x", "at /openapi is no object"),
        ("components.schemas.User", "for what is inside, write --schema-key /components/schemas/User"),
        ("schemas", "has no key 'schemas' at its top; it has 'openapi', 'paths', 'components'"),
    ],
)
def test_what_is_not_there(api, key, said):
    assert said in run(api, "inspect", "api.json", "--schema-key", key, code=2).stderr
    assert said.partition(" has")[0] in machine(
        api, "precompute", "api.json", "--schema-key", key, "-t", "bytes", "-o", "store", code=4
    )["error"]["message"] + said * ("/" not in key)


def test_references_out_of_a_key_of_the_top(folder):
    """What the schema has itself comes first: it was written to stand alone."""
    document = {"$defs": {"a": {"const": 1}, "b": {"const": 2}}, "schema": {"$ref": "#/$defs/b", "$defs": {"a": {}}}}
    (folder / "wrapped.json").write_text(json.dumps(document))
    assert machine(folder, "check", "wrapped.json", "--schema-key", "schema", "--text", "2")["accepted"]
    document["schema"]["$ref"] = "#/$defs/a"
    (folder / "wrapped.json").write_text(json.dumps(document))
    assert machine(folder, "check", "wrapped.json", "--schema-key", "schema", "--text", "2")["accepted"]
    said = run(folder, "check", "wrapped.json", "--schema-key", "/schema", "--text", "2", code=4).stderr
    assert "#/$defs/a names one thing in the file and another in the schema" in said


def test_a_reference_to_a_keyword_of_the_file(folder):
    (folder / "file.json").write_text(json.dumps({"properties": {"a": {}}, "x": {"$ref": "#/properties/a"}}))
    said = run(folder, "check", "file.json", "--schema-key", "/x", "--text", "2", code=4).stderr
    assert "leads to the keyword properties of the file" in said and "try: move what it names to $defs" in said


def test_a_reference_to_nothing_is_the_engines_error(folder):
    (folder / "file.json").write_text(json.dumps({"x": {"$ref": "#/components/a"}}))
    assert "#/components/a" in run(folder, "check", "file.json", "--schema-key", "/x", "--text", "2", code=3).stderr


@pytest.mark.parametrize(
    ("key", "place"), [("/components/schemas/User", "api.json:4:11:"), ("/components/schemas/Name", "api.json:4:11:")]
)
def test_errors_name_the_place_in_the_file(folder, key, place):
    """In the schema itself, and in what it refers to."""
    (folder / "api.json").write_text(
        '{"components": {"schemas": {\n"User": {"$ref": "#/components/schemas/Name"},\n"Name":\n {"type": "strng"}}}}'
    )
    assert place in run(folder, "inspect", "api.json", "--schema-key", key, code=3).stderr
    found = machine(folder, "inspect", "api.json", "--schema-key", key, code=3)["error"]
    assert (found["file"], found["line"], found["column"]) == ("api.json", 4, 11)


def test_precompute_takes_pointers(api):
    (api / "lines.jsonl").write_text(json.dumps(API) + "\n" + json.dumps(API) + "\n")
    done = machine(api, "precompute", "lines.jsonl", "--schema-key", POINTER, "-t", "bytes", "-o", "store")
    assert (done["sources"], done["packs"]) == (2, 1)


def test_the_schemas_of_an_api_are_named(api):
    error = machine(api, "inspect", "api.json", code=3)["error"]
    assert error["remedy"] == (
        "--schema-key /components/schemas/User takes that schema; others are /components/schemas/Name, "
        "/components/schemas/Unused"
    )
    for key in ("User", "components/schemas/User"):
        said = run(api, "inspect", "api.json", "--schema-key", key, code=2).stderr
        assert "did you mean /components/schemas/User?" in said


def test_a_warning_has_the_place_in_the_file_and_comes_once(folder):
    """A schema that refers to itself stands in what is compiled twice."""
    node = {"properties": {"a": {"nullable": True}, "next": {"$ref": POINTER_OF_NODE}}}
    (folder / "api.json").write_text(json.dumps({"components": {"schemas": {"Node": node}}}))
    said = run(folder, "check", "api.json", "--schema-key", POINTER_OF_NODE[1:], "--text", "{}").stderr
    assert said.count("`nullable`") == 1 and "at /components/schemas/Node/properties/a" in said
    report = run(folder, "inspect", "api.json", "--schema-key", POINTER_OF_NODE[1:]).stdout
    assert 'not a keyword of JSON Schema; write "null" into a list of types' in report
    assert "did you mean" not in report


@pytest.mark.parametrize("keyword", ["$defs", "definitions"])
def test_a_schema_that_has_only_definitions(folder, keyword):
    """It accepts everything, and what its author meant is one of the definitions."""
    held = {"item": {"type": "string"}, "50%": {"type": "integer"}}
    (folder / "held.json").write_text(json.dumps({"$id": "https://example.org/held", "title": "all", keyword: held}))
    warned = f"`{keyword}` is all that the schema has, so that every value is accepted"
    for command in (["check", "--text", "1"], ["inspect"]):
        done = run(folder, command[0], "held.json", *command[1:])
        assert f"warning: {warned}" in done.stderr, command
    ways = [f"held.json#/{keyword}/item", f"held.json#/{keyword}/50%25"]
    assert all(way in done.stderr for way in ways)
    assert "a string is expected" in run(folder, "check", ways[0], "--text", "1", code=1).stdout
    assert run(folder, "check", ways[1], "--text", "1").stderr == ""
    found = machine(folder, "check", "held.json", "--text", "1")["idle_keywords"]
    assert [(one["pointer"], one["keyword"]) for one in found] == [("", keyword)]
    text = json.dumps({keyword: {"item": {}}})
    way = f"--schema-key {shlex.quote(f'/{keyword}/item')}"
    assert way in run(folder, "check", f"schema:{text}", "--text", "1").stderr
    run(folder, "precompute", "held.json", "-t", "bytes", "-o", "store")
    rows = [json.loads(line) for line in (folder / "store" / "report.jsonl").read_text().splitlines()]
    assert rows[0]["notes"][0].startswith(warned)


def test_definitions_beside_something_else_are_no_warning(folder):
    for schema in ({"$defs": {"a": {}}, "$ref": "#/$defs/a"}, {"$defs": {}}, {"$defs": {"a": {}}, "type": "string"}):
        done = run(folder, "check", f"schema:{json.dumps(schema)}", "--text", '"a"')
        assert "is all that the schema has" not in done.stderr


def test_a_file_that_is_no_json_is_shown_where_it_is_broken(tmp_path):
    (tmp_path / "br.json").write_text('{\n "lines": {\n  "enum": [1,2,]\n }\n}\n')
    for word in (["br.json"], ["br.json", "--schema-key", "lines"], ["br.json#/lines"]):
        said = run(tmp_path, "inspect", *word, code=3).stderr
        assert "br.json:3:16:" in said and "try: leave out the comma before ]" in said
