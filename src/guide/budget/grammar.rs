//! Budgets over grammars: plans, and the tokens after which one fits.
//!
//! A plan is what [`completion`](crate::pushdown::grammar::completion::plan) writes, spelled by the fewest tokens and
//! stepped to the end. Which tokens leave room for a plan is found by walking the trie over *classes* of positions: two
//! beginnings that lead to the same stack and the same state of the scanner have one future. Each class is completed
//! once. Where its completion has too many tokens, fewer are searched for by tokens, as far as a bounded search goes.

use std::sync::Arc;

use crate::guide::Guide;
use crate::guide::budget::fewest_tokens::FewestTokens;
use crate::guide::budget::search::{FewestSearch, MAX_LOOKED_NEAR, STEP, SearchSteps};
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::mask::structural_tokens::{STRUCTURAL, StructuralTokens};
use crate::pushdown::grammar::completion::plan::Piece;
use crate::pushdown::grammar::completion::symbol_costs::NO_COST;
use crate::pushdown::grammar::machine::{Branches, GrammarMachine};
use crate::pushdown::grammar::parse_stack::{Branch, ParseStack, PositionId};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::util::hash::{SeededMap, SeededSet};

/// Not stepped yet.
const UNKNOWN: u32 = u32::MAX;
/// Refused.
const DEAD: u32 = u32::MAX - 1;
/// With so many classes no more are numbered.
const MAX_CLASSES: usize = 20_000;
/// Completions that are written for one mask.
const MAX_PLANS: usize = 2_000;
/// Nodes of the trie that are looked at in searches for one mask.
const MAX_SEARCHED: usize = 2_000_000;
/// Special tokens that are tried by themselves for one mask.
const MAX_SPECIAL: usize = 2_000;

/// Positions with one future.
struct PositionClass {
    branches: Branches,
    fits: Option<bool>,
    next: Option<Box<[u32]>>,
}

/// Where a guide stands in the output of a grammar, and the tokens that may be used.
pub(super) struct GrammarPositions<'a> {
    program: &'a GrammarProgram,
    stack: &'a mut ParseStack,
    speller: FewestTokens<'a, &'a dyn Fn(u32) -> bool>,
    /// Every byte is a token that may be used, so that a plan never has more tokens than bytes.
    bytes_are_tokens: bool,
    longest: u64,
    classes: Vec<PositionClass>,
    numbers: SeededMap<Box<[u32]>, u32>,
    /// How many steps were no look-up.
    made: usize,
    plans: usize,
    searched: usize,
    left_out: bool,
}

impl<'a> GrammarPositions<'a> {
    /// The number of the class of these branches.
    fn class(&mut self, branches: Branches) -> u32 {
        if branches.is_empty() {
            return DEAD;
        }
        // Equal nodes are one node, so their names describe what lies below.
        let mut each: Vec<Vec<u32>> = Vec::with_capacity(branches.len());
        for branch in &branches {
            let mut words = vec![branch.scan, u32::from(branch.is_in_document())];
            if branch.is_in_document()
                && let Some(arena) = &self.stack.arena
            {
                let mut bytes = Vec::new();
                arena.describe(&self.program.documents[branch.document as usize], branch.frame, &mut bytes);
                words.extend([branch.document, bytes.len() as u32]);
                let word = |four: &[u8]| four.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
                words.extend(bytes.chunks(4).map(word));
            }
            let tops = self.stack.tops(branch.tops);
            words.push(tops.len() as u32);
            words.extend_from_slice(tops);
            each.push(words);
        }
        each.sort_unstable();
        each.dedup();
        let key: Box<[u32]> = each.concat().into();
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        if self.classes.len() >= MAX_CLASSES {
            self.left_out = true;
            return DEAD;
        }
        let number = self.classes.len() as u32;
        self.classes.push(PositionClass { branches, fits: None, next: None });
        self.numbers.insert(key, number);
        number
    }

