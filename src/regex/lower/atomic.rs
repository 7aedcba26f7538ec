//! Possessive repetitions and atomic groups: which of them change nothing.
//!
//! An atomic part keeps the first match that it finds, so it can forbid texts that the same part without atomicity
//! would accept. It is accepted here where one of these proves that it forbids nothing:
//!
//! - all its matches have the same width, so from one place there is only one;
//! - it is a greedy repetition of something of fixed width, and no first code point of that something can come right
//!   after the part, so a match that stops earlier could not go on;
//! - nothing at all comes after it and anything may follow: then any match will do;
//! - none of its matches is a proper prefix of another.
//!
//! Everything else is refused by name and offset.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode};
use crate::regex::char_set::{CharSet, Union};
use crate::regex::lower::assertion_free::AssertionFree;
use crate::regex::parse::reader::unsupported;
use crate::util::cancel::checkpoint_after;

/// States to explore when looking for a match that is a prefix of another. Real patterns need a few dozen.
const PREFIX_STATES: usize = 2_000;

/// What may come right after a node.
#[derive(Clone, Default)]
struct FollowSet {
    /// First code points of what follows.
    first: Arc<CharSet>,
    /// The match may end here while the text may go on with anything.
    open: bool,
    /// Something follows, be it only an assertion.
    something: bool,
}

impl FollowSet {
    fn before(&self, first: &Arc<CharSet>, skippable: bool, sets: &mut FollowSets) -> Result<FollowSet> {
        let rest = if skippable { sets.union([first, &self.first])? } else { first.clone() };
        Ok(FollowSet { first: rest, open: skippable && self.open, something: true })
    }
}

/// Refuses the first atomic part that may matter.
pub(crate) fn check(
    x: &mut Exprs,
    ast: &Ast,
    pure: &AssertionFree,
    root: AstId,
    search: bool,
    limits: &Limits,
) -> Result<()> {
    let mut sets = FollowSets { held: 0, most: limits.max_expr_nodes };
    let firsts = first_sets(ast, &mut sets)?;
    let atomic = AtomicParts { ast, pure, firsts: &firsts, limits };
    let first = |n: AstId| &firsts[n as usize];
    let mut follows: Vec<Option<FollowSet>> = vec![None; ast.len()];
    follows[root as usize] = Some(FollowSet { open: search, ..FollowSet::default() });
    let mut refused = None;
    // Parents come after their children, so this is from the root down; nodes without an answer are not in use, or have
    // no atomic part.
    for n in (0..ast.len() as AstId).rev() {
        let Some(follow) = follows[n as usize].take() else { continue };
        let is_atomic = |n: &AstId| ast.facts(*n).atomic;
        match ast.get(n) {
            AstNode::Empty | AstNode::Text(_) | AstNode::Class(_) | AstNode::Assert(_) => {}
            AstNode::Cat(parts) => {
                let from = parts.iter().position(is_atomic).unwrap_or(parts.len());
                let mut after = follow;
                for &p in parts[from..].iter().rev() {
                    let before = after.before(first(p), ast.facts(p).nullable, &mut sets)?;
                    if is_atomic(&p) {
                        follows[p as usize] = Some(after);
                    }
                    after = before;
                }
            }
            AstNode::Alt(parts) => {
                parts.iter().filter(|p| is_atomic(p)).for_each(|&p| follows[p as usize] = Some(follow.clone()));
            }
            AstNode::Rep { body, max, .. } => {
                let again = follow.before(first(*body), true, &mut sets)?;
                follows[*body as usize] =
                    Some(if *max > 1 { FollowSet { open: follow.open, ..again } } else { follow });
            }
            AstNode::Look { body, behind, .. } => {
                let first = Arc::new(if *behind { CharSet::full() } else { CharSet::default() });
                follows[*body as usize] = Some(FollowSet { first, open: !behind, something: *behind });
            }
            AstNode::Atomic(body) => {
                if !atomic.is_harmless(x, *body, &follow)? {
                    refused = Some(ast.facts(n).offset as usize);
                }
                follows[*body as usize] = Some(follow);
            }
        }
    }
    match refused {
        Some(offset) => Err(unsupported("this possessive repetition or atomic group", offset)),
        None => Ok(()),
    }
}

/// What decides whether atomic parts matter.
struct AtomicParts<'a> {
    ast: &'a Ast,
    pure: &'a AssertionFree,
    firsts: &'a [Arc<CharSet>],
    limits: &'a Limits,
}

