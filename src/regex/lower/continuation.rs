//! Expressions around assertions.
//!
//! The pattern is read from left to right with a *continuation*: the list of what is still to come. The expression
//! of (continuation, context) accepts what may follow a prefix that left that context. Then look-ahead is an
//! intersection with the whole rest of the text, `(?=p)r` = (p, then anything) and r; look-behind is a question to
//! the context; and a boundary asks the context and constrains the first code point of the rest.
//!
//! Repetitions of parts without assertions stay counted. Other repetitions become named recursive expressions, one
//! per context, or copies where they are bounded. An iteration that consumes nothing may be dropped, since it only
//! adds assertions at the same place; so every cycle reads at least one byte.
//!
//! Expressions are computed on a stack of our own: a continuation as long as the pattern costs no machine stack. One
//! step may look at all parts of a node or at all contexts there are, so what is counted are these, not only steps.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::expr::marked_texts::MARK;
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode, INF};
use crate::regex::char_set::CharSet;
use crate::regex::lower::assertion_free::AssertionFree;
use crate::regex::lower::look_behind::{END, LookBehind, NextClasses};
use crate::regex::unicode;
use crate::util::seeded_hash::SeededMap;

/// Parts of a node that are looked at in the time of one step.
pub(crate) const PARTS_PER_STEP: usize = 8;

pub(crate) type KontId = u32;
pub(crate) type ContextId = u32;
pub(crate) type ContextKey = (KontId, ContextId);
/// Contexts, and the code points that lead to each.
pub(crate) type ContextSplit = Rc<[(ContextId, Arc<CharSet>)]>;

/// What is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kont {
    /// The match ends, and the text with it.
    Accept,
    /// The match ends; any text may follow.
    Text,
    /// The match ends; a mark follows, and then any text.
    Mark,
    /// A look-ahead is satisfied.
    All,
    /// A look-behind is satisfied where something of this class follows.
    Prefix(NextClasses),
    /// A node, and then the rest.
    Node(AstId, KontId),
    /// Copies of a node that holds assertions, and then the rest.
    Loop { body: AstId, min: u32, max: u32, rest: KontId },
    /// The end of an iteration of the unbounded loop of that number.
    Back { body: AstId, number: u32, rest: KontId },
}

#[derive(Clone, Copy)]
pub(crate) struct KontFacts {
    /// Trackers that are asked from here on.
    pub(crate) need: u64,
    /// Unbounded loops that an iteration is open of.
    pub(crate) loops: u64,
    /// Class of what follows where this continuation has ended.
    pub(crate) outer: NextClasses,
    /// A mark is still to come, which assertions do not see.
    pub(crate) marked: bool,
}

/// What was read so far, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LowerContext {
    /// States of the trackers; `NEVER` for those that are not asked any more.
    pub(crate) trackers: Rc<[ExprId]>,
    /// Loops whose current iteration has not read anything yet.
    pub(crate) idle: u64,
}

pub(crate) struct ContinuationWalk<'a> {
    pub(crate) x: &'a mut Exprs,
    pub(crate) limits: &'a Limits,
    /// Any text, as a node.
    pub(crate) any_text: AstId,
    pub(crate) ast: Ast,
    pub(crate) pure: AssertionFree,
    pub(crate) behind: LookBehind,
    pub(crate) loops: FxHashMap<AstId, u32>,
    pub(crate) konts: Vec<(Kont, KontFacts)>,
    pub(crate) kont_ids: SeededMap<Kont, KontId>,
    pub(crate) contexts: Vec<LowerContext>,
    pub(crate) context_ids: SeededMap<LowerContext, ContextId>,
    pub(crate) memo: SeededMap<ContextKey, ExprId>,
    /// Names of loops that are being computed, and whether they were used.
    pub(crate) names: SeededMap<ContextKey, (u32, ExprId, bool)>,
    /// Where a pure node in front of a continuation leads; see `split`.
    pub(crate) splits: SeededMap<ContextKey, ContextSplit>,
    /// Kinds of code points together, by their numbers.
    pub(crate) together: SeededMap<Box<[u32]>, Arc<CharSet>>,
    pub(crate) peeks: SeededMap<(NextClasses, NextClasses), ExprId>,
    /// What peeks leave of the first parts of sequences; see `meet`.
    pub(crate) firsts: SeededMap<(ExprId, ExprId), Option<ExprId>>,
    pub(crate) wanted: Vec<ContextKey>,
}

