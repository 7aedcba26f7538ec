"""Through SGLang's own HTTP server: every kind of source, every kind of bad one, and what goes on beside them.

The model is random, so whatever a mask permits is written sooner or later. Every answer is checked with ``re`` and
``jsonschema``, which know nothing of interlock.
"""

import json
import re
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import pytest
import serving
from serving import SECONDS

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "role": {"enum": ["user", "admin"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 6}, "maxItems": 3},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
}
NESTED = "^((a{1,100}){1,100}){1,100}$"
OTHER = "^(([ab]{1,100}){1,90}){1,80}$"
HOSTILE = {
    "type": "string",
    "allOf": [{"not": {"pattern": NESTED}}, {"pattern": OTHER}],
}


def tag_of(content, begin="<call>", end="</call>"):
    """The text of a structural tag: ``content`` between two delimiters."""
    inner = {"type": "tag", "begin": begin, "content": content, "end": end}
    return json.dumps({"type": "structural_tag", "format": inner})


GRAMMARS = {
    "EBNF": (
        'root ::= pair ("," pair){0,2}\npair ::= [a-z]{1,4} "=" [0-9]{1,3}\n',
        "[a-z]{1,4}=[0-9]{1,3}(,[a-z]{1,4}=[0-9]{1,3}){0,2}",
    ),
    "GBNF": ('root ::= "(" word " " . ")"\nword ::= [a-z]{1,6}\n', r"(?s)\([a-z]{1,6} .\)"),
    "Lark": (
        'start: VERB " " object ("," object)~0..2\nVERB: "GET" | "PUT"\nobject: /[a-z]{1,6}/\n',
        "(GET|PUT) [a-z]{1,6}(,[a-z]{1,6}){0,2}",
    ),
}


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """Overlap scheduling and prefix caching are SGLang's defaults; prompts beyond 128 tokens are read in chunks."""
    # Limits of work are what is tested, and on a busy machine the deadline would come before.
    env = {"INTERLOCK_SGLANG_COMPILE_SECONDS": "200"}
    made = serving.Server(
        model,
        tmp_path_factory.mktemp("http") / "log",
        env=env,
        enable_metrics=True,
        tool_call_parser="deepseekv3",
    )
    try:
        yield made.wait()
    finally:
        made.stop()


def valid(text, schema):
    """The parsed document, if it is one of ``schema``."""
    document = json.loads(text)
    jsonschema.validate(document, schema)
    return document


def said(answer):
    """The words of a refusal."""
    return answer["error"]["message"] if "error" in answer else json.dumps(answer, ensure_ascii=False)


def test_overlap_scheduling_is_on(server):
    status, info = server.get("/get_server_info")
    assert status == 200 and info["disable_overlap_schedule"] is False
    assert info["grammar_backend"] == "interlock"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_each_kind(server, temperature):
    status, answer = server.generate(regex=r"(GET|POST) /[a-z]{1,8}/\d{3}", temperature=temperature)
    assert status == 200, answer
    assert re.fullmatch(r"(GET|POST) /[a-z]{1,8}/[0-9]{3}", answer["text"])
    assert answer["meta_info"]["finish_reason"]["type"] == "stop"
    status, answer = server.generate(json_schema=json.dumps(PERSON), temperature=temperature)
    assert status == 200, answer
    valid(answer["text"], PERSON)
    assert answer["meta_info"]["finish_reason"]["type"] == "stop"
    status, answer = server.generate(json_schema="$$ANY$$", temperature=temperature)
    assert status == 200, answer
    json.loads(answer["text"])


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars(server, name, temperature):
    text, pattern = GRAMMARS[name]
    status, answer = server.generate(ebnf=text, temperature=temperature)
    assert status == 200, answer
    assert re.fullmatch(pattern, answer["text"]) and answer["meta_info"]["finish_reason"]["type"] == "stop", answer
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 64, "ebnf": text}
    status, answer = server.post("/v1/chat/completions", body)
    assert status == 200 and re.fullmatch(pattern, answer["choices"][0]["message"]["content"]), answer


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_structural_tags(server, temperature):
    call = {"type": "json_schema", "json_schema": PERSON}
    status, answer = server.generate(structural_tag=tag_of(call), temperature=temperature, max_new_tokens=120)
    assert status == 200, answer
    found = re.fullmatch("<call>(.*)</call>", answer["text"], re.DOTALL)
    assert found and answer["meta_info"]["finish_reason"]["type"] == "stop", answer
    valid(found[1], PERSON)
    chosen = {
        "type": "or",
        "elements": [{"type": "const_string", "value": "no"}, {"type": "regex", "pattern": "[0-9]{2}"}],
    }
    sequence = {"type": "sequence", "elements": [{"type": "const_string", "value": "Answer: "}, chosen]}
    status, answer = server.generate(structural_tag=json.dumps({"type": "structural_tag", "format": sequence}))
    assert status == 200 and re.fullmatch("Answer: (no|[0-9]{2})", answer["text"]), answer


