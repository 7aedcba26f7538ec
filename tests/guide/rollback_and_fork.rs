//! Guides: going back, forks and resets against a fresh replay, refusals, ends, and what they hold.

use crate::support::schemas::{HINTS, SCHEMAS};
use crate::support::vocabulary::{self, EOS};
use crate::support::walk::Walker;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary};
use std::sync::{Arc, OnceLock};

fn small() -> Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

fn schema(text: &str) -> Index {
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
    Index::from_json_schema(text, &small(), &options, &Limits::default()).unwrap()
}

fn pattern(text: &str) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, &small(), &options, &Limits::default()).unwrap()
}

fn start(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).unwrap()
}

fn mask(guide: &mut Guide) -> (Vec<u32>, bool) {
    let mut row = vec![0xAAAA_AAAA; small().words()];
    let masked = guide.fill_mask(&mut row);
    (row, masked)
}

/// A guide is where a fresh one is after the same tokens.
fn same_as_fresh(guide: &mut Guide) {
    let tokens = guide.tokens();
    let mut fresh = start(guide.index());
    assert_eq!(fresh.advance_many(&tokens), tokens.len());
    let at = String::from_utf8_lossy(&small().decode(&tokens).unwrap()).into_owned();
    assert_eq!(guide.state_key(), fresh.state_key(), "{at:?}");
    assert!(mask(guide) == mask(&mut fresh), "{at:?}");
    assert_eq!(guide.is_accepting(), fresh.is_accepting(), "{at:?}");
    assert_eq!(guide.num_tokens(), tokens.len());
    // A guide that was asked before keeps the rest of its run; the fresh one looks.
    assert_eq!(guide.forced_bytes(), fresh.forced_bytes(), "{at:?}");
}

#[test]
fn any_mix_of_moves_is_a_fresh_replay() {
    let mut indexes: Vec<Index> = SCHEMAS.iter().step_by(2).map(|s| schema(s)).collect();
    indexes.extend(["[a-z]{1,50}", "(a|ab)*\\d+", "(?=.*\\d)(?=.*[a-z]).{8,64}"].map(pattern));
    for (index, seed) in indexes.iter().zip(1..) {
        let mut walker = Walker::new(seed, b"").with_hints(HINTS);
        let mut guides = vec![start(index)];
        for _ in 0..120 {
            let n = guides.len();
            let i = walker.rng().below(n);
            match walker.rng().below(12) {
                0 | 1 => {
                    let back = guides[i].num_tokens();
                    let back = walker.rng().below(back + 1).min(6);
                    guides[i].rollback(back).unwrap();
                }
                2 if n < 4 => guides.push(guides[i].clone()),
                3 if n > 1 => {
                    guides.swap_remove(i);
                }
                4 if walker.rng().chance(10) => guides[i].reset(),
                5 => {
                    let random = walker.rng().below(small().size()) as u32;
                    guides[i].try_advance(random);
                }
                6 => same_as_fresh(&mut guides[i]),
                7 if guides[i].is_accepting() => {
                    guides[i].try_advance(EOS);
                }
                _ => {
                    let allowed = guides[i].allowed_token_ids();
                    if let Some(id) = walker.next(&guides[i], &allowed) {
                        guides[i].advance(id).unwrap();
                    }
                }
            }
        }
        guides.iter_mut().for_each(same_as_fresh);
    }
}

#[test]
fn a_refusal_changes_nothing() {
    for (index, seed) in SCHEMAS.iter().map(|s| schema(s)).zip(1..) {
        let mut guide = start(&index);
        let mut walker = Walker::new(seed, b"").with_hints(HINTS);
        for _ in 0..15 {
            let before = (guide.state_key(), mask(&mut guide), guide.tokens());
            for id in 0..small().size() as u32 {
                if before.1.0[id as usize / 32] >> (id % 32) & 1 == 0 && walker.rng().chance(10) {
                    assert_eq!(guide.advance(id).unwrap_err().kind(), ErrorKind::TokenRejected);
                }
            }
            assert!(before == (guide.state_key(), mask(&mut guide), guide.tokens()));
            let out_of_range = guide.advance(small().size() as u32).unwrap_err();
            assert_eq!(out_of_range.kind(), ErrorKind::Argument);
            let allowed = guide.allowed_token_ids();
            let Some(id) = walker.next(&guide, &allowed) else { break };
            guide.advance(id).unwrap();
        }
    }
}

#[test]
fn stop_tokens_end_exactly_where_the_output_may() {
    let index = pattern("ab?");
    let v = small();
    let token = |s: &str| (0..v.len() as u32).find(|&id| v.spelling(id) == Some(s.as_bytes())).unwrap();
    let mut guide =
        index.guide(&GuideOptions { stop_token_ids: Some(vec![token("z"), 5]), ..GuideOptions::default() }).unwrap();
    assert_eq!(guide.stop_token_ids(), [5, token("z")]);
    assert!(!guide.try_advance(5) && !guide.try_advance(token("z")));
    guide.advance(token("a")).unwrap();
    assert!(!guide.try_advance(EOS), "the vocabulary's own stop token is not this request's");
    assert!(guide.is_accepting() && !guide.must_stop());
    let key = guide.state_key();
    guide.advance(token("z")).unwrap();
    assert!(guide.is_terminated() && guide.is_accepting() && guide.num_tokens() == 2);
    let (row, masked) = mask(&mut guide);
    assert!(!masked && row.iter().all(|w| *w == u32::MAX));
    assert!(guide.advance(5).is_err() && guide.allowed_token_ids().is_empty());
    guide.rollback(1).unwrap();
    assert!(!guide.is_terminated() && guide.state_key() == key);
    guide.advance(token("b")).unwrap();
    assert!(guide.must_stop());
    assert_eq!(guide.allowed_token_ids(), [5, token("z")]);
    for ids in [vec![], vec![v.size() as u32]] {
        let options = GuideOptions { stop_token_ids: Some(ids), ..GuideOptions::default() };
        assert_eq!(index.guide(&options).err().unwrap().kind(), ErrorKind::Argument);
    }
}

