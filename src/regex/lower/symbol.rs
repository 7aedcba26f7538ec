//! Patterns as symbols of a grammar: other text may stand before a match, and behind it.
//!
//! What stands before must not matter, or the pattern is refused. What stands behind may: then the texts come with what
//! may follow each of them. A pattern with a lazy repetition takes its shortest text, as a search would.

use crate::error::{Error, Result};
use crate::expr::marks::MARK;
use crate::expr::{Edge, ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode, INF};
use crate::regex::lower::assertion_free::AssertionFree;
use crate::regex::lower::continuation::{self, ContinuationWalk, Kont};
use crate::regex::parse::reader::unsupported;
use crate::util::hash::{SeededMap, SeededSet};

/// Texts before a match that look-behind tells apart.
const MOST_BEFORE: usize = 64;

/// Copies of a counted part that are looked at one by one.
const MOST_COPIES: u32 = 4;

/// The texts of a pattern that stands between other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTexts {
    /// The texts.
    pub texts: ExprId,
    /// Where look-ahead sees beyond the end of a text: a text, the byte 0xFF, and all the rest of the output.
    pub context: Option<ExprId>,
}

/// Whether a pattern has a repetition that prefers few copies.
pub(crate) fn is_lazy(ast: &Ast) -> bool {
    (0..ast.len() as AstId).any(|n| prefers_few(ast, n))
}

fn prefers_few(ast: &Ast, n: AstId) -> bool {
    ast.facts(n).lazy && matches!(ast.get(n), AstNode::Rep { min, max, .. } if min < max)
}

/// The texts of a tree between other text; `shortest` obeys lazy repetitions.
///
/// # Errors
/// `Unsupported` where the text before a match matters, and for lazy repetitions before something that may end early or
/// late; `Limit`.
pub(crate) fn lower(
    x: &mut Exprs,
    ast: Ast,
    pure: AssertionFree,
    root: AstId,
    shortest: bool,
    limits: &Limits,
) -> Result<SymbolTexts> {
    let split = if shortest && is_lazy(&ast) { Some(LazySplit::of(x, &ast, &pure, root, limits)?) } else { None };
    let found = match ast.facts(root).pure {
        true => SymbolTexts { texts: pure.of(root), context: None },
        false => surrounded(x, ast, pure, root, limits)?,
    };
    match split {
        None => Ok(found),
        Some(LazySplit { head: Some((head, tail)), .. }) if found.context.is_none() => {
            let head = x.shortest(head);
            Ok(SymbolTexts { texts: x.cat(head, tail), context: None })
        }
        Some(LazySplit { head: Some(_), offset }) => {
            Err(unsupported("a lazy repetition together with look-ahead at the end", offset))
        }
        Some(LazySplit { head: None, offset }) => cut_short(x, found, offset, limits),
    }
}

/// Only the shortest texts.
fn cut_short(x: &mut Exprs, found: SymbolTexts, offset: usize, limits: &Limits) -> Result<SymbolTexts> {
    let texts = x.shortest(found.texts);
    let Some(context) = found.context else { return Ok(SymbolTexts { texts, context: None }) };
    // A text is not cut short by one that what follows forbids: there must be none of these.
    let any = marked(x, found.texts);
    let forbidden = x.minus(any, context);
    let longer = x.longer(found.texts);
    let longer = x.with_marks(longer);
    let both = x.and(&[longer, forbidden]);
    if x.decide_live(both, limits.max_explored_states)? {
        return Err(unsupported("a lazy repetition together with look-ahead at the end", offset));
    }
    let marked = marked(x, texts);
    Ok(SymbolTexts { texts, context: Some(x.and(&[context, marked])) })
}

/// `texts`, a mark, and any text.
fn marked(x: &mut Exprs, texts: ExprId) -> ExprId {
    let any = x.any_text();
    let rest = x.literal_then(&[MARK], any);
    x.cat(texts, rest)
}

