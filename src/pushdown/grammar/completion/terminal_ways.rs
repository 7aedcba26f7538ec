//! Ways through a terminal: texts that end it, each with what must not follow then.
//!
//! A terminal that takes its longest match may only be read as the obligations of those before it let it, and leaves
//! obligations of its own. Which lead to which is found by a breadth-first search, so the text of a way is the shortest
//! one. Of two ways the one that is no shorter and forbids no less is left out.
//!
//! Where terminals are taken each for itself, the search goes over the terminal's own automaton and the obligations,
//! and finds all ways. Where they compete it goes over the scanner with all terminals that may begin at one place with
//! this one, anywhere in the grammar. Fewer compete at any one place, so a way that is found exists, and others may.

use std::sync::Arc;

use crate::grammar::model::Lexer;
use crate::lexeme::shortest_end::preferred;
use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId, Scanner};
use crate::util::cancel::is_exhausted;
use crate::util::seeded_hash::{SeededMap, SeededSet};
use crate::util::work_meter::is_over;

/// A text that ends a terminal.
#[derive(Clone)]
pub struct Way {
    /// What must not follow.
    pub to: ObligationsId,
    /// The text, as far as it is still to come.
    pub text: Arc<[u8]>,
}

/// Texts that end a terminal, shortest first.
#[derive(Clone, Default)]
pub struct Ways {
    /// The texts.
    pub all: Vec<Way>,
    /// There may be others.
    pub cut: bool,
}

impl Ways {
    /// Adds a way that is no shorter than those before it. False if it is none that matters.
    fn add(&mut self, scanner: &Scanner, to: ObligationsId, most: usize, text: impl FnOnce() -> Arc<[u8]>) {
        if self.all.iter().any(|known| scanner.is_weaker(known.to, to)) {
            return;
        }
        if self.all.len() >= most {
            self.cut = true;
            return;
        }
        self.all.push(Way { to, text: text() });
    }
}

/// How far a search looks.
#[derive(Clone, Copy)]
pub struct Reach {
    /// Ways of one terminal.
    pub ways: usize,
    /// States that are looked at.
    pub states: usize,
}

/// Obligations that are stepped while a part of an alternative is followed.
const STEPPED_AT_ONCE: usize = 64;
/// So many terminals and obligations of a scanner's state take longer than the search.
const MANY: usize = 256;

/// Ways that were found.
pub struct TerminalWays {
    reach: Reach,
    /// A byte of each class, letters and digits first.
    bytes: Box<[u8]>,
    alone: SeededMap<(u32, StateId, ObligationsId), Arc<Ways>>,
    scans: SeededMap<ScanStateId, Arc<[(u32, Ways)]>>,
    beside: SeededMap<(u32, ScanStateId), Arc<Ways>>,
    /// For each terminal that was asked for, the state of the scanner beside all that it competes with.
    starts: SeededMap<u32, ScanStateId>,
    /// What searches beside many obligations took, counted as parts of alternatives.
    work: usize,
    /// Who asked could not wait for an answer, so ways may be missing.
    pub was_stopped: bool,
}

impl TerminalWays {
    /// No ways yet.
    pub fn new(scanner: &Scanner, reach: Reach) -> Self {
        TerminalWays {
            reach,
            bytes: byte_of_each_class(scanner),
            alone: SeededMap::default(),
            scans: SeededMap::default(),
            beside: SeededMap::default(),
            starts: SeededMap::default(),
            work: 0,
            was_stopped: false,
        }
    }

    /// What searches took since it was asked for last.
    pub fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// How many searches are remembered.
    pub fn num_searches(&self) -> usize {
        self.alone.len() + self.scans.len() + self.beside.len()
    }

    /// The ways of a terminal that begins under obligations.
    pub fn from_start(
        &mut self,
        scanner: &Scanner,
        follow: &Follow,
        terminal: u32,
        obligations: ObligationsId,
    ) -> Ways {
        let Some(lexeme) = scanner.lexeme(terminal) else { return Ways::default() };
        if scanner.lexer() != Lexer::Contextual {
            return (*self.alone(scanner, terminal, lexeme.start(), obligations)).clone();
        }
        let start = *self.starts.entry(terminal).or_insert_with(|| start_beside_rivals(scanner, follow, terminal));
        (*self.beside_rivals(scanner, terminal, scanner.oblige_start(start, obligations))).clone()
    }

