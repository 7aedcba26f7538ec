"""What a server of one's own meets: requests for nothing, numbers of clients, its own mistakes, tokens of roles."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import pickle
import re
import shutil
import sys
from pathlib import Path

import interlock
import numpy as np
import pytest
from interlock import Index, schema_hints
from interlock.integrations import server_counts
from interlock.integrations.metrics import refusal_reason
from interlock.serving import RequestCompiler
from interlock.tools import request_kind

PAGE = Path(__file__).parents[3] / "docs" / "tutorials" / "server-loop.md"
NEUTRAL = "internal error of the server"
SLIP = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"items": {"type": "string", "minLenght": 3}}}}
ROLES = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b"<x>", b""], 258, [256, 257])


@pytest.fixture(scope="module")
def page():
    """The names of the page's program."""
    if not PAGE.is_file():
        pytest.skip("the documentation is not here")
    names = {"__name__": "page"}
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(server_counts, "_counts", None)  # Counters of its own: the page is run elsewhere too.
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
            exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize("body", [{}, {"response_format": None}, {"response_format": {"type": "text"}, "tools": []}])
def test_a_request_for_nothing_has_no_constraint(page, body):
    before = page["numbers"].registry.snapshot()["interlock_requests"]
    ((status, request),) = asyncio.run(page["serve"]([{**body, "max_tokens": 1}]))
    assert (status, request.guide, len(request.tokens)) == (200, None, 1)
    assert page["numbers"].registry.snapshot()["interlock_requests"] == before


def test_numbers_of_the_page_are_those_of_the_client(page):
    choice = {"response_format": {"guided_choice": ["abcdefghijk"]}}
    for most in range(1, 12):
        status, said = asyncio.run(page["accept"]({**choice, "max_tokens": most}))
        assert (status, said) == (400, f"max_tokens is {most}, but a complete output needs 12 tokens")
    ((status, request),) = asyncio.run(page["serve"]([{**choice, "max_tokens": 12}]))
    assert (status, request.finish_reason, len(request.tokens)) == (200, "stop", 12)
    for name in ("max_tokens", "max_completion_tokens"):
        for odd in (0, -1, "5", True, 1.5, []):
            status, said = asyncio.run(page["accept"]({**choice, name: odd}))
            assert (status, said) == (400, f"at /{name}: {name} is a whole number from 1")
    for numbers, most in (
        ({"max_tokens": None}, page["compiler"].max_tokens),
        ({"max_tokens": 20, "max_completion_tokens": 30}, 30),
        ({"max_tokens": 20, "max_completion_tokens": None}, 20),
    ):
        status, request = asyncio.run(page["accept"]({**choice, **numbers}))
        assert (status, request.max_tokens) == (200, most)
    assert asyncio.run(page["accept"]({**choice, "max_tokens": 10**30}))[0] == 200


@pytest.mark.parametrize("draft", [b"a$", b"$a", b"$", b"aa$", b"$$", b"ab"])
def test_the_page_takes_nothing_behind_a_stop_token_of_a_draft(page, monkeypatch, draft):
    vocabulary = page["vocabulary"]
    (end,) = vocabulary.eos_token_ids
    draft = [end if token == ord("$") else token for token in draft]

    def model_step(batch):
        """A model that agrees with the draft, and would go on behind the stop token with what no mask allows."""
        logits = np.zeros((batch, vocabulary.size), np.float32)
        for row in range(batch):
            logits[row, draft[row] if row < len(draft) else ord("z")] = 1
        return logits

    monkeypatch.setitem(page, "model_step", model_step)
    request = asyncio.run(page["accept"]({"guided_regex": "a{1,3}", "max_tokens": 10}))[1]
    guide = request.guide
    guide.advance(ord("a"))
    request.reply.deltas(b"a")
    _, taken = page["step_with_draft"](request, draft)
    assert request.tokens == taken and taken.count(end) <= 1
    if end in draft:
        assert taken == draft[: draft.index(end) + 1]
        assert guide.is_terminated and request.finish_reason == "stop"


