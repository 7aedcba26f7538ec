"""Words that are in examples of texts."""

from __future__ import annotations

WORDS = (
    "amber apple autumn basil bridge candle cedar cloud copper coral cotton dawn delta ember fern field forest garden "
    "ginger harbor hazel honey island ivory jasmine lake lemon linen maple marble meadow mint morning olive orchid "
    "paper pepper pine plum river rose saffron sage sand silver snow spring stone summer tea thyme valley willow winter"
).split()
