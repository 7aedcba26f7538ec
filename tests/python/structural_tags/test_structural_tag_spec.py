"""Structural tags as JSON: every format is read, written again and judged; every mistake is named by its place."""

from __future__ import annotations

import json
import pickle

import pytest
from interlock import InterlockError
from interlock.tools import StructuralTagError, spec

A = {"type": "const_string", "value": "a"}
TAG = {"type": "tag", "begin": "<b>", "content": A, "end": "</b>"}

#: For each format: its JSON, texts that follow it, texts that do not.
FORMATS = [
    (A, ["a"], ["", "aa", "b"]),
    ({"type": "json_schema", "json_schema": {"type": "integer"}}, ["12", "-1"], ["1.5", '"1"', ""]),
    ({"type": "json_schema", "json_schema": True}, ["[1, 2]", '{"a": null}', '"x"'], ["[1", "x"]),
    (
        {"type": "json_schema", "json_schema": {"properties": {"a": {}, "b": {}}}, "max_whitespace_cnt": 1},
        ['{"a": 1, "b": 2}', '{"a": "  "}'],
        ['{"a":  1}', '{"b": 1, "a": 2}', '{"a": 1, "a": 2}'],
    ),
    (
        {"type": "json_schema", "json_schema": {"properties": {"a": {}, "b": {}}}, "any_order": True},
        ['{"b": 1, "a": 2}'],
        ['{"a": 1, "a": 2}'],
    ),
    ({"type": "json_schema", "json_schema": {"type": "string"}, "excludes": ["<x>"]}, ['"<y>"'], ['"a<x>b"']),
    (
        {"type": "qwen_xml_parameter", "json_schema": {"properties": {"a": {"type": "string"}}, "required": ["a"]}},
        ["<parameter=a>1 < 2</parameter>", "<parameter=a></parameter>\n"],
        ["", "<parameter=a>x", "<parameter=a>x</parameter>y"],
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
            "style": "deepseek_xml",
        },
        [
            '<｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>',
            '<｜DSML｜parameter name="b" string="false"> 1 </｜DSML｜parameter>',
        ],
        [
            '<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>',
            '<｜DSML｜parameter name="b" string="true">1</｜DSML｜parameter>',
            '<｜DSML｜parameter name="b" string="false">x</｜DSML｜parameter>',
        ],
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
            "style": "minimax_m3_xml",
        },
        ["]<]minimax[>[<a>]<]minimax[>[<item>x]<]minimax[>[</item>]<]minimax[>[</a>"],
        [']<]minimax[>[<a>["x"]]<]minimax[>[</a>', "]<]minimax[>[<a>x]<]minimax[>[</a>"],
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
            "style": {"encoding": "python"},
        },
        ["a=1", "a=1, b='x'"],
        ["b=1", "a=1.5", "a=1,"],
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            "style": {"encoding": "gemma", "quote": '<|"|>'},
        },
        ['{a:<|"|>x<|"|>}'],
        ['{a:"x"}', "{}", "{a:1}"],
    ),
    ({"type": "grammar", "grammar": 'root ::= "x" [0-9]+'}, ["x1", "x12"], ["x", "1"]),
    ({"type": "regex", "pattern": "a|bc"}, ["a", "bc"], ["ab", ""]),
    ({"type": "any_text"}, ["", "x\ny"], []),
    ({"type": "any_text", "excludes": ["no"], "max_chars": 4}, ["", "n", "abcd"], ["no", "xnox", "abcde"]),
    ({"type": "quoted", "content": {"type": "regex", "pattern": 'a"b'}}, ['"a\\"b"'], ['"ab"', 'a"b']),
    (
        {"type": "quoted", "content": {"type": "regex", "pattern": "a'b"}, "style": {"encoding": "python"}},
        ['"a\'b"', "'a\\'b'"],
        ["'a'b'"],
    ),
    ({"type": "token", "token": "<T>"}, ["<T>"], ["<t>", "T", ""]),
    ({"type": "exclude_token", "exclude_tokens": ["<T>"]}, ["<U>", "x"], ["<T>", ""]),
    ({"type": "any_tokens", "exclude_tokens": ["<T>"]}, ["", "x<U>y"], ["x<T>"]),
    ({"type": "sequence", "elements": [A, {"type": "any_text"}, A]}, ["aa", "axa"], ["a", "xa"]),
    ({"type": "or", "elements": [A, TAG]}, ["a", "<b>a</b>"], ["", "aa"]),
    ({"type": "optional", "content": A}, ["", "a"], ["aa"]),
    ({"type": "plus", "content": A}, ["a", "aaa"], [""]),
    ({"type": "star", "content": A}, ["", "aaa"], ["b"]),
    ({"type": "repeat", "min": 1, "max": 2, "content": A}, ["a", "aa"], ["", "aaa"]),
    ({"type": "repeat", "min": 2, "max": -1, "content": A}, ["aa", "aaaaa"], ["a"]),
    (TAG, ["<b>a</b>"], ["a", "<b>a", "<b></b>"]),
    ({**TAG, "end": ["</b>", ";"]}, ["<b>a</b>", "<b>a;"], ["<b>a"]),
    (
        {**TAG, "begin": {"type": "token", "token": "<T>"}, "end": {"type": "token", "token": "<U>"}},
        ["<T>a<U>"],
        ["<T>a", "<b>a</b>"],
    ),
    ({**TAG, "begin": {"type": "regex", "pattern": "<b id=[0-9]+>"}}, ["<b id=7>a</b>"], ["<b id=>a</b>", "<b>a</b>"]),
    ({**TAG, "content": {"type": "any_text"}}, ["<b>x</b>"], ["<b>x</b>y</b>"]),
    (
        {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG]},
        ["", "x", "x<b>a</b>y<b>a</b>"],
        ["x<", "<b>x</b>"],
    ),
    (
        {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "at_least_one": True},
        ["<b>a</b>y"],
        ["", "x<b>a</b>"],
    ),
    (
        {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "stop_after_first": True},
        ["", "x<b>a</b>"],
        ["<b>a</b>y"],
    ),
    (
        {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "min_calls": 1, "max_calls": 2},
        ["x<b>a</b>y", "<b>a</b><b>a</b>z"],
        ["", "x", "<b>a</b>" * 3],
    ),
    (
        {
            "type": "triggered_tags",
            "triggers": ["[a("],
            "tags": [{**TAG, "begin": "[", "content": {"type": "regex", "pattern": r"a\(\)"}, "end": "]"}],
        },
        ["see [1]", "[a()] and [b()]"],
        ["[a(", "[a(1)]"],
    ),
    (
        {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<T>"],
            "tags": [{**TAG, "begin": {"type": "token", "token": "<T>"}}],
        },
        ["x<T>a</b>y"],
        ["<T>", "<T>x"],
    ),
    (
        {"type": "tags_with_separator", "tags": [TAG, {**TAG, "begin": "<c>"}], "separator": ", "},
        ["", "<b>a</b>", "<c>a</b>, <b>a</b>"],
        ["<b>a</b>, ", "x<b>a</b>"],
    ),
    (
        {"type": "tags_with_separator", "tags": [TAG, {**TAG, "begin": "<c>"}], "separator": "", "unique": True},
        ["<c>a</b><b>a</b>"],
        ["<b>a</b><b>a</b>"],
    ),
    (
        {"type": "dispatch", "rules": [["@", A], ["#", TAG]], "excludes": ["!"]},
        ["", "x@ay#<b>a</b>"],
        ["@b", "x!", "@"],
    ),
    ({"type": "dispatch", "rules": [["@", A]], "loop": False}, ["x@a"], ["x@ay"]),
    ({"type": "token_dispatch", "rules": [["<T>", A]]}, ["x<T>ay"], ["<T>b"]),
]
KINDS = [f"{index}-{form['type']}" for index, (form, _, _) in enumerate(FORMATS)]


