//! JSON Schema: text to rules.

pub mod blanks;
pub mod decimal;
pub mod model;
pub mod options;
pub mod report;

pub use options::{Formats, OnUnsupported, PropertyOrder, SchemaOptions, Whitespace};
pub use report::{Enforcement, ReportRow};
