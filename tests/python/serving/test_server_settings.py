"""Settings of a ``RequestCompiler`` are checked when it is made, and not with the first request."""

from __future__ import annotations

import pytest

import interlock
from interlock import ArgumentError, VocabularyError
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
TOKENS = [bytes([i]) for i in range(256)] + [b"<|im_start|>", b"<tool_call>", b""]
SPECIAL = interlock.Vocabulary(TOKENS, 258, [256, 257])
ONCE = {"type": "json_schema", "json_schema": {"name": "flag", "schema": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"limits": {"max_source_byte": 5}}, TypeError, 'did you mean "max_source_bytes"'),
        ({"limits": {"max_source_bytes": "5"}}, TypeError, "max_source_bytes must be an int, not str"),
        ({"limits": {"max_source_bytes": 1.5}}, TypeError, "max_source_bytes must be an int, not float"),
        ({"limits": {"max_source_bytes": True}}, TypeError, "max_source_bytes must be an int, not bool"),
        ({"limits": {"max_source_bytes": None}}, TypeError, "max_source_bytes must be an int"),
        ({"limits": {5: 5}}, TypeError, "the names of limits are str"),
        ({"limits": {"max_depth": -1}}, ArgumentError, "max_depth cannot be negative: -1"),
        ({"limits": {"max_source_bytes": 0}}, ArgumentError, "limits refuse every request"),
        ({"limits": {"max_source_bytes": 40}}, ArgumentError, "limits refuse every request with tools"),
        ({"allowed_tokens": [b"x"]}, ArgumentError, "ids or texts of special tokens, not b'x'"),
        ({"allowed_tokens": [1.5]}, ArgumentError, "ids or texts of special tokens, not 1.5"),
        ({"allowed_tokens": [True]}, ArgumentError, "ids or texts of special tokens, not True"),
        ({"allowed_tokens": [None]}, ArgumentError, "ids or texts of special tokens, not None"),
        ({"allowed_tokens": [[1]]}, ArgumentError, "ids or texts of special tokens, not \\[1\\]"),
        ({"allowed_tokens": ["<x>"]}, ArgumentError, "no special token '<x>'"),
        ({"allowed_tokens": [""]}, ArgumentError, "no special token ''"),
        ({"allowed_tokens": [-1]}, ArgumentError, "no special token -1"),
        ({"allowed_tokens": [259]}, ArgumentError, "no special token 259"),
        ({"allowed_tokens": [97]}, ArgumentError, "no special token 97"),
        ({"allowed_tokens": [1 << 70]}, ArgumentError, "no special token 11805"),
        ({"allowed_tokens": "<tool_call>"}, TypeError, "allowed_tokens must be an iterable"),
        ({"max_tokens": 0}, ArgumentError, "max_tokens is 0"),
        ({"max_tokens": 1}, ArgumentError, "stop_tokens is 1"),
        ({"stop_tokens": -1}, ArgumentError, "stop_tokens is -1"),
        ({"above_max_tokens": "refuse"}, ArgumentError, 'above_max_tokens is "lower" or "error", not \'refuse\''),
        ({"above_max_tokens": None}, TypeError, "above_max_tokens must be a str"),
        ({"max_n": 0}, ArgumentError, "max_n is 0: a request has at least one output"),
        ({"max_n": None}, TypeError, "max_n must be an int"),
        ({"max_tools": 0}, ArgumentError, "max_tools is 0"),
        ({"max_tools": True}, TypeError, "max_tools must be an int"),
        ({"compile_threads": 0}, ArgumentError, "compile_threads is 0"),
        ({"compile_threads": 1.5}, TypeError, "compile_threads must be an int"),
        ({"max_n": True}, TypeError, "max_n must be an int"),
        ({"seconds": "5"}, TypeError, "seconds must be a number"),
        ({"seconds": True}, TypeError, "seconds must be a number"),
        ({"seconds": float("nan")}, ArgumentError, "seconds is NaN"),
        ({"seconds": -1}, ArgumentError, "seconds is -1"),
        ({"unknown_keywords": "no"}, ArgumentError, "unknown_keywords must be"),
        ({"whitespace": "spaced"}, ArgumentError, "whitespace of tools and structural tags is"),
        ({"whitespace": "[ ]*"}, ArgumentError, "whitespace of tools and structural tags is"),
        ({"whitespace": "none"}, ArgumentError, "is 'flexible' or 'compact', not 'none'"),
        ({"whitespace": 5}, ArgumentError, "is 'flexible' or 'compact', not 5"),
        ({"spelling": "none"}, ArgumentError, "is 'any' or 'plain', not 'none'"),
        ({"spelling": "constants"}, ArgumentError, "spelling of tools and structural tags is"),
        ({"spelling": None}, ArgumentError, "spelling of tools and structural tags is"),
        ({"reasoning_field": ""}, ArgumentError, "reasoning_field is ''"),
        ({"reasoning_field": "content"}, ArgumentError, "reasoning_field is 'content'"),
        ({"reasoning_field": "tool_calls"}, ArgumentError, "reasoning_field is 'tool_calls'"),
        ({"reasoning": "maybe"}, ArgumentError, 'reasoning is "none", "optional" or "required"'),
        ({"reasoning_is_open": 1, "reasoning": "optional"}, TypeError, "reasoning_is_open must be"),
        (
            {"max_reasoning_tokens": 0, "reasoning": "optional"},
            ArgumentError,
            'from 1, not 0: reasoning="none" turns it',
        ),
        ({"max_reasoning_tokens": 1 << 70, "reasoning": "optional"}, ArgumentError, "from 1 to 4294967295"),
        ({"format": None, "tokenizer": "{{ messages }}"}, ArgumentError, 'pass format="auto" with it'),
        ({"format": 5}, interlock.ToolFormatError, "a tool format is"),
        # What nothing would read.
        ({"reasoning_is_open": True}, ArgumentError, 'reasoning_is_open is given, and reasoning is "none"'),
        ({"max_reasoning_tokens": 5}, ArgumentError, 'max_reasoning_tokens is given, and reasoning is "none"'),
        ({"max_reasoning_tokens": 5, "format": None}, ArgumentError, 'and reasoning is "none"'),
        (
            {"format": "functionary_v3_1", "reasoning": "optional", "max_reasoning_tokens": 5},
            ArgumentError,
            "the format functionary_v3_1 has no reasoning",
        ),
    ],
)
def test_a_wrong_setting_is_refused_when_the_compiler_is_made(settings, error, said):
    with pytest.raises(error, match=said):
        RequestCompiler(SPECIAL, **{"format": "hermes", **settings})


