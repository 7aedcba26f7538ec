//! Masks near a bound against stepping every token.

use super::*;
use crate::index::{Index, IndexEngine};
use crate::limits::Limits;
use crate::mask::trie_kind::TrieKind;
use crate::schema::SchemaOptions;
use crate::vocab::VocabularyOptions;

/// So many tokens that most masks are rows.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let letters = "abcdefnmxy-AZ019 @/._é日";
    for a in letters.chars() {
        tokens.extend(letters.chars().map(|b| format!("{a}{b}").into_bytes()));
        tokens.extend("a-0 é".chars().map(|b| format!("{b}{a}b{a}").into_bytes()));
    }
    let more = [
        "admin",
        "adm",
        "min",
        "dmin\"",
        "n\"",
        "\\n",
        "a\\n",
        "\\u00",
        "\\u0041b",
        "41",
        "\\\"",
        "abcdefghij",
        "\"",
        "--",
        "a--b",
        "0123456789",
        "   ",
        "https://",
        "\"}",
        "ab\"",
        "é日é日",
        "x@y",
        "\\ud83d\\ude00",
        "\\ud83d",
    ];
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
    tokens.extend(["😀".as_bytes()[2..].to_vec(), "a日".as_bytes()[..3].to_vec(), b"</s>".to_vec()]);
    tokens.sort();
    tokens.dedup();
    let eos = tokens.iter().position(|t| t == b"</s>").unwrap() as u32;
    Vocabulary::new(tokens, VocabularyOptions { eos_token_ids: vec![eos], ..Default::default() }).unwrap()
}

/// Where a token leads by steps: its text stays inside, or it closes the text, or neither.
fn by_steps(l: &Lexeme, state: StateId, count: u32, bytes: &[u8]) -> (bool, bool) {
    let mut now = (state, count);
    for &b in bytes {
        let from = l.state(now.0);
        let to = l.next(now.0, b);
        if to == CLOSED {
            return (false, l.may_close(now.1));
        }
        now = (to, now.1 + u32::from(l.starts_char(from, b)));
        if to < CLOSED || !l.live_at(l.state(to), now.1) {
            return (false, false);
        }
    }
    (true, false)
}

/// The tokens that stay inside, where they are a row without a bound, in each way that a mask near a bound is found.
fn ways(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    count: u32,
) -> [Option<TokenSet>; 3] {
    let l = &*lexeme.lexeme;
    let far = tables.far_mask(vocabulary, lexeme, l.mask_state(state));
    let TokenSet::Dense(row) = &far.inner else { return Default::default() };
    let (room, _) = l.room_and_need(count);
    let fits = |t: u32| fits(l, state, count, vocabulary.token_bytes(t).unwrap());
    let needs = tables.find_pending_lengths(vocabulary, lexeme, state);
    [
        tables.fitting_by_length((vocabulary, l.kind()), row, (room, l.most_later()), fits),
        needs.map(|needs| tables.fitting((vocabulary, l.kind()), row, &needs, room)),
        by_short_walk(tables, vocabulary.trie(), l, state, Some(count), u32::MAX),
    ]
}

