use super::*;

fn options(eos: &[u32], special: &[u32], size: Option<usize>) -> VocabularyOptions {
    VocabularyOptions { eos_token_ids: eos.to_vec(), special_token_ids: special.to_vec(), size }
}

const TOKENS: [&str; 7] = ["a", "<eos>", "", "ab", "<user>", "a", "\u{e9}"];

fn sample() -> Arc<Vocabulary> {
    Vocabulary::new(TOKENS, options(&[1, 8], &[4], Some(33))).unwrap()
}

#[test]
fn widths_and_bytes() {
    let v = sample();
    assert_eq!((v.len(), v.size(), v.words(), v.max_token_len()), (7, 33, 2, 6));
    assert_eq!((v.eos_token_ids(), v.special_token_ids()), (&[1, 8][..], &[4][..]));
    assert_eq!(v.token_bytes(4), Some(&b"<user>"[..]));
    assert_eq!(v.token_bytes(2), Some(&b""[..]));
    assert_eq!(v.token_bytes(7), None);
    assert_eq!(v.token_bytes(u32::MAX), None);
    assert_eq!(v.spelling(6), Some("\u{e9}".as_bytes()));
    assert!([1, 2, 4, 8, 32].iter().all(|&id| v.spelling(id).is_none()));
}

#[test]
fn the_trie_holds_exactly_the_spellings() {
    let v = sample();
    let mut ids = v.trie().subtree_tokens(0).to_vec();
    ids.sort_unstable();
    assert_eq!(ids, [0, 3, 5, 6]);
    let node = v.trie().find(0, b"a").unwrap();
    assert_eq!(v.trie().tokens(node), [0, 5]);
    assert_eq!(v.trie().find(0, b"<"), None);
}

#[test]
fn decode_skips_special_ids_and_refuses_strangers() {
    let v = sample();
    assert_eq!(v.decode(&[0, 4, 3, 2, 1, 32]).unwrap(), b"aab");
    assert_eq!(v.decode(&[33]).unwrap_err().kind(), ErrorKind::Vocabulary);
}

#[test]
fn unusable_vocabularies_are_errors() {
    let none: [&[u8]; 0] = [];
    let long = vec![0u8; 65_536];
    let cases = [
        (Vocabulary::new(none, options(&[0], &[], None)), "empty"),
        (Vocabulary::new(["a"], options(&[], &[], None)), "no stop token"),
        (Vocabulary::new(["a"], options(&[1], &[], None)), "eos_token_ids: id 1"),
        (Vocabulary::new(["a"], options(&[0], &[7], None)), "special_token_ids: id 7"),
        (Vocabulary::new(["a", "b"], options(&[0], &[], Some(1))), "smaller"),
        (Vocabulary::new(["a"], options(&[0], &[], Some(usize::MAX))), "larger"),
        (Vocabulary::new([long.as_slice()], options(&[0], &[], None)), "65536 bytes"),
    ];
    for (result, part) in cases {
        let e = result.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Vocabulary);
        assert!(e.message().contains(part), "{e}");
    }
}

#[test]
fn the_fingerprint_sees_everything_but_order() {
    let same = Vocabulary::new(TOKENS, options(&[8, 1, 8], &[4, 4], Some(33))).unwrap();
    assert_eq!(sample().fingerprint(), same.fingerprint());
    assert_ne!(sample().id(), same.id());
    let mut moved = TOKENS;
    moved[0] = "aa";
    let mut split = TOKENS;
    (split[2], split[3]) = ("a", "b");
    let others = [
        Vocabulary::new(moved, options(&[1, 8], &[4], Some(33))),
        Vocabulary::new(split, options(&[1, 8], &[4], Some(33))),
        Vocabulary::new(TOKENS, options(&[1], &[4], Some(33))),
        Vocabulary::new(TOKENS, options(&[1, 8], &[], Some(33))),
        Vocabulary::new(TOKENS, options(&[1, 4], &[8], Some(33))),
        Vocabulary::new(TOKENS, options(&[1, 8], &[4], Some(34))),
    ];
    let prints: std::collections::BTreeSet<_> = others.into_iter().map(|v| v.unwrap().fingerprint()).collect();
    assert_eq!(prints.len(), 6);
    assert!(!prints.contains(&same.fingerprint()));
}
