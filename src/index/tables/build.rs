//! Filling an index ahead of time.
//!
//! Two forms, with the answers of the lazy index in both. An index of few configurations gets its complete tables, and
//! guides copy a mask out of them. Any other (recursion, keys in any order, large counts) is filled by parts: the
//! states of every lexeme are explored, and the mask of each is made for every class of lengths that a mask can tell
//! apart. Guides then put masks together from parts that exist; what remains for first use is the part of a token that
//! opens a scalar in its middle.
//!
//! Parts are bounded: some lexemes have a hundred thousand states, of which a text meets a few dozen. Where states or
//! masks are more than the numbers below, not all of them are made, but a beginning: the masks nearest to the start of
//! each lexeme, of all lexemes in turn. An index is *complete* if nothing was left out; what was is made on first use,
//! as without a build.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::INF;
use crate::index::from_artifact::{RemakeSource, StoredIndex};
use crate::index::tables::DenseTables;
use crate::index::tables::token_classes::TokenClasses;
use crate::index::{Index, IndexCore, IndexEngine};
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::limits::MASK_BYTES;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::util::cancel::checkpoint;
use crate::util::parallel_map::in_order;
use crate::util::work_meter::unless_given_up;

/// More configurations than this are filled by parts.
pub const MAX_CONFIGURATIONS: usize = 4_096;
/// Bytes of tables.
const MAX_BYTES: usize = 1 << 30;
/// More threads than any build can use.
const MAX_THREADS: usize = 1_024;
/// States of lexemes that are explored for parts, in all. A lexeme takes half of what is left, the last one all of it.
const MAX_PART_STATES: usize = 12_288;
/// Masks of parts, and their bytes: a mask with a row of its own takes some ten times as long as one with a list.
const MAX_PARTS: usize = 1_024;
const MAX_PART_BYTES: usize = 4 << 20;
/// Masks of a beginning, where not all are made, and their bytes; masks of a lexeme of which not all states were
/// explored.
const BEGINNING: usize = 512;
const BEGINNING_BYTES: usize = 2 << 20;
const BEGINNING_OF_LEXEME: usize = 64;
/// Masks of parts that are made between two reports of progress, and two looks at their bytes.
const CHUNK: usize = 32;

/// What a build has made: that the index is filled, and its tables where it has few configurations.
pub(crate) struct CompleteIndex {
    pub tables: Option<DenseTables>,
    /// Whether nothing was left for first use.
    complete: bool,
    /// Classes of tokens, derived when somebody asks.
    classes: OnceLock<TokenClasses>,
}

impl Index {
    /// Makes ahead of time what guides would make on first use, on `threads` threads (by default as many as the machine
    /// has). The answers stay the same. `progress` is told what is done and how much there is in all, on the calling
    /// thread, and may stop the work by an error, which leaves the index as usable as it was. Does nothing if the index
    /// was built.
    ///
    /// An index of up to 4,096 configurations (`max_states` may say fewer) gets complete tables. Of any other, and of
    /// one whose source a vocabulary without tokens of single bytes narrows, masks of the states of its lexemes are
    /// made: of at most 12,288 states in all (half of what is left for a lexeme that is not the last, and `max_states`
    /// for any), at most 1,024 masks and 4 MiB. Where there are more, masks nearest to the starts are made, up to 512
    /// or 2 MiB, and [`is_complete`](Index::is_complete) stays false.
    ///
    /// # Errors
    /// `Argument` for no threads or more than 1,024; what `progress` returns.
    ///
    /// # Cost
    /// For up to 4,096 configurations a step for each class of bytes and a mask each; beyond these at most a walk of
    /// the trie for each mask.
    pub fn build(
        &self,
        threads: Option<usize>,
        max_states: usize,
        mut progress: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let threads = number_of(threads)?;
        if self.is_built() {
            return Ok(());
        }
        if let Some(tables) = self.make_tables(threads, max_states, &mut progress)? {
            // Another thread may have built the same meanwhile.
            let _ = self.0.built.set(CompleteIndex { tables: Some(tables), complete: true, classes: OnceLock::new() });
            return Ok(());
        }
        let complete = fill_parts(&self.0, threads, max_states, &mut progress)?;
        let _ = self.0.built.set(CompleteIndex { tables: None, complete, classes: OnceLock::new() });
        Ok(())
    }

