//! Completions of a scalar: how many values it may still become, and which.
//!
//! An element of an array of unique elements needs a completion that the array does not have. Mostly there are more
//! completions than elements, which is counted. Counts are lower bounds for numbers, of which one value has several
//! spellings; where few are left they are listed and compared. For strings counts are exact up to more than any array
//! uses up, so they are compared with how many elements begin alike, however long the strings are.

use std::sync::Arc;

use crate::expr::analysis::branching::ENOUGH;
use crate::json::canonical::canonical;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind};
use crate::pushdown::json::program::Program;
pub use crate::pushdown::json::unique::memo::Completion;
use crate::pushdown::json::unique::memo::{
    CompletionCounts, CompletionList, CompletionTexts, ENTRY, OVERHEAD, remembered,
};
use crate::util::seeded_hash::SeededSet;

/// Ways to end that are always listed.
const MANY: u64 = 4_096;

/// No number has more spellings: zero, with either sign, with and without a fraction.
pub const SPELLINGS: u64 = 66;

/// More texts of a string than any array uses up; a string has one spelling for each.
const MANY_TEXTS: u64 = 512;

/// Decimals are counted up to here, and so far; with more elements, or more digits to the next end, values are listed.
const MOST_DECIMALS: u64 = 1 << 16;
const DECIMAL_DIGITS: usize = 8;
/// States that are followed at once. What is left out is not counted.
const DECIMAL_STATES: usize = 64;

/// Places that are looked at to count texts, and so many of them lie between two that are remembered where nothing
/// branches off.
const MOST_PLACES: u32 = 1 << 16;
const MARKED: u32 = 8;

impl Program {
    /// The byte strings that lead a lexeme from `state`, after `count` code points, to its end, one at least for each
    /// value; `None` where they are so many that `used` values do not use them up.
    pub fn endings(&self, lexeme: u32, state: u32, count: u32, used: u32) -> CompletionTexts {
        let l = &self.lexemes[lexeme as usize];
        if l.kind() == LexemeKind::Raw {
            if self.has_many_endings(lexeme, state, count, used, false) {
                return None;
            }
            let list = || shortest_spellings(members(l, state, u64::MAX).unwrap_or_default());
            return Some(self.listed((lexeme, state, 0), list));
        }
        let count = if l.is_bounded() { count } else { 0 };
        if self.num_texts(lexeme, state, count) > MANY_TEXTS.max(u64::from(used) + 1) {
            return None;
        }
        Some(self.listed((lexeme, state, count), || texts(l, state, count)))
    }

    fn listed(&self, place: (u32, u32, u32), make: impl FnOnce() -> CompletionList) -> CompletionList {
        self.unique.completions.texts.get_or(place, || {
            let made = make();
            let bytes = made.iter().map(|text| text.len() + OVERHEAD).sum::<usize>() + ENTRY;
            (made, bytes)
        })
    }

    /// The values that a lexeme may become which has read `before`, without blanks in front of it, and stands in
    /// `state` after `count` code points, each once; `None` as [`endings`](Self::endings).
    pub fn values(&self, lexeme: u32, state: u32, count: u32, used: u32, before: &[u8]) -> Option<Arc<[Completion]>> {
        let texts = self.endings(lexeme, state, count, used)?;
        Some(self.unique.completions.values.get_or((lexeme, Box::from(before)), || {
            let mut known: SeededSet<Box<[u8]>> = SeededSet::default();
            let mut all = Vec::new();
            for rest in &*texts {
                let whole = [before, rest].concat();
                let value = canonical(&whole).unwrap_or_else(|| whole.into());
                if known.insert(value.clone()) {
                    all.push(Completion { value, rest: rest.clone() });
                }
            }
            let size = |ending: &Completion| ending.value.len() + ending.rest.len() + 2 * OVERHEAD;
            let bytes = all.iter().map(size).sum::<usize>() + before.len() + ENTRY;
            (all.into(), bytes)
        }))
    }

    /// Whether so many values end a lexeme from a state that `used` others are not all of them. False where that is not
    /// known without a list. `decimal` says that what was read of a number is the beginning of a decimal.
    pub fn has_many_endings(&self, lexeme: u32, state: u32, count: u32, used: u32, decimal: bool) -> bool {
        let l = &self.lexemes[lexeme as usize];
        match l.kind() {
            LexemeKind::Raw => {
                l.residual_size(state) > MANY.max((u64::from(used) + 1) * SPELLINGS)
                    || (decimal && self.num_decimals(lexeme, state) > u64::from(used))
            }
            _ => self.num_texts(lexeme, state, if l.is_bounded() { count } else { 0 }) > u64::from(used),
        }
    }

