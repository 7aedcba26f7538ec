//! Digits of a plain decimal as an automaton that knows the value's remainder: `multipleOf`, and every free run of
//! digits in a range of numbers.
//!
//! A [`Divisor`] is `step / 10^scale`, less the multiples of some *exceptions* (`not: {"multipleOf": 3}`). A
//! [`Multiple`] stands inside a plain decimal (`123`, `12.50`; sign and first digit are the caller's) and accepts what
//! completes it to such a multiple. Its state is the remainder of the digits so far, how many more whole digits may or
//! must come, and how many fraction digits were read. A `step` of 1 makes every decimal of at most `scale` fraction
//! digits a multiple, so plain runs of digits need no machinery of their own.
//!
//! Whether anything completes a state is arithmetic, not search: with `k` digits to come, the values that can still
//! be reached are `rest * 10^k ..= rest * 10^k + (10^k - 1)`, so a multiple is among them if the distance to the next
//! one is below `10^k`. Of multiples in a row, each exception takes out every second one at most, and all together
//! leave one after a short run (Jacobsthal's function of their number), so the search for the next one is short.
//!
//! States are kept in normal form, so that equal futures share one state: a remainder counts only up to the power of
//! ten that is sure to follow, and exceptions that no continuation meets are dropped.

use std::sync::Arc;

/// Most bits of a modulus, so that a remainder times ten never overflows.
pub const MODULUS_BITS: u32 = 120;
const MODULUS_LIMIT: u128 = 1 << MODULUS_BITS;

/// Most exceptions of one divisor, which bounds the search for the next multiple: a few hundred steps.
pub const MAX_EXCEPTIONS: usize = 24;

/// So many digits to come reach every remainder: 10^37 is more than any modulus.
const ALL_REACHED: u16 = 37;

/// What values must be a multiple of, what they must not be a multiple of, and how they are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Divisor(Arc<Grid>);

/// All numbers of a divisor, in units of `10^-scale`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Grid {
    /// Least common multiple of the step and the exceptions.
    modulus: u128,
    step: u128,
    /// Multiples of the step; nothing is accepted if the step is one of them.
    except: Box<[u128]>,
    scale: u16,
    fraction: u16,
    /// Whether a fraction has to be written.
    point: bool,
}

/// A position inside the digits of a plain decimal that is to become a multiple of a [`Divisor`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Multiple {
    divisor: Divisor,
    /// Value of the digits so far, modulo the divisor's modulus. Digits beyond the scale are zeros and not counted.
    rest: u128,
    part: RemainderPart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum RemainderPart {
    /// In the whole part: at least `min` and at most `max` more digits of it.
    Whole { min: u16, max: u16 },
    /// In the fraction, with so many of its digits read. None read means just after the point: one must come.
    Fraction(u16),
}

/// The least common multiple, if it is below 2^120.
pub fn lcm(a: u128, b: u128) -> Option<u128> {
    let (mut p, mut q) = (a, b);
    while q != 0 {
        (p, q) = (q, p % q);
    }
    a.checked_div(p)?.checked_mul(b).filter(|&m| m < MODULUS_LIMIT)
}

/// `m` without factors that it shares with `10^digits`.
pub fn without_tens(mut m: u128, digits: u64) -> u128 {
    for p in [2, 5] {
        let mut left = digits;
        while left > 0 && m != 0 && m.is_multiple_of(p) {
            (m, left) = (m / p, left - 1);
        }
    }
    m
}

/// The first multiple of `step` that is not below `n`.
fn round_up(n: u128, step: u128) -> u128 {
    match n % step {
        0 => n,
        r => n - r + step,
    }
}

impl Divisor {
    /// Multiples of `step / 10^scale` with at most `fraction` fraction digits; those beyond `scale` are zeros.
    /// `fraction` is raised to `scale`. `None` if the step is zero or not below 2^120.
    pub fn new(step: u128, scale: u16, fraction: u16) -> Option<Self> {
        Self::with_exceptions(step, &[], scale, fraction)
    }

