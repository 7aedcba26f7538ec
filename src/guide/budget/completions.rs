//! The completion graph: what completes a configuration, shared by all configurations that lead to it.
//!
//! A token budget asks of many positions by how many tokens they are completed, and most answers are equal from some
//! place on: behind the scalar, the member or the container that is open. So a completion is kept as a list of bytes in
//! which each knows the next one, and lists that meet go on as one. A completion is followed only until it meets a
//! configuration that is known, behind an element or a member, and only the bytes up to there are spelled: for each
//! byte it is kept by how few tokens it and everything behind it are spelled, which is found from the end to the
//! beginning.
//!
//! Configurations are known by their content: the top frame, and a number for what lies below it, which is given to the
//! content of the frame below and the number of its own parent, and so on. So what was found holds after rolling back,
//! and for forks, which share it until one of them finds more. Whitespace that may end leaves no trace in what
//! completes a document, nor do the keys of an object that needs none but names, so they do not count. Inside arrays of
//! unique elements nothing is kept.
//!
//! The graph is bounded: when it is too large it is forgotten, which costs time and changes no answer. Numbers are
//! never given twice.

use hashbrown::HashMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::guide::budget::plan_tokens::Plan;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::index::IndexCore;
use crate::lexeme::shortest_end::MAX_SEARCHED;
use crate::pushdown::completion::completion_bounds::CompletionBounds;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::shortest::{Completer, KeyWatch, missing_chars};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::ClassProgram;
use crate::pushdown::json::state_key::Detail;
use crate::util::seeded_hash::Seeded;

/// Bytes that are kept of all rests from one token to the next; a byte takes [`CELL`] of them. A mask may add some
/// more. Beyond the second, which a search may come to, all is forgotten at once.
const MAX_BYTES: usize = 2 << 20;
const MAX_BYTES_HERE: usize = 16 << 20;
/// What a byte of a rest takes.
const CELL: usize = size_of::<CompletionNode>();
/// The places of objects with more names than this are not all kept.
const MANY_NAMES: usize = 1 << 11;
/// The places of arrays with more unique elements than this are not all kept.
const MANY_ELEMENTS: u32 = 1 << 6;
/// Of texts that lack more characters than this not all places are kept.
const MANY_CHARS: u32 = 1 << 12;
/// What a place takes beside its content, about.
const PLACE: usize = 64;
/// Bytes of prices that are kept.
const MAX_PRICES: usize = 1 << 20;
/// Bytes that a frame has for every 64 names: names that were seen, are needed and are allowed.
const BITS_OF_NAMES: usize = 3 * size_of::<u64>();
/// Bytes of frames that one completion may make.
const MAX_COMPLETED_BYTES: u64 = 64 << 20;
/// No number of tokens is known.
pub(super) const ENDLESS: u32 = u32::MAX;
/// No way to the end is known.
pub(super) const NOWHERE: u32 = u32::MAX;
/// The mark of a node about which nothing was asked yet.
const UNKNOWN_END: u32 = u32::MAX - 1;
/// The end of all rests.
const END: u32 = 0;

/// Tokens with what they cost, ascending: the price first.
pub(super) type Prices = Arc<[(u32, u32)]>;

/// What plain text costs behind some place, in tokens that complete the output.
#[derive(Clone, Copy)]
pub(super) struct PlainPrices {
    pub(super) least: u32,
    pub(super) most: u32,
    /// All of it leads back to the place.
    pub(super) stays: bool,
}

impl PlainPrices {
    /// Whether what is left suffices, if that has one answer.
    pub(super) fn one_verdict(self, left: u64) -> Option<bool> {
        match (u64::from(self.least) <= left, u64::from(self.most) <= left) {
            (true, false) => None,
            (_, fits) => Some(fits),
        }
    }
}

/// A byte on the way to the end, or a *tail*: a place from which a known number of tokens complete the output, which
/// are looked for when a guide is there.
#[derive(Clone)]
struct CompletionNode {
    byte: u8,
    /// Of a tail itself.
    next: u32,
    /// The fewest tokens that spell the way from here, the first of them, and where that leads.
    tokens: u32,
    token: u32,
    after: u32,
}

