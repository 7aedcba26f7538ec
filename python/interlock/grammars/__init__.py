"""Grammars of common languages, in Lark's notation.

`load` gives a grammar's text, `lexer` the lexer that it is written for.
"""
from __future__ import annotations
from importlib import resources
AMBIGUOUS = ("java",)
def load(name, lookahead=False):
    return resources.files(__name__).joinpath(f"{name}.lark").read_text(encoding="utf-8")