    /// The ways of all terminals that may be read in a state of the scanner.
    pub fn from_scan(&mut self, scanner: &Scanner, scan: ScanStateId) -> Arc<[(u32, Ways)]> {
        if scanner.lexer() == Lexer::Contextual {
            return self.of_all(scanner, scan);
        }
        let state = scanner.state(scan);
        let each = state
            .live
            .iter()
            .map(|&(terminal, from)| (terminal, (*self.alone(scanner, terminal, from, state.obligations)).clone()));
        each.collect()
    }

    /// The shortest text of a terminal by itself.
    pub fn shortest(&mut self, scanner: &Scanner, terminal: u32) -> Option<Arc<[u8]>> {
        let start = scanner.lexeme(terminal)?.start();
        self.alone(scanner, terminal, start, NO_OBLIGATIONS).all.first().map(|way| way.text.clone())
    }

    /// The ways of a terminal by itself, from a state of its automaton.
    fn alone(&mut self, scanner: &Scanner, terminal: u32, from: StateId, obligations: ObligationsId) -> Arc<Ways> {
        if let Some(known) = self.alone.get(&(terminal, from, obligations)) {
            return known.clone();
        }
        let (mut ways, mut work) = (Ways::default(), 0);
        let at_start = scanner.lexeme(terminal).is_some_and(|lexeme| lexeme.start() == from);
        let step = |&(state, held): &(StateId, ObligationsId), byte: u8| {
            let to = scanner.step(terminal, state, byte);
            Some((to, scanner.next_obligations(held, byte).filter(|_| to > CLOSED)?))
        };
        let whole = search(&self.bytes, self.reach.states, (from, obligations), step, |&(state, held), text| {
            work += scanner.obligations(held).len() * self.bytes.len() / STEPPED_AT_ONCE;
            // Nothing that is empty comes onto the stack.
            let is_text = text.at > 0 || !at_start;
            if is_text && let Some(to) = scanner.ended((terminal, state), held) {
                ways.add(scanner, to, self.reach.ways, || text.bytes());
            }
            // Nothing is weaker than no obligations.
            ways.cut || ways.all.last().is_some_and(|way| scanner.obligations(way.to).is_empty())
        });
        ways.cut |= !whole;
        self.work += work;
        self.was_stopped |= !whole && must_end();
        let ways = Arc::new(ways);
        self.alone.insert((terminal, from, obligations), ways.clone());
        ways
    }

    /// The ways of a terminal from a state of the scanner in which others compete with it. Where it is not read any
    /// longer it does not end, so few states are looked at.
    fn beside_rivals(&mut self, scanner: &Scanner, terminal: u32, scan: ScanStateId) -> Arc<Ways> {
        if let Some(known) = self.beside.get(&(terminal, scan)) {
            return known.clone();
        }
        // One that never wins among all its rivals may win where fewer compete.
        let (mut ways, mut work) = (Ways { all: Vec::new(), cut: true }, 0);
        // Its own automaton tells first, since states of the scanner are made on use.
        let step = |&scan: &ScanStateId, byte: u8| {
            let &(_, own) = scanner.state(scan).live.iter().find(|live| live.0 == terminal)?;
            let to = (scanner.step(terminal, own, byte) > CLOSED).then(|| scanner.next(scan, byte))?;
            Some(to).filter(|&to| to != REFUSED)
        };
        let whole = search(&self.bytes, self.reach.states, scan, step, |&scan, text| {
            let state = scanner.state(scan);
            work += (state.live.len() + scanner.obligations(state.obligations).len()) / MANY * self.bytes.len();
            if let Some(&(_, to)) = state.ends.iter().find(|end| end.0 == terminal) {
                ways.add(scanner, to, self.reach.ways, || text.bytes());
            }
            // Nothing is weaker than no obligations.
            ways.all.len() >= self.reach.ways || ways.all.last().is_some_and(|way| way.to == NO_OBLIGATIONS)
        });
        self.work += work;
        self.was_stopped |= !whole && must_end();
        let ways = Arc::new(ways);
        self.beside.insert((terminal, scan), ways.clone());
        ways
    }

