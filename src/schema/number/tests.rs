use super::*;
use crate::error::ErrorKind;
use crate::util::rng::Rng;
use rustc_hash::FxHashMap;

fn d(s: &str) -> Decimal {
    Decimal::parse(s).unwrap_or_else(|| panic!("{s}"))
}

fn arena() -> Exprs {
    Exprs::new(1_000_000)
}

fn bounds(min: Option<(&str, bool)>, max: Option<(&str, bool)>, integer: bool, multiple_of: &[&str]) -> NumberBounds {
    let b = |o: Option<(&str, bool)>| o.map(|(t, open)| (d(t), open));
    let multiple_of = multiple_of.iter().map(|t| d(t)).collect();
    NumberBounds { min: b(min), max: b(max), integer, multiple_of, ..NumberBounds::default() }
}

/// Every state that `e` reaches can still be completed; answers the number of states.
fn assert_no_dead_ends(x: &mut Exprs, e: ExprId, max_states: usize) -> usize {
    if e == Exprs::NEVER {
        return 0;
    }
    let mut order = vec![e];
    let mut index: FxHashMap<ExprId, usize> = FxHashMap::default();
    index.insert(e, 0);
    let mut parents: Vec<Vec<usize>> = vec![Vec::new()];
    let mut i = 0;
    while i < order.len() {
        assert!(!x.is_boolean(order[i]));
        for edge in x.row(order[i]).iter() {
            let k = *index.entry(edge.to).or_insert(order.len());
            if k == order.len() {
                order.push(edge.to);
                parents.push(Vec::new());
            }
            parents[k].push(i);
        }
        i += 1;
        assert!(order.len() <= max_states, "more than {max_states} states");
    }
    let mut live = vec![false; order.len()];
    let mut work: Vec<usize> = (0..order.len()).filter(|&i| x.nullable(order[i])).collect();
    while let Some(i) = work.pop() {
        if !std::mem::replace(&mut live[i], true) {
            work.extend_from_slice(&parents[i]);
        }
    }
    assert!(live.iter().all(|&l| l), "dead end");
    order.len()
}

/// Random numbers.
struct Random(Rng);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    /// A decimal in thousandths and one of its spellings.
    fn decimal(&mut self, wide: bool) -> (i128, String) {
        let size = [1u64, 30, 1_000, 30_000, 2_000_000][self.below(if wide { 5 } else { 4 }) as usize];
        let n = i128::from(self.below(size)) * [1, 10, 100, 1000][self.below(4) as usize];
        let n = if self.below(2) == 0 { -n } else { n };
        (n, spell(n, self.below(3)))
    }
}

fn spell(n: i128, extra_zeros: u64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let (whole, fraction) = (n.abs() / 1000, format!("{:03}", n.abs() % 1000));
    let fraction = fraction.trim_end_matches('0');
    let zeros = "0".repeat(extra_zeros as usize);
    if fraction.is_empty() && extra_zeros == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}{zeros}")
    }
    .trim_end_matches('.')
    .to_string()
}

