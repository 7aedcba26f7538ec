"""Numbers within bounds and with two decimals, many at once: bounds are exact decimal arithmetic, not rounding.

python examples/floats.py [--model smollm2]
"""

import sys
from decimal import Decimal

from models import arguments, generator

SCHEMA = {"type": "number", "minimum": -273.15, "exclusiveMaximum": 100, "multipleOf": 0.01}
PROMPT = "Give a temperature of water in degrees Celsius, as a number only."


def main(argv=None):
    gen = generator(arguments(__doc__, argv).model)
    for value in gen([PROMPT] * 12, SCHEMA, max_tokens=20, temperature=1.0, seed=1):
        print(value)
        exact = Decimal(repr(value))
        if not Decimal("-273.15") <= exact < 100 or exact % Decimal("0.01"):
            sys.exit(f"{value} is out of bounds")


if __name__ == "__main__":
    main()
