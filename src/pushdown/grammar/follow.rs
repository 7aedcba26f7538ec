//! What may follow a terminal anywhere in the grammar, and whether its longest match can always be followed.

use std::sync::Arc;

use crate::expr::ByteSet;
use crate::grammar::model::Lexer;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::grammar::productions::{Productions, Symbol};
use crate::pushdown::grammar::scanner::Scanner;

/// Sets of symbols below the first nonterminal.
struct SymbolSets {
    words: usize,
    bits: Vec<u64>,
}

impl SymbolSets {
    fn new(count: usize, size: usize) -> Self {
        let words = size.div_ceil(64).max(1);
        SymbolSets { words, bits: vec![0; words * count] }
    }

    fn insert(&mut self, set: usize, symbol: Symbol) -> bool {
        let word = &mut self.bits[set * self.words + symbol as usize / 64];
        let before = *word;
        *word |= 1 << (symbol % 64);
        *word != before
    }

    /// Adds all of `from` to `to`.
    fn add(&mut self, to: usize, from: usize) -> bool {
        let mut grew = false;
        for w in 0..self.words {
            let more = self.bits[from * self.words + w];
            let word = &mut self.bits[to * self.words + w];
            grew |= *word | more != *word;
            *word |= more;
        }
        grew
    }

    fn of(&self, set: usize) -> impl Iterator<Item = Symbol> + '_ {
        let words = &self.bits[set * self.words..(set + 1) * self.words];
        words.iter().enumerate().flat_map(|(at, &word)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
        })
    }
}

/// What may follow each terminal.
pub struct Follow {
    /// For each terminal the bytes that may come behind its end, wherever it stands.
    bytes: Box<[ByteSet]>,
    /// For each terminal the bytes that can begin it.
    first: Box<[ByteSet]>,
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

impl Follow {
    /// FIRST and FOLLOW of all symbols, down to bytes.
    pub fn of(productions: &Productions, lexemes: &[Option<Arc<Lexeme>>], ignored: &[u32]) -> Follow {
        let symbols = productions.symbols();
        let below = productions.first_rule as usize;
        let mut firsts = SymbolSets::new(symbols, below);
        (0..productions.first_rule).for_each(|s| {
            firsts.insert(s as usize, s);
        });
        // Work lists over productions: who has a symbol among the parts that may come first.
        let mut grown = true;
        while grown {
            grown = false;
            for production in &productions.all {
                for &part in &production.parts {
                    grown |= firsts.add(production.of as usize, part as usize);
                    if !productions.nullable[part as usize] {
                        break;
                    }
                }
            }
        }
        let mut follows = SymbolSets::new(symbols, below);
        // What comes behind a part inside its own production is found once; what comes behind the whole is passed on.
        let mut passed: Vec<(usize, usize)> = Vec::new();
        for production in &productions.all {
            for (at, &part) in production.parts.iter().enumerate() {
                let mut to_end = true;
                for &next in &production.parts[at + 1..] {
                    let more: Vec<Symbol> = firsts.of(next as usize).collect();
                    more.into_iter().for_each(|s| {
                        follows.insert(part as usize, s);
                    });
                    if !productions.nullable[next as usize] {
                        to_end = false;
                        break;
                    }
                }
                if to_end {
                    passed.push((part as usize, production.of as usize));
                }
            }
        }
        passed.sort_unstable();
        passed.dedup();
        let mut grown = true;
        while grown {
            grown = false;
            for &(to, from) in &passed {
                grown |= follows.add(to, from);
            }
        }
        let first: Box<[ByteSet]> = lexemes.iter().map(|l| first_bytes(l.as_ref())).collect();
        let terminals = productions.terminals;
        let mut any = [false; 256];
        first.iter().for_each(|set| join(&mut any, set));
        let bytes = (0..terminals).map(|t| {
            if ignored.contains(&t) {
                return any;
            }
            let mut out = [false; 256];
            follows.of(t as usize).filter(|&s| s < terminals).for_each(|s| join(&mut out, &first[s as usize]));
            ignored.iter().for_each(|&t| join(&mut out, &first[t as usize]));
            out
        });
        Follow { bytes: bytes.collect(), first }
    }

    /// The bytes that may come behind the end of a terminal.
    pub fn bytes(&self, terminal: u32) -> &ByteSet {
        &self.bytes[terminal as usize]
    }

    /// Whether every terminal can be followed wherever it ends, whatever its longest match forbids: an ignored terminal
    /// can always stand between it and the next one. Then nothing needs to be searched.
    pub fn always_completes(&self, scanner: &Scanner, ignored: &[u32]) -> bool {
        let Some(going_on): Option<Vec<ByteSet>> =
            (0..self.first.len() as u32).map(|t| bytes_that_go_on(scanner, t)).collect()
        else {
            return false;
        };
        let escapes = |from: &ByteSet, by: &ByteSet| by.iter().zip(from).any(|(&begins, &goes_on)| begins && !goes_on);
        ignored.iter().any(|&between| {
            let own = between as usize;
            let known = |t: &usize| scanner.lexeme(*t as u32).is_some();
            let others = || (0..self.first.len()).filter(known).filter(move |&t| t != own);
            // What other terminals begin with must not be what this one begins with, or it might not win.
            let apart = others().all(|t| {
                !self.first[t].iter().zip(&self.first[own]).any(|(a, b)| *a && *b)
            });
            let contextual = scanner.lexer() == Lexer::Contextual;
            let follows = match contextual {
                true => scanner.every_end_lets(&self.first[own]),
                false => others().all(|t| escapes(&going_on[t], &self.first[own])),
            };
            apart && follows && others().all(|t| escapes(&going_on[own], &self.first[t]))
        })
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        (self.bytes.len() + self.first.len()) * 256
    }
}

/// The bytes by which some text of a terminal can go on; `None` if its automaton is large.
fn bytes_that_go_on(scanner: &Scanner, terminal: u32) -> Option<ByteSet> {
    /// States that are looked at.
    const MOST: usize = 500;
    let mut out = [false; 256];
    let Some(lexeme) = scanner.lexeme(terminal) else { return Some(out) };
    let mut seen: Vec<StateId> = vec![lexeme.start()];
    let mut at = 0;
    while let Some(&state) = seen.get(at) {
        at += 1;
        let accepting = at > 1 && lexeme.state(state).accepting;
        for (lo, hi) in lexeme.byte_runs() {
            let to = lexeme.next(state, lo);
            if to <= CLOSED {
                continue;
            }
            if accepting {
                out[usize::from(lo)..=usize::from(hi)].fill(true);
            }
            if !seen.contains(&to) {
                if seen.len() >= MOST {
                    return None;
                }
                seen.push(to);
            }
        }
    }
    Some(out)
}
