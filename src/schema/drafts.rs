//! Drafts: which keywords assert in which, and the specification's own documents.
//!
//! A *dialect* is a draft together with the vocabularies that a custom metaschema switches on. A schema that names no
//! dialect is read as 2020-12 in which the keywords of older drafts are enforced too, because most schemas in the
//! field name none and were written for whichever draft their author knew.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::json_tape::{Tape, TapeId, TapeKind};

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Draft {
    /// Draft 4.
    D4 = 1,
    /// Draft 6.
    D6 = 2,
    /// Draft 7.
    D7 = 4,
    /// 2019-09.
    D2019 = 8,
    /// 2020-12.
    D2020 = 16,
    /// None named: 2020-12 with the keywords of older drafts.
    Unstated = 32,
}

/// Annotations that everybody knows to be such: no row.
pub const SILENT: [&str; 13] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$vocabulary",
    "id",
    "$id",
];

const ALL: u8 = 63;
const SINCE_6: u8 = ALL & !1;
const SINCE_7: u8 = SINCE_6 & !2;
const SINCE_2019: u8 = 8 | 16 | 32;

impl Draft {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Draft::D4 => "draft 4",
            Draft::D6 => "draft 6",
            Draft::D7 => "draft 7",
            Draft::D2019 => "draft 2019-09",
            Draft::D2020 => "draft 2020-12",
            Draft::Unstated => "draft 2020-12 (none is named)",
        }
    }

    /// The draft of a `$schema` URI of the specification.
    pub fn of_uri(uri: &str) -> Option<Draft> {
        let uri = uri.trim_end_matches('#');
        let path = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
        Some(match path.strip_prefix("json-schema.org/")? {
            // Draft 5 changed no keyword.
            "draft-05/schema" | "draft-04/schema" | "draft-04/hyper-schema" => Draft::D4,
            "draft-06/schema" | "draft-06/hyper-schema" => Draft::D6,
            "draft-07/schema" | "draft-07/hyper-schema" => Draft::D7,
            "draft/2019-09/schema" | "draft/2019-09/hyper-schema" => Draft::D2019,
            "draft/2020-12/schema" | "draft/2020-12/hyper-schema" => Draft::D2020,
            "schema" => Draft::Unstated,
            _ => return None,
        })
    }

    /// Up to draft 7 nothing next to `$ref` counts.
    pub fn ref_hides_siblings(self) -> bool {
        matches!(self, Draft::D4 | Draft::D6 | Draft::D7)
    }

    /// The keyword that names a schema.
    pub fn id_keyword(self) -> &'static str {
        if self == Draft::D4 { "id" } else { "$id" }
    }
}

/// A draft and its vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaDialect {
    /// The draft.
    pub draft: Draft,
    /// `properties`, `allOf` and other keywords with subschemas.
    pub applicator: bool,
    /// `type`, `minimum` and other plain assertions.
    pub validation: bool,
    /// `unevaluatedItems`, `unevaluatedProperties`.
    pub unevaluated: bool,
    /// `format`.
    pub format: bool,
    /// `format` asserts whatever the options say.
    pub format_assertion: bool,
}

impl SchemaDialect {
    /// The draft with its standard vocabularies.
    pub const fn standard(draft: Draft) -> Self {
        SchemaDialect {
            draft,
            applicator: true,
            validation: true,
            unevaluated: true,
            format: true,
            format_assertion: false,
        }
    }

