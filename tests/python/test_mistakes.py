"""Deliberate mistakes: each message says what is wrong, where, and what to do next, and leaks no private name.

A row is a call, the error, and fragments that the message has, between ``..``. The first fragments say what and where;
the last one says what to do, where that does not follow from the first.
"""

# The rows are evaluated, so ruff does not see what they use.
# ruff: noqa: F401

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

import interlock
import interlock.drawing
import interlock.explain
from interlock import Guide, Index, Limits, Store, Vocabulary
from interlock.integrations._row import given_one
from interlock.integrations._triggers import Triggered

Argument, Schema, Pattern = interlock.ArgumentError, interlock.SchemaError, interlock.PatternError
Unsupported, Unsatisfiable = interlock.UnsupportedError, interlock.UnsatisfiableError
BadVocabulary, Artifact, Rejected = interlock.VocabularyError, interlock.ArtifactError, interlock.TokenRejected
Budget, Limit = interlock.BudgetError, interlock.LimitError
Grammar, Warned = interlock.GrammarError, interlock.UnknownKeywordWarning

SCHEMAS = [
    ("S('order.json')", Schema, "order.json .. name of a file .. read_text()"),
    ("S('{')", Schema, "not JSON .. a key in double quotes is expected"),
    ("S('')", Schema, "not JSON .. a value is expected"),
    ("S(\"{'a': 1}\")", Schema, "not JSON .. a key in double quotes is expected"),
    ("S('[1]')", Schema, "a schema must be an object or a boolean"),
    ("S('3')", Schema, "a schema must be an object or a boolean"),
    ("S({'type': 'strnig'})", Schema, '"strnig" is not a type .. string .. "type"'),
    ("S({'type': ['string', 'int']})", Schema, '"int" is not a type .. integer'),
    ("S({'type': None})", Schema, "the name of a type or an array of such names is expected"),
    ("S({'minimum': '0'})", Schema, "a number is expected .. minimum"),
    ("S({'minLength': -1})", Schema, "a whole number that is not negative is expected .. minLength"),
    ("S({'maxItems': 1.5})", Schema, "a whole number that is not negative is expected .. maxItems"),
    ("S({'required': 'name'})", Schema, "an array of strings is expected .. required"),
    ("S({'required': ['a', 1]})", Schema, "an array of strings is expected .. required"),
    ("S({'properties': ['a']})", Schema, "an object is expected .. properties"),
    ("S({'properties': {'a': 'string'}})", Schema, "a schema must be an object or a boolean .. /properties/a"),
    ("S({'items': 5})", Schema, "a schema must be an object or a boolean .. /items"),
    ("S({'enum': 'a'})", Schema, "an array is expected .. enum"),
    ("S({'pattern': 5})", Schema, "a string is expected .. pattern"),
    ("S({'pattern': '(a'})", Pattern, "unterminated group .. (a .. pattern"),
    ("S({'format': 5})", Schema, "a string is expected .. format"),
    ("S({'$ref': 5})", Schema, "a string is expected .. $ref"),
    ("S({'$ref': '#/$defs/a'})", Schema, "#/$defs/a .. leads nowhere .. nothing at its JSON Pointer"),
    ("S({'properties': {'a': {'$ref': '#/definitions/b'}}})", Schema, "#/definitions/b .. /properties/a"),
    ("S({'$ref': 'http://x/y'})", Unsupported, "http://x/y .. nothing is fetched .. pass it in `documents`"),
    ("S({'$ref': 'other.json'})", Unsupported, "other.json .. was not passed .. pass it in `documents`"),
    ("S({'anyOf': [{'$ref': '#'}]})", Schema, "applies to itself in place .. remove the reference"),
    ("S({'multipleOf': 0})", Schema, "a number above zero is expected .. multipleOf"),
    ("S({'multipleOf': '2'})", Schema, "a number is expected .. multipleOf"),
    ("S({'allOf': []})", Schema, "an array of at least one schema is expected .. allOf"),
    ("S({'anyOf': {}})", Schema, "an array of schemas is expected .. anyOf"),
    ("S({'anyOf': [1]})", Schema, "a schema must be an object or a boolean .. /anyOf/0"),
    ("S({'uniqueItems': 'yes'})", Schema, "a boolean is expected .. uniqueItems"),
    ("S({'additionalProperties': 'no'})", Schema, "a schema must be an object or a boolean .. /additionalProperties"),
    (
        "S({'$schema': 'http://json-schema.org/draft-03/schema#'})",
        Unsupported,
        "draft-03 .. rewrite .. draft 4 or later",
    ),
    ('S(\'{"a": 1, "a": 2}\')', Schema, 'key "a" occurs twice'),
    ("S({'type': 'integer', 'minimum': 10, 'maximum': 1})", Unsatisfiable, "no value satisfies the schema"),
    ("S({'type': 'string', 'minLength': 5, 'maxLength': 2})", Unsatisfiable, "no value satisfies the schema"),
    ("S({'type': 'object', 'required': ['a'], 'additionalProperties': False})", Unsatisfiable, "no value satisfies"),
    ("S({'allOf': [{'type': 'string'}, {'type': 'integer'}]})", Unsatisfiable, "no value satisfies the schema"),
    ("S({'const': 1, 'enum': [2]})", Unsatisfiable, "no value satisfies the schema"),
    ("S(False)", Unsatisfiable, "no value satisfies the schema"),
    ("S({1: 2})", Schema, "the key 1 is int .. keys of a JSON object are str"),
    ("S(['a'])", TypeError, "schema must be .. not list .. Index.from_choices .. enum"),
    ("S(5)", TypeError, "schema must be JSON text (str or bytes), a dict .. not int"),
    ("S(None)", TypeError, "schema must be .. not NoneType"),
    ("S(int)", TypeError, "schema must be .. interlock.index_from_type takes a Python type"),
    ("S(list[int])", TypeError, "schema must be .. interlock.index_from_type"),
    ("S(pathlib.Path('x.json'))", TypeError, "schema must be .. path.read_text()"),
    ("S({'a': object()})", Schema, "cannot be written as JSON .. object"),
    ("S({'minimum': float('nan')})", Schema, 'NaN and infinities are no JSON numbers .. "/minimum"'),
    ("S({}, whitespace='pretty')", Argument, 'whitespace .. "flexible", "compact", "spaced" .. pretty'),
    ("S({}, property_order='declared')", Argument, 'property_order .. "schema", "any" .. declared'),
    ("S({}, on_unsupported='ignore')", Argument, 'on_unsupported .. "error", "warn" .. ignore'),
    ("S({}, formats='check')", Argument, 'formats .. "assert", "annotate" .. check'),
    ("S({}, spelling='json')", Argument, 'spelling .. "any", "constants", "plain" .. json'),
    ("S({}, documents=['a'])", TypeError, "documents must map URIs to schemas .. list"),
    ("S({}, whitespace=5)", TypeError, "whitespace must be a str, not int"),
    ("S({}, spelling=True)", TypeError, "spelling must be a str, not bool"),
    (
        "S({}, limits=3)",
        TypeError,
        'limits must be an interlock.Limits, a mapping such as {"max_depth": 50} .. not int',
    ),
    ("S({}, limits={'max_depth': '3'})", TypeError, "limits: max_depth must be an int, not str"),
    ("S({}, limits={'max_depth': -3})", Argument, "limits: max_depth cannot be negative: -3"),
    ("S({}, cancel=True)", TypeError, "cancel must be an interlock.CancelToken or None, not bool"),
    (
        "S({'name': 'user', 'strict': True, 'schema': {'type': 'object'}})",
        Schema,
        'a named schema, an envelope .. pass what ["schema"] holds .. "schema"',
    ),
    (
        "S({'type': 'json_schema', 'json_schema': {'name': 'user', 'schema': {}}})",
        Schema,
        'a response_format, an envelope .. ["json_schema"]["schema"] .. Index.from_response_format',
    ),
    (
        "S({'type': 'function', 'function': {'name': 'f', 'parameters': {}}})",
        Schema,
        'a tool, an envelope .. ["function"]["parameters"] .. Index.from_tools',
    ),
    ("S({'name': 'f', 'description': 'd', 'parameters': {}})", Schema, "a function, an envelope .. Index.from_tools"),
    ("S({'name': 'f', 'input_schema': {}})", Schema, 'a tool, an envelope .. ["input_schema"] .. Index.from_tools'),
    ("S({'$schema': 5})", Schema, 'a string is expected .. "$schema"'),
    ("S({'properties': {'a': {'$id': 5}}})", Schema, 'a string is expected .. /properties/a .. "$id"'),
    ("S({'$defs': 5})", Schema, 'an object is expected .. "$defs"'),
    ("S({'$anchor': []})", Schema, 'a string is expected .. "$anchor"'),
    ("S(User(name='a'))", TypeError, "schema must be .. not an instance of User .. pass the class User"),
    ("S({}, limits={'max_dept': 3})", TypeError, 'no limit is named "max_dept" .. max_depth'),
    ("S({}, whitespace_pattern=' ')", TypeError, "whitespace_pattern"),
    ("S({'allOf': [{'allOf': [{}]}]}, limits={'max_depth': 3})", Limit, "depth .. 4 > 3 .. Limits.max_depth"),
    ("S({'enum': []})", Unsatisfiable, "no value satisfies .. enum [] allows nothing"),
    ("S({'not': {}})", Unsatisfiable, "no value satisfies .. not {} allows nothing"),
    ("S({'oneOf': [{}, {}]})", Unsatisfiable, "no value satisfies .. oneOf [{},{}] allows nothing"),
    (
        "S({'properties': {'a': {'enum': []}}, 'required': ['a'], 'type': 'object'})",
        Unsatisfiable,
        "enum [] allows nothing .. /properties/a",
    ),
    (
        "S({'type': 'string', 'pattern': '^a$', 'minLength': 3})",
        Unsatisfiable,
        'type "string", pattern "^a$" and minLength 3 leave nothing together',
    ),
    (
        "S({'type': 'string', 'pattern': r'a\\bb'})",
        Unsatisfiable,
        'the pattern "a\\\\bb" matches no text: a word boundary (\\b) can never stand here (its offset 1)',
    ),
    ("S({'type': 'array', 'items': False, 'minItems': 1})", Unsatisfiable, "minItems 1 leave nothing together"),
    ("S({'properties': {'name': 'str'}})", Schema, 'a schema must be .. write {"type": "string"} .. /properties/name'),
    ("S({'type': 'str'})", Schema, '"str" is not a type .. did you mean "string"?'),
    ("S({'type': 'Object'})", Schema, '"Object" is not a type .. did you mean "object"?'),
    ("S({'items': 'integer'})", Schema, 'write {"type": "integer"} .. /items'),
    ("S({'type': 'string', 'minLenght': 3}, strict=True)", TypeError, "strict"),
    ("strictly({'type': 'string', 'maxlength': 3})", Warned, "`maxlength` .. asserts nothing; did you mean maxLength?"),
    ("strictly({'type': 'object', 'propertes': {}})", Warned, "`propertes` .. did you mean properties?"),
    ("strictly({'properties': {'a': {'mininum': 3}}})", Warned, "`mininum` (at /properties/a) .. minimum?"),
    ("strictly({'type': 'string', 'nullable': True})", Warned, '`nullable` .. write "type": ["string", "null"]'),
    (
        "strictly({'name': 'string'})",
        Warned,
        "accepts every JSON value .. (name) .. did you mean .. "
        '{"type": "object", "properties": {"name": {"type": "string"}}}?',
    ),
    ("strictly({'propertes': {}})", Warned, "accepts every JSON value .. did you mean properties?"),
    ("strictly({'name': 'Ada', 'age': 36})", Warned, "none of its keys (name, age) is a keyword"),
]

