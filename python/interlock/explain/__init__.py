"""Why an index refuses a text, in the words of its source.

>>> import interlock, interlock.explain
>>> vocabulary = interlock.explain.byte_vocabulary()
>>> schema = {"properties": {"count": {"type": "integer", "minimum": 1}}, "additionalProperties": False}
>>> index = interlock.Index.from_json_schema(schema, vocabulary)
>>> [problem.message for problem in interlock.explain.explain(index, '{"count": 0}').problems]
['`count`: 0 is below minimum 1']

The verdict is always the engine's: ``accepted`` is what its masks say, byte by byte. Everything else explains it.
"""

from interlock._recipe import byte_vocabulary
from interlock.explain.document import NotJson, line_column, parse
from interlock.explain.explanation import Explanation, explain
from interlock.explain.validator import Problem

__all__ = ["Explanation", "NotJson", "Problem", "byte_vocabulary", "explain", "line_column", "parse"]
