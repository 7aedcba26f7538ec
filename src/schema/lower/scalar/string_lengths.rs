//! Which lengths the texts of an expression have, and how many texts there are.
//!
//! Lengths are code points. Every byte that is not a UTF-8 continuation byte begins one, and every text here is well
//! formed, so the states after exactly `n` code points are a layer: what the previous layer reaches by one such byte
//! and any continuation bytes. A text with a length in `min..=max` exists exactly if one of those layers accepts.
//! When a layer repeats the one before it, so do all further ones.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Result};
use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

const CONTINUATION: (u8, u8) = (0x80, 0xBF);

/// Whether `text` accepts anything with `min..=max` code points. Cost: at most `limit` states, each layer counted.
///
/// # Errors
/// `Limit` where more states would have to be looked at.
pub(crate) fn has_length(x: &mut Exprs, text: ExprId, min: u32, max: u32, limit: usize) -> Result<bool> {
    if min > max || text == Exprs::NEVER {
        return Ok(false);
    }
    if min == 0 && max == INF {
        return x.is_inhabited(text, limit);
    }
    if !x.is_boolean(text) {
        let (lo, hi) = bounds(x, text);
        // Where structure does not tell, the layers do.
        let known = lo <= hi;
        if known && (lo > max || hi < min) {
            return Ok(false);
        }
        // Both ends of the interval are the length of some text.
        if known && ((min <= lo && lo <= max) || (hi != INF && min <= hi && hi <= max)) {
            return Ok(true);
        }
    }
    let mut layer = vec![text];
    let mut in_layer: FxHashSet<ExprId> = FxHashSet::from_iter([text]);
    let mut looked = 0usize;
    let mut n = 0u32;
    let mut previous = Vec::new();
    loop {
        // Continuation bytes finish the code point that the layer began.
        let mut next = Vec::new();
        let mut in_next: FxHashSet<ExprId> = FxHashSet::default();
        let mut i = 0;
        while i < layer.len() {
            looked += 1;
            if looked > limit {
                return Err(
                    Error::limit("states explored for a length", limit as u64, looked as u64).of("max_explored_states")
                );
            }
            if n >= min && x.nullable(layer[i]) {
                return Ok(true);
            }
            for e in x.row(layer[i]).iter() {
                if e.lo >= CONTINUATION.0 && e.hi <= CONTINUATION.1 {
                    if in_layer.insert(e.to) {
                        layer.push(e.to);
                    }
                    continue;
                }
                if e.lo <= CONTINUATION.1 && e.hi >= CONTINUATION.0 && in_layer.insert(e.to) {
                    layer.push(e.to);
                }
                if in_next.insert(e.to) {
                    next.push(e.to);
                }
            }
            x.check()?;
            i += 1;
        }
        if n >= max || next.is_empty() {
            return Ok(false);
        }
        layer.sort_unstable();
        if layer == previous {
            // Every further layer is this one, so the first one that counts accepts as this one does.
            return Ok(layer.iter().any(|&e| x.nullable(e)));
        }
        previous = std::mem::replace(&mut layer, next);
        in_layer = in_next;
        n += 1;
    }
}

/// Fewest and most code points of an expression without intersection and complement; both ends are reached. More than
/// most where structure does not tell.
fn bounds(x: &Exprs, e: ExprId) -> (u32, u32) {
    const UNKNOWN: (u32, u32) = (INF, 0);
    let unknown = |b: (u32, u32)| b.0 > b.1;
    let add = |a: u32, b: u32| if a == INF || b == INF { INF } else { a.saturating_add(b) };
    let join = |out: Option<(u32, u32)>, b: (u32, u32)| match out {
        None => Some(b),
        Some(o) if unknown(o) || unknown(b) => Some(UNKNOWN),
        Some(o) => Some((o.0.min(b.0), o.1.max(b.1))),
    };
    let mut known: FxHashMap<ExprId, (u32, u32)> = FxHashMap::default();
    // Children come before their parents, so nesting takes no stack.
    for n in x.reachable(e) {
        let of = |e: ExprId| known.get(&e).copied().unwrap_or(UNKNOWN);
        let out = match x.get(n) {
            Expr::Eps => Some((0, 0)),
            Expr::Step { nullable, edges } => {
                let end = nullable.then_some((0, 0));
                edges.iter().fold(end, |out, edge| {
                    let b = of(edge.to);
                    let inside = edge.lo >= CONTINUATION.0 && edge.hi <= CONTINUATION.1;
                    let one = u32::from(!inside);
                    join(out, if unknown(b) { b } else { (add(b.0, one), add(b.1, one)) })
                })
            }
            Expr::Cat(a, b) => {
                let (a, b) = (of(*a), of(*b));
                Some(if unknown(a) || unknown(b) { UNKNOWN } else { (add(a.0, b.0), add(a.1, b.1)) })
            }
            Expr::Alt(v) => v.iter().fold(None, |out, &p| join(out, of(p))),
            Expr::Rep { body, min, max } => {
                let b = of(*body);
                let most = if b.1 == 0 {
                    0
                } else if *max == INF || b.1 == INF {
                    INF
                } else {
                    b.1.checked_mul(*max).unwrap_or(INF)
                };
                Some(if unknown(b) { b } else { (b.0.saturating_mul(*min), most) })
            }
            Expr::Never | Expr::And(_) | Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => None,
        };
        known.insert(n, out.unwrap_or(UNKNOWN));
    }
    known.get(&e).copied().unwrap_or(UNKNOWN)
}

