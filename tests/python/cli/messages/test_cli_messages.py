"""What the command line says of mistakes, over several calls: what was meant, the place, what ``--json`` has of it. One
call alone is a row of ``MISTAKES`` in ``test_cli_mistakes.py``.
"""

import json

import pytest
from command_line import ORDER, machine, run

import interlock


def test_what_was_meant(folder):
    for args, code, words in (
        (["chek", "a"], 2, ["no command is named 'chek'", "did you mean check?"]),
        (["check", "order.json", "good.json", "--whitespce", "compact"], 2, ["did you mean --whitespace?"]),
        (["check", "order.json", "good.json", "--whitespace", "compac"], 2, ["did you mean compact?"]),
        (["check", "order.json", "good.json", "--formats", "asert"], 2, ["did you mean assert?"]),
        (["check", "ordr.json", "good.json"], 4, ["did you mean order.json?"]),
        (["check", "order.json", "god.json"], 4, ["did you mean good.json?"]),
        (["check", "order", "good.json"], 2, ["did you mean order.json?"]),
        (["inspect", "patern:abc"], 2, ["did you mean pattern:abc?"]),
        (["inspect", "regx:abc"], 2, ["no source begins with regx:", "did you mean pattern:abc?"]),
        (["inspect", "order.json", "--doc=x"], 2, ["did you mean --document?"]),
        (["inspect", "schema:order.json"], 3, ["is this a file?", "order.json"]),
        (["inspect", "order.json", "--limit", "max_dept=3"], 2, ["did you mean max_depth?"]),
        (["inspect", "order.json", "--schema-key", "propertis"], 2, ["did you mean 'properties'?"]),
        (["inspect", "order.json", "--schema-key", "a.b"], 2, ["has no key 'a.b' at its top; it has 'type'"]),
    ):
        said = run(folder, *args, code=code)
        assert all(word in said.stderr for word in words), said.stderr
        assert not said.stdout
    assert machine(folder, "chek", code=2)["error"]["remedy"] == "did you mean check?"


def test_places_and_remedies(folder):
    for source, words in (
        ("pattern:a(b", ["line 1, column 2", "\n    a(b\n     ^\n"]),
        ("pattern:/^a$/i", ["leave out the slashes", "--flags i"]),
        ("pattern:(?P<a>x)(?P=a)", ["column 9", "write out"]),
        ("pattern:(?R)", ["$ref"]),
        ('schema:{"type": "object",}', ["column 19", "comma before }"]),
        ('schema:{"a": {}, "properties": {"a": {"type": "strin"}}}', ["              ^~~~~~~\n"]),
        ('schema:{"properties": {"a": {"pattern": "x(?i)y"}}}', ["ECMA-262", "(?i:...)", "column 36"]),
        ('schema:{"type": "integer", "minimum": 10, "maximum": 1}', ["minimum 10 and maximum 1", "contradict"]),
        (
            'schema:{"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": false}',
            ['required ["b"] and additionalProperties false'],
        ),
    ):
        said = run(folder, "inspect", source, code=3).stderr
        assert all(word in said for word in words), said
        assert "--on-unsupported" not in said
    helped = run(folder, "inspect", 'schema:{"type": "array", "not": {"uniqueItems": true}}', code=3).stderr
    assert "try: --on-unsupported warn" in helped
    # The option is named where it leads on, and nowhere else.
    stays = run(folder, "inspect", 'schema:{"$ref": "https://example.org/x"}', code=3).stderr
    assert "try: --on-unsupported" not in stays


def test_an_envelope_names_the_option_that_opens_it(folder):
    (folder / "named.json").write_text('{"description": "x", "schema": {"type": "integer"}}')
    assert "try: --schema-key schema" in run(folder, "inspect", "named.json", code=3).stderr
    assert run(folder, "check", "named.json", "--schema-key", "schema", "--text", "5").stdout


def test_an_option_without_sense_is_not_in_the_file(folder):
    """``--whitespace`` is of the command line: no file is named for it."""
    said = run(folder, "inspect", "order.json", "--whitespace", "foo", code=2).stderr
    assert "whitespace must be" in said and "order.json" not in said


@pytest.mark.parametrize(
    ("word", "meant"),
    [("strng", "string"), ("interger", "integer"), ("nubmer", "number"), ("string ", "string"), ("x-order", "")],
)
def test_a_misspelt_type(folder, word, meant):
    for kind in (word, [word, "null"]):
        error = machine(folder, "inspect", f"schema:{json.dumps({'type': kind})}", code=3)["error"]
        said = error["message"].partition("is expected")[2].partition(" (at ")[0]
        assert said == (f'; did you mean "{meant}"?' if meant else "")


