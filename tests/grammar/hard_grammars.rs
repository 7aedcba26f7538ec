//! Grammars that strangers send: deep, long, ambiguous without bound, repeated without measure, and those that hang or
//! crash other engines. Each gets an answer or a typed error, in bounded work.

use std::time::{Duration, Instant};

use interlock::{ErrorKind, GrammarOptions, Guide, GuideOptions, Index, Lexer, Limits};

use crate::random_grammars::vocabularies;

fn index(text: &str, lexer: Option<Lexer>) -> interlock::Result<Index> {
    let options = GrammarOptions { lexer, ..GrammarOptions::default() };
    Index::from_grammar(text, &vocabularies()[0].0, &options, &Limits::default())
}

fn guide(text: &str) -> Guide {
    index(text, None).unwrap().guide(&GuideOptions::default()).unwrap()
}

/// Takes all of a text byte by byte, with a mask at every `every`th byte; the worst time of a mask.
fn read(guide: &mut Guide, text: &str, every: usize) -> Duration {
    let mut row = vec![0; guide.index().vocabulary().words()];
    let mut worst = Duration::ZERO;
    for (at, byte) in text.bytes().enumerate() {
        if at % every == 0 {
            let begun = Instant::now();
            guide.fill_mask(&mut row);
            worst = worst.max(begun.elapsed());
            assert!(row[usize::from(byte) / 32] >> (byte % 32) & 1 == 1, "byte {at} is masked");
        }
        assert!(guide.try_advance(u32::from(byte)), "byte {at} is refused");
    }
    worst
}

/// What a text costs must not grow faster than its length: one of four times the length takes less than ten times as
/// long. On a busy machine some tries say otherwise, so one that says so is enough.
fn grows_linearly(grammar: &str, text: impl Fn(usize) -> String, length: usize) {
    let time = |length: usize| {
        (0..3)
            .map(|_| {
                let (mut guide, text) = (guide(grammar), text(length));
                let begun = Instant::now();
                read(&mut guide, &text, 64);
                assert!(guide.is_accepting());
                begun.elapsed()
            })
            .min()
            .unwrap_or_default()
    };
    let mut tries = Vec::new();
    let is_linear = (0..5).any(|_| {
        let (short, long) = (time(length * 2), time(length * 8));
        tries.push((short, long));
        long < short * 10
    });
    assert!(is_linear, "{grammar:?}: {tries:?}");
}

#[test]
fn what_may_be_nothing_and_repeated() {
    for (grammar, text) in [
        (r#"start: ("a"*)*"#, "aaaa"),
        (r#"start: (("a"*)* "b"?)* "c""#, "aabac"),
        ("start: a\na: a | \"x\" |", "x"),
        ("start: a b c\na: b c | \"x\" |\nb: c a | \"y\" |\nc: a b | \"z\" |", "xyzzyx"),
        ("start: a\na: b |\nb: a | a a |", ""),
        ("start: a \"x\"\na: b |\nb: a a |", "x"),
    ] {
        for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
            let index = index(grammar, Some(lexer)).unwrap();
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            read(&mut guide, text, 1);
            assert!(guide.is_accepting(), "{grammar}");
        }
    }
}

#[test]
fn reported_hangs_of_other_engines() {
    // The longest match of A always takes the first letter of B, so nothing is accepted.
    let refused = index("start: A B\nA: /a+/\nB: /ab/", None).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unsatisfiable);
    let refused = index("start: \"<t>\" C \"</t>\"\nC: /.+/", None).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unsatisfiable);
    // With every segmentation they mean something.
    let index = index("start: A B\nA: /a+/\nB: /ab/", Some(Lexer::Any)).unwrap();
    let mut any = index.guide(&GuideOptions::default()).unwrap();
    assert_eq!(any.forced_bytes(), b"aa");
    read(&mut any, "aaab", 1);
    assert!(any.is_accepting() && any.must_stop());
    // The longest match is not lost where one byte does not tell.
    let mut longest = guide("start: (A|B|C)+\nA: /aaa/\nB: /a+b+z/\nC: /b+x/");
    read(&mut longest, "aaabbx", 1);
    assert!(longest.is_accepting());
}

