//! What completing a parser's stack costs at least, by the costs of its symbols.
//!
//! A *place* is a state of the parser on top of a node. From there one of the items that made the state is read to its
//! end, what that is a part of is pushed onto a lower node, and so on down to the bottom. Costs of places are kept with
//! the nodes they stand on, so that each token costs what it adds to the stack.

use smallvec::SmallVec;

use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::completion::place_costs::{PlaceCost, PlaceCosts};
use crate::pushdown::grammar::completion::symbol_costs::{NO_COST, SymbolCosts};
use crate::pushdown::grammar::lr_automaton::{LrStateId, NO_STATE};
use crate::pushdown::grammar::parse_stack::{NodeId, ParseStack};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::util::seeded_hash::SeededSet;
use crate::util::work_meter::{charge, is_over};

/// The nodes on which a rule stands of which so many parts are on top of `base` and the state above it.
fn bases(stack: &ParseStack, base: NodeId, parts: u16) -> SmallVec<[NodeId; 4]> {
    let mut out: SmallVec<[NodeId; 4]> = SmallVec::from_slice(&[base]);
    for _ in 1..parts {
        let mut below: SmallVec<[NodeId; 4]> = out.iter().flat_map(|&node| stack.below(node)).copied().collect();
        below.sort_unstable();
        below.dedup();
        out = below;
    }
    out
}

/// Items and places that are looked at for as much work as a step.
const LOOKS_PER_STEP: usize = 16;
/// Known ones that are passed, for as much.
const PASSED_PER_STEP: usize = 256;

/// Costs of a stack.
pub struct StackCosts<'a> {
    /// The grammar.
    pub program: &'a GrammarProgram,
    /// The costs of its symbols.
    pub costs: &'a SymbolCosts,
    /// Costs that are kept here and not with the stack; see [`above`](Self::above).
    local: Option<PlaceCosts>,
    /// These are the largest costs, not the least.
    largest: bool,
    /// Looks that are no whole step yet.
    visits: usize,
}

impl<'a> StackCosts<'a> {
    /// Costs of the whole stack.
    pub fn new(program: &'a GrammarProgram, costs: &'a SymbolCosts) -> Self {
        StackCosts { program, costs, local: None, largest: false, visits: 0 }
    }

    /// Bounds of the costs of a whole stack.
    pub fn largest(program: &'a GrammarProgram, costs: &'a SymbolCosts) -> Self {
        StackCosts { program, costs, local: None, largest: true, visits: 0 }
    }

    /// Costs of what is put on top of a stack: of completing it as far as to a place that the stack with these tops has
    /// already.
    pub fn above(program: &'a GrammarProgram, costs: &'a SymbolCosts, stack: &ParseStack, tops: &[NodeId]) -> Self {
        let mut costs = StackCosts { program, costs, local: Some(PlaceCosts::default()), largest: false, visits: 0 };
        let place = |&top: &NodeId| stack.below(top).iter().map(move |&below| (below, stack.state(top)));
        let mut todo: Vec<(NodeId, LrStateId)> = tops.iter().flat_map(place).collect();
        // The bottom is the whole output: all of it is there already.
        let mut seen: SeededSet<(NodeId, LrStateId)> = todo.iter().copied().collect();
        while let Some((base, state)) = todo.pop() {
            if is_over() {
                break;
            }
            if let Some(local) = &mut costs.local {
                local.keep(base, PlaceCost { state, item: 0, cost: 0, most: 0 });
            }
            costs.for_each_step(stack, base, state, |_, _, to| {
                if let Some(to) = to.filter(|&to| seen.insert(to)) {
                    todo.push(to);
                }
            });
        }
        costs
    }

    fn known(&self, stack: &ParseStack, base: NodeId, state: LrStateId) -> Option<PlaceCost> {
        let kept = if self.largest { &stack.largest_costs } else { &stack.place_costs };
        self.local.as_ref().unwrap_or(kept).get(base, state)
    }

    /// Each item of a place, by its number: what it still costs, and the place that it leads to; none for the end of
    /// the output.
    fn for_each_step(
        &self,
        stack: &ParseStack,
        base: NodeId,
        state: LrStateId,
        mut each: impl FnMut(u32, u64, Option<(NodeId, LrStateId)>),
    ) {
        let productions = &self.program.productions;
        let lr = &self.program.lr;
        for (number, item) in (0u32..).zip(&lr.state(state).kernel) {
            let production = &productions.all[item.production as usize];
            let own = self.costs.row(&production.parts[usize::from(item.dot)..]);
            if own == NO_COST {
                continue;
            }
            if production.of == productions.start {
                each(number, own, None);
                continue;
            }
            for to in bases(stack, base, item.parts) {
                let above = lr.goto(productions, stack.state(to), production.of);
                if above != NO_STATE {
                    each(number, own, Some((to, above)));
                }
            }
        }
    }

    /// The largest cost of any place that these tops lead to.
    pub fn most_of_tops(&mut self, stack: &mut ParseStack, tops: &[NodeId]) -> u64 {
        let mut most = 0;
        for &top in tops {
            let state = stack.state(top);
            let below: SmallVec<[NodeId; 4]> = SmallVec::from_slice(stack.below(top));
            if below.is_empty() {
                most = most.max(self.costs.symbol(self.program.productions.start));
            }
            for below in below {
                self.of_place(stack, below, state);
                most = most.max(self.known(stack, below, state).map_or(NO_COST, |known| known.most));
            }
        }
        most
    }

