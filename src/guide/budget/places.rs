//! Which tokens leave enough of a budget, for all tokens of a vocabulary at once.
//!
//! To price one token is to step its bytes and to complete what follows, which takes tens of microseconds; there are a
//! hundred thousand tokens. But few of them lead to configurations with different futures. So the walk of the trie
//! goes over *places*: configurations numbered by what their future depends on. Each is completed once, each byte is
//! stepped from it once, and what remains of the walk is look-ups.
//!
//! Most configurations are described as a whole. Two kinds have a shorter description, for text makes them many:
//!
//! * A scalar is its frame and the states of its lexemes.
//! * Inside a key, or a string among unique elements, the text so far counts as well, for it must differ from its
//!   neighbours. Text that none of those begins with is *new*: whatever it becomes differs from them. New texts are one
//!   place for each state of the encoding. What stands in for all of them is one of them, so where a token goes on to
//!   another member of the same container, which would have to differ from this one too, it is stepped by itself.

use rustc_hash::FxHashMap;

use super::Document;
use super::rests::Rests;
use super::speller::Speller;
use crate::automaton::arena::{Arena, Kind, NONE, NodeId, Phase};
use crate::automaton::complete::Costs;
use crate::automaton::config::Frames;
use crate::automaton::constants::{NO_SET, sub_words};
use crate::automaton::lexeme::{Kind as LexemeKind, Lexeme};
use crate::automaton::program::Program;
use crate::vocab::Trie;

/// Not stepped yet.
const UNKNOWN: u32 = u32::MAX;
/// Refused.
const DEAD: u32 = u32::MAX - 1;
/// Tokens that lead here are stepped by themselves.
const ALONE: u32 = u32::MAX - 2;
/// With so many places no more are numbered: a place takes a kilobyte.
const MAX_PLACES: usize = 30_000;
/// Plain text is looked at as a whole where it has so many places.
const MAX_ALIKE: usize = 64;
/// New text is this long at least, so that it is none of the short keys which completing tries first.
const MIN_NEW: usize = 2;

struct Place {
    node: NodeId,
    /// One new text stands in for all.
    is_new: bool,
    /// Behind such a text, in the same token.
    is_behind: bool,
    fits: Option<bool>,
    next: Option<Box<[u32; 256]>>,
}

/// See the module's story.
pub(super) struct Places<'a, U> {
    program: &'a Program,
    costs: &'a Costs,
    arena: &'a mut Arena,
    top: NodeId,
    rests: &'a mut Rests,
    speller: Speller<'a, U>,
    /// Tokens that are left.
    left: u64,
    places: Vec<Place>,
    numbers: FxHashMap<Vec<u8>, u32>,
    key: Vec<u8>,
}

impl<'a, U: Fn(u32) -> bool> Places<'a, U> {
    pub(super) fn new(document: Document<'a>, speller: Speller<'a, U>, left: u64) -> Self {
        let Document { program, costs, arena, top, rests } = document;
        let start = Place { node: top, is_new: false, is_behind: false, fits: None, next: None };
        let (numbers, key) = (FxHashMap::default(), Vec::new());
        let places = vec![start];
        let mut places = Places { program, costs, arena, top, rests, speller, left, places, numbers, key };
        places.places[0].is_new = places.describe(top, false);
        let key = places.key.clone();
        places.numbers.insert(key, 0);
        places
    }

    /// Takes the tokens out of a row after which what is left is too little. `marked` has those with a quote or a
    /// backslash.
    pub(super) fn keep(&mut self, trie: &Trie, marked: Option<&Trie>, row: &mut [u32]) {
        let Some((marked, all)) = marked.and_then(|marked| Some((marked, self.text_is_alike()?))) else {
            return self.walk(trie, row);
        };
        let mut few = vec![0u32; row.len()];
        for &t in marked.subtree_tokens(0) {
            let bit = row[t as usize >> 5] & 1 << (t & 31);
            few[t as usize >> 5] |= bit;
            row[t as usize >> 5] &= !bit;
        }
        self.walk(marked, &mut few);
        if !all {
            row.fill(0);
        }
        row.iter_mut().zip(few).for_each(|(word, few)| *word |= few);
    }

