//! Succession: which terminals the longest match of another one lets follow.
//!
//! A terminal that took its longest match may not be followed by what would make it longer: behind a name no letter may
//! come, so `in` can follow it only behind a blank. If every terminal can be followed by all that the grammar puts
//! behind it, at once or behind an ignored terminal, then whatever was begun can be completed, and nothing needs to be
//! searched.

use crate::expr::ByteSet;
use crate::grammar::model::Lexer;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::grammar::closure::Closure;
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::parse_stack::{Branch, NodeId};
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::{END, Scanner};
use crate::util::hash::{SeededMap, SeededSet};

/// A set of bytes as bits.
type Bits = [u64; 4];

fn bits(set: &ByteSet) -> Bits {
    let mut out = [0; 4];
    (0..256).filter(|&b| set[b]).for_each(|b| out[b / 64] |= 1 << (b % 64));
    out
}

/// Whether some byte of `first` is none of `going_on`.
fn escapes(going_on: &Bits, first: &Bits) -> bool {
    going_on.iter().zip(first).any(|(on, first)| first & !on != 0)
}

/// Which terminals the longest match of another one lets follow.
pub struct Succession {
    /// For each terminal the bytes that can begin it.
    first: Box<[Bits]>,
    /// For each terminal the bytes that must not come behind it, more rather than fewer. There may be several such sets:
    /// from wherever the terminal has come it can be ended so that each of them holds.
    going_on: Box<[Vec<Bits>]>,
    /// The ignored terminals.
    ignored: Box<[u32]>,
    /// Every terminal of the rules lets all follow that may come behind it.
    pub rules_are_free: bool,
    /// Every terminal does, ignored ones too.
    pub is_free: bool,
}

impl Succession {
    /// Anything may follow anything.
    pub fn free() -> Self {
        let none = Box::default();
        Succession {
            first: Box::default(),
            going_on: none,
            ignored: Box::default(),
            rules_are_free: true,
            is_free: true,
        }
    }

    /// For terminals that take longest matches.
    pub fn of(scanner: &Scanner, follow: &Follow, ignored: &[u32], indenter: Option<&Indenter>) -> Self {
        let count = follow.len() as u32;
        let first: Box<[Bits]> = (0..count).map(|t| bits(follow.first(t))).collect();
        // All bytes that a terminal reads are more than those that go on, and known at once.
        let read = |t: u32| vec![scanner.lexeme(t).map_or([0; 4], |l| bits(&l.used_bytes()))];
        let going_on: Box<[Vec<Bits>]> = (0..count).map(read).collect();
        let mut this = Succession { first, going_on, ignored: ignored.into(), rules_are_free: false, is_free: false };
        let contextual = scanner.lexer() == Lexer::Contextual;
        for terminal in 0..count {
            let is_newline = indenter.is_some_and(|indenter| indenter.newline == terminal);
            if contextual || is_newline || ignored.contains(&terminal) || !this.lets_all(follow, terminal) {
                this.going_on[terminal as usize] = bytes_that_go_on(scanner, terminal);
            }
            if contextual {
                for other in (0..count).filter(|&other| other != terminal) {
                    let both = this.first[terminal as usize].iter().zip(&this.first[other as usize]);
                    if both.into_iter().any(|(a, b)| a & b != 0) {
                        let more = bytes_that_go_on_beside(scanner, terminal, other);
                        this.going_on[terminal as usize].iter_mut().for_each(|set| add(set, &more));
                    }
                }
            }
        }
        let known = |t: &u32| scanner.lexeme(*t).is_some();
        this.rules_are_free =
            (0..count).filter(known).filter(|t| !ignored.contains(t)).all(|t| this.lets_all(follow, t));
        let all: Vec<u32> = (0..count).filter(known).collect();
        let lets_any = |&between: &u32| all.iter().all(|&next| next == between || this.lets(between, next));
        this.is_free = this.rules_are_free && ignored.iter().all(lets_any);
        this
    }

    /// Whether `next` can come at once behind a terminal.
    fn lets(&self, terminal: u32, next: u32) -> bool {
        self.lets_begin(terminal, &self.first[next as usize])
    }

    /// Whether what begins with one of these bytes can come at once behind a terminal.
    fn lets_begin(&self, terminal: u32, first: &Bits) -> bool {
        self.going_on[terminal as usize].iter().any(|set| escapes(set, first))
    }

    /// Whether `next` can come behind a terminal, at once or behind an ignored one.
    fn leads_to(&self, terminal: u32, next: u32) -> bool {
        let between = |&t: &u32| t != next && self.lets(terminal, t) && self.lets(t, next);
        self.lets(terminal, next) || self.ignored.iter().any(between)
    }

    /// Whether the output can be completed behind a terminal of the rules, or behind an ignored one where `closure` says
    /// what may come next. Asked where [`rules_are_free`](Self::rules_are_free).
    pub fn completes_behind(&self, terminal: u32, closure: &Closure, terminals: u32) -> bool {
        // All terminals of the rules let follow what may come.
        self.is_free
            || closure.next.binary_search(&terminal).is_ok()
            || closure.accepting
            || closure.has_documents
            || closure.next.iter().take_while(|&&s| s < terminals).any(|&next| self.leads_to(terminal, next))
    }

    fn lets_all(&self, follow: &Follow, terminal: u32) -> bool {
        let before_document = |first: &ByteSet| {
            let first = bits(first);
            let between = |&t: &u32| self.lets(terminal, t) && self.lets_begin(t, &first);
            self.lets_begin(terminal, &first) || self.ignored.iter().any(between)
        };
        follow.terminals(terminal).iter().all(|&next| self.leads_to(terminal, next))
            && follow.documents(terminal).iter().all(before_document)
    }
}

