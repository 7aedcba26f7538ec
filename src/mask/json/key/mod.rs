//! Masks inside the keys of objects.
//!
//! An open object allows any key but those that it has, and a named key leads to another value. So the suffixes of a
//! key are first evaluated as if it were none of the *special* names (declared or seen). Then the few tokens that
//! complete a special name are taken back and stepped exactly. Inside declared names the tries of names and vocabulary
//! are walked side by side, and only quotes and escapes are stepped.

pub(crate) mod escape_table;
pub(crate) mod escapes;
pub(crate) mod group_alternatives;
pub(crate) mod names;
pub(crate) mod used_keys;

use crate::json::canonical::escape;
use crate::json::string_escape::{EscapeState, spells_itself};
use crate::lexeme::{CLOSED, Lexeme};
use crate::mask::json::crossing::quote_tries::takes_all;
use crate::mask::json::mask_builder::{JsonMaskBuilder, WalkOver};
use crate::mask::lexeme::lexeme_mask::CrossingTokens;
use crate::mask::row_patch::patch;
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::key_capacity::KeyCapacity;
use crate::pushdown::json::program::Program;

impl JsonMaskBuilder<'_> {
    /// Inside a key.
    pub(crate) fn key(&mut self, walked: TrieKind, node: u32, top: FrameId) {
        if self.partial {
            return self.any_key(walked, node, top);
        }
        self.unrepeated(walked, node, top, |builder| builder.any_key(walked, node, top));
    }

    /// Lets `part` walk the key with some of its items, whose repetitions the walk of all items takes back.
    fn in_part(&mut self, part: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.partial, true);
        part(self);
        self.partial = outer;
    }

    fn any_key(&mut self, walked: TrieKind, node: u32, top: FrameId) {
        let over = WalkOver::Whole(walked);
        let n = self.frames.arena.nodes[top as usize];
        if self.key_is_watched(top) {
            self.empty_stale_row();
            return self.children(over, node, top);
        }
        // Elements of unique arrays, and walks that take nothing back, leave no exceptions for later.
        let all = self.in_unique_array || self.partial;
        let KeyClasses { classes, few, ample } = self.key_classes(&n, all);
        let alike = |a: &ClassOfItem, b: &ClassOfItem| a.text == b.text;
        let groups = || classes.chunk_by(alike).filter(|group| !group[0].scarce);
        if n.sub != EscapeState::Plain || groups().next().is_none() {
            self.empty_stale_row();
            return self.children_of_key(over, node, top);
        }
        let mark = self.frames.arena.mark();
        if few {
            self.empty_stale_row();
            // Classes with few keys left are stepped, so that the last one is not promised twice.
            let only = self.frames.few_keys_only(top, all);
            if only != NONE {
                self.in_part(|builder| builder.children(over, node, only));
            }
            self.frames.arena.truncate(&mark);
        }
        // Values behind a name are taken back as its items alone repeat them, which must not touch what others allow.
        let unique = self.in_unique_array;
        if unique {
            self.names_alone(over, node, top);
        }
        let mut escaped: Vec<u32> = Vec::new();
        let rests = self.seen_rests(top);
        let mut first: Option<FirstBytes> = None;
        let (tables, lexemes) = (self.tables, self.lexemes);
        let any = tables.any_text_with(self.frames.program.key_escapes());
        let mut texts: smallvec::SmallVec<[_; 4]> = smallvec::SmallVec::new();
        for group in groups() {
            texts.push(match lexemes.get(group[0].text as usize) {
                None => (group, any, n.text),
                Some(masked) => (group, masked, encoded_state(&masked.lexeme, &self.frames.key_bytes(n.key))),
            });
        }
        texts.retain(|&mut (_, _, state)| state > CLOSED);
        let all = takes_all((walked, node), texts.iter().map(|&(_, masked, state)| (masked, state, 0)));
        for (i, &(group, masked, state)) in texts.iter().enumerate() {
            let mask = match all {
                Some(all) if all != i => tables.crossing(self.vocabulary, masked, state, 0),
                _ => tables.submask(self.vocabulary, masked, state, 0, walked, node),
            };
            self.allow_inner(&mask);
            let Some(cross) = &mask.cross else { continue };
            self.behind_group(cross, group, top, (walked, node));
            // Tokens that spell a special name by escapes.
            let first = *first.get_or_insert_with(|| self.first_bytes(top, &rests));
            for (token, text) in cross.escaped.iter() {
                if first.may_begin(text) && self.is_special(top, text, &rests) {
                    escaped.push(*token);
                }
            }
        }
        self.empty_stale_row();
        if ample {
            self.beginnings_of_seen(over, node, top, &rests);
        }
        self.specials(over, node, top, &rests);
        for token in escaped {
            self.forbid(patch(vec![token]), false);
            if self.allows(top, self.rest_of(token, (walked, node))) {
                self.set(token);
            }
        }
        if !unique {
            self.names_alone(over, node, top);
        }
    }

    /// The classes of keys that the key may belong to. `all` says that those with an exception count as having few
    /// keys.
    fn key_classes(&self, n: &Frame, all: bool) -> KeyClasses {
        let program = self.frames.program;
        let mut found = KeyClasses { classes: smallvec::SmallVec::new(), few: false, ample: false };
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.objects[i as usize];
            if !item.others {
                continue;
            }
            let p = &program.objects[item.shape as usize];
            for (c, k) in p.others.iter().zip(0..) {
                let state = self.frames.arena.states[(item.classes + k) as usize];
                if state <= CLOSED {
                    continue;
                }
                let room = self.frames.room_of(n, p, c, state);
                let scarce = room.is_scarce(all);
                found.few |= scarce;
                found.ample |= room == KeyCapacity::Ample && !scarce;
                found.classes.push(ClassOfItem { text: c.text, scarce, item: i, class: k });
            }
        }
        found.classes.sort_unstable();
        found
    }

    /// The tokens that go on behind a key without a name, which one of a group's classes takes.
    fn behind_group(&mut self, cross: &CrossingTokens, group: &[ClassOfItem], top: FrameId, from: (TrieKind, u32)) {
        let mark = self.frames.arena.mark();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, self.in_unique_array);
        let after = self.frames.close_unnamed(top, group.iter().map(|c| (c.item, c.class)));
        if after != NONE && !self.cross_unnamed(cross, top, after, from) {
            let before = self.steps_crossing_whole;
            self.steps_crossing_whole |= self.in_unique_array;
            let suffix = WalkOver::Suffix { cross, lexeme: None, count: 0, origin: top, from };
            self.emit(suffix, 0);
            self.visit(suffix, 0, after);
            self.steps_crossing_whole = before;
        }
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
    }

    /// Steps what goes on with a named key, by the items that know it.
    fn names_alone(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        self.empty_stale_row();
        let mark = self.frames.arena.mark();
        let named = self.frames.named_only(top);
        if named != NONE {
            self.in_part(|builder| builder.children_of_key(over, node, named));
        }
        self.frames.arena.truncate(&mark);
    }

    /// Allows crossing tokens that close a key which nobody knows, `after` which the configuration is as given. False,
    /// and nothing was done, if some suffix is not among the vocabulary's.
    fn cross_unnamed(&mut self, cross: &CrossingTokens, top: FrameId, after: FrameId, from: (TrieKind, u32)) -> bool {
        let (bits, open) = self.live_suffixes_unnamed(after);
        if !self.cross_by(cross, &bits) {
            return false;
        }
        // A second key in one token, and elements: what the key spells may matter.
        self.cross_unresolved(cross, &open, top, from);
        true
    }

    /// Allows the tokens at and below `child` that go on behind `path`: bytes from `top` on, of which the last is the
    /// quote that closes the key or the end of an escape.
    pub(crate) fn allow_behind(&mut self, over: WalkOver<'_>, child: u32, top: FrameId, path: &[u8]) {
        let mark = self.frames.arena.mark();
        let next = self.step_all(top, path);
        if next != NONE {
            let n = &self.frames.arena.nodes[next as usize];
            let closed = !(n.kind == FrameKind::Object && n.phase == Phase::Key);
            let tables = self.tables;
            let quick = closed && path.len() == 1 && matches!(over, WalkOver::Whole(TrieKind::Tokens));
            let bits =
                if quick && self.trie(over).depth[child as usize] == 1 { Some(self.live_suffixes(next)) } else { None };
            let done = match (&bits, &tables.suffixes.closing) {
                (Some(bits), Some(closing)) => self.cross_by(closing, bits),
                _ => false,
            };
            if !done {
                self.emit(over, child);
                if closed { self.visit(over, child, next) } else { self.children_of_key(over, child, next) }
            }
        }
        self.frames.arena.truncate(&mark);
    }

    /// Steps the children that can go on with a named key; the others of an open object are handled by rows.
    fn children_of_key(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        let n = self.frames.arena.nodes[top as usize];
        let mut names: NamePlaces = NamePlaces::new();
        let mut all = n.sub != EscapeState::Plain;
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.objects[i as usize];
            all |= self.frames.may_be_other(&item);
            if item.name_node != u32::MAX {
                self.add_named(&mut names, &item);
            }
        }
        if all {
            return self.children(over, node, top);
        }
        let mut closed = Vec::new();
        for named in &names {
            self.named_below(over, node, top, named, (names.len() > 1).then_some(&mut closed));
        }
    }

    /// The configuration after several bytes, or [`NONE`].
    pub(crate) fn step_all(&mut self, top: FrameId, bytes: &[u8]) -> FrameId {
        let plain = bytes.iter().position(|&b| !spells_itself(b)).unwrap_or(bytes.len());
        let (mut at, mut rest) = (top, bytes);
        if plain > 1 && self.frames.reads_at_once(top) {
            at = self.frames.read_plain(top, &bytes[..plain]);
            rest = &bytes[plain..];
        }
        for &b in rest {
            if at == NONE {
                break;
            }
            at = self.frames.step(at, b);
        }
        at
    }

    pub(crate) fn child(&self, over: WalkOver<'_>, node: u32, byte: u8) -> Option<u32> {
        match over {
            WalkOver::Whole(w) => self.tables.child(w, node, byte),
            WalkOver::Suffix { cross, .. } => cross.suffixes.child(node, byte),
        }
    }

    /// The bytes that names which some item declares, and the rests of names that the object has, go on with.
    fn first_bytes(&self, top: FrameId, rests: &[Vec<u8>]) -> FirstBytes {
        let n = self.frames.arena.nodes[top as usize];
        let mut first = FirstBytes::default();
        for item in &self.frames.arena.objects[n.start as usize..(n.start + n.len) as usize] {
            if item.name_node != u32::MAX {
                let names = &self.frames.program.objects[item.shape as usize].names;
                names.children(item.name_node).for_each(|child| first.add(names.byte[child as usize]));
            }
        }
        rests.iter().filter_map(|rest| rest.first()).for_each(|&byte| first.add(byte));
        first
    }

    /// Whether the key so far plus `rest` is a name that some item declares or that the object has.
    fn is_special(&self, top: FrameId, rest: &[u8], rests: &[Vec<u8>]) -> bool {
        let n = self.frames.arena.nodes[top as usize];
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.objects[i as usize];
            if item.name_node != u32::MAX {
                let names = &self.frames.program.objects[item.shape as usize].names;
                if names.find(item.name_node, rest).is_some_and(|m| !names.tokens(m).is_empty()) {
                    return true;
                }
            }
        }
        rests.iter().any(|r| r == rest)
    }

    /// Takes back and steps exactly the tokens that complete a special name.
    fn specials(&mut self, over: WalkOver<'_>, node: u32, top: FrameId, rests: &[Vec<u8>]) {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        let mut names: NamePlaces = NamePlaces::new();
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.objects[i as usize];
            let trie = &program.objects[item.shape as usize].names;
            // The empty name ends at the root.
            if item.name_node != u32::MAX && (trie.len() > 1 || !trie.tokens(0).is_empty()) {
                self.add_named(&mut names, &item);
            }
        }
        if names.is_empty() && rests.is_empty() {
            return;
        }
        let rests: Vec<&[u8]> = rests.iter().map(|r| r.as_slice()).collect();
        self.special_below(over, node, top, &names, &rests, &mut Vec::new());
    }

    /// [`specials`](Self::specials) below a node: `path` below `top`. Only what completes a name is stepped.
    fn special_below(
        &mut self,
        over: WalkOver<'_>,
        node: u32,
        top: FrameId,
        names: &[NamePlace],
        rests: &[&[u8]],
        path: &mut Vec<u8>,
    ) {
        // Only a quote completes a name.
        if matches!(over, WalkOver::Whole(TrieKind::Tokens)) && !self.tables.is_quoted(node) {
            return;
        }
        let program = self.frames.program;
        let complete = names.iter().any(|n| !program.objects[n.shape as usize].names.tokens(n.name_node).is_empty())
            || rests.iter().any(|r| r.is_empty());
        if complete && let Some(child) = self.child(over, node, b'"') {
            let tables = self.tables;
            if node == 0 && matches!(over, WalkOver::Whole(TrieKind::Tokens)) {
                self.forbid(tables.suffixes.quoted.clone(), true);
            } else {
                let below = patch(self.trie(over).subtree_tokens(child).to_vec());
                self.forbid(below, false);
            }
            path.push(b'"');
            self.allow_behind(over, child, top, path);
            path.pop();
        }
        let mut below = next_names(program, names);
        // A rest is like a name of no shape.
        let first = |r: &&[u8]| r.first().copied().filter(|&b| spells_itself(b));
        let seen =
            rests.iter().filter_map(first).map(|byte| NamePlace { byte, shape: 0, name_node: 0, allowed: u32::MAX });
        let before = below.len();
        below.extend(seen);
        if below.len() > before {
            below.sort_by_key(|n| n.byte);
        }
        for group in below.chunk_by(|a, b| a.byte == b.byte) {
            let byte = group[0].byte;
            let Some(child) = self.child(over, node, byte) else { continue };
            let names: NamePlaces = group.iter().filter(|n| n.allowed != u32::MAX).copied().collect();
            let rests: smallvec::SmallVec<[&[u8]; 4]> =
                rests.iter().filter(|r| r.first() == Some(&byte)).map(|r| &r[1..]).collect();
            path.push(byte);
            self.special_below(over, child, top, &names, &rests, path);
            path.pop();
        }
    }
}

