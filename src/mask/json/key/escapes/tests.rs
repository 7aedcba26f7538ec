use super::*;
use crate::json::string_escape::EscapeUse;
use crate::vocab::sample::{bytes_and, ended};

type Texts<T> = Vec<(String, T)>;

/// The tokens behind a backslash at the start and what they may become, and what is complete.
fn escapes(more: &[&str], kept: EscapeUse) -> (Texts<Ascii>, Texts<u8>) {
    let v = ended(bytes_and(more));
    let found = Escapes::find(v.trie(), v.trie().child(0, b'\\').unwrap(), kept);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let inside = found.inside.iter().map(|e| (text(v.token_bytes(e.0).unwrap()), e.1)).collect();
    (inside, found.complete.iter().map(|c| (text(&c.2), c.1)).collect())
}

#[test]
fn what_an_escape_may_become_is_read_off_its_digits() {
    let tokens = ["\\u", "\\u00", "\\u004", "\\u0041", "\\u1", "\\n", "\\n\"", "\\x", "\\ud83d\\"];
    let (inside, complete) = escapes(&tokens, EscapeUse::Any);
    let some = |from, to| ascii(from, to);
    let expected = [("\\", u128::MAX), ("\\u", u128::MAX), ("\\u00", u128::MAX), ("\\u004", some(0x40, 0x4F))];
    assert_eq!(inside, expected.map(|(text, may)| (text.to_owned(), may)));
    let whole = |all: &[(&str, u8)]| all.iter().map(|&(text, b)| (text.to_owned(), b)).collect::<Vec<_>>();
    assert_eq!(complete, whole(&[("\\n", b'\n'), ("\\u0041", b'A')]));
    // Plainly only what needs an escape has one, the short one where there is one.
    let (inside, complete) =
        escapes(&["\\u001", "\\u004", "\\u0041", "\\u001f", "\\u000a", "\\/", "\\\""], EscapeUse::Writers);
    let controls = some(0, 31) | some(0x22, 0x22) | some(0x5C, 0x5C) | some(0x7F, 0x7F);
    assert_eq!(inside, [("\\".to_owned(), controls), ("\\u001".to_owned(), some(0x10, 0x1F))]);
    assert_eq!(complete, whole(&[("\\\"", b'"'), ("\\u001f", 0x1F)]));
}

#[test]
fn sets_of_characters() {
    assert_eq!((ascii(0, 127), ascii(65, 65), ascii(120, 300), ascii(128, 300)), (u128::MAX, 1 << 65, 0xFF << 120, 0));
}
