use super::*;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::json::string_escape::EscapeUse;
use crate::limits::Limits;

const TEXTS: &[&str] = &["ab", "abc", "b", "a/", "a\"b\\", "a\n", "a\u{7f}x", "qa", "p", ""];

/// Every way to write a character by an escape.
fn escapes(c: char, kept: EscapeUse) -> Vec<String> {
    let plain = !kept.is_any();
    let short = match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '/' if !plain => "\\/",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => "",
    };
    let beyond = if kept == EscapeUse::Needed { ' '..=char::MAX } else { ' '..='~' };
    let digits = !plain || (short.is_empty() && !beyond.contains(&c));
    let lower = format!("\\u{:04x}", c as u32);
    let upper = format!("\\u{:04X}", c as u32);
    let mut out: Vec<String> = if digits { vec![lower] } else { Vec::new() };
    if !plain {
        out.push(upper);
    }
    out.extend(Some(short.to_string()).filter(|short| !short.is_empty()));
    out
}

#[test]
fn escapes_are_counted_by_what_they_may_become() {
    let mut exprs = Exprs::new(1 << 16);
    let expr = exprs.choice(TEXTS);
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let mut counted = 0;
    for kept in [EscapeUse::Any, EscapeUse::Writers, EscapeUse::Needed] {
        let kind = LexemeKind::text(kept);
        let l = Lexeme::compile(&exprs, expr, kind, reach, &Limits::default()).expect("small").expect("not empty");
        let after = |s: StateId, bytes: &str| bytes.bytes().fold(s, |s, b| l.next(s, b));
        assert_eq!(l.num_spelled(l.start()), None);
        let inside = l.next(l.start(), b'"');
        assert_eq!(l.num_spelled(inside), None);
        // Behind nothing, and behind the character that most of them begin with.
        for read in ["", "a"] {
            let here = after(inside, read);
            let rests: Vec<&str> = TEXTS.iter().filter_map(|t| t.strip_prefix(read)).collect();
            let first = |rest: &&str| rest.chars().next().map(|c| escapes(c, kept)).unwrap_or_default();
            let ways: Vec<String> = rests.iter().flat_map(first).collect();
            for way in &ways {
                for begun in 1..way.len() {
                    let state = after(here, &way[..begun]);
                    assert!(state > CLOSED, "{way} {begun}");
                    let spelled =
                        |rest: &&str| first(rest).iter().any(|w| w.len() > begun && w.starts_with(&way[..begun]));
                    let expected: Vec<&str> = rests.iter().copied().filter(|rest| spelled(rest)).collect();
                    assert_eq!(l.num_spelled(state), Some(expected.len() as u64), "{read} {way} {begun}");
                    for rest in &rests {
                        assert_eq!(l.spells(state, rest.as_bytes()), expected.contains(rest), "{read} {way} {rest}");
                    }
                    counted += 1;
                }
            }
        }
    }
    assert!(counted > 50);
}

#[test]
fn a_text_that_is_read_to_its_only_end_can_only_be_closed() {
    let mut exprs = Exprs::new(1 << 16);
    let expr = exprs.choice(TEXTS);
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    for kind in [EscapeUse::Any, EscapeUse::Writers, EscapeUse::Needed].map(LexemeKind::text) {
        let l = Lexeme::compile(&exprs, expr, kind, reach, &Limits::default()).expect("small").expect("not empty");
        let closes = |text: &str| l.only_closes(text.bytes().fold(l.start(), |s, b| l.next(s, b)));
        for whole in ["\"abc", "\"b", "\"a/", "\"a\\\"b\\\\", "\"a\\n"] {
            assert!(closes(whole), "{whole}");
        }
        for other in ["", "\"", "\"a", "\"ab", "\"a\\", "\"abc\"", "\"z"] {
            assert!(!closes(other), "{other}");
        }
    }
    let bounded = LexemeKind::Text { min: 2, max: 3, escapes: EscapeUse::Any };
    let l = Lexeme::compile(&exprs, expr, bounded, reach, &Limits::default()).expect("small").expect("not empty");
    assert!(!l.only_closes("\"abc".bytes().fold(l.start(), |s, b| l.next(s, b))));
}

#[test]
fn what_follows_a_listed_character_need_not_be_listed() {
    let mut exprs = Exprs::new(1 << 16);
    let expr = exprs.choice(&["aé", "ab", "a", "0"]);
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let kind = LexemeKind::text(EscapeUse::Any);
    let l = Lexeme::compile(&exprs, expr, kind, reach, &Limits::default()).expect("small").expect("not empty");
    let begun = "\"\\u006".bytes().fold(l.start(), |s, b| l.next(s, b));
    assert_eq!(l.num_spelled(begun), Some(3));
    let spelled = |text: &str| l.spells(begun, text.as_bytes());
    assert_eq!(["aé", "ab", "a", "0", "é", "abc"].map(spelled), [true, true, true, false, false, false]);
}
