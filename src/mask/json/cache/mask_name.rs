//! Names of masks: who has a row under a name need not be given it again.
//!
//! A mask is made of ingredients that other masks have too (see `recipe`), so the list of them says which row it is:
//! equal names mean equal rows, of whatever indexes of a vocabulary. The reverse does not hold; rows with different
//! names may be equal.
//!
//! Ingredients are named by their addresses. A name holds on to what it names, so an address stands for one ingredient
//! as long as the name exists.

use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Arc, Weak};

use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::cache::recipe::{Ingredient, MaskRecipe};
use crate::mask::json::masker::MaskBuilder;
use crate::pushdown::json::frame::FrameId;

/// Masks with more single tokens than this have no name.
const MOST_TOKENS: usize = 64;

/// What a mask consists of, as numbers.
pub type NameWords = SmallVec<[u64; 12]>;

/// The name of a mask.
#[derive(Clone, Default)]
pub struct MaskName {
    words: NameWords,
    held: SmallVec<[Held; 4]>,
}

/// What keeps an address from being given again.
#[derive(Clone)]
enum Held {
    Part { _part: Ingredient },
    Row { _row: Arc<[u32]> },
    Owner { _owner: Weak<dyn Any + Send + Sync> },
}

impl MaskName {
    /// What is compared.
    pub fn words(&self) -> &NameWords {
        &self.words
    }

    /// Adds a number. Who reads a name from the front must know by the numbers before what each of them means.
    pub fn number(&mut self, number: u64) {
        self.words.push(number);
    }

    /// Adds something with an address, such as the vocabulary. It is not kept alive, but its address is.
    pub fn owner<T: Any + Send + Sync>(&mut self, owner: &Arc<T>) {
        self.words.push(Arc::as_ptr(owner).cast::<u8>() as u64);
        let weak: Weak<T> = Arc::downgrade(owner);
        self.held.push(Held::Owner { _owner: weak });
    }

    /// Adds a whole row that is never written again.
    pub fn row(&mut self, row: &Arc<[u32]>) {
        self.words.push(Arc::as_ptr(row).cast::<u8>() as u64);
        self.held.push(Held::Row { _row: row.clone() });
    }

    /// Adds an ingredient.
    pub fn part(&mut self, part: Ingredient) {
        self.words.push(part.name());
        self.held.push(Held::Part { _part: part });
    }

    /// Adds what a recipe lists. False if that is too much for a name.
    fn recipe(&mut self, recipe: &MaskRecipe) -> bool {
        if recipe.tokens().len() > MOST_TOKENS {
            return false;
        }
        self.number(recipe.tokens().len() as u64);
        recipe.tokens().iter().for_each(|&t| self.number(t.into()));
        recipe.parts().iter().for_each(|part| self.part(part.clone()));
        true
    }
}

impl MaskBuilder<'_> {
    /// Adds what the row is made of that [`fill_known`](Self::fill_known) would write. False, with anything added, if
    /// that is not known, or too much for a name.
    pub fn name_known(&mut self, memo: &MaskCache, top: FrameId, asked: &mut CacheProbe, name: &mut MaskName) -> bool {
        if let Some(text) = self.known_text_at(top) {
            name.number(0);
            name.part(Ingredient::Inner(text.mask.clone()));
            let closing = &text.closing;
            let own = (!closing.own.is_empty()).then_some(&closing.own);
            closing.core.iter().chain(own).for_each(|patch| name.part(Ingredient::Allow(patch.clone())));
            return true;
        }
        if !self.is_described(memo, top, asked) {
            return false;
        }
        let parent = self.frames.arena.nodes[top as usize].parent;
        let named = memo.find(&self.tables.shares, asked, |recipe| {
            self.know_afters(parent, &recipe.afters);
            name.recipe(recipe)
        });
        named == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::json::cache::row_patch::patch;

    #[test]
    fn equal_names_are_of_equal_parts() {
        let (a, b) = (patch(vec![1, 40]), patch(vec![1, 40]));
        let name = |parts: &[Ingredient]| {
            let mut name = MaskName::default();
            parts.iter().for_each(|part| name.part(part.clone()));
            name
        };
        let first = name(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]);
        assert_eq!(first.words(), name(&[Ingredient::Allow(a.clone()), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), name(&[Ingredient::Allow(b), Ingredient::Blanks(3)]).words());
        assert_ne!(first.words(), name(&[Ingredient::Forbid(a.clone()), Ingredient::Blanks(3)]).words());
        assert_eq!(Arc::strong_count(&a), 2, "the name holds what it names");
    }

    #[test]
    fn an_address_is_not_given_again() {
        let owner = Arc::new(7u64);
        let mut name = MaskName::default();
        name.owner(&owner);
        let address = Arc::as_ptr(&owner) as u64;
        drop(owner);
        for n in 0..64 {
            assert_ne!(Arc::as_ptr(&Arc::new(n)) as u64, address);
        }
        assert_eq!(name.words()[0], address);
    }

    #[test]
    fn long_recipes_have_no_name() {
        let mut recipe = MaskRecipe::default();
        recipe.tokens.extend(0..MOST_TOKENS as u32);
        assert!(MaskName::default().recipe(&recipe));
        recipe.tokens.push(100);
        assert!(!MaskName::default().recipe(&recipe));
    }
}
