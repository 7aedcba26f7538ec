//! What strangers' patterns may cost: every loop that a pattern may make long is counted and asks whether to go on, and
//! what a few characters make large is under a limit. Work is counted here, never time.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ErrorKind;
use crate::regex::ast::{Ast, AstId, AstNode};
use crate::regex::char_set::Union;
use crate::regex::lower::continuation::PARTS_PER_STEP;
use crate::regex::*;
use crate::util::cancel::{limited, spent, watched};

fn around(open: &str, inner: &str, close: &str, n: usize) -> String {
    [&open.repeat(n), inner, &close.repeat(n)].concat()
}

fn parse(dialect: Dialect, pattern: &str, limits: &Limits) -> Result<(Ast, AstId)> {
    match dialect {
        Dialect::Python => python::parse(pattern, python::parse_flags("").unwrap(), limits),
        Dialect::Ecma => ecma::parse(pattern, ecma::parse_flags("").unwrap(), limits),
    }
}

fn compiled(dialect: Dialect, pattern: &str, limits: &Limits) -> Result<ExprId> {
    let mut x = Exprs::new(limits.max_expr_nodes);
    let options = RegexOptions { dialect, flags: String::new() };
    limited(limits.max_compile_steps, || lower_full(&mut x, pattern, &options, limits))
}

/// The field of the limit that a pattern exceeds.
#[track_caller]
fn exceeded(dialect: Dialect, pattern: &str, limits: &Limits) -> &'static str {
    let short: String = pattern.chars().take(30).collect();
    let e = compiled(dialect, pattern, limits).err().unwrap_or_else(|| panic!("{short} is compiled"));
    assert_eq!(e.kind(), ErrorKind::Limit, "{short}: {e}");
    e.limit_field().unwrap_or_else(|| panic!("{short}: {e}"))
}

const BOTH: [Dialect; 2] = [Dialect::Python, Dialect::Ecma];

#[test]
fn groups_around_a_group_copy_nothing() {
    let long = "a*b*".repeat(2_000);
    for dialect in BOTH {
        let (tree, _) = parse(dialect, &around("(?:", &long, ")", 900), &Limits::default()).unwrap();
        assert!(tree.size() < 10_000, "{}", tree.size());
        // Where something stands beside the inner group its parts are copied, and count.
        let limits = Limits { max_expr_nodes: 100_000, ..Limits::default() };
        let e = parse(dialect, &around("(?:", &long, ")b", 900), &limits).err().unwrap();
        assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_expr_nodes")), "{e}");
        assert!(parse(dialect, &around("(?:", &long, ")b", 50), &limits).is_ok());
    }
}

#[test]
fn a_tree_is_under_the_limit_on_nodes() {
    let limits = Limits { max_expr_nodes: 1_000, ..Limits::default() };
    for pattern in
        ["a*b*".repeat(600), "|".repeat(2_000), r"[ab]".repeat(2_000), "a".repeat(2_000), r"\b".repeat(2_000)]
    {
        for dialect in BOTH {
            let e = parse(dialect, &pattern, &limits).err().unwrap();
            assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_expr_nodes")), "{pattern:.9}: {e}");
        }
    }
    // Texts take no more than the pattern, and their alternatives are one node each.
    assert!(compiled(Dialect::Python, &"long text|".repeat(400), &limits).is_ok());
}

#[test]
fn classes_are_merged_while_they_are_read() {
    let mut all = Union::default();
    for i in 0..1_000_000u32 {
        all.push(i * 7 % 5_003, i * 7 % 5_003);
        assert!(all.held() < 20_000, "{}", all.held());
    }
    assert_eq!(all.finish().ranges(), [(0, 5_002)]);
    let limits = Limits { max_compile_steps: 20_000, ..Limits::default() };
    for (dialect, item) in [(Dialect::Python, r"\w"), (Dialect::Python, r"\p{L}"), (Dialect::Ecma, r"\P{L}")] {
        assert_eq!(exceeded(dialect, &around("[", &item.repeat(10_000), "]", 1), &limits), "max_compile_steps");
        assert!(compiled(dialect, &around("[", &item.repeat(100), "]", 1), &limits).is_ok());
    }
}

#[test]
fn equal_sets_are_held_once() {
    for (dialect, part) in [
        (Dialect::Ecma, r"\p{L}"),
        (Dialect::Ecma, r"\P{L}"),
        (Dialect::Ecma, r"(?i:\p{L})"),
        (Dialect::Python, r"\p{L}"),
        (Dialect::Python, r"(?i:\P{L})"),
        (Dialect::Python, r"[\w.-]"),
    ] {
        let (tree, _) = parse(dialect, &part.repeat(1_000), &Limits::default()).unwrap();
        let sets: HashSet<_> = (0..tree.len() as AstId)
            .filter_map(|n| match tree.get(n) {
                AstNode::Class(set) => Some(Arc::as_ptr(set)),
                _ => None,
            })
            .collect();
        assert_eq!(sets.len(), 1, "{part}");
    }
    // Where they differ, their ranges count: some hundreds each.
    let limits = Limits { max_expr_nodes: 20_000, ..Limits::default() };
    let many: String = (0..1_000).map(|i| format!("[\\w{}]", char::from_u32(0x1F300 + 2 * i).unwrap())).collect();
    assert_eq!(parse(Dialect::Python, &many, &limits).err().unwrap().limit_field(), Some("max_expr_nodes"));
}

