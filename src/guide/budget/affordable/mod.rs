//! Affordable tokens: which tokens leave enough of a budget, for all tokens of a vocabulary at once.
//!
//! To price one token is to step its bytes and to complete what follows, which takes microseconds; there are a hundred
//! thousand tokens. But few of them lead to configurations with different futures. So the walk of the trie goes over
//! *classes* of configurations, numbered by what their future depends on. Each class is completed once, each byte is
//! stepped from it once, and what remains of the walk is look-ups. Where all plain text has one answer (`plain_text`),
//! it is not walked.
//!
//! Most configurations are described as a whole. Two kinds have a shorter description, for text makes them many:
//!
//! * A scalar is its frame and the states of its lexemes.
//! * Inside a key the text so far counts as well, for it must differ from its neighbours. Text that is a prefix of none
//!   of those is *new*: whatever it becomes differs from them. New texts are one class for each state of the encoding
//!   and of the classes of keys (`new_text`). One of them stands in for all, so where a token goes on to another member
//!   of the same container, which would have to differ from this one too, it is stepped by itself.
//!
//! Among unique elements every scalar and key by which an element differs from all others is new (`different_part`).
//!
//! What the tokens that end a text cost is kept, since it is the same at every token inside of it. Work for a mask is
//! bounded. Tokens beyond are left out, which is never the next token of the guide's own plan: a mask may be narrower
//! than what is in time, never wider.

mod class_bounds;
mod config_class;
mod different_part;
mod ends_behind_tokens;
mod in_element;
mod in_lexeme;
mod in_name;
mod in_text;
mod known_bounds;
mod new_text;
mod plain_text;
mod search_steps;

use crate::guide::budget::affordable::config_class::ConfigClass;
use crate::guide::budget::affordable::different_part::DifferentPart;
use crate::guide::budget::completions::{CompletionGraph, ENDLESS, NOWHERE};
use crate::guide::budget::plan::BudgetedDocument;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::lexeme::shortest_end::FEW_SEARCHED;
use crate::mask::json::cache::completion_facts::CompletionFacts;
use crate::mask::json::structural_tokens::{MAX_LENGTH, MarkedText, StructuralTokens};
use crate::pushdown::completion::completion_bounds::CompletionBounds;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::shortest::KeyWatch;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;
use crate::util::bits::{has_at_most, ones_of_sparse};
use crate::util::seeded_hash::SeededMap;
use crate::vocab::{Trie, Vocabulary};
use rustc_hash::FxHashMap;

/// Refused.
const DEAD_CONFIG: u32 = u32::MAX - 1;
/// Tokens that lead here are stepped by themselves.
const ALONE: u32 = u32::MAX - 2;
/// A subtree of the trie with fewer nodes is walked without asking what its text costs.
const MIN_ALIKE: u32 = 32;
/// So few tokens are stepped one by one.
const FEW_TOKENS: u32 = 2_000;
/// Work for one mask, in classes that are stepped to. A completion is a few.
const MAX_WORK: usize = 2_000;
const COMPLETION: usize = 2;
/// Bytes that a completion writes for as much work as a step.
const BYTES_A_STEP: usize = 8;
/// Bytes of a number that must differ from others, for as much work as a step.
const DIGITS_A_STEP: usize = 8;
/// Nodes of a trie that are looked at for as much work as a step.
const NODES_A_STEP: usize = 64;

/// Finds the tokens after which a completion fits into what is left of a budget.
pub(super) struct AffordableTokens<'a, U> {
    program: &'a Program,
    costs: &'a MinCosts,
    arena: &'a mut Arena,
    top: FrameId,
    rests: &'a mut CompletionGraph,
    bounds: Option<&'a CompletionBounds>,
    facts: &'a CompletionFacts,
    /// Nodes before this one are those of the guide's own stack.
    base: FrameId,
    /// Bounds of these nodes, as far as they were asked for.
    below: FxHashMap<FrameId, u32>,
    speller: FewestTokens<'a, U>,
    /// Tokens that are left.
    left: u64,
    classes: Vec<ConfigClass>,
    /// The classes' numbers, by their descriptions.
    numbers: SeededMap<Vec<u8>, u32>,
    /// Room for a cache key: the description of a class, or of what is asked about one.
    key: Vec<u8>,
    /// The exceptions of all classes.
    exceptions: Vec<Box<[u8]>>,
    /// How many steps were no look-up.
    made: usize,
    /// Work of a step.
    step: usize,
    /// Work that was done, and beyond which tokens are left out.
    work: usize,
    max_work: usize,
    /// Whether a search came to where tokens are stepped by themselves.
    left_out: bool,
    /// Where the guide is in a part of an element that must differ from others.
    element: Option<DifferentPart>,
}

