//! Arrays: facts about elements, how keywords add to them, and the shapes that they make.

mod element_ways;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::json::rules::{ArrayShape, Contains, Element};
use crate::schema::lower::array::element_ways::ways;
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::lower::distribute::{Alternative, Conjunct, Status, StructuredKind, TakenBranch, UnevaluatedScope};
use crate::schema::lower::node::{FALSE, SchemaNodeId, TRUE};
use crate::schema::lower::unique_constants::ConstantElements;
use crate::schema::model::{SchemaId, Types};

/// The type `array`.
pub(super) struct Arrays;

/// A `contains`, or the violation of an `items`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountedMatches {
    pub lit: Lit,
    /// First position that counts.
    pub from: usize,
    pub min: u64,
    pub max: Option<u64>,
}

/// An assertion about an array.
#[derive(Clone, Debug)]
pub(super) enum ArrayAtom {
    /// The element at a position exists and satisfies the literal.
    At(usize, Lit),
    Counted(CountedMatches),
    Min(u64),
    Max(u64),
    /// Two elements are equal, against `uniqueItems` of the node.
    Repeats(SchemaNodeId),
    Unsupported(SchemaNodeId, &'static str, &'static str),
}

/// One `unevaluatedItems`.
#[derive(Clone, Debug)]
pub(super) struct UnevaluatedItems {
    pub schema: SchemaNodeId,
    /// Nodes whose items count as evaluated.
    pub by: Vec<SchemaNodeId>,
    /// Schemas under `contains`: what they match is evaluated.
    pub contains: Vec<SchemaNodeId>,
    /// A nested keyword of the same name has evaluated everything.
    pub all: bool,
}

/// What is known about an array.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayFacts {
    pub groups: SmallVec<[SchemaNodeId; 4]>,
    pub at: Vec<(usize, Lit)>,
    pub counted: Vec<CountedMatches>,
    /// From a position on, no element satisfies the literal.
    pub never: Vec<(usize, Lit)>,
    pub min: u64,
    pub max: Option<u64>,
    pub unique: bool,
    pub repeats: Option<SchemaNodeId>,
    pub scopes: Vec<UnevaluatedItems>,
}

impl ArrayFacts {
    fn at_least(&mut self, n: u64) -> bool {
        self.min = self.min.max(n);
        self.max.is_none_or(|m| self.min <= m)
    }

    fn at_most(&mut self, n: u64) -> bool {
        self.max = Some(self.max.map_or(n, |m| m.min(n)));
        self.min <= n
    }

    pub(super) fn count(&mut self, c: CountedMatches) -> bool {
        // Two counts of one schema are one.
        match self.counted.iter_mut().find(|k| k.lit == c.lit && k.from == c.from) {
            Some(k) => {
                k.min = k.min.max(c.min);
                k.max = match (k.max, c.max) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                k.max.is_none_or(|m| k.min <= m)
            }
            None => {
                let alive = c.max.is_none_or(|m| c.min <= m);
                self.counted.push(c);
                alive
            }
        }
    }
}

impl StructuredKind for Arrays {
    const TYPE: Types = Types::ARRAY;
    type Facts = ArrayFacts;
    type Atom = ArrayAtom;

    fn take(
        cx: &mut LoweringContext<'_, '_>,
        node: SchemaNodeId,
        facts: &mut ArrayFacts,
        out: &mut TakenBranch<ArrayAtom>,
    ) -> Result<bool> {
        let nodes = &cx.nodes;
        let Some(a) = nodes.get(node).array.as_deref() else { return Ok(true) };
        let outer = out.scope;
        if let Some(u) = a.unevaluated {
            if let Some(s) = outer.checked_sub(1).and_then(|s| facts.scopes.get_mut(s as usize)) {
                s.all = true;
            }
            let schema = nodes.canon(u);
            facts.scopes.push(UnevaluatedItems { schema, by: Vec::new(), contains: Vec::new(), all: false });
            out.scope = facts.scopes.len() as UnevaluatedScope;
        }
        if (!a.prefix.is_empty() || a.items.is_some()) && !facts.groups.contains(&node) {
            facts.groups.push(node);
        }
        if let Some(s) = out.scope.checked_sub(1).and_then(|s| facts.scopes.get_mut(s as usize)) {
            s.by.push(node);
            if let (Some((c, ..)), true) = (a.contains, a.contains_evaluates) {
                s.contains.push(nodes.canon(c));
            }
        }
        facts.unique |= a.unique;
        let mut alive = facts.at_least(a.min) && a.max.is_none_or(|m| facts.at_most(m));
        if let Some((c, min, max)) = a.contains {
            alive &= match nodes.canon(c) {
                TRUE => facts.at_least(min) && max.is_none_or(|m| facts.at_most(m)),
                FALSE => min == 0,
                _ if min == 0 && max.is_none() => true,
                c => facts.count(CountedMatches { lit: Lit::yes(c), from: 0, min, max }),
            };
        }
        Ok(alive)
    }

