"""What structural tags, tools and response formats mean in an index, one rule after the other."""

from __future__ import annotations

import interlock
import pytest
from interlock.tools import StructuralTagError
from interlock.tools.tag_grammars.tag_grammar import grammar_of

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs judges values")

from tag_index_walks import accepts, index_of, vocabulary


def test_special_tokens_never_spell_text():
    tag = {
        "type": "structural_tag",
        "special_tokens": ["<call>", "</call>"],
        "format": {
            "type": "tag",
            "begin": "<call>",
            "content": {"type": "json_schema", "json_schema": {"type": "string"}},
            "end": "</call>",
        },
    }
    specials = ("<call>", "</call>")
    index = index_of(tag, specials)
    assert accepts(index, '<call>"a"</call>', specials)
    guide = index.guide()
    assert guide.advance_many(list(b"<call>")) == 0
    guide.advance(256)
    assert guide.advance_many([*b'"a', 257]) == 2
    # A vocabulary without these tokens spells them.
    assert accepts(index_of(tag), '<call>"a"</call>')


def test_a_client_names_only_what_it_may():
    specials = ("<a>", "<role>", "</a>")
    vocab = vocabulary(*specials)
    any_text = {"type": "any_text"}
    named = [
        {"type": "token", "token": "<role>"},
        {"type": "token", "token": 257},
        {"type": "tag", "begin": {"type": "token", "token": "<role>"}, "content": any_text, "end": "x"},
        {"type": "tag", "begin": "x", "content": any_text, "end": {"type": "token", "token": "<role>"}},
        {"type": "token_dispatch", "rules": [["<role>", any_text]]},
        {"type": "grammar", "syntax": "lark", "grammar": "start: <role>"},
        {"type": "grammar", "syntax": "lark", "grammar": "start: <[256-257]>"},
        {"type": "grammar", "syntax": "lark", "grammar": "start: <[^256]>"},
    ]
    for tag in named:
        for whole in (tag, {"type": "sequence", "elements": [any_text, tag]}):
            assert interlock.Index.from_structural_tag(whole, vocab) is not None
            with pytest.raises(StructuralTagError, match="may not be named"):
                interlock.Index.from_structural_tag(whole, vocab, allowed_tokens=["<a>", 258])
    tagged = {"type": "tag", "begin": "<role>", "content": any_text, "end": "x"}
    with pytest.raises(StructuralTagError, match="may not be named"):
        whole = {"type": "structural_tag", "format": tagged, "special_tokens": ["<role>"]}
        interlock.Index.from_structural_tag(whole, vocab, allowed_tokens=["<a>"])
    # As text it is no token, and what stands in texts of a grammar is none either.
    index = interlock.Index.from_structural_tag(tagged, vocab, allowed_tokens=["<a>"])
    assert index.guide().advance_many(list(b"<role>ax")) == 8
    grammar = {"type": "grammar", "syntax": "lark", "grammar": 'start: "<role>" /<role>/ <a> // <role>'}
    interlock.Index.from_structural_tag(grammar, vocab, allowed_tokens=["<a>"])
    # Any other token is one of those that are allowed.
    for tag in (
        {"type": "exclude_token", "exclude_tokens": []},
        {"type": "any_tokens"},
        {"type": "any_tokens", "max_tokens": 3},
    ):
        guide = interlock.Index.from_structural_tag(tag, vocab, allowed_tokens=["<a>"]).guide()
        allowed = set(guide.allowed_token_ids().tolist())
        assert 256 in allowed and not {257, 258} & allowed, tag
    for value in (
        {"type": "structural_tag", "format": named[0]},
        {"structured_outputs": {"grammar": 'start: "a" <role>'}},
    ):
        with pytest.raises(StructuralTagError, match="may not be named"):
            interlock.Index.from_response_format(value, vocab, allowed_tokens=["<a>"])
    with pytest.raises(interlock.ArgumentError, match="no special token"):
        interlock.Index.from_structural_tag(any_text, vocab, allowed_tokens=["<b>"])


def test_servers_take_the_special_tokens_of_the_vocabulary_as_delimiters():
    from interlock.tools.tags.tag_index import index_of_structural_tag

    tag = {"type": "tag", "begin": "<call>", "content": {"type": "any_text"}, "end": "</call>"}
    specials = ("<call>", "</call>")
    index = index_of_structural_tag(tag, vocabulary(*specials), special_delimiters=True)
    assert accepts(index, "<call>a</call>", specials)
    assert index.guide().advance_many(list(b"<call>")) == 0


