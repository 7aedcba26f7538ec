"""What clients send as response_format: every shape is read, and what is not known is refused by name."""

from __future__ import annotations

import functools
import json
import pickle
import re

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock import Index, InterlockError, SchemaError
from interlock.tools import RequestError, StructuralTagError, format_of_request, response_format, tools_of

VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}
LEGACY = {"structures": [{"begin": "<f>", "schema": {}, "end": "</f>"}], "triggers": ["<f"]}


@pytest.mark.parametrize(
    ("value", "kind", "source"),
    [
        (None, "text", None),
        ({"type": "text"}, "text", None),
        ({"type": "json_object"}, "json_object", None),
        ({"type": "json_object", "schema": SCHEMA}, "json_schema", SCHEMA),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, "json_schema", SCHEMA),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema_": SCHEMA}}, "json_schema", SCHEMA),
        ({"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA}, "json_schema", SCHEMA),
        ({"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}, "json_schema", SCHEMA),
        ({"response_format": {"type": "text"}}, "text", None),
        (TAG, "structural_tag", TAG),
        ({"type": "regex", "pattern": "a+"}, "regex", "a+"),
        ({"type": "choice", "choices": ["a", "b"]}, "choice", ("a", "b")),
        ({"type": "grammar", "grammar": "root ::= x"}, "grammar", "root ::= x"),
        ({"type": "grammar", "syntax": "regex", "definition": "a+"}, "regex", "a+"),
        ({"structured_outputs": {"json": SCHEMA}}, "json_schema", SCHEMA),
        ({"json": '{"type": "object"}'}, "json_schema", {"type": "object"}),
        ({"regex": "a+", "json": None, "choice": None}, "regex", "a+"),
        ({"structured_outputs": {"json_object": True}}, "json_object", None),
        ({"structural_tag": TAG}, "structural_tag", TAG),
        ({"guided_json": SCHEMA, "guided_decoding_backend": "auto"}, "json_schema", SCHEMA),
        ({"guided_regex": "a"}, "regex", "a"),
        ({"guided_choice": ["a"]}, "choice", ("a",)),
        ({"guided_grammar": "root ::= x"}, "grammar", "root ::= x"),
        ({"ebnf": "root ::= x"}, "grammar", "root ::= x"),
        ('{"type": "json_object"}', "json_object", None),
        (int, "json_schema", {"type": "integer"}),
        (["a", "b"], "choice", ("a", "b")),
    ],
)
def test_shapes(value, kind, source):
    found = response_format(value)
    assert (found.kind, found.value) == (kind, source)


def test_what_stands_beside_the_source():
    found = response_format({"type": "json_schema", "json_schema": {"name": "n", "strict": False, "schema": SCHEMA}})
    assert (found.name, found.is_strict) == ("n", False)
    assert response_format({"type": "grammar", "grammar": "x", "syntax": "lark"}).syntax == "lark"
    assert response_format({"json": SCHEMA, "whitespace_pattern": "[ ]?"}).whitespace == "[ ]?"
    assert response_format({"json": SCHEMA, "disable_any_whitespace": True}).whitespace == "compact"
    assert response_format({"json": SCHEMA, "whitespace_pattern": "compact"}).whitespace == "(?:compact)"
    legacy = response_format(LEGACY)
    assert legacy == response_format({"type": "structural_tag", **LEGACY})
    assert legacy.value["format"]["type"] == "triggered_tags"


OPTION = "disable_additional_properties"
INNER = {"type": "object", "properties": {"b": {"type": "integer"}}}
OPEN = {"properties": {"a": INNER}, "required": ["a"]}
CLOSED = {
    "properties": {"a": {**INNER, "additionalProperties": False}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "asked",
    [
        {"structured_outputs": {"json": OPEN, "disable_additional_properties": True}},
        {"structured_outputs": {"json": json.dumps(OPEN), "disable_additional_properties": True}},
        {"guided_json": OPEN, "guided_decoding_backend": "guidance:no-fallback,no-additional-properties"},
        {"json": OPEN, "backend": "guidance:disable-any-whitespace, no-additional-properties"},
    ],
)
def test_objects_are_closed_where_servers_fields_say_so(asked):
    assert response_format(asked).value == CLOSED
    index = Index.from_response_format(asked, VOCABULARY)
    assert index.parse('{"a":{"b":1}}')
    for text in ('{"a":{},"c":1}', '{"a":{"c":1}}'):
        assert Index.from_response_format({"json": OPEN}, VOCABULARY).parse(text)
        with pytest.raises(interlock.TokenRejected):
            index.parse(text)


def test_schemas_of_tags_are_closed_where_servers_fields_say_so():
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": OPEN}, "end": "</a>"}
    asked = {"structural_tag": tag, "disable_additional_properties": True}
    assert response_format(asked).value["format"]["content"]["json_schema"] == CLOSED
    assert "additionalProperties" not in json.dumps(response_format(asked | {OPTION: False}).value)


def test_any_json_of_sglang():
    assert response_format({"json_schema": "$$ANY$$"}).value is True


@pytest.mark.parametrize(
    ("fields", "place", "said"),
    [
        ({OPTION: "yes"}, f"/{OPTION}", "is true or false, not a string"),
        ({"disable_any_whitespace": 1}, "/disable_any_whitespace", "is true or false, not a number"),
        ({"disable_additional_propertie": True}, "/disable_additional_propertie", f"did you mean '{OPTION}'?"),
        ({"colour": 1}, "/colour", f"whitespace_pattern, disable_any_whitespace, {OPTION}"),
        ({"backend": "guidance:no-additional"}, "/backend", "a backend has no option 'no-additional'; there are no-"),
    ],
)
def test_options_beside_a_schema_that_are_not_well_formed(fields, place, said):
    with pytest.raises(RequestError) as caught:
        response_format({"json": SCHEMA, **fields})
    assert caught.value.pointer == place and said in str(caught.value)


def test_a_schema_that_is_too_deep_to_be_closed_is_refused():
    deep = '{"items":' * 5000 + "{}" + "}" * 5000
    with pytest.raises(interlock.LimitError, match=f"at /json: the schema is nested too deeply for {OPTION}"):
        response_format({"json": deep, OPTION: True})


def test_objects_of_clients():
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):
        name: str
        schema_: dict = pydantic.Field(alias="schema")

    class Format(pydantic.BaseModel):
        type: str
        json_schema: Inner

    asked = Format(type="json_schema", json_schema=Inner(name="n", schema=SCHEMA))
    assert response_format(asked).value == SCHEMA


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({}, ""),
        ({"type": "object"}, "/type"),
        ({"type": "yaml"}, "/type"),
        ({"type": 3}, "/type"),
        ({"colour": "red"}, "/colour"),
        ({"regex": "a", "colour": "red"}, "/colour"),
        ({"json": SCHEMA, "regex": "a"}, ""),
        ({"type": "text", "schema": {}}, "/schema"),
        ({"type": "json_schema"}, ""),
        ({"type": "json_schema", "json_schema": 3}, "/json_schema"),
        ({"type": "json_schema", "json_schema": {"name": "n"}}, "/json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": 3}}, "/json_schema/schema"),
        ({"type": "json_schema", "json_schema": {"schema": {}, "strict": 1}}, "/json_schema/strict"),
        ({"type": "json_schema", "json_schema": {"schema": {}, "extra": 1}}, "/json_schema/extra"),
        ({"type": "regex"}, ""),
        ({"type": "regex", "pattern": 3}, "/pattern"),
        ({"type": "choice", "choices": []}, "/choices"),
        ({"type": "choice", "choices": ["a", 1]}, "/choices/1"),
        ({"type": "grammar", "grammar": "x", "syntax": "abnf"}, "/syntax"),
        ({"structured_outputs": {"json_object": "yes"}}, "/structured_outputs/json_object"),
        ({"structured_outputs": {"json": "{"}}, "/structured_outputs/json"),
        ({"type": "structural_tag", "format": {"type": "or", "elements": []}}, "/format/elements"),
        ({"structural_tag": {"type": "structural_tag", "format": 1}}, "/structural_tag/format"),
        ("{", ""),
        ({1: 2}, ""),
    ],
)
def test_what_is_refused(value, pointer):
    with pytest.raises((RequestError, SchemaError)) as caught:
        response_format(value)
    assert caught.value.pointer == pointer
    assert isinstance(caught.value, InterlockError)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": 5}},
            "at /json_schema/schema: a JSON Schema is an object or a boolean, not a number",
        ),
        ({"type": "json_schema", "schema": [1]}, "at /schema: a JSON Schema is an object or a boolean"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": "{"}}},
            "at /response_format/json_schema/schema: the text is not JSON",
        ),
        ({"guided_json": 5}, "at /guided_json: a JSON Schema is an object or a boolean, not a number"),
        ({"structured_outputs": {"json": 5}}, "at /structured_outputs/json: a JSON Schema is an object or a boolean"),
    ],
)
def test_what_is_no_schema_is_a_schema_error(value, said):
    with pytest.raises(SchemaError) as caught:
        response_format(value)
    assert said in str(caught.value) and said in caught.value.client_message
    assert 'with it the type is "text"' not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"properties": {}}, "this looks like a JSON Schema itself"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "this looks like a JSON Schema itself"),
        (
            {"type": "json_schema", "json_schema": SCHEMA | {"type": "object"}},
            "at /json_schema: this looks like a JSON",
        ),
        ({"type": "json_schema", "json_schema": {"properties": {}}}, "at /json_schema: this looks like a JSON Schema"),
        ({"pattern": "a"}, 'the type is missing: write {"type": "regex", "pattern": …}'),
        ({"type": "json_object", "json_schema": {"schema": {}}}, 'with it the type is "json_schema"'),
        ({"type": "text", "grammar": "a"}, 'with it the type is "grammar"'),
        ({"type": "text", "text": "a"}, "text has no field 'text'; it has none"),
        ({"type": ["json_object"]}, "at /type: ['json_object'] is no type of response_format"),
        ({"type": "grammar", "grammar": "a", "syntax": "GBNF"}, "not 'GBNF'; did you mean 'gbnf'?"),
        ({"guided_choice": "yes"}, "choices are a list of texts that is not empty, not a string"),
        ({"type": "structural_tag", "format": {"type": "tagg"}}, "did you mean 'tag'?"),
        (
            {"grammar": {"type": "json", "value": {}}},
            'at /grammar: write "response_format": {"type": "json", "value": …',
        ),
    ],
)
def test_a_wrong_envelope_is_answered_by_the_right_one(value, said):
    with pytest.raises(RequestError) as caught:
        response_format(value)
    assert said in str(caught.value) and said in caught.value.client_message


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"type": "json_shema", "json_schema": {"schema": SCHEMA}}, "json_schema"),
        ({"type": "json_schema", "json_shema": {"schema": SCHEMA}}, None),
        ({"type": "json_schema", "json_schema": {"name": "n", "shema": SCHEMA}}, "schema"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strikt": True}}, "strict"),
        ({"type": "json_schema", "json_schema": {"nam": "n", "schema": SCHEMA}}, "name"),
        ({"type": "regex", "patern": "a"}, "pattern"),
        ({"type": "choice", "choises": ["a"]}, "choices"),
        ({"type": "grammar", "gramar": "a", "syntax": "lark"}, "grammar"),
        ({"guided_jason": SCHEMA}, "guided_json"),
        ({"structred_outputs": {"json": SCHEMA}}, "structured_outputs"),
        ({"type": "structural_tag", "format": {"type": "const_string", "valeu": "a"}}, None),
    ],
)
def test_misspelt_names_are_named(value, meant):
    with pytest.raises(RequestError) as caught:
        response_format(value)
    assert meant is None or f"did you mean {meant!r}?" in caught.value.client_message


