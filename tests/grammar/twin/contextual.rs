//! The twin where all terminals that the parser can take compete: the longest match wins, then priority, then literals
//! before patterns, then the order of definition.
//!
//! A text is cut in one way only. A beginning of a text may be cut in several, as long as nobody knows how long the
//! last terminals get: a *reading* is one of them. What the parser knows is a set of Earley's items. Sets are interned,
//! so that readings can be compared, and whether one can be completed is decided by a search over readings.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::twin::SPECIAL;
use crate::twin::bnf::{Bnf, Sym};
use crate::twin::terminal::{DEAD_STATE, representatives};

type SetId = u32;
/// The set that an item is in.
const SELF: SetId = SetId::MAX;

/// A production, a dot, and the set where it began.
type Item = (u16, u16, SetId);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Reading {
    set: SetId,
    /// What the text since the last boundary may become.
    live: Vec<(u16, u16)>,
    /// What must not be read to an end any more.
    obligations: Vec<(u16, u16)>,
    at_boundary: bool,
    /// The widths of the open blocks, and [`BRACKET`] for each bracket.
    indents: Vec<u32>,
    /// The blanks behind the last newline of the newline terminal.
    column: Option<u32>,
}

/// An open bracket among the open blocks.
const BRACKET: u32 = u32::MAX;

/// The twin of a guide where terminals compete.
pub struct Contextual {
    bnf: Bnf,
    sets: Vec<Vec<Item>>,
    numbers: HashMap<Vec<Item>, SetId>,
    symbols: Vec<u32>,
    levels: Vec<Vec<Reading>>,
    memo: HashMap<Reading, Option<bool>>,
}

/// Readings that a search looks at.
const MOST_READINGS: usize = 3_000;

impl Contextual {
    /// The twin at the beginning.
    pub fn new(bnf: Bnf) -> Contextual {
        let symbols = representatives(&bnf.terminals);
        let mut twin = Contextual {
            bnf,
            sets: Vec::new(),
            numbers: HashMap::new(),
            symbols,
            levels: Vec::new(),
            memo: HashMap::new(),
        };
        let kernel = twin.bnf.of[twin.bnf.start as usize].iter().map(|&p| (p, 0, SELF)).collect();
        let set = twin.close(kernel);
        let first = twin.boundary(set, Vec::new(), vec![0]);
        twin.levels.push(vec![first]);
        twin
    }

    /// The set of these items with what they predict and complete.
    fn close(&mut self, kernel: Vec<Item>) -> SetId {
        let mut items: Vec<Item> = Vec::new();
        let mut seen = HashSet::new();
        let mut empty: HashSet<u16> = HashSet::new();
        let mut todo = kernel;
        while let Some(item) = todo.pop() {
            if !seen.insert(item) {
                continue;
            }
            items.push(item);
            let (production, dot, origin) = item;
            let (of, parts) = &self.bnf.productions[production as usize];
            match parts.get(dot as usize) {
                Some(&Sym::N(rule)) => {
                    todo.extend(self.bnf.of[rule as usize].iter().map(|&p| (p, 0, SELF)));
                    if empty.contains(&rule) {
                        todo.push((production, dot + 1, origin));
                    }
                }
                // A terminal that may be empty may be left out.
                Some(&Sym::T(t)) if self.bnf.terminals[t as usize].accepts(0) => {
                    todo.push((production, dot + 1, origin))
                }
                Some(_) => {}
                None => {
                    let parents = match origin {
                        SELF => {
                            empty.insert(*of);
                            items.clone()
                        }
                        set => self.sets[set as usize]
                            .iter()
                            .map(|&(p, d, o)| (p, d, if o == SELF { set } else { o }))
                            .collect(),
                    };
                    for (p, d, o) in parents {
                        if self.bnf.productions[p as usize].1.get(d as usize) == Some(&Sym::N(*of)) {
                            todo.push((p, d + 1, o));
                        }
                    }
                }
            }
        }
        items.sort_unstable();
        let fresh = self.sets.len() as SetId;
        *self.numbers.entry(items).or_insert_with_key(|items| {
            self.sets.push(items.clone());
            fresh
        })
    }

