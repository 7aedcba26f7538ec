//! Masks of a string with a pattern near the most code points that it may have.
//!
//! The pattern's state decides what may come, the count how much of it fits. So the mask is that of the state far from
//! any bound, less the tokens that are too long: a token of `c` code points, behind which `v` more are needed, fits
//! where `c + v` are left. Tokens by `c` are known ([`by_length`](crate::mask::lexeme::inner::by_length)). The most
//! that is needed anywhere in the string is known too, so most tokens fit, or are too long, whatever `v` is. Where more
//! than a few tokens are in between, `v` is found once for a state
//! ([`pending_length`](crate::mask::lexeme::inner::pending_length)), and a mask at another count is a few operations on
//! rows. Where hardly a token fits, a walk that counts is shorter than all of this.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::expr::INF;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::inner::pending_length::needs;
use crate::mask::lexeme::inner::trie_walk::by_short_walk;
use crate::mask::lexeme::inner::trie_walk::is_inside_char;
use crate::mask::lexeme::lexeme_mask::{LexemeMask, TokenSet};
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::lexeme::masked_lexeme::PendingLengths;
use crate::mask::vocab_tables::VocabTables;
use crate::util::bits::has_at_most;
use crate::vocab::Vocabulary;

/// Nodes that a walk which counts meets at most, before the mask is found in another way.
const NODES: u32 = 4_000;
/// With no more code points to spare than this, hardly any token fits.
const FEW_TO_SPARE: u32 = 1;

impl VocabTables {
    /// The mask, at the root, of a state of a bounded text after `count` code points. `None` where it takes a walk that
    /// counts: inside of a character or an escape, where a text may stay too short, and where what is needed behind
    /// tokens has too many answers.
    pub(crate) fn near_bound(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
        count: u32,
    ) -> Option<LexemeMask> {
        let l = &*lexeme.lexeme;
        let (room, 0) = l.room_and_need(count) else { return None };
        if room == INF || !l.is_text() || !l.state(state).is_plain() || is_inside_char(l, state) {
            return None;
        }
        let by_walk = || by_short_walk(self, vocabulary.trie(), l, state, Some(count), NODES);
        let mask_state = l.mask_state(state);
        let to_spare = room.saturating_sub(l.fewest_more(l.state(state)));
        if to_spare <= FEW_TO_SPARE
            && self.known_root(lexeme, mask_state).is_none()
            && let Some(inner) = by_walk()
        {
            return Some(LexemeMask { inner, cross: self.text_cross(vocabulary, l, state, Some(count)) });
        }
        let far = self.far_mask(vocabulary, lexeme, mask_state);
        let fits = |t: u32| vocabulary.token_bytes(t).is_some_and(|bytes| fits(l, state, count, bytes));
        let inner = match &far.inner {
            TokenSet::Sparse(tokens) => TokenSet::Sparse(tokens.iter().copied().filter(|&t| fits(t)).collect()),
            TokenSet::Dense(row) => {
                match self.fitting_by_length((vocabulary, l.kind()), row, (room, l.most_later()), fits) {
                    Some(fitting) => fitting,
                    None => {
                        let needs = match lexeme.masks.known_needs(state) {
                            Some(known) => known,
                            None => match by_walk() {
                                Some(inner) => return Some(LexemeMask { inner, cross: far.cross.clone() }),
                                None => self.find_pending_lengths(vocabulary, lexeme, state),
                            },
                        };
                        self.fitting((vocabulary, l.kind()), row, &*needs?, room)
                    }
                }
            }
        };
        // Whether a crossing token's text fits is seen where it closes.
        Some(LexemeMask { inner, cross: far.cross.clone() })
    }

