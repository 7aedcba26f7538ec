"""Constraints in the body of a request: in the fields of every interface, and in fields that nobody would read."""

from __future__ import annotations

import json

import interlock
import pytest
from interlock import Index
from interlock.tools import RequestError, format_of_request, request_kind, response_format

SCHEMA = {"const": "yes"}
ASKED = {"type": "json_schema", "name": "a", "schema": SCHEMA}

# Fields of OpenAI's two interfaces, Anthropic, vLLM, SGLang, llama.cpp, Ollama and OpenRouter that are no constraint.
ORDINARY = """
model messages input prompt instructions temperature top_p top_k min_p typical_p n best_of stop stream stream_options
max_tokens max_completion_tokens max_output_tokens max_tool_calls min_tokens presence_penalty frequency_penalty
repetition_penalty repeat_penalty length_penalty logit_bias logprobs top_logprobs prompt_logprobs user
metadata seed store service_tier safety_identifier prompt_cache_key prompt_cache_retention reasoning reasoning_effort
verbosity modalities audio prediction web_search_options include include_reasoning previous_response_id conversation
background truncation system stop_sequences thinking container context_management mcp_servers betas tool_stream
echo add_generation_prompt continue_final_message add_special_tokens documents chat_template chat_template_kwargs
mm_processor_kwargs include_stop_str_in_output skip_special_tokens spaces_between_special_tokens ignore_eos
stop_token_ids truncate_prompt_tokens allowed_token_ids bad_words priority request_id return_tokens_as_token_ids
return_token_ids cache_salt kv_transfer_params vllm_xargs logits_processors response_role lora_path session_params rid
regex_flags separate_reasoning stream_reasoning return_hidden_states bootstrap_host no_stop_trim custom_logit_processor
n_predict n_keep cache_prompt samplers grammar_lazy grammar_triggers preserved_tokens parse_tool_calls reasoning_format
id_slot t_max_predict_ms images options keep_alive raw suffix template context think
provider models route transforms plugins response_id text tool_call_id tool_calls usage extra_headers extra_query debug
""".split()


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_fields_are_left_alone(name):
    for value in (5, "a", ["a"], {"a": 1}):
        assert format_of_request({"messages": [], name: value}) is None


def test_the_format_of_the_responses_api(byte_vocabulary):
    asked = format_of_request({"input": "a", "text": {"verbosity": "low", "format": ASKED}})
    assert asked == {"text": {"format": ASKED}} and request_kind(asked) == "json_schema"
    for index in (
        Index.from_response_format(asked, byte_vocabulary),
        Index.from_tools([{"name": "f"}], byte_vocabulary, format="hermes", response_format=asked, tool_choice="none"),
    ):
        guide = index.guide()
        assert guide.advance_many(list(b'"no"')) == 1
        assert guide.advance_many(list(b'yes"')) == 4 and guide.is_accepting
    assert request_kind(format_of_request({"text": {"format": {"type": "text"}}})) == "text"
    for text in (None, {}, {"format": None}, {"verbosity": "low"}, "a prompt"):
        assert format_of_request({"text": text}) is None
    for text, pointer in (({"format": "json"}, "/text/format"), ({"fromat": ASKED}, "/text/fromat")):
        with pytest.raises(RequestError) as caught:
            format_of_request({"text": text})
        assert caught.value.pointer == pointer
    wrong = format_of_request({"text": {"format": {"type": "json_shema", "schema": {}}}})
    for call in (
        lambda: request_kind(wrong),
        lambda: Index.from_tools([{"name": "f"}], byte_vocabulary, format="hermes", response_format=wrong),
    ):
        with pytest.raises(RequestError, match="^at /text/format/type: 'json_shema' is no type"):
            call()
    bad = format_of_request({"text": {"format": {**ASKED, "schema": {"type": "strnig"}}}})
    with pytest.raises(interlock.SchemaError):
        Index.from_response_format(bad, byte_vocabulary)
    with pytest.raises(RequestError, match="guided_json and text are given at once"):
        format_of_request({"guided_json": SCHEMA, "text": {"format": ASKED}})


