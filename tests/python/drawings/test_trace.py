"""Traces of a generation, and their page in a browser."""

import json
import re
import subprocess
import sys

import browser
import pytest

import interlock
from interlock.drawing.trace import trace
from interlock.drawing.trace_page import trace_page
from interlock.explain import byte_vocabulary, explain

SCHEMA = {
    "type": "object",
    "properties": {"item": {"type": "string"}, "size": {"enum": ["small", "large"]}},
    "required": ["item"],
    "additionalProperties": False,
}


def index_of(vocabulary):
    return interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")


def walked(text, **options):
    return trace(index_of(byte_vocabulary()), list(text), **options)


def test_every_step_says_what_the_guide_says():
    text = b'{"item": "a<b", "size": "small"}'
    found = walked(text, max_tokens=60)
    assert found.complete and not found.problems and len(found.steps) == len(text)
    guide = index_of(byte_vocabulary()).guide(max_tokens=60)
    for number, step in enumerate(found.steps):
        allowed = guide.allowed_token_ids().tolist()
        assert (step.id, step.at, step.allowed) == (text[number], number, len(allowed))
        assert step.forced == (guide.forced_bytes()[:1] == text[number : number + 1])
        assert all(other.id not in allowed and other.reason for other in step.alternatives)
        guide.advance(step.id)
        assert (step.to_finish, step.budget_left) == (guide.min_tokens_to_finish(), 60 - guide.num_tokens)
        assert step.mask_us > 0 and step.advance_us > 0
    assert found.forced == sum(step.forced for step in found.steps) > len(text) / 2
    reasons = [other.reason for step in found.steps for other in step.alternatives]
    assert any("must come next" in reason for reason in reasons)


def test_a_refused_token_ends_it_with_the_reason():
    found = walked(b'{"item": "a", "colour": 1}')
    last = found.steps[-1]
    assert last.refused and not last.forced and last.at == 15 and not found.complete
    assert found.problems == ["`colour` is no property here; allowed: item, size"]
    assert found.rest == 'olour": 1}'
    early = walked(b'{"item": "a"')
    assert not early.complete and not early.steps[-1].refused and "ends" in early.problems[0]


def test_a_refused_end_of_a_string_has_the_reason_of_the_string():
    schema = {
        "type": "object",
        "properties": {"s": {"type": "string", "minLength": 3}, "z": {"type": "integer"}},
        "required": ["s", "z"],
        "additionalProperties": False,
    }
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b'"}', b"", b'"]'], [257])
    index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="compact")
    text = b'{"s":"abc","z":1}'
    # A model wanted to end the string at once, and the object as well.
    found = trace(index, list(text), wishes=[{34: -1.0, 256: -2.0}] * len(text))
    ends = found.steps[text.index(b"b")].alternatives
    assert [end.id for end in ends] == [34, 256]
    assert {end.reason for end in ends} == {"`s` has 1 character; at least 3 are required (minLength)"}
    assert explain(index, b'{"s":"abc"}').problems[0].missing == ("z",)


def test_stop_tokens_and_longer_ones(word_vocabulary):
    index = interlock.Index.from_choices(["yes", "no"], word_vocabulary)
    yes = next(i for i in range(word_vocabulary.size) if word_vocabulary.token_bytes(i) == b"yes")
    stop = word_vocabulary.eos_token_ids[0]
    found = trace(index, [yes, stop])
    assert found.complete and [step.forced for step in found.steps] == [False, False]
    assert found.steps[1].special and found.steps[1].to_finish == 0
    early = trace(index, [stop])
    assert early.steps[0].refused and early.problems


def test_what_a_model_wanted():
    wishes = [{ord("y"): -0.1, ord("m"): -3.0, ord("n"): -4.0}, {ord("e"): -0.5}]
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary())
    found = trace(index, list(b"ye"), wishes=wishes)
    first = found.steps[0]
    assert [(o.text, o.allowed, bool(o.reason)) for o in first.alternatives] == [("m", False, True), ("n", True, False)]
    assert first.probability == pytest.approx(0.905, abs=0.001) and found.own_alternatives


