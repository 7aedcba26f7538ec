"""``precompute --for-server``: a server with its default settings finds in the store what the command put there."""

import json

import pytest

import interlock
from interlock.serving import RequestCompiler
from support.command_line import here

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": SCHEMA}, "end": "</a>"},
}
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": SCHEMA}}]
GRAMMAR = 'start: "a" start | "b"\n'
FILES = {
    "order.json": json.dumps(SCHEMA),
    "tag.json": json.dumps(TAG),
    "tools.json": json.dumps(TOOLS),
    "word.regex": r"\w+\d",
    "answers.choices": "yes\nno\n",
    "list.lark": GRAMMAR,
    "list.gbnf": 'root ::= "a" root | "b"\n',
}
BODIES = {
    "schema": {"guided_json": SCHEMA},
    "response_format": {"response_format": {"type": "json_schema", "json_schema": {"name": "order", "schema": SCHEMA}}},
    "tag": {"response_format": TAG},
    "tools": {"tools": TOOLS},
    "regex": {"guided_regex": r"\w+\d"},
    "choices": {"guided_choice": ["yes", "no"]},
    "lark": {"guided_grammar": GRAMMAR},
    "gbnf": {"guided_grammar": FILES["list.gbnf"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("for_server")
    (path / "sources").mkdir()
    for name, text in FILES.items():
        (path / "sources" / name).write_text(text)
    return path


def filled(folder, store, *more):
    done = here(folder, "precompute", "sources", "-t", "bytes", "-o", store, "--tool-format", "hermes", "--json", *more)
    assert done.returncode == 0, (done.stdout, done.stderr)
    kept = interlock.Store(folder / store)
    (pack,) = (folder / store / "vocabularies").iterdir()
    return RequestCompiler(interlock.Vocabulary.load(pack), format="hermes", store=kept)


def is_hit(compiler, body):
    before = interlock.stats()["store_hits"]
    compiler.compile(body)
    return interlock.stats()["store_hits"] > before


def test_a_server_finds_all_of_them(folder):
    compiler = filled(folder, "store", "--for-server")
    assert {name: is_hit(compiler, body) for name, body in BODIES.items()} == dict.fromkeys(BODIES, True)


def test_newlines_at_the_end_of_a_grammar_make_no_other_source(folder):
    compiler = filled(folder, "store", "--for-server")
    for text in (GRAMMAR, FILES["list.gbnf"]):
        for end in ("", "\n", "\r\n\n"):
            assert is_hit(compiler, {"guided_grammar": text.rstrip("\n") + end}), (text, end)


def test_without_it_a_schema_is_missed(folder):
    compiler = filled(folder, "plain")
    assert not is_hit(compiler, BODIES["schema"]) and not is_hit(compiler, BODIES["regex"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--spelling", "any"], "--spelling any contradicts --for-server: a server's default is plain"),
        (["--whitespace", "flexible"], "--whitespace flexible contradicts --for-server: a server's default is compact"),
        (["--flags", "i"], "--flags i contradicts --for-server: a server's default is a"),
        (["--limit", "max_depth=9"], "--limit contradicts --for-server: a request to a server cannot say it"),
        (["--start", "x"], "--start x contradicts --for-server: a request to a server cannot say it"),
    ],
)
def test_what_contradicts_it_is_a_wrong_argument(folder, options, said):
    done = here(folder, "precompute", "sources", "-t", "bytes", "-o", "no", "--for-server", "--json", *options)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"] == said
    assert not (folder / "no").exists()


def test_what_it_says_anyway_may_be_written(folder):
    filled(folder, "same", "--for-server", "--spelling", "plain", "--whitespace", "compact", "--flags", "a")


def test_a_reference_to_another_file_is_told(folder):
    (folder / "more").mkdir()
    (folder / "more" / "a.json").write_text('{"type": "array", "items": {"$ref": "b.json"}}')
    (folder / "more" / "b.json").write_text('{"type": "integer"}')
    done = here(folder, "precompute", "more", "-t", "bytes", "-o", "more_store", "--for-server", "--json")
    assert done.returncode == 0
    rows = [json.loads(line) for line in (folder / "more_store" / "report.jsonl").read_text().splitlines()]
    assert "no request brings" in str(rows[0]["notes"]) and "notes" not in rows[1]


def test_each_choice_of_tools_is_stored_by_a_run_or_a_request_of_its_own(folder):
    (folder / "sources" / "named.json").write_text(json.dumps({"tools": TOOLS, "tool_choice": "none"}))
    body = {"tools": [*TOOLS, {"type": "function", "function": {"name": "other"}}]}
    (folder / "sources" / "two.json").write_text(json.dumps(body["tools"]))
    compiler = filled(folder, "choices", "--for-server")
    assert is_hit(compiler, body) and not is_hit(compiler, body | {"tool_choice": "required"})
    compiler = filled(folder, "choices", "--for-server", "--tool-choice", "required")
    assert all(is_hit(compiler, body | {"tool_choice": choice}) for choice in ("auto", "required"))
    assert is_hit(compiler, {"tools": TOOLS, "tool_choice": "none"})
