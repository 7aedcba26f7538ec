"""How the JSON of tool calls and structural tags is written: ``whitespace`` and ``spelling``."""

import pytest

import interlock
from interlock.tools import Call, format_names, render, tool_format
from interlock.tools.tags.tag_index import stored_source

VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], 256)
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}
REQUEST = {"format": "hermes", "tool_choice": "required"}
PLAIN = {"whitespace": "compact", "spelling": "plain"}


def call(arguments):
    return '<tool_call>\n{"name": "f", "arguments": ' + arguments + "}\n</tool_call>"


def accepts(index, text):
    guide = index.guide()
    return guide.advance_many(list(text.encode())) == len(text.encode()) and guide.is_accepting


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ('{"a":"x/\\n"}', [{}, {"whitespace": "compact"}, {"spelling": "plain"}, PLAIN]),
        ('{"a": "x"}', [{}, {"spelling": "plain"}]),
        ('{"a":"\\u0078"}', [{}, {"whitespace": "compact"}]),
        ('{"a" :"\\u0078"}', [{}]),
    ],
)
def test_what_each_option_allows(arguments, options):
    for given in ({}, {"whitespace": "compact"}, {"spelling": "plain"}, PLAIN):
        index = interlock.Index.from_tools([TOOL], VOCABULARY, **REQUEST, **given)
        assert accepts(index, call(arguments)) == (given in options), given
        interlock.check_tools([TOOL], **REQUEST, **given)
        kind, source, rest = stored_source("tools", [TOOL], VOCABULARY, {**REQUEST, **given})
        assert kind == "grammar"
        assert accepts(interlock.Index.from_grammar(source, VOCABULARY, **rest), call(arguments)) == (given in options)


def test_plain_spelling_writes_integers_without_point_and_exponent():
    tool = {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}
    for number, spelling in (("1", "plain"), ("1.0", "any"), ("1e0", "any")):
        for given in ("any", "plain"):
            index = interlock.Index.from_tools([tool], VOCABULARY, **REQUEST, spelling=given)
            assert accepts(index, call(f'{{"n": {number}}}')) == (given == "any" or spelling == "plain")


def test_an_answer_beside_the_tools_is_written_so_too():
    answer = {"type": "json_schema", "json_schema": {"name": "a", "schema": TOOL["parameters"]}}
    request = {"format": "hermes", "tool_choice": "none", "response_format": answer}
    loose = interlock.Index.from_tools([TOOL], VOCABULARY, **request)
    tight = interlock.Index.from_tools([TOOL], VOCABULARY, **request, **PLAIN)
    assert [accepts(index, '{"a": "\\u0078"}') for index in (loose, tight)] == [True, False]
    assert accepts(tight, '{"a":"x"}')


@pytest.mark.parametrize(("name", "value"), [("whitespace", "spaced"), ("spelling", "constants"), ("spelling", 5)])
def test_what_tools_cannot_have_is_refused_by_name(name, value):
    for make in (lambda **given: interlock.Index.from_tools([TOOL], VOCABULARY, **given), interlock.check_tools):
        with pytest.raises(interlock.ArgumentError, match=f"{name} of tools and structural tags is .* not {value!r}"):
            make(**({"tools": [TOOL]} if make is interlock.check_tools else {}), **REQUEST, **{name: value})


TAG = {
    "type": "tag",
    "begin": "<a>",
    "content": {"type": "json_schema", "json_schema": TOOL["parameters"]},
    "end": "</a>",
}
WHOLE = {"type": "json_schema", "json_schema": TOOL["parameters"], "any_order": True}
OWN = {"type": "json_schema", "json_schema": TOOL["parameters"], "max_whitespace_cnt": 1}


@pytest.mark.parametrize(("tag", "around"), [(TAG, "<a>{}</a>"), (WHOLE, "{}"), (OWN, "{}")])
def test_structural_tags_are_written_so_too(tag, around):
    for given in ({}, {"whitespace": "compact"}, {"spelling": "plain"}, PLAIN):
        interlock.check_structural_tag(tag, **given)
        kind, source, rest = stored_source("structural_tag", tag, VOCABULARY, given)
        for index in (
            interlock.Index.from_structural_tag(tag, VOCABULARY, **given),
            getattr(interlock.Index, f"from_{kind}")(source, VOCABULARY, **rest),
        ):
            assert accepts(index, around.format('{"a":"x"}'))
            # What the tag says itself holds.
            assert accepts(index, around.format('{"a": "x"}')) == (tag is OWN or "whitespace" not in given), given
            assert accepts(index, around.format('{"a":"\\u0078"}')) == ("spelling" not in given), given


def test_what_structural_tags_cannot_have_is_refused_by_name():
    for make in (
        lambda **given: interlock.Index.from_structural_tag(TAG, VOCABULARY, **given),
        lambda **given: interlock.check_structural_tag(TAG, **given),
    ):
        with pytest.raises(interlock.ArgumentError, match="whitespace of tools and structural tags is .* not 'spaced'"):
            make(whitespace="spaced")
    with pytest.raises(interlock.ArgumentError, match="there are closed, whitespace, spelling"):
        stored_source("structural_tag", TAG, VOCABULARY, {"blanks": 1})


NESTED = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "object", "properties": {"c": {"type": "array", "items": {"type": "integer"}}}},
        "d": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["a", "b", "d"],
}


@pytest.mark.parametrize("name", format_names())
def test_calls_are_rendered_as_a_compact_index_accepts_them(name):
    form = tool_format(name)
    special = [token.encode() for token in form.special_tokens]
    vocabulary = interlock.Vocabulary(
        [bytes([i]) for i in range(256)] + special + [b""], 256 + len(special), list(range(256, 256 + len(special)))
    )
    calls = [Call("f", {"a": "x, y: z", "b": {"c": [1, 2]}, "d": ["p", "q"]})]
    tools = [{"name": "f", "parameters": NESTED}]
    request = {"format": name, "tool_choice": "required", "whitespace": "compact"}
    if name == "kimi_k3":  # Its prompt opens the reasoning, unless the server says that it does not.
        request |= {"reasoning": "optional", "reasoning_is_open": False}
    index = interlock.Index.from_tools(tools, vocabulary, **request)
    text = render(name, calls, whitespace="compact")
    guide = index.guide()
    tokens = []
    while text:
        found = next((i for i, token in enumerate(special, 256) if text.startswith(token.decode())), None)
        size = 1 if found is None else len(special[found - 256].decode())
        tokens += list(text[:size].encode()) if found is None else [found]
        text = text[size:]
    assert guide.advance_many(tokens) == len(tokens) and guide.is_accepting
    if form.arguments.encoding == "json":
        assert '{"a":"x, y: z","b":{"c":[1,2]},"d":["p","q"]}' in render(name, calls, whitespace="compact")
        assert '{"a": "x, y: z", "b": {"c": [1, 2]}, "d": ["p", "q"]}' in render(name, calls)


def test_render_refuses_an_unknown_whitespace():
    with pytest.raises(interlock.ArgumentError, match="whitespace of tools and structural tags is .* not 'tight'"):
        render("hermes", whitespace="tight")
