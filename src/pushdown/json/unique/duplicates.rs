//! Duplicate risk: what an open element would have to go on with to repeat one that its array has.
//!
//! A byte inside an array of unique elements is refused only where everything that it can lead to is an element that
//! the array has. So it matters only while what was read of the open element is a prefix, in any spelling and with
//! members in any order, of some element. Most elements differ from all others within a few bytes, and then nothing in
//! them is refused until they end. Here the text so far is read beside the canonical texts of the elements. Where it
//! ends inside a string or key, what is left of that string is all that can lead to a repetition.

use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::json::string_escape::EscapeState;
use crate::lexeme::{CLOSED, DEAD_STATE, LexemeKind};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, Phase, ScalarItem};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::agreement::{RepeatRests, agrees, may_become_raw, string};
use crate::pushdown::json::unique::elements::ArrayElement;

/// What comes behind so many bytes of an element is not compared.
const MAX_TEXT: usize = 1 << 12;

/// How the bytes after a configuration may lead to a repetition.
#[derive(Clone, Debug)]
pub struct DuplicateRisk {
    /// What the string or key has to become that is open, or that may begin here: decoded texts, ascending. Of them
    /// those in `range`, which agree on the first `read` bytes; so much was read.
    pub texts: Arc<Vec<Box<[u8]>>>,
    /// See [`texts`](Self::texts).
    pub range: Range<usize>,
    /// See [`texts`](Self::texts).
    pub read: usize,
    /// How far what was read is into an escape, or that the opening quote is still to come.
    pub sub: EscapeState,
    /// A number or word may repeat one.
    pub raw: bool,
    /// Whether there are ways that were not looked for.
    pub unknown: bool,
    /// The arrays that have such elements.
    pub arrays: SmallVec<[FrameId; 2]>,
    /// A lexeme that accepts all of the texts, where that is known.
    pub lexeme: Option<u32>,
}

impl Default for DuplicateRisk {
    fn default() -> Self {
        DuplicateRisk {
            texts: Arc::default(),
            range: 0..0,
            read: 0,
            sub: EscapeState::Plain,
            raw: false,
            unknown: false,
            arrays: SmallVec::new(),
            lexeme: None,
        }
    }
}

/// What a scalar of an element would have to become so that the element repeats another one.
#[derive(Clone, Debug, Default)]
pub struct ScalarRests {
    /// A string: what it would go on with, decoded.
    pub texts: Vec<Box<[u8]>>,
    /// A number or word: the canonical texts of all it would be.
    pub numbers: Vec<Box<[u8]>>,
    /// What was read of the number or word, if any of these agrees with it.
    pub begun: Box<[u8]>,
}

impl ScalarRests {
    /// Whether a string that goes on with `text` may still become one of these.
    pub fn may_become_text(&self, text: &[u8]) -> bool {
        self.texts.iter().any(|rest| rest.starts_with(text))
    }

    /// Whether a number or word of which `read` was read may still become one of these.
    pub fn may_become_raw(&self, read: &[u8]) -> bool {
        self.numbers.iter().any(|own| may_become_raw(read, own))
    }
}

/// The strings among the elements of an array, ascending, for who asks again and again. It holds as long as its owner
/// does not go back to before one of them.
#[derive(Clone)]
pub struct Sorted {
    /// The array's last element, as [`Frame::seen`](crate::pushdown::json::frame::Frame::seen).
    last: u32,
    texts: Arc<Vec<Box<[u8]>>>,
    /// Some element is a number or word.
    raw: bool,
    /// A lexeme that accepts all of the texts.
    lexeme: Option<u32>,
}

impl Sorted {
    /// Whether all elements that were looked at are among the first `len`.
    pub fn is_among(&self, len: u32) -> bool {
        self.last < len
    }
}

