//! Texts that a search prefers: what lazy repetitions and the order of alternatives mean.
//!
//! A search tries the ways through a pattern in an order, and the first that succeeds counts. All ways are followed at
//! once here, as *threads* in that order (Pike; Cox's leftmost-first automaton). When a thread ends, those behind it
//! are given up; those before it go on, and if one of them ends later, that counts instead. So the texts at whose end
//! some thread ends are a language, and the longest of them that an output begins with is what a search finds there.
//!
//! Look-ahead is an obligation that travels with a thread: an expression of all that may follow. A thread that ends
//! with an open obligation ends only where it holds, and those behind it go on only where it does not.

use smallvec::{SmallVec, smallvec};

use crate::error::{Error, Result};
use crate::expr::marked_texts::MARK;
use crate::expr::{Edge, ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode, INF};
use crate::regex::lower::continuation::{ContinuationWalk, Kont};
use crate::regex::lower::look_behind::END;
use crate::regex::lower::symbol_texts::SymbolTexts;
use crate::util::seeded_hash::{SeededMap, SeededSet};

/// Lists of threads that are looked at. A pattern of a hundred characters has some dozens.
const MOST_STATES: usize = 10_000;

/// Whether a pattern has a repetition that prefers few copies.
pub(crate) fn is_lazy(ast: &Ast) -> bool {
    (0..ast.len() as AstId).any(|n| prefers_few(ast, n))
}

/// Whether a node is a repetition that prefers few copies, and may have more.
fn prefers_few(ast: &Ast, n: AstId) -> bool {
    ast.facts(n).lazy && matches!(ast.get(n), AstNode::Rep { min, max, .. } if min < max)
}

type PathId = u32;

/// What a thread has still to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Path {
    End,
    Node(AstId, PathId),
    /// Copies of a repetition's body, and then the rest.
    Loop {
        node: AstId,
        min: u32,
        max: u32,
        rest: PathId,
    },
}

/// One way through the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Thread {
    /// What it reads now; never the empty text.
    reads: ExprId,
    then: PathId,
    /// What may follow, as far as look-ahead says.
    owes: ExprId,
}

/// Threads in their order, and what look-behind knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ThreadList {
    threads: Vec<Thread>,
    trackers: Vec<ExprId>,
}

struct Search<'a, 'w> {
    w: &'a mut ContinuationWalk<'w>,
    paths: Vec<Path>,
    path_ids: SeededMap<Path, PathId>,
}

/// The texts of a tree that a search may find.
///
/// # Errors
/// `Limit` for too many lists of threads, and the errors of the walk.
pub(crate) fn lower(w: &mut ContinuationWalk<'_>, root: AstId, limits: &Limits) -> Result<SymbolTexts> {
    let mut s = Search { w, paths: Vec::new(), path_ids: SeededMap::default() };
    let end = s.path(Path::End);
    let whole = s.path(Path::Node(root, end));
    let trackers = s.w.behind.start();
    let mut list = ThreadList { threads: Vec::new(), trackers };
    let mut ends = Vec::new();
    s.follow(whole, Exprs::ALL, &mut list, &mut ends, &mut SeededSet::default())?;
    // Names for what is read from each list on: the texts, and the texts with what may follow.
    let mut names: SeededMap<ThreadList, usize> = SeededMap::default();
    let mut states: Vec<((u32, ExprId), (u32, ExprId))> = Vec::new();
    let mut order: Vec<(ThreadList, ExprId)> = Vec::new();
    let mut conditional = false;
    let mut name = |s: &mut Search<'_, '_>, order: &mut Vec<(ThreadList, ExprId)>, list: ThreadList, end: ExprId| {
        // The same threads may be left by one that ended and by one that did not.
        let mut key = list.clone();
        key.trackers.push(end);
        if let Some(&n) = names.get(&key) {
            return Ok::<usize, Error>(n);
        }
        let ends = s.w.x.decide_live(end, limits.max_explored_states)?;
        conditional |= ends && end != Exprs::ALL;
        states.push((s.w.x.fix(ends), s.w.x.fix(false)));
        order.push((list, end));
        names.insert(key, order.len() - 1);
        Ok(order.len() - 1)
    };
    let end = s.w.x.alt(&ends);
    name(&mut s, &mut order, list, end)?;
    let mut rows: Vec<Vec<(u8, u8, usize)>> = Vec::new();
    while let Some((list, _)) = order.get(rows.len()).cloned() {
        if order.len() > MOST_STATES {
            let e = Error::limit("states of a pattern with lazy repetitions", MOST_STATES as u64, order.len() as u64);
            return Err(e);
        }
        s.w.check()?;
        let mut row = Vec::new();
        for (lo, hi) in s.ranges(&list) {
            let (next, end) = s.read(&list, lo)?;
            if !next.threads.is_empty() || end != Exprs::NEVER {
                row.push((lo, hi, name(&mut s, &mut order, next, end)?));
            }
        }
        rows.push(row);
    }
    let x = &mut *s.w.x;
    let any = x.any_text();
    for ((_, end), (row, state)) in order.iter().zip(rows.iter().zip(&states)) {
        let to = |pick: &dyn Fn(usize) -> ExprId| -> Vec<Edge> {
            row.iter().map(|&(lo, hi, n)| Edge { lo, hi, to: pick(n) }).collect()
        };
        let texts = to(&|n| states[n].0.1);
        let ends = x.nullable(state.0.1);
        let texts = x.step(ends, texts);
        x.define(state.0.0, texts);
        if conditional {
            let mut edges = to(&|n| states[n].1.1);
            let rest = x.and(&[*end, any]);
            edges.push(Edge { lo: MARK, hi: MARK, to: rest });
            let context = x.step(false, edges);
            x.define(state.1.0, context);
        }
    }
    x.check()?;
    let Some((texts, context)) = states.first() else { return Ok(SymbolTexts { texts: Exprs::NEVER, context: None }) };
    Ok(SymbolTexts { texts: texts.1, context: if conditional { Some(context.1) } else { None } })
}

