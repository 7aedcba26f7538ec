//! Rows that lie on a device: which mask is in which of its slots.
//!
//! A batch's masks are megabytes, and most of them were on the device before: guides of one schema pass the same
//! places, and the inside of a string is one row for all schemas. So a device keeps some hundred rows in numbered
//! *slots*, and a step sends the number of each guide's slot and only those rows that it does not have. Which row that
//! is, the mask's name says ([`MaskName`]); a mask without a name takes a slot for one step.
//!
//! Slots are given again by a clock hand: what was not used since the hand came by last is let go, but nothing of the
//! step that is being made.

mod guide_mask_name;

use crate::mask::mask_name::{MaskName, NameWords};
use crate::util::seeded_hash::SeededMap;

#[derive(Clone, Default)]
struct RowSlot {
    name: Option<MaskName>,
    /// The step that used it last.
    step: u64,
    /// Used since the hand came by.
    used: bool,
}

/// Which mask is in which slot of a device.
pub struct RowSlots {
    slots: Vec<RowSlot>,
    by_name: SeededMap<NameWords, u32>,
    hand: usize,
    step: u64,
}

impl RowSlots {
    /// So many empty slots.
    pub fn new(count: usize) -> RowSlots {
        RowSlots { slots: vec![RowSlot::default(); count], by_name: SeededMap::default(), hand: 0, step: 0 }
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many slots hold a mask that has a name.
    pub fn num_named(&self) -> usize {
        self.by_name.len()
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
    pub fn find(&mut self, name: &MaskName) -> Option<u32> {
        let &slot = self.by_name.get(name.words())?;
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
            if let Some(name) = slot.name.take() {
                self.by_name.remove(name.words());
            }
            return Some(at as u32);
        }
        None
    }

    /// Names the mask in a slot that was taken in this step. A name that another slot has stays there.
    pub fn name(&mut self, slot: u32, name: MaskName) {
        if self.by_name.contains_key(name.words()) {
            return;
        }
        self.by_name.insert(name.words().clone(), slot);
        let named = &mut self.slots[slot as usize];
        (named.name, named.used) = (Some(name), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(n: u64) -> MaskName {
        let mut name = MaskName::default();
        name.number(n);
        name
    }

    #[test]
    fn slots_of_a_step_are_not_given_again_in_it() {
        let mut slots = RowSlots::new(3);
        for _ in 0..5 {
            slots.begin();
            let mut taken: Vec<u32> = (0..3).map(|_| slots.take().unwrap()).collect();
            assert_eq!(slots.take(), None);
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2]);
        }
        assert_eq!(RowSlots::new(0).take(), None);
    }

    #[test]
    fn a_named_mask_is_found_until_its_slot_is_given_again() {
        let mut slots = RowSlots::new(2);
        slots.begin();
        let slot = slots.take().unwrap();
        slots.name(slot, name(1));
        for _ in 0..9 {
            slots.begin();
            assert_eq!(slots.find(&name(1)), Some(slot));
            assert_eq!(slots.find(&name(2)), None);
            // A mask without a name has the other slot, step after step.
            assert_eq!(slots.take(), Some(1 - slot));
        }
        assert_eq!(slots.num_named(), 1);
        // What nobody asks for goes.
        for n in 2..5 {
            slots.begin();
            let slot = slots.take().unwrap();
            slots.name(slot, name(n));
        }
        slots.begin();
        assert_eq!(slots.find(&name(1)), None);
        assert!(slots.find(&name(4)).is_some());
        slots.clear();
        assert_eq!((slots.find(&name(4)), slots.num_named(), slots.len()), (None, 0, 2));
    }

    #[test]
    fn a_name_stays_where_it_is() {
        let mut slots = RowSlots::new(2);
        slots.begin();
        let (a, b) = (slots.take().unwrap(), slots.take().unwrap());
        slots.name(a, name(1));
        slots.name(b, name(1));
        assert_eq!((slots.find(&name(1)), slots.num_named()), (Some(a), 1));
        // The slot without a name is given again, and the name stays.
        slots.begin();
        assert_eq!(slots.take(), Some(b));
        assert_eq!(slots.find(&name(1)), Some(a));
    }
}
