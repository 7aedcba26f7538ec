"""What inference servers ask of a grammar engine, done with guides alone, in the way in which they do it.

The classes have the methods and signatures of vLLM's ``StructuredOutputGrammar`` and of SGLang's ``BaseGrammarObject``
(vLLM 0.33, SGLang 0.5.23); neither server is imported.
"""

import numpy as np
import pytest

import interlock


class VllmGrammar:
    """Accepts, validates, rolls back and fills rows of one shared mask."""

    def __init__(self, index):
        self.guide = index.guide()

    def accept_tokens(self, request_id, tokens):
        return self.guide.advance_many(tokens) == len(tokens)

    def validate_tokens(self, tokens):
        return tokens[: self.guide.validate(tokens)]

    def rollback(self, num_tokens):
        self.guide.rollback(num_tokens)

    def fill_bitmask(self, bitmask, batch_index):
        self.guide.fill_bitmask(bitmask, batch_index)

    def is_terminated(self):
        return self.guide.is_terminated

    def reset(self):
        self.guide.reset()


@pytest.fixture(scope="module")
def index(byte_vocabulary):
    return interlock.Index.from_json_schema({"enum": ["ab", "ac"]}, byte_vocabulary, whitespace="compact")


def masks(count, vocabulary, torch=None):
    words = (vocabulary.size + 31) // 32
    return np.full((count, words), -1, np.int32) if torch is None else torch.full((count, words), -1, dtype=torch.int32)


def allowed(row):
    """As SGLang's tree walk reads a mask: words of 32 bits, the lowest first."""
    row = [int(w) for w in row]
    return {t for t in range(32 * len(row)) if (row[t // 32] >> (t % 32)) & 1}


def test_vllm_verifies_drafts(index, byte_vocabulary):
    """One row for each draft and one more, each accepted before the next row is filled, and all rolled back."""
    torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    bits = masks(2 * 4, byte_vocabulary, torch)
    grammars = [VllmGrammar(index), VllmGrammar(index)]
    for number, (grammar, draft) in enumerate(zip(grammars, [b'"ab', b'"xa'], strict=True)):
        valid = grammar.validate_tokens(list(draft))
        assert bytes(valid) == (b'"ab' if number == 0 else b'"')
        row = number * 4
        for taken, token in enumerate([*valid, None]):
            grammar.fill_bitmask(bits, row + taken)
            if token is not None:
                assert grammar.accept_tokens("request", [token])
        grammar.rollback(len(valid))
        assert not grammar.is_terminated()
    assert allowed(bits[0]) == {ord('"')} and {ord("b"), ord("c")} <= allowed(bits[2]) and ord('"') in allowed(bits[3])
    assert not grammars[0].accept_tokens("request", list(b"no"))
    (end,) = byte_vocabulary.eos_token_ids
    assert grammars[0].accept_tokens("request", [*b'"ab"', end]) and grammars[0].is_terminated()
    grammars[0].reset()
    assert not grammars[0].is_terminated()


def test_sglang_copies_a_template_and_walks_a_tree(index, byte_vocabulary):
    """A template is copied for each request; a batch is filled in one call; a draft tree goes depth-first and back."""
    template = index.guide()
    guides = [template.fork() for _ in range(3)]
    guides[1].advance_many(list(b'"a'))
    bits = masks(5, byte_vocabulary)
    interlock.fill_bitmasks(guides, bits, [0, 2, 4])
    assert (bits[1] == -1).all() and (bits[3] == -1).all()
    assert allowed(bits[0]) == allowed(bits[4]) == {ord('"')}
    assert ord("b") in allowed(bits[2]) and template.num_tokens == 0

    children = {-1: [(0, ord("b")), (1, ord("c"))], 0: [(2, ord('"'))], 1: [], 2: []}
    rows = masks(4, byte_vocabulary)
    seen = []

    def walk(node, row):
        guides[1].fill_bitmask(rows, row)
        for child, token in children[node]:
            if token in allowed(rows[row]):
                guides[1].advance(token)
                seen.append(child)
                walk(child, child + 1)
                guides[1].rollback(1)

    walk(-1, 0)
    assert seen == [0, 2, 1] and guides[1].num_tokens == 2
    # The same in one call.
    again = masks(4, byte_vocabulary)
    assert guides[1].fill_draft_bitmasks([ord("b"), ord("c"), ord('"')], again, parents=[-1, -1, 0]) == 3
    assert (rows == again).all()
    with pytest.raises(interlock.TokenRejected, match="is refused at its byte 0 .*; allowed there: '\"'$"):
        guides[0].advance(ord("x"))
