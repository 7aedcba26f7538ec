//! Schemas made of the input's bytes, and texts that are none: an index or a typed error. A walk over an index always
//! has a way on, every token is taken exactly if the mask allows it, and what ends is a document that a plain validator
//! accepts.

#![no_main]

mod generate;
mod validate;

use std::sync::{Arc, OnceLock};

use generate::Bytes;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use libfuzzer_sys::fuzz_target;

/// Tokens of a walk; longer documents are not finished.
const TOKENS: usize = 48;
/// Steps that warming up makes ahead of the walks.
const WARM: usize = 2_000;

/// Tokens beside all bytes, as they are in most vocabularies: none ends an object behind a key.
const USUAL: &[&str] = &[
    "true", "null", "\":", "\",", "\",\"", "{\"", "[[", "[]", "{}", "],", "}}", "\\u00", "00", ".5", "a\"", "\"a",
    "ab", " {", "  ", ", ", "\"}", "\"]", "-1", "12", "\":{", "\":{}", "\": [\"", "\":[[", "\":[],", "\":[{\"",
];
/// Tokens of keys with their values, of several members, and of what ends the object or the element behind them.
const MEMBERS: &[&str] = &[
    "\":1}",
    "\":{}}",
    "\":{}},",
    "\":\"\"}",
    "\":[]}]",
    "a\":1}",
    "\"a\":",
    "\"b\":1",
    "{\"a\":",
    ",\"a",
    ",\"b\":",
    "1,\"a\":1",
    "1,\"b\":1}",
    "},{\"",
    "},{\"a\":1}",
    "1},",
    "1]",
    ",\"a\":1}",
    "\":1,\"",
    "b\":[]}",
    "\":1}]",
    "{\"b\":1},",
    "\",\"a\"]",
];

/// The vocabulary of usual tokens, or the one that has the members' tokens as well.
fn vocabulary(members: bool) -> &'static Arc<Vocabulary> {
    static VOCABULARIES: [OnceLock<Arc<Vocabulary>>; 2] = [const { OnceLock::new() }; 2];
    VOCABULARIES[usize::from(members)].get_or_init(|| {
        let bytes = (0..=255u8).map(|b| vec![b]);
        let more = USUAL.iter().chain(if members { MEMBERS } else { &[] });
        let tokens: Vec<Vec<u8>> = bytes.chain(more.map(|t| t.as_bytes().to_vec())).chain([Vec::new()]).collect();
        let eos_token_ids = vec![tokens.len() as u32 - 1];
        Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids, ..Default::default() }).expect("single bytes")
    })
}

fn walk(index: &Index, bytes: &mut Bytes<'_>) -> Option<Vec<u8>> {
    let vocabulary = index.vocabulary();
    let mut guide = index.guide(&GuideOptions::default()).expect("a guide");
    let mut row = vec![0u32; vocabulary.words()];
    for step in 0..TOKENS {
        assert!(guide.fill_mask(&mut row));
        let allows = |t: u32| row[t as usize / 32] >> (t % 32) & 1 == 1;
        let allowed: Vec<u32> = (0..vocabulary.size() as u32).filter(|&t| allows(t)).collect();
        assert!(!allowed.is_empty(), "a dead end");
        if step % 4 == 1 {
            for t in 0..vocabulary.size() as u32 {
                let mut fork = guide.clone();
                assert_eq!(fork.try_advance(t), allows(t), "token {t}");
            }
        }
        // An end, where there is one, with a chance of one half.
        let eos = vocabulary.eos_token_ids()[0];
        let token = match bytes.below(2) {
            0 if allows(eos) => eos,
            _ => allowed[bytes.below(allowed.len())],
        };
        assert!(guide.try_advance(token));
        if guide.is_terminated() {
            return vocabulary.decode(&guide.tokens()).ok();
        }
        if bytes.below(16) == 0 {
            guide.rollback(1).expect("it was taken");
            guide.advance(token).expect("it was taken before");
        }
    }
    None
}

fuzz_target!(|input: &[u8]| {
    let limits = Limits {
        max_expr_nodes: 50_000,
        max_explored_states: 2_000,
        max_alternatives: 256,
        max_rules: 2_000,
        max_algebra_steps: 50_000,
        max_state_bytes: 50_000,
        ..Limits::default()
    };
    let mut bytes = Bytes::new(input);
    let options = SchemaOptions {
        property_order: if bytes.below(2) == 0 { PropertyOrder::Any } else { PropertyOrder::Schema },
        whitespace: [Whitespace::Flexible, Whitespace::Compact, Whitespace::Spaced][bytes.below(3)].clone(),
        ..SchemaOptions::default()
    };
    let vocabulary = vocabulary(bytes.below(2) == 1);
    // Now and then the bytes are the text itself.
    if bytes.below(8) == 0 {
        if let Ok(text) = std::str::from_utf8(bytes.rest())
            && let Ok(index) = Index::from_json_schema(text, vocabulary, &options, &limits)
        {
            walk(&index, &mut Bytes::new(input));
        }
        return;
    }
    let schema = generate::schema(&mut bytes, 4);
    match Index::from_json_schema(&schema.to_string(), vocabulary, &options, &limits) {
        Err(e) => {
            assert!(!matches!(e.kind(), ErrorKind::Internal | ErrorKind::Schema | ErrorKind::Pattern), "{e}: {schema}")
        }
        Ok(index) => {
            // Masks that were made ahead have to be those that a walk would have made.
            if bytes.below(4) == 0 {
                let mut left = WARM;
                index.warm_up(|| {
                    left = left.saturating_sub(1);
                    left > 0
                });
            }
            for _ in 0..3 {
                let Some(text) = walk(&index, &mut bytes) else { continue };
                let value: serde_json::Value = serde_json::from_slice(&text)
                    .unwrap_or_else(|e| panic!("{e}: {:?} of {schema}", String::from_utf8_lossy(&text)));
                assert!(
                    !validate::is_plain(&value) || validate::valid(&schema, &schema, &value),
                    "{value} of {schema}"
                );
            }
        }
    }
});
