"""``--document``: schemas in other files, one by one or by their folder, and a source that is in a file."""

import json
from pathlib import Path

import pytest
from command_line import machine, run

import interlock.explain

CUSTOMER = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}, "required": ["name"]}
PLACE = {"type": "object", "properties": {"of": {"$ref": "../customer.json"}}, "required": ["of"]}
PLACES = {"$defs": {"place": PLACE}}
ORDER = {"type": "object", "properties": {"who": {"$ref": "customer.json"}}, "required": ["who"]}
ORDER["properties"]["at"] = {"$ref": "shared/my%20places.json#/$defs/place"}
ORDER_WITH_ID = {"$id": "https://example.com/order.json", "properties": {"who": {"$ref": "customer.json"}}}
ACCEPTED, REFUSED = '{"who": {"name": "Bo"}, "at": {"of": {"name": "Al"}}}', '{"who": {"name": "Bo"}, "at": {"of": {}}}'


@pytest.fixture
def files(tmp_path):
    """Schemas that refer to each other, and what is no schema among them."""
    (tmp_path / "s" / "shared").mkdir(parents=True)
    write(tmp_path / "s", **{"order.json": ORDER, "customer.json": CUSTOMER, "shared/my places.json": PLACES})
    (tmp_path / "s" / "broken.json").write_text('{"type": ')
    return tmp_path


def write(folder, **schemas):
    for name, schema in schemas.items():
        (folder / name).write_text(json.dumps(schema))


@pytest.mark.parametrize(
    "more",
    [
        ["--document", "s"],
        ["--document", "s/customer.json", "--document", "s/shared"],
        ["--document", "customer.json=s/customer.json", "--document", "s"],
    ],
    ids=" ".join,
)
def test_the_files_that_references_lead_to(files, more):
    assert machine(files, "check", "s/order.json", "--text", ACCEPTED, *more)["accepted"]
    refused = machine(files, "check", "s/order.json", "--text", REFUSED, *more, code=1)
    assert refused["pointer"] == "/at/of"
    for command in ("inspect", "sample"):
        run(files, command, "s/order.json", *more)
    run(files, "draw", "s/order.json", "-o", "order.mmd", *more)
    run(files, "trace", "s/order.json", "--text", ACCEPTED, "-o", "order.html", *more)
    run(files, "diff", "s/order.json", "s/order.json", *more)


def test_a_schema_without_a_file_starts_from_the_folder(files):
    text = json.dumps(ORDER)
    for word in (f"schema:{text}", "schema:@-"):
        assert len(machine(files, "sample", word, "--document", "s", "-n", "2", stdin=text)["samples"]) == 2


def test_an_index_has_the_documents_that_are_reached_and_no_others(files):
    run(files, "compile", "s/order.json", "-t", "bytes", "-o", "a.index", "--document", "s")
    write(files / "s", **{"more.json": {"type": "null"}})
    run(files, "compile", "s/order.json", "-t", "bytes", "-o", "b.index", "--document", "s")
    assert (files / "a.index").read_bytes() == (files / "b.index").read_bytes()
    assert b"maxLength" in (files / "a.index").read_bytes()


def test_precompute_reads_references_from_the_folder_of_each_source(files):
    write(files / "s", **{"shared/use.json": {"$ref": "my%20places.json#/$defs/place"}})
    (files / "s" / "broken.json").unlink()
    made = machine(files, "precompute", "s", "-t", "bytes", "-o", "store", "--document", "s", "--take-all")
    assert (made["compiled"], made["refused"]) == (4, 0)
    names = [f"s/{name}" for name in ("order.json", "customer.json", "shared/use.json")]
    run(files, "precompute", *names, "-t", "bytes", "-o", "other", "--take-all", code=1)
    rows = [json.loads(line) for line in (files / "other" / "report.jsonl").read_text().splitlines()]
    ways = {row["name"]: row["error"].get("remedy", "") for row in rows if not row["ok"]}
    assert "--document s gives" in ways["order.json"]
    assert "--document s/shared gives" in ways["use.json"]


