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

/// How what a schema spells out is written: the names of its properties, and the strings and numbers of `enum` and
/// `const`. Nothing else is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantSpelling {
    /// In every way that JSON has: any character of a string may be escaped, numbers as their value allows.
    Any,
    /// As `json.dumps` writes it; characters beyond ASCII with and without `ensure_ascii`.
    Plain,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
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
    /// How constants are written; `None` is as whitespace suggests, see [`is_plain`](Self::is_plain).
    pub spelling: Option<ConstantSpelling>,
}

impl SchemaOptions {
    /// Whether constants are written plainly. Unless the options say, they are where whitespace is that of one writer.
    pub fn is_plain(&self) -> bool {
        match self.spelling {
            Some(spelling) => spelling == ConstantSpelling::Plain,
            None => matches!(self.whitespace, Whitespace::Compact | Whitespace::Spaced),
        }
    }
}
