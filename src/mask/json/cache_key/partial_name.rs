//! Places inside names whose masks are the same in every object.
//!
//! In a key that can become nothing but a few names, of which no token spells the rest to the closing quote, a token
//! spells a part of such a rest or is refused. So the mask depends on what is left of the names alone: not on the
//! stack, the shape or the keys that the object has, nor on what follows the key. The rests are the cache key of the
//! mask, and its composition is remembered for all indexes of a vocabulary, since schemas have many names in common.

use smallvec::SmallVec;

use crate::mask::json::cache::composition::MaskComposition;
use crate::mask::json::cache::masks::OVERHEAD;
use crate::mask::json::cache::patches::PatchCache;
use crate::mask::json::cache_key::visible_keys::{ITEMS, KeyEncoder, SPELLED};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{FrameId, FrameKind, Phase};
use std::sync::Arc;

/// Names below a place beyond which it is not looked at.
const BELOW: usize = 32;

impl KeyEncoder<'_> {
    /// Writes what is left of the names that the open key at `top` may become to `out`, if the mask depends on nothing
    /// else. Not for elements that must differ from others.
    pub fn names_only(&self, arena: &Arena, top: FrameId, out: &mut Vec<u8>) -> bool {
        let Some(n) = arena.nodes.get(top as usize) else { return false };
        let in_key = n.kind == FrameKind::Object && n.phase == Phase::Key;
        // Where bytes are missing, what may be spelled is a matter of more than the names.
        if !in_key
            || n.trace != u32::MAX
            || n.len > ITEMS
            || self.tables.spelling.is_some()
            || !self.is_between_chars(n)
        {
            return false;
        }
        let mut rests: SmallVec<[&[u8]; SPELLED]> = SmallVec::new();
        for item in &arena.objects[n.start as usize..(n.start + n.len) as usize] {
            if item.others || item.name_node == u32::MAX {
                return false;
            }
            let p = &self.program.objects[item.shape as usize];
            let allowed = &arena.bits[item.allowed as usize..][..p.words];
            let below = p.names.subtree_tokens(item.name_node);
            if below.len() > BELOW {
                return false;
            }
            for &i in below {
                if allowed[i as usize / 64] >> (i % 64) & 1 == 0 {
                    continue;
                }
                let rest = p.rest(item.name_node, i);
                if rests.len() == SPELLED || self.ends_key(rest) {
                    return false;
                }
                rests.push(rest);
            }
        }
        rests.sort_unstable();
        rests.dedup();
        out.clear();
        out.push(self.program.name_escapes as u8);
        for rest in &rests {
            out.extend_from_slice(&(rest.len() as u32).to_le_bytes());
            out.extend_from_slice(rest);
        }
        !rests.is_empty()
    }
}

impl PatchCache {
    /// The mask of a place that [`KeyEncoder::names_only`] described, if it is remembered.
    pub(crate) fn partial_name_mask(&self, key: &[u8]) -> Option<Arc<MaskComposition>> {
        self.partial_names.get(key)
    }

    /// Remembers the mask of such a place.
    pub(crate) fn keep_partial_name_mask(&self, key: &[u8], composition: MaskComposition) {
        let bytes = key.len() + composition.memory_bytes() + OVERHEAD;
        self.partial_names.keep(key.into(), Arc::new(composition), bytes);
    }
}

#[cfg(test)]
mod tests;
