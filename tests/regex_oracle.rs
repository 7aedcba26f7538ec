//! Patterns against what CPython's `re` says about them; `tests/tools/make_regex_cases.py` wrote the rows.

use interlock::frontend::regex::{Dialect, RegexOptions, lower_full, lower_search};
use interlock::ir::Exprs;
use interlock::{ErrorKind, Limits};
use serde_json::Value;

fn lowered(x: &mut Exprs, pattern: &str, flags: &str) -> interlock::ir::ExprId {
    let options = RegexOptions { dialect: Dialect::Python, flags: flags.into() };
    lower_full(x, pattern, &options, &Limits::default()).unwrap()
}

fn ranges(v: &Value) -> Vec<(u32, u32)> {
    let number = |v: &Value| v.as_u64().unwrap() as u32;
    v.as_array().unwrap().iter().map(|r| (number(&r[0]), number(&r[1]))).collect()
}

#[test]
fn python_classes_and_case_agree() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/regex/python_unicode.json");
    let data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let assigned: Vec<char> =
        ranges(&data["assigned"]).into_iter().flat_map(|(a, b)| a..=b).filter_map(char::from_u32).collect();
    let mut x = Exprs::new(5_000_000);
    for (name, expected) in data["classes"].as_object().unwrap() {
        let e = lowered(&mut x, &format!("\\{}", &name[..1]), &name[1..]);
        let expected = ranges(expected);
        for &c in &assigned {
            let i = expected.partition_point(|r| r.1 < c as u32);
            let member = expected.get(i).is_some_and(|r| r.0 <= c as u32);
            assert_eq!(x.accepts(e, c.to_string().as_bytes()), member, "{name} on {:#x}", c as u32);
        }
    }
    let groups = data["fold"].as_array().unwrap();
    let folded: Vec<char> = groups
        .iter()
        .flat_map(|g| g.as_array().unwrap())
        .map(|c| char::from_u32(c.as_u64().unwrap() as u32).unwrap())
        .collect();
    for group in groups {
        let group: Vec<char> =
            group.as_array().unwrap().iter().map(|c| char::from_u32(c.as_u64().unwrap() as u32).unwrap()).collect();
        for &c in &group {
            let e = lowered(&mut x, &c.to_string(), "i");
            for &d in group.iter().chain(folded.iter().filter(|d| (**d as u32).abs_diff(c as u32) < 64)) {
                assert_eq!(x.accepts(e, d.to_string().as_bytes()), group.contains(&d), "{c:?} on {d:?}");
            }
        }
    }
}

#[test]
fn python_rows_agree() {
    let path = std::env::var("INTERLOCK_REGEX_ROWS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/regex/python.json").into());
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (mut differences, mut refused, mut texts) = (Vec::new(), Vec::new(), 0);
    for row in &rows {
        let (pattern, flags) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        let options = RegexOptions { dialect: Dialect::Python, flags: flags.into() };
        let mut x = Exprs::new(1_500_000);
        let e = match lower_full(&mut x, pattern, &options, &Limits::default()) {
            Ok(e) => e,
            Err(e) => {
                match (row[2].is_null(), e.kind()) {
                    (true, _) => {}
                    (false, ErrorKind::Unsupported) => refused.push(format!("{pattern:?}: {e}")),
                    (false, _) => differences.push(format!("{pattern:?} {flags:?} is refused: {e}")),
                }
                continue;
            }
        };
        if row[2].is_null() {
            differences.push(format!("{pattern:?} {flags:?} is a syntax error in CPython"));
            continue;
        }
        for (list, expected) in [(&row[2], true), (&row[3], false)] {
            for t in list.as_array().unwrap() {
                let t = t.as_str().unwrap();
                texts += 1;
                if x.accepts(e, t.as_bytes()) != expected {
                    differences.push(format!("{pattern:?} {flags:?} on {t:?}: CPython says {expected}"));
                }
            }
        }
        x.check().unwrap();
    }
    println!("{} patterns, {texts} texts, {} refused as unsupported", rows.len(), refused.len());
    for r in refused.iter().take(20) {
        println!("  {r}");
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences[..differences.len().min(60)].join("\n")
    );
    assert!(texts > 5_000 && refused.len() * 10 < rows.len());
}

#[test]
fn ecma_rows_agree() {
    let path = std::env::var("INTERLOCK_ECMA_ROWS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/regex/ecma.json").into());
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut differences, mut refused, mut texts) = (Vec::new(), Vec::new(), 0);
    for row in &rows {
        let (pattern, flags) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        let mut x = Exprs::new(1_500_000);
        let lowered = if row[2] == "search" {
            lower_search(&mut x, pattern, &Limits::default())
        } else {
            let options = RegexOptions { dialect: Dialect::Ecma, flags: flags.into() };
            lower_full(&mut x, pattern, &options, &Limits::default())
        };
        let e = match lowered {
            Ok(e) => e,
            Err(e) => {
                match (row[3].is_null(), e.kind()) {
                    (true, _) => {}
                    (false, ErrorKind::Unsupported) => refused.push(format!("{pattern:?}: {e}")),
                    (false, _) => differences.push(format!("{pattern:?} {flags:?} is refused: {e}")),
                }
                continue;
            }
        };
        if row[3].is_null() {
            differences.push(format!("{pattern:?} {flags:?} is a syntax error"));
            continue;
        }
        for (list, expected) in [(&row[3], true), (&row[4], false)] {
            for t in list.as_array().unwrap() {
                let t = t.as_str().unwrap();
                texts += 1;
                if x.accepts(e, t.as_bytes()) != expected {
                    differences.push(format!("{pattern:?} {flags:?} {} on {t:?}: expected {expected}", row[2]));
                }
            }
        }
        x.check().unwrap();
    }
    println!("{} patterns, {texts} texts, {} refused as unsupported", rows.len(), refused.len());
    for r in refused.iter().take(20) {
        println!("  {r}");
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences[..differences.len().min(60)].join("\n")
    );
    assert!(texts > 3_000 && refused.len() * 10 < rows.len());
}
