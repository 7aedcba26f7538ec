"""Escapes of EBNF and GBNF inside a structural tag mean what they mean in a whole grammar."""

import pytest

from interlock import GrammarError, Index, StructuralTagError, Vocabulary

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"<end>"], eos_token_ids=[256])
ESCAPES = [
    *(f"\\{c}" for c in "nrtfvabe0dwsDWSpNUxu\\\"[]-^'/"),
    *("\\x4", "\\x41", "\\u0061", "\\u{61}", "\\u{110000}", "\\uD800", "\\U0001F600", "\\U00110000", "\\UFFFFFFFF"),
]


def texts_of(make, texts):
    try:
        index = make()
    except (GrammarError, StructuralTagError):
        return None
    found = []
    for text in texts:
        guide = index.guide()
        if guide.advance_many(list(text)) == len(text) and guide.is_accepting:
            found.append(text)
    return found


@pytest.mark.parametrize("syntax", ["ebnf", "gbnf"])
@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("form", ['root ::= "{}"', "root ::= [{}]+"])
def test_a_tag_reads_escapes_as_a_grammar_does(syntax, escape, form):
    grammar = form.format(escape) if "]" not in form or escape[1] not in "-^" else form.format("a" + escape)
    texts = [bytes([byte]) for byte in range(128)] + [
        "😀".encode(),
        escape[1:].encode(),
        b"aa",
        b"\\" + escape.encode(),
    ]
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": grammar, "syntax": syntax}}
    whole = texts_of(lambda: Index.from_grammar(grammar, BYTES, syntax=syntax), texts)
    assert texts_of(lambda: Index.from_structural_tag(tag, BYTES), texts) == whole


def test_the_place_of_an_escape_that_names_no_character():
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": 'root ::= "\\U00110000"'}}
    with pytest.raises(StructuralTagError, match=r"the escape \\U00110000 in the grammar names no character") as caught:
        Index.from_structural_tag(tag, BYTES)
    assert caught.value.pointer == "/format/grammar"


def test_the_number_of_a_token_may_have_any_length():
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": f"root ::= <[{'9' * 5_000}]>"}}
    with pytest.raises(StructuralTagError, match="more than 20 digits"):
        Index.from_structural_tag(tag, BYTES)
    tag["format"]["grammar"] = f"root ::= <[{'0' * 5_000}65]>"
    index = Index.from_structural_tag(tag, BYTES)
    guide = index.guide()
    assert guide.advance_many([65]) == 1 and guide.is_accepting
