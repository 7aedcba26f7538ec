use super::*;
use crate::mask::lexeme::subtree_summary::SubtreeSummaries;

#[test]
fn ranges_that_hold_nearly_all_that_begin_alike_add_the_same() {
    // Ids against the trie's order, so that neighbours are in other words.
    let texts: Vec<String> = (0..1_000u32).map(|i| format!("{}{i}", if i % 10 < 8 { " " } else { "x" })).collect();
    let mut items: Vec<(&[u8], u32)> = texts.iter().map(|t| t.as_bytes()).zip((0..1_000).rev()).collect();
    let trie = Trie::build(&mut items).unwrap();
    let subtrees = SubtreeSummaries::from_trie(&trie);
    let most = subtrees.most().unwrap();
    assert_eq!(most.places, 0..800);
    let any: Vec<u32> = (0..32u32).map(|i| !(i << 7)).collect();
    for ranges in [
        &[(0, 800)][..],
        &[(0, 300), (310, 900), (950, 1_000)],
        &[(500, 810), (0, 420), (430, 470), (100, 110), (990, 995)],
        &[(0, 100), (300, 305)],
        &[],
    ] {
        let found = TokenRanges(ranges.to_vec());
        let (mut fast, mut slow) = (vec![5u32; 32], vec![5u32; 32]);
        found.add_to(&mut fast, &any, &trie, Some(most));
        found.add_to(&mut slow, &any, &trie, None);
        assert_eq!(fast, slow, "{ranges:?}");
    }
}