impl GrammarMachine<'_> {
    /// Whether a branch can be completed, as far as that can be told from what may come next: the nodes of the stack
    /// that tell. `None` where it can't be told.
    pub fn completes_nearby(&mut self, branch: &Branch) -> Option<Vec<NodeId>> {
        if branch.is_in_document() {
            return Some(Vec::new());
        }
        let program = self.program;
        let succession = &program.succession;
        let scan = program.scanner.state(branch.scan);
        if !succession.rules_are_free || !program.scanner.obligations(scan.obligations).is_empty() {
            return None;
        }
        let tops: smallvec::SmallVec<[NodeId; 4]> = smallvec::SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = program.closure(self.stack, &tops);
        let mut decided = found.decided().to_vec();
        let contextual = program.scanner.lexer() == Lexer::Contextual;
        let terminals = program.productions.terminals;
        for &(terminal, _) in &scan.live {
            let lets = succession.completes_behind(terminal, &found.closure, terminals);
            if lets != contextual {
                return lets.then_some(decided);
            }
        }
        decided.dedup();
        contextual.then_some(decided)
    }
}

/// States of automata that are looked at for one terminal.
const MOST: usize = 20_000;

fn add(to: &mut Bits, more: &Bits) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// Sets of bytes that must not come behind a terminal: from every state of its automaton an end can be reached at which
/// no byte beyond the set matters. All bytes if its automaton is large.
fn bytes_that_go_on(scanner: &Scanner, terminal: u32) -> Vec<Bits> {
    let Some(lexeme) = scanner.lexeme(terminal) else { return vec![[0; 4]] };
    let ahead = scanner.looks_ahead(terminal);
    let mut numbers: SeededMap<StateId, u32> = SeededMap::from_iter([(lexeme.start(), 0)]);
    let mut seen: Vec<StateId> = vec![lexeme.start()];
    // The states that lead to each, and what matters at each end.
    let mut from: Vec<Vec<u32>> = vec![Vec::new()];
    let mut ends: Vec<(u32, Bits)> = Vec::new();
    let mut at = 0;
    while let Some(&state) = seen.get(at) {
        let number = at as u32;
        at += 1;
        let accepting = if ahead { lexeme.next(state, END) > CLOSED } else { lexeme.state(state).accepting };
        if accepting && number > 0 {
            ends.push((number, bits(&scanner.bytes_that_matter((terminal, state)))));
        }
        for (lo, _) in lexeme.byte_runs() {
            let to = lexeme.next(state, lo);
            if to <= CLOSED || ahead && lo == END {
                continue;
            }
            let next = *numbers.entry(to).or_insert_with(|| {
                seen.push(to);
                from.push(Vec::new());
                seen.len() as u32 - 1
            });
            if seen.len() > MOST {
                return vec![[u64::MAX; 4]];
            }
            if from[next as usize].last() != Some(&number) {
                from[next as usize].push(number);
            }
        }
    }
    let mut all = [0; 4];
    ends.iter().for_each(|(_, set)| add(&mut all, set));
    let mut sets: Vec<Bits> = ends.iter().map(|(_, set)| *set).collect();
    sets.sort_unstable();
    sets.dedup();
    /// Sets that are tried.
    const FEW: usize = 8;
    sets.truncate(FEW);
    let within = |set: &Bits, other: &Bits| !set.iter().zip(other).any(|(a, b)| a & !b != 0);
    let is_reached_from_everywhere = |set: &Bits| {
        let mut todo: Vec<u32> = ends.iter().filter(|(_, end)| within(end, set)).map(|end| end.0).collect();
        let mut reached = vec![false; seen.len()];
        todo.iter().for_each(|&number| reached[number as usize] = true);
        while let Some(number) = todo.pop() {
            for &before in &from[number as usize] {
                if !std::mem::replace(&mut reached[before as usize], true) {
                    todo.push(before);
                }
            }
        }
        reached.iter().all(|&reached| reached)
    };
    let mut out: Vec<Bits> = sets.into_iter().filter(is_reached_from_everywhere).collect();
    if out.is_empty() {
        out.push(all);
    }
    out
}

/// The bytes by which a text of a terminal can go on to what may still become a text of another one.
fn bytes_that_go_on_beside(scanner: &Scanner, terminal: u32, other: u32) -> Bits {
    let mut out = [0u64; 4];
    let (Some(a), Some(b)) = (scanner.lexeme(terminal), scanner.lexeme(other)) else { return out };
    let start = (a.start(), b.start());
    let mut known = SeededSet::from_iter([start]);
    let mut seen = vec![start];
    let mut at = 0;
    let live = |l: &Lexeme, from: StateId, byte: u8| Some(l.next(from, byte)).filter(|&to| to > CLOSED);
    while let Some(&(x, y)) = seen.get(at) {
        at += 1;
        let accepting = at > 1
            && match scanner.looks_ahead(terminal) {
                true => a.next(x, END) > CLOSED,
                false => a.state(x).accepting,
            };
        for byte in 0..=255u8 {
            if byte == END && (scanner.looks_ahead(terminal) || scanner.looks_ahead(other)) {
                continue;
            }
            let Some(to) = live(b, y, byte) else { continue };
            if accepting {
                out[usize::from(byte) / 64] |= 1 << (byte % 64);
            }
            let Some(from) = live(a, x, byte) else { continue };
            if known.insert((from, to)) {
                if seen.len() >= MOST {
                    return [u64::MAX; 4];
                }
                seen.push((from, to));
            }
        }
    }
    out
}