def test_structural_tags_of_chats(server):
    """``response_format`` in its two forms, the present one and the legacy one."""
    legacy = {
        "type": "structural_tag",
        "structures": [{"begin": "<call>", "schema": PERSON, "end": "</call>"}],
        "triggers": ["<call>"],
    }
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 120}
    for wanted in (legacy, json.loads(tag_of({"type": "json_schema", "json_schema": PERSON}))):
        status, answer = server.post("/v1/chat/completions", {**chat, "response_format": wanted})
        assert status == 200, answer
        content = answer["choices"][0]["message"]["content"]
        assert answer["choices"][0]["finish_reason"] == "stop" and content.count("<call>") == content.count("</call>")
        for found in re.findall("<call>(.*?)</call>", content, re.DOTALL):
            valid(found, PERSON)
        assert wanted is legacy or content.startswith("<call>"), answer
    status, answer = server.post("/v1/chat/completions", {**chat, "response_format": {**legacy, "at_least_one": True}})
    assert status == 200 and answer["choices"][0]["message"]["content"].startswith("<call>"), answer


def test_a_recursive_grammar(server, tokenizer):
    """What opens is closed within the budget, also where a bias opens as much as it can."""
    (opening,) = tokenizer.encode("[", add_special_tokens=False)
    for tokens, bias in ((64, 0.0), (40, 30.0), (41, 30.0)):
        status, answer = server.generate(
            ebnf='root ::= "[" (root ("," root){0,2})? "]"',
            max_new_tokens=tokens,
            temperature=1.0,
            logit_bias={str(opening): bias},
        )
        assert status == 200 and answer["meta_info"]["finish_reason"]["type"] == "stop", answer
        assert answer["meta_info"]["completion_tokens"] <= tokens
        assert isinstance(json.loads(answer["text"]), list) and (not bias or answer["text"].startswith("[" * 5))


def test_forced_tool_calls(server):
    tool = {"type": "function", "function": {"name": "add", "parameters": PERSON, "strict": True}}
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 300, "tools": [tool]}
    for choice in ("required", {"type": "function", "function": {"name": "add"}}):
        status, answer = server.post("/v1/chat/completions", {**chat, "tool_choice": choice})
        assert status == 200, answer
        assert answer["choices"][0]["finish_reason"] != "length", answer
        (first, *_) = answer["choices"][0]["message"]["tool_calls"]
        assert first["function"]["name"] == "add"
        valid(first["function"]["arguments"], PERSON)
    status, answer = server.post("/v1/chat/completions", {**chat, "tool_choice": "auto", "max_tokens": 60})
    assert status == 200, answer


def test_a_nul_is_a_character(server):
    status, answer = server.generate(regex="a\0[bc]")
    assert status == 200 and answer["text"] in ("a\0b", "a\0c")


def test_chat_and_completions(server):
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 80}
    named = {"name": "person", "schema": PERSON, "strict": True}
    for wanted in ({"type": "json_schema", "json_schema": named}, {"type": "json_object"}):
        status, answer = server.post("/v1/chat/completions", {**chat, "response_format": wanted})
        assert status == 200, answer
        choice = answer["choices"][0]
        document = json.loads(choice["message"]["content"])
        assert isinstance(document, dict) and choice["finish_reason"] == "stop"
        if wanted["type"] == "json_schema":
            jsonschema.validate(document, PERSON)
    status, answer = server.post("/v1/chat/completions", {**chat, "regex": "yes|no"})
    assert status == 200 and answer["choices"][0]["message"]["content"] in ("yes", "no")
    body = {"model": "tiny", "prompt": "hi", "max_tokens": 20, "regex": "[ab]{4}"}
    status, answer = server.post("/v1/completions", body)
    assert status == 200 and re.fullmatch("[ab]{4}", answer["choices"][0]["text"])


