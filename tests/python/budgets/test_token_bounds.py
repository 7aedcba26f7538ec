"""Texts that are bounded in tokens, beside a count by hand: which tokens hold a part of the text."""

from __future__ import annotations

import itertools
import random

import interlock
import pytest
from interlock import events as ev

PIECES = [
    b"a",
    b"b",
    b"<",
    b">",
    b"ab",
    b"a<",
    b"<a",
    b">b",
    b"<a>",
    b"a>",
    b"\xc3",
    b"\xa9",
    b"a\xc3",
    b"\xa9>",
    b"\xc3\xa9",
]


def vocabulary(extra):
    """All single bytes, so that nothing is out of reach, and some longer tokens."""
    tokens = [bytes([byte]) for byte in range(256)] + extra + [b""]
    return interlock.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1]), len(tokens) - 1


def missing(data):
    """How many bytes the last character of a text lacks."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        rest = data[error.start :]
        length = next((n for least, n in ((0xF0, 4), (0xE0, 3), (0xC2, 2)) if rest[0] >= least), 0)
        return length - len(rest) if length > len(rest) else -1
    return 0


def counts(tokens, start, end, most):
    """Whether at most ``most`` tokens hold a part of the bytes from ``start`` to ``end``, with each character begun in
    time."""
    at = used = 0
    text = b"".join(tokens)
    for token in tokens:
        before, at = at, at + len(token)
        if max(before, start) < min(at, end):
            used += 1
            if at < end and not 0 <= missing(text[start:at]) <= most - used:
                return False
    return used <= most


def reference(parts, tokens):
    """Whether an output is parts one after another: literals, and ``(stop, most)`` for texts without ``stop``."""
    text = b"".join(tokens)
    places = {0}
    for part in parts:
        found = set()
        for at in places:
            if isinstance(part, bytes):
                if text.startswith(part, at):
                    found.add(at + len(part))
                continue
            stop, most = part
            for end in range(at, len(text) + 1):
                inner = text[at:end]
                if (not stop or stop not in inner) and missing(inner) == 0 and counts(tokens, at, end, most):
                    found.add(end)
        places = found
    return len(text) in places


def formats(parts):
    """The same as a structural tag."""
    elements = []
    for part in parts:
        if isinstance(part, bytes):
            elements.append({"type": "const_string", "value": part.decode()})
        else:
            stop, most = part
            excludes = {"excludes": [stop.decode()]} if stop else {}
            elements.append({"type": "any_text", "max_tokens": most, **excludes})
    return {"type": "sequence", "elements": elements}


def grammar(parts):
    """The same in Lark's notation."""
    names, rules = [], []
    for number, part in enumerate(parts):
        if isinstance(part, bytes):
            names.append(f'"{part.decode()}"')
        else:
            stop, most = part
            names.append(f"t{number}")
            captured = ", capture" if number % 2 else ""
            rules.append(f"t{number}[max_tokens={most}{captured}]: /[^{stop.decode()}]*/" if stop else "")
            rules[-1] = rules[-1] or f"t{number}[max_tokens={most}{captured}]: /.*/s"
    return "\n".join([f"start: {' '.join(names)}", *rules])


def indexes(parts, vocab):
    """The parts in both notations, with each lexer that can count tokens."""
    yield interlock.Index.from_structural_tag(formats(parts), vocab)
    for lexer in ("any", "dynamic"):
        yield interlock.Index.from_grammar(grammar(parts), vocab, lexer=lexer)


def check(seed, outputs):
    draw = random.Random(seed)
    vocab, end = vocabulary(draw.sample(PIECES, 7))
    parts = draw.choice(
        [
            [b"<", (b">", draw.randint(1, 4)), b">"],
            [(b"<", draw.randint(1, 3)), b"<", (b">", draw.randint(1, 3)), b">"],
            [(b"", draw.randint(1, 3)), b"b", (b"", draw.randint(1, 2))],
            [b"<", (b"", draw.randint(1, 3)), (b">", draw.randint(1, 3)), b">"],
            [(b"b", draw.randint(1, 3))],
        ]
    )
    return sum(check_index(index, draw, parts, vocab, end, outputs) for index in indexes(parts, vocab))


def check_index(index, draw, parts, vocab, end, outputs):
    spelled = [vocab.token_bytes(token) for token in range(256, end)]
    alphabet = [ord(byte) for byte in "ab<>"] + [0xC3, 0xA9] + list(range(256, end))
    accepted = 0
    for _ in range(outputs):
        guide, ids = index.guide(), []
        for _ in range(draw.randint(0, 7)):
            allowed = set(guide.allowed_token_ids().tolist())
            assert allowed, (parts, ids)
            for token in alphabet:
                assert guide.fork().try_advance(token) == (token in allowed), (parts, ids, token)
            token = draw.choice(alphabet)
            ids.append(token)
            if token not in allowed:
                break
            guide.advance(token)
        taken = len(ids) == guide.num_tokens
        tokens = [bytes([token]) if token < 256 else spelled[token - 256] for token in ids]
        assert (taken and guide.is_accepting) == reference(parts, tokens), (parts, tokens)
        if taken and guide.is_accepting:
            accepted += 1
            guide.advance(end)
            assert all(event.text is not None for event in guide.events() if isinstance(event, ev.Text))
            guide.rollback(1)
        if taken:
            # There is a way to the end, and rollback and forks count as the way here did.
            copy = index.guide()
            assert copy.advance_many(ids) == len(ids)
            if ids:
                guide.rollback(1)
                guide.advance(ids[-1])
            assert guide.allowed_token_ids().tolist() == copy.allowed_token_ids().tolist()
            for _ in range(20):
                if copy.is_accepting:
                    break
                ways = copy.forced_tokens() or copy.allowed_token_ids().tolist()
                closing = [token for token in ways if token in (*b"<>b", 0xA9)]
                copy.advance(closing[0] if closing else ways[0])
            assert copy.is_accepting, (parts, tokens)
    return accepted


