//! The bytes by which a terminal goes on: none of them may come behind it where it takes its longest match.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::expr::byte_bits::{ByteBits, bits};
use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::reachable_states::{ReachableStates, all_lead_to};
use crate::pushdown::grammar::scanner::Scanner;
use crate::util::seeded_hash::SeededSet;

/// Whether some byte of `first` is none of `going_on`.
pub fn escapes(going_on: &ByteBits, first: &ByteBits) -> bool {
    going_on.iter().zip(first).any(|(on, first)| first & !on != 0)
}

/// States of automata that are looked at for one terminal.
const MOST_STATES: usize = 20_000;

fn add(to: &mut ByteBits, more: &ByteBits) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// Whether all bytes of a set are in another one.
pub fn is_within(set: &ByteBits, other: &ByteBits) -> bool {
    set.iter().zip(other).all(|(a, b)| a & !b == 0)
}

/// The states of a terminal's automaton. `None` if they are too many.
pub fn states_of(scanner: &Scanner, terminal: u32) -> Option<ReachableStates> {
    let start = scanner.lexeme(terminal)?.start();
    let step = |state: StateId, byte: u8| Some(scanner.step(terminal, state, byte)).filter(|&to| to > CLOSED);
    ReachableStates::explore(start, scanner.bytes_of_classes(), MOST_STATES, step)
}

/// Which terminals are compared with which, where they compete for texts.
pub struct Rivals {
    /// The text of each terminal that has only one.
    texts: Vec<Option<Vec<u8>>>,
    /// These texts in order, each with its terminal.
    sorted: Vec<(Vec<u8>, u32)>,
    pairs: usize,
}

impl Rivals {
    /// The rivals among the terminals of a scanner.
    pub fn find(scanner: &Scanner) -> Rivals {
        let texts: Vec<Option<Vec<u8>>> = (0..scanner.len() as u32).map(|t| only_text(scanner, t)).collect();
        let mut sorted: Vec<(Vec<u8>, u32)> =
            (0..).zip(&texts).filter_map(|(t, text)| Some((text.clone()?, t))).collect();
        sorted.sort_unstable();
        Rivals { texts, sorted, pairs: 0 }
    }

    /// Those of `terminals` that compete with one of them and can tell where it ends: two keywords don't, unless one
    /// begins with the other.
    ///
    /// # Errors
    /// `Limit` if too many pairs were asked for.
    pub fn of_terminal(
        &mut self,
        terminal: u32,
        terminals: &[u32],
        competes: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>> {
        /// Pairs that are compared. One takes up to 2 us.
        const MOST_PAIRS: usize = 500_000;
        let mut out: Vec<u32> = match &self.texts[terminal as usize] {
            None => terminals.to_vec(),
            Some(text) => {
                let first = self.sorted.partition_point(|(other, _)| other < text);
                let longer = self.sorted[first..].iter().take_while(|(other, _)| other.starts_with(text));
                let others = terminals.iter().copied().filter(|&t| self.texts[t as usize].is_none());
                others.chain(longer.map(|&(_, t)| t)).collect()
            }
        };
        out.retain(|&other| competes(other));
        self.pairs += out.len();
        if self.pairs > MOST_PAIRS {
            let limit = Error::limit("pairs of terminals that begin alike", MOST_PAIRS as u64, self.pairs as u64);
            return Err(limit.with_hint("join terminals to one, or choose another lexer than the contextual one"));
        }
        Ok(out)
    }
}

/// The text of a terminal that has no other.
fn only_text(scanner: &Scanner, terminal: u32) -> Option<Vec<u8>> {
    /// Longer texts are rare.
    const MOST_BYTES: usize = 200;
    let mut state = scanner.lexeme(terminal)?.start();
    if scanner.looks_ahead(terminal) {
        return None;
    }
    let mut text = Vec::new();
    loop {
        let mut next = None;
        for (class, &byte) in scanner.bytes_of_classes().iter().enumerate() {
            let to = scanner.step(terminal, state, byte);
            if to > CLOSED && (next.replace((byte, to)).is_some() || scanner.bytes_of_class(class).len() > 1) {
                return None;
            }
        }
        match next {
            None => return Some(text),
            Some(_) if scanner.accepts(terminal, state) || text.len() == MOST_BYTES => return None,
            Some((byte, to)) => {
                text.push(byte);
                state = to;
            }
        }
    }
}

/// What must not come behind an end; `None` where the terminal does not end.
type End = Option<ByteBits>;

/// Sets of bytes that must not come behind a terminal: from every state of its automaton an end can be reached at which
/// no byte beyond the set matters. `others` may begin at the same places and take a text for themselves. All bytes if
/// the automaton is large; none if the others take every text.
pub fn bytes_that_go_on(scanner: &Scanner, terminal: u32, others: &[u32]) -> Vec<ByteBits> {
    let Some(states) = states_of(scanner, terminal) else { return vec![[u64::MAX; 4]] };
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

/// Which sets of bytes hold at ends that can be reached from everywhere. None if some state leads to no end.
fn sets_reached_from_everywhere(from: &[SmallVec<[u32; 2]>], ends: &[End]) -> Vec<ByteBits> {
    /// Sets that are tried.
    const FEW: usize = 8;
    let mut all = [0; 4];
    ends.iter().flatten().for_each(|set| add(&mut all, set));
    let mut sets: Vec<ByteBits> = ends.iter().flatten().copied().collect();
    sets.sort_unstable_by_key(|set| (set.iter().map(|word| word.count_ones()).sum::<u32>(), *set));
    sets.dedup();
    sets.truncate(FEW);
    sets.push(all);
    let is_reached_from_everywhere = |set: &ByteBits| {
        let holds = |end: &End| end.is_some_and(|end| is_within(&end, set));
        all_lead_to(from, ends.iter().map(holds).collect())
    };
    let mut out: Vec<ByteBits> = sets.into_iter().filter(is_reached_from_everywhere).collect();
    // What a smaller set says, a larger one need not.
    let least = out.clone();
    out.retain(|set| !least.iter().any(|other| other != set && is_within(other, set)));
    out.dedup();
    out
}

/// Adds to the ends of a terminal what another one means that may begin at the same places: by which bytes it may go on
/// where the terminal ends, and which ends it takes for itself. False if that can't be told.
fn beside(scanner: &Scanner, terminal: u32, other: u32, states: &ReachableStates, ends: &mut [End]) -> bool {
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
        if seen.len() > MOST_STATES {
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
