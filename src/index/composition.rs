//! What a mask is made of, and writing it.
//!
//! A row is made of parts that others have, too: inner masks of lexeme states, patches, whitespace, and of single
//! tokens. A masker notes them while it looks at the configuration, and writes the row in the end. So a mask that an
//! index remembers is its parts ([`Composition`]), and parts that are often asked for together are copied as one row
//! (see `finished`). Only inside arrays of unique elements is a row written at once.
//!
//! What a guide knows anyway is written without looking at the configuration at all ([`Masker::fill_known`]): inside a
//! string that is a lexeme state's mask and the tokens that may close it, elsewhere what the index remembers.

use smallvec::SmallVec;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use super::after::Afters;
use super::finished::{FinishedRow, Names};
use super::live::Open;
use super::mask::Masker;
use super::memo::{Asked, Memo};
use super::share::{Patch, apply, clear, patch};
use super::submask::{Inner, SubMask};
use super::tails::Bits;
use crate::automaton::arena::{Kind, Node, NodeId};
use crate::automaton::constants::NO_SET;
use crate::automaton::lexeme::Kind as LexemeKind;

/// Makes a row empty. A loop over a constant is what every compiler makes the fastest fill of.
#[inline]
pub fn empty(row: &mut [u32]) {
    for word in row {
        *word = 0;
    }
}

/// With more tokens than this, and more parts than one, a row is worth finishing.
const HEAVY: usize = 128;
/// A row that is new to memory costs as much as writing its parts so many times.
const OFTEN: u8 = 6;

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
    pub fn name(&self) -> u64 {
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
    fn weight(&self, blanks: &[(u32, u32)]) -> usize {
        match self {
            Part::Inner(mask) => match &mask.inner {
                Inner::Sparse(tokens) => tokens.len(),
                Inner::Dense(_) => 0,
            },
            Part::Allow(p) | Part::Forbid(p) => p.len(),
            Part::Blanks(most) => blanks.partition_point(|b| b.0 <= *most),
        }
    }
}

/// What decides the mask inside a string, away from the bounds of its length.
#[derive(Clone, Copy)]
struct Inside<'l> {
    /// The node below the string, and the rule that accepts it.
    parent: NodeId,
    tag: u32,
    /// The mask of the lexeme's state. Threads share it, and so the line on which its references are counted: it is not
    /// cloned to be looked at.
    mask: &'l Arc<SubMask>,
}

/// The string that a guide filled last, and its row, if there is one.
#[derive(Clone)]
pub struct TextRow {
    parent: NodeId,
    tag: u32,
    mask: Arc<SubMask>,
    row: Option<Arc<FinishedRow>>,
    /// How often it was asked for again, up to [`OFTEN`].
    asked: u8,
}

impl TextRow {
    fn is_of(&self, inside: &Inside<'_>) -> bool {
        (self.parent, self.tag) == (inside.parent, inside.tag) && Arc::ptr_eq(&self.mask, inside.mask)
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
    /// The row of the shared parts, once there is one; it may be gone.
    row: OnceLock<Weak<FinishedRow>>,
    /// How often it was asked for again, up to [`OFTEN`].
    asked: AtomicU8,
    /// Of a place where a value begins.
    afters: Afters,
}

impl Composition {
    /// Whether it was asked for so often that a finished row pays.
    fn is_asked_often(&self) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        if asked < OFTEN {
            self.asked.store(asked + 1, Ordering::Relaxed);
        }
        asked >= OFTEN
    }

    /// The parts, in the order in which they are written.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Single tokens that are allowed beside them, whatever the parts forbid.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Adds a part that other masks have, too.
    pub fn share(&mut self, part: Part) {
        self.shared += (self.shared == self.parts.len()) as usize;
        debug_assert!(self.row.get().is_none(), "nothing is added to what was written");
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
        let after = |a: &(u32, Bits, Open)| size_of_val(a) + a.1.len() * 8 + a.2.len() * 4;
        let afters: usize = self.afters.iter().map(after).sum();
        size_of::<Composition>() + afters + self.parts.iter().map(part).sum::<usize>() + self.tokens.len() * 4
    }
}

impl<'a> Masker<'a> {
    /// [`fill`](Self::fill) into a row that holds anything.
    pub fn fill_anew(&mut self, top: NodeId) {
        self.look_at(top);
        self.fill_at(top);
    }

    fn look_at(&mut self, top: NodeId) {
        self.fresh = true;
        self.known.settle(self.frames.arena);
        self.exact = false;
        self.unique = self.frames.program.has_unique && self.frames.is_unique_inside(top);
    }

    /// [`fill`](Self::fill) of what was looked at.
    fn fill_at(&mut self, top: NodeId) {
        if self.unique && self.frames.program.has_watched {
            // What differs from all other elements need not be watched.
            self.frames.repeats(top, true, &mut self.known.sorted);
        }
        self.fill(top);
    }

