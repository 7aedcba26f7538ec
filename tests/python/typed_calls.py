"""What a type checker infers of calls; `test_types.py` has mypy read this file, nothing runs it."""

import re
from typing import assert_type
import dataclasses
import interlock
from interlock.generators import Generator, Stream
from interlock.generators.base import LocalGenerator


@dataclasses.dataclass
class User:
    name: str


def check(gen: Generator, local: LocalGenerator, model: object, tokenizer: object) -> None:
    assert_type(interlock.generate(model, tokenizer, "x", User), User)
    assert_type(interlock.generate(model, tokenizer, "x"), str)
    assert_type(interlock.generate(model, tokenizer, "x", re.compile("a")), str)
    assert_type(interlock.generate(model, tokenizer, "x", interlock.Grammar('start: "a"')), str)
    assert_type(gen("x", User), User)
    assert_type(gen("x", int, max_tokens=5, temperature=0.5), int)
    assert_type(gen("x", list[int]), list[int])
    assert_type(gen("x"), str)
    assert_type(gen("x", ["a", "b"]), str)
    assert_type(gen([{"role": "user", "content": "x"}], User), User)
    assert_type(gen(["x", "y"], User), list[User])
    assert_type(gen(["x", "y"]), list[str])
    assert_type(gen("x", User, stream=True), Stream[User])
    assert_type(gen("x", User, stream=True).value, User)
    assert_type(gen.batch(["x"], User), list[User])
    assert_type(gen.stream("x", User), Stream[User])
    program = interlock.Program(local, "x")
    assert_type(program.gen("n", int), int)
    assert_type(program.gen("n", stop="x"), str)
    assert_type(program.gen("n"), str)
    assert_type(program.select("s", ["a"]), str)
    assert_type(program.select("s", {"a": 1}), int)
    program += "text"
    assert_type(interlock.index_from_type(User, local.vocabulary), interlock.Index)
