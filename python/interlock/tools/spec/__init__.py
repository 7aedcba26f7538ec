"""Structural tags: their JSON, read and checked into dataclasses, and written again.

A structural tag says what a whole output looks like: reasoning, text, tags with contents, calls. The dialect is
XGrammar's as of 0.2.8, with additions that docs/formats.md lists.

>>> from interlock.tools import spec
>>> tag = spec.read({"type": "structural_tag", "format": {"type": "regex", "pattern": "[0-9]+"}})
>>> spec.write(tag)
{'type': 'structural_tag', 'format': {'type': 'regex', 'pattern': '[0-9]+'}}
"""

from interlock.tools.spec.nodes import *  # noqa: F403
from interlock.tools.spec.nodes import __all__ as _nodes
from interlock.tools.spec.reader import read
from interlock.tools.spec.styles import STYLES, style_name
from interlock.tools.spec.writer import write

__all__ = ["STYLES", "read", "style_name", "write", *_nodes]
