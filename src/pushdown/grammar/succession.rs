//! Succession: which terminals the longest match of another one lets follow.
//!
//! A terminal that took its longest match may not be followed by what would make it longer: behind a name no letter may
//! come, so `in` can follow it only behind a blank. A terminal is *free* if all that the grammar puts behind it can come,
//! at once or behind an ignored terminal. Where all that was begun can be completed with free terminals alone, a
//! text that ends in one can be completed, and nothing needs to be searched.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::expr::ByteSet;
use crate::grammar::model::Lexer;
use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::closure::{Closure, Found, Shifted};
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::parse_stack::{Branch, NodeId};
use crate::pushdown::grammar::productions::Productions;
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId, Scanner, TerminalState};
use crate::util::bounded_cache::BoundedCache;
use crate::util::hash::{SeededMap, SeededSet};

/// Bytes of ends that one index keeps.
const ENDS_BYTES: usize = 2 << 20;

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
    /// For each terminal whether it lets all follow that may come behind it.
    free: Box<[bool]>,
    /// For each terminal whether the output may end with it: nothing must follow.
    may_be_last: Box<[bool]>,
    /// The ignored terminals.
    ignored: Box<[u32]>,
    /// The bytes that begin each document.
    documents: Box<[Bits]>,
    /// The ends that can be reached from states of the scanner.
    ends_ahead: BoundedCache<ScanStateId, Option<Arc<EndsAhead>>, ENDS_BYTES>,
    /// All terminals are free, ignored ones too.
    pub is_free: bool,
}

impl Succession {
    /// Anything may follow anything.
    pub fn free() -> Self {
        Succession {
            first: Box::default(),
            going_on: Box::default(),
            free: Box::default(),
            may_be_last: Box::default(),
            ignored: Box::default(),
            documents: Box::default(),
            ends_ahead: BoundedCache::default(),
            is_free: true,
        }
    }

    /// For terminals that take longest matches.
    pub fn of(scanner: &Scanner, follow: &Follow, ignored: &[u32], documents: &[ByteSet]) -> Self {
        let count = follow.len() as u32;
        let first: Box<[Bits]> = (0..count).map(|t| bits(follow.first(t))).collect();
        // All bytes that a terminal reads are more than those that go on, and known at once.
        let read = |t: u32| vec![scanner.lexeme(t).map_or([0; 4], |l| bits(&l.used_bytes()))];
        let going_on: Box<[Vec<Bits>]> = (0..count).map(read).collect();
        let known: Vec<u32> = (0..count).filter(|&t| scanner.lexeme(t).is_some()).collect();
        let mut this = Succession {
            first,
            going_on,
            free: Box::default(),
            may_be_last: (0..count).map(|t| !scanner.looks_ahead(t)).collect(),
            ignored: ignored.into(),
            documents: documents.iter().map(bits).collect(),
            ends_ahead: BoundedCache::default(),
            is_free: false,
        };
        let contextual = scanner.lexer() == Lexer::Contextual;
        let mut is_won = vec![true; count as usize];
        for &terminal in &known {
            if contextual || ignored.contains(&terminal) || !this.lets_all(follow, terminal) {
                let begin_alike = |other: &u32| {
                    let both = this.first[terminal as usize].iter().zip(&this.first[*other as usize]);
                    *other != terminal && both.into_iter().any(|(a, b)| a & b != 0) && follow.together(terminal, *other)
                };
                let others: Vec<u32> = known.iter().copied().filter(|o| contextual && begin_alike(o)).collect();
                let sets = bytes_that_go_on(scanner, terminal, &others);
                is_won[terminal as usize] = !sets.is_empty();
                this.may_be_last[terminal as usize] &= !others.iter().any(|&other| scanner.looks_ahead(other));
                this.going_on[terminal as usize] = sets;
            }
        }
        this.free = (0..count).map(|t| is_won[t as usize] && this.lets_all(follow, t)).collect();
        let lets_any = |&between: &u32| known.iter().all(|&next| next == between || this.leads_to(between, next));
        // Rules may name ignored terminals as well. Where none does, nothing follows them here.
        let rules_are_free = known.iter().all(|t| this.free[*t as usize]);
        this.is_free = rules_are_free && documents.is_empty() && ignored.iter().all(lets_any);
        this
    }

