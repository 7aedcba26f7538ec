//! Masks are exact: on random walks every bit of every mask equals the slow twin's, for patterns and for documents, and
//! no allowed token is a dead end. The vocabulary is small and made to cross structure; `examples/twin.rs` does the
//! same over real ones.

use crate::support::check::{Found, Plan, walk};
use crate::support::patterns::PATTERNS;
use crate::support::schemas::SCHEMAS;
use crate::support::twin::{PatternTwin, Spellings};
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{GuideOptions, Index, Limits, Vocabulary};
use std::sync::{Arc, OnceLock};

fn small() -> &'static (Arc<Vocabulary>, Spellings) {
    static SMALL: OnceLock<(Arc<Vocabulary>, Spellings)> = OnceLock::new();
    SMALL.get_or_init(|| {
        let v = vocabulary::small();
        let tokens = Spellings::from_vocabulary(&v);
        (v, tokens)
    })
}

/// The sum of many walks.
#[derive(Default)]
struct Sum {
    sources: usize,
    states: usize,
    ended: usize,
    wrong: Vec<String>,
}

impl Sum {
    fn add(&mut self, name: &str, found: Found) {
        self.states += found.states;
        self.ended += found.ended.is_some() as usize;
        self.wrong.extend(found.wrong.into_iter().map(|w| format!("{name}: {w}")));
    }

    fn expect(&self, sources: usize, states: usize) {
        println!("{} sources, {} states, {} walks ended", self.sources, self.states, self.ended);
        assert!(
            self.wrong.is_empty(),
            "{} wrong:\n{}",
            self.wrong.len(),
            self.wrong[..self.wrong.len().min(40)].join("\n")
        );
        assert!(self.sources >= sources, "only {} sources compiled", self.sources);
        assert!(self.states >= states, "only {} states compared", self.states);
        assert!(self.ended > 0, "no walk came to an end");
    }
}

fn pattern(sum: &mut Sum, p: &str, seed: u64) -> bool {
    let (v, tokens) = small();
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let Ok(index) = Index::from_regex(p, v, &options, &Limits::default()) else { return false };
    sum.sources += 1;
    let plan = Plan { tokens: 24, every: 2, probes: 5 };
    for walks in 0..2 {
        let twin = PatternTwin::new(p, &options).expect("what the index takes, the twin takes");
        let guide = index.guide(&GuideOptions::default()).unwrap();
        sum.add(p, walk(guide, Some(twin), tokens, Walker::new(seed + walks, b""), plan));
    }
    true
}

fn schema(sum: &mut Sum, text: &str, options: &SchemaOptions, seed: u64, plan: Plan) {
    let (v, tokens) = small();
    let index = match Index::from_json_schema(text, v, options, &Limits::default()) {
        Ok(i) => i,
        Err(e) => {
            sum.wrong.push(format!("{text}: {e}"));
            return;
        }
    };
    sum.sources += 1;
    for walks in 0..3 {
        let guide = index.guide(&GuideOptions::default()).unwrap();
        let name = format!("{text} {:?} {:?}", options.property_order, options.whitespace);
        sum.add(&name, walk(guide, None, tokens, Walker::new(seed * 31 + walks, b""), plan));
    }
}

#[test]
fn chosen_patterns() {
    let mut sum = Sum::default();
    for (p, seed) in PATTERNS.iter().zip(0..) {
        assert!(pattern(&mut sum, p, seed * 100), "{p:?} is refused");
    }
    sum.expect(PATTERNS.len(), 500);
}

#[test]
fn random_patterns() {
    let mut rng = Rng(11);
    let mut sum = Sum::default();
    for seed in 0..150 {
        let size = 2 + rng.below(6);
        pattern(&mut sum, &crate::support::patterns::random(&mut rng, size), seed);
    }
    sum.expect(100, 500);
}

#[test]
fn choices() {
    let (v, tokens) = small();
    let lists: [&[&str]; 4] =
        [&["yes", "no"], &["", "a", "ab", "abc\"", "日本", "日"], &["red\",", "red", "\n"], &["x1 y2", "x1", "x1 y"]];
    let mut sum = Sum::default();
    for (list, seed) in lists.iter().zip(0..) {
        let list: Vec<String> = list.iter().map(|s| s.to_string()).collect();
        let index = Index::from_choices(&list, v, &Limits::default()).unwrap();
        sum.sources += 1;
        for walks in 0..6 {
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 12, every: 1, probes: 5 };
            let found =
                walk(guide, Some(PatternTwin::choices(&list)), tokens, Walker::new(seed * 10 + walks, b""), plan);
            sum.add(&format!("{list:?}"), found);
        }
    }
    sum.expect(4, 24);
}

#[test]
fn schemas_in_declared_order() {
    let mut sum = Sum::default();
    for (s, seed) in SCHEMAS.iter().zip(0..) {
        schema(&mut sum, s, &SchemaOptions::default(), seed, Plan { tokens: 40, every: 3, probes: 5 });
    }
    sum.expect(SCHEMAS.len(), 1_000);
}

