use super::*;

#[test]
fn numbers_are_written_as_python_writes_them() {
    for (text, expected) in [
        ("5", "5"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("5.0", "5.0"),
        ("5e0", "5.0"),
        ("1.50", "1.5"),
        ("1E5", "100000.0"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("1.25e-7", "1.25e-07"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1e100", "1e+100"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        // No float has this value, or is as large.
        ("0.12345678901234567890123", "0.12345678901234567890123"),
        ("1e400", "1e400"),
    ] {
        let value = Decimal::parse(text).unwrap();
        assert_eq!(written(text, &value), expected, "{text}");
        assert_eq!(Decimal::parse(&written(text, &value)), Some(value), "{text}");
    }
}