    /// For each symbol whether it can be read with free terminals alone.
    pub fn read_freely(&self, productions: &Productions) -> Box<[bool]> {
        let mut free: Box<[bool]> = (0..productions.symbols() as u32)
            .map(|s| match s < productions.terminals {
                true => self.is_free || self.free[s as usize] || productions.nullable[s as usize],
                false => !productions.is_rule(s) || productions.nullable[s as usize],
            })
            .collect();
        let mut grown = true;
        while grown {
            grown = false;
            for production in &productions.all {
                if !free[production.of as usize] && production.parts.iter().all(|&part| free[part as usize]) {
                    free[production.of as usize] = true;
                    grown = true;
                }
            }
        }
        free
    }

    /// Sets of bytes that must not come behind a terminal. From wherever the terminal has come it can be ended so that
    /// each of them holds.
    pub fn bytes_that_go_on(&self, terminal: u32) -> &[[u64; 4]] {
        self.going_on.get(terminal as usize).map_or(&[], |sets| sets)
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

    /// Whether what begins with these bytes can come behind a terminal, at once or behind an ignored one.
    fn leads_to_begin(&self, terminal: u32, first: &Bits) -> bool {
        let between = |&t: &u32| self.lets(terminal, t) && self.lets_begin(t, first);
        self.lets_begin(terminal, first) || self.ignored.iter().any(between)
    }

    /// Whether something may come behind a terminal, of which `sets` say what must not follow, behind which everything
    /// can be completed.
    fn leads_on(&self, sets: &[Bits], closure: &Closure, productions: &Productions) -> bool {
        let lets_begin = |first: &Bits| sets.iter().any(|set| escapes(set, first));
        let leads_to = |first: &Bits| {
            let between = |&t: &u32| lets_begin(&self.first[t as usize]) && self.lets_begin(t, first);
            lets_begin(first) || self.ignored.iter().any(between)
        };
        closure.next_completes.iter().any(|&next| match productions.document(next) {
            _ if next < productions.terminals => self.free[next as usize] && leads_to(&self.first[next as usize]),
            Some(document) => leads_to(&self.documents[document as usize]),
            None => true,
        })
    }

    /// The ends that can be reached from a state of the scanner. `None` if there are too many states.
    fn ends_from(&self, scanner: &Scanner, state: ScanStateId) -> Option<Arc<EndsAhead>> {
        if let Some(known) = self.ends_ahead.get(&state) {
            return known;
        }
        let ends = EndsAhead::of(scanner, state).map(Arc::new);
        let size = ends.as_ref().map_or(0, |ends| ends.memory_bytes());
        self.ends_ahead.keep(state, ends.clone(), size + 64);
        ends
    }

    /// Whether a terminal lets all follow that may come behind it.
    fn lets_all(&self, follow: &Follow, terminal: u32) -> bool {
        follow.terminals(terminal).iter().all(|&next| self.leads_to(terminal, next))
            && follow.documents(terminal).iter().all(|first| self.leads_to_begin(terminal, &bits(first)))
    }
}

/// What is known of a branch without following it byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Wherever the terminals lead that are being read, the output can be completed.
    Open,
    /// The output can be completed.
    Completes,
    /// It cannot.
    Dead,
    /// That takes a search.
    Unknown,
}

