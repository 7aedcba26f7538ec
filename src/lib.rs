//! interlock: exact constrained decoding.
//!
//! A language model writes one token at a time. interlock turns a *source* (a pattern, a JSON Schema, a grammar or a
//! list of choices) and a *vocabulary* (the bytes of every token) into an *index*: an automaton whose states know which
//! tokens may come next. A *guide* is one request's cursor over a shared index. It fills the mask of allowed tokens,
//! takes the token that was sampled, goes back, and owns the end of the output.
//!
//! ```text
//! pattern ---regex---> expressions (expr) ---> lexeme: one lazy DFA ----------------------+
//! schema ---schema---> rules (json) ---compile---> program + lexemes (pushdown, lexeme) --+--> index
//! grammar ---grammar---> productions ---compile---> LR states + scanner (pushdown) -------+
//! tokenizer files ---vocab---> vocabulary: bytes, trie, fingerprint ----------------------+
//!                                                                                         |
//! logits <--mask_kernels-- bitmask <--mask-- guide (position, history) <------------------+
//! ```
//!
//! A mask allows a token if, and only if, valid output can still follow it. From every position there is a way to the
//! end. What cannot be enforced so is refused when the source is compiled, by an [`Error`] that says what and where. A
//! guide whose masks are more work, or memory, than [`Limits`] allow fails alone: see [`Guide::failure`].
//!
//! # Example
//!
//! One token per byte, and id 256 as the stop token:
//!
//! ```
//! use interlock::{GuideOptions, Index, Limits, SchemaOptions, Vocabulary, VocabularyOptions, Whitespace};
//!
//! let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
//! let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
//! let vocabulary = Vocabulary::new(&tokens, options)?;
//!
//! let schema = r#"{"type": "array", "items": {"enum": ["yes", "no"]}, "minItems": 1}"#;
//! let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
//! let index = Index::from_json_schema(schema, &vocabulary, &options, &Limits::default())?;
//! let mut guide = index.guide(&GuideOptions::default())?;
//!
//! assert_eq!(guide.forced_bytes(), br#"[""#);
//! for byte in br#"["y"# {
//!     guide.advance(u32::from(*byte))?;
//! }
//! assert!(!guide.try_advance(u32::from(b'n')), "refused; the guide is unchanged");
//!
//! // The mask: bit `t & 31` of word `t >> 5` is token `t`.
//! let mut words = vec![0; vocabulary.words()];
//! assert!(guide.fill_mask(&mut words));
//! let allowed: Vec<u8> = (0..=255u8).filter(|t| words[usize::from(t >> 5)] >> (t & 31) & 1 == 1).collect();
//! assert_eq!(allowed, b"e");
//!
//! for byte in br#"es"]"# {
//!     guide.advance(u32::from(*byte))?;
//! }
//! assert!(guide.is_accepting());
//! guide.advance(256)?;
//! assert!(guide.is_terminated());
//! # Ok::<(), interlock::Error>(())
//! ```
//!
//! # What is public
//!
//! The items of this page, [`vocab::load`] for tokenizer files, [`artifact`] for files of indexes and vocabularies, and
//! [`mask_kernels`] for logits. The other modules are the engine. They are reachable for the crate's own tests and
//! benchmarks, are not documented here, and may change in any version. The repository's `ARCHITECTURE.md` is the map of
//! them, and `docs/internals` explains each part with an example.
//!
//! # Features
//!
//! `python` builds the extension module of the Python package. Without it no Python is needed.

#![warn(missing_docs)]
// Pages of the engine link to its private items; `cargo doc --document-private-items` shows them.
#![allow(rustdoc::private_intra_doc_links)]

pub mod artifact;
mod compile;
#[doc(hidden)]
pub mod dfa;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod expr;
#[doc(hidden)]
pub mod grammar;
#[doc(hidden)]
pub mod guide;
#[doc(hidden)]
pub mod index;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lexeme;
#[doc(hidden)]
pub mod limits;
#[doc(hidden)]
pub mod mask;
pub mod mask_kernels;
#[doc(hidden)]
pub mod pushdown;
#[cfg(feature = "python")]
mod python;
#[doc(hidden)]
pub mod regex;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod util;
pub mod vocab;

pub use crate::compile::check::{check_choices, check_grammar, check_json_schema, check_regex};
pub use crate::compile::index_cache::{CacheStats, CompileCache};
pub use crate::compile::source::Source;
pub use crate::compile::{prepare, rehearse};
pub use crate::error::{Error, ErrorKind, Result, SourceExcerpt, SourcePlace};
pub use crate::grammar::model::Lexer;
pub use crate::grammar::{GrammarOptions, Syntax};
pub use crate::guide::Guide;
pub use crate::guide::GuideOptions;
pub use crate::guide::event_log::{CaptureState, EventPart, NewEvents};
pub use crate::guide::host_text_log::OutsidePart;
pub use crate::index::Index;
pub use crate::limits::Limits;
pub use crate::regex::{Dialect, RegexOptions};
pub use crate::schema::{
    Enforcement, Formats, OnUnsupported, PropertyOrder, ReportRow, SchemaOptions, Spelling, Whitespace,
};
pub use crate::vocab::{Vocabulary, VocabularyOptions};