def test_slips_in_schemas_and_envelopes(folder):
    slip = {"type": "string", "minLenght": 3, "x-order": 1}
    (folder / "slip.json").write_text(json.dumps(slip))
    for args in (["inspect"], ["check", "--text", '"a"'], ["compile", "-t", "bytes", "-o", "a.ilk"]):
        done = run(folder, args[0], "slip.json", *args[1:])
        assert "did you mean minLength?" in done.stderr and "x-order" not in done.stderr
    assert "did you mean minLength?" in run(folder, "inspect", "slip.json", "--quiet").stdout
    assert run(folder, "inspect", "slip.json", "--quiet").stderr == ""
    unknown = machine(folder, "inspect", "slip.json")["unknown_keywords"]
    assert [(u["keyword"], u["suggestion"]) for u in unknown] == [("minLenght", "minLength"), ("x-order", "")]
    (folder / "format.json").write_text('{"type": "array", "items": {"type": "string", "format": "date-tiem"}}')
    done = run(folder, "check", "format.json", "--text", "[]")
    said = (
        "the format `date-tiem` (at /items) is not known to JSON Schema, so it asserts nothing; did you mean date-time?"
    )
    assert done.stderr == f"warning: {said}\n"
    found = [{"pointer": "/items", "format": "date-tiem", "suggestion": "date-time"}]
    for args in (["inspect"], ["check", "--text", "[]"], ["compile", "-t", "bytes", "-o", "a.ilk"]):
        assert machine(folder, args[0], "format.json", *args[1:])["unknown_formats"] == found
    assert "did you mean date-time?" in run(folder, "inspect", "format.json", "--quiet").stdout
    run(folder, "precompute", "format.json", "-t", "bytes", "-o", "formats")
    assert json.loads((folder / "formats" / "report.jsonl").read_text())["notes"] == [said]


def test_a_draft_that_is_none_is_warned_of(folder):
    (folder / "draft.json").write_text('{"$schema": "draft-07", "type": "object"}')
    meant = "http://json-schema.org/draft-07/schema#"
    for args in (["inspect"], ["check", "--text", "{}"], ["compile", "-t", "bytes", "-o", "a.ilk"]):
        said = run(folder, args[0], "draft.json", *args[1:]).stderr
        assert "`$schema` names no draft" in said and said.endswith(f"did you mean {meant}?\n"), said
        found = machine(folder, args[0], "draft.json", *args[1:])["unknown_drafts"]
        assert found == [{"pointer": "", "schema": "draft-07", "suggestion": meant}]
    assert run(folder, "check", "draft.json", "--text", "{}", "--unknown-keywords", "ignore").stderr == ""
    done = run(folder, "check", "draft.json", "--text", "{}", "--unknown-keywords", "error", code=3)
    assert f"did you mean {meant}?" in done.stderr
    wrapped = {"type": "json_schema", "json_schema": {"name": "order", "strict": True, "schema": ORDER}}
    (folder / "envelope.json").write_text(json.dumps(wrapped))
    done = run(folder, "check", "envelope.json", "bad.json", code=1)
    assert "json_schema.schema" in done.stderr and "below minimum 1" in done.stdout
    assert machine(folder, "inspect", "envelope.json")["fingerprint"] != ""
    assert run(folder, "inspect", "envelope.json", "--no-unwrap", code=3).stderr.startswith("interlock: SchemaError")


def test_refused_sources(folder):
    error = machine(folder, "inspect", 'schema:{"properties": {"a": {"type": "strin"}}}', code=3)["error"]
    assert (error["type"], error["pointer"], error["keyword"]) == ("SchemaError", "/properties/a", "type")
    error = machine(folder, "inspect", "pattern:a(b", code=3)["error"]
    assert (error["type"], error["offset"]) == ("PatternError", 1)
    unsupported = run(folder, "inspect", r"pattern:(a)\1", code=3)
    assert "UnsupportedError" in unsupported.stderr and "try:" in unsupported.stderr and not unsupported.stdout


