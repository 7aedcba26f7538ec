//! What may follow a terminal anywhere in the grammar (FIRST and FOLLOW), down to bytes.

mod number_sets;
mod shared_places;
mod sparse_sets;

use std::sync::Arc;

use crate::expr::ByteSet;
use crate::lexeme::{CLOSED, Lexeme};
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::follow::shared_places::shared_places;
use crate::pushdown::grammar::follow::sparse_sets::{NumberSet, SparseSets};
use crate::pushdown::grammar::indenter::Indenter;
use crate::util::seeded_hash::SeededMap;

/// What may follow each terminal.
pub struct Follow {
    /// For each terminal the bytes that may come behind its end, wherever it stands.
    bytes: Box<[ByteSet]>,
    /// For each terminal the bytes that can begin it.
    first: Box<[ByteSet]>,
    /// For each terminal the terminals that may come behind it, ignored ones left out.
    terminals: Box<[Arc<[u32]>]>,
    /// For each terminal the bytes that begin each document that may come behind it.
    documents: Box<[Box<[ByteSet]>]>,
    /// Sets of terminals of which any two may begin at one place, ignored ones left out.
    places: Box<[NumberSet]>,
    /// Terminals that may begin wherever another one does.
    everywhere: Box<[u32]>,
    /// For each terminal whether it may come behind another one.
    behind_any: Box<[bool]>,
}

fn first_bytes(lexeme: Option<&Arc<Lexeme>>) -> ByteSet {
    let mut out = [false; 256];
    let Some(lexeme) = lexeme else { return out };
    for (lo, hi) in lexeme.byte_runs() {
        if lexeme.next(lexeme.start(), lo) > CLOSED {
            out[usize::from(lo)..=usize::from(hi)].fill(true);
        }
    }
    out
}

fn join(to: &mut ByteSet, from: &ByteSet) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t |= f);
}

/// Whether each symbol may be without text, if these are.
fn textless(productions: &Productions, silent: &[Symbol]) -> Vec<bool> {
    let mut out = productions.nullable.clone();
    silent.iter().for_each(|&s| out[s as usize] = true);
    let mut grown = true;
    while grown {
        grown = false;
        for production in &productions.all {
            let is_textless = production.parts.iter().all(|&part| out[part as usize]);
            grown |= is_textless && !std::mem::replace(&mut out[production.of as usize], true);
        }
    }
    out
}

/// FIRST of all symbols: the terminals, token sets and documents that each may begin with. Silent ones begin nothing.
fn firsts(productions: &Productions, nullable: &[bool], silent: &[Symbol]) -> SparseSets {
    let mut firsts = SparseSets::new(productions.symbols(), productions.first_rule as usize);
    (0..productions.first_rule).filter(|s| !silent.contains(s)).for_each(|s| {
        firsts.insert(s as usize, s);
    });
    // Who has a symbol among the parts that may come first.
    let mut passed: Vec<(usize, usize)> = Vec::new();
    for production in &productions.all {
        for &part in &production.parts {
            passed.push((production.of as usize, part as usize));
            if !nullable[part as usize] {
                break;
            }
        }
    }
    firsts.add_until_closed(&mut passed);
    firsts
}

/// FOLLOW of all symbols: what may come behind each.
fn follows(productions: &Productions, nullable: &[bool], firsts: &SparseSets) -> SparseSets {
    let mut follows = SparseSets::new(productions.symbols(), productions.first_rule as usize);
    // What comes behind a part inside its own production is found once; what comes behind the whole is passed on.
    let mut passed: Vec<(usize, usize)> = Vec::new();
    for production in &productions.all {
        for (at, &part) in production.parts.iter().enumerate() {
            let mut to_end = true;
            for &next in &production.parts[at + 1..] {
                firsts.numbers(next as usize).for_each(|s| {
                    follows.insert(part as usize, s);
                });
                if !nullable[next as usize] {
                    to_end = false;
                    break;
                }
            }
            if to_end {
                passed.push((part as usize, production.of as usize));
            }
        }
    }
    follows.add_until_closed(&mut passed);
    follows
}

/// For each terminal the bytes that may come behind its end; `everywhere` are those that may stand between any two.
fn bytes_behind(
    productions: &Productions,
    follows: &SparseSets,
    first: &[ByteSet],
    documents: &[ByteSet],
    everywhere: &[u32],
) -> Box<[ByteSet]> {
    let terminals = productions.terminals;
    let mut any = [false; 256];
    first.iter().chain(documents).for_each(|set| join(&mut any, set));
    let bytes = (0..terminals).map(|t| {
        if everywhere.contains(&t) {
            return any;
        }
        let mut out = [false; 256];
        for symbol in follows.numbers(t as usize) {
            match productions.document(symbol) {
                Some(document) => join(&mut out, &documents[document as usize]),
                None if symbol < terminals => join(&mut out, &first[symbol as usize]),
                None => {}
            }
        }
        everywhere.iter().for_each(|&t| join(&mut out, &first[t as usize]));
        out
    });
    bytes.collect()
}

