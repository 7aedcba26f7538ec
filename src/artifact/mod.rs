//! Vocabularies and indexes in files.
//!
//! A *pack* is a file of one container format: a header that says what it is and for which vocabulary, a table of named
//! sections, and the sections, each with a checksum. [`mod@format`] is the container, [`vocabulary`] packs hold the
//! bytes of every token and the trie, ready to be read in place, and [`index`] packs hold what an index was made
//! from.
//!
//! What a reader may rely on:
//!
//! * *Whole or not at all.* A pack is written under another name in the same folder, synced and renamed. Nobody sees
//!   half of one, also after a crash, and a failure leaves nothing behind.
//! * *Checked before use.* Header and table are checked when a pack is opened, a section when it is first asked for.
//!   Checksums find damage; they do not stop an attacker, who can compute them too. So every number that is used as an
//!   index is checked as well, and a forged pack may describe another vocabulary but cannot make reading it unsafe.
//! * *Never changed.* Mapped files are replaced by renaming and never modified in place, see [`crate::util::mapped`].
//! * *Same input, same bytes.* Nothing in a pack depends on time, on threads or on what the process did before.
//!
//! A pack is read by the version of interlock that wrote it. Another version refuses it and names both.
//!
//! `docs/internals/tables-and-artifacts.md` has an example.

pub mod format;
pub mod index;
pub mod vocabulary;

pub use crate::artifact::format::{Pack, PackKind, PackWriter};
