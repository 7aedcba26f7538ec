use super::*;
use crate::vocab::VocabularyOptions;

#[test]
fn plain_subtrees_are_whole_characters_without_marks() {
    let texts: &[&[u8]] =
        &[b"", b"a", b"ab", b"ac\"", b"b", b"bcd", "\u{e4}x".as_bytes(), b"\xc3", b"\xa4", b"\xa4z", b"c", b"c\xe2"];
    let options = VocabularyOptions { eos_token_ids: vec![0], ..VocabularyOptions::default() };
    let vocabulary = Vocabulary::new(texts, options).unwrap();
    let marked = StructuralTokens::from_vocabulary(&vocabulary);
    let trie = vocabulary.trie();
    let node = |text: &[u8]| text.iter().fold(0, |n, &b| trie.child(n, b).unwrap());
    for (text, plain) in [
        (&b""[..], false),
        (b"a", false),
        (b"ab", true),
        (b"b", true),
        (b"bc", true),
        (b"c", false),
        (b"\xc3", false),
        (b"\xc3\xa4", true),
        (b"\xa4", false),
        (b"\xa4z", false),
    ] {
        assert_eq!(marked.is_plain_below(node(text)), plain, "{text:?}");
    }
    let listed = marked.text.as_ref().unwrap().whole.subtree_tokens(0);
    let mut listed = listed.to_vec();
    listed.sort_unstable();
    assert_eq!(listed, [3, 7, 8, 9, 11]);
}

#[test]
fn colons_behind_keys_are_those_behind_quotes_or_at_the_beginning() {
    for (token, colons) in [
        (&b""[..], 0),
        (b":", 1),
        (b" : ", 1),
        (b"::::", 1),
        (b"\": ", 1),
        (b"a\" \n: {\"b\":1,\"c", 2),
        (b"a:b", 0),
        (b"\":\":\":", 3),
        (b"\"x:", 0),
    ] {
        assert_eq!(key_colons(token), colons, "{token:?}");
    }
}
