//! Token budgets: an output that is complete within `max_tokens`, always.
//!
//! A guide with a budget never lets go of a *plan*: tokens that complete the output from where it is, no more than are
//! left. It is made of bytes that certainly complete the output ([`complete`](crate::automaton::complete)), spelled by
//! the fewest tokens. A token is affordable if after it some plan fits into what is left then; the first token of the
//! guide's own plan always is, so a guide with a budget has no dead end either. The plan is not always the shortest
//! way to the end, so the number it gives is a bound that holds, not always the least.
//!
//! Plans cost tens of microseconds, so none is made while there is room: one token can only make the way to the end
//! longer by what it opens or begins, and until the room is smaller than that by a wide margin nothing is computed. When the
//! room is small, every allowed token is stepped and what follows it is priced, once per distinct position.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Guide, Position};
use crate::automaton::arena::{Arena, Kind, Mark, NONE, NodeId, ScalarItem};
use crate::automaton::complete::{Completer, Costs, shortest_end};
use crate::automaton::config::Frames;
use crate::automaton::lexeme::{CLOSED, StateId};
use crate::automaton::program::Program;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Engine;
use crate::vocab::Trie;

/// By how much a token of a document is taken to lengthen the way to the end beyond what it opens.
const MARGIN: u64 = 32;

/// What completes the output from one position.
#[derive(Clone)]
struct Reserve {
    /// The plan, if it was made, and how much of it was followed.
    plan: Option<(Arc<[u32]>, usize)>,
    /// At most this many tokens complete the output.
    bound: u64,
}

/// See the module's story.
#[derive(Clone)]
pub(super) struct Budget {
    max_tokens: usize,
    /// By how much one token can lengthen the way to the end.
    growth: u64,
    /// One for each position so far, the start and the present one included.
    reserves: Vec<Reserve>,
}

impl Budget {
    pub(super) fn back_to(&mut self, tokens: usize) {
        self.reserves.truncate(tokens + 1);
    }
}

impl Guide {
    /// An upper bound of the tokens that complete the output from here, the stop token not counted: 0 where the output
    /// may end. It holds, in that so many tokens do complete the output, and is not always the least. Costs tens of
    /// microseconds.
    ///
    /// # Errors
    /// `Unsupported` if no short way to the end was found.
    pub fn min_tokens_to_finish(&mut self) -> Result<usize> {
        if self.is_terminated() {
            return Ok(0);
        }
        if let Some(Reserve { plan: Some((plan, done)), .. }) = self.budget.as_ref().and_then(|b| b.reserves.last()) {
            return Ok(plan.len() - done);
        }
        self.plan_here().map(|p| p.len()).ok_or_else(no_plan)
    }

    /// The budget of this guide.
    pub fn max_tokens(&self) -> Option<usize> {
        self.budget.as_ref().map(|b| b.max_tokens)
    }

    pub(super) fn start_budget(&mut self, max_tokens: usize) -> Result<()> {
        let plan = self.plan_here().ok_or_else(no_plan)?;
        if plan.len() > max_tokens {
            return Err(Error::budget(max_tokens as u64, plan.len() as u64));
        }
        let index = self.index.clone();
        let growth = match &index.0.engine {
            Engine::Pattern(l) => index.0.costs.get_or_init(|| Costs::of_lexeme(&l.lexeme)).largest().max(MARGIN),
            Engine::Document { program, .. } => {
                let costs = index.0.costs.get_or_init(|| Costs::of(program));
                // A token may begin one more value at each opening bracket, comma and colon of it.
                let opened = index.0.tables.openings(index.vocabulary());
                costs.largest().saturating_add(8).saturating_mul(opened.max(4)).saturating_add(MARGIN)
            }
        };
        let bound = plan.len() as u64;
        self.budget = Some(Budget { max_tokens, growth, reserves: vec![Reserve { plan: Some((plan, 0)), bound }] });
        Ok(())
    }

