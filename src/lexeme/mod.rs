//! Lexemes (terminals): one scalar, key or pattern as a lazily determinized automaton over bytes.
//!
//! A state is an expression and, in a string, how far into an escape it is. Rows are computed whole, on first use,
//! under the lexeme's mutex, and read without locks ever after: an entry is 0 until it is known. Dead successors are
//! never interned, so every state can still accept something. Where intersection or complement make liveness a
//! question, the whole reachable space is explored when the lexeme is made, under a limit; nothing fails later.
//!
//! A *raw* lexeme reads its own bytes: a pattern, a number. A *text* lexeme is a JSON string whose decoded text is
//! constrained, with a bound on its length in code points. The length is a register of whoever steps the lexeme (see
//! [`Lexeme::live_at`]), so a `maxLength` of 65,535 costs no states. `docs/internals/lexemes.md` has an example.

mod by_char;
pub mod bytes_around_ends;
mod compile_checks;
mod ending_bytes;
mod finite_members;
mod fresh_copy;
mod length_counter;
mod length_growth;
mod literal_list;
mod mask_classes;
pub mod max_distance;
mod prefix_exhaustion;
pub mod shortest_end;
mod state;
#[cfg(test)]
pub(crate) mod test_lexemes;
mod transitions;
pub mod walk_cache;

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

use crate::error::Result;
use crate::expr::analysis::byte_lengths::{ByteLengthTable, least, least_chars, least_of_all_parts};
use crate::expr::analysis::char_lengths::{CharLengthTable, lengths, meets};
use crate::expr::analysis::saturate_counts::{SaturateTable, TokenReach};
use crate::expr::analysis::shortest_text::shortest_text;
use crate::expr::analysis::slice::SliceTable;
use crate::expr::analysis::slice_exit::SliceExitTable;
use crate::expr::{ByteSet, ExprId, Exprs, INF};
use crate::json::string_escape::EscapeState;
use crate::lexeme::bytes_around_ends::KnownBytesAroundEnds;
use crate::lexeme::compile_checks::{decide_live, most_row_nodes, try_out};
use crate::lexeme::length_growth::{LengthGrowth, growth};
use crate::lexeme::shortest_end::ShortestEnds;
pub use crate::lexeme::state::{CLOSED, DEAD_STATE, LexemeKind, LexemeState, StateId};
use crate::lexeme::state::{FIRST, UNKNOWN_STATE};
use crate::limits::Limits;
use crate::util::append_vec::AppendVec;
use crate::util::memory_growth;

struct LazyDfa {
    exprs: Exprs,
    table: FxHashMap<(ExprId, EscapeState), StateId>,
    lengths: CharLengthTable,
    saturated: SaturateTable,
    /// Memos of [`Lexeme::around`].
    around: (SaturateTable, SaturateTable),
    /// Memos of [`Lexeme::unbounded`], by reach, and for intersections.
    unbounded: FxHashMap<(u32, bool), SaturateTable>,
    /// What [`Lexeme::unbounded`] found about ends.
    ends_soon: FxHashMap<StateId, bool>,
    /// What [`Lexeme::every_prefix_is_infinite`] found.
    lasting: FxHashMap<StateId, bool>,
    free: SliceTable,
    beyond: SliceExitTable,
    sizes: crate::expr::analysis::cardinality::CardinalityTable,
    branching: crate::expr::analysis::branching::BranchingTable,
    least: ByteLengthTable,
    least_chars: ByteLengthTable,
    least_of_all_parts: ByteLengthTable,
    most: ByteLengthTable,
    digests: fresh_copy::Digests,
    next: StateId,
}

impl LazyDfa {
    fn new(exprs: Exprs, lengths: CharLengthTable) -> Self {
        LazyDfa {
            exprs,
            table: FxHashMap::default(),
            lengths,
            saturated: SaturateTable::default(),
            around: Default::default(),
            unbounded: Default::default(),
            ends_soon: Default::default(),
            lasting: Default::default(),
            free: SliceTable::default(),
            beyond: SliceExitTable::default(),
            sizes: Default::default(),
            branching: Default::default(),
            least: Default::default(),
            least_chars: Default::default(),
            least_of_all_parts: Default::default(),
            most: Default::default(),
            digests: Default::default(),
            next: FIRST,
        }
    }
}

