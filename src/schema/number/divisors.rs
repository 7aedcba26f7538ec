//! What the divisors of a number's bounds have in common, as whole multiples of a power of ten.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::decimal_multiple::{MAX_EXCEPTIONS, MODULUS_BITS};
use crate::expr::{Divisor, lcm, without_tens};
use crate::json::decimal::Decimal;
use crate::schema::number::{BOUND_DIGITS, FRACTION_DIGITS, NumberBounds, NumberSpelling, free_divisor};

/// A modulus of at least so many bits is too large.
fn too_wide(bits: u64) -> Error {
    Error::limit("bits of multipleOf", MODULUS_BITS.into(), bits)
}

/// A modulus is too large, whose bits nobody counted: a least common multiple, or a number that was not made.
pub fn too_large() -> Error {
    too_wide(u64::from(MODULUS_BITS) + 1)
}

/// Bits that a number of so many decimal digits has at least.
fn least_bits(digits: u64) -> u64 {
    // A little less than the binary logarithm of ten. Exponents are below 2^49, so nothing overflows.
    digits.saturating_sub(1) * 33_219 / 10_000 + 1
}

/// A divisor as a/10^s. Its whole multiples, where only those count, are the multiples of a whole number.
fn fraction_of(d: &Decimal, integer: bool) -> Result<(u128, u32)> {
    if d.is_zero() {
        return Err(Error::new(ErrorKind::Schema, "multipleOf must not be zero"));
    }
    let power = |e: i64| u32::try_from(e).ok().and_then(|e| 10u128.checked_pow(e));
    let digits = d.digits.iter().try_fold(0u128, |n, &c| n.checked_mul(10)?.checked_add(u128::from(c)));
    let Some(a) = digits.and_then(|n| n.checked_mul(power(d.exponent.max(0))?)) else {
        // As a whole number it has all its digits, and a zero for each power of ten.
        return Err(too_wide(least_bits(d.digits.len() as u64 + d.exponent.max(0).unsigned_abs()).max(129)));
    };
    let s = d.exponent.min(0).unsigned_abs();
    if s > u64::from(BOUND_DIGITS) {
        return Err(Error::limit("digits of multipleOf behind the point", BOUND_DIGITS.into(), s));
    }
    let (a, s) = if integer { (without_tens(a, s), 0) } else { (a, s as u32) };
    match u128::BITS - a.leading_zeros() {
        bits if bits > MODULUS_BITS => Err(too_wide(bits.into())),
        _ => Ok((a, s)),
    }
}

/// Whether every decimal that can be written is a multiple.
pub(super) fn divides_all(d: &Decimal) -> bool {
    d.digits == [1] && d.exponent <= -i64::from(FRACTION_DIGITS)
}

fn lift(n: u128, by: u32) -> Option<u128> {
    10u128.checked_pow(by).and_then(|p| n.checked_mul(p))
}

/// All divisors as one m/10^s, `None` if every value is allowed.
pub(super) fn required(b: &NumberBounds) -> Result<Option<(u128, u32)>> {
    let integer = b.integer || b.spelling == NumberSpelling::Bare;
    // Integers alone are multiples of 1.
    let mut all = integer.then_some((1u128, 0u32));
    for d in b.multiple_of.iter().filter(|d| !divides_all(d)) {
        let (a, s) = fraction_of(d, integer)?;
        all = Some(match all {
            None => (a, s),
            Some((m, scale)) => {
                let top = scale.max(s);
                let both = lift(a, top - s).zip(lift(m, top - scale));
                (both.and_then(|(a, m)| lcm(a, m)).ok_or_else(too_large)?, top)
            }
        });
    }
    Ok(all)
}

