"""Put a core that was built elsewhere into this checkout, if it is the one that the Python code expects.

python tests/tools/place_core.py dist/interlock-0.1.0-cp311-abi3-linux_x86_64.whl
python tests/tools/place_core.py ../other/python/interlock/_core.abi3.so
python tests/tools/place_core.py    the core that is there already

The stubs, python/interlock/_core.pyi, say what the core has. A core with another version, other names or other
parameters is refused, and nothing is changed.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.machinery
import importlib.util
import inspect
import shutil
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
PLACE = Path("python", "interlock", "_core.abi3.so")
LIBRARIES = (".so", ".dylib", ".pyd")
SHOWN = 10


class Refused(Exception):
    """Why a core cannot be used."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", nargs="?", type=Path, help="a wheel, or the compiled module itself")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="by default the one that this file is in")
    asked = parser.parse_args()
    try:
        place(asked.source or asked.checkout / PLACE, asked.checkout)
    except Refused as error:
        sys.exit(str(error))


def place(source: Path, checkout: Path) -> None:
    """Copy the core of ``source`` into ``checkout``, once it was found to match. ``Refused`` says why not."""
    target = checkout / PLACE
    if not source.is_file():
        say = "no core is in this checkout yet" if source == target else f"{source} is no file"
        raise Refused(f"{say}: name a wheel or a compiled module, make dev-python WHEEL=path")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = Path(folder) / PLACE.name
        found.write_bytes(core_of(source))
        wrong = differences(loaded(found, source), checkout)
        if wrong:
            more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
            raise Refused(
                "\n  ".join([f"{source} is not the core that this checkout expects:", *wrong[:SHOWN], *more])
                + "\nTake a wheel that was built from this commit or one close to it, or build the core: make dev"
            )
        if source.resolve() != target.resolve():
            shutil.copyfile(found, target)


def core_of(source: Path) -> bytes:
    """The bytes of the compiled module in a wheel, or of a file that is one."""
    if source.suffix in LIBRARIES:
        return source.read_bytes()
    try:
        with zipfile.ZipFile(source) as wheel:
            for name in wheel.namelist():
                if name.startswith("interlock/_core.") and name.endswith(LIBRARIES):
                    return wheel.read(name)
    except zipfile.BadZipFile:
        raise Refused(f"{source} is neither a wheel nor a compiled module ({', '.join(LIBRARIES)})") from None
    raise Refused(f"{source} holds no interlock/_core: it is no wheel of interlock")


def loaded(path: Path, source: Path) -> ModuleType:
    """The compiled module alone; the package around it may expect other names."""
    loader = importlib.machinery.ExtensionFileLoader("interlock._core", str(path))
    spec = importlib.util.spec_from_file_location("interlock._core", path, loader=loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise Refused(
            f"Python {sys.version_info.major}.{sys.version_info.minor} on {sys.platform} cannot load {source}: {error}"
        ) from None
    return module


def differences(core: ModuleType, checkout: Path) -> list[str]:
    """What the checkout expects of the core and does not find, in sentences."""
    with (checkout / "Cargo.toml").open("rb") as file:
        version = tomllib.load(file)["package"]["version"]
    if core.__version__ != version:
        return [f"it has version {core.__version__}, the checkout has {version}"]
    stubs = ast.parse((checkout / "python" / "interlock" / "_core.pyi").read_text(encoding="utf-8"))
    # Some methods of the core's classes are written in Python; importing the package adds them.
    sys.path.insert(0, str(checkout / "python"))
    sys.modules["interlock._core"] = core
    try:
        importlib.import_module("interlock")
    except (ImportError, AttributeError) as error:
        wrong = [f"it has no {name}" for name in map(_name, stubs.body) if name and not hasattr(core, name)]
        return wrong or [f"the package cannot be imported with it: {error}"]
    return _differences(core, stubs.body, "")


def _differences(owner: object, body: list[ast.stmt], prefix: str) -> list[str]:
    found = []
    for node in body:
        name = _name(node)
        if name is None:
            continue
        if not hasattr(owner, name):
            found.append(f"it has no {prefix}{name}")
        elif isinstance(node, ast.ClassDef):
            found += _differences(getattr(owner, name), node.body, f"{name}.")
        elif isinstance(node, ast.FunctionDef):
            found += _parameters(getattr(owner, name), node, f"{prefix}{name}")
    return found


def _name(node: ast.stmt) -> str | None:
    """What a statement of the stubs declares, if the compiled module has that as an attribute."""
    if isinstance(node, ast.ClassDef):
        exists = not any(isinstance(base, ast.Name) and base.id in ("Protocol", "TypedDict") for base in node.bases)
        return node.name if exists and not node.name.startswith("_") else None
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return None if node.target.id.startswith("_") else node.target.id
    return None


def _parameters(function: object, node: ast.FunctionDef, name: str) -> list[str]:
    decorators = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
    if decorators & {"overload", "property"} or name.endswith("__"):
        return []
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    if any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in parameters):
        return []
    has = {one.name for one in parameters}
    given = node.args
    declared = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    missing = sorted(declared - has - {"self", "cls"})
    surplus = sorted(has - declared - {"self", "cls"})
    return [f"{name} has no parameter {one}" for one in missing] + [
        f"{name} has a parameter {one} that the stubs do not know" for one in surplus
    ]


if __name__ == "__main__":
    main()
