//! Texts in which something is found.
//!
//! JSON Schema's `pattern` asks for texts that *contain* a match, and most patterns say more than that needs: `.*` is
//! found in every text, `[a-z]+` where one letter is, `https?://.+` where one character follows. What any text may
//! precede or follow is cut down here to what it asks for. What is left has fewer states, and often it is one of the
//! expressions that others come down to as well.

use super::expr::{Edge, Expr, ExprId, Exprs};

/// What stands before the end of an expression.
enum Before {
    Cat(ExprId),
    Step(Box<[Edge]>),
}

impl Exprs {
    /// The texts that contain a member of `e`, all of whose members are texts.
    pub fn found_in_text(&mut self, e: ExprId) -> ExprId {
        let e = self.before_text(e);
        let e = self.behind_text(e);
        let any = self.any_text();
        let tail = self.cat(e, any);
        self.cat(any, tail)
    }

    /// What `e` comes down to where any text may follow: the same strings begin with a member. All members are texts.
    ///
    /// Linear in the last parts of sequences; takes the stack for what is nested in these only.
    pub fn before_text(&mut self, e: ExprId) -> ExprId {
        let mut before: Vec<Before> = Vec::new();
        let mut last = e;
        while !self.nullable(last) {
            match self.get(last) {
                Expr::Cat(a, b) => {
                    before.push(Before::Cat(*a));
                    last = *b;
                }
                Expr::Step { edges, .. } if edges.iter().all(|edge| edge.to == edges[0].to) && !edges.is_empty() => {
                    let to = edges[0].to;
                    before.push(Before::Step(edges.to_vec().into()));
                    last = to;
                }
                _ => break,
            }
        }
        let mut out = if self.nullable(last) { Self::EPS } else { self.cut(last, true) };
        while let Some(part) = before.pop() {
            out = match part {
                Before::Cat(a) if out == Self::EPS => self.before_text(a),
                Before::Cat(a) => self.cat(a, out),
                Before::Step(edges) => self.step(false, edges.iter().map(|&edge| Edge { to: out, ..edge }).collect()),
            };
        }
        out
    }

    /// What `e` comes down to where any text may stand before it: the same texts end with a member. All members are
    /// texts.
    fn behind_text(&mut self, e: ExprId) -> ExprId {
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
            let first = self.cut(first, false);
            return self.cat(first, after);
        }
    }

    /// A repetition or a union, neither of which accepts the empty string, cut down at its end or at its beginning.
    fn cut(&mut self, e: ExprId, at_end: bool) -> ExprId {
        let one = |x: &mut Self, e: ExprId| if at_end { x.before_text(e) } else { x.behind_text(e) };
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
