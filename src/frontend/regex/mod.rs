//! Patterns: Python and ECMA-262 text to expressions.