@pytest.mark.parametrize(("form", "accepted", "refused"), FORMATS, ids=KINDS)
def test_formats(form, accepted, refused):
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs judges values")
    from structural_tag_matcher import Matcher

    tag = spec.read({"type": "structural_tag", "format": form})
    assert spec.read(form) == tag
    assert spec.read(json.dumps(form)) == tag
    assert spec.read(spec.write(tag)) == tag
    matcher = Matcher(tag, specials=["<T>", "<U>", '<|"|>'])
    index = index_of(form)
    for text in accepted:
        assert matcher.accepts(text), text
        # Under a pattern, a string of Python stands there without escapes.
        is_escaped = "\\" in text and form.get("style") == {"encoding": "python"} and "regex" in str(form)
        assert taken(index, text) != is_escaped, text
    for text in refused:
        assert not matcher.accepts(text), text
        assert not taken(index, text), text


SPECIALS = ("<T>", "<U>", '<|"|>')


def index_of(form):
    """The engine's index, over single bytes and the special tokens."""
    import interlock
    from interlock.tools.tags.tag_index import index_of_structural_tag

    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in SPECIALS] + [b""]
    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[259], special_token_ids=[256, 257, 258])
    return index_of_structural_tag(form, vocabulary, special_delimiters=True)


def taken(index, text):
    ids, at, data = [], 0, text.encode()
    while at < len(data):
        special = next((one for one in SPECIALS if data.startswith(one.encode(), at)), None)
        ids.append(data[at] if special is None else 256 + SPECIALS.index(special))
        at += len(special or "x")
    guide = index.guide()
    return guide.advance_many(ids) == len(ids) and guide.is_accepting


