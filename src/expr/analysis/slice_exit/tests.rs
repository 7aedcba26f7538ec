use super::*;
use crate::expr::analysis::char_groups::{ALL, WIDE_SPACES, special};
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

fn lowered(x: &mut Exprs, pattern: &str) -> ExprId {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    lower_full(x, pattern, &options, &Limits::default()).unwrap()
}

fn exit_groups(pattern: &str, set: &str) -> CharGroups {
    let mut x = Exprs::new(1 << 20);
    let e = lowered(&mut x, pattern);
    beyond(&x, &mut SliceExitTable::default(), e, groups(set)).0
}

/// How long a string over a set may be with which a member begins.
fn run(pattern: &str, set: &str) -> u32 {
    let mut x = Exprs::new(1 << 20);
    let e = lowered(&mut x, pattern);
    beyond(&x, &mut SliceExitTable::default(), e, groups(set)).1
}

fn groups(bytes: &str) -> CharGroups {
    bytes.bytes().fold(0, |all, b| all | group_of(b))
}

#[test]
fn what_follows_is_read_off_the_expression() {
    assert_eq!(exit_groups("[a-c]+:[0-9]", "abc"), groups("abc:"));
    assert_eq!(exit_groups("[a-c]*:[0-9]", "abc:"), groups("abc:0123456789"));
    assert_eq!(exit_groups("(a|bd|cx)*", "ab"), groups("abcd"));
    assert_eq!(exit_groups("[ab]{2,7}(-x)?", "ab"), groups("ab-"));
    assert_eq!(exit_groups("(?=[a-f]*0)[e-z0]+", "ef"), groups("ef0"));
    assert_eq!(exit_groups("aé", "a"), groups("aÃ"));
    assert_eq!(exit_groups("a\u{A0}b", "a"), groups("a") | group_of(0xC2) | WIDE_SPACES);
    assert_eq!(exit_groups("(?!.*ab)[a-d]*", "cd") & ALL, groups("abcd"));
    // What begins a number counts as a letter, which most that begins so is.
    assert_eq!(exit_groups("a\u{661}", "a"), groups("a") | group_of(0xD9) | special(0x661));
}

#[test]
fn how_long_a_string_over_a_set_may_be() {
    assert_eq!(run("[a-c]{2,8}-[0-9]", "abc"), 8);
    assert_eq!(run("[a-c]{2,8}-[ab]", "abc-"), 10);
    assert_eq!(run("[a-c]{2,8}(-[ab])?", "a"), 8);
    assert_eq!(run("([a-c]x?){3}z", "abc"), 3);
    assert_eq!(run("([a-c]x?){3}z", "abcx"), 6);
    assert_eq!(run("(ab|c)*x|abab", "abc"), INF);
    assert_eq!(run("(xb|cx)*x|abab", "abc"), 4);
    assert_eq!(run("(a?x)*", "a"), 1);
    assert_eq!(run("[aé]{5}", "aÃ"), 5);
    assert_eq!(run("(?=[ab]{4}x)[a-f]*x", "abcdef"), 4);
    assert_eq!(run("x", "abc"), 0);
}

#[test]
fn a_table_that_was_asked_before_answers_the_same() {
    let mut x = Exprs::new(1 << 20);
    let members = [
        (r"[a-c]{2,8}-\w+", "abcab-xyz"),
        (r"(?=[a-f]*0)[e-z0]+", "efef0gyz"),
        (r"(\w{1,9}\s?){1,9}", "ab cde fgh"),
        (r"(?:\d{1,5}\.){0,3}\d{1,5}", "12.345.6"),
    ];
    let mut table = SliceExitTable::default();
    let mut asked = 0;
    for set in [ALL, groups("abc"), groups("0123456789")] {
        for (pattern, member) in members {
            let mut at = lowered(&mut x, pattern);
            for &b in member.as_bytes() {
                let fresh = beyond(&x, &mut SliceExitTable::default(), at, set);
                assert_eq!(beyond(&x, &mut table, at, set), fresh, "{pattern} {set:x}");
                asked += u32::from(at != Exprs::NEVER);
                at = x.derive(at, b);
            }
        }
    }
    assert_eq!(asked, 3 * (9 + 8 + 10 + 8));
}
