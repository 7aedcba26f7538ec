"""What `check` says of the documents of a structural tag: the words of their schemas, wherever the documents stand."""

import json

import pytest
from command_line import machine

COUNT = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1}},
    "required": ["count"],
    "additionalProperties": False,
}
NAME = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
BELOW = ("/count", "`count`: 0 is below minimum 1", "0")
NO_STRING = ("/name", "`name`: a string is expected, not a number (1)", "1")


def document(schema, **more):
    return {"type": "json_schema", "json_schema": schema, **more}


def text(value):
    return {"type": "const_string", "value": value}


def of(kind, *elements):
    return {"type": kind, "elements": list(elements)}


def tag(begin, content):
    return {"type": "tag", "begin": begin, "content": content, "end": "</a>"}


def problems(folder, form, written):
    source = "tag:" + json.dumps({"type": "structural_tag", "format": form})
    found = machine(folder, "check", source, "--text", written, code=1)["problems"]
    return [(one["pointer"], one["message"], written[one["start"] : one["end"]]) for one in found]


TRIGGERED = {
    "type": "triggered_tags",
    "triggers": ["<a"],
    "tags": [tag("<a>", document(COUNT)), tag("<ab>", document(NAME))],
}


@pytest.mark.parametrize(
    ("form", "written", "said"),
    [
        (document(COUNT), '{"count": 0}', BELOW),
        (of("sequence", document(COUNT)), '{"count": 0}', BELOW),
        (of("sequence", document(COUNT), text("!"), document(COUNT)), '{"count": 1}!{"count": 0}', BELOW),
        (of("sequence", document(COUNT), document(NAME)), '{"count": 1}{"name": 1}', NO_STRING),
        (of("sequence", {"type": "regex", "pattern": "[é-ö]+ "}, document(COUNT)), 'éö {"count": 0}', BELOW),
        (of("or", document(COUNT), document(NAME)), '{"count": 0}', BELOW),
        (of("or", document(COUNT), document(NAME)), '{"name": 1}', NO_STRING),
        (of("or", text("yes"), document(NAME)), '{"name": 1}', NO_STRING),
        (TRIGGERED, 'So <a>{"count": 2}</a> and <ab>{"name": 1}</a>', NO_STRING),
        (tag("<a>", {"type": "plus", "content": document(COUNT)}), '<a>{"count": 1}{"count": 0}</a>', BELOW),
        (tag("<a>", document(COUNT, style="qwen_xml")), "<a><parameter=count>0</parameter></a>", BELOW),
    ],
)
def test_documents_are_told_of_in_the_words_of_their_schema(tmp_path, form, written, said):
    assert problems(tmp_path, form, written) == [said]


def test_of_two_schemas_the_nearest_speaks(tmp_path):
    form = of("or", document(COUNT), document(NAME))
    source = "tag:" + json.dumps(form)
    (found,) = machine(tmp_path, "check", source, "--text", '{"x": 1}', code=1)["problems"][:1]
    assert found["hint"] == "nearest of 2 schemas that the tag allows here"


@pytest.mark.parametrize(
    ("form", "written", "character"),
    [
        (of("or", text("yes"), document(NAME)), "no", "n"),
        (tag("<a>", document(COUNT)), '<a>{"count": 3}</b>', "b"),
        (of("sequence", text("<"), document(COUNT)), '{"count": 3}', "{"),
    ],
)
def test_elsewhere_the_grammar_names_the_character(tmp_path, form, written, character):
    (found,) = problems(tmp_path, form, written)
    assert found[1].startswith(f'"{character}" does not fit the ')


def test_json_that_breaks_off_has_its_place_in_the_text(tmp_path):
    found = problems(tmp_path, tag("\n<a>", document(COUNT)), '\n<a>{"count": 0,')
    assert found[0] == BELOW
    assert found[1][1] == "not JSON: the text ends inside the object that begins at line 2, column 4"
