//! Patterns against what CPython's `re` says about them; `tests/tools/make_regex_cases.py` wrote the rows.

use interlock::expr::{ExprId, Exprs};
use interlock::regex::{Dialect, RegexOptions, lower_full, lower_search};
use interlock::{ErrorKind, Limits};
use serde_json::Value;

fn lowered(x: &mut Exprs, pattern: &str, flags: &str) -> ExprId {
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
    let valid = |pattern: String| {
        let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
        lower_full(&mut Exprs::new(100), &pattern, &options, &Limits::default()).is_ok()
    };
    let (start, on) = (ranges(&data["names"]["start"]), ranges(&data["names"]["continue"]));
    // The closing bracket of a name ends it, and names may go on with a few more since Unicode 15.1.
    for &c in assigned.iter().filter(|c| !">\u{200C}\u{200D}\u{30FB}\u{FF65}".contains(**c)) {
        let within = |ranges: &[(u32, u32)]| ranges.iter().any(|r| (r.0..=r.1).contains(&(c as u32)));
        assert_eq!(valid(format!("(?P<{c}>a)")), within(&start), "a name that begins with {:#x}", c as u32);
        assert_eq!(valid(format!("(?P<a{c}>a)")), within(&on), "a name with {:#x}", c as u32);
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

/// What the rival says about one pattern; the texts it accepts are null where it refuses the pattern.
struct Row<'a> {
    pattern: &'a str,
    flags: &'a str,
    accepted: &'a Value,
    refused: &'a Value,
}

/// Compares all rows; `read` says what a row means, and how its pattern is lowered.
fn rows_agree<'a>(
    rows: &'a [Value],
    at_least: usize,
    read: impl Fn(&'a Value) -> Row<'a>,
    lower: impl Fn(&mut Exprs, &'a Value) -> interlock::Result<ExprId>,
) {
    let (mut differences, mut unsupported, mut texts) = (Vec::new(), Vec::new(), 0);
    for row in rows {
        let Row { pattern, flags, accepted, refused } = read(row);
        let mut x = Exprs::new(1_500_000);
        let e = match lower(&mut x, row) {
            Ok(e) => e,
            Err(e) => {
                match (accepted.is_null(), e.kind()) {
                    (true, _) => {}
                    (false, ErrorKind::Unsupported) => unsupported.push(format!("{pattern:?}: {e}")),
                    (false, _) => differences.push(format!("{pattern:?} {flags:?} is refused: {e}")),
                }
                continue;
            }
        };
        if accepted.is_null() {
            differences.push(format!("{pattern:?} {flags:?} is a syntax error there"));
            continue;
        }
        for (list, expected) in [(accepted, true), (refused, false)] {
            for t in list.as_array().unwrap() {
                let t = t.as_str().unwrap();
                texts += 1;
                if x.accepts(e, t.as_bytes()) != expected {
                    differences.push(format!("{pattern:?} {flags:?} on {t:?}: expected {expected}"));
                }
            }
        }
        x.check().unwrap();
    }
    println!("{} patterns, {texts} texts, {} refused as unsupported", rows.len(), unsupported.len());
    for r in unsupported.iter().take(20) {
        println!("  {r}");
    }
    let shown = &differences[..differences.len().min(60)];
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), shown.join("\n"));
    assert!(texts > at_least && unsupported.len() * 10 < rows.len());
}

/// The committed rows, or those of the file that an environment variable names.
fn rows(variable: &str, name: &str) -> Vec<Value> {
    let path = std::env::var(variable)
        .unwrap_or_else(|_| format!("{}/tests/data/regex/{name}.json", env!("CARGO_MANIFEST_DIR")));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(v: &Value) -> &str {
    v.as_str().unwrap()
}

#[test]
fn python_rows_agree() {
    rows_agree(
        &rows("INTERLOCK_REGEX_ROWS", "python"),
        5_000,
        |row| Row { pattern: text(&row[0]), flags: text(&row[1]), accepted: &row[2], refused: &row[3] },
        |x, row| {
            let options = RegexOptions { dialect: Dialect::Python, flags: text(&row[1]).into() };
            lower_full(x, text(&row[0]), &options, &Limits::default())
        },
    );
}

#[test]
fn ecma_rows_agree() {
    rows_agree(
        &rows("INTERLOCK_ECMA_ROWS", "ecma"),
        3_000,
        |row| Row { pattern: text(&row[0]), flags: text(&row[1]), accepted: &row[3], refused: &row[4] },
        |x, row| {
            if row[2] == "search" {
                return lower_search(x, text(&row[0]), &Limits::default());
            }
            let options = RegexOptions { dialect: Dialect::Ecma, flags: text(&row[1]).into() };
            lower_full(x, text(&row[0]), &options, &Limits::default())
        },
    );
}