    fn step(&mut self, at: u32, byte: u8) -> u32 {
        let slot = self.program.scanner.class(byte);
        let Some(class) = self.classes.get(at as usize) else { return DEAD };
        match class.next.as_ref().map_or(UNKNOWN, |next| next[slot]) {
            UNKNOWN => {}
            known => return known,
        }
        self.made += 1;
        let branches = class.branches.clone();
        let next = self.program.machine(self.stack).step(&branches, byte);
        let to = self.class(next);
        let slots = self.program.scanner.bytes_of_classes().len();
        let next = self.classes[at as usize].next.get_or_insert_with(|| vec![UNKNOWN; slots].into());
        next[slot] = to;
        to
    }

    /// Tokens that should complete the output from a class.
    fn plan(&mut self, at: u32) -> Option<Vec<u32>> {
        let branches = self.classes.get(at as usize)?.branches.clone();
        let pieces = self.program.machine(self.stack).completion(&branches)?;
        self.spelled(&pieces)
    }

    /// As [`plan`](Self::plan), by the bounds of costs instead of the least ones.
    fn bounded_plan(&mut self, at: u32) -> Option<Vec<u32>> {
        let branches = self.classes.get(at as usize)?.branches.clone();
        let mut bounds = self.program.bounds()?;
        let pieces = self.program.machine(self.stack).completion_by(&branches, &mut bounds)?;
        self.spelled(&pieces)
    }

