"""The licence texts of the crates that the wheel contains, from ``cargo metadata``.

python tests/tools/third_party_licenses.py            # writes LICENSES-THIRD-PARTY.txt
python tests/tools/third_party_licenses.py --check    # says whether it is what Cargo.lock asks for

What is linked counts: dependencies of the feature ``python`` on any platform that has a wheel. Macros and build scripts
run at build time and leave nothing of themselves. Where a crate offers a choice, MIT is taken.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = ROOT / "LICENSES-THIRD-PARTY.txt"
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
#: Names of licence files, the first that is there counts.
PREFERRED = ("LICENSE-MIT", "LICENSE-MIT0", "LICENSE", "LICENSE.txt", "LICENSE.md", "LICENSE_A2", "LICENSE-APACHE")
#: Licences that a wheel may contain: they ask for their text and nothing else.
PERMISSIVE = {"MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Unlicense", "CC0-1.0", "ISC"}


class Missing(Exception):
    """A crate has no licence text, or one that is not permissive."""


def metadata(*options: str) -> dict[str, Any]:
    """What ``cargo metadata`` says for the platforms of the wheels."""
    platforms = [f"--filter-platform={name}" for name in PLATFORMS]
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--features=python", *platforms, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def linked(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The packages that end up in the extension module, by name and version, this one excepted."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    root = found["resolve"]["root"]
    seen, left = {root}, [root]
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            name = dependency["pkg"]
            is_macro = any("proc-macro" in target["kind"] for target in packages[name]["targets"])
            if name not in seen and not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                seen.add(name)
                left.append(name)
    return sorted((packages[name] for name in seen - {root}), key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> list[str]:
    """The licence texts of one package: its own, and those of sources of others that it carries."""
    alternatives = re.split(r" OR |/", package["license"] or "")
    if not PERMISSIVE & set(alternatives):
        raise Missing(f"{package['name']} {package['version']}: the licence {package['license']!r} is not permissive")
    folder = Path(package["manifest_path"]).parent
    own = next((folder / name for name in PREFERRED if (folder / name).is_file()), None)
    if own is None:
        raise Missing(
            f"{package['name']} {package['version']}: no licence text in {sorted(p.name for p in folder.iterdir())}"
        )
    carried = sorted(folder.glob("c_src/*/LICENSE*"))
    return [re.sub(r"[ \t]+$", "", path.read_text("utf-8").strip(), flags=re.MULTILINE) for path in (own, *carried)]


def page(packages: list[dict[str, Any]]) -> str:
    """All licence texts, each once, below the names of the packages that have it."""
    by_text: dict[str, list[str]] = {}
    for package in packages:
        for text in texts(package):
            by_text.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    parts = [
        "The extension module of interlock contains the Rust crates named here, and Rust's standard library (MIT or\n"
        "Apache-2.0). Their licences follow, each once, below the names of the crates that have it.\n"
        "Made by tests/tools/third_party_licenses.py."
    ]
    parts += ["\n".join(dict.fromkeys(names)) + "\n\n" + text for text, names in by_text.items()]
    return ("\n\n" + "-" * 80 + "\n\n").join(parts) + "\n"


def main(argv: list[str]) -> int:
    """Write the file, or say whether it is up to date."""
    text = page(linked(metadata()))
    if "--check" in argv:
        if FILE.is_file() and FILE.read_text("utf-8") == text:
            return 0
        print(f"{FILE.name} is not what Cargo.lock asks for: run python tests/tools/third_party_licenses.py")
        return 1
    FILE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
