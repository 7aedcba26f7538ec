use super::*;

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
    use super::canonical::{canonical, escape};
    let text: String = (0..0x120u32).filter_map(char::from_u32).chain(['"', '\\', '/', '\u{1F600}']).collect();
    let whole = canonical(&serde_json::to_vec(&text).unwrap()).unwrap();
    for end in 0..=text.len() {
        let mut begun = b"\"\"".to_vec();
        escape(&text.as_bytes()[..end], &mut begun);
        assert!(whole.starts_with(&begun), "{end}");
    }
}
