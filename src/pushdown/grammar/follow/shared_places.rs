//! Which terminals may begin at one place of a text, where terminals compete for it.
//!
//! Behind a `name` comes `"}"` in one part of a grammar and `"]"` in another. Told by the terminal before alone, both may
//! come at one place. So terminals are told apart by where they stand in the rules: a *position* is a terminal's place in
//! an alternative (McNaughton and Yamada 1960; Glushkov 1961). Positions that some text may leave open between are one
//! class. They are found as classes of states of an automaton are: what may come behind one class and spells the same
//! terminal is one class again. What may come behind a rule is all that may anywhere (its FOLLOW set), so classes are
//! never too small.

use crate::pushdown::grammar::productions::{Productions, Symbol};

/// Positions beyond which they are not told apart.
const MOST_POSITIONS: usize = 6_000;

/// A set of positions.
type Positions = Box<[u64]>;

fn add(to: &mut [u64], from: &[u64]) -> bool {
    let mut grew = false;
    for (to, from) in to.iter_mut().zip(from) {
        grew |= *to | from != *to;
        *to |= from;
    }
    grew
}

fn members(set: &[u64]) -> impl Iterator<Item = u32> + '_ {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(at as u32 * 64 + bit)
        })
    })
}

/// The positions of a grammar, and which may come behind which.
struct Graph {
    /// The terminal of each position.
    symbols: Vec<Symbol>,
    /// For each position those that may come behind it.
    next: Vec<Positions>,
    /// Those that a text may begin with.
    first: Positions,
}

impl Graph {
    /// `None` where positions are too many. `nullable` symbols may have no text; `silent` ones never do.
    fn of(productions: &Productions, nullable: &[bool], silent: &[Symbol]) -> Option<Graph> {
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
        let words = symbols.len().div_ceil(64).max(1);
        let none = || vec![0u64; words].into_boxed_slice();
        let rules = nullable.len();
        let mut first: Vec<Positions> = (0..rules).map(|_| none()).collect();
        let one = |set: &mut [u64], number: u32| set[number as usize / 64] |= 1 << (number % 64);
        // Alternatives whose first parts are rules are looked at until nothing is new.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (production, numbers) in productions.all.iter().zip(&numbers) {
            for (&part, &number) in production.parts.iter().zip(numbers) {
                match is_position(part) {
                    true => one(&mut first[production.of as usize], number),
                    false => open.push((production.of as usize, part as usize)),
                }
                if !nullable[part as usize] {
                    break;
                }
            }
        }
        grow(&mut first, &mut open);
        let mut follow: Vec<Positions> = (0..rules).map(|_| none()).collect();
        let mut next: Vec<Positions> = symbols.iter().map(|_| none()).collect();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut passed: Vec<(usize, usize)> = Vec::new();
        for (production, numbers) in productions.all.iter().zip(&numbers) {
            let mut rest = none();
            let mut to_end = true;
            for (&part, &number) in production.parts.iter().zip(numbers).rev() {
                let is_position = is_position(part);
                let behind = if is_position { &mut next[number as usize] } else { &mut follow[part as usize] };
                add(behind, &rest);
                match (to_end, is_position) {
                    (true, true) => ends.push((number as usize, production.of as usize)),
                    (true, false) => passed.push((part as usize, production.of as usize)),
                    _ => {}
                }
                if !nullable[part as usize] {
                    rest.fill(0);
                    to_end = false;
                }
                match is_position {
                    true => one(&mut rest, number),
                    false => _ = add(&mut rest, &first[part as usize]),
                }
            }
        }
        grow(&mut follow, &mut passed);
        for (position, rule) in ends {
            add(&mut next[position], &follow[rule]);
        }
        let first = std::mem::take(&mut first[productions.start as usize]);
        Some(Graph { symbols, next, first })
    }
}

/// Adds to each set those that belong to it, until nothing is new.
fn grow(sets: &mut [Positions], from: &mut Vec<(usize, usize)>) {
    from.sort_unstable();
    from.dedup();
    from.retain(|(to, from)| to != from);
    let mut grown = true;
    while grown {
        grown = false;
        for &(to, from) in &*from {
            if let Ok([to, from]) = sets.get_disjoint_mut([to, from]) {
                grown |= add(to, from);
            }
        }
    }
}

/// Sets of terminals, sets of tokens and documents of which any two may begin at one place, as bits; ignored ones and what
/// an indenter makes are left out. `None` where the grammar has too many positions.
pub fn shared_places(
    productions: &Productions,
    nullable: &[bool],
    silent: &[Symbol],
    ignored: &[u32],
) -> Option<Vec<Box<[u64]>>> {
    let Graph { symbols, mut next, first } = Graph::of(productions, nullable, silent)?;
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
    let mut at_start = true;
    loop {
        let (from, behind) = match at_start {
            true => (None, first.clone()),
            false => {
                let Some(from) = todo.pop() else { break };
                if class[from as usize] != from {
                    continue;
                }
                (Some(from), next[from as usize].clone())
            }
        };
        at_start = false;
        by_symbol.fill(None);
        for position in members(&behind) {
            let symbol = symbols[position as usize];
            // Behind an ignored terminal the text goes on as before it, or as behind one that a rule names.
            let before = from.filter(|_| ignored.contains(&symbol));
            for other in by_symbol[symbol as usize].into_iter().chain(before) {
                let (a, b) = (root(&mut class, position), root(&mut class, other));
                if a != b {
                    class[b as usize] = a;
                    let more = std::mem::take(&mut next[b as usize]);
                    add(&mut next[a as usize], &more);
                    todo.push(a);
                }
            }
            by_symbol[symbol as usize] = Some(position);
        }
    }
    let words = (productions.first_rule as usize).div_ceil(64).max(1);
    let terminals_of = |set: &[u64]| {
        let mut out = vec![0u64; words].into_boxed_slice();
        members(set).map(|p| symbols[p as usize]).for_each(|s| out[s as usize / 64] |= 1 << (s % 64));
        out
    };
    let mut places: Vec<Box<[u64]>> = next.iter().filter(|set| !set.is_empty()).map(|set| terminals_of(set)).collect();
    places.push(terminals_of(&first));
    places.sort_unstable();
    places.dedup();
    Some(places)
}
