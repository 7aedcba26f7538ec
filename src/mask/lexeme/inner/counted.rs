//! Masks of states that differ in a count.
//!
//! Where a handful of copies allows the same tokens as any number does, the count does not matter in between. Elsewhere
//! the mask is that of the state without the count, but for the tokens that reach the count; the farther it is, the
//! fewer these are.

use std::sync::Arc;

use crate::expr::INF;
use crate::expr::analysis::slice::Slice;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::inner::trie_walk::InnerWalk;
use crate::mask::lexeme::lexeme_mask::{CrossingTokens, TokenSet};
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Vocabulary;

/// The mask of a state with a count around what is free there. Where even a handful of copies allows all that any
/// number does, the count does not matter, and all states that differ in it share one mask.
pub(super) fn counted(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    free: Slice,
) -> Option<TokenSet> {
    let ((low, high), read) = around(tables, &lexeme.lexeme, state, free)?;
    let of = |s: StateId| tables.submask(vocabulary, lexeme, s, read, TrieKind::Tokens, 0);
    let same = || match (&of(low).inner, &of(high).inner) {
        (TokenSet::Dense(a), TokenSet::Dense(b)) => a == b,
        (TokenSet::Sparse(a), TokenSet::Sparse(b)) => a == b,
        _ => false,
    };
    tables.count_is_idle(lexeme, low, high, same).then(|| of(high).inner.clone())
}

/// The crossing tokens of a state with a count around what is free there, if the count does not matter to them: what
/// even a handful of copies lets pass, and all that any number does. `None` where that is not known.
pub fn counted_cross(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
) -> Option<Option<Arc<CrossingTokens>>> {
    let l = &*lexeme.lexeme;
    let ((low, high), read) = around(tables, l, state, l.free(l.state(state)))?;
    let cross = |s: StateId| tables.submask(vocabulary, lexeme, s, read, TrieKind::Tokens, 0).cross.clone();
    match (cross(low), cross(high)) {
        (None, None) => Some(None),
        (Some(less), Some(more)) if less.id == more.id => Some(Some(less)),
        _ => None,
    }
}

/// The states with fewer and with more copies than `state`, if something is free in it without end, and the code points
/// after which their masks are asked for: as many as the text needs, where no bound on the length matters any more.
/// `None` where one does.
fn around(tables: &VocabTables, l: &Lexeme, state: StateId, free: Slice) -> Option<((StateId, StateId), u32)> {
    let read = match l.kind() {
        LexemeKind::Text { min, .. } => min,
        LexemeKind::Raw => 0,
    };
    if free.len < INF || !l.is_far(read, tables.reach.any) {
        return None;
    }
    Some((l.around(state)?, read))
}

/// The row of a state with a count that only few tokens could exhaust, by that of the state without the count.
pub(super) fn by_few_tokens(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    free: Slice,
) -> Option<Arc<[u32]>> {
    let l = &*lexeme.lexeme;
    // In documents walks are short enough, and their lexemes too many.
    if l.kind() != LexemeKind::Raw {
        return None;
    }
    // The farther a count is, the fewer tokens can tell; what these lead to costs more than the rest.
    let reaches = [tables.reach.any, 96, 64, 48, 32, 24, 16].into_iter().filter(|far| *far > tables.long_tokens.0);
    let (far, high) = reaches.filter_map(|far| Some((far, l.unbounded(state, far)?))).next()?;
    let base = tables.root_mask(vocabulary, lexeme, high);
    let TokenSet::Dense(base) = &base.inner else { return None };
    let mut row: Arc<[u32]> = Arc::from(&base[..]);
    let bits = Arc::make_mut(&mut row);
    let longest = l.longest(state);
    let step = |s: StateId, b: &u8| Some(l.next(s, *b)).filter(|&to| to > CLOSED);
    let passes = |bytes: &[u8]| bytes.iter().try_fold(state, step).is_some();
    // More pass without the bound.
    for long in tables.by_length.beyond_bytes(far) {
        // Each copy of what is counted has a character at least.
        if long.chars <= far || free.covers(long.groups, long.chars) {
            continue;
        }
        let (word, bit) = (&mut bits[long.token as usize >> 5], 1 << (long.token & 31));
        let bytes = || vocabulary.token_bytes(long.token);
        if *word & bit != 0 && (long.chars > longest || !bytes().is_some_and(passes)) {
            *word &= !bit;
        }
    }
    Some(row)
}

/// The row of a state with a count that more than a few tokens could exhaust, by that of the state without the count:
/// tokens that are long enough are walked in both states side by side.
pub(super) fn by_long_tokens(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
) -> Option<Arc<[u32]>> {
    let l = &*lexeme.lexeme;
    let (reach, long) = &tables.long_tokens;
    if l.kind() != LexemeKind::Raw {
        return None;
    }
    let high = l.unbounded(state, *reach)?;
    let base = tables.root_mask(vocabulary, lexeme, high);
    let TokenSet::Dense(base) = &base.inner else { return None };
    let mut row: Arc<[u32]> = Arc::from(&base[..]);
    let walk = InnerWalk { tables, trie: long, lexeme: l, count: None, covers: false, most: u32::MAX };
    walk.differs(state, high, Arc::make_mut(&mut row)).then_some(row)
}
