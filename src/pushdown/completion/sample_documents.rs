//! Sample documents: what a model may write, so that their masks are made before it does.
//!
//! A model that answers in the form of a schema mostly writes the keys that the schema names, in the schema's order,
//! each with a value of an allowed kind, with blanks in one of a few styles. So a sample is written by stepping the
//! frames and choosing wherever several bytes lead on: the next name, the first kind of value, a second element and
//! then the end, a few characters of a string. What was chosen before is *taken*, and a later sample rather chooses
//! something else there, so that some samples meet the alternatives of a choice one after the other. A sample need not
//! be finished: it ends where it is long enough, or where no choice leads on.

use crate::json::string_escape::EscapeState;
use crate::json::whitespace::Gap;
use crate::lexeme::shortest_end::shortest_end;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::pushdown::completion::writer::ByteWriter;
use crate::pushdown::json::frame::{Frame, FrameKind, Phase};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::bits::ones;
use crate::util::seeded_hash::SeededMap;

/// Characters of one scalar that are chosen; then it is ended the shortest way.
const MOST_CHARS: u32 = 24;
/// Brackets inside each other beyond which the simplest value is written, and beyond which a document is left at that.
const DEEP: u32 = 6;
const DEEPEST: u32 = 64;
/// Elements of an array, if it may have so many: then there was a comma.
const ELEMENTS: u32 = 2;

/// How documents are written.
#[derive(Clone, Copy, Debug)]
pub struct SampleStyle {
    /// The blanks.
    pub blanks: SampleLayout,
    /// Members that are not needed are written as well.
    pub all: bool,
}

/// Where blanks stand, as far as they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleLayout {
    /// Nowhere.
    Compact,
    /// One behind each colon and comma.
    Spaced,
    /// Each member and element on a line of its own.
    Lines,
}

