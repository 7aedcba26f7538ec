//! Errors of unsatisfiable schemas name the keywords that contradict each other, where two do at sight.

use interlock::{ErrorKind, Limits, RegexOptions, SchemaOptions, SourcePlace, check_json_schema, check_regex};

#[track_caller]
fn says(schema: &str, expected: &str) {
    let e = check_json_schema(schema, &SchemaOptions::default(), &Limits::default()).expect_err(schema);
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable, "{schema}: {e}");
    let told = e.message().split_once("accepts nothing: ").map(|found| found.1);
    assert_eq!(told.unwrap_or_default(), expected, "{schema}: {e}");
}

#[test]
fn bounds() {
    says(r#"{"type":"integer","minimum":5,"maximum":3}"#, "minimum 5 contradicts maximum 3");
    says(r#"{"type":"string","minLength":3,"maxLength":2}"#, "minLength 3 contradicts maxLength 2");
    says(r#"{"type":"number","exclusiveMinimum":3,"maximum":3}"#, "exclusiveMinimum 3 contradicts maximum 3");
    says(
        r##"{"$ref":"#/$defs/a","type":"array","maxItems":1,"$defs":{"a":{"minItems":2}}}"##,
        "minItems 2 (at \"/$defs/a\") contradicts maxItems 1",
    );
}

#[test]
fn values() {
    says(r#"{"type":"string","enum":[1,2]}"#, r#"type "string" contradicts enum [1,2]"#);
    says(r#"{"const":1,"enum":[2]}"#, "enum [2] contradicts const 1");
    says(
        r#"{"allOf":[{"type":"string"},{"type":["null","array"]}]}"#,
        r#"type "string" (at "/allOf/0") contradicts type ["null","array"] (at "/allOf/1")"#,
    );
    says(r#"{"allOf":[{"const":1},false]}"#, r#"the schema at "/allOf/1" is false"#);
}

#[test]
fn objects() {
    says(
        r#"{"type":"object","properties":{"a":false},"required":["a"]}"#,
        r#"required names "a", which properties forbids: its schema is false"#,
    );
    says(
        r#"{"type":"object","properties":{"b":{}},"required":["a"],"additionalProperties":false}"#,
        r#"required names "a", which additionalProperties false forbids: it is not among the properties"#,
    );
    says(
        r#"{"type":"object","required":["a","b"],"maxProperties":1}"#,
        "required names 2 properties, which maxProperties 1 excludes",
    );
    says(
        r#"{"type":"object","required":["a"],"maxProperties":0}"#,
        "required names 1 property, which maxProperties 0 excludes",
    );
}

#[test]
fn keywords_of_other_types_are_no_reason() {
    says(r#"{"type":"integer","minItems":3,"maxItems":2,"minimum":5,"maximum":3}"#, "minimum 5 contradicts maximum 3");
    says(r#"{"type":"integer","minLength":5,"maxLength":3,"enum":["a"]}"#, r#"type "integer" contradicts enum ["a"]"#);
    says(
        r#"{"type":"string","required":["a"],"additionalProperties":false,"pattern":"^a$","minLength":2}"#,
        r#"type "string", pattern "^a$" and minLength 2 leave nothing together"#,
    );
    // Values tell the type as well, and `integer` is a number.
    says(r#"{"enum":["a","b"],"minLength":5,"maxLength":3}"#, "minLength 5 contradicts maxLength 3");
    says(
        r#"{"allOf":[{"type":"number"},{"type":"integer"}],"minimum":5,"maximum":3}"#,
        "minimum 5 contradicts maximum 3",
    );
    says(
        r#"{"type":["string","integer"],"minLength":5,"maxLength":3,"minimum":5,"maximum":3}"#,
        r#"type ["string","integer"], minLength 5, maxLength 3, minimum 5 and maximum 3 leave nothing together"#,
    );
}

#[test]
fn what_the_draft_does_not_count_is_no_reason() {
    let old = r##""$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a""##;
    says(
        &format!(r#"{{{old},"maxLength":1,"minLength":3,"definitions":{{"a":{{"type":"string","enum":[3]}}}}}}"#),
        r#"type "string" (at "/definitions/a") contradicts enum [3] (at "/definitions/a")"#,
    );
    says(
        r##"{"$ref":"#/definitions/a","maxLength":1,"minLength":3,"definitions":{"a":{"type":"string","enum":[3]}}}"##,
        r#"type "string" (at "/definitions/a") contradicts enum [3] (at "/definitions/a")"#,
    );
    says(
        r##"{"$ref":"#/definitions/a","maxLength":1,"minLength":3,"definitions":{"a":{"type":"string"}}}"##,
        "minLength 3 contradicts maxLength 1",
    );
    // Draft 4 has no `const`, and `minContains` is about what `contains` says.
    says(
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"string","const":3,"minLength":3,"maxLength":1}"#,
        "minLength 3 contradicts maxLength 1",
    );
    says(
        r#"{"type":"array","minContains":3,"maxContains":1,"minItems":3,"maxItems":2,"items":{}}"#,
        "minItems 3 contradicts maxItems 2",
    );
}

#[test]
fn what_nobody_sees_at_sight_is_found_by_leaving_keywords_out() {
    says(
        r#"{"title":"t","type":"string","pattern":"^a$","minLength":2}"#,
        r#"type "string", pattern "^a$" and minLength 2 leave nothing together"#,
    );
    says(r#"{"enum":[]}"#, "enum [] allows nothing");
    says(r#"{"description":"never","not":{}}"#, "not {} allows nothing");
    says(r#"{"anyOf":[false,false]}"#, "anyOf [false,false] allows nothing");
    says(
        r#"{"type":"object","properties":{"a":{"type":"array","items":false,"minItems":1}},"required":["a"]}"#,
        r#"type "array", items false and minItems 1 leave nothing together"#,
    );
    says(
        r#"{"type":"string","pattern":"a\\bb","maxLength":9}"#,
        r#"the pattern "a\\bb" matches no text: a word boundary (\b) can never stand here (its offset 1)"#,
    );
    // What takes too long to say is not said.
    let many: Vec<String> = (0..30).map(|i| format!(r#""p{i}":{i}"#)).collect();
    says(&format!(r#"{{"not":{{}},{}}}"#, many.join(",")), "");
}

#[track_caller]
fn pattern_says(pattern: &str, offset: usize, expected: &str) {
    let e = check_regex(pattern, &RegexOptions::default(), &Limits::default()).expect_err(pattern);
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable, "{pattern}: {e}");
    assert_eq!(*e.place(), SourcePlace::Offset(offset), "{pattern}: {e}");
    assert_eq!(e.message().strip_prefix("the pattern accepts nothing: "), Some(expected), "{pattern}");
    assert!(e.excerpt().is_some_and(|excerpt| excerpt.column == offset + 1), "{pattern}");
}

#[test]
fn a_pattern_says_which_part_can_never_hold() {
    pattern_says(r"a\bb", 1, "a word boundary (\\b) can never stand here");
    pattern_says(r"[a-z]+\B ", 6, "anything but a word boundary (\\B) can never stand here");
    pattern_says(
        "ab^c|d$e",
        2,
        "at least one of these can never hold: the start of the text (offset 2), the end of the text (offset 6)",
    );
    pattern_says("(?=b)a", 0, "what the look-ahead (?=...) asks for can never stand here");
    pattern_says("(?!a)[a]", 0, "anything that the look-ahead (?!...) permits can never stand here");
    pattern_says("b(?<=a)", 1, "what the look-behind (?<=...) asks for can never stand here");
    pattern_says(r"x[^\s\S]y", 1, "a character of this empty class can never stand here");
    pattern_says("\\Ab(?:c\\Z)d", 7, "the end of the text can never stand here");
    pattern_says(
        "/^a$/i",
        3,
        "the end of the text can never stand here; slashes are a part of the pattern here: leave them out, and pass \
         the letters behind them as flags",
    );
}