    /// Whether the budget is used up: only a stop token may follow.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|b| self.history.len() >= b.max_tokens)
    }

    /// Takes the tokens out of a row after which the output could not be completed within the budget.
    pub(super) fn keep_affordable(&mut self, row: &mut [u32]) {
        let Some(budget) = &self.budget else { return };
        let left = (budget.max_tokens - self.history.len().min(budget.max_tokens)) as u64;
        let growth = budget.growth;
        if left == 0 {
            return row.fill(0);
        }
        let has_room = |b: &Budget| b.reserves.last().is_some_and(|r| r.bound.saturating_add(growth) < left);
        if has_room(budget) {
            return;
        }
        self.make_plan();
        let Some(budget) = self.budget.as_ref().filter(|b| !has_room(b)) else { return };
        let planned = budget.reserves.last().and_then(|r| r.plan.as_ref()).and_then(|(p, done)| p.get(*done).copied());
        let planned = planned.filter(|&t| row[t as usize >> 5] >> (t & 31) & 1 == 1);
        self.price(row, left - 1);
        if let Some(t) = planned {
            row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    /// After a token was stepped: whether what is left completes the output, and then what does.
    pub(super) fn pay(&mut self, token: u32) -> bool {
        let Some(budget) = &self.budget else { return true };
        let left = (budget.max_tokens - self.history.len() - 1) as u64;
        let Some(before) = budget.reserves.last().cloned() else { return false };
        let followed = before.plan.filter(|(p, done)| p.get(*done) == Some(&token)).map(|(p, done)| (p, done + 1));
        let rest = followed.as_ref().map_or(u64::MAX, |(p, done)| (p.len() - done) as u64);
        let bound = before.bound.saturating_add(budget.growth).min(rest);
        let mut reserve = Reserve { plan: followed, bound };
        if bound > left {
            let Some(plan) = self.plan_here().filter(|p| p.len() as u64 <= left) else { return false };
            reserve = Reserve { bound: plan.len() as u64, plan: Some((plan, 0)) };
        }
        if let Some(budget) = &mut self.budget {
            budget.reserves.push(reserve);
        }
        true
    }

    /// Makes the plan of the present position, if it has none.
    fn make_plan(&mut self) {
        let known = self.budget.as_ref().and_then(|b| b.reserves.last()).is_some_and(|r| r.plan.is_some());
        if known {
            return;
        }
        if let Some(plan) = self.plan_here()
            && let Some(r) = self.budget.as_mut().and_then(|b| b.reserves.last_mut())
        {
            r.bound = r.bound.min(plan.len() as u64);
            r.plan = Some((plan, 0));
        }
    }

    /// Tokens that complete the output from here.
    fn plan_here(&mut self) -> Option<Arc<[u32]>> {
        if self.is_accepting() {
            return Some(Arc::from([]));
        }
        let index = self.index.clone();
        let bytes = match (&index.0.engine, &mut self.position) {
            (Engine::Pattern(l), Position::Pattern(s)) => shortest_end(&l.lexeme, *s, 0)?,
            (Engine::Document { program, .. }, Position::Document { arena, top }) => {
                let costs = index.0.costs.get_or_init(|| Costs::of(program));
                Completer::complete(&mut Frames { program, arena }, costs, *top)?
            }
            _ => return None,
        };
        let usable = |t: u32| !self.stops.contains(&t) && !self.is_refused_everywhere(t);
        fewest_tokens(index.vocabulary().trie(), &bytes, usable).map(Arc::from)
    }

    /// Keeps the tokens of a row after which the output can be completed by `left` tokens.
    fn price(&mut self, row: &mut [u32], left: u64) {
        let index = self.index.clone();
        let inner = &*index.0;
        let trie = inner.vocabulary.trie();
        let stops = self.stops.clone();
        let refuses = |t: u32| stops.contains(&t) || self.is_refused_everywhere(t);
        let spelled = |bytes: Option<Vec<u8>>| {
            let tokens = bytes.and_then(|b| fewest_tokens(trie, &b, |t| !refuses(t)));
            tokens.is_some_and(|t| t.len() as u64 <= left)
        };
        let mut kept = vec![0u32; row.len()];
        let mut keep = |node: u32, fits: bool| {
            for &t in trie.tokens(node).iter().filter(|_| fits) {
                kept[t as usize >> 5] |= row[t as usize >> 5] & 1 << (t & 31);
            }
        };
        match (&inner.engine, &self.position) {
            (Engine::Pattern(l), Position::Pattern(start)) => {
                let lexeme = &l.lexeme;
                let mut fits: FxHashMap<StateId, bool> = FxHashMap::default();
                let step = |s: &StateId, b: u8| Some(lexeme.next(*s, b)).filter(|&n| n > CLOSED);
                walk(trie, *start, step, |node, &s| {
                    let fit = *fits.entry(s).or_insert_with(|| spelled(shortest_end(lexeme, s, 0)));
                    keep(node, fit);
                });
            }
            (Engine::Document { program, .. }, Position::Document { arena, top }) => {
                let costs = inner.costs.get_or_init(|| Costs::of(program));
                let mut arena = (**arena).clone();
                let mut prices = Prices::new(program, costs, arena.nodes.len() as u32);
                let mut stack: Vec<(u32, NodeId, Mark)> = vec![(trie.len() as u32, *top, arena.mark())];
                let mut node = 1;
                while (node as usize) < trie.len() {
                    while stack.last().is_some_and(|s| s.0 <= node) {
                        if let Some((_, _, mark)) = stack.pop() {
                            arena.truncate(&mark);
                        }
                    }
                    let Some(&(_, at, _)) = stack.last() else { break };
                    let mark = arena.mark();
                    let next = Frames { program, arena: &mut arena }.step(at, trie.byte[node as usize]);
                    if next == NONE {
                        arena.truncate(&mark);
                        node = trie.end[node as usize];
                        continue;
                    }
                    if trie.tokens(node).iter().any(|&t| row[t as usize >> 5] >> (t & 31) & 1 == 1) {
                        keep(node, prices.fits(&mut arena, next, &spelled));
                    }
                    stack.push((trie.end[node as usize], next, mark));
                    node += 1;
                }
            }
            _ => {}
        }
        row.copy_from_slice(&kept);
    }
}

fn no_plan() -> Error {
    Error::new(ErrorKind::Unsupported, "no short output was found, so its number of tokens cannot be bounded")
}

/// Walks a trie with the states of an automaton, subtrees that it refuses left out.
fn walk<S>(trie: &Trie, start: S, step: impl Fn(&S, u8) -> Option<S>, mut visit: impl FnMut(u32, &S)) {
    let mut stack: Vec<(u32, S)> = vec![(trie.len() as u32, start)];
    let mut node = 1;
    while (node as usize) < trie.len() {
        while stack.last().is_some_and(|s| s.0 <= node) {
            stack.pop();
        }
        let Some((_, at)) = stack.last() else { break };
        match step(at, trie.byte[node as usize]) {
            None => node = trie.end[node as usize],
            Some(next) => {
                visit(node, &next);
                stack.push((trie.end[node as usize], next));
                node += 1;
            }
        }
    }
}

/// Whether configurations can be completed in time, each distinct one priced once.
struct Prices<'a> {
    program: &'a Program,
    costs: &'a Costs,
    /// Nodes below this one are there for the whole walk.
    old: NodeId,
    scalars: FxHashMap<(NodeId, u32, Vec<ScalarItem>), bool>,
    others: FxHashMap<Vec<u8>, bool>,
}

