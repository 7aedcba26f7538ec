use rustc_hash::FxHashSet;

use super::*;
use crate::lexeme::DEAD_STATE;
use crate::lexeme::test_lexemes::lexeme;

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
        let lexeme = lexeme(pattern, LexemeKind::Raw);
        let found = lexeme.ending_bytes();
        let mut states = vec![lexeme.start()];
        let mut seen: FxHashSet<_> = states.iter().copied().collect();
        while let Some(state) = states.pop() {
            let end = shortest_end(&lexeme, state, 0).expect("every state is live");
            assert!(end.iter().all(|&byte| found[usize::from(byte)]), "{pattern}: {end:?}");
            states.extend((0..=255).map(|b| lexeme.next(state, b)).filter(|&to| to != DEAD_STATE && seen.insert(to)));
        }
        let is_rare = |b: u8| b != b'\n' && !(0x20..0xC0).contains(&b);
        assert_eq!((0..=255u8).any(|b| found[usize::from(b)] && is_rare(b)), rare, "{pattern}");
    }
}
