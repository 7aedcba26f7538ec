//! The operators on expressions, as smart constructors: concatenation, repetition, union, intersection, complement.
//!
//! Each brings its result to normal form, so that equal derivatives mostly are one expression: unions and intersections
//! are flat, sorted and free of duplicates, concatenations nest to the right, and counted copies of one body join.
//!
//! Flat operators may have as many operands as the arena has nodes, and each that is built on another one copies them.
//! So their operands count as work, beside the nodes.

use smallvec::SmallVec;

use crate::expr::arena::{Expr, ExprId, Exprs, INF};
use crate::util::cancel::charge;

/// Operands that are brought to normal form in the time of one step. Of a few steps none is counted: that would take
/// longer than they do.
const PARTS_PER_STEP: usize = 16;

/// Operands in the making.
type Operands = SmallVec<[ExprId; 16]>;

/// Body, tail, fewest and most copies, and the whole expression.
type CountedOperand = (ExprId, ExprId, u32, u32, ExprId);

#[inline]
fn count_parts(parts: usize) {
    if parts >= 4 * PARTS_PER_STEP {
        charge(parts / PARTS_PER_STEP);
    }
}

/// The copies of `e` in `(e{m,n}){min,max}`, where those are all from a fewest to a most: no gap lies between what so
/// many copies of the inner repetition take and what one more does. Nested counts derive to unions of all ways to share
/// what was read among them, and a single count to one expression.
fn joined_counts((m, n): (u32, u32), (min, max): (u32, u32)) -> Option<(u32, u32)> {
    let times = |a: u32, b: u32| match (a, b) {
        (0, _) | (_, 0) => Some(0),
        (INF, _) | (_, INF) => Some(INF),
        _ => a.checked_mul(b).filter(|&product| product < INF),
    };
    let (fewest, most) = (times(m, min)?, times(n, max)?);
    // Gaps grow narrower with more copies, so the first one tells.
    let has_gap = max > min && n != INF && u64::from(m) * (u64::from(min) + 1) > u64::from(n) * u64::from(min) + 1;
    let is_open = n == INF && min == 0 && m > 1;
    (!has_gap && !is_open).then_some((fewest, most))
}

impl Exprs {
    /// `a` followed by `b`.
    pub fn cat(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if a == Self::NEVER || b == Self::NEVER {
            return Self::NEVER;
        }
        if a == Self::EPS {
            return b;
        }
        if b == Self::EPS {
            return a;
        }
        // Right-nest: re-hang the spine of a left operand that is itself a concatenation.
        let mut spine: SmallVec<[ExprId; 16]> = SmallVec::new();
        let mut head = a;
        while let Expr::Cat(x, y) = *self.get(head) {
            spine.push(x);
            head = y;
        }
        count_parts(spine.len());
        let mut out = self.cat_one(head, b);
        for &x in spine.iter().rev() {
            out = self.cat_one(x, out);
        }
        out
    }

    fn cat_one(&mut self, a: ExprId, b: ExprId) -> ExprId {
        // Copies of one body join: e{1,2} e{0,3} = e{1,5}; e e* = e+.
        let (head, tail) = match *self.get(b) {
            Expr::Cat(x, y) => (x, Some(y)),
            _ => (b, None),
        };
        let copies = |x: &Self, e: ExprId, other: ExprId| match *x.get(e) {
            Expr::Rep { body, min, max } => Some((body, min, max)),
            _ => match *x.get(other) {
                Expr::Rep { body, .. } if body == e => Some((e, 1, 1)),
                _ => None,
            },
        };
        if let (Some((p, m1, x1)), Some((q, m2, x2))) = (copies(self, a, head), copies(self, head, a))
            && p == q
        {
            let max = if x1 == INF || x2 == INF { Some(INF) } else { x1.checked_add(x2).filter(|&m| m < INF) };
            if let (Some(min), Some(max)) = (m1.checked_add(m2).filter(|&m| m < INF), max) {
                let r = self.rep(p, min, max);
                return match tail {
                    Some(t) => self.cat(r, t),
                    None => r,
                };
            }
        }
        self.intern(Expr::Cat(a, b))
    }

    /// The concatenation of `parts` in turn.
    pub fn cat_all(&mut self, parts: &[ExprId]) -> ExprId {
        parts.iter().rev().fold(Self::EPS, |tail, &p| self.cat(p, tail))
    }

