"""Models of pydantic as output types: the schema of a class, and a text as the class's value."""