def test_a_format_that_the_tokens_cannot_spell_is_refused_when_the_compiler_is_made():
    letters = interlock.Vocabulary([bytes([i]) for i in range(ord("a"), ord("z") + 1)] + [b""], [26])
    with pytest.raises(VocabularyError):
        RequestCompiler(letters, format="hermes")
    RequestCompiler(letters)


def test_an_empty_list_allows_no_special_token():
    body = {"guided_grammar": "start: <tool_call>"}
    assert RequestCompiler(SPECIAL, allowed_tokens=[257]).compile(body).kind == "grammar"
    compiler = RequestCompiler(SPECIAL, allowed_tokens=[])
    with pytest.raises(interlock.StructuralTagError, match="may not be named") as caught:
        compiler.compile(body)
    answer = compiler.refusal(caught.value, body)
    # A grammar is at fault, and no structural tag.
    assert (answer.status, answer.reason, answer.body["error"]["code"]) == (400, "grammar", "grammar")
    tag = {"type": "structural_tag", "format": {"type": "grammar", "syntax": "lark", "grammar": "start: <tool_call>"}}
    with pytest.raises(interlock.StructuralTagError, match="may not be named") as caught:
        compiler.compile({"response_format": tag})
    assert compiler.refusal(caught.value).reason == "structural_tag"


