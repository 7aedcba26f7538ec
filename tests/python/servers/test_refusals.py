"""``interlock.refusal``: what a server answers, whatever exception came of a request."""

from __future__ import annotations

import asyncio
import json
import re
import threading

import pytest

import interlock
from interlock import Index
from interlock.serving import RequestCompiler
from interlock.tools import tools_of

NEUTRAL = "internal error of the server"

#: What nobody outside should see: names of Python and of this package, and files.
INSIDE = re.compile(
    r"\binterlock\b|\bIndex\b|\bVocabulary\b|Limits|Error\b|recursion|\bPython\b|\.py\b|object at 0x|\bdict\b"
)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"items": value}
    return value


def as_format(schema):
    return {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}


def answer_to(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    answer = interlock.refusal(caught.value)
    assert not INSIDE.search(answer.message), answer.message
    assert len(answer.message) < 2_000 and answer.message.isprintable() or "\n" in answer.message
    return answer.status, answer.reason, answer.message


HARD = r"(?=.*\d)(?=.*[a-z]).{8,64}"


def whole_request(**more):
    return {"model": "m", "messages": [], "response_format": {"type": "json_object"}, **more}


FAULTS_OF_CLIENTS = [
    (whole_request(), 400, "request"),
    ("json_object", 400, "request"),
    (b"\xff{}", 400, "request"),
    (as_format({"type": "strnig"}), 400, "schema"),
    (as_format({"type": "integer", "minimum": 5, "maximum": 3}), 400, "unsatisfiable"),
    (as_format({"pattern": r"^(a)\1$"}), 400, "unsupported"),
    (as_format({"$ref": "https://example.com/x.json"}), 400, "unsupported"),
    (as_format(5), 400, "schema"),
    (as_format(nested(5_000)), 400, "limit"),
    (json.dumps(as_format({})).replace("{}", '{"items":' * 5_000 + "{}" + "}" * 5_000), 400, "limit"),
    (as_format({"const": "\ud800"}), 400, "schema"),
    ({"guided_regex": "a(b"}, 400, "pattern"),
    ({"guided_regex": "\ud800"}, 400, "pattern"),
    ({"guided_choice": ["\ud800"]}, 400, "request"),
    ({"guided_grammar": "start: a"}, 400, "grammar"),
    ({"type": "structural_tag", "format": {"type": "const_string", "value": "\ud800"}}, 400, "structural_tag"),
    ({"type": "json"}, 400, "request"),
    (5, 400, "request"),
    ([1], 400, "request"),
    ("{", 400, "request"),
    ({"guided_regex": "a" * 200}, 413, "limit"),
    ({"guided_regex": HARD}, 400, "limit"),
]
LIMITS = {"max_source_bytes": 150, "max_explored_states": 100}


@pytest.mark.parametrize(
    ("value", "status", "reason"), FAULTS_OF_CLIENTS, ids=[f"{i}-{row[2]}" for i, row in enumerate(FAULTS_OF_CLIENTS)]
)
def test_faults_of_clients(value, status, reason, byte_vocabulary):
    limits = LIMITS if isinstance(value, dict) and "guided_regex" in value else None
    found = answer_to(lambda: Index.from_response_format(value, byte_vocabulary, limits=limits))
    assert found[:2] == (status, reason), found
    assert answer_to(lambda: interlock.check_response_format(value, limits=limits)) == found


def test_a_token_that_the_model_lacks(byte_vocabulary):
    value = {"guided_grammar": "start: <|nope|>"}
    found = answer_to(lambda: Index.from_response_format(value, byte_vocabulary))
    assert found[:2] == (400, "vocabulary") and "<|nope|>" in found[2]
    assert interlock.check_response_format(value) == []


def test_what_is_meant_is_said(byte_vocabulary):
    for value, words in (
        (whole_request(), "this looks like a whole request, with 'model', 'messages', 'response_format'"),
        ({"response_format": {"type": "text"}, "tools": []}, "this looks like a whole request, with 'response_format'"),
        ({"type": "object", "properties": {}}, "at /type: this looks like a JSON Schema itself: it goes into"),
        ({"name": "a", "schema": {"type": "integer"}}, "a JSON Schema goes into {"),
        (
            {"json_schema": {"name": "a", "schema": {"type": "integer"}}},
            'the type is missing: write "type": "json_schema"',
        ),
        ("json_object", 'a response_format is a JSON object: write {"type": "json_object"}'),
        (b"\xff{}", "a response_format in bytes is JSON in UTF-8, and byte 0 is not"),
    ):
        status, _, message = answer_to(lambda: Index.from_response_format(value, byte_vocabulary))  # noqa: B023
        assert status == 400 and message.startswith(words), message
    assert Index.from_response_format(b'{"type": "json_object"}', byte_vocabulary).kind == "json_schema"


def test_places_in_tools_are_those_of_the_client(byte_vocabulary):
    grammar = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}
    for tools, place in (
        (
            [{"type": "custom", "name": "c", "format": grammar}],
            "/tools/0/format/definition: a grammar cannot stand inside of",
        ),
        (
            [{"name": "f", "parameters": {"type": "string"}}],
            "/tools/0/parameters/type: the arguments of a call are an object",
        ),
        (
            [{"name": "f", "input_schema": {"type": ["null", "array"]}}],
            "/tools/0/input_schema/type: the arguments of a call",
        ),
    ):
        for make in (Index.from_tools, lambda tools, vocabulary, **more: interlock.check_tools(tools, **more)):
            status, _, message = answer_to(lambda: make(tools, byte_vocabulary, format="hermes"))  # noqa: B023
            assert status == 400 and message.startswith(f"at {place}"), message
    gbnf = {"type": "grammar", "syntax": "lark", "definition": 'root ::= "a"'}
    custom = [{"type": "custom", "name": "c", "format": gbnf}]
    status, _, message = answer_to(lambda: Index.from_tools(custom, byte_vocabulary, format="glm_4_7"))
    assert (
        message.startswith("at /tools/0/format/definition: line 1, column 8: ") and "looks like GBNF or EBNF" in message
    )
    back = [{"name": "f", "parameters": {"properties": {"x": {"pattern": r"^(a)\1$"}}}}]
    with pytest.raises(interlock.UnsupportedError, match="^at /tools/0/parameters/properties/x: ") as unsupported:
        Index.from_tools(back, byte_vocabulary, format="hermes")
    assert unsupported.value.hint is not None and unsupported.value.hint.startswith("strict=False leaves")
    Index.from_tools(back, byte_vocabulary, format="hermes", strict=False)
    odd = [{"name": "f", "parameters": {"properties": {"a b": {"type": "integer"}}}}]
    with pytest.raises(
        interlock.UnsupportedError, match="^at /tools/0/parameters/properties/a b: the argument 'a b' cannot"
    ):
        Index.from_tools(odd, byte_vocabulary, format="lfm2")
    Index.from_tools([{"name": "f", "parameters": {"type": ["object", "null"]}}], byte_vocabulary, format="hermes")


