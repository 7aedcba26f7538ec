//! JSON documents inside the output of a grammar.
//!
//! A document is read by the frames of its schema ([`JsonMachine`]), as a whole output of that schema would be. To the
//! parser it is one terminal. It may end wherever the document is complete.

use smallvec::SmallVec;

use crate::pushdown::grammar::machine::{Branches, Ended, GrammarMachine, place_of};
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_FRAME, NodeId, StackMark};
use crate::pushdown::grammar::scanner::ObligationsId;
use crate::pushdown::json::frame::{FrameId, FrameKind, Phase};
use crate::pushdown::json::machine::JsonMachine;

impl GrammarMachine<'_> {
    /// What steps the frames of a document.
    pub fn frames(&mut self, document: u32) -> Option<JsonMachine<'_>> {
        let program = &self.program.documents[document as usize];
        Some(JsonMachine { program, arena: self.stack.arena.as_deref_mut()? })
    }

    /// Begins the documents that may come behind tops with a byte.
    pub(super) fn begin_documents(
        &mut self,
        tops: Group,
        indents: NodeId,
        obligations: ObligationsId,
        byte: u8,
        out: &mut Branches,
    ) {
        let Some(obligations) = self.program.scanner.next_obligations(obligations, byte) else { return };
        let nodes: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(tops));
        let found = self.program.closure(self.stack, &nodes);
        let documents: SmallVec<[u32; 4]> =
            found.closure.next.iter().filter_map(|&symbol| self.program.productions.document(symbol)).collect();
        for document in documents {
            let Some(mut frames) = self.frames(document) else { continue };
            let start = frames.start();
            let frame = frames.step(start, byte);
            if frame != NO_FRAME {
                out.push(Branch { document, frame, ..Branch::scanning(tops, obligations, indents) });
            }
        }
    }

    /// Steps a branch inside a document.
    pub(super) fn step_document(&mut self, branch: &Branch, byte: u8, out: &mut Branches) {
        let Some(scan) = self.program.scanner.next_obligations(branch.scan, byte) else { return };
        let frame = self.step_frame(branch.document, branch.frame, byte);
        if frame != NO_FRAME {
            out.push(Branch { scan, frame, ..*branch });
        }
    }

    /// The frame behind a byte of a document, or [`NO_FRAME`].
    pub fn step_frame(&mut self, document: u32, frame: FrameId, byte: u8) -> FrameId {
        self.frames(document).map_or(NO_FRAME, |mut frames| frames.step(frame, byte))
    }

    /// Whether a document may end at a frame.
    pub fn may_end_at(&mut self, document: u32, frame: FrameId) -> bool {
        self.frames(document).is_some_and(|mut frames| frames.is_accepting(frame))
    }

    /// Whether a frame is inside a string, which only a quote ends.
    pub fn is_in_string(&mut self, document: u32, frame: FrameId) -> bool {
        let Some(frames) = self.frames(document) else { return false };
        let node = frames.arena.nodes[frame as usize];
        match node.kind {
            FrameKind::Scalar => !frames.is_raw(&node),
            FrameKind::Object => node.phase == Phase::Key,
            _ => false,
        }
    }

    /// How many brackets are open at a frame of a document, each of which a closing one ends; `most` for more as well.
    pub fn open_brackets(&mut self, document: u32, mut frame: FrameId, most: u8) -> u8 {
        let Some(frames) = self.frames(document) else { return 0 };
        let mut open = 0;
        while open < most {
            let node = frames.arena.nodes[frame as usize];
            match node.kind {
                FrameKind::Root | FrameKind::Done => break,
                FrameKind::Array | FrameKind::Object => open += 1,
                FrameKind::Value | FrameKind::Scalar => {}
            }
            frame = node.parent;
        }
        open
    }

    /// Ends the document of a branch, if it may end.
    pub(super) fn end_document(&mut self, branch: &Branch, ended: &mut SmallVec<[Ended; 2]>) {
        if !self.may_end_at(branch.document, branch.frame) {
            return;
        }
        let program = self.program;
        let tops: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = program.closure(self.stack, &tops);
        let at = place_of(ended, branch.scan, branch.indents);
        let symbol = program.productions.first_document + branch.document;
        found.shift(&program.lr, &program.productions, self.stack, symbol, &mut ended[at].shifted);
    }

    /// Keeps of the frames that a token made only what its end needs, where there is one branch.
    pub(super) fn compact(&mut self, branches: &mut Branches, mark: &StackMark) {
        if let [branch] = &mut branches[..]
            && branch.is_in_document()
            && let Some(arena) = &mut self.stack.arena
        {
            branch.frame = arena.compact(mark.arena(), branch.frame);
        }
    }
}
