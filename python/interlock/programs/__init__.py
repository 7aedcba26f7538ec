"""Programs: text that Python and a model write in turns.

``Program`` holds fixed text, generated parts and what was captured, over one KV cache. See ``docs/generate.md``.
"""

from interlock.programs.program import Program

__all__ = ["Program"]
