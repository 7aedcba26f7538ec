//! Decides whether the output can be completed where longest matches may forbid what follows.
//!
//! A terminal that took its longest match may not be followed by what would make it longer. In some grammars everything
//! that may follow does so: `"<" /.+/ ">"` can never come to its end. What must not follow is passed on from symbol to
//! symbol ([`ObligationRelations`]) and down the stack, item by item, until the output may end.
//!
//! Few ways through each terminal are tried first, since most often they suffice, then all. Where each terminal is
//! taken for itself the answer is exact. Where terminals compete, a way holds wherever fewer compete, but there may be
//! others; so a search goes on terminal by terminal, each beside those that may begin there, then byte by byte, and
//! looks for a place from which a way is known. It is bounded: a branch for which nothing was found is taken for one
//! that cannot be completed, so no mask leads to a dead end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::Ordering;

use crate::pushdown::grammar::closure::Shifted;
use crate::pushdown::grammar::completion::obligation_relations::{ObligationRelations, RelationParts};
use crate::pushdown::grammar::completion::prospects::{ALL, FEW, lock};
use crate::pushdown::grammar::completion::stack_costs::StackCosts;
use crate::pushdown::grammar::completion::terminal_ways::{Reach, must_end};
use crate::pushdown::grammar::indenter::{Effect, Indenter, NewlineUse};
use crate::pushdown::grammar::lr_automaton::{LrStateId, NO_STATE};
use crate::pushdown::grammar::machine::Branches;
use crate::pushdown::grammar::parse_stack::{Branch, NO_COLUMN, NO_NODE, NodeId};
use crate::pushdown::grammar::program::{GrammarMachine, GrammarProgram};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId};
use crate::util::seeded_hash::SeededSet;
use crate::util::work_meter::charge;

/// Steps of branches that are tried byte by byte.
const MOST_STEPS: usize = 20_000;
/// Places behind terminals that are tried.
const MOST_TERMINALS: usize = 500;
/// Words of stacks that are looked at for steps, and parts of alternatives that are followed. A step that looks further
/// down a stack takes longer.
const MOST_SEARCHED: usize = 300_000;
/// Words that are looked at in a microsecond.
const WORDS_PER_STEP: usize = 16;
/// Places of a stack that are looked at for one question.
const MOST_PLACES: usize = 50_000;

impl GrammarProgram {
    /// What relations are made of.
    pub(super) fn relation_parts(&self) -> RelationParts<'_> {
        RelationParts {
            productions: &self.productions,
            scanner: &self.scanner,
            follow: &self.follow,
            ignored: &self.ignored,
            token_sets: &self.token_sets,
            documents: &self.prospects.documents,
            indenter: self.indenter.as_ref(),
        }
    }
}

/// A state on top of a node, with what must not follow; none below the bottom.
type Place = (LrStateId, Option<NodeId>, ObligationsId);