impl<'a> Prices<'a> {
    fn new(program: &'a Program, costs: &'a Costs, old: NodeId) -> Self {
        Prices { program, costs, old, scalars: FxHashMap::default(), others: FxHashMap::default() }
    }

    fn fits(&mut self, arena: &mut Arena, top: NodeId, spelled: &impl Fn(Option<Vec<u8>>) -> bool) -> bool {
        let (program, costs) = (self.program, self.costs);
        let node = arena.nodes[top as usize];
        let priced = |arena: &mut Arena| {
            let mark = arena.mark();
            let mut frames = Frames { program, arena };
            let fits = frames.is_accepting(top) || spelled(Completer::complete(&mut frames, costs, top));
            arena.truncate(&mark);
            fits
        };
        // Most tokens stay in one scalar, whose frames below are the same for all of them.
        if node.kind == Kind::Scalar && node.parent < self.old && node.trace == u32::MAX {
            let items = arena.scalars[node.start as usize..(node.start + node.len) as usize].to_vec();
            return *self.scalars.entry((node.parent, node.count, items)).or_insert_with(|| priced(arena));
        }
        let mut key = Vec::new();
        arena.describe(program, top, &mut key);
        *self.others.entry(key).or_insert_with(|| priced(arena))
    }
}

/// The fewest tokens that spell `bytes`, the lowest id where several do; `None` if none do.
fn fewest_tokens(trie: &Trie, bytes: &[u8], usable: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
    // From each place on: how many tokens spell the rest, the first of them, and where it ends.
    let mut best: Vec<(u32, u32, usize)> = vec![(u32::MAX, 0, 0); bytes.len() + 1];
    best[bytes.len()].0 = 0;
    for at in (0..bytes.len()).rev() {
        let mut node = 0;
        for (end, &b) in bytes.iter().enumerate().skip(at) {
            let Some(child) = trie.child(node, b) else { break };
            node = child;
            let tokens = best[end + 1].0.saturating_add(1);
            if tokens < best[at].0
                && let Some(&t) = trie.tokens(node).iter().find(|&&t| usable(t))
            {
                best[at] = (tokens, t, end + 1);
            }
        }
    }
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (tokens, token, end) = best[at];
        if tokens == u32::MAX {
            return None;
        }
        out.push(token);
        at = end;
    }
    Some(out)
}
