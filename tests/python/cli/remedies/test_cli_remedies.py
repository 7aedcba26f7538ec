"""The remedies of the command line help, and nothing is offered where nothing is known."""

import json

import pytest
from command_line import here, machine, run

import interlock

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.parametrize(
    ("name", "text", "words", "remedy"),
    [
        ("bad.gbnf", 'root ::= "a" foo\n', "is used, but not defined", 'define it on a line of its own: foo ::= "..."'),
        ("bad.ebnf", 'start ::= "a" ;\n', "means nothing here", "leave it out; in double quotes"),
        ("bad.lark", 'start: "a" foo\n', "is used, but not defined", 'define it on a line of its own: foo: "..."'),
        ("upper.lark", 'start: "a" FOO\n', "is used, but not defined", "define it on a line of its own: FOO: /.../"),
        # The message says it itself.
        ("near.lark", 'start: "a" iten\nitem: "b"\n', 'did you mean "item"?', None),
        ("twice.lark", 'start: "a"\nstart: "b"\n', "; write %override", None),
        ("wrong.gbnf", 'start: "a" start | "b"\n', "looks like Lark's notation", "--syntax lark reads it"),
        ("wrong.lark", 'root ::= "a"\n', "this looks like GBNF or EBNF", "--syntax gbnf or --syntax ebnf"),
        ("never.lark", 'start: "a" start\n', "never comes to an end", "give start an alternative"),
        # One lexer takes what the others do not; where none does, none is offered.
        ("greedy.lark", 'start: A B\nA: /a+/\nB: "a"\n', "never comes to an end", "--lexer any accepts something"),
        ("look.lark", "start: /(?=a)b/\n", "accepts nothing", "no --lexer accepts anything by these rules; a terminal"),
        ("empty.gbnf", "", "is empty", 'root ::= "a" root | "b"'),
        ("empty.lark", "", "is empty", 'start: "a" start | "b"'),
    ],
)
def test_the_remedy_of_a_grammar_fits_its_error(tmp_path, name, text, words, remedy):
    (tmp_path / name).write_text(text)
    error = machine(tmp_path, "inspect", name, code=3)["error"]
    assert words in error["message"] and error["file"] == name
    assert error.get("remedy") is None if remedy is None else error["remedy"].startswith(remedy), error


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("(?<=a)b", "the pattern is the whole output, and nothing stands beside it: "),
        ("a(?=b)", "the pattern is the whole output, and nothing stands beside it: "),
        ("a^b", "leave it out: "),
        ("a$b", "leave it out: "),
        # The message says all.
        (r"a\bb", "the place above contradicts itself; "),
        (r"a[^\s\S]", "the place above contradicts itself; "),
        ("a(?!b)b", "the place above contradicts itself; "),
        # More parts than are looked through one by one.
        ("(?=a)" * 25 + "b", "no text matches; "),
    ],
)
def test_the_remedy_of_a_pattern_that_accepts_nothing_fits_the_reason(tmp_path, pattern, remedy):
    error = machine(tmp_path, "inspect", f"pattern:{pattern}", code=3)["error"]
    assert "accepts nothing" in error["message"] and error["remedy"].startswith(remedy), error


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("a(?R)", "a pattern cannot call itself; "),
        (r"\(?1[-. ]?\d{3}\)?[9-0]", "write the lower end first, "),
        (r"\(?1[-. ]?(\d{3})\1", "write out what the group may be a second time; "),
        (
            r"[a-\d]",
            r"write the characters of the class, or \- for the character itself; --dialect ecma takes it, with -",
        ),
        ("(a)?(?(1)b|c)", "write all ways out, as in (?:...|...)"),
        ("/^ab$/i", "leave out the slashes around the pattern and give --flags i"),
        (r"\cA", "--dialect ecma takes it"),
    ],
)
def test_the_remedy_of_a_pattern_that_is_refused_fits_the_reason(tmp_path, pattern, remedy):
    error = machine(tmp_path, "inspect", f"pattern:{pattern}", code=3)["error"]
    assert error["remedy"].startswith(remedy), error


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("/^[a-z]+$/", "leave out the slashes around the pattern"),
        ("/^[a-z]+$/i", "leave out the slashes around the pattern; a schema has no flags: write both cases"),
        ("^a$b", "change it; "),
    ],
)
def test_the_slashes_around_a_pattern_of_a_schema_are_named(tmp_path, pattern, remedy):
    name = {"type": "string", "pattern": pattern}
    objects = {"type": "object", "properties": {"name": name}}
    for schema in (name, objects | {"required": ["name"]}):
        error = machine(tmp_path, "inspect", f"schema:{json.dumps(schema)}", code=3)["error"]
        assert error["remedy"].startswith(remedy), error
    # An optional one is left out, with a warning.
    said = run(tmp_path, "inspect", f"schema:{json.dumps(objects)}").stderr
    assert (f"; {remedy}" in said) is pattern.startswith("/"), said


