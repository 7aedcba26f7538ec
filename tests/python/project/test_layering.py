"""The direction of imports between the folders of the package, and how full they are, as ``tests/layering.rs`` holds it
for the core; and how long a file may be, in all languages.

A file imports files of its own folder and of folders before it. Imports are read, not run: what a function imports when
it is called, and what only type checkers see, does not count, since neither decides what can be loaded first.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "python" / "interlock"
if not PACKAGE.is_dir():
    pytest.skip("the sources are not here", allow_module_level=True)

TOP = "."
"""The files that lie in no folder."""
FOLDERS = [
    "util",
    "string_formats",
    "schema_hints",
    TOP,
    "gpu",
    "grammars",
    "output_types/python_types",
    "output_types",
    "output_types/pydantic_models",
    "explain",
    "samples",
    "core_methods",
    "store",
    "drawing",
    "tools",
    "tools/notations",
    "tools/spec",
    "tools/requests",
    "tools/tokens",
    "tools/tag_grammars",
    "tools/tags",
    "tools/replies",
    "serving",
    "integrations",
    "integrations/llama_cpp",
    "integrations/mlx_lm",
    "integrations/transformers",
    "integrations/sglang",
    "integrations/vllm",
    "generators/call_arguments",
    "generators/replies",
    "generators/prompts",
    "generators/tool_loop",
    "generators",
    "programs",
    "cli/terminal",
    "cli/arguments",
    "cli/sources",
    "cli/checking",
    "cli/comparing/rule_inclusion",
    "cli/comparing/versions",
    "cli/comparing",
    "cli/precomputing",
    "cli/commands",
    "cli",
]
"""In the order of the data flow. An ``__init__.py`` gathers what the folders inside of its own have."""
EXCEPTIONS = {
    # The command line is begun from there.
    ("__main__.py", "cli"),
    # Circles of tools and integrations: both servers and tools ask which special tokens a client may name.
    ("tools/tokens/allowed_tokens.py", "integrations"),
    ("tools/tags/tag_index.py", "integrations"),
    # A circle of integrations and generators: the loop takes the options of generators, and their chat templates.
    ("integrations/transformers/_tool_loop.py", "generators/call_arguments"),
    ("integrations/transformers/_tool_loop.py", "generators/prompts"),
    # A circle of generators and programs: traces sample as programs do.
    ("generators/generation_trace.py", "programs"),
}
"""What goes the other way today: the file, and the folder that it imports from. None should be added."""
HERE = "tests/python/project/test_layering.py"
RULE = (
    "A file imports from its own folder and from folders before it in FOLDERS, so that imports go one way "
    f"(CONTRIBUTING.md, 'What a change keeps to'; the order is in {HERE}). Move what both need before them, "
    "or import it in the function that needs it:"
)
FULLEST_FOLDER = 18
"""Files of Python in a folder, as in the core. Data is not counted: one file a format or a grammar is right."""
LONGEST_FILE = 520
"""Lines of a file. Stubs, which describe a module whole, and data are not counted."""
LONGEST_INLINE_TESTS = 50
"""Lines of a ``mod tests`` at the end of a file of Rust."""


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
    """The folders from which a file of a package (``("interlock", "cli")``) imports. The core and the names of
    ``interlock`` itself are in none.
    """
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
                folder = PACKAGE
                while steps and (folder / steps[0]).is_dir():
                    folder /= steps.pop(0)
                if folder != PACKAGE or (steps and (PACKAGE / f"{steps[0]}.py").is_file()):
                    found.add(folder.relative_to(PACKAGE).as_posix())
    return found


def test_imports_go_one_way():
    against = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE)
        folder = file.parent.as_posix()
        assert folder in FOLDERS, f"{folder} is a new folder: give it a place in FOLDERS, in {HERE}"
        for other in imported(path.read_text(encoding="utf-8"), ("interlock", *file.parts[:-1])):
            gathers = file.name == "__init__.py" and (folder == TOP or other.startswith(f"{folder}/"))
            if FOLDERS.index(other) > FOLDERS.index(folder) and not gathers:
                against.add((file.as_posix(), other))
    new = [f"{file} imports {other}, which comes later in FOLDERS" for file, other in sorted(against - EXCEPTIONS)]
    assert not new, f"{RULE}\n" + "\n".join(new)
    mended = sorted(EXCEPTIONS - against)
    assert not mended, f"these imports are gone: take them out of EXCEPTIONS in {HERE}: {mended}"


def test_folders_are_small_enough_to_be_read():
    assert all((PACKAGE / folder).is_dir() for folder in FOLDERS), "FOLDERS names a folder that is not there"
    sizes = {folder: len(list((PACKAGE / folder).glob("*.py"))) for folder in FOLDERS}
    tests = PACKAGE.parents[1] / "tests" / "python"
    sizes |= {f"tests/python/{path.name}": len(list(path.glob("*.py"))) for path in [tests, *tests.rglob("*")]}
    full = {folder: size for folder, size in sizes.items() if size > FULLEST_FOLDER}
    assert not full, f"divide by concept what has more than {FULLEST_FOLDER} files: {full}"


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


def test_unit_tests_of_rust_lie_where_contributing_says():
    source = PACKAGE.parents[1] / "src"
    astray = [path.as_posix() for path in source.rglob("*_tests.rs")]
    assert not astray, f"tests of src/x.rs are in src/x/tests.rs: {astray}"
    inline = {}
    for path in source.rglob("*.rs"):
        _, begin, tests = path.read_text(encoding="utf-8").partition("\nmod tests {\n")
        if begin:
            inline[path.relative_to(source).as_posix()] = len(tests.splitlines()) + 1
    assert len(inline) > 20
    long = {file: lines for file, lines in inline.items() if lines > LONGEST_INLINE_TESTS}
    assert not long, f"tests of more than {LONGEST_INLINE_TESTS} lines are a file of their own: {long}"


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("import interlock.cli.main", {"cli"}),
        ("from interlock import Index, _core", set()),
        ("from interlock._core import Index", set()),
        ("from interlock import masks", {TOP}),
        ("from interlock.masks import apply_bitmask", {TOP}),
        ("from interlock.util import near_words", {"util"}),
        ("from interlock.tools.tags import tag_index", {"tools/tags"}),
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