/// Completions of configurations, as bytes that each know the next one, with the fewest tokens that spell the rest.
#[derive(Clone)]
pub(in crate::guide) struct CompletionGraph {
    /// Numbers of configurations. The tables' hash is seeded per process, since outputs choose the keys.
    numbers: HashMap<Box<[u8]>, u64, Seeded>,
    /// The number that was given last, and the one before the first that is still known.
    last: u64,
    forgotten: u64,
    /// By number, from the first known one: where the rest begins.
    ends: Vec<u32>,
    cells: Vec<CompletionNode>,
    bytes: usize,
    /// What tokens cost that end a text, by all that this depends on: the price and the token.
    prices: HashMap<Box<[u8]>, Prices, Seeded>,
    /// What plain text costs, likewise.
    plain: HashMap<Box<[u8]>, PlainPrices, Seeded>,
    price_bytes: usize,
    /// Numbers of the nodes of a stack that stays as it is, those before `base`, and whether each is exact.
    stack: FxHashMap<(FrameId, bool), u64>,
    base: FrameId,
    /// Objects that lack more names than this are not completed, and the least number for which one was not.
    most_names: u64,
    cut_at: u64,
    /// Which of the documents of a grammar it is about.
    document: u32,
}

impl Default for CompletionGraph {
    fn default() -> Self {
        CompletionGraph {
            numbers: HashMap::default(),
            last: 0,
            forgotten: 0,
            ends: Vec::new(),
            cells: Vec::new(),
            bytes: 0,
            prices: HashMap::default(),
            plain: HashMap::default(),
            price_bytes: 0,
            stack: FxHashMap::default(),
            base: 0,
            most_names: u64::MAX,
            cut_at: u64::MAX,
            document: 0,
        }
    }
}

impl CompletionGraph {
    /// Bytes held.
    pub(in crate::guide) fn memory_bytes(&self) -> usize {
        self.bytes + self.price_bytes + self.ends.capacity() * 4
    }

    /// The prices that were kept for a description.
    pub(super) fn prices(&self, key: &[u8]) -> Option<Prices> {
        self.prices.get(key).cloned()
    }

    pub(super) fn keep_prices(&mut self, key: &[u8], found: Prices) {
        self.make_room(size_of_val(&*found) + key.len());
        self.prices.insert(key.into(), found);
    }

    /// What plain text costs behind what was described, if that was kept.
    pub(super) fn plain(&self, key: &[u8]) -> Option<PlainPrices> {
        self.plain.get(key).copied()
    }

    pub(super) fn keep_plain(&mut self, key: &[u8], found: PlainPrices) {
        self.make_room(key.len());
        self.plain.insert(key.into(), found);
    }

    fn make_room(&mut self, bytes: usize) {
        if self.price_bytes > MAX_PRICES {
            self.forget_prices();
        }
        self.price_bytes += bytes + PLACE;
    }

    fn forget_prices(&mut self) {
        self.prices = HashMap::default();
        self.plain = HashMap::default();
        self.price_bytes = 0;
    }

    /// From now on nodes before `base` are those of one arena and do not change.
    pub(super) fn begin(&mut self, base: FrameId) {
        self.stack.clear();
        self.base = base;
        self.most_names = u64::MAX;
    }

    /// Whether so much is kept that it has to be forgotten behind the next token. Not before: a rest goes on where
    /// others have been, so what a mask lets through would not be found again.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// From now on it is about this document of a grammar: what was found about another one is forgotten.
    pub(super) fn turn_to(&mut self, document: u32) {
        if self.document != document {
            self.forget();
            self.document = document;
        }
    }

    /// Objects that lack more names than `most` need not be completed until [`begin`](Self::begin) comes again: nobody
    /// asks by how many tokens more than are left.
    pub(super) fn limit_names(&mut self, most: u64) {
        self.most_names = most;
        if most > self.cut_at {
            // What had no price then may have one now.
            self.forget_prices();
            self.cut_at = u64::MAX;
        }
    }

