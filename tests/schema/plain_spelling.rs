//! Spelling: names of properties and constants as JSON writers write them, and nothing else narrowed; or all strings
//! with the escapes that they need.

use crate::support::check::{Plan, walk};
use crate::support::schemas::{self, SCHEMAS};
use crate::support::twin::Spellings;
use crate::support::vocabulary;
use crate::support::walk::{Walker, follow_compared};
use interlock::json::decimal::Decimal;
use interlock::schema::{Enforcement, PropertyOrder, SchemaOptions, Spelling, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary};
use std::sync::{Arc, OnceLock};

/// Names and constants of the schemas below in several spellings.
const HINTS: &[&str] =
    &["name\"", "\\u006eame\"", "n\\u0061me\":", "a\\\"b\"", "\\u0061\\\"b\"", "\\u00e9\"", "\\u00E9\":", "\\n", "\\/"];

/// The orders and spellings that are compared.
const WAYS: [(PropertyOrder, Spelling); 4] = [
    (PropertyOrder::Any, Spelling::Constants),
    (PropertyOrder::Schema, Spelling::Constants),
    (PropertyOrder::Any, Spelling::Plain),
    (PropertyOrder::Schema, Spelling::Plain),
];

fn small() -> &'static Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small)
}

fn options(spelling: Spelling) -> SchemaOptions {
    SchemaOptions {
        whitespace: Whitespace::Compact,
        property_order: PropertyOrder::Any,
        spelling: Some(spelling),
        ..SchemaOptions::default()
    }
}

fn compile(schema: &str, spelling: Spelling) -> Index {
    Index::from_json_schema(schema, small(), &options(spelling), &Limits::default())
        .unwrap_or_else(|e| panic!("{schema}: {e}"))
}

/// Whether the guide takes `text` byte by byte and may end there, and whether all of its masks on the way say so too.
fn takes(start: &Guide, text: &str) -> bool {
    let mut guide = start.clone();
    let v = small();
    let mut row = vec![0; v.words()];
    text.bytes().all(|b| {
        let id = v.trie().child(0, b).and_then(|n| v.trie().tokens(n).first().copied()).unwrap();
        guide.fill_mask(&mut row);
        let allowed = row[id as usize >> 5] >> (id & 31) & 1 == 1;
        let taken = guide.try_advance(id);
        assert_eq!(allowed, taken, "{text}: the mask and the step differ at {:?}", b as char);
        taken
    }) && guide.is_accepting()
}

#[track_caller]
fn check(schema: &str, plain: &[&str], any: &[&str], neither: &[&str]) {
    let plainly = compile(schema, Spelling::Constants).guide(&GuideOptions::default()).unwrap();
    let anyhow = compile(schema, Spelling::Any).guide(&GuideOptions::default()).unwrap();
    for text in plain {
        assert!(takes(&plainly, text), "{schema} plainly refuses {text}");
        assert!(takes(&anyhow, text), "{schema} refuses {text}");
    }
    for text in any {
        assert!(!takes(&plainly, text), "{schema} plainly accepts {text}");
        assert!(takes(&anyhow, text), "{schema} refuses {text}");
    }
    for text in neither {
        assert!(!takes(&plainly, text), "{schema} plainly accepts {text}");
        assert!(!takes(&anyhow, text), "{schema} accepts {text}");
    }
}

