//! What may be read after a string over a set of characters.
//!
//! The tokens over a set in which a state is free are known, and others are looked for where they leave the set. Most
//! that leave it are dead at once, and which these are is read off the expression: behind `[a-z]+:\w+` a string of
//! small letters goes on with those and with a colon. The answer is an upper bound.

use rustc_hash::FxHashMap;

use super::groups::{Groups, group_of, specials_of};
use crate::ir::{Expr, ExprId, Exprs};

/// Groups of characters that may be read, and whether some member of the expression may be over the set.
type Read = (Groups, bool);

/// Nothing is known.
const UNKNOWN: Read = (!0, true);

/// The groups of the characters that may follow a string over `set`, the empty one included, with which a member of
/// `e` begins; all where that is not known. `e` begins between two characters.
pub fn beyond(x: &Exprs, e: ExprId, set: Groups) -> Groups {
    Beyond { x, set, known: FxHashMap::default() }.of(e, DEPTH).0
}

/// How deep an expression is looked into.
const DEPTH: u32 = 100;
/// How many expressions are looked into.
const MOST: usize = 2_000;

struct Beyond<'a> {
    x: &'a Exprs,
    set: Groups,
    known: FxHashMap<ExprId, Read>,
}

impl Beyond<'_> {
    fn of(&mut self, e: ExprId, depth: u32) -> Read {
        if let Some(&known) = self.known.get(&e) {
            return known;
        }
        let Some(depth) = depth.checked_sub(1).filter(|_| self.known.len() < MOST) else { return UNKNOWN };
        let x = self.x;
        let found = match x.get(e) {
            Expr::Never => (0, false),
            Expr::Eps => (0, true),
            Expr::Step { nullable, edges } => edges.iter().fold((0, *nullable), |(mut all, mut over), edge| {
                let mut follows = false;
                for b in edge.lo..=edge.hi {
                    let groups = group_of(b) | specials_of(b);
                    all |= groups;
                    // Inside of a character nothing is read that its first byte did not stand for.
                    follows |= groups & self.set != 0 || b & 0xC0 == 0x80;
                }
                if follows {
                    let (more, ends) = self.of(edge.to, depth);
                    (all, over) = (all | more, over | ends);
                }
                (all, over)
            }),
            Expr::Cat(a, b) => match self.of(*a, depth) {
                (first, true) => {
                    let (more, over) = self.of(*b, depth);
                    (first | more, over)
                }
                first => first,
            },
            Expr::Alt(parts) => parts.iter().fold((0, false), |(all, over), &p| {
                let (more, ends) = self.of(p, depth);
                (all | more, over | ends)
            }),
            Expr::And(parts) => parts.iter().fold(UNKNOWN, |(all, over), &p| {
                let (more, ends) = self.of(p, depth);
                (all & more, over & ends)
            }),
            Expr::Rep { body, min, .. } => {
                let (all, over) = self.of(*body, depth);
                (all, over || *min == 0)
            }
            Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => UNKNOWN,
        };
        self.known.insert(e, found);
        found
    }
}

#[cfg(test)]
mod tests;
