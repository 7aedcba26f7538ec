"""Random sentences of the grammars in `interlock.grammars`, and the Lark parsers of them.

Lark compiles a grammar to plain rules over terminals; a sentence is a random derivation of them. Expansions that were
used least are preferred, so that a few hundred sentences use all of a grammar.
"""

from __future__ import annotations

import random
import re
import re._constants as sre
import re._parser as sre_parser
from collections import Counter
from typing import Any

import lark
from lark.indenter import Indenter

from interlock import grammars

TYPE_NAME = "T"
"""In samples of C: the name that is a type. It has to be declared as one."""
ODD = "\xe9\u03bb\u0436\u4e2d"
"""Letters of other scripts, which the names of all these languages may hold."""
FIXED = {TYPE_NAME: TYPE_NAME, "GREATER_BEFORE_GREATER": ">"}
"""Terminals whose text a regular expression does not say by itself."""
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
NOT_LALR = ("java",)
WITHOUT_BLANKS = ("csv", "xml")


class Blocks(Indenter):
    """Python's indentation, as the header of its grammar has it."""

    NL_type = "_NEWLINE"
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]
    CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]
    tab_len = 8


def parser(name: str, text: str | None = None) -> lark.Lark:
    """Lark's parser of a grammar, as its header says."""
    options: dict[str, Any] = {"parser": "lalr", "lexer": "contextual"}
    if name in NOT_LALR:
        options = {"parser": "earley", "lexer": "basic"}
    if name == "python":
        options["postlex"] = Blocks()
    return lark.Lark(grammars.load(name) if text is None else text, maybe_placeholders=False, **options)


def typed(origin: str, expansion: list[Any]) -> list[Any]:
    """An expansion of C's grammar with names where it means types replaced by `TYPE_NAME`."""
    names = [at for at, symbol in enumerate(expansion) if symbol.name == "NAME"]
    if origin in ("_named_specifiers", "_named_members", "type", "type_beyond_value", "parameter"):
        at = names
    elif origin in ("declaration", "member", "block_declaration", "function"):
        at = names[:1]
    elif origin == "cast_value" and expansion[0].name == "name_in_parentheses":
        parentheses = [lark.grammar.Terminal("LPAR"), TYPE_NAME, lark.grammar.Terminal("RPAR")]
        rest = [
            TYPE_NAME
            if symbol.name == "NAME" and i + 1 < len(expansion) and expansion[i + 1].name == "RPAR"
            else symbol
            for i, symbol in enumerate(expansion)
        ][1:]
        return parentheses + rest
    else:
        at = []
    return [TYPE_NAME if i in at else symbol for i, symbol in enumerate(expansion)]