def test_a_guide_that_meets_a_bug_costs_its_request_alone(page, monkeypatch, caplog):
    real, broken = interlock.fill_bitmasks_within, []

    def fill(guides, bits, seconds):
        found = [i for i, guide in enumerate(guides) if guide in broken]
        errors = [interlock.InternalError(f"please report it: guide {i} of the batch: no") for i in found]
        late = real([None if i in found else guide for i, guide in enumerate(guides)], bits, seconds)
        if not errors:
            return late
        for i, error in zip(found, errors, strict=True):
            error.batch_index = i
        errors[0].batch_others, errors[0].batch_late = tuple(errors[1:]), tuple(late)
        raise errors[0]

    monkeypatch.setattr(interlock, "fill_bitmasks_within", fill)
    requests = []
    for _ in range(4):
        status, request = asyncio.run(page["accept"]({"guided_choice": ["abc"], "max_tokens": 9}))
        assert status == 200
        requests.append(request)
    broken += [requests[1].guide, requests[3].guide]
    internal = page["numbers"].refusals.value("internal", "engine")
    page["step"](requests)
    assert [request.finish_reason for request in requests] == [None, "error", None, "error"]
    assert [bytes(request.tokens) for request in requests] == [b"a", b"", b"a", b""]
    assert page["numbers"].refusals.value("internal", "engine") == internal + 2
    assert "guide 3 of the batch" in caplog.text

    def fail(guides, bits, seconds):
        raise interlock.InternalError("a bug in interlock, please report it: no guide is named")

    monkeypatch.setattr(interlock, "fill_bitmasks_within", fail)
    with pytest.raises(interlock.InternalError):
        page["step"](requests[:1])


def test_a_row_that_is_late_has_no_token_in_this_step(page, monkeypatch):
    bodies = [{"guided_choice": ["abc"], "max_tokens": 9}, {"max_tokens": 5}, {"guided_choice": ["b"], "max_tokens": 9}]
    requests = [asyncio.run(page["accept"](body))[1] for body in bodies]
    real = interlock.fill_bitmasks_within
    with monkeypatch.context() as patched:

        def late(guides, bits, seconds):
            assert real(guides, bits, seconds) == []
            bits[0] = 0
            return [0]

        patched.setattr(interlock, "fill_bitmasks_within", late)
        page["step"](requests)
    assert [len(request.tokens) for request in requests] == [0, 1, 1] and requests[0].guide.num_tokens == 0
    page["step"](requests)
    assert [len(request.tokens) for request in requests] == [1, 2, 2]


@pytest.mark.parametrize("name", ["LimitError", "ArtifactError", "InternalError"])
def test_a_guide_that_fails_at_its_token_costs_its_request_alone(page, monkeypatch, name):
    bodies = [{"guided_choice": ["abc"], "max_tokens": 9}, {"max_tokens": 5}, {"guided_choice": ["b"], "max_tokens": 9}]
    requests = [asyncio.run(page["accept"](body))[1] for body in bodies]
    real = interlock.advance_each

    def failing(guides, tokens):
        outcomes = real([None, *guides[1:]], tokens)[1:]
        error = getattr(interlock, name)("guide 0 of the batch: no")
        error.batch_index, error.batch_outcomes = 0, bytes([0, *outcomes])
        raise error

    monkeypatch.setattr(interlock, "advance_each", failing)
    page["step"](requests)
    assert [request.finish_reason for request in requests] == ["error", None, None]
    assert isinstance(requests[0].error, getattr(interlock, name)) and requests[0].guide is None
    monkeypatch.setattr(interlock, "advance_each", real)
    page["step"](requests[1:])
    assert requests[2].finish_reason == "stop" and requests[2].reply.has_ended
    assert [len(request.tokens) for request in requests] == [0, 2, 2]


def test_a_mistake_of_the_server_is_none_of_the_client(page, monkeypatch, caplog):
    def fail(self, body, **options):
        raise KeyError("hermse")

    monkeypatch.setattr(RequestCompiler, "compile", fail)
    answer = asyncio.run(page["accept"]({"tools": [{"name": "f"}]}))
    assert answer == (500, NEUTRAL)
    assert "hermse" in caplog.text


def test_the_page_lets_nobody_name_tokens_of_roles(page, monkeypatch):
    monkeypatch.setitem(page, "compiler", RequestCompiler(ROLES, format="glm_4_7"))
    for body in (
        {"response_format": {"type": "structural_tag", "format": {"type": "token", "token": "<|im_start|>"}}},
        {"response_format": {"type": "grammar", "grammar": "start: <|im_start|>", "syntax": "lark"}},
        {"tools": [custom("start: <|im_start|>")], "tool_choice": "required"},
    ):
        status, said = asyncio.run(page["accept"](body))
        assert status == 400 and "'<|im_start|>' may not be named" in said


def custom(grammar):
    form = {"type": "grammar", "syntax": "lark", "definition": grammar}
    return {"type": "custom", "name": "f", "format": form}