impl JsonMachine<'_> {
    /// See [`exceptions`](Self::exceptions).
    pub(super) fn repeats(
        &mut self,
        top: FrameId,
        keep: bool,
        settled: u32,
        sorted: &mut Option<Sorted>,
    ) -> DuplicateRisk {
        let mut arrays: SmallVec<[FrameId; 2]> = SmallVec::new();
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            let open =
                n.kind == FrameKind::Array && n.phase == Phase::Inside && n.key != u32::MAX && n.seen != u32::MAX;
            if open && !self.arena.unique.known_distinct.has(at) {
                arrays.push(at);
            }
            at = n.parent;
        }
        let node = self.arena.nodes[top as usize];
        if let [array] = *arrays
            && array == node.parent
            && (keep || self.arena.nodes[array as usize].seen < settled)
            && let Some(found) = self.repeats_of_strings(top, array, sorted)
        {
            // Before it begins, an element may still become anything.
            if keep && found.range.is_empty() && found.sub != EscapeState::Open {
                self.arena.unique.known_distinct.note(array, top);
            }
            return found;
        }
        let mut out = RepeatRests::default();
        // What was read of an element ends like what was read of the ones around it, so it is collected once.
        let key = |array: FrameId, arena: &Arena| arena.nodes[array as usize].key;
        let outermost = arrays.last().map_or(u32::MAX, |a| key(*a, self.arena));
        let keys: SmallVec<[u32; 2]> = arrays.iter().map(|a| key(*a, self.arena)).collect();
        let (read, lens) = self.arena.bytes_since_each(node.trace, outermost, &keys);
        let mut lens = lens.into_iter();
        let mut differ: SmallVec<[FrameId; 2]> = SmallVec::new();
        arrays.retain(|array| {
            let own = &read[read.len() - lens.next().unwrap_or(0)..];
            let any = self.repeats_of(top, *array, own, &mut out) > 0;
            if !any && keep {
                differ.push(*array);
            }
            any
        });
        // Outer ones were opened first, so each comes behind those that are known.
        differ.into_iter().rev().for_each(|array| self.arena.unique.known_distinct.note(array, top));
        out.texts.sort_unstable();
        out.texts.dedup();
        let range = 0..out.texts.len();
        let sub = out.sub.unwrap_or(EscapeState::Plain);
        let (raw, unknown) = (out.raw, out.unknown);
        DuplicateRisk { texts: Arc::new(out.texts), range, read: 0, sub, raw, unknown, arrays, lexeme: None }
    }

    /// How the bytes after `top` may lead to an element that its array has, for a string that is an element itself, or
    /// may begin as one. `None` for other elements.
    fn repeats_of_strings(&self, top: FrameId, array: FrameId, sorted: &mut Option<Sorted>) -> Option<DuplicateRisk> {
        let node = &self.arena.nodes[array as usize];
        let read = self.arena.bytes_since(self.arena.nodes[top as usize].trace, node.key);
        let read = read.trim_ascii_start();
        let (text, sub) = match read.split_first() {
            None => (Cow::default(), EscapeState::Open),
            Some((b'"', after)) => {
                let (text, sub, after) = string(after);
                if after.is_some() {
                    return None;
                }
                (text, sub)
            }
            Some(_) => return None,
        };
        let lexeme = self.only_lexeme(top);
        let known = self.sorted(node.seen, lexeme, sorted);
        let next = |t: &[u8]| t[..t.len().min(text.len())].cmp(&text);
        let from = known.texts.partition_point(|t| next(t).is_lt());
        let len = known.texts[from..].partition_point(|t| next(t).is_eq());
        Some(DuplicateRisk {
            texts: known.texts.clone(),
            range: from..from + len,
            read: text.len(),
            sub,
            raw: known.raw && sub == EscapeState::Open,
            unknown: false,
            arrays: smallvec::smallvec![array],
            lexeme: known.lexeme,
        })
    }

    /// The lexeme of a string that is open or may begin, if there is only one.
    fn only_lexeme(&self, top: FrameId) -> Option<u32> {
        let node = &self.arena.nodes[top as usize];
        let items = node.start as usize..(node.start + node.len) as usize;
        let mut texts: SmallVec<[u32; 4]> = SmallVec::new();
        match node.kind {
            FrameKind::Scalar => texts.extend(self.arena.scalars[items].iter().map(|i| i.lexeme)),
            FrameKind::Value => {
                let rules = self.arena.rules[items].iter();
                texts.extend(rules.flat_map(|r| self.program.rules[r.0 as usize].lexemes.iter().copied()));
            }
            _ => {}
        }
        texts.retain(|l| self.program.lexemes[*l as usize].kind() != LexemeKind::Raw);
        texts.dedup();
        if let [one] = *texts { Some(one) } else { None }
    }

    /// The strings among an array's elements.
    fn sorted<'s>(&self, seen: u32, lexeme: Option<u32>, sorted: &'s mut Option<Sorted>) -> &'s Sorted {
        let mut new: SmallVec<[u32; 4]> = SmallVec::new();
        let last = sorted.as_ref().map_or(u32::MAX, |s| s.last);
        let mut e = seen;
        while let Some(element) = self.arena.unique.elements.get(e).filter(|_| e != last) {
            new.push(e);
            e = element.before;
        }
        let known = sorted.get_or_insert_with(|| Sorted { last: u32::MAX, texts: Arc::default(), raw: false, lexeme });
        if e == u32::MAX && known.last != u32::MAX {
            // Another array.
            *known = Sorted { last: u32::MAX, texts: Arc::default(), raw: false, lexeme };
        }
        known.last = seen;
        if known.lexeme != lexeme {
            known.lexeme = None;
        }
        let texts = Arc::make_mut(&mut known.texts);
        for &e in new.iter().rev() {
            let Some(ArrayElement { value, .. }) = self.arena.unique.elements.get(e) else { continue };
            match value.strip_prefix(b"\"\"") {
                Some(rest) => {
                    let accepts = |l: u32| {
                        let l = &self.program.lexemes[l as usize];
                        let quoted = &value[1..];
                        quoted.iter().fold(l.start(), |s, &b| if s > CLOSED { l.next(s, b) } else { DEAD_STATE })
                            == CLOSED
                    };
                    known.lexeme = known.lexeme.filter(|l| accepts(*l));
                    let text: Box<[u8]> = string(rest).0.into();
                    if let Err(at) = texts.binary_search(&text) {
                        texts.insert(at, text);
                    }
                }
                None => known.raw |= !value.starts_with(b"[") && !value.starts_with(b"{"),
            }
        }
        known
    }

    /// How many elements of the array on the node `array` the one that is open at `top` may become, at most.
    pub(crate) fn may_repeat(&mut self, top: FrameId, array: FrameId) -> u64 {
        let read = self.arena.bytes_since(self.arena.nodes[top as usize].trace, self.arena.nodes[array as usize].key);
        self.repeats_of(top, array, &read, &mut RepeatRests::default())
    }

    /// How many elements of the array on the node `array` an element of which `read` was read may become, at most. What
    /// may come next is added to `out`.
    fn repeats_of(&mut self, top: FrameId, array: FrameId, read: &[u8], out: &mut RepeatRests) -> u64 {
        let array = self.arena.nodes[array as usize];
        let trace = self.arena.nodes[top as usize].trace;
        // What differs in the beginning of a long text differs; what else comes of it is not looked for.
        let is_long = read.len() > MAX_TEXT;
        let (read, mut unsaid) = (&read[..read.len().min(MAX_TEXT)], RepeatRests::default());
        let noted = if is_long { &mut unsaid } else { &mut *out };
        noted.begin();
        let read = read.trim_ascii_start();
        let plain = read.first() == Some(&b'"') && !read.contains(&b'\\');
        let mut candidates = self.arena.candidates(&array, trace);
        let asked = candidates.len();
        candidates
            .retain(|e| self.arena.unique.elements.get(*e).is_some_and(|e| agrees((read, plain), &e.value, noted)));
        let repeats = candidates.len() as u64;
        out.unknown |= is_long && repeats > 0;
        self.arena.unique.candidates.note(trace, array.seen, asked, candidates);
        repeats
    }
}

