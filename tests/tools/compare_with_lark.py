"""Compares what grammars accept with ``lark``: ``dynamic`` with its Earley parser, ``contextual`` with LALR.

    python tests/tools/compare_with_lark.py [how many] [first seed]

Each random grammar reads all texts of up to five letters. Differences are counted by cause, with an example of each. It
takes minutes, so it is no test. It needs ``lark``.
"""

import collections
import itertools
import random
import sys
from typing import Any

import lark

import interlock

LETTERS = "ab "
# A grammar, a text, and what Lark answers with its Earley parser and with its LALR parser.
PROBES = [
    ("start: A B\nA: /a+/\nB: /ab/", "aab", False, False),
    ('start: "<t>" C "</t>"\nC: /.+/', "<t>a</t>", False, False),
    ("start: X Y\nX: /[0-9]+/\nY: /[0-9]/", "12", False, False),
    ("start: (A|B|C)+\nA: /aaa/\nB: /a+b+z/\nC: /b+x/", "aaabbx", True, True),
    ('start: "if" ID\nID: /[a-z]+/\n%ignore " "', "ifx", True, True),
    ('start: ID "=" ID | "if" ID\nID: /[a-z]+/', "if=x", True, False),
    ('start: "x" A | "y" B\nA: /[a-z ]+/\nB: /[a-c ]+/', "y abc", True, True),
    ('start: "a" "b"\n%ignore " "', " ab", True, True),
    ('start: "a" "b"\n%ignore " "', "ab ", True, True),
]


def random_grammar(seed: int) -> str:
    """Rules over two to four terminals that overlap, some with an ignored blank."""
    rng = random.Random(seed)
    terminals = [
        rng.choice(
            ['"a"', '"b"', '"ab"', '"ba"', '"aa"', "/a+/", "/b+/", "/[ab]+/", "/ab*/", "/a[ab]?/", '"a "', "/b a/"]
        )
        for _ in range(rng.randint(2, 4))
    ]
    names = [f"T{n}" for n in range(len(terminals))]
    rules = [f"r{n}" for n in range(rng.randint(1, 3))]

    def part() -> str:
        one = rng.choice(names + names + rules)
        return one + rng.choice(["", "", "", "", "?", "*", "+"])

    def alternative() -> str:
        return " ".join(part() for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))

    lines = ["start: r0"]
    lines += [f"{rule}: " + " | ".join(alternative() for _ in range(rng.randint(1, 3))) for rule in rules]
    lines += [f"{name}{rng.choice(['', '', '', '.1'])}: {text}" for name, text in zip(names, terminals, strict=True)]
    if rng.random() < 0.4:
        lines.append("%ignore " + rng.choice(['" "', "/ +/"]))
    return "\n".join(lines)


def lark_accepts(parser: lark.Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    return True


def accepts(index: interlock.Index | None, text: str) -> bool:
    if index is None:
        return False
    guide = index.guide()
    data = text.encode()
    return guide.advance_many(data) == len(data) and guide.is_accepting


def compile_here(grammar: str, lexer: str, vocabulary: interlock.Vocabulary) -> interlock.Index | None:
    """The index; ``None`` if nothing is accepted."""
    try:
        return interlock.Index.from_grammar(grammar, vocabulary, lexer=lexer)
    except interlock.UnsatisfiableError:
        return None


def main(count: int, first: int) -> int:
    vocabulary = interlock.Vocabulary([bytes([b]) for b in range(256)] + [b""], eos_token_ids=[256])
    causes: collections.Counter[str] = collections.Counter()
    examples: dict[str, str] = {}
    compared = 0
    parsers: dict[str, dict[str, Any]] = {
        "dynamic": {"parser": "earley", "lexer": "dynamic"},
        "contextual": {"parser": "lalr", "lexer": "contextual"},
    }

    def difference(cause: str, example: str) -> None:
        causes[cause] += 1
        examples.setdefault(cause, example)

    for grammar, text, earley, lalr in PROBES:
        for (lexer, options), expected in zip(parsers.items(), (earley, lalr), strict=True):
            ours = accepts(compile_here(grammar, lexer, vocabulary), text)
            theirs = lark_accepts(lark.Lark(grammar, **options), text)
            if not ours == theirs == expected:
                difference(f"probe, {lexer}", f"{grammar!r} {text!r}: expected {expected}, here {ours}, lark {theirs}")
    texts = ["".join(t) for n in range(6) for t in itertools.product(LETTERS, repeat=n)]
    for seed in range(first, first + count):
        grammar = random_grammar(seed)
        for lexer, options in parsers.items():
            try:
                parser = lark.Lark(grammar, **options)
            except lark.exceptions.LarkError as error:
                causes[f"lark refuses the grammar, {lexer}: {type(error).__name__}"] += 1
                continue
            try:
                index = compile_here(grammar, lexer, vocabulary)
            except interlock.InterlockError as error:
                difference(f"refused here, {lexer}: {type(error).__name__}", f"{grammar}\n{error}")
                continue
            for text in texts:
                try:
                    theirs = lark_accepts(parser, text)
                except Exception as error:  # Lark's own defects, whatever they raise.
                    difference(f"lark fails, {lexer}: {type(error).__name__}", f"{grammar}\n{text!r}")
                    continue
                compared += 1
                ours = accepts(index, text)
                if ours != theirs:
                    # Lark's Earley parser reads nothing but what the grammar says; an ignored text alone is no text.
                    what = "accepted here only" if ours else "accepted by lark only"
                    difference(f"{what}, {lexer}", f"{grammar}\n{text!r}")
    print(f"{compared} texts compared")
    for cause, times in causes.most_common():
        print(f"{times:7} {cause}")
        if cause in examples:
            print("        " + examples[cause].replace("\n", "\n        "))
    return sum(times for cause, times in causes.items() if "only" in cause or "probe" in cause)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    print(main(*(arguments + [200, 0][len(arguments) :])), "differences")
