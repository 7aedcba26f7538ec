//! Keys of objects: what an open key may still become, and the member that it opens.
//!
//! While a key is open its text is decoded byte by byte. Each item of the frame goes on with the names that begin like
//! that, as one node of a trie, and with the states of the key classes, which read the decoded text. An item goes when
//! neither is left. Where a class has few keys, those that the object has are not counted on. The quote that ends the
//! key decides which named member, or which class, it is.

use crate::json::string_escape::{EscapeMove, EscapeState, step};
use crate::json::whitespace::Gap;
use crate::lexeme::{CLOSED, DEAD_STATE, StateId};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, KeyByte, NONE, ObjectItem, Phase, Seen};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::ClassProgram;

/// In a key: the "state" of a class of every key, which reads nothing.
const EVERY_KEY: StateId = CLOSED + 1;

impl JsonMachine<'_> {
    pub(crate) fn open_key(&mut self, node: Frame) -> FrameId {
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let (bits, others) = self.allowed(&node, &item);
            if !others && bits.iter().all(|w| *w == 0) {
                continue;
            }
            let allowed = self.arena.bits.len() as u32;
            self.arena.bits.extend_from_slice(&bits);
            let classes = self.arena.states.len() as u32;
            let missing = if p.witnesses == 0 { 0 } else { self.missing_names(&item, p) };
            for c in &p.others {
                let fits = p.witnesses == 0 || p.has_room(c, node.count as u64 + missing, item.witnessed);
                let start = c.keys.as_ref().map_or(EVERY_KEY, |k| k.start());
                self.arena.states.push(if fits { start } else { DEAD_STATE });
            }
            self.arena.objects.push(ObjectItem { allowed, others, name_node: 0, classes, ..item });
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        let any = &program.any_text;
        let text = any.next(any.start(), b'"');
        // The whitespace in front of a key does not matter any more.
        let node = Frame { gap: Gap::Before as u8, blank: 0, ..node };
        self.arena.push(Frame { start, len, phase: Phase::Key, text, sub: EscapeState::Plain, key: u32::MAX, ..node })
    }

    pub(crate) fn step_key(&mut self, node: Frame, byte: u8) -> FrameId {
        let text = self.program.any_text.next(node.text, byte);
        if text == DEAD_STATE {
            return NONE;
        }
        if text == CLOSED {
            return self.close_key(node);
        }
        let mut buffer = [0; 4];
        let to = step(node.sub, byte);
        let names = self.program.name_escapes.allows(node.sub, byte, &to);
        let (sub, decoded): (EscapeState, &[u8]) = match to {
            EscapeMove::Dead | EscapeMove::Close => return NONE,
            EscapeMove::To(sub) => (sub, &[]),
            EscapeMove::Byte(b) => {
                buffer[0] = b;
                (EscapeState::Plain, &buffer[..1])
            }
            EscapeMove::Char(c) => (EscapeState::Plain, c.encode_utf8(&mut buffer).as_bytes()),
        };
        let moved = Frame { text, sub, ..node };
        if decoded.is_empty() {
            // In the middle of an escape: something that it can become must lead on.
            let moved = if names { moved } else { self.without_names(moved) };
            let any = self.program.key_escapes().pending(sub);
            let named = self.program.name_escapes.pending(sub);
            let mut items = moved.start..moved.start + moved.len;
            let meets = items.any(|i| self.key_meets(&moved, self.arena.objects[i as usize], &named, &any));
            return if meets { self.arena.push(moved) } else { NONE };
        }
        let node = if names { node } else { self.without_names(node) };
        self.read_in_key(node, decoded, moved)
    }

    /// Whether bytes of a key that stand for themselves may be read at once from `top`: in a key, outside of escapes,
    /// and nobody records what is read.
    pub fn reads_at_once(&self, top: FrameId) -> bool {
        let node = &self.arena.nodes[top as usize];
        node.kind == FrameKind::Object
            && node.phase == Phase::Key
            && node.sub == EscapeState::Plain
            && !self.program.has_unique
    }

    /// The key at `top` after bytes that stand for themselves, all at once; [`NONE`] if no allowed key begins so.
    pub fn read_plain(&mut self, top: FrameId, bytes: &[u8]) -> FrameId {
        let node = self.arena.nodes[top as usize];
        let next = |text, &b| if text <= CLOSED { DEAD_STATE } else { self.program.any_text.next(text, b) };
        let text = bytes.iter().fold(node.text, next);
        if text <= CLOSED { NONE } else { self.read_in_key(node, bytes, Frame { text, ..node }) }
    }

    /// The key `node` after decoded bytes, `moved` being the node without them; [`NONE`] if no allowed key begins so.
    pub(crate) fn read_in_key(&mut self, node: Frame, decoded: &[u8], moved: Frame) -> FrameId {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if let Some(next) = self.key_item(&node, item, decoded) {
                self.arena.objects.push(next);
            }
        }
        if self.arena.objects.len() as u32 == start {
            return NONE;
        }
        let mut key = node.key;
        for &byte in decoded {
            self.arena.keys.push(KeyByte { before: key, byte });
            key = self.arena.keys.len() as u32 - 1;
        }
        self.with_items(Frame { key, ..moved }, start)
    }

    /// `node`, in a key, with items that allow no named key.
    pub(crate) fn without_names(&mut self, node: Frame) -> Frame {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let allowed = self.no_names(&item);
            self.arena.objects.push(ObjectItem { allowed, ..item });
        }
        Frame { start, ..node }
    }

    /// A set of none of an item's names.
    pub(crate) fn no_names(&mut self, item: &ObjectItem) -> u32 {
        let words = self.program.objects[item.shape as usize].words;
        let allowed = self.arena.bits.len() as u32;
        self.arena.bits.extend(std::iter::repeat_n(0, words));
        allowed
    }

    /// The item after decoded bytes of a key, if some allowed key still begins so.
    fn key_item(&mut self, node: &Frame, mut item: ObjectItem, decoded: &[u8]) -> Option<ObjectItem> {
        let program = self.program;
        let p = &program.objects[item.shape as usize];
        for &b in decoded {
            if item.name_node == u32::MAX {
                break;
            }
            item.name_node = p.names.child(item.name_node, b).unwrap_or(u32::MAX);
        }
        let mut live = item.name_node != u32::MAX && {
            let allowed = self.bits(item.allowed, p.words);
            p.names.subtree_tokens(item.name_node).iter().any(|&i| allowed[i as usize / 64] >> (i % 64) & 1 == 1)
        };
        if item.others {
            let classes = self.arena.states.len() as u32;
            for (c, i) in p.others.iter().zip(0..) {
                let state = self.arena.states[(item.classes + i) as usize];
                let next = match &c.keys {
                    // "Any text" checks the encoding; whatever it lets through is a key of this class.
                    None => {
                        live |= state > CLOSED;
                        state
                    }
                    Some(keys) => {
                        let next =
                            decoded.iter().fold(state, |s, &b| if s <= CLOSED { DEAD_STATE } else { keys.next(s, b) });
                        if next > CLOSED && keys.residual_size(next) <= node.count.into() {
                            self.arena.order_keys(node.seen);
                        }
                        live |= next > CLOSED && self.class_has_unseen(node, keys, next, decoded);
                        next
                    }
                };
                self.arena.states.push(next);
            }
            item.classes = classes;
        }
        live.then_some(item)
    }

    /// Whether the item, in a key, has a class of every key that may be used.
    fn takes_every_key(&self, item: &ObjectItem) -> bool {
        let p = &self.program.objects[item.shape as usize];
        item.others
            && p.others
                .iter()
                .zip(0..)
                .any(|(c, i)| c.keys.is_none() && self.arena.states[(item.classes + i) as usize] > CLOSED)
    }

    /// Whether the key that `item` reads may become one that is no name of its shape.
    pub fn may_be_other(&self, item: &ObjectItem) -> bool {
        let classes = self.program.objects[item.shape as usize].others.len();
        item.others && self.arena.states[item.classes as usize..][..classes].iter().any(|&state| state > CLOSED)
    }

    /// Whether any character may come next in the key that `node` is in, whatever was read of it.
    pub fn takes_any_char(&self, node: &Frame) -> bool {
        node.sub == EscapeState::Plain
            && self.program.any_text.state(node.text).accepting
            && self.arena.objects[node.start as usize..][..node.len as usize].iter().any(|i| self.takes_every_key(i))
    }

    /// Whether no key that `node`, in a key, may become goes on with `byte`. False for more where classes of keys tell.
    pub fn begins_no_name(&self, node: &Frame, byte: u8) -> bool {
        self.arena.objects[node.start as usize..][..node.len as usize].iter().all(|item| {
            let names = &self.program.objects[item.shape as usize].names;
            !item.others && (item.name_node == u32::MAX || names.child(item.name_node, byte).is_none())
        })
    }

    /// Whether no key that `node`, in a key and outside of escapes, may become goes on with `byte`, which stands for
    /// itself. False for more where what the object has tells.
    pub fn begins_no_key(&self, node: &Frame, byte: u8) -> bool {
        self.arena.objects[node.start as usize..][..node.len as usize].iter().all(|item| {
            let p = &self.program.objects[item.shape as usize];
            let class = |(c, i): (&ClassProgram, u32)| {
                let state = self.arena.states[(item.classes + i) as usize];
                state > CLOSED && c.keys.as_ref().is_none_or(|keys| keys.next(state, byte) > CLOSED)
            };
            (item.name_node == u32::MAX || p.names.child(item.name_node, byte).is_none())
                && !(item.others && p.others.iter().zip(0..).any(class))
        })
    }

    /// Whether a character keeps the item alive: one of the ranges `named` a named key, one of `any` another.
    fn key_meets(&self, node: &Frame, item: ObjectItem, named: &[(u32, u32)], any: &[(u32, u32)]) -> bool {
        let p = &self.program.objects[item.shape as usize];
        if self.takes_every_key(&item) && !any.is_empty() {
            return true;
        }
        let allowed = self.bits(item.allowed, p.words);
        let in_range = |text: &[u8]| {
            let prefix = self.key_bytes(node.key).len();
            let next = std::str::from_utf8(&text[prefix.min(text.len())..]).ok().and_then(|t| t.chars().next());
            next.is_some_and(|c| named.iter().any(|&(lo, hi)| (lo..=hi).contains(&(c as u32))))
        };
        if item.name_node != u32::MAX {
            for child in p.names.children(item.name_node) {
                let byte = p.names.byte[child as usize];
                if byte.is_ascii() && !named.iter().any(|&(lo, hi)| (lo..=hi).contains(&byte.into())) {
                    continue;
                }
                let live = |&i: &u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
                let names = p.names.subtree_tokens(child);
                if names.iter().any(|i| live(i) && (byte.is_ascii() || in_range(p.name(*i).as_bytes()))) {
                    return true;
                }
            }
        }
        item.others
            && p.others.iter().zip(0..).any(|(c, i)| {
                let Some(keys) = &c.keys else { return false };
                let state = self.arena.states[(item.classes + i) as usize];
                state > CLOSED && self.class_has_unseen_of(node, keys, state, any)
            })
    }

    /// The decoded bytes of a key, first to last.
    pub fn key_bytes(&self, last: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let mut k = last;
        while k != u32::MAX {
            let b = self.arena.keys[k as usize];
            out.push(b.byte);
            k = b.before;
        }
        out.reverse();
        out
    }

    /// The configuration after the key at `top` is closed as one that no item names and none has seen, for some of the
    /// items and their classes, given by their numbers. What it spells is left open.
    pub fn close_unnamed(&mut self, top: FrameId, classes: impl Iterator<Item = (u32, u32)>) -> FrameId {
        let node = self.arena.nodes[top as usize];
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for (i, k) in classes {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let class = &p.others[k as usize];
            let closed = ObjectItem {
                position: p.rules.len() as u32,
                child: class.rule.0,
                witnessed: item.witnessed | class.matches,
                allowed: 0,
                others: false,
                name_node: u32::MAX,
                classes: 0,
                ..item
            };
            match &p.union {
                Some(union) => self.split_by_rule(closed, node.count, &union.classes[k as usize]),
                None => self.arena.objects.push(closed),
            }
        }
        self.after_key(node, start, node.seen)
    }

    /// `node` with the items made since `start` in place of its own; [`NONE`] if there are none.
    pub(crate) fn with_items(&mut self, node: Frame, start: u32) -> FrameId {
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 { NONE } else { self.arena.push(Frame { start, len, ..node }) }
    }

    /// The key node with named keys only, for the items that have no class of every key. [`NONE`] without such items.
    pub fn named_only(&mut self, top: FrameId) -> FrameId {
        let node = self.arena.nodes[top as usize];
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if item.name_node != u32::MAX && !self.takes_every_key(&item) {
                self.arena.objects.push(ObjectItem { others: false, ..item });
            }
        }
        self.with_items(node, start)
    }

    pub(crate) fn close_key(&mut self, node: Frame) -> FrameId {
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        let mut unnamed = false;
        let mut repeated: Option<bool> = None;
        let mut text: Option<Vec<u8>> = None;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let named = if item.name_node == u32::MAX { None } else { p.names.tokens(item.name_node).first() };
            let next = match named {
                Some(&i) => {
                    let bit = 1u64 << (i % 64);
                    if self.bits(item.allowed, p.words)[i as usize / 64] & bit == 0 {
                        continue;
                    }
                    let Some(rule) = p.rules[i as usize] else { continue };
                    let seen = self.arena.bits.len() as u32;
                    let old = item.seen as usize;
                    self.arena.bits.extend_from_within(old..old + p.words);
                    self.arena.bits[seen as usize + i as usize / 64] |= bit;
                    if let Some(union) = &p.union {
                        let closed =
                            ObjectItem { seen, allowed: 0, others: false, name_node: u32::MAX, classes: 0, ..item };
                        self.split_by_rule(
                            ObjectItem { unsettled: true, ..closed },
                            node.count,
                            &union.named[i as usize],
                        );
                        continue;
                    }
                    let mut need = item.need;
                    if let Some(dependent_required) = &p.dependent_required {
                        let old = need as usize;
                        need = self.arena.bits.len() as u32;
                        self.arena.bits.extend_from_within(old..old + p.words);
                        for (w, m) in dependent_required[i as usize].iter().enumerate() {
                            self.arena.bits[need as usize + w] |= m;
                        }
                    }
                    ObjectItem { seen, need, position: i + 1, child: rule.0, ..item }
                }
                None => {
                    if !item.others {
                        continue;
                    }
                    let again = *repeated.get_or_insert_with(|| {
                        let t = text.get_or_insert_with(|| self.key_bytes(node.key));
                        self.arena.is_seen(node.seen, t)
                    });
                    if again {
                        continue;
                    }
                    unnamed |= self.take_unnamed(item, node.count);
                    continue;
                }
            };
            self.arena.objects.push(ObjectItem { allowed: 0, others: false, name_node: u32::MAX, classes: 0, ..next });
        }
        let mut seen = node.seen;
        if unnamed {
            let len = text.map_or_else(|| self.key_bytes(node.key).len(), |t| t.len()) as u32;
            self.arena.seen.push(Seen { before: seen, key: node.key, len });
            seen = self.arena.seen.len() as u32 - 1;
        }
        self.after_key(node, start, seen)
    }

    /// Adds an item for each class of `item` that has the key which ends here, behind `count` members; whether there is
    /// one.
    fn take_unnamed(&mut self, item: ObjectItem, count: u32) -> bool {
        let p = &self.program.objects[item.shape as usize];
        let first = self.arena.objects.len();
        for (class, i) in p.others.iter().zip(0..) {
            let s = self.arena.states[(item.classes + i) as usize];
            if s <= CLOSED || class.keys.as_ref().is_some_and(|keys| !keys.state(s).accepting) {
                continue;
            }
            let next = ObjectItem {
                position: p.rules.len() as u32,
                child: class.rule.0,
                witnessed: item.witnessed | class.matches & p.witnesses,
                allowed: 0,
                others: false,
                name_node: u32::MAX,
                classes: 0,
                ..item
            };
            if let Some(union) = &p.union {
                self.split_by_rule(next, count, &union.classes[i as usize]);
            } else if !self.arena.objects[first..].contains(&next) {
                self.arena.objects.push(next);
            }
            if p.witnesses == 0 {
                // The classes are disjoint.
                break;
            }
        }
        self.arena.objects.len() > first
    }

    fn after_key(&mut self, node: Frame, start: u32, seen: u32) -> FrameId {
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Frame {
            start,
            len,
            seen,
            phase: Phase::BeforeColon,
            gap: Gap::Before as u8,
            blank: 0,
            count: node.count.saturating_add(1),
            key: u32::MAX,
            text: 0,
            ..node
        })
    }
}
