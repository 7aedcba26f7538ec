"""A grammar inside a structural tag means what it means as a whole grammar: what one refuses, the other does too."""

import random

import pytest

import interlock
from interlock import Index, StructuralTagError, UnsupportedError, Vocabulary, VocabularyError

NAMES = [b"<|a|>", b"<end>"]
VOCABULARY = Vocabulary([bytes([byte]) for byte in range(256)] + NAMES, eos_token_ids=[257], special_token_ids=[256])
ESCAPES = [
    *(f"\\{c}" for c in "nrtfvabe0dwsDWSpNUxu\\\"[]-^'/"),
    *("\\x4", "\\x41", "\\u0061", "\\u{61}", "\\u{110000}", "\\uD800", "\\U0001F600", "\\U00110000", "\\UFFFFFFFF"),
]
#: Grammars in which the two notations differ, or that once meant other things inside a tag.
GRAMMARS = [
    "root ::= .",
    'root ::= "a"{,2}',
    'root ::= "a"{ , 2}',
    'root ::= "a"{2,}',
    'root ::= "a"{2,1}',
    'root ::= ("a" | "b" "c"){ 1 , 2 } "d"{2}',
    "root ::= [a\nb]",
    '1a ::= "a"\nroot ::= 1a',
    'a.b ::= "a"\nroot ::= a.b',
    'a-b ::= "a"\nroot ::= a-b+',
    'root ::= Regex("a")',
    'root ::= Regex("^a.\\\\d$") "b"',
    'root ::= Regex("a.", flags="") | Regex("B", flags="i")',
    'root ::= Substring("a", "b", "a") "."',
    'root ::= "a" b ::= "b"',
    'root ::= "a" b\nb ::= "b"',
    'root ::= "a" |\n  "b"\n  | "c"\n  "d"',
    'root ::= "a"? ?',
    'root ::= ("a"*)+ (("b"?)?)*',
    'root ::= ("a" ("b" | "c")? | )+ ""',
    'root ::= ( ) "a" ()*',
    'root ::= "a" root | "b"',
    'root ::= root "a" | "b"',
    "root ::= [^a-z]",
    "root ::= [^]",
    "root ::= []",
    "root ::= [^\\x00-\\U0010FFFF]",
    "root ::= [a^-]+ [-a] [a-] [\\]] [\\\\^]",
    'root ::= "é" [ß-ü] "😀"',
    'root ::= "a" # "b"\n',
    "root ::= <|a|>",
    "root ::= !<|a|>",
    "root ::= <[256]> <[97]>",
    f"root ::= <[{'0' * 5_000}97]>",
    f"root ::= <[{'9' * 5_000}]>",
    'root ::= Token("<|a|>") Token(97, "<|a|>")+',
    "root ::= ExcludeToken(97, 98)",
    "root ::= ExcludeToken()",
    'root[temperature=0.5] ::= "a"',
    'root ::= "a"\nroot ::= "b"',
    'root ::= "a" b',
    'b ::= "a"',
    "",
    'root ::= "a',
    "root ::= 'a'",
    'root ::= ("a"',
    'root ::= "a")',
    'root : "a"',
    'root ::= "' + "(" * 100 + '"' + "(" * 50 + '"a"' + ")" * 50,
    "root ::= " + "(" * 3_000 + '"a"' + ")" * 3_000,
]
PIECES = [*'"()[]{}|*+?.,^-\\#\n 019ab', "::=", '"a"', "[a-c]", "{2}", "{1,2}", "root", "b", "<|a|>", '"b" |', "\\x61"]


def tag_of(grammar, syntax):
    return {"type": "structural_tag", "format": {"type": "grammar", "grammar": grammar, "syntax": syntax}}


def made(make):
    """An index, or the kind of error in its place."""
    try:
        return make()
    except StructuralTagError as error:
        assert error.pointer == "/format/grammar"
        return "GrammarError"
    except interlock.VocabularyError:
        return "GrammarError"  # There is no token of this name or number, which a tag says of its place.
    except interlock.InterlockError as error:
        return type(error).__name__


def takes(index, tokens):
    guide = index.guide()
    return guide.advance_many(tokens) == len(tokens) and guide.is_accepting


def both(grammar, syntax, texts=()):
    """The index of a grammar, after it was compared with that of the tag around it."""
    whole = made(lambda: Index.from_grammar(grammar, VOCABULARY, syntax=syntax))
    inside = made(lambda: Index.from_structural_tag(tag_of(grammar, syntax), VOCABULARY))
    shown = (syntax, grammar[:200], whole, inside)
    if isinstance(whole, str) or isinstance(inside, str):
        assert whole == inside, shown
        return None
    samples = [index.sample(seed, max_tokens=120) for index in (whole, inside) for seed in range(6)]
    for tokens in [*samples, *texts]:
        assert takes(whole, tokens) == takes(inside, tokens), (shown, tokens)
    return whole


