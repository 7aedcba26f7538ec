"""Mistakes in sources, files and arguments of the command line: each message says what, where, and what to do next.
``MISTAKES`` has a row for each that needs no file of its own.
"""

import gzip
import json
import re

import pytest
from command_line import machine, run

CUT_OFF = "if it was cut off, as by a download that broke, get the whole file again"


#: Command lines: the arguments, the exit code, and what the message says.
MISTAKES = [
    (
        ["check", "good.json", "order.json"],
        2,
        "order.json is one: the source comes first, interlock check order.json good",
    ),
    (["check", "text.txt", "order.json"], 2, "text.txt is no source, and order.json is one: the source comes first"),
    (["check", "text.txt", "word.regex"], 2, "the source comes first, interlock check word.regex text.txt"),
    (["check", "good.json", "word.regex"], 2, "the source comes first, interlock check word.regex good.json"),
    (["trace", "good.json", "order.json"], 2, "the source comes first, interlock trace order.json good.json"),
    (["check", "order.json", '{"item": "tea"}'], 2, "is no file; the output itself is given with --text"),
    (["check", "word.regex", "tea"], 2, "'tea' is no file; the output itself is given with --text 'tea'"),
    (["trace", "order.json", "[1]"], 2, "is no file; the output itself is given with --text '[1]'"),
    (["check", "order.json", "goood.json"], 4, "did you mean good.json?"),
    (
        ["inspect", "order.json", "--flags", "i"],
        2,
        "--flags is for a pattern, and order.json is a JSON Schema: leave it out",
    ),
    (["inspect", "order.json", "--dialect", "python"], 2, "--dialect is for a pattern"),
    (["inspect", "order.json", "--syntax", "lark"], 2, "--syntax is for a grammar"),
    (["inspect", "order.json", "--start", "x"], 2, "--start is for a grammar"),
    (["inspect", "order.json", "--import", "a=b"], 2, "--import is for a grammar"),
    (
        ["inspect", "word.regex", "--whitespace", "compact"],
        2,
        "--whitespace is for a JSON Schema, and word.regex is a pattern",
    ),
    (["inspect", "word.regex", "--whitespace", "flexible"], 2, "--whitespace is for a JSON Schema"),
    (
        ["inspect", "choices:a,b", "--property-order", "any"],
        2,
        "--property-order is for a JSON Schema, and choices:... is",
    ),
    (["inspect", "word.regex", "--no-unwrap"], 2, "--no-unwrap is for a JSON Schema"),
    (["inspect", "word.regex", "--schema-key", "x"], 2, "--schema-key is for a JSON Schema"),
    (
        ["inspect", "list.gbnf", "--formats", "annotate"],
        2,
        "--formats is for a JSON Schema, and list.gbnf is a grammar",
    ),
    (
        ["inspect", "tag.json", "--spelling", "plain"],
        2,
        "--spelling is for a JSON Schema, and tag.json is a structural tag",
    ),
    (
        ["diff", "word.regex", "word.regex", "--document", "a=b"],
        2,
        "--document is for a JSON Schema, and each of the two is",
    ),
    (
        ["precompute", "schemas", "-t", "bytes", "-o", "s", "--flags", "i"],
        2,
        "--flags is for a pattern, and each source in",
    ),
    (["draw", "order.json", "-o", "a.svg", "--max-states", "9"], 2, "--max-states is for automata: leave it out"),
    (
        ["inspect", "order.json", "--size", "300"],
        2,
        "--eos and --size say what a tokenizer file leaves open, and bytes is no file",
    ),
    (
        ["inspect", "order.json", "--eos", "3"],
        2,
        "--eos and --size say what a tokenizer file leaves open, and bytes is no file",
    ),
    (["inspect", "regex:"], 2, "no text follows 'regex:'\n  try: pattern:'[a-z]+', or pattern:@FILE"),
    (["inspect", "pattern:"], 2, "no text follows 'pattern:'"),
    (["inspect", "choices:"], 2, "no text follows 'choices:'\n  try: choices:yes,no, or choices:@FILE"),
    (["inspect", "schema:"], 2, "no text follows 'schema:'"),
    (["inspect", "schema:@"], 2, "no name of a file follows 'schema:@'"),
    (["inspect", "regex:a("], 3, "missing ), unterminated subpattern"),
    (["inspect", "list.gbnf", "--syntax", "lark"], 3, "it looks like GBNF, and is read as Lark's notation (--syntax)"),
    (
        ["inspect", "order.index", "--whitespace", "compact"],
        2,
        "--whitespace cannot change order.index: it is compiled already",
    ),
    (["inspect", "order.index", "--limit", "max_depth=3"], 2, "--limit cannot change order.index"),
    (["inspect", "vocabulary.ilk"], 4, "vocabulary.ilk is a vocabulary and no index: give it with --tokenizer"),
    (["inspect", "torn.index"], 4, "torn.index is"),
    (["inspect", 'schema:{"$ref": "nowhere"}'], 3, "--document URI=FILE gives a schema that $ref may reach"),
    (
        ["inspect", "schema:" + '{"not":' * 30 + "{}" + "}" * 30, "--limit", "max_depth=5"],
        3,
        "--limit max_depth=N raises it",
    ),
    (
        ["sample", "schemas"],
        4,
        "schemas is a folder: name a file in it\n  try: interlock inspect looks at all sources of a folder",
    ),
    (["inspect", "order.json", "--foo"], 2, "try: interlock inspect --help"),
    (["inspect", "pattern:a", "--dialect", "js"], 2, "try: did you mean ecma?"),
    (["inspect", "list.gbnf", "--syntax", "llama.cpp"], 2, "try: did you mean gbnf?"),
    (["check", "https://example.org/order.json", "good.json"], 4, "try: a file: nothing is fetched here"),
    (["check", "order.json", "http://example.org/good.json"], 4, "try: a file: nothing is fetched here"),
    (
        ["precompute", "schema", "-t", "bytes", "-o", "a"],
        4,
        "no such file or folder: schema\n  try: did you mean schemas?",
    ),
    (["precompute", "xyzzy", "-t", "bytes", "-o", "a"], 4, "folder: xyzzy\n  try: check the spelling of the path"),
    (["sample", "order.json", "--seed", "x"], 2, "--seed: must be a whole number, not 'x'"),
    (["sample", "order.json", "-n", "0"], 2, "must be at least 1, not 0"),
    (["bench", "order.json", "--repeat", "1.5"], 2, "must be a whole number, not '1.5'"),
    (["vocab", "vocabulary.ilk", "--token", "-1"], 2, "must be at least 0, not -1"),
    (["inspect", "order.json", "-t", "vocabulary.ilk", "--size", "0"], 2, "must be at least 1, not 0"),
    (
        ["check", "order.json"],
        2,
        "there is nothing to check: give FILE, --text or --ids\n  try: interlock check order.json FILE",
    ),
    (["check", "order.json", "good.json", "--text", "x"], 2, "you gave both FILE and --text; give one of them"),
    (["trace", "order.json"], 2, "there is nothing to trace: give FILE, --text, --ids or --logprobs"),
    (
        ["verify", "order.json"],
        4,
        "order.json is no index file and no folder: a store is a folder that interlock precompute wrote\n  try: ",
    ),
    (["verify", "schemas"], 4, "schemas is no store, it holds no packs: a store is a folder that interlock precompute"),
    (["verify", "schemas"], 4, "try: interlock precompute schemas -t FILE -o STORE"),
    (["verify", "nothing"], 4, "try: check the spelling of the path"),
    (
        ["precompute", "order.json", "-t", "bytes", "-o", "good.json"],
        4,
        "it is a file, and a store is a folder\n  try: ",
    ),
    (["sample", "grammar:start: <|x|>"], 4, "--tokenizer FILE gives the model's vocabulary"),
    (["compile", "order.json", "-t", "bytes", "-o", "schemas"], 4, "schemas: is a folder, not a file\n  try: name"),
    (["draw", "order.json", "-o", "schemas"], 4, "schemas: is a folder, not a file\n  try: name a file in it"),
    (["trace", "order.json", "good.json", "-o", "schemas"], 4, "schemas: is a folder, not a file\n  try: name a file"),
    (["trace", "order.json", "schemas"], 4, "schemas: Is a directory\n  try: name a file in it"),
    (["draw", "order.json", "-o", "a.png"], 2, "the name must end in .svg, .html, .mmd, .dot"),
    (["draw", "list.gbnf", "-o", "a.svg", "--form", "jumps"], 2, "a grammar has no finite automaton; leave it out"),
    (["help", "chek"], 2, "no command is named 'chek'\n  try: did you mean check?"),
    (["help", "xyzzy"], 2, "no command is named 'xyzzy'\n  try: there are check, inspect"),
    (["help", "lint"], 2, "did you mean inspect?"),
    (["validate", "order.json"], 2, "no command is named 'validate'\n  try: did you mean check?"),
    (["explain"], 2, "did you mean check?"),
    (["lint"], 2, "did you mean inspect?"),
    (["walk"], 2, "did you mean check?"),
    (["inspect", "order.json", "--whitespac", "compact"], 2, "did you mean --whitespace?"),
    (["draw", "order.json", "-o", "a", "--forma", "dot"], 2, "did you mean --format?"),
    (["draw", "order.json", "-o", "a", "--format", "htlm"], 2, "did you mean html?"),
    (["draw", "order.json", "-o", "-"], 2, "-o - has no ending that says the format"),
    (["draw", "order.json", "-o", "a.svg", "--format", "dot"], 2, "a.svg ends in .svg, and --format says dot"),
    (["draw", "order.json", "-o", "-", "--format", "dot", "--json"], 2, ""),
    (["compile", "order.json", "-t", "bytes", "-o", "-"], 2, "- is the standard output, and this is written to a file"),
    (["compile", "order.json", "-t", "bytes", "-o", "/dev/stdout"], 2, "try: the name of a file"),
    (["vocab", "bytes", "-o", "-"], 2, "- is the standard output, and this is written to a file"),
    (
        ["sample", "order.json", "--length", "9"],
        2,
        "--length is for wild examples: leave it out\n  try: --wild --length 9",
    ),
    (
        ["inspect", 'grammar:start: "a" _NEWLINE _INDENT "b" _DEDENT\n%declare _INDENT _DEDENT\n_NEWLINE: /\\n */'],
        3,
        "indentation needs --lexer contextual",
    ),
    (["sample", "order.json", "--most", "9"], 2, "--most is for wild examples"),
    (
        ["draw", "order.json", "-o", "a.svg", "--form", "states", "--max-states", "9"],
        3,
        "try: --max-states 710 draws it; --form s",
    ),
    (
        ["draw", "order.json", "-o", "a.svg", "--form", "jumps", "--limit", "max_flat_states=9"],
        3,
        "the automaton of order.json is too large to draw: more than 9 states\n  try: --form structure",
    ),
    (["compile", "order.json"], 2, "try: interlock compile SOURCE -t FILE -o FILE"),
    (["vocab", "gpt2"], 4, "no file is named gpt2; a tokenizer is a file, and not the name of a model"),
    (["inspect", "order.json", "-t", "Qwen2.5-7B"], 4, "from_tokenizer(tiktoken.get_encoding(...)).save"),
    (["inspect", "order.json", "-t", "vocabulari.ilk"], 4, "did you mean vocabulary.ilk?"),
    (["vocab", "schemas"], 4, "schemas is a folder without a tokenizer\n  try: name the file: tokenizer.json"),
    (["vocab", "bytes", "--token", "300"], 2, "the ids of this vocabulary are 0 to 256"),
    (["check", "order.json", "--ids", "300"], 2, "no token has the id 300"),
    (["check", "[a-z]+", "--text", "abc"], 2, "interlock: no file is named '[a-z]+'\n  try: pattern:'[a-z]+' for"),
    (["check", "yes,no", "--text", "no"], 2, "try: choices:yes,no for choices"),
    (["check", "blah", "--text", "abc"], 2, "what it is: pattern:blah, choices:blah or"),
    (["inspect", 'choices:["a"'], 3, "the choices begin as a JSON array, and are none"),
    (["inspect", "choices:[1]"], 3, "something else than strings"),
    (["vocab", "x.tiktoken"], 4, "\n  try: --eos IDS, the ids that end an output"),
    (["check", "", "--text", "a"], 2, "interlock: the source is empty\n  try: a file, or text"),
    (["check", "-", "good.json"], 2, "try: schema:@-, pattern:@-"),
    (["check", "pattern:-a", "--text", "-a"], 2, "one that begins with - is written --text=-..."),
    (["check", "order.json", "nope.json"], 4, "try: check the spelling of the path"),
    (["check", "order.json", "no/*.json"], 4, "try: check the spelling of the glob, or name the file itself\n"),
    (["check", "--", "order.json", "-nope.json"], 4, "-nope.json: No such file or directory"),
    (["verify", "--", "-a", "-b"], 2, "too many arguments: -b"),
    (["inspect", "order.jsn"], 2, "did you mean order.json?"),
    (["trace", "order.json", "good.json", "bad.json"], 2, "too many arguments: bad.json"),
    (["check", "order.json", "good.json", "bad.json", "--trace"], 2, "--trace shows one document"),
    (["check", "order.json", "--text", "1", "--text", "2", "--bytes"], 2, "--bytes shows one document"),
    (["check", "order.json", "--text", "1", "--lines"], 2, "--lines is for a FILE"),
    (["check", "order.json", "good.json", "god.json"], 4, "did you mean good.json?"),
    (["check", "order.json", "good.json", '{"a": 1}'], 2, "is no file; the output itself is given with --text"),
    (["trace", "order.json", "good.json", "-o", "-", "--json"], 2, ""),
    (["vocab", "bytes", "--eos", "3"], 2, "--eos and --size say what a tokenizer file leaves open"),
    (["--tokenizer", "bytes", "inspect", "order.json"], 2, "--tokenizer stands before the command"),
    (["inspect", "order.json", "--whitespace", "["], 3, "    [\n    ^\n  try: --whitespace takes flexible"),
    (["inspect", "pattern:@latin.txt"], 4, "pattern:@latin.txt is not UTF-8 (at byte 1)"),
    (["inspect", "list.gbnf", "--syntax", "lark"], 3, "leave out --syntax"),
    (["version"], 2, "did you mean --version?"),
    (["check", "order.json", "good.json", "--vocab", "a"], 2, "did you mean --tokenizer?"),
    (["sample", "order.json", "--num=3"], 2, "did you mean --count?"),
    (["check", "order.json", "good.json", "--no-color"], 2, "NO_COLOR=1 before the command turns colours off"),
    (["check", "order.json", "good.json", "--verbose"], 2, "unrecognized arguments: --verbose\n  try: interlock check"),
    (["completion"], 2, "try: interlock completion SHELL"),
    (["compile", "order.json", "-t", "bytes", "-o", ""], 2, "--out is empty; where it is a variable of the shell"),
    (["check", "order.json", ""], 2, "FILE is empty"),
    (["vocab", "bytes", "--containing", ""], 2, "every token has the empty text in it"),
    (["vocab", ""], 2, "the name of the tokenizer file is empty"),
    (["verify", ""], 2, "STORE is empty"),
    (["check", "--foo"], 2, "unrecognized arguments: --foo"),
    (["check", "--whitespce", "compact"], 2, "did you mean --whitespace?"),
    (["inspect", "schema:@binary.txt"], 4, "is a binary file, and no text in UTF-8"),
    (["inspect", "schema:@latin.txt"], 4, "is not UTF-8 (at byte 1)\n  try: save it as UTF-8"),
    (["inspect", "schema:@empty.txt"], 3, "is empty: it should hold a JSON Schema"),
    (["inspect", "grammar:@empty.txt"], 3, "is empty: it should hold a grammar"),
    (["inspect", "tag:@empty.txt"], 3, "is empty: it should hold a structural tag"),
    (["trace", "order.json", "--logprobs", "binary.txt"], 4, "--logprobs: the file is not JSON"),
    (["trace", "order.json", "--logprobs", "good.json"], 4, "try: ask the API for logprobs"),
    (["trace", "pattern:a*", "long.txt"], 4, "the output has 10001 tokens, and a page shows 10000 at most"),
    (["inspect", "word.regex", "--take-all"], 2, "--take-all is for a JSON Schema"),
    (
        ["--install-completion"],
        2,
        "unrecognized arguments: --install-completion\n  try: interlock completion bash, zsh",
    ),
    (
        ["--show-completion", "zsh"],
        2,
        "unrecognized arguments: --show-completion\n  try: interlock completion bash, zsh",
    ),
    (["check", "--install-completion"], 2, "try: interlock completion bash, zsh or fish prints the script"),
    (["sample", "order.json", "-o", "a.jsonl"], 2, "try: the result is on the standard output: > FILE"),
    (["compile", "order.json", "-t", "bytes", "--ou", "a"], 2, "did you mean --out?"),
    (["inspect", "schema:@-"], 3, "the standard input is empty: it should hold a JSON Schema\n  try: {} is"),
    (["inspect", "grammar:@-"], 3, "the standard input is empty: it should hold a grammar\n  try: start:"),
    (["inspect", "tag:@-"], 3, "the standard input is empty: it should hold a structural tag\n  try: tag:"),
    (["inspect", "choices:@-"], 3, "one choice on each line"),
    (
        ["check", "order.json", "--lines", "-"],
        4,
        "no document in the standard input: every line is blank\n  try: a doc",
    ),
    (["inspect", "schema:@packed.gz"], 4, "is a binary file, and no text in UTF-8 (at byte 1)\n  try: a file of text;"),
    (["inspect", "tag:{"], 3, "StructuralTagError: the structural tag is not JSON: "),
    (["inspect", "order.json", "--whitespace", "["], 3, "(at offset 0)\n  line 1, column 1:\n    [\n"),
    (["inspect", "pattern:a{99999999999}"], 3, "try: a smaller count, or none: a{9,}"),
    (
        ["compile", "order.json", "-t", "bytes", "-o", "/dev/null"],
        4,
        "is no regular file\n  try: name a file; a device",
    ),
    (["compile", "order.json", "-t", "order.json", "-o", "a"], 4, "try: the tokenizer.json in the model's folder"),
    (["compile", "order.json", "-t", "text.txt", "-o", "a"], 4, "try: the tokenizer.json in the model's folder"),
    (["vocab", "cut.json"], 4, CUT_OFF),
    (["precompute", "-", "-t", "bytes", "-o", "store"], 2, "cannot be read by several processes\n  try: a .jsonl file"),
    (["trace", "order.json", "good.json", "-o", "a.svg"], 2, "the name must end in .html\n  try: -o trace.html"),
    (["trace", "order.json", "--logprobs", "text.txt"], 4, "try: save the response as it came, whole"),
]


