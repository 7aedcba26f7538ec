//! What may be read after a string over a set of characters.
//!
//! The tokens over a set in which a state is free are known, and others are looked for where they leave the set. Most
//! that leave it are dead at once, and which these are is read off the expression: behind `[a-z]+:\w+` a string of
//! small letters goes on with those and with a colon. The answer is an upper bound.

use rustc_hash::FxHashMap;

use super::groups::{Groups, Place, group_of, groups_behind, special, specials_of};
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
                    let groups = begun(x, b, edge.to);
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

/// The groups of the characters with the first byte `lead` that `e` reads the rest of, and those that their beginnings
/// count as; perhaps some more.
fn begun(x: &Exprs, lead: u8, e: ExprId) -> Groups {
    let all = group_of(lead) | specials_of(lead);
    let rest = |e: ExprId| match x.get(e) {
        Expr::Step { edges, .. } => Some(&edges[..]),
        _ => None,
    };
    let Some(seconds) = rest(e).filter(|_| (0xC2..0xF0).contains(&lead)) else { return all };
    let group = |c: u32| if special(c) != 0 { special(c) } else { group_of(lead) };
    let partial = |bytes: &[u8]| bytes.iter().fold(Place::default(), |place, &b| place.after(b).0).partial();
    let mut found = partial(&[lead]);
    for (second, to) in seconds.iter().flat_map(|e| (e.lo..=e.hi).map(|b| (b, e.to))) {
        if lead < 0xE0 {
            found |= group(u32::from(lead & 0x1F) << 6 | u32::from(second & 0x3F));
            continue;
        }
        let behind = groups_behind(lead, second);
        found |= partial(&[lead, second]);
        match rest(to) {
            _ if behind & !found == 0 => {}
            Some(thirds) if !matches!(*thirds, [e] if (e.lo, e.hi) == (0x80, 0xBF)) => {
                let high = u32::from(lead & 0xF) << 12 | u32::from(second & 0x3F) << 6;
                let bytes = thirds.iter().flat_map(|e| e.lo..=e.hi);
                found |= bytes.fold(0, |all, third| all | group(high | u32::from(third & 0x3F)));
            }
            _ => found |= behind,
        }
    }
    found
}

#[cfg(test)]
mod tests;