    /// A [`Divisor`] less all multiples of `e / 10^scale` for every `e` of `except`. `None` where [`Divisor::new`] is,
    /// also if the least common multiple is not below 2^120, if an exception is zero, or if there are too many.
    pub fn with_exceptions(step: u128, except: &[u128], scale: u16, fraction: u16) -> Option<Self> {
        if step == 0 || step >= MODULUS_LIMIT || except.contains(&0) {
            return None;
        }
        let mut v = except.iter().map(|&e| lcm(e, step)).collect::<Option<Vec<u128>>>()?;
        v.sort_unstable();
        v.dedup();
        // A multiple of a smaller exception is out already.
        let all = v.clone();
        v.retain(|&e| !all.iter().any(|&f| f < e && e % f == 0));
        if v.len() > MAX_EXCEPTIONS {
            return None;
        }
        let fraction = fraction.max(scale);
        Grid { modulus: step, step, except: v.into(), scale, fraction, point: false }.closed()
    }

    /// The divisor of equal values that are written with a fraction: `1.0` but not `1`.
    #[must_use]
    pub fn pointed(&self) -> Self {
        let fraction = self.0.fraction.max(1);
        Divisor(Arc::new(Grid { point: true, fraction, ..Grid::clone(&self.0) }))
    }

    /// Whether a fraction has to be written.
    pub fn is_pointed(&self) -> bool {
        self.0.point
    }

    /// Fraction digits that a multiple can have, not counting trailing zeros.
    pub fn scale(&self) -> u16 {
        self.0.scale
    }

    /// The remainder after one more digit.
    pub fn next(&self, rest: u128, digit: u8) -> u128 {
        let (next, modulus) = (rest * 10 + u128::from(digit), self.0.modulus);
        // Divisions of wide numbers take longer than all the rest, and most divisors divide everything.
        match (u64::try_from(next), u64::try_from(modulus)) {
            _ if modulus == 1 => 0,
            (Ok(next), Ok(modulus)) => u128::from(next % modulus),
            _ => next % modulus,
        }
    }

    /// The remainder after `zeros` more zeros.
    fn shifted(&self, rest: u128, zeros: u16) -> u128 {
        if rest == 0 {
            return 0;
        }
        (0..zeros).fold(rest, |r, _| self.next(r, 0))
    }

    fn holds(&self, units: u128) -> bool {
        (self.0.step == 1 || units.is_multiple_of(self.0.step))
            && !self.0.except.iter().any(|&e| units.is_multiple_of(e))
    }

    /// Whether a decimal is such a multiple that has `rest` after `fraction_digits` of its fraction and ends there.
    pub fn divides(&self, rest: u128, fraction_digits: u16) -> bool {
        self.holds(self.shifted(rest, self.0.scale.saturating_sub(fraction_digits)))
    }

    /// Whether a multiple begins with digits of remainder `rest` that `digits` more complete.
    fn reaches(&self, rest: u128, digits: u16) -> bool {
        if self.0.except.contains(&self.0.step) {
            return false;
        }
        if digits >= ALL_REACHED || (self.0.step == 1 && self.0.except.is_empty()) {
            return true;
        }
        self.holds_one_from(self.shifted(rest, digits), digits)
    }

    /// Whether one of `10^digits` values in a row is a multiple, the first of which has the remainder `r`.
    fn holds_one_from(&self, r: u128, digits: u16) -> bool {
        let end = r + 10u128.pow(u32::from(digits));
        let mut at = round_up(r, self.0.step);
        while at < end {
            if self.holds(at) {
                return true;
            }
            at += self.0.step;
        }
        false
    }

    /// Inside the whole part, with `min` to `max` more digits of it to come.
    pub fn whole(&self, rest: u128, min: u16, max: u16) -> Multiple {
        let rest = if rest == 0 { 0 } else { rest % without_tens(self.0.modulus, u64::from(self.0.scale)) };
        Multiple { divisor: self.clone(), rest, part: RemainderPart::Whole { min, max } }
    }

    /// Inside the fraction, after `read` of its digits (0: just after the point).
    pub fn fraction(&self, rest: u128, read: u16) -> Multiple {
        let left = self.0.scale.saturating_sub(read);
        let divisor = self.less(rest, left);
        let rest = if rest == 0 { 0 } else { rest % without_tens(divisor.0.modulus, u64::from(left)) };
        Multiple { divisor, rest, part: RemainderPart::Fraction(read) }
    }

