//! Configurations as numbered states.
//!
//! A [`ConfigSource`] is what an index steps: one lexeme, or a program over frames. An [`Explorer`] numbers the
//! configurations that it meets and steps them by byte classes. Two configurations get one number if their *content* is
//! equal: everything that their future depends on, with counters and sets cut to what still matters, so that the length
//! of an unbounded string or a property that declared order has left behind makes no states. Nothing is explored that
//! nobody asked for, so a search may stop long before a language without end is exhausted.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::dfa::NO_SUCCESSOR;
use crate::dfa::byte_readers::{ByteReaders, ReadWay};
use crate::error::{Error, Result};
use crate::json::string_escape::EscapeState;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameKind, NONE, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;
use crate::util::cancel::checkpoint;
use crate::util::seeded_hash::SeededMap;

/// What is stepped.
#[derive(Clone, Copy)]
pub enum ConfigSource<'a> {
    /// A lexeme that is the whole output.
    Lexeme(&'a Lexeme),
    /// A document.
    Program(&'a Program),
}

/// The 256 bytes in classes that act alike everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteClasses {
    /// The class of each byte; classes are numbered by their least byte.
    pub of: [u8; 256],
    /// The least byte of each class.
    pub first: Vec<u8>,
}

impl ByteClasses {
    /// The coarsest classes in which bytes agree on every one of `maps`.
    pub fn refine<'m>(maps: impl IntoIterator<Item = &'m [u8; 256]>) -> ByteClasses {
        let mut of = [0u8; 256];
        for map in maps {
            let mut pairs: FxHashMap<(u8, u8), u8> = FxHashMap::default();
            for b in 0..256 {
                let n = pairs.len() as u8;
                of[b] = *pairs.entry((of[b], map[b])).or_insert(n);
            }
        }
        let mut first = Vec::new();
        for (b, &class) in of.iter().enumerate() {
            if class as usize == first.len() {
                first.push(b as u8);
            }
        }
        ByteClasses { of, first }
    }

    /// Number of classes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Number of bytes in each class.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.len()];
        self.of.iter().for_each(|&c| sizes[c as usize] += 1);
        sizes
    }
}

/// A map in which bytes that frames or escapes compare with stand alone, and so do `others`.
fn alone(others: impl IntoIterator<Item = u8>) -> [u8; 256] {
    let mut alone = [0u8; 256];
    for b in b"{}[],:\"\\/ \t\n\r".iter().copied().chain(others) {
        alone[b as usize] = 1;
    }
    let mut n = 0u8;
    for slot in alone.iter_mut().filter(|slot| **slot == 1) {
        n = n.saturating_add(1);
        *slot = n;
    }
    alone
}

/// What the next byte may be read by: lexemes, or bytes of keys.
type ReadBytes = smallvec::SmallVec<[u32; 8]>;

/// The bytes of an escape, behind its backslash, but for those that stand alone anyway.
const ESCAPE_BYTES: &[u8] = b"0123456789abcdefABCDEFnrtu";

/// Set in a byte of a key or constant. There are fewer lexemes.
const KEY_BYTE: u32 = 1 << 31;

/// Whether a key without a name may still be read.
fn has_others(items: &[ObjectItem]) -> bool {
    items.iter().any(|item| item.others)
}

/// The bytes that may go on in a key, quotes and escapes aside, where all keys are named.
fn key_bytes(items: &[ObjectItem], program: &Program, sub: EscapeState) -> Option<ReadBytes> {
    if has_others(items) {
        return None;
    }
    if sub != EscapeState::Plain {
        return Some(ESCAPE_BYTES.iter().map(|&b| KEY_BYTE | u32::from(b)).collect());
    }
    let mut read = ReadBytes::from_slice(&[KEY_BYTE | u32::from(b'"')]);
    for item in items.iter().filter(|item| item.name_node != u32::MAX) {
        let names = &program.objects.get(item.shape as usize)?.names;
        read.extend(names.children(item.name_node).map(|child| KEY_BYTE | u32::from(names.byte[child as usize])));
    }
    Some(read)
}

/// The bytes that may go on in a constant, where several are read side by side.
fn constant_bytes(program: &Program, n: &Frame) -> ReadBytes {
    let mut read = ReadBytes::new();
    if let Some(set) = program.constants.get(n.seen) {
        match n.sub {
            EscapeState::Plain => {
                let next = set.texts.children(n.text).map(|child| set.texts.byte[child as usize]);
                read.extend(next.chain([b'"']).map(|byte| KEY_BYTE | u32::from(byte)));
            }
            _ => read.extend(ESCAPE_BYTES.iter().map(|&byte| KEY_BYTE | u32::from(byte))),
        }
    }
    read
}

