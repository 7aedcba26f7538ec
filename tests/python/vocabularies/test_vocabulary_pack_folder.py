"""Vocabularies that are made once and kept in files."""

import os
import threading

import pytest

import interlock
from interlock.integrations.vocabulary_packs import digest_of, load_or_make


def test_a_vocabulary_is_made_once(tmp_path, byte_vocabulary):
    made = []

    def make():
        made.append(1)
        return byte_vocabulary

    results = []
    threads = [
        threading.Thread(target=lambda: results.append(load_or_make(tmp_path / "packs", "d", make))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and sorted(found for _, found in results) == [False, True, True, True]
    assert all(vocabulary == byte_vocabulary for vocabulary, _ in results)
    assert [path.name for path in (tmp_path / "packs").iterdir()] == ["d.vocabulary"]


def test_a_broken_pack_is_made_anew(tmp_path, byte_vocabulary, caplog):
    (tmp_path / "d.vocabulary").write_bytes(b"no pack")
    vocabulary, found = load_or_make(tmp_path, "d", lambda: byte_vocabulary)
    assert vocabulary == byte_vocabulary and not found and "made anew" in caplog.text
    assert load_or_make(tmp_path, "d", lambda: pytest.fail("made again"))[1]


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, byte_vocabulary, caplog):
    file = tmp_path / "file"
    file.write_text("")
    vocabulary, found = load_or_make(file / "packs", "d", lambda: byte_vocabulary)
    assert vocabulary == byte_vocabulary and not found and "not kept" in caplog.text


def test_errors_are_those_of_the_maker(tmp_path):
    def make():
        raise interlock.VocabularyError("no tokens")

    with pytest.raises(interlock.VocabularyError, match="no tokens"):
        load_or_make(tmp_path, "d", make)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_the_folder_is_the_users_alone(tmp_path, byte_vocabulary):
    load_or_make(tmp_path / "packs", "d", lambda: byte_vocabulary)
    assert (tmp_path / "packs").stat().st_mode & 0o077 == 0


def test_digests_tell_parts_apart():
    assert digest_of("a", "b") != digest_of("ab") != digest_of("a", 1) and digest_of("a", [1]) == digest_of("a", [1])
