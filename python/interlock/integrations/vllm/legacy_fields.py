"""The older names of constraints, ``guided_json`` and so on, in requests to the OpenAI server.

vLLM has dropped them, takes requests that hold them, and leaves their outputs unconstrained. With the backend
``interlock`` they mean what they meant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from interlock import ArgumentError
from interlock.tools.requests.response_format import response_format

__all__ = ["constraint_of", "with_legacy_fields"]

PREFIX = "guided_"


def constraint_of(extra: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The fields of ``structured_outputs`` that the older fields among ``extra`` mean; None if there are none.

    ``StructuralTagError`` or ``ArgumentError`` for fields that make no sense together.

    >>> constraint_of({"guided_choice": ["yes", "no"], "user": "me"})
    {'choice': ['yes', 'no']}
    """
    given = {key: value for key, value in (extra or {}).items() if key.startswith(PREFIX) and value is not None}
    constraints = given.keys() - {"guided_decoding_backend"}
    if not constraints:
        return None
    if constraints == {"guided_whitespace_pattern"}:
        raise ArgumentError("guided_whitespace_pattern is given without guided_json")
    source = response_format(given)
    fields: dict[str, Any] = {"whitespace_pattern": source.whitespace} if source.whitespace else {}
    if source.whitespace == "compact":
        fields = {"disable_any_whitespace": True}
    if source.kind == "json_schema":
        # A schema that is deeper than Python reads is a text already.
        return {"json": source.value if isinstance(source.value, str) else json.dumps(source.value), **fields}
    if source.kind == "json_object":
        return {"json_object": True, **fields}
    return {source.kind: list(source.value) if source.kind == "choice" else source.value, **fields}


def with_legacy_fields(
    original: Callable[..., Any], make: Callable[..., Any], refuse: Callable[[Exception], Exception]
) -> Callable[..., Any]:
    """A request's ``extract_structured_outputs`` that reads the older fields too. ``make`` is vLLM's class of
    constraints, ``refuse`` makes an error of a client's of one of ours.
    """

    def extract_structured_outputs(self: Any) -> Any:
        found = original(self)
        extra: dict[str, Any] = getattr(self, "model_extra", None) or {}
        try:
            older = constraint_of(extra)
            if older is None:
                return found
            if found is not None:
                raise ArgumentError("structured_outputs or response_format are given beside guided fields")
        except ValueError as error:
            raise refuse(error) from None
        # From here on the request has the newer field alone: vLLM replaces it where a tool must be called.
        for key in [key for key in extra if key.startswith(PREFIX)]:
            del extra[key]
        self.structured_outputs = make(**older)
        return self.structured_outputs

    return extract_structured_outputs
