//! How the caller wants a schema read.

/// Whitespace between JSON tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Whitespace {
    /// Any JSON whitespace between tokens, in runs of bounded length.
    #[default]
    Flexible,
    /// None.
    Compact,
    /// `", "` and `": "`, as `json.dumps` writes.
    Spaced,
    /// Runs that match a pattern of JSON whitespace characters.
    Pattern(String),
}

/// In which order keys may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PropertyOrder {
    /// As declared; keys that are not declared come after those that are.
    #[default]
    Schema,
    /// Any order, the specification's meaning.
    Any,
}

/// What to do with a keyword that cannot be enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnUnsupported {
    /// Refuse the schema.
    #[default]
    Error,
    /// Leave the keyword out, with a report row that says `wider`.
    Warn,
}

/// Whether `format` asserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Formats {
    /// Known formats are enforced; what generation wants.
    #[default]
    Assert,
    /// Formats are annotations; the specification's default.
    Annotate,
}

/// All options of a JSON Schema compile.
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    /// Whitespace between tokens.
    pub whitespace: Whitespace,
    /// Order of keys.
    pub property_order: PropertyOrder,
    /// What to do with keywords that cannot be enforced.
    pub on_unsupported: OnUnsupported,
    /// Whether `format` asserts.
    pub formats: Formats,
    /// URI and JSON text of documents that `$ref` may reach.
    pub documents: Vec<(String, String)>,
}
