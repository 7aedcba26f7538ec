//! The shapes of one rule, each once.
//!
//! Alternatives that differ in what a shape does not show, such as the reason why a key is forbidden, end in the same
//! shape. A union of thousands of alternatives is compared by hashes: pair by pair it would take longer than all else.

use hashbrown::HashTable;
use std::hash::{Hash, Hasher};

use crate::json::rules::ObjectShape;
use crate::util::seeded_hash::seeded;

/// Distinct shapes of objects, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Shapes {
    list: Vec<ObjectShape>,
    /// The hash of every shape in the list, once there are several.
    hashes: Vec<u64>,
    table: HashTable<u32>,
}

fn hash_of(s: &ObjectShape) -> u64 {
    let mut h = seeded();
    s.hash(&mut h);
    h.finish()
}

impl Shapes {
    /// Adds a shape that is not there yet.
    pub fn add(&mut self, shape: ObjectShape) {
        // Most rules have one shape, which is compared with nothing.
        if self.list.is_empty() {
            self.list.reserve_exact(1);
            self.list.push(shape);
            return;
        }
        if self.hashes.is_empty() {
            let first = hash_of(&self.list[0]);
            self.insert(first, 0);
        }
        let hash = hash_of(&shape);
        let list = &self.list;
        if self.table.find(hash, |&i| list[i as usize] == shape).is_none() {
            self.insert(hash, self.list.len() as u32);
            self.list.push(shape);
        }
    }

    fn insert(&mut self, hash: u64, i: u32) {
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, i, |&i| hashes[i as usize]);
    }

    /// Number of shapes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The shapes in the order in which they were added first.
    pub fn into_list(self) -> Vec<ObjectShape> {
        self.list
    }
}
