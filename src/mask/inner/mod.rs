//! Inner tokens: which tokens stay inside a lexeme.
//!
//! The vocabulary's trie is walked with the lexeme's states, but only where something can go wrong. A byte without
//! successor ends the tokens below it. Below a node whose characters are all in a slice of the state (see
//! [`Slice`](crate::expr::analysis::slice::Slice)) every token stays inside that is text at all, and the row of *any
//! text* says which these are. A state that any text may follow meets no node.
//!
//! Other ways avoid the walk altogether, tried in this order:
//!
//! * `counted`: states that differ in a count that hardly any token exhausts share a row.
//! * `slices`: where the slice is a set over which nearly all passing tokens lie, the tokens over the set are known,
//!   and others are looked for where they leave it.
//! * A known neighbour: where the state that most tokens lead to has its row already, both are walked side by side, and
//!   only tokens in which they differ are touched.
//!
//! A walk finds ranges of tokens, because tokens lie in the trie's order. `token_ranges` turns them into bits at the
//! end, from nothing or from the row of any text, whichever is nearer.

pub(crate) mod by_length;
mod char_prefix;
mod counted;
pub(crate) mod length_limited;
pub(crate) mod pending_length;
mod self_loops;
pub(crate) mod slices;
#[cfg(test)]
mod tests;
mod token_ranges;

use std::sync::Arc;

use crate::mask::inner::char_prefix::CharPrefixes;
pub use crate::mask::inner::counted::counted_cross;
use crate::mask::inner::counted::{by_few_tokens, by_long_tokens, counted};
use crate::mask::inner::token_ranges::TokenRanges;

