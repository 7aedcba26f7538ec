"""The backend behind vLLM's OpenAI server, through HTTP: what clients send, and what they get."""

import json
import re
import time

import jsonschema
import pytest
from cases import BRACKETS, EBNF, GRAMMARS, IP, PERSON, REFUSED, tag_of
from conftest import on
from patience import SECONDS


def valid(text, schema=PERSON):
    jsonschema.validate(json.loads(text), schema)
    return json.loads(text)


@on("smollm2", "tiny")
def test_every_kind(server):
    for _ in range(3):
        reply = server.complete("An IP: ", {"regex": IP})
        assert re.fullmatch(IP, reply.text) and reply.finish == "stop", reply
        valid(server.complete("A person: ", {"json": PERSON}).text)
        valid(server.complete("A person: ", {"json": json.dumps(PERSON)}).text)
        assert server.complete("Yes or no? ", {"choice": ["yes", "no", "yes, but"]}).text in ("yes", "no", "yes, but")
        assert isinstance(json.loads(server.complete("JSON: ", {"json_object": True}).text), dict)


def brackets(text):
    """Whether ``text`` is a list of lists of lists … of at most three each."""
    value = json.loads(text)
    todo = [value]
    while todo:
        one = todo.pop()
        assert isinstance(one, list) and len(one) <= 3
        todo += one
    return value


@on("smollm2", "tiny")
@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars(server, name):
    text, pattern = GRAMMARS[name]
    for temperature in (0.0, 1.0):
        reply = server.complete("x: ", {"grammar": text}, temperature=temperature, max_tokens=60)
        assert reply.status == 200, reply
        assert re.fullmatch(pattern, reply.text) and reply.finish == "stop", reply


@on("smollm2", "tiny")
def test_a_recursive_grammar(server):
    (opening,) = server.post("/tokenize", prompt="[", add_special_tokens=False).body["tokens"]
    for n, (tokens, bias) in enumerate(((300, 0), (24, 0), (40, 30), (41, 30))):
        # What opens is closed within the budget, also where a bias opens as much as it can.
        reply = server.complete(
            f"{n}: ", {"grammar": BRACKETS}, max_tokens=tokens, temperature=1.0, logit_bias={str(opening): bias}
        )
        assert reply.status == 200 and reply.finish == "stop", reply
        assert reply.body["usage"]["completion_tokens"] <= tokens
        brackets(reply.text)
        assert not bias or reply.text.startswith("[" * 5)


@on("smollm2", "tiny")
def test_structural_tags(server):
    call = {"type": "json_schema", "json_schema": PERSON, "max_whitespace_cnt": 1}
    for temperature in (0.0, 1.0):
        reply = server.complete("x", {"structural_tag": tag_of(call)}, temperature=temperature, max_tokens=200)
        assert reply.status == 200, reply
        found = re.fullmatch("<call>(.*)</call>", reply.text, re.DOTALL)
        assert found and reply.finish == "stop", reply
        valid(found[1])
    sequence = {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "Answer: "},
            {
                "type": "or",
                "elements": [{"type": "const_string", "value": "no"}, {"type": "regex", "pattern": "[0-9]{2}"}],
            },
        ],
    }
    reply = server.complete("x", {"structural_tag": json.dumps({"type": "structural_tag", "format": sequence})})
    assert reply.status == 200 and re.fullmatch("Answer: (no|[0-9]{2})", reply.text), reply
    # Text first, and what the trigger begins is a call.
    tags = [{"type": "tag", "begin": "<call>", "content": call, "end": "</call>"}]
    triggered = {
        "type": "triggered_tags",
        "triggers": ["<call"],
        "tags": tags,
        "at_least_one": True,
        "stop_after_first": True,
    }
    reply = server.complete(
        "x", {"structural_tag": json.dumps({"type": "structural_tag", "format": triggered})}, max_tokens=200
    )
    assert reply.status == 200, reply
    valid(re.fullmatch("<call>(.*)</call>", reply.text, re.DOTALL)[1])


@on("smollm2", "tiny")
def test_structural_tags_of_chats(server):
    """``response_format`` in its two forms, the present one and the legacy one."""
    legacy = {
        "type": "structural_tag",
        "structures": [{"begin": "<call>", "schema": PERSON, "end": "</call>"}],
        "triggers": ["<call>"],
    }
    (token,) = server.post("/tokenize", prompt="<", add_special_tokens=False).body["tokens"]
    for wanted in (legacy, json.loads(tag_of({"type": "json_schema", "json_schema": PERSON}))):
        reply = server.chat("x", response_format=wanted, logit_bias={str(token): 30}, max_tokens=160)
        assert reply.status == 200, reply
        assert reply.finish == "stop" and reply.text.count("<call>") == reply.text.count("</call>"), reply
        for found in re.findall("<call>(.*?)</call>", reply.text, re.DOTALL):
            valid(found)
        assert wanted is legacy or reply.text.startswith("<call>"), reply
    bad = {"type": "structural_tag", "format": {"type": "tag", "begin": "<call>"}}
    assert server.chat("x", response_format=bad).status == 400


