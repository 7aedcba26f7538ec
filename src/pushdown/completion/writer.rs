//! The byte writer: steps bytes that a configuration accepts, and goes back where none leads on.
//!
//! Whoever looks for a document of some kind, a short one or a likely one, tries bytes here. The frames on the way are
//! given back in the end.

use crate::pushdown::json::arena::ArenaMark;
use crate::pushdown::json::frame::{Frame, FrameId, NONE};
use crate::pushdown::json::machine::JsonMachine;

/// A document in the making.
pub(crate) struct ByteWriter<'a, 'f> {
    pub frames: &'a mut JsonMachine<'f>,
    /// Where what was written leads.
    pub top: FrameId,
    out: Vec<u8>,
    before: (ArenaMark, u32),
}

/// A place to go back to.
#[derive(Clone, Copy)]
pub(crate) struct WriterMark(FrameId, usize);

impl<'a, 'f> ByteWriter<'a, 'f> {
    /// Begins where `from` says.
    pub fn new(frames: &'a mut JsonMachine<'f>, from: impl FnOnce(&mut JsonMachine<'f>) -> FrameId) -> Self {
        let before = (frames.arena.mark(), frames.arena.trace);
        let top = from(frames);
        ByteWriter { frames, top, out: Vec::new(), before }
    }

    /// What was written. The arena is as it was.
    pub fn lift(self) -> Vec<u8> {
        let (mark, trace) = self.before;
        self.frames.arena.truncate(&mark);
        self.frames.arena.trace = trace;
        self.out
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// The node on top.
    pub fn node(&self) -> Frame {
        self.frames.arena.nodes[self.top as usize]
    }

    /// Where the pen is.
    pub fn place(&self) -> WriterMark {
        WriterMark(self.top, self.out.len())
    }

    /// Takes back what was written since.
    pub fn back(&mut self, WriterMark(top, len): WriterMark) {
        self.top = top;
        self.out.truncate(len);
    }

    /// Writes a byte, if it is accepted.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        let next = self.frames.step(self.top, byte);
        self.go(next)?;
        self.out.push(byte);
        Some(())
    }

    /// Whether a byte is accepted; nothing is written.
    pub fn accepts(&mut self, byte: u8) -> bool {
        let (mark, trace) = (self.frames.arena.mark(), self.frames.arena.trace);
        let next = self.frames.step(self.top, byte);
        self.frames.arena.truncate(&mark);
        self.frames.arena.trace = trace;
        next != NONE
    }

    /// Does all of `work` or nothing. What was stepped for nothing is given back at once: among thousands of elements
    /// that must differ, most of what is tried is refused. `work` only steps.
    pub fn try_all(&mut self, work: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let (place, mark, trace) = (self.place(), self.frames.arena.mark(), self.frames.arena.trace);
        let done = work(self);
        if done.is_none() {
            self.back(place);
            self.frames.arena.truncate(&mark);
            self.frames.arena.trace = trace;
        }
        done
    }

    /// Writes all of `bytes` or nothing.
    pub fn take_all(&mut self, bytes: &[u8]) -> Option<()> {
        self.try_all(|pen| bytes.iter().try_for_each(|&b| pen.take(b)))
    }

    /// Writes a text behind the quote that opened it, and the quote that closes it, or nothing.
    pub fn take_text(&mut self, text: &str) -> Option<()> {
        self.take_all(spelled(text).get(1..)?)
    }

    /// Ends the number or word on top, as whatever follows would.
    pub fn end_scalar(&mut self) -> Option<()> {
        let after = self.frames.end_scalar(self.top);
        self.go(after)
    }

    /// Begins the first element of the array on top, as any byte but the closing bracket would.
    pub fn open_first(&mut self, array: Frame) -> Option<()> {
        let first = self.frames.first_element(array);
        self.go(first)
    }

    fn go(&mut self, next: FrameId) -> Option<()> {
        self.top = Some(next).filter(|&n| n != NONE)?;
        Some(())
    }
}

/// A text as JSON, quotes included.
pub(crate) fn spelled(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}
