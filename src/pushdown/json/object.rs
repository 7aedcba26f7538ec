//! Objects: keys in any order without 2^k states.
//!
//! Each item of an object frame is one shape with registers: which named keys were seen, which are needed in the end,
//! and, in declared order, how far the order has come. Guards keep every item completable. A key is allowed only while
//! it is unseen, everything that it requires (`dependentRequired`) is still possible, and what is still needed fits
//! `maxProperties`. A comma is allowed only while some further key is; a closing brace only when all that is needed was
//! seen. Keys are compared by what they decode to, so an escaped spelling of a key is that key. Where named keys are
//! written plainly, an escaped one is refused: from the first byte on that is not plain, no named key is allowed any
//! more.
//!
//! A shape with witnesses asks that one or several unnamed keys are of certain classes. A key of several classes makes
//! one item for each of them. An item remembers the witnesses that it has found, and of items that differ in nothing
//! else those that have found less are dropped. While witnesses are missing, room for them is kept like room for needed
//! names.

use crate::json::rules::RuleId;
use crate::json::whitespace::Gap;
use crate::lexeme::CLOSED;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::{ClassProgram, ObjectProgram};
use crate::util::bits::ones;
use smallvec::SmallVec;

type RequiredBits = SmallVec<[u64; 4]>;