@on("smollm2", "tiny")
def test_older_fields(server):
    """``guided_*`` fields, which vLLM itself ignores by now, mean what they meant."""
    assert server.complete("x", guided_choice=["yes", "no"]).text in ("yes", "no")
    assert re.fullmatch(IP, server.complete("x", guided_regex=IP).text)
    valid(server.complete("x", guided_json=PERSON).text)
    valid(server.chat("x", guided_json=json.dumps(PERSON)).text)
    assert re.fullmatch(GRAMMARS["EBNF"][1], server.complete("x", guided_grammar=EBNF).text)
    for fields in ({"guided_regex": "a", "guided_choice": ["a"]}, {"guided_regex": "a("}, {"guided_jsno": PERSON}):
        reply = server.complete("x", **fields)
        assert reply.status == 400, reply
    assert server.complete("x", {"regex": "a"}, guided_regex="b").status == 400


@on("smollm2")
def test_chat_response_formats(server):
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    reply = server.chat("Name a person.", response_format=wanted)
    valid(reply.text)
    assert reply.finish == "stop"
    reply = server.chat("Name a person as JSON.", response_format={"type": "json_object"})
    assert isinstance(json.loads(reply.text), dict)


@on("smollm2", "tiny")
def test_forced_tool_call(server):
    """They come as structural tags of the model's own notation, ``<tool_call>`` with JSON."""
    tool = {"type": "function", "function": {"name": "add", "parameters": PERSON, "strict": True}}
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    other = {"type": "function", "function": {"name": "drop", "parameters": nothing, "strict": True}}
    for choice in ({"type": "function", "function": {"name": "add"}}, "required"):
        for tools in ([tool], [tool, other]):
            reply = server.chat("Add Ann, 40.", tools=tools, tool_choice=choice, max_tokens=200)
            assert reply.status == 200 and reply.choices[0]["message"]["tool_calls"], reply
            assert reply.finish != "length", reply
            for call in reply.choices[0]["message"]["tool_calls"]:
                if call["function"]["name"] == "add":
                    valid(call["function"]["arguments"])
                else:
                    assert choice == "required" and json.loads(call["function"]["arguments"]) == {}
    # With "auto" text stays free, and what begins as a call of a strict tool is one.
    reply = server.chat("Add Ann, 40.", tools=[tool], tool_choice="auto", max_tokens=100)
    assert reply.status == 200, reply


@on("smollm2", "tiny")
def test_whitespace_of_the_request(server):
    schema = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": False}
    compact = server.complete("JSON: ", {"json": schema, "disable_any_whitespace": True})
    assert compact.text == '{"a":1}'
    pattern = server.complete("JSON: ", {"json": schema, "whitespace_pattern": "[ ]{2}"})
    assert pattern.text == '{  "a"  :  1  }'
    assert server.complete("JSON: ", {"json": schema, "whitespace_pattern": "_"}).status == 400
    assert server.complete("JSON: ", {"json": schema, "whitespace_pattern": "("}).status == 400


@on("tiny")
@pytest.mark.parametrize("name", REFUSED)
def test_refused_sources_are_400(server, name):
    source, error = REFUSED[name]
    begin = time.monotonic()
    reply = server.complete("x", source)
    assert reply.status == 400 and error in reply.error, reply
    assert time.monotonic() - begin < SECONDS / 20
    streamed = server.stream("/v1/completions", prompt="x", structured_outputs=source)
    assert streamed.status == 400


@on("tiny")
def test_neighbours_of_hostile_sources(server):
    """Requests beside hostile ones are answered, as quickly as without them but for the processor's time."""

    def one(constraint):
        begin = time.monotonic()
        return server.complete("x", constraint, max_tokens=32), time.monotonic() - begin

    alone = max(seconds for _, seconds in server.at_once([lambda: one({"regex": IP})] * 8))
    sources = [{"regex": rf"(?!.*(a|b)*a(a|b){{{26 + n}}}c).*"} for n in range(2)]
    sources += [
        {"structural_tag": tag_of({"type": "regex", "pattern": s["regex"]}, f"<{n}>")} for n, s in enumerate(sources)
    ]
    sources += [{"grammar": "root ::= " + "(" * n + '"a"' + ")" * n} for n in (30_000, 40_000)]
    hostile = [lambda source=source: one(source) for source in sources]
    answers = server.at_once(hostile + [lambda: one({"regex": IP})] * 8)
    assert all(reply.status == 400 for reply, _ in answers[: len(sources)])
    beside = answers[len(sources) :]
    assert all(re.fullmatch(IP, reply.text) for reply, _ in beside)
    print(f"8 requests: {alone:.2f} s alone, {max(s for _, s in beside):.2f} s beside {len(sources)} hostile ones")