def nested(depth):
    found = {"type": "string"}
    for _ in range(depth):
        found = {"type": "object", "properties": {"a": found}}
    return found


def tag_of(depth):
    found = {"type": "any_text"}
    for _ in range(depth):
        found = {"type": "sequence", "elements": [found]}
    return {"type": "structural_tag", "format": found}


def enveloped(depth):
    found = {"type": "text"}
    for _ in range(depth):
        found = {"format": found}
    return found


def text_of(depth):
    schema = '{"items":' * depth + "{}" + "}" * depth
    return '{"type": "json_schema", "json_schema": {"schema": ' + schema + "}}"


ENVELOPE = {"type": "json_schema"}
DEEP = {
    "schema": lambda n: interlock.check_response_format({**ENVELOPE, "json_schema": {"schema": nested(n)}}),
    "constant": lambda n: interlock.check_response_format({**ENVELOPE, "schema": {"const": nested(n)}}),
    "text": lambda n: interlock.check_response_format(text_of(n)),
    "schema in a text": lambda n: interlock.check_response_format({"json": '{"items":' * n + "{}" + "}" * n}),
    "envelopes": lambda n: response_format(enveloped(n)),
    "tag": lambda n: interlock.check_structural_tag(tag_of(n)),
    "tag in a response_format": lambda n: interlock.Index.from_response_format(tag_of(n), VOCABULARY),
    "index": lambda n: interlock.Index.from_response_format({"json": nested(n)}, VOCABULARY),
    "tools": lambda n: interlock.check_tools([{"name": "a", "parameters": nested(n)}], format="hermes"),
    "tagged tools": lambda n: interlock.check_tools([{"name": "a", "parameters": nested(n)}], format="qwen3_coder"),
    "tools of an index": lambda n: interlock.Index.from_tools(
        [{"name": "a", "parameters": nested(n)}], VOCABULARY, format="hermes"
    ),
    "choice of tools": lambda n: interlock.check_tools([{"name": "a"}], format="hermes", tool_choice=enveloped(n)),
    "output type": lambda n: interlock.index_from_type(nested(n), VOCABULARY),
}


