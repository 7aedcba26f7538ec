//! The fixed workloads whose instructions are counted; `benches/guard.py` runs this under callgrind and compares.
//!
//! Each workload is one call of [`measure`], by whose name callgrind cuts its counts apart. Its name is printed, so
//! that the counts can be told apart in their order. What a workload needs is made outside of it, and its answer is
//! asserted. Run alone, the binary only checks the answers.

use interlock::artifact::{Pack, PackKind};
use interlock::index::prepare;
use interlock::mask_kernels::{LogitRow, NEG_INFINITY_F16, apply_row};
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary};
use interlock_benches::sources::{self, LARGE_GROUPS};
use interlock_benches::vocabulary::synthetic;
use interlock_benches::walk::{Cutter, guide, masks};
use std::hint::black_box;
use std::sync::Arc;

const TOKENS: usize = 32_000;
const BATCH: usize = 64;
/// Bytes that no list of small pieces holds and that are not mapped on their own, and that nothing else has asked for.
const SORTED_BY: usize = 60_008;

/// Callgrind writes a file of counts when this is entered, and another when it is left.
#[inline(never)]
fn measure(work: &mut dyn FnMut()) {
    work();
}

fn counted<T>(name: &str, mut work: impl FnMut() -> T) -> T {
    // An allocator that was handed much back sorts it when a larger piece is asked for next: a fifth of the smallest
    // workload, or nothing, by the order in which the heap came to lie. It does so here, not in what is counted.
    drop(black_box(Vec::<u8>::with_capacity(SORTED_BY)));
    let mut answer = None;
    measure(&mut || answer = Some(black_box(work())));
    println!("{name}");
    answer.expect("the workload ran")
}

/// What one schema costs, from its text to the end of its document and along it again.
fn document(name: &str, schema: &str, text: &str, vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let ids = cutter.cut(text);
    let mut row = vec![0; vocabulary.words()];
    let index = counted(&format!("{name}: compile"), || sources::schema(schema, vocabulary));
    let mut first = guide(&index);
    assert!(counted(&format!("{name}: first mask"), || first.fill_mask(&mut row)));
    let cold = counted(&format!("{name}: masks and advances, first visit"), || masks(&mut first, &ids, &mut row));
    assert!(first.is_accepting(), "{name} ends");
    let mut again = guide(&index);
    let warm = counted(&format!("{name}: masks and advances, known"), || masks(&mut again, &ids, &mut row));
    assert_eq!(cold, warm, "known masks are those of the first visit");
    let mut only = guide(&index);
    assert_eq!(counted(&format!("{name}: advances"), || only.advance_many(&ids)), ids.len());
    counted(&format!("{name}: rollback"), || only.rollback(ids.len())).expect("as many tokens were taken");
    assert_eq!(only.num_tokens(), 0);
    counted(&format!("{name}: compile again"), || sources::schema(schema, vocabulary));
}

/// One mask of each of many guides along one document, all of them known.
fn batch(vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let ids = cutter.cut(sources::SMALL_TEXT);
    let index = sources::schema(sources::SMALL, vocabulary);
    let words = vocabulary.words();
    let mut rows = vec![0; words * BATCH];
    let mut guides: Vec<Guide> = (0..BATCH).map(|_| guide(&index)).collect();
    let mut fill = |guides: &mut [Guide]| {
        guides
            .iter_mut()
            .zip(rows.chunks_mut(words))
            .map(|(guide, row)| usize::from(!guide.fill_mask(row)))
            .sum::<usize>()
    };
    for (i, guide) in guides.iter_mut().enumerate() {
        let taken = &ids[..i * ids.len() / BATCH];
        assert_eq!(guide.advance_many(taken), taken.len());
    }
    assert_eq!(fill(&mut guides), 0);
    // The next fill of the same guides would only copy what each remembers.
    for guide in &mut guides {
        let taken = guide.tokens();
        guide.reset();
        assert_eq!(guide.advance_many(&taken), taken.len());
    }
    assert_eq!(counted("batch of 64 known masks", || fill(&mut guides)), 0);
}

