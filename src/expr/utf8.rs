//! Code points over bytes: character classes and text as UTF-8 expressions.
//!
//! A class becomes a small trie of byte ranges (regex-syntax splits code-point ranges into UTF-8 sequences; Thompson
//! 1968 by way of RE2). Surrogates are not code points here, so every accepted string is well-formed UTF-8.

use regex_syntax::utf8::Utf8Sequences;

use crate::expr::arena::{Edge, ExprId, Exprs, INF};
use crate::util::cancel::charge;

/// Ranges that are looked up in the time of one step; a set is made of ten times fewer.
const RANGES_PER_STEP: usize = 64;

impl Exprs {
    /// One code point out of `ranges` (inclusive, any order, may overlap), as UTF-8.
    pub fn class(&mut self, ranges: &[(char, char)]) -> ExprId {
        if ranges.len() >= RANGES_PER_STEP {
            charge(ranges.len() / RANGES_PER_STEP);
        }
        let mut sorted: Vec<(u32, u32)> =
            ranges.iter().filter(|r| r.0 <= r.1).map(|r| (r.0 as u32, r.1 as u32)).collect();
        sorted.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (lo, hi) in sorted {
            match joined.last_mut() {
                Some(p) if lo <= p.1.saturating_add(1) => p.1 = p.1.max(hi),
                _ => joined.push((lo, hi)),
            }
        }
        let key = joined.into_boxed_slice();
        let known = self.base.as_ref().and_then(|b| b.classes.get(&key));
        if let Some(&e) = known.or_else(|| self.classes.get(&key)) {
            return e;
        }
        charge(key.len() * 10 / RANGES_PER_STEP);
        let mut sequences: Vec<Vec<(u8, u8)>> = Vec::new();
        for &(lo, hi) in key.iter() {
            // A joined range may touch the surrogate gap from both sides; the iterator skips it.
            let (Some(a), Some(b)) = (to_char(lo, true), to_char(hi, false)) else { continue };
            for s in Utf8Sequences::new(a, b) {
                sequences.push(s.as_slice().iter().map(|r| (r.start, r.end)).collect());
            }
        }
        let e = self.sequences(&sequences);
        self.classes.insert(key, e);
        e
    }

    /// Sequences come sorted and with disjoint or equal leading ranges, as `Utf8Sequences` makes them.
    fn sequences(&mut self, seqs: &[Vec<(u8, u8)>]) -> ExprId {
        if seqs.iter().any(|s| s.is_empty()) {
            return Self::EPS;
        }
        let mut edges: Vec<Edge> = Vec::new();
        let mut i = 0;
        while i < seqs.len() {
            let head = seqs[i][0];
            let mut j = i + 1;
            while j < seqs.len() && seqs[j][0] == head {
                j += 1;
            }
            let tails: Vec<Vec<(u8, u8)>> = seqs[i..j].iter().map(|s| s[1..].to_vec()).collect();
            let to = self.sequences(&tails);
            edges.push(Edge { lo: head.0, hi: head.1, to });
            i = j;
        }
        // Leading ranges of different lengths of sequence never overlap, but ranges of equal length may when a
        // border falls inside a block: split them.
        let overlap = edges.windows(2).any(|w| w[1].lo <= w[0].hi);
        if overlap {
            let parts: Vec<ExprId> = edges.iter().map(|&e| self.step(false, vec![e])).collect();
            let all = self.intern_union_of_steps(&parts);
            return all;
        }
        self.step(false, edges)
    }

    fn intern_union_of_steps(&mut self, parts: &[ExprId]) -> ExprId {
        let union = self.alt(parts);
        let row = self.row(union);
        self.step(false, row.to_vec())
    }

    /// Any one code point.
    pub fn any_char(&mut self) -> ExprId {
        self.class(&[('\0', char::MAX)])
    }

    /// Any well-formed UTF-8 text.
    pub fn any_text(&mut self) -> ExprId {
        let c = self.any_char();
        self.rep(c, 0, INF)
    }

    /// Any text that `e` does not accept.
    pub fn not_text(&mut self, e: ExprId) -> ExprId {
        let any = self.any_text();
        self.minus(any, e)
    }
}

fn to_char(cp: u32, up: bool) -> Option<char> {
    match char::from_u32(cp) {
        Some(c) => Some(c),
        None if (0xD800..0xE000).contains(&cp) => Some(if up { '\u{E000}' } else { '\u{D7FF}' }),
        None => None,
    }
}
