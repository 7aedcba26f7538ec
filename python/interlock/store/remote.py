"""The far end of a store behind a URL: anything that fsspec reaches, object stores and shared folders among them.

A remote holds the same files under the same names as a local store. Files appear whole: object stores put objects
whole, and where a protocol renames files, they are written beside their place under another name, ``*.tmp``, and
renamed. What a killed writer left under such a name stays; nothing reads it. fsspec's transactions would not do: a file
system has one at a time, so threads that upload at once end each other's, and that of local files writes to another
folder, from which a file may have to be copied.

Packs never change once they are written, so nothing needs a lock: two machines that write one key at once write the
same bytes. A download that is cut short is refused where it is read, since packs have checksums.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from interlock._core import ArtifactError, UnsupportedError

__all__ = ["Remote", "RemoteFile"]

# The end of the name of a file that is being written.
PARTIAL = ".tmp"


class RemoteFile(NamedTuple):
    """A file of a remote."""

    name: str
    """Its path below the store, with slashes."""
    bytes: int
    """Its size."""
    modified: float
    """When it was written, in seconds since the epoch; 0 where the protocol does not say."""


def _seconds(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, (int, float)) else 0.0


def _partial(name: str) -> str:
    return f"{name}.{os.getpid()}.{os.urandom(8).hex()}{PARTIAL}"


def _renames(files: Any) -> bool:
    """Whether the protocol has a way of its own to rename; those that have none would copy and delete."""
    spec: Any = importlib.import_module("fsspec.spec")
    return getattr(files.mv, "__func__", None) is not spec.AbstractFileSystem.mv


def _rename(files: Any, old: str, new: str) -> None:
    failed: Exception = OSError(f"{old} was not renamed")
    try:
        files.mv(old, new)
        if not files.exists(old):
            return
    except Exception as error:  # Every protocol has exceptions of its own.
        failed = error
    if not (files.exists(old) and files.exists(new)):
        raise failed
    # Some protocols do not rename over a file that is there, and not all of them say so.
    with contextlib.suppress(FileNotFoundError):
        files.rm(new)
    files.mv(old, new)


class Remote:
    """The files below ``url``.

    ``UnsupportedError`` if the protocol is not known here. Every other failure is an ``ArtifactError`` that names the
    url, but for a file that does not exist (``FileNotFoundError``).
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._inherited: list[Any] = []
        self._connect()

    def _connect(self) -> None:
        try:
            core: Any = importlib.import_module("fsspec.core")
        except ImportError:
            message = f"the store {self.url} is behind a URL: that needs fsspec (pip install fsspec)"
            raise UnsupportedError(message) from None
        try:
            # Not the instance that fsspec shares: what others do with that, in a transaction say, is not about us.
            self._files, root = core.url_to_fs(self.url, skip_instance_cache=True)
        except (ImportError, ValueError) as error:  # A protocol that is unknown, or needs a package.
            raise UnsupportedError(f"the store {self.url} cannot be opened: {error}") from None
        except Exception as error:  # Some protocols connect at once.
            raise ArtifactError(f"cannot open the store {self.url}: {error}") from error
        self.root = str(root).rstrip("/")
        self._process = os.getpid()

    @property
    def files(self) -> Any:
        """fsspec's file system. A forked child gets its own: connections, and the threads that serve them, cannot be
        shared with the parent."""
        if self._process != os.getpid():
            # Kept, because closing it here would end the parent's connections.
            self._inherited.append(self._files)
            self._connect()
        return self._files

    @contextlib.contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, ArtifactError, UnsupportedError):
            raise
        except Exception as error:  # Every protocol has exceptions of its own.
            raise ArtifactError(f"cannot {what} the store {self.url}: {error}") from error

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def size_of(self, name: str) -> int | None:
        """The size of a file, or ``None`` if there is none."""
        try:
            with self._failures("read"):
                return int(self.files.info(self._path(name))["size"])
        except FileNotFoundError:
            return None

    def download(self, name: str, target: Path) -> bool:
        """Copy a file to ``target``, whole or not at all; false if there is none."""
        try:
            with self._failures("read"):
                data = self.files.cat_file(self._path(name))
        except FileNotFoundError:
            return False
        partial = target.with_name(_partial(target.name))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)
            os.replace(partial, target)
        except OSError as error:
            raise ArtifactError(f"cannot keep a file of the store {self.url}: {error}") from error
        finally:
            # Where nothing can be written, nothing can be removed either.
            with contextlib.suppress(OSError):
                partial.unlink()
        return True

    def upload(self, source: Path, name: str) -> None:
        """Copy ``source`` to a file, whole or not at all."""
        with self._failures("write"):
            files, path, data = self.files, self._path(name), source.read_bytes()
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
            if not _renames(files):
                files.pipe_file(path, data)
                return
            partial = _partial(path)
            try:
                files.pipe_file(partial, data)
                _rename(files, partial, path)
            except BaseException:
                with contextlib.suppress(Exception):
                    files.rm(partial)
                raise

    def listed(self) -> list[RemoteFile]:
        """All files, by name, but for those that are being written."""
        with self._failures("list"):
            self.files.invalidate_cache()
            found = self.files.find(self.root, detail=True) if self.files.exists(self.root) else {}
        rows = []
        for path, info in found.items():
            name = str(path)[len(self.root) :].lstrip("/")
            if name.endswith(PARTIAL):
                continue
            changed = next((info[key] for key in ("mtime", "LastModified", "updated", "created") if key in info), 0.0)
            rows.append(RemoteFile(name, int(info.get("size") or 0), _seconds(changed)))
        return sorted(rows)
