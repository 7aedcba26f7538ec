mod bounds;

use super::*;
use crate::util::rng::Rng;

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

fn lowered(dialect: Dialect, pattern: &str, limits: &Limits) -> Result<(Exprs, ExprId)> {
    let mut x = Exprs::new(limits.max_expr_nodes);
    let options = RegexOptions { dialect, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, limits)?;
    Ok((x, e))
}

#[track_caller]
fn refused(dialect: Dialect, pattern: &str) -> (crate::ErrorKind, usize) {
    let e = lowered(dialect, pattern, &Limits::default()).err().unwrap_or_else(|| panic!("{pattern} must be refused"));
    match e.place() {
        crate::SourcePlace::Offset(n) => (e.kind(), *n),
        p => panic!("{pattern}: no offset but {p:?}"),
    }
}

#[test]
fn refusals_name_kind_and_offset() {
    use crate::ErrorKind::{Limit, Pattern, Unsupported};
    use Dialect::{Ecma, Python};
    for (dialect, pattern, kind, offset) in [
        (Python, r"é(a)\1", Unsupported, 4),
        (Python, "(?P<n>a)(?P=n)", Unsupported, 8),
        (Python, "(a)?(?(1)b|c)", Unsupported, 4),
        (Python, r"\N{DIGIT ONE}", Unsupported, 0),
        (Python, "xa++a", Unsupported, 2),
        (Python, "(?>a|ab)c", Unsupported, 0),
        (Python, "a(?<=b(?=c))", Unsupported, 1),
        (Python, "a**", Pattern, 2),
        (Python, "a|*", Pattern, 2),
        (Python, "^*", Pattern, 1),
        (Python, "ab(c", Pattern, 2),
        (Python, "ab)", Pattern, 2),
        (Python, "x[a", Pattern, 1),
        (Python, "[b-a]", Pattern, 1),
        (Python, r"a\q", Pattern, 1),
        (Python, r"\1", Pattern, 1),
        (Python, "a{3,2}", Pattern, 1),
        (Python, "a(?i)b", Pattern, 1),
        (Python, "(?<=a+)b", Pattern, 0),
        (Python, "a{4294967295}", Limit, 1),
        (Python, "(?-i)a", Pattern, 4),
        (Python, "(?-", Pattern, 3),
        (Ecma, r"(a)\1", Unsupported, 3),
        (Ecma, r"\k<n>(?<n>a)", Unsupported, 0),
        (Ecma, r"\2(a)", Pattern, 0),
        (Ecma, r"(a)\1*(b", Pattern, 6),
        (Ecma, r"(\k<a>", Pattern, 0),
        (Ecma, "(?<n>a)(?<n>b)", Pattern, 10),
        (Ecma, "((?<n>a)|b)(?<n>b)", Pattern, 14),
        (Ecma, "(?<n>a(?<n>b))", Pattern, 9),
        (Ecma, r"((?<n>a)|(?<n>b)\k<n>)", Unsupported, 16),
        (Ecma, r"a\Z", Pattern, 1),
        (Ecma, r"\p{Foo}", Pattern, 0),
        (Ecma, "(?i)a", Pattern, 0),
        (Ecma, "a++", Pattern, 2),
        (Ecma, "(?<=a)*", Pattern, 6),
        (Ecma, "a{2,1}", Pattern, 1),
    ] {
        assert_eq!(refused(dialect, pattern), (kind, offset), "{dialect:?} {pattern}");
    }
}