    /// The fewest tokens that spell a completion.
    fn spelled(&self, pieces: &[Piece]) -> Option<Vec<u32>> {
        let mut out = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.extend(self.speller.fewest_tokens(text)?),
                Piece::Special(set) => {
                    out.push(self.program.token_sets[*set].iter().copied().find(|&t| self.speller.may_use(t))?);
                }
            }
        }
        Some(out)
    }

    /// Whether at most `left` tokens complete the output from a class.
    fn fits(&mut self, at: u32, left: u64) -> bool {
        let Some(class) = self.classes.get(at as usize) else { return false };
        if let Some(known) = class.fits {
            return known;
        }
        let fits = self.find_fit(at, left);
        self.classes[at as usize].fits = Some(fits);
        fits
    }

    fn find_fit(&mut self, at: u32, left: u64) -> bool {
        let branches = self.classes[at as usize].branches.clone();
        let least = self.program.machine(self.stack).least_cost(&branches);
        if least == 0 {
            return true;
        }
        if least == NO_COST || least.div_ceil(self.longest) > left {
            return false;
        }
        if self.bytes_are_tokens
            && let Some(most) = self.program.machine(self.stack).largest_cost(&branches)
            && most <= left
        {
            return true;
        }
        self.plans += 1;
        if self.plans > MAX_PLANS {
            return false;
        }
        let fits = |this: &mut Self, plan: Option<Vec<u32>>| {
            plan.is_some_and(|plan| plan.len() as u64 <= left && this.completes(at, &plan))
        };
        let plan = self.plan(at);
        if fits(self, plan) {
            return true;
        }
        if !self.program.costs_are_exact() {
            let plan = self.bounded_plan(at);
            if fits(self, plan) {
                return true;
            }
        }
        let found = self.search_from(at, left, MAX_LOOKED_NEAR);
        found.is_some_and(|plan| self.completes(at, &plan))
    }

    /// Whether tokens complete the output from a class, as a guide steps them.
    fn completes(&mut self, at: u32, tokens: &[u32]) -> bool {
        if self.program.costs_are_exact() {
            return true;
        }
        let vocabulary = self.speller.vocabulary();
        let mut now = self.classes[at as usize].branches.clone();
        for &token in tokens {
            let mut machine = self.program.machine(self.stack);
            let mut next = machine.step_special(&now, token);
            if let Some(bytes) = vocabulary.spelling(token) {
                next.extend(bytes.iter().fold(now, |at, &byte| machine.step(&at, byte)));
            }
            now = next.into_iter().filter(|branch| machine.completes(branch)).collect();
        }
        self.program.machine(self.stack).accepts(&now)
    }

    /// At most `left` tokens that complete the output from a class, if a short search finds them.
    fn search_from(&mut self, at: u32, left: u64, max_looked: usize) -> Option<Vec<u32>> {
        if self.searched > MAX_SEARCHED {
            return None;
        }
        let before = self.made;
        let speller = self.speller;
        let found = speller.fewest_to_end(self, at, left, max_looked + before * STEP);
        self.searched += max_looked;
        found.plan
    }

    /// Walks the trie, with the class that each node leads to.
    fn walk(&mut self, mut visit: impl FnMut(&mut Self, u32, u32)) {
        let trie = self.speller.trie();
        let mut stack: Vec<(u32, u32)> = vec![(trie.len() as u32, 0)];
        let mut node = 1;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            let end = trie.end[node as usize];
            let to = self.step(at, trie.byte[node as usize]);
            if to == DEAD {
                node = end;
                continue;
            }
            visit(self, node, to);
            stack.push((end, to));
            node += 1;
        }
    }

    /// Takes the tokens out of a row after which what is left is too little.
    fn keep(&mut self, row: &mut [u32], left: u64) {
        let trie = self.speller.trie();
        let mut kept = vec![0u32; row.len()];
        for token in self.named_tokens() {
            kept[token as usize >> 5] |= row[token as usize >> 5] & 1 << (token & 31);
        }
        self.keep_special(&mut kept, left);
        let named = self.named_tokens();
        self.walk(|this, node, to| {
            for &token in trie.tokens(node) {
                let bit = row[token as usize >> 5] & 1 << (token & 31);
                if bit != 0 && named.binary_search(&token).is_err() && this.fits(to, left) {
                    kept[token as usize >> 5] |= bit;
                }
            }
        });
        row.copy_from_slice(&kept);
    }

    /// Takes those of `tokens` out of a row after which what is left is too little.
    fn keep_each(&mut self, row: &mut [u32], tokens: &[u32], left: u64) {
        let vocabulary = self.speller.vocabulary();
        let named = self.named_tokens();
        for &token in tokens {
            let bit = 1 << (token & 31);
            if row[token as usize >> 5] & bit == 0 || named.binary_search(&token).is_ok() {
                continue;
            }
            let bytes = vocabulary.spelling(token).unwrap_or_default();
            let to = bytes.iter().fold(0, |at, &byte| if at == DEAD { DEAD } else { self.step(at, byte) });
            if !self.fits(to, left) {
                row[token as usize >> 5] &= !bit;
            }
        }
        if tokens.iter().any(|token| named.binary_search(token).is_ok()) {
            self.keep_special(row, left);
        }
    }

    /// By how many bytes a token can lengthen the way to the end, beyond what the stack needs already, and the tokens of
    /// which that is not known; `None` if they are many.
    fn growth(&mut self) -> Option<(u64, Vec<u32>)> {
        /// Tokens that are listed.
        const MOST: usize = 500;
        let trie = self.speller.trie();
        let program = self.program;
        let &branch = self.classes[0].branches.first()?;
        let mut above = program.bounds_above(self.stack, &branch)?;
        let mut known: Vec<Option<u64>> = Vec::new();
        let mut most = 0;
        let mut unknown: Vec<u32> = Vec::new();
        let mut see = |this: &mut Self, to: u32, tokens: &[u32]| {
            let at = to as usize;
            if unknown.len() > MOST || to == DEAD {
                return;
            }
            if known.len() <= at {
                known.resize(at + 1, None);
            }
            let cost = *known[at].get_or_insert_with(|| {
                let branches = this.classes[at].branches.clone();
                this.plans += usize::from(branches.iter().any(|branch| branch.is_in_document()));
                program.machine(this.stack).cost_by(&branches, &mut above)
            });
            match cost {
                NO_COST => unknown.extend_from_slice(tokens),
                cost => most = most.max(cost),
            }
        };
        for token in self.some_named_tokens() {
            let to = self.step_special(0, token);
            see(self, to, &[token]);
        }
        self.walk(|this, node, to| {
            if !trie.tokens(node).is_empty() && this.plans <= MAX_PLANS {
                see(this, to, trie.tokens(node));
            }
        });
        (!self.left_out && unknown.len() <= MOST && self.plans <= MAX_PLANS).then_some((most, unknown))
    }

    /// Of the tokens that the grammar may name here, one for each row of sets that they are in.
    fn some_named_tokens(&mut self) -> Vec<u32> {
        let mut seen = SeededSet::default();
        let mut tokens = self.named_tokens();
        tokens.retain(|token| {
            let within = |set: &Box<[u32]>| set.binary_search(token).is_ok();
            seen.insert(self.program.token_sets.iter().map(within).collect::<Vec<bool>>())
        });
        tokens
    }

    /// The tokens that the grammar may name here, ascending.
    fn named_tokens(&mut self) -> Vec<u32> {
        let mut named = Vec::new();
        let branches = self.classes[0].branches.clone();
        self.program.machine(self.stack).special_tokens(&branches, |token| named.push(token));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// As [`keep`](Self::keep), for the tokens that the grammar names.
    fn keep_special(&mut self, row: &mut [u32], left: u64) {
        let vocabulary = self.speller.vocabulary();
        for (tried, token) in self.named_tokens().into_iter().enumerate() {
            let bit = 1 << (token & 31);
            let Some(word) = row.get_mut(token as usize >> 5).filter(|word| **word & bit != 0) else { continue };
            let to = match vocabulary.spelling(token) {
                _ if tried >= MAX_SPECIAL => DEAD,
                None => self.step_special(0, token),
                Some(bytes) => {
                    // It may be read as its text as well.
                    let from = self.classes[0].branches.clone();
                    let mut machine = self.program.machine(self.stack);
                    let mut all = machine.step_special(&from, token);
                    let text = bytes.iter().fold(from, |at, &byte| machine.step(&at, byte));
                    all.extend(text);
                    self.class(all)
                }
            };
            if !self.fits(to, left) {
                *word &= !bit;
            }
        }
    }

    fn step_special(&mut self, at: u32, token: u32) -> u32 {
        let Some(class) = self.classes.get(at as usize) else { return DEAD };
        let branches = class.branches.clone();
        let next = self.program.machine(self.stack).step_special(&branches, token);
        self.class(next)
    }
}

