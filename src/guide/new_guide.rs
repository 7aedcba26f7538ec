//! Making a guide of an index.

use crate::error::Result;
use crate::guide::history::History;
use crate::guide::last_answers::LastMask;
use crate::guide::min_tokens;
use crate::guide::position::Position;
use crate::index::Index;
use crate::util::memory_growth::{must_end, too_little_memory};
use crate::util::work_meter::taken_here;
use crate::{Guide, GuideOptions};

impl Index {
    /// A guide at the start.
    ///
    /// # Errors
    /// `Argument` if a stop id is outside the vocabulary's size, or the list is empty, or the output may need the text
    /// that it spells, or if a context id is outside the vocabulary's size, or if `min_tokens` is more than
    /// `max_tokens`; `Budget` if no output is known that is complete within `max_tokens`, with the fewest tokens that
    /// are, as far as a bounded search found them (the message says whether it is certain); so is one of which no short
    /// output was found at all; `Limit` where the search took much memory, and all sources hold more than they may.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let options = GuideOptions { max_tokens: Some(3), ..Default::default() };
    /// let mut guide = index.guide(&options)?;
    /// assert_eq!(guide.advance_many(&[97, 98]), 2);
    /// assert_eq!(guide.allowed_token_ids(), [256], "one token is left, and `ab` takes two");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn guide(&self, options: &GuideOptions) -> Result<Guide> {
        min_tokens::check(options)?;
        let stops = self.stop_tokens(options)?;
        let mut guide = Guide {
            root: self.clone(),
            index: self.clone(),
            moves: Vec::new(),
            stops,
            position: Position::Tables(0),
            history: History::with_room(),
            terminated: false,
            ends_in_last: false,
            last: LastMask::default(),
            run: None,
            budget: None,
            rests: None,
            flat: Vec::new(),
            context: self.checked_context(options)?,
            places: Vec::new(),
            min_tokens: options.min_tokens,
            canonical_forced: options.canonical_forced,
            canonical: None,
            work: Default::default(),
            budget_work: Default::default(),
            outside: Vec::new(),
            events: None,
        };
        guide.go_to_start();
        if let Some(max_tokens) = options.max_tokens {
            let before = taken_here();
            guide.start_budget(max_tokens)?;
            guide.work.taken = taken_here().wrapping_sub(before);
            if must_end(guide.work.taken) {
                return Err(too_little_memory());
            }
        }
        Ok(guide)
    }
}
