//! Mangled patterns: whatever the text, the answer is an expression or an error, never a panic, and every expression
//! accepts well-formed UTF-8 only. A small standing relative of the fuzz target.

use interlock::Limits;
use interlock::expr::Exprs;
use interlock::regex::{Dialect, RegexOptions, lower_full, lower_search};

#[test]
fn mangled_patterns_never_panic() {
    let pieces = [
        "(",
        ")",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        "(?P<a>",
        "(?<a>",
        "(?>",
        "(?i:",
        "(?-",
        "(?#",
        "[",
        "]",
        "[^",
        "-",
        "\\",
        "\\b",
        "\\B",
        "^",
        "$",
        "|",
        "*",
        "+",
        "?",
        "{",
        "}",
        "{2}",
        "{1,3}",
        "{,2}",
        "{4294967295}",
        "{99999}",
        "a",
        "é",
        "\u{10FFFF}",
        "\n",
        ".",
        "\\w",
        "\\D",
        "\\p{L}",
        "\\P{Cs}",
        "\\u",
        "\\uD800",
        "\\x4",
        "\\x41",
        "\\0",
        "\\1",
        "\\k<a>",
        "\\Z",
        "++",
    ];
    let limits = Limits { max_expr_nodes: 30_000, max_explored_states: 500, ..Limits::default() };
    let mut state = 88_172_645_463_325_252u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let mut lowered = 0;
    for _ in 0..20_000 {
        let pattern: String = (0..next(14)).map(|_| pieces[next(pieces.len())]).collect();
        for (dialect, flags) in
            [(Dialect::Python, ["", "i", "mx", "sa"][next(4)]), (Dialect::Ecma, ["", "i", "m", "s"][next(4)])]
        {
            let mut x = Exprs::new(limits.max_expr_nodes);
            let options = RegexOptions { dialect, flags: flags.into() };
            if let Ok(e) = lower_full(&mut x, &pattern, &options, &limits) {
                lowered += 1;
                x.accepts(e, "aé\n".as_bytes());
                for bad in [&b"\xff"[..], b"a\xc3", b"\xed\xa0\x80", b"\xa9", b"\xc3\xa9\xa9"] {
                    assert!(
                        !x.accepts(e, bad) || x.check().is_err(),
                        "{dialect:?} {pattern:?} {flags:?} accepts {bad:x?}"
                    );
                }
            }
        }
        let mut x = Exprs::new(limits.max_expr_nodes);
        if let Ok(e) = lower_search(&mut x, &pattern, &limits) {
            assert!(!x.accepts(e, b"\xff") || x.check().is_err(), "{pattern:?} finds a match in no text");
        }
    }
    assert!(lowered > 5_000, "only {lowered} of the patterns were any good");
}
