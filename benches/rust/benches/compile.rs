//! From a source to an index: sources that the caches know and those that they do not, builds, and vocabularies.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use interlock::artifact::{Pack, PackKind};
use interlock::index::prepare;
use interlock::mask::vocab_tables::VocabTables;
use interlock::{Vocabulary, VocabularyOptions};
use interlock_benches::sources::{self, LARGE_GROUPS};
use interlock_benches::vocabulary::synthetic;

fn compiling(c: &mut Criterion) {
    let vocabulary = synthetic(128_000);
    let tables = VocabTables::for_vocabulary(&vocabulary).expect("the tables are made");
    let (large, wide, tools) = (sources::large(LARGE_GROUPS), sources::wide(1_000), sources::tools(100));
    for (name, schema) in [("small", sources::SMALL), ("large", &large), ("wide", &wide), ("tools", &tools)] {
        let expected = sources::schema(schema, &vocabulary).fingerprint();
        c.bench_function(&format!("compile/{name}/again"), |b| {
            b.iter(|| assert_eq!(sources::schema(schema, &vocabulary).fingerprint(), expected));
        });
        c.bench_function(&format!("compile/{name}/unknown"), |b| {
            b.iter_batched(
                || tables.clear(),
                |()| assert_eq!(sources::schema(schema, &vocabulary).fingerprint(), expected),
                BatchSize::PerIteration,
            );
        });
    }
    c.bench_function("build/pattern", |b| {
        b.iter_batched(
            || sources::pattern(sources::PATTERN, &vocabulary),
            |index| {
                index.build(Some(1), 200_000, |_, _| Ok(())).expect("a small pattern is built");
                assert!(index.is_complete());
            },
            BatchSize::PerIteration,
        );
    });
}

fn vocabularies(c: &mut Criterion) {
    let vocabulary = synthetic(128_000);
    let tokens: Vec<Vec<u8>> =
        (0..vocabulary.len() as u32).map(|id| vocabulary.token_bytes(id).unwrap_or_default().to_vec()).collect();
    let options = VocabularyOptions { eos_token_ids: vec![0], ..VocabularyOptions::default() };
    let make = || Vocabulary::new(&tokens, options.clone()).expect("the tokens are a vocabulary");
    let pack = interlock::artifact::vocabulary::pack(&vocabulary).to_bytes();
    let mut group = c.benchmark_group("vocabulary");
    group.sample_size(10);
    group.bench_function("new", |b| b.iter(|| assert_eq!(make().fingerprint(), vocabulary.fingerprint())));
    group.bench_function("shared tables", |b| {
        b.iter_batched(make, |v| prepare(&v).expect("the tables are made"), BatchSize::PerIteration);
    });
    group.bench_function("load", |b| {
        b.iter(|| {
            let pack = Pack::from_bytes(&pack, PackKind::Vocabulary).expect("the pack is whole");
            let loaded = interlock::artifact::vocabulary::unpack(&pack).expect("the pack is a vocabulary");
            assert_eq!(loaded.fingerprint(), vocabulary.fingerprint());
        });
    });
    group.finish();
}

criterion_group!(all, compiling, vocabularies);
criterion_main!(all);
