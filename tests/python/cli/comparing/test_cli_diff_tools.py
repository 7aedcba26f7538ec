"""``diff`` of lists of tools: tool by tool, and by the keywords of their parameters."""

import json

import pytest
from command_line import machine, run

import interlock
from interlock.explain import byte_vocabulary

HERMES = ("--tool-format", "hermes")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NOW = {"name": "now", "parameters": {"type": "object", "properties": {}}}


def weather(description="", **days):
    parameters = CITY | {"properties": CITY["properties"] | {"days": {"type": "integer", "minimum": 1, **days}}}
    return {"name": "get_weather", "description": description, "parameters": parameters}


def sources(*requests):
    return ["tools:" + json.dumps(request) for request in requests]


def compared(folder, first, second, *options, code=1, form="hermes"):
    return machine(folder, "diff", *sources(first, second), "--tool-format", form, *options, code=code)


def accepts(tools, text):
    guide = interlock.Index.from_tools(tools, byte_vocabulary(), format="hermes").guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


def test_a_bound_of_one_tool_decides(folder):
    first, second = [weather(maximum=7), NOW], [NOW, weather("With more days.", maximum=9)]
    done = run(folder, "diff", *sources(first, second), *HERMES, code=1)
    lines = done.stdout.splitlines()
    assert lines[0] == "the first accepts less" and lines[1].startswith("  only the second accepts: ")
    assert lines[2:] == [
        "  tool get_weather /properties/days: maximum 7 -> 9; the first accepts less",
        "  decided by the tools in which the two lists differ",
    ]
    found = compared(folder, first, second, "--allow", "wider", code=0)
    assert found["decided_by"] == "tools" and found["allowed"] is True
    assert accepts(second, found["only_second"]) and not accepts(first, found["only_second"])
    assert compared(folder, second, first, "--allow", "wider")["relation"] == "the second accepts less"


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_tools_that_were_added_or_removed(folder, choice):
    first, second = [NOW, weather()], [NOW]
    found = compared(folder, first, second, "--tool-choice", choice)
    assert found["relation"] == "the second accepts less"
    assert found["tools"] == [{"name": "get_weather", "change": "removed"}]
    both = compared(folder, first, [NOW, {"name": "add"}], "--tool-choice", choice)
    assert both["relation"] == "different" and both["only_first"] and both["only_second"]
    assert [change["change"] for change in both["tools"]] == ["removed", "added"]


def test_order_and_descriptions_do_not_count(folder):
    done = run(folder, "diff", *sources([weather("One."), NOW], [NOW, weather("Another.")]), *HERMES)
    assert done.stdout.splitlines()[0] == "equal"


def test_what_is_not_enforced_does_not_count(folder):
    first, second = ([{**weather(maximum=most), "strict": False}, NOW] for most in (7, 9))
    assert compared(folder, first, second, code=0)["relation"] == "equal"


def test_where_more_differs_it_is_listed_only(folder):
    first = {"tools": [weather(maximum=7)]}
    found = compared(folder, first, {"tools": [weather(maximum=9)], "parallel_tool_calls": False})
    assert found["relation"] != "the first accepts less" and "differ in more than tools" in found["cause"]
    assert found["tools"][0]["differences"] == [{"pointer": "/properties/days/maximum", "first": 7, "second": 9}]


def test_in_a_text_of_another_notation_nothing_is_certain_but_a_text(folder):
    """A name that is no tool's may stand in text after a bracket, where it opens no call."""
    found = compared(folder, [weather(maximum=9)], [weather(maximum=9), NOW], form="pythonic", code=5)
    assert found["relation"] == "not decided" and found["tools"] == [{"name": "now", "change": "added"}]


def test_values_that_are_written_in_other_ways_are_not_equal(folder):
    """A string with a pattern has no escapes that it does not need. Another string may have any."""
    free, held = (
        {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string", **more}}}}
        for more in ({}, {"pattern": "^(.|\\n|\\r|\\u2028|\\u2029)*$"})
    )
    assert compared(folder, [free], [held], code=5)["relation"] == "not decided"
