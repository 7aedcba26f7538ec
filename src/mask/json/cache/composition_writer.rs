//! Writes a row from the composition of its mask, and makes the composition where none is known.
//!
//! What a guide knows anyway is written without looking at the configuration at all ([`JsonMaskBuilder::fill_known`]):
//! inside a string that is a lexeme state's row and the tokens that may close the string, elsewhere what the index
//! remembers.

use crate::lexeme::LexemeKind;
use crate::mask::json::cache::composition::{Ingredient, MaskComposition, PlaceInString, TextRow, copy_inner, empty};
use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::cache::patch_base::SharedPatch;
use crate::mask::json::cache::rows::{CachedRow, IngredientIds};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::lexeme::lexeme_mask::{LexemeMask, TokenSet};
use crate::mask::row_patch::{RowPatch, apply, clear};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind};
use crate::pushdown::json::literal_trie::NO_SET;
use std::sync::{Arc, Weak};

impl<'a> JsonMaskBuilder<'a> {
    /// [`fill`](Self::fill) into a row that holds anything.
    pub fn fill_anew(&mut self, top: FrameId) {
        self.look_at(top);
        self.fill_at(top);
    }

    fn look_at(&mut self, top: FrameId) {
        self.row_is_stale = true;
        self.guide_memo.settle(self.frames.arena);
        self.steps_crossing_whole = false;
        self.in_unique_array = self.frames.program.has_unique && self.frames.is_unique_inside(top);
    }

    /// [`fill`](Self::fill) of what was looked at.
    fn fill_at(&mut self, top: FrameId) {
        if self.in_unique_array && self.frames.program.has_watched {
            // What differs from all other elements need not be watched.
            self.frames.exceptions(top, true, self.guide_memo.elements, &mut self.guide_memo.sorted);
        }
        self.fill(top);
    }

