//! What may fail while a lexeme is compiled, and must not fail when a mask is asked for.

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;

/// Whether nothing that an expression derives to is dead; `None` if it accepts nothing itself. `origin` is the
/// expression of which it is a copy, in its own arena.
pub(super) fn decide_live(
    exprs: &mut Exprs,
    expr: ExprId,
    origin: Option<(&Exprs, ExprId)>,
    limits: &Limits,
) -> Result<Option<bool>> {
    let mut all_live = false;
    if let Some((source, stated)) = origin {
        // What the source decided need not be decided again. Dead expressions are not brought along: where there are
        // any, each state is asked when it is found, which takes no more than deciding all of them took.
        if !source.is_live(stated) {
            return Ok(None);
        }
        all_live = source.is_all_live(stated);
        if !all_live {
            exprs.search_live();
        }
    } else if !exprs.decide_live(expr, limits.max_explored_states)? {
        return Ok(None);
    }
    Ok(Some(all_live || exprs.is_all_live(expr)))
}

/// Bytes of a node and what is known of it.
pub(super) const NODE: usize = 96;

/// What the states that lead on from one may take on use, in nodes of expressions: some megabytes, or some times what
/// the source takes. States of counts within counts are unions of all ways to share among them what was read, which
/// may be millions: `(((a{2,99}b?){1,99}c?){1,99}d?){1,99}`. The expressions of intersections and complements were all
/// found when they were decided, so these have no such bound.
pub(super) fn most_row_nodes(exprs: &Exprs, expr: ExprId, limits: &Limits) -> usize {
    /// Nodes of one row that are always allowed: 4 MB.
    const ALWAYS: usize = 40_000;
    const TIMES: usize = 8;
    if exprs.is_boolean(expr) {
        return usize::MAX;
    }
    ALWAYS.max(limits.max_state_bytes / 4 / NODE).max(exprs.own_size().saturating_mul(TIMES))
}

/// Derives the first states of a large expression while that may still fail: its states may be unions of as many parts
/// as it has, and then each takes as long as a whole compile. Whoever asks for a mask must not find that out.
pub(super) fn try_out(exprs: &mut Exprs, expr: ExprId) -> Result<()> {
    /// Nodes from which on an expression is large.
    const LARGE: usize = 512;
    const STATES: usize = 16;
    if exprs.own_len() < LARGE {
        return Ok(());
    }
    let mut order = vec![expr];
    let mut at = 0;
    while let Some(&e) = order.get(at) {
        for edge in exprs.row(e).iter() {
            if order.len() < STATES && !order.contains(&edge.to) {
                order.push(edge.to);
            }
        }
        exprs.check()?;
        at += 1;
    }
    Ok(())
}
