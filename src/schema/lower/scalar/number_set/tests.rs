//! Random combinations of number keywords against plain arithmetic on thousandths.

use serde_json::{Value, json};

use super::*;
use crate::schema::{SchemaOptions, lower, parse_schema};
use crate::util::rng::Rng;
use crate::{ErrorKind, Limits};

/// Random schemas; of draft 4 where that is said.
struct Random(Rng, bool);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn schema(&mut self, depth: u64) -> Value {
        if depth == 0 || self.below(4) == 0 {
            let bound = json!(self.pick(&[-2.5, -1.0, 0.0, 0.25, 1.0, 2.0, 2.5, 3.0, 6.0]));
            let step = json!(self.pick(&[0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0]));
            // Draft 4 has no `const` and no `if`, and its exclusive bounds are flags.
            let leaf = if self.1 { self.pick(&[0, 1, 4, 5, 5, 7]) } else { self.below(8) };
            return match leaf {
                0 => json!({"minimum": bound}),
                1 => json!({"maximum": bound}),
                2 => json!({"exclusiveMinimum": bound}),
                3 => json!({"exclusiveMaximum": bound, "minimum": -2}),
                4 => json!({"multipleOf": step}),
                5 => json!({"type": "integer"}),
                6 => json!({"const": bound}),
                _ => json!({"enum": [bound, step]}),
            };
        }
        let children: Vec<Value> = (0..2 + self.below(2)).map(|_| self.schema(depth - 1)).collect();
        let applicator = if self.1 { self.pick(&[0, 1, 3, 5]) } else { self.below(6) };
        match applicator {
            0 => json!({"allOf": children}),
            1 | 2 => json!({"anyOf": children}),
            3 => json!({"oneOf": children}),
            4 => json!({"if": children[0], "then": children[1], "else": self.schema(depth - 1)}),
            _ => json!({"not": children[0]}),
        }
    }
}

/// Whether the text of `n` thousandths satisfies a schema.
fn twin(s: &Value, n: i64, text: &str, bare: bool) -> bool {
    let thousandths = |v: &Value| (v.as_f64().unwrap() * 1000.0).round() as i64;
    s.as_object().unwrap().iter().all(|(k, v)| {
        let list = || v.as_array().unwrap().iter().filter(|c| twin(c, n, text, bare)).count();
        match k.as_str() {
            "minimum" => n >= thousandths(v),
            "maximum" => n <= thousandths(v),
            "exclusiveMinimum" => n > thousandths(v),
            "exclusiveMaximum" => n < thousandths(v),
            "multipleOf" => n % thousandths(v) == 0,
            "type" if v == "integer" => n % 1000 == 0 && !(bare && text.contains('.')),
            "const" => n == thousandths(v),
            "enum" => v.as_array().unwrap().iter().any(|v| n == thousandths(v)),
            "allOf" => list() == v.as_array().unwrap().len(),
            "anyOf" => list() > 0,
            "oneOf" => list() == 1,
            "not" => !twin(v, n, text, bare),
            "if" => twin(if twin(v, n, text, bare) { &s["then"] } else { &s["else"] }, n, text, bare),
            _ => true,
        }
    })
}

fn spell(n: i64, zeros: usize) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let fraction = format!("{:03}", n.abs() % 1000);
    let fraction = format!("{}{}", fraction.trim_end_matches('0'), "0".repeat(zeros));
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", n.abs() / 1000)
}

fn agrees(dialect: &str, bare: bool, seed: u64) {
    let mut random = Random(Rng(seed), bare);
    let limits = Limits::default();
    let (mut yes, mut no, mut empty) = (0, 0, 0);
    for _ in 0..400 {
        let mut schema = json!({"type": "number", "allOf": [random.schema(3), random.schema(2)]});
        schema["$schema"] = json!(dialect);
        let (model, mut report) = parse_schema(&schema.to_string(), &SchemaOptions::default(), &limits).unwrap();
        let mut rules = match lower(&model, &SchemaOptions::default(), &limits, &mut report) {
            Ok(r) => Some(r),
            Err(e) if e.kind() == ErrorKind::Unsatisfiable => None,
            Err(e) => panic!("{e} {schema}"),
        };
        let e = rules.as_ref().and_then(|r| r.rules[r.root.0 as usize].literals);
        empty += usize::from(e.is_none());
        if let (Some(r), Some(e)) = (&rules, e) {
            assert!(!r.exprs.is_boolean(e), "{schema}");
        }
        for n in (-8_000..8_000).step_by(125).chain([-6001, -1, 1, 999, 2499, 2501, 3001]) {
            for zeros in 0..3 {
                let text = spell(n, zeros);
                let wanted = twin(&schema, n, &text, bare);
                let got = match (&mut rules, e) {
                    (Some(r), Some(e)) => r.exprs.accepts(e, text.as_bytes()),
                    _ => false,
                };
                assert_eq!(got, wanted, "{text} {schema}");
                *(if wanted { &mut yes } else { &mut no }) += 1;
            }
        }
    }
    assert!(yes > 5_000 && no > 5_000 && empty > 3, "{yes} {no} {empty}");
}

#[test]
fn combinations_agree_with_plain_arithmetic() {
    agrees("https://json-schema.org/draft/2020-12/schema", false, 11);
}

#[test]
fn combinations_of_draft_4_agree_with_plain_arithmetic() {
    agrees("http://json-schema.org/draft-04/schema#", true, 12);
}

#[test]
fn multiples_of_long_decimals() {
    let d = |s: &str| Decimal::parse(s).unwrap();
    for (n, m, wanted) in [
        ("0", "7", true),
        ("1e400", "125", true),
        ("1e400", "3", false),
        ("1e-40", "1", false),
        ("123456789012345678901234567890123456789012345678", "2", true),
        ("123456789012345678901234567890123456789012345679", "2", false),
        ("-7.5", "2.5", true),
        ("7.5", "0.75", true),
        ("7.5", "75", false),
        ("30", "4", false),
    ] {
        assert_eq!(is_multiple(&d(n), &d(m)), Some(wanted), "{n} {m}");
    }
    let long = d("1234567890123456789012345678901234567890123");
    assert_eq!(is_multiple(&d("5"), &long), None);
}

#[test]
fn neighbours_join() {
    let piece = |min: Option<(&str, bool)>, max: Option<(&str, bool)>| {
        let b = |o: Option<(&str, bool)>| o.map(|(t, open)| (Decimal::parse(t).unwrap(), open));
        Arc::new(NumberBounds { min: b(min), max: b(max), ..NumberBounds::default() })
    };
    let mut v = Vec::new();
    push_piece(&mut v, piece(None, Some(("1", true))));
    push_piece(&mut v, piece(Some(("1", true)), Some(("2", false))));
    assert_eq!(v.len(), 2);
    push_piece(&mut v, piece(Some(("0", false)), Some(("1", false))));
    assert_eq!(v, [piece(None, Some(("2", false)))]);
    push_piece(&mut v, piece(Some(("2", true)), None));
    assert_eq!(*v[0], NumberBounds::default());
}
