//! Members of a lexeme: whether a whole text belongs to it, and the list of all where it lists texts, as constants do.

use crate::expr::{Expr, Exprs};
use crate::lexeme::{CLOSED, Lexeme, LexemeKind};

impl Lexeme {
    /// Whether a string, with its quotes, belongs to the lexeme, within the bounds on its length.
    pub fn accepts(&self, quoted: &[u8]) -> bool {
        let (mut at, mut count) = (self.start(), 0u32);
        for &byte in quoted {
            if at <= CLOSED {
                return false;
            }
            let state = self.state(at);
            at = self.next_from(at, state, byte);
            count += u32::from(at != CLOSED && self.starts_char(state, byte));
        }
        at == CLOSED && self.may_close(count)
    }

    /// All texts of a string without bounds on its length, as they decode, if its expression lists them: a trie of
    /// single bytes, not more than `most` of them on all ways together. `None` for any other.
    pub fn texts(&self, most: usize) -> Option<Vec<Box<[u8]>>> {
        if self.kind == LexemeKind::Raw || self.bounded || self.is_any_text {
            return None;
        }
        let b = self.lock();
        let mut out: Vec<Box<[u8]>> = Vec::new();
        let mut path = Vec::new();
        let mut ways = vec![(self.state(self.start).expr, 0, 0)];
        let mut read = 0;
        while let Some((expr, depth, byte)) = ways.pop() {
            if depth > 0 {
                path.truncate(depth - 1);
                path.push(byte);
            }
            let (ends, edges) = match b.exprs.get(expr) {
                Expr::Step { nullable, edges } => (*nullable, &**edges),
                _ if expr == Exprs::EPS => (true, &[][..]),
                _ => return None,
            };
            if ends {
                out.push(path.as_slice().into());
                read += path.len();
            }
            for edge in edges.iter().rev() {
                ways.extend((edge.lo..=edge.hi).rev().map(|byte| (edge.to, depth + 1, byte)));
            }
            read += 1;
            if read + ways.len() > most {
                return None;
            }
        }
        Some(out)
    }
}
