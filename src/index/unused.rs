//! Tokens inside an open element of an array whose elements must differ.
//!
//! Such a token is allowed unless whatever it can lead to is an element that the array has already. Stepping it answers
//! that, byte by byte. Most tokens of a string need no stepping: what spells the beginning of no element that is there
//! differs from all of them, however it ends.

use rustc_hash::FxHashMap;

use super::mask::Masker;
use super::submask::Inner;
use super::tables::Walked;
use crate::automaton::arena::NodeId;
use crate::automaton::lexeme::{CLOSED, Kind as LexemeKind, Lexeme};

/// State and count of code points after some bytes.
fn after(l: &Lexeme, (state, count): (u32, u32), bytes: &[u8]) -> (u32, u32) {
    bytes.iter().fold((state, count), |(state, count), &byte| {
        if state <= CLOSED {
            return (state, count);
        }
        let starts = l.starts_char(l.state(state), byte) as u32;
        (l.next(state, byte), if l.is_bounded() { count.saturating_add(starts) } else { 0 })
    })
}

impl Masker<'_> {
    /// Allows the inner tokens that can still become an element that the array does not have. `watched` says that the element
    /// may be a container around the scalar. True, and nothing was done, if all of them can.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn inner_unused(
        &mut self,
        inner: &Inner,
        lexeme: u32,
        at: (u32, u32),
        parent: NodeId,
        top: NodeId,
        from: (Walked, u32),
        watched: bool,
    ) -> bool {
        let l = self.frames.program.lexemes[lexeme as usize].clone();
        let raw = l.kind() == LexemeKind::Raw;
        // Where the element is a container around the string, more than the string decides.
        let repetitions = if raw || watched { None } else { self.frames.repetitions(parent, top) };
        if l.is_any_text() && repetitions.as_ref().is_some_and(Vec::is_empty) {
            return true;
        }
        // Whether anything that a step counts as an ending is left, by state and count.
        let mut ends: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let elements = self.frames.most_elements(parent);
        let many = raw && self.frames.program.endings(lexeme, at.0, at.1, elements).is_none();
        // A text that grows in steps of up to sixteen characters has more ways to end than the array has elements as
        // long as so much room is left.
        let (slack, grows) = l.growth();
        let enough = elements.saturating_add(1).saturating_mul(16).saturating_add(slack);
        for t in inner.tokens() {
            let rest = self.rest_of(t, from);
            // Digits can go on to an unused number wherever many members are left behind them.
            let end = || rest.iter().fold(at.0, |s, &b| if s > CLOSED { l.next(s, b) } else { s });
            let number = many
                && rest.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-')
                && Some(end())
                    .is_some_and(|s| s > CLOSED && self.frames.program.endings(lexeme, s, 0, elements).is_none());
            // What spells the beginning of no element cannot become one, whatever it ends with.
            let different = repetitions.as_ref().is_some_and(|elements| {
                !rest.contains(&b'\\') && !elements.iter().any(|element| element.starts_with(rest))
            });
            let different = different
                && (l.is_any_text() || {
                    let (state, count) = after(&l, at, rest);
                    *ends.entry((state, count)).or_insert_with(|| {
                        state > CLOSED
                            && self
                                .frames
                                .program
                                .endings(lexeme, state, count, elements)
                                .is_none_or(|texts| !texts.is_empty())
                    })
                });
            let texts = !raw && l.num_texts(end()).is_some_and(|n| n > u64::from(elements));
            let roomy = !raw && grows && l.room(at.1) > enough.saturating_add(rest.len() as u32);
            if number || different || roomy || texts || self.allows(top, rest) {
                self.set(t);
            }
        }
        false
    }
}