impl SearchSteps for GrammarPositions<'_> {
    fn to(&mut self, at: u32, byte: u8) -> Option<u32> {
        Some(self.step(at, byte)).filter(|&to| to != DEAD)
    }

    fn is_end(&mut self, at: u32) -> bool {
        let Some(class) = self.classes.get(at as usize) else { return false };
        let branches = class.branches.clone();
        self.program.machine(self.stack).accepts(&branches)
    }

    fn made(&self) -> usize {
        self.made
    }

    fn is_exact(&self) -> bool {
        !self.left_out
    }

    fn special(&mut self, at: u32) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        for set in &self.program.token_sets {
            let Some(token) = set.iter().copied().find(|&t| self.speller.may_use(t)) else { continue };
            let to = self.step_special(at, token);
            if to != DEAD {
                out.push((token, to));
            }
        }
        out
    }
}

impl GrammarMachine<'_> {
    /// What is left of `left` bytes behind any token of few structural bytes that stays inside the document of a branch.
    fn room_in_document(&mut self, branch: &Branch, left: u64) -> Option<u64> {
        if !self.program.costs_are_exact() {
            return None;
        }
        let document = &self.program.documents[branch.document as usize];
        let step = self.program.leaf_costs().document_step(document, branch.document)?;
        let growth = step.checked_mul(STRUCTURAL as u64 + 1)?;
        let cost = self.least_cost(std::slice::from_ref(branch));
        left.checked_sub(cost.checked_add(growth)?)
    }
}

