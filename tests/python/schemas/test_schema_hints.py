"""Slips in keywords, envelopes around schemas, and documents that are no schemas."""

import json
import re
import warnings
from pathlib import Path

import pytest
from engine_lists import assert_core_knows

import interlock
from interlock import schema_hints
from interlock.explain import byte_vocabulary
from interlock.generators.replies.reply_check import ReplyCheck


@schema_hints.quiet()
def index_of(schema):
    return interlock.Index.from_json_schema(schema, byte_vocabulary())


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("minLenght", "minLength"),
        ("maxlength", "maxLength"),
        ("min_items", "minItems"),
        ("requird", "required"),
        ("additionalproperties", "additionalProperties"),
        ("Type", "type"),
        ("$def", "$defs"),
        ("divisibleBy", "multipleOf"),
        ("property", "properties"),
        ("props", "properties"),
        ("enumeration", "enum"),
        ("tpye", "type"),
        ("itesm", "items"),
        ("x-order", ""),
        ("markdownDescription", ""),
        ("colour", ""),
    ],
)
def test_suggestions(word, meant):
    assert schema_hints.suggestion(word) == meant


def test_one_and_many_are_taken_for_each_other():
    for keyword in schema_hints.KEYWORDS:
        other = keyword[:-3] + "y" if keyword.endswith("ies") else keyword.removesuffix("s")
        for slip in (other, keyword if keyword.endswith("s") else keyword + "s"):
            if slip not in schema_hints.KEYWORDS and slip != "ids":
                assert schema_hints.suggestion(slip) == keyword


def test_a_property_is_warned_of_and_refused():
    schema = {"type": "object", "property": {"a": {}}}
    with pytest.warns(interlock.UnknownKeywordWarning, match="did you mean properties?"):
        interlock.Index.from_json_schema(schema, byte_vocabulary())
    with schema_hints.handling("error"), pytest.raises(interlock.SchemaError) as refused:
        interlock.check_json_schema(schema)
    assert refused.value.keyword == "property"


def test_a_schema_of_nothing_but_a_slip_is_no_object_of_that_name():
    assert schema_hints.no_schema({"tpye": "object"}).endswith("; did you mean type?")


def test_the_list_of_keywords_is_the_one_of_the_engine():
    source = Path(__file__).resolve().parents[3] / "src" / "schema" / "drafts.rs"
    if not source.is_file():
        pytest.skip("the sources are not here")
    names = set(re.findall(r'^    \w+ "([^"]+)" ', source.read_text(encoding="utf-8"), re.MULTILINE))
    # Annotations have no row of their own.
    annotations = schema_hints.ANNOTATIONS | {"contentEncoding", "contentMediaType", "contentSchema", "$vocabulary"}
    differing = names ^ (schema_hints.KEYWORDS - (annotations - names))
    assert len(names) >= 50 and not differing, (
        f"KEYWORDS of schema_hints/known_names.py and keywords! of src/schema/drafts.rs differ in {sorted(differing)}"
    )


def test_every_keyword_is_known_to_the_engine():
    """A keyword that this module knows is none that the engine calls unknown."""
    for keyword in schema_hints.KEYWORDS:
        assert schema_hints.suggestion(keyword) == keyword
        for value in (1, "a", True, {}, [], ["a"], [{}]):
            try:
                report = index_of({keyword: value}).report
            except interlock.InterlockError:
                continue
            assert schema_hints.unknown_keywords(report) == [], keyword


def test_unknown_keywords_come_from_the_report():
    schema = {"properties": {"minLenght": {"type": "string", "maxLenght": 3}}, "nullable": True, "x-a": 1}
    found = schema_hints.unknown_keywords(index_of(schema))
    assert {(u.pointer, u.keyword): u.suggestion for u in found} == {
        ("/properties/minLenght", "maxLenght"): "maxLength",
        ("", "nullable"): schema_hints.ELSEWHERE["nullable"],
        ("", "x-a"): "",
    }
    assert str(next(u for u in found if u.keyword == "nullable")) == (
        "`nullable` is no keyword of JSON Schema, so it asserts nothing; write " + schema_hints.ELSEWHERE["nullable"]
    )
    with pytest.warns(schema_hints.UnknownKeywordWarning) as caught:
        schema_hints.warn_unknown_keywords(index_of({"minLenght": 3}))
    assert "did you mean minLength?" in str(caught[0].message) and caught[0].filename == __file__
    schema_hints.warn_unknown_keywords(index_of({"minLength": 3, "x-a": 1}))
    for source in (schema, json.dumps(schema), json.dumps(schema).encode()):
        assert schema_hints.unknown_keywords(source) == found


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("date-tiem", "date-time"),
        ("emial", "email"),
        ("datetime", "date-time"),
        ("dateTime", "date-time"),
        ("Email", "email"),
        ("url", "uri"),
        ("uuid4", "uuid"),
        ("uri_reference", "uri-reference"),
        *(
            (other, "")
            for other in ("int32", "int64", "float", "double", "byte", "binary", "password", "color", "phone")
        ),
        *((known, "") for known in sorted(schema_hints.FORMATS)),
    ],
)
def test_suggested_formats(name, meant):
    assert schema_hints.suggested_format(name) == meant


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("enumDescriptions", ""),
        ("enum_description", ""),
        ("propertiesOrder", ""),
        ("descripton", "description"),
        ("allowAdditionalProperties", "additionalProperties"),
        ("contentMimeType", "contentMediaType"),
        ("minimumLength", "minLength"),
        ("maxProperty", "maxProperties"),
    ],
)
def test_a_name_with_a_word_more_must_be_more_alike(keyword, meant):
    assert schema_hints.suggestion(keyword) == meant


