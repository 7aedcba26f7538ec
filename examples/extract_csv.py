"""A table out of prose: the columns are a pattern, so that whatever comes is CSV with the right number of fields.

python examples/extract_csv.py [--model smollm2]
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence

from models import arguments, load

import interlock
from interlock.integrations.transformers import JumpForwardStats, jump_forward

HEADER = "name,age,city"
CITIES = ("Berlin", "Lagos", "Quito")
ROW = rf'"[A-Z][a-z]{{1,11}}(, [A-Z][a-z]{{1,11}})?",(1[01][0-9]|[1-9]?[0-9]),({"|".join(CITIES)})\n'
PROSE = "Doe, Jane is 34 and lives in Berlin. Her brother Tom, two years younger, moved to Quito; Ada, 61, is in Lagos."


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    index = interlock.Index.from_regex(rf"{HEADER}\n({ROW}){{2,4}}", writer.vocabulary)
    stats = JumpForwardStats()
    (ids,) = writer.generate(
        f"{PROSE}\nMake a CSV table with the columns {HEADER} of this.",
        custom_generate=jump_forward,
        constraints=index,
        do_sample=False,
        max_new_tokens=400,
        stats=stats,
    )
    text = writer.text(ids)
    print(text, end="")
    print(f"({stats.model_calls} calls of the model for {len(ids)} tokens)")
    header, *rows = csv.reader(io.StringIO(text))
    if header != HEADER.split(",") or not 2 <= len(rows) <= 4:
        sys.exit(f"not the table that was asked for: {text!r}")
    for row in rows:
        if len(row) != 3 or not 0 <= int(row[1]) < 120 or row[2] not in CITIES:
            sys.exit(f"not a row of the table: {row}")


if __name__ == "__main__":
    main()
