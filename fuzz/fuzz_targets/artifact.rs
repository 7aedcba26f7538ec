//! Any bytes are a pack or an error, and what a vocabulary pack holds can be walked. The header is helped, so that the
//! sections are reached: the input is what they contain.

#![no_main]

use interlock::artifact::{Kind, Pack, PackWriter, grammar::Grammar, vocabulary};
use interlock::{Vocabulary, VocabularyOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u8, u16, u8)| {
    let (bytes, section, at, value) = input;
    for kind in [Kind::Vocabulary, Kind::Grammar] {
        if let Ok(pack) = Pack::from_bytes(bytes, kind) {
            let _ = pack.verify();
        }
    }
    let options = VocabularyOptions { eos_token_ids: vec![1], special_token_ids: vec![2], size: Some(40) };
    let sample = Vocabulary::new(["a", "</s>", "<u>", "ab", "abc", "b", ""], options).expect("a usable vocabulary");
    let whole = Pack::from_bytes(&vocabulary::pack(&sample).to_bytes(), Kind::Vocabulary).expect("a sound pack");
    let mut forged = PackWriter::new(Kind::Vocabulary, sample.fingerprint());
    for (i, name) in vocabulary::SECTIONS.into_iter().enumerate() {
        let mut numbers = whole.section::<u8>(name).expect("a section of the sample").to_vec();
        if i == section as usize % vocabulary::SECTIONS.len() && !numbers.is_empty() {
            let at = at as usize % numbers.len();
            numbers[at] = value;
        }
        forged.add(name, &numbers);
    }
    let forged = Pack::from_bytes(&forged.to_bytes(), Kind::Vocabulary).expect("a sound container");
    if let Ok(v) = vocabulary::unpack(&forged) {
        for node in 0..v.trie().len() as u32 {
            assert!(v.trie().subtree_tokens(node).iter().all(|&t| v.token_bytes(t).is_some()));
        }
    }
    if let Ok(pack) = Pack::from_bytes(bytes, Kind::Grammar) {
        let _ = Grammar::unpack(&pack);
    }
});
