//! Rewrites right recursion: rules that go on with themselves, or with each other, at their end.
//!
//! `list: item "," list | item` makes a stack as deep as the list is long, and what may follow an item is at the bottom
//! of it. Each mask would read the whole stack, and each end of a text would take it down. So the texts that lead from
//! one rule of such a *cycle* to another are read from the left, in constant space.
//!
//! The rules of a cycle are the states of an automaton whose edges are what stands before the last part. For a rule `A`
//! from which texts begin and each rule `B` of its cycle, a new nonterminal `P` derives the edges of all ways from `A`
//! to `B`:
//!
//! * `P` of `B` becomes `x` for each alternative `x B` of `A`, and `Q x` for each alternative `x B` of `C`. `Q` is the
//!   nonterminal of `C`.
//! * `A` becomes an end of its own, and for each `B` its `P` with an end of `B`. The *ends* of a rule are its
//!   alternatives that go on with no rule of the cycle.
//!
//! This is the construction of a left-linear grammar from an automaton (Hopcroft and Ullman, *Introduction to Automata
//! Theory, Languages, and Computation*, 1979, section 9.1), with texts of other rules instead of letters.

use std::mem::take;

use rustc_hash::FxHashSet;

use crate::pushdown::grammar::bnf_rules::{NO_CAPTURE, Symbol};

/// The alternatives of a nonterminal.
type Alternatives = Vec<Box<[Symbol]>>;

/// Rewrites every cycle of right recursion that can be. `start` is what texts begin from. Rules with captures are left
/// alone: their texts must stay the texts of one nonterminal.
pub fn remove(of: &mut Vec<Alternatives>, first_rule: u32, start: Symbol, captures: &[u32]) {
    let (cycles, number) = cycles(of, first_rule);
    let mut is_entry = vec![false; of.len()];
    is_entry[(start - first_rule) as usize] = true;
    for (rule, alternatives) in of.iter().enumerate() {
        for parts in alternatives {
            for (at, &part) in parts.iter().enumerate().filter(|(_, part)| **part >= first_rule) {
                let named = (part - first_rule) as usize;
                is_entry[named] |= at + 1 < parts.len() || number[named] != number[rule];
            }
        }
    }
    let is_captured = |rule: &usize| captures.get(*rule).is_some_and(|&name| name != NO_CAPTURE);
    for members in &cycles {
        let entries: Vec<usize> = (0..members.len()).filter(|&at| is_entry[members[at]]).collect();
        let is_done = !members.iter().any(is_captured) && Cycle { members, first_rule }.rewrite(of, &entries);
        if !is_done && members.len() > 1 {
            for rule in members.iter().filter(|rule| !is_captured(rule)) {
                Cycle { members: std::slice::from_ref(rule), first_rule }.rewrite(of, &[0]);
            }
        }
    }
}

