//! Distribution: a conjunction of literals to the union of its shapes, for one of the two structured types.
//!
//! The search works like a satisfiability solver. A state holds facts (what a shape will say), literals still to be
//! taken apart, and *choices* (disjunctions). Everything certain is done first; then alternatives that contradict the
//! facts are dropped, a choice with one alternative left is no choice, a choice with an alternative that already
//! holds is gone, and only then the smallest choice is split. So the contradictory combinations that make up most of
//! a naive distribution are never made, and what is left comes out in declared order.
//!
//! # Evaluated members
//! Where `unevaluatedProperties` or `unevaluatedItems` needs to know which members other keywords have looked at, the
//! literals carry a *scope*: the number of that keyword in the facts. What they describe counts as evaluated there.
//! More evaluated members never make such a keyword fail, so `anyOf` is split into *sets of branches that hold*
//! without saying that the others fail; the union over all sets is exact.

use smallvec::SmallVec;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::schema::lower::context::{Lit, LoweringContext};
use crate::schema::lower::node::{FALSE, SchemaNodeId, TRUE};
use crate::schema::model::Types;

/// Number of a scope, from 1; 0 for none.
pub(super) type UnevaluatedScope = u32;

/// One conjunct of an alternative.
#[derive(Clone, Debug)]
pub(super) enum Conjunct<A> {
    Lit(Lit, UnevaluatedScope),
    Atom(A),
}

/// A conjunction that a choice offers.
pub(super) type Alternative<A> = Vec<Conjunct<A>>;

/// A disjunction. In a scope, an alternative that already holds does not make the others needless: they may evaluate
/// more members.
#[derive(Clone, Debug)]
pub(super) struct Disjunction<A> {
    pub alternatives: Rc<Vec<Alternative<A>>>,
    pub scoped: bool,
    /// The alternatives that are not known to contradict the facts; all where there is none. What does once, does
    /// under all further facts.
    open: Option<Rc<Vec<u32>>>,
    /// How many of the literals that were seen have been compared with the alternatives.
    looked: usize,
}

impl<A> Disjunction<A> {
    /// A choice in a scope, or in none (0).
    pub fn new(alternatives: Vec<Alternative<A>>, scope: UnevaluatedScope) -> Self {
        Disjunction { alternatives: Rc::new(alternatives), scoped: scope != 0, open: None, looked: 0 }
    }
}

/// What is known about an alternative under some facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Dead,
    Open,
    Holds,
}

impl Status {
    /// Of "at least `n`", where a number is known to be in `min..=max`.
    pub fn of_min(n: u64, min: u64, max: Option<u64>) -> Status {
        match max {
            _ if n <= min => Status::Holds,
            Some(m) if m < n => Status::Dead,
            _ => Status::Open,
        }
    }

    /// Of "at most `n`", where a number is known to be in `min..=max`.
    pub fn of_max(n: u64, min: u64, max: Option<u64>) -> Status {
        match max {
            Some(m) if m <= n => Status::Holds,
            _ if n < min => Status::Dead,
            _ => Status::Open,
        }
    }
}

/// Takes what a node says about the type apart.
pub(super) struct TakenBranch<A> {
    pub items: Vec<Conjunct<A>>,
    pub choices: Vec<Disjunction<A>>,
    /// The scope for what applies in place.
    pub scope: UnevaluatedScope,
}

/// One of the two structured types, arrays or objects, as the search sees it.
pub(super) trait StructuredKind: Sized {
    /// The type.
    const TYPE: Types;
    /// What a shape will say.
    type Facts: Clone + Default;
    /// An assertion that is not a schema.
    type Atom: Clone;

