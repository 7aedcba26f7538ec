//! Errors of unsatisfiable schemas name the keywords that contradict each other, where two do at sight.

use interlock::{ErrorKind, Limits, SchemaOptions, check_json_schema};

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
}

#[test]
fn what_nobody_sees_is_not_named() {
    says(r#"{"type":"string","pattern":"^a$","minLength":2}"#, "");
}