impl ConfigSource<'_> {
    /// Bytes that act alike in every configuration, but inside keys of any text, which are without end, so that nobody
    /// has seen all configurations there; see [`Explorer::tells_apart`].
    pub fn byte_classes(&self) -> ByteClasses {
        match self {
            ConfigSource::Lexeme(l) => ByteClasses::refine([l.byte_classes()]),
            // Elements that were read are remembered as they are, so any two bytes may lead apart.
            ConfigSource::Program(p) if p.has_unique => ByteClasses::refine([&std::array::from_fn(|byte| byte as u8)]),
            ConfigSource::Program(p) => {
                let names = p.objects.iter().flat_map(|o| o.spelled.iter().flat_map(|s| s.bytes()));
                let keys = || p.objects.iter().flat_map(|o| o.others.iter().filter_map(|c| c.keys.as_deref()));
                // And so are keys without a name.
                let remembered = keys().flat_map(|l| {
                    let used = l.used_bytes();
                    (0..=u8::MAX).filter(move |&byte| used[usize::from(byte)])
                });
                let alone = alone(names.chain(remembered));
                let lexemes = p.lexemes.iter().map(|l| &**l).chain(keys()).chain([&*p.any_text]);
                ByteClasses::refine(lexemes.map(Lexeme::byte_classes).chain([&alone]))
            }
        }
    }
}

/// Bytes of content that are kept, and that are looked at, for each configuration that the limit allows. Content grows
/// with the stack, so that a few thousand levels of recursion would take gigabytes.
const KEPT: usize = 400;
const LOOKED_AT: usize = 4_000;

/// Configurations that are stepped in the time of one step of a compile.
const PER_STEP: u32 = 8;

/// Numbers the configurations of a source by their content, and steps them by byte classes.
pub struct Explorer<'a> {
    source: ConfigSource<'a>,
    classes: ByteClasses,
    arena: Arena,
    /// Configurations by number: a lexeme's state or a top node.
    at: Vec<u32>,
    of_state: FxHashMap<StateId, u32>,
    of_content: SeededMap<Box<[u8]>, u32>,
    content: Vec<u8>,
    /// For each class the least one that acts alike, by what is read.
    alike: SeededMap<ReadBytes, Arc<[u8]>>,
    max_states: usize,
    /// Bytes of content kept and looked at.
    kept: usize,
    looked_at: usize,
    /// Configurations that were stepped.
    stepped: u32,
}

impl<'a> Explorer<'a> {
    /// An explorer that knows the start, which has number 0. It fails beyond `max_states` configurations.
    pub fn new(source: ConfigSource<'a>, max_states: usize) -> Self {
        let mut e = Explorer {
            source,
            classes: source.byte_classes(),
            arena: Arena::default(),
            at: Vec::new(),
            of_state: FxHashMap::default(),
            of_content: SeededMap::default(),
            content: Vec::new(),
            alike: SeededMap::default(),
            max_states,
            kept: 0,
            looked_at: 0,
            stepped: 0,
        };
        let start = match source {
            ConfigSource::Lexeme(l) => l.start(),
            ConfigSource::Program(program) => JsonMachine { program, arena: &mut e.arena }.start(),
        };
        e.number(start);
        e
    }

    /// The classes that it steps by.
    pub fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// How many configurations there may be.
    pub fn max_states(&self) -> usize {
        self.max_states
    }

    /// Configurations numbered so far.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// A configuration itself: a lexeme's state, or a top node of the [`arena`](Self::arena).
    pub fn top(&self, id: u32) -> u32 {
        self.at[id as usize]
    }

    /// The frames of all configurations of a document.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// What was found: the frames, and by number what [`top`](Self::top) says of each configuration.
    pub fn into_found(self) -> (Arena, Vec<u32>) {
        (self.arena, self.at)
    }

    /// Whether the output may end in a configuration.
    pub fn is_accepting(&mut self, id: u32) -> bool {
        let at = self.at[id as usize];
        match self.source {
            ConfigSource::Lexeme(l) => l.state(at).accepting,
            ConfigSource::Program(program) => {
                let mark = self.arena.mark();
                let accepting = JsonMachine { program, arena: &mut self.arena }.is_accepting(at);
                self.arena.truncate(&mark);
                accepting
            }
        }
    }

    /// Adds to `out` for each class the configuration after its bytes, or [`NO_SUCCESSOR`].
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn row(&mut self, id: u32, out: &mut Vec<u32>) -> Result<()> {
        let alike = self.alike(id);
        let mut readers = match self.source {
            ConfigSource::Lexeme(_) => None,
            ConfigSource::Program(program) => {
                ByteReaders::find(program, &self.arena, &self.arena.nodes[self.top(id) as usize])
            }
        };
        let from = out.len();
        for class in 0..self.classes.len() {
            // Classes that act alike here are stepped once.
            if let Some(alike) = &alike
                && (alike[class] as usize) < class
            {
                out.push(out[from + alike[class] as usize]);
                continue;
            }
            let byte = self.classes.first[class];
            let way = readers.as_mut().map_or(ReadWay::Stepped, |readers| readers.read(byte));
            out.push(match (way, &mut readers) {
                (ReadWay::Refused, _) => NO_SUCCESSOR,
                (ReadWay::Known(to), _) => to,
                (ReadWay::New, Some(readers)) => {
                    let to = self.step(id, byte)?.unwrap_or(NO_SUCCESSOR);
                    readers.led(to);
                    to
                }
                _ => self.step(id, byte)?.unwrap_or(NO_SUCCESSOR),
            });
        }
        Ok(())
    }