def test_a_text_in_place_of_tools(byte_vocabulary):
    with pytest.raises(interlock.RequestError, match="tools are a list, not a string; json.loads reads a text"):
        Index.from_tools('[{"name": "f"}]', byte_vocabulary, format="hermes")
    with pytest.raises(
        interlock.ToolFormatError, match=r"'Qwen/Qwen3-8B': did you mean 'hermes' \(Qwen 3\)\? format=\"auto\""
    ):
        Index.from_tools([{"name": "f"}], byte_vocabulary, format="Qwen/Qwen3-8B")
    with pytest.raises(TypeError, match="'whitespac'; there are .*; did you mean 'whitespace'"):
        Index.from_response_format({"type": "json_object"}, byte_vocabulary, whitespac="compact")


def test_faults_in_tools(byte_vocabulary):
    deep = [{"name": "f", "parameters": {"type": "object", "properties": {"a": nested(200)}}}]
    for format in ("hermes", "qwen3_coder"):
        status, reason, message = answer_to(lambda: Index.from_tools(deep, byte_vocabulary, format=format))  # noqa: B023
        assert (status, reason) == (400, "limit") and message.startswith("at /tools/0/parameters")
        assert "127 levels" in message
        Index.from_tools([{"name": "f", "parameters": nested(120)}], byte_vocabulary, format=format)
    status, reason, message = answer_to(
        lambda: Index.from_tools([{"name": "f", "parameters": nested(5_000)}], byte_vocabulary, format="hermes")
    )
    assert (status, reason) == (400, "limit")
    assert message == (
        "at /tools/0/parameters: a schema is nested at most 1000 levels deep; its deep parts can stand in $defs"
    )
    for call in (lambda tools: Index.from_tools(tools, byte_vocabulary, format="hermes"), tools_of):
        found = answer_to(lambda: call([{"name": "\ud800"}]))  # noqa: B023
        assert found == (400, "request", "at /tools/0/name: the name holds a lone surrogate, which is not text")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: Index.from_json_schema(5, v), "a schema is a JSON object or a boolean"),
        (lambda v: Index.from_json_schema(None, v), "a schema is a JSON object or a boolean"),
        (lambda v: Index.from_json_schema([], v), "a schema is a JSON object or a boolean"),
        (lambda v: interlock.check_json_schema(5), "a schema is a JSON object or a boolean"),
        (lambda v: Index.from_regex(5, v), "a pattern is a text"),
        (lambda v: Index.from_grammar(["start"], v), "a grammar is a text"),
        (lambda v: Index.from_choices("yes", v), "choices are a list of texts"),
        (lambda v: Index.from_choices(["yes", 1], v), "choices are a list of texts"),
    ],
)
def test_sources_of_a_wrong_type(call, message, byte_vocabulary):
    assert answer_to(lambda: call(byte_vocabulary)) == (400, "argument", message)


