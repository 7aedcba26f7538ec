//! JSON Schema: text to rules.

pub mod blanks;
pub mod decimal;
mod drafts;
mod keywords;
pub mod format;
pub mod model;
pub mod number;
pub mod options;
mod parse;
pub mod report;
mod resolve;
mod scope;
pub mod text;
mod uri;

#[cfg(test)]
mod parse_tests;

pub use options::{Formats, OnUnsupported, PropertyOrder, SchemaOptions, Whitespace};
pub use parse::parse_schema;
pub use report::{Enforcement, ReportRow};
