//! What a parser can do next: the closure of its tops under reductions.
//!
//! Behind a terminal some rules may be complete. Each may be reduced, which replaces the nodes of its parts by one of
//! its own, or not, since nothing is known yet of the terminal that follows. The closure holds every top that is
//! reached so. Reductions pop at least one part and grammars have finitely many symbols, so it is finite.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::lr_automaton::{LrAutomaton, LrStateId, NO_STATE};
use crate::pushdown::grammar::parse_stack::{NodeId, ParseStack};
use crate::pushdown::grammar::scanner::ScanStateId;
use crate::pushdown::grammar::stack_view::{StackCache, StackView};
use crate::util::cache_register::CLOSURES;
use crate::util::seeded_hash::SeededSet;
use crate::util::work_meter::{charge, is_over};

/// Nodes of the stack that are looked at for as much work as a step.
const NODES_PER_STEP: usize = 16;
/// Nodes that a rule leads on from, for as much, where a closure has few tops.
const LEADS_PER_STEP: usize = 8;
const FEW_TOPS: usize = 512;
/// Tops that a symbol may lead on from, for as much.
const TOPS_PER_STEP: usize = 16;

/// A top that is reached by reductions: a state on top of a node, which is named by its number in the view.
#[derive(Clone, Copy)]
struct Reached {
    state: LrStateId,
    /// The number of the node below, or of the top itself where `is_top`.
    base: u32,
    is_top: bool,
}

/// All tops that reductions lead to, as far as terminals lead on from them.
pub struct Closure {
    reached: Box<[Reached]>,
    /// The terminals that may come next, ascending, and behind them the sets of special tokens and the documents.
    pub next: Arc<[Symbol]>,
    /// Those of `next` behind which everything that was begun can be completed with free terminals.
    pub next_completes: Box<[Symbol]>,
    /// The output may end here.
    pub accepting: bool,
    /// A document may come next.
    pub has_documents: bool,
    /// The state of the scanner at a boundary where nothing is promised, made on use.
    pub scan_start: OnceLock<ScanStateId>,
}

/// Closures by what decides them.
#[derive(Default)]
pub struct Closures {
    cache: StackCache<Arc<Closure>, CLOSURES>,
}

/// A closure and the nodes that it was found for, in the view's order.
pub struct Found {
    /// The closure.
    pub closure: Arc<Closure>,
    /// The nodes that the numbers in it stand for.
    pub order: SmallVec<[NodeId; 12]>,
    /// How many of them decided it.
    pub described: usize,
    /// How long a description of the stack takes that decides it, in words: what a look at it costs.
    pub words: usize,
}

impl Closures {
    /// The closure of these tops.
    pub fn find(&self, lr: &LrAutomaton, productions: &Productions, stack: &ParseStack, tops: &[NodeId]) -> Found {
        let mut view = StackView::new(&[], tops);
        if let Some(closure) = self.cache.find(&mut view, stack) {
            return Found::new(closure, &view);
        }
        let (tops_reached, mut decided) = close(lr, productions, stack, tops);
        decided.sort_unstable();
        decided.dedup();
        // The view must reach all that decided before numbers can be given.
        let mut wide = StackView::new(&[], tops);
        while !decided.iter().all(|&node| wide.describes(node)) && wide.deepen(stack) {}
        let mut next: Vec<Symbol> = Vec::new();
        let mut next_completes: Vec<Symbol> = Vec::new();
        let mut accepting = false;
        let mut reached = Vec::new();
        for (state, base, is_top) in tops_reached {
            let lr_state = lr.state(state);
            accepting |= lr_state.accepting;
            let before = next.len();
            let stands_well = stack.completes(base) && (is_top || LrAutomaton::completes(state));
            for (symbol, completes) in lr_state.terminals(productions) {
                next.push(symbol);
                if completes && stands_well {
                    next_completes.push(symbol);
                }
            }
            if next.len() > before {
                let base = wide.number(base).unwrap_or_default();
                reached.push(Reached { state, base, is_top });
            }
        }
        next.sort_unstable();
        next.dedup();
        next_completes.sort_unstable();
        next_completes.dedup();
        let size = reached.len() * size_of::<Reached>() + (next.len() + next_completes.len()) * 4 + 64;
        let has_documents = next.iter().any(|&s| productions.document(s).is_some());
        let closure = Arc::new(Closure {
            reached: reached.into(),
            next: next.into(),
            next_completes: next_completes.into(),
            accepting,
            has_documents,
            scan_start: OnceLock::new(),
        });
        if !is_over() {
            self.cache.keep(&mut view, stack, &decided, closure.clone(), size);
        }
        // A view that another answer had led deeper gives the same numbers, and more of them.
        if view.order().len() < wide.order().len() {
            view = wide;
        }
        Found::new(closure, &view)
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.cache.memory_bytes()
    }
}