def test_unknown_formats_come_from_the_report():
    schema = {"properties": {"a": {"format": "emial"}, "b": {"format": "email"}}, "format": 'x"y'}
    assert [(f.pointer, f.suggestion) for f in schema_hints.unknown_formats(index_of(schema))] == [
        ("", ""),
        ("/properties/a", "email"),
    ]


def test_no_format_of_the_engine_is_taken_for_a_slip():
    for name in schema_hints.FORMATS:
        assert_core_knows(name)
        assert not schema_hints.unknown_formats(index_of({"format": name})), name


SLIP = {"type": "string", "maxlength": 3}


@pytest.mark.parametrize(
    "compiled",
    [
        lambda: interlock.Index.from_json_schema(SLIP, byte_vocabulary()),
        lambda: interlock.check_json_schema(SLIP),
        lambda: interlock.Index.from_type(SLIP, byte_vocabulary()),
        lambda: interlock.index_from_type(SLIP, byte_vocabulary()),
        lambda: interlock.Index.from_response_format({"type": "json_schema", "schema": SLIP}, byte_vocabulary()),
        lambda: interlock.drawing.draw(SLIP),
        lambda: ReplyCheck(interlock.output_types.output_type_of(SLIP)),
    ],
)
def test_a_slip_warns_wherever_a_schema_comes_in(compiled):
    with pytest.warns(interlock.UnknownKeywordWarning, match="did you mean maxLength") as caught:
        compiled()
    assert [w.filename for w in caught] == [__file__]
    with schema_hints.quiet(), warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", interlock.UnknownKeywordWarning)
        compiled()


