//! Minimal costs: estimates, in bytes, of what completing the rules of a program takes.
//!
//! The minimal cost of a rule is a least fixpoint over the rules (Knuth 1977, a generalisation of Dijkstra's
//! algorithm). It is an estimate where rules are guarded by each other: whoever writes a document by it steps each
//! byte.

use std::sync::OnceLock;

use crate::lexeme::Lexeme;
use crate::lexeme::shortest_end::short_end;
use crate::pushdown::completion::distinct_elements::DistinctElements;
use crate::pushdown::completion::name_sums::NameSums;
use crate::pushdown::json::frame::Frame;
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::{ObjectProgram, Program};

/// Rounds of the fixpoint: rules that nest deeper are left without an estimate and come last.
const MAX_ROUNDS: usize = 64;
/// Once the distinct elements of array shapes take so many bytes, no more shapes have such.
const MOST_DISTINCT_BYTES: usize = 1 << 19;

/// Estimates for one program.
pub struct MinCosts {
    /// Bytes of a short member of each rule; `u64::MAX` where none is known.
    pub(crate) rules: Vec<u64>,
    /// Bytes of a short member of each lexeme.
    pub(crate) lexemes: Vec<u64>,
    /// What names cost with their values, by object shape.
    pub(super) names: Vec<NameSums>,
    /// The names of each object shape, cheapest values first, as far as they were asked for.
    cheapest_first: Vec<OnceLock<Box<[u32]>>>,
    /// Of how many names a shape has the most.
    most_names: usize,
    /// By array shape, elements that are all different, where elements must be. Made for the first budget.
    distinct: OnceLock<Vec<Option<DistinctElements>>>,
}

impl MinCosts {
    /// The estimates of a program. Costs a search for each lexeme and some rounds over the rules.
    pub fn compute(program: &Program) -> MinCosts {
        let member = |l: &Lexeme| short_end(l, l.start(), 0).map_or(u64::MAX, |b| b.len() as u64);
        let lexemes: Vec<u64> = program.lexemes.iter().map(|l| member(l)).collect();
        let rules = vec![u64::MAX; program.rules.len()];
        let cheapest_first = program.objects.iter().map(|_| OnceLock::new()).collect();
        let most_names = program.objects.iter().map(|o| o.spelled.len()).max().unwrap_or(0);
        let mut costs =
            MinCosts { rules, lexemes, names: Vec::new(), cheapest_first, most_names, distinct: OnceLock::new() };
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for r in (0..program.rules.len()).rev() {
                let now = costs.estimate(program, r);
                changed |= now < costs.rules[r];
                costs.rules[r] = costs.rules[r].min(now);
            }
            if !changed {
                break;
            }
        }
        costs.names = program
            .objects
            .iter()
            .map(|o| NameSums::new((0..o.spelled.len()).map(|i| costs.member(o, i)), &o.required))
            .collect();
        costs
    }

    /// About how many bytes a member with a name takes.
    pub(super) fn member(&self, o: &ObjectProgram, name: usize) -> u64 {
        let value = o.rules_of(name).map(|r| self.rules[r.0 as usize]).min().unwrap_or(u64::MAX);
        value.saturating_add(o.spelled[name].len() as u64 + 4)
    }

    /// The names that a shape has rules for, those of the cheapest values first, and in order of their texts.
    ///
    /// # Cost
    /// They are put in order once.
    pub(super) fn cheapest_first(&self, program: &Program, shape: u32) -> &[u32] {
        self.cheapest_first[shape as usize].get_or_init(|| {
            let o = &program.objects[shape as usize];
            let cost = |n: u32| o.rules[n as usize].map(|r| self.rules[r.0 as usize]);
            let mut names: Vec<u32> = (0..o.spelled.len() as u32).filter(|&n| cost(n).is_some()).collect();
            names.sort_by_key(|&n| (cost(n), o.name(n)));
            names.into()
        })
    }

    /// Short elements of which no two are equal, as many as an array of the shape needs; `None` where elements need not
    /// differ, or none were made.
    ///
    /// # Cost
    /// Those of all shapes are made once.
    pub(crate) fn distinct_elements(&self, program: &Program, shape: usize) -> Option<&DistinctElements> {
        let of_all = || {
            let mut bytes = 0;
            let of_shape = |shape| {
                let made = DistinctElements::of_shape(program, self, shape).filter(|_| bytes <= MOST_DISTINCT_BYTES);
                bytes += made.as_ref().map_or(0, DistinctElements::memory_bytes);
                made
            };
            program.arrays.iter().map(of_shape).collect()
        };
        self.distinct.get_or_init(of_all).get(shape)?.as_ref()
    }

    /// Bytes held beside some numbers for each rule.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.distinct.get().iter().flat_map(|all| all.iter().flatten()).map(DistinctElements::memory_bytes).sum()
    }

    /// The [`distinct_elements`](Self::distinct_elements) of an array that needs more elements, all of them different.
    pub(crate) fn missing_elements(&self, frames: &JsonMachine, array: &Frame) -> Option<&DistinctElements> {
        if !frames.program.has_unique || array.len != 1 {
            return None;
        }
        let shape = frames.arena.arrays[array.start as usize].shape as usize;
        let needs_more = u64::from(array.count) < frames.program.arrays[shape].min;
        self.distinct_elements(frames.program, shape).filter(|_| needs_more)
    }

    /// Whether an object may have more names than this.
    pub(super) fn has_more_names(&self, than: u64) -> bool {
        self.most_names as u64 > than
    }

    /// How many names the object shape of the most names has.
    pub fn most_names(&self) -> usize {
        self.most_names
    }

    fn estimate(&self, program: &Program, rule: usize) -> u64 {
        let r = &program.rules[rule];
        let scalars = r.lexemes.iter().map(|&l| self.lexemes[l as usize]);
        let arrays = r.arrays.iter().map(|&a| self.array(program, a));
        let objects = r.objects.iter().map(|&o| self.object(program, o));
        scalars.chain(arrays).chain(objects).min().unwrap_or(u64::MAX)
    }

    /// An array of a shape, from its bracket on.
    pub(crate) fn array(&self, program: &Program, shape: u32) -> u64 {
        self.array_after(program, shape, 0, &[]).saturating_add(1)
    }

    /// An object of a shape, from its brace on.
    pub(crate) fn object(&self, program: &Program, shape: u32) -> u64 {
        let o = &program.objects[shape as usize];
        let after = |required: &[u64]| self.object_after(program, shape, (&[], required), 0, 0).saturating_add(1);
        match &o.union {
            Some(union) => (0..union.len).map(|i| after(union.required(i))).min().unwrap_or(u64::MAX),
            None => after(&o.required),
        }
    }
}