#[test]
fn going_back_and_forth_holds_no_more_memory() {
    for s in ["{}", r#"{"type":"object","additionalProperties":{"type":"array"}}"#, SCHEMAS[2]] {
        let mut guide = start(&schema(s));
        let mut walker = Walker::new(3, b"").with_hints(HINTS);
        for _ in 0..60 {
            let allowed = guide.allowed_token_ids();
            let Some(id) = walker.next(&guide, &allowed) else { break };
            guide.advance(id).unwrap();
        }
        let (tokens, key) = (guide.tokens(), guide.state_key());
        let mut held = None;
        for round in 0..300 {
            guide.rollback(tokens.len()).unwrap();
            assert_eq!(guide.num_tokens(), 0);
            assert_eq!(guide.advance_many(&tokens), tokens.len());
            mask(&mut guide);
            if round > 2 {
                assert_eq!(*held.get_or_insert(guide.memory_bytes()), guide.memory_bytes());
            }
        }
        assert_eq!(guide.state_key(), key);
        let error = guide.rollback(tokens.len() + 1).unwrap_err();
        assert_eq!((error.kind(), guide.num_tokens()), (ErrorKind::Argument, tokens.len()));
    }
}

#[test]
fn validate_says_how_far_and_stays() {
    let mut rng = Rng(9);
    for (index, seed) in SCHEMAS.iter().step_by(3).map(|s| schema(s)).zip(1..) {
        let mut guide = start(&index);
        let mut walker = Walker::new(seed, b"");
        for _ in 0..8 {
            let mut ahead = guide.clone();
            let mut draft = Vec::new();
            for _ in 0..6 {
                let allowed = ahead.allowed_token_ids();
                let Some(id) = walker.next(&ahead, &allowed) else { break };
                ahead.advance(id).unwrap();
                draft.push(id);
            }
            let good = draft.len();
            let wrong =
                (0..200).map(|_| rng.below(small().size()) as u32).find(|&id| !ahead.allowed_token_ids().contains(&id));
            draft.extend(wrong);
            draft.push(1);
            let before = (guide.state_key(), guide.tokens());
            assert_eq!(guide.validate(&draft), good);
            assert!(before == (guide.state_key(), guide.tokens()));
            let Some(&id) = draft.first().filter(|_| good > 0) else { break };
            guide.advance(id).unwrap();
        }
    }
}

#[test]
fn wide_rows_end_in_zeros() {
    let v = small();
    let mut guide = start(&schema("{}"));
    let mut row = vec![u32::MAX; v.words() + 7];
    assert!(guide.fill_mask(&mut row));
    assert!(row[v.words()..].iter().all(|w| *w == 0));
    assert!(row[..v.words()] == mask(&mut guide).0);
    for id in v.len() as u32..(v.words() * 32) as u32 {
        assert_eq!(row[id as usize / 32] >> (id % 32) & 1, 0, "padding is never allowed");
    }
    assert_eq!(row[0] & 3, 0, "neither the stop token nor a special token at the start");
}

/// Runs of bytes inside strings and keys are stepped at once: where they lead must be where their bytes lead.
#[test]
fn tokens_of_many_bytes_lead_where_their_bytes_lead() {
    let v = small();
    let single = |byte: u8| v.trie().tokens(v.trie().child(0, byte).unwrap())[0];
    let singles: Vec<u32> = (0..=255).map(single).collect();
    let mut runs = 0;
    for (source, seed) in SCHEMAS.iter().zip(1..) {
        let index = schema(source);
        let mut rng = Rng(seed);
        for _ in 0..3 {
            let (mut guide, mut twin) = (start(&index), start(&index));
            for _ in 0..30 {
                let allowed = guide.allowed_token_ids();
                let text: Vec<u32> =
                    allowed.iter().copied().filter(|&t| v.token_bytes(t).is_some_and(|b| b.len() > 1)).collect();
                let from = if text.is_empty() || rng.chance(30) { &allowed } else { &text };
                let token = from[rng.below(from.len())];
                if guide.stop_token_ids().contains(&token) {
                    break;
                }
                let bytes = v.token_bytes(token).unwrap();
                assert!(guide.try_advance(token));
                let single: Vec<u32> = bytes.iter().map(|&b| singles[b as usize]).collect();
                let at = String::from_utf8_lossy(&v.decode(&guide.tokens()).unwrap()).into_owned();
                assert_eq!(twin.advance_many(&single), bytes.len(), "{source}: {at:?}");
                runs += bytes.len() - 1;
                assert_eq!(guide.state_key(), twin.state_key(), "{source}: {at:?}");
            }
        }
    }
    assert!(runs > 1_000, "only {runs} bytes");
}