#: What is said of depth. An envelope in the place of a choice is none, however deep.
TOO_DEEP = re.compile(
    "nested (?:[0-9]+ levels deep, )?too deeply to be (?:read|written)|formats are nested more than|"
    "depth of schema exceeds its limit|"
    "nested at most [0-9]+ levels deep|^at /tool_choice: the object names no tool"
)


@pytest.mark.parametrize("name", DEEP)
def test_no_depth_gets_through_to_pythons_recursion_limit(name):
    refused = []
    for depth in (*range(60, 1100, 65), 20_000):
        try:
            DEEP[name](depth)
        except InterlockError as error:
            assert TOO_DEEP.search(str(error)), error
            refused.append(depth)
    assert refused and refused[-1] == 20_000


def test_tools_that_are_misspelt():
    for tool, meant in (
        ({"name": "f", "paramters": SCHEMA}, "parameters"),
        ({"type": "function", "function": {"name": "f", "parametrs": SCHEMA}}, "parameters"),
        ({"name": "f", "arguments": SCHEMA}, "parameters"),
        ({"name": "f", "params": SCHEMA}, "parameters"),
        ({"name": "f", "parameters": SCHEMA, "strct": True}, "strict"),
        ({"type": "function", "functon": {"name": "f"}, "name": "f"}, "function"),
    ):
        with pytest.raises(RequestError, match=f"did you mean '{meant}'") as caught:
            tools_of([tool])
        assert caught.value.pointer.startswith("/tools/0/")
    # Providers have fields of their own.
    fine = {"name": "f", "parameters": SCHEMA, "cache_control": {}, "defer_loading": True, "title": "F", "examples": []}
    assert tools_of([fine])[0].name == "f"


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ({"type": "function"}, "at /tools/1: a tool has a name, which is a text that is not empty"),
        ({"function": {"parameters": {}}}, "at /tools/1/function: a tool has a name"),
        (
            {"function": {"name": "now"}},
            "at /tools/1/function/name: two tools have the name 'now': this one and /tools/0",
        ),
        (
            {"name": "f", "parameters": []},
            "at /tools/1/parameters: the parameters of a tool are a JSON Schema, which is",
        ),
        ({"name": "f", "input_schema": "{}"}, "at /tools/1/input_schema: .*, not a string; json.loads reads a text"),
        (
            {"type": "function", "function": "f"},
            "at /tools/1/function: the function of a tool is an object with a name",
        ),
        ({"type": "custom", "nam": "f"}, "at /tools/1/nam: a tool has no field 'nam'; did you mean 'name'?"),
        # A field that is left out makes the input of a custom tool any text.
        ({"type": "custom", "name": "f", "fromat": {}}, "at /tools/1/fromat: .* did you mean 'format'?"),
        (
            {"type": "custom", "custom": {"name": "f", "fromat": {}}},
            "at /tools/1/custom/fromat: .* did you mean 'format'",
        ),
        (
            {"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": "lark", "defintion": "a"}},
            "at /tools/1/format/defintion: .* did you mean 'definition'?",
        ),
    ],
)
def test_what_is_no_tool_is_named_with_its_place(tool, said):
    with pytest.raises(RequestError, match=said):
        tools_of([{"name": "now"}, tool])


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"type": "function", "function": {"name": "get_wether"}}, "did you mean 'get_weather'?"),
        (["get_wether"], "at /tool_choice/0: .* did you mean 'get_weather'?"),
        ({"type": "tool", "name": "other"}, "no tool has the name 'other'; there are .*'f6' and 32 more$"),
        ("get_weather", r'; write {"type": "function", "function": {"name": "get_weather"}}'),
        ("get_wether", r'; write {"type": "function", "function": {"name": "get_weather"}}'),
        ("requested", r'; write {"type": "function", "function": {"name": "requested"}}'),
        ("requred", "did you mean 'required'?"),
        (
            {"type": "function", "functoin": {}},
            "it needs the field 'name', and has 'functoin'; did you mean 'function'?",
        ),
        ({"function": {"nmae": "get_weather"}}, "it needs the field 'name', and has 'nmae'; did you mean 'name'?"),
    ],
)
def test_a_choice_of_a_tool_that_is_not_there(choice, said):
    tools = [{"name": "get_weather"}, *({"name": f"f{i}"} for i in range(38)), {"name": "requested"}]
    with pytest.raises(RequestError, match=said):
        interlock.check_tools(tools, format="hermes", tool_choice=choice)


