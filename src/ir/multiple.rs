//! `multipleOf` as an automaton over decimal digits.
//!
//! A [`Multiple`] reads the digits of a plain decimal (`123`, `12.50`; the sign is the caller's) and accepts when the
//! value, scaled by a power of ten so that the divisor is a whole number, leaves no remainder. Its state is the
//! remainder so far and how many fraction digits may still count. Leading zeros are the caller's to forbid.

/// State of the divisor automaton; see the module's story. Build the start with [`Multiple::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiple {
    /// The divisor times `10^scale`.
    modulus: u128,
    /// Value of the digits so far, modulo `modulus`.
    rest: u128,
    /// Fraction digits that the scaled divisor can see.
    scale: u8,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// Nothing read yet.
    Start,
    /// In the whole part.
    Whole,
    /// Just after the point.
    Point,
    /// In the fraction, with so many digits read, at most `scale`.
    Fraction(u8),
}

impl Multiple {
    /// Digits that spell a multiple of `divisor / 10^scale`, with an optional fraction where `fraction` is set.
    /// `None` if the divisor is zero or too large (2^120) to be computed with.
    pub fn new(divisor: u128, scale: u8) -> Option<Self> {
        if divisor == 0 || divisor >= 1 << 120 || scale > 30 {
            return None;
        }
        Some(Multiple { modulus: divisor, rest: 0, scale, part: Part::Start })
    }

    fn scaled_rest(&self, digits_left: u8) -> u128 {
        (0..digits_left).fold(self.rest, |r, _| r * 10 % self.modulus)
    }

    /// Whether the digits so far spell a multiple.
    pub fn accepts(&self) -> bool {
        match self.part {
            Part::Start | Part::Point => false,
            Part::Whole => self.scaled_rest(self.scale) == 0,
            Part::Fraction(n) => self.scaled_rest(self.scale - n) == 0,
        }
    }

    /// Whether some continuation is accepted.
    pub fn is_live(&self) -> bool {
        let left = match self.part {
            // Appending digits reaches every remainder class sooner or later.
            Part::Start | Part::Whole => return true,
            Part::Point => self.scale,
            Part::Fraction(n) => self.scale - n,
        };
        // rest * 10^left + w must be a multiple for some w below 10^left.
        let r = self.scaled_rest(left);
        let need = (self.modulus - r) % self.modulus;
        10u128.checked_pow(left as u32).is_none_or(|p| need < p)
    }

    /// The transitions: a digit or the point, and the state after it.
    pub fn steps(&self) -> Vec<(u8, Multiple)> {
        let mut out = Vec::with_capacity(11);
        if self.part == Part::Whole {
            out.push((b'.', Multiple { part: Part::Point, ..*self }));
        }
        for d in 0..10u8 {
            let next = (self.rest * 10 + d as u128) % self.modulus;
            let seen = match self.part {
                Part::Start | Part::Whole => {
                    out.push((b'0' + d, Multiple { rest: next, part: Part::Whole, ..*self }));
                    continue;
                }
                Part::Point => 0,
                Part::Fraction(n) => n,
            };
            if seen < self.scale {
                out.push((b'0' + d, Multiple { rest: next, part: Part::Fraction(seen + 1), ..*self }));
            } else if d == 0 {
                // Digits beyond the scale must be zeros.
                out.push((b'0', Multiple { part: Part::Fraction(self.scale), ..*self }));
            }
        }
        out
    }
}

impl Multiple {
    /// The state as words; see [`Exprs::content`](super::Exprs::content).
    pub(super) fn content(&self, out: &mut Vec<u32>) {
        for v in [self.modulus, self.rest] {
            out.extend([v as u32, (v >> 32) as u32, (v >> 64) as u32, (v >> 96) as u32]);
        }
        let part = match self.part {
            Part::Start => 0,
            Part::Whole => 1,
            Part::Point => 2,
            Part::Fraction(n) => 3 + n as u32,
        };
        out.extend([self.scale as u32, part]);
    }
}