def test_names_by_id(files):
    """A relative reference below an ``$id`` is a file beside, or the file that has this name; a name is found, too."""
    base = "https://example.org/schemas/"
    named = {"$id": f"{base}kunde.json", **CUSTOMER}
    write(files / "s", **{"k.json": named, "a.json": {"$id": f"{base}a.json", "$ref": "kunde.json"}})
    write(files / "s", **{"b.json": {"$id": f"{base}b.json", "$ref": "customer.json"}, "c.json": {"$ref": "k.json"}})
    both = {"type": "array", "prefixItems": [{"$ref": "k.json"}, {"$ref": f"{base}kunde.json"}], "items": False}
    write(files / "s", **{"d.json": both, "e.json": {"$ref": f"{base}customer.json"}})
    for name in ("a.json", "b.json", "c.json"):
        assert machine(files, "check", f"s/{name}", "--document", "s", "--text", '{"name": "Bo"}')["accepted"], name
        run(files, "check", f"s/{name}", "--document", "s", "--text", '{"name": 1}', code=1)
    assert machine(files, "check", "s/d.json", "--document", "s", "--text", '[{"name": "Bo"}, {"name": "Al"}]')
    run(files, "check", "s/e.json", "--document", f"{base}=s", "--text", '{"name": "Bo"}')
    assert f"--document {base}=s gives" in run(files, "inspect", "s/e.json", code=3).stderr


def test_files_that_refer_to_each_other(files):
    tree = {"type": "object", "properties": {"left": {"$ref": "leaf.json"}}, "additionalProperties": False}
    write(files, **{"tree.json": tree, "leaf.json": {"anyOf": [{"type": "null"}, {"$ref": "tree.json"}]}})
    text = '{"left": {"left": null}}'
    assert machine(files, "check", "tree.json", "--document", ".", "--text", text)["accepted"]


def test_nothing_outside_of_the_folder_is_read(files):
    (files / "other").mkdir()
    write(files / "other", **{"a.json": {"$ref": "../s/customer.json"}})
    for folder in ("other", "s/shared"):
        run(files, "inspect", "other/a.json", "--document", folder, code=3)
    run(files, "inspect", "other/a.json", "--document", "s")
    (files / "other" / "link.json").symlink_to(files / "s" / "customer.json")
    write(files / "other", **{"b.json": {"$ref": "link.json"}})
    error = machine(files, "inspect", "other/b.json", "--document", "other", code=3)["error"]
    option, pair = error["remedy"].split()[:2]
    assert machine(files, "check", "other/b.json", option, pair, "--text", '{"name": "Bo"}')["accepted"]


def test_one_name_for_two_files_is_refused(files):
    """The schema itself has no name, so that files above it and beside it have the same relative ones."""
    write(files / "s", **{"shared/customer.json": {"type": "null"}})
    write(files / "s", **{"shared/two.json": {"anyOf": [{"$ref": "customer.json"}, {"$ref": "../customer.json"}]}})
    said = run(files, "inspect", "s/shared/two.json", "--document", "s", code=2).stderr
    assert "s/shared/customer.json" in said and "s/customer.json" in said and "give both files an $id" in said


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["s/order.json"], 3, "try: --document s gives the files in s to $ref"),
        (["s/shared/my places.json#/$defs/place"], 3, "try: --document s gives the files in s to $ref"),
        (["s/slip.json", "--document", "s"], 3, "s/custmer.json is not there; did you mean s/customer.json?"),
        (["s/order.json", "--document", "t"], 2, "or the name of a file or a folder that is there"),
        (["s/order.json", "--document", "s/custmer.json"], 2, "did you mean s/customer.json?"),
        (["s/use.json", "--document", "s"], 3, 's/bad.json:1:29:\n    {"type":"string","pattern":"(?R)"}'),
        (["s/broke.json", "--document", "s"], 3, 's/broken.json:1:9:\n    {"type": \n'),
        (["s/yaml.json"], 3, "< s/place.yaml > s/place.json; then refer to s/place.json"),
        (["s/yaml.json", "--document", "s"], 3, "< s/place.yaml > s/place.json; then refer to s/place.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_missing_or_wrong_is_named(files, args, code, said):
    write(files / "s", **{"slip.json": {"$ref": "custmer.json"}, "use.json": {"$ref": "bad.json"}})
    write(files / "s", **{"broke.json": {"$ref": "broken.json"}, "yaml.json": {"$ref": "place.yaml"}})
    (files / "s" / "place.yaml").write_text("type: object\n")
    (files / "s" / "bad.json").write_text('{"type":"string","pattern":"(?R)"}')
    assert said in run(files, "inspect", *args, code=code).stderr


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("m.json", "--document . gives the files in this folder to $ref, among them m.json"),
        ("M.json", "M.json is not there; did you mean m.json?"),
        ("m", "--document m=m.json gives $ref the file m.json"),
        ("z", "z is a folder, and $ref names a file"),
        ("q.json", "--document q.json=z/q.json gives $ref the file z/q.json"),
        ("http://x.y/m.json", "--document http://x.y/=. gives $ref the files there, among them m.json"),
        ("http://x.y/a/z/q.json", "--document http://x.y/a/=. gives $ref the files there, among them z/q.json"),
        ("urn:m.json", "--document urn:m.json=m.json gives $ref the file m.json"),
        ("z\\q.json", 'write the reference with slashes: "z/q.json", which is a file'),
        ("http://x.y/n.json", "--document URI=FILE gives a schema that $ref may reach; --document URI=FOLDER "),
    ],
)
def test_a_file_that_may_have_been_meant_is_named_with_the_option_that_gives_it(tmp_path, reference, said):
    (tmp_path / "z").mkdir()
    write(tmp_path, **{"m.json": CUSTOMER, "z/q.json": CUSTOMER, "a.json": {"$ref": reference}})
    told = run(tmp_path, "check", "a.json", "--text", "{}", code=3).stderr
    assert f"  try: {said}" in told
    way, option, where = told.rpartition("  try: ")[2].partition("--document ")
    if not way and option and "URI" not in where:
        assert not machine(tmp_path, "check", "a.json", "--text", "{}", "--document", where.split()[0], code=1)[
            "accepted"
        ]


