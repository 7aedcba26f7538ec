"""Tool formats: their files, what they write, what is read back, and errors of files that a user writes."""

from __future__ import annotations

import random

import pytest
from interlock import Index, InterlockError, TokenRejected, Vocabulary
from interlock.tools import Call, ToolFormatError, detect_format, format_names, render, tool_format
from interlock.tools.notations.argument_parsing import read_arguments
from interlock.tools.notations.argument_writing import write_arguments
from interlock.tools.notations.parser_names import PARSER_NAMES, REASONING_PARSERS, UNREAD_PARSERS
from interlock.tools.notations.render import render_calls
from tool_call_parser import Reasoning, Text, calls, parse

SCHEMAS = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}, "x": {}}},
            "zip": {"type": "string"},
        },
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}}},
    },
    "now": {"type": "object"},
}
CALLS = [
    Call("get_weather", {"city": 'São "P"', "days": 3, "opts": {"deep": True, "x": None}, "zip": "0123"}),
    Call("add", {"a": -1.5e3, "b": ["x", "true"]}),
    Call("now", {}),
]
FORMATS = format_names()


def test_the_families_of_the_field_are_there():
    assert len(FORMATS) >= 26
    for name in FORMATS:
        form = tool_format(name)
        assert form.name == name, f"the name in formats/{name}.toml is that of the file: write name = {name!r}"
        assert form.title and form.families and form.source, f"formats/{name}.toml lacks title, families or source"
        for token in form.special_tokens:
            assert token == token.strip(), token


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read_back(format):
    form = tool_format(format)
    for notation in range(len(form.notations)):
        written = render_calls(form, CALLS, notation)
        if form.layout.kind == "text":
            assert calls(format, "Well, " + written, SCHEMAS) == CALLS
            assert calls(format, "Well, " + written, SCHEMAS, exact=False) == CALLS
    reasoning = "Rome?" if form.reasoning else None
    expected = [Text("It is so."), *CALLS]
    if reasoning:
        expected.insert(0, Reasoning(reasoning))
    assert parse(format, render(format, CALLS, "It is so.", reasoning), SCHEMAS) == expected


@pytest.mark.parametrize("format", FORMATS)
def test_random_arguments_are_read_back_or_refused(format):
    generator = random.Random(format)
    style = tool_format(format).arguments
    read = 0
    for _ in range(300):
        values = {f"k{index}": _value(generator, 0) for index in range(generator.randrange(4))}
        schema = {"type": "object", "properties": {key: _schema(value) for key, value in values.items()}}
        try:
            written = write_arguments(style, values)
        except ToolFormatError:
            continue
        assert read_arguments(style, written, schema) == values, written
        read += 1
    assert read > 150


def _value(generator, depth):
    kind = generator.randrange(5 if depth > 2 else 7)
    if kind < 3:
        alphabet = "ab<>/\\\"'{}[]:,=&;| \n0é"
        return "".join(generator.choice(alphabet) for _ in range(generator.randrange(8)))
    if kind == 3:
        return generator.choice([0, -7, 12, 1.5, -2e-3])
    if kind == 4:
        return generator.choice([True, False, None])
    if kind == 5:
        return [_value(generator, depth + 1) for _ in range(generator.randrange(1, 4))]
    return {f"n{index}": _value(generator, depth + 1) for index in range(generator.randrange(1, 4))}


def _schema(value):
    if isinstance(value, str):
        return {"type": "string"}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer"}
    if isinstance(value, float):
        return {"type": "number"}
    if value is None:
        return {"type": "null"}
    if isinstance(value, list):
        kinds = [_schema(item) for item in value]
        return {"type": "array", "items": kinds[0] if all(kind == kinds[0] for kind in kinds) else {}}
    return {"type": "object", "properties": {key: _schema(inner) for key, inner in value.items()}}


def test_strings_that_hold_their_own_closer_are_refused():
    for format, value in (
        ("glm_4_7", "a</arg_value>b"),
        ("qwen3_coder", "a\n</parameter>\nb"),
        ("gemma_4", 'a<|"|>b'),
        ("minimax_m3", "a]<]minimax[>[</k>b"),
    ):
        with pytest.raises(ToolFormatError, match="ends a string"):
            render(format, [Call("add", {"k": value})])
    assert "</tool_call>" in render("hermes", [Call("add", {"k": "</tool_call>"})])


