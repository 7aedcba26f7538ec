//! Putting a mask together.
//!
//! A mask is the union, over the items of a configuration, of what their lexemes allow inside (rows computed before)
//! and of what passes a lexeme's end and fits what follows (tails, stepped through the frames). Between lexemes the
//! few structural bytes are stepped over the trie directly. The frames' guards make every live configuration
//! completable, so a token whose bytes can all be stepped is allowed, and no other is.
//!
//! What keys need beside that stands in `key`, what is known about the time after a value in `after`.

use std::sync::Arc;

use super::after::AfterValue;
use super::memo::Memo;
use super::submask::{Cross, Inner, SubMask};
use super::tables::{MaskedLexeme, Tables, Walked};
use crate::automaton::arena::{Kind, NONE, NodeId, Phase};
use crate::automaton::config::Frames;
use crate::automaton::lexeme::{CLOSED, Kind as LexemeKind, Lexeme};
use crate::vocab::{Trie, Vocabulary};

/// Beyond this nesting of a single token the tokens below are stepped one by one.
const MAX_DEPTH: u32 = 128;

/// Where a walk of the frames goes on.
#[derive(Clone, Copy)]
pub(super) enum Ground<'t> {
    /// A trie of whole tokens, with precomputed masks of lexemes at its nodes.
    Whole(Walked),
    /// The tails of tokens that pass the end of a lexeme: `lexeme` and `count` check the length of what came before.
    /// `origin` is the configuration at trie node `from`, where what the token spells from there on matters.
    Tail { cross: &'t Cross, lexeme: Option<&'t Lexeme>, count: u32, origin: NodeId, from: (Walked, u32) },
}

/// What the crossing tokens inside a single scalar depend on, as long as its guide does not go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarKey {
    parent: NodeId,
    lexeme: u32,
    state: u32,
}

/// What was crossing at a guide's last mask inside a single scalar.
pub type LastMask<'l> = (&'l mut Option<ScalarKey>, &'l mut Vec<u32>);

/// Fills one row.
pub struct Masker<'a> {
    /// The vocabulary.
    pub vocabulary: &'a Vocabulary,
    /// Its tables.
    pub tables: &'a Tables,
    /// The program's lexemes with their masks, by the program's indices.
    pub lexemes: &'a [Arc<MaskedLexeme>],
    /// The configuration's frames.
    pub frames: Frames<'a>,
    /// The row; bits are only ever set.
    pub row: &'a mut [u32],
    /// Every crossing token is stepped whole, because what it spells decides what may follow.
    pub exact: bool,
    /// What may follow values, found at this mask or before; belongs to the guide.
    pub after: Vec<AfterValue>,
    /// Nodes below this one stay as they are when the mask is made.
    pub settled: NodeId,
    depth: u32,
}

impl<'a> Masker<'a> {
    /// A masker over an empty row.
    pub fn new(
        vocabulary: &'a Vocabulary,
        tables: &'a Tables,
        lexemes: &'a [Arc<MaskedLexeme>],
        frames: Frames<'a>,
        row: &'a mut [u32],
    ) -> Self {
        Masker { vocabulary, tables, lexemes, frames, row, exact: false, after: Vec::new(), settled: 0, depth: 0 }
    }

    /// Sets the bits of all tokens that `top` allows; stop tokens are the guide's.
    pub fn fill(&mut self, top: NodeId) {
        let mark = self.frames.arena.mark();
        self.visit(Ground::Whole(Walked::Tokens), 0, top);
        self.frames.arena.truncate(&mark);
    }

    /// [`fill`](Self::fill) into a row that holds anything, by what `memo` remembers of it; `scratch` is overwritten.
    pub fn fill_remembered(&mut self, memo: &Memo, top: NodeId, last: LastMask<'_>, scratch: &mut Vec<u8>) {
        let n = self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        if program.has_unique && self.frames.is_unique_inside(top) {
            return self.fill_with(top, last.0, last.1);
        }
        // Further inside the same string, what was crossing is at hand.
        if let Some(key) = last.0
            && n.kind == Kind::Scalar
            && key.parent == n.parent
        {
            return self.fill_with(top, last.0, last.1);
        }
        if !Memo::describe(program, self.frames.arena, top, scratch) {
            return self.fill_with(top, last.0, last.1);
        }
        if memo.read(scratch, self.row) {
            return;
        }
        self.fill_with(top, last.0, last.1);
        let mut bases: smallvec::SmallVec<[Arc<[u32]>; 2]> = smallvec::SmallVec::new();
        let dense = |m: &SubMask| if let Inner::Dense(row) = &m.inner { Some(row.clone()) } else { None };
        if n.kind == Kind::Scalar {
            for i in n.start..n.start + n.len {
                let item = self.frames.arena.scalars[i as usize];
                let masked = &self.lexemes[item.lexeme as usize];
                let m = self.tables.submask(self.vocabulary, masked, item.state, n.count, Walked::Tokens, 0);
                if bases.is_empty() {
                    bases.extend(dense(&m));
                }
            }
        } else if n.kind == Kind::Object && n.phase == Phase::Key {
            let m = self.tables.submask(self.vocabulary, &self.tables.any_text, n.text, 0, Walked::Tokens, 0);
            bases.extend(dense(&m));
        }
        memo.keep(scratch, self.row, &bases);
    }