def texts_of(rng, count=30):
    return [[*rng.choices([*b"aabbccd()^-\\ \n", 256], k=rng.randint(0, 6))] for _ in range(count)]


@pytest.mark.parametrize("syntax", ["ebnf", "gbnf"])
@pytest.mark.parametrize("grammar", GRAMMARS, ids=range(len(GRAMMARS)))
def test_a_tag_reads_what_a_grammar_reads(syntax, grammar):
    both(grammar, syntax, texts_of(random.Random(1), 60))


@pytest.mark.parametrize("syntax", ["ebnf", "gbnf"])
@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("form", ['root ::= "{}"', "root ::= [{}]+", "root ::= [^a{}]"])
def test_a_tag_reads_escapes_as_a_grammar_does(syntax, escape, form):
    grammar = form.format(escape if "]" not in form or escape[1] not in "-^" else "a" + escape)
    texts = [bytes([byte]) for byte in range(128)] + ["😀".encode(), escape[1:].encode(), b"aa"]
    both(grammar, syntax, [list(text) for text in [*texts, b"\\" + escape.encode()]])


@pytest.mark.parametrize("syntax", ["ebnf", "gbnf"])
@pytest.mark.parametrize("seed", range(8))
def test_mutations_of_grammars(syntax, seed):
    rng = random.Random(seed)
    short = [grammar for grammar in GRAMMARS if len(grammar) < 200 and both(grammar, syntax) is not None]
    compiled = 0
    for _ in range(150):
        grammar = rng.choice(short)
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randint(grammar.find("=") + 1, len(grammar))
            end = min(len(grammar), at + rng.choice([0, 0, 1, 3]))
            grammar = grammar[:at] + rng.choice(["", *PIECES]) + grammar[end:]
        compiled += both(grammar, syntax, texts_of(rng)) is not None
    assert compiled > 20


@pytest.mark.parametrize(
    ("grammar", "what"),
    [
        ('root ::= TagDispatch(("<a>", b))\nb ::= "b"', "TagDispatch"),
        ('root ::= TokenTagDispatch((256, b))\nb ::= "b"', "TokenTagDispatch"),
        ('root ::= b "a"\nb ::= [a-z] (= "a")', "look-ahead"),
        ('root ::= Regex("a", json_string=true)', "json_string"),
        ('root ::= "a" b\nb[lazy] ::= [a-z]+', "the attribute lazy"),
    ],
)
def test_what_a_whole_grammar_alone_may_have(grammar, what):
    Index.from_grammar(grammar, VOCABULARY, syntax="ebnf")
    with pytest.raises(UnsupportedError, match=f"at /format/grammar: line [12], column .*{what}.* in a whole grammar"):
        Index.from_structural_tag(tag_of(grammar, "ebnf"), VOCABULARY)


@pytest.mark.parametrize(
    ("grammar", "syntax", "words"),
    [
        ('root ::= "\\U00110000"', "ebnf", "line 1, column 11: this escape names no character"),
        (
            'root ::= "a"\n  <[97]>',
            "ebnf",
            "line 2, column 3: the character '<' means nothing here; special tokens are",
        ),
        ("root ::= <[x]>", "gbnf", "line 1, column 10: an id of a token is a number"),
        ("root ::= <|b|>", "gbnf", "line 1, column 10: the vocabulary has no special token '<|b|>'"),
        ('root ::= "\u20ac"\n | !<[999]>', "gbnf", "line 2, column 4: the vocabulary has no token 999"),
        ('root ::= "a" |\n  Token("<|b|>")', "ebnf", "line 2, column 3: the vocabulary has no special token '<|b|>'"),
        ('start: "a"\n  | b', "lark", 'line 2, column 5: "b" is used, but not defined'),
        ("root ::= a", "gbnf", "the rule 'a' is used, but not defined"),
    ],
)
def test_the_place_of_what_is_wrong(grammar, syntax, words):
    with pytest.raises(StructuralTagError) as caught:
        Index.from_structural_tag(tag_of(grammar, syntax), VOCABULARY)
    assert caught.value.pointer == "/format/grammar" and caught.value.reason.startswith(words)


def test_a_token_that_the_vocabulary_has_not_is_told_in_its_line():
    """Of a grammar in Lark's notation, which is compiled as a part of another one, the line is its own."""
    for grammar in ('start: "a"\n | "b" <|b|>', 'start: "a"\n | "b" <[999]>'):
        with pytest.raises(VocabularyError, match="at /format/grammar: line 2, column 8: ") as caught:
            Index.from_structural_tag(tag_of(grammar, "lark"), VOCABULARY)
        assert caught.value.pointer == "/format/grammar"
