//! Viable suffixes of configurations, remembered by an index.
//!
//! Finding which suffixes may follow (see `viable`) takes some dozens of steps, and many masks ask about the same
//! places: behind every string of an object, behind each of its keys whose values follow the same rules. Such
//! configurations have one cache key (see `cache_key`), under which an index keeps the answer. It does so only where
//! all frames that this key is about were there before the mask was made, since a guide holds the numbers of such
//! frames only.

use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::pushdown::json::frame::{FrameId, FrameKind, NONE, Phase};

/// Items of a configuration beyond which a description costs more than it saves.
const MOST_ITEMS: u32 = 16;

impl JsonMaskBuilder<'_> {
    /// Whether the suffixes that may follow `top` are remembered once they are found.
    pub(crate) fn is_remembered(&self, top: FrameId) -> bool {
        let n = &self.frames.arena.nodes[top as usize];
        let stays = (n.parent == NONE || n.parent < self.guide_memo.nodes)
            && (n.kind != FrameKind::Object || n.seen == u32::MAX || n.seen < self.guide_memo.seen)
            && n.len <= MOST_ITEMS;
        self.mask_cache.is_some() && stays
    }

    /// The suffixes that may follow `top` and those whose tokens are stepped whole: as `find` finds them, or as they
    /// were found for another configuration that is described alike. `unnamed` says that the key in front of `top` is
    /// not known.
    pub(crate) fn remembered_suffixes(
        &mut self,
        top: FrameId,
        unnamed: bool,
        find: impl FnOnce(&mut Self) -> (SuffixSet, UnresolvedSuffixes),
    ) -> (SuffixSet, UnresolvedSuffixes) {
        let n = &self.frames.arena.nodes[top as usize];
        // Where a value, key or element begins, and behind a name, no other mask asks.
        let again = n.phase == Phase::After || unnamed;
        let Some(mask_cache) = self.mask_cache.filter(|_| again && self.is_remembered(top)) else { return find(self) };
        let arena = &*self.frames.arena;
        let mut key = std::mem::take(&mut self.guide_memo.scratch);
        let place = (self.frames.program, arena);
        if !mask_cache.describe_place(place, self.tables, top, &mut self.guide_memo.levels, &mut key) {
            self.guide_memo.scratch = key;
            return find(self);
        }
        key.push(unnamed as u8 | (arena.unchecked as u8) << 1);
        let answer = mask_cache.suffixes(&key).unwrap_or_else(|| {
            let found = find(self);
            mask_cache.keep_suffixes(&key, &found);
            found
        });
        self.guide_memo.scratch = key;
        answer
    }
}