    /// Whether more than `used` values end a number or word after each token that stays inside it from `state`; `ends`
    /// finds their states, and whether all tokens may be part of a decimal; `decimal` says that of what was read.
    pub fn has_many_after(
        &self,
        lexeme: u32,
        state: u32,
        used: u32,
        decimal: bool,
        ends: impl FnOnce() -> (Vec<u32>, bool),
    ) -> bool {
        let l = &self.lexemes[lexeme as usize];
        let (spelled, decimals) = remembered(&self.unique.completions.least, (lexeme, state), || {
            let (ends, plain) = ends();
            let spelled = ends.iter().map(|&s| l.residual_size(s)).min().unwrap_or(u64::MAX);
            let decimals = ends.iter().map(|&s| self.num_decimals(lexeme, s)).min().unwrap_or(u64::MAX);
            (spelled, if plain { decimals } else { 0 })
        });
        spelled > MANY.max((u64::from(used) + 1) * SPELLINGS) || (decimal && decimals > u64::from(used))
    }

    /// How many digits, none at the end a zero, end a number from a state, up to [`MOST_DECIMALS`]. Behind the same
    /// beginning of a decimal no two have the same value.
    fn num_decimals(&self, lexeme: u32, state: u32) -> u64 {
        let l = &self.lexemes[lexeme as usize];
        if l.kind() != LexemeKind::Raw {
            return 0;
        }
        remembered(&self.unique.completions.decimals, (lexeme, state), || count_decimals(l, state))
    }

    /// How many texts end a text lexeme; `u64::MAX` where that is more than any array can use up.
    pub(crate) fn num_texts(&self, lexeme: u32, state: u32, count: u32) -> u64 {
        let l = &self.lexemes[lexeme as usize];
        if let Some(n) = l.num_texts(state) {
            return n;
        }
        let source = l.state(state);
        if l.is_open(source) {
            return self.num_texts(lexeme, l.next(state, b'"'), count);
        }
        if !source.is_plain() {
            return self.num_escaped(lexeme, state, count);
        }
        // One more character of any text is more than many.
        if l.is_any_text() && l.room(count) > 0 {
            return u64::MAX;
        }
        l.num_free(state, count)
            .unwrap_or_else(|| count_texts(l, lexeme, (state, count), &mut self.unique.completions.counts()))
    }

    /// How many texts end a text lexeme inside an escape, by the characters that the escape may become.
    fn num_escaped(&self, lexeme: u32, state: u32, count: u32) -> u64 {
        let place = (lexeme, state, count);
        if let Some(&known) = self.unique.completions.counts().get(&place) {
            return known;
        }
        let l = &self.lexemes[lexeme as usize];
        // The character was counted where the escape began.
        let ways = l.after_escape(state).into_iter().filter(|way| l.live_at(l.state(way.0), count));
        let n =
            ways.map(|(to, ways)| self.num_texts(lexeme, to, count).saturating_mul(ways)).fold(0, u64::saturating_add);
        let n = if n >= ENOUGH { u64::MAX } else { n };
        self.unique.completions.counts().insert(place, n);
        n
    }

    /// How many byte strings end a number or word from a state, or how many texts a string. `None` for more than any
    /// array uses up.
    pub(crate) fn num_ends(&self, lexeme: u32, state: u32, count: u32) -> Option<u64> {
        let l = &self.lexemes[lexeme as usize];
        let n = match l.kind() {
            LexemeKind::Raw => l.residual_size(state),
            _ => self.num_texts(lexeme, state, if l.is_bounded() { count } else { 0 }),
        };
        Some(n).filter(|n| *n != u64::MAX)
    }

    /// How many different values end a lexeme at least where [`endings`](Self::endings) does not list them.
    pub fn num_endings(&self, lexeme: u32, state: u32, count: u32) -> u64 {
        let l = &self.lexemes[lexeme as usize];
        match l.kind() {
            LexemeKind::Raw => match l.residual_size(state) {
                u64::MAX => u64::MAX,
                spellings => spellings / SPELLINGS,
            },
            _ => self.num_texts(lexeme, state, if l.is_bounded() { count } else { 0 }),
        }
    }
}

