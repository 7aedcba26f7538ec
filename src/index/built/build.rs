//! Filling an index ahead of time.
//!
//! Two forms, with the answers of the lazy index in both. An index of few configurations gets its complete tables, and
//! guides copy a mask out of them. Any other (recursion, keys in any order, large counts) is filled by parts: every
//! state of every lexeme is explored, and the mask of each is made for every class of lengths that a mask can tell
//! apart. Guides then put masks together from parts that exist; what remains for first use is the part of a token that
//! opens a scalar in its middle.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::super::tables::{MaskedLexeme, Walked};
use super::super::{Engine, Index, Inner};
use super::Tables;
use super::classes::TokenClasses;
use crate::automaton::lexeme::{CLOSED, Kind, Lexeme, StateId};
use crate::error::{Error, ErrorKind, Result};
use crate::ir::INF;
use crate::work::go_on;

/// More configurations than this are filled by parts.
pub const MAX_CONFIGURATIONS: usize = 4_096;
/// Bytes of tables, and of masks of parts.
const MAX_BYTES: usize = 1 << 30;
/// More threads than any build can use.
const MAX_THREADS: usize = 1_024;
/// Masks of parts that are made between two reports of progress.
const CHUNK: usize = 64;

/// That an index is filled, and its tables where it has few configurations.
pub(crate) struct Built {
    pub tables: Option<Tables>,
    /// Classes of tokens, derived when somebody asks.
    classes: OnceLock<TokenClasses>,
}

impl Index {
    /// Makes everything ahead of time that guides would make on first use, on `threads` threads (by default as many as
    /// the machine has). The answers stay the same. `progress` is told what is done and how much there is in all, on
    /// the calling thread, and may stop the work by an error, which leaves the index as usable as it was. Does nothing
    /// if the index [`is_complete`](Index::is_complete).
    ///
    /// # Errors
    /// `Limit` if the lexemes have more than `max_states` states, with one mask each per class of lengths, or masks take
    /// more than 1 GiB; `Argument` for no threads or more than 1,024; what `progress` returns.
    ///
    /// # Cost
    /// For up to 4,096 configurations a step for each class of bytes and a mask each; beyond these at most a walk of the
    /// trie for each state of each lexeme and class of lengths.
    pub fn build(
        &self,
        threads: Option<usize>,
        max_states: usize,
        mut progress: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        if threads.is_some_and(|n| n == 0 || n > MAX_THREADS) {
            return Err(Error::new(ErrorKind::Argument, format!("threads must be 1 to {MAX_THREADS}")));
        }
        if self.is_complete() {
            return Ok(());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .build()
            .map_err(|e| Error::new(ErrorKind::Limit, format!("threads cannot be started: {e}")))?;
        self.compiled()?;
        let tables =
            match super::complete(self, max_states.min(MAX_CONFIGURATIONS), MAX_BYTES, Some(&pool), &mut progress) {
                Ok(tables) => Some(tables),
                // Too many configurations, or a vocabulary that narrows the source.
                Err(e) if matches!(e.kind(), ErrorKind::Limit | ErrorKind::Unsupported) => None,
                Err(e) => return Err(e),
            };
        if tables.is_none() {
            fill_parts(&self.0, &pool, max_states, &mut progress)?;
        }
        // Another thread may have built the same meanwhile.
        let _ = self.0.built.set(Built { tables, classes: OnceLock::new() });
        Ok(())
    }

    /// Whether [`build`](Index::build) has filled this index, or it came from a file with complete tables.
    pub fn is_complete(&self) -> bool {
        self.stored_tables().is_some_and(Tables::is_complete) || self.engine().is_some_and(|i| i.built.get().is_some())
    }

    /// The complete tables of an index of few configurations, built or from a file; `None` for any other.
    pub fn built(&self) -> Option<&Tables> {
        let stored = self.stored_tables().filter(|tables| tables.is_complete());
        stored.or_else(|| self.engine()?.built.get()?.tables.as_ref())
    }

    /// The classes of tokens that act alike in all states of the [`built`](Index::built) tables.
    ///
    /// # Cost
    /// The first time a walk of the trie per state, on all threads of the machine.
    pub fn token_classes(&self) -> Option<&TokenClasses> {
        let tables = self.built()?;
        let known = match self.stored_classes() {
            Some(known) => known,
            None => &self.engine()?.built.get()?.classes,
        };
        Some(known.get_or_init(|| TokenClasses::of(tables, self.vocabulary())))
    }
}

/// A mask to make: of a lexeme's state after so many code points.
type Part<'a> = (&'a MaskedLexeme, StateId, u32);