REFUSED = {
    "half a pattern": ({"regex": "(a"}, "PatternError"),
    "a backreference": ({"regex": r"(?P<a>x+)(?P=a)"}, "UnsupportedError"),
    "a pattern that nothing matches": ({"regex": r"a[^\s\S]"}, "UnsatisfiableError"),
    "half a schema": ({"json_schema": '{"type":'}, "SchemaError"),
    "no type": ({"json_schema": '{"type": "str"}'}, "SchemaError"),
    "nothing is valid": ({"json_schema": '{"allOf": [{"type": "string"}, {"type": "number"}]}'}, "UnsatisfiableError"),
    "a reference that leads nowhere": ({"json_schema": '{"$ref": "#/$defs/none"}'}, "Error"),
    "a reference to elsewhere": ({"json_schema": '{"$ref": "https://example.com/s"}'}, "Error"),
    "nested without end": ({"json_schema": '{"not":' * 50_000}, "LimitError"),
    "too much work": ({"json_schema": json.dumps(HOSTILE)}, "LimitError"),
    "a long pattern": ({"regex": "(" * 20_000 + "a" + ")" * 20_000}, "LimitError"),
    "half an EBNF": ({"ebnf": 'root ::= "a" | ('}, "GrammarError"),
    "half of Lark": ({"ebnf": 'start: "a'}, "GrammarError"),
    "a rule that is nowhere": ({"ebnf": "root ::= nowhere"}, "GrammarError"),
    "a grammar without an end": ({"ebnf": 'root ::= "a" root'}, "UnsatisfiableError"),
    "a deep grammar": ({"ebnf": "root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000}, "LimitError"),
    "half a structural tag": ({"structural_tag": '{"type": "structural_tag", "format": {"type": "tag"}}'}, "Error"),
    "a structural tag that is no JSON": ({"structural_tag": "{"}, "Error"),
    "a tag with half a schema": (
        {"structural_tag": tag_of({"type": "json_schema", "json_schema": {"type": "objekt"}})},
        "StructuralTagError",
    ),
    "a token that the model has not": ({"ebnf": 'root ::= <nowhere> "a"'}, "VocabularyError"),
    "a tag of a token that the model has not": (
        {"structural_tag": '{"type": "structural_tag", "format": {"type": "token", "token": "<nowhere>"}}'},
        "StructuralTagError",
    ),
    "a hostile tag": (
        {"structural_tag": tag_of({"type": "json_schema", "json_schema": HOSTILE})},
        "LimitError",
    ),
    "no room": ({"regex": r"\d{60}", "max_new_tokens": 8}, "BudgetError: max_new_tokens is 8"),
    "two sources": ({"regex": "a", "json_schema": "{}"}, "Only one of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_400_and_the_neighbour_goes_on(server, name):
    parameters, words = REFUSED[name]
    neighbour = {}

    def run():
        neighbour["answer"] = server.generate(regex="[a-z]{40}", max_new_tokens=64, temperature=1.0)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(2):  # The second time the refusal is known already.
        status, answer = server.generate(**parameters)
        assert status == 400, (status, answer)
        assert words in said(answer), answer
    thread.join()
    status, answer = neighbour["answer"]
    assert status == 200 and re.fullmatch("[a-z]{40}", answer["text"]), answer


def test_a_neighbour_is_not_held_up_by_a_hostile_source(server):
    """What a refusal at the limits of work costs is spent in a thread of its own, without the GIL."""
    server.generate(regex="[ab]{30}", max_new_tokens=40)

    def timed():
        begin = time.perf_counter()
        status, answer = server.generate(regex="[ab]{30}", max_new_tokens=40)
        assert status == 200 and re.fullmatch("[ab]{30}", answer["text"])
        return time.perf_counter() - begin

    alone = min(timed() for _ in range(3))
    fresh = json.dumps({**HOSTILE, "title": "another one"})
    begin = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(server.generate, json_schema=fresh)
        beside = timed()
        status, _ = refused.result()
    print(
        f"alone {alone:.3f} s, beside a hostile source {beside:.3f} s, refused in {time.perf_counter() - begin:.3f} s"
    )
    assert status == 400


def test_several_choices(server):
    status, answers = server.generate(regex="[a-z]{5}", n=3, temperature=1.0)
    assert status == 200 and len(answers) == 3
    assert all(re.fullmatch("[a-z]{5}", answer["text"]) for answer in answers)
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 20, "n": 3, "regex": r"\d+"}
    status, answer = server.post("/v1/chat/completions", body)
    assert status == 200 and len(answer["choices"]) == 3
    assert all(choice["message"]["content"].isdigit() for choice in answer["choices"])


def stream(server, body, stop_after=None):
    """The pieces of a streamed chat reply."""
    data = json.dumps({**body, "stream": True}).encode()
    request = urllib.request.Request(server.url("/v1/chat/completions"), data, {"Content-Type": "application/json"})
    pieces, reason = [], None
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        for line in answer:
            if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":
                continue
            choice = json.loads(line[6:])["choices"]
            if not choice:
                continue
            pieces.append(choice[0]["delta"].get("content") or "")
            reason = choice[0].get("finish_reason") or reason
            if stop_after is not None and len(pieces) >= stop_after:
                break
    return pieces, reason


def test_streaming(server):
    named = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 80}
    pieces, reason = stream(server, {**body, "response_format": named})
    assert len(pieces) > 3 and reason == "stop"
    valid("".join(pieces), PERSON)


def test_thirty_two_at_once(server):
    """Constrained by different sources, free, and refused, all in the same batches."""

    def one(number):
        kind = number % 4
        if kind == 0:
            status, answer = server.generate(regex=f"[a-f]{{{number + 1}}}", temperature=1.0)
            return status == 200 and re.fullmatch(f"[a-f]{{{number + 1}}}", answer["text"]) is not None
        if kind == 1:
            schema = {**PERSON, "title": f"number {number}"}
            status, answer = server.generate(json_schema=json.dumps(schema), temperature=1.0)
            return status == 200 and valid(answer["text"], schema) is not None
        if kind == 2:
            status, answer = server.generate(max_new_tokens=10)
            return status == 200 and answer["meta_info"]["completion_tokens"] == 10
        status, _ = server.generate(regex="(" * (number + 1))
        return status == 400

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(one, range(32)))


def test_aborts(server):
    """A client that leaves, a request that is aborted by its name, and one whose source is being compiled."""
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 700, "regex": "[ab]{700}"}
    pieces, reason = stream(server, body, stop_after=3)
    assert len(pieces) == 3 and reason is None
    results = {}

    def run(name, **parameters):
        body = {"text": "x", "rid": name, "sampling_params": {"max_new_tokens": 800, **parameters}}
        results[name] = server.post("/generate", body)

    hostile = json.dumps({**HOSTILE, "title": "aborted"})
    threads = [
        threading.Thread(target=run, args=("long",), kwargs={"regex": "[ab]{700}"}),
        threading.Thread(target=run, args=("compiling",), kwargs={"json_schema": hostile}),
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.7)
    for name in ("long", "compiling"):
        server.post("/abort_request", {"rid": name})
    for thread in threads:
        thread.join(SECONDS)
    assert set(results) == {"long", "compiling"}
    status, answer = results["long"]
    assert status != 200 or answer["meta_info"]["finish_reason"]["type"] == "abort", answer
    status, answer = server.generate(regex="[ab]{7}")
    assert status == 200 and re.fullmatch("[ab]{7}", answer["text"])