    /// [`fill`](Self::fill) into a row that holds anything. Inside a scalar of one unbounded lexeme the crossing tokens
    /// stay the same from token to token: `key` and `tokens` remember them.
    pub fn fill_with(&mut self, top: NodeId, key: &mut Option<ScalarKey>, tokens: &mut Vec<u32>) {
        let n = self.frames.arena.nodes[top as usize];
        self.exact = self.frames.program.has_unique && self.frames.is_unique_inside(top);
        if n.kind == Kind::Scalar && n.len == 1 && !self.exact {
            let item = self.frames.arena.scalars[n.start as usize];
            let masked = &self.lexemes[item.lexeme as usize];
            let l = &masked.lexeme;
            if l.kind() != LexemeKind::Raw && l.length_met(n.count) {
                let mask = self.tables.submask(self.vocabulary, masked, item.state, n.count, Walked::Tokens, 0);
                let now = ScalarKey { parent: n.parent, lexeme: item.lexeme, state: l.mask_state(item.state) };
                if *key != Some(now) {
                    self.row.fill(0);
                    self.fill(top);
                    *key = None;
                    tokens.clear();
                    if let (Some(cross), Inner::Dense(inner)) = (&mask.cross, &mask.inner) {
                        let bit = |row: &[u32], t: u32| row[t as usize >> 5] >> (t & 31) & 1 == 1;
                        tokens.extend(
                            cross.crossings.iter().map(|c| c.token).filter(|&t| bit(self.row, t) && !bit(inner, t)),
                        );
                        *key = Some(now);
                    }
                    return;
                }
                if let Inner::Dense(inner) = &mask.inner {
                    self.row.copy_from_slice(inner);
                    for &t in tokens.iter() {
                        self.set(t);
                    }
                    return;
                }
            }
        }
        self.row.fill(0);
        self.fill(top);
    }

