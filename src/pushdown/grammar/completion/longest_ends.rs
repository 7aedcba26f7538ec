//! How much it takes at most to complete an output whose terminals take longest matches, whatever was read before.
//!
//! They are the lengths of texts with separators between them
//! ([`separated_texts`](crate::pushdown::grammar::completion::separated_texts)), or there is no need for such: where
//! every terminal lets all follow that the grammar puts behind it, at once or behind an ignored one, any row of
//! terminals can be read (`succession.rs` finds that out). Each of them can be ended, from whatever state, so that what
//! must not follow does not matter to the next one; how many bytes that takes at most is found once for each terminal.

use std::collections::VecDeque;

use crate::expr::byte_bits::{ByteBits, bits};
use crate::lexeme::StateId;
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::completion::separated_texts::SeparatedTexts;
use crate::pushdown::grammar::completion::symbol_costs::{NO_COST, SymbolCosts};
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::longest_match_bytes::{is_within, states_of};
use crate::pushdown::grammar::scanner::Scanner;

/// Bounds of what completes an output.
pub struct LargestCosts {
    /// The costs of symbols, each of its terminals begun by the byte that suits what came before.
    pub symbols: SymbolCosts,
    ends: Ends,
}

/// What ends a terminal.
enum Ends {
    /// From any of its states, with an ignored one behind it.
    OfTerminals(Box<[u64]>),
    /// As the state of the scanner says.
    Separated(SeparatedTexts),
}

impl LargestCosts {
    /// The bounds of a grammar in which anything may follow that its rules put next. `going_on` are sets of bytes that
    /// must not come behind a terminal; from wherever it has come it can be ended so that each of them holds.
    pub fn compute<'s>(
        productions: &Productions,
        scanner: &Scanner,
        going_on: impl Fn(u32) -> &'s [ByteBits],
        token_sets: &[Box<[u32]>],
        ignored: &[u32],
    ) -> LargestCosts {
        let ends: Vec<u64> = (0..productions.terminals).map(|t| farthest_end(scanner, going_on(t), t)).collect();
        let between = ignored.iter().map(|&t| ends[t as usize].saturating_add(1)).max().unwrap_or(0);
        let ends: Box<[u64]> = ends.into_iter().map(|end| end.saturating_add(between)).collect();
        let terminal = |symbol: Symbol| ends.get(symbol as usize).map_or(NO_COST, |end| end.saturating_add(1));
        let symbols = symbol_costs(productions, token_sets, terminal);
        LargestCosts { symbols, ends: Ends::OfTerminals(ends) }
    }

    /// The bounds of a grammar whose terminals are written with separators between them.
    pub fn separated(
        productions: &Productions,
        scanner: &Scanner,
        follow: &Follow,
        token_sets: &[Box<[u32]>],
        ignored: &[u32],
    ) -> LargestCosts {
        let texts = SeparatedTexts::find(scanner, follow, ignored);
        let terminal = |symbol: Symbol| match symbol < productions.terminals {
            true => texts.text(symbol).map_or(NO_COST, |text| text.len() as u64),
            false => NO_COST,
        };
        let symbols = symbol_costs(productions, token_sets, terminal);
        LargestCosts { symbols, ends: Ends::Separated(texts) }
    }

    /// What ends a terminal at most, from any state behind its first byte; `None` where that depends on the state.
    pub fn end(&self, terminal: u32) -> Option<u64> {
        match &self.ends {
            Ends::OfTerminals(ends) => Some(ends[terminal as usize]),
            Ends::Separated(_) => None,
        }
    }

    /// The texts that bounds are made of, where they are.
    pub fn texts(&self) -> Option<&SeparatedTexts> {
        match &self.ends {
            Ends::Separated(texts) => Some(texts),
            Ends::OfTerminals(_) => None,
        }
    }
}

/// The costs of symbols, by those of terminals.
fn symbol_costs(productions: &Productions, token_sets: &[Box<[u32]>], terminal: impl Fn(Symbol) -> u64) -> SymbolCosts {
    SymbolCosts::compute(productions, |symbol: Symbol| {
        if productions.nullable[symbol as usize] {
            return 0;
        }
        match productions.token_set(symbol) {
            Some(set) if token_sets[set].is_empty() => NO_COST,
            Some(_) => 1,
            None => terminal(symbol),
        }
    })
}

/// So many bytes lead from any state of a terminal to an end that lets follow what may.
fn farthest_end(scanner: &Scanner, going_on: &[ByteBits], terminal: u32) -> u64 {
    let Some(lexeme) = scanner.lexeme(terminal) else { return NO_COST };
    let Some(states) = states_of(scanner, terminal) else { return NO_COST };
    let accepting = |&(_, state): &(u32, StateId)| lexeme.state(state).accepting;
    let ends: Vec<(u32, StateId)> = (0..).zip(states.all.iter().copied()).skip(1).filter(accepting).collect();
    let matters: Vec<ByteBits> = ends.iter().map(|&(_, s)| bits(&scanner.bytes_that_matter((terminal, s)))).collect();
    let mut most = 0;
    for set in going_on {
        let mut distance = vec![NO_COST; states.all.len()];
        let mut todo: VecDeque<u32> = VecDeque::new();
        for ((number, _), _) in ends.iter().zip(&matters).filter(|(_, bytes)| is_within(bytes, set)) {
            distance[*number as usize] = 0;
            todo.push_back(*number);
        }
        while let Some(number) = todo.pop_front() {
            for &before in &states.from[number as usize] {
                if distance[before as usize] == NO_COST {
                    distance[before as usize] = distance[number as usize] + 1;
                    todo.push_back(before);
                }
            }
        }
        // Nothing is left to read at the start only if nothing was begun.
        most = most.max(distance.iter().skip(1).copied().max().unwrap_or(NO_COST));
    }
    most
}
