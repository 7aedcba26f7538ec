//! Nodes: the typed schema made ready for algebra.
//!
//! Every reachable schema becomes one [`SchemaNode`] with strings as small numbers, keywords that its `type` makes
//! vacuous left out, and the values of `enum` and `const` split into scalars and *composites* (arrays and objects,
//! which become closed schemas of their own). Nodes with equal content share one [`SchemaNodeId`], so that "the same
//! schema written twice" is one literal: rules stay few, and `A and not A` is seen as empty however often A is spelled
//! out. Nodes are built in post-order with an explicit stack; an id that is referred to before its node is finished (a
//! recursive schema) stays valid through [`Nodes::canon`].

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::json::decimal::Decimal;
use crate::schema::lower::node_facts::Contents;
use crate::schema::model::{Keywords, SchemaId, SchemaKind, SchemaModel, Types};
use crate::schema::name_table::Names;
use crate::util::seeded_hash::SeededMap;

/// Names a node; always read through [`Nodes::canon`].
pub(super) type SchemaNodeId = u32;

pub(super) use crate::schema::name_table::Name;

/// The schema `true`.
pub(super) const TRUE: SchemaNodeId = 0;
/// The schema `false`.
pub(super) const FALSE: SchemaNodeId = 1;

const UNBUILT: SchemaNodeId = SchemaNodeId::MAX;

/// A scalar of `enum` or `const`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Decimal),
    Word(Name),
}

/// The values of one `enum` or `const`.
#[derive(Clone, Debug, Default)]
pub(super) struct EnumValues {
    pub scalars: Vec<Scalar>,
    pub composites: Vec<SchemaNodeId>,
}

/// Object keywords.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectPart {
    pub props: Vec<(Name, SchemaNodeId)>,
    pub(super) index: FxHashMap<Name, SchemaNodeId>,
    pub patterns: Vec<(Name, SchemaNodeId)>,
    pub additional: Option<SchemaNodeId>,
    pub names: Option<SchemaNodeId>,
    pub required: Vec<Name>,
    pub min: u64,
    pub max: Option<u64>,
    pub dependent_required: Vec<(Name, Vec<Name>)>,
    pub dep_schemas: Vec<(Name, SchemaNodeId)>,
    pub unevaluated: Option<SchemaNodeId>,
}

impl ObjectPart {
    /// The schema under `properties` of a name.
    pub fn prop(&self, name: Name) -> Option<SchemaNodeId> {
        if self.index.is_empty() {
            return self.props.iter().find(|p| p.0 == name).map(|p| p.1);
        }
        self.index.get(&name).copied()
    }

    /// Whether members are described at all.
    pub fn describes(&self) -> bool {
        !self.props.is_empty() || !self.patterns.is_empty() || self.additional.is_some()
    }
}

/// Array keywords.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayPart {
    pub prefix: Vec<SchemaNodeId>,
    pub items: Option<SchemaNodeId>,
    /// What, fewest, most.
    pub contains: Option<(SchemaNodeId, u64, Option<u64>)>,
    pub contains_evaluates: bool,
    pub min: u64,
    pub max: Option<u64>,
    pub unique: bool,
    pub unevaluated: Option<SchemaNodeId>,
}

/// One schema.
#[derive(Clone, Debug)]
pub(super) struct SchemaNode<'m> {
    /// Where it was written first.
    pub origin: SchemaId,
    pub types: Types,
    pub values: Vec<EnumValues>,
    /// `integer` means a number without a written fraction.
    pub bare_integers: bool,
    /// Present where a keyword about numbers or strings is.
    pub scalar: Option<&'m Keywords>,
    /// The one word that a pattern spells, where nothing but strings is accepted.
    pub spelled: Option<Scalar>,
    pub object: Option<Box<ObjectPart>>,
    pub array: Option<Box<ArrayPart>>,
    /// References, then `allOf`.
    pub all: SmallVec<[SchemaNodeId; 4]>,
    pub any: Option<Vec<SchemaNodeId>>,
    pub one: Option<Vec<SchemaNodeId>>,
    pub not: Option<SchemaNodeId>,
    /// `if`, `then`, `else`.
    pub cond: Option<(SchemaNodeId, SchemaNodeId, SchemaNodeId)>,
    /// Types that the schema may accept: a bound from above.
    pub mask: Types,
}

