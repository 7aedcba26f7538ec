//! Viable suffixes: which of the vocabulary's suffixes can follow a configuration (the field's FOLLOW).
//!
//! The trie of suffixes is walked with the configuration, and a node that can be stepped gets its bit. That takes some
//! dozens of steps, so an answer is used again wherever it is bound to be the same:
//!
//! * Whitespace at the end of a suffix may follow wherever there is room for it.
//! * What follows a closing bracket holds for all members and elements of the container that it closes; a guide
//!   remembers it (a [`ViableAnswer`]) as long as it does not go back.
//! * What follows an unknown key holds from token to token of the key.
//! * What a suffix spells of a member's value depends on the value's rules alone (see
//!   [`member_value`](crate::mask::json::crossing::member_value)); only what comes after the value is walked.

use crate::mask::json::cache::guide_memo::{FrameContent, ViableAnswer};
use crate::mask::json::crossing::suffixes::{UnresolvedSuffixes, set};
use smallvec::SmallVec;

use crate::json::string_escape::EscapeState;
use crate::json::whitespace::is_whitespace;
use crate::mask::json::crossing::suffixes::{SuffixSet, add_alike};
use crate::mask::json::mask_builder::{JsonMaskBuilder, MAX_DEPTH};
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, FrameKind, NONE, ObjectItem, Phase};

/// What becomes of the suffixes that go on with one byte.
enum SuffixVisit {
    /// None is allowed.
    Refused,
    /// The one that ends here is allowed, and all that is known of those below was said.
    Alone,
    /// What the key spelled before decides.
    Unresolved,
    /// The one that ends here is allowed; those below are visited from this frame.
    To(FrameId),
}

/// How many answers a guide has at hand.
const ANSWERS: usize = 8;

/// Whether a byte may stand at a node between values. True for more where the node does not tell.
fn fits(node: &Frame, byte: u8) -> bool {
    is_whitespace(byte)
        || match (node.kind, node.phase) {
            (FrameKind::Done | FrameKind::Root, _) => false,
            (FrameKind::Value, _) => !matches!(byte, b'}' | b']' | b',' | b':'),
            (FrameKind::Object, Phase::First) => matches!(byte, b'"' | b'}'),
            (FrameKind::Object, Phase::After) => matches!(byte, b',' | b'}'),
            (FrameKind::Object, Phase::BeforeKey) => byte == b'"',
            (FrameKind::Object, Phase::BeforeColon) => byte == b':',
            (FrameKind::Array, Phase::After) => matches!(byte, b',' | b']'),
            _ => true,
        }
}

/// Whether a byte of a key stands for itself, and is a character.
fn is_plain(byte: u8) -> bool {
    (b' '..0x7F).contains(&byte) && byte != b'"' && byte != b'\\'
}

fn closes(byte: u8) -> bool {
    matches!(byte, b'}' | b']')
}