GRAMMARS = [
    ("G('root ::= \"a\"')", Grammar, 'line 1, column 8 .. looks like GBNF or EBNF .. 1 | root .. pass syntax="gbnf"'),
    ("G('# a\\nroot ::= item+\\nitem ::= [a-z]')", Grammar, 'this looks like GBNF or EBNF .. syntax="ebnf"'),
    ("G('start: \"a\"', syntax='gbnf')", Grammar, 'this looks like Lark\'s notation .. pass syntax="lark"'),
    ("G('start: \"a\"', syntax='ebnf')", Grammar, 'this looks like Lark\'s notation .. pass syntax="lark"'),
    ("G('<root> ::= \"a\" <b>')", Grammar, "names of rules have no angles here .. root ::="),
    ("G('start: \"a\"', syntax='GBNF')", Argument, 'syntax must be one of "lark", "gbnf", "ebnf", not "GBNF"'),
    ("interlock.Grammar('root ::= \"a\"').accepts('a')", Grammar, 'pass syntax="gbnf"'),
    ("interlock.check_grammar('root ::= \"a\"')", Grammar, 'pass syntax="gbnf"'),
]

PATTERNS = [
    ("R('a(b')", Pattern, "missing ) .. unterminated .. offset 1"),
    ("R('a)')", Pattern, "unbalanced parenthesis .. offset 1"),
    ("R('[a')", Pattern, "unterminated character set .. offset 0"),
    ("R('[z-a]')", Pattern, "bad character range .. offset 1"),
    ("R('*a')", Pattern, "nothing to repeat .. offset 0"),
    ("R('a**')", Pattern, "multiple repeat .. offset 2"),
    ("R('a{3,1}')", Pattern, "min repeat greater than max repeat .. offset 1"),
    ("R('(?P<1>a)')", Pattern, 'bad group name "1" .. offset 4'),
    ("R(r'(a)\\1')", Unsupported, "backreference cannot be enforced exactly .. offset 3"),
    ("R('(?R)')", Pattern, "?R .. offset 1"),
    ("R('(?(1)a|b)')", Unsupported, "conditional group cannot be enforced exactly .. offset 0"),
    ("R(r'\\p{Foo}')", Pattern, 'unknown Unicode property "Foo"'),
    ("R(b'a')", TypeError, "pattern must be a str or a compiled re.Pattern, not bytes"),
    ("R(5)", TypeError, "pattern must be a str or a compiled re.Pattern, not int"),
    ("R(re.compile(b'a'))", Unsupported, "a pattern over bytes .. compile a str"),
    (
        "R('a', flags=re.I)",
        TypeError,
        'flags must be a str of letters, not RegexFlag .. "i" .. re.compile(pattern, flags)',
    ),
    (
        "R(r'a\\bb')",
        Unsatisfiable,
        "accepts nothing: a word boundary (\\b) can never stand here (at offset 1) .. a\\bb",
    ),
    ("R('a^b')", Unsatisfiable, "the start of the text can never stand here (at offset 1)"),
    ("R('$a')", Unsatisfiable, "the end of the text can never stand here (at offset 0)"),
    ("R('(?=b)a')", Unsatisfiable, "what the look-ahead (?=...) asks for can never stand here (at offset 0)"),
    ("R('a(?!)')", Unsatisfiable, "anything that the look-ahead (?!...) permits can never stand here (at offset 1)"),
    ("R('(?<=x)a')", Unsatisfiable, "what the look-behind (?<=...) asks for can never stand here (at offset 0)"),
    ("R(r'x[^\\s\\S]')", Unsatisfiable, "a character of this empty class can never stand here (at offset 1)"),
    ("R('/^a$/i')", Unsatisfiable, "slashes are a part of the pattern here: leave them out .. flags"),
    ("R(r'(?:a\\Bb|c\\bd)(?!x)x')", Unsatisfiable, "look-ahead (?!...) permits can never stand here"),
    ("interlock.check_regex('a^b')", Unsatisfiable, "the start of the text can never stand here"),
    ("R('a').guide(max_tokens='5')", TypeError, "max_tokens must be an int, not str"),
    ("R('a').guide(max_tokens=5.0)", TypeError, "max_tokens must be an int, not float"),
    ("R('a').guide(max_tokens=True)", TypeError, "max_tokens must be an int, not bool"),
    ("R('a').guide(min_tokens=-1)", Argument, "min_tokens cannot be negative: -1"),
    ("R('a').guide(context_ids='a')", TypeError, "context_ids must be a sequence of int, not str"),
    ("R('a').guide(context_ids=['a'])", TypeError, "context_ids[0] must be an int, not str"),
    ("R('a').guide().advance('a')", TypeError, "id must be an int, not str"),
    ("R('a').guide().advance_many('a')", TypeError, "ids must be a sequence of int, not str"),
    ("R('a').guide().advance_many([97, None])", TypeError, "ids[1] must be an int, not NoneType"),
    ("R('a').guide().rollback('1')", TypeError, "n must be an int, not str"),
    ("R('a').is_subset_of('a')", TypeError, "other must be an interlock.Index, not str"),
    ("R('a').save(5)", TypeError, "path must be a str or a path (os.PathLike), not int"),
    ("R('a').warm_up(max_ms='5')", TypeError, "max_ms must be a number, not str"),
    ("R('a').build(progress=5)", TypeError, "progress must be a function or None, not int"),
    ("interlock.set_num_threads('2')", TypeError, "n must be an int, not str"),
    ("interlock.fill_bitmasks(R('a').guide(), bits())", TypeError, "guides must be a sequence of .. not Guide"),
    ("R('a', flags='q')", Argument, "unknown pattern flag 'q' .. i m s x a u"),
    ("R('a', dialect='pcre')", Argument, 'dialect must be one of "python", "ecma" .. pcre'),
    ("Index.from_regex(V, 'a')", TypeError, "vocabulary must be .. not str .. pattern comes first, vocabulary second"),
    ("Index.from_regex('a', 'gpt2')", TypeError, "vocabulary must be .. Vocabulary.from_tokenizer"),
    ("Index.from_regex('a')", TypeError, "from_regex .. missing .. 'vocabulary'"),
    ("Index.from_choices([], V)", Unsatisfiable, "choices is empty .. give one string at least"),
    ("Index.from_choices('abc', V)", TypeError, "choices must be a sequence of str, not one str"),
    ("Index.from_choices([1, 2], V)", TypeError, "choices must be str, not int"),
    ("Index.from_choices(['a', None], V)", TypeError, "choices must be str, not NoneType"),
    ("Index('a', V)", TypeError, "Index.from_regex(pattern, vocabulary)"),
    ("Guide(R('a'))", TypeError, "a Guide is made by its index .. index.guide()"),
    ("Index.from_regex('abc', other)", Unsatisfiable, "the vocabulary cannot spell anything .. tokens of single bytes"),
]