impl SchemaNode<'_> {
    pub(super) fn new(origin: SchemaId, types: Types) -> Self {
        SchemaNode {
            origin,
            types,
            values: Vec::new(),
            bare_integers: false,
            scalar: None,
            spelled: None,
            object: None,
            array: None,
            all: SmallVec::new(),
            any: None,
            one: None,
            not: None,
            cond: None,
            mask: types,
        }
    }

    /// Says nothing but `type`.
    pub fn is_pure_type(&self) -> bool {
        self.values.is_empty()
            && !self.bare_integers
            && self.scalar.is_none()
            && self.object.is_none()
            && self.array.is_none()
            && !self.applies()
    }

    /// Has an applicator that holds in place.
    pub fn applies(&self) -> bool {
        !self.all.is_empty() || self.any.is_some() || self.one.is_some() || self.not.is_some() || self.cond.is_some()
    }

    /// Every schema that applies in place.
    pub fn in_place(&self, mut visit: impl FnMut(SchemaNodeId)) {
        self.all.iter().copied().for_each(&mut visit);
        self.any.iter().flatten().copied().for_each(&mut visit);
        self.one.iter().flatten().copied().for_each(&mut visit);
        self.not.iter().copied().for_each(&mut visit);
        if let Some((i, t, e)) = self.cond {
            visit(i);
            visit(t);
            visit(e);
        }
        if let Some(o) = &self.object {
            o.dep_schemas.iter().for_each(|d| visit(d.1));
        }
    }
}

/// All nodes of one model.
pub(super) struct Nodes<'m> {
    pub model: &'m SchemaModel,
    pub(super) list: Vec<Option<Box<SchemaNode<'m>>>>,
    canon: Vec<SchemaNodeId>,
    /// The masks of finished nodes once more, close together.
    masks: Vec<Types>,
    pub(super) contents: Contents,
    /// Names besides those of the model: patterns, formats and enumerated words.
    names: Names,
    /// How the numbers of `enum` and `const` are written, each way once.
    pub written: SeededMap<Decimal, Vec<String>>,
}

impl<'m> Nodes<'m> {
    /// Builds the nodes of everything that the root reaches. Linear in the model's size.
    pub fn build(model: &'m SchemaModel) -> Result<Self> {
        let mut n = Nodes {
            model,
            list: vec![None; model.schemas.len() + 2],
            canon: vec![UNBUILT; model.schemas.len() + 2],
            masks: vec![Types(0); model.schemas.len() + 2],
            contents: Contents::default(),
            names: Names::default(),
            written: SeededMap::default(),
        };
        n.contents.reserve(model.schemas.len());
        for (id, types) in [(TRUE, Types::ALL), (FALSE, Types(0))] {
            n.canon[id as usize] = id;
            n.finish(id, SchemaNode::new(model.root, types));
        }
        n.reach(model.root)?;
        n.refuse_cycles()?;
        Ok(n)
    }

    /// The representative of `id`.
    pub fn canon(&self, mut id: SchemaNodeId) -> SchemaNodeId {
        // Chains are short: an alias points at a finished or still open node.
        while let Some(&to) = self.canon.get(id as usize) {
            if to == id || to == UNBUILT {
                break;
            }
            id = to;
        }
        id
    }

