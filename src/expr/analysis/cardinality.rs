//! The number of strings that an expression accepts.
//!
//! Counting walks the derivative graph: a live cycle means infinitely many, otherwise the counts of successors add up.
//! Beyond a bound of states the answer is "infinitely many" as well: a language with more states than that has more
//! members than any document can use up.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::expr::{Expr, ExprId, Exprs};
use crate::util::cancel::should_stop;

/// Memo of [`size`].
pub type CardinalityTable = FxHashMap<ExprId, u64>;

/// States where there is a choice.
const MAX_STATES: usize = 20_000;
/// Alternatives of all those states: large unions cost as much as many states, and come from as many members.
const MAX_PARTS: usize = 1_000_000;
/// Nodes of expressions that are made for an answer, about: states may be unions of as many ways to read a text, each
/// with texts of its own.
const MOST_NODES: usize = 200_000;
/// The same along one path.
const WIDE_NODES: usize = 40_000;
/// States between two choices. Constants have as many as they have bytes, however few members there are.
const MAX_BETWEEN: usize = 1 << 22;
/// The share of states that are remembered: one in so many.
const MARKED: usize = 8;

/// The number of members of `e`, `u64::MAX` for infinitely or immensely many. Every derivative must be decided live or
/// dead already (see [`Exprs::decide_live`]).
pub fn size(x: &mut Exprs, table: &mut CardinalityTable, e: ExprId) -> u64 {
    // Without a bound there is an answer.
    size_within(x, table, e, usize::MAX).unwrap_or(u64::MAX)
}

/// [`size`], unless finding it takes more than about `most` states and alternatives of states with a choice, or the
/// work at hand must end.
pub fn size_within(x: &mut Exprs, table: &mut CardinalityTable, e: ExprId, most: usize) -> Option<u64> {
    let (mut at, mut passed, mut marks) = (e, 0, SmallVec::<[ExprId; 8]>::new());
    let n = loop {
        if let Some(&n) = table.get(&at) {
            break n;
        }
        if passed % MARKED == 0 {
            marks.push(at);
        }
        match only_way(x, at).filter(|_| passed < MAX_BETWEEN) {
            Some(next) => (at, passed) = (next, passed + 1),
            None => break size_of_choice(x, table, at, most)?,
        }
    };
    // Where it is near what is known, a state is not worth remembering.
    if passed >= MARKED {
        table.extend(marks.into_iter().map(|mark| (mark, n)));
    }
    Some(n)
}

/// What follows a state that only one byte leads on from, as the expression says it: of a constant all but the last.
fn only_way(x: &Exprs, e: ExprId) -> Option<ExprId> {
    match x.get(e) {
        Expr::Step { nullable: false, edges } => match **edges {
            [edge] if edge.lo == edge.hi => Some(edge.to),
            _ => None,
        },
        _ => None,
    }
}

/// The next state from `e` on with a choice; the states on the way there have as many members.
fn next_choice(x: &Exprs, mut e: ExprId, passed: &mut usize) -> ExprId {
    while let Some(next) = only_way(x, e) {
        e = next;
        *passed += 1;
    }
    e
}

/// [`size_within`] of a state with a choice.
fn size_of_choice(x: &mut Exprs, table: &mut CardinalityTable, e: ExprId, most: usize) -> Option<u64> {
    let mut effort = Effort { spent: 0, most };
    if is_immense(x, table, e, &mut effort)? {
        table.insert(e, u64::MAX);
        return Some(u64::MAX);
    }
    let mut on_path = rustc_hash::FxHashSet::default();
    let mut stack = vec![(e, false)];
    let (mut visited, mut parts, mut passed) = (0, 0, 0);
    let before = x.own_size();
    while let Some((cur, leave)) = stack.pop() {
        if leave {
            on_path.remove(&cur);
            let mut n = x.nullable(cur) as u64;
            for edge in x.row(cur).iter() {
                if x.finds_live(edge.to) {
                    let width = (edge.hi - edge.lo) as u64 + 1;
                    let to = next_choice(x, edge.to, &mut passed);
                    n = n.saturating_add(table.get(&to).copied().unwrap_or(0).saturating_mul(width));
                }
            }
            table.insert(cur, n);
            continue;
        }
        if table.contains_key(&cur) {
            continue;
        }
        visited += 1;
        if let Expr::Alt(v) | Expr::And(v) = x.get(cur) {
            parts += v.len();
        }
        // What was found until then holds.
        effort.spend(x, cur)?;
        if !on_path.insert(cur)
            || visited > MAX_STATES
            || parts > MAX_PARTS
            || passed > MAX_BETWEEN
            || x.own_size() - before > MOST_NODES
        {
            // A live cycle, or too much to count. Everything on the path leads here.
            for &p in &on_path {
                table.insert(p, u64::MAX);
            }
            table.insert(e, u64::MAX);
            return Some(u64::MAX);
        }
        stack.push((cur, true));
        for edge in x.row(cur).iter() {
            if x.finds_live(edge.to) {
                let to = next_choice(x, edge.to, &mut passed);
                if on_path.contains(&to) {
                    for &p in &on_path {
                        table.insert(p, u64::MAX);
                    }
                    return Some(u64::MAX);
                }
                stack.push((to, false));
            }
        }
    }
    Some(table.get(&e).copied().unwrap_or(0))
}

/// Whether `e` is seen to have more members than any document can use up: along the widest ranges of bytes, whatever
/// is read multiplies, or states become unions of very many ways to read it. False decides nothing.
fn is_immense(x: &mut Exprs, table: &mut CardinalityTable, e: ExprId, effort: &mut Effort) -> Option<bool> {
    /// Bytes that are looked at.
    const DEPTH: usize = 64;
    const IMMENSE: u64 = 1 << 40;
    let (mut at, mut ways) = (e, 1u64);
    let (before, mut path) = (x.own_size(), Vec::new());
    for _ in 0..DEPTH {
        if x.own_size() - before > WIDE_NODES || table.get(&at) == Some(&u64::MAX) {
            // So it is at each state on the way, and whoever goes that way asks there.
            table.extend(path.into_iter().map(|state| (state, u64::MAX)));
            return Some(true);
        }
        path.push(at);
        effort.spend(x, at)?;
        let row = x.row(at);
        let mut widest = None;
        for edge in row.iter() {
            let width = u64::from(edge.hi - edge.lo) + 1;
            if widest.is_none_or(|(w, _)| w < width) && x.finds_live(edge.to) {
                widest = Some((width, edge.to));
            }
        }
        let Some((width, to)) = widest else { return Some(false) };
        (at, ways) = (to, ways.saturating_mul(width));
        if ways >= IMMENSE {
            return Some(true);
        }
    }
    Some(false)
}

/// What counting may take, where it is bounded.
struct Effort {
    spent: usize,
    most: usize,
}

impl Effort {
    /// Counts a state whose row is asked for; `None` if that is too much, or the work at hand must end. The parts of a
    /// union are compared with each other.
    fn spend(&mut self, x: &Exprs, state: ExprId) -> Option<()> {
        const COMPARED_A_STEP: usize = 64;
        if self.most == usize::MAX {
            return Some(());
        }
        let parts = if let Expr::Alt(v) | Expr::And(v) = x.get(state) { v.len() } else { 1 };
        self.spent = self.spent.saturating_add(parts + parts * parts / COMPARED_A_STEP);
        (self.spent <= self.most && !should_stop()).then_some(())
    }
}

#[cfg(test)]
mod tests;