    /// Inside a string or a new key: whether what is left suffices after plain text, if it does after all of it or
    /// after none. `None` where that differs, or is not soon found.
    fn text_is_alike(&mut self) -> Option<bool> {
        let n = self.arena.nodes[self.top as usize];
        let range = n.start as usize..(n.start + n.len) as usize;
        let program = self.program;
        let lexemes: Vec<&Lexeme> = match n.kind {
            Kind::Scalar if n.seen == NO_SET => {
                let items = self.arena.scalars[range].iter();
                items.map(|i| &*program.lexemes[i.lexeme as usize]).collect()
            }
            Kind::Object if self.places[0].is_new => {
                let shapes = self.arena.objects[range].iter().map(|i| &program.objects[i.shape as usize]);
                let classes = shapes.flat_map(|shape| shape.others.iter().filter_map(|c| c.keys.as_deref()));
                classes.chain([&*program.any_text]).collect()
            }
            _ => return None,
        };
        if n.kind == Kind::Scalar && lexemes.iter().any(|l| l.kind() == LexemeKind::Raw) {
            return None;
        }
        // One byte stands for all that no lexeme tells apart.
        let mut bytes: Vec<u8> = Vec::new();
        for b in (0x20..=255u8).filter(|b| !b"\"\\".contains(b)) {
            let same =
                |a: u8| lexemes.iter().all(|l| l.byte_classes()[usize::from(a)] == l.byte_classes()[usize::from(b)]);
            if !bytes.iter().any(|&a| same(a)) {
                bytes.push(b);
            }
        }
        let mut found = vec![0];
        let mut answer = None;
        let mut at = 0;
        while let Some(&place) = found.get(at) {
            for &b in &bytes {
                let to = self.step(place, b);
                if to == DEAD {
                    continue;
                }
                if to == ALONE || found.len() > MAX_ALIKE || answer.is_some_and(|a| a != self.is_in_time(to, &[])) {
                    return None;
                }
                answer = Some(self.is_in_time(to, &[]));
                if !found.contains(&to) {
                    found.push(to);
                }
            }
            at += 1;
        }
        Some(answer.unwrap_or(true))
    }

