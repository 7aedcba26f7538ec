//! The LR(0) automaton of a grammar, made on use.
//!
//! A state is a set of *items*: alternatives with a dot that says how far each was read. The stack of an LR parser is a
//! path through this automaton, and every path is the beginning of some output (Knuth 1965). So a stack never needs to
//! look ahead to know that it can be completed.
//!
//! Symbols that may be empty are stepped over: an item whose dot stands before one stands behind it as well, with one
//! part less on the stack (Aycock and Horspool, "Practical Earley Parsing", 2002). So nothing empty ever comes onto the
//! stack, and an item counts the parts that did.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::util::append_vec::AppendVec;
use crate::util::memory_growth::HeldBytes;
use crate::util::seeded_hash::{SeededMap, SeededSet};
use crate::util::work_meter::charge_bytes;

/// Names a state.
pub type LrStateId = u32;

/// No state.
pub const NO_STATE: LrStateId = u32::MAX;
/// Set in the number of a state whose items can all be completed with *free* terminals; see
/// [`succession`](crate::pushdown::grammar::succession). A transition leaves it out where what predicted the items
/// cannot be.
const COMPLETES: u32 = 1 << 30;
/// A transition that nobody asked for yet.
const UNKNOWN_TARGET: u32 = u32::MAX - 1;

/// An alternative with a dot, and how many of the parts before the dot are on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The alternative.
    pub production: u32,
    /// How many of its parts were read.
    pub dot: u16,
    /// How many of them are on the stack.
    pub parts: u16,
}

/// A step by one symbol.
struct Transition {
    symbol: Symbol,
    to: AtomicU32,
    /// Whether the items of the state that it leads to, and what predicted them, can be completed with free terminals.
    completes: bool,
    /// The items of the state that it leads to, before what they predict.
    kernel: Box<[Item]>,
}

/// A set of items.
pub struct LrState {
    /// The items that the state was made of, before what they predict. What the stack was made for is read by one of
    /// them.
    pub kernel: Box<[Item]>,
    /// By symbol, ascending.
    transitions: Box<[Transition]>,
    /// Alternatives that were read to their end: the nonterminal, and how many parts of it are on the stack.
    pub reductions: Box<[(Symbol, u32)]>,
    /// Whether the whole output may end here.
    pub accepting: bool,
}

impl LrState {
    /// The terminals, sets of special tokens and documents that lead on from here, each with whether all that it leads
    /// to can be completed with free terminals.
    pub fn terminals<'s>(&'s self, productions: &Productions) -> impl Iterator<Item = (Symbol, bool)> + 's {
        let first_rule = productions.first_rule;
        self.transitions.iter().map(|t| (t.symbol, t.completes)).take_while(move |&(s, _)| s < first_rule)
    }
}

/// The LR(0) automaton of a grammar, made on use. Threads share it.
pub struct LrAutomaton {
    states: AppendVec<LrState>,
    /// For each symbol whether it can be read with free terminals alone.
    free: Box<[bool]>,
    start: LrStateId,
    builder: Mutex<Builder>,
}

#[derive(Default)]
struct Builder {
    by_kernel: SeededMap<Box<[Item]>, LrStateId>,
    bytes: HeldBytes,
}

impl LrAutomaton {
    /// The automaton, of which only the start state is made. `free` says for each symbol whether it can be read with
    /// free terminals alone.
    pub fn new(productions: &Productions, free: Box<[bool]>) -> Self {
        let mut automaton = LrAutomaton { states: AppendVec::default(), free, start: 0, builder: Mutex::default() };
        let production = productions.alternatives(productions.start)[0];
        let kernel = [Item { production, dot: 0, parts: 0 }];
        let start = automaton.intern(productions, &mut automaton.lock(), &kernel);
        automaton.start = start;
        automaton
    }

    /// The start state.
    pub fn start(&self) -> LrStateId {
        self.start
    }

    /// Whether all items of a state can be completed with free terminals.
    #[inline]
    pub fn completes(id: LrStateId) -> bool {
        id & COMPLETES != 0
    }

    fn lock(&self) -> MutexGuard<'_, Builder> {
        self.builder.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// The number of a state, from 0 on.
    #[inline]
    pub fn number(id: LrStateId) -> u32 {
        id & !COMPLETES
    }

    /// A state.
    #[inline]
    pub fn state(&self, id: LrStateId) -> &LrState {
        match self.states.get(Self::number(id)) {
            Some(state) => state,
            // Ids are only ever handed out after their state was set.
            None => unreachable!("state {id} of a parser was never made"),
        }
    }

    /// Where a symbol leads, or [`NO_STATE`].
    #[inline]
    pub fn goto(&self, productions: &Productions, from: LrStateId, symbol: Symbol) -> LrStateId {
        let state = self.state(from);
        let Ok(at) = state.transitions.binary_search_by_key(&symbol, |t| t.symbol) else { return NO_STATE };
        let transition = &state.transitions[at];
        match transition.to.load(Ordering::Acquire) {
            UNKNOWN_TARGET => {
                let mut builder = self.lock();
                let to = self.intern(productions, &mut builder, &transition.kernel);
                let to = if transition.completes { to } else { Self::number(to) };
                transition.to.store(to, Ordering::Release);
                to
            }
            to => to,
        }
    }

