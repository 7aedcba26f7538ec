"""Those who wait for an index of a store: tokens that end the wait, and locks that end with their process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from long_work import HARD, NO_LIMITS

import interlock
from interlock import Store

pytestmark = pytest.mark.usefixtures("compiled_anew")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")

SOURCE = ("choices", ["a"])


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


class Asking(threading.Thread):
    """A thread that asks for one index, and keeps what it got."""

    def __init__(self, store, vocabulary, cancel=None):
        super().__init__()
        self.arguments, self.got = (store, vocabulary, cancel), None
        self.start()

    def run(self):
        store, vocabulary, cancel = self.arguments
        try:
            self.got = store.get_or_compile(*SOURCE, vocabulary, cancel=cancel)
        except interlock.InterlockError as error:
            self.got = error

    def result(self):
        self.join(30)
        return self.got


def led(store, vocabulary, cancel=None):
    """A thread that leads: those that ask after it wait for it."""
    thread = Asking(store, vocabulary, cancel)
    while not store._flights:
        time.sleep(0.01)
    return thread


def test_one_schema_has_one_key_however_it_is_written(store, byte_vocabulary):
    written = """{
      "type": "object",\r\n\t"properties": {"caf\\u00e9\\/\\t": {"minimum": 1.5}, "\\u0062": {"enum": [-1, 1000.0]}}
    }
    """
    parsed = json.loads(written)
    same = [written, written.encode(), written.strip(), json.dumps(parsed), json.dumps(parsed, indent=1), parsed]
    assert len({store.key_of("json_schema", source, byte_vocabulary) for source in same}) == 1
    others = ['{"enum":[1,2]}', '{"enum":[2,1]}', '{"enum":[1.0,2]}', '{"enum":[1,2],"a":0}', '{"a":0,"enum":[1,2]}']
    assert len({store.key_of("json_schema", source, byte_vocabulary) for source in others}) == len(others)
    reference, other = {"anyOf": [{"$ref": "x"}, {"$ref": "é"}]}, {"const": 2}
    documents = [{"x": '{ "const": 1 }', "é": other}, {"x": {"const": 1}, "é": other}, {"é": other, "x": {"const": 1}}]
    keys = {store.key_of("json_schema", reference, byte_vocabulary, documents=d) for d in documents}
    assert len(keys) == 1
    for given in documents:  # What is put is found, whichever order it came in.
        assert store.put(interlock.Index.from_json_schema(reference, byte_vocabulary, documents=given)) in keys


def test_what_is_kept_in_memory_is_found_however_it_is_written(byte_vocabulary):
    interlock.set_index_cache_bytes(64 << 20)  # The fixture puts it back.
    schema = {"enum": ["a schema that no other test has", 1]}
    sources = [json.dumps(schema, indent=2) + "\n", schema, json.dumps(schema).encode(), json.dumps(schema)]
    indexes = []
    before = interlock.stats()
    for source in sources:
        indexes.append(interlock.Index.from_json_schema(source, byte_vocabulary))
    after = interlock.stats()
    assert after["compiles"] - before["compiles"] == 1 and after["compile_hits"] - before["compile_hits"] == 3
    assert len(set(indexes)) == 1 and indexes[0].source == json.dumps(schema, separators=(",", ":"))


def test_text_that_is_no_json_keeps_its_offsets(byte_vocabulary):
    with pytest.raises(interlock.SchemaError) as caught:
        interlock.Index.from_json_schema('{ "type" :  x }', byte_vocabulary)
    assert caught.value.offset == 12


def test_a_token_is_no_part_of_the_key(store, byte_vocabulary):
    store.get_or_compile(*SOURCE, byte_vocabulary, cancel=interlock.CancelToken())
    assert store.key_of(*SOURCE, byte_vocabulary) in store and len(store.entries()) == 1


def test_a_token_ends_the_compile(store, byte_vocabulary, tmp_path):
    token = interlock.CancelToken()
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    for _ in range(2):  # The second time it lets nothing begin.
        with pytest.raises(interlock.CancelledError):
            store.get_or_compile("regex", HARD, byte_vocabulary, limits=NO_LIMITS, cancel=token)
    timer.join()
    assert store.entries() == [] and store._flights == {} and list((tmp_path / "locks").iterdir()) == []


def test_a_token_ends_the_wait_for_another_process(store, byte_vocabulary):
    token = interlock.CancelToken()
    with store._lock(store.key_of(*SOURCE, byte_vocabulary)):
        thread = led(store, byte_vocabulary, token)
        token.cancel()
        assert isinstance(thread.result(), interlock.CancelledError)
    assert isinstance(store.get_or_compile(*SOURCE, byte_vocabulary), interlock.Index)


def test_a_token_ends_the_wait_for_another_thread(store, byte_vocabulary):
    token = interlock.CancelToken()
    with store._lock(store.key_of(*SOURCE, byte_vocabulary)):
        leader = led(store, byte_vocabulary)
        waits = Asking(store, byte_vocabulary, token)
        token.cancel()
        assert isinstance(waits.result(), interlock.CancelledError) and leader.is_alive()
    assert isinstance(leader.result(), interlock.Index)


def test_a_cancelled_leader_does_not_cancel_those_who_wait(store, byte_vocabulary):
    tokens = [interlock.CancelToken() for _ in range(3)]
    with store._lock(store.key_of(*SOURCE, byte_vocabulary)):
        leader = led(store, byte_vocabulary, tokens[0])
        waiting = [Asking(store, byte_vocabulary, cancel) for cancel in (None, *tokens[1:])]
        time.sleep(0.2)
        tokens[0].cancel()
        assert isinstance(leader.result(), interlock.CancelledError)
        assert all(thread.is_alive() for thread in waiting)
    found = [thread.result() for thread in waiting]
    assert isinstance(found[0], interlock.Index) and {index.fingerprint for index in found} == {found[0].fingerprint}
    assert store.compiled == 1 and len(store.entries()) == 1


HOLDER = """
import os, sys, time, interlock
with interlock.Store(sys.argv[1])._lock("a"):
    child = os.fork()
    if child:
        print(child, flush=True)
    time.sleep(100)
"""


@forks
def test_no_lock_outlives_its_process_in_a_child(store, tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        try:
            parent.kill()
            parent.wait()
            token = interlock.CancelToken()
            late = threading.Timer(20, token.cancel)
            late.start()
            with store._lock("a", token):
                late.cancel()
            os.kill(child, 0)  # It is still there.
        finally:
            os.kill(child, signal.SIGKILL)


@forks
def test_a_lock_stays_when_a_child_leaves_it(store, tmp_path):
    import fcntl

    from child_process import in_child

    with contextlib.ExitStack() as stack:
        stack.enter_context(store._lock("a"))
        assert in_child(lambda: stack.close() is None)
        with (tmp_path / "locks" / "a").open("rb") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert list((tmp_path / "locks").iterdir()) == []


@forks
def test_children_made_while_locks_come_and_go(store, tmp_path):
    from child_process import in_child

    ends = threading.Event()

    def lock(name):
        while not ends.is_set():
            with store._lock(name):
                pass

    threads = [threading.Thread(target=lock, args=(f"{i % 2}",)) for i in range(4)]
    for thread in threads:
        thread.start()

    def check():
        with store._lock("of the child"):
            return len(interlock.store.locks._files) == 1

    try:
        assert all(in_child(check) for _ in range(30))
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert interlock.store.locks._files == set()