impl AtomicParts<'_> {
    /// Whether it does not matter that the part with this body gives up what it did not match first.
    fn is_harmless(&self, x: &mut Exprs, body: AstId, follow: &FollowSet) -> Result<bool> {
        let ends = follow.open && !follow.something;
        let f = self.ast.facts(body);
        Ok(ends
            || f.width.0 == f.width.1
            || self.is_disjoint(body, follow)
            || (f.pure && is_prefix_free(x, self.pure.expr(body), self.limits)?))
    }

    /// Whether what follows a greedy repetition begins as no round of it does.
    fn is_disjoint(&self, body: AstId, follow: &FollowSet) -> bool {
        match self.ast.get(body) {
            AstNode::Rep { body: one, .. } if !self.ast.facts(body).lazy => {
                let (lo, hi) = self.ast.facts(*one).width;
                let first = &self.firsts[*one as usize];
                lo == hi && lo > 0 && !follow.open && first.intersect(&follow.first).ranges().is_empty()
            }
            _ => false,
        }
    }
}

/// Whether it is proven that no match is a proper prefix of another.
fn is_prefix_free(x: &mut Exprs, e: ExprId, limits: &Limits) -> Result<bool> {
    let (one, any) = (x.any_char(), x.any_text());
    let longer = x.cat_all(&[e, one, any]);
    let both = x.and(&[e, longer]);
    let ours = limits.max_explored_states > PREFIX_STATES;
    match x.decide_live(both, PREFIX_STATES.min(limits.max_explored_states)) {
        Ok(live) => Ok(!live),
        // Our own bound on the search for a proof. Any other end of it is the end of the compile: a limit, or a stop.
        Err(e) if ours && e.limit_field() == Some("max_explored_states") => Ok(false),
        Err(e) => Err(e),
    }
}

/// Makes sets, up to as many as the limits allow nodes: patterns of many parts may have a large one for each.
struct FollowSets {
    /// Ranges of all sets that were made.
    held: usize,
    most: usize,
}

impl FollowSets {
    /// Ranges that take as much as a node, and ranges that are joined in the time of a step.
    const PER_NODE: usize = 4;
    const PER_STEP: usize = 32;

    /// The union of sets. Where they are one, it is that one.
    fn union<'s>(&mut self, sets: impl IntoIterator<Item = &'s Arc<CharSet>>) -> Result<Arc<CharSet>> {
        let mut one: Option<&Arc<CharSet>> = None;
        let mut several = Union::default();
        for set in sets.into_iter().filter(|s| !s.ranges().is_empty()) {
            match one {
                Some(one) if Arc::ptr_eq(one, set) => continue,
                Some(one) if several.is_empty() => several.add(one),
                _ => {}
            }
            if one.is_some() {
                several.add(set);
            }
            checkpoint_after(set.ranges().len() / Self::PER_STEP)?;
            one = Some(set);
        }
        if several.is_empty() {
            return Ok(one.cloned().unwrap_or_default());
        }
        let set = several.finish();
        self.held += set.ranges().len();
        if self.held / Self::PER_NODE > self.most {
            let (most, held) = (self.most as u64, (self.held / Self::PER_NODE) as u64);
            return Err(Error::limit("sets of code points around atomic parts", most, held).set_by("max_expr_nodes"));
        }
        Ok(Arc::new(set))
    }
}

/// For each node, the code points that its non-empty matches may begin with, assertions aside.
fn first_sets(ast: &Ast, sets: &mut FollowSets) -> Result<Vec<Arc<CharSet>>> {
    let none = Arc::new(CharSet::default());
    let mut single: FxHashMap<u32, Arc<CharSet>> = FxHashMap::default();
    let mut firsts: Vec<Arc<CharSet>> = Vec::with_capacity(ast.len());
    for n in 0..ast.len() as AstId {
        let of = |n: &AstId| &firsts[*n as usize];
        let set = match ast.get(n) {
            AstNode::Empty | AstNode::Look { .. } | AstNode::Assert(_) => none.clone(),
            AstNode::Text(s) => s.chars().next().map_or_else(
                || none.clone(),
                |c| single.entry(c as u32).or_insert_with(|| Arc::new(CharSet::single(c as u32))).clone(),
            ),
            AstNode::Class(set) => set.clone(),
            AstNode::Cat(parts) => {
                let skipped = parts.iter().take_while(|&&p| ast.facts(p).nullable).count();
                sets.union(parts.iter().take(skipped + 1).map(of))?
            }
            AstNode::Alt(parts) => sets.union(parts.iter().map(of))?,
            AstNode::Rep { body, .. } | AstNode::Atomic(body) => of(body).clone(),
        };
        firsts.push(set);
    }
    Ok(firsts)
}
