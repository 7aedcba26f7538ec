"""``diff`` of two versions of a tree of schemas: each is read with its own files, one by one and by their folders."""

import json

import pytest
from command_line import machine, run

BASE = "https://example.org/"


@pytest.fixture
def trees(tmp_path):
    """Two trees of the same names; what their schemas refer to differs. Those in ``named`` have an ``$id``."""
    for version, most in (("v1", 3), ("v2", 5)):
        name = {"type": "string", "maxLength": most}
        write(tmp_path / version / "a.json", {"required": ["who"], "properties": {"who": {"$ref": "b.json"}}})
        write(tmp_path / version / "b.json", name)
        write(tmp_path / version / "named" / "a.json", {"$id": f"{BASE}a.json", "items": {"$ref": "b.json"}})
        write(tmp_path / version / "named" / "c.json", {"$id": f"{BASE}c.json", "items": {"$ref": f"{BASE}b.json"}})
        write(tmp_path / version / "named" / "b.json", {"$id": f"{BASE}b.json", **name})
    return tmp_path


def write(path, schema):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema))


def options(words):
    return [part for word in words for part in ("--document", word)]


@pytest.mark.parametrize("source", ["a.json", "named/a.json", "named/c.json"])
def test_each_version_is_read_with_the_files_of_its_own_folder(trees, source):
    pair = [f"v1/{source}", f"v2/{source}"]
    for given in (["v1", "v2"], ["v2", "v1"], ["."], [".", "v1"]):
        found = machine(trees, "diff", *pair, *options(given), code=1)
        assert found["relation"] == "the first accepts less" and "notes" not in found, given
    assert machine(trees, "diff", *pair[::-1], *options(["v1", "v2"]), code=1)["relation"] == "the second accepts less"


@pytest.mark.parametrize("source", ["a.json", "named/a.json", "named/c.json"])
def test_a_version_outside_of_the_given_folder_is_an_error_with_the_whole_command(trees, source):
    pair = [f"v1/{source}", f"v2/{source}"]
    remedy = machine(trees, "diff", *pair, *options(["v1"]), code=2)["error"]["remedy"]
    words = remedy.partition(" takes ")[0].split()
    assert len(words) == 4
    assert machine(trees, "diff", *pair, *words, code=1)["relation"] == "the first accepts less"
    one_for_all = remedy.partition("; or ")[2].partition(",")[0].split()
    found = machine(trees, "diff", *pair, *one_for_all)
    assert found["equal"] and "in the second, $ref leads to v1/" in found["notes"][0]
    said = run(trees, "diff", *pair, *one_for_all)
    assert "  note: in the second, $ref leads to v1/" in said.stdout and not said.stderr


def test_folders_and_files_of_one_uri(trees):
    """``URI=FOLDER`` and ``URI=FILE`` given twice: what lies nearer to the source is its own."""
    pair = ["v1/named/c.json", "v2/named/c.json"]
    for ends in ("", "b.json"):
        given = options([f"{BASE}{ends}=v{i}/named/{ends}" for i in (1, 2)])
        assert machine(trees, "diff", *pair, *given, code=1)["relation"] == "the first accepts less"
    given = options([f"{BASE}b.json=v{i}/named/b.json" for i in (1, 2)])
    said = run(trees, "inspect", f'schema:{{"$ref": "{BASE}b.json"}}', *given, code=2).stderr
    assert f"{BASE}b.json is given v1/named/b.json and v2/named/b.json" in said


def test_that_a_file_of_the_other_tree_is_taken_is_told_beside_the_answer(trees):
    """Where no file beside the source has the name: the answer may be about a tree of which the second is no part."""
    write(trees / "v3" / "c.json", {"$id": f"{BASE}c.json", "items": {"$ref": f"{BASE}b.json"}})
    for folder in ("v1", "."):
        found = machine(trees, "diff", "v1/named/c.json", "v3/c.json", "--document", folder)
        assert found["equal"]
        assert found["notes"] == ["in the second, $ref leads to v1/named/b.json, in the folder of the first"]