TYPES = [
    ("T('User')", Argument, "'User' is no JSON Schema: pass the type User itself, without quotes"),
    ("T('list[int]')", Argument, "pass the type list[int] itself, without quotes"),
    ("T('int | None')", Argument, "pass the type int | None itself"),
    ("T('root ::= \"a\"')", Argument, "it looks like a grammar: pass interlock.Grammar(text, syntax='ebnf')"),
    (
        "T({'name': str})",
        Argument,
        "a dict is read as a JSON Schema .. 'name' is the type str: pass a class .. TypedDict",
    ),
    ("T({'tags': list[int]})", Argument, "'tags' is the type list[int]: pass a class"),
    (
        "T({'type': 'object', 'properties': {'a': int}})",
        Argument,
        '/properties/a is the type int: write {"type": "integer"}',
    ),
    ("T({'name': 'string'})", Argument, 'accepts every JSON value .. did you mean {"type": "object" .. pass True'),
    ("T({'propertes': {}})", Argument, "accepts every JSON value .. did you mean properties?"),
    ('T(\'{"name": "string"}\')', Argument, 'did you mean {"type": "object", "properties": {"name"'),
    ("T('int')", Argument, "'int' is no JSON Schema .. pass the type int without quotes"),
    ("T('order.json')", Argument, "'order.json' .. it looks like a file's name .. read_text()"),
    ("T('[a-z]+')", Argument, "is no JSON Schema .. for a pattern pass re.compile(...)"),
    ("T('{\"type\"')", Argument, "it begins like a schema, but it is not JSON"),
    ("T([User])", Argument, "did you mean list[User]?"),
    ("T(pydantic.BaseModel)", Argument, "BaseModel itself has no fields .. a class that is derived"),
    ("T(User(name='a'))", Argument, "an instance of User .. pass the class User"),
    ("T(Point(1))", Argument, "an instance of Point .. pass the class Point"),
    ("T([1, 2])", Argument, "choices are strings, and 1 is none .. Literal[1, 2"),
    ("T({'a'})", Argument, "choices have an order .. pass a list"),
    ("T([])", Argument, "there are no choices"),
    ("T({})", Argument, "accepts every JSON value .. pass True if that is meant"),
    ("T({1: 2})", Argument, "the keys of a schema are strings, and 1 is none"),
    ("T({'type': 'json_object'})", Argument, 'json_object .. pass {"type": "object"}'),
    ("T(dict[tuple[int, int], str])", Unsupported, "keys of a JSON object are strings or integers .. give the field"),
    ("T(complex)", Unsupported, "JSON has no complex numbers .. NamedTuple of two floats"),
    ("T(Callable)", Unsupported, "no JSON can be made for the type .. WithJsonSchema"),
    ("T(5)", Argument, "5 is a value and no type .. did you mean int?"),
    ("T(lambda x: x)", Argument, "parameter 'x' .. has no annotation .. give it a type"),
    ("T(lambda: 0)", Argument, "has no parameters"),
    ("T(pathlib.Path('x.json'))", Argument, "x.json is a path .. read_text()"),
    ("T(re.compile(b'a'))", Argument, "one of bytes .. without the b"),
    ("T(object())", Argument, "an output type is needed .. pass a class"),
    ("T(enum.Enum('Empty', {}))", Argument, "Empty has no members"),
    ("T(Annotated[int, pydantic.Field(ge=5, le=1)])", Unsatisfiable, "no value satisfies the schema"),
    ("Index.from_type(User, 'gpt2')", Argument, "vocabulary must be .. Vocabulary.from_tokenizer"),
    ("interlock.index_from_type(V, User)", Argument, "vocabulary must be .. the type comes first"),
]

