"""``CompiledRequest``: what it shows of itself, and what is answered where an output of it fails."""

from __future__ import annotations

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
WIDE = "(?:(?:(?:(?:ab?){1,99}c?){1,99}d?){1,99}e?){1,99}"


def hostile(char):
    """A grammar whose masks are work; those of another letter are not known from it. It is not regular, since a tag
    would make one terminal of it.
    """
    return 'start: item | "(" start ")"\nitem: ' + " | ".join(f'/.*{char}.{{{i}}}/ "x"' for i in range(14))


TAG = {"type": "structural_tag", "format": {"type": "grammar", "syntax": "lark", "grammar": hostile("b")}}


@pytest.fixture(scope="module")
def compiler():
    return RequestCompiler(VOCABULARY, format="hermes", limits={"max_mask_steps": 0})


@pytest.fixture
def no_first_mask(monkeypatch):
    """Compiles make no mask, so that the first one that is asked for may fail, as a later one of a request would."""
    monkeypatch.setattr("interlock.serving.request_compiler.make_mask", lambda guide: None)


def failed(request, text, in_batch):
    """The error of the first mask, or token, behind which the guide is lost."""
    guide = request.guide.fork()
    text = ('"' if request.kind == "json_schema" else "") + text
    with pytest.raises(interlock.LimitError) as caught:
        for token in text.encode():
            if in_batch:
                interlock.fill_bitmasks([None, guide], interlock.allocate_bitmask(2, VOCABULARY))
            else:
                guide.fill_bitmask(interlock.allocate_bitmask(1, VOCABULARY))
            guide.advance(token)
    return caught.value


@pytest.mark.parametrize("in_batch", [False, True])
@pytest.mark.parametrize(
    "body, field, place, way",
    [
        ({"guided_grammar": hostile("a")}, "max_mask_steps", "/guided_grammar", "simplify it: "),
        (
            {"structured_outputs": {"grammar": hostile("b")}},
            "max_mask_steps",
            "/structured_outputs",
            "simplify it: ",
        ),
        ({"response_format": TAG}, "max_mask_steps", "/response_format", "simplify it: "),
        ({"guided_regex": WIDE}, "max_state_bytes", "/guided_regex", "simplify its patterns: "),
        ({"guided_json": {"type": "string", "pattern": WIDE}}, "max_mask_steps", "/guided_json", "simplify it: "),
        (
            {"guided_grammar": hostile("d"), "tools": [{"name": "now"}], "tool_choice": "auto"},
            "max_mask_steps",
            "/tools",
            "simplify it: ",
        ),
    ],
)
@pytest.mark.usefixtures("no_first_mask", "room_for_all_sources")
def test_an_error_of_a_mask_is_answered_with_its_field(compiler, body, field, place, way, in_batch):
    interlock.clear_caches()  # Masks that are known are no work.
    if field == "max_state_bytes":  # Its masks are work as well, and may take it.
        compiler = RequestCompiler(VOCABULARY)
    request = compiler.compile(body)
    assert request.place == place
    error = failed(request, "a" * 400, in_batch)
    assert error.field == field and f"Limits.{field} sets it; raise it, or simplify " in str(error)
    answer = request.refusal(error)
    assert (answer.status, answer.reason, answer.body["error"]["param"]) == (400, "limit", place)
    assert answer.message.startswith(f"at {place}: ") and way in answer.message
    # A client cannot raise a limit, and knows no batch.
    assert "Limits" not in answer.message and field not in answer.message and "batch" not in answer.message
    assert compiler.refusal(error, body) == answer
    assert compiler.refusal(error).place is None and compiler.refusal(error, [1]).place is None


def test_other_errors_keep_their_places():
    compiler = RequestCompiler(VOCABULARY)
    request = compiler.compile({"guided_json": {"type": "integer"}})
    assert request.refusal(interlock.RequestError("no", "/stop")).place == "/stop"
    assert request.refusal(interlock.BudgetError("max_tokens is 1, but")).place == "/max_tokens"
    assert request.refusal(KeyError(1)).status == 500 and request.refusal(MemoryError()).status == 503
    assert request.refusal(interlock.ArtifactError("no")).place is None


def test_it_is_shown_in_a_line():
    compiler = RequestCompiler(VOCABULARY, format="hermes")
    schema = {"enum": [f"choice {i}" for i in range(2_000)], "description": "a" * 10_000}
    tools = [{"name": f"f{i}", "description": "b" * 1_000} for i in range(100)]
    shown = repr(compiler.compile({"guided_json": schema, "max_tokens": 50, "n": 3}))
    assert shown.startswith(
        "<interlock.serving.CompiledRequest of a json_schema at /guided_json, 50 tokens, 3 outputs, "
    )
    assert len(shown) < 150
    shown = repr(compiler.compile({"tools": tools}))
    assert shown.startswith("<interlock.serving.CompiledRequest of a tools at /tools, ") and len(shown) < 150
    assert repr(compiler.compile({})) == "<interlock.serving.CompiledRequest of a text, 4096 tokens>"


def test_a_compiler_says_in_a_line_what_it_does():
    compiler = RequestCompiler(VOCABULARY, format="hermes", compile_threads=1)
    of = "<interlock.serving.RequestCompiler of"
    assert repr(compiler) == f"{of} hermes, 1 thread a lane, 0 kept, 0 running, 0 waiting>"
    compiler.keep({"guided_choice": ["a", "b"]})
    compiler.close()
    assert repr(compiler) == f"{of} hermes, 1 thread a lane, 1 kept, 0 running, 0 waiting, closed>"
    assert repr(RequestCompiler(VOCABULARY)).startswith(f"{of} no format, ")
