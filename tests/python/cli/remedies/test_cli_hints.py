"""Hints and notes where the result alone would leave a reader in the dark."""

import json
import re

import pytest
from command_line import machine, run

NUMBER = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}
TAG = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": NUMBER}, "end": "</a>"}
OTHER = TAG | {"begin": "<ab>", "content": {"type": "json_schema", "json_schema": {"type": "string", "maxLength": 1}}}


def tag(*tags):
    form = {"type": "triggered_tags", "triggers": ["<a"], "tags": list(tags)}
    return "tag:" + json.dumps({"type": "structural_tag", "format": form})


@pytest.mark.parametrize(
    ("text", "message", "column", "pointer"),
    [
        ('Well, <a>{"n": 9}</a>', "`n`: 9 is above maximum 5", 16, "/n"),
        ('<a>{"n": 1}</a> <a>{}</a>', "`n` is missing; it is required", 20, ""),
        ('<a>{"n": 1}</a> <a> {}</a>', '" " does not fit the tag "<a>"', 20, ""),
        ('<a>{"n": 1}</a><ab>"xy"</a>', "2 characters; at most 1", 20, ""),
        ('<a>{"n": 1}</b>', "does not fit", 14, ""),
        ('<a>{"n": ', "ends", None, ""),
    ],
)
def test_a_text_of_a_structural_tag_is_refused_in_the_words_of_its_schema(folder, text, message, column, pointer):
    found = machine(folder, "check", tag(TAG, OTHER), "--text", text, code=1)
    problem = found["problems"][0]
    assert message in problem["message"] and problem["pointer"] == pointer, problem
    assert column is None or problem["column"] == column, problem


@pytest.mark.parametrize(
    ("reference", "place", "meant"),
    [
        ("#/$defs/Adress", "definitions", "#/definitions/Address"),
        ("#/$defs/Address", "definitions", None),  # The engine says it.
        ("#/components/schemas/Address", "$defs", "#/$defs/Address"),
        ("#/definitions/Adress", "$defs", "#/$defs/Address"),
        ("#Address", "$defs", "#/$defs/Address"),
        ("Address", "definitions", "#/definitions/Address"),
        ("#/$defs/Customer", "definitions", ""),
    ],
)
def test_a_definition_elsewhere_is_named(folder, reference, place, meant):
    schema = {"$ref": reference, place: {"Address": {"type": "null"}}}
    error = machine(folder, "inspect", f"schema:{json.dumps(schema)}", code=3)["error"]
    if meant:
        assert error["remedy"] == f'did you mean "{meant}"?' and "did you mean" not in error["message"]
    else:
        assert "remedy" not in error
        assert meant == "" or f'did you mean "#/{place}/Address"?' in error["message"]


def test_a_drawing_on_the_standard_output_says_what_it_leaves_out(folder):
    schema = {"type": "object", "properties": {f"k{i}": {"type": "null"} for i in range(60)}}
    (folder / "wide.json").write_text(json.dumps(schema))
    words = ("draw", "wide.json", "-o", "-", "--format", "mmd")
    said = run(folder, *words)
    assert "rows or values are left out of the drawing; --all draws them" in said.stderr and "k59" not in said.stdout
    assert run(folder, *words, "--all").stderr == ""


def test_choices_that_are_there_more_than_once(folder):
    (folder / "twice.choices").write_text("a\nb\na\n\nb\n")
    for word, said in (
        ("choices:yes,no,yes", '"yes" is there more than once, which changes nothing'),
        ('choices:["a,b", "a,b"]', '"a,b" is there more than once'),
        ("twice.choices", '"a", "b" are there more than once'),
    ):
        assert f"note: {said}" in run(folder, "inspect", word).stderr
    assert run(folder, "inspect", "choices:yes,no").stderr == ""


def test_an_alternative_in_the_place_of_another_is_one_change(folder):
    for name, letters in (("old.lark", "a-c"), ("new.lark", "a-d")):
        (folder / name).write_text(f"start: WORD\nWORD: /[{letters}]+/\n")
    said = run(folder, "diff", "old.lark", "new.lark", code=1).stdout
    assert "the first accepts less" in said and "terminal WORD: changed from /[a-c]+/ to /[a-d]+/" in said


def test_a_response_in_the_place_of_an_output(folder):
    entry = {"token": "{", "logprob": -0.1, "bytes": [123]}
    (folder / "response.json").write_text(json.dumps({"choices": [{"logprobs": {"content": [entry]}}]}))
    said = run(folder, "trace", 'schema:{"type":"object"}', "response.json", "-o", "t.html").stderr
    assert "note: response.json is a response of an API; --logprobs response.json traces the output in it" in said
    assert run(folder, "trace", "order.json", "good.json", "-o", "t.html").stderr == ""


