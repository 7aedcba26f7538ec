"""Stores behind URLs, at the far end: whole files, threads, forks and failures."""

import errno
import os
import threading
from pathlib import Path

import pytest

import interlock
from interlock import Store

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.local import LocalFileSystem  # noqa: E402

pytestmark = pytest.mark.usefixtures("compiled_anew")


class Picky(LocalFileSystem):
    """It does not rename over a file that is there."""

    protocol = "picky"
    loud = True

    def mv(self, path1, path2, **options):
        if not self.exists(path2):
            super().mv(path1, path2, **options)
        elif self.loud:
            raise FileExistsError(path2)


class Offline(LocalFileSystem):
    """It connects at once, in vain."""

    protocol = "offline"

    def __init__(self, **options):
        raise ConnectionRefusedError("nobody is there")


for kind in (Picky, Offline):
    fsspec.register_implementation(kind.protocol, kind, clobber=True)


@pytest.fixture
def store(tmp_path):
    return Store((tmp_path / "far").as_uri(), cache=tmp_path / "near")


def choices(vocabulary, *strings):
    return interlock.Index.from_choices(list(strings), vocabulary)


def far(folder):
    """The names of all files at the far end."""
    return sorted(file.name for file in (folder / "far").rglob("*") if file.is_file())


@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_threads_upload_at_once(byte_vocabulary, tmp_path, protocol):
    url = f"memory://{tmp_path.name}/far" if protocol == "memory" else (tmp_path / "far").as_uri()
    store, errors = Store(url, cache=tmp_path / "near"), []
    indexes = [choices(byte_vocabulary, f"{i}" * 40) for i in range(80)]
    start = threading.Barrier(4)

    def upload(mine):
        start.wait()
        try:
            for index in mine:
                store.put(index)
        except interlock.InterlockError as error:
            errors.append(error)

    threads = [threading.Thread(target=upload, args=(indexes[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(store.entries()) == len(indexes) == len(store._remote.listed())
    assert store.verify() == []


def test_transactions_of_others_are_their_own(store, byte_vocabulary, tmp_path):
    files = fsspec.filesystem("file")
    with files.transaction:
        with files.open(str(tmp_path / "theirs"), "wb") as file:
            file.write(b"not yet")
        key = store.put(choices(byte_vocabulary, "a"))
        assert [entry.key for entry in store.entries()] == [key] and not (tmp_path / "theirs").exists()
    assert (tmp_path / "theirs").read_bytes() == b"not yet"


@pytest.mark.parametrize("loud", [True, False])
def test_protocols_that_do_not_rename_over_a_file(byte_vocabulary, tmp_path, monkeypatch, loud):
    monkeypatch.setattr(Picky, "loud", loud)
    store = Store(f"picky://{tmp_path}/far", cache=tmp_path / "near")
    index = choices(byte_vocabulary, "a")
    key = store.put(index)
    file = tmp_path / "far" / key[:2] / f"{key}.ilk"
    whole = file.read_bytes()
    file.write_bytes(b"damaged")
    store.put(index)
    assert file.read_bytes() == whole and far(tmp_path) == [file.name]


@pytest.mark.parametrize("method", ["mv", "pipe_file"])
def test_uploads_that_fail_leave_nothing(store, byte_vocabulary, tmp_path, monkeypatch, method):
    index, true = choices(byte_vocabulary, "a"), getattr(LocalFileSystem, method)

    def fails(self, path, *rest, **options):
        if method == "pipe_file":
            true(self, path, b"half of it")
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(LocalFileSystem, method, fails)
    with pytest.raises(interlock.ArtifactError, match="no space"):
        store.put(index)
    assert far(tmp_path) == []
    monkeypatch.undo()
    key = store.put(index)
    assert far(tmp_path) == [f"{key}.ilk"]


def test_files_that_are_being_written_are_no_packs(store, byte_vocabulary, tmp_path):
    key = store.put(choices(byte_vocabulary, "a"))
    folder = tmp_path / "far" / key[:2]
    for name in (f"{key}.ilk.1.ff.tmp", f"{key}.tmp"):
        (folder / name).write_bytes(b"half of it")
    assert [entry.key for entry in store.entries()] == [key] and store.verify() == []
    assert [file.name for file in store._remote.listed()] == [f"{key[:2]}/{key}.ilk"]


def test_a_download_that_is_cut_short_is_refused_and_not_kept(store, byte_vocabulary, tmp_path, monkeypatch):
    made = choices(byte_vocabulary, "a")
    key = store.put(made)
    other = Store(store.url, cache=tmp_path / "other")
    whole = LocalFileSystem.cat_file
    monkeypatch.setattr(LocalFileSystem, "cat_file", lambda self, path: whole(self, path)[:-64])
    with pytest.raises(interlock.ArtifactError):
        other.get(key, byte_vocabulary)
    monkeypatch.undo()
    assert other.get(key, byte_vocabulary).fingerprint == made.fingerprint


def test_a_cache_that_may_only_be_read(store, byte_vocabulary, tmp_path, monkeypatch):
    key = store.put(choices(byte_vocabulary, "a"))
    other = Store(store.url, cache=tmp_path / "other")

    def refused(self, *rest, **options):
        raise OSError(errno.EROFS, "read-only file system")

    for method in ("write_bytes", "unlink"):
        monkeypatch.setattr(Path, method, refused)
    with pytest.raises(interlock.ArtifactError, match="cannot keep a file"):
        other.get(key, byte_vocabulary)


def test_a_far_end_that_does_not_answer(tmp_path):
    with pytest.raises(interlock.ArtifactError, match="cannot open the store offline:.*nobody is there"):
        Store("offline://host/far", cache=tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_connects_anew(byte_vocabulary, tmp_path):
    from child_process import in_child

    wrapper = pytest.importorskip("fsspec.implementations.asyn_wrapper")

    class Threaded(wrapper.AsyncFileSystemWrapper):
        """Like those of object stores, it does its work in a thread that a child has not."""

        protocol = "threaded"

        def __init__(self, **options):
            super().__init__(LocalFileSystem(), **options)

    fsspec.register_implementation("threaded", Threaded, clobber=True)
    store = Store(f"threaded://{tmp_path}/far", cache=tmp_path / "near")
    key = store.put(choices(byte_vocabulary, "a"))
    parent = store._remote.files

    def check():
        store.put(choices(byte_vocabulary, "b"))
        return store._remote.size_of(f"{key[:2]}/{key}.ilk") == store.size_of(key) and len(store.entries()) == 2

    assert in_child(check)
    assert store._remote.files is parent and len(store.entries()) == 2 and store.verify() == []
