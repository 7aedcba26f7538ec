"""A question with fixed answers: the model can say nothing else, and choices may share beginnings.

python examples/multiple_choice.py [--model smollm2]
"""

import sys

from models import arguments, generator

QUESTIONS = {
    "Which planet is the largest?": ["Mars", "Mercury", "Jupiter", "Venus"],
    "Is water wet? Answer in one word.": ["yes", "no", "yes and no"],
    "Wie heißt die Hauptstadt von Österreich?": ["Graz", "Wien", "Köln", "🤷"],
}


def main(argv=None):
    gen = generator(arguments(__doc__, argv).model)
    for question, choices in QUESTIONS.items():
        answer = gen(question, choices)
        print(question, answer)
        if answer not in choices:
            sys.exit(f"{answer!r} is none of {choices}")


if __name__ == "__main__":
    main()
