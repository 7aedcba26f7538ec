//! Length growth: how many characters a string gains from any of its states, read off the structure of its expression.

use rustc_hash::FxHashMap;

use crate::expr::analysis::char_lengths::{CharLengthTable, CharLengths, lengths, meets};
use crate::expr::{Expr, ExprId, Exprs, INF};

/// How a text grows from any of its states. Conservative where the structure is not telling.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthGrowth {
    /// No state is further than this many code points from its end.
    pub(super) slack: u32,
    /// Nor is any state behind the first byte further than so many.
    pub(super) later: u32,
    /// Every state can go on for ever.
    pub(super) grows: bool,
    /// Whatever the state, every number of further code points from this one on is possible; [`INF`] if that is false.
    pub(super) settled: u32,
    /// Whatever the state, all numbers of further code points from the least possible one on are possible.
    pub(super) gapless: bool,
}

impl Default for LengthGrowth {
    fn default() -> Self {
        LengthGrowth { slack: 0, later: 0, grows: true, settled: 0, gapless: true }
    }
}

pub(super) fn growth(x: &Exprs, table: &mut CharLengthTable, e: ExprId) -> LengthGrowth {
    let unknown = LengthGrowth { slack: INF, later: INF, grows: false, settled: INF, gapless: false };
    let mut memo: FxHashMap<ExprId, LengthGrowth> = FxHashMap::default();
    let shortest =
        |table: &mut CharLengthTable, e| lengths(x, table, e).and_then(|l| l.first().map(|r| r.0)).unwrap_or(INF);
    for n in x.reachable(e) {
        let of = |e: &ExprId| memo.get(e).copied().unwrap_or(unknown);
        let worse = |a: LengthGrowth, b: LengthGrowth| LengthGrowth {
            slack: a.slack.max(b.slack),
            later: a.later.max(b.later),
            grows: a.grows && b.grows,
            settled: a.settled.max(b.settled),
            gapless: a.gapless && b.gapless,
        };
        // From where on every length of `n` itself is possible.
        let own = lengths(x, table, n);
        let tail = |l: &Option<CharLengths>| {
            l.as_ref().and_then(|l| l.last().copied()).filter(|r| r.1 == INF).map_or(INF, |r| r.0)
        };
        let one_run = own.as_ref().is_some_and(|l| matches!(**l, [(_, INF)]));
        let value = match x.get(n) {
            Expr::Never | Expr::Eps => LengthGrowth { slack: 0, later: 0, ..unknown },
            Expr::Step { edges, .. } => {
                let start = LengthGrowth { settled: tail(&own), gapless: one_run, ..LengthGrowth::default() };
                edges.iter().fold(start, |all, e| {
                    let to = of(&e.to);
                    // A code point is counted at its first byte.
                    let one = u32::from(e.lo & 0xC0 != 0x80);
                    worse(all, LengthGrowth { slack: to.slack.saturating_add(one), later: to.slack, ..to })
                })
            }
            Expr::Cat(a, b) => {
                let (first, rest) = (of(a), of(b));
                let settled = first.slack.saturating_add(tail(&lengths(x, table, *b)));
                let shortest = shortest(table, *b);
                let later = first.later.saturating_add(shortest).max(rest.slack);
                let slack = first.slack.saturating_add(shortest);
                worse(LengthGrowth { slack, later, settled, ..LengthGrowth::default() }, rest)
            }
            Expr::Alt(v) => v.iter().map(of).fold(LengthGrowth::default(), worse),
            Expr::Rep { body, min, max } => {
                let LengthGrowth { slack, later, .. } = of(body);
                let shortest = shortest(table, *body);
                // What is left of the copies behind the first one.
                let rest = (min.saturating_sub(1)).saturating_mul(shortest);
                let later = later.saturating_add(rest);
                // A body of one code point: any number of copies from the minimum on leaves no gap.
                let unit = lengths(x, table, *body).is_some_and(|l| meets(&l, 1, 1));
                LengthGrowth {
                    slack: later.max(min.saturating_mul(shortest)),
                    later,
                    grows: *max == INF,
                    settled: slack.saturating_add(tail(&own)),
                    gapless: *max == INF && unit && one_run,
                }
            }
            _ => unknown,
        };
        memo.insert(n, value);
    }
    memo.get(&e).copied().unwrap_or(unknown)
}