def test_the_page_holds_data_that_cannot_break_out():
    page = trace_page(walked(b'{"item": "</script><b>"}', title="<i>"))
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(data)["complete"] and "</script><b>" not in page and "<i>" not in page
    assert not re.search(r'(src|href)="', page)


def test_the_command(tmp_path):
    (tmp_path / "order.json").write_text(json.dumps(SCHEMA))
    content = [
        {"token": c, "bytes": [ord(c)], "logprob": -0.2, "top_logprobs": [{"token": "z", "logprob": -2}]} for c in '{"'
    ]
    (tmp_path / "response.json").write_text(json.dumps({"choices": [{"logprobs": {"content": content}}]}))
    command = [sys.executable, "-m", "interlock.cli", "trace", "order.json", "--json"]

    def run(*args, code):
        done = subprocess.run([*command, *args], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    made = run("--text", '{"item": "a"}', "-o", "a.html", code=0)
    assert made["complete"] and (tmp_path / "a.html").stat().st_size < 60_000
    assert run("--text", '{"item": 1}', code=1)["problems"] == ["`item`: a string is expected, not a number (1)"]
    assert run("--text", '{"item":\n1}', code=1)["places"] == [{"line": 2, "column": 1, "pointer": "/item"}]
    assert "line 2, column 1, at /item: `item`: a string" in (tmp_path / "trace.html").read_text()
    wanted = run("--logprobs", "response.json", code=1)["steps"][0]
    assert wanted["alternatives"][0]["text"] == "z" and not wanted["alternatives"][0]["allowed"]
    (tmp_path / "response.json").write_text('{"choices": []}')
    assert "choices[0].logprobs.content" in run("--logprobs", "response.json", code=4)["error"]["message"]
    assert "nothing to trace" in run(code=2)["error"]["message"]
    assert ".html" in run("--text", "1", "-o", "a.svg", code=2)["error"]["message"]


@pytest.mark.skipif(browser.found() is None, reason="there is no Chromium")
def test_the_page_in_a_browser(tmp_path):
    (tmp_path / "a.html").write_text(
        trace_page(walked(b'{"item": "a\n<b>", "size": 1}', title="order.json", max_tokens=50))
    )
    (tmp_path / "b.html").write_text(trace_page(walked(b'{"item": "tea", "size": "small"}')))
    with browser.Browser() as page:
        for dark in (False, True):
            page.scheme(dark)
            page.open(tmp_path / "b.html")
            count = page.js("document.querySelectorAll('#text span').length")
            assert count == page.js("document.querySelectorAll('#chart div').length") == 32
            back = page.js("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", back))) < 384) == dark
        forced = page.js("document.querySelectorAll('#text .f').length")
        assert forced == walked(b'{"item": "tea", "size": "small"}').forced
        x, y = page.js(
            "(r => [r.left + 3, r.top + 8])(document.querySelectorAll('#text span')[10].getBoundingClientRect())"
        )
        page.click(x, y)
        assert page.js("document.querySelector('#step h3').textContent") == '"t"'
        assert "chosen" in page.js("document.getElementById('step').textContent")
        for key, shown in (("ArrowRight", '"e"'), ("ArrowLeft", '"t"')):
            page.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key)
            assert page.js("document.querySelector('#step h3').textContent") == shown
        page.js("document.querySelectorAll('#chart div')[0].click()")
        assert "forced" in page.js("document.getElementById('step').textContent")
        page.check()
        page.open(tmp_path / "a.html")
        assert page.js("document.querySelectorAll('#text .x').length") == 1
        refused = page.js("document.getElementById('step').textContent")
        assert "refused" in refused and page.js("document.querySelectorAll('ul.bad li').length") >= 1
        page.screenshot(tmp_path / "a.png")
        assert (tmp_path / "a.png").stat().st_size > 10_000