VOCABULARIES = [
    ("Vocabulary(['a'], [0])", TypeError, "token 0 is str .. text.encode()"),
    ("Vocabulary([b'a', 98], [0])", TypeError, "token 1 is int"),
    ("Vocabulary([b'a'], [5])", BadVocabulary, "eos_token_ids: id 5 is out of range .. the size is 1"),
    ("Vocabulary([], [0])", BadVocabulary, "the vocabulary is empty"),
    ("Vocabulary([b'a'], [])", BadVocabulary, "no stop token .. give eos_token_ids"),
    ("Vocabulary([b'a', b''], 1, size=1)", BadVocabulary, "size 1 is smaller than the number of tokens, 2"),
    ("Vocabulary([b'a'], '</s>')", TypeError, "eos_token_ids must be a token id or several"),
    ("Vocabulary({'a': 0}, [0])", TypeError, "tokens must be a list of bytes .. Vocabulary.from_tokenizer"),
    ("Vocabulary([b'x' * 70000, b''], 1)", BadVocabulary, "token 0 has 70000 bytes, more than 65535"),
    ("Vocabulary([b'a', b''], -1)", BadVocabulary, "eos_token_ids: id -1 is out of range"),
    ("Vocabulary.from_tokenizer('gpt2')", BadVocabulary, "'gpt2' is a name .. AutoTokenizer.from_pretrained('gpt2')"),
    ("Vocabulary.from_tokenizer(None)", BadVocabulary, "NoneType is not a tokenizer .. give one of transformers"),
    ("Vocabulary.from_tokenizer(5)", BadVocabulary, "int is not a tokenizer .. give one of transformers"),
    ("Vocabulary.from_file('no/such.json')", BadVocabulary, "no/such.json .. No such file"),
    ("Vocabulary.from_file(tmp / 'junk')", BadVocabulary, "junk .. not a tokenizer file of a known format .. GGUF"),
    ("Vocabulary.from_file(tmp)", BadVocabulary, "it is no regular file"),
    ("Vocabulary.load(tmp / 'junk')", Artifact, "junk is not an artifact of interlock"),
    ("Vocabulary.load('nothing')", Artifact, "cannot read nothing"),
    ("V.token_bytes(999)", BadVocabulary, "the token id 999 is out of range: the size is 300"),
    ("V.decode([999])", BadVocabulary, "token id 999 is out of range: the size is 300"),
    ("V.save(tmp)", Artifact, "cannot write .. it is no regular file"),
]

