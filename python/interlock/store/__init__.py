"""A folder of compiled indexes, shared by threads and processes.

A store keeps *packs*, the files that ``Index.save`` writes, under the *key* of what they were made from: kind of
source, source, options, limits, documents, the vocabulary's fingerprint, the format and the version of interlock. The
same question has the same key everywhere, and nothing that is asked later can change what a key means.

* *Reading* takes no lock. A pack appears by renaming and is whole from the first moment. Packs hold tables, so an index
  that comes from the store is mapped, not compiled (see ``Index.load``).
* *Compiling* happens once. Threads that ask for one key wait for the first of them; processes wait at a lock of the
  operating system, one for each key, which ends with the process that holds it (see ``interlock.store.locks``).
* *Eviction* removes the packs that were used longest ago. Whoever has a removed pack open keeps it.

The packs lie in folders named by the first two digits of their keys, so that thousands of them do not share a folder.
Vocabularies lie in a folder of their own, locks in another.

A store behind a URL has the same files on a remote (see ``interlock.store.remote``) and a local folder, the *cache*,
that holds what was read or written here, because only local files can be mapped.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import logging
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, NamedTuple

from interlock import _core
from interlock._core import ArgumentError, ArtifactError, CancelledError, CancelToken, Index, Vocabulary
from interlock.core_methods.index_files import holds_tables, plain_save
from interlock.store import locks
from interlock.store.pack_files import SUFFIX, packs_within, problems_of, status_of
from interlock.store.recipes import KINDS, recipe_of
from interlock.store.remote import Remote
from interlock.util.argument_types import require

__all__ = ["Entry", "Store"]

_LOGGER = logging.getLogger("interlock.store")

DIGITS = 64
# Those that are compiled as a grammar, a schema, a pattern or choices in the end.
_DERIVED = KINDS[4:]
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


def _outcome(flight: Future[Index], cancel: CancelToken | None) -> BaseException | None:
    """How ``flight`` ends, ``None`` if well. ``CancelledError`` if ``cancel`` ends the wait."""
    while True:
        locks.stop_if(cancel)
        with contextlib.suppress(TimeoutError):
            return flight.exception(None if cancel is None else locks.POLL_SECONDS)


# The stores of this process.
_STORES: weakref.WeakSet[Store] = weakref.WeakSet()


def _after_fork() -> None:
    """Whoever compiled is not in the child."""
    for store in list(_STORES):
        store._flights, store._mutex = {}, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _restore(
    path: str, max_bytes: int | None, tables: bool, cache: str | None, on_failure: Literal["error", "warn"] = "error"
) -> Store:
    return Store(path, max_bytes, tables=tables, cache=cache, on_failure=on_failure)


def _cache(url: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "interlock" / "stores" / hashlib.blake2b(url.encode(), digest_size=16).hexdigest()


class Store:
    """The packs in the folder or behind the fsspec URL ``path``; a folder is made if it is missing.

    ``max_bytes`` bounds the total size of a folder's packs: after a pack is added, those that were used longest ago are
    removed until the rest fits; the newest stays in any case. All methods may be used by any number of threads and
    processes at once. Failures of the file system (no space, no permission) are ``ArtifactError``; the store stays
    valid.

    ``tables=False`` keeps only what an index is compiled from: smaller packs, which are compiled again when they are
    read.

    Of a store behind a URL, ``cache`` is the local folder for packs that were read or written here (by default one in
    the user's cache folder), and ``max_bytes`` bounds that; nothing is removed from the remote. One machine compiles a
    key once; two machines may do so at the same time and write the same bytes.

    ``on_failure="warn"`` is for servers: where the files fail, ``get_or_compile`` compiles without them, and the logger
    ``interlock.store`` has a warning with the reason. With ``"error"`` that is an ``ArtifactError``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        max_bytes: int | None = None,
        *,
        tables: bool = True,
        cache: str | os.PathLike[str] | None = None,
        on_failure: Literal["error", "warn"] = "error",
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"path must be a folder or an fsspec URL, as str or os.PathLike, not {type(path).__name__}")
        require(max_bytes=(max_bytes, "count?"), tables=(tables, "flag"), cache=(cache, "path?"))
        if max_bytes is not None and max_bytes < 0:
            raise ArgumentError(f"max_bytes must not be negative, got {max_bytes}")
        require(on_failure=(on_failure, "text"))
        if on_failure not in ("error", "warn"):
            raise ArgumentError(f"on_failure must be 'error' or 'warn', not {on_failure!r}")
        self.on_failure = on_failure
        where = os.fspath(path)
        self._remote = Remote(where) if "://" in where else None
        if cache is not None and self._remote is None:
            raise ArgumentError("cache is for stores behind URLs; a folder needs none")
        self.url = where if self._remote else None
        self.path = Path(cache) if cache is not None else _cache(where) if self._remote else Path(where)
        self.max_bytes = max_bytes
        self.tables = tables
        self._flights: dict[str, Future[Index]] = {}
        self._mutex = threading.Lock()
        self.compiled = 0
        """How many indexes this object has compiled and added, because nobody else had."""
        if self.path.is_file():
            error = ArtifactError(f"cannot open the store {self.path}: it is a file, and a store is a folder")
            error.code = "not_a_folder"
            raise error
        try:
            with self._failures("open"):
                self.path.mkdir(parents=True, exist_ok=True)
        except ArtifactError as error:
            if on_failure == "error":
                raise
            _LOGGER.warning("indexes are compiled without the store: %s", error)
        _STORES.add(self)

    def __repr__(self) -> str:
        return f"Store({self.url or str(self.path)!r}, max_bytes={self.max_bytes})"

    def __reduce__(self) -> tuple[Any, ...]:
        place = self.url or str(self.path)
        return _restore, (place, self.max_bytes, self.tables, str(self.path) if self.url else None, self.on_failure)

    @contextlib.contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            inside = "" if error.filename in (None, str(self.path)) else f" ({error.filename})"
            raise ArtifactError(f"cannot {what} the store {self.path}: {why}{inside}") from error

    def _file(self, key: str) -> Path:
        require(key=(key, "text"))
        if len(key) != DIGITS or not set(key) <= set("0123456789abcdef"):
            raise ArgumentError(f"a key has {DIGITS} hexadecimal digits, got {key!r}")
        return self.path / key[:2] / (key + SUFFIX)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix()

    def _is_here(self, file: Path) -> bool:
        with self._failures("read"):
            return status_of(file) is not None

    def _local(self, file: Path) -> bool:
        """Whether ``file`` is here now, brought from the remote if it was only there."""
        if self._is_here(file):
            return True
        return self._remote is not None and self._remote.download(self._name(file), file)

    def _lock(self, name: str, cancel: CancelToken | None = None) -> contextlib.AbstractContextManager[None]:
        folder = self.path / "locks"
        folder.mkdir(exist_ok=True)
        return locks.locked(folder / name, cancel)

    def key_of(self, kind: str, source: Any, vocabulary: Vocabulary, **options: Any) -> str:
        """The key of an index, which need not exist. ``kind`` is ``"regex"``, ``"json_schema"``, ``"choices"``,
        ``"grammar"``, ``"structural_tag"``, ``"tools"`` or ``"response_format"``; source and options are those of
        ``Index.from_...``. Nothing is compiled.

        The last three have the key of what they are compiled from in the end: tags that say the same in other words
        share a pack.
        """
        require(vocabulary=(vocabulary, "vocabulary"), kind=(kind, "text"))
        if kind in _DERIVED:
            from interlock.tools.tags.tag_index import stored_source

            kind, source, options = stored_source(kind, source, vocabulary, options)
        return _core._store_key(recipe_of(kind, source, options), vocabulary.fingerprint)

    def __contains__(self, key: str) -> bool:
        file = self._file(key)
        return self._is_here(file) or (self._remote is not None and self._remote.size_of(self._name(file)) is not None)

    def __iter__(self) -> Iterator[str]:
        """The keys of all packs, as in ``entries``."""
        return iter([entry.key for entry in self.entries()])

    def __len__(self) -> int:
        """The number of packs. It costs what ``entries`` costs."""
        return len(self.entries())

    def __bool__(self) -> bool:
        """``True``, also for a store without packs: ``if store`` asks whether there is a store."""
        return True

    def size_of(self, key: str) -> int | None:
        """The size of the pack under ``key`` in bytes, or ``None`` if there is none."""
        file = self._file(key)
        with self._failures("read"):
            status = status_of(file)
        if status is None:
            return None if self._remote is None else self._remote.size_of(self._name(file))
        return status.st_size

    def tables_of(self, key: str, vocabulary: Vocabulary) -> Literal["complete", "beginning", "none"] | None:
        """Which tables the pack under ``key`` has: ``"complete"`` ones, so that loading it compiles nothing; those of
        the ``"beginning"`` of an output; or ``"none"``, so that it is compiled again when it is loaded. ``None`` if
        there is no such pack.

        ``ArtifactError`` if it is damaged or for another vocabulary. The pack is read once, and nothing is compiled.
        """
        require(vocabulary=(vocabulary, "vocabulary"))
        file = self._file(key)
        if not self._local(file):
            return None
        fingerprint, _, recipe = _core._verify_pack(file)
        if fingerprint != vocabulary.fingerprint or _core._store_key(recipe, fingerprint) != key:
            raise ArtifactError(f"{file} is damaged: it lies under a key that is not its own")
        with self._failures("read"):
            if not holds_tables(file, recipe):
                return "none"
        return "complete" if Index.load(file, vocabulary).is_complete else "beginning"

    def add_vocabulary(self, vocabulary: Vocabulary) -> Path:
        """Keep ``vocabulary`` beside the indexes, for processes that map it; the file, which ``Vocabulary.load`` reads.

        A pack that is there already stays, unless it is damaged or of another version.
        """
        require(vocabulary=(vocabulary, "vocabulary"))
        file = self.path / VOCABULARIES / (vocabulary.fingerprint + SUFFIX)
        try:
            if self._local(file) and Vocabulary.load(file).fingerprint == vocabulary.fingerprint:
                return file
        except ArtifactError:
            pass  # It is replaced.
        with self._failures("write"):
            file.parent.mkdir(exist_ok=True)
            vocabulary.save(file)
            if self._remote is not None:
                self._remote.upload(file, self._name(file))
        return file

    def get(self, key: str, vocabulary: Vocabulary) -> Index | None:
        """The index under ``key``, or ``None``. ``ArtifactError`` if its pack is damaged or for another vocabulary.
        ``interlock.stats()`` counts both outcomes, as those of ``get_or_compile``: ``store_hits``, ``store_misses``.
        """
        require(vocabulary=(vocabulary, "vocabulary"))
        found = None
        try:
            found = self._loaded(key, vocabulary)
        finally:
            _core._count_store(found is not None)
        return found

    def _loaded(self, key: str, vocabulary: Vocabulary) -> Index | None:
        file = self._file(key)
        if not self._local(file):
            return None
        try:
            index = Index.load(file, vocabulary)
            if _core._store_key(index._recipe(), vocabulary.fingerprint) != key:
                raise ArtifactError(f"{file} is damaged: its recipe has another key")
        except ArtifactError:
            if not self._is_here(file):  # Evicted between the two.
                return None
            if self._remote is not None:
                # It may have been cut short on the way: the next one asks the remote again.
                with contextlib.suppress(OSError):
                    file.unlink()
            raise
        # A store that may only be read is used all the same.
        with contextlib.suppress(OSError):
            os.utime(file)
        return index

    def put(self, index: Index) -> str:
        """Add an index; its key."""
        require(index=(index, "index"))
        key = _core._store_key(index._recipe(), index.vocabulary.fingerprint)
        file = self._file(key)
        with self._failures("write"):
            file.parent.mkdir(exist_ok=True)
            plain_save(index, file, tables=self.tables)
            if self._remote is not None:
                self._remote.upload(file, self._name(file))
            self._sweep(file.parent)
            if self.max_bytes is not None:
                self._evict(key, self.max_bytes)
        return key

    def get_or_compile(
        self, kind: str, source: Any, vocabulary: Vocabulary, *, cancel: CancelToken | None = None, **options: Any
    ) -> Index:
        """The index for these arguments (see ``key_of``), from the store, or compiled and added.

        Of all threads and processes that ask at once, one compiles. A pack that is damaged is replaced, and so is a
        link that leads nowhere; a folder or a pipe in its place is an ``ArtifactError`` before anything is compiled.
        Sources that cannot be compiled raise what ``Index.from_...`` raises, in every thread that waited, and leave
        nothing.

        ``cancel`` ends this call alone, with ``CancelledError``, while it compiles or waits: if others wait for what it
        compiles, one of them begins anew. What is compiled is added in any case.
        """
        require(vocabulary=(vocabulary, "vocabulary"), cancel=(cancel, "cancel?"))
        key = self.key_of(kind, source, vocabulary, **options)
        while True:
            locks.stop_if(cancel)
            with self._mutex:
                flight = self._flights.get(key)
                leads = flight is None
                if flight is None:
                    flight = self._flights[key] = Future()
            if leads:
                make = functools.partial(getattr(Index, f"from_{kind}"), source, vocabulary, cancel=cancel, **options)
                return self._lead(flight, key, vocabulary, make, cancel)
            error = _outcome(flight, cancel)
            if error is None:
                return flight.result()
            if isinstance(error, Exception) and not isinstance(error, CancelledError):
                # Equal, and this thread's own: a traceback belongs to one thread.
                raise copy.copy(error)
            # The one who compiled was interrupted or cancelled, which is not about this thread.

    def _lead(
        self,
        flight: Future[Index],
        key: str,
        vocabulary: Vocabulary,
        make: Callable[[], Index],
        cancel: CancelToken | None,
    ) -> Index:
        """Compile for everybody who waits for ``flight``."""
        made: list[Index] = []
        try:
            try:
                index = self._find(self.get, key, vocabulary) or self._added(key, vocabulary, make, made, cancel)
            except ArtifactError as error:
                if self.on_failure == "error":
                    raise
                _LOGGER.warning("an index is compiled without the store: %s", error)
                index = made[0] if made else make()
        except BaseException as error:
            self._land(key)
            flight.set_exception(error)
            raise
        self._land(key)
        flight.set_result(index)
        return index

    def _added(
        self,
        key: str,
        vocabulary: Vocabulary,
        make: Callable[[], Index],
        made: list[Index],
        cancel: CancelToken | None,
    ) -> Index:
        """The index that another process added meanwhile, or the one that ``make`` makes, added; it is in ``made``
        before the files can fail."""
        with contextlib.ExitStack() as stack:
            with self._failures("lock"):
                stack.enter_context(self._lock(key, cancel))
            index = self._find(self._loaded, key, vocabulary)
            if index is None:
                self._check_place(self._file(key))
                index = make()
                made.append(index)
                self.put(index)
                with self._mutex:
                    self.compiled += 1
        return index

    def _land(self, key: str) -> None:
        with self._mutex:
            self._flights.pop(key, None)

    def _find(self, look: Callable[[str, Vocabulary], Index | None], key: str, vocabulary: Vocabulary) -> Index | None:
        try:
            return look(key, vocabulary)
        except ArtifactError:  # Damaged: it is compiled again and replaced.
            return None

    def _check_place(self, file: Path) -> None:
        """Fail where something that is no pack has the place of one, and would only be found once that is written."""
        with self._failures("write"):
            if file.exists() and not file.is_file():
                raise ArtifactError(f"cannot write {file}: it is no regular file")
            if os.path.lexists(file.parent) and not file.parent.is_dir():
                raise ArtifactError(f"cannot write {file}: {file.parent} is no folder")

    def _packs(self) -> Iterator[Path]:
        with self._failures("list"):
            for folder in sorted(self.path.iterdir()):
                if len(folder.name) == 2 and folder.is_dir():
                    yield from packs_within(folder)

    def entries(self) -> list[Entry]:
        """All packs, by key.

        Cost: one look at each file's size and time; of a remote, one listing, and ``used`` is when a pack was written.
        """
        with self._failures("list"):
            return self._here() if self._remote is None else self._there(self._remote)

    def _there(self, remote: Remote) -> list[Entry]:
        names = [(file, file.name.rpartition("/")[2].removesuffix(SUFFIX)) for file in remote.listed()]
        return [Entry(key, file.bytes, file.modified) for file, key in names if file.name == f"{key[:2]}/{key}{SUFFIX}"]

    def _here(self) -> list[Entry]:
        found = []
        for file in self._packs():
            status = status_of(file)
            if status is not None:  # Else it was evicted meanwhile, or is no file.
                found.append(Entry(file.name.removesuffix(SUFFIX), status.st_size, status.st_mtime))
        return found

    def total_bytes(self) -> int:
        """The size of all packs."""
        return sum(entry.bytes for entry in self.entries())

    def verify(self) -> list[str]:
        """Check every pack from its first byte to its last, and that it lies under its own key. One line for each
        problem; an empty list for a store that is sound. Nothing is changed."""
        with self._failures("read"):
            return self._problems_here() if self._remote is None else self._problems_there(self._remote)

    def _problems_here(self) -> list[str]:
        try:
            vocabularies = packs_within(self.path / VOCABULARIES)
        except FileNotFoundError:
            vocabularies = []
        return problems_of(vocabularies, self._packs())

    def _problems_there(self, remote: Remote) -> list[str]:
        problems = []
        with tempfile.TemporaryDirectory() as folder:
            for file in remote.listed():
                copied = Path(folder) / file.name.rpartition("/")[2]
                if not file.name.endswith(SUFFIX) or not remote.download(file.name, copied):
                    continue
                is_vocabulary = file.name.startswith(VOCABULARIES + "/")
                found = problems_of([copied] if is_vocabulary else [], [] if is_vocabulary else [copied])
                problems += [line.replace(str(copied), f"{self.url}/{file.name}") for line in found]
                copied.unlink()
        return problems

    def _evict(self, newest: str, max_bytes: int) -> None:
        with self._lock("evict"):
            entries = self._here()
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
