use super::*;
use crate::json::string_escape::EscapeUse;
use crate::lexeme::test_lexemes::lexeme;

const PATTERNS: &[&str] = &[
    "abc|abd|ab|b{3}|a?",
    "(?:.*a.{5}.*){3}x",
    "(?:b|a){2,4}(?:c|dd)?e",
    "[m-z]{3}|[a-c]{3}|[0-9]{4}",
    "(?:(?:zz|yx){2}|aaaa|wwwww)[^a-z]",
    "é|[^\\x00-\\x7f]{2}",
    "(?:\"|x\"|ab)+c",
    "(?:(?:a{3}b?){2,9}c?){2,4}|z{20}",
    "[a-z]{2,5}[A-Z]?|",
];

/// Calls with states and numbers of characters before them.
fn for_each_place(l: &Lexeme, mut look: impl FnMut(QueueEntry)) {
    let mut places = vec![(l.start(), 0)];
    let mut at = 0;
    while let Some(&place) = places.get(at).filter(|_| at < 400) {
        look(place);
        for byte in preferred() {
            let next = after(l, place.0, place.1, byte).filter(|next| next.0 != CLOSED);
            places.extend(next.filter(|next| !places.contains(next)));
        }
        at += 1;
    }
}

/// The way that a search over all states finds, which is the first of the shortest in the order of its bytes.
#[test]
fn the_structure_of_a_pattern_tells_what_a_search_finds() {
    let mut told = 0;
    for pattern in PATTERNS {
        let l = lexeme(pattern, LexemeKind::Raw);
        for_each_place(&l, |place| {
            let least = l.least_bytes(place.0, place.1);
            if least == 0 {
                return;
            }
            let found = search_states(&l, place, least, MAX_SEARCHED, SearchOrder::ByBound).way.expect("a way");
            let way = by_structure(&l, place, least).expect("the structure tells all of these");
            assert_eq!((way.len(), &way), (least as usize, &found), "{pattern}");
            told += 1;
        });
    }
    assert!(told > 500, "{told}");
}

#[test]
fn a_string_is_told_where_no_escape_is_needed_and_its_bounds_allow_it() {
    let (mut told, mut not_told) = (0, 0);
    for pattern in PATTERNS {
        for (min, max) in [(0, INF), (0, 20), (4, INF), (3, 24)] {
            let expr = lexeme(&format!("(?:{pattern})[a-z]*"), LexemeKind::Text { min, max, escapes: EscapeUse::Any });
            for_each_place(&expr, |place| {
                let least = expr.least_bytes(place.0, place.1);
                let Some(way) = by_structure(&expr, place, least) else {
                    not_told += 1;
                    return;
                };
                told += 1;
                let found = search_states(&expr, place, least, MAX_SEARCHED, SearchOrder::ByBound).way.expect("a way");
                assert_eq!(way.len(), found.len(), "{pattern} {min} {max}");
                let ends = way.iter().try_fold(place, |at, &byte| after(&expr, at.0, at.1, byte));
                assert_eq!(ends.map(|end| end.0), Some(CLOSED), "{pattern} {min} {max}");
            });
        }
    }
    assert!(told > 1000 && not_told > 100, "{told} {not_told}");
}

/// The shortest text has 40,000 bytes, and states on the way to it are unions of 400 parts.
#[test]
fn a_long_way_needs_no_states() {
    let l = lexeme("(?:.*a.{400}.*){100}x", LexemeKind::Raw);
    let states = l.num_states();
    let way = shortest_end(&l, l.start(), 0).expect("a way");
    assert_eq!((way.len(), l.num_states()), (40_101, states));
}

#[test]
fn members_of_least_length_are_all_there_are() {
    let cases = [("[ab]{3}[01]|[a-c]{6}", 16), ("x[0-9]{2}y|zzzzz", 100), ("a?b?", 1), ("[0-9a-f]{2}-[0-9]", 2560)];
    for (pattern, all) in cases {
        for kind in [LexemeKind::Raw, LexemeKind::Text { min: 0, max: INF, escapes: EscapeUse::Any }] {
            let l = lexeme(pattern, kind);
            let members = members_of_least_length(&l, 5000);
            let mut different = members.clone();
            different.sort_unstable();
            different.dedup();
            assert_eq!((members.len(), different.len()), (all, all), "{pattern}");
            assert_eq!(members_of_least_length(&l, 7)[..], members[..all.min(7)]);
            for member in &members {
                assert_eq!(member.len(), l.least_bytes(l.start(), 0) as usize);
                let place = member.iter().try_fold((l.start(), 0), |(state, count), &b| after(&l, state, count, b));
                let (state, _) = place.expect("a way");
                assert!(state == CLOSED || l.state(state).accepting, "{pattern}");
            }
        }
    }
    // UUIDs are too long for a list that is made breadth first.
    let uuid = lexeme("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", LexemeKind::Raw);
    let members = members_of_least_length(&uuid, 300);
    assert_eq!(members.len(), 300);
    assert_eq!(members[..2], [b"00000000-0000-0000-0000-000000000000", b"00000000-0000-0000-0000-000000000001"]);
    assert!(shortest_members(&uuid, uuid.start(), 0, 300).is_empty());
}
