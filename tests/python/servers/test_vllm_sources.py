"""The vLLM plug-in's options from the environment, and the sources that requests name."""

import json

import pytest
from vllm_requests import HOSTILE, params

import interlock
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.sources import Source, check_source, compile_source, source_of
from interlock.tools import StructuralTagError


def test_options_come_from_the_environment():
    made = Options.from_environment(
        {
            "INTERLOCK_VLLM_WHITESPACE": "compact",
            "INTERLOCK_VLLM_DEADLINE": "2.5",
            "INTERLOCK_VLLM_BUDGET": "off",
            "INTERLOCK_VLLM_LIMITS": '{"max_depth": 7}',
            "INTERLOCK_NUM_THREADS": "3",
            "INTERLOCK_VLLM_STATE_DIR": "/somewhere",
        }
    )
    assert (made.whitespace, made.deadline, made.budget, made.canonical) == ("compact", 2.5, False, "auto")
    assert made.limits_of_compile().max_depth == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEADLINE", "soon"),
        ("DEADLINE", "0"),
        ("DEADLINE", "-1"),
        ("BUDGET", "perhaps"),
        ("SPELLING", "fancy"),
        ("LIMITS", "{"),
        ("LIMITS", '{"max_width": 1}'),
        ("WHITESPCE", "compact"),
    ],
)
def test_wrong_options_name_the_variable(name, value):
    with pytest.raises(interlock.ArgumentError, match=f"INTERLOCK_VLLM_{name}"):
        Options.from_environment({f"INTERLOCK_VLLM_{name}": value})


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ({"json": {"b": 1, "a": 2}}, Source("json", '{"b": 1, "a": 2}')),
        ({"json": "{}", "whitespace_pattern": " ?"}, Source("json", "{}", " ?")),
        ({"json": "{}", "whitespace_pattern": "compact"}, Source("json", "{}", "(?:compact)")),
        ({"json": "{}", "disable_any_whitespace": True}, Source("json", "{}", "compact")),
        ({"json": "{}", "disable_additional_properties": True}, Source("json", "{}", is_closed=True)),
        ({"json_object": True}, Source("json_object", "")),
        ({"json_object": True, "disable_additional_properties": True}, Source("json_object", "")),
        ({"regex": ""}, Source("regex", "")),
        ({"choice": ["a", "b"]}, Source("choice", '["a", "b"]')),
    ],
)
def test_sources_are_read_from_requests(given, source):
    assert source_of(params(**given), Options()) == source


def test_a_wrong_pattern_of_white_space_is_the_clients():
    with pytest.raises(interlock.InterlockError) as caught:
        check_source(source_of(params(json="{}", whitespace_pattern="x"), Options()), Options())
    assert caught.value.is_client_error and "whitespace pattern" in caught.value.client_message


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, interlock.ArgumentError),
        ({"json_object": False}, interlock.ArgumentError),
        ({"json": {1, 2}}, interlock.ArgumentError),
    ],
)
def test_requests_that_ask_for_what_is_not_there(given, error):
    with pytest.raises(error):
        source_of(params(**given), Options())


@pytest.mark.parametrize(
    ("kind", "text", "error"),
    [
        ("json", "{", interlock.SchemaError),
        ("json", " ", interlock.SchemaError),
        ("json", '{"minLength": 3, "maxLength": 2, "type": "string"}', interlock.UnsatisfiableError),
        ("regex", "a(", interlock.PatternError),
        ("regex", r"(a)\1", interlock.UnsupportedError),
        ("choice", "[]", interlock.ArgumentError),
        ("choice", '["a", 1]', interlock.ArgumentError),
        ("choice", "a", interlock.ArgumentError),
        ("grammar", "start: x", interlock.GrammarError),
        ("grammar", 'start: "a" start', interlock.UnsatisfiableError),
        ("structural_tag", "{}", StructuralTagError),
        ("regex", HOSTILE, interlock.LimitError),
    ],
)
def test_checks_need_no_vocabulary(kind, text, error):
    options = Options(limits='{"max_compile_steps": 20000}')
    with pytest.raises(error):
        check_source(Source(kind, text), options)