def test_tokens_and_token_triggers():
    specials = ("<a>", "<b>", "<c>")
    inner = {"type": "any_tokens", "exclude_tokens": ["<c>"]}
    tag = {
        "type": "token_triggered_tags",
        "trigger_tokens": ["<a>"],
        "tags": [
            {"begin": {"type": "token", "token": "<a>"}, "content": inner, "end": {"type": "token", "token": "<b>"}}
        ],
        "max_calls": 1,
    }
    index = index_of(tag, specials)
    for text, right in (("x<c>y", True), ("x<a>u<b>z", True), ("<a>u<c><b>", False), ("<a><b><a><b>", False)):
        assert accepts(index, text, specials) == right, text
    with pytest.raises(StructuralTagError) as caught:
        index_of({"type": "token", "token": "<z>"}, specials)
    assert caught.value.pointer == "/token"


def test_each_tool_once_and_bounds():
    tags = [{"begin": f"<{name}>", "content": {"type": "const_string", "value": ""}, "end": "."} for name in "xyz"]
    tag = {"type": "tags_with_separator", "tags": tags, "separator": ",", "unique": True, "min_calls": 2}
    index = index_of(tag)
    assert accepts(index, "<x>.,<z>.") and accepts(index, "<z>.,<x>.,<y>.")
    assert not accepts(index, "<x>.,<x>.") and not accepts(index, "<x>.")
    with pytest.raises(interlock.UnsupportedError, match="/unique"):
        index_of({**tag, "tags": [{**tags[0], "begin": f"<{number}>"} for number in range(9)]})


def test_excludes_stand_in_no_string_and_no_key():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    index = index_of({"type": "json_schema", "json_schema": schema, "excludes": ["<x>"]})
    assert accepts(index, '{"a": "<x", "b": ["x>"]}')
    for text in ('{"a": "<x>"}', '{"b": {"c": ["a<x>"]}}', '{"<x>": 1}'):
        assert not accepts(index, text)


def test_closed_reads_schemas_as_xgrammar_does():
    tag = {"type": "json_schema", "json_schema": {"properties": {"a": {"type": "integer"}}, "type": "object"}}
    assert accepts(index_of(tag), '{"b": 1}')
    assert not accepts(index_of(tag, closed=True), '{"b": 1}')


def test_members_in_any_order():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    tag = {"type": "json_schema", "json_schema": schema, "any_order": True}
    for style, one, other in (
        ("json", '{"a":1,"b":"x"}', '{"b":"x","a":1}'),
        (
            "qwen_xml",
            "<parameter=a>1</parameter><parameter=b>x</parameter>",
            "<parameter=b>x</parameter><parameter=a>1</parameter>",
        ),
    ):
        index = index_of({**tag, "style": style})
        assert accepts(index, one) and accepts(index, other)
    inside = index_of({"type": "tag", "begin": "<", "content": tag, "end": ">"})
    assert accepts(inside, '<{"b":"x","a":1}>') and not accepts(inside, '<{"b":"x"}>')


@pytest.mark.parametrize(
    ("syntax", "grammar"),
    [
        ("ebnf", 'root ::= "(" digits ("," digits)* ")" # a list\ndigits ::= [0-9]{1,2}'),
        ("gbnf", 'root ::= "(" d ("," d)* ")"\nd ::= [0-9] [0-9]?'),
        ("lark", 'start: "(" D ("," D)* ")"\nD: /[0-9]{1,2}/'),
    ],
)
def test_grammars_inside(syntax, grammar):
    content = {"type": "grammar", "grammar": grammar, "syntax": syntax}
    index = index_of({"type": "tag", "begin": "<g>", "content": content, "end": "</g>"})
    assert accepts(index, "<g>(1,23)</g>") and not accepts(index, "<g>(1,234)</g>")


