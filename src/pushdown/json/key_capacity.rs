//! Key capacity: how many unused keys the classes of an object have left.
//!
//! No object has a key twice, so a finite class may run out of keys: "three letters" does after 17,576, and keys that
//! begin with `ab` after 26. A key prefix is refused where no unused key can come of it. Where a class has more keys
//! than the object can use up, only prefixes of keys that the object has may have run out: `^(a.*|bc)$` is infinite,
//! and behind `b` there is one key.

use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, StateId};
use crate::pushdown::json::frame::{Frame, FrameId, ObjectItem};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::{ClassProgram, ObjectProgram};

/// Keys that an ample class has beside those that an object has and needs.
const SPARE: u64 = 1_024;

/// How many keys of a class are left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KeyCapacity {
    /// So few keys are left that each is counted.
    Scarce,
    /// More than any object needs, but those that begin alike may run out.
    Ample,
    /// Without end, however they begin.
    Endless,
}

impl KeyCapacity {
    /// Whether each key counts; `all` says that it does wherever some may run out.
    pub fn is_scarce(self, all: bool) -> bool {
        self == KeyCapacity::Scarce || (all && self == KeyCapacity::Ample)
    }
}

impl JsonMachine<'_> {
    /// Whether some key of the class that continues from `state` is not in the object yet: more members than there
    /// are seen keys with the same beginning.
    pub(crate) fn class_has_unseen(&self, node: &Frame, keys: &Lexeme, state: u32, decoded: &[u8]) -> bool {
        if node.seen == u32::MAX {
            return true;
        }
        let size = keys.residual_size(state);
        // No more are used up than the object has.
        if size > node.count.into() {
            return true;
        }
        let mut prefix = self.key_bytes(node.key);
        prefix.extend_from_slice(decoded);
        !self.arena.are_seen(size, node.seen, &prefix, |text| self.class_accepts(keys, text))
    }

    /// Whether some key of the class that goes on with one of the characters `next`, as an escape that was begun does,
    /// is not in the object yet: whichever of the characters are used up, another one may be left, also of those that
    /// lead to one state.
    pub(crate) fn class_has_unseen_of(&self, node: &Frame, keys: &Lexeme, state: StateId, next: &[(u32, u32)]) -> bool {
        let mut size = 0u64;
        for &(lo, hi) in next {
            for (to, chars) in keys.after_chars(state, lo, hi) {
                if node.seen == u32::MAX {
                    return true;
                }
                size = size.saturating_add(keys.residual_size(to).saturating_mul(chars));
                // No more are used up than the object has.
                if size > node.count.into() {
                    return true;
                }
            }
        }
        let prefix = self.key_bytes(node.key);
        let goes_on = |text: &[u8]| {
            let c = std::str::from_utf8(&text[prefix.len()..]).ok().and_then(|rest| rest.chars().next());
            c.is_some_and(|c| next.iter().any(|&(lo, hi)| (lo..=hi).contains(&c.into())))
        };
        let counts = |text: &[u8]| goes_on(text) && self.class_accepts(keys, text);
        !self.arena.are_seen(size, node.seen, &prefix, counts)
    }

    /// How many keys are left of a class, as seen from `state` inside a key of `node`.
    pub fn room_of(&self, node: &Frame, p: &ObjectProgram, class: &ClassProgram, state: StateId) -> KeyCapacity {
        let Some(keys) = &class.keys else { return KeyCapacity::Endless };
        // What has no key yet has used up none.
        if keys.residual_size(state) == u64::MAX && (node.seen == u32::MAX || keys.every_prefix_is_infinite(state)) {
            return KeyCapacity::Endless;
        }
        let enough = p.min.saturating_add(node.count.into()).saturating_add(SPARE);
        if keys.residual_size(keys.start()) > enough { KeyCapacity::Ample } else { KeyCapacity::Scarce }
    }

    /// Whether the object has all keys of some class that begin like a beginning of `rest`, where the key `node` goes
    /// on with that.
    pub fn runs_out(&self, node: &Frame, rest: &[u8]) -> bool {
        self.arena.objects[node.start as usize..][..node.len as usize].iter().filter(|item| item.others).any(|item| {
            let p = &self.program.objects[item.shape as usize];
            p.others.iter().zip(0..).any(|(class, i)| {
                let Some(keys) = &class.keys else { return false };
                let mut state = self.arena.states[(item.classes + i) as usize];
                (1..=rest.len()).any(|len| {
                    state = if state <= CLOSED { DEAD_STATE } else { keys.next(state, rest[len - 1]) };
                    // No more keys are used up than the object has.
                    state > CLOSED
                        && keys.residual_size(state) <= node.count.into()
                        && !self.class_has_unseen(node, keys, state, &rest[..len])
                })
            })
        })
    }

    /// The key node with only those classes that have few keys left, and no named keys; none without such classes.
    /// With `all`, every class of which some may run out counts as one.
    pub fn few_keys_only(&mut self, top: FrameId, all: bool) -> FrameId {
        let node = self.arena.nodes[top as usize];
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            if !item.others {
                continue;
            }
            let classes = self.arena.states.len() as u32;
            let mut any = false;
            for (c, k) in p.others.iter().zip(0..) {
                let state = self.arena.states[(item.classes + k) as usize];
                let few = state > CLOSED && self.room_of(&node, p, c, state).is_scarce(all);
                any |= few;
                self.arena.states.push(if few { state } else { DEAD_STATE });
            }
            if any {
                let allowed = self.no_names(&item);
                self.arena.objects.push(ObjectItem { classes, allowed, ..item });
            }
        }
        self.with_items(node, start)
    }
}
