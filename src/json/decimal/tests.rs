use super::*;
use crate::json::canonical::{canonical, escape};

fn d(s: &str) -> Decimal {
    Decimal::parse(s).unwrap_or_else(|| panic!("{s}"))
}

#[test]
fn parse_normalises() {
    assert_eq!(d("1.50"), d("15e-1"));
    assert_eq!(d("-0"), d("0.000e99999999999999999999999"));
    assert_eq!(d("100"), d("1E+2"));
    assert_eq!(d("0.0012").exponent, -4);
    assert_eq!(d("1e400000").digits, [1]);
    for bad in
        ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "1x", "0x1", " 1", "1e99999999999999999999", "--1", "1.5.2"]
    {
        assert_eq!(Decimal::parse(bad), None, "{bad}");
    }
}

#[test]
fn order_is_numeric() {
    let sorted = [
        "-1e400000",
        "-10",
        "-9.99",
        "-1",
        "-0.5",
        "-1e-400000",
        "0",
        "1e-400000",
        "0.05",
        "0.5",
        "1",
        "1.0001",
        "10",
        "1e400000",
    ];
    for (i, a) in sorted.iter().enumerate() {
        for (j, b) in sorted.iter().enumerate() {
            assert_eq!(d(a).cmp(&d(b)), i.cmp(&j), "{a} {b}");
        }
    }
    for a in -300i64..300 {
        for b in -300i64..300 {
            let t = |n: i64| d(&format!("{n}e-2"));
            assert_eq!(t(a).cmp(&t(b)), a.cmp(&b));
        }
    }
}

#[test]
fn rounding_and_conversions() {
    for n in -350i64..350 {
        let x = d(&format!("{n}e-2"));
        assert_eq!(x.floor(), d(&n.div_euclid(100).to_string()), "{n}");
        assert_eq!(x.ceil(), d(&(-(-n).div_euclid(100)).to_string()), "{n}");
        assert_eq!(x.is_integer(), n % 100 == 0);
        assert_eq!(x.negate(), d(&format!("{}e-2", -n)));
    }
    assert_eq!(d("9.99").ceil(), d("10"));
    assert_eq!(d("1e-400000").ceil(), d("1"));
    assert_eq!(d("18446744073709551615.0").to_u64(), Some(u64::MAX));
    assert_eq!(d("18446744073709551616").to_u64(), None);
    assert_eq!(d("1e400000").to_u64(), None);
    assert_eq!(d("1e3").to_u64(), Some(1000));
    assert_eq!(d("-1").to_u64(), None);
    assert_eq!(d("0.5").to_u64(), None);
    assert_eq!(Decimal::from(0), d("0"));
    assert_eq!(Decimal::from(1200), d("1.2e3"));
}

#[test]
fn display_reads_back() {
    for (text, shown) in [
        ("0", "0"),
        ("-1.50", "-1.5"),
        ("1e3", "1000"),
        ("1e-3", "0.001"),
        ("12.5e400", "1.25e401"),
        ("-7e-99", "-7e-99"),
        ("123.456", "123.456"),
    ] {
        assert_eq!(d(text).to_string(), shown);
        assert_eq!(d(shown), d(text));
    }
}

#[test]
fn beginnings_of_texts_are_escaped_as_whole_ones_are() {
    let text: String = (0..0x120u32).filter_map(char::from_u32).chain(['"', '\\', '/', '\u{1F600}']).collect();
    let whole = canonical(&serde_json::to_vec(&text).unwrap()).unwrap();
    for end in 0..=text.len() {
        let mut begun = b"\"\"".to_vec();
        escape(&text.as_bytes()[..end], &mut begun);
        assert!(whole.starts_with(&begun), "{end}");
    }
}

