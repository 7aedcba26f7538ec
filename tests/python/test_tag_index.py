"""Indexes of structural tags and tools, beside the slow matcher of tests/python/structural_tag_matcher.py."""

from __future__ import annotations

import functools
import random

import interlock
import pytest
from interlock.tools import Call, StructuralTagError, format_names, render, structural_tag, tool_format
from interlock.tools.tag_grammar import grammar_of

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs judges values")

from structural_tag_matcher import Matcher
from tool_call_parser import calls as calls_in

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
]
SCHEMAS = {tool["name"]: tool["parameters"] for tool in TOOLS}
ROME = Call("get_weather", {"city": "Rome", "days": 3})
NOW = Call("now")
FORMATS = format_names()


@functools.cache
def vocabulary(*specials):
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in specials] + [b""]
    first, end = 256, 256 + len(specials)
    return interlock.Vocabulary(tokens, eos_token_ids=[end], special_token_ids=list(range(first, end)))


def ids_of(text, specials=()):
    """The tokens of a text: special tokens wherever they stand, bytes elsewhere."""
    found, at = [], 0
    order = sorted(specials, key=len, reverse=True)
    while at < len(text):
        token = next((one for one in order if text.startswith(one, at)), None)
        found += [256 + specials.index(token)] if token else list(text[at].encode())
        at += len(token or text[at])
    return found


def text_of(ids, specials=()):
    return b"".join(bytes([one]) if one < 256 else specials[one - 256].encode() for one in ids).decode()


def accepts(index, text, specials=()):
    guide, ids = index.guide(), ids_of(text, specials)
    return guide.advance_many(ids) == len(ids) and guide.is_accepting


def index_of(tag, specials=(), **options):
    return interlock.Index.from_structural_tag(tag, vocabulary(*specials), **options)


