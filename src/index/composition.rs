//! What a mask is made of, and writing it.
//!
//! A row is made of parts that others have, too: inner masks of lexeme states, patches, whitespace, and of single tokens.
//! A masker notes them while it looks at the configuration, and writes the row in the end. So a mask that an index
//! remembers is its parts ([`Composition`]), and parts that are often asked for together are copied as one row (see
//! `finished`). Only inside arrays of unique elements is a row written at once.
//!
//! What a guide knows anyway is written without looking at the configuration at all ([`Masker::fill_known`]): inside a
//! string that is a lexeme state's mask and the tokens that may close it, elsewhere what the index remembers.

use smallvec::SmallVec;
use std::sync::Arc;

use super::finished::{Asked as Finished, Names};
use super::mask::Masker;
use super::memo::{Asked, Memo};
use super::share::{Patch, apply, clear, patch};
use super::submask::{Inner, SubMask};
use crate::automaton::arena::{Kind, Node, NodeId};
use crate::automaton::lexeme::Kind as LexemeKind;

/// With more tokens than this, and more parts than one, a row is worth finishing.
const HEAVY: usize = 128;

/// A part of a mask.
#[derive(Clone)]
pub enum Part {
    /// Inner tokens of a lexeme state.
    Inner(Arc<SubMask>),
    /// Some tokens are allowed.
    Allow(Patch),
    /// Some tokens are not, whatever the parts before say.
    Forbid(Patch),
    /// Tokens of up to so many bytes of whitespace.
    Blanks(u32),
}

impl Part {
    /// The name of a part that others have, as long as it lives.
    fn name(&self) -> u64 {
        let (address, kind) = match self {
            Part::Inner(mask) => (Arc::as_ptr(mask) as u64, 0),
            Part::Allow(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 1),
            Part::Forbid(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 2),
            Part::Blanks(most) => (u64::from(*most) << 2, 3),
        };
        // Addresses of these parts are multiples of four.
        address | kind
    }

    /// Tokens that are written one by one, more or less.
    fn weight(&self) -> usize {
        match self {
            Part::Inner(mask) => match &mask.inner {
                Inner::Sparse(tokens) => tokens.len(),
                Inner::Dense(_) => 0,
            },
            Part::Allow(p) | Part::Forbid(p) => p.len(),
            Part::Blanks(most) => *most as usize,
        }
    }
}

/// What a mask is made of, in this order.
#[derive(Default)]
pub struct Composition {
    parts: SmallVec<[Part; 6]>,
    /// So many parts at the beginning are shared: other masks have them, under the same names.
    shared: usize,
    /// Single tokens that are allowed.
    tokens: Vec<u32>,
}

impl Composition {
    /// Adds a part that other masks have, too.
    pub fn share(&mut self, part: Part) {
        self.shared += (self.shared == self.parts.len()) as usize;
        self.parts.push(part);
    }

    fn forbid(&mut self, patch: Patch, shared: bool) {
        self.settle();
        match shared {
            true => self.share(Part::Forbid(patch)),
            false => self.parts.push(Part::Forbid(patch)),
        }
    }

    /// Makes a part of the single tokens so far.
    fn settle(&mut self) {
        if !self.tokens.is_empty() {
            self.parts.push(Part::Allow(patch(std::mem::take(&mut self.tokens))));
        }
    }