    /// How many states are known.
    pub fn num_states(&self) -> usize {
        self.lock().by_kernel.len()
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.lock().bytes.get()
    }

    fn intern(&self, productions: &Productions, builder: &mut Builder, kernel: &[Item]) -> LrStateId {
        if let Some(&id) = builder.by_kernel.get(kernel) {
            return id;
        }
        let number = builder.by_kernel.len() as LrStateId;
        let id = if completes(productions, &self.free, kernel) { number | COMPLETES } else { number };
        let state = close(productions, &self.free, kernel);
        let items: usize = state.transitions.iter().map(|t| t.kernel.len()).sum();
        let bytes =
            2 * size_of_val(kernel) + items * 8 + state.transitions.len() * 32 + state.reductions.len() * 8 + 96;
        // Items are sorted and compared, and their hash is found: that takes longer than filling as much memory.
        charge_bytes(bytes);
        builder.bytes.grow(bytes);
        self.states.set(number, state);
        builder.by_kernel.insert(kernel.into(), id);
        id
    }
}

/// Whether items can be completed with free terminals.
fn completes(productions: &Productions, free: &[bool], items: &[Item]) -> bool {
    items.iter().all(|item| {
        let parts = &productions.all[item.production as usize].parts;
        parts[usize::from(item.dot)..].iter().all(|&part| free[part as usize])
    })
}

/// The nonterminals that items of a kernel predict, directly or not, where the rest of each item on the way can be
/// completed with free terminals. `None` if all symbols can be.
fn completed_predictions(productions: &Productions, free: &[bool], kernel: &[Item]) -> Option<SeededSet<Symbol>> {
    if free.iter().all(|&free| free) {
        return None;
    }
    let mut well: SeededSet<Symbol> = SeededSet::default();
    let mut todo: Vec<Item> = kernel.to_vec();
    while let Some(item) = todo.pop() {
        let parts = &productions.all[item.production as usize].parts[usize::from(item.dot)..];
        for (at, &next) in parts.iter().enumerate() {
            let rest_is_free = parts[at + 1..].iter().all(|&part| free[part as usize]);
            if productions.is_rule(next) && rest_is_free && well.insert(next) {
                let first = |&production: &u32| Item { production, dot: 0, parts: 0 };
                todo.extend(productions.alternatives(next).iter().map(first));
            }
            if !productions.nullable[next as usize] {
                break;
            }
        }
    }
    Some(well)
}

/// The state with this kernel: what its items predict, where they lead, what ends in it.
fn close(productions: &Productions, free: &[bool], kernel: &[Item]) -> LrState {
    let mut seen: SeededSet<Item> = kernel.iter().copied().collect();
    let mut todo: Vec<Item> = kernel.to_vec();
    let mut predicted: SeededSet<Symbol> = SeededSet::default();
    let mut moves: Vec<(Symbol, Item)> = Vec::new();
    let mut reductions = Vec::new();
    let mut accepting = false;
    while let Some(item) = todo.pop() {
        let production = &productions.all[item.production as usize];
        let Some(&next) = production.parts.get(usize::from(item.dot)) else {
            if production.of == productions.start {
                accepting = true;
            } else if item.parts > 0 {
                reductions.push((production.of, u32::from(item.parts)));
            }
            continue;
        };
        moves.push((next, Item { dot: item.dot + 1, parts: item.parts + 1, ..item }));
        if productions.nullable[next as usize] {
            let past = Item { dot: item.dot + 1, ..item };
            if seen.insert(past) {
                todo.push(past);
            }
        }
        if productions.is_rule(next) && predicted.insert(next) {
            for &production in productions.alternatives(next) {
                let first = Item { production, dot: 0, parts: 0 };
                if seen.insert(first) {
                    todo.push(first);
                }
            }
        }
    }
    let led_to_well = completed_predictions(productions, free, kernel);
    let is_led_to_well = |item: &Item| {
        item.parts > 1
            || led_to_well.as_ref().is_none_or(|well| {
                let of = productions.all[item.production as usize].of;
                of == productions.start || well.contains(&of)
            })
    };
    moves.sort_unstable();
    moves.dedup();
    reductions.sort_unstable();
    reductions.dedup();
    let transitions = moves.chunk_by(|a, b| a.0 == b.0).map(|group| Transition {
        symbol: group[0].0,
        to: AtomicU32::new(UNKNOWN_TARGET),
        completes: group
            .iter()
            .all(|m| completes(productions, free, std::slice::from_ref(&m.1)) && is_led_to_well(&m.1)),
        kernel: group.iter().map(|m| m.1).collect(),
    });
    LrState { kernel: kernel.into(), transitions: transitions.collect(), reductions: reductions.into(), accepting }
}
