//! The lengths in code points of the members of an expression.
//!
//! [`CharLengths`] is a sorted list of disjoint intervals. It is computed from the structure of an expression, which is
//! exact where neither intersection nor complement nor digit arithmetic is involved. A code point is counted at its
//! first byte, so the lengths of a derivative in the middle of a character count only what follows it.

use rustc_hash::FxHashMap;

use crate::expr::analysis::postorder::{Todo, fill};
use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// Disjoint sorted intervals of lengths; `INF` is no bound.
pub type CharLengths = Box<[(u32, u32)]>;

/// Memo of [`lengths`].
#[derive(Clone)]
pub struct CharLengthTable(FxHashMap<ExprId, Option<CharLengths>>, usize);

impl Default for CharLengthTable {
    fn default() -> Self {
        CharLengthTable(FxHashMap::default(), MAX_INTERVALS)
    }
}

impl CharLengthTable {
    /// From now on any number of intervals is counted: where the lengths of an expression are known, those of its
    /// derivatives must be, and a union of derivatives may have more of them.
    pub fn keep_all(&mut self) {
        self.1 = usize::MAX;
    }
}

/// More intervals than this are not counted by structure.
const MAX_INTERVALS: usize = 64;

/// Gaps between the lengths of fewer and fewer copies are counted up to here.
const MAX_GAPS: u32 = 1024;

fn add(a: u32, b: u32) -> u32 {
    if a == INF || b == INF { INF } else { a.saturating_add(b).min(INF - 1) }
}

fn mul(a: u32, k: u32) -> u32 {
    if a == 0 || k == 0 {
        0
    } else if a == INF || k == INF {
        INF
    } else {
        a.saturating_mul(k).min(INF - 1)
    }
}

fn normal(mut v: Vec<(u32, u32)>, most: usize) -> Option<CharLengths> {
    v.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::new();
    for (lo, hi) in v {
        match out.last_mut() {
            Some(p) if lo <= p.1.saturating_add(1) => p.1 = p.1.max(hi),
            _ => out.push((lo, hi)),
        }
    }
    (out.len() <= most).then(|| out.into_boxed_slice())
}

fn sum(a: &[(u32, u32)], b: &[(u32, u32)], most: usize) -> Option<CharLengths> {
    normal(a.iter().flat_map(|x| b.iter().map(|y| (add(x.0, y.0), add(x.1, y.1)))).collect(), most)
}

fn repeated(body: &[(u32, u32)], min: u32, max: u32, most: usize) -> Option<CharLengths> {
    let [(a, b)] = *body else {
        if max == INF {
            return unbounded(body, min, most);
        }
        // Several intervals: add copies one by one while that stays small.
        if max > MAX_INTERVALS as u32 {
            return None;
        }
        let mut power: CharLengths = Box::new([(0, 0)]);
        let mut all = Vec::new();
        for k in 0..=max {
            if k >= min {
                all.extend_from_slice(&power);
            }
            power = sum(&power, body, most)?;
        }
        return normal(all, most);
    };
    if b == 0 {
        return Some(Box::new([(0, 0)]));
    }
    // k copies span [k a, k b]; from k0 on neighbours touch.
    let k0 = if a == b { if a == 1 { 0 } else { INF } } else { a.saturating_sub(1).div_ceil(b.saturating_sub(a)) };
    // Whatever part of the copies is read, no more gaps than this may remain.
    if k0.min(max.saturating_sub(min)) > MAX_GAPS {
        return None;
    }
    let from = min.max(k0);
    let mut all = Vec::new();
    if from <= max && from != INF {
        all.push((mul(a, from), mul(b, max)));
    }
    for k in min..from.min(max.saturating_add(1)) {
        all.push((mul(a, k), mul(b, k)));
    }
    normal(all, most)
}

