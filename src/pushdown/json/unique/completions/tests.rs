use super::*;
use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::json::string_escape::EscapeUse;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};
use crate::util::seeded_hash::SeededMap;

fn lexeme(pattern: &str, kind: LexemeKind) -> Lexeme {
    let mut x = Exprs::new(1 << 20);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    Lexeme::compile(&x, e, kind, reach, &Limits::default()).unwrap().expect("accepts something")
}

fn texts_left(pattern: &str, max: u32) -> (u64, usize) {
    let l = lexeme(pattern, LexemeKind::Text { min: 0, max, escapes: EscapeUse::Any });
    let mut memo = SeededMap::default();
    let n = count_texts(&l, 0, (l.next(l.start(), b'"'), 0), &mut memo);
    (n, memo.len())
}

#[test]
fn texts_are_counted_exactly_where_they_are_few() {
    assert_eq!(texts_left("a|ab|é|\n", 9).0, 4);
    assert_eq!(texts_left("[ab]*", 3).0, 15);
    assert_eq!(texts_left("[ab]*", 12).0, (1 << 13) - 1);
}

#[test]
fn more_texts_than_an_array_uses_up_are_not_counted() {
    let (n, looked_at) = texts_left("(?s).*[0-9].*", 19);
    assert_eq!(n, u64::MAX);
    assert!(looked_at < 100, "{looked_at} states and lengths");
}

fn decimals_left(pattern: &str, read: &str) -> u64 {
    let l = lexeme(pattern, LexemeKind::Raw);
    count_decimals(&l, read.bytes().fold(l.start(), |s, b| l.next(s, b)))
}

#[test]
fn decimals_with_different_values() {
    // Those that end in a zero are left out: behind a point they are others.
    assert_eq!(decimals_left("[1-9]|[1-9][0-9]|1[01][0-9]|120", ""), 9 + 81 + 18);
    assert_eq!(decimals_left("-?(0|[1-9][0-9]?)", "-"), 90);
    // What was read is a value itself.
    assert_eq!(decimals_left("[0-9]{1,3}", "12"), 1 + 9);
    assert_eq!(decimals_left(r"1\.[05]{1,2}", "1."), 1 + 2);
    assert_eq!(decimals_left("1(e5)?", "1"), 1);
    assert_eq!(decimals_left("true", ""), 0);
    assert!(decimals_left("[0-9]+", "") >= MOST_DECIMALS);
}

#[test]
fn texts_are_counted_as_they_are_listed() {
    // Beyond ASCII, with characters that must be escaped, and such as may be.
    for (pattern, bounds) in [
        ("a|ab|é|\n|/|\"x", None),
        ("[ab\"é]{0,3}", Some((1, 2))),
        ("(a|é|\u{1F600}|\n){0,2}", Some((0, 9))),
        ("日[a-c]{1,2}|日本|q\t", None),
    ] {
        let (min, max) = bounds.unwrap_or((0, crate::expr::INF));
        let l = lexeme(pattern, LexemeKind::Text { min, max, escapes: EscapeUse::Any });
        let inside = l.next(l.start(), b'"');
        let mut memo = SeededMap::default();
        let mut counted = |state: u32, count: u32| count_texts(&l, 0, (state, count), &mut memo);
        let whole = texts(&l, inside, 0);
        assert_eq!(counted(inside, 0), whole.len() as u64, "{pattern}");
        let distinct = |all: &CompletionList, before: &str| -> usize {
            let value = |rest: &[u8]| canonical(&[before.as_bytes(), rest].concat()).unwrap();
            all.iter().map(|rest| value(rest)).collect::<SeededSet<Box<[u8]>>>().len()
        };
        // In an escape, a text may be listed in two spellings.
        for begun in ["\\", "\\u", "\\u0", "\\u00", "\\u006", "\\u00e", "\\ud8", "\\ud83d\\u", "\\u65e"] {
            let state = begun.bytes().fold(inside, |s, b| if s > CLOSED { l.next(s, b) } else { DEAD_STATE });
            if state <= CLOSED || !l.live_at(l.state(state), 1) {
                continue;
            }
            let ways = l.after_escape(state).into_iter().filter(|way| l.live_at(l.state(way.0), 1));
            let n: u64 = ways.map(|(to, ways)| counted(to, 1) * ways).sum();
            assert_eq!(n, distinct(&texts(&l, state, 1), &format!("\"{begun}")) as u64, "{pattern} {begun}");
        }
    }
}

#[test]
fn long_texts_are_listed() {
    let texts_of = ["a", "b"].map(|c| c.repeat(20_000));
    let l = lexeme(&texts_of.join("|"), LexemeKind::text(EscapeUse::Any));
    let listed = texts(&l, l.next(l.start(), b'"'), 0);
    // The last way is gone first.
    let ended = [&texts_of[1], &texts_of[0]].map(|text| format!("{text}\""));
    assert!(listed.iter().map(|text| &**text).eq(ended.iter().map(|text| text.as_bytes())));
}
