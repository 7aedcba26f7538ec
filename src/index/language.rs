//! What an index accepts, as byte strings: size, members, comparison with another index, and its minimal automaton.
//!
//! The answers are about the source's language over bytes, found by exploring configurations (see
//! [`flat`](crate::automaton::flat)) under `max_flat_states`, in a copy of the index that is forgotten afterwards. An
//! index over a vocabulary that narrows its source by what tokens can spell is refused, because its language is not one
//! of bytes alone.

use super::{Engine, Index};
use crate::automaton::flat::Flat;
use crate::automaton::flat::count::Natural;
use crate::automaton::flat::explore::Source;
use crate::automaton::flat::language::{self, Wanted};
use crate::error::{Error, ErrorKind, Result};

impl Index {
    pub(super) fn source(&self) -> Result<Source<'_>> {
        self.compiled()?;
        let inner = &*self.0;
        let narrowed = match &inner.engine {
            Engine::Pattern(_) => inner.live.is_some(),
            Engine::Document { .. } => inner.tables.spelling.is_some(),
        };
        if narrowed {
            let message = "the vocabulary lacks tokens of single bytes that the source uses, so what the index accepts \
                           depends on its tokens; compile the source for a vocabulary with all single bytes";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok(match &inner.engine {
            Engine::Pattern(l) => Source::Lexeme(&l.lexeme),
            Engine::Document { program, .. } => Source::Program(program),
        })
    }

    /// A copy to explore.
    fn explored(&self) -> Result<Index> {
        self.source()?;
        Ok(self.apart())
    }

    /// The minimal automaton over byte classes.
    ///
    /// # Errors
    /// `Limit` if the index has more than `max_flat_states` configurations, as with recursion; `Unsupported` where the
    /// vocabulary narrows the source.
    pub fn flat(&self, max_flat_states: usize) -> Result<Flat> {
        match self.built().and_then(super::built::flat) {
            Some(flat) if flat.len() <= max_flat_states => Ok(flat),
            _ => Flat::build(self.explored()?.source()?, max_flat_states),
        }
    }

    /// How many byte strings are accepted; `None` is without end.
    ///
    /// # Errors
    /// As [`flat`](Index::flat).
    pub fn language_size(&self, max_flat_states: usize) -> Result<Option<Natural>> {
        /// Digits to the base 2^32 that are added for each configuration that the limit allows.
        const DIGITS: usize = 2_000;
        self.flat(max_flat_states)?.size(max_flat_states.saturating_mul(DIGITS))
    }

    /// A shortest member, the least in byte order among those.
    ///
    /// # Errors
    /// `Limit` if it is more than `max_flat_states` configurations away; `Unsupported`.
    pub fn shortest_member(&self, max_flat_states: usize) -> Result<Vec<u8>> {
        language::shortest(self.explored()?.source()?, max_flat_states)
    }

    /// A random member of at most `max_bytes` bytes, the same for the same seed.
    ///
    /// # Errors
    /// `Unsatisfiable` if every member is longer; `Limit`; `Unsupported`.
    pub fn random_member(&self, seed: u64, max_bytes: usize, max_flat_states: usize) -> Result<Vec<u8>> {
        language::random(self.explored()?.source()?, seed, max_bytes, max_flat_states)
    }

    /// A shortest member that `other` refuses, or `None` if `other` accepts all of them.
    ///
    /// # Errors
    /// `Limit` if more than `max_flat_states` pairs of configurations would have to be looked at; `Unsupported`.
    pub fn witness_not_in(&self, other: &Index, max_flat_states: usize) -> Result<Option<Vec<u8>>> {
        language::witness(self.explored()?.source()?, other.explored()?.source()?, Wanted::OnlyInFirst, max_flat_states)
    }

    /// A shortest member that `other` accepts too, or `None` if they have nothing in common.
    ///
    /// # Errors
    /// As [`witness_not_in`](Index::witness_not_in).
    pub fn witness_in_both(&self, other: &Index, max_flat_states: usize) -> Result<Option<Vec<u8>>> {
        language::witness(self.explored()?.source()?, other.explored()?.source()?, Wanted::InBoth, max_flat_states)
    }
}
