"""Tokens of roles, which clients of a server may not name; and that no tool format needs one."""

import json
import random
import re
from pathlib import Path

import pytest

import interlock
import interlock.tools
from interlock.integrations.role_tokens import ROLE_TOKENS, nameable_tokens
from interlock.integrations.sglang._compiling import Compiler
from interlock.integrations.sglang._options import Options
from interlock.tools.notations.format_marks import marks_of
from interlock.tools.tokens.named_tokens import named_tokens

FORMATS = Path(interlock.tools.__file__).parent / "formats"


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b"<|im_start|>", b"<tool_call>", b"<|im_end|>"]
    return interlock.Vocabulary(tokens, 258, [256, 257])


@pytest.mark.parametrize(
    "call",
    [
        lambda v, **more: interlock.Index.from_tools([{"name": "f"}], v, format="hermes", **more),
        lambda v, **more: interlock.Index.from_response_format({"type": "json_object"}, v, **more),
        lambda v, **more: interlock.Index.from_response_format({"type": "text"}, v, **more),
    ],
)
def test_a_slip_in_allowed_tokens_shows_with_the_first_request(call, byte_vocabulary):
    """Also where the request names no token."""
    with pytest.raises(interlock.ArgumentError, match="the vocabulary has no special token '<x>'") as caught:
        call(byte_vocabulary, allowed_tokens=["<x>"])
    assert not caught.value.is_client_error
    call(byte_vocabulary, allowed_tokens=[])


