//! JSON numbers as expressions: ranges, whole numbers, multiples and constants.
//!
//! A *plain decimal* is a JSON number without exponent. A number without bounds may be any JSON number; a number with
//! bounds or a divisor is a plain decimal, compared with its bounds digit by digit. Runs of digits are capped
//! ([`WHOLE_DIGITS`], [`FRACTION_DIGITS`], [`EXPONENT_DIGITS`]) so that no model writes digits without end.
//!
//! Every value here lies on a grid of steps `10^-scale`, where the scale is that of the divisor (0 for whole numbers,
//! [`FRACTION_DIGITS`] where there is none). Bounds are rounded inwards to the grid, which makes all of them inclusive
//! and whole. The automaton of a range then walks along the digits of its two bounds; where a digit leaves a bound,
//! that bound holds or fails for good. Once both are left behind, what may follow is a free run of digits, a
//! [`Multiple`](crate::expr::Multiple), which knows its own dead ends. So the size is linear in the digits of the
//! bounds, no intersection is needed and every state is live.

mod digit_range;
mod divisors;
mod exponent;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::expr::{Divisor, Edge, ExprId, Exprs};
use crate::json::decimal::{Decimal, decrement, increment};
use crate::schema::number::digit_range::{BoundDigits, Range};
use crate::schema::number::divisors::{divides_all, divisors, required};
pub use crate::schema::number::divisors::{has_whole, too_large};
use crate::schema::number::exponent::{any_with_exponent, scientific, whole_with_exponent};

/// Most digits of a whole part. 80 holds every 256-bit integer (78 digits) and all numbers of the official test suite
/// (53); larger values need an exponent, or a lower bound that is itself longer.
pub const WHOLE_DIGITS: u16 = 80;

/// Most digits of a fraction. Shortest spellings of binary64 need 22 before they turn to an exponent.
pub const FRACTION_DIGITS: u16 = 32;

/// Most digits of an exponent, leading zeros included: binary64 ends at 308.
pub const EXPONENT_DIGITS: u32 = 3;

/// Most digits before or after the point of a bound that has to be spelled out, and behind that of a divisor. Java's
/// `Double.MAX_VALUE` has 309.
const BOUND_DIGITS: u16 = 400;

/// Most digits that every binary64 keeps. A reader that knows only those takes a longer fraction for another value, and
/// what it takes it for may be no multiple: behind more digits a number that divisors decide about has no point.
const KEPT_DIGITS: i64 = 15;

/// What a number must be. The default is every number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NumberBounds {
    /// Lower bound; `true` if the bound itself is excluded.
    pub min: Option<(Decimal, bool)>,
    /// Upper bound; `true` if the bound itself is excluded.
    pub max: Option<(Decimal, bool)>,
    /// Whether the value must be whole, however it is written.
    pub integer: bool,
    /// Divisors; the sign does not matter.
    pub multiple_of: Vec<Decimal>,
    /// What the value must not be a multiple of. 1 makes a number that is not whole.
    pub not_multiple_of: Vec<Decimal>,
    /// Whether a fraction is written.
    pub spelling: NumberSpelling,
    /// Whether zero has no sign, where no fraction is written.
    pub unsigned_zero: bool,
}

/// How a number is written; only draft 4 asks, where `1.0` is not an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberSpelling {
    /// In any way.
    #[default]
    Any,
    /// Without a fraction, and without exponent.
    Bare,
    /// With a fraction, even if that is zero, and without exponent.
    Pointed,
}

/// JSON numbers within `b`, as JSON text. Every state of the expression is live: it has neither intersection nor
/// complement, and it is `NEVER` exactly if no such number can be written. `-0` is zero, unless zero has no sign, and
/// `1.0` is whole. Without bounds and divisors, exponents are allowed (for whole numbers: those that are not below the
/// number of fraction digits); otherwise only plain decimals are. With divisors, a fraction is written where the digits
/// without zeros at the end are at most 15; with negated ones alone, all digits up to the last one that these look at.
///
/// # Errors
/// `Limit` where a bound or divisor has too many digits to be spelled out, with the limit and what exceeds it at least;
/// `Schema` for a divisor of zero.
pub fn number(x: &mut Exprs, b: &NumberBounds) -> Result<ExprId> {
    let free = b.multiple_of.is_empty() && b.not_multiple_of.is_empty() && b.spelling == NumberSpelling::Any;
    if free && b.min.is_none() && b.max.is_none() {
        let plain = signed(x, b, &free_divisor(if b.integer { 0 } else { FRACTION_DIGITS })?)?;
        let exponents = if b.integer { whole_with_exponent(x) } else { any_with_exponent(x) };
        return Ok(x.alt(&[plain, exponents]));
    }
    if b.spelling == NumberSpelling::Any && deciding(b).next().is_some() {
        let bare = number(x, &NumberBounds { spelling: NumberSpelling::Bare, ..b.clone() })?;
        let mut ways = vec![bare];
        for piece in kept_with_point(b) {
            ways.push(number(x, &piece)?);
        }
        return Ok(x.alt(&ways));
    }
    if bounds_exclude_all(b) {
        return Ok(Exprs::NEVER);
    }
    let required = required(b)?;
    let e = on_grid(x, b, required, FRACTION_DIGITS)?;
    if e != Exprs::NEVER || required.is_some() {
        return Ok(e);
    }
    // The bounds lie between two steps of the grid: use one that is fine enough for them.
    let digits = [&b.min, &b.max].into_iter().flatten().map(|(d, _)| -d.exponent).max().unwrap_or(0).max(0);
    if digits >= i64::from(BOUND_DIGITS) {
        return Err(too_long(digits + 1));
    }
    if digits < i64::from(FRACTION_DIGITS) {
        return Ok(e);
    }
    on_grid(x, b, required, digits as u16 + 1)
}