/// Each of a million code points is looked up to be folded.
#[test]
fn folding_counts_code_points() {
    let limits = Limits { max_compile_steps: 100_000, ..Limits::default() };
    let wide: String = (0..20).map(|i| format!("[{}-\u{10FFFF}]", char::from_u32(0xB0 + i).unwrap())).collect();
    assert!(compiled(Dialect::Python, &wide, &limits).is_ok());
    for dialect in BOTH {
        assert_eq!(exceeded(dialect, &format!("(?i:{wide})"), &limits), "max_compile_steps");
    }
}

/// Without a set of names, and with letters kept as often as they stand there, this test would take an hour.
#[test]
fn names_and_flags_are_looked_up() {
    let limits = Limits::default();
    let named: String = (0..300_000).map(|i| format!("(?P<n{i}>a)")).collect();
    assert!(parse(Dialect::Python, &named, &limits).is_ok());
    let e = parse(Dialect::Python, &format!("{named}(?P<n7>a)"), &limits).err().unwrap();
    assert!(e.message().contains("redefinition"), "{e}");
    for letters in ["i".repeat(8_000_000), "im".repeat(4_000_000) + "-" + &"s".repeat(4_000_000)] {
        assert!(parse(Dialect::Python, &format!("(?{letters}:a)"), &limits).is_ok());
    }
}

#[test]
fn groups_nest_so_deep_whatever_the_limits_say() {
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    for dialect in BOTH {
        let e = parse(dialect, &around("(?:", "a", ")?b", 100_000), &limits).err().unwrap();
        assert_eq!((e.kind(), e.limit_values()), (ErrorKind::Limit, Some((10_000, 10_001))), "{e}");
    }
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (dialect, open, inner, close) in [
            (Dialect::Python, "(?:", "a", ")?b"),
            (Dialect::Python, "(?:a", "b", ")*"),
            (Dialect::Python, "(?:", r"\ba", ")?"),
            (Dialect::Python, "(?!a", "b", ")"),
            (Dialect::Ecma, "(?:c", "b", ")+"),
            (Dialect::Ecma, "(?:c", "b", "){2}"),
            (Dialect::Ecma, "(?:a", "b", "|c)+"),
        ] {
            let mut x = Exprs::new(limits.max_expr_nodes);
            let pattern = around(open, inner, close, 9_999);
            let e = match dialect {
                Dialect::Python => {
                    lower_full(&mut x, &pattern, &RegexOptions { dialect, flags: String::new() }, &limits)
                }
                Dialect::Ecma => lower_search(&mut x, &pattern, &limits),
            };
            x.accepts(e.unwrap_or_else(|e| panic!("{open}{inner}{close}: {e}")), b"aab");
        }
    });
    small.unwrap().join().unwrap();
}

/// Repetitions of what may be empty around assertions are chains as long as their counts.
#[test]
fn chains_of_names_need_little_stack() {
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        for pattern in [
            r"(?:(?:\ba)*b?){2000}",
            "(?:(?!a)[a-z]?){2000}",
            r"(?:\Ba?){2000}",
            "(?:(?=a)a|b)?".repeat(2_000).as_str(),
        ] {
            let mut x = Exprs::new(1_500_000);
            let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
            let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
            x.accepts(e, b"abab");
        }
    });
    small.unwrap().join().unwrap();
}

#[test]
fn look_behind_is_bounded_in_what_it_tells_apart() {
    let chars = |from: u32, n: u32| (from..from + n).filter_map(char::from_u32);
    let limits = Limits { max_explored_states: 2_000, max_expr_nodes: 50_000, ..Limits::default() };
    // Each code point is a kind.
    let text: String = chars(0x4E00, 3_000).collect();
    assert_eq!(exceeded(Dialect::Python, &format!("(?<={text})x"), &limits), "max_explored_states");
    // Each kind is a set of classes.
    let pairs: String = chars(0x4E00, 1_900).zip(chars(0x6000, 1_900)).map(|(a, b)| format!("[{a}{b}]")).collect();
    assert_eq!(exceeded(Dialect::Python, &format!("(?<={pairs})x"), &limits), "max_expr_nodes");
    // Look-behind in look-behind asks about the same text again.
    let nested = format!("(?:ab)*{}", around("(?<=", &"ab".repeat(20), ")", 60));
    assert!(compiled(Dialect::Python, &nested, &Limits::default()).is_ok());
}