def test_the_remedy_of_another_notation_leads_on(tmp_path):
    (tmp_path / "wrong.gbnf").write_text('start: "a" start | "b"\n')
    assert here(tmp_path, "check", "wrong.gbnf", "--syntax", "lark", "--text", "ab").returncode == 0


@pytest.mark.parametrize(
    ("format", "remedy"),
    [
        ({"type": "tag", "begn": "<a>", "content": {"type": "any_text"}, "end": "</a>"}, "did you mean begin by begn?"),
        ({"type": "json_schma", "json_schema": {}}, "did you mean json_schema?"),
        (
            {"type": "sequence", "elements": [{"type": "tag", "begin": "a", "end": "b", "contnt": {}}]},
            "did you mean content by contnt?",
        ),
        ({"type": "nothing_like_it"}, None),
    ],
)
def test_a_slip_in_a_structural_tag(tmp_path, format, remedy):
    (tmp_path / "tag.json").write_text(json.dumps({"type": "structural_tag", "format": format}))
    assert machine(tmp_path, "inspect", "tag.json", code=3)["error"].get("remedy") == remedy


def test_no_command_without_a_budget_offers_one(tmp_path):
    """Its shortest text has more tokens than a search looks at."""
    long = r"pattern:\d{1000000}"
    shown = machine(tmp_path, "inspect", long)
    assert shown["shortest_member"] is None and "shortest_member" in shown["not_counted"]
    assert "short_member" not in shown
    for args in (("sample", long), ("diff", long, r"pattern:\d{1000001}"), ("trace", long, "--text", "1")):
        remedy = machine(tmp_path, *args, code=2)["error"]["remedy"]
        assert "a smaller count" in remedy and "--max-tokens" not in remedy


def test_a_search_that_may_take_long_is_announced(tmp_path):
    done = here(tmp_path, "draw", "pattern:ab", "--max-states", "200000", "-o", "ab.svg")
    assert "looking for up to 200000 states may take minutes" in done.stderr
    assert "minutes" not in here(tmp_path, "draw", "pattern:ab", "--max-states", "9000", "-o", "ab.svg").stderr


@pytest.mark.parametrize("document", [TOOLS, {"model": "m", "messages": [], "tools": TOOLS}])
def test_a_list_of_tools_is_recognised(tmp_path, document):
    (tmp_path / "tools.json").write_text(json.dumps(document))
    error = machine(tmp_path, "check", "tools.json", "--text", "{}", code=3)["error"]
    assert "a list of tools" in error["message"] and "--tool-format NAME" in error["remedy"]
    assert error["file"] == "tools.json"
    assert "--tool-format" in here(tmp_path, "tools").stderr


def test_the_parameters_of_one_tool_are_a_schema(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    assert (
        here(tmp_path, "check", "tools.json", "--schema-key", "/0/function/parameters", "--text", "{}").returncode == 0
    )


def test_lines_without_their_option(folder):
    lines = '{"item": "tea"}\n{"item": "milk"}\n'
    assert "try: --lines" in here(folder, "check", "order.json", "-", stdin=lines).stdout
    (folder / "lines.txt").write_text(lines)
    assert "try: --lines" in run(folder, "check", "order.json", "lines.txt", code=1).stdout
    assert run(folder, "check", "order.json", "lines.txt", "--lines").returncode == 0
    assert "--lines" not in run(folder, "check", "order.json", "bad.json", code=1).stdout


def test_a_document_and_a_source_that_are_none_are_named(folder):
    assert run(folder, "check", "order.json", "bad.json", code=1).stdout.startswith(
        "bad.json:2:11: refused at /count\n"
    )
    assert machine(folder, "check", "order.json", "bad.json", code=1)["name"] == "bad.json"
    assert machine(folder, "check", "order.json", "good.json")["name"] == "good.json"
    assert "name" not in machine(folder, "check", "order.json", "--text", '{"item": "a"}')
    (folder / "none.json").write_text("")
    for name in ("none.json", "good.json"):
        assert machine(folder, "inspect", name, code=3)["error"]["file"] == name


def test_a_limit_that_is_fixed_names_no_option(folder):
    error = machine(folder, "inspect", 'schema:{"minimum": 1e400}', code=3)["error"]
    assert "this limit is fixed" in error["remedy"] and "NAME" not in error["remedy"]


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (r'{"patternProperties": {"^a": {}, "^[b-a]$": {}}}', "b-a"),
        (r'{"patternProperties": {"\ud83d\ude00\\d[b-a]": {}}}', "b-a"),
        (r'{"patternProperties": {"^a\\": {}}}', r"\\"),
        (r'{"pattern": "\\d\u00e9[b-a]"}', "b-a"),
        (r'{"pattern": "(a"}', "(a"),
    ],
)
def test_the_caret_of_a_pattern_in_a_schema_is_at_its_character(folder, schema, at):
    """Keys of ``patternProperties`` are patterns, and a string of JSON may spell a character as an escape."""
    (folder / "pattern.json").write_text(schema)
    said = machine(folder, "check", "pattern.json", "-t", "bytes", "--text", "{}", code=3)["error"]
    assert (said["type"], said["line"], said["column"]) == ("PatternError", 1, schema.index(at) + 1)


