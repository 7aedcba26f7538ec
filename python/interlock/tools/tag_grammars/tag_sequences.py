"""Several tags: in free text, behind a trigger, after each other, each at most once. As rules of a grammar."""

from __future__ import annotations

from typing import Any

from interlock._core import UnsupportedError
from interlock.tools.errors import StructuralTagError
from interlock.tools.spec import nodes
from interlock.tools.tag_grammars.rule_writer import RuleWriter, Stops

__all__ = ["MOST_UNIQUE", "TagSequences", "times"]

#: Of more tags than this, "each at most once" has too many cases to be written out.
MOST_UNIQUE = 8


class TagSequences(RuleWriter):
    """The rules of formats that hold several tags."""

    def separated(self, node: nodes.TagsWithSeparator, stops: Stops, pointer: str) -> str:
        """The rule of tags with a separator between two of them."""
        separators = (node.separator,) if isinstance(node.separator, str) else node.separator
        written = [self.literal(one) for one in separators]
        between = written[0] if len(written) == 1 else f"({' | '.join(written)})"
        return self.counted(node, stops, pointer, "", between, is_text=False)

    def triggered(self, node: nodes.TriggeredTags, stops: Stops, pointer: str) -> str:
        """The rule of free text with tags in it, each behind one of the texts that trigger it."""
        text = self.plain(self.text((*node.triggers, *node.excludes, *stops), pointer), pointer)
        return self.counted(node, stops, pointer, text, text, is_text=True)

    def token_triggered(self, node: nodes.TokenTriggeredTags, stops: Stops, pointer: str) -> str:
        """The rule of free text with tags in it, each of which begins with one of the tokens that trigger it."""
        excluded = self.ids_of(node.trigger_tokens, f"{pointer}/trigger_tokens")
        excluded += self.excluded_ids(node.exclude_tokens, f"{pointer}/exclude_tokens")
        text = self.plain(self.between(excluded, stops, pointer), pointer)
        return self.counted(node, stops, pointer, text, text, is_text=True)

    def counted(self, node: Any, stops: Stops, pointer: str, before: str, between: str, *, is_text: bool) -> str:
        """Tags with ``before`` in front of the first and ``between`` in front of the others."""
        tags = [self.format(tag, stops, f"{pointer}/tags/{index}") for index, tag in enumerate(node.tags)]
        least = max(node.min_calls, 1 if node.at_least_one else 0)
        most = 1 if node.stop_after_first else node.max_calls
        if node.at_least_one:
            before = ""
        after = between if is_text and not node.stop_after_first else ""
        empty = before if is_text else ""
        if most is not None and most < least:
            raise StructuralTagError(f"at least {least} tags and at most {most}: nothing is possible", pointer)
        if most == 0:
            return self.rule(empty, pointer)
        if node.unique:
            if most is None or most > len(tags):
                most = len(tags)
            if least > most:
                raise StructuralTagError(
                    f"at least {least} of {len(tags)} tags, each once: nothing is possible", pointer
                )
            if most > 1:
                return self.distinct(tags, least, most, pointer, (before, between, after, empty))
        one = self.choice(tags, pointer)
        rest = f"({between} {one})" if between else one
        if is_text and before == between == after:
            return self.rule(f"{rest}{times(least, most)} {after}", pointer)
        more = times(max(least, 1) - 1, None if most is None else most - 1)
        body = _joined(before, one, "" if most == 1 else rest + more, after)
        return self.rule(body if least else f"{body} | {empty}", pointer)

    def distinct(self, tags: list[str], least: int, most: int, pointer: str, parts: tuple[str, str, str, str]) -> str:
        """Each tag at most once: a rule for each set of tags that came."""
        before, between, after, empty = parts
        if len(tags) > MOST_UNIQUE:
            raise UnsupportedError(
                f"at {pointer}/unique: of more than {MOST_UNIQUE} tags each at most once has too many cases"
            )
        found: dict[frozenset[int], str] = {}

        def behind(used: frozenset[int]) -> str:
            if used not in found:
                name = found[used] = self.reserve()
                bodies = [after if used else empty] if len(used) >= least else []
                if len(used) < most:
                    lead = between if used else before
                    bodies += [
                        _joined(lead, tag, behind(used | {index}))
                        for index, tag in enumerate(tags)
                        if index not in used
                    ]
                self.define(name, " | ".join(bodies), pointer)
            return found[used]

        return behind(frozenset())

    def dispatch(self, node: nodes.Dispatch, stops: Stops, pointer: str) -> str:
        """The rule of free text, a text that chooses, and the format that belongs to it."""
        text = self.plain(self.text((*(one for one, _ in node.rules), *node.excludes, *stops), pointer), pointer)
        return self.dispatched(node, [self.literal(one) for one, _ in node.rules], text, stops, pointer)

    def token_dispatch(self, node: nodes.TokenDispatch, stops: Stops, pointer: str) -> str:
        """The rule of free text, a token that chooses, and the format that belongs to it."""
        numbers = [self.id_of(token, f"{pointer}/rules/{index}/0") for index, (token, _) in enumerate(node.rules)]
        excluded = numbers + self.excluded_ids(node.exclude_tokens, f"{pointer}/exclude_tokens")
        text = self.plain(self.between(excluded, stops, pointer), pointer)
        return self.dispatched(node, [f"<[{number}]>" for number in numbers], text, stops, pointer)

    def dispatched(self, node: Any, begins: list[str], text: str, stops: Stops, pointer: str) -> str:
        """The rule of ``text`` and what ``begins`` choose behind it, again and again if ``node.loop``."""
        rules = [
            f"{begins[index]} {self.format(content, stops, f'{pointer}/rules/{index}/1')}"
            for index, (_, content) in enumerate(node.rules)
        ]
        one = self.choice([f"({rule})" for rule in rules], pointer)
        return self.rule(f"{text} ({one} {text})*" if node.loop else f"{text} {one}?", pointer)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def times(least: int, most: int | None) -> str:
    """How often the part before may come."""
    plain = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in plain:
        return plain[least, most]
    return f"{{{least},{'' if most is None else most}}}"
