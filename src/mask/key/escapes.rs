//! Escaped spellings inside declared names.
//!
//! A name may be spelled by escapes. Behind a backslash go on a `u` and digits, and the characters that they may still
//! become decide whether the name may go on like that. Hardly a token is in such a place, and what it may become does
//! not depend on names. So the tokens behind a backslash of the vocabulary's trie are listed once, with the ASCII
//! characters that they may become, and a mask compares these with the characters with which its names go on. Names
//! that go on with more than ASCII are stepped.

use std::sync::{Arc, RwLock};

use crate::json::string_escape::{EscapeMove, EscapeState, is_plain, pending, plain_pending, step};
use crate::mask::key::{ItemBits, KeyPath, NamedKeys};
use crate::mask::masker::{MaskBuilder, WalkOver};
use crate::mask::vocab_tables::TrieKind;
use crate::pushdown::json::arena::FrameId;
use crate::util::hash::SeededMap;
use crate::vocab::Trie;

/// ASCII characters, as a set of bits.
pub(crate) type Ascii = u128;

/// The characters from `lo` to `hi`, as far as they are ASCII.
fn ascii(lo: u32, hi: u32) -> Ascii {
    let hi = hi.min(127);
    if lo <= hi { u128::MAX >> (127 - (hi - lo)) << lo } else { 0 }
}

/// The tokens behind a backslash of the vocabulary's trie, with the characters that they may become.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Escapes {
    /// What ends inside an escape, of what the trie has at its nodes, and what it may become.
    inside: Vec<(u32, Ascii)>,
    /// Nodes at which an escape is complete, the character that it spells, and the bytes from the backslash on.
    complete: Vec<(u32, u8, KeyPath)>,
}

impl Escapes {
    /// The tokens from the backslash `node` on, in `plain` spelling or any.
    fn of(trie: &Trie, node: u32, plain: bool) -> Escapes {
        let mut found = Escapes::default();
        found.add(trie, (node, b'\\'), plain, EscapeState::Plain, &mut KeyPath::new());
        found
    }

    /// Adds what lies from `node` on, to which `byte` leads.
    fn add(&mut self, trie: &Trie, (node, byte): (u32, u8), plain: bool, before: EscapeState, path: &mut KeyPath) {
        let to = step(before, byte);
        if plain && !is_plain(before, byte, &to) {
            return;
        }
        path.push(byte);
        match to {
            EscapeMove::To(sub) => {
                let pending = if plain { plain_pending(sub) } else { pending(sub) };
                let next = pending.iter().fold(0, |all, &(lo, hi)| all | ascii(lo, hi));
                if next != 0 {
                    self.inside.extend(trie.tokens(node).iter().map(|&item| (item, next)));
                    for child in trie.children(node) {
                        self.add(trie, (child, trie.byte[child as usize]), plain, sub, path);
                    }
                }
            }
            EscapeMove::Byte(b) => self.complete.push((node, b, path.clone())),
            EscapeMove::Char(c) if c.is_ascii() => self.complete.push((node, c as u8, path.clone())),
            EscapeMove::Char(_) | EscapeMove::Dead | EscapeMove::Close => {}
        }
        path.pop();
    }
}

/// The escapes that were asked for, by whether they are plain and where their backslash is.
#[derive(Default)]
pub(crate) struct AllEscapes(RwLock<SeededMap<(bool, TrieKind, u32), Arc<Escapes>>>);

impl AllEscapes {
    /// The tokens from the backslash `node` of a trie on. No more are kept than the trie has backslashes.
    fn of(&self, trie: &Trie, plain: bool, walked: TrieKind, node: u32) -> Arc<Escapes> {
        let key = (plain, walked, node);
        if let Some(known) = self.0.read().unwrap_or_else(|p| p.into_inner()).get(&key) {
            return known.clone();
        }
        let made = Arc::new(Escapes::of(trie, node, plain));
        self.0.write().unwrap_or_else(|p| p.into_inner()).entry(key).or_insert(made).clone()
    }
}

/// A backslash where the tries of names and vocabulary agree.
pub(crate) struct EscapedAt {
    /// The place among the names in front of it.
    pub name: u32,
    /// The backslash in the vocabulary's trie.
    pub child: u32,
    /// What the names go on with there; `None` if that is more than ASCII.
    next: Option<Ascii>,
    escapes: Arc<Escapes>,
}

impl MaskBuilder<'_> {
    /// What is behind the backslash `child`, in front of which the tries agree in `name` of `names`. `None` if no name
    /// can go on there.
    pub(crate) fn escaped_at(&self, ground: WalkOver<'_>, child: u32, names: &Trie, name: u32) -> Option<EscapedAt> {
        let plain = self.frames.program.plain_names;
        let mut next = Some(0);
        for at in names.children(name) {
            let byte = names.byte[at as usize];
            next = next.filter(|_| byte.is_ascii()).map(|all| all | ascii(byte.into(), byte.into()));
        }
        let trie = self.trie(ground);
        let escapes = match ground {
            WalkOver::Whole(walked) => self.tables.escapes.of(trie, plain, walked, child),
            WalkOver::Tail { .. } => Arc::new(Escapes::of(trie, child, plain)),
        };
        let inside = escapes.inside.iter().map(|e| e.1);
        let any = inside.chain(escapes.complete.iter().map(|c| 1 << c.1)).fold(0, |all, some| all | some);
        next.is_none_or(|next| next & any != 0).then_some(EscapedAt { name, child, next, escapes })
    }

    /// Allows the tokens behind a backslash that go on with one of the names below `named` that may come. False, and
    /// nothing was done, where these are to be stepped.
    pub(crate) fn escaped_below(
        &mut self,
        ground: WalkOver<'_>,
        at: &EscapedAt,
        top: FrameId,
        named: &NamedKeys,
        allowed: &ItemBits,
    ) -> bool {
        let program = self.frames.program;
        let Some(next) = at.next.filter(|_| !program.has_unique) else { return false };
        let names = &program.objects[named.shape as usize].names;
        let live = |&i: &u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
        let comes = |name: u32| names.subtree_tokens(name).iter().any(live);
        // Mostly an escape may become any of the characters, and then it does not matter which of them may come.
        let told = |some: Ascii| some & next != 0 && some & next != next;
        let tell =
            at.escapes.inside.iter().any(|e| told(e.1)) || at.escapes.complete.iter().any(|c| next >> c.1 & 1 == 1);
        let next = if tell {
            let live = names.children(at.name).filter(|&child| comes(child));
            live.fold(0, |all, child| all | 1 << names.byte[child as usize])
        } else {
            let ended = names.tokens(at.name).len();
            let longer = names.subtree_tokens(at.name)[ended..].iter().any(live);
            if longer { next } else { 0 }
        };
        for &(item, some) in &at.escapes.inside {
            if some & next != 0 {
                self.emit_one(ground, item);
            }
        }
        for (node, char, spelled) in &at.escapes.complete {
            if next >> char & 1 == 1 {
                let mut path = self.path_to(named, at.name);
                path.extend_from_slice(spelled);
                self.close_name(ground, *node, top, &path);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
