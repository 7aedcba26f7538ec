//! TODO.

pub(crate) mod builder;
pub(crate) mod ecma;
pub(crate) mod ecma_class;
pub(crate) mod python;
pub(crate) mod python_class;
pub(crate) mod reader;
