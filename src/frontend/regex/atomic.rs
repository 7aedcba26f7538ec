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

use super::ast::{Ast, Node, NodeId};
use super::pure::Pure;
use super::reader::unsupported;
use super::set::CharSet;
use crate::error::Result;
use crate::ir::Exprs;
use crate::limits::Limits;

/// States to explore when looking for a match that is a prefix of another. Real patterns need a few dozen.
const PREFIX_STATES: usize = 2_000;

/// What may come right after a node.
#[derive(Clone, Default)]
struct Follow {
    /// First code points of what follows.
    first: CharSet,
    /// The match may end here while the text may go on with anything.
    open: bool,
    /// Something follows, be it only an assertion.
    something: bool,
}

impl Follow {
    fn before(&self, first: &CharSet, skippable: bool) -> Follow {
        let rest = if skippable { first.union(&self.first) } else { first.clone() };
        Follow { first: rest, open: skippable && self.open, something: true }
    }
}

/// Refuses the first atomic part that may matter.
pub(super) fn check(x: &mut Exprs, ast: &Ast, pure: &Pure, root: NodeId, search: bool, limits: &Limits) -> Result<()> {
    let firsts = first_sets(ast);
    let first = |n: NodeId| &firsts[n as usize];
    let mut follows: Vec<Option<Follow>> = vec![None; ast.len()];
    follows[root as usize] = Some(Follow { open: search, ..Follow::default() });
    let mut refused = None;
    // Parents come after their children, so this is from the root down; nodes without an answer are not in use.
    for n in (0..ast.len() as NodeId).rev() {
        let Some(follow) = follows[n as usize].take() else { continue };
        match ast.get(n) {
            Node::Empty | Node::Text(_) | Node::Class(_) | Node::Assert(_) => {}
            Node::Cat(parts) => {
                let mut after = follow;
                for &p in parts.iter().rev() {
                    let before = after.before(first(p), ast.facts(p).nullable);
                    follows[p as usize] = Some(after);
                    after = before;
                }
            }
            Node::Alt(parts) => parts.iter().for_each(|&p| follows[p as usize] = Some(follow.clone())),
            Node::Rep { body, max, .. } => {
                let again = follow.before(first(*body), true);
                follows[*body as usize] = Some(if *max > 1 { Follow { open: follow.open, ..again } } else { follow });
            }
            Node::Look { body, behind, .. } => {
                let first = if *behind { CharSet::full() } else { CharSet::default() };
                follows[*body as usize] = Some(Follow { first, open: !behind, something: *behind });
            }
            Node::Atomic(body) => {
                let ends = follow.open && !follow.something;
                let f = ast.facts(*body);
                let disjoint = match ast.get(*body) {
                    Node::Rep { body: one, .. } if !f.lazy => {
                        let (lo, hi) = ast.facts(*one).width;
                        lo == hi && lo > 0 && !follow.open && first(*one).intersect(&follow.first).ranges().is_empty()
                    }
                    _ => false,
                };
                let harmless = ends || f.width.0 == f.width.1 || disjoint || {
                    let e = pure.of(*body);
                    f.pure && prefix_free(x, e, limits)
                };
                if !harmless {
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

fn prefix_free(x: &mut Exprs, e: crate::ir::ExprId, limits: &Limits) -> bool {
    let (one, any) = (x.any_char(), x.any_text());
    let longer = x.cat_all(&[e, one, any]);
    let both = x.and(&[e, longer]);
    x.decide_live(both, PREFIX_STATES.min(limits.max_explored_states)).is_ok_and(|live| !live)
}

/// For each node, the code points that its non-empty matches may begin with, assertions aside.
fn first_sets(ast: &Ast) -> Vec<CharSet> {
    let mut firsts: Vec<CharSet> = Vec::with_capacity(ast.len());
    for n in 0..ast.len() as NodeId {
        let of = |n: NodeId| &firsts[n as usize];
        let set = match ast.get(n) {
            Node::Empty | Node::Look { .. } | Node::Assert(_) => CharSet::default(),
            Node::Text(s) => s.chars().next().map_or_else(CharSet::default, |c| CharSet::single(c as u32)),
            Node::Class(set) => (**set).clone(),
            Node::Cat(parts) => {
                let mut v = Vec::new();
                for &p in parts.iter() {
                    v.extend_from_slice(of(p).ranges());
                    if !ast.facts(p).nullable {
                        break;
                    }
                }
                CharSet::new(v)
            }
            Node::Alt(parts) => CharSet::new(parts.iter().flat_map(|&p| of(p).ranges().iter().copied()).collect()),
            Node::Rep { body, .. } | Node::Atomic(body) => of(*body).clone(),
        };
        firsts.push(set);
    }
    firsts
}
