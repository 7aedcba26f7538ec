"""``diff`` that decides: what changed, in which source something is odd, and what ``--allow`` lets pass."""

import json

import pytest
from command_line import machine, run

from interlock.cli.commands.diff import Comparison
from interlock.cli.comparing.document_differences import changes, differences
from interlock.cli.comparing.whole_schemas import of_documents

NAMED = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 80}}, "additionalProperties": False}


def words(*schemas):
    return [f"schema:{json.dumps(schema)}" for schema in schemas]


def longer(most):
    return NAMED | {"properties": {"name": {"type": "string", "maxLength": most}}}


def test_what_changed_is_named_with_both_values(folder):
    said = run(folder, "diff", *words(NAMED, longer(120)), code=1).stdout
    assert said.startswith("the first accepts less\n") and "\n  /properties/name: maxLength 80 -> 120\n" in said
    found = machine(folder, "diff", *words(NAMED, longer(120)), code=1)
    assert found["differences"] == [{"pointer": "/properties/name/maxLength", "first": 80, "second": 120}]
    opened = NAMED | {"additionalProperties": True, "properties": {"items": {"type": "null"}}}
    said = run(folder, "diff", *words(NAMED, opened), code=1).stdout
    assert "  (root): additionalProperties false -> true\n" in said
    assert '  /properties/items: (absent) -> {"type": "null"}\n' in said
    assert "differences" not in machine(folder, "diff", *words(NAMED, NAMED))


def test_many_changes_are_cut_for_people_alone(folder):
    first, second = ({"enum": [1], "properties": {f"p{i}": {"title": t} for i in range(30)}} for t in "ab")
    second["enum"] = [2]
    assert "  and 11 other places; --json has them\n" in run(folder, "diff", *words(first, second), code=1).stdout
    assert len(machine(folder, "diff", *words(first, second), code=1)["differences"]) == 31


@pytest.mark.parametrize(
    ("first", "second", "allow", "code"),
    [
        (80, 120, "wider", 0),
        (80, 120, "narrower", 1),
        (120, 80, "narrower", 0),
        (120, 80, "wider", 1),
        (80, 80, "wider", 0),
        (80, 80, "narrower", 0),
    ],
)
def test_what_is_allowed_is_no_failure(folder, first, second, allow, code):
    found = machine(folder, "diff", *words(longer(first), longer(second)), "--allow", allow, code=code)
    assert found["allowed"] == (not code)
    said = run(folder, "diff", *words(longer(first), longer(second)), "--allow", allow, code=code).stdout
    assert first == second or f"{'not ' * code}allowed by --allow {allow}" in said


def test_what_differs_both_ways_or_is_open_is_not_allowed(folder):
    for allow in ("wider", "narrower"):
        run(folder, "diff", "pattern:a|b", "pattern:a|c", "--allow", allow, code=1)
        run(folder, "diff", 'grammar:start: start? "a"', 'grammar:start: "a" start?', "--allow", allow, code=5)


def test_half_an_answer_is_not_decided(folder):
    """The text that the second alone accepts is known; whether the first has one, too, is open."""
    first, second = ({"type": "object", "not": {"additionalProperties": {"maximum": most}}} for most in (6, 5))
    found = machine(folder, "diff", *words(first, second), "--allow", "wider", code=5)
    assert found["allowed"] is None and found["only_second"] is not None
    said = run(folder, "diff", *words(first, second), "--allow", "wider", code=5).stdout
    assert "not decided: whether it is allowed by --allow wider" in said
    assert said.startswith("not decided: the two are different, and it is open whether they differ as allowed")
    assert machine(folder, "diff", *words(first, second), "--allow", "narrower", code=1)["allowed"] is False


def test_a_direction_that_was_compared_exactly_stays_known():
    """Where the other one is over a limit, what is known of the first is kept."""
    found = Comparison([None, b"x"], is_exact=False, proven=[True, False])
    assert (found.has_none(0), found.has_none(1), found.is_decided) == (True, False, True)
    found = Comparison([None, None], is_exact=False, proven=[True, False])
    assert (found.has_none(0), found.has_none(1), found.is_decided) == (True, None, False)


@pytest.mark.parametrize(("coarse", "fine"), [("0.5", "0.25"), ("0.1", "0.01"), ("1", "0.001"), ("0.7", "0.07")])
def test_a_finer_divisor_is_wider(folder, coarse, fine):
    """In spite of the 15 digits that a number with a point has beside multipleOf."""
    both = [f'schema:{{"type": "number", "multipleOf": {step}}}' for step in (coarse, fine)]
    assert machine(folder, "diff", *both, "--allow", "wider")["relation"] == "the first accepts less"
    assert machine(folder, "diff", *both, "--allow", "narrower", code=1)["only_first"] is None