#[test]
fn nesting_is_linear() {
    grows_linearly(r#"start: "(" start ")" | "x""#, |n| format!("{}x{}", "(".repeat(n), ")".repeat(n)), 3_000);
    grows_linearly(r#"start: "a" start | "b""#, |n| format!("{}b", "a".repeat(n)), 6_000);
    grows_linearly(
        "start: \"(\" start \")\" | \"x\"\n%ignore \" \"",
        |n| format!("{}x{}", "( ".repeat(n), " )".repeat(n)),
        2_000,
    );
}

#[test]
fn ambiguity_without_bound_is_linear_where_it_is_flattened() {
    grows_linearly(r#"start: start start | "a""#, |n| "a".repeat(n), 3_000);
    grows_linearly(r#"start: start start start | start start | "a""#, |n| "a".repeat(n), 3_000);
    grows_linearly(
        "start: e\ne: e \"+\" e | e \"*\" e | \"(\" e \")\" | N\nN: /[0-9]+/",
        |n| format!("{}4", "1+2*".repeat(n)),
        800,
    );
}

#[test]
fn nesting_in_a_rule_is_bounded() {
    for depth in [900, 100_000] {
        let text = format!("start: {}\"a\"{}", "(".repeat(depth), ")".repeat(depth));
        match index(&text, None) {
            Ok(index) => assert!(index.guide(&GuideOptions::default()).unwrap().advance_many(&[97]) == 1),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Limit),
        }
    }
}

#[test]
fn thousands_of_terminals_that_compete() {
    // Keywords that begin alike are not compared one by one: only those tell where one ends that go on with it.
    let words: Vec<String> = (0..4_990).map(|n| format!("\"w{n}x\"")).collect();
    let many = index(&format!("start: ({})+", words.join("|")), Some(Lexer::Contextual)).unwrap();
    let mut many = many.guide(&GuideOptions::default()).unwrap();
    read(&mut many, "w77xw4989x", 1);
    assert!(many.is_accepting());
    let mut longer = index(r#"start: ("w1" | "w12" | "w123")+"#, Some(Lexer::Contextual))
        .unwrap()
        .guide(&GuideOptions::default())
        .unwrap();
    read(&mut longer, "w12w123w1", 1);
    assert!(longer.is_accepting());
    // Patterns are.
    let patterns: Vec<String> = (0..2_000).map(|n| format!("T{n}: /w{n}x+/")).collect();
    let names: Vec<String> = (0..2_000).map(|n| format!("T{n}")).collect();
    let refused = index(&format!("start: ({})+\n{}", names.join("|"), patterns.join("\n")), Some(Lexer::Contextual));
    let refused = refused.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Limit);
    assert!(refused.message().contains("begin alike"), "{refused}");
}

#[test]
#[ignore = "10,000 literals are a LimitError: a grammar may have 5,000 terminals"]
fn many_alternatives_and_rules() {
    let words: Vec<String> = (0..10_000).map(|n| format!("\"w{n}x\"")).collect();
    let mut many = guide(&format!("start: ({})+", words.join("|")));
    read(&mut many, "w77xw9999x", 1);
    assert!(many.is_accepting());
    let rules: Vec<String> = (0..300).map(|n| format!("r{n}: r{}", n + 1)).collect();
    let mut units = guide(&format!("start: r0\n{}\nr300: \"a\" start | \"b\"", rules.join("\n")));
    read(&mut units, &format!("{}b", "a".repeat(500)), 50);
    assert!(units.is_accepting());
}

#[test]
fn repetitions_without_measure() {
    for (grammar, text) in [
        (r#"start: "a"~0..100000"#, "aaaa"),
        ("start: (\"a\" | b)~0..100000 \"c\"\nb: \"b\" b?", "abbac"),
        (r#"start: ("a"~0..1000)~0..1000"#, "aaaa"),
        (r#"start: ((((("a"~0..10)~0..10)~0..10)~0..10)~0..10)~0..10"#, "aaaa"),
    ] {
        match index(grammar, None) {
            Ok(index) => {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                read(&mut guide, text, 1);
                assert!(guide.is_accepting());
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Limit, "{grammar}"),
        }
    }
}

/// Rules that may be nothing and name each other in a circle are ambiguous in as many ways as there are places: tops of
/// one state that stand on different nodes were kept apart, and each byte took four times as long as the one before.
#[test]
fn circles_of_rules_that_may_be_nothing_do_not_explode() {
    let grammar = "start: a b c\na: b c | \"x\" |\nb: c a | \"y\" |\nc: a b | \"z\" |";
    let mut guide = guide(grammar);
    let begun = Instant::now();
    read(&mut guide, &"xyz".repeat(20), 7);
    assert!(guide.is_accepting());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Terminals that match the same texts: their states together are as many as there are subsets of them.
fn terminals_of_the_same_texts(count: usize) -> String {
    let each: Vec<String> = (0..count).map(|i| format!("/[ab]*a.{{{i}}}/ \"{i}\"")).collect();
    format!("start: {}", each.join(" | "))
}

#[test]
fn a_mask_beyond_its_bound_costs_its_guide_alone() {
    let text = terminals_of_the_same_texts(30);
    let options = GrammarOptions::default();
    let vocabulary = &vocabularies()[0].0;
    let limits = Limits { max_mask_steps: 1_000, ..Limits::default() };
    let index = Index::from_grammar(&text, vocabulary, &options, &limits).unwrap();
    let mut row = vec![u32::MAX; vocabulary.words()];
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    assert!(guide.fill_mask(&mut row), "something is masked: all");
    assert!(row.iter().all(|&word| word == 0));
    let error = guide.failure().expect("the guide failed").clone();
    assert_eq!((error.kind(), error.limit_field()), (ErrorKind::Limit, Some("max_mask_steps")));
    assert!(!guide.try_advance(97) && !guide.is_accepting() && guide.advance(97).is_err());
    guide.reset();
    assert!(guide.failure().is_none(), "it begins anew");

    let limits = Limits { max_scanner_bytes: 10_000, ..Limits::default() };
    let index = Index::from_grammar(&text, vocabulary, &options, &limits).unwrap();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    guide.fill_mask(&mut row);
    assert_eq!(guide.failure().and_then(|error| error.limit_field()), Some("max_scanner_bytes"));
}

/// What was found before a mask was given up is kept, and must be right: guides that each go a little further come to
/// the masks of an index without bounds.
#[test]
fn masks_that_were_given_up_leave_nothing_wrong() {
    let mut given_up = 0;
    for (text, path) in [
        (terminals_of_the_same_texts(7), "abbaa"),
        ("start: (A | B | \"(\" start \")\")+\nA: /[a-c]+/\nB: /[ab]*c[ab]*/\n%ignore \" \"".to_owned(), "((ab c)ca"),
        ("start: x\nx: \"a\" x \"b\" | /[^ab]{1,9}/ | x x".to_owned(), "aaxyzbxb"),
    ] {
        for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
            for (vocabulary, _) in vocabularies() {
                let options = GrammarOptions { lexer: Some(lexer), ..GrammarOptions::default() };
                let boundless = Limits { max_mask_steps: usize::MAX, ..Limits::default() };
                let whole = Index::from_grammar(&text, vocabulary, &options, &boundless).unwrap();
                let limits = Limits { max_mask_steps: 100, ..Limits::default() };
                let bounded = Index::from_grammar(&text, vocabulary, &options, &limits).unwrap();
                let mut whole = whole.guide(&GuideOptions::default()).unwrap();
                let (mut right, mut row) = (vec![0; vocabulary.words()], vec![0; vocabulary.words()]);
                for taken in 0..=path.len() {
                    whole.fill_mask(&mut right);
                    let made = (0..40).any(|_| {
                        let mut guide = bounded.guide(&GuideOptions::default()).unwrap();
                        let bytes = &path.as_bytes()[..taken];
                        let is_taken = bytes.iter().all(|&byte| guide.try_advance(u32::from(byte)));
                        assert!(is_taken || guide.failure().is_some(), "{text} {path} {taken}");
                        guide.fill_mask(&mut row);
                        given_up += usize::from(guide.failure().is_some());
                        guide.failure().is_none()
                    });
                    // A part that is kept whole or not at all may be larger than the bound.
                    assert!(!made || row == right, "{text:?} {lexer:?} behind {:?}", &path[..taken]);
                    if taken == path.len() || !whole.try_advance(u32::from(path.as_bytes()[taken])) {
                        break;
                    }
                }
            }
        }
    }
    assert!(given_up > 20, "{given_up} masks were given up");
}