@pytest.mark.parametrize(
    ("format", "pointer"),
    [
        ({"type": "regex", "pattern": "(a"}, "/pattern"),
        ({"type": "grammar", "grammar": "root ::= x"}, "/grammar"),
        ({"type": "grammar", "grammar": "start: x", "syntax": "lark"}, "/grammar"),
        (
            {"type": "json_schema", "json_schema": {"properties": {"a": {"type": 3}}}},
            "/json_schema/properties/a",
        ),
        (
            {"type": "star", "content": {"type": "json_schema", "json_schema": {"minLength": "x"}}},
            "/content/json_schema",
        ),
    ],
)
def test_mistakes_have_places(format, pointer):
    with pytest.raises(StructuralTagError) as caught:
        index_of(format)
    assert caught.value.pointer == pointer


def test_the_grammar_is_a_text():
    tag = {"type": "tag", "begin": 'a"\\\n', "content": {"type": "any_text"}, "end": "\x00é"}
    text = grammar_of(tag, vocabulary())
    assert accepts(interlock.Index.from_grammar(text, vocabulary(), lexer="any"), 'a"\\\nfree\x00é')


# --- response_format --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "good", "bad"),
    [
        ({"type": "text"}, "any\nthing", None),
        ({"type": "json_object"}, '{"a": 1}', "[]"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}}, "17", "x"),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "no", "maybe"),
        ({"guided_regex": "[0-9]+"}, "17", "x"),
        ({"guided_grammar": 'root ::= "a" | "b"'}, "b", "c"),
        ({"type": "structural_tag", "format": {"type": "const_string", "value": "t"}}, "t", "u"),
    ],
)
def test_response_formats(value, good, bad):
    index = interlock.Index.from_response_format(value, vocabulary())
    assert accepts(index, good)
    assert bad is None or not accepts(index, bad)


def test_vocabularies_without_some_single_bytes():
    """Free text leaves out the characters that the vocabulary cannot spell everywhere; every format compiles."""
    tokens = [bytes([b]) for b in range(256) if b not in (4, 0x1D, 0xF1)] + [b"a\x04b", b"ab", b""]
    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    ids = {token: i for i, token in enumerate(tokens)}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"s": {"type": "string"}}}}]
    for name in interlock.tools.format_names():
        interlock.Index.from_tools(tools, vocabulary, format=name)
    guide = interlock.Index.from_tools(tools, vocabulary, format="hermes").guide()
    assert guide.advance_many([ids[bytes([b])] for b in "text, é 😀\n".encode()]) == 14
    assert guide.try_advance(ids[b"ab"]) and not guide.try_advance(ids[b"a\x04b"])
    call = '<tool_call>\n{"name": "f", "arguments": {"s": "x"}}\n</tool_call>'
    assert guide.advance_many([ids[bytes([b])] for b in call.encode()]) == len(call)
    assert guide.is_accepting
    # Delimiters that cannot be spelled are an error.
    tag = {"type": "tag", "begin": "\x04", "content": {"type": "any_text"}, "end": "."}
    with pytest.raises(interlock.InterlockError, match="single byte"):
        interlock.Index.from_structural_tag(tag, vocabulary)


STRUCTURE = {"begin": "<b>", "schema": {"properties": {"q": {"type": "strin"}}}, "end": "</b>"}
LEGACY = {"structures": [{**STRUCTURE, "schema": {}}, STRUCTURE], "triggers": ["<b>"]}


def test_places_are_those_of_the_form_that_was_written(byte_vocabulary):
    whole = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"type": "strin"}}}
    calls = [
        (interlock.Index.from_structural_tag, LEGACY, "/structures/1/schema/properties/q"),
        (interlock.Index.from_response_format, LEGACY, "/structures/1/schema/properties/q"),
        (interlock.Index.from_structural_tag, {**LEGACY, "triggers": ["<c>"]}, "/structures/0/begin"),
        (interlock.Index.from_structural_tag, whole, "/format/json_schema"),
        (interlock.Index.from_structural_tag, whole["format"], "/json_schema"),
    ]
    for call, tag, place in calls:
        with pytest.raises(interlock.InterlockError) as caught:
            call(tag, byte_vocabulary)
        assert caught.value.pointer == place and str(caught.value).startswith(f"at {place}: ")
    slip = {**STRUCTURE, "schema": {"minLenth": 3}}
    with pytest.warns(interlock.UnknownKeywordWarning, match=r"\(at /structures/0/schema\)"):
        interlock.Index.from_structural_tag({**LEGACY, "structures": [slip]}, byte_vocabulary)