    /// Adds what the node says by itself; `false` if it contradicts the facts.
    fn take(
        cx: &mut LoweringContext<'_, '_>,
        node: SchemaNodeId,
        facts: &mut Self::Facts,
        out: &mut TakenBranch<Self::Atom>,
    ) -> Result<bool>;
    /// One alternative for each way to violate what the node says by itself.
    fn violations(cx: &mut LoweringContext<'_, '_>, node: SchemaNodeId) -> Result<Vec<Alternative<Self::Atom>>>;
    /// Adds an assertion; `false` if it contradicts the facts.
    fn assert(cx: &mut LoweringContext<'_, '_>, atom: Self::Atom, facts: &mut Self::Facts) -> Result<bool>;
    /// What the facts say of an assertion.
    fn status(cx: &mut LoweringContext<'_, '_>, atom: &Self::Atom, facts: &Self::Facts) -> Result<Status>;
    /// The negation of an alternative, where assertions say it; empty where they do not.
    fn negate(alternative: &[Conjunct<Self::Atom>]) -> Vec<Self::Atom>;
    /// Whether the facts are seen to contradict each other. Called before a state is split.
    fn is_dead(cx: &mut LoweringContext<'_, '_>, facts: &Self::Facts) -> Result<bool>;
}

struct SearchState<K: StructuredKind> {
    facts: K::Facts,
    seen: Vec<(Lit, UnevaluatedScope)>,
    choices: Vec<Disjunction<K::Atom>>,
    todo: Vec<Conjunct<K::Atom>>,
}

impl<K: StructuredKind> Clone for SearchState<K> {
    fn clone(&self) -> Self {
        SearchState {
            facts: self.facts.clone(),
            seen: self.seen.clone(),
            choices: self.choices.clone(),
            todo: self.todo.clone(),
        }
    }
}

/// The facts of each combination; most rules have one.
pub(super) type Combinations<K> = SmallVec<[<K as StructuredKind>::Facts; 1]>;

/// All consistent combinations, as facts in declared order.
pub(super) fn distribute<K: StructuredKind>(cx: &mut LoweringContext<'_, '_>, lits: &[Lit]) -> Result<Combinations<K>> {
    if let [lit] = lits
        && let Some(facts) = plain::<K>(cx, *lit)?
    {
        return Ok(SmallVec::from_iter([facts]));
    }
    let todo = lits.iter().rev().map(|&l| Conjunct::Lit(l, 0)).collect();
    let mut stack: Vec<SearchState<K>> =
        vec![SearchState { facts: K::Facts::default(), seen: Vec::new(), choices: Vec::new(), todo }];
    let mut out = SmallVec::new();
    while let Some(mut state) = stack.pop() {
        cx.work(1)?;
        if !settle(cx, &mut state)? {
            continue;
        }
        let Some(choice) = pick(cx, &mut state)? else { continue };
        match choice {
            Picked::None => out.push(state.facts),
            Picked::Split(alternatives) => split(state, alternatives, &mut stack),
        }
        let n = out.len() + stack.len();
        if n > cx.limits.max_alternatives {
            return Err(Error::limit(
                "the number of alternatives that anyOf, oneOf and if make of one schema",
                cx.limits.max_alternatives as u64,
                n as u64,
            )
            .set_by("max_alternatives"));
        }
    }
    Ok(out)
}

/// The facts of a schema that applies no other in place, as most do: there is nothing to search.
fn plain<K: StructuredKind>(cx: &mut LoweringContext<'_, '_>, lit: Lit) -> Result<Option<K::Facts>> {
    let node = cx.nodes.canon(lit.node);
    let n = cx.nodes.get(node);
    if lit.negated || n.applies() || !n.values.is_empty() || !n.mask.contains(K::TYPE) {
        return Ok(None);
    }
    let mut facts = K::Facts::default();
    let mut taken = TakenBranch { items: Vec::new(), choices: Vec::new(), scope: 0 };
    let alive = K::take(cx, node, &mut facts, &mut taken)?;
    if !alive || !taken.items.is_empty() || !taken.choices.is_empty() {
        return Ok(None);
    }
    // What the search would have counted.
    cx.work(2)?;
    Ok(Some(facts))
}

