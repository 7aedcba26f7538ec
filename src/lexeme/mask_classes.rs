//! Mask classes: states of a lexeme that let equal tokens through, and the slices of a state.
//!
//! A mask asks only what one token can do. States that differ in counts which no token exhausts share one mask, and
//! where the characters of a token are a *slice* of a state nothing need be stepped. Both are read off the expression
//! of a state, once.

use rustc_hash::FxHashMap;

use crate::expr::analysis::byte_lengths::most;
use crate::expr::analysis::char_groups::{CONTROLS, CharGroups, group_of};
use crate::expr::analysis::saturate_counts::{TokenReach, cut, saturate, saturate_parts};
use crate::expr::analysis::slice::{Slice, free};
use crate::expr::analysis::slice_exit::beyond;
use crate::expr::analysis::utf8_wellformed::is_text;
use crate::expr::{ByteSet, INF};
use crate::json::string_escape::EscapeState;
use crate::lexeme::{CLOSED, LazyDfa, Lexeme, LexemeKind, LexemeState, StateId};

/// What an intersection may need to end, beyond a token, for its counts not to matter.
const END_BYTES: u32 = 16;

impl Lexeme {
    /// The state whose mask this state shares: the same but for counts that no token can exhaust.
    pub fn mask_state(&self, id: StateId) -> StateId {
        let state = self.state(id);
        *state.mask_state.get_or_init(|| {
            let mut b = self.lock();
            let reach = self.reach;
            let LazyDfa { exprs, saturated, .. } = &mut *b;
            let e = saturate(exprs, saturated, &reach, state.expr);
            if e == state.expr || exprs.is_over() { id } else { self.intern(&mut b, e, state.sub) }
        })
    }

    /// The state whose mask this state shares, if that was asked before: this never waits.
    #[inline]
    pub fn known_mask_state(&self, id: StateId) -> Option<StateId> {
        self.state(id).mask_state.get().copied()
    }

    /// A state that accepts at most, and one that accepts at least, what `id` does, with counts of more than a handful
    /// cut off or made unbounded. `None` where there is no such count.
    pub fn around(&self, id: StateId) -> Option<(StateId, StateId)> {
        /// Copies that hardly any token exceeds.
        const HANDFUL: u32 = 8;
        let state = self.state(id);
        let mut b = self.lock();
        let uniform = TokenReach { digits: HANDFUL, word: HANDFUL, any: HANDFUL };
        let LazyDfa { exprs, around: (less, more), .. } = &mut *b;
        let high = saturate(exprs, more, &uniform, state.expr);
        let low = cut(exprs, less, HANDFUL, state.expr);
        let counted = low != state.expr && high != state.expr && !exprs.is_over();
        counted.then(|| (self.intern(&mut b, low, state.sub), self.intern(&mut b, high, state.sub)))
    }

    /// What may pass a state whatever it is, a bound on the length aside.
    pub fn free(&self, state: &LexemeState) -> Slice {
        if state.sub != EscapeState::Plain {
            return Slice::NONE;
        }
        *state.free.get_or_init(|| {
            let mut b = self.lock();
            let LazyDfa { exprs, free: memo, lengths, .. } = &mut *b;
            let found = free(exprs, memo, lengths, self.shared.all_live, state.expr);
            if self.kind == LexemeKind::Raw { found } else { found.encoded(self.kind.has_any_text()) }
        })
    }

    /// The characters that may be read after a string over `set` that passes a state between two characters, as they
    /// are written; perhaps some more. And the most characters of such a string, or more.
    pub fn beyond(&self, state: &LexemeState, set: CharGroups) -> (CharGroups, u32) {
        let mut b = self.lock();
        let LazyDfa { exprs, beyond: table, .. } = &mut *b;
        let (read, run) = beyond(exprs, table, state.expr, set);
        match self.kind {
            LexemeKind::Raw => (read, run),
            // Whatever it is may be written as an escape.
            _ => (read & !CONTROLS & !group_of(b'"') | group_of(b'\\'), run),
        }
    }

    /// Whether a state of a text stands between two characters, and any text may go on from it and end it. False where
    /// that is not known.
    pub fn takes_all(&self, state: &LexemeState) -> bool {
        let mut b = self.lock();
        let LazyDfa { exprs, free, .. } = &mut *b;
        state.sub == EscapeState::Plain && free.takes_all(exprs, state.expr)
    }

