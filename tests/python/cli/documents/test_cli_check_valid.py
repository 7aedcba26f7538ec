"""``check --valid``: validity alone, whatever the form; and what is said without it of documents that are valid."""

import json

import pytest
from command_line import machine, run

FORM = "valid JSON for the schema, but not in the generated form: "
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"enum": ["tea", "A\u00e9"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 10**6},
        "share": {"type": "number", "multipleOf": 0.5},
        "more": {"const": {"a": 1, "b": [2, {"c": None, "d": True}]}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
VALID = [
    '{"count": 2, "name": "tea"}',
    '{"name": "tea", "count": 2.0}',
    '{"name": "tea", "count": 12e2}',
    '{"name": "tea", "share": 15E-1}',
    '{"name": "tea", "share": -0.0}',
    ' \n{"name": "tea"}\n ',
    '{"name":' + " " * 200 + '"tea"}',
    r'{"more": {"b": [2.0, {"d": true, "c": null}], "a": 1}, "name": "\u0041\u00e9"}',
]
INVALID = [
    ('{"count": 0, "name": "tea"}', "/count"),
    ('{"count": 25e-1, "name": "tea"}', "/count"),
    ('{"count": 2}', ""),
    ('{"more": {"b": [2], "a": 1}, "name": "tea"}', "/more"),
    (' {"name": "milk"}', "/name"),
]


@pytest.fixture
def options(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    return tmp_path


@pytest.mark.parametrize("text", VALID)
def test_a_valid_document_is_accepted_in_any_form(options, text):
    assert machine(options, "check", "s.json", "--valid", "--text", text)["accepted"]
    assert run(options, "check", "s.json", "--valid", "--text", text).stdout == "accepted: valid under the schema\n"


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("mode", [(), ("--whitespace", "compact")])
def test_without_it_what_is_refused_for_its_form_is_said_to_be_valid(options, text, mode):
    found = machine(options, "check", "s.json", *mode, "--text", text, code=None)
    assert found["accepted"] or found["valid"], found
    if not found["accepted"]:
        said = run(options, "check", "s.json", *mode, "--text", text, code=1).stdout
        assert FORM in said and "--valid takes what is valid in any form" in said


@pytest.mark.parametrize(("text", "pointer"), INVALID)
def test_what_is_not_valid_is_refused_in_the_words_of_the_schema(options, text, pointer):
    found = machine(options, "check", "s.json", "--valid", "--text", text, code=1)
    assert {problem["pointer"] for problem in found["problems"]} == {pointer}, found
    assert all(problem["schema"] for problem in found["problems"])
    found = machine(options, "check", "s.json", "--text", text, code=1)
    assert "valid" not in found and FORM not in run(options, "check", "s.json", "--text", text, code=1).stdout


def test_a_key_that_is_given_twice_is_refused_at_its_place(options):
    found = machine(options, "check", "s.json", "--valid", "--text", '  {"name": "tea", "name": "tea"}', code=1)
    assert "given twice" in found["problems"][0]["message"] and found["column"] == 19
    assert "text ends" in run(options, "check", "s.json", "--valid", "--text", '{"name": "tea"', code=1).stdout


def test_what_is_not_utf_8_is_no_document(options):
    (options / "latin.json").write_bytes(b'{"name": "t\xe9"}')
    for more in ((), ("--valid",)):
        found = machine(options, "check", "schema:{}", "latin.json", *more, code=1)
        assert "valid" not in found and "not UTF-8" in found["problems"][0]["message"]


def test_many_documents(options):
    (options / "all.jsonl").write_text("\n".join(text.replace("\n", "") for text in VALID) + "\n" + INVALID[0][0])
    found = machine(options, "check", "s.json", "all.jsonl", "--valid", code=1)
    assert found["counts"] == {"documents": len(VALID) + 1, "accepted": len(VALID), "refused": 1}
    assert FORM in run(options, "check", "s.json", "all.jsonl", code=1).stdout
    run(options, "compile", "s.json", "-t", "bytes", "-o", "s.index", "--whitespace", "compact")
    assert machine(options, "check", "s.index", "all.jsonl", "--valid", code=1)["counts"]["refused"] == 1


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        ("pattern:a", (), "--valid is for a JSON Schema, and pattern:a is a pattern"),
        ("s.json", ("--property-order", "any"), "leave out it or --property-order"),
        ("s.json", ("--spelling", "plain"), "leave out it or --spelling"),
        ("s.json", ("--bytes",), "leave out it or --bytes"),
        ("s.json", ("-t", "x.ilk"), "leave out it or --tokenizer"),
    ],
)
def test_options_that_do_not_fit(options, source, more, words):
    assert words in run(options, "check", source, "--valid", *more, "--text", "1", code=2).stderr


@pytest.mark.parametrize(
    ("schema", "text", "is_known"),
    [
        ('{"type":"integer"}', "7" * 90, False),
        ('{"type":"integer"}', " " + "7" * 90, False),
        ('{"type":"number"}', "0." + "7" * 90, False),
        ('{"type":"number","multipleOf":0.01}', "123456789012345678.5", False),
        ('{"type":"number","maximum":5}', "7" * 90, True),
        ('{"type":"string"}', "7" * 90, True),
        ('{"type":"integer"}', "7" * 80, True),
    ],
)
def test_of_a_number_that_is_never_written_validity_is_not_known(folder, schema, text, is_known):
    """The answer is no, since the engine cannot say yes; but it does not say that the document is not valid."""
    accepted = len(text) == 80
    said = run(folder, "check", f"schema:{schema}", "--valid", "--text", text, code=0 if accepted else 1).stdout
    assert ("whether it is valid is not known: " in said) is not is_known, said


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('{"count": 0, "more": [1}', 24),
        ('{"count": 0, "more": [1', 24),
        ('{"count": 0, "more": [1],}', 26),
        (' {"count": 0, "more": tru}', 23),
        ('{"count": 0, "count": 2,}', 25),
    ],
)
def test_that_a_text_is_no_json_comes_before_what_the_schema_says(options, text, column):
    found = machine(options, "check", "s.json", "--valid", "--text", text, code=1)
    first, *more = found["problems"]
    assert first["message"].startswith("not JSON: ") and (first["column"], found["column"]) == (column, column)
    assert more and not any(one["message"].startswith("not JSON: ") for one in more)
    (options / "d.json").write_text(text)
    for way in ((), ("--all-reasons",)):
        said = run(options, "check", "s.json", "d.json", "d.json", "--valid", *way, code=1).stdout
        assert f"d.json:1:{column}: " in said and "not JSON: " in said, said


@pytest.mark.parametrize(
    ("text", "column", "key"),
    [
        ('{"count": 2 "item": "tea"}', 13, "count"),
        ('{"count" 2, "item": "tea"}', 10, "count"),
        ('{"count"', 9, "count"),
        ('{"item": "tea", "size": "a" "count": 2}', 29, "size"),
    ],
)
def test_broken_json_comes_before_the_order_of_its_keys(options, text, column, key):
    """Without ``--valid``, too; and the key is named where the text breaks off behind it."""
    (options / "o.json").write_text(
        '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}, "size": {"type": "string"}},'
        ' "required": ["item", "count", "size"], "additionalProperties": false}'
    )
    found = machine(options, "check", "o.json", "--text", text, code=1)
    broken, order = found["problems"]
    assert broken["message"].startswith("not JSON: ") and (broken["column"], found["column"]) == (column, column)
    assert order["message"] == f"`{key}` does not come in the order in which the schema declares the keys"
    assert text[order["start"] : order["end"]] == f'"{key}"'
