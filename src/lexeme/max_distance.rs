//! The largest distance of any state of a lexeme from an accepting state.
//!
//! A token budget asks by how much one token can lengthen the way to the end. Inside a scalar the answer is at most the
//! distance of the state that is farthest from any end. All states are found, and their distances by a breadth-first
//! search backwards from the accepting ones. Strings of bounded length need no search where their lengths leave no gap,
//! and of a lexeme of many states the structure tells a bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::expr::analysis::completes_without::completes_without;
use crate::expr::analysis::farthest_end::farthest_end;
use crate::expr::analysis::most_texts::farthest_end_of_most_texts;
use crate::expr::{ByteSet, Expr, ExprId, INF};
use crate::lexeme::shortest_end::after;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind, StateId, byte_classes};
use crate::util::seeded_hash::SeededMap;

/// States that are looked at, and pairs of a state and a count.
const MAX_STATES: usize = 512;
const MAX_SEARCHED: usize = 2_000;
/// A number whose structure tells no more bytes than this is not searched: that takes up to half a millisecond.
const FAR: u32 = 8;
/// Bytes of one code point in a JSON string at most, where the shortest spelling is taken: `\u0001`.
const BYTES_OF_CHAR: u64 = 6;
/// Bytes that end an escape which was begun, a second surrogate included, and the closing quote.
const BYTES_OF_ESCAPE: u64 = 12;

/// The farthest end of some states.
#[derive(Clone, Copy)]
pub(crate) struct Farthest {
    pub bytes: u32,
    pub states: usize,
}

impl Lexeme {
    /// So many bytes lead from any state of the lexeme, after any number of code points, to its end; [`INF`] where
    /// finding out takes too long. Found once.
    pub fn distance_bound(&self) -> u32 {
        *self.farthest.get_or_init(|| {
            if let Some(missing) = self.missing_bytes(0) {
                return missing;
            }
            let escaped = BYTES_OF_ESCAPE as u32;
            if let Some(chars) = self.farthest_chars() {
                return chars.saturating_mul(self.bytes_of_char()).saturating_add(escaped);
            }
            let by_structure = match self.kind() {
                _ if !self.is_bounded() => self.farthest_bytes(),
                // A live state has a way within the largest length, so the way of the fewest characters is within it.
                LexemeKind::Text { min: 0, .. } => {
                    let expr = self.state(self.start).expr;
                    let bytes = self.bytes_of_char();
                    farthest_end(&self.lock().exprs, expr, chars_of).saturating_mul(bytes)
                }
                _ => INF,
            };
            match self.kind() {
                LexemeKind::Text { max, .. } if by_structure == INF => match farthest(self) {
                    None => INF,
                    Some(bytes) if max == INF => bytes.saturating_add(escaped),
                    // Where less text than that fits, a state has a way of as few characters.
                    Some(bytes) => bytes.saturating_mul(self.bytes_of_char()).saturating_add(escaped),
                },
                _ if by_structure == INF => farthest(self).unwrap_or(INF),
                // The structure of a number may have long ways beside short ones, and that of a list has what it needs.
                LexemeKind::Raw if by_structure > FAR && self.is_number() => {
                    farthest(self).map_or(by_structure, |bytes| bytes.min(by_structure))
                }
                LexemeKind::Raw => by_structure,
                LexemeKind::Text { .. } => by_structure.saturating_add(escaped),
            }
        })
    }

    /// Whether texts may be numbers, and are no keys and no strings.
    fn is_number(&self) -> bool {
        let begins = |bytes: &[u8]| bytes.iter().any(|&byte| self.next(self.start, byte) != DEAD_STATE);
        begins(b"-0123456789") && !begins(b"\"x_")
    }

    /// How far the end of a string is from a state of it after `count` code points, and from any state that plain text
    /// leads to from there, where no greatest length is near. `None` inside an escape, and where finding out takes too
    /// long. Remembered.
    pub(crate) fn farthest_from(&self, state: StateId, count: u32) -> Option<Farthest> {
        let LexemeKind::Text { min, .. } = self.kind() else { return None };
        self.ends().farthest((state, count.min(min)), || {
            let distances = self.distances_from(state, count)?;
            Some(Farthest { bytes: distances.values().copied().max()?, states: distances.len() })
        })
    }

