"""The examples of two pages run, in order, and print what the pages say. The model is one that knows its answers."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
from pathlib import Path
from typing import TypedDict

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock import generators
from interlock.output_types import output_type_of

DOCS = Path(__file__).parents[3] / "docs"
ANSWERS = {
    "Make up a user.": '{"name": "Ada", "age": 36}',
    "Make up two users.": '[{"name": "Ada", "age": 36}, {"name": "Alan", "age": 41}]',
    "Name three primes.": "[2, 3, 5]",
    "Is water wet?": "yes",
    "Say hello.": "Hello, world.",
    "Is ice hot?": "Sure, yes",
    "A small digit.": '{"digit": 3}',
    "A large digit.": '{"digit": 8}',
    "Try again.": '{"digit": 4}',
    "Sum it up.": '{"summary": "All went well, and then it went on and on and on", "title": "All of it"}',
    "Sum it up in a line.": '{"summary": "All went well, and on time.", "title": "All of it"}',
    "Which planet is the largest?": "Jupiter",
    "Paris has ": "2.1 million",
    "That is ": "large.",
    "Add two and three.": '{"name": "add", "arguments": {"a": 2, "b": 3}}',
    "two and three: ": '{"a": 2, "b": 3}',
}


def blocks(page):
    pattern = r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?"
    return re.findall(pattern, (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["generate.md", "output-types.md"])
def test_page(page, monkeypatch):
    if not DOCS.is_dir():
        pytest.skip("the pages are not here")
    script = dict(ANSWERS)
    generator = ScriptedGenerator(script)

    def generate(model, tokenizer, *args, **options):
        return generator(*args, **options)

    monkeypatch.setattr(interlock, "generate", generate)
    monkeypatch.setattr(interlock, "from_transformers", lambda model, tokenizer: generator)
    names = {"model": None, "tokenizer": None}
    found = blocks(page)
    assert len(found) >= 3
    for code, expected in found:
        script["Is water wet?"] = "true" if "bool" in code else "yes"
        script["Is fire wet?"] = "false"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<example of {page}>", "exec", dont_inherit=True), names)
        assert printed.getvalue() == expected, code


def test_the_table_of_mistakes():
    """Every row of the page is what the package says."""
    page = (DOCS / "output-types.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.*)` \| (.*) \|$", page.partition("## Mistakes")[2], re.MULTILINE)
    assert len(rows) >= 6
    user = dataclasses.make_dataclass("User", [("name", str)])
    for given, said in rows:
        with pytest.raises(interlock.InterlockError) as caught:
            output_type_of(eval(given.replace("User(...)", "User('A')"), {"User": user, "TypedDict": TypedDict}))
        assert said in str(caught.value), given


def test_names_on_the_page_exist():
    page = (DOCS / "generate.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(from_\w+)\(", page):
        assert getattr(interlock, name) is getattr(generators, name)
