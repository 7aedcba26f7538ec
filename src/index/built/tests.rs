use std::sync::Arc;

use super::{BuiltTables, Parts, build};
use crate::frontend::regex::{Dialect, RegexOptions};
use crate::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(["ab", "abc", "bc", "aa", "12", "a1", "", "ab", "foo"].iter().map(|t| t.as_bytes().to_vec()));
    tokens.push(b"</s>".to_vec());
    let options = VocabularyOptions { eos_token_ids: vec![265], special_token_ids: vec![], size: Some(300) };
    Vocabulary::new(tokens, options).unwrap()
}

fn tables(pattern: &str, threads: usize) -> (Index, BuiltTables<Vec<u32>>) {
    let v = vocabulary();
    let index = Index::from_regex(
        pattern,
        &v,
        &RegexOptions { dialect: Dialect::Python, flags: String::new() },
        &Limits::default(),
    )
    .unwrap();
    let flat = index.flat(10_000).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let made = build(&flat, &v, 1 << 30, &pool, |_, _| Ok(())).unwrap();
    (index, made)
}

#[test]
fn tables_say_what_guides_say() {
    for pattern in ["(ab|abc)*", "[a-c]{2,40}", "(a|b)*abb|foo", "a(?!b)[a-z]{0,3}1*", "(aa|aaa)*b", "é+[0-9]{3}"] {
        let (index, made) = tables(pattern, 1);
        assert_eq!(tables(pattern, 2).1, made);
        assert_eq!(tables(pattern, 8).1, made);
        let mut seed = 3u64;
        for _ in 0..20 {
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            let mut state = 0;
            for _ in 0..12 {
                let mut row = vec![0; index.vocabulary().words()];
                guide.fill_mask(&mut row);
                row[265 >> 5] &= !(1 << (265 & 31));
                assert_eq!(made.mask(state), row, "{pattern}");
                assert_eq!(made.is_accepting(state), guide.is_accepting());
                for t in 0..300u32 {
                    let allowed = row[t as usize >> 5] >> (t & 31) & 1 == 1;
                    assert_eq!(made.advance(state, t).is_some(), allowed, "{pattern}: token {t}");
                }
                let allowed: Vec<u32> = guide.allowed_token_ids().into_iter().filter(|&t| t != 265).collect();
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let Some(&token) = allowed.get((seed >> 33) as usize % allowed.len().max(1)) else { break };
                guide.advance(token).unwrap();
                state = made.advance(state, token).unwrap();
            }
        }
    }
}

#[test]
fn damaged_tables_are_refused() {
    let (_, made) = tables("(ab|abc)*1{0,3}", 1);
    let p = made.parts();
    let borrowed: Parts<&[u32]> = Parts {
        byte_classes: &p.byte_classes,
        byte_next: &p.byte_next,
        accepting: &p.accepting,
        token_classes: &p.token_classes,
        mask_of: &p.mask_of,
        masks: &p.masks,
        row_start: &p.row_start,
        row_classes: &p.row_classes,
        row_next: &p.row_next,
    };
    assert!(BuiltTables::new(borrowed, 300).is_ok());
    assert!(BuiltTables::new(p.clone(), 301).is_err());
    type Field = fn(&mut Parts<Vec<u32>>) -> &mut Vec<u32>;
    let fields: [(Field, u32); 6] = [
        (|p| &mut p.byte_classes, 1 << 20),
        (|p| &mut p.byte_next, 1 << 20),
        (|p| &mut p.mask_of, 1 << 20),
        (|p| &mut p.row_start, 1 << 20),
        (|p| &mut p.row_classes, 1 << 20),
        (|p| &mut p.row_next, 1 << 20),
    ];
    for (field, value) in fields {
        let mut broken = p.clone();
        field(&mut broken)[0] = value;
        assert!(BuiltTables::new(broken, 300).is_err());
        let mut short = p.clone();
        field(&mut short).pop();
        assert!(BuiltTables::new(short, 300).is_err());
    }
}
