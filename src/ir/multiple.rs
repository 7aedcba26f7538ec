//! Digits of a plain decimal as an automaton that knows the value's remainder: `multipleOf`, and every free run of
//! digits in a range of numbers.
//!
//! A [`Divisor`] is `modulus / 10^scale`. A [`Multiple`] stands inside a plain decimal (`123`, `12.50`; sign and first
//! digit are the caller's) and accepts what completes it to a multiple. Its state is the remainder of the digits so
//! far, how many more whole digits may or must come, and how many fraction digits were read. `modulus` 1 makes every
//! decimal of at most `scale` fraction digits a multiple, so plain runs of digits need no machinery of their own.
//!
//! Whether anything completes a state is arithmetic, not search: with `k` digits to come, the values that can still
//! be reached are `rest * 10^k ..= rest * 10^k + (10^k - 1)`, so a multiple is among them if the distance to the next
//! one is below `10^k`.

/// Divisors are below this, so that a remainder times ten never overflows.
const MODULUS_LIMIT: u128 = 1 << 120;

/// What values must be a multiple of, and how long their fractions may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Divisor {
    modulus: u128,
    scale: u16,
    fraction: u16,
}

/// A position inside a decimal; see the module's story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiple {
    divisor: Divisor,
    /// Value of the digits so far, modulo the divisor's modulus. Digits beyond the scale are zeros and not counted.
    rest: u128,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// In the whole part: at least `min` and at most `max` more digits of it.
    Whole { min: u16, max: u16 },
    /// In the fraction, with so many of its digits read. None read means just after the point: one must come.
    Fraction(u16),
}

impl Divisor {
    /// Multiples of `modulus / 10^scale` with at most `fraction` fraction digits; those beyond `scale` are zeros.
    /// `fraction` is raised to `scale`. `None` if the modulus is zero or not below 2^120.
    pub fn new(modulus: u128, scale: u16, fraction: u16) -> Option<Self> {
        let fraction = fraction.max(scale);
        (modulus != 0 && modulus < MODULUS_LIMIT).then_some(Divisor { modulus, scale, fraction })
    }

    /// Fraction digits that a multiple can have, not counting trailing zeros.
    pub fn scale(&self) -> u16 {
        self.scale
    }

    /// The remainder after one more digit.
    pub fn next(&self, rest: u128, digit: u8) -> u128 {
        (rest * 10 + u128::from(digit)) % self.modulus
    }

    /// The remainder after `zeros` more zeros.
    fn shifted(&self, rest: u128, zeros: u16) -> u128 {
        if rest == 0 {
            return 0;
        }
        (0..zeros).fold(rest, |r, _| r * 10 % self.modulus)
    }

    /// Whether a decimal is a multiple that has `rest` after `fraction_digits` of its fraction and ends there.
    pub fn divides(&self, rest: u128, fraction_digits: u16) -> bool {
        self.shifted(rest, self.scale.saturating_sub(fraction_digits)) == 0
    }

    /// Whether a multiple begins with digits of remainder `rest` that `digits` more complete.
    fn reaches(&self, rest: u128, digits: u16) -> bool {
        // 10^37 is more than any modulus.
        if digits > 36 {
            return true;
        }
        let r = self.shifted(rest, digits);
        let need = if r == 0 { 0 } else { self.modulus - r };
        need < 10u128.pow(u32::from(digits))
    }

    /// Inside the whole part, with `min` to `max` more digits of it to come.
    pub fn whole(self, rest: u128, min: u16, max: u16) -> Multiple {
        Multiple { divisor: self, rest, part: Part::Whole { min, max } }
    }

    /// Inside the fraction, after `read` of its digits (0: just after the point).
    pub fn fraction(self, rest: u128, read: u16) -> Multiple {
        Multiple { divisor: self, rest, part: Part::Fraction(read) }
    }
}

impl Multiple {
    /// Whether the digits so far spell a multiple.
    pub fn accepts(&self) -> bool {
        match self.part {
            Part::Whole { min, .. } => min == 0 && self.divisor.divides(self.rest, 0),
            Part::Fraction(n) => n > 0 && self.divisor.divides(self.rest, n),
        }
    }

    /// Whether some continuation is accepted. Exact.
    pub fn is_live(&self) -> bool {
        let d = &self.divisor;
        match self.part {
            // One length of whole part at a time; from 10^37 on every remainder is reached.
            Part::Whole { min, max } => {
                (min..=max.min(min.saturating_add(40))).any(|n| d.reaches(self.rest, n.saturating_add(d.scale)))
            }
            Part::Fraction(n) => (n > 0 || d.fraction > 0) && d.reaches(self.rest, d.scale.saturating_sub(n)),
        }
    }

    /// The transitions: a digit or the point, and the state after it. Some may not be live.
    pub fn steps(&self) -> Vec<(u8, Multiple)> {
        let d = &self.divisor;
        let mut out = Vec::with_capacity(11);
        match self.part {
            Part::Whole { min, max } => {
                if min == 0 && d.fraction > 0 {
                    out.push((b'.', d.fraction(self.rest, 0)));
                }
                if max > 0 {
                    out.extend(
                        (0..10).map(|c| (b'0' + c, d.whole(d.next(self.rest, c), min.saturating_sub(1), max - 1))),
                    );
                }
            }
            Part::Fraction(n) if n < d.scale => {
                out.extend((0..10).map(|c| (b'0' + c, d.fraction(d.next(self.rest, c), n + 1))));
            }
            // Digits beyond the scale must be zeros.
            Part::Fraction(n) if n < d.fraction => out.push((b'0', d.fraction(self.rest, n + 1))),
            Part::Fraction(_) => {}
        }
        out
    }
}

impl Multiple {
    /// The state as words; see [`Exprs::content`](super::Exprs::content).
    pub(super) fn content(&self, out: &mut Vec<u32>) {
        for v in [self.divisor.modulus, self.rest] {
            out.extend([v as u32, (v >> 32) as u32, (v >> 64) as u32, (v >> 96) as u32]);
        }
        out.extend([u32::from(self.divisor.scale), u32::from(self.divisor.fraction)]);
        out.extend(match self.part {
            Part::Whole { min, max } => [u32::from(min), u32::from(max)],
            Part::Fraction(n) => [u32::MAX, u32::from(n)],
        });
    }

    /// A state with the same mask for tokens of at most `reach` digits: counts of digits beyond what decides liveness
    /// and what a token can exhaust are all alike.
    pub fn saturated(&self, reach: u32) -> Multiple {
        /// From this many digits on every remainder is reached; see [`Divisor::reaches`].
        const ENOUGH: u32 = 40;
        let part = match self.part {
            Part::Whole { min, max } if u32::from(max) >= reach + ENOUGH => {
                Part::Whole { min: (u32::from(min)).min(reach + 1) as u16, max: u16::MAX }
            }
            Part::Fraction(n)
                if n > 1 && self.divisor.modulus == 1 && u32::from(self.divisor.scale) > u32::from(n) + reach =>
            {
                Part::Fraction(1)
            }
            part => part,
        };
        Multiple { part, ..*self }
    }
}

#[cfg(test)]
mod tests;
