"""Why a text is refused, in the words of its source: complete, and never against the engine."""

import json
import re
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from engine_lists import assert_core_knows, known_formats

import interlock
from interlock.explain import NotJson, byte_vocabulary, explain, explanation, parse
from interlock.string_formats import FORMATS

DATA = Path(__file__).parents[2] / "data"
ORDER = {
    "type": "object",
    "properties": {
        "item": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "size": {"enum": ["small", "large"]},
    },
    "required": ["item"],
    "additionalProperties": False,
}


def index_of(schema, **options):
    return interlock.Index.from_json_schema(schema, byte_vocabulary(), **options)


def said(schema, text, **options):
    return [problem.message for problem in explain(index_of(schema, **options), text).problems]


def cases():
    for name in ("official", "drafts", "own"):
        for case in json.loads((DATA / f"schema_{name}.json").read_text(encoding="utf-8")):
            for key in ("valid", "invalid"):
                yield json.dumps(case["schema"]), [json.dumps(value) for value in case[key]], key == "valid"
    for case in json.loads((DATA / "schema_rival.json").read_text(encoding="utf-8")):
        yield case["schema"], case["accepts"], True
        yield case["schema"], case["refuses"], False


def test_it_agrees_with_the_engine_and_the_specification():
    """Each invalid document of the suites has a reason in the schema's words; each valid one has none."""
    seen = {"accepted": 0, "refused": 0, "not compiled": 0}
    for schema, documents, valid in cases():
        try:
            index = index_of(schema, property_order="any")
        except interlock.InterlockError:
            seen["not compiled"] += 1
            continue
        recipe = explanation.Recipe.of(index)
        validator = explanation.validator_of(recipe)
        for text in documents:
            found = explain(index, text)
            assert found.accepted == valid, (schema, text)
            assert found.accepted == (not found.problems)
            if valid:
                seen["accepted"] += 1
                assert validator.explain(text) == [], (schema, text)
                continue
            seen["refused"] += 1
            assert any(problem.schema for problem in found.problems), (schema, text)
            for problem in found.problems:
                assert 0 <= problem.start < problem.end <= len(text) + 1 and problem.until >= found.character
                # The place of the keyword is one that the schema has.
                where = json.loads(schema)
                if "#" not in problem.schema:
                    for part in problem.schema.split("/")[1:]:
                        part = part.replace("~1", "/").replace("~0", "~")
                        where = where[int(part)] if isinstance(where, list) else where.get(part, {})
    assert seen["accepted"] > 2900 and seen["refused"] > 2900 and seen["not compiled"] < 60


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('{"item": "tea", "colour": "red", "count": 0}',
         ["`colour` is no property here; allowed: item, count, size", "`count`: 0 is below minimum 1"]),
        ('{"count": 3}', ["`item` is missing; it is required"]),
        ('{"item": 3}', ["`item`: a string is expected, not a number (3)"]),
        ('{"item": "a", "size": "smal"}', ['`size`: "smal" is none of the allowed values: "small", "large"']),
        ("[]", ["the document: an object is expected, not an array"]),
        ('{"item": "a"', ["not JSON: the text ends inside the object that begins at line 1, column 1"]),
        ('{"item": "a", "colour": 1', ["`colour` is no property here; allowed: item, count, size",
                                       "not JSON: the text ends inside the object that begins at line 1, column 1"]),
        ("{'item': 1}", ["not JSON: a key in double quotes is expected"]),
        ('{"item": True}', ["not JSON: a value is expected"]),
        ('{"item": "a", "item": "b"}', ["`item` is given twice; keys do not repeat"]),
        ('{"count": 3, "item": "a"}', ["`count` does not come in the order in which the schema declares the keys"]),
        (' {"item": "a"}', ["no blanks may stand before or after the document"]),
        ('{"item": "a"} ', ["no blanks may stand before or after the document"]),
        ('{"item": "a", "count": 1e1}',
         ["`count`: this spelling of the number is not written: bounded numbers are written without exponent"]),
        ('{"item":' + " " * 70 + '"a"}', ["a run of 70 blanks; at most 64 may follow each other"]),
        ('{"item": "\\ud800"}', ["not JSON: half of a surrogate pair stands alone in this string"]),
    ],
)  # fmt: skip
def test_reasons(text, messages):
    assert said(ORDER, text) == messages


