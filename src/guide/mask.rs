//! Masks of a guide.
//!
//! A mask is filled in two steps. The first looks at what is known: tables, what the index remembers, masks of lexeme
//! states that were made before. That takes a copy of a row and little more, so a caller from Python need not release
//! the GIL for it. What is not known is made in the second step, which may walk the vocabulary.

use std::sync::Arc;

use crate::error::Error;
use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::{IndexCore, IndexEngine};
use crate::mask::json::cache::composition::copy_inner;
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::pushdown::json::frame::FrameKind;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::memory_growth::{must_end, too_little_memory};
use crate::util::work_meter::{Spent, has_given_up, metered_with, taken_here};

/// Tokens since the last mask that are still followed through tables in the first step.
pub(super) const CATCH_UP: usize = 64;

/// What fills `row` with the mask of a configuration.
pub(super) fn mask_builder<'a>(
    inner: &'a IndexCore,
    lexemes: &'a [Arc<MaskedLexeme>],
    frames: JsonMachine<'a>,
    guide_memo: &'a mut GuideMemo,
    row: &'a mut [u32],
) -> JsonMaskBuilder<'a> {
    JsonMaskBuilder::new(&inner.vocabulary, &inner.tables, lexemes, frames, guide_memo, row)
}

impl Guide {
    /// Writes the mask of the tokens that may come next: bit `t & 31` of word `t >> 5`. Words beyond the vocabulary
    /// become zero. Returns whether anything is masked: after termination the row is all ones and the answer false.
    ///
    /// # Panics
    /// If `words` is shorter than a row of the vocabulary; callers check.
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
    /// let mut words = vec![0; vocabulary.words()];
    /// assert!(guide.fill_mask(&mut words));
    /// let allowed = |token: usize| words[token >> 5] >> (token & 31) & 1 == 1;
    /// assert!(allowed(97) && !allowed(98) && !allowed(256));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn fill_mask(&mut self, words: &mut [u32]) -> bool {
        self.fill_known_mask(words).unwrap_or_else(|| self.fill_asked_mask(words))
    }

    /// [`fill_mask`](Self::fill_mask), if that takes no more than a look at what is known. `None` if it takes more;
    /// then the row may hold anything, and [`fill_asked_mask`](Self::fill_asked_mask) writes it.
    ///
    /// # Panics
    /// As `fill_mask`.
    pub(crate) fn fill_known_mask(&mut self, words: &mut [u32]) -> Option<bool> {
        if self.terminated {
            words.fill(u32::MAX);
            return Some(false);
        }
        if let Position::Lost(_) = self.position {
            words.fill(0);
            return Some(true);
        }
        let row = self.row_of(words);
        if let Some(due) = self.due_token() {
            row.fill(0);
            row[due as usize >> 5] = 1 << (due & 31);
            return Some(true);
        }
        self.last.looked = false;
        if self.fill_known_canonical(row)? {
            return Some(true);
        }
        // Plans of budgets may take long, and so may a younger index.
        if self.is_full() || !self.is_unconcerned() {
            return None;
        }
        let near = self.history.len() < self.flat.len() + CATCH_UP;
        if !(near && self.fill_from_tables(row) || self.fill_from_known(row)) {
            self.last.looked = true;
            return None;
        }
        self.allow_stops(row);
        Some(true)
    }

    /// Writes the mask that [`fill_known_mask`](Self::fill_known_mask) was just asked for and did not know.
    pub(crate) fn fill_asked_mask(&mut self, words: &mut [u32]) -> bool {
        let row = self.row_of(words);
        if self.fill_canonical(row) {
            return true;
        }
        self.make_room();
        let looked = std::mem::take(&mut self.last.looked);
        if !self.fill_from_tables(row) && (looked || !self.fill_from_known(row)) {
            self.fill_from_engine(row);
        }
        self.keep_affordable_metered(row);
        self.allow_stops(row);
        if self.loses_given_up() {
            row.fill(0);
        }
        true
    }

    /// The words of the vocabulary; those beyond become zero.
    fn row_of<'w>(&self, words: &'w mut [u32]) -> &'w mut [u32] {
        let n = self.index.vocabulary().words();
        assert!(words.len() >= n, "a mask row needs {n} words, got {}", words.len());
        let (row, rest) = words.split_at_mut(n);
        rest.fill(0);
        row
    }

    fn allow_stops(&mut self, row: &mut [u32]) {
        // Most places of a document are none where it may end, which the kind of the top node tells.
        let inside = match &self.position {
            Position::Document { arena, top } => {
                let n = &arena.nodes[*top as usize];
                let open = n.kind == FrameKind::Scalar && arena.nodes[n.parent as usize].kind == FrameKind::Root;
                n.kind != FrameKind::Done && !open
            }
            _ => false,
        };
        let is_grammar = matches!(self.position, Position::Grammar { .. });
        let accepting = !inside && self.is_accepting();
        let withheld = (accepting || is_grammar) && self.withholds_stops(row);
        for &s in self.stops.iter() {
            let bit = 1 << (s & 31);
            let word = &mut row[s as usize >> 5];
            // One that a grammar names where it is the last token of the output is there already.
            let is_last = is_grammar && *word & bit != 0 && self.index.is_last_token(s);
            *word = if (accepting || is_last) && !withheld { *word | bit } else { *word & !bit };
        }
    }

    /// Makes the mask, if it is neither known nor on tables; whether it was made and is known from now on. `row` holds
    /// anything afterwards. The guide has no budget, and room for new states.
    pub(super) fn make_mask(&mut self, row: &mut [u32]) -> bool {
        let inner = &*self.index.0;
        match (&inner.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) => {
                if inner.live.is_some() || inner.tables.known_mask(l, *state, 0).is_some() {
                    return false;
                }
            }
            (IndexEngine::Document { program, lexemes }, Position::Document { arena, top }) => {
                let last = &mut self.last;
                let mut builder = mask_builder(inner, lexemes, JsonMachine { program, arena }, &mut last.known, row);
                if builder.is_known(&inner.memo, *top, &mut last.probe) {
                    return false;
                }
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                let masker = grammar.masker(&inner.tables, &inner.vocabulary);
                if masker.fill_known(stack, *at, row, &mut self.last.documents) {
                    return false;
                }
                self.fill_new(row);
                return self.failure().is_none();
            }
            _ => return false,
        }
        self.fill_from_engine(row);
        self.last.probe.is_kept() || matches!(self.position, Position::Pattern(_))
    }

    /// The engine's mask, if it was made before.
    fn fill_from_known(&mut self, row: &mut [u32]) -> bool {
        let inner = &*self.index.0;
        match (&inner.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) if inner.live.is_none() => {
                let mask = inner.tables.known_mask(l, *state, 0);
                mask.map(|mask| copy_inner(mask, row)).is_some()
            }
            (IndexEngine::Document { program, lexemes }, Position::Document { arena, top }) => {
                let last = &mut self.last;
                let mut builder = mask_builder(inner, lexemes, JsonMachine { program, arena }, &mut last.known, row);
                let known = builder.fill_known(&inner.memo, *top, &mut last.probe);
                if known && let Some(spelling) = &inner.tables.spelling {
                    spelling.filter(row);
                }
                known
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                let masker = grammar.masker(&inner.tables, &inner.vocabulary);
                let known = masker.fill_known(stack, *at, row, &mut self.last.documents);
                if known {
                    self.keep_within_bounds(row);
                }
                known
            }
            _ => false,
        }
    }

    fn fill_from_engine(&mut self, row: &mut [u32]) {
        if let Position::Grammar { .. } = self.position {
            self.fill_by_engine(row);
        } else if self.with_memory_counted(|guide| guide.fill_and_pay(row)).is_none() {
            row.fill(0);
        }
        // What the vocabulary keeps grows in masks, too.
        self.index.0.tables.evict_grown();
    }

    /// The mask of a pattern or a document. It is made to its end, and a guide that has no steps left for it is lost
    /// then: states of counts inside of counts take long, each of them.
    fn fill_and_pay(&mut self, row: &mut [u32]) {
        let most = self.index.0.limits.max_mask_steps;
        let ((), Spent { steps, .. }) = metered_with(usize::MAX, 0, || self.fill_by_engine(row));
        // Where a part gave up, that is the error.
        if steps == 0 || steps == usize::MAX {
            return;
        }
        let left = self.work.left(most, self.history.len());
        self.work.pay(steps);
        if steps > left {
            self.lose(too_much_work("steps of the masks of an output", most, most - left + steps));
            row.fill(0);
        }
    }

    fn fill_by_engine(&mut self, row: &mut [u32]) {
        let inner = &*self.index.0;
        match (&inner.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) => {
                if let Some(live) = &inner.live {
                    row.fill(0);
                    live.mask(&l.lexeme, &inner.vocabulary, *state).or_into(row);
                    return;
                }
                copy_inner(&inner.tables.root_mask(&inner.vocabulary, l, *state), row);
            }
            (IndexEngine::Document { program, lexemes }, Position::Document { arena, top }) => {
                let last = &mut self.last;
                let mut builder = mask_builder(inner, lexemes, JsonMachine { program, arena }, &mut last.known, row);
                builder.fill_asked(&inner.memo, *top, &last.probe);
                if let Some(spelling) = &inner.tables.spelling {
                    spelling.filter(row);
                }
            }
            (IndexEngine::Grammar(_), Position::Grammar { .. }) => {
                self.fill_new(row);
                self.keep_within_bounds(row);
            }
            // A guide's position is made from its own index's engine.
            _ => row.fill(0),
        }
    }

    /// The mask of a grammar that is not known.
    fn fill_new(&mut self, row: &mut [u32]) {
        let made = self.metered(|guide| {
            let inner = &*guide.index.0;
            if let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) =
                (&inner.engine, &mut guide.position)
            {
                let masker = grammar.masker(&inner.tables, &inner.vocabulary);
                masker.fill(stack, *at, row, &mut guide.last.documents);
            }
        });
        if made.is_none() {
            row.fill(0);
        }
    }

    /// [`keep_affordable`](Self::keep_affordable), bounded as all work on masks: beyond that the guide is lost, and the
    /// row is empty.
    fn keep_affordable_metered(&mut self, row: &mut [u32]) {
        let kept = match self.position {
            Position::Grammar { .. } => self.metered_for_budget(|guide| guide.keep_affordable(row)),
            _ if self.budget.is_none() => Some(()),
            _ => self.with_plans_counted(|guide| guide.keep_affordable(row)),
        };
        if kept.is_none() {
            row.fill(0);
        }
    }

    /// [`push_reserve`](Self::push_reserve), bounded as all work on masks: beyond that the guide is lost, and the token
    /// refused.
    pub(super) fn push_reserve_metered(&mut self, token: u32) -> bool {
        match self.position {
            Position::Grammar { .. } => self.metered_for_budget(|guide| guide.push_reserve(token)).unwrap_or(false),
            _ if self.budget.is_none() => true,
            _ => self.with_plans_counted(|guide| guide.push_reserve(token)).unwrap_or(false),
        }
    }

    /// Does work over a pattern or a document, and counts the memory that it takes: a guide that took much is lost
    /// where there is none left. `None` then.
    fn with_memory_counted<T>(&mut self, work: impl FnOnce(&mut Guide) -> T) -> Option<T> {
        let before = taken_here();
        let answer = work(self);
        self.work.taken = self.work.taken.wrapping_add(taken_here().wrapping_sub(before));
        if self.failure().is_none() && must_end(self.work.taken) {
            self.lose(too_little_memory());
            return None;
        }
        Some(answer)
    }

    /// [`with_memory_counted`](Self::with_memory_counted) for what a budget asks of a document. The plans that were
    /// made are counted as well: where an output has a new one behind each of its tokens, and all are long, the guide
    /// is lost.
    fn with_plans_counted<T>(&mut self, work: impl FnOnce(&mut Guide) -> T) -> Option<T> {
        let most = self.index.0.limits.max_mask_steps;
        // What tokens gave back since is there to be paid.
        self.budget_work.left(most, self.history.len());
        let answer = self.with_memory_counted(work)?;
        if self.budget_work.left(most, self.history.len()) == 0 {
            self.lose(too_much_work("steps of the plans under max_tokens of an output", most, most + 1));
            return None;
        }
        Some(answer)
    }

    /// Does work over a grammar that may take long. It is bounded: beyond that the guide is lost, and this `None`.
    pub(super) fn metered<T>(&mut self, work: impl FnOnce(&mut Guide) -> T) -> Option<T> {
        let left = self.work.left(self.index.0.limits.max_mask_steps, self.history.len());
        let (answer, steps) = self.metered_within(left, work);
        self.work.pay(steps);
        answer
    }

    /// The same for what a budget asks at a mask, or at a token. A guide that has asked much leaves out tokens sooner,
    /// and is lost by what takes long all the same.
    fn metered_for_budget<T>(&mut self, work: impl FnOnce(&mut Guide) -> T) -> Option<T> {
        /// The part of all steps that is always left.
        const ALWAYS_LEFT: usize = 20;
        let most = self.index.0.limits.max_mask_steps;
        let left = self.budget_work.left(most, self.history.len()).max(most / ALWAYS_LEFT);
        let (answer, steps) = self.metered_within(left, work);
        self.budget_work.pay(steps);
        answer
    }

    fn metered_within<T>(&mut self, left: usize, work: impl FnOnce(&mut Guide) -> T) -> (Option<T>, usize) {
        let limits = self.index.0.limits;
        let (answer, spent) = metered_with(left, self.work.taken, || work(self));
        let steps = spent.steps;
        if steps == 0 {
            return (Some(answer), 0);
        }
        self.work.taken = spent.bytes;
        // States that terminals find on use are found beside those of the scanner, and bounded with them.
        let bytes = match &self.index.0.engine {
            IndexEngine::Grammar(grammar) => grammar.program.scanner.memory_bytes() + grammar.program.lr.memory_bytes(),
            _ => 0,
        };
        let given_up = has_given_up().then(|| self.index.given_up()).flatten();
        let error = if let Some(error) = given_up {
            error
        } else if spent.crowded {
            too_little_memory()
        } else if steps > left {
            too_much_work(
                "steps of the masks of a grammar",
                limits.max_mask_steps,
                limits.max_mask_steps - left + steps,
            )
        } else if bytes > limits.max_scanner_bytes {
            Error::limit("bytes of the states of a grammar", limits.max_scanner_bytes as u64, bytes as u64)
                .set_by("max_scanner_bytes")
        } else {
            return (Some(answer), steps);
        };
        self.lose(error);
        (None, steps)
    }

    /// Takes the tokens out of a row for which a terminal's bound in tokens has no room.
    fn keep_within_bounds(&mut self, row: &mut [u32]) {
        let inner = &*self.index.0;
        if let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position) {
            grammar.masker(&inner.tables, &inner.vocabulary).keep_within_bounds(stack, *at, row);
        }
    }
}

/// What is told where the masks of a guide have taken more steps than they may.
fn too_much_work(what: &str, most: usize, spent: usize) -> Error {
    Error::limit(what, most as u64, spent as u64).set_by("max_mask_steps")
}