def test_budgets(byte_vocabulary):
    index = Index.from_choices(["abcdef"], byte_vocabulary)
    status, reason, message = answer_to(lambda: index.guide(max_tokens=2))
    assert (status, reason) == (400, "budget") and "6" in message


def test_budgets_in_the_numbers_of_the_client(byte_vocabulary):
    long = {"type": "array", "minItems": 10**9}
    for index, budget, said in (
        (Index.from_regex("aaa", byte_vocabulary), 0, "max_tokens is 1, but a complete output needs 4 tokens"),
        (Index.from_json_schema(long, byte_vocabulary), 2, "max_tokens is 3, but no complete output is known"),
    ):
        with pytest.raises(interlock.BudgetError) as caught:
            index.guide(max_tokens=budget)
        assert interlock.refusal(caught.value, stop_tokens=1).message.startswith(said)
        assert interlock.refusal(caught.value).message == caught.value.client_message
    with pytest.raises(interlock.ArgumentError, match="stop_tokens cannot be negative: -1"):
        interlock.refusal(KeyError("a"), stop_tokens=-1)


def test_a_budget_has_the_name_of_the_client(byte_vocabulary):
    with pytest.raises(interlock.BudgetError) as caught:
        Index.from_regex("aaa", byte_vocabulary).guide(max_tokens=1)
    answer = interlock.refusal(caught.value, stop_tokens=1, budget="max_completion_tokens")
    assert answer.message == "max_completion_tokens is 2, but a complete output needs 4 tokens"
    with pytest.raises(TypeError, match="budget must be a str"):
        interlock.refusal(caught.value, budget=5)


def test_time_and_memory(byte_vocabulary):
    gone = interlock.CancelToken()
    gone.cancel()
    late = interlock.CancelToken.after(0)
    found = answer_to(lambda: Index.from_regex(HARD, byte_vocabulary, cancel=gone))
    assert found == (499, "cancelled", "the work was cancelled")
    status, reason, message = answer_to(lambda: Index.from_regex(HARD, byte_vocabulary, cancel=late))
    assert (status, reason) == (504, "deadline") and "deadline" in message
    assert interlock.refusal(MemoryError()).status == 503
    assert interlock.refusal(TimeoutError("read timed out on /var/run/x")) == interlock.Refusal(
        504, "the request took too long", "deadline"
    )
    assert interlock.refusal(RecursionError("maximum recursion depth exceeded")).status == 400