/// A backslash takes what follows it along, in comments as elsewhere.
#[test]
fn comments_end_where_cpython_ends_them() {
    check("(?x)a#c\\\nb", &["a"], &["ab", "b"]);
    check("(?x)a#c\\\\\nb", &["ab"], &["a"]);
    check(r"(?#\\)a|b(?#)", &["a", "b"], &[""]);
    check(r"(?#\)a|b(?#)", &[""], &["a", "b"]);
    check(r"(?#\)[)]a", &["]a"], &["a", ")a"]);
    check(r"(?#x\)b)a", &["a"], &["", "ba"]);
    check("(?x:a # b)\n)c d", &["ac d"], &["acd"]);
    check("(?x) a #\n {2} (?#)", &["aa"], &["a", "a{2}"]);
    check("(?x)a{1, 2}", &["a{1,2}"], &["a", "aa"]);
    for pattern in [r"(?x)#\", r"(?#\)", r"(?#\", "(?x)a{2} ?", "(?x)( ?:a)"] {
        assert_eq!(refused(Dialect::Python, pattern).0, crate::ErrorKind::Pattern, "{pattern}");
    }
}

#[test]
fn a_whole_pattern_is_ascii_or_unicode() {
    let lowers = |pattern: &str, flags: &str| {
        let options = RegexOptions { dialect: Dialect::Python, flags: flags.into() };
        lower_full(&mut Exprs::new(1_000), pattern, &options, &Limits::default()).is_ok()
    };
    for (pattern, flags) in [("(?a)(?u)a", ""), ("(?u)(?a)a", ""), ("(?u)a", "a"), ("(?a)a", "u"), ("(?iu)(?a)a", "")] {
        assert!(!lowers(pattern, flags), "{pattern} {flags}");
    }
    for (pattern, flags) in [("(?a)a", "a"), ("(?u)(?u)a", "u"), ("(?a:(?u:a))", ""), ("(?u:a)", "a"), ("(?a:a)", "u")]
    {
        assert!(lowers(pattern, flags), "{pattern} {flags}");
    }
}

/// As `str.isidentifier` and a JavaScript engine say.
#[test]
fn groups_have_names_of_all_scripts() {
    let bad = crate::ErrorKind::Pattern;
    for name in ["हिन्दी", "a·", "℘", "é", "e\u{301}", "_1", "𝒜", "ªb", "a\u{200D}b"] {
        check(&format!("(?P<{name}>a)"), &["a"], &[]);
        assert!(lowered(Dialect::Ecma, &format!("(?<{name}>a)"), &Limits::default()).is_ok(), "{name}");
    }
    for name in ["a²", "1a", "", "\u{301}e", "a-b", "a\u{2E2F}"] {
        assert_eq!(refused(Dialect::Python, &format!("(?P<{name}>a)")).0, bad, "{name}");
        assert_eq!(refused(Dialect::Ecma, &format!("(?<{name}>a)")).0, bad, "{name}");
    }
    // What only ECMA-262 has: other signs, and escapes, which are the name that they spell.
    for name in ["$", "a$", r"a\u0062", r"a\u{62}", r"\ud835\udc9c", r"\u{1d49c}", r"\u0024"] {
        assert!(lowered(Dialect::Ecma, &format!("(?<{name}>a)"), &Limits::default()).is_ok(), "{name}");
        assert_eq!(refused(Dialect::Python, &format!("(?P<{name}>a)")).0, bad, "{name}");
    }
    for name in [r"\u003e", r"\ud835", r"a\x62", r"a\u{110000}", "\u{200D}b"] {
        assert_eq!(refused(Dialect::Ecma, &format!("(?<{name}>a)")).0, bad, "{name}");
    }
    assert_eq!(refused(Dialect::Ecma, r"(?<ab>x)(?<a\u0062>y)"), (bad, 11));
}

#[test]
fn ecma_names_of_scripts_are_exact() {
    let lowers = |name: &str| lowered(Dialect::Ecma, &format!(r"\p{{{name}}}"), &Limits::default());
    for name in ["Script=Greek", "sc=Grek", "scx=Greek", "Script_Extensions=Qaac", "sc=Phags_Pa", "sc=Nko"] {
        assert!(lowers(name).is_ok(), "{name}");
    }
    for name in ["Script=greek", "sc=gReEk", "sc=Gre_ek", "scx= greek", "Script=isGreek", "sc=GREK", "sc=", "Greek"] {
        assert_eq!(lowers(name).err().unwrap().kind(), crate::ErrorKind::Pattern, "{name}");
    }
    assert_eq!(lowers("sc=Unknown").err().unwrap().kind(), crate::ErrorKind::Unsupported);
}

/// Every name on the list has a table, but the one for what has no script.
#[test]
fn every_script_has_a_table() {
    for name in
        crate::regex::parse::ecma_class::SCRIPTS.split_ascii_whitespace().filter(|n| !["Unknown", "Zzzz"].contains(n))
    {
        let e = lowered(Dialect::Ecma, &format!(r"\p{{sc={name}}}\p{{scx={name}}}"), &Limits::default());
        assert!(e.is_ok(), "{name}");
    }
}

#[test]
fn atomic_parts_that_change_nothing_are_accepted() {
    check(r"\d++[a-z]?+\.", &["12a.", "1."], &["a.", "1"]);
    check("(?>foo|bar)+", &["foo", "barfoo"], &["fo", ""]);
    check("(?>ab|cde)x", &["abx", "cdex"], &["ab"]);
    check("[a-c]{1,3}+", &["a", "abc"], &["abcd"]);
}

#[test]
fn ecma_search_and_leniencies() {
    let limits = Limits::default();
    for (pattern, yes, no) in [
        ("^a$", &["a"][..], &["a\n", "ba"][..]),
        ("b", &["abc", "b"], &["", "ac"]),
        (r"^[\w-.]+\-\_{1$", &["a.-_{1"], &["-_{1"]),
        (r"^\p{Lu}\u{1F600}\uD83D\uDE00$", &["É😀😀"], &["e😀😀"]),
        (r"^[^]$", &["\n", "é"], &["", "ab"]),
        (r"[]", &[], &["", "a"]),
        (r"^.$", &["\u{85}", "é"], &["\n", "\u{2028}"]),
        (r"\bé", &["aé"], &["é", " é"]),
        (r"^\x41\cJ\0\s$", &["A\n\0\u{feff}"], &["A\n\0\u{85}"]),
        (r"^(?!.*--)[a-z-]+$", &["a-b"], &["a--b"]),
        (r"(?<=^|,)x(?=,|$)", &["x", "a,x,b"], &["ax", "xa"]),
        (r"^(?<name>a)(?i:b)$", &["aB", "ab"], &["AB"]),
    ] {
        let mut x = Exprs::new(1_000_000);
        let e = lower_search(&mut x, pattern, &limits).unwrap();
        for s in yes {
            assert!(x.accepts(e, s.as_bytes()), "{pattern} must find {s:?}");
        }
        for s in no {
            assert!(!x.accepts(e, s.as_bytes()), "{pattern} must not find {s:?}");
        }
    }
}

/// Patterns with parts that any text makes superfluous, and their twins, which are written out.
#[test]
fn what_is_found_anywhere_is_cut_down_and_stays_the_same() {
    let limits = Limits::default();
    let ecma = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
    let mut texts = vec![String::new()];
    let mut begin = 0;
    for _ in 0..5 {
        let end = texts.len();
        for i in begin..end {
            texts.extend(['a', 'b', '\n', 'é'].map(|c| format!("{}{c}", texts[i])));
        }
        begin = end;
    }
    let atoms = ["a", "ab", "[ab]", ".", "[^a]", "é", "(?:a|bb)", "(?:a*|b)", "(?:b+a*)"];
    let counts = ["", "?", "*", "+", "{2}", "{0,2}", "{1,3}", "{2,}"];
    let part = |n: usize| format!("{}{}", atoms[n % atoms.len()], counts[n / atoms.len() % counts.len()]);
    let mut rng = Rng(5);
    let mut next = || rng.below(1 << 31);
    let mut all = 0;
    for n in 0..600 {
        let inner = (0..1 + next() % 3).map(|_| part(next())).collect::<String>();
        let inner = match n % 5 {
            0 => format!("(?:{inner}){}", counts[next() % counts.len()]),
            1 => format!("{inner}|{}", part(next())),
            2 => format!("(?:{inner}|{}){}", part(next()), part(next())),
            _ => inner,
        };
        for (pattern, twin) in [
            (inner.clone(), format!("[^]*(?:{inner})[^]*")),
            (format!("^(?:{inner})"), format!("(?:{inner})[^]*")),
            (format!("(?:{inner})$"), format!("[^]*(?:{inner})")),
            (format!("(?!b)(?:{inner})"), format!("[^]*(?!b)(?:{inner})[^]*")),
        ] {
            let mut x = Exprs::new(1_000_000);
            let found = lower_search(&mut x, &pattern, &limits).unwrap();
            let plain = lower_full(&mut x, &twin, &ecma, &limits).unwrap();
            for text in &texts {
                assert_eq!(x.accepts(found, text.as_bytes()), x.accepts(plain, text.as_bytes()), "{pattern}: {text:?}");
            }
            all += usize::from(found == x.any_text());
        }
    }
    assert!(all > 50, "{all} are found in every text");
    let mut x = Exprs::new(1_000_000);
    let mut of = |pattern: &str| lower_search(&mut x, pattern, &limits).unwrap();
    let any = of("");
    for pattern in [".*", "[a-z]*", "(a|b+c*)?", "^[a-z]*", "(^a*)", "^$|"] {
        assert_eq!(of(pattern), any, "{pattern}");
    }
    for (pattern, same) in [("[a-z]+", "[a-z]"), ("[a-z]{1,40}", "[a-z]"), (".*ab.*", "ab")] {
        assert_eq!(of(pattern), of(same), "{pattern}");
    }
}

#[test]
fn counts_stay_counted() {
    for pattern in [
        "[a-z]{1,5000}",
        "(a{1,30}){1,30}",
        "((a{1,30}){1,30}){1,30}",
        ".*a.{14}",
        r"\w{1,64}",
        r"(?=.*\d)(?=.*[a-z]).{8,64}",
        r"\b[a-z]{1,4294967294}\b",
        r"(?:\w{1,1000} ){3}\b",
    ] {
        let (x, _) = lowered(Dialect::Python, pattern, &Limits::default()).unwrap();
        assert!(x.len() < 5_000, "{pattern} takes {} nodes", x.len());
    }
}

/// A peek leaves most first parts as they are, so copies have no trees of bytes of their own.
#[test]
fn copies_around_boundaries_are_small() {
    for pattern in [r"(?:\b\w+\b\W*){1,1000}", r"(?:\b\w+\b.*){1,300}"] {
        let (x, _) = lowered(Dialect::Python, pattern, &Limits::default()).unwrap();
        assert!(x.len() < 50_000, "{pattern} takes {} nodes", x.len());
    }
    check(r"(?:\b\w+\b\W*){1,3}", &["a", "a b", "é, ß c", "a\n"], &["", " a", "a b c d", "-"]);
    check(r"(?:\b[\w-]+\b ?){2}", &["a b", "a-b c", "ü é "], &["ab", "a", "-a b", "a- b", "a  b"]);
    check(r"\w*\b(?:-|\w\w|é\b|)\B[-é]?", &["a--", "a-"], &["-", "--", "a-b", "ab", "aé"]);
    check(r"(?m:\w*$\n?^\W*)+", &["a\n", "", "\n\n", "a\n\n-"], &["a", "a\nb", "a-", "a\nb-"]);
}

#[test]
fn deep_and_long_patterns_need_little_stack() {
    let limits = Limits::default();
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let nest =
            |open: &str, body: &str, close: &str, n: usize| format!("{}{body}{}", open.repeat(n), close.repeat(n));
        for pattern in [
            nest("(", "a", ")", 1_000),
            nest("(?:a", "b", ")*", 1_000),
            nest("(?:", r"\ba", ")?", 1_000),
            nest("(?=", "a", ")", 1_000),
            nest("(?:a|", r"\b", ")", 1_000),
            nest("(?:x", "a", "|b){2}", 1_000),
            r"a\b ".repeat(20_000),
            r"(?:\ba|b)?".repeat(3_000),
            "a|".repeat(50_000),
            r"(?:\ba){3000}".into(),
            "(?<=a)".repeat(60) + "a",
            "a(?<=".repeat(30) + &")".repeat(30),
        ] {
            let short: String = pattern.chars().take(20).collect();
            let (mut x, e) = lowered(Dialect::Python, &pattern, &limits).unwrap_or_else(|e| panic!("{short}: {e}"));
            x.accepts(e, b"aab");
        }
        let e = lowered(Dialect::Python, &nest("(", "a", ")", 1_001), &limits).err().unwrap();
        assert_eq!(e.kind(), crate::ErrorKind::Limit);
        let e = lowered(Dialect::Python, r"(?:\ba){4000000000}", &limits).err().unwrap();
        assert_eq!(e.kind(), crate::ErrorKind::Limit);
    });
    small.unwrap().join().unwrap();
}
