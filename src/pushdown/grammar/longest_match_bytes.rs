//! The bytes by which a terminal goes on: none of them may come behind it where it takes its longest match.

use smallvec::SmallVec;

use crate::expr::ByteSet;
use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::reachable_states::{ReachableStates, all_lead_to};
use crate::pushdown::grammar::scanner::Scanner;
use crate::util::hash::SeededSet;

/// A set of bytes as bits.
pub type Bits = [u64; 4];

/// The bytes of a set as bits.
pub fn bits(set: &ByteSet) -> Bits {
    let mut out = [0; 4];
    (0..256).filter(|&b| set[b]).for_each(|b| out[b / 64] |= 1 << (b % 64));
    out
}

/// Whether some byte of `first` is none of `going_on`.
pub fn escapes(going_on: &Bits, first: &Bits) -> bool {
    going_on.iter().zip(first).any(|(on, first)| first & !on != 0)
}

/// States of automata that are looked at for one terminal.
const MOST: usize = 20_000;

fn add(to: &mut Bits, more: &Bits) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// Whether all bytes of a set are in another one.
pub fn is_within(set: &Bits, other: &Bits) -> bool {
    set.iter().zip(other).all(|(a, b)| a & !b == 0)
}

/// The states of a terminal's automaton. `None` if they are too many.
pub fn states_of(scanner: &Scanner, terminal: u32) -> Option<ReachableStates> {
    let start = scanner.lexeme(terminal)?.start();
    let step = |state: StateId, byte: u8| Some(scanner.step(terminal, state, byte)).filter(|&to| to > CLOSED);
    ReachableStates::of(start, scanner.bytes_of_classes(), MOST, step)
}

/// What must not come behind an end; `None` where the terminal does not end.
type End = Option<Bits>;

/// Sets of bytes that must not come behind a terminal: from every state of its automaton an end can be reached at which
/// no byte beyond the set matters. `others` may begin at the same places and take a text for themselves. All bytes if
/// the automaton is large; none if the others take every text.
pub fn bytes_that_go_on(scanner: &Scanner, terminal: u32, others: &[u32]) -> Vec<Bits> {
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
fn sets_reached_from_everywhere(from: &[SmallVec<[u32; 2]>], ends: &[End]) -> Vec<Bits> {
    /// Sets that are tried.
    const FEW: usize = 8;
    let mut all = [0; 4];
    ends.iter().flatten().for_each(|set| add(&mut all, set));
    let mut sets: Vec<Bits> = ends.iter().flatten().copied().collect();
    sets.sort_unstable_by_key(|set| (set.iter().map(|word| word.count_ones()).sum::<u32>(), *set));
    sets.dedup();
    sets.truncate(FEW);
    sets.push(all);
    let is_reached_from_everywhere = |set: &Bits| {
        let holds = |end: &End| end.is_some_and(|end| is_within(&end, set));
        all_lead_to(from, ends.iter().map(holds).collect())
    };
    let mut out: Vec<Bits> = sets.into_iter().filter(is_reached_from_everywhere).collect();
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
