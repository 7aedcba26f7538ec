//! Tokens that stay in a string, by the bytes that they leave to write in it.
//!
//! Near the end of a budget a mask asks this of all tokens at each position. The answer depends on the state of the
//! lexeme alone, and to find it takes a walk over the vocabulary, so the guides of an index share it: a row of tokens
//! for each number of bytes.

use std::sync::Arc;

use crate::lexeme::StateId;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::TEXT_ENDS;

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
}

impl TextEndRows {
    /// From pairs of bytes and tokens. `words` is the length of a row.
    pub fn from_tokens(mut tokens: Vec<(u32, u32)>, words: usize, most_far: Option<u32>, is_complete: bool) -> Self {
        tokens.sort_unstable();
        let mut levels: Vec<(u32, Box<[u32]>)> = Vec::new();
        for (bytes, token) in tokens {
            if levels.last().is_none_or(|level| level.0 != bytes) {
                let row = levels.last().map_or_else(|| vec![0; words].into(), |level| level.1.clone());
                levels.push((bytes, row));
            }
            if let Some((_, row)) = levels.last_mut() {
                row[token as usize >> 5] |= 1 << (token & 31);
            }
        }
        TextEndRows { levels, most_far, is_complete }
    }

    /// The tokens that leave no more than `left` bytes; `None` where there are none.
    pub fn fitting(&self, left: u64) -> Option<&[u32]> {
        let at = self.levels.partition_point(|level| u64::from(level.0) <= left);
        self.levels.get(at.checked_sub(1)?).map(|level| &*level.1)
    }

    fn bytes(&self) -> usize {
        self.levels.iter().map(|level| 24 + level.1.len() * 4).sum::<usize>() + 96
    }
}

/// What the guides of an index found.
#[derive(Default)]
pub(crate) struct TextEndCache(BoundedCache<TextEndKey, Arc<TextEndRows>, TEXT_ENDS>);

impl TextEndCache {
    /// What was found at a position, or is found now.
    pub fn get_or_find(&self, key: TextEndKey, find: impl FnOnce() -> TextEndRows) -> Arc<TextEndRows> {
        if let Some(known) = self.0.get(&key) {
            return known;
        }
        let found = Arc::new(find());
        if found.levels.len() <= MAX_LEVELS {
            self.0.keep(key, found.clone(), found.bytes());
        }
        found
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up() {
        let rows = TextEndRows::from_tokens(vec![(7, 40), (3, 1), (3, 33), (9, 0)], 2, Some(9), true);
        assert_eq!(rows.fitting(2), None);
        assert_eq!(rows.fitting(3), Some(&[2, 2][..]));
        assert_eq!(rows.fitting(8), Some(&[2, 2 | 1 << 8][..]));
        assert_eq!(rows.fitting(u64::MAX), Some(&[3, 2 | 1 << 8][..]));
    }
}
