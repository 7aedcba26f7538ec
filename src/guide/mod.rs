//! The guide: one request's cursor over a shared index.
//!
//! A guide owns its position and its history and nothing else. Every token that it advances by records where the
//! guide was before, so rolling back is a truncation and unbounded. The guide owns the end: stop tokens are a set,
//! allowed exactly where the output may end, and taking one terminates the guide until it is rolled back.

mod advance;
mod budget;
pub mod device_rows;
mod draft;
pub mod event_log;
mod events;
mod explain;
pub mod forced;
pub(crate) mod history;
mod host_text;
pub mod host_text_log;
pub(crate) mod last_answers;
mod mask;
mod min_tokens;
mod new_guide;
mod options;
mod overflow;
mod position;
mod precomputed_tables;
mod stop_tokens;
pub mod warm_up;

use std::sync::Arc;

use crate::guide::budget::completions::CompletionGraph;
use crate::guide::budget::plan::Budget;
use crate::guide::last_answers::{KnownCanonical, LastMask, LastRun, PieceStart};

use crate::error::{Error, ErrorKind, Result, counted};
use crate::guide::event_log::EventLog;
use crate::guide::history::History;
use crate::guide::host_text_log::HostText;
pub use crate::guide::options::GuideOptions;
use crate::guide::position::Position;
use crate::index::{Index, IndexEngine};
use crate::pushdown::json::arena::{Arena, ArenaMark};
use crate::pushdown::json::frame::FrameKind;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::work_meter::WorkAccount;

/// One request's cursor over a shared index: its position, its history and the end of its output.
#[derive(Clone)]
pub struct Guide {
    /// What the guide was made of.
    root: Index,
    /// Where it is now: the same, or a younger copy of it.
    index: Index,
    moves: Vec<overflow::OverflowMove>,
    stops: Arc<[u32]>,
    position: Position,
    history: History,
    terminated: bool,
    /// The stop token that ended the output belongs to it: a grammar names it.
    ends_in_last: bool,
    last: LastMask,
    run: Option<LastRun>,
    budget: Option<Budget>,
    /// What completes documents, as far as it was found. Forks share it until one of them finds more.
    rests: Option<Arc<CompletionGraph>>,
    /// States of the index's complete tables, where it has them: at the start and after each token, as far as a mask
    /// was asked for.
    flat: Vec<u16>,
    context: Arc<[u32]>,
    places: Vec<PieceStart>,
    min_tokens: usize,
    canonical_forced: bool,
    canonical: Option<KnownCanonical>,
    /// What it may still spend on masks that are new.
    work: WorkAccount,
    /// The same for what its budget asks.
    budget_work: WorkAccount,
    /// Texts from outside, in the order of the output.
    outside: Vec<HostText>,
    /// What was given of the output's events, if anybody asked.
    events: Option<Box<EventLog>>,
}

/// Where a guide is in its output, so that its mask there can be told from others.
#[cfg(feature = "python")]
#[derive(PartialEq, Eq)]
pub(crate) struct GuidePlace {
    tokens: Vec<u32>,
    outside: Vec<HostText>,
}

impl Guide {
    /// Where it is.
    #[cfg(feature = "python")]
    pub(crate) fn place(&self) -> GuidePlace {
        GuidePlace { tokens: self.tokens(), outside: self.outside.clone() }
    }

    /// Goes on as a copy of itself, which is at the same place and made the mask there: with what it found and spent.
    /// Of the output's events those were given that this guide gave.
    #[cfg(feature = "python")]
    pub(crate) fn continue_as(&mut self, copy: Guide) {
        let events = self.events.take();
        *self = copy;
        self.events = events;
    }

    fn go_to_start(&mut self) {
        // Budgets are of the engine.
        if self.budget.is_none() && self.index.stored_tables().is_some() {
            self.position = Position::Tables(0);
            return;
        }
        self.go_to_engine();
    }

