//! Plain text that is affordable, or not, as a whole.
//!
//! Most of a vocabulary is plain text: whole characters, no quote and no backslash. Inside a string or a new key such
//! text leads to few classes of configurations, and often what is left of the budget suffices after all of them or
//! after none. Then tokens of plain text need not be walked.

use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD};
use crate::lexeme::{Lexeme, LexemeKind};
use crate::mask::json::structural_tokens::{BROKEN, missing_after};
use crate::pushdown::json::frame::FrameKind;
use crate::pushdown::json::literal_trie::NO_SET;

/// The most classes of configurations that are looked at.
const MAX_ALIKE: usize = 64;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// Whether what is left suffices after plain text behind a place, if it does after all of it or after none.
    /// `None` where that differs, or is not soon found.
    pub(super) fn alike(&mut self, place: u32) -> Option<bool> {
        let known = self.places.get(place as usize)?.alike;
        known.unwrap_or_else(|| {
            let found = self.find_alike(place);
            self.places[place as usize].alike = Some(found);
            found
        })
    }

    fn find_alike(&mut self, place: u32) -> Option<bool> {
        let is_new = self.places[place as usize].is_new;
        let n = self.arena.nodes[self.places[place as usize].node as usize];
        let range = n.start as usize..(n.start + n.len) as usize;
        let program = self.program;
        let lexemes: Vec<&Lexeme> = match n.kind {
            FrameKind::Scalar if n.seen == NO_SET && (is_new || n.trace == u32::MAX) => {
                let items = self.arena.scalars[range].iter();
                items.map(|i| &*program.lexemes[i.lexeme as usize]).collect()
            }
            FrameKind::Object if is_new => {
                let shapes = self.arena.objects[range].iter().map(|i| &program.objects[i.shape as usize]);
                let classes = shapes.flat_map(|shape| shape.others.iter().filter_map(|c| c.keys.as_deref()));
                classes.chain([&*program.any_text]).collect()
            }
            _ => return None,
        };
        if n.kind == FrameKind::Scalar && lexemes.iter().any(|l| l.kind() == LexemeKind::Raw) {
            return None;
        }
        // One byte stands for all that no lexeme tells apart, and that have the same place in characters.
        let mut bytes: Vec<u8> = Vec::new();
        for b in (0x20..=255u8).filter(|b| !b"\"\\".contains(b)) {
            let same = |a: u8| {
                (0..2).all(|missing| missing_after(missing, a) == missing_after(missing, b))
                    && lexemes.iter().all(|l| l.byte_classes()[usize::from(a)] == l.byte_classes()[usize::from(b)])
            };
            if !bytes.iter().any(|&a| same(a)) {
                bytes.push(b);
            }
        }
        let mut found = vec![(place, 0)];
        let mut answer = None;
        let mut at = 0;
        while let Some(&(from, missing)) = found.get(at) {
            for &b in &bytes {
                let missing = missing_after(missing, b);
                if missing == BROKEN {
                    continue;
                }
                let to = self.step(from, b);
                if to == DEAD {
                    continue;
                }
                if to == ALONE || found.len() > MAX_ALIKE {
                    return None;
                }
                if missing == 0 {
                    let fits = self.fits(to);
                    if answer.is_some_and(|known| known != fits) {
                        return None;
                    }
                    answer = Some(fits);
                }
                if !found.contains(&(to, missing)) {
                    found.push((to, missing));
                }
            }
            at += 1;
        }
        Some(answer.unwrap_or(true))
    }
}