/// A recursive twin over `serde_json::Value`: what the canonical text says, however it is read and written.
fn slow_canonical(v: &serde_json::Value) -> String {
    use serde_json::Value;
    match v {
        Value::Null | Value::Bool(_) => v.to_string(),
        Value::Number(n) => {
            let d = d(&n.to_string());
            let digits: String = d.digits.iter().map(|d| char::from(b'0' + d)).collect();
            format!("{}{digits}e{}", if d.negative { '-' } else { '+' }, d.exponent)
        }
        Value::String(_) => format!("\"{v}"),
        Value::Array(a) => format!("[{}]", a.iter().map(|v| slow_canonical(v) + ",").collect::<String>()),
        Value::Object(o) => {
            let sorted: std::collections::BTreeMap<_, _> = o.iter().collect();
            let member =
                |(k, v): (&String, &Value)| format!("{}:{},", serde_json::to_string(k).unwrap(), slow_canonical(v));
            format!("{{{}}}", sorted.into_iter().map(member).collect::<String>())
        }
    }
}

#[test]
fn canonical_texts_are_those_of_a_recursive_twin() {
    let mut r = crate::util::rng::Rng(5);
    let pieces: Vec<&[u8]> = [
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "1",
        "-0.50",
        "1e2",
        "1.0E+1",
        "null",
        "true",
        "false",
        " ",
        "\n",
        "\"a\"",
        "\"b\":",
        "\"\\u0061\":",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\\"\"",
        "01",
        "-",
        "\"",
        "tru",
        "é",
    ]
    .map(str::as_bytes)
    .to_vec();
    let mut read = 0;
    for i in 0..200_000 {
        // Documents, and texts of pieces that are mostly none.
        let text = if i % 2 == 0 {
            document(&mut r, 4)
        } else {
            (0..r.below(9)).flat_map(|_| pieces[r.below(pieces.len())].to_vec()).collect()
        };
        let own = canonical(&text);
        let twin = serde_json::from_slice::<serde_json::Value>(&text).ok().map(|v| slow_canonical(&v).into_bytes());
        assert_eq!(own.as_deref(), twin.as_deref(), "{}", String::from_utf8_lossy(&text));
        read += usize::from(own.is_some());
    }
    assert!(read > 100_000, "{read}");
}

/// A random document with blanks, escapes and keys that come again.
fn document(r: &mut crate::util::rng::Rng, depth: usize) -> Vec<u8> {
    let blank = [" ", "", "\t\n"][r.below(3)];
    let keys = ["\"a\"", "\"\\u0061\"", "\"b\"", "\"ä\"", "\"\\n\"", "\"\""];
    let inner = match r.below(if depth == 0 { 2 } else { 4 }) {
        0 => ["0", "-0.0", "12.50e-3", "1e100", "true", "null"][r.below(6)].as_bytes().to_vec(),
        1 => keys[r.below(keys.len())].as_bytes().to_vec(),
        kind => {
            let values = (0..r.below(4)).map(|_| match kind {
                2 => document(r, depth - 1),
                _ => [keys[r.below(keys.len())].as_bytes(), blank.as_bytes(), b":", &document(r, depth - 1)].concat(),
            });
            let joined = values.collect::<Vec<_>>().join(&b',');
            let (open, close): (&[u8], &[u8]) = if kind == 2 { (b"[", b"]") } else { (b"{", b"}") };
            [open, blank.as_bytes(), &joined, close].concat()
        }
    };
    [blank.as_bytes(), &inner, blank.as_bytes()].concat()
}

#[test]
fn values_of_any_depth_and_key_have_a_canonical_text() {
    let deep = |n: usize, open: &str, close: &str| format!("{}1{}", open.repeat(n), close.repeat(n)).into_bytes();
    for n in [127, 128, 100_000] {
        assert_eq!(canonical(&deep(n, "[", "]")).unwrap().len(), n * 3 + 4);
        assert_eq!(canonical(&deep(n, "{\"a\":", "}")), canonical(&deep(n, "{ \"\\u0061\" :", "\t}")));
    }
    // The name under which serde_json hands over numbers.
    let name = "{\"$serde_json::private::Number\":";
    for (a, b, same) in [("true", "true", true), ("\"1\"", "\"1\"", true), ("\"1\"", "1", false)] {
        let text = |v: &str| canonical(format!("{name}{v}}}").as_bytes()).unwrap();
        assert_eq!(text(a) == text(b), same);
        assert_ne!(*text(a), *canonical(b"1").unwrap());
    }
}
