//! What each symbol of a grammar costs at least: a least fixpoint over the rules (Knuth 1977, a generalisation of
//! Dijkstra's algorithm). What must not follow a longest match is left aside.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};

/// No text is known.
pub const NO_COST: u64 = u64::MAX;

/// The least cost of each symbol, and the alternative that has it.
pub struct SymbolCosts {
    costs: Box<[u64]>,
    /// By nonterminal, less the first one.
    best: Box<[u32]>,
}

impl SymbolCosts {
    /// The costs of all symbols, where `leaf` is that of a terminal, a set of special tokens or a document.
    pub fn compute(productions: &Productions, leaf: impl Fn(Symbol) -> u64) -> SymbolCosts {
        let first = productions.first_rule;
        let mut costs = vec![NO_COST; productions.symbols()];
        let mut best = vec![u32::MAX; productions.symbols() - first as usize];
        // Which alternatives wait for a symbol, for how many they wait, and what those that came cost.
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); productions.symbols()];
        let mut missing: Vec<usize> = Vec::with_capacity(productions.all.len());
        let mut sums = vec![0u64; productions.all.len()];
        let mut todo = BinaryHeap::new();
        for (number, production) in (0u32..).zip(&productions.all) {
            missing.push(production.parts.len());
            production.parts.iter().for_each(|&part| waiting[part as usize].push(number));
            if production.parts.is_empty() {
                todo.push(Reverse((0u64, production.of, number)));
            }
        }
        todo.extend((0..first).map(|s| Reverse((leaf(s), s, u32::MAX))).filter(|one| one.0.0 != NO_COST));
        while let Some(Reverse((cost, symbol, by))) = todo.pop() {
            if costs[symbol as usize] != NO_COST {
                continue;
            }
            costs[symbol as usize] = cost;
            if symbol >= first {
                best[(symbol - first) as usize] = by;
            }
            for number in std::mem::take(&mut waiting[symbol as usize]) {
                let at = number as usize;
                missing[at] -= 1;
                sums[at] = sums[at].saturating_add(cost);
                if missing[at] == 0 && sums[at] != NO_COST {
                    todo.push(Reverse((sums[at], productions.all[at].of, number)));
                }
            }
        }
        SymbolCosts { costs: costs.into(), best: best.into() }
    }

    /// The cost of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> u64 {
        self.costs[symbol as usize]
    }

    /// The cost of symbols one after the other.
    pub fn row(&self, symbols: &[Symbol]) -> u64 {
        symbols.iter().fold(0u64, |sum, &symbol| sum.saturating_add(self.symbol(symbol)))
    }

    /// Appends the terminals, special tokens and documents that make the cost of symbols. False if there are more than
    /// `most`, or none.
    pub fn leaves(&self, productions: &Productions, symbols: &[Symbol], most: usize, out: &mut Vec<Symbol>) -> bool {
        let mut todo: Vec<Symbol> = symbols.iter().rev().copied().collect();
        while let Some(symbol) = todo.pop() {
            if self.symbol(symbol) == NO_COST || out.len() >= most || todo.len() > most {
                return false;
            }
            if !productions.is_rule(symbol) {
                // What an indenter makes costs nothing, and is said all the same.
                if !productions.nullable[symbol as usize] {
                    out.push(symbol);
                }
                continue;
            }
            let production = self.best[(symbol - productions.first_rule) as usize];
            todo.extend(productions.all[production as usize].parts.iter().rev());
        }
        true
    }
}