#[test]
fn constants_have_the_spellings_of_writers() {
    check(r#"{"const":"a/b"}"#, &[r#""a/b""#], &[r#""a\/b""#, r#""\u0061/b""#], &[r#""a""#]);
    check(
        r#"{"enum":["\n\"\\", "\u001f", "\u007f", "é😀"]}"#,
        &[
            r#""\n\"\\""#,
            r#""\u001f""#,
            "\"\u{7f}\"",
            r#""\u007f""#,
            r#""é😀""#,
            r#""\u00e9\ud83d\ude00""#,
            r#""é\ud83d\ude00""#,
        ],
        &[r#""\u000a\"\\""#, r#""\u001F""#, r#""\u00E9😀""#, r#""é\uD83d\ude00""#, r#""\n\u0022\\""#],
        &[r#""\ud83d""#, "\"\u{1f}\""],
    );
    // Only what is listed is narrowed.
    check(
        r#"{"anyOf":[{"const":"a"},{"type":"string","minLength":2}]}"#,
        &[r#""a""#, r#""\u0061a""#],
        &[r#""\u0061""#],
        &[],
    );
    check(r#"{"type":"string","maxLength":2}"#, &[r#""a""#, r#""\u0061""#, r#""\/""#], &[], &[r#""abc""#]);
    check(r#"{"not":{"const":"a"},"type":"string"}"#, &[r#""b""#, r#""\u0062""#], &[], &[r#""a""#, r#""\u0061""#]);
    check(r#"{"const":[{"a":"b"}]}"#, &[r#"[{"a":"b"}]"#], &[r#"[{"\u0061":"b"}]"#, r#"[{"a":"\u0062"}]"#], &[]);
}

#[test]
fn numbers_are_written_as_the_schema_says() {
    check(r#"{"const":5}"#, &["5"], &["5.0", "5.00"], &["6"]);
    check(r#"{"const":5.0}"#, &["5.0"], &["5", "5.00"], &[]);
    check(r#"{"enum":[5,5.0,-1.50]}"#, &["5", "5.0", "-1.5"], &["5.00", "-1.50"], &["1.5"]);
    check(r#"{"enum":[1e100,1e-7]}"#, &["1e+100", "1e-07"], &["1e100", "1E-7"], &[]);
    check(r#"{"enum":[1,2,3],"minimum":2}"#, &["2", "3"], &["2.0"], &["1"]);
    check(r#"{"anyOf":[{"const":1},{"type":"number","minimum":3}]}"#, &["1", "3", "3.0"], &["1.0"], &["2"]);
    check(r#"{"type":"integer","minimum":3}"#, &["3", "3.0"], &[], &["2"]);
    check(
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","enum":[5.0]}"#,
        &["5"],
        &[],
        &["5.0"],
    );
}

#[test]
fn another_spelling_of_a_declared_key_is_no_key() {
    let open = r#"{"properties":{"ab":{"type":"integer"},"é\n":{"type":"null"}}}"#;
    check(
        open,
        &[
            r#"{"ab":1}"#,
            r#"{"é\n":null}"#,
            r#"{"\u00e9\n":null}"#,
            // Other keys keep all escapes, also where they begin like a declared one.
            r#"{"\u0061":"x"}"#,
            r#"{"a\u0062c":"x","ab":1}"#,
            r#"{"\u0061bc":"x","abc\/":1}"#,
            r#"{"\u00E9":1}"#,
        ],
        &[r#"{"\u0061b":1}"#, r#"{"a\u0062":1}"#, r#"{"\u00E9\n":null}"#, r#"{"\u00e9\u000a":null}"#],
        &[r#"{"ab":"x"}"#, r#"{"\u0061b":"x"}"#, r#"{"a\u0062":"x"}"#, r#"{"x":1,"\u0078":1}"#],
    );
    let closed = r#"{"properties":{"ab":{"type":"integer"}},"additionalProperties":false}"#;
    check(closed, &[r#"{"ab":1}"#, "{}"], &[r#"{"\u0061b":1}"#, r#"{"a\u0062":1}"#], &[r#"{"a":1}"#]);
    let patterns = r#"{"properties":{"ab":{"type":"integer"}},"patternProperties":{"^a":{"type":["integer","null"]}},"additionalProperties":false}"#;
    check(
        patterns,
        &[r#"{"ab":1}"#, r#"{"\u0061":null}"#, r#"{"a\u0062c":null}"#],
        &[r#"{"\u0061b":1}"#],
        &[r#"{"ab":null}"#, r#"{"\u0061b":null}"#],
    );
    let few = r#"{"properties":{"ab":{}},"patternProperties":{"^(ab|ac)$":{}},"additionalProperties":false}"#;
    check(few, &[r#"{"ab":1,"ac":1}"#, r#"{"a\u0063":1}"#], &[r#"{"a\u0062":1}"#], &[r#"{"ad":1}"#]);
}

#[test]
fn masks_are_exact() {
    let v = small();
    let tokens = Spellings::from_vocabulary(v);
    let own = [
        r#"{"properties":{"name":{"type":"integer"},"a\"b":{},"é":{"enum":["é\\","n/",1.50]}}}"#,
        r#"{"properties":{"name":{"enum":["a\n","ab","id"]}},"patternProperties":{"^n":{"const":"the \"name\""}},"additionalProperties":false}"#,
    ];
    let (mut states, mut wrong) = (0, Vec::new());
    for (schema, seed) in own.iter().cycle().take(16).chain(SCHEMAS).zip(0..) {
        for (property_order, spelling) in WAYS {
            let spelling = Some(spelling);
            let options = SchemaOptions { property_order, spelling, ..SchemaOptions::default() };
            let index = Index::from_json_schema(schema, v, &options, &Limits::default()).unwrap();
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 30, every: 2, probes: 6 };
            let found = walk(guide, None, &tokens, Walker::new(seed, b"").with_hints(HINTS), plan);
            states += found.states;
            wrong.extend(found.wrong.into_iter().map(|w| format!("{schema}: {w}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(states > 500, "only {states} states compared");
}

/// Keys and strings that hold each character which JSON escapes, and those which some writers escape.
#[test]
fn masks_behind_every_escape_are_exact() {
    let schemas = [
        r#"{"type":"object","propertyNames":{"maxLength":3}}"#,
        r#"{"type":"object","patternProperties":{"^[^]{1,3}$":{},"^a[^]*$":{"maxLength":2}},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a\n":{"type":"integer"},"\u0001":{}},"propertyNames":{"minLength":1,"maxLength":3},"required":["\t\"\\"]}"#,
        r#"{"type":"object","additionalProperties":{"type":"string","maxLength":2,"minLength":1}}"#,
        r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","propertyNames":{"maxLength":1}},"uniqueItems":true}}"#,
    ];
    let characters = ('\0'..' ').chain("\"\\/\u{7f}\u{2028}é😀".chars());
    let texts: Vec<String> = characters.map(|c| serde_json::to_string(&c.to_string()).expect("text")).collect();
    let mut compared = 0;
    for (schema, seed) in schemas.into_iter().zip(1..) {
        let mut rng = Rng(seed);
        for property_order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let spelling = Some(Spelling::Plain);
            let options = SchemaOptions { property_order, spelling, ..SchemaOptions::default() };
            let index = Index::from_json_schema(schema, small(), &options, &Limits::default()).expect(schema);
            // Every other text in each order.
            let first = usize::from(property_order == PropertyOrder::Any);
            for (quoted, i) in texts.iter().zip(seed..).skip(first).step_by(2) {
                let (c, next) = (&quoted[1..quoted.len() - 1], rng.pick(&texts));
                let next = &next[1..next.len() - 1];
                let value = match seed {
                    4 => format!(r#""{c}{next}""#),
                    5 => format!(r#"[{{"{c}":1}},{{"{next}":1}},{{"{c}":2}}]"#),
                    _ => "1".to_string(),
                };
                let key = match i % 3 {
                    0 => format!("{c}{next}"),
                    1 => format!("a{c}"),
                    _ => format!("{c}a{next}"),
                };
                let document = format!(r#"{{"{next}":{value},"{key}":{value}}}"#);
                let guide = index.guide(&GuideOptions::default()).expect("no budget");
                compared += follow_compared(guide, &document, &mut rng, schema);
            }
        }
    }
    assert!(compared > 1_000, "only {compared} masks compared");
}

/// Unique objects whose last values are found by a search, which writes keys itself.
#[test]
fn unique_objects_with_escaped_keys_are_used_up() {
    let key = r#"{"type":"object","patternProperties":{"^[\t\n\u0001]$":{"const":1}},"additionalProperties":false,"minProperties":1,"maxProperties":1}"#;
    let schema = format!(r#"{{"type":"array","uniqueItems":true,"items":{key}}}"#);
    for property_order in [PropertyOrder::Any, PropertyOrder::Schema] {
        let index = Index::from_json_schema(
            &schema,
            small(),
            &SchemaOptions { property_order, ..options(Spelling::Plain) },
            &Limits::default(),
        );
        let guide = index.expect("a schema").guide(&GuideOptions::default()).expect("no budget");
        assert!(takes(&guide, r#"[{"\n":1},{"\u0001":1},{"\t":1}]"#));
        assert!(takes(&guide, r#"[{"\t":1},{"\n":1},{"\u0001":1}]"#));
        for again in [r#"[{"\n":1},{"\n":1}]"#, r#"[{"\n":1},{"\t":1},{"\u0001":1},"#, r#"[{"\u000a":1}]"#] {
            assert!(!takes(&guide, again), "{again}");
        }
    }
}

/// A line break is written by a backslash and an `n` only: where that byte is no token, nothing may begin one.
#[test]
fn escapes_without_their_letter_are_not_begun() {
    let bytes = (0..=255u8).filter(|b| *b != b'n').map(|b| vec![b]);
    let mut tokens: Vec<Vec<u8>> = bytes.chain([b"\\n".to_vec(), b"an".to_vec(), b"\"\\".to_vec()]).collect();
    tokens.push(Vec::new());
    let options = interlock::VocabularyOptions { eos_token_ids: vec![tokens.len() as u32 - 1], ..Default::default() };
    let v = Vocabulary::new(&tokens, options).expect("a vocabulary");
    for (property_order, spelling) in WAYS {
        let options = SchemaOptions { property_order, spelling: Some(spelling), ..SchemaOptions::default() };
        let compile = |schema: &str| Index::from_json_schema(schema, &v, &options, &Limits::default());
        let constant = compile(r#"{"enum":["\n","\t","a\n","a\t"]}"#).expect("two are left");
        let mut walks = vec![constant];
        if spelling == Spelling::Plain {
            assert!(compile(r#"{"type":"string","pattern":"^\\n$"}"#).is_err());
            walks.push(compile(r#"{"type":"string","pattern":"^[\\n\\t]{2}$"}"#).expect("tabs are left"));
            walks.push(compile(r#"{"type":"object","propertyNames":{"maxLength":1}}"#).expect("an object"));
        }
        let tokens = Spellings::from_vocabulary(&v);
        for index in &walks {
            for seed in 0..20 {
                let guide = index.guide(&GuideOptions::default()).expect("no budget");
                let plan = Plan { tokens: 20, every: 1, probes: 20 };
                let found = walk(guide, None, &tokens, Walker::new(seed, b""), plan);
                assert!(found.wrong.is_empty(), "{:?}", found.wrong);
            }
        }
    }
}

/// As many random schemas as `INTERLOCK_PLAIN_SCHEMAS` says.
#[test]
fn masks_of_random_schemas_are_exact() {
    let v = small();
    let tokens = Spellings::from_vocabulary(v);
    let many = std::env::var("INTERLOCK_PLAIN_SCHEMAS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let hints: Vec<&str> = schemas::HINTS.iter().chain(HINTS).copied().collect();
    let (mut states, mut wrong) = (0, Vec::new());
    for seed in 0..many {
        let schema = schemas::random(&mut Rng(7_000 + seed));
        for (property_order, spelling) in WAYS {
            let spelling = Some(spelling);
            let options = SchemaOptions { property_order, spelling, ..SchemaOptions::default() };
            // Some of them are refused, as is tested elsewhere.
            let Ok(index) = Index::from_json_schema(&schema, v, &options, &Limits::default()) else { continue };
            let guide = index.guide(&GuideOptions::default()).expect("no budget");
            let plan = Plan { tokens: 40, every: 2, probes: 6 };
            let found = walk(guide, None, &tokens, Walker::new(seed, b"").with_hints(&hints), plan);
            states += found.states;
            wrong.extend(found.wrong.into_iter().map(|w| format!("{property_order:?} {spelling:?} {schema}: {w}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(states > 3 * many as usize, "only {states} states compared");
}

#[test]
fn compact_and_spaced_are_plain_unless_told() {
    let schema = r#"{"properties":{"a":{}}}"#;
    let rows = |options: &SchemaOptions| -> Vec<String> {
        let index = Index::from_json_schema(schema, small(), options, &Limits::default()).unwrap();
        let rows = index.report().iter().filter(|r| r.enforcement == Enforcement::Narrower);
        rows.map(|r| r.keyword.clone()).collect()
    };
    let of = |whitespace: Whitespace, spelling| SchemaOptions { whitespace, spelling, ..SchemaOptions::default() };
    let says = |options: SchemaOptions| rows(&options).contains(&"spelling".to_string());
    assert!(says(of(Whitespace::Compact, None)));
    assert!(says(of(Whitespace::Spaced, None)));
    assert!(!says(of(Whitespace::Flexible, None)));
    assert!(!says(of(Whitespace::Compact, Some(Spelling::Any))));
    assert!(says(of(Whitespace::Flexible, Some(Spelling::Constants))));
    assert!(says(of(Whitespace::Flexible, Some(Spelling::Plain))));
    let print = |spelling| compile(schema, spelling).fingerprint();
    let prints = [Spelling::Any, Spelling::Constants, Spelling::Plain].map(print);
    assert!(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] != prints[2]);
}

/// What stands between two strings, with whole numbers without point and exponent, and zero without a sign.
fn bare_integers(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || c == '-') {
        let end = rest[start..].find(|c| !is_digit(c)).map_or(rest.len(), |n| start + n);
        let number = &rest[start..end];
        out.push_str(&rest[..start]);
        match Decimal::parse(number).expect("a number") {
            value if value.is_integer() && (number.contains(['.', 'e', 'E']) || value.is_zero()) => {
                out.push_str(if number.starts_with('-') && !value.is_zero() { "-" } else { "" });
                out.push_str(&value.plain_digits().0);
            }
            _ => out.push_str(number),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The document with only the escapes that strings need. What stands between strings becomes what `between` makes of
/// it.
fn respelled(text: &[u8], between: impl Fn(&str) -> String) -> String {
    let text = std::str::from_utf8(text).expect("a document is UTF-8");
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        out.push_str(&between(&rest[..open]));
        let inside = &rest.as_bytes()[open + 1..];
        let mut end = 0;
        while inside[end] != b'"' {
            end += 1 + usize::from(inside[end] == b'\\');
        }
        let string = &rest[open..open + end + 2];
        let decoded: String = serde_json::from_str(string).expect("a JSON string");
        out.push_str(&serde_json::to_string(&decoded).expect("text"));
        rest = &rest[open + end + 2..];
    }
    out + &between(rest)
}

#[test]
fn integers_are_bare() {
    let bounded = r#"{"type":"integer","minimum":2,"maximum":500}"#;
    let even = r#"{"type":["integer","null"],"multipleOf":2}"#;
    let draft_4 = r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}"#;
    for (schema, integers, others) in [
        (r#"{"type":"integer"}"#, ["5", "-70", "1234567"], ["5.0", "5e2", "-0"]),
        (r#"{"type":"integer","minimum":0}"#, ["0", "10", "6"], ["0.0", "0e1", "-0"]),
        (r#"{"type":"integer","maximum":10}"#, ["0", "10", "-10"], ["0.0", "0e1", "-0"]),
        (draft_4, ["0", "10", "-10"], ["0.0", "0e1", "-0"]),
        (bounded, ["5", "2", "500"], ["5.0", "2.00", "5e1"]),
        (even, ["null", "4", "-12"], ["4.0", "4e0", "-0"]),
        (r#"{"allOf":[{"type":"integer"},{"not":{"const":7}}]}"#, ["6", "8", "77"], ["7", "6.0", "6e1"]),
    ] {
        let at = |spelling| compile(schema, spelling).guide(&GuideOptions::default()).expect("no budget");
        let (plainly, in_grammar) = (at(Spelling::Plain), at(Spelling::PlainValues));
        let written = at(Spelling::PlainPatterns);
        for text in integers {
            assert!(
                takes(&plainly, text) && takes(&in_grammar, text) && takes(&written, text),
                "{schema} refuses {text}"
            );
        }
        for text in others {
            assert!(!takes(&plainly, text) && !takes(&in_grammar, text), "{schema} plainly accepts {text}");
        }
        let loose = if schema == even { "4.0" } else { "6.0" };
        assert_eq!(takes(&written, loose), schema != draft_4, "{schema}");
    }
    // Without plain spelling it is a spelling of zero.
    for schema in [r#"{"type":"integer","minimum":0}"#, even, draft_4] {
        for spelling in [Spelling::Any, Spelling::Constants, Spelling::PlainPatterns] {
            let guide = compile(schema, spelling).guide(&GuideOptions::default()).expect("no budget");
            assert!(takes(&guide, "-0"), "{schema}");
        }
    }
    // A number keeps its spellings, whole or not.
    let number = compile(r#"{"type":"number"}"#, Spelling::Plain).guide(&GuideOptions::default()).expect("no budget");
    for text in ["5", "5.0", "2.5e3", "-0", "-0.0"] {
        assert!(takes(&number, text), "{text}");
    }
}

#[test]
fn all_strings_are_written_in_one_way() {
    let takes_plainly = |schema: &str, text: &str| {
        takes(&compile(schema, Spelling::Plain).guide(&GuideOptions::default()).expect("no budget"), text)
    };
    let string = r#"{"type":"string"}"#;
    for text in [r#""""#, r#""a/é😀""#, "\"\u{7f}\u{2028}\"", r#""\"\\\b\f\n\r\t\u0000\u001f\u000b""#] {
        assert!(takes_plainly(string, text), "{text}");
        assert!(takes_plainly(r#"{"type":"string","maxLength":40}"#, text), "{text}");
        assert!(takes_plainly(r#"{"type":"string","pattern":"^[^]*$"}"#, text), "{text}");
        assert!(takes_plainly("{}", &format!("[{{{text}:{text}}}]")), "{text}");
    }
    for text in [
        r#""\u0061""#,
        r#""\/""#,
        r#""\u00e9""#,
        r#""\ud83d\ude00""#,
        r#""\u007f""#,
        r#""\u000a""#,
        r#""\u001F""#,
        r#""\u0022""#,
        r#""\u005c""#,
        r#""\u2028""#,
    ] {
        for schema in [string, r#"{"type":"string","maxLength":9}"#, r#"{"type":"string","pattern":"^[^]*$"}"#, "{}"] {
            assert!(!takes_plainly(schema, text), "{schema}: {text}");
        }
        assert!(!takes_plainly("{}", &format!("{{{text}:1}}")), "a key {text}");
        let classes = r#"{"patternProperties":{"^[^]$":{}},"additionalProperties":false}"#;
        assert!(!takes_plainly(classes, &format!("{{{text}:1}}")), "a key of a class {text}");
    }
}

#[test]
fn what_a_pattern_or_format_leaves_no_choice_about_is_forced() {
    let forced = |schema: &str, before: &str| {
        let index = compile(schema, Spelling::Plain);
        let mut guide = index.guide(&GuideOptions::default()).expect("no budget");
        for b in before.bytes() {
            let tokens = small().trie().child(0, b).map(|n| small().trie().tokens(n)[0]);
            assert!(guide.try_advance(tokens.expect("every byte is a token")), "{before}");
        }
        String::from_utf8(guide.forced_bytes()).expect("ASCII")
    };
    let date = r#"{"type":"string","format":"date"}"#;
    assert_eq!(forced(date, ""), "\"");
    assert_eq!(forced(date, "\"2024"), "-");
    assert_eq!(forced(date, "\"2024-02"), "-");
    assert_eq!(forced(r#"{"type":"string","pattern":"^no-[0-9]/\"$"}"#, ""), "\"no-");
    assert_eq!(forced(r#"{"type":"string","pattern":"^no-[0-9]/\"$"}"#, "\"no-7"), "/\\\"\"");
    let tagged = r#"{"type":"object","patternProperties":{"^x-é$":{"const":"\n"}},"additionalProperties":false,"minProperties":1}"#;
    assert_eq!(forced(tagged, ""), r#"{"x-é":"\n"}"#);
}

#[test]
fn plain_documents_are_those_of_any_spelling_respelled() {
    let v = small();
    let tokens = Spellings::from_vocabulary(v);
    let (mut ended, mut other) = (0, 0);
    for (schema, seed) in SCHEMAS.iter().cycle().take(3 * SCHEMAS.len()).zip(0..) {
        let index = compile(schema, Spelling::Constants);
        let plainly = compile(schema, Spelling::Plain).guide(&GuideOptions::default()).expect("no budget");
        let plan = Plan { tokens: 40, every: 40, probes: 0 };
        let guide = index.guide(&GuideOptions::default()).expect("no budget");
        let found = walk(guide, None, &tokens, Walker::new(seed, b"").with_hints(HINTS), plan);
        let Some(text) = found.ended else { continue };
        let plain = respelled(&text, bare_integers);
        // Without an exponent, an integer has at most 80 digits.
        if plain.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 80) {
            continue;
        }
        ended += 1;
        assert!(takes(&plainly, &plain), "{schema} plainly refuses {plain}");
        // Numbers that need not be whole keep their spellings, strings do not.
        if respelled(&text, str::to_string).as_bytes() != text {
            other += 1;
            let text = String::from_utf8_lossy(&text);
            assert!(!takes(&plainly, &text), "{schema} plainly accepts {text}");
        }
    }
    assert!(ended > 50 && other > 5, "{ended} documents, {other} in another spelling");
}

#[test]
fn what_grammars_leave_open_in_their_documents() {
    let schema =
        r#"{"properties": {"name": {"type": "string"}, "kind": {"enum": ["é"]}, "code": {"pattern": "^é+$"}}}"#;
    let taken = |spelling: Spelling| {
        let guide = compile(schema, spelling).guide(&GuideOptions::default()).expect("no budget");
        let texts = [
            r#"{"name":"é","kind":"é","code":"é"}"#,
            r#"{"other \u00e9":1}"#,
            r#"{"name":"\u00e9"}"#,
            r#"{"code":"\u00e9"}"#,
            r#"{"kind":"\u00e9"}"#,
            r#"{"other":["\u00e9"]}"#,
        ];
        texts.map(|text| takes(&guide, text))
    };
    assert_eq!(taken(Spelling::Plain), [true, false, false, false, false, false]);
    assert_eq!(taken(Spelling::PlainValues), [true, true, false, false, false, false]);
    assert_eq!(taken(Spelling::PlainPatterns), [true, true, true, false, false, true]);
    assert_eq!(taken(Spelling::Any), [true; 6]);
}
