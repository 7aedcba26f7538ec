//! Values that schemas accept alone, each kept once and known by its number.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::json::decimal::Decimal;
use crate::schema::lower::node::{Scalar, SchemaNodeId};
use crate::schema::name_table::Name;
use crate::util::seeded_hash::SeededMap;

/// The number of a value: equal values have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConstantId(u32);

/// A value that a schema accepts alone. What is inside of it is a number each, so that a value takes no more memory
/// than the schema that says it, however often a part of it is named.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Constant {
    Null,
    Bool(bool),
    Number(Decimal),
    Word(Name),
    Array(Vec<ConstantId>),
    Object(BTreeMap<Name, ConstantId>),
}

impl From<&Scalar> for Constant {
    fn from(scalar: &Scalar) -> Constant {
        match scalar {
            Scalar::Null => Constant::Null,
            Scalar::Bool(b) => Constant::Bool(*b),
            Scalar::Number(n) => Constant::Number(n.clone()),
            Scalar::Word(name) => Constant::Word(*name),
        }
    }
}

/// All values that schemas accept alone.
#[derive(Default)]
pub(super) struct Constants {
    ids: SeededMap<Constant, ConstantId>,
    pub(super) of_node: FxHashMap<SchemaNodeId, ConstantId>,
}

impl Constants {
    pub(super) fn id(&mut self, constant: Constant) -> ConstantId {
        let next = ConstantId(self.ids.len() as u32);
        *self.ids.entry(constant).or_insert(next)
    }
}