def test_a_different_file_beside_the_source_is_not_passed_over(files):
    write(files, **{"order.json": {"$ref": "customer.json"}, "customer.json": {"type": "null"}})
    said = run(files, "check", "order.json", "--text", "1", "--document", "s", code=2).stderr
    assert "would lead to s/customer.json by --document, and customer.json, another file, lies beside" in said
    assert "try: --document s --document . takes" in said and "--document customer.json=s/customer.json, where" in said
    for more in (["--document", "."], ["--document", "customer.json=s/customer.json"]):
        assert not run(files, "check", "order.json", "--text", "1", "--document", "s", *more, code=1).stderr
    write(files, **{"customer.json": CUSTOMER})  # It is the same by its text.
    assert not run(files, "check", "order.json", "--text", "1", "--document", "s", code=1).stderr


def test_a_file_outside_of_the_given_folder_is_named_as_that(files):
    write(files / "s", **{"shared/use.json": {"$ref": "../customer.json"}})
    remedy = machine(files, "inspect", "s/shared/use.json", "--document", "s/shared", code=3)["error"]["remedy"]
    assert remedy.endswith("among them s/customer.json, which lies outside of s/shared")
    run(files, "inspect", "s/shared/use.json", "--document", "s")


def test_tools_and_tags_are_told_to_hold_what_they_refer_to(files):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"$ref": "m.json"}}}}}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"$ref": "m.json"}}}
    write(files, **{"tools.json": {"tools": [tool]}, "tag.json": tag})
    for more in (["tools.json", "--tool-format", "hermes"], ["tag.json"]):
        said = run(files, "check", *more, "--text", "1", code=3).stderr
        assert "try: put what it refers to into $defs of that schema" in said


