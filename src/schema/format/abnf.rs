//! A notation for grammars: values that look like the ABNF of a standard and become expressions.
//!
//! The arena's constructors need the arena at every step, which hides the grammar; these values need it once, in
//! [`Part::build`]. Equal parts share nodes in the arena, so repeating a part costs nothing there.

use crate::expr::{ExprId, Exprs, INF};

/// A piece of a grammar.
#[derive(Clone)]
pub(super) enum Part {
    /// Exactly this text.
    Text(&'static str),
    /// One ASCII character out of these ranges.
    Ascii(&'static [(u8, u8)]),
    /// One character out of these ranges.
    Chars(Vec<(char, char)>),
    /// One of these strings.
    Choice(Vec<String>),
    /// One after the other.
    Cat(Vec<Part>),
    /// One of them.
    Alt(Vec<Part>),
    /// So many copies.
    Rep(Box<Part>, u32, u32),
    /// Built already.
    Built(ExprId),
}

/// Concatenation.
macro_rules! cat {
    ($($p:expr),+ $(,)?) => { $crate::schema::format::abnf::Part::Cat(vec![$($p.clone()),+]) };
}

/// Union.
macro_rules! alt {
    ($($p:expr),+ $(,)?) => { $crate::schema::format::abnf::Part::Alt(vec![$($p.clone()),+]) };
}

pub(super) use {alt, cat};

/// Exactly this text.
pub(super) fn text(s: &'static str) -> Part {
    Part::Text(s)
}

/// One ASCII character out of these ranges.
pub(super) fn ascii(ranges: &'static [(u8, u8)]) -> Part {
    Part::Ascii(ranges)
}

/// `min` to `max` copies.
pub(super) fn times(p: &Part, min: u32, max: u32) -> Part {
    Part::Rep(Box::new(p.clone()), min, max)
}

/// Any number of copies.
pub(super) fn any(p: &Part) -> Part {
    times(p, 0, INF)
}

/// One or more copies.
pub(super) fn some(p: &Part) -> Part {
    times(p, 1, INF)
}

/// `p` or nothing.
pub(super) fn opt(p: &Part) -> Part {
    times(p, 0, 1)
}

/// A decimal digit.
pub(super) const DIGIT: Part = Part::Ascii(&[(b'0', b'9')]);
/// A hexadecimal digit of either case.
pub(super) const HEX: Part = Part::Ascii(&[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]);
/// An ASCII letter or digit.
pub(super) const ALNUM: Part = Part::Ascii(&[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]);

impl Part {
    /// The expression.
    pub(super) fn build(&self, x: &mut Exprs) -> ExprId {
        match self {
            Part::Text(s) => x.literal(s.as_bytes()),
            Part::Ascii(ranges) => x.byte_set(ranges),
            Part::Chars(ranges) => x.class(ranges),
            Part::Choice(strings) => x.choice(strings),
            Part::Cat(parts) => {
                let parts: Vec<ExprId> = parts.iter().map(|p| p.build(x)).collect();
                x.cat_all(&parts)
            }
            Part::Alt(parts) => {
                let parts: Vec<ExprId> = parts.iter().map(|p| p.build(x)).collect();
                x.alt(&parts)
            }
            Part::Rep(p, min, max) => {
                let p = p.build(x);
                x.rep(p, *min, *max)
            }
            Part::Built(e) => *e,
        }
    }

    /// Built once, where it is used often.
    pub(super) fn built(&self, x: &mut Exprs) -> Part {
        Part::Built(self.build(x))
    }
}
