use super::*;

use crate::schema::{PropertyOrder, SchemaOptions};
use crate::util::rng::Rng;
use crate::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

const EOS: u32 = 256;

const SCHEMAS: &[&str] = &[
    r#"{"type":"object","properties":{"a":{"type":"string","maxLength":30},"b":{"type":"array","items":{"type":"integer"}}}}"#,
    r#"{"type":"array","contains":{"type":"integer"},"minContains":3,"items":{"type":["integer","string","array"]}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":["integer","boolean","array"]}}"#,
    r#"{"type":"object","patternProperties":{"^(a.*|bc)$":{"type":"object"}},"additionalProperties":{"type":"string"},"maxProperties":9}"#,
    r#"{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]},{"properties":{"a":{"type":"integer"}},"maxProperties":4}]}"#,
    r#"{}"#,
];

fn index(source: &str, max_guide_bytes: usize) -> Index {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([vec![]]).collect();
    let vocabulary = Vocabulary::new(tokens, VocabularyOptions { eos_token_ids: vec![EOS], ..Default::default() });
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() };
    let limits = Limits { max_guide_bytes, ..Limits::default() };
    Index::from_json_schema(source, &vocabulary.expect("a vocabulary"), &options, &limits).expect(source)
}

fn mask(guide: &mut Guide) -> Vec<u32> {
    let mut row = vec![0; guide.index().vocabulary().words()];
    guide.fill_mask(&mut row);
    row
}

fn pick(rng: &mut Rng, row: &[u32]) -> u32 {
    let allowed: Vec<u32> = (0..EOS).filter(|&id| row[id as usize >> 5] >> (id & 31) & 1 == 1).collect();
    let plain: Vec<u32> = allowed.iter().copied().filter(|id| b"\"ab1,:[]{}".contains(&(*id as u8))).collect();
    match (allowed.is_empty(), plain.is_empty()) {
        (true, _) => EOS,
        (_, true) => allowed[rng.below(allowed.len())],
        _ => plain[rng.below(plain.len())],
    }
}

#[test]
fn sealed_pieces_change_nothing() {
    // With room for no history, for some pieces of 1 KiB, and for all in one piece.
    let bounds = [0, 4 << 10, usize::MAX];
    let (mut sealed, mut let_go) = (0, 0);
    for (source, seed) in SCHEMAS.iter().zip(1..) {
        let mut rng = Rng(seed);
        let mut guides = bounds.map(|bound| index(source, bound).guide(&GuideOptions::default()).expect("a guide"));
        let mut forks: Vec<[Guide; 3]> = Vec::new();
        for step in 0..700 {
            let rows = guides.each_mut().map(mask);
            assert!(rows[0] == rows[2] && rows[1] == rows[2], "{source} step {step}");
            let keys = guides.each_ref().map(|guide| guide.state_key());
            assert!(keys[0] == keys[2] && keys[1] == keys[2], "{source} step {step}");
            sealed += guides[1].history.sealed.len();
            let_go += usize::from(guides[0].history.has_let_go());
            let taken = guides[0].num_tokens();
            match rng.below(40) {
                0 => forks.push(guides.clone()),
                1 if !forks.is_empty() => guides = forks.swap_remove(rng.below(forks.len())),
                2 | 3 => {
                    let most = if rng.chance(30) { taken } else { 9 };
                    let back = rng.below(taken.min(most) + 1);
                    guides.iter_mut().for_each(|guide| guide.rollback(back).expect("that many were taken"));
                }
                4 if rng.chance(5) => guides.iter_mut().for_each(Guide::reset),
                _ => {
                    let token = pick(&mut rng, &rows[2]);
                    if token == EOS {
                        guides.iter_mut().for_each(Guide::reset);
                    } else {
                        guides.iter_mut().for_each(|guide| assert!(guide.try_advance(token)));
                    }
                }
            }
        }
        assert!(guides[2].history.sealed.is_empty());
    }
    assert!(sealed > 100 && let_go > 100, "{sealed} {let_go}");
}

#[test]
fn a_long_history_is_bounded() {
    let bound = 64 << 10;
    let index = index("{}", bound);
    let mut guide = index.guide(&GuideOptions::default()).expect("a guide");
    assert!(guide.try_advance(u32::from(b'[')));
    for _ in 0..6_000 {
        assert_eq!(guide.advance_many(&b"[1,{\"a\":\"b\"}],".map(u32::from)), 14);
    }
    let tokens = guide.num_tokens();
    assert!(guide.memory_bytes() < 3 * bound + 16 * tokens, "{}", guide.memory_bytes());
    let row = mask(&mut guide);
    guide.rollback(tokens - 20).expect("as many were taken");
    guide.rollback(0).expect("none");
    assert_eq!(guide.num_tokens(), 20);
    let mut fresh = index.guide(&GuideOptions::default()).expect("a guide");
    fresh.advance_many(&guide.tokens());
    assert!(mask(&mut guide) == mask(&mut fresh) && guide.state_key() == fresh.state_key());
    assert!(row.iter().any(|word| *word != 0));
}

#[test]
fn forks_share_what_is_sealed() {
    let index = index("{}", 1 << 20);
    let mut guide = index.guide(&GuideOptions::default()).expect("a guide");
    assert!(guide.try_advance(u32::from(b'[')));
    for _ in 0..2_000 {
        guide.advance_many(&b"[1,{\"a\":\"b\"}],".map(u32::from));
    }
    let mut fork = guide.clone();
    let mut shared = 0;
    for (own, other) in guide.history.sealed.iter().zip(&fork.history.sealed) {
        // The oldest pieces were let go of.
        assert_eq!(own.piece.is_some(), other.piece.is_some());
        shared += usize::from(own.piece.as_ref().zip(other.piece.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b)));
    }
    assert!(shared > 0 && shared == guide.history.sealed.iter().filter(|sealed| sealed.piece.is_some()).count());
    // One opens a piece again, the other keeps it.
    let base = guide.history.base();
    let back = guide.num_tokens() - base + 7;
    fork.rollback(back).expect("as many were taken");
    assert_eq!(fork.num_tokens(), base - 7);
    let text = guide.tokens()[base - 7..].to_vec();
    assert_eq!(fork.advance_many(&text), text.len());
    assert!(mask(&mut guide) == mask(&mut fork) && guide.state_key() == fork.state_key());
    guide.rollback(back).expect("as many were taken");
    fork.rollback(back).expect("as many were taken");
    assert!(mask(&mut guide) == mask(&mut fork));
}
