"""The examples of the README and of docs/guide run, in order, and print what the pages say; the docstrings too."""

import contextlib
import doctest
import inspect
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import interlock
import interlock.events
import interlock.masks
import interlock.refusals
import pytest
from interlock.explain import byte_vocabulary

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs" / "guide").glob("*.md"))]
#: What examples that need a model load it with; such an example runs with a stand-in for it.
LOADS_A_MODEL = "AutoModelForCausalLM"
#: Pages whose only examples need a model's tokenizer.
WITHOUT_CODE = {"vocabularies.md"}


def blocks(page):
    """Pairs of code and expected output."""
    pattern = r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_says(page):
    examples = blocks(page)
    assert examples or page.name in WITHOUT_CODE
    names = {}
    for code, expected in examples:
        if LOADS_A_MODEL in code:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<README example>", "exec"), names)
        assert printed.getvalue() == expected, code


def test_the_example_with_a_model(monkeypatch):
    """All of it runs but the model: what it passes is what a generator takes, and its class is an output type."""
    (code,) = [code for code, _ in blocks(README) if LOADS_A_MODEL in code]
    loaded = []
    auto = SimpleNamespace(from_pretrained=lambda name: loaded.append(name) or name)
    stand_in = SimpleNamespace(AutoModelForCausalLM=auto, AutoTokenizer=auto)
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    signature = inspect.signature(interlock.generate)
    vocabulary = byte_vocabulary()

    def generate(*args, **options):
        given = signature.bind(*args, **options).arguments
        assert given["prompt"] == "Make up a user." and given["model"] == given["tokenizer"] == loaded[0]
        index = interlock.Index.from_type(given["output_type"], vocabulary)
        guide = index.guide(max_tokens=given["max_tokens"])
        guide.advance_many(list(b'{"name": "Ada", "age": 36}'))
        assert guide.is_accepting
        return given["output_type"].model_validate_json(vocabulary.decode(guide.tokens))

    monkeypatch.setattr(interlock, "generate", generate)
    pytest.importorskip("pydantic")
    names = {}
    exec(compile(code, "<README example>", "exec"), names)
    assert names["user"] == names["User"](name="Ada", age=36)


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_docstrings():
    for module in (interlock, interlock.masks, interlock.events, sys.modules["interlock.refusals"]):
        assert doctest.testmod(module).failed == 0
