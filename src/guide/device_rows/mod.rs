//! Rows that lie on a device: which mask is in which of its slots.
//!
//! A batch's masks are megabytes, and most of them were on the device before: guides of one schema pass the same
//! places, and the inside of a string is one row for all schemas. So a device keeps some hundred rows in numbered
//! *slots*, and a step sends the number of each guide's slot and only those rows that it does not have. Which row that
//! is, the mask's identity says ([`MaskIdentity`]); a mask without an identity takes a slot for one step.
//!
//! Slots are given again by a clock hand: what was not used since the hand came by last is let go, but nothing of the
//! step that is being made.

mod guide_mask_identity;

use crate::mask::mask_identity::{IdentityWords, MaskIdentity};
use crate::util::seeded_hash::SeededMap;

#[derive(Clone, Default)]
struct RowSlot {
    identity: Option<MaskIdentity>,
    /// The step that used it last.
    step: u64,
    /// Used since the hand came by.
    used: bool,
}

/// Which mask is in which slot of a device.
pub struct RowSlots {
    slots: Vec<RowSlot>,
    by_identity: SeededMap<IdentityWords, u32>,
    hand: usize,
    step: u64,
}

impl RowSlots {
    /// So many empty slots.
    pub fn new(count: usize) -> RowSlots {
        RowSlots { slots: vec![RowSlot::default(); count], by_identity: SeededMap::default(), hand: 0, step: 0 }
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many slots hold a mask that has an identity.
    pub fn num_identified(&self) -> usize {
        self.by_identity.len()
    }

    /// Forgets all masks: nothing is known of what is on the device.
    pub fn clear(&mut self) {
        *self = RowSlots::new(self.slots.len());
    }

    /// Begins a step: slots that were used before may be given again.
    pub fn begin(&mut self) {
        self.step += 1;
    }

    /// The slot of a mask, if it is in one. It stays there during this step.
    pub fn find(&mut self, identity: &MaskIdentity) -> Option<u32> {
        let &slot = self.by_identity.get(identity.words())?;
        let found = &mut self.slots[slot as usize];
        (found.step, found.used) = (self.step, true);
        Some(slot)
    }

    /// A slot for a mask, which the caller is to write. `None` if all slots are of this step.
    pub fn take(&mut self) -> Option<u32> {
        for _ in 0..2 * self.slots.len() {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = &mut self.slots[at];
            if slot.step == self.step || std::mem::take(&mut slot.used) {
                continue;
            }
            slot.step = self.step;
            if let Some(identity) = slot.identity.take() {
                self.by_identity.remove(identity.words());
            }
            return Some(at as u32);
        }
        None
    }

    /// Says which mask is in a slot that was taken in this step. An identity that another slot has stays there.
    pub fn identify(&mut self, slot: u32, identity: MaskIdentity) {
        if self.by_identity.contains_key(identity.words()) {
            return;
        }
        self.by_identity.insert(identity.words().clone(), slot);
        let identified = &mut self.slots[slot as usize];
        (identified.identity, identified.used) = (Some(identity), true);
    }
}

#[cfg(test)]
mod tests;
