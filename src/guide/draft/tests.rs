use std::sync::Arc;

use crate::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

const EOS: i32 = 256;

fn guide(choices: &[&str]) -> crate::Guide {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([vec![]]).collect();
    let options = VocabularyOptions { eos_token_ids: vec![EOS as u32], ..Default::default() };
    let vocabulary: Arc<Vocabulary> = Vocabulary::new(tokens, options).expect("a vocabulary of bytes");
    let choices: Vec<String> = choices.iter().map(|c| c.to_string()).collect();
    let index = Index::from_choices(&choices, &vocabulary, &Limits::default()).expect("choices compile");
    index.guide(&GuideOptions::default()).expect("a guide with the vocabulary's stop token")
}

fn ids(text: &str) -> Vec<i32> {
    text.bytes().map(i32::from).collect()
}

/// The mask after `path`, by walking there; all ones where the path is refused.
fn after(guide: &crate::Guide, path: &[i32], width: usize) -> Vec<u32> {
    let mut walker = guide.clone();
    let mut row = vec![u32::MAX; width];
    if path.iter().all(|&id| u32::try_from(id).is_ok_and(|id| walker.try_advance(id))) {
        walker.fill_mask(&mut row);
    }
    row
}

#[test]
fn a_chain_is_walked_and_left() {
    let mut g = guide(&["yes", "yesterday"]);
    for width in [9, 12] {
        for drafts in [ids("yest"), ids("yexs"), vec![ids("y")[0], -1, ids("e")[0]], vec![]] {
            let mut rows = vec![7; width * (drafts.len() + 1)];
            let n = g.fill_draft_masks(&drafts, None, &mut rows).expect("rows fit");
            for (i, row) in rows.chunks(width).enumerate() {
                assert_eq!(row, after(&g, &drafts[..i], width), "{drafts:?} row {i}");
            }
            assert_eq!(n, g.clone().validate(&drafts.iter().map(|&d| d as u32).collect::<Vec<_>>()));
            assert_eq!(g.num_tokens(), 0);
        }
    }
}

#[test]
fn the_end_may_be_drafted() {
    let mut g = guide(&["no"]);
    let mut rows = vec![0; 9 * 5];
    let drafts = [ids("no"), vec![EOS, EOS]].concat();
    assert_eq!(g.fill_draft_masks(&drafts, None, &mut rows).expect("rows fit"), 3);
    assert!(rows[27..].iter().all(|&w| w == u32::MAX));
    assert!(!g.is_terminated() && g.num_tokens() == 0);
}

#[test]
fn a_tree_in_any_order() {
    let mut g = guide(&["abc", "abd", "axy", "b"]);
    // a -> (b -> (c, d, q), x -> y), b, and a child of the refused q; siblings interleaved.
    let drafts = [ids("aabxcybdqc"), vec![-1]].concat();
    let parents = [-1, 0, 0, 0, 2, 3, -1, 2, 2, 8, 0];
    let mut rows = vec![7; 9 * 12];
    let n = g.fill_draft_masks(&drafts, Some(&parents), &mut rows).expect("rows fit");
    let mut accepted = 0;
    for i in 0..drafts.len() {
        let mut path = vec![drafts[i]];
        let mut p = parents[i];
        while p >= 0 {
            path.insert(0, drafts[p as usize]);
            p = parents[p as usize];
        }
        let expected = after(&g, &path, 9);
        assert_eq!(&rows[9 * (i + 1)..9 * (i + 2)], expected, "draft {i}");
        accepted += (expected != vec![u32::MAX; 9]) as usize;
    }
    assert_eq!((n, accepted, g.num_tokens()), (7, 7, 0));
}

#[test]
fn bad_arguments_write_nothing() {
    let mut g = guide(&["ab"]);
    let drafts = ids("ab");
    for parents in [&[-1, 1][..], &[-1, 2], &[-1, -2], &[0, 0], &[-1], &[-1, 0, 1]] {
        let mut rows = vec![7; 27];
        g.fill_draft_masks(&drafts, Some(parents), &mut rows).expect_err("a bad parent");
        assert!(rows.iter().all(|&w| w == 7));
    }
    for length in [0, 24, 26, 28] {
        let mut rows = vec![7; length];
        g.fill_draft_masks(&drafts, None, &mut rows).expect_err("rows of the wrong size");
        assert!(rows.iter().all(|&w| w == 7));
    }
}
