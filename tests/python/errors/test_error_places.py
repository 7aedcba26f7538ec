"""Places in errors lead from the root of what the caller passed, in every function that takes a client's request."""

from __future__ import annotations

import warnings

import pytest

import interlock
from interlock import Index
from interlock.tools import format_of_request
from interlock.tools.errors import standing_at

WRONG = {"properties": {"a": {"minimum": "0"}}}
EMPTY = {"type": "object", "properties": {"a": {"allOf": [{"const": 1}, {"const": 2}]}}, "required": ["a"]}
UNSUPPORTED = {"properties": {"a": {"pattern": r"^(a)\1$"}}}
LIMITED = {"properties": {"a": {"pattern": "(?=.*[0-9])(?=.*[a-z]).{8,64}"}}}
SCHEMAS = [
    (WRONG, "SchemaError"),
    (EMPTY, "UnsatisfiableError"),
    (UNSUPPORTED, "UnsupportedError"),
    (LIMITED, "LimitError"),
]


def envelopes(schema):
    """A value with the schema in it, and where the schema stands."""
    openai = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    yield openai, "/json_schema/schema"
    yield {"type": "json_schema", "name": "a", "schema": schema}, "/schema"
    yield {"guided_json": schema}, "/guided_json"
    yield {"structured_outputs": {"json": schema}}, "/structured_outputs/json"
    yield format_of_request({"response_format": openai}), "/response_format/json_schema/schema"
    yield format_of_request({"text": {"format": {"type": "json_schema", "schema": schema}}}), "/text/format/schema"
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    yield tag, "/format/json_schema"
    yield {"response_format": tag}, "/response_format/format/json_schema"
    yield {"structural_tag": tag}, "/structural_tag/format/json_schema"


@pytest.mark.parametrize(("schema", "kind"), SCHEMAS, ids=[kind for _, kind in SCHEMAS])
def test_schemas_in_a_response_format(schema, kind, byte_vocabulary):
    limits = {"max_explored_states": 50}
    for value, place in envelopes(schema):
        is_tag = kind == "SchemaError" and "/format/json_schema" in place
        expected = interlock.StructuralTagError if is_tag else getattr(interlock, kind)
        found = []
        for call in (
            lambda: Index.from_response_format(value, byte_vocabulary, limits=limits),  # noqa: B023
            lambda: interlock.check_response_format(value, limits=limits),  # noqa: B023
        ):
            with pytest.raises(expected) as caught:
                call()
            error = caught.value
            assert type(error) is expected
            assert error.pointer == f"{place}/properties/a", error
            assert error.client_message.startswith(f"at {place}/properties/a: "), error
            assert "(at " not in error.client_message.replace(f'(at "{place}/', ""), error
            found.append((str(error), error.client_message, error.hint, error.keyword, error.place))
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("value", "place", "said"),
    [
        ({"type": "regex", "pattern": "a("}, "/pattern", "missing ), unterminated subpattern (at offset 1)"),
        ({"guided_regex": "[^\\s\\S]"}, "/guided_regex", "the pattern accepts nothing"),
        ({"type": "grammar", "grammar": "start: a"}, "/grammar", "line 1, column 8: "),
        (
            {"response_format": {"type": "grammar", "grammar": "start: a"}},
            "/response_format/grammar",
            "line 1, column 8: ",
        ),
        (
            {"type": "choice", "choices": ["a" * 99]},
            "/choices",
            "source bytes exceeds its limit: 99 > 50; make it shorter",
        ),
    ],
)
def test_other_sources_in_a_response_format(value, place, said, byte_vocabulary):
    limits = {"max_source_bytes": 50}
    with pytest.raises(interlock.InterlockError) as caught:
        Index.from_response_format(value, byte_vocabulary, limits=limits)
    error = caught.value
    assert error.pointer == place and error.client_message.startswith(f"at {place}: {said}")
    assert error.excerpt is None or f"\n{error.excerpt}" in error.client_message
    with pytest.raises(type(error)) as checked:
        interlock.check_response_format(value, limits=limits)
    assert str(checked.value) == str(error)


def test_at_the_root():
    with pytest.raises(interlock.SchemaError) as caught:
        interlock.check_json_schema({"minimum": "0"})
    error = caught.value
    assert (error.pointer, error.keyword, error.place) == ("", "minimum", 'at the root, keyword "minimum"')
    assert str(error).endswith('(at the root, keyword "minimum")')
    with pytest.raises(interlock.SchemaError) as caught:
        interlock.check_response_format({"guided_json": {"minimum": "0"}})
    assert str(caught.value).startswith("at /guided_json: ") and str(caught.value).endswith("(keyword minimum)")
    assert caught.value.place == 'at "/guided_json", keyword "minimum"'


def test_places_that_a_message_speaks_of_begin_at_the_root_too():
    part = {"$ref": "#", "required": ["c", "d"]}
    schema = {"type": "object", "required": ["b"], "maxProperties": 1, "properties": {"b": part}}
    with pytest.raises(interlock.UnsatisfiableError, match=r"maxProperties 1 \(at the root\) excludes"):
        interlock.check_json_schema(schema)
    with pytest.raises(interlock.UnsatisfiableError, match=r'maxProperties 1 \(at "/guided_json"\) excludes$'):
        interlock.check_response_format({"guided_json": schema})


