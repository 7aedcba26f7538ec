//! A terminal as a complete automaton.

use std::collections::HashMap;

use interlock::expr::{ExprId, Exprs};

use crate::twin::SPECIAL;

/// Nothing leads on from here.
pub const DEAD_STATE: u16 = u16::MAX;

/// A terminal as an automaton. State 0 is the first one.
pub struct Terminal {
    next: Vec<Vec<u16>>,
    accepting: Vec<bool>,
    goes_on: Vec<bool>,
    /// The ids of a set of special tokens, which is a terminal of one symbol.
    specials: Vec<u32>,
    silent: bool,
    /// Higher ones are preferred.
    pub priority: i32,
    /// Literals are preferred to patterns.
    pub literal: bool,
}

impl Terminal {
    /// The automaton of an expression; `None` if it is large.
    pub fn compile(x: &mut Exprs, pattern: ExprId, priority: i32, literal: bool) -> Option<Terminal> {
        const MOST_STATES: usize = 300;
        let mut numbers = HashMap::from([(pattern, 0u16)]);
        let (mut states, mut next) = (vec![pattern], Vec::new());
        let mut at = 0;
        while at < states.len() {
            let mut row = vec![DEAD_STATE; 256];
            for byte in 0..=255u8 {
                let to = x.derive(states[at], byte);
                if to == Exprs::NEVER {
                    continue;
                }
                let fresh = states.len() as u16;
                row[usize::from(byte)] = *numbers.entry(to).or_insert_with(|| {
                    states.push(to);
                    fresh
                });
            }
            next.push(row);
            at += 1;
            if states.len() > MOST_STATES {
                return None;
            }
        }
        let accepting: Vec<bool> = states.iter().map(|&s| x.nullable(s)).collect();
        let mut live = accepting.clone();
        let mut grown = true;
        while grown {
            grown = false;
            for state in 0..next.len() {
                if !live[state] && next[state].iter().any(|&to| to != DEAD_STATE && live[to as usize]) {
                    live[state] = true;
                    grown = true;
                }
            }
        }
        next.iter_mut()
            .flatten()
            .filter(|to| **to != DEAD_STATE && !live[**to as usize])
            .for_each(|to| *to = DEAD_STATE);
        let goes_on = next.iter().map(|row| row.iter().any(|&to| to != DEAD_STATE)).collect();
        Some(Terminal { next, accepting, goes_on, specials: Vec::new(), silent: false, priority, literal })
    }

    /// One special token of these.
    pub fn of_tokens(ids: &[u32]) -> Terminal {
        Terminal {
            next: vec![vec![DEAD_STATE; 256]; 2],
            accepting: vec![false, true],
            goes_on: vec![true, false],
            specials: ids.to_vec(),
            silent: false,
            priority: 0,
            literal: false,
        }
    }

    /// The state behind a symbol, or [`DEAD_STATE`].
    pub fn next(&self, state: u16, symbol: u32) -> u16 {
        match symbol {
            byte if byte < SPECIAL => self.next[state as usize][byte as usize],
            id => {
                if state == 0 && self.specials.contains(&(id - SPECIAL)) {
                    1
                } else {
                    DEAD_STATE
                }
            }
        }
    }

    /// Whether the terminal may end in a state.
    pub fn accepts(&self, state: u16) -> bool {
        self.accepting[state as usize]
    }

    /// Whether a longer text is possible.
    pub fn goes_on(&self, state: u16) -> bool {
        self.goes_on[state as usize]
    }

    /// A terminal without a text, which something beside the lexer makes.
    pub fn silent() -> Terminal {
        Terminal { silent: true, ..Terminal::of_tokens(&[]) }
    }

    /// Whether it has any text, or needs none.
    pub fn is_inhabited(&self) -> bool {
        self.accepting[0] || self.goes_on[0]
    }

    /// Whether it is a set of special tokens.
    pub fn is_special(&self) -> bool {
        self.silent || !self.specials.is_empty()
    }

    /// The symbols that lead somewhere from some state.
    pub fn symbols(&self, out: &mut Vec<u32>) {
        for row in &self.next {
            out.extend((0..SPECIAL).filter(|&b| row[b as usize] != DEAD_STATE));
        }
        out.extend(self.specials.iter().map(|id| id + SPECIAL));
        out.sort_unstable();
        out.dedup();
    }
}

/// One of each class of symbols that no terminal tells apart.
pub fn representatives(terminals: &[Terminal]) -> Vec<u32> {
    let mut symbols = Vec::new();
    terminals.iter().for_each(|t| t.symbols(&mut symbols));
    let mut seen: HashMap<Vec<u16>, u32> = HashMap::new();
    for &symbol in &symbols {
        let column = terminals.iter().flat_map(|t| (0..t.accepting.len() as u16).map(move |s| t.next(s, symbol)));
        seen.entry(column.collect()).or_insert(symbol);
    }
    let mut out: Vec<u32> = seen.into_values().collect();
    out.sort_unstable();
    out
}
