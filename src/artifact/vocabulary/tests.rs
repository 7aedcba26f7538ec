use super::*;
use crate::vocab::{ModelParts, NextText, SENTENCEPIECE, VocabularyOptions};

fn sample() -> Arc<Vocabulary> {
    let options = VocabularyOptions { eos_token_ids: vec![1, 8], special_token_ids: vec![4], size: Some(33) };
    let parts = ModelParts {
        pattern: SENTENCEPIECE.into(),
        ids: vec![0, 3, 6, 7],
        ranks: vec![3, 2, 1, 0],
        added: vec![4],
        ..ModelParts::default()
    };
    let v = Vocabulary::new(["a", "<eos>", "", "ab", "<user>", "a", "\u{e9}", "abc"], options).unwrap();
    v.with_model(&parts)
}

/// What the tokenizer makes of a text.
fn encoded(v: &Vocabulary, text: &str) -> Option<(Vec<u32>, bool)> {
    let model = v.model()?;
    Some(model.encode(text.as_bytes(), &model.pieces(text.as_bytes(), NextText::Nothing).ends))
}

#[test]
fn a_mapped_vocabulary_is_the_same() {
    let v = sample();
    let path = std::env::temp_dir().join(format!("interlock-vocabulary-{}", std::process::id()));
    save(&v, &path).unwrap();
    let w = load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(w.fingerprint(), v.fingerprint());
    assert_eq!(w.trie(), v.trie());
    assert_eq!((w.len(), w.size(), w.max_token_len()), (v.len(), v.size(), v.max_token_len()));
    assert!((0..40).all(|id| w.token_bytes(id) == v.token_bytes(id) && w.spelling(id) == v.spelling(id)));
    assert_eq!((w.eos_token_ids(), w.special_token_ids()), (v.eos_token_ids(), v.special_token_ids()));
    assert_eq!(pack(&w).to_bytes(), pack(&v).to_bytes());
    assert!(w.memory_bytes() < v.memory_bytes());
    assert_eq!(w.model_parts(), v.model_parts());
    for text in ["a", "ab", "\u{e9}a", "abcab", "<user>a"] {
        assert_eq!(encoded(&w, text), encoded(&v, text), "{text}");
    }
    assert!(encoded(&w, "a").is_some_and(|(ids, all)| all && ids.len() == 1));
    assert_eq!(pack(&w).to_bytes(), pack(&v).to_bytes(), "a model that was made changes nothing");
}

fn bytes_differ(w: &Vocabulary, v: &Vocabulary) -> bool {
    w.size() != v.size()
        || w.len() != v.len()
        || (w.eos_token_ids(), w.special_token_ids()) != (v.eos_token_ids(), v.special_token_ids())
        || (0..v.len() as u32).any(|id| w.token_bytes(id) != v.token_bytes(id))
}

/// Whatever a forged pack says, with checksums that fit, it is refused or reads without a panic.
#[test]
fn forged_numbers_are_refused_or_harmless() {
    let v = sample();
    let mut refused = 0;
    for section in SECTIONS {
        let whole = Pack::from_bytes(&pack(&v).to_bytes(), PackKind::Vocabulary).unwrap();
        let bytes = whole.section::<u8>(section).unwrap().to_vec();
        for (at, value) in (0..bytes.len()).flat_map(|at| [0u8, 1, 2, 200, 255].map(|value| (at, value))) {
            let mut forged = PackWriter::new(PackKind::Vocabulary, v.fingerprint());
            for name in SECTIONS {
                let mut bytes = whole.section::<u8>(name).unwrap().to_vec();
                if name == section {
                    bytes[at] = value;
                }
                forged.add(name, &bytes);
            }
            match unpack(&Pack::from_bytes(&forged.to_bytes(), PackKind::Vocabulary).unwrap()) {
                Err(e) => {
                    assert_eq!(e.kind(), crate::ErrorKind::Artifact);
                    refused += 1;
                }
                Ok(w) => {
                    let ids = encoded(&w, "a<user>abc").map_or_else(Vec::new, |(ids, _)| ids);
                    assert!(ids.iter().all(|&id| w.token_bytes(id).is_some()));
                    for node in 0..w.trie().len() as u32 {
                        let below = w.trie().subtree_tokens(node).iter();
                        assert!(below.chain(w.trie().tokens(node)).all(|&t| w.token_bytes(t).is_some()));
                        assert!(w.trie().children(node).all(|child| child > node));
                    }
                    // The root's byte means nothing.
                    let differs = w.trie().byte[1..] != v.trie().byte[1..] || bytes_differ(&w, &v);
                    assert!(w.check().is_err() >= differs);
                    refused += usize::from(w.check().is_err());
                }
            }
        }
    }
    assert!(refused > 300, "{refused}");
}
