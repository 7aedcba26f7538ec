//! The scanner: all terminals that may be read here, side by side, as one automaton made on use.
//!
//! A state holds the terminals that the text since the last boundary may still become, each with the state of its own
//! automaton, and what must *not* come. The latter is an obligation: a terminal that took its longest match promised
//! that no longer one follows, and this promise is kept byte by byte until nothing could break it any more. So a match
//! is the longest one in all of the text, and not only as far as one byte of look-ahead tells.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::model::{Grammar, Lexer};
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, StateId};
use crate::pushdown::grammar::obligations::{Obligation, Obligations, Promise};
use crate::util::append_vec::AppendVec;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::OBLIGED_STATES;
use crate::util::cancel;
use crate::util::memory_growth::HeldBytes;
use crate::util::seeded_hash::SeededMap;
use crate::util::work_meter::{charge, spent, too_large_states};

/// Automata that step by a byte in a microsecond.
const STEPPED_AT_ONCE: usize = 32;

/// Names a state of the scanner.
pub type ScanStateId = u32;
/// Names a list of obligations.
pub type ObligationsId = u32;

/// A successor that was not asked for yet.
const UNKNOWN_SUCCESSOR: ScanStateId = 0;
/// Nothing can be read.
pub const REFUSED: ScanStateId = 1;
const FIRST: ScanStateId = 2;

/// What separates a terminal from what follows it, where its automaton reads that as well; a byte that no text has.
pub const END: u8 = 0xFF;

/// No obligations.
pub const NO_OBLIGATIONS: ObligationsId = 0;

/// A terminal and the state of its automaton.
pub type TerminalState = (u32, StateId);

/// A state of the scanner.
pub struct ScanState {
    row: Box<[AtomicU32]>,
    /// How often a look at its unknown successors has not paid: few of them were alike.
    unpaid_looks: AtomicU8,
    /// What the text may still become.
    pub live: Box<[TerminalState]>,
    /// What must not be read to an end any more.
    pub obligations: ObligationsId,
    /// The terminals that may end here, with the obligations that follow. None at a boundary.
    pub ends: Box<[(u32, ObligationsId)]>,
    /// Nothing was read since the last boundary.
    pub at_boundary: bool,
}

/// What decides which of several terminals is taken where they match the same text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// Higher ones first.
    pub priority: i32,
    /// Literals before patterns.
    pub literal: bool,
}

/// The terminals of a grammar as one automaton over bytes. Threads share it.
pub struct Scanner {
    lexer: Lexer,
    /// One for each terminal; none for those without texts.
    lexemes: Box<[Option<Arc<Lexeme>>]>,
    /// Terminals whose look-ahead sees beyond their end: their automata read the rest of the text behind [`END`].
    pub(super) looks_ahead: Box<[bool]>,
    /// Terminals that take their longest match.
    pub(super) takes_longest: Box<[bool]>,
    precedence: Box<[Precedence]>,
    classes: Box<[u8; 256]>,
    /// The first byte of each class.
    pub(super) firsts: Box<[u8]>,
    states: AppendVec<ScanState>,
    pub(super) obligations: AppendVec<Obligations>,
    /// States at boundaries with obligations.
    obliged: BoundedCache<(ScanStateId, ObligationsId), ScanStateId, OBLIGED_STATES>,
    builder: Mutex<Builder>,
    /// Some terminal finds no more states, so what was made since may be wrong.
    gave_up: AtomicBool,
}

#[derive(Default)]
pub(super) struct Builder {
    by_content: SeededMap<(Box<[TerminalState]>, ObligationsId, bool), ScanStateId>,
    pub(super) by_obligations: SeededMap<Box<[Obligation]>, ObligationsId>,
    next: ScanStateId,
    pub(super) bytes: HeldBytes,
}