fn fill_parts(
    inner: &Inner,
    pool: &ThreadPool,
    max_states: usize,
    progress: &mut impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let lexemes: Vec<&Arc<MaskedLexeme>> = match &inner.engine {
        Engine::Pattern(lexeme) => vec![lexeme],
        // Keys without a name are any text.
        Engine::Document { lexemes, .. } => lexemes.iter().chain([&inner.tables.any_text]).collect(),
    };
    for masked in &lexemes {
        let l = &*masked.lexeme;
        if l.can_be_copied() {
            // Too many states are found out without keeping them.
            explore(&l.copied(), max_states)?;
        }
        masked.keep_masks(MAX_BYTES);
        let states = explore(l, max_states)?;
        if let Some(live) = &inner.live {
            live.keep_masks(MAX_BYTES);
            parts.extend(states.iter().map(|&s| (&***masked, s, 0)));
            continue;
        }
        let mut known = BTreeSet::new();
        for &state in &states {
            for count in counts(l) {
                if l.live_at(l.state(state), count) && known.insert((l.mask_state(state), l.count_key(count))) {
                    parts.push((masked, state, count));
                }
            }
            if parts.len() > max_states {
                return Err(Error::limit("masks of states", max_states as u64, parts.len() as u64));
            }
        }
    }
    let mut done = 0;
    for chunk in parts.chunks(CHUNK) {
        pool.install(|| chunk.par_iter().for_each(|part| make(inner, part)));
        let held: usize = lexemes.iter().map(|l| l.memory_bytes()).sum();
        if held > MAX_BYTES {
            return Err(Error::limit("bytes of masks", MAX_BYTES as u64, held as u64));
        }
        done += chunk.len();
        progress(done, parts.len())?;
    }
    Ok(())
}

fn make(inner: &Inner, &(masked, state, count): &Part<'_>) {
    match &inner.live {
        // A state from which no tokens lead on is never asked for its mask.
        Some(live) if live.is_live(state) => {
            live.mask(&masked.lexeme, &inner.vocabulary, state);
        }
        Some(_) => {}
        None => {
            inner.tables.submask(&inner.vocabulary, masked, state, count, Walked::Tokens, 0);
        }
    }
}

/// All states of a lexeme, in the order in which they are reached.
fn explore(l: &Lexeme, max_states: usize) -> Result<Vec<StateId>> {
    let classes = l.byte_classes();
    let bytes: Vec<u8> = (0..=255u8).filter(|&b| b == 0 || classes[b as usize] != classes[b as usize - 1]).collect();
    let mut states = vec![l.start()];
    let mut seen = BTreeSet::from([l.start()]);
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        for &b in &bytes {
            let to = l.next(state, b);
            if to > CLOSED && seen.insert(to) {
                states.push(to);
            }
        }
        if states.len() > max_states {
            return Err(Error::limit("states of a lexeme", max_states as u64, states.len() as u64));
        }
        go_on()?;
        at += 1;
    }
    Ok(states)
}

/// Numbers of code points, one at least of every class that a mask can tell apart: those near either bound, and one
/// that is far from both.
fn counts(l: &Lexeme) -> BTreeSet<u32> {
    let Kind::Text { min, max } = l.kind() else { return BTreeSet::from([0]) };
    if !l.is_bounded() {
        return BTreeSet::from([0]);
    }
    let reach = l.reach().any.saturating_add(l.growth().0).saturating_add(1);
    let top = if max == INF { min } else { max };
    let near = |bound: u32| bound.saturating_sub(reach)..=bound;
    near(min).chain(near(top)).chain([0, min.saturating_add(1).min(top)]).collect()
}