@pytest.mark.parametrize(("args", "code", "words"), MISTAKES, ids=[" ".join(args)[:60] for args, _, _ in MISTAKES])
def test_mistakes(shelf, args, code, words):
    (shelf / "cut.json").write_text('{"version": "1.0", "model": {"vocab": {"a": 0')
    (shelf / "packed.gz").write_bytes(gzip.compress(b"{}" * 99))
    done = run(shelf, *args, code=code)
    assert words in done.stderr + done.stdout, done.stderr
    assert not re.search(r"Traceback|_core|Index\.|Limits\.|`documents`|on_unsupported=", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ('{"type": "object",\n "requi', ':2:8:\n      2 |  "requi\n                 ^\n', "inside a string"),
        (
            '{"type": "object"\n',
            ':1:18:\n    {"type": "object"\n                     ^\n',
            "inside the object that begins",
        ),
        ('{"enum": [1,2', ':1:14:\n    {"enum": [1,2\n                 ^\n', "inside the array that begins at line 1"),
    ],
)
def test_a_schema_that_ends_too_early(folder, text, place, said):
    (folder / "cut.json").write_text(text)
    shown = run(folder, "inspect", "cut.json", code=3).stderr
    assert f"cut.json{place}" in shown and said in shown and CUT_OFF in shown, shown
    assert CUT_OFF not in run(folder, "inspect", "schema:{", code=3).stderr


