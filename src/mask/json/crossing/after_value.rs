//! Which suffixes may follow a value, found once for all the masks until the value ends.
//!
//! Before a value, in it and at its end, crossing tokens ask one question: what may the rest of a token be once the
//! value is over? The frames below the value and the rule that accepted it decide, not the value's bytes. So the answer
//! is worked out once, for every suffix of the vocabulary, and the crossing tokens of any lexeme look their suffixes up
//! in it.

use crate::lexeme::Lexeme;
use crate::mask::json::cache::composition::SuffixesByTag;
use crate::mask::json::cache::patch_base::SharedPatch;
use crate::mask::json::cache::patches::allowed;
use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::lexeme::lexeme_mask::CrossingTokens;
use crate::pushdown::json::frame::{FrameId, NONE};

impl JsonMaskBuilder<'_> {
    /// The crossing tokens that may end the value above `parent` by rule `tag`, if what follows it is known and they
    /// were put together before, by whomever. `None` as well where some are to be stepped whole.
    pub(crate) fn known_closing(&mut self, parent: FrameId, tag: u32, cross: &CrossingTokens) -> Option<SharedPatch> {
        let after = self.guide_memo.values.iter_mut().find(|a| (a.parent, a.tag) == (parent, tag))?;
        if !after.unresolved.is_empty() {
            return None;
        }
        if let Some(known) = after.closing.iter().find(|c| c.0 == cross.id) {
            return Some(known.1.clone());
        }
        let patch = self.tables.patches.known(cross, &after.bits)?;
        after.keep(cross, &patch);
        Some(patch)
    }

    /// Allows crossing tokens by what is known to follow the value above `parent` once rule `tag` accepted it; `lexeme`
    /// and `count` check the length of what came before. Returns the suffixes whose tokens are to be stepped whole, or
    /// `None` if some suffix is not among the vocabulary's; the tokens that were allowed then are allowed all the same.
    pub(crate) fn cross_known(
        &mut self,
        cross: &CrossingTokens,
        lexeme: Option<&Lexeme>,
        count: u32,
        (parent, tag): (FrameId, u32),
    ) -> Option<UnresolvedSuffixes> {
        let bounded = lexeme.filter(|l| !l.all_may_close(count, cross.chars));
        if bounded.is_none()
            && let Some((patch, unresolved)) = self.guide_memo.closing(parent, tag, cross)
        {
            self.allow_patch(patch);
            return Some(unresolved);
        }
        let (bits, unresolved) = self.after_value(parent, tag);
        let done = match bounded {
            None => {
                let patch = self.tables.patches.patch(cross, &self.tables.suffixes, &bits)?;
                if let Some(after) = self.guide_memo.values.iter_mut().find(|a| (a.parent, a.tag) == (parent, tag)) {
                    after.keep(cross, &patch);
                }
                self.allow_patch(patch);
                true
            }
            Some(l) => {
                let all = &self.tables.suffixes;
                allowed(cross, all, &bits, |c| {
                    if l.may_close(count.saturating_add(c.chars)) {
                        self.set(c.token);
                    }
                })
            }
        };
        done.then_some(unresolved)
    }

    /// Allows the crossing tokens whose suffixes `bits` allow; false, and nothing was done, if some suffix is not among
    /// the vocabulary's.
    pub(crate) fn cross_by(&mut self, cross: &CrossingTokens, bits: &[u64]) -> bool {
        match self.tables.patches.patch(cross, &self.tables.suffixes, bits) {
            Some(patch) => {
                self.allow_patch(patch);
                true
            }
            None => false,
        }
    }

    /// What is known to follow the value above `parent`.
    pub(crate) fn suffixes_by_tag(&self, parent: FrameId) -> SuffixesByTag {
        let of = self.guide_memo.values.iter().filter(|a| a.parent == parent);
        of.map(|a| (a.tag, a.bits.clone(), a.unresolved.clone())).collect()
    }

    /// Knows what follows the value above `parent`, as it was found on another stack that is described alike.
    pub(crate) fn know_suffixes_by_tag(&mut self, parent: FrameId, suffixes_by_tag: &SuffixesByTag) {
        for (tag, bits, unresolved) in suffixes_by_tag.iter() {
            if !self.guide_memo.values.iter().any(|a| (a.parent, a.tag) == (parent, *tag)) {
                self.guide_memo.add((parent, *tag), bits, unresolved);
            }
        }
    }

    /// See [`AfterValue`].
    pub(crate) fn after_value(&mut self, parent: FrameId, tag: u32) -> (SuffixSet, UnresolvedSuffixes) {
        if let Some(a) = self.guide_memo.values.iter().find(|a| (a.parent, a.tag) == (parent, tag)) {
            return (a.bits.clone(), a.unresolved.clone());
        }
        let mark = self.frames.arena.mark();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, self.frames.program.has_unique);
        let after = self.frames.finish_by(parent, &[tag]);
        let (bits, unresolved) = if after == NONE {
            (self.no_suffixes(), UnresolvedSuffixes::new())
        } else {
            self.live_suffixes_or_unresolved(after)
        };
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
        if parent < self.guide_memo.nodes {
            self.guide_memo.add((parent, tag), &bits, &unresolved);
        }
        (bits, unresolved)
    }
}
