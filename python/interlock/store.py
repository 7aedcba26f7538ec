"""A folder of compiled indexes, shared by threads and processes.

A store keeps *packs*, the files that ``Index.save`` writes, under the *key* of what they were made from: kind of
source, source, options, limits, documents, the vocabulary's fingerprint, the format and the version of interlock. The
same question has the same key everywhere, and nothing that is asked later can change what a key means.

* *Reading* takes no lock. A pack appears by renaming and is whole from the first moment.
* *Compiling* happens once. Threads that ask for one key wait for the first of them; processes wait at a lock of the
  operating system, which ends with the process that holds it, so no lock is ever stale.
* *Eviction* removes the packs that were used longest ago. Whoever has a removed pack open keeps it.

The packs lie in folders named by the first two digits of their keys, so that thousands of them do not share a folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from interlock import _core
from interlock._core import ArgumentError, ArtifactError, Index, Limits, UnsupportedError, Vocabulary

__all__ = ["Entry", "Store"]

SUFFIX = ".ilk"
DIGITS = 64
VOCABULARIES = "vocabularies"
# What a killed writer leaves behind is removed by a later writer once it is this old.
LEFTOVER_SECONDS = 3600.0


class Entry(NamedTuple):
    """One pack of a store."""

    key: str
    """64 hexadecimal digits."""
    bytes: int
    """The size of the file."""
    used: float
    """When it was used last, in seconds since the epoch."""


def _limits(limits: Limits | Mapping[str, int] | None) -> dict[str, int]:
    made = limits if isinstance(limits, Limits) else Limits(**(limits or {}))
    values: dict[str, int] = made.__reduce__()[1][0]
    return values


def _recipe(kind: str, source: Any, options: Mapping[str, Any]) -> str:
    """What ``Index._recipe`` says of the index that these arguments make, without making it."""
    given = dict(options)
    limits = _limits(given.pop("limits", None))
    arguments: list[Any]
    if kind == "regex":
        text, flags = _core._pattern_text(source, given.pop("flags", ""))
        arguments = [text, None, given.pop("dialect", "python"), flags]
    elif kind == "json_schema":
        documents = given.pop("documents", None) or {}
        arguments = [_core._schema_text(source), None, given.pop("whitespace", "flexible")]
        arguments += [given.pop("property_order", "schema"), given.pop("on_unsupported", "error")]
        arguments += [given.pop("formats", "assert")]
        arguments += [{uri: _core._schema_text(document) for uri, document in documents.items()}]
    elif kind == "choices":
        arguments = [list(source), None]
    else:
        raise ArgumentError(f'kind must be one of "regex", "json_schema", "choices", not {kind!r}')
    if given:
        raise ArgumentError(f"no option of kind {kind!r} is named {sorted(given)[0]!r}")
    return json.dumps([f"from_{kind}", [*arguments, limits]])


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with this process at the latest. The file stays: removing it would be a race."""
    with path.open("a+b") as file:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
                    break
                except OSError:  # It gives up after ten seconds.
                    continue
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                # Closing would not do: a process forked meanwhile shares the open file.
                fcntl.flock(file, fcntl.LOCK_UN)


