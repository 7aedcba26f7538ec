//! One index under many threads: masks that several threads make at once are those that one thread makes.

use crate::support::schemas::{HINTS, SCHEMAS};
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::schema::SchemaOptions;
use interlock::{GuideOptions, Index, Limits};
use std::hash::Hasher;
use std::thread;

/// A hash over every mask of one walk.
fn walk(index: &Index, seed: u64) -> u64 {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let mut walker = Walker::new(seed, b"").with_hints(HINTS);
    let mut hash = std::hash::DefaultHasher::new();
    let mut row = vec![0; index.vocabulary().words()];
    for _ in 0..25 {
        guide.fill_mask(&mut row);
        row.iter().for_each(|w| hash.write_u32(*w));
        let allowed = guide.allowed_token_ids();
        let Some(id) = walker.next(&guide, &allowed) else { break };
        guide.advance(id).unwrap();
    }
    hash.finish()
}

#[test]
fn eight_threads_and_sixty_four_guides() {
    for source in SCHEMAS.iter().step_by(9) {
        // Vocabularies of their own, so that nothing is cached.
        let index = || {
            let v = vocabulary::small();
            Index::from_json_schema(source, &v, &SchemaOptions::default(), &Limits::default()).unwrap()
        };
        let alone = index();
        let expected: Vec<u64> = (0..64).map(|seed| walk(&alone, seed)).collect();
        let shared = index();
        let together: Vec<u64> = thread::scope(|scope| {
            let workers: Vec<_> = (0..8u64)
                .map(|t| {
                    let shared = shared.clone();
                    scope.spawn(move || (0..8).map(|i| walk(&shared, t * 8 + i)).collect::<Vec<u64>>())
                })
                .collect();
            workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
        });
        assert!(expected == together, "{source}");
    }
}