    fn go_to_engine(&mut self) {
        self.position = match &self.index.0.engine {
            IndexEngine::Pattern(l) => Position::Pattern(l.lexeme.start()),
            IndexEngine::Document { program, .. } => {
                let mut arena = Box::new(Arena::with_room());
                let top = JsonMachine { program, arena: &mut arena }.start();
                Position::Document { arena, top }
            }
            IndexEngine::Grammar(grammar) => {
                let mut stack = Box::new(grammar.program.stack());
                let at = grammar.program.machine(&mut stack).start();
                Position::Grammar { stack, at }
            }
        };
    }

    /// The index.
    #[allow(clippy::misnamed_getters)] // Where the guide is now is its own business.
    pub fn index(&self) -> &Index {
        &self.root
    }

    /// The ids that end this output, ascending.
    pub fn stop_token_ids(&self) -> &[u32] {
        &self.stops
    }

    /// Takes back the last `n` tokens, a stop token included.
    ///
    /// # Errors
    /// `Argument` if there were fewer; the guide is unchanged then.
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
    /// guide.advance_many(&[97, 98, 256]);
    /// assert!(guide.is_terminated());
    /// guide.rollback(2)?;
    /// assert_eq!(guide.tokens(), [97]);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn rollback(&mut self, n: usize) -> Result<()> {
        if n > self.num_tokens() {
            return Err(Error::new(
                ErrorKind::Argument,
                format!("cannot roll back {}: the guide has taken {}", counted(n as u64, "token"), self.num_tokens()),
            ));
        }
        self.back(n);
        Ok(())
    }

    fn back(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        if let Position::Lost(loss) = &mut self.position {
            return loss.tokens.truncate(loss.tokens.len().saturating_sub(n));
        }
        let keep = self.history.len() - n;
        self.return_to(keep);
        self.drop_outside(keep);
        if let Some(log) = &mut self.events {
            log.go_back_to(keep);
        }
        self.flat.truncate(keep + 1);
        self.canonical = None;
        self.forget_places();
        if let Some(budget) = &mut self.budget {
            budget.back_to(keep);
        }
        (self.terminated, self.ends_in_last) = (false, false);
    }

    fn go_back_to(&mut self, before: u32, mark: &ArenaMark) {
        self.run = None;
        match &mut self.position {
            Position::Pattern(s) => *s = before,
            Position::Document { arena, top } => {
                arena.truncate(mark);
                self.last.known.go_back(arena);
                *top = before;
            }
            Position::Grammar { stack, at } => {
                stack.go_back_to(before);
                self.last.documents.clear();
                *at = before;
            }
            // States of tables have 16 bits.
            Position::Tables(s) => *s = before as u16,
            Position::Lost(_) => {}
        }
    }

    /// Back to the start, with no history.
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
    /// guide.advance_many(&[97, 98]);
    /// guide.reset();
    /// assert_eq!(guide.num_tokens(), 0);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn reset(&mut self) {
        self.index = self.root.clone();
        self.rests = None;
        self.moves.clear();
        self.history = History::default();
        self.outside.clear();
        if let Some(log) = &mut self.events {
            log.go_back_to(0);
        }
        self.flat.clear();
        if let Some(budget) = &mut self.budget {
            budget.back_to(0);
        }
        (self.terminated, self.ends_in_last) = (false, false);
        self.last = LastMask::default();
        self.run = None;
        self.places.clear();
        self.canonical = None;
        self.work = WorkAccount::default();
        self.budget_work = WorkAccount::default();
        self.go_to_start();
    }

    /// Whether the output may end here: it is complete, and a stop token is allowed unless
    /// [`min_tokens`](GuideOptions::min_tokens) asks for more. True as well once one was taken.
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
    /// assert!(!guide.is_accepting());
    /// guide.advance_many(&[97, 98]);
    /// assert!(guide.is_accepting() && !guide.must_stop(), "it may end, and may go on");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn is_accepting(&mut self) -> bool {
        if !self.outside.is_empty() && self.due().is_some() {
            return false;
        }
        if let Some((tables, state)) = self.on_tables() {
            return tables.is_accepting(state);
        }
        if self.failure().is_some() {
            return false;
        }
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(s)) => l.lexeme.state(*s).accepting,
            (IndexEngine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let accepting = JsonMachine { program, arena }.is_accepting(*top);
                arena.truncate(&mark);
                accepting
            }
            (IndexEngine::Grammar(_), Position::Grammar { .. }) => {
                self.metered(Guide::is_grammar_complete).unwrap_or(false)
            }
            _ => false,
        }
    }

    fn is_grammar_complete(&mut self) -> bool {
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                grammar.program.machine(stack).is_accepting(*at)
            }
            _ => false,
        }
    }

    /// Whether the output may end here and nothing but its end can follow.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_choices(&["ab".to_owned()], &vocabulary, &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// guide.advance_many(&[97, 98]);
    /// assert!(guide.must_stop());
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn must_stop(&mut self) -> bool {
        if self.terminated || !self.is_accepting() {
            return false;
        }
        // Where bytes can follow, the vocabulary may have no tokens that spell them.
        if self.on_tables().is_some_and(|(tables, state)| tables.is_end(state)) {
            return true;
        }
        if let Position::Document { arena, top } = &self.position
            && arena.nodes[*top as usize].kind == FrameKind::Done
        {
            return true;
        }
        !self.may_go_on()
    }

    /// Whether a stop token was taken.
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// Number of tokens taken, a stop token included.
    pub fn num_tokens(&self) -> usize {
        match &self.position {
            Position::Lost(loss) => loss.tokens.len(),
            _ => self.history.len(),
        }
    }

    /// The tokens taken.
    pub fn tokens(&self) -> Vec<u32> {
        self.tokens_behind(0)
    }

    /// The tokens taken behind the first `count`.
    pub fn tokens_behind(&self, count: usize) -> Vec<u32> {
        match &self.position {
            Position::Lost(loss) => loss.tokens.iter().skip(count).copied().collect(),
            _ => self.history.iter().skip(count).map(|s| s.token).collect(),
        }
    }

    /// The ids that may come next, ascending; none after termination.
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
    /// guide.advance_many(&[97, 98]);
    /// assert_eq!(guide.allowed_token_ids(), [97, 256]);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn allowed_token_ids(&mut self) -> Vec<u32> {
        if self.terminated {
            return Vec::new();
        }
        let mut row = vec![0; self.index.vocabulary().words()];
        self.fill_mask(&mut row);
        let mut out = Vec::new();
        for (i, &w) in row.iter().enumerate() {
            let mut w = w;
            while w != 0 {
                out.push(i as u32 * 32 + w.trailing_zeros());
                w &= w - 1;
            }
        }
        out
    }

    /// The position as bytes, equal within one index exactly when two positions are the same: all that the guide's
    /// future depends on, but for its budget and its stop tokens.
    pub fn state_key(&self) -> Vec<u8> {
        let mut out = vec![self.terminated as u8];
        if let Some(due) = self.due() {
            out[0] |= 2;
            out.extend((due.len() as u64).to_le_bytes());
            out.extend(due.iter().flat_map(|id| id.to_le_bytes()));
        }
        // Guides of one index must agree, whether they are still on its tables or not.
        if let Some(state) = self.stored_state() {
            out.extend(state.to_le_bytes());
            return out;
        }
        if self.on_tables().is_some() {
            let mut twin = self.clone();
            return if twin.leave_tables() { twin.state_key() } else { out };
        }
        match &self.position {
            Position::Pattern(s) => {
                if let IndexEngine::Pattern(l) = &self.index.0.engine {
                    out.extend(l.lexeme.digest(*s));
                }
            }
            Position::Document { arena, top } => {
                if let IndexEngine::Document { program, .. } = &self.index.0.engine {
                    arena.describe_content(program, *top, &mut out);
                }
            }
            Position::Grammar { stack, at } => {
                stack.describe(*at, |word| out.extend(word.to_le_bytes()));
            }
            Position::Tables(_) | Position::Lost(_) => {}
        }
        out
    }
}
