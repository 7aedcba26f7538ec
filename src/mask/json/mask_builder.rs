//! Puts the mask of a configuration together.
//!
//! A mask is the union, over the items of the top frame, of the inner tokens of their lexemes (rows that were computed
//! before) and of the crossing tokens whose suffix fits what follows. Between lexemes the few structural bytes
//! (brackets, commas, colons) are stepped over the trie directly. The guards of frames make every live configuration
//! completable, so a token whose bytes can all be stepped is allowed, and no other is.
//!
//! Keys need more than that, which is the work of `mask::json::key`; what may follow a value is found by
//! `mask::json::crossing::after_value`.
//!
//! Four fields of [`JsonMaskBuilder`] change what a walk does. Each holds for one part of the walk only: the method
//! that sets the field keeps the value from before, walks, and then writes that value back.
//!
//! * `in_unique_array`: an array on the stack must have unique elements. Tokens that may repeat one are taken back
//!   (`mask::json::unique`).
//! * `steps_crossing_whole`: the suffix alone does not decide what may follow, but all that the token spells: a second
//!   key in one token, or an element of a unique array. Crossing tokens are then stepped whole, from `origin` on.
//! * `repeated_raw`: the same for numbers and words only, as one of them may become an element that the array has.
//! * `partial`: a key is walked by some of its items (`mask::json::key`). Nothing is taken back, since other items may
//!   allow it; the walk of all items takes back.

use std::sync::Arc;

use crate::json::rules::RuleId;
use crate::json::string_escape::{EscapeState, spells_itself};
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::mask::json::cache::composition::MaskComposition;
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::cache::masks::MaskCache;
use crate::mask::json::crossing::quote_tries::takes_all;
use crate::mask::lexeme::lexeme_mask::CrossingTokens;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::json::arena::ArenaMark;
use crate::pushdown::json::frame::{FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::vocab::{Trie, Vocabulary};

/// Beyond this nesting of a single token the tokens below are stepped one by one.
pub(crate) const MAX_DEPTH: u32 = 128;

/// Where a walk of the frames goes on.
#[derive(Clone, Copy)]
pub(crate) enum WalkOver<'t> {
    /// A trie of whole tokens, with precomputed masks of lexemes at its nodes.
    Whole(TrieKind),
    /// The suffixes of tokens that pass the end of a lexeme.
    Suffix {
        cross: &'t CrossingTokens,
        /// It checks, with `count`, the length of what came before.
        lexeme: Option<&'t Lexeme>,
        count: u32,
        /// The configuration at the trie node `from`, where what the token spells from there on matters.
        origin: FrameId,
        from: (TrieKind, u32),
    },
}

/// Fills one row.
pub struct JsonMaskBuilder<'a> {
    /// The vocabulary.
    pub vocabulary: &'a Vocabulary,
    /// The vocabulary's tables.
    pub tables: &'a VocabTables,
    /// The program's lexemes with their masks, by the program's indices.
    pub lexemes: &'a [Arc<MaskedLexeme>],
    /// The configuration's frames.
    pub frames: JsonMachine<'a>,
    /// The row; bits are only ever set.
    pub row: &'a mut [u32],
    /// Some array on the stack must have unique elements.
    pub in_unique_array: bool,
    /// Every crossing token is stepped whole, because what it spells decides what may follow.
    pub steps_crossing_whole: bool,
    /// The key that is walked is read by some of its items only, and others allow more: nothing is taken back.
    pub(crate) partial: bool,
    /// A number or word that is open, or may begin, may become an element that its array has.
    pub(crate) repeated_raw: bool,
    /// What was found about the frames, at this mask or before; belongs to the guide.
    pub guide_memo: &'a mut GuideMemo,
    /// Tokens that are stepped once all lexemes of a place were asked, each with its bytes from there on.
    pub(crate) deferred: Vec<(&'a [u8], u32)>,
    /// What the index remembers, where the mask is made for a guide.
    pub(crate) mask_cache: Option<&'a MaskCache>,
    /// The row still holds what was in it before: it is emptied, or copied over, before the first bit is set.
    pub(crate) row_is_stale: bool,
    /// What the row is made of, where it is noted and written in the end.
    pub(crate) composition: Option<MaskComposition>,
    pub(crate) depth: u32,
}

