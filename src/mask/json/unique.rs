//! Tokens inside an open element of an array with `uniqueItems`.
//!
//! A mask is put together as if elements might repeat. Then the few tokens are looked at that can lead to an element
//! which the array has already. They go on with the open string or key as such an element does, in any spelling, so
//! they lie on a few paths of the vocabulary's trie. Those that end inside the string are stepped. Those that close it
//! are taken back, and allowed again by what follows that very text. Tokens of numbers and words are few, and stepped
//! wherever they can lead to a repetition. Suffixes behind the element that uniqueness may refuse are left open (see
//! [`UnresolvedSuffixes`]) and stepped as well.

use std::ops::Range;
use std::sync::Arc;

use crate::json::string_escape::{EscapeMove, EscapeState, step};
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind};
use crate::mask::json::crossing::suffixes::UnresolvedSuffixes;
use crate::mask::json::mask_builder::{JsonMaskBuilder, WalkOver};
use crate::mask::lexeme::lexeme_mask::{CrossingTokens, LexemeMask};
use crate::mask::row_patch::patch;
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::json::frame::{FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::unique::{DuplicateRisk, is_decimal};

/// The most tokens that close a string in one way and are stepped one by one.
const FEW: usize = 8;

impl JsonMaskBuilder<'_> {
    /// Lets `part` put together what may follow `top`, a value that may begin, a scalar or a key, and takes repetitions
    /// back.
    pub(crate) fn unrepeated(&mut self, walked: TrieKind, node: u32, top: FrameId, part: impl FnOnce(&mut Self)) {
        if !self.in_unique_array {
            return part(self);
        }
        let known = &mut *self.guide_memo;
        let repeats = self.frames.exceptions(top, top < known.nodes, known.elements, &mut known.sorted);
        let outer = (self.steps_crossing_whole, self.repeated_raw);
        (self.steps_crossing_whole, self.repeated_raw) = (self.steps_crossing_whole || repeats.unknown, repeats.raw);
        self.ask_once(top, part);
        (self.steps_crossing_whole, self.repeated_raw) = outer;
        if !repeats.range.is_empty() {
            let n = self.frames.arena.nodes[top as usize];
            let counted = *repeats.arrays == [n.parent] && self.frames.all_differ(n.parent);
            let inner = self.may_run_out(top).then(|| {
                let items = self.items(top);
                let belong = vec![Vec::new(); items.len()];
                OpenElement { items, belong, counted, lexeme: repeats.lexeme }
            });
            // Whoever closes such an element repeats one.
            let refused = counted && matches!(n.kind, FrameKind::Value | FrameKind::Scalar);
            self.take_repetitions((walked, node), top, &repeats, inner, refused);
        }
    }

    /// Whether tokens may be refused that do not close the string or key at `top`: nothing but an element that the
    /// array has would be left.
    fn may_run_out(&self, top: FrameId) -> bool {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        let parent = if n.kind == FrameKind::Array { top } else { n.parent };
        let matters = self.frames.has_elements(parent) || program.has_watched;
        let items = n.start as usize..(n.start + n.len) as usize;
        let runs_out = |lexeme: u32, count: u32| program.lexemes[lexeme as usize].may_run_out(count);
        matters
            && match n.kind {
                FrameKind::Scalar => self.frames.arena.scalars[items].iter().any(|i| runs_out(i.lexeme, n.count)),
                FrameKind::Value => {
                    let rules = &self.frames.arena.rules[items];
                    rules.iter().flat_map(|r| &program.rules[r.0 as usize].lexemes).any(|&l| runs_out(l, 0))
                }
                _ => !self.frames.key_leaves_enough(top),
            }
    }

    /// The lexemes of the scalar at `top`, with their states and counts.
    fn items(&self, top: FrameId) -> Items {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        let items = n.start as usize..(n.start + n.len) as usize;
        match n.kind {
            FrameKind::Scalar => {
                self.frames.arena.scalars[items].iter().map(|i| (i.lexeme, i.state, n.count)).collect()
            }
            FrameKind::Value => {
                let rules = &self.frames.arena.rules[items];
                let lexemes = rules.iter().flat_map(|r| &program.rules[r.0 as usize].lexemes);
                lexemes.map(|&l| (l, program.lexemes[l as usize].start(), 0)).collect()
            }
            _ => Items::new(),
        }
    }

    /// Takes back the tokens that lead to a repetition. `inner` are the lexemes of the string, where tokens may be
    /// refused that do not close it; `closing` says that all are refused that close it as one of them.
    fn take_repetitions(
        &mut self,
        from: (TrieKind, u32),
        top: FrameId,
        repeats: &DuplicateRisk,
        mut inner: Option<OpenElement>,
        closing: bool,
    ) {
        let (walked, node) = from;
        let over = WalkOver::Whole(walked);
        let mut path: Vec<u8> = Vec::new();
        let (read, sub) = (repeats.read, repeats.sub);
        let start = RepetitionWalk {
            node,
            read,
            sub,
            depth: 0,
            byte: 0,
            items: inner.as_ref().map_or_else(Items::new, |i| i.items.clone()),
        };
        let texts = &repeats.texts[repeats.range.clone()];
        let mut places = vec![(start, 0..texts.len())];
        while let Some((at, range)) = places.pop() {
            let rests = &texts[range.clone()];
            if at.depth > 0 {
                path.truncate(at.depth - 1);
                path.push(at.byte);
                let refused = inner.as_mut().is_some_and(|i| {
                    // With more ways to end than there are repetitions, one of them is new.
                    let is_new = |i: &(u32, u32, u32)| {
                        i.1 > CLOSED && self.frames.program.has_many_endings(i.0, i.1, i.2, rests.len() as u32, false)
                    };
                    let used_up = |s: &Self, i: &mut OpenElement| {
                        s.is_used_up(&at, texts, range.clone(), i).filter(|_| i.counted)
                    };
                    !at.items.iter().any(is_new) && used_up(self, i).unwrap_or_else(|| !self.allows(top, &path))
                });
                if refused {
                    // No byte of what comes below matters any more.
                    self.clear_below(over, at.node);
                    continue;
                }
            }
            if inner.is_none() && walked == TrieKind::Tokens && !self.tables.is_quoted(at.node) {
                continue;
            }
            for byte in next_bytes(at.sub, at.read, rests) {
                let Some(child) = self.child(over, at.node, byte) else { continue };
                let begin = |bytes: &[u8]| {
                    let found = beginning(rests, at.read, bytes);
                    range.start + found.start..range.start + found.end
                };
                let (to, rests) = match step(at.sub, byte) {
                    EscapeMove::To(sub) => ((at.read, sub), range.clone()),
                    EscapeMove::Byte(b) => ((at.read + 1, EscapeState::Plain), begin(&[b])),
                    EscapeMove::Char(c) => {
                        let mut utf8 = [0; 4];
                        let c = c.encode_utf8(&mut utf8).as_bytes();
                        ((at.read + c.len(), EscapeState::Plain), begin(c))
                    }
                    EscapeMove::Close if closing => {
                        self.clear_below(over, child);
                        continue;
                    }
                    EscapeMove::Close => {
                        path.truncate(at.depth);
                        path.push(byte);
                        self.close_repetition(walked, node, child, top, &path);
                        continue;
                    }
                    EscapeMove::Dead => continue,
                };
                if rests.is_empty() {
                    continue;
                }
                let program = self.frames.program;
                let items = at.items.iter().map(|&(lexeme, state, count)| {
                    let l = &program.lexemes[lexeme as usize];
                    if state <= CLOSED {
                        return (lexeme, DEAD_STATE, 0);
                    }
                    let count = count.saturating_add(l.starts_char(l.state(state), byte) as u32);
                    (lexeme, l.next(state, byte), count)
                });
                let items = items.collect();
                places.push((
                    RepetitionWalk { node: child, read: to.0, sub: to.1, depth: at.depth + 1, byte, items },
                    rests,
                ));
            }
        }
    }

    /// Whether the rests, those of `texts` in `range`, are all that a string can still become, by the number of its
    /// ends. `None` where they are not counted.
    fn is_used_up(
        &self,
        at: &RepetitionWalk,
        texts: &[Box<[u8]>],
        range: Range<usize>,
        inside: &mut OpenElement,
    ) -> Option<bool> {
        let OpenElement { belong, lexeme: accepts, .. } = inside;
        for (&(lexeme, state, _), belong) in at.items.iter().zip(belong).filter(|i| i.0.1 > CLOSED) {
            let l = &self.frames.program.lexemes[lexeme as usize];
            let plain = l.num_texts(state);
            let left = plain.or_else(|| l.num_spelled(state))?;
            let mut used = range.len() as u64;
            if plain.is_none() {
                // Not all of them go on with what the escape may become.
                let spelled = |rest: &[u8]| rest.get(at.read..).is_some_and(|text| l.spells(state, text));
                used = texts[range.clone()].iter().filter(|rest| spelled(rest)).count() as u64;
            } else if *accepts != Some(lexeme) {
                used = 0;
                belong.resize(texts.len(), None);
                for (rest, belongs) in texts[range.clone()].iter().zip(&mut belong[range.clone()]) {
                    // It belongs to the lexeme, or does not, wherever on the way to it that is asked.
                    if belongs.is_none() {
                        let text = std::str::from_utf8(rest.get(at.read..)?).ok()?;
                        let spelled = serde_json::to_vec(text).ok()?;
                        *belongs = Some(spelled[1..].iter().fold(state, |s, &b| l.next(s, b)) == CLOSED);
                    }
                    used += u64::from(*belongs == Some(true));
                }
            }
            if left > used {
                return Some(false);
            }
        }
        (!at.items.is_empty()).then_some(true)
    }

    /// Takes all tokens at and below a node back.
    fn clear_below(&mut self, over: WalkOver<'_>, node: u32) {
        let tokens = self.trie(over).subtree_tokens(node);
        if self.composition.is_some() {
            return self.forbid(patch(tokens.to_vec()), false);
        }
        self.empty_stale_row();
        tokens.iter().for_each(|&t| self.row[t as usize >> 5] &= !(1 << (t & 31)));
    }

    /// Looks again at the tokens that close the string by `path` below `top`; `child` is where the quote leads.
    fn close_repetition(&mut self, walked: TrieKind, node: u32, child: u32, top: FrameId, path: &[u8]) {
        let over = WalkOver::Whole(walked);
        let trie = self.trie(over);
        let tokens = trie.subtree_tokens(child);
        if tokens.len() <= FEW {
            for &t in tokens {
                self.try_again(t, top, (walked, node));
            }
            return;
        }
        if walked == TrieKind::Tokens && node == 0 && path == b"\"" {
            self.forbid(self.tables.suffixes.quoted.clone(), true);
        } else {
            self.clear_below(over, child);
        }
        self.allow_behind(over, child, top, path);
    }

    /// Steps a token that is allowed so far, as far as that is known: parts that are only noted are not looked through.
    fn try_again(&mut self, token: u32, top: FrameId, from: (TrieKind, u32)) {
        let allowed = self.composition.is_some() || self.row[token as usize >> 5] >> (token & 31) & 1 == 1;
        if allowed && !self.allows(top, self.rest_of(token, from)) {
            self.forbid(patch(vec![token]), false);
        }
    }

    /// Steps the tokens whose suffixes were left open.
    pub(crate) fn cross_unresolved(
        &mut self,
        cross: &CrossingTokens,
        unresolved: &UnresolvedSuffixes,
        top: FrameId,
        from: (TrieKind, u32),
    ) {
        for &node in unresolved {
            let suffix = self.tables.suffixes.spelled(node);
            let Some(below) = cross.suffixes.find(0, &suffix) else { continue };
            for &i in cross.suffixes.subtree_tokens(below) {
                let token = cross.crossings[i as usize].token;
                if self.allows(top, self.rest_of(token, from)) {
                    self.set(token);
                }
            }
        }
    }

    /// Leaves all crossing tokens to be stepped.
    pub(crate) fn cross_each(&mut self, cross: &CrossingTokens, from: (TrieKind, u32)) {
        for c in &cross.crossings {
            self.deferred.push((self.rest_of(c.token, from), c.token));
        }
    }

    /// The inner tokens of a lexeme that can still become an element that the array does not have. Those of which that
    /// is not known are left to be stepped.
    pub(crate) fn inner_unused(
        &mut self,
        mask: &Arc<LexemeMask>,
        lexeme: u32,
        state: u32,
        count: u32,
        top: FrameId,
        from: (TrieKind, u32),
    ) {
        let program = self.frames.program;
        let inner = &mask.inner;
        let l: &Lexeme = &program.lexemes[lexeme as usize];
        let elements = self.frames.most_elements(top);
        // Elements that are watched may need more than one way to go on.
        let raw = l.kind() == LexemeKind::Raw;
        let decimal = raw && !program.has_watched && self.frames.reads_decimal(top);
        if raw && from == (TrieKind::Tokens, 0) {
            let ends = || {
                let tokens = inner.tokens();
                let end = |&t: &u32| self.rest_of(t, from).iter().fold(state, |s, &b| l.next(s, b));
                let mut ends: Vec<u32> = tokens.iter().map(end).collect();
                ends.sort_unstable();
                ends.dedup();
                (ends, tokens.iter().all(|&t| is_decimal(self.rest_of(t, from))))
            };
            if program.has_many_after(lexeme, state, elements, decimal, ends) {
                return self.allow_inner(mask);
            }
        }
        for t in inner.tokens() {
            let rest = self.rest_of(t, from);
            let (mut at, mut chars) = (state, count);
            for &b in rest {
                if at > CLOSED {
                    chars = chars.saturating_add(l.starts_char(l.state(at), b) as u32);
                    at = l.next(at, b);
                }
            }
            if at > CLOSED && program.has_many_endings(lexeme, at, chars, elements, decimal && is_decimal(rest)) {
                self.set(t);
            } else {
                self.deferred.push((rest, t));
            }
        }
    }

    /// Allows what `part` leaves to be stepped at `top`: each token once, whatever lexemes at `top` let it pass.
    /// Thousands of alternatives may, and step side by side.
    pub(crate) fn ask_once(&mut self, top: FrameId, part: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.deferred);
        part(self);
        let deferred = std::mem::replace(&mut self.deferred, outer);
        if !deferred.is_empty() {
            self.empty_stale_row();
            self.set_allowed(top, deferred);
        }
    }

    /// Allows those of `tokens` that `top` allows, each with its bytes from there on. What they begin with alike is
    /// stepped once: near the end of a large array each step takes long.
    fn set_allowed(&mut self, top: FrameId, mut tokens: Vec<(&[u8], u32)>) {
        tokens.sort_unstable();
        tokens.dedup();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, false);
        let mark = self.frames.arena.mark();
        // The configurations behind no byte, the first one and so on of the token before.
        let mut path = vec![(top, mark)];
        let mut before: &[u8] = b"";
        let mut refused = usize::MAX;
        for (bytes, token) in tokens {
            let shared = before.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            before = bytes;
            if shared >= refused {
                continue;
            }
            refused = usize::MAX;
            path.truncate(shared + 1);
            for &byte in &bytes[shared..] {
                let Some(&(at, ref made)) = path.last() else { break };
                self.frames.arena.truncate(made);
                let next = self.frames.step(at, byte);
                if next == NONE {
                    refused = path.len();
                    break;
                }
                path.push((next, self.frames.arena.mark()));
            }
            if refused == usize::MAX {
                self.set(token);
            }
        }
        self.frames.arena.truncate(&mark);
        self.frames.arena.unchecked = checked;
    }

    /// Whether an element may be open around `top` that its array has.
    pub(crate) fn is_after_elements(&self, parent: FrameId) -> bool {
        self.frames.has_elements(parent) || self.frames.program.has_watched
    }

    /// Whether the key at `top` has to be stepped byte by byte.
    pub(crate) fn key_is_watched(&self, top: FrameId) -> bool {
        let n = &self.frames.arena.nodes[top as usize];
        self.steps_crossing_whole && self.frames.program.has_watched && n.phase == Phase::Key
    }
}

