"""Groups and escapes of other engines in patterns: the message, or the command line's remedy, says what to write."""

import pytest
from command_line import machine

import interlock


@pytest.mark.parametrize(
    ("pattern", "dialect", "written"),
    [
        ("(?<name>a)", "python", "(?P<name>...)"),
        ("(?'name'a)", "python", "(?P<name>...)"),
        ("(?<n>a)\\k<n>", "python", "(?P<name>...)"),
        ("(?Pname)", "python", "(?P<name>...)"),
        ("(?P<name>a)", "ecma", "(?<name>...)"),
        ("(?'name'a)", "ecma", "(?<name>...)"),
    ],
)
def test_a_group_with_a_name_of_another_dialect(pattern, dialect, written):
    with pytest.raises(interlock.PatternError) as caught:
        interlock.check_regex(pattern, dialect=dialect)
    assert f"a group with a name is written {written}" in str(caught.value)


def test_what_is_no_name_is_not_taken_for_one():
    for pattern in ("(?<9>a)", "(?<", "(?q)a"):
        with pytest.raises(interlock.PatternError) as caught:
            interlock.check_regex(pattern)
        assert "a group with a name" not in str(caught.value)


def test_in_a_schema_the_name_is_written_as_ecma_has_it():
    with pytest.raises(interlock.PatternError, match=r"a group with a name is written \(\?<name>\.\.\.\)"):
        interlock.check_json_schema({"type": "string", "pattern": "(?P<n>a)"})


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"(?'n'a)\k<n>", None),
        (r"a\g<1>", "write out what the group may be"),
        (r"\Qa.b\E", r"leave out \Q and \E"),
        (r"a\z", "leave it out: the pattern is the whole output"),
        (r"\R", r"write (?:\r\n|[\n\r])"),
        (r"\h", r"write [ \t]"),
        (r"\e", r"write \x1b"),
        ("(?|a|b)", "write (?:...|...)"),
        ("(?^i:a)", "write the flags without ^"),
        ("(?P>n)", "a pattern cannot call itself"),
        ("(?R)", "a pattern cannot call itself"),
        ("(a(?1))", "a pattern cannot call itself"),
        ("(?&n)", "a pattern cannot call itself"),
        (r"\y", "leave out the backslash"),
    ],
)
def test_the_way_on_of_what_other_engines_have(tmp_path, pattern, way, dialect):
    error = machine(tmp_path, "inspect", f"pattern:{pattern}", "--dialect", dialect, code=3)["error"]
    assert error.get("remedy") is None if way is None else error["remedy"].startswith(way), error


def test_the_other_dialect_is_offered_beside_the_spelling(tmp_path):
    error = machine(tmp_path, "inspect", "pattern:(?<n>a)", code=3)["error"]
    assert error["remedy"] == "write it so; --dialect ecma takes the pattern as it stands"


def test_inside_of_a_schema_or_a_terminal_no_pattern_is_the_whole_output(tmp_path):
    for source in (r'schema:{"pattern": "a\\G"}', r"grammar:start: /a\z/"):
        error = machine(tmp_path, "inspect", source, code=3)["error"]
        assert "whole output" not in error["remedy"], error
