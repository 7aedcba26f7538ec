"""A table out of prose: separators are fixed text, fields are generated, so whatever comes is CSV.

python examples/extract_csv.py [--model smollm2]
"""

import csv
import io
import re
import sys

from models import arguments, generator

CITIES = ["Berlin", "Lagos", "Quito"]
NAME = re.compile("[A-Z][a-z]{1,11}( [A-Z][a-z]{1,11})?")
AGE = {"type": "integer", "minimum": 0, "maximum": 119}
PROSE = "Jane Doe is 34 and lives in Berlin. Her brother Tom, two years younger, moved to Quito; Ada, 61, is in Lagos."


def main(argv=None):
    program = generator(arguments(__doc__, argv).model).program(f"{PROSE}\n\nAs a table:\n")
    with program.capture("table"):
        program += "name,age,city\n"
        for _ in range(3):
            program.gen("name", NAME, max_tokens=12)
            program += ","
            program.gen("age", AGE, max_tokens=5)
            program += ","
            program.select("city", CITIES)
            program += "\n"
    print(program["table"], end="")
    header, *rows = csv.reader(io.StringIO(program["table"]))
    if header != ["name", "age", "city"] or len(rows) != 3 or any(row[2] not in CITIES for row in rows):
        sys.exit("not the table that was asked for")


if __name__ == "__main__":
    main()
