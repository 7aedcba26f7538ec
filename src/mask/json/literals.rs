//! Masks inside literals of many alternatives, read side by side.
//!
//! The texts of a [`LiteralTrie`] are a trie, and so is the vocabulary. Both are walked together, once for all
//! alternatives: a node that both have allows the tokens that end there. Where a text ends, a quote closes the value by
//! the rules of that text. What a token spells beyond the quote is stepped through the frames, or looked up among the
//! viable suffixes where the quote is the token's first byte. Few tokens have a backslash at such a place; they are
//! followed byte by byte.

use crate::json::string_escape::EscapeState;
use crate::json::whitespace::Gap;
use crate::mask::json::mask_builder::{JsonMaskBuilder, MAX_DEPTH, WalkOver};
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::literal_trie::{LiteralNode, LiteralTrie};

/// Where a walk is among constants: the number of their set, the node and how far into an escape.
type At = (u32, u32, EscapeState);

impl JsonMaskBuilder<'_> {
    /// The constants of a value that begin right here, below a node of the tokens' trie.
    pub(crate) fn open_constants(&mut self, (walked, node): (TrieKind, u32), set: u32, parent: FrameId) {
        self.empty_stale_row();
        let over = WalkOver::Whole(walked);
        if let Some(child) = self.child(over, node, b'"') {
            self.emit(over, child);
            self.constants((walked, child), (set, 0, EscapeState::Plain), parent);
        }
    }

    /// What constants allow below a node of the tokens' trie; the value stands above `parent`.
    pub(crate) fn constants(&mut self, (walked, node): (TrieKind, u32), at: At, parent: FrameId) {
        self.empty_stale_row();
        let program = self.frames.program;
        let Some(set) = program.constants.get(at.0) else { return };
        if self.depth >= MAX_DEPTH {
            let mark = self.frames.arena.mark();
            let (seen, text, sub) = at;
            let scalar = Frame::new(parent, FrameKind::Scalar, Phase::Inside, Gap::Start);
            let top = self.frames.arena.push(Frame { seen, text, sub, ..scalar });
            self.one_by_one(WalkOver::Whole(walked), node, top);
            return self.frames.arena.truncate(&mark);
        }
        self.depth += 1;
        match at.2 {
            EscapeState::Plain => self.plain_constants((walked, node), (at.0, at.1), set, parent),
            EscapeState::Escape => {
                for byte in *b"\"/\\bfnrtu" {
                    if let Some(child) = self.child(WalkOver::Whole(walked), node, byte) {
                        self.constant_byte((walked, child), byte, at, set, parent);
                    }
                }
            }
            _ => {
                let trie = self.trie(WalkOver::Whole(walked));
                for child in trie.children(node) {
                    self.constant_byte((walked, child), trie.byte[child as usize], at, set, parent);
                }
            }
        }
        self.depth -= 1;
    }

    /// What literals allow below a node of the tokens' trie, outside of escapes.
    fn plain_constants(
        &mut self,
        (walked, node): (TrieKind, u32),
        (number, at): (u32, u32),
        set: &LiteralTrie,
        parent: FrameId,
    ) {
        let over = WalkOver::Whole(walked);
        let tokens = self.trie(over);
        let texts = &set.texts;
        // The nodes of the tokens' trie by depth below the place.
        let mut nodes: smallvec::SmallVec<[u32; 32]> = smallvec::smallvec![node];
        let mut text = at;
        while text < texts.end[at as usize] {
            let depth = usize::from(texts.depth[text as usize] - texts.depth[at as usize]);
            if depth > 0 {
                nodes.truncate(depth);
                let before = nodes.last().copied().unwrap_or(node);
                let byte = texts.byte[text as usize];
                let stands = byte >= b' ' && byte != b'"' && byte != b'\\';
                let child = if stands { self.child(over, before, byte) } else { None };
                let Some(child) = child else {
                    text = texts.end[text as usize];
                    continue;
                };
                self.emit(over, child);
                if tokens.end[child as usize] == child + 1 {
                    text = texts.end[text as usize];
                    continue;
                }
                nodes.push(child);
            }
            let here = nodes.last().copied().unwrap_or(node);
            for byte in *b"\"\\" {
                if let Some(child) = self.child(over, here, byte) {
                    self.constant_byte((walked, child), byte, (number, text, EscapeState::Plain), set, parent);
                }
            }
            text += 1;
        }
    }

    /// The tokens from `child` on, to which `byte` leads.
    fn constant_byte(
        &mut self,
        (walked, child): (TrieKind, u32),
        byte: u8,
        at: At,
        set: &LiteralTrie,
        parent: FrameId,
    ) {
        match set.step(at.1, at.2, byte) {
            LiteralNode::Dead => {}
            LiteralNode::At(text, sub) => {
                self.emit(WalkOver::Whole(walked), child);
                self.constants((walked, child), (at.0, text, sub), parent);
            }
            LiteralNode::Closed => self.close_constant((walked, child), set.texts.tokens(at.1), parent),
        }
    }

    /// The tokens that close the value above `parent`, by the rules `tags`, with the quote that led to `child`.
    fn close_constant(&mut self, (walked, child): (TrieKind, u32), tags: &[u32], parent: FrameId) {
        let over = WalkOver::Whole(walked);
        let tables = self.tables;
        let begins = walked == TrieKind::Tokens && self.trie(over).depth[child as usize] == 1;
        if let (true, &[tag], Some(closing)) = (begins, tags, &tables.suffixes.closing)
            && self.cross_known(closing, None, 0, (parent, tag)).is_some()
        {
            // Elements that must differ have no constants side by side, so no suffix is left open.
            return;
        }
        let mark = self.frames.arena.mark();
        let after = self.frames.finish_by(parent, tags);
        if after != NONE {
            self.emit(over, child);
            self.visit(over, child, after);
        }
        self.frames.arena.truncate(&mark);
    }
}