#[test]
fn ranges_agree_with_plain_arithmetic() {
    let mut random = Random(Rng(7));
    let (mut yes, mut no) = (0, 0);
    for round in 0..3_000 {
        let mut x = arena();
        let side = |r: &mut Random| (r.below(4) > 0).then(|| (r.decimal(true), r.below(2) == 0));
        let (min, max) = (side(&mut random), side(&mut random));
        let integer = random.below(3) == 0;
        let steps: Vec<i128> = (0..random.below(3))
            .map(|_| [1, 2, 5, 10, 25, 70, 125, 500, 1000, 3000, 7000, 12_000, 100_000][random.below(13) as usize])
            .collect();
        let except: Vec<i128> = (0..[0, 0, 1, 2, 3][random.below(5) as usize])
            .map(|_| [20, 250, 1000, 2000, 2500, 3000, 7000, 10_000][random.below(8) as usize])
            .collect();
        if min.is_none() && max.is_none() && steps.is_empty() && except.is_empty() {
            continue;
        }
        let b = NumberBounds {
            min: min.as_ref().map(|((_, t), open)| (d(t), *open)),
            max: max.as_ref().map(|((_, t), open)| (d(t), *open)),
            integer,
            multiple_of: steps.iter().map(|&n| d(&spell(n, 1))).collect(),
            not_multiple_of: except.iter().map(|&n| d(&spell(n, 1))).collect(),
            spelling: NumberSpelling::Any,
            unsigned_zero: false,
        };
        let e = number(&mut x, &b).unwrap();
        // A divisor has a state for each remainder and each number of digits to come.
        if round % 5 == 0
            && except.len() < 2
            && steps.iter().all(|s| s % 1000 == 0 || 1000 % s == 0)
            && steps.iter().all(|&s| s < 10_000)
        {
            assert_no_dead_ends(&mut x, e, 200_000);
        }
        let twin = |n: i128| {
            min.as_ref().is_none_or(|((m, _), open)| n > *m || (n == *m && !open))
                && max.as_ref().is_none_or(|((m, _), open)| n < *m || (n == *m && !open))
                && (!integer || n % 1000 == 0)
                && steps.iter().all(|s| n % s == 0)
                && except.iter().all(|s| n % s != 0)
        };
        let ends: Vec<i128> = [&min, &max].into_iter().flatten().map(|((n, _), _)| *n).chain([0]).collect();
        for _ in 0..150 {
            let end = ends[random.below(ends.len() as u64) as usize];
            let n = match random.below(4) {
                0 => random.decimal(true).0,
                1 => end + i128::from(random.below(5)) - 2,
                2 => (end / 1000 + i128::from(random.below(5)) - 2) * 1000,
                _ => end + random.decimal(false).0,
            };
            let text = spell(n, random.below(3));
            let expected = twin(n);
            assert_eq!(x.accepts(e, text.as_bytes()), expected, "{text} in {b:?}");
            if expected {
                yes += 1
            } else {
                no += 1
            }
            // A prefix that ends in a sign or a point is never a number, nor is a leading zero.
            assert!(!x.accepts(e, format!("{}.", text.split('.').next().unwrap()).as_bytes()));
            assert!(!x.accepts(e, format!("0{}", text.trim_start_matches('-')).as_bytes()));
        }
    }
    assert!(yes > 20_000 && no > 20_000, "{yes} {no}");
}

#[test]
fn small_ranges_exhaustively() {
    // All plain decimals of up to three digits and all ranges with ends in tenths between -1.2 and 1.2.
    let mut texts = Vec::new();
    for n in -1300i128..=1300 {
        texts.push((n, spell(n, 0)));
    }
    for lo in (-12..=12).step_by(3) {
        for hi in (lo..=12).step_by(2) {
            for open in [(false, false), (true, false), (false, true), (true, true)] {
                let mut x = arena();
                let b = NumberBounds {
                    min: Some((d(&format!("{lo}e-1")), open.0)),
                    max: Some((d(&format!("{hi}e-1")), open.1)),
                    ..NumberBounds::default()
                };
                let e = number(&mut x, &b).unwrap();
                assert_eq!(e == Exprs::NEVER, lo == hi && (open.0 || open.1));
                for (n, t) in &texts {
                    let expected = (if open.0 { *n > lo * 100 } else { *n >= lo * 100 })
                        && (if open.1 { *n < hi * 100 } else { *n <= hi * 100 });
                    assert_eq!(x.accepts(e, t.as_bytes()), expected, "{t} {b:?}");
                }
            }
        }
    }
}

#[test]
fn unbounded_numbers_are_json_numbers() {
    let mut x = arena();
    let e = number(&mut x, &NumberBounds::default()).unwrap();
    for good in
        ["0", "-0", "1", "10", "-1.5", "0.0", "1e5", "1E-05", "1e+22", "0e0", "12.50E+007", "5e-324", "1e308", "0.0075"]
    {
        assert!(x.accepts(e, good.as_bytes()), "{good}");
    }
    assert!(x.accepts(e, b"98249283749234923498293171823948729348710298301928331"));
    for bad in
        ["", "-", "00", "01", "-01", "1.", ".5", "+1", "1e", "1e+", "1.e5", "e5", "1.5.5", "0x1", "1_0", " 1", "1e1.5"]
    {
        assert!(!x.accepts(e, bad.as_bytes()), "{bad}");
    }
    assert!(x.accepts(e, "9".repeat(80).as_bytes()) && !x.accepts(e, "9".repeat(81).as_bytes()));
    assert!(assert_no_dead_ends(&mut x, e, 1_000) < 300);
}

