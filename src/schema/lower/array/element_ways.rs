//! The ways that an element may take.
//!
//! A *way* of an element is a conjunction and the set of `contains` that it is counted for. Where some `contains` has
//! an upper bound, counting must be exact, so the ways of a position are a partition: each `contains` holds or fails.
//! With lower bounds only, an element may be counted whenever it matches, and nothing needs to be refused: but where
//! elements must differ, a spelling of one of few values that is not counted (`0e4`) would use that value up.

use crate::error::{Error, Result};
use crate::json::rules::Element;
use crate::schema::lower::array::ArrayFacts;
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::model::SchemaId;

/// The ways of one position.
pub(super) fn ways(
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
            .set_by("max_alternatives"));
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
}
