//! Objects: facts about members and how keywords add to them.
//!
//! Facts refer to nodes instead of copying their members, so a state of the search stays small however many properties
//! a schema has; `object_shape` looks the members up once at the end.

pub(crate) mod key_classes;
pub(crate) mod object_shape;
pub(crate) mod shape_set;
mod violations;

use smallvec::SmallVec;

use crate::error::Result;
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::lower::distribute::{
    Alternative, Conjunct, Disjunction, Status, StructuredKind, TakenBranch, UnevaluatedScope,
};
use crate::schema::lower::node::{FALSE, SchemaNodeId, TRUE};
use crate::schema::model::Types;
use crate::schema::name_table::Name;

/// The most names whose presence is found by going through all of them. More have an index.
const SEARCHED_NAMES: usize = 8;

/// The type `object`.
pub(super) struct Objects;

/// Keys that a violated keyword speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Neither under `properties` nor `patternProperties` of the node.
    Additional(SchemaNodeId),
    /// That match a pattern of the node.
    Pattern(SchemaNodeId, Name),
    /// That the schema under `propertyNames` refuses.
    Refused(SchemaNodeId),
}

/// Some member has such a key and satisfies the literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exists {
    /// Whose keyword is violated.
    pub node: SchemaNodeId,
    pub keys: Keys,
    pub lit: Lit,
}

/// An assertion about an object.
#[derive(Clone, Debug)]
pub(super) enum ObjectAtom {
    Present(Name),
    Absent(Name),
    /// If the member is present, its value satisfies the literal.
    Value(Name, Lit),
    Min(u64),
    Max(u64),
    Exists(Exists),
    /// A way that cannot be stated.
    Unsupported(SchemaNodeId, &'static str, &'static str),
}

/// One `unevaluatedProperties`.
#[derive(Clone, Debug)]
pub(super) struct UnevaluatedProperties {
    pub schema: SchemaNodeId,
    /// Nodes whose members count as evaluated.
    pub by: Vec<SchemaNodeId>,
    /// A nested keyword of the same name has evaluated everything.
    pub all: bool,
}

/// What is known about an object.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectFacts {
    /// Nodes that describe members.
    pub groups: SmallVec<[SchemaNodeId; 4]>,
    /// Present or absent.
    pub presence: Vec<(Name, bool)>,
    /// Of more than [`SEARCHED_NAMES`] names.
    presence_index: rustc_hash::FxHashMap<Name, bool>,
    /// How many names are known to be present.
    present: u64,
    pub values: Vec<(Name, Lit)>,
    pub names: Vec<Lit>,
    pub dependent_required: Vec<(Name, Name)>,
    pub min: u64,
    pub max: Option<u64>,
    pub exists: Vec<Exists>,
    pub scopes: Vec<UnevaluatedProperties>,
    /// Keys of small classes, as names.
    pub listed: Vec<Name>,
}

impl ObjectFacts {
    /// Whether the name is known to be present or absent.
    pub fn presence_of(&self, name: Name) -> Option<bool> {
        if self.presence.len() <= SEARCHED_NAMES {
            return self.presence.iter().find(|p| p.0 == name).map(|p| p.1);
        }
        self.presence_index.get(&name).copied()
    }

    /// Whether no name can be present but those that are known to be.
    fn is_full(&self) -> bool {
        self.max.is_some_and(|m| self.present >= m)
    }

    /// Sets presence; `false` on a contradiction.
    pub fn set_presence(&mut self, name: Name, present: bool) -> bool {
        match self.presence_of(name) {
            Some(p) => p == present,
            None => {
                self.presence.push((name, present));
                if self.presence_index.is_empty() && self.presence.len() > SEARCHED_NAMES {
                    self.presence_index = self.presence.iter().copied().collect();
                } else if self.presence.len() > SEARCHED_NAMES {
                    self.presence_index.insert(name, present);
                }
                self.present += u64::from(present);
                self.max.is_none_or(|m| self.present <= m)
            }
        }
    }

    fn at_least(&mut self, n: u64) -> bool {
        self.min = self.min.max(n);
        self.max.is_none_or(|m| self.min <= m)
    }

    fn at_most(&mut self, n: u64) -> bool {
        self.max = Some(self.max.map_or(n, |m| m.min(n)));
        self.min.max(self.present) <= n
    }
}

impl StructuredKind for Objects {
    const TYPE: Types = Types::OBJECT;
    type Facts = ObjectFacts;
    type Atom = ObjectAtom;

