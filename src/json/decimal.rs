//! Decimal numbers of any precision, as JSON writes them.
//!
//! A [`Decimal`] is normalised when it is made: equal values have equal fields, so derived equality and hashing are
//! numeric. Nothing here expands an exponent: `1e400000` costs one digit, and every operation is linear in the digits
//! that were written.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

/// `(-1)^negative * digits * 10^exponent`, with digits free of leading and trailing zeros; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Decimal {
    /// Below zero. Never set for zero.
    pub negative: bool,
    /// Significant digits, `0..=9`, most significant first.
    pub digits: Vec<u8>,
    /// Power of ten of the last digit; 0 for zero.
    pub exponent: i64,
}

/// Exponents beyond this are refused, so that sums of exponents and lengths never overflow.
pub const MAX_EXPONENT: i64 = 1 << 48;

/// Longest plain spelling that [`Decimal`]'s `Display` writes before it turns to an exponent.
const MAX_PLAIN: i64 = 40;

impl Decimal {
    /// Reads the text of a JSON number. `None` if it is not one, or if its exponent is beyond 2^48.
    pub fn parse(text: &str) -> Option<Decimal> {
        let bytes = text.as_bytes();
        let (negative, rest) = match bytes.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, bytes),
        };
        let run = |s: &[u8]| s.iter().take_while(|b| b.is_ascii_digit()).count();
        let (whole, rest) = rest.split_at(run(rest));
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
            return None;
        }
        let (fraction, rest): (&[u8], &[u8]) = match rest.split_first() {
            Some((b'.', r)) => {
                let (f, r) = r.split_at(run(r));
                if f.is_empty() {
                    return None;
                }
                (f, r)
            }
            _ => (&[], rest),
        };
        let exponent = match rest.split_first() {
            None => Some(0),
            Some((b'e' | b'E', r)) => {
                let (sign, r) = match r.split_first() {
                    Some((b'-', r)) => (-1, r),
                    Some((b'+', r)) => (1, r),
                    _ => (1, r),
                };
                if r.is_empty() || run(r) != r.len() {
                    return None;
                }
                // `None` from here on means "absurdly large", which only matters for a value that is not zero.
                r.iter()
                    .try_fold(0i64, |e, &b| {
                        let e = e * 10 + i64::from(b - b'0');
                        (e <= MAX_EXPONENT).then_some(e)
                    })
                    .map(|e| sign * e)
            }
            Some(_) => return None,
        };
        let digits: Vec<u8> = whole.iter().chain(fraction).map(|b| b - b'0').collect();
        if digits.iter().all(|&d| d == 0) {
            return Some(Decimal::default());
        }
        let exponent = exponent?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Some(Self::normal(negative, digits, exponent))
    }

    /// Strips zeros from both ends of the digits.
    fn normal(negative: bool, mut digits: Vec<u8>, mut exponent: i64) -> Decimal {
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        let zeros = digits.iter().take_while(|&&d| d == 0).count();
        digits.drain(..zeros);
        if digits.is_empty() { Decimal::default() } else { Decimal { negative, digits, exponent } }
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether the value has no fraction.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// The value with the other sign; zero stays zero.
    #[must_use]
    pub fn negate(&self) -> Decimal {
        Decimal { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }

    /// The power of ten just above the value: 1 for `5`, 3 for `123.4`, -1 for `0.05`, 0 for zero.
    pub fn places(&self) -> i64 {
        if self.is_zero() { 0 } else { self.exponent + self.digits.len() as i64 }
    }

    /// The digits before the point, at least one, and those behind it. As long as the digits and the exponent
    /// together: for a value whose exponent is known to be small.
    pub fn plain_digits(&self) -> (String, String) {
        let zeros = |n: i64| "0".repeat(usize::try_from(n).unwrap_or(0));
        let text = |digits: &[u8]| digits.iter().map(|d| char::from(b'0' + d)).collect::<String>();
        let (before, behind) = self.digits.split_at(usize::try_from(self.places()).unwrap_or(0).min(self.digits.len()));
        let whole = text(before) + &zeros(if before.is_empty() { 1 } else { self.exponent });
        let fraction = if behind.is_empty() { String::new() } else { zeros(-self.places()) + &text(behind) };
        (whole, fraction)
    }

    /// The value as a whole number of 64 bits, if it is one.
    pub fn to_u64(&self) -> Option<u64> {
        if self.negative || !self.is_integer() || self.places() > 20 {
            return None;
        }
        let zeros = std::iter::repeat_n(&0u8, usize::try_from(self.exponent).ok()?);
        self.digits.iter().chain(zeros).try_fold(0u64, |n, &d| n.checked_mul(10)?.checked_add(u64::from(d)))
    }

    /// The largest whole number that is not above the value.
    #[must_use]
    pub fn floor(&self) -> Decimal {
        self.whole(self.negative)
    }

    /// The smallest whole number that is not below the value.
    #[must_use]
    pub fn ceil(&self) -> Decimal {
        self.whole(!self.negative)
    }

    /// Cuts the fraction off; `away` then steps away from zero if there was one.
    fn whole(&self, away: bool) -> Decimal {
        if self.is_integer() {
            return self.clone();
        }
        let keep = usize::try_from(self.places()).unwrap_or(0);
        let mut digits = self.digits.get(..keep).unwrap_or(&[]).to_vec();
        if away {
            increment(&mut digits);
        }
        Self::normal(self.negative, digits, 0)
    }

    /// Ordering of the magnitudes.
    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        // Digits begin at the same power of ten and end without zeros, so the shorter of two prefixes is smaller.
        self.places().cmp(&other.places()).then_with(|| self.digits.cmp(&other.digits))
    }
}

/// Adds one to a whole number of decimal digits (empty is zero).
pub(crate) fn increment(digits: &mut Vec<u8>) {
    for d in digits.iter_mut().rev() {
        if *d < 9 {
            *d += 1;
            return;
        }
        *d = 0;
    }
    digits.insert(0, 1);
}

/// Takes one from a whole number of decimal digits; `false` if it was zero (and is then all nines).
pub(crate) fn decrement(digits: &mut [u8]) -> bool {
    for d in digits.iter_mut().rev() {
        if *d > 0 {
            *d -= 1;
            return true;
        }
        *d = 9;
    }
    false
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<u64> for Decimal {
    fn from(n: u64) -> Self {
        Self::normal(false, n.to_string().bytes().map(|b| b - b'0').collect(), 0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let put = |f: &mut fmt::Formatter<'_>, digits: &[u8]| digits.iter().try_for_each(|d| write!(f, "{d}"));
        let places = self.places();
        let is_plain = if self.exponent >= 0 { places <= MAX_PLAIN } else { places > -MAX_PLAIN };
        if is_plain {
            match self.plain_digits() {
                (whole, fraction) if fraction.is_empty() => f.write_str(&whole),
                (whole, fraction) => write!(f, "{whole}.{fraction}"),
            }
        } else {
            let (whole, fraction) = self.digits.split_at(1);
            put(f, whole)?;
            if !fraction.is_empty() {
                f.write_str(".")?;
                put(f, fraction)?;
            }
            write!(f, "e{}", places - 1)
        }
    }
}
