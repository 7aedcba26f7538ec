"""Indexes of grammars: everything a guide does works on them as on patterns and schemas."""

import copy
import pickle
import threading

import numpy as np
import pytest

import interlock

EOS = 256

GRAMMAR = """
start: statement (";" statement)*
statement: NAME "=" sum | "if" sum "then" statement
sum: sum "+" product | product
product: product "*" atom | atom
atom: NUMBER | NAME | "(" sum ")"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore /[ \\n]+/
"""
TEXT = b"a = 1 + (b * 22) ; if x then y = 3"
LEXERS = ["any", "dynamic", "contextual"]


@pytest.fixture(params=LEXERS)
def index(request, byte_vocabulary):
    return interlock.Index.from_grammar(GRAMMAR, byte_vocabulary, lexer=request.param)


def mask_of(guide):
    row = interlock.allocate_bitmask(1, guide.index.vocabulary.size)
    guide.fill_bitmask(row)
    return np.array(row)[0].tolist()


def test_a_text_is_read_to_its_end(index):
    guide = index.guide()
    for byte in TEXT:
        assert byte in guide.allowed_token_ids()
        guide.advance(byte)
    assert guide.is_accepting and EOS in guide.allowed_token_ids()
    guide.advance(EOS)
    assert guide.is_terminated


def test_refused_tokens_change_nothing(index):
    guide = index.guide()
    guide.advance_many(TEXT[:9])
    before, state = mask_of(guide), guide.state
    for byte in range(256):
        if byte not in guide.allowed_token_ids():
            assert not guide.try_advance(byte)
            with pytest.raises(interlock.TokenRejected):
                guide.advance(byte)
    assert mask_of(guide) == before and guide.state == state and guide.num_tokens == 9


def test_rollback_to_every_depth(index):
    guide = index.guide()
    masks = []
    for byte in TEXT:
        masks.append(mask_of(guide))
        guide.advance(byte)
    for back in range(1, len(TEXT) + 1):
        again = guide.fork()
        again.rollback(back)
        assert mask_of(again) == masks[len(TEXT) - back]
        assert again.advance_many(TEXT[len(TEXT) - back :]) == back
        assert again.is_accepting and again.state == guide.state


def test_forks_are_apart(index):
    guide = index.guide()
    guide.advance_many(b"a = ")
    for make in (lambda g: g.fork(), copy.copy, copy.deepcopy):
        fork = make(guide)
        fork.advance_many(b"1+1")
        assert guide.num_tokens == 4 and fork.num_tokens == 7
        assert guide.advance_many(b"(b)") == 3
        guide.rollback(3)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(index, protocol):
    again = pickle.loads(pickle.dumps(index, protocol))
    assert again.fingerprint == index.fingerprint and again.vocabulary == index.vocabulary
    guide = index.guide()
    guide.advance_many(TEXT[:12])
    back = pickle.loads(pickle.dumps(guide, protocol))
    assert back.tokens == guide.tokens and back.state == guide.state and mask_of(back) == mask_of(guide)


@pytest.mark.usefixtures("compiled_anew")
def test_save_and_load(index, byte_vocabulary, word_vocabulary, tmp_path):
    index.save(tmp_path / "index")
    again = interlock.Index.load(tmp_path / "index", byte_vocabulary)
    assert again.fingerprint == index.fingerprint
    guide = again.guide()
    assert guide.advance_many(TEXT) == len(TEXT) and guide.is_accepting
    again.save(tmp_path / "same")
    assert (tmp_path / "index").read_bytes() == (tmp_path / "same").read_bytes()
    with pytest.raises(interlock.ArtifactError):
        interlock.Index.load(tmp_path / "index", word_vocabulary)


def test_options_are_kept(byte_vocabulary, tmp_path):
    index = interlock.Index.from_grammar(
        "root: word+\n%import words.word", byte_vocabulary, start="root", imports={"words.lark": 'word: "x" | "y"'}
    )
    index.save(tmp_path / "index")
    for again in (interlock.Index.load(tmp_path / "index", byte_vocabulary), pickle.loads(pickle.dumps(index))):
        assert again == index and again.fingerprint == index.fingerprint
        assert again.guide().advance_many(b"xyz") == 2


def test_lexers_have_fingerprints_of_their_own(byte_vocabulary):
    made = [interlock.Index.from_grammar(GRAMMAR, byte_vocabulary, lexer=lexer) for lexer in LEXERS]
    assert len({index.fingerprint for index in made}) == 3
    default = interlock.Index.from_grammar(GRAMMAR, byte_vocabulary)
    spelled = interlock.Index.from_grammar(GRAMMAR, byte_vocabulary, lexer="dynamic", start="start")
    assert default.fingerprint == spelled.fingerprint


