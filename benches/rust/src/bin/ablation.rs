//! What each cache brings: sources are compiled and texts masked with all caches, and with one taken away at a time.
//!
//! `cargo run --release --features ablation --bin ablation -- FOLDER [SCHEMAS] [VOCABULARY]`, where the folder holds
//! files with a `schema` and `tests` (each with `data` and `valid`), as JSONSchemaBench has them, and the vocabulary is
//! a pack that `Vocabulary.save` wrote. Every other schema has its keys in any order. Beside the schemas there are the
//! grammars of `interlock.grammars` with the programs of `benches/corpus/programs`, each followed twice.
//!
//! Every run has a vocabulary of its own, so that nothing is known from the run before. Runs with all caches and runs
//! with one taken away take turns, `ROUNDS` times (5). Of each number the table has the median of the ratios, without
//! the cache to with it. Three rows take nothing away: how far they are from 1 is the noise. Times are microseconds of
//! one thread's processor time, a reading of the clock included; a mask's is that of filling it and taking the token.
//! *Forced* is what asking for forced bytes takes behind each mask. With `PARTS=schemas` or `PARTS=grammars` the other
//! part is left out, and `ROWS` names the caches to take away, with a comma between them.

use interlock::artifact::vocabulary;
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::util::cache_register::{CACHES, take_away};
use interlock::{GrammarOptions, Index, Lexer, Limits, Vocabulary};
use interlock_benches::vocabulary::synthetic;
use interlock_benches::walk::{Cutter, guide};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thread_clock::now;

/// A source and the texts that are masked.
struct Case {
    source: Source,
    texts: Vec<String>,
}

enum Source {
    Schema(String, SchemaOptions),
    Grammar(&'static str),
}

macro_rules! grammar {
    ($name:literal, $program:literal) => {
        Case {
            source: Source::Grammar(include_str!(concat!("../../../../python/interlock/grammars/", $name, ".lark"))),
            texts: vec![include_str!(concat!("../../../corpus/programs/", $program)).to_owned(); 2],
        }
    };
}

/// Python's is left out: the masks of its program take ten seconds each time.
fn grammars() -> Vec<Case> {
    vec![
        grammar!("c", "program.c"),
        grammar!("go", "program.go"),
        grammar!("java", "program.java"),
        grammar!("sql", "program.sql"),
    ]
}

fn cases(folder: &Path, most: usize) -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let step = files.len().div_ceil(most).max(1);
    let read = |(at, file): (usize, &PathBuf)| {
        let value: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
        let valid = value["tests"].as_array()?.iter().filter(|test| test["valid"] == true);
        let texts = valid.map(|test| test["data"].to_string()).collect();
        let property_order = if at % 2 == 0 { PropertyOrder::Schema } else { PropertyOrder::Any };
        let options = SchemaOptions { property_order, ..SchemaOptions::default() };
        Some(Case { source: Source::Schema(value["schema"].to_string(), options), texts })
    };
    files.iter().step_by(step).enumerate().filter_map(read).collect()
}

/// Processor time of this thread: what else the machine does matters little.
mod thread_clock {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const THREAD_CPUTIME_ID: i32 = 3;

    /// Microseconds.
    pub fn now() -> f64 {
        let mut time = Time { seconds: 0, nanoseconds: 0 };
        // SAFETY: the struct is Linux's `timespec` on 64-bit machines, and lives through the call.
        assert_eq!(unsafe { clock_gettime(THREAD_CPUTIME_ID, &mut time) }, 0);
        time.seconds as f64 * 1e6 + time.nanoseconds as f64 / 1e3
    }
}

