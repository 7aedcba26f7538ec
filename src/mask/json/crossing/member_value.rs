//! Which suffixes may be spelled of a member's value.
//!
//! A token that closes a key goes on with the colon and the beginning of a value, or all of it. What it may spell of
//! the value depends on the rules of the value and on nothing around it, so only what comes after the value is walked
//! each time. Most rules are alike as far as suffixes can tell (see `rule_signature`): what suffixes spell of a string,
//! of any value or of a list of names is found once for all indexes of a vocabulary.

use crate::json::rules::RuleId;
use crate::mask::json::cache::member_values::{ENTRY, MemberValue};
use crate::mask::json::cache_key::rule_signature::{Look, RuleSignature, blanks};
use crate::pushdown::json::program::RuleProgram;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::lexeme::LexemeKind;
use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes, add_alike, set};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::lexeme::lexeme_mask::delimits;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE};

/// With more ends than this, or more suffixes behind one, what may follow a member's value is found once for all of
/// them.
const FEW_ENDS: usize = 2;
const FEW_SUFFIXES: u32 = 8;

impl JsonMaskBuilder<'_> {
    /// [`live_below`](Self::live_below) just behind a colon, which `node` is; `value` waits for the member's value.
    /// False if that is not known for all members with the same rules.
    pub(crate) fn live_below_colon(
        &mut self,
        node: u32,
        value: FrameId,
        object: FrameId,
        bits: &mut SuffixSet,
        unresolved: &mut UnresolvedSuffixes,
    ) -> bool {
        // An element that the array has is told by all that was read of it, and members leave out what their values
        // spell.
        if self.in_unique_array && !self.frames.arena.unchecked {
            return false;
        }
        // Where an element around the member is watched, what was read of it matters in the member, too.
        let settled = if self.frames.arena.unchecked { self.guide_memo.nodes } else { 0 };
        if self.frames.is_watched_since(value, settled, false) {
            return false;
        }
        let n = self.frames.arena.nodes[value as usize];
        let member = self.shared_member(node, value).unwrap_or_else(|| {
            let checked = std::mem::replace(&mut self.frames.arena.unchecked, self.frames.program.has_unique);
            let made = Arc::new(self.member(node, value));
            self.frames.arena.unchecked = checked;
            made
        });
        // A number may become an element that is there before it ends.
        if member.raw && self.frames.arena.unchecked {
            return false;
        }
        bits.iter_mut().zip(&member.bits).for_each(|(b, m)| *b |= m);
        let suffixes = &self.tables.suffixes;
        let mut last: Option<(&[u32], FrameId)> = None;
        let mut behind: Option<(SuffixSet, UnresolvedSuffixes)> = None;
        for (end, tags) in &member.ends {
            let after = match last {
                Some((same, after)) if *same == **tags => after,
                _ => {
                    behind = None;
                    self.frames.finish_by(n.parent, tags)
                }
            };
            last = Some((tags, after));
            if after == NONE {
                continue;
            }
            set(bits, *end);
            let shared = object == NONE && self.is_remembered(after);
            let more = shared && suffixes.trie.end[*end as usize] - *end > FEW_SUFFIXES;
            let alike = suffixes.alike.get(end).filter(|_| more || member.ends.len() > FEW_ENDS);
            let Some(alike) = alike else {
                self.live_below(*end, after, object, bits, unresolved);
                continue;
            };
            // What may follow is the same behind every end, and found once.
            let found = behind.get_or_insert_with(|| match shared {
                true => self.live_suffixes_or_unresolved(after),
                false => self.find_suffixes(after, object),
            });
            add_alike(alike, found, bits, unresolved);
        }
        true
    }

    /// [`member`](Self::member), if its rules have a signature, as it was found for whatever index.
    fn shared_member(&mut self, node: u32, value: FrameId) -> Option<Arc<MemberValue>> {
        let n = self.frames.arena.nodes[value as usize];
        let profile = self.profile(n.gap, &self.frames.arena.rules[n.start as usize..(n.start + n.len) as usize])?;
        let shared = &self.tables.patches.members.0;
        let Some(found) = shared.get(profile.as_slice()) else {
            let made = Arc::new(self.member(node, value));
            shared.keep(profile.as_slice().into(), made.clone(), ENTRY);
            return Some(made);
        };
        debug_assert!(*found == self.member(node, value), "rules of one profile differ");
        Some(found)
    }

    /// What the suffixes below the colon `node` may spell of the member's value, and where they end it.
    fn member(&mut self, node: u32, value: FrameId) -> MemberValue {
        let tables = self.tables;
        let suffixes = &tables.suffixes;
        let trie = &suffixes.trie;
        let mut member = MemberValue { bits: self.no_suffixes(), ends: Vec::new(), raw: false };
        let inside = self.frames.arena.nodes[value as usize].parent;
        let below = self.frames.arena.nodes[inside as usize].parent;
        let mut path: SmallVec<[(u32, FrameId); 32]> = smallvec::smallvec![(node, value)];
        let mut i = node + 1;
        while i < trie.end[node as usize] {
            path.truncate((trie.depth[i as usize] - trie.depth[node as usize]) as usize);
            let (place, before) = path.last().copied().unwrap_or((node, value));
            self.frames.arena.tags.clear();
            let byte = trie.byte[i as usize];
            let next = self.frames.step(before, byte);
            let from = self.frames.arena.nodes[before as usize];
            let stays = next != NONE && self.frames.arena.nodes[next as usize].kind == FrameKind::Scalar;
            // A number or word ends in front of such a byte, also where the object refuses the byte.
            if from.kind == FrameKind::Scalar && from.parent == inside && !stays && delimits(byte) && self.is_raw(&from)
            {
                member.raw = true;
                self.frames.arena.tags.clear();
                self.frames.end_scalar(before);
                let tags = &self.frames.arena.tags;
                if !tags.is_empty() && member.ends.last().is_none_or(|last| last.0 != place) {
                    member.ends.push((place, tags.as_slice().into()));
                }
                i = trie.end[i as usize];
                continue;
            }
            if next == NONE {
                i = trie.end[i as usize];
                continue;
            }
            let to = self.frames.arena.nodes[next as usize];
            if to.parent == below && to.kind == FrameKind::Object {
                member.ends.push((i, self.frames.arena.tags.as_slice().into()));
                i = trie.end[i as usize];
                continue;
            }
            set(&mut member.bits, i);
            path.push((i, next));
            i += 1;
        }
        member
    }

    /// Whether a scalar may be a number or a word, which the next byte ends.
    fn is_raw(&self, scalar: &Frame) -> bool {
        let items = &self.frames.arena.scalars[scalar.start as usize..(scalar.start + scalar.len) as usize];
        items.iter().any(|i| self.frames.program.lexemes[i.lexeme as usize].kind() == LexemeKind::Raw)
    }
}

impl JsonMaskBuilder<'_> {
    /// The signature of a value that may follow any of `rules`, with whitespace in front of it as `gap` says.
    pub(crate) fn profile(&self, gap: u8, rules: &[RuleId]) -> Option<RuleSignature> {
        let program = self.frames.program;
        let scalar = |rule: &RuleProgram| rule.arrays.is_empty() && rule.objects.is_empty();
        let mut out = RuleSignature::new();
        if rules.iter().all(|rule| scalar(&program.rules[rule.0 as usize])) {
            out.push(0);
            blanks(&program.gaps[gap as usize], &mut out)?;
        } else {
            out.push(1 + u64::from(gap));
            program.gaps.iter().try_for_each(|gap| blanks(gap, &mut out))?;
        }
        let lexeme = |lexeme: u32| {
            let masked = &self.lexemes[lexeme as usize];
            let bounds = match masked.lexeme.kind() {
                LexemeKind::Raw => 0,
                LexemeKind::Text { min, max, .. } => !(u64::from(min) << 32 | u64::from(max)),
            };
            [masked.number(), bounds]
        };
        let look = Look { program, insight: self.tables.suffixes.insight, lexeme };
        look.rules(rules, &mut out)?;
        Some(out)
    }
}
