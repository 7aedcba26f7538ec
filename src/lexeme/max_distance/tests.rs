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

#[test]
fn texts_but_a_few_words_are_not_searched_for_their_farthest_state() {
    let name = |i: usize| format!("{}{}", ["count", "colour", "é", "x-"][i % 4], i / 4);
    let names: Vec<String> = (0..200).map(name).collect();
    let letters: String = ('!'..='~').filter(|c| !"\"\\^-]".contains(*c)).collect();
    let most_texts = [
        "(?!(?:count|colour)$).*".to_owned(),
        format!("(?!(?:{})$)(?s:.)*", names.join("|")),
        "(?!x-)(?!(?:count|colour)$).*".to_owned(),
        "(?!(?:[a-z]|é|ü[0-9])$)(?s:.)*".to_owned(),
        // All characters of one byte are words, so that another one has to follow.
        format!("(?![ {letters}^\\]\"\\\\-]$)(?s:.)*"),
        "(?!a{3,5}$)[a-m]*".to_owned(),
    ];
    for pattern in &most_texts {
        for kind in [LexemeKind::Raw, LexemeKind::Text { min: 0, max: INF, escapes: EscapeUse::Any }] {
            let l = lexeme(pattern, kind);
            let expr = l.state(l.start()).expr;
            let told = farthest_end_of_most_texts(&l.lock().exprs, l.shared.any_text, expr, |byte| l.cost_of(byte));
            assert!(told.is_some_and(|told| told <= 9), "{pattern}: {told:?}");
            let most = l.distance_bound();
            for_each_state(&l, 2_000, 12, |state, n, end| {
                assert!(end.len() <= most as usize, "{pattern}: {state} after {n} needs {}, not {most}", end.len());
            });
        }
    }
    // Too many words for the characters that there are, and texts that go on in ways which are not counted.
    for pattern in ["(?!(?:[a-f]{2})$)[a-f]*", "(?!x[a-z]*$).*", "(?=.*a)(?!b$).*"] {
        let l = lexeme(pattern, LexemeKind::Raw);
        let expr = l.state(l.start()).expr;
        let told = farthest_end_of_most_texts(&l.lock().exprs, l.shared.any_text, expr, |byte| l.cost_of(byte));
        assert_eq!(told, None, "{pattern}");
    }
}
