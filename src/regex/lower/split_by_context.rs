//! Parts without assertions in front of a continuation that asks what was read.
//!
//! If nothing is asked later, a pure part is one factor of a concatenation. Otherwise its texts are split by the
//! context that they lead to. Where every question depends on one code point, the last one decides and no count is
//! unrolled. Else the contexts form an automaton, and the repetition is intersected with the texts that lead from
//! here to each context.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::regex::ast::{AstId, AstNode};
use crate::regex::char_set::{CharSet, Union};
use crate::regex::lower::continuation::{
    ContextId, ContextKey, ContextSplit, ContinuationWalk, Kont, KontId, PARTS_PER_STEP,
};
use crate::util::cancel::charge;

/// Trackers that are moved over a code point in the time of one step.
const DERIVED_PER_STEP: usize = 128;

impl ContinuationWalk<'_> {
    /// The expression of pure node `n` and then `rest`, or `None` if something is wanted first.
    pub(crate) fn pure_step(
        &mut self,
        key: ContextKey,
        n: AstId,
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        let e = self.pure.expr(n);
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
            let some = self.pure.ending_in(self.x, &self.ast, n, &CharSet::full())?;
            let some = self.x.cat(some, moved);
            return Ok(Some(self.x.alt(&[some, unmoved])));
        }
        match self.ast.get(n).clone() {
            AstNode::Text(s) => {
                let mut now = trackers.to_vec();
                for (i, c) in s.chars().enumerate() {
                    if i % PARTS_PER_STEP == PARTS_PER_STEP - 1 {
                        self.check_derived(trackers)?;
                    }
                    self.read(&mut now, c, f.need);
                }
                Ok(self.get(rest, &now, 0).map(|r| self.join(n, e, r)))
            }
            AstNode::Class(_) => self.split_step(key, n, rest, trackers, idle),
            _ if self.behind.short(f.need) => self.split_step(key, n, rest, trackers, idle),
            AstNode::Cat(parts) => {
                let k = self.in_turn(&parts, rest)?;
                Ok(self.get(k, trackers, idle))
            }
            AstNode::Alt(parts) => self.any_of(&parts, rest, trackers, idle),
            AstNode::Atomic(body) => {
                let k = self.kont(Kont::Node(body, rest));
                Ok(self.get(k, trackers, idle))
            }
            _ => self.automaton_step(n, rest, trackers, idle),
        }
    }

    fn join(&mut self, n: AstId, e: ExprId, rest: ExprId) -> ExprId {
        match self.ast.get(n) {
            AstNode::Text(s) if rest != Exprs::NEVER => self.x.literal_then(s.as_bytes(), rest),
            _ if rest == self.x.any_text() => {
                let e = self.x.before_text(e);
                self.x.cat(e, rest)
            }
            _ => self.x.cat(e, rest),
        }
    }

    /// Moves the trackers of `need` over one code point.
    pub(crate) fn read(&mut self, trackers: &mut [ExprId], c: char, need: u64) {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        for (i, t) in trackers.iter_mut().enumerate() {
            *t = if need & (1 << i) == 0 { Exprs::NEVER } else { bytes.iter().fold(*t, |e, &b| self.x.derive(e, b)) };
        }
    }

    /// Whether the walk may go on, after it moved these trackers over some code points.
    fn check_derived(&self, trackers: &[ExprId]) -> Result<()> {
        charge(trackers.len() * PARTS_PER_STEP / DERIVED_PER_STEP);
        self.check()
    }

    /// The contexts for `rest` after one code point, with the code points that lead to each.
    fn successors(&mut self, trackers: &[ExprId], rest: KontId) -> Result<Vec<(ContextId, Arc<CharSet>)>> {
        let need = self.facts(rest).need;
        let mut out: Vec<(ContextId, Vec<u32>)> = Vec::new();
        let mut places: FxHashMap<ContextId, usize> = FxHashMap::default();
        for i in 0..self.behind.kinds().len() {
            if i % PARTS_PER_STEP == PARTS_PER_STEP - 1 {
                self.check_derived(trackers)?;
            }
            let Some(&(_, c)) = self.behind.kinds().get(i) else { break };
            let mut now = trackers.to_vec();
            self.read(&mut now, c, need);
            let to = self.context(&now, 0, rest);
            let place = *places.entry(to).or_insert(out.len());
            if place == out.len() {
                out.push((to, Vec::new()));
            }
            out[place].1.push(i as u32);
        }
        Ok(out.into_iter().map(|(to, kinds)| (to, self.together(&kinds))).collect())
    }

    /// The code points of these kinds. Many contexts tell the same ones apart.
    fn together(&mut self, kinds: &[u32]) -> Arc<CharSet> {
        if let Some(known) = self.together.get(kinds) {
            return known.clone();
        }
        let mut set = Union::default();
        for &i in kinds {
            set.add(&self.behind.kinds()[i as usize].0);
        }
        let set = Arc::new(set.finish());
        self.together.insert(kinds.into(), set.clone());
        set
    }

    /// Splits by the last code point: exact for one code point, and where trackers depend on one only.
    fn split_step(
        &mut self,
        key: ContextKey,
        n: AstId,
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        let split = match self.splits.get(&key) {
            Some(s) => s.clone(),
            None => {
                let mut s = self.successors(trackers, rest)?;
                if s.len() > 1 {
                    let mut left = Vec::with_capacity(s.len());
                    for (c, set) in s {
                        if self.pure.ending_in(self.x, &self.ast, n, &set)? != Exprs::NEVER {
                            left.push((c, set));
                        }
                    }
                    s = left;
                }
                let s: ContextSplit = s.into();
                self.splits.insert(key, s.clone());
                s
            }
        };
        let e = self.pure.expr(n);
        let empty = self.x.nullable(e);
        let unmoved = if empty { self.get(rest, trackers, idle) } else { Some(Exprs::NEVER) };
        // One part per distinct rest.
        let mut parts: Vec<(ExprId, Vec<Arc<CharSet>>)> = Vec::new();
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        for (c, set) in split.iter() {
            let Some(r) = self.get_key((rest, *c)) else { continue };
            let place = *places.entry(r).or_insert(parts.len());
            if place == parts.len() {
                parts.push((r, Vec::new()));
            }
            parts[place].1.push(set.clone());
        }
        let (true, Some(unmoved)) = (self.wanted.is_empty(), unmoved) else { return Ok(None) };
        if let [(r, _)] = parts[..]
            && (!empty || r == unmoved)
        {
            return Ok(Some(self.join(n, e, r)));
        }
        let mut all = vec![unmoved];
        for (r, sets) in parts {
            let mut set = Union::default();
            sets.iter().for_each(|s| set.add(s));
            let piece = self.pure.ending_in(self.x, &self.ast, n, &set.finish())?;
            all.push(self.x.cat(piece, r));
        }
        Ok(Some(self.x.alt(&all)))
    }

    /// Splits by intersection with the automaton of contexts.
    fn automaton_step(&mut self, n: AstId, rest: KontId, trackers: &[ExprId], idle: u64) -> Result<Option<ExprId>> {
        let e = self.pure.expr(n);
        let unmoved = if self.x.nullable(e) { self.get(rest, trackers, idle) } else { Some(Exprs::NEVER) };
        let start = self.context(trackers, 0, rest);
        let mut order = vec![start];
        let mut index: FxHashMap<ContextId, usize> = FxHashMap::default();
        index.insert(start, 0);
        // From each context, where code points lead and which they are.
        let mut edges: Vec<Vec<(usize, ExprId)>> = Vec::new();
        while let Some(&c) = order.get(edges.len()) {
            let now = self.contexts[c as usize].trackers.clone();
            let mut out = Vec::new();
            for (to, set) in self.successors(&now, rest)? {
                let fresh = order.len();
                let i = *index.entry(to).or_insert(fresh);
                if i == fresh {
                    order.push(to);
                }
                out.push((i, self.pure.class(self.x, &set)));
            }
            edges.push(out);
            self.check()?;
        }
        let mut entered = vec![false; order.len()];
        edges.iter().flatten().for_each(|e| entered[e.0] = true);
        // One part per distinct rest, with the contexts that lead to it.
        let mut rests: Vec<(ExprId, Vec<usize>)> = Vec::new();
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        for (i, &c) in order.iter().enumerate().filter(|(i, _)| entered[*i]) {
            let Some(r) = self.get_key((rest, c)) else { continue };
            let place = *places.entry(r).or_insert(rests.len());
            if place == rests.len() {
                rests.push((r, Vec::new()));
            }
            rests[place].1.push(i);
        }
        let (true, Some(unmoved)) = (self.wanted.is_empty(), unmoved) else { return Ok(None) };
        let all_entered = entered.iter().filter(|e| **e).count();
        let some = self.pure.ending_in(self.x, &self.ast, n, &CharSet::full())?;
        let mut all = vec![unmoved];
        for (r, targets) in rests {
            if r == Exprs::NEVER {
                continue;
            }
            let piece = if targets.len() == all_entered {
                some
            } else {
                let paths = self.paths(&edges, &targets)?;
                let any = self.x.any_text();
                // Paths read at least one code point already.
                if e == any { paths } else { self.x.and(&[some, paths]) }
            };
            all.push(self.x.cat(piece, r));
        }
        Ok(Some(self.x.alt(&all)))
    }

    /// The texts of one code point or more that lead from the first context of `edges` to a target.
    fn paths(&mut self, edges: &[Vec<(usize, ExprId)>], targets: &[usize]) -> Result<ExprId> {
        let mut is_target = vec![false; edges.len()];
        targets.iter().for_each(|&t| is_target[t] = true);
        let names: Vec<(u32, ExprId)> = is_target.iter().map(|&t| self.x.fix(t)).collect();
        let mut first = Exprs::NEVER;
        for (i, out) in edges.iter().enumerate() {
            charge(out.len() / PARTS_PER_STEP);
            self.check()?;
            let parts: Vec<ExprId> = out.iter().map(|&(to, c)| self.x.cat(c, names[to].1)).collect();
            let some = self.x.alt(&parts);
            let whole = if is_target[i] { self.x.alt(&[Exprs::EPS, some]) } else { some };
            self.x.define(names[i].0, whole);
            if i == 0 {
                first = some;
            }
        }
        Ok(first)
    }
}
