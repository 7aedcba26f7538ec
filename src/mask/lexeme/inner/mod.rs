//! Inner tokens: which tokens stay inside a lexeme.
//!
//! The vocabulary's trie is walked with the lexeme's states (`inner_walk`), but only where something can go wrong. A
//! byte without successor ends the tokens below it. Below a node whose characters are all in a slice of the state (see
//! [`Slice`](crate::expr::analysis::slice::Slice)) every token stays inside that is text at all, and the row of *any
//! text* says which these are. A state that any text may follow meets no node.
//!
//! Other ways avoid the walk altogether, tried in this order:
//!
//! * `counted`: states that differ in a count that hardly any token exhausts share a row.
//! * `slices`: where the slice is a set over which nearly all passing tokens lie, the tokens over the set are known
//!   (`slice_sets`), and others are looked for where they leave it.
//! * `nearby_state`: where the state that most tokens lead to has its row already, both are walked side by side, and
//!   only tokens in which they differ are touched.
//!
//! A walk finds ranges of tokens, because tokens lie in the trie's order. `token_ranges` turns them into bits at the
//! end, from nothing or from the row of any text, whichever is nearer.

pub(crate) mod by_length;
pub(crate) mod char_prefix;
pub(crate) mod counted;
pub(crate) mod inner_walk;
pub(crate) mod length_limited;
pub(crate) mod nearby_state;
pub(crate) mod pending_length;
pub(crate) mod self_loops;
pub(crate) mod slice_sets;
pub(crate) mod slices;
#[cfg(test)]
mod tests;
pub(crate) mod token_ranges;

use std::sync::Arc;

pub use crate::mask::lexeme::inner::counted::counted_cross;
use crate::mask::lexeme::inner::counted::{by_few_tokens, by_long_tokens, counted};
use crate::mask::lexeme::inner::inner_walk::{InnerWalk, by_short_walk, is_inside_char};
use crate::mask::lexeme::inner::nearby_state::nearly_known;
use crate::mask::lexeme::inner::token_ranges::TokenRanges;

use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::lexeme_mask::{TokenSet, in_parts};
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::{Trie, Vocabulary};

/// The tokens that stay inside from `state` at the trie's root. `count` is the register of a bounded text lexeme, or
/// `None` where no token can reach a bound.
pub fn inner(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    count: Option<u32>,
) -> TokenSet {
    let l = &*lexeme.lexeme;
    let trie = vocabulary.trie();
    if let Some(few) = few_ways(tables, trie, l, state, count) {
        return few;
    }
    let any = any_row(tables, vocabulary, lexeme, state);
    if let Some(any) = &any
        && count.is_none_or(|n| l.is_far(n, tables.reach.any))
    {
        let free = l.free(l.state(state));
        if free.is_open() {
            return TokenSet::Dense(any.clone());
        }
        if let Some(inner) = counted(tables, vocabulary, lexeme, state, free) {
            return inner;
        }
        let walk = InnerWalk { tables, trie, lexeme: l, count: None, covers: true, most: u32::MAX };
        if count.is_none() && !walk.is_short(state) {
            let few = by_few_tokens(tables, vocabulary, lexeme, state, free).map(TokenSet::Dense);
            let by_set = || slices::by_set(tables, vocabulary, lexeme, state, free, any);
            let near = || {
                let row = by_long_tokens(tables, vocabulary, lexeme, state);
                row.or_else(|| nearly_known(tables, vocabulary, lexeme, state)).map(TokenSet::Dense)
            };
            if let Some(inner) = few.or_else(by_set).or_else(near) {
                return inner;
            }
        }
    }
    let mut ranges = TokenRanges::default();
    in_parts(l, trie, 0, &[state], |l, states, from| {
        InnerWalk { tables, trie, lexeme: l, count, covers: any.is_some(), most: u32::MAX }.ranges_from(
            from,
            states[0],
            &mut ranges,
        )
    });
    ranges.finish(trie, any.as_ref(), tables.words)
}

/// The tokens that stay inside from a state that few bytes lead on from, as inside a constant, if a short walk finds
/// them: whatever makes a long walk shorter would cost more than that.
fn few_ways(tables: &VocabTables, trie: &Trie, l: &Lexeme, state: StateId, count: Option<u32>) -> Option<TokenSet> {
    /// Bytes that lead on at most.
    const WAYS: usize = 8;
    /// Nodes that are met at most.
    const NODES: u32 = 400;
    let at = l.state(state);
    let ways = tables.subtrees.firsts().iter().filter(|first| l.next_from(state, at, first.byte) > CLOSED);
    if ways.take(WAYS + 1).count() > WAYS {
        return None;
    }
    by_short_walk(tables, trie, l, state, count, NODES)
}

/// The tokens that stay inside any text, from before its quote or between two characters as `state` is. `None` where
/// the state is inside of a character or an escape, where not all that the lexeme accepts is text, and for lexemes of
/// any text themselves.
fn any_row(tables: &VocabTables, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Option<Arc<[u32]>> {
    let l = &*lexeme.lexeme;
    let any = tables.any(l.kind());
    let at = l.state(state);
    let begins = l.kind() == LexemeKind::Raw || l.is_open(at);
    if l.is_any_text() || std::ptr::eq(any, lexeme) || !(begins || at.is_plain()) || !l.is_text() {
        return None;
    }
    if is_inside_char(l, state) {
        return None;
    }
    let all = &any.lexeme;
    let state = if begins { all.start() } else { all.next(all.start(), b'"') };
    match &tables.root_mask(vocabulary, any, state).inner {
        TokenSet::Dense(row) => Some(row.clone()),
        // Of a small vocabulary, or few tokens that begin with a quote.
        few => Some(few.row(tables.words)),
    }
}
