//! The largest distance of any state of a lexeme from an accepting state.
//!
//! A token budget asks by how much one token can lengthen the way to the end. Inside a scalar the answer is at most the
//! distance of the state that is farthest from any end. All states are found, and their distances by a breadth-first
//! search backwards from the accepting ones. Strings of bounded length need no search where their lengths leave no gap,
//! and of a lexeme of many states the structure tells a bound.

use std::collections::VecDeque;

use crate::expr::INF;
use crate::lexeme::{CLOSED, DEAD, Lexeme, LexemeKind, StateId};
use crate::util::hash::SeededMap;

/// Pairs of a state and a count that are looked at.
const MAX_SEARCHED: usize = 100;
/// Bytes of one code point in a JSON string at most, where the shortest spelling is taken: `\u0001`.
const BYTES_OF_CHAR: u64 = 6;
/// Bytes that end an escape which was begun, a second surrogate included, and the closing quote.
const BYTES_OF_ESCAPE: u64 = 12;

impl Lexeme {
    /// So many bytes lead from any state of the lexeme, after any number of code points, to its end; [`INF`] where
    /// finding out takes too long. Found once.
    pub fn distance_bound(&self) -> u32 {
        *self.farthest.get_or_init(|| {
            if let Some(missing) = self.missing_bytes(0) {
                return missing;
            }
            let chars = self.farthest_chars().or_else(|| {
                let (chars, _) = self.growth();
                (chars < INF && !self.is_bounded()).then_some(chars)
            });
            let Some(chars) = chars else {
                return farthest(self).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(INF);
            };
            let one = self.bytes_of_char();
            // A character that was begun is not counted.
            let begun = match self.kind() {
                LexemeKind::Raw => {
                    if one == 4 {
                        3
                    } else {
                        0
                    }
                }
                LexemeKind::Text { .. } => BYTES_OF_ESCAPE as u32,
            };
            chars.saturating_mul(one).saturating_add(begun)
        })
    }

    /// So many bytes lead from any state of any string, after `count` code points, to its end; `None` of other lexemes.
    pub fn missing_bytes(&self, count: u32) -> Option<u32> {
        let LexemeKind::Text { min, .. } = self.kind() else { return None };
        self.is_any_text().then(|| min.saturating_sub(count).saturating_add(BYTES_OF_ESCAPE as u32))
    }

    /// Bytes of one character at most, where the shortest spelling is taken.
    fn bytes_of_char(&self) -> u32 {
        let used = self.lock().exprs.used_bytes(self.state(self.start).expr);
        let any = |bytes: std::ops::RangeInclusive<u8>| bytes.into_iter().any(|b| used[usize::from(b)]);
        match () {
            () if self.kind() != LexemeKind::Raw && any(0..=0x1F) => BYTES_OF_CHAR as u32,
            () if any(0x80..=0xFF) => 4,
            () if self.kind() != LexemeKind::Raw && (used[usize::from(b'"')] || used[usize::from(b'\\')]) => 2,
            () => 1,
        }
    }
}

/// So many bytes lead from any state of the lexeme, after any number of code points, to its end. `None` where finding
/// out takes too long.
fn farthest(lexeme: &Lexeme) -> Option<u64> {
    let raw = lexeme.kind() == LexemeKind::Raw;
    let bytes = lexeme.bytes_of_classes();
    let key =
        |state: StateId, count: u32| (state, if lexeme.is_bounded() { lexeme.significant_count(count) } else { 0 });
    let mut places = vec![key(lexeme.start(), 0)];
    let mut numbers: SeededMap<(StateId, u32), usize> = SeededMap::from_iter([(places[0], 0)]);
    // Steps by their targets, and the places from which one byte ends the lexeme or none is needed.
    let mut before: Vec<Vec<u32>> = vec![Vec::new()];
    let mut distance: Vec<Option<u64>> = vec![None];
    let mut at = 0;
    while let Some(&(state, count)) = places.get(at) {
        let data = lexeme.state(state);
        if raw && data.accepting {
            distance[at] = Some(0);
        }
        for &b in &bytes {
            let next = lexeme.next_from(state, data, b);
            if next == DEAD {
                continue;
            }
            if next == CLOSED {
                if lexeme.may_close(count) && distance[at].is_none() {
                    distance[at] = Some(1);
                }
                continue;
            }
            let mut after = count;
            if !raw {
                after = count.saturating_add(lexeme.starts_char(data, b) as u32);
                if !lexeme.live_at(lexeme.state(next), after) {
                    continue;
                }
            }
            let place = key(next, after);
            let number = *numbers.entry(place).or_insert_with(|| {
                places.push(place);
                before.push(Vec::new());
                distance.push(None);
                places.len() - 1
            });
            before[number].push(at as u32);
        }
        if places.len() > MAX_SEARCHED {
            return None;
        }
        at += 1;
    }
    let mut ends: Vec<usize> = (0..places.len()).filter(|&p| distance[p].is_some()).collect();
    ends.sort_by_key(|&p| distance[p]);
    let mut queue = VecDeque::from(ends);
    let mut most = 0;
    while let Some(place) = queue.pop_front() {
        let here = distance[place]?;
        most = most.max(here);
        for &from in &before[place] {
            let known = &mut distance[from as usize];
            if known.is_none_or(|d| d > here + 1) {
                *known = Some(here + 1);
                queue.push_back(from as usize);
            }
        }
    }
    // Every state is live, so every one has a distance.
    distance.iter().all(Option::is_some).then_some(most)
}

#[cfg(test)]
mod tests;