/// Lowers a tree that holds assertions; `search` accepts every text that contains a match.
pub(crate) fn lower(
    x: &mut Exprs,
    ast: Ast,
    pure: AssertionFree,
    root: AstId,
    search: bool,
    limits: &Limits,
) -> Result<ExprId> {
    let mut w = prepare(x, ast, pure, limits)?;
    let end = w.kont(if search { Kont::Text } else { Kont::Accept });
    let mut k = w.kont(Kont::Node(root, end));
    if search {
        k = w.kont(Kont::Node(w.any_text, k));
    }
    w.run(k)
}

/// A walk over a tree that holds assertions, with what look-behind must remember.
pub(crate) fn prepare<'a>(
    x: &'a mut Exprs,
    mut ast: Ast,
    mut pure: AssertionFree,
    limits: &'a Limits,
) -> Result<ContinuationWalk<'a>> {
    let any = ast.push(AstNode::Class(unicode::any()), 0);
    let any_text = ast.push(AstNode::Rep { body: any, min: 0, max: INF }, 0);
    pure.extend(x, &ast)?;
    let behind = LookBehind::new(&ast, limits)?;
    let mut w = ContinuationWalk {
        x,
        limits,
        any_text,
        ast,
        pure,
        behind,
        loops: FxHashMap::default(),
        konts: Vec::new(),
        kont_ids: SeededMap::default(),
        contexts: Vec::new(),
        context_ids: SeededMap::default(),
        memo: SeededMap::default(),
        names: SeededMap::default(),
        splits: SeededMap::default(),
        together: SeededMap::default(),
        peeks: SeededMap::default(),
        firsts: SeededMap::default(),
        wanted: Vec::new(),
    };
    w.number_loops()?;
    for i in 0..w.behind.len() {
        if let Some((n, class)) = w.behind.open_question(w.x, i) {
            let AstNode::Look { body, .. } = *w.ast.get(n) else { continue };
            let e = if w.ast.facts(body).pure {
                w.x.cat(Exprs::ALL, w.pure.expr(body))
            } else {
                let end = w.kont(Kont::Prefix(class));
                let k = w.kont(Kont::Node(body, end));
                let k = w.kont(Kont::Node(any_text, k));
                w.run(k)?
            };
            w.behind.answer(i, e);
        }
    }
    Ok(w)
}

