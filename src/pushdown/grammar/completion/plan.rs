//! Writes what completes the output of a grammar from a branch.
//!
//! The costs of the stack tell which terminals complete it in the fewest bytes. Where nothing is promised their
//! shortest texts are the completion. Where terminals take longest matches each is read in one of its ways, with an
//! ignored terminal before it where that is needed; and where no way leads through the cheapest terminals, others are
//! searched for, cheapest first (A*, Hart, Nilsson and Raphael 1968).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::lexeme::shortest_end::shortest_end;
use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::completion::leaf_costs::{LeafCosts, promises_nothing};
use crate::pushdown::grammar::completion::line_texts::{Blocks, blocks_of};
use crate::pushdown::grammar::completion::longest_ends::LargestCosts;
use crate::pushdown::grammar::completion::obligation_relations::ObligationRelations;
use crate::pushdown::grammar::completion::prospects::{FEW, lock};
use crate::pushdown::grammar::completion::separated_texts::SeparatedTexts;
use crate::pushdown::grammar::completion::stack_costs::StackCosts;
use crate::pushdown::grammar::completion::symbol_costs::NO_COST;
use crate::pushdown::grammar::completion::terminal_texts::{Piece, PieceOfTrace, Trace, add, extend, pieces_of};
use crate::pushdown::grammar::completion::terminal_ways::Way;
use crate::pushdown::grammar::indenter::Effect;
use crate::pushdown::grammar::parse_stack::{Branch, NodeId, ParseStack};
use crate::pushdown::grammar::program::{GrammarMachine, GrammarProgram};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, ScanStateId};
use crate::util::seeded_hash::SeededSet;
use crate::util::work_meter::{charge, metered_with, unmetered};

/// The most terminals of a completion.
pub(super) const MOST_LEAVES: usize = 1 << 16;
/// Ends of what is being read that are tried.
const MOST_TRIED: usize = 6;
/// Places that a search looks at.
const MOST_SEARCHED: usize = 400;

/// The terminals beside which a terminal is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// All of the grammar: a way that is found holds everywhere, and some are found nowhere.
    All,
    /// Those that may come at the place.
    Next,
}

/// A way to end what is being read.
pub(super) struct Begun {
    pub(super) cost: u64,
    pub(super) ways: Vec<Way>,
    pub(super) tops: SmallVec<[NodeId; 2]>,
    /// Which of the tops costs least.
    pub(super) best: usize,
    pub(super) blocks: Blocks,
    /// What is being read is a newline terminal: the state of the scanner and the column.
    pub(super) line: Option<(ScanStateId, u32)>,
}

/// What is left when something that is being read has ended.
struct Behind {
    tops: SmallVec<[NodeId; 2]>,
    indents: NodeId,
    line: Option<(ScanStateId, u32)>,
}

impl GrammarProgram {
    /// What terminals and documents cost.
    pub fn leaf_costs(&self) -> &LeafCosts {
        let make = || {
            let (productions, scanner) = (&self.productions, &self.scanner);
            LeafCosts::compute(productions, scanner, &self.token_sets, &self.documents, self.indenter.as_ref())
        };
        // They are kept for all, so whoever asks first has them made to the end.
        self.prospects.costs.get_or_init(|| unmetered(make))
    }

    /// What completes an output at most, where terminals take longest matches; `None` where that is not known, or would
    /// take long to find.
    fn largest_costs(&self) -> Option<&LargestCosts> {
        /// Twice what SQL takes.
        const MOST_STEPS: usize = 150_000;
        let make = || {
            let (productions, scanner, sets, ignored) =
                (&self.productions, &self.scanner, &self.token_sets, &self.ignored);
            if !self.documents.is_empty() || self.indenter.is_some() || !self.terminal_token_bounds.is_empty() {
                return None;
            }
            // Any of them may come where the rules put it.
            let is_free =
                self.scanner.lexer() == Lexer::Dynamic && self.succession.is_free && !self.scanner.any_looks_ahead();
            let going_on = |terminal: u32| self.succession.bytes_that_go_on(terminal);
            Some(match is_free {
                true => LargestCosts::compute(productions, scanner, going_on, sets, ignored),
                false => LargestCosts::separated(productions, scanner, &self.follow, sets, ignored),
            })
        };
        // They hold for all, so nobody pays for them alone. A source that would need more has none.
        if self.prospects.largest.get().is_none() {
            let (made, spent) = metered_with(MOST_STEPS, 0, make);
            if !spent.crowded {
                let _ = self.prospects.largest.set(made.filter(|_| spent.steps <= MOST_STEPS));
            }
        }
        self.prospects.largest.get()?.as_ref()
    }

