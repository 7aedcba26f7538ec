use super::*;
use crate::expr::INF;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

#[test]
fn what_is_text() {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    for pattern in ["abc", "é+", "[^a]*世", r"(?s:.*)\d{3}", r"\w{1,64}", "(?!a)[a-z]+", "😀|x", "((?!mode)(?!Mode).)*"]
    {
        let mut x = Exprs::new(1 << 20);
        let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
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
    for (bytes, known) in [("é".as_bytes(), true), (b"\xC3", false), (b"a\x80", false)] {
        let once = x.literal(bytes);
        let (name, again) = x.fix(true);
        let more = x.cat(once, again);
        let e = x.alt(&[Exprs::EPS, more]);
        x.define(name, e);
        assert_eq!(is_text(&x, again), known, "{bytes:?}");
    }
}
