"""Whether the core that is built is older than the sources: then tests may fail for that reason alone.

``build.rs`` writes a checksum of the sources into the core, as ``_core._sources``. The same checksum of the checkout's
files is made here. Where the two differ, a run of the tests begins with a line that says so, and a run that failed ends
with it. No test fails because of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]
REMEDY = "run make dev"
_MOST_NAMED = 5


def source_files(root: Path) -> Iterator[Path]:
    """The files of which the core is built, as ``build.rs`` finds them. Hidden files are an editor's."""
    manifests = [path for path in (root / "Cargo.lock", root / "Cargo.toml") if path.is_file()]
    inside = [
        path
        for path in (root / "src").rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]
    yield from sorted([*manifests, *inside], key=lambda path: path.relative_to(root).as_posix())


def checksum(root: Path) -> str:
    """The checksum Adler-32 of the names and contents of the sources, as eight hexadecimal digits."""
    value = 1
    for path in source_files(root):
        value = zlib.adler32(path.relative_to(root).as_posix().encode() + b"\0", value)
        value = zlib.adler32(path.read_bytes(), value)
    return f"{value:08x}"


def age_of(core: ModuleType, root: Path = ROOT) -> str | None:
    """One line that says that ``core`` was built from other sources than those of ``root``; ``None`` if it was not.

    A core from before there was a checksum has none, so its sources are others.
    """
    if not (root / "src").is_dir() or getattr(core, "_sources", None) == checksum(root):
        return None
    built = Path(core.__file__ or "")
    newer = _changed_since(built.stat().st_mtime, root) if built.is_file() else []
    if newer:
        return f"the core is older than {_listed(newer)}: {REMEDY}"
    return f"the core was built from other sources than those in src: {REMEDY}"


def _changed_since(time: float, root: Path) -> list[str]:
    """The sources that changed after a time, the last change first."""
    changes = [(path.stat().st_mtime, path.relative_to(root).as_posix()) for path in source_files(root)]
    return [name for changed, name in sorted(changes, key=lambda change: (-change[0], change[1])) if changed > time]


def _listed(names: list[str]) -> str:
    """The first names as a list in words, with the number of the others."""
    named, others = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    if others > 0:
        named.append("1 other file" if others == 1 else f"{others} other files")
    *first, last = named
    return f"{', '.join(first)} and {last}" if first else last


def why_not_imported(error: ImportError, core: ModuleType | None, root: Path = ROOT) -> str:
    """What to say where the package cannot be imported. ``core`` is the compiled module, if that could be loaded."""
    if core is None:
        return f"the core cannot be loaded ({error}): {REMEDY}"
    return f"the package cannot be imported ({error})" + (f"; {age}" if (age := age_of(core, root)) else "")
