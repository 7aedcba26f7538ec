//! Bounds of elements that must differ: in how many bytes one is ended, from anywhere inside it, as none of the others.
//!
//! The machine never leads where no such end is, so the question is how far the nearest one is. Some places of a value
//! are *free*: behind any state of them there are more different ends of a few bytes than an array has elements, as in
//! a string of any text, or behind the digits of a number. While a free place is open or still comes, one of its ends
//! will do, with the shortest way everywhere else. Where none is left, what is left of the element is of bounded
//! length, and any end is within that. So the longest of all parts, one behind the other, is a bound for both.
//!
//! An object that may have any key is free until it ends, whatever stands in it: it takes one more member than the
//! shortest end of what is open. Its bound is what is *added* to that of its frames.

use crate::expr::INF;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind, StateId};
use crate::pushdown::completion::completion_bounds::{
    AROUND_KEY, BYTES_OF_BYTE, BYTES_OF_ESCAPE, DIGITS, UNBOUNDED, most_bytes,
};
use crate::pushdown::completion::distinct_elements::inside;
use crate::pushdown::json::program::{ArrayProgram, ObjectProgram, Program};
use crate::util::seeded_hash::SeededMap;

/// Characters of which there are always more texts than elements, each of one byte.
const FREE_CHARS: u32 = 5;
/// Bytes that end a number behind its digits: a point, an exponent and its sign, each with a digit.
const BYTES_OF_NUMBER_END: u32 = 8;
/// States of a lexeme that are looked at.
const MAX_STATES: usize = 256;
/// Bytes within which enough ends are looked for.
const MAX_LENGTH: usize = 48;
/// More than an array has elements.
const MANY: u64 = 1 << 33;
/// Elements of an array, members of objects inside each other.
const MOST_ELEMENTS: u64 = 64;
const MAX_DEPTH: usize = 16;

/// What ends an open element as one that its array does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UniqueEnd {
    /// So many bytes, from anywhere inside it.
    Whole(u32),
    /// So many more than the frames inside it need.
    Added(u32),
    /// Nothing is known.
    Unknown,
}

/// Finds the bounds of the elements of array shapes.
pub(super) struct UniqueEnds<'a> {
    program: &'a Program,
    /// Tokens of a short member of each rule.
    values: &'a [u32],
    /// Whitespace that may have to follow anywhere.
    gap: u32,
    lexemes: SeededMap<u32, u32>,
    rules: SeededMap<u32, u32>,
}

impl<'a> UniqueEnds<'a> {
    pub(super) fn new(program: &'a Program, values: &'a [u32], gap: u32) -> Self {
        UniqueEnds { program, values, gap, lexemes: SeededMap::default(), rules: SeededMap::default() }
    }

    /// What ends an element of an array shape whose elements must differ.
    pub(super) fn of_shape(&mut self, a: &ArrayProgram) -> UniqueEnd {
        if !a.unique || !a.contains.is_empty() {
            return UniqueEnd::Unknown;
        }
        let rules = || a.prefix.iter().flatten().chain(&a.rest).map(|way| way.rule.0);
        let whole = rules().map(|rule| self.rule(rule, 0)).max().unwrap_or(UNBOUNDED);
        if whole != UNBOUNDED {
            return UniqueEnd::Whole(whole);
        }
        match rules().map(|rule| self.added(rule)).max().unwrap_or(UNBOUNDED) {
            UNBOUNDED => UniqueEnd::Unknown,
            added => UniqueEnd::Added(added),
        }
    }

    /// From anywhere inside a value of a rule.
    fn rule(&mut self, rule: u32, depth: usize) -> u32 {
        if depth > MAX_DEPTH {
            return UNBOUNDED;
        }
        if let Some(&known) = self.rules.get(&rule) {
            return known;
        }
        // A rule inside of itself has no bound.
        self.rules.insert(rule, UNBOUNDED);
        let r = &self.program.rules[rule as usize];
        let mut most = 0;
        for &l in &r.lexemes {
            most = most.max(self.lexeme(l));
        }
        for &a in &r.arrays {
            most = most.max(self.array(&self.program.arrays[a as usize], depth));
        }
        for &o in &r.objects {
            most = most.max(self.object(&self.program.objects[o as usize], depth));
        }
        self.rules.insert(rule, most);
        most
    }