def test_a_key_that_is_there_twice(folder):
    (folder / "twice.json").write_text('{"type": "object",\n "minProperties": 1,\n "type": "array"}')
    assert run(folder, "inspect", "twice.json", code=3).stderr == (
        'interlock: SchemaError: key "type" occurs twice in one object\n'
        "  twice.json:3:2:\n"
        '      3 |  "type": "array"}\n'
        "           ^~~~~~\n"
        "  it stands first at line 1, column 2\n"
        "  try: leave out one of the two\n"
    )
    inside = machine(folder, "inspect", 'schema:{"not": {"a": 1, "b": {}, "a": 2}}', code=3)["error"]
    assert (inside["line"], inside["column"]) == (1, 27)
    assert inside["notes"] == ["it stands first at line 1, column 10"]


def test_posix_classes_are_named(folder):
    done = run(folder, "check", "pattern:[[:alpha:]_]+", "--text", "a_]")
    assert done.stderr == (
        "warning: [:alpha:] is no class here, and stands for its single characters; did you mean [A-Za-z_]+?\n"
    )
    schema = {"properties": {"a/b": {"pattern": "^[[:digit:]]$"}, "c": {"pattern": "^[:digit:]$"}}}
    said = run(folder, "inspect", f"schema:{json.dumps(schema)}").stderr
    assert "did you mean ^[0-9]$? (at /properties/a~1b)\n" in said and "(at /properties/c)\n" in said
    assert run(folder, "inspect", "pattern:[a-z:]", "--quiet").stderr == ""
    assert run(folder, "inspect", "pattern:[[:alpha:]]", "--quiet").stderr == ""


