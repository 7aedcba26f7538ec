"""What generators keep of earlier calls, in one thread and in several."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import pytest

from interlock.generators.recently_used import RecentlyUsed
from scripted_generator import ScriptedGenerator


def test_the_last_used_stay():
    kept = RecentlyUsed[list](2)
    a, b = kept.get_or_make("a", list), kept.get_or_make("b", list)
    assert kept.get_or_make("a", list) is a
    kept.get_or_make("c", list)
    assert kept.get_or_make("a", list) is a
    assert kept.get_or_make("b", list) is not b


def test_an_unhashable_key_is_an_error():
    with pytest.raises(TypeError, match="unhashable"):
        RecentlyUsed[list](2).get_or_make([], list)


def test_an_error_keeps_nothing():
    kept = RecentlyUsed[int](2)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            kept.get_or_make("a", lambda: 1 // 0)
    assert kept.get_or_make("a", lambda: 1) == 1


def test_a_key_that_leaves_while_its_value_is_made():
    """As another thread would, whose own keys fill the room meanwhile."""
    kept = RecentlyUsed[str](1)

    def make() -> str:
        kept.get_or_make("b", lambda: "B")
        return "A"

    assert [kept.get_or_make("a", make), kept.get_or_make("b", lambda: "B")] == ["A", "B"]


def test_threads_that_make_one_value_get_the_same():
    kept = RecentlyUsed[list](4)
    together = threading.Barrier(2)

    def make() -> list:
        together.wait()
        return []

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: kept.get_or_make("a", make), range(2))
    assert one is other


@pytest.mark.parametrize("method", ["output_type", "index"])
def test_threads_share_a_generator(method, monkeypatch):
    """Before each step on what is kept, another thread asks for a type of its own, for which another has to leave."""
    monkeypatch.setattr("interlock.generators.base.KEPT", 1)
    monkeypatch.setattr("interlock.generators.local.KEPT", 1)
    ask = getattr(ScriptedGenerator(), method)
    types = [("a", "b"), ("c", "d")]
    steps: list[str] = []

    def step(_frame: object, event: str, called: object) -> None:
        if event == "c_call" and isinstance(getattr(called, "__self__", None), OrderedDict):
            steps.append(called.__name__)
            other = threading.Thread(target=ask, args=(types[1],))
            other.start()
            other.join()

    before = sys.getprofile()
    for _ in range(2):
        first = ask(types[0])
        sys.setprofile(step)
        try:
            found = ask(types[0])
        finally:
            sys.setprofile(before)
        assert "move_to_end" in steps
        assert type(found) is type(first)
