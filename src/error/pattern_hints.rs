//! What to do about a pattern that cannot be read, by how the message of its error begins.
//!
//! The messages are those of the parsers in `regex::parse`. Nearly each would need a code of its own, as few are about
//! the same fault, and nobody else asks for it, so they have none. The tests of `regex::parse` meet every
//! error of the parsers with a pattern, and fail where a message has no row here, or a row has no message.

/// How messages begin, and what to do. The first row holds. `{}` is the character at fault; `{group}` and `{escape}`
/// are what to do about groups and escapes that other engines have.
const HINTS: &[(&[&str], &str)] = &[
    (&["missing ), unterminated comment"], "write ) where the comment ends"),
    (&["missing >, "], "write > where the name ends"),
    (&["missing ), ", "unterminated group"], r"write ) where the group ends, or \( for the character itself"),
    (&["unbalanced parenthesis", "unmatched )"], r"leave it out, or write \) for the character itself"),
    (&["unexpected end of pattern"], r"write the rest of the group, as in (?:...), or \( and \? for the characters"),
    (&["unknown group name", "invalid group reference"], "name a group that the pattern has"),
    (&["unknown extension", "invalid group"], "{group}"),
    (&["look-behind requires"], "write alternatives of one length inside it"),
    (&["redefinition of group name", "another group has the name"], "give one of the two groups another name"),
    (
        &["missing group name", "bad group name", "invalid capture group name"],
        "write a name of letters, digits and _ that begins with no digit, or (...) for a group without a name",
    ),
    (&["global flags not at the start"], "give flags for the whole pattern beside it; (?i:...) is for a part of it"),
    (
        &["missing -, : or )"],
        "write : and the part that the flags are for, as in (?i:...); or ) if they are for the whole pattern",
    ),
    (&["missing flag"], "write the flags to turn off, and the part that this is for, as in (?-i:...)"),
    (&["missing :"], "write : and the part that the flags are for, as in (?-i:...)"),
    (&["unknown flag"], "the flags are a, i, m, s, u and x"),
    (&["bad inline flags: cannot use 'L'"], "leave out L"),
    (
        &["bad inline flags: cannot turn off"],
        "only i, m, s and x can be turned off; of a and u, each turns off the other",
    ),
    (&["bad inline flags: flags 'a', 'u'", "ASCII and UNICODE flags"], "leave out a or u"),
    (&["bad inline flags: flag turned on and off"], "leave it out before the - or behind it"),
    (&["nothing to repeat"], r"write what is to be repeated before it, or \{} for the character itself"),
    (
        &["multiple repeat"],
        r"leave out one of the two, put the first into a group, (?:...), or write \{} for {} itself",
    ),
    (&["min repeat greater", "numbers out of order"], "write the smaller number first"),
    (&["unterminated character"], r"write ] where the set ends, or \[ for the character itself"),
    (
        &["bad character range: one end is a class"],
        r"write the characters of the class, or \- for the character itself",
    ),
    (&["bad character range", "range out of order"], r"write the lower end first, or \- for the character itself"),
    (&["bad escape (end of pattern)", r"\ at end of pattern"], r"leave it out, or write \\ for the character itself"),
    (
        &[r"incomplete or bad escape \"],
        r"write all of its digits, without braces: two behind \x, four behind \u, eight behind \U, of at most 0010FFFF",
    ),
    (&["invalid hexadecimal escape"], r"write two hexadecimal digits behind it, as in \x41"),
    (&["invalid Unicode escape"], r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}"),
    (&["octal escape value"], r"write its four hexadecimal digits, as in \u0100"),
    (&["invalid control escape"], r"write a letter behind it, as in \cA"),
    (
        &[r"bad escape \p", r"bad escape \P", "invalid property", "unterminated property"],
        r"write a name in braces behind it, as in \p{L}",
    ),
    (&[r"bad escape \", r"invalid escape \"], "{escape}"),
    (&["unknown Unicode property"], r"write a category, as in \p{L}, or a script by its kind, as in \p{Script=Greek}"),
];

/// What to do about a pattern whose error has this message; `None` where the message says it. `fault` is the character
/// at its place, and `rest` the pattern from one character before it, as errors of groups lie at the `?` behind the
/// bracket; from the fault itself where that is the first character.
pub(super) fn for_message(message: &str, fault: Option<char>, rest: &str) -> Option<String> {
    let begins = |row: &&(&[&str], &str)| row.0.iter().any(|begin| message.starts_with(begin));
    let (_, hint) = HINTS.iter().find(begins)?;
    match *hint {
        _ if is_verb(message, rest) => Some("leave it out: (*...) is a verb of PCRE".to_owned()),
        // The message says it.
        "{group}" if message.contains("; a group with a name is written") => None,
        "{group}" => Some(of_group(rest.split_once("(?").map_or("", |(_, behind)| behind)).to_owned()),
        "{escape}" => Some(of_escape(message).to_owned()),
        _ => {
            // Only what is repeated wrongly is named, and that is one of these.
            let fault = fault.filter(|&c| "*+?{".contains(c)).unwrap_or('*');
            Some(hint.replace("{}", fault.encode_utf8(&mut [0; 4])))
        }
    }
}

/// Whether what is repeated wrongly is a verb of PCRE, such as `(*UTF8)`.
fn is_verb(message: &str, rest: &str) -> bool {
    let name = rest.strip_prefix("(*").unwrap_or_default();
    message.starts_with("nothing to repeat") && name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// How the messages begin that the table has rows for.
#[cfg(test)]
pub(crate) fn known_beginnings() -> impl Iterator<Item = &'static str> {
    HINTS.iter().flat_map(|(begins, _)| begins.iter().copied())
}

/// What to do about a group that only other engines have, by what stands behind `(?`.
fn of_group(behind: &str) -> &'static str {
    match behind {
        _ if behind.starts_with('|') => "write (?:...|...): the numbers of groups make no difference here",
        _ if behind.starts_with('C') => "leave it out: nothing is called from inside of a pattern",
        _ if behind.starts_with('>') => "write (?:...): this dialect has no atomic groups",
        _ if behind.starts_with('#') => "leave out the comment: this dialect has none",
        _ if behind.starts_with('(') => {
            "a condition on a group cannot be enforced; write all ways out, as in (?:...|...)"
        }
        _ if behind.starts_with("P=") => of_reference(),
        _ if behind.starts_with(['i', 'm', 's', '-']) => {
            "write : and the part that the flags are for, as in (?i:...); flags of the whole pattern stand beside it"
        }
        _ if behind.starts_with('^') => "write the flags without ^, as in (?i:...)",
        _ if calls(behind) => "a pattern cannot call itself; a JSON Schema may recurse, by $ref",
        _ => r"(?:...) is a group, (?=...) looks ahead; write \( for the character",
    }
}

/// What to do about a text that must be that of a group.
fn of_reference() -> &'static str {
    "write out what the group may be a second time; that both are equal cannot be enforced"
}

/// Whether a group calls the whole pattern or a part of it, as `(?R)`, `(?1)`, `(?+1)`, `(?&x)` and `(?P>x)` do.
fn calls(behind: &str) -> bool {
    let of_number = behind.strip_prefix(['+', '-']).unwrap_or(behind);
    behind.starts_with(['R', '&']) || behind.starts_with("P>") || of_number.starts_with(|c: char| c.is_ascii_digit())
}

/// What to do about an escape that only other engines have, by its letter.
fn of_escape(message: &str) -> &'static str {
    match message.split_once('\\').and_then(|(_, behind)| behind.chars().next()) {
        Some('A' | 'z' | 'Z' | 'G' | 'K') => "leave it out",
        Some('Q' | 'E') => r"leave out \Q and \E, and write a backslash before each mark between them",
        Some('k' | 'g') => of_reference(),
        Some('h') => r"write [ \t]",
        Some('H') => r"write [^ \t]",
        Some('R') => r"write (?:\r\n|[\n\r])",
        Some('X') => "write . for any one character",
        Some('c') => r"write the character by its number, as in \x01",
        Some('N') => r"write the character itself, or its number, as in \u2014",
        Some('e') => r"write \x1b",
        Some('a') => r"write \x07",
        Some('o') => r"write two hexadecimal digits, as in \x0a",
        _ => "leave out the backslash for the character itself",
    }
}

#[cfg(test)]
mod tests;
