//! The scanner: all terminals that may be read here, side by side, as one automaton made on use.
//!
//! A state holds the terminals that the text since the last boundary may still become, each with the state of its own
//! automaton, and what must *not* come. The latter is an obligation: a terminal that took its longest match promised
//! that no longer one follows, and this promise is kept byte by byte until nothing could break it any more. So a match
//! is the longest one in all of the text, and not only as far as one byte of look-ahead tells.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::expr::ByteSet;
use crate::grammar::model::{Grammar, Lexer};
use crate::lexeme::{CLOSED, DEAD, Lexeme, StateId};
use crate::util::append_vec::AppendVec;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::OBLIGED_STATES;
use crate::util::hash::SeededMap;

/// Names a state of the scanner.
pub type ScanStateId = u32;
/// Names a list of obligations.
pub type ObligationsId = u32;

/// A successor that was not asked for yet.
const UNKNOWN: ScanStateId = 0;
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
    /// What the text may still become.
    pub live: Box<[TerminalState]>,
    /// What must not be read to an end any more.
    pub obligations: ObligationsId,
    /// The terminals that may end here, with the obligations that follow. None at a boundary.
    pub ends: Box<[(u32, ObligationsId)]>,
    /// Nothing was read since the last boundary.
    pub at_boundary: bool,
}

/// What a terminal that ended promised of the rest of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// It does not become a longer text of the terminal.
    NoLonger,
    /// It is what the look-ahead at the terminal's end asks for.
    Follows,
    /// It is not what such a look-ahead asks for: then a longer text would have matched.
    FollowsNot,
}

/// A promise, with the state of the terminal's automaton that says whether it is kept.
pub type Obligation = (Promise, u32, StateId);

/// What must be kept of the rest of the text.
struct Obligations {
    list: Box<[Obligation]>,
    /// The bytes that would break it, made on use.
    forbidden: OnceLock<ByteSet>,
    /// Whether some text keeps all of them, made on use.
    possible: OnceLock<bool>,
    /// The bytes that keep some of them open, or break it, made on use.
    kept: OnceLock<[u64; 4]>,
}

/// What decides which of several terminals is taken where they match the same text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// Higher ones first.
    pub priority: i32,
    /// Literals before patterns.
    pub literal: bool,
}

/// Whether the same is said to follow and not to follow.
fn contradict(list: &[Obligation]) -> bool {
    list.iter().any(|&(promise, terminal, state)| {
        promise == Promise::Follows && list.contains(&(Promise::FollowsNot, terminal, state))
    })
}

/// The terminals of a grammar as one automaton over bytes. Threads share it.
pub struct Scanner {
    lexer: Lexer,
    /// One for each terminal; none for those without texts.
    lexemes: Box<[Option<Arc<Lexeme>>]>,
    /// Terminals whose look-ahead sees beyond their end: their automata read the rest of the text behind [`END`].
    looks_ahead: Box<[bool]>,
    /// Terminals that take their longest match.
    takes_longest: Box<[bool]>,
    precedence: Box<[Precedence]>,
    classes: Box<[u8; 256]>,
    /// The first byte of each class.
    firsts: Box<[u8]>,
    states: AppendVec<ScanState>,
    obligations: AppendVec<Obligations>,
    /// States at boundaries with obligations.
    obliged: BoundedCache<(ScanStateId, ObligationsId), ScanStateId, OBLIGED_STATES>,
    builder: Mutex<Builder>,
}