/// The value below which so many of a thousand lie.
fn quantile(sorted: &[f64], thousandths: usize) -> f64 {
    sorted.get((sorted.len() * thousandths / 1_000).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[derive(Default)]
struct Times {
    first: Vec<f64>,
    masks: Vec<f64>,
    forced: Vec<f64>,
    total: f64,
}

fn run(cases: &[Case], vocabulary: &Arc<Vocabulary>, cutter: &Cutter) -> Times {
    interlock::prepare(vocabulary).expect("the tables of a vocabulary");
    let mut row = vec![0; vocabulary.words()];
    let mut times = Times::default();
    let micros = |at: f64| now() - at;
    let begun = now();
    for case in cases {
        let at = now();
        let limits = Limits::default();
        let index = match &case.source {
            Source::Schema(schema, options) => Index::from_json_schema(schema, vocabulary, options, &limits),
            Source::Grammar(text) => {
                let options = GrammarOptions { lexer: Some(Lexer::Contextual), ..GrammarOptions::default() };
                Index::from_grammar(text, vocabulary, &options, &limits)
            }
        };
        let Ok(index) = index else { continue };
        guide(&index).fill_mask(&mut row);
        times.first.push(micros(at));
        for text in &case.texts {
            let mut guide = guide(&index);
            for id in cutter.cut(text) {
                let at = now();
                guide.fill_mask(&mut row);
                let mask = micros(at);
                let at = now();
                guide.forced_bytes();
                times.forced.push(micros(at));
                let at = now();
                if !guide.try_advance(id) {
                    break;
                }
                times.masks.push(mask + micros(at));
            }
        }
    }
    times.total = micros(begun) / 1e3;
    for list in [&mut times.first, &mut times.masks, &mut times.forced] {
        list.sort_by(f64::total_cmp);
    }
    times
}

/// What is measured: of schemas, then of grammars.
const NAMES: [&str; 14] = [
    "schemas p50",
    "p99",
    "masks p50",
    "p99",
    "p99.9",
    "forced p50",
    "p99",
    "all",
    "grammars",
    "masks p50",
    "p99",
    "p99.9",
    "forced p99",
    "all",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder of schemas"));
    let most = arguments.next().map_or(400, |n| n.parse().expect("a number of schemas"));
    let pack = arguments.next().map(PathBuf::from);
    let parts = std::env::var("PARTS").unwrap_or_default();
    let schemas = if parts == "grammars" { Vec::new() } else { cases(&folder, most) };
    let grammars = if parts == "schemas" { Vec::new() } else { grammars() };
    let fresh = || match &pack {
        Some(pack) => vocabulary::load(pack).expect("a pack of a vocabulary"),
        None => synthetic(128_000),
    };
    let cutter = Cutter::new(&fresh());
    let rounds = std::env::var("ROUNDS").map_or(5, |n| n.parse().expect("a number of rounds"));
    println!("| taken away | {} |", NAMES.join(" | "));
    println!("|---|{}", "---:|".repeat(NAMES.len()));
    let measured = |mask: u64| {
        take_away(mask);
        let s = run(&schemas, &fresh(), &cutter);
        let g = run(&grammars, &fresh(), &cutter);
        [
            quantile(&s.first, 500),
            quantile(&s.first, 990),
            quantile(&s.masks, 500),
            quantile(&s.masks, 990),
            quantile(&s.masks, 999),
            quantile(&s.forced, 500),
            quantile(&s.forced, 990),
            s.total,
            g.first.iter().sum::<f64>(),
            quantile(&g.masks, 500),
            quantile(&g.masks, 990),
            quantile(&g.masks, 999),
            quantile(&g.forced, 990),
            g.total,
        ]
    };
    let whole = measured(0);
    println!("| with all caches | {} |", whole.map(|v| format!("{v:.2}")).join(" | "));
    let wanted = std::env::var("ROWS").unwrap_or_default();
    let is_wanted = |row: &usize| wanted.is_empty() || wanted.split(',').any(|name| name == CACHES[*row].name);
    let rows = [None, None].into_iter().chain((0..CACHES.len()).filter(is_wanted).map(Some)).chain([None]);
    for row in rows {
        let pairs: Vec<_> = (0..rounds)
            .map(|round: usize| {
                let mask = row.map_or(0, |row| 1 << row);
                // Which of the two comes first takes turns as well.
                let (first, second) = if round % 2 == 0 { (0, mask) } else { (mask, 0) };
                let (first, second) = (measured(first), measured(second));
                if round % 2 == 0 { (first, second) } else { (second, first) }
            })
            .collect();
        let ratios = (0..NAMES.len()).map(|at| {
            let mut all: Vec<f64> = pairs.iter().map(|(with, without)| without[at] / with[at]).collect();
            all.sort_by(f64::total_cmp);
            format!("{:.2}", all[all.len() / 2])
        });
        let ratios: Vec<String> = ratios.collect();
        println!("| {} | {} |", row.map_or("nothing", |row| CACHES[row].name), ratios.join(" | "));
    }
}
