//! Slice exits: what may be read after a string over a set of characters.
//!
//! The tokens over a slice are known, and others are looked for where they leave its set. Most that leave it are dead
//! at once, and which these are is read off the expression: behind `[a-z]+:\w+` a string of small letters goes on with
//! those and with a colon. How long a string over the set may be is read off as well: behind `[a-z]{2,8}-` at most
//! eight characters. Both answers are upper bounds.

use rustc_hash::FxHashMap;

use crate::expr::analysis::char_groups::{
    CharGroups, PartialChar, begun_by, group_of, groups_behind, groups_of_some, last_bytes, specials_of,
};
use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// What is read of an expression.
#[derive(Clone, Copy)]
struct ExitRead {
    /// Groups of characters that may be read.
    groups: CharGroups,
    /// The most characters of a string over the set with which some member begins.
    run: u32,
    /// The most characters of a member that lies over the set as a whole; `None` if there is none.
    whole: Option<u32>,
}

impl ExitRead {
    /// The widest answer: nothing is known.
    const UNKNOWN: ExitRead = ExitRead { groups: !0, run: INF, whole: Some(INF) };

    fn or(self, other: ExitRead) -> ExitRead {
        ExitRead {
            groups: self.groups | other.groups,
            run: self.run.max(other.run),
            whole: self.whole.max(other.whole),
        }
    }

    /// What is read behind `chars` more characters of the set.
    fn behind(self, chars: u32) -> ExitRead {
        ExitRead { run: self.run.saturating_add(chars), whole: self.whole.map(|n| n.saturating_add(chars)), ..self }
    }
}

/// Memo of [`beyond`] for the set that was asked about last: states of one lexeme have most of it in common.
#[derive(Default)]
pub struct SliceExitTable {
    set: CharGroups,
    known: FxHashMap<ExprId, ExitRead>,
}

/// The groups of the characters that may follow a string over `set`, the empty one included, with which a member of
/// `e` begins, all where that is not known; and the most characters of such a string, [`INF`] for any number or where
/// that is not known. `e` begins between two characters.
pub fn beyond(x: &Exprs, table: &mut SliceExitTable, e: ExprId, set: CharGroups) -> (CharGroups, u32) {
    if table.set != set || table.known.len() > KEPT {
        *table = SliceExitTable { set, known: FxHashMap::default() };
    }
    let most = table.known.len() + MOST_EXPRESSIONS;
    let read = SliceExit { x, set, known: &mut table.known, most }.read(e, DEPTH);
    (read.groups, read.run)
}

/// How deep an expression is looked into.
const DEPTH: u32 = 100;
/// How many expressions are looked into.
const MOST_EXPRESSIONS: usize = 2_000;
/// How many are remembered for the next question.
const KEPT: usize = 400;

struct SliceExit<'a> {
    x: &'a Exprs,
    set: CharGroups,
    known: &'a mut FxHashMap<ExprId, ExitRead>,
    most: usize,
}

