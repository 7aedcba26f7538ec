//! The recipe of a mask: its ingredients, and writing the row from them.
//!
//! A row is made of ingredients that other masks have too: inner rows of lexeme states, patches, whitespace; and of
//! single tokens. A mask builder notes them while it looks at the configuration and writes the row in the end. So a
//! mask that an index remembers is a [`MaskRecipe`]. The heavy ingredients are few and come together in many places of
//! many schemas: they are copied as one finished row (see `rows`), and the light ones, which make the place, are put on
//! top. Only inside arrays of unique elements is a row written at once.
//!
//! What a guide knows anyway is written without looking at the configuration at all ([`MaskBuilder::fill_known`]):
//! inside a string that is a lexeme state's row and the tokens that may close the string, elsewhere what the index
//! remembers.

use smallvec::SmallVec;
use std::sync::{Arc, OnceLock, Weak};

use crate::lexeme::LexemeKind;
use crate::mask::cache::masks::{CacheProbe, MaskCache};
use crate::mask::cache::patch_base::SharedPatch;
use crate::mask::cache::patches::{RowPatch, apply, clear, patch};
use crate::mask::cache::rows::{CachedRow, IngredientIds};
use crate::mask::crossing::after_value::Afters;
use crate::mask::crossing::suffixes::SuffixSet;
use crate::mask::crossing::viable::UnresolvedSuffixes;
use crate::mask::lexeme_mask::{LexemeMask, TokenSet};
use crate::mask::masker::MaskBuilder;
use crate::pushdown::json::arena::{Frame, FrameId, FrameKind};
use crate::pushdown::json::literal_trie::NO_SET;

/// Makes a row empty. A loop over a constant is what every compiler makes the fastest fill of.
#[inline]
pub fn empty(row: &mut [u32]) {
    for word in row {
        *word = 0;
    }
}

/// Writes the inner tokens of a lexeme state to a row that holds anything.
pub fn copy_inner(mask: &LexemeMask, row: &mut [u32]) {
    match &mask.inner {
        TokenSet::Dense(words) => row.copy_from_slice(words),
        sparse => {
            empty(row);
            sparse.or_into(row);
        }
    }
}

/// With more tokens than this parts are worth a row of their own.
const HEAVY: usize = 128;
/// A part of no more tokens than this is put on top of a row: a row for each place would have to come from far memory.
pub(crate) const LIGHT: usize = 64;
/// The most tokens that are put on top of a row in all.
const ON_TOP: usize = 8 * LIGHT;

/// A part of a mask.
#[derive(Clone)]
pub enum Ingredient {
    /// Inner tokens of a lexeme state.
    Inner(Arc<LexemeMask>),
    /// Some tokens are allowed.
    Allow(RowPatch),
    /// Some tokens are not, whatever the parts before say.
    Forbid(RowPatch),
    /// Tokens of up to so many bytes of whitespace.
    Blanks(u32),
}

impl Ingredient {
    /// The name of a part that others have, as long as it lives.
    pub fn name(&self) -> u64 {
        let (address, kind) = match self {
            Ingredient::Inner(mask) => (Arc::as_ptr(mask) as u64, 0),
            Ingredient::Allow(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 1),
            Ingredient::Forbid(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 2),
            Ingredient::Blanks(most) => (u64::from(*most) << 2, 3),
        };
        // Addresses of these parts are multiples of four.
        address | kind
    }

    fn is_row(&self) -> bool {
        matches!(self, Ingredient::Inner(mask) if matches!(mask.inner, TokenSet::Dense(_)))
    }

    /// Tokens that are written one by one, more or less.
    fn weight(&self, blanks: &[(u32, u32)]) -> usize {
        match self {
            Ingredient::Inner(mask) => match &mask.inner {
                TokenSet::Sparse(tokens) => tokens.len(),
                TokenSet::Dense(_) => 0,
            },
            Ingredient::Allow(p) | Ingredient::Forbid(p) => p.len(),
            Ingredient::Blanks(most) => blanks.partition_point(|b| b.0 <= *most),
        }
    }
}

/// What decides the mask inside a string, away from the bounds of its length.
#[derive(Clone, Copy)]
struct InnerTokens<'l> {
    /// The node below the string, and the rule that accepts it.
    parent: FrameId,
    tag: u32,
    /// The mask of the lexeme's state. Threads share it, and so the line on which its references are counted: it is not
    /// cloned to be looked at.
    mask: &'l Arc<LexemeMask>,
}

