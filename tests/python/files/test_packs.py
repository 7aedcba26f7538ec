"""Vocabularies in files, and folders of indexes."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import interlock
from interlock import Store

pytestmark = pytest.mark.usefixtures("compiled_anew")

SOURCES = [
    ("choices", ["yes", "nö"], {}),
    ("regex", "a.c", {"flags": "si", "limits": {"max_depth": 20}}),
    ("json_schema", {"type": "object", "properties": {"a": {"type": "integer"}}}, {"whitespace": "compact"}),
    ("json_schema", {"$ref": "x:y"}, {"documents": {"x:y": {"const": "é"}}, "limits": interlock.Limits(max_depth=30)}),
]


def compiled(kind, source, vocabulary, options):
    return getattr(interlock.Index, f"from_{kind}")(source, vocabulary, **options)


def test_vocabulary_round_trip(word_vocabulary, tmp_path):
    path = tmp_path / "vocabulary"
    word_vocabulary.save(path)
    program = (
        "import sys, interlock; v = interlock.Vocabulary.load(sys.argv[1]); "
        "g = interlock.Index.from_json_schema({'enum': ['yes', 12, {'é': None}]}, v).guide(); "
        "print(v.fingerprint, g.allowed_token_ids().tolist())"
    )
    other = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    guide = interlock.Index.from_json_schema({"enum": ["yes", 12, {"é": None}]}, word_vocabulary).guide()
    assert other.stdout.split(" ", 1) == [word_vocabulary.fingerprint, f"{guide.allowed_token_ids().tolist()}\n"]
    assert pickle.loads(pickle.dumps(interlock.Vocabulary.load(path))) == word_vocabulary


def test_damaged_vocabulary(word_vocabulary, tmp_path):
    path = tmp_path / "vocabulary"
    word_vocabulary.save(path)
    whole = path.read_bytes()
    for at in [*range(0, 256), *range(256, len(whole), 61)]:
        (tmp_path / "bad").write_bytes(whole[:at] + bytes([whole[at] ^ 0x11]) + whole[at + 1 :])
        with pytest.raises(interlock.ArtifactError):
            interlock.Vocabulary.load(tmp_path / "bad")
        (tmp_path / "bad").write_bytes(whole[:at])
        with pytest.raises(interlock.ArtifactError):
            interlock.Vocabulary.load(tmp_path / "bad")


def test_keys_and_round_trips(byte_vocabulary, word_vocabulary, tmp_path):
    store = Store(tmp_path / "store")
    for kind, source, options in SOURCES:
        key = store.key_of(kind, source, byte_vocabulary, **options)
        assert key not in store and store.get(key, byte_vocabulary) is None
        index = compiled(kind, source, byte_vocabulary, options)
        assert store.put(index) == key and key in store
        again = store.get(key, byte_vocabulary)
        assert again.fingerprint == index.fingerprint
        assert again.guide().allowed_token_ids().tolist() == index.guide().allowed_token_ids().tolist()
        assert store.get_or_compile(kind, source, byte_vocabulary, **options).fingerprint == index.fingerprint
        assert store.key_of(kind, source, word_vocabulary, **options) != key
        with pytest.raises(interlock.ArtifactError, match="vocabulary"):
            store.get(key, word_vocabulary)
    assert len(store.entries()) == len(SOURCES) and store.verify() == []
    assert store.total_bytes() == sum(p.stat().st_size for p in (tmp_path / "store").glob("??/*"))
    for bad in ("short", "../../../etc/passwd"):
        with pytest.raises(interlock.ArgumentError):
            store.get(bad, byte_vocabulary)
    with pytest.raises(interlock.ArgumentError, match="flag"):
        store.key_of("regex", "a", byte_vocabulary, flag="i")


def test_damage_is_found_and_replaced(byte_vocabulary, tmp_path):
    store = Store(tmp_path)
    store.get_or_compile("choices", ["a"], byte_vocabulary)
    (file,) = tmp_path.glob("??/*.ilk")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"x")
    assert len(store.verify()) == 1
    with pytest.raises(interlock.ArtifactError):
        store.get(store.entries()[0].key, byte_vocabulary)
    store.get_or_compile("choices", ["a"], byte_vocabulary)
    assert store.verify() == [] and file.read_bytes() == whole
    file.rename(file.with_name("0" * 64 + ".ilk"))
    assert len(store.verify()) == 1


def test_threads_compile_once(byte_vocabulary, tmp_path):
    store, before, found = Store(tmp_path), interlock.stats()["compiles"], []
    ask = lambda: found.append(store.get_or_compile("regex", "[a-z]{1,40}x", byte_vocabulary))  # noqa: E731
    with store._lock(store.key_of("regex", "[a-z]{1,40}x", byte_vocabulary)):
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        assert not found
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(index is found[0] for index in found)
    assert interlock.stats()["compiles"] == before + 1


def test_failures_reach_every_waiter_and_leave_nothing(byte_vocabulary, tmp_path):
    store = Store(tmp_path)
    key, errors = store.key_of("regex", "(", byte_vocabulary), []

    def ask():
        try:
            store.get_or_compile("regex", "(", byte_vocabulary)
        except interlock.PatternError as error:
            errors.append(error)

    with store._lock(key):
        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        while not store._flights:
            time.sleep(0.01)
        # A lock is for its key alone, however much keys have in common.
        with store._lock(key[:-1] + ("0" if key[-1] != "0" else "1")):
            pass
    for thread in threads:
        thread.join()
    assert len(errors) == 5 and len({id(error) for error in errors}) == 5
    assert len({(str(error), error.offset, error.place) for error in errors}) == 1 and errors[0].offset == 0
    assert store.entries() == [] and store._flights == {} and list((tmp_path / "locks").iterdir()) == []


def test_an_interrupted_leader_does_not_interrupt_those_who_wait(byte_vocabulary, tmp_path, monkeypatch):
    store, found, began = Store(tmp_path), [], threading.Event()
    put = Store.put

    def interrupted(self, index):
        monkeypatch.setattr(Store, "put", put)
        began.set()
        time.sleep(0.1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "put", interrupted)

    def ask():
        began.wait()
        found.append(store.get_or_compile("choices", ["a"], byte_vocabulary))

    thread = threading.Thread(target=ask)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        store.get_or_compile("choices", ["a"], byte_vocabulary)
    thread.join()
    assert len(found) == 1 and len(store.entries()) == 1


def test_eviction_by_last_use(byte_vocabulary, tmp_path):
    store = Store(tmp_path)
    keys = [store.put(interlock.Index.from_choices([f"c{i}"], byte_vocabulary)) for i in range(4)]
    for age, key in enumerate(keys):
        os.utime(store._file(key), (1000 + age, 1000 + age))
    store.get(keys[0], byte_vocabulary)
    one = store.total_bytes() // 4
    small = Store(tmp_path, max_bytes=3 * one)
    new = small.put(interlock.Index.from_choices(["c9"], byte_vocabulary))
    assert [key in small for key in [*keys, new]] == [True, False, False, True, True]


WRITER = """
import sys, interlock
vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256], size=300)
store = interlock.Store(sys.argv[1], max_bytes=100_000)
print("ready", flush=True)
for i in range(int(sys.argv[2]), 10**6, 2):
    store.get_or_compile("choices", [f"w{i}"], vocabulary)
