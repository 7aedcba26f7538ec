"""``interlock.serving``: from the body of a request to a guide, and from its tokens to what the client gets."""

from __future__ import annotations

import asyncio
import copy
import doctest
import pickle
import threading

import pytest

import interlock
from interlock import serving
from interlock.events import EventHistory, Text
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler
from interlock.store import Store

END = 256
VOCABULARY = byte_vocabulary()
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
DAY = {"type": "function", "function": {"name": "day", "parameters": {"type": "object", "properties": {}}}}
FLAG = {"type": "json_schema", "json_schema": {"name": "flag", "schema": {"type": "boolean"}}}
CALL = '<tool_call>\n{"name": "%s", "arguments": {}}\n</tool_call>'


@pytest.fixture
def compiler():
    return RequestCompiler(VOCABULARY, format="hermes")


def allows(request, text):
    fork = request.guide.fork()
    taken = fork.advance_many(text.encode())
    return taken == len(text.encode()) and fork.is_accepting


def replied(request, text, ends=True):
    """The deltas and the choice of an output, token by token."""
    reply, found = request.reply(new_id=lambda: "call_0"), []
    for token in [*text.encode(), *([END] if ends else [])]:
        if request.guide is not None:
            request.guide.advance(token)
        found += reply.deltas([token])
    return found, reply.choice()


def answer_to(compiler, body):
    with pytest.raises(interlock.InterlockError) as caught:
        compiler.compile(body)
    return compiler.refusal(caught.value, body)


@pytest.mark.parametrize("given", [FLAG, None])
@pytest.mark.parametrize(
    "choice, calls, texts",
    [
        (None, {"now", "day"}, True),
        ("auto", {"now", "day"}, True),
        ("none", set(), True),
        ("required", {"now", "day"}, False),
        ({"type": "function", "function": {"name": "now"}}, {"now"}, False),
        ({"type": "function", "name": "now"}, {"now"}, False),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"name": "day"}]}, {"day"}, False),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"name": "day"}]}}, {"day"}, True),
    ],
)
def test_tools_beside_a_format_with_every_tool_choice(compiler, choice, calls, texts, given):
    request = compiler.compile({"tools": [NOW, DAY], "tool_choice": choice, "response_format": given})
    assert request.kind == "tools"
    assert {name for name in ("now", "day") if allows(request, CALL % name)} == calls
    assert allows(request, "true") is texts
    assert allows(request, "Well.") is (texts and given is None)


def test_parallel_calls(compiler):
    two = (CALL % "now") + "\n" + (CALL % "day")
    for parallel, taken in ((None, True), (True, True), (False, False)):
        body = {"tools": [NOW, DAY], "tool_choice": "required", "parallel_tool_calls": parallel}
        assert allows(compiler.compile(body), two) is taken


def test_a_request_for_nothing_needs_no_guide(compiler):
    request = compiler.compile({"messages": [], "response_format": {"type": "text"}, "tools": [], "max_tokens": 7})
    assert (request.kind, request.index, request.guide, request.max_tokens) == ("text", None, None, 7)
    # Characters that lie in two tokens come whole, and one that is cut off shows.
    found, choice = replied(request, "né", ends=True)
    assert found == [{"role": "assistant", "content": ""}, {"content": "n"}, {"content": "é"}]
    assert choice == {"index": 0, "message": {"role": "assistant", "content": "né"}, "finish_reason": "stop"}
    reply = request.reply()
    assert reply.deltas("é".encode()[:1]) == []
    assert reply.choice()["message"]["content"] == "\ufffd" and reply.finish_reason is None
    assert reply.deltas("é".encode()[1:])[-1] == {"content": "é"}
    reply.deltas([END])
    with pytest.raises(interlock.ArgumentError, match="behind the end"):
        reply.deltas([97])


