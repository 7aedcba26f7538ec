//! Compares masks with their slow twin over a real vocabulary, on random walks. Prints every difference and the sums.
//!
//! `cargo run --release --example twin -- VOCABULARY [--eos ID] [--size N] [--patterns FILE] [--schemas FOLDER]
//!  [--sources N] [--tokens N] [--every N] [--seed N] [--order schema|any] [--outputs FILE]`
//!
//! `--patterns` is a JSON list of ECMA-262 patterns; random ones are added. `--schemas` is a folder of JSON files that
//! each hold a `schema` and `tests` with their `data`; walks follow the data of the valid ones. `--outputs` takes every
//! complete output as a JSON line, for an independent validator. With `small` as VOCABULARY and no other source, random
//! schemas over the vocabulary of the tests.

#[path = "../tests/support/mod.rs"]
mod support;

use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::vocab::load::{LoadOptions, load_file};
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;
use support::check::{Found, Plan, walk};
use support::twin::{PatternTwin, Spellings};
use support::walk::Walker;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Default)]
struct Sums {
    sources: usize,
    states: usize,
    refused: BTreeMap<String, usize>,
    wrong: usize,
    slowest_ms: f64,
}

impl Sums {
    fn add(&mut self, name: &str, found: &Found) {
        self.states += found.states;
        self.wrong += found.wrong.len();
        for w in &found.wrong {
            println!("WRONG {name}: {w}");
        }
    }

    fn refuse(&mut self, kind: ErrorKind) {
        *self.refused.entry(format!("{kind:?}")).or_default() += 1;
    }

    fn compiled(&mut self, name: &str, since: Instant) {
        self.sources += 1;
        let ms = since.elapsed().as_secs_f64() * 1e3;
        if ms > self.slowest_ms {
            self.slowest_ms = ms;
            println!("slowest compile so far: {ms:.1} ms, {}", name.chars().take(120).collect::<String>());
        }
    }
}

struct Job {
    vocabulary: Arc<Vocabulary>,
    tokens: Spellings,
    plan: Plan,
    seed: u64,
    sources: usize,
}

fn patterns(job: &Job, file: Option<&str>) -> Fallible<Sums> {
    let mut sums = Sums::default();
    let mut all: Vec<(String, Dialect)> =
        support::patterns::PATTERNS.iter().map(|p| (p.to_string(), Dialect::Python)).collect();
    let mut rng = Rng(job.seed);
    let mut real: Vec<String> = match file {
        Some(f) => serde_json::from_slice(&std::fs::read(f)?)?,
        None => Vec::new(),
    };
    while all.len() < job.sources {
        if !real.is_empty() && rng.chance(60) {
            all.push((real.swap_remove(rng.below(real.len())), Dialect::Ecma));
        } else {
            let size = 2 + rng.below(7);
            all.push((support::patterns::random(&mut rng, size), Dialect::Python));
        }
    }
    for (p, dialect) in all.iter().take(job.sources) {
        let options = RegexOptions { dialect: *dialect, flags: String::new() };
        let since = Instant::now();
        let index = match Index::from_regex(p, &job.vocabulary, &options, &Limits::default()) {
            Ok(i) => i,
            Err(e) => {
                sums.refuse(e.kind());
                continue;
            }
        };
        sums.compiled(p, since);
        let guide = index.guide(&GuideOptions::default())?;
        let Some(twin) = PatternTwin::new(p, &options) else { continue };
        let found = walk(guide, Some(twin), &job.tokens, Walker::new(rng.bits(), b""), job.plan);
        sums.add(p, &found);
    }
    Ok(sums)
}