#[derive(Default)]
struct Builder {
    by_content: SeededMap<(Box<[TerminalState]>, ObligationsId, bool), ScanStateId>,
    by_obligations: SeededMap<Box<[Obligation]>, ObligationsId>,
    next: ScanStateId,
    bytes: usize,
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
        };
        scanner.oblige(&mut scanner.lock(), Vec::new());
        scanner
    }

    fn lock(&self) -> MutexGuard<'_, Builder> {
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
            UNKNOWN => self.make_next(id, byte),
            known => known,
        }
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

    /// Whether obligations forbid that this byte comes next.
    pub fn forbids(&self, obligations: ObligationsId, byte: u8) -> bool {
        let Some(obligations) = self.obligations.get(obligations) else { return false };
        let forbidden = obligations.forbidden.get_or_init(|| {
            let breaks = |byte: u8| self.step_obligations(&obligations.list, byte).is_none();
            let by_class: Vec<bool> = self.firsts.iter().map(|&first| breaks(first)).collect();
            std::array::from_fn(|byte| by_class[self.class(byte as u8)])
        });
        forbidden[usize::from(byte)]
    }

    /// The obligations behind a byte; `None` if it breaks one.
    pub fn next_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        if id == NO_OBLIGATIONS {
            return Some(id);
        }
        let list = self.step_obligations(self.obligations(id), byte)?;
        Some(self.oblige(&mut self.lock(), list))
    }

    /// Whether the text may end under obligations.
    pub fn may_end(&self, id: ObligationsId) -> bool {
        self.obligations(id).iter().all(|&(promise, terminal, state)| {
            let kept = || self.lexeme(terminal).is_some_and(|lexeme| lexeme.state(state).accepting);
            match promise {
                Promise::NoLonger => true,
                Promise::Follows => kept(),
                Promise::FollowsNot => !kept(),
            }
        })
    }

    /// The promises behind a byte; `None` if it breaks one.
    fn step_obligations(&self, list: &[Obligation], byte: u8) -> Option<Vec<Obligation>> {
        let mut out = Vec::with_capacity(list.len());
        for &(promise, terminal, from) in list {
            let Some(lexeme) = self.lexeme(terminal) else { continue };
            let to =
                if promise == Promise::NoLonger { self.step(terminal, from, byte) } else { lexeme.next(from, byte) };
            let lives = to > CLOSED;
            match promise {
                Promise::NoLonger if !lives => {}
                Promise::NoLonger => {
                    if self.accepts(terminal, to) {
                        // A longer text would match, at once or if its look-ahead were met.
                        let rest = self.looks_ahead[terminal as usize].then(|| lexeme.next(to, END));
                        match rest {
                            Some(rest) if !lexeme.accepts_any_text(rest) => {
                                out.push((Promise::FollowsNot, terminal, rest));
                            }
                            _ => return None,
                        }
                    }
                    out.push((promise, terminal, to));
                }
                Promise::Follows if !lives => return None,
                Promise::FollowsNot if !lives => {}
                Promise::Follows | Promise::FollowsNot => match (lexeme.accepts_any_text(to), promise) {
                    (true, Promise::FollowsNot) => return None,
                    (true, _) => {}
                    (false, _) => out.push((promise, terminal, to)),
                },
            }
        }
        Some(out)
    }

    /// The state of a terminal behind a byte of its text, or one that is dead.
    pub fn step(&self, terminal: u32, from: StateId, byte: u8) -> StateId {
        match &self.lexemes[terminal as usize] {
            Some(lexeme) if byte != END || !self.looks_ahead[terminal as usize] => lexeme.next(from, byte),
            _ => DEAD,
        }
    }

    #[cold]
    fn make_next(&self, id: ScanStateId, byte: u8) -> ScanStateId {
        let state = self.state(id);
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
        state.row[self.class(byte)].store(to, Ordering::Release);
        to
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

    /// Whether all that may follow under obligations may follow under others as well.
    pub(super) fn is_weaker(&self, weaker: ObligationsId, than: ObligationsId) -> bool {
        let all = self.obligations(than);
        weaker == than || self.obligations(weaker).iter().all(|one| all.binary_search(one).is_ok())
    }

    /// Whether some text keeps obligations. True as well where that is not found out in reasonable time.
    fn may_be_kept(&self, builder: &mut Builder, id: ObligationsId) -> bool {
        /// Lists that are looked at.
        const MOST: usize = 1_000;
        let Some(obligations) = self.obligations.get(id) else { return true };
        if obligations.list.iter().all(|&(promise, ..)| promise == Promise::NoLonger) {
            return true;
        }
        if let Some(&known) = obligations.possible.get() {
            return known;
        }
        let mut seen = vec![id];
        let mut at = 0;
        let mut answer = false;
        while let Some(&one) = seen.get(at).filter(|_| !answer) {
            at += 1;
            if contradict(self.obligations(one)) {
                continue;
            }
            answer = seen.len() > MOST || self.may_end(one);
            for &byte in self.firsts.iter().filter(|_| !answer) {
                let Some(list) = self.step_obligations(self.obligations(one), byte) else { continue };
                let next = self.oblige(builder, list);
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
        }
        *obligations.possible.get_or_init(|| answer)
    }

    /// Whether a terminal may end in a state, whatever follows.
    pub fn accepts(&self, terminal: u32, state: StateId) -> bool {
        let Some(lexeme) = self.lexeme(terminal).filter(|_| state > CLOSED) else { return false };
        match self.looks_ahead[terminal as usize] {
            true => lexeme.next(state, END) > CLOSED,
            false => lexeme.state(state).accepting,
        }
    }

    /// Whether a text that two terminals match is the first one's.
    pub fn prefers(&self, terminal: u32, other: u32) -> bool {
        let rank = |t: u32| (std::cmp::Reverse(self.precedence[t as usize]), t);
        rank(terminal) < rank(other)
    }

    /// Whether a terminal's look-ahead sees beyond its end.
    pub fn looks_ahead(&self, terminal: u32) -> bool {
        self.looks_ahead[terminal as usize]
    }

    /// Whether the look-ahead of any terminal sees beyond its end.
    pub fn any_looks_ahead(&self) -> bool {
        self.looks_ahead.contains(&true)
    }

    /// What a terminal that ends in a state promises of the rest.
    fn promises(&self, &(terminal, state): &TerminalState) -> impl Iterator<Item = Obligation> {
        let lexeme = self.lexeme(terminal).filter(|_| self.looks_ahead[terminal as usize]);
        let rest = lexeme.map(|lexeme| (lexeme, lexeme.next(state, END)));
        let rest = rest.filter(|(lexeme, rest)| *rest > CLOSED && !lexeme.accepts_any_text(*rest));
        rest.map(|(_, rest)| (Promise::Follows, terminal, rest)).into_iter()
    }

    /// The bytes that keep some promise open, or break it, behind the end of a terminal in a state.
    pub fn bytes_that_matter(&self, own: TerminalState) -> ByteSet {
        let list: Vec<Obligation> = self.promises(&own).chain(self.longest(&own)).collect();
        self.bytes_that_leave(&list)
    }

    /// The bytes that tell whether the look-ahead of a terminal that ends in a state is met; `None` if it is, whatever
    /// follows.
    pub fn bytes_that_decide(&self, own: TerminalState) -> Option<ByteSet> {
        let (_, terminal, rest) = self.promises(&own).next()?;
        Some(self.bytes_that_leave(&[(Promise::FollowsNot, terminal, rest)]))
    }

    /// The bytes that keep some obligation open, or break it, as bits.
    pub fn bytes_that_keep(&self, obligations: ObligationsId) -> [u64; 4] {
        let Some(obligations) = self.obligations.get(obligations) else { return [0; 4] };
        *obligations.kept.get_or_init(|| {
            let bytes = self.bytes_that_leave(&obligations.list);
            let mut out = [0; 4];
            (0..256).filter(|&byte| bytes[byte]).for_each(|byte| out[byte / 64] |= 1 << (byte % 64));
            out
        })
    }

    /// The bytes that keep some promise open, or break it.
    fn bytes_that_leave(&self, list: &[Obligation]) -> ByteSet {
        let by_class: Vec<bool> =
            self.firsts.iter().map(|&byte| self.step_obligations(list, byte).is_none_or(|l| !l.is_empty())).collect();
        std::array::from_fn(|byte| by_class[self.class(byte as u8)])
    }

    /// What a terminal promises that takes its longest match and ends in a state from which it could go on.
    fn longest(&self, own: &TerminalState) -> Option<Obligation> {
        let is_promised = self.takes_longest[own.0 as usize] && self.goes_on(own);
        is_promised.then_some((Promise::NoLonger, own.0, own.1))
    }

    /// Whether some text leads on from a state of a terminal.
    fn goes_on(&self, &(terminal, state): &TerminalState) -> bool {
        self.firsts.iter().any(|&byte| self.step(terminal, state, byte) > CLOSED)
    }

    /// The number of a list of obligations, those left out that nothing can break.
    fn oblige(&self, builder: &mut Builder, mut list: Vec<Obligation>) -> ObligationsId {
        list.sort_unstable();
        list.dedup();
        let list: Box<[Obligation]> = list.into();
        if let Some(&id) = builder.by_obligations.get(&list) {
            return id;
        }
        let id = builder.by_obligations.len() as ObligationsId;
        builder.bytes += list.len() * 16 + 400;
        self.obligations.set(
            id,
            Obligations {
                list: list.clone(),
                forbidden: OnceLock::new(),
                possible: OnceLock::new(),
                kept: OnceLock::new(),
            },
        );
        builder.by_obligations.insert(list, id);
        id
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
        let row = self.firsts.iter().map(|_| AtomicU32::new(UNKNOWN)).collect();
        builder.bytes += live.len() * 16 + self.firsts.len() * 4 + ends.len() * 8 + 160;
        self.states.set(id, ScanState { row, live, obligations, ends, at_boundary });
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
                // The first one defined wins among equals.
                accepting.sort_by_key(|&(t, _)| (std::cmp::Reverse(self.precedence[t as usize]), t));
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
        self.lock().bytes
    }
}
