//! Texts that contain a match of an expression.
//!
//! JSON Schema's `pattern` asks for texts that *contain* a match, and most patterns say more than that needs: `.*` is
//! found in every text, `[a-z]+` where one letter is, `https?://.+` where one character follows. What any text may
//! precede or follow is cut down here to what it asks for. What is left has fewer states, and often it is one of the
//! expressions that others come down to as well. Nothing depends on it, so what lies deep in others stays as it is.

use crate::expr::arena::{Edge, Edges, Expr, ExprId, Exprs};

/// How deep repetitions and unions are cut.
const DEEP: u32 = 128;

/// What stands before the end of an expression.
enum BeforeEnd {
    Cat(ExprId),
    Step(Edges),
}

impl Exprs {
    /// The texts that contain a member of `e`, all of whose members are texts.
    pub fn found_in_text(&mut self, e: ExprId) -> ExprId {
        let e = self.before_text(e);
        let e = self.behind_text(e, DEEP);
        let any = self.any_text();
        let tail = self.cat(e, any);
        self.cat(any, tail)
    }

    /// What `e` comes down to where any text may follow: the same strings begin with a member. All members are texts.
    ///
    /// Linear in the last parts of sequences.
    pub fn before_text(&mut self, e: ExprId) -> ExprId {
        self.cut_before_text(e, DEEP)
    }

    fn cut_before_text(&mut self, e: ExprId, depth: u32) -> ExprId {
        let mut before: Vec<BeforeEnd> = Vec::new();
        let mut last = e;
        while !self.nullable(last) {
            match self.get(last) {
                Expr::Cat(a, b) => {
                    before.push(BeforeEnd::Cat(*a));
                    last = *b;
                }
                Expr::Step { edges, .. } if edges.iter().all(|edge| edge.to == edges[0].to) && !edges.is_empty() => {
                    let to = edges[0].to;
                    before.push(BeforeEnd::Step(edges.clone()));
                    last = to;
                }
                _ => break,
            }
        }
        let mut out = if self.nullable(last) { Self::EPS } else { self.cut(last, true, depth) };
        while let Some(part) = before.pop() {
            out = match part {
                BeforeEnd::Cat(a) if out == Self::EPS && depth > 0 => self.cut_before_text(a, depth - 1),
                BeforeEnd::Cat(a) => self.cat(a, out),
                BeforeEnd::Step(edges) => {
                    self.step(false, edges.iter().map(|&edge| Edge { to: out, ..edge }).collect())
                }
            };
        }
        out
    }

    /// What `e` comes down to where any text may stand before it: the same texts end with a member. All members are
    /// texts.
    fn behind_text(&mut self, e: ExprId, depth: u32) -> ExprId {
        let mut rest = e;
        loop {
            if self.nullable(rest) {
                return Self::EPS;
            }
            let (first, after) = match *self.get(rest) {
                Expr::Cat(a, b) => (a, b),
                _ => (rest, Self::EPS),
            };
            if self.nullable(first) {
                rest = after;
                continue;
            }
            let first = self.cut(first, false, depth);
            return self.cat(first, after);
        }
    }

    /// A repetition or a union, neither of which accepts the empty string, cut down at its end or at its beginning.
    fn cut(&mut self, e: ExprId, at_end: bool, depth: u32) -> ExprId {
        let Some(depth) = depth.checked_sub(1) else { return e };
        let one = |x: &mut Self, e: ExprId| match at_end {
            true => x.cut_before_text(e, depth),
            false => x.behind_text(e, depth),
        };
        match self.get(e) {
            Expr::Rep { body, min, .. } => {
                let (body, min) = (*body, *min);
                let last = one(self, body);
                let copies = self.rep(body, min - 1, min - 1);
                if at_end { self.cat(copies, last) } else { self.cat(last, copies) }
            }
            Expr::Alt(parts) => {
                let parts = parts.clone();
                let parts: Vec<ExprId> = parts.iter().map(|&p| one(self, p)).collect();
                self.alt(&parts)
            }
            _ => e,
        }
    }
}
