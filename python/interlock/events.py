"""Events: what an output says, while it is written.

``Guide.events`` gives those that became certain since the last call, ``Index.parse`` those of a whole output. They are
read off the grammar that the masks come from: reasoning, text and tool calls of structural tags, and captures of
grammars.

An event is given when all ways to read the output so far agree on it. Going back takes events back: the next call then
begins with ``TakenBack``.

>>> import interlock
>>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
>>> index = interlock.Index.from_tools([{"name": "now"}], vocabulary, format="hermes")
>>> guide = index.guide()
>>> guide.advance_many(list(b'One moment.<tool_call>'))
22
>>> guide.events()
[Text(text='One moment.'), CallBegun(call=0), NameKnown(call=0, name='now')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from interlock import _core
from interlock.util.client_messages import with_hint
from interlock.util.plurals import are, counted

if TYPE_CHECKING:
    from interlock._core import Guide, Index
    from interlock.tools.notations.render import Call

__all__ = [
    "ArgumentBytes",
    "CallBegun",
    "CallEnded",
    "Captured",
    "End",
    "Event",
    "EventHistory",
    "Forced",
    "IdKnown",
    "NameKnown",
    "Reasoning",
    "TakenBack",
    "Text",
    "events_of",
    "parse_output",
]


@dataclass(frozen=True)
class Text:
    """A piece of the answer's text, in whole characters. Pieces that follow each other are one text."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    """A piece of the reasoning, without its delimiters."""

    text: str


@dataclass(frozen=True)
class CallBegun:
    """A tool call begins. Which tool it calls may not be known yet."""

    call: int
    """Its number in the output, from 0."""


@dataclass(frozen=True)
class NameKnown:
    """It is certain which tool a call is for."""

    call: int
    name: str


@dataclass(frozen=True)
class IdKnown:
    """It is certain which identifier a call has, where its notation writes one: before or behind the name, mostly
    before the arguments.
    """

    call: int
    id: str


@dataclass(frozen=True)
class ArgumentBytes:
    """A piece of a call's arguments, as the model's notation has them."""

    call: int
    data: bytes
    """UTF-8, in whole characters."""


@dataclass(frozen=True)
class CallEnded:
    """A call is whole."""

    number: int
    """Its number in the output, from 0."""
    call: Call
    """The tool's name, the arguments as Python values, and the identifier where the notation has one."""


@dataclass(frozen=True)
class Captured:
    """A capture ended: a rule of a grammar with ``[capture]``, or a tag without an ``event``.

    Captures without text are not reported.
    """

    name: str
    """The name of the capture: of the rule if nothing else is said, of a tag what it begins with."""
    data: bytes


@dataclass(frozen=True)
class Forced:
    """A text from outside, given to ``Guide.force``, was taken as a whole."""

    data: bytes


@dataclass(frozen=True)
class TakenBack:
    """The last ``count`` events that were given are void, because the guide went back.

    What still holds of them is given again. ``EventHistory`` says which characters differ.
    """

    count: int


@dataclass(frozen=True)
class End:
    """The output ended: a stop token was taken."""


Event: TypeAlias = (
    Text | Reasoning | CallBegun | NameKnown | IdKnown | ArgumentBytes | CallEnded | Captured | Forced | TakenBack | End
)
"""Any event."""

# The kinds of parts that the engine gives.
_BEGIN, _TEXT, _END, _FORCED, _OUTPUT_END = range(5)
#: Where and whether a capture begins inside another one, and its name.
_Marker: TypeAlias = tuple[int, bool, str]


@dataclass(frozen=True)
class _Capture:
    """A capture as the engine knows it."""

    name: str
    ordinal: int
    inside: int
    data: bytes
    markers: list[_Marker]


