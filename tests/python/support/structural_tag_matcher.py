"""A slow, plain matcher of structural tags: whether a whole output follows a tag. The twin of the engine.

Every format yields the set of places where it can end; nothing is clever. Values of JSON are judged by jsonschema-rs.
Special tokens are characters of a private area, so that no text can spell them: ``Matcher(specials=["<tool_call>"])``
reads each ``<tool_call>`` of an output and of a delimiter as the token.

Texts in front of something are texts in which that something does not stand: a text before a tag holds no trigger, a
text in a tag does not hold its end. Limits in tokens are not modelled: an output is given as text.
"""

from __future__ import annotations

import functools
import itertools
import json
import re

import jsonschema_rs
from tagged_parameter_matcher import PRIVATE, TaggedParameters, closed_schema, members_once

from interlock.tools import StructuralTagError, ToolFormatError, spec
from interlock.tools.notations.argument_parsing import read_arguments_at
from interlock.tools.tag_grammars.delimiter_patterns import pattern_of
from interlock.tools.notations.schema_types import property_schema, resolved


class Matcher:
    """One structural tag. ``closed`` reads object schemas without ``additionalProperties`` as closed, as XGrammar's
    default does."""

    def __init__(self, tag, specials=(), closed=False):
        self.tag = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
        self.specials = {
            text: chr(PRIVATE + index) for index, text in enumerate(sorted(specials, key=len, reverse=True))
        }
        self.closed = closed
        self.validators = {}
        self.text = ""
        _refuse_unknown_tokens(self.tag.format, self.specials)

    def accepts(self, output):
        self.text = self.coded(output)
        self.ends.cache_clear()
        self.nodes = {}
        return len(self.text) in self.match(self.tag.format, 0, ())

    def coded(self, text):
        for special, char in self.specials.items():
            text = text.replace(special, char)
        return text

    def match(self, node, at, stops):
        self.nodes[id(node)] = node
        return self.ends(id(node), at, stops)

    @functools.cache  # noqa: B019 - one matcher lives as long as its test
    def ends(self, key, at, stops):
        node = self.nodes[key]
        return frozenset(getattr(self, "of_" + type(node).__name__)(node, at, stops))

    def literal(self, text, at):
        text = self.coded(text)
        return [at + len(text)] if self.text.startswith(text, at) else []

    def plain(self, at, excluded, most=None):
        """Where a text that begins here can end, if none of ``excluded`` stands in it."""
        patterns = [re.compile(one.pattern, re.DOTALL) for one in excluded if isinstance(one, spec.Regex)]
        excluded = [self.coded(text) for text in excluded if isinstance(text, str) and text]
        for end in range(at, len(self.text) + 1):
            if most is not None and end - at > most:
                return
            piece = self.text[at:end]
            if piece and ord(piece[-1]) >= PRIVATE:
                return
            if any(piece.endswith(text) for text in excluded) or any(one.search(piece) for one in patterns):
                return
            yield end

    # --- one method for each format -----------------------------------------------------------------------------

    def of_ConstString(self, node, at, stops):
        return self.literal(node.value, at)

    def of_Regex(self, node, at, stops):
        pattern = re.compile(node.pattern)
        return [end for end in self.plain(at, ()) if pattern.fullmatch(self.text[at:end])]

    def of_GrammarText(self, node, at, stops):
        pattern = re.compile(_grammar_pattern(node.grammar))
        return [end for end in self.plain(at, ()) if pattern.fullmatch(self.text[at:end])]

    def of_AnyText(self, node, at, stops):
        return self.plain(at, (*node.excludes, *stops), node.max_chars)

    def of_Token(self, node, at, stops):
        return self.literal(node.token, at)

    def of_ExcludeToken(self, node, at, stops):
        excluded = {self.coded(token) for token in node.exclude_tokens}
        return [at + 1] if at < len(self.text) and self.text[at] not in excluded else []

    def of_AnyTokens(self, node, at, stops):
        excluded = {self.coded(text) for text in (*node.exclude_tokens, *stops) if isinstance(text, str)}
        yield at
        while at < len(self.text) and not any(self.text.startswith(text, at) for text in excluded):
            at += 1
            yield at

    def of_Sequence(self, node, at, stops):
        places = {at}
        for index, element in enumerate(node.elements):
            inner = stops if index == len(node.elements) - 1 else ()
            places = {end for place in places for end in self.match(element, place, inner)}
        return places

    def of_Or(self, node, at, stops):
        return [end for element in node.elements for end in self.match(element, at, stops)]

    def of_Optional(self, node, at, stops):
        return [at, *self.match(node.content, at, stops)]

    def repeated(self, node, at, stops, least, most):
        places, found, seen = {at}, set(), set()
        for count in itertools.count():
            if count >= least:
                found |= places
            if not places or count == most or (count >= least and places <= seen):
                return found
            seen |= places
            places = {end for place in places for end in self.match(node, place, stops)}

    def of_Plus(self, node, at, stops):
        return self.repeated(node.content, at, stops, 1, None)

    def of_Star(self, node, at, stops):
        return self.repeated(node.content, at, stops, 0, None)

    def of_Repeat(self, node, at, stops):
        return self.repeated(node.content, at, stops, node.min, None if node.max < 0 else node.max)

    def of_Tag(self, node, at, stops):
        if isinstance(node.begin, str):
            starts = self.literal(node.begin, at)
        else:
            starts = self.match(node.begin, at, ())
        if isinstance(node.end, spec.Regex | spec.Sequence | spec.Or):
            stop = spec.Regex(pattern_of(node.end, ""))
            for start in starts:
                for close in self.match(node.content, start, (stop,)):
                    yield from self.match(node.end, close, ())
            return
        ends = node.end if isinstance(node.end, tuple) else (node.end.token,)
        inner = tuple(end for end in ends if end) if any(ends) else stops
        for start in starts:
            for close in self.match(node.content, start, inner):
                for end in ends:
                    yield from self.literal(end, close)

    def counted(self, node, at, step):
        """Tags one after another, with bounds on how many; ``step`` says what may stand before and after each."""
        most = 1 if node.stop_after_first else node.max_calls
        least = max(node.min_calls, 1 if node.at_least_one else 0)
        todo, seen = [(at, 0, frozenset())], set()
        while todo:
            state = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            place, count, used = state
            if count >= least:
                yield from step.last(place, count)
            if most is not None and count >= most:
                continue
            for start in step.before(place, count):
                for index, tag in enumerate(node.tags):
                    if node.unique and index in used:
                        continue
                    done = used | {index} if node.unique else used
                    bound = count + 1 if most is not None or count < max(least, 1) else count
                    todo.extend((end, bound, done) for end in self.match(tag, start, step.stops))

    def of_TagsWithSeparator(self, node, at, stops):
        matcher = self

        class Step:
            def __init__(self):
                self.stops = stops

            def last(self, place, count):
                return [place]

            def before(self, place, count):
                separators = (node.separator,) if isinstance(node.separator, str) else node.separator
                return [end for one in separators for end in matcher.literal(one, place)] if count else [place]

        return self.counted(node, at, Step())

    def of_TriggeredTags(self, node, at, stops):
        return self.triggered(node, at, stops, node.triggers, node.excludes)

    def of_TokenTriggeredTags(self, node, at, stops):
        return self.triggered(node, at, stops, node.trigger_tokens, node.exclude_tokens)

    def triggered(self, node, at, stops, triggers, excludes):
        matcher, taboo = self, (*triggers, *excludes, *stops)

        class Step:
            def __init__(self):
                self.stops = stops

            def last(self, place, count):
                if node.stop_after_first and count:
                    return [place]
                return matcher.plain(place, taboo)

            def before(self, place, count):
                return [place] if node.at_least_one and not count else matcher.plain(place, taboo)

        return self.counted(node, at, Step())

    def of_Dispatch(self, node, at, stops):
        return self.dispatched(node, at, stops, node.excludes)

    def of_TokenDispatch(self, node, at, stops):
        return self.dispatched(node, at, stops, node.exclude_tokens)

    def dispatched(self, node, at, stops, excludes):
        taboo = (*(pattern for pattern, _ in node.rules), *excludes, *stops)
        todo, seen = [at], set()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            for start in self.plain(place, taboo):
                yield start
                for pattern, content in node.rules:
                    for inside in self.literal(pattern, start):
                        found = self.match(content, inside, stops)
                        if node.loop:
                            todo.extend(found)
                        else:
                            yield from found

    def of_Quoted(self, node, at, stops):
        encoding = node.style.encoding
        if encoding == "tagged":
            return self.match(node.content, at, stops)
        pattern = r'"(?:[^"\\]|\\.)*"' if encoding == "json" else r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
        if encoding == "gemma":
            quote = re.escape(self.coded(node.style.quote))
            pattern = f"{quote}(?:(?!{quote}).)*{quote}"
        match = re.compile(pattern, re.DOTALL).match(self.text, at)
        if not match:
            return []
        written = match[0]
        if encoding == "json":
            inner = json.loads(written)
        elif encoding == "gemma":
            inner = written[len(self.coded(node.style.quote)) : -len(self.coded(node.style.quote))]
        else:
            inner = read_arguments_at(node.style, f"a={written}", 0)[0]["a"]
        return (
            [match.end()]
            if Matcher(spec.StructuralTag(node.content), self.specials, self.closed).accepts(inner)
            else []
        )

    # --- values under a schema ----------------------------------------------------------------------------------

    def of_JsonSchema(self, node, at, stops):
        if node.style.encoding == "json":
            return [end for value, end in self.json_values(at) if self.fits(node, value, self.text[at:end])]
        if node.style.encoding == "tagged":
            found = TaggedParameters(self, node).members(at, node.json_schema)
            return [end for value, end in found if self.fits(node, value, "")]
        style = self.coded_style(node.style)
        try:
            value, end = read_arguments_at(style, self.text, at)
        except ToolFormatError:
            return []
        # Readers skip white space and a last comma, which a format does not have.
        end = at + len(self.text[at:end].rstrip())
        is_tight = not value or (self.text[at].strip() and self.text[end - 1] != ",")
        return [end] if is_tight and self.fits(node, value, "") else []

    def coded_style(self, style):
        import dataclasses

        fields = ("begin", "end", "item_begin", "item_end", "quote", "string_begin", "string_end")
        return dataclasses.replace(style, **{name: self.coded(getattr(style, name)) for name in fields})

    def json_values(self, at):
        try:
            value, end = json.JSONDecoder(object_pairs_hook=members_once).raw_decode(self.text, at)
        except (ValueError, RecursionError):
            return []
        if isinstance(value, int | float) and not isinstance(value, bool):
            texts = ((self.text[at:stop], stop) for stop in range(at + 1, end + 1))
            return [(json.loads(text), stop) for text, stop in texts if re.fullmatch(_NUMBER, text)]
        if any(ord(char) >= PRIVATE for char in self.text[at:end]) or "NaN" in self.text[at:end]:
            return []
        return [(value, end)]

    def fits(self, node, value, written):
        schema = closed_schema(node.json_schema) if self.closed else node.json_schema
        key = id(node)
        if key not in self.validators:
            self.validators[key] = jsonschema_rs.validator_for(schema)
        if node.max_whitespace_cnt is not None and written:
            outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', written)
            if re.search(rf"\s{{{node.max_whitespace_cnt + 1}}}", outside):
                return False
        if node.excludes and any(text in string for string in _strings(value) for text in node.excludes):
            return False
        if not node.any_order and not _ordered(value, schema, schema):
            return False
        return self.validators[key].is_valid(value)


