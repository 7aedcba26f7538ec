//! Runs of bytes inside one string or key, stepped at once.
//!
//! Most bytes of a document stand inside strings and keys, where a step changes a lexeme's state, a count and a place
//! among names, and nothing else. A token's run of such bytes makes one frame instead of a frame per byte. The result
//! is what [`JsonMachine::step`] makes byte by byte, but for the frames in between, which nobody asks for.

use crate::json::string_escape::EscapeState;
use crate::lexeme::{CLOSED, LexemeKind};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase, ScalarItem};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;

impl JsonMachine<'_> {
    /// The configuration after the first of `bytes`, as many as stay inside the string or key at `top`, and how many
    /// these are. `None` if there are none, or it takes more to step them.
    pub fn step_inside(&mut self, top: FrameId, bytes: &[u8]) -> Option<(FrameId, usize)> {
        // The bytes of elements that must differ are recorded one by one.
        if self.program.has_unique {
            return None;
        }
        let node = self.arena.nodes[top as usize];
        match node.kind {
            FrameKind::Scalar if node.len == 1 && node.seen == NO_SET => self.step_inside_text(node, bytes),
            FrameKind::Object if node.phase == Phase::Key && node.sub == EscapeState::Plain => {
                self.step_inside_key(node, bytes)
            }
            _ => None,
        }
    }

    /// Steps the bytes that stay inside the string of a node with one item.
    pub(crate) fn step_inside_text(&mut self, node: Frame, bytes: &[u8]) -> Option<(FrameId, usize)> {
        let item = self.arena.scalars[node.start as usize];
        let l = &self.program.lexemes[item.lexeme as usize];
        if l.kind() == LexemeKind::Raw {
            return None;
        }
        let (mut state, mut count) = (item.state, node.count);
        let mut source = l.state(state);
        let mut read = 0;
        for &byte in bytes {
            let next = l.next_from(state, source, byte);
            if next <= CLOSED {
                break;
            }
            let n = count + l.starts_char(source, byte) as u32;
            source = l.state(next);
            if !l.live_at(source, n) {
                break;
            }
            (state, count) = (next, n);
            read += 1;
        }
        if read == 0 {
            return None;
        }
        let start = self.arena.scalars.len() as u32;
        self.arena.scalars.push(ScalarItem { state, ..item });
        Some((self.arena.push(Frame { start, count, ..node }), read))
    }

    fn step_inside_key(&mut self, node: Frame, bytes: &[u8]) -> Option<(FrameId, usize)> {
        let stays = |b: &u8| (b' '..0x7F).contains(b) && !matches!(b, b'"' | b'\\');
        let read = bytes.iter().take_while(|b| stays(b)).count();
        let run = &bytes[..read];
        let text = run.iter().fold(node.text, |text, &b| self.program.any_text.next(text, b));
        if read == 0 || text <= CLOSED {
            return None;
        }
        let to = self.read_in_key(node, run, Frame { text, ..node });
        (to != NONE).then_some((to, read))
    }
}