impl JsonMachine<'_> {
    pub(crate) fn open_object(&mut self, node: Frame) -> FrameId {
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for tag in 0..node.len {
            let rule = self.arena.rules[(node.start + tag) as usize];
            for &shape in &program.rules[rule.0 as usize].objects {
                let p = &program.objects[shape as usize];
                let seen = self.arena.bits.len() as u32;
                self.arena.bits.extend(std::iter::repeat_n(0, p.words));
                let need = self.arena.bits.len() as u32;
                self.arena.bits.extend_from_slice(&p.required);
                let alternatives = self.arena.bits.len() as u32;
                if let Some(union) = &p.union {
                    self.arena.bits.extend_from_slice(&union.all());
                }
                self.arena.objects.push(ObjectItem {
                    tag,
                    shape,
                    seen,
                    need,
                    allowed: 0,
                    others: false,
                    name_node: u32::MAX,
                    classes: 0,
                    position: 0,
                    child: 0,
                    witnessed: 0,
                    alternatives,
                    unsettled: false,
                });
            }
        }
        self.settle_alternatives(start, 0);
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Frame { start, len, ..Frame::new(node.parent, FrameKind::Object, Phase::First, Gap::Before) })
    }

    pub(crate) fn step_object(&mut self, node: Frame, byte: u8) -> FrameId {
        if node.phase == Phase::Key {
            return self.step_key(node, byte);
        }
        if let Some(n) = self.blank(node, byte) {
            return n;
        }
        if !self.gap_may_end(&node) {
            return NONE;
        }
        match (node.phase, byte) {
            (Phase::First | Phase::After, b'}') => self.close_object(node),
            (Phase::First | Phase::BeforeKey, b'"') => self.open_key(node),
            (Phase::After, b',') => self.comma(node),
            (Phase::BeforeColon, b':') => self.open_member(node),
            _ => NONE,
        }
    }

    pub(crate) fn bits(&self, at: u32, words: usize) -> &[u64] {
        &self.arena.bits[at as usize..at as usize + words]
    }

    fn close_object(&mut self, node: Frame) -> FrameId {
        let mut tags: SmallVec<[u32; 8]> = SmallVec::new();
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if self.object_may_close(&node, &item) && tags.last() != Some(&item.tag) {
                tags.push(item.tag);
            }
        }
        if tags.is_empty() { NONE } else { self.finish(node.parent, &tags, Some(b'}')) }
    }

    /// Whether an item has all that it needs.
    pub(crate) fn object_may_close(&self, node: &Frame, item: &ObjectItem) -> bool {
        let p = &self.program.objects[item.shape as usize];
        let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
        let complete = p.witnesses & !item.witnessed == 0 && need.iter().zip(seen).all(|(n, s)| n & !s == 0);
        complete && node.count as u64 >= p.min
    }

    /// Keys without a name that the object has and that belong to the class of `keys`.
    pub(crate) fn seen_in_class(&self, node: &Frame, keys: &crate::lexeme::Lexeme) -> u64 {
        let mut n = 0;
        let mut s = node.seen;
        while s != u32::MAX {
            let seen = self.arena.seen[s as usize];
            n += self.class_accepts(keys, &self.key_bytes(seen.key)) as u64;
            s = seen.before;
        }
        n
    }

    pub(crate) fn class_accepts(&self, keys: &crate::lexeme::Lexeme, text: &[u8]) -> bool {
        let end = text.iter().fold(keys.start(), |s, &b| keys.next(s, b));
        end > CLOSED && keys.state(end).accepting
    }

    /// How many further keys without a name an item may still get; `u64::MAX` is without end.
    fn others_left(&self, node: &Frame, p: &ObjectProgram) -> u64 {
        let mut left = 0u64;
        for class in &p.others {
            let Some(keys) = &class.keys else { return u64::MAX };
            let size = keys.residual_size(keys.start());
            if size == u64::MAX {
                return u64::MAX;
            }
            left = left.saturating_add(size - self.seen_in_class(node, keys).min(size));
        }
        left
    }

    /// No fewer are left, by the number of keys alone. No key is of two classes, but where they bring witnesses.
    fn least_others_left(&self, node: &Frame, p: &ObjectProgram) -> u64 {
        let size = |class: &ClassProgram| class.keys.as_ref().map_or(u64::MAX, |k| k.residual_size(k.start()));
        let classes = if p.witnesses == 0 { 1 } else { p.others.len() as u64 };
        let used = u64::from(node.count).saturating_mul(classes);
        p.others.iter().map(size).fold(0, u64::saturating_add).saturating_sub(used)
    }

    /// Whether there is one more.
    fn has_others_left(&self, node: &Frame, p: &ObjectProgram) -> bool {
        p.others.iter().any(|class| {
            let Some(keys) = &class.keys else { return true };
            let size = keys.residual_size(keys.start());
            // No more are used up than the object has.
            size > node.count.into() || size > self.seen_in_class(node, keys)
        })
    }

    /// The named keys that `item` may take next, and whether it may take another one.
    pub(crate) fn allowed(&self, node: &Frame, item: &ObjectItem) -> (RequiredBits, bool) {
        let p = &self.program.objects[item.shape as usize];
        let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
        let any_order = self.program.any_order;
        if p.union.is_some() {
            // What no open alternative has room for counts as seen. One without a bound has keys without end.
            let room = p.max.saturating_sub(node.count.into());
            let allowed = p.possible.iter().zip(seen).map(|(p, s)| if room == 0 { 0 } else { p & !s }).collect();
            return (allowed, self.missing_names(item, p) < room && self.has_others_left(node, p));
        }
        let mut allowed = RequiredBits::from_slice(&p.possible);
        allowed.iter_mut().zip(seen).for_each(|(p, s)| *p &= !s);
        if any_order && p.max == u64::MAX && p.dependent_required.is_none() && p.min <= node.count as u64 + 1 {
            // Nothing that is still needed can be in the way.
            let others = self.has_others_left(node, p);
            return (allowed, others);
        }
        let missing: RequiredBits = need.iter().zip(seen).map(|(n, s)| n & !s).collect();
        let missing_names = missing.iter().map(|w| w.count_ones() as u64).sum::<u64>();
        // A named key is no witness, so room for those must stay beside it.
        let witnesses = p.missing_members(item.witnessed);
        let missing_count = missing_names + witnesses;
        let count = node.count as u64;
        if count >= p.max {
            return (smallvec::smallvec![0; p.words], false);
        }
        let mut others = (any_order || missing_names == 0)
            && p.others.iter().any(|c| p.has_room(c, count + missing_names, item.witnessed));
        if !any_order {
            // Nothing before the position, nothing beyond the first key that is still needed.
            clear_below(&mut allowed, item.position as usize);
            if let Some(first) = lowest(&missing) {
                clear_above(&mut allowed, first);
            }
        }
        let tight = count + 1 + missing_count > p.max;
        if tight {
            // Only what is needed anyway still fits.
            allowed.iter_mut().zip(&missing).for_each(|(a, m)| *a &= m);
        }
        if let Some(dependent_required) = &p.dependent_required {
            for i in ones(&allowed.clone()) {
                let fits = {
                    let mut extra: RequiredBits =
                        dependent_required[i].iter().zip(seen).zip(need).map(|((m, s), n)| (m | n) & !s).collect();
                    extra[i / 64] &= !(1 << (i % 64));
                    let total = extra.iter().map(|w| w.count_ones() as u64).sum::<u64>();
                    count + 1 + total + witnesses <= p.max && (any_order || lowest(&extra).is_none_or(|j| j > i))
                };
                if !fits {
                    allowed[i / 64] &= !(1 << (i % 64));
                }
            }
        }
        if p.min > count + 1 {
            // After this key, enough others must be left to reach the minimum.
            let open: RequiredBits = p.possible.iter().zip(seen).map(|(p, s)| p & !s).collect();
            let names = if any_order { open.iter().map(|w| w.count_ones() as u64).sum::<u64>() } else { 0 };
            // Most objects are far from that, which takes no look at each of their keys.
            let plenty = (count + names).saturating_add(self.least_others_left(node, p)) >= p.min;
            let others_left = if plenty { u64::MAX } else { self.others_left(node, p) };
            if others_left != u64::MAX {
                let after = (!any_order).then(|| names_after(&open, seen, p.dependent_required.as_deref()));
                for i in ones(&allowed.clone()) {
                    // In any order all names but `i` may follow.
                    let left = after.as_ref().map_or_else(|| names - 1, |after| after[i]);
                    if count + 1 + left + others_left < p.min {
                        allowed[i / 64] &= !(1 << (i % 64));
                    }
                }
                others &= count + names + others_left >= p.min;
            }
        }
        if others {
            others = self.has_others_left(node, p);
        }
        (allowed, others)
    }

    /// How many names an item needs that the object has not.
    pub(crate) fn missing_names(&self, item: &ObjectItem, p: &ObjectProgram) -> u64 {
        let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
        need.iter().zip(seen).map(|(n, s)| (n & !s).count_ones() as u64).sum()
    }

    fn comma(&mut self, node: Frame) -> FrameId {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let (allowed, others) = self.allowed(&node, &item);
            if others || allowed.iter().any(|w| *w != 0) {
                self.arena.objects.push(item);
            }
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Frame { start, len, phase: Phase::BeforeKey, gap: Gap::After as u8, blank: 0, ..node })
    }

    fn open_member(&mut self, node: Frame) -> FrameId {
        let start = self.arena.objects.len() as u32;
        let items = node.start as usize..(node.start + node.len) as usize;
        let mut rules: SmallVec<[RuleId; 8]> =
            self.arena.objects[items.clone()].iter().map(|i| RuleId(i.child)).collect();
        rules.sort_unstable();
        rules.dedup();
        self.arena.objects.extend_from_within(items);
        for item in &mut self.arena.objects[start as usize..] {
            item.child = rules.binary_search(&RuleId(item.child)).unwrap_or(0) as u32;
        }
        let object = self.arena.push(Frame { start, phase: Phase::Inside, blank: 0, ..node });
        self.push_value(object, &rules, Gap::After)
    }

    pub(crate) fn member_done(&mut self, node: Frame, tags: &[u32]) -> FrameId {
        let start = self.arena.objects.len() as u32;
        let mut united = false;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if tags.binary_search(&item.child).is_err() {
                continue;
            }
            let item = ObjectItem { child: 0, ..item };
            let p = &self.program.objects[item.shape as usize];
            if p.union.is_some() {
                self.join_alternatives(start, item);
                united = true;
            } else if p.witnesses == 0 {
                self.arena.objects.push(item);
            } else {
                self.push_witnessed(start, item);
            }
        }
        if united {
            self.settle_alternatives(start, node.count);
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Frame { start, len, phase: Phase::After, gap: Gap::Before as u8, blank: 0, ..node })
    }
}

