"""``Index.from_json_schema`` and ``check_json_schema`` with ``unknown_keywords``.

The core leaves slips in schemas to Python, which alone knows what becomes of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

from interlock import _core
from interlock._core import CancelToken, Index, Limits, ReportRow
from interlock.schema_hints import handling

__all__ = ["attach", "check_json_schema"]

# The core's own, before that of this file takes its place.
_plain: Callable[..., Index] = Index.from_json_schema

_ABOUT = """

``unknown_keywords`` says what becomes of slips in this call: ``"warn"`` is the warning, ``"ignore"`` nothing, and
``"error"`` a ``SchemaError`` with the place.
"""


def from_json_schema(
    cls: type[Index], /, *args: Any, unknown_keywords: Literal["warn", "ignore", "error"] = "warn", **options: Any
) -> Index:
    with handling(unknown_keywords):
        return _plain(*args, **options)


def check_json_schema(
    schema: str | bytes | dict[str, Any] | bool | type[Any],
    whitespace: str = "flexible",
    property_order: Literal["schema", "any"] = "schema",
    on_unsupported: Literal["error", "warn"] = "error",
    formats: Literal["assert", "annotate"] = "assert",
    documents: Mapping[str, str | bytes | dict[str, Any] | bool] | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    spelling: Literal["any", "constants", "plain"] | None = None,
    cancel: CancelToken | None = None,
    *,
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
) -> list[ReportRow]:
    """Check a JSON Schema without a vocabulary: everything that ``Index.from_json_schema`` checks, with the same
    options and errors, but for what only a vocabulary can lack. Returns what ``Index.report`` would be. About as long
    as compiling takes.

    >>> import interlock
    >>> [row.keyword for row in interlock.check_json_schema({"type": "integer"})]
    ['numbers']
    """
    with handling(unknown_keywords):
        return _core.check_json_schema(
            schema, whitespace, property_order, on_unsupported, formats, documents, limits, spelling, cancel
        )


# What ``help`` and ``inspect`` show is the core's, with one more option.
from_json_schema.__doc__ = (_plain.__doc__ or "").rstrip() + _ABOUT
from_json_schema.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY),
        *inspect.signature(_plain).parameters.values(),
        inspect.Parameter("unknown_keywords", inspect.Parameter.KEYWORD_ONLY, default="warn"),
    ]
)


def attach() -> None:
    """Make the function of this file a method of ``Index``, as the stubs say."""
    from_json_schema.__qualname__ = "Index.from_json_schema"
    setattr(Index, "from_json_schema", classmethod(from_json_schema))  # noqa: B010