    /// What completes the output behind one of these tops, at least, and the top that has it.
    pub fn of_tops(&mut self, stack: &mut ParseStack, tops: &[NodeId]) -> (u64, usize) {
        let mut least = (NO_COST, 0);
        for (number, &top) in tops.iter().enumerate() {
            let cost = self.of_top(stack, top).0;
            if cost < least.0 {
                least = (cost, number);
            }
        }
        least
    }

    /// The least cost behind a top, and the node below it.
    fn of_top(&mut self, stack: &mut ParseStack, top: NodeId) -> (u64, Option<NodeId>) {
        let state = stack.state(top);
        let below: SmallVec<[NodeId; 4]> = SmallVec::from_slice(stack.below(top));
        if below.is_empty() {
            return (self.costs.symbol(self.program.productions.start), None);
        }
        let costs = below.iter().map(|&below| (self.of_place(stack, below, state), Some(below)));
        costs.min().unwrap_or((NO_COST, None))
    }

    fn of_place(&mut self, stack: &mut ParseStack, base: NodeId, state: LrStateId) -> u64 {
        let mut todo = vec![(base, state)];
        while let Some(&(base, state)) = todo.last() {
            if is_over() {
                break;
            }
            if self.known(stack, base, state).is_some() || self.cost_places(stack, base, state, &mut todo) {
                todo.pop();
            }
        }
        self.known(stack, base, state).map_or(NO_COST, |known| known.cost)
    }

    /// Works out, and keeps, the costs of a place and of those on the same node that it leads to. False if others must
    /// be known first: those are added to `todo`.
    fn cost_places(
        &mut self,
        stack: &mut ParseStack,
        base: NodeId,
        state: LrStateId,
        todo: &mut Vec<(NodeId, LrStateId)>,
    ) -> bool {
        let mut places = vec![PlaceCost { state, item: 0, cost: NO_COST, most: 0 }];
        // From which place an item leads to which, at which cost.
        let mut steps: Vec<(usize, u32, usize, u64)> = Vec::new();
        let (mut at, asked) = (0, todo.len());
        while at < places.len() {
            self.visits += 1 + self.program.lr.state(places[at].state).kernel.len();
            charge(self.visits / LOOKS_PER_STEP);
            self.visits %= LOOKS_PER_STEP;
            if is_over() {
                return false;
            }
            let mut new: Vec<(u32, LrStateId, u64)> = Vec::new();
            let mut here = places[at];
            self.for_each_step(stack, base, here.state, |item, own, to| {
                let known = match to {
                    None => Some((0, 0)),
                    Some((to, above)) => self.known(stack, to, above).map(|known| (known.cost, known.most)),
                };
                match (known, to) {
                    (Some((cost, most)), _) => {
                        here.most = here.most.max(most);
                        if own.saturating_add(cost) < here.cost {
                            (here.cost, here.item) = (own.saturating_add(cost), item);
                        }
                    }
                    (None, Some((to, above))) if to == base => new.push((item, above, own)),
                    (None, Some(other)) => todo.push(other),
                    (None, None) => {}
                }
            });
            places[at] = here;
            self.visits += new.len() * places.len() / 64;
            for (item, above, own) in new {
                let to = places.iter().position(|place| place.state == above).unwrap_or_else(|| {
                    places.push(PlaceCost { state: above, item: 0, cost: NO_COST, most: 0 });
                    places.len() - 1
                });
                steps.push((at, item, to, own));
            }
            at += 1;
        }
        if todo.len() > asked {
            return false;
        }
        let mut changed = true;
        while changed {
            changed = false;
            charge(steps.len() / PASSED_PER_STEP);
            for &(from, item, to, own) in &steps {
                let cost = own.saturating_add(places[to].cost);
                if cost < places[from].cost {
                    (places[from].cost, places[from].item) = (cost, item);
                    changed = true;
                }
            }
        }
        places.iter_mut().for_each(|place| place.most = place.most.max(place.cost));
        changed = true;
        while changed {
            changed = false;
            charge(steps.len() / PASSED_PER_STEP);
            for &(from, _, to, _) in &steps {
                let most = places[to].most;
                changed |= most > places[from].most;
                places[from].most = places[from].most.max(most);
            }
        }
        let kept = if self.largest { &mut stack.largest_costs } else { &mut stack.place_costs };
        let table = self.local.as_mut().unwrap_or(kept);
        places.into_iter().for_each(|place| table.keep(base, place));
        true
    }

    /// Appends the terminals, special tokens and documents that complete the output behind a top. False if there are
    /// more than `most`.
    pub fn leaves(&mut self, stack: &mut ParseStack, top: NodeId, most: usize, out: &mut Vec<Symbol>) -> bool {
        let productions = &self.program.productions;
        let (cost, below) = self.of_top(stack, top);
        let Some(mut base) = below else { return self.costs.leaves(productions, &[productions.start], most, out) };
        if cost == NO_COST {
            return false;
        }
        let mut state = stack.state(top);
        loop {
            self.of_place(stack, base, state);
            let Some(place) = self.known(stack, base, state) else { return false };
            let item = self.program.lr.state(state).kernel[place.item as usize];
            let production = &productions.all[item.production as usize];
            if !self.costs.leaves(productions, &production.parts[usize::from(item.dot)..], most, out) {
                return false;
            }
            if production.of == productions.start {
                return true;
            }
            let to = bases(stack, base, item.parts).into_iter().filter_map(|to| {
                let above = self.program.lr.goto(productions, stack.state(to), production.of);
                let known = self.known(stack, to, above)?;
                Some((known.cost, to, above))
            });
            let Some((_, to, above)) = to.min() else { return false };
            (base, state) = (to, above);
        }
    }
}