GUIDES = [
    ("guide().advance(98)", Rejected, "token 98 (\"b\") is refused .. allowed there: 'a'"),
    ("guide().advance(-1)", Rejected, "no token has the id -1: ids lie from 0 to 299"),
    ("guide().advance(999)", Rejected, "token 999 is out of range: the vocabulary's size is 300"),
    ("guide().advance(256)", Rejected, "stop token 256 is refused: the output is not complete"),
    ("guide().rollback(1)", Argument, "cannot roll back 1 tokens: the guide has taken 0"),
    ("guide('abc', max_tokens=2)", Budget, "max_tokens is 2, but a complete output needs 3 tokens"),
    ("guide(max_tokens=0)", Budget, "max_tokens is 0, but a complete output needs 1"),
    ("guide(stop_token_ids=[999])", Argument, "stop token id 999 is out of range: the vocabulary's size is 300"),
    ("guide(stop_token_ids=[])", Argument, "stop_token_ids is empty: the output could never end"),
    ("guide(context_ids=[999])", Argument, "context_ids[0] is no id of the vocabulary, whose size is 300"),
    ("guide().fill_bitmask(np.zeros((1, 10), np.int64))", Argument, "bits must be int32, not int64"),
    ("guide().fill_bitmask(np.zeros((1, 2), np.int32))", Argument, "bits has 2 words a row, the vocabulary needs 10"),
    ("guide().fill_bitmask([0] * 10)", Argument, "bits must be a NumPy array or a torch tensor .. not list"),
    ("guide().fill_bitmask(bits(), 5)", Argument, "row 5 is out of range: bits has 1 rows"),
    ("guide().fill_bitmask(bits(), -1)", Argument, "row -1 is out of range: bits has 1 rows"),
    ("guide().fill_draft_bitmasks([97], bits())", Argument, "bits has 1 rows, 2 from row 0 on are needed"),
    ("guide().fill_draft_bitmasks([97], bits(2), parents=[5])", Argument, "the parent of draft 0 is 5 .. or -1"),
    ("guide().fill_draft_bitmasks([97], bits(2), parents=[-1, -1])", Argument, "1 drafts, but 2 parents"),
    ("interlock.fill_bitmasks([guide()], bits(2), rows=[5])", Argument, "row 5 is out of range: bits has 2 rows"),
    ("interlock.fill_bitmasks([guide(), guide()], bits(2), rows=[0, 0])", Argument, "row 0 is named twice"),
    ("interlock.fill_bitmasks([twin, twin], bits(2))", interlock.GuideBusyError, "guide 1 of the batch is in use"),
    ("interlock.fill_bitmasks([5], bits())", TypeError, "guides must hold interlock.Guide or None, not int"),
    ("interlock.fill_bitmasks([guide()], bits(), threads=0)", Argument, "threads must be at least 1"),
    ("interlock.advance_each([guide()], [97, 98])", Argument, "1 guides, but 2 ids"),
    ("interlock.advance_each([5], [97])", TypeError, "guides must hold interlock.Guide or None, not int"),
    ("interlock.allocate_bitmask(-1, V)", Argument, "batch and size must not be negative .. -1 and 300"),
    ("interlock.allocate_bitmask(V, 1)", TypeError, "batch must be a number of rows .. allocate_bitmask(batch"),
    ("interlock.allocate_bitmask(1, 'x')", TypeError, "v_or_size must be a Vocabulary or the width of the logits"),
    ("apply(np.zeros((1, 300), np.int32))", Argument, "logits must be float16, float32 or float64, not int32"),
    ("apply(np.zeros((1, 500), np.float32))", Argument, "logits have 500 columns .. bits has 10 .. give the width"),
    ("apply(np.zeros((2, 300), np.float32))", Argument, "bits has 1 rows, logits have 2"),
    ("apply([0.0])", Argument, "logits must be a NumPy array or a torch tensor, not list"),
    ("interlock.set_num_threads(0)", Argument, "the number of threads must be from 1 to 1024"),
    ("Limits(max_state=1)", TypeError, 'no limit is named "max_state" .. max_state_bytes'),
    ("R('[a-z]{600}').automaton(10)", Limit, "states of the automaton .. 601 > 10"),
    ("R('aaaa').random_member(max_bytes=2)", Unsatisfiable, "the shortest member has 4 bytes, more than 2"),
    ("R('a').build(threads=0)", Argument, "threads must be 1 to 1024"),
    ("R('a').warm_up(max_ms=-1)", Argument, "max_ms is -1: a positive number of milliseconds is needed"),
]

CONSTRAINTS = [
    ("given_one({'type': 'integer'}, None)", Argument, "not dict .. Index.from_json_schema(schema, vocabulary)"),
    ("given_one(guide(), None)", Argument, "not Guide .. pass its index, guide.index"),
    ("given_one(User, None)", Argument, "User is a type .. Index.from_type(User, vocabulary)"),
    ("given_one(list[int], None)", Argument, "is a type .. Index.from_type("),
    ("given_one('[a-z]+', None)", Argument, "not str .. Index.from_regex(pattern, vocabulary)"),
    ("given_one(re.compile('a'), None)", Argument, "not Pattern .. Index.from_regex"),
    ("given_one(5, None)", Argument, "not int .. make an index"),
    ("given_one(R('a'), [999999])", Argument, "the trigger [999999] can never come .. ids lie below 300"),
    ("given_one(R('a'), [-1])", Argument, "the trigger [-1] can never come"),
    ("given_one(Index.from_choices(['a'], other), 'xyz')", Argument, "'xyz' can never come .. give the ids"),
    ("given_one(R('a'), '')", Argument, "a trigger must not be empty: give its text or the ids"),
    ("Triggered({})", Argument, 'triggers must not be empty .. {"</think>": index}'),
    ("Triggered({'a': User})", Argument, "the trigger 'a' leads to an Index, not to"),
    ("Triggered('</think>')", Argument, "triggers map texts or ids to indexes .. str is no mapping"),
    ("Triggered({'a': R('a'), 'b': Index.from_regex('a', other)})", Argument, "must have one vocabulary"),
]