    /// [`build`](Index::build) for a caller that can compile the source again: an index of few configurations comes
    /// back as one of its complete tables alone, which `remake` turns into the whole when more is asked of it. `None`
    /// if it was filled in place, or was built before.
    ///
    /// # Errors
    /// Those of a build.
    pub fn build_apart(
        &self,
        threads: Option<usize>,
        max_states: usize,
        remake: RemakeSource,
        mut progress: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Option<Index>> {
        let threads = number_of(threads)?;
        if self.is_built() {
            return Ok(None);
        }
        let Some(tables) = self.make_tables(threads, max_states, &mut progress)? else {
            let complete = fill_parts(&self.0, threads, max_states, &mut progress)?;
            let _ = self.0.built.set(CompleteIndex { tables: None, complete, classes: OnceLock::new() });
            return Ok(None);
        };
        let report = self.report().to_vec();
        Ok(Some(Index::stored(StoredIndex {
            vocabulary: self.vocabulary().clone(),
            fingerprint: self.fingerprint(),
            tables,
            read_report: Box::new(move || Some(report.clone())),
            remake,
        })))
    }

    fn make_tables(
        &self,
        threads: usize,
        max_states: usize,
        progress: &mut impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Option<DenseTables>> {
        self.compiled()?;
        let most = max_states.min(MAX_CONFIGURATIONS);
        match unless_given_up(|| crate::index::tables::complete(self, most, MAX_BYTES, threads, progress)) {
            Ok(tables) => Ok(Some(tables)),
            // Too many configurations, or a vocabulary that narrows the source.
            Err(e) if matches!(e.kind(), ErrorKind::Limit | ErrorKind::Unsupported) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether there is nothing left for a build to do.
    fn is_built(&self) -> bool {
        self.stored_tables().is_some_and(DenseTables::is_complete)
            || self.engine().is_some_and(|i| i.built.get().is_some())
    }

    /// Whether [`build`](Index::build) has made everything, or the index came from a file with complete tables.
    pub fn is_complete(&self) -> bool {
        self.stored_tables().is_some_and(DenseTables::is_complete)
            || self.engine().is_some_and(|i| i.built.get().is_some_and(|built| built.complete))
    }

    /// The complete tables of an index of few configurations, built or from a file; `None` for any other.
    pub fn built(&self) -> Option<&DenseTables> {
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
        Some(known.get_or_init(|| TokenClasses::from_tables(tables, self.vocabulary(), all_threads())))
    }
}

/// How many threads to work on.
fn number_of(threads: Option<usize>) -> Result<usize> {
    if threads.is_some_and(|n| n == 0 || n > MAX_THREADS) {
        return Err(Error::new(ErrorKind::Argument, format!("threads must be 1 to {MAX_THREADS}")));
    }
    Ok(threads.unwrap_or_else(all_threads))
}

/// The number of threads that the machine runs at once.
fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get()).min(MAX_THREADS)
}

/// A mask to make: of a lexeme's state after so many code points.
type BuildPart<'a> = (&'a MaskedLexeme, StateId, u32);

/// Makes masks of states of lexemes. Whether none was left out.
fn fill_parts(
    inner: &IndexCore,
    threads: usize,
    max_states: usize,
    progress: &mut impl FnMut(usize, usize) -> Result<()>,
) -> Result<bool> {
    let (mut parts, mut complete) = parts_of(inner, max_states)?;
    let mut most_bytes = MAX_PART_BYTES;
    if !complete || parts.len() > MAX_PARTS {
        complete = false;
        parts.truncate(BEGINNING);
        most_bytes = BEGINNING_BYTES;
    }
    let mut bytes = 0;
    for (chunk, from) in parts.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
        if bytes >= most_bytes {
            complete = false;
            break;
        }
        bytes += in_order(threads, chunk.len(), |i| make(inner, &chunk[i])).iter().sum::<usize>();
        progress(from + chunk.len(), parts.len())?;
    }
    Ok(complete)
}

