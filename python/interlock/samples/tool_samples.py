"""Examples of tool calls: arguments that look like what people write, in the notation of the model's family.

A tool and a document of its parameters are drawn, and the call is rendered. The masks decide, as for a model: a call
that they refuse is no example.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import interlock
from interlock._recipe import Recipe, byte_vocabulary
from interlock.samples.plausible import WORDS, example
from interlock.schema_hints import quiet

__all__ = ["ToolSamples"]

TRIES = 8
"""How many calls are drawn for one example."""


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
        """A text with a call; ``None`` where ``TRIES`` calls are none that the index accepts."""
        for _ in range(TRIES):
            for tool in rng.sample(self.tools, len(self.tools)):
                arguments = self._arguments(tool, rng)
                if arguments is None:
                    continue
                for text in self._turns(tool.name, arguments, rng):
                    if self._accepts(data := text.encode()):
                        return data
        return None

    def _arguments(self, tool: Any, rng: random.Random) -> dict[str, Any] | None:
        if tool.name not in self.recipes:
            self.recipes[tool.name] = _recipe(tool.parameters)
        recipe = self.recipes[tool.name]
        data = None if recipe is None else example(recipe, rng)
        found = None if data is None else json.loads(data)
        return found if isinstance(found, dict) else None

    def _turns(self, name: str, arguments: dict[str, Any], rng: random.Random) -> Iterator[str]:
        """The call as the format writes it: alone, then behind reasoning, which may have begun."""
        from interlock.tools.errors import ToolFormatError
        from interlock.tools.notations.render import Call, render

        thought = " ".join(rng.choices(WORDS, k=3))
        begin = self.form.reasoning.begin if self.form.reasoning is not None else ""
        for reasoning in (None, thought) if self.form.reasoning is not None else (None,):
            for whitespace in ("flexible", "compact"):
                try:
                    text = render(self.form, [Call(name, arguments)], "", reasoning, whitespace=whitespace)
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
