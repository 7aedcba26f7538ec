//! How the caller wants a schema read.

use crate::json::string_escape::EscapeUse;

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

/// How strings are written, and the numbers of `enum` and `const`. Other numbers are written in every way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// In every way that JSON has: any character of a string may be escaped, numbers as their value allows.
    Any,
    /// What the schema spells out (the names of its properties, the strings and numbers of `enum` and `const`) is
    /// written as `json.dumps` writes it, characters beyond ASCII with and without `ensure_ascii`. Other strings are
    /// written in every way.
    Constants,
    /// All strings have only the escapes that JSON needs: `\"`, `\\`, and control characters by their short escape, or
    /// by `\u00` and two lower-case digits where there is none. Every other character stands for itself, so each text
    /// is written in one way, and what a pattern or format leaves no choice about is forced. Numbers of `enum` and
    /// `const` are written as `json.dumps` writes them, and integers without point and exponent, and never as `-0`.
    Plain,
    /// As [`Plain`](Self::Plain), but keys that the schema does not name are written in every way: what llguidance
    /// takes for documents in its grammars.
    PlainValues,
    /// What the schema spells out, and strings with a pattern or format, are as in [`Plain`](Self::Plain). Other
    /// strings and keys are written in every way: what llguidance calls general escapes.
    PlainPatterns,
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
    /// How strings are written; `None` is as whitespace suggests, see
    /// [`has_plain_constants`](Self::has_plain_constants).
    pub spelling: Option<Spelling>,
}

impl SchemaOptions {
    /// Whether constants are written as writers do. Unless the options say, they are where whitespace is that of one
    /// writer.
    pub fn has_plain_constants(&self) -> bool {
        match self.spelling {
            Some(spelling) => spelling != Spelling::Any,
            None => matches!(self.whitespace, Whitespace::Compact | Whitespace::Spaced),
        }
    }

    /// The escapes of strings that the schema does not spell out.
    pub(crate) fn string_escapes(&self) -> EscapeUse {
        match self.spelling {
            Some(Spelling::Plain | Spelling::PlainValues) => EscapeUse::Needed,
            _ => EscapeUse::Any,
        }
    }

    /// The escapes of keys that the schema does not spell out.
    pub(crate) fn key_escapes(&self) -> EscapeUse {
        if self.spelling == Some(Spelling::Plain) { EscapeUse::Needed } else { EscapeUse::Any }
    }

    /// The escapes of names and constants.
    pub(crate) fn name_escapes(&self) -> EscapeUse {
        match self.spelling {
            Some(Spelling::Plain | Spelling::PlainValues | Spelling::PlainPatterns) => EscapeUse::Needed,
            _ if self.has_plain_constants() => EscapeUse::Writers,
            _ => EscapeUse::Any,
        }
    }

    /// Whether integers are written without point and exponent, and never as `-0`.
    pub(crate) fn has_bare_integers(&self) -> bool {
        matches!(self.spelling, Some(Spelling::Plain | Spelling::PlainValues))
    }

    /// Whether strings with a pattern or format are written as constants are.
    pub(crate) fn has_plain_patterns(&self) -> bool {
        self.spelling == Some(Spelling::PlainPatterns)
    }
}
