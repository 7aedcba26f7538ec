//! Patterns as symbols of a grammar: other text may stand before a match, and behind it.
//!
//! What stands before must not matter, or the pattern is refused. What stands behind may: then the texts come with what
//! may follow each of them. Of a pattern with a lazy repetition, only texts that a search prefers remain (`preferred`).

use crate::error::{Error, Result};
use crate::expr::marked_texts::MARK;
use crate::expr::{Edge, ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode};
use crate::regex::lower::assertion_free::AssertionFree;
use crate::regex::lower::continuation::{self, ContinuationWalk, Kont};
use crate::regex::lower::preferred;
use crate::regex::lower::symbol_texts::SymbolTexts;
use crate::regex::parse::reader::unsupported;
use crate::util::seeded_hash::{SeededMap, SeededSet};

/// Texts before a match that look-behind tells apart.
const MOST_BEFORE: usize = 64;

/// The texts of a tree between other text; `first` obeys lazy repetitions.
///
/// # Errors
/// `Unsupported` where the text before a match matters; `Limit`.
pub(crate) fn lower(
    x: &mut Exprs,
    ast: Ast,
    pure: AssertionFree,
    root: AstId,
    first: bool,
    limits: &Limits,
) -> Result<SymbolTexts> {
    let lazy = first && preferred::is_lazy(&ast);
    if ast.facts(root).pure && !lazy {
        return Ok(SymbolTexts { texts: pure.expr(root), context: None });
    }
    let mut w = continuation::prepare(x, ast, pure, limits)?;
    let mut found = SymbolTexts { texts: Exprs::NEVER, context: None };
    if !w.ast.facts(root).pure {
        found = surrounded(&mut w, root, limits)?;
    }
    if lazy { preferred::lower(&mut w, root, limits) } else { Ok(found) }
}

/// `texts`, a mark, and any text.
fn marked(x: &mut Exprs, texts: ExprId) -> ExprId {
    let any = x.any_text();
    let rest = x.literal_then(&[MARK], any);
    x.cat(texts, rest)
}

/// The texts of a tree that holds assertions.
fn surrounded(w: &mut ContinuationWalk<'_>, root: AstId, limits: &Limits) -> Result<SymbolTexts> {
    let behind = (0..w.ast.len() as AstId).find(|&n| match w.ast.get(n) {
        AstNode::Look { behind, .. } => *behind,
        AstNode::Assert(_) => true,
        _ => false,
    });
    let offset = behind.map_or(0, |n| w.ast.facts(n).offset as usize);
    let (accept, mark) = (w.kont(Kont::Accept), w.kont(Kont::Mark));
    let (whole, open) = (w.kont(Kont::Node(root, accept)), w.kont(Kont::Node(root, mark)));
    let need = w.facts(open).need;
    let starts = starts(w, need, offset)?;
    let mut found: Option<(ExprId, ExprId)> = None;
    for start in starts {
        let now = (w.run_from(whole, &start)?, w.run_from(open, &start)?);
        let Some(first) = found else {
            found = Some(now);
            continue;
        };
        for (a, b) in [(first.0, now.0), (first.1, now.1)] {
            if a != b && !(includes(w.x, a, b, limits)? && includes(w.x, b, a, limits)?) {
                let message = "this looks at the text before the terminal, which may be any; such an assertion may \
                               stand only behind what the terminal itself has read";
                return Err(Error::new(crate::error::ErrorKind::Unsupported, message).at_offset(offset));
            }
        }
    }
    let Some((whole, open)) = found else { return Ok(SymbolTexts { texts: Exprs::NEVER, context: None }) };
    let x = &mut *w.x;
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
    let mut order = Vec::new();
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
    let first = name(x, &mut order, e)?;
    let mut definitions = Vec::new();
    while let Some(&state) = order.get(definitions.len()) {
        if order.len() > limits.max_explored_states {
            let (most, now) = (limits.max_explored_states as u64, order.len() as u64);
            return Err(Error::limit("states of a terminal with look-ahead", most, now).set_by("max_explored_states"));
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