/// Lexemes with a state and the code points read.
type Items = smallvec::SmallVec<[(u32, u32, u32); 2]>;

/// The string that may run out of ends inside.
struct OpenElement {
    items: Items,
    /// For each of these, which of the repetitions it accepts, as far as that was asked.
    belong: Vec<Vec<Option<bool>>>,
    /// All repetitions are elements of the array that it is an element of itself.
    counted: bool,
    /// A lexeme that accepts all of them.
    lexeme: Option<u32>,
}

/// Where repetitions are followed.
struct RepetitionWalk {
    /// The node of the vocabulary's trie.
    node: u32,
    /// The bytes of the rests that were read.
    read: usize,
    /// How far into an escape.
    sub: EscapeState,
    /// Bytes below the node where it began, and the last of them.
    depth: usize,
    byte: u8,
    items: Items,
}

/// Which of `rests` go on with `bytes` from `read` on. They agree on what comes before.
fn beginning(rests: &[Box<[u8]>], read: usize, bytes: &[u8]) -> Range<usize> {
    let next = |r: &[u8]| r.get(read..).map_or(&[][..], |t| &t[..t.len().min(bytes.len())]).cmp(bytes);
    let from = rests.partition_point(|r| next(r).is_lt());
    let len = rests[from..].partition_point(|r| next(r).is_eq());
    from..from + len
}