/// The tokens of a row.
fn tokens_of(row: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (0..row.len() as u32 * 32).filter(|&t| row[t as usize >> 5] >> (t & 31) & 1 == 1)
}

impl Guide {
    /// Asks about the rest of a grammar's output, from where the guide stands. The stack is left as it was.
    fn in_grammar<T>(&mut self, ask: impl FnOnce(&mut GrammarPositions<'_>) -> T) -> Option<T> {
        self.in_branches(None, ask)
    }

    /// As [`in_grammar`](Self::in_grammar), from one branch only.
    fn in_branches<T>(
        &mut self,
        one: Option<&Branch>,
        ask: impl FnOnce(&mut GrammarPositions<'_>) -> T,
    ) -> Option<T> {
        let inner = &*self.index.0;
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position)
        else {
            return None;
        };
        let stops = &self.stops;
        let usable = |t: u32| !stops.contains(&t);
        let trie = inner.vocabulary.trie();
        let single = |b: u8| trie.child(0, b).is_some_and(|n| trie.tokens(n).iter().any(|t| !stops.contains(t)));
        let bytes_are_tokens = self.budget.as_ref().map_or_else(|| (0..=255).all(single), |b| b.spelled);
        let longest = trie.depth.iter().copied().max().unwrap_or(1).max(1);
        let mark = stack.mark();
        let branches = one.map_or_else(|| stack.branches_of(*at), |one| Branches::from_slice(&[*one]));
        let mut positions = GrammarPositions {
            program: &grammar.program,
            stack,
            speller: FewestTokens::new(inner, &usable),
            bytes_are_tokens,
            longest: u64::from(longest),
            classes: Vec::new(),
            numbers: SeededMap::default(),
            made: 0,
            plans: 0,
            searched: 0,
            left_out: false,
        };
        positions.class(branches);
        let answer = ask(&mut positions);
        stack.truncate(&mark);
        Some(answer)
    }

    /// Whether tokens complete the output of a grammar from here. Nothing changes.
    fn completes_grammar(&mut self, tokens: &[u32]) -> bool {
        let index = self.index.clone();
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&index.0.engine, &mut self.position)
        else {
            return false;
        };
        let before: PositionId = *at;
        let mut now = Some(before);
        for &token in tokens {
            let Some(from) = now else { break };
            let mut machine = grammar.program.machine(stack);
            now = match index.0.vocabulary.spelling(token) {
                Some(bytes) => machine.step_bytes_or_token(from, bytes, token),
                None => machine.step_token(from, token),
            };
        }
        let ends = now.is_some_and(|end| grammar.program.machine(stack).is_accepting(end));
        stack.go_back_to(before);
        ends
    }

    /// Tokens that complete the output of a grammar from here.
    pub(super) fn plan_grammar(&mut self) -> Option<Vec<u32>> {
        let (plan, exact) = self.in_grammar(|positions| (positions.plan(0), positions.program.costs_are_exact()))?;
        let plan = plan.filter(|plan| self.completes_grammar(plan));
        if exact {
            return plan;
        }
        // The fewest bytes are not always possible, and others may be fewer then.
        let other = self.in_grammar(|positions| positions.bounded_plan(0)).flatten();
        let other = other.filter(|other| plan.as_ref().is_none_or(|plan| other.len() < plan.len()));
        other.filter(|other| self.completes_grammar(other)).or(plan)
    }

    /// At most `left` tokens that complete the output of a grammar from here, if a short search finds them.
    pub(super) fn plan_grammar_near(&mut self, left: u64) -> Option<Vec<u32>> {
        // A mask knows some steps already and does not count them: what it found must be found here.
        const WORK: usize = MAX_LOOKED_NEAR * (STEP + 1);
        let plan = self.in_grammar(|positions| positions.search_from(0, left, WORK)).flatten()?;
        self.completes_grammar(&plan).then_some(plan)
    }