    /// The number of what `node` and all below it are, for what completes them, or for all bytes if it is to be exact;
    /// `None` inside unique elements.
    pub(super) fn number(&mut self, frames: &JsonMachine, node: FrameId, exact: bool) -> Option<u64> {
        let mut chain: SmallVec<[FrameId; 8]> = SmallVec::new();
        let (mut at, mut below) = (node, 0);
        while at != NONE {
            if let Some(&known) = self.stack.get(&(at, exact)) {
                below = known;
                break;
            }
            let n = &frames.arena.nodes[at as usize];
            if n.trace != u32::MAX || (n.kind == FrameKind::Array && n.key != u32::MAX) {
                return None;
            }
            chain.push(at);
            at = n.parent;
        }
        let mut content = Vec::new();
        for at in chain.into_iter().rev() {
            content.clear();
            let mut n = frames.arena.nodes[at as usize];
            if !exact {
                forget_what_ends(frames, &mut n);
            }
            content.push(u8::from(exact));
            frame(frames, &n, &mut content);
            content.extend(below.to_le_bytes());
            below = self.numbered(&content);
            if at < self.base {
                self.stack.insert((at, exact), below);
            }
        }
        Some(below)
    }

    fn numbered(&mut self, content: &[u8]) -> u64 {
        if let Some(&known) = self.numbers.get(content) {
            return known;
        }
        self.last += 1;
        self.ends.push(UNKNOWN_END);
        self.bytes += content.len() + PLACE;
        self.numbers.insert(content.into(), self.last);
        self.last
    }

    /// Writes what tells `node`, with this whitespace, from others: its own content, and a number for what lies below
    /// it. False, and the content alone, inside unique elements.
    pub(super) fn describe(&mut self, frames: &JsonMachine, node: &Frame, out: &mut Vec<u8>) -> bool {
        frame(frames, node, out);
        let below = if node.trace == u32::MAX { self.number(frames, node.parent, true) } else { None };
        below.inspect(|number| out.extend(number.to_le_bytes())).is_some()
    }

    fn end(&mut self, number: u64) -> Option<&mut u32> {
        self.ends.get_mut(number.checked_sub(self.forgotten + 1)? as usize)
    }

    /// Where the rest of the configuration at `top` begins, or [`NOWHERE`]. Nothing that is known is used in an object
    /// that is watched and above it. The arena is as it was.
    ///
    /// Thousands of elements that must differ take long to write, and each text that is open has others behind it. So
    /// with `bounds` a rest ends in a tail where it has begun the first of the elements that such an array still needs.
    pub(super) fn rest_at<U: Fn(u32) -> bool>(
        &mut self,
        frames: &mut JsonMachine,
        (costs, bounds): (&MinCosts, Option<&CompletionBounds>),
        speller: &FewestTokens<U>,
        top: FrameId,
        watch: &mut KeyWatch,
    ) -> u32 {
        if self.bytes > MAX_BYTES_HERE {
            self.forget();
        }
        if self.cells.is_empty() {
            self.cells.push(CompletionNode { byte: 0, next: END, tokens: 0, token: 0, after: END });
        }
        let mark = frames.arena.mark();
        let accepting = frames.is_accepting(top);
        frames.arena.truncate(&mark);
        if accepting {
            return END;
        }
        let mut found = END;
        let mut tail = None;
        let mut passed: SmallVec<[(usize, u64); 8]> = SmallVec::new();
        let below = watch.below;
        (watch.most_names, watch.is_cut) = (self.most_names, false);
        let bytes = Completer::complete_until(frames, costs, top, watch, |frames, at, read| {
            let n = &frames.arena.nodes[at as usize];
            let between = n.phase == Phase::After && matches!(n.kind, FrameKind::Array | FrameKind::Object);
            // What completes a text behind some characters is what completes a longer one there.
            let missing = || missing_chars(frames, n).is_some_and(|n| n.is_multiple_of(1 + n / MANY_CHARS));
            if !between && read > 0 && !missing() || n.parent != NONE && n.parent >= below {
                return false;
            }
            if between
                && n.kind == FrameKind::Array
                && let Some(bounds) = bounds
                && let Some(distinct) = costs.missing_elements(frames, n)
                && let Some(tokens) = bounds.of_missing_elements(frames, n)
            {
                tail = Some((tokens, distinct));
                return true;
            }
            if read > 0 && !is_numbered(frames, n) {
                return false;
            }
            let Some(number) = self.number(frames, at, false) else { return false };
            match self.end(number) {
                Some(end) if *end != UNKNOWN_END => {
                    found = *end;
                    true
                }
                _ => {
                    passed.push((read, number));
                    false
                }
            }
        });
        if watch.is_cut {
            self.cut_at = self.cut_at.min(self.most_names);
            return NOWHERE;
        }
        let Some(bytes) = bytes.filter(|_| found != NOWHERE) else {
            // Of the places that were passed some may be completed by themselves: a completion has a longest length.
            // What bounded searches did not find is found by longer ones.
            if let Some(&(0, number)) = passed.first().filter(|_| watch.max_searched >= MAX_SEARCHED)
                && let Some(end) = self.end(number)
            {
                *end = NOWHERE;
            }
            return NOWHERE;
        };
        let mut cell = found;
        if let Some((tokens, distinct)) = tail {
            cell = self.tail(tokens);
            for &byte in distinct.separator.iter().chain(distinct.beginning()).rev() {
                cell = self.spelled(byte, cell, speller);
            }
        }
        let mut keep = |rests: &mut CompletionGraph, read: usize, cell: u32| {
            while let Some(&(_, number)) = passed.last().filter(|(at, _)| *at >= read) {
                passed.pop();
                if let Some(end) = rests.end(number) {
                    *end = cell;
                }
            }
        };
        keep(self, bytes.len(), cell);
        for (read, &byte) in bytes.iter().enumerate().rev() {
            cell = self.spelled(byte, cell, speller);
            keep(self, read, cell);
        }
        cell
    }

