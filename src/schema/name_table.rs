//! The names in a schema, each once and by number.
//!
//! Properties and required keys of one schema repeat few names in thousands of places. So a name is read, hashed and
//! kept once, and is a number from then on.

use hashbrown::HashTable;
use std::hash::Hasher;
use std::sync::Arc;

use crate::util::seeded_hash::seeded;

/// A string of the schema.
pub type Name = u32;

/// Property names by number, each kept once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    /// Hashes, and places in that list.
    table: HashTable<(u64, u32)>,
}

fn hash_of(text: &str) -> u64 {
    let mut h = seeded();
    h.write(text.as_bytes());
    h.finish()
}

impl Names {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of a name.
    pub fn get(&self, name: Name) -> Option<&Arc<str>> {
        self.texts.get(name as usize)
    }

    /// The number of a text, which is new if it has none.
    pub fn intern(&mut self, text: &str) -> Name {
        self.intern_above(&Names::default(), text)
    }

    /// The number of a text where the names of `below` have the first numbers, and these the ones after them; new if it
    /// has none.
    pub fn intern_above(&mut self, below: &Names, text: &str) -> Name {
        let hash = hash_of(text);
        if let Some(name) = below.find(hash, text) {
            return name;
        }
        let first = below.len() as Name;
        if let Some(name) = self.find(hash, text) {
            return first + name;
        }
        let name = self.texts.len() as Name;
        self.texts.push(text.into());
        self.table.insert_unique(hash, (hash, name), |k| k.0);
        first + name
    }

    fn find(&self, hash: u64, text: &str) -> Option<Name> {
        let same = |&(h, i): &(u64, u32)| h == hash && self.texts.get(i as usize).is_some_and(|t| **t == *text);
        self.table.find(hash, same).map(|k| k.1)
    }
}

#[cfg(test)]
mod tests;
