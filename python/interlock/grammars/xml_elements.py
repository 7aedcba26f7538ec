"""The grammar of XML for a given set of elements, each with rules of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from interlock._core import ArgumentError
from interlock.grammars.rules import replace_rules

NAME = re.compile(r"[A-Za-z_][-.0-9A-Za-z_]*(:[A-Za-z_][-.0-9A-Za-z_]*)?")


def with_elements(text: str, elements: Mapping[str, Sequence[str]]) -> str:
    """The grammar restricted to these elements, with their attributes in this order, each at most once.

    Any element may be the root, and any may stand in any other.
    """
    if not elements or isinstance(elements, str):
        raise ArgumentError("elements are a mapping from names to the names of attributes, not an empty one")
    roots, inner, rules = [], [], []
    for at, (element, attributes) in enumerate(elements.items()):
        if isinstance(attributes, str) or len({*attributes}) != len(attributes):
            raise ArgumentError(f"the attributes of {element!r} are a list of different names")
        for name in (element, *attributes):
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ArgumentError(f"{name!r} is no name of XML of letters, digits, '_', '-', '.' and one colon")
        roots.append(f"root_{at}")
        inner.append(f"element_{at}")
        closing = f'("/>" | ">" content "</{element}" [BLANK] ">")'
        rules += [f'{name}_{at}: "<{element}" attributes_{at}_0 {closing}' for name in ("root", "element")]
        for first in range(len(attributes) + 1):
            later = range(first, len(attributes))
            choices = [f'"{attributes[i]}" EQUALS VALUE attributes_{at}_{i + 1}' for i in later]
            rules.append(f"attributes_{at}_{first}: [BLANK" + (f" [{' | '.join(choices)}]" if choices else "") + "]")
    drop = {"attributes": "", "attribute": ""}
    text = replace_rules(text, {"root": " | ".join(roots), "element": " | ".join(inner), **drop})
    return text + "\n" + "\n".join(rules) + "\n"
