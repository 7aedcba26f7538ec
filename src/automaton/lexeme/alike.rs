//! States that let the same tokens through, and what they let through whatever it is.
//!
//! A mask asks only what one token can do. States that differ in counts which no token exhausts share one, and where a
//! state is *free* in the characters of a token nothing need be stepped. Both are read off the expression of a state,
//! once.

use super::super::free::{Free, free};
use super::super::saturate::{Reach, cut, saturate};
use super::super::text::Sub;
use super::super::wellformed::is_text;
use super::{Builder, Kind, Lexeme, State, StateId};

impl Lexeme {
    /// The state whose mask this state shares: the same but for counts that no token can exhaust.
    pub fn mask_state(&self, id: StateId) -> StateId {
        let state = self.state(id);
        *state.mask_state.get_or_init(|| {
            let mut b = self.lock();
            let reach = self.reach;
            let Builder { exprs, saturated, .. } = &mut *b;
            let e = saturate(exprs, saturated, &reach, state.expr);
            if e == state.expr || exprs.is_over() { id } else { self.intern(&mut b, e, state.sub) }
        })
    }

    /// The same, if it was asked before: this never waits.
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
        let uniform = Reach { digits: HANDFUL, word: HANDFUL, any: HANDFUL };
        let Builder { exprs, around: (less, more), .. } = &mut *b;
        let high = saturate(exprs, more, &uniform, state.expr);
        let low = cut(exprs, less, HANDFUL, state.expr);
        let counted = low != state.expr && high != state.expr && !exprs.is_over();
        counted.then(|| (self.intern(&mut b, low, state.sub), self.intern(&mut b, high, state.sub)))
    }

    /// What may pass a state whatever it is, a bound on the length aside.
    pub fn free(&self, state: &State) -> Free {
        if state.sub != Sub::Plain {
            return Free::NONE;
        }
        *state.free.get_or_init(|| {
            let mut b = self.lock();
            let Builder { exprs, free: memo, lengths, .. } = &mut *b;
            let found = free(exprs, memo, lengths, self.shared.all_live, state.expr);
            if self.kind == Kind::Raw { found } else { found.encoded(self.kind == Kind::Constant) }
        })
    }

    /// Whether all members are well-formed UTF-8. False where that is not known.
    pub fn is_text(&self) -> bool {
        let mut b = self.lock();
        let start = self.state(self.start).expr;
        let known = b.is_text.unwrap_or_else(|| is_text(&b.exprs, start));
        b.is_text = Some(known);
        known
    }

    /// The state that `id` is with counts of more than `reach` made unbounded, which is always the same number for one
    /// lexeme. `None` where there is no such count.
    pub fn unbounded(&self, id: StateId, reach: u32) -> Option<StateId> {
        let state = self.state(id);
        let mut b = self.lock();
        let uniform = Reach { digits: reach, word: reach, any: reach };
        let Builder { exprs, unbounded, .. } = &mut *b;
        let high = saturate(exprs, unbounded, &uniform, state.expr);
        (high != state.expr && !exprs.is_over()).then(|| self.intern(&mut b, high, state.sub))
    }
}