    /// So many bytes lead to the end from each state, after so many code points, of those that
    /// [`farthest_from`](Self::farthest_from) looks at. More code points than a text needs count as those.
    pub(crate) fn distances_from(&self, state: StateId, count: u32) -> Option<SeededMap<(StateId, u32), u32>> {
        self.state(state).is_plain().then(|| distances(self, state, count, false))?
    }

    /// The states of a string outside of escapes, whatever text leads to them; `None` of other lexemes, and where
    /// finding out takes too long.
    pub(crate) fn text_states(&self) -> Option<Vec<StateId>> {
        if self.kind() == LexemeKind::Raw {
            return None;
        }
        let places = distances(self, self.start(), 0, true)?.into_keys();
        let mut states: Vec<StateId> = places.map(|(state, _)| state).filter(|&state| state != self.start()).collect();
        states.sort_unstable();
        states.dedup();
        Some(states)
    }

    /// So many bytes lead from any state of any string, after `count` code points, to its end; `None` of other lexemes.
    pub fn missing_bytes(&self, count: u32) -> Option<u32> {
        Some(self.missing_characters(count)?.saturating_add(BYTES_OF_ESCAPE as u32))
    }

    /// So many characters any string lacks after `count` code points; `None` of other lexemes.
    pub(crate) fn missing_characters(&self, count: u32) -> Option<u32> {
        let LexemeKind::Text { min, .. } = self.kind() else { return None };
        self.is_any_text().then(|| min.saturating_sub(count))
    }

    /// So many bytes lead from a state of any string, after `count` code points, or of a number, to its end; `None`
    /// inside an escape, and where only a search tells it.
    pub fn most_to_end(&self, state: StateId, count: u32) -> Option<u32> {
        if self.kind() == LexemeKind::Raw {
            return self.least_bytes_are_exact().then(|| self.least_bytes(state, u32::MAX));
        }
        let missing = self.missing_characters(count)?;
        // Characters that are missing stand behind one that was begun.
        self.state(state).is_plain().then(|| self.least_bytes(state, u32::MAX).saturating_add(missing))
    }

    /// Whether a quote ends any string here, between two characters, and behind whatever characters may follow.
    pub(crate) fn ends_with_quote(&self, state: StateId, count: u32) -> bool {
        self.is_any_text() && self.most_to_end(state, count) == Some(1)
    }

    /// Whether [`least_bytes`](Lexeme::least_bytes) complete the lexeme from any state, which is so of raw ones without
    /// intersections, complements and recursion.
    pub fn least_bytes_are_exact(&self) -> bool {
        *self.exact.get_or_init(|| {
            if self.kind() != LexemeKind::Raw {
                return false;
            }
            let expr = self.state(self.start).expr;
            let b = self.lock();
            let is_plain = |&e: &ExprId| !matches!(b.exprs.get(e), Expr::And(_) | Expr::Not(_) | Expr::Fix(_));
            b.exprs.reachable(expr).iter().all(is_plain)
        })
    }

    /// Of how many alternatives a state is made, which says how long its transitions take to find.
    pub fn width(&self, id: StateId) -> usize {
        let state = self.state(id);
        let b = self.lock();
        let of = |e: ExprId| match b.exprs.get(e) {
            Expr::Alt(parts) => parts.len(),
            _ => 1,
        };
        match b.exprs.get(state.expr) {
            Expr::And(parts) => parts.iter().map(|&part| of(part)).sum(),
            _ => of(state.expr),
        }
    }

    /// [`farthest_end`] of the lexeme's expression, in bytes of its shortest spelling; [`INF`] where its structure does
    /// not tell it.
    fn farthest_bytes(&self) -> u32 {
        let expr = self.state(self.start).expr;
        let cost = |byte| self.cost_of(byte);
        let b = self.lock();
        farthest_end_of_most_texts(&b.exprs, self.shared.any_text, expr, cost)
            .unwrap_or_else(|| farthest_end(&b.exprs, expr, cost))
    }