use crate::expr::INF;
use crate::lexeme::walk_cache::{END, LocalState, QUOTE, WalkCache};
use crate::lexeme::{CLOSED, DEAD, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme_mask::{LOOK, TokenSet, in_parts, nodes_above};
use crate::mask::vocab_tables::{MaskedLexeme, VocabTables};
use crate::vocab::{Trie, Vocabulary};

/// Subtrees of fewer nodes are walked without asking whether all of them passes.
const SMALL: u32 = 4;

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
    let mut spans = TokenRanges::default();
    in_parts(l, trie, 0, &[state], |l, states, from| {
        InnerWalk { tables, trie, lexeme: l, count, covers: any.is_some(), most: u32::MAX }
            .spans_from(from, states[0], &mut spans)
    });
    spans.finish(trie, any.as_ref(), tables.words)
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

/// The tokens that stay inside from a state, by a walk that meets no more than `most` nodes. `None` where it meets
/// more.
pub(crate) fn by_short_walk(
    tables: &VocabTables,
    trie: &Trie,
    l: &Lexeme,
    state: StateId,
    count: Option<u32>,
    most: u32,
) -> Option<TokenSet> {
    let mut spans = TokenRanges::default();
    let walk = InnerWalk { tables, trie, lexeme: l, count, covers: false, most };
    let end = walk.spans_from(1, state, &mut spans);
    (end as usize == trie.len()).then(|| spans.finish(trie, None, tables.words))
}

/// The row of `state` by that of the state that most tokens lead to, if that is known or soon made, and not far from
/// it: inside of what is looked for anywhere in a text, or must not begin it, the few tokens matter that go on with it.
fn nearly_known(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
) -> Option<Arc<[u32]>> {
    /// With fewer live tokens below the root's live children than this a walk is short.
    const FEW: usize = 2_500;
    /// Groups of a state that nearly everything passes.
    const MOST_GROUPS: u32 = 96;
    let l = &*lexeme.lexeme;
    let trie = vocabulary.trie();
    let (base, weight, live) = heaviest(tables, l, state, state)?;
    if live < FEW || weight * 2 < live {
        return None;
    }
    // With more than half of the tokens back to itself no other state is near to the base in turn, so the row that is
    // made here makes no other: a chain of such states would take the stack.
    let is_itself = |base: StateId| heaviest(tables, l, base, DEAD).is_some_and(|(to, n, of)| to == base && n * 2 > of);
    let goes_on = |base: StateId| {
        let free = l.free(l.state(base));
        let lets_most = free.len == INF && free.groups.count_ones() >= MOST_GROUPS;
        l.kind() == LexemeKind::Raw && lets_most && is_itself(base)
    };
    let mask_state = l.mask_state(base);
    let known = match tables.known_root(lexeme, mask_state) {
        Some(known) => known,
        None if goes_on(mask_state) => tables.root_mask(vocabulary, lexeme, mask_state),
        None => return None,
    };
    let TokenSet::Dense(known) = &known.inner else { return None };
    let mut row: Arc<[u32]> = Arc::from(&known[..]);
    let walk = InnerWalk { tables, trie, lexeme: l, count: None, covers: true, most: u32::MAX };
    walk.differs(state, mask_state, Arc::make_mut(&mut row)).then_some(row)
}

/// The state that most tokens lead to by their first byte, but for the state `but`, and how many do; and how many lead
/// on at all.
fn heaviest(tables: &VocabTables, l: &Lexeme, state: StateId, but: StateId) -> Option<(StateId, usize, usize)> {
    let mut weights: Vec<(StateId, usize)> = Vec::new();
    let mut live = 0;
    let at = l.state(state);
    for first in tables.subtrees.firsts() {
        let to = l.next_from(state, at, first.byte);
        if to <= CLOSED {
            continue;
        }
        let n = first.tokens as usize;
        live += n;
        match weights.iter_mut().find(|w| w.0 == to) {
            Some(w) => w.1 += n,
            None => weights.push((to, n)),
        }
    }
    let most = weights.into_iter().filter(|w| w.0 != but).max_by_key(|w| (w.1, std::cmp::Reverse(w.0)))?;
    Some((most.0, most.1, live))
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

/// Whether a state stands inside of a character that is written as it is.
pub(crate) fn is_inside_char(l: &Lexeme, state: StateId) -> bool {
    let at = l.state(state);
    (0x80..=0xBF).any(|b| l.next_from(state, at, b) > CLOSED)
}

struct InnerWalk<'a> {
    tables: &'a VocabTables,
    trie: &'a Trie,
    lexeme: &'a Lexeme,
    count: Option<u32>,
    /// Subtrees in which everything passes are known.
    covers: bool,
    /// Nodes that are met at most.
    most: u32,
}

impl InnerWalk<'_> {
    /// Walks the vocabulary's trie from the node `begin` on. Returns where it stopped, which is before the end where
    /// the lexeme has grown too much, and after as many nodes as it may meet.
    fn spans_from(&self, begin: u32, state: StateId, spans: &mut TokenRanges) -> u32 {
        let mut steps = WalkCache::new(self.lexeme);
        let first = steps.local(state);
        let held = self.lexeme.memory_bytes();
        self.below(&mut steps, &mut CharPrefixes::default(), (0, first), begin, spans, (held, 0))
    }

    /// Walks the trie below the node `top`, to which the state `first` belongs. `passing` is what is known of the
    /// states that the walk met; `held` is what the lexeme held before, and `nested` how many leaps led here.
    fn below(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        (top, first): (u32, LocalState),
        begin: u32,
        spans: &mut TokenRanges,
        (held, nested): (usize, u32),
    ) -> u32 {
        let (trie, l) = (self.trie, self.lexeme);
        let base = trie.depth[top as usize];
        // State and code points so far, by depth, and the node.
        let mut stack: Vec<(LocalState, u32, u32)> = vec![(first, 0, top); 16];
        let counts = self.count.is_some();
        for i in nodes_above(trie, top, begin) {
            let depth = (trie.depth[i as usize] - base) as usize;
            let (from, chars, _) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = steps.next(from, byte);
            stack.resize(stack.len().max(depth + 1), (first, 0, top));
            stack[depth] = (to, chars + u32::from(counts && l.starts_char(steps.state(from), byte)), i);
        }
        let mut look = steps.num_states() + LOOK;
        let end = trie.end[top as usize];
        let mut i = begin;
        let mut met = 0;
        while i < end {
            if steps.num_states() > look {
                look = steps.num_states() + LOOK;
                if l.has_grown(held) {
                    return i;
                }
            }
            if met == self.most {
                return i;
            }
            met += 1;
            let depth = (trie.depth[i as usize] - base) as usize;
            let (from, mut chars, above) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = steps.next(from, byte);
            if to <= QUOTE {
                let ends = |b| steps.next(from, b) <= QUOTE;
                i = self.tables.children.next_but(above, byte, trie.end[above as usize], ends);
                continue;
            }
            let past = trie.end[i as usize];
            if let Some(n) = self.count {
                chars += u32::from(l.starts_char(steps.state(from), byte));
                if !l.live_at(steps.state(to), n.saturating_add(chars)) {
                    i = past;
                    continue;
                }
            }
            let big = self.covers && past - i > SMALL;
            if big && self.passes(steps, passing, to, i, chars) {
                spans.push(trie.subtree_places(i));
                i = past;
                continue;
            }
            spans.push(trie.places(i));
            if big && self.leaps(steps, passing, (i, to), spans, (held, nested)) {
                i = past;
                continue;
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, (first, 0, top));
            }
            stack[depth] = (to, chars, i);
            i += 1;
        }
        end
    }

    /// Whether the state that a first byte leads to passes what follows, but for few tokens.
    fn is_short(&self, state: StateId) -> bool {
        /// Tokens that are walked.
        const FEW: u32 = 4_000;
        let (mut steps, mut passing) = (WalkCache::new(self.lexeme), CharPrefixes::default());
        let from = steps.local(state);
        let mut walked = 0;
        self.trie.children(0).zip(self.tables.subtrees.firsts()).all(|(node, first)| {
            let to = steps.next(from, first.byte);
            if to > QUOTE && !self.passes(&steps, &mut passing, to, node, 0) {
                walked += first.tokens;
            }
            walked <= FEW
        })
    }

    /// Turns the row of `base` into that of `state`. False, and the row is of no use, where the two have more nodes
    /// between them than a walk from nothing would meet.
    fn differs(&self, state: StateId, base: StateId, row: &mut [u32]) -> bool {
        /// Nodes that are met at most.
        const MOST: u32 = 8_000;
        let trie = self.trie;
        // All that lies behind a walk of the vocabulary's own trie.
        let children = self.covers.then_some(&self.tables.children);
        let mut steps = WalkCache::new(self.lexeme);
        let mut passing = CharPrefixes::default();
        let mut stack: Vec<(LocalState, LocalState, u32)> = vec![(steps.local(state), steps.local(base), 0); 64];
        let step = |steps: &mut WalkCache<'_>, from: LocalState, byte: u8| match from {
            END => END,
            _ => Some(steps.next(from, byte)).filter(|&to| to > QUOTE).unwrap_or(END),
        };
        let end = trie.len() as u32;
        let mut i = 1;
        for _ in 0..MOST {
            if i >= end {
                return true;
            }
            let depth = trie.depth[i as usize] as usize;
            let (p, q, above) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = (step(&mut steps, p, byte), step(&mut steps, q, byte));
            let past = trie.end[i as usize];
            let both_pass = |passing: &mut CharPrefixes| {
                self.covers
                    && past - i > SMALL
                    && to.0 != END
                    && to.1 != END
                    && self.passes(&steps, passing, to.0, i, 0)
                    && self.passes(&steps, passing, to.1, i, 0)
            };
            if to.0 == to.1 {
                // What ends right here is in both rows or in neither.
                i = match children {
                    Some(children) => {
                        let same = |b| step(&mut steps, p, b) == step(&mut steps, q, b);
                        children.next_but(above, byte, trie.end[above as usize], same)
                    }
                    None => past,
                };
                continue;
            }
            if both_pass(&mut passing) {
                i = past;
                continue;
            }
            if to.0 == END {
                trie.subtree_tokens(i).iter().for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31)));
                i = past;
                continue;
            }
            if to.1 == END {
                trie.tokens(i).iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, (END, END, 0));
            }
            stack[depth] = (to.0, to.1, i);
            i += 1;
        }
        false
    }
}
