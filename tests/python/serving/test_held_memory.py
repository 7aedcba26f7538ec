"""What all sources of a process may hold together: who took much is refused more, and all others go on.

In a process of its own, since the bound is one for the process.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAM = '''
import gc
import random
import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

vocabulary = byte_vocabulary()
held = lambda: interlock.stats()["held_bytes"] >> 20
start = interlock.stats()["held_bytes"]
everyday = interlock.Index.from_grammar('start: /[a-z]+/ ("," /[a-z]+/)*', vocabulary)

def hostile(number):
    """Terminals that read the same texts, with many states each."""
    pairs = " | ".join(f"T{j} T{j + 1}" for j in range(300))
    terminals = "\\n".join(f"T{j}: /[a-z{j % 10}]*b[a-z]{{{j + number}}}/" for j in range(302))
    return f"start: (T0 | T1)+ | {pairs}\\n{terminals}"

def masks(guide):
    for token in b"ab":
        guide.allowed_token_ids()
        guide.advance(token)
    guide.allowed_token_ids()

def ends(number, keep):
    try:
        guide = interlock.Index.from_grammar(hostile(number), vocabulary, limits={"max_mask_steps": 500_000}).guide()
        keep.append(guide)
        masks(guide)
    except interlock.LimitError as error:
        assert error.field or error.code == "too_little_memory", error
        if error.field is None:
            answer = interlock.refusal(error)
            assert (answer.status, answer.reason, error.is_client_error) == (503, "memory", False), answer
            assert "send the request again later" in answer.message and "bytes" not in answer.message
        return error.field or str(error)

# 1. Nothing is refused for its memory as long as there is room.
kept = []
assert [ends(number, kept) for number in range(3)] == ["max_mask_steps"] * 3
assert held() > 60, held()

# 2. What running sources hold is bounded, whatever their number.
interlock.set_mask_cache_bytes(0)
answers = [ends(number, kept) for number in range(3, 15)]
assert "this source took many of them" in answers[-1] and "set_mask_cache_bytes" in answers[-1], answers
assert held() < 2 * 128, held()

# 3. So is what choices and schemas hold.
def words(number):
    drawn = random.Random(number)
    return [f"{drawn.getrandbits(40):x}{drawn.getrandbits(30):x}" for _ in range(20_000)]

for source in (
    lambda number: interlock.Index.from_choices(words(number), vocabulary),
    lambda number: interlock.Index.from_json_schema({"enum": words(-number - 1)}, vocabulary),
):
    seen = []
    for number in range(30):
        try:
            kept.append(source(number))
        except interlock.LimitError as error:
            seen.append(error.code)
    assert set(seen) == {"too_little_memory"} and len(seen) > 10, (seen, held())
    assert held() < 2 * 128, held()

# 4. Everyday sources compile, and run; so do those that were there.
guide = everyday.guide()
masks(guide)
assert len(interlock.Index.from_json_schema({"type": "object"}, vocabulary).guide(max_tokens=50).allowed_token_ids())
assert len(RequestCompiler(vocabulary).compile({"guided_grammar": 'start: "a" | "b"'}).guide.allowed_token_ids()) == 2

# Patterns go on where there is no room, and hold little.
before = held()
wide = [interlock.Index.from_regex(f"(.*[aeiou].{{{40 + i}}}x|.*[nt].{{{41 + i}}}y){{1,9}}", vocabulary).guide()
        for i in range(6)]
for guide in wide:
    for token in b"at noon the trains leave, and nobody sees them go or comes to meet them at all" * 8:
        guide.allowed_token_ids()
        assert guide.try_advance(token)
assert held() < before + 30, (before, held())
wide = guide = None

# 5. When the hostile ones are gone, there is room again.
kept.clear()
gc.collect()
assert held() < 10, held()
assert ends(20, kept) == "max_mask_steps"
kept.clear()
interlock.set_mask_cache_bytes(256 << 20)

# 6. Who keeps the error of a request keeps nothing of its source.
compiler, errors = RequestCompiler(vocabulary), []
interlock.clear_caches()
before = held()
for number in range(6):
    try:
        compiler.compile({"guided_grammar": hostile(30 + number), "max_tokens": 10})
    except interlock.BudgetError as error:
        errors.append(error)
assert len(errors) == 6
interlock.clear_caches()
assert held() <= before + 1, held()

del everyday
interlock.clear_caches()
gc.collect()
assert interlock.stats()["held_bytes"] <= start + (1 << 20)
'''


def test_what_all_sources_hold_is_bounded():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
