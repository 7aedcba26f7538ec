//! Constraints on the code point that follows.

use rustc_hash::FxHashMap;

use super::ast::{Node, NodeId};
use super::behind::{ANYTHING, END, FINAL_NEWLINE, NEWLINE, Next, first_chars};
use super::walk::{Key, Kont, PARTS_PER_STEP, Walk};
use crate::error::Result;
use crate::ir::{Edge, ExprId, Exprs};
use crate::work::spend;

/// Edges of two rows that are met in the time of one step.
const EDGES_PER_STEP: usize = 64;

impl Walk<'_> {
    /// All byte strings that begin with one of the classes of `next`, where what follows them is of class `outer`
    /// (the end of the text, except inside look-behind).
    pub(super) fn peek(&mut self, next: Next, outer: Next) -> ExprId {
        if next == ANYTHING {
            return Exprs::ALL;
        }
        if let Some(&e) = self.peeks.get(&(next, outer)) {
            return e;
        }
        let set = first_chars(next);
        let c = self.x.class(&set.scalars());
        let mut parts = vec![self.x.cat(c, Exprs::ALL)];
        if next & outer != 0 {
            parts.push(Exprs::EPS);
        }
        // A newline with nothing behind it in this expression is final if nothing follows outside either.
        let last = if outer == END { FINAL_NEWLINE } else { NEWLINE };
        let tail = match (next & last != 0, next & NEWLINE != 0) {
            (true, true) => Exprs::ALL,
            (true, false) => Exprs::EPS,
            (false, true) => self.x.not(Exprs::EPS),
            (false, false) => Exprs::NEVER,
        };
        parts.push(self.x.literal_then(b"\n", tail));
        let e = self.x.alt(&parts);
        self.peeks.insert((next, outer), e);
        e
    }

    /// The intersection of a peek and an expression. It is worked out byte by byte where that is possible, which
    /// takes at most one code point; the result then needs no search for dead ends later.
    pub(super) fn meet(&mut self, peek: ExprId, rest: ExprId, depth: u32) -> ExprId {
        match peek {
            Exprs::ALL => return rest,
            Exprs::NEVER => return Exprs::NEVER,
            Exprs::EPS => return if self.x.nullable(rest) { Exprs::EPS } else { Exprs::NEVER },
            _ if rest == Exprs::NEVER => return Exprs::NEVER,
            _ if rest == Exprs::EPS => return if self.x.nullable(peek) { Exprs::EPS } else { Exprs::NEVER },
            _ if rest == Exprs::ALL => return peek,
            _ => {}
        }
        if depth == 0 || !self.x.has_row(rest, 8) || !self.x.has_row(peek, 8) {
            return self.x.and(&[peek, rest]);
        }
        let (left, right) = (self.x.row(peek), self.x.row(rest));
        spend((left.len() + right.len()) / EDGES_PER_STEP);
        let mut edges = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < left.len() && j < right.len() {
            let (a, b) = (left[i], right[j]);
            let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
            if lo <= hi {
                let to = self.meet(a.to, b.to, depth - 1);
                edges.push(Edge { lo, hi, to });
            }
            if a.hi < b.hi { i += 1 } else { j += 1 }
        }
        let nullable = self.x.nullable(peek) && self.x.nullable(rest);
        self.x.step(nullable, edges)
    }

    /// Whether the continuation in this context accepts the empty text: no assertion may fail, nothing may be read.
    pub(super) fn accepts_end(&mut self, key: Key) -> Result<bool> {
        let context = self.contexts[key.1 as usize].clone();
        let outer = self.facts(key.0).outer;
        let empty = |w: &Self, n: NodeId| w.accepts_empty(n, &context.trackers, outer);
        let mut k = key.0;
        for passed in 1.. {
            if passed % PARTS_PER_STEP == 0 {
                self.check()?;
            }
            k = match self.konts[k as usize].0 {
                Kont::Accept | Kont::Text | Kont::All | Kont::Prefix(_) => return Ok(true),
                Kont::Node(n, rest) if empty(self, n)? => rest,
                Kont::Loop { body, min, rest, .. } if min == 0 || empty(self, body)? => rest,
                Kont::Back { number, rest, .. } if context.idle & (1 << number) == 0 => rest,
                _ => return Ok(false),
            };
        }
        Ok(false)
    }

    /// The same for a node, where nothing is to come.
    fn accepts_empty(&self, root: NodeId, trackers: &[ExprId], outer: Next) -> Result<bool> {
        // Only assertions need to be asked here, and what stands around them.
        let known = |n: NodeId| Some(self.ast.facts(n)).filter(|f| f.pure || !f.nullable).map(|f| f.nullable);
        if let Some(e) = known(root) {
            return Ok(e);
        }
        // What is below the root, found parents first and answered children first.
        let mut order = vec![root];
        let mut i = 0;
        while let Some(&n) = order.get(i) {
            match self.ast.get(n) {
                _ if known(n).is_some() => {}
                Node::Cat(parts) | Node::Alt(parts) => order.extend_from_slice(parts),
                Node::Rep { body, .. } | Node::Atomic(body) | Node::Look { body, behind: false, .. } => {
                    order.push(*body)
                }
                _ => {}
            }
            i += 1;
            if i % PARTS_PER_STEP == 0 {
                self.check()?;
            }
        }
        order.sort_unstable();
        let mut empty: FxHashMap<NodeId, bool> = FxHashMap::default();
        for n in order {
            let of = |n: &NodeId| empty.get(n).copied().unwrap_or(false);
            let e = match self.ast.get(n) {
                _ if known(n).is_some() => self.ast.facts(n).nullable,
                Node::Empty => true,
                Node::Text(_) | Node::Class(_) => false,
                Node::Cat(v) => v.iter().all(of),
                Node::Alt(v) => v.iter().any(of),
                Node::Rep { body, min, .. } => *min == 0 || of(body),
                Node::Atomic(body) => of(body),
                Node::Look { body, behind: false, negative } => of(body) != *negative,
                Node::Look { behind: true, .. } | Node::Assert(_) => {
                    self.behind.allowed(self.x, &self.ast, n, trackers) & outer != 0
                }
            };
            empty.insert(n, e);
        }
        Ok(empty.get(&root).copied().unwrap_or(false))
    }
}
