//! The JSON reader against serde_json, and what it refuses beyond that.

use crate::error::{ErrorKind, SourcePlace};
use crate::limits::Limits;
use crate::schema::json_tape::{Tape, TapeId, TapeKind};

fn read(text: &str) -> crate::Result<Tape<'_>> {
    Tape::read(text, &Limits::default())
}

#[test]
fn agrees_with_serde_json() {
    let texts = [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "-12.50e+3",
        "1E400",
        "123456789012345678901234567890",
        "\"\"",
        r#""a\"\\\/\b\f\n\r\tA\ud83d\ude00é😀""#,
        "[]",
        "{}",
        "[[],{}]",
        r#"{"a":[1,{"b":null}],"c":{},"d":[[2]]}"#,
        // Not JSON.
        "",
        " ",
        "nul",
        "tru e",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "{,}",
        "[}",
        "{]",
        "[",
        "{\"a\":",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "1 2",
        "[]]",
        "'a'",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "NaN",
        "\u{a0}1",
        "{\"a\":1}}",
    ];
    for text in texts {
        let theirs = serde_json::from_str::<serde_json::Value>(text).ok();
        let ours = read(text).ok().map(|t| t.to_value(TapeId::ROOT).unwrap());
        assert_eq!(ours, theirs, "{text}");
    }
}

#[test]
fn every_prefix_and_every_byte_flip_is_read_or_refused() {
    let text = r#"{"a":[1.5e3,"x\u00e9",{"b":null}],"c":true}"#;
    for i in 0..text.len() {
        assert!(read(&text[..i]).is_err());
        for b in 0..128u8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[i] = b;
            let changed = String::from_utf8(bytes).unwrap();
            let theirs = serde_json::from_str::<serde_json::Value>(&changed).is_ok();
            let ours = read(&changed);
            // serde_json lets the last of equal keys win.
            let twice = ['a', 'c']
                .iter()
                .any(|x| changed.starts_with(&format!("{{\"{x}\":[")) && changed.contains(&format!(",\"{x}\":true")));
            assert_eq!(ours.is_ok(), theirs && !twice, "{changed}");
        }
    }
}

#[test]
fn duplicate_keys_are_refused_in_narrow_and_wide_objects() {
    for n in [1, 15, 16, 17, 1_000] {
        let members: Vec<String> = (0..n).map(|i| format!("\"k{i}\":[{i}]")).collect();
        let good = format!("{{{}}}", members.join(","));
        let tape = read(&good).unwrap();
        for i in [0, n / 2, n - 1] {
            let found = tape.get(TapeId::ROOT, &format!("k{i}")).unwrap();
            assert_eq!(tape.to_value(found).unwrap(), serde_json::json!([i]));
        }
        assert_eq!(tape.get(TapeId::ROOT, "k"), None);
        // The same key, spelt with an escape.
        let bad = format!("{{{},\"\\u006b0\":1}}", members.join(","));
        let e = read(&bad).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Schema);
        assert!(e.message().contains("\"k0\""), "{e}");
    }
}

#[test]
fn wide_arrays_are_indexed() {
    let text = format!("[{}]", (0..100).map(|i| format!("[{i}]")).collect::<Vec<_>>().join(","));
    let tape = read(&text).unwrap();
    let item = tape.item(TapeId::ROOT, 57).unwrap();
    assert_eq!(tape.to_value(item).unwrap(), serde_json::json!([57]));
    assert_eq!(tape.item(TapeId::ROOT, 100), None);
    assert_eq!(*tape.kind(TapeId::ROOT), TapeKind::Array(100));
}

#[test]
fn depth_and_size_are_limits() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let deep = nested(1_000);
    assert!(read(&deep).unwrap().to_value(TapeId::ROOT).is_ok());
    let e = read(&nested(1_001)).unwrap_err();
    assert_eq!((e.kind(), e.limit_values()), (ErrorKind::Limit, Some((1_000, 1_001))));
    // A limit that is set too high must not reach the end of the stack.
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    let deepest = nested(2_000);
    let value = Tape::read(&deepest, &limits).unwrap().to_value(TapeId::ROOT).unwrap();
    assert!(value == value.clone());
    drop(value);
    assert_eq!(Tape::read(&nested(1_000_000), &limits).unwrap_err().kind(), ErrorKind::Limit);
    let limits = Limits { max_source_bytes: 10, ..Limits::default() };
    assert_eq!(Tape::read("[1,2,3,4,5]", &limits).unwrap_err().limit_values(), Some((10, 11)));
}

#[test]
fn errors_name_the_byte() {
    assert_eq!(*read("[1, x]").unwrap_err().place(), SourcePlace::Byte(4));
    assert_eq!(*read("{\"a\" 1}").unwrap_err().place(), SourcePlace::Byte(5));
}

#[test]
fn strings_end_where_they_end_however_long_they_are() {
    for n in (0..100).chain([1_000]) {
        for plain in ["a", "é", "\u{7f}", " "] {
            let body = plain.repeat(n);
            for (written, meant) in [("", ""), ("\\n", "\n"), ("\\\"x", "\"x")] {
                let text = format!("[\"{body}{written}\", \"b\"]");
                let tape = read(&text).unwrap();
                let items: Vec<&str> = tape.items(TapeId::ROOT).filter_map(|i| tape.string(i)).collect();
                assert_eq!(items, [body.clone() + meant, "b".to_owned()]);
            }
            let control = read(&format!("\"{body}\u{1f}{body}\"")).unwrap_err().place().clone();
            assert_eq!(control, SourcePlace::Byte(1 + body.len()));
        }
    }
}

#[test]
fn keys_that_look_alike_are_compared() {
    assert!(read(r#"{"axbxc":1,"aybyc":2,"azbzc":3}"#).is_ok());
    let e = read(r#"{"axbxc":1,"aybyc":2,"axbxc":3}"#).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Schema, "{e}");
}
