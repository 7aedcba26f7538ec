//! Vocabularies that lack tokens of single bytes: never a dead end, for patterns nothing else is lost either.
//!
//! The oracle is the same source over a vocabulary of all bytes: it says which bytes may follow, and a search over
//! sequences of the small vocabulary's tokens says what they can complete.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{Enforcement, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

fn vocabulary<T: AsRef<[u8]>>(tokens: &[T]) -> Arc<Vocabulary> {
    let eos = tokens.len() as u32;
    let tokens: Vec<&[u8]> = tokens.iter().map(|t| t.as_ref()).chain([&b""[..]]).collect();
    let options = VocabularyOptions { eos_token_ids: vec![eos], ..Default::default() };
    Vocabulary::new(tokens, options).expect("a small vocabulary")
}

fn bytes() -> Arc<Vocabulary> {
    vocabulary(&(0..=255u8).map(|b| vec![b]).collect::<Vec<_>>())
}

fn regex(pattern: &str, vocabulary: &Arc<Vocabulary>, limits: &Limits) -> interlock::Result<Index> {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(pattern, vocabulary, &options, limits)
}

fn start(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).expect("the vocabulary's own stop token")
}

/// Whether at most `depth` tokens complete what `oracle` has read.
fn completes(oracle: &mut Guide, tokens: &[&[u8]], depth: usize) -> bool {
    if oracle.is_accepting() {
        return true;
    }
    depth > 0
        && tokens.iter().any(|t| {
            let ids: Vec<u32> = t.iter().map(|&b| b.into()).collect();
            let taken = oracle.advance_many(&ids);
            let good = taken == ids.len() && completes(oracle, tokens, depth - 1);
            oracle.rollback(taken).expect("just taken");
            good
        })
}

/// Compares masks, steps and the end with the oracle after every sequence of `depth` tokens; `more` tokens must be
/// enough to complete any of them. Returns how many positions there were.
fn compare(guide: &mut Guide, oracle: &mut Guide, tokens: &[&[u8]], depth: usize, more: usize) -> usize {
    assert_eq!(guide.is_accepting(), oracle.is_accepting());
    let mut expected = Vec::new();
    let mut positions = 1;
    for (id, t) in (0u32..).zip(tokens) {
        let ids: Vec<u32> = t.iter().map(|&b| b.into()).collect();
        let taken = oracle.advance_many(&ids);
        let allowed = taken == ids.len() && completes(oracle, tokens, more);
        assert_eq!(guide.try_advance(id), allowed, "{:?} after {:?}", t, guide.tokens());
        if allowed {
            expected.push(id);
            if depth > 0 {
                positions += compare(guide, oracle, tokens, depth - 1, more);
            }
            guide.rollback(1).expect("just taken");
        } else {
            assert!(!guide.explain(id).ends_with("is allowed"), "{}", guide.explain(id));
        }
        oracle.rollback(taken).expect("just taken");
    }
    if guide.is_accepting() {
        expected.push(tokens.len() as u32);
    }
    assert_eq!(guide.allowed_token_ids(), expected, "after {:?}", guide.tokens());
    assert!(!expected.is_empty(), "a dead end after {:?}", guide.tokens());
    assert_eq!(guide.must_stop(), expected == [tokens.len() as u32]);
    positions
}

#[test]
fn patterns_keep_exactly_what_can_be_completed() {
    let cases: &[(&str, &[&str])] = &[
        ("abc", &["ab", "abc", "c"]),
        ("abcab", &["ab", "abc", "bc", "a"]),
        ("(ab)*c", &["ab", "abc", "aba", "b"]),
        ("(foo|bar)*", &["foo", "bar", "foob", "ar", "ba", "barfo", "o"]),
        ("(foo|bar){2,3}", &["foo", "bar", "foob", "ar", "ba"]),
        ("(aa)*", &["aaa"]),
        ("(aa)*", &["aaa", "aaaaa"]),
        ("a{5}", &["aa", "aaa"]),
        ("a{7}", &["aaa", "aa"]),
        ("a{3,8}b?", &["aa", "aaab", "aaaa"]),
        ("a{4,9}", &["aaaa", "aaaaa"]),
        ("[ab]*abb", &["ab", "ba", "bb", "abb"]),
        ("(ab|ba)*", &["ab", "ba", "abb", "aab"]),
        (".*x", &["ax", "ay", "aé", "é", "éx"]),
        ("é+", &["é", "éé", "\u{e8}"]),
        ("(?!foo)[a-z]{3,6}", &["foo", "bar", "ba", "rf", "oof"]),
        ("x*", &["ab", "abc"]),
    ];
    for (pattern, texts) in cases {
        let tokens: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        let index = regex(pattern, &vocabulary(&tokens), &Limits::default()).expect(pattern);
        let oracle = regex(pattern, &bytes(), &Limits::default()).expect(pattern);
        let n = compare(&mut start(&index), &mut start(&oracle), &tokens, 4, 6);
        assert!(n > 1 || *pattern == "x*", "{pattern}");
    }
}

