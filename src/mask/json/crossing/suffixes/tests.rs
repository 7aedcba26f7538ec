use super::*;
use crate::vocab::VocabularyOptions;

const DOCUMENTS: [&str; 6] = [
    r#"{"a":[1,-2.5e+3,{"b":"","c\"":null}],"d":{},"e":[],"f":"x"}"#,
    "[true,\n false , null,\t[[ ],{ }]\r\n]",
    r#"{ "k" : "v\\" , "" : { "n":[ { "m" : 0.1 } ] } }"#,
    "\"only\"",
    "[\"\\u00e9\",\"é\",[\"a\",[]],-0]",
    "{\n  \"x\": [\n    {}\n  ],\n  \"y\": 1E5\n}",
];

/// Where values and keys end, and where structure begins.
fn places(text: &str) -> Vec<usize> {
    let (mut out, mut inside, mut escaped) = (Vec::new(), false, false);
    for (i, b) in text.bytes().enumerate() {
        if inside {
            if b == b'"' && !escaped {
                inside = false;
                out.push(i + 1);
            }
            escaped = b == b'\\' && !escaped;
        } else if b == b'"' {
            inside = true;
        } else if b"{}[],:".contains(&b) {
            out.push(i);
        }
    }
    out
}

#[test]
fn whatever_a_document_contains_is_plausible() {
    for text in DOCUMENTS {
        for from in places(text) {
            for to in from..=text.len() {
                let suffix = &text.as_bytes()[from..to];
                assert!(plausible(suffix), "{:?}", String::from_utf8_lossy(suffix));
            }
        }
    }
}

#[test]
fn what_no_document_contains_is_left_out() {
    let never = [",]", "}{", "::", ":}", "[,", "{1", "{[", ",\"\n", "];", "})", "[]{", "[tx", ",\"a\":\"b\"\"", "x"];
    for suffix in never {
        assert!(!plausible(suffix.as_bytes()), "{suffix:?}");
    }
}

#[test]
fn the_suffixes_of_a_vocabulary_are_those_of_its_tokens() {
    let tokens: [&[u8]; 9] = [b"a", b"\"", b"x\",", b"1}", b" },\n", b"\"};", b"\":[", b"  ", b"\"]);"];
    let options = VocabularyOptions { eos_token_ids: vec![0], ..Default::default() };
    let v = Vocabulary::new(tokens, options).unwrap();
    let suffixes = SuffixTrie::from_vocabulary(&v).unwrap();
    let all: Vec<String> = (0..suffixes.trie.len() as u32)
        .filter(|&n| !suffixes.trie.tokens(n).is_empty())
        .map(|n| String::from_utf8(suffixes.spelled(n)).unwrap())
        .collect();
    assert_eq!(all, ["", ",", ":[", "}", "},\n"]);
    let ids = |cross: &Option<Arc<CrossingTokens>>| {
        let mut ids: Vec<u32> = cross.iter().flat_map(|c| c.crossings.iter().map(|c| c.token)).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&suffixes.behind), [4]);
    assert_eq!(ids(&suffixes.closing), [1, 6]);
    let quoted: u32 = suffixes.quoted.iter().map(|p| p.1.count_ones()).sum();
    assert_eq!(quoted, 4);
}
