"""Examples of tool calls: arguments that look like what people write, in the notation of the model's family.

A tool and a document of its parameters are drawn, and the call is rendered. The masks decide, as for a model: a call
that they refuse is no example.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import interlock
from interlock._recipe import Recipe, byte_vocabulary
from interlock.samples.plausible import example
from interlock.schema_hints import quiet
from interlock.string_formats.everyday_words import WORDS

if TYPE_CHECKING:
    from interlock.tools.notations.render import Call

__all__ = ["ToolSamples"]

TRIES = 8
"""How many calls are drawn for one example."""
WITH_WORDS, WITH_TWO = 0.3, 0.25
"""How many of the examples have words in front of the call, and how many a second call."""


class ToolSamples:
    """Draws calls of the tools that ``index``, an index over bytes, accepts. ``options`` are those of
    ``Index.from_tools``.
    """

    def __init__(self, tools: Any, index: interlock.Index, options: Mapping[str, Any]) -> None:
        from interlock.tools.notations.format_files import tool_format
        from interlock.tools.requests.tool_list import tools_of

        self.form = tool_format(options["format"])
        self.tools = [tool for tool in tools_of(tools) if tool.input is None]
        self.guide = index.guide()
        self.recipes: dict[str, Recipe | None] = {}

    def draw(self, rng: random.Random) -> bytes | None:
        """A text with a call: sometimes with words in front of it, and sometimes with a second call, where the index
        accepts that. ``None`` where ``TRIES`` calls are none that it accepts.
        """
        for _ in range(TRIES):
            lead = " ".join(rng.choices(WORDS, k=3)) + "." if rng.random() < WITH_WORDS else ""
            is_double = rng.random() < WITH_TWO
            for tool in rng.sample(self.tools, len(self.tools)):
                call = self._call(tool, rng)
                if call is None:
                    continue
                second = self._call(rng.choice(self.tools), rng) if is_double else None
                both = [call] if second is None else [call, second]
                # What is not allowed is left out, first the words and then the second call.
                plans = [(both, lead), (both, ""), ([call], lead), ([call], "")]
                for calls, words in (plan for i, plan in enumerate(plans) if plan not in plans[:i]):
                    for text in self._turns(calls, words, rng):
                        if self._accepts(data := text.encode()):
                            return data
        return None

    def _call(self, tool: Any, rng: random.Random) -> Call | None:
        from interlock.tools.notations.render import Call

        arguments = self._arguments(tool, rng)
        return None if arguments is None else Call(tool.name, arguments)

    def _arguments(self, tool: Any, rng: random.Random) -> dict[str, Any] | None:
        if tool.name not in self.recipes:
            self.recipes[tool.name] = _recipe(tool.parameters)
        recipe = self.recipes[tool.name]
        data = None if recipe is None else example(recipe, rng)
        found = None if data is None else json.loads(data)
        return found if isinstance(found, dict) else None

    def _turns(self, calls: list[Call], words: str, rng: random.Random) -> Iterator[str]:
        """The calls as the format writes them, behind words: alone, then behind reasoning, which may have begun."""
        from interlock.tools.errors import ToolFormatError
        from interlock.tools.notations.render import render

        thought = " ".join(rng.choices(WORDS, k=3))
        begin = self.form.reasoning.begin if self.form.reasoning is not None else ""
        for reasoning in (None, thought) if self.form.reasoning is not None else (None,):
            for whitespace in ("flexible", "compact"):
                try:
                    text = render(self.form, calls, words, reasoning, whitespace=whitespace)
                except ToolFormatError:
                    continue
                yield text
                if reasoning is not None and begin:
                    yield text.removeprefix(begin)

    def _accepts(self, data: bytes) -> bool:
        self.guide.reset()
        return self.guide.advance_many(list(data)) == len(data) and self.guide.is_accepting


@quiet()
def _recipe(parameters: Any) -> Recipe | None:
    """What the arguments of a tool are drawn from; ``None`` where no document of its schema can be."""
    schema = parameters if isinstance(parameters, Mapping) else {}
    try:
        kept = {"type": "object", **schema}
        return Recipe.of(interlock.Index.from_json_schema(json.dumps(kept), byte_vocabulary()))
    except (interlock.InterlockError, TypeError, ValueError):
        return None