/// What lexemes of one expression share, whatever their bounds.
struct ByLexeme {
    classes: Box<[u8; 256]>,
    class_count: usize,
    states: AppendVec<LexemeState>,
    builder: Mutex<LazyDfa>,
    any_text: ExprId,
    /// The start contains intersection or complement.
    boolean: bool,
    /// Whether the expression accepts something, and nothing that it derives to is dead but what is dead at sight.
    all_live: bool,
    /// Approximate bytes held, as of the last state that was made.
    bytes: AtomicUsize,
    /// Bytes held when only the start was known.
    least: AtomicUsize,
    /// What the states that lead on from one may take at most, in nodes of expressions.
    row_nodes: usize,
    /// Some states needed more. What is known goes on being right, and nothing new is found.
    gave_up: AtomicBool,
    /// See [`Lexeme::read_bytes`].
    read_bytes: OnceLock<ByteSet>,
    /// See [`Lexeme::is_text`].
    is_text: OnceLock<bool>,
    /// See [`Lexeme::byte_runs`].
    runs: OnceLock<Box<[(u8, u8)]>>,
}

impl Drop for ByLexeme {
    fn drop(&mut self) {
        memory_growth::shrink(self.bytes.load(Ordering::Relaxed));
    }
}

/// A lazily determinized automaton over the bytes of one scalar, key or pattern; shared by indexes and threads.
pub struct Lexeme {
    kind: LexemeKind,
    shared: Arc<ByLexeme>,
    start: StateId,
    is_any_text: bool,
    bounded: bool,
    /// Bounded text: how it grows. Otherwise nothing depends on it.
    bounds: LengthGrowth,
    growth: OnceLock<LengthGrowth>,
    /// See [`Lexeme::multiplies`].
    multiplies: OnceLock<Option<u32>>,
    /// See [`Lexeme::distance_bound`].
    farthest: OnceLock<u32>,
    /// See [`Lexeme::least_bytes_are_exact`].
    exact: OnceLock<bool>,
    bytes_around_ends: KnownBytesAroundEnds,
    ends: ShortestEnds,
    reach: TokenReach,
}

impl Lexeme {
    /// Compiles `expr` of `source`. Fails where liveness takes more than the limits to decide, and returns `None` if
    /// the lexeme accepts nothing.
    pub fn compile(
        source: &Exprs,
        expr: ExprId,
        kind: LexemeKind,
        reach: TokenReach,
        limits: &Limits,
    ) -> Result<Option<Lexeme>> {
        let mut exprs = Exprs::beside(source, limits.max_expr_nodes);
        let any_text = exprs.any_text();
        let stated = expr;
        let mut expr = exprs.import(source, stated);
        let mut is_stated = source.is_product(stated) && source.is_decided(stated);
        let mut table = CharLengthTable::default();
        let mut kind = kind;
        if let LexemeKind::Text { min, max, escapes } = kind {
            if max < min {
                return Ok(None);
            }
            if (min > 0 || max < INF) && lengths(&exprs, &mut table, expr).is_none() {
                // Structure does not tell the lengths: count by intersection, within the limits.
                let c = exprs.any_char();
                let counted = exprs.rep(c, min, max);
                expr = exprs.and(&[expr, counted]);
                is_stated = false;
                kind = LexemeKind::text(escapes);
            }
        }
        exprs.check()?;
        let origin = is_stated.then_some((source, stated));
        let Some(all_live) = decide_live(&mut exprs, expr, origin, limits)? else { return Ok(None) };
        exprs.forget_live();
        try_out(&mut exprs, expr)?;
        // What is derived from now on is made on use, where nothing may fail: it is bounded by its bytes instead; see
        // `copy`.
        exprs.lift_limit();
        let row_nodes = most_row_nodes(&exprs, expr, limits);
        let lexeme = Lexeme::without_states(exprs, (expr, any_text), kind, table, (all_live, row_nodes), reach);
        let mut b = lexeme.lock();
        let sub = if kind == LexemeKind::Raw { EscapeState::Plain } else { EscapeState::Open };
        lexeme.intern(&mut b, expr, sub);
        drop(b);
        if let LexemeKind::Text { min, max, .. } = kind
            && lexeme.bounded
        {
            let l = lexeme.shared.states.get(FIRST).and_then(|s| s.lengths.clone());
            if !l.is_some_and(|l| meets(&l, min, max)) {
                return Ok(None);
            }
        }
        Ok(Some(lexeme))
    }

