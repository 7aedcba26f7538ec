//! Constraints on the code point that follows.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::expr::{Edge, Expr, ExprId, Exprs};
use crate::regex::ast::{AstId, AstNode};
use crate::regex::lower::continuation::{ContextKey, ContinuationWalk, Kont, PARTS_PER_STEP};
use crate::regex::lower::look_behind::{ANYTHING, END, FINAL_NEWLINE, NEWLINE, NextClasses, first_chars};
use crate::util::cancel::charge;

/// Edges of two rows that are met in the time of one step.
const EDGES_PER_STEP: usize = 64;

/// Bytes of a code point, and one more for what follows a newline: so far a peek sees.
const BYTES: u32 = 5;

/// Alternatives that are met one by one. More of them are met together, in one row.
const FEW: usize = 8;

/// How many bytes an edge is for.
fn width(edge: &Edge) -> usize {
    usize::from(edge.hi - edge.lo) + 1
}

impl ContinuationWalk<'_> {
    /// All byte strings that begin with one of the classes of `next`, where what follows them is of class `outer`
    /// (the end of the text, except inside look-behind).
    pub(crate) fn peek(&mut self, next: NextClasses, outer: NextClasses) -> ExprId {
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
    ///
    /// Where the first part of a sequence decides, only that is met, once for all sequences that begin with it; and
    /// what a peek leaves as it is stays the same expression. A class of words is a tree of some thousand edges: copies
    /// of `\b\w+\b` would have one each.
    pub(crate) fn meet(&mut self, peek: ExprId, rest: ExprId) -> ExprId {
        self.meet_within(peek, rest, BYTES)
    }

    fn meet_within(&mut self, peek: ExprId, rest: ExprId, depth: u32) -> ExprId {
        if let Some(met) = self.meet_constants(peek, rest) {
            return met;
        }
        match *self.x.get(rest) {
            Expr::Cat(first, then) => {
                if let Some(first) = self.meet_first(peek, first) {
                    return self.x.cat(first, then);
                }
            }
            Expr::Alt(ref parts) if parts.len() <= FEW => {
                let parts = parts.clone();
                let met: Vec<ExprId> = parts.iter().map(|&p| self.meet_within(peek, p, depth)).collect();
                return self.x.alt(&met);
            }
            _ => {}
        }
        if depth == 0 || !self.x.has_row(rest, 8) || !self.x.has_row(peek, 8) {
            return self.x.and(&[peek, rest]);
        }
        self.meet_rows(peek, rest, depth)
    }

    /// The intersection where one side is everything, nothing or the empty text.
    fn meet_constants(&self, peek: ExprId, rest: ExprId) -> Option<ExprId> {
        let empty_if = |e: ExprId| if self.x.nullable(e) { Exprs::EPS } else { Exprs::NEVER };
        match (peek, rest) {
            (Exprs::ALL, _) => Some(rest),
            (Exprs::NEVER, _) => Some(Exprs::NEVER),
            (Exprs::EPS, _) => Some(empty_if(rest)),
            (_, Exprs::NEVER) => Some(Exprs::NEVER),
            (_, Exprs::EPS) => Some(empty_if(peek)),
            (_, Exprs::ALL) => Some(peek),
            _ => None,
        }
    }

    /// The intersection byte by byte, from the rows of both sides.
    fn meet_rows(&mut self, peek: ExprId, rest: ExprId, depth: u32) -> ExprId {
        let (left, right) = (self.x.row(peek), self.x.row(rest));
        charge((left.len() + right.len()) / EDGES_PER_STEP);
        let mut edges = Vec::new();
        // Bytes that lead on from `rest`, less those that lead to the same place here.
        let mut changed: usize = right.iter().map(width).sum();
        let (mut i, mut j) = (0, 0);
        while i < left.len() && j < right.len() {
            let (a, b) = (left[i], right[j]);
            let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
            if lo <= hi {
                let to = self.meet_within(a.to, b.to, depth - 1);
                let edge = Edge { lo, hi, to };
                if to == b.to {
                    changed -= width(&edge);
                }
                edges.push(edge);
            }
            if a.hi < b.hi { i += 1 } else { j += 1 }
        }
        let nullable = self.x.nullable(peek) && self.x.nullable(rest);
        if changed == 0 && nullable == self.x.nullable(rest) {
            return rest;
        }
        self.x.step(nullable, edges)
    }

    /// What a peek leaves of the first part of a sequence, if it says nothing about what follows that.
    fn meet_first(&mut self, peek: ExprId, first: ExprId) -> Option<ExprId> {
        if let Some(&known) = self.firsts.get(&(peek, first)) {
            return known;
        }
        let met = self.decides(peek, first, BYTES).then(|| self.meet(peek, first));
        self.firsts.insert((peek, first), met);
        met
    }

    /// Whether no text of `first` ends before it is certain whether it begins as `peek` asks.
    fn decides(&mut self, peek: ExprId, first: ExprId, depth: u32) -> bool {
        if peek == Exprs::ALL || peek == Exprs::NEVER || first == Exprs::NEVER {
            return true;
        }
        if depth == 0 || self.x.nullable(first) || !self.x.has_row(first, 8) || !self.x.has_row(peek, 8) {
            return false;
        }
        let (left, right) = (self.x.row(peek), self.x.row(first));
        charge((left.len() + right.len()) / EDGES_PER_STEP);
        let meets = |a: &Edge, b: &Edge| a.lo <= b.hi && b.lo <= a.hi;
        left.iter().all(|a| right.iter().filter(|b| meets(a, b)).all(|b| self.decides(a.to, b.to, depth - 1)))
    }

    /// Whether the continuation in this context accepts the empty text: no assertion may fail, nothing may be read.
    pub(crate) fn accepts_end(&mut self, key: ContextKey) -> Result<bool> {
        let context = self.contexts[key.1 as usize].clone();
        let outer = self.facts(key.0).outer;
        let empty = |w: &Self, n: AstId| w.accepts_empty(n, &context.trackers, outer);
        let mut k = key.0;
        for passed in 1.. {
            if passed % PARTS_PER_STEP == 0 {
                self.check()?;
            }
            k = match self.konts[k as usize].0 {
                Kont::Accept | Kont::Text | Kont::All | Kont::Prefix(_) => return Ok(true),
                Kont::Mark => return Ok(false),
                Kont::Node(n, rest) if empty(self, n)? => rest,
                Kont::Loop { body, min, rest, .. } if min == 0 || empty(self, body)? => rest,
                Kont::Back { number, rest, .. } if context.idle & (1 << number) == 0 => rest,
                _ => return Ok(false),
            };
        }
        Ok(false)
    }

    /// A node and all below it, but for what is below nodes that are `known`. Children come before their parents.
    fn below(&self, root: AstId, known: impl Fn(AstId) -> bool) -> Result<Vec<AstId>> {
        // They are found parents first.
        let mut order = vec![root];
        let mut i = 0;
        while let Some(&n) = order.get(i) {
            match self.ast.get(n) {
                _ if known(n) => {}
                AstNode::Cat(parts) | AstNode::Alt(parts) => order.extend_from_slice(parts),
                AstNode::Rep { body, .. } | AstNode::Atomic(body) | AstNode::Look { body, behind: false, .. } => {
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
        Ok(order)
    }

    /// Whether a node accepts the empty text, where nothing is to come.
    fn accepts_empty(&self, root: AstId, trackers: &[ExprId], outer: NextClasses) -> Result<bool> {
        // Only assertions need to be asked here, and what stands around them.
        let known = |n: AstId| Some(self.ast.facts(n)).filter(|f| f.pure || !f.nullable).map(|f| f.nullable);
        if let Some(e) = known(root) {
            return Ok(e);
        }
        let mut empty: FxHashMap<AstId, bool> = FxHashMap::default();
        for n in self.below(root, |n| known(n).is_some())? {
            let of = |n: &AstId| empty.get(n).copied().unwrap_or(false);
            let e = match self.ast.get(n) {
                _ if known(n).is_some() => self.ast.facts(n).nullable,
                AstNode::Empty => true,
                AstNode::Text(_) | AstNode::Class(_) => false,
                AstNode::Cat(v) => v.iter().all(of),
                AstNode::Alt(v) => v.iter().any(of),
                AstNode::Rep { body, min, .. } => *min == 0 || of(body),
                AstNode::Atomic(body) => of(body),
                AstNode::Look { body, behind: false, negative } => of(body) != *negative,
                AstNode::Look { behind: true, .. } | AstNode::Assert(_) => {
                    self.behind.allowed(self.x, &self.ast, n, trackers) & outer != 0
                }
            };
            empty.insert(n, e);
        }
        Ok(empty.get(&root).copied().unwrap_or(false))
    }
}
