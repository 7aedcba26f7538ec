//! The shortest member of an expression, read off its structure.
//!
//! A search over states finds it as well, but a state may be a union of hundreds of ways to have read a text, and a
//! shortest member may be ten thousand bytes long. Of sequences, unions and repetitions the structure tells the least
//! lengths exactly ([`least`]), so a member is written down part by part. Where several are as short, the first one in
//! the order of the caller's bytes is chosen: a search that tries bytes in that order ends there too.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::expr::analysis::byte_lengths::{ByteLengthTable, least};
use crate::expr::{Expr, ExprId, Exprs};

/// Bytes of texts that are compared with each other; beyond that the first of those that are as short is taken.
const MOST_COMPARED: usize = 1 << 20;

/// A shortest member of `e`, the first one by the `rank` of its bytes; `None` where the structure does not tell one: of
/// an intersection, a complement or what contains itself, and where there is none. It takes `most` bytes at most.
pub fn shortest_text(
    x: &Exprs,
    table: &mut ByteLengthTable,
    e: ExprId,
    rank: &[u8; 256],
    most: u32,
) -> Option<Arc<[u8]>> {
    if least(x, table, e) > most {
        return None;
    }
    Writer { x, table, rank, of_unions: FxHashMap::default(), compared: 0 }.text(e)
}

struct Writer<'a> {
    x: &'a Exprs,
    table: &'a mut ByteLengthTable,
    rank: &'a [u8; 256],
    /// The text of each union that was met.
    of_unions: FxHashMap<ExprId, Arc<[u8]>>,
    compared: usize,
}

impl Writer<'_> {
    fn text(&mut self, e: ExprId) -> Option<Arc<[u8]>> {
        let mut out = Vec::new();
        // What comes next, the first part last, each so many times.
        let mut todo = vec![(e, 1)];
        while let Some((e, times)) = todo.pop() {
            if times > 1 {
                todo.push((e, times - 1));
            }
            // What may be left out is.
            if self.x.nullable(e) {
                continue;
            }
            match self.x.get(e) {
                Expr::Step { edges, .. } => {
                    let whole = least(self.x, self.table, e);
                    let rank = |byte: u8| self.rank[usize::from(byte)];
                    let mut first = None;
                    for edge in edges.iter().filter(|edge| least(self.x, self.table, edge.to) < whole) {
                        let byte = (edge.lo..=edge.hi).min_by_key(|&byte| rank(byte))?;
                        if first.is_none_or(|(known, _)| rank(byte) < rank(known)) {
                            first = Some((byte, edge.to));
                        }
                    }
                    let (byte, to) = first?;
                    out.push(byte);
                    todo.push((to, 1));
                }
                Expr::Cat(a, b) => todo.extend([(*b, 1), (*a, 1)]),
                Expr::Rep { body, min, .. } => todo.push((*body, *min)),
                Expr::Alt(parts) => out.extend_from_slice(&self.of_union(e, parts)?),
                Expr::And(_) | Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) | Expr::Never | Expr::Eps => {
                    return None;
                }
            }
        }
        Some(out.into())
    }

    fn of_union(&mut self, e: ExprId, parts: &[ExprId]) -> Option<Arc<[u8]>> {
        if let Some(known) = self.of_unions.get(&e) {
            return Some(known.clone());
        }
        let whole = least(self.x, self.table, e);
        let mut first: Option<Arc<[u8]>> = None;
        for &part in parts {
            if least(self.x, self.table, part) != whole || (first.is_some() && self.compared > MOST_COMPARED) {
                continue;
            }
            // One whose structure does not tell it may begin with any byte.
            let text = self.text(part)?;
            self.compared += text.len();
            if first.as_ref().is_none_or(|first| self.order(&text, first) == Ordering::Less) {
                first = Some(text);
            }
        }
        let first = first?;
        self.of_unions.insert(e, first.clone());
        Some(first)
    }

    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        let ranks = |text: &[u8]| text.iter().map(|&byte| self.rank[usize::from(byte)]).collect::<Vec<u8>>();
        ranks(a).cmp(&ranks(b))
    }
}
