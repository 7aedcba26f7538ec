"""Added tokens that are markup, as both servers' plug-ins keep them out of text."""

from types import SimpleNamespace

from interlock.integrations.markup_tokens import markup_token_ids

TOKENS = {
    0: ("</think>", False),
    1: ("<|im_start|>", True),
    2: ("   ", False),
    3: ("<｜tool▁calls▁begin｜>", False),
    4: ("[TOOL_CALLS]", False),
    5: ("hello", False),
    6: ("@@end", False),
    7: ("<", False),
    8: ("user", False),
    9: ("<>", False),
    10: ("to=functions.", False),
}
ADDED = {i: SimpleNamespace(content=text, special=special) for i, (text, special) in TOKENS.items()}


def tokenizer(template=None):
    return SimpleNamespace(added_tokens_decoder=ADDED, chat_template=template)


def test_markup_is_told_from_text():
    # What is special is known already; words and blanks are text even where the template names them.
    assert markup_token_ids(tokenizer("{{ message }}@@end user hello    < <>")) == [0, 3, 4, 6]
    assert markup_token_ids(tokenizer({"default": "@@end", "tools": "to=functions.x"})) == [0, 3, 4, 6, 10]
    assert markup_token_ids(tokenizer()) == [0, 3, 4]


def test_other_texts_of_a_server_are_looked_through_too():
    assert markup_token_ids(tokenizer("@@end"), ["a mark to=functions.f"]) == [0, 3, 4, 6, 10]


def test_tokenizers_without_added_tokens_have_none():
    assert markup_token_ids(object()) == [] and markup_token_ids(SimpleNamespace(added_tokens_decoder=None)) == []
