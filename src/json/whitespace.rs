//! Whitespace between the tokens of JSON: where it may stand, which, and the automaton of a pattern for it.

use std::collections::VecDeque;

use crate::error::Result;
use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorCode, ErrorKind};
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;

/// States of a whitespace pattern's automaton.
const MAX_STATES: usize = 4_096;

/// Which whitespace may stand at a place: an automaton over the four JSON whitespace bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhitespaceRule {
    /// Successors under space, tab, line feed and carriage return; `u16::MAX` is none.
    pub next: Vec<[u16; 4]>,
    /// Whether the run may end.
    pub accepting: Vec<bool>,
    /// Where this is "up to so many bytes of any whitespace": how many. States count the bytes then.
    pub most: Option<u16>,
}

impl WhitespaceRule {
    /// No whitespace.
    pub fn none() -> Self {
        WhitespaceRule { next: vec![[u16::MAX; 4]], accepting: vec![true], most: None }
    }

    /// Up to `most` bytes of any whitespace.
    pub fn up_to(most: u16) -> Self {
        let next = (0..=most).map(|i| if i < most { [i + 1; 4] } else { [u16::MAX; 4] }).collect();
        WhitespaceRule { next, accepting: vec![true; most as usize + 1], most: Some(most) }
    }

    /// Exactly one space.
    pub fn one_space() -> Self {
        let none = u16::MAX;
        WhitespaceRule { next: vec![[1, none, none, none], [none; 4]], accepting: vec![false, true], most: None }
    }

    /// This whitespace with only the bytes that `keep` keeps, or `None` if no run is left. Where every run may end
    /// anywhere, nothing needs to go.
    pub fn within(&self, keep: impl Fn(u8) -> bool) -> Option<WhitespaceRule> {
        if self.accepting.iter().all(|&a| a) {
            return Some(self.clone());
        }
        let mut live = self.accepting.clone();
        let to = |s: usize, i: usize| usize::from(self.next[s][i]);
        let leads =
            |live: &[bool], s: usize, i: usize| keep(b" \t\n\r"[i]) && live.get(to(s, i)).copied().unwrap_or(false);
        loop {
            let more: Vec<usize> =
                (0..live.len()).filter(|&s| !live[s] && (0..4).any(|i| leads(&live, s, i))).collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|s| live[s] = true);
        }
        if !live.first().copied().unwrap_or(false) {
            return None;
        }
        let next = (0..live.len())
            .map(|s| std::array::from_fn(|i| if leads(&live, s, i) { self.next[s][i] } else { u16::MAX }))
            .collect();
        Some(WhitespaceRule { next, accepting: self.accepting.clone(), most: self.most })
    }

    /// The fewest bytes that may stand here, if any may; the first of several.
    pub fn shortest(&self) -> Option<Vec<u8>> {
        let mut met = vec![false; self.next.len()];
        let mut open = VecDeque::from([(0usize, Vec::new())]);
        while let Some((state, read)) = open.pop_front() {
            if self.accepting[state] {
                return Some(read);
            }
            for (&next, &byte) in self.next[state].iter().zip(b" \t\n\r") {
                if let Some(met) = met.get_mut(usize::from(next)).filter(|met| !**met) {
                    *met = true;
                    open.push_back((next.into(), [&read[..], &[byte]].concat()));
                }
            }
        }
        None
    }

    /// The successor of `state` under a byte, if it is whitespace that may stand here.
    #[inline]
    pub fn step(&self, state: u16, byte: u8) -> Option<u16> {
        let i = match byte {
            b' ' => 0,
            b'\t' => 1,
            b'\n' => 2,
            b'\r' => 3,
            _ => return None,
        };
        let to = self.next[state as usize][i];
        (to != u16::MAX).then_some(to)
    }
}

/// A place where whitespace may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Gap {
    /// At the very start.
    Start = 0,
    /// After an opening bracket and before `: , ] }`.
    Before = 1,
    /// After `:` and `,`.
    After = 2,
}

/// The gap that `expr` describes; it may accept nothing but strings of JSON whitespace.
pub fn gap(x: &mut Exprs, expr: ExprId, limits: &Limits) -> Result<WhitespaceRule> {
    let bad = |m: &str| {
        Error::new(ErrorKind::Unsupported, format!("whitespace pattern: {m}")).coded(ErrorCode::WhitespacePattern)
    };
    if !x.decide_live(expr, limits.max_explored_states)? {
        let message = "the whitespace pattern accepts nothing";
        return Err(Error::new(ErrorKind::Unsatisfiable, message).coded(ErrorCode::WhitespacePattern));
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
            let e = Error::limit("states of the whitespace pattern", MAX_STATES as u64, order.len() as u64);
            return Err(e.coded(ErrorCode::WhitespacePattern));
        }
        next.push(row);
        i += 1;
    }
    Ok(WhitespaceRule { next, accepting, most: None })
}

pub(crate) fn is_whitespace(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}
