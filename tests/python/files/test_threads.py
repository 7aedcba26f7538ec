"""Threads: guides are not shared, arrays may be, and work is done without the GIL."""

import functools
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import interlock


@pytest.fixture
def index(byte_vocabulary):
    return interlock.Index.from_choices([f"{i:04d}" for i in range(3000)], byte_vocabulary)


def test_threads_fill_different_rows_of_one_array(index, byte_vocabulary):
    guides = [index.guide() for _ in range(8)]
    for i, guide in enumerate(guides):
        guide.advance_many(f"{i:04d}".encode()[: i % 5])
    expected = interlock.allocate_bitmask(8, byte_vocabulary)
    for i, guide in enumerate(guides):
        guide.fill_bitmask(expected, i)
    bits = interlock.allocate_bitmask(8, byte_vocabulary)

    def fill(i):
        for _ in range(200):
            guides[i].fill_bitmask(bits, i)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fill, range(8)))
    assert (bits == expected).all()


def test_one_guide_in_two_threads_is_refused_or_serial(index, byte_vocabulary):
    """Whatever the timing: each call succeeds or raises GuideBusyError, and the guide stays consistent."""
    guide = index.guide()
    outcomes = set()
    start = threading.Barrier(4)

    def use():
        bits = interlock.allocate_bitmask(1, byte_vocabulary)
        start.wait()
        for _ in range(3000):
            try:
                guide.fill_bitmask(bits)
                outcomes.add("filled")
            except interlock.GuideBusyError:
                outcomes.add("busy")

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "filled" in outcomes
    assert guide.advance_many(b"0000") == 4 and guide.must_stop


def test_compiling_releases_the_gil(byte_vocabulary):
    """While one thread compiles, another one counts."""
    finished = threading.Event()
    ticks = 0

    def compile_():
        interlock.Vocabulary([b"%d" % i for i in range(400_000)], [0])
        finished.set()

    thread = threading.Thread(target=compile_)
    thread.start()
    while not finished.is_set():
        ticks += 1
        time.sleep(0.0005)
    thread.join()
    assert ticks > 10


@pytest.mark.parametrize(
    ("text", "number"), [("3", 3), (" 2 ", 2), ("", None), ("0", None), ("abc", None), ("-1", None)]
)
def test_number_of_threads_from_the_environment(text, number):
    """What is no number of threads is not used, and a warning says so."""
    program = "import interlock; print(interlock.get_num_threads())"
    plain = {name: value for name, value in os.environ.items() if name != "INTERLOCK_NUM_THREADS"}
    run = functools.partial(subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=True)
    default = int(run(env=plain).stdout)
    answer = run(env={**plain, "INTERLOCK_NUM_THREADS": text})
    assert int(answer.stdout) == (number or default)
    assert ("INTERLOCK_NUM_THREADS is ignored" in answer.stderr) == (number is None and text != "")


def test_set_num_threads():
    default = interlock.get_num_threads()
    assert default >= 1
    try:
        interlock.set_num_threads(3)
        assert interlock.get_num_threads() == 3
        for bad in (0, 10**6):
            with pytest.raises(interlock.ArgumentError):
                interlock.set_num_threads(bad)
        assert interlock.get_num_threads() == 3
    finally:
        interlock.set_num_threads(None)
    assert interlock.get_num_threads() == default


def in_new_process(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize(("value", "expected"), [("3", "3"), ("junk", None), ("0", None), ("", None)])
def test_environment_variable(value, expected):
    out = in_new_process("import interlock; print(interlock.get_num_threads())", INTERLOCK_NUM_THREADS=value)
    assert out == (expected or str(len(os.sched_getaffinity(0))))


def test_default_respects_affinity():
    one = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{one}}}); import interlock; print(interlock.get_num_threads())"
    environment = {"INTERLOCK_NUM_THREADS": ""}
    assert in_new_process(code, **environment) == "1"


def test_many_callers_share_the_pool(index, byte_vocabulary):
    def run(seed):
        guides = [index.guide() for _ in range(40)]
        bits = np.zeros((40, 10), np.int32)
        for _ in range(10):
            interlock.fill_bitmasks(guides, bits, threads=4)
        return bits

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(8)))
    assert all((bits == results[0]).all() for bits in results)
