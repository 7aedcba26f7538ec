//! JSON Schema: text to rules.
//!
//! A schema's text becomes a tape of JSON values ([`json_tape`], `json_reader`), and that a model of typed schemas
//! ([`model`]): which draft counts where (`drafts`), what each keyword says (`parse`, `keywords`), where references
//! lead (`resolve`, `dynamic_scope`). `lower` makes rules of the model: what a value of each kind may be, with
//! everything that applies at one place brought together. Numbers ([`number`]), strings and formats ([`mod@format`])
//! become expressions on the way. What is not enforced exactly has a row in the report.
//!
//! `docs/internals/schema-lowering.md` has an example.

pub mod canonical_text;
mod contradicting_pairs;
mod drafts;
mod dynamic_scope;
pub mod format;
pub mod json_pointers;
mod json_reader;
pub mod json_tape;
mod keywords;
mod location_path;
mod lower;
pub mod model;
pub mod name_table;
pub mod number;
pub mod options;
mod parse;
mod pointer_targets;
pub mod report;
mod resolve;
mod uri;

pub(crate) use crate::schema::contradicting_pairs::named_contradiction;
#[cfg(feature = "python")]
pub(crate) use crate::schema::drafts::metaschema;
pub use crate::schema::lower::{lower, lower_within, standard};
pub use crate::schema::options::{Formats, OnUnsupported, PropertyOrder, SchemaOptions, Spelling, Whitespace};
pub use crate::schema::parse::parse_schema;
pub(crate) use crate::schema::report::option_rows;
pub use crate::schema::report::{Enforcement, ReportRow, UNKNOWN_FORMAT, UNKNOWN_KEYWORD};