class Sampler:
    """Random sentences of one grammar.

    `size` is about how many terminals a sentence has before it is brought to an end on the shortest way.
    """

    def __init__(self, compiled: lark.Lark, name: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = name
        self.rules: dict[str, list[list[Any]]] = {}
        for rule in compiled.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))
        self.patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in compiled.terminals}
        self.used: Counter[tuple[str, int]] = Counter()
        self.least: dict[str, int] = {}
        changed = True
        while changed:
            changed = False
            for origin, expansions in self.rules.items():
                for expansion in expansions:
                    cost = self.cost(expansion)
                    if cost < self.least.get(origin, 10**9):
                        self.least[origin] = cost
                        changed = True

    def cost(self, expansion: list[Any]) -> int:
        return 1 + sum(1 if symbol.is_term else self.least.get(symbol.name, 10**9) for symbol in expansion)

    def terminals(self, size: int) -> list[str]:
        """The names of a sentence's terminals."""
        out: list[str] = []
        pending: list[Any] = [lark.grammar.NonTerminal("start")]
        while pending:
            symbol = pending.pop()
            if isinstance(symbol, str) or symbol.is_term:
                out.append(symbol if isinstance(symbol, str) else symbol.name)
                continue
            expansions = self.rules[symbol.name]
            choices = range(len(expansions))
            if len(out) + len(pending) > size:
                least = min(self.cost(expansions[at]) for at in choices)
                at = self.random.choice([at for at in choices if self.cost(expansions[at]) == least])
            else:
                weights = [1 / (1 + self.used[symbol.name, at]) for at in choices]
                at = self.random.choices(choices, weights)[0]
            self.used[symbol.name, at] += 1
            expansion = expansions[at]
            if self.name == "c":
                expansion = typed(symbol.name, expansion)
            pending.extend(reversed(expansion))
        return out

    def text(self, terminal: str) -> str:
        """A random text of a terminal."""
        if terminal in FIXED:
            return FIXED[terminal]
        if self.name == "go" and terminal == "_END":
            return self.random.choice([";", "\n"])
        pattern = self.patterns[terminal]
        parsed = sre_parser.parse(pattern)
        part = list(parsed)
        if (
            self.name == "go"
            and terminal not in ("NAME", "NUMBER", "STRING", "CHARACTER", "LEADING")
            and part[-1][0] in REPEATS
        ):
            part.pop()  # The line ends behind an operator, which may be none.
        for _ in range(200):
            text = self.expand(part, bool(parsed.state.flags & re.IGNORECASE))
            if re.fullmatch(pattern, text):
                return text
        raise ValueError(f"no text of {terminal} found")

    def expand(self, parsed: Any, any_case: bool) -> str:
        return "".join(self.part(kind, value, any_case) for kind, value in parsed)

    def part(self, kind: Any, value: Any, any_case: bool) -> str:
        if kind is sre.LITERAL:
            character = chr(value)
            return self.random.choice([character.lower(), character.upper()]) if any_case else character
        if kind is sre.NOT_LITERAL:
            return self.pick([(sre.NEGATE, None), (sre.LITERAL, value)])
        if kind is sre.IN:
            return self.pick(value)
        if kind is sre.ANY:
            return self.random.choice("ab ")
        if kind is sre.BRANCH:
            return self.expand(self.random.choice(value[1]), any_case)
        if kind is sre.SUBPATTERN:
            return self.expand(value[3], any_case or bool(value[1] & re.IGNORECASE))
        if kind in REPEATS:
            low, high, inner = value
            count = low if self.random.random() < 0.4 else self.random.randint(low, min(high, low + 4))
            return "".join(self.expand(inner, any_case) for _ in range(count))
        if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            return ""
        raise ValueError(f"{kind} in a terminal")

    def pick(self, members: list[Any]) -> str:
        negated = members[0][0] is sre.NEGATE
        ranges = []
        for kind, value in members[negated:]:
            if kind is sre.LITERAL:
                ranges.append((value, value))
            elif kind is sre.RANGE:
                ranges.append(value)
            else:
                raise ValueError(f"{kind} in a class")
        if negated:
            allowed = [c for c in map(chr, range(32, 127)) if not any(a <= ord(c) <= b for a, b in ranges)] + list(ODD)
            return self.random.choice(allowed)
        ascii_only = [(a, min(b, 126)) for a, b in ranges if a < 127]
        low, high = self.random.choice(ascii_only if ascii_only and self.random.random() < 0.97 else ranges)
        return chr(self.random.randint(low, high))

    def sentence(self, size: int) -> str:
        """A random sentence, as text."""
        if self.name == "python":
            return self.lines(self.terminals(size))
        between = "" if self.name in WITHOUT_BLANKS else " "
        texts = []
        for terminal in self.terminals(size):
            texts.append(self.text(terminal))
            texts.append("" if terminal == "GREATER_BEFORE_GREATER" else between)
        return "".join(texts)

    def lines(self, terminals: list[str]) -> str:
        """Terminals of Python as text, with each block four columns deeper."""
        out = ""
        depth = 0
        for at, terminal in enumerate(terminals):
            if terminal == "_NEWLINE":
                ahead = terminals[at + 1 :]
                while ahead and ahead[0] in ("_INDENT", "_DEDENT"):
                    depth += 1 if ahead.pop(0) == "_INDENT" else -1
                out += "\n" + "    " * depth
                if not ahead:
                    out = out.rstrip(" ")
            elif terminal not in ("_INDENT", "_DEDENT"):
                out += self.text(terminal) + " "
        return out