def test_rules_for_numbers(byte_vocabulary):
    def accepted(grammar, text):
        guide = interlock.Index.from_grammar(grammar, byte_vocabulary).guide()
        return guide.advance_many(list(text.encode())) == len(text) and guide.is_accepting

    permutation = r"""
    start: perm::0x0 "Y"
    perm::_ : "X"                  %if is_ones([0:3])
            | a perm::set_bit(0)   %if bit_clear(0)
            | "b" perm::set_bit(1) %if bit_clear(1)
            | "c" perm::set_bit(2) %if bit_clear(2)
    a: "a"
    """
    assert all(accepted(permutation, text) for text in ("abcXY", "cbaXY", "bacXY"))
    assert not any(accepted(permutation, text) for text in ("XY", "abXY", "aabcXY", "abcY"))
    counted = r"""
    start: up::0 "X"
    up::_   : "a" up::incr(_)   %if lt(_, 6)
            | down::_
    down::_ : "b" down::decr(_) %if gt(_, 0)
            | ""
    """
    assert all(accepted(counted, text) for text in ("X", "aX", "aabbX", "aaaaaabX"))
    assert not any(accepted(counted, text) for text in ("bX", "abbX", "aaaaaaaX"))
    picked = r"""
    start: p::0
    p::_ : "."               %if and(bit_count_ge(_, 1), not(bit_count_eq([0:2], 2)))
         | "a" p::set_bit(0)
         | "b" p::set_bit(1)
    """
    assert (
        accepted(picked, "aa.") and accepted(picked, "b.") and not accepted(picked, "ab.") and not accepted(picked, ".")
    )
    with pytest.raises(interlock.LimitError):
        interlock.Index.from_grammar(
            'start: a::0\na::_ : "a" a::incr(_) | "b"', byte_vocabulary, limits={"max_rules": 50}
        )


def test_allowed_escapes(byte_vocabulary):
    grammar = 'start: %json {"type": "object", "x-guidance": {"json_allowed_escapes": "n"}}'
    index = interlock.Index.from_grammar(grammar, byte_vocabulary)
    for text, expected in (
        (r'{"\n": ["é\n"]}', True),
        (r'{"\t": 1}', False),
        (r'{"a": "\u001e"}', False),
        (r'{"a": {"b": "\""}}', False),
    ):
        guide = index.guide()
        data = list(text.encode())
        assert (guide.advance_many(data) == len(data) and guide.is_accepting) == expected, text


def test_forced(byte_vocabulary):
    guide = interlock.Index.from_grammar('start: "select " ("one" | "only")', byte_vocabulary).guide()
    assert guide.forced_bytes() == b"select on" and guide.forced_text() == "select on"
    for token in guide.forced_tokens():
        guide.advance(token)
    guide.reset()
    guide.advance_many(b"select onl")
    assert guide.forced_bytes() == b"y"
    guide.advance(ord("y"))
    assert guide.forced_bytes() == b"" and guide.must_stop


def test_drafts(index):
    guide = index.guide()
    guide.advance_many(TEXT[:6])
    draft = [*TEXT[6:12]]
    rows = interlock.allocate_bitmask(len(draft) + 1, index.vocabulary.size)
    guide.fill_draft_bitmasks(draft, rows)
    assert guide.num_tokens == 6
    for row in np.array(rows):
        assert row.tolist() == mask_of(guide)
        if guide.num_tokens - 6 < len(draft):
            guide.advance(draft[guide.num_tokens - 6])


def test_batches(index):
    guides = [index.guide() for _ in range(8)]
    for number, guide in enumerate(guides):
        guide.advance_many(TEXT[: number * 3])
    rows = interlock.allocate_bitmask(8, index.vocabulary.size)
    interlock.fill_bitmasks(guides, rows)
    assert [row.tolist() for row in np.array(rows)] == [mask_of(guide) for guide in guides]
    taken = interlock.advance_each(guides, [TEXT[number * 3] for number in range(8)])
    assert list(taken) == [1] * 8


def test_threads(index):
    expected, guide = [], index.guide()
    for byte in TEXT:
        expected.append(mask_of(guide))
        guide.advance(byte)
    wrong = []

    def walk():
        guide = index.guide()
        for byte, mask in zip(TEXT, expected, strict=True):
            if mask_of(guide) != mask:
                wrong.append(byte)
            guide.advance(byte)

    threads = [threading.Thread(target=walk) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_counted(index):
    guide = index.guide()
    guide.advance_many(TEXT)
    assert index.memory_bytes > 0 and index.num_states > 0
    assert index.report == []
    assert index.kind == "grammar" and index.source == GRAMMAR
    assert hash(index) == hash(pickle.loads(pickle.dumps(index)))


def test_explain_names_what_may_come(index):
    guide = index.guide()
    guide.advance_many(b"a = ")
    assert "*" in guide.explain(ord("*"))


def test_questions_about_the_language_are_refused(index):
    for question in (index.language_size, index.automaton):
        with pytest.raises(interlock.UnsupportedError, match="of a grammar, which has no finite automaton"):
            question()


@pytest.mark.parametrize(
    ("grammar", "error"),
    [
        ("start: x", "GrammarError"),
        ("start: A B\nA: /a+/\nB: /ab/", "UnsatisfiableError"),
        ("start: " + "(" * 100_000 + '"a"' + ")" * 100_000, "LimitError"),
        ("start: a\na: a", "UnsatisfiableError"),
        ("", "GrammarError"),
        ("start: <[9999]>", "VocabularyError"),
    ],
)
def test_bad_grammars_are_typed_errors(byte_vocabulary, grammar, error):
    with pytest.raises(getattr(interlock, error)):
        interlock.Index.from_grammar(grammar, byte_vocabulary)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"lexer": "greedy"}, interlock.ArgumentError, 'lexer must be one of .*, not "greedy"'),
        ({"syntax": "yacc"}, interlock.ArgumentError, 'syntax must be one of .*, not "yacc"'),
        ({"start": "nowhere"}, interlock.GrammarError, 'there is no rule "nowhere" to start with'),
    ],
)
def test_unknown_options(byte_vocabulary, options, error, said):
    with pytest.raises(error, match=said):
        interlock.Index.from_grammar(GRAMMAR, byte_vocabulary, **options)