@pytest.mark.parametrize("seed", range(12))
def test_tokens_are_counted(seed):
    check(seed, 60)


def test_some_outputs_are_accepted():
    assert sum(check(seed, 60) for seed in range(20, 26)) > 20


def test_a_bound_within_a_budget():
    vocab, end = vocabulary([])
    tag = formats([b"<", (b">", 50), b">"])
    index = interlock.Index.from_structural_tag(tag, vocab)
    for most in (2, 5, 49, 52, 60):
        guide = index.guide(max_tokens=most)
        while not guide.is_terminated:
            allowed = guide.allowed_token_ids().tolist()
            guide.advance(next((token for token in allowed if token == ord("a")), allowed[0]))
        assert guide.num_tokens <= most + 1
        assert len(guide.tokens) <= min(most, 52) + 1


def test_large_bounds_cost_nothing():
    vocab, _ = vocabulary([])
    index = interlock.Index.from_structural_tag(formats([b"<", (b">", 2_000_000), b">"]), vocab)
    guide = index.guide()
    guide.advance(ord("<"))
    assert guide.advance_many(list(b"a" * 5000)) == 5000
    assert index.guide().min_tokens_to_finish() == 2


def test_what_cannot_be_counted():
    vocab, _ = vocabulary([])
    # Its text may not end behind each of its characters.
    with pytest.raises(interlock.UnsupportedError, match="may not end behind each"):
        interlock.Index.from_grammar('start: a "!"\na[max_tokens=3]: /(ab)*/', vocab, lexer="any")
    with pytest.raises(interlock.UnsupportedError, match="max_tokens of a can't be enforced"):
        interlock.Index.from_grammar('start: a "!"\na[max_tokens=3]: /.*/', vocab, lexer="contextual")
    with pytest.raises(interlock.UnsupportedError, match="max_tokens of a can't be enforced"):
        interlock.Index.from_grammar('start: a "!"\na[max_tokens=3]: "x" /.*/', vocab)
    index = interlock.Index.from_grammar('start: a "!"\na[max_tokens=3]: /[a-z]*/', vocab, lexer="any")
    assert index.guide().advance_many(list(b"abcd")) == 3


def test_two_bounds_of_one_text():
    vocab, _ = vocabulary([b"ab"])
    for first, second in itertools.product((1, 2, 4), repeat=2):
        text = '"<" (a "!" | b "?")\na[max_tokens=%d]: /[a-z]*/\nb[max_tokens=%d]: /[a-z]*/' % (first, second)
        index = interlock.Index.from_grammar(f"start: {text}", vocab, lexer="any")
        for count in range(6):
            for end, most in ((b"!", first), (b"?", second)):
                guide, data = index.guide(), b"<" + b"a" * count + end
                whole = guide.advance_many(list(data)) == len(data) and guide.is_accepting
                assert whole == (count <= most), (first, second, count, end)


def test_what_a_bound_leaves_of_longest_matches():
    vocab, _ = vocabulary([b"bob", b" Hei"])
    text = 'start: "Name: " name " Height: " height\nname[max_tokens=3]: /.*/\nheight[max_tokens=3]: /.*/'
    index = interlock.Index.from_grammar(text, vocab)

    def taken(*parts):
        tokens = [token for part in parts for token in (part if isinstance(part, bytes) else [part])]
        guide = index.guide()
        return guide.advance_many(tokens) == len(tokens) and guide.is_accepting

    bob = 256
    assert taken(b"Name: ", bob, b" Height: 6.1")
    assert taken(b"Name: ", bob, b"by Height: 6") and not taken(b"Name: ", bob, b"bie Height: 6")
    assert not taken(b"Name: ", bob, b" Height: 6.12")
    # Other terminals still take their longest match.
    index = interlock.Index.from_grammar('start: N a "1"\nN: /[0-9]+/\na[max_tokens=2]: /[0-9x]*/', vocab)
    assert taken(b"12x1") and not taken(b"1211")


def test_bounds_with_ignored_text():
    vocab, _ = vocabulary([b"  "])
    text = 'start: a a "!"\na[max_tokens=2]: /[a-z]+/\n%ignore " "'
    for lexer in ("any", "dynamic"):
        index = interlock.Index.from_grammar(text, vocab, lexer=lexer)
        for data, fits in ((b"ab  cd !", True), (b"abcd!", True), (b"abc de!", False), (b" a b !", True)):
            guide = index.guide()
            assert (guide.advance_many(list(data)) == len(data) and guide.is_accepting) == fits, (lexer, data)