A_FIRST = {"properties": {"a": {"const": 1}, "b": {"type": "string"}}, "required": ["a", "b"]}
B_FIRST = {"properties": {"b": {"type": "integer"}, "a": {"const": 2}}, "required": ["a", "b"]}
ORDER_BY_KIND = {
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "if": {"properties": {"a": {"const": 1}}},
    "then": {"properties": {"c": {"type": "string"}}, "required": ["c"]},
}
EITHER = {"type": "object", "oneOf": [A_FIRST, B_FIRST]}


@pytest.mark.parametrize(
    ("schema", "text", "name"),
    [
        (EITHER, '{"b": "x", "a": 1}', "`b`"),
        (EITHER, '{"a": 2, "b": 1}', "`a`"),
        ({"properties": {"in": EITHER}}, '{"in": {"b": "x", "a": 1}}', "`b`, or a key around it,"),
        ({**ORDER_BY_KIND, "else": {"properties": {"d": {}}, "required": ["d"]}}, '{"c": "x", "a": 1}', "`c`"),
        ({"dependentSchemas": {"b": {"properties": {"z": {}}}}, "properties": {"b": {}}}, '{"z": 1, "b": 2}', "`b`"),
    ],
)
def test_a_key_out_of_order_is_named(schema, text, name):
    """The places are values: which alternative reads a text shows only there."""
    (problem,) = explain(index_of(schema), text).problems
    assert problem.message == f"{name} does not come in the order in which the schema declares the keys"
    key = re.findall("`(.*?)`", name)[0]
    assert text[problem.start : problem.end] == f'"{key}"'


def test_bounds_of_generation_are_named_with_the_way_out():
    """The schema accepts these: what refuses them is that generation must come to an end."""
    blanks = '{"a":' + " " * 65 + "1}"
    (problem,) = explain(index_of({"type": "object"}), blanks).problems
    assert problem.message == "a run of 65 blanks; at most 64 may follow each other"
    pattern = re.fullmatch(r'whitespace="(.*)" takes runs of any length', problem.hint)[1]
    assert explain(index_of({"type": "object"}, whitespace=pattern), blanks).accepted
    digits = '{"a": 0.' + "123456789" * 4 + "1}"
    (problem,) = explain(index_of({"type": "object"}), digits).problems
    assert problem.message == "`a`: 37 digits behind the point; at most 32 are written"
    assert problem.hint.startswith("round the number") and digits[problem.start : problem.end] == digits[6:-1]
    assert explain(index_of({"type": "object"}), digits[: 8 + 32] + "}").accepted


def test_reasons_of_options():
    plain = {"whitespace": "compact"}
    assert "whitespace=" in said(ORDER, '{"item": "a"}', **plain)[0]
    assert "(spelling constants)" in said(ORDER, '{"\\u0069tem":"a"}', **plain)[0]
    assert said(ORDER, '{"count": 3, "item": "a"}', property_order="any") == []
    hint = explain(index_of(ORDER), '{"count": 3, "item": "a"}').problems[0].hint
    assert hint == 'property_order="any" takes every order'


