"""Tools of a request as a source of the command line."""

import json
import re

import pytest
from command_line import here, machine, run

import interlock
from interlock.cli.sources.kind_options import OPTIONS

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]
HERMES = ("--tool-format", "hermes")
NOW = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'


@pytest.fixture
def tools(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path


def accepts(folder, source, text, *options):
    return here(folder, "check", source, "--text", text, *options).returncode == 0


@pytest.mark.parametrize("word", ["tools.json", "tools:@tools.json", "tools:" + json.dumps(TOOLS)])
def test_every_way_to_name_them(tools, word):
    assert accepts(tools, word, NOW, *HERMES) and accepts(tools, word, f"Well.\n{WEATHER}", *HERMES)
    assert not accepts(tools, word, NOW.replace("now", "new"), *HERMES)
    assert accepts(tools, word, NOW, "--tool-format", "qwen25")


def test_the_standard_input(tools):
    assert run(tools, "check", "tools:@-", "--text", NOW, *HERMES, stdin=json.dumps(TOOLS)).returncode == 0


def test_the_choice(tools):
    def taken(choice):
        return [accepts(tools, "tools.json", text, *HERMES, "--tool-choice", choice) for text in ("a", NOW, WEATHER)]

    assert taken("auto") == [True, True, True] and taken("none") == [True, False, False]
    assert taken("required") == [False, True, True] and taken("weather") == [False, False, True]


def test_a_request_counts_as_a_whole(tmp_path):
    body = {"model": "m", "messages": [], "tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
    (tmp_path / "body.json").write_text(json.dumps(body))
    assert accepts(tmp_path, "body.json", NOW, *HERMES) and not accepts(tmp_path, "body.json", "a", *HERMES)
    assert not accepts(tmp_path, "body.json", NOW + NOW, *HERMES)
    assert accepts(tmp_path, "body.json", "a", *HERMES, "--tool-choice", "auto")
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"const": 5}}}
    (tmp_path / "body.json").write_text(json.dumps(body | {"tool_choice": "none", "response_format": asked}))
    assert accepts(tmp_path, "body.json", "5", *HERMES) and not accepts(tmp_path, "body.json", "6", *HERMES)


def test_a_format_of_ones_own(tools):
    (tools / "mine.toml").write_text('name = "mine"\n[[notation]]\nbegin = "<call ${name}>"\nend = "</call>"\n')
    assert accepts(tools, "tools.json", '<call weather>{"city": "Rome"}</call>', "--tool-format", "mine.toml")
    (tools / "bad.toml").write_text('name = "mine"\n')
    said = run(tools, "check", "tools.json", "--text", "a", "--tool-format", "bad.toml", code=2).stderr
    assert "--tool-format bad.toml" in said


@pytest.mark.parametrize(
    ("options", "message", "remedy"),
    [
        ((), "is a list of tools, and what a model writes depends on the format of calls", "--tool-format NAME"),
        (("--tool-format", "herms"), "no format of tool calls has this name", "did you mean hermes?"),
        (("--tool-format", "step3"), "no format of tool calls has this name", "a parser of calls has this name"),
        (("--tool-format", "zzzz"), "no format of tool calls has this name", "there are apertus, "),
        ((*HERMES, "--tool-choice", "wether"), "--tool-choice wether: no tool has this name", "did you mean weather?"),
        ((*HERMES, "--tool-choice", "x"), "no tool has this name", "auto, required, none, or one of weather, now"),
        ((*HERMES, "--flags", "i"), "--flags is for a pattern, and tools:... is a list of tools", ""),
    ],
)
def test_wrong_options(tools, options, message, remedy):
    error = machine(tools, "check", "tools:@tools.json", "--text", "a", *options, code=2)["error"]
    assert message in error["message"] and remedy in error.get("remedy", "")


def test_options_of_tools_are_for_tools(tools):
    for option in ("--tool-format", "--tool-choice"):
        said = run(tools, "check", "schema:true", "--text", "1", option, "hermes", code=2).stderr
        assert f"{option} is for a list of tools, and schema:... is a JSON Schema" in said
    assert {"tool_format", "tool_choice"} <= OPTIONS.keys()


@pytest.mark.parametrize(
    ("text", "pointer", "column", "said"),
    [
        ('[{"name": "f", "parameters": {"type": "objct"}}]', "/tools/0/parameters", 30, "did you mean"),
        ('{"tools": [{"name": ""}]}', "/tools/0/name", 21, "a tool has a name"),
        ('{"tools": [{"name": "f"}], "tool_choice": "reqired"}', "/tool_choice", 43, "did you mean"),
        ('{"tools": [{"name": "f"}], "guided_jsn": {}}', "/guided_jsn", 42, "did you mean"),
        ('[{"name": "f"},', "", 16, "the list of tools is not JSON"),
        ('{"tool": []}', "", None, "this is neither a list of tools nor a request with one"),
        ("", "", None, "is empty: it should hold a list of tools, or a request that has one"),
    ],
)
def test_errors_have_their_place(tmp_path, text, pointer, column, said):
    (tmp_path / "tools.txt").write_text(text)
    error = machine(tmp_path, "check", "tools:@tools.txt", "--text", "a", *HERMES, code=3)["error"]
    assert (error.get("pointer"), error.get("column")) == (pointer, column)
    assert said in error["message"] and error["file"] == "tools.txt"


