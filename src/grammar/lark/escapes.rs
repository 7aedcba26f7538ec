//! Escapes in texts and patterns, as Lark reads them.
//!
//! Lark hands both through Python's string literals: `\n`, `\r`, `\t`, `\f`, `\xHH`, `\uHHHH` and `\UHHHHHHHH` are the
//! characters that they name, in patterns before the pattern is read. All other escapes stay as they are: in a pattern
//! they are the pattern's own, and in a text the backslash is a part of it, but before a backslash or a quote.

/// Where an escape is wrong, and why.
pub(crate) type EscapeError = (usize, String);

/// What a string stands for.
///
/// # Errors
/// An escape that is cut off, or that names no character.
pub(crate) fn text(raw: &str) -> Result<String, EscapeError> {
    read(raw, false)
}

/// The pattern that Python reads.
///
/// # Errors
/// As [`text`].
pub(crate) fn pattern(raw: &str) -> Result<String, EscapeError> {
    read(raw, true)
}

fn read(raw: &str, is_pattern: bool) -> Result<String, EscapeError> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let offset = raw.len() - escape.len();
        let Some(c) = escape[1..].chars().next() else {
            return Err((offset, "nothing stands behind this backslash".to_owned()));
        };
        let mut taken = 1 + c.len_utf8();
        match c {
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'f' => out.push('\x0c'),
            'x' | 'u' | 'U' => {
                let (code, length) = code_point(escape, c).ok_or_else(|| (offset, names_no_character(c)))?;
                taken = length;
                if is_pattern && stands_for_itself(escape, code) {
                    out.push('\\');
                }
                out.push(code);
            }
            '\\' if is_pattern => out.push_str("\\\\"),
            '\\' => out.push('\\'),
            '"' => out.push('"'),
            '/' if is_pattern => out.push('/'),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
        rest = &escape[taken..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a character of an escape means only itself, though it may mean something in a pattern: in braces it does.
fn stands_for_itself(escape: &str, code: char) -> bool {
    escape[2..].starts_with('{') && !code.is_alphanumeric()
}

/// What an escape that names no character should look like.
fn names_no_character(kind: char) -> String {
    let form = match kind {
        'x' => "\\xHH with two hexadecimal digits",
        'u' => "\\uHHHH with four hexadecimal digits",
        _ => "\\UHHHHHHHH with eight hexadecimal digits",
    };
    format!("this escape names no character; it has the form {form}")
}

/// The character of an escape, and how long the escape is.
fn code_point(escape: &str, kind: char) -> Option<(char, usize)> {
    let digits = match kind {
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    let behind = &escape[2..];
    let (hex, length) = match behind.strip_prefix('{') {
        Some(inside) if kind != 'U' => {
            let end = inside.find('}')?;
            (&inside[..end], 4 + end)
        }
        _ => (behind.get(..digits)?, 2 + digits),
    };
    if hex.is_empty() || hex.len() > 8 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_python_literals() {
        let of = |s: &str| text(s).expect("it is well formed");
        assert_eq!(of(r#"a\n\t\x41\u00e9\U0001F600\"\\"#), "a\n\t\u{41}\u{e9}\u{1f600}\"\\");
        assert_eq!(of(r"\d"), r"\d");
        assert_eq!(pattern(r#"\d\n\/\\\"\x2e\u{2e}"#).expect("it is well formed"), "\\d\n/\\\\\".\\.");
    }

    #[test]
    fn escapes_that_name_nothing_are_errors() {
        for wrong in [r"\x4", r"\u12", r"\U00110000", r"\ud800", r"\u{}", "a\\"] {
            assert!(text(wrong).is_err(), "{wrong}");
        }
    }
}