    /// At most so many tokens complete the output of a grammar from here, as far as that is known without a plan.
    pub(super) fn bound_grammar(&mut self, left: u64) -> Option<u64> {
        if !self.budget.as_ref().is_some_and(|b| b.spelled) {
            return None;
        }
        let bound = self.in_grammar(|positions| {
            let branches = positions.classes.first()?.branches.clone();
            let bound = positions.program.machine(positions.stack).largest_cost(&branches)?;
            // Near the end a plan is held: bounds are known to hold, but not by which tokens.
            let near = !positions.program.costs_are_exact() && bound.saturating_mul(2).saturating_add(64) > left;
            Some(bound).filter(|_| !near)
        });
        bound.flatten().filter(|&bound| bound <= left)
    }

    /// The fewest tokens that complete the output of a grammar from here, where it may not end: at most `most`.
    pub(super) fn search_grammar(&mut self, most: u64, max_looked: usize) -> Option<FewestSearch> {
        self.in_grammar(|positions| {
            let speller = positions.speller;
            speller.fewest_to_end(positions, 0, most, max_looked)
        })
    }

    /// Keeps the tokens of a row after which the output of a grammar can be completed by `left` tokens.
    pub(super) fn price_grammar(&mut self, row: &mut [u32], left: u64) {
        self.in_grammar(|positions| positions.keep(row, left));
    }

    /// Takes the few tokens out of a row after which the output could not be completed by `left` tokens, if there is
    /// room for all others; otherwise false, and the row is what it was.
    pub(super) fn has_room_grammar(&mut self, row: &mut [u32], left: u64) -> bool {
        let index = self.index.clone();
        let inner = &*index.0;
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position)
        else {
            return false;
        };
        if !self.budget.as_ref().is_some_and(|b| b.spelled) {
            return false;
        }
        let masker = grammar.masker(&inner.tables, &inner.vocabulary);
        let mut few: Vec<u32> = Vec::new();
        for branch in stack.branches_of(*at) {
            let Position::Grammar { stack, .. } = &mut self.position else { return false };
            let mark = stack.mark();
            let room = match branch.is_in_document() {
                true => grammar.program.machine(stack).room_in_document(&branch, left),
                false => grammar.program.machine(stack).most_cost(&branch).and_then(|most| left.checked_sub(most)),
            };
            stack.truncate(&mark);
            let Some(room) = room else { return false };
            if branch.is_in_document() {
                // Tokens that open or close much are priced by themselves, and so are those that run past the end.
                let marked = inner.tables.marked.get_or_init(|| StructuralTokens::of(&inner.vocabulary));
                few.extend_from_slice(&marked.structural);
                let mut past = vec![0; row.len()];
                masker.add_tokens_past_document(stack, &branch, &mut past);
                grammar.program.machine(stack).special_tokens(&[branch], |t| past[t as usize >> 5] |= 1 << (t & 31));
                stack.truncate(&mark);
                few.extend(tokens_of(&past));
                continue;
            }
            let Some(key) = masker.decides(stack, &branch) else { return false };
            let (growth, unknown) = match grammar.masks.growths.get(&*key) {
                Some(known) => known,
                None => {
                    let found = self.in_branches(Some(&branch), |positions| positions.growth()).flatten();
                    let (growth, unknown) = found.unwrap_or((NO_COST, Vec::new()));
                    let size = (key.len() + unknown.len()) * 4 + 64;
                    let found = (growth, Arc::from(unknown));
                    grammar.masks.growths.keep(key, found.clone(), size);
                    found
                }
            };
            if growth > room {
                return false;
            }
            few.extend_from_slice(&unknown);
        }
        few.sort_unstable();
        few.dedup();
        if !few.is_empty() {
            self.in_grammar(|positions| positions.keep_each(row, &few, left));
        }
        true
    }
}