def test_properties_in_another_order(folder):
    first = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "required": ["a", "b"]}
    second = first | {"properties": dict(reversed(first["properties"].items()))}
    said = run(folder, "diff", *words(first, second), code=1).stdout
    assert "the order of properties is all that differs" in said and "try: --property-order any" in said
    assert machine(folder, "diff", *words(first, second), code=1)["reordered"] == "only"
    more = second | {"minProperties": 1}
    assert machine(folder, "diff", *words(first, more), code=1)["reordered"] == "also"
    assert "properties come in another order" in run(folder, "diff", *words(first, more), code=1).stdout
    assert run(folder, "diff", *words(first, second), "--property-order", "any").stdout.startswith("equal\n")
    assert "another order" not in run(folder, "diff", *words(NAMED, longer(3)), code=1).stdout


def test_warnings_say_whose_they_are(folder):
    said = run(folder, "diff", *words(NAMED, NAMED | {"minPropertys": 1})).stderr
    assert said.startswith("warning: in the second, `minPropertys` is no keyword")


VALUES = [f"value{i}" for i in range(300)]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([*VALUES[:150], *VALUES[151:], "x", "y"], '... 300 -> 301 values: 2 added: "x", "y"; 1 removed: "value150"'),
        ([*VALUES[:9], VALUES[10], VALUES[9], *VALUES[11:]], "the same values in another order, from the 10. on"),
        (
            VALUES + [f"a long new value {i}" for i in range(50)],
            '50 added: "a long new value 0", "a long new value 1", ...',
        ),
    ],
)
def test_a_long_list_is_cut_around_what_changed(second, said):
    (row,) = differences({"enum": VALUES}, {"enum": second})
    (line,) = changes([row])
    assert said in str(line) and str(line).startswith("  (root): enum ... 300 -> ")


def test_a_table_of_places_cuts_long_lists_in_the_same_way(folder):
    closed = {"type": "object", "additionalProperties": False}
    pair = words(*(closed | {"properties": {"k": {"enum": v}}} for v in (VALUES, [*VALUES, "new"])))
    assert '/properties/k: enum ... 300 -> 301 values: 1 added: "new"' in run(folder, "diff", *pair, code=1).stdout


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        ("pattern:.{2}", "pattern:.{3}", ["aa", "aaa"]),
        ("pattern:[\\x00-\\x7f]{3}", "pattern:[a-z]{3}", ["000", None]),
        ("pattern:\\x00[\\x00-b]", "pattern:\\x00\\x00", ["\0a", None]),
        ("pattern:\\x00", "pattern:\\x01", ["\0", "\x01"]),
    ],
)
def test_texts_have_everyday_characters_where_these_tell_the_two_apart(folder, first, second, texts):
    found = machine(folder, "diff", first, second, code=1)
    assert [found["only_first"], found["only_second"]] == texts


PERSON = {"$anchor": "person", "type": "object", "properties": {"age": {"type": "integer", "maximum": 90}}}
PERSON["properties"] |= {"friend": {"$ref": "#person"}, "home": {"$ref": "sub/home.json"}}
PARTS = {"$defs": {"p": PERSON, "note": {"type": "string", "maxLength": 40}}}
TEAM = {"type": "object", "properties": {"who": {"$ref": "my%20parts.json#person"}, "of": {"type": "string"}}}
TEAM["properties"]["notes"] = {"type": "array", "items": {"$ref": "my%20parts.json#/$defs/note"}, "maxItems": 5}
HOME = {"type": "object", "required": ["town"], "properties": {"town": {"$ref": "../my%20parts.json#/$defs/note"}}}


@pytest.fixture
def two_folders(tmp_path):
    """The same schemas in two folders, which refer to each other."""
    for side in ("old", "new"):
        (tmp_path / side / "sub").mkdir(parents=True)
        for name, schema in (("team.json", TEAM), ("my parts.json", PARTS), ("sub/home.json", HOME)):
            (tmp_path / side / name).write_text(json.dumps(schema))
    return tmp_path