@pytest.mark.parametrize(
    ("body", "pointer", "said"),
    [
        ({"guided_jsn": SCHEMA}, "/guided_jsn", "there is no field 'guided_jsn'; did you mean 'guided_json'?"),
        ({"guided_jsn": {}}, "/guided_jsn", "did you mean 'guided_json'?"),
        ({"structured_output": {"json": SCHEMA}}, "/structured_output", "did you mean 'structured_outputs'?"),
        ({"respose_format": ASKED}, "/respose_format", "did you mean 'response_format'?"),
        ({"responseFormat": ASKED}, "/responseFormat", "did you mean 'response_format'?"),
        ({"response-format": ASKED}, "/response-format", "did you mean 'response_format'?"),
        ({"guided_regexp": "a"}, "/guided_regexp", "did you mean 'guided_regex'?"),
        ({"grammer": "a"}, "/grammer", "did you mean 'grammar'?"),
        ({"tool": [{"name": "f"}]}, "/tool", "did you mean 'tools'?"),
        ({"tool_chioce": "required"}, "/tool_chioce", "did you mean 'tool_choice'?"),
        ({"format": "json"}, "/format", 'Ollama\'s field: write "response_format"'),
        ({"format": SCHEMA}, "/format", 'Ollama\'s field: write "response_format"'),
        ({"output_format": ASKED}, "/output_format", 'write "response_format"'),
        ({"json": SCHEMA}, "/json", 'write "guided_json"'),
        ({"choice": ["a"]}, "/choice", 'write "guided_choice"'),
        ({"functions": [{"name": "f"}]}, "/functions", 'write "tools"'),
        ({"function_call": {"name": "f"}}, "/function_call", 'write "tool_choice"'),
        ({"functionCall": {"name": "f"}}, "/functionCall", 'write "tool_choice"'),
        ({"json_mode": True}, "/json_mode", 'write "response_format": {"type": "json_object"}'),
        ({"jsonMode": True}, "/jsonMode", 'write "response_format": {"type": "json_object"}'),
        ({"json_object": True}, "/json_object", 'write "response_format": {"type": "json_object"}'),
        ({"responseSchema": SCHEMA}, "/responseSchema", 'Gemini\'s field: write "response_format"'),
        (
            {"generationConfig": {"responseSchema": SCHEMA}},
            "/generationConfig/responseSchema",
            "this is Gemini's field",
        ),
        ({"responseMimeType": "application/json"}, "/responseMimeType", 'Gemini\'s field: write "response_format"'),
        ({"generationConfig": {"responseJsonSchema": {}}}, "/generationConfig/responseJsonSchema", "Gemini's field"),
        (
            {"generation_config": {"top_k": 5, "response_mime_type": "application/json"}},
            "/generation_config/response_mime_type",
            "this is Gemini's field",
        ),
        ({"output_config": {"effort": "low", "format": ASKED}}, "/output_config/format", "this is Anthropic's field"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "/toolConfig", 'write "tools"'),
        ({"toolConfig": {"functionCallingConfig": {}, "tools": [{}]}}, "/toolConfig", 'write "tools"'),
        ({"format": {}}, "/format", "this is Ollama's field"),
        ({"response_schema": {}}, "/response_schema", "this is Gemini's field"),
        ({"guided_decoding": {"json": {}}}, "/guided_decoding", 'write "structured_outputs"'),
        ({"output_config": {"schema": {}}}, "/output_config/schema", "this is Anthropic's field"),
        ({"extra_body": {"response_format": {}}}, "/extra_body/response_format", "into the body"),
        ({"paralel_tool_calls": False}, "/paralel_tool_calls", "did you mean 'parallel_tool_calls'?"),
        ({"parallelToolCalls": False}, "/parallelToolCalls", "did you mean 'parallel_tool_calls'?"),
        ({"paralel_tool_calls": True}, "/paralel_tool_calls", "did you mean 'parallel_tool_calls'?"),
        ({"extra_body": {"parallel_tool_calls": False}}, "/extra_body/parallel_tool_calls", "into the body"),
        ({"extra_body": {"guided_json": SCHEMA}}, "/extra_body/guided_json", "write 'guided_json' into the body"),
        ({"extra_body": {"guided_jsn": SCHEMA}}, "/extra_body/guided_jsn", "into the body"),
        ({"nvext": {"guided_regex": "a"}}, "/nvext/guided_regex", "write 'guided_regex' into the body"),
        (
            {"guided_decoding_params": {"guide_type": "json", "guide": "{}"}},
            "/guided_decoding_params",
            'TensorRT-LLM\'s field: write "response_format"',
        ),
        ({"guided_decoding_guide_type": "json"}, "/guided_decoding_guide_type", "TensorRT-LLM's field"),
        (
            {"config": {"response_mime_type": "application/json"}},
            "/config/response_mime_type",
            'Gemini\'s field: write "response_format"',
        ),
        ({"config": {"top_k": 5, "responseSchema": {}}}, "/config/responseSchema", "Gemini's field"),
        (
            {"config": {"tool_config": {"function_calling_config": {"mode": "ANY"}}}},
            "/config/tool_config",
            'write "tools"',
        ),
        (
            {"sampling_params": {"guided_decoding": {"json": {}}}},
            "/sampling_params/guided_decoding",
            'write "structured_outputs"',
        ),
        ({"sampling_params": {"regex": "a"}}, "/sampling_params/regex", "write 'regex' into the body"),
        ({"extra_body": {"format": {}}}, "/extra_body/format", 'write "response_format"'),
        (
            {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"response_format": ASKED}},
            "/body/response_format",
            "a line of a batch file, whose request is in 'body'",
        ),
        ({"body": {"format": "json"}}, "/body/format", 'write "response_format"'),
        (
            {"params": {"tools": [{"name": "f"}]}},
            "/params/tools",
            "a line of a batch file, whose request is in 'params'",
        ),
    ],
)
def test_constraints_that_would_be_lost_are_refused(body, pointer, said):
    with pytest.raises(RequestError) as caught:
        format_of_request({"model": "m", "messages": [], **body})
    assert caught.value.pointer == pointer and said in caught.value.reason
    assert interlock.refusal(caught.value).reason == "request"