    fn take(
        cx: &mut LoweringContext<'_, '_>,
        node: SchemaNodeId,
        facts: &mut ObjectFacts,
        out: &mut TakenBranch<ObjectAtom>,
    ) -> Result<bool> {
        let nodes = &cx.nodes;
        let Some(o) = nodes.get(node).object.as_deref() else { return Ok(true) };
        let outer = out.scope;
        if let Some(u) = o.unevaluated {
            if let Some(s) = outer.checked_sub(1).and_then(|s| facts.scopes.get_mut(s as usize)) {
                s.all = true;
            }
            facts.scopes.push(UnevaluatedProperties { schema: nodes.canon(u), by: Vec::new(), all: false });
            out.scope = facts.scopes.len() as UnevaluatedScope;
        }
        if o.describes() {
            if !facts.groups.contains(&node) {
                facts.groups.push(node);
            }
            if let Some(s) = out.scope.checked_sub(1).and_then(|s| facts.scopes.get_mut(s as usize)) {
                s.by.push(node);
            }
        }
        let mut alive = true;
        facts.presence.reserve(o.required.len());
        for &r in &o.required {
            alive &= facts.set_presence(r, true);
        }
        for (k, needs) in &o.dependent_required {
            facts.dependent_required.extend(needs.iter().filter(|n| *n != k).map(|&n| (*k, n)));
        }
        facts.names.extend(o.names.map(Lit::yes));
        alive &= facts.at_least(o.min) && o.max.is_none_or(|m| facts.at_most(m));
        for &(k, s) in &o.dep_schemas {
            match nodes.canon(s) {
                TRUE => {}
                FALSE => alive &= facts.set_presence(k, false),
                s => {
                    let absent = vec![Conjunct::Atom(ObjectAtom::Absent(k))];
                    let present = vec![Conjunct::Atom(ObjectAtom::Present(k)), Conjunct::Lit(Lit::yes(s), out.scope)];
                    out.choices.push(Disjunction::new(vec![absent, present], out.scope));
                }
            }
        }
        Ok(alive)
    }

    fn violations(cx: &mut LoweringContext<'_, '_>, node: SchemaNodeId) -> Result<Vec<Alternative<ObjectAtom>>> {
        Ok(violations::violations(cx, node))
    }

    fn assert(cx: &mut LoweringContext<'_, '_>, atom: ObjectAtom, facts: &mut ObjectFacts) -> Result<bool> {
        Ok(match atom {
            ObjectAtom::Present(n) => facts.set_presence(n, true),
            ObjectAtom::Absent(n) => facts.set_presence(n, false),
            ObjectAtom::Value(n, l) => {
                if !facts.values.contains(&(n, l)) {
                    facts.values.push((n, l));
                }
                true
            }
            ObjectAtom::Min(n) => facts.at_least(n),
            ObjectAtom::Max(n) => facts.at_most(n),
            ObjectAtom::Exists(e) => {
                if !facts.exists.contains(&e) {
                    facts.exists.push(e);
                }
                facts.at_least(1)
            }
            ObjectAtom::Unsupported(node, keyword, reason) => {
                cx.unsupported(node, keyword, reason)?;
                // The caller asked for more rather than less.
                true
            }
        })
    }

    fn status(cx: &mut LoweringContext<'_, '_>, atom: &ObjectAtom, facts: &ObjectFacts) -> Result<Status> {
        Ok(match *atom {
            ObjectAtom::Present(n) => cx.presence_status(facts, n, true)?,
            ObjectAtom::Absent(n) => cx.presence_status(facts, n, false)?,
            ObjectAtom::Value(n, l) => cx.value_status(facts, n, l)?,
            ObjectAtom::Min(n) => Status::of_min(n, facts.min, facts.max),
            ObjectAtom::Max(n) => Status::of_max(n, facts.min, facts.max),
            ObjectAtom::Exists(e) if facts.exists.contains(&e) => Status::Holds,
            ObjectAtom::Exists(e) => match e.keys {
                // The same keyword holds as well, so no member can violate it.
                Keys::Additional(of) | Keys::Pattern(of, _) if facts.groups.contains(&of) => Status::Dead,
                _ => Status::Open,
            },
            ObjectAtom::Unsupported(..) => Status::Open,
        })
    }