def test_wrong_arguments(folder):
    for args, word in (
        (["inspect", "order"], "no file is named 'order'"),
        (["inspect", "order.json", "--limit", "max_dept=3"], "max_depth"),
        (["check", "order.json"], "--text"),
        (["nonsense"], "nonsense"),
    ):
        assert word in machine(folder, *args, code=2)["error"]["message"]
    assert machine(folder, "inspect", "order", code=2)["error"]["remedy"] == "did you mean order.json?"
    assert "missing.json" in machine(folder, "inspect", "missing.json", code=4)["error"]["message"]
    # Classes of Python are for programs; those of the engine say what kind of source was refused.
    said = run(folder, "inspect", "missing.json", code=4).stderr
    assert said.startswith("interlock: missing.json: No such file or directory\n")
    assert run(folder, "check", "order.json", code=2).stderr.startswith("interlock: there is nothing to check")
    assert run(folder, "inspect", "pattern:a(", code=3).stderr.startswith("interlock: PatternError: ")
    said = run(folder, "precompute", "order.json", "-t", "bytes", "-o", "/proc/store", code=4).stderr
    assert "cannot open the store /proc/store: No such file or directory\n" in said, said
    said = run(folder, "compile", "order.json", "-t", "bytes", "-o", "/proc/a.index", code=4).stderr
    assert "cannot write /proc/a.index" in said and "os error" not in said, said
    assert machine(folder, "inspect", "wrapped.json", "--schema-key", "x", code=2)["error"]["type"] == "UsageError"


def test_inputs_that_are_not_supported(folder):
    """They are inputs, not sources: no option of compiling makes them usable."""
    words = {"model": {"type": "WordPiece", "vocab": {"a": 0}}, "decoder": {"type": "WordPiece", "prefix": "##"}}
    (folder / "tokenizer.json").write_text(json.dumps(words))
    for args, word in (
        (["check", "order.json", "good.json", "-t", "tokenizer.json", "--eos", "1"], "WordPiece"),
        (["vocab", "tokenizer.json", "--eos", "1"], "WordPiece"),
        (["verify", "nowhere://store"], "nowhere://store"),
        (["precompute", "order.json", "-t", "bytes", "-o", "nowhere://store"], "nowhere://store"),
    ):
        error = machine(folder, *args, code=4)["error"]
        assert error["type"] == "InputError" and word in error["message"] and "remedy" not in error


def test_refused_grammars(folder):
    """With line, column, excerpt and caret, once."""
    (folder / "bad.lark").write_text('start: a\na: "é" nme\nname: "x"\n')
    done = run(folder, "inspect", "bad.lark", code=3)
    assert done.stderr.count("nme") == 2 and 'did you mean "name"?' in done.stderr
    assert "\n  bad.lark:2:8:\n" in done.stderr and "\n" + " " * 17 + "^" in done.stderr
    error = machine(folder, "inspect", "bad.lark", code=3)["error"]
    assert (error["type"], error["line"], error["column"]) == ("GrammarError", 2, 8) and "\n" not in error["message"]
    assert "grammar:" in run(folder, "inspect", 'root ::= "a"', code=2).stderr


def test_numbers_that_say_nothing_are_refused(folder):
    for arguments in (["sample", "order.json", "-n", "-3"], ["bench", "order.json", "--walks", "0"]):
        assert "must be at least 1" in run(folder, *arguments, code=2).stderr
    assert "must be a whole number" in run(folder, "sample", "order.json", "-n", "x", code=2).stderr


def test_an_empty_file_is_no_tokenizer(folder):
    (folder / "empty.json").write_bytes(b"")
    said = run(folder, "compile", "order.json", "-t", "empty.json", "-o", "a.index", code=4).stderr
    assert "empty.json is empty: it should hold a tokenizer" in said
    assert said.endswith("try: the tokenizer.json in the model's folder\n") and not (folder / "a.index").exists()


def test_the_standard_input_is_read_once(folder):
    said = run(folder, "diff", "schema:@-", "schema:@-", stdin="true", code=2).stderr
    assert "the standard input is named twice, and can be read once\n  try: a file for one of the two" in said
    for args in (["check", "-", "-"], ["diff", "-", "-"], ["trace", "-", "-"]):
        said = run(folder, *args, stdin="true", code=2).stderr
        assert said.endswith("can be read once\n  try: a file for the source, and - for the other\n")


def test_options_that_fit_one_of_two_sources(shelf):
    run(shelf, "diff", "word.regex", "order.json", "--flags", "a", "--whitespace", "compact", code=1)
    run(shelf, "check", "order.json", "good.json", "--whitespace", "flexible", "--formats", "assert")


def test_options_before_the_command(folder):
    assert json.loads(run(folder, "--json", "inspect", "order.json").stdout)["kind"] == "json_schema"
    assert (
        json.loads(run(folder, "-q", "--json", "check", "pattern:a", "--text", "b", code=1).stdout)["accepted"] is False
    )
    assert json.loads(run(folder, "--json").stdout)["help"].startswith("interlock")
    assert run(folder, "-V").stdout == run(folder, "--version").stdout == f"interlock {interlock.__version__}\n"