fn schemas(job: &Job, folder: &str, order: PropertyOrder, mut outputs: Option<std::fs::File>) -> Fallible<Sums> {
    let mut sums = Sums::default();
    let mut files: Vec<_> = std::fs::read_dir(folder)?.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    let mut rng = Rng(job.seed);
    while sums.sources < job.sources && !files.is_empty() {
        let file = files.swap_remove(rng.below(files.len()));
        let Ok(data) = serde_json::from_slice::<serde_json::Value>(&std::fs::read(&file)?) else { continue };
        let (Some(schema), Some(tests)) = (data.get("schema"), data.get("tests").and_then(|t| t.as_array())) else {
            continue;
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let options = SchemaOptions { property_order: order, ..SchemaOptions::default() };
        let since = Instant::now();
        let index = match Index::from_json_schema(&schema.to_string(), &job.vocabulary, &options, &Limits::default()) {
            Ok(i) => i,
            Err(e) => {
                sums.refuse(e.kind());
                continue;
            }
        };
        sums.compiled(&name, since);
        let valid: Vec<_> = tests.iter().filter(|t| t["valid"] == true).map(|t| &t["data"]).collect();
        for follow in [true, false] {
            let text = match (follow, valid.first()) {
                (true, Some(_)) if rng.chance(50) => serde_json::to_string_pretty(rng.pick(&valid))?,
                (true, Some(_)) => serde_json::to_string(rng.pick(&valid))?,
                _ => String::new(),
            };
            let guide = index.guide(&GuideOptions::default())?;
            let found = walk(guide, None, &job.tokens, Walker::new(rng.bits(), text.as_bytes()), job.plan);
            sums.add(&name, &found);
            if let (Some(text), Some(out)) = (&found.ended, &mut outputs) {
                let line = serde_json::json!({"file": name, "text": String::from_utf8_lossy(text)});
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(sums)
}

fn random_schemas(job: &Job, mut outputs: Option<std::fs::File>) -> Fallible<Sums> {
    let mut sums = Sums::default();
    for source in 0..job.sources as u64 {
        let mut rng = Rng(job.seed << 32 | source);
        let text = support::schemas::random(&mut rng);
        let orders = [PropertyOrder::Schema, PropertyOrder::Any];
        let spaces = [Whitespace::Flexible, Whitespace::Flexible, Whitespace::Compact, Whitespace::Spaced];
        let options = SchemaOptions {
            property_order: *rng.pick(&orders),
            whitespace: rng.pick(&spaces).clone(),
            ..SchemaOptions::default()
        };
        let since = Instant::now();
        let index = match Index::from_json_schema(&text, &job.vocabulary, &options, &Limits::default()) {
            Ok(i) => i,
            Err(e) => {
                sums.refuse(e.kind());
                continue;
            }
        };
        sums.compiled(&text, since);
        for _ in 0..2 {
            let guide = index.guide(&GuideOptions::default())?;
            let walker = Walker::new(rng.bits(), b"").with_hints(support::schemas::HINTS);
            let found = walk(guide, None, &job.tokens, walker, job.plan);
            sums.add(&format!("{text} {:?} {:?}", options.property_order, options.whitespace), &found);
            if let (Some(end), Some(out)) = (&found.ended, &mut outputs) {
                let line = serde_json::json!({"schema": text, "text": String::from_utf8_lossy(end)});
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(sums)
}

fn main() -> Fallible<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("which vocabulary?")?;
    let rest: Vec<String> = args.collect();
    let given: BTreeMap<&str, &str> = rest.chunks_exact(2).map(|c| (c[0].as_str(), c[1].as_str())).collect();
    let number = |name: &str, default: usize| given.get(name).map_or(Ok(default), |n| n.parse());
    let eos = given.get("--eos").map(|e| e.parse().map(|e| vec![e])).transpose()?;
    let size = given.get("--size").map(|s| s.parse()).transpose()?;
    let small = path == "small";
    let vocabulary = match small {
        true => support::vocabulary::small(),
        false => load_file(path.as_ref(), LoadOptions { eos, size, ..LoadOptions::default() })?,
    };
    let job = Job {
        tokens: Spellings::from_vocabulary(&vocabulary),
        vocabulary,
        plan: Plan { tokens: number("--tokens", 40)?, every: number("--every", 5)?, probes: 4 },
        seed: number("--seed", 1)? as u64,
        sources: number("--sources", 300)?,
    };
    let started = Instant::now();
    let sums = match given.get("--schemas") {
        Some(folder) => {
            let order = if given.get("--order") == Some(&"any") { PropertyOrder::Any } else { PropertyOrder::Schema };
            let outputs = given.get("--outputs").map(std::fs::File::create).transpose()?;
            schemas(&job, folder, order, outputs)?
        }
        None if small && !given.contains_key("--patterns") => {
            random_schemas(&job, given.get("--outputs").map(std::fs::File::create).transpose()?)?
        }
        None => patterns(&job, given.get("--patterns").copied())?,
    };
    println!(
        "{} sources, {} states, {} wrong, refused {:?}, slowest compile {:.1} ms, {:.0} s",
        sums.sources,
        sums.states,
        sums.wrong,
        sums.refused,
        sums.slowest_ms,
        started.elapsed().as_secs_f64()
    );
    if sums.wrong > 0 { Err("masks differ from their twin".into()) } else { Ok(()) }
}