def test_calls_are_read_for_the_client(compiler):
    request = compiler.compile({"tools": [NOW], "tool_choice": "required"})
    found, choice = replied(request, CALL % "now")
    assert found[1]["tool_calls"][0]["function"]["name"] == "now"
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "now", "arguments": "{}"}


def test_an_output_of_a_clients_grammar_is_text_whatever_it_captures(compiler):
    grammar = 'start: "x=" number ";"\nnumber[capture]: /[0-9]+/'
    tag = {"type": "tag", "begin": "<f>", "content": {"type": "json_schema", "json_schema": True}, "end": "</f>"}
    for body, text in (
        ({"guided_grammar": grammar}, "x=17;"),
        ({"response_format": {"type": "structural_tag", "format": tag}}, "<f>[1]</f>"),
    ):
        found, choice = replied(compiler.compile(body), text)
        assert "".join(delta["content"] for delta in found) == choice["message"]["content"] == text


def test_reasoning_stands_before_every_kind_of_answer():
    compiler = RequestCompiler(VOCABULARY, format="hermes", reasoning="optional")
    for body, text in (
        ({}, "Well."),
        ({"response_format": FLAG}, "true"),
        ({"guided_choice": ["yes", "no"]}, "no"),
        ({"guided_grammar": 'start: "x=" number ";"\nnumber[capture]: /[0-9]+/'}, "x=1;"),
        ({"tools": [NOW], "response_format": FLAG}, "false"),
    ):
        _, choice = replied(compiler.compile(body), f"<think>Hm.</think>{text}")
        assert choice["message"] == {"role": "assistant", "content": text, "reasoning_content": "Hm."}, body
        # What is not reasoning still has the form that was asked for.
        assert not body or not allows(compiler.compile(body), "<think>Hm.</think>wrong")
    off = compiler.compile({"response_format": FLAG}, reasoning="none")
    assert off.kind == "json_schema" and not allows(off, "<think>Hm.</think>true") and allows(off, "true")
    opened = compiler.compile({"response_format": FLAG}, reasoning="required", reasoning_is_open=True)
    assert replied(opened, "Hm.</think>true")[1]["message"]["reasoning_content"] == "Hm."


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_the_budget_is_the_clients(compiler, name):
    request = compiler.compile({"guided_regex": "a{1,50}", name: 9})
    assert request.max_tokens == 9
    # The stop token is the ninth.
    assert request.guide.advance_many(b"a" * 50) == 8
    answer = answer_to(compiler, {"guided_regex": "a{9}", name: 9})
    assert answer.message == f"{name} is 9, but a complete output needs 10 tokens"
    assert answer.body["error"] == {
        "message": answer.message,
        "type": "invalid_request_error",
        "param": f"/{name}",
        "code": "budget",
    }
    assert (request.max_tokens, request.asked_max_tokens) == (9, 9)


