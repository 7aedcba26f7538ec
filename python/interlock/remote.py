"""The far end of a store behind a URL: anything that fsspec reaches, object stores and shared folders among them.

A remote holds the same files under the same names as a local store. Files appear whole: they are written in one of
fsspec's transactions, which uploads under another name, or commits an upload, as the protocol has it. Packs never
change once they are written, so nothing needs a lock: two machines that write one key at once write the same bytes.
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


class Remote:
    """The files below ``url``. Every failure is an ``ArtifactError`` that names it."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            core: Any = importlib.import_module("fsspec.core")
        except ImportError:
            raise UnsupportedError(f"the store {url} is behind a URL: that needs fsspec (pip install fsspec)") from None
        try:
            self.files, root = core.url_to_fs(url)
        except (ImportError, ValueError) as error:  # A protocol that is unknown, or needs a package.
            raise UnsupportedError(f"the store {url} cannot be opened: {error}") from None
        self.root = str(root).rstrip("/")

    @contextlib.contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
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
        partial = target.with_name(f"{target.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)
            os.replace(partial, target)
        except OSError as error:
            raise ArtifactError(f"cannot keep a file of the store {self.url}: {error}") from error
        finally:
            partial.unlink(missing_ok=True)
        return True

    def upload(self, source: Path, name: str) -> None:
        """Copy ``source`` to a file."""
        with self._failures("write"):
            path = self._path(name)
            self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
            with self.files.transaction, self.files.open(path, "wb") as file:
                file.write(source.read_bytes())

    def listed(self) -> list[RemoteFile]:
        """All files, by name."""
        with self._failures("list"):
            self.files.invalidate_cache()
            found = self.files.find(self.root, detail=True) if self.files.exists(self.root) else {}
        rows = []
        for path, info in found.items():
            name = str(path)[len(self.root) :].lstrip("/")
            changed = next((info[key] for key in ("mtime", "LastModified", "updated", "created") if key in info), 0.0)
            rows.append(RemoteFile(name, int(info.get("size") or 0), _seconds(changed)))
        return sorted(rows)
