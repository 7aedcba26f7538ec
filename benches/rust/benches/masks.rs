//! Masks and advances along documents: first visits, known positions, and the advance alone.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use interlock::Guide;
use interlock::mask::vocab_tables::VocabTables;
use interlock_benches::sources::{self, LARGE_GROUPS};
use interlock_benches::vocabulary::synthetic;
use interlock_benches::walk::{Cutter, guide, masks};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn along_documents(c: &mut Criterion) {
    let vocabulary = synthetic(128_000);
    let tables = VocabTables::for_vocabulary(&vocabulary).expect("the tables are made");
    let cutter = Cutter::new(&vocabulary);
    let large = sources::large(LARGE_GROUPS);
    for (name, schema, text) in [
        ("small", sources::SMALL, sources::SMALL_TEXT.to_string()),
        ("large", large.as_str(), sources::large_text(2)),
        ("wide", &sources::wide(1_000), r#"{"field_2": "words", "field_501": 12, "field_998": ""}"#.to_string()),
        ("tools", &sources::tools(100), r#"{"tool": "tool_57", "input": {"text_57": "red", "count": 3}}"#.to_string()),
    ] {
        let ids = cutter.cut(&text);
        let mut row = vec![0; vocabulary.words()];
        let expected = masks(&mut guide(&sources::schema(schema, &vocabulary)), &ids, &mut row);
        let mut group = c.benchmark_group(format!("masks/{name}"));
        group.throughput(Throughput::Elements(ids.len() as u64));
        group.bench_function("first visit", |b| {
            b.iter_batched(
                || {
                    tables.clear();
                    guide(&sources::schema(schema, &vocabulary))
                },
                |mut guide| assert_eq!(masks(&mut guide, &ids, &mut row), expected),
                BatchSize::PerIteration,
            );
        });
        let index = sources::schema(schema, &vocabulary);
        masks(&mut guide(&index), &ids, &mut row);
        group.bench_function("known", |b| {
            b.iter_batched(
                || guide(&index),
                |mut guide| assert_eq!(masks(&mut guide, &ids, &mut row), expected),
                BatchSize::SmallInput,
            );
        });
        group.bench_function("advance", |b| {
            b.iter_batched(
                || guide(&index),
                |mut guide| assert_eq!(guide.advance_many(&ids), ids.len()),
                BatchSize::SmallInput,
            );
        });
        group.bench_function("validate", |b| {
            let mut guide = guide(&index);
            b.iter(|| assert_eq!(guide.validate(&ids), ids.len()));
        });
        group.finish();
    }
}

fn batches(c: &mut Criterion) {
    let vocabulary = synthetic(128_000);
    let cutter = Cutter::new(&vocabulary);
    let ids = cutter.cut(sources::SMALL_TEXT);
    let index = sources::schema(sources::SMALL, &vocabulary);
    let words = vocabulary.words();
    let mut rows = vec![0u32; words * 64];
    let mut guides: Vec<Guide> = (0..64).map(|_| guide(&index)).collect();
    // To a place of its own, anew: a guide remembers the mask of where it stands.
    let move_on = |guides: &mut [Guide]| {
        for (i, guide) in guides.iter_mut().enumerate() {
            guide.reset();
            assert_eq!(guide.advance_many(&ids[..i * ids.len() / 64]), i * ids.len() / 64);
        }
    };
    let fill = |guides: &mut [Guide], rows: &mut [u32]| {
        for (guide, row) in guides.iter_mut().zip(rows.chunks_mut(words)) {
            assert!(guide.fill_mask(black_box(row)));
        }
    };
    move_on(&mut guides);
    fill(&mut guides, &mut rows);
    let expected = rows.clone();
    c.bench_function("batch of 64", |b| {
        b.iter_custom(|times| {
            let mut took = Duration::ZERO;
            for _ in 0..times {
                move_on(&mut guides);
                rows.fill(0);
                let begin = Instant::now();
                fill(&mut guides, &mut rows);
                took += begin.elapsed();
                assert!(rows == expected, "known masks are those of the first visit");
            }
            took
        });
    });
}

criterion_group!(all, along_documents, batches);
criterion_main!(all);
