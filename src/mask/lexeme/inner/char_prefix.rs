//! The slices of states that a walk meets, those inside a character included.
//!
//! The [`Slice`] of a state is computed once in a walk. A state inside of a character has none. But where every
//! character that begins like this one leads to one state, whatever passes that state passes here too, so what lies
//! below the first byte of Cyrillic or Chinese letters need not be walked where these are like any others.

use crate::expr::analysis::char_groups::second_of;
use crate::expr::analysis::slice::Slice;
use crate::lexeme::walk_cache::{LocalState, WalkCache};
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::mask::lexeme::inner::trie_walk::InnerWalk;
use crate::mask::lexeme::inner::trie_walk::is_inside_char;
use crate::util::seeded_hash::SeededMap;

/// What is free in the states that were asked about, by their names in a walk.
#[derive(Default)]
pub(super) struct CharPrefixes {
    at: Vec<Option<Slice>>,
    /// Behind the characters that go on from a state inside of one, by the bytes that may come next.
    behind: SeededMap<(LocalState, (u8, u8)), Slice>,
}

impl CharPrefixes {
    /// Knows one state.
    pub fn new(state: LocalState, free: Slice) -> Self {
        let mut at = vec![None; state as usize + 1];
        at[state as usize] = Some(free);
        CharPrefixes { at, behind: SeededMap::default() }
    }
}

/// The state to which all characters lead that go on with one of some bytes from `state`, which is inside of one.
/// `None` where these are several, or some of them lead nowhere.
fn behind(
    l: &Lexeme,
    state: StateId,
    (lo, hi): (u8, u8),
    known: &mut SeededMap<StateId, Option<StateId>>,
) -> Option<StateId> {
    let classes = l.byte_classes();
    let at = l.state(state);
    let mut found = None;
    let mut last = None;
    for byte in lo..=hi {
        let class = classes[usize::from(byte)];
        if last.replace(class) == Some(class) {
            continue;
        }
        let to = l.next_from(state, at, byte);
        if to <= CLOSED {
            return None;
        }
        let to = match known.get(&to) {
            Some(&known) => known?,
            None => {
                let end = if is_inside_char(l, to) { behind(l, to, (0x80, 0xBF), known) } else { Some(to) };
                known.insert(to, end);
                end?
            }
        };
        if *found.get_or_insert(to) != to {
            return None;
        }
    }
    found
}

impl InnerWalk<'_> {
    /// What is free in a state of the walk.
    #[inline]
    pub(super) fn free_in(&self, steps: &WalkCache<'_>, passing: &mut CharPrefixes, to: LocalState) -> Slice {
        let slot = to as usize;
        if slot >= passing.at.len() {
            passing.at.resize(slot + 1, None);
        }
        *passing.at[slot].get_or_insert_with(|| self.lexeme.free(steps.state(to)))
    }

    /// Whether every text below `node` passes the state `to` that it led to.
    #[inline]
    pub(super) fn passes(
        &self,
        steps: &WalkCache<'_>,
        passing: &mut CharPrefixes,
        to: LocalState,
        node: u32,
        chars: u32,
    ) -> bool {
        let mut known = self.free_in(steps, passing, to);
        if known.groups == 0 {
            let Some((next, _)) = second_of(self.trie.byte[node as usize]) else { return false };
            known = self.free_behind(steps, passing, to, next);
        }
        let (groups, height) = self.tables.subtrees.below(node);
        known.groups != 0
            && known.covers(groups, height)
            && self.count.is_none_or(|n| self.lexeme.is_far(n.saturating_add(chars), height))
    }

    /// What is free behind the character that is open in a state.
    fn free_behind(&self, steps: &WalkCache<'_>, passing: &mut CharPrefixes, to: LocalState, next: (u8, u8)) -> Slice {
        *passing.behind.entry((to, next)).or_insert_with(|| {
            let end = behind(self.lexeme, steps.id(to), next, &mut SeededMap::default());
            end.map_or(Slice::NONE, |end| self.lexeme.free(self.lexeme.state(end)))
        })
    }
}

#[cfg(test)]
mod tests;
