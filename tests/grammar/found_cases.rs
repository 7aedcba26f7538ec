//! Cases that the random grammars found.