def test_the_output_is_complete_within_max_new_tokens(server):
    """A random model does not close strings. The shortest output takes as many tokens as the budget of the last."""
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    for budget in (64, 20, 12):
        for _ in range(3):
            status, answer = server.generate(json_schema=json.dumps(schema), max_new_tokens=budget, temperature=1.0)
            assert status == 200, answer
            valid(answer["text"], schema)
            assert answer["meta_info"]["completion_tokens"] <= budget
            assert answer["meta_info"]["finish_reason"]["type"] == "stop"


def test_the_last_token_may_be_needed_for_the_output(server):
    """Where there is no room for a stop token the output is complete all the same; the reason is the length."""
    status, answer = server.generate(regex="[xyz]", max_new_tokens=1)
    assert status == 200 and answer["text"] in ("x", "y", "z")
    assert answer["meta_info"]["finish_reason"] == {"type": "length", "length": 1}


def test_min_new_tokens(server):
    """Stop tokens are held back as long as something else may follow, and an output that can be no longer ends."""
    status, answer = server.generate(regex="[0-9]{3}", min_new_tokens=30, max_new_tokens=60)
    assert status == 200 and re.fullmatch("[0-9]{3}", answer["text"]), answer
    status, answer = server.generate(regex="[xq]*", min_new_tokens=20, max_new_tokens=60, temperature=1.0)
    assert status == 200 and re.fullmatch("[xq]*", answer["text"])
    assert answer["meta_info"]["completion_tokens"] >= 20


