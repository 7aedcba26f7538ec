//! The part of an element that may make it differ: a scalar or key in which the guide is, or a value that begins there.
//!
//! Where elements of an array must differ, text matters. But a text, number or key that no other element has at its
//! place, however it goes on, makes the element differ from all others, and then it matters no more what exactly it is.
//! Here the other elements are read beside this one, and what they have at its place is collected.
//!
//! Completions write further elements behind this one, the first of the
//! [distinct elements](crate::pushdown::completion::distinct_elements) that the array does not have. What becomes none
//! of these changes nothing of that, so they count as others.

use crate::guide::budget::affordable::AffordableTokens;
use crate::json::string_escape::EscapeState;
use crate::lexeme::LexemeKind;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::unique::ScalarRests;
use std::sync::Arc;

/// A scalar or key of an element that must differ from others, in which the guide is, or a value in front of which it
/// is.
pub(super) struct DifferentPart {
    /// The node that it is in, and that of the innermost array whose elements must differ.
    parent: FrameId,
    array: FrameId,
    /// The last byte that was read.
    trace: u32,
    /// The keys that an object has whose key this is.
    seen: u32,
    /// What it is; `None` in front of a value.
    begun: Option<Begun>,
    /// What makes the element one that its array has, or one that completions write behind it.
    others: Arc<ScalarRests>,
    /// Which elements are written behind this one depends on what it becomes.
    matters: bool,
}

impl DifferentPart {
    /// Whether the guide is in a number or word.
    pub fn is_number(&self) -> bool {
        self.begun == Some(Begun::Raw)
    }

    /// What the string has to become in which the guide is to make the element one of the others; `None` elsewhere.
    pub fn others_of_text(&self) -> Option<Arc<ScalarRests>> {
        (self.begun == Some(Begun::Text)).then(|| self.others.clone())
    }

    /// Whether what is written behind an element in a node depends on what it becomes; `None` in other nodes.
    pub fn matters_in(&self, node: FrameId) -> Option<bool> {
        (self.parent == node).then_some(self.matters)
    }
}

/// What is open where the guide is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// A string.
    Text,
    /// A number or word.
    Raw,
    Key,
}

impl<'a, U: Fn(u32) -> bool> AffordableTokens<'a, U> {
    /// Where the guide is in a scalar or key of an element that must differ from others, or in front of a value. `None`
    /// inside an escape, and where too much would have to be compared.
    pub(super) fn different_part(&mut self) -> Option<DifferentPart> {
        let top = self.top;
        let n = self.arena.nodes[top as usize];
        if !self.program.has_unique {
            return None;
        }
        let begun = match n.kind {
            FrameKind::Value => None,
            FrameKind::Scalar | FrameKind::Object if n.trace != u32::MAX => Some(self.kind_of(&n)?),
            _ => return None,
        };
        if matches!(begun, Some(Begun::Text | Begun::Key)) && self.is_in_escape(&n) {
            return None;
        }
        let (mut rests, mut matters, mut innermost) = (ScalarRests::default(), false, None);
        let mut at = n.parent;
        while let Some(&node) = self.arena.nodes.get(at as usize) {
            if node.kind == FrameKind::Array && self.frames().any_unique(&node) {
                innermost = innermost.or(Some(at));
                let written = self.written_behind(&node);
                matters |= written.is_none();
                if !self.arena.find_rests((top, at), &written.unwrap_or_default(), &mut rests) {
                    return None;
                }
            }
            at = node.parent;
        }
        rests.texts.sort_unstable();
        rests.texts.dedup();
        let (array, others) = (innermost?, Arc::new(rests));
        Some(DifferentPart { parent: n.parent, array, trace: n.trace, seen: n.seen, begun, others, matters })
    }

    /// The canonical texts of the elements that a completion writes behind the one that is open in an array of unique
    /// elements, whatever that one becomes; `None` where they depend on it.
    fn written_behind(&mut self, array: &Frame) -> Option<Vec<&'a [u8]>> {
        if !self.needs_more(array) {
            return Some(Vec::new());
        }
        let [item] = &self.arena.arrays[array.items()] else { return None };
        let (program, shape) = (self.program, item.shape as usize);
        let distinct = self.costs.distinct_elements(program, shape)?;
        // The first ones that the array does not have, and one more in case that the open one becomes one of these.
        let missing = (program.arrays[shape].min - u64::from(array.count)) as usize;
        let mut written: Vec<&[u8]> = Vec::new();
        for element in &distinct.elements {
            if written.len() > missing {
                break;
            }
            if !self.arena.unique.has(array.seen, &element.canonical) {
                written.push(&element.canonical);
            }
        }
        Some(written)
    }

    /// What is open on top; `None` where it is no one thing, or one of some constants.
    fn kind_of(&self, n: &Frame) -> Option<Begun> {
        match (n.kind, n.phase) {
            (FrameKind::Object, Phase::Key) => Some(Begun::Key),
            (FrameKind::Scalar, _) if n.seen == NO_SET => {
                let items = self.arena.scalars[n.items()].iter();
                let mut raw = items.map(|i| self.program.lexemes[i.lexeme as usize].kind() == LexemeKind::Raw);
                let first = raw.next()?;
                raw.all(|other| other == first).then_some(if first { Begun::Raw } else { Begun::Text })
            }
            _ => None,
        }
    }

    fn is_in_escape(&self, text: &Frame) -> bool {
        if text.kind == FrameKind::Object {
            return text.sub != EscapeState::Plain;
        }
        let mut items = self.arena.scalars[text.items()].iter();
        items.any(|i| !self.program.lexemes[i.lexeme as usize].state(i.state).is_plain())
    }

    /// Whether by what is open on top an element differs from all others, however that goes on; `None` where it is not
    /// what is open where the guide is.
    pub(super) fn differs(&self, n: &Frame) -> Option<bool> {
        let element = self.element.as_ref().filter(|element| element.parent == n.parent)?;
        let kind = self.kind_of(n)?;
        if kind == Begun::Key && (element.begun != Some(kind) || element.seen != n.seen) {
            return None;
        }
        let array = &self.arena.nodes[element.array as usize];
        let start = if element.trace == u32::MAX { array.key } else { element.trace };
        let read = self.arena.bytes_since(n.trace, start);
        let others = &element.others;
        let is_other = |text: &[u8]| !text.contains(&b'\\') && !others.may_become_text(text);
        Some(match (kind, element.begun) {
            (Begun::Text | Begun::Key, Some(_)) => is_other(&read),
            (Begun::Text | Begun::Key, None) => read.trim_ascii_start().strip_prefix(b"\"").is_some_and(is_other),
            (Begun::Raw, Some(_)) => !others.may_become_raw(&[&others.begun, &read[..]].concat()),
            (Begun::Raw, None) => !others.may_become_raw(read.trim_ascii_start()),
        })
    }

    /// Whether the element is still open in which the guide is.
    pub(super) fn is_still_open(&self, at: FrameId) -> bool {
        let nodes = &self.arena.nodes;
        let mut around = std::iter::successors(Some(at), |&at| nodes.get(at as usize).map(|n| n.parent));
        let array = self.element.as_ref().map_or(NONE, |element| element.array);
        array != NONE && around.any(|at| at == array)
    }
}