    fn violations(cx: &mut LoweringContext<'_, '_>, node: SchemaNodeId) -> Result<Vec<Alternative<ArrayAtom>>> {
        use ArrayAtom::{At, Max, Min, Repeats, Unsupported};
        let nodes = &cx.nodes;
        let Some(a) = nodes.get(node).array.as_deref() else { return Ok(Vec::new()) };
        let atom = Conjunct::<ArrayAtom>::Atom;
        let mut out = Vec::new();
        for (i, &s) in a.prefix.iter().enumerate() {
            let s = nodes.canon(s);
            if s != TRUE {
                out.push(vec![atom(At(i, Lit::no(s)))]);
            }
        }
        match a.items.map(|s| nodes.canon(s)) {
            None | Some(TRUE) => {}
            Some(FALSE) => out.push(vec![atom(Min(a.prefix.len() as u64 + 1))]),
            Some(s) => {
                let c = CountedMatches { lit: Lit::no(s), from: a.prefix.len(), min: 1, max: None };
                out.push(vec![atom(ArrayAtom::Counted(c))]);
            }
        }
        if let Some((c, min, max)) = a.contains {
            let lit = Lit::yes(nodes.canon(c));
            if let Some(max) = min.checked_sub(1) {
                out.push(vec![atom(ArrayAtom::Counted(CountedMatches { lit, from: 0, min: 0, max: Some(max) }))]);
            }
            if let Some(m) = max {
                let min = m.saturating_add(1);
                out.push(vec![atom(ArrayAtom::Counted(CountedMatches { lit, from: 0, min, max: None }))]);
            }
        }
        if let Some(m) = a.min.checked_sub(1) {
            out.push(vec![atom(Max(m))]);
        }
        if let Some(m) = a.max {
            out.push(vec![atom(Min(m.saturating_add(1)))]);
        }
        if a.unique {
            out.push(vec![atom(Repeats(node))]);
        }
        if a.unevaluated.is_some_and(|u| nodes.canon(u) != TRUE) {
            let reason = "its negation would need to know which elements other keywords evaluate where they fail; \
                          close the array with items instead";
            out.push(vec![atom(Unsupported(node, "unevaluatedItems", reason))]);
        }
        Ok(out)
    }

    fn assert(cx: &mut LoweringContext<'_, '_>, atom: ArrayAtom, facts: &mut ArrayFacts) -> Result<bool> {
        Ok(match atom {
            ArrayAtom::At(i, l) => {
                facts.at.push((i, l));
                facts.at_least(i as u64 + 1)
            }
            ArrayAtom::Counted(c) => match (c.lit.node, c.lit.negated) {
                (TRUE, false) | (FALSE, true) if c.from == 0 => {
                    facts.at_least(c.min) && c.max.is_none_or(|m| facts.at_most(m))
                }
                (TRUE, true) | (FALSE, false) => c.min == 0,
                _ => {
                    let (from, min) = (c.from as u64, c.min);
                    facts.count(c) && (min == 0 || facts.at_least(from.saturating_add(min)))
                }
            },
            ArrayAtom::Min(n) => facts.at_least(n),
            ArrayAtom::Max(n) => facts.at_most(n),
            ArrayAtom::Repeats(node) => {
                facts.repeats = Some(node);
                !facts.unique && facts.at_least(2)
            }
            ArrayAtom::Unsupported(node, keyword, reason) => {
                cx.unsupported(node, keyword, reason)?;
                // The caller asked for more rather than less.
                true
            }
        })
    }