def test_of_several_numbers_of_tokens_the_newest_name_counts(compiler):
    for body, number, name in (
        ({"max_tokens": 20, "max_completion_tokens": 30}, 30, "max_completion_tokens"),
        ({"max_completion_tokens": 5, "max_tokens": 20}, 5, "max_completion_tokens"),
        ({"max_tokens": 20, "max_completion_tokens": None}, 20, "max_tokens"),
        ({"max_tokens": 20, "max_output_tokens": 7, "max_completion_tokens": 9}, 9, "max_completion_tokens"),
        ({"max_tokens": 20, "max_output_tokens": 7}, 7, "max_output_tokens"),
    ):
        request = compiler.compile(body)
        assert (request.max_tokens, request.asked_max_tokens) == (number, number)
        assert answer_to(compiler, {**body, "guided_regex": "a{99}"}).place == f"/{name}"
    # What does not count is looked at all the same.
    for wrong in ("9", 0, True, []):
        answer = answer_to(compiler, {"max_completion_tokens": 9, "max_tokens": wrong})
        assert (answer.status, answer.place) == (400, "/max_tokens")
    strict = RequestCompiler(VOCABULARY, max_tokens=9, above_max_tokens="error")
    assert strict.compile({"max_completion_tokens": 9, "max_tokens": 10}).max_tokens == 9


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_a_number_of_tokens_above_the_servers_is_lowered_or_refused(name):
    lowers = RequestCompiler(VOCABULARY, max_tokens=9)
    request = lowers.compile({"guided_regex": "a+", name: 10**5000})
    assert (request.max_tokens, request.asked_max_tokens) == (9, 10**5000)
    assert request.guide.advance_many(b"a" * 50) == 8
    assert (lowers.compile({}).max_tokens, lowers.compile({}).asked_max_tokens) == (9, None)
    refuses = RequestCompiler(VOCABULARY, max_tokens=9, above_max_tokens="error")
    answer = answer_to(refuses, {"guided_regex": "a+", name: 10})
    assert answer.body["error"] | {"code": None} == {
        "message": f"at /{name}: {name} is a whole number from 1 to 9",
        "type": "invalid_request_error",
        "param": f"/{name}",
        "code": None,
    }
    assert refuses.compile({name: 9}).max_tokens == refuses.compile({}).max_tokens == 9
    # A number that the client did not write is not said to be the client's.
    for body in ({name: 99}, {}):
        answer = answer_to(lowers, {"guided_regex": "a{9}", **body})
        said = name if body else "max_tokens"
        assert answer.message == f"{said} is at most 9 on this server, but a complete output needs 10 tokens"


def test_the_number_of_outputs():
    compiler = RequestCompiler(VOCABULARY, max_n=3)
    for body, number in (({}, 1), ({"n": None}, 1), ({"n": 3}, 3)):
        assert compiler.compile(body).n == number
    answer = answer_to(compiler, {"n": 4})
    assert (answer.status, answer.place) == (400, "/n")
    assert answer.message == "at /n: n is a whole number from 1 to 3"
    assert RequestCompiler(VOCABULARY).compile({"n": 128}).n == 128


def test_best_of_is_the_number_of_outputs_or_refused():
    compiler = RequestCompiler(VOCABULARY)
    for body, number in (({"best_of": None}, 1), ({"best_of": 1}, 1), ({"n": 3, "best_of": 3}, 3)):
        assert compiler.compile(body).n == number
    for body in ({"best_of": 5}, {"best_of": "1"}, {"best_of": True}, {"n": 2, "best_of": 1}):
        answer = answer_to(compiler, body)
        assert (answer.status, answer.place) == (400, "/best_of")


def test_the_number_of_tools():
    compiler = RequestCompiler(VOCABULARY, format="hermes", max_tools=2)
    assert compiler.compile({"tools": [NOW, DAY]}).kind == "tools"
    answer = answer_to(compiler, {"tools": [NOW, DAY, {"name": "f"}]})
    assert (answer.status, answer.place) == (400, "/tools")
    assert answer.message == "at /tools: a request has at most 2 tools, not 3"
    default = RequestCompiler(VOCABULARY, format="hermes")
    many = [{"type": "function", "function": {"name": f"f{number}"}} for number in range(257)]
    assert default.compile({"tools": many[:256]}).kind == "tools"
    assert answer_to(default, {"tools": many}).place == "/tools"


def test_a_guide_of_another_vocabulary_is_refused(compiler):
    other = interlock.Vocabulary([b"a", b"b", b""], [2])
    request = compiler.compile({"guided_regex": "a"})
    foreign = RequestCompiler(other).compile({"guided_regex": "a"}).guide
    for call in (request.reply, request.reply().copy, compiler.compile({}).reply):
        with pytest.raises(interlock.ArgumentError, match="another vocabulary"):
            call(foreign)
        with pytest.raises(TypeError, match="guide must be"):
            call("a")
    assert request.reply(pickle.loads(pickle.dumps(request.guide))).deltas([]) == []