    fn negate(alternative: &[Conjunct<ObjectAtom>]) -> Vec<ObjectAtom> {
        use ObjectAtom::{Absent, Max, Min, Present, Value};
        match alternative {
            [Conjunct::Atom(Absent(n))] => vec![Present(*n)],
            [Conjunct::Atom(Value(n, l))] => vec![Present(*n), Value(*n, l.negate())],
            [Conjunct::Atom(Present(n)), Conjunct::Atom(Value(m, l))] if n == m => vec![Value(*n, l.negate())],
            [Conjunct::Atom(Max(n))] => n.checked_add(1).map(Min).into_iter().collect(),
            [Conjunct::Atom(Min(n))] => n.checked_sub(1).map(Max).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn is_dead(cx: &mut LoweringContext<'_, '_>, facts: &ObjectFacts) -> Result<bool> {
        if facts.groups.len() < 2 && facts.values.is_empty() {
            return Ok(false);
        }
        for &(name, present) in &facts.presence {
            if !present {
                continue;
            }
            cx.work(1)?;
            let Some(mut lits) = cx.member_lits(facts, name)? else { return Ok(true) };
            if cx.is_empty_scalar(&mut lits)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl LoweringContext<'_, '_> {
    /// Whether a member is present, or absent, as is wanted.
    fn presence_status(&mut self, facts: &ObjectFacts, name: Name, wanted: bool) -> Result<Status> {
        Ok(match facts.presence_of(name) {
            Some(present) if present == wanted => Status::Holds,
            Some(_) => Status::Dead,
            None if !facts.is_full() && self.member_lits(facts, name)?.is_some() => Status::Open,
            // It cannot be present.
            None if wanted => Status::Dead,
            None => Status::Holds,
        })
    }

    /// Whether a member satisfies a literal if it is present.
    fn value_status(&mut self, facts: &ObjectFacts, name: Name, lit: Lit) -> Result<Status> {
        let present = facts.presence_of(name);
        if present == Some(false) || (present.is_none() && facts.is_full()) {
            return Ok(Status::Holds);
        }
        let Some(mut lits) = self.member_lits(facts, name)? else { return Ok(Status::Holds) };
        if lits.contains(&lit) {
            return Ok(Status::Holds);
        }
        // A negated schema that is disjoint from what is known says nothing new.
        if lit.negated && lits.iter().any(|k| !k.negated && self.is_disjoint(k.node, lit.node)) {
            return Ok(Status::Holds);
        }
        lits.push(lit);
        // Without any value the member may still be absent.
        Ok(if present == Some(true) && self.is_empty_scalar(&mut lits)? { Status::Dead } else { Status::Open })
    }

    /// Whether a conjunction is seen to accept nothing: contradictory, or of scalar types only without a scalar.
    pub fn is_empty_scalar(&mut self, lits: &mut Lits) -> Result<bool> {
        if self.normalize(lits).is_none() {
            return Ok(true);
        }
        if lits.len() < 2 {
            return Ok(false);
        }
        let mask = lits.iter().fold(Types::ALL.0, |m, &l| m & self.mask(l).0);
        if mask & (Types::ARRAY.0 | Types::OBJECT.0) != 0 {
            return Ok(false);
        }
        if let Some(&known) = self.empty.get(lits.as_slice()) {
            return Ok(known);
        }
        let found = self.scalars_of(lits)?.is_empty();
        self.empty.insert(lits.as_slice().into(), found);
        Ok(found)
    }

    /// Whether a pattern under `patternProperties` of `node` matches a key. A pattern that was dropped matches none.
    pub fn pattern_matches(&mut self, node: SchemaNodeId, pattern: Name, key: Name) -> Result<bool> {
        if let Some(&hit) = self.pattern_hits.get(&(pattern, key)) {
            return Ok(hit);
        }
        let (p, k) = (self.nodes.name(pattern), self.nodes.name(key));
        let hit = match self.pattern_text(node, "patternProperties", &p)? {
            Some(e) => self.x.accepts(e, k.as_bytes()),
            None => false,
        };
        self.pattern_hits.insert((pattern, key), hit);
        Ok(hit)
    }

    /// What `node` says of the member `name`: adds to `lits`; answers whether anything describes it.
    pub fn member_of(&mut self, node: SchemaNodeId, name: Name, lits: &mut Lits) -> Result<bool> {
        let Some(o) = self.nodes.get(node).object.as_deref() else { return Ok(false) };
        let mut described = false;
        if let Some(s) = o.prop(name) {
            lits.push(Lit::yes(s));
            described = true;
        }
        let additional = o.additional;
        if !o.patterns.is_empty() {
            let patterns = o.patterns.clone();
            for (p, s) in patterns {
                if self.pattern_matches(node, p, name)? {
                    lits.push(Lit::yes(s));
                    described = true;
                }
            }
        }
        if !described && let Some(s) = additional {
            lits.push(Lit::yes(s));
            described = true;
        }
        Ok(described)
    }

    /// Everything that the facts say of one member; `None` if it is forbidden. Normalizes nothing.
    pub fn member_lits(&mut self, facts: &ObjectFacts, name: Name) -> Result<Option<Lits>> {
        let mut lits = Lits::new();
        for &g in &facts.groups {
            self.member_of(g, name, &mut lits)?;
        }
        for s in &facts.scopes {
            if s.all {
                continue;
            }
            let mut covered = false;
            for &g in &s.by {
                covered |= self.member_of(g, name, &mut Lits::new())?;
            }
            if !covered {
                lits.push(Lit::yes(s.schema));
            }
        }
        for &(n, l) in &facts.values {
            if n == name {
                lits.push(l);
            }
        }
        for &l in &facts.names {
            if !self.accepts_key(l, name)? {
                return Ok(None);
            }
        }
        let forbidden = lits.iter().any(|l| l.node == FALSE && !l.negated || l.node == TRUE && l.negated);
        Ok((!forbidden).then_some(lits))
    }
}