/// Whether there is a place behind a terminal where only that terminal may come.
fn is_alone(productions: &Productions, firsts: &SparseSets, nullable: &[bool], terminal: Symbol) -> bool {
    // Symbols behind which nothing else may come somewhere.
    let mut alone = vec![false; nullable.len()];
    let ends_alone = |parts: &[Symbol], of: Symbol, alone: &[bool]| {
        let mut any = false;
        for &part in parts {
            if firsts.numbers(part as usize).any(|s| s != terminal) {
                return false;
            }
            any |= firsts.numbers(part as usize).next().is_some();
            if !nullable[part as usize] {
                return any;
            }
        }
        alone[of as usize]
    };
    let mut grown = true;
    while grown {
        grown = false;
        for production in &productions.all {
            for (at, &part) in production.parts.iter().enumerate() {
                if !alone[part as usize] && ends_alone(&production.parts[at + 1..], production.of, &alone) {
                    alone[part as usize] = true;
                    grown = true;
                }
            }
        }
    }
    alone[terminal as usize]
}

impl Follow {
    /// FIRST and FOLLOW of all symbols, down to bytes. Where terminals compete for a text, those that may begin at one
    /// place are told with more care.
    pub fn compute(
        productions: &Productions,
        lexemes: &[Option<Arc<Lexeme>>],
        ignored: &[u32],
        documents: &[ByteSet],
        indenter: Option<&Indenter>,
        competes: bool,
    ) -> Follow {
        // What an indenter makes has no text: what follows it follows what is before it.
        let silent: Vec<Symbol> = indenter.iter().flat_map(|indenter| indenter.silent()).collect();
        let nullable = if silent.is_empty() { productions.nullable.clone() } else { textless(productions, &silent) };
        let below = productions.first_rule as usize;
        let firsts = firsts(productions, &nullable, &silent);
        let follows = follows(productions, &nullable, &firsts);
        let first: Box<[ByteSet]> = lexemes.iter().map(|l| first_bytes(l.as_ref())).collect();
        let terminals = productions.terminals;
        let newline = indenter.map(|indenter| indenter.newline);
        let everywhere: Box<[u32]> = ignored.iter().copied().chain(newline).collect();
        let bytes = bytes_behind(productions, &follows, &first, documents, &everywhere);
        // A newline takes all newlines at once where something else may come behind it.
        let skipped = newline.filter(|&newline| !is_alone(productions, &firsts, &nullable, newline));
        // Behind most terminals come the same ones as behind others.
        let mut lists: SeededMap<(NumberSet, bool), Arc<[u32]>> = SeededMap::default();
        let mut behind = |t: u32| {
            let set = follows.set(t as usize);
            let list =
                || set.iter().filter(|&s| s < terminals && !(skipped == Some(s) && skipped == Some(t))).collect();
            lists.entry((set.clone(), skipped == Some(t))).or_insert_with(list).clone()
        };
        let behind_each = (0..terminals).map(&mut behind).collect();
        let documents_behind = |t: u32| {
            let symbols = follows.numbers(t as usize).filter_map(|s| productions.document(s));
            symbols.map(|document| documents[document as usize]).collect()
        };
        // What may come at one place may come behind one symbol, or first of all.
        let mut behind_any = vec![false; terminals as usize];
        let behind_some = (0..below).flat_map(|s| follows.numbers(s)).filter(|&s| s < terminals);
        behind_some.for_each(|s| behind_any[s as usize] = true);
        let told_apart = competes.then(|| shared_places(productions, &nullable, &silent, ignored)).flatten();
        let places = match told_apart {
            Some(places) => places.iter().map(|place| NumberSet::of_bits(place)).collect(),
            None => {
                let mut places: Vec<NumberSet> = (0..below).map(|s| follows.set(s).clone()).collect();
                places.push(firsts.set(productions.start as usize).clone());
                places.sort_unstable();
                places.dedup();
                places
            }
        };
        Follow {
            bytes,
            first,
            places: places.into(),
            everywhere,
            behind_any: behind_any.into(),
            terminals: behind_each,
            documents: (0..terminals).map(documents_behind).collect(),
        }
    }

    /// The bytes that may come behind the end of a terminal.
    pub fn bytes(&self, terminal: u32) -> &ByteSet {
        &self.bytes[terminal as usize]
    }

    /// How many terminals there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether a terminal may begin wherever another one does: ignored ones, and newlines.
    pub fn is_everywhere(&self, terminal: u32) -> bool {
        self.everywhere.contains(&terminal)
    }

    /// Whether a terminal may begin where another one does. Where one may begin anywhere, the very first place of a
    /// text is left aside: a terminal that begins only there takes nothing from those behind others.
    pub fn together(&self, terminal: u32, other: u32) -> bool {
        self.everywhere.contains(&other)
            || match self.everywhere.contains(&terminal) {
                true => self.behind_any[other as usize],
                false => self.places.iter().any(|place| place.has(terminal) && place.has(other)),
            }
    }

    /// The bytes that can begin a terminal.
    pub fn first(&self, terminal: u32) -> &ByteSet {
        &self.first[terminal as usize]
    }

    /// The terminals that may come behind a terminal, ignored ones left out.
    pub fn terminals(&self, terminal: u32) -> &[u32] {
        &self.terminals[terminal as usize]
    }

    /// The bytes that begin each document that may come behind a terminal.
    pub fn documents(&self, terminal: u32) -> &[ByteSet] {
        &self.documents[terminal as usize]
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let lists = self.terminals.iter().map(|list| list.len() * 4 / Arc::strong_count(list) + 16);
        let places = self.places.iter().map(NumberSet::memory_bytes);
        (self.bytes.len() + self.first.len()) * 256 + lists.chain(places).sum::<usize>()
    }
}
