"""Stop tokens of loaded tokenizers: which ids are taken, and which are out of range."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

interlock = pytest.importorskip("interlock")


def test_tokenizer_without_a_stop_token() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    bare.decoder = tokenizers.decoders.ByteLevel()
    with pytest.raises(interlock.VocabularyError, match="eos_token_ids"):
        interlock.Vocabulary.from_tokenizer(bare)
    with pytest.raises(interlock.VocabularyError, match="id 3 is out of range: the tokenizer lists 1 id, .*give size"):
        interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=[3])
    assert interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=[3], size=4).size == 4


def test_stop_ids() -> None:
    """Integers of NumPy are taken, and one that no vocabulary has is refused before a list of that length is made."""
    from interlock.tokenizers import _WIDEST

    tokenizers = pytest.importorskip("tokenizers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    bare.decoder = tokenizers.decoders.ByteLevel()
    for given in (np.int64(2), np.array(2), [np.int32(2)], np.array([2]), (2, 2)):
        assert interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=given, size=3).eos_token_ids == [2]
    for given in (_WIDEST, 2**32 - 1, np.uint64(2**64 - 1), 2**80, -1, [0, -(2**80)]):
        with pytest.raises(interlock.VocabularyError, match="out of range"):
            interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=given)
    for given in (2.0, "2", [None]):
        with pytest.raises(TypeError, match="eos_token_ids must be a token id or several, all of them int"):
            interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=given)
    assert interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=0, size=_WIDEST).size == _WIDEST
    with pytest.raises(interlock.VocabularyError, match=str(_WIDEST)):
        interlock.Vocabulary.from_tokenizer(bare, eos_token_ids=0, size=_WIDEST + 1)


def test_stop_ids_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "qwen.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256)))
    for given in (np.int64(256), np.array([256]), [256]):
        assert interlock.Vocabulary.from_file(path, eos_token_ids=given).eos_token_ids == [256]
    # Ranks do not list special tokens, which lie behind them; but no model has thousands of those.
    assert interlock.Vocabulary.from_file(path, eos_token_ids=900).size == 901
    with pytest.raises(interlock.VocabularyError, match="id 999999 is out of range: the tokenizer lists 256 ids"):
        interlock.Vocabulary.from_file(path, eos_token_ids=[256, 999_999])
    assert interlock.Vocabulary.from_file(path, eos_token_ids=999_999, size=1_000_000).size == 1_000_000


def test_a_stop_id_that_is_not_there_widens_nothing(tmp_path: Path) -> None:
    """Wider logits than the model's would be found out only when it runs."""
    tokenizers = pytest.importorskip("tokenizers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1}, []))
    bare.decoder = tokenizers.decoders.ByteLevel()
    path = tmp_path / "tokenizer.json"
    bare.save(str(path))
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding(name="x", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens={"<end>": 256})
    for make, source, most in (
        (interlock.Vocabulary.from_file, path, 1),
        (interlock.Vocabulary.from_tokenizer, bare, 1),
        (interlock.Vocabulary.from_tokenizer, encoding, 256),
    ):
        said = (
            f"eos_token_ids: id 999999 is out of range: the tokenizer lists {most + 1} ids, from 0 to {most}; give size"
        )
        with pytest.raises(interlock.VocabularyError, match=said):
            make(source, eos_token_ids=[0, 999_999])
        with pytest.raises(interlock.VocabularyError, match="id 999999 is out of range: the size is 500"):
            make(source, eos_token_ids=[999_999], size=500)
        made = make(source, eos_token_ids=[499], size=500)
        assert made.size == 500 and made.eos_token_ids == [499]
