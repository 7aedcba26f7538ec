use super::*;

/// String cases of the official test suite: format, then `[text, valid]`.
const CASES: &str = include_str!("../../../../tests/data/schema/formats.json");

fn cases() -> Vec<(String, Vec<(String, bool)>)> {
    let json: serde_json::Value = serde_json::from_str(CASES).unwrap();
    let cases = |v: &serde_json::Value| {
        v.as_array().unwrap().iter().map(|c| (c[0].as_str().unwrap().to_string(), c[1].as_bool().unwrap())).collect()
    };
    json.as_object().unwrap().iter().map(|(k, v)| (k.clone(), cases(v))).collect()
}

#[test]
fn official_cases() {
    let (mut right, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for (format, cases) in cases() {
        let mut x = Exprs::new(1_000_000);
        let Some(f) = lower(&mut x, &format) else {
            assert_eq!(format, "unknown");
            continue;
        };
        for (text, valid) in cases {
            match (x.accepts(f.text, text.as_bytes()), valid) {
                (true, false) => wrong.push(format!("{format} {text:?}")),
                (false, true) => refused.push(format!("{format} {text:?}")),
                _ => right += 1,
            }
        }
    }
    eprintln!("{right} right, accepted wrongly: {wrong:#?}, refused: {refused:#?}");
}