@pytest.mark.parametrize(("format", "closer"), [("glm_4_5", "</arg_value>"), ("qwen3_coder", "</parameter>")])
def test_a_closer_without_its_optional_line_ends_is_one(format, closer):
    schemas = {"add": {"properties": {"k": {"type": "string"}, "o": {"type": "object"}}}}
    for text in (closer, f"a{closer}b", f"a\n{closer}", f"{closer}\nb"):
        with pytest.raises(ToolFormatError, match="ends a string"):
            render(format, [Call("add", {"k": text})])
        inside = [Call("add", {"k": "x", "o": {"x": text}})]  # JSON spells it with an escape.
        assert calls(format, render(format, inside), schemas) == inside


def test_values_without_a_schema():
    style = tool_format("deepseek_v4").arguments
    assert read_arguments(style, write_arguments(style, {"a": "12", "b": 12})) == {"a": "12", "b": 12}
    style = tool_format("glm_4_7").arguments
    assert read_arguments(style, write_arguments(style, {"a": "12", "b": 12})) == {"a": 12, "b": 12}
    with pytest.raises(ToolFormatError):
        read_arguments(
            style, "<arg_key>a</arg_key><arg_value>x</arg_value>", {"properties": {"a": {"type": "integer"}}}
        )


NOTATION = [{"begin": "<${name}>", "end": "</>"}]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "name"),
        ({"name": "Mine"}, "name"),
        ({"name": "mine"}, "notation"),
        ({"name": "mine", "notation": [{"end": "x"}]}, r"notation\[0\]\.begin"),
        ({"name": "mine", "notation": [{"begin": "<call>"}]}, r"notation\[0\]\.begin"),
        ({"name": "mine", "notation": [{"begin": "${name}"}]}, r"notation\[0\]\.begin"),
        ({"name": "mine", "notation": [{"begin": "<${nome}>"}]}, r"notation\[0\]\.begin"),
        ({"name": "mine", "notation": [{"begin": "<${name} ${id}>"}]}, "id"),
        ({"name": "mine", "notation": NOTATION, "id": {"pattern": "("}}, "id.pattern"),
        ({"name": "mine", "notation": NOTATION, "id": {"pattern": "[a-z]"}}, "id.pattern"),
        ({"name": "mine", "notation": NOTATION, "colour": "red"}, "colour"),
        ({"name": "mine", "notation": [{**NOTATION[0], "colour": 1}]}, r"notation\[0\]\.colour"),
        ({"name": "mine", "notation": NOTATION, "arguments": {"encoding": "yaml"}}, "arguments.encoding"),
        ({"name": "mine", "notation": NOTATION, "arguments": {"encoding": "tagged"}}, "arguments.begin"),
        ({"name": "mine", "notation": NOTATION, "arguments": {"encoding": "gemma"}}, "arguments.quote"),
        (
            {"name": "mine", "notation": NOTATION, "arguments": {"encoding": "tagged", "begin": "<${key}>", "end": ""}},
            "arguments.end",
        ),
        (
            {
                "name": "mine",
                "notation": NOTATION,
                "arguments": {"encoding": "tagged", "begin": "<${key} ${type}>", "end": "</>"},
            },
            "arguments.types",
        ),
        ({"name": "mine", "notation": NOTATION, "reasoning": {"begin": "<think>"}}, "reasoning.end"),
        ({"name": "mine", "notation": NOTATION, "layout": {"kind": "blocks"}}, "layout.text_begin"),
        ({"name": "mine", "notation": NOTATION, "layout": {"kind": "free"}}, "layout.kind"),
        ({"name": "mine", "notation": NOTATION, "special_tokens": [""]}, "special_tokens"),
        ({"name": "mine", "notation": NOTATION, "families": "all"}, "families"),
    ],
)
def test_mistakes_in_a_file_are_named(fields, place):
    with pytest.raises(ToolFormatError, match=place) as caught:
        tool_format(fields)
    assert isinstance(caught.value, InterlockError)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"special_token": ["<T>"]}, "special_token: this field is not known here; did you mean 'special_tokens'?"),
        ({"colour": "red"}, "colour: this field is not known here"),
        ({"reasonin": {"begin": "<think>"}}, "reasonin: this field is not known here; did you mean 'reasoning'?"),
        (
            {"notation": [{**NOTATION[0], "seperator": ","}]},
            "notation[0].seperator: this field is not known here; did you mean 'separator'?",
        ),
        ({"notation": [{"begn": "<${name}>"}]}, "notation[0].begin: it is missing; is 'begn' a slip of it?"),
        (
            {"notation": [], "notations": NOTATION},
            "notation: there is none: a format needs at least one [[notation]]; is 'notations' a slip of it?",
        ),
        (
            {"arguments": {"encoding": "tagged", "item_begin": "<i>", "end": "</>"}},
            "arguments.begin: it is missing",
        ),
        (
            {"notation": [{**NOTATION[0], "separator": []}]},
            "notation[0].separator: the list is empty: leave the field out if nothing stands between two calls",
        ),
        (
            {"special_tokens": ["<|python_tag|>"]},
            "special_tokens: '<|python_tag|>' stands in no delimiter of the format",
        ),
        (
            {"notation": [{"begin": "<|call|>${name}"}], "special_tokens": ["<|cal|>"]},
            "special_tokens: '<|cal|>' stands in no delimiter of the format; did you mean '<|call|>'?",
        ),
        # Not across a placeholder: there the name of the tool stands.
        ({"special_tokens": ["<${name}>"]}, "special_tokens: '<${name}>' stands in no delimiter of the format"),
    ],
)
def test_mistakes_say_what_was_meant(fields, message):
    with pytest.raises(ToolFormatError) as caught:
        tool_format({"name": "mine", "notation": NOTATION, **fields})
    assert str(caught.value) == f"mine: {message}"