/// The string that a guide filled last, and what its masks are made of.
#[derive(Clone)]
pub struct TextRow {
    parent: FrameId,
    tag: u32,
    mask: Arc<LexemeMask>,
    /// The tokens that may close it.
    closing: SharedPatch,
    /// The row of the mask and what is heavy of these tokens, once it was found; it may be gone.
    row: Option<Weak<CachedRow>>,
}

impl TextRow {
    fn is_of(&self, inside: &InnerTokens<'_>) -> bool {
        (self.parent, self.tag) == (inside.parent, inside.tag) && Arc::ptr_eq(&self.mask, inside.mask)
    }
}

/// What a mask is made of, in this order.
#[derive(Default)]
pub struct MaskRecipe {
    parts: SmallVec<[Ingredient; 6]>,
    /// How many ingredients at the beginning are shared: other masks have them, under equal ids.
    shared: usize,
    /// How many of the shared ingredients have a row together, see [`arrange`](Self::arrange).
    base: usize,
    /// Single tokens that are allowed.
    tokens: Vec<u32>,
    /// The row of the base, once it was found; it may be gone.
    row: OnceLock<Weak<CachedRow>>,
    /// The suffixes that may follow the value, at a place where one begins or goes on.
    afters: Afters,
}

impl MaskRecipe {
    /// The parts, in the order in which they are written.
    pub fn parts(&self) -> &[Ingredient] {
        &self.parts
    }

    /// Single tokens that are allowed beside them, whatever the parts forbid.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Makes room for so many single tokens at once.
    pub fn expect(&mut self, tokens: usize) {
        self.tokens.reserve(tokens);
    }

    /// Adds a part that other masks have, too.
    pub fn share(&mut self, part: Ingredient) {
        self.shared += (self.shared == self.parts.len()) as usize;
        debug_assert!(self.row.get().is_none(), "nothing is added to what was written");
        self.parts.push(part);
    }

    /// Brings the heavy ones of the shared parts to the front, where they are the base. `blanks` are the tokens of
    /// whitespace.
    fn arrange(&mut self, blanks: &[(u32, u32)]) {
        let shared = &mut self.parts[..self.shared];
        // What is allowed may come in any order, but not before what is taken back from others.
        let fixed = shared.iter().rposition(|part| matches!(part, Ingredient::Forbid(_))).map_or(0, |last| last + 1);
        let mut heavy: usize = shared[..fixed].iter().map(|part| part.weight(blanks)).sum();
        let (mut base, mut light) = (fixed, 0);
        for i in fixed..shared.len() {
            let weight = shared[i].weight(blanks);
            if weight > LIGHT || shared[i].is_row() {
                shared[base..=i].rotate_right(1);
                base += 1;
                heavy += weight;
            } else {
                light += weight;
            }
        }
        if light > ON_TOP {
            (base, heavy) = (shared.len(), heavy + light);
        }
        self.base = if heavy > HEAVY { base } else { 0 };
    }

    fn forbid(&mut self, patch: RowPatch, shared: bool) {
        self.settle();
        match shared {
            true => self.share(Ingredient::Forbid(patch)),
            false => self.parts.push(Ingredient::Forbid(patch)),
        }
    }

    /// Makes a part of the single tokens so far.
    fn settle(&mut self) {
        if !self.tokens.is_empty() {
            self.parts.push(Ingredient::Allow(patch(std::mem::take(&mut self.tokens))));
        }
    }

    /// Bytes, those of patches included: they outlive the store that shares them.
    pub fn memory_bytes(&self) -> usize {
        let part = |p: &Ingredient| match p {
            Ingredient::Inner(_) | Ingredient::Blanks(_) => 0,
            Ingredient::Allow(p) | Ingredient::Forbid(p) => p.len() * 8,
        };
        let after = |a: &(u32, SuffixSet, UnresolvedSuffixes)| size_of_val(a) + a.1.len() * 8 + a.2.len() * 4;
        let afters: usize = self.afters.iter().map(after).sum();
        size_of::<MaskRecipe>() + afters + self.parts.iter().map(part).sum::<usize>() + self.tokens.len() * 4
    }
}

impl<'a> MaskBuilder<'a> {
    /// [`fill`](Self::fill) into a row that holds anything.
    pub fn fill_anew(&mut self, top: FrameId) {
        self.look_at(top);
        self.fill_at(top);
    }

    fn look_at(&mut self, top: FrameId) {
        self.fresh = true;
        self.known.settle(self.frames.arena);
        self.exact = false;
        self.unique = self.frames.program.has_unique && self.frames.is_unique_inside(top);
    }

