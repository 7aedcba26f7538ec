"""What all benchmarks share: the vocabulary, sources, and members in tokens."""

import functools
import json
import re
import sys
from pathlib import Path

# asv imports the benchmarks of the checkout that it is started from, whatever commit it measures.
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "benches"), str(ROOT / "benches" / "rivals")]

import answers
import corpus
import interlock

NAMES = (
    "tool: weather",
    "tool: calendar",
    "resource: wide record",
    "recursive: filter query",
    "keywords: long bounded text",
)


@functools.cache
def vocabulary():
    """The tokens of Llama 3."""
    tokens = corpus.vocabulary().tokens
    special = [i for i, token in enumerate(tokens) if not token]
    return interlock.Vocabulary(tokens, eos_token_ids=[corpus.vocabulary().stop], special_token_ids=special)


@functools.cache
def sources():
    """The schemas by name, each with its last member in tokens, cut by the longest match."""
    found = {s.name: s for s in corpus.sources() if s.name in NAMES}
    return {name: (found[name].text, cut(found[name].members[-1])) for name in NAMES}


@functools.cache
def ids():
    """Ids by bytes. Longest matches need no tokenizer library in asv's environments."""
    return {token: i for i, token in enumerate(corpus.vocabulary().tokens) if token}


def cut(text):
    """A text as tokens: words with the blank before them where that is a token, else the longest match."""
    out = []
    for part in re.findall(rb" ?[A-Za-z]+|[0-9]{1,3}|[^A-Za-z0-9]+", text.encode()):
        while part:
            n = next(n for n in range(len(part), 0, -1) if part[:n] in ids())
            out.append(ids()[part[:n]])
            part = part[n:]
    return out


def compile(name):
    """The index of a schema of the corpus."""
    return interlock.Index.from_json_schema(sources()[name][0], vocabulary())


@functools.cache
def expected(name):
    """Digests of the masks along a schema's member, each put together from the list of tokens that are allowed."""
    guide, found = compile(name).guide(), []
    for token in sources()[name][1]:
        found.append(answers.digest(answers.row_of(guide.allowed_token_ids(), answers.words(vocabulary().size))))
        guide.advance(token)
    return found


def forget():
    """Let every compile and every mask start anew: nothing that was compiled is kept, and the vocabulary is a new one,
    because masks that were found once are remembered with it."""
    if hasattr(interlock, "set_index_cache_bytes"):
        interlock.set_index_cache_bytes(0)
    vocabulary.cache_clear()
    vocabulary()


def walk(guide, tokens, bits):
    """Mask and token for every token: every mask has it, the last one lacks what none has, and the end is one."""
    answers.clear(bits)
    for token in tokens:
        guide.fill_bitmask(bits)
        assert bits[0, token >> 5] >> (token & 31) & 1
        guide.advance(token)
    assert not answers.allows(bits[0], ids()[answers.NEVER])
    assert guide.is_accepting


def variant(name, number):
    """A schema like one of the corpus that the process has not seen: its descriptions have another number."""
    schema = json.loads(sources()[name][0])
    schema["title"] = f"number {number}"
    schema["maxProperties"] = 1_000_000 + number
    return json.dumps(schema)