def test_what_is_not_of_the_source_stays_what_it_is():
    value = {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}
    with pytest.raises(interlock.PatternError, match="^whitespace pattern: ") as caught:
        interlock.check_response_format(value, whitespace="(")
    assert caught.value.pointer is None
    few = interlock.Vocabulary([b"x", b"y", b"az", b""], 3)
    with pytest.raises(interlock.VocabularyError, match="no token for the single byte 0x7A") as lacking:
        Index.from_response_format({"type": "grammar", "grammar": 'start: "x" start "y" | "z"'}, few)
    assert lacking.value.pointer is None and not lacking.value.is_client_error


def test_slips(byte_vocabulary):
    value = {"guided_json": {"properties": {"a": {"minLenght": 3}}}}
    for call in (
        lambda **o: interlock.check_response_format(value, **o),
        lambda **o: Index.from_response_format(value, byte_vocabulary, **o),
    ):
        with pytest.raises(
            interlock.SchemaError, match=r"`minLenght` \(at /guided_json/properties/a\) is no"
        ) as caught:
            call(unknown_keywords="error")
        assert caught.value.pointer == "/guided_json/properties/a" and str(caught.value).startswith("`minLenght`")
        with pytest.warns(interlock.UnknownKeywordWarning, match=r"\(at /guided_json/properties/a\)"):
            call()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        interlock.check_json_schema(value["guided_json"])
    assert "(at /properties/a)" in str(seen[0].message)


def test_tools_and_their_answer():
    tools = [{"name": "f", "parameters": WRONG}]
    with pytest.raises(interlock.RequestError) as caught:
        interlock.check_tools(tools, format="hermes")
    assert caught.value.pointer == "/tools/0/parameters/properties/a"
    answer = {"type": "json_schema", "json_schema": {"name": "a", "schema": WRONG}}
    with pytest.raises(interlock.RequestError) as caught:
        interlock.check_tools([{"name": "f"}], format="hermes", response_format=answer)
    assert caught.value.pointer == "/response_format/json_schema/schema/properties/a"


PATTERN = {"type": "regex", "pattern": "(?=.*[0-9])(?=.*[a-z]).{8,64}"}


def test_a_limit_of_a_pattern_in_a_tag_is_at_the_pattern(byte_vocabulary):
    tag = {"type": "tag", "begin": "<a>", "content": PATTERN, "end": "</a>"}
    tool = {
        "type": "custom",
        "name": "f",
        "format": {"type": "grammar", "syntax": "regex", "definition": PATTERN["pattern"]},
    }
    limits = {"max_explored_states": 10}
    for call, place in (
        (lambda: Index.from_structural_tag(tag, byte_vocabulary, limits=limits), "/content/pattern"),
        (lambda: interlock.check_structural_tag(tag, limits=limits), "/content/pattern"),
        (lambda: interlock.check_tools([tool], format="qwen3_coder", limits=limits), "/tools/0/format/definition"),
    ):
        with pytest.raises(interlock.LimitError) as caught:
            call()
        error = caught.value
        assert error.pointer is not None and place.startswith(error.pointer), error
        assert error.client_message.startswith(f"at {error.pointer}: explored states exceeds its limit: ")
        assert "simplify its patterns" in error.client_message and error.offset is None


def test_a_hint_stands_behind_an_excerpt(byte_vocabulary):
    value = {"type": "grammar", "grammar": "start: A\nA: /" + PATTERN["pattern"] + "/"}
    with pytest.raises(interlock.LimitError) as caught:
        Index.from_response_format(value, byte_vocabulary, limits={"max_explored_states": 10})
    assert str(caught.value).endswith("^\nLimits.max_explored_states sets it")
    assert caught.value.client_message.endswith("^") and caught.value.pointer == "/grammar"


def test_a_pointer_is_exact_and_its_message_bounded():
    key = "k" * 100_000
    for call, value, pointer in (
        (interlock.check_json_schema, {"properties": {key: {"minimum": "0"}}}, f"/properties/{key}"),
        (
            interlock.check_response_format,
            {"guided_json": {"properties": {key: {"minimum": "0"}}}},
            f"/guided_json/properties/{key}",
        ),
    ):
        with pytest.raises(interlock.SchemaError) as caught:
            call(value)
        assert caught.value.pointer == pointer
        assert len(caught.value.client_message) < 1_500 and "..." in caught.value.client_message


def test_a_place_ends_with_a_name():
    """``/prop`` is no part of ``/properties``."""
    for place, pointer in (("/prop", "/prop/properties/a"), ("/properties", "/properties/a"), ("", "/properties/a")):
        with pytest.raises(interlock.SchemaError) as caught, standing_at(place):
            interlock.check_json_schema(WRONG)
        assert caught.value.pointer == pointer