def test_all_but_those_of_roles(vocabulary):
    assert nameable_tokens(vocabulary) == [257, 258]
    stops = interlock.Vocabulary([b"a", b"<|user|>", b"<|system|>"], [1], [2])
    assert nameable_tokens(stops) == [1]  # GLM's models end a turn with the next one's role.


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.toml")), ids=lambda path: path.stem)
def test_no_tool_format_writes_one(path):
    """Signatures find a format in a chat template; everything else is written, or is read."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(("signatures", "#"))]
    named = {token for token in ROLE_TOKENS if re.search(re.escape(token), "\n".join(lines))}
    assert named <= ALLOWED.get(path.stem, set()), named


#: Formats that a role's token is part of, which servers with this model must allow.
ALLOWED: dict[str, set[str]] = {}


def test_sglang_refuses_them(vocabulary):
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<|im_start|>"}}
    sources = (("structural_tag", json.dumps(tag)), ("ebnf", 'start: <|im_start|> "x"'))
    for kind, text in sources:
        with pytest.raises(interlock.StructuralTagError, match="may not be named"):
            Compiler(vocabulary, Options(), "flexible")._index(kind, text, None)
        allowed = Compiler(vocabulary, Options(role_tokens="allow"), "flexible")._index(kind, text, None)
        assert allowed.guide().try_advance(256)
    named = Compiler(vocabulary, Options(), "flexible")._index("ebnf", 'start: <tool_call> "x"', None)
    assert named.guide().try_advance(257)


#: What names ``<|im_start|>``, or "any token but", in every place where a client can.
NAMED = [
    {"type": "structural_tag", "format": {"type": "token", "token": "<|im_start|>"}},
    {"type": "structural_tag", "format": {"type": "token", "token": 256}},
    {"type": "structural_tag", "format": {"type": "grammar", "syntax": "gbnf", "grammar": "root ::= <[256]>"}},
    {"type": "structural_tag", "format": {"type": "grammar", "syntax": "lark", "grammar": "start: <|im_start|>"}},
    {
        "type": "structural_tag",
        "special_tokens": ["<|im_start|>"],
        "format": {"type": "const_string", "value": "<|im_start|>"},
    },
    *(
        {"type": "grammar", "syntax": syntax, "grammar": text}
        for syntax, text in (
            ("lark", "start: <|im_start|>"),
            ("lark", "start: <[ 255 - 256 ]>"),
            ("lark", "start: <[*]>"),
            ("lark", "start: <[^257]>"),
            # The end of a pattern over two lines, which begins another one for a hasty reader.
            ("lark", 'start: /a\n/x <|im_start|> "b" /c/'),
            ("gbnf", 'root ::= [^"] <|im_start|> ["]'),
            ("gbnf", "root ::= [#] <|im_start|>"),
            ("gbnf", 'root ::= "a" !<[257]>'),
            ("ebnf", "root ::= Token(256)"),
            ("ebnf", 'root ::= Token # (\n ("<|im_start|>")'),
            ("ebnf", 'root ::= Token("\\x3c|im_start|>")'),
            ("ebnf", "root ::= ExcludeToken(257)"),
            ("ebnf", 'root ::= TokenTagDispatch((257, a))\na ::= "b"'),
            ("ebnf", 'root ::= TokenTagDispatch(("<|im_start|>", a))\na ::= "b"'),
            ("ebnf", 'root ::= TokenTagDispatch((256, a), excludes=(257))\na ::= "b"'),
        )
    ),
]


@pytest.mark.parametrize("value", NAMED, ids=range(len(NAMED)))
def test_clients_may_not_name_them_unless_the_server_says_so(value, vocabulary):
    for allowed in (None, ["<tool_call>"], nameable_tokens(vocabulary)):
        with pytest.raises(interlock.StructuralTagError, match="may not be named") as caught:
            interlock.Index.from_response_format(value, vocabulary, allowed_tokens=allowed)
        assert caught.value.is_client_error and "allowed_tokens" not in caught.value.client_message
    for allowed in ("all", [256, 257, 258]):
        index = interlock.Index.from_response_format(value, vocabulary, allowed_tokens=allowed)
        guide = index.guide()
        guide.advance_many(guide.forced_tokens())
        while not guide.is_terminated and not guide.try_advance(256):
            guide.advance(int(guide.allowed_token_ids()[0]))
        assert 256 in guide.tokens
    # Tags and grammars of the program itself name what they like.
    if value["type"] == "structural_tag":
        interlock.Index.from_structural_tag(value, vocabulary)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "structural_tag", "format": {"type": "token", "token": "<tool_call>"}},
        {"type": "structural_tag", "format": {"type": "any_tokens", "exclude_tokens": ["<|im_start|>"]}},
        {"type": "structural_tag", "format": {"type": "exclude_token", "exclude_tokens": ["<|im_start|>"]}},
        {"type": "structural_tag", "format": {"type": "grammar", "syntax": "gbnf", "grammar": "root ::= !<[257]>"}},
        {"type": "grammar", "syntax": "lark", "grammar": 'start: "<|im_start|>" /<\\|im_start\\|>/ // <|im_start|>'},
        {"type": "grammar", "syntax": "lark", "grammar": "start: <[^256]>"},
        {"type": "grammar", "syntax": "gbnf", "grammar": "root ::= !<|im_start|>"},
        {"type": "grammar", "syntax": "ebnf", "grammar": 'root ::= ExcludeToken("<|im_start|>")'},
        {
            "type": "grammar",
            "syntax": "ebnf",
            "grammar": 'root ::= TokenTagDispatch((257, a), excludes=(256))\na ::= "b"',
        },
        {"type": "regex", "pattern": "<\\|im_start\\|>"},
    ],
    ids=range(10),
)
def test_excluding_one_and_spelling_its_text_is_no_naming(value, vocabulary):
    index = interlock.Index.from_response_format(value, vocabulary)
    interlock.check_response_format(value)
    assert 256 not in index.guide().allowed_token_ids()


def test_a_vocabulary_without_roles_has_nothing_to_refuse(byte_vocabulary):
    tokens = [bytes([i]) for i in range(256)] + [b"<tool_call>", b""]
    plain = interlock.Vocabulary(tokens, 257, [256])
    value = {"type": "grammar", "syntax": "lark", "grammar": "start: <[*]>"}
    assert interlock.Index.from_response_format(value, plain).guide().try_advance(256)


def test_custom_tools_may_not_name_them_unless_the_server_says_so(vocabulary):
    form = {"type": "grammar", "syntax": "lark", "definition": "start: <|im_start|>"}
    tools = [{"type": "custom", "name": "f", "format": form}]
    options = {"format": "glm_4_7", "tool_choice": "required"}
    for refuses in (
        lambda: interlock.Index.from_tools(tools, vocabulary, **options),
        lambda: interlock.check_tools(tools, **options),
        lambda: interlock.check_tools(tools, allowed_tokens=["<tool_call>"], **options),
    ):
        with pytest.raises(interlock.RequestError, match="may not be named") as caught:
            refuses()
        assert caught.value.pointer == "/tools/0/format/definition"
    interlock.Index.from_tools(tools, vocabulary, allowed_tokens="all", **options)
    interlock.check_tools(tools, allowed_tokens="all", **options)
    interlock.check_tools(tools, allowed_tokens=["<|im_start|>"], **options)
    interlock.check_tools(tools, allowed_tokens=[256], **options)  # It may be the id of this token.


def test_checks_know_them_by_their_texts():
    for value in (
        {"type": "structural_tag", "format": {"type": "token", "token": "<|im_start|>"}},
        {"type": "grammar", "syntax": "lark", "grammar": "start: <|im_start|>"},
        {"type": "grammar", "syntax": "gbnf", "grammar": "root ::= [#] <|im_start|>"},
        {"type": "grammar", "syntax": "ebnf", "grammar": 'root ::= Token("<|im_start|>")'},
    ):
        for allowed in (None, ["<tool_call>"]):
            with pytest.raises(interlock.StructuralTagError, match="may not be named"):
                interlock.check_response_format(value, allowed_tokens=allowed)
        for allowed in ("all", ["<|im_start|>"], [256]):
            interlock.check_response_format(value, allowed_tokens=allowed)
    # GLM's models end their turns with it: the vocabulary says whether a client may name it.
    interlock.check_response_format({"type": "structural_tag", "format": {"type": "token", "token": "<|user|>"}})


TEMPLATE = {
    "fields": {
        "content": {},
        "tool_calls": {
            "open_pattern": r"<call (?P<name>[^ ]+) ",
            "close": "</call>",
            "content": "json",
            "repeats": True,
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
    },
}


@pytest.mark.parametrize("format", ["hermes", "glm_4_7", "mistral", "qwen3_coder", "harmony", "apriel"])
def test_no_tool_is_named_like_a_delimiter(format, vocabulary, byte_vocabulary):
    """Inside of a JSON string too: readers look for the delimiter first."""
    form = interlock.tools.tool_format(format)
    for mark in marks_of(form):
        with pytest.raises(interlock.RequestError, match="contains") as caught:
            interlock.Index.from_tools([{"name": f"{mark}x"}], byte_vocabulary, format=format)
        assert repr(f"{mark}x") in caught.value.client_message and caught.value.is_client_error
    interlock.Index.from_tools([{"name": "tool_call"}], byte_vocabulary, format=format)


def test_names_that_are_escaped_hold_what_they_like(byte_vocabulary):
    name = "</cofl:tool_call>x"
    index = interlock.Index.from_tools([{"name": name}], byte_vocabulary, format="cohere_xml", tool_choice="required")
    written = interlock.tools.render("cohere_xml", [interlock.tools.Call(name)])
    assert [event.call.name for event in index.parse(written) if hasattr(event, "call") and event.call] == [name]


def test_no_tool_of_a_response_template_is_named_like_a_token(vocabulary):
    interlock.Index.from_tools([{"name": "f"}], vocabulary, format=TEMPLATE)
    with pytest.raises(interlock.RequestError, match="contains the special token '<|im_start|>'".replace("|", r"\|")):
        interlock.Index.from_tools([{"name": "f<|im_start|>"}], vocabulary, format=TEMPLATE)


COMMON = ['"', '"a"', "# c", "\n", "|", " ", "\\", '\\"', "[", "]", "(", ")"]
PIECES = {
    "lark": [*COMMON, "/", "/b/", "//", "x", "/x", '%json {"const": "', "}", "/[/]/", "@a/b"],
    "gbnf": [*COMMON, '[^"]', "[#]", "{2}", "!", "."],
    "ebnf": [*COMMON, '[^"]', "[#]", "{2}", 'Regex("a")', "ExcludeToken(1)"],
}
TOKEN = {"lark": "<|im_start|>", "gbnf": "<|im_start|>", "ebnf": 'Token("<|im_start|>")'}


@pytest.mark.parametrize("syntax", list(PIECES))
def test_what_a_grammar_names_is_what_its_reader_sees(syntax, byte_vocabulary):
    """The reader asks the vocabulary for every token that it sees; none may be hidden from the check."""
    generator = random.Random(5)
    begin = "start: " if syntax == "lark" else "root ::= "
    seen = 0
    for _ in range(4000):
        parts = [generator.choice(PIECES[syntax]) for _ in range(generator.randrange(9))]
        parts.insert(generator.randrange(len(parts) + 1), TOKEN[syntax])
        text = begin + " ".join(parts)
        try:
            interlock.Index.from_grammar(text, byte_vocabulary, syntax=syntax)
        except interlock.VocabularyError as error:
            if "im_start" in str(error):
                seen += 1
                assert any("<|im_start|>" in found.names for found in named_tokens(text, syntax)), text
        except interlock.InterlockError:
            pass
    assert seen > 100