def test_the_caret_of_a_slip_is_at_its_key(folder):
    slip = 'schema:{"type": "object", "additionalPropertie": false}'
    error = machine(folder, "inspect", slip, "--unknown-keywords", "error", code=3)["error"]
    assert (error["line"], error["column"]) == (1, 20)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ('lark:start: "a"', """grammar:'start: "a"' with --syntax lark"""),
        ("gbnf:@sums.gbnf", "grammar:@sums.gbnf with --syntax gbnf"),
        ("re:a+", "pattern:a+"),
        ("enum:a,b", "choices:a,b"),
        ("json:{}", "schema:'{}'"),
    ],
)
def test_prefixes_of_others(folder, word, meant):
    assert machine(folder, "inspect", word, code=2)["error"]["remedy"] == f"did you mean {meant}?"


def test_choices_that_are_no_strings(folder):
    error = machine(folder, "inspect", "choices:[1,2]", code=3)["error"]
    assert error["remedy"].startswith("""choices:'["1", "2"]'""")


def test_the_end_is_no_byte(folder):
    assert "1 of 256 bytes allowed: a\n" in run(folder, "inspect", "pattern:a+").stdout
    assert "1 of 256 bytes allowed: a or the end\n" in run(folder, "inspect", "pattern:a*").stdout


def test_the_version_for_machines(folder):
    assert set(machine(folder, "--version")) == {"version"}


def test_a_source_that_the_vocabulary_cannot_write_contradicts_nothing(tmp_path):
    letters = [bytes([i]) for i in b'abcdefghijklmnopqrstuvwxyz{}":,'] + [b""]
    interlock.Vocabulary(letters, eos_token_ids=[len(letters) - 1]).save(tmp_path / "letters.ilk")
    over = ("-t", "letters.ilk")
    error = machine(tmp_path, "inspect", 'schema:{"type": "integer"}', *over, code=3)["error"]
    assert error["remedy"].startswith("another --tokenizer: the source has outputs")
    opposed = 'schema:{"type": "integer", "minimum": 3, "maximum": 1}'
    assert "tokenizer" not in machine(tmp_path, "inspect", opposed, *over, code=3)["error"]["remedy"]


SHELL = r"\n came as two characters: {0}:$'...' makes lines of it in bash and zsh, and {0}:@FILE takes a file"


@pytest.mark.parametrize(
    ("source", "more"),
    [
        (r'grammar:start: "a" x\nx: "b"', []),
        (r'grammar:root ::= "a" x\nx ::= "b"', []),
        (r'grammar:// a comment\nstart: "a"', []),
        (r'schema:{\n"type":"string"}', []),
        (r'tag:{"type":"structural_tag",\n"format":1}', []),
        (r'tools:{"tools":\n[]}', ["--tool-format", "hermes"]),
    ],
)
def test_an_end_of_a_line_that_the_shell_made_two_characters_of(tmp_path, source, more):
    kind, _, text = source.partition(":")
    error = machine(tmp_path, "inspect", source, *more, code=3)["error"]
    assert error["remedy"] == SHELL.format(kind)
    (tmp_path / "source").write_text(text)
    error = machine(tmp_path, "inspect", f"{kind}:@source", *more, code=3)["error"]
    assert error["remedy"] == r"\n is two characters here: write the end of a line itself"