impl Scanner {
    /// The scanner of a grammar's terminals, which have these automata. `apart` keeps all bytes apart, for what is read
    /// beside it.
    pub fn new(grammar: &Grammar, lexemes: Vec<Option<Arc<Lexeme>>>, apart: bool) -> Self {
        let lexer = grammar.lexer;
        let looks_ahead: Box<[bool]> = grammar.terminals.iter().map(|t| t.context.is_some()).collect();
        // One that is bounded in tokens may be cut anywhere.
        let takes_longest = grammar.terminals.iter().map(|t| lexer != Lexer::Any && t.max_tokens.is_none()).collect();
        let precedence =
            grammar.terminals.iter().map(|t| Precedence { priority: t.priority, literal: t.literal }).collect();
        let mut borders = [apart; 256];
        borders[0] = true;
        for lexeme in lexemes.iter().flatten() {
            let classes = lexeme.byte_classes();
            (1..256).for_each(|b| borders[b] |= classes[b] != classes[b - 1]);
        }
        borders[usize::from(END)] |= looks_ahead.contains(&true);
        let mut classes = Box::new([0u8; 256]);
        let mut firsts = Vec::new();
        for byte in 0..256usize {
            if borders[byte] {
                firsts.push(byte as u8);
            }
            classes[byte] = (firsts.len() - 1) as u8;
        }
        let scanner = Scanner {
            lexer,
            lexemes: lexemes.into(),
            looks_ahead,
            takes_longest,
            precedence,
            classes,
            firsts: firsts.into(),
            states: AppendVec::default(),
            obligations: AppendVec::default(),
            obliged: BoundedCache::default(),
            builder: Mutex::new(Builder { next: FIRST, ..Builder::default() }),
            gave_up: AtomicBool::new(false),
        };
        scanner.oblige(&mut scanner.lock(), Vec::new());
        scanner
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Builder> {
        self.builder.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// How the text is cut into terminals.
    pub fn lexer(&self) -> Lexer {
        self.lexer
    }

    /// How many terminals there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.lexemes.len()
    }

    /// Whether some terminal finds no more states, as far as a guide has seen.
    #[inline]
    pub fn has_given_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// Looks why some terminal finds no more states, if so. From then on it is known of the scanner.
    #[cold]
    pub fn given_up(&self) -> Option<Error> {
        let lexeme = self.lexemes.iter().flatten().find(|l| l.has_given_up())?;
        self.gave_up.store(true, Ordering::Relaxed);
        Some(too_large_states(lexeme.most_row_bytes()))
    }

    /// The automaton of a terminal.
    pub fn lexeme(&self, terminal: u32) -> Option<&Arc<Lexeme>> {
        self.lexemes.get(terminal as usize)?.as_ref()
    }

    /// A state. `id` must be one that this scanner gave out, and not [`REFUSED`].
    #[inline]
    pub fn state(&self, id: ScanStateId) -> &ScanState {
        match self.states.get(id) {
            Some(state) => state,
            // Ids are only ever handed out after their state was set.
            None => unreachable!("state {id} of a scanner was never made"),
        }
    }

    /// The first byte of each class of bytes that act alike in every state.
    pub fn bytes_of_classes(&self) -> &[u8] {
        &self.firsts
    }

    /// The bytes of a class.
    pub fn bytes_of_class(&self, class: usize) -> std::ops::Range<usize> {
        usize::from(self.firsts[class])..self.firsts.get(class + 1).map_or(256, |&next| usize::from(next))
    }

    /// The class of a byte.
    #[inline]
    pub fn class(&self, byte: u8) -> usize {
        usize::from(self.classes[usize::from(byte)])
    }

    /// What obligations hold.
    pub fn obligations(&self, id: ObligationsId) -> &[Obligation] {
        self.obligations.get(id).map_or(&[], |obligations| &obligations.list)
    }

    /// The state at a boundary where these terminals may begin.
    pub fn start(&self, terminals: impl Iterator<Item = u32>) -> ScanStateId {
        let live = terminals.filter_map(|t| Some((t, self.lexemes[t as usize].as_ref()?.start()))).collect();
        self.intern(&mut self.lock(), live, NO_OBLIGATIONS, true)
    }

    /// The state at a boundary where all terminals may begin.
    pub fn start_of_all(&self) -> ScanStateId {
        self.start((0..self.len() as u32).filter(|&t| self.lexeme(t).is_some()))
    }

    /// A state at a boundary, with obligations.
    pub fn oblige_start(&self, start: ScanStateId, obligations: ObligationsId) -> ScanStateId {
        if obligations == NO_OBLIGATIONS {
            return start;
        }
        if let Some(known) = self.obliged.get(&(start, obligations)) {
            return known;
        }
        let live = self.state(start).live.to_vec();
        let state = self.intern(&mut self.lock(), live, obligations, true);
        self.obliged.keep((start, obligations), state, 24);
        state
    }

    /// The state behind a byte, or [`REFUSED`].
    #[inline]
    pub fn next(&self, id: ScanStateId, byte: u8) -> ScanStateId {
        let state = self.state(id);
        match state.row[self.class(byte)].load(Ordering::Acquire) {
            UNKNOWN_SUCCESSOR => self.make_next(id, byte),
            known => known,
        }
    }

    /// The states behind a byte of each class, [`REFUSED`] where there is none.
    pub fn successors(&self, id: ScanStateId) -> impl Iterator<Item = ScanStateId> {
        let next = move |(row, &first): (&AtomicU32, &u8)| match row.load(Ordering::Acquire) {
            UNKNOWN_SUCCESSOR => self.make_next(id, first),
            known => known,
        };
        self.state(id).row.iter().zip(&self.firsts).map(next)
    }

    /// The state with only those of its terminals that are to stay, or [`REFUSED`].
    pub(super) fn restricted(&self, id: ScanStateId, stays: impl Fn(&TerminalState) -> bool) -> ScanStateId {
        let state = self.state(id);
        let live: Vec<TerminalState> = state.live.iter().copied().filter(stays).collect();
        match live.is_empty() {
            true => REFUSED,
            false => self.intern(&mut self.lock(), live, state.obligations, state.at_boundary),
        }
    }

    /// The state of a terminal behind a byte of its text, or one that is dead.
    pub fn step(&self, terminal: u32, from: StateId, byte: u8) -> StateId {
        match &self.lexemes[terminal as usize] {
            Some(lexeme) if byte != END || !self.looks_ahead[terminal as usize] => lexeme.next(from, byte),
            _ => DEAD_STATE,
        }
    }

    #[cold]
    fn make_next(&self, id: ScanStateId, byte: u8) -> ScanStateId {
        let state = self.state(id);
        let (before, charged) = (spent(), cancel::spent());
        charge(1 + (state.live.len() + self.obligations(state.obligations).len()) / STEPPED_AT_ONCE);
        let step = |&(terminal, from): &TerminalState| {
            let to = self.step(terminal, from, byte);
            (to > CLOSED).then_some((terminal, to))
        };
        let live: Vec<TerminalState> = state.live.iter().filter_map(step).collect();
        let obligations = match live.is_empty() {
            true => None,
            false => self.step_obligations(self.obligations(state.obligations), byte),
        };
        let to = match obligations {
            None => REFUSED,
            Some(obligations) => {
                let mut builder = self.lock();
                let obligations = self.oblige(&mut builder, obligations);
                match self.may_be_kept(&mut builder, obligations) {
                    true => self.intern(&mut builder, live, obligations, false),
                    false => REFUSED,
                }
            }
        };
        // Where it is a compile that asks, these are steps of it. States of terminals have told it themselves.
        cancel::charge((spent() - before).saturating_sub(cancel::spent() - charged));
        state.row[self.class(byte)].store(to, Ordering::Release);
        self.fill_alike(state, byte, to);
        to
    }

    /// Sets the other successors of a state that are known now: those of bytes that no live terminal reads, and of
    /// bytes that leave the automata where `byte` does, which is `to`. Where documents are read beside it, the scanner
    /// tells all bytes apart, and most of its states have two or three successors.
    fn fill_alike(&self, state: &ScanState, byte: u8, to: ScanStateId) {
        /// Automata that are looked at for each byte.
        const FEW: usize = 4;
        /// A look that finds fewer has not paid.
        const PAYS: usize = 8;
        /// So often a look at a state may not pay.
        const MOST_UNPAID: u8 = 3;
        let obligations = self.obligations(state.obligations);
        // Some automata read this one as what it is, and others as a border.
        let is_border = byte == END && self.any_looks_ahead();
        if is_border
            || state.live.len() + obligations.len() > FEW
            || state.unpaid_looks.load(Ordering::Relaxed) >= MOST_UNPAID
        {
            return;
        }
        // Each automaton, its state, and where this byte leads.
        let all: SmallVec<[(&Lexeme, StateId, Option<StateId>); FEW]> = (state.live.iter().copied())
            .chain(obligations.iter().map(|&(_, terminal, from)| (terminal, from)))
            .filter_map(|(terminal, from)| {
                let lexeme = self.lexeme(terminal)?.as_ref();
                Some((lexeme, from, lexeme.known_next(from, byte)))
            })
            .collect();
        let live = &all[..state.live.len()];
        let mut count = 0;
        for (row, &first) in state.row.iter().zip(&self.firsts) {
            if row.load(Ordering::Relaxed) != UNKNOWN_SUCCESSOR || (first == END && self.any_looks_ahead()) {
                continue;
            }
            let is_alike = || all.iter().all(|&(l, from, next)| next.is_some() && l.known_next(from, first) == next);
            let is_dead =
                || live.iter().all(|&(l, from, _)| l.known_next(from, first).is_some_and(|next| next <= CLOSED));
            let known = if is_dead() {
                REFUSED
            } else if is_alike() {
                to
            } else {
                continue;
            };
            row.store(known, Ordering::Release);
            count += 1;
        }
        if count < PAYS {
            state.unpaid_looks.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The obligations behind a terminal that is read by itself and ends in a state; `None` where it may not end.
    pub(super) fn ended(&self, own: TerminalState, held: ObligationsId) -> Option<ObligationsId> {
        if !self.accepts(own.0, own.1) {
            return None;
        }
        let mut list = self.obligations(held).to_vec();
        list.extend(self.promises(&own).chain(self.longest(&own)));
        Some(self.oblige(&mut self.lock(), list))
    }

    /// Whether a terminal may end in a state, whatever follows.
    pub fn accepts(&self, terminal: u32, state: StateId) -> bool {
        let Some(lexeme) = self.lexeme(terminal).filter(|_| state > CLOSED) else { return false };
        match self.looks_ahead[terminal as usize] {
            true => lexeme.next(state, END) > CLOSED,
            false => lexeme.state(state).accepting,
        }
    }

    /// What orders the terminals that match the same text: the one of the least rank has it. That is the one of the
    /// highest precedence, and among equal ones the one that was defined first.
    fn rank(&self, terminal: u32) -> (Reverse<Precedence>, u32) {
        (Reverse(self.precedence[terminal as usize]), terminal)
    }

    /// Whether a text that two terminals match is the first one's.
    pub fn prefers(&self, terminal: u32, other: u32) -> bool {
        self.rank(terminal) < self.rank(other)
    }

    /// Whether a terminal's look-ahead sees beyond its end.
    pub fn looks_ahead(&self, terminal: u32) -> bool {
        self.looks_ahead[terminal as usize]
    }

    /// Whether a terminal takes its longest match.
    pub fn takes_longest(&self, terminal: u32) -> bool {
        self.takes_longest[terminal as usize]
    }

    /// Whether the look-ahead of any terminal sees beyond its end.
    pub fn any_looks_ahead(&self) -> bool {
        self.looks_ahead.contains(&true)
    }

    fn intern(
        &self,
        builder: &mut Builder,
        mut live: Vec<TerminalState>,
        obligations: ObligationsId,
        at_boundary: bool,
    ) -> ScanStateId {
        live.sort_unstable();
        live.dedup();
        let content = (live.into_boxed_slice(), obligations, at_boundary);
        if let Some(&id) = builder.by_content.get(&content) {
            return id;
        }
        let ends = if at_boundary { Box::default() } else { self.ends(builder, &content.0, obligations) };
        let id = builder.next;
        builder.next += 1;
        let live = content.0.clone();
        let row = self.firsts.iter().map(|_| AtomicU32::new(UNKNOWN_SUCCESSOR)).collect();
        let bytes = live.len() * 16 + self.firsts.len() * 4 + ends.len() * 8 + 160;
        builder.bytes.grow(bytes);
        let unpaid_looks = AtomicU8::new(0);
        self.states.set(id, ScanState { row, unpaid_looks, live, obligations, ends, at_boundary });
        builder.by_content.insert(content, id);
        id
    }

    /// The terminals that may end in a state, and the obligations behind each.
    fn ends(
        &self,
        builder: &mut Builder,
        live: &[TerminalState],
        obligations: ObligationsId,
    ) -> Box<[(u32, ObligationsId)]> {
        let mut accepting: Vec<TerminalState> = live.iter().copied().filter(|&(t, s)| self.accepts(t, s)).collect();
        let held = self.obligations(obligations).to_vec();
        let ends: Vec<(u32, ObligationsId)> = match self.lexer {
            Lexer::Any | Lexer::Dynamic => accepting
                .iter()
                .map(|own| {
                    let mut more = self.promises(own).chain(self.longest(own)).peekable();
                    match more.peek() {
                        None => (own.0, obligations),
                        Some(_) => (own.0, self.oblige(builder, held.iter().copied().chain(more).collect())),
                    }
                })
                .collect(),
            Lexer::Contextual => {
                // This decides which terminal wins by its priority: the first whose look-ahead is met has the text.
                accepting.sort_by_key(|&(t, _)| self.rank(t));
                let longer: Vec<Obligation> =
                    held.into_iter().chain(live.iter().filter_map(|one| self.longest(one))).collect();
                // One whose look-ahead is not met leaves the text to the next one.
                let (mut ends, mut before) = (Vec::new(), Vec::new());
                for own in &accepting {
                    let promise = self.promises(own).next();
                    let list = longer.iter().chain(&before).copied().chain(promise).collect();
                    ends.push((own.0, self.oblige(builder, list)));
                    let Some((_, terminal, rest)) = promise else { break };
                    before.push((Promise::FollowsNot, terminal, rest));
                }
                ends
            }
        };
        ends.into_iter().filter(|&(_, obligations)| self.may_be_kept(builder, obligations)).collect()
    }

    /// How many states are known.
    pub fn num_states(&self) -> usize {
        (self.lock().next - FIRST) as usize
    }

    /// Approximate bytes held, the terminals' own automata left out.
    pub fn memory_bytes(&self) -> usize {
        self.lock().bytes.get()
    }
}