/// What was chosen, and how often: the place, what is chosen there, and which.
#[derive(Default)]
pub struct TakenItems(SeededMap<(SampleStep, u32, u32), u32>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SampleStep {
    /// By rule and first byte.
    Value,
    /// By set and number.
    Constant,
    /// By lexeme, state and class of bytes.
    Char(u32),
    /// By shape and number of members.
    Shape,
}

impl TakenItems {
    fn count(&self, what: SampleStep, place: u32, choice: u32) -> u32 {
        self.0.get(&(what, place, choice)).copied().unwrap_or(0)
    }

    fn add(&mut self, what: SampleStep, place: u32, choice: u32) {
        *self.0.entry((what, place, choice)).or_default() += 1;
    }
}

/// The bytes that a string or pattern goes on with, likely ones first. Quotes, escapes and what is beyond ASCII lead to
/// few places of their own.
fn likely_bytes() -> impl Iterator<Item = u8> {
    let rest = (b' '..=b'~').filter(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'"' | b'\\'));
    (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(rest)
}

/// A text that a pattern is likely to be matched by, of at most about `most` bytes, or what there is of it when `go_on`
/// says no, which is asked before each byte.
pub fn likely_text(lexeme: &Lexeme, taken: &mut TakenItems, most: usize, go_on: &mut impl FnMut() -> bool) -> Vec<u8> {
    let (mut out, mut state) = (Vec::new(), lexeme.start());
    while out.len() < most && state > CLOSED {
        if !go_on() {
            return out;
        }
        let Some(byte) = likely_byte(lexeme, 0, state, taken) else { break };
        let to = lexeme.next(state, byte);
        out.push(byte);
        if to == state {
            break;
        }
        state = to;
    }
    if state > CLOSED
        && let Some(end) = shortest_end(lexeme, state, 0)
    {
        out.extend_from_slice(&end[..end.len().min(most)]);
    }
    out
}

/// The byte that was taken least of those that go on inside a lexeme, and takes it.
fn likely_byte(l: &Lexeme, lexeme: u32, state: StateId, taken: &mut TakenItems) -> Option<u8> {
    let classes = l.byte_classes();
    let mut met = [false; 256];
    let mut best: Option<(u32, u8)> = None;
    for byte in likely_bytes() {
        let class = classes[usize::from(byte)];
        if std::mem::replace(&mut met[usize::from(class)], true) || l.next(state, byte) <= CLOSED {
            continue;
        }
        let n = taken.count(SampleStep::Char(lexeme), state, class.into());
        if best.is_none_or(|(least, _)| n < least) {
            best = Some((n, byte));
        }
    }
    let (_, byte) = best?;
    taken.add(SampleStep::Char(lexeme), state, classes[usize::from(byte)].into());
    Some(byte)
}

/// Writes a likely document.
pub struct SampleWriter<'a, 'f> {
    pen: ByteWriter<'a, 'f>,
    taken: &'a mut TakenItems,
    style: SampleStyle,
    /// Characters of the open scalar.
    chars: u32,
}

impl<'a, 'f> SampleWriter<'a, 'f> {
    /// A likely document, or the first `most` bytes of one, about, or what there is of it when `go_on` says no, which
    /// is asked between any two choices. The arena is as it was.
    pub fn document(
        frames: &'a mut JsonMachine<'f>,
        taken: &'a mut TakenItems,
        style: SampleStyle,
        most: usize,
        go_on: &mut impl FnMut() -> bool,
    ) -> Vec<u8> {
        let mut writer = SampleWriter { pen: ByteWriter::new(frames, JsonMachine::start), taken, style, chars: 0 };
        while writer.pen.len() < most && writer.depth() <= DEEPEST && go_on() {
            let node = writer.pen.node();
            if node.kind == FrameKind::Done || writer.go_on(node).is_none() {
                break;
            }
        }
        writer.pen.lift()
    }

    /// Does all of `work` or nothing.
    fn try_all(&mut self, work: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let place = self.pen.place();
        let done = work(self);
        if done.is_none() {
            self.pen.back(place);
        }
        done
    }

    fn depth(&self) -> u32 {
        let mut at = self.pen.node().parent;
        let mut depth = 0;
        while let Some(node) = self.pen.frames.arena.nodes.get(at as usize) {
            depth += u32::from(matches!(node.kind, FrameKind::Array | FrameKind::Object));
            at = node.parent;
        }
        depth
    }

    fn go_on(&mut self, node: Frame) -> Option<()> {
        if !matches!(node.kind, FrameKind::Scalar | FrameKind::Root) && node.phase != Phase::Key && node.blank == 0 {
            self.blanks(&node);
        }
        let node = self.pen.node();
        match (node.kind, node.phase) {
            (FrameKind::Scalar, _) => self.scalar(node),
            (FrameKind::Value, _) => self.value(node),
            (FrameKind::Array, phase) => self.element(node, phase),
            (FrameKind::Object, Phase::BeforeColon) => self.pen.take(b':'),
            (FrameKind::Object, _) => self.member(node),
            (FrameKind::Root | FrameKind::Done, _) => None,
        }
    }

    /// The blanks of the style that may stand here, or those that must.
    fn blanks(&mut self, node: &Frame) {
        let open = matches!(node.kind, FrameKind::Array | FrameKind::Object);
        // Behind a colon there is never a line end.
        let of_member = node.kind == FrameKind::Value
            && self.pen.frames.arena.nodes.get(node.parent as usize).is_some_and(|n| n.kind == FrameKind::Object);
        let line = match (node.kind, node.phase) {
            _ if of_member => false,
            (FrameKind::Value, _) => node.gap == Gap::After as u8,
            (_, Phase::First | Phase::BeforeKey) => true,
            _ => false,
        };
        let inside = self.depth() + u32::from(open);
        let done = match self.style.blanks {
            SampleLayout::Spaced if node.gap == Gap::After as u8 => self.pen.take(b' '),
            SampleLayout::Lines if line => self.line(inside),
            SampleLayout::Lines if of_member => self.pen.take(b' '),
            _ => None,
        };
        if done.is_none() && !self.pen.frames.gap_may_end(node) {
            let _ = b" \n\t\r".iter().find_map(|&b| self.pen.take(b));
        }
    }

    /// A new line, indented.
    fn line(&mut self, depth: u32) -> Option<()> {
        self.try_all(|w| {
            w.pen.take(b'\n')?;
            (0..2 * depth).try_for_each(|_| w.pen.take(b' '))
        })
    }

    fn value(&mut self, node: Frame) -> Option<()> {
        const FIRST: &[u8] = b"{[\"1tnf-0";
        let rule = self.pen.frames.arena.rules[node.start as usize].0;
        let mut order: Vec<u8> = FIRST.to_vec();
        if self.depth() >= DEEP {
            order.reverse();
        } else {
            order.sort_by_key(|&b| self.taken.count(SampleStep::Value, rule, b.into()));
        }
        let byte = order.into_iter().find(|&b| self.pen.take(b).is_some())?;
        self.taken.add(SampleStep::Value, rule, byte.into());
        self.chars = 0;
        Some(())
    }

    fn scalar(&mut self, node: Frame) -> Option<()> {
        if node.seen != NO_SET && node.sub == EscapeState::Plain && self.constant(&node).is_some() {
            return Some(());
        }
        let item = *self.pen.frames.arena.scalars.get(node.start as usize).filter(|_| node.len > 0)?;
        let l = &self.pen.frames.program.lexemes[item.lexeme as usize];
        self.chars += 1;
        if self.chars <= MOST_CHARS
            && let Some(byte) = likely_byte(l, item.lexeme, item.state, self.taken)
            && self.pen.take(byte).is_some()
        {
            // What leads back goes on for as long as it may.
            if l.next(item.state, byte) == item.state {
                self.chars = MOST_CHARS;
            }
            return Some(());
        }
        let end = shortest_end(l, item.state, node.count)?;
        if end.is_empty() && l.kind() == LexemeKind::Raw {
            return self.pen.end_scalar();
        }
        self.pen.take_all(&end)
    }

    /// Writes one of the literals that are read side by side.
    fn constant(&mut self, node: &Frame) -> Option<()> {
        let ends = self.pen.frames.program.constants.get(node.seen)?.ends(node.text);
        let least = (0..ends.len() as u32).min_by_key(|&i| self.taken.count(SampleStep::Constant, node.seen, i))?;
        self.taken.add(SampleStep::Constant, node.seen, least);
        let text = std::str::from_utf8(&ends.get(least as usize)?.0).ok()?;
        self.pen.take_text(text)
    }

    fn element(&mut self, node: Frame, phase: Phase) -> Option<()> {
        let most = match self.depth() {
            DEEP.. => 0,
            _ if self.style.all => ELEMENTS,
            _ => 1,
        };
        let more = |w: &mut Self| match phase {
            Phase::After => w.pen.take(b','),
            _ => w.pen.open_first(node),
        };
        if node.count < most && self.try_all(more).is_some() {
            return Some(());
        }
        self.close(b']').or_else(|| self.try_all(more))
    }

    /// The closing bracket, on a line of its own where others are.
    fn close(&mut self, bracket: u8) -> Option<()> {
        let lines = self.style.blanks == SampleLayout::Lines;
        let on_line = lines.then(|| {
            let depth = self.depth();
            self.try_all(|w| {
                w.line(depth)?;
                w.pen.take(bracket)
            })
        });
        on_line.flatten().or_else(|| self.pen.take(bracket))
    }

    /// The next member's key, or the end of the object.
    fn member(&mut self, node: Frame) -> Option<()> {
        if node.phase == Phase::Key {
            return self.key(node, true);
        }
        let another = |w: &mut Self, any: bool| {
            w.try_all(|w| {
                if node.phase == Phase::After {
                    w.pen.take(b',')?;
                    let before = w.pen.node();
                    w.blanks(&before);
                }
                w.pen.take(b'"')?;
                w.key(w.pen.node(), any)
            })
        };
        another(self, false).or_else(|| self.close(b'}')).or_else(|| another(self, true))
    }

    /// A key and its closing quote: a name that is wanted, or with `any` whatever leads on.
    fn key(&mut self, node: Frame, any: bool) -> Option<()> {
        let program = self.pen.frames.program;
        let mut items = self.pen.frames.arena.objects[node.start as usize..(node.start + node.len) as usize].to_vec();
        items.sort_by_key(|item| self.taken.count(SampleStep::Shape, item.shape, node.count));
        for item in items {
            let p = &program.objects[item.shape as usize];
            let bits = |at: u32| &self.pen.frames.arena.bits[at as usize..at as usize + p.words];
            let (allowed, need) = (bits(item.allowed), bits(item.need));
            let is_needed = |i: usize| need[i / 64] >> (i % 64) & 1 == 1;
            let all = self.style.all && self.depth() < DEEP;
            let wanted = |i: &usize| all || any || is_needed(*i);
            let later = |i: &usize| *i >= item.position as usize;
            let names: Vec<usize> = ones(allowed).filter(wanted).collect();
            let name = names.iter().copied().find(later).or_else(|| names.into_iter().find(|&i| any || is_needed(i)));
            let key: String = match name {
                Some(i) => p.name(i as u32).into(),
                // Where there are no names, one other key.
                None if item.others && (any || (all && p.spelled.is_empty() && node.count == 0)) => {
                    let of_class = |c: &crate::pushdown::json::program::ClassProgram| match &c.keys {
                        None => Some("key".to_owned()),
                        Some(keys) => String::from_utf8(shortest_end(keys, keys.start(), 0)?.to_vec()).ok(),
                    };
                    match p.others.iter().find_map(of_class) {
                        Some(key) => key,
                        None => continue,
                    }
                }
                None => continue,
            };
            if self.pen.take_text(&key).is_some() {
                self.taken.add(SampleStep::Shape, item.shape, node.count);
                return Some(());
            }
        }
        None
    }
}
