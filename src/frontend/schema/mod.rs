//! JSON Schema: text to rules.

pub mod decimal;
pub mod format;
pub mod model;
pub mod number;
pub mod options;
pub mod report;

pub use options::{Formats, OnUnsupported, PropertyOrder, SchemaOptions, Whitespace};
pub use report::{Enforcement, ReportRow};