    /// Whether all members are well-formed UTF-8. False where that is not known.
    pub fn is_text(&self) -> bool {
        *self.shared.is_text.get_or_init(|| is_text(&self.lock().exprs, self.state(self.start).expr))
    }

    /// The bytes that some member contains as it is written; perhaps some more.
    pub fn read_bytes(&self) -> &ByteSet {
        self.shared.read_bytes.get_or_init(|| {
            let mut used = self.lock().exprs.used_bytes(self.state(self.start).expr);
            used[usize::from(b'\\')] |= self.kind != LexemeKind::Raw;
            used
        })
    }

    /// No member that a state goes on with has more code points; [`INF`] where that is not known.
    pub fn longest(&self, id: StateId) -> u32 {
        let state = self.state(id);
        if state.sub != EscapeState::Plain {
            return INF;
        }
        let mut b = self.lock();
        let LazyDfa { exprs, most: table, .. } = &mut *b;
        most(exprs, table, state.expr)
    }

    /// The state that `id` is with counts of more than `reach` made unbounded, which is always the same number for one
    /// lexeme: tokens of up to `reach` bytes stay inside both or neither. `None` where there is no such count, or where
    /// that is not known.
    pub fn unbounded(&self, id: StateId, reach: u32) -> Option<StateId> {
        let state = self.state(id);
        let mut b = self.lock();
        let LazyDfa { exprs, unbounded, .. } = &mut *b;
        let boolean = exprs.is_boolean(state.expr);
        let memo = unbounded.entry((reach, boolean)).or_default();
        let high = if boolean {
            saturate_parts(exprs, memo, reach + END_BYTES, state.expr)
        } else {
            saturate(exprs, memo, &TokenReach { digits: reach, word: reach, any: reach }, state.expr)
        };
        if high == state.expr || exprs.is_over() {
            return None;
        }
        let high = self.intern(&mut b, high, state.sub);
        drop(b);
        (!boolean || self.ends_soon(high)).then_some(high)
    }

    /// Whether every state that a raw state leads to is at most [`END_BYTES`] from an end. Then what follows a token
    /// from there to the end is within a count that the token leaves so much of. Conservative.
    fn ends_soon(&self, id: StateId) -> bool {
        /// States that are looked at.
        const MOST_STATES: usize = 1_000;
        if self.kind != LexemeKind::Raw {
            return false;
        }
        if let Some(&known) = self.lock().ends_soon.get(&id) {
            return known;
        }
        let (classes, count) = self.classes();
        let mut bytes: Vec<Option<u8>> = vec![None; count];
        (0..=255u8).rev().for_each(|b| bytes[usize::from(classes[usize::from(b)])] = Some(b));
        let mut found: FxHashMap<StateId, usize> = FxHashMap::default();
        found.insert(id, 0);
        let mut order = vec![id];
        let mut from: Vec<Vec<usize>> = vec![Vec::new()];
        let mut at = 0;
        while let Some(&s) = order.get(at).filter(|_| order.len() <= MOST_STATES) {
            for to in bytes.iter().flatten().map(|&b| self.next(s, b)).filter(|&to| to > CLOSED) {
                let place = *found.entry(to).or_insert(order.len());
                if place == order.len() {
                    order.push(to);
                    from.push(Vec::new());
                }
                from[place].push(at);
            }
            at += 1;
        }
        // From the ends backwards, a byte at a time.
        let mut near: Vec<bool> = order.iter().map(|&s| self.state(s).accepting).collect();
        let mut front: Vec<usize> = (0..order.len()).filter(|&i| near[i]).collect();
        for _ in 0..END_BYTES {
            let before = front.iter().flat_map(|&i| from[i].iter().copied());
            let mut next: Vec<usize> = before.filter(|&i| !near[i]).collect();
            next.sort_unstable();
            next.dedup();
            next.iter().for_each(|&i| near[i] = true);
            front = next;
        }
        let all_end_soon = at == order.len() && near.iter().all(|&n| n);
        let mut b = self.lock();
        match all_end_soon {
            // Then every state that those lead to is one of them.
            true => b.ends_soon.extend(order.iter().map(|&s| (s, true))),
            false => _ = b.ends_soon.insert(id, false),
        }
        all_end_soon
    }
}