@pytest.mark.parametrize(
    "body",
    [
        {"guided_jsn": None},
        {"functions": [], "function_call": "none"},
        {"functions": None, "function_call": "auto"},
        {"format": ""},
        {"extra_body": {}},
        {"extra_body": {"top_k": 5}},
        {"extra_body": None},
        {5: 6},
        {"tools": [{"name": "f"}], "tool_choice": "auto", "parallel_tool_calls": False},
        {"guided_decoding_backend": "outlines"},
        {"json_mode": False, "json_object": None, "guided_jsn": False},
        {"paralel_tool_calls": None},
        {"response_mime_type": "text/plain"},
        {"generationConfig": {"responseMimeType": "text/plain", "responseModalities": ["TEXT"], "topK": 5}},
        {"generationConfig": {"responseLogprobs": True, "responseSchema": None, "thinkingConfig": {"a": 1}}},
        {"generation_config": 5, "output_config": {"effort": "low"}},
        {"parse_tool_calls": False, "tool_calls": False},
        {"toolConfig": {}, "tool_config": {}},
        {"toolConfig": {"functionCallingConfig": {}}},
        {"toolConfig": {"functionCallingConfig": {"mode": None, "allowedFunctionNames": []}, "retrievalConfig": {}}},
        {"generationConfig": {}, "generation_config": {"thinkingConfig": {}}, "output_config": {}},
        {"function_call": {}, "functions": {}, "guided_decoding": {}, "structural_tag": {}},
        {"guided_decoding_params": None, "config": {"response_mime_type": "text/plain", "format": "wav"}},
        {"guided_decoding_params": {"guide_type": None}, "sampling_params": {"guided_decoding": None, "top_k": 5}},
        {"body": {"messages": [], "response_format": None}, "params": {"max_tokens": 5}, "config": "a"},
        {"guided_foo": {"a": None, "b": []}, "guided_bar": False},
        {"tool_chioce": {}, "structured_output": {}, "extra_body": {"tool_choice": {}}, "nvext": {}, "text": {}},
    ],
)
def test_fields_that_ask_for_nothing_are_left_alone(body):
    assert format_of_request(body) is None


def test_an_object_of_empty_objects_may_be_of_any_depth():
    value = {}
    for _ in range(20_000):
        value = {"a": value}
    assert format_of_request({"toolConfig": value}) is None


def test_what_an_interface_refuses_when_it_is_empty_is_refused():
    """A response_format without a type, and a tool_choice without one, are errors of OpenAI's interface as well."""
    for body in ({"response_format": {}}, {"structured_outputs": {}}, {"text": {"format": {}}}):
        with pytest.raises(RequestError, match="it asks for nothing"):
            request_kind(format_of_request(body))
    with pytest.raises(RequestError, match="the object names no tool"):
        interlock.check_tools([{"name": "f"}], format="hermes", tool_choice={})


@pytest.mark.parametrize(("value", "kind"), [("a", "a string"), (5, "a number"), ([], "an array"), (True, "a boolean")])
def test_structured_outputs_are_an_object(value, kind):
    for asked in ({"structured_outputs": value}, {"guided_decoding": value}):
        (name,) = asked
        with pytest.raises(RequestError) as caught:
            request_kind(asked)
        assert (caught.value.pointer, caught.value.reason) == (f"/{name}", f"{name} is an object, not {kind}")
    asked = format_of_request({"structured_outputs": value})
    with pytest.raises(RequestError, match=f"structured_outputs is an object, not {kind}"):
        request_kind(asked)


