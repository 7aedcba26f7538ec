//! Characters that lead a state back to itself.
//!
//! A [`Slice`] is read off the expression of a state. Around assertions an expression says nothing:
//! `((?!mode)(?!Mode).)*` is a recursion. Its states tell more: every character but `m`, `M` and a line end leads back
//! to the first state, so whatever consists of such characters passes.

use crate::expr::INF;
use crate::expr::analysis::char_groups::{ALL, CharGroups, group_of, second_of, special, specials_of};
use crate::expr::analysis::slice::Slice;
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::util::seeded_hash::SeededMap;

/// What is free in a state because it leads back to the state. Nothing where that is little.
pub(super) fn loops(l: &Lexeme, state: StateId) -> Slice {
    /// Bytes of ASCII with which it is worth to look at other characters.
    const SOME: usize = 20;
    let at = l.state(state);
    let mut missing: CharGroups = 0;
    let away = (0..0x80u8).filter(|&b| l.next_from(state, at, b) != state);
    let away = away.map(|b| missing |= group_of(b)).count();
    if 0x80 - away < SOME {
        return Slice::NONE;
    }
    let mut back = Back { l, state, whole: SeededMap::default() };
    for lead in 0xC2..=0xF4u8 {
        missing |= back.missing(lead);
    }
    let found = Slice { groups: ALL & !missing, len: INF };
    if l.kind() == LexemeKind::Raw { found } else { found.encoded(l.kind().has_any_text()) }
}

struct Back<'a> {
    l: &'a Lexeme,
    state: StateId,
    /// Whether all bytes inside of a character lead from a state back, so many of them.
    whole: SeededMap<(StateId, u32), bool>,
}

impl Back<'_> {
    /// The groups of which some character that begins with `lead` does not lead back.
    fn missing(&mut self, lead: u8) -> CharGroups {
        let Some(((lo, hi), more)) = second_of(lead) else { return 0 };
        let first = self.l.next(self.state, lead);
        let mut missing = 0;
        for second in lo..=hi {
            let to = self.l.next(first, second);
            if self.is_whole(to, more) {
                continue;
            }
            // Characters that are in groups of their own have three bytes at most.
            match (specials_of(lead), more) {
                (0, _) | (_, 2) => return group_of(lead),
                (_, 0) => missing |= group(lead, u32::from(lead & 0x1F) << 6 | u32::from(second & 0x3F)),
                _ => {
                    let high = u32::from(lead & 0xF) << 12 | u32::from(second & 0x3F) << 6;
                    for third in (0x80..=0xBFu8).filter(|&b| self.l.next(to, b) != self.state) {
                        missing |= group(lead, high | u32::from(third & 0x3F));
                    }
                }
            }
        }
        missing
    }

    fn is_whole(&mut self, at: StateId, more: u32) -> bool {
        if more == 0 {
            return at == self.state;
        }
        if let Some(&known) = self.whole.get(&(at, more)) {
            return known;
        }
        let whole = (0x80..=0xBFu8).all(|b| {
            let to = self.l.next(at, b);
            self.is_whole(to, more - 1)
        });
        self.whole.insert((at, more), whole);
        whole
    }
}

fn group(lead: u8, c: u32) -> CharGroups {
    match special(c) {
        0 => group_of(lead),
        special => special,
    }
}
