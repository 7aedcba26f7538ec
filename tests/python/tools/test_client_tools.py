"""Tools and ``tool_choice`` of a request that are not well formed: what its client reads."""

from __future__ import annotations

import functools
import interlock
import pytest
from interlock import RequestError, check_tools

NAMED = {"type": "function", "function": {"name": "get_weather"}}
CUSTOM = {"type": "custom", "name": "dial", "format": {"type": "text"}}


def refused(tools, **options):
    with pytest.raises(RequestError) as caught:
        check_tools(tools, format="hermes", **options)
    return caught.value


@pytest.mark.parametrize(
    ("tool", "kind"), [(1, "a number"), ("a", "a string"), (None, "null"), ([], "an array"), (True, "a boolean")]
)
def test_a_tool_that_is_no_object(tool, kind):
    error = refused([NAMED, tool])
    assert error.pointer == "/tools/1"
    assert error.client_message == f"at /tools/1: a tool is an object with type and function, not {kind}"
    assert str(error) == f"{error.client_message}; a class or an annotated function is a tool too"


def test_a_python_object_that_is_no_tool():
    error = refused([object()])
    assert "a tool is an object with a name, a class or an annotated function, not object" in str(error)
    # What is called as a function, and is none, has no annotations of its own.
    error = refused([functools.partial(print, "a")])
    assert "a tool is an annotated function, and partial is an object" in str(error)
    assert "write a function with annotations that calls it" in str(error)


@pytest.mark.parametrize(
    ("kind", "meant"),
    [("func", "function"), ("Function", "function"), ("funtcion", "function"), ("custm", "custom"), ("cust", "custom")],
)
def test_a_slip_of_a_tools_type(kind, meant):
    error = refused([{"type": kind, "function": {"name": "a"}}])
    assert (error.pointer, error.reason) == ("/tools/0/type", f"no tool has the type {kind!r}; did you mean {meant!r}?")


@pytest.mark.parametrize("kind", ["web_search", "file_search", "code_interpreter", "mcp", "computer_20250124", "f", 5])
def test_a_tool_of_a_provider_is_no_slip(kind):
    assert "is a tool of a provider" in refused([{"type": kind}]).reason


@pytest.mark.parametrize(
    ("tool", "pointer", "said"),
    [
        ({"toolSpec": {"name": "a", "inputSchema": {"json": {}}}}, "/tools/0/toolSpec", "this is Bedrock's shape"),
        ({"functionDeclarations": [{"name": "a"}]}, "/tools/0/functionDeclarations", "this is Gemini's shape"),
        ({"function_declarations": [{"name": "a"}]}, "/tools/0/function_declarations", "this is Gemini's shape"),
    ],
)
def test_tools_in_the_shape_of_another_interface(tool, pointer, said):
    error = refused([tool])
    assert error.pointer == pointer and error.reason.startswith(said)
    assert '{"type": "function", "function": {"name": …, "parameters": …}}' in error.reason


@pytest.mark.parametrize(
    ("choice", "end"),
    [
        ("requird", "not 'requird'; did you mean 'required'?"),
        ("Auto", "not 'Auto'; did you mean 'auto'?"),
        ("always", "not 'always'"),
        (5, "not 5"),
        ("get_weather", 'not \'get_weather\'; write {"type": "function", "function": {"name": "get_weather"}}'),
        ("dial", 'not \'dial\'; write {"type": "custom", "custom": {"name": "dial"}}'),
    ],
)
def test_a_tool_choice_that_is_none(choice, end):
    error = refused([NAMED, CUSTOM], tool_choice=choice)
    assert error.pointer == "/tool_choice" and error.reason.endswith(end)


def test_the_choice_that_the_message_shows_is_taken():
    for tool in (NAMED, CUSTOM):
        name = tool["name"] if tool is CUSTOM else "get_weather"
        kind = tool["type"]
        interlock.check_tools([NAMED, CUSTOM], format="hermes", tool_choice={"type": kind, kind: {"name": name}})
