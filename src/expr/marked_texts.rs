//! Texts with marks in them, and shortest texts.
//!
//! The byte 0xFF is in no text, so it can mark a place in one: where a terminal ends and what follows it begins.

use crate::expr::arena::{Edge, Expr, ExprId, Exprs};
use crate::util::seeded_hash::SeededMap;

/// The byte that marks a place in a text.
pub const MARK: u8 = 0xFF;

impl Exprs {
    /// The members of `e`, which have no marks, with any number of marks anywhere.
    ///
    /// Cost: linear in the nodes of `e`.
    pub fn with_marks(&mut self, e: ExprId) -> ExprId {
        let mark = self.literal(&[MARK]);
        let marks = self.star(mark);
        let nodes = self.reachable(e);
        let mut done: SeededMap<ExprId, ExprId> = SeededMap::default();
        let mut fixes = Vec::new();
        for &n in &nodes {
            if let Expr::Fix(number) = *self.get(n) {
                let nullable = self.nullable(n);
                let (name, new) = self.fix(nullable);
                done.insert(n, new);
                fixes.push((name, self.definition(number)));
            }
        }
        for &n in &nodes {
            let of = |done: &SeededMap<ExprId, ExprId>, e: &ExprId| done.get(e).copied().unwrap_or(Self::NEVER);
            let new = match self.get(n).clone() {
                Expr::Never => Self::NEVER,
                Expr::Eps => marks,
                Expr::Step { nullable, edges } => {
                    let edges = edges.iter().filter(|edge| edge.lo != MARK);
                    let edges: Vec<Edge> = edges
                        .map(|edge| Edge { lo: edge.lo, hi: edge.hi.min(MARK - 1), to: of(&done, &edge.to) })
                        .collect();
                    let step = self.step(false, edges);
                    let step = self.cat(marks, step);
                    if nullable { self.alt(&[marks, step]) } else { step }
                }
                Expr::Cat(a, b) => {
                    let (a, b) = (of(&done, &a), of(&done, &b));
                    self.cat(a, b)
                }
                Expr::Alt(v) => {
                    let v: Vec<ExprId> = v.iter().map(|e| of(&done, e)).collect();
                    self.alt(&v)
                }
                Expr::And(v) => {
                    let v: Vec<ExprId> = v.iter().map(|e| of(&done, e)).collect();
                    self.and(&v)
                }
                Expr::Not(a) => {
                    let a = of(&done, &a);
                    self.not(a)
                }
                Expr::Rep { body, min, max } => {
                    let body = of(&done, &body);
                    let copies = self.rep(body, min, max);
                    self.cat(marks, copies)
                }
                Expr::Multiple(m) => self.multiple(m),
                Expr::Fix(_) => continue,
            };
            done.insert(n, new);
        }
        for (name, definition) in fixes {
            if let Some(d) = definition {
                let new = done.get(&d).copied().unwrap_or(Self::NEVER);
                self.define(name, new);
            }
        }
        done.get(&e).copied().unwrap_or(Self::NEVER)
    }

    /// The members of `e` that begin with no other member.
    pub fn shortest(&mut self, e: ExprId) -> ExprId {
        if self.nullable(e) {
            return Self::EPS;
        }
        let longer = self.longer(e);
        self.minus(e, longer)
    }

    /// What begins with a member of `e` and goes on.
    pub fn longer(&mut self, e: ExprId) -> ExprId {
        let more = self.byte_set(&[(0, u8::MAX)]);
        let more = self.cat(more, Self::ALL);
        self.cat(e, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_may_stand_anywhere() {
        let mut x = Exprs::new(10_000);
        let (a, b) = (x.literal(b"ab"), x.literal(b"ac"));
        let not = x.not(b);
        let some = x.alt(&[a, b]);
        let many = x.rep(some, 0, 3);
        let e = x.and(&[many, not]);
        let marked = x.with_marks(e);
        for (text, fits) in [
            (&b""[..], true),
            (b"\xff", true),
            (b"ab", true),
            (b"ac", false),
            (b"a\xffb", true),
            (b"a\xffc", false),
            (b"\xffab\xffac\xff", true),
            (b"ab\xff\xffa", false),
        ] {
            assert_eq!(x.accepts(marked, text), fits, "{text:?}");
        }
    }

    #[test]
    fn the_shortest_begin_with_no_other() {
        let mut x = Exprs::new(10_000);
        let a = x.literal(b"a");
        let some = x.rep(a, 1, crate::expr::INF);
        let b = x.literal(b"b");
        let e = x.cat(some, b);
        let e = x.alt(&[e, some]);
        let shortest = x.shortest(e);
        assert!(x.accepts(shortest, b"a"));
        assert!(!x.accepts(shortest, b"aa") && !x.accepts(shortest, b"ab"));
    }
}
