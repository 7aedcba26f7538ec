//! The bytes that complete a lexeme, from whatever was begun of it.
//!
//! A vocabulary may lack tokens of single bytes, most often of control characters and of the first bytes of rare
//! scripts. A budget over it costs nothing where no completion needs them. The structure of an expression tells that in
//! one walk; where it does not, because of complements and intersections, all states are asked, if they are few.

use crate::expr::analysis::completes_without::completes_without;
use crate::expr::{ByteSet, INF};
use crate::lexeme::max_distance::distances;
use crate::lexeme::shortest_end::{preferred, shortest_end};
use crate::lexeme::{Lexeme, LexemeKind};

impl Lexeme {
    /// The bytes of which [`shortest_end`] is made from any state of a raw lexeme: all that it may write, perhaps some
    /// more. Costs a search from each of some hundred states at most.
    pub fn ending_bytes(&self) -> ByteSet {
        let used = self.used_bytes();
        if self.kind() != LexemeKind::Raw {
            return used;
        }
        // Of the bytes of a class, a search tries one.
        let classes = self.byte_classes();
        let class = |byte: u8| usize::from(classes[usize::from(byte)]);
        let mut tried = [None; 256];
        preferred().for_each(|byte| _ = tried[class(byte)].get_or_insert(byte));
        let is_rare = |byte: u8| !(0x20..0xC0).contains(&byte) && byte != b'\n';
        // Rare bytes count for nothing, so a way that has some is found shorter than it is.
        let cost = |byte: u8| match (is_rare(byte), tried[class(byte)] == Some(byte)) {
            (true, true) => 0,
            (true, false) => INF,
            (false, _) => 1,
        };
        let expr = self.state(self.start).expr;
        if completes_without(&self.lock().exprs, expr, cost, is_rare) {
            return std::array::from_fn(|byte| used[byte] && !is_rare(byte as u8));
        }
        self.bytes_of_ends().unwrap_or(used)
    }

    /// The bytes of the shortest ends of all states; `None` of a lexeme of many states.
    fn bytes_of_ends(&self) -> Option<ByteSet> {
        let mut out = [false; 256];
        for ((state, count), bytes) in distances(self, self.start, 0, true)? {
            // A search does not promise the shortest end; a bound elsewhere relies on it.
            let end = shortest_end(self, state, count).filter(|end| end.len() == bytes as usize)?;
            end.iter().for_each(|&byte| out[usize::from(byte)] = true);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests;
