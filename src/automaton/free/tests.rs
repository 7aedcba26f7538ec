use super::*;
use crate::frontend::regex::{Dialect, RegexOptions, lower_full};
use crate::limits::Limits;

fn lowered(pattern: &str) -> (Exprs, ExprId) {
    let mut x = Exprs::new(1 << 20);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    (x, e)
}

fn free_in(pattern: &str) -> Free {
    let (x, e) = lowered(pattern);
    free(&x, &mut FreeTable::default(), &mut LengthTable::default(), false, e)
}

fn groups(bytes: &str) -> Groups {
    bytes.bytes().fold(0, |all, b| all | group_of(b))
}

#[test]
fn every_group_holds_its_bytes() {
    for b in 0..=255u8 {
        match b {
            0x80..=0xBF => assert_eq!(group_of(b), 0),
            0xC0 | 0xC1 | 0xF5.. => assert_eq!(group_of(b) & ALL, 0),
            _ => assert_eq!((group_of(b) & ALL).count_ones(), 1, "{b:#x}"),
        }
    }
    for (i, (lo, hi)) in RANGES.iter().enumerate() {
        assert!((*lo..=*hi).all(|b| group_of(b) == 1 << i));
    }
}

#[test]
fn what_is_free() {
    assert_eq!(free_in("[a-z]{1,5}"), Free { groups: groups("az"), len: 5 });
    assert_eq!(free_in("[a-z][a-z0-9]*x"), Free { groups: groups("az"), len: INF });
    assert_eq!(free_in("[a-z]{3}[a-z0-9]{4}"), Free { groups: groups("az"), len: 7 });
    assert_eq!(free_in("abc"), Free::NONE);
    // Not the whole of a group.
    assert_eq!(free_in("[a-y]+"), Free { groups: groups("a"), len: INF });
    assert_eq!(free_in("[b-e]+"), Free::NONE);
    assert_eq!(free_in(r"(?s:.*)[a-f0-9]{24}(?s:.*)"), Free::OPEN);
    assert_eq!(free_in(r"x?(?s:.*)y"), Free::OPEN);
    assert_eq!(free_in("(?s:.{7})").len, 7);
    let line = free_in(".*a.{14}");
    assert_eq!((line.groups, line.len), (ALL & !groups("\n"), INF));
    // An ideographic space, a no-break space and others take their first bytes away.
    let word = free_in(r"(\S+\s+){0,99}\S+");
    assert_eq!(word.groups & groups("a9-\"\\é世"), groups("a9-\"\\é世"));
    assert_eq!(word.groups & groups(" \t\u{A0}\u{3000}\u{2003}"), 0);
}

#[test]
fn encoded_strings_keep_escapes_apart() {
    let open = Free::OPEN;
    assert!(open.encoded(false).is_open());
    assert!(!open.encoded(true).is_open());
    let line = free_in(".*").encoded(false);
    assert_eq!(line.groups & groups("\"\\"), 0);
    assert!(line.covers(groups("az09 ~\u{1}\n"), 1_000));
    assert_eq!(Free { groups: groups("\""), len: 1 }.encoded(false).groups, 0);
}

#[test]
fn intersections() {
    let (mut x, plain) = lowered("(?s:.*)");
    let names = x.choice(&["one", "two"]);
    let rest = x.minus(plain, names);
    let mut memo = FreeTable::default();
    let mut table = LengthTable::default();
    assert_eq!(free(&x, &mut memo, &mut table, false, rest), Free::OPEN);
    // Of finitely many texts, finitely many others are not left for sure.
    let few = x.any_char();
    let few = x.rep(few, 0, 3);
    let rest = x.minus(few, names);
    assert_eq!(free(&x, &mut memo, &mut table, false, rest), Free::NONE);
    // Nor of infinitely many.
    let a = x.byte_set(&[(b'a', b'a')]);
    let begun = x.cat(a, plain);
    let rest = x.minus(plain, begun);
    assert_eq!(free(&x, &mut memo, &mut table, true, rest), Free::NONE);
}

#[test]
fn what_is_text() {
    for pattern in ["abc", "é+", "[^a]*世", r"(?s:.*)\d{3}", r"\w{1,64}", "(?!a)[a-z]+", "😀|x"] {
        let (x, e) = lowered(pattern);
        assert!(is_text(&x, e), "{pattern}");
    }
    let mut x = Exprs::new(1 << 10);
    for bytes in [&b"\xFF"[..], b"\xC3", b"\xC3a", b"\xE0\x80\x80", b"\xED\xA0\x80", b"a\x80", b"\xF4\x90\x80\x80"] {
        let e = x.literal(bytes);
        assert!(!is_text(&x, e), "{bytes:?}");
        let more = x.rep(e, 0, INF);
        assert!(!is_text(&x, more), "{bytes:?}");
    }
    let whole = x.literal("aé".as_bytes());
    let half = x.literal(b"\xC3");
    let both = x.alt(&[whole, half]);
    assert!(!is_text(&x, both));
    let not = x.not(half);
    assert!(!is_text(&x, not));
    let text = x.any_text();
    let all = x.and(&[text, not]);
    assert!(is_text(&x, all));
}
