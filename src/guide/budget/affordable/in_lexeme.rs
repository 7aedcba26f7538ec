//! Tokens that stay inside a string with a pattern or a format.
//!
//! Text leads such a string to hundreds of states. So plain text has no single price there, and there are too many
//! configurations to number them. But two costs are known: that of the way from a state to the end of the string, which
//! is kept with the lexeme, and that of the frames below the string, which their bounds tell. So the vocabulary's trie
//! is walked with the states of the lexeme alone, and each state is priced once. The largest price of any token is kept
//! with the state it begins in: while the budget has room for that, no walk is needed.

use std::ops::Range;

use crate::guide::budget::affordable::ends_behind_tokens::EndsBehindTokens;
use crate::guide::budget::affordable::{AffordableTokens, FEW_TOKENS};
use crate::guide::budget::completions::{ENDLESS, PlainPrices};
use crate::lexeme::shortest_end::soon_ended;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::mask::json::structural_tokens::{MarkedText, StructuralTokens};
use crate::mask::lexeme::text_end_rows::TextEndKey;
use crate::pushdown::completion::shortest::KeyWatch;
use crate::pushdown::json::frame::{FrameKind, NONE, ScalarItem};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::bits::has_at_most;
use crate::vocab::Vocabulary;

/// What is asked about a state of a lexeme: what tokens leave to write that stay in the text.
const INSIDE: u8 = 4;
/// Where bounds of what lies below leave so many bytes for the end of a string, it is not completed to know better.
const MAX_CLOSE: u32 = 40;
/// With so few states to which text leads all of it may have one price, which is asked first.
const FEW_STATES: usize = 24;

/// Work for the tokens that bounds do not say to fit.
const WORK_FOR_REST: usize = 1_000;