    /// Whether `keyword` means something.
    pub fn has(&self, keyword: Keyword) -> bool {
        let (drafts, vocabulary) = keyword.home();
        drafts & self.draft as u8 != 0
            && match vocabulary {
                MetaVocabulary::Core => true,
                MetaVocabulary::Applicator => self.applicator,
                MetaVocabulary::Validation => self.validation,
                MetaVocabulary::Unevaluated => self.unevaluated,
                MetaVocabulary::Format => self.format,
            }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MetaVocabulary {
    Core,
    Applicator,
    Validation,
    Unevaluated,
    Format,
}

macro_rules! keywords {
    ($($name:ident $text:literal $drafts:ident $vocabulary:ident $shape:ident,)*) => {
        /// Keywords that assert, apply subschemas or name schemas. Annotations are not here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // Each is the keyword of its name.
        pub enum Keyword { $($name,)* }

        impl Keyword {
            /// The keyword as written.
            pub fn text(self) -> &'static str {
                match self { $(Keyword::$name => $text,)* }
            }

            /// The keyword of this name.
            pub fn from_name(text: &str) -> Option<Keyword> {
                Some(match text { $($text => Keyword::$name,)* _ => return None })
            }

            fn home(self) -> (u8, MetaVocabulary) {
                match self { $(Keyword::$name => ($drafts, MetaVocabulary::$vocabulary),)* }
            }

            /// Where its subschemas are.
            pub fn shape(self) -> Shape {
                match self { $(Keyword::$name => Shape::$shape,)* }
            }
        }
    };
}

/// Where a keyword's value holds subschemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nowhere.
    Plain,
    /// It is one.
    Schema,
    /// In an array.
    List,
    /// As members of an object.
    Map,
    /// One, or several in an array.
    SchemaOrList,
}

const ONLY_4: u8 = 1 | 32;
const ONLY_2019: u8 = 8 | 32;
const ONLY_2020: u8 = 16 | 32;
const UNTIL_2019: u8 = ALL & !16;
// 2019-09 and 2020-12 split `dependencies` in two but let validators keep it, and the official suite tests that.
keywords! {
    Ref "$ref" ALL Core Plain,
    DynamicRef "$dynamicRef" ONLY_2020 Core Plain,
    RecursiveRef "$recursiveRef" ONLY_2019 Core Plain,
    Id "$id" SINCE_6 Core Plain,
    OldId "id" ONLY_4 Core Plain,
    Anchor "$anchor" SINCE_2019 Core Plain,
    DynamicAnchor "$dynamicAnchor" ONLY_2020 Core Plain,
    RecursiveAnchor "$recursiveAnchor" ONLY_2019 Core Plain,
    Defs "$defs" SINCE_2019 Core Map,
    Definitions "definitions" ALL Core Map,

    AllOf "allOf" ALL Applicator List,
    AnyOf "anyOf" ALL Applicator List,
    OneOf "oneOf" ALL Applicator List,
    Not "not" ALL Applicator Schema,
    If "if" SINCE_7 Applicator Schema,
    Then "then" SINCE_7 Applicator Schema,
    Else "else" SINCE_7 Applicator Schema,
    Properties "properties" ALL Applicator Map,
    PatternProperties "patternProperties" ALL Applicator Map,
    AdditionalProperties "additionalProperties" ALL Applicator Schema,
    PropertyNames "propertyNames" SINCE_6 Applicator Schema,
    Dependencies "dependencies" ALL Applicator Map,
    DependentSchemas "dependentSchemas" SINCE_2019 Applicator Map,
    PrefixItems "prefixItems" ONLY_2020 Applicator List,
    Items "items" ALL Applicator SchemaOrList,
    AdditionalItems "additionalItems" UNTIL_2019 Applicator Schema,
    Contains "contains" SINCE_6 Applicator Schema,
    UnevaluatedItems "unevaluatedItems" SINCE_2019 Unevaluated Schema,
    UnevaluatedProperties "unevaluatedProperties" SINCE_2019 Unevaluated Schema,

    Type "type" ALL Validation Plain,
    Enum "enum" ALL Validation Plain,
    Const "const" SINCE_6 Validation Plain,
    Minimum "minimum" ALL Validation Plain,
    Maximum "maximum" ALL Validation Plain,
    ExclusiveMinimum "exclusiveMinimum" ALL Validation Plain,
    ExclusiveMaximum "exclusiveMaximum" ALL Validation Plain,
    MultipleOf "multipleOf" ALL Validation Plain,
    MinLength "minLength" ALL Validation Plain,
    MaxLength "maxLength" ALL Validation Plain,
    Pattern "pattern" ALL Validation Plain,
    MinItems "minItems" ALL Validation Plain,
    MaxItems "maxItems" ALL Validation Plain,
    UniqueItems "uniqueItems" ALL Validation Plain,
    MinContains "minContains" SINCE_2019 Validation Plain,
    MaxContains "maxContains" SINCE_2019 Validation Plain,
    MinProperties "minProperties" ALL Validation Plain,
    MaxProperties "maxProperties" ALL Validation Plain,
    Required "required" ALL Validation Plain,
    DependentRequired "dependentRequired" SINCE_2019 Validation Plain,
    // Whether it asserts is decided where it is read.
    Format "format" ALL Format Plain,
}