def test_parameters_without_properties_are_told_of():
    """The names of arguments in the place of keywords: a schema that accepts anything."""
    tools = [{"name": "f", "parameters": {"city": {"type": "string"}}}]
    with pytest.warns(
        interlock.UnknownKeywordWarning, match=r"\(at /tools/0/parameters\) accepts every JSON value: .*city"
    ):
        interlock.check_tools(tools, format="hermes")
    with pytest.raises(SchemaError, match="accepts every JSON value") as caught:
        interlock.check_tools(tools, format="hermes", unknown_keywords="error")
    assert caught.value.pointer == "/tools/0/parameters"


def test_a_strict_tool_without_parameters_has_none():
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    assert tools_of([{"name": "now", "strict": True}])[0].parameters == empty
    assert tools_of([{"type": "function", "function": {"name": "now", "strict": True}}])[0].parameters == empty
    assert tools_of([{"name": "now"}])[0].parameters is True
    for tool, strict, has_any in (
        ({"name": "now", "strict": True}, None, False),
        ({"name": "now"}, True, False),
        ({"name": "now"}, None, True),
        ({"name": "now", "strict": True}, False, True),
    ):
        index = interlock.Index.from_tools(
            [tool], VOCABULARY, format="hermes", tool_choice="required", parallel=False, strict=strict
        )
        guide = index.guide()
        guide.advance_many(list(b'<tool_call>\n{"name": "now", "arguments": {'))
        allowed = guide.allowed_token_ids()
        assert ord("}") in allowed and (ord('"') in allowed) is has_any, (tool, strict)