"""


def test_killed_writers_leave_a_valid_store(tmp_path):
    store = Store(tmp_path)
    for delay in (0.02, 0.07, 0.11):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, str(i)], stdout=subprocess.PIPE) for i in range(2)
        ]
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        time.sleep(delay)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        assert store.verify() == []
    assert store.entries()
    # No lock outlives its holder.
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256], size=300)
    for i in range(40):
        store.get_or_compile("choices", [f"w{i}"], vocabulary)


def test_no_space(byte_vocabulary, tmp_path):
    resource = pytest.importorskip("resource")
    store = Store(tmp_path)
    store.put(interlock.Index.from_choices(["a"], byte_vocabulary))
    index = interlock.Index.from_choices(["b" * 5000], byte_vocabulary)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(interlock.ArtifactError, match="cannot write"):
            store.put(index)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert store.verify() == [] and len(store.entries()) == 1 and not list(tmp_path.glob("*/*.tmp"))


def test_folders_that_cannot_be_used(byte_vocabulary, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(interlock.ArtifactError, match="cannot open"):
        Store(tmp_path / "file")


def by_another_user(program, tmp_path, mode):
    """What a program prints about a store that it may only read, whose folders have this mode."""
    program = f"""
import os, sys, interlock
if os.getuid() == 0:
    os.setuid(65534)  # The superuser may do everything.
v = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256], size=300)
store = interlock.Store(sys.argv[1])
print("ready", flush=True)
{program}"""
    wanted = {tmp_path: 0o555, tmp_path / "store": 0o555} | {path: mode for path in tmp_path.glob("store/*")}
    outer = [
        path for path in tmp_path.parents if path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o55 != 0o55
    ]
    modes = {path: path.stat().st_mode for path in [*wanted, *outer]}
    try:
        for path, after in wanted.items():
            path.chmod(after)
        for path in outer:
            path.chmod(modes[path] | 0o55)
        other = subprocess.run([sys.executable, "-c", program, tmp_path / "store"], capture_output=True, text=True)
    finally:
        for path, before in modes.items():
            path.chmod(before)
    lines = other.stdout.splitlines()
    if not lines:
        pytest.skip(f"another user cannot run this: {other.stderr[-200:]}")
    assert other.returncode == 0, other.stderr
    return lines[1:]


def test_a_folder_that_may_only_be_read(byte_vocabulary, tmp_path):
    store = Store(tmp_path / "store")
    index = store.get_or_compile("choices", ["a"], byte_vocabulary)
    program = """
print(store.get_or_compile("choices", ["a"], v).fingerprint)
try:
    store.get_or_compile("choices", ["b"], v)
except interlock.ArtifactError as error:
    print(error)
"""
    lines = by_another_user(program, tmp_path, 0o555)
    assert lines[0] == index.fingerprint and "cannot lock the store" in lines[1] and "ermission" in lines[1]
    assert store.verify() == [] and len(store.entries()) == 1


def test_folders_that_may_not_be_searched(byte_vocabulary, tmp_path):
    store = Store(tmp_path / "store")
    store.get_or_compile("choices", ["a"], byte_vocabulary)
    store.add_vocabulary(byte_vocabulary)
    program = """
key = store.key_of("choices", ["a"], v)
for ask in [
    lambda: key in store,
    lambda: store.size_of(key),
    lambda: store.get(key, v),
    lambda: store.get_or_compile("choices", ["a"], v),
    lambda: store.add_vocabulary(v),
    lambda: store.put(interlock.Index.from_choices(["a"], v)),
    store.entries,
    store.total_bytes,
    store.verify,
]:
    try:
        print("none", ask())
    except interlock.InterlockError as error:
        print(type(error).__name__, error)