    fn array(&mut self, a: &ArrayProgram, depth: usize) -> u32 {
        if a.max > MOST_ELEMENTS || a.unique || !a.contains.is_empty() {
            return UNBOUNDED;
        }
        let mut total = 1 + self.gap;
        for i in 0..a.max {
            let ways = a.ways(i).iter().map(|way| way.rule.0);
            let element = ways.map(|rule| self.rule(rule, depth + 1)).max().unwrap_or(0);
            total = total.saturating_add(element).saturating_add(1 + self.gap);
        }
        total
    }

    /// An object that has no keys but its names.
    fn object(&mut self, o: &ObjectProgram, depth: usize) -> u32 {
        let is_plain = o.others.is_empty() && o.witnesses == 0 && o.union.is_none();
        if !is_plain || o.dependent_required.is_some() {
            return UNBOUNDED;
        }
        let mut total = BYTES_OF_ESCAPE + 1 + self.gap;
        for (name, rule) in o.spelled.iter().zip(&o.rules) {
            let Some(rule) = rule else { continue };
            let key = (name.len() as u32).saturating_mul(most_bytes(name)).saturating_add(AROUND_KEY + 2 * self.gap);
            total = total.saturating_add(key).saturating_add(self.rule(rule.0, depth + 1));
        }
        total
    }

    /// Added to what the frames inside a value of a rule need.
    fn added(&mut self, rule: u32) -> u32 {
        let r = &self.program.rules[rule as usize];
        let mut most = 0;
        for &l in &r.lexemes {
            most = most.max(self.lexeme(l));
        }
        for &a in &r.arrays {
            let a = &self.program.arrays[a as usize];
            let longer = || {
                let is_text = |l: &u32| self.program.lexemes[*l as usize].missing_characters(0) == Some(0);
                let takes_text = |rule: u32| self.program.rules[rule as usize].lexemes.iter().any(is_text);
                let grows = a.max == u64::MAX && a.contains.is_empty() && !a.unique;
                let free = grows && a.rest.iter().any(|way| takes_text(way.rule.0));
                if free { DIGITS + 3 + self.gap } else { UNBOUNDED }
            };
            most = most.max(longer().min(self.array(a, 0)));
        }
        for &o in &r.objects {
            let o = &self.program.objects[o as usize];
            let grows = o.max == u64::MAX && o.witnesses == 0 && o.union.is_none();
            let any_key = o.others.iter().find(|class| grows && class.keys.is_none());
            let member = any_key.map_or(UNBOUNDED, |class| {
                let value = self.values[class.rule.0 as usize];
                value.saturating_add(AROUND_KEY + DIGITS + 2 * self.gap)
            });
            most = most.max(member.min(self.object(o, 0)));
        }
        most
    }

    /// From any state of a lexeme.
    fn lexeme(&mut self, number: u32) -> u32 {
        if let Some(&known) = self.lexemes.get(&number) {
            return known;
        }
        let bound = of_lexeme(&self.program.lexemes[number as usize]);
        self.lexemes.insert(number, bound);
        bound
    }
}

fn of_lexeme(lexeme: &Lexeme) -> u32 {
    let is_text = lexeme.kind() != LexemeKind::Raw;
    if let (LexemeKind::Text { max, .. }, Some(missing)) = (lexeme.kind(), lexeme.missing_bytes(0)) {
        // With less room than for so many characters all that fits is within it.
        let last = if max == INF { DIGITS } else { BYTES_OF_ESCAPE * (FREE_CHARS - 1) };
        return missing.saturating_add(last);
    }
    let state = inside(lexeme);
    let longest = if state > CLOSED { lexeme.longest(state) } else { UNBOUNDED };
    if longest < INF {
        let bytes = if is_text { longest.saturating_mul(BYTES_OF_BYTE) } else { longest };
        return bytes.saturating_add(BYTES_OF_ESCAPE);
    }
    if lexeme.is_bounded() || state <= CLOSED {
        return UNBOUNDED;
    }
    let Some(near) = enough_ends(lexeme) else { return UNBOUNDED };
    let around = if is_text { BYTES_OF_ESCAPE } else { BYTES_OF_NUMBER_END + DIGITS };
    lexeme.distance_bound().max(near).saturating_add(around)
}