/// The texts of a tree that holds assertions.
fn surrounded(x: &mut Exprs, ast: Ast, pure: AssertionFree, root: AstId, limits: &Limits) -> Result<SymbolTexts> {
    let behind = (0..ast.len() as AstId).find(|&n| match ast.get(n) {
        AstNode::Look { behind, .. } => *behind,
        AstNode::Assert(_) => true,
        _ => false,
    });
    let offset = behind.map_or(0, |n| ast.facts(n).offset as usize);
    let mut w = continuation::prepare(x, ast, pure, limits)?;
    let (accept, mark) = (w.kont(Kont::Accept), w.kont(Kont::Mark));
    let (whole, open) = (w.kont(Kont::Node(root, accept)), w.kont(Kont::Node(root, mark)));
    let need = w.facts(open).need;
    let starts = starts(&mut w, need, offset)?;
    let mut found: Option<(ExprId, ExprId)> = None;
    for start in starts {
        let now = (w.run_from(whole, &start)?, w.run_from(open, &start)?);
        let Some(first) = found else {
            found = Some(now);
            continue;
        };
        for (a, b) in [(first.0, now.0), (first.1, now.1)] {
            if a != b && !(includes(w.x, a, b, limits)? && includes(w.x, b, a, limits)?) {
                let message = "this looks at the text before the terminal, which may be any; such an assertion may stand \
                               only behind what the terminal itself has read";
                return Err(Error::new(crate::error::ErrorKind::Unsupported, message).at_offset(offset));
            }
        }
    }
    let Some((whole, open)) = found else { return Ok(SymbolTexts { texts: Exprs::NEVER, context: None }) };
    let free = marked(x, whole);
    if !includes(x, free, open, limits)? {
        let texts = before_mark(x, open, limits)?;
        return Ok(SymbolTexts { texts, context: Some(open) });
    }
    let context = if includes(x, open, free, limits)? { None } else { Some(open) };
    Ok(SymbolTexts { texts: whole, context })
}

/// What trackers may know before a match: nothing yet, or some text.
fn starts(w: &mut ContinuationWalk<'_>, need: u64, offset: usize) -> Result<Vec<Vec<ExprId>>> {
    let mut found = vec![w.behind.start()];
    if need == 0 {
        return Ok(found);
    }
    let mut seen: SeededSet<Vec<ExprId>> = found.iter().cloned().collect();
    let mut i = 0;
    while let Some(now) = found.get(i).cloned() {
        w.check()?;
        for kind in 0..w.behind.kinds().len() {
            let c = w.behind.kinds()[kind].1;
            let mut next = now.clone();
            w.read(&mut next, c, need);
            if seen.insert(next.clone()) {
                found.push(next);
            }
        }
        if found.len() > MOST_BEFORE {
            return Err(unsupported("look-behind of so many texts", offset));
        }
        i += 1;
    }
    Ok(found)
}

/// Whether `big` accepts all that `small` does.
fn includes(x: &mut Exprs, big: ExprId, small: ExprId, limits: &Limits) -> Result<bool> {
    let rest = x.minus(small, big);
    Ok(!x.decide_live(rest, limits.max_explored_states)?)
}

/// What stands before the mark in members of `e`.
fn before_mark(x: &mut Exprs, e: ExprId, limits: &Limits) -> Result<ExprId> {
    let mut names: SeededMap<ExprId, (u32, ExprId)> = SeededMap::default();
    let mut order = vec![e];
    let mut name = |x: &mut Exprs, order: &mut Vec<ExprId>, state: ExprId| -> Result<ExprId> {
        if let Some(&(_, name)) = names.get(&state) {
            return Ok(name);
        }
        let end = x.derive(state, MARK);
        let ends = x.decide_live(end, limits.max_explored_states)?;
        let (number, name) = x.fix(ends);
        names.insert(state, (number, name));
        order.push(state);
        Ok(name)
    };
    order.clear();
    let first = name(x, &mut order, e)?;
    let mut definitions = Vec::new();
    while let Some(&state) = order.get(definitions.len()) {
        if order.len() > limits.max_explored_states {
            let (most, now) = (limits.max_explored_states as u64, order.len() as u64);
            return Err(Error::limit("states of a terminal with look-ahead", most, now).of("max_explored_states"));
        }
        let row = x.row(state);
        let mut edges = Vec::with_capacity(row.len());
        for edge in row.iter().filter(|edge| edge.lo != MARK) {
            let to = name(x, &mut order, edge.to)?;
            edges.push(Edge { lo: edge.lo, hi: edge.hi.min(MARK - 1), to });
        }
        let end = x.derive(state, MARK);
        let ends = x.decide_live(end, limits.max_explored_states)?;
        definitions.push(x.step(ends, edges));
        x.check()?;
    }
    for (state, definition) in order.iter().zip(definitions) {
        if let Some(&(number, _)) = names.get(state) {
            x.define(number, definition);
        }
    }
    Ok(first)
}

/// How the shortest text of a pattern with lazy repetitions is found.
struct LazySplit {
    /// The part whose shortest text is taken and what is taken greedily behind it; `None` where the whole is the first.
    head: Option<(ExprId, ExprId)>,
    /// Where a lazy repetition stands.
    offset: usize,
}

/// Parts of a sequence, with the node where a lazy repetition is inside.
type SequencePart = (ExprId, Option<AstId>);

