"""Real sources: JSON Schemas of a folder with their documents, such as MaskBench's files, or the patterns they use.

Of *schemas*, the valid documents are the members and the invalid ones the outsiders. Which schemas are chosen depends
on the names of their files alone.

Of *patterns*, the engines read those that match a whole text, and dialects differ, so only what means the same to all
is taken: patterns with both anchors, which are removed, that Python's `re` reads as well. Their texts are strings of
the same files that match, by `re`; where there is none, a member that interlock makes and `re` confirms. The outsider
is the same text but for one character. Which patterns are chosen depends on their text alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import Source

# Longer texts would let few patterns decide the percentiles of masks.
LONGEST = 400
# Seconds for `re` to refuse the outsiders of a pattern: it tries all ways of matching.
PATIENCE = 1.0


def found_schemas(folder: Path, count: int) -> list[Source]:
    """So many schemas of a folder, each with its documents."""
    paths = sorted(folder.glob("*.json"), key=lambda path: hashlib.sha256(path.name.encode()).digest())
    sources = []
    for path in paths:
        case = json.loads(path.read_bytes())
        if not isinstance(case, dict) or "schema" not in case:
            continue
        texts: dict[bool, list[str]] = {True: [], False: []}
        for test in case.get("tests", []):
            texts[test["valid"]].append(json.dumps(test["data"], ensure_ascii=False))
        schema = json.dumps(case["schema"], ensure_ascii=False)
        sources.append(Source(path.stem, "schema", schema, texts[True], texts[False]))
        if len(sources) == count:
            break
    return sources


def found_patterns(folder: Path, count: int) -> list[Source]:
    """So many patterns of the schemas in a folder, each with a text that it matches."""
    patterns: set[str] = set()
    strings: set[str] = set()
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_bytes())
        if isinstance(case, dict) and "schema" in case:
            patterns.update(text for text in _patterns(case["schema"]))
            for test in case.get("tests", []):
                strings.update(text for text in _strings(test["data"]) if len(text) <= LONGEST)
    ordered = sorted(patterns, key=lambda pattern: hashlib.sha256(pattern.encode()).digest())
    texts = sorted(strings)
    sources: list[Source] = []
    for pattern in ordered:
        inner = _between_anchors(pattern)
        if inner is not None and (text := _member(inner, texts)) is not None:
            sources.append(Source(f"pattern: {inner}", "pattern", inner, [text], _outsiders(inner, text)))
            if len(sources) == count:
                break
    return sources


def _patterns(schema: Any) -> Iterator[str]:
    """The values of `pattern` and the names under `patternProperties`, wherever they stand."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if isinstance(part.get("pattern"), str):
                yield part["pattern"]
            if isinstance(part.get("patternProperties"), dict):
                yield from part["patternProperties"]
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def _strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            todo += part.values() if isinstance(part, dict) else part


def _between_anchors(pattern: str) -> str | None:
    """What stands between `^` and `$`, if that means the same without them."""
    if not (pattern.startswith("^") and pattern.endswith("$")) or pattern.endswith("\\$"):
        return None
    inner = pattern[1:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(inner)
    except (re.error, OverflowError, RecursionError, Warning):
        return None
    depth = 0
    for part in re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", inner, re.S):
        depth += (part == "(") - (part == ")")
        # The anchors belong to the first and the last alternative alone.
        if part in ("^", "$") or (part == "|" and depth == 0):
            return None
    return inner or None


def _member(pattern: str, texts: list[str]) -> str | None:
    """A text that matches; the longest of the first hundred in the files, so that there is something to measure."""
    matcher = re.compile(pattern)
    matching: list[str] = []
    for text in texts:
        if text and text.isascii() and matcher.fullmatch(text):
            matching.append(text)
            if len(matching) == 100:
                break
    return max(matching, key=len) if matching else _made(pattern)


def _outsiders(pattern: str, text: str) -> list[str]:
    """A text that differs from a member in one character and does not match; none where that takes `re` too long."""
    middle = len(text) // 2
    near = [text[:middle] + "~" + text[middle + 1 :], text[:-1], text + text[-1], text + "~"]
    before = signal.signal(signal.SIGALRM, _late)
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        return [other for other in near if not re.fullmatch(pattern, other)][:1]
    except TimeoutError:
        return []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _late(*_: object) -> None:
    raise TimeoutError


def _made(pattern: str) -> str | None:
    import interlock

    letters = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    try:
        index = interlock.Index.from_regex(pattern, letters)
    except interlock.InterlockError:
        return None
    # Digits and letters beyond ASCII are where the dialects part.
    for seed in range(20):
        text = index.random_member(seed=seed, max_bytes=LONGEST).decode("utf-8", "replace")
        if text and text.isascii() and re.fullmatch(pattern, text):
            return text
    return None