SLIP = {"type": "object", "properties": {"a": {"type": "string", "minLenght": 2, "pattern": "^[[:alpha:]]$"}}}
INSIDE = "/properties/a"


@pytest.mark.parametrize("kind", ["tools", "tag"])
def test_slips_have_their_place(tmp_path, kind):
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": SLIP}, "end": "</a>"}
    (tmp_path / "tag.json").write_text(json.dumps({"type": "structural_tag", "format": tag}))
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "f", "parameters": SLIP}]))
    options = HERMES if kind == "tools" else ()
    place = ("/tools/0/parameters" if kind == "tools" else "/format/content/json_schema") + INSIDE
    for command in (("inspect",), ("check", "--text", "a"), ("sample",)):
        said = here(tmp_path, command[0], f"{kind}.json", *command[1:], *options).stderr
        assert f"`minLenght` (at {place}) is no keyword" in said and said.count("minLenght") == 1
        assert f"did you mean ^[A-Za-z]$? (at {place})" in said
    found = machine(tmp_path, "inspect", f"{kind}.json", *options)["unknown_keywords"]
    assert found == [{"pointer": place, "keyword": "minLenght", "suggestion": "minLength"}]
    error = machine(tmp_path, "inspect", f"{kind}.json", *options, "--unknown-keywords", "error", code=3)["error"]
    assert (error["pointer"], error["keyword"]) == (place, "minLenght")
    ignored = run(tmp_path, "inspect", f"{kind}.json", *options, "--unknown-keywords", "ignore").stderr
    assert "minLenght" not in ignored


def test_a_drawing_has_a_box_for_each_tool_and_its_parameters(tools):
    run(tools, "draw", "tools.json", *HERMES, "-o", "a.mmd")
    drawn = re.sub("#([0-9]+);", lambda code: chr(int(code[1])), (tools / "a.mmd").read_text())
    boxes = [line for line in drawn.splitlines() if "<b>" in line]
    assert [sum(f'\\"{name}\\"' in box for box in boxes) for name in ("weather", "now")] == [1, 1]
    assert sum("city" in box and "string" in box for box in boxes) == 1
    refused = run(tools, "draw", "tools.json", *HERMES, "-o", "a.mmd", "--form", "jumps", code=2)
    assert "a list of tools has no finite automaton" in refused.stderr
    (tools / "bad.json").write_text(json.dumps([{"name": "a", "parameters": {"type": "strin"}}]))
    error = machine(tools, "draw", "bad.json", *HERMES, "-o", "b.mmd", code=3)["error"]
    assert error["pointer"] == "/tools/0/parameters"


def test_every_command(tools):
    source = ("tools.json", *HERMES)
    assert machine(tools, "inspect", *source)["kind"] == "tools"
    assert len(machine(tools, "sample", *source, "--tool-choice", "now", "-n", "2")["samples"]) == 2
    assert "no finite automaton" in run(tools, "inspect", *source).stdout
    run(tools, "trace", *source, "--text", NOW, "-t", "bytes", "-o", "a.html")
    run(tools, "compile", *source, "-t", "bytes", "-o", "tools.index")
    assert accepts(tools, "tools.index", NOW) and not accepts(tools, "tools.index", NOW.replace("now", "new"))
    assert run(tools, "diff", "tools.json", "tools.json", *HERMES).stdout == "equal\n"
    other = "tools:" + json.dumps(TOOLS[:1])
    done = run(tools, "diff", "tools.json", other, *HERMES, "--tool-choice", "required", code=1)
    assert "only the first accepts" in done.stdout


@pytest.mark.parametrize("form", ["hermes", "qwen3_coder"])
def test_the_report_names_formats_that_take_less_than_their_standard(tmp_path, form):
    schema = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}}
    (tmp_path / "mail.json").write_text(json.dumps([{"name": "mail", "parameters": schema}]))
    rows = machine(tmp_path, "inspect", "mail.json", "--tool-format", form)["report"]
    place = "/tools/0/parameters/properties/to"
    assert [(row["pointer"], row["keyword"], row["enforcement"]) for row in rows] == [(place, "format", "narrower")]
    assert "domains are limited" in rows[0]["reason"]
    assert "report: 1 row; what" in run(tmp_path, "inspect", "mail.json", "--tool-format", form).stdout


def test_precompute(tools):
    (tools / "sources").mkdir()
    (tools / "tools.json").rename(tools / "sources" / "tools.json")
    (tools / "sources" / "a.json").write_text('{"type": "integer"}')
    arguments = ("precompute", "sources", "-t", "bytes", "-j", "1")
    done = machine(tools, *arguments, "-o", "without")
    assert [row["name"] for row in done["left_out"]] == ["tools.json"]
    assert "--tool-format makes a source of it" in done["left_out"][0]["reason"]
    assert machine(tools, *arguments, "-o", "store", *HERMES)["left_out"] == []
    vocabulary = interlock.explain.byte_vocabulary()
    store = interlock.Store(tools / "store")
    assert store.key_of("tools", TOOLS, vocabulary, format="hermes") in store