/// The lengths of `min` and more copies of a body of several lengths. Sums of lengths are a numerical semigroup: once
/// as many neighbours in a row are sums as the smallest length counts, everything from there on is.
fn unbounded(body: &[(u32, u32)], min: u32, most: usize) -> Option<CharLengths> {
    /// Sums are searched up to here.
    const HORIZON: usize = 1024;
    if min > MAX_INTERVALS as u32 {
        return None;
    }
    let smallest = body.iter().map(|r| if r.0 > 0 { r.0 } else { 1.min(r.1) }).filter(|&n| n > 0).min();
    let Some(smallest) = smallest.map(|n| n as usize) else {
        let none = body.is_empty() && min > 0;
        return Some(if none { Box::new([]) } else { Box::new([(0, 0)]) });
    };
    // `sums[n]` counts the sums below `n`.
    let mut sums = vec![0u32, 1];
    let mut any: Vec<(u32, u32)> = vec![(0, 0)];
    let mut run = 1;
    for n in 1..HORIZON {
        if run == smallest {
            any.push(((n - run) as u32, INF));
            let mut all: CharLengths = Box::new([(0, 0)]);
            for _ in 0..min {
                all = sum(&all, body, most)?;
            }
            return sum(&all, &normal(any, most)?, most);
        }
        let is_sum = body.iter().any(|&(lo, hi)| {
            let (lo, hi) = (lo.max(1) as usize, hi as usize);
            lo <= n && lo <= hi && sums[n + 1 - lo] > sums[n.saturating_sub(hi)]
        });
        run = if is_sum { run + 1 } else { 0 };
        sums.push(sums[n] + u32::from(is_sum));
        if is_sum {
            any.push((n as u32, n as u32));
        }
    }
    None
}

/// Adds the lengths of an edge's byte and what follows it, whose lengths are `rest`.
fn add_behind(edge: &Edge, rest: &[(u32, u32)], all: &mut Vec<(u32, u32)>) {
    // An edge may span both kinds of byte; continuation bytes do not start a code point.
    let starts = edge.lo < 0x80 || edge.hi > 0xBF;
    let continues = edge.lo <= 0xBF && edge.hi >= 0x80;
    if starts {
        all.extend(rest.iter().map(|r| (add(r.0, 1), add(r.1, 1))));
    }
    if continues {
        all.extend_from_slice(rest);
    }
}

/// The lengths of the members of `e` in code points, or `None` where structure does not tell.
pub fn lengths(x: &Exprs, table: &mut CharLengthTable, e: ExprId) -> Option<CharLengths> {
    let most = table.1;
    let parts = |e, todo: &mut Todo| match x.get(e) {
        Expr::Step { edges, .. } => todo.ask(edges.iter().map(|e| e.to)),
        Expr::Cat(a, b) => todo.ask([*a, *b]),
        Expr::Alt(v) => todo.ask(v.iter().copied()),
        Expr::Rep { body, .. } => todo.ask([*body]),
        _ => {}
    };
    let value = |e, table: &FxHashMap<ExprId, Option<CharLengths>>| -> Option<CharLengths> {
        let of = |e: &ExprId| table.get(e).and_then(|l| l.as_deref());
        match x.get(e) {
            Expr::Never => Some(Box::new([])),
            Expr::Eps => Some(Box::new([(0, 0)])),
            Expr::Step { nullable, edges } => {
                let mut all = if *nullable { vec![(0, 0)] } else { Vec::new() };
                for e in edges.iter() {
                    add_behind(e, of(&e.to)?, &mut all);
                }
                normal(all, most)
            }
            Expr::Cat(a, b) => match (of(a), of(b)) {
                (Some(a), Some(b)) => sum(a, b, most),
                _ => None,
            },
            Expr::Alt(v) => {
                let mut all = Vec::new();
                let known = v.iter().all(|e| of(e).map(|l| all.extend_from_slice(l)).is_some());
                if known { normal(all, most) } else { None }
            }
            Expr::Rep { body, min, max } => of(body).and_then(|b| repeated(b, *min, *max, most)),
            _ => None,
        }
    };
    fill(&mut table.0, e, parts, value);
    table.0.get(&e).cloned().flatten()
}

/// Whether some length lies in `lo..=hi`.
pub fn meets(l: &[(u32, u32)], lo: u32, hi: u32) -> bool {
    l.iter().any(|r| r.0 <= hi && r.1 >= lo)
}

#[cfg(test)]
mod tests;