    /// [`fill`](Self::fill) of what was looked at.
    fn fill_at(&mut self, top: FrameId) {
        if self.unique && self.frames.program.has_watched {
            // What differs from all other elements need not be watched.
            self.frames.repeats(top, true, self.known.elements, &mut self.known.sorted);
        }
        self.fill(top);
    }

    /// Writes a row that holds anything, if that takes no more than a look at what is known. False if it takes more;
    /// then the row may hold anything, and [`fill_asked`](Self::fill_asked) writes it.
    pub fn fill_known(&mut self, memo: &MaskCache, top: FrameId, asked: &mut CacheProbe) -> bool {
        asked.clear();
        self.look_at(top);
        if self.unique {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.text_row(&n);
        if let Some(inside) = &inside {
            if !self.known.text.as_ref().is_some_and(|last| last.is_of(inside)) {
                self.known.text = self.known_text(inside);
            }
            if self.write_text() {
                return true;
            }
        }
        let place = (self.frames.program, &*self.frames.arena);
        if !memo.describe(place, self.tables, top, &mut self.known.levels, asked) {
            return false;
        }
        let found = memo.find(&self.tables.shares, asked, |composition| {
            self.tables.count_mask(true);
            self.write(composition);
            self.know_afters(n.parent, &composition.afters);
        });
        found.is_some()
    }

    /// Whether [`fill_known`](Self::fill_known) would write a row.
    pub fn is_known(&mut self, memo: &MaskCache, top: FrameId, asked: &mut CacheProbe) -> bool {
        asked.clear();
        self.look_at(top);
        if self.unique {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.text_row(&n);
        if inside.is_some_and(|inside| self.known_text(&inside).is_some()) {
            return true;
        }
        let place = (self.frames.program, &*self.frames.arena);
        memo.describe(place, self.tables, top, &mut self.known.levels, asked)
            && memo.find(&self.tables.shares, asked, |_| ()).is_some()
    }

    /// Writes the row that [`fill_known`](Self::fill_known) did not, and remembers it.
    pub fn fill_asked(&mut self, memo: &'a MaskCache, top: FrameId, asked: &CacheProbe) {
        self.memo = Some(memo);
        let Some(mut composition) = self.compose(top) else { return self.fill_at(top) };
        composition.arrange(&self.tables.blanks);
        self.write(&composition);
        let n = self.frames.arena.nodes[top as usize];
        if matches!(n.kind, FrameKind::Value | FrameKind::Scalar) {
            composition.afters = self.afters(n.parent);
        }
        if memo.keep(&self.tables.shares, asked, composition) {
            self.tables.count_mask(false);
        }
    }

    /// What the mask of `top` is made of. `None` inside arrays of unique elements, where a row is written at once: then
    /// [`fill_anew`](Self::fill_anew) writes it.
    pub fn compose(&mut self, top: FrameId) -> Option<MaskRecipe> {
        self.look_at(top);
        if self.unique {
            return None;
        }
        self.composition = Some(MaskRecipe::default());
        self.fill(top);
        self.composition.take()
    }

    /// What decides the mask at `n`, if that is inside one string, away from the bounds of its length.
    fn text_row(&self, n: &Frame) -> Option<InnerTokens<'a>> {
        if n.kind != FrameKind::Scalar || n.len != 1 || n.seen != NO_SET {
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
        free.then_some(InnerTokens { parent: n.parent, tag: item.tag, mask })
    }

    /// What masks inside a string are made of, if its guide knows what may follow it.
    fn known_text(&mut self, inside: &InnerTokens<'_>) -> Option<TextRow> {
        let &InnerTokens { parent, tag, mask } = inside;
        let closing = self.known_closing(parent, tag, mask.cross.as_ref()?)?;
        Some(TextRow { parent, tag, mask: mask.clone(), closing, row: None })
    }

    /// Writes the row of the string that was filled last. False if there is none.
    fn write_text(&mut self) -> bool {
        let Some(text) = &self.known.text else { return false };
        if let Some(row) = text.row.as_ref().and_then(Weak::upgrade) {
            self.row.copy_from_slice(row.row());
        } else if let Some(core) = &text.closing.core {
            let parts = [Ingredient::Inner(text.mask.clone()), Ingredient::Allow(core.clone())];
            self.fresh = true;
            let row = self.write_base(&parts).as_ref().map(Arc::downgrade);
            if let Some(text) = &mut self.known.text {
                text.row = row;
            }
        } else {
            copy_inner(&text.mask, self.row);
        }
        if let Some(text) = &self.known.text {
            apply(self.row, &text.closing.own);
        }
        true
    }

    /// Writes a row that holds anything.
    fn write(&mut self, composition: &MaskRecipe) {
        let (base, rest) = composition.parts.split_at(composition.base);
        self.fresh = true;
        if base.is_empty() {
            self.put_all(rest);
        } else {
            match composition.row.get().and_then(Weak::upgrade) {
                Some(row) => self.copy(&row),
                None => {
                    if let Some(row) = self.write_base(base) {
                        let _ = composition.row.set(Arc::downgrade(&row));
                    }
                }
            }
            rest.iter().for_each(|part| self.put(part));
        }
        self.begin();
        for &t in &composition.tokens {
            self.row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    /// Writes the parts of a base; their row, if there is one.
    fn write_base(&mut self, parts: &[Ingredient]) -> Option<Arc<CachedRow>> {
        let names: IngredientIds = parts.iter().map(Ingredient::name).collect();
        match self.tables.finished.get(&names) {
            Some(row) => {
                self.copy(&row);
                Some(row)
            }
            None => {
                self.put_all(parts);
                self.tables.finished.is_due(&names).then(|| self.tables.finished.keep(names, parts, self.row))
            }
        }
    }

    #[inline]
    fn copy(&mut self, row: &CachedRow) {
        self.row.copy_from_slice(row.row());
        self.fresh = false;
    }

    /// Puts parts into the row. What is only allowed may come in any order, so a row that can be copied comes first.
    fn put_all(&mut self, parts: &[Ingredient]) {
        let allowed = parts.iter().take_while(|part| !matches!(part, Ingredient::Forbid(_)));
        let row = allowed.enumerate().find(|(_, part)| part.is_row()).map(|(i, _)| i);
        if let Some(i) = row {
            self.put(&parts[i]);
        }
        parts.iter().enumerate().filter(|(i, _)| Some(*i) != row).for_each(|(_, part)| self.put(part));
    }

    /// Puts a part into the row.
    fn put(&mut self, part: &Ingredient) {
        match part {
            Ingredient::Inner(mask) => match &mask.inner {
                TokenSet::Dense(row) if self.fresh => {
                    self.row.copy_from_slice(row);
                    self.fresh = false;
                }
                inner => {
                    self.begin();
                    inner.or_into(self.row);
                }
            },
            Ingredient::Allow(patch) => {
                self.begin();
                apply(self.row, patch);
            }
            Ingredient::Forbid(patch) => {
                self.begin();
                clear(self.row, patch);
            }
            Ingredient::Blanks(most) => {
                self.begin();
                for &(_, t) in self.tables.blanks.iter().take_while(|b| b.0 <= *most) {
                    self.row[t as usize >> 5] |= 1 << (t & 31);
                }
            }
        }
    }

    /// Adds a part that other masks have, too.
    pub(crate) fn share(&mut self, part: Ingredient) {
        match &mut self.composition {
            Some(composition) => composition.share(part),
            None => self.put(&part),
        }
    }

    /// Allows crossing tokens.
    pub(crate) fn allow_patch(&mut self, patch: SharedPatch) {
        for part in patch.core.into_iter().chain((!patch.own.is_empty()).then_some(patch.own)) {
            self.share(Ingredient::Allow(part));
        }
    }

    /// Takes tokens back; `shared` says that other masks do so, too.
    pub(crate) fn forbid(&mut self, patch: RowPatch, shared: bool) {
        match &mut self.composition {
            Some(composition) => composition.forbid(patch, shared),
            None => self.put(&Ingredient::Forbid(patch)),
        }
    }

    /// Makes the row empty, if it is written at once and holds anything yet.
    pub(crate) fn begin(&mut self) {
        if self.composition.is_none() && std::mem::replace(&mut self.fresh, false) {
            empty(self.row);
        }
    }

    /// Allows inner tokens.
    pub(crate) fn allow_inner(&mut self, mask: &Arc<LexemeMask>) {
        self.share(Ingredient::Inner(mask.clone()));
    }

    /// Allows tokens of up to `most` bytes of whitespace.
    pub(crate) fn allow_blanks(&mut self, most: u32) {
        // All that is beyond the longest such token has one name.
        let longest = self.tables.blanks.last().map_or(0, |b| b.0);
        self.share(Ingredient::Blanks(most.min(longest)));
    }

    /// Allows a token.
    #[inline]
    pub(crate) fn set(&mut self, token: u32) {
        match &mut self.composition {
            Some(composition) => composition.tokens.push(token),
            None => self.row[token as usize >> 5] |= 1 << (token & 31),
        }
    }
}