_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _ordered(value, schema, root):
    """Whether members stand in the order in which the schema declares them."""
    if isinstance(schema, dict) and "$ref" in schema:
        return _ordered(value, resolved(schema["$ref"], root), root)
    if not isinstance(schema, dict):
        return True
    if isinstance(value, list):
        items = schema.get("items", True)
        return all(_ordered(item, items, root) for item in value)
    if not isinstance(value, dict):
        return True
    declared = list(schema.get("properties", {}))
    places = [declared.index(key) if key in declared else len(declared) for key in value]
    return places == sorted(places) and all(
        _ordered(inner, property_schema(schema, key, root), root) for key, inner in value.items()
    )


def _refuse_unknown_tokens(node, specials):
    """A token must be one of the vocabulary."""
    import dataclasses

    if isinstance(node, tuple | list):
        for part in node:
            _refuse_unknown_tokens(part, specials)
    elif dataclasses.is_dataclass(node):
        named = []
        for field in ("token", "exclude_tokens", "trigger_tokens"):
            value = getattr(node, field, ())
            named += value if isinstance(value, tuple) else [value]
        if isinstance(node, spec.TokenDispatch):
            named += [pattern for pattern, _ in node.rules]
        for token in named:
            if token not in specials:
                raise StructuralTagError(f"the vocabulary has no special token {token!r}")
        for field in dataclasses.fields(node):
            if field.name not in ("json_schema", "style"):
                _refuse_unknown_tokens(getattr(node, field.name), specials)


def _grammar_pattern(grammar):
    """An EBNF grammar without recursion as a pattern."""
    rules = dict(re.findall(r"(\w+)\s*::=\s*((?:[^\n]|\n(?!\s*\w+\s*::=))*)", grammar))

    def body(name, depth=0):
        if depth > 20:
            raise NotImplementedError("the slow matcher reads no recursive grammar")
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\w+|[|()*+?]|\{[\d,]+\}', rules[name])
        pattern = ""
        for part in parts:
            if part[0] == '"':
                pattern += "(?:" + re.escape(json.loads(part)) + ")"
            elif re.fullmatch(r"\w+", part):
                pattern += "(?:" + body(part, depth + 1) + ")"
            else:
                pattern += "(?:" if part == "(" else part
        return pattern

    return body("root")