def test_structural_tags(byte_vocabulary):
    content = {"type": "json_schema", "json_schema": {"type": "integer"}}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<n>", "content": content, "end": "</n>"}}
    guide = compile_source(Source("structural_tag", json.dumps(tag)), byte_vocabulary, Options()).guide()
    assert guide.validate(list(b"<n>12</n>")) == 9 and guide.validate(list(b"<n>x")) == 3


def test_objects_are_closed_where_the_request_says_so(byte_vocabulary):
    schema = '{"properties": {"a": {"type": "number", "maximum": 9007199254740993.1}}}'
    tag = (
        '{"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": %s}, "end": "</a>"}' % schema
    )
    for kind, text, around in (("json", schema, "%s"), ("structural_tag", tag, "<a>%s</a>")):
        opened, closed = (Source(kind, text, is_closed=is_closed) for is_closed in (False, True))
        assert opened.key != closed.key
        check_source(closed, Options())
        index = compile_source(closed, byte_vocabulary, Options())
        assert index.parse(around % '{"a":1}') and index.parse(around % "{}")
        assert compile_source(opened, byte_vocabulary, Options()).parse(around % '{"b":1}')
        with pytest.raises(interlock.TokenRejected):
            index.parse(around % '{"b":1}')
    # The bound is the one that was written, to the last digit.
    index = compile_source(Source("json", schema, is_closed=True), byte_vocabulary, Options())
    assert index.parse('{"a":9007199254740993.1}')
    with pytest.raises(interlock.TokenRejected):
        index.parse('{"a":9007199254740993.2}')


REST = {"content": {"type": "any_text"}, "end": "</n>"}


def test_requests_may_not_name_tokens_of_roles():
    tokens = [bytes([i]) for i in range(256)] + [b"<|im_start|>", b"<tool_call>", b""]
    vocabulary = interlock.Vocabulary(tokens, 258, [256, 257])

    def tag(begin):
        return json.dumps({"type": "structural_tag", "format": {"type": "tag", "begin": begin, **REST}})

    sources = [
        ("structural_tag", tag("<|im_start|>user")),
        ("structural_tag", tag({"type": "token", "token": "<|im_start|>"})),
        ("grammar", 'start: <|im_start|> "x"'),
    ]
    for kind, text in sources:
        with pytest.raises(StructuralTagError, match="may not be named") as caught:
            compile_source(Source(kind, text), vocabulary, Options())
        assert "allowed_tokens" not in caught.value.client_message
        assert compile_source(Source(kind, text), vocabulary, Options(role_tokens="allow")).guide().try_advance(256)
    for kind, text in (("structural_tag", tag("<tool_call>")), ("grammar", 'start: <tool_call> "x"')):
        assert compile_source(Source(kind, text), vocabulary, Options()).guide().try_advance(257)


def test_digits_are_ascii_unless_the_operator_says_otherwise(byte_vocabulary):
    arabic = "٣".encode()
    for flags, taken in (("a", 0), ("", 2)):
        index = compile_source(Source("regex", r"\d"), byte_vocabulary, Options(regex_flags=flags))
        assert index.guide().advance_many(list(arabic)) == taken


def test_json_objects_and_compact_schemas(byte_vocabulary):
    index = compile_source(Source("json_object", "", "compact"), byte_vocabulary, Options())
    assert index.guide().validate(list(b"[")) == 0 and index.guide().validate(list(b'{"a":[1]}')) == 9
    schema = '{"properties": {"n": {"const": 1}}, "required": ["n"], "type": "object"}'
    guide = compile_source(Source("json", schema, "compact"), byte_vocabulary, Options()).guide()
    assert guide.forced_bytes() == b'{"n":1'
