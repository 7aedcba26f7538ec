//! Expressions of the parts of a tree that hold no assertion.
//!
//! One loop over the nodes, children first. The second half answers: which texts of a node end in one of these code
//! points? That splits `\w+\b` by what precedes the boundary without unrolling any count, because the last copy of a
//! repetition is split off: `e{m,n}` ending in C is `e{m-1,n-1}` and then `e` ending in C.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::regex::ast::{Ast, AstId, AstNode};
use crate::regex::char_set::CharSet;
use crate::util::cancel::charge;

/// Nodes, or parts of a node, that are lowered in the time of one step.
const PARTS_PER_STEP: usize = 16;

/// Expressions of pure nodes, by node; `NEVER` where a node is not pure.
pub(crate) struct AssertionFree {
    exprs: Vec<ExprId>,
    classes: FxHashMap<*const CharSet, ExprId>,
}

impl AssertionFree {
    /// Lowers every pure node of `ast`.
    ///
    /// # Errors
    /// Those of [`Exprs::check`].
    pub fn new(x: &mut Exprs, ast: &Ast) -> Result<Self> {
        let mut p = AssertionFree { exprs: Vec::with_capacity(ast.len()), classes: FxHashMap::default() };
        p.extend(x, ast)?;
        Ok(p)
    }

    /// Lowers the nodes that were added to `ast` since the last call.
    pub fn extend(&mut self, x: &mut Exprs, ast: &Ast) -> Result<()> {
        for n in self.exprs.len() as AstId..ast.len() as AstId {
            if n % PARTS_PER_STEP as AstId == 0 {
                x.check()?;
            }
            let e = if ast.facts(n).pure { self.lower(x, ast, n) } else { Exprs::NEVER };
            self.exprs.push(e);
        }
        x.check()
    }

    /// The expression of a pure node.
    pub fn expr(&self, n: AstId) -> ExprId {
        self.exprs[n as usize]
    }

    /// One code point of a set. Whoever asks keeps the set.
    pub fn class(&mut self, x: &mut Exprs, set: &Arc<CharSet>) -> ExprId {
        let key = Arc::as_ptr(set);
        if let Some(&e) = self.classes.get(&key) {
            return e;
        }
        let e = x.class(&set.scalars());
        self.classes.insert(key, e);
        e
    }

    fn lower(&mut self, x: &mut Exprs, ast: &Ast, n: AstId) -> ExprId {
        if let AstNode::Cat(parts) | AstNode::Alt(parts) = ast.get(n) {
            charge(parts.len() / PARTS_PER_STEP);
        }
        match ast.get(n) {
            AstNode::Text(s) => x.literal(s.as_bytes()),
            AstNode::Class(set) => self.class(x, set),
            AstNode::Cat(parts) => parts.iter().rev().fold(Exprs::EPS, |tail, &p| match ast.get(p) {
                // A text in front of something is one chain of steps, not a concatenation.
                AstNode::Text(s) if tail != Exprs::NEVER => x.literal_then(s.as_bytes(), tail),
                _ => x.cat(self.expr(p), tail),
            }),
            AstNode::Alt(parts) => {
                let mut texts: Vec<&[u8]> = Vec::new();
                let mut others = Vec::new();
                for &p in parts.iter() {
                    match ast.get(p) {
                        AstNode::Text(s) => texts.push(s.as_bytes()),
                        _ => others.push(self.expr(p)),
                    }
                }
                if !texts.is_empty() {
                    others.push(x.choice(&texts));
                }
                x.alt(&others)
            }
            AstNode::Rep { body, min, max } => x.rep(self.expr(*body), *min, *max),
            AstNode::Atomic(body) => self.expr(*body),
            AstNode::Empty | AstNode::Look { .. } | AstNode::Assert(_) => Exprs::EPS,
        }
    }

    /// The texts of pure node `root` whose last code point is in `set`; no empty text.
    ///
    /// # Errors
    /// Those of [`Exprs::check`].
    pub fn ending_in(&self, x: &mut Exprs, ast: &Ast, root: AstId, set: &CharSet) -> Result<ExprId> {
        let order = nodes_at_the_end(ast, root);
        charge(order.len() / PARTS_PER_STEP);
        let mut done: FxHashMap<AstId, ExprId> = FxHashMap::default();
        for n in order {
            let of = |n: &AstId| done.get(n).copied().unwrap_or(Exprs::NEVER);
            let e = match ast.get(n) {
                AstNode::Text(s) => match s.chars().next_back() {
                    Some(c) if set.contains(c as u32) => self.expr(n),
                    _ => Exprs::NEVER,
                },
                AstNode::Class(c) => {
                    let both = c.intersect(set);
                    if both == **c { self.expr(n) } else { x.class(&both.scalars()) }
                }
                AstNode::Cat(parts) => {
                    let mut ends = Vec::new();
                    for (i, p) in parts.iter().enumerate().rev() {
                        let end = of(p);
                        if end != Exprs::NEVER {
                            charge(i / PARTS_PER_STEP);
                            x.check()?;
                            let e = parts[..i].iter().rev().fold(end, |tail, &p| x.cat(self.expr(p), tail));
                            ends.push(e);
                        }
                        if !ast.facts(*p).nullable {
                            break;
                        }
                    }
                    x.alt(&ends)
                }
                AstNode::Alt(parts) => {
                    let ends: Vec<ExprId> = parts.iter().map(of).collect();
                    x.alt(&ends)
                }
                AstNode::Rep { body, min, max } => {
                    let end = of(body);
                    let less = if *max == crate::regex::ast::INF { *max } else { max.saturating_sub(1) };
                    let front = x.rep(self.expr(*body), min.saturating_sub(1), less);
                    x.cat(front, end)
                }
                AstNode::Atomic(body) => of(body),
                AstNode::Empty | AstNode::Look { .. } | AstNode::Assert(_) => Exprs::NEVER,
            };
            done.insert(n, e);
        }
        Ok(done.get(&root).copied().unwrap_or(Exprs::NEVER))
    }
}

/// A node and those below it that may be last in a text of it. Children come before their parents.
fn nodes_at_the_end(ast: &Ast, root: AstId) -> Vec<AstId> {
    // They are found parents first.
    let mut order = vec![root];
    let mut i = 0;
    while let Some(&n) = order.get(i) {
        match ast.get(n) {
            AstNode::Cat(parts) => {
                for &p in parts.iter().rev() {
                    order.push(p);
                    if !ast.facts(p).nullable {
                        break;
                    }
                }
            }
            AstNode::Alt(parts) => order.extend_from_slice(parts),
            AstNode::Rep { body, .. } | AstNode::Atomic(body) => order.push(*body),
            _ => {}
        }
        i += 1;
    }
    order.sort_unstable();
    order.dedup();
    order
}
