"""Sources that the servers' tests share."""

import json

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


def tag_of(content, begin="<call>", end="</call>"):
    """The text of a structural tag: ``content`` between two delimiters."""
    inner = {"type": "tag", "begin": begin, "content": content, "end": end}
    return json.dumps({"type": "structural_tag", "format": inner})


LARK = """
start: verb " " object ("," object)~0..2
verb: "GET" | "PUT"
object: /[a-z]{1,6}/
"""
EBNF = """
root ::= pair ("," pair){0,2}
pair ::= [a-z]{1,4} "=" ("\\"" [a-z]{0,4} "\\"" | [0-9]{1,3})
"""
GBNF = """
root ::= "(" word " " . ")"
word ::= [a-z]{1,6}
"""
BRACKETS = 'root ::= "[" (root ("," root){0,2})? "]"'
"""Four notations and what they are read by: a recursive one too."""

GRAMMARS = {
    "Lark": (LARK, r"(GET|PUT) [a-z]{1,6}(,[a-z]{1,6}){0,2}"),
    "EBNF": (EBNF, r'[a-z]{1,4}=("[a-z]{0,4}"|[0-9]{1,3})(,[a-z]{1,4}=("[a-z]{0,4}"|[0-9]{1,3})){0,2}'),
    "GBNF": (GBNF, r"(?s)\([a-z]{1,6} .\)"),
}
"""Grammars whose languages are regular, and patterns of them for ``re``."""

REFUSED = {
    "malformed json": ({"json": '{"type": "object"'}, "SchemaError"),
    "no schema": ({"json": '{"type": "objekt"}'}, "SchemaError"),
    "empty json": ({"json": "  "}, "SchemaError"),
    "malformed regex": ({"regex": "a(b"}, "PatternError"),
    "back-reference": ({"regex": r"(a+)\1"}, "UnsupportedError"),
    "unsatisfiable json": ({"json": {"type": "string", "minLength": 5, "maxLength": 2}}, "UnsatisfiableError"),
    "unsatisfiable regex": ({"regex": r"a(?!b)(?=b)b"}, "UnsatisfiableError"),
    "empty choice": ({"choice": []}, "ArgumentError"),
    "malformed Lark": ({"grammar": 'start: "a'}, "GrammarError"),
    "malformed EBNF": ({"grammar": 'root ::= "a" | ('}, "GrammarError"),
    "a rule that is nowhere": ({"grammar": "root ::= nowhere"}, "GrammarError"),
    "a grammar without an end": ({"grammar": 'root ::= "a" root'}, "UnsatisfiableError"),
    "a grammar that is no text": ({"grammar": ""}, "GrammarError"),
    "malformed tag": (
        {"structural_tag": '{"type": "structural_tag", "format": {"type": "tag"}}'},
        "StructuralTagError",
    ),
    "a tag that is no JSON": ({"structural_tag": "{"}, "StructuralTagError"),
    "no such format": (
        {"structural_tag": '{"type": "structural_tag", "format": {"type": "anything"}}'},
        "StructuralTagError",
    ),
    "malformed schema in a tag": (
        {"structural_tag": tag_of({"type": "json_schema", "json_schema": {"type": "objekt"}})},
        "StructuralTagError",
    ),
    # Only the engine knows the vocabulary.
    "a token that the model has not": ({"grammar": 'root ::= <nowhere> "a"'}, "VocabularyError"),
    "a tag of a token that the model has not": (
        {"structural_tag": '{"type": "structural_tag", "format": {"type": "token", "token": "<nowhere>"}}'},
        "StructuralTagError",
    ),
    "hostile grammar": (
        {"grammar": "start: A\nA: /" + "&".join(f"(?:.*{i}a{{{i}}}.*)" for i in range(3, 40)) + "/ & ~/.*b{400}.*/"},
        "Error",
    ),
    "deep grammar": ({"grammar": "root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000}, "LimitError"),
    "deep tag": (
        {"structural_tag": '{"type":"optional","content":' * 5000 + '{"type":"any_text"}' + "}" * 5000},
        "Error",
    ),
    "hostile pattern in a tag": (
        {"structural_tag": tag_of({"type": "regex", "pattern": r"(?!.*(a|b)*a(a|b){26}c).*"})},
        "LimitError",
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
