use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

fn lasts(pattern: &str, read: &str) -> bool {
    let (limits, mut exprs) = (Limits::default(), Exprs::new(1 << 16));
    let options = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
    let expr = lower_full(&mut exprs, pattern, &options, &limits).expect("a pattern");
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let l = Lexeme::compile(&exprs, expr, LexemeKind::Raw, reach, &limits).expect("small").expect("not empty");
    let state = read.bytes().fold(l.start(), |s, b| l.next(s, b));
    (l.every_prefix_is_infinite(state), l.every_prefix_is_infinite(state)).0
}

#[test]
fn what_no_beginning_uses_up_lasts() {
    for pattern in ["^x-.*$", "^[a-z]+$", "^(ab|cd)+$", "^é+$"] {
        assert!(lasts(pattern, ""), "{pattern}");
    }
    assert!(lasts("^(a.*|bc)$", "a"));
}

#[test]
fn what_some_beginning_uses_up_does_not() {
    for pattern in ["^(a.*|bc)$", "^.{0,4}$", "^.{0,100}$", "^abc$", "^([a-z]+|1)$"] {
        assert!(!lasts(pattern, ""), "{pattern}");
    }
    assert!(!lasts("^(a.*|bc)$", "b"));
}
