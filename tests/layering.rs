//! What the compiler does not hold: the direction of imports between folders, circles of files, the core that never
//! names Python, the width of lines, names that say nothing, and unsafe code, which keeps to four files, each time
//! below its argument.

use std::collections::{BTreeMap, BTreeSet};
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
            let names = line.contains("pyo3") || line.contains("numpy") || line.contains("crate::python");
            assert!(
                !names || line.trim() == "mod python;",
                "{} names Python: {line}\nThe core is a Rust library of its own, and src/python alone may. Have \
                 src/python convert the value, and pass a plain one",
                file.display()
            );
        }
    }
}

/// The folders of `src` in the order of the data flow. A file names files of its own folder and of folders before it.
const FOLDERS: [&str; 18] = [
    "error",
    "limits",
    "util",
    "mask_kernels",
    "vocab",
    "expr",
    "json",
    "regex",
    "schema",
    "grammar",
    "lexeme",
    "pushdown",
    "dfa",
    "mask",
    "index",
    "guide",
    "compile",
    "artifact",
];

/// The most files that may name each other in a circle. This number may only shrink.
const LONGEST_CIRCLE: usize = 4;

/// The most files of a folder.
const FULLEST_FOLDER: usize = 18;

/// The files of `src` that are no tests, by their module path, and what each of them imports from the others.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let name = |file: &PathBuf| {
        let inside = file.strip_prefix(&root).expect("it was found there").with_extension("");
        let path = inside.to_string_lossy().replace('\\', "/");
        path.strip_suffix("/mod").unwrap_or(&path).to_owned()
    };
    let modules: BTreeMap<String, PathBuf> = files
        .iter()
        .map(|f| (name(f), f.clone()))
        .filter(|(name, _)| !name.ends_with("tests") && name != "lib")
        .collect();
    let mut found = BTreeMap::new();
    for (module, file) in &modules {
        // Tests inside of a file may name what they like.
        let text = code(file).join("\n");
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let mut named = BTreeSet::new();
        for path in paths(text, module) {
            // The longest beginning of the path that is a file.
            let owner = (1..=path.len()).rev().map(|n| path[..n].join("/")).find(|p| modules.contains_key(p));
            named.extend(owner.filter(|owner| owner != module));
        }
        found.insert(module.clone(), named);
    }
    assert!(found.len() > 250, "{} files", found.len());
    found
}

/// What files of `mask` must not name: whose file, by the beginning of its module path, and the beginnings that it must
/// not import. Lexemes' masks know no stack, documents no parser, and grammars no frames but those of the documents
/// inside them.
const MASKS: [(&str, &[&str]); 3] = [
    ("mask/lexeme", &["mask/json", "mask/grammar", "pushdown"]),
    ("mask/json", &["mask/grammar", "pushdown/grammar"]),
    ("mask/grammar", &["mask/json", "pushdown/json"]),
];

/// The files that make the masks of documents inside grammars.
const DOCUMENTS_IN_GRAMMARS: [&str; 2] = ["mask/grammar/document_walk", "mask/grammar/documents"];

#[test]
fn masks_of_lexemes_documents_and_grammars_know_their_own_stack_alone() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (module, named) in imports() {
        let inside = |folder: &str, path: &str| path == folder || path.starts_with(&format!("{folder}/"));
        for (folder, forbidden) in MASKS.iter().filter(|(folder, _)| inside(folder, &module)) {
            looked_at += 1;
            let bad = named.iter().filter(|path| forbidden.iter().any(|f| inside(f, path)));
            if !DOCUMENTS_IN_GRAMMARS.contains(&&*module) {
                wrong.extend(bad.map(|path| format!("{module} of {folder} names {path}")));
            }
        }
    }
    assert!(looked_at > 50, "{looked_at} files");
    assert!(
        wrong.is_empty(),
        "{wrong:#?}\nMasks of lexemes know no stack, those of documents no parser, and those of grammars no frames \
         but in {DOCUMENTS_IN_GRAMMARS:?} (MASKS, in tests/layering.rs). Move what both need into src/mask or \
         src/pushdown itself"
    );
}

