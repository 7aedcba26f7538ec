//! JSON Schema: text to rules.
//!
//! A schema's text becomes a tape of JSON values ([`text`], `reader`), and that a model of typed schemas ([`model`]):
//! which draft counts where (`drafts`), what each keyword says (`parse`, `keywords`), where references lead (`resolve`,
//! `scope`). `lower` makes rules of the model: what a value of each kind may be, with everything that applies at one
//! place brought together. Numbers ([`number`]), strings and formats ([`mod@format`]) become expressions on the way. What
//! is not enforced exactly has a row in the report.

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