def test_what_is_missing_has_a_remedy_for_machines(folder):
    error = machine(folder, "check", code=2)["error"]
    assert (error["type"], error["remedy"]) == ("UsageError", "interlock check SOURCE [FILE ...]")
    assert (
        machine(folder, "inspect", "order.json", "--nothing", code=2)["error"]["remedy"] == "interlock inspect --help"
    )


@pytest.mark.parametrize("option", [("--flags", "i"), ("--whitespace", "compct"), ("--limit", "foo=3")])
@pytest.mark.parametrize("document", ['{"id": 7, "item": "tea"}', '{"type": "string"}'])
def test_a_wrong_option_is_not_taken_for_a_swap(folder, option, document):
    (folder / "answer.json").write_text(document)
    said = run(folder, "check", "order.json", "answer.json", *option, code=2).stderr
    assert option[0] in said and "the source comes first" not in said


@pytest.mark.parametrize(
    "document",
    ['{"id": 7, "item": "tea"}', '{"title": "Dune", "description": "x"}', '{"name": "a", "default": 3}'],
)
def test_annotations_alone_make_no_schema(folder, document):
    (folder / "answer.json").write_text(document)
    for command in (["inspect"], ["check", "--text", "1"], ["compile", "-t", "bytes", "-o", "a.index"]):
        said = run(folder, command[0], "answer.json", *command[1:], code=3).stderr
        assert "would accept everything: none of its keys" in said and "asserts something" in said
        assert "try: --take-all" in said
    assert "the source comes first" in run(folder, "check", "answer.json", "order.json", code=2).stderr
    assert run(folder, "check", "answer.json", "--take-all", "--text", "1", "--quiet").stderr == ""
    said = run(folder, "precompute", "answer.json", "-t", "bytes", "-o", "store", code=4).stderr
    assert "was left out: none of its keys" in said
    for schema in ("{}", "true", '{"title": "x", "$ref": "#/$defs/a", "$defs": {"a": {}}}'):
        run(folder, "inspect", f"schema:{schema}")


def test_a_limit_that_goes_no_further(folder):
    (folder / "deep.json").write_text('{"items":' * 3000 + "{}" + "}" * 3000)
    said = run(folder, "inspect", "deep.json", "--limit", "max_depth=6000", code=3).stderr
    assert "try: a smaller source: 2000 is as far as --limit goes here" in said
    assert "try: --limit max_depth=N raises it, up to 2000\n" in run(folder, "inspect", "deep.json", code=3).stderr
    groups = run(folder, "inspect", "pattern:" + "(" * 1500 + "a" + ")" * 1500, code=3).stderr
    assert "try: --limit max_depth=N raises it, up to 10000\n" in groups


def test_inspect_lists_what_every_schema_has_last(folder):
    said = run(folder, "inspect", "order.json").stdout
    assert "report: 1 row of this source, and 3 that every schema has" in said
    rows = said.partition("enforcement ")[2].splitlines()[1:]
    assert "/properties/count" in rows[0]
    assert [row.split()[2] for row in rows[1:]] == ["whitespace", "property_order", "numbers"]
    for limit in ((), ("--limit", "max_flat_states=300000")):
        assert '\nshortest text:  "{\\"item\\":\\"\\"}"\n' in run(folder, "inspect", "order.json", *limit).stdout


def test_words_that_other_commands_know(folder):
    assert "130, 143  Ctrl-C" in run(folder, "help", "exit-codes").stdout
    assert "--version" in run(folder, "version", code=2).stderr
    assert "did you mean o.mmd?" in run(folder, "draw", "order.json", "-o", "o.mermaid", code=2).stderr
    assert "did you mean o.html?" in run(folder, "draw", "order.json", "-o", "o.htlm", code=2).stderr
    assert not list(folder.glob("o.m*"))
    assert "--max-tokens" in run(folder, "trace", "order.json", "good.json", "--max-tokens", "3", code=2).stderr


def test_plausible_prices_and_keys(folder):
    price = {"type": "number", "multipleOf": 0.01, "minimum": 0}
    drawn = machine(folder, "sample", f"schema:{json.dumps(price)}", "-n", "20")["samples"]
    assert all(sample["confirmed"] for sample in drawn)
    assert sum("." in sample["text"] for sample in drawn) > 10
    for names in ({"minLength": 8}, {"maxLength": 2}, {"pattern": "^[A-Z]"}, {"pattern": "^x-"}):
        schema = {"type": "object", "propertyNames": names, "additionalProperties": {"type": "null"}}
        word = f"schema:{json.dumps(schema | {'minProperties': 1})}"
        for sample in machine(folder, "sample", word, "-n", "10")["samples"]:
            assert all(any(c.isalnum() for c in key) for key in json.loads(sample["text"])), sample
