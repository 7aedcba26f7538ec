//! Masks that pass subtrees of the vocabulary by are exact. The vocabulary has all short strings over an alphabet with
//! escapes, spaces beyond ASCII and characters of several bytes, so that its trie is deep everywhere; patterns and
//! schemas let classes, counts and intersections decide what passes.

use crate::support::check::{Plan, Sources, walk_all};
use interlock::{Vocabulary, VocabularyOptions};
use std::sync::Arc;

fn deep() -> Arc<Vocabulary> {
    const ALPHABET: [&str; 13] = ["a", "b", "f", "Z", "0", "/", "-", " ", "\"", "\\", "é", "\u{2028}", "世"];
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let mut last: Vec<String> = vec![String::new()];
    for _ in 0..3 {
        last = last.iter().flat_map(|s| ALPHABET.iter().map(move |c| format!("{s}{c}"))).collect();
        tokens.extend(last.iter().filter(|s| s.len() > 1).map(|s| s.as_bytes().to_vec()));
    }
    for more in
        ["aaaaaaaaaaaa", "abababababab", "a a a a a a a", "\u{3000}a\u{A0}b", "a\u{FEFF}", "ab\n", "\\u00e9a", "\\nab"]
    {
        tokens.push(more.as_bytes().to_vec());
    }
    // Characters that are broken off, and none.
    for more in [&b"a\xE2"[..], b"a\xE2\x80", b"\x80a", b"\xA8a", b"a\xE4\xB8", b"ab\xFF", b"a\xC3", b"\xE2a"] {
        tokens.push(more.to_vec());
    }
    let stop = tokens.len() as u32;
    tokens.push(Vec::new());
    let options = VocabularyOptions { eos_token_ids: vec![stop], ..Default::default() };
    Vocabulary::new(tokens, options).unwrap()
}

const PATTERNS: [&str; 14] = [
    r".*a.{3}",
    r"[ab]{1,60}0",
    r"([^/]+/)*b?",
    r"\S+(\s+\S+){0,30}",
    r"(?s:.*)ab/(?s:.*)",
    r"(?=.*a)(?=.*0).{2,9}",
    r"(?!(?s:.*)ab)(?s:.*)",
    r"(?!.*(a/|b-)).+0",
    r"[a-f]{2,7}(-[a-f0-9]{4}){3}",
    r"(a{1,3}b{1,3}){1,3}",
    r"(/[0-9]|[abé])*Z",
    r"[^ ]{12}|.* Z",
    r"\w{1,64}",
    r"(?s:.){3,5}",
];

const SCHEMAS: [&str; 17] = [
    r#"{"type":"string","pattern":"[a-f0-9]{6}"}"#,
    r#"{"type":"string","pattern":"a/b","maxLength":9}"#,
    r#"{"type":"string","pattern":"^(\\S+\\s+){0,29}\\S+$","minLength":3}"#,
    r#"{"type":"string","pattern":"^.*$"}"#,
    r#"{"type":"string","pattern":"^[^/]+(/[^/]+)*$","maxLength":12}"#,
    r#"{"type":"string","not":{"pattern":"ab|-Z"}}"#,
    r#"{"type":"string","not":{"pattern":"^a.+$"}}"#,
    r#"{"type":"string","allOf":[{"pattern":"a"},{"pattern":"0"},{"pattern":"/"}]}"#,
    r#"{"type":"string","allOf":[{"pattern":"ab"},{"not":{"pattern":"/-"}},{"not":{"enum":["ab","abZ"]}}]}"#,
    r#"{"type":"string","allOf":[{"pattern":"^[ab/]*$"},{"pattern":"-|a/b"}]}"#,
    r#"{"type":"object","patternProperties":{"a":{"type":"null"},"b":{"type":"null"}},"additionalProperties":{"const":0}}"#,
    r#"{"type":"object","patternProperties":{".*":{"const":"ab"}},"properties":{"b":{"const":"f"}},"maxProperties":2}"#,
    r#"{"type":"object","propertyNames":{"pattern":"^[a-f]{1,20}$"},"additionalProperties":{"maxLength":4,"type":"string"}}"#,
    r#"{"type":"array","maxItems":2,"items":{"anyOf":[{"type":"string","pattern":"^[ab]{1,40}$"},{"type":"string","pattern":"Z$"}]}}"#,
    r#"{"type":"object","patternProperties":{".*":{"maxLength":2},"ab":{"type":"string"},"/-":{"const":"a"}},"maxProperties":2}"#,
    r#"{"type":"array","maxItems":2,"items":{"type":"string","anyOf":[{"pattern":"Z","maxLength":6},{"pattern":"ab/"},{"pattern":"^a+$"}]}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"string","anyOf":[{"pattern":"ab"},{"enum":["a","Z"]}]}}"#,
];

#[test]
fn every_bit_is_what_stepping_says() {
    let plan = Plan { tokens: 10, every: 1, probes: 2 };
    let sources = Sources { patterns: (&PATTERNS, 5), schemas: (&SCHEMAS, 5) };
    walk_all(&deep(), plan, sources, 600);
}
