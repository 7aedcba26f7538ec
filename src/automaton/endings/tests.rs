use super::*;
use crate::automaton::saturate::Reach;
use crate::frontend::regex::{Dialect, RegexOptions, lower_full};
use crate::ir::Exprs;
use crate::limits::Limits;

fn lexeme(pattern: &str, kind: LexemeKind) -> Lexeme {
    let mut x = Exprs::new(1 << 20);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    let reach = Reach { digits: 8, word: 8, any: 8 };
    Lexeme::compile(&x, e, kind, reach, &Limits::default()).unwrap().expect("accepts something")
}

fn texts_left(pattern: &str, max: u32) -> (u64, usize) {
    let l = lexeme(pattern, LexemeKind::Text { min: 0, max });
    let mut memo = SeededMap::default();
    let n = count_texts(&l, 0, (l.next(l.start(), b'"'), 0, false), &mut memo, 0);
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