@pytest.mark.parametrize(
    "body, status, place",
    [
        ([], 400, None),
        ({"max_tokens": True}, 400, "/max_tokens"),
        ({"max_completion_tokens": 0}, 400, "/max_completion_tokens"),
        ({"min_tokens": -1}, 400, "/min_tokens"),
        ({"min_tokens": 9, "max_tokens": 5}, 400, "/min_tokens"),
        ({"stop": 5}, 400, "/stop"),
        ({"stop": ""}, 400, "/stop"),
        ({"stop": ["a", None]}, 400, "/stop/1"),
        ({"stop_token_ids": "1"}, 400, "/stop_token_ids"),
        ({"stop_token_ids": [256, 257]}, 400, "/stop_token_ids/1"),
        ({"tool_choice": "required"}, 400, "/tool_choice"),
        ({"tools": [NOW], "tool_choice": "always"}, 400, "/tool_choice"),
        ({"tools": [NOW], "parallel_tool_calls": "no"}, 400, "/parallel_tool_calls"),
        ({"tools": {}}, 400, "/tools"),
        ({"guided_jsn": {}}, 400, "/guided_jsn"),
        ({"guided_json": {"properties": {"a": {"type": "strnig"}}}}, 400, "/guided_json/properties/a"),
        ({"guided_regex": "a" * (2 << 20)}, 413, "/guided_regex"),
        # Only a flag may be false.
        ({"guided_json": False}, 400, "/guided_json"),
        ({"json_schema": False}, 400, "/json_schema"),
        ({"guided_choice": False}, 400, "/guided_choice"),
        ({"guided_regex": False}, 400, "/guided_regex"),
        ({"ebnf": False}, 400, "/ebnf"),
        ({"response_format": False}, 400, "/response_format"),
        ({"structured_outputs": False}, 400, "/structured_outputs"),
        ({"structured_outputs": {"json": False}}, 400, "/structured_outputs/json"),
    ],
)
def test_a_bad_request_is_answered_with_its_place(compiler, body, status, place):
    answer = answer_to(compiler, body)
    assert (answer.status, answer.body["error"]["param"]) == (status, place)
    assert answer.body["error"]["type"] == "invalid_request_error"


def test_a_schema_that_is_too_deep_is_not_too_long(compiler):
    schema = {"type": "string"}
    for _ in range(620):
        schema = {"type": "array", "items": schema}
    answer = answer_to(compiler, {"guided_json": schema})
    assert answer.status == 400 and "; nest it less deeply" in answer.message
    assert answer_to(compiler, {"guided_json": {"description": "a" * (2 << 20)}}).status == 413


def test_false_is_a_schema_and_a_flag(compiler):
    said = answer_to(compiler, {"guided_json": False}).message
    assert said == "at /guided_json: no value satisfies the schema: it accepts nothing"
    assert compiler.compile({"guided_json_object": False}).kind == "text"
    assert compiler.compile({"structured_outputs": {"json_object": False, "regex": "a"}}).kind == "regex"


def test_a_fault_of_the_server_is_told_without_details(compiler):
    answer = compiler.refusal(KeyError("secret"), {})
    assert answer.body == {
        "error": {
            "message": "internal error of the server",
            "type": "server_error",
            "param": None,
            "code": "internal",
        }
    }


def test_stop_tokens_of_a_request_are_added_to_those_of_the_model(compiler):
    request = compiler.compile({"guided_regex": "a", "stop_token_ids": [10], "min_tokens": 0})
    assert request.stop_token_ids == (END, 10)
    request.guide.advance(97)
    assert sorted(request.guide.allowed_token_ids().tolist()) == [10, END]


def test_a_stop_text_cuts_where_the_output_is_whole(compiler):
    schema = {"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": False}
    noted = compiler.compile({"guided_json": schema, "stop": ["###", "}"]})
    assert noted.cut_at_stop('{"note":"a ### b}"}') is None
    assert compiler.compile({"stop": "##"}).cut_at_stop("a.###b") == "a."
    # Stop texts that overlap are all looked at.
    assert compiler.compile({"guided_regex": "xa", "stop": "aa"}).cut_at_stop("xaaa") == "xa"


