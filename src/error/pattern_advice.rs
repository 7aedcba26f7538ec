//! What to do about a pattern that cannot be read, by how the message of its error begins.
//!
//! The messages are those of the parsers in `regex::parse`. Nearly each would need a code of its own, as few are about
//! the same fault, and nobody else asks for it, so they have none. A test of the command line reads the parsers and
//! this table, and fails where one of their messages has no row: `test_every_message_about_a_pattern_has_advice`.

/// How messages begin, and what to do. The first row holds; `{}` is the character at fault.
const ADVICE: &[(&[&str], &str)] = &[
    (&["missing ), unterminated comment"], "write ) where the comment ends"),
    (&["missing >, "], "write > where the name ends"),
    (&["missing ), ", "unterminated group"], r"write ) where the group ends, or \( for the character itself"),
    (&["unbalanced parenthesis", "unmatched )"], r"leave it out, or write \) for the character itself"),
    (&["unexpected end of pattern"], r"write the rest of the group, as in (?:...), or \( and \? for the characters"),
    (&["unknown group name", "invalid group reference"], "name a group that the pattern has"),
    (&["unknown extension", "invalid group"], r"(?:...) is a group, (?=...) looks ahead; write \( for the character"),
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
    (&["bad character range", "range out of order"], r"write the lower end first, or \- for the character itself"),
    (&["bad escape (end of pattern)", r"\ at end of pattern"], r"leave it out, or write \\ for the character itself"),
    (
        &[r"incomplete or bad escape \"],
        r"write all of its digits: two behind \x, four behind \u, eight behind \U, of at most 0010FFFF",
    ),
    (&["invalid hexadecimal escape"], r"write two hexadecimal digits behind it, as in \x41"),
    (&["invalid Unicode escape"], r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}"),
    (&["octal escape value"], r"write its four hexadecimal digits, as in \u0100"),
    (&["invalid control escape"], r"write a letter behind it, as in \cA"),
    (
        &[r"bad escape \p", "invalid property", "unterminated property"],
        r"write a name in braces behind it, as in \p{L}",
    ),
    (&[r"bad escape \", r"invalid escape \"], "leave out the backslash for the character itself"),
    (&["unknown Unicode property"], r"a category, \p{L}, or a script, \p{Script=Greek}"),
];

/// What to do about a pattern whose error has this message; `None` where the message says it. `fault` is the character
/// at its place.
pub(super) fn of(message: &str, fault: Option<char>) -> Option<String> {
    let begins = |row: &&(&[&str], &str)| row.0.iter().any(|begin| message.starts_with(begin));
    let (_, advice) = ADVICE.iter().find(begins)?;
    Some(match fault {
        // Only what is repeated wrongly is named, and that is one of these.
        Some(c) if "*+?{".contains(c) => advice.replace("{}", &c.to_string()),
        _ => advice.replace("{}", "*"),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Limits, RegexOptions, check_regex};

    fn advice(pattern: &str) -> Option<String> {
        let error = check_regex(pattern, &RegexOptions::default(), &Limits::default()).unwrap_err();
        error.hint().map(str::to_owned)
    }

    #[test]
    fn a_pattern_that_cannot_be_read_says_what_to_write() {
        assert_eq!(advice("a{5,2}").as_deref(), Some("write the smaller number first"));
        let of_braces = r"leave out one of the two, put the first into a group, (?:...), or write \{ for { itself";
        assert_eq!(advice("a*{2}").as_deref(), Some(of_braces));
        assert_eq!(advice("a?b)"), Some(r"leave it out, or write \) for the character itself".to_owned()));
    }

    #[test]
    fn what_is_no_fault_of_writing_has_none() {
        assert_eq!(advice(r"(a)\1"), None);
    }
}