def test_faults_of_the_server(byte_vocabulary, tmp_path):
    guide = Index.from_regex("a+", byte_vocabulary).guide()
    calls = (
        lambda: Index.load(tmp_path / "none", byte_vocabulary),
        lambda: Index.from_tools([{"name": "f"}], byte_vocabulary, format="hermse"),
        lambda: Index.from_response_format({"guided_regex": "a"}, "no vocabulary"),
        lambda: Index.from_response_format({"guided_regex": "a"}, byte_vocabulary, cancle=None),
        lambda: guide.advance(ord("b")),
        lambda: guide.fill_bitmask([0] * 9),
        lambda: Index.from_response_format({"guided_grammar": "start: <a>"}, byte_vocabulary, allowed_tokens=["<y>"]),
        lambda: Index.from_response_format({"guided_regex": "a"}, byte_vocabulary, unknown_keywords="eror"),
        lambda: {}["response_format"],
        lambda: threading.Lock().release(),
    )
    for call in calls:
        status, _, message = answer_to(call)
        assert (status, message) == (500, NEUTRAL)
    assert interlock.refusal(interlock.InternalError("line 5")).is_of_server
    assert not interlock.refusal(interlock.SchemaError("bad")).is_of_server
    assert interlock.refusal(KeyboardInterrupt()).status == 500


def test_bodies_that_are_no_json_are_the_clients(byte_vocabulary):
    for body in (b'{"a":', b"\xff"):
        try:
            json.loads(body)
        except ValueError as error:
            assert interlock.refusal(error).status == 400
            assert interlock.refusal(error).reason == "request"
    for call in (
        lambda: interlock.Index.from_json_schema({}, byte_vocabulary, whitespace="compakt"),
        lambda: interlock.Index.from_json_schema({}, byte_vocabulary, limits={"max_depth": -5}),
        lambda: interlock.Index.from_regex("a", byte_vocabulary).guide().rollback(3),
        lambda: interlock.CancelToken.after(-5),
    ):
        with pytest.raises(interlock.ArgumentError) as caught:
            call()
        assert interlock.refusal(caught.value).status == 500
    assert interlock.refusal(interlock.ArgumentError("max_tokens cannot be negative: -1")).status == 400


LONG = 10**5_000
LONG_TEXT = f'{{"maximum": 1{"0" * 5_000}}}'


@pytest.mark.parametrize(
    "read",
    [
        lambda v: json.loads(LONG_TEXT),
        lambda v: Index.from_response_format({"guided_json": LONG_TEXT}, v),
        lambda v: Index.from_response_format(LONG_TEXT, v),
        lambda v: Index.from_response_format({"guided_json": {"maximum": LONG}}, v),
        lambda v: Index.from_response_format({"type": LONG}, v),
        lambda v: Index.from_response_format(LONG, v),
        lambda v: Index.from_response_format(f'{{"type": "structural_tag", "format": 1{"0" * 5_000}}}', v),
        lambda v: Index.from_structural_tag(LONG_TEXT, v),
        lambda v: Index.from_tools([{"type": LONG}], v, format="hermes"),
        lambda v: Index.from_tools([{"name": "f", "parameters": {"maximum": LONG}}], v, format="hermes"),
        lambda v: Index.from_tools([{"name": "f"}], v, format="hermes", tool_choice=LONG),
    ],
)
def test_numbers_of_too_many_digits_are_the_clients(read, byte_vocabulary):
    status, _, message = answer_to(lambda: read(byte_vocabulary))
    assert status == 400 and message.endswith("a number has too many digits: at most 4300 are read")
    assert "sys." not in message


def test_slips_beside_a_number_of_many_digits_are_told(byte_vocabulary):
    text = f'{{"maximum": 1{"0" * 5_000}, "maxmum": 3}}'
    for call in (interlock.check_json_schema, lambda text: Index.from_json_schema(text, byte_vocabulary)):
        with pytest.warns(interlock.UnknownKeywordWarning, match="maxmum"):
            call(text)
    message = answer_to(lambda: interlock.index_from_type(text, byte_vocabulary))[2]
    assert "a number has too many digits: at most 4300 are read)" in message


