//! Masks that are made when a source is compiled, before any guide asks.
//!
//! A server compiles beside its other requests but fills masks while a whole batch waits, so masks that take long are
//! better made at compile time. These are the masks of states that many characters lead on from, over a set of
//! characters that nobody asked for yet, and of states just before these. The states near a lexeme's start are looked
//! at, nearest first, and the masks are made that will take long by the look of it, within bounds on both and on their
//! memory. Most patterns have a few. What is made is what a guide would have made, kept where a guide would keep it, so
//! nothing is answered differently.
//!
//! None are made where memory is short, nor for a long source, which takes its time anyway and of which a single state
//! may take as long as a compile. Of a schema, only strings with a pattern or a format have such masks; few are made,
//! and none where an intersection makes a single mask take milliseconds.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::util::cancel::{charge, poll, spent, uninterruptible};
use crate::util::memory_growth::is_crowded;
use crate::util::work_meter::{has_given_up, taken_here, too_large_states};
use crate::vocab::Vocabulary;

/// How far a lexeme is looked at.
struct EagerBounds {
    /// States that are looked at.
    states: usize,
    /// Masks that are made.
    masks: usize,
}

/// The bounds of a whole pattern.
const PATTERN: EagerBounds = EagerBounds { states: 64, masks: 10 };
/// The bounds of one string of a schema.
const STRING: EagerBounds = EagerBounds { states: 12, masks: 2 };
/// Masks of all strings of a schema.
const SCHEMA_MASKS: usize = 4;
/// Bytes of states and masks of all strings of a schema, after which no further string is looked at.
const SCHEMA_BYTES: usize = 4 << 20;
/// Bytes of a source beyond which none are made.
const SOURCE_BYTES: usize = 4096;
/// Steps of a compile that the masks of one lexeme and the states around its start may take. Few take a hundredth.
const MOST_STEPS: usize = 20_000;

/// Makes the masks of a whole pattern that are likely to be asked for and take long.
///
/// # Errors
/// What the watch of the compile says.
pub fn of_pattern(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    source_bytes: usize,
) -> Result<()> {
    if source_bytes > SOURCE_BYTES || is_crowded() || !lexeme.claim_eager() {
        return Ok(());
    }
    make(tables, vocabulary, lexeme, &PATTERN).map(drop).inspect_err(|_| lexeme.release_eager())
}

/// Makes the masks of the strings of a schema, whose source has so many bytes, that are likely to be asked for and take
/// long.
///
/// # Errors
/// What the watch of the compile says.
pub fn of_schema(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexemes: &[Arc<MaskedLexeme>],
    source_bytes: usize,
) -> Result<()> {
    if source_bytes > SOURCE_BYTES {
        return Ok(());
    }
    let (mut left, before) = (SCHEMA_MASKS, taken_here());
    for lexeme in lexemes {
        if left == 0 || is_crowded() || taken_here().wrapping_sub(before) > SCHEMA_BYTES {
            break;
        }
        // Whether it is one takes some counting.
        poll()?;
        if lexeme.claim_eager() && is_open_string(&lexeme.lexeme) {
            let made = make(tables, vocabulary, lexeme, &EagerBounds { masks: STRING.masks.min(left), ..STRING });
            left -= made.inspect_err(|_| lexeme.release_eager())?;
        }
    }
    Ok(())
}

/// Whether this is a string that neither lists its texts nor allows all.
fn is_open_string(l: &Lexeme) -> bool {
    /// A string of fewer texts counts as a list.
    const FEW_TEXTS: u64 = 1000;
    let is_string = l.kind() != LexemeKind::Raw && l.kind().has_any_text() && !l.is_any_text() && l.can_be_copied();
    is_string && l.has_many_texts(l.next(l.start(), b'"'), FEW_TEXTS).unwrap_or(true)
}

/// A state that was met, and what it looks like.
struct MetStates {
    state: StateId,
    /// The code points before it, on the shortest way.
    count: u32,
    /// Many bytes lead on.
    is_rich: bool,
    /// The states that follow, each with the number of tokens that begin with a byte to it.
    follows: Vec<(StateId, u32)>,
}