@pytest.mark.parametrize(
    "name, old, new, pointer",
    [
        ("team.json", '"maxItems": 5', '"maxItems": 6', "/properties/notes/maxItems"),
        ("my parts.json", "90", "99", "my%20parts.json#/$defs/p/properties/age/maximum"),
        ("my parts.json", "40", "41", "my%20parts.json#/$defs/note/maxLength"),
        ("sub/home.json", '"required": ["town"], ', "", "sub/home.json#/required"),
    ],
)
def test_what_differs_in_the_files_that_references_lead_to_is_decided(two_folders, name, old, new, pointer):
    file = two_folders / "new" / name
    file.write_text(file.read_text().replace(old, new))
    asked = ("diff", "old/team.json", "new/team.json", "--document", "old", "--document", "new")
    wider = machine(two_folders, *asked, "--allow", "wider")
    assert wider["allowed"] and wider["relation"] == "the first accepts less" and wider["only_second"]
    assert [row["pointer"] for row in wider["differences"]] == [pointer]
    assert machine(two_folders, *asked, "--allow", "narrower", code=1)["allowed"] is False
    place, _, keyword = pointer.rpartition("/")
    assert f"  {place}: {keyword} " in run(two_folders, *asked, code=1).stdout


def test_documents_are_put_into_the_schema_that_refers_to_them():
    new, old = "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"
    parts = {"$id": "x:/m", "not": {"$anchor": "n"}, "anyOf": [{"$ref": "o%25#/a%20b"}], "enum": [{"$ref": "#"}]}
    other = {"a b": {"$ref": "m"}}
    found = of_documents({"$id": "x:/r", "$ref": "m#n"}, {"x:/m": parts, "x:/o%25": other})
    assert found["$ref"] == "#/$defs/x:~1m/not" and "$id" not in found["$defs"]["x:/m"]
    assert found["$defs"]["x:/m"]["anyOf"] == [{"$ref": "#/$defs/x:~1o~025/a b"}]
    assert found["$defs"]["x:/m"]["enum"] == [{"$ref": "#"}]
    assert found["$defs"]["x:/o~25"] == {"a b": {"$ref": "#/$defs/x:~1m"}}
    # A document that names no draft is of that of the schema, and what is of another is not followed.
    assert of_documents({"$schema": old, "$ref": "m"}, {"m": {}})["$ref"] == "#/$defs/m"
    assert of_documents({"$schema": new, "$ref": "m"}, {"m": {"$schema": old}})["$ref"] == "m"


OPEN = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}


def with_key(schema, **more):
    """The schema with more properties, of which the first comes before its last one."""
    (first, one), *rest = schema["properties"].items()
    return schema | {"properties": {first: one, **more, **dict(rest)}}


@pytest.mark.parametrize(
    ("schema", "added", "relation"),
    [
        (OPEN, {}, "equal"),
        (OPEN, True, "equal"),
        (OPEN, {"description": "anything"}, "equal"),
        ({"properties": {"x": OPEN}}, {}, "equal"),
        (OPEN, {"type": "string"}, "the second accepts less"),
        (OPEN | {"additionalProperties": {"type": "integer"}}, {"type": ["integer", "null"]}, "the first accepts less"),
        (OPEN | {"additionalProperties": {"type": "integer"}}, {"type": "integer"}, "equal"),
        (OPEN | {"unevaluatedProperties": {"type": "integer"}}, {}, "the first accepts less"),
    ],
)
def test_a_property_that_is_added_to_an_open_object(folder, schema, added, relation):
    """In any order it is a key like those that no schema declares."""
    inner = schema["properties"].get("x")
    other = {"properties": {"x": with_key(inner, c=added)}} if inner else with_key(schema, c=added)
    for given, wanted in (((schema, other), relation), ((other, schema), turned(relation))):
        found = machine(folder, "diff", *words(*given), "--property-order", "any", code=None)
        if "unevaluatedProperties" in schema:  # What it is about changes with its neighbours, which is not followed.
            assert found["relation"] in (wanted, "different", "not decided")
        else:
            assert found["relation"] == wanted


def turned(relation):
    words = {"the first accepts less": "the second accepts less", "the second accepts less": "the first accepts less"}
    return words.get(relation, relation)


def test_in_declared_order_such_a_property_has_a_place(folder):
    found = machine(folder, "diff", *words(OPEN, with_key(OPEN, c={})), code=1)
    assert found["relation"] == "different"
    assert list(json.loads(found["only_second"])) == ["a", "c", "b"]
    assert list(json.loads(found["only_first"]))[::2] == ["a", "c"]
    last = OPEN | {"properties": OPEN["properties"] | {"c": {}}}
    found = machine(folder, "diff", *words(OPEN, last), code=1)
    assert (found["relation"], found["only_second"]) == ("the second accepts less", None)