class EventHistory:
    """The events of one output, and what each rollback changes of them, to the character.

    ``TakenBack`` voids whole events, and the parts of them that still hold are given again. ``take`` compares the two:
    a server repairs its stream by what it removes and adds.

    >>> history = EventHistory()
    >>> history.take([Text("One moment."), CallBegun(0)])
    ([], [Text(text='One moment.'), CallBegun(call=0)])
    >>> history.take([TakenBack(2), Text("One mo"), Text("re.")])
    ([Text(text='ment.'), CallBegun(call=0)], [Text(text='re.')])
    """

    def __init__(self) -> None:
        self._given: list[Event] = []

    def copy(self) -> EventHistory:
        """The same history, for a fork of the guide: ``Guide.events`` of a fork goes on behind what was given before.

        >>> history = EventHistory()
        >>> _ = history.take([Text("One moment.")])
        >>> other = history.copy()
        >>> _ = other.take([TakenBack(1), Text("One")])
        >>> history.events, other.events
        ([Text(text='One moment.')], [Text(text='One')])
        """
        made = EventHistory()
        made._given = list(self._given)  # The events themselves never change.
        return made

    @property
    def events(self) -> list[Event]:
        """All events that hold now. Pieces that follow each other are one."""
        found: list[Event] = []
        for event in self._given:
            _add(found, event)
        return found

    def take(self, events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
        """What of the output is void now, and what is new, for the answer of one ``Guide.events``.

        Both are in the order of the output. An event of which the beginning stays is there with the rest of its text
        or its bytes alone. ``ArgumentError`` where more is taken back than was given.
        """
        gone: list[Event] = []
        new = list(events)
        if new and isinstance(first := new[0], TakenBack):
            count = first.count
            del new[0]
            if count > len(self._given):
                raise _core.ArgumentError(
                    f"{counted(count, 'event')} {are(count)} taken back, and only {len(self._given)} given: "
                    "pass all events of the output"
                )
            gone = self._given[len(self._given) - count :]
            del self._given[len(self._given) - count :]
        self._given += new
        removed: list[Event] = []
        added: list[Event] = []
        for event in gone:
            _add(removed, event)
        for event in new:
            _add(added, event)
        return _without_common_beginning(removed, added)


def _without_common_beginning(old: list[Event], new: list[Event]) -> tuple[list[Event], list[Event]]:
    """Two outputs from where they differ on."""
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    old, new = old[at:], new[at:]
    if old and new:
        one, other = _piece(old[0]), _piece(new[0])
        if one is not None and other is not None and _is_of_one(old[0], new[0]):
            differing = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
            same = next(differing, min(len(one), len(other)))
            old = ([_from(old[0], same)] if same < len(one) else []) + old[1:]
            new = ([_from(new[0], same)] if same < len(other) else []) + new[1:]
    return old, new


def _piece(event: Event) -> str | bytes | None:
    """The text or the bytes of an event that is a piece of something."""
    if isinstance(event, Text | Reasoning):
        return event.text
    return event.data if isinstance(event, ArgumentBytes) else None


def _is_of_one(one: Event, other: Event) -> bool:
    """Whether two pieces are of the same thing."""
    return type(one) is type(other) and getattr(one, "call", None) == getattr(other, "call", None)


def _from(event: Event, at: int) -> Event:
    """A piece without its first characters or bytes."""
    if isinstance(event, ArgumentBytes):
        return ArgumentBytes(event.call, event.data[at:])
    if isinstance(event, Text):
        return Text(event.text[at:])
    assert isinstance(event, Reasoning)
    return Reasoning(event.text[at:])


def events_of(guide: Guide) -> list[Event]:
    """The events that became certain since the last call; ``Guide.events`` is this."""
    return _Reading(guide).new()


def parse_output(index: Index, output: bytes | str | Sequence[int], partial: bool = False) -> list[Event]:
    """The events of a whole output; ``Index.parse`` is this."""
    guide = index.guide()
    vocabulary = index.vocabulary
    if isinstance(output, bytes | str):
        take_text(guide, output.encode() if isinstance(output, str) else bytes(output))
    else:
        for token in output:
            guide.advance(token)
    if not partial and not guide.is_terminated:
        # Whatever is wrong with the end of the output, the guide says it.
        try:
            guide.advance(vocabulary.eos_token_ids[0])
        except _core.TokenRejected as error:
            raise (_with_special_tokens(error, guide) if isinstance(output, bytes | str) else error) from None
    return events_of(guide)


def _with_special_tokens(error: _core.TokenRejected, guide: Guide) -> _core.TokenRejected:
    """The refusal of a text where a special token may come: most decoders leave these out of texts."""
    vocabulary = guide.index.vocabulary
    silent = set(vocabulary.special_token_ids) - set(vocabulary.eos_token_ids)
    texts = [vocabulary.token_bytes(token) for token in guide.allowed_token_ids().tolist() if token in silent]
    shown = [text.decode("utf-8", "replace") for text in texts if text]
    if not shown:
        return error
    more = ", ..." if len(shown) > 3 else ""
    return with_hint(
        error,
        f"a special token may come here ({', '.join(shown[:3])}{more}), so the text may lack its special tokens: "
        "decode with skip_special_tokens=False, or pass the tokens",
    )


def take_text(guide: Guide, data: bytes) -> None:
    """Takes a text in any tokens. The texts of special tokens that may come are these tokens."""
    vocabulary = guide.index.vocabulary
    specials = sorted(
        ((text, token) for token in vocabulary.special_token_ids if (text := vocabulary.token_bytes(token))),
        key=lambda pair: -len(pair[0]),
    )
    heads = {text[0] for text, _ in specials}
    single = _single_tokens(vocabulary)
    at = 0
    while at < len(data):
        if data[at] in heads:
            token = next((token for text, token in specials if data.startswith(text, at)), None)
            if token is not None and guide.try_advance(token):
                at += len(vocabulary.token_bytes(token))
                continue
        token = single.get(data[at])
        if token is None:
            raise _core.VocabularyError(f"the vocabulary has no token for the single byte 0x{data[at]:02X}")
        if not guide.try_advance(token):
            shown = data[max(0, at - 20) : at + 20].decode("utf-8", "replace")
            error = _core.TokenRejected(
                f"the output is refused at its byte {at}, around {shown!r}: {guide.explain(token)}"
            )
            raise _with_special_tokens(error, guide)
        at += 1


def _single_tokens(vocabulary: Any) -> dict[int, int]:
    """A token for each byte."""
    known: dict[int, int] | None = _SINGLE.get(vocabulary.fingerprint)
    if known is None:
        out = set(vocabulary.special_token_ids) | set(vocabulary.eos_token_ids)
        known = {}
        for token in range(len(vocabulary)):
            text = vocabulary.token_bytes(token)
            if len(text) == 1 and token not in out:
                known.setdefault(text[0], token)
        if len(_SINGLE) > 16:
            _SINGLE.clear()
        _SINGLE[vocabulary.fingerprint] = known
    return known


_SINGLE: dict[str, dict[int, int]] = {}


class _Reading:
    """Turns the engine's parts into events."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.captures: dict[int, _Capture] = {}
        self.known_kinds: dict[int, frozenset[str]] = {-1: frozenset()}

    def capture(self, marker: int) -> _Capture:
        """A capture by the number of its marker."""
        if marker not in self.captures:
            found = _core._capture(self.guide, marker)
            if found is None:
                raise _core.InternalError(f"no capture began at marker {marker}")
            self.captures[marker] = _Capture(*found)
        return self.captures[marker]

    def around(self, marker: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The captures around a place, the innermost first, with the words of their events."""
        while marker >= 0:
            found = self.capture(marker)
            yield marker, _words(found.name)
            marker = found.inside

    def kinds(self, marker: int) -> frozenset[str]:
        """The kinds of all captures around a place. They are kept, since captures may be nested thousands deep."""
        unknown = []
        while marker not in self.known_kinds:
            unknown.append(marker)
            marker = self.capture(marker).inside if marker >= 0 else -1
        found = self.known_kinds[marker]
        for at in reversed(unknown):
            kind = _words(self.capture(at).name)[0]
            found = found if kind in found else found | {kind}
            self.known_kinds[at] = found
        return found

    def new(self) -> list[Event]:
        """The events since the last call. The first says how many of those that were told do not hold any more."""
        taken_back, parts = _core._new_events(self.guide)
        events: list[Event] = []
        for kind, marker, data in parts:
            for event in self.event(kind, marker, data):
                _add(events, event)
        _core._note_events(self.guide, len(events))
        return [TakenBack(taken_back), *events] if taken_back else events

    def event(self, kind: int, marker: int, data: bytes) -> list[Event]:
        """The events of one part that the core tells: its kind, the place of its capture, its bytes."""
        if kind == _FORCED:
            return [Forced(data)]
        if kind == _OUTPUT_END:
            return [End()]
        if kind == _TEXT:
            return self.text(marker, data)
        words = _words(self.capture(marker).name)
        if kind == _BEGIN:
            if words[0] == "call":
                return [CallBegun(self.capture(marker).ordinal)]
            if words[0] == "named":
                return [NameKnown(number, words[1]) for number in self.calls(marker)]
            return []
        if words[0] == "call":
            return [CallEnded(self.capture(marker).ordinal, self.call(marker))]
        if words[0] == "id":
            identifier = "".join(words[1:]) + self.capture(marker).data.decode("utf-8", "replace")
            return [IdKnown(number, identifier) for number in self.calls(marker)]
        if words[0] == "tag":
            return [Captured(words[1] if len(words) > 1 else "", self.capture(marker).data)]
        if words[0] == "captured":
            return [Captured(words[1], self.capture(marker).data)]
        return []

    def calls(self, marker: int) -> Iterator[int]:
        """The number of the call around a place, if there is one."""
        for at, words in self.around(marker):
            if words[0] == "call":
                yield self.capture(at).ordinal
                return

    def text(self, marker: int, data: bytes) -> list[Event]:
        """The events of bytes at a place: those of arguments, of reasoning or of text. Bytes of a call's frame have
        none.
        """
        if marker < 0 and not _core._has_captures(self.guide):
            return [Text(data.decode("utf-8", "replace"))]
        kinds = self.kinds(marker)
        if "arguments" in kinds:
            return [ArgumentBytes(number, data) for number in self.calls(marker)]
        if "call" in kinds:
            return []
        if "reasoning" in kinds:
            return [Reasoning(data.decode("utf-8", "replace"))]
        return [Text(data.decode("utf-8", "replace"))] if "text" in kinds else []

    def call(self, marker: int) -> Call:
        """A call that is whole."""
        from interlock.tools.replies.captured_calls import read_call

        found = self.capture(marker)
        return read_call(found.data, found.markers)


def _add(events: list[Event], event: Event) -> None:
    """Adds an event; a piece of what the last one is a piece of is added to it."""
    last = events[-1] if events else None
    if isinstance(event, ArgumentBytes) and isinstance(last, ArgumentBytes) and last.call == event.call:
        events[-1] = ArgumentBytes(event.call, last.data + event.data)
    elif isinstance(event, Text) and isinstance(last, Text):
        events[-1] = Text(last.text + event.text)
    elif isinstance(event, Reasoning) and isinstance(last, Reasoning):
        events[-1] = Reasoning(last.text + event.text)
    else:
        events.append(event)


def _words(name: str) -> tuple[str, ...]:
    """The kind and the words of a capture's name."""
    from interlock.tools.tag_grammars.event_names import MARK, read_event

    return read_event(name.removeprefix(MARK)) if name.startswith(MARK) else ("captured", name)
