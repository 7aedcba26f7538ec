//! Minimal costs: estimates, in bytes, of what completing the rules of a program takes.
//!
//! The minimal cost of a rule is a least fixpoint over the rules (Knuth 1977, a generalisation of Dijkstra's
//! algorithm). It is an estimate where rules are guarded by each other: whoever writes a document by it steps each
//! byte.

use std::sync::OnceLock;

use crate::lexeme::Lexeme;
use crate::lexeme::max_distance::farthest;
use crate::lexeme::shortest_end::shortest_end;
use crate::pushdown::json::program::{ObjectProgram, Program};

/// Rounds of the fixpoint: rules that nest deeper are left without an estimate and come last.
const MAX_ROUNDS: usize = 64;

/// Estimates for one program.
pub struct MinCosts {
    /// Bytes of a short member of each rule; `u64::MAX` where none is known.
    pub(crate) rules: Vec<u64>,
    /// Bytes of a short member of each lexeme.
    pub(crate) lexemes: Vec<u64>,
    step: OnceLock<Option<u64>>,
}

impl MinCosts {
    /// The estimates of a program. Costs a search for each lexeme and some rounds over the rules.
    pub fn of(program: &Program) -> MinCosts {
        let member = |l: &Lexeme| shortest_end(l, l.start(), 0).map_or(u64::MAX, |b| b.len() as u64);
        let lexemes: Vec<u64> = program.lexemes.iter().map(|l| member(l)).collect();
        let rules = vec![u64::MAX; program.rules.len()];
        let mut costs = MinCosts { rules, lexemes, step: OnceLock::new() };
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
        costs
    }

    /// The estimates of a pattern: there are none.
    pub fn of_pattern() -> MinCosts {
        MinCosts { rules: Vec::new(), lexemes: Vec::new(), step: OnceLock::new() }
    }

    /// By how many bytes one bracket, comma, colon or byte inside a scalar can lengthen the way to the end, at most;
    /// `None` where that is not known. Found once.
    pub fn step(&self, find: impl FnOnce(&MinCosts) -> Option<u64>) -> Option<u64> {
        *self.step.get_or_init(|| find(self))
    }

    /// [`step`](Self::step) of a program. What opens costs what its shape needs; a key or a bracket may leave, of the
    /// shapes of a frame, only the most costly one. Not known where shapes need more than their required keys and
    /// fewest elements: there a value may be needed more than once, or another one than before.
    pub fn largest_step(&self, program: &Program) -> Option<u64> {
        let plain_object = |o: &ObjectProgram| o.implied.is_none() && o.witnesses == 0 && o.union.is_none();
        let plain = !program.has_unique
            && program.arrays.iter().all(|a| a.contains.is_empty())
            && program.objects.iter().all(plain_object);
        if !plain {
            return None;
        }
        let mut most = self.rules.iter().copied().max().unwrap_or(0);
        for shape in 0..program.arrays.len() as u32 {
            most = most.max(self.array(program, shape));
        }
        for (shape, o) in (0..).zip(&program.objects) {
            most = most.max(self.object(program, shape));
            let name = o.spelled.iter().map(|n| serde_json::Value::from(&**n).to_string().len() as u64).max();
            most = most.max(name.unwrap_or(0));
            for keys in o.others.iter().filter_map(|c| c.keys.as_ref()) {
                most = most.max(farthest(keys)?.saturating_mul(6));
            }
        }
        for l in &program.lexemes {
            most = most.max(farthest(l)?);
        }
        // Where several shapes are open at once, keys of more than one may be written; and there is punctuation.
        (most < u64::MAX).then(|| most.saturating_mul(2).saturating_add(16))
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
