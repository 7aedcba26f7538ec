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
const MAX_SEARCHED: usize = 2_000;
/// Bytes of one code point in a JSON string at most, where the shortest spelling is taken: `\u0001`.
const BYTES_OF_CHAR: u64 = 6;
/// Bytes that end an escape which was begun, a second surrogate included, and the closing quote.
const BYTES_OF_ESCAPE: u64 = 12;

/// So many bytes lead from any state of the lexeme, after any number of code points, to its end. `None` where finding
/// out takes too long.
pub fn farthest(lexeme: &Lexeme) -> Option<u64> {
    if let Some(chars) = lexeme.farthest_chars() {
        return Some(u64::from(chars) * BYTES_OF_CHAR + BYTES_OF_ESCAPE);
    }
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
            let (chars, _) = lexeme.growth();
            let known = chars < INF && !lexeme.is_bounded();
            return known.then(|| u64::from(chars) * BYTES_OF_CHAR + BYTES_OF_ESCAPE);
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
