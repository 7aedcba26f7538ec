//! Positions in the output of a grammar, as classes with one future, and which tokens leave room for a plan.
//!
//! Two beginnings that lead to the same nodes of the stack and the same state of the scanner have one future. So the
//! trie is walked over classes: each is stepped by each byte once, and completed once. Where its completion has too
//! many tokens, fewer are searched for by tokens, as far as a bounded search goes. What is beyond the bounds is left
//! out.

pub(super) mod plans;

use crate::guide::budget::fewest_tokens_search::{FewestSearch, MAX_LOOKED_NEAR, STEP, SearchSteps};
use crate::guide::budget::grammar_positions::plans::PlanChecks;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::pushdown::grammar::completion::symbol_costs::NO_COST;
use crate::pushdown::grammar::machine::Branches;
use crate::pushdown::grammar::parse_stack::ParseStack;
use crate::pushdown::grammar::program::GrammarProgram;
use crate::util::seeded_hash::{SeededMap, SeededSet};
use crate::util::work_meter::{is_nearly_over, is_over};

/// Not stepped yet.
const UNKNOWN_POSITION: u32 = u32::MAX;
/// Refused.
const DEAD_POSITION: u32 = u32::MAX - 1;
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
    is_affordable: Option<bool>,
    next: Option<Box<[u32]>>,
}

/// Where a guide stands in the output of a grammar, and the tokens that may be used.
pub(super) struct GrammarPositions<'a> {
    program: &'a GrammarProgram,
    stack: &'a mut ParseStack,
    speller: FewestTokens<'a, &'a dyn Fn(u32) -> bool>,
    /// Every byte is a token that may be used, so that a plan never has more tokens than bytes.
    bytes_are_tokens: bool,
    classes: Vec<PositionClass>,
    numbers: SeededMap<Box<[u32]>, u32>,
    checks: PlanChecks,
    /// The bytes of the longest token, once they were counted.
    longest: Option<u16>,
    /// How many steps were no look-up.
    made: usize,
    plans: usize,
    searched: usize,
    left_out: bool,
}

impl<'a> GrammarPositions<'a> {
    /// The class of these branches, from which all others are reached. `bytes_are_tokens`: every byte that the grammar
    /// reads is a token that may be used.
    pub(super) fn new(
        program: &'a GrammarProgram,
        stack: &'a mut ParseStack,
        speller: FewestTokens<'a, &'a dyn Fn(u32) -> bool>,
        bytes_are_tokens: bool,
        branches: Branches,
    ) -> Self {
        let mut positions = GrammarPositions {
            program,
            stack,
            speller,
            bytes_are_tokens,
            classes: Vec::new(),
            numbers: SeededMap::default(),
            checks: PlanChecks::default(),
            longest: None,
            made: 0,
            plans: 0,
            searched: 0,
            left_out: false,
        };
        positions.class(branches);
        positions
    }

    /// The fewest tokens from the first class to the end: at most `most`.
    pub(super) fn fewest(&mut self, most: u64, max_looked: usize) -> FewestSearch {
        let speller = self.speller;
        speller.fewest_to_end(self, 0, most, max_looked)
    }

    /// The number of the class of these branches.
    fn class(&mut self, branches: Branches) -> u32 {
        if branches.is_empty() {
            return DEAD_POSITION;
        }
        // Equal nodes are one node, so their names describe what lies below.
        let mut each: Vec<Vec<u32>> = Vec::with_capacity(branches.len());
        for branch in &branches {
            let mut words = vec![branch.scan, branch.indents, branch.column, u32::from(branch.is_in_document())];
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
            return DEAD_POSITION;
        }
        let number = self.classes.len() as u32;
        self.classes.push(PositionClass { branches, is_affordable: None, next: None });
        self.numbers.insert(key, number);
        number
    }

    fn step(&mut self, at: u32, byte: u8) -> u32 {
        let slot = self.program.scanner.class(byte);
        let Some(class) = self.classes.get(at as usize) else { return DEAD_POSITION };
        match class.next.as_ref().map_or(UNKNOWN_POSITION, |next| next[slot]) {
            UNKNOWN_POSITION => {}
            known => return known,
        }
        if is_over() {
            self.left_out = true;
            return DEAD_POSITION;
        }
        self.made += 1;
        let branches = class.branches.clone();
        let next = self.program.machine(self.stack).step(&branches, byte);
        let to = self.class(next);
        let slots = self.program.scanner.bytes_of_classes().len();
        let next = self.classes[at as usize].next.get_or_insert_with(|| vec![UNKNOWN_POSITION; slots].into());
        next[slot] = to;
        to
    }

    /// Whether at most `left` tokens complete the output from a class.
    fn is_affordable_position(&mut self, at: u32, left: u64) -> bool {
        let Some(class) = self.classes.get(at as usize) else { return false };
        if let Some(known) = class.is_affordable {
            return known;
        }
        if is_nearly_over() {
            return false;
        }
        let found = self.find_affordable_position(at, left);
        self.classes[at as usize].is_affordable = Some(found);
        found
    }

