"""Which patterns the format `regex` of JSON Schema takes: the table on the page has texts, and each is tried."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import interlock

PAGE = Path(__file__).parents[3] / "docs" / "json-schema.md"
if not PAGE.is_file():
    pytest.skip("this is no checkout", allow_module_level=True)
VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])


def rows() -> list[list[str]]:
    """The cells of the table, without its head."""
    section = PAGE.read_text(encoding="utf-8").split("### Which patterns the format `regex` takes")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def texts(cell: str) -> list[str]:
    """What stands between backticks in front of the colon that ends the list."""
    listed = re.match(r"(?:`[^`]*`\s*)*", cell)
    assert listed is not None
    return [text.replace(r"\|", "|") for text in re.findall("`([^`]*)`", listed[0])]


def accepts(index: interlock.Index, text: str) -> bool:
    guide = index.guide()
    written = json.dumps(text, ensure_ascii=False).encode()
    return all(guide.try_advance(byte) for byte in written) and guide.is_accepting


def test_the_table_is_true():
    index = interlock.Index.from_json_schema({"type": "string", "format": "regex"}, VOCABULARY)
    assert len(rows()) == 8
    for part, taken, refused in rows():
        wrong = [text for text in texts(taken) if not accepts(index, text)]
        wrong += [text for text in texts(refused) if accepts(index, text)]
        assert not wrong, (part, wrong)
        assert texts(refused), part