/// One state for each alternative. While other choices are open, an alternative may assume that the earlier ones fail:
/// what they have in common is then decided once and not again under every alternative of every other choice, which
/// makes the negation of `n` schemas with a discriminator linear in `n`. The last choice needs no such help.
fn split<K: StructuredKind>(
    state: SearchState<K>,
    alternatives: Vec<Alternative<K::Atom>>,
    stack: &mut Vec<SearchState<K>>,
) {
    let others = !state.choices.is_empty();
    let mut failed: Vec<Conjunct<K::Atom>> = Vec::new();
    let first = stack.len();
    for a in alternatives {
        let mut s = state.clone();
        s.todo.extend(failed.iter().rev().cloned());
        if others {
            failed.extend(K::negate(&a).into_iter().map(Conjunct::Atom));
        }
        s.todo.extend(a.into_iter().rev());
        stack.push(s);
    }
    stack[first..].reverse();
}

enum Picked<A> {
    None,
    Split(Vec<Alternative<A>>),
}

/// Takes all literals apart that are certain; `false` if they contradict each other.
fn settle<K: StructuredKind>(cx: &mut LoweringContext<'_, '_>, state: &mut SearchState<K>) -> Result<bool> {
    while let Some(item) = state.todo.pop() {
        cx.work(1)?;
        let (lit, scope) = match item {
            Conjunct::Atom(a) => {
                if !K::assert(cx, a, &mut state.facts)? {
                    return Ok(false);
                }
                continue;
            }
            Conjunct::Lit(l, s) => (Lit { node: cx.nodes.canon(l.node), ..l }, s),
        };
        match lit_status::<K>(cx, lit, scope, &state.seen) {
            Status::Dead => return Ok(false),
            Status::Holds => continue,
            Status::Open => state.seen.push((lit, scope)),
        }
        let mut taken = TakenBranch { items: Vec::new(), choices: Vec::new(), scope };
        if lit.negated {
            let alternatives = negation::<K>(cx, lit.node)?;
            taken.choices.push(Disjunction::new(alternatives, 0));
        } else {
            if !K::take(cx, lit.node, &mut state.facts, &mut taken)? {
                return Ok(false);
            }
            applicators::<K>(cx, lit.node, &mut taken)?;
        }
        state.todo.extend(taken.items.into_iter().rev());
        for c in taken.choices {
            match c.alternatives.as_slice() {
                [] => return Ok(false),
                [one] => state.todo.extend(one.iter().rev().cloned()),
                _ => state.choices.push(c),
            }
        }
    }
    Ok(true)
}

/// Drops what is decided and picks the smallest choice; `None` if the state is contradictory.
fn pick<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    state: &mut SearchState<K>,
) -> Result<Option<Picked<K::Atom>>> {
    if state.choices.is_empty() {
        return Ok(Some(Picked::None));
    }
    if K::is_dead(cx, &state.facts)? {
        return Ok(None);
    }
    let mut best: Option<(usize, Rc<Vec<u32>>)> = None;
    let mut i = 0;
    'choices: while i < state.choices.len() {
        let choice = state.choices[i].clone();
        let mut live = Vec::new();
        let of = choice.open.as_ref().map_or(choice.alternatives.len(), |o| o.len());
        for k in 0..of {
            let k = choice.open.as_ref().map_or(k as u32, |o| o[k]);
            match status_of::<K>(cx, &choice.alternatives[k as usize], state, choice.looked)? {
                Status::Dead => {}
                Status::Open => live.push(k),
                Status::Holds if choice.scoped => live.push(k),
                Status::Holds => {
                    state.choices.remove(i);
                    continue 'choices;
                }
            }
        }
        if live.is_empty() {
            return Ok(None);
        }
        let live = match choice.open {
            Some(open) if open.len() == live.len() => open,
            _ => Rc::new(live),
        };
        (state.choices[i].open, state.choices[i].looked) = (Some(live.clone()), state.seen.len());
        let certain = live.len() == 1;
        if best.as_ref().is_none_or(|b| live.len() < b.1.len()) {
            best = Some((i, live));
        }
        // A choice with one alternative left is a fact, and the other choices are looked at with it.
        if certain {
            break;
        }
        i += 1;
    }
    let Some((i, live)) = best else { return Ok(Some(Picked::None)) };
    let choice = state.choices.remove(i);
    Ok(Some(Picked::Split(live.iter().map(|&k| choice.alternatives[k as usize].clone()).collect())))
}

