//! Remaining costs: how a completion chooses among the items of a frame.
//!
//! The items of a frame are alternatives, and completing one of them is enough. But which of them a value belongs to
//! matters to the frames below: an array may need one more element that `contains` asks for, and only one of two rules
//! that are open in its element says that this is one. So each open value has a *remaining cost* for each of its rules:
//! about how many bytes the frames below take if that rule accepts the value. It is found from the root up, as the
//! least over the items that wait for the rule of what the item still needs and of the remaining cost of the item's own
//! rule. A completion follows the least sum. Where a frame has one rule only, there is nothing to choose and nothing is
//! computed.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::name_sums::sum_missing;
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, FrameKind, ObjectItem};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::{ClassProgram, ObjectProgram, Program};

/// Bytes of a member beside its value, about: quotes, a key, a colon and a comma.
const MEMBER: u64 = 8;

/// What an element that `contains` still asks for may take more than the shortest one, where elements must differ or
/// some `contains` has an upper bound: the shortest one may no longer be to be had, so none is put off for what it
/// costs.
const PUT_OFF: u64 = 1 << 16;

/// For each rule of a value, the bytes that the frames below take if it accepts; empty where that makes no difference.
#[derive(Clone)]
pub(crate) struct RemainingCost(Rc<[u64]>);

impl RemainingCost {
    /// What follows a value that the rule numbered `tag` accepts.
    pub(crate) fn after(&self, tag: u32) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.get(tag as usize).copied().unwrap_or(u64::MAX) }
    }
}

/// The remaining costs of the values of one completion, by the node below them. Nodes never change, so what was found
/// holds.
#[derive(Default)]
pub(crate) struct RemainingCosts(FxHashMap<FrameId, RemainingCost>);

/// What the key of an open member decides.
pub(crate) struct MemberCost {
    /// What the object takes without this member, and all below it.
    rest: u64,
    /// Members that are still missing, whichever they are.
    missing: bool,
    /// The witnesses that it lacks, and what the members cost that are all of a set of them; empty where it lacks none.
    lacking: u32,
    witnesses: Vec<u64>,
    known: bool,
}

impl RemainingCosts {
    /// The remaining cost of the value above `parent`.
    pub(crate) fn cost_above(&mut self, frames: &JsonMachine, costs: &MinCosts, parent: FrameId) -> RemainingCost {
        let mut chain: SmallVec<[FrameId; 8]> = SmallVec::new();
        let mut at = parent;
        while !self.0.contains_key(&at) {
            chain.push(at);
            let node = &frames.arena.nodes[at as usize];
            if !has_choice(frames, node) {
                break;
            }
            at = node.parent;
        }
        for at in chain.into_iter().rev() {
            let found = self.find(frames, costs, &frames.arena.nodes[at as usize]);
            self.0.insert(at, found);
        }
        self.0.get(&parent).cloned().unwrap_or_else(|| RemainingCost(Rc::from([])))
    }

    fn find(&self, frames: &JsonMachine, costs: &MinCosts, node: &Frame) -> RemainingCost {
        let mut out: Vec<u64> = Vec::new();
        let below = has_choice(frames, node).then(|| self.0.get(&node.parent)).flatten();
        let mut keep = |child: u32, tag: u32, own: u64| {
            let cost = own.saturating_add(below.map_or(0, |p| p.after(tag)));
            out.resize(out.len().max(child as usize + 1), u64::MAX);
            out[child as usize] = out[child as usize].min(cost);
        };
        for item in arrays(frames, node) {
            keep(item.child, item.tag, array_rest(frames, costs, node, item));
        }
        for item in objects(frames, node) {
            keep(item.child, item.tag, object_rest(frames, costs, node, item));
        }
        let distinct = out.iter().any(|&cost| cost != out[0]);
        RemainingCost(Rc::from(if distinct { out } else { Vec::new() }))
    }

    /// Whether some item of an array or object, between elements or members, may end it and leaves no more to write
    /// than every item that goes on.
    pub(crate) fn should_end(&mut self, frames: &JsonMachine, costs: &MinCosts, node: &Frame) -> bool {
        if !has_choice(frames, node) {
            return true;
        }
        let below = self.cost_above(frames, costs, node.parent);
        let (mut end, mut on) = (u64::MAX, u64::MAX);
        let mut keep = |ends: bool, tag: u32, own: u64| {
            let least = if ends { &mut end } else { &mut on };
            *least = (*least).min(below.after(tag).saturating_add(if ends { 0 } else { own }));
        };
        for item in arrays(frames, node) {
            let shape = &frames.program.arrays[item.shape as usize];
            let counts = &frames.arena.counts[item.counts as usize..][..shape.contains.len()];
            keep(shape.may_end(node.count.into(), counts), item.tag, array_rest(frames, costs, node, item));
        }
        for item in objects(frames, node) {
            keep(frames.object_may_close(node, item), item.tag, object_rest(frames, costs, node, item));
        }
        end <= on
    }

