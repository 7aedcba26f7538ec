//! How a scalar may end: how many values are left, and which.
//!
//! An element of an array of unique elements must have a way to go on that the array does not have yet. Mostly there are
//! more ways than elements, which is counted; where few are left they are listed and compared. Counts are lower bounds
//! for numbers, which have several spellings of a value, and exact for strings up to more than any array uses up.

use std::hash::Hash;
use std::sync::{Arc, Mutex};

use super::lexeme::{CLOSED, DEAD, Kind as LexemeKind, Lexeme};
use super::program::Program;
use super::unique::canonical;
use crate::hash::{SeededMap, SeededSet};

/// Ways to end that are always listed.
const MANY: u64 = 4_096;

/// No number has more spellings: zero, with either sign, with and without a fraction.
pub const SPELLINGS: u64 = 66;

type List = Arc<[Box<[u8]>]>;
type Texts = Option<List>;

/// A value that a scalar may become.
pub struct Ending {
    /// Its canonical text.
    pub value: Box<[u8]>,
    /// The bytes that end it.
    pub rest: Box<[u8]>,
}

/// Values that are remembered, in all lists; all are made again when there are more.
const MOST_VALUES: usize = 1 << 18;

/// Lists of values, by a lexeme and the bytes that were read of it, and how many values they have.
type Values = (SeededMap<(u32, Box<[u8]>), Arc<[Ending]>>, usize);

/// The same for strings, which are spelled in one way.
const MANY_TEXTS: u64 = 512;

/// Lists that are remembered; all are made again when there are more.
const MOST_LISTS: usize = 1 << 12;
const MOST_COUNTS: usize = 1 << 18;

/// More ways to end than any array uses up are not counted. An array has fewer than 2^32 elements.
const ENOUGH: u64 = 1 << 40;

/// Decimals are counted up to here, and so far; with more elements, or more digits to the next end, values are listed.
const MOST_DECIMALS: u64 = 1 << 16;
const DECIMAL_DIGITS: usize = 8;
/// States that are followed at once. What is left out is not counted.
const DECIMAL_STATES: usize = 64;

/// With more room than this, what can go on for ever has many ways to end.
const ROOMY: u32 = 48;

/// Memo: for a lexeme, a state and a count of code points, the byte strings that end it; and how many there are.
#[derive(Default)]
pub struct Endings {
    texts: Mutex<SeededMap<(u32, u32, u32), List>>,
    counts: Mutex<SeededMap<(u32, u32, u32, bool), u64>>,
    /// For a number or word and its state, how many byte strings end it at least after any one token, and how many
    /// decimals.
    least: Mutex<SeededMap<(u32, u32), (u64, u64)>>,
    /// For a number and its state, how many decimals end it at least.
    decimals: Mutex<SeededMap<(u32, u32), u64>>,
    values: Mutex<Values>,
}

impl Program {
    /// The byte strings that lead a lexeme from `state`, after `count` code points, to its end, one at least for each
    /// value; `None` where they are so many that `used` values do not use them up.
    pub fn endings(&self, lexeme: u32, state: u32, count: u32, used: u32) -> Texts {
        let l = &self.lexemes[lexeme as usize];
        if l.kind() == LexemeKind::Raw {
            if self.has_many_endings(lexeme, state, count, used, false) {
                return None;
            }
            let list = || shortest_spellings(members(l, state, u64::MAX).unwrap_or_default());
            return Some(remembered(&self.endings.texts, (lexeme, state, 0), list));
        }
        let count = if l.is_bounded() { count } else { 0 };
        if self.num_texts(lexeme, state, count) > MANY_TEXTS.max(u64::from(used) + 1) {
            return None;
        }
        Some(remembered(&self.endings.texts, (lexeme, state, count), || texts(l, state, count)))
    }