class Store:
    """The packs in the folder ``path``, which is made if it is missing.

    ``max_bytes`` bounds their total size: after a pack is added, those that were used longest ago are removed until the
    rest fits; the newest stays in any case. All methods may be used by any number of threads and processes at once.
    Failures of the file system (no space, no permission) are ``ArtifactError``; the store stays valid.
    """

    def __init__(self, path: str | os.PathLike[str], max_bytes: int | None = None) -> None:
        if "://" in os.fspath(path):
            raise UnsupportedError("a store is a local folder; stores behind URLs are not supported by this version")
        if max_bytes is not None and max_bytes < 0:
            raise ArgumentError(f"max_bytes must not be negative, got {max_bytes}")
        self.path = Path(path)
        self.max_bytes = max_bytes
        self._flights: dict[str, Future[Index]] = {}
        self._mutex = threading.Lock()
        self._process = os.getpid()
        with self._failures("open"):
            self.path.mkdir(parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, max_bytes={self.max_bytes})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Store, (str(self.path), self.max_bytes))

    @contextlib.contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ArtifactError(f"cannot {what} the store {self.path}: {error}") from error

    def _file(self, key: str) -> Path:
        if len(key) != DIGITS or not set(key) <= set("0123456789abcdef"):
            raise ArgumentError(f"a key has {DIGITS} hexadecimal digits, got {key!r}")
        return self.path / key[:2] / (key + SUFFIX)

    def _lock(self, name: str) -> contextlib.AbstractContextManager[None]:
        folder = self.path / "locks"
        folder.mkdir(exist_ok=True)
        return _locked(folder / name)

    def key_of(self, kind: str, source: Any, vocabulary: Vocabulary, **options: Any) -> str:
        """The key of an index, which need not exist. ``kind`` is ``"regex"``, ``"json_schema"`` or ``"choices"``;
        source and options are those of ``Index.from_...``. Nothing is compiled."""
        return _core._store_key(_recipe(kind, source, options), vocabulary.fingerprint)

    def __contains__(self, key: str) -> bool:
        return self._file(key).is_file()

    def size_of(self, key: str) -> int | None:
        """The size of the pack under ``key`` in bytes, or ``None`` if there is none."""
        try:
            return self._file(key).stat().st_size
        except FileNotFoundError:
            return None

    def add_vocabulary(self, vocabulary: Vocabulary) -> Path:
        """Keep ``vocabulary`` beside the indexes, for processes that map it; the file, which ``Vocabulary.load`` reads.

        A pack that is there already stays, unless it is damaged or of another version.
        """
        file = self.path / VOCABULARIES / (vocabulary.fingerprint + SUFFIX)
        try:
            if file.is_file() and Vocabulary.load(file).fingerprint == vocabulary.fingerprint:
                return file
        except ArtifactError:
            pass  # It is replaced.
        with self._failures("write"):
            file.parent.mkdir(exist_ok=True)
            vocabulary.save(file)
        return file

    def get(self, key: str, vocabulary: Vocabulary) -> Index | None:
        """The index under ``key``, or ``None``. ``ArtifactError`` if its pack is damaged or for another vocabulary."""
        file = self._file(key)
        if not file.is_file():
            return None
        try:
            index = Index.load(file, vocabulary)
        except ArtifactError:
            if not file.is_file():  # Evicted between the two.
                return None
            raise
        if _core._store_key(index._recipe(), vocabulary.fingerprint) != key:
            raise ArtifactError(f"{file} is damaged: its recipe has another key")
        # A store that may only be read is used all the same.
        with contextlib.suppress(OSError):
            os.utime(file)
        return index

    def put(self, index: Index) -> str:
        """Add an index; its key."""
        key = _core._store_key(index._recipe(), index.vocabulary.fingerprint)
        file = self._file(key)
        with self._failures("write"):
            file.parent.mkdir(exist_ok=True)
            index.save(file)
            self._sweep(file.parent)
            if self.max_bytes is not None:
                self._evict(key, self.max_bytes)
        return key

    def get_or_compile(self, kind: str, source: Any, vocabulary: Vocabulary, **options: Any) -> Index:
        """The index for these arguments (see ``key_of``), from the store, or compiled and added.

        Of all threads and processes that ask at once, one compiles. A pack that is damaged is replaced. Sources that
        cannot be compiled raise what ``Index.from_...`` raises, in every thread that waited, and leave nothing.
        """
        key = self.key_of(kind, source, vocabulary, **options)
        with self._mutex:
            if self._process != os.getpid():  # Forked: whoever was compiling is not here.
                self._process, self._flights = os.getpid(), {}
            flight = self._flights.get(key)
            leads = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if not leads:
            return flight.result()
        try:
            index = self._find(key, vocabulary)
            if index is None:
                with contextlib.ExitStack() as stack:
                    with self._failures("lock"):
                        stack.enter_context(self._lock(key[:3]))
                    index = self._find(key, vocabulary)
                    if index is None:
                        index = getattr(Index, f"from_{kind}")(source, vocabulary, **options)
                        self.put(index)
            flight.set_result(index)
            return index
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._mutex:
                self._flights.pop(key, None)

    def _find(self, key: str, vocabulary: Vocabulary) -> Index | None:
        try:
            return self.get(key, vocabulary)
        except ArtifactError:  # Damaged: it is compiled again and replaced.
            return None

    def _packs(self) -> Iterator[Path]:
        with self._failures("list"):
            for folder in sorted(self.path.iterdir()):
                if len(folder.name) == 2 and folder.is_dir():
                    names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
                    yield from (folder / name for name in names)

    def entries(self) -> list[Entry]:
        """All packs, by key. Cost: one look at each file's size and time."""
        found = []
        for file in self._packs():
            with contextlib.suppress(FileNotFoundError):  # Evicted meanwhile.
                status = file.stat()
                found.append(Entry(file.name.removesuffix(SUFFIX), status.st_size, status.st_mtime))
        return found

    def total_bytes(self) -> int:
        """The size of all packs."""
        return sum(entry.bytes for entry in self.entries())

    def verify(self) -> list[str]:
        """Check every pack from its first byte to its last, and that it lies under its own key. One line for each
        problem; an empty list for a store that is sound. Nothing is changed."""
        problems = []
        for file in sorted((self.path / VOCABULARIES).glob("*" + SUFFIX)):
            try:
                if Vocabulary.load(file).fingerprint + SUFFIX != file.name:
                    problems.append(f"{file} lies under a fingerprint that is not its own")
            except ArtifactError as error:
                problems.append(str(error))
        for file in self._packs():
            try:
                vocabulary, _, recipe = _core._verify_pack(file)
            except ArtifactError as error:
                if file.exists():
                    problems.append(str(error))
                continue
            if _core._store_key(recipe, vocabulary) + SUFFIX != file.name:
                problems.append(f"{file} lies under a key that is not its own")
        return problems

    def _evict(self, newest: str, max_bytes: int) -> None:
        with self._lock("evict"):
            entries = self.entries()
            total = sum(entry.bytes for entry in entries)
            for entry in sorted(entries, key=lambda entry: (entry.used, entry.key)):
                if total <= max_bytes:
                    break
                if entry.key != newest:
                    self._file(entry.key).unlink(missing_ok=True)
                    total -= entry.bytes

    def _sweep(self, folder: Path) -> None:
        """Remove what writers that were killed left behind long ago."""
        before = time.time() - LEFTOVER_SECONDS
        for file in folder.glob("*.tmp"):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < before:
                    file.unlink()
