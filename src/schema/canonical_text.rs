//! Canonical text: one spelling of a JSON text, so that equal schemas are found again however they were written.
//!
//! A file ends with a newline, a request was parsed and written again: the schema is the same. Whitespace goes, and
//! strings are escaped where they must be and nowhere else. The order of keys stays, since outputs follow it, and
//! numbers stay as they are written, since their digits may count.

use crate::limits::Limits;
use crate::schema::json_tape::{Tape, TapeId, TapeKind};

/// The canonical spelling of `text`; `None` where it is no JSON, repeats a key, or is larger or deeper than schemas may
/// be unless a caller says so: such a text is left to whoever reads it, for errors name its bytes. Never longer than
/// `text`.
pub fn canonical_text(text: &str) -> Option<String> {
    let tape = Tape::read(text, &Limits::default()).ok()?;
    let mut out = String::with_capacity(text.len());
    // The end of each open container, whether it is an object, and how many keys and values it has so far.
    let mut open: Vec<(u32, bool, usize)> = Vec::new();
    let end = tape.end(TapeId::ROOT).0;
    for at in 0..end {
        close(&mut out, &mut open, at);
        if let Some((_, is_object, written)) = open.last_mut() {
            let is_value = *is_object && *written % 2 == 1;
            match *written {
                0 => {}
                _ if is_value => out.push(':'),
                _ => out.push(','),
            }
            *written += 1;
        }
        match tape.kind(TapeId(at)) {
            TapeKind::Null => out.push_str("null"),
            TapeKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            TapeKind::Number(digits) => out.push_str(digits),
            TapeKind::String(text) => write_string(&mut out, text),
            TapeKind::Array(_) => {
                out.push('[');
                open.push((tape.end(TapeId(at)).0, false, 0));
            }
            TapeKind::Object(_) => {
                out.push('{');
                open.push((tape.end(TapeId(at)).0, true, 0));
            }
        }
    }
    close(&mut out, &mut open, end);
    Some(out)
}

/// Closes the containers that end at a node.
fn close(out: &mut String, open: &mut Vec<(u32, bool, usize)>, at: u32) {
    while let Some(&(_, is_object, _)) = open.last().filter(|&&(end, ..)| end <= at) {
        out.push(if is_object { '}' } else { ']' });
        open.pop();
    }
}

/// Writes a string as Python's `json.dumps` does, but for characters beyond ASCII, which stay.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        plain = at + 1;
        match escape {
            "" => out.push_str(&format!("\\u{byte:04x}")),
            escape => out.push_str(escape),
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        canonical_text(text)
    }

    #[test]
    fn spellings_of_one_value_become_one() {
        let one = r#"{"a":[1,2.50,-0.0e+1,[],{}],"b":{"c":null,"d":[true,false,"é\"\\/\n\u0001"]},"":{}}"#;
        let other = "\u{feff} { \"a\" :\t[1,2.50,\n-0.0e+1 ,[ ],{ }],\"\\u0062\":{\"c\":null,\"d\":[true,false,\
                     \"\\u00e9\\u0022\\u005c\\/\\u000A\\u0001\"]},\"\":{}}\r\n";
        assert_eq!(canonical(one).as_deref(), Some(one));
        assert_eq!(canonical(other).as_deref(), Some(one));
        for scalar in ["0", "\"\"", "true", "[]", "{}", "[[[1],2],{\"a\":[{}]}]"] {
            assert_eq!(canonical(&format!(" {scalar}\n")).as_deref(), Some(scalar));
        }
    }

    #[test]
    fn what_may_count_stays() {
        assert_ne!(canonical(r#"{"a":1,"b":2}"#), canonical(r#"{"b":2,"a":1}"#));
        let digits = ["1", "1.0", "1e0", "10000000000000000000000000000000001", "0.1000000000000000055511151231257827"];
        digits.iter().for_each(|number| assert_eq!(canonical(number).as_deref(), Some(*number)));
    }

    #[test]
    fn no_json_is_left_alone() {
        for text in ["", "{", r#"{"a":1,"a":2}"#, r#""\ud800""#, "[1] x", "nan", &"[".repeat(100_000)] {
            assert_eq!(canonical(text), None);
        }
    }
}