def walk(index, seed, specials=(), most=160):
    """A random output under the masks, drawn towards an end; ``None`` where it did not come to one."""
    draw, guide, out = random.Random(seed), index.guide(), []
    for count in range(most):
        allowed = [int(one) for one in guide.allowed_token_ids() if one < 256 + len(specials)]
        if guide.is_accepting and (draw.random() < 0.3 or count > most // 2):
            return out
        plain = [one for one in allowed if 32 <= one < 127]
        closing = [one for one in plain if chr(one) in "\"'}])>/<,:"]
        special = [one for one in allowed if one >= 256]
        pool = next(
            (part for part, chance in ((special, 0.4), (closing, 0.5), (plain, 1)) if part and draw.random() < chance),
            allowed,
        )
        if not pool:
            return out if guide.is_accepting else None
        token = draw.choice(pool)
        guide.advance(token)
        out.append(token)
    return out if guide.is_accepting else None


# --- the tools of a request -----------------------------------------------------------------------------------------


def turn(format, calls, text="", reasoning=None):
    """A rendered turn, without what the prompt has written of it."""
    written, form = render(format, calls, text, reasoning), tool_format(format)
    if form.layout.kind == "blocks" and reasoning is None and form.reasoning.opened_by_prompt:
        return written.removeprefix(form.layout.text_begin)
    return written


@pytest.mark.parametrize("format", FORMATS)
def test_rendered_calls_are_accepted(format):
    specials = tuple(tool_format(format).special_tokens)
    for options in ({"tool_choice": "required"}, {}):
        index = interlock.Index.from_tools(TOOLS, vocabulary(*specials), format=format, **options)
        assert accepts(index, turn(format, [ROME, NOW]), specials)
        assert accepts(index, turn(format, [NOW]), specials)
        assert accepts(index, turn(format, [], "Sunny."), specials) == (not options)
        wrong = turn(format, [Call("get_weather", {"city": "Rome", "days": 3.5})])
        assert not accepts(index, wrong, specials) or not options  # in free text, what is no call may stand


@pytest.mark.parametrize("format", FORMATS)
def test_calls_are_complete_within_a_budget(format):
    specials = tuple(tool_format(format).special_tokens)
    index = interlock.Index.from_tools(TOOLS, vocabulary(*specials), format=format, tool_choice="required")
    least, draw = index.guide().min_tokens_to_finish(), random.Random(format)
    for most in (least, least + 5, least + 60):
        guide = index.guide(max_tokens=most)
        while not guide.is_terminated:
            allowed = [int(one) for one in guide.allowed_token_ids()]
            # What opens more, and long texts.
            pool = [one for one in allowed if one < 127 and chr(one) in '{[<"a'] or allowed
            guide.advance(draw.choice(pool if draw.random() < 0.8 else allowed))
        assert guide.num_tokens <= most + 1
        free = index.guide()
        assert free.advance_many(guide.tokens) == guide.num_tokens


@pytest.mark.parametrize("format", FORMATS)
def test_random_outputs_are_calls(format):
    specials = tuple(tool_format(format).special_tokens)
    tag = structural_tag(TOOLS, format=format, tool_choice="required")
    index = index_of(tag, specials)
    matcher, seen = Matcher(tag, specials), 0
    for seed in range(12):
        out = walk(index, seed, specials)
        if out is None:
            continue
        plain = bytes(one if one < 256 else 0 for one in out).decode()
        if any(text in plain for text in specials):
            continue  # the matcher cannot tell the bytes of a special token from the token
        text = text_of(out, specials)
        assert matcher.accepts(text), text
        if tool_format(format).layout.kind == "text":
            found = calls_in(format, text, SCHEMAS, exact=False)
            assert found, text
            assert all(jsonschema_rs.is_valid(SCHEMAS[call.name], call.arguments) for call in found), text
        seen += 1
        if seen >= 3:
            break


def test_requests_that_make_no_sense_are_errors():
    with pytest.raises(StructuralTagError):
        interlock.Index.from_tools(TOOLS, vocabulary(), format="hermes", tool_choice={"name": "gone"})
    with pytest.raises(interlock.tools.ToolFormatError):
        interlock.Index.from_tools(TOOLS, vocabulary(), format="hermse")


# --- structural tags against the matcher ----------------------------------------------------------------------------

ALPHABET = "ab<>"


def random_format(draw, depth=0):
    kinds = ["const_string", "regex", "any_text", "tag", "json"]
    if depth < 3:
        kinds += ["sequence", "or", "optional", "plus", "star", "repeat", "tag", "triggered", "separated", "dispatch"]
    kind = draw.choice(kinds)

    def inner():
        return random_format(draw, depth + 1)

    def text(least=1, most=2):
        return "".join(draw.choice(ALPHABET) for _ in range(draw.randint(least, most)))

    def tag():
        return {"type": "tag", "begin": text(1, 3), "content": inner(), "end": draw.choice([text(), [text(), text()]])}

    def counts():
        found = {}
        if draw.random() < 0.3:
            found["at_least_one"] = True
        if draw.random() < 0.2:
            found["stop_after_first"] = True
        elif draw.random() < 0.4:
            found["max_calls"] = draw.randint(1, 3)
        if draw.random() < 0.2:
            found["unique"] = True
        return found

    if kind == "const_string":
        return {"type": kind, "value": text(0, 3)}
    if kind == "regex":
        return {"type": kind, "pattern": draw.choice(["a+", "[ab]{1,2}", "(?:ab|<)*", "a?b"])}
    if kind == "any_text":
        found = {"type": kind, "excludes": [text() for _ in range(draw.randint(0, 2))]}
        return {**found, "max_chars": draw.randint(0, 4)} if draw.random() < 0.3 else found
    if kind == "json":
        return {"type": "json_schema", "json_schema": {"enum": ["a", 1, [1]]}}
    if kind in ("sequence", "or"):
        return {"type": kind, "elements": [inner() for _ in range(draw.randint(1, 3))]}
    if kind in ("optional", "plus", "star"):
        return {"type": kind, "content": inner()}
    if kind == "repeat":
        least = draw.randint(0, 2)
        return {"type": kind, "min": least, "max": least + draw.randint(0, 2), "content": inner()}
    if kind == "tag":
        return tag()
    tags = [tag() for _ in range(draw.randint(1, 2))]
    if kind == "separated":
        return {"type": "tags_with_separator", "tags": tags, "separator": draw.choice(["", "a", "<>"]), **counts()}
    if kind == "dispatch":
        return {"type": kind, "rules": [[text(2, 2), inner()]], "loop": draw.random() < 0.7}
    trigger = text(1, 2)
    for one in tags:
        one["begin"] = trigger + one["begin"]
    excludes = [text(2, 3)] if draw.random() < 0.2 else []
    return {"type": "triggered_tags", "triggers": [trigger], "tags": tags, "excludes": excludes, **counts()}


@pytest.mark.parametrize("seed", range(60))
def test_random_tags_agree_with_the_matcher(seed):
    draw = random.Random(seed)
    tag = {"type": "structural_tag", "format": random_format(draw)}
    try:
        matcher = Matcher(tag)
    except StructuralTagError:
        return  # parts that do not fit each other
    try:
        index = index_of(tag)
    except interlock.UnsatisfiableError:
        index = None
    texts = {"".join(draw.choice(ALPHABET + '"1[]') for _ in range(draw.randint(0, 7))) for _ in range(60)}
    if index is not None:
        outs = [walk(index, number, most=40) for number in range(6)]
        texts |= {bytes(out).decode() for out in outs if out is not None}
        for out in outs:
            if out:
                spot = draw.randrange(len(out))
                texts.add((bytes(out[:spot]) + bytes(out[spot + 1 :])).decode(errors="replace"))
    for text in sorted(texts):
        assert (index is not None and accepts(index, text)) == matcher.accepts(text), (tag, text)


def test_odd_vocabularies_and_masks_agree_with_steps():
    """Tokens that run over delimiters: a token is in the mask if and only if the guide takes it."""
    pieces = [b"<t>a", b"b</t", b">x<", b"</t>", b"<t><t>", b'{"a"', b'":1}</', b"t>", b"ab", b"<|e|>"]
    tokens = [bytes([byte]) for byte in range(256)] + pieces + [b""]
    last = len(tokens) - 1
    odd = interlock.Vocabulary(tokens, eos_token_ids=[last], special_token_ids=[last - 1])
    tag = {
        "type": "triggered_tags",
        "triggers": ["<t>"],
        "tags": [
            {"begin": "<t>a", "content": {"type": "any_text"}, "end": "</t>"},
            {"begin": "<t>", "content": {"type": "json_schema", "json_schema": {"type": "object"}}, "end": "</t>"},
        ],
        "stop_after_first": True,
    }
    index = interlock.Index.from_structural_tag(tag, odd)
    for seed in range(6):
        draw, guide = random.Random(seed), index.guide()
        for _ in range(12):
            allowed = {int(one) for one in guide.allowed_token_ids()} - {last}
            for token in range(last):
                if token >= 256 or token % 7 == seed or token in b'<>t/a{"':
                    probe = guide.fork()
                    assert (probe.advance_many([token]) == 1) == (token in allowed), (seed, tokens[token])
            if not allowed:
                break
            long = [token for token in sorted(allowed) if token >= 256]
            guide.advance(draw.choice(long if long and draw.random() < 0.6 else sorted(allowed)))


# --- what is particular -----------------------------------------------------------------------------------------------


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


def test_servers_take_the_special_tokens_of_the_vocabulary_as_delimiters():
    from interlock.tools.tag_index import index_of_structural_tag

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
    assert caught.value.pointer == "/format/token"


def test_each_tool_once_and_bounds():
    tags = [{"begin": f"<{name}>", "content": {"type": "const_string", "value": ""}, "end": "."} for name in "xyz"]
    tag = {"type": "tags_with_separator", "tags": tags, "separator": ",", "unique": True, "min_calls": 2}
    index = index_of(tag)
    assert accepts(index, "<x>.,<z>.") and accepts(index, "<z>.,<x>.,<y>.")
    assert not accepts(index, "<x>.,<x>.") and not accepts(index, "<x>.")
    with pytest.raises(interlock.UnsupportedError, match="/format/unique"):
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
        ({"type": "regex", "pattern": "(a"}, "/format/pattern"),
        ({"type": "grammar", "grammar": "root ::= x"}, "/format/grammar"),
        ({"type": "grammar", "grammar": "start: x", "syntax": "lark"}, "/format/grammar"),
        (
            {"type": "json_schema", "json_schema": {"properties": {"a": {"type": 3}}}},
            "/format/json_schema/properties/a",
        ),
        (
            {"type": "star", "content": {"type": "json_schema", "json_schema": {"minLength": "x"}}},
            "/format/content/json_schema",
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
