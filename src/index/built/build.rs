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
use super::BuiltTables;
use crate::automaton::lexeme::{CLOSED, Kind, Lexeme, StateId};
use crate::error::{Error, ErrorKind, Result};
use crate::ir::INF;

/// More configurations than this are filled by parts: each has a walk of the trie of its own in the tables.
const MAX_CONFIGURATIONS: usize = 4_096;
/// Bytes of tables, and of masks of parts.
const MAX_BYTES: usize = 1 << 30;
/// More threads than any build can use.
const MAX_THREADS: usize = 1_024;
/// Masks of parts that are made between two reports of progress.
const CHUNK: usize = 64;

/// That an index is filled, and its tables where it has few configurations.
pub(crate) struct Built {
    pub tables: Option<BuiltTables<Vec<u32>>>,
    distances: OnceLock<Vec<u32>>,
}

impl Built {
    /// For every state of the tables, the fewest tokens from it to where the output may end.
    pub fn distances(&self) -> &[u32] {
        self.distances.get_or_init(|| self.tables.as_ref().map(BuiltTables::distances).unwrap_or_default())
    }
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
    /// At most one walk of the trie for each of up to 4,096 configurations or, beyond these, for each state of each
    /// lexeme and class of lengths.
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
        let tables = match self.flat(max_states.min(MAX_CONFIGURATIONS)) {
            Ok(flat) => match super::build(&flat, self.vocabulary(), MAX_BYTES, &pool, &mut progress) {
                Ok(tables) => Some(tables),
                Err(e) if e.kind() == ErrorKind::Limit => None,
                Err(e) => return Err(e),
            },
            // Too many configurations, or a vocabulary that narrows the source.
            Err(e) if matches!(e.kind(), ErrorKind::Limit | ErrorKind::Unsupported) => None,
            Err(e) => return Err(e),
        };
        if tables.is_none() {
            fill_parts(&self.0, &pool, max_states, &mut progress)?;
        }
        // Another thread may have built the same meanwhile.
        let _ = self.0.built.set(Built { tables, distances: OnceLock::new() });
        Ok(())
    }

    /// Whether [`build`](Index::build) has filled this index.
    pub fn is_complete(&self) -> bool {
        self.0.built.get().is_some()
    }

    /// The complete tables of a built index of few configurations; `None` for any other.
    pub fn built(&self) -> Option<&BuiltTables<Vec<u32>>> {
        self.0.built.get().and_then(|b| b.tables.as_ref())
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
        let states = explore(l, max_states)?;
        if inner.live.is_some() {
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
