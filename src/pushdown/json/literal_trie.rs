//! Literal tries: string constants of many alternatives, read side by side.
//!
//! Calls of one of many tools are alternatives that a constant tells apart: `{"tool": "a", …}`, `{"tool": "b", …}`.
//! Where the constant is awaited every alternative has a rule, and every rule a lexeme. Following five hundred lexemes
//! takes five hundred states at every byte, and as many walks of the vocabulary for a mask. So the texts that the rules
//! of one value list are laid into one trie, with the indices of the rules at its nodes. A scalar then stands at one
//! node of the trie, however many alternatives are left, and the closing quote says which of them go on: those at the
//! node. What else the rules accept is followed by lexemes beside it.
//!
//! A position is a node and how far into an escape the string is. It is stepped as a [`Lexeme`](crate::lexeme::Lexeme)
//! over the same texts would be: every node leads to some text, so a position is live, and an escape is allowed only
//! where some text goes on with a character that it may still become. Nothing is derived and nothing interned.
//!
//! Tries are made on first use, for the rules that a value really awaits, and kept as long as their program: guides
//! name them by number. They are bounded in bytes; rules for which there is no room are followed by lexemes.

use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::json::rules::RuleId;
use crate::json::string_escape::{EscapeMove, EscapeState, EscapeUse, step};
use crate::lexeme::LexemeKind;
use crate::pushdown::json::program::Program;
use crate::util::append_vec::AppendVec;
use crate::util::seeded_hash::SeededMap;
use crate::vocab::Trie;

/// No set: the scalar is followed by lexemes alone.
pub const NO_SET: u32 = u32::MAX;

/// Texts of one lexeme, and bytes of them, beyond which it is left to itself.
const MOST_TEXTS: usize = 4_096;
/// Bytes of the sets of one program.
const SETS_BYTES: usize = 8 << 20;
/// What an entry costs beside its rules and texts.
const OVERHEAD: usize = 256;

/// Where a byte leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralNode {
    /// Nowhere.
    Dead,
    /// The byte closes the string, by the rules at the node.
    Closed,
    /// To a node of the trie and a place in an escape.
    At(u32, EscapeState),
}

/// The texts that the rules of one awaited value list, as one trie with the indices of the rules at its nodes.
pub struct LiteralTrie {
    rules: Box<[RuleId]>,
    /// The texts as they decode; ids are places among the value's rules, ascending at each node.
    pub texts: Trie,
    /// The escapes that all are written with.
    escapes: EscapeUse,
    /// Lexemes that are no list of texts, with the places of their rules.
    pub others: Box<[(u32, u32)]>,
}

impl LiteralTrie {
    /// `None` where fewer than two rules list texts.
    fn build(program: &Program, rules: &[RuleId]) -> Option<LiteralTrie> {
        let mut listed: Vec<(Box<[u8]>, u32)> = Vec::new();
        let mut others = Vec::new();
        let mut kind = None;
        let mut lists = 0;
        for (rule, tag) in rules.iter().zip(0..) {
            let before = listed.len();
            for &lexeme in &program.rules[rule.0 as usize].lexemes {
                let l = &program.lexemes[lexeme as usize];
                // Strings that are written in several ways and those that are not are stepped differently.
                let alike = *kind.get_or_insert(l.kind()) == l.kind();
                match if alike { l.texts(MOST_TEXTS) } else { None } {
                    Some(texts) => listed.extend(texts.into_iter().map(|text| (text, tag))),
                    None => {
                        others.push((tag, lexeme));
                        kind = kind.filter(|_| !listed.is_empty());
                    }
                }
            }
            lists += usize::from(listed.len() > before);
        }
        if lists < 2 {
            return None;
        }
        let mut items: Vec<(&[u8], u32)> = listed.iter().map(|(text, tag)| (&**text, *tag)).collect();
        items.sort_unstable();
        items.dedup();
        let texts = Trie::build(&mut items).ok()?;
        Some(LiteralTrie {
            rules: rules.into(),
            texts,
            escapes: kind.map(LexemeKind::escapes).unwrap_or_default(),
            others: others.into(),
        })
    }

    /// The rules of the value.
    pub fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    /// Where `byte` leads from a place.
    pub fn step(&self, at: u32, sub: EscapeState, byte: u8) -> LiteralNode {
        let moved = step(sub, byte);
        if !self.escapes.allows(sub, byte, &moved) {
            return LiteralNode::Dead;
        }
        let to = match moved {
            EscapeMove::Dead => None,
            EscapeMove::Close if self.texts.tokens(at).is_empty() => None,
            EscapeMove::Close => return LiteralNode::Closed,
            EscapeMove::To(next) if next == EscapeState::Plain || self.may_spell(at, next) => {
                return LiteralNode::At(at, next);
            }
            EscapeMove::To(_) => None,
            EscapeMove::Byte(b) => self.texts.child(at, b),
            EscapeMove::Char(c) => self.texts.find(at, c.encode_utf8(&mut [0; 4]).as_bytes()),
        };
        to.map_or(LiteralNode::Dead, |to| LiteralNode::At(to, EscapeState::Plain))
    }