    fn find_affordable_position(&mut self, at: u32, left: u64) -> bool {
        let branches = self.classes[at as usize].branches.clone();
        let mut least = self.program.machine(self.stack).least_cost(&branches);
        if least == 0 {
            if self.program.machine(self.stack).accepts(&branches) {
                return true;
            }
            // A bound: a line may end without a byte, and yet not where it is.
            least = 1;
        }
        let trie = self.speller.trie();
        let longest = *self.longest.get_or_insert_with(|| trie.depth.iter().copied().max().unwrap_or(1).max(1));
        if least == NO_COST || least.div_ceil(u64::from(longest)) > left {
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
        let plan = self.bounded_plan(at);
        if self.is_kept(at, plan, left) {
            return true;
        }
        let plan = self.plan(at);
        if self.is_kept(at, plan, left) {
            return true;
        }
        let plan = self.search_from(at, left, MAX_LOOKED_NEAR);
        self.is_kept(at, plan, left)
    }

    /// At most `left` tokens that complete the output from a class, if a short search finds them.
    pub(super) fn search_from(&mut self, at: u32, left: u64, max_looked: usize) -> Option<Vec<u32>> {
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
            if to == DEAD_POSITION {
                node = end;
                continue;
            }
            visit(self, node, to);
            stack.push((end, to));
            node += 1;
        }
    }

    /// Takes the tokens out of a row after which what is left is too little.
    pub(super) fn keep(&mut self, row: &mut [u32], left: u64) {
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
                if bit != 0 && named.binary_search(&token).is_err() && this.is_affordable_position(to, left) {
                    kept[token as usize >> 5] |= bit;
                }
            }
        });
        row.copy_from_slice(&kept);
    }

    /// Takes those of `tokens` out of a row after which what is left is too little.
    pub(super) fn keep_each(&mut self, row: &mut [u32], tokens: &[u32], left: u64) {
        let vocabulary = self.speller.vocabulary();
        let named = self.named_tokens();
        for &token in tokens {
            let bit = 1 << (token & 31);
            if row[token as usize >> 5] & bit == 0 || named.binary_search(&token).is_ok() {
                continue;
            }
            let bytes = vocabulary.spelling(token).unwrap_or_default();
            let to =
                bytes.iter().fold(0, |at, &byte| if at == DEAD_POSITION { DEAD_POSITION } else { self.step(at, byte) });
            if !self.is_affordable_position(to, left) {
                row[token as usize >> 5] &= !bit;
            }
        }
        if tokens.iter().any(|token| named.binary_search(token).is_ok()) {
            self.keep_special(row, left);
        }
    }

    /// By how many bytes a token can lengthen the way to the end, beyond what the stack needs already, and the tokens
    /// of which that is not known; `None` if they are many.
    pub(super) fn growth(&mut self) -> Option<(u64, Vec<u32>)> {
        /// Tokens that are listed.
        const MOST_TOKENS: usize = 500;
        let trie = self.speller.trie();
        let program = self.program;
        let &branch = self.classes[0].branches.first()?;
        let mut above = program.bounds_above(self.stack, &branch)?;
        let mut known: Vec<Option<u64>> = Vec::new();
        let mut most = 0;
        let mut unknown: Vec<u32> = Vec::new();
        let mut see = |this: &mut Self, to: u32, tokens: &[u32]| {
            let at = to as usize;
            if unknown.len() > MOST_TOKENS || to == DEAD_POSITION || is_over() {
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
        (!self.left_out && unknown.len() <= MOST_TOKENS && self.plans <= MAX_PLANS && !is_over())
            .then_some((most, unknown))
    }

    /// Of the tokens that the grammar may name here, one for each row of sets that they are in.
    fn some_named_tokens(&mut self) -> Vec<u32> {
        let mut seen = SeededSet::default();
        let mut tokens = self.named_tokens();
        tokens.retain(|token| {
            let sets = self.program.token_sets.iter();
            seen.insert(sets.map(|set| set.binary_search(token).is_ok()).collect::<Vec<bool>>())
        });
        tokens
    }

    /// The tokens that the grammar may name here, ascending.
    fn named_tokens(&mut self) -> Vec<u32> {
        let mut named = Vec::new();
        let branches = self.classes[0].branches.clone();
        self.program.machine(self.stack).special_tokens(&branches, &mut Vec::new(), |token| named.push(token));
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
                _ if tried >= MAX_SPECIAL => DEAD_POSITION,
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
            if !self.is_affordable_position(to, left) {
                *word &= !bit;
            }
        }
    }

    fn step_special(&mut self, at: u32, token: u32) -> u32 {
        let Some(class) = self.classes.get(at as usize) else { return DEAD_POSITION };
        let branches = class.branches.clone();
        let next = self.program.machine(self.stack).step_special(&branches, token);
        self.class(next)
    }
}

impl SearchSteps for GrammarPositions<'_> {
    fn to(&mut self, at: u32, byte: u8) -> Option<u32> {
        Some(self.step(at, byte)).filter(|&to| to != DEAD_POSITION)
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
            if to != DEAD_POSITION {
                out.push((token, to));
            }
        }
        out
    }
}
