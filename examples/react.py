"""Reason and act: the model thinks and picks a tool, Python calls it, and the last turn must finish.

python examples/react.py [--model smollm2]
"""

import sys

from models import arguments, generator

MILLIONS = {"France": 68, "Japan": 124, "Peru": 34}


def main(argv=None):
    gen = generator(arguments(__doc__, argv).model)
    program = gen.program("Which of France, Japan and Peru has the most inhabitants? Look them up, then finish.\n")
    for turn in (1, 2, 3):
        program += f"Thought {turn}: "
        program.gen("thought", stop="\n", max_tokens=30)
        program += f"\nAct {turn}: "
        act = program.select("act", ["lookup", "finish"] if turn < 3 else ["finish"])
        program += "["
        country = program.select("country", list(MILLIONS))
        program += "]\n"
        if act == "finish":
            break
        program += f"Observation {turn}: {country} has {MILLIONS[country]} million inhabitants.\n"
    print(program)
    if program["act"] != "finish" or f"[{program['country']}]" not in str(program):
        sys.exit("the last turn did not finish")


if __name__ == "__main__":
    main()