def test_stop_strings_and_tokens(server, tokenizer):
    # A single letter: SGLang looks for a string in as many tokens as its tokenizer writes it with, plus one.
    status, answer = server.generate(regex="[a-c]{2};[d-f]{2}", stop=";")
    assert status == 200 and re.fullmatch("[a-c]{2}", answer["text"])
    assert answer["meta_info"]["finish_reason"]["matched"] == ";"
    special = tokenizer.convert_tokens_to_ids("<｜▁pad▁｜>")
    bias = {str(special): 50.0}
    status, answer = server.generate(regex="[a-c]{6}", stop_token_ids=[special], logit_bias=bias, temperature=0.0)
    assert status == 200 and re.fullmatch("[a-c]{6}", answer["text"])
    assert answer["meta_info"]["finish_reason"]["matched"] == special
    (letter,) = tokenizer.encode("b", add_special_tokens=False)
    bias = {str(letter): 50.0}
    status, answer = server.generate(regex="[a-c]{60}", stop_token_ids=[letter], logit_bias=bias, temperature=0.0)
    assert status == 200 and answer["meta_info"]["finish_reason"]["matched"] == letter


def test_logit_bias_padding_and_added_tokens(server, tokenizer):
    """Neither a bias against the mask, nor columns without a token, nor a chat template's tokens inside a string."""
    forbidden = tokenizer.encode("z", add_special_tokens=False)[0]
    added = [tokenizer.convert_tokens_to_ids(name) for name in ("<｜User｜>", "</think>", "<｜tool▁calls▁begin｜>")]
    assert all(isinstance(i, int) for i in added) and not set(added) & set(tokenizer.all_special_ids)
    schema = {"type": "array", "items": {"type": "string", "minLength": 5}, "minItems": 3, "maxItems": 3}
    for token in (forbidden, serving.COLUMNS - 1, *added):
        bias = {str(token): 60.0}
        status, answer = server.generate(regex="[a-y]{12}", logit_bias=bias)
        assert status == 200 and re.fullmatch("[a-y]{12}", answer["text"])
        if token != forbidden:
            parameters = {"json_schema": json.dumps(schema), "logit_bias": bias, "max_new_tokens": 60}
            status, answer = server.generate(**parameters, temperature=1.0)
            assert status == 200, answer
            valid(answer["text"], schema)
            assert token not in answer["output_ids"]


def test_chunked_prefill_and_the_prefix_cache(server):
    long = "one two three four five six seven eight nine ten " * 40
    for _ in range(2):
        status, answer = server.generate(long, json_schema=json.dumps(PERSON), temperature=1.0, max_new_tokens=100)
        assert status == 200, answer
        valid(answer["text"], PERSON)
        assert answer["meta_info"]["prompt_tokens"] > 3 * 128
    assert answer["meta_info"]["cached_tokens"] > 128


def test_counters_are_among_the_servers_metrics(server):
    status, text = server.get("/metrics")
    assert status == 200
    found = {re.split("[{ ]", line)[0] for line in text.splitlines() if line.startswith("interlock_")}
    counted = {"requests", "refusals", "cache_hits", "rows"}
    assert {f"interlock_{name}_total" for name in counted} <= found, found
    assert "interlock_fill_seconds_count" in found and "interlock_compile_seconds_count" in found
    assert 'interlock_refusals_total{reason="limit",where="engine"}' in text
    assert "interlock_rejected_tokens_total" not in text or "interlock_rejected_tokens_total 0" in text


def test_nothing_went_wrong_unseen(server):
    """At the end, since the server's log is of all tests before."""
    assert server.get("/health")[0] == 200
    log = server.text_since_start()
    assert "Traceback" not in log, log[log.index("Traceback") :][:3000]
    assert "accept_token failed" not in log
