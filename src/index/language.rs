//! What an index accepts, as byte strings: size, members, comparison with another index, and its minimal automaton.
//!
//! The answers are about the source's language over bytes, found by exploring configurations (see [`flat`](crate::dfa))
//! under `max_flat_states`, in a copy of the index that is forgotten afterwards. A configuration may take long by
//! itself, as one of a pattern with large counts does, so the steps of a question are bounded as well. An index over a
//! vocabulary that narrows its source by what tokens can spell is refused, because its language is not one of bytes
//! alone. A document is narrowed where tokens of single bytes are missing. A pattern that uses such bytes is asked
//! itself: it is not narrowed if tokens spell every member.

use rustc_hash::FxHashSet;

use crate::dfa::explore::ConfigSource;
use crate::dfa::language_comparison::QueryGoal;
use crate::dfa::language_size::Natural;
use crate::dfa::{FlatDfa, NO_SUCCESSOR, language_comparison, language_members};
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::index::{Index, IndexEngine};
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::util::cancel::{checkpoint, limited};
use crate::util::work_meter::unless_given_up;
use crate::vocab::Trie;

fn narrowed() -> Error {
    let message = "the vocabulary lacks tokens of single bytes that the source uses, so what the index accepts depends \
                   on its tokens; compile the source for a vocabulary with all single bytes";
    Error::new(ErrorKind::Unsupported, message).coded(ErrorCode::MissingByteTokens)
}

/// Whether a byte is a token of its own.
fn is_single(trie: &Trie, byte: u8) -> bool {
    trie.child(0, byte).is_some_and(|child| !trie.tokens(child).is_empty())
}

/// Whether tokens spell every member of a pattern's language. Goes over pairs of a state and the places in the trie
/// where the text so far may end, all ways of cutting it into tokens at once.
///
/// # Errors
/// `Limit` if there are more than `max_flat_states` of these.
fn is_spelled(lexeme: &Lexeme, tables: &VocabTables, trie: &Trie, max_flat_states: usize) -> Result<bool> {
    let used = lexeme.used_bytes();
    if (0..=255u8).all(|byte| !used[usize::from(byte)] || is_single(trie, byte)) {
        return Ok(true);
    }
    let start: (StateId, Vec<u32>) = (lexeme.start(), vec![0]);
    let mut met = FxHashSet::from_iter([start.clone()]);
    let mut open = vec![start];
    while let Some((at, nodes)) = open.pop() {
        // Between two tokens is the root.
        if lexeme.state(at).accepting && !nodes.contains(&0) {
            return Ok(false);
        }
        for byte in 0..=255u8 {
            let to = lexeme.next(at, byte);
            if to <= CLOSED {
                continue;
            }
            let child = |&node: &u32| tables.child(TrieKind::Tokens, node, byte);
            let children: Vec<u32> = nodes.iter().filter_map(child).collect();
            let mut nodes: Vec<u32> = children.iter().copied().filter(|&n| trie.end[n as usize] > n + 1).collect();
            nodes.extend(children.iter().any(|&n| !trie.tokens(n).is_empty()).then_some(0));
            if nodes.is_empty() {
                return Ok(false);
            }
            nodes.sort_unstable();
            let pair = (to, nodes);
            if met.insert(pair.clone()) {
                open.push(pair);
            }
        }
        if met.len() > max_flat_states {
            return Err(Error::limit("flat states", max_flat_states as u64, met.len() as u64).set_by("max_flat_states"));
        }
        checkpoint()?;
    }
    Ok(true)
}

/// Steps that a question may take for each configuration that its limit allows, of about 1 us each, and how many it may
/// take at least: the states of patterns with look-around or long counts take many steps each.
const STEPS: usize = 20;
const LEAST_STEPS: usize = 1 << 20;

/// Answers a question, which ends with a `Limit` error when it has taken too many steps.
fn bounded<T>(max_flat_states: usize, answer: impl FnOnce() -> Result<T>) -> Result<T> {
    let answer = || unless_given_up(answer);
    limited(max_flat_states.saturating_mul(STEPS).max(LEAST_STEPS), answer).map_err(|error| {
        match (error.limit_field(), error.limit_values()) {
            (Some("max_compile_steps"), Some((most, spent))) => {
                Error::limit("steps of a question about the language", most, spent).set_by("max_flat_states")
            }
            _ => error,
        }
    })
}

/// Questions about languages are answered for finite automata alone.
fn no_regular_language() -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "the index is of a grammar, which has no finite automaton: its language can't be counted, searched, compared \
         or built ahead of time",
    )
    .coded(ErrorCode::NoAutomaton)
}