    /// Writes a row that holds anything, if that takes no more than a look at what is known. False if it takes more;
    /// then the row may hold anything, and [`fill_asked`](Self::fill_asked) writes it.
    pub fn fill_known(&mut self, mask_cache: &MaskCache, top: FrameId, probe: &mut CacheProbe) -> bool {
        probe.clear();
        self.look_at(top);
        if self.in_unique_array {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.place_in_string(&n);
        if let Some(inside) = &inside {
            if !self.guide_memo.text.as_ref().is_some_and(|last| last.is_of(inside)) {
                self.guide_memo.text = self.known_text(inside);
            }
            if self.write_text() {
                return true;
            }
        }
        let place = (self.frames.program, &*self.frames.arena);
        if !mask_cache.describe(place, self.tables, top, &mut self.guide_memo.levels, probe) {
            return false;
        }
        let found = mask_cache.find(&self.tables.patches, probe, |composition| {
            self.tables.count_mask(true);
            self.write(composition);
            self.know_suffixes_by_tag(n.parent, &composition.suffixes_by_tag);
        });
        found.is_some()
    }

    /// Whether [`fill_known`](Self::fill_known) would write a row.
    pub fn is_known(&mut self, mask_cache: &MaskCache, top: FrameId, probe: &mut CacheProbe) -> bool {
        probe.clear();
        self.look_at(top);
        if self.in_unique_array {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let inside = self.place_in_string(&n);
        if inside.is_some_and(|inside| self.known_text(&inside).is_some()) {
            return true;
        }
        let place = (self.frames.program, &*self.frames.arena);
        mask_cache.describe(place, self.tables, top, &mut self.guide_memo.levels, probe)
            && mask_cache.find(&self.tables.patches, probe, |_| ()).is_some()
    }

    /// Writes the row that [`fill_known`](Self::fill_known) did not, and remembers it.
    pub fn fill_asked(&mut self, mask_cache: &'a MaskCache, top: FrameId, probe: &CacheProbe) {
        self.mask_cache = Some(mask_cache);
        let Some(mut composition) = self.make_composition(top) else { return self.fill_at(top) };
        composition.arrange(&self.tables.blanks);
        self.write(&composition);
        let n = self.frames.arena.nodes[top as usize];
        if matches!(n.kind, FrameKind::Value | FrameKind::Scalar) {
            composition.suffixes_by_tag = self.suffixes_by_tag(n.parent);
        }
        if mask_cache.keep(&self.tables.patches, probe, composition) {
            self.tables.count_mask(false);
        }
    }

    /// What the mask of `top` is made of. `None` inside arrays of unique elements, where a row is written at once: then
    /// [`fill_anew`](Self::fill_anew) writes it.
    pub fn make_composition(&mut self, top: FrameId) -> Option<MaskComposition> {
        self.look_at(top);
        if self.in_unique_array {
            return None;
        }
        self.composition = Some(MaskComposition::default());
        self.fill(top);
        self.composition.take()
    }

    /// The string that `top` is in, away from the bounds of its length, if what its masks are made of is known.
    pub(super) fn known_text_at(&mut self, top: FrameId) -> Option<&TextRow> {
        self.look_at(top);
        if self.in_unique_array {
            return None;
        }
        let inside = self.place_in_string(&self.frames.arena.nodes[top as usize])?;
        if !self.guide_memo.text.as_ref().is_some_and(|last| last.is_of(&inside)) {
            self.guide_memo.text = self.known_text(&inside);
        }
        self.guide_memo.text.as_ref()
    }

    /// Describes `top` for a look at what is remembered. False if nothing is remembered of such places.
    pub(super) fn is_described(&mut self, mask_cache: &MaskCache, top: FrameId, probe: &mut CacheProbe) -> bool {
        probe.clear();
        let place = (self.frames.program, &*self.frames.arena);
        !self.in_unique_array && mask_cache.describe(place, self.tables, top, &mut self.guide_memo.levels, probe)
    }

    /// The place of `n`, if that is inside one string, away from the bounds of its length, and its mask is known.
    fn place_in_string(&self, n: &Frame) -> Option<PlaceInString<'a>> {
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
        free.then_some(PlaceInString { parent: n.parent, tag: item.tag, mask })
    }

    /// What masks inside a string are made of, if its guide knows what may follow it.
    fn known_text(&mut self, inside: &PlaceInString<'_>) -> Option<TextRow> {
        let &PlaceInString { parent, tag, mask } = inside;
        let closing = self.known_closing(parent, tag, mask.cross.as_ref()?)?;
        Some(TextRow { parent, tag, mask: mask.clone(), closing, row: None })
    }

    /// Writes the row of the string that was filled last. False if there is none.
    fn write_text(&mut self) -> bool {
        let Some(text) = &self.guide_memo.text else { return false };
        if let Some(row) = text.row.as_ref().and_then(Weak::upgrade) {
            self.row.copy_from_slice(row.row());
        } else if let Some(core) = &text.closing.core {
            let parts = [Ingredient::Inner(text.mask.clone()), Ingredient::Allow(core.clone())];
            self.row_is_stale = true;
            let row = self.write_base(&parts).as_ref().map(Arc::downgrade);
            if let Some(text) = &mut self.guide_memo.text {
                text.row = row;
            }
        } else {
            copy_inner(&text.mask, self.row);
        }
        if let Some(text) = &self.guide_memo.text {
            apply(self.row, &text.closing.rest);
        }
        true
    }

    /// Writes a row that holds anything.
    fn write(&mut self, composition: &MaskComposition) {
        let (base, rest) = composition.parts.split_at(composition.base);
        self.row_is_stale = true;
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
        self.empty_stale_row();
        for &t in &composition.tokens {
            self.row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    /// Writes the parts of a base; their row, if there is one.
    fn write_base(&mut self, parts: &[Ingredient]) -> Option<Arc<CachedRow>> {
        let ids: IngredientIds = parts.iter().map(Ingredient::id).collect();
        match self.tables.finished.get(&ids) {
            Some(row) => {
                self.copy(&row);
                Some(row)
            }
            None => {
                self.put_all(parts);
                self.tables.finished.is_due(&ids).then(|| self.tables.finished.keep(ids, parts, self.row))
            }
        }
    }

    #[inline]
    fn copy(&mut self, row: &CachedRow) {
        self.row.copy_from_slice(row.row());
        self.row_is_stale = false;
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
                TokenSet::Dense(row) if self.row_is_stale => {
                    self.row.copy_from_slice(row);
                    self.row_is_stale = false;
                }
                inner => {
                    self.empty_stale_row();
                    inner.or_into(self.row);
                }
            },
            Ingredient::Allow(patch) => {
                self.empty_stale_row();
                apply(self.row, patch);
            }
            Ingredient::Forbid(patch) => {
                self.empty_stale_row();
                clear(self.row, patch);
            }
            Ingredient::Blanks(most) => {
                self.empty_stale_row();
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
        for part in patch.core.into_iter().chain((!patch.rest.is_empty()).then_some(patch.rest)) {
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
    pub(crate) fn empty_stale_row(&mut self) {
        if self.composition.is_none() && std::mem::replace(&mut self.row_is_stale, false) {
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