def test_text_is_an_index_of_any_text():
    index = interlock.Index.from_response_format({"type": "text"}, VOCABULARY)
    guide = index.guide()
    assert guide.is_accepting and len(guide.allowed_token_ids()) > 128
    assert response_format({"type": "text"}).kind == response_format(None).kind == "text"


def test_tools_of_mcp_hold_their_schema_in_its_field():
    (tool,) = tools_of([{"name": "f", "title": "F", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}])
    assert tool.parameters == SCHEMA and tool.place == "/tools/0/inputSchema"
    with pytest.raises(RequestError, match="/tools/0/inputSchema/type"):
        tools_of([{"name": "f", "inputSchema": {"type": "string"}}])


def test_formats_of_tgi_hold_their_schema_in_value(byte_vocabulary):
    for given, place in (
        ({"type": "json", "value": {"type": "integer"}}, "at /value:"),
        ({"type": "json_schema", "value": {"type": "integer"}}, "at /value:"),
        (
            {"type": "json_schema", "value": {"name": "n", "schema": {"type": "integer"}}},
            "at /value/schema:",
        ),
    ):
        index = interlock.Index.from_response_format(given, byte_vocabulary)
        assert index.guide().validate(list(b"12")) == 2, given
        wrong = json.loads(json.dumps(given).replace("integer", "intger"))
        with pytest.raises(interlock.SchemaError, match="intger") as caught:
            interlock.Index.from_response_format(wrong, byte_vocabulary)
        assert place in str(caught.value), caught.value
    with pytest.raises(RequestError, match=r"at /parameters/grammar: this is TGI's field"):
        format_of_request({"inputs": "a", "parameters": {"grammar": {"type": "regex", "value": "a"}}})
    assert format_of_request({"inputs": "a", "parameters": {"max_new_tokens": 3}}) is None


