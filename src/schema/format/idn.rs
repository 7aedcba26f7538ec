//! `idn-hostname` (RFC 5890 to 5893), narrower than the standard.
//!
//! The standard's tables change with Unicode, and its limit of 63 octets holds for the Punycode of a label, which no
//! finite automaton computes. So a label here is written in one of a few scripts, in characters that have been
//! permitted and unchanged since the standard appeared (lower case, composed, no loose combining marks), and is so
//! short that its Punycode fits: the longest encodings that a search over each alphabet found leave at least seven
//! octets to spare. The contextual rules (middle dot, keraia, geresh and gershayim, katakana middle dot, joiners,
//! Arabic digits) are kept by admitting these characters only where the rules allow them. Names with a right-to-left
//! label consist of right-to-left labels and of ASCII labels that begin with a letter, which is what the Bidi rule
//! asks for. `xn--` labels are refused as in `hostname`.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{ALNUM, DIGIT, Part, alt, ascii, cat, opt, text, times};
use crate::schema::format::host::{ascii_labels, label, name};

/// Why `idn-hostname` is narrower than its standard.
pub(super) const IDN_DEPARTURES: &str =
    "labels are limited to common scripts and lengths, each label to one script; xn-- labels are refused";

/// Units of an international label of up to four characters (at most 31 octets with its dot), and of a longer one.
const SHORT: usize = 4;
const LONG: usize = 8;

fn chars(ranges: &[(u32, u32)]) -> Part {
    Part::Chars(ranges.iter().filter_map(|&(lo, hi)| Some((char::from_u32(lo)?, char::from_u32(hi)?))).collect())
}

/// Lower-case letters beyond ASCII of Latin-1 and Latin Extended-A.
fn latin_letters() -> Vec<(u32, u32)> {
    let odd = (0x101..=0x137).step_by(2).filter(|&c| c != 0x133);
    let even = (0x13A..=0x148).step_by(2).filter(|&c| c != 0x140);
    let rest = (0x14B..=0x177).step_by(2).chain([0x17A, 0x17C, 0x17E]);
    [(0xDF, 0xF6), (0xF8, 0xFF)].into_iter().chain(odd.chain(even).chain(rest).map(|c| (c, c))).collect()
}

const GREEK: &[(u32, u32)] = &[(0x3AC, 0x3CE)];
const CYRILLIC: &[(u32, u32)] = &[(0x430, 0x45F)];
const HANGUL: &[(u32, u32)] = &[(0xAC00, 0xD7A3)];
/// Hiragana, Katakana and Han, by which a katakana middle dot may stand.
const EAST_ASIAN: &[(u32, u32)] = &[(0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5)];
const HEBREW: &[(u32, u32)] = &[(0x5D0, 0x5EA)];
const ARABIC: &[(u32, u32)] = &[(0x621, 0x63A), (0x641, 0x64A)];
/// Arabic letters that join on both sides; a non-joiner may stand between two of them.
const ARABIC_DUAL: &[(u32, u32)] =
    &[(0x626, 0x626), (0x628, 0x628), (0x62A, 0x62E), (0x633, 0x63A), (0x641, 0x647), (0x649, 0x64A)];

/// Left-to-right labels with at least one way to be beyond ASCII, with their cost.
fn left_to_right(x: &mut Exprs) -> Vec<(Part, usize)> {
    let lower = ascii(&[(b'0', b'9'), (b'a', b'z')]);
    let latin = latin_letters();
    let mut out = Vec::new();
    // Most characters by script: the fewer, the further its letters lie apart.
    for (script, most) in [(&latin[..], 20), (GREEK, 24), (CYRILLIC, 24), (HANGUL, 12), (EAST_ASIAN, 12)] {
        let letter = alt![lower, chars(script)].built(x);
        out.push((label(&letter, &letter, 1, 4), SHORT));
        out.push((label(&letter, &letter, 5, most), LONG));
    }
    // A few letters of several scripts, with permitted characters that belong to none of them.
    let strange = [(0xF0B, 0xF0B), (0x3005, 0x3007)];
    let all: Vec<(u32, u32)> =
        [&latin, GREEK, CYRILLIC, HANGUL, EAST_ASIAN, &strange].into_iter().flatten().copied().collect();
    let mixed = alt![lower, chars(&all)].built(x);
    out.push((label(&mixed, &mixed, 1, 4), SHORT));
    out.push((label(&mixed, &mixed, 5, 8), LONG));
    // Extended Arabic-Indic digits are numbers, not right-to-left letters.
    out.push((times(&alt![DIGIT, chars(&[(0x6F0, 0x6F9)])], 1, 4), SHORT));
    let around = |part: Part, letter: &Part| cat![times(letter, 0, 4), part, times(letter, 0, 4)];
    let roman = alt![lower, chars(&latin)].built(x);
    out.push((around(text("l\u{B7}l"), &roman), LONG));
    let greek = chars(GREEK);
    out.push((around(cat![text("\u{375}"), greek], &greek), LONG));
    let east = chars(EAST_ASIAN).built(x);
    let dot = text("\u{30FB}");
    out.push((alt![around(cat![dot, east], &east), cat![times(&east, 1, 4), dot]], LONG));
    // Devanagari syllables: a letter, perhaps a conjunct with a joiner, perhaps a vowel sign.
    let consonant = chars(&[(0x915, 0x928), (0x92A, 0x930), (0x932, 0x933), (0x935, 0x939)]);
    let joiner = Part::Chars(vec![('\u{200C}', '\u{200D}')]);
    let conjunct = cat![text("\u{94D}"), opt(&joiner), consonant];
    let vowel = chars(&[(0x905, 0x914)]);
    let syllable = alt![vowel, cat![consonant, opt(&conjunct), opt(&chars(&[(0x93E, 0x94C)]))]];
    out.push((times(&syllable, 1, 4), LONG));
    out
}

fn right_to_left() -> Vec<(Part, usize)> {
    let hebrew = chars(HEBREW);
    let mark = Part::Chars(vec![('\u{5F3}', '\u{5F4}')]);
    let arabic = chars(ARABIC);
    let digit = chars(&[(0x660, 0x669)]);
    let strange = chars(&[(0x6FD, 0x6FE)]);
    let dual = chars(ARABIC_DUAL);
    let around = |part: Part, letter: &Part| cat![times(letter, 0, 4), part, times(letter, 0, 4)];
    vec![
        (times(&hebrew, 1, 4), SHORT),
        (times(&hebrew, 5, 24), LONG),
        (around(cat![hebrew, mark, hebrew], &hebrew), LONG),
        (times(&arabic, 1, 4), SHORT),
        (times(&arabic, 5, 18), LONG),
        (cat![arabic, times(&alt![arabic, digit], 1, 16)], LONG),
        (times(&alt![arabic, strange], 1, 4), SHORT),
        (around(cat![dual, text("\u{200C}"), dual], &arabic), LONG),
    ]
}

pub(super) fn hostname(x: &mut Exprs) -> ExprId {
    let dot =
        Part::Chars(vec![('.', '.'), ('\u{3002}', '\u{3002}'), ('\u{FF0E}', '\u{FF0E}'), ('\u{FF61}', '\u{FF61}')]);
    let mut labels = ascii_labels(&ALNUM);
    labels.extend(left_to_right(x));
    let left = name(x, &labels, &dot);
    let letter = ascii(&[(b'A', b'Z'), (b'a', b'z')]);
    let mut labels = ascii_labels(&letter);
    labels.extend(right_to_left());
    let right = name(x, &labels, &dot);
    x.alt(&[left, right])
}
