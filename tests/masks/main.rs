//! Masks: every bit, against slow twins that try every token.

#[path = "../../src/vocab/sample.rs"]
mod sample;
#[path = "../support/mod.rs"]
mod support;

mod character_slices;
mod declared_order;
mod escaped_keys;
mod literals;
mod mask_cache;
mod missing_bytes;
mod open_objects;
mod random_walks;
mod seen_keys;
mod shared_rows;
mod skipped_subtrees;

use interlock::{Vocabulary, VocabularyOptions}; // For `sample`, which the library has as well.
