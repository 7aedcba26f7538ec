//! In which notation a text is most likely written, for the error of one that was read in another.

use crate::error::{Error, ErrorCode, ErrorKind};
use crate::grammar::Syntax;

/// Adds to the error of a text that is no grammar in `syntax` which notation it looks like, if that is another one.
pub(super) fn named(e: Error, text: &str, syntax: Syntax) -> Error {
    if e.kind() != ErrorKind::Grammar {
        return e;
    }
    if is_file_name(text) {
        return e
            .saying(format!("{text:?} looks like the name of a file, and is no grammar"))
            .with_hint(format!("pass what it holds, pathlib.Path({text:?}).read_text()"));
    }
    let first = text.lines().find_map(defined_by);
    let (said, hint, meant) = match (first, syntax) {
        (Some("<"), _) => {
            ("names of rules have no angles here: write root ::= \"a\" item", "pass syntax=\"gbnf\"", None)
        }
        (Some("::="), Syntax::Lark) => (
            "this looks like GBNF or EBNF, and is read as Lark's notation",
            "pass syntax=\"gbnf\" (llama.cpp's) or syntax=\"ebnf\" (XGrammar's)",
            Some("gbnf"),
        ),
        (Some(":"), Syntax::Gbnf | Syntax::Ebnf) => {
            ("this looks like Lark's notation", "pass syntax=\"lark\"", Some("lark"))
        }
        _ => return e,
    };
    // What it looks like says more than what is wrong at the place, which stays in front.
    let (place, detail) = match e.message().split_once(": ") {
        Some((place, detail)) if place.starts_with("line ") => (format!("{place}: "), detail),
        _ => (String::new(), e.message()),
    };
    // Of the "=" of a "::=" nothing else has to be said; the excerpt stays.
    let (sentence, excerpt) = detail.split_once('\n').unwrap_or((detail, ""));
    let message = match sentence.ends_with("must stand here, not '='") {
        true => format!("{place}{said}\n{excerpt}").trim_end_matches('\n').to_owned(),
        false => format!("{place}{said}; {detail}"),
    };
    let e = e.saying(message).with_hint(hint);
    match meant {
        Some(syntax) => e.coded_about(ErrorCode::OtherNotation, syntax),
        None => e,
    }
}

/// Whether a text is the name of a file with a grammar: what defines a rule has a blank behind it, or a text.
fn is_file_name(text: &str) -> bool {
    let ends = |end: &&str| text.ends_with(*end);
    text.len() <= 4096 && !text.contains(['\n', '"', ' ']) && [".lark", ".gbnf", ".ebnf"].iter().any(ends)
}

/// With what a line defines a rule: `::=`, `:`, or `<` for a name between angles; `None` if it defines none.
fn defined_by(line: &str) -> Option<&'static str> {
    let line = line.trim_start().trim_start_matches(['?', '!']);
    let is_named = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let behind = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let behind = behind.trim_start();
    match is_named {
        true if behind.starts_with("::=") => Some("::="),
        true if behind.starts_with(':') && !behind.starts_with(":=") => Some(":"),
        false if line.starts_with('<') && line.contains("::=") => Some("<"),
        _ => None,
    }
}