#[test]
fn characters_can_be_split_between_tokens() {
    // U+00E9 is C3 A9, U+00E8 is C3 A8; the second byte of the latter exists only together with what follows.
    let tokens: &[&[u8]] = &[b"\xC3", b"\xA9", b"\xA8x", b"a", b"a\xC3"];
    for pattern in ["[éè]+", "é*è?", "(éa|èx){1,3}", "a*èé", ".*èx"] {
        let index = regex(pattern, &vocabulary(tokens), &Limits::default());
        let oracle = regex(pattern, &bytes(), &Limits::default()).expect(pattern);
        match index {
            Ok(index) => {
                compare(&mut start(&index), &mut start(&oracle), tokens, 4, 7);
            }
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
                assert!(!completes(&mut start(&oracle), tokens, 7), "{pattern}");
            }
        }
    }
}

#[test]
fn what_cannot_be_spelled_is_unsatisfiable() {
    let cases: &[(&str, &[&str])] = &[
        ("abc", &["ab", "bc"]),
        ("a{5}", &["aa"]),
        ("(ab)+", &["a", "ba", "abb"]),
        ("(foo|bar)x", &["foo", "bar", "o"]),
    ];
    for (pattern, texts) in cases {
        let e = regex(pattern, &vocabulary(texts), &Limits::default()).expect_err(pattern);
        assert_eq!(e.kind(), ErrorKind::Unsatisfiable, "{pattern}: {e}");
        assert!(e.message().contains("vocabulary"), "{e}");
    }
    let choices = ["yes".to_string(), "no".to_string()];
    let v = vocabulary(&["ye", "n", "o", "e"]);
    let index = Index::from_choices(&choices, &v, &Limits::default()).expect("no can be spelled");
    assert_eq!(start(&index).allowed_token_ids(), [1]);
    let e = Index::from_choices(&choices[..1], &v, &Limits::default()).expect_err("yes cannot");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
}

#[test]
fn forced_bytes_are_what_the_tokens_agree_on() {
    let forced = |pattern: &str, texts: &[&str]| {
        let index = regex(pattern, &vocabulary(texts), &Limits::default()).expect(pattern);
        String::from_utf8(start(&index).forced_bytes()).expect("text")
    };
    // Bytes alone would leave the choice between a and b.
    assert_eq!(forced("ac|bd", &["ac", "b"]), "ac");
    assert_eq!(forced("abcd|abef", &["ab", "abe", "cd", "x"]), "abcd");
    assert_eq!(forced("abcd|abef", &["ab", "abe", "cd", "f"]), "ab");
    assert_eq!(forced("ab(cd)?", &["ab", "cd"]), "ab");
    // No token ends after ab, so the output cannot end there.
    assert_eq!(forced("ab(cd)?", &["abc", "d"]), "abcd");
}

/// All outputs of at most `most` bytes, found token by token.
fn outputs(guide: &mut Guide, tokens: &[&[u8]], text: &mut Vec<u8>, most: usize, found: &mut BTreeSet<Vec<u8>>) {
    if guide.is_accepting() {
        found.insert(text.clone());
    }
    for (id, token) in (0u32..).zip(tokens) {
        if token.len() + text.len() <= most && guide.try_advance(id) {
            text.extend_from_slice(token);
            outputs(guide, tokens, text, most, found);
            text.truncate(text.len() - token.len());
            guide.rollback(1).expect("just taken");
        }
    }
}