    /// The node of `id`; `false` for an id that was never built.
    pub fn get(&self, id: SchemaNodeId) -> &SchemaNode<'m> {
        let id = self.canon(id) as usize;
        match self.list.get(id).and_then(|n| n.as_deref()).or_else(|| self.list[FALSE as usize].as_deref()) {
            Some(n) => n,
            None => unreachable!("the schema false is always built"),
        }
    }

    /// The types that a representative may accept.
    #[inline]
    pub fn mask(&self, id: SchemaNodeId) -> Types {
        self.masks.get(id as usize).copied().unwrap_or_default()
    }

    /// The node of a schema of the model.
    pub fn of_schema(&self, id: SchemaId) -> SchemaNodeId {
        self.canon(id.0 + 2)
    }

    /// JSON Pointer of a node.
    pub fn pointer(&self, id: SchemaNodeId) -> String {
        self.model.pointer(self.get(id).origin)
    }

    /// Number of node ids.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The text of a name.
    pub fn name(&self, name: Name) -> Arc<str> {
        let known = &self.model.names;
        let text = known.get(name).or_else(|| self.names.get(name.checked_sub(known.len() as Name)?));
        text.cloned().unwrap_or_default()
    }

    pub(super) fn intern(&mut self, s: &str) -> Name {
        self.names.intern_above(&self.model.names, s)
    }

    fn reach(&mut self, root: SchemaId) -> Result<()> {
        // The flag says that the children are done.
        let mut stack = vec![(root, false)];
        while let Some((id, leave)) = stack.pop() {
            let Some(schema) = self.model.schemas.get(id.0 as usize) else {
                return Err(Error::new(ErrorKind::Internal, "a schema id leads nowhere"));
            };
            let slot = id.0 as usize + 2;
            if leave {
                self.close(id)?;
                continue;
            }
            if self.canon[slot] != UNBUILT {
                continue;
            }
            match &schema.kind {
                SchemaKind::Bool(b) => self.canon[slot] = if *b { TRUE } else { FALSE },
                SchemaKind::Keywords(k) => {
                    self.canon[slot] = slot as SchemaNodeId;
                    stack.push((id, true));
                    k.children(|c| stack.push((c, false)));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, id: SchemaId) -> Result<()> {
        let model: &'m SchemaModel = self.model;
        let Some(SchemaKind::Keywords(k)) = model.schemas.get(id.0 as usize).map(|s| &s.kind) else { return Ok(()) };
        let slot = id.0 + 2;
        let mut node = SchemaNode::new(id, k.types.unwrap_or(Types::ALL));
        self.describe(&mut node, k)?;
        // A schema that only passes on to another is that other one.
        if node.types == Types::ALL && node.values.is_empty() && node.scalar.is_none() {
            let plain = node.object.is_none() && node.array.is_none() && node.not.is_none() && node.cond.is_none();
            let single = match (&node.any, &node.one) {
                (None, None) => node.all.as_slice(),
                (Some(v), None) | (None, Some(v)) if node.all.is_empty() => v.as_slice(),
                _ => &[],
            };
            if plain && single.len() == 1 {
                let to = self.canon(single[0]);
                if to == slot {
                    return Err(self.cycle(slot));
                }
                self.canon[slot as usize] = to;
                return Ok(());
            }
        }
        self.finish(slot, node);
        Ok(())
    }

    pub(super) fn cycle(&self, id: SchemaNodeId) -> Error {
        let pointer = self.model.pointer(SchemaId(id.saturating_sub(2)));
        Error::new(
            ErrorKind::Schema,
            "the schema applies to itself in place, without reading any part of the value; remove the reference that \
             closes the circle",
        )
        .at_pointer(pointer, "$ref")
    }

    /// Gives `id` its node, or makes it an alias of an equal one.
    fn finish(&mut self, id: SchemaNodeId, mut node: SchemaNode<'m>) {
        node.mask = self.mask_of(&node);
        if id != FALSE && node.types == Types(0) {
            self.canon[id as usize] = FALSE;
            return;
        }
        match self.equal_to(id, &node) {
            Some(to) => self.canon[id as usize] = to,
            None => {
                self.masks[id as usize] = node.mask;
                self.list[id as usize] = Some(Box::new(node));
            }
        }
    }

    fn id(&self, s: SchemaId) -> SchemaNodeId {
        self.canon(s.0 + 2)
    }

    fn ids(&self, v: &[SchemaId]) -> Vec<SchemaNodeId> {
        v.iter().map(|&s| self.id(s)).collect()
    }

    /// What the keywords say.
    fn describe(&mut self, n: &mut SchemaNode<'m>, k: &'m Keywords) -> Result<()> {
        n.bare_integers = k.bare_integers && n.types.0 & Types::NUMBER.0 == Types::INTEGER.0;
        for v in k.enumeration.iter() {
            let values = self.values(n.origin, v.iter())?;
            n.values.push(values);
        }
        n.all = k.refs.iter().map(|&s| self.id(s)).collect();
        if k.has_more() {
            self.describe_more(n, k)?;
        }
        if n.types.contains(Types::OBJECT) {
            n.object = self.object_part(k);
        }
        if n.types.contains(Types::ARRAY) {
            n.array = self.array_part(k);
        }
        n.all.retain(|c| *c != TRUE);
        Ok(())
    }

    /// What the keywords say that few schemas have, but for those about objects and arrays.
    fn describe_more(&mut self, n: &mut SchemaNode<'m>, k: &'m Keywords) -> Result<()> {
        if let Some(v) = k.constant.as_deref() {
            let values = self.values(n.origin, std::iter::once(v))?;
            n.values.push(values);
        }
        let number = k.minimum.is_some()
            || k.maximum.is_some()
            || k.exclusive_minimum.is_some()
            || k.exclusive_maximum.is_some()
            || k.multiple_of.is_some();
        let text = k.min_length.is_some() || k.max_length.is_some() || k.pattern.is_some() || k.format.is_some();
        if (number && n.types.0 & Types::NUMBER.0 != 0) || (text && n.types.contains(Types::STRING)) {
            n.scalar = Some(k);
        }
        if n.types.0 == Types::STRING.0
            && let Some(word) = k.pattern.as_deref().and_then(spelled_by)
        {
            n.spelled = Some(Scalar::Word(self.intern(word)));
        }
        n.all.extend(k.all_of.iter().map(|&s| self.id(s)));
        n.any = k.any_of.as_ref().map(|v| self.ids(v));
        n.one = k.one_of.as_ref().map(|v| self.ids(v));
        n.not = k.not.map(|s| self.id(s)).filter(|&c| c != FALSE);
        if let Some(i) = k.if_ {
            let or_true = |s: Option<SchemaId>| s.map_or(TRUE, |s| self.id(s));
            n.cond = Some((self.id(i), or_true(k.then), or_true(k.else_)));
        }
        Ok(())
    }

    fn object_part(&mut self, k: &'m Keywords) -> Option<Box<ObjectPart>> {
        let few = k.properties.is_empty() && k.required.is_empty() && k.additional_properties.is_none();
        if few && !k.has_more() {
            return None;
        }
        let mut o = ObjectPart { props: Vec::with_capacity(k.properties.len()), ..ObjectPart::default() };
        o.props.extend(k.properties.iter().map(|&(name, s)| (name, self.id(s))));
        for (pattern, s) in &k.pattern_properties {
            let pattern = self.intern(pattern);
            o.patterns.push((pattern, self.id(*s)));
        }
        o.additional = k.additional_properties.map(|s| self.id(s));
        o.names = k.property_names.map(|s| self.id(s)).filter(|&c| c != TRUE);
        o.required.clone_from(&k.required);
        o.min = k.min_properties.unwrap_or(0);
        o.max = k.max_properties;
        for (name, needs) in &k.dependent_required {
            let name = self.intern(name);
            let needs = needs.iter().map(|s| self.intern(s)).collect();
            o.dependent_required.push((name, needs));
        }
        for (name, s) in &k.dependent_schemas {
            let name = self.intern(name);
            o.dep_schemas.push((name, self.id(*s)));
        }
        o.unevaluated = k.unevaluated_properties.map(|s| self.id(s));
        let constrains = o.describes()
            || o.names.is_some()
            || !o.required.is_empty()
            || o.min > 0
            || o.max.is_some()
            || !o.dependent_required.is_empty()
            || !o.dep_schemas.is_empty()
            || o.unevaluated.is_some();
        if o.props.len() > 8 {
            o.index = o.props.iter().copied().collect();
        }
        constrains.then(|| Box::new(o))
    }

    fn array_part(&mut self, k: &'m Keywords) -> Option<Box<ArrayPart>> {
        if k.items.is_none() && !k.unique_items && !k.has_more() {
            return None;
        }
        let contains = k.contains.map(|s| (self.id(s), k.min_contains.unwrap_or(1), k.max_contains));
        let a = ArrayPart {
            prefix: self.ids(&k.prefix_items),
            items: k.items.map(|s| self.id(s)),
            contains,
            contains_evaluates: !k.contains_does_not_evaluate,
            min: k.min_items.unwrap_or(0),
            max: k.max_items,
            unique: k.unique_items,
            unevaluated: k.unevaluated_items.map(|s| self.id(s)),
        };
        let constrains = !a.prefix.is_empty()
            || a.items.is_some()
            || a.contains.is_some()
            || a.min > 0
            || a.max.is_some()
            || a.unique
            || a.unevaluated.is_some();
        constrains.then(|| Box::new(a))
    }

    pub(super) fn add(&mut self, node: SchemaNode<'m>) -> SchemaNodeId {
        let id = self.list.len() as SchemaNodeId;
        self.list.push(None);
        self.canon.push(id);
        self.masks.push(Types(0));
        self.finish(id, node);
        self.canon(id)
    }
}

/// The word that a pattern like `^word$` spells.
fn spelled_by(pattern: &str) -> Option<&str> {
    let word = pattern.strip_prefix('^')?.strip_suffix('$')?;
    (!word.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])).then_some(word)
}
