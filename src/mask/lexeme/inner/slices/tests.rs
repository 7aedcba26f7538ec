use super::*;
use crate::expr::analysis::char_groups::{WIDE_SPACES, special};
use crate::vocab::sample::{bytes_and, ended};

#[test]
fn tokens_over_a_set_are_the_same_by_its_walk_and_by_what_holds_characters() {
    // Below some nodes nothing but symbols that begin as letters do.
    let v = ended(bytes_and(["-- \u{d7}", "--\u{2010}", "-\u{a0}-", "--", "a-\u{d7}", "-\u{e9}-", "  "]));
    let tables = VocabTables::for_vocabulary(&v).unwrap();
    let plain = group_of(b'-') | group_of(b' ');
    let symbols = special(0xD7) | special(0x2010);
    let any: Arc<[u32]> = std::iter::repeat_n(u32::MAX, v.words()).collect();
    for set in [plain, plain | symbols, plain | symbols | WIDE_SPACES, plain | group_of(0xC3), ALL] {
        let row = tables.char_postings.over(&any, set, true);
        let found = SliceSet::new(v.trie(), &tables.subtrees, 0, set);
        let held = TokenSet::of_row(row.clone()).tokens();
        let mut walked: Vec<u32> = v.trie().subtree_tokens(0).to_vec();
        let inside = |place: usize| found.ranges.0.iter().any(|s| (s.0 as usize..s.1 as usize).contains(&place));
        walked = walked.into_iter().enumerate().filter(|t| inside(t.0)).map(|t| t.1).collect();
        walked.sort_unstable();
        // Tokens without text are in no trie.
        let held: Vec<u32> = held.into_iter().filter(|&t| v.token_bytes(t).is_some_and(|b| !b.is_empty())).collect();
        assert_eq!(walked, held, "{set:x}");
    }
}
