//! Arrays whose elements must differ.
//!
//! While an element of such an array is open, its bytes are recorded along the nodes. When it closes, it is brought
//! to a canonical text (numbers by value, strings by what they decode to, objects without order) and compared with the
//! elements before it: a repetition is refused at its last byte. For that refusal never to be a dead end, an open
//! element must always have an unused way to go on. Containers have one where they can grow (others are the
//! business of `variety`); scalars have one unless few members are left, and then those are listed and compared.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex};

use super::arena::{Element, KeyByte, Kind, Node, NodeId, Phase, ScalarItem};
use super::config::Frames;
use super::lexeme::{CLOSED, DEAD, Kind as LexemeKind, Lexeme};
use super::program::{Gap, Program};
use super::text::{Sub, decode};
pub use crate::frontend::schema::decimal::canonical::canonical;
use crate::ir::RuleId;

/// Ways to end that are always listed.
const MANY: u64 = 4_096;

/// No number has more spellings: zero, with either sign, with and without a fraction.
pub const SPELLINGS: u64 = 66;

type List = Arc<[Box<[u8]>]>;
type Texts = Option<List>;

/// The same for strings, which are spelled in one way.
const MANY_TEXTS: u64 = 512;

/// Lists that are remembered; all are made again when there are more.
const MOST_LISTS: usize = 1 << 12;
const MOST_COUNTS: usize = 1 << 18;

/// More ways to end than any array uses up are not counted. An array has fewer than 2^32 elements.
const ENOUGH: u64 = 1 << 40;

/// With more room than this, what can go on for ever has many ways to end.
const ROOMY: u32 = 48;

/// Memo: for a lexeme, a state and a count of code points, the byte strings that end it; and how many there are.
#[derive(Default)]
pub struct Endings {
    texts: Mutex<FxHashMap<(u32, u32, u32), List>>,
    counts: Mutex<FxHashMap<(u32, u32, u32, bool), u64>>,
    /// For a number or word and its state, how many byte strings end it at least after any one token.
    least: Mutex<FxHashMap<(u32, u32), u64>>,
}

impl Program {
    /// The byte strings that lead a lexeme from `state`, after `count` code points, to its end, one at least for each
    /// value; `None` where they are so many that `used` values do not use them up.
    pub fn endings(&self, lexeme: u32, state: u32, count: u32, used: u32) -> Texts {
        let l = &self.lexemes[lexeme as usize];
        if l.kind() == LexemeKind::Raw {
            if self.has_many_endings(lexeme, state, count, used) {
                return None;
            }
            let list = || shortest_spellings(members(l, state, u64::MAX).unwrap_or_default());
            return Some(self.endings.list((lexeme, state, 0), list));
        }
        let count = if l.is_bounded() { count } else { 0 };
        if self.num_texts(lexeme, state, count) > MANY_TEXTS.max(u64::from(used) + 1) {
            return None;
        }
        Some(self.endings.list((lexeme, state, count), || texts(l, state, count)))
    }

    /// Whether so many values end a lexeme from a state that `used` others are not all of them. False where that is not
    /// known without a list.
    pub fn has_many_endings(&self, lexeme: u32, state: u32, count: u32, used: u32) -> bool {
        let l = &self.lexemes[lexeme as usize];
        match l.kind() {
            LexemeKind::Raw => l.residual_size(state) > MANY.max((u64::from(used) + 1) * SPELLINGS),
            _ => self.num_texts(lexeme, state, if l.is_bounded() { count } else { 0 }) > u64::from(used),
        }
    }