impl Search<'_, '_> {
    fn path(&mut self, path: Path) -> PathId {
        if let Some(&id) = self.path_ids.get(&path) {
            return id;
        }
        self.paths.push(path);
        let id = self.paths.len() as PathId - 1;
        self.path_ids.insert(path, id);
        id
    }

    /// Ranges of bytes that a list does not tell apart, below the mark.
    fn ranges(&mut self, list: &ThreadList) -> Vec<(u8, u8)> {
        let mut borders = [false; 256];
        borders[0] = true;
        let exprs = list.threads.iter().flat_map(|t| [t.reads, t.owes]).chain(list.trackers.iter().copied());
        for e in exprs {
            for edge in self.w.x.row(e).iter() {
                borders[usize::from(edge.lo)] = true;
                if edge.hi < u8::MAX {
                    borders[usize::from(edge.hi) + 1] = true;
                }
            }
        }
        let starts: Vec<u8> = (0..MARK).filter(|&b| borders[usize::from(b)]).collect();
        let ends = starts.iter().skip(1).map(|&b| b - 1).chain([MARK - 1]);
        starts.iter().copied().zip(ends).collect()
    }

    /// The list after one byte, and what may follow where a thread ends there.
    fn read(&mut self, list: &ThreadList, byte: u8) -> Result<(ThreadList, ExprId)> {
        let trackers = list.trackers.iter().map(|&t| self.w.x.derive(t, byte)).collect();
        let mut next = ThreadList { threads: Vec::new(), trackers };
        let mut ends = Vec::new();
        let mut seen = SeededSet::default();
        for thread in &list.threads {
            let reads = self.w.x.derive(thread.reads, byte);
            let mut owes = self.w.x.derive(thread.owes, byte);
            if reads == Exprs::NEVER || owes == Exprs::NEVER {
                continue;
            }
            if reads == Exprs::EPS {
                if !self.follow(thread.then, owes, &mut next, &mut ends, &mut seen)? {
                    break;
                }
                continue;
            }
            owes = self.left_over(owes, &ends);
            let thread = Thread { reads, owes, ..*thread };
            if owes != Exprs::NEVER && !next.threads.contains(&thread) {
                next.threads.push(thread);
            }
        }
        let end = self.w.x.alt(&ends);
        Ok((next, end))
    }

    /// What a thread owes beside that those before it have not ended.
    fn left_over(&mut self, owes: ExprId, ends: &[ExprId]) -> ExprId {
        ends.iter().fold(owes, |owes, &end| self.w.x.minus(owes, end))
    }