    /// The ways of all terminals that compete in a state of the scanner.
    fn of_all(&mut self, scanner: &Scanner, scan: ScanStateId) -> Arc<[(u32, Ways)]> {
        if let Some(known) = self.scans.get(&scan) {
            return known.clone();
        }
        let (mut found, mut work): (Vec<(u32, Ways)>, usize) = Default::default();
        let step = |&scan: &ScanStateId, byte: u8| Some(scanner.next(scan, byte)).filter(|&to| to != REFUSED);
        let whole = search(&self.bytes, self.reach.states, scan, step, |&scan, text| {
            let state = scanner.state(scan);
            work += (state.live.len() + scanner.obligations(state.obligations).len()) / MANY * self.bytes.len();
            for &(terminal, to) in &state.ends {
                let at = found.iter().position(|(of, _)| *of == terminal).unwrap_or_else(|| {
                    found.push((terminal, Ways { all: Vec::new(), cut: true }));
                    found.len() - 1
                });
                found[at].1.add(scanner, to, self.reach.ways, || text.bytes());
            }
            false
        });
        self.work += work;
        self.was_stopped |= !whole && must_end();
        let found: Arc<[(u32, Ways)]> = found.into();
        self.scans.insert(scan, found.clone());
        found
    }
}

/// A byte of each class, likely text first.
pub(super) fn byte_of_each_class(scanner: &Scanner) -> Box<[u8]> {
    let mut seen = [false; 256];
    preferred().filter(|&byte| !std::mem::replace(&mut seen[scanner.class(byte)], true)).collect()
}

/// The state at a boundary where a terminal may begin, and all that may begin where it does somewhere.
pub(super) fn start_beside_rivals(scanner: &Scanner, follow: &Follow, terminal: u32) -> ScanStateId {
    if follow.is_everywhere(terminal) {
        return scanner.start_of_all();
    }
    let begins = |&other: &u32| other == terminal || follow.together(terminal, other);
    scanner.start((0..scanner.len() as u32).filter(begins))
}

/// The text that led to a state of a search.
pub(super) struct TextTo<'s, S> {
    /// Each state with the one before it, and the byte between.
    pub(super) order: &'s [(S, u32, u8)],
    /// Which of them it is.
    pub(super) at: usize,
}

impl<S> TextTo<'_, S> {
    pub(super) fn bytes(&self) -> Arc<[u8]> {
        let (mut out, mut at) = (Vec::new(), self.at);
        while at != 0 {
            out.push(self.order[at].2);
            at = self.order[at].1 as usize;
        }
        out.reverse();
        out.into()
    }
}

/// Visits states breadth first until `visit` says that it has enough. False if there were too many.
fn search<S: Copy + Eq + std::hash::Hash>(
    bytes: &[u8],
    most: usize,
    start: S,
    step: impl Fn(&S, u8) -> Option<S>,
    mut visit: impl FnMut(&S, TextTo<'_, S>) -> bool,
) -> bool {
    let mut order: Vec<(S, u32, u8)> = vec![(start, 0, 0)];
    let mut seen = SeededSet::from_iter([start]);
    let mut at = 0;
    while at < order.len() {
        let state = order[at].0;
        if visit(&state, TextTo { order: &order, at }) {
            return true;
        }
        for &byte in bytes {
            let Some(to) = step(&state, byte) else { continue };
            if seen.insert(to) {
                order.push((to, at as u32, byte));
            }
        }
        if order.len() > most {
            return false;
        }
        at += 1;
        if must_end() {
            return false;
        }
    }
    true
}

/// Whether the mask or the compile that asks has taken what it may.
pub(super) fn must_end() -> bool {
    is_over() || is_exhausted()
}
