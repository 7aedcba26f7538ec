//! Lowered rules against the official test suite and MaskBench, where their files are at hand.
//!
//! `INTERLOCK_SCHEMA_DATA` names a folder with `tests/draft*` of the official suite, `remotes`, and MaskBench files.

use crate::support::rules_accept::rules_accept;
use interlock::schema::{Formats, SchemaOptions, lower, parse_schema};
use interlock::{Error, ErrorKind, Limits};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn data() -> PathBuf {
    std::env::var_os("INTERLOCK_SCHEMA_DATA").expect("INTERLOCK_SCHEMA_DATA names a folder").into()
}

fn json_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for p in paths {
        if p.is_dir() {
            json_files(&p, out);
        } else if p.extension().is_some_and(|e| e == "json") {
            out.push(p);
        }
    }
}

fn remotes(dir: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    json_files(&dir.join("remotes"), &mut files);
    let uri = |p: &Path| {
        let rest = p.strip_prefix(dir.join("remotes")).unwrap_or(p);
        format!("http://localhost:1234/{}", rest.display())
    };
    files.iter().filter_map(|p| Some((uri(p), std::fs::read_to_string(p).ok()?))).collect()
}

#[derive(Default)]
struct Tally {
    schemas: usize,
    refused: BTreeMap<String, usize>,
    right: usize,
    wrong: Vec<String>,
    /// Of these, invalid values that are accepted.
    over: usize,
    micros: Vec<f64>,
    slow: Vec<(f64, String)>,
}

impl Tally {
    fn refuse(&mut self, name: &str, e: &Error) {
        if std::env::var_os("LIST_REFUSED").is_some() {
            println!("  refused {name}: {e}");
        }
        let short: String = e.message().chars().take(70).collect();
        *self.refused.entry(format!("{:?} {short}", e.kind())).or_default() += 1;
    }

    /// Prints what was found: nothing wrong, or nothing but valid values that are refused where formats are `narrower`.
    fn judge(&mut self, title: &str, narrower: bool) {
        println!("{title}: {} schemas, {} right, {} wrong", self.schemas, self.right, self.wrong.len());
        println!("  refused {}", self.refused.values().sum::<usize>());
        let mut refused: Vec<_> = self.refused.iter().collect();
        refused.sort_by_key(|r| std::cmp::Reverse(r.1));
        for (k, n) in refused.iter().take(25) {
            println!("  {n:5} {k}");
        }
        for w in self.wrong.iter().take(400) {
            println!("  WRONG {w}");
        }
        self.micros.sort_by(f64::total_cmp);
        let at = |q: f64| self.micros.get((self.micros.len() as f64 * q) as usize).copied().unwrap_or(0.0);
        println!("  lower us: p50 {:.0} p90 {:.0} p99 {:.0} max {:.0}", at(0.5), at(0.9), at(0.99), at(0.99999));
        self.slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        for s in self.slow.iter().take(12) {
            println!("  {:9.0} us {}", s.0, s.1);
        }
        assert!(self.right > 0 && self.over == 0, "{} accepted", self.over);
        assert!(narrower || self.wrong.is_empty(), "{} wrong", self.wrong.len());
    }
}

fn check(t: &mut Tally, name: &str, schema: &Value, tests: &[(Value, bool, String)], options: &SchemaOptions) {
    t.schemas += 1;
    let limits = Limits::default();
    let (model, mut report) = match parse_schema(&schema.to_string(), options, &limits) {
        Ok(m) => m,
        Err(e) => return t.refuse(name, &e),
    };
    let start = Instant::now();
    let lowered = lower(&model, options, &limits, &mut report);
    let us = start.elapsed().as_secs_f64() * 1e6;
    t.micros.push(us);
    t.slow.push((us, name.to_string()));
    let mut rules = match lowered {
        Ok(r) => Some(r),
        Err(e) if e.kind() == ErrorKind::Unsatisfiable => None,
        Err(e) => return t.refuse(name, &e),
    };
    for (value, valid, what) in tests {
        let got = rules.as_mut().is_some_and(|r| rules_accept(r, value));
        if got == *valid {
            t.right += 1;
        } else {
            t.over += usize::from(got);
            t.wrong.push(format!(
                "{name}: {what}: should be {valid}: {}",
                value.to_string().chars().take(150).collect::<String>()
            ));
        }
    }
}

fn suite(dir: &Path, draft: &str, sub: &str, formats: Formats) -> Tally {
    let root = dir.join("tests").join(draft).join(sub);
    let uri = match draft {
        "draft7" => "http://json-schema.org/draft-07/schema#",
        _ => "https://json-schema.org/draft/2020-12/schema",
    };
    let options = SchemaOptions { formats, documents: remotes(dir), ..SchemaOptions::default() };
    let mut files = Vec::new();
    for e in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        if e.path().extension().is_some_and(|x| x == "json") {
            files.push(e.path());
        }
    }
    files.sort();
    let mut t = Tally::default();
    for f in files {
        let groups: Value = serde_json::from_str(&std::fs::read_to_string(&f).unwrap()).unwrap();
        for g in groups.as_array().unwrap() {
            let mut schema = g["schema"].clone();
            if let Value::Object(o) = &mut schema {
                o.entry("$schema").or_insert(uri.into());
            }
            let tests: Vec<(Value, bool, String)> = g["tests"]
                .as_array()
                .unwrap()
                .iter()
                .map(|t| (t["data"].clone(), t["valid"].as_bool().unwrap(), t["description"].to_string()))
                .collect();
            let name = format!("{}/{}", f.file_stem().unwrap().to_string_lossy(), g["description"]);
            check(&mut t, &name, &schema, &tests, &options);
        }
    }
    t
}

#[test]
#[ignore = "needs INTERLOCK_SCHEMA_DATA"]
fn official_suite() {
    let dir = data();
    for draft in ["draft2020-12", "draft7"] {
        suite(&dir, draft, "", Formats::Annotate).judge(draft, false);
        suite(&dir, draft, "optional/format", Formats::Assert).judge(&format!("{draft} optional/format"), true);
    }
}

#[test]
#[ignore = "needs INTERLOCK_SCHEMA_DATA"]
fn mask_bench() {
    let dir = data();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&dir).unwrap().flatten().map(|e| e.path()).collect();
    files.sort();
    let only = std::env::var("ONLY").unwrap_or_default();
    let step: usize = std::env::var("STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut t = Tally::default();
    for f in files.iter().filter(|f| f.to_string_lossy().contains(&only)).step_by(step) {
        let Ok(text) = std::fs::read_to_string(f) else { continue };
        let Ok(v) = serde_json::from_str::<Value>(&text) else { continue };
        let Some(schema) = v.get("schema") else { continue };
        let tests: Vec<(Value, bool, String)> = v["tests"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|t| (t["data"].clone(), t["valid"].as_bool().unwrap_or(false), t["description"].to_string()))
            .collect();
        let name = f.file_stem().unwrap().to_string_lossy().to_string();
        check(&mut t, &name, schema, &tests, &SchemaOptions::default());
    }
    t.judge("MaskBench", false);
}