/// The tops that are reached, each as a state, the node below it (or the top itself) and whether it is a top; and the
/// nodes that were looked at.
fn close(
    lr: &LrAutomaton,
    productions: &Productions,
    stack: &ParseStack,
    tops: &[NodeId],
) -> (Vec<(LrStateId, NodeId, bool)>, Vec<NodeId>) {
    let mut out: Vec<(LrStateId, NodeId, bool)> = tops.iter().map(|&top| (stack.state(top), top, true)).collect();
    let mut seen: SeededSet<(LrStateId, NodeId)> = Default::default();
    let mut looked: Vec<NodeId> = tops.to_vec();
    let mut at = 0;
    let mut bases: Vec<NodeId> = Vec::new();
    // Whoever runs out of steps here throws away what it was about.
    while at < out.len() && !is_over() {
        let (state, node, is_top) = out[at];
        at += 1;
        let (before, mut led) = (looked.len(), 0);
        for &(rule, parts) in &lr.state(state).reductions {
            // A reached top stands on its base: the first part is popped already.
            bases.clear();
            bases.push(node);
            let pops = if is_top { parts } else { parts - 1 };
            for _ in 0..pops {
                let mut below: Vec<NodeId> = Vec::new();
                for &base in &bases {
                    looked.push(base);
                    below.extend_from_slice(stack.below(base));
                }
                below.sort_unstable();
                below.dedup();
                bases = below;
            }
            // From each one a rule leads on.
            led += bases.len();
            for &base in &bases {
                looked.push(base);
                let to = lr.goto(productions, stack.state(base), rule);
                if to != NO_STATE && seen.insert((to, base)) {
                    out.push((to, base, false));
                }
            }
        }
        // Large closures leave the processor's caches, and each node that a rule leads on from is a miss.
        let leads_per_step = if out.len() < FEW_TOPS { LEADS_PER_STEP } else { 1 };
        charge(led / leads_per_step + (looked.len() - before) / NODES_PER_STEP);
    }
    (out, looked)
}

/// A state that a terminal leads to, the reduced state below it, and what that stands on.
type MadeTop = (LrStateId, LrStateId, SmallVec<[NodeId; 2]>);

impl Found {
    fn new(closure: Arc<Closure>, view: &StackView) -> Self {
        let order = SmallVec::from_slice(view.order());
        Found { closure, order, described: view.described().len(), words: view.key().len() }
    }

    /// The nodes that decided the closure.
    pub fn decided(&self) -> &[NodeId] {
        &self.order[..self.described]
    }

    /// Tops from which the same may come next, with nothing left to reduce.
    pub fn tops(&self, stack: &mut ParseStack) -> SmallVec<[NodeId; 2]> {
        let top = |reached: &Reached| match (reached.is_top, self.order[reached.base as usize]) {
            (true, top) => top,
            (false, base) => stack.push(reached.state, &[base]),
        };
        self.closure.reached.iter().map(top).collect()
    }

    /// Adds to `shifted` where a terminal or a set of special tokens leads: states, each with the nodes below it.
    pub fn shift(
        &self,
        lr: &LrAutomaton,
        productions: &Productions,
        stack: &mut ParseStack,
        symbol: Symbol,
        shifted: &mut Shifted,
    ) {
        // Tops of one state that stand on several nodes are one node on all of them. Otherwise each of them would lead
        // to as many again at the next reduction, and their number would grow without bound in ambiguous grammars.
        let mut made: SmallVec<[MadeTop; 2]> = SmallVec::new();
        charge(self.closure.reached.len() / TOPS_PER_STEP);
        for reached in &self.closure.reached {
            let to = lr.goto(productions, reached.state, symbol);
            if to == NO_STATE {
                continue;
            }
            let base = self.order[reached.base as usize];
            if reached.is_top {
                shifted.add(to, base);
                continue;
            }
            match made.iter_mut().find(|(state, ..)| *state == reached.state) {
                Some((.., bases)) => bases.push(base),
                None => made.push((reached.state, to, smallvec::smallvec![base])),
            }
        }
        for (state, to, mut bases) in made {
            bases.sort_unstable();
            bases.dedup();
            let node = stack.push(state, &bases);
            shifted.add(to, node);
        }
    }
}

/// Tops in the making: states, each with the nodes below it.
#[derive(Default)]
pub struct Shifted(SmallVec<[(LrStateId, SmallVec<[NodeId; 2]>); 2]>);

impl Shifted {
    fn add(&mut self, state: LrStateId, below: NodeId) {
        match self.0.iter_mut().find(|(known, _)| *known == state) {
            Some((_, nodes)) => nodes.push(below),
            None => self.0.push((state, smallvec::smallvec![below])),
        }
    }

    /// Adds a top, with the nodes below it.
    pub fn add_top(&mut self, stack: &ParseStack, top: NodeId) {
        let (state, below) = (stack.state(top), stack.below(top));
        if below.is_empty() && !self.0.iter().any(|(known, _)| *known == state) {
            self.0.push((state, SmallVec::new()));
        }
        below.iter().for_each(|&node| self.add(state, node));
    }

    /// The tops, in the order of their states.
    pub fn finish(mut self, stack: &mut ParseStack) -> SmallVec<[NodeId; 2]> {
        self.0.sort_unstable_by_key(|(state, _)| *state);
        self.0.iter_mut().for_each(|(_, below)| {
            below.sort_unstable();
            below.dedup();
        });
        self.0.iter().map(|(state, below)| stack.push(*state, below)).collect()
    }
}
