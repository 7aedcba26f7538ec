"""Grammars of clients are looked through before they are compiled: in linear time, and never beyond the limit.

A text below would take hours where a pattern looks at it again from each of its places.
"""

import pytest

import interlock
from interlock import grammar_syntax
from interlock.grammar_syntax import syntax_of
from interlock.tools.tags import tag_index
from interlock.tools.tokens.named_tokens import named_tokens

LENGTH = 300_000
VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b""], 257, [256])


@pytest.mark.parametrize(
    "unit", ["/\\/", '"\\"', "<[", "<a", "<", "[", "[\\]", "!<", "Token(", 'Token("', "-", ".", "\n", "a\n"]
)
def test_hostile_texts_take_linear_time(unit):
    text = "Token < ::=" + unit * (LENGTH // len(unit))
    for syntax in ("lark", "gbnf", "ebnf"):
        assert sum(1 for _ in named_tokens(text, syntax)) <= 1
    assert syntax_of(text) == "lark"
    assert syntax_of("root ::= " + text) in ("gbnf", "ebnf")


@pytest.mark.parametrize(
    ("text", "syntax", "names"),
    [
        ('root ::= "a" | <b <c>', "gbnf", [("<b <c>",)]),
        ('root ::= Token("a") | ExcludeToken("b")', "ebnf", [("a",), ("b",)]),
        ('root ::= Token (7, "a") "Token(" Token("<b>")', "ebnf", [("a",), ("<b>",)]),
        ('start: "\\"" <b> /\\/"/ <c>', "lark", [("<b>",), ("<c>",)]),
        ('root ::= "\\"" <b> ["\\]] <c>', "gbnf", [("<b>",), ("<c>",)]),
    ],
)
def test_every_named_token_is_seen(text, syntax, names):
    assert [found.names for found in named_tokens(text, syntax)] == names


def test_a_macro_inside_of_another_is_not_clear():
    (found,) = named_tokens('root ::= Token(Token("<|im_start|>"))', "ebnf")
    assert not found.is_clear


@pytest.mark.parametrize("unit", ["<[*]> ", "<a>", "a "])
def test_a_token_ends_the_look(unit):
    token = interlock.CancelToken()
    token.cancel()
    text = "root ::= " + unit * 10
    for look in (lambda: syntax_of(text, token), lambda: list(named_tokens(text + "<", "gbnf", token))):
        with pytest.raises(interlock.CancelledError):
            look()
    with pytest.raises(interlock.CancelledError) as caught:
        late = interlock.CancelToken.after(0)
        interlock.Index.from_response_format({"guided_grammar": text}, VOCABULARY, cancel=late)
    assert caught.value.is_deadline


@pytest.mark.parametrize("limits", [{"max_source_bytes": 10}, interlock.Limits(max_source_bytes=10)])
def test_a_text_beyond_the_limit_is_not_looked_through(monkeypatch, limits):
    def never(*_):
        raise AssertionError("the text is looked through")

    monkeypatch.setattr(grammar_syntax, "syntax_of", never)
    monkeypatch.setattr(tag_index, "check_grammar_tokens", never)
    request = {"guided_grammar": 'start: "aaa"'}
    for make in (
        lambda: interlock.Index.from_response_format(request, VOCABULARY, limits=limits),
        lambda: interlock.check_response_format(request, limits=limits),
    ):
        with pytest.raises(interlock.LimitError) as caught:
            make()
        assert caught.value.limit == 10


@pytest.mark.parametrize("syntax", ["gbnf", "ebnf"])
@pytest.mark.parametrize("end", ["[.-", "[.-\n", "[a-z", "[", "[^", "[^-", "[\\", "[a-\\"])
def test_a_class_that_the_text_ends_in(syntax, end):
    with pytest.raises(interlock.GrammarError):
        interlock.check_grammar('root ::= "a" | ' + end, syntax)