def test_a_source_may_be_a_place_in_a_file(files):
    """As a reference names it; each of two sources has a place of its own."""
    word, more = "s/shared/my places.json#/$defs/place", ["--document", "s"]
    assert machine(files, "check", word, "--text", '{"of": {"name": "Bo"}}', *more)["accepted"]
    assert "equal" in run(files, "diff", word, word, *more).stdout
    said = run(files, "inspect", "s/shared/my places.json#/$defs/plac", *more, code=2).stderr
    assert "did you mean 'place'?" in said
    assert "no file is named 's/nothing.json'" in run(files, "inspect", "s/nothing.json#/$defs/x", code=2).stderr
    said = run(files, "inspect", "s/custmer.json#/properties/name", code=2).stderr
    assert "did you mean s/customer.json#/properties/name?" in said
    for word in ("s/customer.json#/properties/name", "schema:@s/customer.json#/properties/name"):
        assert machine(files, "check", word, "--text", '"Bo"')["accepted"]
    said = run(files, "inspect", "s/customer.json#/properties/name", "--schema-key", "x", code=2).stderr
    assert "leave out one of the two" in said
    said = run(files, "inspect", "s/shared/my places.json#place", code=2).stderr
    assert "did you mean /$defs/place?" in said
    assert machine(files, "check", 'schema:{"$ref":"customer.json#/properties/name"}', "--text", '"Bo"', *more)
    said = run(files, "precompute", "s/customer.json#/properties/name", "-t", "bytes", "-o", "store", code=4).stderr
    assert "try: s/customer.json --schema-key '/properties/name'" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"$defs": {"n": {}}, "type": "string",}', "try: leave out the comma before }"),
        ('{"type": "string", // no\n"minLength": 3}', "try: JSON has no comments"),
        ('{"type": "string"', "try: write what is missing at its end"),
        ('{"type": "string", "type": "integer"}', "try: leave out one of the two"),
        ('{"$defs": {"n": {"pattern": "\\\\Aabc"}}}', "try: patterns of JSON Schema are ECMA-262"),
        (
            '{"$defs": {"n": {"type": "integer", "minimum": 3, "maximum": 1}}}',
            'these contradict each other for type "integer": minimum 3 and maximum 1\n  try: change one of them',
        ),
    ],
)
def test_what_to_do_about_a_fault_of_another_document(tmp_path, text, said):
    """The same as where the document is the source itself."""
    schema = {"type": "object", "properties": {"a": {"$ref": "n.json#/$defs/n"}}, "required": ["a"]}
    (tmp_path / "main.json").write_text(json.dumps(schema))
    (tmp_path / "n.json").write_text(text)
    done = run(tmp_path, "inspect", "main.json", "--document", ".", code=3)
    assert said in done.stderr and "\n  n.json:1:" in done.stderr and "at byte" not in done.stderr


def test_an_old_version_outside_of_the_folder_of_documents(files):
    """As one that git has written elsewhere: its references start from where it lies."""
    place = {"$ref": "../customer.json"}
    write(files, **{"s/shared/new.json": place, "old.json": place})
    said = run(files, "diff", "old.json", "s/shared/new.json", "--document", "s", code=3).stderr
    assert "try: write old.json beside s/shared/new.json, as s/shared/old.json" in said
    write(files, **{"s/shared/old.json": place})
    run(files, "diff", "s/shared/old.json", "s/shared/new.json", "--document", "s")


@pytest.mark.parametrize("base", ["", "https://example.com/"])
def test_the_key_of_what_a_folder_stored(tmp_path, base):
    """The URIs by which Python finds it are those of the references, as docs/artifacts.md says."""
    order = {"properties": {"a": {"$ref": "parts/item.json#/$defs/x"}, "b": {"$ref": "flag.json"}}}
    order |= {"$id": base + "order.json"} if base else {}
    item, flag = {"$defs": {"x": {"items": {"$ref": "../name.json"}}}}, {"type": "boolean"}
    parts = {"name.json": {"type": "string"}, "parts/item.json": item, "flag.json": flag}
    for name, schema in {"order.json": order, "other.json": {}, **parts}.items():
        (tmp_path / "schemas" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "schemas" / name).write_text(json.dumps(schema))
    run(tmp_path, "precompute", "schemas", "--take-all", "-t", "bytes", "-o", "store")
    store = interlock.Store(tmp_path / "store")
    documents = {base + name: schema for name, schema in parts.items()}
    for given in (documents, dict(reversed(documents.items()))):
        assert store.key_of("json_schema", order, interlock.explain.byte_vocabulary(), documents=given) in store


@pytest.mark.parametrize("jobs", [(), ("--jobs", "1")])
def test_a_folder_of_sources_gives_its_files_to_their_references(files, jobs):
    """One rule for ``precompute`` and ``diff``: whoever names a folder names the files in it, and nothing outside."""
    write(files, **{"outside.json": {"type": "null"}, "s/shared/out.json": {"$ref": "../../outside.json"}})
    write(files, **{"s/id.json": {"$id": "https://example.org/id.json", "type": "null"}})
    write(files, **{"s/by_id.json": {"$ref": "https://example.org/id.json"}})
    (files / "s" / "link.json").symlink_to(files / "outside.json")
    write(files, **{"s/linked.json": {"$ref": "link.json"}})
    (files / "s" / "broken.json").unlink()
    made = machine(files, "precompute", "s", "-t", "bytes", "-o", "store", *jobs, code=1)
    rows = [json.loads(line) for line in (files / "store" / "report.jsonl").read_text().splitlines()]
    refused = {row["name"]: row["error"]["message"] for row in rows if not row["ok"]}
    assert set(refused) == {"shared/out.json", "linked.json"}, refused
    assert all("which was not passed" in message for message in refused.values())
    # What has no documents has the same key as without any.
    again = machine(files, "precompute", "s/customer.json", "s/id.json", "-t", "bytes", "-o", "store")
    assert (made["ok"], again["done_before"]) == (6, 2)
    # A pack is that of --document, and a file alone gives nothing.
    assert machine(files, "precompute", "s/order.json", "--document", "s", "-t", "bytes", "-o", "store")["done_before"]
    error = machine(files, "precompute", "s/order.json", "-t", "bytes", "-o", "store", code=1)["first_error"]
    assert "which was not passed" in error


