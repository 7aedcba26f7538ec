"""A question with fixed answers: the model can say nothing else, and choices may share beginnings.

python examples/multiple_choice.py [--model smollm2]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from models import arguments, load

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor

QUESTIONS = {
    "Which planet is the largest?": ["Mars", "Mercury", "Jupiter", "Venus"],
    "Is water wet? Answer in one word.": ["yes", "no", "yes and no"],
    "Wie heißt die Hauptstadt von Österreich?": ["Graz", "Wien", "Köln", "🤷"],
}


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    for question, choices in QUESTIONS.items():
        index = interlock.Index.from_choices(choices, writer.vocabulary)
        processor = GuideLogitsProcessor(index)
        (ids,) = writer.generate(question, logits_processor=[processor], do_sample=False, max_new_tokens=40)
        answer = writer.text(ids)
        print(f"{question} {answer}")
        if answer not in choices:
            sys.exit(f"{answer!r} is none of {choices}")


if __name__ == "__main__":
    main()