def test_a_file_that_only_the_other_tree_has_is_not_taken_in_silence(trees):
    (trees / "v2" / "b.json").unlink()
    found = machine(trees, "diff", "v1/a.json", "v2/a.json", *options(["v1", "v2"]))
    assert found["equal"] and found["notes"] == ["in the second, $ref leads to v1/b.json, in the folder of the first"]
    for more in ([], options(["v1", "v2"])):
        assert results(machine(trees, "diff", "v1", "v2", *more, code=3))["a.json"] == "refused"
    write(trees / "shared" / "b.json", {"type": "string"})  # A folder of neither says nothing.
    for folder in ("v1", "v2"):
        (trees / folder / "b.json").unlink(missing_ok=True)
    assert "notes" not in machine(trees, "diff", "v1/a.json", "v2/a.json", *options(["v1", "v2", "shared"]))


def test_one_file_by_two_names_is_one_document(trees):
    for name, reference, kind in (("x.json", "../v1/b.json", "null"), ("y.json", "b.json", ["null", "integer"])):
        write(trees / "v1" / name, {"properties": {"who": {"$ref": reference}, "n": {"type": kind}}})
    places = machine(trees, "diff", "v1/x.json", "v1/y.json", "--document", "v1", code=1)["differences"]
    assert [row["pointer"] for row in places] == ["/properties/who/$ref", "/properties/n/type"]


def results(found):
    return {file["name"]: file["result"] for file in found["files"]}


def test_two_folders_are_compared_by_the_names_of_their_files(trees):
    write(trees / "v1" / "gone.json", {"type": "null"})
    write(trees / "v2" / "less.json", {"type": "integer"})
    write(trees / "v1" / "less.json", {"type": "number"})
    (trees / "v2" / "new.regex").write_text("[a-z]")
    for version in ("v1", "v2"):
        (trees / version / "broken.json").write_text('{"type": ')
        (trees / version / "other.txt").write_text(version)
        write(trees / version / "kept.json", {"type": "boolean"})
    (trees / "v1" / "both.choices").write_text("a\nb\n")
    (trees / "v2" / "both.choices").write_text("a\nc\n")
    found = machine(trees, "diff", "v1", "v2", code=1)
    wider = dict.fromkeys(("a.json", "b.json", "named/a.json", "named/b.json", "named/c.json"), "wider")
    same = {"kept.json": "same", "broken.json": "same"}
    changed = {"gone.json": "removed", "less.json": "narrower", "new.regex": "added", "both.choices": "different"}
    assert results(found) == wider | same | changed
    assert found["counts"]["wider"] == 5 and not found["ok"]
    lines = [line for line in run(trees, "diff", "v1", "v2", code=1).stdout.splitlines() if line[0] != " "]
    assert len(lines) == len(found["files"]) + 1 and lines[-1].startswith("11 files: 5 wider, 2 same")
    allowed = machine(trees, "diff", "v1", "v2", "--allow", "wider", code=1)
    refused = {file["name"] for file in allowed["files"] if not file["ok"]}
    assert refused == {"gone.json", "less.json", "both.choices"}
    for name in refused:
        (trees / "v1" / name).unlink()
    assert machine(trees, "diff", "v1", "v2", "--allow", "wider")["ok"]
    run(trees, "diff", "v1", "v2", code=1)
    assert machine(trees, "diff", "v2", "v2")["counts"] == {"same": 10}


def test_below_a_file_stand_the_first_places_in_which_its_versions_differ(tmp_path):
    for version, most in (("o", 3), ("n", 5)):
        (tmp_path / version).mkdir()
        for name, number in (("few", 4), ("many", 5)):
            properties = {f"p{n}": {"type": "string", "maxLength": most} for n in range(number)}
            write(tmp_path / version / f"{name}.json", {"properties": properties, "additionalProperties": False})
        (tmp_path / version / "list.lark").write_text('start: "a" x\nx: "b"' + (' | "c"\n' if most == 5 else "\n"))
    said = run(tmp_path, "diff", "o", "n", code=1).stdout.splitlines()
    places = [f"    /properties/p{n}: maxLength 3 -> 5" for n in range(4)]
    at = next(n for n, line in enumerate(said) if "few.json" in line)
    assert said[at + 1 : at + 5] == places
    at = next(n for n, line in enumerate(said) if "many.json" in line)
    assert said[at + 1 : at + 5] == [*places[:3], "    and more, which interlock diff o/many.json n/many.json lists"]
    at = next(n for n, line in enumerate(said) if "list.lark" in line)
    assert said[at + 1] == '    rule x: alternative added: "c"'