def test_a_list_of_names_is_no_source(folder):
    (folder / "names.txt").write_text("order.json\n\n")
    said = run(folder, "precompute", "names.txt", "-t", "bytes", "-o", "store", code=4).stderr
    assert "names.txt is a list of names, and no source" in said and "interlock precompute $(cat names.txt)" in said


def test_a_byte_is_told_from_a_backslash(folder):
    """The first byte of `à` and `é` is forced, and no text; before, both sources said the same."""
    byte, backslash = (run(folder, "inspect", f"pattern:{p}").stdout for p in ("[à-ü]", r"\\xc3"))
    assert 'forced text:    "\\xc3"' in byte and 'forced text:    "\\\\xc3"' in backslash


@pytest.mark.parametrize(
    ("pattern", "text", "must"),
    [("[à-ü]", "x", None), ("é", "è", "é"), ("a[à-ü]", "x", "a"), ("é", "x", "é"), ("aé|bé", "ax", "é")],
)
def test_part_of_a_character_is_no_text_that_must_follow(folder, pattern, text, must):
    said = run(folder, "check", f"pattern:{pattern}", "--text", text, code=1).stdout
    assert said.endswith(f'must follow: "{must}"\n') if must else "must follow" not in said


@pytest.mark.parametrize(
    "source",
    ["pattern:a{1000000}", f"choices:{'a' * 5_000}", f"choices:{'a' * 5_000},b", f'schema:{{"const":"{"a" * 5_000}"}}'],
)
@pytest.mark.parametrize("text", ["aaa", '"aaa"', '"' + "a" * 4_999 + 'b"'])
def test_long_texts_are_cut(folder, source, text):
    said = run(folder, "check", source, "--text", text, code=1).stdout
    assert max(map(len, said.splitlines())) < 800, said[:2_000]
    if source.startswith("pattern") and text == "aaa":
        assert f'must follow: "{"a" * 60}" and ' in said and said.endswith(" bytes more\n")


def test_a_way_on_is_offered_where_it_leads_on(folder):
    """Without its slashes, `/(a/` is broken as well, and what `(?i)` is to be is in the error."""
    assert "slashes" not in run(folder, "inspect", "pattern:/(a/", code=3).stderr
    assert "try:" not in run(folder, "inspect", 'schema:{"pattern":"(?i)a"}', code=3).stderr
    assert "leave out the slashes around the pattern" in run(folder, "inspect", "pattern:/^a$/", code=3).stderr


def test_an_option_that_was_not_given_is_not_named(folder):
    said = run(folder, "check", "pattern:a", "-", "-", "--trace", code=2).stderr
    assert "--junit" not in said and "one document" in said


def test_a_bound_of_blanks_is_lifted_by_an_option(folder):
    """As it is written there, in a shell."""
    text = "{" + " " * 65 + "}"
    said = run(folder, "check", 'schema:{"type": "object"}', "--text", text, code=1).stdout
    option, pattern = re.search(r"try: (--whitespace) '(.*)' takes runs of any length", said).groups()
    run(folder, "check", 'schema:{"type": "object"}', "--text", text, option, pattern)


def test_a_link_to_nothing_is_not_meant_by_itself(folder):
    (folder / "link.json").symlink_to("nothing.json")
    said = run(folder, "check", "order.json", "link.json", code=4).stderr
    assert said.endswith("  try: it is a link to nothing.json, which is not there: mend or remove it\n")
    assert "did you mean" not in run(folder, "inspect", "schema:@link.json", code=4).stderr


def test_a_drawing_of_many_states_takes_two_options(folder):
    """Both are named at once, where the second is not given."""
    huge = ("draw", r"pattern:[a-z]{1,500}x\d{2000}", "-o", "a.svg", "--limit", "max_flat_states=100")
    way = "  try: --limit max_flat_states=N takes more"
    assert f"{way}, and --max-states N draws more than 2000 of them\n" in run(folder, *huge, code=3).stderr
    assert f"{way}\n" in run(folder, *huge, "--max-states", "3000", code=3).stderr


def test_the_array_whose_elements_cannot_be_counted_is_named(folder):
    items = {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 1}
    few = {"type": "array", "uniqueItems": True, "minItems": 3, "items": items}
    schema = {"properties": {"x": {"uniqueItems": True}, "a": few}}
    (folder / "few.json").write_text(json.dumps(schema, indent=1))
    error = machine(folder, "inspect", "few.json", code=3)["error"]
    assert "would need to count them" in error["message"]
    assert (error["pointer"], error["line"], error["column"]) == ("/properties/a", 8, 19)
    schema["properties"]["b"] = few
    (folder / "few.json").write_text(json.dumps(schema))
    assert "pointer" not in machine(folder, "inspect", "few.json", code=3)["error"]


@pytest.mark.parametrize("source", ["pattern:ab", 'grammar:start: "ab"'])
def test_where_nothing_but_the_end_is_allowed(folder, source):
    assert "\n  allowed there: the end\n" in run(folder, "check", source, "--text", "abc", code=1).stdout
