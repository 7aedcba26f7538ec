"""Long work ends when it is told to: by Ctrl-C in the main thread, or by a token from another one."""

import contextlib
import signal
import threading

import time

import pytest

import interlock
from long_work import HARD, NO_LIMITS

RECURSIVE = {"type": "array", "items": {"$ref": "#"}}


def works(vocabulary):
    """The process goes on as if nothing had happened."""
    with pytest.raises(interlock.LimitError):
        interlock.Index.from_regex(HARD, vocabulary)
    assert interlock.Index.from_regex("a+", vocabulary).guide().try_advance(ord("a"))


def language_size(vocabulary, cancel):
    index = interlock.Index.from_json_schema(RECURSIVE, vocabulary, limits=NO_LIMITS, cancel=cancel)
    index.language_size(cancel=cancel)


def builds(vocabulary, cancel):
    """Each is short, and they have no end."""
    while True:
        interlock.Index.from_regex("[a-z]{1,3000}", vocabulary).build(cancel=cancel)


LONG = {
    "pattern": lambda v, c: interlock.Index.from_regex(HARD, v, limits=NO_LIMITS, cancel=c),
    "schema": lambda v, c: interlock.Index.from_json_schema(
        {"type": "string", "pattern": HARD}, v, limits=NO_LIMITS, cancel=c
    ),
    "language": language_size,
    "build": builds,
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the platform has no timers of signals")
@pytest.mark.parametrize("name", LONG)
def test_a_signal_ends_the_work(name, byte_vocabulary):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            LONG[name](byte_vocabulary, None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    works(byte_vocabulary)


@pytest.mark.parametrize("name", ["pattern", "schema", "language", "build"])
def test_a_token_ends_the_work(name, byte_vocabulary):
    token = interlock.CancelToken()
    assert not token.is_cancelled and "cancelled" not in repr(token)
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    with pytest.raises(interlock.CancelledError) as caught:
        LONG[name](byte_vocabulary, token)
    timer.join()
    assert token.is_cancelled and "cancelled" in repr(token)
    # Not the client's fault.
    assert not isinstance(caught.value, ValueError)
    works(byte_vocabulary)


def test_a_token_in_another_thread(byte_vocabulary):
    token, outcome = interlock.CancelToken(), []

    def work():
        try:
            LONG["pattern"](byte_vocabulary, token)
        except interlock.CancelledError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    # This thread has the GIL meanwhile.
    assert interlock.Index.from_choices(["a"], byte_vocabulary).guide().try_advance(ord("a"))
    token.cancel()
    thread.join()
    assert len(outcome) == 1


def test_a_cancelled_token_lets_nothing_begin(byte_vocabulary):
    token = interlock.CancelToken()
    index = interlock.Index.from_regex("a", byte_vocabulary, cancel=token)
    token.cancel()
    for make in [
        lambda: interlock.Index.from_regex("a", byte_vocabulary, cancel=token),
        lambda: interlock.Index.from_choices(["a"], byte_vocabulary, cancel=token),
        lambda: interlock.Index.from_json_schema({}, byte_vocabulary, cancel=token),
        lambda: interlock.Index.from_regex("ab", byte_vocabulary).build(cancel=token),
        lambda: index.language_size(cancel=token),
        lambda: index.shortest_member(cancel=token),
        lambda: index.random_member(cancel=token),
        lambda: index.automaton(cancel=token),
        lambda: index.witness_not_in(index, cancel=token),
        lambda: index.witness_in_both(index, cancel=token),
        lambda: index.is_subset_of(index, cancel=token),
        lambda: index.is_equivalent_to(index, cancel=token),
    ]:
        with pytest.raises(interlock.CancelledError):
            make()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the platform has no timers of signals")
def test_a_handler_may_compile_and_load(byte_vocabulary, tmp_path):
    schema = {"properties": {f"p{i}": {"type": "string", "maxLength": i} for i in range(20)}}
    interlock.Index.from_json_schema(schema, byte_vocabulary).save(tmp_path / "pack")
    handled = []

    def handler(number, frame):
        handled.append(interlock.Index.load(tmp_path / "pack", byte_vocabulary).guide().validate(b"{}"))
        if len(handled) == 3:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        with pytest.raises(KeyboardInterrupt):
            interlock.Index.from_regex(HARD, byte_vocabulary, limits=NO_LIMITS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled[:3] == [2, 2, 2]
    works(byte_vocabulary)


def test_progress_is_no_part_of_the_build(byte_vocabulary):
    built = interlock.Index.from_regex("(ab|abc)*1{0,3}", byte_vocabulary)
    built.build()
    guide, token, reasons = built.guide(), interlock.CancelToken(), []

    def progress(done, total):
        token.cancel()
        # Compiles the source of the other index again.
        reasons.append(guide.explain(ord("x")))

    # Work that has ended is not cancelled.
    with contextlib.suppress(interlock.CancelledError):
        interlock.Index.from_regex("[a-z]{1,3000}", byte_vocabulary).build(progress=progress, cancel=token)
    assert reasons and all("refused" in reason for reason in reasons)
    assert guide.try_advance(ord("a"))


@pytest.mark.parametrize("name", LONG)
def test_a_deadline_ends_the_work(name, byte_vocabulary):
    token = interlock.CancelToken.after(0.2)
    assert not token.is_cancelled
    with pytest.raises(interlock.CancelledError, match=r"^the work took longer than its deadline of 0\.2 seconds$"):
        LONG[name](byte_vocabulary, token)
    assert token.is_cancelled
    works(byte_vocabulary)


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties", "propertyNames", "not"])
def test_nested_counts_in_a_schema_end_soon(keyword, byte_vocabulary):
    """How many texts such a pattern has is not counted to the end."""
    pattern = "^((((e{1,99}){1,99}){1,99}){1,99})$"
    schema = {
        "pattern": {"pattern": pattern},
        "patternProperties": {"patternProperties": {pattern: {}}},
        "propertyNames": {"propertyNames": {"pattern": pattern}},
        "not": {"type": "string", "not": {"pattern": pattern}},
    }[keyword]
    begin = time.process_time()
    with contextlib.suppress(interlock.CancelledError):
        interlock.Index.from_json_schema(schema, byte_vocabulary, cancel=interlock.CancelToken.after(0.1))
    assert time.process_time() - begin < 0.6


def test_deadlines_bound_checks_and_stores_too(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    for call in (
        lambda late: interlock.check_regex("a", cancel=late),
        lambda late: interlock.check_tools([{"name": "now"}], format="hermes", cancel=late),
        lambda late: interlock.check_response_format({"type": "regex", "pattern": "a"}, cancel=late),
        lambda late: interlock.Index.from_structural_tag({"type": "any_text"}, byte_vocabulary, cancel=late),
        lambda late: store.get_or_compile("regex", "a", byte_vocabulary, cancel=late),
        lambda late: interlock.Index.from_regex("a", byte_vocabulary).language_size(cancel=late),
    ):
        with pytest.raises(interlock.CancelledError, match="deadline of 0 seconds"):
            call(interlock.CancelToken.after(0))
        call(interlock.CancelToken.after(3600))
        call(interlock.CancelToken.after(1e9))


def test_a_token_with_a_deadline_can_be_cancelled_before():
    token = interlock.CancelToken.after(3600)
    token.cancel()
    with pytest.raises(interlock.CancelledError, match="the work was cancelled"):
        interlock.check_regex("a", cancel=token)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e300])
def test_deadlines_are_seconds(seconds):
    with pytest.raises(interlock.ArgumentError, match="seconds is .*: a number of seconds from 0 is needed"):
        interlock.CancelToken.after(seconds)
    with pytest.raises(TypeError, match="seconds must be a number, not str"):
        interlock.CancelToken.after("2")
    with pytest.raises(TypeError, match=r"takes no arguments; CancelToken\.after\(seconds\) is one with a deadline"):
        interlock.CancelToken(seconds)


def test_a_deadline_is_told_from_a_call_of_cancel():
    gone = interlock.CancelToken.after(100)
    gone.cancel()
    for cancel, is_deadline in ((interlock.CancelToken.after(0), True), (gone, False)):
        with pytest.raises(interlock.CancelledError) as caught:
            interlock.check_regex("a", cancel=cancel)
        assert caught.value.is_deadline is is_deadline
