//! Masks for drafts: what a speculative decoder verifies in one step.
//!
//! A draft is a chain of tokens, or a tree in which every draft names the draft before it. Each row of the answer is
//! the mask *after* one draft; the first row is the mask before any. The guide walks down and back up, and ends where
//! it began.

use crate::error::{Error, ErrorKind, Result, counted};
use crate::guide::Guide;

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}

impl Guide {
    /// Fills `ids.len() + 1` rows of equal width: row 0 is the mask here, row `i + 1` the mask after draft `i`. Rows of
    /// drafts that are refused, or that follow a refused one, are all ones; a negative id is padding and refused.
    /// `parents[i]` is the draft before draft `i`, or -1 for none; without `parents` every draft follows the one before
    /// it. Returns how many drafts were accepted. The guide does not move.
    ///
    /// # Errors
    /// `Argument`, with nothing written, if `rows` is not `ids.len() + 1` rows of at least a vocabulary's words, or a
    /// parent is not an earlier draft.
    ///
    /// # Cost
    /// One mask and one step per accepted draft, plus the steps back and forth between branches of a tree that is not
    /// listed depth-first.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// let mut rows = vec![0; 3 * vocabulary.words()];
    /// let accepted = guide.fill_draft_masks(&[97, 98], None, &mut rows)?;
    /// assert_eq!(accepted, 2, "both drafts are accepted; the third row is the mask after them");
    /// assert_eq!(guide.num_tokens(), 0);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn fill_draft_masks(&mut self, ids: &[i32], parents: Option<&[i32]>, rows: &mut [u32]) -> Result<usize> {
        let words = self.index().vocabulary().words();
        let width = rows.len() / (ids.len() + 1);
        if width < words || !rows.len().is_multiple_of(ids.len() + 1) {
            let drafts = counted(ids.len() as u64, "draft");
            let need = if ids.len() == 1 { "needs" } else { "need" };
            let (rows, words) = (counted(ids.len() as u64 + 1, "row"), counted(words as u64, "word"));
            return Err(argument(format!("{drafts} {need} {rows} of {words}")));
        }
        let parents = match parents {
            None => (0..ids.len()).map(|i| i.checked_sub(1)).collect(),
            Some(given) if given.len() != ids.len() => {
                let (drafts, parents) = (counted(ids.len() as u64, "draft"), counted(given.len() as u64, "parent"));
                return Err(argument(format!("{drafts}, but {parents}")));
            }
            Some(given) => given.iter().enumerate().map(|(i, &p)| parent(i, p)).collect::<Result<Vec<_>>>()?,
        };
        let mut rows = rows.chunks_mut(width.max(1));
        if let Some(row) = rows.next() {
            self.fill_mask(row);
        }
        // The drafts between the start and where the guide is now, and which drafts were accepted.
        let mut path: Vec<usize> = Vec::new();
        let mut accepted = vec![false; ids.len()];
        let mut ancestors = Vec::new();
        for (i, row) in rows.enumerate() {
            row.fill(u32::MAX);
            let Ok(id) = u32::try_from(ids[i]) else { continue };
            if parents[i].is_some_and(|p| !accepted[p]) || self.failure().is_some() {
                continue;
            }
            ancestors.clear();
            ancestors.extend(std::iter::successors(parents[i], |&p| parents[p]));
            ancestors.reverse();
            let common = path.iter().zip(&ancestors).take_while(|(a, b)| a == b).count();
            self.rollback(path.len() - common)?;
            path.truncate(common);
            for &a in &ancestors[common..] {
                // Accepted before from the same place, so it is accepted again.
                if self.try_advance(ids[a] as u32) {
                    path.push(a);
                }
            }
            if self.try_advance(id) {
                path.push(i);
                accepted[i] = true;
                self.fill_mask(row);
            }
        }
        self.rollback(path.len())?;
        Ok(accepted.iter().filter(|&&a| a).count())
    }
}

/// The parent of draft `i`, which must come before it.
fn parent(i: usize, given: i32) -> Result<Option<usize>> {
    match usize::try_from(given) {
        Ok(p) if p < i => Ok(Some(p)),
        Err(_) if given == -1 => Ok(None),
        _ => Err(argument(format!("the parent of draft {i} is {given}: it must be an earlier draft, or -1"))),
    }
}

#[cfg(test)]
mod tests;
