"""Indexes of structural tags and tools, beside the slow matcher of tests/python/support/structural_tag_matcher.py.

``python tests/python/structural_tags/test_tag_index.py 2000`` compares so many random tags over odd vocabularies.
"""

from __future__ import annotations

import random

import interlock
import pytest
from interlock.tools import Call, RequestError, StructuralTagError, render, structural_tag, tool_format

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs judges values")

from structural_tag_matcher import Matcher
from tag_index_walks import FORMATS, NOW, ROME, SCHEMAS, TOOLS, accepts, index_of, text_of, vocabulary, walk
from tool_call_parser import calls as calls_in

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


#: JSON has no such keys, and ``json.dumps`` would write each as a text.
ODD_KEYS = [
    ({"properties": {"a": {"properties": {1: {"type": "string"}}}}}, "/properties/a/properties", "the key 1 is int"),
    ({"properties": {None: {}}}, "/properties", "the key None is NoneType"),
    ({"properties": {"a": {"enum": [1, {True: 1}]}}}, "/properties/a/enum/1", "the key True is bool"),
]


@pytest.mark.parametrize(("schema", "inner", "said"), ODD_KEYS)
def test_a_key_that_is_no_text_is_an_error_with_its_place(schema, inner, said):
    for format in ("hermes", "qwen3_coder", "pythonic", "gemma_4"):
        tools = [
            {"name": "now"},
            {"type": "function", "function": {"name": "f", "parameters": {"type": "object", **schema}}},
        ]
        place = f"/tools/1/function/parameters{inner}"
        asked = (
            lambda: interlock.check_tools(tools, format=format),  # noqa: B023
            lambda: interlock.Index.from_tools(tools, vocabulary(), format=format),  # noqa: B023
            lambda: structural_tag(tools, format=format),  # noqa: B023
        )
        for ask in asked:
            with pytest.raises(RequestError) as caught:
                ask()
            assert (caught.value.pointer, said in str(caught.value)) == (place, True), format
    for kind in ("json_schema", "qwen_xml_parameter"):
        content = {"type": kind, "json_schema": {"type": "object", **schema}}
        for tag in (content, {"type": "sequence", "elements": [content]}):
            place = ("/json_schema" if tag is content else "/elements/0/json_schema") + inner
            for ask in (
                interlock.check_structural_tag,
                lambda tag: interlock.Index.from_structural_tag(tag, vocabulary()),
            ):
                with pytest.raises(StructuralTagError) as caught:
                    ask(tag)
                assert (caught.value.pointer, said in str(caught.value)) == (place, True), kind


def test_a_schema_that_contains_itself_is_an_error():
    schema = {"type": "object"}
    schema["properties"] = {"a": schema}
    for format in ("hermes", "qwen3_coder"):
        with pytest.raises(interlock.LimitError) as caught:
            interlock.check_tools([{"name": "f", "parameters": schema}], format=format)
        assert caught.value.pointer == "/tools/0/parameters"


def test_requests_that_make_no_sense_are_errors():
    with pytest.raises(RequestError):
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

    def pattern():
        return {"type": "regex", "pattern": draw.choice(["a+>", "<b?>", "(?:ab|>)", "[<>]b"])}

    def tag(begin=None):
        if begin is None:
            begin = pattern() if draw.random() < 0.15 else text(1, 3)
        end = draw.choice([text(), [text(), text()]])
        if draw.random() < 0.2:
            end = draw.choice(
                [pattern(), {"type": "sequence", "elements": [pattern(), {"type": "const_string", "value": "a"}]}]
            )
        return {"type": "tag", "begin": begin, "content": inner(), "end": end}

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
        if draw.random() < 0.2:
            found["excludes"].append(draw.choice([pattern(), {"type": "regex", "pattern": "^[a<]"}]))
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
    if kind == "separated":
        tags = [tag() for _ in range(draw.randint(1, 2))]
        separator = draw.choice(["", "a", "<>", ["a", "b>"]])
        return {"type": "tags_with_separator", "tags": tags, "separator": separator, **counts()}
    tags = [tag(text(1, 3)) for _ in range(draw.randint(1, 2))]
    if kind == "dispatch":
        return {"type": kind, "rules": [[text(2, 2), inner()]], "loop": draw.random() < 0.7}
    trigger = text(1, 2)
    for one in tags:
        one["begin"] = trigger + one["begin"]
    excludes = [text(2, 3)] if draw.random() < 0.2 else []
    return {"type": "triggered_tags", "triggers": [trigger], "tags": tags, "excludes": excludes, **counts()}


def check_odd_vocabulary(seed, walks=4, steps=6):
    """A random tag over a vocabulary of odd tokens: what the mask allows, what the guide takes and what the matcher
    accepts. How many states were looked at."""
    draw = random.Random(f"odd {seed}")
    tag = {"type": "structural_tag", "format": random_format(draw)}
    pieces = ["".join(draw.choice(ALPHABET) for _ in range(draw.randint(2, 4))) for _ in range(8)]
    tokens = [bytes([byte]) for byte in range(256)] + [piece.encode() for piece in pieces] + [b""]
    last = len(tokens) - 1
    try:
        matcher = Matcher(tag)
        index = interlock.Index.from_structural_tag(tag, interlock.Vocabulary(tokens, eos_token_ids=[last]))
    except (StructuralTagError, interlock.UnsatisfiableError):
        return 0
    alphabet = [ord(char) for char in ALPHABET + '"1[]'] + list(range(256, last))
    states = 0
    for _ in range(walks):
        guide = index.guide()
        for _ in range(steps):
            allowed = set(guide.allowed_token_ids().tolist())
            states += 1
            text = b"".join(tokens[token] for token in guide.tokens).decode(errors="replace")
            assert (last in allowed) == matcher.accepts(text), (tag, text)
            for token in alphabet:
                assert guide.fork().try_advance(token) == (token in allowed), (tag, pieces, text, token)
            long = [token for token in allowed if 256 <= token < last]
            some = [token for token in alphabet if token in allowed]
            if not some:
                break
            guide.advance(draw.choice(long if long and draw.random() < 0.6 else some))
    return states


@pytest.mark.parametrize("seed", range(40))
def test_odd_vocabularies(seed):
    check_odd_vocabulary(seed)


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


if __name__ == "__main__":
    import sys

    total = sum(check_odd_vocabulary(seed) for seed in range(1000, 1000 + int(sys.argv[1])))
    print(total, "states")
