//! New text: one class for all texts that differ from their neighbours.
//!
//! A key must differ from the keys that its object has. A key that is a prefix of none of those is *new*: it differs
//! from them whatever it becomes. Of new keys only the states of their classes matter, so one of them, the *stand-in*,
//! is priced, and all others have its price.
//!
//! There are exceptions. To complete the object may take further keys, and these must differ from the new key as well.
//! So the keys that are tried while the stand-in is completed are noted ([`KeyWatch`]). A new key that may become one
//! of them is an *exception*, and is stepped by itself; every other one has a completion like the stand-in's. If the
//! stand-in is an exception itself, nothing has its price.

use crate::guide::budget::affordable::AffordableTokens;
use crate::guide::budget::affordable::config_class::ConfigClass;
use crate::json::string_escape::{EscapeState, decode};
use crate::pushdown::completion::shortest::KeyWatch;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::literal_trie::{NO_SET, sub_words};
use crate::vocab::Trie;

/// Characters that are rare in texts and names, one of which leads to new text.
const RARE: &[u8] = b"~|^`%=;";

/// Whether a configuration is inside new text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum New {
    No,
    /// A scalar by which an element differs from all others of its array.
    Element {
        /// What is written behind the element depends on it, as further ones are needed that must differ from it.
        matters: bool,
    },
    Key {
        /// Further keys may follow before the object ends.
        matters: bool,
    },
}

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// Writes what the future of a configuration inside new text depends on into `key`, if it is one.
    pub(super) fn describe_new(&mut self, node: FrameId) -> New {
        let n = self.arena.nodes[node as usize];
        let mut words: Vec<u32> = Vec::new();
        let new = match (n.kind, n.phase) {
            (FrameKind::Scalar, _) if n.trace != u32::MAX && n.seen == NO_SET && self.is_new_element(node) => {
                let items = &self.arena.scalars[n.start as usize..(n.start + n.len) as usize];
                // Of the length, what some bound depends on.
                let bounded = items.iter().map(|i| &self.program.lexemes[i.lexeme as usize]).filter(|l| l.is_bounded());
                let count = bounded.map(|l| l.significant_count(n.count)).max();
                words.extend([1, n.parent, count.unwrap_or(0)]);
                words.extend(items.iter().flat_map(|i| [i.tag, i.lexeme, i.state]));
                let here = self.element.as_ref().and_then(|element| element.matters_in(n.parent));
                // One that a token begins is an element itself, of the only such array on the stack.
                let matters = here.unwrap_or_else(|| self.needs_more(&self.arena.nodes[n.parent as usize]));
                New::Element { matters }
            }
            (FrameKind::Object, Phase::Key) if self.is_new_key(node) => {
                words.extend([2, n.parent, n.seen, n.count, n.text].into_iter().chain(sub_words(n.sub)));
                // An object ends as soon as it has what it needs, unless there are several shapes to choose from.
                let mut matters = n.len > 1;
                for i in &self.arena.objects[n.start as usize..(n.start + n.len) as usize] {
                    let shape = &self.program.objects[i.shape as usize];
                    matters |= shape.witnesses != 0 || shape.min > u64::from(n.count) + 1;
                    words.extend([i.tag, i.shape, i.seen, i.need, i.position, i.child, i.witnessed, i.alternatives]);
                    words.extend(&self.arena.states[i.classes as usize..][..shape.others.len()]);
                }
                New::Key { matters }
            }
            _ => return New::No,
        };
        self.key.clear();
        self.key.push(2);
        words.iter().for_each(|w| self.key.extend(w.to_le_bytes()));
        new
    }

    /// Writes what the price of a new key depends on in an object that needs no further keys, but for what lies below.
    pub(super) fn describe_new_key(&mut self, n: &Frame) {
        let words = [n.count, n.text].into_iter().chain(sub_words(n.sub));
        words.for_each(|w| self.key.extend(w.to_le_bytes()));
        for i in &self.arena.objects[n.items()] {
            let shape = &self.program.objects[i.shape as usize];
            let words = [i.tag, i.shape, i.position, i.child, i.witnessed];
            words.iter().for_each(|w| self.key.extend(w.to_le_bytes()));
            let bits = [i.seen, i.need].map(|at| &self.arena.bits[at as usize..][..shape.words]);
            bits.into_iter().flatten().for_each(|w| self.key.extend(w.to_le_bytes()));
            let states = &self.arena.states[i.classes as usize..][..shape.others.len()];
            states.iter().for_each(|w| self.key.extend(w.to_le_bytes()));
        }
    }

    /// Completes a class that one new key stands for, and notes the exceptions. False where it can stand for no other.
    pub(super) fn complete_for_all(&mut self, class: &mut ConfigClass) -> bool {
        let mut watch = KeyWatch::new(class.below);
        let (rest, price) = self.completed(class.node, &mut watch);
        class.price = Some(price);
        if watch.vague {
            return false;
        }
        if watch.tried.is_empty() {
            return true;
        }
        let Some((mut key, open)) = self.key_above(class.node, class.below) else { return false };
        let closed = |(text, _, read): (Vec<u8>, _, Option<usize>)| read.map(|_| text);
        let missing = open.map(|sub| closed(decode(sub, self.rests.bytes(rest))));
        let Some(missing) = missing.unwrap_or_else(|| Some(Vec::new())) else {
            return false;
        };
        key.extend_from_slice(&missing);
        if watch.tried.iter().any(|tried| tried.as_bytes() == key) {
            return false;
        }
        let begun = watch.tried.iter().filter_map(|tried| tried.as_bytes().strip_suffix(&*missing));
        class.except = begun.map(Box::from).collect();
        true
    }

    /// The key that is open, or was closed last, in the object on `below` that `top` is in, decoded, and how far into
    /// an escape it is if it is open.
    fn key_above(&mut self, top: FrameId, below: FrameId) -> Option<(Vec<u8>, Option<EscapeState>)> {
        let mut at = top;
        loop {
            let n = *self.arena.nodes.get(at as usize)?;
            if n.parent == below {
                let frames = self.frames();
                if n.phase == Phase::Key {
                    return Some((frames.key_bytes(n.key), Some(n.sub)));
                }
                let seen = frames.arena.seen.get(n.seen as usize)?.key;
                return Some((frames.key_bytes(seen), None));
            }
            at = n.parent;
        }
    }

    /// What was read of the key that the guide stands in, decoded; `None` inside an escape. Empty outside of keys.
    fn read_before(&mut self) -> Option<Vec<u8>> {
        let n = self.arena.nodes[self.top as usize];
        match n.phase {
            Phase::Key => (n.sub == EscapeState::Plain).then(|| self.frames().key_bytes(n.key)),
            _ => Some(Vec::new()),
        }
    }

    /// The text that `bytes` have put into the key that they end in. `None` if that takes more than a look.
    fn text_after(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.contains(&b'\\') {
            return None;
        }
        match bytes.iter().rposition(|&b| b == b'"') {
            Some(quote) => Some(bytes[quote + 1..].to_vec()),
            None => self.read_before().map(|before| [&before, bytes].concat()),
        }
    }

    /// Whether some exception may begin like the text of a key after `bytes`.
    pub(super) fn begins_exception(&mut self, bytes: &[u8]) -> bool {
        if self.exceptions.is_empty() {
            return false;
        }
        let Some(text) = self.text_after(bytes) else { return true };
        self.exceptions.iter().any(|e| e.starts_with(&text))
    }

    /// Whether the key that `bytes` end in or behind is an exception of the class that they lead to.
    pub(super) fn is_exception(&mut self, class: u32, bytes: &[u8]) -> bool {
        let &ConfigClass { is_new, below, .. } = &self.classes[class as usize];
        if is_new && let Some(text) = self.text_after(bytes) {
            return self.classes[class as usize].except.iter().any(|e| **e == *text);
        }
        let mark = self.arena.mark();
        let at = self.after(bytes);
        let key = if at == NONE { None } else { self.key_above(at, below) };
        self.arena.truncate(&mark);
        key.is_none_or(|(key, _)| self.classes[class as usize].except.iter().any(|e| **e == *key))
    }

    /// The tokens of a row that go on with plain text to an exception, and whether what is left suffices after them.
    /// `None` where finding them takes a walk.
    pub(super) fn exceptional_tokens(&mut self, trie: &Trie, row: &[u32]) -> Option<Vec<(u32, bool)>> {
        let mut out = Vec::new();
        if self.exceptions.is_empty() || self.arena.nodes[self.top as usize].phase != Phase::Key {
            return Some(out);
        }
        let before = self.read_before()?;
        for exception in self.exceptions.clone() {
            let Some(bytes) = exception.strip_prefix(&*before).filter(|b| !b.is_empty()) else { continue };
            let Some(node) = bytes.iter().try_fold(0, |node, &b| trie.child(node, b)) else { continue };
            for &t in trie.tokens(node).iter().filter(|&&t| row[t as usize >> 5] >> (t & 31) & 1 == 1) {
                out.push((t, self.suffices_after(bytes)));
            }
        }
        Some(out)
    }

    /// Whether a key is begun by text that no name and no key of the object begins with.
    fn is_new_key(&mut self, node: FrameId) -> bool {
        let n = self.arena.nodes[node as usize];
        let items = n.start as usize..(n.start + n.len) as usize;
        let free = self.arena.objects[items].iter().all(|i| i.name_node == u32::MAX && i.others);
        if !free || n.key == u32::MAX {
            return false;
        }
        // Inside an element that must differ from others so must the key, and nothing else may depend on it.
        let is_settled = || self.element.as_ref().is_some_and(|element| element.matters_in(n.parent) == Some(false));
        if n.trace != u32::MAX && !(is_settled() && self.differs(&n) == Some(true)) {
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
        true
    }

    /// The class of new text that most text leads to from where the guide is, if others do not depend on what it is.
    pub(super) fn new_text_behind(&mut self) -> Option<u32> {
        RARE.iter().find_map(|&byte| {
            let class = self.step(0, byte);
            self.classes.get(class as usize).is_some_and(|c| c.is_new && c.below == NONE).then_some(class)
        })
    }

    /// Whether an array of unique elements with an element open in it needs further ones, which have to differ from
    /// that one.
    pub(super) fn needs_more(&self, array: &Frame) -> bool {
        let mut shapes = self.arena.arrays[array.items()].iter().map(|i| &self.program.arrays[i.shape as usize]);
        shapes.any(|shape| shape.unique && !shape.is_enough(u64::from(array.count) + 1))
    }

    /// Whether a string is begun by text by which an element of an array of unique elements differs from all others,
    /// however it goes on.
    fn is_new_element(&self, node: FrameId) -> bool {
        let arena = &self.arena;
        let n = &arena.nodes[node as usize];
        if let Some(differs) = self.differs(n) {
            return differs;
        }
        // One that a token begins.
        let array = &arena.nodes[n.parent as usize];
        if array.kind != FrameKind::Array || array.key == u32::MAX || array.trace != u32::MAX {
            return false;
        }
        let text = arena.bytes_since(n.trace, array.key);
        if text.first() != Some(&b'"') || text.contains(&b'\\') {
            return false;
        }
        // The canonical text of a string is its plain spelling behind one more quote.
        let mut values = arena.unique.values(array.seen);
        !values.any(|value| value.strip_prefix(b"\"").is_some_and(|value| value.starts_with(&text)))
    }
}
