use super::*;
use crate::expr::analysis::char_groups::special;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

fn lowered(pattern: &str) -> (Exprs, ExprId) {
    let mut x = Exprs::new(1 << 20);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    (x, e)
}

fn free_in(pattern: &str) -> Slice {
    let (x, e) = lowered(pattern);
    free(&x, &mut SliceTable::default(), &mut CharLengthTable::default(), false, e)
}

fn letters(more: &str) -> CharGroups {
    groups("abcdefghijklmnopqrstuvwxyz") | groups(more)
}

fn groups(bytes: &str) -> CharGroups {
    let group = |c: char| match special(c as u32) {
        0 => group_of(c.encode_utf8(&mut [0; 4]).as_bytes()[0]),
        special => special,
    };
    bytes.chars().fold(0, |all, c| all | group(c))
}

#[test]
fn what_is_free() {
    assert_eq!(free_in("[a-z]{1,5}"), Slice { groups: letters(""), len: 5 });
    assert_eq!(free_in("[a-z][a-z0-9]*x"), Slice { groups: letters(""), len: INF });
    assert_eq!(free_in("[a-z]{3}[a-z0-9]{4}"), Slice { groups: letters(""), len: 7 });
    assert_eq!(free_in("[ab]c"), Slice { groups: groups("ab"), len: 1 });
    // Each copy may be any number of letters up to its own count, and what is optional behind it may be left out.
    assert_eq!(free_in("([a-z]{1,9}-?){1,5}"), Slice { groups: letters(""), len: 45 });
    assert_eq!(free_in("([a-z]{1,9}-?){4}x"), Slice { groups: letters(""), len: 36 });
    assert_eq!(free_in("(x?[a-z]{0,3})*"), Slice { groups: letters(""), len: INF });
    assert_eq!(free_in("([a-z]{2,9}-?){1,5}").len, 9);
    assert_eq!(free_in("([a-f]{1,2}|[d-z]{1,9}){3}").len, 3);
    // Hardly a token is a single letter.
    assert_eq!(free_in("abc"), Slice::NONE);
    // Not the whole of a group.
    assert_eq!(free_in("[a-cà]+"), Slice { groups: groups("abc"), len: INF });
    assert_eq!(free_in("[à-â]+"), Slice::NONE);
    assert_eq!(free_in("(%[0-9][0-9]|[x-z]|é)*/"), Slice { groups: groups("xyz"), len: INF });
    assert_eq!(free_in(r"(?s:.*)[a-f0-9]{24}(?s:.*)"), Slice::OPEN);
    assert_eq!(free_in(r"x?(?s:.*)y"), Slice::OPEN);
    assert_eq!(free_in("(?s:.{7})").len, 7);
    let line = free_in(".*a.{14}");
    assert_eq!((line.groups, line.len), (ALL & !groups("\n"), INF));
    // Spaces are apart from what has their first bytes.
    let word = free_in(r"(\S+\s+){0,99}\S+");
    assert_eq!(word.groups & groups("a9-\"\\é世’、"), groups("a9-\"\\é世’、"));
    assert_eq!(word.groups & groups(" \t\u{A0}\u{3000}\u{2003}"), 0);
}

#[test]
fn encoded_strings_keep_escapes_apart() {
    let open = Slice::OPEN;
    assert!(open.encoded(true).is_open());
    assert!(!open.encoded(false).is_open());
    let line = free_in(".*").encoded(true);
    assert_eq!(line.groups & groups("\"\\"), 0);
    assert!(line.covers(groups("az09 ~\u{1}\n"), 1_000));
    assert_eq!(Slice { groups: groups("\""), len: 1 }.encoded(true).groups, 0);
}

#[test]
fn intersections() {
    let (mut x, plain) = lowered("(?s:.*)");
    let names = x.choice(&["one", "two"]);
    let rest = x.minus(plain, names);
    let mut memo = SliceTable::default();
    let mut table = CharLengthTable::default();
    assert_eq!(free(&x, &mut memo, &mut table, false, rest), Slice::OPEN);
    // Of finitely many texts, finitely many others are not left for sure.
    let few = x.any_char();
    let few = x.rep(few, 0, 3);
    let rest = x.minus(few, names);
    assert_eq!(free(&x, &mut memo, &mut table, false, rest), Slice::NONE);
    // What all members of the complemented contain is not free, and the rest is.
    let mut taken = |pattern: &str, all_live| {
        let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
        let q = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
        let rest = x.minus(plain, q);
        free(&x, &mut memo, &mut table, all_live, rest)
    };
    assert_eq!(taken("a(?s:.*)", true), Slice { groups: ALL & !groups("a"), len: INF });
    assert_eq!(taken("(?s:.*)(github|bucket)(?s:.*)", true), Slice { groups: ALL & !groups("b"), len: INF });
    assert_eq!(taken("x-(?s:.*)|(?s:.*)[.]json", true), Slice { groups: ALL & !groups("-."), len: INF });
    assert_eq!(taken("(?s:.*)[a-f](?s:.*)", true), Slice::NONE);
    // What no member contains is never gone.
    assert_eq!(taken(".*", true), Slice::OPEN);
    assert_eq!(taken("[^/]*|.*-(?s:.*)", true), Slice { groups: ALL & !groups("-"), len: INF });
    assert_eq!(taken("[^/]*|.*/(?s:.*)", true), Slice::NONE);
    assert_eq!(taken("(?s:.*)", true), Slice::NONE);
}

#[test]
fn what_is_contained_can_follow() {
    let of = |patterns: &[&str], without: &str| {
        let mut x = Exprs::new(1 << 20);
        let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
        let lower = |x: &mut Exprs, p: &str| lower_full(x, p, &options, &Limits::default()).unwrap();
        let mut parts: Vec<ExprId> = patterns.iter().map(|p| lower(&mut x, p)).collect();
        if !without.is_empty() {
            let q = lower(&mut x, without);
            parts.push(x.not(q));
        }
        let e = x.and(&parts);
        free(&x, &mut SliceTable::default(), &mut CharLengthTable::default(), false, e)
    };
    let (a, b) = ("(?s:.*)a(?s:.*)", "(?s:.*)[0-9]b(?s:.*)");
    assert_eq!(of(&[a, b], ""), Slice::OPEN);
    assert_eq!(of(&[a, b], "(?s:.*)az(?s:.*)"), Slice { groups: ALL & !groups("z"), len: INF });
    // Every byte that could be left out is needed.
    assert_eq!(of(&[a, b], "(?s:.*)ab(?s:.*)"), Slice::NONE);
    assert_eq!(of(&["[0-9]*", a], ""), Slice::NONE);
    assert_eq!(of(&["[0-9a]*", a], ""), Slice { groups: groups("0123456789a"), len: INF });
}