    /// What the key decides that is open in `node`, for one item.
    pub(crate) fn member(
        &mut self,
        frames: &JsonMachine,
        costs: &MinCosts,
        node: &Frame,
        item: &ObjectItem,
    ) -> MemberCost {
        let shape = &frames.program.objects[item.shape as usize];
        if node.len == 1 && shape.witnesses == 0 {
            return MemberCost { rest: 0, missing: false, lacking: 0, witnesses: Vec::new(), known: false };
        }
        let below =
            if has_choice(frames, node) { self.cost_above(frames, costs, node.parent).after(item.tag) } else { 0 };
        let rest = object_rest(frames, costs, node, item).saturating_add(below);
        let missing = shape.min > u64::from(node.count) + frames.missing_names(item, shape);
        let lacking = shape.witnesses & !item.witnessed;
        MemberCost { rest, missing, lacking, witnesses: costs.witnesses(shape, lacking), known: true }
    }
}

impl MemberCost {
    /// The whole way to the end with a named member whose value costs `value`.
    pub(crate) fn named(&self, needed: bool, value: u64) -> u64 {
        match self.known {
            false => 0,
            true if needed || self.missing => self.rest,
            true => self.rest.saturating_add(value).saturating_add(MEMBER),
        }
    }

    /// The whole way to the end with a member of a class whose value costs `value`.
    pub(crate) fn of_class(&self, class: &ClassProgram, value: u64) -> u64 {
        if !self.known {
            return 0;
        }
        let of = |lacking: u32| self.witnesses.get(lacking as usize).copied().unwrap_or(0);
        let (before, after) = (of(self.lacking), of(self.lacking & !class.matches));
        let own = if before == after && self.missing { 0 } else { value.saturating_add(MEMBER) };
        match (before, after) {
            (_, u64::MAX) => u64::MAX,
            // No estimate is known of what is missing, so only the way behind this member counts.
            (u64::MAX, after) => own.saturating_add(after),
            _ => self.rest.saturating_sub(before).saturating_add(after).saturating_add(own),
        }
    }
}

/// Whether the items of a frame belong to several rules.
fn has_choice(frames: &JsonMachine, node: &Frame) -> bool {
    let mut tags = arrays(frames, node).iter().map(|i| i.tag).chain(objects(frames, node).iter().map(|i| i.tag));
    let first = tags.next();
    tags.any(|tag| Some(tag) != first)
}

fn arrays<'a>(frames: &'a JsonMachine, node: &Frame) -> &'a [ArrayItem] {
    let items = node.start as usize..(node.start + node.len) as usize;
    if node.kind == FrameKind::Array { &frames.arena.arrays[items] } else { &[] }
}

fn objects<'a>(frames: &'a JsonMachine, node: &Frame) -> &'a [ObjectItem] {
    let items = node.start as usize..(node.start + node.len) as usize;
    if node.kind == FrameKind::Object { &frames.arena.objects[items] } else { &[] }
}

/// What an item still needs behind its open element, if it has one.
fn array_rest(frames: &JsonMachine, costs: &MinCosts, node: &Frame, item: &ArrayItem) -> u64 {
    let shape = &frames.program.arrays[item.shape as usize];
    let counts = frames.arena.counts[item.counts as usize..][..shape.contains.len()].iter().zip(0..);
    let counts: SmallVec<[u32; 4]> = counts.map(|(&n, bit)| n.saturating_add(item.matches >> bit & 1)).collect();
    let used_up = shape.unique || shape.contains.iter().any(|c| c.max.is_some());
    let missing = shape.contains.iter().zip(&counts).filter(|_| used_up);
    let missing = missing.fold(0u64, |sum, (c, &n)| sum.saturating_add(c.min.saturating_sub(n.into())));
    let rest = costs.array_after(frames.program, item.shape, node.count.into(), &counts);
    rest.saturating_add(missing.saturating_mul(PUT_OFF))
}

/// About how many bytes an open array or object takes at least, its closing bracket included; 0 of anything else.
pub(crate) fn least_rest(frames: &JsonMachine, costs: &MinCosts, node: &Frame) -> u64 {
    let array = |item: &ArrayItem| {
        let shape = &frames.program.arrays[item.shape as usize];
        let counts = &frames.arena.counts[item.counts as usize..][..shape.contains.len()];
        costs.array_after(frames.program, item.shape, node.count.into(), counts)
    };
    let rests = arrays(frames, node).iter().map(array);
    rests.chain(objects(frames, node).iter().map(|item| object_rest(frames, costs, node, item))).min().unwrap_or(0)
}