@pytest.mark.parametrize("name", spec.STYLES)
def test_every_style_is_enforced(name):
    from interlock.tools.notations.argument_writing import write_arguments

    properties = {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"type": "array"}}
    schema = {"type": "object", "properties": properties, "required": ["city"], "additionalProperties": False}
    index = index_of({"type": "json_schema", "json_schema": schema, "style": name})
    for arguments, good in (
        ({"city": "Rome"}, True),
        ({"city": "Ro me", "days": 3, "units": [1, [2]]}, True),
        ({"city": "", "units": []}, True),
        ({"days": 3}, False),
        ({"city": "Rome", "days": 1.5}, False),
        ({"city": "Rome", "other": 1}, False),
        ({"city": "Rome", "units": 1}, False),
    ):
        text = write_arguments(spec.STYLES[name], arguments)
        assert taken(index, text) == good, text
    assert not taken(index, write_arguments(spec.STYLES[name], {"city": "Rome"})[:-1])


def test_every_type_is_covered():
    from interlock.tools.spec.reader import _READERS

    assert {form["type"] for form, _, _ in FORMATS} == set(_READERS)


def test_legacy_form():
    legacy = {
        "structures": [{"begin": "<f>", "schema": '{"type": "integer"}', "end": "</f>"}],
        "triggers": ["<"],
    }
    tag = spec.read(legacy)
    assert tag == spec.read({"type": "structural_tag", **legacy})
    assert isinstance(tag.format, spec.TriggeredTags)
    assert tag.format.tags[0].content.json_schema == {"type": "integer"} and not tag.format.at_least_one
    index = index_of(legacy)
    assert taken(index, "x") and taken(index, "<f>12</f> y<f>1</f>") and not taken(index, "<f>a</f>")
    # SGLang has a field more, and servers write out what clients left out.
    structures = [{"begin": "<f>", "schema": None, "end": "</f>"}]
    dumped = spec.read({"type": "structural_tag", **legacy, "structures": structures, "at_least_one": True})
    assert dumped.format.tags[0].content.json_schema is True and dumped.format.at_least_one


def test_special_tokens_are_kept():
    tag = spec.read({"type": "structural_tag", "format": A, "special_tokens": ["<T>"]})
    assert tag.special_tokens == ("<T>",)
    assert spec.write(tag)["special_tokens"] == ["<T>"]


def test_styles():
    assert list(spec.STYLES) == [
        "json",
        "qwen_xml",
        "minimax_xml",
        "minimax_m3_xml",
        "deepseek_xml",
        "deepseek_v4_1_xml",
        "glm_xml",
        "cohere_xml",
        "kimi_k3_xml",
    ]
    for name, style in spec.STYLES.items():
        assert spec.style_name(style) == name
        form = {"type": "json_schema", "json_schema": {}, "style": name}
        assert spec.write(spec.read(form))["format"].get("style", "json") == name