    fn walk(&mut self, trie: &Trie, row: &mut [u32]) {
        let mut stack: Vec<(u32, u32)> = vec![(trie.len() as u32, 0)];
        let mut bytes: Vec<u8> = Vec::new();
        let clear =
            |row: &mut [u32], tokens: &[u32]| tokens.iter().for_each(|t| row[*t as usize >> 5] &= !(1 << (t & 31)));
        let mut node = 1;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            let byte = trie.byte[node as usize];
            bytes.truncate(usize::from(trie.depth[node as usize]) - 1);
            bytes.push(byte);
            let to = self.step(at, byte);
            let end = trie.end[node as usize];
            let allowed = |&t: &u32| row[t as usize >> 5] >> (t & 31) & 1 == 1;
            if to == DEAD {
                clear(row, trie.subtree_tokens(node));
                node = end;
                continue;
            }
            if trie.tokens(node).iter().any(allowed) && !self.is_in_time(to, &bytes) {
                clear(row, trie.tokens(node));
            }
            stack.push((end, to));
            node += 1;
        }
    }

    /// Whether what is left suffices after `bytes`.
    pub(super) fn suffices_after(&mut self, bytes: &[u8]) -> bool {
        let to = bytes.iter().fold(0, |at, &b| self.step(at, b));
        self.is_in_time(to, bytes)
    }

    fn is_in_time(&mut self, place: u32, bytes: &[u8]) -> bool {
        if let Some(known) = self.places.get(place as usize) {
            if let Some(fits) = known.fits {
                return fits;
            }
            let fits = self.is_completed(known.node);
            self.places[place as usize].fits = Some(fits);
            return fits;
        }
        if place != ALONE {
            return false;
        }
        let mark = self.arena.mark();
        let mut at = self.top;
        for &b in bytes {
            at = if at == NONE { NONE } else { self.frames().step(at, b) };
        }
        let fits = at != NONE && self.is_completed(at);
        self.arena.truncate(&mark);
        fits
    }

    fn frames(&mut self) -> Frames<'_> {
        Frames { program: self.program, arena: self.arena }
    }

    fn is_completed(&mut self, node: NodeId) -> bool {
        let mut frames = Frames { program: self.program, arena: self.arena };
        let rest = self.rests.of(&mut frames, self.costs, &self.speller, node, NONE);
        self.rests.tokens(rest).is_some_and(|n| n <= self.left)
    }

    fn step(&mut self, at: u32, byte: u8) -> u32 {
        let Some(place) = self.places.get(at as usize) else { return at };
        match place.next.as_ref().map_or(UNKNOWN, |next| next[usize::from(byte)]) {
            UNKNOWN => {}
            known => return known,
        }
        let to = self.find(at, byte);
        let next = self.places[at as usize].next.get_or_insert_with(|| Box::new([UNKNOWN; 256]));
        next[usize::from(byte)] = to;
        to
    }

    fn find(&mut self, at: u32, byte: u8) -> u32 {
        let &Place { node, is_new, is_behind, .. } = &self.places[at as usize];
        if is_behind && byte == b',' {
            return ALONE;
        }
        let mark = self.arena.mark();
        let to = self.frames().step(node, byte);
        if to == NONE {
            self.arena.truncate(&mark);
            return DEAD;
        }
        let now_new = self.describe(to, is_new || is_behind);
        let behind = is_behind || is_new && !now_new;
        if behind != (is_new || is_behind) {
            self.describe(to, behind);
        }
        if let Some(&known) = self.numbers.get(&self.key) {
            self.arena.truncate(&mark);
            return known;
        }
        if self.places.len() >= MAX_PLACES {
            self.arena.truncate(&mark);
            return ALONE;
        }
        let number = self.places.len() as u32;
        self.places.push(Place { node: to, is_new: now_new, is_behind: behind, fits: None, next: None });
        self.numbers.insert(self.key.clone(), number);
        number
    }

    /// Writes what the future of a configuration depends on into `key`. Whether it is one for all new texts.
    fn describe(&mut self, node: NodeId, is_behind: bool) -> bool {
        self.key.clear();
        self.key.push(u8::from(is_behind));
        let n = self.arena.nodes[node as usize];
        let mut words: Vec<u32> = Vec::new();
        let mut is_new = false;
        match (n.kind, n.phase) {
            (Kind::Scalar, _) if n.trace != u32::MAX && self.is_new_element(node) => {
                is_new = true;
                let items = &self.arena.scalars[n.start as usize..(n.start + n.len) as usize];
                // Of the length, what some bound depends on.
                let bounded = items.iter().map(|i| &self.program.lexemes[i.lexeme as usize]).filter(|l| l.is_bounded());
                let count = bounded.map(|l| l.significant_count(n.count)).max();
                words.extend([1, n.parent, count.unwrap_or(0)]);
                words.extend(items.iter().flat_map(|i| [i.tag, i.lexeme, i.state]));
            }
            (Kind::Object, Phase::Key) if self.is_new_key(node) => {
                is_new = true;
                words.extend([2, n.parent, n.seen, n.count, n.text].into_iter().chain(sub_words(n.sub)));
                for i in &self.arena.objects[n.start as usize..(n.start + n.len) as usize] {
                    words.extend([i.tag, i.shape, i.seen, i.need, i.position, i.child]);
                    let classes = self.program.objects[i.shape as usize].others.len();
                    words.extend(&self.arena.states[i.classes as usize..][..classes]);
                }
            }
            _ => {}
        }
        if words.is_empty() {
            let frames = Frames { program: self.program, arena: self.arena };
            let len = self.key.len();
            if !self.rests.describe(&frames, &n, &mut self.key) {
                self.key.truncate(len);
                self.arena.describe(self.program, node, &mut self.key);
            }
        } else {
            words.iter().for_each(|w| self.key.extend(w.to_le_bytes()));
        }
        is_new
    }

    /// Whether a key is begun by text that no name and no key of the object begins with, and nothing but its own value
    /// is needed after it.
    fn is_new_key(&mut self, node: NodeId) -> bool {
        let n = self.arena.nodes[node as usize];
        let items = n.start as usize..(n.start + n.len) as usize;
        let free = self.arena.objects[items].iter().all(|i| {
            let shape = &self.program.objects[i.shape as usize];
            i.name == u32::MAX && i.others && shape.witnesses == 0 && shape.min <= u64::from(n.count)
        });
        if !free || n.trace != u32::MAX {
            return false;
        }
        let frames = self.frames();
        let text = frames.key_bytes(n.key);
        let mut seen = n.seen;
        while seen != u32::MAX {
            let other = frames.arena.seen[seen as usize];
            if frames.key_bytes(other.key).starts_with(&text) {
                return false;
            }
            seen = other.before;
        }
        text.len() >= MIN_NEW
    }

    /// The same for a string that is an element of an array of unique elements, which needs no more of them.
    fn is_new_element(&self, node: NodeId) -> bool {
        let arena = &self.arena;
        let n = &arena.nodes[node as usize];
        let array = &arena.nodes[n.parent as usize];
        if array.kind != Kind::Array || array.key == u32::MAX || array.trace != u32::MAX {
            return false;
        }
        let items = array.start as usize..(array.start + array.len) as usize;
        let free = arena.arrays[items].iter().all(|i| {
            let shape = &self.program.arrays[i.shape as usize];
            shape.contains.is_empty() && shape.min <= u64::from(array.count)
        });
        let text = arena.bytes_since(n.trace, array.key);
        if !free || text.len() <= MIN_NEW || text.first() != Some(&b'"') || text.contains(&b'\\') {
            return false;
        }
        let mut seen = array.seen;
        while seen != u32::MAX {
            let other = &arena.elements[seen as usize];
            // The canonical text of a string is its plain spelling behind one more quote.
            if other.value.strip_prefix(b"\"").is_some_and(|value| value.starts_with(&text)) {
                return false;
            }
            seen = other.before;
        }
        true
    }
}
