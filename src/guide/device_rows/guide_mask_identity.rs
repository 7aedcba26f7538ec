//! The identity of the mask where a guide is.

use crate::guide::Guide;
use crate::guide::mask::{CATCH_UP, mask_builder};
use crate::guide::position::Position;
use crate::index::{IndexEngine, IndexHandle};
use crate::mask::json::cache::composition::Ingredient;
use crate::mask::mask_identity::MaskIdentity;
use crate::pushdown::json::machine::JsonMachine;

/// More stop tokens than this are not written into identities.
const MOST_STOPS: usize = 8;

/// Where a mask comes from. It decides what the numbers behind it mean.
#[derive(Clone, Copy)]
enum Origin {
    OneToken,
    Tables,
    Pattern,
    Document,
    SpelledDocument,
    Grammar,
}

impl Guide {
    /// The identity of the mask that [`fill_mask`](Self::fill_mask) would write: guides with equal identities write
    /// equal rows, so whoever has the row of an identity need not be given it. `None` where the mask has no identity:
    /// after the end, where it is not known yet, under a budget and before `min_tokens`.
    ///
    /// # Cost
    /// That of a look at what is known, without copying a row.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("[a-z]+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let (mut one, mut other) = (index.guide(&GuideOptions::default())?, index.guide(&GuideOptions::default())?);
    /// one.fill_mask(&mut vec![0; vocabulary.words()]);
    /// let (first, second) = (one.mask_identity().unwrap(), other.mask_identity().unwrap());
    /// assert_eq!(first.words(), second.words());
    /// other.advance(u32::from(b'a'))?; // now it may end
    /// other.fill_mask(&mut vec![0; vocabulary.words()]);
    /// assert_ne!(first.words(), other.mask_identity().unwrap().words());
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn mask_identity(&mut self) -> Option<MaskIdentity> {
        if self.terminated || matches!(self.position, Position::Lost(_)) {
            return None;
        }
        let mut identity = MaskIdentity::default();
        identity.owner(self.root.vocabulary());
        let only = match self.due_token() {
            None if self.canonical_forced => self.known_canonical()?,
            due => due,
        };
        if let Some(token) = only {
            identity.number(Origin::OneToken as u64);
            identity.number(token.into());
            return Some(identity);
        }
        if self.is_full() || !self.is_unconcerned() || self.is_early() || self.stops.len() > MOST_STOPS {
            return None;
        }
        let accepting = self.is_accepting();
        identity.number(u64::from(accepting) | (self.stops.len() as u64) << 1);
        self.stops.iter().for_each(|&stop| identity.number(stop.into()));
        (self.identify_by_tables(&mut identity) || self.identify_by_engine(&mut identity)).then_some(identity)
    }

    /// As `fill_from_tables`. Adds nothing if it answers false.
    fn identify_by_tables(&mut self, identity: &mut MaskIdentity) -> bool {
        let near = self.history.len() < self.flat.len() + CATCH_UP;
        let Some(state) = near.then(|| self.table_state()).flatten() else { return false };
        let Some(mask) = self.tables().map(|tables| tables.parts().mask_of[state as usize]) else { return false };
        identity.number(Origin::Tables as u64);
        match &self.root.0 {
            IndexHandle::Compiled(inner) => identity.owner(inner),
            IndexHandle::Mapped(mapped) => identity.owner(mapped),
        }
        identity.number(mask.into());
        true
    }

    /// As `fill_from_known`.
    fn identify_by_engine(&mut self, identity: &mut MaskIdentity) -> bool {
        if let Position::Tables(_) = self.position {
            return false;
        }
        let inner = &*self.index.0;
        match (&inner.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) if inner.live.is_none() => {
                let Some(mask) = inner.tables.known_mask(l, *state, 0) else { return false };
                identity.number(Origin::Pattern as u64);
                let part = Ingredient::Inner(mask.clone());
                identity.part(part.id(), part);
                true
            }
            (IndexEngine::Document { program, lexemes }, Position::Document { arena, top }) => {
                let is_spelled = inner.tables.spelling.is_some();
                identity.number(if is_spelled { Origin::SpelledDocument } else { Origin::Document } as u64);
                let last = &mut self.last;
                let mut builder =
                    mask_builder(inner, lexemes, JsonMachine { program, arena }, &mut last.known, &mut []);
                builder.identify_known(&inner.memo, *top, &mut last.probe, identity)
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                identity.number(Origin::Grammar as u64);
                grammar.masker(&inner.tables, &inner.vocabulary).identify_known(
                    stack,
                    *at,
                    identity,
                    &mut self.last.documents,
                )
            }
            _ => false,
        }
    }
}