@pytest.mark.parametrize(
    ("schema", "text", "message"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, '"x"', "an integer or null is expected"),
        ({"oneOf": [{"minimum": 1}, {"maximum": 9}]}, "5", "fits alternatives 1 and 2; exactly one"),
        ({"oneOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"]},
                    {"properties": {"k": {"const": "b"}, "n": {"type": "null"}}, "required": ["k"]}]},
         '{"k": "b", "n": 1}', "`n`: null is expected"),
        ({"oneOf": [{"properties": {"k": {"const": "alpha"}}, "required": ["k"]},
                    {"properties": {"k": {"const": "beta"}}, "required": ["k"]}]},
         '{"k": "alfa"}', '`k`: "alfa" fits no alternative; allowed: "alpha", "beta"'),
        ({"not": {"type": "string"}}, '"a"', "is what `not` excludes"),
        ({"uniqueItems": True, "type": "array", "items": {"type": "integer"}}, "[1, 2, 1.0]", "`[2]` repeats `[0]`"),
        ({"contains": {"type": "null"}, "minContains": 2}, "[null]", "1 element that fits `contains`; at least 2"),
        ({"propertyNames": {"maxLength": 2}}, '{"abc": 1}', "the key `abc` has 3 characters; at most 2"),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', "`b` is missing; `a` requires it"),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, '{"a": 1}', "`b` is missing"),
        ({"pattern": "^[a-z]+$"}, '"aB"', "does not match the pattern ^[a-z]+$"),
        ({"format": "date"}, '"2023-02-30"', "is no date (format)"),
        ({"multipleOf": 0.01}, "0.123", "is no multiple of 0.01"),
        ({"exclusiveMaximum": 5}, "5", "is not below exclusiveMaximum 5"),
        ({"items": {"items": {"type": "null"}}}, "[[null, 1]]", "`[0][1]`: null is expected, not a number (1)"),
        ({"properties": {"a b": {"type": "null"}}}, '{"a b": 1}', '`["a b"]`: null is expected'),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "type": "object"}}},
         '{"n": {"n": 1}}', "`n.n`: an object is expected"),
        ({"prefixItems": [{}], "items": False}, "[1, 2]", "has 2 elements; at most 1 is allowed"),
        ({"maxItems": 1}, "[1, 2]", "has 2 elements; at most 1 is allowed (maxItems)"),
        ({"maxItems": 2}, "[1, 2, 3]", "has 3 elements; at most 2 are allowed (maxItems)"),
        ({"contains": {"type": "null"}}, "[1]", "has 0 elements that fit `contains`; at least 1 is required"),
        ({"contains": {"const": 1}, "maxContains": 1}, "[1, 1]", "that fit `contains`; at most 1 is allowed"),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, '{"b": 1}', "`b` is no property here; allowed: a"),
    ],
)  # fmt: skip
def test_keywords(schema, text, message):
    assert message in said(schema, text)[0]


ONE_KEY = {"type": "object", "properties": {"q": {"type": "integer"}}, "required": ["q"]}
EXTRA = ["`q` is missing; it is required", "`x` is no property here; allowed: q"]


@pytest.mark.parametrize(
    ("schema", "messages"),
    [
        (ONE_KEY, EXTRA),
        ({"$ref": "#/$defs/one", "$defs": {"one": ONE_KEY}}, EXTRA),
        ({"allOf": [ONE_KEY]}, EXTRA),
        # What the alternative would evaluate is not known where none fits.
        ({"anyOf": [ONE_KEY, {"properties": {"x": {"minimum": 2}}, "required": ["x", "y"]}]}, None),
    ],
)
def test_a_key_that_nothing_evaluates_is_named_beside_one_that_is_missing(schema, messages):
    found = said({**schema, "unevaluatedProperties": False}, '{"x": 1}')
    assert found == messages if messages else not any("is no property" in message for message in found)


def test_other_documents_and_metaschemas():
    schema = {"properties": {"a": {"$ref": "urn:other#/$defs/n"}}}
    documents = {"urn:other": {"$defs": {"n": {"type": "integer", "minimum": 3}}}}
    found = explain(index_of(schema, documents=documents), '{"a": 2}').problems[0]
    assert (found.message, found.schema) == ("`a`: 2 is below minimum 3", "urn:other#/$defs/n/minimum")
    schema = {"$ref": "http://json-schema.org/draft-07/schema#"}
    assert said(schema, '{"type": 1}')[0].startswith("`type` fits none of 2 alternatives (anyOf): 1: `type`: 1 is none")


def test_what_is_left_out_or_ignored_is_no_reason():
    schema = {"type": "array", "not": {"uniqueItems": True}, "minItems": 1}
    assert said(schema, "[]", on_unsupported="warn") == [
        "the document has 0 elements; at least 1 is required (minItems)"
    ]
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "minimum": 5}
    assert said(draft7 | {"definitions": {"a": {"maximum": 3}}}, "4") == ["the document: 4 is above maximum 3"]
    assert said(
        {"properties": {"a": {"format": "date"}, "b": {"const": 1}}}, '{"a": "x", "b": 2}', formats="annotate"
    ) == ["`b`: 2 is not 1, the only value allowed"]


def test_other_sources():
    choices = interlock.Index.from_choices(["yes", "no"], byte_vocabulary())
    found = explain(choices, "yess")
    assert (found.at, found.problems[0].hint) == (3, 'did you mean "yes"?')
    pattern = interlock.Index.from_regex("\\d{4}-é", byte_vocabulary(), flags="a")
    found = explain(pattern, "2026-ü")
    assert (found.at, found.character, found.problems[0].start) == (6, 5, 5)
    assert explain(pattern, "2026-").ends_early and explain(pattern, "2026-é").accepted
    broken = explain(index_of(True), b'"\xff"')
    assert [p.message for p in broken.problems] == ["the text is not UTF-8 here"]