/// Makes masks of states near the start, unless they are known; how many.
fn make(tables: &VocabTables, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, bounds: &EagerBounds) -> Result<usize> {
    /// Tokens that begin with a byte to a rich state, from which on a mask takes long.
    const MANY_TOKENS: u32 = 400;
    /// Bytes of new states, after which no further mask is made: of so many states a request meets few.
    const MOST_BYTES: usize = 2 << 20;
    let held = lexeme.lexeme.memory_bytes();
    let mut left = MOST_STEPS;
    let met = look_around(tables, &lexeme.lexeme, bounds.states, &mut left)?;
    let rich: FxHashSet<StateId> = met.iter().filter(|m| m.is_rich).map(|m| m.state).collect();
    let is_long = |m: &&MetStates| {
        let before = || m.follows.iter().filter(|f| rich.contains(&f.0)).map(|f| f.1).sum::<u32>();
        m.is_rich || before() >= MANY_TOKENS
    };
    let mut made = 0;
    for m in met.iter().filter(is_long).take(bounds.masks) {
        if lexeme.lexeme.memory_bytes().saturating_sub(held) > MOST_BYTES || left == 0 {
            break;
        }
        if tables.known_mask(lexeme, m.state, m.count).is_none() {
            poll()?;
            finish(&lexeme.lexeme, &mut left, || {
                tables.submask(vocabulary, lexeme, m.state, m.count, TrieKind::Tokens, 0);
            })?;
            made += 1;
        }
    }
    Ok(made)
}

/// Does `work` to its end: a stop in the middle would leave states that are not what they should be. It takes steps off
/// `left`, and counts for the compile.
///
/// # Errors
/// `Limit` where a state needs more memory than it may take.
fn finish(l: &Lexeme, left: &mut usize, work: impl FnOnce()) -> Result<()> {
    let steps = uninterruptible(|| {
        work();
        spent()
    });
    charge(steps);
    *left = left.saturating_sub(steps);
    if has_given_up() && l.has_given_up() { Err(too_large_states(l.most_row_bytes())) } else { Ok(()) }
}

/// The states of a lexeme by their distance from the start, up to `most` of them, while steps are `left`; not those
/// inside of escapes and of characters beyond ASCII.
fn look_around(tables: &VocabTables, l: &Lexeme, most: usize, left: &mut usize) -> Result<Vec<MetStates>> {
    /// Bytes that lead on from a state, from which on these are many.
    const MANY_BYTES: usize = 9;
    let classes = l.byte_classes();
    // By class of bytes: one byte, how many begin a token, and how many tokens those begin.
    let mut ways: Vec<(u8, usize, u32)> = Vec::new();
    let mut way_of = [usize::MAX; 256];
    for first in tables.subtrees.firsts() {
        let way = &mut way_of[usize::from(classes[usize::from(first.byte)])];
        if *way == usize::MAX {
            *way = ways.len();
            ways.push((first.byte, 0, 0));
        }
        ways[*way].1 += 1;
        ways[*way].2 += first.tokens;
    }
    let is_text = l.kind() != LexemeKind::Raw;
    let mut met = vec![MetStates { state: l.start(), count: 0, is_rich: false, follows: Vec::new() }];
    let mut known: FxHashSet<StateId> = [l.start()].into_iter().collect();
    let mut at = 0;
    while let Some(&MetStates { state, count, .. }) = met.get(at)
        && *left > 0
    {
        poll()?;
        finish(l, left, || {
            let data = l.state(state);
            let behind = count + u32::from(is_text && !l.is_open(data));
            let (mut bytes, mut follows) = (0, Vec::new());
            for &(byte, alike, tokens) in &ways {
                let to = l.next_from(state, data, byte);
                if to <= CLOSED || (is_text && !l.live_at(l.state(to), behind)) {
                    continue;
                }
                bytes += alike;
                follows.push((to, tokens));
                let goes_on = byte.is_ascii() && !(is_text && byte == b'\\');
                if goes_on && met.len() < most && known.insert(to) {
                    met.push(MetStates { state: to, count: behind, is_rich: false, follows: Vec::new() });
                }
            }
            met[at].is_rich = bytes >= MANY_BYTES;
            met[at].follows = follows;
        })?;
        at += 1;
    }
    Ok(met)
}

#[cfg(test)]
mod tests;