@pytest.mark.parametrize("format", ["glm_4_7", "qwen3_coder", "deepseek_v4"])
def test_tokens_that_custom_tools_may_name(format):
    options = {"format": format, "tool_choice": "required"}
    for grammar in ("start: <|im_start|>", "start: <[256]>", "start: <[^1]>"):
        with pytest.raises(interlock.RequestError, match="may not be named") as caught:
            Index.from_tools([custom(grammar)], ROLES, allowed_tokens=["<x>"], **options)
        error = caught.value
        assert error.pointer == "/tools/0/format/definition" and "allowed_tokens" not in error.client_message
        assert not isinstance(error, interlock.StructuralTagError)
    Index.from_tools([custom("start: <x>")], ROLES, allowed_tokens=["<x>"], **options)
    Index.from_tools([custom("start: <|im_start|>")], ROLES, allowed_tokens="all", **options)
    with pytest.raises(interlock.ArgumentError, match="no special token '<y>'"):
        Index.from_tools([custom("start: <x>")], ROLES, allowed_tokens=["<y>"], **options)


def test_kinds_of_requests():
    tool = {"name": "now"}
    for value, tools, kind in (
        (None, None, "text"),
        ({"type": "text"}, [], "text"),
        ({"type": "text"}, [tool], "tools"),
        ({"type": "json_object"}, [tool], "tools"),
        (None, (tool,), "tools"),
        ({"type": "json_object"}, None, "json_object"),
        ({"guided_regex": "a"}, None, "regex"),
        ({"type": "structural_tag", "format": {"type": "any_text"}}, None, "structural_tag"),
    ):
        assert request_kind(value, tools) == kind
    for choice in (None, "auto", "none"):
        assert request_kind(None, [], choice) == request_kind(None, None, choice) == "text"
    for choice in ("required", {"name": "now"}):
        assert request_kind(None, [tool], choice) == "tools"
        for tools in (None, []):
            with pytest.raises(interlock.RequestError, match="the request has no tools") as caught:
                request_kind(None, tools, choice)
            assert caught.value.pointer == "/tool_choice"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, "the body of a request is a JSON object, not null"),
        ([], "the body of a request is a JSON object, not an array"),
        ("{}", "the body of a request is a JSON object, not a string"),
        ({"guided_json": {}, "guided_regex": "a"}, "at /guided_regex: guided_json and guided_regex are given at once"),
        ({"guided_json": 5}, "at /guided_json: a JSON Schema is an object or a boolean, not a number"),
        ({"response_format": 5}, "at /response_format: a response_format is a JSON object"),
        (
            {"response_format": {"type": "json_schema"}},
            "at /response_format: response_format.json_schema.schema is missing: write "
            '{"type": "json_schema", "json_schema": {"name": …, "schema": …}}',
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {}}},
            "at /response_format/json_schema: response_format.json_schema.schema is missing: write "
            '{"type": "json_schema", "json_schema": {"name": …, "schema": …}}',
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": None}},
            "at /response_format/json_schema: json_schema is an object with name and schema, not null: "
            "response_format.json_schema.schema is missing",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"shema": {}}}},
            "at /response_format/json_schema: response_format.json_schema.schema is missing, and 'shema' is no field",
        ),
        (
            {"tools": [{"name": "f"}], "response_format": {"type": "json_schema"}},
            "at /response_format: response_format.json_schema.schema is missing",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "a"}}},
            'at /text/format: text.format.schema is missing: write {"type": "json_schema", "name": …, "schema": …}',
        ),
        ({"response_format": {"type": "grammar"}}, "at /response_format: response_format.grammar is missing: write"),
        ({"response_format": {"type": "regex"}}, "at /response_format: response_format.pattern is missing: write"),
        ({"response_format": {"type": "choice"}}, "at /response_format: response_format.choices is missing: write"),
        (
            {"tools": [{"name": "f"}], "parallel_tool_calls": "no"},
            "at /parallel_tool_calls: parallel_tool_calls is true",
        ),
        ({"tools": [{"name": "f"}], "guided_json": 5}, "at /guided_json: a JSON Schema is"),
        ({"tools": [{"name": "f"}], "response_format": {"type": "jsn"}}, "at /response_format/type: 'jsn' is no type"),
        ({"tools": [{"name": ""}]}, "at /tools/0/name: a tool has a name"),
        ({"tools": [], "tool_choice": "required"}, "at /tool_choice: tool_choice asks for a call"),
        ({"tools": [{"name": "f"}], "tool_choice": True}, 'at /tool_choice: tool_choice is "auto", "required"'),
        (
            {"tools": [{"name": "f"}], "tool_choice": [None]},
            "at /tool_choice/0: a tool is named by a text or an object",
        ),
        ({"tools": {}}, "at /tools: tools are a list, not an object"),
    ],
)
def test_the_page_answers_400_with_the_place_in_the_body(page, body, said):
    status, message = asyncio.run(page["accept"](body))
    assert status == 400 and message.startswith(said)
    assert "None" not in message and "True" not in message


