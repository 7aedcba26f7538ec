use super::*;
use crate::expr::analysis::char_groups::{ALL, ASCII, LETTERS, LINE_ENDS, WIDE_SPACES, groups_in, special};
use crate::vocab::sample::{bytes_and, ended, strings};

/// Every short string over a few characters, and some tokens that end inside of one.
fn vocabulary() -> Arc<Vocabulary> {
    const ALPHABET: [&str; 13] =
        ["a", "b", "Z", "0", "_", ".", " ", "\n", "é", "\u{301}", "\u{2028}", "\u{3000}", "世"];
    let mut tokens = bytes_and(strings(&ALPHABET, 3));
    tokens.extend([&b"a\xE2"[..], b"a\xE2\x80", b"ab\xC3", b"\x80a", b"a\xE2b"].map(<[u8]>::to_vec));
    ended(tokens)
}

fn sets() -> Vec<CharGroups> {
    let of = |bytes: &str| bytes.bytes().fold(0, |all, b| all | group_of(b));
    let wide = ALL & !ASCII;
    vec![
        0,
        ALL,
        ASCII,
        of("ab"),
        of("abZ0_"),
        wide | of("a."),
        wide & !LINE_ENDS | of("ab"),
        ALL & !(LINE_ENDS | WIDE_SPACES | of(" \n")),
        of("aéÃ") | group_of(0xC3),
        // Marks without the letters that begin as they do.
        of("a.") | special(0x301),
        ALL & !LETTERS | of(". "),
    ]
}

/// The groups that a path meets, those of characters that are begun included.
fn met(bytes: &[u8]) -> CharGroups {
    (1..=bytes.len()).fold(0, |all, n| all | groups_in(&bytes[..n]))
}

#[test]
fn the_tokens_over_a_set_hold_nothing_else() {
    let v = vocabulary();
    let holders = CharPostings::from_vocabulary(&v);
    let any: Arc<[u32]> = std::iter::repeat_n(u32::MAX, v.words()).collect();
    for set in sets() {
        let row = holders.over(&any, set, true);
        for id in 0..v.size() as u32 {
            let over = v.spelling(id).is_none_or(|bytes| met(bytes) & !set == 0);
            assert_eq!(row[id as usize / 32] >> (id % 32) & 1 == 1, over, "{set:x} {:?}", v.token_bytes(id));
        }
    }
}

#[test]
fn blocks_hold_what_their_groups_do() {
    let v = vocabulary();
    let holders = CharPostings::from_vocabulary(&v);
    let row = |held: &TokenSet| {
        let mut row = vec![0; v.words()];
        held.or_into(&mut row);
        row
    };
    let mut from = GROUPS;
    for size in BLOCKS {
        for block in 0..GROUPS / size {
            let mut all = vec![0; v.words()];
            holders.tokens[block * size..(block + 1) * size].iter().for_each(|held| held.or_into(&mut all));
            assert_eq!(row(&holders.tokens[from + block]), all, "{size} {block}");
        }
        from += GROUPS / size;
    }
    assert_eq!(holders.tokens.len(), from);
}

#[test]
fn what_stands_behind_a_few_characters_is_kept() {
    let v = vocabulary();
    let holders = CharPostings::from_vocabulary(&v);
    let trie = v.trie();
    let follow = |bytes: &[u8], before: &[u8]| PostingFollow {
        bytes: bytes.to_vec(),
        before: std::array::from_fn(|b| before.is_empty() || before.contains(&(b as u8))),
    };
    let cases: [&[(&[u8], &[u8])]; 5] = [
        &[(b"a", b"")],
        &[(b"Z\xC3\xE4", b"")],
        &[(b"\xE2.", b"a")],
        &[(b"a", b"a"), (b"0_", b"\xA9\x96")],
        &[(b".", b"\x01")],
    ];
    for chars in 1..=4 {
        for case in cases {
            let follows: Vec<PostingFollow> = case.iter().map(|&(bytes, before)| follow(bytes, before)).collect();
            let found = holders.behind(chars, &follows).unwrap();
            let stands = |node: &u32| {
                let (last, above) = spelled(&v, trie, *node).split_last().unwrap();
                let follows = |&(bytes, before): &(&[u8], &[u8])| {
                    bytes.contains(last) && (before.is_empty() || above.last().is_some_and(|b| before.contains(b)))
                };
                case.iter().any(follows) && above.iter().filter(|&b| b & 0xC0 != 0x80).count() == chars as usize
            };
            assert_eq!(found, (1..trie.len() as u32).filter(stands).collect::<Vec<u32>>(), "{chars} {case:?}");
            assert!(chars > 2 || case == cases[4] || !found.is_empty());
        }
    }
    let a = [follow(b"a", b"")];
    assert!(holders.behind(0, &a).is_none() && holders.behind(FEW_CHARS as u32 + 1, &a).is_none());
    assert_eq!(holders.behind(FEW_CHARS as u32, &a), Some(Vec::new()));
}

#[test]
fn no_exit_is_missing() {
    let v = vocabulary();
    let holders = CharPostings::from_vocabulary(&v);
    let trie = v.trie();
    for set in sets() {
        for left in [ALL & !set, group_of(b'.') & !set, (LINE_ENDS | group_of(0xE4)) & !set] {
            let found = holders.exits(&v, set, left).unwrap();
            for node in 1..trie.len() as u32 {
                let path = spelled(&v, trie, node);
                let (above, own) = (met(&path[..path.len() - 1]), met(path));
                if above & !set == 0 && own & left != 0 {
                    assert!(found.binary_search(&node).is_ok(), "{set:x} {path:?}");
                }
                if found.binary_search(&node).is_ok() {
                    assert!(own & left != 0, "{set:x} {path:?}");
                }
            }
        }
    }
}

#[test]
fn paths_are_those_of_the_tokens() {
    let v = vocabulary();
    let holders = CharPostings::from_vocabulary(&v);
    let trie = v.trie();
    let mut longest = 0;
    for node in 1..trie.len() as u32 {
        let mut room = [0; PATH];
        let path = holders.path(&v, trie, node, &mut room);
        assert_eq!(path, spelled(&v, trie, node));
        longest = longest.max(path.len());
    }
    assert!(longest > PATH);
}
