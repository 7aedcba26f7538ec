//! Parsing: from a pattern's text to a syntax tree, with one parser for each dialect over a shared `reader` and
//! `builder`.

pub(crate) mod builder;
pub(crate) mod ecma;
pub(crate) mod ecma_class;
pub(crate) mod python;
pub(crate) mod python_class;
pub(crate) mod reader;

#[cfg(test)]
mod tests;
