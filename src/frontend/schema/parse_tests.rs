//! Parsing: text to model.
