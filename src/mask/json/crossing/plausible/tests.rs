use super::*;

#[test]
fn a_bracket_behind_a_value_ends_the_object() {
    for rest in [":1}", " : {}}", ":[{}]\n}", ":\"}\"}", ":\"a\",\"b\":1}", ":[1}}"] {
        assert!(ends_object_behind_key(rest.as_bytes()), "{rest}");
    }
    for rest in ["", ":", ":]}", ":}", ":{}", ":[{}]", ":\"}", ":\"\\\"}", "}", ",\"a\":1}", ":{\"a\":1}"] {
        assert!(!ends_object_behind_key(rest.as_bytes()), "{rest}");
    }
}
