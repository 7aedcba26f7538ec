//! Identities of documents' masks, by the ingredients of their compositions.

use crate::mask::json::cache::composition::{Ingredient, MaskComposition};
use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::mask_identity::MaskIdentity;
use crate::pushdown::json::frame::FrameId;

/// Masks with more single tokens than this have no identity.
const MOST_TOKENS: usize = 64;

/// Adds an ingredient to an identity.
fn add_part(identity: &mut MaskIdentity, part: Ingredient) {
    identity.part(part.id(), part);
}

/// Adds what a composition lists. False if that is too much for an identity.
fn identify_composition(identity: &mut MaskIdentity, composition: &MaskComposition) -> bool {
    if composition.tokens().len() > MOST_TOKENS {
        return false;
    }
    identity.number(composition.tokens().len() as u64);
    composition.tokens().iter().for_each(|&t| identity.number(t.into()));
    composition.parts().iter().for_each(|part| add_part(identity, part.clone()));
    true
}

impl JsonMaskBuilder<'_> {
    /// Adds what the row is made of that [`fill_known`](Self::fill_known) would write. False, with anything added, if
    /// that is not known, or too much for an identity.
    pub fn identify_known(
        &mut self,
        mask_cache: &MaskCache,
        top: FrameId,
        probe: &mut CacheProbe,
        identity: &mut MaskIdentity,
    ) -> bool {
        if let Some(text) = self.known_text_at(top) {
            identity.number(0);
            add_part(identity, Ingredient::Inner(text.mask.clone()));
            let closing = &text.closing;
            let rest = (!closing.rest.is_empty()).then_some(&closing.rest);
            closing.core.iter().chain(rest).for_each(|patch| add_part(identity, Ingredient::Allow(patch.clone())));
            return true;
        }
        if !self.is_described(mask_cache, top, probe) {
            return false;
        }
        let parent = self.frames.arena.nodes[top as usize].parent;
        let identified = mask_cache.find(&self.tables.patches, probe, |composition| {
            self.know_suffixes_by_tag(parent, &composition.suffixes_by_tag);
            identify_composition(identity, composition)
        });
        identified == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::row_patch::patch;
    use std::sync::Arc;

    #[test]
    fn equal_identities_are_of_equal_parts() {
        let (a, b) = (patch(vec![1, 40]), patch(vec![1, 40]));
        let identity = |parts: &[Ingredient]| {
            let mut identity = MaskIdentity::default();
            parts.iter().for_each(|part| add_part(&mut identity, part.clone()));
            identity
        };
        let first = identity(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]);
        assert_eq!(first.words(), identity(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), identity(&[Ingredient::Allow(b), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), identity(&[Ingredient::Forbid(a.clone()), Ingredient::Blanks(3)]).words());
        assert_eq!(Arc::strong_count(&a), 2, "the identity holds its ingredients");
    }

    #[test]
    fn long_compositions_have_no_identity() {
        let mut composition = MaskComposition::default();
        composition.tokens.extend(0..MOST_TOKENS as u32);
        assert!(identify_composition(&mut MaskIdentity::default(), &composition));
        composition.tokens.push(100);
        assert!(!identify_composition(&mut MaskIdentity::default(), &composition));
    }
}