impl<'a, U: Fn(u32) -> bool> AffordableTokens<'a, U> {
    pub(super) fn new(document: BudgetedDocument<'a>, speller: FewestTokens<'a, U>, left: u64) -> Self {
        let BudgetedDocument { program, costs, arena, top, rests, bounds, facts } = document;
        let (base, below) = (arena.nodes.len() as FrameId, FxHashMap::default());
        let left = left.min(u64::from(ENDLESS) - 1);
        let (numbers, key) = (SeededMap::default(), Vec::new());
        let (classes, exceptions) = (Vec::new(), Vec::new());
        let (made, work, max_work, left_out) = (0, 0, MAX_WORK, false);
        let mut affordable = AffordableTokens {
            program,
            costs,
            arena,
            top,
            rests,
            bounds,
            facts,
            base,
            below,
            speller,
            left,
            classes,
            numbers,
            key,
            exceptions,
            made,
            step: 1,
            work,
            max_work,
            left_out,
            element: None,
        };
        affordable.element = affordable.different_part();
        affordable.step = affordable.work_of_step();
        affordable.add(ConfigClass::at(top), None);
        affordable
    }

    /// Work of a step from where the guide is. A number that must differ from others is read as a whole behind each
    /// byte.
    fn work_of_step(&mut self) -> usize {
        let (n, frames) = (self.arena.nodes[self.top as usize], self.frames());
        let array = frames.arena.nodes.get(n.parent as usize).filter(|array| array.key != u32::MAX);
        match array.filter(|_| n.kind == FrameKind::Scalar && frames.is_raw(&n)) {
            Some(array) => 1 + frames.arena.bytes_since(n.trace, array.key).len() / DIGITS_A_STEP,
            None => 1,
        }
    }

    /// For a search, which has a bound of its own.
    pub(super) fn unlimited(mut self) -> Self {
        self.max_work = usize::MAX;
        self
    }

    /// Takes the tokens out of a row after which what is left is too little.
    pub(super) fn keep(&mut self, vocabulary: &Vocabulary, marked: &StructuralTokens, row: &mut [u32]) {
        if !self.is_before_any_blank() {
            return self.keep_others(vocabulary, marked, row);
        }
        // Whitespace costs what stands in front of it.
        let fits = self.is_affordable_class(0);
        let mut blank = marked.blank.clone();
        for (at, bits) in &mut blank {
            *bits &= row[*at as usize];
            row[*at as usize] &= !*bits;
        }
        self.keep_others(vocabulary, marked, row);
        if fits {
            blank.iter().for_each(|&(at, bits)| row[at as usize] |= bits);
        }
    }

    /// Whether the guide is where whitespace may come, and may end anywhere.
    fn is_before_any_blank(&self) -> bool {
        let n = &self.arena.nodes[self.top as usize];
        let is_text = n.kind == FrameKind::Scalar || n.phase == Phase::Key;
        !is_text && self.program.gaps.iter().all(|gap| gap.accepting.iter().all(|&accepting| accepting))
    }