impl SliceExit<'_> {
    fn read(&mut self, e: ExprId, depth: u32) -> ExitRead {
        if let Some(&known) = self.known.get(&e) {
            return known;
        }
        let Some(depth) = depth.checked_sub(1).filter(|_| self.known.len() < self.most) else {
            return ExitRead::UNKNOWN;
        };
        let x = self.x;
        let none = ExitRead { groups: 0, run: 0, whole: None };
        let empty = ExitRead { whole: Some(0), ..none };
        let found = match x.get(e) {
            Expr::Never => none,
            Expr::Eps => empty,
            Expr::Step { nullable, edges } => edges.iter().fold(if *nullable { empty } else { none }, |all, edge| {
                let (mut groups, mut follows) = (0, None);
                for b in edge.lo..=edge.hi {
                    let own = begun(x, b, edge.to);
                    groups |= own;
                    // Inside of a character nothing is read that its first byte did not stand for.
                    follows = follows.max(match b & 0xC0 {
                        0x80 => Some(0),
                        _ => (own & self.set != 0).then_some(1),
                    });
                }
                let all = all.or(ExitRead { groups, ..none });
                match follows {
                    // Of four bytes there are few, but deeper.
                    Some(chars) if (0xC2..0xF0).contains(&edge.lo) => all.or(self.inside(edge.to, depth).behind(chars)),
                    Some(chars) => all.or(self.read(edge.to, depth).behind(chars)),
                    None => all,
                }
            }),
            Expr::Cat(a, b) => match self.read(*a, depth) {
                first @ ExitRead { whole: Some(chars), .. } => {
                    let rest = self.read(*b, depth).behind(chars);
                    ExitRead { whole: rest.whole, ..first.or(rest) }
                }
                first => first,
            },
            Expr::Alt(parts) => parts.iter().fold(none, |all, &p| all.or(self.read(p, depth))),
            Expr::And(parts) => parts.iter().fold(ExitRead::UNKNOWN, |all, &p| {
                let more = self.read(p, depth);
                ExitRead {
                    groups: all.groups & more.groups,
                    run: all.run.min(more.run),
                    whole: all.whole.min(more.whole),
                }
            }),
            Expr::Rep { body, min, max } => {
                let one = self.read(*body, depth);
                let before =
                    one.whole.unwrap_or(0).saturating_mul(if *max == INF { INF } else { max.saturating_sub(1) });
                let all = one.behind(before);
                ExitRead { whole: if *min == 0 { all.whole.max(Some(0)) } else { all.whole }, ..all }
            }
            Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => ExitRead::UNKNOWN,
        };
        self.known.insert(e, found);
        found
    }

    /// What is read behind a string over the set, for `e` that begins inside of a character of two or three bytes.
    /// Tries of big classes are not remembered.
    fn inside(&mut self, e: ExprId, depth: u32) -> ExitRead {
        let none = ExitRead { groups: 0, run: 0, whole: None };
        let Some(depth) = depth.checked_sub(1) else { return ExitRead::UNKNOWN };
        let edges = match self.x.get(e) {
            Expr::Step { nullable: false, edges } if edges.iter().all(|e| e.lo & 0xC0 == 0x80) => edges,
            Expr::Eps => return ExitRead { whole: Some(0), ..none },
            _ => return self.read(e, depth),
        };
        let mut last = None;
        edges.iter().fold(none, |all, edge| match last.replace(edge.to) {
            Some(to) if to == edge.to => all,
            _ => all.or(self.inside(edge.to, depth)),
        })
    }
}

/// The groups of the characters with the first byte `lead` that `e` reads the rest of, and those that their beginnings
/// count as; perhaps some more.
fn begun(x: &Exprs, lead: u8, e: ExprId) -> CharGroups {
    let all = group_of(lead) | specials_of(lead);
    let rest = |e: ExprId| match x.get(e) {
        Expr::Step { edges, .. } => Some(&edges[..]),
        _ => None,
    };
    let Some(seconds) = rest(e).filter(|_| (0xC2..0xF0).contains(&lead)) else { return all };
    let last = |edges: &[Edge]| edges.iter().fold(0, |all, e| all | last_bytes(e.lo, e.hi));
    let mut found = PartialChar::default().after(lead).0.partial();
    if lead < 0xE0 {
        return found | groups_of_some(u32::from(lead & 0x1F), last(seconds));
    }
    for (second, to) in seconds.iter().flat_map(|e| (e.lo..=e.hi).map(|b| (b, e.to))) {
        if found == all {
            break;
        }
        let behind = groups_behind(lead, second);
        found |= begun_by(lead, second);
        if behind & !found != 0 {
            let common = u32::from(lead & 0xF) << 6 | u32::from(second & 0x3F);
            found |= rest(to).map_or(behind, |thirds| groups_of_some(common, last(thirds)));
        }
    }
    found
}

#[cfg(test)]
mod tests;
