use crate::{Dialect, Limits, RegexOptions, check_regex};

fn hint_of(pattern: &str) -> Option<String> {
    let error = check_regex(pattern, &RegexOptions::default(), &Limits::default()).unwrap_err();
    error.hint().map(str::to_owned)
}

#[test]
fn a_pattern_that_cannot_be_read_says_what_to_write() {
    assert_eq!(hint_of("a{5,2}").as_deref(), Some("write the smaller number first"));
    let of_braces = r"leave out one of the two, put the first into a group, (?:...), or write \{ for { itself";
    assert_eq!(hint_of("a*{2}").as_deref(), Some(of_braces));
    assert_eq!(hint_of("a?b)"), Some(r"leave it out, or write \) for the character itself".to_owned()));
}

#[test]
fn groups_of_python_in_the_dialect_of_json_schema() {
    for (pattern, begin) in [
        ("(?>a)", "write (?:...)"),
        ("(?#a)", "leave out the comment"),
        ("(a)(?(1)b|c)", "a condition on a group"),
        ("(?P=n)", "write out what the group"),
        ("(?i", "write : and the part"),
        ("(?-i", "write : and the part"),
        ("(?", "(?:...) is a group"),
        ("(?C1)", "leave it out"),
        ("(*UTF8)a", "leave it out: (*...)"),
        (r"\N{DASH}", "write the character itself"),
        (r"\p{Latin}", "write a category"),
        ("(a(?i", "write : and the part"),
        ("é(?(1)a)", "a condition on a group"),
        ("+a", r"write what is to be repeated before it, or \+ for the character itself"),
        ("(a|+)", r"write what is to be repeated before it, or \+ for the character itself"),
        ("a**", r"leave out one of the two, put the first into a group, (?:...), or write \* for * itself"),
        ("a{2}{3}", r"leave out one of the two, put the first into a group, (?:...), or write \{ for { itself"),
        ("a*+", "leave it out: this dialect has no possessive repetitions"),
        ("a++", "leave it out: this dialect has no possessive repetitions"),
        ("é{2}+", "leave it out: this dialect has no possessive repetitions"),
        ("a??+", "leave it out: this dialect has no possessive repetitions"),
    ] {
        let options = RegexOptions { dialect: Dialect::Ecma, ..Default::default() };
        let error = check_regex(pattern, &options, &Limits::default()).unwrap_err();
        assert!(error.hint().unwrap_or_default().starts_with(begin), "{pattern}: {:?}", error.hint());
    }
}

#[test]
fn what_other_engines_have_is_known() {
    assert_eq!(hint_of("(?|a|b)").as_deref(), Some("write (?:...|...): the numbers of groups make no difference here"));
    assert_eq!(hint_of("a(?^i:b)").as_deref(), Some("write the flags without ^, as in (?i:...)"));
    assert_eq!(hint_of(r"a\h").as_deref(), Some(r"write [ \t]"));
    assert_eq!(hint_of(r"\cA").as_deref(), Some(r"write the character by its number, as in \x01"));
    assert_eq!(hint_of("a(*UTF8)").as_deref(), Some("leave it out: (*...) is a verb of PCRE"));
    assert_eq!(hint_of(r"a\y").as_deref(), Some("leave out the backslash for the character itself"));
    assert_eq!(hint_of("(?<name>a)"), None);
}

/// A character by its number, as other engines or the other dialect write it.
#[test]
fn a_number_is_written_as_the_dialect_reads_it() {
    let general =
        r"write all of its digits, without braces: two behind \x, four behind \u, eight behind \U, of at most 0010FFFF";
    let two = r"write two hexadecimal digits behind it, as in \x41";
    let four = r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}";
    for (dialect, pattern, hint) in [
        (Dialect::Python, r"\x{41}", r"write \x41"),
        (Dialect::Python, r"[a\x{e9}]", r"write \xe9"),
        (Dialect::Python, r"\x{2014}", r"write \u2014"),
        (Dialect::Python, r"é\u{1F600}", r"write \U0001f600"),
        (Dialect::Python, r"\u{000041}", r"write \x41"),
        (Dialect::Python, r"\u{110000}", general),
        (Dialect::Python, r"\u{d800}", general),
        (Dialect::Python, r"\x{}", general),
        (Dialect::Python, r"\x{+1}", general),
        (Dialect::Python, r"\x{41", general),
        (Dialect::Python, r"\x4", general),
        (Dialect::Ecma, r"\x{41}", r"write \x41"),
        (Dialect::Ecma, r"[\x{2014}]", r"write \u2014"),
        (Dialect::Ecma, r"\x{1F600}", r"write \u{1f600}"),
        (Dialect::Ecma, r"a\U0001F600", r"write \u{1f600}"),
        (Dialect::Ecma, r"\U1F600", "leave out the backslash for the character itself"),
        (Dialect::Ecma, r"\x4", two),
        (Dialect::Ecma, r"\u41", four),
        (Dialect::Ecma, r"\u{110000}", four),
    ] {
        let options = RegexOptions { dialect, ..Default::default() };
        let error = check_regex(pattern, &options, &Limits::default()).unwrap_err();
        assert_eq!(error.hint(), Some(hint), "{pattern}");
        if let Some(instead) = hint.strip_prefix("write ").filter(|word| word.starts_with('\\')) {
            check_regex(instead, &options, &Limits::default()).unwrap();
        }
    }
}

#[test]
fn a_pattern_that_calls_itself_is_known() {
    for pattern in ["(?R)", "a(?1)", "(?+1)", "(?&x)", "(?P>x)"] {
        assert!(hint_of(pattern).is_some_and(|a| a.starts_with("a pattern cannot call itself")), "{pattern}");
    }
    assert_eq!(hint_of(r"\(?1[9-0]").as_deref(), Some(r"write the lower end first, or \- for the character itself"));
}

#[test]
fn a_range_to_a_class_has_no_lower_end() {
    for pattern in [r"[a-\d]", r"[\w-z]"] {
        assert!(hint_of(pattern).is_some_and(|a| a.starts_with("write the characters of the class")), "{pattern}");
    }
}

#[test]
fn what_cannot_be_enforced_says_what_to_write() {
    let hint = |pattern: &str| hint_of(pattern).unwrap_or_default();
    assert!(hint(r"(a)\1").starts_with("write out what the group may be a second time"));
    assert_eq!(hint("(a)?(?(1)b|c)"), "write all ways out, as in (?:...|...)");
    assert_eq!(hint(r"\N{EM DASH}"), r"write the character itself, or its number, as in \u2014");
    assert!(hint("xa++a").starts_with("leave out the + behind the repetition"));
}