/// Whether an open object certainly lacks more names than `most`.
pub(crate) fn lacks_more_names(frames: &JsonMachine, node: &Frame, most: u64) -> bool {
    let lacks = |item: &ObjectItem| {
        let shape = &frames.program.objects[item.shape as usize];
        shape.union.is_none() && frames.missing_names(item, shape) > most
    };
    let items = objects(frames, node);
    !items.is_empty() && items.iter().all(lacks)
}

/// What an item still needs behind its open member, if it has one.
fn object_rest(frames: &JsonMachine, costs: &MinCosts, node: &Frame, item: &ObjectItem) -> u64 {
    let shape = &frames.program.objects[item.shape as usize];
    let seen = frames.bits(item.seen, shape.words);
    // Behind a key that has just split the alternatives, what the item needs is what those need that it left.
    let need = match shape.union.as_ref().filter(|_| item.unsettled) {
        Some(union) => union.nearest(frames.open_alternatives(item), seen),
        None => frames.bits(item.need, shape.words),
    };
    let names = (seen, need);
    costs.object_after(frames.program, item.shape, names, node.count.into(), item.witnessed)
}

impl MinCosts {
    /// About how many bytes an array takes after `len` elements with these match counts, its closing bracket included.
    /// Counts that are not given are 0.
    pub(crate) fn array_after(&self, program: &Program, shape: u32, len: u64, counts: &[u32]) -> u64 {
        let a = &program.arrays[shape as usize];
        let cheapest = |ways: &[crate::json::rules::Element], bits: u32| {
            let fit = ways.iter().filter(|w| w.matches & bits == bits);
            fit.map(|w| self.rules[w.rule.0 as usize]).min().unwrap_or(u64::MAX)
        };
        let mut total = 1u64;
        let prefix = a.prefix.len() as u64;
        for i in len..a.min.min(prefix) {
            total = total.saturating_add(cheapest(a.ways(i), 0)).saturating_add(1);
        }
        let more = a.min.saturating_sub(prefix.max(len));
        if more > 0 {
            total = total.saturating_add(cheapest(&a.rest, 0).saturating_add(1).saturating_mul(more));
        }
        for (i, c) in a.contains.iter().enumerate() {
            let missing = c.min.saturating_sub(counts.get(i).copied().unwrap_or(0).into());
            if missing > 0 {
                let bit = 1 << i;
                let left = a.prefix.iter().skip(usize::try_from(len).unwrap_or(usize::MAX));
                let one = left.map(|w| cheapest(w, bit)).chain([cheapest(&a.rest, bit)]).min().unwrap_or(u64::MAX);
                total = total.saturating_add(one.saturating_add(1).saturating_mul(missing));
            }
        }
        total
    }

    /// About how many bytes an object takes after `count` members, its closing bracket included: of the names that it
    /// has `seen` and those that it needs (`need`, all of them), and with the witnesses that it has found.
    pub(crate) fn object_after(
        &self,
        program: &Program,
        shape: u32,
        (seen, need): (&[u64], &[u64]),
        count: u64,
        witnessed: u32,
    ) -> u64 {
        let o = &program.objects[shape as usize];
        let (names, missing) = match self.names.get(shape as usize) {
            Some(sums) => sums.missing(seen, need),
            // Costs are still being found.
            None => sum_missing(seen, need, |name| self.member(o, name)),
        };
        let mut total = names.saturating_add(1);
        let members = count + missing;
        let lacking = self.witnesses(o, o.witnesses & !witnessed);
        total = total.saturating_add(lacking.last().copied().unwrap_or(0));
        let more = o.min.saturating_sub(members).saturating_sub(o.missing_members(witnessed));
        if more > 0 {
            let one = o.member_rules().map(|r| self.rules[r.0 as usize]).min().unwrap_or(u64::MAX);
            total = total.saturating_add(one.saturating_add(MEMBER).saturating_mul(more));
        }
        total
    }

    /// About how many bytes the fewest members take that are the witnesses of a set, for each set of bits of `lacking`.
    fn witnesses(&self, o: &ObjectProgram, lacking: u32) -> Vec<u64> {
        if lacking == 0 {
            return Vec::new();
        }
        // What a member leaves of a set is a smaller number.
        let mut costs = vec![0u64; lacking as usize + 1];
        for set in (1..=lacking).filter(|set| set & !lacking == 0) {
            let members = o.missing_members(o.witnesses & !set);
            let ways = o.others.iter().filter_map(|class| {
                let left = set & !class.matches;
                let fewer = o.missing_members(o.witnesses & !left) < members;
                let value = self.rules[class.rule.0 as usize].saturating_add(MEMBER);
                fewer.then(|| value.saturating_add(costs[left as usize]))
            });
            costs[set as usize] = ways.min().unwrap_or(u64::MAX);
        }
        costs
    }
}
