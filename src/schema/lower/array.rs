//! Arrays: facts about elements, and the ways that an element may take.
//!
//! A *way* of an element is a conjunction and the set of `contains` that it is counted for. Where some `contains` has
//! an upper bound, counting must be exact, so the ways of a position are a partition: each `contains` holds or fails.
//! With lower bounds only, an element may be counted whenever it matches, and nothing needs to be refused: but where
//! elements must differ, a spelling of one of few values that is not counted (`0e4`) would use that value up.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::json::rules::{ArrayShape, Contains, Element};
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
            ArrayAtom::Min(n) if *n <= facts.min => Status::Holds,
            ArrayAtom::Max(n) if facts.max.is_some_and(|m| m <= *n) => Status::Holds,
            ArrayAtom::Min(n) if facts.max.is_some_and(|m| m < *n) => Status::Dead,
            ArrayAtom::Max(n) if *n < facts.min => Status::Dead,
            ArrayAtom::At(i, l) => {
                if facts.max.is_some_and(|m| m <= *i as u64) {
                    return Ok(Status::Dead);
                }
                let Some(mut lits) = cx.element_lits(facts, *i) else { return Ok(Status::Dead) };
                lits.push(*l);
                if cx.is_empty_scalar(&mut lits)? { Status::Dead } else { Status::Open }
            }
            ArrayAtom::Counted(c) if c.min > 0 => {
                if facts.max.is_some_and(|m| m < (c.from as u64).saturating_add(c.min)) {
                    return Ok(Status::Dead);
                }
                // Every position that differs in what it may be.
                let end = cx.prefix_len(facts).max(c.from);
                for i in c.from..=end {
                    if let Some(mut lits) = cx.element_lits(facts, i) {
                        lits.push(c.lit);
                        if !cx.is_empty_scalar(&mut lits)? {
                            return Ok(Status::Open);
                        }
                    }
                }
                Status::Dead
            }
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
    match cx.constant_elements(&facts) {
        ConstantElements::Equal if facts.unique => return Ok(()),
        ConstantElements::Equal => facts.repeats = None,
        ConstantElements::Differ if facts.repeats.is_some() => return Ok(()),
        ConstantElements::Differ => facts.unique = false,
        ConstantElements::Open => {}
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
        let reason = "its negation asks for two equal elements; remove it, or make the alternatives differ in type or in \
                      a constant";
        cx.unsupported(node, "uniqueItems", reason)?;
    }
    if facts.counted.len() > 32 {
        return Err(Error::limit("contains of one array", 32, facts.counted.len() as u64));
    }
    let end = cx.prefix_len(&facts);
    let mut prefix = Vec::with_capacity(end);
    for i in 0..end {
        if facts.max.is_some_and(|m| m <= i as u64) {
            break;
        }
        let ways = ways(cx, &facts, i, dead)?;
        let stop = ways.is_empty();
        prefix.push(ways);
        if stop {
            break;
        }
    }
    let ended = prefix.len() < end || prefix.last().is_some_and(Vec::is_empty);
    let rest =
        if ended || facts.max.is_some_and(|m| m <= end as u64) { Vec::new() } else { ways(cx, &facts, end, dead)? };
    while prefix.last().is_some_and(|w| *w == rest) {
        prefix.pop();
    }
    let contains = facts.counted.iter().map(|c| Contains { min: c.min, max: c.max }).collect();
    let shape = ArrayShape { prefix, rest, min: facts.min, max: facts.max, contains, unique: facts.unique };
    if !out.contains(&shape) {
        out.push(shape);
    }
    Ok(())
}

