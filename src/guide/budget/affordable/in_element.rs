//! Prices of tokens inside a string that must differ from the other elements of its array.
//!
//! Nearly every token leads to text that no other element begins with: such text differs from all of them, whatever it
//! becomes. Where bounds say that what is left suffices behind any text that differs, plain text needs no look. The
//! trie is walked only along the texts of the other elements, and behind the quotes and backslashes there.

use crate::guide::budget::affordable::different_part::DifferentPart;
use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD_CONFIG, NODES_A_STEP, split};
use crate::guide::budget::completions::ENDLESS;
use crate::lexeme::Lexeme;
use crate::mask::json::structural_tokens::MarkedText;
use crate::pushdown::json::frame::NONE;
use crate::vocab::{Trie, Vocabulary};
use smallvec::SmallVec;
use std::ops::Range;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// [`keep`](Self::keep) inside an element. False where the guide is not there, or plain text that differs has no
    /// one answer.
    pub(super) fn keep_in_element(&mut self, vocabulary: &Vocabulary, text: &MarkedText, row: &mut [u32]) -> bool {
        let Some(others) = self.element.as_ref().and_then(DifferentPart::others_of_text) else { return false };
        let within_bounds = u64::from(self.bound_inside_different(self.top)) <= self.left;
        let new = self.class_of_other_text();
        let all = match new {
            _ if within_bounds => Some(true),
            Some(new) => self.plain(new).and_then(|plain| plain.one_verdict(self.left)),
            None => None,
        };
        let Some(all) = all else { return false };
        let allowed = row.to_vec();
        let mut with_marks = split(row, &text.plain);
        if !all {
            row.fill(0);
        }
        match new {
            Some(new) => self.keep_marked_behind(new, vocabulary, text, &mut with_marks),
            None => self.keep_marked(vocabulary, text, &mut with_marks),
        }
        row.iter_mut().zip(with_marks).for_each(|(word, kept)| *word |= kept);
        self.keep_along(&others.texts, vocabulary.trie(), &allowed, row);
        true
    }

    /// The class of text that differs from all others and is long enough, if it has but one whatever it is.
    fn class_of_other_text(&mut self) -> Option<u32> {
        let n = self.arena.nodes[self.top as usize];
        let lexeme = |l: u32| -> &Lexeme { &self.program.lexemes[l as usize] };
        let mut items = self.arena.scalars[n.items()].iter();
        if !items.all(|i| lexeme(i.lexeme).missing_characters(n.count) == Some(0)) {
            return None;
        }
        if self.classes[0].is_new { Some(0) } else { self.new_text_behind() }
    }

    /// Takes the tokens with marks out of a row after which what is left is too little, as if what stands in front of
    /// their first mark led to `new`.
    fn keep_marked_behind(&mut self, new: u32, vocabulary: &Vocabulary, text: &MarkedText, row: &mut [u32]) {
        let trie = &text.from_mark;
        let allowed = row.to_vec();
        row.fill(0);
        let mut stack: SmallVec<[(u32, u32); 16]> = SmallVec::from_elem((trie.len() as u32, new), 1);
        let mut bytes: Vec<u8> = Vec::new();
        let mut node = 1;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            let (byte, end) = (trie.byte[node as usize], trie.end[node as usize]);
            bytes.truncate(usize::from(trie.depth[node as usize]) - 1);
            bytes.push(byte);
            let to = self.step(at, byte);
            if to == DEAD_CONFIG || self.is_exhausted() {
                node = end;
                continue;
            }
            let here = trie.tokens(node).iter().copied();
            let here: SmallVec<[u32; 8]> = here.filter(|&t| allowed[t as usize >> 5] >> (t & 31) & 1 == 1).collect();
            if !here.is_empty() {
                let all = if to == ALONE { self.is_within_bounds(new, &bytes) } else { self.is_affordable_class(to) };
                // What does not hold for all texts may hold for this one.
                let is_one = to == ALONE || self.classes[to as usize].is_bound_only;
                for t in here {
                    if all || is_one && vocabulary.spelling(t).is_some_and(|bytes| self.is_in_time_alone(bytes)) {
                        row[t as usize >> 5] |= 1 << (t & 31);
                    }
                }
            }
            stack.push((end, to));
            node += 1;
        }
    }

    /// Whether bounds say that what is left suffices where `bytes` lead behind any text of a class, past its end to
    /// where another element may begin.
    fn is_within_bounds(&mut self, class: u32, bytes: &[u8]) -> bool {
        let mut behind = bytes.iter().skip_while(|&&b| b != b',').skip(1).skip_while(|b| b" \t\n\r".contains(b));
        behind.next();
        // What follows might have to differ from the text.
        if behind.next().is_some() {
            return false;
        }
        let mark = self.arena.mark();
        let mut at = self.classes[class as usize].node;
        for &b in bytes {
            at = if at == NONE { NONE } else { self.frames().step(at, b) };
            self.work += self.step;
        }
        let mut bound = if at == NONE { ENDLESS } else { self.bound_of(at) };
        if at != NONE && self.is_still_open(at) {
            bound = bound.min(self.bound_of_different(at));
        }
        let fits = u64::from(bound) <= self.left;
        self.arena.truncate(&mark);
        fits
    }

    /// Decides the tokens that stay in the texts of others, or have a mark behind such a text.
    fn keep_along(&mut self, others: &[Box<[u8]>], trie: &Trie, allowed: &[u32], row: &mut [u32]) {
        // Where the texts lie that begin like a node, and `None` behind a mark.
        type Alike = Option<Range<usize>>;
        let mut stack: SmallVec<[(u32, u32, Alike); 16]> = SmallVec::new();
        stack.push((trie.len() as u32, 0, Some(0..others.len())));
        let mut bytes: Vec<u8> = Vec::new();
        let (mut node, mut looked) = (1, 0);
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some((_, at, alike)) = stack.last().cloned() else { break };
            looked += 1;
            self.work += usize::from(looked % NODES_A_STEP == 0);
            let (byte, end) = (trie.byte[node as usize], trie.end[node as usize]);
            let depth = usize::from(trie.depth[node as usize]) - 1;
            bytes.truncate(depth);
            bytes.push(byte);
            let alike = match alike.filter(|_| !b"\"\\".contains(&byte)) {
                None => None,
                Some(range) => {
                    let texts = &others[range.clone()];
                    let from = texts.partition_point(|t| t.get(depth).is_none_or(|&b| b < byte));
                    let to = texts.partition_point(|t| t.get(depth).is_none_or(|&b| b <= byte));
                    if from == to {
                        node = end;
                        continue;
                    }
                    Some(range.start + from..range.start + to)
                }
            };
            let to = self.step(at, byte);
            if to == DEAD_CONFIG {
                node = end;
                continue;
            }
            for &t in trie.tokens(node) {
                let (word, bit) = (t as usize >> 5, 1 << (t & 31));
                if allowed[word] & bit != 0 {
                    let fits = self.is_in_time(to, &bytes);
                    row[word] = row[word] & !bit | if fits { bit } else { 0 };
                }
            }
            stack.push((end, to, alike));
            node += 1;
        }
    }
}