    /// For each class the least one that acts alike in a configuration; `None` where that is not known. Outside of keys
    /// only the lexemes that are read, or may begin, tell letters apart, and inside named ones their next letters.
    fn alike(&mut self, id: u32) -> Option<Arc<[u8]>> {
        let ConfigSource::Program(program) = self.source else { return None };
        if program.has_unique {
            return None;
        }
        let n = &self.arena.nodes[self.at[id as usize] as usize];
        let range = n.start as usize..(n.start + n.len) as usize;
        let mut read: ReadBytes = match (n.kind, n.phase) {
            (FrameKind::Scalar, _) => {
                let lexemes = self.arena.scalars[range].iter().map(|s| s.lexeme);
                lexemes.chain(constant_bytes(program, n)).collect()
            }
            (FrameKind::Value, _) => {
                let rules = self.arena.rules[range].iter().filter_map(|r| program.rules.get(r.0 as usize));
                rules.flat_map(|rule| rule.lexemes.iter().copied()).collect()
            }
            (FrameKind::Object, Phase::Key) => key_bytes(&self.arena.objects[range], program, n.sub)?,
            (FrameKind::Array, Phase::First) => return None,
            _ => ReadBytes::new(),
        };
        read.sort_unstable();
        read.dedup();
        if let Some(known) = self.alike.get(&read) {
            return Some(known.clone());
        }
        let lexemes = read.iter().filter_map(|&l| program.lexemes.get(l as usize)).map(|l| &**l);
        let text = read.first().is_some_and(|&l| l & KEY_BYTE == 0).then_some(&*program.any_text);
        let alone = alone(read.iter().filter(|&&l| l & KEY_BYTE != 0).map(|&l| l as u8));
        let here = ByteClasses::refine(lexemes.chain(text).map(Lexeme::byte_classes).chain([&alone])).of;
        let mut least: FxHashMap<u8, u8> = FxHashMap::default();
        let of_class = |(class, &first): (u8, &u8)| *least.entry(here[first as usize]).or_insert(class);
        let made: Arc<[u8]> = (0..=u8::MAX).zip(&self.classes.first).map(of_class).collect();
        self.alike.insert(read, made.clone());
        Some(made)
    }

    /// Whether bytes of one class may lead a configuration apart: inside a key of any text, which is remembered.
    pub fn tells_apart(&self, id: u32) -> bool {
        let ConfigSource::Program(_) = self.source else { return false };
        let n = &self.arena.nodes[self.top(id) as usize];
        let in_key = n.kind == FrameKind::Object && n.phase == Phase::Key;
        in_key && has_others(&self.arena.objects[n.start as usize..(n.start + n.len) as usize])
    }

    /// The configuration after `byte`, if it is not refused.
    ///
    /// # Errors
    /// `Limit` if that is one configuration too many.
    pub fn step(&mut self, id: u32, byte: u8) -> Result<Option<u32>> {
        let at = self.at[id as usize];
        let known = self.at.len();
        let to = match self.source {
            ConfigSource::Lexeme(l) => {
                let to = l.next(at, byte);
                if to <= CLOSED {
                    return Ok(None);
                }
                self.number(to)
            }
            ConfigSource::Program(program) => {
                let mark = self.arena.mark();
                let to = JsonMachine { program, arena: &mut self.arena }.step(at, byte);
                if to == NONE {
                    self.arena.truncate(&mark);
                    return Ok(None);
                }
                let number = self.number(to);
                if (number as usize) < known {
                    self.arena.truncate(&mark);
                } else {
                    self.at[number as usize] = self.arena.compact(&mark, to);
                }
                number
            }
        };
        if self.at.len() > self.max_states {
            return Err(
                Error::limit("flat states", self.max_states as u64, self.at.len() as u64).set_by("max_flat_states")
            );
        }
        for (bytes, each) in [(self.kept, KEPT), (self.looked_at, LOOKED_AT)] {
            let most = self.max_states.saturating_mul(each);
            if bytes > most {
                return Err(Error::limit("bytes of flat states", most as u64, bytes as u64).set_by("max_flat_states"));
            }
        }
        // One step takes far less than what the steps of a question are counted in.
        self.stepped = self.stepped.wrapping_add(1);
        if self.stepped.is_multiple_of(PER_STEP) {
            checkpoint()?;
        }
        Ok(Some(to))
    }

    fn number(&mut self, at: u32) -> u32 {
        let next = self.at.len() as u32;
        let id = match self.source {
            ConfigSource::Lexeme(_) => *self.of_state.entry(at).or_insert(next),
            ConfigSource::Program(program) => {
                let mut content = std::mem::take(&mut self.content);
                content.clear();
                self.arena.describe_future(program, at, &mut content);
                self.looked_at += content.len();
                let id = match self.of_content.get(content.as_slice()) {
                    Some(&id) => id,
                    None => {
                        self.kept += content.len();
                        self.of_content.insert(content.as_slice().into(), next);
                        next
                    }
                };
                self.content = content;
                id
            }
        };
        if id == next {
            self.at.push(at);
        }
        id
    }
}