#[test]
fn unbounded_integers() {
    let mut x = arena();
    let e = number(&mut x, &bounds(None, None, true, &[])).unwrap();
    for good in
        ["0", "-0", "1.0", "-12.000", "1e3", "1E+03", "1.5e1", "1.5e+199", "0.5e1", "12.345e3", "1.25e2", "1e00"]
    {
        assert!(x.accepts(e, good.as_bytes()), "{good}");
    }
    for bad in
        ["0.5", "1.01", "1e-1", "1.5e0", "1.55e1", "1.", "1.0e", "1.e1", "1.234567890123e11", "01", "1.25e01", "1e200"]
    {
        assert!(!x.accepts(e, bad.as_bytes()), "{bad}");
    }
    for f in 1..=32usize {
        for exponent in 0..120 {
            let text = format!("1.{}e{exponent}", "3".repeat(f));
            assert_eq!(x.accepts(e, text.as_bytes()), exponent >= f, "{text}");
        }
    }
    assert!(assert_no_dead_ends(&mut x, e, 1_000) < 600);
}

#[test]
fn bounds_of_any_size() {
    let mut x = arena();
    let mut check = |b: NumberBounds, good: &[&str], bad: &[&str]| {
        let e = number(&mut x, &b).unwrap();
        if !b.multiple_of.contains(&d("0.123456789")) {
            assert_no_dead_ends(&mut x, e, 3_000);
        }
        for t in good {
            assert!(x.accepts(e, t.as_bytes()), "{t} {b:?}");
        }
        for t in bad {
            assert!(!x.accepts(e, t.as_bytes()), "{t} {b:?}");
        }
    };
    check(bounds(Some(("0", true)), None, false, &[]), &["0.001", "1", "99"], &["0", "0.00", "-0", "-1", "-0.1"]);
    check(bounds(Some(("0", false)), None, true, &[]), &["0", "-0", "-0.0", "7"], &["-1", "0.5"]);
    check(
        bounds(Some(("-1.7976931348623157e308", false)), Some(("1.7976931348623157E+308", false)), false, &[]),
        &["1", "-5.5"],
        &["1e5"],
    );
    check(bounds(Some(("1e400000", true)), Some(("0", false)), false, &[]), &[], &["0"]);
    check(bounds(Some(("-1e400000", true)), Some(("1e-400000", false)), false, &[]), &["0", "-1"], &["0.1", "1e-5"]);
    check(bounds(Some(("4.9e-324", false)), None, false, &[]), &["0.0001", "3"], &["0", "-1"]);
    check(
        bounds(Some(("1e-50", true)), Some(("2e-50", true)), false, &[]),
        &["0.000000000000000000000000000000000000000000000000015"],
        &["0", "0.00000000000000000000000000000000000000000000000001", "1"],
    );
    let ceiling = "9".repeat(308);
    check(bounds(Some(("1e308", true)), None, true, &[]), &[&format!("1{}1", "0".repeat(307))], &["1", &ceiling]);
    check(
        bounds(Some(("-9223372036854775808", false)), Some(("9223372036854775807", false)), true, &[]),
        &["-9223372036854775808", "9223372036854775807", "9223372036854775807.0", "0"],
        &["9223372036854775808", "-9223372036854775809", "9223372036854775807.1"],
    );
    check(bounds(Some(("1.5", false)), Some(("1.9", false)), true, &[]), &[], &["1", "2", "1.5"]);
    check(bounds(None, None, false, &["1e-8"]), &["12391239123", "0.00000001", "1.5"], &["0.000000001"]);
    check(bounds(None, None, false, &["0.0001"]), &["0.0075"], &["0.00751"]);
    check(bounds(None, None, true, &["0.123456789"]), &["123456789", "0", "-123456789.0"], &["1", "12345678"]);
    check(bounds(Some(("10", false)), Some(("20", false)), false, &["1e-60"]), &["10.5", "20"], &["20.1"]);
    assert_eq!(
        number(&mut x, &bounds(Some(("1e5000", false)), None, false, &[])).unwrap_err().kind(),
        ErrorKind::Limit
    );
    assert_eq!(number(&mut x, &bounds(None, None, false, &["1e50"])).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(number(&mut x, &bounds(None, None, false, &["0"])).unwrap_err().kind(), ErrorKind::Schema);
    let e = number(&mut x, &bounds(Some(("1", false)), Some(("9", false)), true, &["1000"])).unwrap();
    assert_eq!(e, Exprs::NEVER);
}

/// What is beyond a fixed limit says which and by how much.
#[test]
fn errors_of_digits_have_both_numbers() {
    let said = |min: Option<&str>, max: Option<&str>, integer: bool, multiple_of: &[&str]| {
        let b = bounds(min.map(|d| (d, false)), max.map(|d| (d, false)), integer, multiple_of);
        let e = number(&mut arena(), &b).err()?;
        assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, None));
        e.limit_values()
    };
    let power = (1u128 << 120).to_string();
    for integer in [false, true] {
        assert_eq!(said(None, None, integer, &[&power]), Some((120, 121)));
        assert_eq!(said(None, None, integer, &["1e38"]), Some((120, 127)));
        assert_eq!(said(None, None, integer, &["1e50"]), Some((120, 167)));
        assert_eq!(said(None, None, integer, &["1e200000000000000"]).unwrap().0, 120);
        assert_eq!(said(None, None, integer, &["3e-500"]), Some((400, 500)));
        assert_eq!(said(None, None, integer, &["1e30", "7e29", "12345678912345678911"]), Some((120, 121)));
    }
    let mut many = bounds(None, None, true, &[]);
    let primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29u64];
    let pairs = primes.iter().flat_map(|p| primes.iter().filter(move |q| *q > p).map(move |q| Decimal::from(p * q)));
    many.not_multiple_of = pairs.take(25).collect();
    assert_eq!(number(&mut arena(), &many).unwrap_err().limit_values(), Some((24, 25)));
    many.not_multiple_of.pop();
    number(&mut arena(), &many).unwrap();
    // Behind the point bounds are rounded, unless nothing is left between them.
    assert_eq!(said(Some("1e500"), None, false, &[]), Some((400, 501)));
    assert_eq!(said(Some("-1e500"), Some("1e500"), false, &[]), None);
    assert_eq!(said(Some("1e-4000"), None, false, &[]), None);
    assert_eq!(said(Some(&format!("1.{}1", "0".repeat(500))), None, false, &[]), None);
    assert_eq!(said(Some("1e-399"), Some("2e-399"), false, &[]), None);
    assert_eq!(said(Some("1e-400"), Some("2e-400"), false, &[]), Some((400, 401)));
}

