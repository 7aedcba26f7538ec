"""What other files may use has a docstring: every file of the package, and its functions and classes."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "python" / "interlock"
if not PACKAGE.is_dir():
    pytest.skip("the sources are not here", allow_module_level=True)


def undocumented(text):
    """The definitions at the top of a file without a docstring, each with its line. Private ones need none, and some
    are given that of the core (``load.__doc__ = ...``).
    """
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield 1, "the file"
    given = {ast.unparse(target) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
    for node in tree.body:
        if f"{getattr(node, 'name', '')}.__doc__" in given:
            continue
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        if "overload" not in decorators and ast.get_docstring(node) is None:
            yield node.lineno, node.name


def test_everything_public_has_a_docstring():
    found = [
        f"python/interlock/{path.relative_to(PACKAGE).as_posix()}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name in undocumented(path.read_text(encoding="utf-8"))
    ]
    assert not found, "write a docstring, which says what it means, raises and costs:\n" + "\n".join(found)


def test_what_is_found():
    text = "def _a(): ...\ndef b(): ...\n@overload\ndef c(): ...\nclass D:\n    'Text.'\n    def e(self): ...\n"
    assert list(undocumented(text)) == [(1, "the file"), (2, "b")]