impl LazySplit {
    /// Finds the longest beginning of which the shortest text is what a search takes: behind each lazy repetition stands
    /// what cannot end in two ways. All behind it must be optional.
    fn of(x: &mut Exprs, ast: &Ast, pure: &AssertionFree, root: AstId, limits: &Limits) -> Result<Self> {
        let mut erased: Vec<ExprId> = Vec::with_capacity(ast.len());
        let mut lazy: Vec<bool> = Vec::with_capacity(ast.len());
        let mut offset = None;
        for n in 0..=root {
            let of = |m: &AstId| erased[*m as usize];
            let is_lazy = |m: &AstId| lazy[*m as usize];
            let (e, inside) = match ast.get(n) {
                AstNode::Cat(v) => {
                    let all: Vec<ExprId> = v.iter().map(of).collect();
                    (x.cat_all(&all), v.iter().any(is_lazy))
                }
                AstNode::Alt(v) => {
                    let all: Vec<ExprId> = v.iter().map(of).collect();
                    (x.alt(&all), v.iter().any(is_lazy))
                }
                AstNode::Rep { body, min, max } => {
                    let few = prefers_few(ast, n);
                    if few {
                        offset.get_or_insert(ast.facts(n).offset as usize);
                    }
                    (x.rep(of(body), *min, *max), few || is_lazy(body))
                }
                AstNode::Atomic(body) => (of(body), is_lazy(body)),
                AstNode::Look { .. } | AstNode::Assert(_) => (Exprs::EPS, false),
                _ => (pure.of(n), false),
            };
            erased.push(e);
            lazy.push(inside);
            x.check()?;
        }
        let offset = offset.unwrap_or(0);
        let mut parts: Vec<SequencePart> = Vec::new();
        let mut todo = vec![root];
        while let Some(n) = todo.pop() {
            match ast.get(n) {
                AstNode::Cat(v) => todo.extend(v.iter().rev()),
                AstNode::Atomic(body) => todo.push(*body),
                AstNode::Rep { body, min, max } if !lazy[n as usize] && (1..=MOST_COPIES).contains(min) => {
                    let one = erased[*body as usize];
                    parts.extend((0..*min).map(|_| (one, None)));
                    let more = if *max == INF { INF } else { max - min };
                    parts.push((x.rep(one, 0, more), None));
                }
                _ => parts.push((erased[n as usize], if lazy[n as usize] { Some(n) } else { None })),
            }
        }
        let last = parts.iter().rposition(|p| p.1.is_some()).unwrap_or(0);
        let mut tail = Exprs::EPS;
        for k in (last + 1..=parts.len()).rev() {
            if !x.nullable(tail) {
                break;
            }
            if ends_in_one_way(x, ast, &erased, &lazy, &parts[..k], limits)? {
                let all: Vec<ExprId> = parts[..k].iter().map(|p| p.0).collect();
                let head = if tail == Exprs::EPS { None } else { Some((x.cat_all(&all), tail)) };
                return Ok(LazySplit { head, offset });
            }
            tail = x.cat(parts[k - 1].0, tail);
        }
        let message = "what stands behind this lazy repetition may end early or late, so where the text ends depends on \
                       more than the text; end it with a part of one length";
        Err(Error::new(crate::error::ErrorKind::Unsupported, message).at_offset(offset))
    }
}

/// Whether behind every lazy repetition stands what cannot end in two ways: no text of it begins with another one.
fn ends_in_one_way(
    x: &mut Exprs,
    ast: &Ast,
    erased: &[ExprId],
    lazy: &[bool],
    parts: &[SequencePart],
    limits: &Limits,
) -> Result<bool> {
    let mut after = Exprs::EPS;
    let mut todo: Vec<(AstId, ExprId)> = Vec::new();
    for &(e, node) in parts.iter().rev() {
        todo.extend(node.map(|n| (n, after)));
        after = x.cat(e, after);
    }
    let mut known: SeededMap<ExprId, bool> = SeededMap::default();
    while let Some((n, after)) = todo.pop() {
        x.check()?;
        let inside = |m: &AstId| lazy[*m as usize];
        match ast.get(n) {
            AstNode::Cat(v) => {
                let mut after = after;
                for m in v.iter().rev() {
                    if inside(m) {
                        todo.push((*m, after));
                    }
                    after = x.cat(erased[*m as usize], after);
                }
            }
            AstNode::Alt(v) => todo.extend(v.iter().filter(|m| inside(m)).map(|&m| (m, after))),
            AstNode::Atomic(body) => todo.push((*body, after)),
            AstNode::Rep { body, max, .. } => {
                if prefers_few(ast, n) && !known.contains_key(&after) {
                    let longer = x.longer(after);
                    let both = x.and(&[after, longer]);
                    let one_way = !x.decide_live(both, limits.max_explored_states)?;
                    known.insert(after, one_way);
                }
                if prefers_few(ast, n) && known.get(&after) != Some(&true) {
                    return Ok(false);
                }
                if inside(body) {
                    let more = x.rep(erased[*body as usize], 0, if *max == INF { INF } else { max.saturating_sub(1) });
                    todo.push((*body, x.cat(more, after)));
                }
            }
            _ => {}
        }
    }
    Ok(true)
}