#[test]
fn constants() {
    let mut x = arena();
    for (value, good, bad) in [
        ("1.50", vec!["1.5", "1.50", "1.5000"], vec!["1.51", "1.", "1", "15e-1", "-1.5"]),
        ("0", vec!["0", "-0", "0.0", "-0.00"], vec!["0.01", "0e5", "00"]),
        ("1e100", vec!["1e100", "1e+100", "1E0100"], vec!["1e10", "1e1000", "1"]),
        ("-1.25e-7", vec!["-1.25e-7", "-1.25e-07", "-0.000000125", "-0.0000001250"], vec!["1.25e-7", "-1.25e7"]),
        ("1e400000", vec!["1e400000", "1e+400000"], vec!["1e40000"]),
        ("1e22", vec!["10000000000000000000000", "10000000000000000000000.0", "1e+22"], vec!["1000000000000000000000"]),
    ] {
        let e = constant(&mut x, &d(value));
        assert_no_dead_ends(&mut x, e, 1_000);
        for t in good {
            assert!(x.accepts(e, t.as_bytes()), "{t} = {value}");
        }
        for t in bad {
            assert!(!x.accepts(e, t.as_bytes()), "{t} = {value}");
        }
    }
}

/// Against the text that was parsed: a constant can be spelled as the schema spells it, however many digits it has.
#[test]
fn a_constant_of_many_digits_keeps_its_spelling() {
    let mut x = arena();
    for n in [1, 30, 79, 399, 400, 401, 5_000] {
        let digits = format!("1{}", "23".repeat(n));
        for (text, good, bad) in [
            (digits.clone(), format!("{digits}.00"), digits[1..].to_string()),
            (format!("-{digits}"), format!("-{digits}.0"), digits.clone()),
            (format!("{digits}00"), format!("{digits}00.0"), digits.clone()),
            (format!("0.{digits}"), format!("0.{digits}"), format!("0.{digits}1")),
            (format!("0.00{digits}"), format!("0.00{digits}"), format!("0.0{digits}")),
            (format!("{digits}.{digits}"), format!("{digits}.{digits}"), digits.clone()),
        ] {
            let e = constant(&mut x, &d(&text));
            for t in [&text, &good] {
                assert!(x.accepts(e, t.as_bytes()), "{n}: {t}");
            }
            assert!(!x.accepts(e, bad.as_bytes()), "{n}: {bad}");
        }
    }
    for (value, plain) in [("1e400", true), ("1e401", false), ("12e400", true), ("1e-401", true), ("1e-402", false)] {
        let value_d = d(value);
        let (whole, fraction) = value_d.plain_digits();
        let text = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
        let e = constant(&mut x, &value_d);
        assert_eq!(x.accepts(e, text.as_bytes()), plain, "{value}");
    }
}

