//! JSON Schema: text to rules.

pub mod decimal;
mod drafts;
pub mod format;
mod keywords;
mod lower;
pub mod model;
pub mod names;
pub mod number;
pub mod options;
mod parse;
pub mod pointers;
mod reader;
pub mod report;
mod resolve;
mod scope;
pub mod text;
mod trail;
mod uri;

#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod text_tests;

pub use lower::{lower, lower_within, standard};
pub use options::{ConstantSpelling, Formats, OnUnsupported, PropertyOrder, SchemaOptions, Whitespace};
pub use parse::parse_schema;
pub(crate) use report::option_rows;
pub use report::{Enforcement, ReportRow};
