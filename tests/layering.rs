//! The import arrows that the compiler does not hold: the core never names Python. And unsafe code keeps to four files,
//! each time below its argument.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code lines of a file, comments left out.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a source file is text");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
}

#[test]
fn the_core_never_names_python() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 10, "the source folder was found");
    for file in files.iter().filter(|file| !file.starts_with(root.join("python"))) {
        for line in code(file) {
            assert!(!line.contains("pyo3") && !line.contains("numpy"), "{}: {line}", file.display());
            let declaration = line.trim() == "mod python;";
            assert!(declaration || !line.contains("crate::python"), "{}: {line}", file.display());
        }
    }
}

/// What every room may name.
const EVERYWHERE: [&str; 6] = ["error", "limits", "work", "hash", "random", "pages"];

/// The rooms, and which others each names beside those: the table of ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 15] = [
    ("error", &[]),
    ("limits", &[]),
    ("work", &[]),
    ("fork", &[]),
    ("hash", &[]),
    ("random", &[]),
    ("pages", &[]),
    ("mask_kernels", &[]),
    ("vocab", &[]),
    ("ir", &[]),
    ("frontend", &["ir"]),
    ("automaton", &["ir", "vocab"]),
    ("index", &["ir", "vocab", "automaton", "frontend"]),
    ("guide", &["vocab", "automaton", "index", "fork"]),
    ("artifact", &["vocab", "index"]),
];

/// The rooms that a line names.
fn rooms(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end]).filter(|room| !room.is_empty())
    })
}

/// A room names only those that its arrows lead to; `compile` alone knows all stages, and `python` what is public.
#[test]
fn rooms_name_only_those_that_their_arrows_lead_to() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut checked = 0;
    for file in &files {
        let inside = file.strip_prefix(&root).expect("it was found there").with_extension("");
        let of = inside.to_string_lossy().replace('\\', "/");
        let room = of.split('/').next().unwrap_or_default();
        let is_test = of.ends_with("tests");
        let Some((_, arrows)) = ARROWS.iter().find(|(name, _)| *name == room).filter(|_| !is_test) else {
            assert!(is_test || ["lib", "compile", "python"].contains(&room), "{of} is in no room");
            continue;
        };
        checked += 1;
        for line in code(file) {
            // Decimal arithmetic stands alone, whoever uses it; an index holds the rows of a report.
            if line.contains("crate::frontend::schema::decimal::") {
                continue;
            }
            for named in rooms(&line) {
                let may = named == room || EVERYWHERE.contains(&named) || arrows.contains(&named);
                assert!(may, "{of} names {named}: {line}");
            }
            let report = line.contains("crate::frontend") && room == "index";
            assert!(!report || line.contains("Enforcement") || line.contains("ReportRow"), "{of}: {line}");
        }
    }
    assert!(checked > 150, "{checked} files");
}

#[test]
fn unsafe_code_stands_in_four_files_each_time_with_its_argument() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed =
        ["pages.rs", "mask_kernels/mod.rs", "python/buffer.rs", "python/allocator.rs"].map(|file| root.join(file));
    let (mut files, mut uses) = (Vec::new(), 0);
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file is text");
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (n, line) in lines.iter().enumerate() {
            let words = line.split_once("//").map_or(*line, |(code, _)| code);
            if !words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                continue;
            }
            assert!(allowed.contains(&file), "{}: {line}", file.display());
            // The argument is the comment above, which may take some lines.
            let above =
                lines[..n].iter().rev().take_while(|l| l.starts_with("//")).any(|l| l.starts_with("// SAFETY:"));
            assert!(above, "{}:{}: no argument above", file.display(), n + 1);
            uses += 1;
        }
    }
    assert!(uses >= 14, "{uses}");
}

/// What a line says after `FxHashMap<` or `FxHashSet<`, up to the end of the first type.
fn unseeded_keys(line: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    for table in ["FxHashMap<", "FxHashSet<"] {
        for (at, _) in line.match_indices(table) {
            let (rest, mut depth) = (&line[at + table.len()..], 0);
            let end = rest.find(|c| {
                depth += i32::from("<([".contains(c)) - i32::from(">)]".contains(c));
                depth < 0 || depth == 0 && c == ','
            });
            keys.push(&rest[..end.unwrap_or(rest.len())]);
        }
    }
    keys
}

/// `src/hash.rs` says why. Tables of the vocabulary are made of what its owner chose.
#[test]
fn keys_of_strangers_are_hashed_with_a_seed() {
    let numbers = ["ContextId", "ExprId", "Name", "NodeId", "RuleId", "StateId", "u32", "usize", "*const CharSet"];
    // One of them and a constant, constants, and hashes of the at most 4,096 masks of a build.
    let others = ["(ExprId, Sub)", "(NodeId, bool)", "(u32, bool)", "u8", "(u8, u8)", "&'static str", "u64"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut found) = (Vec::new(), 0);
    sources(&root, &mut files);
    let is_test = |f: &Path| f.strip_prefix(&root).is_ok_and(|inside| inside.to_string_lossy().contains("tests"));
    files.retain(|f| !is_test(f) && !f.starts_with(root.join("vocab")));
    for file in files.iter().filter(|f| **f != root.join("hash.rs")) {
        for line in code(file) {
            assert!(!line.contains("FxHasher") && !line.contains("FxBuildHasher"), "{}: {line}", file.display());
            for key in unseeded_keys(&line) {
                assert!(numbers.contains(&key) || others.contains(&key), "{}: {line}", file.display());
                found += 1;
            }
        }
    }
    assert!(found > 20, "{found}");
    assert_eq!(unseeded_keys("a: FxHashMap<(A, B<C>), D>, b: FxHashSet<E>"), ["(A, B<C>)", "E"]);
}