impl Arena {
    /// What the scalar or key that is open at `top`, or the value that begins there, would have to become so that the
    /// element that is open in the array on the node `array` ends as one that the array has, or as one of `others`,
    /// which are canonical. False where that is not known.
    pub fn find_rests(&self, (top, array): (FrameId, FrameId), others: &[&[u8]], rests: &mut ScalarRests) -> bool {
        let (trace, node) = (self.nodes[top as usize].trace, &self.nodes[array as usize]);
        let read = self.bytes_since(trace, node.key);
        let read = read.trim_ascii_start();
        let plain = read.first() == Some(&b'"') && !read.contains(&b'\\');
        let mut found = RepeatRests::default();
        found.numbers = Some(Vec::new());
        let known = if self.unique.is_distinct(array) { Vec::new() } else { self.candidates(node, trace) };
        let known = known.iter().filter_map(|e| self.unique.elements.get(*e)).map(|element| &*element.value);
        for value in known.chain(others.iter().copied()) {
            agrees((read, plain), value, &mut found);
        }
        let is_begun = self.nodes[top as usize].kind != FrameKind::Value;
        let sub = if is_begun { EscapeState::Plain } else { EscapeState::Open };
        rests.texts.append(&mut found.texts);
        rests.numbers.extend(found.numbers.into_iter().flatten());
        if !found.begun.is_empty() {
            rests.begun = found.begun;
        }
        read.len() <= MAX_TEXT && !found.unknown && found.sub.is_none_or(|found| found == sub)
    }