impl ContinuationWalk<'_> {
    fn number_loops(&mut self) -> Result<()> {
        for n in 0..self.ast.len() as AstId {
            if let AstNode::Rep { body, max: INF, .. } = *self.ast.get(n) {
                let f = self.ast.facts(n);
                if !f.pure {
                    let number = self.loops.len() as u32;
                    if number == 64 {
                        let e = Error::limit("unbounded repetitions of assertions", 64, 65);
                        return Err(e.at_offset(f.offset as usize));
                    }
                    self.loops.insert(body, number);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn kont(&mut self, k: Kont) -> KontId {
        if let Some(&id) = self.kont_ids.get(&k) {
            return id;
        }
        let mask = |w: &Self, n: AstId| w.behind.masks.get(n as usize).copied().unwrap_or(0);
        let f = match k {
            Kont::Accept | Kont::Text | Kont::All => KontFacts { need: 0, loops: 0, outer: END, marked: false },
            Kont::Mark => KontFacts { need: 0, loops: 0, outer: END, marked: true },
            Kont::Prefix(outer) => KontFacts { need: 0, loops: 0, outer, marked: false },
            Kont::Node(n, rest) | Kont::Loop { body: n, rest, .. } => {
                let f = self.facts(rest);
                KontFacts { need: f.need | mask(self, n), ..f }
            }
            Kont::Back { body, number, rest } => {
                let f = self.facts(rest);
                KontFacts { need: f.need | mask(self, body), loops: f.loops | 1 << number, ..f }
            }
        };
        self.konts.push((k, f));
        let id = self.konts.len() as KontId - 1;
        self.kont_ids.insert(k, id);
        id
    }

    pub(crate) fn facts(&self, k: KontId) -> KontFacts {
        self.konts[k as usize].1
    }

    /// The context with these states, without what `k` will not ask.
    pub(crate) fn context(&mut self, trackers: &[ExprId], idle: u64, k: KontId) -> ContextId {
        let f = self.facts(k);
        let kept = |(i, &e): (usize, &ExprId)| if f.need & (1 << i) != 0 { e } else { Exprs::NEVER };
        let trackers =
            if f.need == 0 { Rc::new([]) as Rc<[ExprId]> } else { trackers.iter().enumerate().map(kept).collect() };
        let c = LowerContext { trackers, idle: idle & f.loops };
        if let Some(&id) = self.context_ids.get(&c) {
            return id;
        }
        self.contexts.push(c.clone());
        let id = self.contexts.len() as ContextId - 1;
        self.context_ids.insert(c, id);
        id
    }

    fn run(&mut self, root: KontId) -> Result<ExprId> {
        let start = self.behind.start();
        self.run_from(root, &start)
    }

    /// The expression of a continuation where the trackers are in these states.
    pub(crate) fn run_from(&mut self, root: KontId, start: &[ExprId]) -> Result<ExprId> {
        let root = (root, self.context(start, 0, root));
        let mut stack = vec![root];
        while let Some(&key) = stack.last() {
            if self.memo.contains_key(&key) {
                stack.pop();
                continue;
            }
            self.wanted.clear();
            if let Some(e) = self.step(key)? {
                let e = match self.names.remove(&key) {
                    Some((n, name, used)) if used => {
                        self.x.define(n, e);
                        name
                    }
                    _ => e,
                };
                self.memo.insert(key, e);
                stack.pop();
            } else {
                stack.extend(self.wanted.iter().rev());
            }
            self.check()?;
        }
        Ok(self.memo.get(&root).copied().unwrap_or(Exprs::NEVER))
    }

    /// Whether the walk may go on. Asked for each step, and inside of those that may take long.
    ///
    /// # Errors
    /// Those of [`Exprs::check`]; `Limit` for too many continuations or contexts.
    pub(crate) fn check(&self) -> Result<()> {
        // They lie beside the expressions that are made of them, and take as much memory.
        let now = (self.konts.len() + self.memo.len() + self.x.own_size()) as u64;
        let most = self.limits.max_expr_nodes as u64;
        if now > most {
            return Err(Error::limit("steps around assertions", most, now).set_by("max_expr_nodes"));
        }
        let (most, now) = (self.limits.max_explored_states as u64, self.contexts.len() as u64);
        if now > most {
            return Err(Error::limit("the number of combinations of look-behind assertions", most, now)
                .set_by("max_explored_states"));
        }
        self.x.check()
    }

    /// Whether the walk may go on over a few of many parts. Fewer than that belong to the step that looks at them.
    fn check_parts(&self, parts: &[AstId]) -> Result<()> {
        if parts.len() < PARTS_PER_STEP { Ok(()) } else { self.check() }
    }

    /// The expression of `k` in a context, if it is known; else it is put on the list of what is wanted.
    pub(crate) fn get(&mut self, k: KontId, trackers: &[ExprId], idle: u64) -> Option<ExprId> {
        let c = self.context(trackers, idle, k);
        self.get_key((k, c))
    }

    pub(crate) fn get_key(&mut self, key: ContextKey) -> Option<ExprId> {
        if let Some(&e) = self.memo.get(&key) {
            return Some(e);
        }
        if let Some(name) = self.names.get_mut(&key) {
            name.2 = true;
            return Some(name.1);
        }
        self.wanted.push(key);
        None
    }

    /// Computes one expression, or answers `None` and says what is wanted first.
    fn step(&mut self, key: ContextKey) -> Result<Option<ExprId>> {
        let (k, f) = self.konts[key.0 as usize];
        let context = self.contexts[key.1 as usize].clone();
        let LowerContext { ref trackers, idle } = context;
        Ok(match k {
            Kont::Accept | Kont::Prefix(_) => Some(Exprs::EPS),
            Kont::Text => Some(self.x.any_text()),
            Kont::Mark => {
                let any = self.x.any_text();
                Some(self.x.literal_then(&[MARK], any))
            }
            Kont::All => Some(Exprs::ALL),
            Kont::Back { number, .. } if idle & (1 << number) != 0 => Some(Exprs::NEVER),
            Kont::Back { body, rest, .. } => {
                let k = self.kont(Kont::Loop { body, min: 0, max: INF, rest });
                self.get(k, trackers, idle)
            }
            Kont::Loop { body, min, max, rest } => {
                return self.loop_step(key, body, (min, max), rest, trackers, idle);
            }
            Kont::Node(n, rest) if self.ast.facts(n).pure => return self.pure_step(key, n, rest, trackers, idle),
            Kont::Node(n, rest) => return self.node_step(n, rest, f, &context),
        })
    }

    /// The expression of a node that asserts something, and the rest.
    fn node_step(&mut self, n: AstId, rest: KontId, f: KontFacts, context: &LowerContext) -> Result<Option<ExprId>> {
        let LowerContext { ref trackers, idle } = *context;
        let next = match self.ast.get(n).clone() {
            AstNode::Cat(parts) => self.in_turn(&parts, rest)?,
            AstNode::Alt(parts) => return self.any_of(&parts, rest, trackers, idle),
            AstNode::Atomic(body) => self.kont(Kont::Node(body, rest)),
            AstNode::Rep { body, min, max } => self.kont(Kont::Loop { body, min, max, rest }),
            AstNode::Look { body, behind: false, negative } => {
                return Ok(self.look_ahead_step((body, negative), rest, f.marked, context));
            }
            AstNode::Look { behind: true, .. } | AstNode::Assert(_) => {
                return Ok(self.assertion_step(n, rest, f, context));
            }
            AstNode::Empty | AstNode::Text(_) | AstNode::Class(_) => rest,
        };
        Ok(self.get(next, trackers, idle))
    }

    /// What is left of the rest by what must, or must not, stand ahead.
    fn look_ahead_step(
        &mut self,
        (body, negative): (AstId, bool),
        rest: KontId,
        marked: bool,
        LowerContext { trackers, idle }: &LowerContext,
    ) -> Option<ExprId> {
        let all = self.kont(Kont::All);
        let inner = self.kont(Kont::Node(body, all));
        let ahead = self.get(inner, trackers, *idle);
        let rest = self.get(rest, trackers, *idle);
        let (mut ahead, rest) = (ahead?, rest?);
        if marked {
            ahead = self.x.with_marks(ahead);
        }
        Some(if negative { self.x.minus(rest, ahead) } else { self.x.and(&[ahead, rest]) })
    }

    /// What is left of the rest by an assertion that what was read and the next character decide.
    fn assertion_step(
        &mut self,
        n: AstId,
        rest: KontId,
        f: KontFacts,
        LowerContext { trackers, idle }: &LowerContext,
    ) -> Option<ExprId> {
        let next = self.behind.allowed(self.x, &self.ast, n, trackers);
        if next == 0 {
            return Some(Exprs::NEVER);
        }
        let rest = self.get(rest, trackers, *idle)?;
        let mut peek = self.peek(next, f.outer);
        if f.marked {
            peek = self.x.with_marks(peek);
        }
        Some(self.meet(peek, rest))
    }

    /// The continuation of all of `parts` in turn, and then the rest.
    pub(crate) fn in_turn(&mut self, parts: &[AstId], rest: KontId) -> Result<KontId> {
        let mut k = rest;
        for parts in parts.rchunks(PARTS_PER_STEP) {
            self.check_parts(parts)?;
            k = parts.iter().rev().fold(k, |k, &p| self.kont(Kont::Node(p, k)));
        }
        Ok(k)
    }

    /// Any one of `parts`, and then the rest.
    pub(crate) fn any_of(
        &mut self,
        parts: &[AstId],
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        let mut known = Vec::with_capacity(parts.len());
        for parts in parts.chunks(PARTS_PER_STEP) {
            self.check_parts(parts)?;
            for &p in parts {
                let k = self.kont(Kont::Node(p, rest));
                known.extend(self.get(k, trackers, idle));
            }
        }
        Ok(if self.wanted.is_empty() { Some(self.x.alt(&known)) } else { None })
    }

    fn loop_step(
        &mut self,
        key: ContextKey,
        body: AstId,
        (min, max): (u32, u32),
        rest: KontId,
        trackers: &[ExprId],
        idle: u64,
    ) -> Result<Option<ExprId>> {
        if max == 0 {
            return Ok(self.get(rest, trackers, idle));
        }
        if min > 0 || max < INF {
            let max = if max == INF { INF } else { max - 1 };
            let more = self.kont(Kont::Loop { body, min: min.saturating_sub(1), max, rest });
            let again = self.kont(Kont::Node(body, more));
            let again = self.get(again, trackers, idle);
            if min > 0 {
                return Ok(again);
            }
            let rest = self.get(rest, trackers, idle);
            return Ok(self.either(again, rest));
        }
        if !self.names.contains_key(&key) {
            let nullable = self.accepts_end(key)?;
            let (n, name) = self.x.fix(nullable);
            self.names.insert(key, (n, name, false));
        }
        let number = self.loops.get(&body).copied().unwrap_or(0);
        let back = self.kont(Kont::Back { body, number, rest });
        let again = self.kont(Kont::Node(body, back));
        let again = self.get(again, trackers, idle | 1 << number);
        let rest = self.get(rest, trackers, idle);
        Ok(self.either(again, rest))
    }

    fn either(&mut self, again: Option<ExprId>, rest: Option<ExprId>) -> Option<ExprId> {
        Some(self.x.alt(&[again?, rest?]))
    }
}
