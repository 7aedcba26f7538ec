"""``diff`` that decides: what changed, in which source something is odd, and what ``--allow`` lets pass."""

import json

import pytest
from command_line import machine, run

from interlock.cli.commands.diff import Comparison
from interlock.cli.comparing.document_differences import changes, differences

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
    first, second = ({"type": "object", "properties": {"a": {}}, "not": {"maxProperties": most}} for most in (1, 0))
    found = machine(folder, "diff", *words(first, second), "--allow", "wider", code=5)
    assert found["allowed"] is None and found["only_second"] is not None
    said = run(folder, "diff", *words(first, second), "--allow", "wider", code=5).stdout
    assert "not decided: whether it is allowed by --allow wider" in said
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
