//! Exhaustible arrays: those whose open element may run out of new values.
//!
//! Each byte inside elements that must differ asks of every array around it whether the open element can become more
//! values than the array has elements. What is open innermost is counted (see `cardinality`), and on the way up each
//! container multiplies. Documents nest as deep as their writer likes, but only rules with infinitely many values nest
//! deeper than their schema, and what stands around such a value has infinitely many too: so the way up is short.

use smallvec::SmallVec;

use crate::pushdown::json::frame::{ArrayItem, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::cardinality::less;

/// Numbers of values by the index of the rule among those of a value.
type ByRule = SmallVec<[u64; 8]>;

/// Arrays with numbers of values.
pub(crate) type ExhaustibleArrays = SmallVec<[(FrameId, u64); 4]>;

/// Containers that are looked at before values are counted.
const LOOKS: usize = 16;

impl JsonMachine<'_> {
    /// Whether the element that is open in the array on a node may turn out to be one that the array has, so that it is
    /// asked whether it can differ.
    fn is_watched(&self, at: FrameId) -> bool {
        let n = &self.arena.nodes[at as usize];
        let open = n.kind == FrameKind::Array && n.phase == Phase::Inside && n.key != u32::MAX && n.seen != u32::MAX;
        let items = || &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
        open && !self.is_unchecked(n)
            && !self.arena.unique.known_distinct.has(at)
            && items().iter().any(|i| self.program.arrays[i.shape as usize].watched)
    }

    /// The watched arrays around `top`, innermost first, whose open element may not become more values than the array
    /// has elements, each with the number of values.
    pub(crate) fn scarce(&self, top: FrameId) -> ExhaustibleArrays {
        let counts = if self.may_be_watched(top) { self.counts_of(top) } else { None };
        counts.map_or(ExhaustibleArrays::new(), |counts| self.scarce_above(top, counts))
    }

    /// Whether some array around `top` is watched. True as well where that takes long to see.
    pub(crate) fn may_be_watched(&self, top: FrameId) -> bool {
        let mut at = self.arena.nodes[top as usize].parent;
        for _ in 0..LOOKS {
            if at == NONE || at <= self.arena.unique.searching {
                return false;
            }
            if self.is_watched(at) {
                break;
            }
            at = self.arena.nodes[at as usize].parent;
        }
        true
    }

    /// The arrays around `top` that may run out of new values, where what rule `i` accepts at `top` may become
    /// `counts[i]` values.
    ///
    /// # Cost
    /// One way up, and none where what is open has values without end: then so has all that is around it.
    fn scarce_above(&self, top: FrameId, mut counts: ByRule) -> ExhaustibleArrays {
        let mut out = ExhaustibleArrays::new();
        let mut at = self.arena.nodes[top as usize].parent;
        // While a search tries what an element may become, the arrays around that one are not asked.
        while at != NONE && at > self.arena.unique.searching && !is_endless(&counts) {
            if self.is_watched(at) {
                let variety = self.element_variety(at, &counts);
                if !self.exceeds(at, variety) {
                    out.push((at, variety));
                }
            }
            let Some(next) = self.counts_around(at, &counts) else { break };
            counts = next;
            at = self.arena.nodes[at as usize].parent;
        }
        out
    }

    /// The most elements that any array on the stack with unique elements has.
    pub fn most_elements(&self, top: FrameId) -> u32 {
        let mut most = 0;
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == FrameKind::Array && n.key != u32::MAX {
                most = most.max(n.count);
            }
            at = n.parent;
        }
        most
    }

    /// Whether every element around the key that is open at `top` can differ from the others of its array whatever the
    /// key is: some other member may be anything. False where that is not certain.
    pub fn key_leaves_enough(&self, top: FrameId) -> bool {
        let node = self.arena.nodes[top as usize];
        let mut counts = ByRule::new();
        for i in &self.arena.objects[node.start as usize..(node.start + node.len) as usize] {
            let p = &self.program.objects[i.shape as usize];
            let bit = |bits: &[u64], k: usize| bits[k / 64] >> (k % 64) & 1 == 1;
            let seen = &self.arena.bits[i.seen as usize..i.seen as usize + p.words];
            let endless = |k: &usize| {
                let rule = p.rules[*k].filter(|_| bit(&p.possible, *k) && !bit(seen, *k));
                rule.is_some_and(|r| self.program.variety(r) == u64::MAX)
            };
            let free = self.program.any_order && p.max == u64::MAX && p.dependent_required.is_none();
            let others = p.max == u64::MAX && p.others.iter().any(|c| c.keys.is_none());
            let enough = others || (free && (0..p.rules.len()).filter(endless).nth(1).is_some());
            raise(&mut counts, i.tag, if enough { u64::MAX } else { 1 });
        }
        self.scarce_above(top, counts).is_empty()
    }

    /// Whether so many values are more than the array has elements.
    pub(crate) fn exceeds(&self, array: FrameId, variety: u64) -> bool {
        variety == u64::MAX || variety > u64::from(self.arena.nodes[array as usize].count)
    }

    /// A lower bound of the number of different values that the element of `array` which is open at `top` may become.
    pub(crate) fn variety(&self, top: FrameId, array: FrameId) -> u64 {
        if top == array {
            return 0;
        }
        let mut counts = self.counts_of(top);
        let mut at = self.arena.nodes[top as usize].parent;
        while let Some(inner) = counts.filter(|_| at != NONE) {
            if at == array {
                return self.element_variety(array, &inner);
            }
            counts = self.counts_around(at, &inner);
            at = self.arena.nodes[at as usize].parent;
        }
        0
    }

    /// The numbers of values that what is open at `top` may become, at least.
    fn counts_of(&self, top: FrameId) -> Option<ByRule> {
        let node = self.arena.nodes[top as usize];
        let mut counts = ByRule::new();
        let items = node.start as usize..(node.start + node.len) as usize;
        match node.kind {
            FrameKind::Value => {
                for (tag, rule) in (0..).zip(&self.arena.rules[items]) {
                    raise(&mut counts, tag, self.program.variety(*rule));
                }
            }
            FrameKind::Scalar => {
                let before = self.word_before(&node);
                for i in &self.arena.scalars[items] {
                    raise(&mut counts, i.tag, self.program.ends_variety(i.lexeme, i.state, node.count, &before));
                }
            }
            FrameKind::Object => {
                for i in &self.arena.objects[items] {
                    raise(&mut counts, i.tag, self.object_variety(&node, i));
                }
            }
            FrameKind::Array => {
                for i in &self.arena.arrays[items] {
                    raise(&mut counts, i.tag, self.array_variety(&node, i.shape));
                }
            }
            FrameKind::Root | FrameKind::Done => return None,
        }
        Some(counts)
    }

    /// The numbers of values that the container on the node `at` may become, at least, where what is open in it may
    /// become `inner` values.
    fn counts_around(&self, at: FrameId, inner: &ByRule) -> Option<ByRule> {
        let node = self.arena.nodes[at as usize];
        let mut counts = ByRule::new();
        let items = node.start as usize..(node.start + node.len) as usize;
        // The last alternative can become something that this array does not have, or nothing could follow.
        let least = u64::from(inner.iter().filter(|n| **n > 0).count() == 1);
        let inner = |child: u32| inner.get(child as usize).copied().unwrap_or(0);
        match node.kind {
            FrameKind::Array => {
                for i in &self.arena.arrays[items] {
                    let unique = self.program.arrays[i.shape as usize].unique;
                    let used = if unique { u64::from(node.count) } else { 0 };
                    let n = less(inner(i.child), used).max(least.min(inner(i.child)));
                    let rest = if n == 0 { 0 } else { self.array_variety(&node, i.shape) };
                    raise(&mut counts, i.tag, n.saturating_mul(rest));
                }
            }
            FrameKind::Object => {
                for i in &self.arena.objects[items] {
                    let n = inner(i.child);
                    let rest = if n == 0 { 0 } else { self.object_variety(&node, i) };
                    raise(&mut counts, i.tag, n.saturating_mul(rest));
                }
            }
            _ => return None,
        }
        Some(counts)
    }

    /// The number of values that the element open in an array of unique elements may become, at least.
    fn element_variety(&self, array: FrameId, inner: &ByRule) -> u64 {
        let node = &self.arena.nodes[array as usize];
        let items = &self.arena.arrays[node.start as usize..(node.start + node.len) as usize];
        let is_unique = |i: &ArrayItem| self.program.arrays[i.shape as usize].unique;
        let inner = |child: u32| inner.get(child as usize).copied().unwrap_or(0);
        // Elsewhere the element may be one that the array has.
        let free = items.iter().any(|i| !is_unique(i) && inner(i.child) > 0);
        let most = items.iter().filter(|i| is_unique(i)).map(|i| inner(i.child)).max().unwrap_or(0);
        if free { u64::MAX } else { most }
    }
}

/// Whether whatever is still possible has values without end. What is around it then has as many: numbers of values
/// multiply, and of none that is possible the number is zero.
fn is_endless(counts: &ByRule) -> bool {
    counts.contains(&u64::MAX) && counts.iter().all(|n| matches!(*n, 0 | u64::MAX))
}

/// Sets the number of a tag, unless it has a larger one.
fn raise(counts: &mut ByRule, tag: u32, n: u64) {
    let at = tag as usize;
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] = counts[at].max(n);
}