/// What is known about an alternative that was open under the first `looked` of the literals.
fn status_of<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    a: &Alternative<K::Atom>,
    state: &SearchState<K>,
    looked: usize,
) -> Result<Status> {
    cx.work(1)?;
    // Where there is one literal, only further ones can decide it.
    let seen = if a.len() == 1 { state.seen.get(looked..).unwrap_or_default() } else { &state.seen };
    let mut out = Status::Holds;
    for item in a {
        let s = match item {
            Conjunct::Lit(l, scope) => lit_status::<K>(cx, Lit { node: cx.nodes.canon(l.node), ..*l }, *scope, seen),
            Conjunct::Atom(a) => K::status(cx, a, &state.facts)?,
        };
        match s {
            Status::Dead => return Ok(Status::Dead),
            Status::Open => out = Status::Open,
            Status::Holds => {}
        }
    }
    Ok(out)
}

fn lit_status<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    lit: Lit,
    scope: UnevaluatedScope,
    seen: &[(Lit, UnevaluatedScope)],
) -> Status {
    let n = cx.nodes.get(lit.node);
    let (mask, pure) = (n.mask.contains(K::TYPE), n.is_pure_type());
    match (lit.negated, mask, pure) {
        (false, false, _) | (true, true, true) => return Status::Dead,
        // What a pure type evaluates is nothing, so it needs no scope.
        (true, false, _) | (false, true, true) => return Status::Holds,
        _ => {}
    }
    for &(other, s) in seen {
        if other.node == lit.node {
            if other.negated != lit.negated {
                return Status::Dead;
            }
            if scope == 0 || s == scope {
                return Status::Holds;
            }
        }
        if !other.negated && cx.is_disjoint(other.node, lit.node) {
            return if lit.negated { Status::Holds } else { Status::Dead };
        }
    }
    Status::Open
}

/// What applies in place and holds.
fn applicators<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    node: SchemaNodeId,
    out: &mut TakenBranch<K::Atom>,
) -> Result<()> {
    let n = cx.nodes.get(node);
    let s = out.scope;
    let (all, any, one, not, cond, values) =
        (n.all.clone(), n.any.clone(), n.one.clone(), n.not, n.cond, n.values.len());
    for i in 0..values {
        let composites = &cx.nodes.get(node).values[i].composites;
        // Values leave no annotations, so they are outside of any scope.
        out.choices.push(Disjunction::new(each(composites), 0));
    }
    out.items.extend(all.iter().map(|&c| Conjunct::Lit(Lit::yes(c), s)));
    if let Some(c) = not {
        out.items.push(Conjunct::Lit(Lit::no(c), 0));
    }
    if let Some(v) = any {
        let choice = if s == 0 { each(&v) } else { subsets::<K>(cx, &v, s)? };
        out.choices.push(Disjunction::new(choice, s));
    }
    if let Some(v) = one {
        let choice = exactly_one::<K>(cx, &v, s)?;
        out.choices.push(Disjunction::new(choice, s));
    }
    if let Some((i, t, e)) = cond {
        let yes = |c: SchemaNodeId| Conjunct::Lit(Lit::yes(c), s);
        if s == 0 && t == TRUE {
            out.choices.push(Disjunction::new(vec![vec![yes(i)], vec![yes(e)]], 0));
        } else {
            // Where there is no `else`, what `if` refuses needs no mention in a scope: it evaluates nothing.
            let otherwise = if t == TRUE && e == TRUE { vec![] } else { vec![Conjunct::Lit(Lit::no(i), 0), yes(e)] };
            out.choices.push(Disjunction::new(vec![vec![yes(i), yes(t)], otherwise], s));
        }
    }
    Ok(())
}

