//! Writing rows, and noting what they are made of.
//!
//! A row is made of parts that others have, too: inner masks of lexeme states, patches, whitespace, and of single tokens. While
//! a mask is made that the index will remember, its parts are noted; to make it again, they are put together without a look at
//! the configuration. Inside strings and keys a mask is a row and a patch anyway, and nothing is remembered.

use std::sync::Arc;

use super::mask::Masker;
use super::memo::{Composition, Memo, Part};
use super::share::apply;
use super::submask::{Inner, SubMask};
use crate::automaton::arena::{Kind, NodeId, Phase};

impl Masker<'_> {
    /// [`fill`](Self::fill) into a row that holds anything.
    pub fn fill_anew(&mut self, top: NodeId) {
        self.look_at(top);
        self.fill(top);
    }

    fn look_at(&mut self, top: NodeId) {
        self.fresh = true;
        self.known.settle(self.frames.arena);
        self.exact = false;
        self.unique = self.frames.program.has_unique && self.frames.is_unique_inside(top);
        if self.unique && self.frames.program.has_watched {
            // What differs from all other elements need not be watched.
            self.frames.repeats(top, true, &mut self.known.sorted);
        }
    }

    /// [`fill_anew`](Self::fill_anew), by what `memo` remembers of it; `scratch` is overwritten.
    pub fn fill_remembered(&mut self, memo: &Memo, top: NodeId, scratch: &mut Vec<u8>) {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        self.look_at(top);
        let quick = n.kind == Kind::Scalar || (n.kind == Kind::Object && n.phase == Phase::Key);
        if self.unique || quick || !Memo::describe(program, self.frames.arena, top, scratch) {
            return self.fill(top);
        }
        let known = memo.read(scratch);
        self.tables.count_mask(known.is_some());
        if let Some(composition) = known {
            return self.follow(&composition);
        }
        self.composition = Some(Composition::default());
        self.fill(top);
        let composition = self.composition.take().unwrap_or_else(|| Composition::of(self.row));
        memo.keep(scratch, composition);
    }

    /// Puts a row together again.
    fn follow(&mut self, composition: &Composition) {
        for part in &composition.parts {
            match part {
                Part::Inner(mask) => self.allow_inner(mask),
                Part::Row(row) => {
                    self.row.copy_from_slice(row);
                    self.fresh = false;
                }
                Part::Patch(patch) => {
                    self.begin();
                    apply(self.row, patch);
                }
                Part::Blanks(most) => {
                    self.begin();
                    self.allow_blanks(*most);
                }
            }
        }
        self.begin();
        for &t in &composition.tokens {
            self.set(t);
        }
    }

    /// Notes a part of the row.
    pub(super) fn note(&mut self, part: impl FnOnce() -> Part) {
        if let Some(composition) = &mut self.composition {
            composition.parts.push(part());
        }
    }

    /// Tokens are taken back.
    pub(super) fn take_back(&mut self) {
        self.composition = None;
    }

    /// Makes the row empty, if it holds anything yet.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.fresh, false) {
            self.row.fill(0);
        }
    }

    /// Allows inner tokens.
    pub(super) fn allow_inner(&mut self, mask: &Arc<SubMask>) {
        self.note(|| Part::Inner(mask.clone()));
        match &mask.inner {
            Inner::Dense(row) if self.fresh => {
                self.row.copy_from_slice(row);
                self.fresh = false;
            }
            inner => {
                self.begin();
                inner.or_into(self.row);
            }
        }
    }

    /// Allows tokens of up to `most` bytes of whitespace.
    pub(super) fn allow_blanks(&mut self, most: u32) {
        self.note(|| Part::Blanks(most));
        for &(_, t) in self.tables.blanks.iter().take_while(|b| b.0 <= most) {
            self.row[t as usize >> 5] |= 1 << (t & 31);
        }
    }
}
