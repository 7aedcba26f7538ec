"""Keywords that are written for nothing, and required names that are slips of declared ones: warnings, no errors."""

import json

import pytest
from command_line import machine, run

from interlock.explain.idle_keywords import idle_keywords
from interlock.schema_hints import KEYWORDS
from interlock.schema_hints.types_of_keywords import TYPES_OF_KEYWORDS

NAMES = {"type": "object", "properties": {"userId": {}, "name": {}}}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            {"type": "string", "maximum": 3},
            ["`maximum` asserts nothing: it is about numbers, and the type here is string"],
        ),
        (
            {"properties": {"a/b": {"type": ["array", "null"], "minLength": 1}}},
            [
                "`minLength` (at /properties/a~1b) asserts nothing: it is about strings, and the types here are array, "
                "null"
            ],
        ),
        (
            {"anyOf": [{}, {"type": "object", "items": {}}]},
            ["`items` (at /anyOf/1) asserts nothing: it is about arrays, and the type here is object"],
        ),
        (
            NAMES | {"required": ["userID", "name"]},
            ["`required` asks for `userID`, which properties does not declare; did you mean userId?"],
        ),
        (
            NAMES | {"required": ["nam"]},
            ["`required` asks for `nam`, which properties does not declare; did you mean name?"],
        ),
        (NAMES | {"required": ["other", "userId"]}, []),
        (NAMES | {"required": ["names", "name"]}, []),
        (NAMES | {"required": ["nam"], "patternProperties": {"^n": {}}}, []),
        ({"type": "integer", "maximum": 3, "enum": [1]}, []),
        ({"type": ["string", "number"], "maximum": 3, "pattern": "a"}, []),
        ({"maximum": 3, "maxLength": 3}, []),
        ({"const": {"type": "string", "maximum": 3}, "examples": [{"type": "string", "maximum": 3}]}, []),
        ({"properties": {"type": {}, "maximum": {}}}, []),
        (True, []),
    ],
)
def test_what_is_said(schema, said):
    assert [str(one) for one in idle_keywords(schema)] == said


def test_every_keyword_with_types_is_one():
    assert TYPES_OF_KEYWORDS.keys() <= KEYWORDS


def test_the_command_line_warns_and_refuses_nothing(folder):
    inner = {"type": "string", "maximum": 3}
    (folder / "api.json").write_text(json.dumps({"components": {"schemas": {"A": inner}}}))
    place = "/components/schemas/A"
    for command in (["check", "--text", '"a"'], ["inspect"]):
        words = (command[0], "api.json", "--schema-key", place, *command[1:])
        for more in ((), ("--unknown-keywords", "error")):
            assert f"warning: `maximum` (at {place}) asserts nothing" in run(folder, *words, *more).stderr
        assert run(folder, *words, "--unknown-keywords", "ignore").stderr == ""
        (found,) = machine(folder, *words)["idle_keywords"]
        assert (found["pointer"], found["keyword"]) == (place, "maximum")