    /// `min` to `max` copies of `body`; [`INF`] for no bound.
    pub fn rep(&mut self, body: ExprId, min: u32, max: u32) -> ExprId {
        if min > max {
            return Self::NEVER;
        }
        if max == 0 || body == Self::EPS {
            return Self::EPS;
        }
        if body == Self::NEVER {
            return if min == 0 { Self::EPS } else { Self::NEVER };
        }
        if (min, max) == (1, 1) || body == Self::ALL {
            return body;
        }
        let min = if self.nullable(body) { 0 } else { min };
        if let Expr::Rep { body: inner, min: m @ 0..=1, max: INF } = *self.get(body) {
            // (e*){..} is e*; (e+){n,..} is e{n,}, or e* where n is 0.
            return self.rep(inner, if m == 0 { 0 } else { min }, INF);
        }
        if let Expr::Rep { body: inner, min: m, max: n } = *self.get(body)
            && let Some((min, max)) = joined_counts((m, n), (min, max))
        {
            return self.rep(inner, min, max);
        }
        self.intern(Expr::Rep { body, min, max })
    }

    /// `e` or nothing.
    pub fn opt(&mut self, e: ExprId) -> ExprId {
        if self.nullable(e) { e } else { self.rep(e, 0, 1) }
    }

    /// Any number of copies.
    pub fn star(&mut self, e: ExprId) -> ExprId {
        self.rep(e, 0, INF)
    }

    /// The union of `parts`.
    pub fn alt(&mut self, parts: &[ExprId]) -> ExprId {
        let mut v: Operands = SmallVec::with_capacity(parts.len());
        for &p in parts {
            match self.get(p) {
                Expr::Never => {}
                Expr::Alt(inner) => v.extend_from_slice(inner),
                _ => v.push(p),
            }
        }
        count_parts(v.len());
        v.sort_unstable();
        v.dedup();
        if v.contains(&Self::ALL) {
            return Self::ALL;
        }
        if v.len() > 1 {
            self.join_alternatives(&mut v);
        }
        match v.len() {
            0 => Self::NEVER,
            1 => v[0],
            _ => self.intern_parts(false, &v),
        }
    }

    /// Joins alternatives whose union is one simpler expression: single bytes, and counted copies of one body with
    /// one tail whose counts overlap. The second keeps derivatives of nested counts, like `(a{1,30}){1,30}`, small.
    fn join_alternatives(&mut self, v: &mut Operands) {
        let is_bytes = |x: &Self, e: ExprId| match x.get(e) {
            Expr::Step { nullable: false, edges } => edges.iter().all(|e| e.to == Self::EPS),
            _ => false,
        };
        if v.iter().filter(|&&e| is_bytes(self, e)).count() > 1 {
            let mut ranges = Vec::new();
            v.retain(|e| match self.get(*e) {
                Expr::Step { nullable: false, edges } if edges.iter().all(|e| e.to == Self::EPS) => {
                    ranges.extend(edges.iter().map(|e| (e.lo, e.hi)));
                    false
                }
                _ => true,
            });
            let set = self.byte_set(&ranges);
            v.push(set);
        }
        let mut reps: SmallVec<[CountedOperand; 8]> = v.iter().filter_map(|&e| self.counted(e)).collect();
        if reps.len() > 1 {
            reps.sort_unstable();
            let mut gone = Vec::new();
            let mut made = Vec::new();
            let mut i = 0;
            while i < reps.len() {
                let (body, tail, lo, mut hi, first) = reps[i];
                let mut j = i + 1;
                while j < reps.len() && (reps[j].0, reps[j].1) == (body, tail) && reps[j].2 <= hi.saturating_add(1) {
                    hi = hi.max(reps[j].3);
                    j += 1;
                }
                if j > i + 1 {
                    gone.push(first);
                    gone.extend(reps[i + 1..j].iter().map(|r| r.4));
                    made.push((body, tail, lo, hi));
                }
                i = j;
            }
            if !made.is_empty() {
                gone.sort_unstable();
                v.retain(|e| gone.binary_search(e).is_err());
                for (body, tail, lo, hi) in made {
                    let r = self.rep(body, lo, hi);
                    let e = self.cat(r, tail);
                    v.push(e);
                }
            }
        }
        if v.len() > 1 && v.contains(&Self::EPS) && v.iter().any(|&e| e != Self::EPS && self.nullable(e)) {
            v.retain(|e| *e != Self::EPS);
        }
        v.sort_unstable();
        v.dedup();
        if reps.len() > 1 && v.len() > 1 {
            self.drop_included(v);
        }
    }

