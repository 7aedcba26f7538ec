//! Taking tokens: a step by a token's bytes, by a stop token, or by a special token of a grammar.

use crate::error::{Error, ErrorKind, Result};
use crate::guide::Guide;
use crate::guide::position::{Position, TableStep};
use crate::index::IndexEngine;
use crate::lexeme::CLOSED;
use crate::pushdown::json::arena::ArenaMark;
use crate::pushdown::json::frame::NONE;
use crate::pushdown::json::machine::JsonMachine;

impl Guide {
    /// Takes the token, or refuses it and changes nothing.
    ///
    /// # Errors
    /// `TokenRejected` if it is not allowed here, or the guide is terminated; `Argument` if there is no such id.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// guide.advance(u32::from(b'a'))?;
    /// let refused = guide.advance(u32::from(b'a')).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::TokenRejected);
    /// assert_eq!(guide.num_tokens(), 1, "a refused token changes nothing");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn advance(&mut self, id: u32) -> Result<()> {
        if self.try_advance(id) {
            return Ok(());
        }
        let size = self.index.vocabulary().size();
        if id as usize >= size {
            return Err(Error::new(ErrorKind::Argument, format!("token id {id} is out of range: the size is {size}")));
        }
        Err(Error::new(ErrorKind::TokenRejected, self.explain(id)))
    }

    /// Takes the token and answers true, or refuses it, changes nothing and answers false.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// assert!(guide.try_advance(u32::from(b'a')));
    /// assert!(!guide.try_advance(u32::from(b'c')));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn try_advance(&mut self, id: u32) -> bool {
        if (self.canonical_forced || self.is_early()) && self.is_withheld(id) {
            return false;
        }
        self.take(id)
    }

    /// [`try_advance`](Self::try_advance), whatever the request asked for beside its source and budget.
    pub(crate) fn take(&mut self, id: u32) -> bool {
        if self.terminated {
            return false;
        }
        if !self.outside.is_empty()
            && let Some(due) = self.due_token()
        {
            if id == due {
                self.take_due(id);
            }
            return id == due;
        }
        if self.stops.contains(&id) {
            if !self.is_accepting() {
                return self.take_last(id);
            }
            let place = self.position_and_mark();
            self.history.push(id, place);
            self.terminated = true;
            return true;
        }
        if let Position::Grammar { .. } = self.position
            && let IndexEngine::Grammar(grammar) = &self.index.0.engine
            && !grammar.program.token_sets.is_empty()
        {
            return self.try_advance_special(id);
        }
        // A copy of the few bytes leaves the index's references alone, which all threads count on one line of memory.
        let Some(bytes) = self.root.vocabulary().spelling(id) else { return self.try_advance_special(id) };
        let bytes = &*smallvec::SmallVec::<[u8; 32]>::from_slice(bytes);
        match self.next_on_tables(bytes) {
            TableStep::Refused => return false,
            TableStep::State(to) => {
                let place = self.position_and_mark();
                self.position = Position::Tables(to);
                self.history.push(id, place);
                self.advance_run(bytes);
                return true;
            }
            TableStep::Elsewhere if !self.leave_tables() => return false,
            TableStep::Elsewhere => {
                self.make_room();
                self.seal_history();
            }
        }
        let (before, mark) = self.position_and_mark();
        if self.is_spent() || self.is_refused_everywhere(id) {
            return false;
        }
        let is_grammar = matches!(self.position, Position::Grammar { .. });
        let taken = match is_grammar {
            true => self.metered(|guide| guide.step_bytes(bytes)).unwrap_or(false),
            false => self.step_bytes(bytes),
        };
        if !taken {
            self.loses_given_up();
            return false;
        }
        self.settle_down(&mark);
        let is_affordable = self.push_reserve_metered(id);
        if self.loses_given_up() {
            return false;
        }
        if !is_affordable {
            self.go_back_to(before, &mark);
            return false;
        }
        self.history.push(id, (before, mark));
        self.advance_run(bytes);
        true
    }

    /// The number of the position, and what rolls a document's frames back to it: what the history keeps of it.
    pub(super) fn position_and_mark(&self) -> (u32, ArenaMark) {
        match &self.position {
            Position::Pattern(s) => (*s, ArenaMark::default()),
            Position::Document { arena, top } => (*top, arena.mark()),
            Position::Grammar { at, .. } => (*at, ArenaMark::default()),
            Position::Tables(s) => (u32::from(*s), ArenaMark::default()),
            Position::Lost(_) => (0, ArenaMark::default()),
        }
    }

    /// Steps by bytes; on refusal the position is what it was.
    pub(super) fn step_bytes(&mut self, bytes: &[u8]) -> bool {
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) => {
                let mut s = *state;
                for &b in bytes {
                    s = l.lexeme.next(s, b);
                    if s <= CLOSED {
                        return false;
                    }
                }
                if self.index.0.live.as_ref().is_some_and(|live| !live.is_live(s)) {
                    return false;
                }
                *state = s;
                true
            }
            (IndexEngine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let mut frames = JsonMachine { program, arena };
                let mut at = *top;
                let mut rest = bytes;
                while let Some((&byte, after)) = rest.split_first() {
                    if let Some((next, read)) = frames.step_inside(at, rest) {
                        (at, rest) = (next, &rest[read..]);
                        continue;
                    }
                    (at, rest) = (frames.step(at, byte), after);
                    if at == NONE {
                        arena.truncate(&mark);
                        return false;
                    }
                }
                *top = at;
                true
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                let next = grammar.program.machine(stack).step_bytes(*at, bytes);
                *at = next.unwrap_or(*at);
                next.is_some()
            }
            _ => false,
        }
    }

    /// Takes a token that a grammar may name: one that has no text, or any where it names some.
    pub(super) fn try_advance_special(&mut self, id: u32) -> bool {
        // An index from a file has an engine only where a guide has left its tables.
        if self.is_spent() {
            return false;
        }
        let Position::Grammar { stack, at } = &mut self.position else { return false };
        let IndexEngine::Grammar(grammar) = &self.index.0.engine else { return false };
        let before = *at;
        let mut machine = grammar.program.machine(stack);
        let next = match self.root.vocabulary().spelling(id) {
            Some(bytes) => machine.step_bytes_or_token(before, bytes, id),
            None => machine.step_token(before, id),
        };
        let Some(next) = next else { return false };
        *at = next;
        self.run = None;
        if !self.push_reserve_metered(id) {
            self.go_back_to(before, &ArenaMark::default());
            return false;
        }
        self.history.push(id, (before, ArenaMark::default()));
        true
    }

    /// Takes a stop token that a grammar names here: it is a part of the output, and ends it.
    fn take_last(&mut self, id: u32) -> bool {
        if matches!(self.position, Position::Grammar { .. }) && self.index.is_last_token(id) {
            self.terminated = self.try_advance_special(id);
            self.ends_in_last = self.terminated;
        }
        self.terminated
    }

    /// Whether no document may contain the token, wherever its bytes would fit.
    pub(super) fn is_refused_everywhere(&self, id: u32) -> bool {
        let inner = &*self.index.0;
        let spelling = inner.tables.spelling.as_ref().filter(|_| matches!(inner.engine, IndexEngine::Document { .. }));
        spelling.is_some_and(|s| s.refuses(id))
    }

    /// Takes the longest allowed prefix of `ids` and returns its length.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// assert_eq!(guide.advance_many(&[97, 98, 99, 97]), 2);
    /// assert_eq!(guide.tokens(), [97, 98]);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn advance_many(&mut self, ids: &[u32]) -> usize {
        ids.iter().take_while(|&&id| self.try_advance(id)).count()
    }

    /// The length of the longest allowed prefix of `ids`; changes nothing.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// assert_eq!(guide.validate(&[97, 98, 99]), 2);
    /// assert_eq!(guide.num_tokens(), 0);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn validate(&mut self, ids: &[u32]) -> usize {
        let n = self.advance_many(ids);
        self.back(n);
        n
    }
}