@pytest.mark.parametrize(
    "asked",
    [
        {"guided_choice": ["yes"]},
        {"guided_choice": ["yes"], "guided_decoding_backend": "outlines", "response_format": None},
        {"structured_outputs": {"choice": ["yes"]}},
        {"guided_json": {"const": "yes"}, "guided_whitespace_pattern": " "},
        {"regex": "yes"},
        {"ebnf": 'root ::= "yes"'},
        {"grammar": 'root ::= "yes"'},
        {"json_schema": '{"const": "yes"}'},
        {"response_format": {"type": "choice", "choices": ["yes"]}},
    ],
)
@pytest.mark.parametrize("more", [{}, {"tools": [{"name": "f"}], "tool_choice": "none", "parallel_tool_calls": None}])
def test_the_page_takes_every_field_that_servers_take(page, asked, more):
    if more and "guided_whitespace_pattern" in asked:
        pytest.skip("a pattern of white space is refused beside tools: tests/python/tools/test_answer_format.py")
    ((status, request),) = asyncio.run(page["serve"]([{"model": "m", "messages": [], **asked, **more}]))
    written = bytes(request.tokens[:-1]).decode()
    assert status == 200 and (json.loads(written) if '"' in written else written) == "yes"


@pytest.mark.parametrize(
    "call",
    [
        lambda v: Index.from_response_format({"guided_regex": 5}, v),
        lambda v: Index.from_response_format(
            {"type": "json_schema", "json_schema": {"strict": "maybe", "schema": {}}}, v
        ),
        lambda v: Index.from_tools({"name": "f"}, v, format="hermes"),
        lambda v: Index.from_tools([{"name": "f", "parameters": {"type": "objekt"}}], v, format="hermes"),
        lambda v: Index.from_tools([{"name": "f"}], v, format="hermes", tool_choice="g"),
    ],
)
def test_no_structural_tag_no_structural_tag_error(call, byte_vocabulary):
    with pytest.raises(interlock.RequestError) as caught:
        call(byte_vocabulary)
    error = caught.value
    assert type(error) is interlock.RequestError and error.is_client_error and refusal_reason(error) == "request"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.pointer) == (type(error), str(error), error.pointer)


def test_bad_schema_texts_are_schema_errors(byte_vocabulary):
    with pytest.raises(interlock.SchemaError):
        Index.from_response_format({"guided_json": "{"}, byte_vocabulary)


def test_what_clients_are_told_of_the_servers_mistakes(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path / "store")
    shutil.rmtree(tmp_path / "store")
    other = interlock.Vocabulary([b"a", b""], 1)
    for call in (
        lambda: store.get_or_compile("regex", "a+", byte_vocabulary),
        lambda: Index.load(tmp_path / "none", byte_vocabulary),
        lambda: Index.from_tools([{"name": "f"}], byte_vocabulary),
        lambda: Index.from_tools([{"name": "f"}], byte_vocabulary, tokenizer=object()),
        lambda: Index.from_tools([{"name": "f"}], byte_vocabulary, format="hermse"),
        lambda: interlock.without_vocabulary(Index.from_regex("a", other)).attach(byte_vocabulary),
    ):
        with pytest.raises(interlock.InterlockError) as caught:
            call()
        error = caught.value
        assert (error.client_message, error.client_line, error.is_client_error) == (NEUTRAL, NEUTRAL, False)
        assert str(error) != NEUTRAL
    bug = interlock.InternalError("at line 5")
    assert (bug.client_message, bug.is_client_error) == (NEUTRAL, False)
    for grammar in ("start: <|nope|>", "start: <[999]>"):
        with pytest.raises(interlock.VocabularyError) as named:
            Index.from_grammar(grammar, byte_vocabulary)
        assert named.value.is_client_error and named.value.client_message == str(named.value)


def test_a_store_that_fails_is_done_without(byte_vocabulary, tmp_path, caplog):
    store = interlock.Store(tmp_path / "store", on_failure="warn")
    shutil.rmtree(tmp_path / "store")
    for made in (store, pickle.loads(pickle.dumps(store))):
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "interlock.store"):
            index = made.get_or_compile("regex", "a+", byte_vocabulary)
        assert index == Index.from_regex("a+", byte_vocabulary) and made.compiled == 0
        assert "compiled without the store" in caplog.text and str(tmp_path) in caplog.text
        with pytest.raises(interlock.PatternError):
            made.get_or_compile("regex", "a(", byte_vocabulary)
    with pytest.raises(interlock.ArgumentError, match="on_failure must be 'error' or 'warn', not 'warm'"):
        interlock.Store(tmp_path, on_failure="warm")


