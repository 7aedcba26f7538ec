"""The types of values that each keyword of JSON Schema is about: values of other types satisfy it whatever it says."""

from __future__ import annotations

NUMBERS = ("number", "integer")

TYPES_OF_KEYWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), NUMBERS),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    **dict.fromkeys(
        (
            *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains"),
            *("minItems", "maxItems", "uniqueItems"),
        ),
        ("array",),
    ),
    **dict.fromkeys(
        (
            *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
            *("required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"),
        ),
        ("object",),
    ),
}
"""Keywords that are not here are about values of every type, or assert nothing."""