/// Questions about bytes are answered exactly where the tokens spell every member.
#[test]
fn languages_that_tokens_narrow_are_not_answered_for() {
    const MOST_TOKENS: usize = 6;
    let all: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let all: Vec<&[u8]> = all.iter().map(|t| &t[..]).collect();
    let cases: &[(&str, &[&[u8]])] = &[
        ("b?", &[b"a"]),
        ("[ab]{2}", &[b"a"]),
        ("é?a", &[b"a"]),
        ("é?a", &[b"a", b"\xA9"]),
        ("é?a", &[b"a", b"\xC3"]),
        ("é?a", &[b"a", "é".as_bytes()]),
        ("[ab]{2}", &[b"ab", b"b"]),
        ("[ab]{2}", &[b"ab", b"b", b"aa"]),
        ("(ab)*", &[b"ab"]),
        ("(ab)*", &[b"ab", b"b", b"aba"]),
        ("(ab)*", &[b"abab"]),
        ("(ab|b)*c?", &[b"ab", b"b", b"bc"]),
        ("(ab|b)*c?", &[b"ab", b"b", b"bc", b"abc", b"c"]),
        ("(?!ab)[abc]{2}", &[b"a", b"b", b"c"]),
        ("(?!c)[abc]{2}", &[b"a", b"b"]),
        ("a|bc", &[b"a", b"b"]),
    ];
    let (mut whole, mut narrowed) = (0, 0);
    for (pattern, tokens) in cases {
        let v = vocabulary(tokens);
        let index = regex(pattern, &v, &Limits::default()).expect(pattern);
        let oracle = regex(pattern, &bytes(), &Limits::default()).expect(pattern);
        let (mut by_tokens, mut by_bytes) = (BTreeSet::new(), BTreeSet::new());
        outputs(&mut start(&index), tokens, &mut Vec::new(), MOST_TOKENS, &mut by_tokens);
        outputs(&mut start(&oracle), &all, &mut Vec::new(), MOST_TOKENS, &mut by_bytes);
        let is_whole = by_tokens == by_bytes;
        *(if is_whole { &mut whole } else { &mut narrowed }) += 1;
        let refused = |e: interlock::Error| assert_eq!(e.kind(), ErrorKind::Unsupported, "{pattern} {tokens:?}: {e}");
        for built in [false, true] {
            if built {
                index.build(Some(1), 1_000, |_, _| Ok(())).expect("no limit");
            }
            let answered = index.language_size(1_000).map(|n| assert_eq!(n, oracle.language_size(1_000).expect("few")));
            assert_eq!(answered.is_ok(), is_whole, "{pattern} {tokens:?}");
            answered.err().map(refused);
            assert_eq!(
                index.random_member(3, MOST_TOKENS, 1_000).map_err(refused).is_ok(),
                is_whole,
                "{pattern} {tokens:?}"
            );
            assert_eq!(index.shortest_member(1_000).map_err(refused).is_ok(), is_whole, "{pattern} {tokens:?}");
            for (a, b) in [(&index, &oracle), (&oracle, &index)] {
                assert_eq!(a.witness_not_in(b, 1_000).map_err(refused).is_ok(), is_whole, "{pattern} {tokens:?}");
            }
        }
    }
    assert!(whole > 4 && narrowed > 6, "{whole} {narrowed}");
}

/// What bytes could follow that no token spells does not keep an output from its end, on tables either.
#[test]
fn the_end_is_the_same_on_tables() {
    type Case<'a> = (&'a str, &'a [&'a [u8]], &'a [u32]);
    let cases: [Case; 5] = [
        ("b?", &[b"a"], &[]),
        ("a?b?", &[b"a"], &[0]),
        ("é?", &[b"a", b"\xA9"], &[]),
        ("(ab)?", &[b"ac", b"b"], &[]),
        ("(ab)*", &[b"a", b"b"], &[0, 1]),
    ];
    for (pattern, tokens, taken) in cases {
        let v = vocabulary(tokens);
        let lazy = regex(pattern, &v, &Limits::default()).expect(pattern);
        let (over, again) = (v.clone(), pattern.to_string());
        let remake = Box::new(move || regex(&again, &over, &Limits::default()));
        let built = lazy.build_apart(Some(1), 1_000, remake, |_, _| Ok(())).expect("no limit");
        for index in [Some(lazy), built].into_iter().flatten() {
            let mut guide = start(&index);
            assert_eq!(guide.advance_many(taken), taken.len());
            let allowed = guide.allowed_token_ids();
            assert_eq!(guide.must_stop(), allowed == [tokens.len() as u32], "{pattern}: {allowed:?}");
        }
    }
    // The only token that spells what could follow ends the output.
    let v = vocabulary(&["a", "b"]);
    let lazy = regex("ab?", &v, &Limits::default()).expect("spelled");
    let over = v.clone();
    let remake = Box::new(move || regex("ab?", &over, &Limits::default()));
    let built = lazy.build_apart(Some(1), 1_000, remake, |_, _| Ok(())).expect("no limit").expect("few states");
    let mut guide = start(&built);
    assert!(guide.try_advance(0) && !guide.must_stop() && guide.try_advance(1) && guide.must_stop());
}

