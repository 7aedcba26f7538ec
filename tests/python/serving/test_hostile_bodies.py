"""Bodies that would cost a server minutes or gigabytes: each is refused for what it is, or costs little."""

from __future__ import annotations

import asyncio
import json

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler
from interlock.tools.tag_grammars.grammar_text import without

VOCABULARY = byte_vocabulary()
NOW = {"type": "function", "function": {"name": "now"}}


def refused(compiler, body):
    with pytest.raises(interlock.InterlockError) as caught:
        compiler.compile(body)
    return compiler.refusal(caught.value, body), caught.value


@pytest.mark.parametrize("format", ["hermes", "pythonic"])
def test_of_too_many_tools_no_more_are_written_than_are_refused(format):
    tools = [{"type": "function", "function": {"name": f"f{i}"}} for i in range(10_000)]
    compiler = RequestCompiler(VOCABULARY, format=format, max_tools=10_000)
    answer, error = refused(compiler, {"tools": tools})
    assert (answer.status, answer.place, error.field) == (413, "/tools", "max_source_bytes")
    assert error.limit < error.value < error.limit + 10_000
    assert "the tools together, written as a grammar, exceeds its limit" in answer.message


def test_texts_that_stand_in_others_say_nothing_more_of_few_texts():
    few = [f"a{i}b" for i in range(100)]
    assert without([*few, "xa7bx"]) == without(few)
    # Of many, every pair would be looked at.
    many = [f"a{i}b" for i in range(1_000)]
    assert without([*many, "xa7bx"]).count("|") == 1_000


def chain(rules):
    return "\n".join(f'r{i}: "x" r{i + 1} | "y" r{i + 1}' for i in range(rules)) + f'\nr{rules}: "z"'


@pytest.mark.parametrize("settings", [{}, {"reasoning": "optional"}])
def test_a_regular_grammar_beside_calls_is_one_terminal(settings):
    """Each of its rules was one, as large as all rules behind it together: 4,000 rules took five gigabytes."""
    compiler = RequestCompiler(VOCABULARY, format="hermes", limits={"max_compile_steps": 100_000}, **settings)
    request = compiler.compile({"guided_grammar": f"start: r0\n{chain(1_000)}", "tools": [NOW]})
    fork = request.guide.fork()
    assert fork.advance_many(b"xy" * 500 + b"z") == 1_001 and fork.is_accepting


def test_terminals_that_share_their_parts_are_counted_with_all_of_them():
    """Each terminal has a copy of its parts: those of this grammar would take gigabytes."""
    needed = " | ".join(f"s r{i}" for i in range(1_500))
    rules = chain(1_500).replace(":", " ::=")
    body = {"guided_grammar": f'root ::= {needed}\ns ::= "(" s ")" | "a"\n{rules}\n'}
    compiler = RequestCompiler(VOCABULARY)
    answer, error = refused(compiler, body)
    assert (answer.status, answer.place, error.field) == (400, "/guided_grammar", "max_compile_steps")


def nested(shape, levels=100_000):
    """A value that nobody reads with a call for each level."""
    value = {"type": "string"}
    for _ in range(levels):
        value = shape(value)
    return value


SHAPES = [
    lambda value: [value],
    lambda value: {"anyOf": [value]},
    lambda value: {"type": "sequence", "elements": [value]},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "body",
    [
        lambda value: {"guided_json": value},
        lambda value: {"guided_choice": value},
        lambda value: {"response_format": value},
        lambda value: {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": value}}},
        lambda value: {"response_format": {"type": "structural_tag", "format": value}},
        lambda value: {"text": {"format": value}},
        lambda value: {"tools": value},
        lambda value: {"tools": [{"name": "now", "parameters": value}]},
        lambda value: {"tools": [NOW], "tool_choice": value},
        lambda value: {"stop": value},
        lambda value: {"max_tokens": value},
    ],
)
def test_a_body_that_is_nested_too_deeply_is_a_clients_error(body, shape):
    compiler, asked = RequestCompiler(VOCABULARY, format="hermes"), body(nested(shape))
    for call in (compiler.compile, lambda body: asyncio.run(compiler.compile_async(body))):
        try:
            call(asked)
        except Exception as error:
            answer = compiler.refusal(error, asked)
            assert answer.status in (400, 413) and len(answer.message) < 2_000
            assert answer.reason != "internal"


def test_a_text_that_is_nested_too_deeply_is_a_clients_error():
    for text in ("[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(RecursionError) as caught:
            json.loads(text)
        answer = RequestCompiler(VOCABULARY).refusal(caught.value)
        assert (answer.status, answer.reason) == (400, "limit")
        assert answer.message == "the request is nested too deeply to be read"