def test_every_type_in_a_text_says_how_it_is_written(byte_vocabulary):
    more = {
        "[…]": '["a"]',
        '"schema": …': '"schema": {}',
        '"pattern": …': '"pattern": "a"',
        '"name": …': '"name": "a"',
        '"syntax": "ebnf", "grammar": …': '"syntax": "ebnf", "grammar": "root ::= \\"a\\""',
        '"grammar": …': '"grammar": "start: \\"a\\""',
        '"format": …': '"format": {"type": "any_text"}',
    }
    kinds = ("text", "json_object", "json_schema", "json", "regex", "choice", "grammar", "ebnf", "structural_tag")
    for kind in kinds:
        status, _, message = answer_to(lambda: Index.from_response_format(kind, byte_vocabulary))  # noqa: B023
        written = message.partition("a response_format is a JSON object: write ")[2]
        for gap, filled in more.items():
            written = written.replace(gap, filled)
        assert status == 400
        Index.from_response_format(json.loads(written), byte_vocabulary)


def test_a_misspelt_type_ends_in_one_question(byte_vocabulary):
    for kind, words in (
        ("json_shema", "structural_tag; did you mean 'json_schema'? A JSON"),
        ("x", "structural_tag. A"),
    ):
        message = answer_to(lambda: Index.from_response_format({"type": kind}, byte_vocabulary))[2]  # noqa: B023
        assert words in message


def test_slips_in_parameters_of_tools_are_told(byte_vocabulary):
    parameters = {"type": "object", "properties": {"a": {"type": "string", "minLenght": 3}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    place = "/tools/0/function/parameters/properties/a"
    with pytest.warns(interlock.UnknownKeywordWarning, match=f"minLenght.*{place}|{place}.*minLenght"):
        interlock.Index.from_tools(tools, byte_vocabulary, format="hermes")
    for call in (interlock.check_tools, lambda *a, **k: interlock.Index.from_tools(*a, byte_vocabulary, **k)):
        with pytest.raises(interlock.SchemaError) as caught:
            call(tools, format="hermes", unknown_keywords="error")
        assert caught.value.pointer == place


def test_slips_are_looked_for_under_the_limits_of_the_request(byte_vocabulary, monkeypatch):
    """What looks for them is cancelled as compiling is."""
    from interlock.tools.requests import parameter_checks

    seen = []
    check = parameter_checks.check_json_schema

    def checked(schema, **work):
        seen.append(work)
        return check(schema, **work)

    monkeypatch.setattr(parameter_checks, "check_json_schema", checked)
    cancel, limits = interlock.CancelToken(), interlock.Limits(max_depth=50)
    tools = [{"name": "f", "parameters": {"type": "object", "propertis": {}}}]
    with pytest.warns(interlock.UnknownKeywordWarning, match="propertis"):
        Index.from_tools(tools, byte_vocabulary, format="hermes", limits=limits, cancel=cancel)
    assert seen == [{"limits": limits, "cancel": cancel}]


def test_one_stop_token_more_is_the_plural(byte_vocabulary):
    cases = (("a", 0, "needs 1 token"), ("a", 1, "needs 2 tokens"), ("ab", 1, "needs 3 tokens"))
    for choice, stop_tokens, said in cases:
        with pytest.raises(interlock.BudgetError) as caught:
            Index.from_choices([choice], byte_vocabulary).guide(max_tokens=0)
        assert interlock.refusal(caught.value, stop_tokens=stop_tokens).message.endswith(said)


def test_a_cancelled_task_is_a_client_that_has_gone():
    answer = interlock.refusal(asyncio.CancelledError())
    assert (answer.status, answer.reason) == (499, "cancelled")
    assert interlock.refusal(KeyboardInterrupt()).status == 500


@pytest.mark.parametrize(
    "schema, below", [({"pattern": "("}, "pattern"), ({"patternProperties": {"(": {}}}, "patternProperties")]
)
def test_a_pattern_in_a_schema_is_at_the_pattern(schema, below, byte_vocabulary):
    compiler = RequestCompiler(byte_vocabulary, format="hermes")
    schema, end = {"properties": {"a": schema}}, f"/properties/a/{below}"
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    for body, place in (
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}},
            "/response_format/json_schema/schema",
        ),
        ({"guided_json": schema}, "/guided_json"),
        ({"tools": [tool]}, "/tools/0/function/parameters"),
    ):
        with pytest.raises(interlock.InterlockError) as caught:
            compiler.compile(body)
        answer = compiler.refusal(caught.value, body)
        assert (answer.status, answer.body["error"]["param"]) == (400, place + end)