/// The paths below `crate` that a file's text names, in imports with braces too.
fn paths(text: &str, module: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (word, above) in [("crate::", 0), ("super::", 1)] {
        for (at, _) in text.match_indices(word) {
            if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let parts: Vec<String> = module.split('/').map(str::to_owned).collect();
            let head = if above == 0 { Vec::new() } else { parts[..parts.len() - 1].to_vec() };
            branches(&text[at + word.len()..], head, &mut found);
        }
    }
    found
}

/// Follows one path, or a tree of paths in braces; returns the bytes that it took.
fn branches(text: &str, mut path: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with('{') {
            at += 1;
            loop {
                let gap = text[at..].find(|c: char| !c.is_whitespace() && c != ',').unwrap_or(text.len() - at);
                at += gap;
                if at >= text.len() || text[at..].starts_with('}') {
                    return at + 1;
                }
                let taken = branches(&text[at..], path.clone(), found);
                let end = text[at + taken.min(text.len() - at)..].find([',', '}']).unwrap_or(0);
                at += taken + end;
                if taken + end == 0 {
                    return at + 1;
                }
            }
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        path.push(rest[..end].to_owned());
        at += end;
        if !text[at..].starts_with("::") {
            break;
        }
        at += 2;
    }
    found.push(path);
    at
}

/// The imports that lead to a later folder, each with the rule and the remedy.
fn against_the_order(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let folder = |module: &str| module.split('/').next().unwrap_or_default().to_owned();
    let place = |module: &str| FOLDERS.iter().position(|f| *f == folder(module));
    let mut found = Vec::new();
    for (module, named) in arrows.iter().filter(|(module, _)| folder(module) != "python") {
        let Some(here) = place(module) else {
            found.push(format!(
                "src/{module} is in no folder of FOLDERS: name its folder there, behind all folders that it imports \
                 from"
            ));
            continue;
        };
        for other in named {
            match place(other) {
                Some(there) if there <= here => {}
                Some(_) => found.push(format!(
                    "src/{module} imports {other}, and the folder {} comes behind {}: a file imports from its own \
                     folder and from those before it. Move what it needs into an earlier folder, or have the caller, \
                     who knows both, pass it in",
                    folder(other),
                    folder(module)
                )),
                None => found.push(format!(
                    "src/{module} imports {other}, which no folder before it has: what is Python's stays in \
                     src/python, and a new folder is named in FOLDERS"
                )),
            }
        }
    }
    found
}

/// A file imports only from its own folder and from those before it. `compile` alone knows all stages, and `python`
/// what is public.
#[test]
fn folders_name_only_folders_before_them() {
    let found = against_the_order(&imports());
    assert!(found.is_empty(), "{}\nFOLDERS of tests/layering.rs has the order", found.join("\n"));
}

#[test]
fn an_import_against_the_order_is_told_with_the_remedy() {
    let told = |module: &str, other: &str| {
        let named = BTreeSet::from([other.to_owned()]);
        against_the_order(&BTreeMap::from([(module.to_owned(), named)])).join("\n")
    };
    assert_eq!(told("mask/fill", "util/bits") + &told("mask/fill", "mask/cache") + &told("python/x", "mask/fill"), "");
    let upward = told("vocab/trie", "mask/fill");
    assert!(
        upward.starts_with("src/vocab/trie imports mask/fill, and the folder mask comes behind vocab: "),
        "{upward}"
    );
    assert!(upward.contains("Move what it needs into an earlier folder"), "{upward}");
    assert!(told("masks/fill", "util/bits").contains("is in no folder of FOLDERS: name its folder there"));
    assert!(told("mask/fill", "python/x").contains("stays in src/python"));
}

