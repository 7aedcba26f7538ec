//! The automaton of a range of numbers: it walks along the digits of both bounds.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use crate::expr::{Divisor, Edge, ExprId, Exprs};

/// A bound, split at the point: a whole part without leading zeros (but `0` itself) and `scale` fraction digits.
pub(super) struct BoundDigits {
    pub(super) whole: Vec<u8>,
    pub(super) fraction: Vec<u8>,
}

impl BoundDigits {
    pub(super) fn new(units: Vec<u8>, scale: u16) -> Self {
        let scale = usize::from(scale);
        let zeros = units.iter().take_while(|&&d| d == 0).count();
        let mut digits = vec![0; (scale + 1).saturating_sub(units.len() - zeros)];
        digits.extend_from_slice(&units[zeros..]);
        let fraction = digits.split_off(digits.len() - scale);
        BoundDigits { whole: digits, fraction }
    }

    pub(super) fn length(&self) -> u16 {
        self.whole.len() as u16
    }
}

/// The digits so far against the same number of digits of a bound.
type Side = Ordering;

/// A range of magnitudes on the grid of `divisor`.
pub(super) struct Range<'d> {
    pub(super) lo: BoundDigits,
    /// `None`: every whole part of at most `longest` digits is below the bound.
    pub(super) hi: Option<BoundDigits>,
    pub(super) longest: u16,
    pub(super) divisor: &'d Divisor,
}

impl Range<'_> {
    /// How `side` continues with `digit` against the digit of the bound at `at`; past its end the number is larger.
    fn compare(side: Side, digit: u8, bound: &[u8], at: u16) -> Side {
        bound.get(usize::from(at)).map_or(Greater, |b| side.then(digit.cmp(b)))
    }

    /// One edge per first digit.
    pub(super) fn first(&self, x: &mut Exprs) -> Vec<Edge> {
        self.digits(x, 0, 0, Equal, self.hi.as_ref().map_or(Less, |_| Equal))
    }

    fn digits(&self, x: &mut Exprs, read: u16, rest: u128, lo: Side, hi: Side) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(11);
        let mut last = None;
        for d in 0..10u8 {
            let lo = Self::compare(lo, d, &self.lo.whole, read);
            let hi = match &self.hi {
                Some(bound) => Self::compare(hi, d, &bound.whole, read),
                None => Less,
            };
            let rest = self.divisor.next(rest, d);
            let here = (read == 0 && d == 0, rest, lo, hi);
            // Most digits are inside of the bounds and lead to one place.
            let to = match last {
                Some((before, to)) if before == here => to,
                // A whole part that begins with zero ends there.
                _ if here.0 => self.end(x, 1, rest, lo, hi),
                _ => self.whole(x, read + 1, rest, lo, hi),
            };
            last = Some((here, to));
            edges.push(Edge { lo: b'0' + d, hi: b'0' + d, to });
        }
        edges
    }

    /// After `read` digits of the whole part.
    fn whole(&self, x: &mut Exprs, read: u16, rest: u128, lo: Side, hi: Side) -> ExprId {
        // Lengths that the whole part may have, as far as its digits decide.
        let shortest = if lo == Less { self.lo.length() + 1 } else { self.lo.length() };
        let longest = match &self.hi {
            Some(bound) if hi == Greater => bound.length() - 1,
            Some(bound) => bound.length(),
            None => self.longest,
        };
        if longest < shortest.max(read) {
            return Exprs::NEVER;
        }
        if (lo != Equal || read > self.lo.length()) && hi != Equal {
            return x.multiple(self.divisor.whole(rest, shortest.saturating_sub(read), longest - read));
        }
        let mut edges = if read < longest { self.digits(x, read, rest, lo, hi) } else { Vec::new() };
        let end = self.end(x, read, rest, lo, hi);
        let nullable = x.nullable(end);
        edges.extend(x.row(end).iter().copied());
        x.step(nullable, edges)
    }

    /// The whole part ends after `read` digits: nothing, or a point and a fraction.
    fn end(&self, x: &mut Exprs, read: u16, rest: u128, lo: Side, hi: Side) -> ExprId {
        // A longer whole part is a larger number, whatever its digits.
        let lo = read.cmp(&self.lo.length()).then(lo);
        let hi = self.hi.as_ref().map_or(Less, |bound| read.cmp(&bound.length()).then(hi));
        if lo == Less || hi == Greater {
            return Exprs::NEVER;
        }
        let enough = lo == Greater || self.lo.fraction.iter().all(|&d| d == 0);
        let nullable = enough && !self.divisor.is_pointed() && self.divisor.divides(rest, 0);
        let to = self.fraction(x, 0, rest, lo == Equal, hi == Equal);
        x.step(nullable, vec![Edge { lo: b'.', hi: b'.', to }])
    }

    /// After `read` digits of the fraction, which so far equals that of the lower or upper bound.
    fn fraction(&self, x: &mut Exprs, read: u16, rest: u128, on_lo: bool, on_hi: bool) -> ExprId {
        let at = usize::from(read);
        // Nothing is below a bound of which only zeros are left.
        let on_lo = on_lo && self.lo.fraction.iter().skip(at).any(|&d| d != 0);
        if read >= self.divisor.scale() || !(on_lo || on_hi) {
            return x.multiple(self.divisor.fraction(rest, read));
        }
        let low = if on_lo { self.lo.fraction.get(at).copied().unwrap_or(0) } else { 0 };
        let high = match &self.hi {
            Some(hi) if on_hi => hi.fraction.get(at).copied().unwrap_or(9),
            _ => 9,
        };
        let mut edges = Vec::with_capacity(10);
        let mut last = None;
        for d in low..=high {
            let here = (self.divisor.next(rest, d), on_lo && d == low, on_hi && d == high);
            let to = match last {
                Some((before, to)) if before == here => to,
                _ => self.fraction(x, read + 1, here.0, here.1, here.2),
            };
            last = Some((here, to));
            edges.push(Edge { lo: b'0' + d, hi: b'0' + d, to });
        }
        x.step(read > 0 && !on_lo && self.divisor.divides(rest, read), edges)
    }
}