    /// Whether [`has_many_endings`](Self::has_many_endings) holds of a number or word after each token that stays
    /// inside it from `state`; `ends` finds their states.
    pub fn has_many_after(&self, lexeme: u32, state: u32, used: u32, ends: impl FnOnce() -> Vec<u32>) -> bool {
        let l = &self.lexemes[lexeme as usize];
        let known = |memo: &Mutex<FxHashMap<_, u64>>| {
            memo.lock().unwrap_or_else(|p| p.into_inner()).get(&(lexeme, state)).copied()
        };
        let least = known(&self.endings.least).unwrap_or_else(|| {
            let least = ends().into_iter().map(|s| l.residual_size(s)).min().unwrap_or(u64::MAX);
            let mut memo = self.endings.least.lock().unwrap_or_else(|p| p.into_inner());
            if memo.len() > MOST_LISTS {
                memo.clear();
            }
            memo.insert((lexeme, state), least);
            least
        });
        least > MANY.max((u64::from(used) + 1) * SPELLINGS)
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

impl Endings {
    fn list(&self, key: (u32, u32, u32), make: impl FnOnce() -> List) -> List {
        let mut memo = self.texts.lock().unwrap_or_else(|p| p.into_inner());
        if memo.len() > MOST_LISTS {
            memo.clear();
        }
        memo.entry(key).or_insert_with(make).clone()
    }
}

/// Without those that are others with zeros behind the point: whatever they end has the same value.
fn shortest_spellings(texts: Arc<[Box<[u8]>]>) -> Arc<[Box<[u8]>]> {
    let all: FxHashSet<&[u8]> = texts.iter().map(|t| &**t).collect();
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
fn onward(l: &Lexeme, state: u32, count: u32, begun: bool) -> Vec<(u8, u32, u32)> {
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
    memo: &mut FxHashMap<(u32, u32, u32, bool), u64>,
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

impl Frames<'_> {
    /// Whether `node` lies inside an element whose bytes are recorded.
    pub(super) fn is_traced(&self, node: NodeId) -> bool {
        let parent = self.arena.nodes[node as usize].parent;
        self.arena.nodes.get(parent as usize).is_some_and(|p| {
            (p.kind == Kind::Array && p.phase == Phase::Inside && p.key != u32::MAX) || p.trace != u32::MAX
        })
    }

    /// Whether any array on the stack must have unique elements.
    pub fn is_unique_inside(&self, top: NodeId) -> bool {
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == Kind::Array && self.any_unique(n) {
                return true;
            }
            at = n.parent;
        }
        false
    }

    pub(super) fn any_unique(&self, node: &Node) -> bool {
        let items = &self.arena.arrays[node.start as usize..(node.start + node.len) as usize];
        items.iter().any(|i| self.program.arrays[i.shape as usize].unique)
    }

    /// Whether `parent` is an array of unique elements that has some already, with an element open.
    pub fn has_elements(&self, parent: NodeId) -> bool {
        self.arena
            .nodes
            .get(parent as usize)
            .is_some_and(|p| p.kind == Kind::Array && p.key != u32::MAX && p.seen != u32::MAX)
    }

    /// Whether the elements of the array on the node `parent` must differ in every alternative.
    pub fn all_differ(&self, parent: NodeId) -> bool {
        self.arena.nodes.get(parent as usize).filter(|n| n.kind == Kind::Array && n.key != u32::MAX).is_some_and(|n| {
            let items = &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
            items.iter().all(|i| self.program.arrays[i.shape as usize].unique)
        })
    }

    /// Adds `byte` to the trace of the element that `next` lies in, if it was part of it.
    pub(super) fn record(&mut self, next: NodeId, byte: u8) {
        let n = self.arena.nodes[next as usize];
        // The comma before an element was put down when its trace began, and the blanks after it mean nothing.
        let before_element = n.kind == Kind::Value
            && self.arena.nodes.get(n.parent as usize).is_some_and(|parent| parent.kind == Kind::Array);
        if before_element || !self.is_traced(next) {
            return;
        }
        let before = self.arena.trace;
        self.arena.keys.push(KeyByte { before, byte });
        self.arena.nodes[next as usize].trace = self.arena.keys.len() as u32 - 1;
    }

    /// Starts the trace of an element that was just opened.
    pub(super) fn begin_trace(&mut self, array: NodeId, value: NodeId, gap: Gap) {
        let outer = self.is_traced(array);
        let mut before = u32::MAX;
        if outer {
            before = self.arena.trace;
            if gap == Gap::After {
                self.arena.keys.push(KeyByte { before, byte: b',' });
                before = self.arena.keys.len() as u32 - 1;
            }
            self.arena.nodes[array as usize].trace = before;
        }
        let node = self.arena.nodes[array as usize];
        if outer || self.any_unique(&node) {
            // A blank marks the border: it is part of the outer trace, where it means nothing.
            self.arena.keys.push(KeyByte { before, byte: b' ' });
            let start = self.arena.keys.len() as u32 - 1;
            self.arena.nodes[value as usize].trace = start;
            if self.any_unique(&node) {
                self.arena.nodes[array as usize].key = start;
            }
        }
        self.arena.trace = self.arena.nodes[value as usize].trace;
    }

    /// Whether the elements of an array are not known for certain.
    #[inline]
    pub(super) fn is_unchecked(&self, array: &Node) -> bool {
        self.arena.unchecked && !array.spelled
    }

    /// The canonical text of the element that ends now.
    pub(super) fn element_value(&self, array: &Node, closing: Option<u8>) -> Option<Box<[u8]>> {
        if self.is_unchecked(array) {
            return None;
        }
        let mut text = self.arena.bytes_since(self.arena.trace, array.key);
        text.extend(closing);
        canonical(&text)
    }

    pub(super) fn has_element(&self, array: &Node, value: &[u8]) -> bool {
        let mut e = array.seen;
        while let Some(element) = self.arena.elements.get(e as usize) {
            if *element.value == *value {
                return true;
            }
            e = element.before;
        }
        false
    }

    pub(super) fn add_element(&mut self, before: u32, value: Option<Box<[u8]>>) -> u32 {
        let Some(value) = value else { return before };
        self.arena.elements.push(Element { before, value });
        self.arena.elements.len() as u32 - 1
    }

    /// Whether `rule` has a member that the array does not have yet.
    pub(super) fn has_unused(&self, array: &Node, rule: RuleId) -> bool {
        if array.seen == u32::MAX || self.is_unchecked(array) {
            return true;
        }
        let r = &self.program.rules[rule.0 as usize];
        if !r.arrays.is_empty() || !r.objects.is_empty() {
            return true;
        }
        r.lexemes.iter().any(|&l| {
            let start = self.program.lexemes[l as usize].start();
            if self.program.has_many_endings(l, start, 0, array.count) {
                return true;
            }
            match self.program.endings(l, start, 0, array.count) {
                None => true,
                Some(texts) => texts.iter().any(|t| canonical(t).is_none_or(|v| !self.has_element(array, &v))),
            }
        })
    }

    /// Drops, from the scalar items that were just made, those that can only become an element that the array above
    /// has already.
    pub(super) fn keep_unused(&mut self, parent: NodeId, start: u32, count: u32, byte: u8) {
        let array = self.arena.nodes[parent as usize];
        if array.kind != Kind::Array || array.key == u32::MAX || array.seen == u32::MAX || self.is_unchecked(&array) {
            return;
        }
        let mut prefix = self.arena.bytes_since(self.arena.trace, array.key);
        prefix.push(byte);
        let mut kept = start as usize;
        for i in start as usize..self.arena.scalars.len() {
            let item = self.arena.scalars[i];
            let waits = |i: &&super::arena::ArrayItem| i.child == item.tag;
            let items = &self.arena.arrays[array.start as usize..(array.start + array.len) as usize];
            let free = items.iter().filter(waits).any(|i| !self.program.arrays[i.shape as usize].unique);
            let keep = free
                || self.program.has_many_endings(item.lexeme, item.state, count, array.count)
                || self.has_unused_end(&array, &item, count, &prefix);
            if keep {
                self.arena.scalars[kept] = item;
                kept += 1;
            }
        }
        self.arena.scalars.truncate(kept);
    }

    /// Whether some way to end an item, which stands behind `prefix`, is an element that the array does not have.
    fn has_unused_end(&self, array: &Node, item: &ScalarItem, count: u32, prefix: &[u8]) -> bool {
        let l = &self.program.lexemes[item.lexeme as usize];
        if let Some(n) = l.num_texts(item.state).filter(|_| !prefix.contains(&b'\\')) {
            // Elements are different texts, each written once: those that end the item are counted.
            let ends = |rest: &[u8]| {
                let end = rest.iter().fold(item.state, |s, &b| if s > CLOSED { l.next(s, b) } else { DEAD });
                end == CLOSED
            };
            let prefix = prefix.trim_ascii_start();
            let mut used = 0;
            let mut e = array.seen;
            while let Some(element) = self.arena.elements.get(e as usize) {
                let text = element.value.strip_prefix(b"\"").and_then(|text| text.strip_prefix(prefix));
                used += u64::from(text.is_some_and(ends));
                e = element.before;
            }
            return n > used;
        }
        if let Some(n) = l.num_spelled(item.state) {
            if n > u64::from(array.count) {
                return true;
            }
            // The same behind an escape, by what the elements decode to.
            let spelled = |text: &[u8]| decode(Sub::Plain, text.get(1..).unwrap_or_default().iter().copied()).0;
            let prefix = spelled(prefix.trim_ascii_start());
            let ends = |text: &[u8]| text.strip_prefix(&*prefix).is_some_and(|rest| l.spells(item.state, rest));
            let mut used = 0;
            let mut e = array.seen;
            while let Some(element) = self.arena.elements.get(e as usize) {
                used += u64::from(match &*element.value {
                    [b'"', b'"', text @ .., b'"'] if !text.contains(&b'\\') => ends(text),
                    [b'"', text @ ..] => ends(&spelled(text)),
                    _ => false,
                });
                e = element.before;
            }
            return n > used;
        }
        let Some(texts) = self.program.endings(item.lexeme, item.state, count, array.count) else { return true };
        texts.iter().any(|t| {
            let whole = [prefix, t].concat();
            canonical(&whole).is_none_or(|v| !self.has_element(array, &v))
        })
    }
}
