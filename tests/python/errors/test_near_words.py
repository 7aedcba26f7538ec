"""What is taken for a slip of a known word."""

from pathlib import Path

import pytest

import interlock
from interlock.util.near_words import meant, nearest


@pytest.mark.parametrize(
    ("word", "found"),
    [("lenght", "length"), ("LENGTH", "length"), ("Max_Depth", "max_depth"), ("x", ""), ("", "")],
)
def test_the_nearest_word(word, found):
    assert nearest(word, ["length", "width", "max_depth"]) == found


def test_of_words_that_differ_in_capitals_the_first_is_taken():
    assert nearest("index", ["Index", "index"]) == "Index"


def test_how_like_it_has_to_be():
    assert nearest("min" * 99_999, ["minimum"], 0.5) == ""
    assert nearest("minx", ["minimum"], 0.5) == "minimum" and nearest("minx", ["minimum"], 0.8) == ""


def test_the_end_of_a_message():
    assert meant("lenght", ["length"]) == "; did you mean 'length'?" and meant("x", ["length"]) == ""


def test_all_messages_share_it():
    """Nothing else in the package compares words, so that messages agree in what they take for a slip."""
    package = Path(interlock.__file__).parent
    users = [path.name for path in package.rglob("*.py") if "import difflib" in path.read_text(encoding="utf-8")]
    assert users == ["near_words.py"]
