"""Mistakes in files and arguments of the command line: each message says what, where, and what to do next."""

import gzip
import json

import pytest
from command_line import machine, run

CUT_OFF = "if it was cut off, as by a download that broke, get the whole file again"


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


#: The arguments, the exit code, and what the message says.
MISTAKES = [
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


@pytest.mark.parametrize(("args", "code", "words"), MISTAKES, ids=[" ".join(args) for args, _, _ in MISTAKES])
def test_what_where_and_what_to_do(folder, args, code, words):
    (folder / "text.txt").write_text("tea\n")
    (folder / "cut.json").write_text('{"version": "1.0", "model": {"vocab": {"a": 0')
    (folder / "packed.gz").write_bytes(gzip.compress(b"{}" * 99))
    said = run(folder, *args, code=code).stderr
    assert words in said, said


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
