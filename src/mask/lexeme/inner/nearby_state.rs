//! The inner tokens of a state, by those of a nearby state: the one to which most tokens lead.
//!
//! Both states are walked side by side, and only tokens in which they differ are touched.

use crate::expr::INF;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::inner::trie_walk::InnerWalk;
use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Vocabulary;
use std::sync::Arc;

/// The row of `state` by that of the state that most tokens lead to, if that is known or soon made, and not far from
/// it: inside of what is looked for anywhere in a text, or must not begin it, the few tokens matter that go on with it.
pub(crate) fn nearly_known(
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
    let is_itself =
        |base: StateId| heaviest(tables, l, base, DEAD_STATE).is_some_and(|(to, n, of)| to == base && n * 2 > of);
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
pub(crate) fn heaviest(
    tables: &VocabTables,
    l: &Lexeme,
    state: StateId,
    but: StateId,
) -> Option<(StateId, usize, usize)> {
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