    fn status(cx: &mut LoweringContext<'_, '_>, atom: &ArrayAtom, facts: &ArrayFacts) -> Result<Status> {
        Ok(match atom {
            ArrayAtom::Min(n) => Status::of_min(*n, facts.min, facts.max),
            ArrayAtom::Max(n) => Status::of_max(*n, facts.min, facts.max),
            ArrayAtom::At(i, _) if facts.max.is_some_and(|m| m <= *i as u64) => Status::Dead,
            ArrayAtom::At(i, l) if cx.element_may_satisfy(facts, *i, *l)? => Status::Open,
            ArrayAtom::At(..) => Status::Dead,
            ArrayAtom::Counted(c) if c.min > 0 && !cx.some_element_counts(facts, c)? => Status::Dead,
            ArrayAtom::Repeats(_) if facts.unique || facts.max.is_some_and(|m| m < 2) => Status::Dead,
            _ => Status::Open,
        })
    }

    fn negate(alternative: &[Conjunct<ArrayAtom>]) -> Vec<ArrayAtom> {
        match alternative {
            [Conjunct::Atom(ArrayAtom::Max(n))] => n.checked_add(1).map(ArrayAtom::Min).into_iter().collect(),
            [Conjunct::Atom(ArrayAtom::Min(n))] => n.checked_sub(1).map(ArrayAtom::Max).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn is_dead(_: &mut LoweringContext<'_, '_>, _: &ArrayFacts) -> Result<bool> {
        Ok(false)
    }
}

/// Adds the shape of `facts`. Where there is none, `dead` learns which schema made it so.
pub(super) fn array_shape(
    cx: &mut LoweringContext<'_, '_>,
    mut facts: ArrayFacts,
    out: &mut Vec<ArrayShape>,
    dead: &mut Option<SchemaId>,
) -> Result<()> {
    // What no element may match is no count but part of every element.
    let never = facts.counted.iter().filter(|c| c.max == Some(0)).map(|c| (c.from, c.lit)).collect();
    facts.never = never;
    facts.counted.retain(|c| c.max != Some(0) && (c.min > 0 || c.max.is_some()));
    if !constants_allow_uniqueness(cx, &mut facts) {
        return Ok(());
    }
    if let Some(node) = facts.repeats {
        if facts.unique || facts.max.is_some_and(|m| m < 2) {
            return Ok(());
        }
        let end = cx.prefix_len(&facts);
        if let Some(ways) = cx.repeated_values(&facts, end) {
            for way in ways {
                array_shape(cx, way, out, dead)?;
            }
            return Ok(());
        }
        let reason = "its negation asks for two equal elements; remove it, or make the alternatives differ in type or \
                      in a constant";
        cx.unsupported(node, "uniqueItems", reason)?;
    }
    if facts.counted.len() > 32 {
        return Err(Error::limit("contains of one array", 32, facts.counted.len() as u64));
    }
    let (prefix, rest) = prefix_and_rest(cx, &facts, dead)?;
    let contains = facts.counted.iter().map(|c| Contains { min: c.min, max: c.max }).collect();
    let shape = ArrayShape { prefix, rest, min: facts.min, max: facts.max, contains, unique: facts.unique };
    if !out.contains(&shape) {
        out.push(shape);
    }
    Ok(())
}

/// Whether elements that are all constants leave what `uniqueItems` or its negation asks for. What they decide is asked
/// for no longer.
fn constants_allow_uniqueness(cx: &mut LoweringContext<'_, '_>, facts: &mut ArrayFacts) -> bool {
    if !facts.unique && facts.repeats.is_none() {
        return true;
    }
    match cx.constant_elements(facts) {
        ConstantElements::Equal if facts.unique => return false,
        ConstantElements::Equal => facts.repeats = None,
        ConstantElements::Differ if facts.repeats.is_some() => return false,
        ConstantElements::Differ => facts.unique = false,
        ConstantElements::Open => {}
    }
    true
}

/// The ways of the first positions, and of all behind them.
fn prefix_and_rest(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ArrayFacts,
    dead: &mut Option<SchemaId>,
) -> Result<(Vec<Vec<Element>>, Vec<Element>)> {
    let end = cx.prefix_len(facts);
    let mut prefix = Vec::with_capacity(end);
    for i in 0..end {
        if facts.max.is_some_and(|m| m <= i as u64) {
            break;
        }
        let ways = ways(cx, facts, i, dead)?;
        let stop = ways.is_empty();
        prefix.push(ways);
        if stop {
            break;
        }
    }
    let ended = prefix.len() < end || prefix.last().is_some_and(Vec::is_empty);
    let rest =
        if ended || facts.max.is_some_and(|m| m <= end as u64) { Vec::new() } else { ways(cx, facts, end, dead)? };
    while prefix.last().is_some_and(|w| *w == rest) {
        prefix.pop();
    }
    Ok((prefix, rest))
}

impl LoweringContext<'_, '_> {
    /// Whether the element at a position is not seen to fail a literal.
    fn element_may_satisfy(&mut self, facts: &ArrayFacts, i: usize, lit: Lit) -> Result<bool> {
        let Some(mut lits) = self.element_lits(facts, i) else { return Ok(false) };
        lits.push(lit);
        Ok(!self.is_empty_scalar(&mut lits)?)
    }

    /// Whether there is room for what is counted, and some element may be.
    fn some_element_counts(&mut self, facts: &ArrayFacts, c: &CountedMatches) -> Result<bool> {
        if facts.max.is_some_and(|m| m < (c.from as u64).saturating_add(c.min)) {
            return Ok(false);
        }
        // Every position that differs in what it may be.
        let end = self.prefix_len(facts).max(c.from);
        for i in c.from..=end {
            if self.element_may_satisfy(facts, i, c.lit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Positions from here on are all alike.
    fn prefix_len(&self, facts: &ArrayFacts) -> usize {
        let of = |g: &SchemaNodeId| self.nodes.get(*g).array.as_ref().map_or(0, |a| a.prefix.len());
        let groups = facts.groups.iter().map(of).max().unwrap_or(0);
        let at = facts.at.iter().map(|a| a.0 + 1).max().unwrap_or(0);
        let counted = facts.counted.iter().map(|c| c.from).max().unwrap_or(0);
        let scopes = facts.scopes.iter().flat_map(|s| s.by.iter().map(of)).max().unwrap_or(0);
        let never = facts.never.iter().map(|n| n.0).max().unwrap_or(0);
        groups.max(at).max(counted).max(never).max(scopes)
    }

    /// What groups and positions say of an element; `None` if it is seen to be forbidden.
    pub(super) fn element_base(&self, facts: &ArrayFacts, i: usize) -> Option<Lits> {
        let mut lits = Lits::new();
        for &g in &facts.groups {
            let Some(a) = self.nodes.get(g).array.as_deref() else { continue };
            lits.extend(a.prefix.get(i).copied().or(a.items).map(Lit::yes));
        }
        lits.extend(facts.at.iter().filter(|a| a.0 == i).map(|a| a.1));
        lits.extend(facts.never.iter().filter(|n| n.0 <= i).map(|n| n.1.negate()));
        let forbidden = |l: &Lit| l.node == FALSE && !l.negated || l.node == TRUE && l.negated;
        (!lits.iter().any(forbidden)).then_some(lits)
    }

    /// The literals of element `i`: those of [`element_base`](Self::element_base), with what `unevaluatedItems` adds
    /// for certain.
    fn element_lits(&self, facts: &ArrayFacts, i: usize) -> Option<Lits> {
        let mut lits = self.element_base(facts, i)?;
        for (s, scope) in facts.scopes.iter().enumerate() {
            if scope.contains.is_empty() && !self.scope_covers(facts, s, i) {
                lits.push(Lit::yes(scope.schema));
            }
        }
        Some(lits)
    }

    fn scope_covers(&self, facts: &ArrayFacts, scope: usize, i: usize) -> bool {
        let s = &facts.scopes[scope];
        let covers = |g: &SchemaNodeId| {
            self.nodes.get(*g).array.as_deref().is_some_and(|a| i < a.prefix.len() || a.items.is_some())
        };
        s.all || s.by.iter().any(covers)
    }
}
