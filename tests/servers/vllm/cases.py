"""Sources that the servers' tests share."""

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}

IP = r"(\d{1,3}\.){3}\d{1,3}"

REFUSED = {
    "malformed json": ({"json": '{"type": "object"'}, "SchemaError"),
    "no schema": ({"json": '{"type": "objekt"}'}, "SchemaError"),
    "empty json": ({"json": "  "}, "SchemaError"),
    "malformed regex": ({"regex": "a(b"}, "PatternError"),
    "back-reference": ({"regex": r"(a+)\1"}, "UnsupportedError"),
    "unsatisfiable json": ({"json": {"type": "string", "minLength": 5, "maxLength": 2}}, "UnsatisfiableError"),
    "unsatisfiable regex": ({"regex": r"a(?!b)(?=b)b"}, "UnsatisfiableError"),
    "empty choice": ({"choice": []}, "ArgumentError"),
    "grammar": ({"grammar": 'root ::= "a"'}, "UnsupportedError"),
    "structural tag": (
        {"structural_tag": '{"type":"structural_tag","format":{"type":"any_text"}}'},
        "UnsupportedError",
    ),
    "hostile look-ahead": ({"regex": r"(?!.*(a|b)*a(a|b){25}c).*"}, "LimitError"),
    "hostile intersection": (
        {"regex": "(?=.*" + ".*)(?=.*".join(f"{i}a{{{i}}}" for i in range(3, 40)) + ".*).*"},
        "LimitError",
    ),
    "hostile json": (
        {"json": {"allOf": [{"pattern": f"{chr(97 + i)}.{{{10 + i}}}b"} for i in range(20)]}},
        "LimitError",
    ),
    "deep json": ({"json": '{"items":' * 5000 + "{}" + "}" * 5000}, "LimitError"),
}
"""Sources that must be refused as HTTP 400, and the error that the message names."""
