//! Pieces and merges against what the published algorithms give by hand.

use std::sync::Arc;

use super::*;
use crate::vocab::VocabularyOptions;

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Bytes, then `ab`, `abc`, `bc` and an added `<x>`.
fn vocabulary(change: impl FnOnce(&mut ModelParts)) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(["ab", "abc", "bc", "<x>", ""].map(|t| t.as_bytes().to_vec()));
    let options =
        VocabularyOptions { eos_token_ids: vec![260], special_token_ids: vec![259], ..VocabularyOptions::default() };
    let mut parts = ModelParts {
        pattern: LLAMA3.into(),
        whole: true,
        ids: (0..259).collect(),
        added: vec![259],
        ..ModelParts::default()
    };
    change(&mut parts);
    Vocabulary::new(tokens, options).unwrap().with_model(&parts)
}

fn pieces(v: &Vocabulary, text: &str) -> Vec<usize> {
    v.model().unwrap().pieces(text.as_bytes(), NextText::Any).ends
}

#[test]
fn merges_by_rank_and_by_pair() {
    let all = |v: &Vocabulary, text: &str| v.model().unwrap().encode(text.as_bytes(), &[text.len()]).0;
    assert_eq!(all(&vocabulary(|_| ()), "abc"), [257]);
    assert_eq!(all(&vocabulary(|_| ()), "abcbc"), [257, 258]);
    // "bc" comes first here, and no merge makes "abc" of "a" and "bc".
    let pairs = vec![[98, 99, 258], [97, 98, 256], [256, 99, 257]];
    let v = vocabulary(|r| (r.merges, r.whole) = (Some(pairs.clone()), false));
    assert_eq!(all(&v, "abc"), [97, 258]);
    assert_eq!(all(&vocabulary(|r| r.merges = Some(pairs)), "abc"), [257]);
}

#[test]
fn only_pieces_that_nothing_can_change_are_certain() {
    let v = vocabulary(|_| ());
    assert_eq!(pieces(&v, "ab cd"), [2]);
    assert_eq!(pieces(&v, "ab  "), [2]);
    assert_eq!(pieces(&v, ".\n "), [] as [usize; 0]);
    assert_eq!(pieces(&v, "ab"), [] as [usize; 0]);
    assert_eq!(pieces(&v, "ab  c"), [2, 3]);
    assert_eq!(pieces(&v, "12345"), [3]);
    assert_eq!(pieces(&v, "\"a\""), [2]);
    // 'l may become 'll.
    assert_eq!(pieces(&v, "a 'l"), [1, 3]);
    assert_eq!(pieces(&v, "a.'l"), [1, 3]);
    assert_eq!(pieces(&v, "'la.b"), [3]);
    assert_eq!(v.model().unwrap().pieces(b"ab  ", NextText::Nothing).ends, [2, 4]);
    assert_eq!(v.model().unwrap().pieces(b"ab \xc3", NextText::Any), Cut { ends: vec![2], known: false });
    // An added token may begin at the sign.
    assert_eq!(pieces(&v, "a.<"), [1]);
    assert_eq!(pieces(&v, "a b<x>c d"), [1]);
    assert_eq!(pieces(&v, "a b<y>c d"), [1, 3, 5, 7]);
}

#[test]
fn words_of_two_halves_wait_for_the_end_of_the_run() {
    let v = vocabulary(|r| r.pattern = O200K.into());
    assert_eq!(pieces(&v, "ªB"), [] as [usize; 0]);
    assert_eq!(pieces(&v, "ªB.."), [2, 3]);
    assert_eq!(pieces(&v, "it'l"), [] as [usize; 0]);
    assert_eq!(pieces(&v, "it'lx."), [2, 5]);
}

#[test]
fn normal_form_and_new_characters_end_what_is_known() {
    let v = vocabulary(|r| r.nfc = true);
    assert_eq!(pieces(&v, "a=="), [1]);
    assert_eq!(pieces(&v, "a b="), [1]);
    let ascii = |text: &str| v.model().unwrap().pieces(text.as_bytes(), NextText::Ascii);
    assert_eq!(ascii("a b="), Cut { ends: vec![1, 3], known: true });
    assert_eq!(pieces(&v, "a b é c"), [1, 3, 6]);
    assert_eq!(pieces(&v, "a b e\u{301} c"), [1, 3]);
    assert_eq!(pieces(&v, "a b. é"), [1, 3, 4]);
    assert_eq!(ascii("a b. é"), Cut { ends: vec![1, 3, 4], known: true });
    // U+1E900 is a letter since Unicode 9, U+10D4A since Unicode 16.
    assert_eq!(pieces(&vocabulary(|_| ()), "a \u{1e900}. b"), [1, 6, 7]);
    assert_eq!(pieces(&vocabulary(|_| ()), "a .\u{10d4a}. b"), [1]);
    assert!(vocabulary(|r| r.pattern = r"\w+|\W".into()).model().is_none());
    assert!(vocabulary(|r| r.ids.push(260)).model().is_none());
}

#[test]
fn open_pieces_shrink_where_a_pattern_gives_back() {
    let shrinks = |v: &Vocabulary, text: &str| v.model().unwrap().may_shrink(text.as_bytes());
    let v = vocabulary(|_| ());
    for (text, expected) in [
        (" ", false),
        ("  ", true),
        ("\":", false),
        (" ab", false),
        ("'", false),
        ("'l", true),
        (".\n", false),
        (".\n ", true),
    ] {
        assert_eq!(shrinks(&v, text), expected, "{text:?}");
    }
    let v = vocabulary(|r| r.pattern = O200K.into());
    for (text, expected) in [("ab", false), ("it'", true), ("ªB", true), ("\":", false)] {
        assert_eq!(shrinks(&v, text), expected, "{text:?}");
    }
}

#[test]
fn digits_stand_alone_where_a_step_before_takes_them_out() {
    let gpt2 = crate::vocab::tokenizer::pretokenize::GPT2;
    let single = vocabulary(|parts| parts.pattern = format!("\\p{{N}}\0{gpt2}"));
    assert_eq!(pieces(&single, "ab12 c"), [2, 3, 4]);
    // The space before a digit is a piece, and blanks before it are cut as at the end of a text.
    assert_eq!(pieces(&single, "a  1b "), [1, 3, 4, 5]);
    // Whether more digits follow does not matter, but whether a mark does is not asked.
    assert_eq!(pieces(&single, "a1"), [1]);
    let runs = vocabulary(|parts| parts.pattern = format!("\\p{{N}}+\0{gpt2}"));
    assert_eq!(pieces(&runs, "ab12 c"), [2, 4]);
    assert_eq!(pieces(&runs, "ab12"), [2]);
}