#[test]
fn a_fraction_may_be_forbidden_or_required() {
    let mut x = arena();
    for (b, bare, pointed) in [
        (bounds(None, None, false, &[]), vec!["0", "-7", "120"], vec!["0.0", "-7.5", "120.25"]),
        (bounds(Some(("3", false)), Some(("40", true)), true, &[]), vec!["3", "39"], vec!["3.0", "39.000"]),
        (bounds(Some(("0.5", false)), None, false, &["0.5"]), vec!["1", "12"], vec!["0.5", "1.0", "1.50"]),
    ] {
        let bare_only = number(&mut x, &NumberBounds { spelling: NumberSpelling::Bare, ..b.clone() }).unwrap();
        let pointed_only = number(&mut x, &NumberBounds { spelling: NumberSpelling::Pointed, ..b.clone() }).unwrap();
        assert_no_dead_ends(&mut x, bare_only, 100_000);
        for t in bare {
            assert!(x.accepts(bare_only, t.as_bytes()) && !x.accepts(pointed_only, t.as_bytes()), "{t} {b:?}");
        }
        for t in pointed {
            assert!(!x.accepts(bare_only, t.as_bytes()) && x.accepts(pointed_only, t.as_bytes()), "{t} {b:?}");
        }
        assert!(!x.accepts(bare_only, b"1e3") && !x.accepts(pointed_only, b"1.5e3"));
    }
}

#[test]
fn zero_may_have_no_sign() {
    let ends =
        [None, Some(("-3", false)), Some(("0", false)), Some(("0", true)), Some(("0.5", false)), Some(("4", true))];
    let divisors: [&[&str]; 3] = [&[], &["2"], &["1.5"]];
    for (min, max) in ends.iter().flat_map(|min| ends.iter().map(move |max| (*min, *max))) {
        for multiple_of in divisors {
            let mut x = arena();
            let bare = NumberBounds { spelling: NumberSpelling::Bare, ..bounds(min, max, true, multiple_of) };
            let with_sign = number(&mut x, &bare).unwrap();
            let without = number(&mut x, &NumberBounds { unsigned_zero: true, ..bare.clone() }).unwrap();
            // No value is lost: every whole number but `-0` is what it was.
            assert_eq!(with_sign == Exprs::NEVER, without == Exprs::NEVER, "{bare:?}");
            assert_no_dead_ends(&mut x, without, 100_000);
            assert!(!x.accepts(without, b"-0") && !x.accepts(without, b"-00"), "{bare:?}");
            assert_eq!(x.accepts(with_sign, b"-0"), x.accepts(without, b"0"), "{bare:?}");
            for n in -130..130 {
                let text = n.to_string();
                assert_eq!(x.accepts(with_sign, text.as_bytes()), x.accepts(without, text.as_bytes()), "{n} {bare:?}");
            }
        }
    }
}

#[test]
fn numbers_that_are_not_whole_forget_what_they_have_read() {
    let mut x = arena();
    let e = number(&mut x, &NumberBounds { not_multiple_of: vec![d("1")], ..NumberBounds::default() }).unwrap();
    // Two signs, 80 whole digits, and fractions of zeros and of anything.
    let states = assert_no_dead_ends(&mut x, e, 1_000);
    assert!(states < 400, "{states}");
    for (t, wanted) in [("0.1", true), ("-12.000001", true), ("3", false), ("3.0", false), ("0.5e1", false)] {
        assert_eq!(x.accepts(e, t.as_bytes()), wanted, "{t}");
    }
    let whole = NumberBounds { integer: true, not_multiple_of: vec![d("1")], ..NumberBounds::default() };
    assert_eq!(number(&mut x, &whole).unwrap(), Exprs::NEVER);
}