#[test]
fn the_work_is_limited() {
    let v = vocabulary(&["aa", "ab"]);
    let limits = Limits { max_token_states: 100, ..Limits::default() };
    let e = regex("(..){1,500}", &v, &limits).expect_err("too many states");
    assert_eq!((e.kind(), e.limit_values().map(|l| l.0)), (ErrorKind::Limit, Some(100)));
    let limits = Limits { max_token_steps: 100, ..Limits::default() };
    let e = regex("(..){1,500}", &v, &limits).expect_err("too many steps");
    assert_eq!((e.kind(), e.limit_values().map(|l| l.0)), (ErrorKind::Limit, Some(100)));
    regex("(..){1,500}", &v, &Limits::default()).expect("within the limits");
}

#[test]
fn bytes_that_the_pattern_does_not_use_may_be_missing() {
    // Nothing is explored, so the limit does not matter.
    let limits = Limits { max_token_states: 1, ..Limits::default() };
    let v = vocabulary(&["a", "b", "ab", "xyz"]);
    regex("[ab]{2,4}|ba*", &v, &limits).expect("a and b are tokens");
    regex("[abx]{2,4}", &v, &limits).expect_err("x is not");
}

fn text(g: &Guide) -> String {
    let bytes = g.index().vocabulary().decode(&g.tokens()).expect("known tokens");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether tokens complete the document: a search over positions, those with few ways on first.
fn ends(guide: &Guide) -> bool {
    let mut seen = HashSet::new();
    let mut open = BTreeMap::from([((0, 0), guide.clone())]);
    while let Some((_, mut g)) = open.pop_first() {
        if g.is_accepting() {
            return true;
        }
        for id in g.allowed_token_ids() {
            let mut next = g.clone();
            let bytes = g.index().vocabulary().token_bytes(id);
            assert!(next.try_advance(id), "{:?} is in the mask after {:?}", bytes, text(&g));
            if seen.insert(next.state_key()) {
                open.insert((next.allowed_token_ids().len(), seen.len()), next);
            }
        }
        if seen.len() > 20_000 {
            return false;
        }
    }
    false
}

/// Walks at random and checks every position; returns the documents that were completed.
fn wander(index: &Index, oracle: &Index, walks: u64, length: usize) -> HashSet<String> {
    let size = index.vocabulary().size() as u32;
    let mut seen = HashSet::new();
    let mut documents = HashSet::new();
    let mut rng = Rng(1);
    for _ in 0..walks {
        let mut g = start(index);
        for _ in 0..length {
            let allowed = g.allowed_token_ids();
            if seen.insert(g.state_key()) {
                let accepted: Vec<u32> = (0..size).filter(|&id| g.clone().try_advance(id)).collect();
                assert_eq!(allowed, accepted, "after {:?}", text(&g));
                assert!(ends(&g), "a dead end after {:?}", text(&g));
            }
            g.try_advance(*rng.pick(&allowed));
            if g.is_terminated() {
                break;
            }
        }
        if g.is_terminated() {
            let text = index.vocabulary().decode(&g.tokens()).expect("known tokens");
            // Where elements must differ, the oracle knows one spelling of each: the plain one.
            let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{e}: {text:?}"));
            let plain = serde_json::to_vec(&value).expect("JSON");
            let accepts = |text: &[u8]| {
                let ids: Vec<u32> = text.iter().map(|&b| b.into()).collect();
                let mut o = start(oracle);
                o.advance_many(&ids) == ids.len() && o.is_accepting()
            };
            assert!(accepts(&text) || accepts(&plain), "{:?}", String::from_utf8_lossy(&text));
            documents.insert(String::from_utf8(text).expect("a document is UTF-8"));
        }
    }
    documents
}

fn ascii_without(missing: &str, more: &[&[u8]]) -> Vec<Vec<u8>> {
    let ascii = (0x20..0x7Fu8).chain(*b"\t\n\r").filter(|b| !missing.as_bytes().contains(b)).map(|b| vec![b]);
    ascii.chain(more.iter().map(|t| t.to_vec())).collect()
}

fn schema(text: &str, tokens: &[Vec<u8>]) -> interlock::Result<Index> {
    let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    Index::from_json_schema(text, &vocabulary(tokens), &options, &Limits::default())
}

fn check(text: &str, tokens: &[Vec<u8>]) -> HashSet<String> {
    let all: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let oracle = schema(text, &all).expect("satisfiable with all bytes");
    let index = schema(text, tokens).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert!(oracle.report().iter().all(|r| !r.reason.contains("single bytes")));
    wander(&index, &oracle, 300, 40)
}

fn is_narrowed(text: &str, tokens: &[Vec<u8>]) -> bool {
    let index = schema(text, tokens).expect(text);
    index.report().iter().any(|r| {
        r.pointer.is_empty()
            && r.enforcement == Enforcement::Narrower
            && r.reason.contains("no tokens of these single bytes")
    })
}

#[test]
fn documents_without_tokens_beyond_ascii() {
    let plain: &[&[u8]] = &["é".as_bytes(), "日本".as_bytes(), b"\"}", b"{\"", b"\\u00", b"true"];
    // Tokens that end inside a character, and tokens that would go on.
    let parts: &[&[u8]] =
        &[b"\xC3", b"\xA9", "aé\u{e8}".as_bytes().split_last().expect("not empty").1, b"\xA8\"", b"\xE6\x97"];
    for (more, narrowed) in [(plain.to_vec(), false), ([plain, parts].concat(), true)] {
        let tokens = ascii_without("", &more);
        let texts = [
            r#"{"type":"string","minLength":1,"maxLength":2}"#,
            r#"{"enum":["é","è","日本","aé"]}"#,
            r#"{"type":"string","pattern":"^[éè日]{1,2}$"}"#,
            r#"{"type":"object","properties":{"é":{"type":"boolean"},"è":{"const":"日"}},"required":["é"],"additionalProperties":false}"#,
            r#"{"type":"object","patternProperties":{"^[éè]{1,2}$":{"type":"null"}},"additionalProperties":false,"minProperties":1,"maxProperties":2}"#,
            r#"{"type":"array","items":{"enum":["é","è","\n","😀"]},"minItems":2,"maxItems":2,"uniqueItems":true}"#,
        ];
        for text in texts {
            assert!(!check(text, &tokens).is_empty(), "{text}");
            assert_eq!(is_narrowed(text, &tokens), narrowed, "{text}");
        }
        let documents = check(r#"{"enum":["é","è"]}"#, &tokens);
        assert!(
            documents.contains("\"é\"") && documents.iter().any(|d| d.to_lowercase() == "\"\\u00e8\""),
            "{documents:?}"
        );
    }
}

#[test]
fn documents_without_digits() {
    let tokens = ascii_without("0123456789", &[b"12", b"\":1", b"\xC3", b"\xA9", "é".as_bytes(), b"\\n", b"\\"]);
    let e = schema(r#"{"type":"integer"}"#, &tokens).expect_err("no digits");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
    assert!(e.message().contains("'0' to '9'"), "{e}");
    let text = r#"{"type":"object","properties":{"a":{"type":["integer","null"]},"b1":{"type":"null"},"é":{"type":"string","maxLength":1}},"propertyNames":{"maxLength":2},"additionalProperties":{"type":"boolean"},"maxProperties":2}"#;
    assert!(is_narrowed(text, &tokens));
    let documents = check(text, &tokens);
    assert!(documents.len() > 5 && documents.iter().all(|d| !d.contains(|c: char| c.is_ascii_digit() || c == '\\')));
    let e =
        schema(r#"{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}"#, &tokens).expect_err("x");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
    let e = schema(r#"{"type":"object","required":["x1"]}"#, &tokens).expect_err("a name with a digit");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
    let e = schema(r#"{"type":"string","pattern":"^[a-c]+[0-9]$"}"#, &tokens).expect_err("ends with a digit");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
    check(r#"{"type":"string","minLength":2,"maxLength":3,"pattern":"^([a-b]+[0-9]|x.y)$"}"#, &tokens);
    check(r#"{"enum":["a","b1","\n","c\"d",1,null,true]}"#, &tokens);
    check(r#"{"not":{"type":["string","array","object"]}}"#, &tokens);
}

#[test]
fn documents_without_some_punctuation() {
    for missing in [",", ":", "\"", "]", "}", "[{", "\\", "tn", "a", ",\\", "e"] {
        let more: &[&[u8]] = &[b"true", b"null", b"\",\"", b"\":", b"[]", b"{}", b"\xC3", "é".as_bytes()];
        let tokens = ascii_without(missing, more);
        for text in [
            r#"{"type":["array","object","boolean","integer"],"items":{"type":["boolean","integer"],"maximum":9,"minimum":0},"maxItems":2,"propertyNames":{"maxLength":1},"additionalProperties":{"type":"null"},"maxProperties":1}"#,
            r#"{"type":["array","null","integer"],"items":{"type":["boolean","string"],"maxLength":1},"maxItems":2,"maximum":3,"minimum":1}"#,
            r#"{"anyOf":[{"type":"object","properties":{"ab":{"type":"integer","minimum":0,"maximum":3},"c":{"type":"integer"}},"required":["c"],"additionalProperties":false},{"const":7}]}"#,
        ] {
            assert!(!check(text, &tokens).is_empty(), "{missing:?} {text}");
        }
    }
    let tokens = ascii_without(",", &[]);
    for text in [r#"{"type":"array","minItems":2}"#, r#"{"type":"object","required":["a","b"]}"#] {
        assert_eq!(schema(text, &tokens).expect_err("no comma").kind(), ErrorKind::Unsatisfiable);
    }
    schema(r#"{"type":"array","minItems":2}"#, &ascii_without("xyz", &[])).expect("with a comma");
}

#[test]
fn documents_of_long_tokens_only() {
    let tokens: Vec<Vec<u8>> =
        ["{\"a\":", "true}", "false}", "[]", "null"].iter().map(|t| t.as_bytes().to_vec()).collect();
    for text in [r#"{"type":"object","required":["a"]}"#, "{}", "true"] {
        let e = schema(text, &tokens).expect_err("nothing can be spelled byte by byte");
        assert_eq!(e.kind(), ErrorKind::Unsatisfiable, "{e}");
        assert!(e.message().contains("no tokens of these single bytes"), "{e}");
    }
    let e = schema("false", &tokens).expect_err("nothing is valid");
    assert!(!e.message().contains("bytes"), "{e}");
}

#[test]
fn whitespace_that_must_stand_is_a_token_or_nothing_needs_it() {
    let text = r#"{"type":["array","null"],"items":{"type":"boolean"},"maxItems":3}"#;
    for (pattern, missing) in [("spaced", " "), ("\n( |\t)", " "), ("\n( |\t)", "\n"), ("( |\t\n)?", "\n")] {
        let whitespace = if pattern == "spaced" { Whitespace::Spaced } else { Whitespace::Pattern(pattern.into()) };
        let options = SchemaOptions { whitespace, ..Default::default() };
        let tokens = ascii_without(missing, &[b" t", b", ", b"\n "]);
        let all: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
        let index =
            |t: &[Vec<u8>]| Index::from_json_schema(text, &vocabulary(t), &options, &Limits::default()).expect(pattern);
        assert!(!wander(&index(&tokens), &index(&all), 200, 30).is_empty());
    }
}

#[test]
fn a_string_ends_at_its_quote() {
    let all: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let mut g = start(&schema(r#"{"type":["string","integer"]}"#, &all).expect("satisfiable"));
    let ids = [b'"', b'a'].map(u32::from);
    assert_eq!(g.advance_many(&ids), 2);
    assert!(!g.is_accepting() && !g.try_advance(256));
    assert!(g.try_advance(b'"'.into()) && g.must_stop());
}