impl<'a> JsonMaskBuilder<'a> {
    /// A mask builder over an empty row, or any row for [`fill_known`](Self::fill_known).
    pub fn new(
        vocabulary: &'a Vocabulary,
        tables: &'a VocabTables,
        lexemes: &'a [Arc<MaskedLexeme>],
        frames: JsonMachine<'a>,
        guide_memo: &'a mut GuideMemo,
        row: &'a mut [u32],
    ) -> Self {
        JsonMaskBuilder {
            vocabulary,
            tables,
            lexemes,
            frames,
            row,
            in_unique_array: false,
            steps_crossing_whole: false,
            partial: false,
            repeated_raw: false,
            guide_memo,
            deferred: Vec::new(),
            mask_cache: None,
            row_is_stale: false,
            composition: None,
            depth: 0,
        }
    }

    /// Sets the bits of all tokens that `top` allows; stop tokens are the guide's.
    pub fn fill(&mut self, top: FrameId) {
        let mark = self.frames.arena.mark();
        self.visit(WalkOver::Whole(TrieKind::Tokens), 0, top);
        self.empty_stale_row();
        self.frames.arena.truncate(&mark);
    }

    /// Whether `top` allows a token with these bytes.
    pub fn allows(&mut self, top: FrameId, bytes: &[u8]) -> bool {
        let mark = self.frames.arena.mark();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, false);
        let at = self.step_all(top, bytes);
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
        at != NONE
    }

    pub(crate) fn trie<'t>(&self, over: WalkOver<'t>) -> &'t Trie
    where
        'a: 't,
    {
        match over {
            WalkOver::Whole(w) => self.tables.trie(self.vocabulary, w),
            WalkOver::Suffix { cross, .. } => &cross.suffixes,
        }
    }

    /// Allows the tokens that end at a node.
    pub(crate) fn emit(&mut self, over: WalkOver<'_>, node: u32) {
        let trie = self.trie(over);
        trie.tokens(node).iter().for_each(|&item| self.emit_one(over, item));
    }

    /// Allows one of what the trie has at a node: a token, or a token that crosses.
    pub(crate) fn emit_one(&mut self, over: WalkOver<'_>, item: u32) {
        let token = match over {
            WalkOver::Whole(_) => item,
            WalkOver::Suffix { cross, lexeme, count, origin, from } => {
                let c = cross.crossings[item as usize];
                let closes = lexeme.is_none_or(|l| l.may_close(count.saturating_add(c.chars)));
                let steps_whole = self.steps_crossing_whole && origin != NONE;
                if !closes || (steps_whole && !self.allows(origin, self.rest_of(c.token, from))) {
                    return;
                }
                c.token
            }
        };
        self.set(token);
    }

    /// The bytes of a token below a trie node.
    pub(crate) fn rest_of(&self, token: u32, (walked, node): (TrieKind, u32)) -> &'a [u8] {
        self.tables.rest_of(self.vocabulary, token, walked, node)
    }

    pub(crate) fn visit(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        if self.depth >= MAX_DEPTH {
            return self.one_by_one(over, node, top);
        }
        self.depth += 1;
        // One token may open an array of unique elements and go on inside it.
        let whole = matches!(over, WalkOver::Whole(_));
        let entered =
            whole && !self.in_unique_array && self.frames.program.has_unique && self.frames.is_unique_inside(top);
        self.in_unique_array |= entered;
        let n = self.frames.arena.nodes[top as usize];
        let in_key = n.kind == FrameKind::Object && n.phase == Phase::Key;
        if !(n.kind == FrameKind::Scalar || in_key) {
            self.empty_stale_row();
        }
        // What follows a key follows all of its items.
        let partial = self.partial;
        self.partial &= in_key;
        match (n.kind, over) {
            (FrameKind::Value, WalkOver::Whole(w)) => self.value(w, node, top),
            (FrameKind::Scalar, WalkOver::Whole(w)) => self.scalar(w, node, top),
            (FrameKind::Object, WalkOver::Whole(w)) if n.phase == Phase::Key => self.key(w, node, top),
            (FrameKind::Object, WalkOver::Suffix { origin, .. })
                if n.phase == Phase::Key && origin != NONE && !self.steps_crossing_whole =>
            {
                // A second key in one token: what the first one spells may matter.
                self.steps_crossing_whole = true;
                self.children(over, node, top);
                self.steps_crossing_whole = false;
            }
            (FrameKind::Array, WalkOver::Whole(w)) if n.phase == Phase::First => {
                self.structure(over, node, top);
                if self.frames.gap_may_end(&n) {
                    let value = self.frames.first_element(n);
                    if value != NONE {
                        // Whitespace was the array's business above.
                        self.open_value(w, node, value);
                    }
                }
            }
            (_, WalkOver::Whole(_)) => self.structure(over, node, top),
            _ => self.children(over, node, top),
        }
        self.partial = partial;
        self.in_unique_array &= !entered;
        self.depth -= 1;
    }

    /// Steps every child of `node`.
    pub(crate) fn children(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        let trie = self.trie(over);
        let mark = self.frames.arena.mark();
        let n = self.frames.arena.nodes[top as usize];
        let in_key = n.kind == FrameKind::Object && n.phase == Phase::Key && n.sub == EscapeState::Plain;
        let mut child = node + 1;
        let end = trie.end[node as usize];
        while child < end {
            let byte = trie.byte[child as usize];
            // Most bytes go on with no key that is left, which takes less to see than a step.
            if in_key && spells_itself(byte) && self.frames.begins_no_key(&n, byte) {
                child = trie.end[child as usize];
                continue;
            }
            self.step_into(over, child, (top, byte), &mark);
            child = trie.end[child as usize];
        }
    }

    /// Allows the tokens at and below `child`, to which `byte` leads from `top`; `mark` is that of `top`.
    #[inline]
    fn step_into(&mut self, over: WalkOver<'_>, child: u32, (top, byte): (FrameId, u8), mark: &ArenaMark) {
        let next = self.frames.step(top, byte);
        if next != NONE {
            self.emit(over, child);
            self.visit(over, child, next);
            self.frames.arena.truncate(mark);
        }
    }

    /// Tokens of a subtree one at a time: deep nesting costs time, not stack.
    pub(crate) fn one_by_one(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        let trie = self.trie(over);
        let mut path = Vec::new();
        let base = trie.depth[node as usize];
        for n in node + 1..trie.end[node as usize] {
            path.truncate((trie.depth[n as usize] - base) as usize - 1);
            path.push(trie.byte[n as usize]);
            if !trie.tokens(n).is_empty() && self.allows(top, &path) {
                self.emit(over, n);
            }
        }
    }

    /// A configuration between lexemes: brackets, commas, colons and whitespace.
    fn structure(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        let WalkOver::Whole(walked) = over else { return self.children(over, node, top) };
        if node != 0 {
            return self.children_but_scalars(over, node, top);
        }
        if walked == TrieKind::Tokens && self.structure_by_suffixes(top) {
            return;
        }
        let trie = self.trie(over);
        let mark = self.frames.arena.mark();
        let tables = self.tables;
        let n = self.frames.arena.nodes[top as usize];
        if self.frames.gap_may_end(&n) {
            let opens_value = n.kind == FrameKind::Value || (n.kind == FrameKind::Array && n.phase == Phase::First);
            for &child in tables.brackets[(walked == TrieKind::WhitespaceSuffixes) as usize].iter() {
                if opens_value && trie.byte[child as usize] == b'"' {
                    continue;
                }
                self.step_into(over, child, (top, trie.byte[child as usize]), &mark);
            }
        }
        if walked == TrieKind::WhitespaceSuffixes {
            return;
        }
        let gap = &self.frames.program.gaps[n.gap as usize];
        match gap.most {
            Some(most) if u32::from(most - n.blank) >= tables.blank_reach => {
                self.allow_blanks(u32::from(most - n.blank));
                self.visit_behind_blanks(top);
            }
            _ => {
                for b in *b" \t\n\r" {
                    let next = self.frames.step(top, b);
                    if next == NONE {
                        continue;
                    }
                    if let Some(child) = self.child(over, 0, b) {
                        self.emit(over, child);
                        self.visit(over, child, next);
                    }
                    self.frames.arena.truncate(&mark);
                }
            }
        }
    }

    /// [`structure`](Self::structure) at the root by the suffixes that can follow, where whitespace is out of reach of
    /// its bound. False, and nothing was done, where it is not.
    fn structure_by_suffixes(&mut self, top: FrameId) -> bool {
        if !self.frames.has_room_for_blanks(top, self.tables.blank_reach) {
            return false;
        }
        let bits =
            if self.is_scalar_only(top) { self.tables.suffixes.spaces.0.clone() } else { self.live_suffixes(top) };
        if self.tables.suffixes.behind.as_ref().is_some_and(|behind| !self.cross_by(behind, &bits)) {
            return false;
        }
        let n = self.frames.arena.nodes[top as usize];
        let most = self.frames.program.gaps[n.gap as usize].most.unwrap_or(0);
        self.allow_blanks(u32::from(most.saturating_sub(n.blank)));
        let mark = self.frames.arena.mark();
        match (n.kind, n.phase) {
            (FrameKind::Value, _) => self.open_value(TrieKind::WhitespaceSuffixes, 0, top),
            (FrameKind::Array, Phase::First) => {
                let value = self.frames.first_element(n);
                if value != NONE {
                    self.open_value(TrieKind::WhitespaceSuffixes, 0, value);
                }
            }
            (FrameKind::Object, Phase::First | Phase::BeforeKey) => {
                let next = self.frames.step(top, b'"');
                for walked in [TrieKind::Tokens, TrieKind::WhitespaceSuffixes] {
                    let over = WalkOver::Whole(walked);
                    if next != NONE
                        && let Some(child) = self.child(over, 0, b'"')
                    {
                        self.emit(over, child);
                        self.visit(over, child, next);
                    }
                }
            }
            _ => {}
        }
        self.frames.arena.truncate(&mark);
        true
    }

    /// Whether `top` waits for a value that is neither array nor object, with room for the whitespace of any suffix: no
    /// other suffix can follow then.
    fn is_scalar_only(&self, top: FrameId) -> bool {
        let n = &self.frames.arena.nodes[top as usize];
        let program = self.frames.program;
        let is_scalar = |rule: &RuleId| {
            let rule = &program.rules[rule.0 as usize];
            rule.arrays.is_empty() && rule.objects.is_empty()
        };
        n.kind == FrameKind::Value
            && !program.has_unique
            && self.frames.arena.rules[n.start as usize..(n.start + n.len) as usize].iter().all(is_scalar)
            && self.frames.has_room_for_blanks(top, self.tables.suffixes.spaces.1)
    }

    /// Tokens that begin with whitespace, from their first other byte on.
    fn visit_behind_blanks(&mut self, top: FrameId) {
        self.visit(WalkOver::Whole(TrieKind::WhitespaceSuffixes), 0, top);
    }

    /// Children below the root: scalars are opened by [`value`](Self::value), so only other bytes are stepped there.
    fn children_but_scalars(&mut self, over: WalkOver<'_>, node: u32, top: FrameId) {
        let trie = self.trie(over);
        let scalars_elsewhere = {
            let n = &self.frames.arena.nodes[top as usize];
            n.kind == FrameKind::Value || (n.kind == FrameKind::Array && n.phase == Phase::First)
        };
        let mark = self.frames.arena.mark();
        let mut child = node + 1;
        let end = trie.end[node as usize];
        while child < end {
            let byte = trie.byte[child as usize];
            if !scalars_elsewhere || matches!(byte, b'{' | b'}' | b'[' | b']' | b' ' | b'\t' | b'\n' | b'\r') {
                self.step_into(over, child, (top, byte), &mark);
            }
            child = trie.end[child as usize];
        }
    }

    fn value(&mut self, walked: TrieKind, node: u32, top: FrameId) {
        self.structure(WalkOver::Whole(walked), node, top);
        self.open_value(walked, node, top);
    }

    /// The scalars of a value that begin right here.
    fn open_value(&mut self, walked: TrieKind, node: u32, top: FrameId) {
        let n = self.frames.arena.nodes[top as usize];
        if !self.frames.gap_may_end(&n) {
            return;
        }
        self.unrepeated(walked, node, top, |builder| {
            let program = builder.frames.program;
            let rules = &builder.frames.arena.rules[n.start as usize..(n.start + n.len) as usize];
            if let Some((number, set)) = program.constants.find_or_build(program, rules) {
                for &(tag, lexeme) in &set.others {
                    let start = program.lexemes[lexeme as usize].start();
                    builder.lexeme(walked, node, (lexeme, start, 0, false), (n.parent, tag), top);
                }
                return builder.open_constants((walked, node), number, n.parent);
            }
            for tag in 0..n.len {
                let rule = builder.frames.arena.rules[(n.start + tag) as usize];
                for &lexeme in &program.rules[rule.0 as usize].lexemes {
                    let start = program.lexemes[lexeme as usize].start();
                    builder.lexeme(walked, node, (lexeme, start, 0, false), (n.parent, tag), top);
                }
            }
        });
    }

    fn scalar(&mut self, walked: TrieKind, node: u32, top: FrameId) {
        let n = self.frames.arena.nodes[top as usize];
        let mut raw = false;
        let items = &self.frames.arena.scalars[n.start as usize..(n.start + n.len) as usize];
        let texts = items.iter().map(|item| (&self.lexemes[item.lexeme as usize], item.state, n.count));
        // Among unique elements what stays inside is looked at for each.
        let all = if self.in_unique_array { None } else { takes_all((walked, node), texts) };
        self.unrepeated(walked, node, top, |builder| {
            for i in n.start..n.start + n.len {
                let item = builder.frames.arena.scalars[i as usize];
                raw |= builder.frames.program.lexemes[item.lexeme as usize].kind() == LexemeKind::Raw;
                let crossing = all.is_some_and(|all| n.start + all as u32 != i);
                builder.lexeme(walked, node, (item.lexeme, item.state, n.count, crossing), (n.parent, item.tag), top);
            }
        });
        if n.seen != NO_SET {
            self.constants((walked, node), (n.seen, n.text, n.sub), n.parent);
        }
        if raw {
            // A number may end before the next byte.
            let mark = self.frames.arena.mark();
            let after = self.frames.end_scalar(top);
            self.empty_stale_row();
            if after != NONE && self.frames.stays_live(NONE, after) {
                self.visit(WalkOver::Whole(walked), node, after);
            }
            self.frames.arena.truncate(&mark);
        }
    }

    /// What one lexeme state allows below a trie node, or if `crossing` without the tokens that stay inside. `parent`
    /// and `tag` say what its end leads to.
    fn lexeme(
        &mut self,
        walked: TrieKind,
        node: u32,
        (lexeme, state, count, crossing): (u32, StateId, u32, bool),
        (parent, tag): (FrameId, u32),
        top: FrameId,
    ) {
        let lexemes = self.lexemes;
        let masked = &lexemes[lexeme as usize];
        let mask = match crossing && masked.lexeme.kind() != LexemeKind::Raw {
            true => self.tables.crossing(self.vocabulary, masked, state, count),
            false => self.tables.submask(self.vocabulary, masked, state, count, walked, node),
        };
        let l = &*masked.lexeme;
        let from = (walked, node);
        let repeated =
            self.in_unique_array && (self.steps_crossing_whole || (self.repeated_raw && l.kind() == LexemeKind::Raw));
        if repeated && self.is_after_elements(parent) && l.may_run_out(count) {
            self.empty_stale_row();
            self.inner_unused(&mask, lexeme, state, count, top, from);
        } else {
            self.allow_inner(&mask);
        }
        let Some(cross) = &mask.cross else { return };
        if !l.may_cross(count, cross.chars) {
            return;
        }
        if repeated {
            return self.cross_each(cross, from);
        }
        let bounded = l.is_bounded().then_some(l);
        if let Some(unresolved) = self.cross_known(cross, bounded, count, (parent, tag)) {
            return self.cross_unresolved(cross, &unresolved, top, from);
        }
        let before = self.steps_crossing_whole;
        self.steps_crossing_whole |= self.in_unique_array;
        let mark = self.frames.arena.mark();
        // What the element spells differs from token to token; where that matters each token is stepped whole.
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, self.steps_crossing_whole);
        let after = self.frames.finish_by(parent, &[tag]);
        if after != NONE {
            let origin = if self.steps_crossing_whole { top } else { NONE };
            let over = WalkOver::Suffix { cross, lexeme: bounded, count, origin, from };
            self.emit(over, 0);
            self.visit(over, 0, after);
        }
        self.steps_crossing_whole = before;
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
    }
}
