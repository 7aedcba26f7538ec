//! Fresh copies: lexemes over an equal language that know no state but their start.
//!
//! States are found on use and named by number, and whoever holds a number may come back with it, so none can be
//! forgotten: a pattern with 2^20 states and a long text would fill the memory. A lexeme that holds too much is
//! therefore left as it is, and work goes on in a *copy*: an equal language, equal byte classes, and no state but the
//! start. A state of the old lexeme is carried over by its expression.
//!
//! Lexemes with intersection or complement are never copied. All their expressions were found when they were made,
//! under a limit, and which of them are dead is known there only.
//!
//! A *digest* names a state in all copies alike, whatever its number is.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::expr::analysis::char_lengths::CharLengthTable;
use crate::expr::{ByteSet, Digest, ExprId, Exprs};
use crate::json::string_escape::EscapeState;
use crate::lexeme::compile_checks::NODE;
use crate::lexeme::{ByLexeme, CLOSED, FIRST, LazyDfa, Lexeme, LexemeKind, StateId};
use crate::util::append_vec::AppendVec;

/// Memo of the digests of expressions.
pub(super) type Digests = FxHashMap<ExprId, Digest>;

impl Lexeme {
    /// Whether the states found on use take more than `bytes` (and more than the source itself does, which a copy
    /// would have to repeat), or no more are found, and a copy would help.
    #[inline]
    pub fn is_full(&self, bytes: usize) -> bool {
        let least = self.shared.least.load(Ordering::Relaxed);
        let is_large = self.memory_bytes() > least.saturating_add(bytes.max(least));
        (is_large || self.has_given_up()) && !self.shared.boolean
    }

    /// Whether the states that follow some state needed more memory than they may take. Nothing new is found then:
    /// guides that were there are lost, and others go on in a copy.
    #[inline]
    pub fn has_given_up(&self) -> bool {
        self.shared.gave_up.load(Ordering::Relaxed)
    }

    /// The bytes that the states behind one may take.
    pub fn most_row_bytes(&self) -> u64 {
        (self.shared.row_nodes as u64).saturating_mul(NODE as u64)
    }

    /// Whether copies are possible.
    pub fn can_be_copied(&self) -> bool {
        !self.shared.boolean
    }

    /// Whether the states of `other` are this lexeme's own.
    pub fn shares_states(&self, other: &Lexeme) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The bytes that some member may have; more than those where intersection or complement are involved.
    pub fn used_bytes(&self) -> ByteSet {
        self.lock().exprs.used_bytes(self.state(self.start).expr)
    }

    /// A lexeme over an equal language with no state but the start.
    pub fn copied(&self) -> Lexeme {
        let old = self.lock();
        let mut exprs = Exprs::new(usize::MAX);
        let any_text = exprs.any_text();
        let expr = exprs.import(&old.exprs, self.state(self.start).expr);
        drop(old);
        let mut table = CharLengthTable::default();
        table.keep_all();
        let shared = ByLexeme {
            classes: self.shared.classes.clone(),
            class_count: self.shared.class_count,
            states: AppendVec::default(),
            any_text,
            boolean: false,
            all_live: false,
            builder: Mutex::new(LazyDfa::new(exprs, table)),
            bytes: AtomicUsize::new(0),
            least: AtomicUsize::new(0),
            row_nodes: self.shared.row_nodes,
            gave_up: AtomicBool::new(false),
            read_bytes: self.shared.read_bytes.clone(),
            is_text: self.shared.is_text.clone(),
            runs: self.shared.runs.clone(),
        };
        let copy = self.over(Arc::new(shared));
        let sub = if self.kind == LexemeKind::Raw { EscapeState::Plain } else { EscapeState::Open };
        copy.intern(&mut copy.lock(), expr, sub);
        copy
    }

    /// A lexeme with this one's bounds over the states of `copy`, which is a copy of one that shares this one's states.
    pub fn over_states_of(&self, copy: &Lexeme) -> Lexeme {
        self.over(copy.shared.clone())
    }

    fn over(&self, shared: Arc<ByLexeme>) -> Lexeme {
        Lexeme {
            kind: self.kind,
            shared,
            start: FIRST,
            is_any_text: self.is_any_text,
            bounded: self.bounded,
            bounds: self.bounds,
            growth: OnceLock::new(),
            multiplies: OnceLock::new(),
            farthest: OnceLock::new(),
            exact: OnceLock::new(),
            bytes_around_ends: Default::default(),
            ends: Default::default(),
            reach: self.reach,
        }
    }

    /// The state of this lexeme that `id` is in `from`, of which this one is a copy, or the other way round.
    pub fn adopt(&self, from: &Lexeme, id: StateId) -> StateId {
        if id <= CLOSED || self.shares_states(from) {
            return id;
        }
        let state = from.state(id);
        // One lock at a time: two threads may carry states in both directions.
        let mut between = Exprs::new(usize::MAX);
        let expr = between.import(&from.lock().exprs, state.expr);
        let mut b = self.lock();
        let expr = b.exprs.import(&between, expr);
        self.intern(&mut b, expr, state.sub)
    }

    /// Whether a walk that began when the lexeme held `before` bytes should go on in a copy.
    pub fn has_grown(&self, before: usize) -> bool {
        /// Bytes of states that one walk of a trie adds to a lexeme: some 10,000 states. Few walks need a tenth of it.
        const WALK_BYTES: usize = 4 << 20;
        let least = self.shared.least.load(Ordering::Relaxed);
        self.memory_bytes().saturating_sub(before) > WALK_BYTES.max(least) && !self.shared.boolean
    }

    /// What names a state in this lexeme and all copies of it.
    pub fn digest(&self, id: StateId) -> Vec<u8> {
        if id <= CLOSED {
            return id.to_le_bytes().to_vec();
        }
        let state = self.state(id);
        let mut b = self.lock();
        let LazyDfa { exprs, digests, .. } = &mut *b;
        let mut out = exprs.digest(digests, state.expr).to_vec();
        drop(b);
        out.extend(format!("{:?}", state.sub).bytes());
        out
    }
}
