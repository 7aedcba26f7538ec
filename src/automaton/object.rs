//! Objects: any order of keys without 2^k states.
//!
//! Each item of an object frame is one shape with registers: which named keys were seen, which are needed in the end,
//! and, in declared order, how far the order has come. Guards keep every item completable: a key is allowed only while
//! it is unseen, everything it implies is still possible, and the rest that is needed still fits `maxProperties`; a
//! comma only while some further key is allowed; a closing brace only when all that is needed was seen. Keys are
//! compared by what they decode to, so an escaped spelling of a key is that key, or, where named keys are written
//! plainly, refused: from the first byte on that is not plain, no named key is allowed any more.
//!
//! A shape with witnesses asks that some key without a name, or several, are of certain classes. There a key that
//! several classes have makes one item for each of them; an item remembers the witnesses that it has found, and of
//! items that differ in nothing else those that have found less are dropped. While witnesses are missing, room for
//! them is kept like room for needed names.

use super::arena::{KeyByte, Kind, NONE, Node, NodeId, ObjectItem, Phase, Seen};
use super::config::Frames;
use super::lexeme::{CLOSED, DEAD, StateId};
use super::program::{ClassProgram, Gap, ObjectProgram};
use super::text::{Move, Sub, is_plain, pending, plain_pending, step};
use crate::ir::RuleId;
use smallvec::SmallVec;

type Bits = SmallVec<[u64; 4]>;

/// In a key: the "state" of a class of every key, which reads nothing.
const EVERY_KEY: StateId = CLOSED + 1;