    /// The lexeme of a live expression, before its start is interned.
    fn without_states(
        exprs: Exprs,
        (expr, any_text): (ExprId, ExprId),
        kind: LexemeKind,
        mut table: CharLengthTable,
        (all_live, row_nodes): (bool, usize),
        reach: TokenReach,
    ) -> Lexeme {
        let classes = byte_classes(&exprs, expr, kind);
        let bounded = matches!(kind, LexemeKind::Text { min, max, .. } if min > 0 || max < INF);
        let bounds = if bounded { growth(&exprs, &mut table, expr) } else { LengthGrowth::default() };
        table.keep_all();
        Lexeme {
            kind,
            start: FIRST,
            is_any_text: expr == any_text && matches!(kind, LexemeKind::Text { .. }),
            bounded,
            bounds,
            growth: OnceLock::new(),
            multiplies: OnceLock::new(),
            farthest: OnceLock::new(),
            exact: OnceLock::new(),
            bytes_around_ends: Default::default(),
            ends: ShortestEnds::default(),
            reach,
            shared: Arc::new(ByLexeme {
                class_count: usize::from(classes[255]) + 1,
                classes,
                states: AppendVec::default(),
                any_text,
                boolean: exprs.is_boolean(expr),
                all_live,
                builder: Mutex::new(LazyDfa::new(exprs, table)),
                bytes: AtomicUsize::new(0),
                least: AtomicUsize::new(0),
                row_nodes,
                gave_up: AtomicBool::new(false),
                read_bytes: OnceLock::new(),
                is_text: OnceLock::new(),
                runs: OnceLock::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LazyDfa> {
        /// Looks at a lock that another thread has, before this one sleeps: most locks are held for a row.
        const LOOKS: usize = 64;
        /// Turns between two looks.
        const TURNS: usize = 16;
        for _ in 0..LOOKS {
            match self.shared.builder.try_lock() {
                Ok(builder) => return builder,
                Err(TryLockError::WouldBlock) => (0..TURNS).for_each(|_| std::hint::spin_loop()),
                Err(TryLockError::Poisoned(_)) => break,
            }
        }
        // A panic while building leaves at worst a missing row, which is computed again.
        self.shared.builder.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// What the lexeme reads.
    pub fn kind(&self) -> LexemeKind {
        self.kind
    }

    /// The class of every byte: bytes of one class act alike in every state.
    pub fn byte_classes(&self) -> &[u8; 256] {
        &self.shared.classes
    }

    /// Bytes of all classes, ascending: the first of each run of bytes that are alike.
    pub fn bytes_of_classes(&self) -> Vec<u8> {
        let classes = self.byte_classes();
        (0..=255u8).filter(|&b| b == 0 || classes[b as usize] != classes[b as usize - 1]).collect()
    }

    /// The first and last byte of each class, ascending.
    pub(crate) fn byte_runs(&self) -> impl Iterator<Item = (u8, u8)> {
        let runs = self.shared.runs.get_or_init(|| {
            let first = self.bytes_of_classes();
            let last = first.iter().skip(1).map(|b| b - 1).chain([255]);
            first.iter().copied().zip(last).collect()
        });
        runs.iter().copied()
    }

    /// The start state.
    pub fn start(&self) -> StateId {
        self.start
    }

    /// Whether this is a string without constraints but length.
    pub fn is_any_text(&self) -> bool {
        self.is_any_text
    }

    /// The reach that masks saturate with.
    pub fn reach(&self) -> TokenReach {
        self.reach
    }

    /// The class of each byte, and how many classes there are: bytes of one class lead to the same state.
    pub(crate) fn classes(&self) -> (&[u8; 256], usize) {
        (&self.shared.classes, self.shared.class_count)
    }

    /// Number of states found so far.
    pub fn num_states(&self) -> usize {
        (self.lock().next - FIRST) as usize + 1
    }

    /// Approximate bytes held by states and expressions.
    #[inline]
    pub fn memory_bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// A state's data. `id` must come from this lexeme and be neither dead nor closed.
    #[inline]
    pub fn state(&self, id: StateId) -> &LexemeState {
        match self.shared.states.get(id) {
            Some(s) => s,
            // Ids are only ever handed out after their state was set.
            None => unreachable!("state {id} of a lexeme was never made"),
        }
    }

    /// Whether every text is accepted from a state.
    pub fn accepts_any_text(&self, id: StateId) -> bool {
        id > CLOSED && [self.shared.any_text, Exprs::ALL].contains(&self.state(id).expr)
    }

    /// The successor of `id` under `byte`: a state, [`DEAD_STATE`] or [`CLOSED`].
    #[inline]
    pub fn next(&self, id: StateId, byte: u8) -> StateId {
        if id <= CLOSED {
            return DEAD_STATE;
        }
        self.next_from(id, self.state(id), byte)
    }

    /// [`next`](Self::next) for a caller that holds the state already.
    #[inline]
    pub fn next_from(&self, id: StateId, state: &LexemeState, byte: u8) -> StateId {
        let class = self.shared.classes[byte as usize] as usize;
        let to = state.row[class].load(Ordering::Acquire);
        if to != UNKNOWN_STATE { to } else { self.fill_row(id, class) }
    }

    /// [`next`](Self::next) where it was found out before, of a state that is neither dead nor closed.
    #[inline]
    pub fn known_next(&self, id: StateId, byte: u8) -> Option<StateId> {
        let class = usize::from(self.shared.classes[usize::from(byte)]);
        let to = self.state(id).row[class].load(Ordering::Acquire);
        (to != UNKNOWN_STATE).then_some(to)
    }

    /// Whether `byte` keeps to one spelling of every text: escapes only of what needs one, the short one where there is
    /// one. Of an escape that was `begun` before, only the case of the digits is chosen.
    pub fn spells_once(&self, state: &LexemeState, byte: u8, begun: bool) -> bool {
        match state.sub {
            EscapeState::Open | EscapeState::Plain => true,
            _ if begun => !byte.is_ascii_uppercase(),
            EscapeState::Escape => byte != b'/',
            EscapeState::Hex(0 | 1, _) => byte == b'0',
            EscapeState::Hex(2, _) => matches!(byte, b'0' | b'1'),
            EscapeState::Hex(_, 1) => !byte.is_ascii_uppercase(),
            EscapeState::Hex(_, 0) => !byte.is_ascii_uppercase() && !matches!(byte, b'8' | b'9' | b'a' | b'c' | b'd'),
            _ => false,
        }
    }

    /// Whether a state is before the opening quote.
    pub fn is_open(&self, state: &LexemeState) -> bool {
        state.sub == EscapeState::Open
    }

    /// Whether a state is just after a backslash.
    pub fn is_escape(&self, state: &LexemeState) -> bool {
        state.sub == EscapeState::Escape
    }

    /// The ways to the end that were found.
    pub(crate) fn ends(&self) -> &ShortestEnds {
        &self.ends
    }

    /// No fewer bytes lead from a state, after `count` code points, to the end, the closing quote of a string included.
    /// Mostly some do, with nothing but plain characters.
    pub fn least_bytes(&self, id: StateId, count: u32) -> u32 {
        let state = self.state(id);
        let text = *state.least.get_or_init(|| {
            let mut b = self.lock();
            let LazyDfa { exprs, least: table, .. } = &mut *b;
            least(exprs, table, state.expr)
        });
        let missing = match self.kind {
            LexemeKind::Raw if state.accepting => return 0,
            LexemeKind::Raw => return text.max(1),
            LexemeKind::Text { min, .. } => min.saturating_sub(count),
        };
        let (rest, spelled) = state.sub.missing_and_spelled_bytes();
        let mut text = text.saturating_sub(spelled);
        if spelled > 1 {
            // It spells one character, and each that follows has a byte at least.
            let mut b = self.lock();
            let LazyDfa { exprs, least_chars: table, .. } = &mut *b;
            text = text.max(least_chars(exprs, table, state.expr).saturating_sub(1));
        }
        text.max(missing).saturating_add(rest + 1)
    }

    /// A shortest text that ends the expression of a state outside of escapes, where its structure tells one of at most
    /// `most` bytes.
    pub(crate) fn shortest_text(&self, id: StateId, rank: &[u8; 256], most: u32) -> Option<Arc<[u8]>> {
        let state = self.state(id);
        if !matches!(state.sub, EscapeState::Plain | EscapeState::Open) {
            return None;
        }
        let mut b = self.lock();
        let LazyDfa { exprs, least: table, .. } = &mut *b;
        shortest_text(exprs, table, state.expr, rank, most)
    }

    /// Bytes that lead from a state to the ends of all parts of an intersection, each by itself: more than are missing
    /// where one byte counts for several parts.
    pub(crate) fn least_bytes_of_all_parts(&self, id: StateId, count: u32) -> u32 {
        let mut b = self.lock();
        let LazyDfa { exprs, least_of_all_parts: table, .. } = &mut *b;
        let state = self.state(id);
        let text = least_of_all_parts(exprs, table, state.expr);
        let LexemeKind::Text { min, .. } = self.kind else { return text };
        text.saturating_add(min.saturating_sub(count)).saturating_add(state.sub.missing_and_spelled_bytes().0)
    }

    /// How many byte strings lead from a raw state to acceptance; `u64::MAX` is without end, or too many to matter.
    pub fn residual_size(&self, id: StateId) -> u64 {
        if id <= CLOSED {
            return 0;
        }
        let mut b = self.lock();
        let LazyDfa { exprs, sizes, .. } = &mut *b;
        crate::expr::analysis::cardinality::size(exprs, sizes, self.state(id).expr)
    }

    /// Whether at least `least` texts end an unbounded text lexeme from a state outside of escapes, or counting them
    /// would take long; `None` for other lexemes and states. Whoever is watched asks afterwards whether to go on.
    pub fn has_many_texts(&self, id: StateId, least: u64) -> Option<bool> {
        /// States and alternatives that are counted.
        const MOST_COUNTED: usize = 20_000;
        if id <= CLOSED || self.kind == LexemeKind::Raw || self.bounded || self.state(id).sub != EscapeState::Plain {
            return None;
        }
        let mut b = self.lock();
        let LazyDfa { exprs, sizes, .. } = &mut *b;
        let expr = self.state(id).expr;
        let size = crate::expr::analysis::cardinality::size_within(exprs, sizes, expr, MOST_COUNTED);
        Some(size.is_none_or(|n| n >= least))
    }

    /// How many texts end an unbounded text lexeme from a state outside of escapes; `None` for other lexemes and
    /// states.
    pub fn num_texts(&self, id: StateId) -> Option<u64> {
        let plain =
            id > CLOSED && self.kind != LexemeKind::Raw && !self.bounded && self.state(id).sub == EscapeState::Plain;
        plain.then(|| self.residual_size(id))
    }
}

/// The classes of bytes that act alike in every state of `expr`, as far as it can be told from its parts; inside a JSON
/// string, those that its syntax tells apart as well.
fn byte_classes(exprs: &Exprs, expr: ExprId, kind: LexemeKind) -> Box<[u8; 256]> {
    let mut borders = [false; 256];
    exprs.byte_borders(expr, &mut borders);
    if kind != LexemeKind::Raw {
        for b in *b"\"\\/bfnrtu" {
            borders[b as usize] = true;
            borders[b as usize + 1] = true;
        }
        let hex = (b'0'..=b'9' + 1).chain(b'A'..=b'G').chain(b'a'..=b'g');
        hex.chain([0x20, 0x80, 0xC0]).for_each(|b| borders[b as usize] = true);
    }
    let mut classes = Box::new([0u8; 256]);
    let mut class = 0u8;
    for b in 1..256usize {
        class += u8::from(borders[b]);
        classes[b] = class;
    }
    classes
}
