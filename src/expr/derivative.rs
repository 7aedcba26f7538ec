//! Derivatives, a whole row at a time.
//!
//! `row(e)` lists, for disjoint byte ranges, what must follow after one byte of the range: the partial derivative of
//! `e` by every byte at once. Working on ranges instead of single bytes makes one new state cost a few merges instead
//! of 256 derivations. Rows are memoized for the life of the arena.
//!
//! The row of an expression is made of those of its first parts, and these may lie as deep as the arena has nodes: a
//! repetition of parts that may be empty is a chain of them. So beyond some depth a stack of our own takes the place of
//! recursion. One row may take as long as a compile may, where a union of many parts leads to as many unions. While the
//! arena is a compile's, rows look whether it must end; then the arena counts as over its limit.

use smallvec::SmallVec;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::expr::arena::{Edge, Expr, ExprId, Exprs};
use crate::expr::intern::size_of_list;
use crate::expr::row_merge::{ExprList, split_at_borders};
use crate::util::cancel::{charge, should_stop, uninterruptible};

/// How deep rows recurse. Few lie deeper, and so many take a small part of a stack of 2 MB.
const DEEP: u32 = 64;

/// Rows of the parts of a sequence that are merged in the time of one step.
const ROWS_PER_STEP: usize = 8;

/// Pieces before one that are compared with it, where many lead to one place. To make an expression takes as long as
/// some dozens of comparisons.
const RECENT: usize = 16;

impl Exprs {
    /// The one-byte transitions of `e`: sorted disjoint ranges; bytes without a range lead to `NEVER`.
    pub fn row(&mut self, e: ExprId) -> Arc<[Edge]> {
        if let Some(r) = self.known_row(e) {
            return r;
        }
        if self.over {
            return Arc::new([]);
        }
        if self.row_depth == DEEP {
            return self.deep_row(e);
        }
        self.row_depth += 1;
        let row = self.new_row(e);
        self.row_depth -= 1;
        row
    }

    /// The row of an expression that lies deep in others: those that it is made of first, none of them in another.
    fn deep_row(&mut self, e: ExprId) -> Arc<[Edge]> {
        let mut stack = vec![e];
        while let Some(&last) = stack.last()
            && !self.over
        {
            let waiting = stack.len();
            if self.found_row(last).is_none() {
                self.push_first_parts(last, &mut stack);
                if stack.len() > waiting {
                    continue;
                }
                self.new_row(last);
            }
            stack.pop();
        }
        self.known_row(e).unwrap_or_else(|| Arc::new([]))
    }

    /// The expressions without a row that the row of `e` is made of, the first one last.
    fn push_first_parts(&self, e: ExprId, stack: &mut Vec<ExprId>) {
        let from = stack.len();
        match self.get(e) {
            Expr::Cat(..) => {
                let mut rest = e;
                while let Expr::Cat(a, b) = *self.get(rest) {
                    stack.push(a);
                    rest = b;
                    if !self.nullable(a) || self.found_row(b).is_some() {
                        break;
                    }
                    if !matches!(self.get(b), Expr::Cat(..)) {
                        stack.push(b);
                    }
                }
            }
            Expr::Alt(parts) | Expr::And(parts) => stack.extend_from_slice(parts),
            Expr::Not(inner) | Expr::Rep { body: inner, .. } => stack.push(*inner),
            Expr::Fix(n) => stack.extend(self.definition(*n)),
            Expr::Never | Expr::Eps | Expr::Step { .. } | Expr::Multiple(_) => {}
        }
        // A name without a definition has no row, and is not waited for.
        let is_open = |e: ExprId| matches!(*self.get(e), Expr::Fix(n) if self.definition(n).is_none());
        let mut kept = from;
        for i in from..stack.len() {
            if self.found_row(stack[i]).is_none() && !is_open(stack[i]) {
                stack[kept] = stack[i];
                kept += 1;
            }
        }
        stack.truncate(kept);
        stack[from..].reverse();
    }

