//! Prices of tokens inside a text where plain text leaves the configuration as it was.
//!
//! The price of a token there depends only on what follows its plain text, from its first mark (a quote, a backslash)
//! on. Tokens go on from there in few ways, and each way is priced once. The prices are kept under a description of the
//! text's content, because the guide asks for them again at every token inside the text.

use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::completions::{ENDLESS, PlainPrices};
use crate::mask::json::structural_tokens::MarkedText;
use crate::pushdown::completion::shortest::KeyWatch;
use crate::pushdown::json::frame::{FrameKind, NONE};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::vocab::Vocabulary;
use smallvec::SmallVec;
use std::sync::Arc;

/// What is asked about a text: prices of the tokens that end it, of all tokens, and of plain text.
const ENDS: u8 = 0;
const ALL: u8 = 1;
const PLAIN: u8 = 2;
const BOUND: u8 = 3;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// What plain text costs where the guide is, which is kept.
    pub(super) fn plain_here(&mut self) -> Option<PlainPrices> {
        let n = &self.arena.nodes[self.top as usize];
        let is_kept = match n.kind {
            FrameKind::Scalar => n.trace == u32::MAX,
            _ => self.classes[0].is_new && self.classes[0].below == NONE,
        };
        if !is_kept || !self.describe_text(0, PLAIN) {
            return self.plain(0);
        }
        let key = std::mem::take(&mut self.key);
        if let Some(known) = self.rests.plain(&key) {
            self.classes[0].plain = Some(Some(known));
            return Some(known);
        }
        let found = self.plain(0)?;
        if !self.is_exhausted() && self.exceptions.is_empty() {
            self.rests.keep_plain(&key, found);
        }
        Some(found)
    }

    /// Whether bounds say that what is left suffices after any token that stays in the text where the guide is.
    pub(super) fn stays_within_bounds(&mut self) -> bool {
        let Some(bounds) = self.bounds else { return false };
        let frames = JsonMachine { program: self.program, arena: self.arena };
        let n = frames.arena.nodes[self.top as usize];
        let inside = bounds.inside_text(&frames, &n);
        inside.is_some_and(|inside| u64::from(inside.saturating_add(self.bound_below(n.parent))) <= self.left)
    }

    /// [`keep`](Self::keep) where only tokens that may end the text can be too much. What bounds say of the most costly
    /// of them is kept.
    pub(super) fn keep_ends(&mut self, vocabulary: &Vocabulary, text: &MarkedText, row: &mut [u32]) {
        let n = self.arena.nodes[self.top as usize];
        let is_kept = n.trace == u32::MAX && {
            self.key.clear();
            self.key.push(BOUND);
            let frames = JsonMachine { program: self.program, arena: self.arena };
            self.rests.describe(&frames, &n, &mut self.key)
        };
        let key = std::mem::take(&mut self.key);
        let most = |known: PlainPrices| u64::from(known.most);
        if is_kept && self.rests.plain(&key).is_some_and(|known| most(known) <= self.left) {
            return;
        }
        let position = self.key_of_ends();
        let known = position.as_ref().and_then(|key| self.known_bound_of_ends(key));
        if known.is_some_and(|known| u64::from(known) <= self.left) {
            return;
        }
        let mut highest = 0;
        for (at, word) in row.iter_mut().enumerate() {
            let mut rest = *word & text.quoted[at];
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                rest ^= bit;
                let t = at as u32 * 32 + bit.trailing_zeros();
                let Some(bytes) = vocabulary.spelling(t) else { continue };
                let class = bytes.iter().fold(0, |at, &b| self.step(at, b));
                let bound = self.bound(class);
                highest = highest.max(bound);
                if u64::from(bound) > self.left && !self.is_in_time(class, bytes) {
                    *word &= !bit;
                }
            }
        }
        if self.is_exhausted() {
            return;
        }
        if is_kept {
            self.rests.keep_plain(&key, PlainPrices { least: 0, most: highest, stays: false });
        }
        if let Some(position) = position
            && known.is_none()
        {
            self.keep_bound_of_ends(&position, highest);
        }
    }

    /// What plain text costs where the guide is in a string of any text that is too short yet, by characters: the last
    /// price is that of more characters as well.
    pub(super) fn prices_by_length(&mut self) -> Option<SmallVec<[u32; 32]>> {
        let n = self.arena.nodes[self.top as usize];
        let item = match n.kind {
            FrameKind::Scalar if n.len == 1 && n.seen == NO_SET && n.trace == u32::MAX => {
                self.arena.scalars[n.start as usize]
            }
            _ => return None,
        };
        let lexeme = &self.program.lexemes[item.lexeme as usize];
        let is_short = lexeme.missing_bytes(n.count)? > lexeme.missing_bytes(u32::MAX)?;
        // Between two characters nothing but the quote is missing when the text is long enough.
        if !is_short || lexeme.most_to_end(item.state, u32::MAX) != Some(1) {
            return None;
        }
        let (rest, _) = self.completed(self.top, &mut KeyWatch::new(NONE));
        let mut prices = SmallVec::new();
        let mut along = self.rests.prices_along(rest);
        let (mut byte, _) = along.next()?;
        // What completes a text behind some characters is what completes it here, but for as many characters.
        for (next, tokens) in along {
            if !(0x20..0x80).contains(&byte) || byte == b'"' || byte == b'\\' {
                break;
            }
            prices.push(tokens);
            byte = next;
        }
        (byte == b'"' && !prices.is_empty()).then_some(prices)
    }

    /// [`keep`](Self::keep) behind a class that plain text leads back to, at the price `plain`: tokens are the same
    /// from their first mark on.
    pub(super) fn keep_in_text(
        &mut self,
        vocabulary: &Vocabulary,
        text: &MarkedText,
        (class, plain): (u32, u32),
        row: &mut [u32],
    ) {
        let fit = u64::from(plain) <= self.left;
        // Where plain text is too much, so is text that ends inside a character or an escape.
        let kept = self.prices_in_text(class, text, fit);
        let mut marked: SmallVec<[(u32, u32); 64]> = SmallVec::new();
        for &(_, t) in kept.iter().take_while(|&&(price, _)| u64::from(price) <= self.left) {
            marked.push((t, row[t as usize >> 5] & 1 << (t & 31)));
        }
        for &(_, t) in kept.iter().rev().take_while(|&&(price, _)| price == ENDLESS) {
            let bit = row[t as usize >> 5] & 1 << (t & 31);
            if bit != 0 && vocabulary.spelling(t).is_some_and(|bytes| self.is_in_time_alone(bytes)) {
                marked.push((t, bit));
            }
        }
        match fit {
            true => row.iter_mut().zip(&text.plain).for_each(|(word, plain)| *word &= plain),
            false => row.fill(0),
        }
        marked.into_iter().for_each(|(t, bit)| row[t as usize >> 5] |= bit);
    }

    /// The prices of the tokens that end the text in which a class is, or of all with a mark, ascending; [`ENDLESS`]
    /// where a token is to be stepped by itself.
    fn prices_in_text(&mut self, class: u32, text: &MarkedText, all: bool) -> Arc<[(u32, u32)]> {
        let is_kept = self.describe_text(class, if all { ALL } else { ENDS });
        let key = std::mem::take(&mut self.key);
        if let Some(known) = self.rests.prices(&key).filter(|_| is_kept) {
            return known;
        }
        let trie = &text.from_mark;
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut stack: SmallVec<[(u32, u32); 16]> = SmallVec::from_elem((trie.len() as u32, class), 1);
        let mut node = 1;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            let end = trie.end[node as usize];
            let byte = trie.byte[node as usize];
            let skipped = !all && stack.len() == 1 && byte != b'"';
            let to = if skipped { DEAD_CONFIG } else { self.step(at, byte) };
            if to == DEAD_CONFIG || to == ALONE && self.is_exhausted() {
                node = end;
                continue;
            }
            let here = trie.tokens(node);
            if !here.is_empty() {
                // What does not stand for all texts is stepped by itself.
                let is_one = to == ALONE || self.classes.get(to as usize).is_some_and(|c| !c.except.is_empty());
                let price = if is_one { ENDLESS } else { self.price(to) };
                if price != ENDLESS || is_one {
                    found.extend(here.iter().map(|&t| (price, t)));
                }
            }
            stack.push((end, to));
            node += 1;
        }
        found.sort_unstable_by_key(|&(price, _)| price);
        let found: Arc<[(u32, u32)]> = found.into();
        if is_kept && !self.is_exhausted() {
            self.rests.keep_prices(&key, found.clone());
        }
        found
    }

    /// Describes the text in which a class is by content, and what is asked. False where that has no description.
    fn describe_text(&mut self, class: u32, question: u8) -> bool {
        let node = self.classes[class as usize].node;
        let n = self.arena.nodes[node as usize];
        self.key.clear();
        self.key.push(question);
        let frames = JsonMachine { program: self.program, arena: self.arena };
        if n.kind == FrameKind::Scalar {
            return self.rests.describe(&frames, &n, &mut self.key);
        }
        let Some(below) = self.rests.number(&frames, n.parent, true) else { return false };
        self.key.extend(below.to_le_bytes());
        self.describe_new_key(&n);
        true
    }
}