/// The bytes that may go on with one of `rests` from `read` on: plainly or by an escape.
fn next_bytes(sub: EscapeState, read: usize, rests: &[Box<[u8]>]) -> smallvec::SmallVec<[u8; 32]> {
    let mut out = smallvec::SmallVec::new();
    let mut rest = rests;
    match sub {
        EscapeState::Open => out.push(b'"'),
        EscapeState::LowBackslash(_) => out.push(b'\\'),
        EscapeState::LowU(_) => out.push(b'u'),
        EscapeState::Hex(..) | EscapeState::LowHex(..) => out.extend_from_slice(b"0123456789abcdefABCDEF"),
        EscapeState::Plain | EscapeState::Escape => {
            let escaped = sub == EscapeState::Escape;
            if escaped {
                out.push(b'u');
            }
            while let Some(first) = rest.first() {
                let Some(&b) = first.get(read) else {
                    // The shortest one ends here.
                    if !escaped {
                        out.push(b'"');
                    }
                    rest = &rest[1..];
                    continue;
                };
                rest = &rest[beginning(rest, read, &[b]).len()..];
                if escaped {
                    let short = [(8, b'b'), (12, b'f'), (10, b'n'), (13, b'r'), (9, b't')];
                    out.extend(short.iter().filter(|s| s.0 == b).map(|s| s.1));
                    if matches!(b, b'"' | b'\\' | b'/') {
                        out.push(b);
                    }
                } else {
                    if b >= 0x20 && b != b'"' && b != b'\\' {
                        out.push(b);
                    }
                    // An escape does not begin in the middle of a character.
                    if b & 0xC0 != 0x80 && !out.contains(&b'\\') {
                        out.push(b'\\');
                    }
                }
            }
        }
    }
    out
}