    /// Bytes of the shortest spelling of one byte.
    fn cost_of(&self, byte: u8) -> u32 {
        match self.kind() {
            LexemeKind::Text { .. } if byte < 0x20 => BYTES_OF_CHAR as u32,
            LexemeKind::Text { .. } if b"\"\\".contains(&byte) => 2,
            _ => 1,
        }
    }

    /// The bytes from 0x7F on of which [`shortest_end`](crate::lexeme::shortest_end::shortest_end) may be made, from
    /// whatever state of a text.
    pub fn completing_bytes(&self) -> ByteSet {
        let mut used = self.used_bytes();
        used[..0x7F].fill(false);
        let LexemeKind::Text { min, max, .. } = self.kind() else { return used };
        let expr = self.state(self.start).expr;
        let is_first = |byte: u8| byte >= 0xC0;
        let exprs = &self.lock().exprs;
        // Bytes are spelled by themselves, so each way is compared by what it costs without them.
        let is_shortest =
            || completes_without(exprs, expr, |byte| if is_first(byte) { 0 } else { self.cost_of(byte) }, is_first);
        // A largest length may leave no room for the shortest way. Characters of one byte are the shortest way into it
        // where no others lead there by fewer characters.
        let is_of_fewest_chars =
            || completes_without(exprs, expr, chars_of, |byte| is_first(byte) || self.cost_of(byte) > 1);
        if min == 0 && is_shortest() && (max == INF || is_of_fewest_chars()) {
            used[0xC0..].fill(false);
        }
        used
    }

    /// Bytes of one decoded byte of a text at most, where the shortest spelling is taken.
    fn bytes_of_byte(&self) -> u32 {
        let used = self.used_bytes();
        let any = |mut bytes: std::ops::RangeInclusive<u8>| bytes.any(|b| used[usize::from(b)]);
        match () {
            () if any(0..=0x1F) => BYTES_OF_CHAR as u32,
            () if used[usize::from(b'"')] || used[usize::from(b'\\')] => 2,
            () => 1,
        }
    }

    /// Bytes of one character of a text at most, where the shortest spelling is taken.
    fn bytes_of_char(&self) -> u32 {
        let used = self.used_bytes();
        let wide = if used[0x80..].contains(&true) { 4 } else { 1 };
        self.bytes_of_byte().max(wide)
    }
}

/// Characters that begin with a byte.
fn chars_of(byte: u8) -> u32 {
    u32::from(!(0x80..0xC0).contains(&byte))
}