/// The specification's own document of this URI (without fragment).
pub fn metaschema(uri: &str) -> Option<&'static str> {
    let uri = match uri.strip_prefix("https://json-schema.org/draft-") {
        Some(rest) => &format!("http://json-schema.org/draft-{rest}"),
        None => uri,
    };
    macro_rules! texts {
        ($($uri:literal $file:literal,)*) => {
            match uri { $($uri => Some(include_str!(concat!("metaschemas/", $file, ".json"))),)* _ => None }
        };
    }
    texts! {
        "http://json-schema.org/draft-04/schema" "draft4",
        "http://json-schema.org/draft-06/schema" "draft6",
        "http://json-schema.org/draft-07/schema" "draft7",
        "https://json-schema.org/draft/2019-09/schema" "2019-09",
        "https://json-schema.org/draft/2019-09/meta/core" "2019-09-core",
        "https://json-schema.org/draft/2019-09/meta/applicator" "2019-09-applicator",
        "https://json-schema.org/draft/2019-09/meta/validation" "2019-09-validation",
        "https://json-schema.org/draft/2019-09/meta/meta-data" "2019-09-meta-data",
        "https://json-schema.org/draft/2019-09/meta/format" "2019-09-format",
        "https://json-schema.org/draft/2019-09/meta/content" "2019-09-content",
        "https://json-schema.org/draft/2020-12/schema" "2020-12",
        "https://json-schema.org/draft/2020-12/meta/core" "2020-12-core",
        "https://json-schema.org/draft/2020-12/meta/applicator" "2020-12-applicator",
        "https://json-schema.org/draft/2020-12/meta/unevaluated" "2020-12-unevaluated",
        "https://json-schema.org/draft/2020-12/meta/validation" "2020-12-validation",
        "https://json-schema.org/draft/2020-12/meta/meta-data" "2020-12-meta-data",
        "https://json-schema.org/draft/2020-12/meta/format-annotation" "2020-12-format-annotation",
        "https://json-schema.org/draft/2020-12/meta/format-assertion" "2020-12-format-assertion",
        "https://json-schema.org/draft/2020-12/meta/content" "2020-12-content",
    }
}

/// What a metaschema that the caller passed says with `$vocabulary`.
pub fn custom_dialect(tape: &Tape<'_>) -> Result<SchemaDialect> {
    let own = tape.get(TapeId::ROOT, "$schema").and_then(|n| tape.string(n)).and_then(Draft::of_uri);
    let mut dialect = SchemaDialect::standard(own.unwrap_or(Draft::Unstated));
    let Some(list) = tape.get(TapeId::ROOT, "$vocabulary") else { return Ok(dialect) };
    (dialect.applicator, dialect.validation, dialect.unevaluated, dialect.format) = (false, false, false, false);
    for (uri, value) in tape.members(list) {
        let required = *tape.kind(value) == TapeKind::Bool(true);
        let path = uri.strip_prefix("https://json-schema.org/draft/").unwrap_or_default();
        match path {
            "2019-09/vocab/core" => dialect.draft = Draft::D2019,
            "2020-12/vocab/core" => dialect.draft = Draft::D2020,
            "2019-09/vocab/applicator" => (dialect.applicator, dialect.unevaluated) = (true, true),
            "2020-12/vocab/applicator" => dialect.applicator = true,
            "2020-12/vocab/unevaluated" => dialect.unevaluated = true,
            "2019-09/vocab/validation" | "2020-12/vocab/validation" => dialect.validation = true,
            "2019-09/vocab/format" => (dialect.format, dialect.format_assertion) = (true, required),
            "2020-12/vocab/format-assertion" => (dialect.format, dialect.format_assertion) = (true, true),
            "2020-12/vocab/format-annotation" => dialect.format = true,
            "2019-09/vocab/meta-data"
            | "2020-12/vocab/meta-data"
            | "2019-09/vocab/content"
            | "2020-12/vocab/content" => {}
            _ if required => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!("the metaschema requires the vocabulary {uri:?}, which is not known"),
                ));
            }
            _ => {}
        }
    }
    Ok(dialect)
}
