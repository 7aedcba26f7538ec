//! A vocabulary of some three thousand tokens that crosses structure in every way that real ones do.

use interlock::util::rng::Rng;
use interlock::{Vocabulary, VocabularyOptions};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The id of the stop token.
pub const EOS: u32 = 0;

const PIECES: &[&str] = &[
    "\",\"",
    "\":\"",
    "\": \"",
    "\", \"",
    "\":",
    "\": ",
    "\"}",
    "\"]",
    "\"}]",
    "\"}}",
    "\"},",
    "\"},{",
    "\"},{\"",
    "\"],",
    "\"],[",
    "\"]]",
    "{\"",
    "{ \"",
    "[{\"",
    "[\"",
    "[[",
    "[[[",
    "]]",
    "]]]",
    "}}",
    "}}}",
    "}]",
    "]}",
    "},{",
    "},",
    "],",
    "{}",
    "[]",
    "{},",
    "[],",
    "[{}",
    "[{",
    "[{}]",
    ",\"",
    ", \"",
    ",\n",
    ",\n  \"",
    ":{",
    ":[",
    ":{\"",
    ":[\"",
    ": {",
    ": [",
    ":{}",
    ":[]",
    "\":{\"",
    "\":[\"",
    "\":{",
    "\":[",
    "\":[{\"",
    "\":1",
    "\":true",
    "\":null",
    "\":-",
    "\":0.",
    "null",
    "nul",
    "null,",
    "null}",
    "null]",
    "true",
    "true,",
    "true}",
    "true]",
    "tr",
    "ue",
    "false",
    "false,",
    "fal",
    "se,\"",
    "1,",
    "1,1",
    "1]",
    "1}",
    "1,\"",
    "0,0",
    "0.5",
    "-1",
    "-0",
    "0.",
    "1.5,",
    "10",
    "100",
    "1000",
    "12",
    "123",
    "1234",
    "12345678",
    "99",
    "00",
    "000",
    "0000",
    "1e",
    "e5",
    "E+",
    "e-1",
    ".5",
    ".0",
    "5,",
    "\"\"",
    "\"\",\"",
    "\"\":",
    "\"a\"",
    "\"a\":",
    "\"a\":1",
    "\"b\":",
    "\"a\",",
    "\"name\":",
    "\"name\":\"",
    "\"id\":",
    "\"id\"",
    "\"type\":\"",
    "a\":",
    "a\":\"",
    "ab\":\"",
    "name\":",
    "me\":\"",
    "name\"",
    "\\",
    "\\\\",
    "\\\"",
    "\\n",
    "\\n\"",
    "\\t",
    "\\u",
    "\\u0",
    "\\u00",
    "\\u006",
    "\\u0061",
    "\\u0062",
    "\\u0061\"",
    "\\ud83d",
    "\\ud83d\\u",
    "\\ude00",
    "\\ude",
    "\\u00e9",
    "\\\",",
    "\\\\\"",
    "\\n\",",
    "\\/",
    "a\\",
    "a\\n",
    "a\\u",
    "\\uD83D\\uDE00",
    "\\u0022",
    "\\u005c",
    "61\":",
    "061\"",
    " ",
    "  ",
    "   ",
    "    ",
    "        ",
    "\n",
    "\n\n",
    "\n  ",
    "\n    ",
    "\t",
    "\t\t",
    "\r\n",
    " \n",
    " \"",
    "  \"",
    "  {\"",
    "  {",
    " {",
    " [",
    " }",
    " ]",
    "\n}",
    "\n]",
    "\n  \"",
    "\n    \"",
    "\n\"",
    "  }",
    "  },",
    " :",
    " ,",
    " : ",
    " , ",
    " 1",
    " 12",
    " true",
    " null",
    " -1",
    " \"a",
    " \"name",
    " \"a\":",
    "  1",
    "\n1",
    " 0",
    " the",
    " name",
    " of",
    " a",
    " ab",
    "é",
    "è",
    "ü",
    "ß",
    "ñ",
    "日",
    "日本",
    "本",
    "語",
    "€",
    "😀",
    "😀\"",
    "é\"",
    "é\":",
    "日\",",
    "é\",\"",
    "\u{80}",
    "\u{7ff}",
    "\u{ffff}",
    "\u{10ffff}",
    "ÿ",
    "Ω",
    "ж",
    "ا",
];

/// Bytes, JSON fragments, words, numbers, parts of characters, and a few ids without text.
pub fn small() -> Arc<Vocabulary> {
    let mut set: BTreeSet<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    set.extend(PIECES.iter().map(|p| p.as_bytes().to_vec()));
    for text in ["é", "日", "本", "€", "😀", "Ω", "ж"] {
        let b = text.as_bytes();
        for cut in 1..b.len() {
            for half in [&b[..cut], &b[cut..]] {
                set.insert(half.to_vec());
                set.insert([half, b"\""].concat());
                set.insert([b"\"", half].concat());
                set.insert([b"a", half].concat());
            }
        }
    }
    let words = "a b c x y z ab abc abcd aa aaa aaaa aaaaaaaa foo bar baz name id type value tag kind red green blue \
                 left right node next items data key true yes no on off color size width count total the of and to in \
                 is it you that he was for date time email http https www com org net user test 2024 2023 01 12 31 T Z \
                 W A B AB ABC Foo Bar Name x1 y2 a1 b2 _a __ -a a-b a_b";
    let words: Vec<&str> = words.split_whitespace().collect();
    for w in &words {
        for (before, after) in [
            ("", ""),
            (" ", ""),
            ("\"", ""),
            ("", "\""),
            ("\"", "\""),
            ("", "\":"),
            ("", "\","),
            ("", "-"),
            ("", "."),
            ("", ","),
            ("", "@"),
            ("/", ""),
        ] {
            set.insert(format!("{before}{w}{after}").into_bytes());
        }
    }
    let mut rng = Rng(7);
    while set.len() < 3_000 {
        let n = 1 + rng.below(3);
        let mut t = String::new();
        for _ in 0..n {
            match rng.below(3) {
                0 => t.push_str(PIECES[rng.below(PIECES.len())]),
                1 => t.push_str(words[rng.below(words.len())]),
                _ => t.push((b' ' + rng.below(95) as u8) as char),
            }
        }
        set.insert(t.into_bytes());
    }
    // Id 0 stops, id 1 is special, and here and there an id has no text or the text of another.
    let mut tokens: Vec<Vec<u8>> = vec![b"</s>".to_vec(), b"\"".to_vec()];
    for (i, t) in set.into_iter().enumerate() {
        if i % 500 == 9 {
            tokens.push(Vec::new());
        }
        if i % 300 == 5 {
            tokens.push(t.clone());
        }
        tokens.push(t);
    }
    let size = tokens.len() + 40;
    let options = VocabularyOptions { eos_token_ids: vec![EOS], special_token_ids: vec![1], size: Some(size) };
    Vocabulary::new(tokens, options).unwrap()
}
