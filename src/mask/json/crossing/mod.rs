//! Crossing tokens: those that run past the end of the open lexeme.
//!
//! What a token spells behind the lexeme's end is its *suffix*. [`suffixes`] holds all suffixes of a vocabulary as a
//! trie. [`viable`] says which of them may follow a configuration, [`after_value`] and [`member_value`] answer that for
//! values and for members of objects. `interner` keeps each set of crossing tokens once, and `quote_tries` finds
//! crossing tokens of strings without their inner tokens. `past_document` asks what tokens tell of a document that ends
//! inside of them.

pub mod after_value;
pub(crate) mod interner;
pub mod member_value;
pub(crate) mod past_document;
pub(crate) mod plausible;
pub(crate) mod quote_tries;
pub(crate) mod signature_scope;
pub(crate) mod suffix_keys;
pub mod suffixes;
pub mod viable;
