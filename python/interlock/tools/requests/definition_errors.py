"""What is wrong with the pattern or the grammar of a custom tool, in the words of those who wrote it.

A notation of calls may quote a pattern or put a grammar among its own rules. An error of that text speaks of a pattern
and of lines that no client has seen. So the definition is read once more, by itself.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from interlock._core import (
    GrammarError,
    InterlockError,
    PatternError,
    UnsatisfiableError,
    UnsupportedError,
    check_grammar,
    check_regex,
)  # fmt: skip
from interlock.tools.errors import RequestError, StructuralTagError
from interlock.tools.requests.tool_list import GRAMMARS, tools_of
from interlock.util.client_messages import without_hint

__all__ = ["Dialect", "check_parentheses", "said_of_definition"]

Dialect = Literal["python", "ecma"]

_WHOLE = re.compile(r"\\.|[^()]", re.DOTALL)


def said_of_definition(error: InterlockError, place: str, tools: Any, dialect: Dialect) -> str | None:
    """What ``error`` says of the definition of the custom tool at ``place``, where that is read alone; ``None`` if
    nothing of the kind is found.

    >>> from interlock.tools import Tool
    >>> tools = [Tool("dial", input=("regex", "a[0-9"), place="/tools/0/format/definition")]
    >>> said_of_definition(RequestError("bad"), "/tools/0/format/definition", tools, "python")
    'unterminated character set (at character 1 of the pattern)'
    """
    if not isinstance(error, RequestError | UnsatisfiableError | UnsupportedError):
        return None
    for tool in tools_of(tools):
        if tool.place != place or tool.input is None:
            continue
        syntax, definition = tool.input
        try:
            if syntax in GRAMMARS:
                check_grammar(definition, syntax)  # type: ignore[arg-type]
            elif syntax == "regex":
                check_regex(definition, dialect=dialect)
        except (GrammarError, PatternError, UnsatisfiableError, UnsupportedError) as own:
            is_malformed = isinstance(own, GrammarError | PatternError)
            if isinstance(error, RequestError) != is_malformed or not (is_malformed or isinstance(own, type(error))):
                return None
            return without_hint(own).split("\n")[0] if syntax in GRAMMARS else _said_of_pattern(own)
        except InterlockError:
            return None
    return None


def _said_of_pattern(error: InterlockError) -> str:
    said = without_hint(error).split("\n")[0].removesuffix(f" ({error.place})" if error.place else "")
    return said if error.offset is None else f"{said} (at character {error.offset} of the pattern)"


def check_parentheses(pattern: str, dialect: Dialect, pointer: str) -> None:
    """``StructuralTagError`` for a pattern that is well formed only inside of the parentheses that are put around it.

    >>> check_parentheses("a[)]", "python", "/pattern")
    >>> try:
    ...     check_parentheses("a)(?:b", "python", "/pattern")
    ... except StructuralTagError as error:
    ...     print(error)
    at /pattern: unbalanced parenthesis (at character 1 of the pattern)
    """
    depth = 0
    for mark in _WHOLE.sub("", pattern):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            break
    else:
        return
    # Perhaps. It may stand in a class of characters: reading the pattern tells.
    try:
        check_regex(pattern, dialect=dialect)
    except PatternError as error:
        raise StructuralTagError(_said_of_pattern(error), pointer) from error
    except InterlockError:
        return