/// Whether nothing lies between the bounds.
fn bounds_exclude_all(b: &NumberBounds) -> bool {
    match (&b.min, &b.max) {
        (Some((lo, lo_open)), Some((hi, hi_open))) => lo > hi || (lo == hi && (*lo_open || *hi_open)),
        _ => false,
    }
}

/// Fails where [`number`] would fail, without making the expression.
///
/// # Errors
/// Those of [`number`].
pub fn check(b: &NumberBounds) -> Result<()> {
    if b.spelling == NumberSpelling::Any && deciding(b).next().is_some() {
        check(&NumberBounds { spelling: NumberSpelling::Bare, ..b.clone() })?;
        return kept_with_point(b).iter().try_for_each(check);
    }
    for divisor in divisors(b, required(b)?, FRACTION_DIGITS)? {
        // A bound that points away from zero has to be spelled out; of the others those that are too long say nothing.
        for (bound, negative) in [(&b.min, false), (&b.max, true)] {
            if let Some((d, _)) = bound.as_ref().filter(|b| b.0.negative == negative) {
                units(d, divisor.scale())?;
            }
        }
    }
    Ok(())
}

/// The divisors that some decimal which can be written is no multiple of.
fn deciding(b: &NumberBounds) -> impl Iterator<Item = &Decimal> {
    b.multiple_of.iter().chain(&b.not_multiple_of).filter(|d| !divides_all(d))
}

/// What of `b` is written with a point, of so many digits that a reader keeps all of them. Zeros at the end do not
/// count: there is a piece for each number of digits behind the point, up to those of the finest divisor. So a finer
/// divisor takes every spelling that a coarser one takes.
fn kept_with_point(b: &NumberBounds) -> Vec<NumberBounds> {
    let finest = deciding(b).map(|d| -d.exponent).max().unwrap_or(0).clamp(0, KEPT_DIGITS);
    let finest = if b.integer { 0 } else { finest };
    let mut pieces = vec![below_kept(b, finest)];
    // Without a divisor, or with negated ones alone, more digits may follow than those that divisors look at.
    if b.multiple_of.iter().any(|d| !divides_all(d)) {
        let coarser = (0..finest).rev().map(|scale| {
            let mut piece = below_kept(b, scale);
            piece.multiple_of.push(Decimal { negative: false, digits: vec![1], exponent: -scale });
            piece
        });
        // A divisor of which a power of ten makes one that is too large has the finest piece alone.
        pieces.extend(coarser.filter(divisors_fit));
    }
    pieces
}

/// Whether the divisors of `b` have a least common multiple that is not too large.
fn divisors_fit(b: &NumberBounds) -> bool {
    required(b).and_then(|all| divisors(b, all, FRACTION_DIGITS)).is_ok()
}

/// What of `b` is written with a point and has no more than [`KEPT_DIGITS`] digits up to the last of `scale` ones
/// behind the point.
fn below_kept(b: &NumberBounds, scale: i64) -> NumberBounds {
    let end = Decimal { negative: false, digits: vec![1], exponent: KEPT_DIGITS - scale };
    let mut pointed = NumberBounds { spelling: NumberSpelling::Pointed, ..b.clone() };
    if pointed.max.as_ref().is_none_or(|m| m.0 >= end) {
        pointed.max = Some((end.clone(), true));
    }
    let start = end.negate();
    if pointed.min.as_ref().is_none_or(|m| m.0 <= start) {
        pointed.min = Some((start, true));
    }
    pointed
}

/// Whether divisors decide about `b`, so that what is written with a point has few digits.
pub fn limits_point(b: &NumberBounds) -> bool {
    deciding(b).next().is_some()
}

/// The numbers within `b` that have at most `finest` fraction digits where no divisor says how many.
fn on_grid(x: &mut Exprs, b: &NumberBounds, required: Option<(u128, u32)>, finest: u16) -> Result<ExprId> {
    let mut parts = Vec::new();
    for divisor in divisors(b, required, finest)? {
        let divisor = if b.spelling == NumberSpelling::Pointed { divisor.pointed() } else { divisor };
        parts.push(signed(x, b, &divisor)?);
    }
    Ok(x.alt(&parts))
}