#[test]
fn divisors_and_what_a_double_keeps() {
    let mut x = Exprs::new(1_000_000);
    let of = |n: &str| Decimal::parse(n).unwrap();
    let whole = NumberBounds { multiple_of: vec![of("3")], ..Default::default() };
    let cents = NumberBounds { multiple_of: vec![of("0.01")], ..Default::default() };
    let others = NumberBounds { not_multiple_of: vec![of("8")], ..Default::default() };
    let far = NumberBounds { min: Some((of("1e20"), false)), ..whole.clone() };
    let cases: [(&NumberBounds, &[&str], &[&str]); 4] = [
        (&whole, &["3", "-3.0", "999999999999999.00", "3000000000000000000000"], &["1", "3000000000000000.0", "3.1"]),
        (&cents, &["0.01", "9999999999999.99", "-12345678901234567890"], &["0.001", "10000000000000.01"]),
        (&others, &["1", "8.5", "12345678901234567891"], &["8", "16.0", "1234567890123456.5"]),
        (&far, &["300000000000000000000"], &["3", "300000000000000000000.0"]),
    ];
    for (b, good, bad) in cases {
        let e = number(&mut x, b).unwrap();
        assert!(!x.is_boolean(e));
        for t in good {
            assert!(x.accepts(e, t.as_bytes()), "{t} {b:?}");
        }
        for t in bad {
            assert!(!x.accepts(e, t.as_bytes()), "{t} {b:?}");
        }
    }
}

#[test]
fn what_is_seen_without_an_expression_agrees_with_it() {
    let some: [Option<(&str, bool)>; 10] = [
        None,
        Some(("0", false)),
        Some(("0", true)),
        Some(("-7", false)),
        Some(("7", true)),
        Some(("7", false)),
        Some(("7.25", false)),
        Some(("7.5", true)),
        Some(("1e60", false)),
        Some(("-1e500", false)),
    ];
    let divisors: [&[&str]; 6] = [&[], &["1"], &["3"], &["0.5"], &["6", "0.25"], &["1e50"]];
    let refused: [&[&str]; 6] = [&[], &["1"], &["6"], &["0.5"], &["2", "3", "5"], &["0"]];
    let mut seen = 0;
    for (min, max) in some.iter().flat_map(|min| some.iter().map(move |max| (*min, *max))) {
        for (multiple_of, not) in divisors.iter().flat_map(|m| refused.iter().map(move |n| (*m, *n))) {
            for (integer, spelling) in [
                (false, NumberSpelling::Any),
                (true, NumberSpelling::Any),
                (true, NumberSpelling::Bare),
                (false, NumberSpelling::Pointed),
            ] {
                let not_multiple_of = not.iter().map(|t| d(t)).collect();
                let b = NumberBounds { not_multiple_of, spelling, ..bounds(min, max, integer, multiple_of) };
                let hollow =
                    b.min.as_ref().zip(b.max.as_ref()).is_some_and(|(l, h)| l.0 > h.0 || (l.0 == h.0 && (l.1 || h.1)));
                let mut x = arena();
                let made = number(&mut x, &b);
                // Where bounds exclude each other nothing else is looked at, by either.
                if !hollow {
                    assert_eq!(check(&b).err().map(|e| e.kind()), made.as_ref().err().map(|e| e.kind()), "{b:?}");
                    if let Ok(e) = made {
                        assert!(!has_whole(&b) || e != Exprs::NEVER, "{b:?}");
                        seen += usize::from(has_whole(&b));
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn zeros_at_the_end_do_not_count_beside_a_divisor() {
    let cases = [
        ("100000000000000.0", true),
        ("1000000000000000.0", false),
        ("1000000000000000", true),
        ("10000000000000.5", true),
        ("-10000000000000.50000", true),
        ("100000000000000.5", false),
        ("1000000000000.25", true),
        ("10000000000000.25", false),
        ("10000000000000.2", false),
        ("0.75", true),
    ];
    let mut x = arena();
    let e = number(&mut x, &bounds(None, None, false, &["0.25"])).unwrap();
    for (text, accepted) in cases {
        assert_eq!(x.accepts(e, text.as_bytes()), accepted, "{text}");
    }
    assert_no_dead_ends(&mut x, e, 10_000);
    // Where a power of ten beside the divisor is too large, the divisor is still taken.
    let wide = number(&mut x, &bounds(None, None, false, &["3e-60"])).unwrap();
    assert!(x.accepts(wide, b"0.0") && x.accepts(wide, b"3"));
}
