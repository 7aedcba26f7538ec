//! Saturated counts: repetitions that no single token can exhaust, made unbounded.
//!
//! The mask of a state asks only what one token can do. A repetition that may go on for more copies than the longest
//! token has bytes behaves, for that mask, as if it had no bound, and a minimum beyond that as one just out of reach.
//! Rewriting an expression so makes thousands of counter states share one mask. The rewrite is exact for expressions
//! without intersection and complement: after at most `L` bytes a count of `L` or more has not run out in either.

use rustc_hash::FxHashMap;

use crate::expr::{Expr, ExprId, Exprs, INF};

/// Longest runs of bytes of one kind inside a single token: how far a token can drive a loop over such bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenReach {
    /// The longest run of ASCII digits in a token.
    pub digits: u32,
    /// The longest run of ASCII letters, digits and `_` in a token.
    pub word: u32,
    /// The longest token, in bytes.
    pub any: u32,
}

impl TokenReach {
    fn longest_run(&self, x: &Exprs, body: ExprId) -> u32 {
        let Expr::Step { edges, .. } = x.get(body) else { return self.any };
        if edges.iter().any(|e| e.to != Exprs::EPS) {
            return self.any;
        }
        if edges.iter().all(|e| e.lo >= b'0' && e.hi <= b'9') {
            return self.digits;
        }
        let word = |lo: u8, hi: u8| {
            [(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')].iter().any(|r| lo >= r.0 && hi <= r.1)
        };
        if edges.iter().all(|e| word(e.lo, e.hi)) { self.word } else { self.any }
    }
}

/// How deep operators are rewritten.
const DEEP: u32 = 128;

/// Memo of [`saturate`].
pub type SaturateTable = FxHashMap<ExprId, ExprId>;

/// `e` with every count beyond the reach of one token made unbounded. Expressions with intersection or complement
/// come back as they are.
pub fn saturate(x: &mut Exprs, memo: &mut SaturateTable, reach: &TokenReach, e: ExprId) -> ExprId {
    let counts = |x: &Exprs, body, min: u32, max| {
        let limit = reach.longest_run(x, body).max(1);
        (min.min(limit + 1), if max > limit { INF } else { max })
    };
    rewrite(x, memo, &counts, Some(reach.digits), DEEP, e)
}

/// An intersection, or a union of such, with every count beyond `limit` made unbounded in the parts that are neither
/// complements nor contain any: accepts at least what `e` does, and no other strings of up to `limit` bytes. Other
/// expressions come back as they are.
pub fn saturate_parts(x: &mut Exprs, memo: &mut SaturateTable, limit: u32, e: ExprId) -> ExprId {
    let counts = |_: &Exprs, _, min: u32, max| (min.min(limit + 1), if max > limit { INF } else { max });
    let of = |x: &mut Exprs, memo: &mut SaturateTable, parts: &[ExprId]| -> Vec<ExprId> {
        parts.iter().map(|&p| if x.is_boolean(p) { p } else { rewrite(x, memo, &counts, None, DEEP, p) }).collect()
    };
    match x.get(e).clone() {
        Expr::And(parts) => {
            let parts = of(x, memo, &parts);
            x.and(&parts)
        }
        Expr::Alt(choices) if x.is_boolean(e) => {
            let mut made = of(x, memo, &choices);
            for (to, choice) in made.iter_mut().zip(&choices) {
                if let Expr::And(parts) = x.get(*choice).clone() {
                    let parts = of(x, memo, &parts);
                    *to = x.and(&parts);
                }
            }
            x.alt(&made)
        }
        _ => e,
    }
}

/// `e` with every repetition limited to `most` copies beyond its minimum: accepts a part of what `e` accepts, and has
/// the same prefixes as long as no count runs out.
pub fn cut(x: &mut Exprs, memo: &mut SaturateTable, most: u32, e: ExprId) -> ExprId {
    let counts =
        |_: &Exprs, _, min: u32, max: u32| (min, if max == INF { INF } else { max.min(min.saturating_add(most)) });
    rewrite(x, memo, &counts, None, DEEP, e)
}

/// What becomes of the counts of a repetition, given its body and them.
type CountsOf<'a> = dyn Fn(&Exprs, ExprId, u32, u32) -> (u32, u32) + 'a;

/// `e` with the counts of its repetitions rewritten, and runs of digits saturated for tokens of `digits` digits.
fn rewrite(
    x: &mut Exprs,
    memo: &mut SaturateTable,
    counts: &CountsOf<'_>,
    digits: Option<u32>,
    depth: u32,
    e: ExprId,
) -> ExprId {
    // Each count may be rewritten or not, so what lies deeper than a stack should hold stays as it is.
    if x.is_boolean(e) || depth == 0 {
        return e;
    }
    // Only the head of an expression can hold a started counter, but fresh ones further back count as well; the
    // rewrite follows the operators, and leaves tries alone. What stands behind the head is mostly known from the state
    // before.
    let mut spine = Vec::new();
    let mut head = e;
    let mut out = loop {
        if let Some(&known) = memo.get(&head) {
            break known;
        }
        let Expr::Cat(a, b) = *x.get(head) else {
            let made = rewrite_one(x, memo, counts, digits, depth, head);
            memo.insert(head, made);
            break made;
        };
        spine.push((head, a));
        head = b;
    };
    for (whole, a) in spine.into_iter().rev() {
        let a = rewrite_one(x, memo, counts, digits, depth, a);
        out = x.cat(a, out);
        memo.insert(whole, out);
    }
    out
}

/// [`rewrite`] for what is no concatenation.
fn rewrite_one(
    x: &mut Exprs,
    memo: &mut SaturateTable,
    counts: &CountsOf<'_>,
    digits: Option<u32>,
    depth: u32,
    e: ExprId,
) -> ExprId {
    match x.get(e).clone() {
        Expr::Alt(v) => {
            let v: Vec<ExprId> = v.iter().map(|&p| rewrite(x, memo, counts, digits, depth - 1, p)).collect();
            x.alt(&v)
        }
        Expr::Rep { body, min, max } => {
            let (min, max) = counts(x, body, min, max);
            let inner = rewrite(x, memo, counts, digits, depth - 1, body);
            x.rep(inner, min, max)
        }
        Expr::Multiple(m) => digits.map_or(e, |d| x.multiple(m.saturated(d))),
        _ => e,
    }
}
