"""A server with ``--reasoning-parser`` and strict thinking: free text first, the grammar from ``</think>`` on."""

import json
import re
import threading

import pytest
import serving

BUDGET = 8


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """The reasoning is at most eight tokens long, which the token filters see to."""
    made = serving.Server(
        model,
        tmp_path_factory.mktemp("reasoning") / "log",
        env={"SGLANG_MAX_THINK_TOKENS": str(BUDGET)},
        reasoning_parser="deepseek-r1",
        enable_strict_thinking=True,
        tool_call_parser="deepseekv3",
        constrained_json_whitespace_pattern="[ ]{2}",
    )
    try:
        yield made.wait()
    finally:
        made.stop()


def asked(server, content="hi", **more):
    body = {"model": "tiny", "messages": [{"role": "user", "content": content}], "max_tokens": 60, **more}
    status, answer = server.post("/v1/chat/completions", body)
    return status, answer["choices"][0] if status == 200 else answer


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_grammar_begins_where_reasoning_ends(server, temperature):
    status, choice = asked(server, regex="[0-9]{4}-[0-9]{2}", temperature=temperature)
    assert status == 200, choice
    assert re.fullmatch("[0-9]{4}-[0-9]{2}", choice["message"]["content"])
    assert choice["message"]["reasoning_content"] and choice["finish_reason"] == "stop"


def test_reasoning_that_the_model_ends_itself(server, tokenizer):
    end = tokenizer.convert_tokens_to_ids("</think>")
    status, choice = asked(server, regex="[ab]{9}", logit_bias={str(end): 100.0}, temperature=0.0)
    assert status == 200, choice
    assert re.fullmatch("[ab]{9}", choice["message"]["content"]) and not choice["message"]["reasoning_content"]


def test_the_budget_counts_what_reasoning_spent(server):
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    named = {"type": "json_schema", "json_schema": {"name": "list", "schema": schema}}
    for limit in (40, 24):
        status, choice = asked(server, response_format=named, max_tokens=limit, temperature=1.0)
        assert status == 200, choice
        assert isinstance(json.loads(choice["message"]["content"]), list) and choice["finish_reason"] == "stop"


def test_the_servers_whitespace_pattern(server):
    schema = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": False}
    status, answer = server.generate(json_schema=json.dumps(schema))
    assert status == 200 and answer["text"] == '{  "a"  :  1  }', answer


def test_grammars_and_tags_after_reasoning(server):
    status, choice = asked(server, ebnf='root ::= "a" [bc]{3}', temperature=1.0)
    assert status == 200 and re.fullmatch("a[bc]{3}", choice["message"]["content"]), choice
    content = {"type": "regex", "pattern": "[0-9]{4}"}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<n>", "content": content, "end": "</n>"}}
    status, choice = asked(server, response_format=tag, temperature=1.0)
    assert status == 200 and re.fullmatch("<n>[0-9]{4}</n>", choice["message"]["content"]), choice


def test_a_request_without_reasoning_is_constrained_from_the_start(server):
    status, answer = server.generate(regex="[ab]{9}")
    assert status == 200 and re.fullmatch("[ab]{9}", answer["text"])


def test_free_and_constrained_ones_at_once(server):
    found = {}

    def run(number):
        found[number] = asked(server, regex="[0-9]{6}", temperature=1.0) if number % 2 else asked(server, max_tokens=20)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (status, choice) in found.items():
        assert status == 200, choice
        assert number % 2 == 0 or re.fullmatch("[0-9]{6}", choice["message"]["content"])


def test_refusals(server):
    for parameters, words in (({"regex": "(a"}, "PatternError"), ({"ebnf": 'root ::= "a'}, "GrammarError")):
        for _ in range(2):
            status, answer = asked(server, **parameters)
            assert status == 400 and words in json.dumps(answer), answer
    status, answer = asked(server, regex="[0-9]{3}")
    assert status == 200, answer


def test_nothing_went_wrong_unseen(server):
    assert server.get("/health")[0] == 200
    log = server.text_since_start()
    assert "Traceback" not in log, log[log.index("Traceback") :][:3000]
