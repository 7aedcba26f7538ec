//! Patterns with lazy repetitions and look-around as terminals, against a backtracking engine: what a search finds at
//! the beginning of a text is the longest text of the terminal there.

use interlock::Limits;
use interlock::expr::Exprs;
use interlock::regex::{RegexOptions, lower_symbol};

/// All texts over these letters, up to a length.
fn texts(letters: &str, longest: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for i in from..to {
            all.extend(letters.chars().map(|c| format!("{}{c}", all[i])).collect::<Vec<_>>());
        }
        from = to;
    }
    all
}

#[test]
fn the_longest_text_is_what_a_search_finds() {
    let patterns = [
        "a*?b",
        "a+?",
        "a*?b+",
        "(a|ab)(c|bcd|b)*?c",
        "(ab|a)*?b*",
        "a??b?c*?",
        "(a*?b|c)+?a*",
        "(a|b)*?(ab|b)c?",
        "(?:a{1,3}?b){1,2}?c?",
        "(a*)*?b",
        "a(?!b).*?c",
        "a.*?(?<!b)c",
        "(a|b)*?(?=c)",
        "a.*?b(?!c)",
        "a.*?\\b",
        "(?:a(?=b)|ab)*?c?",
        "a*?(?:b(?!b)|c)a?",
        "c.*?$",
    ];
    let texts = texts("abc", 6);
    for pattern in patterns {
        let mut x = Exprs::new(1_000_000);
        let found = lower_symbol(&mut x, pattern, &RegexOptions::default(), true, &Limits::default());
        let found = found.unwrap_or_else(|e| panic!("{pattern}: {e}"));
        let search = fancy_regex::Regex::new(&format!("^(?:{pattern})")).expect("it is a pattern");
        for text in &texts {
            let expected = search.find(text).expect("it is short").map(|m| m.end());
            let longest = (0..=text.len()).rev().find(|&end| {
                let (text, rest) = text.as_bytes().split_at(end);
                x.accepts(found.texts, text)
                    && found.context.is_none_or(|context| x.accepts(context, &[text, b"\xff", rest].concat()))
            });
            assert_eq!(longest, expected, "{pattern:?} on {text:?}");
        }
    }
}

#[test]
fn texts_are_those_that_something_may_follow() {
    let limits = Limits::default();
    for (pattern, has_context) in
        [("a(?=b)", true), ("ab?(?!b)", true), ("(?=a)[ab]+", false), ("[ab]+\\b", true), ("a(?=a)a", false)]
    {
        let mut x = Exprs::new(1_000_000);
        let found = lower_symbol(&mut x, pattern, &RegexOptions::default(), true, &limits).expect("it is a pattern");
        assert_eq!(found.context.is_some(), has_context, "{pattern}");
        let Some(context) = found.context else { continue };
        for text in texts("ab", 4) {
            let follows = texts("ab", 3);
            let some =
                follows.iter().any(|rest| x.accepts(context, &[text.as_bytes(), b"\xff", rest.as_bytes()].concat()));
            assert_eq!(x.accepts(found.texts, text.as_bytes()), some, "{pattern:?} on {text:?}");
        }
    }
}