/// Within so many bytes each state has more different ends than an array has elements, or all of them. Of a string
/// those count that are written without escapes, and of a number those of nothing but digits: no two of them are equal.
/// States behind a number's point or exponent are not looked at: there is a digit or an exponent that makes a
/// difference, or else all that follows is one value.
fn enough_ends(lexeme: &Lexeme) -> Option<u32> {
    let is_text = lexeme.kind() != LexemeKind::Raw;
    let states = if is_text { lexeme.text_states()? } else { states_of_digits(lexeme) };
    if states.len() > MAX_STATES {
        return None;
    }
    let numbers: SeededMap<StateId, usize> = states.iter().copied().zip(0..).collect();
    let counts = |byte: &u8| match is_text {
        true => (0x20..0x7F).contains(byte) && !matches!(byte, b'"' | b'\\'),
        false => byte.is_ascii_digit(),
    };
    // Of each state the targets of the bytes that count, and how many of these lead there.
    let targets = |&state: &StateId| {
        let mut targets: Vec<(usize, u64)> = Vec::new();
        for number in (0..=0x7F).filter(counts).filter_map(|byte| numbers.get(&lexeme.next(state, byte)).copied()) {
            match targets.iter_mut().find(|(known, _)| *known == number) {
                Some((_, ways)) => *ways += 1,
                None => targets.push((number, 1)),
            }
        }
        targets
    };
    let steps: Vec<Vec<(usize, u64)>> = states.iter().map(targets).collect();
    let is_end =
        |state: StateId| if is_text { lexeme.next(state, b'"') == CLOSED } else { lexeme.state(state).accepting };
    let ends: Vec<u64> = states.iter().map(|&state| u64::from(is_end(state))).collect();
    // In the middle of a character its other bytes come first.
    let is_inside_char = |state: StateId| (0..=0x7Fu8).all(|byte| lexeme.next(state, byte) == DEAD_STATE);
    let mut bound = 0;
    let (mut of_length, mut up_to) = (ends.clone(), ends);
    // The last length at which a state that has not enough ends yet has some. Ends of more bytes than there are states
    // go round in circles, so there is no end of them.
    let mut lacking: Vec<usize> = (0..states.len()).filter(|&at| !is_inside_char(states[at])).collect();
    for length in 1..=(states.len() + MAX_LENGTH) as u32 {
        let ways = |to: &Vec<(usize, u64)>| {
            to.iter().fold(0u64, |sum, &(state, ways)| sum.saturating_add(of_length[state].saturating_mul(ways)))
        };
        of_length = steps.iter().map(ways).collect();
        up_to.iter_mut().zip(&of_length).for_each(|(all, more)| *all = all.saturating_add(*more));
        if lacking.iter().any(|&at| of_length[at] > 0) {
            bound = length;
        }
        lacking.retain(|&at| up_to[at] < MANY);
    }
    let is_finite = |&at: &usize| if is_text { lexeme.longest(states[at]) < INF } else { true };
    (bound <= MAX_LENGTH as u32 && lacking.iter().all(is_finite)).then_some(bound)
}

/// The states of a number that a sign and digits lead to.
fn states_of_digits(lexeme: &Lexeme) -> Vec<StateId> {
    let mut states = vec![lexeme.start()];
    let mut at = 0;
    while let Some(&state) = states.get(at).filter(|_| states.len() <= MAX_STATES) {
        for next in b"-0123456789".iter().map(|&byte| lexeme.next(state, byte)) {
            if next > CLOSED && !states.contains(&next) {
                states.push(next);
            }
        }
        at += 1;
    }
    states
}