/// Files that name each other, directly or through others, can only be read together.
#[test]
fn circles_of_files_are_short() {
    let arrows = imports();
    let reach = |from: &String| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = todo.pop() {
            for to in &arrows[&next] {
                if seen.insert(to.clone()) {
                    todo.push(to.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|m| (m, reach(m))).collect();
    for (module, there) in &reached {
        let circle: Vec<&String> = there.iter().filter(|other| reached[other].contains(*module)).collect();
        assert!(
            circle.len() <= LONGEST_CIRCLE,
            "{} files name each other, directly or through others: {circle:?}\nThey can only be read together, so at \
             most {LONGEST_CIRCLE} may. Move what two of them share into a file that names neither",
            circle.len()
        );
    }
}

#[test]
fn folders_are_small_enough_to_be_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut sizes: BTreeMap<&Path, usize> = BTreeMap::new();
    for file in files.iter().filter(|f| !f.with_extension("").to_string_lossy().ends_with("tests")) {
        *sizes.entry(file.parent().expect("it is in a folder")).or_default() += 1;
    }
    let full: Vec<_> = sizes.iter().filter(|(_, files)| **files > FULLEST_FOLDER).collect();
    assert!(full.is_empty(), "divide by concept, into folders, what has more than {FULLEST_FOLDER} files: {full:?}");
}

/// The lines of a source file, by their numbers from 0, that have a part of a raw string, which has no place where it
/// could be broken.
fn lines_of_raw_strings(text: &str) -> BTreeSet<usize> {
    let (mut found, mut line, mut at) = (BTreeSet::new(), 0, 0);
    while at < text.len() {
        let rest = &text[at..];
        let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |to| from + to + end.len());
        let hashes = rest.strip_prefix('r').map_or(0, |behind| behind.len() - behind.trim_start_matches('#').len());
        let is_raw = rest.starts_with('r') && rest[1 + hashes..].starts_with('"');
        let taken = if is_raw {
            until(&format!("\"{}", "#".repeat(hashes)), hashes + 2)
        } else if let Some(inside) = rest.strip_prefix('"') {
            let mut escaped = false;
            let closes = |c: char| {
                let is_escaped = escaped;
                escaped = c == '\\' && !is_escaped;
                c == '"' && !is_escaped
            };
            inside.find(closes).map_or(rest.len(), |to| to + 2)
        } else if rest.starts_with("//") {
            until("\n", 0)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\") {
            until("'", 3)
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        let last = line + rest[..taken].matches('\n').count();
        if is_raw {
            found.extend(line..=last);
        }
        (line, at) = (last, at + taken);
    }
    found
}

/// What rustfmt does for code; it leaves comments and strings as they are.
#[test]
fn no_line_is_wider_than_the_formatter_makes_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests", "benches/rust/src", "benches/rust/benches", "fuzz/fuzz_targets", "examples"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "the source folders were found");
    let width = fs::read_to_string(root.join("rustfmt.toml")).expect("rustfmt has its settings");
    let width = width.lines().find_map(|line| line.strip_prefix("max_width = ")?.parse().ok()).expect("a width");
    let mut wide = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file is text");
        let raw = lines_of_raw_strings(&text);
        for (number, line) in text.lines().enumerate() {
            if line.chars().count() > width && !raw.contains(&number) {
                wide.push(format!("{}:{}", file.display(), number + 1));
            }
        }
    }
    assert!(
        wide.is_empty(),
        "lines of more than {width} characters: {}\nrustfmt leaves comments and texts as they are: break them, a text \
         with \\ at the end of the line",
        wide.join(", ")
    );
}

#[test]
fn raw_strings_are_told_from_others() {
    let text = "a(r#\"x\"y\nz\"#, \"\")\nfor \"r\" '\"' \"\\\"r\"\nbr\"\" '\\''\n// r\"\nr\"\n\"\n\"";
    assert_eq!(lines_of_raw_strings(text), BTreeSet::from([0, 1, 3, 5, 6]));
}

#[test]
fn paths_are_read_through_braces() {
    let read = |text| paths(text, "a/b").iter().map(|p| p.join("/")).collect::<Vec<_>>();
    assert_eq!(
        read("use crate::x::{Y, z::{A, B as C}, self};\nfn f() { super::q::run(crate::k::L) }"),
        ["x/Y", "x/z/A", "x/z/B", "x/self", "k/L", "a/q/run"]
    );
}

