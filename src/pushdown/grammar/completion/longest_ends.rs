//! How much it takes at most to complete an output whose terminals take longest matches, whatever was read before.
//!
//! Where every terminal lets all follow that the grammar puts behind it, at once or behind an ignored one, any row of
//! terminals can be read (`succession.rs` finds that out). Each of them can be ended, from whatever state, so that what must
//! not follow does not matter to the next one; how many bytes that takes at most is found once for each terminal.

use std::collections::VecDeque;

use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::completion::symbol_costs::{NO_COST, SymbolCosts};
use crate::pushdown::grammar::productions::{Productions, Symbol};
use crate::pushdown::grammar::scanner::Scanner;
use crate::util::hash::SeededMap;

/// States of automata that are looked at for one terminal.
const MOST: usize = 20_000;

/// Bounds of what completes an output.
pub struct LargestCosts {
    /// The costs of symbols, each of its terminals begun by the byte that suits what came before.
    pub symbols: SymbolCosts,
    /// What ends a terminal, from any of its states, with an ignored one behind it.
    ends: Box<[u64]>,
}

impl LargestCosts {
    /// The bounds of a grammar in which anything may follow that its rules put next. `going_on` are sets of bytes that
    /// must not come behind a terminal; from wherever it has come it can be ended so that each of them holds.
    pub fn of<'s>(
        productions: &Productions,
        scanner: &Scanner,
        going_on: impl Fn(u32) -> &'s [[u64; 4]],
        token_sets: &[Box<[u32]>],
        ignored: &[u32],
    ) -> LargestCosts {
        let ends: Vec<u64> = (0..productions.terminals).map(|t| farthest_end(scanner, going_on(t), t)).collect();
        let between = ignored.iter().map(|&t| ends[t as usize].saturating_add(1)).max().unwrap_or(0);
        let ends: Box<[u64]> = ends.into_iter().map(|end| end.saturating_add(between)).collect();
        let leaf = |symbol: Symbol| {
            if productions.nullable[symbol as usize] {
                return 0;
            }
            match productions.token_set(symbol) {
                Some(set) if token_sets[set].is_empty() => NO_COST,
                Some(_) => 1,
                None => ends.get(symbol as usize).map_or(NO_COST, |end| end.saturating_add(1)),
            }
        };
        LargestCosts { symbols: SymbolCosts::of(productions, leaf), ends }
    }

    /// What ends a terminal, from any of its states.
    pub fn end(&self, terminal: u32) -> u64 {
        self.ends[terminal as usize]
    }
}

/// So many bytes lead from any state of a terminal to an end that lets follow what may.
fn farthest_end(scanner: &Scanner, going_on: &[[u64; 4]], terminal: u32) -> u64 {
    let Some(lexeme) = scanner.lexeme(terminal) else { return NO_COST };
    let mut numbers: SeededMap<StateId, u32> = SeededMap::from_iter([(lexeme.start(), 0)]);
    let mut seen: Vec<StateId> = vec![lexeme.start()];
    let mut from: Vec<Vec<u32>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(&state) = seen.get(at) {
        let number = at as u32;
        at += 1;
        for (lo, _) in lexeme.byte_runs() {
            let to = lexeme.next(state, lo);
            if to <= CLOSED {
                continue;
            }
            let next = *numbers.entry(to).or_insert_with(|| {
                seen.push(to);
                from.push(Vec::new());
                seen.len() as u32 - 1
            });
            if seen.len() > MOST {
                return NO_COST;
            }
            if from[next as usize].last() != Some(&number) {
                from[next as usize].push(number);
            }
        }
    }
    let accepting = |&(_, state): &(u32, StateId)| lexeme.state(state).accepting;
    let ends: Vec<(u32, StateId)> = (0..).zip(seen.iter().copied()).skip(1).filter(accepting).collect();
    let matters: Vec<[u64; 4]> = ends.iter().map(|&(_, s)| bits(&scanner.bytes_that_matter((terminal, s)))).collect();
    let mut most = 0;
    for set in going_on {
        let within = |bytes: &[u64; 4]| bytes.iter().zip(set).all(|(byte, set)| byte & !set == 0);
        let mut distance = vec![NO_COST; seen.len()];
        let mut todo: VecDeque<u32> = VecDeque::new();
        for ((number, _), _) in ends.iter().zip(&matters).filter(|(_, bytes)| within(bytes)) {
            distance[*number as usize] = 0;
            todo.push_back(*number);
        }
        while let Some(number) = todo.pop_front() {
            for &before in &from[number as usize] {
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

fn bits(set: &[bool; 256]) -> [u64; 4] {
    let mut out = [0; 4];
    (0..256).filter(|&byte| set[byte]).for_each(|byte| out[byte / 64] |= 1 << (byte % 64));
    out
}
