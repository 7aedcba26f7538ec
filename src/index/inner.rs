//! Inner masks without a full walk.
//!
//! Three shortcuts, each exact, for states from which much of the vocabulary is live:
//!
//! * a state that accepts *any text* from here on shares the one mask of any text;
//! * a *class loop* is the mask of any text without the tokens that contain a byte outside the class, plus the few
//!   tokens that leave the loop, stepped one by one;
//! * otherwise a *differential walk* from the mask of the state that most tokens lead to: walk the trie with both
//!   states, skip subtrees where they have become the same, and touch only the tokens in which they differ.
//!
//! What none of them fits is walked in full.

use super::rows::ByteRows;
use super::submask::{LOOK, in_parts, nodes_above};
use super::tables::{MaskedLexeme, Tables};
use crate::automaton::lexeme::{CLOSED, DEAD, Kind, Lexeme, StateId};
use crate::automaton::steps::{END, Local, QUOTE, Steps};
use crate::vocab::{Trie, Vocabulary};

/// With fewer live tokens than this below the root's live children, a walk is cheap enough.
const FEW: usize = 2_500;
/// So does one that meets no more nodes of the trie than this.
const SHORT: usize = 2_000;
/// Tokens that leave a class loop are stepped one by one up to this number.
const LEAVING: usize = 6_000;
/// How many masks may be made to make one.
const DEPTH: u32 = 3;

/// The row of tokens that stay inside from `state` at the trie's root, if a shortcut fits.
pub fn row(
    tables: &Tables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    depth: u32,
) -> Option<Vec<u32>> {
    let l = &*lexeme.lexeme;
    let any = tables.any(l.kind());
    if std::ptr::eq(any, lexeme) || l.is_any_text() || depth > DEPTH {
        return None;
    }
    let trie = vocabulary.trie();
    // How many tokens lie below each successor.
    let mut weights: Vec<(StateId, usize)> = Vec::new();
    let mut live = 0;
    for child in trie.children(0) {
        let to = l.next(state, trie.byte[child as usize]);
        if to <= CLOSED {
            continue;
        }
        let n = trie.subtree_tokens(child).len();
        live += n;
        match weights.iter_mut().find(|w| w.0 == to) {
            Some(w) => w.1 += n,
            None => weights.push((to, n)),
        }
    }
    if live < FEW || is_short(l, trie, state) {
        return None;
    }
    if l.is_any_from(state) {
        return Some(any_row(tables, vocabulary, l.kind()));
    }
    if let Some(row) = class_loop(tables, vocabulary, lexeme, state) {
        return Some(row);
    }
    if let Some(row) = counted(tables, vocabulary, lexeme, state) {
        return Some(row);
    }
    let &(base, weight) = weights.iter().filter(|w| w.0 != state).max_by_key(|w| (w.1, std::cmp::Reverse(w.0)))?;
    if weight * 2 < live {
        return None;
    }
    let mut row = known_row(tables, vocabulary, lexeme, base);
    differential(l, trie, state, l.mask_state(base), &mut row);
    Some(row)
}

/// Whether a walk from `state` ends soon, as inside a literal: it skips nearly all of what lies below live first bytes.
fn is_short(l: &Lexeme, trie: &Trie, state: StateId) -> bool {
    let mut steps = Steps::new(l);
    let mut stack = vec![steps.local(state); 64];
    let end = trie.len() as u32;
    let mut i = 1;
    for _ in 0..SHORT {
        if i >= end {
            return true;
        }
        let depth = trie.depth[i as usize] as usize;
        let to = steps.next(stack[depth - 1], trie.byte[i as usize]);
        if to <= QUOTE {
            i = trie.end[i as usize];
            continue;
        }
        if depth >= stack.len() {
            stack.resize(depth * 2, to);
        }
        stack[depth] = to;
        i += 1;
    }
    false
}

fn any_row(tables: &Tables, vocabulary: &Vocabulary, kind: Kind) -> Vec<u32> {
    let any = tables.any(kind);
    let l = &any.lexeme;
    let state = if kind == Kind::Raw { l.start() } else { l.next(l.start(), b'"') };
    known_row(tables, vocabulary, any, state)
}

