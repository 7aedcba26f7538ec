//! Names of documents' masks, by the ingredients of their compositions.

use crate::mask::json::cache::composition::{Ingredient, MaskComposition};
use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::mask_name::MaskName;
use crate::pushdown::json::frame::FrameId;

/// Masks with more single tokens than this have no name.
const MOST_TOKENS: usize = 64;

/// Adds an ingredient to a name.
fn name_part(name: &mut MaskName, part: Ingredient) {
    name.part(part.name(), part);
}

/// Adds what a composition lists. False if that is too much for a name.
fn name_composition(name: &mut MaskName, composition: &MaskComposition) -> bool {
    if composition.tokens().len() > MOST_TOKENS {
        return false;
    }
    name.number(composition.tokens().len() as u64);
    composition.tokens().iter().for_each(|&t| name.number(t.into()));
    composition.parts().iter().for_each(|part| name_part(name, part.clone()));
    true
}

impl JsonMaskBuilder<'_> {
    /// Adds what the row is made of that [`fill_known`](Self::fill_known) would write. False, with anything added, if
    /// that is not known, or too much for a name.
    pub fn name_known(
        &mut self,
        mask_cache: &MaskCache,
        top: FrameId,
        probe: &mut CacheProbe,
        name: &mut MaskName,
    ) -> bool {
        if let Some(text) = self.known_text_at(top) {
            name.number(0);
            name_part(name, Ingredient::Inner(text.mask.clone()));
            let closing = &text.closing;
            let rest = (!closing.rest.is_empty()).then_some(&closing.rest);
            closing.core.iter().chain(rest).for_each(|patch| name_part(name, Ingredient::Allow(patch.clone())));
            return true;
        }
        if !self.is_described(mask_cache, top, probe) {
            return false;
        }
        let parent = self.frames.arena.nodes[top as usize].parent;
        let named = mask_cache.find(&self.tables.patches, probe, |composition| {
            self.know_suffixes_by_tag(parent, &composition.suffixes_by_tag);
            name_composition(name, composition)
        });
        named == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::row_patch::patch;
    use std::sync::Arc;

    #[test]
    fn equal_names_are_of_equal_parts() {
        let (a, b) = (patch(vec![1, 40]), patch(vec![1, 40]));
        let name = |parts: &[Ingredient]| {
            let mut name = MaskName::default();
            parts.iter().for_each(|part| name_part(&mut name, part.clone()));
            name
        };
        let first = name(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]);
        assert_eq!(first.words(), name(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), name(&[Ingredient::Allow(b), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), name(&[Ingredient::Forbid(a.clone()), Ingredient::Blanks(3)]).words());
        assert_eq!(Arc::strong_count(&a), 2, "the name holds what it names");
    }

    #[test]
    fn long_compositions_have_no_name() {
        let mut composition = MaskComposition::default();
        composition.tokens.extend(0..MOST_TOKENS as u32);
        assert!(name_composition(&mut MaskName::default(), &composition));
        composition.tokens.push(100);
        assert!(!name_composition(&mut MaskName::default(), &composition));
    }
}
