use super::*;
use crate::expr::INF;
use crate::json::string_escape::EscapeUse;
use crate::lexeme::shortest_end::shortest_end;
use crate::lexeme::test_lexemes::lexeme;

/// Calls with the states of a text, the characters read, and the shortest end: of fewer than about `most` states,
/// behind fewer than `chars` characters.
fn for_each_state(l: &Lexeme, most: usize, chars: u32, mut look: impl FnMut(StateId, u32, &[u8])) {
    let mut states = vec![(l.start(), 0)];
    let mut at = 0;
    while at < states.len() && states.len() < most {
        let (s, n) = states[at];
        look(s, n, &shortest_end(l, s, n).expect("every state is live"));
        for b in 0..=255u8 {
            let next = l.next(s, b);
            let m = n + l.starts_char(l.state(s), b) as u32;
            if next > CLOSED && l.live_at(l.state(next), m) && !states.contains(&(next, m)) && m < chars {
                states.push((next, m));
            }
        }
        at += 1;
    }
}

#[test]
fn a_turn_that_lengthens_the_way_is_seen() {
    assert_eq!(farthest(&lexeme("a|b[c]{50}", LexemeKind::Raw)), Some(50));
    assert_eq!(farthest(&lexeme("[a-z]+", LexemeKind::Raw)), Some(1));
    assert_eq!(farthest(&lexeme("x{7}", LexemeKind::Raw)), Some(7));
    // Of many states the structure tells a bound.
    assert!((200..=201).contains(&lexeme("a|b[c]{200}", LexemeKind::Raw).distance_bound()));
    assert_eq!(lexeme("[a-z]+", LexemeKind::Raw).distance_bound(), 1);
    assert_eq!(lexeme("(?:é|b)*", LexemeKind::Raw).distance_bound(), 1);
}

#[test]
fn no_state_is_farther_than_that() {
    for (pattern, min, max) in [("(?s).*", 0, INF), ("(?s).*", 3, 9), ("(a{7,8})*", 10, 40), ("é|ab{9}", 0, INF)] {
        let l = lexeme(pattern, LexemeKind::Text { min, max, escapes: EscapeUse::Any });
        let most = u64::from(l.distance_bound());
        // Nothing is said of many states between two bounds.
        let is_known = !l.is_bounded() || l.is_any_text() || min < 10;
        assert!(most < 400 || !is_known, "{pattern}: {most}");
        assert!(farthest(&l).is_none_or(|found| u64::from(found) <= most), "{pattern}: {most}");
        for_each_state(&l, 3_000, 60, |s, n, end| {
            assert!(end.len() as u64 <= most, "{pattern}: {s} after {n} needs {}, not {most}", end.len());
        });
    }
}

#[test]
fn whatever_was_begun_is_completed_by_the_completing_bytes() {
    let parts = ["é", "ab", ".", "[^<>]", "[é-ü]", "(?:é|abc)", "(?:é|a)", "\"", "[\"é]", "\\\\"];
    let mut patterns: Vec<String> = Vec::new();
    for a in parts {
        patterns.extend(["{}", "{}*", "{}{2,5}", "(?:{}x)?"].map(|shape| shape.replace("{}", a)));
        for b in parts {
            patterns.extend([format!("{a}+{b}*"), format!("(?:{a}|x{b}){{1,3}}"), format!("{a}{{0,3}}(?:{b}|y)*")]);
        }
    }
    let mut free = 0;
    for pattern in patterns {
        for max in [INF, 4] {
            let l = lexeme(&pattern, LexemeKind::Text { min: 0, max, escapes: EscapeUse::Any });
            let (completing, most) = (l.completing_bytes(), l.distance_bound());
            free += usize::from(!completing[0xC3] && l.used_bytes()[0xC3]);
            for_each_state(&l, 400, 8, |_, n, end| {
                assert!(end.len() <= most as usize, "{pattern} of at most {max}: {} bytes, not {most}", end.len());
                let odd = end.iter().find(|&&byte| byte >= 0x80 && !completing[usize::from(byte)]);
                assert_eq!(odd, None, "{pattern} of at most {max}: {n} characters, then {end:?}");
            });
        }
    }
    assert!(free > 200, "{free}");
}
