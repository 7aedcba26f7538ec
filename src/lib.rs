//! interlock: exact constrained decoding.
//!
//! ```text
//! pattern | schema | grammar --frontend--> ir --automaton--> states ---+
//! tokenizer ------------------vocab------> Vocabulary --> trie --------+--> index --> guide --> bitmask --> logits
//! ```

pub mod automaton;
mod compile;
pub mod error;
pub mod frontend;
pub mod guide;
pub mod index;
pub mod ir;
pub mod limits;
pub mod mask_kernels;
#[cfg(feature = "python")]
mod python;
pub mod vocab;

pub use error::{Error, ErrorKind, Place, Result};
pub use guide::{Guide, GuideOptions};
pub use index::Index;
pub use limits::Limits;
pub use vocab::{Vocabulary, VocabularyOptions};
