//! Tokens that stay in a string, by the bytes that they leave to write in it.
//!
//! Near the end of a budget a mask asks this of all tokens at each position. The answer depends on the state of the
//! lexeme alone, and to find it takes a walk over the vocabulary, so the guides of an index share it: a row of tokens
//! for each number of bytes.

use std::sync::{Arc, Mutex};

use crate::lexeme::StateId;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::TEXT_ENDS;
use crate::util::seeded_hash::SeededMap;

/// With more numbers of bytes the rows are not kept.
const MAX_LEVELS: usize = 32;

/// Where a guide is in a string, and which tokens were looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TextEndKey {
    /// The lexeme, by its number in the program.
    pub lexeme: u32,
    pub state: StateId,
    /// Code points so far, as far as anything depends on them.
    pub count: u32,
    /// Tokens of plain text were left out.
    pub is_marked: bool,
}

/// What tokens leave to write in a string at one position.
pub(crate) struct TextEndRows {
    /// A number of bytes, and the tokens that leave no more than so many; ascending.
    levels: Vec<(u32, Box<[u32]>)>,
    /// Bytes that any of these tokens leaves at most, where no greatest length is near.
    pub most_far: Option<u32>,
    /// All tokens that stay in the string are among these.
    pub is_complete: bool,
    /// Places that searches for ends went on from.
    pub searched: usize,
}

/// Rows of tokens for each number of bytes, while a walk finds them.
pub(crate) struct TextEndRowsBuilder {
    levels: Vec<(u32, Box<[u32]>)>,
    numbers: SeededMap<u32, usize>,
    /// The level of the last token, which is mostly that of the next one.
    last: usize,
    words: usize,
}

impl TextEndRowsBuilder {
    /// Without tokens. `words` is the length of a row.
    pub fn new(words: usize) -> Self {
        TextEndRowsBuilder { levels: Vec::new(), numbers: SeededMap::default(), last: 0, words }
    }

    /// With the tokens of other rows.
    pub fn from_rows(rows: &TextEndRows, words: usize) -> Self {
        let mut builder = TextEndRowsBuilder::new(words);
        let mut fewer = &vec![0; words][..];
        for (bytes, row) in &rows.levels {
            builder.numbers.insert(*bytes, builder.levels.len());
            builder.levels.push((*bytes, row.iter().zip(fewer).map(|(row, fewer)| row & !fewer).collect()));
            fewer = row;
        }
        builder
    }

    /// Takes a token out.
    pub fn remove(&mut self, token: u32) {
        self.levels.iter_mut().for_each(|level| level.1[token as usize >> 5] &= !(1 << (token & 31)));
    }

    /// Adds a token that leaves so many bytes.
    pub fn add(&mut self, bytes: u32, token: u32) {
        if self.levels.get(self.last).is_none_or(|level| level.0 != bytes) {
            self.last = *self.numbers.entry(bytes).or_insert_with(|| {
                self.levels.push((bytes, vec![0; self.words].into()));
                self.levels.len() - 1
            });
        }
        self.levels[self.last].1[token as usize >> 5] |= 1 << (token & 31);
    }

    /// The rows of all tokens, `is_far` where no greatest length is near any of them, found by so many searches.
    pub fn finish(self, is_far: bool, is_complete: bool, searched: usize) -> TextEndRows {
        let mut levels = self.levels;
        levels.retain(|level| level.1.iter().any(|&word| word != 0));
        levels.sort_unstable_by_key(|level| level.0);
        for at in 1..levels.len() {
            let (fewer, more) = levels.split_at_mut(at);
            let (fewer, more) = (&fewer[at - 1].1, &mut more[0].1);
            more.iter_mut().zip(fewer).for_each(|(word, fewer)| *word |= fewer);
        }
        let most_far = is_far.then(|| levels.last().map_or(0, |level| level.0));
        TextEndRows { levels, most_far, is_complete, searched }
    }
}

impl TextEndRows {
    /// The tokens that leave no more than `left` bytes; `None` where there are none.
    pub fn fitting(&self, left: u64) -> Option<&[u32]> {
        let at = self.levels.partition_point(|level| u64::from(level.0) <= left);
        self.levels.get(at.checked_sub(1)?).map(|level| &*level.1)
    }

    /// Whether other rows say the same, however they were found.
    #[cfg(test)]
    pub fn says_the_same_as(&self, other: &TextEndRows) -> bool {
        let said = |rows: &TextEndRows| (rows.levels.clone(), rows.most_far, rows.is_complete);
        said(self) == said(other)
    }

    fn bytes(&self) -> usize {
        self.levels.iter().map(|level| 24 + level.1.len() * 4).sum::<usize>() + 96
    }
}

/// What the guides of an index found.
#[derive(Default)]
pub(crate) struct TextEndCache {
    rows: BoundedCache<TextEndKey, Arc<TextEndRows>, TEXT_ENDS>,
    /// The state of the first rows that tell of others, by what is said beside the state.
    first: Mutex<SeededMap<(u32, u32, bool), StateId>>,
}

impl TextEndCache {
    /// What was found at a position, or is found now. `find` is told rows of another state, where there are any.
    pub fn get_or_find(
        &self,
        key: TextEndKey,
        find: impl FnOnce(Option<(StateId, Arc<TextEndRows>)>) -> TextEndRows,
    ) -> Arc<TextEndRows> {
        if let Some(known) = self.rows.get(&key) {
            return known;
        }
        let place = (key.lexeme, key.count, key.is_marked);
        let first = self.first.lock().unwrap_or_else(|p| p.into_inner()).get(&place).copied();
        let other = first.and_then(|state| Some((state, self.rows.get(&TextEndKey { state, ..key })?)));
        // Rows near a greatest length tell nothing of other states.
        let is_asked = other.is_none();
        let found = Arc::new(find(other));
        if found.levels.len() <= MAX_LEVELS {
            self.rows.keep(key, found.clone(), found.bytes());
            if is_asked && found.most_far.is_some() {
                self.first.lock().unwrap_or_else(|p| p.into_inner()).insert(place, key.state);
            }
        }
        found
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up() {
        let mut rows = TextEndRowsBuilder::new(2);
        [(7, 40), (3, 1), (3, 33), (9, 0)].into_iter().for_each(|(bytes, token)| rows.add(bytes, token));
        let rows = rows.finish(true, true, 0);
        assert_eq!(rows.fitting(2), None);
        assert_eq!(rows.fitting(3), Some(&[2, 2][..]));
        assert_eq!(rows.fitting(8), Some(&[2, 2 | 1 << 8][..]));
        assert_eq!((rows.fitting(u64::MAX), rows.most_far), (Some(&[3, 2 | 1 << 8][..]), Some(9)));
        let mut others = TextEndRowsBuilder::from_rows(&rows, 2);
        [0, 33].into_iter().for_each(|token| others.remove(token));
        others.add(4, 33);
        let others = others.finish(true, true, 0);
        assert_eq!((others.fitting(3), others.fitting(4)), (Some(&[2, 0][..]), Some(&[2, 2][..])));
        assert_eq!((others.fitting(u64::MAX), others.most_far), (Some(&[2, 2 | 1 << 8][..]), Some(7)));
    }
}