    /// Adds a byte in front of `next`.
    fn spelled<U: Fn(u32) -> bool>(&mut self, byte: u8, next: u32, speller: &FewestTokens<U>) -> u32 {
        let mut cell = CompletionNode { byte, next, tokens: u32::MAX, token: 0, after: END };
        let (mut node, mut byte, mut at) = (0, byte, next);
        while let Some(child) = speller.child(node, byte) {
            node = child;
            let tokens = self.cells[at as usize].tokens.saturating_add(1);
            if tokens < cell.tokens
                && let Some(token) = speller.token(node)
            {
                (cell.tokens, cell.token, cell.after) = (tokens, token, at);
            }
            let on = &self.cells[at as usize];
            if at == on.next {
                break;
            }
            (byte, at) = (on.byte, on.next);
        }
        self.bytes += CELL;
        self.cells.push(cell);
        self.cells.len() as u32 - 1
    }

    /// Adds a tail.
    fn tail(&mut self, tokens: u32) -> u32 {
        let at = self.cells.len() as u32;
        self.bytes += CELL;
        self.cells.push(CompletionNode { byte: 0, next: at, tokens, token: 0, after: at });
        at
    }

    /// How many tokens spell a rest, if any do.
    pub(super) fn tokens(&self, rest: u32) -> Option<u64> {
        self.cells.get(rest as usize).map(|cell| cell.tokens).filter(|&n| n != u32::MAX).map(u64::from)
    }

    /// The tokens that spell a rest, as far as to its tail if it has one.
    pub(super) fn plan(&self, rest: u32) -> Option<Plan> {
        self.tokens(rest)?;
        let mut tokens = Vec::new();
        let mut at = rest;
        loop {
            let cell = &self.cells[at as usize];
            if cell.next == at {
                return Some(Plan { tokens, tail: cell.tokens });
            }
            tokens.push(cell.token);
            at = cell.after;
        }
    }

    /// The bytes of a rest, each with the tokens that spell the rest from there on.
    pub(super) fn prices_along(&self, rest: u32) -> impl Iterator<Item = (u8, u32)> {
        self.cells_along(rest).map(|cell| (cell.byte, cell.tokens))
    }

    /// The bytes of a rest.
    pub(super) fn bytes(&self, rest: u32) -> impl Iterator<Item = u8> {
        self.cells_along(rest).map(|cell| cell.byte)
    }

