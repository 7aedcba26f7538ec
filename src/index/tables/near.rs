//! Masks of a text with a pattern near the most code points that it may have.
//!
//! What may come next is a matter of the pattern's state, how much of it fits one of the count. So such a mask is that
//! of the state far from any bound, but for tokens that are too long: one of `c` code points behind which `v` more are
//! needed fits where `c + v` are left. Tokens by `c` are the masks of any text ([`rooms`](super::rooms)), tokens by `v`
//! are found once for a state ([`needs`](crate::index::inner::needs)), and a mask at another count is a few operations
//! on rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{MaskedLexeme, Tables};
use crate::automaton::lexeme::{CLOSED, Lexeme, StateId};
use crate::index::inner::is_inside_char;
use crate::index::inner::needs::{Needs, needs};
use crate::index::submask::{Inner, SubMask};
use crate::ir::INF;
use crate::vocab::Vocabulary;

impl Tables {
    /// The mask, at the root, of a state of a bounded text after `count` code points. `None` where it takes a walk that
    /// counts: inside of a character or an escape, where a text may stay too short, and where what is needed behind
    /// tokens has too many answers.
    pub(super) fn near_bound(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
        count: u32,
    ) -> Option<SubMask> {
        let l = &*lexeme.lexeme;
        let (room, 0) = l.count_key(count) else { return None };
        if room == INF || !l.is_text() || !l.state(state).is_plain() || is_inside_char(l, state) {
            return None;
        }
        let far = self.far_mask(vocabulary, lexeme, l.mask_state(state));
        let inner = match &far.inner {
            Inner::Sparse(tokens) => {
                let fits = |&t: &u32| vocabulary.token_bytes(t).is_some_and(|bytes| fits(l, state, count, bytes));
                Inner::Sparse(tokens.iter().copied().filter(fits).collect())
            }
            Inner::Dense(row) => {
                let needs = self.needs(vocabulary, lexeme, state)?;
                self.fitting(vocabulary, row, &needs, room)
            }
        };
        // Whether a crossing token's text fits is seen where it closes.
        Some(SubMask { inner, cross: far.cross.clone() })
    }

    /// What is needed behind the tokens of a state, found once.
    fn needs(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Option<Arc<Needs>> {
        let masks = &lexeme.masks;
        if let Some(known) = masks.needs.read().unwrap_or_else(|p| p.into_inner()).get(&state) {
            return known.clone();
        }
        let found = needs(self, vocabulary.trie(), &lexeme.lexeme, state).map(Arc::new);
        let bytes = 64 + found.iter().flat_map(|needs| needs.iter()).map(|n| n.1.bytes()).sum::<usize>();
        self.unmeasured.fetch_add(bytes, Ordering::Relaxed);
        masks.bytes.fetch_add(bytes, Ordering::Relaxed);
        masks.others_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut known = masks.needs.write().unwrap_or_else(|p| p.into_inner());
        known.entry(state).or_insert(found).clone()
    }

    /// The tokens of `row` that fit into `room` code points together with what is needed behind them.
    fn fitting(&self, vocabulary: &Vocabulary, row: &Arc<[u32]>, needs: &Needs, room: u32) -> Inner {
        let rooms = self.rooms(vocabulary);
        let mut out: Arc<[u32]> = Arc::from(&row[..]);
        let row = Arc::make_mut(&mut out);
        // The tokens of at most so many code points; all where there is no such mask.
        let within = |room: u32| rooms.get(room as usize).map(|mask| &mask.inner);
        if let Some(short) = within(room) {
            keep_only(row, short, None);
        }
        let none = Inner::Sparse(Box::default());
        for (needed, tokens) in needs {
            if let Some(short) = room.checked_sub(*needed).map_or(Some(&none), within) {
                keep_only(row, short, Some(tokens));
            }
        }
        Inner::of_row(out)
    }
}

/// Takes the tokens out that are not `short`; of all of them, or of some.
fn keep_only(row: &mut [u32], short: &Inner, some: Option<&Inner>) {
    let is_short = |t: u32| match short {
        Inner::Dense(short) => short[t as usize >> 5] >> (t & 31) & 1 == 1,
        Inner::Sparse(short) => short.binary_search(&t).is_ok(),
    };
    match (short, some) {
        (_, Some(Inner::Sparse(some))) => {
            some.iter().filter(|&&t| !is_short(t)).for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31)));
        }
        (Inner::Dense(short), None) => row.iter_mut().zip(short.iter()).for_each(|(w, short)| *w &= short),
        (Inner::Dense(short), Some(Inner::Dense(some))) => {
            row.iter_mut().zip(short.iter().zip(some.iter())).for_each(|(w, (short, some))| *w &= short | !some);
        }
        (Inner::Sparse(_), _) => {
            let mut dense = vec![0; row.len()];
            short.or_into(&mut dense);
            keep_only(row, &Inner::Dense(dense.into()), some);
        }
    }
}

/// Whether a text may end within its bounds behind `bytes`, which go on from `state` after `count` code points.
fn fits(l: &Lexeme, state: StateId, count: u32, bytes: &[u8]) -> bool {
    let (mut at, mut count) = (state, count);
    for &byte in bytes {
        let from = l.state(at);
        count = count.saturating_add(u32::from(l.starts_char(from, byte)));
        at = l.next_from(at, from, byte);
        if at <= CLOSED {
            return false;
        }
    }
    l.live_at(l.state(at), count)
}

#[cfg(test)]
mod tests;
