"""The names that JSON Schema knows, of keywords and types, and what other languages call them and its formats."""

from __future__ import annotations

KEYWORDS = frozenset(
    "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary "
    "additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema "
    "default definitions dependencies dependentRequired dependentSchemas deprecated description else enum examples "
    "exclusiveMaximum exclusiveMinimum format id if items maxContains maxItems maxLength maxProperties maximum "
    "minContains minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems "
    "properties propertyNames readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems "
    "writeOnly".split()
)
"""All keywords of drafts 4 to 2020-12."""
OTHER_FORMATS = {
    "url": "uri",
    "link": "uri",
    "href": "uri",
    "guid": "uuid",
    "mail": "email",
    "timestamp": "date-time",
    "iso8601": "date-time",
    "rfc3339": "date-time",
    "domain": "hostname",
    "ip": "ipv4",
    "pattern": "regex",
}
"""What other languages call formats."""
ELSEWHERE = {
    "nullable": '"null" into a list of types, such as "type": ["string", "null"]: nullable is OpenAPI\'s',
    "discriminator": "a const in each alternative, since discriminator is OpenAPI's",
    "optional": "leave the name out of required",
    "extends": "allOf",
    "divisibleBy": "multipleOf",
    "disallow": "not",
    "values": "enum",
    "regex": "pattern",
    "min": "minimum",
    "max": "maximum",
    "options": "enum",
    "choices": "enum",
    "oneof": "oneOf",
    "enumeration": "enum",
    **dict.fromkeys(("property", "props"), "properties"),
}
"""What names that other languages have are called in JSON Schema."""
OF_PYDANTIC = frozenset(f"uuid{version}" for version in range(1, 9))
"""Formats that pydantic writes and JSON Schema does not know: nobody has misspelt them."""
OTHERS = frozenset({"nullable", "discriminator", "optional"})
HARMLESS = frozenset(
    "$comment $schema default deprecated description discriminator examples readOnly title writeOnly".split()
)
"""What asserts nothing under its right name either, or, as ``discriminator``, stands beside what asserts the same."""
ANNOTATIONS = frozenset(
    "$comment $id $schema default deprecated description examples id readOnly title writeOnly".split()
)
"""Keywords that assert nothing. They are names of fields of ordinary documents, too."""
TYPE_WORDS = {
    **dict.fromkeys(("string", "str", "text"), "string"),
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list"), "array"),
    **dict.fromkeys(("object", "dict"), "object"),
    "null": "null",
}
"""Words for types, as people write them, and what JSON Schema calls the types."""
