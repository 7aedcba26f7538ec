use std::sync::Arc;

use super::*;
use crate::error::Error;
use crate::index::from_artifact::StoredIndex;
use crate::schema::{SchemaOptions, Whitespace};
use crate::vocab::{Vocabulary, VocabularyOptions};
use crate::{GuideOptions, Limits};

fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend([&b"{\"a"[..], b"\":", b"12", b"true", b"\"}", b""].map(<[u8]>::to_vec));
    let options = VocabularyOptions { eos_token_ids: vec![261], special_token_ids: vec![], size: Some(270) };
    Vocabulary::new(tokens, options).unwrap()
}

const FLAT: &str =
    r#"{"type": "object", "properties": {"a": {"enum": [12, "x", true]}}, "additionalProperties": false}"#;

fn schema(text: &str, vocabulary: &Arc<Vocabulary>) -> Result<Index> {
    let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    Index::from_json_schema(text, vocabulary, &options, &Limits::default())
}

fn packed(text: &str) -> Vec<u8> {
    let index = schema(text, &vocabulary()).unwrap();
    let made = IndexPack::from_index(&index, text.to_owned(), Some(10_000)).unwrap().pack().to_bytes();
    assert!(IndexPack::from_index(&index, text.to_owned(), None).unwrap().built.is_none());
    index.build(Some(2), 10_000, |_, _| Ok(())).unwrap();
    assert!(IndexPack::from_index(&index, text.to_owned(), None).unwrap().pack().to_bytes() == made);
    made
}

fn open(bytes: &[u8], v: &Arc<Vocabulary>) -> Result<Index> {
    let IndexPack { index, recipe, size, built, .. } = IndexPack::unpack(&Pack::from_bytes(bytes, PackKind::Index)?)?;
    let (tables, text) = built.ok_or_else(|| Error::new(ErrorKind::Artifact, "no tables"))?;
    if size != v.size() {
        return Err(Error::new(ErrorKind::Artifact, "another size"));
    }
    let again = v.clone();
    Ok(Index::stored(StoredIndex {
        vocabulary: v.clone(),
        fingerprint: index,
        tables,
        read_report: Box::new(move || report::read(&text)),
        remake: Box::new(move || schema(&recipe, &again)),
    }))
}

#[test]
fn a_pack_answers_without_compiling() {
    let v = vocabulary();
    for (text, complete) in [(FLAT, true), ("{}", false), (r#"{"enum": ["a", "b"]}"#, true)] {
        let index = open(&packed(text), &v).unwrap();
        assert_eq!((index.is_complete(), index.built().is_some()), (complete, complete));
        let lazy = schema(text, &v).unwrap();
        assert_eq!((index.report(), index.fingerprint()), (lazy.report(), lazy.fingerprint()));
        let first = |index: &Index| index.guide(&GuideOptions::default()).unwrap().allowed_token_ids();
        assert_eq!(first(&index), first(&lazy));
        assert_eq!(index.shortest_member(10_000).unwrap(), lazy.shortest_member(10_000).unwrap());
    }
}

#[test]
fn damage_is_found_when_a_pack_is_opened() {
    let (v, whole) = (vocabulary(), packed(FLAT));
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x21;
        assert_eq!(open(&bytes, &v).err().map(|e| e.kind()), Some(ErrorKind::Artifact), "byte {at}");
        assert_eq!(open(&whole[..at], &v).err().map(|e| e.kind()), Some(ErrorKind::Artifact), "cut at {at}");
    }
}

/// A pack holds what packs of indexes hold, and says it in one way.
#[test]
fn packs_with_more_or_less_are_refused() {
    let v = vocabulary();
    let whole = Pack::from_bytes(&packed(FLAT), PackKind::Index).unwrap();
    let opened = |names: &[&'static str], change: fn(&str, &mut Vec<u8>)| {
        let mut forged = PackWriter::new(PackKind::Index, v.fingerprint());
        for name in names {
            let mut bytes = whole.section::<u8>(name).map_or_else(|_| vec![7], |bytes| bytes.to_vec());
            change(name, &mut bytes);
            forged.add(name, &bytes);
        }
        open(&forged.to_bytes(), &v).map(|_| ())
    };
    let same = |_: &str, _: &mut Vec<u8>| {};
    opened(&SECTIONS, same).unwrap();
    let more = [&SECTIONS[..], &["more"]].concat();
    let twice = [&SECTIONS[..], &[MASK_ROWS]].concat();
    let turned: Vec<_> = SECTIONS.into_iter().rev().collect();
    for names in [&more, &twice, &turned] {
        assert!(opened(names, same).unwrap_err().message().contains("other sections"), "{names:?}");
    }
    assert!(opened(&SECTIONS[..13], same).unwrap_err().message().contains("no section \"mask rows\""));
    let sizes = opened(&SECTIONS, |name, bytes| {
        if name == SIZE {
            bytes.extend([0; 8])
        }
    });
    assert!(sizes.unwrap_err().message().contains("not one number"));
    // Classes of bytes that nobody can number.
    let all_alike = opened(&SECTIONS, |name, bytes| {
        if name == BYTE_CLASSES {
            bytes.fill(3)
        }
    });
    let turned = opened(&SECTIONS, |name, bytes| {
        let most = bytes.iter().max().copied().unwrap_or_default();
        bytes.iter_mut().filter(|_| name == BYTE_CLASSES).for_each(|class| *class = most - *class);
    });
    for refused in [all_alike, turned] {
        assert!(refused.unwrap_err().message().contains("byte classes"));
    }
}

/// Whatever a forged pack says, with checksums that fit, it is refused or read without a panic.
#[test]
fn forged_numbers_are_refused_or_harmless() {
    let v = vocabulary();
    let whole = Pack::from_bytes(&packed(FLAT), PackKind::Index).unwrap();
    let (mut refused, mut lost) = (0, 0);
    for section in SECTIONS {
        let step = whole.section::<u8>(section).unwrap().len() / 150 + 1;
        for at in (0..whole.section::<u8>(section).unwrap().len()).step_by(step) {
            for value in [0u8, 1, 200, 255] {
                let mut forged = PackWriter::new(PackKind::Index, v.fingerprint());
                for name in SECTIONS {
                    let mut bytes = whole.section::<u8>(name).unwrap().to_vec();
                    if name == section {
                        bytes[at] = value;
                    }
                    forged.add(name, &bytes);
                }
                let Ok(index) = open(&forged.to_bytes(), &v) else {
                    refused += 1;
                    continue;
                };
                index.report();
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                let mut row = vec![0; v.words()];
                for turn in 0..8 {
                    guide.fill_mask(&mut row);
                    let allowed = guide.allowed_token_ids();
                    let Some(&id) = allowed.get((turn * 7 + at) % allowed.len().max(1)) else { break };
                    guide.try_advance(id);
                    guide.forced_bytes();
                }
                guide.explain(0);
                assert!(guide.min_tokens_to_finish().is_ok() || guide.failure().is_some());
                lost += usize::from(guide.failure().is_some());
                guide.reset();
            }
        }
    }
    assert!(refused > 50 && lost > 20, "{refused} {lost}");
}
