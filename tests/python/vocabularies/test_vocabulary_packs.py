"""Vocabularies that the processes of a server share, as files."""

import multiprocessing
import os
import time
import types

import pytest

import interlock
from interlock import Vocabulary, VocabularyError
from interlock.integrations import vocabulary_packs as packs

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: make test")

WORDS = {"a": 0, "b": 1, "ab": 2, "Ġab": 3, "Ġ": 4}


def made_tokenizer(merges=True, added=("<end>", "<mark>")):
    model = tokenizers.models.BPE(vocab=WORDS, merges=[("a", "b"), ("Ġ", "ab")] if merges else [])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([added[0]])
    tokenizer.add_tokens([tokenizers.AddedToken(added[1], special=False)])
    return tokenizer


@pytest.fixture
def made(monkeypatch):
    """How often a vocabulary was made, and not found."""
    calls = []
    real = packs._made
    monkeypatch.setattr(packs, "_made", lambda *args: calls.append(args[1:]) or real(*args))
    return calls


def test_the_second_time_it_is_mapped(tmp_path, made):
    tokenizer = made_tokenizer()
    first = packs.vocabulary_for(tokenizer, 10, [5], folder=tmp_path)
    second = packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    plain = Vocabulary.from_tokenizer(tokenizer, [5], size=10)
    assert len(made) == 1 and first == second == plain and first.fingerprint == plain.fingerprint
    assert [second.token_bytes(i) for i in range(7)] == [b"a", b"b", b"ab", b" ab", b" ", b"<end>", b"<mark>"]
    assert [file.suffix for file in tmp_path.iterdir()] == [".vocabulary"], "no lock is left"
    assert os.stat(tmp_path).st_mode & 0o077 == 0 or tmp_path.stat().st_uid == os.getuid()
    # How the tokenizer encodes is in the pack as well.
    guides = [interlock.Index.from_choices(["abab"], v).guide() for v in (plain, second)]
    assert guides[0].forced_tokens() == guides[1].forced_tokens()


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: packs.vocabulary_for(made_tokenizer(), 11, [5], folder=folder),
        lambda folder: packs.vocabulary_for(made_tokenizer(), 10, [5, 6], folder=folder),
        lambda folder: packs.vocabulary_for(made_tokenizer(), 10, [5], [], folder=folder),
        lambda folder: packs.vocabulary_for(made_tokenizer(merges=False), 10, [5], folder=folder),
        lambda folder: packs.vocabulary_for(made_tokenizer(added=("<end>", "<other>")), 10, [5], folder=folder),
    ],
    ids=["size", "stop ids", "special ids", "merges", "added tokens"],
)
def test_whatever_differs_has_a_pack_of_its_own(tmp_path, made, other):
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    other(tmp_path)
    assert len(made) == 2 and len(list(tmp_path.glob("*.vocabulary"))) == 2


def test_another_build_of_interlock_has_packs_of_its_own(tmp_path, made, monkeypatch):
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    monkeypatch.setattr(packs._core, "__version__", "0.0.0")
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    assert len(made) == 2


def test_special_ids_never_spell_text(tmp_path):
    for special, allowed in (((), [2, 6]), ((2, 6, 99, -1), [])):
        vocabulary = packs.vocabulary_for(made_tokenizer(), 10, [5], special, folder=tmp_path)
        assert set(special) & set(range(10)) <= set(vocabulary.special_token_ids)
        got = interlock.Index.from_regex("(ab|a|<mark>)+", vocabulary).guide().allowed_token_ids().tolist()
        assert [i for i in (2, 6) if i in got] == allowed


def test_tokens_beyond_the_logits_are_left_out(tmp_path):
    vocabulary = packs.vocabulary_for(made_tokenizer(), 4, [3], folder=tmp_path)
    assert (len(vocabulary), vocabulary.size, vocabulary.eos_token_ids) == (4, 4, [3])
    assert interlock.Index.from_regex("(ab)+", vocabulary).guide().forced_tokens() == []


def test_a_broken_pack_is_made_anew(tmp_path, made, caplog):
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"no pack")
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    assert len(made) == 2 and "made anew" in caplog.text
    packs.vocabulary_for(made_tokenizer(), 10, [5], folder=tmp_path)
    assert len(made) == 2


