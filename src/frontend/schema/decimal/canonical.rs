//! One text for all spellings of a JSON value: numbers by value, strings by what they decode to, objects without order.

use serde_json::Value;
use smallvec::SmallVec;

use super::Decimal;

/// JSON text to a text that equal values share; `None` if it is not JSON.
pub fn canonical(text: &[u8]) -> Option<Box<[u8]>> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let mut out = Vec::new();
    write(&value, &mut out)?;
    Some(out.into_boxed_slice())
}

/// Adds the beginning of a decoded text, which may end inside a character, as the canonical text of a string writes it
/// behind its quotes.
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        let short = match byte {
            b'"' | b'\\' => byte,
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            0..0x20 => {
                out.extend(format!("\\u{byte:04x}").bytes());
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend([b'\\', short]);
    }
}

/// Whether what begins with `read`, as a number does, may become the number whose canonical text is `known`. Exponents
/// may be anything, so what is read of the digits has to agree: from the first that is not zero on, and with the sign.
pub fn may_become(read: &[u8], known: &[u8]) -> bool {
    let digits = known.iter().skip(1).take_while(|b| b.is_ascii_digit()).copied();
    let own: SmallVec<[u8; 32]> = digits.collect();
    let mantissa = read.iter().take_while(|b| !matches!(b, b'e' | b'E')).filter(|b| b.is_ascii_digit());
    let mut significant = mantissa.skip_while(|b| **b == b'0').copied().enumerate();
    // Zero has neither digits nor a sign.
    (own.is_empty() || read.starts_with(b"-") == known.starts_with(b"-"))
        && significant.all(|(i, digit)| own.get(i).map_or(digit == b'0' && !own.is_empty(), |own| *own == digit))
}

fn write(v: &Value, out: &mut Vec<u8>) -> Option<()> {
    match v {
        Value::Null => out.extend(b"null"),
        Value::Bool(b) => out.extend(if *b { b"true".as_slice() } else { b"false" }),
        Value::Number(n) => {
            let d = Decimal::parse(&n.to_string())?;
            out.push(if d.negative { b'-' } else { b'+' });
            out.extend(d.digits.iter().map(|d| b'0' + d));
            out.extend(format!("e{}", d.exponent).bytes());
        }
        Value::String(s) => {
            out.push(b'"');
            out.extend(serde_json::to_vec(s).ok()?);
        }
        Value::Array(a) => {
            out.push(b'[');
            for v in a {
                write(v, out)?;
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Object(o) => {
            let mut keys: Vec<&String> = o.keys().collect();
            keys.sort_unstable();
            out.push(b'{');
            for k in keys {
                out.extend(serde_json::to_vec(k).ok()?);
                out.push(b':');
                write(&o[k], out)?;
                out.push(b',');
            }
            out.push(b'}');
        }
    }
    Some(())
}
