//! Prints the vocabulary of a tokenizer file as JSON lines: a header, then one line for each id.
//!
//! `cargo run --example dump_vocab -- FILE [--eos ID,ID] [--size N]`

use interlock::vocab::load::{LoadOptions, load_file};
use std::io::{BufWriter, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut path, mut eos, mut size) = (None, None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--eos" => {
                let ids = args.next().ok_or("--eos needs ids")?;
                eos = Some(ids.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?);
            }
            "--size" => size = Some(args.next().ok_or("--size needs a number")?.parse()?),
            _ => path = Some(arg),
        }
    }
    let path = path.ok_or("which file?")?;
    let started = Instant::now();
    let v = load_file(path.as_ref(), LoadOptions { eos, size, ..LoadOptions::default() })?;
    let seconds = started.elapsed().as_secs_f64();
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(
        out,
        "{{\"len\":{},\"size\":{},\"eos\":{:?},\"special\":{:?},\"nodes\":{},\"seconds\":{seconds:.3}}}",
        v.len(),
        v.size(),
        v.eos_token_ids(),
        v.special_token_ids(),
        v.trie().len()
    )?;
    for id in 0..v.len() as u32 {
        let hex: String = v.token_bytes(id).unwrap_or_default().iter().map(|b| format!("{b:02x}")).collect();
        writeln!(out, "{{\"id\":{id},\"hex\":\"{hex}\",\"spells\":{}}}", v.spelling(id).is_some())?;
    }
    Ok(())
}
