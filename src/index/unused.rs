//! Tokens inside an open element of an array whose elements must differ.
//!
//! A mask is put together as if elements might repeat. Then the few tokens are looked at that can lead to an element which
//! the array has already: they go on with the string or key that is open as such an element does, in any spelling, so
//! they lie on a few paths of the vocabulary's trie. Those that end inside the string are stepped; those that close it
//! are taken back, and allowed again by what follows that very text. Numbers and words, of which there are few tokens, are stepped
//! wherever they can lead to a repetition. What tokens spell behind the element is left open where uniqueness may refuse it
//! (see `live`), and stepped too.

use super::live::Open;
use super::mask::{Ground, Masker};
use super::share::patch;
use super::submask::{Cross, Inner};
use super::tables::Walked;
use crate::automaton::arena::{Kind, NodeId, Phase};
use crate::automaton::lexeme::{CLOSED, Lexeme};
use crate::automaton::repeat::Rest;
use crate::automaton::text::{Move, Sub, step};

/// So many tokens that close a string in one way are stepped one by one.
const FEW: usize = 8;

impl Masker<'_> {
    /// Lets `part` put together what may follow `top`, a value that may begin, a scalar or a key, and takes repetitions back.
    pub(super) fn unrepeated(&mut self, walked: Walked, node: u32, top: NodeId, part: impl FnOnce(&mut Self)) {
        if !self.unique {
            return part(self);
        }
        let repeats = self.frames.repeats(top, &mut self.known.apart);
        self.known.apart.retain(|a| *a < self.known.nodes);
        let outer = (self.exact, self.repeated_raw);
        (self.exact, self.repeated_raw) = (self.exact || repeats.unknown, repeats.raw);
        part(self);
        (self.exact, self.repeated_raw) = outer;
        if !repeats.texts.is_empty() {
            let inner = self.may_run_out(top);
            for rest in &repeats.texts {
                self.take_repetition(walked, node, top, rest, inner);
            }
        }
    }

    /// Whether tokens may be refused that do not close the string or key at `top`: nothing but an element that the array
    /// has would be left.
    fn may_run_out(&self, top: NodeId) -> bool {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        let parent = if n.kind == Kind::Array { top } else { n.parent };
        let matters = self.frames.has_elements(parent) || program.has_watched;
        let items = n.start as usize..(n.start + n.len) as usize;
        let runs_out = |lexeme: u32, count: u32| program.lexemes[lexeme as usize].may_run_out(count);
        matters
            && match n.kind {
                Kind::Scalar => self.frames.arena.scalars[items].iter().any(|i| runs_out(i.lexeme, n.count)),
                Kind::Value => {
                    let rules = &self.frames.arena.rules[items];
                    rules.iter().flat_map(|r| &program.rules[r.0 as usize].lexemes).any(|&l| runs_out(l, 0))
                }
                _ => true,
            }
    }

    /// Takes back the tokens that lead to a repetition by going on with `rest`.
    fn take_repetition(&mut self, walked: Walked, node: u32, top: NodeId, rest: &Rest, inner: bool) {
        let ground = Ground::Whole(walked);
        let text = &*rest.text;
        let mut path: Vec<u8> = Vec::new();
        // Where to go on: the trie's node, what was read of the text, how far into an escape, and the byte that led there.
        let mut places = vec![(node, 0, rest.sub, 0, 0)];
        while let Some((at, read, sub, depth, byte)) = places.pop() {
            if depth > 0 {
                path.truncate(depth - 1);
                path.push(byte);
                if inner {
                    for &t in self.trie(ground).tokens(at) {
                        self.try_again(t, top, (walked, node));
                    }
                }
            }
            if !inner && walked == Walked::Tokens && !self.tables.is_quoted(at) {
                continue;
            }
            for byte in next_bytes(sub, &text[read..]) {
                let Some(child) = self.child(ground, at, byte) else { continue };
                let mut go_on = |read: usize, sub: Sub| places.push((child, read, sub, depth + 1, byte));
                match step(sub, byte) {
                    Move::To(sub) => go_on(read, sub),
                    Move::Byte(b) if text[read..].first() == Some(&b) => go_on(read + 1, Sub::Plain),
                    Move::Char(c) if text[read..].starts_with(c.encode_utf8(&mut [0; 4]).as_bytes()) => {
                        go_on(read + c.len_utf8(), Sub::Plain);
                    }
                    Move::Close if read == text.len() => {
                        path.truncate(depth);
                        path.push(byte);
                        self.close_repetition(walked, node, child, top, &path);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Looks again at the tokens that close the string by `path` below `top`; `child` is where the quote leads.
    fn close_repetition(&mut self, walked: Walked, node: u32, child: u32, top: NodeId, path: &[u8]) {
        let ground = Ground::Whole(walked);
        let trie = self.trie(ground);
        let tokens = trie.subtree_tokens(child);
        if tokens.len() <= FEW {
            for &t in tokens {
                self.try_again(t, top, (walked, node));
            }
            return;
        }
        if walked == Walked::Tokens && node == 0 && path == b"\"" {
            self.forbid(self.tables.tails.quoted.clone(), true);
        } else {
            self.forbid(patch(tokens.to_vec()), false);
        }
        self.close_name(ground, child, top, path);
    }

    /// Steps a token that is allowed so far, as far as that is known: parts that are only noted are not looked through.
    fn try_again(&mut self, token: u32, top: NodeId, from: (Walked, u32)) {
        let allowed = self.composition.is_some() || self.row[token as usize >> 5] >> (token & 31) & 1 == 1;
        if allowed && !self.allows(top, self.rest_of(token, from)) {
            self.forbid(patch(vec![token]), false);
        }
    }

    /// Steps the tokens whose tails were left open.
    pub(super) fn cross_open(&mut self, cross: &Cross, open: &Open, top: NodeId, from: (Walked, u32)) {
        for &node in open {
            let tail = self.tables.tails.spelled(node);
            let Some(below) = cross.tails.find(0, &tail) else { continue };
            for &i in cross.tails.subtree_tokens(below) {
                let token = cross.crossings[i as usize].token;
                if self.allows(top, self.rest_of(token, from)) {
                    self.set(token);
                }
            }
        }
    }

    /// Steps all crossing tokens.
    pub(super) fn cross_each(&mut self, cross: &Cross, top: NodeId, from: (Walked, u32)) {
        for c in &cross.crossings {
            if self.allows(top, self.rest_of(c.token, from)) {
                self.set(c.token);
            }
        }
    }

    /// The inner tokens of a lexeme that can still become an element that the array does not have, one by one.
    pub(super) fn inner_unused(
        &mut self,
        inner: &Inner,
        lexeme: u32,
        state: u32,
        count: u32,
        top: NodeId,
        from: (Walked, u32),
    ) {
        let program = self.frames.program;
        let l: &Lexeme = &program.lexemes[lexeme as usize];
        let elements = self.frames.most_elements(top);
        for t in inner.tokens() {
            let rest = self.rest_of(t, from);
            let (mut at, mut chars) = (state, count);
            for &b in rest {
                if at > CLOSED {
                    chars = chars.saturating_add(l.starts_char(l.state(at), b) as u32);
                    at = l.next(at, b);
                }
            }
            let many = at > CLOSED && program.has_many_endings(lexeme, at, chars, elements);
            if many || self.allows(top, rest) {
                self.set(t);
            }
        }
    }

    /// Whether an element may be open around `top` that its array has.
    pub(super) fn is_after_elements(&self, parent: NodeId) -> bool {
        self.frames.has_elements(parent) || self.frames.program.has_watched
    }

    /// Whether the key at `top` has to be stepped byte by byte.
    pub(super) fn key_is_watched(&self, top: NodeId) -> bool {
        let n = &self.frames.arena.nodes[top as usize];
        self.exact && self.frames.program.has_watched && n.phase == Phase::Key
    }
}

/// The bytes that may go on with a text: plainly or by an escape.
fn next_bytes(sub: Sub, rest: &[u8]) -> smallvec::SmallVec<[u8; 24]> {
    let mut out = smallvec::SmallVec::new();
    match (sub, rest.first()) {
        (Sub::Open, _) | (Sub::Plain, None) => out.push(b'"'),
        (Sub::Plain, Some(&b)) => {
            if b >= 0x20 && b != b'"' && b != b'\\' {
                out.push(b);
            }
            // Not in the middle of a character.
            if b & 0xC0 != 0x80 {
                out.push(b'\\');
            }
        }
        (Sub::Escape, Some(&b)) => {
            out.push(b'u');
            let short = [(8, b'b'), (12, b'f'), (10, b'n'), (13, b'r'), (9, b't')];
            out.extend(short.iter().filter(|s| s.0 == b).map(|s| s.1));
            if matches!(b, b'"' | b'\\' | b'/') {
                out.push(b);
            }
        }
        (Sub::LowBackslash(_), _) => out.push(b'\\'),
        (Sub::LowU(_), _) => out.push(b'u'),
        (Sub::Hex(..) | Sub::LowHex(..), Some(_)) => out.extend_from_slice(b"0123456789abcdefABCDEF"),
        _ => {}
    }
    out
}
