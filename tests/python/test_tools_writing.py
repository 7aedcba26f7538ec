"""How the JSON of tool calls is written: ``whitespace`` and ``spelling`` of ``Index.from_tools``."""

import pytest

import interlock
from interlock.tools.tag_index import stored_source

VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], 256)
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}
REQUEST = {"format": "hermes", "tool_choice": "required"}
PLAIN = {"whitespace": "compact", "spelling": "plain"}


def call(arguments):
    return '<tool_call>\n{"name": "f", "arguments": ' + arguments + "}\n</tool_call>"


def accepts(index, text):
    guide = index.guide()
    return guide.advance_many(list(text.encode())) == len(text.encode()) and guide.is_accepting


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ('{"a":"x/\\n"}', [{}, {"whitespace": "compact"}, {"spelling": "plain"}, PLAIN]),
        ('{"a": "x"}', [{}, {"spelling": "plain"}]),
        ('{"a":"\\u0078"}', [{}, {"whitespace": "compact"}]),
        ('{"a" :"\\u0078"}', [{}]),
    ],
)
def test_what_each_option_allows(arguments, options):
    for given in ({}, {"whitespace": "compact"}, {"spelling": "plain"}, PLAIN):
        index = interlock.Index.from_tools([TOOL], VOCABULARY, **REQUEST, **given)
        assert accepts(index, call(arguments)) == (given in options), given
        interlock.check_tools([TOOL], **REQUEST, **given)
        kind, source, rest = stored_source("tools", [TOOL], VOCABULARY, {**REQUEST, **given})
        assert kind == "grammar"
        assert accepts(interlock.Index.from_grammar(source, VOCABULARY, **rest), call(arguments)) == (given in options)


def test_an_answer_beside_the_tools_is_written_so_too():
    answer = {"type": "json_schema", "json_schema": {"name": "a", "schema": TOOL["parameters"]}}
    request = {"format": "hermes", "tool_choice": "none", "response_format": answer}
    loose = interlock.Index.from_tools([TOOL], VOCABULARY, **request)
    tight = interlock.Index.from_tools([TOOL], VOCABULARY, **request, **PLAIN)
    assert [accepts(index, '{"a": "\\u0078"}') for index in (loose, tight)] == [True, False]
    assert accepts(tight, '{"a":"x"}')


@pytest.mark.parametrize(("name", "value"), [("whitespace", "spaced"), ("spelling", "constants"), ("spelling", 5)])
def test_what_tools_cannot_have_is_refused_by_name(name, value):
    for make in (lambda **given: interlock.Index.from_tools([TOOL], VOCABULARY, **given), interlock.check_tools):
        with pytest.raises(interlock.ArgumentError, match=f"{name} of tools is .* not {value!r}"):
            make(**({"tools": [TOOL]} if make is interlock.check_tools else {}), **REQUEST, **{name: value})