#[test]
fn unique_strings() {
    let mut sum = Sum::default();
    for (s, seed) in crate::support::schemas::UNIQUE_STRINGS.iter().zip(0..) {
        for walks in 0..10 {
            let plan = Plan { tokens: 40, every: 1, probes: 20 };
            schema(&mut sum, s, &SchemaOptions::default(), seed * 100 + walks, plan);
        }
    }
    sum.expect(crate::support::schemas::UNIQUE_STRINGS.len(), 300);
}

#[test]
fn schemas_in_any_order() {
    let mut sum = Sum::default();
    for (s, seed) in SCHEMAS.iter().zip(1_000..) {
        let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
        schema(&mut sum, s, &options, seed, Plan { tokens: 40, every: 3, probes: 5 });
    }
    sum.expect(SCHEMAS.len(), 1_000);
}

#[test]
fn whitespace_of_every_kind() {
    let mut sum = Sum::default();
    for (s, seed) in SCHEMAS.iter().zip(2_000..) {
        let whitespace = match seed % 4 {
            0 => Whitespace::Compact,
            1 => Whitespace::Spaced,
            2 => Whitespace::Pattern("[ \\n]?".into()),
            _ => Whitespace::Pattern("(?:  |\\n {0,6})?".into()),
        };
        let options = SchemaOptions { whitespace, ..SchemaOptions::default() };
        schema(&mut sum, s, &options, seed, Plan { tokens: 30, every: 3, probes: 5 });
    }
    sum.expect(SCHEMAS.len(), 600);
}

/// Along a text that comes close to every bound, every mask.
#[test]
fn near_the_bounds() {
    let rows = [
        (r#"{"type":"string","maxLength":40}"#, r#""abcdefghijklmnopqrstuvwxyzéé日本😀 the of""#),
        (
            r#"{"type":"string","minLength":30,"maxLength":33}"#,
            r#""aaaaaaaaaaaaaaaaaaaaaaaa\u0061\n\"\ud83d\ude00éaa""#,
        ),
        (r#"{"type":"string","pattern":"^[a-z]*$","minLength":20,"maxLength":24}"#, r#""aaaaaaaaabcdabcdabcdab""#),
        (r#"{"type":"array","items":{"type":"integer"},"minItems":5,"maxItems":6}"#, "[1,12,123,1234,0,0]"),
        (
            r#"{"type":"array","items":{"type":"string","maxLength":3},"uniqueItems":true}"#,
            r#"["abc", "ab", "é", "", "abd", "a\"b", "\u0061b\n", "a\n", "abb"]"#,
        ),
        (
            r#"{"type":"array","items":{"type":"string","pattern":"^[ab\"\\\\]{1,2}$"},"uniqueItems":true}"#,
            r#"["a","aa","ab","b","ba","\"","\\a","b\""]"#,
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"integer"},"minProperties":3,"maxProperties":4}"#,
            r#"{"a":1,"b":10,"ab":12,"name":0}"#,
        ),
        (
            r#"{"type":"object","properties":{"name":{"type":"string"},"id":{"type":"integer"}}}"#,
            r#"{"id":1,"a":"x","\u0061b":[{"name":1}],"nam":2,"names":3,"ids":{},"i":null}"#,
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"patternProperties":{"^x[0-9]$":{"type":"integer"}}}"#,
            r#"{"a": "abc", "x1": 12, "x2": 1, "b": {"c": 1}}"#,
        ),
    ];
    let mut sum = Sum::default();
    let (v, tokens) = small();
    for order in [PropertyOrder::Schema, PropertyOrder::Any] {
        for (s, text) in rows {
            let options = SchemaOptions { property_order: order, ..SchemaOptions::default() };
            let index = Index::from_json_schema(s, v, &options, &Limits::default()).unwrap();
            sum.sources += 1;
            for seed in 0..3 {
                let guide = index.guide(&GuideOptions::default()).unwrap();
                let plan = Plan { tokens: 60, every: 1, probes: 5 };
                sum.add(s, walk(guide, None, tokens, Walker::new(seed, text.as_bytes()), plan));
            }
        }
    }
    sum.expect(14, 600);
}

/// A twin that always agrees would be no test.
#[test]
fn the_twin_tells_a_difference() {
    let (v, tokens) = small();
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let row = |p: &str| PatternTwin::new(p, &options).unwrap().row(v, tokens, &[vocabulary::EOS]).unwrap();
    assert!(
        crate::support::twin::difference(v, &row("[a-y]+"), &row("[a-z]+")).unwrap().starts_with("0 wrongly allowed")
    );
    assert!(
        crate::support::twin::difference(v, &row("a*"), &row("a+")).unwrap().contains("wrongly allowed 0 \"</s>\"")
    );
}