def test_a_store_that_cannot_be_opened_is_done_without(byte_vocabulary, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    there = tmp_path / "file" / "store"
    with pytest.raises(interlock.ArtifactError, match="cannot open the store"):
        interlock.Store(there)
    with caplog.at_level(logging.WARNING, "interlock.store"):
        store = interlock.Store(there, on_failure="warn")
        assert store.get_or_compile("regex", "a+", byte_vocabulary) == Index.from_regex("a+", byte_vocabulary)
    assert "compiled without the store: cannot open" in caplog.text


def test_an_index_that_cannot_be_written_is_compiled_once(byte_vocabulary, tmp_path, monkeypatch, caplog):
    store = interlock.Store(tmp_path, on_failure="warn")
    made = []

    def fail(index):
        made.append(index)
        raise interlock.ArtifactError("no space left")

    monkeypatch.setattr(store, "put", fail)
    assert store.get_or_compile("regex", "ab+", byte_vocabulary) is made[0]
    assert "no space left" in caplog.text


def nested(depth):
    return '{"items":' * depth + "true" + "}" * depth


def below(frames, call):
    return call() if frames == 0 else below(frames - 1, call)


def test_depth_of_a_schema_as_text_is_no_matter_of_pythons_stack(byte_vocabulary):
    assert sys.getrecursionlimit() == 1000
    for key in ("guided_json", "json_schema"):
        with pytest.raises(interlock.LimitError) as caught:
            Index.from_response_format({key: nested(5000)}, byte_vocabulary)
        assert caught.value.field == "max_depth" and caught.value.limit == 1000
        for frames in (0, 700):
            index = below(frames, lambda: Index.from_response_format({key: nested(450)}, byte_vocabulary))  # noqa: B023
            assert index == Index.from_json_schema(nested(450), byte_vocabulary)
    with pytest.raises(interlock.LimitError, match="depth of schema"):
        Index.from_response_format({"guided_json": "[" * 5000}, byte_vocabulary)


def test_unknown_keywords(byte_vocabulary, tmp_path):
    calls = [
        lambda **more: Index.from_response_format(SLIP, byte_vocabulary, **more),
        lambda **more: interlock.check_response_format(SLIP, **more),
        lambda **more: interlock.Store(tmp_path / str(len(more)) / more.get("unknown_keywords", "")).get_or_compile(
            "response_format", SLIP, byte_vocabulary, **more
        ),
    ]
    for call in calls:
        with pytest.warns(interlock.UnknownKeywordWarning, match="did you mean minLength") as caught:
            call()
        assert caught[0].filename == __file__
        call(unknown_keywords="ignore")
        with pytest.raises(interlock.SchemaError, match="did you mean minLength") as refused:
            call(unknown_keywords="error")
        assert (refused.value.pointer, refused.value.keyword) == ("/json_schema/schema/items", "minLenght")
        assert refused.value.is_client_error
        with pytest.raises(interlock.ArgumentError, match="unknown_keywords must be one of"):
            call(unknown_keywords="eror")
        with schema_hints.quiet():
            call(unknown_keywords="warn")
    with pytest.raises(interlock.SchemaError, match="accepts every JSON value"):
        Index.from_response_format({"guided_json": {"name": "string"}}, byte_vocabulary, unknown_keywords="error")
    with pytest.raises(interlock.SchemaError) as forged, schema_hints.handling("error"):
        interlock.check_json_schema({"properties": {"a\n\x1b[31m": {"minLenght": 1, "type": "string"}}})
    assert "\n" not in str(forged.value) and len(str(forged.value)) < 1_100


def test_names_of_vllms_options_are_looked_at_when_the_server_starts(monkeypatch, caplog):
    from types import SimpleNamespace

    from interlock.integrations.vllm import options, plugin

    monkeypatch.setattr(options, "_current", None)
    monkeypatch.setattr(plugin, "_started", False)
    monkeypatch.setenv("INTERLOCK_VLLM_DEADLIN", "3")
    for backend in ("interlock", "auto"):
        config = SimpleNamespace(structured_outputs_config=SimpleNamespace(backend=backend))
        start = plugin._create_engine_config(lambda self, config=config: config)
        if backend == "interlock":
            with pytest.raises(interlock.ArgumentError, match="INTERLOCK_VLLM_DEADLIN is no option of interlock"):
                start(None)
        else:
            assert start(None) is config and "INTERLOCK_VLLM_DEADLIN: set, but another backend" in caplog.text
