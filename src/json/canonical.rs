//! One text for all spellings of a JSON value: numbers by value, strings by what they decode to, objects without order.
//!
//! The text that is read comes from documents, so it may nest without end: nothing here recurses. Values are read into
//! a list, children before their parents, and written from the last one on.

use crate::json::whitespace::is_whitespace;
use smallvec::SmallVec;

use crate::json::canonical_tree::Tree;
use crate::json::decimal::Decimal;

/// JSON text to a text that equal values share; `None` if it is not JSON. Linear in the text, but for the sorting of
/// keys.
pub fn canonical(text: &[u8]) -> Option<Box<[u8]>> {
    let text = &text[blanks(text)..];
    let text = &text[..text.len() - text.iter().rev().take_while(|b| is_whitespace(**b)).count()];
    let mut out = Vec::new();
    if matches!(text.first(), Some(b'[' | b'{')) {
        Tree::read(text)?.write(&mut out);
    } else {
        scalar(text, &mut out)?;
    }
    Some(out.into_boxed_slice())
}

/// How many bytes of whitespace `text` begins with.
pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|b| is_whitespace(**b)).count()
}

/// Adds the canonical text of a value that is neither array nor object; `None` if `text` is no such value.
pub(super) fn scalar(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match text {
        b"null" | b"true" | b"false" => out.extend(text),
        [b'"', ..] => {
            out.push(b'"');
            quote(&decoded(text)?, out);
        }
        _ => {
            let d = Decimal::parse(std::str::from_utf8(text).ok()?)?;
            out.push(if d.negative { b'-' } else { b'+' });
            out.extend(d.digits.iter().map(|d| b'0' + d));
            out.extend(format!("e{}", d.exponent).bytes());
        }
    }
    Some(())
}

/// What a JSON string, with its quotes, stands for.
pub(super) fn decoded(string: &[u8]) -> Option<String> {
    serde_json::from_slice(string).ok()
}

/// Adds a string in quotes.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escape(text.as_bytes(), out);
    out.push(b'"');
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
