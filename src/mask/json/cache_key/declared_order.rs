//! What a token can tell of an object whose keys come in declared order.
//!
//! There the *position*, how far the order has come, decides what may still come: names before it are gone, and none
//! comes beyond the first needed name behind it. Written as a number, the position makes each member another
//! configuration, though hardly any token can tell. So a cache key holds what tokens see:
//!
//! * From inside a member or behind it: whether the object may end, whether another key may follow, and which of the
//!   names that some token spells behind a comma may be that key.
//! * Inside a key: the same facts for each name that it may become, with what is left of the name and the rule of its
//!   value, where they are few.
//! * Before a key, where any other key may come as well: which of the names that a token spells whole may be that key.
//! * Before a key where only names may come, and where names or alternatives are many: the position.
//!
//! Behind a key that a token spells whole, what follows is a matter of that key, wherever the order stood before. All
//! of this holds only where nothing but the names decides what may follow: without an upper bound on the number of
//! members, with the lower one met, without witnesses and `dependentRequired`.

use crate::mask::json::cache_key::visible_keys::{ITEMS, KeyEncoder, SPELLED, is_open};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, ObjectItem, Phase};
use crate::pushdown::json::program::ObjectProgram;

/// Words of bits, and names that begin like an open key, beyond which the position is told.
pub(crate) const WORDS: usize = 4;
const LISTED: usize = 64;

/// What may come next in declared order.
pub(crate) struct UpcomingKeys<'p> {
    p: &'p ObjectProgram,
    position: usize,
    /// The first name that is needed: a word of the bits, and in it that one and all before it.
    last: Option<(usize, u64)>,
}

impl UpcomingKeys<'_> {
    /// From `position` on.
    pub(crate) fn from_position(p: &ObjectProgram, position: usize) -> UpcomingKeys<'_> {
        let missing = |w: usize| p.required[w] & from(position, w);
        let word = (position / 64..p.words).find(|&w| missing(w) != 0);
        UpcomingKeys { p, position, last: word.map(|w| (w, missing(w) ^ (missing(w) - 1))) }
    }

    /// Names, as a word of the bits.
    fn names(&self, word: usize) -> u64 {
        let most = match self.last {
            Some((last, _)) if word > last => 0,
            Some((last, most)) if word == last => most,
            _ => u64::MAX,
        };
        self.p.possible[word] & from(self.position, word) & most
    }

    /// Whether there are any.
    pub(crate) fn is_any(&self) -> bool {
        (0..self.p.words).any(|word| self.names(word) != 0)
    }

    /// The end of the object, and keys without a name if it has any: nothing is needed any more.
    fn may_end(&self) -> bool {
        self.last.is_none()
    }

    /// Whether any key may come but the names that are gone.
    fn is_open(&self) -> bool {
        self.may_end() && is_open(self.p)
    }

    /// Writes what tokens tell of it, `view` being the names that they spell: which of those may come, and, where only
    /// names may, whether any other one does.
    fn tell(&self, view: &[u64], out: &mut Vec<u8>) {
        let unseen = !self.is_open() && view.iter().enumerate().any(|(w, view)| self.names(w) & !view != 0);
        out.push(self.may_end() as u8 | (unseen as u8) << 1);
        for (w, view) in view.iter().enumerate().filter(|(_, view)| **view != 0) {
            out.extend_from_slice(&(self.names(w) & view).to_le_bytes());
        }
    }
}

/// The bits of a word that stand for names from `position` on.
fn from(position: usize, word: usize) -> u64 {
    let gone = position.saturating_sub(word * 64);
    if gone < 64 { u64::MAX << gone } else { 0 }
}

impl KeyEncoder<'_> {
    /// Whether nothing but the names of an item, in declared order, decides how it may go on.
    pub(crate) fn is_ordered(&self, n: &Frame, p: &ObjectProgram) -> bool {
        !self.program.any_order && self.is_plain(n, p)
    }

    /// [`item`](Self::item) in declared order.
    pub(crate) fn ordered_item(&self, arena: &Arena, n: &Frame, item: &ObjectItem, out: &mut Vec<u8>) -> bool {
        let p = &self.program.objects[item.shape as usize];
        out.push(1);
        let ahead = UpcomingKeys::from_position(p, item.position as usize);
        let before = matches!(n.phase, Phase::First | Phase::BeforeKey);
        let by_position = p.words > WORDS || n.len > ITEMS || (before && !ahead.is_open());
        match n.phase {
            Phase::Key => {
                out.push(item.others as u8);
                if !by_position && self.ordered_key(arena, n, item, out) {
                    return true;
                }
                let allowed = &arena.bits[item.allowed as usize..][..p.words];
                // All that the position allows, or none where the key is not written plainly.
                out.extend([u8::MAX, allowed.iter().any(|w| *w != 0) as u8]);
                out.extend_from_slice(&item.position.to_le_bytes());
            }
            _ if by_position => out.extend_from_slice(&item.position.to_le_bytes()),
            _ => ahead.tell(self.of_shape(item.shape, n.phase, ahead.is_open()), out),
        }
        false
    }

    /// Writes the names that the key of an item may become. False, and nothing was written, if they are many.
    fn ordered_key(&self, arena: &Arena, n: &Frame, item: &ObjectItem, out: &mut Vec<u8>) -> bool {
        let p = &self.program.objects[item.shape as usize];
        let allowed = &arena.bits[item.allowed as usize..][..p.words];
        let may_come = |i: u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
        // Names that are gone are told where another key might be taken for them.
        let open = item.others && is_open(p);
        let mut look = |ids: &[u32]| {
            let names = || ids.iter().copied().filter(|&i| open || may_come(i));
            let count = if ids.len() > LISTED { usize::MAX } else { names().take(SPELLED + 1).count() };
            if count > SPELLED {
                return false;
            }
            out.push(count as u8);
            for i in names() {
                let rest = p.rest(item.name_node, i);
                out.push(may_come(i) as u8);
                out.extend_from_slice(&(rest.len() as u32).to_le_bytes());
                out.extend_from_slice(rest);
                if may_come(i) && self.ends_key(rest) {
                    let rule = p.rules[i as usize].map_or(u32::MAX, |r| r.0);
                    out.extend_from_slice(&rule.to_le_bytes());
                    let ahead = UpcomingKeys::from_position(p, i as usize + 1);
                    ahead.tell(self.of_shape(item.shape, n.phase, ahead.is_open()), out);
                }
            }
            true
        };
        match item.name_node {
            u32::MAX => look(&[]),
            _ if open => self.inside(item, look),
            name => look(p.names.subtree_tokens(name)),
        }
    }
}

#[cfg(test)]
mod tests;