def test_deep_documents_are_refused_with_a_reason():
    deep = "[" * 5000 + "]" * 5000
    found = explain(index_of({"type": "object"}), deep)
    assert not found.accepted
    assert [p.message for p in found.problems] == [
        f"the document is nested 5000 levels deep, and reasons are found in documents of about "
        f"{sys.getrecursionlimit() * 2 // 5} levels at most"
    ]
    assert explain(index_of({"type": "object"}), "[" * 5000).problems[0].message.startswith("the document is nested")
    assert explain(index_of(True), "[" * 5000).problems[0].message == "the text ends too early"


def test_a_value_inside_of_too_many_schemas_is_refused_with_the_limit():
    node = {"properties": {"a": {"$ref": "#"}, "v": {"minimum": 3}}}
    for depth, said in (
        (20, "1 is below minimum 3"),
        (150, "the value is nested 151 levels deep here, and reasons are"),
    ):
        found = explain(index_of(node), '{"a":' * depth + '{"v":1}' + "}" * depth)
        assert said in found.problems[0].message
    assert "through at most 200 schemas inside each other" in found.problems[0].message


def test_another_vocabulary_changes_nothing(word_vocabulary):
    index = interlock.Index.from_json_schema(ORDER, word_vocabulary)
    assert [p.message for p in explain(index, '{"item": 3}').problems] == said(ORDER, '{"item": 3}')


@pytest.mark.parametrize(
    ("text", "offset", "word"),
    [
        ("[1, 2,]", 6, "comma before ]"), ("[1 2]", 3, "a comma or ]"), ("01", 0, "zeros in front"), ("-", 1, "digit"),
        ("1.", 2, "after the point"), ("1e", 2, "exponent"), ('"a\nb"', 2, r"\n"), (r'"\x"', 1, "no escape"),
        (r'"\u12"', 3, "four hexadecimal"), ("NaN", 0, "JSON has no NaN; write null"), ('{"a" 1}', 5, "colon"),
        ("// a\n1", 0, "no comments"), ("1 2", 2, "ended"), ("“a”", 0, "plain ones"), ("```json\n1", 0, "fence"),
    ],
)  # fmt: skip
def test_texts_that_are_not_json(text, offset, word):
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert caught.value.offset == offset and word in f"{caught.value.message} {caught.value.hint}"
    with pytest.raises(ValueError):
        json.loads(text, parse_constant=lambda word: json.loads("x"))


def test_a_comma_too_many_is_no_fault_of_the_string_before_it():
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    (problem,) = explain(index_of(schema), '{"a":"DE",}').problems
    assert problem.message == "not JSON: a key is expected after the comma"


def test_places_of_values():
    text = '{"a": [1.50, "x\\u00e9"], "b/c": {"d": null}}'
    for pointer, node in parse(text).walk():
        value = json.loads(text, parse_float=Decimal)
        for part in pointer.split("/")[1:]:
            value = value[int(part)] if isinstance(value, list) else value[part.replace("~1", "/")]
        assert json.loads(text[node.start : node.end], parse_float=Decimal) == value


def test_a_string_that_has_ended_is_explained_while_its_document_goes_on():
    schema = {
        "properties": {
            "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
            "mail": {"type": "string", "format": "email"},
        }
    }
    index = interlock.Index.from_json_schema(schema, byte_vocabulary())

    def said(text):
        return explain(index, text).problems[0].message

    assert said('{"zip": "1234"') == '`zip`: "1234" does not match the pattern ^[0-9]{5}$'
    assert said('{"zip": "1234"}') == '`zip`: "1234" does not match the pattern ^[0-9]{5}$'
    # What the engine leaves out of one format is no reason elsewhere.
    assert "hostname" not in said('{"zip": "12345678')
    # A string that is open could go on.
    assert "not JSON" in said('{"mail": "ada')