    /// Bounds of what completes a stack, if there are any.
    pub fn bounds(&self) -> Option<StackCosts<'_>> {
        match self.costs_are_exact() {
            true => Some(StackCosts::new(self, &self.leaf_costs().symbols)),
            false => self.largest_costs().map(|largest| StackCosts::largest(self, &largest.symbols)),
        }
    }

    /// Whether bounds are those of texts with separators between them.
    pub fn bounds_have_texts(&self) -> bool {
        !self.costs_are_exact() && self.largest_costs().is_some_and(|largest| largest.texts().is_some())
    }

    /// Bounds of what is put on top of a branch's stack; see [`StackCosts::above`].
    pub fn bounds_above(&self, stack: &ParseStack, branch: &Branch) -> Option<StackCosts<'_>> {
        let bounds = self.bounds()?;
        Some(StackCosts::above(self, bounds.costs, stack, stack.tops(branch.tops)))
    }

    /// Whether the least costs are those of a completion: nothing is promised of what follows.
    pub fn costs_are_exact(&self) -> bool {
        promises_nothing(&self.scanner)
    }
}

impl GrammarMachine<'_> {
    /// What completes the output from some branches, in bytes: at least, or exactly where
    /// [`costs_are_exact`](GrammarProgram::costs_are_exact) says so.
    pub fn least_cost(&mut self, branches: &[Branch]) -> u64 {
        if self.accepts(branches) {
            return 0;
        }
        self.begun(branches).iter().map(|one| one.cost).min().unwrap_or(NO_COST)
    }

    /// At most so many bytes complete the output from some branches; `None` where that is not known.
    pub fn largest_cost(&mut self, branches: &[Branch]) -> Option<u64> {
        let mut costs = self.program.bounds()?;
        if self.accepts(branches) {
            return Some(0);
        }
        Some(self.cost_by(branches, &mut costs)).filter(|&cost| cost != NO_COST)
    }

    /// What completes some branches at most, by bounds of the stack or of what is put on top of it.
    pub fn cost_by(&mut self, branches: &[Branch], costs: &mut StackCosts<'_>) -> u64 {
        let mut least = NO_COST;
        for branch in branches {
            for (length, tops) in self.ends(branch) {
                least = least.min(costs.of_tops(self.stack, &tops).0.saturating_add(length));
            }
        }
        least
    }

    /// How many bytes at most end what is being read, and the tops behind it.
    fn ends(&mut self, branch: &Branch) -> Vec<(u64, SmallVec<[NodeId; 2]>)> {
        let program = self.program;
        let mut all = Vec::new();
        if program.costs_are_exact() {
            self.begun_by(branch, |_, ways, behind| {
                all.extend(ways.first().map(|way| (way.text.len() as u64, behind.tops)));
            });
            return all;
        }
        let Some(largest) = program.largest_costs().filter(|_| !branch.is_in_document()) else { return all };
        if let Some(texts) = largest.texts() {
            let ends = self.separated_ends(branch, texts);
            return ends.into_iter().map(|(begun, tops)| (begun.cost(), tops)).collect();
        }
        let scan = program.scanner.state(branch.scan);
        // What must not follow what was read before may forbid any end.
        if !program.scanner.obligations(scan.obligations).is_empty() {
            return all;
        }
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        if scan.at_boundary {
            return vec![(0, tops)];
        }
        let found = program.closure(self.stack, &tops);
        for &(terminal, _) in &scan.live {
            let end = largest.end(terminal);
            all.extend(end.map(|length| (length, self.tops_behind_or_ignored(&found, &tops, terminal))));
        }
        all
    }

    /// What ends what is being read in a branch with a separator behind it, or a special token, and the tops behind it.
    fn separated_ends(
        &mut self,
        branch: &Branch,
        texts: &SeparatedTexts,
    ) -> Vec<(PieceOfTrace, SmallVec<[NodeId; 2]>)> {
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let mut all = Vec::new();
        let found = self.program.closure(self.stack, &tops);
        for (terminal, text) in texts.ends(&self.program.scanner, branch.scan).iter() {
            all.push((PieceOfTrace::Text(text.clone()), self.tops_behind_or_ignored(&found, &tops, *terminal)));
        }
        for (set, behind) in self.behind_special(branch, &tops) {
            all.push((PieceOfTrace::Special(set), behind));
        }
        all
    }

    /// The tops behind each set of special tokens that may come in a branch at a boundary.
    fn behind_special(&mut self, branch: &Branch, tops: &[NodeId]) -> SmallVec<[(usize, SmallVec<[NodeId; 2]>); 1]> {
        let program = self.program;
        if program.token_sets.is_empty() || !program.scanner.state(branch.scan).at_boundary {
            return SmallVec::new();
        }
        let found = program.closure(self.stack, tops);
        let next = found.closure.next.clone();
        let sets = next.iter().filter_map(|&symbol| Some((program.productions.token_set(symbol)?, symbol)));
        let sets = sets.filter(|(set, _)| !program.token_sets[*set].is_empty());
        sets.map(|(set, symbol)| (set, self.tops_behind(&found, symbol))).collect()
    }

    /// The largest bound of any place that a branch's stack leads to; `None` where bounds are not known.
    pub fn most_cost(&mut self, branch: &Branch) -> Option<u64> {
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let mut costs = self.program.bounds()?;
        Some(costs.most_of_tops(self.stack, &tops))
    }

    /// Texts and special tokens that complete the output from some branches. It should be stepped to be certain.
    pub fn completion(&mut self, branches: &[Branch]) -> Option<Vec<Piece>> {
        let program = self.program;
        let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
        self.completion_by(branches, &mut costs)
    }

    /// [`completion`](Self::completion), with the terminals that some costs tell.
    pub fn completion_by(&mut self, branches: &[Branch], costs: &mut StackCosts<'_>) -> Option<Vec<Piece>> {
        if self.accepts(branches) {
            return Some(Vec::new());
        }
        let program = self.program;
        let mut all = self.begun(branches);
        for one in &mut all {
            let (cost, best) = costs.of_tops(self.stack, &one.tops);
            let length = one.ways.first().map_or(0, |way| way.text.len() as u64);
            (one.cost, one.best) = (cost.saturating_add(length), best);
        }
        all.sort_by_key(|one| one.cost);
        let mut relations = lock(&program.prospects.few);
        relations.begin(program.relation_parts(), FEW);
        for one in all.iter().filter(|one| one.cost != NO_COST).take(MOST_TRIED) {
            let mut leaves = Vec::new();
            if costs.leaves(self.stack, one.tops[one.best], MOST_LEAVES, &mut leaves)
                && let Some(pieces) = self.read_leaves(&mut relations, one, &leaves)
            {
                return Some(pieces);
            }
        }
        // The search does not know how far lines must be indented.
        match program.costs_are_exact() || program.indenter.is_some() {
            true => None,
            false => self.search_text(&mut relations, &all, Beside::All).or_else(|| {
                let competes = program.scanner.lexer() == Lexer::Contextual;
                competes.then(|| self.search_text(&mut relations, &all, Beside::Next)).flatten()
            }),
        }
    }

    /// Texts with separators and special tokens that complete the output from some branches, where bounds are made of
    /// such texts.
    pub fn separated_completion(&mut self, branches: &[Branch]) -> Option<Vec<Piece>> {
        if self.accepts(branches) {
            return Some(Vec::new());
        }
        let program = self.program;
        let texts = program.largest_costs()?.texts()?;
        let mut costs = program.bounds()?;
        let mut best: Option<(u64, PieceOfTrace, NodeId)> = None;
        for branch in branches.iter().filter(|branch| !branch.is_in_document()) {
            for (first, tops) in self.separated_ends(branch, texts) {
                let (rest, top) = costs.of_tops(self.stack, &tops);
                let cost = rest.saturating_add(first.cost());
                if cost < best.as_ref().map_or(NO_COST, |best| best.0) {
                    best = Some((cost, first, tops[top]));
                }
            }
        }
        let (_, first, top) = best?;
        let mut leaves = Vec::new();
        costs.leaves(self.stack, top, MOST_LEAVES, &mut leaves).then_some(())?;
        self.written(first, &leaves, |leaf| texts.text(leaf))
    }

    /// The ways to end what is being read, with what they leave on top of the stack.
    fn begun(&mut self, branches: &[Branch]) -> Vec<Begun> {
        let mut out = Vec::new();
        for branch in branches {
            self.begun_by(branch, |machine, ways, Behind { tops, indents, line }| {
                let program = machine.program;
                let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
                if let Some(first) = ways.first() {
                    let (cost, best) = costs.of_tops(machine.stack, &tops);
                    let cost = cost.saturating_add(first.text.len() as u64);
                    let blocks = program.indenter.as_ref().map(|indenter| blocks_of(indenter, machine.stack, indents));
                    out.push(Begun { cost, ways, tops, best, blocks: blocks.unwrap_or_default(), line });
                }
            });
        }
        out
    }

    fn begun_by(&mut self, branch: &Branch, mut found: impl FnMut(&mut Self, Vec<Way>, Behind)) {
        let program = self.program;
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let behind = |tops| Behind { tops, indents: branch.indents, line: None };
        if branch.is_in_document() {
            let Some(arena) = self.stack.arena.as_deref_mut() else { return };
            let document = &program.documents[branch.document as usize];
            let rest = program.leaf_costs().rest_of_document(document, branch.document, arena, branch.frame);
            let Some(text) = rest else { return };
            let Some(to) = self.keeps(branch.scan, &text) else { return };
            let closure = program.closure(self.stack, &tops);
            let tops = self.tops_behind(&closure, program.productions.first_document + branch.document);
            return found(self, vec![Way { to, text: text.into() }], behind(tops));
        }
        let scan = program.scanner.state(branch.scan);
        if scan.at_boundary {
            return found(self, vec![Way { to: scan.obligations, text: Arc::from([]) }], behind(tops));
        }
        let ways: Vec<(u32, Vec<Way>)> = match program.costs_are_exact() {
            true => {
                let end = |&(terminal, state): &(u32, u32)| {
                    let text = shortest_end(program.scanner.lexeme(terminal)?, state, 0)?;
                    Some((terminal, vec![Way { to: NO_OBLIGATIONS, text }]))
                };
                scan.live.iter().filter_map(end).collect()
            }
            false => {
                let mut relations = lock(&program.prospects.few);
                relations.begin(program.relation_parts(), FEW);
                let found = relations.ways.from_scan(&program.scanner, branch.scan);
                found.iter().map(|(terminal, ways)| (*terminal, ways.all.clone())).collect()
            }
        };
        let closure = program.closure(self.stack, &tops);
        for (terminal, ways) in ways.into_iter().filter(|(_, ways)| !ways.is_empty()) {
            let effect = match &program.indenter {
                None => Effect::Taken(branch.indents),
                Some(indenter) => indenter.effect(self.stack, branch.indents, terminal),
            };
            let (indents, line) = match effect {
                Effect::Refused => continue,
                Effect::Dropped => {
                    found(self, ways, behind(tops.clone()));
                    continue;
                }
                Effect::EndsLine => (branch.indents, Some((branch.scan, branch.column))),
                Effect::Taken(indents) => (indents, None),
            };
            let behind = self.tops_behind_or_ignored(&closure, &tops, terminal);
            if !behind.is_empty() {
                found(self, ways, Behind { tops: behind, indents, line });
            }
        }
    }

    /// The tops behind a symbol, from the closure of those before it.
    pub(super) fn tops_behind(&mut self, found: &Found, symbol: Symbol) -> SmallVec<[NodeId; 2]> {
        let program = self.program;
        charge(1);
        let mut shifted = Shifted::default();
        found.shift(&program.lr, &program.productions, self.stack, symbol, &mut shifted);
        shifted.finish(self.stack)
    }

    /// The tops behind a symbol, and those before it where it is an ignored terminal.
    fn tops_behind_or_ignored(&mut self, found: &Found, tops: &[NodeId], symbol: Symbol) -> SmallVec<[NodeId; 2]> {
        let mut behind = self.tops_behind(found, symbol);
        if self.program.ignored.contains(&symbol) {
            behind.extend_from_slice(tops);
        }
        behind
    }

    /// Searches for a completion, terminal by terminal.
    fn search_text(
        &mut self,
        relations: &mut ObligationRelations,
        begun: &[Begun],
        beside: Beside,
    ) -> Option<Vec<Piece>> {
        let program = self.program;
        let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
        let mut trace: Trace = vec![(0, PieceOfTrace::Nothing)];
        // By cost, the longest first: the tops, what holds, the length so far, and the text.
        let mut places: Vec<(SmallVec<[NodeId; 2]>, ObligationsId, u64, u32)> = Vec::new();
        let mut todo = BinaryHeap::new();
        for one in begun {
            for way in &one.ways {
                let (rest, _) = costs.of_tops(self.stack, &one.tops);
                let length = way.text.len() as u64;
                let at = add(&mut trace, 0, &way.text);
                if rest != NO_COST {
                    todo.push(Reverse((length.saturating_add(rest), rest, places.len())));
                    places.push((one.tops.clone(), way.to, length, at));
                }
            }
        }
        let mut seen = SeededSet::default();
        let mut searched = 0;
        while let Some(Reverse((.., number))) = todo.pop() {
            let (tops, held, length, at) = places[number].clone();
            if !seen.insert((tops.clone(), held)) {
                continue;
            }
            searched += 1;
            if searched > MOST_SEARCHED {
                return None;
            }
            let found = program.closure(self.stack, &tops);
            if found.closure.accepting
                && let Some(text) = self.end_of_text(relations, held)
            {
                let end = add(&mut trace, at, &text);
                return Some(pieces_of(&trace, end));
            }
            let next = found.closure.next.clone();
            let known = match beside {
                Beside::All => Arc::from([]),
                Beside::Next => relations.ways.from_scan(&program.scanner, program.scan_start(&found, held)),
            };
            let ignored = program.ignored.iter().copied().filter(|_| beside == Beside::Next);
            for symbol in next.iter().copied().chain(ignored) {
                let mut ways: Vec<(ObligationsId, u64, u32)> = Vec::new();
                for way in known.iter().filter(|(of, _)| *of == symbol).flat_map(|(_, ways)| &ways.all) {
                    ways.push((way.to, length + way.text.len() as u64, add(&mut trace, at, &way.text)));
                }
                self.ways_through(relations, symbol, held, |to, texts, special| {
                    let (end, more) = extend(&mut trace, at, texts, special);
                    ways.push((to, length + more as u64 + u64::from(special.is_some()), end));
                });
                if ways.is_empty() {
                    continue;
                }
                let behind = self.tops_behind_or_ignored(&found, &tops, symbol);
                let (rest, _) = costs.of_tops(self.stack, &behind);
                if rest == NO_COST {
                    continue;
                }
                for (to, length, end) in ways {
                    if !seen.contains(&(behind.clone(), to)) {
                        todo.push(Reverse((length.saturating_add(rest), rest, places.len())));
                        places.push((behind.clone(), to, length, end));
                    }
                }
            }
        }
        None
    }
}