fn pattern(vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let index = counted("pattern: compile", || sources::pattern(sources::PATTERN, vocabulary));
    counted("pattern: build", || index.build(Some(1), 200_000, |_, _| Ok(()))).expect("a small pattern is built");
    assert!(index.is_complete());
    let mut row = vec![0; vocabulary.words()];
    let ids = cutter.cut("1999-12-31T23:59");
    counted("pattern: masks and advances, built", || masks(&mut guide(&index), &ids, &mut row));
}

/// Texts within counts: what tokens may follow depends on how far the bound is.
fn bounded(vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let name =
        sources::schema(r#"{"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 24}"#, vocabulary);
    let word = sources::pattern(r"(\w{1,12}\s?){1,12}", vocabulary);
    let constant = sources::pattern(r"(id.{4,8}){3}", vocabulary);
    let mut row = vec![0; vocabulary.words()];
    for (title, index, text) in [
        ("string of a pattern and a length", &name, "\"the-quick-brown-fox-2\""),
        ("counts within counts", &word, "the quick brown foxjumps over"),
        ("counts before a constant", &constant, "id some id thing idover"),
    ] {
        let ids = cutter.cut(text);
        counted(&format!("{title}: masks"), || masks(&mut guide(index), &ids, &mut row));
    }
}

/// Masks of a grammar whose terminals compete, without a budget and with one that has room.
fn budgeted(vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let index = sources::competing(vocabulary);
    let ids = cutter.cut("select name, count from (select a from b) where not c > 3 and d = 'the text' or e < 5");
    let mut row = vec![0; vocabulary.words()];
    let options = GuideOptions { max_tokens: Some(2_000), ..GuideOptions::default() };
    for (title, options) in [("no budget", GuideOptions::default()), ("room", options)] {
        let start = || index.guide(&options).expect("an output fits");
        counted(&format!("grammar, {title}: masks, first visit"), || masks(&mut start(), &ids, &mut row));
        counted(&format!("grammar, {title}: masks, known"), || masks(&mut start(), &ids, &mut row));
    }
}

/// A literal of a pattern as forced bytes, and all of its masks.
fn forced(vocabulary: &Arc<Vocabulary>) {
    let index = sources::pattern("the quick brown fox jumps over the lazy dog( again)?", vocabulary);
    let mut guide = guide(&index);
    assert_eq!(counted("forced bytes", || guide.forced_bytes()).len(), 43);
}

/// One source in two sizes, ten times apart: the script compares how much the counts grow.
fn growth(vocabulary: &Arc<Vocabulary>, cutter: &Cutter) {
    let mut row = vec![0; vocabulary.words()];
    for n in [1_000, 10_000] {
        let some: Vec<String> = (0..5).map(|i| format!(r#""field_{}": "the name""#, i * n / 10 * 2)).collect();
        let ids = cutter.cut(&format!("{{{}}}", some.join(", ")));
        for (order, options) in [("declared", PropertyOrder::Schema), ("any", PropertyOrder::Any)] {
            let options = SchemaOptions { property_order: options, ..SchemaOptions::default() };
            let source = sources::wide(n);
            let make = || Index::from_json_schema(&source, vocabulary, &options, &Limits::default());
            let index = counted(&format!("{n} properties, {order} order: compile"), make).expect("the schema compiles");
            counted(&format!("{n} properties, {order} order: masks"), || masks(&mut guide(&index), &ids, &mut row));
        }
    }
    for n in [50, 500] {
        let source = sources::tools(n);
        let last = n - 1;
        let text = format!(r#"{{"tool": "tool_{last}", "input": {{"text_{last}": "red", "count": 3}}}}"#);
        let index = counted(&format!("{n} tools: compile"), || sources::schema(&source, vocabulary));
        counted(&format!("{n} tools: masks"), || masks(&mut guide(&index), &cutter.cut(&text), &mut row));
    }
    for n in [5, 50] {
        let source = sources::tools_in_text(n);
        let text = format!(r#"Let me see. <call=tool_{0}>{{"text": "the name", "count": 3}}</call> Done."#, n - 1);
        let index = counted(&format!("{n} tools in text: compile"), || sources::grammar(&source, vocabulary));
        let mut visitor = guide(&index);
        counted(&format!("{n} tools in text: masks, first visit"), || {
            masks(&mut visitor, &cutter.cut(&text), &mut row)
        });
        assert!(visitor.is_accepting(), "the text of {n} tools ends");
    }
    let item = r#"{"type": "object", "properties": {"id": {"type": "integer"}, "text": {"type": "string"}}}"#;
    let index = sources::schema(&format!(r#"{{"type": "array", "items": {item}}}"#), vocabulary);
    for n in [300, 3_000] {
        let records: Vec<String> =
            (0..n).map(|i| format!(r#"{{"id": {}, "text": "the name of it"}}"#, i % 100)).collect();
        let ids = cutter.cut(&format!("[{}]", records.join(", ")));
        counted(&format!("{n} records: masks"), || masks(&mut guide(&index), &ids, &mut row));
    }
}

fn kernels(vocabulary: &Arc<Vocabulary>) {
    let columns = vocabulary.words() * 32;
    let words: Vec<u32> = (0..vocabulary.words() as u32).map(|i| i.wrapping_mul(0x9E37_79B9) | 1).collect();
    let allowed: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    let mut wide = vec![0u32; columns];
    counted("apply_bitmask, 32 bits", || apply_row(LogitRow::Bits32(&mut wide), &words));
    assert_eq!(wide.iter().filter(|logit| **logit == 0).count(), allowed);
    let mut half = vec![0u16; columns];
    counted("apply_bitmask, 16 bits", || apply_row(LogitRow::Bits16(&mut half, NEG_INFINITY_F16), &words));
    assert_eq!(half.iter().filter(|logit| **logit == 0).count(), allowed);
}

fn main() {
    let vocabulary = synthetic(TOKENS);
    let tokens: Vec<Vec<u8>> =
        (0..TOKENS as u32).map(|id| vocabulary.token_bytes(id).unwrap_or_default().to_vec()).collect();
    let options = interlock::VocabularyOptions {
        eos_token_ids: vocabulary.eos_token_ids().to_vec(),
        ..interlock::VocabularyOptions::default()
    };
    let made = counted("vocabulary", || Vocabulary::new(&tokens, options.clone())).expect("it was one before");
    assert_eq!(made.fingerprint(), vocabulary.fingerprint());
    counted("vocabulary: shared tables", || prepare(&vocabulary)).expect("the tables are made");
    let pack = interlock::artifact::vocabulary::pack(&vocabulary).to_bytes();
    let loaded = counted("vocabulary: load of a pack", || {
        let pack = Pack::from_bytes(&pack, PackKind::Vocabulary)?;
        interlock::artifact::vocabulary::unpack(&pack)
    });
    assert_eq!(loaded.expect("the pack is whole").fingerprint(), vocabulary.fingerprint());

    let cutter = Cutter::new(&vocabulary);
    document("small schema", sources::SMALL, sources::SMALL_TEXT, &vocabulary, &cutter);
    let (large, text) = (sources::large(LARGE_GROUPS), sources::large_text(2));
    document("large schema", &large, &text, &vocabulary, &cutter);
    batch(&vocabulary, &cutter);
    pattern(&vocabulary, &cutter);
    bounded(&vocabulary, &cutter);
    budgeted(&vocabulary, &cutter);
    forced(&vocabulary);
    kernels(&vocabulary);
    growth(&vocabulary, &cutter);
}