def test_forks_are_outputs_of_their_own(compiler):
    request = compiler.compile({"guided_choice": ["yes", "no"], "n": 2})
    texts = []
    for text in ("yes", "no"):
        guide = request.guide.fork()
        reply = request.reply(guide)
        guide.advance_many([*text.encode(), END])
        reply.deltas([*text.encode(), END])
        texts.append(reply.choice()["message"]["content"])
    assert texts == ["yes", "no"]


def test_deadlines_and_cancelling(compiler):
    late = RequestCompiler(VOCABULARY, seconds=0.0)
    assert answer_to(late, {"guided_regex": "a{3}"}).status == 504
    token = interlock.CancelToken()
    token.cancel()
    with pytest.raises(interlock.CancelledError) as caught:
        compiler.compile({"guided_regex": "a{3}"}, cancel=token)
    assert compiler.refusal(caught.value).status == 499


def test_a_cancelled_task_ends_its_compile(monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def compile(self, body, *, cancel):
        begun.set()
        while not cancel.is_cancelled:
            pass
        ended.set()

    async def leave():
        task = asyncio.ensure_future(RequestCompiler(VOCABULARY, seconds=None).compile_async({"guided_regex": "a"}))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(ended.wait)

    monkeypatch.setattr(RequestCompiler, "compile", compile)
    asyncio.run(leave())


def test_compiling_in_a_thread(compiler):
    request = asyncio.run(compiler.compile_async({"guided_choice": ["yes"]}))
    assert request.kind == "choice" and allows(request, "yes")


def test_the_report_names_places_in_the_body(compiler):
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "regex"}, "b": {"minLenght": 1}}}
    format = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    loose = {"type": "function", "function": {"name": "g", "parameters": schema, "strict": False}}
    inside = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": schema}, "end": "</a>"}
    older = {"type": "structural_tag", "structures": [{"begin": "<a>", "schema": schema, "end": "</a>"}]}

    def rows(**body):
        return {(row.pointer, row.keyword, row.enforcement) for row in compiler.compile(body).report()}

    def at(place):
        return {
            (f"{place}/properties/a", "format", "narrower"),
            (f"{place}/properties/b", "minLenght", "annotation"),
        }

    parameters = at("/tools/1/function/parameters")
    answer = at("/response_format/json_schema/schema")
    assert rows(tools=[loose, tool]) == parameters
    assert rows(tools=[loose, tool], response_format=format) == parameters | answer
    assert rows(response_format={"type": "structural_tag", "format": inside}) == at(
        "/response_format/format/content/json_schema"
    )
    assert rows(response_format={**older, "triggers": ["<a"]}) == at("/response_format/structures/0/schema")
    # Of a document, how it is written is said too.
    assert answer < rows(response_format=format)
    assert rows() == rows(guided_regex="a") == set()
    one = next(row for row in compiler.compile({"tools": [tool]}).report() if row.keyword == "format")
    assert "groups nest three deep" in one.reason


def test_indexes_come_from_the_store(tmp_path, monkeypatch):
    store = Store(tmp_path)
    written = {"whitespace": "compact", "spelling": "plain"}
    body = {"tools": [NOW], "tool_choice": "required"}
    store.get_or_compile("tools", [NOW], VOCABULARY, format="hermes", tool_choice="required", **written)
    store.get_or_compile("response_format", FLAG, VOCABULARY, **written)
    count = len(store)
    compiler = RequestCompiler(VOCABULARY, format="hermes", store=store)
    found = []
    get = Store.get
    monkeypatch.setattr(Store, "get", lambda self, *given: found.append(get(self, *given)) or found[-1])
    assert allows(compiler.compile(body), CALL % "now")
    assert allows(compiler.compile({"response_format": FLAG}), "true")
    assert allows(compiler.compile({"guided_choice": ["a"]}), "a")
    assert [index is not None for index in found] == [True, True, False]
    assert len(store) == count, "what a stranger sends is not added"


