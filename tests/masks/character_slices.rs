//! Masks by sets of characters are exact. What is special about them needs a vocabulary of thousands of tokens: few of
//! them are long, subtrees of the trie are big, and tokens leave every set at every depth, also in the middle of a
//! character. States are met by several lexemes, so that what one makes of a set serves the others.

use crate::sample::{bytes_and, ended, strings};
use crate::support::check::{Plan, Sources, walk_all};
use interlock::Vocabulary;
use std::sync::Arc;

fn broad() -> Arc<Vocabulary> {
    const ALPHABET: [&str; 17] =
        ["a", "b", "c", "d", "e", "A", "B", "0", "1", "2", "_", "-", " ", "\n", "é", "\u{2028}", "世"];
    let mut tokens = bytes_and(strings(&ALPHABET, 3));
    // Longer ones, most of them over few characters, and too many of four to be stepped one by one.
    for i in 0..2_400usize {
        let pick = |k: usize| ["a", "b", "c", "d", "e", "0", "1", "_"][(i >> (3 * k)) % 8];
        let more = if i.is_multiple_of(5) { ALPHABET[i / 5 % 17] } else { "" };
        tokens.push(format!("{}{}{}{}{more}", pick(0), pick(1), pick(2), pick(3)).into_bytes());
    }
    for n in [6, 9, 17, 33] {
        tokens.push("ab".repeat(n).into_bytes());
        tokens.push(" ".repeat(n).into_bytes());
        tokens.push(format!("{}-", "c".repeat(n)).into_bytes());
    }
    for more in
        [&b"ab\xE2"[..], b"ab\xE2\x80", b"\x80ab", b"abc\xE4\xB8", b"ab\xFF", b"abc\xC3", b"\xE2ab", b"ab\xC2\x85c"]
    {
        tokens.push(more.to_vec());
    }
    // Long, but of few characters.
    for text in ["é".repeat(20), "世".repeat(15), "é".repeat(12) + "-", "ab".repeat(7) + "世世世世世"] {
        tokens.push(text.into_bytes());
    }
    ended(tokens)
}

const PATTERNS: [&str; 31] = [
    r"[a-z]+:\w+",
    r"[A-Z][a-z0-9]+( [A-Z][a-z0-9]+)*",
    r"[0-9A-Za-z]{6}-[0-9A-Za-z]{4}",
    r"[a-e0-9_]{1,7}[A-Z]|[a-e]{9}",
    r".{5}|\n.{2}",
    r".*a.{6}",
    r"[^-]{3,40}-é",
    r"(\w{1,64}\s?){1,64}",
    r"(?=.*\d)(?=.*[a-z]).{4,24}",
    r"(?=.*\d)(?=.*[a-z]).{4,70}",
    // What is asked for is within reach of an end, nearly, and not at all.
    r"(?=.*(abab){3}).{3,60}",
    r"(?=.*(abab){4}e).{3,60}",
    r"(?=.*(abab){6}).{3,90}",
    r"(?!.*(ab|cd|1_)).{0,300}",
    r"\S+( \S+)+",
    r"[a-e世é]{2,5}[^a]*",
    r"([a-z]{2,3}|[a-z]{5,8}0)(-\w{1,6})*",
    r"(?s:.){2,4}",
    r"[^\n]{1,30}\n[^\n]{1,3}",
    r"[\u2028a-e0-9]+",
    r"[^\W_]+( [^\W\d]+)*",
    r"[\w.]+\u2028[^\u2028\w]*",
    // What leads back to the start says more than the expression does.
    r"((?!ab)(?!A-).)*",
    r"((?!(ab|1_))[\w -])+\n",
    // Free for a few characters, behind which others of the same kind may stand.
    r"...a",
    r"ab.cd.e_1.(é|世)",
    r"[a-c]{2,3}[a-e0-9世]{2}-.*",
    r"[^-\s]{1,4}(-[^-\s]{1,4}){1,3}",
    r"[\w-]{2}[a-z世]*",
    r"\w{1,3}(_世|é| )+",
    r"[ab]{2}[^b]{3}",
];

const SCHEMAS: [&str; 6] = [
    r#"{"type":"string","pattern":"^[a-z0-9]{1,12}$"}"#,
    r#"{"type":"string","pattern":"^[a-z0-9_]+-[A-Z]{2}$","maxLength":14}"#,
    r#"{"type":"string","pattern":"^\\S+$"}"#,
    r#"{"type":"string","pattern":"^.{3}$"}"#,
    r#"{"type":"array","items":{"type":"string","pattern":"^[^a]*$"}}"#,
    r#"{"type":"string","not":{"pattern":"ab|-A"},"maxLength":40}"#,
];

#[test]
fn every_bit_is_what_stepping_says() {
    let plan = Plan { tokens: 6, every: 1, probes: 1 };
    let sources = Sources { patterns: (&PATTERNS, 3), schemas: (&SCHEMAS, 2) };
    walk_all(&broad(), plan, sources, 150);
}