#[test]
fn unsafe_code_stands_in_four_files_each_time_with_its_argument() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed = ["util/mapped.rs", "mask_kernels/mod.rs", "python/convert/buffer.rs", "python/runtime/allocator.rs"]
        .map(|file| root.join(file));
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
            assert!(
                allowed.contains(&file),
                "{}:{}: unsafe code: {line}\nFour files alone may hold it, the list `allowed` of this test. Safe code \
                 does, or a function of one of them",
                file.display(),
                n + 1
            );
            // The argument is the comment above, which may take some lines.
            let above =
                lines[..n].iter().rev().take_while(|l| l.starts_with("//")).any(|l| l.starts_with("// SAFETY:"));
            assert!(
                above,
                "{}:{}: unsafe code without an argument: a comment above it, `// SAFETY: ...`, says why it is sound",
                file.display(),
                n + 1
            );
            uses += 1;
        }
    }
    assert!(uses >= 14, "{uses}");
}

/// Whether a line of code gives a name that says nothing where it is used.
fn is_empty_name(line: &str) -> bool {
    let line = line.strip_prefix("pub").map_or(line, |rest| rest.split_once(' ').map_or(rest, |(_, rest)| rest));
    ["const DEAD:", "const MOST:", "const UNKNOWN:"].iter().any(|name| line.starts_with(name))
        || ["fn of(", "fn of<"].iter().any(|name| line.contains(name))
}

#[test]
fn names_say_something_where_they_are_used() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let empty: Vec<String> = files.iter().flat_map(|file| code(file)).filter(|line| is_empty_name(line)).collect();
    let ways =
        "A function is named by what it makes or reads (new, from_x, find), a constant by what it bounds or marks";
    assert!(empty.is_empty(), "{ways} (MOST_STATES, DEAD_STATE): {empty:?}");
    assert!(is_empty_name("pub(super) const MOST: usize = 4;") && is_empty_name("    pub fn of<'a>(text: &'a str)"));
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

/// `src/util/seeded_hash.rs` says why. Tables of the vocabulary are made of what its owner chose.
#[test]
fn keys_of_strangers_are_hashed_with_a_seed() {
    let numbers = [
        "ContextId",
        "ExprId",
        "Name",
        "AstId",
        "FrameId",
        "SchemaNodeId",
        "TapeId",
        "RuleId",
        "StateId",
        "u32",
        "usize",
        "*const CharSet",
    ];
    // One of them and a constant, constants, and hashes of the at most 4,096 masks of a build.
    let others = [
        "(ExprId, EscapeState)",
        "(AstId, bool)",
        "(FrameId, bool)",
        "(u32, bool)",
        "u8",
        "(u8, u8)",
        "&'static str",
        "u64",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut found) = (Vec::new(), 0);
    sources(&root, &mut files);
    let is_test = |f: &Path| f.strip_prefix(&root).is_ok_and(|inside| inside.to_string_lossy().contains("tests"));
    files.retain(|f| !is_test(f) && !f.starts_with(root.join("vocab")));
    for file in files.iter().filter(|f| **f != root.join("util/seeded_hash.rs")) {
        for line in code(file) {
            assert!(
                !line.contains("FxHasher") && !line.contains("FxBuildHasher"),
                "{}: {line}\nThis hash has no seed: use FxHashMap or FxHashSet, whose keys this test knows, or a \
                 table of src/util/seeded_hash.rs",
                file.display()
            );
            for key in unseeded_keys(&line) {
                assert!(
                    numbers.contains(&key) || others.contains(&key),
                    "{}: {line}\nA source of strangers could choose keys of the type {key} that collide: use a table \
                     of src/util/seeded_hash.rs. If they are numbers of our own, name the type in `numbers` of this \
                     test",
                    file.display()
                );
                found += 1;
            }
        }
    }
    assert!(found > 20, "{found}");
    assert_eq!(unseeded_keys("a: FxHashMap<(A, B<C>), D>, b: FxHashSet<E>"), ["(A, B<C>)", "E"]);
}
