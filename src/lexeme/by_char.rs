//! Successors of a string's state by decoded character, whatever the spelling.
//!
//! Counting texts asks for characters, not for the bytes that spell them: the escapes of one character pass through
//! dozens of states, and those of all characters through as many as there are.

use crate::json::string_escape::{EscapeState, ways_by_range};
use crate::lexeme::{CLOSED, Lexeme, StateId};

impl Lexeme {
    /// The states to which decoded bytes lead from a state of a string outside of escapes: each with the number of
    /// bytes, and whether they begin a character.
    pub(crate) fn ways(&self, id: StateId) -> Vec<(StateId, u64, bool)> {
        let expr = self.state(id).expr;
        let mut b = self.lock();
        let Some(row) = self.derive(&mut b, |b| b.exprs.row(expr)) else { return Vec::new() };
        let mut out = Vec::with_capacity(row.len());
        for edge in row.iter().filter(|edge| b.exprs.finds_live(edge.to)).copied().collect::<Vec<_>>() {
            let bytes = u64::from(edge.hi - edge.lo) + 1;
            out.push((self.intern(&mut b, edge.to, EscapeState::Plain), bytes, edge.lo & 0xC0 != 0x80));
        }
        out
    }

    /// The states to which the characters lead that an escape in the state `id` may still become, each with the number
    /// of characters.
    pub(crate) fn after_escape(&self, id: StateId) -> Vec<(StateId, u64)> {
        let state = self.state(id);
        let mut b = self.lock();
        let mut out: Vec<(StateId, u64)> = Vec::new();
        for (lo, hi) in self.pending(state.sub) {
            let by_range = self.derive(&mut b, |b| ways_by_range(&mut b.exprs, state.expr, lo, hi));
            for (expr, ways) in by_range.unwrap_or_default() {
                let to = self.intern(&mut b, expr, EscapeState::Plain);
                match out.iter_mut().find(|known| known.0 == to) {
                    Some(known) => known.1 += ways,
                    None => out.push((to, ways)),
                }
            }
        }
        out
    }

    /// The live states of a raw lexeme after one character of `lo..=hi`, each with the number of characters that lead
    /// there.
    pub fn after_chars(&self, id: StateId, lo: u32, hi: u32) -> Vec<(StateId, u64)> {
        let (Some(a), Some(z)) = (char::from_u32(lo), char::from_u32(hi)) else { return Vec::new() };
        let mut out: Vec<(StateId, u64)> = Vec::new();
        for seq in regex_syntax::utf8::Utf8Sequences::new(a, z) {
            let mut front: Vec<(StateId, u64)> = vec![(id, 1)];
            for r in seq.as_slice() {
                let mut next: Vec<(StateId, u64)> = Vec::new();
                for &(s, ways) in &front {
                    for byte in r.start..=r.end {
                        let to = self.next(s, byte);
                        match next.iter_mut().find(|n| n.0 == to) {
                            Some(known) => known.1 += ways,
                            None if to > CLOSED => next.push((to, ways)),
                            None => {}
                        }
                    }
                }
                front = next;
            }
            out.extend(front);
        }
        out
    }

    /// Whether an escape in the state `id` may still become the character `c`, as far as the escape says.
    pub fn may_spell(&self, id: StateId, c: char) -> bool {
        let sub = if id <= CLOSED { EscapeState::Plain } else { self.state(id).sub };
        self.pending(sub).iter().any(|&(lo, hi)| (lo..=hi).contains(&c.into()))
    }

    /// The characters that an escape may still become.
    fn pending(&self, sub: EscapeState) -> smallvec::SmallVec<[(u32, u32); 3]> {
        self.kind.escapes().pending(sub)
    }
}