    fn new_row(&mut self, e: ExprId) -> Arc<[Edge]> {
        let mut parts = 1;
        let row: Arc<[Edge]> = match *self.get(e) {
            Expr::Never | Expr::Eps => Arc::new([]),
            Expr::Step { ref edges, .. } => Arc::from(&**edges),
            Expr::Cat(..) => self.cat_row(e).into(),
            Expr::Alt(ref v) => {
                let v: ExprList = v.iter().copied().collect();
                parts = v.len();
                self.merged_row(&v).into()
            }
            Expr::And(ref v) => {
                let v: ExprList = v.iter().copied().collect();
                parts = v.len();
                self.and_row(&v).into()
            }
            Expr::Not(inner) => self.not_row(inner).into(),
            Expr::Rep { body, min, max } => {
                let rest_max = if max == crate::expr::arena::INF { max } else { max - 1 };
                let rest = self.rep(body, min.saturating_sub(1), rest_max);
                self.row_then(body, rest).into()
            }
            Expr::Multiple(ref m) => {
                let m = m.clone();
                let mut edges = Vec::new();
                for (b, next) in m.steps() {
                    let to = self.multiple(next);
                    edges.push(Edge { lo: b, hi: b, to });
                }
                join(edges).into()
            }
            Expr::Fix(n) => match self.fixes.get(n as usize) {
                Some(&(_, Some(definition))) => self.row(definition),
                // Undefined names are not to be asked; an answer here must not be remembered.
                _ => return Arc::new([]),
            },
        };
        // Each part's row is split by those of the others. The expressions of one row take as long as a step.
        charge((row.len().max(4) * parts).div_ceil(8));
        self.rows.insert(e, self.below(), row.clone());
        self.beside += 1 + size_of_list(size_of_val(&*row));
        if self.belongs_to_compile && should_stop() {
            self.over = true;
        }
        row
    }

    fn known_row(&self, e: ExprId) -> Option<Arc<[Edge]>> {
        self.found_row(e).cloned()
    }

    fn found_row(&self, e: ExprId) -> Option<&Arc<[Edge]>> {
        let below = self.below();
        let known = self.base.as_ref().filter(|_| e.0 < below).and_then(|b| b.rows.get(e, 0));
        known.or_else(|| self.rows.get(e, below))
    }

    /// What follows after `e` has read `byte`.
    pub fn derive(&mut self, e: ExprId, byte: u8) -> ExprId {
        let target = |row: &[Edge]| {
            let at = row.partition_point(|edge| edge.hi < byte);
            row.get(at).filter(|edge| edge.lo <= byte).map_or(Self::NEVER, |edge| edge.to)
        };
        match self.get(e) {
            Expr::Step { edges, .. } => target(edges),
            _ => match self.found_row(e) {
                Some(row) => target(row),
                None => target(&self.row(e)),
            },
        }
    }

    /// Whether `e` accepts exactly `bytes`. Linear in their length; the slow twin of every automaton.
    pub fn accepts(&mut self, e: ExprId, bytes: &[u8]) -> bool {
        let mut at = e;
        for &b in bytes {
            if at == Self::NEVER {
                return false;
            }
            at = self.derive(at, b);
        }
        self.nullable(at)
    }

    fn row_then(&mut self, e: ExprId, rest: ExprId) -> Vec<Edge> {
        let row = self.row(e);
        let mut edges: Vec<Edge> = Vec::with_capacity(row.len());
        for (i, edge) in row.iter().enumerate() {
            // Bytes with holes between them often lead to one place.
            let known = row[..i].iter().zip(&edges).rev().take(RECENT).find(|(before, _)| before.to == edge.to);
            let to = match known {
                Some((_, made)) => made.to,
                None => self.cat(edge.to, rest),
            };
            edges.push(Edge { to, ..*edge });
        }
        join(edges)
    }

    fn cat_row(&mut self, e: ExprId) -> Vec<Edge> {
        // Walk down the spine while heads may be empty; every such head contributes its own row.
        let mut rows: SmallVec<[Arc<[Edge]>; 8]> = SmallVec::new();
        let mut cur = e;
        loop {
            match *self.get(cur) {
                Expr::Cat(a, b) => {
                    let row = self.row_then(a, b);
                    if rows.is_empty() && !self.nullable(a) {
                        return row;
                    }
                    rows.push(row.into());
                    if !self.nullable(a) {
                        break;
                    }
                    if let Some(row) = self.known_row(b) {
                        rows.push(row);
                        break;
                    }
                    cur = b;
                }
                _ => {
                    rows.push(self.row(cur));
                    break;
                }
            }
        }
        charge(rows.len() / ROWS_PER_STEP);
        self.merge_rows(&rows)
    }