/// So many bytes lead from a state of the lexeme after `count` code points, and from any that text leads to from
/// there, to its end. A greatest length is taken for none. Of a string only states outside of escapes are looked at:
/// those that plain text leads to, or with `escaped` all of them. `None` where finding out takes too long.
pub(super) fn distances(
    lexeme: &Lexeme,
    start: StateId,
    count: u32,
    escaped: bool,
) -> Option<SeededMap<(StateId, u32), u32>> {
    let steps = spelled_steps(lexeme, escaped);
    let least = if let LexemeKind::Text { min, .. } = lexeme.kind() { min } else { 0 };
    // Text that is long enough has one future, whatever its length.
    let key = |state: StateId, count: u32| (state, count.min(least));
    let mut places = vec![key(start, count)];
    let mut states: FxHashSet<StateId> = FxHashSet::default();
    let mut numbers: SeededMap<(StateId, u32), usize> = SeededMap::from_iter([(places[0], 0)]);
    // Steps by their targets, with their bytes, and the places from which one byte ends the lexeme or none is needed.
    let mut before: Vec<Vec<(u32, u64)>> = vec![Vec::new()];
    let mut distance: Vec<Option<u64>> = vec![None];
    let mut at = 0;
    while let Some(&(state, count)) = places.get(at) {
        if lexeme.kind() == LexemeKind::Raw && lexeme.state(state).accepting {
            distance[at] = Some(0);
        }
        for step in &steps {
            let place = match after_all(lexeme, state, count, step) {
                None => continue,
                Some((CLOSED, _)) => {
                    distance[at] = distance[at].or(Some(1));
                    continue;
                }
                Some((next, count)) => key(next, count),
            };
            let number = *numbers.entry(place).or_insert_with(|| {
                places.push(place);
                states.insert(place.0);
                before.push(Vec::new());
                distance.push(None);
                places.len() - 1
            });
            before[number].push((at as u32, step.len() as u64));
        }
        if places.len() > MAX_SEARCHED || states.len() > MAX_STATES {
            return None;
        }
        at += 1;
    }
    // Dijkstra's search from the ends, backwards.
    let ends = (0..places.len()).filter_map(|place| Some(Reverse((distance[place]?, place))));
    let mut open: BinaryHeap<Reverse<(u64, usize)>> = ends.collect();
    while let Some(Reverse((here, place))) = open.pop() {
        if distance[place] != Some(here) {
            continue;
        }
        for &(from, bytes) in &before[place] {
            let known = &mut distance[from as usize];
            if known.is_none_or(|known| known > here + bytes) {
                *known = Some(here + bytes);
                open.push(Reverse((here + bytes, from as usize)));
            }
        }
    }
    // Every state is live, so every one has a distance.
    let found = places.into_iter().zip(distance);
    found.map(|(place, distance)| Some((place, u32::try_from(distance?).unwrap_or(INF)))).collect()
}

/// The farthest of the [`distances`] from the start.
fn farthest(lexeme: &Lexeme) -> Option<u32> {
    distances(lexeme, lexeme.start(), 0, true)?.into_values().max()
}

/// What is written at a time: a byte of each class. Of a string, those are the classes of what is decoded, each with a
/// byte that stands for itself, or else, where escapes are asked for, with an escape; and the closing quote.
fn spelled_steps(lexeme: &Lexeme, escaped: bool) -> Vec<SmallVec<[u8; 6]>> {
    if lexeme.kind() == LexemeKind::Raw {
        return lexeme.bytes_of_classes().into_iter().map(|byte| SmallVec::from_slice(&[byte])).collect();
    }
    let used = lexeme.used_bytes();
    let classes = byte_classes(&lexeme.lock().exprs, lexeme.state(lexeme.start).expr, LexemeKind::Raw);
    let bytes: Vec<u8> = (0..=255u8).filter(|&byte| used[usize::from(byte)]).collect();
    let of_class = bytes.chunk_by(|&a, &b| classes[usize::from(a)] == classes[usize::from(b)]);
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    let step = |class: &[u8]| match class.iter().find(|&&byte| is_plain(byte)) {
        Some(&byte) => Some(SmallVec::from_slice(&[byte])),
        None => class.iter().filter(|_| escaped).map(|&byte| escape(byte)).min_by_key(|escape| escape.len()),
    };
    of_class.filter_map(step).chain([SmallVec::from_slice(b"\"")]).collect()
}

/// The shortest escape of a byte that cannot stand for itself.
fn escape(byte: u8) -> SmallVec<[u8; 6]> {
    match byte {
        b'"' | b'\\' => SmallVec::from_slice(&[b'\\', byte]),
        b'\n' => SmallVec::from_slice(b"\\n"),
        b'\r' => SmallVec::from_slice(b"\\r"),
        b'\t' => SmallVec::from_slice(b"\\t"),
        8 => SmallVec::from_slice(b"\\b"),
        12 => SmallVec::from_slice(b"\\f"),
        _ => SmallVec::from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

/// Where bytes lead from a state after `count` code points; [`CLOSED`] behind the closing quote, which comes last.
fn after_all(lexeme: &Lexeme, state: StateId, count: u32, bytes: &[u8]) -> Option<(StateId, u32)> {
    bytes.iter().try_fold((state, count), |(state, count), &byte| after(lexeme, state, count, byte))
}

#[cfg(test)]
mod tests;
