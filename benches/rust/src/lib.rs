//! What the benchmarks written in Rust share: a vocabulary, sources with documents, and walks. Nothing here is random
//! or downloaded, so that the same compiler gives the same instructions everywhere.

#[path = "../../../tests/support/vocabulary.rs"]
pub mod small;
pub mod sources;
pub mod vocabulary;
pub mod walk;