    /// The terminals that the parser can take.
    fn acceptable(&self, set: SetId) -> Vec<u16> {
        let waits = |&(p, d, _): &Item| match self.bnf.productions[p as usize].1.get(d as usize) {
            Some(&Sym::T(t)) => Some(t),
            _ => None,
        };
        let mut out: Vec<u16> = self.sets[set as usize].iter().filter_map(waits).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The set behind any of these terminals; none if the parser can't take them.
    fn shift(&mut self, set: SetId, terminals: &[u16]) -> Option<Vec<Item>> {
        let kernel: Vec<Item> = self.sets[set as usize]
            .iter()
            .filter(|&&(p, d, _)| match self.bnf.productions[p as usize].1.get(d as usize) {
                Some(&Sym::T(t)) => terminals.contains(&t),
                _ => false,
            })
            .map(|&(p, d, o)| (p, d + 1, if o == SELF { set } else { o }))
            .collect();
        (!kernel.is_empty()).then_some(kernel)
    }

    fn boundary(&self, set: SetId, obligations: Vec<(u16, u16)>, indents: Vec<u32>) -> Reading {
        let mut live: Vec<(u16, u16)> = self.acceptable(set).into_iter().map(|t| (t, 0)).collect();
        live.retain(|&(t, _)| !self.bnf.terminals[t as usize].is_special());
        live.extend(self.bnf.ignored.iter().map(|&t| (t, 0)));
        live.extend(self.bnf.indenter.iter().map(|indenter| (indenter.newline, 0)));
        live.sort_unstable();
        live.dedup();
        Reading { set, live, obligations, at_boundary: true, indents, column: None }
    }

    /// The set behind a newline with a column, and the blocks behind it.
    fn end_line(&mut self, set: SetId, mut indents: Vec<u32>, column: u32) -> Option<(SetId, Vec<u32>)> {
        let indenter = self.bnf.indenter.clone()?;
        let mut made = vec![indenter.newline];
        let width = *indents.last()?;
        if column > width {
            made.push(indenter.indent);
            indents.push(column);
        }
        while column < *indents.last()? {
            made.push(indenter.dedent);
            indents.pop();
        }
        if column != *indents.last()? {
            return None;
        }
        let mut set = set;
        for terminal in made {
            let kernel = self.shift(set, &[terminal])?;
            set = self.close(kernel);
        }
        Some((set, indents))
    }

    /// The reading in which the terminal that wins here has ended.
    fn end(&mut self, reading: &Reading) -> Option<Reading> {
        if reading.at_boundary {
            return None;
        }
        let rank = |&&(t, _): &&(u16, u16)| {
            let terminal = &self.bnf.terminals[t as usize];
            (std::cmp::Reverse((terminal.priority, terminal.literal)), t)
        };
        let accepting = reading.live.iter().filter(|&&(t, s)| self.bnf.terminals[t as usize].accepts(s));
        let &(winner, _) = accepting.min_by_key(rank)?;
        let mut obligations = reading.obligations.clone();
        obligations.extend(reading.live.iter().filter(|&&(t, s)| self.bnf.terminals[t as usize].goes_on(s)));
        obligations.sort_unstable();
        obligations.dedup();
        let mut indents = reading.indents.clone();
        if let Some(indenter) = self.bnf.indenter.clone() {
            if winner == indenter.newline {
                if indents.last() == Some(&BRACKET) {
                    return Some(self.boundary(reading.set, obligations, indents));
                }
                let (set, indents) = self.end_line(reading.set, indents, reading.column?)?;
                return Some(self.boundary(set, obligations, indents));
            }
            if indenter.open.contains(&winner) {
                indents.push(BRACKET);
            } else if indenter.close.contains(&winner) && indents.pop() != Some(BRACKET) {
                return None;
            }
        }
        let shifted = self.shift(reading.set, &[winner]);
        let set = match (shifted, self.bnf.ignored.contains(&winner)) {
            (None, false) => return None,
            (None, true) => reading.set,
            (Some(kernel), false) => self.close(kernel),
            (Some(mut kernel), true) => {
                let old = reading.set;
                let kept = self.sets[old as usize].iter().map(|&(p, d, o)| (p, d, if o == SELF { old } else { o }));
                kernel.extend(kept);
                self.close(kernel)
            }
        };
        Some(self.boundary(set, obligations, indents))
    }

    fn read(&self, reading: &Reading, byte: u32) -> Option<Reading> {
        let step = |&(t, s): &(u16, u16)| {
            Some((t, self.bnf.terminals[t as usize].next(s, byte))).filter(|x| x.1 != DEAD_STATE)
        };
        let live: Vec<(u16, u16)> = reading.live.iter().filter_map(step).collect();
        let obligations: Vec<(u16, u16)> = reading.obligations.iter().filter_map(step).collect();
        if live.is_empty() || obligations.iter().any(|&(t, s)| self.bnf.terminals[t as usize].accepts(s)) {
            return None;
        }
        let indents = reading.indents.clone();
        let reads_newline = live.iter().any(|&(t, _)| self.bnf.indenter.as_ref().is_some_and(|i| i.newline == t));
        let column = self.column(reading.column, byte).filter(|_| reads_newline && indents.last() != Some(&BRACKET));
        Some(Reading { set: reading.set, live, obligations, at_boundary: false, indents, column })
    }

    fn column(&self, column: Option<u32>, byte: u32) -> Option<u32> {
        let tab = self.bnf.indenter.as_ref().map_or(8, |indenter| indenter.tab_width);
        match byte {
            10 => Some(0),
            32 => column.map(|c| c + 1),
            9 => column.map(|c| c + tab),
            _ => column,
        }
    }

    /// A reading that acts like this one, with a column that is not much beyond the innermost block.
    fn bounded(&self, mut reading: Reading) -> Reading {
        let width = reading.indents.last().copied().unwrap_or(0);
        reading.column = reading.column.map(|c| c.min(width.saturating_add(2)));
        reading
    }

    fn next(&mut self, readings: &[Reading], symbol: u32) -> Vec<Reading> {
        let mut out = Vec::new();
        for reading in readings {
            let ended = self.end(reading);
            if symbol < SPECIAL {
                out.extend(self.read(reading, symbol));
                out.extend(ended.and_then(|ended| self.read(&ended, symbol)));
                continue;
            }
            let boundary = if reading.at_boundary { Some(reading.clone()) } else { ended };
            let Some(boundary) = boundary else { continue };
            let named = |t: &u16| self.bnf.terminals[*t as usize].next(0, symbol) != DEAD_STATE;
            let sets: Vec<u16> = self.acceptable(boundary.set).into_iter().filter(named).collect();
            if let Some(kernel) = self.shift(boundary.set, &sets) {
                let set = self.close(kernel);
                out.push(self.boundary(set, Vec::new(), boundary.indents.clone()));
            }
        }
        let mut seen = HashSet::new();
        out.retain(|reading| seen.insert(reading.clone()));
        out
    }

    /// Reads a symbol.
    pub fn push(&mut self, symbol: u32) -> bool {
        let before = self.levels[self.levels.len() - 1].clone();
        let next = self.next(&before, symbol);
        let lives = !next.is_empty();
        self.levels.push(next);
        lives
    }

    /// Takes back the last symbol.
    pub fn pop(&mut self) {
        self.levels.pop();
    }

    fn is_whole(&mut self, reading: &Reading) -> bool {
        let boundary = if reading.at_boundary { Some(reading.clone()) } else { self.end(reading) };
        let Some(mut boundary) = boundary else { return false };
        if let Some(indenter) = self.bnf.indenter.clone() {
            for _ in boundary.indents.iter().skip(1).filter(|&&i| i != BRACKET) {
                let Some(kernel) = self.shift(boundary.set, &[indenter.dedent]) else { return false };
                boundary.set = self.close(kernel);
            }
        }
        Some(boundary).is_some_and(|boundary| {
            self.sets[boundary.set as usize].iter().any(|&(p, d, _)| {
                let (of, parts) = &self.bnf.productions[p as usize];
                *of == self.bnf.start && d as usize == parts.len()
            })
        })
    }

    /// Whether what was read is accepted.
    pub fn accepts(&mut self) -> bool {
        let readings = self.levels[self.levels.len() - 1].clone();
        readings.iter().any(|reading| self.is_whole(reading))
    }

    /// Whether a whole text is accepted, by the definition: it is cut from its beginning to its end.
    pub fn cuts(&mut self, text: &[u32]) -> bool {
        let mut at = 0;
        let mut reading = self.levels[0][0].clone();
        while at < text.len() {
            type Rank = (usize, i32, bool, std::cmp::Reverse<u16>);
            let mut best: Option<(Rank, u16)> = None;
            for &(t, _) in &reading.live {
                let terminal = &self.bnf.terminals[t as usize];
                let (mut state, mut end) = (0, at);
                while end < text.len() {
                    state = terminal.next(state, text[end]);
                    if state == DEAD_STATE {
                        break;
                    }
                    end += 1;
                    if terminal.accepts(state) {
                        let rank = (end, terminal.priority, terminal.literal, std::cmp::Reverse(t));
                        if best.as_ref().is_none_or(|b| b.0 < rank) {
                            best = Some((rank, t));
                        }
                    }
                }
            }
            let Some(((end, ..), winner)) = best else { return false };
            let column = text[at..end].iter().fold(None, |column, &byte| self.column(column, byte));
            let live = vec![(winner, self.end_state(winner, &text[at..end]))];
            let alone = Reading { live, column, ..reading.clone() };
            let Some(next) = self.end(&Reading { at_boundary: false, ..alone }) else { return false };
            reading = Reading { obligations: Vec::new(), ..next };
            at = end;
        }
        self.is_whole(&reading)
    }

    fn end_state(&self, terminal: u16, text: &[u32]) -> u16 {
        text.iter().fold(0, |state, &symbol| self.bnf.terminals[terminal as usize].next(state, symbol))
    }

    /// Whether something accepted begins with what was read, if a search finds it.
    pub fn viable(&mut self) -> Option<bool> {
        let readings = self.levels[self.levels.len() - 1].clone();
        let mut answer = Some(false);
        for reading in readings {
            match self.search(&reading) {
                Some(true) => return Some(true),
                None => answer = None,
                Some(false) => {}
            }
        }
        answer
    }

    fn search(&mut self, from: &Reading) -> Option<bool> {
        if let Some(known) = self.memo.get(from) {
            return *known;
        }
        let mut seen = HashMap::from([(from.clone(), from.clone())]);
        let mut todo = VecDeque::from([from.clone()]);
        let mut unsure = false;
        while let Some(reading) = todo.pop_front() {
            match self.memo.get(&reading) {
                Some(Some(false)) => continue,
                Some(None) => unsure = true,
                _ => {}
            }
            if self.memo.get(&reading) == Some(&Some(true)) || self.is_whole(&reading) {
                // All that led here can be completed.
                let mut at = reading;
                loop {
                    self.memo.insert(at.clone(), Some(true));
                    let before = seen[&at].clone();
                    if before == at {
                        return Some(true);
                    }
                    at = before;
                }
            }
            if seen.len() > MOST_READINGS {
                unsure = true;
                break;
            }
            for symbol in self.symbols.clone() {
                for next in self.next(std::slice::from_ref(&reading), symbol) {
                    let next = self.bounded(next);
                    if !seen.contains_key(&next) {
                        seen.insert(next.clone(), reading.clone());
                        todo.push_back(next);
                    }
                }
            }
        }
        if unsure {
            self.memo.insert(from.clone(), None);
            return None;
        }
        for reading in seen.into_keys() {
            self.memo.insert(reading, Some(false));
        }
        Some(false)
    }
}
