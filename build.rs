//! Tells the core which sources it is built from: a checksum of the files in `src` and of the manifests.
//!
//! The extension module has it as `_core._sources`. The Python tests compare it with the checkout's files
//! (`tests/python/support/core_sources.py`), so that a run whose core is older than the sources says so.

use std::fs;
use std::io;
use std::path::Path;

const MANIFESTS: [&str; 2] = ["Cargo.toml", "Cargo.lock"];

fn main() -> io::Result<()> {
    let mut paths: Vec<String> =
        MANIFESTS.iter().filter(|path| Path::new(path).is_file()).map(ToString::to_string).collect();
    files_below("src", &mut paths)?;
    paths.sort();
    let mut sum = Adler32::default();
    for path in &paths {
        sum.add(path.as_bytes());
        sum.add(b"\0");
        sum.add(&fs::read(path)?);
    }
    println!("cargo::rustc-env=INTERLOCK_SOURCES={:04x}{:04x}", sum.high, sum.low);
    for path in paths.iter().filter(|path| !path.starts_with("src/")) {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-changed=src");
    Ok(())
}

/// Adds the files of a folder and of those inside it, as paths with `/`. Hidden files are an editor's.
fn files_below(folder: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            files_below(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

/// The checksum Adler-32, which Python has as `zlib.adler32`.
struct Adler32 {
    low: u32,
    high: u32,
}

impl Default for Adler32 {
    fn default() -> Self {
        Self { low: 1, high: 0 }
    }
}

impl Adler32 {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.low = (self.low + u32::from(byte)) % 65_521;
            self.high = (self.high + self.low) % 65_521;
        }
    }
}