    /// Writes a row that holds anything, if that takes no more than a look at what is known. False if it takes more;
    /// then the row may hold anything, and [`fill_asked`](Self::fill_asked) writes it.
    pub fn fill_known(&mut self, memo: &Memo, top: NodeId, asked: &mut Asked) -> bool {
        asked.clear();
        self.look_at(top);
        if self.unique {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.text_row(&n);
        let mut asked_here = 0;
        if let (Some(inside), Some(last)) = (&inside, &self.known.text)
            && last.is_of(inside)
        {
            if let Some(row) = &last.row {
                self.row.copy_from_slice(row.row());
                return true;
            }
            asked_here = last.asked.saturating_add(1);
        }
        let row = |made: &Composition| inside.and_then(|_| made.row.get()?.upgrade());
        let row = match self.known_text(inside.as_ref()) {
            Some(own) => {
                self.write(&own, asked_here >= OFTEN);
                row(&own)
            }
            None => {
                let place = (self.frames.program, &*self.frames.arena);
                if !memo.describe(place, self.tables, top, &mut self.known.levels, asked) {
                    return false;
                }
                let found = memo.find(&self.tables.shares, asked, |composition| {
                    self.tables.count_mask(true);
                    self.write(composition, composition.is_asked_often());
                    self.know_afters(n.parent, &composition.afters);
                    row(composition)
                });
                let Some(row) = found else { return false };
                row
            }
        };
        if let Some(Inside { parent, tag, mask }) = inside {
            self.known.text = Some(TextRow { parent, tag, mask: mask.clone(), row, asked: asked_here });
        }
        true
    }

    /// Whether [`fill_known`](Self::fill_known) would write a row.
    pub fn is_known(&mut self, memo: &Memo, top: NodeId, asked: &mut Asked) -> bool {
        asked.clear();
        self.look_at(top);
        if self.unique {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.text_row(&n);
        if self.known_text(inside.as_ref()).is_some() {
            return true;
        }
        let place = (self.frames.program, &*self.frames.arena);
        memo.describe(place, self.tables, top, &mut self.known.levels, asked)
            && memo.find(&self.tables.shares, asked, |_| ()).is_some()
    }

    /// Writes the row that [`fill_known`](Self::fill_known) did not, and remembers it.
    pub fn fill_asked(&mut self, memo: &'a Memo, top: NodeId, asked: &Asked) {
        self.memo = Some(memo);
        let Some(mut composition) = self.compose(top) else { return self.fill_at(top) };
        self.write(&composition, false);
        let n = self.frames.arena.nodes[top as usize];
        if n.kind == Kind::Value {
            composition.afters = self.afters(n.parent);
        }
        if memo.keep(&self.tables.shares, asked, composition) {
            self.tables.count_mask(false);
        }
    }

    /// What the mask of `top` is made of. `None` inside arrays of unique elements, where a row is written at once: then
    /// [`fill_anew`](Self::fill_anew) writes it.
    pub fn compose(&mut self, top: NodeId) -> Option<Composition> {
        self.look_at(top);
        if self.unique {
            return None;
        }
        self.composition = Some(Composition::default());
        self.fill(top);
        self.composition.take()
    }

    /// What decides the mask at `n`, if that is inside one string, away from the bounds of its length.
    fn text_row(&self, n: &Node) -> Option<Inside<'a>> {
        if n.kind != Kind::Scalar || n.len != 1 || n.seen != NO_SET {
            return None;
        }
        let item = self.frames.arena.scalars[n.start as usize];
        let (tables, lexemes) = (self.tables, self.lexemes);
        let masked = &lexemes[item.lexeme as usize];
        let l = &*masked.lexeme;
        if l.kind() == LexemeKind::Raw {
            return None;
        }
        let mask = tables.known_mask(masked, item.state, n.count)?;
        let cross = mask.cross.as_ref()?;
        let free = l.all_may_close(n.count, cross.chars);
        free.then_some(Inside { parent: n.parent, tag: item.tag, mask })
    }

    /// The mask of a string, if its guide knows what may follow it.
    fn known_text(&mut self, inside: Option<&Inside<'_>>) -> Option<Composition> {
        let &Inside { parent, tag, mask } = inside?;
        let patch = self.known_closing(parent, tag, mask.cross.as_ref()?)?;
        let mut composition = Composition::default();
        composition.share(Part::Inner(mask.clone()));
        composition.share(Part::Allow(patch));
        Some(composition)
    }

    /// Writes a row that holds anything; `again` says that it was remembered, so that it is worth a row of its own.
    fn write(&mut self, composition: &Composition, again: bool) {
        let (shared, own) = composition.parts.split_at(composition.shared);
        self.fresh = true;
        match composition.row.get().and_then(Weak::upgrade) {
            Some(row) => self.copy(&row),
            None => {
                let weight: usize = shared.iter().map(|part| part.weight(&self.tables.blanks)).sum();
                if shared.len() > 1 && weight > HEAVY {
                    if let Some(row) = self.write_shared(shared, again) {
                        let _ = composition.row.set(Arc::downgrade(&row));
                    }
                } else {
                    self.put_all(shared);
                }
            }
        }
        self.begin();
        own.iter().for_each(|part| self.put(part));
        for &t in &composition.tokens {
            self.row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    /// Writes shared parts; their row, if there is one.
    fn write_shared(&mut self, parts: &[Part], again: bool) -> Option<Arc<FinishedRow>> {
        let names: Names = parts.iter().map(Part::name).collect();
        match self.tables.finished.get(&names) {
            Some(row) => {
                self.copy(&row);
                Some(row)
            }
            None => {
                self.put_all(parts);
                (again || self.tables.finished.is_due(&names))
                    .then(|| self.tables.finished.keep(names, parts, self.row))
            }
        }
    }

    #[inline]
    fn copy(&mut self, row: &FinishedRow) {
        self.row.copy_from_slice(row.row());
        self.fresh = false;
    }

    /// Puts parts into the row. What is only allowed may come in any order, so a row that can be copied comes first.
    fn put_all(&mut self, parts: &[Part]) {
        let allowed = parts.iter().take_while(|part| !matches!(part, Part::Forbid(_)));
        let is_row = |part: &Part| matches!(part, Part::Inner(mask) if matches!(mask.inner, Inner::Dense(_)));
        let row = allowed.enumerate().find(|(_, part)| is_row(part)).map(|(i, _)| i);
        if let Some(i) = row {
            self.put(&parts[i]);
        }
        parts.iter().enumerate().filter(|(i, _)| Some(*i) != row).for_each(|(_, part)| self.put(part));
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
            empty(self.row);
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
