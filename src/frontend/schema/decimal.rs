//! Decimal numbers of any precision, as JSON writes them.

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