/// How many digits, none at the end a zero, end a number from a state, up to [`MOST_DECIMALS`] or about that.
fn count_decimals(l: &Lexeme, state: u32) -> u64 {
    // Level by level: the digits that are followed may be without end, and those without one may be many.
    let (mut n, mut level) = (u64::from(l.state(state).accepting), vec![(state, 1u64)]);
    for _ in 0..DECIMAL_DIGITS {
        let mut next: Vec<(u32, u64)> = Vec::new();
        for &(at, times) in &level {
            for digit in b'0'..=b'9' {
                let to = l.next(at, digit);
                if to <= CLOSED {
                    continue;
                }
                if digit != b'0' && l.state(to).accepting {
                    n = n.saturating_add(times);
                }
                if let Some(same) = next.iter_mut().find(|n| n.0 == to) {
                    same.1 = same.1.saturating_add(times);
                } else if next.len() < DECIMAL_STATES {
                    next.push((to, times));
                }
            }
        }
        if n >= MOST_DECIMALS || next.is_empty() {
            break;
        }
        level = next;
    }
    n
}

/// Whether a text has nothing but what may be the beginning of a decimal, and blanks.
pub fn is_decimal(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b'0'..=b'9' | b'-' | b'.' | b' ' | b'\t' | b'\n' | b'\r'))
}

/// Without those that are others with zeros behind the point: whatever they end has the same value.
fn shortest_spellings(texts: Arc<[Box<[u8]>]>) -> Arc<[Box<[u8]>]> {
    let all: SeededSet<&[u8]> = texts.iter().map(|t| &**t).collect();
    let is_longer = |t: &[u8]| {
        let bare = t.strip_suffix(b"0").filter(|bare| bare.contains(&b'.') && !bare.iter().any(|b| b"eE".contains(b)));
        let bare = bare.map(|bare| bare.strip_suffix(b".").unwrap_or(bare));
        bare.is_some_and(|bare| all.contains(bare))
    };
    texts.iter().filter(|t| !is_longer(t)).cloned().collect()
}

/// The bytes that lead on from a state, with the next state and count; `CLOSED` ends the text. Every text is spelled in
/// one way: without escapes for what needs none. An escape that was begun before is ended in every way that spells
/// something else: `begun` says that it was.
pub(crate) fn onward(l: &Lexeme, state: u32, count: u32, begun: bool) -> Vec<(u8, u32, u32)> {
    let source = l.state(state);
    let mut out = Vec::new();
    for (first, last) in l.byte_runs() {
        let to = l.next_from(state, source, first);
        if to == DEAD_STATE {
            continue;
        }
        for b in first..=last {
            let next = count.saturating_add(l.starts_char(source, b) as u32);
            let live = match to {
                CLOSED => l.may_close(count),
                _ if !l.spells_once(source, b, begun) => false,
                _ => l.live_at(l.state(to), next),
            };
            if live {
                out.push((b, to, next));
            }
        }
    }
    out
}

/// A state of a text and the code points read.
type TextState = (u32, u32);

/// A place from which texts go several ways.
struct TextChoice {
    /// The place, and some of those that lead to nothing else, each with the places that were looked at before.
    same: Vec<(TextState, u32)>,
    /// The texts that were counted.
    n: u64,
    /// The ways on that were not followed yet, with the bytes of each, and the bytes of the one that is followed.
    ways: Vec<(TextState, u64)>,
    bytes: u64,
}

