//! Sources that are hard for automata answer in time, or refuse with a typed error; nothing hangs or overflows.

use crate::support::vocabulary;
use interlock::regex::{Dialect, RegexOptions};
use interlock::{ErrorKind, GuideOptions, Index, Limits};

#[test]
fn patterns_answer_or_refuse() {
    let v = vocabulary::small();
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let nested = |n: usize| "(".repeat(n) + "a" + &")".repeat(n);
    let rows = [
        ("[a-z]{1,5000}".to_string(), true),
        ("(a{1,30}){1,30}".into(), true),
        (r"(?=.*\d)(?=.*[a-z]).{8,64}".into(), true),
        (r"\w{1,64}".into(), true),
        ("(x+x+)+y".into(), true),
        (".*a.{14}".into(), true),
        // What people write for passwords, addresses and lines takes tens of milliseconds.
        (r"^(?=.*[A-Z])(?=.*[a-z])(?=.*\d)(?=.*[^\w\s]).{8,64}$".into(), true),
        (r"^(?=.*\W)(?=.*[A-Z]).{8,128}$".into(), true),
        (r"(?:(?!foo)\w+ ){1,100}".into(), true),
        (r"^(?!\s)(?!.*\s\s)[\w\s]{1,200}(?<!\s)$".into(), true),
        (r"(?!.*\.\.)(?=.{1,64}@)[\w.]{1,64}@\w{1,60}\.\w{2,10}".into(), true),
        (r"(?:\b\w+\b\W*){1,1500}".into(), true),
        ("(?=.*a.{18}b).*c.{18}".into(), false),
        (nested(900), true),
        (nested(100_000), false),
    ];
    for (p, answers) in rows {
        let name: String = p.chars().take(40).collect();
        match Index::from_regex(&p, &v, &options, &Limits::default()) {
            Err(e) => {
                assert!(!answers, "{name} is refused: {e}");
                assert_eq!(e.kind(), ErrorKind::Limit, "{name}");
            }
            Ok(index) => {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                for _ in 0..20 {
                    let allowed = guide.allowed_token_ids();
                    assert!(!allowed.is_empty(), "{name}");
                    if !guide.try_advance(allowed[allowed.len() / 2]) || guide.is_terminated() {
                        break;
                    }
                }
            }
        }
    }
}

/// States that are unions of as many parts as the pattern has are derived when it is compiled, where that may fail.
/// What is compiled has its first masks soon.
#[test]
fn patterns_whose_states_are_large_are_refused() {
    let v = vocabulary::small();
    let limits = Limits { max_expr_nodes: 200_000, max_compile_steps: 50_000, ..Limits::default() };
    let nested = |n: usize| "(?:".repeat(n) + "a" + &"{1,9}b?)".repeat(n);
    let rows = [
        ("a?b?".repeat(3_000), Dialect::Python, false),
        ("a*b*".repeat(3_000), Dialect::Python, false),
        ("(?:a|bc)?(?:b|cd)?".repeat(3_000), Dialect::Ecma, false),
        (nested(900), Dialect::Python, false),
        ("a?b?".repeat(100), Dialect::Python, true),
        ("(?:a?b?){3000}".into(), Dialect::Python, true),
        (nested(4), Dialect::Python, true),
        ("word|".repeat(10_000), Dialect::Ecma, true),
        (r"\w+@\w+\.".repeat(300), Dialect::Python, true),
    ];
    for (p, dialect, answers) in rows {
        let name: String = p.chars().take(40).collect();
        let options = RegexOptions { dialect, flags: String::new() };
        match Index::from_regex(&p, &v, &options, &limits) {
            Err(e) => {
                assert!(!answers, "{name} is refused: {e}");
                assert!(e.kind() == ErrorKind::Limit && e.limit_field().is_some(), "{name}: {e}");
            }
            Ok(index) => {
                assert!(answers, "{name} is compiled");
                assert!(!index.guide(&GuideOptions::default()).unwrap().allowed_token_ids().is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn ten_thousand_choices() {
    let list: Vec<String> = (0..10_000).map(|i: u32| format!("item-{:x}", i.wrapping_mul(2_654_435_761))).collect();
    let index = Index::from_choices(&list, &vocabulary::small(), &Limits::default()).unwrap();
    let v = index.vocabulary().clone();
    for choice in list.iter().step_by(997) {
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        for &b in choice.as_bytes() {
            let id = v.trie().child(0, b).map(|n| v.trie().tokens(n)[0]).unwrap();
            guide.advance(id).unwrap();
        }
        assert!(guide.is_accepting());
    }
}