def test_the_pattern_of_blanks_beside_guided_json_has_another_name(byte_vocabulary):
    for body, way in (
        (
            {"whitespace_pattern": " ?", "guided_json": {}},
            'beside "guided_json" this is called "guided_whitespace_pattern"',
        ),
        ({"whitespace_pattern": " ?", "structured_outputs": {"json": {}}}, 'write it into "structured_outputs"'),
        ({"whitespace_pattern": " ?"}, 'write it into "structured_outputs"'),
    ):
        with pytest.raises(RequestError, match=f"^at /whitespace_pattern: {way}"):
            interlock.tools.format_of_request(body)
    named = {"guided_json": {"type": "array"}, "guided_whitespace_pattern": " ?"}
    guide = interlock.Index.from_response_format(interlock.tools.format_of_request(named), byte_vocabulary).guide()
    assert guide.advance_many(b"[ ]") == 3


def test_structured_outputs_beside_another_constraint_are_two():
    with pytest.raises(RequestError, match="structured_outputs and regex are given at once"):
        request_kind({"structured_outputs": {"json": SCHEMA}, "regex": "a"})


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"guided_choice": ["a", "\ud800"]}, "/guided_choice/1"),
        ({"structured_outputs": {"choice": ["\ud800"]}}, "/structured_outputs/choice/0"),
        ({"type": "choice", "choices": ["\ud800"]}, "/choices/0"),
    ],
)
def test_a_lone_surrogate_in_a_choice_has_a_place(asked, pointer, byte_vocabulary):
    for call in (interlock.check_response_format, lambda value: Index.from_response_format(value, byte_vocabulary)):
        with pytest.raises(RequestError, match="the choice holds a lone surrogate") as caught:
            call(asked)
        assert caught.value.pointer == pointer and interlock.refusal(caught.value).status == 400


IN_A_FORMAT = [
    {"responseMimeType": "application/json", "responseSchema": SCHEMA},
    {"generationConfig": {"responseSchema": SCHEMA}},
    {"output_config": {"format": ASKED}},
    {"output_format": ASKED},
    {"guidedJson": SCHEMA},
    {"json_mode": True},
    {"structured_output": {"json": SCHEMA}},
    {"extra_body": {"guided_json": SCHEMA}},
    {"messages": [], "response_fromat": ASKED},
    {"format": "json"},
]


@pytest.mark.parametrize("value", IN_A_FORMAT, ids=lambda value: next(reversed(value)))
def test_a_format_in_a_wrong_field_is_explained_as_in_a_body(value, byte_vocabulary):
    """Whoever passes the fields of a body straight to ``Index.from_response_format`` reads the same."""
    with pytest.raises(RequestError) as of_body:
        format_of_request(value)
    with pytest.raises(RequestError) as of_format:
        Index.from_response_format(value, byte_vocabulary)
    assert str(of_format.value) == str(of_body.value)
    assert of_format.value.pointer == of_body.value.pointer
    with pytest.raises(RequestError) as deeper:
        Index.from_response_format({"structured_outputs": value}, byte_vocabulary)
    assert deeper.value.pointer == "/structured_outputs" + of_body.value.pointer


def test_a_body_that_is_no_mapping_is_told_what_makes_one():
    class Body:
        def model_dump(self):
            return {}

    for body, way in (("{}", "json.loads reads a text"), (Body(), "pass what its model_dump() returns")):
        with pytest.raises(RequestError, match="the body of a request is a JSON object") as caught:
            format_of_request(body)
        assert str(caught.value).endswith(way)


@pytest.mark.parametrize("text", [{"type": "json_object"}, {"schema": SCHEMA, "verbosity": "low"}])
def test_a_format_of_the_responses_api_stands_in_format(text):
    """Beside it, it would be lost, and nothing would hold the output to it."""
    with pytest.raises(RequestError, match='stands in a format: write "text": {"format": {…}}') as caught:
        format_of_request({"text": text})
    assert caught.value.pointer == f"/text/{next(iter(text))}"


def test_blanks_beside_a_structural_tag_are_those_that_the_request_asks_for(byte_vocabulary):
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"type": "array"}}}
    for fields, takes in (
        ({}, True),
        ({"disable_any_whitespace": False}, True),
        ({"disable_any_whitespace": True}, False),
    ):
        body = {"structured_outputs": {"structural_tag": json.dumps(tag), **fields}}
        guide = Index.from_response_format(format_of_request(body), byte_vocabulary).guide()
        assert (guide.validate(b"[1, 2]") == 6) is takes
        assert guide.validate(b"[1,2]") == 5
    said = {"type": "json_schema", "json_schema": {"type": "array"}, "max_whitespace_cnt": 1}
    own = {"structural_tag": {**tag, "format": said}, "disable_any_whitespace": True}
    assert Index.from_response_format(own, byte_vocabulary).guide().validate(b"[1, 2]") == 6
    with pytest.raises(RequestError, match="white space has no meaning beside a structural tag") as caught:
        response_format({"structural_tag": tag, "whitespace_pattern": "[ ]?"})
    assert caught.value.pointer == "/structural_tag"
    assert interlock.refusal(caught.value).status == 400
