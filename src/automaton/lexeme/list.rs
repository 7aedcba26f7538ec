//! What the texts of a string that lists them go on with, read off its expression.
//!
//! The expression of an enumeration is a trie of its texts. Whoever only looks around in it, as a mask does that tries
//! all of the alternatives and every spelling of them, needs no states for what it meets: a document goes one of the
//! ways.

use std::sync::MutexGuard;

use super::super::text::{Move, Sub, is_plain, pending, plain_pending, step};
use super::{Builder, CLOSED, Kind, Lexeme, StateId};
use crate::ir::{Edge, Expr, ExprId, Exprs};

/// The listed texts of a lexeme; see the module's story. No state of the lexeme can be made meanwhile.
pub struct List<'a> {
    builder: MutexGuard<'a, Builder>,
    /// Only plain spelling counts.
    plain: bool,
}

/// Where a reader of a [`List`] stands: the expression of what follows, and how far into an escape it is.
pub type ListPlace = (ExprId, Sub);

impl Lexeme {
    /// The texts of a string without bounds on its length, and where the state `id` stands among them. `None` for other
    /// lexemes; whether the texts are listed turns out at each place.
    pub fn list(&self, id: StateId) -> Option<(List<'_>, ListPlace)> {
        if self.kind == Kind::Raw || self.bounded || self.is_any_text || self.shared.boolean || id <= CLOSED {
            return None;
        }
        let state = self.state(id);
        let list = List { builder: self.lock(), plain: self.kind == Kind::Constant };
        Some((list, (state.expr, state.sub)))
    }
}

impl List<'_> {
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
        if self.plain && !is_plain(sub, byte, &moved) {
            return None;
        }
        let (_, edges) = self.at(expr)?;
        let by = |c: u32| edges.iter().find(|e| (u32::from(e.lo)..=u32::from(e.hi)).contains(&c));
        match moved {
            Move::To(Sub::Plain) => Some((expr, Sub::Plain)),
            Move::To(next) => {
                let pending = if self.plain { plain_pending(next) } else { pending(next) };
                let spells = |e: &Edge| pending.iter().any(|&(lo, hi)| lo <= e.hi.into() && hi >= e.lo.into());
                edges.iter().any(spells).then_some((expr, next))
            }
            Move::Byte(b) => by(b.into()).map(|e| (e.to, Sub::Plain)),
            Move::Char(c) => by(c.into()).map(|e| (e.to, Sub::Plain)),
            Move::Dead | Move::Close => None,
        }
    }
}
