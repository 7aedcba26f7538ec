use super::*;

fn py(pattern: &str, flags: &str) -> (Exprs, ExprId) {
    let mut x = Exprs::new(1_000_000);
    let options = RegexOptions { dialect: Dialect::Python, flags: flags.into() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    (x, e)
}

#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    let (mut x, e) = py(pattern, "");
    for s in yes {
        assert!(x.accepts(e, s.as_bytes()), "{pattern} must accept {s:?}");
    }
    for s in no {
        assert!(!x.accepts(e, s.as_bytes()), "{pattern} must not accept {s:?}");
    }
}

#[test]
fn basics() {
    check("a|ab", &["a", "ab"], &["", "b", "aba"]);
    check("^a$\n?", &["a", "a\n"], &["a\n\n", ""]);
    check(r"(?:\bfoo\b ?)+", &["foo", "foo ", "foo foo"], &["foofoo", "", " foo"]);
    check(r"^(?:(?!foo).)*$", &["", "fo", "abc", "fofo"], &["foo", "xfoox", "a\nb", "abc\n"]);
    check(r"(?=.*\d)(?=.*[a-z]).{8,64}", &["abcdefg1"], &["abcdefgh", "abc1"]);
    check(r".*(?<=ab)c", &["abc", "xxabc"], &["bc", "c", "aabac"]);
    check(r".*(?<!ab)c", &["bc", "c", "aabac"], &["abc", "xxabc"]);
    check(r"\w+\b-\b\w+", &["a-b", "ab-ü"], &["a-", "-"]);
}