/// Every plain decimal whose value is `d`, unless that takes more than 400 zeros that are not among its digits:
/// trailing zeros of a fraction are free up to [`FRACTION_DIGITS`]. Where `d` is at least `10^15` or below `10^-4`,
/// also the spellings with an exponent and one digit before the point, as serialisers write them (`1e+100`, `1E100`,
/// `1e-07`). A value as large or small as that is never without a spelling.
pub fn constant(x: &mut Exprs, d: &Decimal) -> ExprId {
    let mut parts = Vec::new();
    let zeros = i64::from(BOUND_DIGITS);
    if d.exponent <= zeros && d.places() >= -zeros {
        parts.push(plain(x, d));
    }
    let exponent = d.places().saturating_sub(1);
    if !d.is_zero() && !(-4..15).contains(&exponent) {
        parts.push(scientific(x, d, exponent));
    }
    x.alt(&parts)
}

/// The digits of `d` without exponent, and as many zeros behind the point as [`FRACTION_DIGITS`] leaves.
fn plain(x: &mut Exprs, d: &Decimal) -> ExprId {
    let (whole, fraction) = d.plain_digits();
    let zero = x.literal(b"0");
    let free = u32::from(FRACTION_DIGITS).saturating_sub(u32::try_from(fraction.len()).unwrap_or(u32::MAX));
    let end = if fraction.is_empty() {
        let zeros = x.rep(zero, 1, free);
        let pointed = x.literal_then(b".", zeros);
        x.opt(pointed)
    } else {
        let zeros = x.rep(zero, 0, free);
        x.literal_then(format!(".{fraction}").as_bytes(), zeros)
    };
    let magnitude = x.literal_then(whole.as_bytes(), end);
    let minus = x.literal(b"-");
    match (d.negative, d.is_zero()) {
        (true, _) => x.cat(minus, magnitude),
        (false, true) => {
            let sign = x.opt(minus);
            x.cat(sign, magnitude)
        }
        (false, false) => magnitude,
    }
}

fn too_long(digits: i64) -> Error {
    Error::limit("digits of a number bound", u64::from(BOUND_DIGITS), digits.unsigned_abs())
}

/// The divisor of every decimal with `scale` fraction digits.
fn free_divisor(scale: u16) -> Result<Divisor> {
    Divisor::new(1, scale, FRACTION_DIGITS).ok_or_else(|| too_long(i64::from(scale)))
}

/// Plain decimals of both signs.
fn signed(x: &mut Exprs, b: &NumberBounds, divisor: &Divisor) -> Result<ExprId> {
    let flip = |bound: &Option<(Decimal, bool)>| bound.as_ref().map(|(d, open)| (d.negate(), *open));
    let mut edges = magnitudes(x, &b.min, &b.max, divisor)?;
    let mut least = flip(&b.max);
    // Behind a minus zero is left out, and no other value is.
    if b.unsigned_zero
        && b.spelling == NumberSpelling::Bare
        && least.as_ref().is_none_or(|(d, _)| *d <= Decimal::from(0))
    {
        least = Some((Decimal::from(0), true));
    }
    let below = magnitudes(x, &least, &flip(&b.min), divisor)?;
    let to = x.step(false, below);
    edges.push(Edge { lo: b'-', hi: b'-', to });
    Ok(x.step(false, edges))
}

/// The numbers from `min` to `max` that are not negative, as the edges of their first digits.
fn magnitudes(
    x: &mut Exprs,
    min: &Option<(Decimal, bool)>,
    max: &Option<(Decimal, bool)>,
    divisor: &Divisor,
) -> Result<Vec<Edge>> {
    let scale = divisor.scale();
    let lo = match min {
        Some((d, open)) if !d.negative => {
            let (mut units, exact) = units(d, scale)?;
            if !exact || *open {
                increment(&mut units);
            }
            BoundDigits::new(units, scale)
        }
        _ => BoundDigits::new(Vec::new(), scale),
    };
    let longest = WHOLE_DIGITS.max(lo.length());
    let hi = match max {
        None => None,
        Some((d, open)) if d.negative || (d.is_zero() && *open) => return Ok(Vec::new()),
        // Nothing that can be written reaches such a bound.
        Some((d, _)) if d.places() > i64::from(longest) => None,
        Some((d, open)) => {
            let (mut units, exact) = units(d, scale)?;
            if exact && *open {
                decrement(&mut units);
            }
            Some(BoundDigits::new(units, scale))
        }
    };
    if hi.as_ref().is_some_and(|hi| (hi.length(), &hi.whole, &hi.fraction) < (lo.length(), &lo.whole, &lo.fraction)) {
        return Ok(Vec::new());
    }
    Ok(Range { lo, hi, longest, divisor }.first(x))
}

/// `|d|` in steps of `10^-scale`, rounded down, and whether it is exact.
fn units(d: &Decimal, scale: u16) -> Result<(Vec<u8>, bool)> {
    if d.places() > i64::from(BOUND_DIGITS) {
        return Err(too_long(d.places()));
    }
    let keep = usize::try_from(d.places() + i64::from(scale)).unwrap_or(0);
    let mut digits = d.digits.get(..keep).unwrap_or(&d.digits).to_vec();
    let exact = digits.len() == d.digits.len();
    if !digits.is_empty() {
        digits.resize(keep, 0);
    }
    Ok((digits, exact))
}