impl Frames<'_> {
    pub(super) fn open_object(&mut self, node: Node) -> NodeId {
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for tag in 0..node.len {
            let rule = self.arena.rules[(node.start + tag) as usize];
            for &shape in &program.rules[rule.0 as usize].objects {
                let p = &program.objects[shape as usize];
                let seen = self.arena.bits.len() as u32;
                self.arena.bits.extend(std::iter::repeat_n(0, p.words));
                let need = self.arena.bits.len() as u32;
                self.arena.bits.extend_from_slice(&p.required);
                self.arena.objects.push(ObjectItem {
                    tag,
                    shape,
                    seen,
                    need,
                    allowed: 0,
                    others: false,
                    name: u32::MAX,
                    classes: 0,
                    position: 0,
                    child: 0,
                    witnessed: 0,
                });
            }
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Node { start, len, ..Node::new(node.parent, Kind::Object, Phase::First, Gap::Before) })
    }

    pub(super) fn step_object(&mut self, node: Node, byte: u8) -> NodeId {
        if node.phase == Phase::Key {
            return self.step_key(node, byte);
        }
        if let Some(n) = self.blank(node, byte) {
            return n;
        }
        if !self.gap_may_end(&node) {
            return NONE;
        }
        match (node.phase, byte) {
            (Phase::First | Phase::After, b'}') => self.close_object(node),
            (Phase::First | Phase::BeforeKey, b'"') => self.open_key(node),
            (Phase::After, b',') => self.comma(node),
            (Phase::BeforeColon, b':') => self.open_member(node),
            _ => NONE,
        }
    }

    fn bits(&self, at: u32, words: usize) -> &[u64] {
        &self.arena.bits[at as usize..at as usize + words]
    }

    fn close_object(&mut self, node: Node) -> NodeId {
        let mut tags: SmallVec<[u32; 8]> = SmallVec::new();
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &self.program.objects[item.shape as usize];
            let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
            let complete = p.witnesses & !item.witnessed == 0 && need.iter().zip(seen).all(|(n, s)| n & !s == 0);
            if complete && node.count as u64 >= p.min && tags.last() != Some(&item.tag) {
                tags.push(item.tag);
            }
        }
        if tags.is_empty() { NONE } else { self.finish(node.parent, &tags, Some(b'}')) }
    }

    /// Keys without a name that the object has and that belong to the class of `keys`.
    fn seen_in_class(&self, node: &Node, keys: &super::lexeme::Lexeme) -> u64 {
        let mut n = 0;
        let mut s = node.seen;
        while s != u32::MAX {
            let seen = self.arena.seen[s as usize];
            n += self.class_accepts(keys, &self.key_bytes(seen.key)) as u64;
            s = seen.before;
        }
        n
    }

    fn class_accepts(&self, keys: &super::lexeme::Lexeme, text: &[u8]) -> bool {
        let end = text.iter().fold(keys.start(), |s, &b| keys.next(s, b));
        end > CLOSED && keys.state(end).accepting
    }

    /// How many further keys without a name an item may still get; `u64::MAX` is without end.
    fn others_left(&self, node: &Node, p: &ObjectProgram) -> u64 {
        let mut left = 0u64;
        for class in &p.others {
            let Some(keys) = &class.keys else { return u64::MAX };
            let size = keys.residual_size(keys.start());
            if size == u64::MAX {
                return u64::MAX;
            }
            left = left.saturating_add(size - self.seen_in_class(node, keys).min(size));
        }
        left
    }

    /// Whether there is room for a member of the class beside `taken` others and what is needed for the witnesses that
    /// are missing then.
    fn fits(&self, p: &ObjectProgram, item: &ObjectItem, class: &ClassProgram, taken: u64) -> bool {
        taken + 1 + p.missing_members(item.witnessed | class.matches) <= p.max
    }

    /// The named keys that `item` may take next, and whether it may take another one.
    fn allowed(&self, node: &Node, item: &ObjectItem) -> (Bits, bool) {
        let p = &self.program.objects[item.shape as usize];
        let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
        let any_order = self.program.any_order;
        let mut allowed: Bits = p.possible.iter().zip(seen).map(|(p, s)| p & !s).collect();
        let missing: Bits = need.iter().zip(seen).map(|(n, s)| n & !s).collect();
        let missing_names = missing.iter().map(|w| w.count_ones() as u64).sum::<u64>();
        // A named key is no witness, so room for those must stay beside it.
        let witnesses = p.missing_members(item.witnessed);
        let missing_count = missing_names + witnesses;
        let count = node.count as u64;
        if count >= p.max {
            return (smallvec::smallvec![0; p.words], false);
        }
        let mut others =
            (any_order || missing_names == 0) && p.others.iter().any(|c| self.fits(p, item, c, count + missing_names));
        if !any_order {
            // Nothing before the position, nothing beyond the first key that is still needed.
            clear_below(&mut allowed, item.position as usize);
            if let Some(first) = lowest(&missing) {
                clear_above(&mut allowed, first);
            }
        }
        let tight = count + 1 + missing_count > p.max;
        if tight {
            // Only what is needed anyway still fits.
            allowed.iter_mut().zip(&missing).for_each(|(a, m)| *a &= m);
        }
        if let Some(implied) = &p.implied {
            for i in ones(&allowed.clone()) {
                let fits = {
                    let mut extra: Bits =
                        implied[i].iter().zip(seen).zip(need).map(|((m, s), n)| (m | n) & !s).collect();
                    extra[i / 64] &= !(1 << (i % 64));
                    let total = extra.iter().map(|w| w.count_ones() as u64).sum::<u64>();
                    count + 1 + total + witnesses <= p.max && (any_order || lowest(&extra).is_none_or(|j| j > i))
                };
                if !fits {
                    allowed[i / 64] &= !(1 << (i % 64));
                }
            }
        }
        if p.min > count + 1 {
            // After this key, enough others must be left to reach the minimum.
            let others_left = self.others_left(node, p);
            if others_left != u64::MAX {
                let open: Bits = p.possible.iter().zip(seen).map(|(p, s)| p & !s).collect();
                for i in ones(&allowed.clone()) {
                    let mut rest = open.clone();
                    rest[i / 64] &= !(1 << (i % 64));
                    if !any_order {
                        clear_below(&mut rest, i + 1);
                    }
                    let left = rest.iter().map(|w| w.count_ones() as u64).sum::<u64>();
                    if count + 1 + left + others_left < p.min {
                        allowed[i / 64] &= !(1 << (i % 64));
                    }
                }
                let left = if any_order { open.iter().map(|w| w.count_ones() as u64).sum::<u64>() } else { 0 };
                others &= count + left + others_left >= p.min;
            }
        }
        if others {
            others = self.others_left(node, p) > 0;
        }
        (allowed, others)
    }

    fn missing_names(&self, item: &ObjectItem, p: &ObjectProgram) -> u64 {
        let (seen, need) = (self.bits(item.seen, p.words), self.bits(item.need, p.words));
        need.iter().zip(seen).map(|(n, s)| (n & !s).count_ones() as u64).sum()
    }

    fn comma(&mut self, node: Node) -> NodeId {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let (allowed, others) = self.allowed(&node, &item);
            if others || allowed.iter().any(|w| *w != 0) {
                self.arena.objects.push(item);
            }
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Node { start, len, phase: Phase::BeforeKey, gap: Gap::After as u8, blank: 0, ..node })
    }

    fn open_key(&mut self, node: Node) -> NodeId {
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
                let fits = p.witnesses == 0 || self.fits(p, &item, c, node.count as u64 + missing);
                let start = c.keys.as_ref().map_or(EVERY_KEY, |k| k.start());
                self.arena.states.push(if fits { start } else { DEAD });
            }
            self.arena.objects.push(ObjectItem { allowed, others, name: 0, classes, ..item });
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        let any = &program.any_text;
        let text = any.next(any.start(), b'"');
        self.arena.push(Node { start, len, phase: Phase::Key, text, sub: Sub::Plain, key: u32::MAX, ..node })
    }

    fn step_key(&mut self, node: Node, byte: u8) -> NodeId {
        let text = self.program.any_text.next(node.text, byte);
        if text == DEAD {
            return NONE;
        }
        if text == CLOSED {
            return self.close_key(node);
        }
        let mut buffer = [0; 4];
        let to = step(node.sub, byte);
        let names = !self.program.plain_names || is_plain(node.sub, byte, &to);
        let (sub, decoded): (Sub, &[u8]) = match to {
            Move::Dead | Move::Close => return NONE,
            Move::To(sub) => (sub, &[]),
            Move::Byte(b) => {
                buffer[0] = b;
                (Sub::Plain, &buffer[..1])
            }
            Move::Char(c) => (Sub::Plain, c.encode_utf8(&mut buffer).as_bytes()),
        };
        let moved = Node { text, sub, ..node };
        if decoded.is_empty() {
            // In the middle of an escape: something that it can become must lead on.
            let moved = if names { moved } else { self.without_names(moved) };
            let any = pending(sub);
            let named = if self.program.plain_names { plain_pending(sub) } else { any.clone() };
            let mut items = moved.start..moved.start + moved.len;
            let meets = items.any(|i| self.key_meets(&moved, self.arena.objects[i as usize], &named, &any));
            return if meets { self.arena.push(moved) } else { NONE };
        }
        let node = if names { node } else { self.without_names(node) };
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if let Some(next) = self.key_item(&node, item, decoded) {
                self.arena.objects.push(next);
            }
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        let mut key = node.key;
        for &byte in decoded {
            self.arena.keys.push(KeyByte { before: key, byte });
            key = self.arena.keys.len() as u32 - 1;
        }
        self.arena.push(Node { start, len, key, ..moved })
    }

    /// `node`, in a key, with items that allow no named key.
    fn without_names(&mut self, node: Node) -> Node {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let allowed = self.no_names(&item);
            self.arena.objects.push(ObjectItem { allowed, ..item });
        }
        Node { start, ..node }
    }

    /// A set of none of an item's names.
    fn no_names(&mut self, item: &ObjectItem) -> u32 {
        let words = self.program.objects[item.shape as usize].words;
        let allowed = self.arena.bits.len() as u32;
        self.arena.bits.extend(std::iter::repeat_n(0, words));
        allowed
    }

    /// The item after decoded bytes of a key, if some allowed key still begins so.
    pub(super) fn key_item(&mut self, node: &Node, mut item: ObjectItem, decoded: &[u8]) -> Option<ObjectItem> {
        let program = self.program;
        let p = &program.objects[item.shape as usize];
        for &b in decoded {
            if item.name == u32::MAX {
                break;
            }
            item.name = p.names.child(item.name, b).unwrap_or(u32::MAX);
        }
        let mut live = item.name != u32::MAX && {
            let allowed = self.bits(item.allowed, p.words);
            p.names.subtree_tokens(item.name).iter().any(|&i| allowed[i as usize / 64] >> (i % 64) & 1 == 1)
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
                        let next = decoded.iter().fold(state, |s, &b| if s <= CLOSED { DEAD } else { keys.next(s, b) });
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

    /// Whether some key of the class that continues from `state` is not in the object yet: more members than there
    /// are seen keys with the same beginning.
    fn class_has_unseen(&self, node: &Node, keys: &super::lexeme::Lexeme, state: u32, decoded: &[u8]) -> bool {
        if node.seen == u32::MAX {
            return true;
        }
        let size = keys.residual_size(state);
        if size == u64::MAX {
            return true;
        }
        let mut prefix = self.key_bytes(node.key);
        prefix.extend_from_slice(decoded);
        let mut used = 0;
        let mut s = node.seen;
        while s != u32::MAX {
            let seen = self.arena.seen[s as usize];
            let text = self.key_bytes(seen.key);
            used += (text.starts_with(&prefix) && self.class_accepts(keys, &text)) as u64;
            s = seen.before;
        }
        size > used
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

    /// Whether any character may come next in the key that `node` is in, whatever was read of it.
    pub fn takes_any_char(&self, node: &Node) -> bool {
        node.sub == Sub::Plain
            && self.program.any_text.state(node.text).accepting
            && self.arena.objects[node.start as usize..][..node.len as usize].iter().any(|i| self.takes_every_key(i))
    }

    /// Whether no key that `node`, in a key, may become goes on with `byte`. False for more where classes of keys tell.
    pub fn begins_no_name(&self, node: &Node, byte: u8) -> bool {
        self.arena.objects[node.start as usize..][..node.len as usize].iter().all(|item| {
            let names = &self.program.objects[item.shape as usize].names;
            !item.others && (item.name == u32::MAX || names.child(item.name, byte).is_none())
        })
    }

    /// Whether a character keeps the item alive: one of the ranges `named` a named key, one of `any` another.
    fn key_meets(&self, node: &Node, item: ObjectItem, named: &[(u32, u32)], any: &[(u32, u32)]) -> bool {
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
        if item.name != u32::MAX {
            for child in p.names.children(item.name) {
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
                state > CLOSED
                    && any
                        .iter()
                        .flat_map(|&(lo, hi)| keys.after_chars(state, lo, hi))
                        .any(|(s, text)| self.class_has_unseen(node, keys, s, &text))
            })
    }

    /// The decoded bytes of a key, first to last.
    pub fn key_bytes(&self, last: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let mut k = last;
        while k != u32::MAX {
            let b = self.arena.keys[k as usize];
            out.push(b.byte);
            k = b.before;
        }
        out.reverse();
        out
    }

    fn has_seen(&self, node: &Node, text: &[u8]) -> bool {
        let mut s = node.seen;
        while s != u32::MAX {
            let seen = self.arena.seen[s as usize];
            if seen.len as usize == text.len() && self.key_bytes(seen.key) == text {
                return true;
            }
            s = seen.before;
        }
        false
    }

    /// The configuration after the key at `top` is closed as one that no item names and none has seen, for the items
    /// and classes that `choose` picks. What it spells is left open.
    pub fn close_unnamed(&mut self, top: NodeId, choose: impl Fn(u32) -> bool) -> NodeId {
        let node = self.arena.nodes[top as usize];
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            if !item.others {
                continue;
            }
            for (class, k) in p.others.iter().zip(0..).filter(|(c, _)| choose(c.text)) {
                if self.arena.states[(item.classes + k) as usize] <= CLOSED {
                    continue;
                }
                let position = p.rules.len() as u32;
                self.arena.objects.push(ObjectItem {
                    position,
                    child: class.rule.0,
                    witnessed: item.witnessed | class.matches,
                    allowed: 0,
                    others: false,
                    name: u32::MAX,
                    classes: 0,
                    ..item
                });
            }
        }
        self.after_key(node, start, node.seen)
    }

    /// `node` with the items made since `start` in place of its own; [`NONE`] if there are none.
    fn with_items(&mut self, node: Node, start: u32) -> NodeId {
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 { NONE } else { self.arena.push(Node { start, len, ..node }) }
    }

    /// The key node with named keys only, for the items that have no class of every key. [`NONE`] without such items.
    pub fn named_only(&mut self, top: NodeId) -> NodeId {
        let node = self.arena.nodes[top as usize];
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if item.name != u32::MAX && !self.takes_every_key(&item) {
                self.arena.objects.push(ObjectItem { others: false, ..item });
            }
        }
        self.with_items(node, start)
    }

    /// The key node with only those classes that have few keys left, and no named keys. [`NONE`] without such classes.
    pub fn few_keys_only(&mut self, top: NodeId) -> NodeId {
        let node = self.arena.nodes[top as usize];
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            if !item.others {
                continue;
            }
            let classes = self.arena.states.len() as u32;
            let mut any = false;
            for (c, k) in p.others.iter().zip(0..) {
                let state = self.arena.states[(item.classes + k) as usize];
                let few = state > CLOSED && c.keys.as_ref().is_some_and(|l| l.residual_size(state) != u64::MAX);
                any |= few;
                self.arena.states.push(if few { state } else { DEAD });
            }
            if any {
                let allowed = self.no_names(&item);
                self.arena.objects.push(ObjectItem { classes, allowed, ..item });
            }
        }
        self.with_items(node, start)
    }

    fn close_key(&mut self, node: Node) -> NodeId {
        let program = self.program;
        let start = self.arena.objects.len() as u32;
        let mut unnamed = false;
        let mut repeated: Option<bool> = None;
        let mut text: Option<Vec<u8>> = None;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let named = if item.name == u32::MAX { None } else { p.names.tokens(item.name).first() };
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
                    let mut need = item.need;
                    if let Some(implied) = &p.implied {
                        let old = need as usize;
                        need = self.arena.bits.len() as u32;
                        self.arena.bits.extend_from_within(old..old + p.words);
                        for (w, m) in implied[i as usize].iter().enumerate() {
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
                        self.has_seen(&node, t)
                    });
                    if again {
                        continue;
                    }
                    unnamed |= self.take_unnamed(item);
                    continue;
                }
            };
            self.arena.objects.push(ObjectItem { allowed: 0, others: false, name: u32::MAX, classes: 0, ..next });
        }
        let mut seen = node.seen;
        if unnamed {
            let len = text.map_or_else(|| self.key_bytes(node.key).len(), |t| t.len()) as u32;
            self.arena.seen.push(Seen { before: seen, key: node.key, len });
            seen = self.arena.seen.len() as u32 - 1;
        }
        self.after_key(node, start, seen)
    }

    /// Adds an item for each class of `item` that has the key which ends here; whether there is one.
    fn take_unnamed(&mut self, item: ObjectItem) -> bool {
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
                name: u32::MAX,
                classes: 0,
                ..item
            };
            if !self.arena.objects[first..].contains(&next) {
                self.arena.objects.push(next);
            }
            if p.witnesses == 0 {
                // The classes are disjoint.
                break;
            }
        }
        self.arena.objects.len() > first
    }

    fn after_key(&mut self, node: Node, start: u32, seen: u32) -> NodeId {
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Node {
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

    fn open_member(&mut self, node: Node) -> NodeId {
        let start = self.arena.objects.len() as u32;
        let items = node.start as usize..(node.start + node.len) as usize;
        let mut rules: SmallVec<[RuleId; 8]> =
            self.arena.objects[items.clone()].iter().map(|i| RuleId(i.child)).collect();
        rules.sort_unstable();
        rules.dedup();
        self.arena.objects.extend_from_within(items);
        for item in &mut self.arena.objects[start as usize..] {
            item.child = rules.binary_search(&RuleId(item.child)).unwrap_or(0) as u32;
        }
        let object = self.arena.push(Node { start, phase: Phase::Inside, blank: 0, ..node });
        self.push_value(object, &rules, Gap::After)
    }

    pub(super) fn member_done(&mut self, node: Node, tags: &[u32]) -> NodeId {
        let start = self.arena.objects.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.objects[i as usize];
            if tags.binary_search(&item.child).is_err() {
                continue;
            }
            let item = ObjectItem { child: 0, ..item };
            if self.program.objects[item.shape as usize].witnesses == 0 {
                self.arena.objects.push(item);
            } else {
                self.push_witnessed(start, item);
            }
        }
        let len = self.arena.objects.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        self.arena.push(Node { start, len, phase: Phase::After, gap: Gap::Before as u8, blank: 0, ..node })
    }
}