impl JsonMaskBuilder<'_> {
    /// No suffix follows, not even the empty one.
    pub(crate) fn no_suffixes(&self) -> SuffixSet {
        smallvec::smallvec![0; self.tables.suffixes.words()]
    }

    /// Which suffixes may follow `top`.
    pub(crate) fn live_suffixes(&mut self, top: FrameId) -> SuffixSet {
        self.live_suffixes_or_unresolved(top).0
    }

    /// Which suffixes may follow `top`, where the element in front of it may not be known: those that uniqueness may
    /// refuse are left out and returned beside.
    pub(crate) fn live_suffixes_or_unresolved(&mut self, top: FrameId) -> (SuffixSet, UnresolvedSuffixes) {
        self.remembered_suffixes(top, false, |builder| builder.find_suffixes(top, NONE))
    }

    /// The suffixes that may follow `top`, and those that are left open; `object` as in
    /// [`live_below`](Self::live_below).
    pub(crate) fn find_suffixes(&mut self, top: FrameId, object: FrameId) -> (SuffixSet, UnresolvedSuffixes) {
        let (mut bits, mut unresolved) = (self.no_suffixes(), UnresolvedSuffixes::new());
        set(&mut bits, 0);
        let mark = self.frames.arena.mark();
        self.live_below(0, top, object, &mut bits, &mut unresolved);
        self.frames.arena.truncate(&mark);
        (bits, unresolved)
    }

    /// Which suffixes may follow `after`, just behind a key without a name. Suffixes with a second key of the same
    /// object are left out where it matters what the first one spelled; they are returned beside.
    pub(crate) fn live_suffixes_unnamed(&mut self, after: FrameId) -> (SuffixSet, UnresolvedSuffixes) {
        let content = self.settled_content(after);
        let unchecked = self.frames.arena.unchecked;
        if let Some(a) = self.guide_memo.answer(0, true, unchecked, content.as_ref()) {
            return (a.bits.clone(), a.unresolved.clone());
        }
        let object = self.frames.arena.nodes[after as usize].parent;
        let (bits, unresolved) = self.remembered_suffixes(after, true, |builder| builder.find_suffixes(after, object));
        if let Some(content) = content {
            let (bits, unresolved) = (bits.clone(), unresolved.clone());
            self.remember(ViableAnswer { below: 0, unnamed: true, unchecked, content, bits, unresolved });
        }
        (bits, unresolved)
    }

    fn remember(&mut self, answer: ViableAnswer) {
        let answers = &mut self.guide_memo.answers;
        if answers.len() >= ANSWERS {
            answers.remove(0);
        }
        answers.push(answer);
    }

    /// Sets the bits of the nodes below `root` that can be stepped from `top`. Behind an unknown key of the object on
    /// `object`, further keys of that object are followed only where every key may stand; other places go to
    /// `unresolved`.
    pub(crate) fn live_below(
        &mut self,
        root: u32,
        top: FrameId,
        object: FrameId,
        bits: &mut SuffixSet,
        unresolved: &mut UnresolvedSuffixes,
    ) {
        let tables = self.tables;
        let suffixes = &tables.suffixes;
        let trie = &suffixes.trie;
        let base = trie.depth[root as usize];
        let mut path: SmallVec<[FrameId; 32]> = smallvec::smallvec![top];
        let mut i = root + 1;
        if root == 0 && self.frames.has_room_for_blanks(top, suffixes.reach) {
            let (blanks, first) = &suffixes.first_blanks;
            bits.iter_mut().zip(blanks).for_each(|(b, blank)| *b |= blank);
            i = *first;
        }
        let end = trie.end[root as usize];
        while i < end {
            path.truncate((trie.depth[i as usize] - base) as usize);
            let before = path.last().copied().unwrap_or(top);
            let past = trie.end[i as usize];
            if suffixes.blank[i as usize] && self.frames.has_room_for_blanks(before, suffixes.reach) {
                (i..past).for_each(|n| set(bits, n));
                i = past;
                continue;
            }
            match self.visit_suffix(i, before, object, bits, unresolved) {
                SuffixVisit::Refused => i = past,
                SuffixVisit::Alone => {
                    set(bits, i);
                    i = past;
                }
                SuffixVisit::Unresolved => {
                    unresolved.push(i);
                    i = past;
                }
                SuffixVisit::To(next) => {
                    set(bits, i);
                    path.push(next);
                    i += 1;
                }
            }
        }
    }

    /// What becomes of the suffixes that go on with the byte of a node. Whatever is known to follow a colon or the end
    /// of a container is set at once.
    #[inline]
    fn visit_suffix(
        &mut self,
        i: u32,
        before: FrameId,
        object: FrameId,
        bits: &mut SuffixSet,
        unresolved: &mut UnresolvedSuffixes,
    ) -> SuffixVisit {
        let trie = &self.tables.suffixes.trie;
        let (byte, past, is_first) = (trie.byte[i as usize], trie.end[i as usize], trie.depth[i as usize] == 1);
        let n = &self.frames.arena.nodes[before as usize];
        let (kind, phase, parent) = (n.kind, n.phase, n.parent);
        if kind == FrameKind::Object
            && phase == Phase::Key
            && let Some(visit) = self.visit_in_key(i, before, object)
        {
            return visit;
        }
        // A comma stands only where a key may follow.
        if kind == FrameKind::Object && phase == Phase::BeforeKey && byte == b'"' && past == i + 1 {
            return if self.frames.gap_may_end(n) { SuffixVisit::Alone } else { SuffixVisit::Refused };
        }
        let next = if fits(n, byte) { self.frames.step(before, byte) } else { NONE };
        if next == NONE {
            return SuffixVisit::Refused;
        }
        if self.frames.arena.unchecked && self.frames.is_uncertain(before, next, self.guide_memo.nodes) {
            return SuffixVisit::Unresolved;
        }
        if byte == b':' && kind == FrameKind::Object && phase == Phase::BeforeColon && is_first {
            set(bits, i);
            if self.live_below_colon(i, next, object, bits, unresolved) {
                return SuffixVisit::Alone;
            }
        }
        if phase != Phase::Key && self.begins_key_of(object, next) {
            return SuffixVisit::Unresolved;
        }
        // Behind the object there is no further key of it.
        if closes(byte) && past > i + 1 && is_first && (object == NONE || parent == object) {
            self.live_below_closed(i, next, bits, unresolved);
            return SuffixVisit::Alone;
        }
        SuffixVisit::To(next)
    }

    /// The same inside a key; `None` where the byte has to be stepped.
    #[inline]
    fn visit_in_key(&self, i: u32, before: FrameId, object: FrameId) -> Option<SuffixVisit> {
        let trie = &self.tables.suffixes.trie;
        let (byte, past) = (trie.byte[i as usize], trie.end[i as usize]);
        let n = &self.frames.arena.nodes[before as usize];
        let any = self.frames.takes_any_char(n);
        let plain = is_plain(byte);
        if any && plain && past == i + 1 {
            return Some(SuffixVisit::Alone);
        }
        if byte < b' ' {
            return Some(SuffixVisit::Refused);
        }
        if n.parent == object && !(any && plain) {
            return Some(SuffixVisit::Unresolved);
        }
        // After a character of a key that may be any, it may still be any.
        let spelled = &trie.byte[i as usize + 1..past as usize];
        if any && plain && spelled.iter().all(|&b| is_plain(b) || b < b' ') {
            return Some(SuffixVisit::To(before));
        }
        let is_refused = plain && !any && n.sub == EscapeState::Plain && self.frames.begins_no_name(n, byte);
        is_refused.then_some(SuffixVisit::Refused)
    }

    /// Whether a further key of the object begins here that may not be any.
    #[inline]
    fn begins_key_of(&self, object: FrameId, at: FrameId) -> bool {
        let n = &self.frames.arena.nodes[at as usize];
        object != NONE
            && n.parent == object
            && n.kind == FrameKind::Object
            && n.phase == Phase::Key
            && !self.frames.takes_any_char(n)
    }

    /// [`live_below`](Self::live_below) just behind a closing bracket: what follows is the same for all members and
    /// elements of the container that was closed.
    fn live_below_closed(
        &mut self,
        node: u32,
        top: FrameId,
        bits: &mut SuffixSet,
        unresolved: &mut UnresolvedSuffixes,
    ) {
        let content = self.settled_content(top);
        let unchecked = self.frames.arena.unchecked;
        if let Some(a) = self.guide_memo.answer(node, false, unchecked, content.as_ref()) {
            unresolved.extend_from_slice(&a.unresolved);
            bits.iter_mut().zip(&a.bits).for_each(|(b, a)| *b |= a);
            return;
        }
        let mut found: SuffixSet = smallvec::smallvec![0; bits.len()];
        let mut left = UnresolvedSuffixes::new();
        // What follows is asked of the container below in the same way, down to some depth.
        let shared = self.depth < MAX_DEPTH && self.is_remembered(top);
        match self.tables.suffixes.alike.get(&node).filter(|_| shared) {
            Some(alike) => {
                self.depth += 1;
                let all = self.live_suffixes_or_unresolved(top);
                self.depth -= 1;
                add_alike(alike, &all, &mut found, &mut left);
            }
            None => self.live_below(node, top, NONE, &mut found, &mut left),
        }
        unresolved.extend_from_slice(&left);
        bits.iter_mut().zip(&found).for_each(|(b, f)| *b |= f);
        if let Some(content) = content {
            self.remember(ViableAnswer {
                below: node,
                unnamed: false,
                unchecked,
                content,
                bits: found,
                unresolved: left,
            });
        }
    }

    /// The content of a node, if all that it points to was there before the mask was made.
    fn settled_content(&self, at: FrameId) -> Option<FrameContent> {
        let arena = &*self.frames.arena;
        let mut node = arena.nodes[at as usize];
        let known = &self.guide_memo;
        if arena.unchecked {
            // What was read of the elements around it is not looked at.
            node.trace = u32::MAX;
        }
        let seen = if node.kind == FrameKind::Array { known.elements } else { known.seen };
        let apart = node.trace == u32::MAX && (node.kind == FrameKind::Object || node.key == u32::MAX);
        if !apart || node.parent >= known.nodes || (node.seen != u32::MAX && node.seen >= seen) {
            return None;
        }
        let program = self.frames.program;
        let items = node.start as usize..(node.start + node.len) as usize;
        node.start = 0;
        let mut content = FrameContent { node, objects: SmallVec::new(), arrays: SmallVec::new() };
        match node.kind {
            FrameKind::Object => {
                content.objects.extend_from_slice(&arena.objects[items]);
                let is_new = |i: &ObjectItem| {
                    let p = &program.objects[i.shape as usize];
                    (p.words > 0 && i.seen.max(i.need) >= known.bits)
                        || (p.union.is_some() && i.alternatives >= known.bits)
                };
                (!content.objects.iter().any(is_new)).then_some(content)
            }
            FrameKind::Array => {
                content.arrays.extend_from_slice(&arena.arrays[items]);
                let is_new =
                    |i: &ArrayItem| !program.arrays[i.shape as usize].contains.is_empty() && i.counts >= known.counts;
                (!content.arrays.iter().any(is_new)).then_some(content)
            }
            FrameKind::Done => Some(content),
            FrameKind::Root | FrameKind::Value | FrameKind::Scalar => None,
        }
    }
}
