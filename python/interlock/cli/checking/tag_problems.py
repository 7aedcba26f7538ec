"""Why a text of a structural tag is refused, in the words of the schema of the tag that the place is in. Elsewhere, and
where that schema accepts what stands there, the grammar of the tag says which character does not fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import interlock
from interlock.cli.checking.document_problems import DocumentProblems, read_document
from interlock.explain import Explanation, Problem
from interlock.explain.document import BLANKS

if TYPE_CHECKING:
    from interlock.tools.spec import JsonSchema, StructuralTag

END = 256
"""The token that ends an output. The marks of documents follow it."""


def in_words_of_schemas(
    found: Explanation, tag: Any, compiled: Callable[[Any, interlock.Vocabulary], interlock.Index]
) -> Explanation:
    """An explanation of a text that is refused, with what the schemas of its tag say. ``compiled`` makes the index of a
    tag as that of the source was made.
    """
    from interlock.tools.spec import read

    try:
        begun = _begun(found, read(tag), compiled)
    except (interlock.InterlockError, RecursionError):
        return found
    for _, documents in groupby(begun, key=lambda one: one[0]):
        said = [one for start, node in documents if (one := _said(found, start, node))]
        if said and _is_all_that_may_follow(found, said):
            return replace(found, problems=_nearest(said))
    return found


def _begun(found: Explanation, tag: StructuralTag, compiled: Any) -> list[tuple[int, JsonSchema]]:
    """Where a document of the tag can begin in the part of the text that is not refused, and by which of its schemas.
    The places are characters, in order.
    """
    from interlock.tools.spec import JsonSchema

    if isinstance(tag.format, JsonSchema):
        return [(0, tag.format)]
    known: list[JsonSchema] = []
    marked = replace(tag, format=_marked(tag.format, known))
    if not known:
        return []
    # Each schema has a special token, which may stand in front of its documents and nowhere else.
    marks = _marks(known)
    tokens = [*(bytes([byte]) for byte in range(END)), b"", *(f"<mark {mark}>".encode() for mark in marks)]
    guide = compiled(
        replace(marked, format=_without_marks(marked.format, tuple(marks))),
        interlock.Vocabulary(tokens, eos_token_ids=[END], special_token_ids=marks),
    ).guide()
    begun = []
    data = found.text.encode()[: found.at]
    for at in range(len(data) + 1):
        if at == len(data) or data[at] & 0xC0 != 0x80:  # A character begins here.
            allowed = guide.allowed_token_ids()
            starts = [node for mark, node in zip(marks, known, strict=True) if mark in allowed]
            begun += [(len(data[:at].decode("utf-8", "replace")), node) for node in starts]
        if at < len(data) and not guide.try_advance(data[at]):
            break
    return begun


def _marks(known: list[JsonSchema]) -> list[int]:
    return list(range(END + 1, END + 1 + len(known)))


def _marked(part: Any, known: list[JsonSchema]) -> Any:
    """A format with a mark that may stand in front of each document. The schemas are added to ``known``."""
    from interlock.tools.spec import JsonSchema, Optional, Sequence, Token

    if isinstance(part, JsonSchema):
        known.append(part)
        return Sequence((Optional(Token(_marks(known)[-1])), part))
    return _changed(part, lambda inner: _marked(inner, known))


def _without_marks(part: Any, marks: tuple[int, ...]) -> Any:
    """A format in which no free token is a mark."""
    found = _changed(part, lambda inner: _without_marks(inner, marks))
    if hasattr(found, "exclude_tokens"):
        return replace(found, exclude_tokens=(*found.exclude_tokens, *marks))
    return found


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """A format whose inner formats are changed."""
    from interlock.tools.spec import JsonSchema

    if isinstance(part, tuple):
        return tuple(change(one) for one in part)
    if not dataclasses.is_dataclass(part) or isinstance(part, type | JsonSchema):
        return part
    fields = [field.name for field in dataclasses.fields(part) if field.name not in ("style", "event")]
    return replace(part, **{name: change(getattr(part, name)) for name in fields})


def _said(found: Explanation, start: int, node: JsonSchema) -> DocumentProblems | None:
    """What a schema says of the document that begins at ``start``, where it has the text refused at its place."""
    order = {"property_order": "any"} if node.any_order or node.style.encoding != "json" else {}
    said = read_document(node.style, found.text, start, found.character, node.json_schema, **order)
    if said is None or not said.problems:
        return None
    if start and all(one.message.startswith("not JSON") for one in said.problems):
        return None  # The grammar knows the tag, and what is allowed there.
    if node.style.encoding != "json":
        # What stands behind the document may begin as a parameter does: the place is in the middle of that.
        behind = found.text[said.end : found.character].strip()
        return said if not behind or node.style.begin.startswith(behind) else None
    taken = len(found.text[: said.start].encode()) + said.alone.at
    return said if said.end >= found.character and taken == found.at else None


def _is_all_that_may_follow(found: Explanation, said: list[DocumentProblems]) -> bool:
    """Whether only documents of these schemas could go on, and nothing else of the tag."""
    by_json = [one.alone for one in said if one.alone.at == found.at - len(found.text[: one.start].encode())]
    if len(by_json) < len(said) or any(one.may_end for one in by_json):
        return all(one.start < found.character for one in said)
    return set(found.allowed) <= {*BLANKS.encode(), *(byte for one in by_json for byte in one.allowed)}


def _nearest(said: list[DocumentProblems]) -> list[Problem]:
    """The reasons of the schema that has the fewest. Where others could stand there, the first of them says so."""
    least = min(said, key=lambda one: len(one.problems))
    if all(one.problems == least.problems for one in said):
        return least.problems
    note = f"nearest of {len(said)} schemas that the tag allows here"
    first, *more = least.problems
    return [replace(first, hint=first.hint or note), *more]