    /// The values that a lexeme may become which has read `before`, without blanks in front of it, and stands in `state`
    /// after `count` code points, each once; `None` as [`endings`](Self::endings).
    pub fn values(&self, lexeme: u32, state: u32, count: u32, used: u32, before: &[u8]) -> Option<Arc<[Ending]>> {
        let texts = self.endings(lexeme, state, count, used)?;
        let lock = || self.endings.values.lock().unwrap_or_else(|p| p.into_inner());
        let key = (lexeme, Box::from(before));
        if let Some(known) = lock().0.get(&key) {
            return Some(known.clone());
        }
        let mut known: SeededSet<Box<[u8]>> = SeededSet::default();
        let mut all = Vec::new();
        for rest in &*texts {
            let whole = [before, rest].concat();
            let value = canonical(&whole).unwrap_or_else(|| whole.into());
            if known.insert(value.clone()) {
                all.push(Ending { value, rest: rest.clone() });
            }
        }
        let all: Arc<[Ending]> = all.into();
        let mut memo = lock();
        if memo.1 + all.len() > MOST_VALUES || memo.0.len() > MOST_LISTS {
            *memo = Values::default();
        }
        memo.1 += all.len();
        memo.0.insert(key, all.clone());
        Some(all)
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
        let (spelled, decimals) = remembered(&self.endings.least, (lexeme, state), || {
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
        remembered(&self.endings.decimals, (lexeme, state), || count_decimals(l, state))
    }

    /// How many texts end a text lexeme; `u64::MAX` where that is more than any array can use up.
    fn num_texts(&self, lexeme: u32, state: u32, count: u32) -> u64 {
        let l = &self.lexemes[lexeme as usize];
        if let Some(n) = l.num_texts(state).or_else(|| l.num_spelled(state)) {
            return n;
        }
        // One more character of any text is more than many.
        if (l.is_any_text() && l.room(count) > 0) || (l.room(count) > ROOMY && l.residual_size(state) == u64::MAX) {
            return u64::MAX;
        }
        let mut counts = self.endings.counts.lock().unwrap_or_else(|p| p.into_inner());
        if counts.len() > MOST_COUNTS {
            counts.clear();
        }
        let begun = !l.state(state).is_plain();
        match count_texts(l, lexeme, (state, count, begun), &mut counts, 0) {
            // An escape that was begun may go on to one text in two ways.
            n if begun && n != u64::MAX && state != l.start() => n / 2,
            n => n,
        }
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

/// What a memo has under a key, or `make` makes; another thread may make it as well.
fn remembered<K: Eq + Hash, V: Clone>(memo: &Mutex<SeededMap<K, V>>, key: K, make: impl FnOnce() -> V) -> V {
    let lock = || memo.lock().unwrap_or_else(|p| p.into_inner());
    if let Some(known) = lock().get(&key) {
        return known.clone();
    }
    let made = make();
    let mut memo = lock();
    if memo.len() > MOST_LISTS {
        memo.clear();
    }
    memo.insert(key, made.clone());
    made
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
pub(super) fn onward(l: &Lexeme, state: u32, count: u32, begun: bool) -> Vec<(u8, u32, u32)> {
    let (source, classes) = (l.state(state), l.byte_classes());
    let (mut class, mut to) = (classes[0], l.next_from(state, source, 0));
    let mut out = Vec::new();
    for b in 0..=255u8 {
        if classes[b as usize] != class {
            (class, to) = (classes[b as usize], l.next_from(state, source, b));
        }
        if to == DEAD {
            continue;
        }
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
    out
}

/// How many texts complete a text lexeme, `u64::MAX` where that is [`ENOUGH`] or there are too many to follow. The ways
/// of the last few characters are enough, so states and lengths that are many are hardly ever all looked at.
fn count_texts(
    l: &Lexeme,
    id: u32,
    (state, count, begun): (u32, u32, bool),
    memo: &mut SeededMap<(u32, u32, u32, bool), u64>,
    depth: u32,
) -> u64 {
    if let Some(n) = l.num_texts(state) {
        return n;
    }
    if let Some(&n) = memo.get(&(id, state, count, begun)) {
        return n;
    }
    if depth > 4 * ROOMY + 64 {
        return u64::MAX;
    }
    // A loop without a bound comes back here before it is known.
    memo.insert((id, state, count, begun), if l.is_bounded() { 0 } else { u64::MAX });
    let mut n = 0u64;
    for (_, to, next) in onward(l, state, count, begun) {
        n = n.saturating_add(match to {
            CLOSED => 1,
            _ => count_texts(l, id, (to, next, begun && !l.state(to).is_plain()), memo, depth + 1),
        });
        if n >= ENOUGH {
            n = u64::MAX;
            break;
        }
    }
    memo.insert((id, state, count, begun), n);
    n
}

/// All of those texts.
fn texts(l: &Lexeme, state: u32, count: u32) -> Arc<[Box<[u8]>]> {
    let mut out: Vec<Box<[u8]>> = Vec::new();
    let mut stack = vec![(state, count, !l.state(state).is_plain(), Vec::new())];
    while let Some((s, n, begun, text)) = stack.pop() {
        for (b, to, next) in onward(l, s, n, begun) {
            let mut t: Vec<u8> = text.clone();
            t.push(b);
            if to == CLOSED {
                out.push(t.into_boxed_slice());
            } else {
                stack.push((to, next, begun && !l.state(to).is_plain(), t));
            }
        }
    }
    out.into()
}

/// All byte strings from `state` to acceptance, if they are few or not more than `most`.
pub fn members(l: &Lexeme, state: u32, most: u64) -> Texts {
    if l.residual_size(state) > MANY.max(most) {
        return None;
    }
    let mut out: Vec<Box<[u8]>> = Vec::new();
    let mut stack = vec![(state, Vec::new())];
    while let Some((s, text)) = stack.pop() {
        if l.state(s).accepting {
            out.push(text.clone().into_boxed_slice());
        }
        let (state, classes) = (l.state(s), l.byte_classes());
        let (mut class, mut to) = (classes[0], l.next_from(s, state, 0));
        for b in 0..=255u8 {
            if classes[b as usize] != class {
                (class, to) = (classes[b as usize], l.next_from(s, state, b));
            }
            if to > CLOSED {
                let mut t = text.clone();
                t.push(b);
                stack.push((to, t));
            }
        }
    }
    Some(out.into())
}

#[cfg(test)]
mod tests;