/// The classes that a key may belong to.
struct KeyClasses {
    /// Those of one text side by side, the ample ones first.
    classes: smallvec::SmallVec<[ClassOfItem; 8]>,
    /// Some have few keys left.
    few: bool,
    /// Some have so many that what was seen takes none away.
    ample: bool,
}

/// A class of keys that an item of a key node may go on with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClassOfItem {
    /// The keys of the class, as [`ClassProgram::text`](crate::pushdown::json::program::ClassProgram).
    text: u32,
    /// Whether the class is stepped, as it has few keys left.
    scarce: bool,
    item: u32,
    class: u32,
}

/// A place among the names of a shape: what an item has read of a key.
#[derive(Clone, Copy)]
pub(crate) struct NamePlace {
    /// The byte that led there.
    pub(crate) byte: u8,
    pub(crate) shape: u32,
    pub(crate) name_node: u32,
    /// The names that the item may take, as in [`ObjectItem`](crate::pushdown::json::frame::ObjectItem).
    pub(crate) allowed: u32,
}

/// A set of bytes.
#[derive(Clone, Copy, Default)]
struct FirstBytes([u64; 4]);

impl FirstBytes {
    fn add(&mut self, byte: u8) {
        self.0[byte as usize / 64] |= 1 << (byte % 64);
    }

