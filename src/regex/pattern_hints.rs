//! What to do about a pattern that is refused, by how the message of its error begins, and by its dialect.
//!
//! The messages are those of the parsers in `regex::parse`, and of what `regex` cannot enforce. Nearly each would need
//! a code of its own, as few are about the same fault, and nobody else asks for it, so they have none. The tests of
//! `regex::parse` meet every error of the parsers with a pattern, and fail where a message has no row here, or a row
//! has no message.

use crate::error::{Error, ErrorKind, SourcePlace};
use crate::regex::Dialect;
use Hint::{Of, Text};

/// What to do about the faults of one row.
enum Hint {
    /// The same about all of them.
    Text(&'static str),
    /// What the function says of the fault; `None` where the message says it.
    Of(fn(&Fault<'_>) -> Option<String>),
}

/// What is wrong, the dialect, and the pattern before the character at fault and from it on.
struct Fault<'a> {
    message: &'a str,
    dialect: Dialect,
    before: &'a str,
    from: &'a str,
}

/// How messages begin, and what to do. The first row holds.
const HINTS: &[(&[&str], Hint)] = &[
    (&["missing ), unterminated comment"], Text("write ) where the comment ends")),
    (&["missing >, "], Text("write > where the name ends")),
    (&["missing ), ", "unterminated group"], Text(r"write ) where the group ends, or \( for the character itself")),
    (&["unbalanced parenthesis", "unmatched )"], Text(r"leave it out, or write \) for the character itself")),
    (
        &["unexpected end of pattern"],
        Text(r"write the rest of the group, as in (?:...), or \( and \? for the characters"),
    ),
    (&["unknown group name", "invalid group reference"], Text("name a group that the pattern has")),
    (&["unknown extension", "invalid group"], Of(of_group)),
    (&["look-behind requires"], Text("write alternatives of one length inside it")),
    (&["redefinition of group name", "another group has the name"], Text("give one of the two groups another name")),
    (
        &["missing group name", "bad group name", "invalid capture group name"],
        Text("write a name of letters, digits and _ that begins with no digit, or (...) for a group without a name"),
    ),
    (
        &["global flags not at the start"],
        Text("give flags for the whole pattern beside it; (?i:...) is for a part of it"),
    ),
    (
        &["missing -, : or )"],
        Text("write : and the part that the flags are for, as in (?i:...); or ) if they are for the whole pattern"),
    ),
    (&["missing flag"], Text("write the flags to turn off, and the part that this is for, as in (?-i:...)")),
    (&["missing :"], Text("write : and the part that the flags are for, as in (?-i:...)")),
    (&["unknown flag"], Text("the flags are a, i, m, s, u and x")),
    (&["bad inline flags: cannot use 'L'"], Text("leave out L")),
    (
        &["bad inline flags: cannot turn off"],
        Text("only i, m, s and x can be turned off; of a and u, each turns off the other"),
    ),
    (&["bad inline flags: flags 'a', 'u'", "ASCII and UNICODE flags"], Text("leave out a or u")),
    (&["bad inline flags: flag turned on and off"], Text("leave it out before the - or behind it")),
    (&["nothing to repeat"], Of(of_lone_mark)),
    (&["multiple repeat"], Of(of_second_mark)),
    (&["min repeat greater", "numbers out of order"], Text("write the smaller number first")),
    (&["unterminated character"], Text(r"write ] where the set ends, or \[ for the character itself")),
    (
        &["bad character range: one end is a class"],
        Text(r"write the characters of the class, or \- for the character itself"),
    ),
    (
        &["bad character range", "range out of order"],
        Text(r"write the lower end first, or \- for the character itself"),
    ),
    (
        &["bad escape (end of pattern)", r"\ at end of pattern"],
        Text(r"leave it out, or write \\ for the character itself"),
    ),
    (&[r"incomplete or bad escape \", "invalid hexadecimal escape", "invalid Unicode escape"], Of(of_number)),
    (&["octal escape value"], Text(r"write its four hexadecimal digits, as in \u0100")),
    (&["invalid control escape"], Text(r"write a letter behind it, as in \cA")),
    (
        &[r"bad escape \p", r"bad escape \P", "invalid property", "unterminated property"],
        Text(r"write a name in braces behind it, as in \p{L}"),
    ),
    (&[r"bad escape \", r"invalid escape \"], Of(of_escape)),
    (
        &["unknown Unicode property"],
        Text(r"write a category, as in \p{L}, or a script by its kind, as in \p{Script=Greek}"),
    ),
    // What can be read, and has no exact expression.
    (&["a backreference cannot"], Text(OF_REFERENCE)),
    (&["a conditional group cannot"], Text("write all ways out, as in (?:...|...)")),
    (&["a code point by name"], Text(OF_NAMED_CHARACTER)),
    (&["the property "], Text("write its characters as a set, as in [a-z]")),
    (
        &["this possessive repetition or atomic group"],
        Text("leave out the + behind the repetition, or write (?:...) for (?>...), if it may give back what it took"),
    ),
    (&["look-ahead inside look-behind"], Text("write out what the look-behind may see, without the look-ahead")),
    (&["look-behind of so many texts"], Text("have it look at fewer characters")),
];

impl Error {
    /// With its place in this pattern, if it names one, and with [what to write instead](Self::with_pattern_hint).
    #[must_use]
    pub(crate) fn in_pattern(self, pattern: &str, dialect: Dialect) -> Self {
        self.with_pattern_hint(pattern, dialect).in_source(pattern)
    }

    /// With what to write instead as its hint, if the error is about a place in this pattern, and has no hint and needs
    /// one.
    #[must_use]
    pub(crate) fn with_pattern_hint(self, pattern: &str, dialect: Dialect) -> Self {
        let hint = match (self.kind(), self.place(), self.hint()) {
            (ErrorKind::Pattern | ErrorKind::Unsupported, SourcePlace::Offset(at), None) => {
                hint_of(self.message(), pattern, *at, dialect)
            }
            _ => None,
        };
        match hint {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }
}

/// What to do about a pattern whose error has this message; `None` where the message says it. `at` is the number of the
/// character at fault, from 0; all of them where the fault is at the end.
fn hint_of(message: &str, pattern: &str, at: usize, dialect: Dialect) -> Option<String> {
    let start = pattern.char_indices().nth(at).map_or(pattern.len(), |(start, _)| start);
    let (before, from) = pattern.split_at(start);
    let begins = |row: &&(&[&str], Hint)| row.0.iter().any(|begin| message.starts_with(begin));
    match &HINTS.iter().find(begins)?.1 {
        Text(text) => Some((*text).to_owned()),
        Of(hint) => hint(&Fault { message, dialect, before, from }),
    }
}

/// How the messages begin that the table has rows for.
#[cfg(test)]
pub(crate) fn known_beginnings() -> impl Iterator<Item = &'static str> {
    HINTS.iter().flat_map(|(begins, _)| begins.iter().copied())
}

/// What to do about a text that must be that of a group.
const OF_REFERENCE: &str = "write out what the group may be a second time; that both are equal cannot be enforced";

/// What to do about `\N{...}`.
const OF_NAMED_CHARACTER: &str = r"write the character itself, or its number, as in \u2014";

impl Fault<'_> {
    /// The character at fault: of a repetition `*`, `+`, `?` or `{`.
    fn mark(&self) -> char {
        self.from.chars().next().unwrap_or('*')
    }

    /// What stands behind the `(?` of a group. Errors of groups lie at its bracket or at its `?`.
    fn behind_question_mark(&self) -> &str {
        self.from.strip_prefix('(').unwrap_or(self.from).strip_prefix('?').unwrap_or_default()
    }

    /// The letter of an escape, and what stands behind it.
    fn escape(&self) -> Option<(char, &str)> {
        let mut behind = self.from.strip_prefix('\\')?.chars();
        Some((behind.next()?, behind.as_str()))
    }

    /// A character as an escape of this dialect.
    fn escaped(&self, c: char) -> String {
        match (c as u32, self.dialect) {
            (code @ ..=0xFF, _) => format!(r"\x{code:02x}"),
            (code @ ..=0xFFFF, _) => format!(r"\u{code:04x}"),
            (code, Dialect::Python) => format!(r"\U{code:08x}"),
            (code, Dialect::Ecma) => format!(r"\u{{{code:x}}}"),
        }
    }
}

/// A mark of a repetition behind nothing, or behind another one where the dialect has no possessive repetitions.
fn of_lone_mark(fault: &Fault<'_>) -> Option<String> {
    let is_verb = fault.from.strip_prefix('*').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    if is_verb && fault.before.ends_with('(') {
        return Some("leave it out: (*...) is a verb of PCRE".to_owned());
    }
    if !fault.before.ends_with(['*', '+', '?', '}']) {
        return Some(format!(r"write what is to be repeated before it, or \{} for the character itself", fault.mark()));
    }
    if fault.dialect == Dialect::Ecma && fault.mark() == '+' {
        return Some("leave it out: this dialect has no possessive repetitions".to_owned());
    }
    of_second_mark(fault)
}

/// A mark of a repetition behind another one.
fn of_second_mark(fault: &Fault<'_>) -> Option<String> {
    let mark = fault.mark();
    Some(format!(r"leave out one of the two, put the first into a group, (?:...), or write \{mark} for {mark} itself"))
}

/// A group that only other engines have.
fn of_group(fault: &Fault<'_>) -> Option<String> {
    if fault.message.contains("; a group with a name is written") {
        return None;
    }
    let behind = fault.behind_question_mark();
    let hint = match behind {
        _ if behind.starts_with('|') => "write (?:...|...): the numbers of groups make no difference here",
        _ if behind.starts_with('C') => "leave it out: nothing is called from inside of a pattern",
        _ if behind.starts_with('>') => "write (?:...): this dialect has no atomic groups",
        _ if behind.starts_with('#') => "leave out the comment: this dialect has none",
        _ if behind.starts_with('(') => {
            "a condition on a group cannot be enforced; write all ways out, as in (?:...|...)"
        }
        _ if behind.starts_with("P=") => OF_REFERENCE,
        _ if behind.starts_with(['i', 'm', 's', '-']) => {
            "write : and the part that the flags are for, as in (?i:...); flags of the whole pattern stand beside it"
        }
        _ if behind.starts_with('^') => "write the flags without ^, as in (?i:...)",
        _ if calls(behind) => "a pattern cannot call itself; a JSON Schema may recurse, by $ref",
        _ => r"(?:...) is a group, (?=...) looks ahead; write \( for the character",
    };
    Some(hint.to_owned())
}

/// Whether a group calls the whole pattern or a part of it, as `(?R)`, `(?1)`, `(?+1)`, `(?&x)` and `(?P>x)` do.
fn calls(behind: &str) -> bool {
    let of_number = behind.strip_prefix(['+', '-']).unwrap_or(behind);
    behind.starts_with(['R', '&']) || behind.starts_with("P>") || of_number.starts_with(|c: char| c.is_ascii_digit())
}

/// A character by its number, in digits that the dialect does not read: in braces, or too few.
fn of_number(fault: &Fault<'_>) -> Option<String> {
    let (letter, behind) = fault.escape()?;
    if let Some(c) = in_braces(behind) {
        return Some(format!("write {}", fault.escaped(c)));
    }
    let hint = match (fault.dialect, letter) {
        (Dialect::Python, _) => {
            r"write all of its digits, without braces: two behind \x, four behind \u, eight behind \U, of at most 0010FFFF"
        }
        (Dialect::Ecma, 'x') => r"write two hexadecimal digits behind it, as in \x41",
        (Dialect::Ecma, _) => r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}",
    };
    Some(hint.to_owned())
}

/// The character whose number a text begins with, in braces.
fn in_braces(text: &str) -> Option<char> {
    let (digits, _) = text.strip_prefix('{')?.split_once('}')?;
    of_digits(digits)
}

/// The character whose number these hexadecimal digits are.
fn of_digits(digits: &str) -> Option<char> {
    let are_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| are_digits).and_then(char::from_u32)
}

/// The character whose number a text begins with, in the eight digits that Python has behind `\U`.
fn of_eight_digits(text: &str) -> Option<char> {
    of_digits(text.get(..8)?)
}

/// An escape that only other engines have, by its letter.
fn of_escape(fault: &Fault<'_>) -> Option<String> {
    let (letter, behind) = fault.escape().unzip();
    if let (Dialect::Ecma, Some('U'), Some(c)) = (fault.dialect, letter, behind.and_then(of_eight_digits)) {
        return Some(format!("write {}", fault.escaped(c)));
    }
    let hint = match letter {
        Some('A' | 'z' | 'Z' | 'G' | 'K') => "leave it out",
        Some('Q' | 'E') => r"leave out \Q and \E, and write a backslash before each mark between them",
        Some('k' | 'g') => OF_REFERENCE,
        Some('h') => r"write [ \t]",
        Some('H') => r"write [^ \t]",
        Some('R') => r"write (?:\r\n|[\n\r])",
        Some('X') => "write . for any one character",
        Some('c') => r"write the character by its number, as in \x01",
        Some('N') => OF_NAMED_CHARACTER,
        Some('e') => r"write \x1b",
        Some('a') => r"write \x07",
        Some('o') => r"write two hexadecimal digits, as in \x0a",
        _ => "leave out the backslash for the character itself",
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests;