GENERATORS = [
    ("interlock.generate('gpt2', None, 'hi', User)", Argument, "'gpt2' is a name .. from_pretrained('gpt2')"),
    ("interlock.generate(object(), None, 'hi')", Argument, "is no model .. model, tokenizer, prompt, output type"),
    (
        "interlock.from_llama_cpp('model.gguf')",
        Argument,
        "a llama_cpp.Llama is needed .. llama_cpp.Llama('model.gguf')",
    ),
    ("interlock.from_mlx_lm('m', 't')", Argument, "mlx_lm.load(folder)"),
    ("interlock.from_vllm('m')", Argument, "a vllm.LLM is needed .. vllm.LLM(model)"),
    ("interlock.from_openai('key', 'm')", Argument, "a client is needed, openai.OpenAI(), not str"),
    ("gen('a', User, temprature=1)", Argument, "no option 'temprature' .. did you mean 'temperature'?"),
    ("gen('a', User, max_new_tokens=9)", Argument, "'max_new_tokens' has another name here .. pass max_tokens"),
    ("gen('a', User, max_tokens=0)", Argument, "max_tokens is the most tokens .. at least 1, not 0"),
    ("gen('a', User, max_tokens='5')", TypeError, "max_tokens must be an int, a number of tokens, not str"),
    ("gen('a', User, max_tokens=5.0)", TypeError, "max_tokens must be an int, a number of tokens, not float"),
    ("gen('a', User, temperature=-1)", Argument, "temperature is 0 for greedy search, or a number up to 10, not -1"),
    ("gen('a', User, temperature='hot')", TypeError, "temperature must be a number, not str"),
    ("gen('a', User, temperature=float('nan'))", Argument, "temperature is .. not nan"),
    ("gen('a', User, seed='a')", TypeError, "seed must be an int, not str"),
    ("gen('a', User, top_p=2.0)", Argument, "no option 'top_p'"),
    ("gen('a', User, whitespace='compact')", Argument, "no option 'whitespace' .. belong to the generator"),
    ("gen('a', User, stop='.')", Argument, "no option 'stop' .. belong to a program .. .gen(stop=...)"),
    ("gen('a', User, syntax='gbnf')", Argument, "interlock.Grammar(text, syntax='gbnf')"),
    ("gen({'role': 'user', 'content': 'x'}, User)", Argument, "a chat is a list of messages .. in brackets"),
    ("gen('a', 'User')", Argument, "pass the type User itself, without quotes"),
    ("gen('a', {'name': str})", Argument, "a dict is read as a JSON Schema .. pass a class"),
    ("gen('a', User, stream='yes')", TypeError, "stream must be True or False, not str"),
    ("ScriptedGenerator(whitespace='pretty')", Argument, 'whitespace must be "flexible" .. not "pretty"'),
    ("program.gen('n', int, temperature='a')", TypeError, "temperature must be a number, not str"),
    ("program.gen('n', int, top_p=2.0)", Argument, "top_p is a number above 0 and at most 1, not 2.0"),
    ("gen('a', User, max_tokens=2)", Budget, "max_tokens is 2, but a complete output needs"),
    ("gen(5, User)", Argument, "a prompt is a text or a list of messages, not int .. the prompt comes first"),
    ("gen([{'role': 'user'}], User)", Argument, 'message 0 .. {"role": "user", "content": "..."}'),
    ("gen([{'rolle': 'user', 'content': 'x'}], User)", Argument, "message 0 .. rolle .. a message is"),
    ("gen(['a', 'b'], User, stream=True)", Argument, "a stream has one prompt .. without stream=True"),
    ("gen('a', 'int')", Argument, "pass the type int without quotes"),
    ("interlock.Program(5)", Argument, "the generator of a program is a model in this process .. not int"),
    ("interlock.Program(gen, 5)", Argument, "a prompt is a text or a list of messages, not int"),
    ("interlock.Program(gen, 'x', temprature=1)", Argument, "no option 'temprature' .. 'temperature'"),
    ("program.gen(User)", Argument, "the name of a part is a str or None, not User .. then the type"),
    ("program.gen('n', int, stop='.')", Argument, "stop belongs to free text; int ends by itself"),
    ("program.gen('n', stop=[''])", Argument, "stop is a text .. not empty"),
    ("program.gen('n', int, max_tokens=0)", Argument, "max_tokens is the most tokens .. at least 1"),
    ("program.select('n', 'abc')", Argument, "options are a list of texts .. did you mean [text]?"),
    ("program.select(['a', 'b'], ['a'])", Argument, "the name of a part is a str or None"),
    ("program.select('n', [])", Argument, "there are no choices"),
    ("program.select('n', [1, 2])", Argument, "choices are strings, and 1 is none"),
    ("program.call('n', lambda x: x)", Argument, "parameter 'x' .. give it a type"),
    ("program.call('n', 5)", Argument, "call takes a function .. 5 is none"),
    ("program.call('s', 'add')", Argument, "call takes a function .. 'add' is a text .. unquoted"),
    ("program.call('s', dict)", Argument, "call takes a function .. dict is a class .. gen(name, dict)"),
    ("program.generate('s')", AttributeError, "Program has no attribute 'generate' .. gen(name, output_type)"),
    ("program.selct('s')", AttributeError, "Program has no attribute 'selct' .. did you mean 'select'?"),
    ("gen.stram('x', int)", AttributeError, "ScriptedGenerator has no attribute 'stram' .. did you mean 'stream'?"),
    ("gen.generate('x', int)", AttributeError, "no attribute 'generate' .. gen(prompt, output_type)"),
    (
        "gen(messages=[], output_type=int)",
        Argument,
        "'messages' has another name .. gen(messages, output_type)",
    ),
    ("gen(output_type=int)", Argument, "the prompt is missing .. a text or a list of messages"),
    ("gen.stream(messages=[])", Argument, "'messages' has another name .. prompt"),
    ("gen.trace(messages=[])", Argument, "'messages' has another name .. prompt"),
    ("gen.batch(prompts_=[])", Argument, "the prompt is missing"),
    ("interlock.generate(gen, None, messages=[])", Argument, "'messages' has another name .. prompt"),
    ("gen('x', 'integr')", Argument, "'integr' is no JSON Schema .. did you mean the type int? .. without quotes"),
    ("gen('x', 'lsit')", Argument, "'lsit' .. did you mean the type list?"),
    ("gen('x', int, temperature=9999)", Argument, "temperature is 0 for greedy search, or a number up to 10, not 9999"),
    ("interlock.Program(gen, temperature=9999)", Argument, "temperature is 0 .. a number up to 10, not 9999"),
    ("interlock.Program(gen, top_k=-1)", Argument, "top_k is a number of tokens, or 0 for all, not -1"),
    ("program.text(5)", Argument, "fixed text is a str, not int: write str(...)"),
    ("program['nothing']", KeyError, "no part has the name 'nothing'"),
]

