"""Lists that the engine has in its Rust sources, for tests of the lists in Python that repeat them."""

import re
from pathlib import Path

import pytest

import interlock
from interlock.explain import byte_vocabulary, explain


def known_formats() -> set[str]:
    """The formats of JSON Schema that the engine knows. Skips the test where the sources are not."""
    source = Path(__file__).parents[3] / "src" / "schema" / "format" / "mod.rs"
    if not source.is_file():
        pytest.skip("the sources are not here")
    known = source.read_text(encoding="utf-8").partition("const KNOWN")[2].partition("];")[0]
    names = set(re.findall(r'(?:exact|narrower)\(\s*"([a-z0-9-]+)"', known))
    assert len(names) >= 19
    return names


def assert_core_knows(name: str) -> None:
    """Says what to do where the core that is built is older than the list, and takes any text for the format."""
    index = interlock.Index.from_json_schema({"type": "string", "format": name}, byte_vocabulary())
    # Of no format: the braces are unbalanced, as is the parenthesis.
    refused = not explain(index, '"{ ("').accepted
    assert refused, f"the core that is built does not know the format {name}: run make dev"
