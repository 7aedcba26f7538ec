//! Which terminals may begin at one place of a text, where terminals compete for it.
//!
//! Behind a `name` comes `"}"` in one part of a grammar and `"]"` in another. Told by the terminal before alone, both
//! may come at one place. So terminals are told apart by where they stand in the rules: a *position* is a terminal's
//! place in an alternative (McNaughton and Yamada 1960; Glushkov 1961). Positions that some text may leave open between
//! are one class. They are found as classes of states of an automaton are: what may come behind one class and spells
//! the same terminal is one class again. What may come behind a rule is all that may anywhere (its FOLLOW set), so
//! classes are never too small.

use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::follow::number_sets::NumberSets;
use crate::util::bits::ones;

/// Positions beyond which they are not told apart.
const MOST_POSITIONS: usize = 6_000;
/// Words of bits that sets of positions may take, one set for each symbol: 16 MB.
const MOST_WORDS: usize = 1 << 21;

/// The positions of a grammar, and which may come behind which.
struct Graph {
    /// The terminal of each position; the last position is the beginning of the text, which has none.
    symbols: Vec<Symbol>,
    /// For each position those that may come behind it.
    next: NumberSets,
}

impl Graph {
    /// `None` where positions or symbols are too many. `nullable` symbols may have no text; `silent` ones never do.
    fn build(productions: &Productions, nullable: &[bool], silent: &[Symbol]) -> Option<Graph> {
        let is_position = |s: Symbol| s < productions.first_rule && !silent.contains(&s);
        let mut symbols = Vec::new();
        // For each alternative the positions of its parts.
        let mut numbers: Vec<Vec<u32>> = Vec::with_capacity(productions.all.len());
        for production in &productions.all {
            let number = |&part: &Symbol| {
                let number = symbols.len() as u32;
                symbols.extend(is_position(part).then_some(part));
                number
            };
            numbers.push(production.parts.iter().map(number).collect());
            if symbols.len() > MOST_POSITIONS {
                return None;
            }
        }
        let rules = nullable.len();
        if rules * symbols.len().div_ceil(64) > MOST_WORDS {
            return None;
        }
        let beginning = symbols.len();
        symbols.push(productions.first_rule);
        let mut first = NumberSets::new(rules, symbols.len());
        // Alternatives whose first parts are rules are looked at until nothing is new.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (production, numbers) in productions.all.iter().zip(&numbers) {
            for (&part, &number) in production.parts.iter().zip(numbers) {
                match is_position(part) {
                    true => _ = first.insert(production.of as usize, number),
                    false => open.push((production.of as usize, part as usize)),
                }
                if !nullable[part as usize] {
                    break;
                }
            }
        }
        first.add_until_closed(&mut open);
        let mut follow = NumberSets::new(rules, symbols.len());
        let mut next = NumberSets::new(symbols.len(), symbols.len());
        // What comes behind a part in its own alternative.
        let mut rest = NumberSets::new(1, symbols.len());
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut passed: Vec<(usize, usize)> = Vec::new();
        for (production, numbers) in productions.all.iter().zip(&numbers) {
            rest.clear();
            let mut to_end = true;
            for (&part, &number) in production.parts.iter().zip(numbers).rev() {
                let is_position = is_position(part);
                match is_position {
                    true => next.add_row(number as usize, rest.row(0)),
                    false => follow.add_row(part as usize, rest.row(0)),
                }
                match (to_end, is_position) {
                    (true, true) => ends.push((number as usize, production.of as usize)),
                    (true, false) => passed.push((part as usize, production.of as usize)),
                    _ => {}
                }
                if !nullable[part as usize] {
                    rest.clear();
                    to_end = false;
                }
                match is_position {
                    true => _ = rest.insert(0, number),
                    false => rest.add_row(0, first.row(part as usize)),
                }
            }
        }
        follow.add_until_closed(&mut passed);
        for (position, rule) in ends {
            next.add_row(position, follow.row(rule));
        }
        next.add_row(beginning, first.row(productions.start as usize));
        Some(Graph { symbols, next })
    }
}

/// Sets of terminals, sets of tokens and documents of which any two may begin at one place, as bits; ignored ones and
/// what an indenter makes are left out. `None` where the grammar has too many positions.
pub fn shared_places(
    productions: &Productions,
    nullable: &[bool],
    silent: &[Symbol],
    ignored: &[u32],
) -> Option<Vec<Box<[u64]>>> {
    let Graph { symbols, mut next } = Graph::build(productions, nullable, silent)?;
    let mut class: Vec<u32> = (0..symbols.len() as u32).collect();
    let root = |class: &mut Vec<u32>, mut at: u32| {
        while class[at as usize] != at {
            class[at as usize] = class[class[at as usize] as usize];
            at = class[at as usize];
        }
        at
    };
    let mut todo: Vec<u32> = class.clone();
    let mut by_symbol: Vec<Option<u32>> = vec![None; productions.first_rule as usize];
    while let Some(from) = todo.pop() {
        if class[from as usize] != from {
            continue;
        }
        let behind = next.row(from as usize).to_vec();
        by_symbol.fill(None);
        for position in ones(&behind) {
            let (symbol, position) = (symbols[position], position as u32);
            // Behind an ignored terminal the text goes on as before it, or as behind one that a rule names.
            let before = Some(from).filter(|_| ignored.contains(&symbol));
            for other in by_symbol[symbol as usize].into_iter().chain(before) {
                let (a, b) = (root(&mut class, position), root(&mut class, other));
                if a != b {
                    class[b as usize] = a;
                    next.add(a as usize, b as usize);
                    todo.push(a);
                }
            }
            by_symbol[symbol as usize] = Some(position);
        }
    }
    let words = (productions.first_rule as usize).div_ceil(64).max(1);
    let terminals_of = |set: &[u64]| {
        let mut out = vec![0u64; words].into_boxed_slice();
        ones(set).map(|p| symbols[p]).for_each(|s| out[s as usize / 64] |= 1 << (s % 64));
        out
    };
    let classes = (0..symbols.len()).filter(|&at| class[at] as usize == at);
    let mut places: Vec<Box<[u64]>> = classes.map(|at| terminals_of(next.row(at))).collect();
    places.sort_unstable();
    places.dedup();
    Some(places)
}
