"""Warnings of POSIX classes in patterns, wherever a pattern may stand."""

from __future__ import annotations

import functools
import re
import warnings

import pytest

import interlock
from interlock import schema_hints
from interlock.posix_classes import patterns_of, posix_classes

CLASS = "^[[:digit:]]+$"
SAID = r"\[:digit:\] is no class here, .* did you mean \^\[0-9\]\+\$\?"
SCHEMA = {"type": "object", "properties": {"a/b": {"type": "string", "pattern": CLASS}}}
PLACE = "/properties/a~1b"


def test_patterns(byte_vocabulary):
    for compiled in (
        lambda: interlock.Index.from_regex(CLASS, byte_vocabulary),
        lambda: interlock.check_regex(CLASS),
        lambda: interlock.check_regex(CLASS, dialect="ecma"),
        lambda: interlock.Index.from_response_format({"guided_regex": CLASS}, byte_vocabulary),
    ):
        with pytest.warns(interlock.PosixClassWarning, match=SAID + "$") as caught:
            compiled()
        assert len(caught) == 1 and caught[0].filename == __file__


def test_a_compiled_pattern(byte_vocabulary):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Python's own, of nested sets.
        pattern = re.compile(CLASS)
    with pytest.warns(interlock.PosixClassWarning, match=SAID):
        interlock.Index.from_regex(pattern, byte_vocabulary)


def test_schemas(byte_vocabulary):
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    for compiled, place in (
        (lambda: interlock.Index.from_json_schema(SCHEMA, byte_vocabulary), PLACE),
        (lambda: interlock.check_json_schema(SCHEMA), PLACE),
        (lambda: interlock.Index.from_response_format(asked, byte_vocabulary), "/json_schema/schema" + PLACE),
        (lambda: interlock.check_response_format(asked), "/json_schema/schema" + PLACE),
    ):
        with pytest.warns(interlock.PosixClassWarning, match=rf"{SAID} \(at {place}\)$") as caught:
            compiled()
        assert len(caught) == 1


def test_tools(byte_vocabulary):
    tools = [{"name": "f", "parameters": SCHEMA}]
    for compiled in (
        lambda: interlock.Index.from_tools(tools, byte_vocabulary, format="hermes"),
        lambda: interlock.check_tools(tools, format="hermes"),
    ):
        with pytest.warns(interlock.PosixClassWarning, match=rf"\(at /tools/0/parameters{PLACE}\)$") as caught:
            compiled()
        assert len(caught) == 1


def test_structural_tags(byte_vocabulary):
    schema, regex = {"type": "json_schema", "json_schema": SCHEMA}, {"type": "regex", "pattern": CLASS}
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [regex, schema]}}
    for compiled in (
        lambda: interlock.Index.from_structural_tag(tag, byte_vocabulary),
        lambda: interlock.check_structural_tag(tag),
        lambda: interlock.Index.from_response_format(tag, byte_vocabulary),
    ):
        with pytest.warns(interlock.PosixClassWarning) as caught:
            compiled()
        assert sorted(re.search(r"\(at (.*)\)", str(one.message))[1] for one in caught) == [
            "/format/elements/0/pattern",
            f"/format/elements/1/json_schema{PLACE}",
        ]


def test_what_is_no_pattern(byte_vocabulary):
    schema = {
        "properties": {"pattern": {"type": "string"}, "default": {"pattern": "a"}},
        "default": {"pattern": CLASS},
        "enum": [{"pattern": CLASS}],
        "description": CLASS,
        "x-note": [{"pattern": "b"}],
    }
    assert [found for _, found in patterns_of(schema)] == ["a", "b"]
    assert posix_classes({"patternProperties": {CLASS: True}})[0].endswith("(at /patternProperties)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interlock.check_json_schema(schema)
        interlock.Index.from_regex(r"\[:digit:\]", byte_vocabulary)


def test_schemas_of_strangers_are_compiled_without_a_word(byte_vocabulary):
    asked = {"guided_json": SCHEMA}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with schema_hints.quiet():
            interlock.Index.from_json_schema(SCHEMA, byte_vocabulary)
            interlock.Index.from_regex(CLASS, byte_vocabulary)
        interlock.Index.from_response_format(asked, byte_vocabulary, unknown_keywords="ignore")
        index = interlock.check_json_schema(SCHEMA | {"properties": {}})
        assert index is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error", interlock.PosixClassWarning)
        with pytest.raises(interlock.PosixClassWarning):
            interlock.Index.from_regex(CLASS, byte_vocabulary)


def test_a_class_is_refused_where_slips_are_errors(byte_vocabulary):
    """A client who is told of misspelt keywords is told of this, too: the mask would allow what nobody meant."""
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": CLASS}}
    in_tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": SCHEMA}}
    tools = [{"name": "f", "parameters": SCHEMA}]
    in_schema, in_pattern = interlock.SchemaError, interlock.PatternError

    def of_format(value):
        return functools.partial(interlock.Index.from_response_format, value, byte_vocabulary)

    for compiled, kind, place in (
        (of_format(asked), in_schema, "/json_schema/schema" + PLACE),
        (of_format({"guided_regex": CLASS}), in_pattern, "/guided_regex"),
        (of_format(tag), in_pattern, "/format/pattern"),
        (of_format(in_tag), in_schema, "/format/json_schema" + PLACE),
        (functools.partial(interlock.check_response_format, asked), in_schema, "/json_schema/schema" + PLACE),
        (functools.partial(interlock.check_response_format, {"regex": CLASS}), in_pattern, "/regex"),
        (functools.partial(interlock.check_tools, tools, format="hermes"), in_schema, "/tools/0/parameters" + PLACE),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled(unknown_keywords="ignore")
            with pytest.raises(kind, match=SAID) as caught:
                compiled(unknown_keywords="error")
        assert caught.value.pointer == place and str(caught.value).count(place) == 1
        assert place in caught.value.client_message and caught.value.is_client_error