def test_limits_in_a_mapping_keep_the_servers_bound_of_a_source():
    long = {"guided_regex": "a" * (1 << 20)}
    for limits in (None, {}, {"max_depth": 64}):
        compiler = RequestCompiler(VOCABULARY, limits=limits)
        assert compiler.limits.max_source_bytes == 1 << 20
        assert compiler.limits.max_mask_steps == 500_000
        with pytest.raises(interlock.LimitError, match="max_source_bytes"):
            compiler.compile({"guided_regex": long["guided_regex"] + "a"})
    assert compiler.limits.max_depth == 64
    # An object says all of it.
    given = interlock.Limits(max_depth=64)
    assert RequestCompiler(VOCABULARY, limits=given).limits == given
    assert RequestCompiler(VOCABULARY, limits={"max_source_bytes": 2 << 20}).limits.max_source_bytes == 2 << 20


def test_grammars_are_refused_wherever_they_stand():
    compiler = RequestCompiler(VOCABULARY, format="hermes", grammars=False)
    grammar = {"type": "grammar", "grammar": 'root ::= "a"'}
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [grammar]}}
    lark = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}
    for body, place in (
        ({"guided_grammar": 'start: "a"'}, "/guided_grammar"),
        ({"response_format": {"type": "grammar", "grammar": 'start: "a"'}}, "/response_format"),
        ({"response_format": tag}, "/response_format"),
        ({"tools": [{"type": "custom", "custom": {"name": "f", "format": lark}}]}, "/tools"),
    ):
        with pytest.raises(interlock.RequestError, match="this server takes no grammars") as caught:
            compiler.compile(body)
        assert caught.value.pointer == place
        assert compiler.refusal(caught.value, body).status == 400
    # A schema may speak of grammars.
    schema = {"properties": {"type": {"const": "grammar"}, "grammar": {"type": "string"}}}
    assert compiler.compile({"guided_json": schema}).kind == "json_schema"
    with pytest.raises(TypeError):
        RequestCompiler(VOCABULARY, grammars="no")


def test_limits_are_read_once():
    limits = {"max_source_bytes": 1 << 20}
    compiler = RequestCompiler(VOCABULARY, limits=limits)
    limits["max_source_bytes"] = "none"
    assert compiler.compile({"guided_regex": "a"}).kind == "regex"
    assert compiler.limits == interlock.Limits(
        max_source_bytes=1 << 20, max_compile_steps=750_000, max_mask_steps=500_000, max_scanner_bytes=64 << 20
    )


@pytest.mark.parametrize("allowed", [[-1], [259], [97]])
def test_an_id_of_no_special_token_is_an_error_of_an_index_too(allowed):
    with pytest.raises(ArgumentError, match="the vocabulary has no special token") as caught:
        interlock.Index.from_response_format({"type": "json_object"}, SPECIAL, allowed_tokens=allowed)
    assert not caught.value.is_client_error


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"reasoning": "none", "reasoning_is_open": True}, 'reasoning_is_open is given, and reasoning is "none"'),
        ({"reasoning": "maybe"}, 'reasoning is "none", "optional" or "required"'),
    ],
)
def test_a_call_that_contradicts_itself_is_no_clients_fault(call, said):
    compiler = RequestCompiler(VOCABULARY, format="hermes", reasoning="optional", max_reasoning_tokens=9)
    with pytest.raises(ArgumentError, match=said) as caught:
        compiler.compile({}, **call)
    assert compiler.refusal(caught.value).status == 500
    assert compiler.compile({}, reasoning="none").kind == "text"


BARE = {"format": "hermes"}
THINKS = {"format": "hermes", "reasoning": "required", "max_reasoning_tokens": 9}
TAG = {"type": "structural_tag", "format": {"type": "any_text"}}


@pytest.mark.parametrize(
    ("settings", "body", "place"),
    [
        ({}, {"max_reasoning_tokens": 5}, "/max_reasoning_tokens"),
        (BARE, {"max_reasoning_tokens": 5}, "/max_reasoning_tokens"),
        (BARE, {"max_reasoning_tokens": 5, "response_format": ONCE}, "/max_reasoning_tokens"),
        (THINKS, {"max_reasoning_tokens": 0}, "/max_reasoning_tokens"),
        (THINKS, {"max_reasoning_tokens": "5"}, "/max_reasoning_tokens"),
        (THINKS, {"max_reasoning_tokens": True}, "/max_reasoning_tokens"),
        (THINKS, {"max_reasoning_tokens": 5, "response_format": TAG}, "/max_reasoning_tokens"),
        (BARE, {"reasoning_is_open": True}, "/reasoning_is_open"),
    ],
)
def test_reasoning_that_a_body_asks_for_in_vain_is_refused(settings, body, place):
    compiler = RequestCompiler(VOCABULARY, **settings)
    with pytest.raises(interlock.RequestError) as caught:
        compiler.compile(body)
    answer = compiler.refusal(caught.value, body)
    assert (answer.status, answer.body["error"]["param"]) == (400, place)
    assert place[1:] in answer.message


