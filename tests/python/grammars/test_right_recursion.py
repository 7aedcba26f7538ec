"""Rules that go on with themselves at their end: masks cost no more behind a long text than behind a short one."""

import pytest

import interlock
from interlock.explain import byte_vocabulary

VOCABULARY = byte_vocabulary()
ITEM = 'item: "(" item ")" | "x"\n'
IDIOMS = {
    "a list": ('start: item "," start | item\n' + ITEM, "(x),"),
    "an option": ("start: (item start)?\n" + ITEM, "(x)"),
    "an option at the end": ('start: item ("," start)?\n' + ITEM, "(x),"),
    "more in the option": ('start: item ("," item)* (";" start)?\n' + ITEM, "(x),x;"),
    "two rules in turn": ('start: "x" b |\nb: "y" start | item b\n' + ITEM, "xxy"),
    "blanks": ('start: "[" blanks "]"\nblanks: (/[ \\t]/ blanks)?\n', "[ \t"),
    "blocks": ('start: block? next\nblock: "{" start "}"\nnext: "i" start | ";"\n', "{;}i"),
}


@pytest.mark.parametrize("lexer", ["any", "dynamic", "contextual"])
@pytest.mark.parametrize("idiom", IDIOMS)
def test_masks_behind_a_long_text_cost_nothing(idiom, lexer):
    grammar, unit = IDIOMS[idiom]
    first, unit = (unit[0], unit[1:]) if unit[0] == "[" else ("", unit)
    index = interlock.Index.from_grammar(grammar, VOCABULARY, lexer=lexer, limits={"max_mask_steps": 2_000})
    guide = index.guide()
    assert guide.advance_many((first + unit * 20).encode()) == len(first + unit * 20)
    expected = {}
    for count in range(300):
        for at, token in enumerate(unit.encode()):
            allowed = guide.allowed_token_ids().tolist()
            assert expected.setdefault(at, allowed) == allowed, (count, at)
            guide.advance(token)
