use super::*;
use crate::util::rng::Rng;

/// A trie of random words over few letters, quotes and backslashes among them.
fn random(rng: &mut Rng) -> Trie {
    let words: Vec<Vec<u8>> =
        (0..rng.below(200)).map(|_| (0..1 + rng.below(6)).map(|_| *rng.pick(b"ab\"\\z\xff}]")).collect()).collect();
    let mut items: Vec<(&[u8], u32)> = words.iter().map(Vec::as_slice).zip(0..).collect();
    Trie::build(&mut items).expect("few words")
}

/// The most closing brackets below a node in front of a last byte.
fn most_closers(trie: &Trie, node: u32) -> u8 {
    let below = |child: u32| {
        let is_last = trie.children(child).next().is_none();
        let closes = matches!(trie.byte[child as usize], b'}' | b']');
        most_closers(trie, child) + u8::from(closes && !is_last)
    };
    trie.children(node).map(below).max().unwrap_or(0)
}

#[test]
fn children_are_those_of_the_trie() {
    let mut rng = Rng(3);
    for case in 0..100 {
        let trie = random(&mut rng);
        // Near and far children, which a trie of millions of nodes has.
        let children = Children::keeping_far(&trie, [FAR, 1, 4][case % 3]);
        for node in 0..trie.len() as u32 {
            let all: Vec<u32> = trie.children(node).collect();
            let bytes: Vec<u8> = all.iter().map(|&child| trie.byte[child as usize]).collect();
            assert_eq!(children.bytes(node), bytes);
            let quoted = (node + 1..trie.end[node as usize]).any(|below| trie.byte[below as usize] == b'"');
            assert_eq!(children.is_quoted(node), quoted);
            assert_eq!(children.closers_below(node), most_closers(&trie, node), "{node}");
            assert_eq!(children.tokens(&trie, node), trie.tokens(node));
            for byte in 0..=255 {
                assert_eq!(children.child(node, byte), trie.child(node, byte), "{node} {byte}");
                let next = all.iter().copied().find(|&c| trie.byte[c as usize] > byte && trie.byte[c as usize] != b'b');
                let past = trie.end[node as usize];
                assert_eq!(children.next_but(node, byte, past, |b| b == b'b'), next.unwrap_or(past));
            }
        }
    }
}
