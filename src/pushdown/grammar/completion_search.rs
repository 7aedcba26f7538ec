//! Searches for a completion where longest matches may forbid what follows.
//!
//! A terminal that took its longest match may not be followed by what would make it longer. In some grammars everything
//! that may follow does so: `"<" /.+/ ">"` can never come to its end. Whether a branch can be completed is then found
//! by trying.

use crate::pushdown::grammar::machine::Branches;
use crate::pushdown::grammar::parse_stack::Branch;
use crate::pushdown::grammar::program::GrammarMachine;
use crate::util::hash::SeededSet;

/// Branches that are tried.
const MOST: usize = 4_000;
/// A branch that so many terminals can follow is taken for one that can be completed: obligations reach over one or two.
const FAR: u32 = 6;

impl GrammarMachine<'_> {
    /// Whether the output can be completed from a branch.
    pub(super) fn search_completion(&mut self, branch: &Branch) -> bool {
        let mark = self.stack.mark();
        let answer = self.search(branch);
        self.stack.truncate(&mark);
        answer
    }

    fn search(&mut self, branch: &Branch) -> bool {
        // Depth first, those with the most terminals behind them on top; a state of the scanner on the same tops is not
        // tried twice.
        let mut todo: Vec<(Branch, u32)> = vec![(*branch, 0)];
        let mut seen = SeededSet::default();
        let mut tried = 0;
        while let Some((at, terminals)) = todo.pop() {
            // Documents can always be completed, and no promise reaches beyond one.
            if terminals >= FAR || at.is_in_document() || self.accepts(&[at]) {
                return true;
            }
            tried += 1;
            if tried > MOST {
                return false;
            }
            let firsts = self.program.scanner.bytes_of_classes();
            let mut ended: Vec<(Branch, u32)> = Vec::new();
            for &byte in firsts {
                let next: Branches = self.step(&[at], byte);
                for to in next {
                    let apart = self.stack.tops(to.tops) != self.stack.tops(at.tops);
                    let states: Vec<u32> = self.stack.tops(to.tops).iter().map(|&n| self.stack.state(n)).collect();
                    if seen.insert((states, self.line_of(&to), to.scan, terminals + u32::from(apart))) {
                        match apart {
                            true => ended.push((to, terminals + 1)),
                            false => todo.push((to, terminals)),
                        }
                    }
                }
            }
            // A special token may come as well, whatever must not follow as text.
            for set in &self.program.token_sets {
                let Some(&token) = set.first() else { continue };
                for to in self.step_special(&[at], token) {
                    let states: Vec<u32> = self.stack.tops(to.tops).iter().map(|&n| self.stack.state(n)).collect();
                    if seen.insert((states, self.line_of(&to), to.scan, terminals + 1)) {
                        ended.push((to, terminals + 1));
                    }
                }
            }
            todo.extend(ended);
        }
        false
    }
}