fn each<A>(v: &[SchemaNodeId]) -> Vec<Alternative<A>> {
    v.iter().map(|&c| vec![Conjunct::Lit(Lit::yes(c), 0)]).collect()
}

/// Every set of branches that may hold together.
fn subsets<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    v: &[SchemaNodeId],
    scope: UnevaluatedScope,
) -> Result<Vec<Alternative<K::Atom>>> {
    let v: Vec<SchemaNodeId> = v.iter().copied().filter(|&c| cx.nodes.get(c).mask.contains(K::TYPE)).collect();
    let mut sets: Vec<Vec<SchemaNodeId>> = vec![Vec::new()];
    for &c in &v {
        for i in 0..sets.len() {
            let joins = !sets[i].iter().any(|&d| cx.is_disjoint(c, d));
            if joins {
                let mut set = sets[i].clone();
                set.push(c);
                sets.push(set);
            }
        }
        if sets.len() > cx.limits.max_alternatives {
            return Err(Error::limit(
                "the number of combinations of branches",
                cx.limits.max_alternatives as u64,
                sets.len() as u64,
            )
            .set_by("max_alternatives"));
        }
        cx.work(sets.len())?;
    }
    let item = |c: SchemaNodeId| Conjunct::Lit(Lit::yes(c), scope);
    Ok(sets.into_iter().skip(1).map(|s| s.into_iter().map(item).collect()).collect())
}

fn exactly_one<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    v: &[SchemaNodeId],
    scope: UnevaluatedScope,
) -> Result<Vec<Alternative<K::Atom>>> {
    // Branches without a value of this type neither hold nor need to be refused.
    let v: Vec<SchemaNodeId> = v.iter().copied().filter(|&c| cx.nodes.get(c).mask.contains(K::TYPE)).collect();
    let overlaps = cx.overlaps(&v)?;
    let mut out = Vec::with_capacity(v.len());
    for (i, &c) in v.iter().enumerate() {
        cx.work(1 + overlaps[i].len())?;
        let mut a = vec![Conjunct::Lit(Lit::yes(c), scope)];
        a.extend(overlaps[i].iter().map(|&j| Conjunct::Lit(Lit::no(v[j]), 0)));
        out.push(a);
    }
    Ok(out)
}

/// The ways in which a value of the type violates a node.
fn negation<K: StructuredKind>(
    cx: &mut LoweringContext<'_, '_>,
    node: SchemaNodeId,
) -> Result<Vec<Alternative<K::Atom>>> {
    let n = cx.nodes.get(node);
    if node == FALSE || !n.types.contains(K::TYPE) {
        return Ok(vec![Vec::new()]);
    }
    let (all, any, one, not, cond, values) =
        (n.all.clone(), n.any.clone(), n.one.clone(), n.not, n.cond, n.values.clone());
    let no = |c: SchemaNodeId| Conjunct::Lit(Lit::no(c), 0);
    let yes = |c: SchemaNodeId| Conjunct::Lit(Lit::yes(c), 0);
    let mut out = K::violations(cx, node)?;
    for v in &values {
        out.push(v.composites.iter().map(|&c| no(c)).collect());
    }
    out.extend(all.iter().map(|&c| vec![no(c)]));
    if let Some(c) = not {
        out.push(vec![yes(c)]);
    }
    if let Some(v) = any {
        out.push(v.iter().map(|&c| no(c)).collect());
    }
    if let Some(v) = one {
        let v: Vec<SchemaNodeId> = v.iter().copied().filter(|&c| cx.nodes.get(c).mask.contains(K::TYPE)).collect();
        out.push(v.iter().map(|&c| no(c)).collect());
        // Or two of them hold.
        for (i, others) in cx.overlaps(&v)?.into_iter().enumerate() {
            out.extend(others.into_iter().filter(|&j| j > i).map(|j| vec![yes(v[i]), yes(v[j])]));
        }
    }
    if let Some((i, t, e)) = cond {
        out.extend([vec![yes(i), no(t)], vec![no(i), no(e)]]);
    }
    Ok(out)
}