@pytest.mark.parametrize(
    "fields",
    [
        {"notation": [{"begin": "<T>${name}", "separator": [",", "<T>"]}]},
        {"reasoning": {"begin": "<a>", "end": "<b>", "after": "<T>"}},
        {"layout": {"kind": "blocks", "text_begin": "<a>", "text_end": "<T>"}},
        {"arguments": {"encoding": "gemma", "quote": "<T>"}},
        {"arguments": {"encoding": "tagged", "begin": "${key}", "end": ";", "string_begin": "<T>", "string_end": "."}},
        {"arguments": {"encoding": "tagged", "begin": "<${type}>${key}", "end": ";", "types": {"other": ["x", "T"]}}},
        {
            "arguments": {
                "encoding": "tagged", "begin": "${key}", "end": ";", "nested": True, "item_begin": "<i>",
                "item_end": "<T>",
            }
        },
    ],
)  # fmt: skip
def test_special_tokens_stand_in_any_delimiter(fields):
    form = tool_format({"name": "mine", "notation": NOTATION, "special_tokens": ["<T>"], **fields})
    assert form.special_tokens == ("<T>",)


def test_files_of_users(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[[notation]]\nbegin = "@${name} "\nend = ";"\n')
    assert render(file, [Call("add", {"a": 1})]) == '@add {"a": 1};'
    file.write_text("name = ")
    with pytest.raises(ToolFormatError, match="is not TOML"):
        tool_format(file)
    with pytest.raises(ToolFormatError, match="cannot be read"):
        tool_format(tmp_path / "none.toml")
    auto = ' format="auto" finds the one of a tokenizer.'
    end = f"interlock.tools.format_names() lists all {len(FORMATS)}; a file is given as a pathlib.Path"
    for name, hint in (
        ("hermess", "did you mean 'hermes'?"),
        ("olmo", "did you mean 'olmo_3'?"),
        ("llama4", "did you mean 'pythonic' (Llama 4)?"),
        ("nemotron", "did you mean 'nemotron_v2' or 'qwen3_coder' (Nemotron 3 Nano)?"),
        ("Qwen/Qwen3-8B", "did you mean 'hermes' (Qwen 3)?" + auto),
        ("Qwen/Qwen3.5-4B", "did you mean 'qwen3_coder' (Qwen 3.5)?" + auto),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "did you mean 'qwen3_coder'?" + auto),
        ("openai/gpt-oss-20b", "did you mean 'harmony' (gpt-oss)?" + auto),
        ("ibm-granite/granite-4.0-h-small", "did you mean 'hermes' (Granite 4)?" + auto),
        ("deepseek-v3.2", "did you mean 'deepseek_v3_2'?"),
        ("granite-9", auto[1:]),
        ("", auto[1:]),
        ("somebody/Unknown-8B", auto[1:]),
        ("zzzzzzzz", auto[1:]),
    ):
        with pytest.raises(ToolFormatError) as caught:
            tool_format(name)
        assert str(caught.value) == f"no tool format has the name {name!r}: {hint} {end}"
    with pytest.raises(ToolFormatError, match="a name, a path"):
        tool_format(3)