impl GrammarMachine<'_> {
    /// Whether the output can be completed from a branch. The nodes of the stack that tell are added to `decided`.
    pub(crate) fn search_completion(&mut self, branch: &Branch, decided: &mut Vec<NodeId>) -> bool {
        let mark = self.stack.mark();
        let mut looked = Vec::new();
        let prospects = &self.program.prospects;
        let mut answer = self.is_known_to_complete(branch, &mut lock(&prospects.few), FEW, &mut looked);
        if answer.is_none() {
            answer = self.is_known_to_complete(branch, &mut lock(&prospects.all), ALL, &mut looked);
        }
        let is_told = answer.is_some();
        let mut answer = answer.unwrap_or_else(|| {
            self.all_below(branch, &mut looked);
            self.search_by_terminals(branch) || self.search(branch)
        });
        // How far a question gets depends on those before it. What was found once is not forgotten.
        if answer && (!is_told || lock(&prospects.few).is_costly()) {
            prospects.found.keep(self.description(branch), (), looked.len() * 8 + 64);
        } else if !answer {
            answer = prospects.found.with(&*self.description(branch), |_| ()).is_some();
        }
        looked.sort_unstable();
        looked.dedup();
        decided.extend(looked);
        self.stack.truncate(&mark);
        answer
    }

    /// All that the future of a branch outside of documents depends on.
    fn description(&self, branch: &Branch) -> Box<[u32]> {
        let mut view = self.stack.view(branch);
        while view.describe_block(self.stack) || view.deepen(self.stack) {}
        view.key().into()
    }

    /// Whether relations tell that a branch can be completed, or that it cannot.
    fn is_known_to_complete(
        &mut self,
        branch: &Branch,
        relations: &mut ObligationRelations,
        reach: Reach,
        decided: &mut Vec<NodeId>,
    ) -> Option<bool> {
        let program = self.program;
        let parts = program.relation_parts();
        relations.begin(parts, reach);
        let answer = self.completes_by(branch, relations, decided);
        (answer || !relations.cut).then_some(answer)
    }

    fn completes_by(
        &mut self,
        branch: &Branch,
        relations: &mut ObligationRelations,
        decided: &mut Vec<NodeId>,
    ) -> bool {
        let program = self.program;
        let tops: Vec<NodeId> = self.stack.tops(branch.tops).to_vec();
        decided.extend_from_slice(&tops);
        if branch.is_in_document() {
            // A document can always be completed, and few promises reach into one.
            let behind = self.behind_symbol(&tops, program.productions.first_document + branch.document, decided);
            return self.stack_completes(relations, &behind, NO_OBLIGATIONS, decided);
        }
        let scan = program.scanner.state(branch.scan);
        if scan.at_boundary {
            return self.stack_completes(relations, &tops, scan.obligations, decided);
        }
        let ways = relations.ways.from_scan(&program.scanner, branch.scan);
        for (terminal, ways) in ways.iter() {
            if ways.all.is_empty() {
                relations.cut |= ways.cut;
                continue;
            }
            let Some(behind) = self.behind_end(branch, &tops, *terminal, decided) else {
                relations.cut = true;
                continue;
            };
            for way in &ways.all {
                if self.stack_completes(relations, &behind, way.to, decided) {
                    return true;
                }
            }
            relations.cut |= ways.cut;
        }
        false
    }

    /// The tops behind a terminal that ends; `None` where that takes more than to know the terminal.
    fn behind_end(
        &mut self,
        branch: &Branch,
        tops: &[NodeId],
        terminal: u32,
        decided: &mut Vec<NodeId>,
    ) -> Option<Vec<NodeId>> {
        let program = self.program;
        let line = program.line_of(branch.scan, branch.indents, branch.column);
        let effect = program.indenter.as_ref().map(|indenter| indenter.effect(self.stack, branch.indents, terminal));
        match effect {
            Some(Effect::Refused) => return Some(Vec::new()),
            Some(Effect::Dropped) => return Some(tops.to_vec()),
            Some(Effect::EndsLine) => {
                let next = program.closure(self.stack, tops).closure.next.clone();
                let is_dead = program.newline_use(self.stack, branch.indents, &next) == NewlineUse::Dead;
                let is_certain = program.indenter.as_ref().is_some_and(|indenter| indenter.is_certain());
                if !is_dead && (line.least > 0 || !is_certain) {
                    return None;
                }
            }
            Some(Effect::Taken(_)) | None => {}
        }
        let mut behind = self.behind_symbol(tops, terminal, decided);
        if program.ignored.contains(&terminal) {
            behind.extend_from_slice(tops);
        }
        Some(behind)
    }

    /// The tops behind a symbol.
    fn behind_symbol(&mut self, tops: &[NodeId], symbol: u32, decided: &mut Vec<NodeId>) -> Vec<NodeId> {
        let program = self.program;
        let found = program.closure(self.stack, tops);
        decided.extend_from_slice(found.decided());
        let mut shifted = Shifted::default();
        found.shift(&program.lr, &program.productions, self.stack, symbol, &mut shifted);
        shifted.finish(self.stack).to_vec()
    }

    /// Whether the output can be completed behind tops where obligations hold.
    fn stack_completes(
        &mut self,
        relations: &mut ObligationRelations,
        tops: &[NodeId],
        obligations: ObligationsId,
        decided: &mut Vec<NodeId>,
    ) -> bool {
        let program = self.program;
        // All that was begun there can be completed with terminals that let follow what the rules put next.
        if obligations == NO_OBLIGATIONS
            && let Some(&top) = tops.iter().find(|&&top| self.stack.completes(top))
        {
            decided.push(top);
            return true;
        }
        let parts = program.relation_parts();
        let productions = &program.productions;
        let mut todo: Vec<Place> = Vec::new();
        for &top in tops {
            decided.push(top);
            let state = self.stack.state(top);
            todo.extend(self.stack.below(top).iter().map(|&below| (state, Some(below), obligations)));
            if self.stack.below(top).is_empty() {
                todo.push((program.lr.start(), None, obligations));
            }
        }
        let mut seen: SeededSet<Place> = todo.iter().copied().collect();
        while let Some((state, base, held)) = todo.pop() {
            if seen.len() > MOST_PLACES {
                relations.cut = true;
                return false;
            }
            for item in &program.lr.state(state).kernel {
                let production = &productions.all[item.production as usize];
                let rest = &production.parts[usize::from(item.dot)..];
                let mut behind = relations.behind(parts, rest, held);
                if behind.is_empty() {
                    continue;
                }
                if production.of == productions.start {
                    let ends = |&to: &ObligationsId| program.scanner.may_end(to);
                    if behind.iter().any(|&to| relations.between(parts, to).iter().any(|between| ends(&between.to))) {
                        return true;
                    }
                    continue;
                }
                // What forbids least is tried first.
                behind.sort_by_key(|&to| Reverse(program.scanner.obligations(to).len()));
                let mut bases: Vec<NodeId> = base.into_iter().collect();
                for _ in 1..item.parts {
                    decided.extend_from_slice(&bases);
                    let mut below: Vec<NodeId> =
                        bases.iter().flat_map(|&base| self.stack.below(base)).copied().collect();
                    below.sort_unstable();
                    below.dedup();
                    bases = below;
                }
                decided.extend_from_slice(&bases);
                for base in bases {
                    let to = program.lr.goto(productions, self.stack.state(base), production.of);
                    if to == NO_STATE {
                        continue;
                    }
                    for &held in &behind {
                        if seen.insert((to, Some(base), held)) {
                            todo.push((to, Some(base), held));
                        }
                    }
                }
            }
        }
        false
    }

    /// The column of a branch; columns that act alike are one.
    fn column_of(&self, branch: &Branch) -> u32 {
        let deeper = |indenter: &Indenter| indenter.width(self.stack, branch.indents) + 1;
        match &self.program.indenter {
            Some(indenter) if branch.column != NO_COLUMN => branch.column.min(deeper(indenter)),
            _ => branch.column,
        }
    }

    /// All nodes of a stack.
    fn all_below(&self, branch: &Branch, decided: &mut Vec<NodeId>) {
        let mut todo: Vec<NodeId> = self.stack.tops(branch.tops).to_vec();
        todo.extend(Some(branch.indents).filter(|&node| node != NO_NODE));
        let mut seen: SeededSet<NodeId> = todo.iter().copied().collect();
        while let Some(node) = todo.pop() {
            decided.push(node);
            todo.extend(self.stack.below(node).iter().filter(|&&below| seen.insert(below)));
        }
    }

    /// Looks terminal by terminal for a place from which the output is known to be completed. Places from which little
    /// is missing come first, as far as the rules tell (Hart, Nilsson and Raphael 1968). Which terminals compete is
    /// known at each place, so what is found exists.
    fn search_by_terminals(&mut self, branch: &Branch) -> bool {
        let program = self.program;
        if program.indenter.is_some() || branch.is_in_document() {
            return false;
        }
        let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
        // Each place with the bytes that lead to it, by these and those that are missing at least.
        let mut places: Vec<(Branch, u64)> = vec![(*branch, 0)];
        let mut todo = BinaryHeap::from([(Reverse(0), 0)]);
        let mut seen = SeededSet::default();
        let (mut tried, mut searched) = (0, 0);
        while let Some((_, at)) = todo.pop() {
            let (at, read) = places[at];
            let relations = &program.prospects.few;
            let known = self.is_known_to_complete(&at, &mut lock(relations), FEW, &mut Vec::new());
            if known == Some(true) || self.accepts(&[at]) {
                return true;
            }
            tried += 1;
            let tops = self.stack.tops(at.tops).to_vec();
            let words = lock(relations).work() + program.closure(self.stack, &tops).words;
            searched += words;
            charge(1 + words / WORDS_PER_STEP);
            if tried > MOST_TERMINALS || searched > MOST_SEARCHED || must_end() {
                return false;
            }
            let ways = lock(relations).ways.from_scan(&program.scanner, at.scan);
            for (terminal, ways) in ways.iter() {
                let behind = self.behind_end(&at, &tops, *terminal, &mut Vec::new()).unwrap_or_default();
                if behind.is_empty() {
                    continue;
                }
                let (group, found) = (self.stack.group(&behind), program.closure(self.stack, &behind));
                let missing = costs.of_tops(self.stack, &behind).0;
                for way in &ways.all {
                    let to = Branch::scanning(group, program.scan_start(&found, way.to), at.indents);
                    if seen.insert((behind.clone(), to.scan)) {
                        let read = read + way.text.len() as u64;
                        todo.push((Reverse(read.saturating_add(missing)), places.len()));
                        places.push((to, read));
                    }
                }
            }
        }
        false
    }

    /// Looks byte by byte for a place from which the output is known to be completed, nearest first. So where one is
    /// found, it is found as well from every place on the way to it.
    fn search(&mut self, branch: &Branch) -> bool {
        let mut todo: VecDeque<Branch> = VecDeque::from([*branch]);
        let mut seen = SeededSet::default();
        let prospects = &self.program.prospects;
        let (mut tried, mut searched) = (0, 0);
        while let Some(at) = todo.pop_front() {
            let known = self.is_known_to_complete(&at, &mut lock(&prospects.few), FEW, &mut Vec::new());
            if known == Some(true) || self.accepts(&[at]) {
                return true;
            }
            let firsts = self.program.scanner.bytes_of_classes();
            tried += firsts.len();
            let words = self.program.closure(self.stack, self.stack.tops(at.tops)).words;
            let words = lock(&prospects.few).work() + firsts.len() * words;
            searched += words;
            charge(1 + firsts.len() / 4 + words / WORDS_PER_STEP);
            if tried > MOST_STEPS || searched > MOST_SEARCHED || must_end() {
                prospects.gave_up.store(true, Ordering::Relaxed);
                return false;
            }
            let mut next = Branches::new();
            for &byte in firsts {
                next.extend(self.step(&[at], byte));
            }
            // A special token may come as well, whatever must not follow as text.
            for set in &self.program.token_sets {
                let Some(&token) = set.first() else { continue };
                next.extend(self.step_special(&[at], token));
            }
            for to in next {
                let line = (to.indents, self.column_of(&to));
                let key = (self.stack.tops(to.tops).to_vec(), to.scan, to.document, to.frame, line);
                if seen.insert(key) {
                    todo.push_back(to);
                }
            }
        }
        false
    }
}
