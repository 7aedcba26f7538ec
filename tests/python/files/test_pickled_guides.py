"""A guide that was pickled is the guide that it was: in another process, after any number of tokens, in the middle of a
tool call, with a budget, with text from outside.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

import interlock
from interlock import events

pytestmark = pytest.mark.usefixtures("compiled_anew")

TOKENS = [bytes([i]) for i in range(256)] + [
    b"",
    b"<tool_call>",
    b"</tool_call>",
    b"name",
    b"ab",
    b'": "',
    b'{"',
    b"</s>",
]
END, CALL, CALL_END, OTHER_END = 256, 257, 258, 263
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"name": "get", "parameters": PARAMETERS}, {"name": "now"}]
SCHEMA = {"type": "array", "items": {"enum": ["ab", "12", None]}, "uniqueItems": True}
TAG = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</n>"}
OPTIONS = [
    {},
    {"max_tokens": 90},
    {"max_tokens": 90, "min_tokens": 3},
    {"context_ids": [97, 98]},
    {"stop_token_ids": [END, OTHER_END]},
]


def vocabulary():
    return interlock.Vocabulary(TOKENS, eos_token_ids=[END], special_token_ids=[END, CALL, CALL_END, OTHER_END])


def made(kind, of):
    """An index, and an output of it."""
    if kind == "tools":
        call = b'\n{"name": "get", "arguments": {"city": "Rome \xc3\xa9", "n": 4}}\n'
        index = interlock.Index.from_tools(TOOLS, of, format="hermes")
        return index, [*b"Well, ", CALL, *call, CALL_END, END]
    index, text = {
        "pattern": (lambda: interlock.Index.from_regex("[a-c]{3,9}x+", of), b"abcax"),
        "choices": (lambda: interlock.Index.from_choices(["yes", "no"], of), b"yes"),
        "schema": (lambda: interlock.Index.from_json_schema(SCHEMA, of), b'["ab", null]'),
        "grammar": (lambda: interlock.Index.from_grammar(GRAMMAR, of), b"x=17;3"),
        "tag": (lambda: interlock.Index.from_structural_tag(TAG, of), b"<n>12</n>"),
    }[kind]
    return index(), [*text, END]


GRAMMAR = 'start: "x=" n (";" n)*\nn[capture]: /[0-9]+/'
KINDS = ("pattern", "choices", "schema", "grammar", "tag", "tools")


def seen(guide):
    """Everything that a guide says, but for its events and what is its index's own: its memory and its ``state``."""
    bits = interlock.allocate_bitmask(1, guide.index.vocabulary)
    guide.fill_bitmask(bits)
    facts = {
        name: getattr(guide, name) for name in ("tokens", "num_tokens", "is_accepting", "is_terminated", "must_stop")
    }
    try:
        least = guide.min_tokens_to_finish()
    except interlock.BudgetError as error:
        least = str(error)
    forced = (guide.forced_bytes(), guide.forced_tokens(), guide.forced_tokens(canonical=False))
    return facts | {"mask": bits.tobytes(), "least": least, "forced": forced, "shown": repr(guide)}


def going_on(guide, rest):
    """What a guide says on its way to the end, with its events, and when it goes back."""
    out = [(seen(guide), guide.events())]
    for token in rest:
        guide.advance(token)
        out.append((seen(guide), guide.events()))
    guide.rollback(min(4, guide.num_tokens))
    out.append((seen(guide), guide.events()))
    guide.reset()
    return [*out, (seen(guide), guide.events())]


def of_pickle(data, rest):
    """``going_on`` in another process."""
    return going_on(pickle.loads(data), rest)


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_a_guide_after_every_token(kind, options):
    index, tokens = made(kind, vocabulary())
    for every in (0, 1, 3):  # Nobody asks for events, or after each token, or after some.
        guide = index.guide(**options)
        for number, token in enumerate(tokens):
            guide.advance(token)
            if every and number % every == 0:
                guide.events()
            if number % 5 == 0 or number > len(tokens) - 3:
                rest = tokens[number + 1 :]
                assert going_on(pickle.loads(pickle.dumps(guide)), rest) == going_on(guide.fork(), rest), number


