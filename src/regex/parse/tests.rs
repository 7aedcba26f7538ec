//! Every error of the parsers says what to write instead: by a row of `HINTS`, or in its message. So do those of what
//! can be read, but not enforced.
//!
//! Each place that raises an error is met by a pattern here. What is compared is the message that was raised, however
//! the source spells it; the sources are read only for the lines on which errors are raised.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::Location;
use std::path::Path;

use crate::check_regex;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::regex::parse::{ecma, python};
use crate::regex::pattern_hints::known_beginnings;
use crate::regex::{Dialect, RegexOptions};

/// Patterns of Python's dialect that cannot be read: one at least for each place of the parser that raises an error.
const PYTHON: &[&str] = &[
    // python.rs
    "a(",
    "a{5,2}",
    "*a",
    "a**",
    "(?",
    "(?<1>a)",
    "(?<n>a)",
    "(?<",
    "(?#a",
    "(?|a)",
    "(?'n'a)",
    "(?P<n>a)(?P<n>b)",
    "(?P=n)",
    "(?P",
    "(?P>n)",
    "(?Pn)",
    "(?P<n",
    "(?P=n",
    "(?P<>a)",
    "(?P<1>a)",
    "(?i*a)",
    "a(?i)",
    "(?i-*)",
    "(?i-m)",
    "(?ik)",
    "a)",
    "(?<=a*)b",
    "(?L)a",
    "(?au)a",
    "(?i-a:b)",
    "(?u)(?a)b",
    "(?i-i:a)",
    // python_class.rs
    r"\",
    r"\400",
    r"\1",
    r"[\",
    r"\x1",
    r"\y",
    r"\p{L",
    r"\p",
    r"\P",
    r"\p{Nope}",
    r"[\400]",
    "[a",
    "[b-a]",
    r"[a-\d]",
    // reader.rs
    r"(?#\",
    // What can be read, but not enforced.
    r"(a)\1",
    "(?P<n>a)(?P=n)",
    "(a)(?(1)b|c)",
    r"\N{DASH}",
];

/// The same for ECMA-262's dialect.
const ECMA: &[&str] = &[
    // ecma.rs
    "a(",
    "a{5,2}",
    "*a",
    "(?'n'a)",
    "(?|a)",
    "(?<n>a)(?<n>b)",
    "(?<1>a)",
    "(?i)a",
    "(?ii:a)",
    "(?i",
    "a)",
    // ecma_class.rs
    r"\",
    r"\1",
    r"[\",
    r"\c1",
    r"\x1",
    r"\u1",
    r"\y",
    r"\p",
    r"\p{Nope}",
    "[a",
    "[b-a]",
    // What can be read, but not enforced.
    r"(a)\1",
    r"\p{Script=Unknown}",
];

/// Patterns of Python's dialect that can be read, and for which no exact expression is found.
const INEXACT: &[&str] = &["xa++a", "(?>a|ab)c", "a(?<=b(?=c))"];

/// Rows of `HINTS` that only terminals of grammars meet.
const OF_TERMINALS: [&str; 1] = ["look-behind of so many texts"];

/// How messages begin, or what is in them, that say themselves what to write.
const SAYS_IT: [&str; 2] = ["(?", "; a group with a name is written "];

const SOURCES: [(&str, &str); 6] = [
    ("builder.rs", include_str!("builder.rs")),
    ("ecma.rs", include_str!("ecma.rs")),
    ("ecma_class.rs", include_str!("ecma_class.rs")),
    ("python.rs", include_str!("python.rs")),
    ("python_class.rs", include_str!("python_class.rs")),
    ("reader.rs", include_str!("reader.rs")),
];

/// A line of a file of this folder.
type Place = (String, u32);

thread_local! {
    static RAISED: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the place where an error is raised. `PatternReader::error` and `unsupported` call it.
pub(super) fn note_place(at: &Location<'_>) {
    let file = Path::new(at.file()).file_name().unwrap_or_default();
    RAISED.with_borrow_mut(|raised| raised.push((file.to_string_lossy().into_owned(), at.line())));
}

/// The error of each pattern, and the place that raised it.
fn raised() -> Vec<(Error, Place)> {
    let limits = Limits::default();
    let of_python = PYTHON.iter().map(|&pattern| {
        let flags = python::parse_flags("").unwrap();
        (pattern, Dialect::Python, python::parse(pattern, flags, &limits).err())
    });
    let of_ecma = ECMA.iter().map(|&pattern| {
        let flags = ecma::parse_flags("").unwrap();
        (pattern, Dialect::Ecma, ecma::parse(pattern, flags, &limits).err())
    });
    let each = of_python.chain(of_ecma).map(|(pattern, dialect, error)| {
        let error = error.unwrap_or_else(|| panic!("{pattern:?} can be read: it belongs into neither list"));
        let place = RAISED.with_borrow_mut(std::mem::take).pop();
        let place =
            place.unwrap_or_else(|| panic!("{pattern:?} is refused, but by neither function of reader.rs: {error}"));
        (error.in_pattern(pattern, dialect), place)
    });
    each.collect()
}

#[test]
fn every_message_says_what_to_write() {
    for (error, (file, line)) in raised() {
        let message = error.message();
        let says_it = message.starts_with(SAYS_IT[0]) || message.contains(SAYS_IT[1]);
        assert!(
            says_it || error.hint().is_some(),
            "src/regex/parse/{file}:{line} raises {message:?}, which has no hint: add a row that begins so to HINTS of \
             src/regex/pattern_hints.rs; or let the message say what to write, and add it to SAYS_IT of \
             src/regex/parse/tests.rs"
        );
    }
}

#[test]
fn what_cannot_be_enforced_says_what_to_write() {
    for pattern in INEXACT {
        let error = check_regex(pattern, &RegexOptions::default(), &Limits::default()).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.hint().is_some(), "{pattern}: {error}");
    }
}

#[test]
fn every_error_is_met_by_a_pattern() {
    let met: BTreeSet<Place> = raised().into_iter().map(|(_, place)| place).collect();
    for (file, text) in SOURCES {
        for (line, number) in text.lines().zip(1..) {
            let calls =
                line.contains(".error(") || (line.contains("unsupported(") && !line.contains("fn unsupported("));
            let raises = calls && !line.trim_start().starts_with("//");
            assert!(
                !raises || met.contains(&(file.to_owned(), number)),
                "src/regex/parse/{file}:{number} raises an error that no pattern of src/regex/parse/tests.rs meets: \
                 add a pattern to PYTHON or ECMA, so that its hint is looked at:\n{line}"
            );
        }
    }
}

#[test]
fn every_row_of_hints_has_a_message() {
    let inexact = |pattern: &&str| check_regex(pattern, &RegexOptions::default(), &Limits::default()).unwrap_err();
    let errors: Vec<Error> = raised().into_iter().map(|(error, _)| error).chain(INEXACT.iter().map(inexact)).collect();
    for begin in known_beginnings().filter(|begin| !OF_TERMINALS.contains(begin)) {
        assert!(
            errors.iter().any(|error| error.message().starts_with(begin)),
            "no pattern of src/regex/parse/tests.rs is refused with a message that begins with {begin:?}, as a \
             row of HINTS does: add a pattern there, or take out the beginning"
        );
    }
}

#[test]
fn a_property_without_a_name_is_named_as_it_is_written() {
    let messages = raised().into_iter().map(|(error, _)| error.message().to_owned()).collect::<Vec<_>>();
    assert!(messages.contains(&r"bad escape \P".to_owned()) && messages.contains(&r"bad escape \p".to_owned()));
}
