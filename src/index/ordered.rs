//! What a token can tell of an object whose keys come in declared order.
//!
//! There all that may still come is a matter of how far the order has come, the *position*: names before it are gone,
//! and of those behind it none comes beyond the first that is needed. That makes each member of an object another place,
//! though hardly any token can tell them apart. So, as in any order (see `views`), a description holds what tokens see:
//!
//! * from inside a member or behind it, whether the object may end, whether another key may follow, and which of the
//!   names that some token spells behind a comma may be that one;
//! * inside a key, the same for each name that it may become, with what is left of the name and the rule of its value,
//!   where they are few;
//! * before a key, the position.
//!
//! Behind a key that a token spells whole, what follows is a matter of that key, wherever the order stood before.
//! Only where nothing but the names decides what may follow: without an upper bound on the number of members, with the
//! lower one met, without implications and witnesses.

use smallvec::SmallVec;

use super::views::{ITEMS, SPELLED, Sight};
use crate::automaton::arena::{Arena, Node, ObjectItem, Phase};
use crate::automaton::program::ObjectProgram;

type Bits = SmallVec<[u64; 4]>;

/// Names that begin like an open key, gone ones among them, that are looked at.
const LISTED: usize = 64;

/// What may come next in declared order.
struct Ahead {
    /// Names.
    names: Bits,
    /// The end of the object, and keys without a name if there are any: nothing is needed any more.
    end: bool,
}

impl Ahead {
    /// From `position` on.
    fn of(p: &ObjectProgram, position: usize) -> Ahead {
        let behind = |bits: &[u64]| -> Bits {
            let from = |w: usize| position.saturating_sub(w * 64);
            bits.iter().enumerate().map(|(w, &b)| if from(w) < 64 { b >> from(w) << from(w) } else { 0 }).collect()
        };
        let (mut names, missing) = (behind(&p.possible), behind(&p.required));
        if let Some(word) = missing.iter().position(|w| *w != 0) {
            // The first one that is needed, and those before it.
            names[word] &= missing[word] ^ (missing[word] - 1);
            names[word + 1..].fill(0);
        }
        Ahead { names, end: missing.iter().all(|w| *w == 0) }
    }

    /// Writes what tokens tell of it, `view` being the names that they spell behind a comma: which of those may come, and
    /// whether any other one may.
    fn tell(&self, view: &[u64], out: &mut Vec<u8>) {
        let unseen = self.names.iter().zip(view).any(|(names, view)| names & !view != 0);
        out.push(self.end as u8 | (unseen as u8) << 1);
        for (names, view) in self.names.iter().zip(view).filter(|(_, view)| **view != 0) {
            out.extend_from_slice(&(names & view).to_le_bytes());
        }
    }
}

impl Sight<'_> {
    /// Whether nothing but the names of an item, in declared order, decides how it may go on.
    pub(super) fn is_ordered(&self, n: &Node, p: &ObjectProgram) -> bool {
        !self.program.any_order && self.is_plain(n, p)
    }

    /// [`item`](Self::item) in declared order.
    pub(super) fn ordered_item(&self, arena: &Arena, n: &Node, item: &ObjectItem, out: &mut Vec<u8>) -> bool {
        let p = &self.program.objects[item.shape as usize];
        out.push(1);
        match n.phase {
            Phase::First | Phase::BeforeKey => {
                out.extend_from_slice(&item.position.to_le_bytes());
                false
            }
            Phase::Key => self.ordered_key(arena, n, item, out),
            _ => {
                Ahead::of(p, item.position as usize).tell(self.of_shape(item.shape, n.phase), out);
                false
            }
        }
    }

    /// The same inside a key.
    fn ordered_key(&self, arena: &Arena, n: &Node, item: &ObjectItem, out: &mut Vec<u8>) -> bool {
        let p = &self.program.objects[item.shape as usize];
        let allowed = &arena.bits[item.allowed as usize..][..p.words];
        let may_come = |i: u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
        let view = self.of_shape(item.shape, n.phase);
        let open = item.others && p.others.iter().any(|c| c.keys.is_none());
        out.push(item.others as u8);
        let few = if n.len <= ITEMS { SPELLED } else { 0 };
        // Names that are gone are told where another key might be taken for them.
        let mut look = |ids: &[u32]| {
            let names = || ids.iter().copied().filter(|&i| open || may_come(i));
            let count = if ids.len() > LISTED { usize::MAX } else { names().take(few + 1).count() };
            if count > few {
                return false;
            }
            out.push(count as u8);
            for i in names() {
                let read = p.names.depth[item.name as usize] as usize;
                let rest = p.name(i).as_bytes().get(read..).unwrap_or_default();
                out.push(may_come(i) as u8);
                out.extend_from_slice(&(rest.len() as u32).to_le_bytes());
                out.extend_from_slice(rest);
                if may_come(i) && self.ends_key(rest) {
                    let rule = p.rules[i as usize].map_or(u32::MAX, |r| r.0);
                    out.extend_from_slice(&rule.to_le_bytes());
                    Ahead::of(p, i as usize + 1).tell(view, out);
                }
            }
            true
        };
        let told = match item.name {
            u32::MAX => look(&[]),
            _ if open => self.inside(item, look),
            name => look(p.names.subtree_tokens(name)),
        };
        if !told {
            out.push(u8::MAX);
            allowed.iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
        }
        told
    }
}

#[cfg(test)]
mod tests;