    /// Whether a text begins with one of them, or is empty.
    fn may_begin(&self, text: &[u8]) -> bool {
        text.first().is_none_or(|&byte| self.0[byte as usize / 64] >> (byte % 64) & 1 == 1)
    }
}

pub(crate) type ItemBits = smallvec::SmallVec<[u64; 4]>;
pub(crate) type NamePlaces = smallvec::SmallVec<[NamePlace; 8]>;

/// The places one byte further, unescaped, by ascending byte.
fn next_names(program: &Program, names: &[NamePlace]) -> NamePlaces {
    let mut out = NamePlaces::new();
    for n in names {
        let trie = &program.objects[n.shape as usize].names;
        for c in trie.children(n.name_node) {
            let byte = trie.byte[c as usize];
            if spells_itself(byte) {
                out.push(NamePlace { byte, name_node: c, ..*n });
            }
        }
    }
    if names.len() > 1 {
        out.sort_by_key(|n| n.byte);
    }
    out
}

/// The state of a text lexeme after an opening quote and `text`, written with the escapes that JSON needs: every lexeme
/// allows these.
fn encoded_state(lexeme: &Lexeme, text: &[u8]) -> u32 {
    let mut written = vec![b'"'];
    escape(text, &mut written);
    written.iter().fold(lexeme.start(), |state, &byte| lexeme.next(state, byte))
}
