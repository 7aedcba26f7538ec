//! Patterns against what CPython's `re` says about them; `tests/tools/make_regex_cases.py` wrote the rows.

use interlock::frontend::regex::{Dialect, RegexOptions, lower_full};
use interlock::ir::Exprs;
use interlock::{ErrorKind, Limits};
use serde_json::Value;

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
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences[..differences.len().min(60)].join("\n"));
    assert!(texts > 5_000 && refused.len() * 20 < rows.len());
}