    /// Bytes, those of patches included: they outlive the store that shares them.
    pub fn memory_bytes(&self) -> usize {
        let part = |p: &Part| match p {
            Part::Inner(_) | Part::Blanks(_) => 0,
            Part::Allow(p) | Part::Forbid(p) => p.len() * 8,
        };
        size_of::<Composition>() + self.parts.iter().map(part).sum::<usize>() + self.tokens.len() * 4
    }
}

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
            self.frames.repeats(top, true);
        }
    }

    /// Writes a row that holds anything, if that takes no more than a look at what is known. False if it takes more; then
    /// the row may hold anything, and [`fill_asked`](Self::fill_asked) writes it.
    pub fn fill_known(&mut self, memo: &Memo, top: NodeId, asked: &mut Asked) -> bool {
        asked.clear();
        self.look_at(top);
        if self.unique {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        if self.is_text(&n) {
            return self.fill_known_text(&n);
        }
        let known = memo.ask((self.frames.program, self.frames.arena), top, &mut self.known.levels, asked);
        if let Some(composition) = &known {
            self.tables.count_mask(true);
            self.write(composition);
        }
        known.is_some()
    }

    /// Writes the row that [`fill_known`](Self::fill_known) did not, and remembers it.
    pub fn fill_asked(&mut self, memo: &Memo, top: NodeId, asked: &Asked) {
        self.look_at(top);
        if self.unique {
            return self.fill(top);
        }
        self.composition = Some(Composition::default());
        self.fill(top);
        let Some(composition) = self.composition.take() else { return };
        self.write(&composition);
        if memo.keep(asked, composition) {
            self.tables.count_mask(false);
        }
    }

    /// Whether a node is inside a string; strings and other scalars are never side by side.
    fn is_text(&self, n: &Node) -> bool {
        let (arena, program) = (&*self.frames.arena, self.frames.program);
        n.kind == Kind::Scalar
            && arena
                .scalars
                .get(n.start as usize)
                .is_some_and(|s| program.lexemes.get(s.lexeme as usize).is_some_and(|l| l.kind() != LexemeKind::Raw))
    }

    fn fill_known_text(&mut self, n: &Node) -> bool {
        let mut composition = Composition::default();
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.scalars[i as usize];
            let masked = &self.lexemes[item.lexeme as usize];
            let Some(mask) = self.tables.known_mask(masked, item.state, n.count) else { return false };
            composition.share(Part::Inner(mask.clone()));
            let Some(cross) = mask.cross.as_ref().filter(|c| masked.lexeme.may_cross(n.count, c.chars)) else {
                continue;
            };
            if !masked.lexeme.all_may_close(n.count, cross.chars) {
                return false;
            }
            let Some((patch, open)) = self.known.closing(n.parent, item.tag, cross) else { return false };
            if !open.is_empty() {
                return false;
            }
            composition.share(Part::Allow(patch));
        }
        self.write(&composition);
        true
    }

    /// Writes a row that holds anything.
    fn write(&mut self, composition: &Composition) {
        let (shared, own) = composition.parts.split_at(composition.shared);
        self.fresh = true;
        let weight: usize = shared.iter().map(Part::weight).sum();
        if shared.len() > 1 && weight > HEAVY {
            self.write_shared(shared);
        } else {
            shared.iter().for_each(|part| self.put(part));
        }
        self.begin();
        own.iter().for_each(|part| self.put(part));
        for &t in &composition.tokens {
            self.row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    fn write_shared(&mut self, parts: &[Part]) {
        let names: Names = parts.iter().map(Part::name).collect();
        if self.known.row.as_ref().is_none_or(|row| !row.is_of(&names)) {
            match self.tables.finished.ask(&names) {
                Finished::Row(row) => self.known.row = Some(row),
                asked => {
                    parts.iter().for_each(|part| self.put(part));
                    if matches!(asked, Finished::Again) {
                        self.tables.finished.keep(&names, parts, self.row);
                    }
                    return;
                }
            }
        }
        if let Some(row) = &self.known.row {
            self.row.copy_from_slice(row.row());
            self.fresh = false;
        }
    }

    /// Puts a part into the row.
    fn put(&mut self, part: &Part) {
        match part {
            Part::Inner(mask) => match &mask.inner {
                Inner::Dense(row) if self.fresh => {
                    self.row.copy_from_slice(row);
                    self.fresh = false;
                }
                inner => {
                    self.begin();
                    inner.or_into(self.row);
                }
            },
            Part::Allow(patch) => {
                self.begin();
                apply(self.row, patch);
            }
            Part::Forbid(patch) => {
                self.begin();
                clear(self.row, patch);
            }
            Part::Blanks(most) => {
                self.begin();
                for &(_, t) in self.tables.blanks.iter().take_while(|b| b.0 <= *most) {
                    self.row[t as usize >> 5] |= 1 << (t & 31);
                }
            }
        }
    }

    /// Adds a part that other masks have, too.
    pub(super) fn share(&mut self, part: Part) {
        match &mut self.composition {
            Some(composition) => composition.share(part),
            None => self.put(&part),
        }
    }

    /// Takes tokens back; `shared` says that other masks do so, too.
    pub(super) fn forbid(&mut self, patch: Patch, shared: bool) {
        match &mut self.composition {
            Some(composition) => composition.forbid(patch, shared),
            None => self.put(&Part::Forbid(patch)),
        }
    }

    /// Makes the row empty, if it is written at once and holds anything yet.
    pub(super) fn begin(&mut self) {
        if self.composition.is_none() && std::mem::replace(&mut self.fresh, false) {
            self.row.fill(0);
        }
    }

    /// Allows inner tokens.
    pub(super) fn allow_inner(&mut self, mask: &Arc<SubMask>) {
        self.share(Part::Inner(mask.clone()));
    }

    /// Allows tokens of up to `most` bytes of whitespace.
    pub(super) fn allow_blanks(&mut self, most: u32) {
        // All that is beyond the longest such token has one name.
        let longest = self.tables.blanks.last().map_or(0, |b| b.0);
        self.share(Part::Blanks(most.min(longest)));
    }

    /// Allows a token.
    #[inline]
    pub(super) fn set(&mut self, token: u32) {
        match &mut self.composition {
            Some(composition) => composition.tokens.push(token),
            None => self.row[token as usize >> 5] |= 1 << (token & 31),
        }
    }
}