/// The ways of one position.
fn ways(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ArrayFacts,
    i: usize,
    dead: &mut Option<SchemaId>,
) -> Result<Vec<Element>> {
    let Some(base) = cx.element_base(facts, i) else { return Ok(Vec::new()) };
    let exact = facts.counted.iter().any(|c| c.max.is_some());
    // Evaluated elements escape unevaluatedItems.
    let open: Vec<usize> = (0..facts.scopes.len()).filter(|&s| !cx.scope_covers(facts, s, i)).collect();
    let deciding = deciding_literals(cx, facts, i, &base, &open)?;
    let mut out: Vec<Element> = Vec::new();
    for (mut lits, matches) in decided(cx, &base, deciding)? {
        cx.work(1)?;
        for &s in &open {
            let covered = facts.scopes[s].contains.iter().any(|&c| lits.contains(&Lit::yes(c)));
            if !covered {
                lits.push(Lit::yes(facts.scopes[s].schema));
            }
        }
        lits.extend_from_slice(&base);
        let origin = cx.origin(&lits);
        match cx.rule(lits)? {
            None => *dead = dead.or(Some(origin)),
            Some(rule) => {
                let e = Element { rule, matches };
                // The same element counted for more is the better way, unless counts have upper bounds.
                let better = |o: &Element| o.rule == e.rule && o.matches & matches == matches;
                if !out.iter().any(|o| *o == e || (!exact && better(o))) {
                    out.push(e);
                }
            }
        }
    }
    Ok(out)
}

/// A literal that decides ways, the counts that it adds to, and whether one that is not counted must fail it.
type DecidingLit = (Lit, u32, bool);

/// What decides the ways of one position: each `contains` that counts there, or that lets elements escape the scopes
/// of `unevaluatedItems` which are `open`.
fn deciding_literals(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ArrayFacts,
    i: usize,
    base: &Lits,
    open: &[usize],
) -> Result<Vec<DecidingLit>> {
    let mut deciding: Vec<DecidingLit> = Vec::new();
    let exact = facts.counted.iter().any(|c| c.max.is_some());
    for (bit, c) in facts.counted.iter().enumerate() {
        if c.from <= i {
            let exact = exact || (facts.unique && cx.may_run_out(base, c.lit)?);
            match deciding.iter_mut().find(|d| d.0 == c.lit) {
                Some(d) => d.1 |= 1 << bit,
                None => deciding.push((c.lit, 1 << bit, exact)),
            }
        }
    }
    for &s in open {
        for &c in &facts.scopes[s].contains {
            if !deciding.iter().any(|d| d.0 == Lit::yes(c)) {
                deciding.push((Lit::yes(c), 0, exact));
            }
        }
    }
    Ok(deciding)
}

/// The ways to decide all literals that some element of `base` has, each with what it counts for.
fn decided(cx: &mut LoweringContext<'_, '_>, base: &Lits, deciding: Vec<DecidingLit>) -> Result<Vec<(Lits, u32)>> {
    let mut partial: Vec<(Lits, u32)> = vec![(Lits::new(), 0)];
    for (lit, bits, exact) in deciding {
        let mut next = Vec::with_capacity(partial.len() * 2);
        for (chosen, counts) in partial {
            let mut with = chosen.clone();
            with.push(lit);
            let mut test = base.clone();
            test.extend_from_slice(&with);
            if !cx.is_empty_scalar(&mut test)? {
                next.push((with, counts | bits));
            }
            let mut without = chosen;
            if exact {
                without.push(lit.negate());
                let mut test = base.clone();
                test.extend_from_slice(&without);
                if cx.is_empty_scalar(&mut test)? {
                    continue;
                }
            }
            next.push((without, counts));
        }
        partial = next;
        if partial.len() > cx.limits.max_alternatives {
            let n = partial.len() as u64;
            return Err(Error::limit(
                "the number of alternatives of one array element",
                cx.limits.max_alternatives as u64,
                n,
            )
            .of("max_alternatives"));
        }
    }
    Ok(partial)
}

impl LoweringContext<'_, '_> {
    /// Whether the scalars among what a conjunction and a literal accept may all be used up.
    fn may_run_out(&mut self, base: &Lits, lit: Lit) -> Result<bool> {
        let mut lits = base.clone();
        lits.push(lit);
        Ok(self.normalize(&mut lits).is_some() && self.scalars_of(&lits)?.may_run_out())
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