impl Frames<'_> {
    /// Adds an item to those from `start` on, unless one of them has found the same witnesses and more. One that has
    /// found less than the new one makes room for it.
    fn push_witnessed(&mut self, start: u32, item: ObjectItem) {
        let words = self.program.objects[item.shape as usize].words;
        for i in start as usize..self.arena.objects.len() {
            let other = self.arena.objects[i];
            let same = (other.tag, other.shape, other.position) == (item.tag, item.shape, item.position)
                && self.bits(other.seen, words) == self.bits(item.seen, words)
                && self.bits(other.need, words) == self.bits(item.need, words);
            if same && item.witnessed & !other.witnessed == 0 {
                return;
            }
            if same && other.witnessed & !item.witnessed == 0 {
                self.arena.objects[i] = item;
                return;
            }
        }
        self.arena.objects.push(item);
    }
}

fn lowest(bits: &[u64]) -> Option<usize> {
    bits.iter().position(|w| *w != 0).map(|i| i * 64 + bits[i].trailing_zeros() as usize)
}

fn clear_below(bits: &mut [u64], n: usize) {
    for (i, w) in bits.iter_mut().enumerate() {
        if (i + 1) * 64 <= n {
            *w = 0;
        } else if i * 64 < n {
            *w &= !((1 << (n - i * 64)) - 1);
        }
    }
}

fn clear_above(bits: &mut [u64], n: usize) {
    for (i, w) in bits.iter_mut().enumerate() {
        if i * 64 > n {
            *w = 0;
        } else if n - i * 64 < 63 {
            *w &= (1 << (n - i * 64 + 1)) - 1;
        }
    }
}

/// The indices of set bits, ascending.
pub(crate) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(i, &w)| {
        std::iter::successors((w != 0).then_some(w), |w| Some(w & (w - 1)).filter(|w| *w != 0))
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
    })
}
