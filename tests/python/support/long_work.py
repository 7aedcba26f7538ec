"""A pattern that takes very long to compile, for tests that end long work."""

# Which of its states are live takes a search through millions of them, without a limit on it.
HARD = r"(?=.*a.{22}$)(?=.*b.{22}$)(?!.*c.{20}$).*"
NO_LIMITS = {"max_explored_states": 10**12, "max_expr_nodes": 10**12, "max_flat_states": 10**12}