impl JsonMachine<'_> {
    /// Adds an item to those from `start` on, unless one of them has found the same witnesses and more. One that has
    /// found less than the new one makes room for it.
    fn push_witnessed(&mut self, start: u32, item: ObjectItem) {
        let words = self.program.objects[item.shape as usize].words;
        for i in start as usize..self.arena.objects.len() {
            let other = self.arena.objects[i];
            let same = (other.tag, other.shape, other.position) == (item.tag, item.shape, item.position)
                && self.bits(other.seen, words) == self.bits(item.seen, words)
                && self.bits(other.need, words) == self.bits(item.need, words);
            if same && item.witnessed & !other.witnessed == 0 {
                return;
            }
            if same && other.witnessed & !item.witnessed == 0 {
                self.arena.objects[i] = item;
                return;
            }
        }
        self.arena.objects.push(item);
    }
}

/// In declared order, how many names of `open`, those that are possible and not `seen`, can follow each name: those
/// behind it that require nothing in front of it which the object has not. All of these may come, as what they require
/// is among them. Linear in the names and what they require.
fn names_after(open: &[u64], seen: &[u64], dependent_required: Option<&[Vec<u64>]>) -> Vec<u64> {
    // A name `j` follows each `i < j` that leaves no name in front of it which `j` requires; first what begins or ends
    // at each place, then the sums.
    let mut counts = vec![0i64; open.len() * 64 + 1];
    for j in ones(open).filter(|&j| j > 0) {
        let missing = dependent_required.and_then(|dependent_required| {
            let missing: RequiredBits = dependent_required[j].iter().zip(seen).map(|(m, s)| m & !s).collect();
            lowest(&missing)
        });
        counts[0] += 1;
        counts[missing.map_or(j, |k| j.min(k + 1))] -= 1;
    }
    let mut sum = 0;
    let summed = counts.into_iter().map(|n| {
        sum += n;
        sum as u64
    });
    summed.collect()
}

fn lowest(bits: &[u64]) -> Option<usize> {
    bits.iter().position(|w| *w != 0).map(|i| i * 64 + bits[i].trailing_zeros() as usize)
}

fn clear_below(bits: &mut [u64], n: usize) {
    for (i, w) in bits.iter_mut().enumerate() {
        if (i + 1) * 64 <= n {
            *w = 0;
        } else if i * 64 < n {
            *w &= !((1 << (n - i * 64)) - 1);
        }
    }
}

fn clear_above(bits: &mut [u64], n: usize) {
    for (i, w) in bits.iter_mut().enumerate() {
        if i * 64 > n {
            *w = 0;
        } else if n - i * 64 < 63 {
            *w &= (1 << (n - i * 64 + 1)) - 1;
        }
    }
}
