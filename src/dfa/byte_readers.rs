//! Byte readers: which bytes a configuration reads alike, so that they are stepped once.
//!
//! A step through frames costs far more than one of a lexeme's automaton, and most bytes lead the lexemes at hand where
//! others led them before: all letters of a string, all digits of a number. So each byte is first read by the lexemes
//! alone, and the configuration itself is stepped only where that leads somewhere new.

use smallvec::SmallVec;

use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind, LexemeState, StateId};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameKind};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::program::Program;

/// What a byte is known to do without a step.
pub enum ReadWay {
    /// Nothing is known.
    Stepped,
    /// It is refused.
    Refused,
    /// It is read like a byte that led to this configuration, or nowhere.
    Known(u32),
    /// No byte was read like this one; see [`led`](ByteReaders::led).
    New,
}

/// A lexeme that reads, and from where.
struct ByteReader<'a> {
    lexeme: &'a Lexeme,
    at: StateId,
    from: &'a LexemeState,
}

/// The lexemes that read the next byte of one configuration, and where bytes led.
pub struct ByteReaders<'a> {
    readers: SmallVec<[ByteReader<'a>; 4]>,
    /// In front of a value, which may be no lexeme.
    value: bool,
    /// Some lexeme ends without a byte of its own.
    raw: bool,
    /// What was read, one after the other: where it led each lexeme, and whether it begins a character.
    reads: SmallVec<[u32; 64]>,
    /// Where each of these led.
    to: SmallVec<[u32; 32]>,
}

impl<'a> ByteReaders<'a> {
    /// The lexemes that read at frame `n`; `None` where more than the lexemes decides what a byte does.
    pub fn find(program: &'a Program, arena: &Arena, n: &Frame) -> Option<Self> {
        let range = n.start as usize..(n.start + n.len) as usize;
        let reader = |lexeme: u32, at: Option<StateId>| {
            let lexeme = &*program.lexemes[lexeme as usize];
            let at = at.unwrap_or_else(|| lexeme.start());
            ByteReader { lexeme, at, from: lexeme.state(at) }
        };
        let readers: SmallVec<[ByteReader<'a>; 4]> = match n.kind {
            _ if program.has_unique => return None,
            FrameKind::Scalar if n.seen != NO_SET => return None,
            FrameKind::Scalar => {
                arena.scalars[range].iter().map(|item| reader(item.lexeme, Some(item.state))).collect()
            }
            FrameKind::Value => {
                let rules = arena.rules[range].iter().filter_map(|r| program.rules.get(r.0 as usize));
                rules.flat_map(|rule| &rule.lexemes).map(|&lexeme| reader(lexeme, None)).collect()
            }
            _ => return None,
        };
        let raw = readers.iter().any(|r| r.lexeme.kind() == LexemeKind::Raw);
        let value = n.kind == FrameKind::Value;
        Some(ByteReaders { readers, value, raw, reads: SmallVec::new(), to: SmallVec::new() })
    }

    /// What is known of a byte.
    pub fn read(&mut self, byte: u8) -> ReadWay {
        if self.value && matches!(byte, b'{' | b'[' | b' ' | b'\t' | b'\n' | b'\r') {
            return ReadWay::Stepped;
        }
        let known = self.reads.len();
        let (mut live, mut begins) = (false, false);
        for r in &self.readers {
            let to = r.lexeme.next_from(r.at, r.from, byte);
            if to == CLOSED && !self.value {
                self.reads.truncate(known);
                return ReadWay::Stepped;
            }
            live |= to != DEAD_STATE && to != CLOSED;
            begins |= !self.value && r.lexeme.kind() != LexemeKind::Raw && r.lexeme.starts_char(r.from, byte);
            self.reads.push(to);
        }
        if !live {
            self.reads.truncate(known);
            // A lexeme may end in front of such a byte.
            let ends = !self.value && self.raw && matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            return if ends { ReadWay::Stepped } else { ReadWay::Refused };
        }
        self.reads.push(u32::from(begins));
        let (before, this) = self.reads.split_at(known);
        let Some(same) = before.chunks(this.len()).position(|read| read == this) else { return ReadWay::New };
        self.reads.truncate(known);
        self.to.get(same).map_or(ReadWay::Stepped, |&to| ReadWay::Known(to))
    }

    /// Says where the last byte led that was [`New`](ReadWay::New).
    pub fn led(&mut self, to: u32) {
        self.to.push(to);
    }
}
