//! Plain text that is affordable, or not, as a whole.
//!
//! Most of a vocabulary is plain text: whole characters, no quote and no backslash. Inside a string or a new key such
//! text leads to few classes of configurations, and often what is left of the budget suffices after all of them or
//! after none. Then tokens of plain text need not be walked. Most often it leads back to where it began: then what
//! stands in front of a token's first mark need not be looked at either.

use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::completions::PlainPrices;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::mask::json::structural_tokens::{BROKEN, missing_after};
use crate::pushdown::json::frame::{FrameKind, ScalarItem};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::util::seeded_hash::SeededSet;
use smallvec::SmallVec;

/// The most classes of configurations that are looked at.
const MAX_ALIKE: usize = 64;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// What plain text behind a class costs. `None` where that is not soon found.
    pub(super) fn plain(&mut self, class: u32) -> Option<PlainPrices> {
        let known = self.classes.get(class as usize)?.plain;
        known.unwrap_or_else(|| {
            let found = self.find_plain(class);
            self.classes[class as usize].plain = Some(found);
            found
        })
    }

    fn find_plain(&mut self, class: u32) -> Option<PlainPrices> {
        let is_new = self.classes[class as usize].is_new;
        let n = self.arena.nodes[self.classes[class as usize].node as usize];
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
        if is_new && n.kind == FrameKind::Scalar {
            // Such an answer is not kept for other budgets.
            let most = self.bound_inside_different(self.classes[class as usize].node);
            if u64::from(most) <= self.left {
                return Some(PlainPrices { least: 0, most, stays: false });
            }
            if self.classes[class as usize].is_bound_only {
                return None;
            }
            // Any text that is long enough ends with a quote, wherever whole characters lead.
            let is_whole = |i: &ScalarItem| program.lexemes[i.lexeme as usize].ends_with_quote(i.state, n.count);
            if self.arena.scalars[n.items()].iter().all(is_whole) {
                let price = self.price(class);
                return Some(PlainPrices { least: price, most: price, stays: false });
            }
        }
        let bytes = representatives(&lexemes);
        let mut found = vec![(class, 0)];
        let mut prices: Option<PlainPrices> = None;
        let mut stays = true;
        let mut at = 0;
        while let Some(&(from, missing)) = found.get(at) {
            for &b in &bytes {
                let missing = missing_after(missing, b);
                if missing == BROKEN {
                    continue;
                }
                let to = self.step(from, b);
                if to == DEAD_CONFIG {
                    continue;
                }
                if to == ALONE || found.len() > MAX_ALIKE {
                    return None;
                }
                if missing == 0 {
                    let price = self.price(to);
                    let (least, most) = prices.map_or((price, price), |p| (p.least.min(price), p.most.max(price)));
                    stays &= to == class;
                    prices = Some(PlainPrices { least, most, stays });
                }
                if !found.contains(&(to, missing)) {
                    found.push((to, missing));
                }
            }
            at += 1;
        }
        Some(prices.map_or(PlainPrices { least: 0, most: 0, stays: false }, |p| PlainPrices { stays, ..p }))
    }
}

/// Bytes of plain text: one stands for all that no lexeme tells apart, and that have the same place in characters.
fn representatives(lexemes: &[&Lexeme]) -> SmallVec<[u8; 32]> {
    let mut seen: SeededSet<SmallVec<[u8; 8]>> = SeededSet::default();
    let mut bytes = SmallVec::new();
    for b in (0x20..=255u8).filter(|b| !b"\"\\".contains(b)) {
        let place = [missing_after(0, b), missing_after(1, b)];
        let classes = lexemes.iter().map(|l| l.byte_classes()[usize::from(b)]);
        if seen.insert(place.into_iter().chain(classes).collect()) {
            bytes.push(b);
        }
    }
    bytes
}