def test_what_was_taken_back_is_told_by_the_pickled_guide():
    index, tokens = made("tools", vocabulary())
    guide = index.guide()
    for token in tokens[:20]:
        guide.advance(token)
        guide.events()
    guide.rollback(18)
    again = pickle.loads(pickle.dumps(guide))
    told = again.events()
    assert told == guide.events() and isinstance(told[0], events.TakenBack) and told[0].count > 0
    assert pickle.loads(pickle.dumps(guide)).events() == []
    # Also where nothing is left of what was given.
    guide.rollback(2)
    assert pickle.loads(pickle.dumps(guide)).events() == guide.events() == [events.TakenBack(2)]


def test_text_from_outside():
    index, tokens = made("tools", vocabulary())
    guide = index.guide(max_tokens=90)
    guide.advance_many(tokens[:6])
    guide.events()
    guide.force(["(", CALL_END, "ab)"])
    for token in ([], [ord("(")], [CALL_END, CALL_END + 2, ord(")")]):
        guide.advance_many(token)
        again = pickle.loads(pickle.dumps(guide))
        assert seen(again) == seen(guide) and again.fork().events() == guide.fork().events()
        assert pickle.loads(pickle.dumps(again)).fork().events() == guide.fork().events()
    rest = tokens[6:]
    assert going_on(again, rest) == going_on(guide, rest)


def test_budgets_of_complete_tables():
    index = interlock.Index.from_regex("(ab){2,4}", vocabulary())
    index.build()
    guide = index.guide(max_tokens=3)
    guide.advance(TOKENS.index(b"ab"))
    again = pickle.loads(pickle.dumps(guide))
    assert going_on(again, [TOKENS.index(b"ab"), END]) == going_on(guide, [TOKENS.index(b"ab"), END])


def test_a_process_that_was_spawned():
    of = vocabulary()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for kind, options in (("tools", OPTIONS[1]), ("schema", OPTIONS[2]), ("grammar", OPTIONS[0])):
            index, tokens = made(kind, of)
            guide = index.guide(**options)
            half = len(tokens) // 2  # In the middle of a call's arguments.
            guide.advance_many(tokens[:half])
            guide.events()
            found = pool.submit(of_pickle, pickle.dumps(guide), tokens[half:]).result()
            assert found == going_on(guide, tokens[half:])


def test_others_that_can_be_pickled(tmp_path):
    of = vocabulary()
    index, tokens = made("tools", of)
    detached = interlock.without_vocabulary(index)
    limits = interlock.Limits(max_depth=50)
    store = interlock.Store(tmp_path / "store")
    grammar = interlock.Grammar(GRAMMAR)
    report = interlock.check_json_schema({"type": "string", "x-a": 1})
    told = index.parse(of.decode([token for token in tokens if token != END]))
    for one in (of, index, limits, grammar, report, told):
        assert pickle.loads(pickle.dumps(one)) == one and copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(detached)).attach(of) == index
    assert pickle.loads(pickle.dumps(store)).path == store.path
    for error in refused():
        same = pickle.loads(pickle.dumps(error))
        assert type(same) is type(error) and str(same) == str(error)
        for name in ("pointer", "keyword", "place", "limit", "value", "field", "hint", "client_message", "line"):
            assert getattr(same, name) == getattr(error, name), (error, name)


def refused():
    """An error of each kind that a client's source brings about."""
    of = vocabulary()
    calls = (
        lambda: interlock.check_json_schema({"items": {"type": "objct"}}),
        lambda: interlock.check_regex("a(b"),
        lambda: interlock.check_regex("a" * 50, limits={"max_source_bytes": 9}),
        lambda: interlock.check_tools([{"name": ""}], format="hermes"),
        lambda: interlock.check_structural_tag({"type": "nope"}),
        lambda: interlock.Index.from_regex("a{30}", of).guide(max_tokens=3),
    )
    for call in calls:
        with pytest.raises(interlock.InterlockError) as caught:
            call()
        yield caught.value
