//! Items of united shapes: which alternatives a member leaves open.
//!
//! What a shape union is and what its items hold stands in [`shape_union`](crate::pushdown::json::shape_union).

use crate::pushdown::json::frame::ObjectItem;
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::shape_union::{AlternativeSet, RuleSets, ShapeUnion};
use std::sync::Arc;

impl JsonMachine<'_> {
    /// The open alternatives of an item; empty for shapes that are not united.
    pub(crate) fn open_alternatives(&self, item: &ObjectItem) -> &[u64] {
        let words = self.program.objects[item.shape as usize].union.as_ref().map_or(0, |union| union.words());
        self.bits(item.alternatives, words)
    }

    /// Adds an item for each rule that a member has in some of the open alternatives of `item`, which waits for it. The
    /// member is the one behind `count` others, and its name is among those that the item has seen.
    pub(crate) fn split_by_rule(&mut self, item: ObjectItem, count: u32, sets: &RuleSets) {
        let p = &self.program.objects[item.shape as usize];
        let room = p.max.saturating_sub(u64::from(count).saturating_add(1));
        let Some(union) = &p.union else { return };
        let roomy = union
            .is_tight(room)
            .then(|| union.with_room(self.open_alternatives(&item), self.bits(item.seen, p.words), room));
        for (rule, set) in sets {
            let open = self.open_alternatives(&item);
            let with_room = roomy.as_deref().unwrap_or(open);
            let set: AlternativeSet = set.iter().zip(with_room).map(|(set, open)| set & open).collect();
            let mut left = open.iter().zip(&set).map(|(open, set)| open & set);
            if left.clone().all(|word| word == 0) {
                continue;
            }
            let (mut alternatives, mut unsettled) = (item.alternatives, item.unsettled);
            if left.clone().ne(open.iter().copied()) {
                let left: AlternativeSet = left.by_ref().collect();
                alternatives = self.arena.bits.len() as u32;
                self.arena.bits.extend_from_slice(&left);
                unsettled = true;
            }
            self.arena.objects.push(ObjectItem { child: rule.0, alternatives, unsettled, ..item });
        }
    }

    /// Adds an item of a united shape to those from `start` on, or joins it to the one of the same shape.
    pub(crate) fn join_alternatives(&mut self, start: u32, item: ObjectItem) {
        let same = |other: &ObjectItem| (other.tag, other.shape) == (item.tag, item.shape);
        let Some(at) = self.arena.objects[start as usize..].iter().position(same) else {
            return self.arena.objects.push(item);
        };
        let other = self.arena.objects[start as usize + at];
        let words = self.program.objects[item.shape as usize].words;
        let join = |(a, b): (&u64, &u64)| a | b;
        let open: AlternativeSet =
            self.open_alternatives(&other).iter().zip(self.open_alternatives(&item)).map(join).collect();
        // What one of them may still take, both together may.
        let seen: AlternativeSet =
            self.bits(other.seen, words).iter().zip(self.bits(item.seen, words)).map(|(a, b)| a & b).collect();
        let bits = &mut self.arena.bits;
        let alternatives = bits.len() as u32;
        bits.extend_from_slice(&open);
        let both = bits.len() as u32;
        bits.extend_from_slice(&seen);
        self.arena.objects[start as usize + at] = ObjectItem { alternatives, seen: both, unsettled: true, ..other };
    }

    /// Sets the registers of the items from `start` on by the alternatives that are open now, behind `count` members.
    pub(crate) fn settle_alternatives(&mut self, start: u32, count: u32) {
        for i in start as usize..self.arena.objects.len() {
            let item = self.arena.objects[i];
            let p = &self.program.objects[item.shape as usize];
            let room = p.max.saturating_sub(count.into());
            let changed = |union: &&Arc<ShapeUnion>| item.unsettled || union.is_tight(room);
            let Some(union) = p.union.as_ref().filter(changed) else { continue };
            let open = AlternativeSet::from_slice(self.open_alternatives(&item));
            let mut seen = AlternativeSet::from_slice(self.bits(item.seen, p.words));
            union.close_names(&open, &mut seen, room);
            let bits = &mut self.arena.bits;
            let settled = bits.len() as u32;
            bits.extend_from_slice(&seen);
            let need = bits.len() as u32;
            bits.extend_from_slice(union.nearest(&open, &seen));
            self.arena.objects[i] = ObjectItem { seen: settled, need, unsettled: false, ..item };
        }
    }
}
