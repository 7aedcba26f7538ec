//! Identities of masks: who has the row of an identity need not be given it again.
//!
//! A mask is made of ingredients that other masks have too (see `composition`), so the list of them says which row it
//! is: equal identities mean equal rows, of whatever indexes of a vocabulary. The reverse does not hold; rows with
//! different identities may be equal.
//!
//! Ingredients are told by their addresses. An identity holds on to its ingredients, so an address stands for one of
//! them as long as the identity exists.

use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Arc, Weak};

/// What a mask consists of, as numbers.
pub type IdentityWords = SmallVec<[u64; 12]>;

/// The identity of a mask.
#[derive(Clone, Default)]
pub struct MaskIdentity {
    words: IdentityWords,
    held: SmallVec<[Held; 4]>,
}

/// What keeps an address from being given again.
#[derive(Clone)]
enum Held {
    Part { _part: Arc<dyn Any + Send + Sync> },
    Row { _row: Arc<[u32]> },
    Owner { _owner: Weak<dyn Any + Send + Sync> },
}

impl MaskIdentity {
    /// What is compared.
    pub fn words(&self) -> &IdentityWords {
        &self.words
    }

    /// Adds a number. Who reads an identity from the front must know by the numbers before what each of them means.
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

    /// Adds a patch that is never written again.
    pub fn patch(&mut self, patch: &Arc<[(u32, u32)]>) {
        self.part(Arc::as_ptr(patch).cast::<u8>() as u64, patch.clone());
    }

    /// Adds an ingredient: its number, and what keeps that number from being given again.
    pub fn part<T: Any + Send + Sync>(&mut self, number: u64, part: T) {
        self.words.push(number);
        self.held.push(Held::Part { _part: Arc::new(part) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_not_given_again() {
        let owner = Arc::new(7u64);
        let mut identity = MaskIdentity::default();
        identity.owner(&owner);
        let address = Arc::as_ptr(&owner) as u64;
        drop(owner);
        for n in 0..64 {
            assert_ne!(Arc::as_ptr(&Arc::new(n)) as u64, address);
        }
        assert_eq!(identity.words()[0], address);
    }
}
