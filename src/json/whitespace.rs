//! A whitespace pattern to the automaton of a gap.

use crate::error::Result;
use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind};
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::pushdown::json::program::WhitespaceRule;

/// States of a whitespace pattern's automaton.
const MAX_STATES: usize = 4_096;

/// The gap that `expr` describes; it may accept nothing but strings of JSON whitespace.
pub fn gap(x: &mut Exprs, expr: ExprId, limits: &Limits) -> Result<WhitespaceRule> {
    let bad = |m: &str| Error::new(ErrorKind::Unsupported, format!("whitespace pattern: {m}"));
    if !x.decide_live(expr, limits.max_explored_states)? {
        return Err(Error::new(ErrorKind::Unsatisfiable, "the whitespace pattern accepts nothing"));
    }
    let mut order = vec![expr];
    let mut at: FxHashMap<ExprId, u16> = FxHashMap::default();
    at.insert(expr, 0);
    let mut next: Vec<[u16; 4]> = Vec::new();
    let mut accepting = Vec::new();
    let mut i = 0;
    while i < order.len() {
        let e = order[i];
        accepting.push(x.nullable(e));
        let mut row = [u16::MAX; 4];
        for edge in x.row(e).iter() {
            if !x.is_live(edge.to) {
                continue;
            }
            for b in edge.lo..=edge.hi {
                let Some(k) = b" \t\n\r".iter().position(|&w| w == b) else {
                    return Err(bad(
                        "it accepts characters that are not JSON whitespace (space, tab, line feed, carriage return)",
                    ));
                };
                let n = order.len() as u16;
                let id = *at.entry(edge.to).or_insert(n);
                if id == n {
                    order.push(edge.to);
                }
                row[k] = id;
            }
        }
        if order.len() > MAX_STATES {
            return Err(Error::limit("states of the whitespace pattern", MAX_STATES as u64, order.len() as u64));
        }
        next.push(row);
        i += 1;
    }
    Ok(WhitespaceRule { next, accepting, most: None })
}

pub(crate) fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}
