use crate::lexeme::test_lexemes::lexeme;
use crate::lexeme::{CLOSED, Lexeme, LexemeKind};

/// Whether a text is one of the lexeme's, followed from its beginning.
fn accepts(lexeme: &Lexeme, text: &[u8]) -> bool {
    let state = text.iter().fold(lexeme.start(), |state, &byte| lexeme.next(state, byte));
    state > CLOSED && lexeme.state(state).accepting
}

/// All texts over some bytes up to a length.
fn texts(alphabet: &[u8], most: u32) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..most {
        last = last.iter().flat_map(|text| alphabet.iter().map(move |&byte| [&text[..], &[byte]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all
}

#[test]
fn bytes_at_ends_are_those_of_all_short_texts() {
    let alphabet = *b"abc<>\"";
    let all = texts(&alphabet, 5);
    for pattern in [
        "a",
        "abc",
        "a|bc|<a>",
        "[a-c]+",
        "(?:a|b)*c",
        "\"[^\"]*\"",
        "(?:(?!<a>)[\\s\\S])+",
        "<[a-c]{1,2}>",
        "a(?:bc)*",
        "(?!b)[ab]{2}c?",
    ] {
        let lexeme = lexeme(pattern, LexemeKind::Raw);
        let found = lexeme.bytes_around_ends(None);
        let texts: Vec<&Vec<u8>> = all.iter().filter(|text| !text.is_empty() && accepts(&lexeme, text)).collect();
        for &byte in &alphabet {
            let before = texts.iter().any(|text| text.last() == Some(&byte));
            assert_eq!(found.before[usize::from(byte)], before, "{pattern}: before, {}", byte as char);
            // The structure knows as much, but of complements and intersections.
            let said = lexeme.last_bytes()[usize::from(byte)];
            assert!(said == before || said && pattern.contains("?!"), "{pattern}: last, {}", byte as char);
            let behind = texts.iter().any(|text| !accepts(&lexeme, &[&text[..], &[byte]].concat()));
            assert_eq!(found.behind[usize::from(byte)], behind, "{pattern}: behind, {}", byte as char);
        }
    }
}

#[test]
fn a_border_ends_a_text_and_is_no_byte_of_it() {
    // What follows the text stands behind the border.
    let lexeme = lexeme("ab*\\x7F(?:cd)", LexemeKind::Raw);
    let found = lexeme.bytes_around_ends(Some(0x7F));
    let bytes = |all: &[bool; 256]| (0..=255u8).filter(|&byte| all[usize::from(byte)]).collect::<Vec<_>>();
    assert_eq!(bytes(&found.before), b"ab");
    assert!(!found.behind[usize::from(b'b')] && found.behind[usize::from(b'c')]);
}

#[test]
fn all_bytes_are_said_of_lexemes_of_many_states() {
    let found = lexeme("(?:[ab]{300}c|[bc]{299}a)", LexemeKind::Raw);
    assert!(found.bytes_around_ends(None).before.iter().chain(&found.bytes_around_ends(None).behind).all(|&byte| byte));
}
