use super::*;
use crate::util::seeded_hash::SeededSet;

fn texts(suffixes: &[&str], tokens: &[&str]) -> KeyTexts {
    KeyTexts::new(suffixes.iter().map(|t| t.as_bytes()), tokens.iter().map(|t| t.as_bytes()))
}

#[test]
fn keys_are_read_off_suffixes_behind_commas() {
    let of = |suffix: &str| {
        let texts = texts(&[suffix], &[]);
        let read = |t: &KeyText| (String::from_utf8_lossy(&t.text).into_owned(), t.complete);
        (texts.behind_comma.iter().map(read).collect::<Vec<_>>(), texts.two_keys)
    };
    assert_eq!(of(",\"ab").0, [("ab".to_owned(), false)]);
    assert_eq!(of("}, \n\"ab\":1"), (vec![("ab".to_owned(), true)], false));
    assert!(of(":1,\"ab\"").1);
    assert!(!of(":1,\"ab").1);
    assert_eq!(of(",\"\"").0, [(String::new(), true)]);
    // Nothing is told by a key that has only begun, and none by a first key or what is no key.
    assert_eq!(of(",\"").0, []);
    assert_eq!(of(":{\"ab").0, []);
    assert_eq!(of(",\"\n").0, []);
    // An escaped quote ends nothing.
    assert_eq!(of(",\"a\\\"b").0, [("a\\\"b".to_owned(), false)]);
}

#[test]
fn tokens_spell_the_ends_of_keys_and_whole_ones() {
    let texts = texts(&[], &["ab\":1", "\\u0061b\"", " \"na\"", "x", "\"", "\\q\"", "c\\\"d\""]);
    let has = |set: &SeededSet<Box<[u8]>>, text: &str| set.contains(text.as_bytes());
    assert!(has(&texts.ends, "ab") && has(&texts.ends, "") && has(&texts.ends, "c\"d"));
    assert!(has(&texts.ends, " ") && !has(&texts.ends, "x") && !has(&texts.ends, "\\q"));
    assert!(has(&texts.whole, "na") && !has(&texts.whole, "ab") && !has(&texts.whole, ""));
}

#[test]
fn an_escape_may_be_the_beginning_of_many_keys() {
    let text = |text: &str, complete| KeyText { text: text.as_bytes().into(), complete };
    assert!(text("a\\u0062", true).may_be(b"ab") && text("a\\u0062", true).may_begin(b"ac"));
    assert!(text("ab", true).may_be(b"ab") && !text("ab", true).may_be(b"abc") && !text("ab", false).may_be(b"ab"));
    // Any key may begin with a backslash.
    assert!(!text("\\", false).may_begin(b"a"));
}
