//! The cache key of a mask: everything of a configuration that one token can see, as bytes.
//!
//! A configuration is a stack of frames, and its mask may depend on all of them, since a token of closing brackets can
//! see them all. What lies below the top changes rarely. So a cache key holds the top frame's own content and one
//! number for the stack below, which the index gave to that stack's own description. Unnamed keys of an object are a
//! chain of numbers in the same way. A guide holds the numbers of the frames on which it stands ([`StackIds`]) as long
//! as it does not go back.
//!
//! Registers that no token can tell apart are written alike: lengths of strings far from their bounds, counts of arrays
//! and objects that no bound, position or `contains` looks at any more, lexeme states that share masks, keys of objects
//! (see `visible_keys`), and shapes of objects (see `object_class`).

use crate::expr::INF;
use crate::lexeme::StateId;
use crate::mask::json::cache_key::visible_keys::{KeyEncoder, UnnamedKeys};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase, ScalarItem, Seen};
use crate::pushdown::json::literal_trie::sub_words;
use crate::pushdown::json::program::Program;

/// Bytes of a key without a name, beyond which nothing is remembered.
const KEY_BYTES: u32 = 512;
/// Keys of one object that are given numbers at once.
const KEYS: usize = 1_024;

/// The number of a stack that no token can tell.
const HIDDEN: u64 = u64::MAX;

/// The numbers of stacks and chains of keys that a guide stands on.
#[derive(Clone, Default)]
pub struct StackIds {
    /// A stack from the bottom up: each node's parent is the node before it, but for the first.
    nodes: Vec<(FrameId, u64)>,
    /// Entries of [`Arena::seen`], ascending.
    seen: Vec<(u32, u64)>,
    /// What can be told of each of the entries in `seen`.
    told: Vec<UnnamedKeys>,
}

impl StackIds {
    /// Forgets everything: the guide goes back.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.seen.clear();
        self.told.clear();
    }
}

/// Gives numbers to the descriptions of stacks.
pub trait StackInterner {
    /// The number of a description. No other description gets it; an equal one mostly gets it again.
    fn number(&self, content: &[u8]) -> u64;
}

fn word(out: &mut Vec<u8>, w: u32) {
    out.extend_from_slice(&w.to_le_bytes());
}

/// Several words at once: one look at the room that is left.
#[inline]
fn words<const N: usize>(out: &mut Vec<u8>, words: [u32; N]) {
    out.extend_from_slice(words.map(u32::to_le_bytes).as_flattened());
}

fn wide(out: &mut Vec<u8>, w: u64) {
    out.extend_from_slice(&w.to_le_bytes());
}