def test_no_reasoning_is_no_number_of_its_tokens():
    compiler = RequestCompiler(VOCABULARY, **THINKS)
    with pytest.raises(interlock.RequestError, match=r'; compile\(body, reasoning="none"\) is for a request') as caught:
        compiler.compile({"max_reasoning_tokens": 0})
    said = "it makes reasoning shorter, and the chat template turns it off"
    assert compiler.refusal(caught.value).message.endswith(said)


def test_a_misspelt_setting_says_which_was_meant():
    for wrong, meant in (("second", "seconds"), ("compile_thread", "compile_threads"), ("max_token", "max_tokens")):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'; did you mean '{meant}'"):
            RequestCompiler(VOCABULARY, **{wrong: 3})


@pytest.mark.parametrize(("asked", "most"), [(None, 9), (4, 4), (1000, 9), (1 << 70, 9)])
def test_a_body_makes_the_servers_number_of_reasoning_tokens_smaller(asked, most):
    compiler = RequestCompiler(VOCABULARY, **THINKS)
    guide = compiler.compile({"max_reasoning_tokens": asked}).guide
    begin = b"<think>"
    assert guide.advance_many(begin + b"a" * 20) == len(begin) + most


def test_an_automatic_format_needs_a_tokenizer():
    with pytest.raises(interlock.ToolFormatError, match='^format="auto" finds the format of a tokenizer, and none is'):
        RequestCompiler(VOCABULARY, format="auto")


@pytest.mark.parametrize(("on_failure", "status"), [("warn", None), ("error", 500)])
def test_a_damaged_file_of_a_store_is_a_warning_or_an_error(tmp_path, caplog, on_failure, status):
    store = interlock.Store(tmp_path, on_failure=on_failure)
    compiler = RequestCompiler(VOCABULARY, store=store)
    body = {"guided_choice": ["yes", "no"]}
    written = {"whitespace": "compact", "spelling": "plain", "regex_flags": "a"}
    store.get_or_compile("response_format", body, VOCABULARY, **written)
    for file in tmp_path.rglob("??/*.ilk"):
        file.write_bytes(file.read_bytes()[:-9])
    if status is None:
        assert compiler.compile(body).kind == "choice" and "compiled without the store" in caplog.text
        return
    with pytest.raises(interlock.ArtifactError) as caught:
        compiler.compile(body)
    assert compiler.refusal(caught.value, body).status == status


def test_grammars_that_come_along_compile_within_a_servers_limits(compiled_anew):
    """But for Python's, whose lexer no body names."""
    compiler = RequestCompiler(byte_vocabulary())
    tables = {"student": ["name", "age"], "course": ["title"]}
    for grammar in [interlock.grammars.sql(tables), *map(interlock.grammars.load, ("sql", "c", "go", "java", "xml"))]:
        assert compiler.compile({"guided_grammar": str(grammar)}).kind == "grammar"


def test_steps_of_a_compile_have_no_place_inside_of_the_source():
    """Where the count ran out is no fault of what stands there."""
    source = "start: " + " | ".join(f"T{i}" for i in range(300))
    source += "".join(f"\nT{i}: /[a-z{i % 10}]*b[a-z]{{{i}}}/" for i in range(300))
    compiler = RequestCompiler(byte_vocabulary(), limits={"max_compile_steps": 5_000})
    with pytest.raises(interlock.LimitError) as caught:
        compiler.compile({"guided_grammar": source})
    assert (caught.value.field, caught.value.line) == ("max_compile_steps", None)
    assert compiler.refusal(caught.value).place == "/guided_grammar"