/// The texts that `e` accepts, of which there must be few: see [`count`].
pub(crate) fn members(x: &mut Exprs, e: ExprId, limit: usize) -> Result<Vec<String>> {
    let mut out = Vec::new();
    let mut stack = vec![(e, Vec::new())];
    while let Some((s, text)) = stack.pop() {
        for edge in x.row(s).iter().rev() {
            if x.decide_live(edge.to, limit)? {
                for b in (edge.lo..=edge.hi).rev() {
                    let mut longer: Vec<u8> = text.clone();
                    longer.push(b);
                    stack.push((edge.to, longer));
                }
            }
        }
        if x.nullable(s) {
            out.extend(String::from_utf8(text));
        }
    }
    Ok(out)
}

/// Whether `e` is seen to accept `cap` texts or more: along the widest ranges of bytes, whatever is read multiplies.
/// False decides nothing.
fn has_many(x: &mut Exprs, e: ExprId, cap: u64, limit: usize) -> Result<bool> {
    /// Bytes that are looked at.
    const DEPTH: usize = 64;
    let (mut at, mut ways) = (e, 1u64);
    for _ in 0..DEPTH {
        if ways >= cap {
            return x.is_inhabited(at, limit);
        }
        let width = |edge: &Edge| u64::from(edge.hi - edge.lo) + 1;
        let mut edges = x.row(at).to_vec();
        edges.sort_by_key(|edge| std::cmp::Reverse(width(edge)));
        let mut next = None;
        for edge in &edges {
            if x.is_inhabited(edge.to, limit)? {
                next = Some(edge);
                break;
            }
        }
        let Some(edge) = next else { return Ok(false) };
        (at, ways) = (edge.to, ways.saturating_mul(width(edge)));
    }
    Ok(false)
}

/// How many texts `e` accepts, but at most `cap`. Looks at no more than `limit` states; where that does not suffice
/// the answer is `cap`.
pub(crate) fn count(x: &mut Exprs, e: ExprId, cap: u64, limit: usize) -> Result<u64> {
    if has_many(x, e, cap, limit)? {
        return Ok(cap);
    }
    if cap == 0 || !x.decide_live(e, limit)? {
        return Ok(0);
    }
    // Depth-first over live states; a state that is still open closes a circle, so there are infinitely many.
    enum LayerMark {
        Open,
        Done(u64),
    }
    let mut marks: FxHashMap<ExprId, LayerMark> = FxHashMap::default();
    let mut stack = vec![(e, false)];
    while let Some((s, leave)) = stack.pop() {
        if leave {
            let mut n = u64::from(x.nullable(s));
            for edge in x.row(s).iter() {
                if let Some(LayerMark::Done(k)) = marks.get(&edge.to) {
                    n = n.saturating_add(k.saturating_mul(u64::from(edge.hi - edge.lo) + 1));
                }
            }
            marks.insert(s, LayerMark::Done(n.min(cap)));
            continue;
        }
        match marks.get(&s) {
            Some(LayerMark::Done(_)) => continue,
            // The second visit of an open state is either a circle or a sibling that waited: only ancestors are open.
            Some(LayerMark::Open) => return Ok(cap),
            None => {}
        }
        if marks.len() >= limit {
            return Ok(cap);
        }
        x.check()?;
        marks.insert(s, LayerMark::Open);
        stack.push((s, true));
        for edge in x.row(s).iter() {
            if !x.decide_live(edge.to, limit)? {
                marks.insert(edge.to, LayerMark::Done(0));
                continue;
            }
            match marks.get(&edge.to) {
                Some(LayerMark::Open) => return Ok(cap),
                Some(LayerMark::Done(_)) => {}
                None => stack.push((edge.to, false)),
            }
        }
    }
    Ok(match marks.get(&e) {
        Some(LayerMark::Done(n)) => (*n).min(cap),
        _ => cap,
    })
}
