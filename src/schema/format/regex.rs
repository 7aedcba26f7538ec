//! `regex`: a regular part of ECMA-262 patterns.
//!
//! Patterns nest without bound and names of groups must be unique, so no finite automaton reads them all. Accepted are
//! patterns whose groups nest at most [`DEPTH`] deep, with at most one named group, without back references, whose
//! counts are small and in order and whose classes hold ranges of letters and digits only. All of these mean the same
//! with and without the `u` flag. The section *The format regex* of docs/json-schema.md has all of it in words, with
//! examples that a test compares.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{ALNUM, DIGIT, HEX, Part, alt, any, ascii, cat, opt, text};

/// How deep groups nest.
const DEPTH: usize = 3;

/// Why `regex` is narrower than ECMA-262.
pub(super) const REGEX_DEPARTURES: &str = concat!(
    "groups nest three deep, at most one is named, outside of all others and in the first alternative; ",
    "counts have at most two digits, and the lower of two has one; ranges in classes are of digits, of A-Z or of a-z; ",
    "- in a class is at its end, or escaped; ",
    "back references, \\p, \\u{}, \\0, flags and characters beyond U+FFFD are refused",
);

fn escapes(x: &mut Exprs) -> Part {
    let letter = ascii(&[
        (b'D', b'D'),
        (b'S', b'S'),
        (b'W', b'W'),
        (b'd', b'd'),
        (b'f', b'f'),
        (b'n', b'n'),
        (b'r', b't'),
        (b'v', b'w'),
    ]);
    let syntax = ascii(&[(b'$', b'$'), (b'(', b'+'), (b'.', b'/'), (b'?', b'?'), (b'[', b'^'), (b'{', b'}')]);
    let control = cat![text("c"), ascii(&[(b'A', b'Z'), (b'a', b'z')])];
    let byte = cat![text("x"), HEX, HEX];
    // Without surrogates, which mean different things with and without the flag.
    let low = cat![ascii(&[(b'0', b'9'), (b'A', b'C'), (b'E', b'F'), (b'a', b'c'), (b'e', b'f')]), HEX];
    let high = cat![ascii(&[(b'D', b'D'), (b'd', b'd')]), ascii(&[(b'0', b'7')])];
    let unit = cat![text("u"), alt![low, high], HEX, HEX];
    cat![text("\\"), alt![letter, syntax, control, byte, unit]].built(x)
}

fn class(x: &mut Exprs, escapes: &Part) -> Part {
    // Without `-`, and without what begins a set operation in some dialects.
    let single = Part::Chars(vec![
        (' ', '%'),
        ('\'', ','),
        ('.', 'Z'),
        ('_', '}'),
        ('\u{A1}', '\u{D7FF}'),
        ('\u{E000}', '\u{FFFD}'),
    ]);
    let mut ranges = Vec::new();
    for (first, last) in [(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')] {
        for lo in first..=last {
            let hi = x.byte_set(&[(lo, last)]);
            ranges.push(Part::Built(x.literal_then(&[lo, b'-'], hi)));
        }
    }
    // Only here: with the flag, `\-` outside of classes is an error.
    let items = any(&alt![single, escapes, text("\\-"), Part::Alt(ranges)]);
    cat![text("["), opt(&text("^")), items, opt(&text("-")), text("]")].built(x)
}

fn quantifier(x: &mut Exprs) -> Part {
    let mut counts = Vec::new();
    for lo in 0..10 {
        counts.push(format!("{lo}"));
        counts.push(format!("{lo},"));
        counts.extend((lo..10).map(|hi| format!("{lo},{hi}")));
    }
    let tens = cat![ascii(&[(b'1', b'9')]), DIGIT];
    let count = alt![Part::Choice(counts), tens, cat![tens, text(",")], cat![DIGIT, text(","), tens]];
    let braces = cat![text("{"), count, text("}")];
    let sign = ascii(&[(b'*', b'+'), (b'?', b'?')]);
    opt(&cat![alt![sign, braces], opt(&text("?"))]).built(x)
}

pub(super) fn regex(x: &mut Exprs) -> ExprId {
    let escapes = escapes(x);
    let quantifier = quantifier(x);
    let plain = Part::Chars(vec![
        (' ', '#'),
        ('%', '\''),
        (',', '-'),
        ('/', '>'),
        ('@', 'Z'),
        ('_', 'z'),
        ('~', '~'),
        ('\u{A1}', '\u{D7FF}'),
        ('\u{E000}', '\u{FFFD}'),
    ]);
    let class = class(x, &escapes);
    let atom = alt![plain, text("."), escapes, class].built(x);
    let assertion = alt![text("^"), text("$"), text("\\b"), text("\\B")];
    let repeated = cat![atom, quantifier];
    let mut terms = any(&alt![repeated, assertion]).built(x);
    let mut others = any(&cat![text("|"), terms]).built(x);
    let mut choice = cat![terms, others].built(x);
    for _ in 0..DEPTH {
        let group = cat![text("("), opt(&text("?:")), choice, text(")"), quantifier];
        let look = cat![text("(?"), alt![text("="), text("!"), text("<="), text("<!")], choice, text(")")];
        terms = any(&alt![repeated, assertion, group, look]).built(x);
        others = any(&cat![text("|"), terms]).built(x);
        choice = cat![terms, others].built(x);
    }
    let name = cat![ascii(&[(b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]), any(&alt![ALNUM, text("_")])];
    let named = cat![text("(?<"), name, text(">"), choice, text(")"), quantifier];
    // The terms before both once: alternatives with one beginning would derive to twice as much.
    cat![terms, alt![others, cat![named, choice]]].build(x)
}