impl GrammarMachine<'_> {
    /// Whether a branch can be completed, as far as that can be told from what may come next. Adds the nodes of the stack
    /// that tell.
    pub fn outlook(&mut self, branch: &Branch, decided: &mut Vec<NodeId>) -> Outlook {
        if self.program.succession.is_free || branch.is_in_document() {
            return Outlook::Open;
        }
        let tops: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = self.program.closure(self.stack, &tops);
        decided.extend_from_slice(found.decided());
        self.outlook_at(branch.scan, &found, decided)
    }

    /// The outlook of a state of the scanner where `found` says what may come.
    pub fn outlook_at(&mut self, state: ScanStateId, found: &Found, decided: &mut Vec<NodeId>) -> Outlook {
        let program = self.program;
        let scan = program.scanner.state(state);
        let mut looks = LOOKS;
        if scan.at_boundary {
            return match self.completes_behind(scan.obligations, found, decided, &mut looks) {
                Some(true) => Outlook::Completes,
                Some(false) => Outlook::Dead,
                None => Outlook::Unknown,
            };
        }
        if scan.live.iter().all(|&(terminal, _)| self.is_well(state, terminal, found)) {
            return Outlook::Open;
        }
        let Some(ends) = program.succession.ends_from(&program.scanner, state) else { return Outlook::Unknown };
        let answers: SmallVec<[Option<bool>; 8]> =
            ends.all.iter().map(|&end| self.completes_with(end, found, decided, &mut looks)).collect();
        if answers.contains(&Some(true)) {
            match ends.are_reached_from_everywhere(|end| answers[end as usize] == Some(true)) {
                true => Outlook::Open,
                false => Outlook::Completes,
            }
        } else if answers.contains(&None) {
            Outlook::Unknown
        } else {
            Outlook::Dead
        }
    }

    /// Whether it is known beforehand that a terminal which is live in a state can be ended, and the output be completed.
    fn is_well(&self, state: ScanStateId, terminal: u32, found: &Found) -> bool {
        let program = self.program;
        let succession = &program.succession;
        let closure = &found.closure;
        let obliged = program.scanner.state(state).obligations != NO_OBLIGATIONS;
        let leads_on = || {
            let may_be_last = closure.accepting && succession.may_be_last[terminal as usize];
            let sets = &succession.going_on[terminal as usize];
            may_be_last || succession.leads_on(sets, closure, &program.productions)
        };
        let is_next = closure.next.binary_search(&terminal).is_ok();
        let may_be_next =
            || succession.free[terminal as usize] && closure.next_completes.binary_search(&terminal).is_ok();
        !obliged && (!is_next || may_be_next()) && (!program.ignored.contains(&terminal) || leads_on())
    }

    /// Whether the output can be completed behind an end; `None` if that can't be told.
    fn completes_with(
        &mut self,
        (terminal, obligations): (u32, ObligationsId),
        found: &Found,
        decided: &mut Vec<NodeId>,
        looks: &mut u32,
    ) -> Option<bool> {
        let program = self.program;
        let mut answer = Some(false);
        if program.ignored.contains(&terminal) {
            answer = self.completes_behind(obligations, found, decided, looks);
        }
        if answer == Some(true) || found.closure.next.binary_search(&terminal).is_err() {
            return answer;
        }
        let mut shifted = Shifted::default();
        found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
        let tops = shifted.finish(self.stack);
        let behind = program.closure(self.stack, &tops);
        decided.extend_from_slice(behind.decided());
        match (answer, self.completes_behind(obligations, &behind, decided, looks)) {
            (None, Some(false)) => None,
            (_, answer) => answer,
        }
    }

    /// Whether the output can be completed at a boundary where `found` says what may come next.
    fn completes_behind(
        &mut self,
        obligations: ObligationsId,
        found: &Found,
        decided: &mut Vec<NodeId>,
        looks: &mut u32,
    ) -> Option<bool> {
        let program = self.program;
        let succession = &program.succession;
        let closure = &found.closure;
        if closure.accepting && program.scanner.may_end(obligations) {
            return Some(true);
        }
        let set = bits(&program.scanner.bytes_that_keep(obligations));
        if succession.leads_on(&[set], closure, &program.productions) {
            return Some(true);
        }
        // Nothing is known to lead on, so all that may begin is looked at.
        let mut answer = Some(false);
        if closure.next.last().is_some_and(|&next| next >= program.productions.terminals) {
            answer = None;
        }
        let start = program.scan_start(found, obligations);
        for &byte in program.scanner.bytes_of_classes() {
            let state = program.scanner.next(start, byte);
            if state == REFUSED {
                continue;
            }
            if *looks == 0 {
                return None;
            }
            *looks -= 1;
            let live = &program.scanner.state(state).live;
            let is_well = |&(terminal, _): &TerminalState| {
                self.is_well(state, terminal, found) && !program.ignored.contains(&terminal)
            };
            if live.iter().any(is_well) {
                return Some(true);
            }
            let Some(ends) = succession.ends_from(&program.scanner, state) else {
                answer = None;
                continue;
            };
            for &end in &ends.all {
                match self.completes_with(end, found, decided, looks) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => answer = None,
                }
            }
        }
        answer
    }
}

