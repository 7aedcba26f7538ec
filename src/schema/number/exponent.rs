//! Numbers that are written with an exponent.
//!
//! Values are those that are finite as doubles: readers turn anything larger into infinity.

use crate::expr::{Edge, ExprId, Exprs};
use crate::json::decimal::Decimal;
use crate::schema::number::{EXPONENT_DIGITS, FRACTION_DIGITS, WHOLE_DIGITS};

fn exponent_mark(x: &mut Exprs) -> ExprId {
    x.byte_set(&[(b'e', b'e'), (b'E', b'E')])
}

fn minus_sign(x: &mut Exprs) -> ExprId {
    let minus = x.literal(b"-");
    x.opt(minus)
}

/// A sign and a whole part.
fn whole_part(x: &mut Exprs) -> ExprId {
    let (minus, digit) = (minus_sign(x), x.byte_set(&[(b'0', b'9')]));
    let more = x.rep(digit, 0, u32::from(WHOLE_DIGITS) - 1);
    let whole = x.step(false, vec![Edge { lo: b'0', hi: b'0', to: Exprs::EPS }, Edge { lo: b'1', hi: b'9', to: more }]);
    x.cat(minus, whole)
}

/// All numbers that have an exponent and are finite as doubles: readers turn anything larger into infinity.
pub(super) fn any_with_exponent(x: &mut Exprs) -> ExprId {
    let digit = x.byte_set(&[(b'0', b'9')]);
    let (point, mark) = (x.literal(b"."), exponent_mark(x));
    let fraction = x.rep(digit, 1, u32::from(FRACTION_DIGITS));
    let fraction = x.cat(point, fraction);
    let (whole, fraction) = (whole_part(x), x.opt(fraction));
    let minus = x.literal(b"-");
    let small = x.rep(digit, 1, EXPONENT_DIGITS);
    let small = x.cat(minus, small);
    let plus = x.literal(b"+");
    let plus = x.opt(plus);
    let large = up_to_199(x);
    let large = x.cat(plus, large);
    let exponent = x.alt(&[small, large]);
    let any = x.cat_all(&[whole, fraction, mark, exponent]);
    // With one whole digit the exponent may be as large as doubles allow.
    let (sign, lead) = (minus_sign(x), x.byte_set(&[(b'1', b'9')]));
    let (two, three, upper) = (x.byte_set(&[(b'2', b'2')]), x.literal(b"30"), x.byte_set(&[(b'0', b'7')]));
    let rest = x.rep(digit, 2, 2);
    let (hundreds, last) = (x.cat(two, rest), x.cat(three, upper));
    let huge = x.alt(&[hundreds, last]);
    let huge = x.cat_all(&[sign, lead, fraction, mark, plus, huge]);
    let (one, below, most) = (x.literal(b"1"), x.byte_set(&[(b'0', b'6')]), x.literal(b"308"));
    let digits = x.rep(digit, 0, u32::from(FRACTION_DIGITS));
    let fraction = x.cat_all(&[point, below, digits]);
    let fraction = x.opt(fraction);
    let greatest = x.literal(b"1.7976931348623157");
    let mantissa = x.cat(one, fraction);
    let mantissa = x.alt(&[mantissa, greatest]);
    let huge_most = x.cat_all(&[sign, mantissa, mark, plus, most]);
    x.alt(&[any, huge, huge_most])
}

/// One to three digits of value 199 at most: with [`WHOLE_DIGITS`] before it, a number that is finite as a double.
fn up_to_199(x: &mut Exprs) -> ExprId {
    let digit = x.byte_set(&[(b'0', b'9')]);
    let short = x.rep(digit, 1, 2);
    let (lead, two) = (x.byte_set(&[(b'0', b'1')]), x.rep(digit, 2, 2));
    let long = x.cat(lead, two);
    x.alt(&[short, long])
}

/// Numbers whose exponent is not below the number of their fraction digits.
pub(super) fn whole_with_exponent(x: &mut Exprs) -> ExprId {
    let (mark, plus) = (exponent_mark(x), x.literal(b"+"));
    let (whole, sign) = (whole_part(x), x.opt(plus));
    let mut tail = Exprs::NEVER;
    for digits in (0..=FRACTION_DIGITS).rev() {
        let exponent = at_least(x, digits);
        let end = x.cat_all(&[mark, sign, exponent]);
        let mut edges = x.row(end).to_vec();
        match digits {
            0 => edges.push(Edge { lo: b'.', hi: b'.', to: tail }),
            _ => edges.push(Edge { lo: b'0', hi: b'9', to: tail }),
        }
        // Just after the point, a digit must come before the exponent.
        let more = match digits {
            1 => {
                let here = x.step(false, edges);
                x.step(false, vec![Edge { lo: b'0', hi: b'9', to: here }])
            }
            _ => x.step(false, edges),
        };
        tail = more;
    }
    x.cat(whole, tail)
}

/// One to [`EXPONENT_DIGITS`] digits, leading zeros allowed, whose value is `n` to 199; `n` is below 100.
fn at_least(x: &mut Exprs, n: u16) -> ExprId {
    let (tens, ones) = ((n / 10) as u8, (n % 10) as u8);
    let digit = x.byte_set(&[(b'0', b'9')]);
    let up_from = |lo: u8, to: ExprId| Edge { lo: b'0' + lo, hi: b'9', to };
    // Two digits: the value counts from here, whatever came before them.
    let last = x.step(false, vec![up_from(ones, Exprs::EPS)]);
    let two = x.step(false, vec![Edge { lo: b'0' + tens, hi: b'0' + tens, to: last }, up_from(tens + 1, digit)]);
    let above = x.rep(digit, 2, 2);
    // Beyond 199 the value might not be finite as a double.
    let three = x.step(false, vec![Edge { lo: b'0', hi: b'0', to: two }, Edge { lo: b'1', hi: b'1', to: above }]);
    let one = if tens == 0 { x.step(false, vec![up_from(ones, Exprs::EPS)]) } else { Exprs::NEVER };
    x.alt(&[one, two, three])
}

/// `d.ddd e exponent` with an optional plus sign and up to two leading zeros of the exponent.
pub(super) fn scientific(x: &mut Exprs, d: &Decimal, exponent: i64) -> ExprId {
    let mut text = String::new();
    if d.negative {
        text.push('-');
    }
    for (i, digit) in d.digits.iter().enumerate() {
        if i == 1 {
            text.push('.');
        }
        text.push(char::from(b'0' + digit));
    }
    let (zero, plus) = (x.literal(b"0"), x.literal(b"+"));
    let (mantissa, mark) = (x.literal(text.as_bytes()), exponent_mark(x));
    let sign = if exponent < 0 { x.literal(b"-") } else { x.opt(plus) };
    let zeros = x.rep(zero, 0, 2);
    let value = x.literal(exponent.unsigned_abs().to_string().as_bytes());
    x.cat_all(&[mantissa, mark, sign, zeros, value])
}