    /// [`keep`](Self::keep) where whitespace is no matter.
    fn keep_others(&mut self, vocabulary: &Vocabulary, marked: &StructuralTokens, row: &mut [u32]) {
        let trie = vocabulary.trie();
        if has_at_most(row, FEW_TOKENS) {
            return self.keep_few_by_bounds(vocabulary, row);
        }
        if let Some(text) = &marked.text
            && self.keep_in_element(vocabulary, text, row)
        {
            return;
        }
        if let Some(text) = &marked.text
            && self.stays_within_bounds()
        {
            return self.keep_ends(vocabulary, text, row);
        }
        if let Some(text) = &marked.text
            && let Some(prices) = self.prices_by_length()
        {
            let mut others = split(row, &text.plain);
            let price = |length: usize| prices[length.min(prices.len()) - 1];
            // Behind the longest token that is told apart no price is larger than the largest of those that follow.
            let most = |length: usize| match length {
                usize::MAX => prices[(MAX_LENGTH - 1).min(prices.len() - 1)..].iter().copied().max().unwrap_or(ENDLESS),
                _ => price(length),
            };
            text.keep_lengths(vocabulary, row, |length| u64::from(most(length)) <= self.left);
            self.keep_marked(vocabulary, text, &mut others);
            row.iter_mut().zip(others).for_each(|(word, kept)| *word |= kept);
            return;
        }
        if let Some(text) = &marked.text
            && self.keep_in_lexeme(vocabulary, marked, text, row)
        {
            return;
        }
        if self.keep_in_name(vocabulary, marked, row) {
            return;
        }
        let (Some(text), Some(plain)) = (&marked.text, self.plain_here()) else {
            return self.walk(trie, Some(marked), row);
        };
        let is_element = self.classes[0].is_new && self.arena.nodes[self.top as usize].kind == FrameKind::Scalar;
        if plain.stays && !is_element && self.exceptions.is_empty() && self.classes[0].below == NONE {
            return self.keep_in_text(vocabulary, text, (0, plain.most), row);
        }
        let (Some(all), Some(exceptions)) = (plain.one_verdict(self.left), self.exceptional_tokens(trie, row)) else {
            return self.walk(trie, Some(marked), row);
        };
        let mut few = split(row, &text.plain);
        self.keep_marked(vocabulary, text, &mut few);
        if !all {
            row.fill(0);
        }
        for (t, fits) in exceptions {
            let word = &mut row[t as usize >> 5];
            *word = *word & !(1 << (t & 31)) | u32::from(fits) << (t & 31);
        }
        row.iter_mut().zip(few).for_each(|(word, few)| *word |= few);
    }

    /// [`keep`](Self::keep) where none but tokens with marks are left.
    fn keep_marked(&mut self, vocabulary: &Vocabulary, text: &MarkedText, row: &mut [u32]) {
        match has_at_most(row, FEW_TOKENS) {
            true => self.keep_few(vocabulary, row),
            false => self.walk(&text.whole, None, row),
        }
    }

    /// [`keep`](Self::keep) where few tokens are left.
    fn keep_few(&mut self, vocabulary: &Vocabulary, row: &mut [u32]) {
        for t in ones_of_sparse(row) {
            if !vocabulary.spelling(t).is_some_and(|bytes| self.suffices_after(bytes)) {
                row[t as usize >> 5] &= !(1 << (t & 31));
            }
        }
    }

    fn is_exhausted(&self) -> bool {
        self.work >= self.max_work
    }