"""
    lines = by_another_user(program, tmp_path, 0)
    assert len(lines) == 9 and all(line.startswith("ArtifactError") and "ermission" in line for line in lines)


def test_which_tables_a_pack_has(byte_vocabulary, word_vocabulary, tmp_path):
    store, bare = Store(tmp_path / "full"), Store(tmp_path / "bare", tables=False)
    tree = {"type": "array", "items": {"$ref": "#"}}
    for source, kind in (({"type": "boolean"}, "complete"), (tree, "beginning")):
        key = store.key_of("json_schema", source, byte_vocabulary)
        assert store.tables_of(key, byte_vocabulary) is None
        for each, wanted in ((store, kind), (bare, "none")):
            each.get_or_compile("json_schema", source, byte_vocabulary)
            before = interlock.stats()["compiles"]
            assert each.tables_of(key, byte_vocabulary) == wanted
            assert interlock.stats()["compiles"] == before
    with pytest.raises(interlock.ArtifactError, match="key that is not its own"):
        store.tables_of(key, word_vocabulary)
    (file,) = (tmp_path / "full" / key[:2]).iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(interlock.ArtifactError, match="cut short"):
        store.tables_of(key, byte_vocabulary)


@pytest.mark.parametrize("method", ["stat", "lstat"])
def test_looks_that_are_refused(byte_vocabulary, tmp_path, monkeypatch, method):
    store = Store(tmp_path)
    key = store.put(interlock.Index.from_choices(["a"], byte_vocabulary))
    (file,) = tmp_path.glob("??/*.ilk")
    file.write_bytes(b"damaged")

    def refused(self, *rest, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, method, refused)
    looks = [lambda: key in store, lambda: store.get(key, byte_vocabulary), lambda: store.size_of(key), store.entries]
    for ask in looks if method == "stat" else [store.verify]:
        with pytest.raises(interlock.ArtifactError, match="Permission denied"):
            ask()


@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_stores_behind_urls(byte_vocabulary, word_vocabulary, tmp_path, protocol):
    pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}/store" if protocol == "memory" else (tmp_path / "far").as_uri()
    here, there = tmp_path / "here", tmp_path / "there"
    store = Store(url, cache=here)
    made = store.get_or_compile("regex", "[ab]{2,4}", byte_vocabulary)
    other = pickle.loads(pickle.dumps(Store(url, cache=there, max_bytes=0)))
    assert other.url == url and other.path == there and other.max_bytes == 0
    key = other.key_of("regex", "[ab]{2,4}", byte_vocabulary)
    assert key in other and other.size_of(key) == store.size_of(key) and not list(there.glob("??/*"))
    before = interlock.stats()["compiles"]
    found = other.get_or_compile("regex", "[ab]{2,4}", byte_vocabulary)
    assert found.fingerprint == made.fingerprint and found.is_complete
    assert found.guide().allowed_token_ids().tolist() == [97, 98]
    assert interlock.stats()["compiles"] == before
    assert (there / key[:2] / f"{key}.ilk").read_bytes() == (here / key[:2] / f"{key}.ilk").read_bytes()
    # The bound is the cache's: the remote keeps everything.
    second = other.put(interlock.Index.from_choices(["x"], byte_vocabulary))
    assert [len(list(folder.glob("??/*"))) for folder in (here, there)] == [1, 1]
    assert sorted(entry.key for entry in other.entries()) == sorted([key, second]) and other.verify() == []
    pack = store.add_vocabulary(word_vocabulary)
    assert interlock.Vocabulary.load(other.add_vocabulary(word_vocabulary)) == word_vocabulary and pack.is_file()
    assert key[::-1] not in store and store.get(key[::-1], byte_vocabulary) is None and store.size_of(key[::-1]) is None
    # A pack that is damaged at the far end is found, and replaced there too.
    files, root = other._remote.files, other._remote.root
    whole = files.cat_file(f"{root}/{second[:2]}/{second}.ilk")
    files.pipe_file(f"{root}/{second[:2]}/{second}.ilk", whole[:-1] + b"x")
    assert len(store.verify()) == 1 and url in store.verify()[0]
    store.get_or_compile("choices", ["x"], byte_vocabulary)
    assert store.verify() == [] and files.cat_file(f"{root}/{second[:2]}/{second}.ilk") == whole


def test_urls_that_cannot_be_used(byte_vocabulary, tmp_path):
    pytest.importorskip("fsspec")
    with pytest.raises(interlock.UnsupportedError, match="nosuch"):
        Store("nosuch://bucket/x", cache=tmp_path / "cache")
    with pytest.raises(interlock.ArgumentError):
        Store(tmp_path / "x", cache=tmp_path / "cache")
    (tmp_path / "file").write_bytes(b"")
    store = Store((tmp_path / "file").as_uri(), cache=tmp_path / "cache")
    with pytest.raises(interlock.ArtifactError, match="cannot"):
        store.put(interlock.Index.from_choices(["a"], byte_vocabulary))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_are_replaced(byte_vocabulary, tmp_path):
    index = interlock.Index.from_regex("a+", byte_vocabulary)
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        for saved in (index, byte_vocabulary):
            with pytest.raises(interlock.ArtifactError, match="no regular file"):
                saved.save(place)
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    index.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    loaded = interlock.Index.load(tmp_path / "target", byte_vocabulary)
    assert loaded.fingerprint == index.fingerprint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_are_read(byte_vocabulary, tmp_path):
    """In a process of its own, which a pipe without a writer would hold for good."""
    byte_vocabulary.save(tmp_path / "vocabulary")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "model").mkdir()
    os.mkfifo(tmp_path / "model" / "generation_config.json")
    (tmp_path / "model" / "ranks").write_bytes(b"YQ== 0\nYg== 1\n")
    (tmp_path / "store" / "vocabularies").mkdir(parents=True)
    os.mkfifo(tmp_path / "store" / "vocabularies" / ("0" * 64 + ".ilk"))
    program = """
