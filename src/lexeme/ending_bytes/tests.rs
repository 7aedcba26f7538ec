use rustc_hash::FxHashSet;

use super::*;
use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::lexeme::DEAD;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

fn lexeme(pattern: &str) -> Lexeme {
    let limits = Limits::default();
    let mut exprs = Exprs::new(limits.max_expr_nodes);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let expr = lower_full(&mut exprs, pattern, &options, &limits).expect("the pattern is fine");
    let reach = TokenReach { digits: 3, word: 8, any: 16 };
    Lexeme::compile(&exprs, expr, LexemeKind::Raw, reach, &limits).expect("within limits").expect("accepts something")
}

#[test]
fn no_shortest_end_has_another_byte() {
    for (pattern, rare) in [
        (".{0,30}", false),
        ("[^<]{5,300}", false),
        ("(?!.*<tool>)[^é]*x", false),
        ("(?:(?!</?a>)[\\s\\S])+", false),
        ("\\x04|abc", true),
        // Both are two bytes, and letters are tried first.
        ("x(?:é|ab)", false),
        ("x(?:é|abc)", true),
        ("x(?:é|a)*[\\x13\\x14]", true),
        ("(?!a)(?:\\x06|bcd)", true),
        // Not known: a search need not find the shortest end of an intersection.
        ("(?=.*\\d)(?=.*[a-f])[^\\x00]{3,9}", true),
    ] {
        let lexeme = lexeme(pattern);
        let found = lexeme.ending_bytes();
        let mut states = vec![lexeme.start()];
        let mut seen: FxHashSet<_> = states.iter().copied().collect();
        while let Some(state) = states.pop() {
            let end = shortest_end(&lexeme, state, 0).expect("every state is live");
            assert!(end.iter().all(|&byte| found[usize::from(byte)]), "{pattern}: {end:?}");
            states.extend((0..=255).map(|b| lexeme.next(state, b)).filter(|&to| to != DEAD && seen.insert(to)));
        }
        let is_rare = |b: u8| b != b'\n' && !(0x20..0xC0).contains(&b);
        assert_eq!((0..=255u8).any(|b| found[usize::from(b)] && is_rare(b)), rare, "{pattern}");
    }
}
