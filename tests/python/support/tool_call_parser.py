"""A slow, plain reader of what models write: reasoning, text and calls, for every tool format.

It is the twin of ``interlock.tools.render`` and of the events of the engine. It tries every notation of a format at
every place of the text and takes the first that reads a whole section of calls. With ``exact=False`` white space in
delimiters may differ from the format's, as it does in what models write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from interlock.tools import Call, ToolFormatError, tool_format
from interlock.tools.notations import template
from interlock.tools.notations.argument_parsing import read_arguments_at
from interlock.tools.notations.escapes import unescape


@dataclass(frozen=True)
class Reasoning:
    text: str


@dataclass(frozen=True)
class Text:
    text: str


def parse(format, text, tools=None, exact=True):
    """The events of one turn: ``Reasoning``, ``Text`` and ``Call`` objects, in order. No event is empty.

    ``tools`` maps names to schemas of parameters; a call of another name is text. Without it any name is read.
    """
    return _Parser(tool_format(format), text, tools, exact).turn()


def calls(format, text, tools=None, exact=True):
    return [event for event in parse(format, text, tools, exact) if isinstance(event, Call)]


class _Parser:
    def __init__(self, form, text, tools, exact):
        self.form, self.text, self.tools, self.exact = form, text, tools, exact
        self.notations = [
            (notation, self.pattern(notation.section_begin), self.pattern(notation.begin), self.pattern(notation.end))
            for notation in form.notations
        ]
        self.separators = [self.pattern(notation.separator) for notation in form.notations]
        self.section_ends = [self.pattern(notation.section_end) for notation in form.notations]

    def pattern(self, delimiter):
        parts, seen = [], set()
        for kind, text in template.pieces(delimiter):
            if kind == "placeholder":
                group = {"name": self.name_pattern(), "id": f"(?:{self.form.id.pattern})"}[text]
                parts.append(f"(?P={text})" if text in seen else f"(?P<{text}>{group})")
                seen.add(text)
            elif self.exact:
                parts.append(re.escape(text))
            else:
                # Blanks may stand around punctuation, and no number of them means anything.
                words = re.findall(r"\w+|\s+|.", text)
                parts.append(r"\s*".join(re.escape(word) for word in words if word.strip()) if words else "")
                if text[0].isspace() or parts[:-1]:
                    parts[-1] = r"\s*" + parts[-1]
                if text[-1].isspace():
                    parts[-1] += r"\s*"
        joined = "".join(parts)
        return re.compile(joined if self.exact else rf"\s*{joined}")

    def name_pattern(self):
        if self.tools is not None:
            from interlock.tools.notations.escapes import escape

            names = sorted((re.escape(escape(name, self.form.name_escape)) for name in self.tools), key=len)
            return "|".join(reversed(names)) or r"(?!)"
        return r'(?:[^"\\]|\\.)+?' if self.form.name_escape == "json" else r"[\w.:/-]+?"

    def turn(self):
        form, at, events = self.form, 0, []
        if form.layout.kind == "messages":
            return self.messages()
        reasoning = form.reasoning
        if reasoning is not None:
            start = len(reasoning.begin) if self.text.startswith(reasoning.begin) else 0
            end = self.text.find(reasoning.end, start)
            first = self.first_call(0)
            if end >= 0 and (start or first is None or end < first):
                events.append(Reasoning(self.text[start:end]))
                at = end + len(reasoning.end)
                if self.text.startswith(reasoning.after, at):
                    at += len(reasoning.after)
        if form.layout.kind == "blocks":
            at = self.after(form.layout.text_begin, at)
            end = self.text.find(form.layout.text_end, at)
            if end < 0:
                raise ToolFormatError("the text block is not closed")
            events.append(Text(self.text[at:end]))
            events += self.mixed(end + len(form.layout.text_end), len(self.text) - len(form.layout.end))
            self.after(form.layout.end, len(self.text) - len(form.layout.end))
        else:
            events += self.mixed(at, len(self.text))
        return [event for event in events if isinstance(event, Call) or event.text]

    def after(self, literal, at):
        if not self.text.startswith(literal, at):
            raise ToolFormatError(f"{literal!r} is needed at {at}")
        return at + len(literal)

    def messages(self):
        layout, events, at = self.form.layout, [], 0
        kinds = [(layout.text_begin, layout.text_end, Text), (layout.preamble_begin, layout.preamble_end, Text)]
        if self.form.reasoning:
            kinds.append((self.form.reasoning.begin, self.form.reasoning.end, Reasoning))
        while at < len(self.text):
            section = self.section(at)
            if section is not None:
                found, at = section
                events += found
            else:
                for begin, end, kind in kinds:
                    if begin and self.text.startswith(begin, at):
                        stop = self.text.find(end, at)
                        stop = len(self.text) if stop < 0 else stop
                        events.append(kind(self.text[at + len(begin) : stop]))
                        at = stop + len(end)
                        break
                else:
                    raise ToolFormatError(f"no message begins at {at}")
            if self.text.startswith(layout.separator, at):
                at += len(layout.separator)
        return events

    def first_call(self, at):
        return next((place for place in range(at, len(self.text)) if self.section(place)), None)

    def mixed(self, at, stop):
        """Text with calls in it."""
        events, start = [], at
        while at < stop:
            section = self.section(at)
            if section is None:
                at += 1
                continue
            events.append(Text(self.text[start:at]))
            events += section[0]
            at = start = section[1]
        events.append(Text(self.text[start:stop]))
        return events

    def section(self, at):
        """The calls of the section that begins at ``at``, and where it ends; ``None`` where there is none."""
        found = [self.of_notation(index, at) for index in range(len(self.notations))]
        return max((section for section in found if section), key=lambda section: section[1], default=None)

    def of_notation(self, index, at):
        notation, section_begin, begin, end = self.notations[index]
        match = section_begin.match(self.text, at)
        if not match or (self.is_blank(at) and match.end() > at):
            return None
        at, found = match.end(), []
        while True:
            match = begin.match(self.text, at)
            if not match or (self.is_blank(at) and not found and not notation.section_begin):
                return None
            named = match.groupdict()
            try:
                name = unescape(named["name"], self.form.name_escape)
                schema = True if self.tools is None else self.tools.get(name, True)
                arguments, at = read_arguments_at(self.form.arguments, self.text, match.end(), schema)
            except ToolFormatError:
                return None
            match = end.match(self.text, self.end_of_call(notation, end, at))
            if not match:
                return None
            named.update(match.groupdict())
            found.append(Call(name, arguments, named.get("id") or ""))
            at = match.end()
            match = self.separators[index].match(self.text, at)
            if match and begin.match(self.text, match.end()):
                at = match.end()
                continue
            match = self.section_ends[index].match(self.text, at)
            return (found, match.end()) if match else None

    def is_blank(self, at):
        """Whether a text that is read loosely has white space here: it belongs to the text and to no call."""
        return not self.exact and self.form.layout.kind == "text" and self.text[at : at + 1].isspace()

    def end_of_call(self, notation, end, at):
        """Readers of arguments leave a line end behind that belongs to the last parameter's delimiter."""
        while not end.match(self.text, at) and at < len(self.text) and self.text[at].isspace():
            at += 1
        return at