@pytest.mark.parametrize(
    ("name", "left_out", "none"),
    [
        ("hostname", "xn--bcher-kva.example", "a b"),
        ("duration", "p1y", "1 day"),
        ("email", '"a<b"@c.org', "ada"),
        ("relative-json-pointer", "0+1", "/a"),
        ("time", "00:06:60+00:07", "noon"),
    ],
)
def test_a_text_that_a_format_leaves_out_is_not_said_to_be_none(name, left_out, none):
    schema = {"properties": {"a": {"type": "string", "format": name}}}
    (row,) = [row for row in index_of(schema).report if row.keyword == "format"]
    (message,) = said(schema, json.dumps({"a": left_out}))
    assert message.endswith(f"is no {name} (format), or one that interlock leaves out: {row.reason}")
    assert f"is no {name} (format): " in said(schema, json.dumps({"a": none}))[0]
    # The report's row also says what is done where the format is negated, which is of no interest here.
    schema["properties"]["b"] = {"not": schema["properties"]["a"]}
    schema["properties"]["a"] = {"$ref": "#/properties/b/not"}
    (again,) = said(schema, json.dumps({"a": left_out}))
    assert again == message and any("negated" in row.reason for row in index_of(schema).report)


def test_every_format_asserts_in_every_draft():
    page = Path(__file__).parents[3] / "docs" / "json-schema.md"
    if not page.is_file():
        pytest.skip("the pages are not here")
    table = page.read_text(encoding="utf-8").partition("| draft | formats |\n")[2].partition("\n\n")[0]
    listed = {row.split("|")[1].strip(): re.findall("`(.*?)`", row) for row in table.splitlines()[1:]}
    # Formats that a registry has and no draft, if any, have the last row.
    assert [*listed, "none"][:5] == ["4", "6", "7", "2019-09", "none"] and len(listed) in (4, 5), list(listed)
    rows, known = sorted(sum(listed.values(), [])), sorted(known_formats())
    assert rows == known, (
        "docs/json-schema.md names each format in one row of its table of drafts (| draft | formats |); not so: "
        f"{sorted(set(rows) ^ set(known)) or 'a format that stands there twice'}"
    )
    drafts = ["http://json-schema.org/draft-0%s/schema#" % n for n in "467"]
    drafts += ["https://json-schema.org/draft/%s/schema" % n for n in ("2019-09", "2020-12")]
    for name, known in FORMATS.items():
        assert_core_knows(name)
        for draft in drafts:
            index = index_of({"$schema": draft, "type": "string", "format": name})
            assert explain(index, json.dumps(known.example)).accepted, (draft, name)
            assert not explain(index, '"{ ("').accepted, (draft, name)
            assert all(row.enforcement == "narrower" for row in index.report if row.keyword == "format"), (draft, name)


def test_every_known_format_has_a_hint_with_an_example_of_it():
    for name, known in FORMATS.items():
        assert_core_knows(name)
        schema = {"type": "string", "format": name}
        assert not said(schema, json.dumps(known.example)), name
        # Refused by every format but that of URI templates, whose braces are unbalanced here, and patterns.
        problem = explain(index_of(schema), '"{ ("').problems[0]
        assert problem.keyword == "format" and problem.hint == known.hint, name


def test_missing_keys_of_one_object_are_one_problem_in_the_order_of_the_schema():
    inner = {"required": ["y", "x"]}
    schema = {
        "required": ["b", "a", "c1", "c", "c10"],
        "properties": {"n": {"type": "integer"}, "o": inner},
        "dependentRequired": {"n": ["d"]},
    }
    index = interlock.Index.from_json_schema(json.dumps(schema), byte_vocabulary(), property_order="any")
    found = explain(index, '{"n": "x", "o": {}}').problems
    assert [(problem.message, problem.missing) for problem in found] == [
        ("5 required keys are missing: `b`, `a`, `c1`, `c`, `c10`", ("b", "a", "c1", "c", "c10")),
        ("`d` is missing; `n` requires it (dependentRequired)", ("d",)),
        ('`n`: an integer is expected, not a string ("x")', ()),
        ("2 required keys are missing in `o`: `y`, `x`", ("y", "x")),
    ]


@pytest.mark.parametrize(
    "closing",
    [{"properties": {"a": {}, "b": {}}, "additionalProperties": False}, {"type": "object", "maxProperties": 2}],
)
def test_a_key_that_repeats_where_no_other_may_come(closing):
    index = interlock.Index.from_json_schema(closing, interlock.explain.byte_vocabulary())
    found = interlock.explain.explain(index, '{"a": 1, "b": 1,  "a": 2}')
    assert [problem.message for problem in found.problems] == ["`a` is given twice; keys do not repeat"]