@pytest.mark.parametrize(
    ("form", "pointer"),
    [
        (3, ""),
        ("x", ""),
        ({}, ""),
        ({"type": "structural_tag"}, ""),
        ({"type": "structural_tag", "format": 1}, "/format"),
        ({"type": "structural_tag", "format": A, "extra": 1}, "/extra"),
        ({"type": "structural_tag", "format": {"type": "x"}}, "/format/type"),
        ({"type": "const_string"}, ""),
        ({"type": "const_string", "value": 1}, "/value"),
        ({**A, "extra": 1}, "/extra"),
        ({"type": "json_schema", "json_schema": []}, "/json_schema"),
        ({"type": "json_schema", "json_schema": {}, "style": "yaml"}, "/style"),
        ({"type": "json_schema", "json_schema": {}, "style": {"encoding": "tagged"}}, "/style"),
        ({"type": "json_schema", "json_schema": {}, "style": "qwen_xml", "excludes": [" a"]}, "/excludes/0"),
        ({"type": "json_schema", "json_schema": {}, "style": "cohere_xml", "excludes": ["a"]}, "/excludes"),
        ({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": -1}, "/max_whitespace_cnt"),
        ({"type": "grammar", "grammar": "x", "syntax": "abnf"}, "/syntax"),
        ({"type": "any_text", "excludes": [""]}, "/excludes/0"),
        ({"type": "any_text", "max_tokens": True}, "/max_tokens"),
        ({"type": "token", "token": -1}, "/token"),
        ({"type": "token", "token": ""}, "/token"),
        ({"type": "any_tokens", "exclude_tokens": [1.5]}, "/exclude_tokens/0"),
        ({"type": "or", "elements": [A, {"type": "or", "elements": []}]}, "/elements/1/elements"),
        ({"type": "star"}, ""),
        ({"type": "repeat", "min": 3, "max": 2, "content": A}, "/max"),
        ({**TAG, "begin": 1}, "/begin"),
        ({**TAG, "begin": {"type": "const_string", "value": "a"}}, "/begin/type"),
        ({**TAG, "end": []}, "/end"),
        ({**TAG, "end": [1]}, "/end/0"),
        ({**TAG, "event": {"kind": "shout"}}, "/event/kind"),
        ({**TAG, "content": {"type": "any_text"}, "end": ""}, "/end"),
        ({"type": "triggered_tags", "triggers": ["<"], "tags": [A]}, "/tags/0"),
        ({"type": "triggered_tags", "triggers": ["x"], "tags": [TAG]}, "/tags/0/begin"),
        ({"type": "triggered_tags", "triggers": ["<", "<b"], "tags": [TAG]}, "/tags/0/begin"),
        ({"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "min_calls": 2, "max_calls": 1}, "/max_calls"),
        ({"type": "token_triggered_tags", "trigger_tokens": [1], "tags": [TAG]}, "/tags/0/begin"),
        ({"type": "tags_with_separator", "tags": [TAG]}, ""),
        ({"type": "dispatch", "rules": [["a"]]}, "/rules/0"),
        ({"type": "dispatch", "rules": [["", A]]}, "/rules/0/0"),
        ({"type": "dispatch", "rules": [["a", A], ["ba", A]]}, "/rules/1/0"),
        ({"structures": [], "triggers": ["<"]}, "/structures"),
        ({"structures": [{"begin": "<f>", "schema": "{", "end": ""}], "triggers": ["<"]}, "/structures/0/schema"),
    ],
)
def test_mistakes_are_named_by_their_place(form, pointer):
    with pytest.raises(StructuralTagError) as caught:
        spec.read(form)
    error = caught.value
    assert error.pointer == (pointer if pointer is not None else error.pointer)
    assert isinstance(error, InterlockError) and isinstance(error, ValueError)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.pointer, str(copy)) == (error.pointer, str(error))


def test_deep_nesting_is_an_error():
    form = A
    for _ in range(5000):
        form = {"type": "optional", "content": form}
    with pytest.raises(StructuralTagError, match="deep"):
        spec.read(form)
    with pytest.raises(StructuralTagError, match="not JSON|deep"):
        spec.read('{"type":"optional","content":' * 100_000)