    fn merged_row(&mut self, parts: &[ExprId]) -> Vec<Edge> {
        let rows: SmallVec<[Arc<[Edge]>; 8]> = parts.iter().map(|&p| self.row(p)).collect();
        self.merge_rows(&rows)
    }

    /// Unites the targets of each piece of the rows.
    fn merge_rows(&mut self, rows: &[Arc<[Edge]>]) -> Vec<Edge> {
        let mut out = Vec::with_capacity(rows.iter().map(|r| r.len()).sum());
        // Pieces with holes between them often have the same targets.
        let mut known: SmallVec<[(ExprList, ExprId); 4]> = SmallVec::new();
        let mut replaced = 0;
        split_at_borders(rows, |lo, hi, targets| {
            targets.sort_unstable();
            targets.dedup();
            let to = if let [one] = **targets {
                one
            } else if let Some((_, to)) = known.iter().rev().find(|(t, _)| t == targets) {
                *to
            } else {
                let to = self.alt(targets);
                if known.len() < RECENT {
                    known.push((targets.clone(), to));
                } else {
                    known[replaced] = (targets.clone(), to);
                    replaced = (replaced + 1) % RECENT;
                }
                to
            };
            out.push(Edge { lo, hi, to });
        });
        join(out)
    }

    fn and_row(&mut self, parts: &[ExprId]) -> Vec<Edge> {
        let rows: SmallVec<[Arc<[Edge]>; 8]> = parts.iter().map(|&p| self.row(p)).collect();
        let mut at: SmallVec<[u32; 16]> = smallvec::smallvec![0; rows.len()];
        let mut targets: SmallVec<[ExprId; 16]> = SmallVec::new();
        let mut out = Vec::new();
        // All rows at once: the piece of bytes that the edges at hand have in common, then on past the first end.
        'pieces: loop {
            let (mut lo, mut hi) = (0, 255);
            for (row, &k) in rows.iter().zip(&at) {
                let Some(edge) = row.get(k as usize) else { break 'pieces };
                (lo, hi) = (edge.lo.max(lo), edge.hi.min(hi));
            }
            targets.clear();
            for (row, k) in rows.iter().zip(&mut at) {
                let edge = row[*k as usize];
                targets.push(edge.to);
                *k += u32::from(edge.hi == hi);
            }
            if lo <= hi {
                let to = self.and(&targets);
                out.push(Edge { lo, hi, to });
            }
            if hi == 255 {
                break;
            }
        }
        join(out)
    }

    fn not_row(&mut self, inner: ExprId) -> Vec<Edge> {
        let row = self.row(inner);
        let mut out = Vec::new();
        let mut next = 0u16;
        for e in row.iter() {
            if e.lo as u16 > next {
                out.push(Edge { lo: next as u8, hi: e.lo - 1, to: Self::ALL });
            }
            let to = self.not(e.to);
            out.push(Edge { to, ..*e });
            next = e.hi as u16 + 1;
        }
        if next <= 255 {
            out.push(Edge { lo: next as u8, hi: 255, to: Self::ALL });
        }
        join(out)
    }

    /// Decides for `e` and everything that it derives to whether it accepts anything, exploring at most `max_states`
    /// expressions. Expressions without intersection and complement need no exploration.
    pub fn decide_live(&mut self, e: ExprId, max_states: usize) -> Result<bool> {
        let mut spent = 0;
        match self.get(e) {
            _ if !self.is_boolean(e) => Ok(e != Self::NEVER),
            Expr::And(_) | Expr::Not(_) => self.decide_product(e, &mut spent, max_states),
            // A union derives to unions of what its parts derive to.
            Expr::Alt(parts) if self.is_product(e) => {
                let parts = parts.clone();
                let mut live = false;
                for &p in &parts {
                    live |= if self.is_boolean(p) { self.decide_product(p, &mut spent, max_states)? } else { true };
                }
                Ok(live)
            }
            _ => self.decide_any(e, max_states),
        }
    }