def test_no_shell_is_blamed_where_the_characters_are_right(tmp_path):
    error = machine(tmp_path, "inspect", r'grammar:root ::= "a\n" x', code=3)["error"]
    assert error["remedy"] == 'define it on a line of its own: x ::= "..."'
    assert r"note: \n is part of the one choice" in run(tmp_path, "inspect", r"choices:yes\nno").stderr
    assert not run(tmp_path, "inspect", r"choices:yes\nno,no").stderr


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("(a", r"write ) where the group ends, or \( for"),
        ("[a", r"write ] where the set ends, or \[ for"),
        ("a)", r"leave it out, or write \) for"),
        ("+a", r"write what is to be repeated before it, or \+ for"),
        ("a+*", r"leave out one of the two, put the first into a group, (?:...), or write \* for * itself"),
        ("a{3,2}", "write the smaller number first"),
        ("[z-a]", "write the lower end first"),
        ("(?P<n", "write > where the name ends"),
        ("a(?i)b", "--flags gives flags for all; (?i:...) is for a part of it"),
        ("(?P<n>a)(?P<n>b)", "give one of the two groups another name"),
        ("(?", r"write the rest of the group, as in (?:...), or \( and \? for the characters"),
        ("(?P<1>a)", "write a name of letters, digits and _ that begins with no digit"),
        ("(?P<>a)", "write a name of letters"),
        ("(?i", "write : and the part that the flags are for, as in (?i:...)"),
        ("(?-i)a", "write : and the part that the flags are for, as in (?-i:...)"),
        ("(?-)a", "write the flags to turn off"),
        ("(?iz)a", "the flags are a, i, m, s, u and x"),
        (r"\x{41}", r"write \x41"),
        (r"\x{1F600}", r"write \U0001f600"),
        (r"\x4", r"write all of its digits, without braces: two behind \x"),
        (r"\400", r"write its four hexadecimal digits, as in \u0100"),
        (r"\q", "leave out the backslash"),
    ],
)
def test_a_pattern_that_cannot_be_read_has_a_remedy(tmp_path, pattern, remedy):
    error = machine(tmp_path, "inspect", f"pattern:{pattern}", code=3)["error"]
    assert error["type"] == "PatternError" and error["remedy"].startswith(remedy), error


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        (r"\u{110000}", r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}"),
        (r"\xg", r"write two hexadecimal digits behind it, as in \x41"),
        (r"\x{1F600}", r"write \u{1f600}"),
        (r"\c1", r"write a letter behind it, as in \cA"),
        (r"\pL", r"write a name in braces behind it, as in \p{L}"),
        ("(?<1>a)", "write a name of letters"),
        # The message says it.
        ("(?i)a", None),
    ],
)
def test_a_pattern_of_the_other_dialect_has_a_remedy(tmp_path, pattern, remedy):
    source = (f"pattern:{pattern}|[b-a]", "--dialect", "ecma")
    error = machine(tmp_path, "inspect", *source, code=3)["error"]
    found = error.get("remedy")
    assert found is None if remedy is None else found is not None and found.startswith(remedy), error


@pytest.mark.parametrize("source", ["pattern:a(", 'schema:{"pattern": "a("}', "grammar:start: /a(/"])
def test_the_way_on_is_printed_once(tmp_path, source):
    """The library's message has it as well, as a hint behind it."""
    assert run(tmp_path, "inspect", source, code=3).stderr.count("for the character itself") == 1


def test_the_way_on_of_a_pattern_in_a_schema_is_written_as_json_has_it(tmp_path):
    error = machine(tmp_path, "inspect", 'schema:{"pattern": "(a"}', code=3)["error"]
    assert error["remedy"] == r"write ) where the group ends, or \\( for the character itself"


def test_a_vocabulary_without_special_tokens_says_so(tmp_path):
    assert run(tmp_path, "vocab", "bytes", "--special").stdout.endswith("special token: none\n")
    assert "special token:" not in run(tmp_path, "vocab", "bytes").stdout


@pytest.mark.parametrize(
    ("words", "is_taken"),
    [
        (["pattern:a", "--dialect", "ecma", "--flags", "v"], False),
        (["pattern:(?P<a>b)", "--dialect", "ecma", "--flags", "g"], False),
        (["pattern:(?P<a>b)", "--dialect", "ecma", "--flags", "u"], True),
        ([r"pattern:\cA", "--flags", "x"], False),
        ([r"pattern:\cA", "--flags", "i"], True),
    ],
)
def test_another_dialect_is_named_only_where_it_takes_the_flags_too(tmp_path, words, is_taken):
    said = run(tmp_path, "inspect", *words, code=3).stderr
    other = "python" if "ecma" in words else "ecma"
    assert (f"--dialect {other} takes" in said) is is_taken, said
    rest = words[:1] + words[-2:]
    run(tmp_path, "inspect", *rest, "--dialect", other, code=0 if is_taken else None)