/// The tokens that stay inside from `state`, as a row to change.
fn known_row(tables: &Tables, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Vec<u32> {
    let mut row = vec![0; tables.words];
    tables.root_mask(vocabulary, lexeme, state).inner.or_into(&mut row);
    row
}

/// Whether a token stays inside from `state`.
fn stays(l: &Lexeme, vocabulary: &Vocabulary, state: StateId, token: u32) -> bool {
    let bytes = vocabulary.token_bytes(token).unwrap_or_default();
    let end = bytes.iter().try_fold(state, |s, &b| Some(l.next(s, b)).filter(|&to| to > CLOSED));
    end.is_some_and(|s| s > CLOSED)
}

/// The mask of a state that loops on a class of characters.
fn class_loop(tables: &Tables, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Option<Vec<u32>> {
    let l = &*lexeme.lexeme;
    let mut outside = [false; 256];
    let mut leaving = [false; 256];
    let mut loops = 0;
    for b in 0..0x80u8 {
        let to = l.next(state, b);
        outside[b as usize] = to != state;
        leaving[b as usize] = to != state && to > CLOSED;
        loops += (to == state) as u32;
    }
    if loops == 0 {
        return None;
    }
    if (0x80..=0xFF).all(|b| l.next(state, b) == DEAD) {
        outside[0x80..].fill(true);
    } else if !every_wide_char_loops(l, state) {
        return None;
    }
    let rows: &ByteRows = tables.byte_rows(vocabulary);
    let leavers = rows.containing(&leaving, LEAVING)?;
    let mut row = any_row(tables, vocabulary, l.kind());
    rows.remove(&mut row, &outside);
    for t in leavers {
        if stays(l, vocabulary, state, t) {
            row[t as usize >> 5] |= 1 << (t & 31);
        }
    }
    Some(row)
}

/// The mask of a state with a count that a long token could exhaust. Where even a handful of copies allows all that
/// any number does, the count does not matter; else tokens shorter than the count cannot tell it from infinity, and the
/// few longer ones are walked.
fn counted(tables: &Tables, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Option<Vec<u32>> {
    /// Copies that hardly any token exceeds.
    const HANDFUL: u32 = 8;
    let l = &*lexeme.lexeme;
    let as_row = |s: StateId| known_row(tables, vocabulary, lexeme, s);
    if let Some((low, high)) = l.around(state, HANDFUL)
        && high != state
        && low != state
        && tables.count_is_idle(lexeme, low, high, || as_row(low) == as_row(high))
    {
        return Some(as_row(high));
    }
    let (reach, long) = tables.long_tokens();
    let (_, high) = l.around(state, *reach)?;
    if high == state {
        return None;
    }
    let mut row = as_row(high);
    differential(l, long, state, high, &mut row);
    Some(row)
}

/// Whether `state` steps through every character beyond ASCII back to itself, as any text does.
fn every_wide_char_loops(l: &Lexeme, state: StateId) -> bool {
    // UTF-8 by the standard's table of well-formed sequences.
    const WIDE: [&[(u8, u8)]; 8] = [
        &[(0xC2, 0xDF), (0x80, 0xBF)],
        &[(0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)],
        &[(0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)],
        &[(0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)],
        &[(0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)],
        &[(0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
        &[(0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
        &[(0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)],
    ];
    WIDE.iter().all(|sequence| {
        let mut front = vec![state];
        for &(lo, hi) in *sequence {
            let mut next = Vec::new();
            for &s in &front {
                for b in lo..=hi {
                    let to = l.next(s, b);
                    if to <= CLOSED {
                        return false;
                    }
                    if !next.contains(&to) {
                        next.push(to);
                    }
                }
            }
            front = next;
        }
        front == [state]
    })
}

/// Turns the mask of `base` into that of `state`, for the tokens of `trie`.
fn differential(l: &Lexeme, trie: &Trie, state: StateId, base: StateId, row: &mut [u32]) {
    in_parts(l, trie, 0, &[state, base], |l, states, from| differential_from(l, trie, from, states, row));
}

/// A part of [`differential`]. Returns where it stopped.
fn differential_from(l: &Lexeme, trie: &Trie, begin: u32, states: &[StateId], row: &mut [u32]) -> u32 {
    let held = l.memory_bytes();
    let mut steps = Steps::new(l);
    let mut stack = vec![(steps.local(states[0]), steps.local(states[1])); 64];
    let open = |s: Local| if s <= QUOTE { END } else { s };
    let step = |steps: &mut Steps<'_>, s: Local, byte: u8| open(if s <= QUOTE { END } else { steps.next(s, byte) });
    for i in nodes_above(trie, 0, begin) {
        let depth = trie.depth[i as usize] as usize;
        let (p, q) = stack[depth - 1];
        let byte = trie.byte[i as usize];
        stack.resize(stack.len().max(depth + 1), (END, END));
        stack[depth] = (step(&mut steps, p, byte), step(&mut steps, q, byte));
    }
    let mut look = steps.num_states() + LOOK;
    let end = trie.len() as u32;
    let mut i = begin;
    while i < end {
        if steps.num_states() > look {
            look = steps.num_states() + LOOK;
            if l.has_grown(held) {
                return i;
            }
        }
        let depth = trie.depth[i as usize] as usize;
        let (p, q) = stack[depth - 1];
        let byte = trie.byte[i as usize];
        let (np, nq) = (step(&mut steps, p, byte), step(&mut steps, q, byte));
        if np == nq {
            i = trie.end[i as usize];
            continue;
        }
        if np == END {
            for &t in trie.subtree_tokens(i) {
                row[t as usize >> 5] &= !(1 << (t & 31));
            }
            i = trie.end[i as usize];
            continue;
        }
        if nq == END {
            for &t in trie.tokens(i) {
                row[t as usize >> 5] |= 1 << (t & 31);
            }
        }
        if depth >= stack.len() {
            stack.resize(depth * 2, (END, END));
        }
        stack[depth] = (np, nq);
        i += 1;
    }
    end
}