SLIP = 'schema:{"type": "string", "minLenght": 3}'


def test_slips_are_an_error_where_that_is_asked_for(folder):
    error = machine(folder, "check", SLIP, "--text", '"a"', "--unknown-keywords", "error", code=3)["error"]
    assert (error["type"], error["keyword"], error["column"]) == ("SchemaError", "minLenght", 20)
    assert "did you mean minLength?" in error["message"]
    assert run(folder, "check", SLIP, "--text", '"a"', "--unknown-keywords", "ignore").stderr == ""
    assert "minLength?" in run(folder, "check", SLIP, "--text", '"a"', "--unknown-keywords", "warn").stderr
    assert run(folder, "check", "order.json", "good.json", "--unknown-keywords", "error").stderr == ""
    for command in (["inspect"], ["sample"], ["compile", "-t", "bytes", "-o", "a.index"], ["draw", "-o", "a.svg"]):
        run(folder, command[0], SLIP, *command[1:], "--unknown-keywords", "error", code=3)
    said = run(folder, "check", SLIP, "--strict", code=2).stderr
    assert "did you mean --unknown-keywords error?" in said


def test_a_posix_class_is_a_slip(folder):
    source = 'schema:{"type": "string", "pattern": "^[[:alpha:]]+$"}'
    for way, code, said in (("ignore", 0, ""), ("warn", 0, "warning: [:alpha:]"), ("error", 3, "keyword pattern")):
        stderr = run(folder, "inspect", source, "--unknown-keywords", way, code=code).stderr
        assert said in stderr and bool(stderr) is bool(said)


