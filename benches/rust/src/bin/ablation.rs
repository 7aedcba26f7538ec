//! What each cache brings: schemas are compiled and their documents masked with all caches, and with one taken away at
//! a time.
//!
//! `cargo run --release --features ablation --bin ablation -- FOLDER [SCHEMAS] [VOCABULARY]`, where the folder holds
//! files with a `schema` and `tests` (each with `data` and `valid`), as JSONSchemaBench has them, and the vocabulary is
//! a pack of `interlock precompute`. Every run has a vocabulary of its own, so that nothing is known from the run
//! before. The run with all caches is made three times, first, in the middle and last: their differences are the noise.
//! Times are microseconds of one thread; a mask's is that of filling it and taking the token.

use interlock::artifact::vocabulary;
use interlock::schema::SchemaOptions;
use interlock::util::cache_register::{CACHES, take_away};
use interlock::{Index, Limits, Vocabulary};
use interlock_benches::vocabulary::synthetic;
use interlock_benches::walk::{Cutter, guide};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A schema and the texts of the documents that are masked.
struct Case {
    schema: String,
    documents: Vec<String>,
}

fn cases(folder: &Path, most: usize) -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let step = files.len().div_ceil(most).max(1);
    let read = |file: &PathBuf| {
        let value: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
        let valid = value["tests"].as_array()?.iter().filter(|test| test["valid"] == true);
        let documents = valid.map(|test| test["data"].to_string()).collect();
        Some(Case { schema: value["schema"].to_string(), documents })
    };
    files.iter().step_by(step).filter_map(read).collect()
}

/// The value below which so many of a thousand lie.
fn quantile(sorted: &[f64], thousandths: usize) -> f64 {
    sorted.get((sorted.len() * thousandths / 1_000).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

struct Times {
    first: Vec<f64>,
    masks: Vec<f64>,
    total: f64,
}

fn run(cases: &[Case], vocabulary: &Arc<Vocabulary>, cutter: &Cutter) -> Times {
    interlock::index::prepare(vocabulary).expect("the tables of a vocabulary");
    let mut row = vec![0; vocabulary.words()];
    let (mut first, mut masks) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    for case in cases {
        let at = Instant::now();
        let options = SchemaOptions::default();
        let Ok(index) = Index::from_json_schema(&case.schema, vocabulary, &options, &Limits::default()) else {
            continue;
        };
        guide(&index).fill_mask(&mut row);
        first.push(at.elapsed().as_secs_f64() * 1e6);
        for document in &case.documents {
            let mut guide = guide(&index);
            for id in cutter.cut(document) {
                let at = Instant::now();
                guide.fill_mask(&mut row);
                if !guide.try_advance(id) {
                    break;
                }
                masks.push(at.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let total = begun.elapsed().as_secs_f64() * 1e3;
    first.sort_by(f64::total_cmp);
    masks.sort_by(f64::total_cmp);
    Times { first, masks, total }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder of schemas"));
    let most = arguments.next().map_or(400, |n| n.parse().expect("a number of schemas"));
    let pack = arguments.next().map(PathBuf::from);
    let cases = cases(&folder, most);
    let fresh = || match &pack {
        Some(pack) => vocabulary::load(pack).expect("a pack of a vocabulary"),
        None => synthetic(128_000),
    };
    let cutter = Cutter::new(&fresh());
    println!("| taken away | schemas p50 | p99 | masks p50 | p99 | p99.9 | all, ms |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let middle = CACHES.len() / 2;
    let mut rows = vec![None];
    for row in 0..CACHES.len() {
        if row == middle {
            rows.push(None);
        }
        rows.push(Some(row));
    }
    rows.push(None);
    for row in rows {
        take_away(row.map_or(0, |row| 1 << row));
        let Times { first, masks, total } = run(&cases, &fresh(), &cutter);
        println!(
            "| {} | {:.0} | {:.0} | {:.2} | {:.1} | {:.0} | {total:.0} |",
            row.map_or("nothing", |row| CACHES[row].name),
            quantile(&first, 500),
            quantile(&first, 990),
            quantile(&masks, 500),
            quantile(&masks, 990),
            quantile(&masks, 999),
        );
    }
}
