//! Ranges of tokens in the trie's order: what a walk finds, before it becomes a row of bits.

use std::ops::Range;
use std::sync::Arc;

use crate::mask::lexeme::lexeme_mask::{SPARSE, TokenSet};
use crate::mask::lexeme::subtree_summary::LongestRun;
use crate::vocab::Trie;

/// Ranges of tokens in the trie's order, which need not follow each other in it.
#[derive(Default)]
pub(super) struct TokenRanges(pub(super) Vec<(u32, u32)>);

impl TokenRanges {
    #[inline]
    pub(super) fn push(&mut self, range: std::ops::Range<u32>) {
        match self.0.last_mut() {
            Some(last) if last.1 == range.start => last.1 = range.end,
            _ if range.is_empty() => {}
            _ => self.0.push((range.start, range.end)),
        }
    }

    /// How far it is, to go [back](Self::reset) to.
    pub(super) fn mark(&self) -> (usize, Option<(u32, u32)>) {
        (self.0.len(), self.0.last().copied())
    }

    pub(super) fn reset(&mut self, (len, last): (usize, Option<(u32, u32)>)) {
        self.0.truncate(len);
        if let (Some(now), Some(last)) = (self.0.last_mut(), last) {
            *now = last;
        }
    }

    /// Sets the bits of the tokens in the ranges that are in `any` as well.
    pub(super) fn add_to(&self, bits: &mut [u32], any: &[u32], trie: &Trie, most: Option<&LongestRun>) {
        let all = trie.subtree_tokens(0);
        let mut add = |(from, to): (u32, u32)| {
            for &t in &all[from as usize..to.max(from) as usize] {
                bits[t as usize >> 5] |= any[t as usize >> 5] & 1 << (t & 31);
            }
        };
        let within = |r: &Range<u32>, s: &(u32, u32)| (s.0.clamp(r.start, r.end), s.1.clamp(r.start, r.end));
        let nearly_all = |most: &&LongestRun| {
            let found: usize = self.0.iter().map(|s| within(&most.places, s)).map(|s| (s.1 - s.0) as usize).sum();
            found * 4 > most.places.len() * 3
        };
        let Some(most) = most.filter(nearly_all) else { return self.0.iter().copied().for_each(add) };
        // Of those that begin alike the few are taken out that lie in no range.
        let mut row: Vec<u32> = most.row.to_vec();
        let mut sorted: Vec<(u32, u32)> = self.0.iter().map(|s| within(&most.places, s)).collect();
        sorted.sort_unstable();
        let mut next = most.places.start;
        for (from, to) in sorted.into_iter().chain([(most.places.end, most.places.end)]) {
            for &t in &all[next as usize..from.max(next) as usize] {
                row[t as usize >> 5] &= !(1 << (t & 31));
            }
            next = next.max(to);
        }
        for &(from, to) in &self.0 {
            add((from, to.min(most.places.start)));
            add((from.max(most.places.end), to));
        }
        bits.iter_mut().zip(row.iter().zip(any)).for_each(|(w, (m, any))| *w |= m & any);
    }

    /// The tokens in the ranges that are in `any` as well.
    pub(super) fn finish(&self, trie: &Trie, any: Option<&Arc<[u32]>>, words: usize) -> TokenSet {
        let all = trie.subtree_tokens(0);
        let mut sorted = Vec::new();
        let ranges = if self.0.is_sorted() {
            &self.0
        } else {
            sorted.extend_from_slice(&self.0);
            sorted.sort_unstable();
            &sorted
        };
        let slice = |&(from, to): &(u32, u32)| &all[from as usize..to as usize];
        let total: usize = ranges.iter().map(|s| slice(s).len()).sum();
        let is_text = |t: u32| any.is_none_or(|any| any[t as usize >> 5] >> (t & 31) & 1 == 1);
        if total <= SPARSE {
            let mut tokens: Vec<u32> = ranges.iter().flat_map(slice).copied().filter(|&t| is_text(t)).collect();
            tokens.sort_unstable();
            return TokenSet::Sparse(tokens.into());
        }
        if let Some(any) = any
            && total * 2 > all.len()
        {
            let mut row: Arc<[u32]> = Arc::from(&any[..]);
            let bits = Arc::make_mut(&mut row);
            let mut next = 0;
            for &(from, to) in ranges.iter().chain([&(all.len() as u32, 0)]) {
                for &t in slice(&(next, from)) {
                    bits[t as usize >> 5] &= !(1 << (t & 31));
                }
                next = to;
            }
            return TokenSet::Dense(row);
        }
        let mut row: Arc<[u32]> = std::iter::repeat_n(0, words).collect();
        let bits = Arc::make_mut(&mut row);
        for &t in ranges.iter().flat_map(slice) {
            if is_text(t) {
                bits[t as usize >> 5] |= 1 << (t & 31);
            }
        }
        TokenSet::Dense(row)
    }
}

#[cfg(test)]
mod tests;