/// Terminals that are looked at for one answer.
const LOOKS: u32 = 40;

/// States of automata that are looked at for one terminal.
const MOST: usize = 20_000;

fn add(to: &mut Bits, more: &Bits) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// The states of a terminal's automaton, and those that lead to each.
struct States {
    numbers: SeededMap<StateId, u32>,
    all: Vec<StateId>,
    from: Vec<Vec<u32>>,
}

impl States {
    /// `None` if they are too many.
    fn of(scanner: &Scanner, terminal: u32) -> Option<Self> {
        let start = scanner.lexeme(terminal)?.start();
        let mut states =
            States { numbers: SeededMap::from_iter([(start, 0)]), all: vec![start], from: vec![Vec::new()] };
        let mut at = 0;
        while let Some(&state) = states.all.get(at) {
            for &byte in scanner.bytes_of_classes() {
                let to = scanner.step(terminal, state, byte);
                if to <= CLOSED {
                    continue;
                }
                let count = states.all.len() as u32;
                let next = *states.numbers.entry(to).or_insert(count);
                if next == count {
                    states.all.push(to);
                    states.from.push(Vec::new());
                }
                let from = &mut states.from[next as usize];
                if from.last() != Some(&(at as u32)) {
                    from.push(at as u32);
                }
            }
            if states.all.len() > MOST {
                return None;
            }
            at += 1;
        }
        Some(states)
    }
}

/// What must not come behind an end; `None` where the terminal does not end.
type End = Option<Bits>;

/// Sets of bytes that must not come behind a terminal: from every state of its automaton an end can be reached at which
/// no byte beyond the set matters. `others` may begin at the same places and take a text for themselves. All bytes if
/// the automaton is large; none if the others take every text.
fn bytes_that_go_on(scanner: &Scanner, terminal: u32, others: &[u32]) -> Vec<Bits> {
    let Some(states) = States::of(scanner, terminal) else { return vec![[u64::MAX; 4]] };
    let end = |&state: &StateId| {
        scanner.accepts(terminal, state).then(|| bits(&scanner.bytes_that_matter((terminal, state))))
    };
    let mut ends: Vec<End> = states.all.iter().map(end).collect();
    ends[0] = None;
    for &other in others {
        if !beside(scanner, terminal, other, &states, &mut ends) {
            return vec![[u64::MAX; 4]];
        }
    }
    sets_reached_from_everywhere(&states.from, &ends)
}

/// The ends that can be reached from a state of the scanner without beginning another terminal.
struct EndsAhead {
    /// The terminals that end, and what must be kept behind them.
    all: Vec<(u32, ObligationsId)>,
    /// For each state that is reached the ends at it.
    at: Vec<SmallVec<[u32; 1]>>,
    /// For each state that is reached those that lead to it.
    from: Vec<SmallVec<[u32; 2]>>,
}

impl EndsAhead {
    fn of(scanner: &Scanner, state: ScanStateId) -> Option<Self> {
        /// States of the scanner that are looked at.
        const MOST: usize = 2_000;
        let mut numbers: SeededMap<ScanStateId, u32> = SeededMap::from_iter([(state, 0)]);
        let mut states = vec![state];
        let mut ends = EndsAhead { all: Vec::new(), at: Vec::new(), from: vec![SmallVec::new()] };
        while let Some(&id) = states.get(ends.at.len()) {
            let number = ends.at.len() as u32;
            let here = scanner.state(id).ends.iter().map(|end| match ends.all.iter().position(|known| known == end) {
                Some(at) => at as u32,
                None => {
                    ends.all.push(*end);
                    ends.all.len() as u32 - 1
                }
            });
            let here = here.collect();
            ends.at.push(here);
            for &byte in scanner.bytes_of_classes() {
                let to = scanner.next(id, byte);
                if to == REFUSED {
                    continue;
                }
                let count = states.len() as u32;
                let next = *numbers.entry(to).or_insert(count);
                if next == count {
                    states.push(to);
                    ends.from.push(SmallVec::new());
                }
                let from = &mut ends.from[next as usize];
                if from.last() != Some(&number) {
                    from.push(number);
                }
            }
            if states.len() > MOST {
                return None;
            }
        }
        Some(ends)
    }