def test_parallel_calls_that_a_client_left_null_are_the_default(byte_vocabulary):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    make = functools.partial(interlock.Index.from_tools, tools, byte_vocabulary, format="hermes")
    assert make(parallel=None) == make() != make(parallel=False)


@pytest.mark.parametrize("around", [lambda tag: tag, lambda tag: {"response_format": tag}])
@pytest.mark.parametrize(
    "format, place, code, subject",
    [
        ({"type": "tag", "begn": "a", "content": {"type": "any_text"}}, "/format", "missing_field", "begin"),
        ({"type": "sequenc"}, "/format/type", "unknown_type", "sequenc"),
        ({"value": "a"}, "/format", "missing_field", "type"),
        ({"type": "repeat", "max": 1, "content": {"type": "any_text"}}, "/format", "missing_field", "min"),
    ],
)
def test_faults_of_tags_have_a_code(format, place, code, subject, around):
    with pytest.raises(StructuralTagError) as caught:
        interlock.check_response_format(around({"type": "structural_tag", "format": format}))
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.code, error.subject) == (code, subject)
        assert error.pointer is not None and error.pointer.endswith(place)


@pytest.mark.parametrize("begin", ["", "<f>"])
def test_blanks_and_spelling_of_a_structural_tag(begin):
    vocabulary = byte_vocabulary()
    document = {"type": "json_schema", "json_schema": {"type": "array", "items": {"type": "string"}}}

    def accepts(text, written, **options):
        inner = {**document, **written}
        tag = {"type": "structural_tag", "format": {"type": "tag", "begin": begin, "content": inner, "end": ""}}
        tag = tag if begin else {"type": "structural_tag", "format": inner}
        interlock.check_response_format(tag, **options)
        guide = interlock.Index.from_response_format(tag, vocabulary, **options).guide()
        whole = (begin + text).encode()
        return guide.advance_many(whole) == len(whole) and guide.is_accepting

    ours = {"whitespace": "compact", "spelling": "plain"}
    assert accepts('["a","b"]', {}, **ours)
    assert accepts('["a", "b"]', {}) and not accepts('["a", "b"]', {}, **ours)
    assert accepts('["\\u0061"]', {}) and not accepts('["\\u0061"]', {}, **ours)
    # What the tag says of itself counts first.
    assert accepts('["a", "b"]', {"max_whitespace_cnt": 1}, **ours)
    assert not accepts('["a",  "b"]', {"max_whitespace_cnt": 1}, **ours)
    for other in ({"whitespace": "spaced"}, {"spelling": "constants"}):
        with pytest.raises(interlock.ArgumentError, match="structural tags is"):
            accepts("[]", {}, **other)
