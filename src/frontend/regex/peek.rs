//! Constraints on the code point that follows.

use super::ast::{Node, NodeId};
use super::behind::{ANYTHING, END, FINAL_NEWLINE, NEWLINE, Next, first_chars};
use super::walk::{Key, Kont, Walk};
use crate::ir::{Edge, ExprId, Exprs};

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
    pub(super) fn accepts_end(&mut self, key: Key) -> bool {
        let context = self.contexts[key.1 as usize].clone();
        let outer = self.facts(key.0).outer;
        let mut empty: Vec<bool> = Vec::with_capacity(self.ast.len());
        for n in 0..self.ast.len() as NodeId {
            let of = |n: NodeId| empty.get(n as usize).copied().unwrap_or(false);
            let e = match self.ast.get(n) {
                Node::Empty => true,
                Node::Text(s) => s.is_empty(),
                Node::Class(_) => false,
                Node::Cat(v) => v.iter().all(|&n| of(n)),
                Node::Alt(v) => v.iter().any(|&n| of(n)),
                Node::Rep { body, min, .. } => *min == 0 || of(*body),
                Node::Atomic(body) => of(*body),
                Node::Look { body, behind: false, negative } => of(*body) != *negative,
                Node::Look { behind: true, .. } | Node::Assert(_) => {
                    self.behind.allowed(self.x, &self.ast, n, &context.trackers) & outer != 0
                }
            };
            empty.push(e);
        }
        let of = |n: NodeId| empty.get(n as usize).copied().unwrap_or(false);
        let mut k = key.0;
        loop {
            k = match self.konts[k as usize].0 {
                Kont::Accept | Kont::Text | Kont::All | Kont::Prefix(_) => return true,
                Kont::Node(n, rest) if of(n) => rest,
                Kont::Loop { body, min, rest, .. } if min == 0 || of(body) => rest,
                Kont::Back { number, rest, .. } if context.idle & (1 << number) == 0 => rest,
                _ => return false,
            };
        }
    }
}