/// How many texts complete a text lexeme, `u64::MAX` where that is [`ENOUGH`] or there are too many places to look at:
/// texts then differ by thousands of characters. The ways of the last few characters are mostly enough, so states and
/// lengths that are many are hardly ever all looked at.
fn count_texts(l: &Lexeme, id: u32, start: TextState, memo: &mut CompletionCounts) -> u64 {
    let (mut open, mut at, mut looked): (Vec<TextChoice>, _, _) = (Vec::new(), start, 0);
    loop {
        let mut n = match next_choice(l, id, at, memo, &mut looked) {
            Ok(n) => n,
            Err(choice) => {
                open.push(choice);
                if looked > MOST_PLACES {
                    // What is as far from where this ended is not looked at again.
                    let all = open.iter().flat_map(|choice| &choice.same);
                    let far = all.filter(|same| looked - same.1 > MOST_PLACES / 2);
                    memo.extend(far.map(|&((state, count), _)| ((id, state, count), u64::MAX)));
                    return u64::MAX;
                }
                0
            }
        };
        loop {
            let Some(choice) = open.last_mut() else { return n };
            choice.n = choice.n.saturating_add(n.saturating_mul(choice.bytes));
            if choice.n >= ENOUGH {
                (choice.n, choice.ways) = (u64::MAX, Vec::new());
            }
            if let Some((to, bytes)) = choice.ways.pop() {
                (at, choice.bytes) = (to, bytes);
                break;
            }
            n = choice.n;
            memo.extend(choice.same.iter().map(|&((state, count), _)| ((id, state, count), n)));
            open.pop();
        }
    }
}

/// Follows the only way on from a place to a number that is known, or to a choice.
fn next_choice(
    l: &Lexeme,
    id: u32,
    mut at: TextState,
    memo: &mut CompletionCounts,
    looked: &mut u32,
) -> Result<u64, TextChoice> {
    let (mut same, mut passed) = (Vec::new(), 0);
    let n = loop {
        let (state, count) = at;
        if let Some(n) = memo.get(&(id, state, count)).copied().or_else(|| l.num_free(state, count)) {
            break n;
        }
        let chars = |begins: bool| count.saturating_add(begins.into());
        let onward = l.ways(state).into_iter().map(|(to, bytes, begins)| ((to, chars(begins)), bytes));
        let ways: Vec<(TextState, u64)> = onward.filter(|&((to, next), _)| l.live_at(l.state(to), next)).collect();
        let ends = u64::from(l.state(state).accepting && l.may_close(count));
        let only = match (ends, &*ways) {
            (_, []) => break ends,
            (0, &[(to, 1)]) => Some(to),
            _ => None,
        };
        if only.is_none() || passed % MARKED == 0 {
            same.push((at, *looked));
        }
        *looked += 1;
        passed += 1;
        match only.filter(|_| *looked <= MOST_PLACES) {
            Some(to) => at = to,
            None => return Err(TextChoice { same, n: ends, ways, bytes: 0 }),
        }
    };
    memo.extend(same.into_iter().map(|((state, count), _)| ((id, state, count), n)));
    Ok(n)
}

/// All texts that complete a text lexeme. They share one path: with a copy at every character, a long text would take
/// its square.
fn texts(l: &Lexeme, state: u32, count: u32) -> CompletionList {
    let mut out: Vec<Box<[u8]>> = Vec::new();
    let mut path = Vec::new();
    let mut stack = vec![(state, count, !l.state(state).is_plain(), 0, 0)];
    while let Some((s, n, begun, depth, byte)) = stack.pop() {
        go_to(&mut path, depth, byte);
        for (b, to, next) in onward(l, s, n, begun) {
            match to {
                CLOSED => out.push([path.as_slice(), &[b]].concat().into()),
                _ => stack.push((to, next, begun && !l.state(to).is_plain(), depth + 1, b)),
            }
        }
    }
    out.into()
}

/// All byte strings from `state` to acceptance, if they are few or not more than `most`.
pub fn members(l: &Lexeme, state: u32, most: u64) -> CompletionTexts {
    if l.residual_size(state) > MANY.max(most) {
        return None;
    }
    let mut out: Vec<Box<[u8]>> = Vec::new();
    let mut path = Vec::new();
    let mut stack = vec![(state, 0, 0)];
    while let Some((s, depth, byte)) = stack.pop() {
        go_to(&mut path, depth, byte);
        let state = l.state(s);
        if state.accepting {
            out.push(path.as_slice().into());
        }
        for (first, last) in l.byte_runs() {
            let to = l.next_from(s, state, first);
            if to > CLOSED {
                stack.extend((first..=last).map(|b| (to, depth + 1, b)));
            }
        }
    }
    Some(out.into())
}

/// Makes a path one of `depth` bytes that ends with `byte`: of a way that branches off where the path had one less.
fn go_to(path: &mut Vec<u8>, depth: usize, byte: u8) {
    if let Some(before) = depth.checked_sub(1) {
        path.truncate(before);
        path.push(byte);
    }
}

#[cfg(test)]
mod tests;
