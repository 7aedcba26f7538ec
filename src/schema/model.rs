//! The typed schema: what parsing makes of JSON and what lowering reads.
//!
//! All drafts are brought to one vocabulary, that of 2020-12: `definitions` and `$defs` are gone, `dependencies` is
//! split, `items`/`additionalItems` of older drafts became `prefix_items`/`items`, boolean `exclusiveMinimum` became a
//! number, and every reference is an id. Siblings that a draft ignores (next to `$ref` up to draft 7) are not here;
//! the report names them. Nothing below this file sees `serde_json` but the values of `enum` and `const`.

use crate::json::decimal::Decimal;
use crate::schema::json_pointers::Pointers;
use crate::schema::name_table::{Name, Names};
use serde_json::Value;
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// Names a schema of one [`SchemaModel`]. One place in a document has several ids where `$dynamicRef` gives it several
/// meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaId(pub u32);

/// A resolved schema document.
#[derive(Clone, Debug)]
pub struct SchemaModel {
    /// Indexed by [`SchemaId`].
    pub schemas: Vec<Schema>,
    /// Where validation starts.
    pub root: SchemaId,
    /// Where each schema was written.
    pub pointers: Pointers,
    /// The names of properties, of what is required and of places.
    pub names: Names,
}

impl SchemaModel {
    /// JSON Pointer of a schema from the root document (`""` is the root); for schemas of other documents,
    /// `URI#pointer`.
    pub fn pointer(&self, id: SchemaId) -> String {
        self.pointers.get(id, &self.names)
    }
}

/// One schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// What it says.
    pub kind: SchemaKind,
}

/// A boolean schema or a set of keywords.
#[derive(Clone, Debug)]
pub enum SchemaKind {
    /// `true` accepts everything, `false` nothing.
    Bool(bool),
    /// The keywords that assert something.
    Keywords(Box<Keywords>),
}

/// A set of JSON types. `INTEGER` is a number without fraction, however written; `NUMBER` includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Types(pub u8);

impl Types {
    /// `null`.
    pub const NULL: Types = Types(1);
    /// `true` and `false`.
    pub const BOOLEAN: Types = Types(2);
    /// Whole numbers.
    pub const INTEGER: Types = Types(4);
    /// All numbers.
    pub const NUMBER: Types = Types(8 | 4);
    /// Strings.
    pub const STRING: Types = Types(16);
    /// Arrays.
    pub const ARRAY: Types = Types(32);
    /// Objects.
    pub const OBJECT: Types = Types(64);
    /// Everything.
    pub const ALL: Types = Types(127);

    /// Whether all of `other` is included.
    pub fn contains(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Assertions and applicators of one schema object. Absent keywords are `None` or empty.
///
/// A schema has a few of many keywords, and a large one thousands of schemas. What most of them lack lies elsewhere, in
/// [`Assertions`] and [`Applicators`], and takes no room before it is written; it is read as if it were here.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // Each field is the keyword of its name, in the meaning of 2020-12.
pub struct Keywords {
    pub types: Option<Types>,
    /// Draft 4: `1.0` is a number but not an integer.
    pub bare_integers: bool,
    pub unique_items: bool,
    /// Draft up to 2019-09: `contains` leaves no annotation for `unevaluatedItems`.
    pub contains_does_not_evaluate: bool,
    pub items: Option<SchemaId>,
    pub additional_properties: Option<SchemaId>,
    /// In declared order.
    pub properties: Vec<(Name, SchemaId)>,
    pub required: Vec<Name>,
    pub enumeration: Option<Vec<Value>>,
    /// Targets of `$ref`, `$dynamicRef` and `$recursiveRef`: they apply in place, like `allOf`.
    pub refs: SmallVec<[SchemaId; 4]>,
    assertions: Option<Box<Assertions>>,
}

/// What few schemas assert: see [`Keywords`].
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // As above.
pub struct Assertions {
    pub constant: Option<Box<Value>>,

    pub minimum: Option<Box<Decimal>>,
    pub maximum: Option<Box<Decimal>>,
    pub exclusive_minimum: Option<Box<Decimal>>,
    pub exclusive_maximum: Option<Box<Decimal>>,
    pub multiple_of: Option<Box<Decimal>>,

    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    /// ECMA-262, search semantics.
    pub pattern: Option<String>,
    /// The format, if it is asserted; others are report rows.
    pub format: Option<String>,

    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    applicators: Option<Box<Applicators>>,
}

/// What few schemas apply: see [`Keywords`].
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // As above.
pub struct Applicators {
    pub prefix_items: Vec<SchemaId>,
    pub contains: Option<SchemaId>,
    /// Default 1 where `contains` is present; lowering applies it.
    pub min_contains: Option<u64>,
    pub max_contains: Option<u64>,
    pub unevaluated_items: Option<SchemaId>,

    /// In declared order.
    pub pattern_properties: Vec<(String, SchemaId)>,
    pub property_names: Option<SchemaId>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub dependent_required: Vec<(String, Vec<String>)>,
    pub dependent_schemas: Vec<(String, SchemaId)>,
    pub unevaluated_properties: Option<SchemaId>,

    pub all_of: Vec<SchemaId>,
    pub any_of: Option<Vec<SchemaId>>,
    pub one_of: Option<Vec<SchemaId>>,
    pub not: Option<SchemaId>,
    pub if_: Option<SchemaId>,
    pub then: Option<SchemaId>,
    pub else_: Option<SchemaId>,
}

impl Keywords {
    /// Whether there is more than what most schemas have.
    pub fn has_more(&self) -> bool {
        self.assertions.is_some()
    }

    /// Every schema that is named here, last first, so that a stack takes them in declared order.
    pub fn children(&self, mut visit: impl FnMut(SchemaId)) {
        let more = self.has_more();
        if more {
            let single = [self.else_, self.then, self.if_, self.not, self.unevaluated_properties, self.property_names];
            single.into_iter().flatten().for_each(&mut visit);
        }
        self.additional_properties.into_iter().for_each(&mut visit);
        if more {
            [self.unevaluated_items, self.contains].into_iter().flatten().for_each(&mut visit);
        }
        self.items.into_iter().for_each(&mut visit);
        if more {
            for list in [&self.dependent_schemas, &self.pattern_properties] {
                list.iter().rev().for_each(|p| visit(p.1));
            }
        }
        self.properties.iter().rev().for_each(|p| visit(p.1));
        self.refs.iter().rev().for_each(|&s| visit(s));
        if more {
            let lists = [Some(&self.all_of), self.any_of.as_ref(), self.one_of.as_ref(), Some(&self.prefix_items)];
            lists.into_iter().flatten().for_each(|v| v.iter().rev().for_each(|&s| visit(s)));
        }
    }
}

impl Deref for Keywords {
    type Target = Assertions;

    fn deref(&self) -> &Assertions {
        static ABSENT: LazyLock<Assertions> = LazyLock::new(Assertions::default);
        self.assertions.as_deref().unwrap_or(&ABSENT)
    }
}

impl DerefMut for Keywords {
    fn deref_mut(&mut self) -> &mut Assertions {
        self.assertions.get_or_insert_default()
    }
}

impl Deref for Assertions {
    type Target = Applicators;

    fn deref(&self) -> &Applicators {
        static ABSENT: LazyLock<Applicators> = LazyLock::new(Applicators::default);
        self.applicators.as_deref().unwrap_or(&ABSENT)
    }
}

impl DerefMut for Assertions {
    fn deref_mut(&mut self) -> &mut Applicators {
        self.applicators.get_or_insert_default()
    }
}