def test_slips_in_a_store(folder):
    """What was refused for a slip is compiled by a run that takes slips, and refused again by one that does not."""
    (folder / "slip.json").write_text(SLIP.removeprefix("schema:"))
    args = ["precompute", "slip.json", "-t", "bytes", "-o", "store"]
    for way, code in (("error", 1), ("warn", 0), ("error", 1)):
        run(folder, *args, "--unknown-keywords", way, code=code)
        row = json.loads((folder / "store" / "report.jsonl").read_text())
        assert row["ok"] is (code == 0) and ("minLength?" in json.dumps(row))
    run(folder, *args[:-1], "other", "--unknown-keywords", "ignore")
    assert "notes" not in json.loads((folder / "other" / "report.jsonl").read_text())


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ('{"type": "object" "properties": {}}', "write a comma before it"),
        ('{"enum": [1 2]}', "write a comma before it"),
        ('{"type": "object"}}', "leave out this }"),
        ('{type: "object"}', 'write "type", in double quotes'),
        ('{"type" "object"}', "write : before it"),
        ('{"type" = "object"}', "write : for ="),
        ('"type": "object"', "write { before the first key"),
        ("<!DOCTYPE html><p>", "this is a page of HTML or XML"),
    ],
)
def test_json_that_is_slightly_wrong_has_a_way_on_as_a_schema_and_as_a_document(tmp_path, text, way):
    (tmp_path / "a.json").write_text(text)
    assert f"try: {way}" in run(tmp_path, "inspect", "a.json", code=3).stderr
    done = run(tmp_path, "check", "schema:true", "a.json", code=1)
    assert f"try: {way}" in done.stdout