    /// The divisor of whole values that `zeros` zeros follow; `None` if none of those is a multiple.
    fn before_zeros(&self, zeros: u16) -> Option<Divisor> {
        let reduced = |m: &u128| without_tens(*m, zeros.into());
        let (step, except) = (reduced(&self.0.step), self.0.except.iter().map(reduced).collect::<Box<[u128]>>());
        // A multiple of the step may be one of an exception only with those zeros.
        if except.iter().any(|&e| step.is_multiple_of(e)) {
            return None;
        }
        Grid { step, except, ..Grid::clone(&self.0) }.closed()
    }

    /// The divisor without the exceptions that `left` more digits after `rest` cannot meet.
    fn less(&self, rest: u128, left: u16) -> Divisor {
        if self.0.except.is_empty() || left >= ALL_REACHED {
            return self.clone();
        }
        let from = self.shifted(rest, left);
        let end = from + 10u128.pow(u32::from(left));
        let meets = |e: &u128| round_up(from, *e) < end;
        if self.0.except.iter().all(meets) {
            return self.clone();
        }
        let except = self.0.except.iter().copied().filter(meets).collect();
        Grid { except, modulus: self.0.step, ..Grid::clone(&self.0) }.closed().unwrap_or_else(|| self.clone())
    }
}

impl Grid {
    /// Sets the modulus; `None` if it is too large.
    fn closed(mut self) -> Option<Divisor> {
        self.modulus = self.except.iter().try_fold(self.step, |m, &e| lcm(m, e))?;
        Some(Divisor(Arc::new(self)))
    }
}

impl Multiple {
    /// Whether the digits so far spell a multiple.
    pub fn accepts(&self) -> bool {
        match self.part {
            RemainderPart::Whole { min, .. } => min == 0 && !self.divisor.0.point && self.divisor.divides(self.rest, 0),
            RemainderPart::Fraction(n) => n > 0 && self.divisor.divides(self.rest, n),
        }
    }

    /// Whether some continuation is accepted. Exact.
    pub fn is_live(&self) -> bool {
        let d = &self.divisor;
        match self.part {
            // One length of whole part at a time; from 10^37 on every remainder is reached.
            RemainderPart::Whole { min, max } => {
                let lengths = min..=max.min(min.saturating_add(40));
                lengths.rev().any(|n| d.reaches(self.rest, n.saturating_add(d.0.scale)))
            }
            RemainderPart::Fraction(n) => {
                (n > 0 || d.0.fraction > 0) && d.reaches(self.rest, d.0.scale.saturating_sub(n))
            }
        }
    }

    /// The fewest bytes that complete these digits, 0 where they may end; `u32::MAX` if none do. Found by arithmetic:
    /// `k` more digits reach a multiple if the distance to the next one is below `10^k`.
    pub fn least_bytes(&self) -> u32 {
        if self.accepts() {
            return 0;
        }
        let grid = &*self.divisor.0;
        let (min, max, read) = match self.part {
            RemainderPart::Whole { min, max } => (min, max, None),
            RemainderPart::Fraction(read) => (0, 0, Some(read)),
        };
        // The remainder behind so many more digits.
        let mut rests = vec![self.rest];
        let mut rest_behind = |digits: u16| {
            while rests.len() <= usize::from(digits) {
                rests.push(self.divisor.next(rests[rests.len() - 1], 0));
            }
            rests[usize::from(digits)]
        };
        let mut least = u32::MAX;
        // Without a fraction, and with each length of one.
        let without = (read.is_none() && !grid.point).then_some(None);
        let shortest = read.unwrap_or(0).max(1);
        let with = (shortest..=grid.scale.max(shortest).min(grid.fraction)).map(Some);
        for fraction in without.into_iter().chain(with) {
            let more = fraction.unwrap_or(0) - read.unwrap_or(0);
            let point = u16::from(read.is_none() && fraction.is_some());
            if u32::from(min + more + point) >= least {
                break;
            }
            // Digits behind the scale are zeros that change nothing.
            let counted = more.min(grid.scale.saturating_sub(read.unwrap_or(0)));
            let Some(ended) = self.divisor.before_zeros(grid.scale.saturating_sub(fraction.unwrap_or(0))) else {
                continue;
            };
            let reaches = |whole: &u16| {
                let digits = whole.saturating_add(counted);
                digits >= ALL_REACHED || ended.holds_one_from(rest_behind(digits), digits)
            };
            let whole = (min..=max.min(min.saturating_add(ALL_REACHED))).find(reaches);
            least = whole.map_or(least, |whole| least.min(u32::from(whole) + u32::from(more + point)));
        }
        least
    }

