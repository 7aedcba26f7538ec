"""Vocabularies that the tests share."""

import signal
import sys
from pathlib import Path

import core_sources
import numpy as np
import pytest

try:
    import interlock
except ImportError as error:
    core = sys.modules.get("interlock._core")
    raise pytest.UsageError(core_sources.why_not_imported(error, core)) from error

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

EOS = 256

# A shell starts its background jobs with SIGINT ignored, and whatever they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    """A core of other sources is named at the start. Workers of pytest-xdist have no reporter of their own."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    age = reporter and core_sources.age_of(interlock._core)
    if age:
        reporter.write_line(age, yellow=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter, exitstatus):
    """And once more behind the list of what failed: the start has scrolled away by then."""
    yield
    failed = exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    age = failed and core_sources.age_of(interlock._core)
    if age:
        terminalreporter.write_line(age, red=True, bold=True)


def masks_along(index, text):
    """The masks at each byte of a text, one below the other. The bytes are the ids of their tokens."""
    guide = index.guide()
    rows = []
    for byte in text:
        row = interlock.allocate_bitmask(1, index.vocabulary.size)
        guide.fill_bitmask(row)
        rows.append(np.array(row))
        guide.advance(byte)
    return np.concatenate(rows)


@pytest.fixture
def compiled_anew():
    """Indexes of one source share nothing that was made for another one."""
    before = interlock.get_index_cache_bytes()
    interlock.set_index_cache_bytes(0)
    yield
    interlock.set_index_cache_bytes(before)


@pytest.fixture(scope="module")
def room_for_all_sources():
    """For tests of what one source may take: all sources of the process have a bound as well, and what tests of other
    files left behind counts as theirs."""
    before = interlock.get_mask_cache_bytes()
    interlock.set_mask_cache_bytes(1 << 30)
    yield
    interlock.set_mask_cache_bytes(before)


@pytest.fixture(scope="session")
def byte_vocabulary() -> interlock.Vocabulary:
    """One token per byte; id 256 ends the output. The logits are padded to 300 columns."""
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[EOS], size=300)


@pytest.fixture(scope="session")
def word_vocabulary() -> interlock.Vocabulary:
    """Bytes, some longer tokens, a special token that looks like text, and two stop tokens."""
    words = [b"yes", b"no", b"ye", b"es", b"<s>", b'{"', b'":', b"12", b"\xc3\xa9"]
    tokens = [bytes([i]) for i in range(256)] + words + [b"</s>", b""]
    return interlock.Vocabulary(
        tokens, eos_token_ids=[len(tokens) - 2, len(tokens) - 1], special_token_ids=[256 + words.index(b"<s>")]
    )


@pytest.fixture(scope="session")
def llama3() -> interlock.Vocabulary:
    """128,256 real tokens; downloaded once into the user's cache."""
    from real_vocabulary import load

    return load()


@pytest.fixture
def folder(tmp_path):
    """A folder with files for the command line; see ``command_line``."""
    from command_line import write_files

    return write_files(tmp_path)


@pytest.fixture
def shelf(folder):
    """The same with a source of each kind."""
    from command_line import write_sources

    return write_sources(folder)


@pytest.fixture
def sglang(monkeypatch):
    """The SGLang plug-in's modules, with a stand-in for SGLang."""
    import sglang_stand_in

    return sglang_stand_in.loaded(monkeypatch)
