"""The direction of imports between the folders of the package, as ``tests/layering.rs`` holds it for the core, and how
long a file may be, in all languages.

A file imports files of its own folder and of folders before it. Imports are read, not run: what a function imports when
it is called, and what only type checkers see, does not count, since neither decides what can be loaded first.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "interlock"
if not PACKAGE.is_dir():
    pytest.skip("the sources are not here", allow_module_level=True)

TOP = "the top"
"""The files that lie in no folder."""
FOLDERS = [
    TOP,
    "gpu",
    "grammars",
    "output_types",
    "explain",
    "drawing",
    "tools",
    "integrations",
    "generators",
    "programs",
    "cli",
]
OF_THE_TOP = ("schema_hints", "store")
"""Folders whose files count as such that lie in none: the top imports them, and they import it."""
EXCEPTIONS = {
    # The command line is begun from there.
    ("__main__.py", "cli"),
    # It draws texts by the structure of schemas that `explain` reads.
    ("plausible.py", "explain"),
    # Circles of tools and integrations: both servers and tools ask which special tokens a client may name.
    ("tools/allowed_tokens.py", "integrations"),
    ("tools/tag_index.py", "integrations"),
    # A circle of integrations and generators: the loop takes the options of generators.
    ("integrations/transformers/_tool_loop.py", "generators"),
    # A circle of generators and programs: traces sample as programs do.
    ("generators/generation_trace.py", "programs"),
}
"""What goes the other way today: the file, and the folder that it imports from. None should be added."""


LONGEST_FILE = 520
"""Lines of a file. Stubs, which describe a module whole, and data are not counted."""


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a file is imported, with the branches of ``if`` and ``try``."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from statements(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody"):
                yield from statements(getattr(statement, part, []))
            for handler in getattr(statement, "handlers", []):
                yield from statements(handler.body)


def imported(text: str, package: tuple[str, ...]) -> set[str]:
    """The folders from which a file of a package (``("interlock", "cli")``) imports."""
    found = set()
    for statement in statements(ast.parse(text).body):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            beginning = package[: len(package) + 1 - statement.level] if statement.level else ()
            module = ".".join([*beginning, *([statement.module] if statement.module else [])])
            names = [f"{module}.{alias.name}" for alias in statement.names]
        else:
            continue
        for root, *steps in (name.split(".") for name in names):
            if root == "interlock":
                is_folder = bool(steps) and steps[0] not in OF_THE_TOP and (PACKAGE / steps[0]).is_dir()
                found.add(steps[0] if is_folder else TOP)
    return found


def test_imports_go_one_way():
    against = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE)
        folder = file.parts[0] if len(file.parts) > 1 and file.parts[0] not in OF_THE_TOP else TOP
        assert folder in FOLDERS, f"{folder} is a new folder: give it a place in FOLDERS"
        for other in imported(path.read_text(encoding="utf-8"), ("interlock", *file.parts[:-1])):
            if FOLDERS.index(other) > FOLDERS.index(folder):
                against.add((file.as_posix(), other))
    new = [f"{file} imports {other}, which comes later in FOLDERS" for file, other in sorted(against - EXCEPTIONS)]
    assert not new, "\n".join(new)
    assert not EXCEPTIONS - against, f"these are mended: take them out of EXCEPTIONS: {sorted(EXCEPTIONS - against)}"


def test_files_are_short_enough_to_be_read():
    root = PACKAGE.parents[1]
    kept = ("src", "python", "tests", "benches", "fuzz", "examples")
    files = [
        path
        for folder in kept
        for kind in ("py", "rs")
        for path in (root / folder).rglob(f"*.{kind}")
        if "target" not in path.parts
    ]
    assert len(files) > 900
    lines = {path.relative_to(root): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    long = {path.as_posix(): count for path, count in lines.items() if count > LONGEST_FILE}
    assert not long, f"split by concept what has more than {LONGEST_FILE} lines: {long}"


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("import interlock.cli.main", {"cli"}),
        ("from interlock import near_words", {TOP}),
        ("from interlock import tools", {"tools"}),
        ("from .. import explain", {"explain"}),
        ("from . import inspect", {"cli"}),
        ("from ..gpu.device_rows import DeviceRows", {"gpu"}),
        ("try:\n    import interlock.gpu\nexcept ImportError:\n    import interlock.cli", {"gpu", "cli"}),
        ("class A:\n    from interlock.drawing import draw", {"drawing"}),
        ("def f():\n    import interlock.cli", set()),
        ("if TYPE_CHECKING:\n    import interlock.cli\nelse:\n    import interlock.gpu", {"gpu"}),
        ("import json", set()),
    ],
)
def test_what_counts_as_an_import(text, folders):
    assert imported(text, ("interlock", "cli")) == folders
