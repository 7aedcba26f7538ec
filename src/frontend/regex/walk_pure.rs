//! Parts without assertions in front of a continuation that asks what was read.
//!
//! If nothing is asked later, a pure part is one factor of a concatenation. Otherwise its texts are split by the
//! context that they lead to. Where every question depends on one code point, the last one decides and no count is
//! unrolled. Else the contexts form an automaton, and the repetition is intersected with the texts that lead from
//! here to each context.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::ast::{Node, NodeId};
use super::set::CharSet;
use super::walk::{ContextId, Key, Kont, KontId, Walk};
use crate::error::{Error, Result};
use crate::ir::{ExprId, Exprs};

impl Walk<'_> {
    /// The expression of pure node `n` and then `rest`, or `None` if something is wanted first.
    pub(super) fn pure_step(
        &mut self,
        key: Key,
        n: NodeId,
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        let e = self.pure.of(n);
        if e == Exprs::NEVER {
            return Ok(Some(Exprs::NEVER));
        }
        if e == Exprs::EPS {
            return Ok(self.get(rest, trackers, idle));
        }
        let f = self.facts(rest);
        let empty = self.x.nullable(e);
        if f.need == 0 {
            let moved = self.get(rest, &[], 0);
            if !empty || idle & f.loops == 0 {
                return Ok(moved.map(|r| self.join(n, e, r)));
            }
            let unmoved = self.get(rest, trackers, idle);
            let (Some(moved), Some(unmoved)) = (moved, unmoved) else { return Ok(None) };
            let some = self.pure.ending_in(self.x, &self.ast, n, &CharSet::full());
            let some = self.x.cat(some, moved);
            return Ok(Some(self.x.alt(&[some, unmoved])));
        }
        match self.ast.get(n).clone() {
            Node::Text(s) => {
                let mut now = trackers.to_vec();
                for c in s.chars() {
                    self.read(&mut now, c, f.need);
                }
                Ok(self.get(rest, &now, 0).map(|r| self.join(n, e, r)))
            }
            Node::Class(_) => self.split_step(key, n, rest, trackers, idle),
            _ if self.behind.short(f.need) => self.split_step(key, n, rest, trackers, idle),
            Node::Cat(parts) => {
                let k = parts.iter().rev().fold(rest, |k, &p| self.kont(Kont::Node(p, k)));
                Ok(self.get(k, trackers, idle))
            }
            Node::Alt(parts) => Ok(self.any_of(&parts, rest, trackers, idle)),
            Node::Atomic(body) => {
                let k = self.kont(Kont::Node(body, rest));
                Ok(self.get(k, trackers, idle))
            }
            _ => self.automaton_step(n, rest, trackers, idle),
        }
    }

    fn join(&mut self, n: NodeId, e: ExprId, rest: ExprId) -> ExprId {
        match self.ast.get(n) {
            Node::Text(s) if rest != Exprs::NEVER => self.x.literal_then(s.as_bytes(), rest),
            _ if rest == self.x.any_text() => {
                let e = self.x.before_text(e);
                self.x.cat(e, rest)
            }
            _ => self.x.cat(e, rest),
        }
    }

    /// Moves the trackers of `need` over one code point.
    fn read(&mut self, trackers: &mut [ExprId], c: char, need: u64) {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        for (i, t) in trackers.iter_mut().enumerate() {
            *t = if need & (1 << i) == 0 { Exprs::NEVER } else { bytes.iter().fold(*t, |e, &b| self.x.derive(e, b)) };
        }
    }

    /// The contexts for `rest` after one code point, with the code points that lead to each.
    fn successors(&mut self, trackers: &[ExprId], rest: KontId) -> Vec<(ContextId, CharSet)> {
        let need = self.facts(rest).need;
        let mut out: Vec<(ContextId, Vec<(u32, u32)>)> = Vec::new();
        for i in 0..self.behind.kinds().len() {
            let Some((set, c)) = self.behind.kinds().get(i).cloned() else { break };
            let mut now = trackers.to_vec();
            self.read(&mut now, c, need);
            let to = self.context(&now, 0, rest);
            match out.iter_mut().find(|o| o.0 == to) {
                Some(o) => o.1.extend_from_slice(set.ranges()),
                None => out.push((to, set.ranges().to_vec())),
            }
        }
        out.into_iter().map(|(c, v)| (c, CharSet::new(v))).collect()
    }

    /// Splits by the last code point: exact for one code point, and where trackers depend on one only.
    fn split_step(
        &mut self,
        key: Key,
        n: NodeId,
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        let split = match self.splits.get(&key) {
            Some(s) => s.clone(),
            None => {
                let mut s = self.successors(trackers, rest);
                if s.len() > 1 {
                    s.retain(|(_, set)| self.pure.ending_in(self.x, &self.ast, n, set) != Exprs::NEVER);
                }
                let s: Rc<[(ContextId, CharSet)]> = s.into();
                self.splits.insert(key, s.clone());
                s
            }
        };
        let e = self.pure.of(n);
        let empty = self.x.nullable(e);
        let unmoved = if empty { self.get(rest, trackers, idle) } else { Some(Exprs::NEVER) };
        // One part per distinct rest.
        let mut parts: Vec<(ExprId, CharSet)> = Vec::new();
        for (c, set) in split.iter() {
            let Some(r) = self.get_key((rest, *c)) else { continue };
            match parts.iter_mut().find(|p| p.0 == r) {
                Some(p) => p.1 = p.1.union(set),
                None => parts.push((r, set.clone())),
            }
        }
        let (true, Some(unmoved)) = (self.wanted.is_empty(), unmoved) else { return Ok(None) };
        if let [(r, _)] = parts[..]
            && (!empty || r == unmoved)
        {
            return Ok(Some(self.join(n, e, r)));
        }
        let mut all = vec![unmoved];
        for (r, set) in parts {
            let piece = self.pure.ending_in(self.x, &self.ast, n, &set);
            all.push(self.x.cat(piece, r));
        }
        Ok(Some(self.x.alt(&all)))
    }

    /// Splits by intersection with the automaton of contexts.
    fn automaton_step(&mut self, n: NodeId, rest: KontId, trackers: &[ExprId], idle: u64) -> Result<Option<ExprId>> {
        let e = self.pure.of(n);
        let unmoved = if self.x.nullable(e) { self.get(rest, trackers, idle) } else { Some(Exprs::NEVER) };
        let start = self.context(trackers, 0, rest);
        let mut order = vec![start];
        let mut index: FxHashMap<ContextId, usize> = FxHashMap::default();
        index.insert(start, 0);
        let mut edges: Vec<Vec<(usize, CharSet)>> = Vec::new();
        while let Some(&c) = order.get(edges.len()) {
            let now = self.contexts[c as usize].trackers.clone();
            let mut out = Vec::new();
            for (to, set) in self.successors(&now, rest) {
                let fresh = order.len();
                let i = *index.entry(to).or_insert(fresh);
                if i == fresh {
                    order.push(to);
                }
                out.push((i, set));
            }
            edges.push(out);
            let most = self.limits.max_explored_states;
            if order.len() > most {
                return Err(
                    Error::limit("contexts of look-behind", most as u64, order.len() as u64).of("max_explored_states")
                );
            }
        }
        let mut rests: Vec<(ExprId, Vec<bool>)> = Vec::new();
        let mut entered = vec![false; order.len()];
        edges.iter().flatten().for_each(|e| entered[e.0] = true);
        for (i, &c) in order.iter().enumerate().filter(|(i, _)| entered[*i]) {
            let Some(r) = self.get_key((rest, c)) else { continue };
            let new = rests.len();
            let at = rests.iter().position(|p| p.0 == r).unwrap_or(new);
            if at == new {
                rests.push((r, vec![false; order.len()]));
            }
            rests[at].1[i] = true;
        }
        let (true, Some(unmoved)) = (self.wanted.is_empty(), unmoved) else { return Ok(None) };
        let mut all = vec![unmoved];
        for (r, targets) in rests {
            if r == Exprs::NEVER {
                continue;
            }
            let everything = targets.iter().zip(&entered).all(|(t, e)| t == e);
            let some = self.pure.ending_in(self.x, &self.ast, n, &CharSet::full());
            let piece = if everything {
                some
            } else {
                let paths = self.paths(&edges, &targets);
                let any = self.x.any_text();
                // Paths read at least one code point already.
                if e == any { paths } else { self.x.and(&[some, paths]) }
            };
            all.push(self.x.cat(piece, r));
        }
        Ok(Some(self.x.alt(&all)))
    }

    /// The texts of one code point or more that lead from the first context of `edges` to a target.
    fn paths(&mut self, edges: &[Vec<(usize, CharSet)>], targets: &[bool]) -> ExprId {
        let names: Vec<(u32, ExprId)> = targets.iter().map(|&t| self.x.fix(t)).collect();
        let mut first = Exprs::NEVER;
        for (i, out) in edges.iter().enumerate() {
            let mut parts = Vec::with_capacity(out.len() + 1);
            for (to, set) in out {
                let c = self.x.class(&set.scalars());
                parts.push(self.x.cat(c, names[*to].1));
            }
            let some = self.x.alt(&parts);
            let whole = if targets[i] { self.x.alt(&[Exprs::EPS, some]) } else { some };
            self.x.define(names[i].0, whole);
            if i == 0 {
                first = some;
            }
        }
        first
    }
}