    /// Walks a trie, that of the vocabulary if it is `marked` where plain text follows.
    fn walk(&mut self, trie: &Trie, marked: Option<&StructuralTokens>, row: &mut [u32]) {
        let mut stack: Vec<(u32, u32)> = vec![(trie.len() as u32, 0)];
        let mut bytes: Vec<u8> = Vec::new();
        let clear =
            |row: &mut [u32], tokens: &[u32]| tokens.iter().for_each(|t| row[*t as usize >> 5] &= !(1 << (t & 31)));
        let mut node = 1;
        let mut looked = 0;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            looked += 1;
            if looked % NODES_A_STEP == 0 {
                self.work += 1;
            }
            if self.is_exhausted() {
                // What is left is left out, but for what was found.
                (node..trie.len() as u32).for_each(|node| clear(row, trie.tokens(node)));
                return;
            }
            let byte = trie.byte[node as usize];
            bytes.truncate(usize::from(trie.depth[node as usize]) - 1);
            bytes.push(byte);
            let to = self.step(at, byte);
            let end = trie.end[node as usize];
            let allowed = |&t: &u32| row[t as usize >> 5] >> (t & 31) & 1 == 1;
            if to == DEAD_CONFIG {
                // No token of these is in the row.
                node = end;
                continue;
            }
            let here = trie.tokens(node);
            if here.iter().any(allowed) && !self.is_in_time(to, &bytes) {
                clear(row, here);
            }
            let is_asked = end - node >= MIN_ALIKE || self.classes.get(to as usize).is_some_and(|p| p.plain.is_some());
            if is_asked
                && end > node + 1
                && marked.is_some_and(|m| m.is_plain_below(node))
                && let Some(all) = self.plain(to).and_then(|plain| plain.one_verdict(self.left))
                && !self.begins_exception(&bytes)
            {
                if !all {
                    clear(row, &trie.subtree_tokens(node)[here.len()..]);
                }
                node = end;
                continue;
            }
            stack.push((end, to));
            node += 1;
        }
    }

    /// Whether what is left suffices after `bytes`.
    pub(super) fn suffices_after(&mut self, bytes: &[u8]) -> bool {
        let to = bytes.iter().fold(0, |at, &b| self.step(at, b));
        self.is_in_time(to, bytes)
    }

    /// Whether what is left suffices after `bytes`, which lead to `class`.
    fn is_in_time(&mut self, class: u32, bytes: &[u8]) -> bool {
        let Some(known) = self.classes.get(class as usize) else {
            return class == ALONE && self.is_in_time_alone(bytes);
        };
        let exceptional = !known.except.is_empty() && self.is_exception(class, bytes);
        let fits = !exceptional && self.is_affordable_class(class);
        fits || (exceptional || self.classes[class as usize].is_bound_only) && self.is_in_time_alone(bytes)
    }

    /// Whether what is left suffices after a class.
    fn is_affordable_class(&mut self, class: u32) -> bool {
        let Some(&ConfigClass { price, .. }) = self.classes.get(class as usize) else { return false };
        price.is_none() && u64::from(self.bound(class)) <= self.left || u64::from(self.price(class)) <= self.left
    }

    /// Tokens that complete the output after a class; [`ENDLESS`] where none are known.
    fn price(&mut self, class: u32) -> u32 {
        let Some(&ConfigClass { price, node, is_bound_only, .. }) = self.classes.get(class as usize) else {
            return ENDLESS;
        };
        if is_bound_only {
            return ENDLESS;
        }
        price.unwrap_or_else(|| {
            let price = self.completed(node, &mut KeyWatch::new(NONE)).1;
            self.classes[class as usize].price = Some(price);
            price
        })
    }

    fn is_in_time_alone(&mut self, bytes: &[u8]) -> bool {
        self.work += bytes.len();
        if self.is_exhausted() {
            return false;
        }
        let mark = self.arena.mark();
        let at = self.after(bytes);
        let fits = at != NONE
            && (u64::from(self.bound_of(at)) <= self.left
                || u64::from(self.completed(at, &mut KeyWatch::new(NONE)).1) <= self.left);
        self.arena.truncate(&mark);
        fits
    }

    /// The configuration after bytes, or [`NONE`].
    fn after(&mut self, bytes: &[u8]) -> FrameId {
        let mut at = self.top;
        for &b in bytes {
            at = if at == NONE { NONE } else { self.frames().step(at, b) };
        }
        at
    }

    fn frames(&mut self) -> JsonMachine<'_> {
        JsonMachine { program: self.program, arena: self.arena }
    }

    /// The rest of a configuration, and how many tokens spell it.
    fn completed(&mut self, node: FrameId, watch: &mut KeyWatch) -> (u32, u32) {
        if self.is_exhausted() {
            return (NOWHERE, ENDLESS);
        }
        let before = watch.effort;
        if self.max_work < usize::MAX {
            watch.max_searched = FEW_SEARCHED;
        }
        let mut frames = JsonMachine { program: self.program, arena: self.arena };
        let rest = self.rests.rest_at(&mut frames, (self.costs, self.bounds), &self.speller, node, watch);
        self.work += COMPLETION + (watch.effort - before) / BYTES_A_STEP;
        (rest, self.rests.tokens(rest).and_then(|n| u32::try_from(n).ok()).unwrap_or(ENDLESS))
    }
}

/// Takes all bits out of a row that are not in `plain`.
fn split(row: &mut [u32], plain: &[u32]) -> Vec<u32> {
    let out = |(word, plain): (&mut u32, &u32)| {
        let others = *word & !plain;
        *word &= plain;
        others
    };
    row.iter_mut().zip(plain).map(out).collect()
}