def test_each_folder_of_sources_has_its_own_files(files):
    for name, most in (("a", 3), ("b", 5)):
        (files / name).mkdir()
        write(files / name, **{"top.json": {"$ref": "of.json"}, "of.json": {"type": "string", "maxLength": most}})
    made = machine(files, "precompute", "a", "b", "-t", "bytes", "-o", "store")
    assert (made["sources"], made["packs"]) == (4, 4)
    assert machine(files, "diff", "a", "b", "--allow", "wider")["counts"] == {"wider": 2}


def test_the_hooks_of_the_docs_take_schemas_that_refer_to_each_other(files):
    """pre-commit names the files that a commit changes, and not those that they refer to."""
    text = (Path(__file__).parents[4] / "docs" / "cli.md").read_text()
    entries = [
        line.partition("entry: interlock ")[2].split() for line in text.splitlines() if "entry: interlock" in line
    ]
    (files / "s").rename(files / "schemas")
    (files / "answers").mkdir()
    (files / "answers" / "a.json").write_text('{"at": {"of": {"name": "Al"}}, "who": {"name": "Bo"}}')
    inspect, check = entries
    run(files, *inspect, "schemas/order.json", "schemas/customer.json")
    run(files, *check, "answers/a.json")


@pytest.mark.parametrize(
    ("reference", "documents", "meant"),
    [
        ("custmer.json", ["s"], "customer.json"),
        ("sharde/my%20places.json", ["s"], "shared/my places.json"),
        ("places.json", ["s"], None),
        ("only.json", ["s"], "shared/only.json"),
        ("https://example.org/custmer.json", ["https://example.org/=s"], "https://example.org/customer.json"),
        ("https://example.org/kund.json", ["s"], "https://example.org/kunde.json"),
        ("https://example.com/kunde.json", ["s"], "https://example.org/kunde.json"),
        ("https://example.org/of/a.json", ["https://example.org/a.json=s/customer.json"], "https://example.org/a.json"),
        ("https://example.org/unlike.json", ["https://example.org/=s"], None),
    ],
)
def test_a_name_near_that_of_a_given_document_is_what_was_meant(files, reference, documents, meant):
    write(files / "s", **{"shared/only.json": {}, "k.json": {"$id": "https://example.org/kunde.json"}})
    options = [part for word in documents for part in ("--document", word)]
    schema = f"schema:{json.dumps({'$ref': reference})}"
    remedy = machine(files, "inspect", schema, *options, code=3)["error"]["remedy"]
    assert remedy == f'did you mean "{meant}"?' if meant else remedy.startswith("--document URI=FILE gives")
    if meant:
        run(files, "inspect", f"schema:{json.dumps({'$ref': meant.replace(' ', '%20')})}", *options)


def test_a_file_without_an_id_beside_a_schema_with_one_is_not_passed_over(tmp_path):
    """The names of both are made of the schema's own, so that they look like one document."""
    for folder, customer in (("v1", CUSTOMER), ("v2", CUSTOMER | {"required": ["name", "mail"]})):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, **{"order.json": ORDER_WITH_ID, "customer.json": customer})
    for folder in ("v1", "v2"):
        command = ("diff", "v1/order.json", "v2/order.json", "--document", folder, "--allow", "wider")
        said = run(tmp_path, *command, code=2).stderr
        assert "another file, lies beside" in said and "takes for each source the files of its own folder" in said
    both = ("--document", "v1", "--document", "v2")
    run(tmp_path, "diff", "v1/order.json", "v2/order.json", *both, "--allow", "wider", code=1)
