"""Stop texts in the events of an output: they are looked for in its text, and neither in reasoning nor in calls."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.events import End, Event, Text
from interlock.serving.stop_texts import StopReader

__all__ = ["EventStops"]


class EventStops:
    """Events of one output, up to its first stop text. White space behind reasoning and calls is not looked at: it
    stands between parts of the output, and is most often no text for a client.

    >>> from interlock.serving.stop_texts import StopTexts
    >>> stops = EventStops(StopReader(StopTexts(["###"])))
    >>> stops.read([Text("Well.#")], True), stops.read([Text("## No")], True)
    ([Text(text='Well.')], [End()])
    """

    def __init__(self, reader: StopReader) -> None:
        self._reader = reader
        self._is_between = False

    def copy(self, reader: StopReader) -> EventStops:
        """The same place, with a copy of the reader."""
        made = EventStops(reader)
        made._is_between = self._is_between
        return made

    def read(self, events: Sequence[Event], counts: bool) -> list[Event]:
        """What of new events can be given now. A stop text that ends in them is none unless it ``counts``. Behind one
        the output has ended.
        """
        found: list[Event] = []
        for event in events:
            if self._reader.found is not None:
                break
            if not isinstance(event, Text):
                found += [*self.release(), event]
                self._is_between = True
                continue
            text, blank = event.text, ""
            if self._is_between:
                text = event.text.lstrip()
                blank = event.text[: len(event.text) - len(text)]
                self._is_between = not text
            shown = blank + self._reader.read(text, counts)
            if shown:
                found.append(Text(shown))
            if self._reader.found is not None:
                found.append(End())
        return found

    def release(self) -> list[Event]:
        """The text that is held back, where no stop text can go on."""
        held = self._reader.release()
        return [Text(held)] if held else []
