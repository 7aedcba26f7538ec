//! `uniqueItems` that the schema itself decides: elements that are constants, and elements of few values.
//!
//! Two constants are equal or not, whatever the model writes: the array that an `enum` holds is without repetition or
//! it is not. And where an element can only be one of a few scalars, "two elements are equal" (the negation of
//! `uniqueItems`) means that one of these values is there twice, which is a count as `contains` makes it.

use crate::schema::lower::array::{ArrayFacts, CountedMatches};
use crate::schema::lower::constants::{Constant, ConstantId};
use crate::schema::lower::context::{Lit, LoweringContext};
use crate::schema::lower::node::{EnumValues, FALSE, Scalar, SchemaNode, SchemaNodeId};
use crate::schema::model::Types;
use crate::schema::name_table::Name;

/// Positions that are compared with one another.
const MAX_POSITIONS: u64 = 256;

/// Values of elements of which one may be there twice.
const MAX_VALUES: usize = 64;

/// How deep a constant is read.
const MAX_DEPTH: usize = 32;

/// What `uniqueItems`, or its negation, comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConstantElements {
    /// Two elements are always equal.
    Equal,
    /// All elements differ.
    Differ,
    /// It depends on what is written.
    Open,
}

impl LoweringContext<'_, '_> {
    /// Compares the elements of an array that are constants.
    pub(super) fn constant_elements(&mut self, facts: &ArrayFacts) -> ConstantElements {
        // Positions that need not exist decide nothing.
        let exists = facts.min.min(MAX_POSITIONS) as usize;
        let mut known: Vec<ConstantId> = Vec::new();
        for i in 0..exists {
            let Some(lits) = self.element_base(facts, i) else { continue };
            let nodes: Vec<SchemaNodeId> = lits.iter().filter(|l| !l.negated).map(|l| l.node).collect();
            let constant = nodes.into_iter().find_map(|node| self.constant(node, MAX_DEPTH));
            let Some(constant) = constant else { continue };
            if known.contains(&constant) {
                return ConstantElements::Equal;
            }
            known.push(constant);
        }
        // What may not follow the last of them bounds their number, too.
        let ends = facts.max == Some(known.len() as u64) || self.element_base(facts, known.len()).is_none();
        let all = known.len() as u64 == facts.min && ends;
        if all { ConstantElements::Differ } else { ConstantElements::Open }
    }

    /// The value that a schema accepts, if it says itself that it accepts no other.
    fn constant(&mut self, id: SchemaNodeId, depth: usize) -> Option<ConstantId> {
        let depth = depth.checked_sub(1)?;
        if let Some(&known) = self.constants.of_node.get(&id) {
            return Some(known);
        }
        let constant = self.read_constant(id, depth)?;
        self.constants.of_node.insert(id, constant);
        Some(constant)
    }

    fn read_constant(&mut self, id: SchemaNodeId, depth: usize) -> Option<ConstantId> {
        let node = self.nodes.get(id);
        if node.types == Types::NULL {
            return Some(self.constants.id(Constant::Null));
        }
        for values in &node.values {
            match (&*values.scalars, &*values.composites) {
                ([scalar], []) => return Some(self.constants.id(scalar.into())),
                (&[], &[composite]) => return self.constant(composite, depth),
                _ => {}
            }
        }
        match (&node.array, &node.object) {
            (Some(a), _) if node.types == Types::ARRAY && a.min == a.prefix.len() as u64 && a.items == Some(FALSE) => {
                let items = a.prefix.clone();
                let elements = items.iter().map(|&item| self.constant(item, depth)).collect::<Option<_>>()?;
                Some(self.constants.id(Constant::Array(elements)))
            }
            (_, Some(o)) if node.types == Types::OBJECT && o.additional == Some(FALSE) && o.patterns.is_empty() => {
                let required = |(name, _): &(Name, SchemaNodeId)| o.required.contains(name);
                if !o.props.iter().all(required) {
                    return None;
                }
                let props = o.props.clone();
                let mut member = |&(name, value): &(Name, SchemaNodeId)| Some((name, self.constant(value, depth)?));
                let members = props.iter().map(&mut member).collect::<Option<_>>()?;
                Some(self.constants.id(Constant::Object(members)))
            }
            _ => None,
        }
    }

    /// The ways in which two elements may be equal, one for each value that an element may have. `None` where elements
    /// may have more values than can be told one by one.
    pub(super) fn repeated_values(&mut self, facts: &ArrayFacts, end: usize) -> Option<Vec<ArrayFacts>> {
        let mut values: Vec<(ConstantId, EnumValues)> = Vec::new();
        for i in 0..=end {
            if facts.max.is_some_and(|max| max <= i as u64) {
                break;
            }
            let Some(lits) = self.element_base(facts, i) else { continue };
            let few = lits.iter().filter(|l| !l.negated).find_map(|l| self.few_values(l.node))?;
            for one in few {
                let constant = match (&*one.scalars, &*one.composites) {
                    ([scalar], _) => self.constants.id(scalar.into()),
                    (_, [composite]) => self.constant(*composite, MAX_DEPTH)?,
                    _ => return None,
                };
                if !values.iter().any(|(known, _)| *known == constant) {
                    values.push((constant, one));
                }
            }
            if values.len() > MAX_VALUES {
                return None;
            }
        }
        let origin = self.nodes.get(facts.repeats?).origin;
        let twice = values.into_iter().filter_map(|(_, value)| {
            let node = match (&*value.scalars, &*value.composites) {
                ([], [composite]) => *composite,
                _ => {
                    let mut node = SchemaNode::new(origin, Types::ALL);
                    node.values.push(value);
                    self.nodes.add(node)
                }
            };
            let mut facts = ArrayFacts { repeats: None, ..facts.clone() };
            facts.count(CountedMatches { lit: Lit::yes(node), from: 0, min: 2, max: None }).then_some(facts)
        });
        Some(twice.collect())
    }

    /// All values that a schema accepts, each by itself, and maybe more than those.
    fn few_values(&self, id: SchemaNodeId) -> Option<Vec<EnumValues>> {
        let scalar = |s: Scalar| EnumValues { scalars: vec![s], composites: Vec::new() };
        if let Some(scalars) = self.constants(id) {
            return (scalars.len() <= MAX_VALUES).then(|| scalars.iter().cloned().map(scalar).collect());
        }
        let node = self.nodes.get(id);
        if let Some(values) = node.values.first() {
            if values.scalars.len() + values.composites.len() > MAX_VALUES {
                return None;
            }
            let composite = |&c: &SchemaNodeId| EnumValues { scalars: Vec::new(), composites: vec![c] };
            let scalars = values.scalars.iter().cloned().map(scalar);
            return Some(scalars.chain(values.composites.iter().map(composite)).collect());
        }
        let mut out = Vec::new();
        if node.types.0 & !(Types::NULL.0 | Types::BOOLEAN.0) != 0 {
            return None;
        }
        if node.types.contains(Types::NULL) {
            out.push(scalar(Scalar::Null));
        }
        if node.types.contains(Types::BOOLEAN) {
            out.extend([true, false].map(|b| scalar(Scalar::Bool(b))));
        }
        Some(out)
    }
}