def test_settings_that_make_no_sense():
    with pytest.raises(interlock.ArgumentError, match="reasoning needs a format"):
        RequestCompiler(VOCABULARY, reasoning="optional")
    with pytest.raises(interlock.ArgumentError, match="functionary_v3_1 has no reasoning"):
        RequestCompiler(VOCABULARY, format="functionary_v3_1", reasoning="required")
    with pytest.raises(interlock.ArgumentError, match="stop_tokens"):
        RequestCompiler(VOCABULARY, max_tokens=1)
    with pytest.raises(interlock.ToolFormatError):
        RequestCompiler(VOCABULARY, format="hermse")
    assert answer_to(RequestCompiler(VOCABULARY), {"tools": [NOW]}).place == "/tools"


def test_the_package_has_the_compiler_by_its_name():
    assert interlock.serving is serving and "serving" in dir(interlock)


def test_docstrings():
    files = (serving.reply, serving.compiled_request, serving.request_compiler, serving.request_fields)
    for module in (serving, *files, serving.request_places):
        assert doctest.testmod(module).failed == 0, module.__name__


def test_what_can_be_pickled_and_what_says_how_to_go_on(compiler):
    request = compiler.compile({"tools": [NOW], "tool_choice": "required", "stop": ["###"]})
    reply = request.reply(new_id=lambda: "call_0")
    request.guide.advance_many((CALL % "now").encode())
    reply.deltas((CALL % "now").encode())
    history = EventHistory()
    history.take(request.index.parse(CALL % "now"))
    assert pickle.loads(pickle.dumps(history)).events == history.events
    again = pickle.loads(pickle.dumps(compiler))
    assert again.compile({"guided_regex": "a"}).kind == "regex" and again.limits == compiler.limits
    with pytest.raises(TypeError, match=r"a Reply cannot be pickled: .* make request.reply\(guide\) there"):
        pickle.dumps(reply)
    # What the error's hint says.
    there = pickle.loads(pickle.dumps(request))
    other = there.reply(there.index.guide(), new_id=lambda: "call_0")
    other._guide.advance_many(request.guide.tokens)
    other.deltas(request.guide.tokens)
    assert other.choice() == reply.choice()
    for made in (copy.copy(reply), copy.deepcopy(reply)):
        assert made.choice() == reply.choice()


def test_a_fork_goes_on_behind_the_events_that_were_given(compiler):
    request = compiler.compile({"tools": [NOW]})
    history, guide = EventHistory(), request.guide
    guide.advance_many(b"Well")
    history.take(guide.events())
    fork, other = guide.fork(), history.copy()
    fork.advance_many(b" and good.")
    assert other.take(fork.events()) == ([], [Text(" and good.")])
    assert history.take(guide.events()) == ([], [])
    assert (history.events, other.events) == ([Text("Well")], [Text("Well and good.")])
    fork.rollback(len(b"l and good."))
    assert other.take(fork.events())[0] == [Text("l and good.")] and history.events == [Text("Well")]


def test_calls_have_the_identifiers_that_were_sent(compiler):
    request = compiler.compile({"tools": [NOW, DAY]})
    reply = request.reply()
    tokens = ((CALL % "now") + "\n" + (CALL % "day")).encode()
    sent = []
    for token in tokens:
        request.guide.advance(token)
        for delta in reply.deltas([token]):
            sent += [call["id"] for call in delta.get("tool_calls", ()) if "id" in call]
    said = [[call["id"] for call in reply.choice()["message"]["tool_calls"]] for _ in range(2)]
    assert len(sent) == 2 and said == [sent, sent]
