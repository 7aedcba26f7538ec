//! Tests whether an open element may still end as one that its array does not have.
//!
//! More completions than elements are enough. Where few are left, those of strings are counted, and the values of
//! numbers and words are listed and compared.

use smallvec::SmallVec;
use std::ops::Range;

use crate::json::canonical::escape;
use crate::json::rules::RuleId;
use crate::json::string_escape::{EscapeState, decode};
use crate::lexeme::{LexemeKind, StateId};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, ScalarItem};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::completions::is_decimal;
use crate::pushdown::json::unique::memo::Completion;

/// No character has a longer escape in canonical text.
const ESCAPE: usize = 6;

impl JsonMachine<'_> {
    /// Whether the array has fewer than all of these values.
    fn lacks_one(&mut self, array: &Frame, endings: &[Completion]) -> bool {
        endings.len() as u64 > u64::from(array.count) || endings.iter().any(|e| !self.has_element(array, &e.value))
    }

    /// Whether `rule` has a member that the array does not have yet.
    pub(super) fn has_unused(&mut self, array: &Frame, rule: RuleId) -> bool {
        if array.seen == u32::MAX || self.is_unchecked(array) {
            return true;
        }
        let program = self.program;
        let r = &program.rules[rule.0 as usize];
        if !r.arrays.is_empty() || !r.objects.is_empty() {
            return true;
        }
        r.lexemes.iter().any(|&l| {
            let lexeme = &program.lexemes[l as usize];
            let start = lexeme.start();
            program.has_many_endings(l, start, 0, array.count, true)
                || match lexeme.kind() {
                    LexemeKind::Raw => self.lacks_value(array, (l, start), b""),
                    _ => program.num_texts(l, start, 0) > self.num_used(array, (l, start), b""),
                }
        })
    }

    /// Drops the items of the scalar `next` that can only become an element that the array around it has already.
    /// `from` is where `byte` led from. False if none is left.
    pub(super) fn keep_unused(&mut self, from: FrameId, next: FrameId, byte: u8) -> bool {
        let node = self.arena.nodes[next as usize];
        if node.kind != FrameKind::Scalar {
            return true;
        }
        let array = self.arena.nodes[node.parent as usize];
        if array.kind != FrameKind::Array
            || array.key == u32::MAX
            || array.seen == u32::MAX
            || self.is_unchecked(&array)
        {
            return true;
        }
        // The scalar that the byte was read in, or none where it begins one.
        let before = Some(self.arena.nodes[from as usize]).filter(|before| before.kind == FrameKind::Scalar);
        let count = node.count;
        // Elements may be long, and hardly any byte asks what was read of one.
        let mut read: Option<Vec<u8>> = None;
        let items = &self.arena.arrays[array.start as usize..(array.start + array.len) as usize];
        let may_repeat = items.iter().filter(|i| !self.program.arrays[i.shape as usize].unique);
        let mut free: SmallVec<[u32; 4]> = may_repeat.map(|i| i.child).collect();
        free.sort_unstable();
        let mut old = before.as_ref().map_or(0..0, Frame::items);
        let mut kept = node.start as usize;
        for i in node.items() {
            let item = self.arena.scalars[i];
            let keep = free.binary_search(&item.tag).is_ok()
                || self.program.has_many_endings(item.lexeme, item.state, count, array.count, false)
                || before.is_some_and(|before| self.ends_as_before(&mut old, &item, (before.count, count)))
                || {
                    let read = read.get_or_insert_with(|| {
                        let mut read = self.arena.bytes_since(self.arena.trace, array.key);
                        read.push(byte);
                        read
                    });
                    self.has_unused_end(&array, &item, count, read.trim_ascii_start())
                };
            if keep {
                self.arena.scalars[kept] = item;
                kept += 1;
            }
        }
        self.arena.scalars.truncate(kept);
        self.arena.nodes[next as usize].len = kept as u32 - node.start;
        kept > node.start as usize
    }

    /// Whether as much ends an item as ended it in the scalar `before` a byte: then nothing was decided by the byte,
    /// and what was left there is left here. So the bytes of a long constant that lie between two choices cost nothing.
    ///
    /// `before` are the numbers of the items there which no item before this one came from: a step keeps their order,
    /// so thousands of them are walked once for all items. `counts` are the code points read there and here.
    pub(super) fn ends_as_before(&self, before: &mut Range<usize>, item: &ScalarItem, counts: (u32, u32)) -> bool {
        let from = before.map(|i| self.arena.scalars[i]).find(|i| (i.tag, i.lexeme) == (item.tag, item.lexeme));
        let ends = |state: StateId, count: u32| self.program.num_ends(item.lexeme, state, count);
        from.is_some_and(|from| ends(item.state, counts.1).is_some_and(|n| ends(from.state, counts.0) == Some(n)))
    }

    /// Whether some way to end an item, which stands behind `read`, is an element that the array does not have.
    fn has_unused_end(&mut self, array: &Frame, item: &ScalarItem, count: u32, read: &[u8]) -> bool {
        let program = self.program;
        let place = (item.lexeme, item.state);
        match program.lexemes[item.lexeme as usize].kind() {
            LexemeKind::Raw => {
                let many = || program.has_many_endings(item.lexeme, item.state, count, array.count, true);
                is_decimal(read) && many() || self.lacks_value(array, place, read)
            }
            // Elements are different texts, so those that end the item are counted.
            _ => match program.num_ends(item.lexeme, item.state, count) {
                Some(n) => n > self.num_used(array, place, read),
                None => true,
            },
        }
    }

    /// Whether the array has fewer than all of the values that a number or word may become behind `read`.
    fn lacks_value(&mut self, array: &Frame, (lexeme, state): (u32, StateId), read: &[u8]) -> bool {
        let values = self.program.values(lexeme, state, 0, array.count, read);
        values.is_none_or(|all| self.lacks_one(array, &all))
    }

    /// How many elements of the array a string may become behind `read`.
    fn num_used(&mut self, array: &Frame, (lexeme, state): (u32, StateId), read: &[u8]) -> u64 {
        let l = &self.program.lexemes[lexeme as usize];
        let (text, sub, _) = decode(EscapeState::Plain, read.iter().skip(1).copied());
        let mut beginning = b"\"\"".to_vec();
        escape(&text, &mut beginning);
        let accepts = |value: &[u8]| l.accepts(&value[1..]);
        let elements = &mut self.arena.unique.elements;
        if sub == EscapeState::Plain {
            return elements.num_beginning(array.seen, lexeme, &beginning, accepts, None);
        }
        // In the middle of an escape, those of which the next character may be the escaped one.
        let goes_on = |rest: &[u8]| next_char(rest).is_some_and(|c| l.may_spell(state, c));
        elements.num_beginning(array.seen, lexeme, &beginning, accepts, Some(&goes_on))
    }
}

/// The first character of what is left of a canonical string.
fn next_char(rest: &[u8]) -> Option<char> {
    let text = decode(EscapeState::Plain, rest.iter().take(ESCAPE).copied()).0;
    let len = 1 + text.iter().skip(1).take_while(|b| **b & 0xC0 == 0x80).count();
    std::str::from_utf8(text.get(..len)?).ok()?.chars().next()
}