    /// So many bytes complete these digits at most, and all digits that lead on from here.
    pub fn farthest_end(&self) -> u32 {
        /// Digits beyond those of the step within which some multiple is none of the exceptions.
        const BETWEEN_EXCEPTIONS: u32 = 3;
        let grid = &*self.divisor.0;
        // With so many digits to come any remainder is reached.
        let excepted = if grid.except.is_empty() { 0 } else { BETWEEN_EXCEPTIONS };
        let free = if grid.step == 1 { 0 } else { grid.step.ilog10() + 1 } + excepted;
        let min = match self.part {
            RemainderPart::Whole { min, .. } => u32::from(min),
            RemainderPart::Fraction(_) => 0,
        };
        // Where too few whole digits are left, a fraction makes up for them.
        min.max(free) + 1 + free.min(grid.scale.into()).max(1)
    }

    /// The transitions: a digit or the point, and the state after it. Some may not be live.
    pub fn steps(&self) -> Vec<(u8, Multiple)> {
        let d = &self.divisor;
        let mut out = Vec::with_capacity(11);
        match self.part {
            RemainderPart::Whole { min, max } => {
                if min == 0 && d.0.fraction > 0 {
                    out.push((b'.', d.fraction(self.rest, 0)));
                }
                if max > 0 {
                    out.extend(
                        (0..10).map(|c| (b'0' + c, d.whole(d.next(self.rest, c), min.saturating_sub(1), max - 1))),
                    );
                }
            }
            RemainderPart::Fraction(n) if n < d.0.scale => {
                out.extend((0..10).map(|c| (b'0' + c, d.fraction(d.next(self.rest, c), n + 1))));
            }
            // Digits beyond the scale must be zeros.
            RemainderPart::Fraction(n) if n < d.0.fraction => out.push((b'0', d.fraction(self.rest, n + 1))),
            RemainderPart::Fraction(_) => {}
        }
        out
    }

    /// The state as words; see [`Exprs::content`](crate::expr::Exprs::content).
    pub(super) fn content(&self, out: &mut Vec<u32>) {
        let d = &*self.divisor.0;
        for v in [d.step, self.rest].into_iter().chain(d.except.iter().copied()) {
            out.extend([v as u32, (v >> 32) as u32, (v >> 64) as u32, (v >> 96) as u32]);
        }
        out.extend([d.except.len() as u32, u32::from(d.point), u32::from(d.scale), u32::from(d.fraction)]);
        out.extend(match self.part {
            RemainderPart::Whole { min, max } => [u32::from(min), u32::from(max)],
            RemainderPart::Fraction(n) => [u32::MAX, u32::from(n)],
        });
    }

    /// A state with the same mask for tokens of at most `reach` digits: counts of digits beyond what decides liveness
    /// and what a token can exhaust are all alike.
    pub fn saturated(&self, reach: u32) -> Multiple {
        /// From this many digits on every remainder is reached; see [`Divisor::reaches`].
        const ENOUGH: u32 = 40;
        let part = match self.part {
            RemainderPart::Whole { min, max } if u32::from(max) >= reach + ENOUGH => {
                RemainderPart::Whole { min: (u32::from(min)).min(reach + 1) as u16, max: u16::MAX }
            }
            RemainderPart::Fraction(n)
                if n > 1 && self.divisor.0.modulus == 1 && u32::from(self.divisor.0.scale) > u32::from(n) + reach =>
            {
                RemainderPart::Fraction(1)
            }
            part => part,
        };
        Multiple { part, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
