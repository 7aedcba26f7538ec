//! Transitions of a lexeme: states and rows, made on first use.
//!
//! A row is made whole, by one derivation for all bytes of a raw lexeme and one for each class of bytes of a text. Only
//! the backslash of a text is left out until it is asked for, and so is most of what big classes read beyond ASCII.
//! Dead successors get no state.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::expr::analysis::char_lengths::{CharLengths, lengths};
use crate::expr::{Edge, ExprId};
use crate::json::string_escape::{EscapeMove, EscapeState, after_range, step};
use crate::lexeme::compile_checks::NODE;
use crate::lexeme::{CLOSED, DEAD_STATE, FIRST, LazyDfa, Lexeme, LexemeKind, LexemeState, StateId, UNKNOWN_STATE};
use crate::util::work_meter::{charge, give_up};
use crate::util::{cancel, memory_growth};

/// Microseconds that a state takes.
const STATE_STEPS: usize = 2;
/// Expressions that are made in a microsecond.
const NODES_PER_STEP: usize = 8;
/// Steps of a compile that deriving takes, for one of a mask.
const DERIVED_PER_STEP: usize = 2;
/// Bytes of states that count as a step of a compile.
const BYTES_PER_STEP: usize = 400;
/// Bytes of a lexeme beside its states: its tables of bytes, its first chunks of states and masks, its expressions.
/// Measured by resident memory: 5,400 of a string of a schema, 8,000 of a terminal.
const LEXEME: usize = 6 << 10;
/// Bytes of lists that count as a node.
const LIST: usize = 64;
/// Rows of no more edges get all of their states at once.
const FEW_EDGES: usize = 12;

impl Lexeme {
    pub(super) fn intern(&self, b: &mut LazyDfa, expr: ExprId, sub: EscapeState) -> StateId {
        let sub = self.canonical_sub(expr, sub);
        if let Some(&id) = b.table.get(&(expr, sub)) {
            return id;
        }
        charge(STATE_STEPS);
        let id = b.next;
        b.next += 1;
        let accepting = match sub {
            EscapeState::Plain => b.exprs.nullable(expr),
            _ => false,
        };
        let lengths = if self.bounded { self.lengths_of(b, expr, sub) } else { None };
        let row = (0..self.shared.class_count).map(|_| AtomicU32::new(UNKNOWN_STATE)).collect();
        let (mask_state, free, least) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        self.shared.states.set(id, LexemeState { row, expr, sub, accepting, lengths, mask_state, free, least });
        b.table.insert((expr, sub), id);
        let beside = b.exprs.own_size() - b.exprs.own_len();
        let bytes = LEXEME
            + b.next as usize * (self.shared.class_count * 4 + 160)
            + b.exprs.own_len() * NODE
            + beside * LIST
            + b.digests.len() * 32;
        let before = self.shared.bytes.swap(bytes, Ordering::Relaxed);
        let grown = bytes.saturating_sub(before);
        memory_growth::grow(grown);
        memory_growth::shrink(before.saturating_sub(bytes));
        // Compiles pay for memory as well as for time.
        let paid = if before == 0 { grown.saturating_sub(LEXEME) } else { grown };
        cancel::charge(paid.div_ceil(BYTES_PER_STEP));
        if id == FIRST {
            self.shared.least.store(bytes, Ordering::Relaxed);
        }
        id
    }

    /// Where any character may follow by any escape, the hex digits of one matter only for telling surrogates apart.
    fn canonical_sub(&self, expr: ExprId, sub: EscapeState) -> EscapeState {
        if expr != self.shared.any_text || !self.kind.escapes().is_any() {
            return sub;
        }
        match sub {
            EscapeState::Hex(n @ 1..=3, v) => {
                let top = v >> (4 * (n - 1) as u16);
                if top != 0xD {
                    return EscapeState::Hex(n, 0);
                }
                if n == 1 {
                    return sub;
                }
                match v >> (4 * (n - 2) as u16) & 0xF {
                    0..8 => EscapeState::Hex(n, 0),
                    8..12 => EscapeState::Hex(n, 0xD80 >> (4 * (3 - n) as u16)),
                    _ => EscapeState::Hex(n, 0xDC0 >> (4 * (3 - n) as u16)),
                }
            }
            EscapeState::LowBackslash(_) => EscapeState::LowBackslash(0xD800),
            EscapeState::LowU(_) => EscapeState::LowU(0xD800),
            EscapeState::LowHex(_, n, v) => {
                let v = match n {
                    0 | 1 => v,
                    2 => 0xDC,
                    _ => 0xDC0,
                };
                EscapeState::LowHex(0xD800, n, v)
            }
            other => other,
        }
    }