/// The masks that could be made, the first of each lexeme before the second of any, and whether none is missing.
fn parts_of(inner: &IndexCore, max_states: usize) -> Result<(Vec<BuildPart<'_>>, bool)> {
    let lexemes: Vec<&Arc<MaskedLexeme>> = match &inner.engine {
        IndexEngine::Pattern(lexeme) => vec![lexeme],
        // Keys without a name are any text: a few states, so what comes last may take nearly all.
        IndexEngine::Document { program, lexemes } => {
            [inner.tables.any_text_with(program.key_escapes())].into_iter().chain(lexemes).collect()
        }
        IndexEngine::Grammar(grammar) => grammar.lexemes.iter().flatten().collect(),
    };
    // Masks of each lexeme with their rank in it: all lexemes have their turn.
    let mut parts: Vec<(usize, BuildPart<'_>)> = Vec::new();
    let mut complete = true;
    let mut known = FxHashSet::default();
    let mut left = MAX_PART_STATES;
    for (i, masked) in lexemes.iter().enumerate() {
        let l = &*masked.lexeme;
        // One that has made many masks already keeps these as well.
        masked.keep_masks(MASK_BYTES + MAX_PART_BYTES);
        // No lexeme takes so many that nothing is left for those that follow.
        let share = if i + 1 < lexemes.len() { left / 2 } else { left };
        let share = share.min(max_states).max(1);
        let (states, all) = explore(l, share, inner.limits.max_state_bytes / 2)?;
        left = left.saturating_sub(states.len());
        complete &= all;
        if let Some(live) = &inner.live {
            live.keep_masks(MASK_BYTES + MAX_PART_BYTES);
            parts.extend(states.iter().map(|&s| (&***masked, s, 0)).enumerate());
            continue;
        }
        let classes = counts(l);
        let most = if all { MAX_PARTS } else { BEGINNING_OF_LEXEME };
        let mut rank = 0;
        for &state in &states {
            for &count in &classes {
                // Nothing is read at the start of a string.
                if count > 0 && state == l.start() {
                    break;
                }
                let key = match l.room_and_need(count) {
                    // One walk makes the masks of all rooms.
                    key if l.has_rooms(key) => (0, 0),
                    key => key,
                };
                let bounds = (key != (INF, 0) && key != (0, 0)).then_some(l.kind());
                let of = if key == (INF, 0) { l.mask_state(state) } else { state };
                let of = (masked.number(), of, key, bounds);
                if l.live_at(l.state(state), count) && known.insert(of) {
                    parts.push((rank, (masked, state, count)));
                    rank += 1;
                }
            }
            if rank > most {
                break;
            }
        }
    }
    parts.sort_by_key(|part| part.0);
    Ok((parts.into_iter().map(|(_, part)| part).collect(), complete))
}

/// Makes a mask. Its bytes.
fn make(inner: &IndexCore, &(masked, state, count): &BuildPart<'_>) -> usize {
    match &inner.live {
        // A state from which no tokens lead on is never asked for its mask.
        Some(live) if live.is_live(state) => live.mask(&masked.lexeme, &inner.vocabulary, state).bytes(),
        Some(_) => 0,
        None => {
            let mask = inner.tables.submask(&inner.vocabulary, masked, state, count, TrieKind::Tokens, 0);
            mask.memory_bytes()
        }
    }
}

/// The states of a lexeme, in the order in which they are reached, up to so many of them and until its states take so
/// many bytes; and whether these are all. Never so many that guides would take the lexeme to be full.
fn explore(l: &Lexeme, most: usize, most_bytes: usize) -> Result<(Vec<StateId>, bool)> {
    let bytes = l.bytes_of_classes();
    let mut states = vec![l.start()];
    let mut seen = FxHashSet::from_iter([l.start()]);
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        if l.can_be_copied() && l.is_full(most_bytes) {
            return Ok((states, false));
        }
        for &b in &bytes {
            let to = l.next(state, b);
            if to > CLOSED && seen.insert(to) {
                if states.len() >= most {
                    return Ok((states, false));
                }
                states.push(to);
            }
        }
        checkpoint()?;
        at += 1;
    }
    Ok((states, true))
}

/// Numbers of code points, one at least of every class that a mask can tell apart: those near either bound, and one
/// that is far from both.
fn counts(l: &Lexeme) -> BTreeSet<u32> {
    let LexemeKind::Text { min, max, .. } = l.kind() else { return BTreeSet::from([0]) };
    if !l.is_bounded() {
        return BTreeSet::from([0]);
    }
    let reach = l.reach().any.saturating_add(l.growth().0).saturating_add(1);
    let top = if max == INF { min } else { max };
    let near = |bound: u32| bound.saturating_sub(reach)..=bound;
    near(min).chain(near(top)).chain([0, min.saturating_add(1).min(top)]).collect()
}
