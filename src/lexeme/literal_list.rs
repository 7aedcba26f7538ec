//! Strings that list their texts, walked without states.
//!
//! The expression of an enumeration is a trie of its texts. A mask tries all alternatives in every spelling, while a
//! document takes one of the ways. So a mask reads off the expression how its texts go on, and makes no states for what
//! it only looks at.

use std::sync::MutexGuard;

use crate::expr::analysis::cardinality::size;
use crate::expr::{Edge, Expr, ExprId, Exprs};
use crate::json::string_escape::{EscapeMove, EscapeState, EscapeUse, step};
use crate::lexeme::{CLOSED, LazyDfa, Lexeme, LexemeKind, StateId};

/// The listed texts of a lexeme, read off its expression. No state of the lexeme can be made meanwhile.
pub struct LiteralList<'a> {
    builder: MutexGuard<'a, LazyDfa>,
    /// The escapes that count.
    escapes: EscapeUse,
}

/// Where a reader of a [`LiteralList`] stands: the expression of what follows, and how far into an escape it is.
pub type ListPlace = (ExprId, EscapeState);

impl Lexeme {
    /// The texts of a string without bounds on its length, and where the state `id` stands among them. `None` for other
    /// lexemes; whether the texts are listed turns out at each place.
    pub fn list(&self, id: StateId) -> Option<(LiteralList<'_>, ListPlace)> {
        if self.kind == LexemeKind::Raw || self.bounded || self.is_any_text || self.shared.boolean || id <= CLOSED {
            return None;
        }
        let state = self.state(id);
        let list = LiteralList { builder: self.lock(), escapes: self.kind.escapes() };
        Some((list, (state.expr, state.sub)))
    }
}

impl Lexeme {
    /// Whether a string has been read to the end of the only text that it may still be: all that may follow is the
    /// closing quote.
    pub fn only_closes(&self, id: StateId) -> bool {
        let listed = self.kind != LexemeKind::Raw && !self.bounded && id > CLOSED;
        listed && (self.state(id).expr, self.state(id).sub) == (Exprs::EPS, EscapeState::Plain)
    }

    /// How many texts an escape that was begun can still lead to, where the lexeme lists its texts.
    pub fn num_spelled(&self, id: StateId) -> Option<u64> {
        let (list, (expr, sub)) =
            self.list(id).filter(|(_, place)| !matches!(place.1, EscapeState::Open | EscapeState::Plain))?;
        let spelled = |e: &Edge| (e.lo..=e.hi).filter(|&b| list.is_pending(sub, b)).count() as u64;
        let ways: Vec<(ExprId, u64)> = list.at(expr)?.1.iter().map(|e| (e.to, spelled(e))).collect();
        drop(list);
        let mut b = self.lock();
        let LazyDfa { exprs, sizes, .. } = &mut *b;
        let texts = ways.iter().filter(|way| way.1 > 0).map(|way| size(exprs, sizes, way.0).saturating_mul(way.1));
        Some(texts.fold(0, u64::saturating_add))
    }

    /// Whether `rest` is a text that may follow a state, in whatever spelling, where [`num_spelled`](Self::num_spelled)
    /// counts its texts.
    pub fn spells(&self, id: StateId, rest: &[u8]) -> bool {
        let Some((list, (expr, sub))) = self.list(id) else { return false };
        if !matches!(sub, EscapeState::Open | EscapeState::Plain)
            && !rest.first().is_some_and(|&b| list.is_pending(sub, b))
        {
            return false;
        }
        drop(list);
        // Only what comes next is listed for certain.
        let mut b = self.lock();
        let end = rest.iter().fold(expr, |expr, &byte| b.exprs.derive(expr, byte));
        b.exprs.nullable(end)
    }
}

impl LiteralList<'_> {
    /// Whether an escape may still become the character `byte`.
    fn is_pending(&self, sub: EscapeState, byte: u8) -> bool {
        let pending = self.escapes.pending(sub);
        pending.iter().any(|&(lo, hi)| (lo..=hi).contains(&byte.into()))
    }

    /// Whether a text ends at a place, and the bytes that the texts go on with. `None` where the expression does not
    /// list them, or lists more than ASCII.
    pub fn at(&self, expr: ExprId) -> Option<(bool, &[Edge])> {
        /// Ways on at most.
        const WAYS: usize = 64;
        let (ends, edges) = match self.builder.exprs.get(expr) {
            Expr::Step { nullable, edges } => (*nullable, &**edges),
            _ if expr == Exprs::EPS => (true, &[][..]),
            _ => return None,
        };
        let ways: usize = edges.iter().map(|e| usize::from(e.hi - e.lo) + 1).sum();
        (ways <= WAYS && edges.iter().all(|e| e.hi < 0x80)).then_some((ends, edges))
    }

    /// Where `byte` leads from a place; `None` where no text goes on with it. It does not close the string.
    pub fn step(&self, (expr, sub): ListPlace, byte: u8) -> Option<ListPlace> {
        let moved = step(sub, byte);
        if !self.escapes.allows(sub, byte, &moved) {
            return None;
        }
        let (_, edges) = self.at(expr)?;
        let by = |c: u32| edges.iter().find(|e| (u32::from(e.lo)..=u32::from(e.hi)).contains(&c));
        match moved {
            EscapeMove::To(EscapeState::Plain) => Some((expr, EscapeState::Plain)),
            EscapeMove::To(next) => {
                let lives = |e: &Edge| (e.lo..=e.hi).any(|b| self.is_pending(next, b));
                edges.iter().any(lives).then_some((expr, next))
            }
            EscapeMove::Byte(b) => by(b.into()).map(|e| (e.to, EscapeState::Plain)),
            EscapeMove::Char(c) => by(c.into()).map(|e| (e.to, EscapeState::Plain)),
            EscapeMove::Dead | EscapeMove::Close => None,
        }
    }
}

#[cfg(test)]
mod tests;
