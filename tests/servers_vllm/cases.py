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
    "structural tag": ({"structural_tag": '{"type":"structural_tag","format":{"type":"any_text"}}'}, "UnsupportedError"),
    "hostile regex": ({"regex": r"(?:(?:(?:a{1,900}b?){1,900}c?){1,900}d?){1,900}"}, "LimitError"),
    "hostile intersection": ({"regex": "(?=.*" + ".*)(?=.*".join(f"{i}a{{{i}}}" for i in range(3, 40)) + ".*).*"}, "Error"),
    "deep json": ({"json": '{"items":' * 5000 + "{}" + "}" * 5000}, "Error"),
}
"""Sources that must be refused as HTTP 400, and the error that the message names."""