def test_a_folder_that_cannot_be_used_costs_nothing_but_time(tmp_path, made, caplog):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        assert len(packs.vocabulary_for(made_tokenizer(), 10, [5], folder=folder)) == 7
    assert "the vocabulary is not kept" in caplog.text


def test_where_packs_lie(monkeypatch, tmp_path, made):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(packs.FOLDER_VARIABLE, raising=False)
    assert packs.pack_folder() == tmp_path / "interlock" / "vocabularies"
    packs.vocabulary_for(made_tokenizer(), 10, [5])
    assert len(list(packs.pack_folder().glob("*.vocabulary"))) == 1
    monkeypatch.setenv(packs.FOLDER_VARIABLE, str(tmp_path / "other"))
    packs.vocabulary_for(made_tokenizer(), 10, [5])
    assert len(list((tmp_path / "other").glob("*.vocabulary"))) == 1
    for off in ("off", ""):
        monkeypatch.setenv(packs.FOLDER_VARIABLE, off)
        assert packs.pack_folder() is None
        packs.vocabulary_for(made_tokenizer(), 10, [5])
    assert len(made) == 4


def test_the_packs_used_longest_ago_leave(monkeypatch, tmp_path):
    monkeypatch.setattr(packs, "MOST_PACKS", 2)
    for age, size in enumerate((10, 11, 12)):
        packs.vocabulary_for(made_tokenizer(), size, [5], folder=tmp_path)
        for file in tmp_path.glob("*.vocabulary"):
            os.utime(file, (file.stat().st_atime, time.time() - 100 + age))
    assert len(list(tmp_path.glob("*.vocabulary"))) == 2


def test_wrappers_of_servers(tmp_path):
    inner = made_tokenizer()
    for wrapper in (
        types.SimpleNamespace(tokenizer=inner),
        types.SimpleNamespace(mistral=types.SimpleNamespace(tokenizer=inner)),
    ):
        assert packs.recognised_tokenizer(wrapper) is inner
        assert len(packs.vocabulary_for(wrapper, 10, [5], folder=tmp_path)) == 7
    circle = types.SimpleNamespace()
    circle.tokenizer = circle
    for none in (object(), circle, None):
        with pytest.raises(VocabularyError, match="not a tokenizer that interlock reads"):
            packs.recognised_tokenizer(none)


def test_stop_ids_are_needed(tmp_path):
    for stops in ([], [10], [-1]):
        with pytest.raises(VocabularyError, match="no stop id lies within the 10 columns"):
            packs.vocabulary_for(made_tokenizer(), 10, stops, folder=tmp_path)


def _in_a_process(folder, gate, answers):
    real = packs._made

    def slow(*args):
        answers.put("made")
        time.sleep(0.3)
        return real(*args)

    packs._made = slow
    gate.wait()
    answers.put(packs.vocabulary_for(made_tokenizer(), 10, [5], folder=folder).fingerprint)


def test_processes_that_start_together_make_it_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(3), context.Queue()
    processes = [context.Process(target=_in_a_process, args=(tmp_path, gate, answers)) for _ in range(3)]
    for process in processes:
        process.start()
    found = [answers.get(timeout=60) for _ in range(4)]
    for process in processes:
        process.join(60)
    assert found.count("made") == 1 and len(set(found)) == 2 and answers.empty()


@pytest.mark.parametrize("kind", ["tiktoken", "sentencepiece"])
def test_other_libraries(tmp_path, made, kind):
    if kind == "tiktoken":
        tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed: make test")
        ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256}
        make = lambda: tiktoken.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<end>": 257})
    else:
        processor = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed: make test")
        import io

        model = io.BytesIO()
        processor.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c", "ab bc"] * 20), model_writer=model, vocab_size=10, minloglevel=2
        )
        make = lambda: processor.SentencePieceProcessor(model_proto=model.getvalue())
    stop = 257 if kind == "tiktoken" else 2
    first, second = (packs.vocabulary_for(make(), 300, [stop], folder=tmp_path) for _ in range(2))
    assert first == second == Vocabulary.from_tokenizer(make(), [stop], size=300) and len(made) == 1
