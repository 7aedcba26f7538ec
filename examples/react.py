"""Reason and act: every turn is a thought and an action that a program can carry out; the last turn must finish.

The index of a turn is a pattern. What the actions return goes back into the prompt.

    python examples/react.py [--model smollm2]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from models import arguments, load

import interlock
from interlock.integrations.transformers import jump_forward

FACTS = {"France": "68 million inhabitants", "Japan": "124 million inhabitants", "Peru": "34 million inhabitants"}
THOUGHT = r"Thought: [A-Z][a-z ,']{3,60}\.\n"
LOOKUP = rf"Action: lookup\[({'|'.join(FACTS)})\]"
FINISH = rf"Action: finish\[({'|'.join(FACTS)})\]"
TURNS = 3


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    either = interlock.Index.from_regex(f"{THOUGHT}({LOOKUP}|{FINISH})", writer.vocabulary)
    last = interlock.Index.from_regex(f"{THOUGHT}{FINISH}", writer.vocabulary)
    text = "Which of France, Japan and Peru has the most inhabitants? Think, then act: lookup[...] or finish[...].\n"
    print(text, end="")
    for turn in range(TURNS):
        index = last if turn == TURNS - 1 else either
        (ids,) = writer.generate(
            text, custom_generate=jump_forward, constraints=index, do_sample=False, max_new_tokens=150
        )
        step = writer.text(ids)
        print(step)
        found = re.fullmatch(r"(?s)Thought: .*\nAction: (lookup|finish)\[(.*)\]", step)
        if found is None or found[2] not in FACTS:
            sys.exit(f"not an action: {step!r}")
        if found[1] == "finish":
            print(f"The answer is {found[2]}.")
            return
        observation = f"Observation: {FACTS[found[2]]}"
        print(observation)
        text += f"{step}\n{observation}\n"
    sys.exit("the last turn did not finish")


if __name__ == "__main__":
    main()