impl Index {
    /// What tables are made of: where it is not narrowed but by tokens that nothing contains, its masks are those of
    /// bytes.
    ///
    /// # Errors
    /// `Unsupported` where some position is a dead end by tokens alone.
    pub(super) fn source(&self) -> Result<ConfigSource<'_>> {
        self.compiled()?;
        let inner = &*self.0;
        let is_narrowed = match &inner.engine {
            IndexEngine::Pattern(_) => inner.live.is_some(),
            IndexEngine::Document { .. } => inner.tables.spelling.is_some(),
            IndexEngine::Grammar(_) => return Err(no_regular_language()),
        };
        if is_narrowed {
            return Err(narrowed());
        }
        Ok(match &inner.engine {
            IndexEngine::Pattern(l) => ConfigSource::Lexeme(&l.lexeme),
            IndexEngine::Document { program, .. } => ConfigSource::Program(program),
            IndexEngine::Grammar(_) => return Err(no_regular_language()),
        })
    }

    /// A copy to explore, which the vocabulary does not narrow.
    fn explored(&self, max_flat_states: usize) -> Result<Index> {
        self.compiled()?;
        if let IndexEngine::Document { .. } | IndexEngine::Grammar(_) = &self.0.engine {
            self.source()?;
        }
        let copy = self.apart();
        match &copy.0.engine {
            IndexEngine::Pattern(l) => {
                let trie = self.vocabulary().trie();
                is_spelled(&l.lexeme, &copy.0.tables, trie, max_flat_states)?.then_some(()).ok_or_else(narrowed)?;
            }
            IndexEngine::Document { .. } | IndexEngine::Grammar(_) => {}
        }
        Ok(copy)
    }

    /// The automaton of complete tables, if all bytes on it are tokens of their own.
    fn built_flat(&self) -> Option<FlatDfa> {
        let flat = crate::index::tables::flat(self.built()?)?;
        let states = 0..flat.len() as u32;
        let is_used = |byte: u8| states.clone().any(|s| flat.step(s, byte) != NO_SUCCESSOR);
        let trie = self.vocabulary().trie();
        (0..=255).all(|byte| is_single(trie, byte) || !is_used(byte)).then_some(flat)
    }

    /// The minimal automaton over byte classes.
    ///
    /// # Errors
    /// `Limit` if the index has more than `max_flat_states` configurations, as with recursion, or finding them takes
    /// more than 20 steps each on average, or a million; `Unsupported` where the vocabulary narrows the source.
    pub fn flat(&self, max_flat_states: usize) -> Result<FlatDfa> {
        match self.built_flat() {
            Some(flat) if flat.len() <= max_flat_states => Ok(flat),
            _ => {
                self.compiled()?;
                bounded(max_flat_states, || FlatDfa::build(self.explored(max_flat_states)?.source()?, max_flat_states))
            }
        }
    }

    /// How many byte strings are accepted; `None` is without end.
    ///
    /// # Errors
    /// As [`flat`](Index::flat).
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("[ab]{3}", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// assert_eq!(index.language_size(1_000)?.expect("it is finite").to_le_bytes()[0], 8);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn language_size(&self, max_flat_states: usize) -> Result<Option<Natural>> {
        /// Digits to the base 2^32 that are added for each configuration that the limit allows.
        const DIGITS: usize = 1_000;
        self.flat(max_flat_states)?.size(max_flat_states.saturating_mul(DIGITS))
    }

    /// A shortest member, the least in byte order among those.
    ///
    /// # Errors
    /// `Limit` if it is more than `max_flat_states` configurations away; `Unsupported`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// assert_eq!(index.shortest_member(1_000)?, b"ab");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn shortest_member(&self, max_flat_states: usize) -> Result<Vec<u8>> {
        self.compiled()?;
        bounded(max_flat_states, || {
            language_members::shortest(self.explored(max_flat_states)?.source()?, max_flat_states)
        })
    }

    /// A random member of at most `max_bytes` bytes, the same for the same seed.
    ///
    /// # Errors
    /// `Unsatisfiable` if every member is longer; `Limit`; `Unsupported`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let member = index.random_member(1, 100, 1_000)?;
    /// assert!(member.starts_with(b"ab"));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn random_member(&self, seed: u64, max_bytes: usize, max_flat_states: usize) -> Result<Vec<u8>> {
        self.compiled()?;
        bounded(max_flat_states, || {
            language_members::random(self.explored(max_flat_states)?.source()?, seed, max_bytes, max_flat_states)
        })
    }

    /// A shortest member that `other` refuses, or `None` if `other` accepts all of them.
    ///
    /// # Errors
    /// `Limit` if more than `max_flat_states` pairs of configurations would have to be looked at; `Unsupported`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let letters = Index::from_regex("[ab]+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// assert_eq!(index.witness_not_in(&letters, 1_000)?, None, "it is a subset");
    /// assert_eq!(letters.witness_not_in(&index, 1_000)?, Some(b"a".to_vec()));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn witness_not_in(&self, other: &Index, max_flat_states: usize) -> Result<Option<Vec<u8>>> {
        self.witness(other, QueryGoal::OnlyInFirst, max_flat_states)
    }

    /// A shortest member that `other` accepts too, or `None` if they have nothing in common.
    ///
    /// # Errors
    /// As [`witness_not_in`](Index::witness_not_in).
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let long = Index::from_regex("a.{3}", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// assert_eq!(index.witness_in_both(&long, 1_000)?, Some(b"abab".to_vec()));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn witness_in_both(&self, other: &Index, max_flat_states: usize) -> Result<Option<Vec<u8>>> {
        self.witness(other, QueryGoal::InBoth, max_flat_states)
    }

    fn witness(&self, other: &Index, wanted: QueryGoal, max_flat_states: usize) -> Result<Option<Vec<u8>>> {
        self.compiled()?;
        other.compiled()?;
        bounded(max_flat_states, || {
            let (first, second) = (self.explored(max_flat_states)?, other.explored(max_flat_states)?);
            language_comparison::witness(first.source()?, second.source()?, wanted, max_flat_states)
        })
    }
}