#[test]
fn masks_near_a_bound_are_those_of_steps() {
    let vocabulary = vocabulary();
    let tables = VocabTables::for_vocabulary(&vocabulary).unwrap();
    let patterns = [
        ("[0-9a-f]", 0, 12),
        ("[a-z]", 3, 20),
        ("^[a-z0-9]+$", 1, 20),
        ("^[A-Z][a-z]+$", 2, 12),
        (r"^\S+$", 1, 9),
        (r"^\S(.*\S)?$", 1, 14),
        ("^[^<>-]*$", 0, 7),
        ("^[a-zA-Z0-9_-]{1,13}$", 0, 11),
        ("^[a-zA-Z0-9_-]{1,13}$", 2, 40),
        ("^(?!.*--)[a-z-]+$", 3, 24),
        ("^https?://", 0, 19),
        (".*@.*", 5, 13),
        ("admin", 0, 15),
        ("[A-Z].*[0-9]|[0-9].*[A-Z]", 8, 16),
        ("^(ab|cde)*$", 1, 10),
        ("^[^a]{3}(b{2}|.{5,7})$", 0, 9),
        ("é|日本", 0, 5),
        ("^(.{4})*$", 2, 11),
    ];
    let (mut rows, mut lists, mut all) = (0, 0, 0);
    let mut taken = [0; 3];
    for (pattern, min, max) in patterns {
        let schema = serde_json::json!({"type": "string", "pattern": pattern, "minLength": min, "maxLength": max});
        let index =
            Index::from_json_schema(&schema.to_string(), &vocabulary, &SchemaOptions::default(), &Limits::default());
        let index = index.unwrap();
        let IndexEngine::Document { lexemes, .. } = &index.0.engine else { panic!("a document") };
        // Some bounds become part of the expression.
        let Some(text) = lexemes.iter().find(|l| l.lexeme.is_bounded()) else {
            println!("none in {pattern}");
            continue;
        };
        let l = &*text.lexeme;
        let (mut states, mut at) = (vec![l.start()], 0);
        while let Some(&state) = states.get(at)
            && states.len() < 60
        {
            at += 1;
            for byte in 0..=255 {
                let to = l.next(state, byte);
                if to > CLOSED && !states.contains(&to) {
                    states.push(to);
                }
            }
        }
        for &state in &states {
            for count in (0..=max).filter(|&c| (c == 0 || state != l.start()) && l.live_at(l.state(state), c)) {
                let near = tables.near_bound(&vocabulary, text, state, count);
                if let Some(near) = &near {
                    let rowed = matches!(near.inner, TokenSet::Dense(_));
                    rows += usize::from(rowed);
                    lists += usize::from(!rowed);
                }
                all += 1;
                let mask = tables.submask(&vocabulary, text, state, count, TrieKind::Tokens, 0);
                let (mut inner, mut closing) = (Vec::new(), Vec::new());
                for t in 0..vocabulary.size() as u32 {
                    let bytes = vocabulary.token_bytes(t).filter(|_| !vocabulary.eos_token_ids().contains(&t));
                    let Some(bytes) = bytes else { continue };
                    let (stays, closes) = by_steps(l, state, count, bytes);
                    inner.extend(stays.then_some(t));
                    // What follows the quote here is no end of a string in any document.
                    let delimited = |at: usize| matches!(bytes.get(at + 1), None | Some(b'}'));
                    closing
                        .extend((closes && bytes.iter().rposition(|&b| b == b'"').is_some_and(delimited)).then_some(t));
                }
                let masked = mask.inner.tokens();
                let differs = (0..vocabulary.size() as u32).find(|t| masked.contains(t) != inner.contains(t));
                assert_eq!(differs, None, "{pattern} in {min} to {max}: state {state} after {count}");
                if near.is_some() {
                    for (way, found) in ways(&tables, &vocabulary, text, state, count).into_iter().enumerate() {
                        let Some(found) = found else { continue };
                        assert_eq!(
                            found.tokens(),
                            inner,
                            "{pattern} in {min} to {max}: way {way}, {state} after {count}"
                        );
                        taken[way] += 1;
                    }
                }
                let crossings = mask.cross.iter().flat_map(|cross| cross.crossings.iter());
                let mut found: Vec<u32> = crossings.filter(|c| l.may_close(count + c.chars)).map(|c| c.token).collect();
                found.sort_unstable();
                assert_eq!(found, closing, "{pattern} in {min} to {max}: ends of state {state} after {count}");
            }
        }
    }
    assert!(taken.iter().all(|&n| n > 100), "{taken:?}");
    assert!(rows > 200 && lists > 200 && rows + lists < all, "{rows} rows and {lists} lists of {all}");
}
