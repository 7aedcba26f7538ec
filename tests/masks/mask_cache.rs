//! Masks that an index remembers are the masks that it would make: walks over the same ground again and again, with
//! steps back and forks, from several threads that share an index, against the twin that steps every token.

use crate::support::schemas::SCHEMAS;
use crate::support::twin::{difference, tried_row};
use crate::support::vocabulary;
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary};

/// One walk; returns how many masks were compared.
fn walk(index: &Index, v: &Vocabulary, seed: u64) -> usize {
    let mut rng = Rng(seed);
    let mut guides: Vec<Guide> = vec![index.guide(&GuideOptions::default()).unwrap()];
    let mut row = vec![0; v.words()];
    let mut compared = 0;
    for _ in 0..25 {
        let at = rng.below(guides.len());
        let guide = &mut guides[at];
        row.fill(rng.bits() as u32);
        if guide.fill_mask(&mut row) {
            let expected = tried_row(guide);
            let text = String::from_utf8_lossy(&v.decode(&guide.tokens()).unwrap()).into_owned();
            if let Some(d) = difference(v, &row, &expected) {
                panic!("after {text:?}: {d}");
            }
            compared += 1;
        }
        if rng.chance(15) || guide.is_terminated() {
            let n = rng.below(guide.num_tokens() + 1);
            guide.rollback(n).unwrap();
            continue;
        }
        // Structure more often than text, so that walks meet.
        let allowed = guide.allowed_token_ids();
        let short: Vec<u32> =
            allowed.iter().copied().filter(|&t| v.token_bytes(t).is_some_and(|b| b.len() == 1)).collect();
        let from = if short.is_empty() || rng.chance(30) { &allowed } else { &short };
        let token = from[rng.below(from.len())];
        assert!(guide.try_advance(token));
        if guides.len() < 3 && rng.chance(10) {
            let second = guides[at].clone();
            guides.push(second);
        }
    }
    compared
}

#[test]
fn remembered_masks_are_the_masks() {
    let v = vocabulary::small();
    let more = [
        r#"{"type":"object","additionalProperties":{"type":"string","minLength":2,"maxLength":9}}"#,
        r#"{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":6}"#,
        r#"{"type":"array","items":{"enum":["a",1,null]},"contains":{"const":1},"minContains":2,"maxContains":3}"#,
        r##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}},"ab":{}},"maxProperties":3}"##,
        r#"{"properties":{"name":{"type":"string"},"na":{"type":"number"}},"minProperties":1}"#,
    ];
    let mut compared = 0;
    for (i, source) in SCHEMAS.iter().step_by(4).copied().chain(more).enumerate() {
        for order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let options = SchemaOptions { property_order: order, ..SchemaOptions::default() };
            let Ok(index) = Index::from_json_schema(source, &v, &options, &Limits::default()) else { continue };
            compared += std::thread::scope(|s| {
                let run = |thread: u64| {
                    let (index, v) = (&index, &v);
                    // Two of the threads go the same ways.
                    s.spawn(move || {
                        (0..2).map(|n| walk(index, v, (i as u64) << 8 | (thread / 2) << 4 | n)).sum::<usize>()
                    })
                };
                [0, 1, 2].map(run).into_iter().map(|t| t.join().unwrap()).sum::<usize>()
            });
        }
    }
    println!("{compared} masks");
    assert!(compared > 1_000, "only {compared} masks");
}
