"""The flags of clients' patterns, which a server decides."""

from __future__ import annotations

import pytest

import interlock
from interlock import ArgumentError, Store
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
DIGIT = chr(0x0663)  # A digit of Arabic, which Python's \d matches.
PATTERNS = [
    {"guided_regex": r"\d\w\s"},
    {"regex": r"\d\w\s"},
    {"structured_outputs": {"regex": r"\d\w\s"}},
    {"response_format": {"type": "regex", "pattern": r"\d\w\s"}},
    {"response_format": {"type": "grammar", "syntax": "regex", "grammar": r"\d\w\s"}},
]
TOOL = {"name": "now", "parameters": {"type": "object"}}


def accepts(request, text):
    guide = request.guide.fork()
    return guide.advance_many(text.encode()) == len(text.encode()) and guide.is_accepting


@pytest.mark.parametrize("body", PATTERNS)
@pytest.mark.parametrize("beside", ["nothing", "tools", "reasoning"])
def test_the_classes_of_a_clients_pattern_are_ascii_unless_the_server_says_otherwise(body, beside):
    settings = {} if beside == "nothing" else {"format": "hermes"}
    settings |= {"reasoning": "optional"} if beside == "reasoning" else {}
    body = body | ({"tools": [TOOL], "tool_choice": "none"} if beside == "tools" else {})
    ascii_only = RequestCompiler(VOCABULARY, **settings).compile(body)
    as_python_has_them = RequestCompiler(VOCABULARY, **settings, regex_flags="").compile(body)
    assert accepts(ascii_only, "1_ ") and accepts(as_python_has_them, "1_ ")
    for text in (f"{DIGIT}_ ", "1é ", "1_\u2003"):
        assert not accepts(ascii_only, text) and accepts(as_python_has_them, text)


def test_other_flags_of_patterns():
    body = {"guided_regex": "(?s)a.b", "tools": [TOOL], "tool_choice": "none"}
    compiler = RequestCompiler(VOCABULARY, format="hermes", regex_flags="ai")
    assert accepts(compiler.compile(body), "A\nB")
    del body["tools"], body["tool_choice"]
    assert accepts(compiler.compile(body), "A\nB")
    # An error is told in the client's own words and numbers.
    for more in ({}, {"tools": [TOOL]}):
        with pytest.raises(interlock.InterlockError) as caught:
            compiler.compile({"guided_regex": "ab(", **more})
        answer = compiler.refusal(caught.value)
        assert answer.body["error"]["param"] == "/guided_regex"
        assert "2" in answer.message and "(?ai)" not in answer.message


def test_patterns_of_schemas_keep_the_dialect_of_json_schema():
    body = {"guided_json": {"type": "string", "pattern": r"^\w$"}}
    indexes = [RequestCompiler(VOCABULARY, regex_flags=flags).compile(body).index for flags in ("", "a", "i")]
    assert indexes[0] == indexes[1] == indexes[2]


@pytest.mark.parametrize("flags", ["z", "au", "A", "a "])
def test_flags_that_are_none_are_refused_when_the_compiler_is_made(flags):
    with pytest.raises(ArgumentError, match="regex_flags: ") as caught:
        RequestCompiler(VOCABULARY, regex_flags=flags)
    assert not caught.value.is_client_error
    calls = (
        lambda: interlock.Index.from_response_format({"type": "text"}, VOCABULARY, regex_flags=flags),
        lambda: interlock.check_response_format({"type": "text"}, regex_flags=flags),
        lambda: interlock.Index.from_tools([TOOL], VOCABULARY, format="hermes", regex_flags=flags),
        lambda: interlock.check_tools([TOOL], format="hermes", regex_flags=flags),
    )
    for call in calls:
        with pytest.raises(ArgumentError, match="regex_flags: "):
            call()


@pytest.mark.parametrize("flags", ["", "a"])
def test_a_store_keeps_indexes_of_other_flags_apart(tmp_path, monkeypatch, flags):
    body = {"guided_regex": r"\d+"}
    store = Store(tmp_path)
    written = {"whitespace": "compact", "spelling": "plain", "regex_flags": flags}
    store.get_or_compile("response_format", body, VOCABULARY, **written)
    more = {"response_format": body, "format": "hermes", "parallel": None, "tool_choice": None}
    store.get_or_compile("tools", [TOOL], VOCABULARY, **written, **more)
    found = []
    get = Store.get
    monkeypatch.setattr(Store, "get", lambda self, *given: found.append(get(self, *given)) or found[-1])
    for server in ("", "a"):
        compiler = RequestCompiler(VOCABULARY, format="hermes", store=store, regex_flags=server)
        for asked in (body, body | {"tools": [TOOL]}):
            assert accepts(compiler.compile(asked), DIGIT) == (server == "")
    assert [index is not None for index in found] == [flags == "", flags == "", flags == "a", flags == "a"]