def test_what_is_no_slip_does_not_warn():
    """Extensions, and annotations by another name: neither would assert anything under a right name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for schema in ({"type": "string", "x-order": 1}, {"type": "string", "example": "a"}, {"$comment": "any"}, {}):
            interlock.Index.from_json_schema(schema, byte_vocabulary())
        discriminated = {"oneOf": [{"const": 1}, {"const": 2}], "discriminator": {"propertyName": "kind"}}
        interlock.Index.from_json_schema(discriminated, byte_vocabulary())


def test_explaining_and_drawing_what_is_compiled_already_does_not_warn_again():
    index = index_of(SLIP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert interlock.explain.explain(index, "5").problems
        assert index.draw().mermaid()


def test_many_slips_are_not_many_warnings():
    schema = {"properties": {f"p{i}": {"minLenght": i} for i in range(500)}}
    with pytest.warns(interlock.UnknownKeywordWarning) as caught:
        interlock.Index.from_json_schema(schema, byte_vocabulary())
    assert len(caught) == 32


def test_what_was_meant_by_a_schema_without_keywords():
    meant = schema_hints.properties_meant
    assert meant({"a": "int", "b": {"type": "array"}}) == (
        '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}}'
    )
    assert meant({"a": "Ada"}) == "" and meant({"a": 5}) == "" and meant({}) == ""
    assert meant(dict.fromkeys("abcd", "string")) == '{"type": "object", "properties": {...}}'


SCHEMA = {"type": "object", "properties": {"a": {}}}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"name": "n", "strict": True, "schema": SCHEMA}, "schema"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, "json_schema.schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
            "response_format.json_schema.schema",
        ),
        ({"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}, "schema"),
        ({"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}, "text.format.schema"),
        ({"type": "function", "function": {"name": "f", "parameters": SCHEMA}}, "function.parameters"),
        ({"name": "f", "description": "d", "parameters": SCHEMA}, "parameters"),
        ({"name": "f", "description": "d", "input_schema": SCHEMA}, "input_schema"),
        ({"structured_outputs": {"json": SCHEMA}}, "structured_outputs.json"),
        ({"guided_json": SCHEMA}, "guided_json"),
    ],
)  # fmt: skip
def test_envelopes(document, path):
    found = schema_hints.envelope(document)
    assert found is not None and ".".join(found.path) == path and path in str(found)
    assert schema_hints.unwrap(document) is SCHEMA


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        True,
        {},
        {"type": "object", "schema": SCHEMA, "name": 1},
        {"$ref": "#/schema", "schema": SCHEMA, "name": "n"},
        {"properties": {}, "parameters": SCHEMA, "name": "n"},
        {"name": "n", "schema": "text"},
        {"schema": SCHEMA},
        [SCHEMA],
    ],
)
def test_schemas_are_no_envelopes(schema):
    assert schema_hints.envelope(schema) is None and schema_hints.unwrap(schema) is schema


def test_documents_that_are_no_schemas():
    for schema in (True, False, {}, SCHEMA, {"title": "t"}, {"$ref": "#"}, {"x": 1, "type": "null"}):
        assert schema_hints.no_schema(schema) == ""
    assert "it is an array" in schema_hints.no_schema([1])
    assert schema_hints.no_schema({"id": 7, "type": "null"}, annotations=False) == ""
    for document in ({"title": "t"}, {"id": 7, "item": "tea"}):
        assert schema_hints.no_schema(document) == ""
        assert schema_hints.no_schema(document, annotations=False).endswith("that asserts something")
    assert schema_hints.no_schema({"item": 1, "count": 2}) == (
        "none of its keys (item, count) is a keyword of JSON Schema"
    )
    assert schema_hints.no_schema({"typ": "string"}).endswith("did you mean type?")


def test_misspelt_formats_are_warned_of():
    with pytest.warns(interlock.UnknownKeywordWarning, match=r"`emial` \(at /items\) .* did you mean email\?"):
        interlock.check_json_schema({"items": {"type": "string", "format": "emial"}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interlock.check_json_schema({"type": "integer", "format": "int32"})
    with schema_hints.handling("error"), pytest.raises(interlock.SchemaError, match="did you mean date-time") as caught:
        interlock.check_json_schema({"type": "string", "format": "date-tiem"})
    assert (caught.value.pointer, caught.value.keyword) == ("", "format")


def test_a_draft_that_is_none_is_warned_of():
    schema = {"$schema": "https://json-schema.org/draft/2021-12/schema", "type": "object"}
    with pytest.warns(interlock.UnknownKeywordWarning, match="names no draft .* did you mean .*/draft/2020-12/schema"):
        interlock.check_json_schema(schema)
    with schema_hints.handling("error"), pytest.raises(interlock.SchemaError, match="did you mean") as caught:
        interlock.check_json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("", "$schema")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interlock.check_json_schema({"$schema": "https://example.com/dialect", "type": "object"})
        interlock.check_json_schema({"$schema": "http://json-schema.org/schema#", "type": "object"})


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("https://json-schema.org/draft/2020-21/schema", "https://json-schema.org/draft/2020-12/schema"),
        ("https://json-schema.org/draft/2022-12/schema", "https://json-schema.org/draft/2020-12/schema"),
        ("http://json-schema.org/draft-7/schema#", "http://json-schema.org/draft-07/schema#"),
        ("http://jsonschema.org/draft-05/schema", "http://json-schema.org/draft-04/schema#"),
        ("draft-7/schema#", "http://json-schema.org/draft-07/schema#"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
        ("Draft 8", "https://json-schema.org/draft/2019-09/schema"),
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("https://json-schema.org", "https://json-schema.org/draft/2020-12/schema"),
        ("https://example.com/draft-07/schema", ""),
        ("./draft-07-of-ours.json", ""),
        ("mine", ""),
    ],
)
def test_the_draft_that_was_meant_is_named(named, meant):
    schema = {"$schema": named, "type": "array", "items": [{"type": "null"}]}  # As without any draft.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = interlock.check_json_schema(schema)
    assert [str(one.message).partition("; ")[2] for one in caught] == [f"did you mean {meant}?"] * bool(meant)
    found = [schema_hints.UnknownDraft("", named, meant)] if meant else []
    assert schema_hints.unknown_drafts(rows) == found


def test_misspelt_types_are_named():
    with pytest.raises(interlock.SchemaError, match='"strng" is not a type.*; did you mean "string"'):
        interlock.check_json_schema({"type": "strng"})


def test_what_the_message_about_an_optional_member_says():
    (found,) = schema_hints.unknown_keywords(index_of({"optional": True}))
    assert str(found).endswith("so it asserts nothing; leave the name out of required")


MISSPELT = {"type": "object", "properties": {"a": {"type": "string", "minLenght": 2, "format": "emial"}}}
WHOLE = {"type": "json_schema", "json_schema": MISSPELT, "any_order": True}


@pytest.mark.parametrize(
    ("tag", "place"),
    [
        ({"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": MISSPELT}, "end": "</a>"},
         "/format/content/json_schema"),
        ({"type": "or", "elements": [{"type": "const_string", "value": "-"},
                                     {"type": "json_schema", "json_schema": MISSPELT}]},
         "/format/elements/1/json_schema"),
        (WHOLE, "/format/json_schema"),
    ],
)  # fmt: skip
def test_slips_inside_a_structural_tag_have_their_place(tag, place):
    vocabulary = byte_vocabulary()
    tag = {"type": "structural_tag", "format": tag}
    for compiled in (
        lambda: interlock.Index.from_structural_tag(tag, vocabulary),
        lambda: interlock.check_structural_tag(tag),
        lambda: interlock.Index.from_response_format(tag, vocabulary),
        lambda: interlock.check_response_format(tag),
    ):
        with pytest.warns(interlock.UnknownKeywordWarning) as caught:
            compiled()
        assert [str(one.message).partition(" is ")[0] for one in caught] == [
            f"`minLenght` (at {place}/properties/a)",
            f"the format `emial` (at {place}/properties/a)",
        ]
        assert caught[0].filename == __file__
    for call in (
        interlock.check_response_format,
        lambda v, **o: interlock.Index.from_response_format(v, vocabulary, **o),
    ):
        with pytest.raises(interlock.SchemaError) as refused:
            call(tag, unknown_keywords="error")
        assert (refused.value.pointer, refused.value.keyword) == (f"{place}/properties/a", "minLenght")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(tag, unknown_keywords="ignore")


def test_slips_of_a_request_are_told_once():
    """What the tools and the format of an answer became is a structural tag as well."""
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": MISSPELT}}
    tools = [{"name": "f", "parameters": MISSPELT}]
    for choice in ("auto", "none"):
        request = {"format": "hermes", "tool_choice": choice, "response_format": asked}
        for compiled in (
            lambda: interlock.Index.from_tools(tools, byte_vocabulary(), **request),
            lambda: interlock.check_tools(tools, **request),
        ):
            with pytest.warns(interlock.UnknownKeywordWarning) as caught:
                compiled()
            places = [str(one.message).partition("(at ")[2].partition(")")[0] for one in caught]
            assert (
                places
                == ["/tools/0/parameters/properties/a"] * 2 + ["/response_format/json_schema/schema/properties/a"] * 2
            )


@schema_hints.quiet()
def test_reading_a_schema_tells_whether_its_report_has_slips():
    corpus = Path(__file__).parents[3] / "benches" / "corpus" / "schemas.jsonl"
    schemas = [json.loads(line) for line in corpus.read_text().splitlines()]
    schemas = [entry.get("schema", entry) for entry in schemas]
    slips = [
        {"minLenght": 2},
        {"format": "emial"},
        {"properties": {"a": {"items": {"requird": ["b"]}}}},
        {"$schema": "http://json-schema.org/draft-70/schema#"},
        {"$defs": {"never": {"tipe": "string"}}, "anyOf": [{"type": "null"}, {"$ref": "#/$defs/never"}]},
    ]
    told = 0
    for schema in [*schemas, *slips]:
        try:
            rows = interlock.check_json_schema(schema)
        except interlock.InterlockError:
            continue
        found = schema_hints.unknown_keywords(rows), schema_hints.unknown_formats(rows)
        has_slips = any(found) or any(row.keyword == "$schema" for row in rows)
        told += has_slips
        assert interlock._core._may_have_slips(json.dumps(schema)) == has_slips, schema
    assert told >= len(slips)
    assert interlock._core._may_have_slips("{")


def test_a_call_says_what_becomes_of_slips(byte_vocabulary):
    slip = {"type": "object", "properties": {"a": {"type": "string", "minLenght": 3}}}
    calls = (
        lambda **more: interlock.Index.from_json_schema(slip, byte_vocabulary, **more),
        lambda **more: interlock.check_json_schema(slip, **more),
    )
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(unknown_keywords="ignore")
        with pytest.raises(interlock.SchemaError) as caught:
            call(unknown_keywords="error")
        assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "minLenght")
        with pytest.warns(interlock.UnknownKeywordWarning) as seen:
            call(unknown_keywords="warn")
        assert seen[0].filename == __file__
        with pytest.raises(interlock.ArgumentError, match="unknown_keywords must be one of"):
            call(unknown_keywords="warm")
    # A call that says nothing leaves it to what is around it.
    with warnings.catch_warnings(), schema_hints.quiet():
        warnings.simplefilter("error")
        calls[0](), calls[1]()