    /// The tokens of `row` that fit into `room` code points, if their lengths tell of nearly all of them: no more than
    /// `later` is needed behind any token. The few that are left are asked about.
    fn fitting_by_length(
        &self,
        (vocabulary, kind): (&Vocabulary, LexemeKind),
        row: &Arc<[u32]>,
        (room, later): (u32, u32),
        fits: impl Fn(u32) -> bool,
    ) -> Option<TokenSet> {
        /// Tokens that are asked about at most.
        const MOST_TOKENS: u32 = 1_024;
        let rooms = self.rooms(vocabulary, kind);
        let none = TokenSet::Sparse(Box::default());
        // `None` where all are as short.
        let sure = room.checked_sub(later).map_or(Some(&none), |sure| rooms.get(sure as usize).map(|mask| &mask.inner));
        let Some(sure) = sure else { return Some(TokenSet::Dense(row.clone())) };
        let mut out: Arc<[u32]> = Arc::from(&row[..]);
        let words = Arc::make_mut(&mut out);
        if let Some(short) = rooms.get(room as usize) {
            keep_only(words, &short.inner, None);
        }
        let mut unsure = words.to_vec();
        take_out(&mut unsure, sure);
        if !has_at_most(&unsure, MOST_TOKENS) {
            return None;
        }
        for ((word, unsure), at) in words.iter_mut().zip(unsure).zip(0u32..) {
            let ones = std::iter::successors(Some(unsure), |bits| Some(bits & bits.wrapping_sub(1)));
            let ones = ones.take_while(|&bits| bits != 0).map(u32::trailing_zeros);
            ones.filter(|bit| !fits(at << 5 | bit)).for_each(|bit| *word &= !(1 << bit));
        }
        Some(TokenSet::of_row(out))
    }

    /// Finds what is needed behind the tokens of a state, and keeps it.
    fn find_pending_lengths(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
    ) -> Option<Arc<PendingLengths>> {
        let masks = &lexeme.masks;
        let found = needs(self, vocabulary.trie(), &lexeme.lexeme, state).map(Arc::new);
        let bytes = 64 + found.iter().flat_map(|needs| needs.iter()).map(|n| n.1.bytes()).sum::<usize>();
        masks.grow(bytes);
        masks.others_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut known = masks.needs.write().unwrap_or_else(|p| p.into_inner());
        known.entry(state).or_insert(found).clone()
    }

    /// The tokens of `row` that fit into `room` code points together with what is needed behind them.
    fn fitting(
        &self,
        (vocabulary, kind): (&Vocabulary, LexemeKind),
        row: &Arc<[u32]>,
        needs: &PendingLengths,
        room: u32,
    ) -> TokenSet {
        let rooms = self.rooms(vocabulary, kind);
        let mut out: Arc<[u32]> = Arc::from(&row[..]);
        let row = Arc::make_mut(&mut out);
        // The tokens of at most so many code points; all where there is no such mask.
        let within = |room: u32| rooms.get(room as usize).map(|mask| &mask.inner);
        if let Some(short) = within(room) {
            keep_only(row, short, None);
        }
        let none = TokenSet::Sparse(Box::default());
        for (needed, tokens) in needs {
            if let Some(short) = room.checked_sub(*needed).map_or(Some(&none), within) {
                keep_only(row, short, Some(tokens));
            }
        }
        TokenSet::of_row(out)
    }
}

/// Takes the tokens out that are not `short`; of all of them, or of some.
fn keep_only(row: &mut [u32], short: &TokenSet, some: Option<&TokenSet>) {
    let is_short = |t: u32| match short {
        TokenSet::Dense(short) => short[t as usize >> 5] >> (t & 31) & 1 == 1,
        TokenSet::Sparse(short) => short.binary_search(&t).is_ok(),
    };
    match (short, some) {
        (_, Some(TokenSet::Sparse(some))) => {
            some.iter().filter(|&&t| !is_short(t)).for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31)));
        }
        (TokenSet::Dense(short), None) => row.iter_mut().zip(short.iter()).for_each(|(w, short)| *w &= short),
        (TokenSet::Dense(short), Some(TokenSet::Dense(some))) => {
            row.iter_mut().zip(short.iter().zip(some.iter())).for_each(|(w, (short, some))| *w &= short | !some);
        }
        (TokenSet::Sparse(_), _) => {
            let mut dense = vec![0; row.len()];
            short.or_into(&mut dense);
            keep_only(row, &TokenSet::Dense(dense.into()), some);
        }
    }
}

/// Takes tokens out of a row.
fn take_out(row: &mut [u32], tokens: &TokenSet) {
    match tokens {
        TokenSet::Dense(tokens) => row.iter_mut().zip(tokens.iter()).for_each(|(w, tokens)| *w &= !tokens),
        TokenSet::Sparse(tokens) => tokens.iter().for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31))),
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
