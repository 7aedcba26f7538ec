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
    // Where structure does not tell, the layers do.
    if !x.is_boolean(text)
        && let Some(known) = TextLengths::measure(x, text).meet(min, max)
    {
        return Ok(known);
    }
    let mut layer = Layer::default();
    layer.add(text);
    let mut looked = 0usize;
    let mut n = 0u32;
    let mut previous = Vec::new();
    loop {
        let mut next = Layer::default();
        if layer.finish(x, n >= min, &mut next, (&mut looked, limit))? {
            return Ok(true);
        }
        if n >= max || next.states.is_empty() {
            return Ok(false);
        }
        layer.states.sort_unstable();
        if layer.states == previous {
            // Every further layer is this one, so the first one that counts accepts as this one does.
            return Ok(layer.states.iter().any(|&e| x.nullable(e)));
        }
        previous = std::mem::replace(&mut layer, next).states;
        n += 1;
    }
}

/// The states after some number of code points.
#[derive(Default)]
struct Layer {
    states: Vec<ExprId>,
    known: FxHashSet<ExprId>,
}

impl Layer {
    fn add(&mut self, state: ExprId) {
        if self.known.insert(state) {
            self.states.push(state);
        }
    }

    /// Adds what continuation bytes reach, which finish the code point that the layer began, and begins the next
    /// layer. Whether a state accepts, if this layer `counts`: then the rest is left out.
    fn finish(
        &mut self,
        x: &mut Exprs,
        counts: bool,
        next: &mut Layer,
        (looked, limit): (&mut usize, usize),
    ) -> Result<bool> {
        let mut i = 0;
        while i < self.states.len() {
            *looked += 1;
            if *looked > limit {
                let e = Error::limit("states explored for a length", limit as u64, *looked as u64);
                return Err(e.set_by("max_explored_states"));
            }
            if counts && x.nullable(self.states[i]) {
                return Ok(true);
            }
            for e in x.row(self.states[i]).iter() {
                if e.lo <= CONTINUATION.1 && e.hi >= CONTINUATION.0 {
                    self.add(e.to);
                }
                if e.lo < CONTINUATION.0 || e.hi > CONTINUATION.1 {
                    next.add(e.to);
                }
            }
            x.check()?;
            i += 1;
        }
        Ok(false)
    }
}

/// Fewest and most code points of an expression without intersection and complement; both ends are reached.
#[derive(Clone, Copy)]
struct TextLengths {
    fewest: u32,
    most: u32,
}

impl TextLengths {
    /// Structure does not tell.
    const UNKNOWN: TextLengths = TextLengths { fewest: INF, most: 0 };
    const NONE: TextLengths = TextLengths { fewest: 0, most: 0 };

    fn measure(x: &Exprs, e: ExprId) -> TextLengths {
        let mut known: FxHashMap<ExprId, TextLengths> = FxHashMap::default();
        // Children come before their parents, so nesting takes no stack.
        for n in x.reachable(e) {
            let of = |e: ExprId| known.get(&e).copied().unwrap_or(TextLengths::UNKNOWN);
            let lengths = match x.get(n) {
                Expr::Eps => TextLengths::NONE,
                Expr::Step { nullable, edges } => {
                    let end = nullable.then_some(TextLengths::NONE);
                    TextLengths::any(end.into_iter().chain(edges.iter().map(|edge| {
                        let inside = edge.lo >= CONTINUATION.0 && edge.hi <= CONTINUATION.1;
                        let one = u32::from(!inside);
                        of(edge.to).then(TextLengths { fewest: one, most: one })
                    })))
                }
                Expr::Cat(a, b) => of(*a).then(of(*b)),
                Expr::Alt(v) => TextLengths::any(v.iter().map(|&p| of(p))),
                Expr::Rep { body, min, max } => of(*body).repeated(*min, *max),
                Expr::Never | Expr::And(_) | Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => TextLengths::UNKNOWN,
            };
            known.insert(n, lengths);
        }
        known.get(&e).copied().unwrap_or(TextLengths::UNKNOWN)
    }

    fn is_unknown(self) -> bool {
        self.fewest > self.most
    }

    fn then(self, other: TextLengths) -> TextLengths {
        if self.is_unknown() || other.is_unknown() {
            return TextLengths::UNKNOWN;
        }
        TextLengths { fewest: self.fewest.saturating_add(other.fewest), most: self.most.saturating_add(other.most) }
    }

    /// Of an expression that accepts what any of several does.
    fn any(all: impl Iterator<Item = TextLengths>) -> TextLengths {
        let join = |a: TextLengths, b: TextLengths| match a.is_unknown() || b.is_unknown() {
            true => TextLengths::UNKNOWN,
            false => TextLengths { fewest: a.fewest.min(b.fewest), most: a.most.max(b.most) },
        };
        all.reduce(join).unwrap_or(TextLengths::UNKNOWN)
    }

    fn repeated(self, min: u32, max: u32) -> TextLengths {
        if self.is_unknown() {
            return TextLengths::UNKNOWN;
        }
        let most = match self.most {
            0 => 0,
            INF => INF,
            most => most.saturating_mul(max),
        };
        TextLengths { fewest: self.fewest.saturating_mul(min), most }
    }

    /// Whether some text has a length in `min..=max`, as far as both ends tell.
    fn meet(self, min: u32, max: u32) -> Option<bool> {
        let within = |n: u32| min <= n && n <= max;
        if self.is_unknown() {
            None
        } else if self.fewest > max || self.most < min {
            Some(false)
        } else if within(self.fewest) || (self.most != INF && within(self.most)) {
            Some(true)
        } else {
            None
        }
    }
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