    /// Whether `e` is decided on tuples: an intersection, a complement, or a union of such that are simple.
    pub fn is_product(&self, e: ExprId) -> bool {
        match self.get(e) {
            Expr::And(_) | Expr::Not(_) => true,
            Expr::Alt(parts) => parts.iter().all(|&p| self.is_simple(p)),
            _ => false,
        }
    }

    /// Whether `e` has no intersection or complement but at its top.
    fn is_simple(&self, e: ExprId) -> bool {
        let plain = |e: &ExprId| match self.get(*e) {
            Expr::Not(inner) => !self.is_boolean(*inner),
            _ => !self.is_boolean(*e),
        };
        match self.get(e) {
            Expr::And(parts) => parts.iter().all(plain),
            _ => plain(&e),
        }
    }

    /// [`decide_live`](Self::decide_live) for any expression, on the expressions that it derives to.
    fn decide_any(&mut self, e: ExprId, max_states: usize) -> Result<bool> {
        if let Some(&l) = self.live.get(&e) {
            return Ok(l);
        }
        let mut order = vec![e];
        let mut index = rustc_hash::FxHashMap::default();
        index.insert(e, 0usize);
        let mut parents: Vec<Vec<u32>> = vec![Vec::new()];
        let mut work = Vec::new();
        let mut i = 0;
        while i < order.len() {
            let cur = order[i];
            let mut alive = self.nullable(cur);
            for edge in self.row(cur).iter() {
                if !self.is_boolean(edge.to) {
                    alive |= edge.to != Self::NEVER;
                    continue;
                }
                match self.live.get(&edge.to) {
                    Some(l) => alive |= l,
                    None => {
                        let n = order.len();
                        let k = *index.entry(edge.to).or_insert(n);
                        if k == n {
                            order.push(edge.to);
                            parents.push(Vec::new());
                        }
                        parents[k].push(i as u32);
                    }
                }
            }
            if alive {
                work.push(i as u32);
            }
            if order.len() > max_states {
                return Err(Error::limit("explored states", max_states as u64, order.len() as u64)
                    .set_by("max_explored_states"));
            }
            self.check()?;
            i += 1;
        }
        let mut live = vec![false; order.len()];
        while let Some(i) = work.pop() {
            if !std::mem::replace(&mut live[i as usize], true) {
                work.extend_from_slice(&parents[i as usize]);
            }
        }
        for (e, l) in order.iter().zip(&live) {
            self.live.insert(*e, *l);
        }
        Ok(live[0])
    }

    /// Whether `e` accepts anything, as far as [`decide_live`](Self::decide_live) was asked about it or an expression
    /// that derives to it. Undecided intersections and complements count as live.
    pub fn is_live(&self, e: ExprId) -> bool {
        if !self.is_boolean(e) {
            return e != Self::NEVER;
        }
        if let Some(l) = self.live.get(&e).copied().or_else(|| self.known_product(e)) {
            return l;
        }
        match self.get(e) {
            Expr::Alt(parts) => parts.iter().any(|&p| self.is_live(p)),
            _ => true,
        }
    }

    /// Whether `e` accepts anything, in an arena in which nothing was decided: looks for a text, and remembers what it
    /// finds. For what is derived of a product that another arena has [decided](Self::decide_live), so that the search
    /// is known to end. Nobody can stop it.
    pub fn finds_live(&mut self, e: ExprId) -> bool {
        if !self.searches || !self.is_boolean(e) {
            return self.is_live(e);
        }
        uninterruptible(|| self.is_inhabited(e, usize::MAX)).unwrap_or(true)
    }
}

/// Joins neighbouring ranges with one target and drops dead ones.
fn join(mut edges: Vec<Edge>) -> Vec<Edge> {
    let mut kept = 0;
    for i in 0..edges.len() {
        let e = edges[i];
        if e.to == Exprs::NEVER {
            continue;
        }
        match edges[..kept].last_mut() {
            Some(p) if p.to == e.to && p.hi as u16 + 1 == e.lo as u16 => p.hi = e.hi,
            _ => {
                edges[kept] = e;
                kept += 1;
            }
        }
    }
    edges.truncate(kept);
    edges
}

#[cfg(test)]
mod tests;