/// The rules that lead to each other by last parts of alternatives, each cycle in order, and the number of each rule's
/// cycle. A rule that leads to no such rule, or only to itself, is a cycle of one. Tarjan's algorithm (1972).
fn cycles(of: &[Alternatives], first_rule: u32) -> (Vec<Vec<usize>>, Vec<usize>) {
    const OPEN: usize = usize::MAX;
    let tails: Vec<Vec<usize>> = of
        .iter()
        .map(|all| all.iter().filter_map(|parts| Some(parts.last()?.checked_sub(first_rule)? as usize)).collect())
        .collect();
    let (mut cycles, mut number) = (Vec::new(), vec![OPEN; of.len()]);
    // The order in which rules are met, from one, and the earliest that is reached from each.
    let (mut met, mut low, mut count) = (vec![0; of.len()], vec![0; of.len()], 0);
    let (mut path, mut open): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    for root in 0..of.len() {
        if met[root] == 0 {
            path.push((root, 0));
        }
        while let Some((rule, at)) = path.last_mut() {
            let rule = *rule;
            if *at == 0 && met[rule] == 0 {
                count += 1;
                (met[rule], low[rule]) = (count, count);
                open.push(rule);
            }
            if let Some(&next) = tails[rule].get(*at) {
                *at += 1;
                if met[next] == 0 {
                    path.push((next, 0));
                } else if number[next] == OPEN {
                    low[rule] = low[rule].min(met[next]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                low[before] = low[before].min(low[rule]);
            }
            if low[rule] == met[rule] {
                let first = open.iter().rposition(|&other| other == rule).unwrap_or(0);
                let mut members = open.split_off(first);
                members.sort_unstable();
                members.iter().for_each(|&member| number[member] = cycles.len());
                cycles.push(members);
            }
        }
    }
    (cycles, number)
}

/// Rules that lead to each other by their last parts.
struct Cycle<'c> {
    members: &'c [usize],
    first_rule: u32,
}

/// What the rules of a cycle say, by member.
struct Edges {
    /// Alternatives that go on with a member, without it, and which it is.
    tails: Vec<Vec<(Box<[Symbol]>, usize)>>,
    /// All others.
    ends: Vec<Alternatives>,
}

impl Cycle<'_> {
    fn member(&self, part: Symbol) -> Option<usize> {
        self.members.binary_search(&(part.checked_sub(self.first_rule)? as usize)).ok()
    }

    fn alternatives<'a>(&self, of: &'a [Alternatives]) -> impl Iterator<Item = &'a Box<[Symbol]>> {
        self.members.iter().flat_map(|&rule| &of[rule])
    }

    /// So many alternatives may take the place of the cycle's: more would cost more than deep stacks do.
    fn most(&self, of: &[Alternatives]) -> usize {
        64 + 4 * self.alternatives(of).count()
    }

    /// Rewrites the rules of the cycle, into which texts lead by `entries`. False if it must not be done: nothing has
    /// changed then.
    fn rewrite(&self, of: &mut Vec<Alternatives>, entries: &[usize]) -> bool {
        let goes_on =
            |parts: &[Symbol]| parts.len() > 1 && parts.last().is_some_and(|&last| self.member(last).is_some());
        if !self.alternatives(of).any(|parts| goes_on(parts)) {
            return true;
        }
        let Some(edges) = (!self.must_guess(of)).then(|| self.edges(of)).flatten() else { return false };
        let ways: Vec<Vec<bool>> = entries.iter().map(|&entry| edges.reached_from(entry)).collect();
        let size = |way: &Vec<bool>| -> usize {
            (0..way.len()).filter(|&at| way[at]).map(|at| 1 + edges.tails[at].len()).sum()
        };
        if ways.iter().map(size).sum::<usize>() > self.most(of) {
            return false;
        }
        self.members.iter().for_each(|&rule| of[rule].clear());
        let mut fresh = |alternatives: Alternatives| {
            of.push(alternatives);
            self.first_rule + of.len() as u32 - 1
        };
        let ends: Vec<Symbol> = edges.ends.iter().map(|ends| fresh(ends.clone())).collect();
        let mut rewritten = Vec::new();
        for (&entry, way) in entries.iter().zip(&ways) {
            let reached = || (0..way.len()).filter(|&at| way[at]);
            let mut led: Vec<Symbol> = vec![0; way.len()];
            reached().for_each(|at| led[at] = fresh(Vec::new()));
            let mut whole: Alternatives = vec![[ends[entry]].into()];
            whole.extend(reached().map(|at| [led[at], ends[at]].into()));
            rewritten.push((self.members[entry], whole));
            let mut to: Vec<Alternatives> = vec![Vec::new(); way.len()];
            edges.tails[entry].iter().for_each(|(edge, next)| to[*next].push(edge.clone()));
            for at in reached() {
                edges.tails[at].iter().for_each(|(edge, next)| to[*next].push([&[led[at]], &edge[..]].concat().into()));
            }
            rewritten.extend(reached().map(|at| ((led[at] - self.first_rule) as usize, take(&mut to[at]))));
        }
        rewritten.into_iter().for_each(|(rule, alternatives)| of[rule] = alternatives);
        true
    }

    /// Whether a parser would have to guess which of two rules of the cycle goes on: one at the end of an alternative,
    /// or one inside of it. It need not where what stands before tells them apart, as an opening bracket does.
    fn must_guess(&self, of: &[Alternatives]) -> bool {
        let mut before_tails = FxHashSet::default();
        for parts in self.alternatives(of) {
            if let [.., before, last] = parts[..]
                && self.member(last).is_some()
            {
                before_tails.insert(before);
            }
        }
        self.alternatives(of).any(|parts| {
            (0..parts.len().saturating_sub(1)).filter(|&at| self.member(parts[at]).is_some()).any(|at| {
                at.checked_sub(1).is_none_or(|at| parts[at] >= self.first_rule || before_tails.contains(&parts[at]))
            })
        })
    }

    /// What the members say, where each says as well what those do that it may be.
    fn edges(&self, of: &[Alternatives]) -> Option<Edges> {
        let count = self.members.len();
        let mut edges = Edges { tails: vec![Vec::new(); count], ends: vec![Vec::new(); count] };
        let mut left = self.most(of);
        for at in 0..count {
            let (mut open, mut seen) = (vec![at], vec![false; count]);
            let mut known = FxHashSet::default();
            seen[at] = true;
            while let Some(other) = open.pop() {
                for parts in &of[self.members[other]] {
                    left = left.checked_sub(1)?;
                    let next = parts.last().and_then(|&last| self.member(last));
                    match next {
                        Some(next) if parts.len() == 1 => {
                            if !std::mem::replace(&mut seen[next], true) {
                                open.push(next);
                            }
                        }
                        _ if !known.insert(parts) => {}
                        Some(next) => edges.tails[at].push((parts[..parts.len() - 1].into(), next)),
                        None => edges.ends[at].push(parts.clone()),
                    }
                }
            }
        }
        Some(edges)
    }
}

impl Edges {
    /// Which members the edges lead to from one, in one step or more.
    fn reached_from(&self, entry: usize) -> Vec<bool> {
        let (mut reached, mut open) = (vec![false; self.tails.len()], vec![entry]);
        while let Some(at) = open.pop() {
            for &(_, next) in &self.tails[at] {
                if !std::mem::replace(&mut reached[next], true) {
                    open.push(next);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests;