    fn cells_along(&self, rest: u32) -> impl Iterator<Item = &CompletionNode> {
        let cell = |at: u32| self.cells.get(at as usize).filter(|cell| cell.next != at);
        std::iter::successors(cell(rest), move |on| cell(on.next))
    }

    fn forget(&mut self) {
        self.numbers = HashMap::default();
        self.ends = Vec::new();
        self.cells = Vec::new();
        self.bytes = 0;
        self.forget_prices();
        self.forgotten = self.last;
        // What the nodes of the stack have for numbers is given to nothing else.
    }
}

/// How many names an object of a document with these costs may lack that `tokens` tokens complete.
pub(super) fn names_within(inner: &IndexCore, costs: &MinCosts, tokens: u64) -> u64 {
    let held = MAX_COMPLETED_BYTES / (costs.most_names().div_ceil(64) * BITS_OF_NAMES).max(1) as u64;
    held.min(tokens.saturating_mul(inner.tables.structural_tokens(&inner.vocabulary).colons as u64))
}

/// Takes out of a node what makes no difference to what completes it: whitespace that may end, and keys that the
/// completion comes near no more, for it takes nothing but names that are needed.
fn forget_what_ends(frames: &JsonMachine, n: &mut Frame) {
    if frames.gap_may_end(n) || n.phase == Phase::Key {
        (n.gap, n.blank) = (0, 0);
    }
    if n.kind != FrameKind::Object || n.phase == Phase::Key || n.len != 1 {
        return;
    }
    let item = &frames.arena.objects[n.start as usize];
    let shape = &frames.program.objects[item.shape as usize];
    let count = u64::from(n.count);
    let endless = |c: &ClassProgram| c.keys.as_ref().is_none_or(|k| k.residual_size(k.start()) == u64::MAX);
    if shape.witnesses == 0
        && shape.min <= count + frames.missing_names(item, shape)
        && (shape.min <= count + 1 || shape.others.iter().any(endless))
    {
        n.seen = u32::MAX;
    }
}

/// Whether what completes a place between members is kept. The content of an object grows with its names, and that of
/// an array with the elements that must differ, so large ones are kept at some numbers of members only, which are the
/// same for all that lead there.
fn is_numbered(frames: &JsonMachine, n: &Frame) -> bool {
    if n.kind == FrameKind::Array && n.seen != u32::MAX {
        return n.count < MANY_ELEMENTS || n.count.is_multiple_of(MANY_ELEMENTS);
    }
    if n.kind != FrameKind::Object {
        return true;
    }
    let shapes = frames.arena.objects[n.items()].iter().map(|item| &frames.program.objects[item.shape as usize]);
    let names = shapes.map(|shape| shape.spelled.len()).sum::<usize>();
    names < MANY_NAMES || (n.count as usize).is_multiple_of(names * names / (MANY_NAMES * MANY_NAMES))
}

/// Writes the content of one frame, or of the value at its top.
fn frame(frames: &JsonMachine, n: &Frame, out: &mut Vec<u8>) {
    if n.kind != FrameKind::Scalar {
        return frames.arena.describe_frame(frames.program, n, Some(n.trace), Detail::Whole, out);
    }
    let items = &frames.arena.scalars[n.start as usize..(n.start + n.len) as usize];
    // Of the length, what the way to the end depends on.
    let bounded = items.iter().map(|i| &frames.program.lexemes[i.lexeme as usize]).filter(|l| l.is_bounded());
    // A text that is long enough is told from one that has not begun.
    let count = bounded.filter_map(|l| l.count_to_end(n.count)).map(|count| count.saturating_add(1)).max();
    out.extend([n.kind as u8]);
    out.extend(count.unwrap_or(0).to_le_bytes());
    out.extend(items.iter().flat_map(|i| [i.tag, i.lexeme, i.state]).flat_map(u32::to_le_bytes));
    if let Some(set) = frames.program.constants.get(n.seen) {
        set.describe((n.text, n.sub), |word| out.extend(word.to_le_bytes()));
    }
}