/// The divisors whose multiples together are what `b` allows. Without a required divisor and with exceptions, these
/// are the values on the grid of the exceptions, and those that are off it.
pub(super) fn divisors(b: &NumberBounds, required: Option<(u128, u32)>, finest: u16) -> Result<Vec<Divisor>> {
    if b.not_multiple_of.iter().any(divides_all) {
        return Ok(Vec::new());
    }
    let integer = b.integer || b.spelling == NumberSpelling::Bare;
    let fraction = if b.spelling == NumberSpelling::Bare { 0 } else { FRACTION_DIGITS };
    let except = b.not_multiple_of.iter().map(|d| fraction_of(d, integer)).collect::<Result<Vec<_>>>()?;
    let finer = except.iter().map(|e| e.1).max();
    let (step, mut scale) = match (required, finer) {
        (None, None) => return Ok(vec![free_divisor(finest)?]),
        (None, Some(finer)) => (1, finer),
        (Some((m, scale)), finer) => {
            let top = scale.max(finer.unwrap_or(0));
            (lift(m, top - scale).ok_or_else(too_large)?, top)
        }
    };
    let lifted = except.iter().map(|&(a, s)| lcm(lift(a, scale - s)?, step)).collect::<Option<Vec<_>>>();
    let (mut step, mut except) = (step, lifted.ok_or_else(too_large)?);
    let off = match required {
        None if scale < u32::from(finest) => {
            let coarse = lift(1, u32::from(finest) - scale).ok_or_else(too_large)?;
            Some(grid(1, &[coarse], finest, finest)?)
        }
        _ => None,
    };
    // A smaller modulus has fewer remainders; exceptions are multiples of the step.
    while scale > 0 && step % 10 == 0 {
        (step, scale) = (step / 10, scale - 1);
        except.iter_mut().for_each(|e| *e /= 10);
    }
    let on = grid(step, &except, scale as u16, fraction)?;
    Ok(std::iter::once(on).chain(off).collect())
}

/// [`Divisor::with_exceptions`], or what it has too much of.
fn grid(step: u128, except: &[u128], scale: u16, fraction: u16) -> Result<Divisor> {
    Divisor::with_exceptions(step, except, scale, fraction).ok_or_else(|| {
        match except.iter().try_fold(step, |m, &e| lcm(m, e)) {
            None => too_large(),
            Some(_) => Error::limit("negated multipleOf", MAX_EXCEPTIONS as u64, except.len() as u64),
        }
    })
}

/// Whether some whole number within `b` can certainly be written, seen without an expression. False decides nothing.
pub fn has_whole(b: &NumberBounds) -> bool {
    /// Bounds of so many digits leave room for multiples beyond them.
    const ROOM: i64 = 40;
    if b.spelling == NumberSpelling::Pointed {
        return false;
    }
    let free = b.not_multiple_of.is_empty();
    let within = |bound: &Option<(Decimal, bool)>, lower: bool| {
        bound.as_ref().is_none_or(|(d, open)| if d.is_zero() { !open } else { d.negative == lower })
    };
    // Zero is a multiple of everything.
    if free && within(&b.min, true) && within(&b.max, false) {
        return true;
    }
    let bounds = || [&b.min, &b.max].into_iter().flatten();
    if free && b.multiple_of.is_empty() && bounds().any(|(d, open)| !open && d.exponent >= 0 && d.places() <= ROOM) {
        return true;
    }
    if (b.min.is_some() && b.max.is_some()) || bounds().any(|(d, _)| d.places() > ROOM) {
        return false;
    }
    // On a side without a bound multiples come again and again, and the step itself is none of an exception or all are.
    let step =
        b.multiple_of.iter().filter(|d| !divides_all(d)).try_fold(1u128, |m, d| lcm(m, fraction_of(d, true).ok()?.0));
    let Some(step) = step else { return false };
    let refuses =
        |d: &Decimal| divides_all(d) || fraction_of(d, true).is_ok_and(|e| e.0 != 0 && step.is_multiple_of(e.0));
    b.not_multiple_of.len() <= 8 && !b.not_multiple_of.iter().any(refuses)
}