def test_two_schemas_in_a_file_are_one_too_many(tmp_path):
    (tmp_path / "a.json").write_text('{"type": "integer"}\n{"type": "string"}\n')
    assert "try: one schema: interlock precompute takes several" in run(tmp_path, "inspect", "a.json", code=3).stderr


@pytest.mark.parametrize("ids", ["53,54", "53, 54,", "53 54", "[53, 54]"])
def test_ids_may_be_pasted_as_programs_print_them(tmp_path, ids):
    assert machine(tmp_path, "check", "pattern:56", "--ids", ids, "-t", "bytes")["accepted"]
    assert "is no token id" in run(tmp_path, "check", "pattern:56", "--ids", f"{ids}x", "-t", "bytes", code=2).stderr


def test_a_store_behind_a_url_with_one_slash_is_no_folder_of_that_name(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    said = run(tmp_path, "precompute", "a.json", "-t", "bytes", "-o", "s3:/bucket/x", code=2).stderr
    assert "try: did you mean s3://bucket/x?" in said and not (tmp_path / "s3:").exists()


def test_a_tokenizer_that_is_no_json_has_a_remedy(tmp_path):
    (tmp_path / "wrong.json").write_text("{'a': 1}")
    assert (
        "try: the tokenizer.json"
        in run(tmp_path, "check", "pattern:a", "--text", "a", "-t", "wrong.json", code=4).stderr
    )