FILES = [
    ("R('a').save(tmp / 'no' / 'x')", Artifact, "cannot write .. No such file"),
    ("R('a').save(tmp / 'folder')", Artifact, "cannot write .. it is no regular file"),
    ("Index.load(tmp / 'junk', V)", Artifact, "junk is not an artifact of interlock"),
    ("Index.load('nothing', V)", Artifact, "cannot read nothing"),
    ("Store(tmp / 'junk')", Artifact, "junk: it is a file, and a store is a folder"),
    ("Store(5)", TypeError, "path must be a folder or an fsspec URL .. not int"),
    ("Store(tmp / 'store', max_bytes=-1)", Argument, "max_bytes must not be negative, got -1"),
    ("Store(tmp / 'store', cache='x')", Argument, "cache is for stores behind URLs"),
    ("store.get_or_compile('pattern', 'a', V)", Argument, "kind must be one of 'regex', .. 'structural_tag', 'tools'"),
    ("store.get_or_compile('regex', 'a', V, flavour='x')", Argument, "'flavour'; there are dialect, flags, limits"),
    ("store.get_or_compile('regex', 'a(', V)", Pattern, "missing ) .. offset 1"),
    ("store.get('zz', V)", Argument, "a key has 64 hexadecimal digits, got 'zz'"),
    ("R('a').draw('circles')", Argument, "form is one of structure, jumps, states, not 'circles'"),
    ("R('a').draw('structure')", Argument, "only a schema or a grammar has a structure; form is jumps or states here"),
    ("R('a').draw().save('x.png')", Argument, "a drawing is written to .svg, .html, .mmd, .dot, not to .png"),
    ("R('[a-z]{900}').draw(max_states=50).svg()", Limit, "states of the automaton .. > 50"),
    ("interlock.drawing.draw(5)", Argument, "source must be an Index, a JSON Schema, a pattern .. not int"),
    ("interlock.explain.explain('a', 'b')", Argument, "index must be an interlock.Index, not str .. comes first"),
    ("interlock.explain.explain(R('a'), 5)", Argument, "text must be a str or bytes, not int .. json.dumps"),
    ("interlock.indx", AttributeError, "has no attribute 'indx'; did you mean"),
    ("interlock.from_transformer", AttributeError, "did you mean 'from_transformers'?"),
]

Tag, Format = interlock.StructuralTagError, interlock.ToolFormatError
SERVERS = [
    ("Index.from_regex('a', V, cancel=3)", TypeError, "cancel must be an interlock.CancelToken or None, not int"),
    ("interlock.CancelToken(3)", TypeError, "takes no arguments; CancelToken.after(seconds) .. deadline"),
    ("interlock.CancelToken.after('3s')", TypeError, "seconds must be a number, not str"),
    ("interlock.CancelToken.after(-1)", Argument, "seconds is -1: a number of seconds from 0 is needed"),
    (
        "R('a', cancel=interlock.CancelToken.after(0))",
        interlock.CancelledError,
        "longer than its deadline of 0 seconds",
    ),
    ("Index.from_response_format(5, V)", Tag, "a response_format is a JSON object, and 5 is a number"),
    (
        "Index.from_response_format([1], V)",
        Tag,
        "a response_format is a JSON object, or a list of texts to choose from",
    ),
    ("Index.from_response_format('x', V)", Tag, "a response_format in a text is JSON"),
    (
        "Index.from_response_format({'type': 'json'}, V)",
        Tag,
        "the schema is missing: it goes into",
    ),
    ("Index.from_response_format({'type': 'jsonschema'}, V)", Tag, "at /type: 'jsonschema' is no type .. json_schema"),
    (
        "Index.from_response_format({'type': 'json_schema', 'json_schema': {'name': 'a'}}, V)",
        Tag,
        "the schema is missing",
    ),
    ("Index.from_response_format({'regex': 'a', 'json': {}}, V)", Tag, "regex and json are given at once"),
    (
        "Index.from_response_format({'guided_rejex': 'a'}, V)",
        Tag,
        "at /guided_rejex: 'guided_rejex' is no field .. guided_regex",
    ),
    ("Index.from_response_format({}, V)", Tag, "it asks for nothing: give a type"),
    ("Index.from_response_format({'guided_choice': 'yes'}, V)", Tag, "choices are a list of texts that is not empty"),
    ("Index.from_response_format({'guided_choice': [1]}, V)", Tag, "a choice is a text, not a number"),
    (
        "Index.from_response_format({'type': 'text'}, V, whitespac='compact')",
        TypeError,
        "unexpected keyword argument 'whitespac'; there are whitespace",
    ),
    ("Index.from_structural_tag({'type': 'tagg'}, V)", Tag, "at /type .. 'tagg'"),
    ("Index.from_structural_tag({'type': 'tag', 'begin': 'a'}, V)", Tag, "needs the field 'content'"),
    ("Index.from_structural_tag('{', V)", Tag, "the structural tag is not JSON"),
    ("Index.from_structural_tag({'type': 'any_text'}, V, allowed_tokens='<x>')", TypeError, "allowed_tokens must be"),
    ("Index.from_structural_tag({'type': 'any_text'}, V, allowed_tokens=['<x>'])", Argument, "no special token '<x>'"),
    ("Index.from_tools([{'name': 'f'}], V, format='hermess')", Format, "'hermess': did you mean 'hermes'?"),
    ("Index.from_tools([{'name': 'f'}], V)", Tag, "needs a tokenizer or the text of its chat template"),
    ("Index.from_tools({'name': 'f'}, V, format='hermes')", Tag, "tools are a list, not an object"),
    ("Index.from_tools([5], V, format='hermes')", Tag, "at /0 .. a tool is an object .. not a number"),
    ("Index.from_tools([{'name': 'f'}], V, format='hermes', tool_choice='g')", Tag, "at /tool_choice .. not 'g'"),
    ("interlock.check_structural_tag({'type': 'regex', 'pattern': 'a('})", Tag, "at /format/pattern"),
    ("interlock.check_tools([{}], format='hermes')", Tag, "at /0"),
    ("interlock.check_response_format({'guided_regex': 'a('})", Pattern, "missing ), unterminated"),
    ("interlock.check_response_format({}, 5)", TypeError, "positional"),
    ("store.get_or_compile('tag', {}, V)", Argument, "kind must be one of .. 'structural_tag' .. not 'tag'"),
    ("store.get_or_compile('tools', [], V, formt='hermes')", Argument, "no option of kind 'tools' is named 'formt'"),
    ("Vocabulary.from_tokenizer(5, eos_token_ids=1)", BadVocabulary, "int is not a tokenizer"),
    ("Vocabulary.from_file(tmp / 'tokens.tiktoken')", BadVocabulary, "no stop token .. Give eos_token_ids"),
    (
        "Vocabulary.from_file(tmp / 'tokens.tiktoken', eos_token_ids=[999999])",
        BadVocabulary,
        "id 999999 is out of range: the tokenizer lists 256 ids, from 0 to 255 .. give size",
    ),
    ("S({'type': 'array', 'minItems': 10**9}).guide(max_tokens=9)", Budget, "no output of at most 9 tokens was found"),
    ("S({'type': 'array', 'minItems': 10**9}).guide().min_tokens_to_finish()", Budget, "no short output was found"),
    ("R('a').parse(b'b')", Rejected, "refused"),
    ("interlock.StructuralTagErorr", AttributeError, "did you mean 'StructuralTagError'?"),
]