def test_calls_in_other_shapes():
    written = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    assert render("hermes", [{"name": "add", "arguments": {"a": 1}}]) == written
    assert render("hermes", [{"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}]) == written
    for wrong in (3, {}, {"name": "a", "arguments": "{"}, {"name": "a", "arguments": "[]"}, {"name": ""}):
        with pytest.raises(ToolFormatError):
            render("hermes", [wrong])
    with pytest.raises(ToolFormatError, match="no reasoning"):
        render("mistral_v3", [], "text", "thought")
    with pytest.raises(ToolFormatError, match="ends it"):
        render("hermes", [], "text", "a</think>b")


class _Tokenizer:
    def __init__(self, **fields):
        self.__dict__.update(fields)


def test_detection():
    qwen = "{{- '<tool_call>\\n<function=' + name + '>\\n<parameter=' + key }}"
    assert detect_format(qwen).name == "qwen3_coder"
    assert detect_format(_Tokenizer(chat_template=qwen)).name == "qwen3_coder"
    assert detect_format({"chat_template": {"default": "", "tool_use": qwen}}).name == "qwen3_coder"
    assert detect_format({"chat_template": [{"name": "tool_use", "template": qwen}]}).name == "qwen3_coder"
    assert detect_format(_Tokenizer(init_kwargs={"chat_template": qwen})).name == "qwen3_coder"
    response = {"version": 1, "fields": {"tool_calls": {"open": "<|tool_call>call:", "close": "<tool_call|>"}}}
    assert detect_format(_Tokenizer(chat_template=None, response_template=response)).name == "gemma_4"
    with pytest.raises(ToolFormatError, match="no tool format"):
        detect_format("{{ messages[0].content }}")
    with pytest.raises(ToolFormatError, match="^a _Tokenizer without a chat template"):
        detect_format(_Tokenizer(chat_template=None))
    with pytest.raises(ToolFormatError, match="^an Encoding without a chat template"):  # As of tiktoken.
        detect_format(type("Encoding", (), {})())


FOUND_BY_NAME_ONLY = {
    "json_array": "servers ask it of any model, so no chat template has a text of its own",
    "lfm2_json": "the chat template is that of lfm2; the system prompt asks for JSON",
    "llama3_builtin": "the chat template is that of llama3_json, which writes both",
}
"""Formats without ``signatures``, and why no chat template tells them from others."""


def test_a_format_has_signatures_or_a_reason_for_none():
    assert {name for name in format_names() if not tool_format(name).signatures} == FOUND_BY_NAME_ONLY.keys()


@pytest.mark.parametrize("name", [name for name in format_names() if name not in FOUND_BY_NAME_ONLY])
def test_signatures_alone_find_their_format(name):
    for group in tool_format(name).signatures:
        found = detect_format("{{ x }}" + "\n".join(group)).name
        assert found == name, (
            f"a template with {group} is taken for {found}: add a text that {found} lacks to this group of signatures "
            f"in formats/{name}.toml, or one of these texts to signatures_exclude in formats/{found}.toml"
        )


def test_olmo_is_told_from_others_with_function_calls():
    olmo = "{{ ' <functions>' + tools + '</functions>' }}{{ '<function_calls>' + calls + '</function_calls>' }}"
    assert detect_format(olmo).name == "olmo_3"
    deepseek = "{% set dsml_token = '｜DSML｜' %}<functions></functions>{{ '<' ~ dsml_token ~ 'function_calls>' }}"
    assert detect_format(deepseek + "{# no <function_calls> #}").name == "deepseek_v3_2"


def test_values_of_python_calls_may_be_json():
    form = tool_format("olmo_3")
    call = Call("add", {"a": 1.5, "b": ["x", None], "c": True})
    written = '<function_calls>add(a=1.5, b=["x", null], c=true)</function_calls>'
    assert render_calls(form, [call]) == written
    assert calls("olmo_3", written) == [call]
    # Escapes of JSON, which in Python's strings mean something else.
    assert read_arguments(form.arguments, r'a="\ud83d\ude00\/"') == {"a": "😀/"}
    assert read_arguments(form.arguments, "a='x', b=True") == {"a": "x", "b": True}
    assert read_arguments(form.arguments, "a=['x', null]") == {"a": ["x", None]}
    wrong = {"name": "mine", "notation": NOTATION, "arguments": {"encoding": "python", "values": "json"}}
    assert tool_format(wrong).arguments.objects == "json"
    wrong["arguments"]["objects"] = "python"
    with pytest.raises(ToolFormatError, match="values that are JSON"):
        tool_format(wrong)


def test_calls_with_json_values_stand_on_one_line(byte_vocabulary):
    """The maker's own parser splits calls at ends of lines."""
    parameters = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object"}}}
    index = Index.from_tools([{"name": "f", "parameters": parameters}], byte_vocabulary, format="olmo_3")
    for written in ("a=[1,2]", 'a=[1, 2],b={"x": [ ]}', 'a=["\\n"]'):
        assert [
            event.call
            for event in index.parse(f"<function_calls>f({written})</function_calls>")
            if hasattr(event, "call")
        ]
    for written in ("a=[1,\n2]", 'b={"x":\r1}', "b={\n}"):
        with pytest.raises(TokenRejected):
            index.parse(f"<function_calls>f({written})</function_calls>")


VLLM_PARSERS = (
    "dots deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41 cohere_command3 cohere_command4 ernie45 glm45 "
    "glm47 ling3 granite-20b-fc granite granite4 hermes hf poolside_v1 hunyuan_a13b hy_v3 hy_v4 internlm jamba lfm2 "
    "kimi_k2 kimi_k3 k2_horizon llama3_json llama4_json llama4_pythonic longcat mimo minimax_m2 minimax_m3 minicpm5 "
    "mistral olmo3 plamo3 muse_glimmer openai phi4_mini_json pythonic qwen3_coder qwen3_json qwen3_xml seed_oss step3 "
    "step3p5 inkling xlam gigachat3 functiongemma gemma4 apertus"
)
SGLANG_PARSERS = (
    "apertus2509 beam cohere_command4 deepseekv3 deepseekv31 deepseekv32 deepseekv4 deepseekv41 dots glm glm45 glm47 "
    "gpt-oss k2_horizon kimi_k2 kimi_k3 lfm2 ling3 llama3 mimo minicpm5 mistral muse poolside_v1 pythonic qwen qwen25 "
    "qwen3_coder spark25 step3 step3p5 minimax-m2 minimax-m3 nanbeige trinity interns1 hermes hunyuan gigachat3 "
    "gigachat35 gemma4 inkling iquest_q1 response_template"
)
REASONING = (
    "deepseek_r1 deepseek-r1 deepseek-v3 deepseek-v41 openai_gptoss qwen3 qwen3-thinking nemotron_v3 holo2 minicpmv "
    "kimi minimax minimax-append-think granite_thinking_parser"
)


@pytest.mark.parametrize("name", sorted({*VLLM_PARSERS.split(), *SGLANG_PARSERS.split(), *REASONING.split()}))
def test_the_name_of_each_parser_of_a_server_is_a_format_or_its_error_says_what_to_do(name):
    try:
        found = tool_format(name)
    except ToolFormatError as error:
        hint = str(error).removeprefix(f"no tool format has the name {name!r}: ")
        assert hint.startswith(("did you mean", "a parser of", "pass the response template")), hint
    else:
        assert found.name in format_names()


def test_names_of_parsers_name_the_format_that_they_read():
    assert set(PARSER_NAMES.values()) <= set(format_names())
    for others in (UNREAD_PARSERS, REASONING_PARSERS, format_names()):
        assert not set(PARSER_NAMES) & set(others)
    assert {near for near in UNREAD_PARSERS.values() if near} <= set(format_names())
    for name, form in (
        ("qwen25", "hermes"),
        ("qwen3_xml", "qwen3_coder"),
        ("glm45", "glm_4_5"),
        ("gpt-oss", "harmony"),
        ("granite-20b-fc", "granite_20b"),
        ("minimax-m2", "minimax_m2"),
        ("deepseek-r1", "deepseek_v3"),
        ("phi4_mini_json", "functools"),
    ):
        assert tool_format(name) is tool_format(form)


@pytest.mark.parametrize(
    "name, hint",
    [
        ("granite", "did you mean 'granite_20b' or 'granite_3' or 'hermes' (Granite 4)?"),
        ("poolside_v1", "did you mean 'glm_4_5' (Laguna XS) or 'glm_4_7' (Laguna S)?"),
        ("plamo3", "a parser of calls has this name, and none of the formats is what it reads. docs/formats.md says"),
        ("hy_v4", "is what it reads. 'hunyuan_3' is built alike: docs/formats.md says how to write one of your own."),
        ("response_template", "pass the response template itself"),
        ("qwen3", "a parser of reasoning has this name, and a format says how calls are written. Did you mean"),
        ("holo2", 'A format has the reasoning of its models: reasoning="optional" permits it.'),
    ],
)
def test_names_of_parsers_that_are_no_format(name, hint):
    with pytest.raises(ToolFormatError) as caught:
        tool_format(name)
    assert hint in str(caught.value)


def test_a_parser_of_reasoning_says_nothing_of_whether_there_is_any():
    with pytest.raises(InterlockError, match="not 'deepseek_r1'; the format says how the model writes it"):
        Index.from_tools([], Vocabulary([b"a"], eos_token_ids=[0]), format="hermes", reasoning="deepseek_r1")
