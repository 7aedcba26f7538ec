"""Types of Python as schemas: hints, scalars, members of enums, and the names in them."""