    /// The elements of an array of unique elements that may agree with an open one, of which the bytes from just after
    /// `array.key` to `trace` were read, ascending.
    fn candidates(&self, array: &Frame, trace: u32) -> Vec<u32> {
        match self.unique.candidates.find(self.back_to(array.key, trace), array.seen) {
            Some(known) => known.to_vec(),
            None => self.unique.elements.up_to(array.seen),
        }
    }
}

impl JsonMachine<'_> {
    /// Whether uniqueness may refuse the byte that leads from `from` to `to`, stepped behind an element that is not
    /// known ([`Arena::unchecked`](crate::pushdown::json::arena::Arena)): elements that were open before are on nodes
    /// below `settled`, and whether they are repeated is another question ([`repeats`](Self::repeats)). Conservative.
    pub fn is_uncertain(&self, from: FrameId, to: FrameId, settled: FrameId) -> bool {
        let (before, node) = (&self.arena.nodes[from as usize], &self.arena.nodes[to as usize]);
        let Some(parent) = self.arena.nodes.get(node.parent as usize) else { return false };
        let items = node.start as usize..(node.start + node.len) as usize;
        let inside = parent.kind == FrameKind::Array && parent.key != u32::MAX && self.is_unchecked(parent);
        let count = u64::from(parent.count);
        let uncertain = match node.kind {
            FrameKind::Value => inside && self.arena.rules[items].iter().any(|r| self.program.variety(*r) <= count),
            FrameKind::Scalar => {
                let few = |i: &ScalarItem| {
                    let raw = self.program.lexemes[i.lexeme as usize].kind() == LexemeKind::Raw;
                    raw || !self.program.has_many_endings(i.lexeme, i.state, node.count, parent.count, false)
                };
                inside && self.arena.scalars[items].iter().any(few)
            }
            FrameKind::Array if node.phase == Phase::After => {
                let blank =
                    before.kind == FrameKind::Array && before.phase == Phase::After && before.parent == node.parent;
                !blank && before.parent >= settled && self.any_unique(node) && self.is_unchecked(node)
            }
            _ => false,
        };
        uncertain || self.is_watched_since(to, settled, true)
    }

    /// Whether some array on the stack, on a node from `settled` on, watches the element that is open at `top`; with
    /// `asked`, only one whose element may not be able to differ any more.
    pub fn is_watched_since(&self, top: FrameId, settled: FrameId, asked: bool) -> bool {
        if !self.program.has_watched {
            return false;
        }
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize).filter(|_| at >= settled) {
            let open = n.kind == FrameKind::Array && n.phase == Phase::Inside && n.key != u32::MAX && n.count > 0;
            if open && !n.spelled && !self.arena.unique.known_distinct.has(at) {
                let items = &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
                let watched = items.iter().any(|i| self.program.arrays[i.shape as usize].watched);
                if watched && !(asked && at != top && self.exceeds(at, self.variety(top, at))) {
                    return true;
                }
            }
            at = n.parent;
        }
        false
    }
}