/// What is still to come of a pattern lies in memory beside the expressions that are made of it.
#[test]
fn steps_around_assertions_count_beside_nodes() {
    let pattern = r"(?:\babcdefghijklmnop ){300}";
    let mut x = Exprs::new(1_000_000);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    let limits = |most: usize| Limits { max_expr_nodes: most, ..Limits::default() };
    assert_eq!(exceeded(Dialect::Python, pattern, &limits(x.own_size() + 100)), "max_expr_nodes");
    assert!(compiled(Dialect::Python, pattern, &limits(x.own_size() * 2)).is_ok());
}

/// One step around assertions may look at all parts of a node, all contexts or all kinds.
#[test]
fn steps_around_assertions_count_what_they_look_at() {
    let limits = Limits::default();
    let work = |pattern: &str| {
        limited(usize::MAX, || {
            let mut x = Exprs::new(limits.max_expr_nodes);
            let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
            lower_full(&mut x, pattern, &options, &limits).map(|_| spent()).unwrap()
        })
    };
    // From each of as many contexts, each kind leads on.
    let text: String = (0..500).filter_map(|i| char::from_u32(0x4E00 + i)).collect();
    let kinds = work(&format!("[^a]*(?<={text})x?"));
    assert!(kinds > 500 * 500 / PARTS_PER_STEP, "{kinds}");
    // A name is made for each copy; whether it may be empty is asked of what stands around assertions.
    let asked = work(&format!(r"(?:(?:\ba)*b){{200}}{}", "a?c?".repeat(2_000)));
    assert!(asked < 100_000, "{asked}");
    let automaton = exceeded(Dialect::Python, r"[ab]*(?:a(?<=a.{11})|b(?<!a.{11})){12}", &limits);
    assert_eq!(automaton, "max_expr_nodes");
}

/// The proof that an atomic part forbids nothing has a bound of its own, and ends with the compile.
#[test]
fn proofs_about_atomic_parts_end_with_the_compile() {
    let pattern = "(?>[ab]*a[ab]{12}c)x";
    let e = compiled(Dialect::Python, pattern, &Limits::default()).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
    for limits in [
        Limits { max_compile_steps: 500, ..Limits::default() },
        Limits { max_explored_states: 100, ..Limits::default() },
        Limits { max_expr_nodes: 2_000, ..Limits::default() },
    ] {
        exceeded(Dialect::Python, pattern, &limits);
    }
    let stop = Arc::new(|| Err(Error::new(ErrorKind::Cancelled, "stopped")));
    let e = watched(stop, || compiled(Dialect::Python, pattern, &Limits::default())).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::Cancelled, "{e}");
    // What may follow an atomic part is a set for each of them, which counts.
    let limits = Limits { max_expr_nodes: 20_000, ..Limits::default() };
    assert_eq!(exceeded(Dialect::Python, &r"(?:a++b?\w?!)".repeat(1_000), &limits), "max_expr_nodes");
    assert!(compiled(Dialect::Python, &format!("{}a++b", r"\w".repeat(10_000)), &Limits::default()).is_ok());
}

#[test]
fn a_watch_stops_every_stage() {
    let wide: String = (0..60).map(|i| format!("[{}-\u{10FFFF}]", char::from_u32(0xB0 + i).unwrap())).collect();
    for (dialect, pattern) in [
        (Dialect::Python, "a".repeat(20_000)),
        (Dialect::Python, "a|".repeat(10_000)),
        (Dialect::Python, "(?:".repeat(900) + &"a*b*".repeat(3_000) + &")".repeat(900)),
        (Dialect::Python, around("[", &"ab".repeat(20_000), "]", 1)),
        (Dialect::Ecma, around("[", &r"\p{L}".repeat(2_000), "]", 1)),
        (Dialect::Ecma, r"\p{L}".repeat(2_000)),
        (Dialect::Python, format!("(?i:{wide})")),
        (Dialect::Python, r"\b\w".repeat(300)),
        (Dialect::Python, "[ab]*(?<=a[ab]{9})b".to_owned()),
        (Dialect::Python, "a++".to_owned() + &r"\w?\d?".repeat(300)),
    ] {
        // Whoever stops does it at some time: here at a quarter of the questions that the work asks otherwise.
        let ends_after = |most: usize| {
            let asked = Arc::new(AtomicUsize::new(0));
            let count = asked.clone();
            let watch = Arc::new(move || match count.fetch_add(1, Ordering::Relaxed) < most {
                true => Ok(()),
                false => Err(Error::new(ErrorKind::Cancelled, "stopped")),
            });
            let ended = watched(watch, || compiled(dialect, &pattern, &Limits::default())).err();
            (ended, asked.load(Ordering::Relaxed))
        };
        let (_, all) = ends_after(usize::MAX);
        assert!(all > 3, "{pattern:.20} asks {all} times");
        for quarter in 0..4 {
            let e = ends_after(all * quarter / 4).0.unwrap();
            assert_eq!(e.kind(), ErrorKind::Cancelled, "{pattern:.20}: {e}");
        }
    }
}
