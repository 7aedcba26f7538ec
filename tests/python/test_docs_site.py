"""The pages of the site run, and print what they say; their tables name what exists.

Run as a program, this file writes what the examples print into the pages that are named.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from scripted_generator import ScriptedGenerator

import interlock

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("index", "quick-start", "how-to", "options", "limits", "errors", "faq")),
    *sorted((DOCS / "tutorials").glob("*.md")),
    *sorted((DOCS / "coming-from").glob("*.md")),
]
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?", re.DOTALL)
#: Pages of text and tables alone.
WITHOUT_CODE = {"options"}

#: What the model of the pages writes after which text.
ANSWERS = {
    "Make up a user.": '{"name": "Ada", "age": 36}',
    "Name three primes.": "[2, 3, 5]",
    "Is water wet?": "yes",
    "Sort: I was charged twice.": "billing",
}


def page_id(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def run(page: Path, patch) -> list[tuple[str, str, str]]:
    """The code of each example, what the page says that it prints, and what it prints."""
    generator = ScriptedGenerator(dict(ANSWERS))
    patch(interlock, "generate", lambda model, tokenizer, *given, **options: generator(*given, **options))
    patch(interlock, "from_transformers", lambda model, tokenizer: generator)
    names = {"model": None, "tokenizer": None, "answers": generator.script, "__name__": "example"}
    done = []
    for code, expected in BLOCK.findall(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<example of {page.name}>", "exec", dont_inherit=True), names)
        done.append((code, expected, printed.getvalue()))
    return done


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_examples(page, monkeypatch):
    if not DOCS.is_dir():
        pytest.skip("the pages are not here")
    done = run(page, monkeypatch.setattr)
    assert done or page_id(page) in WITHOUT_CODE
    for code, expected, printed in done:
        assert printed == expected, code


def main(names: list[str]) -> None:
    """Write what the examples print into the pages."""
    for page in [DOCS / name for name in names]:
        results = iter(run(page, setattr))

        def block(match: re.Match[str], results=results) -> str:
            code, _, printed = next(results)
            return f"```python\n{code}```" + (f"\n\n```output\n{printed}```" if printed else "")

        page.write_text(BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