    /// Follows a path to all that it may read next, in order. `false` if it ended: what comes behind is given up.
    fn follow(
        &mut self,
        path: PathId,
        owes: ExprId,
        list: &mut ThreadList,
        ends: &mut Vec<ExprId>,
        seen: &mut SeededSet<(PathId, ExprId)>,
    ) -> Result<bool> {
        let mut todo = vec![(path, owes)];
        while let Some((path, owes)) = todo.pop() {
            let owes = self.left_over(owes, ends);
            if owes == Exprs::NEVER || !seen.insert((path, owes)) {
                continue;
            }
            self.w.check()?;
            match self.paths[path as usize] {
                Path::End => {
                    ends.push(owes);
                    if owes == Exprs::ALL || ends.len() > 1 && self.all_covered(ends)? {
                        return Ok(false);
                    }
                }
                Path::Loop { node, min, max, rest } => {
                    let ways = self.ways_of_loop(node, (min, max), rest);
                    todo.extend(ways.into_iter().map(|path| (path, owes)));
                }
                Path::Node(n, rest) => self.follow_node(n, (rest, owes), list, &mut todo)?,
            }
        }
        Ok(true)
    }

    /// Where a repetition with this many rounds to go leads, the preferred way last.
    fn ways_of_loop(&mut self, node: AstId, (min, max): (u32, u32), rest: PathId) -> SmallVec<[PathId; 2]> {
        if max == 0 {
            return smallvec![rest];
        }
        let AstNode::Rep { body, .. } = *self.w.ast.get(node) else { return SmallVec::new() };
        let max = if max == INF { INF } else { max - 1 };
        let more = self.path(Path::Loop { node, min: min.saturating_sub(1), max, rest });
        let again = self.path(Path::Node(body, more));
        match (min > 0, prefers_few(&self.w.ast, node)) {
            (true, _) => smallvec![again],
            (false, true) => smallvec![again, rest],
            (false, false) => smallvec![rest, again],
        }
    }

    /// Follows a path over one node: to a thread that reads it, or to what is in it, the preferred way last.
    fn follow_node(
        &mut self,
        n: AstId,
        (rest, owes): (PathId, ExprId),
        list: &mut ThreadList,
        todo: &mut Vec<(PathId, ExprId)>,
    ) -> Result<()> {
        match self.w.ast.get(n).clone() {
            AstNode::Empty => todo.push((rest, owes)),
            AstNode::Text(text) if text.is_empty() => todo.push((rest, owes)),
            AstNode::Text(_) | AstNode::Class(_) => {
                let reads = self.w.pure.expr(n);
                let thread = Thread { reads, then: rest, owes };
                if reads != Exprs::NEVER && !list.threads.contains(&thread) {
                    list.threads.push(thread);
                }
            }
            AstNode::Cat(parts) => {
                let first = parts.iter().rev().fold(rest, |rest, &p| self.path(Path::Node(p, rest)));
                todo.push((first, owes));
            }
            AstNode::Alt(parts) => {
                for &p in parts.iter().rev() {
                    let path = self.path(Path::Node(p, rest));
                    todo.push((path, owes));
                }
            }
            AstNode::Rep { min, max, .. } => {
                let path = self.path(Path::Loop { node: n, min, max, rest });
                todo.push((path, owes));
            }
            AstNode::Atomic(body) => {
                let path = self.path(Path::Node(body, rest));
                todo.push((path, owes));
            }
            AstNode::Look { body, behind: false, negative } => {
                let all = self.w.kont(Kont::All);
                let inner = self.w.kont(Kont::Node(body, all));
                let ahead = self.w.run_from(inner, &list.trackers)?;
                let x = &mut *self.w.x;
                let owes = if negative { x.minus(owes, ahead) } else { x.and(&[owes, ahead]) };
                todo.push((rest, owes));
            }
            AstNode::Look { behind: true, .. } | AstNode::Assert(_) => {
                let next = self.w.behind.allowed(self.w.x, &self.w.ast, n, &list.trackers);
                if next != 0 {
                    let peek = self.w.peek(next, END);
                    let owes = self.w.x.and(&[owes, peek]);
                    todo.push((rest, owes));
                }
            }
        }
        Ok(())
    }

    /// Whether something ends whatever follows.
    fn all_covered(&mut self, ends: &[ExprId]) -> Result<bool> {
        Ok(self.w.x.alt(ends) == Exprs::ALL)
    }
}