    /// Whether `top` allows a token with these bytes.
    pub fn allows(&mut self, top: NodeId, bytes: &[u8]) -> bool {
        let mark = self.frames.arena.mark();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, false);
        let at = self.step_all(top, bytes);
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
        at != NONE
    }

    #[inline]
    pub(super) fn set(&mut self, token: u32) {
        self.row[token as usize >> 5] |= 1 << (token & 31);
    }

    pub(super) fn trie<'t>(&self, ground: Ground<'t>) -> &'t Trie
    where
        'a: 't,
    {
        match ground {
            Ground::Whole(w) => self.tables.trie(self.vocabulary, w),
            Ground::Tail { cross, .. } => &cross.tails,
        }
    }

    /// Allows the tokens that end at a node.
    pub(super) fn emit(&mut self, ground: Ground<'_>, node: u32) {
        match ground {
            Ground::Whole(w) => {
                let tables = self.tables;
                for &t in tables.trie(self.vocabulary, w).tokens(node) {
                    self.set(t);
                }
            }
            Ground::Tail { cross, lexeme, count, origin, from } => {
                for &i in cross.tails.tokens(node) {
                    let c = cross.crossings[i as usize];
                    if lexeme.is_some_and(|l| !l.may_close(count.saturating_add(c.chars))) {
                        continue;
                    }
                    // Exact grounds step each token whole.
                    if self.exact && origin != NONE && !self.allows(origin, self.rest_of(c.token, from)) {
                        continue;
                    }
                    self.set(c.token);
                }
            }
        }
    }

    /// The bytes of a token below a trie node.
    pub(super) fn rest_of(&self, token: u32, (walked, node): (Walked, u32)) -> &'a [u8] {
        self.tables.rest_of(self.vocabulary, token, walked, node)
    }

    pub(super) fn visit(&mut self, ground: Ground<'_>, node: u32, top: NodeId) {
        if self.depth >= MAX_DEPTH {
            return self.one_by_one(ground, node, top);
        }
        self.depth += 1;
        // One token may open an array of unique elements and go on inside it.
        let whole = matches!(ground, Ground::Whole(_));
        let entered = whole && !self.exact && self.frames.program.has_unique && self.frames.is_unique_inside(top);
        self.exact |= entered;
        let n = self.frames.arena.nodes[top as usize];
        match (n.kind, ground) {
            (Kind::Value, Ground::Whole(w)) => self.value(w, node, top),
            (Kind::Scalar, Ground::Whole(w)) => self.scalar(w, node, top),
            (Kind::Object, Ground::Whole(w)) if n.phase == Phase::Key => self.key(w, node, top),
            (Kind::Object, Ground::Tail { origin, .. }) if n.phase == Phase::Key && origin != NONE && !self.exact => {
                // A second key in one token: what the first one spells may matter.
                self.exact = true;
                self.children(ground, node, top);
                self.exact = false;
            }
            (Kind::Array, Ground::Whole(w)) if n.phase == Phase::First => {
                self.structure(ground, node, top);
                if self.frames.gap_may_end(&n) {
                    let value = self.frames.first_element(n);
                    if value != NONE {
                        // Whitespace was the array's business above.
                        self.open_value(w, node, value);
                    }
                }
            }
            (_, Ground::Whole(_)) => self.structure(ground, node, top),
            _ => self.children(ground, node, top),
        }
        self.exact &= !entered;
        self.depth -= 1;
    }

    /// Steps every child of `node`.
    pub(super) fn children(&mut self, ground: Ground<'_>, node: u32, top: NodeId) {
        let trie = self.trie(ground);
        let mark = self.frames.arena.mark();
        let mut child = node + 1;
        let end = trie.end[node as usize];
        while child < end {
            let next = self.frames.step(top, trie.byte[child as usize]);
            if next != NONE {
                self.emit(ground, child);
                self.visit(ground, child, next);
                self.frames.arena.truncate(&mark);
            }
            child = trie.end[child as usize];
        }
    }

    /// Tokens of a subtree one at a time: deep nesting costs time, not stack.
    fn one_by_one(&mut self, ground: Ground<'_>, node: u32, top: NodeId) {
        let trie = self.trie(ground);
        let mut path = Vec::new();
        let base = trie.depth[node as usize];
        for n in node + 1..trie.end[node as usize] {
            path.truncate((trie.depth[n as usize] - base) as usize - 1);
            path.push(trie.byte[n as usize]);
            if !trie.tokens(n).is_empty() && self.allows(top, &path) {
                self.emit(ground, n);
            }
        }
    }

    /// A configuration between lexemes: brackets, commas, colons and whitespace.
    fn structure(&mut self, ground: Ground<'_>, node: u32, top: NodeId) {
        let Ground::Whole(walked) = ground else { return self.children(ground, node, top) };
        if node != 0 {
            return self.children_but_scalars(ground, node, top);
        }
        let trie = self.trie(ground);
        let mark = self.frames.arena.mark();
        let tables = self.tables;
        let n = self.frames.arena.nodes[top as usize];
        if self.frames.gap_may_end(&n) {
            let opens_value = n.kind == Kind::Value || (n.kind == Kind::Array && n.phase == Phase::First);
            for &child in tables.brackets[(walked == Walked::WhitespaceTails) as usize].iter() {
                if opens_value && trie.byte[child as usize] == b'"' {
                    continue;
                }
                let next = self.frames.step(top, trie.byte[child as usize]);
                if next != NONE {
                    self.emit(ground, child);
                    self.visit(ground, child, next);
                    self.frames.arena.truncate(&mark);
                }
            }
        }
        if walked == Walked::WhitespaceTails {
            return;
        }
        let gap = &self.frames.program.gaps[n.gap as usize];
        match gap.most {
            Some(most) if u32::from(most - n.blank) >= tables.blank_reach => {
                let left = u32::from(most - n.blank);
                for &(len, t) in tables.blanks.iter() {
                    if len > left {
                        break;
                    }
                    self.set(t);
                }
                self.visit_behind_blanks(top);
            }
            _ => {
                for b in *b" \t\n\r" {
                    let next = self.frames.step(top, b);
                    if next == NONE {
                        continue;
                    }
                    if let Some(child) = self.child(ground, 0, b) {
                        self.emit(ground, child);
                        self.visit(ground, child, next);
                    }
                    self.frames.arena.truncate(&mark);
                }
            }
        }
    }

    /// Tokens that begin with whitespace, from their first other byte on.
    fn visit_behind_blanks(&mut self, top: NodeId) {
        self.visit(Ground::Whole(Walked::WhitespaceTails), 0, top);
    }

    /// Children below the root: scalars are opened by [`value`](Self::value), so only other bytes are stepped there.
    fn children_but_scalars(&mut self, ground: Ground<'_>, node: u32, top: NodeId) {
        let trie = self.trie(ground);
        let scalars_elsewhere = {
            let n = &self.frames.arena.nodes[top as usize];
            n.kind == Kind::Value || (n.kind == Kind::Array && n.phase == Phase::First)
        };
        let mark = self.frames.arena.mark();
        let mut child = node + 1;
        let end = trie.end[node as usize];
        while child < end {
            let byte = trie.byte[child as usize];
            if !scalars_elsewhere || matches!(byte, b'{' | b'}' | b'[' | b']' | b' ' | b'\t' | b'\n' | b'\r') {
                let next = self.frames.step(top, byte);
                if next != NONE {
                    self.emit(ground, child);
                    self.visit(ground, child, next);
                    self.frames.arena.truncate(&mark);
                }
            }
            child = trie.end[child as usize];
        }
    }

    fn value(&mut self, walked: Walked, node: u32, top: NodeId) {
        self.structure(Ground::Whole(walked), node, top);
        self.open_value(walked, node, top);
    }

    /// The scalars of a value that begin right here.
    fn open_value(&mut self, walked: Walked, node: u32, top: NodeId) {
        let n = self.frames.arena.nodes[top as usize];
        if !self.frames.gap_may_end(&n) {
            return;
        }
        let program = self.frames.program;
        for tag in 0..n.len {
            let rule = self.frames.arena.rules[(n.start + tag) as usize];
            for &lexeme in &program.rules[rule.0 as usize].lexemes {
                let start = program.lexemes[lexeme as usize].start();
                self.lexeme(walked, node, lexeme, start, 0, n.parent, tag, top);
            }
        }
    }

    fn scalar(&mut self, walked: Walked, node: u32, top: NodeId) {
        let n = self.frames.arena.nodes[top as usize];
        let mut raw = false;
        for i in n.start..n.start + n.len {
            let item = self.frames.arena.scalars[i as usize];
            raw |= self.frames.program.lexemes[item.lexeme as usize].kind() == LexemeKind::Raw;
            self.lexeme(walked, node, item.lexeme, item.state, n.count, n.parent, item.tag, top);
        }
        if raw {
            // A number may end before the next byte.
            let mark = self.frames.arena.mark();
            let after = self.frames.end_scalar(top);
            if after != NONE {
                self.visit(Ground::Whole(walked), node, after);
            }
            self.frames.arena.truncate(&mark);
        }
    }

    /// What one lexeme state allows below a trie node. `parent` and `tag` say what its end leads to.
    #[allow(clippy::too_many_arguments)]
    fn lexeme(
        &mut self,
        walked: Walked,
        node: u32,
        lexeme: u32,
        state: u32,
        count: u32,
        parent: NodeId,
        tag: u32,
        top: NodeId,
    ) {
        let lexemes = self.lexemes;
        let masked = &lexemes[lexeme as usize];
        let mask = self.tables.submask(self.vocabulary, masked, state, count, walked, node);
        let l = &*masked.lexeme;
        if self.exact && self.frames.has_elements(parent) && l.may_run_out(count) {
            self.inner_unused(&mask.inner, lexeme, (state, count), parent, top, (walked, node));
        } else {
            mask.inner.or_into(self.row);
        }
        let Some(cross) = &mask.cross else { return };
        if !l.may_cross(count, cross.chars) {
            return;
        }
        let bounded = l.is_bounded().then_some(l);
        if !self.exact && parent < self.settled && self.cross_known(cross, bounded, count, (parent, tag)) {
            return;
        }
        let mark = self.frames.arena.mark();
        // What the element spells differs from token to token; where that matters each token is stepped whole.
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, self.exact);
        let after = self.frames.finish_one(parent, tag);
        if after != NONE {
            let origin = if self.exact { top } else { NONE };
            let ground = Ground::Tail { cross, lexeme: bounded, count, origin, from: (walked, node) };
            self.emit(ground, 0);
            self.visit(ground, 0, after);
        }
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
    }

    /// The inner tokens that can still become an element that the array does not have.
    fn inner_unused(
        &mut self,
        inner: &Inner,
        lexeme: u32,
        at: (u32, u32),
        parent: NodeId,
        top: NodeId,
        from: (Walked, u32),
    ) {
        let l = self.frames.program.lexemes[lexeme as usize].clone();
        let raw = l.kind() == LexemeKind::Raw;
        let used = self.frames.num_elements(parent);
        let many = raw && self.frames.program.endings(lexeme, at.0, at.1, used).is_none();
        // A text that grows in steps of up to sixteen characters has more ways to end than the array has elements as
        // long as so much room is left.
        let (slack, grows) = l.growth();
        let enough = self.frames.num_elements(parent).saturating_add(1).saturating_mul(16).saturating_add(slack);
        for t in inner.tokens() {
            let rest = self.rest_of(t, from);
            // Digits can go on to an unused number wherever many members are left behind them.
            let number = many && rest.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') && {
                let state = rest.iter().fold(at.0, |s, &b| l.next(s, b));
                state > CLOSED && self.frames.program.endings(lexeme, state, 0, used).is_none()
            };
            let roomy = !raw && grows && l.room(at.1) > enough.saturating_add(rest.len() as u32);
            if number || roomy || self.allows(top, rest) {
                self.set(t);
            }
        }
    }
}
