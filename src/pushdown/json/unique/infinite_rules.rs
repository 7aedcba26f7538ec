//! Rules with infinitely many values, because a value may hold another of the same rule.
//!
//! An array that may have one element alone, of any value of a rule, has as many values as that rule, and each is
//! larger than what it holds; so has an object with a member of the rule. Where such steps lead from a rule back to
//! itself, each of its values makes a larger one, and so does whatever leads there. No rule is without a value, so
//! there is one to begin with.
//!
//! All rules are decided at once: those from which no step leads are taken away, with the steps to them, until none is
//! left. What stays leads to a cycle.

use crate::json::rules::RuleId;
use crate::pushdown::json::program::{ObjectProgram, Program};
use crate::util::bits::ones;

impl Program {
    /// For each rule, whether it has values without end for this reason. False for others that have.
    pub(crate) fn endless_rules(&self) -> Vec<bool> {
        let steps: Vec<Vec<RuleId>> = (0..self.rules.len()).map(|rule| self.steps_of(rule)).collect();
        let mut left: Vec<usize> = steps.iter().map(Vec::len).collect();
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
        for (from, steps) in (0..).zip(&steps) {
            steps.iter().for_each(|to| into[to.0 as usize].push(from));
        }
        let mut ended: Vec<u32> = (0..).zip(&left).filter(|(_, n)| **n == 0).map(|(rule, _)| rule).collect();
        while let Some(rule) = ended.pop() {
            for &from in &into[rule as usize] {
                left[from as usize] -= 1;
                if left[from as usize] == 0 {
                    ended.push(from);
                }
            }
        }
        left.into_iter().map(|n| n > 0).collect()
    }

    /// The rules any value of which makes a value of this one by being in it.
    fn steps_of(&self, rule: usize) -> Vec<RuleId> {
        let mut out = Vec::new();
        for &a in &self.rules[rule].arrays {
            let shape = &self.arrays[a as usize];
            if shape.contains.is_empty() && shape.min <= 1 && shape.max > 0 {
                out.extend(shape.ways(0).iter().map(|way| way.rule));
            }
        }
        for &o in &self.rules[rule].objects {
            let p = &self.objects[o as usize];
            out.extend(ones(&p.possible).filter(|&i| p.may_be_alone(i)).filter_map(|i| p.rules[i]));
        }
        out
    }
}

impl ObjectProgram {
    /// Whether some object has the property and nothing else but what every object needs.
    fn may_be_alone(&self, property: usize) -> bool {
        let is_needed = self.required[property / 64] >> (property % 64) & 1 == 1;
        let members = self.num_required() + u64::from(!is_needed);
        self.dependent_required.is_none() && self.witnesses == 0 && (self.min..=self.max).contains(&members)
    }
}

#[cfg(test)]
mod tests;