@on("smollm2")
def test_budget_completes_the_output(server):
    for tokens in (24, 30, 40, 60):
        reply = server.complete("A person: ", {"json": PERSON}, max_tokens=tokens, temperature=1.5)
        valid(reply.text)
        assert reply.finish == "stop" and reply.body["usage"]["completion_tokens"] <= tokens
    reply = server.complete("A list: ", {"json": {"type": "array", "items": {"type": "string"}}}, max_tokens=20)
    assert isinstance(json.loads(reply.text), list)


@on("smollm2")
def test_a_budget_that_is_too_small_is_a_400(server):
    reply = server.complete("A person: ", {"json": PERSON}, max_tokens=5)
    assert reply.status == 400 and "BudgetError" in reply.error, reply
    chat = server.chat(
        "x", max_tokens=2, response_format={"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}
    )
    assert chat.status == 400 and "BudgetError" in chat.error, chat
    several = server.complete("x", {"json": PERSON}, max_tokens=5, n=3)
    assert several.status == 400 and "BudgetError" in several.error, several
    # What fits exactly is complete, and cut only before its stop token.
    assert server.complete("x", {"choice": ["a"]}, max_tokens=1).text == "a"


@on("smollm2")
def test_several_outputs(server):
    reply = server.complete("A person: ", {"json": PERSON}, n=6, temperature=1.2)
    assert len(reply.texts) == 6
    for text in reply.texts:
        valid(text)
    reply = server.complete(["A person: ", "Another: "], {"json": PERSON}, n=2)
    assert len([valid(text) for text in reply.texts]) == 4


@on("smollm2")
def test_streaming(server):
    deltas = server.stream("/v1/completions", prompt="A person: ", structured_outputs={"json": PERSON}, max_tokens=64)
    valid("".join(deltas))
    assert len(deltas) > 5
    message = [{"role": "user", "content": "A person"}]
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    valid("".join(server.stream("/v1/chat/completions", messages=message, response_format=wanted, max_tokens=64)))


@on("smollm2", "tiny")
def test_thirty_two_at_once(server):
    word = {"type": "string", "pattern": "^[a-z]+$", "maxLength": 9}

    def schema(n):
        return {"type": "object", "properties": {f"k{n}": word}, "required": [f"k{n}"], "additionalProperties": False}

    def free():
        return server.complete("Tell: ", None, max_tokens=16)

    calls = [lambda n=n: server.complete(f"{n}: ", {"json": schema(n)}, max_tokens=48) for n in range(16)]
    calls += [lambda n=n: server.complete(f"{n}: ", {"regex": f"{n}-[0-9]{{4}}"}) for n in range(8)] + [free] * 8
    replies = server.at_once(calls)
    for n, reply in enumerate(replies[:16]):
        valid(reply.text, schema(n))
    for n, reply in enumerate(replies[16:24]):
        assert re.fullmatch(f"{n}-[0-9]{{4}}", reply.text)
    assert all(reply.status == 200 for reply in replies)


@on("smollm2")
def test_aborted_requests_leave_nothing(server):
    endless = {"regex": "[a-z ]{900}"}

    def aborted():
        body = {"prompt": "x", "structured_outputs": endless, "max_tokens": 900, "temperature": 1.0}
        return len(server.stream("/v1/completions", abort_after=4, **body))

    running, written = (
        f'vllm:{name}{{engine="0",model_name="m"}}' for name in ("num_requests_running", "generation_tokens_total")
    )
    before = server.metrics()[written]
    assert all(count >= 4 for count in server.at_once([aborted] * 8))
    while server.metrics()[running]:
        time.sleep(0.2)
    # Without the aborts each would have written 900 tokens.
    assert server.metrics()[written] - before < 8 * 450
    assert re.fullmatch(IP, server.complete("x", {"regex": IP}).text)


@on("smollm2")
def test_chunked_prompts_and_found_prefixes(server):
    prompt = "The quick brown fox jumps over the lazy dog. " * 30
    before = server.metrics()
    for _ in range(2):
        replies = server.at_once([lambda: server.complete(prompt, {"json": PERSON}, max_tokens=60)] * 4)
        for reply in replies:
            valid(reply.text)
            assert reply.body["usage"]["prompt_tokens"] > 200
    hits = 'vllm:prefix_cache_hits_total{engine="0",model_name="m"}'
    assert server.metrics()[hits] > before[hits]


@on("smollm2")
def test_stop_strings_and_stop_tokens(server):
    reply = server.complete("x", {"regex": "[a-z]{3}STOP[a-z]{3}"}, stop=["STOP"])
    assert re.fullmatch("[a-z]{3}", reply.text) and reply.finish == "stop"
    # A stop id of the request ends the output where it is complete, and nowhere else.
    vocab = server.post("/tokenize", prompt="\n").body["tokens"]
    reply = server.complete("x", {"regex": "[ab]{2,6}"}, stop_token_ids=vocab)
    assert re.fullmatch("[ab]{2,6}\n?", reply.text) and reply.finish == "stop"


@on("smollm2")
def test_logit_bias_does_not_break_the_mask(server):
    (token,) = server.post("/tokenize", prompt="X", add_special_tokens=False).body["tokens"]
    bias = {str(token): 100}
    assert "X" in server.complete("x", None, logit_bias=bias, max_tokens=4).text
    assert re.fullmatch(IP, server.complete("x", {"regex": IP}, logit_bias=bias).text)
    # Where the mask permits it the bias does what it says.
    assert server.complete("x", {"regex": "[XY]{3}"}, logit_bias=bias).text == "XXX"


@on("smollm2")
def test_min_tokens_and_ignored_ends(server):
    # Only the end may follow after three characters, so the output ends although more tokens are asked for.
    reply = server.complete("x", {"regex": "[a-z]{3}"}, min_tokens=20)
    assert re.fullmatch("[a-z]{3}", reply.text) and reply.finish == "stop", reply
    reply = server.complete("x", {"regex": "[a-z]{1,40}"}, min_tokens=8, max_tokens=60)
    assert reply.body["usage"]["completion_tokens"] >= 8 and re.fullmatch("[a-z]{1,40}", reply.text)
    reply = server.complete("x", {"regex": "[a-z]{3}"}, ignore_eos=True, max_tokens=12)
    assert re.fullmatch("[a-z]{3}", reply.text) and reply.body["usage"]["completion_tokens"] == 12, reply


@on("smollm2")
def test_logprobs_under_the_mask(server):
    reply = server.complete("x", {"choice": ["yes", "no"]}, logprobs=2)
    assert reply.text in ("yes", "no") and reply.choices[0]["logprobs"]["token_logprobs"]


@on("smollm2")
def test_requests_of_rollout_libraries(server):
    """verifiers sends keys that it does not know as they are, into a chat; trainers want log-probabilities."""
    reply = server.chat("An IP address?", structured_outputs={"regex": IP}, logprobs=True, temperature=1.0, n=4)
    assert reply.status == 200 and all(re.fullmatch(IP, text) for text in reply.texts), reply
    for choice in reply.choices:
        tokens = choice["logprobs"]["content"]
        assert "".join(token["token"] for token in tokens).startswith(choice["message"]["content"])
        assert all(token["logprob"] <= 0 for token in tokens)


@on("reasoning")
def test_reasoning_comes_before_the_output(server):
    """``</think>`` ends the free part; inside the output it is no text, however much a bias asks for it."""
    (end,) = server.post("/tokenize", prompt="</think>", add_special_tokens=False).body["tokens"]
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    reply = server.chat("x", response_format=wanted, logit_bias={str(end): 100}, max_tokens=80, temperature=1.0)
    assert reply.status == 200, reply
    message = reply.choices[0]["message"]
    valid(message["content"])
    assert "</think>" not in message["content"] and reply.finish == "stop"
    # Without the bias the random model reasons to the end of its tokens: nothing constrains that.
    reply = server.chat("x", response_format=wanted, max_tokens=40, temperature=1.0)
    assert not reply.choices[0]["message"]["content"] and reply.finish == "length"


@on("tiny")
def test_markup_tokens_are_no_text(server):
    (think,) = server.post("/tokenize", prompt="</think>", add_special_tokens=False).body["tokens"]
    reply = server.complete("x", {"regex": ".{1,12}"}, logit_bias={str(think): 100})
    assert reply.status == 200 and "</think>" not in reply.text


@on("smollm2")
def test_numbers_in_the_servers_metrics(server):
    server.complete("x", {"regex": "a"})
    server.complete("x", {"regex": "a("})
    time.sleep(2.5)
    samples = server.metrics()
    assert samples['interlock_requests_total{kind="regex"}'] >= 1
    assert samples['interlock_refusals_total{reason="pattern",where="front_end"}'] >= 1
    assert samples["interlock_fill_seconds_count"] >= 1 and samples["interlock_rows_total"] >= 1
    assert samples["interlock_core_compiles_total"] >= 1
    assert samples.get("interlock_rejected_tokens_total", 0) == 0


@on("smollm2")
def test_the_log_names_requests(server):
    server.post("/v1/completions", prompt="x", structured_outputs={"regex": "b("}, request_id="seen-in-the-log")
    log = server.log_text()
    assert re.search(r"request \S*seen-in-the-log\S*: refused: PatternError", log)
    assert "is not allowed" not in log