    fn lengths_of(&self, b: &mut LazyDfa, expr: ExprId, sub: EscapeState) -> Option<CharLengths> {
        let ranges = self.kind.escapes().pending(sub);
        if ranges.is_empty() {
            return lengths(&b.exprs, &mut b.lengths, expr);
        }
        // The pending character was counted at its backslash.
        let mut all = Vec::new();
        for (lo, hi) in ranges {
            for e in after_range(&mut b.exprs, expr, lo, hi) {
                all.extend_from_slice(&lengths(&b.exprs, &mut b.lengths, e)?);
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all.into_boxed_slice())
    }

    #[cold]
    pub(super) fn fill_row(&self, id: StateId, class: usize) -> StateId {
        let mut b = self.lock();
        let state = self.state(id);
        let known = state.row[class].load(Ordering::Acquire);
        if known != UNKNOWN_STATE {
            return known;
        }
        let Some(targets) = self.derive(&mut b, |b| self.targets(b, state, class)) else { return DEAD_STATE };
        for (slot, to) in state.row.iter().zip(&targets) {
            if *to != UNKNOWN_STATE {
                slot.store(*to, Ordering::Release);
            }
        }
        targets[class]
    }

    /// Derives what follows a state, within the memory that this may take. `None` if it takes more: then nothing new is
    /// found from now on.
    pub(super) fn derive<T>(&self, b: &mut LazyDfa, work: impl FnOnce(&mut LazyDfa) -> T) -> Option<T> {
        let (before, derived) = (b.exprs.own_size(), cancel::spent());
        b.exprs.allow(self.shared.row_nodes);
        let made = work(b);
        b.exprs.lift_limit();
        // Where a mask asks, what a compile would count is its work.
        charge(
            (b.exprs.own_size() - before) / NODES_PER_STEP + cancel::spent().saturating_sub(derived) / DERIVED_PER_STEP,
        );
        if b.exprs.is_over() {
            self.shared.gave_up.store(true, Ordering::Relaxed);
            give_up(self.most_row_bytes());
            return None;
        }
        Some(made)
    }

    /// The states that follow `state` under a class of bytes, and those of other classes that are found on the way.
    fn targets(&self, b: &mut LazyDfa, state: &LexemeState, class: usize) -> Vec<StateId> {
        // Most places are passed without an escape, and who looks for one asks for it alone.
        let backslash = usize::from(self.shared.classes[usize::from(b'\\')]);
        let apart = self.kind != LexemeKind::Raw && state.sub == EscapeState::Plain;
        if apart && class == backslash {
            let mut targets = vec![UNKNOWN_STATE; self.shared.class_count];
            targets[class] = self.text_target(b, state.expr, EscapeState::Plain, b'\\');
            return targets;
        }
        let mut targets = vec![DEAD_STATE; self.shared.class_count];
        let classes_of = |edge: &Edge| {
            let of = |byte: u8| usize::from(self.shared.classes[usize::from(byte)]);
            of(edge.lo)..=of(edge.hi)
        };
        // A class of letters of all scripts reads dozens of bytes that each begin another one, and a text has one.
        let is_later =
            |row: &[Edge], edge: &Edge| row.len() > FEW_EDGES && edge.lo >= 0x80 && !classes_of(edge).contains(&class);
        match self.kind {
            LexemeKind::Raw => {
                let row = b.exprs.row(state.expr);
                for edge in row.iter() {
                    let to = match is_later(&row, edge) {
                        true => UNKNOWN_STATE,
                        false if !b.exprs.finds_live(edge.to) => continue,
                        false => self.intern(b, edge.to, EscapeState::Plain),
                    };
                    targets[classes_of(edge)].fill(to);
                }
            }
            LexemeKind::Text { .. } if state.sub == EscapeState::Plain => {
                // Bytes stand for themselves, but for the quote and the backslash.
                let classes = &self.shared.classes;
                let plain = |byte: &u8| *byte >= b' ' && !matches!(byte, b'"' | b'\\');
                let row = b.exprs.row(state.expr);
                for edge in row.iter() {
                    if is_later(&row, edge) {
                        targets[classes_of(edge)].fill(UNKNOWN_STATE);
                    } else if (edge.lo..=edge.hi).any(|byte| plain(&byte)) && b.exprs.finds_live(edge.to) {
                        let to = self.intern(b, edge.to, EscapeState::Plain);
                        for byte in (edge.lo..=edge.hi).filter(plain) {
                            targets[classes[byte as usize] as usize] = to;
                        }
                    }
                }
                targets[classes[usize::from(b'"')] as usize] =
                    self.text_target(b, state.expr, EscapeState::Plain, b'"');
                targets[backslash] = UNKNOWN_STATE;
            }
            LexemeKind::Text { .. } => {
                let mut byte = 0usize;
                while byte < 256 {
                    let c = self.shared.classes[byte] as usize;
                    targets[c] = self.text_target(b, state.expr, state.sub, byte as u8);
                    while byte < 256 && self.shared.classes[byte] as usize == c {
                        byte += 1;
                    }
                }
            }
        }
        targets
    }

    fn text_target(&self, b: &mut LazyDfa, expr: ExprId, sub: EscapeState, byte: u8) -> StateId {
        let moved = step(sub, byte);
        let escapes = self.kind.escapes();
        if !escapes.allows(sub, byte, &moved) {
            return DEAD_STATE;
        }
        let to = match moved {
            EscapeMove::Dead => return DEAD_STATE,
            EscapeMove::Close => return if b.exprs.nullable(expr) { CLOSED } else { DEAD_STATE },
            EscapeMove::To(next) => {
                let live = match next {
                    EscapeState::Plain => true,
                    // Any character can be spelled: one live edge at a character border is enough.
                    EscapeState::Escape | EscapeState::Hex(0, _) if escapes.is_any() => {
                        let row = b.exprs.row(expr);
                        row.iter().any(|e| (e.lo < 0x80 || e.hi >= 0xC0) && b.exprs.finds_live(e.to))
                    }
                    _ => {
                        let ranges = escapes.pending(next);
                        ranges.into_iter().any(|(lo, hi)| !after_range(&mut b.exprs, expr, lo, hi).is_empty())
                    }
                };
                return if live { self.intern(b, expr, next) } else { DEAD_STATE };
            }
            EscapeMove::Byte(d) => b.exprs.derive(expr, d),
            EscapeMove::Char(c) => {
                let mut buf = [0; 4];
                c.encode_utf8(&mut buf).bytes().fold(expr, |e, d| b.exprs.derive(e, d))
            }
        };
        if b.exprs.finds_live(to) { self.intern(b, to, EscapeState::Plain) } else { DEAD_STATE }
    }
}