    /// Whether some text goes on, from a node, with a character that an escape may still become.
    fn may_spell(&self, at: u32, sub: EscapeState) -> bool {
        let ranges = self.escapes.pending(sub);
        self.goes_on(at, 0, 0, &ranges)
    }

    /// Whether some text goes on with a character in one of `ranges`, of which `missing` bytes are left.
    fn goes_on(&self, at: u32, missing: u8, so_far: u32, ranges: &[(u32, u32)]) -> bool {
        self.texts.children(at).any(|child| {
            let byte = self.texts.byte[child as usize];
            let low = |bits: u8| u32::from(byte & bits);
            let (missing, so_far) = match (missing, byte) {
                (0, 0..0x80) => (0, u32::from(byte)),
                (0, 0xC2..=0xDF) => (1, low(0x1F)),
                (0, 0xE0..=0xEF) => (2, low(0x0F)),
                (0, 0xF0..=0xF4) => (3, low(0x07)),
                (1.., 0x80..=0xBF) => (missing - 1, so_far << 6 | low(0x3F)),
                // Inside of a character no escape begins.
                _ => return false,
            };
            match missing {
                0 => ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&so_far)),
                _ => self.goes_on(child, missing, so_far, ranges),
            }
        })
    }

    /// The texts from a node on, each with the places of its rules.
    pub fn ends(&self, at: u32) -> Vec<(Vec<u8>, &[u32])> {
        let (texts, mut path, mut out) = (&self.texts, Vec::new(), Vec::new());
        for node in at..texts.end[at as usize] {
            let depth = usize::from(texts.depth[node as usize] - texts.depth[at as usize]);
            if depth > 0 {
                path.truncate(depth - 1);
                path.push(texts.byte[node as usize]);
            }
            if !texts.tokens(node).is_empty() {
                out.push((path.clone(), texts.tokens(node)));
            }
        }
        out
    }

    /// Writes what tells a place from those of all sets of the program, whatever their numbers.
    pub fn describe(&self, (at, sub): (u32, EscapeState), mut word: impl FnMut(u32)) {
        word(self.rules.len() as u32);
        self.rules.iter().for_each(|rule| word(rule.0));
        word(at);
        sub_words(sub).into_iter().for_each(word);
    }

    fn memory_bytes(&self) -> usize {
        OVERHEAD + self.rules.len() * 8 + self.texts.memory_bytes() + self.others.len() * 8
    }
}

/// A place inside an escape, as two numbers.
pub fn sub_words(sub: EscapeState) -> [u32; 2] {
    match sub {
        EscapeState::Open => [0, 0],
        EscapeState::Plain => [1, 0],
        EscapeState::Escape => [2, 0],
        EscapeState::Hex(n, value) => [3, u32::from(n) << 16 | u32::from(value)],
        EscapeState::LowBackslash(high) => [4, u32::from(high)],
        EscapeState::LowU(high) => [5, u32::from(high)],
        EscapeState::LowHex(high, n, value) => [6 | u32::from(n) << 8, u32::from(high) << 16 | u32::from(value)],
    }
}

/// The sets of one program.
#[derive(Default)]
pub struct LiteralTries {
    /// By the rules of the value, in their order; [`NO_SET`] where lexemes do.
    table: RwLock<SeededMap<Box<[RuleId]>, u32>>,
    made: AppendVec<LiteralTrie>,
    bytes: AtomicUsize,
}

impl LiteralTries {
    /// The set of a value that awaits `rules`, with its number.
    pub fn find_or_build(&self, program: &Program, rules: &[RuleId]) -> Option<(u32, &LiteralTrie)> {
        // Elements that must differ are followed by lexemes: what is left of them is counted there.
        if rules.len() < 2 || program.has_unique {
            return None;
        }
        let known = self.table.read().unwrap_or_else(|p| p.into_inner()).get(rules).copied();
        let number = known.or_else(|| self.make(program, rules))?;
        Some((number, self.get(number)?))
    }

    /// The set with a number; `None` for [`NO_SET`].
    #[inline]
    pub fn get(&self, number: u32) -> Option<&LiteralTrie> {
        if number == NO_SET { None } else { self.made.get(number) }
    }

    #[cold]
    fn make(&self, program: &Program, rules: &[RuleId]) -> Option<u32> {
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if let Some(&known) = table.get(rules) {
            return Some(known);
        }
        if self.bytes.load(Ordering::Relaxed) > SETS_BYTES {
            return None;
        }
        let made = LiteralTrie::build(program, rules);
        let bytes = made.as_ref().map_or(OVERHEAD + rules.len() * 4, |set| set.memory_bytes());
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        // There are fewer sets than entries.
        let number = made.map_or(NO_SET, |set| {
            let number = table.len() as u32;
            self.made.set(number, set);
            number
        });
        table.insert(rules.into(), number);
        Some(number)
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
