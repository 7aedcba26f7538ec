use super::*;
use crate::util::rng::Rng;
use std::collections::BTreeMap;

fn trie(words: &[(&str, u32)]) -> Trie {
    let mut items: Vec<(&[u8], u32)> = words.iter().map(|(w, id)| (w.as_bytes(), *id)).collect();
    Trie::build(&mut items).unwrap()
}

/// What a trie holds, read back by a walk over children.
fn contents(t: &Trie) -> BTreeMap<Vec<u8>, Vec<u32>> {
    let mut out = BTreeMap::new();
    let mut todo = vec![(0u32, Vec::new())];
    while let Some((node, path)) = todo.pop() {
        assert_eq!(t.depth[node as usize] as usize, path.len());
        if !t.tokens(node).is_empty() {
            out.insert(path.clone(), t.tokens(node).to_vec());
        }
        let mut last = None;
        for child in t.children(node) {
            let byte = t.byte[child as usize];
            assert!(last < Some(byte), "children out of order");
            last = Some(byte);
            let mut longer = path.clone();
            longer.push(byte);
            assert_eq!(t.find(0, &longer), Some(child));
            todo.push((child, longer));
        }
    }
    out
}

#[test]
fn an_empty_trie_is_a_root() {
    let t = trie(&[]);
    assert_eq!((t.len(), t.end[0], t.subtree_tokens(0).len()), (1, 1, 0));
    assert_eq!(t.child(0, b'a'), None);
    assert_eq!(t.children(0).count(), 0);
}

#[test]
fn layout_of_a_small_trie() {
    let t = trie(&[("ab", 7), ("a", 1), ("abc", 2), ("b", 3), ("ad", 4), ("ab", 5)]);
    assert_eq!(t.byte[..], *b"\0abcdb");
    assert_eq!(t.end[..], [6, 5, 4, 4, 5, 6]);
    assert_eq!(t.depth[..], [0, 1, 2, 3, 2, 1]);
    assert_eq!(t.tokens(2), [5, 7]);
    assert_eq!(t.subtree_tokens(0), [1, 5, 7, 2, 4, 3]);
    assert_eq!(t.subtree_tokens(2), [5, 7, 2]);
    assert_eq!(t.children(1).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(t.find(1, b"bc"), Some(3));
    assert_eq!(t.find(0, b"ac"), None);
    assert_eq!(t.find(0, b""), Some(0));
}

#[test]
fn an_empty_item_sits_at_the_root() {
    let t = trie(&[("", 9), ("x", 1)]);
    assert_eq!(t.tokens(0), [9]);
    assert_eq!(t.subtree_tokens(0), [9, 1]);
}

#[test]
fn agrees_with_a_map_on_arbitrary_bytes() {
    // The words cover all byte values, shared prefixes and repeats.
    let mut rng = Rng(1);
    let words: Vec<Vec<u8>> = (0..3000)
        .map(|_| {
            let wide = rng.below(2) == 0;
            (0..rng.below(7)).map(|_| if wide { rng.below(256) as u8 } else { b'a' + rng.below(3) as u8 }).collect()
        })
        .collect();
    let mut expected: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
    for (id, word) in words.iter().enumerate() {
        expected.entry(word.clone()).or_default().push(id as u32);
    }
    let mut items: Vec<(&[u8], u32)> = words.iter().enumerate().map(|(i, w)| (w.as_slice(), i as u32)).collect();
    let t = Trie::build(&mut items).unwrap();
    assert_eq!(contents(&t), expected);
    // Every node's subtree holds exactly the words that start with its path.
    for word in words.iter().take(200) {
        let node = t.find(0, word).unwrap();
        let mut below = t.subtree_tokens(node).to_vec();
        below.sort_unstable();
        let naive: Vec<u32> = (0..words.len()).filter(|&i| words[i].starts_with(word)).map(|i| i as u32).collect();
        assert_eq!(below, naive);
    }
}

#[test]
fn a_token_that_is_too_long_is_an_error() {
    let long = vec![b'x'; MAX_TOKEN_BYTES + 1];
    let e = Trie::build(&mut vec![(&long, 3)]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Vocabulary);
    let t = Trie::build(&mut vec![(&long[1..], 3)]).unwrap();
    assert_eq!(t.len(), MAX_TOKEN_BYTES + 1);
    assert_eq!(t.depth[MAX_TOKEN_BYTES], u16::MAX);
}
