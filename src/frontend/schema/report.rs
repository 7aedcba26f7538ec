//! The enforcement report: one row per keyword and place, saying how exactly it is enforced.

/// How a keyword is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// Exactly what the source says.
    Exact,
    /// Accepts less than the source says.
    Narrower,
    /// The source's own draft says that it asserts nothing.
    Annotation,
    /// The source's own draft says that it is ignored here.
    Ignored,
    /// Accepts more than the source says; only where the caller asked for that.
    Wider,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// JSON Pointer of the schema that holds the keyword.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// How it is enforced.
    pub enforcement: Enforcement,
    /// Why, where it is not exact.
    pub reason: String,
}
