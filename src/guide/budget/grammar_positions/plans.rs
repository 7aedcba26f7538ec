//! Plans of classes of positions, and whether they complete the output as a guide steps them.
//!
//! The plans of many tokens end alike: where one leads to a class from which the same tokens are known to complete the
//! output, nothing more is stepped.

use std::sync::Arc;

use crate::guide::budget::grammar_positions::{DEAD_POSITION, GrammarPositions};
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::pushdown::grammar::completion::terminal_texts::Piece;
use crate::pushdown::grammar::machine::Branches;
use crate::util::seeded_hash::SeededMap;

/// What was found while plans were checked.
#[derive(Default)]
pub(super) struct PlanChecks {
    /// The class of the branches of a class that can be completed.
    kept: SeededMap<u32, u32>,
    /// A plan that completes the output from a class: so many tokens of it are behind.
    complete: SeededMap<u32, (Arc<[u32]>, usize)>,
}

/// The fewest tokens that spell a completion.
pub(in crate::guide::budget) fn spelled<U: Fn(u32) -> bool>(
    speller: &FewestTokens<U>,
    token_sets: &[Box<[u32]>],
    pieces: &[Piece],
) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend(speller.fewest_tokens(text)?),
            Piece::Special(set) => out.push(token_sets[*set].iter().copied().find(|&t| speller.may_use(t))?),
        }
    }
    Some(out)
}

impl GrammarPositions<'_> {
    /// Tokens that should complete the output from a class.
    pub(in crate::guide::budget) fn plan(&mut self, at: u32) -> Option<Vec<u32>> {
        let branches = self.classes.get(at as usize)?.branches.clone();
        let pieces = self.program.machine(self.stack).completion(&branches)?;
        self.spelled(&pieces)
    }

    /// As [`plan`](Self::plan), by the bounds of costs instead of the least ones.
    pub(in crate::guide::budget) fn bounded_plan(&mut self, at: u32) -> Option<Vec<u32>> {
        if self.program.costs_are_exact() {
            return None;
        }
        let branches = self.classes.get(at as usize)?.branches.clone();
        if self.program.bounds_have_texts() {
            let pieces = self.program.machine(self.stack).separated_completion(&branches)?;
            return self.spelled(&pieces);
        }
        let mut bounds = self.program.bounds()?;
        let pieces = self.program.machine(self.stack).completion_by(&branches, &mut bounds)?;
        self.spelled(&pieces)
    }

    fn spelled(&self, pieces: &[Piece]) -> Option<Vec<u32>> {
        spelled(&self.speller, &self.program.token_sets, pieces)
    }

    /// Whether a plan has at most `left` tokens and completes the output from a class, as a guide steps it.
    pub(super) fn is_kept(&mut self, at: u32, plan: Option<Vec<u32>>, left: u64) -> bool {
        let Some(plan) = plan.filter(|plan| plan.len() as u64 <= left) else { return false };
        if self.program.costs_are_exact() {
            return true;
        }
        let plan: Arc<[u32]> = plan.into();
        let mut path = vec![at];
        let mut now = at;
        for (read, &token) in plan.iter().enumerate() {
            if self.checks.complete.get(&now).is_some_and(|(known, behind)| known[*behind..] == plan[read..]) {
                break;
            }
            now = self.step_token(now, token);
            if now == DEAD_POSITION {
                return false;
            }
            path.push(now);
        }
        if path.len() > plan.len() {
            let branches = self.classes[now as usize].branches.clone();
            if !self.program.machine(self.stack).accepts(&branches) {
                return false;
            }
        }
        for (read, &class) in path.iter().enumerate() {
            self.checks.complete.insert(class, (plan.clone(), read));
        }
        true
    }

    /// The class behind a token, as a guide steps it: of the branches that can be completed.
    fn step_token(&mut self, at: u32, token: u32) -> u32 {
        let bytes = self.speller.vocabulary().spelling(token);
        let mut to = bytes.map_or(DEAD_POSITION, |bytes| bytes.iter().fold(at, |at, &byte| self.step(at, byte)));
        if !self.program.token_sets.is_empty() {
            let branches = self.classes[at as usize].branches.clone();
            let mut all = self.program.machine(self.stack).step_special(&branches, token);
            if !all.is_empty() {
                // It may be read as its text as well.
                all.extend(self.classes.get(to as usize).map(|class| class.branches.clone()).unwrap_or_default());
                to = self.class(all);
            }
        }
        if to == DEAD_POSITION {
            return DEAD_POSITION;
        }
        if let Some(&known) = self.checks.kept.get(&to) {
            return known;
        }
        let branches = self.classes[to as usize].branches.clone();
        let mut machine = self.program.machine(self.stack);
        let kept: Branches = branches.into_iter().filter(|branch| machine.completes(branch)).collect();
        let kept = self.class(kept);
        self.checks.kept.insert(to, kept);
        kept
    }
}