/// Strings of one pattern share states and masks whatever their bounds; the bounds still decide near either end.
#[test]
fn bounds_of_one_pattern_do_not_mix() {
    use interlock::schema::SchemaOptions;
    use interlock::{GuideOptions, Index, Limits};
    let tokens: Vec<Vec<u8>> = (0..=255u8)
        .map(|b| vec![b])
        .chain(["aa", "aaa", "aaaa", "aaaaaaa", "aa\"", "aaaa\"", "\"aaa"].map(|t| t.as_bytes().to_vec()))
        .collect();
    let stop = tokens.len() as u32;
    let options = interlock::VocabularyOptions { eos_token_ids: vec![stop], ..Default::default() };
    let mut all = tokens.clone();
    all.push(Vec::new());
    let v = interlock::Vocabulary::new(all, options).unwrap();
    for (min, max) in [(0, 6), (6, 6), (0, 8), (7, 8), (6, 7), (3, 6), (0, 12), (8, 11), (0, 500), (40, 500), (9, 9)] {
        let schema =
            format!(r#"{{"type":"string","pattern":"^((aaa)*|b(aa)*)$","minLength":{min},"maxLength":{max}}}"#);
        let index = Index::from_json_schema(&schema, &v, &SchemaOptions::default(), &Limits::default()).unwrap();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        let mut row = vec![0u32; v.words()];
        for byte in std::iter::once(b'"').chain(std::iter::repeat_n(b'a', 12)) {
            guide.fill_mask(&mut row);
            for id in 0..stop {
                let allowed = row[id as usize >> 5] >> (id & 31) & 1 == 1;
                let mut twin = guide.clone();
                assert_eq!(allowed, twin.try_advance(id), "{schema}: {:?}", tokens[id as usize]);
            }
            if !guide.try_advance(u32::from(byte)) {
                break;
            }
        }
    }
    let schema = r#"{"type":"string","pattern":"^((aaa)*|b(aa)*)$","minLength":4,"maxLength":4}"#;
    assert!(Index::from_json_schema(schema, &v, &SchemaOptions::default(), &Limits::default()).is_err());
}

/// The lengths that may still follow a text can have gaps, and a count that no token exhausts still counts towards a
/// length: every mask on the way to a far-off bound is compared with steps, and every way ends.
#[test]
fn far_bounds_hold_where_lengths_have_gaps() {
    use interlock::schema::SchemaOptions;
    use interlock::{GuideOptions, Index, Limits};
    let words =
        ["aa", "aaaaaaa", "xxxxxxxx", "yyyyyy", "b;", ";y", ";;", "a\"", "yy\"", ";\"", "\"xxx", "\"a", "\\u0061"];
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(words.iter().map(|w| w.as_bytes().to_vec()));
    let stop = tokens.len() as u32;
    tokens.push(Vec::new());
    let options = interlock::VocabularyOptions { eos_token_ids: vec![stop], ..Default::default() };
    let v = interlock::Vocabulary::new(tokens.clone(), options).unwrap();
    for (pattern, min, max) in [
        ("((aaa)*|b(aaa)*)", 99, 99),
        ("((aaa)*|b(aaa)*)", 40, 42),
        ("(a{3,4};)*", 37, 37),
        ("(;?y?)(a{7,8}){0,9}", 64, 64),
        ("(;?y?)(a{7,8})*", 46, 46),
        ("(x|yy)(b?)(a{7,8}){0,9}", 16, 16),
        ("([a-z]{9,10};){5,}", 62, 62),
        ("([a-z]{69,70};){40,}", 2790, 2803),
        ("x{0,250}(;y{0,50})?", 60, 300),
        ("x{0,9};y{50}", 0, 55),
        ("x{0,9};y{50,}", 0, 55),
        ("x{0,90};y{50,}", 0, 85),
        ("(x|;y{30})*", 45, 50),
        ("(x{1,3}|;y{30})*", 45, 45),
    ] {
        let schema = format!(r#"{{"type":"string","pattern":"^{pattern}$","minLength":{min},"maxLength":{max}}}"#);
        let index = Index::from_json_schema(&schema, &v, &SchemaOptions::default(), &Limits::default()).expect(pattern);
        for prefer in ["a;xyb", ";yxab", "xa;yb", "bxxxxxxxxx;ya", "aaaaaaaaaaa;yxb", "yyxxxx;ab"] {
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            let mut row = vec![0u32; v.words()];
            let mut done = false;
            for step in 0..=max + 1 {
                guide.fill_mask(&mut row);
                let allowed = |id: u32| row[id as usize >> 5] >> (id & 31) & 1 == 1;
                if max < 500 || step % 100 == 0 || step + 20 > max {
                    for id in (0..stop).filter(|id| *id >= 256 || br#""\\abc;xyz"#.contains(&(*id as u8))) {
                        let steps = guide.clone().try_advance(id);
                        let text = String::from_utf8_lossy(&tokens[id as usize]);
                        assert_eq!(allowed(id), steps, "{schema} {prefer} after {step}: {text:?}");
                    }
                }
                let ways = prefer.bytes().cycle().skip(step as usize % prefer.len()).take(prefer.len()).chain([b'"']);
                let byte = ways.map(u32::from).find(|&b| allowed(b));
                assert!(guide.try_advance(byte.unwrap_or_else(|| panic!("{schema} {prefer} is stuck after {step}"))));
                done = step > 0 && byte == Some(u32::from(b'"'));
                if done {
                    break;
                }
            }
            assert!(done, "{schema} {prefer}");
        }
    }
}