ADD = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
PAIR = [{"name": "weather"}, {"name": "add", "parameters": ADD | {"additionalProperties": False}}]
CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
FUNCTION = "<tool_call>\n<function=%s>\n<parameter=a>\n%s\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("form", "text", "message", "at"),
    [
        ("hermes", CALL % ("add", '{"a": 1}'), "tool add: `b` is missing; it is required", '{"a"'),
        (
            "hermes",
            "Well. " + CALL % ("add", '{"a": 1, "b": "x"}'),
            'tool add: `b`: an integer is expected, not a string ("x")',
            '"x"',
        ),
        ("hermes", CALL % ("wether", "{}"), "no tool is named wether; there are weather, add", "wether"),
        ("hermes", CALL % ("add", '{"a": 1, "c": 2}'), "tool add: `b` is missing; it is required", '{"a"'),
        ("qwen3_coder", FUNCTION % ("add", 1), "tool add: `b` is missing; it is required", "/function"),
        ("qwen3_coder", FUNCTION % ("ad", 1), "no tool is named ad; there are weather, add", "ad>"),
        ("llama3_json", '{"name": "sub", "parameters": {}}', "no tool is named sub; there are weather, add", "sub"),
        ("pythonic", "[ad(a=1)]", "no tool is named ad; there are weather, add", "ad("),
        ("pythonic", "[add(a=abc)]", '"a" does not fit the grammar here', "abc"),
        ("pythonic", "[add(a=True)]", '"T" does not fit the grammar here', "True"),
        ("hermes", (CALL % ("add", '{"a": 1}')).replace("argu", "argh"), '"h" does not fit the grammar here', "h"),
    ],
)
def test_a_call_is_explained_in_the_words_of_the_tools(folder, form, text, message, at):
    # Text that calls nothing fits, too, where no call is required and nothing else marks one.
    required = ("--tool-choice", "required") if form == "pythonic" else ()
    words = ("check", f"tools:{json.dumps(PAIR)}", "--tool-format", form, *required, "--text", text)
    problem = machine(folder, *words, code=1)["problems"][0]
    assert problem["message"] == message and text[problem["start"] :].startswith(at)
    if "named" in problem["message"] and "sub" not in text:
        assert problem["hint"].startswith("did you mean ")


STAY = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "ok": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["city"],
}
VALUES = {"city": "Rome", "days": "nine", "ok": "yes", "tags": '[1, "x"]'}
M3_MARK = "]<]minimax[>["


def tagged(form):
    """A call whose values are no values of their types, in the notation of a format."""
    begin, parameter, end = {
        "qwen3_coder": (
            "<tool_call>\n<function=stay>\n",
            "<parameter={}>\n{}\n</parameter>\n",
            "</function>\n</tool_call>",
        ),
        "glm_4_5": (
            "<tool_call>stay\n",
            "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n",
            "</tool_call>",
        ),
        "minimax_m2": (
            '<minimax:tool_call>\n<invoke name="stay">\n',
            '<parameter name="{}">{}</parameter>\n',
            "</invoke>\n</minimax:tool_call>",
        ),
        "seed_oss": (
            "<seed:tool_call>\n<function=stay>\n",
            "<parameter={}>{}</parameter>\n",
            "</function>\n</seed:tool_call>",
        ),
    }[form]
    return begin + "".join(parameter.format(*one) for one in VALUES.items()) + end


@pytest.mark.parametrize("form", ["qwen3_coder", "glm_4_5", "minimax_m2", "seed_oss"])
def test_every_value_of_a_wrong_type_is_named_at_its_place(folder, form):
    text = tagged(form)
    tools = json.dumps([{"name": "stay", "parameters": STAY}])
    problems = machine(folder, "check", f"tools:{tools}", "--tool-format", form, "--text", text, code=1)["problems"]
    assert [(one["pointer"], one["message"], text[one["start"] : one["end"]]) for one in problems] == [
        ("/days", 'tool stay: `days`: an integer is expected, not a string ("nine")', "nine"),
        ("/ok", 'tool stay: `ok`: a boolean is expected, not a string ("yes")', "yes"),
        ("/tags/1", 'tool stay: `tags[1]`: an integer is expected, not a string ("x")', '[1, "x"]'),
    ]


def test_an_element_that_is_tagged_has_a_place_of_its_own(folder):
    parts = ("<tool_call>\n", '<invoke name="stay">', "<city>Rome", "</city>", "<tags>")
    parts += ("<item>1", "</item>", "<item>x", "</item>", "</tags>", "</invoke>\n", "</tool_call>")
    text = "".join(M3_MARK + part for part in parts)
    words = (f"tools:{json.dumps([{'name': 'stay', 'parameters': STAY}])}", "--tool-format", "minimax_m3")
    (problem,) = machine(folder, "check", *words, "--text", text, code=1)["problems"]
    assert problem["pointer"] == "/tags/1" and text[problem["start"] - 6 : problem["end"]] == "<item>x"