    /// Whether every state leads to an end that is good.
    fn are_reached_from_everywhere(&self, is_good: impl Fn(u32) -> bool) -> bool {
        let mut reached: Vec<bool> = self.at.iter().map(|ends| ends.iter().any(|&end| is_good(end))).collect();
        let mut todo: Vec<u32> = (0..self.at.len() as u32).filter(|&number| reached[number as usize]).collect();
        while let Some(number) = todo.pop() {
            for &before in &self.from[number as usize] {
                if !std::mem::replace(&mut reached[before as usize], true) {
                    todo.push(before);
                }
            }
        }
        reached.iter().all(|&reached| reached)
    }

    fn memory_bytes(&self) -> usize {
        self.all.len() * 8 + self.at.len() * 48
    }
}

/// Which sets of bytes hold at ends that can be reached from everywhere. None if some state leads to no end.
fn sets_reached_from_everywhere(from: &[Vec<u32>], ends: &[End]) -> Vec<Bits> {
    /// Sets that are tried.
    const FEW: usize = 8;
    let mut all = [0; 4];
    ends.iter().flatten().for_each(|set| add(&mut all, set));
    let mut sets: Vec<Bits> = ends.iter().flatten().copied().collect();
    sets.sort_unstable_by_key(|set| (set.iter().map(|word| word.count_ones()).sum::<u32>(), *set));
    sets.dedup();
    sets.truncate(FEW);
    sets.push(all);
    let within = |set: &Bits, other: &Bits| !set.iter().zip(other).any(|(a, b)| a & !b != 0);
    let is_reached_from_everywhere = |set: &Bits| {
        let holds = |end: &End| end.is_some_and(|end| within(&end, set));
        let mut reached: Vec<bool> = ends.iter().map(holds).collect();
        let mut todo: Vec<u32> = (0..ends.len() as u32).filter(|&number| reached[number as usize]).collect();
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
    // What a smaller set says, a larger one need not.
    let least = out.clone();
    out.retain(|set| !least.iter().any(|other| other != set && within(other, set)));
    out.dedup();
    out
}

/// Adds to the ends of a terminal what another one means that may begin at the same places: by which bytes it may go on
/// where the terminal ends, and which ends it takes for itself. False if that can't be told.
fn beside(scanner: &Scanner, terminal: u32, other: u32, states: &States, ends: &mut [End]) -> bool {
    let (Some(a), Some(b)) = (scanner.lexeme(terminal), scanner.lexeme(other)) else { return true };
    let start = (a.start(), b.start());
    let mut known = SeededSet::from_iter([start]);
    let mut seen = vec![start];
    let mut at = 0;
    while let Some(&(x, y)) = seen.get(at) {
        let end = states.numbers.get(&x).map(|&number| &mut ends[number as usize]).filter(|_| at > 0);
        at += 1;
        let mut goes_on = [0u64; 4];
        for (class, &byte) in scanner.bytes_of_classes().iter().enumerate() {
            let to = scanner.step(other, y, byte);
            if to <= CLOSED {
                continue;
            }
            scanner.bytes_of_class(class).for_each(|byte| goes_on[byte / 64] |= 1 << (byte % 64));
            let from = scanner.step(terminal, x, byte);
            if from > CLOSED && known.insert((from, to)) {
                seen.push((from, to));
            }
        }
        if seen.len() > MOST {
            return false;
        }
        let Some(end) = end else { continue };
        if let Some(set) = end {
            add(set, &goes_on);
        }
        if scanner.accepts(other, y) && scanner.prefers(other, terminal) {
            match scanner.bytes_that_decide((other, y)) {
                // Only where what follows is not what it looks ahead for.
                Some(more) => end.iter_mut().for_each(|set| add(set, &bits(&more))),
                None => *end = None,
            }
        }
    }
    true
}