def test_the_exit_code_is_that_of_the_worst_file(trees):
    for version, rule in (("o", 'start? "a"'), ("n", '"a" start?')):
        (trees / version).mkdir()
        (trees / version / "a.lark").write_text(f"start: {rule}")
    assert run(trees, "diff", "o", "n", code=5).stdout.startswith("undecided  a.lark")
    write(trees / "n" / "b.json", {})
    run(trees, "diff", "o", "n", code=1)
    write(trees / "o" / "b.json", {"type": "strin"})
    found = machine(trees, "diff", "o", "n", code=3)
    assert results(found)["b.json"] == "refused" and found["files"][1]["error"]["type"] == "SchemaError"


def test_of_a_file_that_is_refused_it_is_said_which_version_is(trees):
    for name, first, second in (
        ("one.json", {"type": "strin"}, {}),
        ("other.json", {}, {"type": "strin"}),
        ("both.json", {"type": "strin"}, {"type": "strin", "title": "t"}),
        ("two.json", {"type": "strin"}, {"$ref": "gone.json"}),
        ("same.json", {"type": "strin"}, {"type": "strin"}),
    ):
        write(trees / "o" / name, first)
        write(trees / "n" / name, second)
    (trees / "o" / "broken.json").write_text("{}")
    (trees / "n" / "broken.json").write_text('{"sum": 3}')
    found = {file["name"]: file for file in machine(trees, "diff", "o", "n", code=3)["files"]}
    sides = {name: file["side"] for name, file in found.items() if "side" in file}
    assert sides == {
        "one.json": "first",
        "other.json": "second",
        "both.json": "both",
        "two.json": "both",
        "broken.json": "second",
    }
    assert found["same.json"]["result"] == "same"
    said = run(trees, "diff", "o", "n", code=3).stdout
    assert 'one.json     in the first: "strin" is not a type' in said
    assert 'both.json    in both: "strin" is not a type' in said
    reason = found["two.json"]["reason"]
    assert reason.startswith('in the first: "strin" is not') and '; in the second: reference "gone.json"' in reason


def test_folders_that_cannot_be_compared(trees):
    said = run(trees, "diff", "v1", "v2/a.json", code=4).stderr
    assert "v1 is a folder, and v2/a.json is none" in said and "try: name two folders" in said
    said = run(trees, "diff", "v1", "w2", code=4).stderr
    assert "w2: No such file or directory" in said and "try: name a folder beside v1" in said
    for name in ("x", "y"):
        (trees / name).mkdir()
    assert "has a source in it" in run(trees, "diff", "x", "y", code=4).stderr
    assert "--lexer is for a grammar" in run(trees, "diff", "v1", "v2", "--lexer", "any", code=2).stderr


def test_each_file_that_is_not_allowed_is_marked(tmp_path):
    for version, least, rule in (("o", 0, 'start? "a"'), ("n", 1, '"a" start?')):
        write(tmp_path / version / "narrow.json", {"type": "integer", "minimum": least})
        write(tmp_path / version / "wide.json", {"type": "integer", "maximum": least})
        (tmp_path / version / "open.lark").write_text(f"start: {rule}")
    write(tmp_path / "o" / "gone.json", {"type": "null"})
    said = run(tmp_path, "diff", "o", "n", "--allow", "wider", code=1).stdout.splitlines()
    words = {line.split()[1]: line.split(maxsplit=2)[2:] for line in said[:-1] if line[0] != " "}
    assert words["gone.json"] == ["not allowed"]
    assert words["narrow.json"][0].startswith("not allowed: only the first accepts ")
    assert words["open.lark"][0].startswith("open whether allowed: ")
    assert words["wide.json"][0].startswith("only the second accepts ")
    assert said[-1].endswith("; 2 not allowed, 1 open whether allowed by --allow wider")
    plain = run(tmp_path, "diff", "o", "n", code=1).stdout
    assert "allowed" not in plain