    /// Drops alternatives that begin with copies of a body where another one takes all that they do. It keeps
    /// derivatives of counts within counts small that something optional stands between, like `(\w{1,64}\s?){1,64}`.
    fn drop_included(&self, v: &mut Operands) {
        /// Alternatives of one body that are compared with each other, and repetitions in each.
        const MOST_COMPARED: (usize, u32) = (8, 6);
        let mut reps: SmallVec<[CountedOperand; 8]> = v.iter().filter_map(|&e| self.counted(e)).collect();
        reps.sort_unstable();
        let mut gone: SmallVec<[ExprId; 8]> = SmallVec::new();
        for alike in reps.chunk_by(|a, b| a.0 == b.0).filter(|alike| (2..=MOST_COMPARED.0).contains(&alike.len())) {
            // Alternatives differ, so that no two include each other by their structure.
            let is_included = |small: ExprId| {
                alike.iter().any(|&(.., big)| big != small && self.includes(big, small, MOST_COMPARED.1))
            };
            gone.extend(alike.iter().map(|&(.., small)| small).filter(|&small| is_included(small)));
        }
        if !gone.is_empty() {
            gone.sort_unstable();
            v.retain(|e| gone.binary_search(e).is_err());
        }
    }

    /// `e` as counted copies of a body and what follows them, if it begins with a repetition.
    fn counted(&self, e: ExprId) -> Option<CountedOperand> {
        let (head, tail) = self.head_and_tail(e);
        match *self.get(head) {
            Expr::Rep { body, min, max } => Some((body, tail, min, max, e)),
            _ => None,
        }
    }

    /// Whether `big` takes all that `small` does, as far as the structure of both says so: copies of the same bodies
    /// one after the other, no fewer and no more of them in `small`.
    fn includes(&self, big: ExprId, small: ExprId, depth: u32) -> bool {
        if big == small || (small == Self::EPS && self.nullable(big)) {
            return true;
        }
        if big == Self::EPS || small == Self::EPS || depth == 0 {
            return false;
        }
        let (big, big_tail) = self.head_and_tail(big);
        let (small, small_tail) = self.head_and_tail(small);
        let copies = |e: ExprId| match *self.get(e) {
            Expr::Rep { body, min, max } => (body, min, max),
            _ => (e, 1, 1),
        };
        let ((body, least, most), (same, min, max)) = (copies(big), copies(small));
        body == same && least <= min && max <= most && self.includes(big_tail, small_tail, depth - 1)
    }

    fn head_and_tail(&self, e: ExprId) -> (ExprId, ExprId) {
        match *self.get(e) {
            Expr::Cat(a, b) => (a, b),
            _ => (e, Self::EPS),
        }
    }

    /// The intersection of `parts`.
    pub fn and(&mut self, parts: &[ExprId]) -> ExprId {
        let mut v: Operands = SmallVec::with_capacity(parts.len());
        for &p in parts {
            match self.get(p) {
                Expr::And(inner) => v.extend_from_slice(inner),
                _ if p == Self::ALL => {}
                _ => v.push(p),
            }
        }
        count_parts(v.len());
        v.sort_unstable();
        v.dedup();
        if v.contains(&Self::NEVER) {
            return Self::NEVER;
        }
        if v.contains(&Self::EPS) {
            return if v.iter().all(|&e| self.nullable(e)) { Self::EPS } else { Self::NEVER };
        }
        if v.iter().any(|&e| matches!(*self.get(e), Expr::Not(inner) if v.binary_search(&inner).is_ok())) {
            return Self::NEVER;
        }
        match v.len() {
            0 => Self::ALL,
            1 => v[0],
            _ => self.intern_parts(true, &v),
        }
    }

    /// Everything that `e` does not accept, out of all byte strings.
    pub fn not(&mut self, e: ExprId) -> ExprId {
        match self.get(e) {
            Expr::Not(inner) => *inner,
            // Complements of intersections are derived one by one: the union of intersections has far more states.
            Expr::Alt(parts) if self.is_boolean(e) => {
                let (some, plain): (Vec<ExprId>, Vec<ExprId>) = parts.iter().partition(|&&p| self.is_boolean(p));
                let plain = self.alt(&plain);
                let mut all = vec![if plain == Self::NEVER { Self::ALL } else { self.intern(Expr::Not(plain)) }];
                for p in some {
                    all.push(self.not(p));
                }
                self.and(&all)
            }
            _ => self.intern(Expr::Not(e)),
        }
    }

    /// `a` but not `b`.
    pub fn minus(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let n = self.not(b);
        self.and(&[a, n])
    }
}

#[cfg(test)]
mod tests;
