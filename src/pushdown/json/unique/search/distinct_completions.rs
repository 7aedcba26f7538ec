//! Some completions of a lexeme that are different values.
//!
//! The search for an unused value (see `search`) needs no more values of a scalar or key than its arrays have elements.
//! They are found breadth-first. Where every text is another value, each prefix that can be completed stands for one
//! more, so the search stops as soon as it has met enough prefixes, and completes each of them in the shortest way.
//! Texts of numbers may have equal values, which only whole texts tell.

use std::collections::VecDeque;

use crate::json::canonical::canonical;
use crate::lexeme::shortest_end::shortest_end;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::pushdown::json::unique::completions::onward;
use crate::pushdown::json::unique::memo::DistinctCompletions;
use crate::util::seeded_hash::SeededSet;

/// Places that one search goes on from, beside two for each value that is asked for.
const MAX_PLACES: usize = 1 << 10;

/// Ends of `lexeme` from `state`, after `count` code points and the bytes `before`, so that `most` of them are
/// different values. `is_number` says that several texts may have one value.
pub(super) fn varied_ends(
    lexeme: &Lexeme,
    (state, count): (StateId, u32),
    before: &[u8],
    is_number: bool,
    most: usize,
) -> DistinctCompletions {
    let mut ends: Vec<Box<[u8]>> = Vec::new();
    let mut values: SeededSet<Box<[u8]>> = SeededSet::default();
    let mut add = |text: Vec<u8>, ends: &mut Vec<Box<[u8]>>| {
        let whole = || [before, &text].concat();
        if !is_number || values.insert(canonical(&whole()).unwrap_or_else(|| whole().into())) {
            ends.push(text.into());
        }
    };
    let begun = !lexeme.state(state).is_plain();
    let mut open: VecDeque<(StateId, u32, bool, Vec<u8>)> = VecDeque::from([(state, count, begun, Vec::new())]);
    let mut left = MAX_PLACES.saturating_add(most.saturating_mul(2));
    while left > 0 && ends.len() + (if is_number { 0 } else { open.len() }) < most {
        let Some((state, count, begun, text)) = open.pop_front() else { break };
        left -= 1;
        if lexeme.kind() == LexemeKind::Raw && lexeme.state(state).accepting {
            add(text.clone(), &mut ends);
        }
        for (byte, to, count) in onward(lexeme, state, count, begun) {
            let text = [text.as_slice(), &[byte]].concat();
            match to {
                CLOSED => add(text, &mut ends),
                _ => open.push_back((to, count, begun && !lexeme.state(to).is_plain(), text)),
            }
        }
    }
    let is_whole = open.is_empty();
    for (state, count, _, mut text) in open.into_iter().take(most) {
        if ends.len() >= most {
            break;
        }
        if let Some(end) = shortest_end(lexeme, state, count) {
            text.extend_from_slice(&end);
            add(text, &mut ends);
        }
    }
    DistinctCompletions { is_enough: is_whole || ends.len() >= most, ends }
}
