//! Unnamed keys that an object has already, inside its next key.
//!
//! The row of a class of keys knows nothing of the object. `mask::json::key` takes back the tokens that complete a key
//! which the object has. Where a class is finite, a token may also spell a prefix of which all keys are used up, and
//! then nothing is left to go on with; those tokens are taken back here.

use crate::json::string_escape::spells_itself;
use crate::mask::json::mask_builder::{JsonMaskBuilder, WalkOver};
use crate::mask::row_patch::patch;
use crate::pushdown::json::frame::{FrameId, NONE};

impl JsonMaskBuilder<'_> {
    /// What the seen keys without a name that begin like the current key go on with.
    pub(crate) fn seen_rests(&self, top: FrameId) -> Vec<Vec<u8>> {
        let n = self.frames.arena.nodes[top as usize];
        if n.seen == u32::MAX {
            return Vec::new();
        }
        let prefix = self.frames.key_bytes(n.key);
        let mut out = Vec::new();
        let mut s = n.seen;
        while s != u32::MAX {
            let seen = self.frames.arena.seen[s as usize];
            let text = self.frames.key_bytes(seen.key);
            if let Some(rest) = text.strip_prefix(prefix.as_slice()) {
                out.push(rest.to_vec());
            }
            s = seen.before;
        }
        out
    }

    /// Takes back and steps exactly the tokens that spell beginnings of keys that the object has: `rests` are those
    /// that begin like the current key, from there on. Nothing is done where each beginning has a key that is left.
    pub(crate) fn beginnings_of_seen(&mut self, over: WalkOver<'_>, node: u32, top: FrameId, rests: &[Vec<u8>]) {
        let n = self.frames.arena.nodes[top as usize];
        if rests.iter().any(|rest| self.frames.runs_out(&n, rest)) {
            let rests: Vec<&[u8]> = rests.iter().map(Vec::as_slice).collect();
            self.beginnings_below(over, node, top, &rests, &mut Vec::new());
        }
    }

    /// [`beginnings_of_seen`](Self::beginnings_of_seen) below a node: `path` below `top`.
    fn beginnings_below(&mut self, over: WalkOver<'_>, node: u32, top: FrameId, rests: &[&[u8]], path: &mut Vec<u8>) {
        let mut next: Vec<u8> = rests.iter().filter_map(|rest| rest.first().copied()).collect();
        next.sort_unstable();
        next.dedup();
        // Whatever is spelled by escapes from here on.
        if !next.is_empty()
            && let Some(child) = self.child(over, node, b'\\')
        {
            let all = self.trie(over).subtree_tokens(child).to_vec();
            self.step_exactly((over, child), top, path, b'\\', all, true);
        }
        for byte in next.into_iter().filter(|&byte| spells_itself(byte)) {
            let Some(child) = self.child(over, node, byte) else { continue };
            let here = self.trie(over).tokens(child).to_vec();
            self.step_exactly((over, child), top, path, byte, here, false);
            let below: Vec<&[u8]> = rests.iter().filter_map(|rest| rest.strip_prefix(&[byte])).collect();
            path.push(byte);
            self.beginnings_below(over, child, top, &below, path);
            path.pop();
        }
    }

    /// Takes back `tokens`, which end at a node or, `below` it, in its subtree, and allows those that can be stepped.
    fn step_exactly(
        &mut self,
        (over, node): (WalkOver<'_>, u32),
        top: FrameId,
        path: &mut Vec<u8>,
        byte: u8,
        tokens: Vec<u32>,
        below: bool,
    ) {
        if tokens.is_empty() {
            return;
        }
        self.forbid(patch(tokens), false);
        let mark = self.frames.arena.mark();
        path.push(byte);
        let next = self.step_all(top, path);
        path.pop();
        if next != NONE {
            self.emit(over, node);
            if below {
                self.visit(over, node, next);
            }
        }
        self.frames.arena.truncate(&mark);
    }
}
