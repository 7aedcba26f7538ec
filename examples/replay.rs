//! Replays documents through masks and prints what a token costs, by the place that it stands at.
//!
//! `cargo run --release --example replay -- VOCABULARY FILE [--eos ID] [--size N] [--passes N] [--order schema|any]
//! [--slow N]`
//!
//! Each line of FILE is a JSON object: a `schema` as text and `docs`, lists of token ids. Every pass compiles each
//! schema anew. The first pass meets lexemes that nobody met before; of the later passes each token's minimum is taken.
//! `--slow` prints the slowest tokens of the first pass.

use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::vocab::load::{LoadOptions, load_file};
use interlock::{GuideOptions, Index, Limits, Vocabulary};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Clone, Copy)]
struct Cost {
    fill: u32,
    advance: u32,
    place: u8,
    file: u32,
    at: u32,
}

/// The kind of place: its kind and phase, and whether the schema was here before in this pass.
fn place(key: &[u8], first: bool) -> u8 {
    let (kind, phase) = (key.get(1).copied().unwrap_or(0), key.get(2).copied().unwrap_or(0));
    kind * 16 + phase * 2 + first as u8
}

fn name(place: u8) -> String {
    let kind = ["root", "done", "value", "scalar", "array", "object"].get(place as usize / 16).copied().unwrap_or("?");
    let phase = ["first", "inside", "after", "before key", "key", "before colon"];
    let phase = phase.get(place as usize % 16 / 2).copied().unwrap_or("?");
    format!("{kind} {phase}{}", if place % 2 == 1 { ", new" } else { "" })
}

fn replay(
    vocabulary: &Arc<Vocabulary>,
    lines: &[serde_json::Value],
    options: &SchemaOptions,
    label: bool,
) -> Vec<Cost> {
    let mut row = vec![0u32; vocabulary.words()];
    let hasher = RandomState::new();
    let mut out = Vec::new();
    for (line, file) in lines.iter().zip(0u32..) {
        let text = line["schema"].as_str().unwrap_or_default();
        let Ok(index) = Index::from_json_schema(text, vocabulary, options, &Limits::default()) else { continue };
        let mut seen: HashSet<u64> = HashSet::new();
        let Ok(mut guide) = index.guide(&GuideOptions::default()) else { continue };
        guide.fill_mask(&mut row);
        for doc in line["docs"].as_array().into_iter().flatten() {
            let Ok(mut guide) = index.guide(&GuideOptions::default()) else { continue };
            for (id, at) in doc.as_array().into_iter().flatten().zip(0u32..) {
                let id = id.as_u64().unwrap_or(0) as u32;
                let place = if label {
                    let key = guide.state_key();
                    place(&key, seen.insert(hasher.hash_one(&key)))
                } else {
                    0
                };
                let a = Instant::now();
                guide.fill_mask(&mut row);
                let b = Instant::now();
                let allowed = row[id as usize >> 5] >> (id & 31) & 1 == 1;
                let taken = allowed && guide.try_advance(id);
                let c = Instant::now();
                out.push(Cost { fill: (b - a).as_nanos() as u32, advance: (c - b).as_nanos() as u32, place, file, at });
                if !taken {
                    break;
                }
            }
        }
    }
    out
}

fn line(name: &str, costs: &mut [u32], total: f64) {
    costs.sort_unstable();
    let n = costs.len();
    let p = |q: f64| costs[((n as f64 * q) as usize).min(n - 1)] as f64 / 1e3;
    let sum: f64 = costs.iter().map(|&c| c as f64).sum();
    println!(
        "{name:32} {n:7} {:5.1}% | p25 {:6.2} p50 {:6.2} p75 {:6.2} p90 {:6.2} p95 {:6.2} p99 {:7.2} p99.9 {:8.2} max \
         {:9.1} us",
        100.0 * sum / total,
        p(0.25),
        p(0.5),
        p(0.75),
        p(0.9),
        p(0.95),
        p(0.99),
        p(0.999),
        p(1.0)
    );
}

fn show(title: &str, costs: &[Cost]) {
    println!("{title}");
    let total: f64 = costs.iter().map(|c| (c.fill + c.advance) as f64).sum();
    line("fill + advance", &mut costs.iter().map(|c| c.fill + c.advance).collect::<Vec<_>>(), total);
    line("fill", &mut costs.iter().map(|c| c.fill).collect::<Vec<_>>(), total);
    line("advance", &mut costs.iter().map(|c| c.advance).collect::<Vec<_>>(), total);
    let mut by_place: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    costs.iter().for_each(|c| by_place.entry(c.place).or_default().push(c.fill));
    for (place, mut fills) in by_place {
        line(&format!("  fill: {}", name(place)), &mut fills, total);
    }
}

fn main() -> Fallible<()> {
    let (mut paths, mut eos, mut size, mut passes, mut slow) = (Vec::new(), None, None, 5, 0usize);
    let mut options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--eos" => eos = Some(vec![value()?.parse()?]),
            "--size" => size = Some(value()?.parse()?),
            "--passes" => passes = value()?.parse()?,
            "--slow" => slow = value()?.parse()?,
            "--order" if value()? == "schema" => options.property_order = PropertyOrder::Schema,
            "--order" => {}
            _ => paths.push(arg),
        }
    }
    let [vocabulary, file] = paths.as_slice() else { return Err("which vocabulary and file?".into()) };
    let vocabulary = load_file(vocabulary.as_ref(), LoadOptions { eos, size, ..LoadOptions::default() })?;
    interlock::index::prepare(&vocabulary)?;
    let text = std::fs::read_to_string(file)?;
    let lines: Vec<serde_json::Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let first = replay(&vocabulary, &lines, &options, true);
    show("first pass", &first);
    let mut order: Vec<&Cost> = first.iter().collect();
    order.sort_by_key(|c| std::cmp::Reverse(c.fill + c.advance));
    for c in order.iter().take(slow) {
        let name = name(c.place);
        println!(
            "  {:9.1} + {:7.1} us: {name}, {} at {}",
            c.fill as f64 / 1e3,
            c.advance as f64 / 1e3,
            lines[c.file as usize]["id"],
            c.at
        );
    }
    let mut best = first;
    for pass in 1..passes {
        let again = replay(&vocabulary, &lines, &options, false);
        if again.len() != best.len() {
            return Err("passes differ".into());
        }
        for (b, a) in best.iter_mut().zip(&again) {
            (b.fill, b.advance) =
                if pass == 1 { (a.fill, a.advance) } else { (b.fill.min(a.fill), b.advance.min(a.advance)) };
        }
    }
    if passes > 1 {
        show("least of the later passes", &best);
    }
    Ok(())
}