MISTAKES = [*SERVERS, *SCHEMAS, *GRAMMARS, *PATTERNS, *TYPES, *VOCABULARIES, *GUIDES, *CONSTRAINTS, *GENERATORS, *FILES]

#: What no user should read: names of the compiled module, of Rust and of PyO3, and private names.
LEAKS = re.compile(
    r"_core\b|\binterlock\._|\b_[a-z]\w+\(|::(?!=)|\bPy[A-Z]\w+|pyo3|\bOption<|\bVec<|&str|\busize\b|\bu32\b|panicked|unwrap|"
    r"builtins\.|<lambda> at|0x[0-9a-f]{8}|is not an instance of"
)


class User(pydantic.BaseModel):
    name: str


@dataclasses.dataclass
class Point:
    x: int


@pytest.fixture(scope="module")
def names(byte_vocabulary, tmp_path_factory) -> dict[str, Any]:
    """What the calls of the rows may name."""
    tmp = tmp_path_factory.mktemp("mistakes")
    (tmp / "junk").write_bytes(b"this is no file of interlock")
    (tmp / "folder").mkdir()
    ranks = (b"%s %d\n" % (base64.b64encode(bytes([i])), i) for i in range(256))
    (tmp / "tokens.tiktoken").write_bytes(b"".join(ranks))
    gen = ScriptedGenerator({"a": "b"})

    def pattern(source, **options):
        return Index.from_regex(source, byte_vocabulary, **options)

    def strictly(schema):
        """Compile a schema where a warning is an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return Index.from_json_schema(schema, byte_vocabulary)

    def bits(rows=1):
        return interlock.allocate_bitmask(rows, byte_vocabulary)

    def guide(source="a+", **options):
        return pattern(source).guide(**options)

    return {
        **globals(),
        "V": byte_vocabulary,
        "R": pattern,
        "G": lambda grammar, **options: Index.from_grammar(grammar, byte_vocabulary, **options),
        "strictly": strictly,
        "S": lambda schema, **options: Index.from_json_schema(schema, byte_vocabulary, **options),
        "T": lambda kind, **options: Index.from_type(kind, byte_vocabulary, **options),
        "other": Vocabulary([b"a", b"b", b""], 2),
        "guide": guide,
        "twin": guide(),
        "bits": bits,
        "apply": lambda logits: interlock.apply_bitmask(logits, bits()),
        "gen": gen,
        "program": interlock.Program(gen, "x "),
        "tmp": tmp,
        "store": Store(tmp / "store"),
    }


@pytest.mark.parametrize(("call", "kind", "said"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_mistake(names, call, kind, said):
    with pytest.raises(kind) as caught:
        eval(call, names)
    message = str(caught.value)
    at = 0
    for fragment in said.split(" .. "):
        found = message.find(fragment, at)
        assert found >= 0, f"{fragment!r} is not in {message!r}"
        at = found
    assert not LEAKS.search(message), message
    assert isinstance(caught.value, (interlock.InterlockError, TypeError, KeyError, AttributeError, Warned))
    if isinstance(caught.value, interlock.InterlockError):
        json.dumps([caught.value.pointer, caught.value.keyword, caught.value.offset, caught.value.limit])


def test_there_are_many():
    assert len({row[0] for row in MISTAKES}) == len(MISTAKES) >= 130


def test_what_is_missing_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "interlock.generators.transformers", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"torch .*pip install 'interlock\[transformers\]'") as caught:
        interlock.from_transformers("gpt2", None)
    assert caught.value.name == "torch"


def test_literals_are_fine():
    """The way on that a message names is a way."""
    vocabulary = interlock.explain.byte_vocabulary()
    assert Index.from_type(Literal[1, 2], vocabulary).guide().is_accepting is False
    assert Index.from_type(list[User], vocabulary).guide().forced_text() == "["