def test_compile_cache(byte_vocabulary):
    first = interlock.Index.from_grammar(GRAMMAR, byte_vocabulary)
    assert interlock.Index.from_grammar(GRAMMAR, byte_vocabulary) == first


def test_special_tokens(word_vocabulary):
    special = word_vocabulary.special_token_ids[0]
    index = interlock.Index.from_grammar(f'start: ("yes" <[{special}]>)+ "no"', word_vocabulary)
    guide = index.guide()
    assert special not in guide.allowed_token_ids()
    guide.advance_many(b"yes")
    assert guide.allowed_token_ids().tolist() == [special]
    assert guide.forced_bytes() == b""
    guide.advance(special)
    guide.rollback(1)
    guide.advance(special)
    assert guide.advance_many(b"no") == 2 and guide.must_stop


def test_what_no_token_holds_is_never_written():
    """Many vocabularies lack control characters. Texts of any characters are those that the vocabulary can write."""
    tokens = [bytes([i]) if i not in (4, 0xF1) else b"" for i in range(256)] + [b""]
    lacking = interlock.Vocabulary(tokens, eos_token_ids=[256])
    guide = interlock.Index.from_grammar('start: "(" start ")" | /[^()]*/', lacking, lexer="any").guide()
    allowed = set(guide.allowed_token_ids().tolist())
    assert {5, 0xED, 0xF0, 0xF2} <= allowed and not {4, 0xF1} & allowed
    text = "(\x05\ud7ff\ue000\U0003ffff)".encode()
    assert guide.advance_many(text) == len(text) and guide.must_stop
    assert interlock.Index.from_grammar('start: "(" start ")" | /\\x04|b/', lacking).guide().advance_many(b"(b)") == 3
    with pytest.raises(interlock.UnsatisfiableError):
        interlock.Index.from_grammar('start: "(" start ")" | /\\x04/', lacking)
    # A byte that longer tokens hold may lead to a place that no token leads out of.
    longer = interlock.Vocabulary([*tokens, b"a\x04"], eos_token_ids=[256])
    with pytest.raises(interlock.VocabularyError, match="0x04"):
        interlock.Index.from_grammar('start: "(" start ")" | /[^()]*/', longer, lexer="any")


@pytest.mark.parametrize("lexer", ["dynamic", "contextual"])
@pytest.mark.parametrize(
    "rules",
    [
        "start: | X* T B",
        "start: | (X X)+ T B",
        "start: | s T B\ns: s X | X",
        "start: | X s\ns: X s | T B",
        "start: | (X T B)+",
        'start: | "y" s\ns: X s',
    ],
)
def test_alternatives_that_never_end_are_not_begun(byte_vocabulary, rules, lexer):
    """``T`` always takes the text of ``B`` behind it. What goes on to that pair for ever is no way to an end."""
    grammar = rules + '\nX: "x"\nB: "bb"\nT: /[ab]+/\n'
    guide = interlock.Index.from_grammar(grammar, byte_vocabulary, syntax="lark", lexer=lexer).guide()
    assert list(guide.allowed_token_ids()) == [256]


@pytest.mark.parametrize("lexer", ["dynamic", "contextual"])
@pytest.mark.parametrize(
    "rules",
    ["start: | <|x|> T B", "start: | <|x|> s\ns: X s | T B", "start: | (<|x|> X)+ T B", "start: X | X <|x|> <|y|> T B"],
)
def test_special_tokens_that_lead_to_no_end_are_refused(rules, lexer):
    """A mask allows a special token only if the output can be completed behind it, as advancing does."""
    tokens = [bytes([i]) for i in range(256)] + [b"", b"<|x|>", b"<|y|>"]
    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[EOS], special_token_ids=[257, 258])
    grammar = rules + '\nX: "x"\nB: "bb"\nT: /[ab]+/\n'
    guide = interlock.Index.from_grammar(grammar, vocabulary, syntax="lark", lexer=lexer).guide()
    if rules.startswith("start: X"):
        guide.advance(ord("x"))
    assert list(guide.allowed_token_ids()) == [EOS] and not guide.try_advance(257)