/// Writes what the mask of `top` depends on to `out`. False if it holds more than is worth describing. Not for stacks
/// with arrays of unique elements.
pub fn describe(
    (encoder, arena): (KeyEncoder<'_>, &Arena),
    top: FrameId,
    numbers: &impl StackInterner,
    levels: &mut StackIds,
    out: &mut Vec<u8>,
) -> bool {
    let Some(n) = arena.nodes.get(top as usize) else { return false };
    let hidden = encoder.hides_stack(n).then_some(HIDDEN);
    let Some(below) = hidden.or_else(|| stack((encoder, arena), n.parent, numbers, levels, out)) else { return false };
    content((encoder, arena), n, below, numbers, levels, out)
}

/// The number of the stack whose top is `at`.
fn stack(
    (encoder, arena): (KeyEncoder<'_>, &Arena),
    at: FrameId,
    numbers: &impl StackInterner,
    levels: &mut StackIds,
    scratch: &mut Vec<u8>,
) -> Option<u64> {
    if at == NONE {
        return Some(0);
    }
    if let Ok(i) = levels.nodes.binary_search_by_key(&at, |l| l.0) {
        return Some(levels.nodes[i].1);
    }
    // The nodes from the top down to the first that has a number.
    let mut unknown: smallvec::SmallVec<[FrameId; 16]> = smallvec::SmallVec::new();
    let mut node = at;
    let (mut below, mut kept) = (0, 0);
    while node != NONE {
        // Numbers ascend with the stack, and a parent stands before its children.
        if let Ok(i) = levels.nodes.binary_search_by_key(&node, |l| l.0) {
            (below, kept) = (levels.nodes[i].1, i + 1);
            break;
        }
        unknown.push(node);
        node = arena.nodes[node as usize].parent;
    }
    levels.nodes.truncate(kept);
    for &node in unknown.iter().rev() {
        if !content((encoder, arena), &arena.nodes[node as usize], below, numbers, levels, scratch) {
            return None;
        }
        below = numbers.number(scratch);
        levels.nodes.push((node, below));
    }
    Some(below)
}

/// The number of a chain of keys without a name.
fn keys(arena: &Arena, last: u32, numbers: &impl StackInterner, levels: &mut StackIds) -> Option<u64> {
    if last == u32::MAX {
        return Some(0);
    }
    // Chains of objects that are closed come after those of the objects that are open.
    while levels.seen.last().is_some_and(|s| s.0 > last) {
        levels.seen.pop();
    }
    let mut unknown: smallvec::SmallVec<[(u32, Seen); 8]> = smallvec::SmallVec::new();
    let mut before = 0;
    let mut s = last;
    while let Some(&seen) = arena.seen.get(s as usize) {
        if let Ok(i) = levels.seen.binary_search_by_key(&s, |l| l.0) {
            before = levels.seen[i].1;
            break;
        }
        if seen.len > KEY_BYTES || unknown.len() == KEYS {
            return None;
        }
        unknown.push((s, seen));
        s = seen.before;
    }
    let mut out = Vec::new();
    for &(s, seen) in unknown.iter().rev() {
        out.clear();
        // No node begins like that.
        word(&mut out, u32::MAX);
        wide(&mut out, before);
        if !text(arena, seen.key, &mut out) {
            return None;
        }
        before = numbers.number(&out);
        while levels.seen.last().is_some_and(|l| l.0 >= s) {
            levels.seen.pop();
        }
        levels.seen.push((s, before));
    }
    Some(before)
}

/// Writes the bytes of a key, last first. False if there are too many.
fn text(arena: &Arena, last: u32, out: &mut Vec<u8>) -> bool {
    let mut k = last;
    let mut left = KEY_BYTES;
    while let Some(byte) = arena.keys.get(k as usize) {
        if left == 0 {
            return false;
        }
        left -= 1;
        out.push(byte.byte);
        k = byte.before;
    }
    true
}

/// Writes a node's own content on the stack `below`; overwrites `out`.
fn content(
    (encoder, arena): (KeyEncoder<'_>, &Arena),
    n: &Frame,
    below: u64,
    numbers: &impl StackInterner,
    levels: &mut StackIds,
    out: &mut Vec<u8>,
) -> bool {
    // Elements that must differ, and what is open of one.
    if n.trace != u32::MAX || (n.kind == FrameKind::Array && (n.seen != u32::MAX || n.key != u32::MAX)) {
        return false;
    }
    let program = encoder.program;
    out.clear();
    let kind = n.kind as u32 | (n.phase as u32) << 8 | u32::from(n.gap) << 16;
    words(out, [kind, below as u32, (below >> 32) as u32, u32::from(n.blank), n.len]);
    let items = n.start as usize..(n.start + n.len) as usize;
    match n.kind {
        FrameKind::Root | FrameKind::Done => {}
        FrameKind::Value => arena.rules[items].iter().for_each(|r| word(out, r.0)),
        FrameKind::Scalar => {
            let items = &arena.scalars[items];
            let met = items.iter().all(|s| program.lexemes[s.lexeme as usize].length_met(n.count));
            word(out, if met { u32::MAX } else { n.count });
            for s in items {
                words(out, [s.tag, s.lexeme, state_alike(program, s, n.count)]);
            }
            words(out, [n.seen, n.text]);
            words(out, sub_words(n.sub));
        }
        FrameKind::Array => {
            let items = &arena.arrays[items];
            let met = items.iter().all(|i| {
                let shape = &program.arrays[i.shape as usize];
                let fixed = shape.min.max(shape.prefix.len() as u64);
                shape.max == u64::MAX && shape.contains.is_empty() && u64::from(n.count) >= fixed
            });
            word(out, if met { u32::MAX } else { n.count });
            for i in items {
                words(out, [i.tag, i.shape, i.child, i.matches]);
                let width = program.arrays[i.shape as usize].contains.len();
                arena.counts[i.counts as usize..][..width].iter().for_each(|&c| word(out, c));
            }
        }
        FrameKind::Object => {
            let items = &arena.objects[items];
            let met = items.iter().all(|i| {
                let shape = &program.objects[i.shape as usize];
                shape.max == u64::MAX && shape.witnesses == 0 && u64::from(n.count) >= shape.min
            });
            word(out, if met { u32::MAX } else { n.count });
            let mut unknown = true;
            for i in items {
                words(out, [i.tag, i.child]);
                unknown &= encoder.shapeless_item(arena, n, i, out).unwrap_or_else(|| {
                    word(out, i.shape);
                    encoder.item(arena, n, i, out)
                });
            }
            let hidden = encoder.hides_seen(arena, n, &mut levels.told);
            let seen = if hidden { Some(0) } else { keys(arena, n.seen, numbers, levels) };
            let Some(seen) = seen else { return false };
            wide(out, seen);
            if n.phase == Phase::Key {
                // What was read of the key.
                word(out, n.text);
                if hidden && unknown && encoder.hides_text(arena, n) {
                    return true;
                }
                words(out, sub_words(n.sub));
                return text(arena, n.key, out);
            }
        }
    }
    true
}

/// A state whose masks are those of this one.
fn state_alike(program: &Program, s: &ScalarItem, count: u32) -> StateId {
    let l = &program.lexemes[s.lexeme as usize];
    // Where a bound is within a token's reach, lengths that differ tell states apart.
    if l.room_and_need(count) != (INF, 0) {
        return s.state;
    }
    // A number may end before the next byte, which its mask state need not tell.
    let alike = l.mask_state(s.state);
    if l.state(alike).accepting == l.state(s.state).accepting { alike } else { s.state }
}
