//! Times compile and first mask of patterns that are hard for automata, over a real vocabulary.
//!
//! `cargo run --release --example hard_patterns -- VOCABULARY [EOS SIZE]`

use interlock::regex::{Dialect, RegexOptions};
use interlock::vocab::load::{LoadOptions, load_file};
use interlock::{GuideOptions, Index, Limits, Vocabulary};
use std::sync::Arc;
use std::time::Instant;

fn show(name: &str, v: &Arc<Vocabulary>, compile: impl Fn() -> interlock::Result<Index>) {
    let since = Instant::now();
    let index = compile();
    let compiled = since.elapsed().as_secs_f64() * 1e3;
    match index.and_then(|i| i.guide(&GuideOptions::default())) {
        Err(e) => println!("{name:45} {compiled:9.2} ms  {e}"),
        Ok(mut guide) => {
            let mut row = vec![0; v.words()];
            let since = Instant::now();
            guide.fill_mask(&mut row);
            let first = since.elapsed().as_secs_f64() * 1e3;
            let (mut slowest, mut steps) = (0f64, 0);
            while steps < 60 {
                // The middle one of the allowed tokens, so that runs differ from pattern to pattern.
                let ids = guide.allowed_token_ids();
                if !guide.try_advance(ids[ids.len() / 2]) || guide.is_terminated() {
                    break;
                }
                let since = Instant::now();
                guide.fill_mask(&mut row);
                slowest = slowest.max(since.elapsed().as_secs_f64() * 1e3);
                steps += 1;
            }
            println!(
                "{name:45} {compiled:9.2} ms  first mask {first:8.2} ms  slowest of {steps} more {slowest:8.2} ms"
            );
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let eos = args.get(1).map(|e| e.parse().map(|e| vec![e])).transpose()?;
    let size = args.get(2).map(|s| s.parse()).transpose()?;
    let v = load_file(
        args.first().ok_or("which vocabulary?")?.as_ref(),
        LoadOptions { eos, size, ..LoadOptions::default() },
    )?;
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let limits = Limits::default();
    show("warm up", &v, || Index::from_regex("a", &v, &options, &limits));
    let nested = |n: usize| "(".repeat(n) + "a" + &")".repeat(n);
    let patterns = [
        "[a-z]{1,5000}".to_string(),
        "(a{1,30}){1,30}".into(),
        ".*a.{14}".into(),
        ".*a.{200}".into(),
        r"(?=.*\d)(?=.*[a-z]).{8,64}".into(),
        r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?!.*(.)$).{8,64}".into(),
        r"\w{1,64}".into(),
        r"(\w{1,64}\s?){1,64}".into(),
        "((a{1,30}){1,30}b?){1,30}".into(),
        "(x+x+)+y".into(),
        "(?:(?:(?:a?){9}){9}){9}".into(),
        "(?!.*(foo|bar|baz)).{0,2000}".into(),
        nested(900),
        nested(1_000),
        nested(100_000),
    ];
    for p in &patterns {
        show(&p.chars().take(44).collect::<String>(), &v, || Index::from_regex(p, &v, &options, &limits));
    }
    let list: Vec<String> =
        (0..10_000u64).map(|i| format!("item-{:x}-{}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15), i % 7)).collect();
    show("10,000 choices", &v, || Index::from_choices(&list, &v, &limits));
    Ok(())
}
