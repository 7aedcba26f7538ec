"""What a type checker infers of calls; `test_types.py` has mypy read this file, nothing runs it."""

import re
from typing import Any, assert_type
import dataclasses
import interlock
from interlock.generators import Completion, Generator, Stream
from interlock.generators.local import LocalGenerator


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
    assert_type(gen("x", User, details=True), Completion[User])
    assert_type(gen("x", User, details=True).value, User)
    assert_type(gen(["x"], User, details=True), list[Completion[User]])
    assert_type(gen.batch(["x"], User, details=True), list[Completion[User]])
    assert_type(gen.batch(["x"], User), list[User])
    assert_type(gen.batch(["x", "y"], [User, User]), list[User])
    assert_type(gen.stream("x", User), Stream[User])
    check_returned(gen, model, tokenizer)
    program = interlock.Program(local, "x")
    assert_type(program.gen("n", int), int)
    assert_type(program.gen("n", stop="x"), str)
    assert_type(program.gen("n"), str)
    assert_type(program.select("s", ["a"]), str)
    assert_type(program.select("s", {"a": 1}), int)
    program += "text"
    assert_type(interlock.index_from_type(User, local.vocabulary), interlock.Index)


def check_returned(gen: interlock.Generator, model: object, tokenizer: object) -> None:
    Refused = interlock.InvalidOutputError
    assert_type(gen("x", User, errors="raise"), User)
    assert_type(gen("x", User, errors="return"), User | interlock.InvalidOutputError)
    assert_type(gen("x", errors="return"), str | interlock.InvalidOutputError)
    assert_type(gen(["x"], User, errors="return", max_tokens=5), list[User | interlock.InvalidOutputError])
    assert_type(gen(["x"], ["a", "b"], errors="return"), list[str | interlock.InvalidOutputError])
    assert_type(gen.batch(["x"], errors="return"), list[str | interlock.InvalidOutputError])
    assert_type(interlock.generate(model, tokenizer, "x", User, errors="return"), User | interlock.InvalidOutputError)
    found = gen("x", User, errors="return")
    if not isinstance(found, Refused):
        assert_type(found, User)


def check_mistakes(gen: Generator, local: LocalGenerator) -> None:
    """Each of these lines is an error; without one, mypy reports an ignore that nothing needs."""
    gen("x", int, temprature=1)  # type: ignore[call-overload]
    gen("x", int, temperature="hot")  # type: ignore[call-overload]
    gen(["x"], int, errors="keep")  # type: ignore[call-overload]
    gen.batch(["x"], int, max_token=1)  # type: ignore[call-overload]
    interlock.Program(local, "x", temprature=1)  # type: ignore[call-arg]


def check_options(gen: Generator, local: LocalGenerator) -> None:
    more: dict[str, Any] = {"typical_p": 0.9}
    gen("x", int, **more)
    assert_type(gen.batch(["x"], int, errors="return"), list[int | interlock.InvalidOutputError])
    assert_type(gen("x", interlock.grammars.load("json")), str)
    assert_type(local.trace("x", int).value, int)


async def check_awaited(gen: Generator) -> None:
    """A call that is awaited has the types of a call."""
    assert_type(await gen.agenerate("x", User), User)
    assert_type(await gen.agenerate("x"), str)
    assert_type(await gen.agenerate("x", list[int], max_tokens=5, temperature=0.5), list[int])
    assert_type(await gen.agenerate(["x"], User), list[User])
    assert_type(await gen.agenerate(["x"], ["a", "b"]), list[str])
    assert_type(await gen.agenerate("x", User, errors="return"), User | interlock.InvalidOutputError)
    assert_type(await gen.agenerate(["x"], errors="return"), list[str | interlock.InvalidOutputError])
    assert_type(await gen.agenerate("x", User, stream=True), Stream[User])
    await gen.agenerate("x", int, temprature=1)  # type: ignore[call-overload]