/// The tokens that are known to leave enough of those that stay in a string.
enum Inside {
    All,
    /// Those of plain text.
    Plain,
    /// None, and text leads to few states.
    Few,
    Unknown,
}

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// So many bytes end the string in which a node is, the closing quote included, and each is a token; `None` where
    /// that is not known, or the node is no string with a pattern.
    pub(super) fn end_of_text(&self, items: Range<usize>, count: u32) -> Option<u32> {
        let program = self.program;
        let of = |item: &ScalarItem| {
            let lexeme = &program.lexemes[item.lexeme as usize];
            let is_asked = has_pattern(lexeme) && lexeme.live_at(lexeme.state(item.state), count);
            is_asked.then(|| Some(soon_ended(lexeme, item.state, count).way?.len() as u32))?
        };
        self.arena.scalars[items].iter().filter_map(of).min()
    }

    /// [`keep`](Self::keep) inside a string with a pattern or a format. False where the guide is not in one.
    pub(super) fn keep_in_lexeme(
        &mut self,
        vocabulary: &Vocabulary,
        marked: &StructuralTokens,
        text: &MarkedText,
        row: &mut [u32],
    ) -> bool {
        let n = self.arena.nodes[self.top as usize];
        if n.kind != FrameKind::Scalar || n.trace != u32::MAX {
            return false;
        }
        let program = self.program;
        let items: Vec<ScalarItem> = self.arena.scalars[n.items()].to_vec();
        let is_asked = |item: &ScalarItem| has_pattern(&program.lexemes[item.lexeme as usize]);
        let Some(bounds) = self.bounds else { return false };
        let frames = JsonMachine { program, arena: self.arena };
        if !items.iter().any(is_asked) || bounds.inside_text(&frames, &n).is_none() {
            return false;
        }
        let below = self.bound_below(n.parent).saturating_add(bounds.gap);
        if self.left == 0 {
            // Whatever stays in the text needs one more token at least.
            row.iter_mut().zip(&text.quoted).for_each(|(word, quoted)| *word &= quoted);
            return false;
        }
        // What is not known to fit.
        let mut rest = row.to_vec();
        let below = match items[..] {
            [item] if n.seen == NO_SET && u64::from(below) + u64::from(MAX_CLOSE) > self.left => {
                below.min(self.price_behind(&item, n.count))
            }
            _ => below,
        };
        let Some(left) = self.left.checked_sub(below.into()).filter(|_| below != ENDLESS) else { return false };
        for item in items.iter().filter(|item| is_asked(item)) {
            let known = self.known_to_fit(item, n.count, marked.longest, left);
            if matches!(known, Inside::Few) && items.len() == 1 {
                let plain = self.plain_here();
                if plain.is_some_and(|plain| plain.one_verdict(self.left).is_some()) {
                    return false;
                }
            }
            match known {
                Inside::All => rest.iter_mut().zip(&text.quoted).for_each(|(word, quoted)| *word &= quoted),
                Inside::Plain => {
                    rest.iter_mut().zip(&text.plain).for_each(|(word, plain)| *word &= !plain);
                    self.drop_fitting((item, n.count), left, marked, true, vocabulary, &mut rest);
                }
                Inside::Few | Inside::Unknown => {
                    let most = self.drop_fitting((item, n.count), left, marked, false, vocabulary, &mut rest);
                    let kept = most.map(|most| PlainPrices { least: 0, most, stays: false });
                    // Beside other items, tokens of theirs are not asked about.
                    if let (Some(most), [item]) = (kept, &items[..]) {
                        self.rests.keep_plain(&inside(item), most);
                    }
                }
            }
        }
        let kept = |(word, rest): (&mut u32, &u32)| *word &= !rest;
        row.iter_mut().zip(&rest).for_each(kept);
        // Bounds are near to what completions cost, so few of the others fit.
        self.max_work = self.max_work.min(self.work + WORK_FOR_REST);
        match has_at_most(&rest, FEW_TOKENS) {
            true => self.keep_few(vocabulary, &mut rest),
            false => self.walk(vocabulary.trie(), Some(marked), &mut rest),
        }
        row.iter_mut().zip(&rest).for_each(|(word, rest)| *word |= rest);
        true
    }

    /// The tokens that complete the output behind the string whose only item this is, whatever its text.
    fn price_behind(&mut self, item: &ScalarItem, count: u32) -> u32 {
        let lexeme = &self.program.lexemes[item.lexeme as usize];
        let Some(way) = soon_ended(lexeme, item.state, count).way else { return ENDLESS };
        let mark = self.arena.mark();
        let behind = self.after(&way);
        let price = if behind == NONE { ENDLESS } else { self.completed(behind, &mut KeyWatch::new(NONE)).1 };
        self.arena.truncate(&mark);
        price
    }

    /// Which tokens that stay in the string `left` tokens end it after, as far as that is known without a walk.
    fn known_to_fit(&mut self, item: &ScalarItem, count: u32, longest: usize, left: u64) -> Inside {
        let lexeme = &self.program.lexemes[item.lexeme as usize];
        let LexemeKind::Text { min, max, .. } = lexeme.kind() else { return Inside::Unknown };
        // Text behind the longest token must not be near the greatest length.
        let fits = |bytes: u32| {
            u64::from(count) + longest as u64 + u64::from(bytes) <= u64::from(max) && u64::from(bytes) <= left
        };
        if count >= min && self.rests.plain(&inside(item)).is_some_and(|known| fits(known.most)) {
            return Inside::All;
        }
        match lexeme.farthest_from(item.state, count) {
            Some(farthest) if fits(farthest.bytes) => Inside::Plain,
            Some(farthest) if farthest.states <= FEW_STATES => Inside::Few,
            _ => Inside::Unknown,
        }
    }

    /// Drops the tokens out of a row that stay in a string and after which `left` bytes end it by an item; those of
    /// plain text are not asked about if `is_marked`. Returns how many bytes the most costly of them leaves to write,
    /// where all are known and no greatest length is near.
    fn drop_fitting(
        &self,
        (item, count): (&ScalarItem, u32),
        left: u64,
        marked: &StructuralTokens,
        is_marked: bool,
        vocabulary: &Vocabulary,
        row: &mut [u32],
    ) -> Option<u32> {
        let text = marked.text.as_ref()?;
        let lexeme = &self.program.lexemes[item.lexeme as usize];
        let LexemeKind::Text { min, max, .. } = lexeme.kind() else { return None };
        let trie = if is_marked { &text.whole } else { vocabulary.trie() };
        let rows_at = |count: u32| {
            let key = TextEndKey { lexeme: item.lexeme, state: item.state, count, is_marked };
            self.facts.text_ends.get_or_find(key, |other| {
                let tokens = EndsBehindTokens { lexeme, text, trie };
                // Where no greatest length matters, most text leads to the same states from all states.
                let other = other.filter(|_| max == u32::MAX && count >= min);
                let rows = other.and_then(|(other, rows)| tokens.rows_by(item.state, count, (other, &rows)));
                rows.unwrap_or_else(|| tokens.rows(item.state, count))
            })
        };
        // Text that is long enough, and far from the greatest length, is the same however long it is.
        let is_far = |most: u32| u64::from(count) + marked.longest as u64 + u64::from(most) <= u64::from(max);
        let own = lexeme.significant_count(count);
        let alike = (count >= min && own != min && is_far(0))
            .then(|| rows_at(min))
            .filter(|rows| rows.most_far.is_some_and(is_far));
        let rows = alike.unwrap_or_else(|| rows_at(own));
        for (word, fitting) in row.iter_mut().zip(rows.fitting(left).unwrap_or_default()) {
            *word &= !fitting;
        }
        rows.most_far.filter(|_| rows.is_complete)
    }
}

/// Whether a lexeme is a string that is not any text.
fn has_pattern(lexeme: &Lexeme) -> bool {
    lexeme.kind() != LexemeKind::Raw && !lexeme.is_any_text()
}

/// The key of what is remembered of an item's state.
fn inside(item: &ScalarItem) -> [u8; 9] {
    let mut key = [INSIDE; 9];
    key[1..5].copy_from_slice(&item.lexeme.to_le_bytes());
    key[5..].copy_from_slice(&item.state.to_le_bytes());
    key
}