import os, sys
import interlock
from interlock.cli.sources.vocabularies import is_pack

os.chdir(sys.argv[1])
vocabulary = interlock.Vocabulary.load("vocabulary")
reads = [
    lambda path: interlock.Vocabulary.load(path),
    lambda path: interlock.Index.load(path, vocabulary),
    lambda path: interlock.Vocabulary.from_file(path, eos_token_ids=[0]),
]
for path in ("pipe", ".", "/dev/null"):
    assert not is_pack(path)
    for read in reads:
        try:
            read(path)
        except interlock.InterlockError as error:
            is_folder_of_a_tokenizer = path == "." and isinstance(error, interlock.VocabularyError)
            assert ("tokenizer.json" if is_folder_of_a_tokenizer else "no regular file") in str(error), error
            print(type(error).__name__)
try:
    interlock.Vocabulary.from_file("model/ranks")
except interlock.VocabularyError as error:
    print(error)
print(interlock.Store("store").verify())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=60, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[:9] == ["ArtifactError", "ArtifactError", "VocabularyError"] * 3
    assert "generation_config.json beside it: it is no regular file" in lines[9]
    assert lines[10].count("no regular file") == 1 and len(lines) == 11


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_no_pack(byte_vocabulary, tmp_path, monkeypatch):
    sound = Store(tmp_path / "store").put(interlock.Index.from_choices(["sound"], byte_vocabulary))
    store = Store(tmp_path / "store", max_bytes=1 << 30)
    vocabulary, places = byte_vocabulary, {}
    for name, make in {
        "circle": lambda place: place.symlink_to(place.name),
        "nowhere": lambda place: place.symlink_to("missing"),
        "folder": lambda place: place.mkdir(),
        "pipe": os.mkfifo,
    }.items():
        key = store.key_of("choices", [name], vocabulary)
        places[name] = store.path / key[:2] / f"{key}.ilk"
        places[name].parent.mkdir(exist_ok=True)
        make(places[name])
        assert key not in store and store.get(key, vocabulary) is None and store.size_of(key) is None
    assert [entry.key for entry in store.entries()] == [sound] and store.total_bytes() == store.size_of(sound)
    problems = store.verify()
    assert len(problems) == 4 and all(any(str(place) in line for line in problems) for place in places.values())
    monkeypatch.setattr(interlock.Index, "from_choices", lambda *_, **__: pytest.fail("compiled"))
    for name in ("folder", "pipe"):
        with pytest.raises(interlock.ArtifactError, match="no regular file"):
            store.get_or_compile("choices", [name], vocabulary)
    key = store.key_of("choices", ["x"], vocabulary)
    (store.path / key[:2]).write_bytes(b"")
    assert store.get(key, vocabulary) is None and store.size_of(key) is None
    with pytest.raises(interlock.ArtifactError, match="no folder"):
        store.get_or_compile("choices", ["x"], vocabulary)
    monkeypatch.undo()
    for name in ("circle", "nowhere"):
        made = store.get_or_compile("choices", [name], vocabulary)
        again = store.get(store.key_of("choices", [name], vocabulary), vocabulary)
        assert made.shortest_member() == again.shortest_member() == name.encode() and not places[name].is_symlink()
    assert len(store.verify()) == 2 and len(store.entries()) == 3
