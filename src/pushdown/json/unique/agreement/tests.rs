use super::*;

/// What `read` has to go on with to become the value `known`.
fn rests(read: &str, known: &str) -> Option<(Vec<String>, bool)> {
    let known = canonical(known.as_bytes()).unwrap();
    let mut out = RepeatRests::default();
    let end = value(read.as_bytes(), &known, &mut out, 0);
    let texts = out.texts.iter().map(|r| String::from_utf8_lossy(r).into_owned()).collect();
    (!matches!(end, End::Apart)).then_some((texts, out.raw))
}

#[test]
fn every_beginning_of_every_spelling_may_repeat() {
    let spellings: &[(&str, &[&str])] = &[
        (r#""aé\n\"b""#, &[r#""aé\n\"b""#, r#""\u0061\u00e9\u000A\"b""#, r#""\u0061\u00E9\n\u0022b""#]),
        ("120", &["120", "120.0", "1.2e2", "0.120E+3"]),
        ("-1", &["-1", "-1.00"]),
        ("0.0305", &["0.0305", "30.5E-3", "0.03050e0", "305e-4", "0.00000305e4"]),
        ("0", &["0", "-0.00", "0e5", "-0E-1"]),
        ("true", &["true"]),
        (
            r#"{"a":1,"b":["x",{}],"":""}"#,
            &[r#"{"b":["x", {}],"a":1.0,"":""}"#, r#" { "" : "" , "\u0062" : [ "\u0078" ,{ } ] , "a" : 1 }"#],
        ),
        (r#"[[],["",""],{"k":{"l":null,"m":[1,2]},"n":0}]"#, &[r#"[[],["",""],{"n":0,"k":{"m":[1,2],"l":null}}]"#]),
        ("\"\u{1F600}\"", &["\"\u{1F600}\"", r#""\ud83d\ude00""#]),
    ];
    for (known, texts) in spellings {
        for text in *texts {
            for end in (0..=text.len()).filter(|&i| text.is_char_boundary(i)) {
                assert!(rests(&text[..end], known).is_some(), "{:?} begins {known}", &text[..end]);
            }
        }
    }
}

#[test]
fn what_differs_is_apart() {
    for (read, known) in [
        (r#""b"#, r#""ab""#),
        (r#""abc"#, r#""ab""#),
        (r#""a"#, "1"),
        ("1", r#""1""#),
        ("2", "1"),
        ("-1", "1"),
        ("1", "-1"),
        ("0.01", "0"),
        ("10", "111"),
        ("12", "10"),
        ("5", "0.0305"),
        ("0.031", "0.0305"),
        ("f", "true"),
        ("nu", "true"),
        ("[1,", "[2]"),
        ("[1]", "[1,2]"),
        (r#"{"a":2,"#, r#"{"a":1}"#),
        (r#"{"a":1,"b"#, r#"{"a":1,"c":1}"#),
        (r#"{"a":1}"#, r#"{"a":1,"c":1}"#),
        (r#"{"a":{"b":"x"#, r#"{"a":{"b":"y"}}"#),
        (r#"{"a":[["x"],"#, r#"{"a":[["y"]]}"#),
        ("{", "[]"),
        ("[", "{}"),
    ] {
        assert_eq!(rests(read, known), None, "{read} and {known}");
    }
}

#[test]
fn what_is_left_of_a_string_is_known() {
    let texts = |read, known| rests(read, known).unwrap().0;
    assert_eq!(texts(r#""a"#, r#""ab\n""#), ["b\n"]);
    assert_eq!(texts("", r#""ab""#), ["ab"]);
    assert_eq!(texts(r#"{"x":1,"a"#, r#"{"ab":2,"x":1,"ac":3,"b":4}"#), ["b", "c"]);
    assert_eq!(texts(r#"{"x":"\u00"#, r#"{"x":"é"}"#), ["é"]);
    assert_eq!(texts(r#"[{"k":[1,"a"#, r#"[{"k":[1,"ab"]}]"#), ["b"]);
    assert_eq!(rests("[1,", "[1,2]"), Some((vec![], true)));
    assert_eq!(rests(r#"{"a":1"#, r#"{"a":12}"#), Some((vec![], true)));
    assert_eq!(rests("[[", "[[[]]]"), Some((vec![], false)));
}
